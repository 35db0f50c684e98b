// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The sfu authors
//! The declarations of `sfu.h`, under their own names. A test compares each with what C compilers for three CPUs make
//! of the header.
//!
//! Every address and register is a `u64` of the unwound program, which may be this program or another one. Sizes and
//! offsets are in bytes. sfu keeps no state outside of the structures given to it, allocates nothing and takes no lock:
//! calls on different structures may run at the same time. A function changes its outputs only when it succeeds.
//! "Specification" is "The SFrame format", version 3.
//!
//! # Safety
//!
//! Of each function: a pointer refers to a valid object of its type for the time of the call, is not NULL unless its
//! comment says so, and a `*mut` is not used elsewhere meanwhile. A callback must not unwind.
#![allow(non_camel_case_types)]

use core::ffi::c_void;

/// C's `int` on every CPU that sfu supports.
pub type c_int = i32;

/// Version of sfu: major * 10000 + minor * 100 + patch.
pub const SFU_VERSION: c_int = 200;
/// Limit of frames where [`sfu_target::max_frames`] is 0.
pub const SFU_MAX_FRAMES: u32 = 4096;
/// Limit of stack switches where [`sfu_target::max_switches`] is 0.
pub const SFU_MAX_SWITCHES: u8 = 16;

/// Done; of a step: the walk has moved to the caller's frame.
pub const SFU_OK: c_int = 0;
/// The table marks this frame as the outermost one: the trace is complete.
pub const SFU_END: c_int = 1;
/// No section, a section of size 0, or one that describes no function.
pub const SFU_E_EMPTY: c_int = -1;
/// The section does not begin with the magic number, in either byte order.
pub const SFU_E_MAGIC: c_int = -2;
/// A version that is not supported, or not built in.
pub const SFU_E_VERSION: c_int = -3;
/// An ABI that is not supported in this version, not built in, or not that of the other sections.
pub const SFU_E_ABI: c_int = -4;
/// Flags that are not defined in this version.
pub const SFU_E_FLAGS: c_int = -5;
/// The header or an entry points outside of the section, the section wraps around the end of the address space, or its
/// tables are 2 GiB or longer.
pub const SFU_E_BOUNDS: c_int = -6;
/// The callback could not read the section.
pub const SFU_E_SECTION: c_int = -7;
/// A second header follows the tables: [`sfu_open_next`].
pub const SFU_E_CONCATENATED: c_int = -8;
/// Flagged as sorted, but this FDE starts below the one before it.
pub const SFU_E_UNSORTED: c_int = -9;
/// Flagged as sorted, but this FDE starts inside the one before it.
pub const SFU_E_OVERLAP: c_int = -10;
/// The functions have another number of rows than the header says.
pub const SFU_E_COUNT: c_int = -11;
/// The bytes to be sorted are not those of the section, or a start does not fit its field.
pub const SFU_E_READONLY: c_int = -12;
/// No section describes this PC.
pub const SFU_E_NO_FDE: c_int = -13;
/// Its function is described, but has no row for this PC.
pub const SFU_E_NO_ROW: c_int = -14;
/// Its FDE is corrupt: an unknown type, a repeat size of 0 or more rows than there is room for. For a check also: the
/// function reaches the end of the address space.
pub const SFU_E_FDE: c_int = -15;
/// One of its rows is corrupt: it does not start above the one before it, or has words that its FDE's type cannot have.
/// For a check also: it starts behind the end of the function.
pub const SFU_E_ROW: c_int = -16;
/// The callback could not read the stack.
pub const SFU_E_STACK: c_int = -17;
/// A rule's base + offset leaves the address space.
pub const SFU_E_ADDRESS: c_int = -18;
/// A rule needs a register that is known only where the PC is exact.
pub const SFU_E_UNSAFE: c_int = -19;
/// A rule needs a register that the `reg` callback does not know.
pub const SFU_E_REGISTER: c_int = -20;
/// The row leaves the RA in its register, but this frame has made a call since.
pub const SFU_E_NO_RA: c_int = -21;
/// SP would not grow, on the same stack or on one that the walk comes back to.
pub const SFU_E_PROGRESS: c_int = -22;
/// More stack switches than the limit.
pub const SFU_E_SWITCHES: c_int = -23;
/// More frames than the limit.
pub const SFU_E_DEPTH: c_int = -24;
/// A trap frame without rows, and no trap hook that knows it.
pub const SFU_E_TRAP: c_int = -25;
/// The PC lies outside of the text of all sections: it is not code.
pub const SFU_E_NOT_CODE: c_int = -26;
/// The trace has ended, but not in the final frame that the target names.
pub const SFU_E_NOT_FINAL: c_int = -27;

/// ABI (specification 2.2.1): aarch64, big endian.
pub const SFU_AARCH64_BIG: u8 = 1;
/// ABI: aarch64, little endian.
pub const SFU_AARCH64: u8 = 2;
/// ABI: x86_64.
pub const SFU_AMD64: u8 = 3;
/// ABI: s390x.
pub const SFU_S390X: u8 = 4;

/// The PC is exact: the next instruction to run, of the topmost frame or of an interrupted one.
pub const SFU_PC_EXACT: u8 = 0;
/// The PC is a return address. It may lie one past the end of its function, so it is looked up as pc - 1.
pub const SFU_PC_RETURN: u8 = 1;

/// The frame was not guessed: the tables say so, or a trap hook that is sure.
pub const SFU_GUESS_NONE: u8 = 0;
/// By a frame record: [`sfu_target::frame_pointers`].
pub const SFU_GUESS_RECORD: u8 = 1;
/// By a trap hook that is not sure.
pub const SFU_GUESS_HOOK: u8 = 2;
/// By a call through a wild pointer: [`sfu_walk_step`].
pub const SFU_GUESS_CALL: u8 = 3;

/// The rules of the row hold.
pub const SFU_ROW_RULES: u8 = 0;
/// The RA is undefined: there is no caller.
pub const SFU_ROW_OUTERMOST: u8 = 1;
/// A trap frame that the table cannot describe: ask the trap hook.
pub const SFU_ROW_ASK: u8 = 2;

/// What a walk begins with, what a trap hook fills in and what a frame carries.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct sfu_registers {
    /// Without its PAC, if it was a signed RA (aarch64).
    pub pc: u64,
    /// The stack pointer.
    pub sp: u64,
    /// The frame pointer's register, whatever it is used for.
    pub fp: u64,
    /// The link register (aarch64, s390x), if `has_ra`.
    pub ra: u64,
    /// `ra` is known. It counts where `pc_kind` is [`SFU_PC_EXACT`]: a call changes it.
    pub has_ra: bool,
    /// [`SFU_PC_EXACT`] or [`SFU_PC_RETURN`].
    pub pc_kind: u8,
}

/// A frame of a walk.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct sfu_frame {
    /// As they are in this frame.
    pub regs: sfu_registers,
    /// Of an interrupted frame: SP in its trap frame, where its registers are saved; else 0.
    pub trap: u64,
    /// 0 for the topmost frame.
    pub depth: u32,
    /// Stack switches from the topmost frame to this one.
    pub switches: u8,
    /// On another stack than the frame before it.
    pub switched: bool,
    /// How it was guessed: [`SFU_GUESS_NONE`] and so on.
    pub guessed: u8,
    /// Somebody had replaced the return address that led here: `regs.pc` is the original one.
    pub replaced: bool,
    /// Neither this frame nor one before it was guessed. A trace is proven as a whole when its last frame is reliable
    /// and the walk returned [`SFU_END`].
    pub reliable: bool,
}

/// One recovery rule, in the two words of a flexible row (specification 3.2):
/// base = control & 1 ? register\[control >> 3\] : CFA; value = control & 2 ? \*(base + offset) : base + offset.
/// Registers have their DWARF numbers; 255 is the RA's on amd64, which has none.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct sfu_rule {
    /// In bytes, also on s390x.
    pub offset: i32,
    /// Bit 0: the base is a register; bit 1: the value is in memory; from bit 3 on: the register's number.
    pub control: u32,
}

/// What the table says of a range of PCs: it holds for those with pc - start < length. Caller's registers: CFA by
/// `cfa`, PC by `ra`, FP by `fp`; SP = CFA (s390x: CFA - 160).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct sfu_row {
    /// The first PC.
    pub start: u64,
    /// Start of the function.
    pub function: u64,
    /// Rule of the CFA.
    pub cfa: sfu_rule,
    /// Rule of the return address.
    pub ra: sfu_rule,
    /// Rule of the frame pointer.
    pub fp: sfu_rule,
    /// How many bytes of code it holds for.
    pub length: u32,
    /// [`SFU_AMD64`] and so on.
    pub abi: u8,
    /// [`SFU_ROW_RULES`], [`SFU_ROW_OUTERMOST`] or [`SFU_ROW_ASK`].
    pub kind: u8,
    /// The function is a trap frame: the caller is interrupted, its PC exact.
    pub trap_frame: bool,
    /// aarch64: the RA carries a PAC.
    pub signed_ra: bool,
}

/// Reads `len` bytes at `addr` of the unwound program into `buffer`: 8 of a stack, 1 to 28 of a section. Returns 0, or
/// anything else if not all of them can be read. It must not fault at any address, aligned or not. `addr + len` does
/// not wrap.
pub type sfu_read_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, addr: u64, buffer: *mut c_void, len: usize) -> c_int>;

/// Sets `*value` to register `reg` (DWARF number) of `frame`, whose PC is exact. In the topmost frame (`trap` and
/// `depth` are 0) it is what the walk began with. In an interrupted frame it is what the trap has saved. On s390x 16 to
/// 31 are floating-point registers. Returns 0, or anything else if it is not known.
pub type sfu_reg_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, frame: *const sfu_frame, reg: u32, value: *mut u64) -> c_int>;

/// The frame behind a trap, as a trap hook says. Before the hook is asked: registers 0, `pc_kind` [`SFU_PC_EXACT`],
/// `trap` SP of the trap frame, `guessed` false.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct sfu_interrupted {
    /// `pc_kind` [`SFU_PC_RETURN`] if a call left that frame: a coroutine, a switch.
    pub regs: sfu_registers,
    /// Where the registers were saved: becomes [`sfu_frame::trap`].
    pub trap: u64,
    /// The hook is not sure: that frame and all behind it are not reliable.
    pub guessed: bool,
}

/// The trap hook. It is asked about `frame` if no FDE describes it (`code` is [`SFU_E_NO_FDE`] or [`SFU_E_NOT_CODE`]),
/// or if it is a trap frame without rows ([`SFU_E_TRAP`]). The step returns what the hook returns: [`SFU_OK`], and
/// `*interrupted` is filled in; [`SFU_END`] if nothing lies beyond it; `code` if the hook does not know it; or an
/// error.
pub type sfu_trap_fn = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        frame: *const sfu_frame,
        code: c_int,
        interrupted: *mut sfu_interrupted,
    ) -> c_int,
>;

/// Tells stacks apart: returns the same number for two SPs exactly if they lie on the same stack.
pub type sfu_stack_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, sp: u64) -> u64>;

/// Puts back a return address that somebody has replaced: a function tracer, a return probe. `*ra` is what a row or a
/// guess gives for `frame`, without its PAC. It lies at `slot` of the stack, or in a register if `slot` is 0. Returns
/// true if it was replaced, and sets `*ra` to the original one. Returns false if not, and leaves `*ra` alone. It is not
/// asked about the PC of an interrupted frame. It may be asked again about the same frame, also when the step has
/// failed.
pub type sfu_ra_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, frame: *const sfu_frame, slot: u64, ra: *mut u64) -> bool>;

/// One .sframe section. [`sfu_open`] fills it in. Callers may read it, and may set `text_first` and `text_last`. It
/// refers to the bytes, which must stay where they are.
#[repr(C)]
#[derive(Debug)]
pub struct sfu_section {
    /// The next one of the list that it was added to.
    pub next: *mut sfu_section,
    /// NULL: read through the callback.
    pub bytes: *const u8,
    /// The callback, where `bytes` is NULL.
    pub read: sfu_read_fn,
    /// Passed to `read`.
    pub ctx: *mut c_void,
    /// Where it lies in the unwound program.
    pub addr: u64,
    /// How many bytes it has.
    pub size: u64,
    /// The first address of the code that it describes. [`sfu_find_frame`] does not ask it about another PC.
    pub text_first: u64,
    /// The last address of that code. No code is left: 1 and 0. [`sfu_open`] sets 0 and `u64::MAX`: unknown.
    pub text_last: u64,
    /// Offset of the FDEs from the start of the section.
    pub fdes: u32,
    /// Offset of the rows.
    pub rows: u32,
    /// Offset of the end of the rows.
    pub end: u32,
    /// How many FDEs there are.
    pub num_fdes: u32,
    /// How many rows there are, by the header.
    pub num_rows: u32,
    /// Rule of the RA where a row has none.
    pub ra: sfu_rule,
    /// Rule of FP where a row has none.
    pub fp: sfu_rule,
    /// Version of the format.
    pub version: u8,
    /// Flags of the header.
    pub flags: u8,
    /// [`SFU_AMD64`] and so on.
    pub abi: u8,
    /// Bytes of an FDE.
    pub fde_size: u8,
    /// Byte order of the tables, by the magic number alone.
    pub big: bool,
}

/// The program that is unwound. Zero what is not used. It must outlive the walk.
#[repr(C)]
#[derive(Debug)]
pub struct sfu_target {
    /// List: [`sfu_add`].
    pub sections: *mut sfu_section,
    /// The memory from `window_low` up to `window_high`: the live stack, a copy of it or a dump. It is read without a
    /// callback. NULL if there is no window.
    pub window: *const c_void,
    /// Address of the window's first byte. Both 0: there is no window.
    pub window_low: u64,
    /// Address behind the window's last byte.
    pub window_high: u64,
    /// Reads what is not in the window; or None.
    pub read: sfu_read_fn,
    /// Or None: only SP and FP are known, and the RA that the walk began with.
    pub reg: sfu_reg_fn,
    /// Or None.
    pub trap: sfu_trap_fn,
    /// Or None: all is one stack, which only a trap can leave.
    pub stack: sfu_stack_fn,
    /// Or None: nobody replaces return addresses.
    pub original_ra: sfu_ra_fn,
    /// Passed to each of the callbacks.
    pub ctx: *mut c_void,
    /// aarch64: which bits of a signed RA are its PAC, bit 55 excepted; 0: those of a 48-bit address space.
    pub pac_mask: u64,
    /// 0: [`SFU_MAX_FRAMES`].
    pub max_frames: u32,
    /// Bytes below SP that a trap leaves alone: 0 in a kernel, 128 in x86_64 user mode. Where the PC is exact, an FP
    /// that was saved lower is not read: it is in its register again.
    pub red_zone: u16,
    /// 0, or more than [`SFU_MAX_SWITCHES`]: [`SFU_MAX_SWITCHES`].
    pub max_switches: u8,
    /// Opt in: where no FDE covers a PC, guess that FP holds a frame record; not on s390x.
    pub frame_pointers: bool,
    /// Where a trace must end ([`SFU_E_NOT_FINAL`]): in a frame whose lookup PC is from here ...
    pub final_first: u64,
    /// ... to here. 0: any frame.
    pub final_last: u64,
}

/// A walk. Callers read `frame`.
#[repr(C)]
#[derive(Debug)]
pub struct sfu_walk {
    /// What it walks in.
    pub target: *const sfu_target,
    /// Where it is.
    pub frame: sfu_frame,
    /// The SP at each stack switch so far: `frame.switches` of them.
    pub left: [u64; SFU_MAX_SWITCHES as usize],
    /// SP is that of the frame before.
    pub stayed: bool,
}

/// Where a check stopped.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct sfu_place {
    /// Index of the FDE; num_fdes: the fault is not in an FDE.
    pub fde: u32,
    /// Index of the row within it; 0 too where the fault is in the FDE itself.
    pub row: u32,
}

/// What `sfu_rust_print` needs of a program with one section and one stack (`sfu_rust.c`).
#[repr(C)]
#[derive(Debug)]
pub struct sfu_rust_image {
    /// The section's first byte.
    pub tables: *const c_void,
    /// Behind its last byte.
    pub tables_end: *const c_void,
    /// The stack's lowest byte.
    pub stack: *const c_void,
    /// Behind its highest byte.
    pub stack_end: *const c_void,
    /// File name for addr2line, with a NUL at its end; or NULL.
    pub name: *const u8,
    /// Run-time minus link-time address.
    pub slide: u64,
}

/// Called by [`sfu_rust_here`] with the registers of that function, which has not returned.
pub type sfu_rust_here_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, here: *const sfu_registers)>;

/// Prints a character.
pub type sfu_rust_put_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, c: u8)>;

extern "C" {
    /// Opens the `size` bytes at `bytes`, any alignment, which lie at `addr` in the unwound program: the section's own
    /// address at run time, to which its function starts are relative. Reads the header and nothing else. Fills in
    /// `*section`, which stays in no list. Returns [`SFU_OK`], [`SFU_E_EMPTY`] (`size` is 0), [`SFU_E_MAGIC`],
    /// [`SFU_E_VERSION`], [`SFU_E_ABI`], [`SFU_E_FLAGS`] or [`SFU_E_BOUNDS`].
    ///
    /// # Safety
    /// `bytes` is readable for `size` bytes as long as the section is used; NULL if `size` is 0. `*section` need not be
    /// initialized.
    pub fn sfu_open(section: *mut sfu_section, bytes: *const c_void, size: u64, addr: u64) -> c_int;

    /// The same for a section that `read(ctx, addr + offset, ...)` brings. Returns the same, or [`SFU_E_SECTION`].
    ///
    /// # Safety
    /// `read` is not None, and may be called with `ctx` as long as the section is used.
    pub fn sfu_open_remote(
        section: *mut sfu_section,
        read: sfu_read_fn,
        ctx: *mut c_void,
        size: u64,
        addr: u64,
    ) -> c_int;

    /// Opens the section that a linker has concatenated to `section`, as `*next`, and makes `section` end in front of
    /// it. Returns [`SFU_OK`], [`SFU_E_EMPTY`] if there is none, or what [`sfu_open`] or [`sfu_open_remote`] returns.
    ///
    /// # Safety
    /// `section` was opened; nobody uses it meanwhile. `*next` need not be initialized.
    pub fn sfu_open_next(section: *mut sfu_section, next: *mut sfu_section) -> c_int;

    /// Sets the text of `section` to what its FDEs describe: from the lowest start of a function to the highest end.
    /// Takes time in proportion to the FDEs. Returns [`SFU_OK`], [`SFU_E_EMPTY`] (it has none but empty functions),
    /// [`SFU_E_FDE`] (a function reaches the end of the address space) or [`SFU_E_SECTION`].
    ///
    /// # Safety
    /// `section` was opened; nobody uses it meanwhile.
    pub fn sfu_find_text(section: *mut sfu_section) -> c_int;

    /// Checks a whole section as no lookup needs to. Takes time in proportion to it. On a fault `*place`, which may be
    /// NULL, becomes its place. Returns [`SFU_OK`], or the first fault: [`SFU_E_EMPTY`] (no FDE), [`SFU_E_BOUNDS`],
    /// [`SFU_E_SECTION`], [`SFU_E_FDE`], [`SFU_E_ROW`], [`SFU_E_NO_ROW`], [`SFU_E_UNSORTED`], [`SFU_E_OVERLAP`],
    /// [`SFU_E_COUNT`] or [`SFU_E_CONCATENATED`]. No lookup in a section that passes returns [`SFU_E_BOUNDS`],
    /// [`SFU_E_FDE`] or [`SFU_E_ROW`].
    ///
    /// # Safety
    /// `section` was opened.
    pub fn sfu_check(section: *const sfu_section, place: *mut sfu_place) -> c_int;

    /// Sorts the FDEs in place by start, so that a lookup is a binary search. Takes O(n log n), no memory. Returns
    /// [`SFU_OK`] or [`SFU_E_READONLY`], which leaves the bytes as they were.
    ///
    /// # Safety
    /// `section` was opened, `bytes` are its own, writable. Nobody uses the section meanwhile.
    pub fn sfu_sort(section: *mut sfu_section, bytes: *mut c_void) -> c_int;

    /// Adds `section` to the front of `*list`, which begins as NULL. Returns [`SFU_OK`], or [`SFU_E_ABI`] if its ABI is
    /// not that of the sections in the list.
    ///
    /// # Safety
    /// `section` was opened and is in no list. It stays where it is until it is removed or the list is used no more.
    pub fn sfu_add(list: *mut *mut sfu_section, section: *mut sfu_section) -> c_int;

    /// Takes `section` out of `*list`. Returns [`SFU_OK`], or [`SFU_E_EMPTY`] if it was not in the list.
    ///
    /// # Safety
    /// `list` and all in it are valid. Nobody walks by the list meanwhile.
    pub fn sfu_remove(list: *mut *mut sfu_section, section: *mut sfu_section) -> c_int;

    /// The PC to look up: pc, or pc - 1 for a return address.
    ///
    /// # Safety
    /// As of each function.
    pub fn sfu_lookup_pc(regs: *const sfu_registers) -> u64;

    /// Finds what `section` says of `pc`, which is a lookup PC. Fills in `*row`. Returns [`SFU_OK`], [`SFU_E_NO_FDE`],
    /// [`SFU_E_NO_ROW`], [`SFU_E_FDE`], [`SFU_E_ROW`], [`SFU_E_BOUNDS`] or [`SFU_E_SECTION`].
    ///
    /// # Safety
    /// `section` was opened. `*row` need not be initialized.
    pub fn sfu_find(section: *const sfu_section, pc: u64, row: *mut sfu_row) -> c_int;

    /// Finds what the sections of `target` say of `frame`. Those whose text has its lookup PC are tried, from the front
    /// of the list, until one of them has a row. If none has, the first error counts that says more than
    /// [`SFU_E_NO_FDE`]. Fills in `*row`. Returns what [`sfu_find`] returned, [`SFU_E_NOT_CODE`] if no section's text
    /// has the PC, or [`SFU_E_EMPTY`] if there is no section.
    ///
    /// # Safety
    /// All sections of `target` were opened. `*row` need not be initialized.
    pub fn sfu_find_frame(target: *const sfu_target, frame: *const sfu_frame, row: *mut sfu_row) -> c_int;

    /// Begins a walk at `top`, the topmost frame. It is there at once, also if no table knows its PC.
    ///
    /// # Safety
    /// `target` outlives the walk. `*walk` need not be initialized.
    pub fn sfu_walk_start(walk: *mut sfu_walk, target: *const sfu_target, top: *const sfu_registers);

    /// Moves `walk` to the caller by `row`, reading at most three words of the stack. Anything but [`SFU_OK`] leaves it
    /// as it is. Returns [`SFU_OK`], [`SFU_END`], [`SFU_E_TRAP`], [`SFU_E_STACK`], [`SFU_E_ADDRESS`], [`SFU_E_UNSAFE`],
    /// [`SFU_E_REGISTER`], [`SFU_E_NO_RA`], [`SFU_E_PROGRESS`], [`SFU_E_SWITCHES`] or [`SFU_E_DEPTH`].
    ///
    /// # Safety
    /// `walk` was started. `row` was found by sfu. The target's window is readable, and its callbacks may be called.
    pub fn sfu_apply(walk: *mut sfu_walk, row: *const sfu_row) -> c_int;

    /// Moves the walk to the caller. Anything but [`SFU_OK`] leaves it as it is, and comes again if asked again.
    /// Returns [`SFU_OK`], [`SFU_END`], what [`sfu_find_frame`] or [`sfu_apply`] returned, what the trap hook returned,
    /// or [`SFU_E_NOT_FINAL`]. Every walk ends.
    ///
    /// A wild call: an exact PC is not code, and the trap hook does not know the frame. If the return address that a
    /// call leaves is code, the caller is guessed to be there: [`SFU_GUESS_CALL`].
    ///
    /// # Safety
    /// `walk` was started; of its target the same as of [`sfu_find_frame`] and [`sfu_apply`].
    pub fn sfu_walk_step(walk: *mut sfu_walk) -> c_int;

    /// Explains `code`: static text with a NUL at its end, never NULL; "unknown code" for a number that is none of
    /// sfu's.
    ///
    /// # Safety
    /// There is nothing to be kept.
    pub fn sfu_string(code: c_int) -> *const u8;

    /// Calls `with(ctx, here)`, `here` being the registers of this function at its call of `with` (`sfu_rust.c`).
    ///
    /// # Safety
    /// `with` is not None, and may be called with `ctx`.
    pub fn sfu_rust_here(with: sfu_rust_here_fn, ctx: *mut c_void);

    /// Prints the trace that begins at `top`, or here if that is NULL, as `port/print/sfu_print.h` shows it
    /// (`sfu_rust.c`). A second call that a fault while printing has led to says so and returns. Returns the code that
    /// ended the walk.
    ///
    /// # Safety
    /// What `image` refers to is readable, `put` is not None and may be called with `ctx`. Other CPUs do not print.
    pub fn sfu_rust_print(
        image: *const sfu_rust_image,
        top: *const sfu_registers,
        put: sfu_rust_put_fn,
        ctx: *mut c_void,
    ) -> c_int;
}
