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
#include "sfu_kernel.h"

extern const uint8_t sframe_start[], sframe_end[]%(symbols)s;

static void put(void *ctx, char c) { uk_console_out(&c, 1); }
static enum sfu_kernel_state state_of(const void *thread)
{
	uint64_t at = ((const struct uk_thread *)thread)->ctx.ip - (uintptr_t)ukarch_ctx_switch;

	return thread == uk_thread_current() ? SFU_KERNEL_RUNS : at < 64 ? SFU_KERNEL_WAITS : SFU_KERNEL_NEW;
}
%(stacks)s
static struct sfu_kernel trace = {
	.panic = {.put = put, .image = "app.dbg", .sizes = sfu_print_size, .before = sfu_print_overflow},
	.stacks = stacks, .num_stacks = sizeof(stacks) / sizeof(stacks[0]), .zero_ends = true, /* of new threads */
	.rest = {(void *)%(low)s, (void *)%(high)s, 0}, /* %(bounds)s */
%(trap)s	.switched = %(switched)s,
	.threads = {.next = offsetof(struct uk_thread, thread_list), .sp = offsetof(struct uk_thread, ctx.sp),
		    .stack_low = SFU_KERNEL_POINTER(struct uk_thread, _mem.stack), .stack_size = __STACK_SIZE,
		    .name = offsetof(struct uk_thread, name), .name_is_pointer = true,
		    .number = SFU_KERNEL_NOT_SAVED, .state = state_of},
};

void sfu_trace(void)
{
	struct uk_thread *now = uk_thread_current();
%(entries)s	trace.threads.list = now ? (void *const *)&now->sched->thread_list : NULL;
	sfu_kernel_init(&trace, sframe_start, sframe_end);
	sfu_kernel_panic(&trace, NULL);
	sfu_kernel_print_threads(&trace);
}
"""
X86_64_WALK = WALK % {
    "symbols": ";\nextern const char cpu_intr_stack[], cpu_trap_stack[]",
    "stacks": "static const struct sfu_kernel_stack stacks[] = {\n"
              "\t{cpu_intr_stack, cpu_intr_stack + __CPU_EXCEPT_STACK_SIZE, 0},\n"
              "\t{cpu_trap_stack, cpu_trap_stack + __CPU_EXCEPT_STACK_SIZE, 0}};",
    "bounds": "The boot's page tables map 4 GiB.",
    "low": "0x1000",
    "high": "0x100000000",
    "trap": "",
    "switched": "{48, SFU_KERNEL_NOT_SAVED, 40, SFU_KERNEL_NOT_SAVED, 56}",
    "entries": "",
}
ARM64_WALK = WALK % {
    "symbols": ", el1_sync[], vector_table[]",
    "stacks": "static struct sfu_kernel_stack stacks[1];",
    "bounds": "128 MiB of memory",
    "low": "0x40000000",
    "high": "0x48000000",
    "trap": "\t.trap = {offsetof(struct __regs, elr_el1), offsetof(struct __regs, sp),\n"
            "\t\t offsetof(struct __regs, x[29]), offsetof(struct __regs, lr), 0},\n",
    "switched": "{88, SFU_KERNEL_NOT_SAVED, 80, SFU_KERNEL_NOT_SAVED, 112}",
    "entries": "\tconst char *mid = (const char *)SYSREG_READ64(sp_el0);\n\n"
               "\tstacks[0] = (struct sfu_kernel_stack){mid - __CPU_EXCEPT_STACK_SIZE, mid + __CPU_EXCEPT_STACK_SIZE, "
               "0, __CPU_EXCEPT_STACK_SIZE};\n"
               "\ttrace.entries = (struct sfu_range){(uintptr_t)el1_sync, (uintptr_t)vector_table};\n",
}
TRACE = HERE + " sfu_kernel_panic sfu_trace ukplat_terminate "
WAITER = "waiter ??"  # 0 is what a thread's function would return to
BOTH = [
    Edit("unikraft/plat/kvm/Makefile.uk", r"""
LIBKVMPLAT_SRCS-y += $(addprefix $(UK_PLAT_COMMON_BASE)/sfu_,panic.c kernel.c trace.c)
$(foreach part,PANIC KERNEL TRACE,$(eval LIBKVMPLAT_SFU_$(part)_FLAGS-y += -Os))
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
    COPIES = {"sfu_panic.h": "unikraft/include/sfu_panic.h", "sfu_panic.c": "unikraft/plat/common/sfu_panic.c",
              "sfu_kernel.h": "unikraft/include/sfu_kernel.h", "sfu_kernel.c": "unikraft/plat/common/sfu_kernel.c"}
    FLAGS = []
    CONFIG = "app/.config"
    OPTIONS = ["CONFIG_PLAT_KVM=y", "CONFIG_LIBUKSCHEDCOOP=y", "CONFIG_OPTIMIZE_DEADELIM=y",
               "CONFIG_LIBUKBOOT_BANNER_NONE=y", "# CONFIG_OPTIMIZE_NOOMITFP is not set",
               "# CONFIG_LIBUKRANDOM is not set"]
    MANUAL = "The application is the folder app beside unikraft; A= needs its whole path. It needs flex and bison."
    OBJECTS = [f"app/build/libkvmplat/sfu_{part}.o" for part in ("panic", "kernel", "trace")]
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
    SCENARIOS = [
        {"name": "page fault", "boot": ["-append", "f"],
         "traces": [TRACE + "do_page_fault asm_trap_page_fault !%leaf middle " + MAIN, WAITER]},
        {"name": "assertion", "boot": ["-append", "a"], "traces": [TRACE + "fail " + MAIN, WAITER],
         "until": r"trace of \d never: has not run yet\r?\n"},
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
        # A thread's function returns to 0, not to itself.
        Edit("unikraft/arch/arm/arm64/ctx.S", "mov x16, x30\nmov x30, xzr\nbr x16",
             after=r"^ENTRY\(_ctx_arm_call1\)(?s:.*?)ldr x30, \[sp\], #16"),
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
    SCENARIOS = [
        {"name": "page fault", "boot": ["-append", "app f"],
         "traces": [TRACE + "trap_el1_sync el1_sync !%leaf middle " + MAIN, WAITER]},
        {"name": "assertion", "boot": ["-append", "app a"], "traces": [TRACE + "fail " + MAIN, WAITER],
         "until": r"trace of \d never: has not run yet\r?\n"},
        {"name": "panic in an interrupt", "boot": ["-append", "app i"],
         "traces": [TRACE + "generic_timer_irq_handler uk_intctlr_irq_handle gicv2_handle_irq el1_irq "
                    "!%ukplat_lcpu_enable_irq generic_timer_cpu_block_until time_block_until idle_thread_fn ??",
                    MAIN, WAITER]},
    ]
