// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The sfu authors
//! sfu, a freestanding SFrame unwinder, for kernels in Rust: a safe layer over [`sys`], which has the declarations of
//! `sfu.h`. No std, no allocation, no other crate.
//!
//! A kernel that `sfu-link` links prints a trace by [`linked::panic_here`], and has nothing to describe. Any other
//! kernel prints a trace from its panic handler by [`Printer::on_panic`]. A walk of its own is an iterator:
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
//!
//! Everything may be kept in statics and used by several threads: there is no state but in what the caller owns.
#![no_std]
#![deny(missing_docs, unsafe_op_in_unsafe_fn)]

pub mod linked;
pub mod sys;

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::mem::{forget, MaybeUninit};
use core::ops::Range;
use core::panic::PanicInfo;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

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

/// Makes the enum of errors of the codes of [`sys`].
macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident = $code:ident,)*) => {
        /// Why something failed. Later versions may have more of them.
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Error {
            $($(#[$doc])* $name,)*
            /// The [`Printer`] is in use: printing has faulted and the fault has come here, or another CPU prints.
            Busy,
            /// Another code: what a callback set by [`Target::raw_mut`] returned.
            Other(i32),
        }

        impl Error {
            /// The code of [`sys`]: [`sys::SFU_E_STACK`] and so on, which is also that of [`Error::Busy`].
            pub const fn code(self) -> i32 {
                match self {
                    $(Error::$name => sys::$code,)*
                    Error::Busy => sys::SFU_E_STACK,
                    Error::Other(code) => code,
                }
            }

            /// The error of a code, which is neither [`sys::SFU_OK`] nor [`sys::SFU_END`].
            pub const fn of(code: i32) -> Self {
                match code {
                    $(sys::$code => Error::$name,)*
                    _ => Error::Other(code),
                }
            }
        }
    };
}

errors! {
    /// The section's size is 0, or it describes no function.
    Empty = SFU_E_EMPTY,
    /// The section does not begin with the magic number, in either byte order.
    Magic = SFU_E_MAGIC,
    /// The section's version is not supported, or not built in.
    Version = SFU_E_VERSION,
    /// The section's ABI is unknown, not built in, or not that of the sections before.
    Abi = SFU_E_ABI,
    /// The section's version has no such flags.
    Flags = SFU_E_FLAGS,
    /// An offset leads out of the section, the section leaves the address space, or its tables are 2 GiB or more.
    Bounds = SFU_E_BOUNDS,
    /// A callback could not read the section.
    Section = SFU_E_SECTION,
    /// Another section follows the tables, or more of them than there is room for.
    Concatenated = SFU_E_CONCATENATED,
    /// Flagged as sorted, but this FDE starts below the one before it.
    Unsorted = SFU_E_UNSORTED,
    /// Flagged as sorted, but this FDE starts inside the one before it.
    Overlap = SFU_E_OVERLAP,
    /// The functions' row count differs from the header's.
    Count = SFU_E_COUNT,
    /// Not the section's own bytes, or a start does not fit its field.
    ReadOnly = SFU_E_READONLY,
    /// No section describes this PC.
    NoFde = SFU_E_NO_FDE,
    /// The PC's function is described, but has no row for this PC.
    NoRow = SFU_E_NO_ROW,
    /// The function's FDE is corrupt.
    Fde = SFU_E_FDE,
    /// The row is corrupt.
    Row = SFU_E_ROW,
    /// SP, or what a rule reads, lies on no stack, or could not be read.
    Stack = SFU_E_STACK,
    /// Base + offset of a rule leaves the address space.
    Address = SFU_E_ADDRESS,
    /// A rule needs a register that is known only where the PC is exact.
    Unsafe = SFU_E_UNSAFE,
    /// A rule needs a register that [`Machine::register`] does not know.
    Register = SFU_E_REGISTER,
    /// The row leaves the return address in its register, but this frame has made a call since.
    NoRa = SFU_E_NO_RA,
    /// SP would not move up, on this stack or on one visited before: a loop.
    Progress = SFU_E_PROGRESS,
    /// More stack switches than the limit.
    Switches = SFU_E_SWITCHES,
    /// More frames than the limit.
    Depth = SFU_E_DEPTH,
    /// A trap frame without rows, which [`Machine::trap`] does not know.
    Trap = SFU_E_TRAP,
    /// The PC lies outside of the text of all sections.
    NotCode = SFU_E_NOT_CODE,
    /// The trace ends, but not in the final frame that the target names.
    NotFinal = SFU_E_NOT_FINAL,
    /// The target has no section.
    NoSection = SFU_E_NO_SECTION,
    /// A rule reads below SP what is in no register either.
    DeadSlot = SFU_E_DEAD_SLOT,
}

impl Error {
    /// What it means; "" if sfu was built with SFU_NO_STRINGS.
    pub fn message(self) -> &'static str {
        if self == Error::Busy {
            return "the printer is in use";
        }
        // SAFETY: sfu_string returns a static string with a NUL at its end for every code.
        let bytes = unsafe {
            let text = sys::sfu_string(self.code());
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
        write!(f, "Error({}: {})", self.code(), self.message())
    }
}

#[cfg(sfu_core_error)]
impl core::error::Error for Error {}

fn result(code: i32) -> Result<(), Error> {
    match code {
        sys::SFU_OK => Ok(()),
        _ => Err(Error::of(code)),
    }
}

/// What ended a walk.
fn ended(code: i32) -> Result<(), Error> {
    match code {
        sys::SFU_END => Ok(()),
        _ => Err(Error::of(code)),
    }
}

/// One `.sframe` section.
#[derive(Debug)]
pub struct Section<'a> {
    raw: sys::sfu_section,
    bytes: PhantomData<&'a [u8]>,
}

// SAFETY: it was opened in bytes, which nobody writes, and its list pointer is not used.
unsafe impl Send for Section<'_> {}
// SAFETY: the same.
unsafe impl Sync for Section<'_> {}

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

// SAFETY: nothing reads a room but through the target that has borrowed it.
unsafe impl Send for Room {}
// SAFETY: the same.
unsafe impl Sync for Room {}

/// A stack: where it is, and its bytes.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Stack<'a> {
    raw: sys::sfu_stack,
    bytes: PhantomData<&'a [u8]>,
}

// SAFETY: it is addresses, and bytes that may be read for 'a.
unsafe impl Send for Stack<'_> {}
// SAFETY: the same.
unsafe impl Sync for Stack<'_> {}

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
    pub const fn remote(addrs: Range<u64>) -> Self {
        Self::of(ptr::null(), addrs.start, addrs.end)
    }

    const fn of(bytes: *const c_void, low: u64, high: u64) -> Self {
        Stack { raw: sys::sfu_stack { bytes, low, high }, bytes: PhantomData }
    }
}

impl<'a> Section<'a> {
    /// Opens `bytes`, any alignment, which lie at `addr` in the unwound program: the section's own address at run time,
    /// to which its function starts are relative. Reads the header and nothing else.
    ///
    /// Errors: [`Error::Empty`] (no bytes), [`Error::Magic`], [`Error::Version`], [`Error::Abi`],
    /// [`Error::Flags`] or [`Error::Bounds`].
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
    /// Errors: the first fault, with its place: [`Error::Empty`] (no FDE), [`Error::Bounds`],
    /// [`Error::Fde`], [`Error::Row`], [`Error::NoRow`], [`Error::Unsorted`], [`Error::Overlap`],
    /// [`Error::Count`] or [`Error::Concatenated`].
    pub fn check(&self) -> Result<(), (Error, sys::sfu_place)> {
        let mut place = sys::sfu_place::default();
        // SAFETY: both are valid.
        result(unsafe { sys::sfu_check(&self.raw, &mut place) }).map_err(|error| (error, place))
    }

    /// Finds what the section says of `pc`, which is a lookup PC ([`Registers::lookup_pc`]).
    ///
    /// Errors: [`Error::NoFde`], [`Error::NoRow`], [`Error::Fde`], [`Error::Row`] or
    /// [`Error::Bounds`].
    pub fn find(&self, pc: u64) -> Result<Row, Error> {
        let mut row = Row::default();
        // SAFETY: both are valid.
        result(unsafe { sys::sfu_find(&self.raw, pc, &mut row) })?;
        Ok(row)
    }
}

/// What only the program knows, where tables and one stack are not enough. No method may panic: a panic ends the
/// program at once where panics unwind.
///
/// Of [`Target::with_machine`] and, where there are several stacks, of [`Target::with_stacks`].
pub trait Machine: Sync {
    /// Reads the 8 bytes at `addr` of a stack without bytes of its own ([`Stack::remote`]) into `buffer`. Returns
    /// whether all of them could be read; it must survive every address, aligned or not. `addr + buffer.len()` does not
    /// wrap.
    fn read(&self, addr: u64, buffer: &mut [u8]) -> bool {
        let _ = (addr, buffer);
        false
    }

    /// The value of register `number` (DWARF) in `frame`, whose PC is exact: of the registers that the walk began with
    /// (`frame.depth` is 0) or of those saved by the trap that interrupted it (at `frame.saved`). None: not known, and
    /// the trace ends with [`Error::Register`]. The number comes out of a row, and a hostile row may name any from 0 to
    /// 2^29 - 1: return None for each register that the machine does not have. On s390x numbers 16 to 31 are
    /// floating-point registers.
    fn register(&self, frame: &Frame, number: u32) -> Option<u64> {
        let _ = (frame, number);
        None
    }

    /// What lies behind `frame`, which no FDE describes (`why` is [`Error::NoFde`] or [`Error::NotCode`]) or
    /// which is a trap frame without rows ([`Error::Trap`]).
    fn trap(&self, frame: &Frame, why: Error) -> Trap {
        let _ = (frame, why);
        Trap::Unknown
    }
}

/// A machine with several stacks.
pub trait Stacks: Machine {
    /// The stack that `addr`, an SP or the address of a word, lies on. An SP equal to `high` is that of an empty stack.
    /// If `addr` lies in the guard area below a stack, return that stack: its SP has overflowed.
    fn find_stack(&self, addr: u64) -> Option<Stack<'_>>;
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

// SAFETY: sections and rooms are borrowed for it alone, stacks may be read, and a machine is Sync.
unsafe impl Send for Target<'_> {}
// SAFETY: the same; what changes a target needs it exclusively.
unsafe impl Sync for Target<'_> {}

impl Default for Target<'_> {
    fn default() -> Self {
        Self::new(Stack::NONE)
    }
}

impl<'a> Target<'a> {
    /// With `stack` as its only one, which only a trap can leave; without sections and callbacks, with sfu's own
    /// limits.
    pub const fn new(stack: Stack<'a>) -> Self {
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
                r#final: sys::sfu_range { low: 0, high: 0 },
                pac_mask: 0,
                max_frames: 0,
                red_zone: 0,
                max_switches: 0,
                frame_pointers: false,
            },
            borrowed: PhantomData,
        }
    }

    /// [`Target::new`], and the walk asks `machine`.
    pub fn with_machine<M: Machine>(stack: Stack<'a>, machine: &'a M) -> Self {
        let mut target = Self::new(stack);
        target.raw.ctx = machine as *const M as *mut c_void;
        target.raw.read = Some(read::<M>);
        target.raw.reg = Some(register::<M>);
        target.raw.trap_hook = Some(trap::<M>);
        target
    }

    /// Its stacks are those that `machine` finds, and the walk asks `machine` for all else.
    pub fn with_stacks<M: Stacks>(machine: &'a M) -> Self {
        let mut target = Self::with_machine(Stack::NONE, machine);
        target.raw.find_stack = Some(find_stack::<M>);
        target
    }

    /// Adds the section in `bytes`, whose own address in the unwound program at run time is `addr`, and all that a
    /// linker has joined to it, as far as there is `room`, to the front of the list that is searched. Its text is what
    /// its functions describe: a PC elsewhere is not code ([`Error::NotCode`]). Takes time in proportion to its
    /// functions.
    ///
    /// Errors: those of [`Section::open`]; [`Error::Abi`] if its ABI differs from that of the sections already added;
    /// [`Error::Concatenated`] if there is not enough room. On error, the sections before the failing one stay added.
    pub fn add(&mut self, room: &'a mut [Room], bytes: &'a [u8], addr: u64) -> Result<(), Error> {
        self.add_by(room, bytes, addr, |section| {
            // SAFETY: the section is in the list, and this target is borrowed exclusively. Where it fails, the text
            // stays unknown: any PC may be its code.
            let _ = unsafe { sys::sfu_find_text(section) };
        })
    }

    /// [`Target::add`] with the text that the section describes, by the linker script for instance. It may have
    /// functions without tables, too: their frames end a trace with [`Error::NoFde`]. An empty one: any PC may be code.
    pub fn add_text(
        &mut self,
        room: &'a mut [Room],
        bytes: &'a [u8],
        addr: u64,
        text: Range<u64>,
    ) -> Result<(), Error> {
        // SAFETY: the section is in the list, and this target is borrowed exclusively.
        self.add_by(room, bytes, addr, |section| unsafe {
            (*section).text = if text.is_empty() {
                sys::sfu_range::default()
            } else {
                sys::sfu_range { low: text.start, high: text.end }
            };
        })
    }

    /// [`Target::add`] for this program's own section, which lies where it is.
    pub fn add_own(&mut self, room: &'a mut [Room], bytes: &'a [u8]) -> Result<(), Error> {
        self.add(room, bytes, bytes.as_ptr() as u64)
    }

    /// Calls `each` for each section that has been added.
    fn add_by(
        &mut self,
        room: &'a mut [Room],
        bytes: &'a [u8],
        addr: u64,
        each: impl Fn(*mut sys::sfu_section),
    ) -> Result<(), Error> {
        if room.is_empty() {
            return Err(Error::Concatenated);
        }
        let before = self.raw.sections;
        // SAFETY: the room and the bytes are borrowed for 'a, and room for at least one is there.
        let code = unsafe {
            let (from, size) = (bytes.as_ptr().cast(), bytes.len() as u64);
            sys::sfu_add(&mut self.raw.sections, room.as_mut_ptr().cast(), room.len(), from, size, addr)
        };
        // Those that were added are in front of those before.
        let mut section = self.raw.sections;
        while section != before {
            each(section);
            // SAFETY: it is in the list, which ends with those before.
            section = unsafe { (*section).next };
        }
        result(code)
    }

    /// Where a trace must end: in a frame whose lookup PC lies here; elsewhere its end is [`Error::NotFinal`]. An empty
    /// range, as at first: in any frame.
    pub fn set_final(&mut self, pcs: Range<u64>) {
        self.raw.r#final =
            if pcs.is_empty() { sys::sfu_range::default() } else { sys::sfu_range { low: pcs.start, high: pcs.end } };
    }

    /// Bytes below SP that a trap leaves alone: 0, as at first, in a kernel; 128 in x86_64 user mode.
    pub fn set_red_zone(&mut self, bytes: u16) {
        self.raw.red_zone = bytes;
    }

    /// aarch64: the bits of a signed return address that are its pointer authentication code, without bit 55. 0, as at
    /// first: those of a 48-bit address space.
    pub fn set_pac_mask(&mut self, bits: u64) {
        self.raw.pac_mask = bits;
    }

    /// The most frames of a trace. 0, as at first: [`sys::SFU_MAX_FRAMES`].
    pub fn set_max_frames(&mut self, frames: u32) {
        self.raw.max_frames = frames;
    }

    /// The most stack switches of a trace. 0, as at first, or more than there can be: [`sys::SFU_MAX_SWITCHES`].
    pub fn set_max_switches(&mut self, switches: u8) {
        self.raw.max_switches = switches;
    }

    /// Where no FDE covers a PC, guess that FP holds a frame record, and mark the frame as guessed. Not on s390x.
    pub fn set_frame_pointers(&mut self, guess: bool) {
        self.raw.frame_pointers = guess;
    }

    /// For callbacks of its own, and for [`sys::sfu_target::original_ra`].
    ///
    /// # Safety
    ///
    /// The bytes of a stack are readable, and callbacks may be called with `ctx`, on any thread, as long as the
    /// target is
    /// used. `sections` is left alone.
    pub unsafe fn raw_mut(&mut self) -> &mut sys::sfu_target {
        &mut self.raw
    }

    /// Finds what the sections say of `frame`; `function` of the row is where its function starts.
    ///
    /// Errors: those of [`Section::find`], [`Error::NotCode`] if no section's text has its PC, or
    /// [`Error::NoSection`] if there is no section.
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
/// Errors: those of [`Target::find`]; [`Error::Stack`], [`Error::Address`], [`Error::Unsafe`],
/// [`Error::Register`], [`Error::DeadSlot`], [`Error::NoRa`], [`Error::Progress`],
/// [`Error::Switches`], [`Error::Depth`], [`Error::Trap`] or [`Error::NotFinal`].
#[derive(Debug)]
pub struct Frames<'a> {
    walk: sys::sfu_walk,
    state: State,
    target: PhantomData<&'a Target<'a>>,
}

// SAFETY: a walk only reads its target, which is Sync, and stacks.
unsafe impl Send for Frames<'_> {}
// SAFETY: the same.
unsafe impl Sync for Frames<'_> {}

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
            _ => Some(Err(Error::of(code))),
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

/// The bytes between two symbols of the linker script. None if `end` lies below `start`.
///
/// # Safety
///
/// They are readable, and nobody writes them, for 'a.
pub unsafe fn between<'a>(start: *const u8, end: *const u8) -> &'a [u8] {
    let size = (end as usize).saturating_sub(start as usize);
    // SAFETY: as of this function.
    unsafe { core::slice::from_raw_parts(start, size) }
}

/// The name of a file for the addr2line line, which a shell reads and C prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Name<'a>(Option<&'a str>);

impl<'a> Name<'a> {
    /// No name: IMAGE is printed instead.
    pub const NONE: Name<'static> = Name(None);

    /// `text` is the name and a NUL at its end. None if it has no NUL there or another one, or what is not a printable
    /// character of ASCII. [`name!`] is the same for a literal, at compile time.
    pub const fn new(text: &'a str) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() && bytes[i] >= b' ' && bytes[i] <= b'~' {
            i += 1;
        }
        if i + 1 == bytes.len() && bytes[i] == 0 {
            Some(Name(Some(text)))
        } else {
            None
        }
    }

    #[doc(hidden)]
    pub const fn must(name: Option<Self>) -> Self {
        match name {
            Some(name) => name,
            None => panic!("the name of an image has only printable characters of ASCII"),
        }
    }

    fn as_ptr(&self) -> *const u8 {
        self.0.map_or(ptr::null(), str::as_ptr)
    }
}

/// A [`Name`] of a literal. One that C cannot print, with a NUL or a letter outside of ASCII, does not compile.
#[macro_export]
macro_rules! name {
    ($text:literal) => {{
        const NAME: $crate::Name<'static> = $crate::Name::must($crate::Name::new(concat!($text, "\0")));
        NAME
    }};
}

/// A kernel with one section.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    /// The section: [`between`] two symbols of the linker script.
    pub tables: &'a [u8],
    /// Its stacks: the one it booted on, those of interrupts and exceptions, of threads. The trace reads no other
    /// memory of a stack, so no garbage can make it fault.
    pub stacks: &'a [Stack<'a>],
    /// File name for addr2line.
    pub name: Name<'a>,
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
        let tables = self.tables.as_ptr_range();
        let (build_id, symbols) = (self.parts.build_id.as_ptr_range(), self.parts.symbols.as_ptr_range());
        sys::sfu_rust_image {
            tables: tables.start.cast(),
            tables_end: tables.end.cast(),
            stacks: self.stacks.as_ptr().cast(),
            num_stacks: self.stacks.len(),
            name: self.name.as_ptr(),
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

/// The memory of one trace at a time, 1.5 KiB that need not be on a stack which may be almost full:
///
/// ```
/// static PRINTER: sfu::Printer = sfu::Printer::new();
/// ```
///
/// While it prints, another call finds it in use, and says so ([`Error::Busy`]): by an interrupt or a fault on the same
/// CPU, by another CPU. What shall print beside it, as a console that logs traces of its own, has a printer of its own.
/// Whether it is in use takes one atomic exchange, which on aarch64 needs memory that is cached: the MMU is on.
pub struct Printer {
    state: AtomicU32,
    told: AtomicBool,
    memory: UnsafeCell<[u64; sys::SFU_RUST_PRINTER_WORDS]>,
}

// SAFETY: the memory is used between claim and the drop of what that returns, by one call at a time.
unsafe impl Sync for Printer {}

/// States of a printer. SAID: that it is in use has been printed.
const FREE: u32 = 0;
const USED: u32 = 1;
const SAID: u32 = 2;

/// A printer that is in use by this call.
struct Claim<'p>(&'p Printer);

impl Claim<'_> {
    fn memory(&self) -> *mut c_void {
        self.0.memory.get().cast()
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.0.state.store(FREE, Ordering::Release);
    }
}

impl Default for Printer {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Printer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Printer").field("state", &self.state).finish_non_exhaustive()
    }
}

impl Printer {
    /// Not in use.
    pub const fn new() -> Self {
        Printer {
            state: AtomicU32::new(FREE),
            told: AtomicBool::new(false),
            memory: UnsafeCell::new([0; sys::SFU_RUST_PRINTER_WORDS]),
        }
    }

    fn exchange(&self, from: u32, to: u32) -> bool {
        let state = &self.state as *const AtomicU32 as *mut u32;
        // SAFETY: what is atomic may be changed through a shared reference, and C does so atomically.
        unsafe { sys::sfu_rust_exchange(state, from, to) }
    }

    fn claim(&self) -> Result<Claim<'_>, Error> {
        if self.exchange(FREE, USED) {
            Ok(Claim(self))
        } else {
            Err(Error::Busy)
        }
    }

    /// [`Printer::claim`], or says once that the printer is in use.
    fn claim_or_say(&self, out: &mut dyn fmt::Write) -> Result<Claim<'_>, Error> {
        let claim = self.claim();
        if claim.is_err() && self.exchange(USED, SAID) {
            // A console that fails has nowhere to say so.
            let _ = out.write_str("\nsecond fault while printing the trace, or another CPU prints: stopped\n");
        }
        claim
    }

    /// Prints the trace that begins at `top` (after a fault: the saved registers), or here if that is None, in the
    /// lines
    /// of `port/print/sfu_print.h`, which `sfu-trace` reads. Errors of `out` are passed over.
    ///
    /// Errors: what ended the trace, if that was not its proper end. It has been printed. A section that is missing or
    /// broken costs frames: the trace then ends with an error that says so. [`Error::Busy`]: nothing was printed, but,
    /// once, that the printer is in use.
    pub fn print_trace(
        &self,
        out: &mut dyn fmt::Write,
        image: &Image<'_>,
        top: Option<&Registers>,
    ) -> Result<(), Error> {
        let claim = self.claim_or_say(out)?;
        let top = top.map_or(ptr::null(), |top| top as *const Registers);
        let mut out = out;
        let ctx = &mut out as *mut &mut dyn fmt::Write as *mut c_void;
        // SAFETY: the memory is this call's, what the image has is borrowed, and put gets what it expects.
        ended(unsafe { sys::sfu_rust_print(claim.memory(), &image.raw(), top, Some(put), ctx) })
    }

    /// The body of a `#[panic_handler]`: prints why and where, and the trace. The handler then stops the machine. If
    /// that panics (a console, a message), it comes here again, and the trace is tried without the message.
    ///
    /// Errors: those of [`Printer::print_trace`].
    pub fn on_panic(&self, info: &PanicInfo<'_>, out: &mut dyn fmt::Write, image: &Image<'_>) -> Result<(), Error> {
        let again = self.told.load(Ordering::Relaxed);
        self.told.store(true, Ordering::Relaxed);
        if !again {
            // A console that fails has nowhere to say so.
            let _ = writeln!(out, "{}", info);
        }
        let ended = self.print_trace(out, image, None);
        self.told.store(again, Ordering::Relaxed);
        ended
    }

    /// Writes the trace that begins at `top`, or here, into `record`: in the panic path, in front of
    /// [`Printer::print_trace`].
    ///
    /// Errors: what ended the trace, if that was not its proper end. What was found has been written.
    /// [`Error::Busy`]: nothing was written.
    pub fn record(&self, record: &mut Record, image: &Image<'_>, top: Option<&Registers>) -> Result<(), Error> {
        let claim = self.claim()?;
        let top = top.map_or(ptr::null(), |top| top as *const Registers);
        let record = record as *mut Record as *mut c_void;
        // SAFETY: the memory is this call's, and all else is borrowed.
        ended(unsafe { sys::sfu_rust_record(claim.memory(), record, &image.raw(), top) })
    }

    /// At boot: prints what a crash before the reset has left in `record`, and clears it. Returns whether there was
    /// one, also one that is corrupt, which is said.
    ///
    /// Errors: [`Error::Busy`]; the record is as it was.
    pub fn print_record(
        &self,
        out: &mut dyn fmt::Write,
        record: &mut Record,
        image: &Image<'_>,
    ) -> Result<bool, Error> {
        let claim = self.claim_or_say(out)?;
        let mut out = out;
        let ctx = &mut out as *mut &mut dyn fmt::Write as *mut c_void;
        let record = record as *mut Record as *mut c_void;
        // SAFETY: the memory is this call's, all else is borrowed, and put gets what it expects.
        Ok(unsafe { sys::sfu_rust_print_record(claim.memory(), record, &image.raw(), Some(put), ctx) })
    }
}

/// A crash record: memory that survives a reset, and which nobody loads or clears (`port/print/sfu_record.h`).
#[repr(C)]
#[derive(Debug)]
pub struct Record([u64; sys::SFU_RUST_RECORD_WORDS]);

impl Record {
    /// One that holds nothing.
    pub const fn new() -> Self {
        Record([0; sys::SFU_RUST_RECORD_WORDS])
    }
}

impl Default for Record {
    fn default() -> Self {
        Self::new()
    }
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
    // A byte outside of ASCII is no character by itself; only a table of names could have one.
    let c = if c.is_ascii() { char::from(c) } else { '?' };
    // A console that fails has nowhere to say so.
    let _ = without_unwinding(|| out.write_char(c));
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
    match without_unwinding(|| machine.trap(frame, Error::of(code))) {
        Trap::Unknown => code,
        Trap::End => sys::SFU_END,
        Trap::Interrupted(by) => {
            unsafe { *interrupted = by };
            sys::SFU_OK
        }
    }
}

unsafe extern "C" fn find_stack<M: Stacks>(ctx: *mut c_void, addr: u64, stack: *mut sys::sfu_stack) -> bool {
    let machine = unsafe { &*ctx.cast::<M>() };
    let found = without_unwinding(|| machine.find_stack(addr));
    if let Some(found) = found {
        unsafe { *stack = found.raw };
    }
    found.is_some()
}
