# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""xv6 for 32-bit x86, from a folder of the user's: mit-pdos/xv6-public. sfu-link links it: no unwind flag, no line in
its linker script, which discards all CFI. It runs programs, so that no row is right for its exception entry: traces
cross that by what sfu-link says of the registers that it saves, and end where a program was interrupted. Stacks are
pages of its allocator. panic() listed ten addresses by frame pointers, at most."""
from real import HERE, Edit

TITLE = "xv6, i386, by sfu-link"
CPUS = 1
SOURCES = {".": "$XV6"}
COPIES = {"sfu_panic.h": "sfu_panic.h", "sfu_panic.c": "sfu_panic.c"}
FLAGS = []
EDITS = [
    Edit("console.c", """
#include "sfu_panic.h"
static void put(void *ctx, char c) { uartputc(c); }
""", before=r"^static void consputc\(int\);"),
    Edit("console.c", """
  sfu_panic_start(put);
  sfu_panic_memory(P2V(EXTMEM), P2V(PHYSTOP));
""", before=r'^  initlock\(&cons\.lock, '),
    Edit("console.c", "  sfu_panic_here();", before=r"^  panicked = 1;"),
    Edit("Makefile", "\tsfu_panic.o\\", after=r"^\ttrap\.o\\\n"),
]
FAULTS = [
    Edit("sysfile.c", r"""
static __attribute__((noinline)) int leaf(volatile int *p) { *p = 1; return 2; }
static __attribute__((noinline)) int middle(volatile int *p) { return leaf(p) + 3; }
""", before=r"^int\nsys_mkdir\(void\)"),
    Edit("sysfile.c", "  if(argstr(0, &path) >= 0 && path[0] == 'x')\n    return middle((int*)0xc0000000) + 1;",
         after=r"^sys_mkdir\(void\)\n\{\n.*\n.*\n"),
    Edit("console.c", "int hello;", before=r"^#define C\(x\)"),
    Edit("console.c", "    case C('X'):\n      hello = 1;\n      break;", before=r"^    case C\('U'\):"),
    Edit("trap.c", "    if(hello && myproc() == 0)\n      panic(\"hello\");", before=r"^    if\(cpuid\(\) == 0\)\{"),
    Edit("trap.c", "extern int hello;", before=r"^void\ntvinit\(void\)"),
]
# Two warnings of today's gcc are errors there.
BUILD = ["PATH={sfu}/build/tools:$PATH make -j2 CC='gcc -Wno-array-bounds -Wno-infinite-recursion' "
         "LD='sfu-link ld' xv6.img fs.img"]
OBJECTS = ["sfu_panic.o"]
IMAGE, TABLES = "kernel", None
BOOT = ["qemu-system-i386", "-nographic", "-no-reboot", "-net", "none", "-m", "512", "-drive",
        "file=fs.img,index=1,media=disk,format=raw", "-drive", "file=xv6.img,index=0,media=disk,format=raw"]
PANIC = HERE + " sfu_panic_here panic"
SCENARIOS = [
    {"name": "fault in a system call", "dialogue": [("\\$ ", "mkdir x\n")],
     "traces": [PANIC + " trap alltraps !leaf middle sys_mkdir syscall trap alltraps"]},
    # While no process runs, interrupts are on between two locks alone (release() jumps to popcli()).
    {"name": "panic in an interrupt", "dialogue": [("\\$ ", "\x18")],
     "traces": [tuple(f"{PANIC} trap alltraps {last} mpmain main" for last in (
         "!scheduler", "!popcli scheduler", "!acquire scheduler", "!pushcli acquire scheduler",
         "!readeflags pushcli acquire scheduler"))]},
]
