# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""U-Boot for QEMU's RISC-V machine virt, in M mode: Debian's compiler and linker, and sfu-gen behind the link. It moves
itself to the end of memory. A panic prints a trace, also out of a trap; U-Boot has no interrupts there and no
threads."""
from real import HERE, Edit
from u_boot_aarch64 import COPIES, FLAGS, SHELL, SOURCES

TITLE = "U-Boot, riscv64"
CPUS = 1
EDITS = [
    Edit("lib/sfu_trace.c", r"""
#include <common.h>
#include <asm/global_data.h>
#include <asm/ptrace.h>
#include <stdio.h>
#include "sfu_kernel.h"

DECLARE_GLOBAL_DATA_PTR;
extern const uint8_t sframe_start[], sframe_end[], trap_entry[], trap_entry_end[];

static void put(void *ctx, char c) { putc(c); }
/* trap_entry has the first 32 words of a struct pt_regs at SP. */
static struct sfu_kernel trace = {
    .panic = {.put = put, .image = "u-boot"},
    .trap = {offsetof(struct pt_regs, sepc), SFU_KERNEL_NOT_SAVED, offsetof(struct pt_regs, s0),
             offsetof(struct pt_regs, ra), offsetof(struct pt_regs, sstatus)},
    .zero_ends = true,
};

void sfu_trace(void)
{
    const char *stack = (const char *)gd->start_addr_sp;

    trace.panic.slide = gd->reloc_off;
    trace.rest = (struct sfu_kernel_stack){stack - CONFIG_STACK_SIZE, stack, 0};
    trace.entries = (struct sfu_range){(uintptr_t)trap_entry, (uintptr_t)trap_entry_end};
    sfu_kernel_init(&trace, sframe_start, sframe_end);
    sfu_kernel_panic(&trace, NULL);
}
"""),
    Edit("lib/panic.c", "void sfu_trace(void);", before=r"^static void panic_finish\(void\)$"),
    Edit("lib/panic.c", "\tsfu_trace();", after=r"^static void panic_finish\(void\)$\s*\{"),
    Edit("lib/Makefile", r"""
obj-$(CONFIG_$(SPL_)RISCV) += sfu_panic.o sfu_kernel.o sfu_trace.o
CFLAGS_sfu_panic.o := -Os '-DSFU_TYPES="linux/types.h"'
CFLAGS_sfu_kernel.o := $(CFLAGS_sfu_panic.o)
CFLAGS_sfu_trace.o := $(CFLAGS_sfu_panic.o)
""", before=r"^obj-y \+= panic\.o"),
    # The PC of the trap goes to where struct pt_regs has it.
    Edit("arch/riscv/cpu/mtrap.S", "\tSREG a1, 0(sp)", after=r"^\tcsrr a1, MODE_PREFIX\(epc\)"),
    Edit("arch/riscv/cpu/mtrap.S", ".global trap_entry_end\ntrap_entry_end:", after=r"^\tMODE_PREFIX\(ret\)"),
    # What moved U-Boot jumps there from where it was: nothing has called it.
    Edit("arch/riscv/cpu/start.S", "\tmv\tra, zero", before=r"^\tjr\tt4\t"),
    # In front of the end of what is moved.
    Edit("arch/riscv/cpu/u-boot.lds", r"""
.sfu_sframe : ALIGN(8) {
    sframe_start = .;
    QUAD(0) . += 64 + SIZEOF(.eh_frame); . = ALIGN(8);
    sframe_end = .;
}
""", before=r"^\s*_end = \.;"),
    Edit("arch/riscv/cpu/u-boot.lds", ".eh_frame (INFO) : { KEEP(*(.eh_frame)) }", after=r"__bss_end = \.;\s*\}"),
    Edit("Makefile", "\tsfu-gen -q --small u-boot", after=r"^\t\+\$\(call if_changed,u-boot__\)"),
]
FAULTS = [Edit("configs/qemu-riscv64_defconfig", "CONFIG_CMD_EXCEPTION=y")]
BUILD = [
    "make -s CROSS_COMPILE=riscv64-linux-gnu- qemu-riscv64_defconfig",
    "PATH={sfu}/build/tools:$PATH make -s -j2 CROSS_COMPILE=riscv64-linux-gnu- {flags} u-boot.bin",
]
OBJECTS = ["lib/sfu_panic.o", "lib/sfu_kernel.o", "lib/sfu_trace.o"]
IMAGE = "u-boot"
TABLES = ".sfu_sframe"
ADDR2LINE = "riscv64-linux-gnu-addr2line"  # another one takes the marks of RISC-V's assembler for functions
BOOT = ["qemu-system-riscv64", "-M", "virt", "-nographic", "-no-reboot", "-bios", "u-boot.bin"]
SCENARIOS = [
    {"name": "undefined instruction", "dialogue": [("Hit any key", " "), ("=> ", "exception undefined\n")],
     "traces": [HERE + " sfu_kernel_panic panic_finish panic _exit_trap handle_trap trap_entry !do_undefined " +
                SHELL.replace(" _main", " ??")]},
]


class linked:  # pylint: disable=invalid-name
    """U-Boot for QEMU's RISC-V machine virt, in M mode, linked by sfu-link: no unwind flag, no line in the linker
    script, none in assembly. It moves itself to the end of memory, and has its stack there, outside the image. The
    trace of an exception is by the registers that its entry has saved, where SP is 256 bytes too low. To the first
    function after the move start-up code jumps by an address that it has computed: an option says that nothing has
    called that. panic() prints one more trace, which ends in the entry, because the interrupted PC is in mepc alone."""
    TITLE = "U-Boot, riscv64, by sfu-link"
    CPUS, SOURCES, FLAGS, FAULTS = CPUS, SOURCES, [], FAULTS
    COPIES = {"sfu_panic.h": "include/sfu_panic.h", "sfu_panic.c": "lib/sfu_panic.c"}
    EDITS = [
        Edit("arch/riscv/lib/interrupts.c", r"""
#include "sfu_panic.h"

static void put(void *ctx, char c) { putc(c); }
""", before=r"^DECLARE_GLOBAL_DATA_PTR;"),
        Edit("arch/riscv/lib/interrupts.c", r"""
	sfu_panic_start(put);
	sfu_panic_memory((char *)gd->start_addr_sp - CONFIG_STACK_SIZE, (char *)gd->start_addr_sp);
""", after=r"^int interrupt_init\(void\)$\s*\{"),
        Edit("arch/riscv/lib/interrupts.c", "\tsfu_panic_trap(epc, (ulong)regs + 256, regs->s0, regs->ra);",
             before=r'^\tpanic\("\\n"\);'),
        Edit("lib/panic.c", '#include "sfu_panic.h"', before=r"^static void panic_finish\(void\) __attribute__"),
        Edit("lib/panic.c", "\tsfu_panic_here();", after=r"^static void panic_finish\(void\)$\s*\{"),
        Edit("lib/Makefile", "obj-y += sfu_panic.o\nccflags-y += '-DSFU_TYPES=\"linux/types.h\"'",
             before=r"^obj-y \+= panic\.o"),
        Edit("arch/riscv/lib/Makefile", "ccflags-y += '-DSFU_TYPES=\"linux/types.h\"'"),
    ]
    LINK = "LD='sfu-link --entry=board_init_r:start riscv64-linux-gnu-ld.bfd'"
    BUILD = [BUILD[0], BUILD[1].replace("make ", f"make {LINK} ")]
    OBJECTS, IMAGE, TABLES, ADDR2LINE, BOOT = ["lib/sfu_panic.o"], IMAGE, None, ADDR2LINE, BOOT
    SCENARIOS = [{**SCENARIOS[0], "traces": [
        "do_undefined " + SHELL.replace(" _main", ""),
        HERE + " sfu_panic_here panic_finish panic _exit_trap handle_trap trap_entry -13"]}]
