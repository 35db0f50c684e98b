#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""dist.py OUT [PREFIX]: makes what people copy, of the files here and nothing else, so that every run gives the same
bytes:

sfu_panic.h, sfu_panic.c  the core, the register capture of the three CPUs (arch/), the panic printer and its parts
                          (port/print/) without the raw dump, which needs no tables, and names of functions
                          (port/symbols/)
sfu_kernel.h, sfu_kernel.c
                          what kernels write around it (port/kernel/) and sizes of frames (port/print/sfu_sizes); they
                          need the two files above
sfu_cortexm.h, sfu_cortexm.c
                          exceptions of Cortex-M (port/cortexm/); they need the first two files
sfu_profile.h, sfu_profile.c, sfu_depot.c, sfu_fast.c, sfu_repeat.h, sfu_repeat.c
                          a profile by a timer's interrupts (port/profile/), the depot that it is (port/depot/) and the
                          fast walker (port/fast/); they need the first two files
sfu_own_types.h           sfu_panic.h for files that have integer types of their own
sfu_asm.h                 the macros for assembly files, of every CPU
sfu_tables.ld, sfu_input.ld
                          lines of a linker script that places the tables itself
sfu-VERSION.tar.gz        everything

With PREFIX, mine_ for instance, every name in these files begins with that instead of sfu_, their own names too,
and in capitals instead of SFU_: two copies in one program then have no name in common. There is no tarball then.
"""
import gzip
import io
import os
import re
import sys
import tarfile

LICENCE = "/* SPDX-License-Identifier: MIT */\n/* Copyright (c) 2026 The sfu authors */\n"
SKIPPED = {"build", ".git", "Cargo.lock"}
# Files, and the switch that leaves them out. All but the last need the printer.
PARTS = (("port/print/sfu_print", None), ("port/print/sfu_build_id", None), ("port/print/sfu_cycles", "SFU_NO_CYCLES"),
         ("port/print/sfu_calls", "SFU_NO_CALLS"), ("port/print/sfu_record", "SFU_NO_RECORD"),
         ("port/print/sfu_all", "SFU_NO_ALL"), ("port/print/sfu_start", "SFU_NO_START"),
         ("port/symbols/sfu_symbols", "SFU_NO_SYMBOLS"))


def read(file):
    with open(file, encoding="utf-8") as f:
        return f.read()


def write(file, data):
    """Writes FILE at once: who reads it meanwhile finds the old one or the new one."""
    with open(file + ".new", "wb") as f:
        f.write(data)
    os.replace(file + ".new", file)


def replaced(text, old, new):
    if text.count(old) != 1:
        sys.exit("dist.py: %r is there %d times, not once" % (old, text.count(old)))
    return text.replace(old, new)


def part(file, seen):
    """FILE without the licence, which is said once, and with the files that it includes, each the first time."""
    def include(match):
        name = os.path.join(os.path.dirname(file), match[1])
        if match[1] in seen:
            return ""
        seen.add(match[1])
        return part(name, seen)

    return re.sub(r'^#include "(.*)"\n', include, replaced(read(file), LICENCE, ""), flags=re.M)


def arch():
    """arch/sfu_arch.h: on another CPU than the three it is left out."""
    text = part("arch/sfu_arch.h", {"sfu.h"})
    text = re.sub("#else\n#error .*\n#endif\n", "#endif\n#ifdef SFU_NUM_REGS\n", text, count=1)
    return replaced(text, "#ifdef SFU_NUM_REGS\n", "#ifdef SFU_NUM_REGS /* this CPU has a capture */\n") + "#endif\n"


def without(switch, text):
    return "\n#ifndef %s\n%s#endif\n" % (switch, text) if switch else text


def parts(suffix):
    """The PARTS, each between its switch."""
    own = {os.path.basename(name) + ".h" for name, _ in PARTS} | {"sfu.h", "sfu_arch.h"}
    text = [without(switch, part(name + suffix, set(own))) for name, switch in PARTS]
    return without("SFU_NO_PRINT", "".join(text[:-1])) + text[-1]


def header(version):
    return (LICENCE + """/*
 * sfu %s with its panic printer: sfu.h, arch/, port/print/ and port/symbols/. SFU_NO_ARCH leaves out the register
 * capture, SFU_NO_PRINT the panic printer and its parts, SFU_NO_CYCLES, SFU_NO_CALLS, SFU_NO_RECORD, SFU_NO_ALL and
 * SFU_NO_START one of these parts each, SFU_NO_SYMBOLS names of functions; the other switches are those of the core,
 * below.
 */
""" % version + part("sfu.h", set()) + without("SFU_NO_ARCH", arch()) + parts(".h"))


# In front of each .c file. A kernel's own <stdint.h> or <stdbool.h> may have a few lines.
TYPES = """\
#if !defined SFU_TYPES && defined __has_include
#if __has_include("sfu_own_types.h") && __has_include(<stdint.h>) && __has_include(<stdbool.h>)
#include <stdbool.h>
#include <stdint.h>
#if !defined UINT64_MAX || (!defined bool && !defined __cplusplus && __STDC_VERSION__ < 202311L)
#define SFU_TYPES "sfu_own_types.h" /* those headers lack something */
#endif
#elif __has_include("sfu_own_types.h")
#define SFU_TYPES "sfu_own_types.h"
#endif
#endif
"""


def source(version):
    core = replaced(replaced(read("sfu.c"), LICENCE, ""), '#include "sfu.h"\n', '#include "sfu_panic.h"\n')
    title = "/* sfu %s with its panic printer: sfu.c, port/print/ and port/symbols/. */\n" % version
    included = '#include "sfu_panic.h"\n'
    return LICENCE + title + replaced(core, included, TYPES + included) + parts(".c")


# What needs sfu_panic: each file, the header that it includes, and what it is made of.
ON_TOP = {
    "sfu_kernel.h": ("sfu_panic.h", ("port/print/sfu_sizes.h", "port/kernel/sfu_kernel.h")),
    "sfu_kernel.c": ("sfu_kernel.h", ("port/print/sfu_sizes.c", "port/kernel/sfu_kernel.c")),
    "sfu_cortexm.h": ("sfu_panic.h", ("port/cortexm/sfu_cortexm.h",)),
    "sfu_cortexm.c": ("sfu_cortexm.h", ("port/cortexm/sfu_cortexm.c",)),
    "sfu_profile.h": ("sfu_panic.h", ("port/fast/sfu_fast.h", "port/depot/sfu_depot.h", "port/print/sfu_dump.h",
                                      "port/depot/sfu_depot_print.h", "port/profile/sfu_profile.h")),
    "sfu_profile.c": ("sfu_profile.h", ("port/depot/sfu_depot_print.c", "port/profile/sfu_profile.c")),
    "sfu_depot.c": ("sfu_profile.h", ("port/depot/sfu_depot.c",)),
    "sfu_fast.c": ("sfu_profile.h", ("port/fast/sfu_fast.c",)),
    "sfu_repeat.h": ("sfu_profile.h", ("port/fast/sfu_repeat.h",)),
    "sfu_repeat.c": ("sfu_repeat.h", ("port/fast/sfu_repeat.c",)),
}


def on_top(version, name):
    included, files = ON_TOP[name]
    text = "/* sfu %s: %s, on top of sfu_panic.c. */\n" % (version, ", ".join(files))
    own = {"sfu.h", "sfu_arch.h", "sfu_print.h", "sfu_dump.h"} | {os.path.basename(f)[:-2] + ".h" for f in files}
    if included in ("sfu_profile.h", "sfu_repeat.h"):
        own |= {"sfu_fast.h", "sfu_depot.h", "sfu_depot_print.h"}
    types = TYPES if name.endswith(".c") else ""
    return LICENCE + text + types + '#include "%s"\n' % included + "".join(part(file, set(own)) for file in files)


def assembly(version):
    return LICENCE + "/* sfu %s: arch/sfu_asm.h in one file. */\n" % version + part("arch/sfu_asm.h", set())


def tarball(file, name):
    """All files below NAME/, as of 1970 and nobody's."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for folder, folders, files in os.walk("."):
            links = [f for f in folders if os.path.islink(os.path.join(folder, f))]
            folders[:] = sorted(f for f in folders if f not in SKIPPED and f != "__pycache__" and f not in links)
            for path in sorted(os.path.join(folder, f) for f in files + links if f not in SKIPPED):
                info = tarfile.TarInfo(name + path[1:])
                if os.path.islink(path):
                    info.type, info.linkname = tarfile.SYMTYPE, os.readlink(path)
                    tar.addfile(info)
                    continue
                info.size = os.path.getsize(path)
                info.mode = 0o755 if os.access(path, os.X_OK) else 0o644
                with open(path, "rb") as f:
                    tar.addfile(info, f)
    zipped = io.BytesIO()
    with gzip.GzipFile("", "wb", fileobj=zipped, mtime=0) as gz:
        gz.write(packed.getvalue())
    write(file, zipped.getvalue())


def renamed(text, prefix):
    """TEXT with PREFIX. Names of sections, which linker scripts and other tools have too, stay, as does
    sfu-link's symbols."""
    return re.sub(r"(?:(?<![\w.])|(?<=-D))(sfu|SFU)_(?!link_data|room)",
                  lambda m: prefix if m[1] == "sfu" else prefix.upper(), text)


def main(out, prefix="sfu_"):
    number = int(re.search(r"SFU_VERSION ([0-9]+)", read("sfu.h"))[1])
    version = "%d.%d.%d" % (number // 10000, number // 100 % 100, number % 100)
    os.makedirs(out, exist_ok=True)
    if not re.fullmatch(r"[A-Za-z_]\w*", prefix):
        sys.exit("dist.py: no name can begin with %r" % prefix)
    for name, text in (("sfu_panic.h", header(version)), ("sfu_panic.c", source(version)),
                       *((name, on_top(version, name)) for name in ON_TOP),
                       ("sfu_asm.h", assembly(version)),
                       *((name, read("port/dist/" + name))
                         for name in ("sfu_own_types.h", "sfu_tables.ld", "sfu_input.ld"))):
        write(os.path.join(out, renamed(name, prefix)), renamed(text, prefix).encode())
    if prefix == "sfu_":
        tarball(os.path.join(out, "sfu-%s.tar.gz" % version), "sfu-" + version)


main(*sys.argv[1:])
