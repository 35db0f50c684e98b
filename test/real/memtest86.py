# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""memtest86+, of 64 bits: Debian's compiler and linker, and sfu-gen behind the link. It is position independent, and
moves itself while it tests: each copy is traced as what addr2line knows. Its exception handler showed twelve words of
the stack; now it prints the trace to the serial console."""
from real import Edit

TITLE = "memtest86+, x86_64"
CPUS = 1
SOURCES = {".": "memtest/memtest86+"}
COPIES = {"sfu_panic.h": "system/sfu_panic.h", "sfu_panic.c": "system/sfu_panic.c",
          "sfu_kernel.h": "system/sfu_kernel.h", "sfu_kernel.c": "system/sfu_kernel.c"}
FLAGS = []
EDITS = [
    # In the handler, which gets the trap frame.
    Edit("app/interrupt.c", r"""
#include "boot.h"
#include "../system/sfu_kernel.h"

extern const uint8_t sframe_start[], sframe_end[];
void serial_echo_print(const char *text);

static void put(void *ctx, char c) { serial_echo_print((char[]){c, 0}); }
static struct sfu_kernel trace = {
    .panic = {.put = put, .image = "memtest_shared"},
    .rest = {_stacks, _end, 0},
    .trap = {offsetof(struct trap_regs, ip), offsetof(struct trap_regs, sp), offsetof(struct trap_regs, bp), 0, 0},
};
""", before=r"^// Public Functions$"),
    Edit("app/interrupt.c", r"""
    trace.panic.slide = (uintptr_t)_start;
    sfu_kernel_init(&trace, sframe_start, sframe_end);
    sfu_kernel_fault(&trace, trap_regs, address);
""", instead=r'^    display_\w+\(0, 50, "Stack:"\);\n.*\{\n(?s:.*?)^    \}\n'),
    Edit("build64/Makefile", "SYS_OBJS += system/sfu_panic.o system/sfu_kernel.o", after=r"^\s+system/xhci\.o$"),
    Edit("build64/Makefile", "CFLAGS += -g -mno-red-zone -fasynchronous-unwind-tables", before=r"^INC_DIRS = "),
    Edit("build64/Makefile", "\tsfu-gen -q --small $@", after=r"^\t\$\(LD\) -shared "),
    Edit("build64/ldscripts/memtest_shared.lds", r"""
.sframe : ALIGN(8) {
    sframe_start = .; KEEP(*(.sframe .sframe.*)) QUAD(0) . += 64 + SIZEOF(.eh_frame); . = ALIGN(8); sframe_end = .;
}
""", before=r"^\s*\.dynsym "),
    Edit("build64/ldscripts/memtest_shared.lds", r"""
.eh_frame 0 (INFO) : { KEEP(*(.eh_frame)) }
.debug_info 0 : { *(.debug_info) } .debug_abbrev 0 : { *(.debug_abbrev) } .debug_line 0 : { *(.debug_line) }
.debug_str 0 : { *(.debug_str) } .debug_line_str 0 : { *(.debug_line_str) } .debug_rnglists 0 : { *(.debug_rnglists) }
""", before=r"^\s*/DISCARD/"),
    # Nothing called what calls main.
    Edit("boot/startup64.S", "\t.cfi_startproc\n\t.cfi_undefined %rip", after=r"^startup:"),
    Edit("boot/startup64.S", "\t.cfi_endproc", after=r"^\tcall\tmain"),
]
FAULTS = [
    Edit("tests/addr_walk1.c", r"""
#include "boot.h"

static __attribute__((noinline)) int leaf(volatile int *p) { *p = 1; return 2; }
static __attribute__((noinline)) int middle(volatile int *p) { return leaf(p) + 3; }
""", before=r"^int test_addr_walk1\("),
    # When it has moved to low memory.
    Edit("tests/addr_walk1.c", r"""
    if (my_cpu >= 0 && (uintptr_t)_start < 0x400000)
        return middle((int *)(1ul << 40)) + 1;
""", after=r"^int test_addr_walk1\(.*\)\s+\{"),
]
BUILD = ["cd build64 && PATH={sfu}/build/tools:$PATH make -j2 GIT=none memtest.bin"]
OBJECTS = ["build64/system/sfu_panic.o", "build64/system/sfu_kernel.o"]
IMAGE = "build64/memtest_shared"
TABLES = ".sframe"
BOOT = ["qemu-system-x86_64", "-display", "none", "-serial", "stdio", "-monitor", "none", "-no-reboot", "-net", "none",
        "-m", "64", "-kernel", "build64/memtest.bin", "-append", "console=ttyS0,115200 nopause nobench nosm"]
# A label of assembly is named as a function: in startup.
CALLS = "leaf middle test_addr_walk1 run_test test_all_windows main flush"
SCENARIOS = [
    {"name": "fault in a test that has moved", "traces": [CALLS]},
    {"name": "the same while another CPU waits", "boot": ["-smp", "2"], "traces": [CALLS]},
]


class linked:  # pylint: disable=invalid-name
    """memtest86+, of 64 bits, linked by sfu-link: no unwind flag, no line in the linker script, none in assembly. Its
    entries are found but for the label `flush`, which start-up code reaches by a far jump through memory: sfu-link says
    which option names it. memtest86+ moves itself while it tests. Its exception handler prints the trace."""
    TITLE = "memtest86+, x86_64, by sfu-link"
    CPUS, SOURCES, FLAGS, FAULTS = CPUS, SOURCES, [], FAULTS
    COPIES = {"sfu_panic.h": "system/sfu_panic.h", "sfu_panic.c": "system/sfu_panic.c"}
    EDITS = [
        Edit("app/interrupt.c", r"""
#include "../system/sfu_panic.h"

void serial_echo_print(const char *text);
static void put(void *ctx, char c) { (void)ctx; serial_echo_print((char[]){c, 0}); }
""", before=r"^// Public Functions$"),
        Edit("app/interrupt.c", r"""
    sfu_panic_start(put);
    sfu_panic_trap(trap_regs->ip, trap_regs->sp, trap_regs->bp, 0);
""", instead=r'^    display_\w+\(0, 50, "Stack:"\);\n.*\{\n(?s:.*?)^    \}\n'),
        Edit("build64/Makefile", "SYS_OBJS += system/sfu_panic.o", after=r"^\s+system/xhci\.o$"),
        Edit("build64/Makefile", "CFLAGS += -mno-red-zone", before=r"^INC_DIRS = "),
    ]
    BUILD = ["cd build64 && PATH={sfu}/build/tools:$PATH make -j2 GIT=none "
             "LD='sfu-link --entry=flush:start ld' memtest.bin"]
    OBJECTS = ["build64/system/sfu_panic.o"]
    IMAGE, TABLES, BOOT = IMAGE, None, BOOT
    # Without DWARF: by symbols, and without the function that is inlined.
    SCENARIOS = [{**scenario, "traces": ["leaf.constprop.0 middle.constprop.0 test_addr_walk1 run_test main flush"]}
                 for scenario in SCENARIOS]


class i386:  # pylint: disable=invalid-name
    """memtest86+, of 32 bits, linked by sfu-link, with nearly the lines of that of 64 bits. On a CPU of 64 bits it
    enters long mode, to reach more memory, and runs its 32-bit code there. Exceptions then enter 64-bit code of its
    image, which passes the handler the end of what the CPU has pushed: SP is a word of that."""
    TITLE = "memtest86+, i386, by sfu-link"
    CPUS, SOURCES, FLAGS, COPIES = CPUS, SOURCES, [], linked.COPIES
    EDITS = linked.EDITS[:1] + [
        Edit("app/interrupt.c", r"""
    sfu_panic_start(put);
    reg_t sp = cpuid_info.flags.lm ? *(reg_t *)(trap_regs->sp - 16) : trap_regs->sp;
    sfu_panic_trap(trap_regs->ip, sp, trap_regs->bp, 0);
""", instead=linked.EDITS[1].pattern),
        Edit("build32/Makefile", "SYS_OBJS += system/sfu_panic.o", after=r"^\s+system/xhci\.o$"),
    ]
    # Each address is mapped there.
    FAULTS = [Edit(edit.file, edit.text.replace("*p = 1; return 2;", "return 2 / *p;")
                   .replace("(int *)(1ul << 40)", "&(volatile int){0}"), before=edit.pattern if i == 0 else None,
                   after=edit.pattern if i == 1 else None) for i, edit in enumerate(FAULTS)]
    # The labels of gcc's tables of jumps are symbols there, which addr2line would take for functions.
    BUILD = [linked.BUILD[0].replace("build64", "build32"), "objcopy --discard-locals build32/memtest_shared"]
    OBJECTS = ["build32/system/sfu_panic.o"]
    IMAGE, TABLES = "build32/memtest_shared", None
    BOOT = [part.replace("build64", "build32") for part in BOOT]
    CALLS = "leaf middle test_addr_walk1 run_test main init_idt_descr"
    SCENARIOS = [
        {"name": "fault in a test that has moved", "boot": ["-cpu", "qemu32"], "traces": [CALLS]},
        {"name": "the same in long mode, while another CPU waits", "boot": ["-smp", "2"], "traces": [CALLS]},
    ]
