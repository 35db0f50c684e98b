#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# edges.sh OUT: sfu_kernel.c, compiled by each compiler without a flag of a kernel's, needs nothing but sfu: no library
# for atomic operations, no memcpy. And in C and in C++ SFU_KERNEL_POINTER takes a pointer to a stack and refuses the
# stack itself, SFU_KERNEL_ARRAY takes the stack and refuses a pointer, and SFU_KERNEL_AT refuses what is too far.
set -u
. test/lib/tests.sh
out=$1
log=$out/log

# needs COMPILER...: what the object needs of others; or why there is none
needs() {
    "$@" -std=c99 -ffreestanding -fno-stack-protector -Wall -Wextra -Wpedantic -Werror -I. -Iarch -Iport/print \
        -Iport/kernel -c port/kernel/sfu_kernel.c -o "$out/alone.o" &&
        nm -u "$out/alone.o" | awk '$2 !~ /^(sfu_|_GLOBAL_OFFSET_TABLE_)/ { print $2 }'
}
for compiler in gcc 'x86_64-linux-gnu-gcc -m32' aarch64-linux-gnu-gcc s390x-linux-gnu-gcc riscv64-linux-gnu-gcc \
    clang 'clang --target=aarch64-linux-gnu' 'clang --target=s390x-linux-gnu'; do
    for opt in -O0 -Os; do
        # shellcheck disable=SC2086 # words
        silent "needs nothing: $compiler $opt" needs $compiler $opt
    done
done

# offset COMPILER MEMBER OFFSET: compiles a description of threads whose structure has MEMBER, without a warning. OFFSET
# is that of its stack.
offset() {
    $1 -ffreestanding -Wall -Wextra -Wpedantic -Wconversion -Werror -I. -Iarch -Iport/print -Iport/kernel \
        -c -o "$out/offset.o" - <<END
#include "sfu_kernel.h"
struct task { int id; $2; };
extern const struct sfu_kernel_threads threads;
const struct sfu_kernel_threads threads = {0, $3, 0, 0, 0, 4096, false, 0, NULL, 0, false,
                                           NULL, 0, 0, 0, false, false, NULL, {0, 0, 0, 0, 0}};
END
}
# takes COMPILER MACRO GOOD BAD: MACRO(struct task, stack) compiles with the member GOOD, and not with BAD.
takes() {
    offset "$1" "$3" "$2(struct task, stack)" || return 1
    if offset "$1" "$4" "$2(struct task, stack)" 2>"$out/offset.log"; then
        echo "it takes $4"
        return 1
    fi
    grep 'array' "$out/offset.log" || { echo "it fails by another reason" && cat "$out/offset.log" && return 1; }
}
for compiler in 'gcc -std=c99 -xc' 'g++ -std=c++11 -xc++' 'clang -std=c99 -xc' 'clang++ -std=c++11 -xc++' \
    'riscv64-linux-gnu-gcc -std=c99 -xc'; do
    try "SFU_KERNEL_POINTER: $compiler" takes "$compiler" SFU_KERNEL_POINTER 'char *stack' 'char stack[4096]'
    try "SFU_KERNEL_ARRAY: $compiler" takes "$compiler" SFU_KERNEL_ARRAY 'char stack[4096]' 'char *stack'
    try "SFU_KERNEL_AT: $compiler" takes "$compiler" SFU_KERNEL_AT 'char other[32763], stack' 'char other[32764], stack'
done

# described COMPILER: compiles SFU_KERNEL and all macros of descriptions, in the order that C++ wants, without a
# warning. C++ before C++20 has no designators, but gcc and clang take them.
described() {
    $1 -ffreestanding -Wall -Wextra -Wno-missing-field-initializers -Wconversion -Werror -I. -Iarch \
        -Iport/print -Iport/kernel -c -o "$out/described.o" - <<'END'
#include "sfu_cycles.h"
#include "sfu_kernel.h"
#include "sfu_sizes.h"
enum { MAX_CPUS = 4, MAX_TASKS = 8, TASK_WAITS = 2, TASK_RUNS = 1 };
struct trap { uintptr_t fp, lr, pc, sp; };
struct switch_frame { uintptr_t fp, ra; };
struct task { int state; int id; char name[16]; void *stack; uintptr_t sp; };
struct whole { int state; int id; char name[16]; char stack[4096]; uintptr_t sp; };
extern struct task tasks[MAX_TASKS];
extern struct whole wholes[MAX_TASKS];
extern struct sfu_kernel sfu, unnumbered, inside;
void console_putc(int c);
int cpu_number(void);
void send_nmi(void);
SFU_KERNEL(sfu, console_putc(c), MAX_CPUS, cpu_number(), send_nmi(),
           .threads = {SFU_KERNEL_THREADS(struct task, stack, sp, name, id), .stack_size = 4096, .guard = 4096,
                       .array = tasks, .num = MAX_TASKS,
                       .states = SFU_KERNEL_STATES(struct task, state, 1u << TASK_WAITS, 1u << TASK_RUNS)},
           .switched = SFU_KERNEL_SWITCHED(struct switch_frame, ra, fp),
           .trap = SFU_KERNEL_TRAP(struct trap, pc, sp, fp, lr));
SFU_KERNEL(unnumbered, console_putc(c), 1, 0, (void)0,
           .threads = {SFU_KERNEL_THREADS(struct task, stack, sp, name), .stack_size = 4096, .array = tasks, .num = 1},
           .switched = SFU_KERNEL_SWITCHED(struct switch_frame, ra, fp));
SFU_KERNEL(inside, console_putc(c), 1, 0, (void)0,
           .threads = {SFU_KERNEL_THREADS_INSIDE(struct whole, stack, sp, name, id), .array = wholes, .num = MAX_TASKS},
           .switched = SFU_KERNEL_SWITCHED(struct switch_frame, ra, fp),
           .trap = SFU_KERNEL_TRAP(struct trap, pc, sp, fp, lr));
END
}
for compiler in 'gcc -std=c99 -xc' 'g++ -std=c++20 -xc++' 'g++ -std=c++11 -xc++' 'clang -std=c99 -xc' \
    'clang++ -std=c++20 -xc++' 'clang++ -std=c++11 -Wno-c++20-designator -xc++' 'riscv64-linux-gnu-gcc -std=c99 -xc'; do
    try "SFU_KERNEL: $compiler" described "$compiler"
done
