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

#include "sfu_dump.h"

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
             "slide 0x800\n"
             "#0  0x0000000000001004  first+0x4\n"
             "#1  0x0000000000002000  first+0x1000  [guessed]\n"
             "#2  0x0000000000003000  third+0x0  [interrupted]\n"
             "#3  0x123456789abcdef0  [stack switch]  [guessed]\n"
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

/* ---- The raw dump ---- */

static const uint8_t note[] = {4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0x01, 0xab, 0xf0};

static void test_build_id(void **state)
{
    (void)state;
    sfu_print_build_id(&panic, note, note + sizeof note);
    assert_string_equal(output, "build ID 01abf0\n");
    length = 0;
    output[0] = '\0';
    sfu_print_build_id(&panic, note, note + 16);
    sfu_print_build_id(&panic, note, note);
    sfu_print_build_id(&panic, NULL, NULL);
    assert_string_equal(output, "");
}

/* No tables, no callback: four words of the window are left above SP. */
static void test_dump_plain(void **state)
{
    static const struct sfu_dump dump = {.abi = SFU_AMD64};

    (void)state;
    panic.target = NULL;
    assert_int_equal(sfu_panic_init(&panic, NULL, NULL, stack, stack + WORDS), SFU_E_EMPTY);
    memcpy(&stack[WORDS - 4], "\1\2\3\4\5\6\7\10", 8);
    top.sp = (uintptr_t)&stack[WORDS - 4];
    sfu_dump_print(&panic, &dump, &top);
    assert_non_null(strstr(output, "sfu1 begin 3 exact\nsfu1 r pc 0000000000001004 sp 0"));
    assert_non_null(strstr(output,
                           " fp 0000000000010008\n"
                           "sfu1 s 0000 0807060504030201 0000000000000000 0000000000000000 0000000000000000\n"
                           "sfu1 end 0004\n"));
}

static int some_registers(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *value)
{
    (void)ctx;
    assert_int_equal(frame->depth, 0);
    assert_int_equal(frame->trap, 0);
    assert_int_equal(frame->regs.pc, 0x1004);
    *value = reg + 1;
    return reg % 7 == 3 ? 0 : -1;
}

/* All that there can be, of a stack in the other byte order. */
static void test_dump_all(void **state)
{
    static const struct sfu_dump_place places[] = {{0x100000, "image_start", NULL}, {0x200000, ".text", "m.ko"}};
    static const struct sfu_dump_stack stacks[] = {
        {STACK + 8 * 20, 4}, {STACK - 8, 1}, {STACK + 8 * (WORDS - 1), 9}};
    const struct sfu_dump dump = {note, note + sizeof note, places, 2, stacks, 3, 5, SFU_S390X};

    (void)state;
    target.reg = some_registers;
    target.pac_mask = 0xff00;
    memcpy(stack, "\1\2\3\4\5\6\7\10", 8);
    memcpy(&stack[23], "\1\2\3\4\5\6\7\10", 8);
    top.ra = 0xfedcba9876543210;
    top.has_ra = true;
    top.pc_kind = SFU_PC_RETURN;
    sfu_dump_print(&panic, &dump, &top);
    assert_string_equal(output, "sfu1 begin 4 return\n"
                                "sfu1 build 01abf0\n"
                                "sfu1 at 0000000000100000 image_start\n"
                                "sfu1 at 0000000000200000 .text m.ko\n"
                                "sfu1 r pc 0000000000001004 sp 0000000000010000 fp 0000000000010008\n"
                                "sfu1 r ra fedcba9876543210\n"
                                "sfu1 r pac 000000000000ff00\n"
                                "sfu1 r 03 0000000000000004 0a 000000000000000b 11 0000000000000012\n"
                                "sfu1 r 18 0000000000000019 1f 0000000000000020\n"
                                "sfu1 s 0000 0102030405060708 0000000000000000 0000000000000000 0000000000000000\n"
                                "sfu1 s 0020 0000000000000000\n"
                                "sfu1 m 00000000000100a0 0000000000000000 0000000000000000 0000000000000000\n"
                                "sfu1 m 00000000000100b8 0102030405060708\n"
                                "sfu1 m 00000000000101f8 0000000000000000\n"
                                "sfu1 end 000a\n");
}

/* At most what is asked for, and no line is longer than a serial console's. */
static void test_dump_long(void **state)
{
    static uint64_t much[SFU_DUMP_MOST + 2];
    struct sfu_dump dump = {.abi = SFU_AMD64};
    const char *line, *end;

    (void)state;
    sfu_dump_print(&panic, &dump, &top);
    assert_non_null(strstr(output, "sfu1 s 01e0 0000"));
    assert_null(strstr(output, "sfu1 s 0200"));
    assert_non_null(strstr(output, "sfu1 end 0040\n"));
    for (line = output; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        assert_true(end - line <= 80);
    }
    target.window = much;
    target.window_low = UINT64_MAX - sizeof much + 1;
    target.window_high = UINT64_MAX;
    top.sp = UINT64_MAX - 16 + 1;
    length = 0;
    sfu_dump_print(&panic, &dump, &top);
    assert_non_null(strstr(output, "\nsfu1 s 0000 0000000000000000\nsfu1 end 0001\n"));
}

/* A fault in the middle of a dump comes to the printer, which stops; a dump does not begin in one. */
static void test_dump_fault(void **state)
{
    static const struct sfu_dump dump = {.abi = SFU_AMD64};

    (void)state;
    faults = 1;
    sfu_dump_print(&panic, &dump, &top);
    assert_int_equal(faults, 0);
    assert_non_null(strstr(output, "\nsecond fault, while printing"));
    length = 0;
    output[0] = '\0';
    panic.busy = 1;
    sfu_dump_print(&panic, &dump, &top);
    assert_string_equal(output, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_plain, reset),      cmocka_unit_test_setup(test_marks, reset),
        cmocka_unit_test_setup(test_many, reset),       cmocka_unit_test_setup(test_fault, reset),
        cmocka_unit_test_setup(test_again, reset),      cmocka_unit_test_setup(test_guessed_by_hook, reset),
        cmocka_unit_test_setup(test_init, reset),       cmocka_unit_test_setup(test_init_broken, reset),
        cmocka_unit_test_setup(test_wild_call, reset),  cmocka_unit_test_setup(test_replaced, reset),
        cmocka_unit_test_setup(test_joined, reset),
        cmocka_unit_test_setup(test_build_id, reset),   cmocka_unit_test_setup(test_dump_plain, reset),
        cmocka_unit_test_setup(test_dump_all, reset),   cmocka_unit_test_setup(test_dump_long, reset),
        cmocka_unit_test_setup(test_dump_fault, reset),
    };

    return cmocka_run_group_tests_name("print", tests, NULL, NULL);
}
