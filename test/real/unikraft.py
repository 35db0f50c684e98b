# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Unikraft on two machines of QEMU's, from a folder of the user's, with a small program of our own."""
from real import HERE, Edit

ROOM = ".sframe : ALIGN(8) { sframe_start = .; QUAD(0) . += 64 + SIZEOF(.eh_frame); . = ALIGN(8); sframe_end = .; }"
APP = [
    Edit("app/Makefile.uk", "$(eval $(call addlib,apphello))\nAPPHELLO_SRCS-y += $(APPHELLO_BASE)/main.c"),
    Edit("app/Config.uk", "# none"),
    Edit("app/main.c", r"""
#include <uk/assert.h>
#include <uk/sched.h>

int hello_tick;

static __attribute__((noinline)) int leaf(volatile int *p) { *p = 1; return 2; }
static __attribute__((noinline)) int middle(volatile int *p) { return leaf(p) + 3; }
static void waiter(void *arg)
{
	for (;;)
		uk_sched_thread_sleep(1000000000000000ul);
}

static __attribute__((noinline)) int fail(int n) { UK_ASSERT(n > 2); return n + 1; }
static void never(void *arg) { }

int main(int argc, char *argv[])
{
	struct uk_sched *s = uk_sched_current();

	uk_sched_thread_create(s, waiter, NULL, "waiter");
	uk_sched_yield();
	hello_tick = argv[1][0] == 'i';
	for (; hello_tick;)
		uk_sched_thread_sleep(1000000);
	uk_sched_thread_create(s, never, NULL, "never");
	if (argv[1][0] == 'f')
		return middle((int *)(1ul << 46)) + 1;
	return fail(argc) + 1;
}
"""),
]
# What the machines differ in has a name.
WALK = r"""
#include <uk/console.h>
#include <uk/sched_impl.h>
#include "sfu_panic.h"

extern const uint8_t sframe_start[], sframe_end[]%(symbols)s;

static void put(void *ctx, char c) { uk_console_out(&c, 1); }
static struct sfu_panic trace = {.put = put, .image = "app.dbg"};

/* The exception entries save a struct __regs at SP. Where a new thread returns to there is 0. */
static int cross(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *in)
{
	const struct __regs *r = (const struct __regs *)frame->regs.sp;

	if (frame->regs.pc == 0 && frame->regs.pc_kind == SFU_PC_RETURN)
		return SFU_END;
	if (%(unknown)s)
		return code;
	in->regs = (struct sfu_registers){%(interrupted)s};
	return SFU_OK;
}

void sfu_trace(void)
{
	struct sfu_registers at = sfu_registers_here();
	struct uk_thread *t, *now = uk_thread_current();

	/* %(bounds)s */
	sfu_panic_init(&trace, sframe_start, sframe_end, (void *)%(low)s, (void *)%(high)s);
	trace.own.trap_hook = cross;
	sfu_panic_print(&trace, &at);
	for (t = now ? UK_TAILQ_FIRST(&now->sched->thread_list) : NULL; t; t = UK_TAILQ_NEXT(t, thread_list)) {
		const uint64_t *sp = (const uint64_t *)t->ctx.sp;

		at = (struct sfu_registers){.pc = t->ctx.ip, .sp = t->ctx.sp};
		if (t->ctx.ip - (uintptr_t)ukarch_ctx_switch < 64)
			at = (struct sfu_registers){%(switched)s};
		if (t != now) {
			sfu_print_text(&trace, t->name);
			sfu_print_text(&trace, ":\n");
			sfu_panic_print(&trace, &at);
		}
	}
}
"""
X86_64_WALK = WALK % {
    "symbols": ", _end[]",
    "unknown": "code != SFU_E_TRAP || frame->regs.pc_kind != SFU_PC_RETURN",
    "interrupted": ".pc = r->rip, .sp = r->rsp, .fp = r->rbp",
    "bounds": "The boot's page tables map 4 GiB.",
    "low": "0x1000",
    "high": "0x100000000",
    "switched": ".pc = sp[6], .sp = (uintptr_t)(sp + 7), .fp = sp[5],\n\t\t\t\t\t\t    .pc_kind = SFU_PC_RETURN",
}
ARM64_WALK = WALK % {
    "symbols": ", el1_sync[], vector_table[]",
    "unknown": "frame->regs.pc_kind != SFU_PC_RETURN || "
               "frame->regs.pc - (uintptr_t)el1_sync >= vector_table - el1_sync",
    "interrupted": ".pc = r->elr_el1, .sp = r->sp, .fp = r->x[29], .ra = r->lr, .has_ra = true",
    "bounds": "128 MiB of memory.",
    "low": "0x40000000",
    "high": "0x48000000",
    "switched": "sp[11], (uintptr_t)(sp + 14), sp[10], 0, SFU_PC_RETURN, false",
}
TRACE = HERE + " sfu_trace ukplat_terminate "
WAITER = "waiter ??"  # 0 is what a thread's function would return to
BOTH = [
    Edit("unikraft/plat/kvm/Makefile.uk", r"""
LIBKVMPLAT_SRCS-y += $(UK_PLAT_COMMON_BASE)/sfu_panic.c
LIBKVMPLAT_SRCS-y += $(UK_PLAT_COMMON_BASE)/sfu_trace.c
LIBKVMPLAT_SFU_PANIC_FLAGS-y += -Os -include uk/essentials.h
"""),
    Edit("unikraft/plat/kvm/shutdown.c", "void sfu_trace(void);", before=r"^void ukplat_terminate\(.*\)\s+\{"),
    Edit("unikraft/plat/kvm/shutdown.c", "\tif (request == UKPLAT_CRASH)\n\t\tsfu_trace();",
         after=r"^void ukplat_terminate\(.*\)\s+\{"),
    Edit("unikraft/plat/kvm/Linker.uk", "\tsfu-gen -q --small $@",
         after=r"^\t\t\t\$\(KVM_LD_SCRIPT_FLAGS\) \\\n.*-o \$@\)"),
]


class Unikraft:
    CPUS = 1
    SOURCES = {"unikraft": "$UNIKRAFT"}
    COPIES = {"sfu_panic.h": "unikraft/include/sfu_panic.h", "sfu_panic.c": "unikraft/plat/common/sfu_panic.c"}
    FLAGS = []
    CONFIG = "app/.config"
    OPTIONS = ["CONFIG_PLAT_KVM=y", "CONFIG_LIBUKSCHEDCOOP=y", "CONFIG_OPTIMIZE_DEADELIM=y",
               "CONFIG_LIBUKBOOT_BANNER_NONE=y", "# CONFIG_OPTIMIZE_NOOMITFP is not set",
               "# CONFIG_LIBUKRANDOM is not set"]
    MANUAL = "The application is the folder app beside unikraft; A= needs its whole path. It needs flex and bison."
    OBJECTS = ["app/build/libkvmplat/sfu_panic.o", "app/build/libkvmplat/sfu_trace.o"]
    TABLES = ".sframe"


class x86_64(Unikraft):
    """Unikraft on QEMU's pc with a small program of our own: a crash prints the trace and those of all other threads:
    one that waits, one that has never run. Its own CFI describes the exception entries, and sfu-gen makes tables of
    it."""
    TITLE = "Unikraft, x86_64"
    EDITS = BOTH + [
        Edit("unikraft/plat/common/sfu_trace.c", X86_64_WALK),
        Edit("unikraft/arch/x86/x86_64/Makefile.uk", "ARCHFLAGS += -fasynchronous-unwind-tables",
             after=r"^ARCHFLAGS .*-fno-asynchronous-unwind-tables"),
        Edit("unikraft/arch/x86/x86_64/Makefile.uk", "ISR_ARCHFLAGS += -fasynchronous-unwind-tables",
             after=r"^ISR_ARCHFLAGS .*-fno-asynchronous-unwind-tables"),
        Edit("unikraft/plat/kvm/x86/link64.lds.S", ROOM, after=r"^\s*EXCEPTION_SECTIONS"),
        # Nothing called what a new thread begins with.
        Edit("unikraft/arch/x86/x86_64/ctx.S", ".cfi_startproc\n.cfi_undefined rip",
             before=r"^ENTRY\(_ctx_x86_clearregs\)"),
        Edit("unikraft/arch/x86/x86_64/ctx.S", ".cfi_endproc", before=r"^ENTRY\(ukarch_ctx_switch\)"),
    ]
    FAULTS = APP + [
        Edit("unikraft/plat/kvm/x86/time.c", "extern int hello_tick;", before=r"^static int timer_handler\("),
        Edit("unikraft/plat/kvm/x86/time.c", "\tif (hello_tick)\n\t\tUK_CRASH(\"tick\\n\");",
             after=r"^static int timer_handler\(.*\)\s+\{"),
    ]
    OPTIONS = ["CONFIG_KVM_BOOT_PROTO_MULTIBOOT=y"] + Unikraft.OPTIONS
    IMAGE = "app/build/app_qemu-x86_64.dbg"
    BOOT = ["qemu-system-x86_64", "-nographic", "-no-reboot", "-cpu", "max", "-m", "128", "-kernel",
            "app/build/app_qemu-x86_64"]
    MAIN = "main do_main uk_boot_entry ukplat_entry2"
    NEW = "_ctx_x86_clearregs"  # the idle thread and "never" have not run
    SCENARIOS = [
        {"name": "page fault", "boot": ["-append", "f"],
         "traces": [TRACE + "do_page_fault asm_trap_page_fault !%leaf middle " + MAIN, NEW, WAITER, NEW]},
        {"name": "assertion", "boot": ["-append", "a"], "traces": [TRACE + "fail " + MAIN, NEW, WAITER, NEW]},
        {"name": "panic in an interrupt", "boot": ["-append", "i"],
         "traces": [TRACE + "timer_handler uk_intctlr_irq_handle uk_intctlr_xpic_handle_irq cpu_irq_0 "
                    "!%ukplat_lcpu_halt_irq tscclock_cpu_block time_block_until idle_thread_fn ??", MAIN, WAITER]},
    ]


class arm64(Unikraft):
    """Unikraft on QEMU's virt, as on x86_64. Its exception entries have no CFI there, and a new thread's function would
    return to itself."""
    TITLE = "Unikraft, aarch64"
    EDITS = BOTH + [
        Edit("unikraft/plat/common/sfu_trace.c", ARM64_WALK),
        Edit("unikraft/plat/kvm/arm/link64.lds.S", ROOM, after=r"^\s*EXCEPTION_SECTIONS"),
        Edit("unikraft/plat/kvm/arm/exceptions.S", ".globl el1_sync", before=r"^el1_sync:"),
        # Nothing called what a new thread begins with, and its function returns to 0.
        Edit("unikraft/arch/arm/arm64/ctx.S", ".cfi_startproc\n.cfi_undefined x30",
             before=r"^ENTRY\(_ctx_arm_clearregs\)"),
        Edit("unikraft/arch/arm/arm64/ctx.S", "mov x16, x30\nmov x30, xzr\nbr x16",
             after=r"^ENTRY\(_ctx_arm_call1\)(?s:.*?)ldr x30, \[sp\], #16"),
        Edit("unikraft/arch/arm/arm64/ctx.S", ".cfi_endproc", before=r"^ENTRY\(ukarch_ctx_switch\)"),
    ]
    FAULTS = APP + [
        Edit("unikraft/plat/common/arm/generic_timer.c", "extern int hello_tick;",
             before=r"^(static )?int generic_timer_irq_handler\(.*\)\s+\{"),
        Edit("unikraft/plat/common/arm/generic_timer.c", "\tif (hello_tick)\n\t\tUK_CRASH(\"tick\\n\");",
             after=r"^(static )?int generic_timer_irq_handler\(.*\)\s+\{"),
    ]
    OPTIONS = ["CONFIG_ARCH_ARM_64=y"] + Unikraft.OPTIONS
    MANUAL = Unikraft.MANUAL + "\nCROSS_COMPILE=aarch64-linux-gnu-."
    IMAGE = "app/build/app_qemu-arm64.dbg"
    BOOT = ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a53", "-nographic", "-no-reboot", "-m", "128",
            "-kernel", "app/build/app_qemu-arm64"]
    MAIN = "main do_main uk_boot_entry ??"
    NEW = "$x"  # addr2line's name of _ctx_arm_clearregs, the first function of its assembly file
    SCENARIOS = [
        {"name": "page fault", "boot": ["-append", "app f"],
         "traces": [TRACE + "trap_el1_sync el1_sync !%leaf middle " + MAIN, NEW, WAITER, NEW]},
        {"name": "assertion", "boot": ["-append", "app a"], "traces": [TRACE + "fail " + MAIN, NEW, WAITER, NEW]},
        {"name": "panic in an interrupt", "boot": ["-append", "app i"],
         "traces": [TRACE + "generic_timer_irq_handler uk_intctlr_irq_handle gicv2_handle_irq el1_irq "
                    "!ukplat_lcpu_enable_irq generic_timer_cpu_block_until time_block_until idle_thread_fn ??",
                    MAIN, WAITER]},
    ]
