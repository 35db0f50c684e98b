# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""s390-ccw, the firmware in QEMU's sources: position independent, without a linker script of its own. sfu-gen makes the
tables. It had a wait state for program interruptions; now they print a trace, and so does a panic."""
from real import HERE, Edit

TITLE = "s390-ccw, s390x"
CPUS = 1
SOURCES = {".": "kernels/s390-ccw"}
COPIES = {name: name for name in ("sfu_panic.h", "sfu_panic.c", "sfu_kernel.h", "sfu_kernel.c")}
FLAGS = []
EDITS = [
    Edit("sfu_trace.c", r"""
#include "sfu_kernel.h"

extern const uint8_t sframe_start[], sframe_end[], __executable_start[], stack[];
void sclp_print(const char *text);
void disabled_wait(void);

static void put(void *ctx, char c) { sclp_print((char[]){c, 0}); }
/* The CPU stores the old PSW at 0x150, and start.S the registers at 0x280, where a CPU would. */
static struct sfu_kernel trace = {
    .panic = {.put = put, .image = "s390-ccw.elf"},
    .rest = {stack, stack + 0x8000 + 160, 0},
    .trap = {8, 0x130 + 8 * 15, 0x130 + 8 * 11, 0x130 + 8 * 14, 0},
};

void sfu_trace(const void *trap)
{
    trace.panic.slide = (uintptr_t)__executable_start;
    sfu_kernel_init(&trace, sframe_start, sframe_end);
    trap ? sfu_kernel_fault(&trace, trap, 0) : sfu_kernel_panic(&trace, NULL);
    disabled_wait();
}
"""),
    Edit("s390-ccw.h", "void sfu_trace(const void *trap);", before=r"^__attribute__.*\s+static inline void panic\("),
    Edit("s390-ccw.h", "    sfu_trace(NULL);", before=r"^\s*disabled_wait\(\);"),
    Edit("Makefile", "OBJECTS += sfu_panic.o sfu_kernel.o sfu_trace.o\n"
         "sfu_panic.o sfu_kernel.o sfu_trace.o: CFLAGS += -Os",
         after=r"^\s+virtio\.o virtio-scsi\.o"),
    Edit("Makefile", "EXTRA_CFLAGS += -fasynchronous-unwind-tables\nLDFLAGS += -Wl,-T,sfu.ld",
         after=r"^EXTRA_CFLAGS \+= -fwrapv"),
    Edit("Makefile", "\tsfu-gen -q $@", after=r"^\t\$\(call quiet-command,\$\(CC\) \$\(LDFLAGS\)"),
    Edit("sfu.ld", r"""
SECTIONS { .sframe : ALIGN(8) {
    sframe_start = .; QUAD(0) . += 64 + SIZEOF(.eh_frame) * 3 / 2; . = ALIGN(8); sframe_end = .;
} } INSERT AFTER .rodata;
"""),
    Edit("start.S", "    .cfi_startproc\n    .cfi_undefined %r14", after=r"^_start:"),
    Edit("start.S", r"""
    larl %r2, pgm_psw
    mvc 0x01d0(16), 0(%r2)
    brasl %r14, main
    .cfi_endproc
""", instead=r"^\s+j\s+main.*\n"),
    Edit("start.S", r"""
pgm_entry:
    stmg %r0, %r15, 0x280
    aghi %r15, -160
    lghi %r2, 0x150
    brasl %r14, sfu_trace
    .align 8
pgm_psw: .quad 0x0000000180000000, pgm_entry
"""),
]
FAULTS = [Edit("virtio.c", "    __asm__ volatile(\".word 0\");", after=r"^void virtio_setup_ccw\(.*\)\s+\{")]
BUILD = [
    "touch config-host.mak",
    "PATH={sfu}/build/tools:$PATH make SRC_PATH=$PWD CC=s390x-linux-gnu-gcc CCAS=s390x-linux-gnu-gcc "
    "STRIP=s390x-linux-gnu-strip s390-ccw.elf s390-ccw.img",
]
OBJECTS = ["sfu_panic.o", "sfu_kernel.o", "sfu_trace.o"]
IMAGE = "s390-ccw.elf"
TABLES = ".sframe"
BOOT = ["qemu-system-s390x", "-nographic", "-nodefaults", "-chardev", "stdio,id=c", "-device", "sclpconsole,chardev=c",
        "-bios", "s390-ccw.img", "-no-reboot"]
SCENARIOS = [
    {"name": "panic", "traces": [HERE + " sfu_kernel_panic sfu_trace panic main done"]},
    {"name": "illegal instruction", "boot": ["-drive", "if=none,id=d,format=raw,file=s390-ccw.img", "-device",
                                             "virtio-blk-ccw,drive=d"],
     "traces": ["virtio_setup_ccw virtio_blk_setup_device virtio_setup ipl_boot_device probe_boot_device main done"]},
]


class linked:  # pylint: disable=invalid-name
    """s390-ccw, linked by sfu-link: no unwind flag, no linker script, no line in assembly. It had no
    entry for program interruptions: SFU_PANIC_ENTRY is one. Start-up code jumps to main, which an
    option says: so the trace ends there."""
    TITLE = "s390-ccw, s390x, by sfu-link"
    CPUS, SOURCES, FLAGS, FAULTS = CPUS, SOURCES, [], FAULTS
    COPIES = {name: name for name in ("sfu_panic.h", "sfu_panic.c", "sfu_own_types.h")}
    EDITS = [
        Edit("s390-ccw.h", '#include "sfu_own_types.h"',
             before=r"^__attribute__.*\s+static inline void panic\("),
        Edit("s390-ccw.h", "    sfu_panic_here();", before=r"^\s*disabled_wait\(\);"),
        Edit("main.c", r"""
static void put(void *ctx, char c) { sclp_print((char[]){c, 0}); }
SFU_PANIC_ENTRY(pgm_entry, put, disabled_wait);
""", before=r"^void main\(void\)"),
        Edit("main.c", r"""
    sfu_panic_start(put);
    lowcore->program_new_psw = (PSW){0x180000000, (uint64_t)pgm_entry};
""", after=r"^    sclp_setup\(\);\n"),
        Edit("Makefile", "OBJECTS += sfu_panic.o", after=r"^\s+virtio\.o virtio-scsi\.o"),
    ]
    BUILD = [command.replace("CC=s390x-linux-gnu-gcc", "CC='sfu-link --entry=main:start s390x-linux-gnu-gcc'", 1)
             for command in BUILD]
    OBJECTS, IMAGE, TABLES, BOOT = ["sfu_panic.o"], IMAGE, None, BOOT
    SCENARIOS = [
        {**SCENARIOS[0], "traces": [HERE + " sfu_panic_here panic main"]},
        {**SCENARIOS[1], "traces": [SCENARIOS[1]["traces"][0].replace(" done", "")]},
    ]
