// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The sfu authors
//! The declarations of `sfu.h`, under their own names, and of `sfu_rust.c`. `sfu.h` says what each is. A test compares
//! all of them with what C compilers for four CPUs make of the header.
//!
//! # Safety
//!
//! Of each function: a pointer refers to a valid object of its type for the time of the call, is not NULL unless
//! `sfu.h` says so, and a `*mut` is not used elsewhere meanwhile. What `sfu.h` says of bytes, lists and callbacks
//! holds. A callback must not unwind.
#![allow(non_camel_case_types, missing_docs, clippy::missing_safety_doc)]

use core::ffi::c_void;

pub type c_int = i32;

// C's enums: C may put any number there, which an enum of Rust may not have.
pub type sfu_abi = u32;
pub type sfu_pc_kind = u32;
pub type sfu_guess = u32;

pub const SFU_VERSION: c_int = 10000;
pub const SFU_MAX_FRAMES: u32 = 4096;
pub const SFU_MAX_SWITCHES: u8 = 16;

pub const SFU_OK: c_int = 0;
pub const SFU_END: c_int = 1;
pub const SFU_E_EMPTY: c_int = -1;
pub const SFU_E_MAGIC: c_int = -2;
pub const SFU_E_VERSION: c_int = -3;
pub const SFU_E_ABI: c_int = -4;
pub const SFU_E_FLAGS: c_int = -5;
pub const SFU_E_BOUNDS: c_int = -6;
pub const SFU_E_SECTION: c_int = -7;
pub const SFU_E_CONCATENATED: c_int = -8;
pub const SFU_E_UNSORTED: c_int = -9;
pub const SFU_E_OVERLAP: c_int = -10;
pub const SFU_E_COUNT: c_int = -11;
pub const SFU_E_READONLY: c_int = -12;
pub const SFU_E_NO_FDE: c_int = -13;
pub const SFU_E_NO_ROW: c_int = -14;
pub const SFU_E_FDE: c_int = -15;
pub const SFU_E_ROW: c_int = -16;
pub const SFU_E_STACK: c_int = -17;
pub const SFU_E_ADDRESS: c_int = -18;
pub const SFU_E_UNSAFE: c_int = -19;
pub const SFU_E_REGISTER: c_int = -20;
pub const SFU_E_NO_RA: c_int = -21;
pub const SFU_E_PROGRESS: c_int = -22;
pub const SFU_E_SWITCHES: c_int = -23;
pub const SFU_E_DEPTH: c_int = -24;
pub const SFU_E_TRAP: c_int = -25;
pub const SFU_E_NOT_CODE: c_int = -26;
pub const SFU_E_NOT_FINAL: c_int = -27;
pub const SFU_E_NO_SECTION: c_int = -28;
pub const SFU_E_DEAD_SLOT: c_int = -29;

pub const SFU_AARCH64_BIG: sfu_abi = 1;
pub const SFU_AARCH64: sfu_abi = 2;
pub const SFU_AMD64: sfu_abi = 3;
pub const SFU_S390X: sfu_abi = 4;
pub const SFU_RISCV64: sfu_abi = 0x81;
pub const SFU_RISCV32: sfu_abi = 0x82;
pub const SFU_ARM: sfu_abi = 0x83;
pub const SFU_THUMB: sfu_abi = 0x84;
pub const SFU_I386: sfu_abi = 0x85;

pub const SFU_PC_EXACT: sfu_pc_kind = 0;
pub const SFU_PC_RETURN: sfu_pc_kind = 1;

pub const SFU_GUESS_NONE: sfu_guess = 0;
pub const SFU_GUESS_RECORD: sfu_guess = 1;
pub const SFU_GUESS_HOOK: sfu_guess = 2;
pub const SFU_GUESS_CALL: sfu_guess = 3;

pub const SFU_RUST_PRINTER_WORDS: usize = 192;
pub const SFU_RUST_RECORD_WORDS: usize = 13;

pub const SFU_ROW_RULES: u8 = 0;
pub const SFU_ROW_OUTERMOST: u8 = 1;
pub const SFU_ROW_ASK: u8 = 2;

/// The registers of a frame: a walk begins with them, and a trap hook fills them in.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[deny(missing_docs)]
pub struct sfu_registers {
    /// Without its pointer authentication code, if it was a signed return address (aarch64).
    pub pc: u64,
    /// The stack pointer.
    pub sp: u64,
    /// The frame pointer: rbp, x29, r11.
    pub fp: u64,
    /// The link register (aarch64, s390x).
    pub ra: u64,
    /// [`SFU_PC_EXACT`]: the next instruction to run. [`SFU_PC_RETURN`]: a return address, which is looked up one
    /// lower.
    pub pc_kind: sfu_pc_kind,
    /// `ra` is known. It is used only where the PC is exact, because a call changes it.
    pub has_ra: bool,
}

/// One frame of a walk.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[deny(missing_docs)]
pub struct sfu_frame {
    /// Its registers.
    pub regs: sfu_registers,
    /// Of an interrupted frame: the trap frame's SP, or what the trap hook says; else 0.
    pub saved: u64,
    /// 0 for the topmost frame.
    pub depth: u32,
    /// How it was guessed: [`SFU_GUESS_NONE`] (it was not), [`SFU_GUESS_RECORD`] (by a frame record),
    /// [`SFU_GUESS_HOOK`] (by a trap hook that is not sure) or [`SFU_GUESS_CALL`] (by a call through a wild pointer).
    pub guess: sfu_guess,
    /// Stack switches from the topmost frame to this one.
    pub switches: u8,
    /// A trap interrupted it.
    pub interrupted: bool,
    /// It is on another stack than the frame before it.
    pub switched: bool,
    /// A tracer had replaced the return address that led here; the PC is the original one.
    pub replaced: bool,
    /// True while no frame so far was guessed. Also false in the last frame if a trap hook that was not sure ended the
    /// trace.
    pub reliable: bool,
}

/// Addresses from `low` up to `high`. `high` is 0: not set.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[deny(missing_docs)]
pub struct sfu_range {
    /// The first one.
    pub low: u64,
    /// The first one behind.
    pub high: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sfu_stack {
    pub bytes: *const c_void,
    pub low: u64,
    pub high: u64,
}

/// How to find a value: `base + offset`, or the word there. Registers have their DWARF numbers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[deny(missing_docs)]
pub struct sfu_rule {
    /// In bytes.
    pub offset: i32,
    /// Bit 0: the base is register `control >> 3`, not the CFA. Bit 1: the value is the word at `base + offset`.
    pub control: u32,
}

/// What the tables say of the PCs with `pc - start < length`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[deny(missing_docs)]
pub struct sfu_row {
    /// The first PC.
    pub start: u64,
    /// The start of the function.
    pub function: u64,
    /// The canonical frame address: the caller's SP (s390x: minus 160).
    pub cfa: sfu_rule,
    /// The return address: the caller's PC.
    pub ra: sfu_rule,
    /// The caller's FP.
    pub fp: sfu_rule,
    /// How many PCs, in bytes.
    pub length: u32,
    /// [`SFU_AMD64`] and so on.
    pub abi: u8,
    /// [`SFU_ROW_RULES`]: the rules hold. [`SFU_ROW_OUTERMOST`]: there is no caller. [`SFU_ROW_ASK`]: the trap hook
    /// knows.
    pub kind: u8,
    /// Its function is a trap frame: the caller is interrupted, and has an exact PC.
    pub trap_frame: bool,
    /// aarch64: the return address carries a pointer authentication code.
    pub signed_ra: bool,
}

pub type sfu_read_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, addr: u64, buffer: *mut c_void, len: usize) -> c_int>;

pub type sfu_reg_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, frame: *const sfu_frame, reg: u32, value: *mut u64) -> c_int>;

/// The frame behind a trap.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[deny(missing_docs)]
pub struct sfu_interrupted {
    /// Its registers. [`SFU_PC_RETURN`] if a call left that frame: a coroutine, a switch.
    pub regs: sfu_registers,
    /// Becomes `saved` of the frame: where the trap saved the registers.
    pub saved: u64,
    /// [`SFU_GUESS_NONE`], or [`SFU_GUESS_HOOK`]: not sure.
    pub guess: sfu_guess,
}

pub type sfu_trap_hook_fn = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        frame: *const sfu_frame,
        code: c_int,
        interrupted: *mut sfu_interrupted,
    ) -> c_int,
>;

pub type sfu_find_stack_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, addr: u64, stack: *mut sfu_stack) -> bool>;

pub type sfu_original_ra_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, frame: *const sfu_frame, slot: u64, ra: *mut u64) -> bool>;

#[repr(C)]
#[derive(Debug)]
pub struct sfu_section {
    pub next: *mut sfu_section,
    pub bytes: *const u8,
    pub read: sfu_read_fn,
    pub ctx: *mut c_void,
    pub addr: u64,
    pub size: u64,
    pub text: sfu_range,
    pub code: sfu_range,
    pub fdes: u32,
    pub rows: u32,
    pub end: u32,
    pub num_fdes: u32,
    pub num_rows: u32,
    pub ra: sfu_rule,
    pub fp: sfu_rule,
    pub abi: sfu_abi,
    pub version: u8,
    pub flags: u8,
    pub fde_size: u8,
    pub big: bool,
}

#[repr(C)]
#[derive(Debug)]
pub struct sfu_target {
    pub sections: *mut sfu_section,
    pub stack: sfu_stack,
    pub find_stack: sfu_find_stack_fn,
    pub read: sfu_read_fn,
    pub reg: sfu_reg_fn,
    pub trap_hook: sfu_trap_hook_fn,
    pub original_ra: sfu_original_ra_fn,
    pub ctx: *mut c_void,
    pub r#final: sfu_range,
    pub pac_mask: u64,
    pub max_frames: u32,
    pub red_zone: u16,
    pub max_switches: u8,
    pub frame_pointers: bool,
}

#[repr(C)]
#[derive(Debug)]
pub struct sfu_walk {
    pub target: *const sfu_target,
    pub frame: sfu_frame,
    pub stack: sfu_stack,
    pub left: [u64; SFU_MAX_SWITCHES as usize],
    pub stayed: bool,
}

/// Where a check stopped.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[deny(missing_docs)]
pub struct sfu_place {
    /// Index of the FDE; `num_fdes` if the fault is in none.
    pub fde: u32,
    /// Index of the row within it; 0 if the fault is in the FDE itself.
    pub row: u32,
}

#[repr(C)]
#[derive(Debug)]
pub struct sfu_rust_image {
    pub tables: *const c_void,
    pub tables_end: *const c_void,
    pub stacks: *const sfu_stack,
    pub num_stacks: usize,
    pub name: *const u8,
    pub slide: u64,
    pub build_id: *const c_void,
    pub build_id_end: *const c_void,
    pub symbols: *const c_void,
    pub symbols_end: *const c_void,
    pub image_start: u64,
    pub skip_function: u64,
    pub skip: u32,
    pub cycles: bool,
}

pub type sfu_rust_here_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, here: *const sfu_registers)>;

pub type sfu_rust_put_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, c: u8)>;

extern "C" {
    pub fn sfu_open(section: *mut sfu_section, bytes: *const c_void, size: u64, addr: u64) -> c_int;
    pub fn sfu_open_remote(
        section: *mut sfu_section,
        read: sfu_read_fn,
        ctx: *mut c_void,
        size: u64,
        addr: u64,
    ) -> c_int;
    pub fn sfu_find_text(section: *mut sfu_section) -> c_int;
    pub fn sfu_check(section: *const sfu_section, place: *mut sfu_place) -> c_int;
    pub fn sfu_sort(section: *mut sfu_section, bytes: *mut c_void) -> c_int;
    pub fn sfu_add(
        list: *mut *mut sfu_section,
        sections: *mut sfu_section,
        room: usize,
        bytes: *const c_void,
        size: u64,
        addr: u64,
    ) -> c_int;
    pub fn sfu_add_remote(
        list: *mut *mut sfu_section,
        sections: *mut sfu_section,
        room: usize,
        read: sfu_read_fn,
        ctx: *mut c_void,
        size: u64,
        addr: u64,
    ) -> c_int;
    pub fn sfu_remove(list: *mut *mut sfu_section, sections: *mut sfu_section, room: usize) -> bool;
    pub fn sfu_lookup_pc(regs: *const sfu_registers) -> u64;
    pub fn sfu_find(section: *const sfu_section, pc: u64, row: *mut sfu_row) -> c_int;
    pub fn sfu_find_frame(target: *const sfu_target, frame: *const sfu_frame, row: *mut sfu_row) -> c_int;
    pub fn sfu_walk_start(walk: *mut sfu_walk, target: *const sfu_target, top: *const sfu_registers);
    pub fn sfu_apply(walk: *mut sfu_walk, row: *const sfu_row) -> c_int;
    pub fn sfu_walk_to(walk: *mut sfu_walk, caller: *const sfu_registers) -> c_int;
    pub fn sfu_walk_step(walk: *mut sfu_walk) -> c_int;
    pub fn sfu_read_word(target: *const sfu_target, addr: u64, big: bool, value: *mut u64) -> c_int;
    pub fn sfu_string(code: c_int) -> *const u8;
    pub fn sfu_rust_here(with: sfu_rust_here_fn, ctx: *mut c_void);
    pub fn sfu_rust_exchange(word: *mut u32, from: u32, to: u32) -> bool;
    pub fn sfu_rust_print(
        printer: *mut c_void,
        image: *const sfu_rust_image,
        top: *const sfu_registers,
        put: sfu_rust_put_fn,
        ctx: *mut c_void,
    ) -> c_int;
    pub fn sfu_rust_record(
        printer: *mut c_void,
        record: *mut c_void,
        image: *const sfu_rust_image,
        top: *const sfu_registers,
    ) -> c_int;
    pub fn sfu_rust_print_record(
        printer: *mut c_void,
        record: *mut c_void,
        image: *const sfu_rust_image,
        put: sfu_rust_put_fn,
        ctx: *mut c_void,
    ) -> bool;
}
