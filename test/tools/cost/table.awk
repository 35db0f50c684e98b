# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Turns cost.sh's lines "WHAT NAME ABI VARIANT NUMBER..." into RESULTS.md.

$1 == "compiler" { compiler = $2 " " $3 }
$1 == "size" { text[$2, $3, $4] = $5; sframe[$2, $3, $4] = $6; eh[$2, $3, $4] = $7; small[$2, $3, $4] = $8
              seen[$2, $3] = 1 }
$1 == "insns" { insns[$2, $3, $4] = $5 }

function percent(part, whole) { return sprintf("%.1f%%", 100 * part / whole) }

function growth(with, without) { return sprintf("%+.1f%%", 100 * (with - without) / without) }

function row(name, abi,    fp, t) {
    if (!((name, abi) in seen))
        return
    fp = abi == "s390x" ? "chain" : "fp"
    t = text[name, abi, "nofp"]
    printf "| %s | %s | %s | %s | %s, %s | %s, %s | %s | %s |\n", name, abi, thousands(t),
        sframe[name, abi, "nofp"] == 0 ? "-" : \
            thousands(sframe[name, abi, "nofp"]) ", " percent(sframe[name, abi, "nofp"], t),
        thousands(small[name, abi, "nofp"]), percent(small[name, abi, "nofp"], t),
        thousands(eh[name, abi, "nofp"]), percent(eh[name, abi, "nofp"], t),
        growth(text[name, abi, fp], t),
        (name, abi, fp) in insns ? growth(insns[name, abi, fp], insns[name, abi, "nofp"]) : "not run"
}

END {
    print "# What a trace costs a program"
    print ""
    print "By `make cost`. Programs of Debian 12 without an operating system under them, by " compiler ", -O2, built"
    print "once without frame pointers and once with them. Executed code and tables are in bytes, tables in percent of"
    print "the code, too."
    print ""
    print "| program | CPU | code | `.sframe` by `as` | `.sframe` by `sfu-gen --small` | " \
        "`.eh_frame` without an index | frame pointers: code | frame pointers: instructions executed |"
    print "|---|---|---|---|---|---|---|---|"
    n = split("lua zlib sqlite u-boot s390-ccw", names, " ")
    m = split("x86_64 aarch64 s390x riscv64 riscv32", abis, " ")
    for (i = 1; i <= n; i++)
        for (j = 1; j <= m; j++)
            row(names[i], abis[j])
    print ""
    print "- Tables cost no instruction until a trace is made. Frame pointers cost instructions always, and a register."
    print "- Frame pointers are `-fno-omit-frame-pointer`. On s390x nobody can walk by them: there it is `-mbackchain`."
    print "- lua, zlib and sqlite are the builds of `test/truth/step`. They run under QEMU, whose plugin counts a " \
        "whole" \
        " run."
    print "- RISC-V: no assembler makes SFrame tables for it, `sfu-gen` makes them in another format " \
        "(docs/format.md). In"
    print "  lua and sqlite of riscv32 (rv32imac) a library of gcc does the arithmetic of floating point."
    print "- The kernel-like program is U-Boot (an application of EFI on x86_64, the board of QEMU on aarch64, " \
        "riscv64 and"
    print "  riscv32), on s390x the firmware `s390-ccw` of QEMU. They are not run, because how long they wait " \
        "depends on the"
    print "  machine."
}
