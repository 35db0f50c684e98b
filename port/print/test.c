/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The panic printer's whole output, for a walk over a stack in an array. No function has an entry: frames are
 * found by frame pointer or by the trap hook, which knows the PC 0x2000.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "sfu_print.h"

/* An amd64 section, version 2, of one function at 0x10 above it that is one byte long. */
static const uint8_t bytes[] = {0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0,  1, 0, 0, 0,    1, 0, 0, 0, 3,
                                0,    0,    0, 0, 0, 0, 0,    20, 0, 0, 0, 0x10, 0, 0, 0, 1, 0,
                                0,    0,    0, 0, 0, 0, 1,    0,  0, 0, 0, 0,    0, 0, 0, 3, 8};

/* At STACK: records of FP and RA. */
enum { STACK = 0x10000, WORDS = 64 };
static uint64_t stack[WORDS];

static char output[4096];
static size_t length;
static struct sfu_section section;
static struct sfu_target target;
static struct sfu_panic panic;
static struct sfu_registers top;
static int faults;
static bool hook_guesses;

static int trap(void *ctx, const struct sfu_frame *frame, int code, struct sfu_trapped *trapped)
{
    (void)ctx;
    if (frame->regs.pc != 0x2000)
        return code;
    trapped->regs.pc = 0x3000;
    trapped->regs.sp = frame->regs.sp + 64;
    trapped->regs.fp = frame->regs.fp;
    trapped->guessed = hook_guesses;
    return SFU_OK;
}

/* Two stacks, the second of which begins at word 16. */
static uint64_t which_stack(void *ctx, uint64_t sp)
{
    (void)ctx;
    return sp >= STACK + 8 * 16;
}

static void put(void *ctx, char c)
{
    assert_ptr_equal(ctx, &panic);
    assert_true(length < sizeof output - 1);
    output[length++] = c;
    output[length] = '\0';
    if (faults > 0 && length > 30) {
        faults--;
        assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_STACK);
    }
}

/* Functions are 0x1000 bytes long. */
static const char *symbol(void *ctx, uint64_t addr, uint64_t *offset)
{
    static const char *const names[] = {NULL, "first", "second", "third"};

    assert_ptr_equal(ctx, &panic);
    *offset = addr & 0xfff;
    return addr >> 12 < 4 ? names[addr >> 12] : NULL;
}

static int reset(void **state)
{
    (void)state;
    memset(stack, 0, sizeof stack);
    memset(&target, 0, sizeof target);
    memset(&panic, 0, sizeof panic);
    memset(&top, 0, sizeof top);
    length = 0;
    faults = 0;
    hook_guesses = false;
    if (sfu_open(&section, bytes, sizeof bytes, 0x800000) != SFU_OK)
        return -1;
    target.window = stack;
    target.window_low = STACK;
    target.window_high = STACK + sizeof stack;
    target.frame_pointers = true;
    panic.target = &target;
    panic.put = put;
    panic.ctx = &panic;
    top.pc = 0x1004;
    top.sp = STACK;
    top.fp = STACK + 8;
    return sfu_add(&target.sections, &section);
}

/* FP and RA of the frame record at word N. */
static void record(unsigned n, uint64_t fp, uint64_t ra)
{
    stack[n] = fp;
    stack[n + 1] = ra;
}

static void test_plain(void **state)
{
    (void)state;
    target.frame_pointers = false;
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NO_FDE);
    assert_string_equal(output, "#0  0x0000000000001004\n"
                                "trace ends (-13): no .sframe entry for this PC\n"
                                "addr2line -fipe IMAGE 0x1004\n");
}

/* Every mark. The lookup PC of the second frame is in the function before its return address. */
static void test_marks(void **state)
{
    char expected[1024];

    (void)state;
    target.trap = trap;
    target.stack = which_stack;
    panic.symbol = symbol;
    panic.image = "kernel.elf";
    panic.slide = 0x800;
    record(1, STACK + 8 * 20, 0x2000);
    record(20, 0, 0x123456789abcdef0);
    top.sp = STACK;
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NO_FDE);
    snprintf(expected, sizeof expected,
             "#0  0x0000000000001004  first+0x4\n"
             "#1  0x0000000000002000  first+0x1000  [guessed]\n"
             "#2  0x0000000000003000  third+0x0  [interrupted]\n"
             "#3  0x123456789abcdef0  [stack switch]  [guessed]\n"
             "slide 0x800\n"
             "trace ends (-13): %s; guessed frames are not proven\n"
             "addr2line -fipe kernel.elf 0x804 0x17ff 0x2800 0x123456789abcd6ef\n",
             sfu_string(SFU_E_NO_FDE));
    assert_string_equal(output, expected);
}

/* Whoever has guessed a frame, it says so. */
static void test_guessed_by_hook(void **state)
{
    (void)state;
    target.trap = trap;
    target.frame_pointers = false;
    hook_guesses = true;
    top.pc = 0x2000;
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NO_FDE);
    assert_non_null(strstr(output, "\n#1  0x0000000000003000  [interrupted]  [guessed]\ntrace ends (-13)"));
    assert_non_null(strstr(output, "; guessed frames are not proven\n"));
}

/* With one section and one stack nothing else needs to be set. The array is where it says: the trace is real. */
static void test_init(void **state)
{
    char expected[1024];
    uint64_t function = (uintptr_t)bytes + 0x10;

    (void)state;
    panic.target = NULL;
    assert_int_equal(sfu_panic_init(&panic, bytes, bytes + sizeof bytes, stack, stack + 4), SFU_OK);
    panic.own.max_frames = 10;
    stack[0] = function + 1;
    stack[1] = 0x123456789abcdef0;
    top.pc = function;
    top.sp = (uintptr_t)stack;
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NOT_CODE);
    snprintf(expected, sizeof expected,
             "#0  0x%016llx\n#1  0x%016llx\n#2  0x123456789abcdef0\ntrace ends (-26): %s\n"
             "addr2line -fipe IMAGE 0x%llx 0x%llx 0x123456789abcdeef\n",
             (unsigned long long)function, (unsigned long long)function + 1, sfu_string(SFU_E_NOT_CODE),
             (unsigned long long)function, (unsigned long long)function);
    assert_string_equal(output, expected);
    stack[1] = function + 1;
    assert_int_equal(sfu_panic_init(&panic, bytes, bytes + sizeof bytes, stack, stack + 1), SFU_OK);
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_STACK);
}

/* A call through a null pointer: the caller is there, and is marked; the trace says that it is not proven. */
static void test_wild_call(void **state)
{
    char expected[1024];
    uint64_t function = (uintptr_t)bytes + 0x10;

    (void)state;
    assert_int_equal(sfu_panic_init(&panic, bytes, bytes + sizeof bytes, stack, stack + 4), SFU_OK);
    stack[0] = function + 1;
    stack[1] = 0;
    top.pc = 0;
    top.sp = (uintptr_t)stack;
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NOT_CODE);
    snprintf(expected, sizeof expected,
             "#0  0x0000000000000000\n#1  0x%016llx  [wild call]\n#2  0x0000000000000000\n"
             "trace ends (-26): %s; guessed frames are not proven\n"
             "addr2line -fipe IMAGE 0x0 0x%llx 0xffffffffffffffff\n",
             (unsigned long long)function + 1, sfu_string(SFU_E_NOT_CODE), (unsigned long long)function);
    assert_string_equal(output, expected);
}

/* A return address that somebody has replaced by 0x7000. */
static bool original_ra(void *ctx, const struct sfu_frame *frame, uint64_t slot, uint64_t *ra)
{
    (void)ctx;
    (void)frame;
    if (*ra != 0x7000)
        return false;
    *ra = slot;
    return true;
}

static void test_replaced(void **state)
{
    (void)state;
    target.original_ra = original_ra;
    record(1, STACK + 8 * 20, 0x7000);
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NO_FDE);
    assert_non_null(strstr(output, "\n#1  0x0000000000010010  [hooked]  [guessed]\n"));
}

/* Tables that were joined: as many as there is room for. */
static void test_joined(void **state)
{
    static uint8_t three[3 * 56];
    static struct sfu_section more[3];
    unsigned n;

    (void)state;
    assert_true(sizeof bytes <= 56);
    for (n = 0; n < 3; n++)
        memcpy(three + 56 * n, bytes, sizeof bytes);
    for (n = 0; n <= 3; n++) {
        uint64_t third = (uintptr_t)three + 2 * 56 + 0x10;

        length = 0;
        panic.more = more;
        panic.num_more = n;
        assert_int_equal(sfu_panic_init(&panic, three, three + sizeof three, stack, stack + 4),
                         n < 2 ? SFU_E_CONCATENATED : SFU_OK);
        stack[0] = 0;
        top.pc = third; /* a function of the last table, whose caller is at PC 0 */
        top.sp = (uintptr_t)stack;
        assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NOT_CODE);
        assert_true((strstr(output, "\n#1  0x0000000000000000\n") != NULL) == (n >= 2));
    }
    three[56 + 2] = 9; /* a version that there is not */
    assert_int_equal(sfu_panic_init(&panic, three, three + sizeof three, stack, stack + 4), SFU_E_VERSION);
    three[0] = 0;
    assert_int_equal(sfu_panic_init(&panic, three, three + sizeof three, stack, stack + 4), SFU_E_MAGIC);
    assert_int_equal(sfu_panic_init(&panic, three, three, stack, stack + 4), SFU_E_EMPTY);
}

/* What is wrong with the section is said, and the first frame is printed. */
static void test_init_broken(void **state)
{
    static uint8_t broken[sizeof bytes];

    (void)state;
    memcpy(broken, bytes, sizeof broken);
    broken[12] = 2;
    assert_int_equal(sfu_panic_init(&panic, broken, broken + sizeof broken, stack, stack + 4), SFU_E_COUNT);
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NOT_CODE);
    broken[0] = 0;
    assert_int_equal(sfu_panic_init(&panic, broken, broken + sizeof broken, stack, stack + 4), SFU_E_MAGIC);
    assert_int_equal(sfu_panic_init(&panic, broken, broken, stack, stack + 4), SFU_E_EMPTY);
    length = 0;
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_EMPTY);
    assert_non_null(strstr(output, "#0  0x0000000000001004\n"));
}

/* Two-digit frame numbers, and the end by the limit. */
static void test_many(void **state)
{
    unsigned i;

    (void)state;
    target.max_frames = 12;
    for (i = 1; i < 60; i += 2)
        record(i, STACK + 8 * (i + 2), 0x5000 + i);
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NO_FDE);
    assert_non_null(
        strstr(output, "\n#9  0x0000000000005011  [guessed]\n#10 0x0000000000005013  [guessed]\n#11 0x"));
    assert_null(strstr(output, "#12"));
}

/* A fault in the middle of a line comes here again, and a fault while that is said again. */
static void test_fault(void **state)
{
    const char *second;

    (void)state;
    record(1, 0, 0x2000);
    faults = 2;
    sfu_panic_print(&panic, &top);
    assert_int_equal(faults, 0);
    second = strstr(output, "\nsecond fault, while printing the trace: stopped here\n");
    assert_non_null(second);
    assert_true(second - output <= 32);
    assert_null(strstr(second + 2, "second fault"));
}

/* Afterwards it can be used again. */
static void test_again(void **state)
{
    char kept[sizeof output];

    (void)state;
    sfu_panic_print(&panic, &top);
    memcpy(kept, output, sizeof kept);
    length = 0;
    sfu_panic_print(&panic, &top);
    assert_string_equal(output, kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_plain, reset), cmocka_unit_test_setup(test_marks, reset),
        cmocka_unit_test_setup(test_many, reset),  cmocka_unit_test_setup(test_fault, reset),
        cmocka_unit_test_setup(test_again, reset), cmocka_unit_test_setup(test_guessed_by_hook, reset),
        cmocka_unit_test_setup(test_init, reset),  cmocka_unit_test_setup(test_init_broken, reset),
        cmocka_unit_test_setup(test_wild_call, reset), cmocka_unit_test_setup(test_replaced, reset),
        cmocka_unit_test_setup(test_joined, reset),
    };

    return cmocka_run_group_tests_name("print", tests, NULL, NULL);
}
