# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Unikraft on QEMU's virt, as on x86_64. Its exception entries have no CFI there, and a new thread's function would
return to itself."""
from real import HERE, Edit
from unikraft_x86_64 import APP, CONFIG, COPIES, FLAGS, MANUAL, OPTIONS, SOURCES, TABLES

TITLE = "Unikraft, aarch64"
CPUS = 1
EDITS = [
    Edit("unikraft/plat/common/sfu_trace.c", r"""
#include <uk/console.h>
#include <uk/sched_impl.h>
#include "sfu_panic.h"

extern const uint8_t sframe_start[], sframe_end[], el1_sync[], vector_table[];

static void put(void *ctx, char c) { uk_console_out(&c, 1); }
static struct sfu_panic trace = {.put = put, .image = "app.dbg"};

/* The exception entries save a struct __regs at SP. Where a new thread returns to there is 0. */
static int cross(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *in)
{
	const struct __regs *r = (const struct __regs *)frame->regs.sp;

	if (frame->regs.pc == 0 && frame->regs.pc_kind == SFU_PC_RETURN)
		return SFU_END;
	if (frame->regs.pc_kind != SFU_PC_RETURN || frame->regs.pc - (uintptr_t)el1_sync >= vector_table - el1_sync)
		return code;
	in->regs = (struct sfu_registers){.pc = r->elr_el1, .sp = r->sp, .fp = r->x[29], .ra = r->lr, .has_ra = true};
	return SFU_OK;
}

void sfu_trace(void)
{
	struct sfu_registers at = sfu_registers_here();
	struct uk_thread *t, *now = uk_thread_current();

	/* 128 MiB of memory. */
	sfu_panic_init(&trace, sframe_start, sframe_end, (void *)0x40000000, (void *)0x48000000);
	trace.own.trap_hook = cross;
	sfu_panic_print(&trace, &at);
	for (t = now ? UK_TAILQ_FIRST(&now->sched->thread_list) : NULL; t; t = UK_TAILQ_NEXT(t, thread_list)) {
		const uint64_t *sp = (const uint64_t *)t->ctx.sp;

		at = (struct sfu_registers){.pc = t->ctx.ip, .sp = t->ctx.sp};
		if (t->ctx.ip - (uintptr_t)ukarch_ctx_switch < 64)
			at = (struct sfu_registers){sp[11], (uintptr_t)(sp + 14), sp[10], 0, SFU_PC_RETURN, false};
		if (t != now) {
			sfu_print_text(&trace, t->name);
			sfu_print_text(&trace, ":\n");
			sfu_panic_print(&trace, &at);
		}
	}
}
"""),
    Edit("unikraft/plat/kvm/Makefile.uk", r"""
LIBKVMPLAT_SRCS-y += $(UK_PLAT_COMMON_BASE)/sfu_panic.c
LIBKVMPLAT_SRCS-y += $(UK_PLAT_COMMON_BASE)/sfu_trace.c
LIBKVMPLAT_SFU_PANIC_FLAGS-y += -Os -include uk/essentials.h
"""),
    Edit("unikraft/plat/kvm/shutdown.c", "void sfu_trace(void);", before=r"^void ukplat_terminate\(.*\)\s+\{"),
    Edit("unikraft/plat/kvm/shutdown.c", "\tif (request == UKPLAT_CRASH)\n\t\tsfu_trace();",
         after=r"^void ukplat_terminate\(.*\)\s+\{"),
    Edit("unikraft/plat/kvm/arm/link64.lds.S", r"""
.sframe : ALIGN(8) { sframe_start = .; QUAD(0) . += 64 + SIZEOF(.eh_frame); . = ALIGN(8); sframe_end = .; }
""", after=r"^\s*EXCEPTION_SECTIONS"),
    Edit("unikraft/plat/kvm/Linker.uk", "\tsfu-gen -q --small $@",
         after=r"^\t\t\t\$\(KVM_LD_SCRIPT_FLAGS\) \\\n.*-o \$@\)"),
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
MANUAL += "CROSS_COMPILE=aarch64-linux-gnu-.\n"
OPTIONS = ["CONFIG_ARCH_ARM_64=y"] + [option for option in OPTIONS if "MULTIBOOT" not in option]
OBJECTS = ["app/build/libkvmplat/sfu_panic.o", "app/build/libkvmplat/sfu_trace.o"]
IMAGE = "app/build/app_qemu-arm64.dbg"
BOOT = ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a53", "-nographic", "-no-reboot", "-m", "128", "-kernel",
        "app/build/app_qemu-arm64"]
TRACE = HERE + " sfu_trace ukplat_terminate "
MAIN = "main do_main uk_boot_entry ??"
NEW = "$x"  # addr2line's name of _ctx_arm_clearregs, the first function of its assembly file
WAITER = "waiter ??"
SCENARIOS = [
    {"name": "page fault", "boot": ["-append", "app f"],
     "traces": [TRACE + "trap_el1_sync el1_sync !%leaf middle " + MAIN, NEW, WAITER, NEW]},
    {"name": "assertion", "boot": ["-append", "app a"], "traces": [TRACE + "fail " + MAIN, NEW, WAITER, NEW]},
    {"name": "panic in an interrupt", "boot": ["-append", "app i"],
     "traces": [TRACE + "generic_timer_irq_handler uk_intctlr_irq_handle gicv2_handle_irq el1_irq "
                "!ukplat_lcpu_enable_irq generic_timer_cpu_block_until time_block_until idle_thread_fn ??",
                MAIN, WAITER]},
]
