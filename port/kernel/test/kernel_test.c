/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What no kernel of main.c can show: lists and stacks that are damaged, trap frames at the ends of the address space,
 * user mode, entries that are still at work. The callbacks are those that sfu_kernel_init gives to the target.
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <pthread.h>

#include "sfu_arch.h"
#include "sfu_cycles.h"
#include "sfu_kernel.h"
#include "sfu_sizes.h"
#include "test/lib/check.h"

enum { NOT_SAVED = SFU_KERNEL_NOT_SAVED };

/* An x86_64 kernel's trap frame. */
struct trap {
    uint64_t rbp, r10, error, rip, cs, rflags, rsp, ss;
};

static uint64_t low[64], high[64]; /* stacks of the kernel */
static struct sfu_kernel kernel;
static struct sfu_kernel_stack stacks[4];
static char output[8192];
static size_t length;
static unsigned calls;

static void put(void *ctx, char c)
{
    (void)ctx;
    assert_true(length < sizeof output - 1);
    output[length++] = c;
    output[length] = '\0';
}

/* A table of one function, of 64 bytes from TABLE + 0x1040 on: CFA = SP + 8. Version 2, amd64. */
static const uint8_t table[] = {0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0,  1, 0, 0, 0,    1,    0, 0, 0,    3,
                                0,    0,    0, 0, 0, 0, 0,    20, 0, 0, 0, 0x40, 0x10, 0, 0, 0x40, 0,
                                0,    0,    0, 0, 0, 0, 1,    0,  0, 0, 0, 0,    0,    0, 0, 3,    8};

static uint64_t at(const void *p)
{
    return (uintptr_t)p;
}

static int reset(void **state)
{
    (void)state;
    memset(&kernel, 0, sizeof kernel);
    memset(low, 0, sizeof low);
    memset(high, 0, sizeof high);
    length = 0;
    output[0] = '\0';
    calls = 0;
    stacks[0] = (struct sfu_kernel_stack){low, low + 64, 0, 0};
    stacks[1] = (struct sfu_kernel_stack){high, high + 64, 0, 0};
    kernel.panic.put = put;
    kernel.stacks = stacks;
    kernel.num_stacks = 2;
    kernel.trap = (struct sfu_kernel_frame){offsetof(struct trap, rip), offsetof(struct trap, rsp),
                                            offsetof(struct trap, rbp), NOT_SAVED, 0};
    kernel.entries = (struct sfu_range){0x5000, 0x6000};
    assert_int_equal(sfu_kernel_init(&kernel, table, table + sizeof table), SFU_OK);
    return 0;
}

static struct sfu_target *target(void)
{
    return &kernel.panic.own;
}

static bool find(uint64_t addr, struct sfu_stack *stack)
{
    return target()->find_stack(target()->ctx, addr, stack);
}

static void test_stacks(void **state)
{
    static uint8_t both[512];
    struct sfu_stack stack;

    (void)state;
    assert_true(find(at(low), &stack) && stack.low == at(low) && stack.high == at(low + 64) && stack.bytes == low);
    assert_true(find(at(high + 64), &stack) && stack.low == at(high));
    assert_false(find(at(low) < at(high) ? at(low) - 1 : at(high) - 1, &stack));
    assert_false(find(0, &stack));
    assert_false(find(UINT64_MAX, &stack));
    stacks[0] = (struct sfu_kernel_stack){both, both + 256, 0, 0}; /* they touch: the upper one begins there */
    stacks[1] = (struct sfu_kernel_stack){both + 256, both + 512, 0, 0};
    assert_true(find(at(both + 256), &stack) && stack.low == at(both + 256));
    stacks[2] = stacks[0];
    stacks[0] = stacks[1];
    stacks[1] = stacks[2];
    assert_true(find(at(both + 256), &stack) && stack.low == at(both + 256));
    assert_true(find(at(both + 255), &stack) && stack.low == at(both));
    stacks[1].guard = 64; /* below it is what overflows it */
    assert_true(find(at(both) - 64, &stack) && stack.low == at(both));
    assert_false(find(at(both) - 65, &stack));
    stacks[1].guard = UINT64_MAX; /* more than there is */
    assert_true(find(0, &stack) && stack.low == at(both));
    stacks[0] = (struct sfu_kernel_stack){both, both, 0, 0}; /* empty, upside down, not set */
    stacks[1] = (struct sfu_kernel_stack){both + 8, both, 64, 0};
    stacks[2] = (struct sfu_kernel_stack){NULL, NULL, 64, 0};
    kernel.num_stacks = 3;
    assert_false(find(at(both), &stack));
    assert_false(find(0, &stack));
}

/* Stacks without guard pages, which touch: an address counts as that of the stack that it lies on, whatever the order,
 * then as that of the stack that ends there, and only then as one below a stack. */
static void test_guards_on_stacks(void **state)
{
    static uint8_t memory[512];
    unsigned order;
    struct sfu_stack stack;

    (void)state;
    for (order = 0; order < 2; order++) {
        stacks[order] = (struct sfu_kernel_stack){memory, memory + 128, 128, 0};
        stacks[1 - order] = (struct sfu_kernel_stack){memory + 192, memory + 512, 128, 0};
        assert_true(find(at(memory + 100), &stack) && stack.low == at(memory));
        assert_true(find(at(memory + 128), &stack) && stack.low == at(memory));
        assert_true(find(at(memory + 129), &stack) && stack.low == at(memory + 192));
        assert_true(find(at(memory) - 128, &stack) && stack.low == at(memory));
    }
    stacks[0].guard = stacks[1].guard = 512; /* of two that have overflowed alike it is the first one */
    assert_true(find(at(memory) - 1, &stack) && stack.low == at(stacks[0].low));
}

/* Where there are no guard pages, what lies below a stack is read, too, but counts as the stack's for nothing else. */
static void test_guard_is_memory(void **state)
{
    static uint8_t memory[512];
    struct sfu_stack stack;

    (void)state;
    kernel.guard_is_memory = true;
    stacks[0] = (struct sfu_kernel_stack){memory + 128, memory + 384, 64, 128};
    assert_true(find(at(memory + 100), &stack) && stack.low == at(memory + 64) && stack.high == at(memory + 256));
    assert_ptr_equal(stack.bytes, memory + 64);
    assert_true(find(at(memory + 64), &stack) && stack.low == at(memory + 64));
    assert_false(find(at(memory + 63), &stack));
    assert_true(find(at(memory + 128), &stack) && stack.low == at(memory + 128) && stack.bytes == memory + 128);
    assert_true(find(at(memory + 256), &stack) && stack.low == at(memory + 256));
    kernel.num_stacks = 1;
    kernel.rest = (struct sfu_kernel_stack){memory + 400, memory + 512, 8, 0};
    assert_true(find(at(memory + 392), &stack) && stack.low == at(memory + 392) && stack.high == at(memory + 512));
    stacks[0].guard = UINT64_MAX; /* more than there is */
    assert_true(find(0, &stack) && stack.low == 0 && at(stack.bytes) == 0 && stack.high == at(memory + 256));
}

static struct sfu_kernel_thread two[2];

static bool next_of_two(void *ctx, struct sfu_kernel_thread *thread)
{
    const unsigned next = thread->cursor == NULL ? 0 : thread->cursor == &two[0] ? 1 : 2;

    (void)ctx;
    if (next == 2)
        return false;
    *thread = two[next];
    thread->cursor = &two[next];
    return true;
}

/* Threads without guard pages, whose stacks touch: what one that runs has below its stack is its own, although it lies
 * on the stack of one that waits. In the trace of that one it is the other way round. */
static void test_guard_on_next_stack(void **state)
{
    static uint64_t memory[96];
    uint64_t *const lower = memory + 32, *const upper = memory + 64;
    struct sfu_stack stack;
    unsigned order;

    (void)state;
    kernel.num_stacks = 0;
    kernel.next_thread = next_of_two;
    for (order = 0; order < 2; order++) {
        memset(two, 0, sizeof two);
        two[order].stack_low = lower;
        two[order].stack_high = two[1 - order].stack_low = upper;
        two[1 - order].stack_high = memory + 96;
        two[0].guard = two[1].guard = 8 * sizeof memory[0];
        two[1 - order].running = true;
        kernel.guard_is_memory = false;
        assert_true(find(at(upper) - 8, &stack) && stack.high == at(upper) && stack.low == at(lower));
        kernel.guard_is_memory = true;
        assert_true(find(at(upper) + 8, &stack) && stack.low == at(upper) && stack.high == at(memory + 96));
        assert_true(find(at(upper) - 8, &stack) && stack.low == at(upper - 8) && stack.bytes == upper - 8);
        assert_true(stack.high == at(memory + 96));
        assert_true(find(at(upper - 8), &stack) && stack.high == at(memory + 96));
        assert_true(find(at(upper - 8) - 8, &stack) && stack.high == at(upper) && stack.low == at(lower));
        assert_true(find(at(lower - 8), &stack) && stack.high == at(upper) && stack.low == at(lower - 8));
        assert_false(find(at(lower - 8) - 1, &stack));
        kernel.thread = &two[order];
        assert_true(find(at(upper) - 8, &stack) && stack.high == at(upper) && stack.low == at(lower));
        kernel.thread = NULL;
        two[order].running = true; /* either may be this CPU's */
        assert_true(find(at(upper) - 8, &stack) && stack.high == at(upper));
    }
}

/* Several stacks side by side. Only the first one has a guard. What is left over at the end is a stack, too. */
static void test_stacks_of_cpus(void **state)
{
    static uint8_t memory[512];
    struct sfu_stack stack;
    unsigned i;

    (void)state;
    stacks[0] = (struct sfu_kernel_stack){memory, memory + 300, 32, 100};
    for (i = 0; i < 300; i++) {
        assert_true(find(at(memory + i), &stack) && stack.bytes == memory + i / 100 * 100);
        assert_true(stack.low == at(stack.bytes) && stack.high == stack.low + 100);
    }
    assert_true(find(at(memory + 300), &stack) && stack.low == at(memory + 200) && stack.high == at(memory + 300));
    assert_true(find(at(memory) - 32, &stack) && stack.low == at(memory) && stack.high == at(memory + 100));
    assert_false(find(at(memory) - 33, &stack));
    stacks[0].high = memory + 250;
    assert_true(find(at(memory + 199), &stack) && stack.low == at(memory + 100) && stack.high == at(memory + 200));
    assert_true(find(at(memory + 200), &stack) && stack.low == at(memory + 200) && stack.high == at(memory + 250));
    assert_true(find(at(memory + 250), &stack) && stack.low == at(memory + 200));
    stacks[0].each = 1000; /* larger than all of it */
    assert_true(find(at(memory + 100), &stack) && stack.low == at(memory) && stack.high == at(memory + 250));
    stacks[0].each = 100; /* an address at its end lies on the next one */
    stacks[1] = (struct sfu_kernel_stack){memory + 250, memory + 500, 0, 250};
    assert_true(find(at(memory + 250), &stack) && stack.low == at(memory + 250) && stack.high == at(memory + 500));
}

/* More of them than a byte can count. */
static void test_many_stacks(void **state)
{
    static uint64_t memory[300];
    static struct sfu_kernel_stack many[300];
    struct sfu_stack stack;
    unsigned i;

    (void)state;
    for (i = 0; i < 300; i++)
        many[i] = (struct sfu_kernel_stack){memory + i, memory + i + 1, 0, 0};
    kernel.stacks = many;
    kernel.num_stacks = 300;
    assert_true(find(at(memory + 299), &stack) && stack.low == at(memory + 299));
}

/* Memory of stacks without bounds comes behind everything else. */
static void test_rest(void **state)
{
    static uint8_t memory[512];
    unsigned order;
    struct sfu_stack stack;

    (void)state;
    assert_false(find(at(memory + 300), &stack));
    kernel.rest = (struct sfu_kernel_stack){memory, memory + 512, 0, 0};
    stacks[0] = (struct sfu_kernel_stack){memory + 128, memory + 256, 32, 0};
    assert_true(find(at(memory + 200), &stack) && stack.low == at(memory + 128) && stack.high == at(memory + 256));
    assert_true(find(at(memory + 100), &stack) && stack.low == at(memory + 128)); /* it has overflowed */
    /* What is left of it above and below that stack are two stacks. */
    assert_true(find(at(memory + 300), &stack) && stack.low == at(memory + 256) && stack.high == at(memory + 512));
    assert_ptr_equal(stack.bytes, memory + 256);
    assert_true(find(at(memory + 511), &stack) && find(at(memory + 512), &stack) && stack.low == at(memory + 256));
    assert_true(find(at(memory + 95), &stack) && stack.low == at(memory) && stack.high == at(memory + 128));
    assert_true(find(at(memory), &stack) && stack.bytes == memory);
    assert_false(find(at(memory + 513), &stack));
    kernel.rest.guard = 16;
    assert_true(find(at(memory) - 16, &stack) && stack.low == at(memory) && stack.high == at(memory + 128));
    assert_false(find(at(memory) - 17, &stack));
    stacks[1] = (struct sfu_kernel_stack){memory + 32, memory + 96, 0, 0}; /* between two stacks */
    assert_true(find(at(memory + 100), &stack) && stack.low == at(memory + 128));
    stacks[0].guard = 0;
    assert_true(find(at(memory + 100), &stack) && stack.low == at(memory + 96) && stack.high == at(memory + 128));
    kernel.num_stacks = 4;
    for (order = 0; order < 2; order++) { /* below and above it two each, which touch, in whatever order */
        stacks[order] = (struct sfu_kernel_stack){memory, memory + 32, 0, 0};
        stacks[1 - order] = (struct sfu_kernel_stack){memory + 32, memory + 96, 0, 0};
        stacks[2 + order] = (struct sfu_kernel_stack){memory + 128, memory + 256, 0, 0};
        stacks[3 - order] = (struct sfu_kernel_stack){memory + 256, memory + 384, 0, 0};
        assert_true(find(at(memory + 100), &stack) && stack.low == at(memory + 96) &&
                    stack.high == at(memory + 128));
        assert_ptr_equal(stack.bytes, memory + 96);
    }
    kernel.num_stacks = 2;
    stacks[0] = (struct sfu_kernel_stack){memory + 8, memory + 8, 0, 0}; /* empty ones bound nothing */
    stacks[1] = (struct sfu_kernel_stack){memory + 16, memory + 8, 0, 0};
    assert_true(find(at(memory + 100), &stack) && stack.low == at(memory) && stack.high == at(memory + 512));
    stacks[0] = (struct sfu_kernel_stack){memory + 200, memory + 200, 0, 0};
    assert_true(find(at(memory + 100), &stack) && stack.low == at(memory) && stack.high == at(memory + 512));
}

/* A list whose end was overwritten. */
static bool next_for_ever(void *ctx, struct sfu_kernel_thread *thread)
{
    (void)ctx;
    assert_true(calls != 0 || (thread->cursor == NULL && thread->sp == 0 && !thread->running));
    calls++;
    thread->cursor = low;
    thread->sp = calls % 2 == 0 ? 0x1234 : at(low);
    return true;
}

static void test_endless_list(void **state)
{
    struct sfu_stack stack;

    (void)state;
    kernel.next_thread = next_for_ever;
    assert_false(find(0x1234, &stack));
    assert_int_equal(calls, 4096);
    calls = 0;
    kernel.max_threads = 3;
    assert_false(find(0x1234, &stack));
    assert_int_equal(calls, 3);
    calls = 0;
    kernel.switched = (struct sfu_kernel_frame){8, NOT_SAVED, 0, NOT_SAVED, 16};
    assert_int_equal(sfu_kernel_print_threads(&kernel), 3);
    assert_non_null(strstr(output, "trace of 0: SP 0x1234 lies on no stack\n"));
    assert_non_null(strstr(output, "trace of 0:\n#0  0x0000000000000000\n"));
}

/* Where a thread's frame would wrap around the address space, or leave its stack. */
static uint64_t thread_sp;

static bool next_one(void *ctx, struct sfu_kernel_thread *thread)
{
    (void)ctx;
    thread->sp = thread_sp;
    return thread->number++ == 0;
}

static void test_thread_outside(void **state)
{
    uint64_t sps[] = {UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 15, at(low + 63), at(low + 64), 0};
    unsigned i;

    (void)state;
    kernel.next_thread = next_one;
    kernel.switched = (struct sfu_kernel_frame){8, NOT_SAVED, 0, NOT_SAVED, 16};
    for (i = 0; i < sizeof sps / sizeof sps[0]; i++) {
        thread_sp = sps[i];
        length = 0;
        assert_int_equal(sfu_kernel_print_threads(&kernel), 1);
        assert_non_null(strstr(output, " lies on no stack\n"));
        assert_null(strstr(output, "#0"));
    }
}

/* ---- threads by description ---- */

struct task {
    struct task *next;
    char name[8];
    int state, id;
    uint64_t sp;
    uint64_t *stack;
};
static struct task tasks[4];
static void *first_task;

static enum sfu_kernel_state state_of(const void *thread)
{
    return (enum sfu_kernel_state)((const struct task *)thread)->state;
}

/* Four: a free place, one that waits on LOW, one that runs on HIGH, and one that waits without a stack of its own. */
static void describe(void)
{
    static const struct task four[4] = {{NULL, "free", 0, 1, 0, NULL},
                                        {NULL, "wai\x01t", 1, 2, 0, low},
                                        {NULL, "runs", 2, 3, 0, high},
                                        {NULL, "", 1, 4, 0, NULL}};

    memcpy(tasks, four, sizeof tasks);
    tasks[1].sp = at(low + 8);
    tasks[2].sp = 0x5555;
    tasks[3].sp = at(low + 16);
    low[9] = low[17] = 0x3000;
    kernel.num_stacks = 0;
    kernel.switched = (struct sfu_kernel_frame){8, NOT_SAVED, 0, NOT_SAVED, 16};
    kernel.threads = (struct sfu_kernel_threads){.array = tasks,
                                                 .num = 4,
                                                 .size = sizeof(struct task),
                                                 .stack_low = offsetof(struct task, stack),
                                                 .stack_size = sizeof low,
                                                 .sp = offsetof(struct task, sp),
                                                 .name = offsetof(struct task, name),
                                                 .number = offsetof(struct task, id),
                                                 .state = state_of};
}

static void test_described(void **state)
{
    static const char expected[] = "trace of 2 wai:\n#0  0x0000000000003000\n";
    struct sfu_stack stack;

    (void)state;
    describe();
    assert_int_equal(sfu_kernel_print_threads(&kernel), 2);
    assert_ptr_equal(strstr(output, expected), output);
    assert_non_null(strstr(output, "\ntrace of 4:\n#0  0x0000000000003000\n"));
    assert_null(strstr(output, "runs"));
    assert_null(strstr(output, "free"));
    assert_true(find(at(low + 3), &stack) && stack.low == at(low) && stack.high == at(low + 64));
    assert_true(find(at(high + 3), &stack) && stack.low == at(high)); /* of the one that runs */
    kernel.threads.num = 2;
    assert_false(find(at(high + 3), &stack));
    kernel.threads.num = 0;
    assert_false(find(at(low + 3), &stack));
}

/* What can be printed of a name, up to '~', and no more than 32 characters. */
static void test_long_name(void **state)
{
    static const struct {
        const char *name;
        uint64_t sp;
    } threads[2] = {{"~a", 0x1234}, {"0123456789abcdef0123456789ABCDEFG", 0x1234}};

    (void)state;
    kernel.switched = (struct sfu_kernel_frame){8, NOT_SAVED, 0, NOT_SAVED, 16};
    kernel.threads = (struct sfu_kernel_threads){.array = threads,
                                                 .num = 2,
                                                 .size = sizeof threads[0],
                                                 .stack_low = NOT_SAVED,
                                                 .sp = 8,
                                                 .name = SFU_KERNEL_FIRST,
                                                 .name_is_pointer = true,
                                                 .number = NOT_SAVED};
    assert_int_equal(sfu_kernel_print_threads(&kernel), 2);
    assert_string_equal(output, "trace of 1 ~a: SP 0x1234 lies on no stack\n"
                                "trace of 2 0123456789abcdef0123456789ABCDEF: SP 0x1234 lies on no stack\n");
}

/* Which of two layouts the context switch has saved: a word on the thread's stack says that. */
static void test_two_layouts(void **state)
{
    unsigned other;

    (void)state;
    for (other = 0; other < 2; other++) {
        reset(NULL);
        describe();
        kernel.threads.num = 2;
        kernel.other_switched = (struct sfu_kernel_frame){24, NOT_SAVED, 0, NOT_SAVED, 32};
        kernel.kind = 16;
        kernel.kind_mask = 0xf;
        kernel.kind_other = 1;
        low[10] = 0x20 + other;
        low[11] = 0x4000;
        assert_int_equal(sfu_kernel_print_threads(&kernel), 1);
        assert_non_null(strstr(output, other ? "\n#0  0x0000000000004000\n" : "\n#0  0x0000000000003000\n"));
    }
}

/* One that has never run is named. All stacks have the same guard. */
static void test_described_new(void **state)
{
    struct sfu_stack stack;

    (void)state;
    describe();
    tasks[1].state = SFU_KERNEL_NEW;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 1);
    assert_ptr_equal(strstr(output, "trace of 2 wai: has not run yet\ntrace of 4:\n#0"), output);
    assert_true(find(at(low + 3), &stack) && stack.low == at(low));
    kernel.threads.num = 2;
    assert_false(find(at(low) - 8, &stack));
    kernel.threads.guard = 8;
    assert_true(find(at(low) - 8, &stack) && stack.low == at(low));
    assert_false(find(at(low) - 9, &stack));
}

/* A thread whose state is an integer of one of these sizes. */
struct sized {
    char name[8];
    uint64_t *stack;
    uint64_t sp;
    union {
        int8_t of_1;
        int16_t of_2;
        int32_t of_4;
        int64_t of_8;
    } state;
};

/* The last of three threads has the state VALUE in an integer of SIZE bytes; the others, 9 and 31, wait. Returns how
 * many traces were printed. */
static unsigned print_by_states(uint8_t size, int64_t value)
{
    static struct sized three[3];
    static const int64_t waiting[2] = {9, 31};
    unsigned i;

    memset(three, 0xff, sizeof three);
    for (i = 0; i < 3; i++) {
        const int64_t state = i < 2 ? waiting[i] : value;

        memcpy(three[i].name, "task", 5);
        three[i].stack = low;
        three[i].sp = at(low + 8);
        if (size == 1)
            three[i].state.of_1 = (int8_t)state;
        else if (size == 2)
            three[i].state.of_2 = (int16_t)state;
        else if (size == 4)
            three[i].state.of_4 = (int32_t)state;
        else
            three[i].state.of_8 = state;
    }
    describe();
    kernel.threads = (struct sfu_kernel_threads){.array = three,
                                                 .num = 3,
                                                 .size = sizeof three[0],
                                                 .stack_low = offsetof(struct sized, stack),
                                                 .stack_size = sizeof low,
                                                 .sp = offsetof(struct sized, sp),
                                                 .name = SFU_KERNEL_FIRST,
                                                 .number = NOT_SAVED};
    kernel.threads.states = (struct sfu_kernel_states){offsetof(struct sized, state), size,
                                                       UINT32_C(1) << 31 | 1 << 9 | 1, 1 << 4 | 1 << 1, 1 << 7};
    length = 0;
    memset(output, 0, sizeof output);
    return sfu_kernel_print_threads(&kernel);
}

/* Values in the structure say what a thread does, in integers of each size: those of no set are no thread's. */
static void test_described_states(void **state)
{
    static const uint8_t sizes[] = {1, 2, 4, 8};
    static const int64_t others[] = {2, 3, 8, 30, 32, 33, 41, 63, -1, -32};
    unsigned i, j;

    (void)state;
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(print_by_states(sizes[i], 0), 3);
        assert_int_equal(print_by_states(sizes[i], 31), 3);
        assert_int_equal(print_by_states(sizes[i], 4), 2);
        assert_null(strstr(output, "has not run"));
        assert_int_equal(print_by_states(sizes[i], 7), 2);
        assert_non_null(strstr(output, "task: has not run yet\n"));
        for (j = 0; j < sizeof others / sizeof others[0]; j++)
            assert_int_equal(print_by_states(sizes[i], others[j]), 2);
    }
    assert_int_equal(print_by_states(8, INT64_MIN), 2);
    assert_int_equal(print_by_states(8, INT64_C(1) << 32 | 9), 2);
    assert_int_equal(print_by_states(4, 0x10009), 2);
    assert_int_equal(print_by_states(2, 0x109), 2);
}

static void test_states_macro(void **state)
{
    static const struct sfu_kernel_states states = SFU_KERNEL_STATES(struct task, state, 1u << 5, 1u << 6);

    (void)state;
    assert_true(states.at == offsetof(struct task, state) && states.size == sizeof(int));
    assert_true(states.waits == 32 && states.runs == 64 && states.is_new == 0);
}

/* The same as a list, which ends, or leads back to its first thread, or to another one. */
static void test_described_list(void **state)
{
    unsigned i;

    (void)state;
    describe();
    kernel.threads.array = NULL;
    kernel.threads.list = &first_task;
    first_task = NULL;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 0);
    first_task = tasks;
    for (i = 0; i < 3; i++)
        tasks[i].next = &tasks[i + 1];
    assert_int_equal(sfu_kernel_print_threads(&kernel), 2);
    tasks[3].next = tasks;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 2);
    tasks[3].next = &tasks[3];
    kernel.max_threads = 9;
    assert_true(sfu_kernel_print_threads(&kernel) <= 9);
    tasks[1].state = tasks[2].state = tasks[3].state = 0; /* for ever nothing */
    assert_int_equal(sfu_kernel_print_threads(&kernel), 0);
    kernel.threads.state = NULL;
    tasks[3].next = NULL;
    kernel.threads.name = kernel.threads.number = NOT_SAVED;
    length = 0;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 4);
    assert_non_null(strstr(output, "trace of 2:\n#0  0x0000000000003000\n"));
}

/* An array of pointers, some of which are NULL; stacks of several sizes; names elsewhere. */
static void test_described_pointers(void **state)
{
    static struct named {
        uint64_t sp, *stack;
        size_t bytes;
        const char *name;
    } idle = {0, low, 64, "idle"}, shell = {0, high, sizeof high, NULL};
    static const struct named *const pointers[] = {NULL, &idle, NULL, &shell, NULL};
    struct sfu_stack stack;

    (void)state;
    idle.sp = at(low + 2);
    shell.sp = at(high + 8);
    low[3] = 0x4000;
    high[9] = 0x5000;
    kernel.num_stacks = 0;
    kernel.switched = (struct sfu_kernel_frame){8, NOT_SAVED, 0, NOT_SAVED, 16};
    kernel.threads = (struct sfu_kernel_threads){.array = pointers,
                                                 .num = 5,
                                                 .pointers = true,
                                                 .stack_low = offsetof(struct named, stack),
                                                 .stack_size_at = offsetof(struct named, bytes),
                                                 .sp = offsetof(struct named, sp),
                                                 .name = offsetof(struct named, name),
                                                 .name_is_pointer = true,
                                                 .number = NOT_SAVED};
    assert_int_equal(sfu_kernel_print_threads(&kernel), 2);
    assert_ptr_equal(strstr(output, "trace of 1 idle:\n#0  0x0000000000004000\n"), output);
    assert_non_null(strstr(output, "\ntrace of 2:\n#0  0x0000000000005000\n"));
    assert_true(find(at(low + 3), &stack) && stack.low == at(low) && stack.high == at(low + 8));
    assert_false(find(at(low + 9), &stack));
    assert_true(find(at(high + 63), &stack) && stack.high == at(high + 64));
    kernel.threads.num = 3;
    assert_false(find(at(high + 3), &stack));
    kernel.threads.num = 0;
    assert_false(find(at(low + 3), &stack));
}

/* Threads that have a node of a ring of nodes in them, of which the list's head is one. The switch saves registers in
 * the thread's structure. */
static void test_described_nodes(void **state)
{
    static struct node {
        struct node *before, *next;
    } head;
    static struct linked {
        uint64_t flags;
        struct node node;
        uint64_t pc, fp, sp;
        uint64_t *stack;
    } idle, shell;
    struct sfu_stack stack;

    (void)state;
    idle = (struct linked){1, {&head, &shell.node}, 0x4000, 0, at(low + 2), low};
    shell = (struct linked){1, {&idle.node, &head}, 0x5000, 0, at(high + 2), high};
    head = (struct node){&shell.node, &idle.node};
    kernel.num_stacks = 0;
    kernel.switched = (struct sfu_kernel_frame){0, 16, 8, NOT_SAVED, 0};
    kernel.threads = (struct sfu_kernel_threads){.list = (void *const *)&head.next,
                                                 .next = offsetof(struct linked, node.next),
                                                 .node = offsetof(struct linked, node),
                                                 .stack_low = offsetof(struct linked, stack),
                                                 .stack_size = sizeof low,
                                                 .sp = offsetof(struct linked, pc),
                                                 .registers_inside = true,
                                                 .name = NOT_SAVED,
                                                 .number = NOT_SAVED};
    assert_int_equal(sfu_kernel_print_threads(&kernel), 2);
    assert_ptr_equal(strstr(output, "trace of 1:\n#0  0x0000000000004000\n"), output);
    assert_non_null(strstr(output, "\ntrace of 2:\n#0  0x0000000000005000\n"));
    assert_true(find(at(high + 2), &stack) && stack.low == at(high) && stack.high == at(high + 64));
    assert_false(find(at(&head), &stack));
    length = 0;
    head.next = &head; /* an empty one */
    assert_int_equal(sfu_kernel_print_threads(&kernel), 0);
    head.next = &idle.node; /* one that leaves out its head, and one that ends */
    shell.node.next = &idle.node;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 2);
    shell.node.next = NULL;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 2);
}

/* A frame of the exception entry, behind its call of C, with the trap frame at its SP. */
static struct sfu_frame entry_frame(const void *sp)
{
    struct sfu_frame frame;

    memset(&frame, 0, sizeof frame);
    frame.regs.pc = 0x5010;
    frame.regs.pc_kind = SFU_PC_RETURN;
    frame.regs.sp = at(sp);
    frame.saved = frame.regs.sp;
    frame.depth = 3;
    return frame;
}

static int cross(const struct sfu_frame *frame, struct sfu_interrupted *in)
{
    memset(in, 0, sizeof *in);
    return target()->trap_hook(target()->ctx, frame, SFU_E_NO_FDE, in);
}

static void test_cross(void **state)
{
    struct sfu_frame frame = entry_frame(low + 8);
    struct trap *trap = (struct trap *)(low + 8);
    struct sfu_interrupted in;

    (void)state;
    trap->rip = 0x1004;
    trap->rsp = at(low + 32);
    trap->rbp = 0x77;
    assert_int_equal(cross(&frame, &in), SFU_OK);
    assert_true(in.regs.pc == 0x1004 && in.regs.sp == at(low + 32) && in.regs.fp == 0x77 && !in.regs.has_ra);
    assert_true(in.regs.pc_kind == SFU_PC_EXACT && in.guess == SFU_GUESS_NONE);
    kernel.trap.fp = NOT_SAVED; /* counts as 0 */
    assert_int_equal(cross(&frame, &in), SFU_OK);
    assert_true(in.regs.pc == 0x1004 && in.regs.fp == 0 && in.regs.ra == 0);
    kernel.trap_at = 16;
    frame.regs.sp -= 16;
    assert_int_equal(cross(&frame, &in), SFU_OK);
    assert_int_equal(in.regs.pc, 0x1004);
    frame.regs.sp = UINT64_MAX - 15; /* the trap frame would wrap */
    assert_int_equal(cross(&frame, &in), SFU_E_NO_FDE);
    frame.regs.sp = UINT64_MAX - 16; /* it would begin at the last byte, where no stack is */
    assert_int_equal(cross(&frame, &in), SFU_E_STACK);
    kernel.trap_at = 0;
    assert_int_equal(cross(&frame, &in), SFU_E_STACK);
    frame.regs.sp = at(low + 64) - 8; /* only a part of it is on the stack */
    assert_int_equal(cross(&frame, &in), SFU_E_STACK);
    frame = entry_frame(low + 8);
    frame.regs.pc = 0x5000; /* the call in front of it lies outside */
    assert_int_equal(cross(&frame, &in), SFU_E_NO_FDE);
    frame.regs.pc = 0x5001; /* it is the first instruction */
    assert_int_equal(cross(&frame, &in), SFU_OK);
    frame.regs.pc = 0x6000; /* the call is the last instruction */
    assert_int_equal(cross(&frame, &in), SFU_OK);
    frame.regs.pc = 0x6001;
    assert_int_equal(cross(&frame, &in), SFU_E_NO_FDE);
    frame.regs.pc = 0x5010; /* the entry itself was interrupted: nothing says how much it has saved */
    frame.regs.pc_kind = SFU_PC_EXACT;
    assert_int_equal(cross(&frame, &in), SFU_E_NO_FDE);
    frame.regs.pc_kind = SFU_PC_RETURN;
    kernel.entries = (struct sfu_range){0, 0};
    assert_int_equal(cross(&frame, &in), SFU_E_NO_FDE);
    frame.regs.pc = 0;
    assert_int_equal(cross(&frame, &in), SFU_E_NO_FDE);
    kernel.zero_ends = true;
    assert_int_equal(cross(&frame, &in), SFU_END);
}

static const void *current;

static const void *current_trap(void *ctx)
{
    assert_ptr_equal(ctx, kernel.panic.ctx);
    calls++;
    return current;
}

/* An entry that has left the stack of its trap frame: only the kernel knows where that is. */
static void test_current_trap(void **state)
{
    struct sfu_frame frame = entry_frame(high + 60);
    struct trap *trap = (struct trap *)(low + 8);
    static struct trap elsewhere = {.rip = 0x1004};
    struct sfu_interrupted in;
    uint64_t value = 5;

    (void)state;
    kernel.current_trap = current_trap;
    kernel.trap_at = 24; /* is not used */
    trap->rip = 0x1004;
    trap->rsp = at(low + 32);
    trap->rbp = 0x77;
    current = trap;
    assert_int_equal(cross(&frame, &in), SFU_OK);
    assert_true(in.regs.pc == 0x1004 && in.regs.sp == at(low + 32) && in.regs.fp == 0x77);
    frame.regs.sp = UINT64_MAX;
    assert_int_equal(cross(&frame, &in), SFU_OK);
    current = &elsewhere; /* on no stack: not read */
    assert_int_equal(cross(&frame, &in), SFU_E_STACK);
    current = NULL;
    assert_int_equal(cross(&frame, &in), SFU_E_NO_FDE);
    frame.regs.pc = 0x4000; /* no entry: not asked */
    calls = 0;
    assert_int_equal(cross(&frame, &in), SFU_E_NO_FDE);
    assert_int_equal(calls, 0);
    current = trap; /* registers of what was interrupted */
    kernel.registers = (const int16_t[]){offsetof(struct trap, r10)};
    kernel.num_registers = 1;
    trap->r10 = 0x1010;
    frame.interrupted = true;
    frame.regs.pc = 0x1004;
    frame.regs.sp = at(low + 32);
    frame.regs.pc_kind = SFU_PC_EXACT;
    assert_int_equal(target()->reg(target()->ctx, &frame, 0, &value), 0);
    assert_int_equal(value, 0x1010);
    kernel.mode = offsetof(struct trap, cs);
    kernel.mode_mask = kernel.mode_user = 3;
    assert_int_equal(cross(&frame, &in), SFU_E_NO_FDE);
    trap->cs = 0x33;
    assert_int_equal(cross(&frame, &in), SFU_END);
    frame = entry_frame(high + 60);
    assert_int_equal(cross(&frame, &in), SFU_END);
}

/* Another CPU's entry, or a thread's, has another trap frame than this CPU's. */
static bool next_in_entry(void *ctx, struct sfu_kernel_thread *thread)
{
    (void)ctx;
    thread->sp = at(high + 40);
    return thread->number++ == 0;
}

static void test_current_trap_elsewhere(void **state)
{
    struct trap *trap = (struct trap *)(low + 8);
    struct sfu_registers top;

    (void)state;
    memset(&top, 0, sizeof top);
    trap->rip = 0x1004;
    trap->rsp = at(low + 32);
    current = trap;
    kernel.current_trap = current_trap;
    kernel.next_thread = next_in_entry;
    kernel.switched = (struct sfu_kernel_frame){0, NOT_SAVED, NOT_SAVED, NOT_SAVED, 8};
    top.pc = high[40] = at(table) + 0x1044; /* this function has been called by the entry */
    top.sp = at(high + 41);
    high[41] = 0x5010;
    kernel.panic.skip = 0;
    (void)sfu_kernel_panic(&kernel, &top);
    assert_non_null(
        strstr(output, "\n#1  0x0000000000005010\n#2  0x0000000000001004  [interrupted]  [stack switch]\n"));
    length = 0;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 1);
    assert_non_null(strstr(output, "\n#1  0x0000000000005010\ntrace ends (-"));
    length = 0;
    (void)sfu_kernel_panic(&kernel, &top);
    assert_non_null(strstr(output, "\n#2  0x0000000000001004"));
    kernel.current_trap = NULL; /* with the trap frame at SP, entries of threads are crossed, too */
    high[42 + 3] = 0x1004;
    high[42 + 6] = at(low + 32);
    length = 0;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 1);
    assert_non_null(strstr(output, "\n#2  0x0000000000001004  [interrupted]  [stack switch]\n"));
}

/* A trap that came from user mode is where the kernel's trace ends: by the entry that has no table, and by a frame that
 * a table has led to, or that the trace began with. */
static void test_user(void **state)
{
    struct sfu_frame frame = entry_frame(low + 8);
    struct trap *trap = (struct trap *)(low + 8);
    struct sfu_interrupted in;

    (void)state;
    trap->rip = 0x400000;
    trap->rsp = 0x7fff0000;
    trap->cs = 0x33;
    kernel.mode = offsetof(struct trap, cs);
    kernel.mode_mask = 3;
    kernel.mode_user = 3;
    assert_int_equal(cross(&frame, &in), SFU_END);
    trap->cs = 0x10;
    assert_int_equal(cross(&frame, &in), SFU_OK);
    trap->cs = 0x33;
    kernel.mode_mask = 0;
    assert_int_equal(cross(&frame, &in), SFU_OK);
    kernel.mode_mask = 3;
    frame.regs.pc = 0x400000;
    frame.regs.sp = 0x7fff0000;
    frame.regs.pc_kind = SFU_PC_EXACT;
    frame.interrupted = true;
    assert_int_equal(cross(&frame, &in), SFU_END);
    frame.regs.sp++; /* not what that trap frame has saved */
    assert_int_equal(cross(&frame, &in), SFU_E_NO_FDE);
    frame.regs.sp--;
    frame.interrupted = false;
    assert_int_equal(cross(&frame, &in), SFU_E_NO_FDE);
    frame.depth = 0;
    assert_int_equal(cross(&frame, &in), SFU_E_NO_FDE);
    kernel.from = trap;
    assert_int_equal(cross(&frame, &in), SFU_END);
}

/* A trap frame of the second layout counts only if the first one does not have the PC and the SP. */
static void test_other_trap(void **state)
{
    static const int16_t registers[] = {0};
    struct sfu_frame frame = entry_frame(low + 8);
    struct sfu_interrupted in;
    uint64_t value;

    (void)state;
    low[8] = frame.regs.pc = 0x400000;
    low[9] = frame.regs.sp = 0x7fff0000;
    low[10] = 0x33;
    frame.regs.pc_kind = SFU_PC_EXACT;
    frame.interrupted = true;
    kernel.mode = offsetof(struct trap, cs);
    kernel.other_mode = 16;
    kernel.mode_mask = 3;
    kernel.mode_user = 3;
    assert_int_equal(cross(&frame, &in), SFU_E_NO_FDE); /* there is none */
    kernel.other_trap = (struct sfu_kernel_frame){0, 8, NOT_SAVED, NOT_SAVED, 24};
    assert_int_equal(cross(&frame, &in), SFU_END);
    kernel.registers = registers; /* offsets in the first layout */
    kernel.num_registers = 1;
    assert_int_not_equal(target()->reg(target()->ctx, &frame, 0, &value), 0);
    low[10] = 0x10;
    assert_int_equal(cross(&frame, &in), SFU_E_NO_FDE);
    low[10] = 0x33;
    low[9]++;
    assert_int_equal(cross(&frame, &in), SFU_E_NO_FDE);
    low[9]--;
    frame.saved = at(low + 64) - 8; /* its end is not on the stack */
    low[63] = frame.regs.pc;
    assert_int_equal(cross(&frame, &in), SFU_E_NO_FDE);
}

/* Registers of an interrupted frame: only from a trap frame that has this frame's PC and SP. */
static void test_registers(void **state)
{
    static const int16_t registers[] = {NOT_SAVED,
                                        NOT_SAVED,
                                        NOT_SAVED,
                                        NOT_SAVED,
                                        NOT_SAVED,
                                        NOT_SAVED,
                                        0,
                                        offsetof(struct trap, rsp),
                                        NOT_SAVED,
                                        NOT_SAVED,
                                        offsetof(struct trap, r10)};
    struct sfu_frame frame = entry_frame(low + 8);
    struct trap *trap = (struct trap *)(low + 8);
    uint64_t value = 5;

    (void)state;
    trap->rip = frame.regs.pc = 0x1004;
    trap->rsp = frame.regs.sp = at(low + 32);
    trap->r10 = 0x1010;
    frame.regs.pc_kind = SFU_PC_EXACT;
    frame.interrupted = true;
    assert_int_not_equal(target()->reg(target()->ctx, &frame, 10, &value), 0);
    kernel.registers = registers;
    kernel.num_registers = sizeof registers / sizeof registers[0];
    assert_int_equal(target()->reg(target()->ctx, &frame, 10, &value), 0);
    assert_int_equal(value, 0x1010);
    assert_int_not_equal(target()->reg(target()->ctx, &frame, 9, &value), 0);
    assert_int_not_equal(target()->reg(target()->ctx, &frame, 11, &value), 0);
    assert_int_not_equal(target()->reg(target()->ctx, &frame, UINT32_MAX, &value), 0);
    trap->rip++;
    assert_int_not_equal(target()->reg(target()->ctx, &frame, 10, &value), 0);
    trap->rip--;
    frame.depth = 0; /* the trace begins at this frame: panic_at */
    assert_int_not_equal(target()->reg(target()->ctx, &frame, 10, &value), 0);
    kernel.saved = at(low + 8);
    assert_int_equal(target()->reg(target()->ctx, &frame, 10, &value), 0);
    kernel.saved = 0x1000; /* on no stack: not read */
    assert_int_not_equal(target()->reg(target()->ctx, &frame, 10, &value), 0);
    frame.depth = 3;
    frame.saved = UINT64_MAX;
    assert_int_not_equal(target()->reg(target()->ctx, &frame, 10, &value), 0);
    frame.saved = at(low + 8);
    frame.interrupted = false; /* a caller: a call has changed them */
    assert_int_not_equal(target()->reg(target()->ctx, &frame, 10, &value), 0);
    assert_int_equal(value, 0x1010);
}

/* A trap frame that has no SP, on the stack that it interrupted. */
static void test_layout(void **state)
{
    struct trap trap = {.rbp = 1, .rip = 2, .rsp = 3};
    struct sfu_registers regs;

    (void)state;
    sfu_kernel_registers(&kernel, &trap, &regs);
    assert_true(regs.pc == 2 && regs.sp == 3 && regs.fp == 1 && !regs.has_ra && regs.pc_kind == SFU_PC_EXACT);
    kernel.trap = (struct sfu_kernel_frame){offsetof(struct trap, rip), NOT_SAVED, NOT_SAVED, NOT_SAVED, 32};
    sfu_kernel_registers(&kernel, &trap, &regs);
    assert_true(regs.pc == 2 && regs.sp == at(&trap) + 32 && regs.fp == 0);
}

/* What was guessed on the way to a PC is not forgotten: the trace begins at its top then. */
static void test_panic_at_guessed(void **state)
{
    struct sfu_registers top;

    (void)state;
    memset(&top, 0, sizeof top);
    target()->frame_pointers = true;
    top.pc = 0x3000; /* no table */
    top.sp = at(low);
    top.fp = at(low + 2);
    low[2] = at(low + 6);
    low[3] = 0x4444;
    (void)sfu_kernel_panic_at(&kernel, &top, 0x4444);
    assert_ptr_equal(strstr(output, "#0  0x0000000000003000\n#1  0x0000000000004444  [guessed]\n"), output);
}

/* ---- traces in an array ---- */

static void test_backtrace(void **state)
{
    static const struct sfu_kernel unset;
    void *pcs[4] = {NULL, NULL, NULL, NULL};
    struct sfu_registers top;

    (void)state;
    memset(&top, 0, sizeof top);
    describe();
    low[9] = at(table) + 0x1044; /* the thread waits in that function, which 0x2000 has called */
    low[10] = 0x2000;
    assert_int_equal(sfu_kernel_backtrace(&kernel, &tasks[1], pcs, 4, 0), 2);
    assert_true((uintptr_t)pcs[0] == at(table) + 0x1044 && (uintptr_t)pcs[1] == 0x1fff && pcs[2] == NULL);
    assert_int_equal(length, 0);
    assert_int_equal(sfu_kernel_backtrace(&kernel, &tasks[1], pcs + 2, 1, 0), 1);
    assert_true((uintptr_t)pcs[2] == at(table) + 0x1044 && pcs[3] == NULL);
    assert_int_equal(sfu_kernel_backtrace(&kernel, &tasks[1], pcs, 4, 1), 1);
    assert_int_equal((uintptr_t)pcs[0], 0x1fff);
    assert_int_equal(sfu_kernel_backtrace(&kernel, &tasks[1], pcs, 4, 2), 0);
    assert_int_equal(sfu_kernel_backtrace(&kernel, &tasks[1], pcs, 0, 0), 0);
    low[10] = 0;
    assert_int_equal(sfu_kernel_backtrace(&kernel, &tasks[1], pcs, 4, 0), 1);
    tasks[1].sp = 0x1234; /* on no stack */
    assert_int_equal(sfu_kernel_backtrace(&kernel, &tasks[1], pcs, 4, 0), 0);
    assert_int_equal(sfu_kernel_backtrace(&unset, NULL, pcs, 4, 0), 0);
    assert_int_equal(sfu_kernel_backtrace(&unset, &tasks[1], pcs, 4, 0), 0);
    /* This program has no tables of its own, and its stack is none of the kernel's. */
    assert_int_equal(sfu_kernel_backtrace(&kernel, NULL, pcs, 4, 0), 1);
    assert_int_equal(sfu_kernel_backtrace(&kernel, NULL, pcs, 4, 1), 0);
    low[11] = 0x3000;
    top.pc = at(table) + 0x1050;
    top.sp = at(low + 11);
    assert_int_equal(sfu_kernel_backtrace_from(&kernel, &top, NULL, pcs, 4, 0), 2);
    assert_true((uintptr_t)pcs[0] == at(table) + 0x1050 && (uintptr_t)pcs[1] == 0x2fff);
    /* a thread that runs, by its state, or because it is this one */
    tasks[1].sp = at(low + 8);
    assert_int_equal(sfu_kernel_backtrace_from(&kernel, &top, &tasks[1], pcs, 4, 0), 0);
    top.sp = at(high + 11);
    assert_int_equal(sfu_kernel_backtrace_from(&kernel, &top, &tasks[1], pcs, 4, 0), 1);
    tasks[1].state = SFU_KERNEL_RUNS;
    assert_int_equal(sfu_kernel_backtrace_from(&kernel, &top, &tasks[1], pcs, 4, 0), 0);
    tasks[1].state = SFU_KERNEL_NEW;
    assert_int_equal(sfu_kernel_backtrace_from(&kernel, &top, &tasks[1], pcs, 4, 0), 0);
}

static unsigned cpu;

static unsigned this_cpu(void *ctx)
{
    (void)ctx;
    return cpu;
}

static struct sfu_kernel_cpu cpus[258];
static struct trap user = {.rip = 0x400000, .rsp = 0x7fff0000, .cs = 0x33};

/* All others have stopped, but for the last one, which is not there. */
static void stop_others(void *ctx)
{
    (void)ctx;
    calls++;
    cpus[0].top.pc = at(table) + 0x1044;
    cpus[0].top.sp = at(high + 60);
    cpus[0].stopped = 1;
}

/* CPU 0 stops at the first look, CPU 2 never. */
static void check_cpus(uint32_t patience)
{
    struct sfu_registers top;
    char expected[128];

    memset(&top, 0, sizeof top);
    memset(cpus, 0, sizeof cpus);
    cpu = 1;
    top.pc = at(table) + 0x1044;
    top.sp = at(low + 60);
    low[60] = high[60] = 0x2000;
    kernel.cpus = cpus;
    kernel.num_cpus = 3;
    kernel.cpu_number = this_cpu;
    kernel.stop_others = stop_others;
    kernel.patience = patience;
    kernel.panic.skip = 1;
    assert_int_equal(sfu_kernel_panic(&kernel, &top), SFU_E_NOT_CODE);
    assert_int_equal(calls, 1);
    assert_ptr_equal(strstr(output, "#1  0x0000000000002000\n"), output);
    snprintf(expected, sizeof expected, "\nCPU 0:\n#0  0x%016llx\n#1  0x0000000000002000\n",
             (unsigned long long)at(table) + 0x1044);
    assert_non_null(strstr(output, expected));
    snprintf(expected, sizeof expected, "\nCPU 2 has not stopped\n");
    assert_string_equal(output + length - strlen(expected), expected);
    assert_null(strstr(output, "CPU 1"));
    assert_int_equal(kernel.panic.skip, 1);
    assert_int_equal(kernel.owner, 2);
    assert_int_equal(sfu_kernel_panic(&kernel, &top),
                     SFU_E_NOT_CODE); /* again on this CPU: a fault behind the panic */
}

/* ---- SFU_KERNEL, and what sfu_kernel_start adds ---- */

static uint8_t image[512];

static bool find_image(void *ctx, sfu_addr addr, struct sfu_stack *stack)
{
    assert_null(ctx);
    *stack = (struct sfu_stack){.bytes = image, .low = at(image), .high = at(image) + sizeof image};
    return addr >= stack->low && addr <= stack->high;
}

/* The image's memory is looked at last, without the stacks in it, and without rest. On the stack that a trace begins on
 * it ends there, for what lies below. */
static void test_image_memory(void **state)
{
    static uint8_t elsewhere[64];
    struct sfu_stack stack;

    (void)state;
    assert_false(find(at(image + 300), &stack));
    kernel.image_memory = find_image;
    stacks[0] = (struct sfu_kernel_stack){image + 128, image + 256, 0, 0};
    assert_true(find(at(image + 300), &stack) && stack.low == at(image + 256) && stack.high == at(image + 512));
    assert_ptr_equal(stack.bytes, image + 256);
    assert_true(find(at(image + 200), &stack) && stack.low == at(image + 128) && stack.high == at(image + 256));
    assert_true(find(at(image), &stack) && stack.low == at(image) && stack.high == at(image + 128));
    assert_false(find(at(image) - 1, &stack) || find(at(image + 513), &stack));
    kernel.top = at(image + 400);
    assert_true(find(at(image + 300), &stack) && stack.low == at(image + 256) && stack.high == at(image + 399));
    assert_true(find(at(image + 400), &stack) && stack.high == at(image + 512));
    kernel.top = at(image + 512);
    assert_true(find(at(image + 300), &stack) && stack.high == at(image + 511));
    kernel.top = at(image + 513);
    assert_true(find(at(image + 300), &stack) && stack.high == at(image + 512));
    kernel.rest = (struct sfu_kernel_stack){image + 320, image + 330, 0, 0};
    assert_true(find(at(image + 300), &stack) && stack.low == at(image + 256) && stack.high == at(image + 320));
    assert_true(find(at(image + 325), &stack) && stack.low == at(image + 320) && stack.high == at(image + 330));
    assert_true(find(at(image + 400), &stack) && stack.low == at(image + 330) && stack.high == at(image + 512));
    assert_ptr_equal(stack.bytes, image + 330);
    kernel.rest = (struct sfu_kernel_stack){elsewhere, elsewhere + 64, 0, 0};
    assert_true(find(at(image + 300), &stack) && stack.low == at(image + 256) && stack.high == at(image + 512));
    assert_true(find(at(elsewhere + 4), &stack) && stack.low == at(elsewhere));
}

static unsigned number_of_cpu, stopped_others;
static sfu_addr first_top;
extern struct sfu_kernel defined;

static void put_defined(char c)
{
    if (length == 0)
        first_top = defined.top;
    put(NULL, c);
}

SFU_KERNEL(defined, put_defined(c), 3, number_of_cpu, stopped_others++, .stacks = stacks, .num_stacks = 1,
           .threads = {SFU_KERNEL_THREADS(struct task, stack, sp, name, id), .stack_size = sizeof low,
                       .array = tasks, .num = 4, .state = state_of},
           .switched = {8, NOT_SAVED, 0, NOT_SAVED, 16}, .trap = SFU_KERNEL_TRAP(struct trap, rip, rsp, rbp));

/* One call prints this CPU, says of the two others that they do not stop, and prints the threads: from the trap frame
 * if there is one, else from the call. */
static void test_defined(void **state)
{
    const struct trap trap = {.rip = 0x1234, .rsp = at(high + 8), .rbp = 7};
    static const char others[] = "\nCPU 0 has not stopped\nCPU 2 has not stopped\ntrace of 2 wai:\n#0  ";

    (void)state;
    describe();
    stacks[0] = (struct sfu_kernel_stack){high, high + 64, 0, 0};
    assert_ptr_equal(defined.panic.sizes, sfu_print_size);
    assert_ptr_equal(defined.panic.before, sfu_print_overflow);
    assert_ptr_equal(defined.panic.cycles, sfu_print_cycles);
    number_of_cpu = 1;
    defined.patience = 1;
    assert_int_equal(sfu_kernel_init(&defined, table, table + sizeof table), SFU_OK);
    assert_int_equal(sfu_kernel_crash(&defined, &trap, 0), SFU_E_NOT_CODE);
    assert_ptr_equal(strstr(output, "#0  0x0000000000001234\n"), output);
    assert_non_null(strstr(output, others));
    assert_int_equal(stopped_others, 1);
    assert_true(first_top == trap.rsp && defined.top == 0);
    length = 0;
    assert_int_not_equal(sfu_kernel_crash(&defined, NULL, 0), SFU_OK);
    assert_null(strstr(output, "0x0000000000001234\n"));
    assert_non_null(strstr(output, others));
}

static void test_cpus(void **state)
{
    check_cpus(1);
    (void)reset(state);
    check_cpus(0x10000);
    (void)reset(state);
    check_cpus(0);
}

static void stop_in_user_mode(void *ctx)
{
    (void)ctx;
    cpus[0].trap = &user;
    sfu_kernel_registers(&kernel, &user, &cpus[0].top);
    cpus[0].stopped = 1;
}

static void stop_last(void *ctx)
{
    (void)ctx;
    calls++;
    cpus[256].stopped = 1;
}

/* Of other CPUs nothing is printed unless they are known and can be stopped. The trap of one that was stopped says that
 * it ran a program. There may be more of them than a byte can count. */
static void test_other_cpus(void **state)
{
    (void)state;
    memset(cpus, 0, sizeof cpus);
    cpu = 1;
    kernel.cpu_number = this_cpu;
    kernel.patience = 1;
    kernel.num_cpus = 2;
    kernel.stop_others = stop_last;
    (void)sfu_kernel_panic(&kernel, NULL);
    assert_int_equal(calls, 0);
    assert_null(strstr(output, "CPU "));
    kernel.owner = 0;
    kernel.cpus = cpus;
    kernel.stop_others = NULL;
    (void)sfu_kernel_panic(&kernel, NULL);
    assert_null(strstr(output, "CPU "));
    kernel.stop_others = stop_in_user_mode;
    kernel.mode = offsetof(struct trap, cs);
    kernel.mode_mask = kernel.mode_user = 3;
    (void)sfu_kernel_panic(&kernel, NULL);
    assert_non_null(strstr(output, "CPU 0:\n#0  0x0000000000400000\ntrace ends (1): "));
    cpus[0].stopped = 0;
    kernel.owner = 0;
    kernel.num_cpus = 258;
    cpu = 257;
    kernel.stop_others = stop_last;
    length = 0;
    (void)sfu_kernel_panic(&kernel, NULL);
    assert_int_equal(calls, 1);
    assert_non_null(
        strstr(output, "\nCPU 0 has not stopped, nor has any up to CPU 255\nCPU 256:\n#0  0x0000000000000000\n"));
    assert_null(strstr(output, "CPU 257"));
    assert_int_equal(kernel.owner, 258);
    kernel.owner = 0;
    kernel.num_cpus = 3;
    cpu = 2;
    length = 0;
    (void)sfu_kernel_panic(&kernel, NULL);
    assert_non_null(strstr(output, "\nCPU 0 has not stopped, nor has any up to CPU 1\n"));
}

/* Code that is mapped a second time: the same tables, for another address. */
static void test_second_address(void **state)
{
    enum { DISTANCE = 0x100000 };
    struct sfu_section second;
    struct sfu_registers top;

    (void)state;
    memset(&top, 0, sizeof top);
    top.pc = at(table) + 0x1044 + DISTANCE;
    top.sp = at(low + 8);
    low[8] = at(table) + 0x1050;
    low[9] = 0x3000;
    assert_int_equal(sfu_add(&kernel.panic.own.sections, &second, 1, table, sizeof table, at(table) + DISTANCE),
                     SFU_OK);
    second.text.low = at(table) + 0x1040 + DISTANCE;
    second.text.high = second.text.low + 64;
    assert_int_equal(sfu_kernel_panic(&kernel, &top), SFU_E_NOT_CODE);
    assert_non_null(strstr(output, "#2  0x0000000000003000\ntrace ends"));
}

static void test_no_stack(void **state)
{
    struct sfu_registers top;

    (void)state;
    memset(&top, 0, sizeof top);
    top.pc = at(table) + 0x1044;
    top.sp = 0x1230;
    assert_int_equal(sfu_kernel_panic(&kernel, &top), SFU_E_STACK);
    assert_non_null(strstr(output,
                           "no stack is known at 0x0000000000001230: if one is there, describe it in stacks, "
                           "threads or rest\n"));
    assert_int_equal(kernel.panic.busy, 0);
    length = 0;
    top.sp = at(low + 64) - 4; /* a word that no stack has the end of */
    assert_int_equal(sfu_kernel_panic(&kernel, &top), SFU_E_STACK);
    assert_null(strstr(output, "no stack is known"));
    length = 0;
    top.sp = 0x1230;
    top.pc = 0x3000; /* no table: the stack was not asked for */
    assert_int_equal(sfu_kernel_panic(&kernel, &top), SFU_E_NOT_CODE);
    assert_null(strstr(output, "no stack is known"));
    top.pc = at(table) + 0x1044;
    kernel.panic.busy = 1; /* a fault while printing is none of a stack that is not known */
    top.sp = 0x1230;
    assert_int_equal(sfu_kernel_panic(&kernel, &top), SFU_E_STACK);
    assert_null(strstr(output, "no stack is known"));
}

/* ---- CPUs that stop ---- */

static const struct trap *stopping_trap;

static void *stop_cpu(void *unused)
{
    (void)unused;
    sfu_kernel_stop(&kernel, stopping_trap);
    return NULL;
}

static bool has_stopped(const struct sfu_kernel_cpu *other)
{
    return __atomic_load_n(&other->stopped, __ATOMIC_ACQUIRE) != 0;
}

/* Gives a thread some time to do what it must not do. A host that keeps it from running hides that it does it. */
static void wait_a_little(void)
{
    const struct timespec tick = {.tv_nsec = 1000000};
    unsigned i;

    for (i = 0; i < 20; i++)
        (void)nanosleep(&tick, NULL);
}

/* Waits for OTHER. A host may stop any thread for seconds. */
static bool stops(const struct sfu_kernel_cpu *other)
{
    const time_t end = time(NULL) + 100;

    while (!has_stopped(other) && time(NULL) < end) {
    }
    return has_stopped(other);
}

/* A CPU leaves each of its registers, as soon as the kernel knows that there is such a CPU, and does not come back.
 * What it left stays. A CPU that prints itself is not stopped. The thread of this program goes on for ever. */
static void test_stop(void **state)
{
    static const struct trap trap = {.rbp = 1, .rip = 2, .rsp = 3};
    pthread_t thread;

    (void)state;
    memset(cpus, 0, sizeof cpus);
    cpu = 2;
    kernel.cpus = cpus;
    kernel.num_cpus = 1;
    kernel.cpu_number = this_cpu;
    kernel.owner = 1;
    stopping_trap = &trap;
    assert_int_equal(pthread_create(&thread, NULL, stop_cpu, NULL), 0);
    wait_a_little();
    assert_false(has_stopped(&cpus[2]));
    __atomic_store_n(&kernel.num_cpus, 2, __ATOMIC_RELEASE);
    wait_a_little();
    assert_false(has_stopped(&cpus[2]));
    __atomic_store_n(&kernel.num_cpus, 3, __ATOMIC_RELEASE);
    assert_true(stops(&cpus[2]));
    assert_int_equal(cpus[2].stopped, 1);
    assert_true(cpus[2].top.pc == 2 && cpus[2].top.sp == 3 && cpus[2].top.fp == 1 && cpus[2].trap == &trap);
    assert_true(cpus[2].top.pc_kind == SFU_PC_EXACT && !cpus[2].top.has_ra && cpus[2].top.ra == 0);
    kernel.owner = 3;
    sfu_kernel_stop(&kernel, NULL); /* returns */
    assert_true(cpus[2].top.pc == 2 && cpus[0].stopped == 0 && cpus[1].stopped == 0);
    kernel.cpus = NULL; /* the same with one CPU, once it has panicked */
    kernel.owner = 0;
    kernel.cpu_number = NULL;
    (void)sfu_kernel_panic(&kernel, NULL);
    sfu_kernel_stop(&kernel, NULL);
    cpu = 1;
}

static void *panic_cpu(void *top)
{
    (void)sfu_kernel_panic(&kernel, (const struct sfu_registers *)top);
    return NULL;
}

/* A CPU that panics while another one prints leaves all that its trace begins with. */
static void test_stop_in_panic(void **state)
{
    static struct sfu_registers top = {
        .pc = 1, .sp = 2, .fp = 3, .ra = 4, .pc_kind = SFU_PC_RETURN, .has_ra = true};
    pthread_t thread;

    (void)state;
    memset(cpus, 0, sizeof cpus);
    cpu = 1;
    kernel.cpus = cpus;
    kernel.num_cpus = 2;
    kernel.cpu_number = this_cpu;
    kernel.owner = 1;
    assert_int_equal(pthread_create(&thread, NULL, panic_cpu, &top), 0);
    assert_true(stops(&cpus[1]));
    assert_true(cpus[1].top.pc == 1 && cpus[1].top.sp == 2 && cpus[1].top.fp == 3 && cpus[1].top.ra == 4);
    assert_true(cpus[1].top.pc_kind == SFU_PC_RETURN && cpus[1].top.has_ra && cpus[1].trap == NULL);
    kernel.cpus = NULL;
}

/* Threads of the tests above go on, and leave what they have for CPU 1 and 2 wherever the kernel says. */
static struct sfu_kernel_cpu others[259];

static void prints_on_cpu_0(unsigned mine)
{
    memset(others, 0, sizeof others);
    cpu = mine;
    kernel.cpus = others;
    kernel.num_cpus = 259;
    kernel.cpu_number = this_cpu;
    kernel.owner = 1;
}

/* A CPU that has no trap frame leaves where it has called. */
static void test_stop_by_call(void **state)
{
    pthread_t thread;

    (void)state;
    prints_on_cpu_0(257);
    stopping_trap = NULL;
    assert_int_equal(pthread_create(&thread, NULL, stop_cpu, NULL), 0);
    assert_true(stops(&others[257]));
    assert_true(others[257].top.pc != 0 && others[257].top.sp > at(&thread) / 2 && others[257].trap == NULL);
    kernel.cpus = NULL;
}

static void *panic_cpu_at(void *top)
{
    (void)sfu_kernel_panic_at(&kernel, (const struct sfu_registers *)top, 0x1234);
    return NULL;
}

/* A panic at a PC while another CPU prints leaves the walk, by which that CPU prints, as it is. */
static void test_stop_in_panic_at(void **state)
{
    static struct sfu_registers top = {.pc = 1, .sp = 2, .fp = 3};
    struct sfu_walk before;
    pthread_t thread;

    (void)state;
    prints_on_cpu_0(258);
    memset(&kernel.panic.walk, 0x55, sizeof kernel.panic.walk);
    memcpy(&before, &kernel.panic.walk, sizeof before);
    assert_int_equal(pthread_create(&thread, NULL, panic_cpu_at, &top), 0);
    assert_true(stops(&others[258]));
    assert_true(others[258].top.pc == 1 && others[258].top.sp == 2 && others[258].top.fp == 3 &&
                others[258].trap == NULL);
    assert_memory_equal(&kernel.panic.walk, &before, sizeof before);
    kernel.cpus = NULL;
}

/* The traces of other CPUs and of threads skip nothing, are about no fault, and end by their own hook; this CPU's has
 * all of that again behind them. */
static int ends;

static int count_ends(struct sfu_panic *panic, int code)
{
    assert_ptr_equal(panic, &kernel.panic);
    ends++;
    return code;
}

static sfu_addr seen[8];
static unsigned num_seen;

static void see(struct sfu_panic *panic, const struct sfu_registers *top)
{
    (void)top;
    assert_true(num_seen < 8);
    seen[num_seen++] = panic->fault_address;
    seen[num_seen++] = panic->skip_function;
}

static void test_set_aside(void **state)
{
    struct trap trap = {.rip = 0x3000};

    (void)state;
    describe();
    trap.rsp = at(high + 60);
    kernel.panic.skip_function = 0x777;
    kernel.panic.after = count_ends;
    kernel.panic.before = see;
    num_seen = 0;
    ends = 0;
    (void)sfu_kernel_fault(&kernel, &trap, 0x1234);
    assert_int_equal(ends, 1);
    assert_int_equal(sfu_kernel_print_threads(&kernel), 2);
    assert_int_equal(ends, 1);
    assert_int_equal(num_seen, 6);
    assert_true(seen[0] == 0x1234 && seen[1] == 0x777);
    assert_true(seen[2] == 0 && seen[3] == 0 && seen[4] == 0 && seen[5] == 0);
    assert_true(kernel.panic.fault_address == 0x1234 && kernel.panic.skip_function == 0x777);
    assert_ptr_equal(kernel.panic.after, count_ends);
}

/* ---- threads that move ---- */

static unsigned move_at;
static uint64_t moved_sp;

static void put_and_move(void *ctx, char c)
{
    put(ctx, c);
    if (length == move_at)
        tasks[1].sp = moved_sp;
}

static bool move_at_return(void *ctx, const struct sfu_frame *frame, sfu_addr slot, sfu_addr *ra)
{
    (void)ctx;
    (void)frame;
    (void)slot;
    (void)ra;
    tasks[1].sp = 0x1234;
    return false;
}

static void test_moved(void **state)
{
    static const char said[] = "\nthis thread has run meanwhile: these frames are not proven\ntrace ends (-17): ";
    void *pcs[4];
    unsigned i;

    (void)state;
    for (i = 0; i < 3; i++) {
        reset(NULL);
        describe();
        low[9] = at(table) + 0x1044;
        low[10] = 0;
        low[21] = low[9]; /* it waits elsewhere, in the same function */
        kernel.zero_ends = true;
        kernel.panic.put = put_and_move;
        move_at = i == 0 ? 0 : 24;
        moved_sp = i == 1 ? at(low + 20) : 0x1234;
        assert_int_equal(sfu_kernel_print_threads(&kernel), 2);
        assert_true((strstr(output, said) != NULL) == (i != 0));
        assert_true((strstr(output, "\ntrace ends (1): end of the stack: the outermost frame\n") != NULL) ==
                    (i == 0));
        assert_null(kernel.panic.after);
    }
    reset(NULL);
    describe(); /* one that has begun to run */
    kernel.panic.put = put;
    tasks[1].state = SFU_KERNEL_WAITS;
    assert_true(sfu_kernel_backtrace(&kernel, &tasks[1], pcs, 4, 0) > 0);
    low[9] = at(table) + 0x1044;
    low[10] = 0x2000;
    target()->original_ra = move_at_return;
    assert_int_equal(sfu_kernel_backtrace(&kernel, &tasks[1], pcs, 4, 0), 0);
}

static void fill_stack(void)
{
    volatile uint8_t bytes[0x4000];
    size_t i;

    for (i = 0; i < sizeof bytes; i++)
        bytes[i] = 0xff;
}

/* What functions have left on the stack before is no part of a trace. */
static void test_backtrace_after_others(void **state)
{
    struct sfu_registers top = {.pc = 0x3000, .sp = at(low + 8), .fp = at(low + 10)};
    void *pcs[4];

    (void)state;
    low[10] = at(low + 12);
    low[11] = 0x4000; /* who asks for a guess gets it */
    fill_stack();
    assert_int_equal(sfu_kernel_backtrace_from(&kernel, &top, NULL, pcs, 4, 0), 1);
}

/* ---- threads whose state is ahead of the context switch ---- */

/* What is said of the thread that waits on LOW, if a CPU stands at SP. */
static bool is_in_use_at(sfu_addr sp, bool by_cpu, bool guard_is_memory)
{
    struct sfu_registers top = {.pc = 0x3000, .sp = sp};
    bool in_use;

    reset(NULL);
    describe();
    kernel.guard_is_memory = guard_is_memory;
    kernel.threads.guard = guard_is_memory ? sizeof low : 0;
    if (by_cpu) {
        kernel.cpus = others;
        kernel.num_cpus = 2;
        others[1] = (struct sfu_kernel_cpu){.top = top, .stopped = 1};
    } else {
        (void)sfu_kernel_panic(&kernel, &top);
    }
    length = 0;
    in_use = sfu_kernel_print_threads(&kernel) == 1;
    assert_true((strstr(output, "trace of 2 wai: a CPU runs on its stack\n") != NULL) == in_use);
    assert_null(strstr(output, "not proven"));
    /* it is asked of the panic's own trace once: a kernel may go on */
    if (!by_cpu)
        assert_int_equal(sfu_kernel_print_threads(&kernel), 2);
    kernel.cpus = NULL;
    memset(&others[1], 0, sizeof others[1]);
    return in_use;
}

static void test_in_use(void **state)
{
    unsigned by_cpu;

    (void)state;
    for (by_cpu = 0; by_cpu < 2; by_cpu++) {
        assert_true(is_in_use_at(at(low + 1), by_cpu != 0, false));
        assert_true(is_in_use_at(at(low + 64), by_cpu != 0, false)); /* nothing is on it yet */
        assert_false(is_in_use_at(at(low), by_cpu != 0, false));     /* that of a stack that ends there */
        assert_false(is_in_use_at(at(low + 64) + 1, by_cpu != 0, false));
        assert_false(is_in_use_at(at(high + 60), by_cpu != 0, false));
        assert_true(is_in_use_at(at(low + 60), by_cpu != 0, true));
    }
}

static void count(void *ctx, char c)
{
    (void)ctx;
    length += c != '\0';
}

/* The handler's own stack is the one that it has interrupted, below what it has there itself. */
static void test_begun_anew(void **state)
{
    const struct sfu_registers here = sfu_registers_here();
    struct sfu_kernel_stack stack = {(const void *)(uintptr_t)(here.sp - 0x10000),
                                     (const void *)(uintptr_t)(here.sp + 0x10000), 0, 0};
    struct sfu_registers top = {.pc = 0x3000};
    unsigned i;

    (void)state;
    for (i = 0; i < 4; i++) {
        const bool below = i % 2 == 0, known = i < 2;

        reset(NULL);
        kernel.stacks = &stack;
        kernel.num_stacks = known;
        if (!known)
            kernel.rest = stack;
        top.sp = below ? here.sp - 0x8000 : here.sp + 8;
        (void)sfu_kernel_panic(&kernel, &top);
        assert_true((strstr(output, "these frames are not proven\n") != NULL) == (below && known));
        assert_false(below && known && kernel.panic.walk.frame.reliable);
    }
    for (i = 0; i < 2; i++) { /* two stacks that share only one end are two */
        reset(NULL);
        kernel.stacks = stacks;
        stacks[0] = stacks[1] = stack;
        top.sp = here.sp - 0x8000;
        if (i == 0)
            stacks[0].high = (const void *)(uintptr_t)(here.sp - 0x4000);
        else
            stacks[1].low = (const void *)(uintptr_t)(here.sp - 0x4000);
        (void)sfu_kernel_panic(&kernel, &top);
        assert_true((strstr(output, "these frames are not proven\n") != NULL) == (i == 1));
    }
}

/* A thread is said to wait, and is the one that asks. */
static void test_runs_here(void **state)
{
    const struct sfu_registers here = sfu_registers_here();

    (void)state;
    describe();
    kernel.threads.num = 2;
    tasks[1].stack = (uint64_t *)(uintptr_t)(here.sp - 0x10000);
    kernel.threads.stack_size = 0x20000;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 0);
    assert_string_equal(output, "trace of 2 wai: a CPU runs on its stack\n");
}

/* More threads, and CPUs that stand on their stacks, than a byte can count. */
static void test_many_threads(void **state)
{
    static const struct sfu_registers top = {.pc = 0x3000};
    static struct task many[300];
    unsigned i;

    (void)state;
    describe();
    for (i = 0; i < 300; i++)
        many[i] = tasks[1];
    kernel.threads.array = many;
    kernel.threads.num = 300;
    kernel.panic.put = count;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 300);
    memset(cpus, 0, sizeof cpus);
    cpus[257] = (struct sfu_kernel_cpu){.top = top, .stopped = 1};
    cpus[257].top.sp = at(low + 8);
    kernel.cpus = cpus;
    kernel.num_cpus = 258;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 0);
    kernel.cpus = NULL;
}

/* A CPU that has not stopped: nothing of a thread is proven. */
static void test_others_run(void **state)
{
    static const char said[] =
        "\na CPU that has not stopped may have run this thread: these frames are not proven\ntrace ends (-";

    (void)state;
    describe();
    kernel.cpus = others;
    kernel.num_cpus = 1;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 2);
    assert_null(strstr(output, "not proven"));
    kernel.num_cpus = 2;
    length = 0;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 2);
    assert_non_null(strstr(output, said));
    assert_non_null(strstr(strstr(output, said) + 1, said));
    others[1].stopped = 1;
    length = 0;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 2);
    assert_null(strstr(output, "not proven"));
    others[1].stopped = 0;
    kernel.cpus = NULL;
}

static bool find_low(void *ctx, sfu_addr addr, struct sfu_stack *stack)
{
    (void)ctx;
    *stack = (struct sfu_stack){.bytes = low, .low = at(low), .high = at(low + 64)};
    return addr >= stack->low && addr <= stack->high;
}

/* A thread that waits on a stack which nobody has described: what the context switch has saved lies right below where
 * its trace begins. */
static void test_waits_in_image(void **state)
{
    (void)state;
    describe();
    low[9] = at(table) + 0x1044;
    low[10] = 0;
    tasks[1].stack = NULL;
    kernel.image_memory = find_low;
    kernel.zero_ends = true;
    kernel.threads.num = 2;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 1);
    assert_null(strstr(output, "this thread has run meanwhile"));
    assert_non_null(strstr(output, "\ntrace ends (1): end of the stack: the outermost frame\n"));
    assert_true(kernel.top == 0);
}

/* A return address of 0 that ends a trace is no frame; one that does not is one. */
static void test_zero(void **state)
{
    (void)state;
    describe();
    low[9] = at(table) + 0x1044;
    low[10] = 0;
    kernel.threads.num = 2;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 1);
    assert_non_null(strstr(output, "\n#1  0x0000000000000000  [guessed]\ntrace ends (-"));
    length = 0;
    kernel.zero_ends = true;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 1);
    assert_null(strstr(output, "#1"));
    assert_non_null(
        strstr(output, "\ntrace ends (1): end of the stack: the outermost frame\naddr2line -Cfipe IMAGE 0x"));
    assert_null(strstr(output, " 0x0\n"));
}

/* A list that was damaged so that it runs into a circle which its first thread is not in, of threads that have ended
 * but for one. It is noticed within three times as many steps as there are threads, for each pass. */
enum { MANY = 1000 };
static struct task many[MANY];
static unsigned asked;

static enum sfu_kernel_state count_state(const void *thread)
{
    asked++;
    return state_of(thread);
}

static void test_circle(void **state)
{
    struct sfu_stack stack;
    unsigned back, i, traces;

    (void)state;
    describe();
    kernel.threads.array = NULL;
    kernel.threads.list = &first_task;
    kernel.threads.state = count_state;
    first_task = many;
    for (back = 0; back < MANY; back += 111) {
        memset(many, 0, sizeof many);
        for (i = 0; i < MANY; i++)
            many[i].next = &many[i + 1 < MANY ? i + 1 : back];
        many[7].state = SFU_KERNEL_WAITS;
        many[7].sp = at(low + 8);
        many[7].stack = low;
        asked = 0;
        assert_false(find(0x1234, &stack));
        assert_true(asked >= MANY && asked <= 3 * MANY);
        asked = 0;
        length = 0;
        traces = sfu_kernel_print_threads(&kernel);
        assert_true(traces >= 1 && traces <= 4);
        assert_true(asked <= 40 * MANY);
        kernel.max_threads = 50; /* of all, also of those that have ended */
        asked = 0;
        assert_false(find(0x1234, &stack));
        assert_int_equal(asked, 50);
        kernel.max_threads = 0;
    }
}

/* What is not set is not there. The first member of a structure is, if that is said. */
static void test_unset_members(void **state)
{
    struct named {
        char name[8];
        uint64_t sp, *stack;
        int id;
    } one = {"first", 0, low, 77};

    (void)state;
    one.sp = at(low + 8);
    low[9] = 0x3000;
    kernel.num_stacks = 0;
    kernel.switched = (struct sfu_kernel_frame){8, NOT_SAVED, 0, NOT_SAVED, 16};
    kernel.threads = (struct sfu_kernel_threads){.array = &one,
                                                 .num = 1,
                                                 .size = sizeof one,
                                                 .stack_low = offsetof(struct named, stack),
                                                 .stack_size = sizeof low,
                                                 .sp = offsetof(struct named, sp)};
    assert_int_equal(sfu_kernel_print_threads(&kernel), 1);
    assert_ptr_equal(strstr(output, "trace of 1:\n#0  0x0000000000003000\n"), output);
    kernel.threads = (struct sfu_kernel_threads){SFU_KERNEL_THREADS(struct named, stack, sp, name, id),
                                                 .array = &one, .num = 1, .stack_size = sizeof low};
    length = 0;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 1);
    assert_ptr_equal(strstr(output, "trace of 77 first:\n#0  0x0000000000003000\n"), output);
    kernel.threads = (struct sfu_kernel_threads){SFU_KERNEL_THREADS(struct named, stack, sp, name), .array = &one,
                                                 .num = 1, .stack_size = sizeof low};
    length = 0;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 1);
    assert_ptr_equal(strstr(output, "trace of 1 first:\n#0  0x0000000000003000\n"), output);
}

/* Stacks that lie in the structure of their thread; and a structure that lies at the low end of its stack. */
static void test_described_inside(void **state)
{
    static struct held {
        uint64_t sp;
        char name[8];
        uint64_t stack[16];
        int id;
    } pair[2] = {{0, "one", {0}, 5}, {0, "two", {0}, 6}};
    struct sfu_stack stack;
    unsigned i;

    (void)state;
    for (i = 0; i < 2; i++) {
        pair[i].sp = at(&pair[i].stack[8]);
        pair[i].stack[9] = 0x3000 + i;
    }
    kernel.num_stacks = 0;
    kernel.switched = (struct sfu_kernel_frame){8, NOT_SAVED, 0, NOT_SAVED, 16};
    kernel.threads = (struct sfu_kernel_threads){SFU_KERNEL_THREADS_INSIDE(struct held, stack, sp, name, id),
                                                 .array = pair, .num = 2};
    assert_int_equal(sfu_kernel_print_threads(&kernel), 2);
    assert_ptr_equal(strstr(output, "trace of 5 one:\n#0  0x0000000000003000\n"), output);
    assert_non_null(strstr(output, "\ntrace of 6 two:\n#0  0x0000000000003001\n"));
    kernel.threads = (struct sfu_kernel_threads){SFU_KERNEL_THREADS_INSIDE(struct held, stack, sp, name),
                                                 .array = pair, .num = 2};
    length = 0;
    assert_int_equal(sfu_kernel_print_threads(&kernel), 2);
    assert_ptr_equal(strstr(output, "trace of 1 one:\n#0  0x0000000000003000\n"), output);
    for (i = 0; i < 2; i++) {
        assert_true(find(at(&pair[i].stack[0]), &stack) && stack.low == at(pair[i].stack) &&
                    stack.high == at(pair[i].stack) + sizeof pair[i].stack);
        assert_true(find(at(&pair[i].stack[16]) - 1, &stack) && stack.low == at(pair[i].stack));
        assert_false(find(at(&pair[i].stack[16]) + 1, &stack));
        assert_false(find(at(pair[i].stack) - 1, &stack));
    }
    kernel.threads.stack_low = 0;
    kernel.threads.stack_size = sizeof pair[0];
    assert_true(find(at(&pair[1]), &stack) && stack.low == at(&pair[1]) && stack.high == at(&pair[2]));
    assert_false(find(at(pair) - 1, &stack));
}

/* The macros that describe frames, and a frame whose first word is its SP or its FP, and one that has FP elsewhere. */
static void test_frames(void **state)
{
    static const struct sfu_kernel_frame trap = SFU_KERNEL_TRAP(struct trap, rip, rsp, rbp),
                                         switched = SFU_KERNEL_SWITCHED(struct trap, rip, rbp),
                                         context = SFU_KERNEL_CONTEXT(struct trap, rip, rsp, rbp);
    struct trap t = {.rbp = 1, .rip = 2, .rsp = 3, .error = 4};
    struct sfu_registers regs;

    (void)state;
    assert_memory_equal(&trap, &context, sizeof trap);
    assert_true(trap.pc == offsetof(struct trap, rip) && trap.sp == offsetof(struct trap, rsp) &&
                trap.fp == offsetof(struct trap, rbp) && trap.ra == NOT_SAVED);
    assert_true(switched.pc == trap.pc && switched.sp == NOT_SAVED && switched.fp == trap.fp &&
                switched.ra == NOT_SAVED && switched.size == sizeof(struct trap));
    kernel.trap = trap;
    sfu_kernel_registers(&kernel, &t, &regs);
    assert_true(regs.pc == 2 && regs.sp == 3 && regs.fp == 1);
    kernel.trap = switched;
    sfu_kernel_registers(&kernel, &t, &regs);
    assert_true(regs.pc == 2 && regs.sp == at(&t) + sizeof t && regs.fp == 1);
    kernel.trap = (struct sfu_kernel_frame){offsetof(struct trap, rip), 0, NOT_SAVED, NOT_SAVED, 8};
    sfu_kernel_registers(&kernel, &t, &regs);
    assert_true(regs.pc == 2 && regs.sp == 1 && regs.fp == 0);
    kernel.trap.fp = offsetof(struct trap, error);
    sfu_kernel_registers(&kernel, &t, &regs);
    assert_true(regs.pc == 2 && regs.sp == 1 && regs.fp == 4);
}

/* A panic at a PC while this CPU prints already is a second fault. One whose frame is the first begins there. */
static void test_panic_at(void **state)
{
    struct sfu_registers top;
    struct sfu_walk before;

    (void)state;
    memset(&top, 0, sizeof top);
    top.pc = at(table) + 0x1044;
    top.sp = at(low + 8);
    low[8] = at(table) + 0x1050;
    low[9] = 0x3000;
    (void)sfu_kernel_panic_at(&kernel, &top, low[8]);
    assert_non_null(strstr(output, "#0  0x"));
    assert_null(strstr(output, "#2"));
    assert_int_equal(kernel.saved, 0);
    length = 0;
    kernel.panic.busy = 1;
    kernel.top = 0x7000;
    memset(&kernel.panic.walk, 0x55, sizeof kernel.panic.walk);
    memcpy(&before, &kernel.panic.walk, sizeof before);
    assert_int_equal(sfu_kernel_panic_at(&kernel, &top, low[8]), SFU_E_STACK);
    assert_non_null(strstr(output, "second fault while printing the trace: stopped\n"));
    assert_memory_equal(&kernel.panic.walk, &before, sizeof before);
    assert_true(kernel.top == 0x7000 && kernel.from == NULL);
    kernel.panic.busy = 0;
}

/* One whose frame was interrupted begins with what the trap has saved, and forgets that. */
static void test_panic_at_user(void **state)
{
    struct trap *trap = (struct trap *)(low + 8);
    struct sfu_registers top;

    (void)state;
    memset(&top, 0, sizeof top);
    top.pc = 0x5010; /* the entry */
    top.pc_kind = SFU_PC_RETURN;
    top.sp = at(trap);
    *trap = user;
    trap->rsp = at(low + 32);
    kernel.mode = offsetof(struct trap, cs);
    kernel.mode_mask = kernel.mode_user = 3;
    assert_int_equal(sfu_kernel_panic_at(&kernel, &top, user.rip), SFU_END);
    assert_ptr_equal(strstr(output, "#0  0x0000000000400000\ntrace ends (1): "), output);
    assert_int_equal(kernel.saved, 0);
}

/* The trap frame of a fault before it, which is gone, is not asked. */
static void test_panic_at_behind_fault(void **state)
{
    struct trap *gone = (struct trap *)malloc(sizeof *gone);
    struct sfu_registers top;

    (void)state;
    assert_non_null(gone);
    *gone = user;
    (void)sfu_kernel_fault(&kernel, gone, 0);
    sfu_kernel_registers(&kernel, gone, &top);
    memset(gone, 0, sizeof *gone);
    free(gone);
    assert_int_equal(sfu_kernel_panic_at(&kernel, &top, 0x1234), SFU_E_NOT_CODE);
}

/* Tables that end behind what is mapped of the image are not read: they begin with the right magic number. */
static void test_mapped(void **state)
{
    (void)state;
    kernel.mapped.low = at(table);
    kernel.mapped.high = at(table) + sizeof table;
    assert_int_equal(sfu_kernel_init(&kernel, table, table + sizeof table), SFU_OK);
    reset(NULL);
    kernel.mapped.low = at(table) - 64;
    kernel.mapped.high = at(table);
    assert_int_equal(sfu_kernel_init(&kernel, table, table + sizeof table), SFU_E_EMPTY);
    reset(NULL);
    kernel.mapped.low = at(table) + 1;
    kernel.mapped.high = at(table) + sizeof table;
    assert_int_equal(sfu_kernel_init(&kernel, table, table + sizeof table), SFU_E_EMPTY);
}

int main(void)
{
    const struct check_test tests[] = {
        CHECK_SETUP(test_stacks, reset),
        CHECK_SETUP(test_guards_on_stacks, reset),
        CHECK_SETUP(test_guard_is_memory, reset),
        CHECK_SETUP(test_guard_on_next_stack, reset),
        CHECK_SETUP(test_stacks_of_cpus, reset),
        CHECK_SETUP(test_endless_list, reset),
        CHECK_SETUP(test_thread_outside, reset),
        CHECK_SETUP(test_described, reset),
        CHECK_SETUP(test_described_new, reset),
        CHECK_SETUP(test_described_inside, reset),
        CHECK_SETUP(test_described_states, reset),
        CHECK_SETUP(test_states_macro, reset),
        CHECK_SETUP(test_described_list, reset),
        CHECK_SETUP(test_cross, reset),
        CHECK_SETUP(test_current_trap, reset),
        CHECK_SETUP(test_current_trap_elsewhere, reset),
        CHECK_SETUP(test_user, reset),
        CHECK_SETUP(test_other_trap, reset),
        CHECK_SETUP(test_registers, reset),
        CHECK_SETUP(test_layout, reset),
        CHECK_SETUP(test_panic_at_guessed, reset),
        CHECK_SETUP(test_backtrace, reset),
        CHECK_SETUP(test_image_memory, reset),
        CHECK_SETUP(test_defined, reset),
        CHECK_SETUP(test_cpus, reset),
        CHECK_SETUP(test_other_cpus, reset),
        CHECK_SETUP(test_rest, reset),
        CHECK_SETUP(test_described_pointers, reset),
        CHECK_SETUP(test_described_nodes, reset),
        CHECK_SETUP(test_set_aside, reset),
        CHECK_SETUP(test_moved, reset),
        CHECK_SETUP(test_in_use, reset),
        CHECK_SETUP(test_begun_anew, reset),
        CHECK_SETUP(test_others_run, reset),
        CHECK_SETUP(test_waits_in_image, reset),
        CHECK_SETUP(test_zero, reset),
        CHECK_SETUP(test_circle, reset),
        CHECK_SETUP(test_unset_members, reset),
        CHECK_SETUP(test_frames, reset),
        CHECK_SETUP(test_panic_at, reset),
        CHECK_SETUP(test_panic_at_user, reset),
        CHECK_SETUP(test_panic_at_behind_fault, reset),
        CHECK_SETUP(test_second_address, reset),
        CHECK_SETUP(test_no_stack, reset),
        CHECK_SETUP(test_stop, reset),
        CHECK_SETUP(test_mapped, reset),
        CHECK_SETUP(test_stop_in_panic, reset),
        CHECK_SETUP(test_stop_by_call, reset),
        CHECK_SETUP(test_stop_in_panic_at, reset),
        CHECK_SETUP(test_many_stacks, reset),
        CHECK_SETUP(test_long_name, reset),
        CHECK_SETUP(test_two_layouts, reset),
        CHECK_SETUP(test_runs_here, reset),
        CHECK_SETUP(test_many_threads, reset),
        CHECK_SETUP(test_backtrace_after_others, reset),
    };

    return check_run("kernel", tests);
}
