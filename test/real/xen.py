# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Xen, the hypervisor alone, in its smallest configuration: Debian's compiler and linker, and sfu-gen behind the last
of its three links. It has no frame pointers, so that its own trace takes each word of the stack that looks like an
address of code. Its panic() prints sfu's trace too, also out of a fault, an NMI and an interrupt, names the function
that made a stack overflow, and stops the other CPUs by an NMI and prints their traces. Lines for the other CPUs end
with /* SMP */."""
import copy
import re

from real import HERE, Edit

TITLE = "Xen, x86_64"
CPUS = 2
SOURCES = {".": "hypervisor/xen"}
COPIES = {"sfu_panic.h": "xen/common/sfu_panic.h", "sfu_panic.c": "xen/common/sfu_panic.c",
          "sfu_kernel.h": "xen/common/sfu_kernel.h", "sfu_kernel.c": "xen/common/sfu_kernel.c"}
FLAGS = ["EXTRA_CFLAGS_XEN_CORE=-g", "efi-y="]
EDITS = [
    Edit("xen/common/sfu_trace.c", r"""
#include <xen/console.h>
#include <xen/mm.h>
#include <xen/smp.h>
#include <asm/nmi.h>
#include "sfu_kernel.h"

extern const uint8_t sframe_start[], sframe_end[], common_interrupt[], autogen_entrypoints[];
void sfu_trace(void);

static struct sfu_kernel_stack stacks[2 * NR_CPUS];
static struct sfu_kernel_cpu cpus[NR_CPUS]; /* SMP */
static struct sfu_kernel trace;

static void put(void *ctx, char c) { printk("%c", c); }
static unsigned int this(void *ctx) { return smp_processor_id(); } /* SMP */
static int cf_check stop(const struct cpu_user_regs *r, int cpu) { sfu_kernel_stop(&trace, r); return 0; } /* SMP */
static void stop_others(void *ctx) /* SMP */
{ /* SMP */
    set_nmi_callback(stop); /* SMP */
    smp_send_nmi_allbutself(); /* SMP */
    console_force_unlock(); /* SMP */
} /* SMP */
static struct sfu_kernel trace = {
    .panic = {.put = put, .image = "xen-syms", .sizes = sfu_print_size, .before = sfu_print_overflow},
    .trap = {offsetof(struct cpu_user_regs, rip), offsetof(struct cpu_user_regs, rsp),
             offsetof(struct cpu_user_regs, rbp), 0, 0},
    .stacks = stacks, .num_stacks = 2 * NR_CPUS,
    .cpus = cpus, .cpu_number = this, .stop_others = stop_others, /* SMP */
};

void sfu_trace(void)
{
    unsigned int cpu;

    for_each_online_cpu ( cpu ) /* the stacks of NMIs and double faults, a guard page, and the stack of all else */
    {
        const char *low = stack_base[cpu], *guard = low + PRIMARY_SHSTK_SLOT * PAGE_SIZE;

        stacks[2 * cpu] = (struct sfu_kernel_stack){low, guard, 0, PAGE_SIZE};
        stacks[2 * cpu + 1] = (struct sfu_kernel_stack){guard + PAGE_SIZE, low + STACK_SIZE, PAGE_SIZE, 0};
        trace.num_cpus = cpu + 1; /* SMP */
    }
    trace.entries = (struct sfu_range){(uintptr_t)common_interrupt, (uintptr_t)autogen_entrypoints};
    sfu_kernel_init(&trace, sframe_start, sframe_end);
    sfu_kernel_panic(&trace, NULL);
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
static bool __initdata sfu_overflow;
boolean_param("sfu_overflow", sfu_overflow);
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
/* Too large for the stack of a CPU. The lowest byte is in its guard page. */
static int noinline sfu_large(int n) { volatile char a[8000]; a[n - 1] = 1; return a[n]; }
static void cf_check sfu_overflows(void *unused) { printk("%d\n", sfu_large(num_online_cpus() - 1)); }
static DECLARE_SOFTIRQ_TASKLET(sfu_tasklet, sfu_wait, NULL);
static DECLARE_SOFTIRQ_TASKLET(sfu_tasklet_overflows, sfu_overflows, NULL);
static void cf_check sfu_called(void *info) { panic("hello\n"); }
/* The first CPU waits here with interrupts off. */
static void noinline sfu_spin(void) { local_irq_disable(); for ( ; ; ); }
""", before=r"^static struct domain \*__init create_dom0\("),
    Edit("xen/arch/x86/setup.c", r"""
    if ( sfu_overflow )
    {
        tasklet_schedule_on_cpu(&sfu_tasklet_overflows, 1);
        sfu_spin();
    }
    if ( num_online_cpus() > 1 )
    {
        tasklet_schedule_on_cpu(&sfu_tasklet, 1);
        while ( !sfu_waits )
            cpu_relax();
        on_selected_cpus(cpumask_of(1), sfu_called, NULL, 0);
        sfu_spin();
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
PANIC = HERE + " sfu_kernel_panic panic "  # sfu_trace() ends with a jump
SCENARIOS = [
    {"name": "page fault",
     "traces": [PANIC + "do_page_fault handle_exception_saved !sfu_leaf sfu_middle __start_xen __high_start"]},
    {"name": "NMI in a loop with interrupts off", "boot": ["-append", OPTIONS + " nmi=fatal sfu_nmi"],
     "dialogue": [(r"spinning\s+!", "\x01c"), (r"\(qemu\)", "nmi\n")],
     "traces": [PANIC + "fatal_trap unknown_nmi_error do_nmi handle_ist_exception "
                "!%sfu_leaf sfu_middle __start_xen __high_start"]},
    # do_softirq() ends with a jump.
    {"name": "panic in an interrupt of a tasklet on the second CPU", "boot": ["-smp", "2"], "says": ["CPU 0:$"],
     "traces": [PANIC + "sfu_called smp_call_function_interrupt do_IRQ common_interrupt "
                "!sfu_leaf sfu_middle sfu_wait do_tasklet_work tasklet_softirq_action __do_softirq idle_loop",
                "sfu_spin __start_xen __high_start"]},
    {"name": "stack overflow without recursion on the second CPU",
     "boot": ["-smp", "2", "-append", OPTIONS + " sfu_overflow"],
     "says": [r"stack overflow: \d frames use \d+ of 8192 bytes; the largest is frame 4, 80\d\d bytes: 0x\w+$",
              "CPU 0:$"],
     "traces": [PANIC + "do_double_fault double_fault !%sfu_large sfu_overflows do_tasklet_work "
                "tasklet_softirq_action __do_softirq idle_loop", "sfu_spin __start_xen __high_start"]},
]


# ---- the same without a hook ----

# How each entry is entered: with an error code, or a word in its place; without. All else jumps to these.
WITH_WORD = """page_fault double_fault invalid_TSS segment_not_present stack_segment general_protection
    alignment_check entry_CP common_interrupt handle_exception handle_ist_exception""".split()
WITHOUT = """divide_error coprocessor_error simd_coprocessor_error device_not_available debug int3 overflow bounds
    invalid_op nmi machine_check""".split()


HOOK = r", common_interrupt\[\], autogen_entrypoints\[\]|(?m:^.*trace\.entries = .*\n)"


def without_hook(edits):
    """EDITS, less what they say of exception entries and start-up code: sfu-gen reads their machine code."""
    lines = [name + ":error" for name in WITH_WORD] + WITHOUT + ["__high_start:start"]
    kept = [Edit("xen/arch/x86/sfu.entries", "\n".join(lines))]
    for edit in edits:
        if edit.file.endswith("boot/x86_64.S"):
            continue
        kept.append(copy.copy(edit))
        kept[-1].text = re.sub(HOOK, "", edit.text).replace(
            "sfu-gen -q --small", "sfu-gen -q --small --entry=@$(srctree)/arch/x86/sfu.entries")
    return kept


class derived:
    """The same by `sfu-gen --entry`: without a hook, and without a line in assembly."""
    TITLE = TITLE + ", entries by their machine code"
    CPUS, SOURCES, COPIES, FLAGS, FAULTS, BUILD, OBJECTS = CPUS, SOURCES, COPIES, FLAGS, FAULTS, BUILD, OBJECTS
    IMAGE, TABLES, BOOT, SCENARIOS = IMAGE, TABLES, BOOT, SCENARIOS
    EDITS = without_hook(EDITS)


class linked:  # pylint: disable=invalid-name
    """Xen, linked by sfu-link: no unwind flag, no line in the linker script, none in assembly. All stacks of a CPU lie
    in one piece of memory. The trace of a fault is by the registers that its entry has saved. panic() prints the trace
    of its own CPU; it crosses entries of interrupts and NMIs, and ends with SFU_E_NO_FDE in those of faults, of which
    sfu-link says that an option must name them (--entry), and in idle_loop, to which a CPU jumps."""
    TITLE = TITLE + ", by sfu-link"
    BUILD = [BUILD[0], BUILD[1].replace("{flags}", "LD='sfu-link ld' " + " ".join(FLAGS))]
    CPUS, SOURCES, FLAGS, FAULTS = CPUS, SOURCES, [], FAULTS
    COPIES = {"sfu_panic.h": "xen/common/sfu_panic.h", "sfu_panic.c": "xen/common/sfu_panic.c"}
    TYPES = "CFLAGS-y += '-DSFU_TYPES=\"xen/lib.h\"' -DUINT64_MAX=~0ull"
    MEMORY = "    sfu_panic_memory((void *)((unsigned long)get_cpu_info() & -STACK_SIZE), get_cpu_info());"
    EDITS = [
        Edit("xen/drivers/char/console.c", r"""
#include "../../common/sfu_panic.h"

static void put(void *ctx, char c) { printk("%c", c); }
""", before=r"^void __init console_init_postirq\(void\)$"),
        Edit("xen/drivers/char/console.c", "    sfu_panic_start(put);",
             after=r"^void __init console_init_postirq\(void\)\n\{$"),
        Edit("xen/drivers/char/console.c", MEMORY + "\n    sfu_panic_here();",
             before=r"^    if \( opt_noreboot \)\n        printk"),
        Edit("xen/arch/x86/traps.c", '#include "../../common/sfu_panic.h"',
             before=r"^void show_execution_state\(const struct cpu_user_regs \*regs\)$"),
        Edit("xen/arch/x86/traps.c", MEMORY + "\n    sfu_panic_trap(regs->rip, regs->rsp, regs->rbp, 0);",
             before=r"^    console_unlock_recursive_irqrestore\(flags\);\n\}\n\nvoid cf_check show_execution_state_"),
        Edit("xen/common/Makefile", "obj-y += sfu_panic.o\n" + TYPES, before=r"^obj-y \+= bitmap\.o"),
        Edit("xen/drivers/char/Makefile", TYPES),
        Edit("xen/arch/x86/Makefile", TYPES, before=r"^obj-y \+= traps\.o"),
    ]
    OBJECTS, IMAGE, TABLES, BOOT = ["xen/common/sfu_panic.o"], IMAGE, None, BOOT
    HERE = HERE + " sfu_panic_here panic "
    FAULT = "sfu_leaf sfu_middle __start_xen __high_start"
    TRACES = [[FAULT, HERE + "do_page_fault handle_exception_saved -13"],
              [FAULT, HERE + "fatal_trap unknown_nmi_error do_nmi handle_ist_exception !" + FAULT],
              [SCENARIOS[2]["traces"][0].replace("sfu_kernel_panic", "sfu_panic_here") + " -13"],
              [HERE + "do_double_fault double_fault -13"]]
    SCENARIOS = [{key: value for key, value in scenario.items() if key != "says"} | {"traces": traces}
                 for scenario, traces in zip(SCENARIOS, TRACES)]
