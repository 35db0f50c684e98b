# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Arm Trusted Firmware on QEMU's virt: sfu is the backtrace() of BL31, its monitor, and prints a trace of each
exception that BL31 takes from itself. BL1 and BL2 keep theirs, which goes by frame pointers."""
from real import HERE, Edit

TITLE = "Arm Trusted Firmware, aarch64"
CPUS = 1
SOURCES = {".": "firmware/arm-trusted-firmware"}
COPIES = {"sfu_panic.h": "include/sfu_panic.h", "sfu_panic.c": "common/backtrace/sfu_panic.c",
          "sfu_kernel.h": "include/sfu_kernel.h", "sfu_kernel.c": "common/backtrace/sfu_kernel.c"}
FLAGS = []
EDITS = [
    Edit("common/backtrace/sfu_trace.c", r"""
#include <stdio.h>
#include <common/debug.h>
#include "sfu_kernel.h"

extern const uint8_t sframe_start[], sframe_end[], __STACKS_START__[], __STACKS_END__[];

static void put(void *ctx, char c) { (void)putchar(c); }
/* runtime_exceptions.S saves FP, the link register and the PC. */
static struct sfu_kernel trace = {
	.panic = {.put = put, .image = "bl31.elf"},
	.rest = {__STACKS_START__, __STACKS_END__, 0},
	.trap = {16, SFU_KERNEL_NOT_SAVED, 0, 8, 32},
};

void backtrace(const char *cookie)
{
	(void)sfu_kernel_init(&trace, sframe_start, sframe_end);
	(void)sfu_kernel_panic(&trace, NULL);
}

void sfu_fault(const void *saved);
void sfu_fault(const void *saved)
{
	(void)sfu_kernel_init(&trace, sframe_start, sframe_end);
	(void)sfu_kernel_fault(&trace, saved, 0);
}
"""),
    Edit("common/backtrace/backtrace.mk", r"""
BL1_SOURCES += common/backtrace/backtrace.c
BL2_SOURCES += common/backtrace/backtrace.c
BL31_SOURCES += $(addprefix common/backtrace/,sfu_panic.c sfu_kernel.c sfu_trace.c)
""", instead=r"^\s*BL_COMMON_SOURCES.*\n"),
    Edit("bl31/aarch64/runtime_exceptions.S", r"""
	msr spsel, #MODE_SP_EL0
	stp x29, x30, [sp, #-32]!
	mrs x0, elr_el3
	str x0, [sp, #16]
	mov x0, sp
	bl sfu_fault
	msr spsel, #MODE_SP_ELX
""", before=r"^\s*b\s+report_unhandled_exception\s+end_vector_entry sync_exception_sp_el0"),
    Edit("bl31/aarch64/bl31_entrypoint.S", ".cfi_undefined x30", after=r"^func bl31_entrypoint"),
    Edit("bl31/bl31.ld.S", r"""
.sframe : ALIGN(8) { sframe_start = .; QUAD(0) . += 64 + SIZEOF(.eh_frame); . = ALIGN(8); sframe_end = .; } >RAM
""", before=r"^\s*DATA_SECTION >RAM"),
    Edit("bl31/bl31.ld.S", ".eh_frame 0 (INFO) : { KEEP(*(.eh_frame)) }", before=r"^\s*/DISCARD/"),
    Edit("make_helpers/build_macros.mk", "\tcase $$< in *bl31*) sfu-gen -q --small $$<;; esac",
         after=r'^\s*\$\$\{ECHO\} "  BIN'),
]
FAULTS = [
    Edit("bl31/bl31_main.c", r"""
static __attribute__((noinline)) int hello_here(int n) { backtrace("here"); return n + 1; }
static __attribute__((noinline)) int hello_leaf(volatile int *p) { *p = 1; return 2; }
static __attribute__((noinline)) int hello_middle(volatile int *p) { return hello_leaf(p) + hello_here(3); }
""", before=r"^void bl31_main\("),
    Edit("bl31/bl31_main.c", "\tNOTICE(\"%d\\n\", hello_here(1) + hello_middle((int *)0x7fff00000000));",
         after=r"^\s*bl31_lib_init\(\);"),
]
BUILD = [
    "PATH={sfu}/build/tools:$PATH TF_LDFLAGS=--no-warn-rwx-segments make -j2 CROSS_COMPILE=aarch64-linux-gnu- "
    "PLAT=qemu DEBUG=1 bl1 bl2 bl31",
    "printf '\\0\\0\\0\\024' >build/qemu/debug/bl33.bin",
]
OBJECTS = [f"build/qemu/debug/bl31/sfu_{part}.o" for part in ("panic", "kernel", "trace")]
IMAGE = "build/qemu/debug/bl31/bl31.elf"
TABLES = ".sframe"
BOOT = ["sh", "-c", "cd build/qemu/debug && exec qemu-system-aarch64 -M virt,secure=on -cpu cortex-a57 -nographic "
        "-no-reboot -bios bl1.bin -semihosting-config enable=on,target=native"]
# backtrace() ends with a jump.
SCENARIOS = [{"name": "a call of backtrace(), then a fault in the monitor",
              "traces": [HERE + " sfu_kernel_panic hello_here bl31_main bl31_entrypoint",
                         "hello_leaf hello_middle bl31_main bl31_entrypoint"]}]


class linked:  # pylint: disable=invalid-name
    """Arm Trusted Firmware, linked by sfu-link: no unwind flag, no line in the linker script, none in
    assembly. An exception that BL31 takes from itself reached no code in C: SFU_PANIC_ENTRY prints its
    trace, and goes on with the report of Trusted Firmware, in whose place the linker puts it (--wrap,
    on the command line of make)."""
    TITLE = "Arm Trusted Firmware, aarch64, by sfu-link"
    CPUS, SOURCES, FLAGS, FAULTS = CPUS, SOURCES, [], FAULTS
    COPIES = {"sfu_panic.h": "include/sfu_panic.h", "sfu_panic.c": "common/backtrace/sfu_panic.c"}
    EDITS = [
        Edit("common/backtrace/sfu_trace.c", r"""
#include <stdio.h>
#include <common/debug.h>
#include "sfu_panic.h"

static void put(void *ctx, char c) { (void)putchar(c); }
void backtrace(const char *cookie) { sfu_panic_start(put); sfu_panic_here(); }
SFU_PANIC_ENTRY(__wrap_report_unhandled_exception, put, __real_report_unhandled_exception);
"""),
        Edit("common/backtrace/backtrace.mk", EDITS[1].text.replace(" sfu_kernel.c", ""), instead=EDITS[1].pattern),
    ]
    BUILD = [BUILD[0].replace("CROSS_COMPILE=", "LD='sfu-link --entry=bl31_entrypoint:start aarch64-linux-gnu-ld.bfd "
                              "--wrap=report_unhandled_exception' CROSS_COMPILE="), BUILD[1]]
    OBJECTS = [f"build/qemu/debug/bl31/sfu_{part}.o" for part in ("panic", "trace")]
    IMAGE, TABLES, BOOT = IMAGE, None, BOOT
    SCENARIOS = [{**SCENARIOS[0], "until": "Unhandled Exception in EL3",
                  "traces": [HERE + " sfu_panic_here backtrace hello_here bl31_main bl31_entrypoint",
                             SCENARIOS[0]["traces"][1]]}]
