# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""OpenSBI on QEMU's RISC-V machine virt, where it is the firmware in M mode: Debian's compiler and linker, and sfu-gen
behind the link. It prints a trace of each trap that it cannot handle, also of one in a call from S mode, where the
trace ends. Its frame pointers, which it otherwise has for nothing, are not needed."""
from real import HERE, Edit

TITLE = "OpenSBI, riscv64"
CPUS = 1
SOURCES = {".": "supervisor/opensbi"}
COPIES = {"sfu_panic.h": "include/sfu_panic.h", "sfu_panic.c": "lib/sbi/sfu_panic.c",
          "sfu_kernel.h": "include/sfu_kernel.h", "sfu_kernel.c": "lib/sbi/sfu_kernel.c"}
FLAGS = []
EDITS = [
    Edit("lib/sbi/sfu_trace.c", r"""
#include <sbi/riscv_encoding.h>
#include <sbi/sbi_console.h>
#include <sbi/sbi_platform.h>
#include <sbi/sbi_scratch.h>
#include <sbi/sbi_trap.h>
#include "sfu_kernel.h"

extern const uint8_t sframe_start[], sframe_end[], _fw_start[], _trap_handler[], _reset_regs[];
void sfu_trace(const struct sbi_trap_regs *from);

static void put(void *ctx, char c) { sbi_putc(c); }
/* A trap handler has a struct sbi_trap_regs at SP. What called from S or U mode is not ours. */
static struct sfu_kernel trace = {
	.panic = {.put = put, .image = "fw_payload.elf"},
	.trap = {offsetof(struct sbi_trap_regs, mepc), offsetof(struct sbi_trap_regs, sp),
		 offsetof(struct sbi_trap_regs, s0), offsetof(struct sbi_trap_regs, ra), 0},
	.mode = offsetof(struct sbi_trap_regs, mstatus), .mode_mask = 2 << MSTATUS_MPP_SHIFT,
};

/* FROM: NULL: from here */
void sfu_trace(const struct sbi_trap_regs *from)
{
	const char *top = (const char *)sbi_scratch_thishart_ptr();

	top += SBI_SCRATCH_SIZE;
	trace.rest = (struct sfu_kernel_stack){top - sbi_platform_thishart_ptr()->hart_stack_size, top, 0};
	trace.entries = (struct sfu_range){(uintptr_t)_trap_handler, (uintptr_t)_reset_regs};
	trace.panic.slide = (uintptr_t)_fw_start; /* linked at 0 */
	sfu_kernel_init(&trace, sframe_start, sframe_end);
	from ? sfu_kernel_fault(&trace, from, 0) : sfu_kernel_panic(&trace, NULL);
}
"""),
    Edit("include/sfu_types.h", "#include <sbi/sbi_types.h>\ntypedef signed char int8_t;"),
    Edit("lib/sbi/objects.mk", "libsbi-objs-y += sfu_panic.o sfu_kernel.o sfu_trace.o",
         after=r"^libsbi-objs-y \+= sbi_trap\.o"),
    Edit("lib/sbi/sbi_trap.c", "void sfu_trace(const struct sbi_trap_regs *from);",
         before=r"^static void __noreturn sbi_trap_error\("),
    Edit("lib/sbi/sbi_trap.c", "\tsfu_trace(&tcntx->regs);", before=r"^\tsbi_hart_hang\(\);"),
    Edit("Makefile", "CFLAGS += -fasynchronous-unwind-tables -DSFU_TYPES='<sfu_types.h>'",
         before=r"^CFLAGS\s*\+=\s*-fno-omit-frame-pointer"),
    Edit("Makefile", "\tcase $@ in */fw_*) sfu-gen -q --small $@;; esac", after=r"^\t\$\(call compile_elf,.*"),
    # Where its traces end.
    Edit("firmware/fw_base.S", "\t.cfi_startproc\n\t.cfi_undefined ra", before=r"^\tcall\tsbi_init$"),
    Edit("firmware/fw_base.S", "\t.cfi_endproc", after=r"^\tcall\tsbi_init\n.*\n.*\n\tj\t_start_hang"),
    Edit("firmware/fw_base.ldS", r"""
.sfu_sframe : ALIGN(8) {
    sframe_start = .;
    QUAD(0) . += 64 + SIZEOF(.eh_frame); . = ALIGN(8);
    sframe_end = .;
}
.eh_frame (INFO) : { KEEP(*(.eh_frame)) }
""", after=r"^\t\tPROVIDE\(_data_end = \.\);\n\t\}"),
]
FAULTS = [
    Edit("lib/sbi/sbi_ecall.c", r"""
void sfu_trace(const struct sbi_trap_regs *from);
static int __attribute__((noinline)) hello_leaf(volatile int *p) { *p = 1; return 2; }
static int __attribute__((noinline)) hello_middle(volatile int *p) { return hello_leaf(p) + 1; }
""", before=r"^int sbi_ecall_handler\("),
    Edit("lib/sbi/sbi_ecall.c", "\tret = hello_middle((int *)(func_id + 8));",
         after=r"^\tunsigned long func_id = regs->a6;"),
    Edit("lib/sbi/sbi_init.c", r"""
struct sbi_trap_regs;
void sfu_trace(const struct sbi_trap_regs *from);
static int __attribute__((noinline)) hello_here(int n) { sfu_trace(NULL); return n + 1; }
""", before=r"^static void __noreturn init_coldboot\("),
    Edit("lib/sbi/sbi_init.c", '\tsbi_printf("%d\\n", hello_here(1));',
         before=r"^\tsbi_boot_print_domains\(scratch\);"),
]
BUILD = ["PATH={sfu}/build/tools:$PATH make -j2 CROSS_COMPILE=riscv64-linux-gnu- PLATFORM=generic FW_PAYLOAD=y"]
OBJECTS = [f"build/lib/sbi/sfu_{part}.o" for part in ("panic", "kernel", "trace")]
IMAGE = "build/platform/generic/firmware/fw_payload.elf"
TABLES = ".sfu_sframe"
ADDR2LINE = "riscv64-linux-gnu-addr2line"  # another one takes the marks of RISC-V's assembler for functions
BOOT = ["qemu-system-riscv64", "-M", "virt", "-nographic", "-no-reboot", "-bios",
        "build/platform/generic/firmware/fw_payload.bin"]
SCENARIOS = [{"name": "a call while it starts, then a fault in a call from S mode",
              "traces": [HERE + " sfu_kernel_panic sfu_trace hello_here init_coldboot sbi_init _skip_trap_handler_hyp",
                         "hello_leaf hello_middle sbi_ecall_handler sbi_trap_handler _trap_handler_hyp"]}]


class linked:  # pylint: disable=invalid-name
    """OpenSBI, linked by sfu-link: no unwind flag, no line in the linker script, none in assembly. The stack of a hart
    lies behind the image, below its scratch space. Traps that OpenSBI cannot handle print a trace by the registers that
    its entry has saved. The trace of one in a call from S mode ends in the entry with SFU_E_NO_FDE: the entry computes
    its stack by arithmetic, which no row describes, and sfu-link names it."""
    TITLE = "OpenSBI, riscv64, by sfu-link"
    CPUS, SOURCES, FLAGS = CPUS, SOURCES, []
    COPIES = {"sfu_own_types.h": "include/sfu_own_types.h", "sfu_panic.h": "include/sfu_panic.h",
              "sfu_panic.c": "lib/sbi/sfu_panic.c"}
    EDITS = [
        Edit("lib/sbi/objects.mk", "libsbi-objs-y += sfu_panic.o", after=r"^libsbi-objs-y \+= sbi_trap\.o"),
        Edit("lib/sbi/sbi_trap.c", '#include "sfu_own_types.h"', before=r"^static void __noreturn sbi_trap_error\("),
        Edit("lib/sbi/sbi_trap.c",
             "\tsfu_panic_trap(tcntx->regs.mepc, tcntx->regs.sp, tcntx->regs.s0, tcntx->regs.ra);",
             before=r"^\tsbi_hart_hang\(\);"),
        Edit("lib/sbi/sbi_init.c", """
#include "sfu_own_types.h"
static void put(void *ctx, char c) { sbi_putc(c); }
""", before=r"^static void __noreturn init_coldboot\("),
        Edit("lib/sbi/sbi_init.c", """
	sfu_panic_start(put);
	sfu_panic_memory((char *)scratch - 4096, scratch);
""", before=r"^\tsbi_boot_print_domains\(scratch\);"),
    ]
    FAULTS = [
        Edit("lib/sbi/sbi_ecall.c", r"""
static int __attribute__((noinline)) hello_leaf(volatile int *p) { *p = 1; return 2; }
static int __attribute__((noinline)) hello_middle(volatile int *p) { return hello_leaf(p) + 1; }
""", before=r"^int sbi_ecall_handler\("), FAULTS[1],
        Edit("lib/sbi/sbi_init.c", "static int __attribute__((noinline)) hello_here(int n) "
             "{ sfu_panic_here(); return n + 1; }", before=r"^static void __noreturn init_coldboot\("),
        FAULTS[3],
    ]
    BUILD = ["PATH={sfu}/build/tools:$PATH make -j2 CROSS_COMPILE='sfu-link riscv64-linux-gnu-' PLATFORM=generic "
             "FW_PAYLOAD=y"]
    OBJECTS = ["build/lib/sbi/sfu_panic.o"]
    IMAGE, TABLES, ADDR2LINE, BOOT = IMAGE, None, ADDR2LINE, BOOT
    SCENARIOS = [{**SCENARIOS[0], "traces": [
        HERE + " sfu_panic_here hello_here init_coldboot sbi_init _skip_trap_handler_hyp",
        SCENARIOS[0]["traces"][1] + " -13"]}]
