// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The sfu authors
//! A program without std that panics in core, three calls deep; its panic handler prints the trace. For x86_64.
#![no_std]
#![no_main]

extern "C" {
    fn panic_trace() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { panic_trace() }
}

#[no_mangle]
#[inline(never)]
fn element(of: &[u8], index: usize) -> u8 {
    of[index]
}

#[no_mangle]
#[inline(never)]
fn sum(of: &[u8], count: usize) -> u8 {
    let mut all = 0;
    for i in 0..count {
        all += element(of, i) & 1;
    }
    all
}

#[no_mangle]
extern "C" fn first() -> i32 {
    sum(b"abc", 4) as i32 + 1
}
