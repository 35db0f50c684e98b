# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""U-Boot for QEMU's machine virt: Debian's compiler and linker, and sfu-gen behind the link. It moves itself to the end
of memory. A panic prints a trace, also out of an exception; U-Boot has no interrupts there and no threads."""
from real import HERE, Edit

TITLE = "U-Boot, aarch64"
CPUS = 1
SOURCES = {".": "kernels/u-boot"}
COPIES = {"sfu_panic.h": "include/sfu_panic.h", "sfu_panic.c": "lib/sfu_panic.c",
          "sfu_kernel.h": "include/sfu_kernel.h", "sfu_kernel.c": "lib/sfu_kernel.c"}
FLAGS = ["KCFLAGS=-fasynchronous-unwind-tables"]
EDITS = [
    Edit("lib/sfu_trace.c", r"""
#include <asm/global_data.h>
#include <asm/ptrace.h>
#include <stdio.h>
#include "sfu_kernel.h"

DECLARE_GLOBAL_DATA_PTR;
extern const uint8_t sframe_start[], sframe_end[], vectors[];

static void put(void *ctx, char c) { putc(c); }
static struct sfu_kernel trace = {
    .panic = {.put = put, .image = "u-boot"},
    .trap = {offsetof(struct pt_regs, elr), SFU_KERNEL_NOT_SAVED, offsetof(struct pt_regs, regs[29]),
             offsetof(struct pt_regs, regs[30]), sizeof(struct pt_regs)},
};

void sfu_trace(void)
{
    const char *stack = (const char *)gd->start_addr_sp;

    trace.panic.slide = gd->reloc_off;
    trace.rest = (struct sfu_kernel_stack){stack - CONFIG_STACK_SIZE, stack, 0};
    trace.entries = (struct sfu_range){(uintptr_t)vectors, (uintptr_t)vectors + 0x800};
    sfu_kernel_init(&trace, sframe_start, sframe_end);
    sfu_kernel_panic(&trace, NULL);
}
"""),
    Edit("lib/panic.c", "void sfu_trace(void);", before=r"^static void panic_finish\(void\)$"),
    Edit("lib/panic.c", "\tsfu_trace();", after=r"^static void panic_finish\(void\)$\s*\{"),
    Edit("lib/Makefile", r"""
obj-$(CONFIG_$(SPL_)ARM64) += sfu_panic.o sfu_kernel.o sfu_trace.o
CFLAGS_sfu_panic.o := -Os '-DSFU_TYPES="linux/types.h"'
CFLAGS_sfu_kernel.o := $(CFLAGS_sfu_panic.o)
CFLAGS_sfu_trace.o := $(CFLAGS_sfu_panic.o)
""", before=r"^obj-y \+= panic\.o"),
    # Where its own tables end nothing called.
    Edit("arch/arm/lib/crt0_64.S", ".cfi_startproc\n.cfi_undefined x30", after=r"^ENTRY\(_main\)"),
    Edit("arch/arm/lib/crt0_64.S", ".cfi_endproc", before=r"^ENDPROC\(_main\)"),
    # In front of the end of what is moved.
    Edit("arch/arm/cpu/armv8/u-boot.lds", r"""
.sframe : ALIGN(8) { sframe_start = .; QUAD(0) . += 64 + SIZEOF(.eh_frame); . = ALIGN(8); sframe_end = .; }
""", before=r"^\s*\.image_copy_end :"),
    Edit("arch/arm/cpu/armv8/u-boot.lds", ".eh_frame 0 (INFO) : { KEEP(*(.eh_frame)) }",
         before=r"^\s*/DISCARD/.*dynsym"),
    Edit("arch/arm/config.mk", "OBJCOPYFLAGS += -j .sframe", before=r"^ifdef CONFIG_EFI_LOADER"),
    Edit("Makefile", "\tsfu-gen -q --small u-boot", after=r"^\t\+\$\(call if_changed,u-boot__\)"),
]
FAULTS = [Edit("configs/qemu_arm64_defconfig", "CONFIG_CMD_EXCEPTION=y")]
BUILD = [
    "make -s CROSS_COMPILE=aarch64-linux-gnu- qemu_arm64_defconfig",
    "PATH={sfu}/build/tools:$PATH make -s -j2 CROSS_COMPILE=aarch64-linux-gnu- {flags} u-boot.bin",
]
OBJECTS = ["lib/sfu_panic.o", "lib/sfu_kernel.o", "lib/sfu_trace.o"]
IMAGE = "u-boot"
TABLES = ".sframe"
BOOT = ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a57", "-nographic", "-no-reboot", "-bios", "u-boot.bin"]
SHELL = "cmd_call cmd_process run_pipe_real run_list_real run_list parse_stream_outer parse_file_outer cli_loop " \
    "main_loop run_main_loop initcall_run_list board_init_r _main"
SCENARIOS = [
    {"name": "undefined instruction", "dialogue": [("Hit any key", " "), ("=> ", "exception undefined\n")],
     "traces": [HERE + " sfu_kernel_panic panic_finish panic do_sync _restore_regs !do_undefined " + SHELL]},
]


class linked:  # pylint: disable=invalid-name
    """U-Boot for QEMU's machine virt, linked by sfu-link: no unwind flag, no line in the linker script, none in
    assembly. It moves itself to the end of memory, and has its stack there, outside the image. The trace of an
    exception is by the registers that its entry has saved, and ends with SFU_E_NO_FDE in the first function after the
    move, to which start-up code jumps by an address from memory. panic() prints one more trace, which ends so in the
    entry: it calls what saves the registers and leaves SP lower, which no row describes."""
    TITLE = "U-Boot, aarch64, by sfu-link"
    CPUS, SOURCES, FLAGS, FAULTS = CPUS, SOURCES, [], FAULTS
    COPIES = {"sfu_panic.h": "include/sfu_panic.h", "sfu_panic.c": "lib/sfu_panic.c"}
    EDITS = [
        Edit("arch/arm/lib/interrupts_64.c", r"""
#include "sfu_panic.h"

static void put(void *ctx, char c) { putc(c); }
""", before=r"^DECLARE_GLOBAL_DATA_PTR;"),
        Edit("arch/arm/lib/interrupts_64.c", r"""
	sfu_panic_start(put);
	sfu_panic_memory((char *)gd->start_addr_sp - CONFIG_STACK_SIZE, (char *)gd->start_addr_sp);
""", after=r"^int interrupt_init\(void\)$\s*\{"),
        Edit("arch/arm/lib/interrupts_64.c", "\tsfu_panic_trap(pt_regs->elr, (ulong)(pt_regs + 1), pt_regs->regs[29], "
             "pt_regs->regs[30]);", after=r"^void do_sync\((?s:.*?)show_efi_loaded_images\(pt_regs\);\n"),
        Edit("lib/panic.c", '#include "sfu_panic.h"', before=r"^static void panic_finish\(void\) __attribute__"),
        Edit("lib/panic.c", "\tsfu_panic_here();", after=r"^static void panic_finish\(void\)$\s*\{"),
        Edit("lib/Makefile", "obj-y += sfu_panic.o\nccflags-y += '-DSFU_TYPES=\"linux/types.h\"'",
             before=r"^obj-y \+= panic\.o"),
        Edit("arch/arm/lib/Makefile", "ccflags-y += '-DSFU_TYPES=\"linux/types.h\"'"),
    ]
    BUILD = [BUILD[0], BUILD[1].replace("CROSS_COMPILE=aarch64-linux-gnu-",
                                        "CROSS_COMPILE=aarch64-linux-gnu- LD='sfu-link aarch64-linux-gnu-ld.bfd'")]
    OBJECTS, IMAGE, TABLES, BOOT = ["lib/sfu_panic.o"], IMAGE, None, BOOT
    SCENARIOS = [{**SCENARIOS[0], "traces": [
        "do_undefined " + SHELL.replace(" _main", " -13"),
        HERE + " sfu_panic_here panic_finish panic do_sync _restore_regs -13"]}]
