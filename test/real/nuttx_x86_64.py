# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""NuttX on qemu-intel64 with two CPUs: sfu is up_backtrace(), as on qemu-armv8a. The CFI of its exception entry names a
register that the handler changes, so the hook crosses it."""
from nuttx_armv8a import CONFIG, HELLO, IMAGE, SOURCES, TABLES, TASK_END, WALK
from real import HERE, TASK, Edit

TITLE = "NuttX, x86_64"
CPUS = 2
COPIES = {"sfu_panic.h": "nuttx/arch/x86_64/src/intel64/sfu_panic.h",
          "sfu_panic.c": "nuttx/arch/x86_64/src/intel64/sfu_panic.c"}
FLAGS = []
EDITS = [
    Edit("nuttx/arch/x86_64/src/intel64/sfu_backtrace.c", r"""
#include <nuttx/arch.h>
#include "sched/sched.h"
#include "x86_64_internal.h"
#include "sfu_panic.h"

extern const uint8_t sframe_start[], sframe_end[];

static struct sfu_registers saved(const void *regs)
{
  const uint64_t *r = regs;

  return (struct sfu_registers){.pc = r[REG_RIP], .sp = r[REG_RSP], .fp = r[REG_RBP]};
}

static bool on(struct sfu_stack *stack, uint64_t addr, const void *low, size_t size)
{
  *stack = (struct sfu_stack){low, (uintptr_t)low, (uintptr_t)low + size};
  return addr >= stack->low && addr <= stack->high;
}

static bool find_stack(void *task, uint64_t addr, struct sfu_stack *stack)
{
  const struct tcb_s *tcb = task;

  return on(stack, addr, tcb->stack_base_ptr, tcb->adj_stack_size) ||
         on(stack, addr, g_isrstackalloc + this_cpu() * IRQ_STACK_SIZE, IRQ_STACK_SIZE) ||
         on(stack, addr, g_intstackalloc + this_cpu() * IRQ_STACK_SIZE, IRQ_STACK_SIZE);
}
""" + WALK),
    Edit("nuttx/arch/x86_64/src/intel64/Make.defs", "CMN_CSRCS += sfu_panic.c sfu_backtrace.c",
         instead=r"^\s*CMN_CSRCS \+= intel64_backtrace_fp\.c\n"),
    Edit("nuttx/arch/x86_64/src/common/Toolchain.defs", "ARCHCFLAGS += -fasynchronous-unwind-tables",
         after=r"^ARCHCFLAGS \+= -fno-common"),
    Edit("nuttx/boards/x86_64/qemu/qemu-intel64/scripts/qemu.ld", "", instead=r"^\s*\*\(\.eh_frame\)\n"),
    Edit("nuttx/boards/x86_64/qemu/qemu-intel64/scripts/qemu.ld", r"""
.sframe : ALIGN(8) { sframe_start = .; QUAD(0) . += 64 + SIZEOF(.eh_frame); . = ALIGN(8); sframe_end = .; }
""", before=r"^\s*\.tdata_tbss ALIGN"),
    Edit("nuttx/boards/x86_64/qemu/qemu-intel64/scripts/qemu.ld", ".eh_frame (INFO) : { KEEP(*(.eh_frame)) }",
         before=r"^\s*\.stab 0"),
    Edit("nuttx/arch/x86_64/src/Makefile", "\t$(Q) sfu-gen -q --small $(NUTTX)",
         before=r"^\t\$\(Q\) \$\(NM\) \$\(NUTTX\)"),
    Edit("nuttx/arch/x86_64/Kconfig", "", instead=r"^\tselect FRAME_POINTER\n"),
]
FAULTS = HELLO
MANUAL = """
Board configuration qemu-intel64:nsh, applications in ../apps.
It needs kconfig-frontends-nox and genromfs. It takes a minute. It boots in QEMU >= 9.0: QEMU=PROGRAM.
"""
OPTIONS = [
    "CONFIG_SMP=y", "CONFIG_SMP_NCPUS=2", "CONFIG_ARCH_INTERRUPTSTACK=8192",
    "CONFIG_SCHED_BACKTRACE=y", "CONFIG_SYSTEM_DUMPSTACK=y", "CONFIG_MM_BACKTRACE=12", "CONFIG_MM_BACKTRACE_DEFAULT=y",
    # QEMU has no deadline timer and no PCID; run_machine() types a whole line at once.
    "CONFIG_ARCH_INTEL64_TSC=y", "CONFIG_ARCH_INTEL64_APIC_FREQ_KHZ=1000000", "CONFIG_USEC_PER_TICK=10000",
    "# CONFIG_ALARM_ARCH is not set", "# CONFIG_SCHED_TICKLESS is not set",
    "# CONFIG_ARCH_INTEL64_HAVE_PCID is not set", "CONFIG_16550_UART0_RXBUFSIZE=64", "CONFIG_NSH_DISABLE_DATE=y",
]
OBJECTS = ["nuttx/arch/x86_64/src/sfu_panic.o", "nuttx/arch/x86_64/src/sfu_backtrace.o"]
QEMU = 9, "an x2APIC"
BOOT = ["qemu-system-x86_64", "-cpu", "max", "-smp", "2", "-m", "2G", "-nographic", "-net", "none", "-no-reboot",
        "-kernel", "nuttx/nuttx"]
DUMP = "up_backtrace sched_dumpstack nxsched_foreach dump_tasks dump_fatal_info _assert"
INTERRUPT = "common_handler irq_handler irq_common"  # the last is the exception entry, which is assembly
NSH = "up_switch_context nxsig_clockwait nxsig_timedwait waittcb nxsched_waitpid waitpid nsh_builtin nsh_execute " \
    "nsh_parse_command nsh_session nsh_consolemain nsh_main nxtask_startup nxtask_start"
# Where nx_start would return to NuttX itself has put 0, and before nx_idle_trampoline is a jump. sched_backtrace
# ends in a jump, too: of the frames that the heap skips, malloc is one.
OTHERS = {
    0: ("up_idle nx_start", "up_switch_context sched_unlock nx_start"),
    1: "up_idle nx_idle_trampoline",
    3: NSH,
}
ALL = r"\| 3:[^\n]* (0x\w+) *\r?\n[^\n]*\| 4:(?s:.*?)\1 *\r?\n"  # the last task's trace ends as the one before
SCENARIOS = [
    {"name": "fault, with all tasks on both CPUs", "line": TASK, "until": ALL, "dialogue": [("nsh> ", "hello f\n")],
     "traces": {**OTHERS, 4: f"{HERE} {DUMP} x86_64_fault_panic_isr {INTERRUPT} leaf middle" + TASK_END}},
    {"name": "panic in an interrupt", "line": TASK, "until": ALL, "dialogue": [("nsh> ", "hello i\n")],
     "traces": {**OTHERS, 4: f"{HERE} {DUMP} __assert tick wd_expiration wd_timer intel64_timerisr {INTERRUPT} "
                "wait_for_it" + TASK_END}},
    {"name": "the heap's node of 54321 bytes", "line": r" (4) +54\d\d\d +\d+ +\d+ +0x[0-9a-f]+((?: 0x[0-9a-f]+)+)",
     "until": "Total Size", "dialogue": [("nsh> ", "hello h\n"), ("nsh> ", "echo 4 > /proc/memdump\n")],
     "traces": {4: "keep" + TASK_END}},
    {"name": "dumpstack of a blocked task", "line": TASK, "until": r"backtrace(?s:.*)nsh> ",
     "dialogue": [("nsh> ", "dumpstack 3\n")], "traces": {3: NSH}},
]
