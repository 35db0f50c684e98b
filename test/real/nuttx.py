# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""NuttX on two boards of QEMU's, from folders of the user's."""
from real import HERE, TASK, Edit

ROOM = ".sframe : ALIGN(8) { sframe_start = .; QUAD(0) . += 64 + SIZEOF(.eh_frame); . = ALIGN(8); sframe_end = .; }"
TASK_END = " hello_main nxtask_startup nxtask_start"
# What the boards differ in has a name.
BACKTRACE = r"""
#include "sched/sched.h"
#include "%(internal)s"
#include "sfu_kernel.h"

extern const uint8_t sframe_start[], sframe_end[]%(symbols)s;

static void put(void *ctx, char c) { up_putc(c); }
%(trap)s
static enum sfu_kernel_state of(const void *t) { return t == running_task() ? SFU_KERNEL_RUNS : SFU_KERNEL_WAITS; }
static const struct sfu_kernel_stack stacks[] = {%(stacks)s};
static struct sfu_kernel trace = {
  .panic = {.put = put, .image = "nuttx", .sizes = sfu_print_size, .before = sfu_print_overflow},
  .stacks = stacks, .num_stacks = sizeof(stacks) / sizeof(stacks[0]), .guard_is_memory = true, .zero_ends = true,
%(entries)s  .switched = {%(registers)s, 0},
  .threads = {.pointers = true, .sp = offsetof(struct tcb_s, xcp.regs), .number = offsetof(struct tcb_s, pid),
              .name = offsetof(struct tcb_s, name), .stack_low = SFU_KERNEL_POINTER(struct tcb_s, stack_base_ptr),
              .stack_size_at = offsetof(struct tcb_s, adj_stack_size), .guard = CONFIG_DEFAULT_TASK_STACKSIZE,
              .state = of},
};

static struct sfu_kernel *ready(void)
{
  trace.threads.num = g_npidhash;
  trace.threads.array = g_pidhash;
  if (trace.panic.own.ctx == NULL)
    sfu_kernel_init(&trace, sframe_start, sframe_end);
  return &trace;
}

int up_backtrace(struct tcb_s *tcb, void **buffer, int size, int skip)
{
  return sfu_kernel_backtrace(ready(), tcb == running_task() ? NULL : tcb, buffer, size, skip);
}

void board_crashdump(uintptr_t sp, struct tcb_s *tcb, const char *file, int line, const char *msg, void *regs)
{
  sfu_kernel_panic(ready(), NULL);
  sfu_kernel_print_threads(&trace);
}
"""
HELLO = [
    Edit("apps/examples/hello/hello_main.c", r"""
#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include <nuttx/wdog.h>

static struct wdog_s timer;
void *hello_block;

static void tick(wdparm_t arg) { PANIC(); }
static __attribute__((noinline)) int leaf(volatile int *p) { *p = 1; return 2; }
static __attribute__((noinline)) int middle(volatile int *p) { return leaf(p) + 3; }
static __attribute__((noinline)) int large(volatile int *p)
{
  volatile char a[CONFIG_DEFAULT_TASK_STACKSIZE];
  a[0] = 1;
  return leaf(p) + a[0];
}
static int overflows(int argc, char *argv[]) { return large((int *)(~0ul - 7)) + 1; }
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
  if (argc > 1 && argv[1][0] == 'o')
    {
      hello_block = malloc((1 << 20) + CONFIG_DEFAULT_TASK_STACKSIZE); /* below the new stack */
      task_create("large", 100, CONFIG_DEFAULT_TASK_STACKSIZE, overflows, NULL);
      sleep(99);
    }
  if (argc > 1 && argv[1][0] == 'i')
    return wait_for_it() + 1;
  if (argc > 1 && argv[1][0] == 'h')
    return keep(54321) + 1;
""", before=r"^\s*printf\("),
]
ARM64_REGISTERS = "8 * REG_ELR, 8 * REG_SP_ELX, 8 * REG_X29, 8 * REG_X30"
ARM64_BACKTRACE = BACKTRACE % {
    "internal": "arm64_internal.h",
    "symbols": ", arm64_sync_exc[], arm64_fiq_handler[]",
    "trap": "static const void *current_trap(void *ctx) { return up_interrupt_context() ? running_regs() : NULL; }",
    "stacks": "\n  {g_interrupt_stacks, g_interrupt_stacks + CONFIG_SMP_NCPUS, 0, sizeof(g_interrupt_stacks[0])}",
    "entries": f"  .trap = {{{ARM64_REGISTERS}, 0}}, .current_trap = current_trap,\n"
               "  .entries = {(uintptr_t)arm64_sync_exc, (uintptr_t)arm64_fiq_handler},\n",
    "registers": ARM64_REGISTERS,
}
X86_64_BACKTRACE = BACKTRACE % {
    "internal": "x86_64_internal.h",
    "symbols": "",
    "trap": "",
    "stacks": "\n  {g_isrstackalloc, g_isrstackalloc + CONFIG_SMP_NCPUS * IRQ_STACK_SIZE, 0, IRQ_STACK_SIZE},\n"
              "  {g_intstackalloc, g_intstackalloc + CONFIG_SMP_NCPUS * IRQ_STACK_SIZE, 0, IRQ_STACK_SIZE}",
    "entries": "",
    "registers": "8 * REG_RIP, 8 * REG_RSP, 8 * REG_RBP, 0",
}
# More than a stack's size, and the same in the frame's own line.
OVERFLOW = r"^stack overflow: \d+ frames use \d+ of (?:16|4194)\d{3} bytes; " \
    r"the largest is frame (\d+), ((?:16|4194)\d{3}) bytes: 0x(\w+)$(?s:.*)^#\1 +0x0*\3  \[\2 bytes\]$"
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
    and the heap's traces of each node have it. It is also board_crashdump(), which names the function that made a
    stack overflow and prints the traces of all tasks; NuttX itself stops the other CPUs. sfu-gen behind the link makes
    the tables, also of the start-up code. The board's configuration counts what is executed, in sfu too: hence its
    size."""
    TITLE = "NuttX, aarch64"
    COPIES = {"sfu_panic.h": "nuttx/arch/arm64/src/common/sfu_panic.h",
              "sfu_panic.c": "nuttx/arch/arm64/src/common/sfu_panic.c",
              "sfu_kernel.h": "nuttx/arch/arm64/src/common/sfu_kernel.h",
              "sfu_kernel.c": "nuttx/arch/arm64/src/common/sfu_kernel.c"}
    EDITS = [
        Edit("nuttx/arch/arm64/src/common/sfu_backtrace.c", ARM64_BACKTRACE),
        Edit("nuttx/arch/arm64/src/common/Make.defs", "CMN_CSRCS += sfu_panic.c sfu_kernel.c sfu_backtrace.c",
             instead=r"^CMN_CSRCS \+= arm64_backtrace\.c\n"),
        Edit("nuttx/arch/arm64/src/Toolchain.defs", "ARCHCFLAGS += -fasynchronous-unwind-tables",
             before=r"^LDFLAGS \+= -nostdlib"),
        Edit("nuttx/boards/arm64/qemu/qemu-armv8a/scripts/dramboot.ld", ROOM + " :text", before=r"^\s*\.data : \{"),
        Edit("nuttx/boards/arm64/qemu/qemu-armv8a/scripts/dramboot.ld", ".eh_frame 0 (INFO) : { KEEP(*(.eh_frame)) }",
             before=r"^\s*\.comment 0"),
        Edit("nuttx/arch/arm64/src/Makefile", "\t$(Q) sfu-gen -q --small --entry=switch_el:start $(NUTTX)",
             before=r"^\t\$\(Q\) \$\(NM\) \$\(NUTTX\)"),
        Edit("nuttx/boards/arm64/qemu/qemu-armv8a/configs/nsh_smp/defconfig", "CONFIG_BOARD_CRASHDUMP_CUSTOM=y",
             instead=r"^CONFIG_FRAME_POINTER=y\n"),
    ]
    FAULTS = HELLO + [
        # Debian's compiler is for Linux: its library asks for the CPU's features.
        Edit("apps/examples/hello/hello_main.c", "unsigned long __getauxval(unsigned long type);\n"
             "unsigned long __getauxval(unsigned long type) { return 0; }", before=r"^int main\("),
    ]
    MANUAL = """Board configuration qemu-armv8a:nsh_smp, applications in ../apps, CROSSDEV=aarch64-linux-gnu-.
It needs kconfig-frontends-nox and genromfs. It takes a minute."""
    OPTIONS = ["CONFIG_SYSTEM_DUMPSTACK=y", "CONFIG_MM_BACKTRACE=12", "CONFIG_MM_BACKTRACE_DEFAULT=y"]
    OBJECTS = [f"nuttx/arch/arm64/src/sfu_{part}.o" for part in ("panic", "kernel", "backtrace")]
    BOOT = ["qemu-system-aarch64", "-cpu", "cortex-a53", "-nographic", "-smp", "2", "-machine",
            "virt,virtualization=on,gic-version=3", "-net", "none", "-no-reboot", "-kernel", "nuttx/nuttx"]
    DUMP = HERE + " sfu_kernel_backtrace up_backtrace sched_backtrace sched_dumpstack dump_backtrace nxsched_foreach " \
        "dump_tasks dump_fatal_info _assert "
    PANIC = HERE + " sfu_kernel_panic board_crashdump dump_fatal_info _assert "
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
    # The outermost frame of a task would return to 0, which an array of PCs leaves out.
    PRINTED = [OTHERS[0], OTHERS[1], OTHERS[2] + " ??", OTHERS[4] + " ??"]
    FATAL = "arm64_fatal_handler $x "
    TICK = "__assert tick wd_expiration wd_timer nxsched_process_timer oneshot_callback oneshot_process_callback " \
        "arm64_arch_timer_compare_isr irq_dispatch arm64_doirq arm64_decodeirq $x "
    SCENARIOS = [
        {"name": "fault, with all tasks on both CPUs", "line": TASK, "dialogue": SETTLE + [("nsh> ", "hello f\n")],
         "traces": {**OTHERS, 5: DUMP + FATAL + "leaf middle" + TASK_END,
                    "printed": [PANIC + FATAL + "!leaf middle" + TASK_END + " ??"] + PRINTED}},
        {"name": "panic in an interrupt", "line": TASK, "dialogue": SETTLE + [("nsh> ", "hello i\n")],
         "traces": {**OTHERS, 5: DUMP + TICK + "wait_for_it" + TASK_END,
                    "printed": [PANIC + TICK + "!%wait_for_it" + TASK_END + " ??"] + PRINTED},
         "or": [{**OTHERS, 0: DUMP + TICK + "up_idle nx_start" + IDLE, 5: "wait_for_it" + TASK_END,
                 "printed": [PANIC + TICK + "!%up_idle nx_start" + IDLE] + PRINTED[1:]
                 + ["wait_for_it" + TASK_END + " ??"]}]},
        {"name": "stack overflow without recursion", "dialogue": SETTLE + [("nsh> ", "hello o\n")], "says": [OVERFLOW],
         "traces": [PANIC + FATAL + "!leaf large overflows nxtask_startup nxtask_start ??"] + PRINTED
         + ["sys_call0 nxsig_clockwait clock_nanosleep sleep" + TASK_END + " ??"]},
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
    """NuttX on qemu-intel64 with two CPUs, as on qemu-armv8a. The CFI of its exception entries names a register that
    the handler changes, so sfu-gen makes the tables of their machine code."""
    TITLE = "NuttX, x86_64"
    COPIES = {"sfu_panic.h": "nuttx/arch/x86_64/src/intel64/sfu_panic.h",
              "sfu_panic.c": "nuttx/arch/x86_64/src/intel64/sfu_panic.c",
              "sfu_kernel.h": "nuttx/arch/x86_64/src/intel64/sfu_kernel.h",
              "sfu_kernel.c": "nuttx/arch/x86_64/src/intel64/sfu_kernel.c"}
    EDITS = [
        Edit("nuttx/arch/x86_64/src/intel64/sfu_backtrace.c", X86_64_BACKTRACE),
        Edit("nuttx/arch/x86_64/src/intel64/Make.defs", "CMN_CSRCS += sfu_panic.c sfu_kernel.c sfu_backtrace.c",
             instead=r"^\s*CMN_CSRCS \+= intel64_backtrace_fp\.c\n"),
        Edit("nuttx/arch/x86_64/src/common/Toolchain.defs", "ARCHCFLAGS += -fasynchronous-unwind-tables",
             after=r"^ARCHCFLAGS \+= -fno-common"),
        Edit("nuttx/boards/x86_64/qemu/qemu-intel64/scripts/qemu.ld", "", instead=r"^\s*\*\(\.eh_frame\)\n"),
        Edit("nuttx/boards/x86_64/qemu/qemu-intel64/scripts/qemu.ld", ROOM, before=r"^\s*\.tdata_tbss ALIGN"),
        Edit("nuttx/boards/x86_64/qemu/qemu-intel64/scripts/qemu.ld", ".eh_frame (INFO) : { KEEP(*(.eh_frame)) }",
             before=r"^\s*\.stab 0"),
        # With error codes where the kernel expects them. Its .debug_frame describes what all vectors jump to.
        Edit("nuttx/arch/x86_64/src/Makefile",
             "\t$(Q) sfu-gen -q --small --from=eh_frame --entry='vector_i*' --entry=vector_isr8:error "
             "--entry='vector_isr1[0-4]:error' $(NUTTX)",
             before=r"^\t\$\(Q\) \$\(NM\) \$\(NUTTX\)"),
        Edit("nuttx/arch/x86_64/Kconfig", "", instead=r"^\tselect FRAME_POINTER\n"),
        Edit("nuttx/boards/x86_64/qemu/qemu-intel64/configs/nsh/defconfig", "CONFIG_BOARD_CRASHDUMP_CUSTOM=y"),
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
    OBJECTS = [f"nuttx/arch/x86_64/src/sfu_{part}.o" for part in ("panic", "kernel", "backtrace")]
    QEMU = 9, "an x2APIC"
    BOOT = ["qemu-system-x86_64", "-cpu", "max", "-smp", "2", "-m", "2G", "-nographic", "-net", "none", "-no-reboot",
            "-kernel", "nuttx/nuttx"]
    DUMP = HERE + " sfu_kernel_backtrace up_backtrace sched_dumpstack nxsched_foreach dump_tasks dump_fatal_info " \
        "_assert "
    PANIC = HERE + " sfu_kernel_panic board_crashdump dump_fatal_info _assert "
    INTERRUPT = "common_handler irq_handler irq_common "  # the last is the exception entry, which is assembly
    NSH = "up_switch_context nxsig_clockwait nxsig_timedwait waittcb nxsched_waitpid waitpid nsh_builtin nsh_execute " \
        "nsh_parse_command nsh_session nsh_consolemain nsh_main nxtask_startup nxtask_start"
    # Where nx_start would return to NuttX itself has put 0, and before nx_idle_trampoline is a jump. sched_backtrace
    # ends in a jump, too: of the frames that the heap skips, malloc is one. So do nsh_parse, nsh_session and sh_main.
    OTHERS = {
        0: ("up_idle nx_start", "up_switch_context sched_unlock nx_start"),
        1: "up_idle nx_idle_trampoline",
        3: NSH,
    }
    PRINTED = [tuple(idle + " ??" for idle in OTHERS[0]), OTHERS[1] + " ??", OTHERS[3] + " ??"]
    FATAL = "x86_64_fault_panic_isr " + INTERRUPT
    TICK = "__assert tick wd_expiration wd_timer intel64_timerisr " + INTERRUPT
    SCENARIOS = [
        {"name": "fault, with all tasks on both CPUs", "line": TASK, "dialogue": SETTLE + [("nsh> ", "hello f\n")],
         "traces": {**OTHERS, 4: DUMP + FATAL + "leaf middle" + TASK_END,
                    "printed": [PANIC + FATAL + "!%leaf middle" + TASK_END + " ??"] + PRINTED}},
        {"name": "panic in an interrupt", "line": TASK, "dialogue": SETTLE + [("nsh> ", "hello i\n")],
         "traces": {**OTHERS, 4: DUMP + TICK + "wait_for_it" + TASK_END,
                    "printed": [PANIC + TICK + "!%wait_for_it" + TASK_END + " ??"] + PRINTED},
         "or": [{**OTHERS, 0: DUMP + TICK + "up_idle nx_start", 4: "wait_for_it" + TASK_END,
                 "printed": [PANIC + TICK + "!%up_idle nx_start ??"] + PRINTED[1:]
                 + ["wait_for_it" + TASK_END + " ??"]}]},
        {"name": "stack overflow without recursion", "dialogue": SETTLE + [("nsh> ", "hello o\n")], "says": [OVERFLOW],
         "traces": [PANIC + FATAL + "!%leaf large overflows nxtask_startup nxtask_start ??"] + PRINTED
         + ["up_switch_context nxsig_clockwait clock_nanosleep sleep" + TASK_END + " ??"]},
        {"name": "the heap's node of 54,321 bytes", "line": r" (4) +54\d\d\d +\d+ +\d+ +0x[0-9a-f]+((?: 0x[0-9a-f]+)+)",
         "until": "Total Size", "dialogue": [("nsh> ", "hello h\n"), ("nsh> ", "echo 4 > /proc/memdump\n")],
         "traces": {4: "keep" + TASK_END}},
        {"name": "dumpstack of a blocked task", "line": TASK, "until": r"backtrace(?s:.*)nsh> ",
         "dialogue": SETTLE + [("nsh> ", "sleep 99 &\n")] + SETTLE + [("nsh> ", "dumpstack 4\n")],
         "traces": {4: "up_switch_context nxsig_clockwait clock_nanosleep sleep cmd_sleep nsh_command nsh_execute "
                    "nsh_parse_command nsh_system_ nsh_system_ctty nxtask_startup nxtask_start"}},
    ]
