# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""U-Boot for QEMU's pc, of 32 bits from its first instructions on, linked by sfu-link: no unwind flag, no line in the
linker script. Its functions get three arguments in registers (-mregparm=3) and have no frame pointers. It moves itself
to the end of memory. A panic prints a trace, and so does its handler of exceptions, which showed words of the stack.
Traces end with SFU_E_NOT_CODE in what moved U-Boot, at the place where that was before."""
from real import HERE, Edit
from u_boot_x86_64 import FAULTS as PANIC, SOURCES, linked

TITLE = "U-Boot, i386, by sfu-link"
CPUS = 1
COPIES = {"sfu_panic.h": "include/sfu_panic.h", "sfu_own_types.h": "include/sfu_own_types.h",
          "sfu_panic.c": "lib/sfu_panic.c"}
FLAGS = []
EDITS = [
    Edit("arch/x86/cpu/i386/interrupt.c", r"""
#include "sfu_own_types.h"

static void put(void *ctx, char c) { putc(c); }
""", before=r"^DECLARE_GLOBAL_DATA_PTR;"),
    Edit("arch/x86/cpu/i386/interrupt.c", r"""
	sfu_panic_start(put);
	sfu_panic_memory((char *)gd->start_addr_sp - CONFIG_STACK_SIZE, (char *)gd->start_addr_sp);
""", after=r"^int interrupt_init\(void\)$\s*\{\n.*\n.*\n"),
    Edit("arch/x86/cpu/i386/interrupt.c", "\tsfu_panic_trap(eip, regs->esp, regs->ebp, 0);",
         before=r'^\tprintf\("Stack:\\n"\);'),
    Edit("lib/panic.c", '#include "sfu_own_types.h"', before=r"^static void panic_finish\(void\) __attribute__"),
    Edit("lib/panic.c", "\tsfu_panic_here();", after=r"^static void panic_finish\(void\)$\s*\{"),
    Edit("lib/Makefile", "obj-y += sfu_panic.o", before=r"^obj-y \+= panic\.o"),
]
FAULTS = PANIC + [
    Edit("cmd/echo.c", r"""
static __attribute__((__noinline__)) int sfu_divide(volatile int *p) { return 2 / *p; }
static __attribute__((__noinline__)) int sfu_second(volatile int *p) { return sfu_divide(p) + 3; }
""", before=r"^static int do_echo\("),
    Edit("cmd/echo.c", "\tif (argc == 4)\n\t\treturn sfu_second(&(volatile int){0}) + 1;",
         before=r"^\tfor \(; i < argc"),
]
BUILD = ["make -s qemu-x86_defconfig",
         "PATH={sfu}/build/tools:$PATH make -s -j2 LD='sfu-link ld.bfd' {flags}"]
OBJECTS, IMAGE, TABLES = linked.OBJECTS, "u-boot", None
BOOT = ["qemu-system-i386"] + linked.BOOT[1:]
SHELL = ("cmd_always_repeatable cmd_call cmd_process run_pipe_real run_list_real run_list parse_stream_outer "
         "parse_file_outer cli_loop main_loop run_main_loop initcall_run_list board_init_r ?? -26")
SCENARIOS = [
    {"name": "panic", "dialogue": [("Hit any key", " "), ("=> ", "echo a b\n")],
     "traces": [HERE + " sfu_panic_here panic_finish panic sfu_leaf sfu_middle " + SHELL]},
    {"name": "exception", "dialogue": [("Hit any key", " "), ("=> ", "echo a b c\n")],
     "traces": ["sfu_divide sfu_second do_echo " + SHELL]},
]
