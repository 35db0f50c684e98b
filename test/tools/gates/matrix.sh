#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# matrix.sh OUT: the core compiles alone, with each compiler, for each ABI, as C and as C++, without a warning, and
# its object needs nothing and has nothing to write to. Prints a line "ok ..." or "not ok ...: reason" for each
# compiler, ABI and language. Run in the top directory; OUT is for the objects. build/tc holds the toolchain.
set -u
. test/lib/tests.sh
out=$1
mkdir -p "$out"
warn='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-align -Wundef -Wvla -Werror'
warn_c='-Wstrict-prototypes -Wmissing-prototypes'

# Sections of object $1, of CPU $2, that hold bytes and can be written to, or would have to be while relocating.
writable() {
    "build/tc/$2/readelf" -SW "$1" | sed 's/^ *\[ *//' | awk '$2 ~ /^\./ && $3 != "NULL" {
        n = split($0, f, " ")
        # name type address offset size entry-size flags link info align: flags may be missing
        if (f[8] ~ /W/ && f[6] !~ /^0+$/) printf "%s ", f[2]
    }'
}

# undefined OBJECT CPU
undefined() { "build/tc/$2/nm" -u "$1" | awk '{ printf "%s ", $NF }'; }

# fault OBJECT CPU COMMAND...: compiles and prints what is wrong.
fault() {
    object=$1
    object_cpu=$2
    shift 2
    # shellcheck disable=SC2086  # words
    if ! "$@" $warn -ffreestanding -I. -c sfu.c -o "$object" 2>"$object.log"; then
        grep -m1 -E 'error|warning' "$object.log" || echo 'does not compile'
        return
    fi
    need=$(undefined "$object" "$object_cpu")
    [ -z "$need" ] || echo "needs $need"
    data=$(writable "$object" "$object_cpu")
    [ -z "$data" ] || echo "can be written to: $data"
}

# compiles NAME CPU COMMAND...: with each optimisation (-O3 for x86_64), with and without -fPIC; one line for all of
# them. A compiler for a 32-bit machine needs data to address for the latter: it is named "... alone" and does without.
# What is named "... too" is compiled twice: -O0 and -O2. A switch takes code away: it is compiled three times.
compiles() {
    test_name=$1
    test_cpu=$2
    shift 2
    chosen "$test_name" || return 0
    wrong=
    for opt in -O0 -Os -O2 -O3 '-Os -fPIC' '-O2 -fPIC'; do
        case $test_name$opt in
        *alone*-fPIC) continue ;;
        *x86_64*c++-O2 | *c17-O2 | *c++-O0 | *too-O[02]) ;;
        *c17-* | *c++-*) [ -n "${LONG:-}" ] || continue ;; # what is accepted differs from C99, and hardly the code
        *too*) continue ;;
        *-DSFU_*-O0 | *-DSFU_*-O2 | *-DSFU_*'-Os -fPIC') ;;
        *-DSFU_* | *'-Os -fPIC') [ -n "${LONG:-}" ] || continue ;;
        *x86_64*-O3) ;;
        *-O3) [ -n "${LONG:-}" ] || continue ;; # it inlines and unrolls what -O2 has, for every CPU alike
        esac
        # shellcheck disable=SC2086  # words
        wrong=$(fault "$out/$(echo "$test_name" | tr ' ' -).o" "$test_cpu" "$@" $opt)
        [ -z "$wrong" ] || break
    done
    none "$test_name" "${wrong:+$opt: $wrong}"
}

# languages NAME CPU C++-COMPILER COMPILER ARGUMENT...
languages() {
    name=$1
    cpu=$2
    cxx=$3
    cc=$4
    shift 4
    # shellcheck disable=SC2086  # words
    for std in c99 ${LONG:+c17}; do
        compiles "$name $std" "$cpu" "$cc" "$@" -std=$std $warn_c
    done
    # The newest languages for one ABI: what they complain about is the same for all.
    # shellcheck disable=SC2086  # words
    [ "$abi" != x86_64 ] || compiles "$name c2x too" "$cpu" "$cc" "$@" -std=c2x $warn_c
    [ "$abi" != x86_64 ] || compiles "$name c++20 too" "$cpu" "$cxx" "$@" -x c++ -std=c++20
    if command -v "$cxx" >/dev/null; then
        compiles "$name c++" "$cpu" "$cxx" "$@" -x c++ -std=c++11
    else
        none "$name c++" "no $cxx"
    fi
}

compilers() {
    abi=$1
    cpu=${abi%_be}
    be=
    [ "$abi" = "$cpu" ] || be=-mbig-endian
    prefix=$cpu-linux-gnu-
    [ "$(uname -m)" != "$cpu" ] || prefix=
    # shellcheck disable=SC2086  # words
    languages "gcc $abi" "$cpu" "${prefix}g++" "${prefix}gcc" $be
    languages "clang $abi" "$cpu" clang++ clang --target="$abi-linux-gnu"
    # shellcheck disable=SC2086  # words
    languages "gcc16 $abi" "$cpu" "build/tc/gcc16/$cpu/g++" "build/tc/gcc16/$cpu/gcc" $be
}

# What kernels are compiled with.
kernels() {
    compiles 'gcc -fno-builtin too' x86_64 gcc -std=c99 -fno-builtin
    compiles 'clang -fno-builtin too' x86_64 clang -std=c99 -fno-builtin
    for abi in x86_64 aarch64; do
        compiles "clang -mgeneral-regs-only $abi too" $abi clang --target=$abi-linux-gnu -std=c99 -mgeneral-regs-only
    done
    compiles 'gcc -mgeneral-regs-only x86_64 too' x86_64 gcc -std=c99 -mgeneral-regs-only -mno-red-zone
    compiles 'gcc -mgeneral-regs-only aarch64 too' aarch64 aarch64-linux-gnu-gcc -std=c99 -mgeneral-regs-only \
        -mstrict-align
    compiles 'gcc -msoft-float s390x too' s390x s390x-linux-gnu-gcc -std=c99 -msoft-float -mpacked-stack
    compiles 'gcc -mcmodel=kernel too' x86_64 gcc -std=c99 -mcmodel=kernel -mno-red-zone -fno-pic
    compiles 'clang -mcmodel=kernel too' x86_64 clang -std=c99 -mcmodel=kernel -mno-red-zone -fno-pic
    for abi in 'rv64imac lp64' 'rv64gc lp64d' 'rv32imac ilp32' 'rv32gc ilp32d' 'rv32em ilp32e' \
        'rv32emc ilp32e'; do
        compiles "gcc ${abi% *} too" x86_64 riscv64-linux-gnu-gcc -std=c99 -mcmodel=medany -march="${abi% *}" \
            -mabi="${abi#* }"
    done
    compiles 'clang-16 rv64imac too' x86_64 clang-16 --target=riscv64-none-elf -std=c99 -march=rv64imac
    compiles 'clang-16 rv32imac too' x86_64 clang-16 --target=riscv32-none-elf -std=c99 -march=rv32imac
    for cpu in 'cortex-m0 -mthumb' 'cortex-m3 -mthumb' 'cortex-m4 -mthumb -mfloat-abi=hard' 'cortex-m33 -mthumb' \
        cortex-a15 'cortex-a15 -mthumb' arm926ej-s; do
        # shellcheck disable=SC2086  # words
        compiles "gcc $cpu too" x86_64 arm-none-eabi-gcc -std=c99 -mcpu=$cpu
        # shellcheck disable=SC2086  # words
        compiles "clang-16 $cpu too" x86_64 clang-16 --target=arm-none-eabi -std=c99 -mcpu=$cpu
    done
    compiles 'gcc -m32 too' x86_64 gcc -std=c99 -m32 -fno-pic
    compiles 'gcc -m32 for itself too' x86_64 gcc -std=c99 -m32 -fno-pic -mgeneral-regs-only -DSFU_ABI=SFU_I386
    compiles 'clang i686 for itself too' x86_64 clang --target=i686-none-elf -std=c99 -mgeneral-regs-only \
        -DSFU_ABI=SFU_I386
    # With LTO code comes into being in the link, and so does what it needs.
    compiles 'gcc -flto too' x86_64 link_lto gcc -flinker-output=nolto-rel
    compiles 'gcc16 -flto too' x86_64 link_lto build/tc/gcc16/x86_64/gcc -flinker-output=nolto-rel
    compiles 'clang -flto too' x86_64 link_lto clang -fuse-ld=lld
}

# link_lto COMPILER FLAG ARGUMENT...: what fault compiles into $object becomes code in a link, which FLAG is for.
link_lto() {
    compiler=$1
    flag=$2
    shift 2
    "$compiler" -std=c99 -flto "$@" && mv "$object" "$object.lto.o" &&
        "$compiler" -flto -r -nostdlib "$flag" "$object.lto.o" -o "$object"
}

# The check itself must see what it is there for: an object that needs memset, one with data, one with .data.rel.ro.
self_test() {
    echo 'void *memset(void *, int, unsigned long); void f(char *p) { memset(p, 0, 99); }' >"$out/self.c"
    gcc -O0 -c "$out/self.c" -o "$out/self.o"
    equal 'sees an undefined symbol' "$(undefined "$out/self.o" x86_64)" 'memset '
    echo 'unsigned long long f(unsigned long long a) { return a % 10; }' >"$out/self.c"
    clang --target=mips-none-elf -O2 -c "$out/self.c" -o "$out/self.o"
    equal 'sees an undefined symbol for 32 bits' "$(undefined "$out/self.o" x86_64)" '__umoddi3 '
    echo '__uint128_t f(__uint128_t a, __uint128_t b) { return a % b; }' >"$out/self.c"
    object=$out/self.o
    link_lto gcc -flinker-output=nolto-rel -O2 -ffreestanding -c "$out/self.c" -o "$object"
    equal 'sees an undefined symbol behind LTO' "$(undefined "$object" x86_64)" '__umodti3 '
    for code in 'int x = 1;' 'int x;' 'extern int y; int *const x = &y;'; do
        echo "$code" >"$out/self.c"
        gcc -O2 -fPIC -c "$out/self.c" -o "$out/self.o"
        none "sees writable data: $code" "$([ -n "$(writable "$out/self.o" x86_64)" ] || echo 'it does not')"
    done
}

# Each switch alone and all of them, for a 64-bit target on hosts of 64 and of 32 bits.
switches() {
    small='-DSFU_NO_REMOTE -DSFU_OLDEST_VERSION=3 -DSFU_NO_STRINGS'
    for define in -DSFU_NO_REMOTE -DSFU_NO_STRINGS -DSFU_OLDEST_VERSION=2 -DSFU_OLDEST_VERSION=3 \
        -DSFU_ABI=SFU_AARCH64_BIG -DSFU_ABI=SFU_AARCH64 -DSFU_ABI=SFU_AMD64 -DSFU_ABI=SFU_S390X \
        -DSFU_ABI=SFU_RISCV64 -DSFU_ABI=SFU_RISCV32 -DSFU_ABI=SFU_ARM -DSFU_ABI=SFU_THUMB -DSFU_ABI=SFU_I386 \
        "$small -DSFU_ABI=SFU_AMD64" "$small -DSFU_ABI=SFU_S390X"; do
        # shellcheck disable=SC2086  # words
        {
            compiles "gcc $define" x86_64 gcc -std=c99 $warn_c $define
            compiles "clang $define" x86_64 clang -std=c99 $warn_c $define
        }
    done
    for target in i386-none-elf riscv32-none-elf powerpc-none-elf mips-none-elf arm-none-eabi \
        'arm-none-eabi -mthumb'; do
        # shellcheck disable=SC2086  # words
        compiles "clang $target alone" x86_64 clang --target=$target -std=c99 $warn_c
    done
}

self_test
switches
kernels
for abi in x86_64 aarch64 aarch64_be s390x; do
    compilers $abi
done
