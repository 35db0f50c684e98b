#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# suites.sh: what is stepped, as data. Prints a line for each suite, "suite:SUITE"; for each word of its command,
# SUITE:WORD; and for each image that it steps, SUITE/SET=FILE. What FILE is called says to build.sh how it is made.
#
# STEPS: how many instructions, if somebody has asked for a long run. LONG: more programs. SQLITE: of each CPU.
# shellcheck disable=SC2086 # lists of words
set -eu
set -f
: "${STEPS=}" "${LONG=}" "${SQLITE=}"

# suite NAME CPU [OPTION...]: a suite, NAME-CPU. What is said of sets behind it is of that suite.
suite() {
    suite=$1-$2 cpu=$2
    shift 2
    echo "suite:$suite"
    [ $# -eq 0 ] || printf "$suite:%s\n" "$@"
}

# set_of SET IMAGE...
set_of() {
    [ $# -eq 1 ] || printf "$suite/$1=build/step/$cpu/%s\n" "${@:2}"
}

# This machine's CPU steps its own programs, QEMU those of others.
by() {
    case $(uname -m):$1 in
    x86_64:x86_64 | x86_64:i386) echo native ;;
    *) echo "qemu-${1/thumb/arm}" ;;
    esac
}

# programs NAME CPU [OPTION...]
programs() {
    suite "$1" "$2" -q "$(by "$2")" "${@:3}" "$2"
}

known="-f test/truth/FAULTS.md"
signalled="patterns-gcc12-O2-signals patterns-gcc12-O0-signals patterns-clang-O1-signals"

# ---- The assembler's tables: each compiler at each level, and with the flags that change frames ----

# At least that many instructions: the small programs are stepped as a whole, and the real ones, in windows, take what
# those leave. About 60 million can be had. sqlite takes longest to compile: `make check-all` has it on one CPU.
step() {
    programs step $1 -n ${STEPS:-210000} $known -s
    set_of patterns patterns-{gcc12,gcc16,clang}-{O0,O1,O2,O3,Os} "${@:2}" goto-gcc12-O1 goto-gcc12-O1-pie
    set_of signals $signalled
    set_of lua:1 lua-gcc12-O2
    if [ $1 = x86_64 ] || [ -n "$LONG$STEPS$SQLITE" ]; then set_of sqlite:1 sqlite-gcc12-O2; fi
    set_of zlib:1 zlib-gcc12-O2
}
step x86_64 patterns-gcc12-{O2-cf,O2-leaf,O1-noplt,O2-clash,O2-gen,O2-small,O2-ms} patterns-clang-{O2-fp,O2-clash}
step aarch64 patterns-gcc12-{O2-nofp,O2-clash,O2-pac,O1-pacb,O2-gen,O2-small} patterns-clang-{O2-pac,O0-pac,O1-pacb}
step aarch64_be patterns-gcc12-{O2-nofp,O2-clash,O2-pac,O1-pacb,O2-gen,O2-small} patterns-clang-{O2-pac,O0-pac,O1-pacb}
step s390x patterns-gcc12-{O2-chain,O1-fp,O2-clash,O2-z13,O2-gen,O2-small} patterns-clang-{O2-chain,O2-clash}

# ---- Tables of sfu-gen, of clang's CFI: not one mistake is known in them ----

# clang 16 has RA in a slot below SP at autiasp. At -Oz, and in .debug_frame, nothing of its epilogues is in the CFI
# (FAULTS.md: clang-oz), gcc's at -Oz does not know what `push $1; pop %rdi` does to SP (FAULTS.md: gcc-oz), and in each
# realigned function FP's rule is left standing (FAULTS.md: gcc-drap): the rows are those of the machine code.
made() {
    programs step-made $1 -n 6000 -s
    set_of patterns patterns-clang-{O0-gen,O2-gen,O2-small} "${@:2}"
}
made x86_64 patterns-{clang-Oz,gcc12-Oz,gcc12-O2,gcc16-O2,gcc16-Os}-gen
made aarch64 patterns-clang-{O1-pacgen,O2-pacgen,O1-slhgen,Oz-gen,Oz-pacgen,O2-debuggen}
made aarch64_be patterns-clang-{O1-pacgen,O2-pacgen,O1-slhgen,Oz-gen,Oz-pacgen,O2-debuggen}
made s390x

# ---- Tables of the machine code alone, whose CFI is removed ----

# At no instruction is a walk wrong, and few come to code without rows: GAPS of a thousand walks, of a program that is
# made of such code as it is. Those are functions that move SP by several numbers that are not known, and come back by a
# register that their callee leaves alone against the ABI (gcc's -fipa-ra), and hand-written ones that leave by another
# way than they came. These are samples: `make step-code-grid` has each level with each option. thunkgen has CFI, which
# is wrong where gcc jumps by returns (FAULTS.md: gcc-thunk-goto). engine: large switches in loops: all that is behind a
# table of jumps has rows.
code() { # CPU STEPS GAPS [OPTION...]
    programs step-code $1 -n $2 -g $3 "${@:4}"
}
code x86_64 6000 140
set_of patterns patterns-{gcc12,clang}-{O0,O2,Oz}-code patterns-gcc12-O2-{codecet,codelto,codethunk,codems} \
    patterns-{clang-O2-codethunk,gcc12-O2-codeclash,clang-O2-codereturn,clang-O1-codelto,gcc12-O2-thunkgen} \
    engine-{gcc12-O0-codepic,gcc16-Os-codepic,clang-O0-code,clang-Os-codepic}
code aarch64 6000 160
set_of patterns patterns-{gcc12,clang}-{O0,O2,Oz}-code patterns-{clang-Os-code,gcc12-O2-codepac} \
    patterns-clang-{O2,Oz}-codepac patterns-{gcc12-O2-codelto,gcc12-O2-codeclash} \
    patterns-clang-{Oz-codesls,Oz-codelto,O2-codeslh} engine-{gcc12-Os-code,clang-Oz-codepic}
code s390x 6000 20
set_of patterns patterns-{gcc12,clang}-{O0,O2,Oz}-code patterns-gcc12-O2-{codelto,codeclash,codereturn} \
    engine-{gcc12-Os-codepic,clang-O2-codepic}

# RISC-V, with -msave-restore: all functions end in __riscv_restore_0, and one of them is entered by hand-written code
# that has put another RA in its place (step_enter), so that nobody knows RA there. What is known of __riscv_save_N
# (FAULTS.md: gcc-riscv-save) is so by any table.
riscv_code() {
    set_of patterns patterns-gcc12-{O0,O2,Os}-code patterns-clang-{O0,O2,Oz}-code \
        patterns-gcc12-{O2-codelto,O2-codelong,Os-codesave,O2-codeclash} "$1"
}
code riscv64 6000 80 $known
riscv_code engine-gcc12-O2-codepic
code riscv32 6000 100 $known
riscv_code engine-clang-Oz-code

# ARM: libgcc's division jumps into unrolled code, to an address that it computes: the code there has no rows.
arm_code() {
    set_of patterns patterns-{gcc12,clang}-{O0,O2,Os}-code patterns-{clang-Oz-code,gcc12-O2-codelto} \
        patterns-{gcc12,clang}-O1-codefp patterns-{gcc12,clang}-O2-codefpu "$@"
}
code arm 1000 70 $known
arm_code patterns-gcc12-O2-codea15 engine-clang-O2-code
code thumb 1000 30 $known
arm_code patterns-{gcc12,clang}-{O0,O2,Os}-codem0 engine-clang-Os-codem0

code i386 1000 100 $known
set_of patterns patterns-{gcc12,clang}-{O0,O2,Oz}-code patterns-gcc16-O2-code patterns-gcc12-{O2-codelto,O0-codepic} \
    patterns-gcc12-O2-codepic patterns-clang-{O0,O2}-codepic patterns-gcc12-{O1-codefp,O1-codenofp,O2-codebp} \
    patterns-{clang-O2-codefp,clang-O0-codeparts,clang-O0-codertd,gcc12-O2-thunkgen,gcc12-O0-codereturn}
set_of calls calls-{gcc12,gcc16,clang}-{O0,O1,O2,O3,Os,Oz}-code

# ---- CPUs that SFrame does not have: sfu-gen's tables in everything ----

# RISC-V: gcc12 and clang at each level, without compressed instructions, with frame pointers, with prologues that call,
# with a shadow call stack; code that the linker shortens, and code that it does not.
for cpu in riscv64 riscv32; do
    programs step $cpu -n ${STEPS:-140000} $known -s
    set_of patterns patterns-{gcc12,clang}-{O0,O1,O2,O3,Os} \
        patterns-gcc12-{O2-fp,O1-long,O2-save,Os-save,O2-norelax,O2-small} \
        patterns-clang-{Oz,O1-fp,O2-long,Os-small,O2-scs} goto-gcc12-O1
    set_of signals $signalled
    set_of real:1 lua-gcc12-O2 zlib-clang-O2
done

# 32-bit ARM, FP r11 and r7: gcc12 and clang at each level, with frame pointers, with floating-point registers; in A32
# code, tuned for a CPU that makes pairs of stores; in T32 code, with what ARMv6-M has of it. What the CFI has wrong is
# corrected by the machine code (FAULTS.md: clang-arm-epilogue, FAULTS.md: gcc-thumb1-epilogue,
# FAULTS.md: gcc-arm-large, FAULTS.md: gcc-arm-strd).
arm() {
    programs step $1 -n 1000 $known -s
    set_of patterns patterns-{gcc12,clang}-{O0,O1,O2,O3,Os,O2-fp,O2-fpu} patterns-gcc12-O1-small "${@:2}"
}
arm arm patterns-gcc12-{O2,Os}-a15
arm thumb patterns-{gcc12,clang}-{O0,O2,Os}-m0

# i386: gcc12 and 16 and clang at each level, with and without frame pointers, and with code that finds its own address
# by calls.
programs step i386 -n ${STEPS:-140000} $known -s
set_of patterns patterns-{gcc12,gcc16,clang}-{O0,O1,O2,O3,Os} \
    patterns-{gcc12-Oz,clang-Oz,gcc12-O2-fp,gcc12-O2-nofp,gcc12-O2-clash,gcc12-O0-pic,clang-O1-fp,clang-O2-pic} \
    patterns-{gcc12-O2-small,gcc12-O2-rtd,clang-O1-rtd,clang-O2-rtd} goto-gcc12-O1
set_of calls calls-{gcc12,gcc16,clang}-{O0,O1,O2,O3,Os,Oz}
set_of real:1 zlib-gcc12-O2

# `make step-riscv`: each compiler in each way: gcc 12 and 16, clang 16 and the newest. Large programs are stepped in
# windows, up to a number of instructions.
for cpu in riscv64 riscv32; do
    programs step-riscv $cpu -n ${STEPS:-1500000} $known -a -s
    set_of patterns patterns-{gcc12,gcc16,clang,newest}-{O0,O1,O2,O3,Os,Oz}{,-fp,-long,-save,-norelax,-small} \
        patterns-{clang,newest}-{O0,O1,O2,O3,Os,Oz}-scs goto-gcc12-O1
    programs step-riscv-large $cpu -n ${STEPS:-300000} $known -a
    set_of real:1 {lua,zlib}-{gcc16,newest}-O2
done

# ---- Kernels that step themselves ----

# kernels: as a whole. shared: those share the instructions that are left. made: with tables of sfu-gen, without the
# list of known faults.
kernels() { suite step-kernel $1; }
kernels x86_64
set_of kernels patterns-{gcc12-O2,gcc12-O0,gcc12-Os,clang-O2}-kernel \
    patterns-gcc12-O2-kernel{+fp,+8,+8+hook} patterns-gcc12-O1-kernel+fp+hook patterns-gcc12-O2-kernel+fp+clash \
    patterns-clang-O2-kernel{+8,+8+fp,+fp+clash}
set_of shared zlib-gcc12-O2-kernel+8 lua-clang-O2-kernel+8+fp ${STEPS:+sqlite-gcc12-O2-kernel+hook}
set_of made patterns-clang-O2-kernel+8{+gen,+derive}
kernels aarch64
set_of kernels patterns-{gcc12-O2,gcc12-O0,gcc12-Os,clang-O2}-kernel \
    patterns-{gcc12-O2-kernel+nofp,gcc12-O1-kernel+nofp+hook,clang-O2-kernel+nofp,gcc12-O2-kernel+clash} \
    patterns-{gcc12-O2-kernel,clang-O2-kernel,clang-O0-kernel,clang-Os-kernel,clang-O1-kernel+nofp}+pac
set_of shared zlib-gcc12-O2-kernel lua-gcc12-O2-kernel+hook lua-clang-O2-kernel+pac \
    ${STEPS:+sqlite-gcc12-O2-kernel+hook}
set_of made patterns-clang-O2-kernel{+gen,+derive}
kernels s390x
set_of kernels patterns-{gcc12,clang}-O2-kernel \
    patterns-{gcc12-O2-kernel+fp,gcc12-O1-kernel+hook,clang-O2-kernel+clash}
set_of shared zlib-gcc12-O2-kernel ${STEPS:+lua-gcc12-O2-kernel+hook sqlite-gcc12-O2-kernel+hook}
set_of made patterns-clang-O2-kernel{+gen,+derive}
# RISC-V: in S mode; in M mode; without compressed instructions; with prologues that call; without rows of exception
# entries.
kernels riscv64
set_of kernels patterns-{gcc12-O2,gcc12-O0,gcc12-Os,clang-O2}-kernel \
    patterns-gcc12-{O2-kernel+m,O1-kernel+fp,O2-kernel+long,Os-kernel+save,O1-kernel+hook}
set_of shared zlib-gcc12-O2-kernel
set_of made patterns-gcc12-O2-kernel{,+m}+derive
kernels riscv32
set_of kernels patterns-{gcc12-O2,gcc12-Os,clang-O2}-kernel patterns-gcc12-{O2-kernel+m,O1-kernel+fp,Os-kernel+save}
set_of shared zlib-gcc12-O2-kernel
set_of made patterns-gcc12-O2-kernel{,+m}+derive
# i386: each level; without rows of exception entries; with stacks of 4 bytes.
kernels i386
set_of kernels patterns-{gcc12-O2,gcc12-O0,gcc12-O1,gcc12-O3,gcc12-Os,gcc12-Oz,gcc16-O0,gcc16-O2,gcc16-Os}-kernel \
    patterns-clang-{O0,O1,O2,Oz}-kernel patterns-{gcc12-O2,clang-Os}-kernel+fp \
    patterns-gcc12-{O1-kernel+hook,O2-kernel+4,O2-kernel+clash}
set_of shared zlib-gcc12-O2-kernel
set_of made patterns-{gcc12-O2,clang-Os}-kernel+derive
