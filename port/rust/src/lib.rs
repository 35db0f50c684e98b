// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The sfu authors
//! sfu, a freestanding SFrame unwinder, for kernels in Rust: a safe layer over [`sys`], which has the declarations of
//! `sfu.h`. No std, no allocation, no other crate.
//!
//! A kernel prints a trace from its panic handler by [`on_panic`]. A walk of its own is an iterator:
//!
//! ```
//! use sfu::{Error, Frames, Registers, Room, Stack, Target};
//!
//! /// A trace of a dump: `stack` was at `low`, the kernel's `.sframe` section at `at`.
//! fn trace(tables: &[u8], at: u64, stack: &[u8], low: u64, top: &Registers) -> Result<usize, Error> {
//!     let mut room = [Room::new()];
//!     let mut target = Target::new(Stack::copy(stack, low).expect("a stack within the address space"));
//!     target.add(&mut room, tables, at)?;
//!     let mut count = 0;
//!     for frame in Frames::new(&target, top) {
//!         println!("{:#018x}", frame?.regs.pc);
//!         count += 1;
//!     }
//!     Ok(count) // complete: the loop was not left by an error
//! }
//! # assert!(trace(&[], 0, &[], 0, &Registers::default()).is_err());
//! ```
//!
//! Every address and register is a `u64` of the unwound program; sizes and offsets are in bytes. Nothing here panics.
//! No bytes in a section or a stack make it read outside of them, or loop without end.
#![no_std]
#![deny(missing_docs, unsafe_op_in_unsafe_fn)]

pub mod sys;

use core::ffi::c_void;
use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::mem::{forget, MaybeUninit};
use core::ops::Range;
use core::panic::PanicInfo;
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};

/// What a walk begins with: filled in from a trap frame, or by [`here`].
pub type Registers = sys::sfu_registers;
/// A frame of a walk.
pub type Frame = sys::sfu_frame;
/// What the tables say of a range of PCs.
pub type Row = sys::sfu_row;

impl Registers {
    /// The PC to look up in tables and symbols: `pc`, or `pc - 1` for a return address.
    pub fn lookup_pc(&self) -> u64 {
        // SAFETY: self is valid.
        unsafe { sys::sfu_lookup_pc(self) }
    }
}

/// Why something failed: one of the negative codes of [`sys`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Error(i32);

impl Error {
    /// The code: [`sys::SFU_E_STACK`] and so on, or what a callback set by [`Target::raw_mut`] returned.
    pub fn code(self) -> i32 {
        self.0
    }

    /// What it means; "" if sfu was built with SFU_NO_STRINGS.
    pub fn message(self) -> &'static str {
        // SAFETY: sfu_string returns a static string with a NUL at its end for every code.
        let bytes = unsafe {
            let text = sys::sfu_string(self.0);
            let mut len = 0;
            // Volatile, because compilers make other loops a call of strlen, which a kernel may not have.
            while text.add(len).read_volatile() != 0 {
                len += 1;
            }
            core::slice::from_raw_parts(text, len)
        };
        core::str::from_utf8(bytes).unwrap_or("")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({}: {})", self.0, self.message())
    }
}

fn result(code: i32) -> Result<(), Error> {
    match code {
        sys::SFU_OK => Ok(()),
        _ => Err(Error(code)),
    }
}

/// One `.sframe` section.
#[derive(Debug)]
pub struct Section<'a> {
    raw: sys::sfu_section,
    bytes: PhantomData<&'a [u8]>,
}

/// Room for one section of a target.
#[repr(transparent)]
#[derive(Debug)]
pub struct Room(MaybeUninit<sys::sfu_section>);

impl Room {
    /// Empty.
    pub const fn new() -> Self {
        Room(MaybeUninit::uninit())
    }
}

impl Default for Room {
    fn default() -> Self {
        Self::new()
    }
}

/// A stack: where it is, and its bytes.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Stack<'a> {
    raw: sys::sfu_stack,
    bytes: PhantomData<&'a [u8]>,
}

impl<'a> Stack<'a> {
    /// No stack at all.
    pub const NONE: Stack<'static> =
        Stack { raw: sys::sfu_stack { bytes: ptr::null(), low: 0, high: 0 }, bytes: PhantomData };

    /// The live stack from `stack.start` up to `stack.end`, in this program.
    ///
    /// # Safety
    ///
    /// All of it is readable for 'a, and `stack.start <= stack.end`.
    pub unsafe fn live(stack: Range<*const u8>) -> Self {
        Self::of(stack.start.cast(), stack.start as u64, stack.end as u64)
    }

    /// A copy or dump: `bytes` were at `addr`. None: they would wrap around the end of the address space.
    pub fn copy(bytes: &'a [u8], addr: u64) -> Option<Self> {
        Some(Self::of(bytes.as_ptr().cast(), addr, addr.checked_add(bytes.len() as u64)?))
    }

    /// One that [`Machine::read`] reads.
    pub fn remote(addrs: Range<u64>) -> Self {
        Self::of(ptr::null(), addrs.start, addrs.end)
    }

    fn of(bytes: *const c_void, low: u64, high: u64) -> Self {
        Stack { raw: sys::sfu_stack { bytes, low, high }, bytes: PhantomData }
    }
}

impl<'a> Section<'a> {
    /// Opens `bytes`, any alignment, which lie at `addr` in the unwound program: the section's own address at run time,
    /// to which its function starts are relative. Reads the header and nothing else.
    ///
    /// Errors: [`sys::SFU_E_EMPTY`] (no bytes), [`sys::SFU_E_MAGIC`], [`sys::SFU_E_VERSION`], [`sys::SFU_E_ABI`],
    /// [`sys::SFU_E_FLAGS`] or [`sys::SFU_E_BOUNDS`].
    pub fn open(bytes: &'a [u8], addr: u64) -> Result<Self, Error> {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: the bytes are readable for 'a, and sfu_open fills in raw when it succeeds.
        let raw = unsafe {
            result(sys::sfu_open(raw.as_mut_ptr(), bytes.as_ptr().cast(), bytes.len() as u64, addr))?;
            raw.assume_init()
        };
        Ok(Section { raw, bytes: PhantomData })
    }

    /// [`Section::open`] for this program's own section, which lies where it is.
    pub fn open_own(bytes: &'a [u8]) -> Result<Self, Error> {
        Self::open(bytes, bytes.as_ptr() as u64)
    }

    /// Checks every FDE and every row, as no lookup needs to. Takes time in proportion to the section.
    ///
    /// Errors: the first fault, with its place: [`sys::SFU_E_EMPTY`] (no FDE), [`sys::SFU_E_BOUNDS`],
    /// [`sys::SFU_E_FDE`], [`sys::SFU_E_ROW`], [`sys::SFU_E_NO_ROW`], [`sys::SFU_E_UNSORTED`], [`sys::SFU_E_OVERLAP`],
    /// [`sys::SFU_E_COUNT`] or [`sys::SFU_E_CONCATENATED`].
    pub fn check(&self) -> Result<(), (Error, sys::sfu_place)> {
        let mut place = sys::sfu_place::default();
        // SAFETY: both are valid.
        result(unsafe { sys::sfu_check(&self.raw, &mut place) }).map_err(|error| (error, place))
    }

    /// Finds what the section says of `pc`, which is a lookup PC ([`Registers::lookup_pc`]).
    ///
    /// Errors: [`sys::SFU_E_NO_FDE`], [`sys::SFU_E_NO_ROW`], [`sys::SFU_E_FDE`], [`sys::SFU_E_ROW`] or
    /// [`sys::SFU_E_BOUNDS`].
    pub fn find(&self, pc: u64) -> Result<Row, Error> {
        let mut row = Row::default();
        // SAFETY: both are valid.
        result(unsafe { sys::sfu_find(&self.raw, pc, &mut row) })?;
        Ok(row)
    }
}

/// What only the program knows, where tables and one stack are not enough. No method may panic: a panic ends the
/// program at once where panics unwind.
pub trait Machine {
    /// [`Machine::find_stack`] finds the stacks; otherwise there is the target's, which only a trap can leave.
    const STACKS: bool = false;

    /// Reads the 8 bytes at `addr` of a stack without bytes of its own ([`Stack::remote`]) into `buffer`. Returns
    /// whether all of them could be read; it must survive every address, aligned or not. `addr + buffer.len()` does not
    /// wrap.
    fn read(&self, addr: u64, buffer: &mut [u8]) -> bool {
        let _ = (addr, buffer);
        false
    }

    /// The value of register `number` (DWARF) in `frame`, whose PC is exact: of the registers that the walk began with
    /// (`frame.depth` is 0) or of those saved by the trap that interrupted it (at `frame.saved`). None: not known, and
    /// the trace ends with [`sys::SFU_E_REGISTER`]. On s390x numbers 16 to 31 are floating-point registers.
    fn register(&self, frame: &Frame, number: u32) -> Option<u64> {
        let _ = (frame, number);
        None
    }

    /// What lies behind `frame`, which no FDE describes (`why` is [`sys::SFU_E_NO_FDE`] or [`sys::SFU_E_NOT_CODE`]) or
    /// which is a trap frame without rows ([`sys::SFU_E_TRAP`]).
    fn trap(&self, frame: &Frame, why: Error) -> Trap {
        let _ = (frame, why);
        Trap::Unknown
    }

    /// The stack that `addr` lies on: an SP, up to the high end, or the address of a word. An SP below a stack that has
    /// overflown lies on that one. Called where `STACKS` is true.
    fn find_stack(&self, addr: u64) -> Option<Stack<'_>> {
        let _ = addr;
        None
    }
}

/// What [`Machine::trap`] says of a frame.
#[derive(Clone, Copy, Debug)]
pub enum Trap {
    /// It is no trap frame that it knows: the trace ends with the error that it was asked about.
    Unknown,
    /// It is one, and nothing lies beyond (entry from user mode): the proper end.
    End,
    /// It is one that interrupted this frame.
    Interrupted(sys::sfu_interrupted),
}

/// The program that is unwound: its sections, its memory, its limits.
#[derive(Debug)]
pub struct Target<'a> {
    raw: sys::sfu_target,
    borrowed: PhantomData<&'a [u8]>,
}

impl Default for Target<'_> {
    fn default() -> Self {
        Self::new(Stack::NONE)
    }
}

impl<'a> Target<'a> {
    /// With `stack` as its only one, without sections and callbacks, with sfu's own limits.
    pub fn new(stack: Stack<'a>) -> Self {
        Target {
            raw: sys::sfu_target {
                sections: ptr::null_mut(),
                stack: stack.raw,
                find_stack: None,
                read: None,
                reg: None,
                trap_hook: None,
                original_ra: None,
                ctx: ptr::null_mut(),
                r#final: sys::sfu_range::default(),
                pac_mask: 0,
                max_frames: 0,
                red_zone: 0,
                max_switches: 0,
                frame_pointers: false,
            },
            borrowed: PhantomData,
        }
    }

    /// Adds the section in `bytes`, whose own address in the unwound program at run time is `addr`, and all that a
    /// linker has joined to it, as far as there is `room`, to the front of the list that is searched.
    ///
    /// Errors: those of [`Section::open`]; [`sys::SFU_E_ABI`], its ABI is not that of the sections before;
    /// [`sys::SFU_E_CONCATENATED`], there is not enough room. The sections in front of that one have been added.
    pub fn add(&mut self, room: &'a mut [Room], bytes: &'a [u8], addr: u64) -> Result<(), Error> {
        if room.is_empty() {
            return Err(Error(sys::SFU_E_CONCATENATED));
        }
        // SAFETY: the room and the bytes are borrowed for 'a, and room for at least one is there.
        result(unsafe {
            let (from, size) = (bytes.as_ptr().cast(), bytes.len() as u64);
            sys::sfu_add(&mut self.raw.sections, room.as_mut_ptr().cast(), room.len(), from, size, addr)
        })
    }

    /// [`Target::add`] for this program's own section, which lies where it is.
    pub fn add_own(&mut self, room: &'a mut [Room], bytes: &'a [u8]) -> Result<(), Error> {
        self.add(room, bytes, bytes.as_ptr() as u64)
    }

    /// From now on the walk asks `machine`.
    pub fn ask<M: Machine>(&mut self, machine: &'a M) {
        self.raw.ctx = machine as *const M as *mut c_void;
        self.raw.read = Some(read::<M>);
        self.raw.reg = Some(register::<M>);
        self.raw.trap_hook = Some(trap::<M>);
        self.raw.find_stack = if M::STACKS { Some(find_stack::<M>) } else { None };
    }

    /// For all else: limits, red zone, PAC mask, frame pointers, callbacks of its own.
    ///
    /// # Safety
    ///
    /// `final`, `pac_mask`, `max_frames`, `red_zone`, `max_switches` and `frame_pointers` may become anything. The
    /// bytes of a stack are readable, and callbacks may be called with `ctx`, as long as the target is used. `sections`
    /// is left alone.
    pub unsafe fn raw_mut(&mut self) -> &mut sys::sfu_target {
        &mut self.raw
    }

    /// Finds what the sections say of `frame`; `function` of the row is where its function starts.
    ///
    /// Errors: those of [`Section::find`], [`sys::SFU_E_NOT_CODE`] if no section's text has its PC, or
    /// [`sys::SFU_E_NO_SECTION`] if there is no section.
    pub fn find(&self, frame: &Frame) -> Result<Row, Error> {
        let mut row = Row::default();
        // SAFETY: the sections in the list are opened and borrowed.
        result(unsafe { sys::sfu_find_frame(&self.raw, frame, &mut row) })?;
        Ok(row)
    }
}

/// The frames of a trace, from the one that it begins with, which is there in any case.
///
/// An error is an item of its own, the last one: `None` after a frame is the proper end ([`sys::SFU_END`]), and never
/// an error. `?`, `try_for_each` and `collect` into a `Result` stop at it. The trace is proven as a whole if it has no
/// error and `reliable` of its last frame is true. Every walk ends: frames and stack switches are counted.
///
/// Errors: those of [`Target::find`]; [`sys::SFU_E_STACK`], [`sys::SFU_E_ADDRESS`], [`sys::SFU_E_UNSAFE`],
/// [`sys::SFU_E_REGISTER`], [`sys::SFU_E_DEAD_SLOT`], [`sys::SFU_E_NO_RA`], [`sys::SFU_E_PROGRESS`],
/// [`sys::SFU_E_SWITCHES`], [`sys::SFU_E_DEPTH`], [`sys::SFU_E_TRAP`] or [`sys::SFU_E_NOT_FINAL`].
#[derive(Debug)]
pub struct Frames<'a> {
    walk: sys::sfu_walk,
    state: State,
    target: PhantomData<&'a Target<'a>>,
}

#[derive(Debug)]
enum State {
    First,
    Within,
    Over,
}

impl<'a> Frames<'a> {
    /// Begins a walk at `top`.
    pub fn new(target: &'a Target<'_>, top: &Registers) -> Self {
        let mut walk = MaybeUninit::zeroed();
        // SAFETY: the target is borrowed as long as the walk. sfu_walk_start fills in all but `left`, which is zeroed.
        let walk = unsafe {
            sys::sfu_walk_start(walk.as_mut_ptr(), &target.raw, top);
            walk.assume_init()
        };
        Frames { walk, state: State::First, target: PhantomData }
    }
}

impl Iterator for Frames<'_> {
    type Item = Result<Frame, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let code = match self.state {
            State::First => sys::SFU_OK,
            // SAFETY: the walk was started, and its target is borrowed.
            State::Within => unsafe { sys::sfu_walk_step(&mut self.walk) },
            State::Over => sys::SFU_END,
        };
        self.state = if code == sys::SFU_OK { State::Within } else { State::Over };
        match code {
            sys::SFU_OK => Some(Ok(self.walk.frame)),
            sys::SFU_END => None,
            _ => Some(Err(Error(code))),
        }
    }
}

impl FusedIterator for Frames<'_> {}

/// Calls `with` with the registers of a function below the caller's: the trace begins there, and the caller is two
/// frames or more further on. They hold for the time of the call. `with` must not panic: a panic ends the program at
/// once where panics unwind.
pub fn here<R>(with: impl FnOnce(&Registers) -> R) -> R {
    let mut with = Some(with);
    let mut returned = None;
    let mut call = |registers: &Registers| returned = with.take().map(|with| with(registers));
    here_by(&mut call);
    match returned {
        Some(value) => value,
        None => unreachable!("sfu_rust_here calls once"),
    }
}

fn here_by<F: FnMut(&Registers)>(call: &mut F) {
    // SAFETY: called::<F> gets what it expects, and call is borrowed meanwhile.
    unsafe { sys::sfu_rust_here(Some(called::<F>), call as *mut F as *mut c_void) }
}

/// A kernel with one section.
#[derive(Clone, Debug)]
pub struct Image<'a> {
    /// The section, between two symbols of the linker script: `addr_of!(sframe_start)..addr_of!(sframe_end)`.
    pub tables: Range<*const u8>,
    /// Its stacks: the one it booted on, those of interrupts and exceptions, of threads. The trace reads no other
    /// memory of a stack, so no garbage can make it fault.
    pub stacks: &'a [Stack<'a>],
    /// File name for addr2line, with a NUL at its end; without one, IMAGE is printed instead.
    pub name: &'a str,
    /// By how much the image has been moved: run-time minus link-time address.
    pub slide: u64,
    /// What a trace has besides; `Parts::default()` is nothing.
    pub parts: Parts<'a>,
}

/// What a trace has besides its frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts<'a> {
    /// The section `.note.gnu.build-id`: a line in front of the trace.
    pub build_id: &'a [u8],
    /// Names of functions: the section `.rodata.sfu_symbols`, which `port/symbols/symbols.py` makes.
    pub symbols: &'a [u8],
    /// The run-time address of the symbol `image_start`, to which names and records are relative.
    pub image_start: u64,
    /// The start of a function, whose caller the trace begins at: `panic as usize as u64` of the panic handler leaves
    /// this crate's frames out. Interrupted frames are never left out. 0: none.
    pub skip_function: u64,
    /// If that is 0: how many frames are left out.
    pub skip: u32,
    /// Deep recursion in one line.
    pub cycles: bool,
}

impl Image<'_> {
    fn raw(&self) -> sys::sfu_rust_image {
        let (build_id, symbols) = (self.parts.build_id.as_ptr_range(), self.parts.symbols.as_ptr_range());
        sys::sfu_rust_image {
            tables: self.tables.start.cast(),
            tables_end: self.tables.end.cast(),
            stacks: self.stacks.as_ptr().cast(),
            num_stacks: self.stacks.len(),
            name: if self.name.ends_with('\0') { self.name.as_ptr() } else { ptr::null() },
            slide: self.slide,
            build_id: build_id.start.cast(),
            build_id_end: build_id.end.cast(),
            symbols: symbols.start.cast(),
            symbols_end: symbols.end.cast(),
            image_start: self.parts.image_start,
            skip_function: self.parts.skip_function,
            skip: self.parts.skip,
            cycles: self.parts.cycles,
        }
    }
}

/// Prints the trace that begins at `top` (after a fault: the saved registers), or here if that is None, in the lines of
/// `port/print/sfu_print.h`, which `sfu-trace` reads. Errors of `out` are passed over. If printing faults and the fault
/// comes here again, that is said, and the call returns.
///
/// Errors: what ended the trace, if that was not its proper end. It has been printed. A section that is missing or
/// broken costs frames: the trace then ends with an error that says so.
///
/// # Safety
///
/// The tables of `image` are readable and do not wrap. Other CPUs have been stopped, or do not print.
pub unsafe fn print_trace(out: &mut dyn fmt::Write, image: &Image<'_>, top: Option<&Registers>) -> Result<(), Error> {
    let raw = image.raw();
    let top = top.map_or(ptr::null(), |top| top as *const Registers);
    let mut out = out;
    // SAFETY: as of this function; put gets what it expects.
    let code =
        unsafe { sys::sfu_rust_print(&raw, top, Some(put), &mut out as *mut &mut dyn fmt::Write as *mut c_void) };
    match code {
        sys::SFU_END => Ok(()),
        _ => Err(Error(code)),
    }
}

/// The body of a `#[panic_handler]`: prints why and where, and the trace. The handler then stops the machine. If that
/// panics (a console, a message), it comes here again, and the trace is tried without the message.
///
/// Errors: those of [`print_trace`].
///
/// # Safety
///
/// That of [`print_trace`].
pub unsafe fn on_panic(info: &PanicInfo<'_>, out: &mut dyn fmt::Write, image: &Image<'_>) -> Result<(), Error> {
    static BUSY: AtomicBool = AtomicBool::new(false);
    // Two accesses: an exchange may be a call into libgcc, and no other CPU prints.
    let again = BUSY.load(Ordering::Relaxed);
    BUSY.store(true, Ordering::Relaxed);
    if !again {
        // A console that fails has nowhere to say so.
        let _ = writeln!(out, "{}", info);
    }
    // SAFETY: as of this function.
    let ended = unsafe { print_trace(out, image, None) };
    BUSY.store(again, Ordering::Relaxed);
    ended
}

/// A crash record: memory that survives a reset, and which nobody loads or clears (`port/print/sfu_record.h`).
#[repr(C)]
#[derive(Debug)]
pub struct Record([u64; 13]);

impl Record {
    /// One that holds nothing.
    pub const fn new() -> Self {
        Record([0; 13])
    }
}

impl Default for Record {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes the trace that begins at `top`, or here, into `record`: in the panic path, in front of [`print_trace`].
///
/// Errors: what ended the trace, if that was not its proper end. What was found has been written.
///
/// # Safety
///
/// That of [`print_trace`]; `record` is memory of its own.
pub unsafe fn record(record: *mut Record, image: &Image<'_>, top: Option<&Registers>) -> Result<(), Error> {
    let top = top.map_or(ptr::null(), |top| top as *const Registers);
    // SAFETY: as of this function.
    match unsafe { sys::sfu_rust_record(record.cast(), &image.raw(), top) } {
        sys::SFU_END => Ok(()),
        code => Err(Error(code)),
    }
}

/// At boot: prints what a crash before the reset has left in `record`, and clears it. Returns whether there was one,
/// also one that is corrupt, which is said.
///
/// # Safety
///
/// That of [`record`].
pub unsafe fn print_record(out: &mut dyn fmt::Write, record: *mut Record, image: &Image<'_>) -> bool {
    let mut out = out;
    let ctx = &mut out as *mut &mut dyn fmt::Write as *mut c_void;
    // SAFETY: as of this function; put gets what it expects.
    unsafe { sys::sfu_rust_print_record(record.cast(), &image.raw(), Some(put), ctx) }
}

// ---- what C calls ----

/// Ends the program if a callback unwinds: dropped while panicking, a panic aborts. C frames cannot be unwound.
struct NoUnwind;

impl Drop for NoUnwind {
    fn drop(&mut self) {
        panic!("a callback of sfu must not panic");
    }
}

fn without_unwinding<R>(call: impl FnOnce() -> R) -> R {
    let guard = NoUnwind;
    let returned = call();
    forget(guard);
    returned
}

fn status(good: bool) -> i32 {
    if good {
        0
    } else {
        -1
    }
}

// SAFETY, of all of them: the pointers are what sfu.h says, and ctx is what was given together with the function.

unsafe extern "C" fn called<F: FnMut(&Registers)>(ctx: *mut c_void, here: *const Registers) {
    without_unwinding(|| unsafe { (*ctx.cast::<F>())(&*here) })
}

unsafe extern "C" fn put(ctx: *mut c_void, c: u8) {
    let out = unsafe { &mut *ctx.cast::<&mut dyn fmt::Write>() };
    // A console that fails has nowhere to say so.
    let _ = without_unwinding(|| out.write_char(c.into()));
}

unsafe extern "C" fn read<M: Machine>(ctx: *mut c_void, addr: u64, buffer: *mut c_void, len: usize) -> i32 {
    let (machine, buffer) = unsafe {
        ptr::write_bytes(buffer.cast::<u8>(), 0, len);
        (&*ctx.cast::<M>(), core::slice::from_raw_parts_mut(buffer.cast(), len))
    };
    status(without_unwinding(|| machine.read(addr, buffer)))
}

unsafe extern "C" fn register<M: Machine>(ctx: *mut c_void, frame: *const Frame, reg: u32, value: *mut u64) -> i32 {
    let (machine, frame) = unsafe { (&*ctx.cast::<M>(), &*frame) };
    let known = without_unwinding(|| machine.register(frame, reg));
    if let Some(known) = known {
        unsafe { *value = known };
    }
    status(known.is_some())
}

unsafe extern "C" fn trap<M: Machine>(
    ctx: *mut c_void,
    frame: *const Frame,
    code: i32,
    interrupted: *mut sys::sfu_interrupted,
) -> i32 {
    let (machine, frame) = unsafe { (&*ctx.cast::<M>(), &*frame) };
    match without_unwinding(|| machine.trap(frame, Error(code))) {
        Trap::Unknown => code,
        Trap::End => sys::SFU_END,
        Trap::Interrupted(by) => {
            unsafe { *interrupted = by };
            sys::SFU_OK
        }
    }
}

unsafe extern "C" fn find_stack<M: Machine>(ctx: *mut c_void, addr: u64, stack: *mut sys::sfu_stack) -> bool {
    let machine = unsafe { &*ctx.cast::<M>() };
    let found = without_unwinding(|| machine.find_stack(addr));
    if let Some(found) = found {
        unsafe { *stack = found.raw };
    }
    found.is_some()
}
