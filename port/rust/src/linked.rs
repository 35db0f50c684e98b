// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The sfu authors
//! Traces of a kernel that `sfu-link` links: cargo needs `linker = "sfu-link"`. The tables, the names of functions and
//! the bounds of the memory that stacks lie in come from `sfu-link`. These are the calls of `port/print/sfu_start.h`,
//! which says more of each:
//!
//! ```ignore
//! extern "C" fn put(_: *mut core::ffi::c_void, c: u8) {
//!     console(c) // takes no lock
//! }
//!
//! unsafe { sfu::linked::panic_start(put) } // at boot
//!
//! #[panic_handler]
//! fn panic(_: &core::panic::PanicInfo) -> ! {
//!     let _ = unsafe { sfu::linked::panic_here() };
//!     stop()
//! }
//! ```
//!
//! If the linker says that `sfu_link_data` is not defined, it runs without `sfu-link`.
//!
//! # Safety
//!
//! Of each function: there is one printer for the whole kernel. A panic or a fault while it prints, on this CPU or
//! another, is told in one line. Where `arch/sfu_claim.h` has no exchange of the CPU, as on RISC-V without the
//! extension A, two CPUs must not begin at the same instant.
use crate::{sys, Error, Registers};
use core::ffi::c_void;

/// Prints one character, of ASCII. Must not take a lock, and must not panic.
pub type Put = extern "C" fn(ctx: *mut c_void, c: u8);

extern "C" {
    static sfu_link_data: u8;
    fn sfu_link_start(data: *const u8, put: Put) -> i32;
    fn sfu_link_print(data: *const u8, top: *const Registers) -> i32;
    fn sfu_panic_memory(low: *const c_void, high: *const c_void);
}

fn ended(code: i32) -> Result<(), Error> {
    match code {
        sys::SFU_OK | sys::SFU_END => Ok(()),
        _ => Err(Error::of(code)),
    }
}

// Inline: what names sfu_link_data is compiled into kernels that make these calls, not into the crate.

/// At boot: opens the tables. The context of `put` is NULL.
///
/// Errors: what is wrong with the tables. Each trace then ends with that.
///
/// # Safety
///
/// See [the module](self).
#[inline]
pub unsafe fn panic_start(put: Put) -> Result<(), Error> {
    // SAFETY: sfu-link has made the data.
    ended(unsafe { sfu_link_start(&sfu_link_data, put) })
}

/// Prints the trace that begins here, two frames below the caller at most.
///
/// Errors: what ended the trace, if that was not its proper end. It has been printed.
///
/// # Safety
///
/// See [the module](self).
#[inline]
pub unsafe fn panic_here() -> Result<(), Error> {
    // SAFETY: as above, and the registers hold for the time of the call.
    crate::here(|top| ended(unsafe { sfu_link_print(&sfu_link_data, top) }))
}

/// Prints the trace that begins where a fault or an interrupt has stopped the CPU, by the registers that were saved:
/// PC, SP of the interrupted code, the frame pointer, and the link register, which x86 does not have: give 0.
///
/// Errors: those of [`panic_here`].
///
/// # Safety
///
/// See [the module](self).
#[inline]
pub unsafe fn panic_trap(pc: u64, sp: u64, fp: u64, ra: u64) -> Result<(), Error> {
    let has_ra = !cfg!(any(target_arch = "x86_64", target_arch = "x86"));
    let top = Registers { pc, sp, fp, ra, pc_kind: sys::SFU_PC_EXACT, has_ra };
    // SAFETY: as above.
    ended(unsafe { sfu_link_print(&sfu_link_data, &top) })
}

/// Says that stacks may also lie in the memory from `low` up to `high`. There is one such range: the last call counts.
///
/// # Safety
///
/// All of it is mapped, from now on. See also [the module](self).
#[inline]
pub unsafe fn panic_memory(low: *const c_void, high: *const c_void) {
    // SAFETY: as of this function.
    unsafe { sfu_panic_memory(low, high) }
}
