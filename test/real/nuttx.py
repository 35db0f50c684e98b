# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""NuttX on two boards of QEMU's, from folders of the user's."""
from real import HERE, TASK, Edit

ROOM = ".sframe : ALIGN(8) { sframe_start = .; QUAD(0) . += 64 + SIZEOF(.eh_frame); . = ALIGN(8); sframe_end = .; }"
TASK_END = " hello_main nxtask_startup nxtask_start"
WALK = r"""
/* The exception entry has no table. */
static int cross(void *task, const struct sfu_frame *frame, int code, struct sfu_interrupted *in)
{
  if (task != running_task() || !up_interrupt_context())
    return code;
  in->regs = saved(running_regs());
  return SFU_OK;
}

int up_backtrace(struct tcb_s *tcb, void **buffer, int size, int skip)
{
  struct tcb_s *task = tcb == NULL ? running_task() : tcb;
  struct sfu_target target = {.find_stack = find_stack, .trap_hook = cross, .ctx = task};
  struct sfu_section section;
  struct sfu_registers top = task == running_task() ? sfu_registers_here() : saved(task->xcp.regs);
  struct sfu_walk walk;
  int n = 0;
  int code = sfu_add(&target.sections, &section, 1, sframe_start, sframe_end - sframe_start, (uintptr_t)sframe_start);

  sfu_walk_start(&walk, &target, &top);
  for (; code == SFU_OK && n < size && walk.frame.regs.pc != 0; code = sfu_walk_step(&walk))
    if (skip-- <= 0)
      buffer[n++] = (void *)(uintptr_t)sfu_lookup_pc(&walk.frame.regs);
  return n;
}
"""
HELLO = [
    Edit("apps/examples/hello/hello_main.c", r"""
#include <assert.h>
#include <stdlib.h>
#include <unistd.h>
#include <nuttx/wdog.h>

static struct wdog_s timer;
void *hello_block;

static void tick(wdparm_t arg) { PANIC(); }
static __attribute__((noinline)) int leaf(volatile int *p) { *p = 1; return 2; }
static __attribute__((noinline)) int middle(volatile int *p) { return leaf(p) + 3; }
static __attribute__((noinline)) int keep(int n) { hello_block = malloc(n); return n + 1; }
static __attribute__((noinline)) int wait_for_it(void)
{
  wd_start(&timer, 3, tick, 0);
  for (volatile int i = 0;; i++)
    ;
  return 1;
}
""", before=r"^int main\("),
    Edit("apps/examples/hello/hello_main.c", r"""
  usleep(300000); /* the shell waits by then */
  if (argc > 1 && argv[1][0] == 'f')
    return middle((int *)(~0ul - 7)) + 1;
  if (argc > 1 && argv[1][0] == 'i')
    return wait_for_it() + 1;
  if (argc > 1 && argv[1][0] == 'h')
    return keep(54321) + 1;
""", before=r"^\s*printf\("),
]
ARM64_BACKTRACE = r"""
#include <nuttx/arch.h>
#include "sched/sched.h"
#include "arm64_internal.h"
#include "sfu_panic.h"

extern const uint8_t sframe_start[], sframe_end[];

static struct sfu_registers saved(const void *regs)
{
  const uint64_t *r = regs;

  return (struct sfu_registers){.pc = r[REG_ELR], .sp = r[REG_SP_ELX], .fp = r[REG_X29], .ra = r[REG_X30],
                                .has_ra = true};
}

static bool find_stack(void *task, uint64_t addr, struct sfu_stack *stack)
{
  const struct tcb_s *tcb = task;
  uintptr_t low = (uintptr_t)tcb->stack_base_ptr, high = low + tcb->adj_stack_size;

  if (addr < low || addr > high)
    {
      low = up_get_intstackbase(this_cpu());
      high = low + INTSTACK_SIZE;
    }
  *stack = (struct sfu_stack){(const uint8_t *)low, low, high};
  return addr >= low && addr <= high;
}
""" + WALK
X86_64_BACKTRACE = r"""
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

/* At the end of each stack are saved registers, so no SP is equal to high, which may be the low of another stack. */
static bool on(struct sfu_stack *stack, uint64_t addr, const void *low, size_t size)
{
  *stack = (struct sfu_stack){low, (uintptr_t)low, (uintptr_t)low + size};
  return addr >= stack->low && addr < stack->high;
}

static bool find_stack(void *task, uint64_t addr, struct sfu_stack *stack)
{
  const struct tcb_s *tcb = task;

  return on(stack, addr, tcb->stack_base_ptr, tcb->adj_stack_size) ||
         on(stack, addr, g_isrstackalloc + this_cpu() * IRQ_STACK_SIZE, IRQ_STACK_SIZE) ||
         on(stack, addr, g_intstackalloc + this_cpu() * IRQ_STACK_SIZE, IRQ_STACK_SIZE);
}
""" + WALK
SETTLE = [("nsh> ", "sleep 1\n")]  # until all others wait


# "or": the timer interrupts CPU 0, whichever the program runs on.
class NuttX:
    CPUS = 2
    SOURCES = {"nuttx": "$NUTTX", "apps": "$APPS"}
    FLAGS = []
    CONFIG = "nuttx/.config"
    IMAGE = "nuttx/nuttx"
    TABLES = ".sframe"


class armv8a(NuttX):
    """NuttX on qemu-armv8a with two CPUs: sfu is up_backtrace(), without frame pointers. So the crash dump, dumpstack
    and the heap's traces of each node have it. sfu-gen behind the link makes the tables. The board's configuration
    counts what is executed, in sfu too: hence its size."""
    TITLE = "NuttX, aarch64"
    COPIES = {"sfu_panic.h": "nuttx/arch/arm64/src/common/sfu_panic.h",
              "sfu_panic.c": "nuttx/arch/arm64/src/common/sfu_panic.c"}
    EDITS = [
        Edit("nuttx/arch/arm64/src/common/sfu_backtrace.c", ARM64_BACKTRACE),
        Edit("nuttx/arch/arm64/src/common/Make.defs", "CMN_CSRCS += sfu_panic.c sfu_backtrace.c",
             instead=r"^CMN_CSRCS \+= arm64_backtrace\.c\n"),
        Edit("nuttx/arch/arm64/src/Toolchain.defs", "ARCHCFLAGS += -fasynchronous-unwind-tables",
             before=r"^LDFLAGS \+= -nostdlib"),
        Edit("nuttx/boards/arm64/qemu/qemu-armv8a/scripts/dramboot.ld", ROOM + " :text", before=r"^\s*\.data : \{"),
        Edit("nuttx/boards/arm64/qemu/qemu-armv8a/scripts/dramboot.ld", ".eh_frame 0 (INFO) : { KEEP(*(.eh_frame)) }",
             before=r"^\s*\.comment 0"),
        Edit("nuttx/arch/arm64/src/Makefile", "\t$(Q) sfu-gen -q --small $(NUTTX)",
             before=r"^\t\$\(Q\) \$\(NM\) \$\(NUTTX\)"),
        Edit("nuttx/boards/arm64/qemu/qemu-armv8a/configs/nsh_smp/defconfig", "", instead=r"^CONFIG_FRAME_POINTER=y\n"),
    ]
    FAULTS = HELLO + [
        # Debian's compiler is for Linux: its library asks for the CPU's features.
        Edit("apps/examples/hello/hello_main.c", "unsigned long __getauxval(unsigned long type);\n"
             "unsigned long __getauxval(unsigned long type) { return 0; }", before=r"^int main\("),
    ]
    MANUAL = """Board configuration qemu-armv8a:nsh_smp, applications in ../apps, CROSSDEV=aarch64-linux-gnu-.
It needs kconfig-frontends-nox and genromfs. It takes a minute."""
    OPTIONS = ["CONFIG_SYSTEM_DUMPSTACK=y", "CONFIG_MM_BACKTRACE=12", "CONFIG_MM_BACKTRACE_DEFAULT=y"]
    OBJECTS = ["nuttx/arch/arm64/src/sfu_panic.o", "nuttx/arch/arm64/src/sfu_backtrace.o"]
    BOOT = ["qemu-system-aarch64", "-cpu", "cortex-a53", "-nographic", "-smp", "2", "-machine",
            "virt,virtualization=on,gic-version=3", "-net", "none", "-no-reboot", "-kernel", "nuttx/nuttx"]
    DUMP = "up_backtrace sched_backtrace sched_dumpstack dump_backtrace nxsched_foreach dump_tasks dump_fatal_info "
    # $x: the exception entry, which is assembly.
    IDLE = " arm64_boot_primary_c_routine switch_el"
    NSH = "sys_call0 nxsem_wait_slow nxsem_wait nxsched_waitpid waitpid nsh_builtin nsh_execute nsh_parse_command " \
        "nsh_parse nsh_session nsh_consolemain nsh_main nxtask_startup nxtask_start"
    OTHERS = {
        0: ("up_idle nx_start" + IDLE, "sys_call0 sched_unlock nx_start" + IDLE),
        1: "up_idle nx_idle_trampoline arm64_smp_init_top arm64_boot_secondary_c_routine switch_el",
        2: "sys_call0 nxsem_wait_slow nxsem_wait nxsem_wait_uninterruptible work_thread nxtask_start",
        4: NSH,
    }
    TICK = f"{HERE} {DUMP} _assert __assert tick wd_expiration wd_timer nxsched_process_timer oneshot_callback " \
        "oneshot_process_callback arm64_arch_timer_compare_isr irq_dispatch arm64_doirq arm64_decodeirq $x "
    SCENARIOS = [
        {"name": "fault, with all tasks on both CPUs", "line": TASK, "until": "never",
         "dialogue": SETTLE + [("nsh> ", "hello f\n")],
         "traces": {**OTHERS, 5: f"{HERE} {DUMP} _assert arm64_fatal_handler $x leaf middle" + TASK_END}},
        {"name": "panic in an interrupt", "line": TASK, "until": "never", "dialogue": SETTLE + [("nsh> ", "hello i\n")],
         "traces": {**OTHERS, 5: TICK + "wait_for_it" + TASK_END},
         "or": [{**OTHERS, 0: TICK + "up_idle nx_start" + IDLE, 5: "wait_for_it" + TASK_END}]},
        {"name": "the heap's node of 54,321 bytes", "line": r" (5) +54\d\d\d +\d+ +\d+ +0x[0-9a-f]+((?: 0x[0-9a-f]+)+)",
         "until": "Total Size", "dialogue": [("nsh> ", "hello h\n"), ("nsh> ", "echo 5 > /proc/memdump\n")],
         "traces": {5: "malloc keep" + TASK_END}},
        {"name": "dumpstack of a blocked task", "line": TASK, "until": r"backtrace(?s:.*)nsh> ",
         "dialogue": SETTLE + [("nsh> ", "sleep 99 &\n")] + SETTLE + [("nsh> ", "dumpstack 5\n")],
         "traces": {5: "sys_call0 nxsig_clockwait clock_nanosleep sleep cmd_sleep nsh_command nsh_execute "
                    "nsh_parse_command nsh_parse nsh_session nsh_system_ nsh_system_ctty sh_main nxtask_startup "
                    "nxtask_start"}},
    ]


class x86_64(NuttX):
    """NuttX on qemu-intel64 with two CPUs: sfu is up_backtrace(), as on qemu-armv8a. The CFI of its exception entry
    names a register that the handler changes, so the hook crosses it."""
    TITLE = "NuttX, x86_64"
    COPIES = {"sfu_panic.h": "nuttx/arch/x86_64/src/intel64/sfu_panic.h",
              "sfu_panic.c": "nuttx/arch/x86_64/src/intel64/sfu_panic.c"}
    EDITS = [
        Edit("nuttx/arch/x86_64/src/intel64/sfu_backtrace.c", X86_64_BACKTRACE),
        Edit("nuttx/arch/x86_64/src/intel64/Make.defs", "CMN_CSRCS += sfu_panic.c sfu_backtrace.c",
             instead=r"^\s*CMN_CSRCS \+= intel64_backtrace_fp\.c\n"),
        Edit("nuttx/arch/x86_64/src/common/Toolchain.defs", "ARCHCFLAGS += -fasynchronous-unwind-tables",
             after=r"^ARCHCFLAGS \+= -fno-common"),
        Edit("nuttx/boards/x86_64/qemu/qemu-intel64/scripts/qemu.ld", "", instead=r"^\s*\*\(\.eh_frame\)\n"),
        Edit("nuttx/boards/x86_64/qemu/qemu-intel64/scripts/qemu.ld", ROOM, before=r"^\s*\.tdata_tbss ALIGN"),
        Edit("nuttx/boards/x86_64/qemu/qemu-intel64/scripts/qemu.ld", ".eh_frame (INFO) : { KEEP(*(.eh_frame)) }",
             before=r"^\s*\.stab 0"),
        Edit("nuttx/arch/x86_64/src/Makefile", "\t$(Q) sfu-gen -q --small $(NUTTX)",
             before=r"^\t\$\(Q\) \$\(NM\) \$\(NUTTX\)"),
        Edit("nuttx/arch/x86_64/Kconfig", "", instead=r"^\tselect FRAME_POINTER\n"),
    ]
    FAULTS = HELLO
    MANUAL = """Board configuration qemu-intel64:nsh, applications in ../apps.
It needs kconfig-frontends-nox and genromfs. It takes a minute. It boots in QEMU >= 9.0: QEMU=PROGRAM."""
    OPTIONS = [
        "CONFIG_SMP=y", "CONFIG_SMP_NCPUS=2", "CONFIG_ARCH_INTERRUPTSTACK=8192",
        "CONFIG_SCHED_BACKTRACE=y", "CONFIG_SYSTEM_DUMPSTACK=y",
        "CONFIG_MM_BACKTRACE=12", "CONFIG_MM_BACKTRACE_DEFAULT=y",
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
    # ends in a jump, too: of the frames that the heap skips, malloc is one. So do nsh_parse, nsh_session and sh_main.
    OTHERS = {
        0: ("up_idle nx_start", "up_switch_context sched_unlock nx_start"),
        1: "up_idle nx_idle_trampoline",
        3: NSH,
    }
    # The last task's trace ends as the one before it.
    ALL = r"\| 3:[^\n]* (0x\w+) *\r?\n[^\n]*\| 4:(?s:.*?)\1 *\r?\n"
    TICK = f"{HERE} {DUMP} __assert tick wd_expiration wd_timer intel64_timerisr {INTERRUPT} "
    SCENARIOS = [
        {"name": "fault, with all tasks on both CPUs", "line": TASK, "until": ALL,
         "dialogue": SETTLE + [("nsh> ", "hello f\n")],
         "traces": {**OTHERS, 4: f"{HERE} {DUMP} x86_64_fault_panic_isr {INTERRUPT} leaf middle" + TASK_END}},
        {"name": "panic in an interrupt", "line": TASK, "until": ALL, "dialogue": SETTLE + [("nsh> ", "hello i\n")],
         "traces": {**OTHERS, 4: TICK + "wait_for_it" + TASK_END},
         "or": [{**OTHERS, 0: TICK + "up_idle nx_start", 4: "wait_for_it" + TASK_END}]},
        {"name": "the heap's node of 54,321 bytes", "line": r" (4) +54\d\d\d +\d+ +\d+ +0x[0-9a-f]+((?: 0x[0-9a-f]+)+)",
         "until": "Total Size", "dialogue": [("nsh> ", "hello h\n"), ("nsh> ", "echo 4 > /proc/memdump\n")],
         "traces": {4: "keep" + TASK_END}},
        {"name": "dumpstack of a blocked task", "line": TASK, "until": r"backtrace(?s:.*)nsh> ",
         "dialogue": SETTLE + [("nsh> ", "sleep 99 &\n")] + SETTLE + [("nsh> ", "dumpstack 4\n")],
         "traces": {4: "up_switch_context nxsig_clockwait clock_nanosleep sleep cmd_sleep nsh_command nsh_execute "
                    "nsh_parse_command nsh_system_ nsh_system_ctty nxtask_startup nxtask_start"}},
    ]
