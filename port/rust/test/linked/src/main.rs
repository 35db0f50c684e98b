// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The sfu authors
//! A kernel as people write them in Rust, built by cargo alone: no build script, no unwind flag, no line for tables in
//! its linker script. It prints the trace of a fault, and of a panic in core. `../linked.py` boots it.
#![no_std]
#![no_main]

use core::arch::{asm, global_asm};
use core::ffi::c_void;
use core::panic::PanicInfo;

#[cfg(target_arch = "x86_64")]
global_asm!(include_str!(env!("BOOT")), options(att_syntax));
#[cfg(not(target_arch = "x86_64"))]
global_asm!(include_str!(env!("BOOT")));

#[cfg(target_arch = "x86_64")]
fn console(c: u8) {
    unsafe { asm!("out 0xe9, al", in("al") c) }
}

#[cfg(target_arch = "aarch64")]
fn console(c: u8) {
    unsafe { (0x900_0000 as *mut u8).write_volatile(c) }
}

#[cfg(target_arch = "riscv64")]
fn console(c: u8) {
    unsafe { (0x1000_0000 as *mut u8).write_volatile(c) }
}

extern "C" fn put(_: *mut c_void, c: u8) {
    console(c)
}

fn stop() -> ! {
    b"DONE\n".iter().for_each(|c| console(*c));
    loop {}
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    let _ = unsafe { sfu::linked::panic_here() };
    stop()
}

/// Called by the entry of exceptions, with the registers that it has saved.
#[no_mangle]
unsafe extern "C" fn handle(frame: *const u64) {
    let saved = |index| unsafe { *frame.add(index) };
    let _ = unsafe {
        #[cfg(target_arch = "x86_64")]
        let traced = sfu::linked::panic_trap(saved(15), saved(18), saved(8), 0);
        #[cfg(target_arch = "aarch64")]
        let traced = sfu::linked::panic_trap(saved(31), frame as u64 + 272, saved(29), saved(30));
        #[cfg(target_arch = "riscv64")]
        let traced = sfu::linked::panic_trap(saved(32), saved(2), saved(8), saved(1));
        traced
    };
    element(b"abc", saved(0) as usize | 4);
}

#[no_mangle]
#[inline(never)]
fn element(of: &[u8], index: usize) -> u8 {
    of[index]
}

#[no_mangle]
#[inline(never)]
extern "C" fn leaf(count: u32) -> u32 {
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("ud2");
        #[cfg(target_arch = "aarch64")]
        asm!("brk #0");
        #[cfg(target_arch = "riscv64")]
        asm!("ebreak");
    }
    count + 1
}

#[no_mangle]
#[inline(never)]
fn outer(counts: &[u32]) -> u32 {
    counts.iter().map(|count| leaf(*count)).sum()
}

extern "C" {
    #[cfg(target_arch = "x86_64")]
    fn invalid_entry();
    #[cfg(target_arch = "aarch64")]
    fn vectors();
    #[cfg(target_arch = "riscv64")]
    fn trap_entry();
}

#[cfg(target_arch = "x86_64")]
unsafe fn machine_init() {
    static mut GATES: [u64; 14] = [0; 14];
    let to = invalid_entry as usize as u64;
    unsafe {
        let gates = core::ptr::addr_of_mut!(GATES).cast::<u64>();
        *gates.add(12) = (to & 0xffff) | 8 << 16 | 0x8e00 << 32 | (to & 0xffff_0000) << 32;
        let idt: [u16; 5] = [111, gates as u16, (gates as u64 >> 16) as u16, 0, 0];
        asm!("lidt [{}]", in(reg) &idt);
    }
}

/// Also lets core use vector registers.
#[cfg(target_arch = "aarch64")]
unsafe fn machine_init() {
    unsafe { asm!("msr cpacr_el1, {}", "msr vbar_el1, {}", "isb", in(reg) 3 << 20, in(reg) vectors as usize) }
}

#[cfg(target_arch = "riscv64")]
unsafe fn machine_init() {
    unsafe { asm!("csrs mstatus, {}", "csrw mtvec, {}", in(reg) 1 << 13, in(reg) trap_entry as usize) }
}

#[no_mangle]
extern "C" fn kernel_main() {
    unsafe {
        machine_init();
        if sfu::linked::panic_start(put).is_ok() {
            outer(&[1, 2]);
        }
    }
    stop()
}
