# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""U-Boot for QEMU's pc, of 64 bits behind an SPL of 32: Debian's compiler and linker, and sfu-gen behind the link. Its
compiler writes .eh_frame itself (-fno-dwarf2-cfi-asm), so that no assembler could make tables. It moves itself to the
end of memory. A panic prints a trace; of 64 bits it has no exception entries, no interrupts and no threads. Tail calls
leave do_echo, cmd_call and run_pipe_real out."""
from real import HERE, Edit
from u_boot_aarch64 import COPIES, SOURCES

TITLE = "U-Boot, x86_64"
CPUS = 1
FLAGS = []
EDITS = [
    Edit("lib/sfu_trace.c", r"""
#include <common.h>
#include <asm/global_data.h>
#include "sfu_panic.h"

DECLARE_GLOBAL_DATA_PTR;
extern const uint8_t sframe_start[], sframe_end[];
void board_init_f_r(void);

static void put(void *ctx, char c) { putc(c); }
static struct sfu_panic trace = {.put = put, .image = "u-boot"};

/* What moved U-Boot called it last, from where it was: no table speaks of that place. */
static int moved(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *in)
{
    uint64_t offset = frame->regs.pc + gd->reloc_off - (uintptr_t)board_init_f_r;

    return frame->regs.pc_kind == SFU_PC_RETURN && offset < 256 ? SFU_END : code;
}

void sfu_trace(void)
{
    struct sfu_registers here = sfu_registers_here();
    const char *stack = (const char *)here.sp; /* its bounds are the SPL's */

    trace.slide = gd->reloc_off;
    sfu_panic_init(&trace, sframe_start, sframe_end, stack, stack + 0x10000);
    trace.own.trap_hook = moved;
    sfu_panic_print(&trace, &here);
}
"""),
    Edit("lib/panic.c", "void sfu_trace(void);", before=r"^static void panic_finish\(void\)$"),
    Edit("lib/panic.c", "\tif (!IS_ENABLED(CONFIG_SPL_BUILD))\n\t\tsfu_trace();", after=r"^\tputc\('\\n'\);"),
    Edit("lib/Makefile", r"""
obj-$(CONFIG_$(SPL_)X86_64) += sfu_panic.o sfu_trace.o
CFLAGS_sfu_panic.o := -Os '-DSFU_TYPES="linux/types.h"'
CFLAGS_sfu_trace.o := '-DSFU_TYPES="linux/types.h"'
""", before=r"^obj-y \+= panic\.o"),
    Edit("arch/x86/config.mk", "PLATFORM_CPPFLAGS += -fasynchronous-unwind-tables",
         before=r"^PLATFORM_CPPFLAGS \+= -mno-mmx"),
    # U-Boot's part of the ROM had room for 84 KB more.
    Edit("configs/qemu-x86_64_defconfig", "CONFIG_SPL_TEXT_BASE=0xfffe8000", instead=r"^CONFIG_SPL_TEXT_BASE=.*\n"),
    # In front of the end of what is moved.
    Edit("arch/x86/cpu/u-boot-64.lds", r"""
.sframe : ALIGN(8) { sframe_start = .; QUAD(0) . += 64 + SIZEOF(.eh_frame) / 2; . = ALIGN(8); sframe_end = .; }
""", before=r"^\s*__data_end = \.;"),
    Edit("arch/x86/cpu/u-boot-64.lds", ".eh_frame 0 (INFO) : { KEEP(*(.eh_frame)) }",
         before=r"^\s*/DISCARD/ : \{ \*\(\.dynsym\)"),
    Edit("Makefile", "\tsfu-gen -q --small u-boot", after=r"^\t\+\$\(call if_changed,u-boot__\)"),
]
FAULTS = [
    Edit("cmd/echo.c", r"""
static __attribute__((__noinline__)) int sfu_leaf(int n) { if (n > 1) panic("hello"); return n; }
static __attribute__((__noinline__)) int sfu_middle(int n) { return sfu_leaf(n) + 1; }
""", before=r"^static int do_echo\("),
    Edit("cmd/echo.c", "\tif (argc == 3)\n\t\treturn sfu_middle(argc);", before=r"^\tfor \(; i < argc"),
]
BUILD = [
    "make -s qemu-x86_64_defconfig",
    "PATH={sfu}/build/tools:$PATH make -s -j2 {flags}",
]
OBJECTS = ["lib/sfu_panic.o", "lib/sfu_trace.o"]
IMAGE = "u-boot"
TABLES = ".sframe"
BOOT = ["qemu-system-x86_64", "-nographic", "-no-reboot", "-net", "none", "-bios", "u-boot.rom"]
SCENARIOS = [
    {"name": "panic", "dialogue": [("Hit any key", " "), ("=> ", "echo a b\n")],
     "traces": [HERE + " sfu_trace panic_finish panic sfu_leaf sfu_middle cmd_process run_list_real run_list "
                "parse_stream_outer parse_file_outer cli_loop main_loop run_main_loop initcall_run_list board_init_r "
                "board_init_f_r"]},
]


class linked:  # pylint: disable=invalid-name
    """U-Boot for QEMU's pc, linked by sfu-link: no unwind flag, no line in the linker script. It moves itself to the
    end of memory, and its stack is the SPL's, of which it does not know the bounds. A panic prints a trace, which ends
    with SFU_E_NOT_CODE in what moved U-Boot, at the place where that was before."""
    TITLE = "U-Boot, x86_64, by sfu-link"
    CPUS, SOURCES, FLAGS, FAULTS = CPUS, SOURCES, [], FAULTS
    COPIES = {"sfu_panic.h": "include/sfu_panic.h", "sfu_panic.c": "lib/sfu_panic.c"}
    EDITS = [
        Edit("lib/panic.c", r"""
#include "sfu_panic.h"

static void put(void *ctx, char c) { putc(c); }
""", before=r"^static void panic_finish\(void\) __attribute__"),
        Edit("lib/panic.c", r"""
#ifndef CONFIG_SPL_BUILD
	char *sp = __builtin_frame_address(0);

	sfu_panic_start(put);
	sfu_panic_memory(sp - 4096, sp + 65536);
	sfu_panic_here();
#endif
""", after=r"^static void panic_finish\(void\)$\s*\{"),
        Edit("lib/Makefile", "obj-$(CONFIG_$(SPL_)X86_64) += sfu_panic.o\nccflags-y += '-DSFU_TYPES=\"linux/types.h\"'",
             before=r"^obj-y \+= panic\.o"),
        # U-Boot's part of the ROM had room for 84 KB more.
        Edit("configs/qemu-x86_64_defconfig", "CONFIG_SPL_TEXT_BASE=0xfffe8000", instead=r"^CONFIG_SPL_TEXT_BASE=.*\n"),
    ]
    BUILD = [BUILD[0], BUILD[1].replace("make -s -j2", "make -s -j2 LD='sfu-link ld.bfd'")]
    OBJECTS, IMAGE, TABLES, BOOT = ["lib/sfu_panic.o"], IMAGE, None, BOOT
    SCENARIOS = [{**SCENARIOS[0], "traces": [
        SCENARIOS[0]["traces"][0].replace(" sfu_trace ", " sfu_panic_here ").replace("board_init_f_r", "?? -26")]}]
