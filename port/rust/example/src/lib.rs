// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The sfu authors
//! A kernel in Rust that walks its own stack, then panics in core, three calls deep, and prints the trace. Its machine
//! is that of `port/baremetal`; `../test/boot.py` links both and makes the tables.
#![no_std]

use core::fmt::{self, Write};
use core::panic::PanicInfo;
use core::ptr::addr_of;

extern "C" {
    static sframe_start: u8; // kernel.ld
    static sframe_end: u8;
    static boot_stack: u8;
    static boot_stack_top: u8;
    fn machine_putc(c: u8); // port/baremetal
    fn machine_exit(good: bool) -> !;
}

struct Console;

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &c in text.as_bytes() {
            unsafe { machine_putc(c) };
        }
        Ok(())
    }
}

static PRINTER: sfu::Printer = sfu::Printer::new();

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    unsafe {
        let image = sfu::Image {
            tables: sfu::between(addr_of!(sframe_start), addr_of!(sframe_end)),
            stacks: &[sfu::Stack::live(addr_of!(boot_stack)..addr_of!(boot_stack_top))],
            name: sfu::name!("kernel.elf"),
            slide: 0,
            parts: sfu::Parts { skip_function: panic as usize as u64, cycles: true, ..Default::default() },
        };
        let _ = PRINTER.on_panic(info, &mut Console, &image);
        machine_exit(false)
    }
}

/// Prints the PC of each frame from here on.
#[no_mangle]
#[inline(never)]
fn walk(console: &mut Console) -> Result<(), sfu::Error> {
    let (tables, stack) = unsafe {
        let tables = sfu::between(addr_of!(sframe_start), addr_of!(sframe_end));
        (tables, addr_of!(boot_stack)..addr_of!(boot_stack_top))
    };
    let mut room = [sfu::Room::new()];
    let mut target = sfu::Target::new(unsafe { sfu::Stack::live(stack) });
    target.add_own(&mut room, tables)?;
    sfu::here(|top| {
        for frame in sfu::Frames::new(&target, top) {
            let _ = writeln!(console, "at {:#x}", frame?.regs.pc);
        }
        let _ = writeln!(console, "the outermost frame");
        Ok(())
    })
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

/// Called by machine.c.
#[no_mangle]
pub extern "C" fn rust_main() -> u32 {
    if let Err(error) = walk(&mut Console) {
        let _ = writeln!(Console, "{}", error);
    }
    u32::from(sum(b"abc", 4)) + 1
}
