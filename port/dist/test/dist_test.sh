#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# What `make dist` makes: the same bytes again; compiles alone by every compiler; and passes the project's own tests in
# a tree that has nothing of the core, of arch/ and of the printer but the two files and sfu_asm.h.
set -u
cd "$(dirname "$0")/../../.." || exit 1
unset T MAKEFLAGS # what make runs here is no suite of the caller's
. test/lib/tests.sh
work=build/dist-test
log=$work/log
out=$work/dist # other suites read build/dist meanwhile
tree=$work/tree
rm -rf $work
mkdir -p $work

same() { python3 port/dist/dist.py $work/again && diff -r $out $work/again; }

try "make dist" make -s dist DIST=$out
try "the same bytes again" same

# What kernels compile with that warn of more.
more="-Wsign-conversion -Wswitch-default -Wmissing-declarations -Wundef"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-align $more -Werror"
# Without its parts it is sfu.c, token by token: what the suite gates shows of that by each compiler holds. It may look
# at the headers for types in another order.
tokens() {
    gcc -std=c99 -E -P -include stddef.h -include stdint.h -include stdbool.h "$@" | tr -s ' \n' '\n' | grep .
}
core_alone() {
    tokens -DSFU_NO_ARCH -DSFU_NO_PRINT -DSFU_NO_SYMBOLS $out/sfu_panic.c >$work/alone.i &&
        tokens -I. sfu.c >$work/core.i &&
        [ "$(wc -l <$work/core.i)" -gt 5000 ] && cmp $work/alone.i $work/core.i
}
try "sfu_panic.c without its parts is sfu.c" core_alone
# shellcheck disable=SC2086 # words
try "gcc -Warith-conversion" gcc -std=c99 -ffreestanding -O2 $warnings -Warith-conversion -Wcast-qual \
    -c $out/sfu_panic.c -o $work/sfu.o
# shellcheck disable=SC2086 # words
try "gcc -DSFU_NO_ARCH -DSFU_NO_PRINT" gcc -std=c99 -ffreestanding -O2 $warnings -Wstrict-prototypes -DSFU_NO_ARCH \
    -DSFU_NO_PRINT -c $out/sfu_panic.c -o $work/sfu.o
for compiler in gcc "gcc -m32" aarch64-linux-gnu-gcc "aarch64-linux-gnu-gcc -mbig-endian" s390x-linux-gnu-gcc \
    clang "clang --target=aarch64-linux-gnu" "clang --target=aarch64_be-linux-gnu" "clang --target=s390x-linux-gnu" \
    "clang --target=riscv32-linux-gnu"; do
    # shellcheck disable=SC2086 # words
    try "$compiler" $compiler -std=c99 -ffreestanding -O2 $warnings -Wstrict-prototypes -c $out/sfu_panic.c \
        -o "$work/panic-$compiler.o" # with each part
done
for compiler in gcc aarch64-linux-gnu-gcc s390x-linux-gnu-gcc clang "clang --target=aarch64-linux-gnu" "g++ -xc++"; do
    for name in kernel profile depot fast repeat; do
        # shellcheck disable=SC2086 # words
        try "$compiler sfu_$name.c" $compiler -ffreestanding -O2 $warnings -c $out/sfu_$name.c \
            -o "$work/$name-$compiler.o"
    done
done
profile_beside() {
    cp $out/sfu_p*.[ch] $out/sfu_repeat.[ch] $out/sfu_depot.c $out/sfu_fast.c $work &&
        for name in panic profile depot fast repeat; do
            gcc -ffreestanding -O2 -mgeneral-regs-only -c $work/sfu_$name.c -o $work/p$name.o || return 1
        done &&
        ld -r -o $work/profile.o $work/p{panic,profile,depot,fast,repeat}.o && ! nm -u $work/profile.o | grep .
}
try "a profile beside sfu_panic.c needs nothing else" profile_beside
# Where there is less code, -O2 has nothing more to warn of than with all of it.
for switches in "-DSFU_NO_PRINT -DSFU_NO_SYMBOLS" \
    -DSFU_NO_CYCLES -DSFU_NO_CALLS -DSFU_NO_RECORD -DSFU_NO_ALL -DSFU_NO_START -DSFU_NO_SYMBOLS; do
    # shellcheck disable=SC2086 # words
    try "gcc $switches" gcc -std=c99 -ffreestanding -O0 $warnings -Wstrict-prototypes $switches \
        -c $out/sfu_panic.c -o $work/sfu.o
done

# Who has the two files adds four for a profiler, as docs/profiling.md says, and nothing is defined twice or missing.
profiler() {
    local part
    rm -rf $work/profiler
    mkdir $work/profiler
    cp $work/panic-gcc.o $work/profiler || return 1
    for part in port/profile/sfu_profile port/depot/sfu_depot port/depot/sfu_depot_print port/fast/sfu_fast; do
        gcc -O2 -ffreestanding -I. -Iport/{print,depot,fast} -c "$part.c" -o "$work/profiler/${part##*/}.o" || return 1
    done
    ld -r $work/profiler/*.o -o $work/profiler/all && ! nm -u $work/profiler/all | grep .
}
try "the two files and a profiler" profiler

# A kernel may have no memset: what is copied calls nothing. A part calls other parts at most.
alone() {
    "$@" -std=c99 -ffreestanding -c $out/sfu_panic.c -o $work/alone.o && ! nm -u $work/alone.o | grep .
}
parts() {
    local sources=("$PWD"/port/{print,symbols,fast,depot,profile,kernel}/*.c) here=$PWD
    rm -rf $work/parts
    mkdir $work/parts
    (cd $work/parts && "$@" -std=c99 -ffreestanding -I"$here" -I"$here/arch" \
        -I"$here"/port/{print,symbols,fast,depot} -c "${sources[@]}") &&
        [ "$(find $work/parts -name '*.o' | wc -l)" = ${#sources[@]} ] &&
        ! nm -uA $work/parts/*.o | grep -v ' sfu_\| _GLOBAL_OFFSET_TABLE_$' # the linker makes the table
}
for level in -O0 -Os; do
    try "calls nothing: gcc $level" alone gcc $level -mno-red-zone -mgeneral-regs-only
    try "calls nothing: clang $level" alone clang $level -mno-red-zone -mno-sse
    try "calls nothing: gcc for aarch64 $level" alone aarch64-linux-gnu-gcc $level -mgeneral-regs-only
    try "calls nothing: clang for aarch64 $level" alone clang --target=aarch64-linux-gnu $level \
        -mgeneral-regs-only -mstrict-align
    try "calls nothing: gcc for s390x $level" alone s390x-linux-gnu-gcc $level -msoft-float
done
for level in -O0 -Os; do
    try "parts call nothing: gcc $level" parts gcc $level -mno-red-zone -mgeneral-regs-only
    try "parts call nothing: clang $level" parts clang $level -mno-red-zone -mno-sse
    try "parts call nothing: gcc for aarch64 $level" parts aarch64-linux-gnu-gcc $level -mgeneral-regs-only \
        -mstrict-align -mno-outline-atomics
    try "parts call nothing: clang for aarch64 $level" parts clang --target=aarch64-linux-gnu $level \
        -mgeneral-regs-only -mstrict-align -mno-outline-atomics
    try "parts call nothing: gcc for s390x $level" parts s390x-linux-gnu-gcc $level -msoft-float
done

# shellcheck disable=SC2086 # words
try "g++" g++ -x c++ -std=c++11 -ffreestanding -O2 $warnings -c $out/sfu_panic.c -o $work/sfu.o

# With PREFIX every name is another, and nothing else: the same code, and both copies fit into one file.
mine=$work/mine
renamed() {
    make -s dist DIST=$out PREFIX=mine_ && mkdir -p $mine && mv $out/mine_* $mine || return 1
    # These names are sfu-link's.
    ! sed 's/sfu_link_data\|sfu_room//g' $mine/* | grep '[^.L]sfu_\|SFU_' || return 1
    for cpu in x86_64 aarch64 s390x; do
        if [ $cpu = x86_64 ]; then compiler=gcc; else compiler=$cpu-linux-gnu-gcc; fi
        $compiler -std=c99 -O2 -ffreestanding -c $mine/mine_panic.c -o $work/mine.o || return 1
        cp "$work/panic-$compiler.o" $work/sfu.o
        for kind in sfu mine; do
            build/tc/$cpu/objcopy -O binary -j '.text*' -j '.rodata*' $work/$kind.o $work/$kind.bin || return 1
        done
        cmp $work/sfu.bin $work/mine.bin || return 1
        [ "$(build/tc/$cpu/nm -g --defined-only $work/mine.o | grep -c ' mine_')" -ge 15 ] || return 1
    done
}
two_copies() {
    cat >$work/two.c <<'END'
#include "sfu_panic.h"
#include "mine_panic.h"
#include "mine_panic.h"
static char text[2][400];
static unsigned length[2];
static void put(void *ctx, char c) { text[0][length[0]++] = c; (void)ctx; }
static void put_mine(void *ctx, char c) { text[1][length[1]++] = c; (void)ctx; }
static struct sfu_panic panic;
static struct mine_panic mine;
int main(void)
{
    struct sfu_registers here = sfu_registers_here();
    struct mine_registers my;
    unsigned i;

    my.pc = here.pc, my.sp = here.sp, my.fp = here.fp, my.ra = here.ra;
    my.pc_kind = MINE_PC_EXACT, my.has_ra = here.has_ra;
    panic.put = put, mine.put = put_mine;
    sfu_panic_init(&panic, &here, &here + 1, &here, &here + 1);
    mine_panic_init(&mine, &my, &my + 1, &my, &my + 1);
    if (sfu_panic_print(&panic, &here) != SFU_E_MAGIC || mine_panic_print(&mine, &my) != MINE_E_MAGIC)
        return 2;
    for (i = 0; i < sizeof text[0]; i++)
        if (text[0][i] != text[1][i])
            return 3;
    return text[0][0] == '#' ? 0 : 4;
}
END
    for language in "gcc -std=gnu99" "g++ -x c++"; do
        # shellcheck disable=SC2086 # words
        $language $warnings -I$out -I$mine $work/two.c $out/sfu_panic.c $mine/mine_panic.c -o $work/two &&
            $work/two || return 1
    done
}
# The lines for a linker script: room in proportion for sfu-gen; exactly what is needed for sfu-link.
tables=$PWD/build/tools
placed() {
    local linker=$1
    mkdir -p $work/ld && cat >$work/ld/kernel.c <<'END' || return 1
extern char sframe_start[], sframe_end[];
char buffer[4096];
__attribute__((noinline)) int leaf(int x) { return x + buffer[x]; }
__attribute__((noinline)) int caller(int x) { return leaf(x) + leaf(x + 1); }
void _start(void) { buffer[1] = (char)caller((int)(sframe_end - sframe_start)); for (;;) { } }
END
    cat >$work/ld/kernel.ld <<'END' || return 1
ENTRY(_start)
SECTIONS {
    . = 0x100000;
    .text : { *(.text .text.*) }
    .rodata : { *(.rodata .rodata.*) }
    .data : { *(.data .data.*) }
    INCLUDE sfu_tables.ld
    .bss : { *(.bss .bss.*) }
    INCLUDE sfu_input.ld
    /DISCARD/ : { *(.comment .note.*) }
}
END
    gcc -O2 -ffreestanding -fno-pie -fasynchronous-unwind-tables -c $work/ld/kernel.c -o $work/ld/kernel.o || return 1
    rm -f $work/ld/kernel.elf
    if [ "$linker" = sfu-link ]; then
        "$tables/sfu-link" --small ld -L $out -T $work/ld/kernel.ld $work/ld/kernel.o -o $work/ld/kernel.elf
    else
        "$linker" -L $out -T $work/ld/kernel.ld $work/ld/kernel.o -o $work/ld/kernel.elf &&
            "$tables/sfu-gen" --small --strict $work/ld/kernel.elf
    fi && "$tables/sfu-gen" -q --strict --check $work/ld/kernel.elf
}
exactly() {
    placed sfu-link || return 1
    local room
    room=$(readelf -SW $work/ld/kernel.elf |
        sed -n 's/.* \.sfu_sframe *[A-Z]* *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/\1/p')
    [ $(($("$tables/sfu-gen" --small -q --size $work/ld/kernel.elf) + 15)) -ge $((0x$room)) ]
}
try "lines for a linker script: ld and sfu-gen" placed ld
try "lines for a linker script: ld.lld and sfu-gen" placed ld.lld
try "lines for a linker script: sfu-link" exactly
no_name() { ! make -s dist PREFIX=1x; }
try "PREFIX: the same code by other names" renamed
try "PREFIX: two copies in one program, C and C++" two_copies
try "PREFIX that is no name is refused" no_name

# A file of macros is assembled for 32-bit x86, too: the same labels and instructions, and tables of another name.
cat >$work/both.S <<'END'
#include "sfu_asm.h"
    sfu_outermost_begin start
    call work
    sfu_outermost_end start
    sfu_function_begin work
#ifdef __i386__
    sfu_push %ebp
    sfu_pop %ebp
#else
    sfu_push %rbp
    sfu_pop %rbp
#endif
called:
    call work
returned:
    ret
    sfu_trap_begin called, returned
    sfu_trap_row called, cfa=24, ra=0
    sfu_trap_row_here returned, cfa=16, ra=0, fp=8
    sfu_trap_end
    sfu_function_end work
    sfu_thread_entry begin, work
    sfu_thread_entry again, register=%eax
END
both() {
    "$@" -c -I$out $work/both.S -o $work/both.o && objdump -h $work/both.o | grep -F .sfu_sframe.trap.called &&
        objdump -h $work/both.o | grep -F .eh_frame && ! objdump -h $work/both.o | grep -F ' .sframe' &&
        objdump -d $work/both.o >$work/both && for label in start work called returned begin.new begin again; do
        grep -q "<$label>:" $work/both || return 1
    done && grep -q 'push *%ebp' $work/both && grep -q 'pop *%ebp' $work/both && [ "$(grep -c ud2 $work/both)" = 2 ]
}
try "sfu_asm.h for i386, gcc" both gcc -m32
try "sfu_asm.h for i386, clang" both clang --target=i686-linux-gnu

# A kernel's own types, its noinline, and no header of the compiler.
cat >$work/kernel_types.h <<'END'
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef unsigned long size_t, uintptr_t;
typedef _Bool bool;
enum { false, true };
#define NULL ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)
#define noinline __attribute__((__noinline__))
END
for compiler in gcc 'gcc -m32' aarch64-linux-gnu-gcc s390x-linux-gnu-gcc riscv64-linux-gnu-gcc clang \
    'clang --target=i686-linux-gnu' 'clang --target=riscv32-linux-gnu'; do
    # shellcheck disable=SC2086 # words
    try "SFU_TYPES, $compiler" $compiler -std=c99 -ffreestanding -nostdinc -O0 $warnings -Wstrict-prototypes \
        -I$work '-DSFU_TYPES="kernel_types.h"' -c $out/sfu_panic.c -o $work/sfu.o
done

# Files with types of their own, in front of the header and behind it.
cat >$work/calls.h <<'END'
static void own(uint64_t n, bool b, void (*put)(void *, char))
{
    typedef char its_own[sizeof(uint64_t) == 8 && NULL == (void *)0 && offsetof(struct sfu_range, low) == 0 ? 1 : -1];

    if (b == true && sizeof(its_own) == 1 && sfu_panic_start(put) == 0)
        (void)sfu_panic_here();
    else
        (void)sfu_panic_trap((sfu_addr)n, 1, 2, 3);
    sfu_panic_memory(NULL, NULL);
}
extern void (*const calls)(uint64_t, bool, void (*)(void *, char));
void (*const calls)(uint64_t, bool, void (*)(void *, char)) = own;
END
for order in 'kernel_types sfu_own_types' 'sfu_own_types kernel_types'; do
    # shellcheck disable=SC2086 # words
    printf '#include "%s.h"\n' $order calls >$work/own.c
    for compiler in gcc 'gcc -m32' aarch64-linux-gnu-gcc s390x-linux-gnu-gcc riscv64-linux-gnu-gcc clang \
        'clang --target=i686-linux-gnu' 'clang --target=riscv32-linux-gnu'; do
        # shellcheck disable=SC2086 # words
        try "types of its own: $order: $compiler" $compiler -std=c99 -ffreestanding -O0 $warnings \
            -Wstrict-prototypes -nostdinc -I$work -I$out -c $work/own.c -o $work/own.o
    done
done
# shellcheck disable=SC2086 # words
try "the header of types alone" gcc -std=c99 -ffreestanding -nostdinc -O0 $warnings -Wstrict-prototypes -I$out \
    '-DSFU_TYPES="sfu_own_types.h"' -c $out/sfu_panic.c -o $work/sfu.o
# A kernel's own headers, which lack something, or none: sfu_own_types.h beside sfu_panic.c is enough.
for lacks in 'uint64_t <stdint.h>' 'bool <stdbool.h>' everything; do
    headers=$work/lacks/${lacks%% *}
    mkdir -p "$headers"
    case $lacks in
    everything) ;;
    uint64_t*)
        echo '#define UINT8_MAX 0xff' >"$headers/stdint.h"
        echo '#define bool _Bool' >"$headers/stdbool.h"
        ;;
    bool*)
        printf '%s\n' '#pragma GCC system_header' '#include_next <stdint.h>' >"$headers/stdint.h"
        echo 'enum { false, true };' >"$headers/stdbool.h"
        ;;
    esac
    for compiler in gcc aarch64-linux-gnu-gcc clang; do
        only=-nostdinc
        [ "${lacks%% *}" = bool ] && only=-ffreestanding
        for file in sfu_panic sfu_kernel; do
            # shellcheck disable=SC2086 # words
            try "headers without $lacks: $file.c: $compiler" $compiler -std=c99 -ffreestanding -O0 $warnings $only \
                -I$headers -I$out -c $out/$file.c -o $work/lacks.o
        done
    done
done
try "the header of types in C++" g++ -std=c++11 -ffreestanding -Wall -Wextra -Werror -I$out -x c++ -fsyntax-only \
    - <<<'typedef unsigned long long uint64_t;
#include "sfu_own_types.h"
bool own(uint64_t n) { return n != 0 && sfu_panic_here() == 0; }'

mkdir -p $tree
tar -xzf $out/sfu-*.tar.gz -C $tree --strip-components=1
mkdir -p $tree/build
cp build/installed-* $tree/build 2>/dev/null # what is installed need not be asked for again
ln -s "$(readlink -f build/tc)" $tree/build/tc
try "the tarball: make demo" make -s -C $tree demo

rm -r $tree/arch/* $tree/build/port
cp $out/sfu_panic.h $out/sfu_panic.c $tree
echo '#include "sfu_panic.h"' >$tree/sfu.h
echo '#include "sfu_panic.c"' >$tree/sfu.c
cp $out/sfu_asm.h $tree/arch
echo '#include "sfu.h"' >$tree/arch/sfu_arch.h
for part in print/sfu_print print/sfu_build_id print/sfu_cycles print/sfu_calls print/sfu_record print/sfu_all \
    symbols/sfu_symbols; do
    rm $tree/port/$part.[ch]
    echo '#include "sfu.h"' | tee $tree/port/$part.h >$tree/port/$part.c
done
try "the two files: make demo" make -s -C $tree demo
try "the two files: unit tests" make -s -C $tree suite-unit T=plain
try "the two files: tests of the printer" make -s -C $tree suite-print
cp $out/sfu_kernel.h $out/sfu_kernel.c $tree/port/kernel
echo '#include "../kernel/sfu_kernel.h"' | tee $tree/port/print/sfu_sizes.h >$tree/port/print/sfu_sizes.c
T="panic" try "the four files: a kernel described by data" make -s -C $tree suite-kernel-x86_64
try "the two files: a kernel that profiles itself" make -s -C $tree build/profile/x86_64/recipe.elf
for cpu in x86_64 aarch64 s390x; do
    T="$cpu/assert" try "the two files: a panic on bare metal, $cpu" \
        make -s -C $tree suite-bare-$cpu BARE_KINDS_$cpu=$cpu
done
