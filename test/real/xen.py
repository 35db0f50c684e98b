# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Xen, the hypervisor alone, in its smallest configuration: Debian's compiler and linker, and sfu-gen behind the last
of its three links. It has no frame pointers, so that its own trace takes each word of the stack that looks like an
address of code. Its panic() prints sfu's trace too, also out of a fault, an NMI and an interrupt."""
from real import HERE, Edit

TITLE = "Xen, x86_64"
CPUS = 2
SOURCES = {".": "hypervisor/xen"}
COPIES = {"sfu_panic.h": "xen/common/sfu_panic.h", "sfu_panic.c": "xen/common/sfu_panic.c",
          "sfu_kernel.h": "xen/common/sfu_kernel.h", "sfu_kernel.c": "xen/common/sfu_kernel.c"}
FLAGS = ["EXTRA_CFLAGS_XEN_CORE=-g", "efi-y="]
EDITS = [
    Edit("xen/common/sfu_trace.c", r"""
#include <xen/mm.h>
#include "sfu_kernel.h"

extern const uint8_t sframe_start[], sframe_end[], common_interrupt[], autogen_entrypoints[];
void sfu_trace(void);

static void put(void *ctx, char c) { printk("%c", c); }
static struct sfu_kernel trace = {
    .panic = {.put = put, .image = "xen-syms"},
    .trap = {offsetof(struct cpu_user_regs, rip), offsetof(struct cpu_user_regs, rsp),
             offsetof(struct cpu_user_regs, rbp), 0, 0},
};

void sfu_trace(void)
{
    struct sfu_registers here = sfu_registers_here();
    const char *stack = (const char *)(here.sp & -(uint64_t)STACK_SIZE); /* this CPU's */

    trace.rest = (struct sfu_kernel_stack){stack, stack + STACK_SIZE, 0};
    trace.entries = (struct sfu_range){(uintptr_t)common_interrupt, (uintptr_t)autogen_entrypoints};
    sfu_kernel_init(&trace, sframe_start, sframe_end);
    sfu_kernel_panic(&trace, &here);
}
"""),
    Edit("xen/common/Makefile", r"""
obj-y += sfu_panic.o sfu_kernel.o sfu_trace.o
$(patsubst %,$(obj)/sfu_%.o,panic kernel trace): CFLAGS-y += '-DSFU_TYPES="xen/lib.h"' -DUINT64_MAX=~0ull
""", before=r"^obj-y \+= bitmap\.o"),
    Edit("xen/drivers/char/console.c", "void sfu_trace(void);", before=r"^void panic\("),
    Edit("xen/drivers/char/console.c", "    sfu_trace();", before=r"^    if \( opt_noreboot \)\n        printk"),
    Edit("xen/arch/x86/Makefile", "\tsfu-gen -q --small $@",
         after=r"^\t    \$\(orphan-handling-y\) \$\(@D\)/\.\$\(@F\)\.1\.o -o \$@$"),
    Edit("xen/arch/x86/xen.lds.S", r"""
DECL_SECTION(.sframe) {
    . = ALIGN(8); sframe_start = .;
    *(.sframe .sframe.*) QUAD(0) . += 64 + SIZEOF(.debug_frame) * 2 / 3; . = ALIGN(8); sframe_end = .;
} PHDR(text)
""", before=r"^#if defined\(CONFIG_PVH_GUEST\) && !defined\(EFI\)$"),
    # Nothing called what calls __start_xen and start_secondary; idle_loop has the stack for itself.
    Edit("xen/arch/x86/boot/x86_64.S", "\t.cfi_sections .debug_frame\n\t.cfi_startproc\n\t.cfi_undefined %rip",
         after=r"^ENTRY\(__high_start\)$"),
    Edit("xen/arch/x86/boot/x86_64.S", "\t.cfi_endproc", after=r"^        BUG     /\* __start_xen\(\)"),
    Edit("xen/arch/x86/domain.c", "    asm volatile ( \".cfi_undefined rip\" );",
         after=r"^    bool guest = !is_idle_domain\(current->sched_unit->domain\);"),
]
FAULTS = [
    Edit("xen/arch/x86/setup.c", r"""
#include <xen/tasklet.h>

static bool __initdata sfu_nmi;
boolean_param("sfu_nmi", sfu_nmi);
static volatile bool sfu_waits;
static int noinline sfu_leaf(volatile int *p)
{
    if ( !p )
    {
        outb('!', 0x3f8);
        sfu_waits = true;
        for ( ; ; );
    }
    *p = 1;
    return 2;
}
/* Its frame is found by RBP. */
static int noinline sfu_middle(volatile int *p)
{
    volatile char *a = __builtin_alloca(num_online_cpus());
    a[0] = 3;
    return sfu_leaf(p) + a[0];
}
static void cf_check sfu_wait(void *unused) { printk("%d\n", sfu_middle(NULL)); }
static DECLARE_SOFTIRQ_TASKLET(sfu_tasklet, sfu_wait, NULL);
static void cf_check sfu_called(void *info) { panic("hello\n"); }
""", before=r"^static struct domain \*__init create_dom0\("),
    Edit("xen/arch/x86/setup.c", r"""
    if ( num_online_cpus() > 1 )
    {
        tasklet_schedule_on_cpu(&sfu_tasklet, 1);
        while ( !sfu_waits )
            cpu_relax();
        on_selected_cpus(cpumask_of(1), sfu_called, NULL, 1);
    }
    if ( sfu_nmi )
    {
        printk("spinning\n");
        local_irq_disable();
    }
    printk("%d\n", sfu_middle(sfu_nmi ? NULL : (int *)(1ul << 40)));
""", before=r"^    dom0 = create_dom0\("),
]
BUILD = [
    "make -s -C xen XEN_TARGET_ARCH=x86_64 allnoconfig",
    "PATH={sfu}/build/tools:$PATH make -s -j2 -C xen XEN_TARGET_ARCH=x86_64 {flags}",
]
OBJECTS = ["xen/common/sfu_panic.o", "xen/common/sfu_kernel.o", "xen/common/sfu_trace.o"]
IMAGE = "xen/xen-syms"
TABLES = ".sframe"
# A kernel of dom0 must be there: it is not looked at.
OPTIONS = "com1=115200,8n1 console=com1 noreboot"
BOOT = ["qemu-system-x86_64", "-nographic", "-no-reboot", "-net", "none", "-m", "256", "-kernel", "xen/xen",
        "-initrd", "Config.mk", "-append", OPTIONS]
SCENARIOS = [
    {"name": "page fault",
     "traces": [HERE + " sfu_trace panic do_page_fault handle_exception_saved !sfu_leaf sfu_middle __start_xen "
                "__high_start"]},
    {"name": "NMI in a loop with interrupts off", "boot": ["-append", OPTIONS + " nmi=fatal sfu_nmi"],
     "dialogue": [(r"spinning\s+!", "\x01c"), (r"\(qemu\)", "nmi\n")],
     "traces": [HERE + " sfu_trace panic fatal_trap unknown_nmi_error do_nmi handle_ist_exception "
                "!sfu_leaf sfu_middle __start_xen __high_start"]},
    # do_softirq() ends with a jump.
    {"name": "panic in an interrupt of a tasklet on the second CPU", "boot": ["-smp", "2"],
     "traces": [HERE + " sfu_trace panic sfu_called smp_call_function_interrupt do_IRQ common_interrupt "
                "!sfu_leaf sfu_middle sfu_wait do_tasklet_work tasklet_softirq_action __do_softirq idle_loop"]},
]
