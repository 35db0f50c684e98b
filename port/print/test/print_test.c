/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The panic printer's whole output, for a walk over a stack in an array. No function has an entry: frames are
 * found by frame pointer or by the trap hook, which knows the PC 0x2000.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sfu_all.h"
#include "sfu_build_id.h"
#include "sfu_calls.h"
#include "sfu_cycles.h"
#include "sfu_dump.h"
#include "sfu_record.h"
#include "sfu_sizes.h"
#include "sfu_trap.h"
#include "test/lib/check.h"

/* An amd64 section, version 2, of one function at 0x10 above it that is 8 bytes long. */
static const uint8_t bytes[] = {0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0,  1, 0, 0, 0,    1, 0, 0, 0, 3,
                                0,    0,    0, 0, 0, 0, 0,    20, 0, 0, 0, 0x10, 0, 0, 0, 8, 0,
                                0,    0,    0, 0, 0, 0, 1,    0,  0, 0, 0, 0,    0, 0, 0, 3, 8};

/* At STACK: records of FP and RA. */
enum { STACK = 0x10000, WORDS = 64 };
static uint64_t stack[WORDS];

enum { CODE = 0x800000 };
static uint64_t code_at; /* where stack_of puts its section: CODE, unless a test says otherwise */

static char output[1 << 16];
static size_t length;
static struct sfu_section section;
static struct sfu_target target;
static struct sfu_panic panic;
static struct sfu_registers top;
static int faults;
static size_t fault_behind;
static bool hook_guesses;
static int hook_returns;
static uint64_t null_call;

static int trap(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    (void)ctx;
    if (frame->regs.pc != 0x2000)
        return code;
    interrupted->regs.pc = 0x3000;
    interrupted->regs.sp = frame->regs.sp + 64;
    interrupted->regs.fp = frame->regs.fp;
    interrupted->guess = hook_guesses ? SFU_GUESS_HOOK : SFU_GUESS_NONE;
    return SFU_OK;
}

/* The target's stack as two, the second of which begins at word 16. */
static bool find_stack(void *ctx, uint64_t addr, struct sfu_stack *found)
{
    (void)ctx;
    *found = target.stack;
    if (addr < STACK + 8 * 16)
        found->high = STACK + 8 * 16;
    else {
        found->low = STACK + 8 * 16;
        found->bytes = (const uint64_t *)target.stack.bytes + 16;
    }
    return true;
}

static void put(void *ctx, char c)
{
    assert_ptr_equal(ctx, &panic);
    assert_true(length < sizeof output - 1);
    output[length++] = c;
    output[length] = '\0';
    if (faults > 0 && length > fault_behind) {
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
    fault_behind = 30;
    code_at = CODE;
    hook_guesses = false;
    target.stack.bytes = stack;
    target.stack.low = STACK;
    target.stack.high = STACK + sizeof stack;
    target.frame_pointers = true;
    panic.target = &target;
    panic.put = put;
    panic.ctx = &panic;
    top.pc = 0x1004;
    top.sp = STACK;
    top.fp = STACK + 8;
    return sfu_add(&target.sections, &section, 1, bytes, sizeof bytes, 0x800000);
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
                                "addr2line -Cfipe IMAGE 0x1004\n");
}

/* Every mark. The lookup PC of the second frame is in the function before its return address. */
static void test_marks(void **state)
{
    char expected[1024];

    (void)state;
    target.trap_hook = trap;
    target.find_stack = find_stack;
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
             "addr2line -Cfipe kernel.elf 0x804 0x17ff 0x2800 0x123456789abcd6ef\n",
             sfu_string(SFU_E_NO_FDE));
    assert_string_equal(output, expected);
}

/* A return address at which "second" begins, and so does the row of the byte before: no call is there. Where the row
 * begins elsewhere, or the PC is exact, the name is that of the byte before, or of the PC. */
static void test_first_address(void **state)
{
    (void)state;
    panic.symbol = symbol;
    record(1, STACK + 8 * 20, 0x2000);
    target.sections = NULL;
    assert_int_equal(sfu_add(&target.sections, &section, 1, bytes, sizeof bytes, 0x2000 - 1 - 0x10), SFU_OK);
    (void)sfu_panic_print(&panic, &top);
    assert_non_null(strstr(output, "\n#1  0x0000000000002000  second+0x0  [guessed]\n"));
    assert_non_null(strstr(output, "IMAGE 0x1004 0x2000"));
    length = 0;
    target.sections = NULL;
    assert_int_equal(sfu_add(&target.sections, &section, 1, bytes, sizeof bytes, 0x2000 - 2 - 0x10), SFU_OK);
    (void)sfu_panic_print(&panic, &top);
    assert_non_null(strstr(output, "\n#1  0x0000000000002000  first+0x1000  [guessed]\n"));
    length = 0;
    top.pc = 0x2000;
    (void)sfu_panic_print(&panic, &top);
    assert_non_null(strstr(output, "#0  0x0000000000002000  second+0x0\n"));
}

/* Whoever has guessed a frame, it says so. */
static void test_guessed_by_hook(void **state)
{
    (void)state;
    target.trap_hook = trap;
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
    uint64_t function = (uintptr_t)bytes + 0x10, ra = function + 5;

    (void)state;
    panic.target = NULL;
    assert_int_equal(sfu_panic_init(&panic, bytes, bytes + sizeof bytes, stack, stack + 4), SFU_OK);
    panic.own.max_frames = 10;
    stack[0] = ra;
    stack[1] = 0x123456789abcdef0;
    top.pc = function;
    top.sp = (uintptr_t)stack;
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NOT_CODE);
    snprintf(expected, sizeof expected,
             "#0  0x%016llx\n#1  0x%016llx\n#2  0x123456789abcdef0\ntrace ends (-26): %s\n"
             "addr2line -Cfipe IMAGE 0x%llx 0x%llx 0x123456789abcdeef\n",
             (unsigned long long)function, (unsigned long long)ra, sfu_string(SFU_E_NOT_CODE),
             (unsigned long long)function, (unsigned long long)ra - 1);
    assert_string_equal(output, expected);
    stack[1] = ra;
    assert_int_equal(sfu_panic_init(&panic, bytes, bytes + sizeof bytes, stack, stack + 1), SFU_OK);
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_STACK);
}

/* A call through a null pointer: the caller is there, and is marked; the trace says that it is not proven. */
static void test_wild_call(void **state)
{
    char expected[1024];
    uint64_t function = (uintptr_t)bytes + 0x10, ra = function + 5;

    (void)state;
    assert_int_equal(sfu_panic_init(&panic, bytes, bytes + sizeof bytes, stack, stack + 4), SFU_OK);
    stack[0] = ra;
    stack[1] = 0;
    top.pc = 0;
    top.sp = (uintptr_t)stack;
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NOT_CODE);
    snprintf(expected, sizeof expected,
             "#0  0x0000000000000000\n#1  0x%016llx  [wild call]\n#2  0x0000000000000000  [guessed]\n"
             "trace ends (-26): %s; guessed frames are not proven\n"
             "addr2line -Cfipe IMAGE 0x0 0x%llx 0x0\n",
             (unsigned long long)ra, sfu_string(SFU_E_NOT_CODE), (unsigned long long)ra - 1);
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
    target.find_stack = find_stack;
    record(1, STACK + 8 * 20, 0x7000);
    record(20, 0, 0x7000);
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NO_FDE);
    assert_non_null(strstr(output, "\n#1  0x0000000000010010  [replaced]  [guessed]\n"));
    assert_non_null(strstr(output, "\n#2  0x00000000000100a8  [stack switch]  [replaced]  [guessed]\n"));
}

/* A trap that has come to another stack. */
static void test_interrupted_and_switched(void **state)
{
    (void)state;
    target.trap_hook = trap;
    target.find_stack = find_stack;
    top.fp = STACK + 8 * 7;
    record(7, 0, 0x2000);
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NO_FDE);
    assert_non_null(strstr(output, "\n#2  0x0000000000003000  [interrupted]  [stack switch]\n"));
}

/* What the panic path has asked for once the trace is at its end: the code that is printed, and a doubt. */
static int ends_otherwise(struct sfu_panic *p, int ends_by)
{
    assert_ptr_equal(p, &panic);
    assert_int_equal(ends_by, SFU_E_NO_FDE);
    p->walk.frame.reliable = false;
    return SFU_END;
}

static void test_after(void **state)
{
    char expected[200];

    (void)state;
    target.frame_pointers = false;
    panic.after = ends_otherwise;
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_END);
    snprintf(expected, sizeof expected, "\ntrace ends (1): %s; guessed frames are not proven\n",
             sfu_string(SFU_END));
    assert_non_null(strstr(output, expected));
}

static void say_before(struct sfu_panic *p, const struct sfu_registers *from)
{
    assert_ptr_equal(from, &top);
    sfu_print_text(p, "before\n");
}

static bool naming_faults;

static const char *symbol_that_faults(void *ctx, uint64_t addr, uint64_t *offset)
{
    (void)addr;
    (void)offset;
    if (naming_faults)
        assert_int_equal(sfu_panic_print((struct sfu_panic *)ctx, &top), SFU_E_STACK);
    naming_faults = false;
    return NULL;
}

/* If finding a name faults, the address has been printed. */
static void test_fault_in_naming(void **state)
{
    (void)state;
    target.frame_pointers = false;
    panic.symbol = symbol_that_faults;
    naming_faults = true;
    (void)sfu_panic_print(&panic, &top);
    assert_false(naming_faults);
    assert_ptr_equal(strstr(output, "#0  0x0000000000001004\nsecond fault while printing"), output);
}

/* Sections that were concatenated: as many as there is room for. */
static void test_joined(void **state)
{
    static uint8_t three[3 * 56];
    static struct sfu_section sections[3], many[257];
    unsigned n;

    (void)state;
    assert_true(sizeof bytes <= 56);
    for (n = 0; n < 3; n++)
        memcpy(three + 56 * n, bytes, sizeof bytes);
    for (n = 1; n <= 4; n++) {
        uint64_t third = (uintptr_t)three + 2 * 56 + 0x10;

        length = 0;
        panic.sections = n <= 3 ? sections : NULL; /* NULL: room for one */
        panic.room = n;
        assert_int_equal(sfu_panic_init(&panic, three, three + sizeof three, stack, stack + 4),
                         n != 3 ? SFU_E_CONCATENATED : SFU_OK);
        stack[0] = 0;
        top.pc = third; /* a function of the last table, whose caller is at PC 0 */
        top.sp = (uintptr_t)stack;
        assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NOT_CODE);
        assert_true((strstr(output, "\n#1  0x0000000000000000  [guessed]\n") != NULL) == (n == 3));
    }
    panic.sections = many;
    panic.room = sizeof many / sizeof many[0];
    assert_int_equal(sfu_panic_init(&panic, three, three + sizeof three, stack, stack + 4), SFU_OK);
    panic.sections = sections;
    panic.room = 3;
    three[56 + 2] = 9; /* a version that there is not */
    assert_int_equal(sfu_panic_init(&panic, three, three + sizeof three, stack, stack + 4), SFU_E_VERSION);
    three[0] = 0;
    assert_int_equal(sfu_panic_init(&panic, three, three + sizeof three, stack, stack + 4), SFU_E_MAGIC);
    assert_int_equal(sfu_panic_init(&panic, three, three, stack, stack + 4), SFU_E_EMPTY);
}

enum { FUNCTIONS = 5, HEADER = 28, SIZE_OF_FDE = 20, ROW = 3, SIZE = HEADER + FUNCTIONS * (SIZE_OF_FDE + ROW) + 1 };

/* A table of functions of 16 bytes from 0x100 above it, 0x200 and so on, up to 0x500. */
static void make_table(uint8_t *table)
{
    memset(table, 0, SIZE);
    memcpy(table, bytes, HEADER);
    table[8] = table[12] = FUNCTIONS;
    table[16] = FUNCTIONS * ROW + 1; /* a byte more: tables that are joined are aligned */
    table[24] = FUNCTIONS * SIZE_OF_FDE;
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        uint8_t *fde = table + HEADER + SIZE_OF_FDE * i;

        memcpy(fde, bytes + HEADER, SIZE_OF_FDE);
        memcpy(table + HEADER + SIZE_OF_FDE * FUNCTIONS + ROW * i, bytes + HEADER + SIZE_OF_FDE, ROW);
        fde[0] = 0;
        fde[1] = (uint8_t)(i + 1);
        fde[4] = 0x10;
        fde[8] = (uint8_t)(ROW * i);
    }
}

/* A damaged function at either end of a table, which may be joined to another one, does not hide those between. Only
 * the damaged table is searched for each PC. */
static void test_init_damaged(void **state)
{
    static uint8_t tables[2 * SIZE];
    static struct sfu_section sections[2];

    (void)state;
    panic.sections = sections;
    panic.room = 2;
    for (unsigned which = 0; which < 2; which++)
        for (unsigned end = 0; end < FUNCTIONS; end += FUNCTIONS - 1) {
            uint8_t *table = tables + which * SIZE, *fde = table + HEADER + SIZE_OF_FDE * end;
            uint64_t base = (uintptr_t)table, other = (uintptr_t)tables + (1 - which) * SIZE;

            make_table(tables);
            make_table(tables + SIZE);
            assert_int_equal(sfu_panic_init(&panic, tables, tables + 2 * SIZE, stack, stack + 4), SFU_OK);
            assert_int_equal(sections[which].code.low, base + 0x100);
            assert_int_equal(sections[which].code.high, base + 0x510);
            fde[0] = 0x80; /* its start, which was 0x100 or 0x500, becomes 0x480 or 0x180 */
            fde[1] = end == 0 ? 4 : 1;
            assert_int_equal(sfu_panic_init(&panic, tables, tables + 2 * SIZE, stack, stack + 4), SFU_E_UNSORTED);
            assert_int_equal(sections[1 - which].code.low, other + 0x100);
            assert_int_equal(sections[1 - which].code.high, other + 0x510);
            stack[0] = 0x123456789abcdef0;
            top.pc = base + 0x200;
            top.sp = (uintptr_t)stack;
            length = 0;
            assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NOT_CODE);
            assert_non_null(strstr(output, "\n#1  0x123456789abcdef0\n"));
        }
}

/* The printer says what is wrong with the section, and prints the topmost frame. */
static void test_init_broken(void **state)
{
    static uint8_t broken[sizeof bytes];
    char expected[200];

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
    assert_int_equal(sfu_panic_init(&panic, broken, broken + sizeof broken, stack, stack + 4), SFU_E_MAGIC);
    length = 0;
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_MAGIC);
    snprintf(expected, sizeof expected, "\ntrace ends (-2): %s\n", sfu_string(SFU_E_MAGIC));
    assert_non_null(strstr(output, expected));
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

/* A fault in the middle of a line comes here again, and so does a fault while the printer says that. */
static void test_fault(void **state)
{
    const char *second;

    (void)state;
    record(1, 0, 0x2000);
    faults = 2;
    sfu_panic_print(&panic, &top);
    assert_int_equal(faults, 0);
    second = strstr(output, "\nsecond fault while printing the trace: stopped\n");
    assert_non_null(second);
    assert_true(second - output <= 32);
    assert_null(strstr(second + 2, "second fault"));
}

/* Wherever a fault comes, the printer is busy. */
static void test_fault_anywhere(void **state)
{
    size_t all;

    (void)state;
    record(1, 0, 0x2000);
    panic.slide = 8;
    panic.before = say_before;
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(strstr(output, "slide 0x8\nbefore\n#0  "), output);
    all = length;
    for (fault_behind = 0; fault_behind < all; fault_behind++) {
        length = 0;
        faults = 1;
        (void)sfu_panic_print(&panic, &top);
        assert_int_equal(faults, 0);
        assert_non_null(strstr(output, "\nsecond fault while printing the trace: stopped\n"));
    }
}

/* A panic before sfu_panic_init is one frame; one before there is a console is nothing. */
static void test_early(void **state)
{
    char expected[1024];

    (void)state;
    panic.target = NULL;
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NO_SECTION);
    snprintf(expected, sizeof expected,
             "#0  0x0000000000001004\ntrace ends (%d): %s\naddr2line -Cfipe IMAGE 0x1004\n", SFU_E_NO_SECTION,
             sfu_string(SFU_E_NO_SECTION));
    assert_string_equal(output, expected);
    panic.put = NULL;
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NO_SECTION);
    panic.put = put;
    assert_int_equal(sfu_panic_init(&panic, bytes, bytes + sizeof bytes, stack, stack + 4), SFU_OK);
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NOT_CODE);
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

/* ---- Cycles, and what is skipped ---- */

/* A version 2 section for amd64 of a function for each letter, 16 bytes long; all have the row CFA = SP + 8. */
enum { LETTERS = 26, FDE = 20 };
static uint8_t letters[28 + LETTERS * FDE + 6];
static uint64_t deep[70000];
static char compact[sizeof output];

static void store(uint8_t *at, uint32_t value)
{
    unsigned i;

    for (i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t function_of(char letter)
{
    return code_at + 0x1000 + 16 * (uint64_t)(letter - 'A');
}

/* The stack of SEQUENCE, a letter for each function, the topmost first. It ends where the stack ends. */
static void stack_of(const char *sequence)
{
    size_t n = strlen(sequence), i;
    uint32_t f;

    memcpy(letters, bytes, 28);
    store(letters + 8, LETTERS);
    store(letters + 12, 2 * LETTERS);
    store(letters + 16, 6);
    store(letters + 24, LETTERS * FDE);
    for (f = 0; f < LETTERS; f++) {
        memcpy(letters + 28 + f * FDE, bytes + 28, FDE);
        store(letters + 28 + f * FDE, 0x1000 + 16 * f);
        store(letters + 28 + f * FDE + 4, 16);
        store(letters + 28 + f * FDE + 12, 2);
    }
    memcpy(letters + sizeof letters - 6, bytes + sizeof bytes - 3, 3); /* two rows that say the same */
    memcpy(letters + sizeof letters - 3, bytes + sizeof bytes - 3, 3);
    letters[sizeof letters - 3] = 2;
    target.sections = NULL;
    assert_int_equal(sfu_add(&target.sections, &section, 1, letters, sizeof letters, code_at), SFU_OK);
    assert_true(n <= sizeof deep / sizeof deep[0]);
    for (i = 1; i < n; i++)
        deep[i - 1] = function_of(sequence[i]) + 4;
    target.stack.bytes = deep;
    target.stack.high = STACK + 8 * (n - 1);
    target.max_frames = sizeof deep / sizeof deep[0];
    target.frame_pointers = false;
    panic.cycles = sfu_print_cycles;
    top.pc = function_of(sequence[0]) + 4;
    top.sp = STACK;
    length = 0;
}

/* Prints the trace. In COMPACT a letter stands for each frame, (2*5) for two frames five times; after a mark, a letter
 * of it. Checks numbers, and the addr2line line. */
static const char *printed(void)
{
    char *to = compact, *line, *end;
    const char *address;
    unsigned number = 0, cycle, times, n;
    unsigned long long pc, lookup;

    length = 0;
    (void)sfu_panic_print(&panic, &top);
    address = strstr(output, "addr2line -Cfipe IMAGE");
    assert_non_null(address);
    address += strlen("addr2line -Cfipe IMAGE");
    for (line = output; *line == '#' || *line == ' '; line = end + 1) {
        end = strchr(line, '\n');
        if (sscanf(line, "#%u 0x%llx", &n, &pc) == 2) {
            if (line == output)
                number = n;
            assert_int_equal(n, number++);
            *to++ = pc >= function_of('A') ? (char)('A' + (pc - function_of('A')) / 16) : '?';
            for (; line < end; line++)
                if (*line == '[')
                    *to++ = line[1];
            assert_int_equal(sscanf(address, " 0x%llx", &lookup), 1);
            assert_int_equal(lookup, to[-1] == 'i' || n == 0 ? pc : pc - 1);
            address = strpbrk(address + 1, " \n");
            assert_non_null(address);
        } else {
            assert_int_equal(sscanf(line, "    ... %u times more: the %u above\n", &times, &cycle), 2);
            number += cycle * times;
            to += sprintf(to, "(%u*%u)", cycle, times);
        }
    }
    assert_int_equal(strncmp(line, "trace ends (", 12), 0);
    assert_int_equal(*address, '\n');
    *to = '\0';
    return compact;
}

static void expect(const char *sequence, const char *wanted)
{
    stack_of(sequence);
    assert_string_equal(printed(), wanted);
}

static void test_cycles(void **state)
{
    char sequence[64], wanted[64];
    unsigned n;

    (void)state;
    expect("XABCDEFG", "XABCDEFG");
    expect("XAAAAAB", "XA(1*4)B");
    expect("XAAB", "XAAB"); /* a line would be none shorter */
    expect("XAAAB", "XA(1*2)B");
    expect("XABAB", "XAB(2*1)");
    expect("AAAAB", "AA(1*2)B"); /* the first frame's PC is exact */
    expect("XABABABAZ", "XAB(2*2)AZ");
    expect("XABABABA", "XAB(2*2)A");
    expect("XABCABCABD", "XABC(3*1)ABD");
    for (n = 1; n <= SFU_PRINT_CYCLE; n++) {
        snprintf(sequence, sizeof sequence, "X%.*s%.*s%.*sZ", (int)n, "ABCDEFGHI", (int)n, "ABCDEFGHI", (int)n,
                 "ABCDEFGHI");
        snprintf(wanted, sizeof wanted, "X%.*s(%u*2)Z", (int)n, "ABCDEFGHI", n);
        expect(sequence, wanted);
    }
    expect("XABCDEFGHIABCDEFGHIABCDEFGHI", "XABCDEFGHIABCDEFGHIABCDEFGHI");
}

/* A walk begins without what another one has left, also where its first frame is a caller's. */
static void test_cycles_begin(void **state)
{
    (void)state;
    stack_of("AAAA");
    top.pc_kind = SFU_PC_RETURN;
    length = 0;
    (void)sfu_panic_print(&panic, &top);
    assert_non_null(strstr(output, "#0  0x0000000000801004\n    ... 3 times more: the 1 above\ntrace ends "));
    assert_non_null(strstr(output, "\naddr2line -Cfipe IMAGE 0x801003\n"));
}

/* Lines of items that somebody else has made: no number is short. */
static void test_line(void **state)
{
    const struct sfu_print_item item = {.times = 107, .length = 12};

    (void)state;
    sfu_print_line(&panic, &item);
    assert_string_equal(output, "    ... 107 times more: the 12 above\n");
}

static void must_have_no_size(void *ctx, const struct sfu_print_item *item)
{
    (*(unsigned *)ctx)++;
    assert_int_equal(item->size, 0);
}

/* Sizes that nobody has asked for are 0. */
static void test_walk(void **state)
{
    unsigned frames = 0;

    (void)state;
    stack_of("XABC");
    panic.cycles = NULL;
    panic.item.size = 5;
    assert_int_equal(sfu_print_walk(&panic, &top, must_have_no_size, &frames), SFU_E_STACK);
    assert_int_equal(frames, 4);
}

/* What a walk has left that did not come to its end. */
static void test_cycles_anew(void **state)
{
    (void)state;
    stack_of("XABABABC");
    memset(&panic.cycle, 1, sizeof panic.cycle);
    memset(&panic.item, 1, sizeof panic.item);
    assert_string_equal(printed(), "XAB(2*2)C");
}

static void test_cycles_left_out(void **state)
{
    (void)state;
    stack_of("XAAAAA");
    panic.cycles = NULL;
    assert_string_equal(printed(), "XAAAAA");
}

/* What sfu_print_cycles passes on. */
static struct sfu_print_item passed[32];
static unsigned num_passed;

static void keep_item(void *ctx, const struct sfu_print_item *item)
{
    assert_null(ctx);
    assert_true(num_passed < sizeof passed / sizeof passed[0]);
    passed[num_passed++] = *item;
}

/* Leaves what is not 0 on the stack, for whoever forgets to initialise. */
static void soil_stack(void)
{
    volatile uint8_t soil[4096];
    unsigned i;

    for (i = 0; i < sizeof soil; i++)
        soil[i] = 0x55;
}

/* Frame NUMBER with PC, or the end if that is 0. */
static void pass(struct sfu_print_cycle *cycle, uint32_t number, uint64_t pc, uint64_t size)
{
    const struct sfu_print_item item = {pc, pc - 1, number, 0, 0, 0, size};

    sfu_print_cycles(cycle, pc != 0 ? &item : NULL);
}

/* A frame that was held back keeps its size; what stands for several has none. */
static void test_cycles_sizes(void **state)
{
    static const uint64_t pcs[] = {1, 2, 3, 4, 2, 3, 4, 2, 3, 9, 0};
    static const uint64_t sizes[] = {10, 20, 30, 40, 0, 80, 90, 100};
    struct sfu_print_cycle cycle = {.each = keep_item};
    unsigned i;

    (void)state;
    num_passed = 0;
    for (i = 0; i < sizeof pcs / sizeof pcs[0]; i++) {
        soil_stack();
        pass(&cycle, i, pcs[i], 10 * (uint64_t)(i + 1));
    }
    assert_int_equal(num_passed, 8);
    for (i = 0; i < 8; i++) {
        assert_int_equal(passed[i].times, i == 4);
        assert_int_equal(passed[i].size, sizes[i]);
        assert_int_equal(passed[i].number, i <= 4 ? i : i + 2);
    }
    assert_int_equal(passed[4].length, 3);
}

/* PCs that differ in their upper halves, and more frames than 16 bits count. */
static void test_cycles_wide(void **state)
{
    struct sfu_print_cycle cycle = {.each = keep_item};
    uint32_t i;

    (void)state;
    num_passed = 0;
    for (i = 0; i < 8; i++)
        pass(&cycle, i, ((uint64_t)i << 32) + 7, 8);
    assert_int_equal(num_passed, 8);
    for (; i < 70008; i++)
        pass(&cycle, i, UINT64_C(0x123456789abcdef0), 8);
    pass(&cycle, 0, 0, 0);
    assert_int_equal(num_passed, 10);
    assert_int_equal(passed[9].times, 69999);
    assert_int_equal(passed[9].number, 9);
}

/* A cycle in a cycle, cycles that share frames, and one behind another. */
static void test_cycles_nested(void **state)
{
    (void)state;
    expect("XAAABAAABAAAB", "XA(1*2)B(4*2)");
    expect("XAABAABAABZ", "XAAB(3*2)Z");
    expect("XABACABACABACZ", "XABAC(4*2)Z");
    expect("XABABACDCDCDA", "XAB(2*1)ACD(2*2)A");
    expect("XAAAABBBBAAAA", "XA(1*3)B(1*3)AAAA"); /* the first of them could be a cycle of 8 */
    expect("XAABBAABB", "XAABB(4*1)");
}

/* With the abbreviations spelled out again, the sequence is the same, whatever it was. */
static void test_cycles_lossless(void **state)
{
    char sequence[200], again[400];
    uint32_t random = 1;
    unsigned round, i, n, cycle, times, abbreviated = 0;
    const char *p;

    (void)state;
    for (round = 0; round < 2000; round++) {
        for (i = 0; i < 60; i++) {
            random = random * 1103515245 + 12345;
            sequence[i] = (char)('A' + (random >> 20) % 3);
            if (i > 8 && (random >> 16) % 8 != 0)
                sequence[i] = sequence[i - 1 - round % 8];
        }
        sequence[i] = '\0';
        stack_of(sequence);
        n = 0;
        for (p = printed(); *p != '\0'; p++) {
            if (*p != '(') {
                again[n++] = *p;
                continue;
            }
            assert_int_equal(sscanf(p, "(%u*%u)", &cycle, &times), 2);
            assert_true(cycle <= SFU_PRINT_CYCLE && cycle * times >= 2);
            for (i = 0; i < cycle * times; i++, n++)
                again[n] = again[n - cycle];
            p = strchr(p, ')');
            abbreviated++;
        }
        again[n] = '\0';
        assert_string_equal(again, sequence);
    }
    assert_true(abbreviated > 1000);
}

/* As deep as a stack that has run over. */
static void test_cycles_deep(void **state)
{
    static char sequence[4097];

    (void)state;
    memset(sequence, 'R', sizeof sequence - 1);
    sequence[0] = 'X';
    sequence[4095] = 'S';
    expect(sequence, "XR(1*4093)S");
    assert_non_null(strstr(output, "\n    ... 4093 times more: the 1 above\n#4095 0x"));
}

/* PCs that the sections do not know: 0x2000 was interrupted, or is a guess. */
static int trap_to_a(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    (void)ctx;
    if (frame->regs.pc != 0x2000)
        return code;
    interrupted->regs.pc = function_of('A') + 4;
    interrupted->regs.sp = frame->regs.sp + 8;
    interrupted->guess = hook_guesses ? SFU_GUESS_HOOK : SFU_GUESS_NONE;
    if (hook_guesses)
        interrupted->regs.pc_kind = SFU_PC_RETURN;
    return SFU_OK;
}

/* A mark is never left out: a frame with one ends what is left out before it, and begins anew. */
static void test_cycles_marks(void **state)
{
    unsigned i;

    (void)state;
    target.trap_hook = trap_to_a;
    stack_of("XAAAAAAAAAAA");
    deep[4] = 0x2000;
    assert_string_equal(printed(), "XA(1*3)?AiA(1*4)");
    stack_of("XABABABABABAB");
    for (i = 2; i < 12; i += 4)
        deep[i] = 0x2000; /* the next word is the trap's: a cycle of four frames, interrupted every time */
    assert_string_equal(printed(), "XAB?AiAB?AiAB?Ai");
    target.trap_hook = NULL;
    target.find_stack = find_stack;
    stack_of("XAAAAAAAAAAAAAAAAAAAAAAAA");
    assert_string_equal(printed(), "XA(1*15)AsA(1*6)");
}

static void test_cycles_guessed(void **state)
{
    unsigned i;

    (void)state;
    for (i = 1; i < 60; i += 2)
        record(i, STACK + 8 * (i + 2), 0x5000);
    panic.cycles = sfu_print_cycles;
    (void)sfu_panic_print(&panic, &top);
    assert_null(strstr(output, "times more"));
    assert_non_null(strstr(output, "\n#29 0x0000000000005000  [guessed]\n"));
}

static void test_skip(void **state)
{
    (void)state;
    panic.skip_function = function_of('P');
    expect("LMPABC", "ABC");
    assert_non_null(strstr(output, "#3  0x"));
    assert_ptr_equal(strchr(output, '#'), output);
    expect("PABC", "ABC");
    expect("LMPAPBC", "APBC");
    expect("LMPAAAAB", "A(1*3)B");
    expect("LLLLLPAB", "AB");
    expect("LMABC", "LMABC"); /* it does not come up */
    expect("LMP", "LMP");     /* there is nothing else */
    panic.skip_function += 1; /* not a start */
    expect("LMPABC", "LMPABC");
    panic.skip_function += 3;
    expect("LMPABC", "LMPABC");
    panic.skip_function = 0;
    panic.skip = 2;
    expect("LMPABC", "PABC");
    assert_ptr_equal(strstr(output, "#2  0x"), output);
    expect("LMP", "P");
    expect("LM", "LM");
    expect("L", "L");
    panic.skip = UINT32_MAX;
    expect("LMPABC", "LMPABC");
}

/* Functions that differ in the upper halves of their addresses; and more frames than 16 bits count. */
static void test_skip_wide(void **state)
{
    static char sequence[65602];

    (void)state;
    code_at = UINT64_C(0x700000000000) + CODE;
    panic.skip_function = function_of('P');
    expect("LMPABC", "ABC");
    panic.skip_function &= UINT32_MAX;
    expect("LMPABC", "LMPABC");
    code_at = CODE;
    memset(sequence, 'R', sizeof sequence - 1);
    sequence[65595] = 'P';
    memcpy(sequence + 65596, "STUVW", 5);
    panic.skip_function = function_of('P');
    expect(sequence, "STUVW");
}

/* An interrupted frame, and what it called, is never skipped. */
static void test_skip_interrupted(void **state)
{
    (void)state;
    target.trap_hook = trap_to_a;
    panic.skip_function = function_of('P');
    stack_of("XLLLPB");
    deep[1] = 0x2000;
    assert_string_equal(printed(), "XL?AiPB");
    panic.skip_function = 0;
    panic.skip = 4;
    assert_string_equal(printed(), "XL?AiPB" + 3);
    panic.skip = 3;
    assert_string_equal(printed(), "XL?AiPB" + 3);
    panic.skip = 2;
    assert_string_equal(printed(), "XL?AiPB" + 2);
}

/* ---- The crash record ---- */

static struct sfu_record crash;
static char trace[sizeof output];

/* Records what is then printed as well. The frames that the record has must be the first ones of TRACE. */
static void record_and_print(void)
{
    char *end;

    memset(&crash, 0xa5, sizeof crash);
    sfu_record_write(&crash, &panic, CODE, &top);
    length = 0;
    (void)sfu_panic_print(&panic, &top);
    end = strstr(output, "addr2line");
    memcpy(trace, output, (size_t)(end - output));
    trace[end - output] = '\0';
    length = 0;
    output[0] = '\0';
    assert_int_equal(sfu_record_check(&crash), SFU_RECORD_GOOD);
    assert_int_equal(sfu_record_print(&crash, &panic, CODE), SFU_RECORD_GOOD);
}

/* The record has said what the printer has, and that alone. */
static void must_be_the_trace(void)
{
    char *end = strchr(output, '\n');

    assert_non_null(end);
    assert_string_equal(end + 1, trace);
}

static void test_record(void **state)
{
    char expected[256];

    (void)state;
    assert_int_equal(sizeof(struct sfu_record), 104);
    stack_of("ABCDEFGHIJK");
    panic.symbol = symbol;
    panic.slide = 0x1000;
    top.fp = 0x123456789abcdef0;
    record_and_print();
    must_be_the_trace();
    snprintf(expected, sizeof expected,
             "crash record: pc 0x%016llx sp 0x0000000000010000 fp 0x123456789abcdef0 ra 0x0000000000000000\nslide ",
             (unsigned long long)top.pc);
    assert_int_equal(strncmp(output, expected, strlen(expected)), 0);
    top.ra = 0xfedcba9876543210;
    top.has_ra = true;
    record_and_print();
    assert_non_null(strstr(output, " ra 0xfedcba9876543210\n"));
}

/* More frames than there is room for, cycles, and frames that are skipped. */
static void test_record_long(void **state)
{
    (void)state;
    stack_of("ABCDEFGHIJKLMNOQ");
    record_and_print();
    assert_non_null(strstr(output, "\n#11 0x"));
    assert_non_null(strstr(output, "\n    ... 4 more frames, not recorded\ntrace ends (-17)"));
    stack_of("ABCDEFGHIJKLMNOQRSTUVWXYZ");
    record_and_print();
    assert_non_null(strstr(output, "\n    ... 13 more frames, not recorded\ntrace ends (-17)"));
    stack_of("ABABABABABABABABABABABABABABABABAC");
    record_and_print();
    must_be_the_trace();
    assert_non_null(strstr(output, "    ... 15 times more: the 2 above\n#33 0x"));
    stack_of("ABCDEFGHIJKLLLLL");
    record_and_print();
    assert_non_null(strstr(output, "\n#11 0x"));
    assert_non_null(strstr(output, "\n    ... 4 more frames, not recorded\ntrace ends (-17)"));
    stack_of("ABCDEFGHIJKKKKZ"); /* there is room for Z, but not for what is before it */
    record_and_print();
    assert_non_null(strstr(output, "\n#10 0x"));
    assert_non_null(strstr(output, "\n    ... 4 more frames, not recorded\ntrace ends (-17)"));
    stack_of("ABPDEF");
    panic.skip_function = function_of('P');
    record_and_print();
    must_be_the_trace();
    assert_non_null(strstr(output, "\n#3  0x"));
}

/* A null call, and a module's function that is gone, are where they were, wherever the image is now. */
static void test_slide_outside(void **state)
{
    (void)state;
    stack_of("XB");
    target.sections->text.low = CODE;
    target.sections->text.high = CODE + 0x10000;
    panic.slide = 0x800000;
    top.pc = 0;
    top.sp -= 8;
    target.stack.bytes = &null_call;
    target.stack.low = STACK - 8;
    target.stack.high = STACK;
    null_call = function_of('B') + 4;
    (void)sfu_panic_print(&panic, &top);
    assert_non_null(strstr(output, "\naddr2line -Cfipe IMAGE 0x0 0x1013\n"));
}

/* An image may lie in the first page: by its text, or where nobody knows what that is. */
static void test_slide_low(void **state)
{
    static const struct {
        uint64_t low, high;
        const char *addr;
    } texts[] = {{0, 0, "0x100"},         {0x100, 0x111, "0x100"}, {0x100, 0x110, "0x110"}, {0x111, 0x200, "0x110"},
                 {0x110, 0x200, "0x100"}, {0, 0x110, "0x110"},     {0x10, 0x50, "0x110"}};
    static const struct {
        uint64_t pc;
        const char *addr;
    } pcs[] = {{4095, "0xfff"}, {4096, "0xff0"}, {0x100000060, "0x100000050"}}; /* outside of all text */
    char expected[40];
    unsigned i;

    (void)state;
    target.frame_pointers = false;
    panic.slide = 0x10;
    top.pc = 0x110;
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        target.sections->text.low = texts[i].low;
        target.sections->text.high = texts[i].high;
        length = 0;
        (void)sfu_panic_print(&panic, &top);
        snprintf(expected, sizeof expected, "\naddr2line -Cfipe IMAGE %s\n", texts[i].addr);
        assert_non_null(strstr(output, expected));
    }
    for (i = 0; i < sizeof pcs / sizeof pcs[0]; i++) {
        top.pc = pcs[i].pc;
        length = 0;
        (void)sfu_panic_print(&panic, &top);
        snprintf(expected, sizeof expected, "\naddr2line -Cfipe IMAGE %s\n", pcs[i].addr);
        assert_non_null(strstr(output, expected));
    }
}

/* An exception entry that no table describes, in front of all text, has been moved by the slide, too. */
static void test_slide_entry(void **state)
{
    (void)state;
    stack_of("XB");
    (void)sfu_find_text(target.sections);
    panic.slide = CODE;
    top.pc = target.sections->text.low - 0x100;
    (void)sfu_panic_print(&panic, &top);
    assert_non_null(strstr(output, "\naddr2line -Cfipe IMAGE 0xf00"));
}

static int refuse(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    (void)ctx;
    (void)frame;
    (void)code;
    (void)interrupted;
    return hook_returns;
}

/* A hook may end the trace by a code of its own, of which no bit is lost. */
static void test_record_code(void **state)
{
    static const int codes[] = {-255, -256, 257, INT32_MIN, INT32_MAX};
    char expected[64];
    unsigned i;

    (void)state;
    stack_of("X");
    top.pc = 0x2000;
    target.trap_hook = refuse;
    for (i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        hook_returns = codes[i];
        record_and_print();
        must_be_the_trace();
        assert_int_equal(crash.code, codes[i]);
        snprintf(expected, sizeof expected, "\ntrace ends (%d): ", codes[i]);
        assert_non_null(strstr(output, expected));
    }
}

/* A hook may say of any frame that the trace ends there. If that is where a return address of 0 leads, it is none. */
static void test_end(void **state)
{
    (void)state;
    target.trap_hook = refuse;
    hook_returns = SFU_END;
    stack_of("XBC");
    deep[1] = 0x2000;
    (void)sfu_panic_print(&panic, &top);
    assert_non_null(strstr(output, "\n#2  0x0000000000002000\ntrace ends (1)"));
    panic.sizes = sfu_print_size;
    length = 0;
    (void)sfu_panic_print(&panic, &top);
    assert_non_null(strstr(output, "\n#2  0x0000000000002000\ntrace ends (1)"));
    panic.sizes = NULL;
    deep[1] = 0;
    length = 0;
    (void)sfu_panic_print(&panic, &top);
    assert_non_null(strstr(output, "\n#1  0x0000000000801014\ntrace ends (1)"));
    deep[0] = 0;
    length = 0;
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(strstr(output, "#0  0x0000000000801174\ntrace ends (1)"), output);
    top.pc = 0; /* the registers that somebody asked about are a frame */
    top.pc_kind = SFU_PC_RETURN;
    length = 0;
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(strstr(output, "#0  0x0000000000000000\ntrace ends (1)"), output);
}

/* Every mark, PCs elsewhere, and which PCs are looked up as they are. */
static void test_record_marks(void **state)
{
    uint64_t i;

    (void)state;
    panic.symbol = symbol;
    target.trap_hook = trap_to_a;
    stack_of("XBCDE");
    deep[1] = 0x2000;
    record_and_print();
    must_be_the_trace();
    assert_non_null(strstr(output, "#2  0x0000000000002000  first+0x1000\n"));
    assert_non_null(strstr(output, "[interrupted]"));
    hook_guesses = true;
    record_and_print();
    must_be_the_trace();
    assert_non_null(strstr(output, "[guessed]"));
    assert_non_null(strstr(output, "; guessed frames are not proven\n"));
    target.find_stack = find_stack;
    stack_of("XAAAAAAAAAAAAAAAAAAAAAAAA");
    record_and_print();
    must_be_the_trace();
    assert_non_null(strstr(output, "[stack switch]"));
    stack_of("XB");
    deep[0] = 0xfedcba9876543210;
    record_and_print();
    must_be_the_trace();
    stack_of("XBCDE");
    target.frame_pointers = true; /* what is at the last PCs that a word can say has a caller, too */
    top.fp = STACK + 16;
    deep[2] = 0;
    for (i = 0x7fffffc; i <= 0x8000001; i++) {
        deep[0] = CODE + i;
        record_and_print();
        must_be_the_trace();
        assert_non_null(strstr(output, "\n#2  0x"));
    }
    top.pc = 0x2000;
    top.pc_kind = SFU_PC_RETURN;
    target.trap_hook = NULL;
    record_and_print();
    must_be_the_trace();
    assert_non_null(strstr(output, "#0  0x0000000000002000  first+0x1000\n"));
    target.frame_pointers = false; /* nothing is a guess */
    record_and_print();
    must_be_the_trace();
    assert_non_null(strstr(output, "#0  0x0000000000002000  first+0x1000\n"));
    assert_null(strstr(output, "guessed"));
}

/* Where a function begins, a frame that was interrupted is in that function, and a caller in the one before. */
static void test_record_names(void **state)
{
    (void)state;
    panic.symbol = symbol;
    target.trap_hook = trap;
    target.frame_pointers = true;
    top.pc = 0x1000;
    record(1, 0, 0x2000);
    record_and_print();
    must_be_the_trace();
    assert_non_null(strstr(output, "\n#0  0x0000000000001000  first+0x0\n"
                                   "#1  0x0000000000002000  first+0x1000  [guessed]\n"
                                   "#2  0x0000000000003000  third+0x0  [interrupted]\n"));
}

static unsigned sized;

static void must_be_a_frame(const struct sfu_panic *p, const struct sfu_print_item *item)
{
    assert_ptr_equal(p, &panic);
    assert_int_equal(item->marks & ~31u, 0);
    assert_int_equal(item->size, 0);
    sized++;
}

/* A record has no sizes, though the printer has them of a trace. */
static void test_record_sizes(void **state)
{
    (void)state;
    stack_of("XBCD");
    record_and_print();
    panic.sizes = must_be_a_frame;
    sized = 0;
    soil_stack();
    (void)sfu_record_print(&crash, &panic, CODE);
    assert_int_equal(sized, 4);
}

/* The next boot is at another address: PCs of the image move, others do not. */
static void test_record_moved(void **state)
{
    (void)state;
    stack_of("XB");
    deep[0] = CODE; /* where the image begins, and the last that counts as in it */
    record_and_print();
    length = 0;
    assert_int_equal(sfu_record_print(&crash, &panic, 0x1230000), SFU_RECORD_GOOD);
    assert_non_null(strstr(output, "\n#1  0x0000000001230000\n"));
    deep[0] = CODE + (1 << 27) - 3;
    record_and_print();
    length = 0;
    assert_int_equal(sfu_record_print(&crash, &panic, 0x1230000), SFU_RECORD_GOOD);
    assert_non_null(strstr(output, "\n#1  0x000000000922fffd\n"));
    deep[0] = CODE + 0x456; /* an image may begin anywhere */
    (void)sfu_record_write(&crash, &panic, CODE + 0x123, &top);
    length = 0;
    assert_int_equal(sfu_record_print(&crash, &panic, 0x1230000), SFU_RECORD_GOOD);
    assert_non_null(strstr(output, "\n#1  0x0000000001230333\n"));
    stack_of("XBC");
    deep[1] = 0x2000;
    record_and_print();
    length = 0;
    assert_int_equal(sfu_record_print(&crash, &panic, CODE + 0x5000000), SFU_RECORD_GOOD);
    assert_non_null(strstr(output, "\n#0  0x0000000005801174\n#1  0x0000000005801014\n#2  0x0000000000002000\n"));
    length = 0;
    assert_int_equal(sfu_record_print(&crash, &panic, CODE + 0x123400000000), SFU_RECORD_GOOD);
    assert_non_null(strstr(output, "\n#0  0x0000123400801174\n#1  0x0000123400801014\n#2  0x0000000000002000\n"));
}

/* Any byte that is not what was written; and none. */
static void test_record_corrupt(void **state)
{
    struct sfu_record good;
    unsigned i, bit;

    (void)state;
    stack_of("XBC");
    record_and_print();
    good = crash;
    for (i = 0; i < sizeof crash; i++) {
        for (bit = 0; bit < 8; bit++) {
            ((uint8_t *)&crash)[i] ^= (uint8_t)(1 << bit);
            assert_int_equal(sfu_record_check(&crash), i < 4 ? SFU_RECORD_NONE : SFU_RECORD_CORRUPT);
            crash = good;
        }
    }
    crash.words[0]++;
    length = 0;
    assert_int_equal(sfu_record_print(&crash, &panic, CODE), SFU_RECORD_CORRUPT);
    assert_string_equal(output, "crash record: corrupt\n");
    crash = good;
    sfu_record_clear(&crash);
    length = 0;
    output[0] = '\0';
    assert_int_equal(sfu_record_print(&crash, &panic, CODE), SFU_RECORD_NONE);
    memset(&crash, 0xff, sizeof crash);
    assert_int_equal(sfu_record_print(&crash, &panic, CODE), SFU_RECORD_NONE);
    memset(&crash, 0, sizeof crash);
    assert_int_equal(sfu_record_print(&crash, &panic, CODE), SFU_RECORD_NONE);
    assert_string_equal(output, "");
}

/* CRC-32, whose value of "123456789" is known. */
static uint32_t crc(const uint8_t *bytes_of, size_t size)
{
    uint32_t sum = 0xffffffff;
    size_t i;

    for (i = 0; i < 8 * size; i++) {
        bool bit = ((sum ^ (uint32_t)bytes_of[i / 8] >> i % 8) & 1) != 0;

        sum = sum >> 1 ^ (bit ? 0xedb88320 : 0);
    }
    return ~sum;
}

/* Words that nobody has written, with the right sum: nothing is read outside of the record. */
static void test_record_hostile(void **state)
{
    uint32_t random = 1;
    unsigned round, i, good = 0;

    (void)state;
    assert_int_equal(crc((const uint8_t *)"123456789", 9), 0xcbf43926);
    stack_of("XBC");
    record_and_print();
    for (round = 0; round < 5000; round++) {
        for (i = 8; i < sizeof crash; i++) {
            random = random * 1103515245 + 12345;
            ((uint8_t *)&crash)[i] = random >> 30 == 0 ? (uint8_t)(random >> 16) : 0xff;
        }
        crash.num = (uint8_t)(random >> 16 & 15);
        crash.check = crc((const uint8_t *)&crash + 8, sizeof crash - 8);
        length = 0;
        assert_int_equal(sfu_record_print(&crash, &panic, CODE),
                         crash.num <= SFU_RECORD_WORDS ? SFU_RECORD_GOOD : SFU_RECORD_CORRUPT);
        good += crash.num <= SFU_RECORD_WORDS;
    }
    assert_true(good > 1000);
    memset(&crash.code, 0, sizeof crash - 8);
    crash.num = 1; /* of three */
    crash.words[0] = 0x7ffffffu << 5;
    crash.words[1] = crash.words[2] = 0xffffffff;
    crash.check = crc((const uint8_t *)&crash + 8, sizeof crash - 8);
    length = 0;
    assert_int_equal(sfu_record_print(&crash, &panic, CODE), SFU_RECORD_GOOD);
    assert_non_null(strstr(output, "\n#0  0x0000000000000000\n"));
    assert_non_null(strstr(output, "\ntrace ends (0)"));
}

/* A fault while printing: what was recorded before stays. */
static void test_record_busy(void **state)
{
    struct sfu_record before;

    (void)state;
    stack_of("XBC");
    record_and_print();
    before = crash;
    panic.busy = 1;
    top.sp = 0;
    assert_int_equal(sfu_record_write(&crash, &panic, CODE, &top), SFU_E_STACK);
    assert_memory_equal(&crash, &before, sizeof crash);
    assert_int_equal(panic.busy, 1);
}

static bool find_faults;

static bool find_stack_that_faults(void *ctx, uint64_t addr, struct sfu_stack *found)
{
    (void)ctx;
    if (find_faults) {
        find_faults = false;
        assert_int_equal(sfu_record_write(&crash, &panic, CODE, &top), SFU_E_STACK);
        assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_STACK);
    }
    *found = target.stack;
    return addr >= found->low && addr <= found->high;
}

/* A fault while the record is written comes to the panic path, which says so. */
static void test_record_fault(void **state)
{
    (void)state;
    stack_of("XBC");
    target.find_stack = find_stack_that_faults;
    find_faults = true;
    output[0] = '\0';
    (void)sfu_record_write(&crash, &panic, CODE, &top);
    assert_false(find_faults);
    assert_string_equal(output, "\nsecond fault while printing the trace: stopped\n");
    assert_int_equal(panic.busy, 0);
}

/* ---- All of a list ---- */

static struct sfu_target other;
static unsigned given;

/* Number 107 on the panic's stack, number 0 whose SP is wild, and one on a stack of its own. */
static bool next_of_three(void *ctx, struct sfu_all_entry *entry)
{
    assert_ptr_equal(ctx, &panic);
    assert_ptr_equal(entry->cursor, given == 0 ? NULL : &deep[given]);
    assert_int_equal(panic.skip, 0);
    assert_int_equal(panic.skip_function, 0);
    given++;
    entry->cursor = &deep[given];
    entry->number = 107 * (given % 2);
    entry->name = given == 1 ? "idle" : given == 2 ? "wild" : NULL;
    entry->top = top;
    if (given == 2)
        entry->top.sp = 1;
    if (given == 3) {
        entry->target = &other;
        entry->top.sp = 0x5000000;
    }
    return given <= 3;
}

static void test_all(void **state)
{
    static uint64_t other_stack[1];
    char expected[512];

    (void)state;
    given = 0;
    stack_of("XB");
    other = target;
    other_stack[0] = function_of('C') + 4;
    other.stack.bytes = other_stack;
    other.stack.low = 0x5000000;
    other.stack.high = 0x5000008;
    panic.skip = 0x12345678;
    panic.skip_function = UINT64_C(0x123456789abcdef0);
    assert_int_equal(sfu_print_all(&panic, next_of_three), 3);
    snprintf(expected, sizeof expected,
             "trace of 107 idle:\n#0  0x0000000000801174\n#1  0x0000000000801014\ntrace ends (-17): %s\n"
             "addr2line -Cfipe IMAGE 0x801174 0x801013\n"
             "trace of 0 wild:\n#0  0x0000000000801174\ntrace ends (-17): %s\naddr2line -Cfipe IMAGE 0x801174\n"
             "trace of 107:\n#0  0x0000000000801174\n#1  0x0000000000801024\ntrace ends (-17): %s\n"
             "addr2line -Cfipe IMAGE 0x801174 0x801023\n",
             sfu_string(SFU_E_STACK), sfu_string(SFU_E_STACK), sfu_string(SFU_E_STACK));
    assert_string_equal(output, expected);
    assert_ptr_equal(panic.target, &target);
    assert_int_equal(panic.skip, 0x12345678);
    assert_int_equal(panic.skip_function, UINT64_C(0x123456789abcdef0));
    panic.busy = 1;
    assert_int_equal(sfu_print_all(&panic, next_of_three), 0);
}

static bool next_of_300(void *ctx, struct sfu_all_entry *entry)
{
    (void)ctx;
    entry->top = top;
    return given++ < 300;
}

/* More than a byte counts. */
static void test_all_many(void **state)
{
    (void)state;
    given = 0;
    target.frame_pointers = false;
    assert_int_equal(sfu_print_all(&panic, next_of_300), 300);
}

/* ---- The raw dump ---- */

static const uint8_t note[] = {4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0x01, 0xab, 0xf0};

static void test_build_id(void **state)
{
    (void)state;
    sfu_print_build_id(&panic, note, note + sizeof note);
    assert_string_equal(output, "build ID 01abf0\n");
    length = 0;
    sfu_print_build_id(&panic, note, note + 17);
    assert_string_equal(output, "build ID 01\n");
    length = 0;
    output[0] = '\0';
    sfu_print_build_id(&panic, note, note + 16);
    sfu_print_build_id(&panic, note, note);
    sfu_print_build_id(&panic, NULL, NULL);
    sfu_print_build_id(&panic, NULL, note + sizeof note);
    assert_string_equal(output, "");
}

/* CRC-16 (CCITT), from 0xffff: of "123456789" it is 0x29b1. */
static unsigned check_of(const char *p, const char *end)
{
    unsigned check = 0xffff, bit;

    for (; p < end; p++)
        for (bit = 0x80; bit != 0; bit >>= 1) {
            bool one = ((check >> 15) != 0) != ((*p & (int)bit) != 0);

            check = (check << 1 & 0xffff) ^ (one ? 0x1021 : 0);
        }
    return check;
}

/* The output is a dump of LINES, which have neither their beginning and number nor their check. */
static void expect_dump(const char *lines)
{
    static char wanted[sizeof output];
    size_t size = 0;
    unsigned number = 0;

    assert_int_equal(check_of("123456789", "123456789" + 9), 0x29b1);
    for (; *lines != '\0'; lines = strchr(lines, '\n') + 1, number++) {
        int length_of_line = (int)(strchr(lines, '\n') - lines);
        char line[200];
        int n = snprintf(line, sizeof line, "%02x %.*s", number, length_of_line, lines);

        size +=
            (size_t)snprintf(wanted + size, sizeof wanted - size, "sfu2 %s %04x\n", line, check_of(line, line + n));
    }
    assert_string_equal(output, wanted);
}

/* No tables, no callback: four words of the stack are left above SP. */
static void test_dump_plain(void **state)
{
    static const struct sfu_dump dump = {.abi = SFU_AMD64};
    char wanted[300];

    (void)state;
    panic.target = NULL;
    assert_int_equal(sfu_panic_init(&panic, NULL, NULL, stack, stack + WORDS), SFU_E_EMPTY);
    memcpy(&stack[WORDS - 4], "\1\2\3\4\5\6\7\10", 8);
    top.sp = (uintptr_t)&stack[WORDS - 4];
    sfu_dump_print(&panic, &dump, &top);
    snprintf(wanted, sizeof wanted,
             "begin 3 exact\nr pc 1004\nr sp %llx\nr fp 10008\nm %llx 807060504030201 0 *2\nend 4\n",
             (unsigned long long)top.sp, (unsigned long long)top.sp);
    expect_dump(wanted);
}

static bool find_nothing(void *ctx, uint64_t addr, struct sfu_stack *found)
{
    (void)ctx;
    (void)addr;
    (void)found;
    return false;
}

/* Words that are read by the target's callback, as far as it can. */
static int reads_twice(void *ctx, sfu_addr addr, void *buffer, size_t len)
{
    unsigned *left = (unsigned *)ctx;

    if (*left == 0)
        return -1;
    (*left)--;
    memset(buffer, 0, len);
    ((uint8_t *)buffer)[0] = (uint8_t)addr;
    return 0;
}

static void test_dump_read(void **state)
{
    static const struct sfu_dump_stack empty[257];
    static const struct sfu_dump dump = {.abi = SFU_AMD64},
                                 lots = {.abi = SFU_AMD64, .stacks = empty, .num_stacks = 257};
    unsigned left = 2;

    (void)state;
    target.stack.bytes = NULL;
    target.stack.low = 0x10000;
    target.stack.high = 0x10100;
    target.ctx = &left;
    target.read = reads_twice;
    top.sp = 0x10010;
    sfu_dump_print(&panic, &dump, &top);
    expect_dump("begin 3 exact\nr pc 1004\nr sp 10010\nr fp 10008\nm 10010 10 18\nend 2\n");
    length = 0;
    target.read = NULL;
    sfu_dump_print(&panic, &dump, &top);
    expect_dump("begin 3 exact\nr pc 1004\nr sp 10010\nr fp 10008\nend 0\n");
    length = 0;
    target.stack.bytes = stack;
    target.find_stack = find_nothing;
    sfu_dump_print(&panic, &dump, &top);
    expect_dump("begin 3 exact\nr pc 1004\nr sp 10010\nr fp 10008\nend 0\n");
    length = 0;
    sfu_dump_print(&panic, &lots, &top);
    expect_dump("begin 3 exact\nr pc 1004\nr sp 10010\nr fp 10008\nend 0\n");
}

static int some_registers(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *value)
{
    (void)ctx;
    assert_int_equal(frame->depth, 0);
    assert_int_equal(frame->saved, 0);
    assert_int_equal(frame->guess, SFU_GUESS_NONE);
    assert_int_equal(frame->switches, 0);
    assert_true(!frame->interrupted && !frame->switched && !frame->replaced && frame->reliable);
    assert_int_equal(frame->regs.pc, top.pc);
    assert_int_equal(frame->regs.sp, top.sp);
    assert_int_equal(frame->regs.fp, top.fp);
    assert_int_equal(frame->regs.ra, top.ra);
    assert_true(reg < 32); /* no ABI has a register with another number that a row could name */
    *value = reg;
    return reg == 0 || reg % 7 == 3 ? 0 : -1;
}

static int no_registers(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *value)
{
    (void)ctx;
    (void)reg;
    (void)value;
    assert_int_equal(frame->regs.pc_kind, SFU_PC_EXACT); /* fails: nobody may ask */
    return -1;
}

/* All that there can be, of a stack in the other byte order. */
static void test_dump_all(void **state)
{
    static const struct sfu_dump_place places[] = {
        {0x100000, "image_start", NULL}, {0x200000, ".text", "m.ko"}, {5, "low", NULL}};
    static const struct sfu_dump_stack stacks[] = {
        {STACK + 8 * 20, 4, NULL}, {STACK - 8, 1, NULL}, {STACK + 8 * (WORDS - 1), 9, NULL}};
    const struct sfu_dump dump = {note, note + sizeof note, places, 3, stacks, 3, 5, SFU_S390X, 0x20000710};
    const struct sfu_dump empty = {.build_id = note, .build_id_end = note + SFU_BUILD_ID_HEADER};
    const struct sfu_dump none = {.build_id_end = note + sizeof note};
    const struct sfu_dump cut = {.build_id = note, .build_id_end = note + 8};
    const struct sfu_dump one = {.build_id = note, .build_id_end = note + SFU_BUILD_ID_HEADER + 1};

    (void)state;
    target.reg = some_registers;
    target.pac_mask = 0xff00;
    memcpy(stack, "\1\2\3\4\5\6\7\10", 8);
    memcpy(&stack[23], "\1\2\3\4\5\6\7\10", 8);
    top.ra = 0xfedcba9876543210;
    top.has_ra = true;
    sfu_dump_print(&panic, &dump, &top);
    expect_dump("begin 4 exact\nbuild 01abf0\nat 100000 image_start\nat 200000 .text m.ko\nat 5 low\n"
                "r pc 1004\nr sp 10000\nr fp 10008\nr ra fedcba9876543210\nr pac ff00\nr psp 20000710\n"
                "r 00 0\nr 03 3\nr 0a a\nr 11 11\nr 18 18\nr 1f 1f\n"
                "m 10000 102030405060708 0 *3\nm 100a0 0 *2 102030405060708\nm 101f8 0\nend a\n");
    length = 0;
    top.pc_kind = SFU_PC_RETURN; /* a call has changed the others since */
    target.reg = no_registers;
    sfu_dump_print(&panic, &dump, &top);
    assert_non_null(strstr(output, "sfu2 00 begin 4 return "));
    assert_null(strstr(output, " r 03 "));
    length = 0;
    sfu_dump_print(&panic, &empty, &top);
    sfu_dump_print(&panic, &none, &top);
    sfu_dump_print(&panic, &cut, &top);
    assert_null(strstr(output, " build "));
    length = 0;
    sfu_dump_print(&panic, &one, &top);
    assert_non_null(strstr(output, "sfu2 01 build 01 "));
}

/* Each way to write a word, and memory that is no stack. */
static void test_dump_packed(void **state)
{
    static const uint64_t words[] = {0x20000010,
                                     0x1ffffff8,
                                     0xffffffff81001234,
                                     0xffffffff81001240,
                                     0xffffffff81001230,
                                     0xffffffff81001230,
                                     5,
                                     0xffffffff81001234,
                                     0,
                                     0,
                                     0,
                                     0xffffffff80001234,
                                     0x123456789,
                                     0x12345678a,
                                     0x1111111111111111,
                                     0x2222222222222222,
                                     0x3333333333333333,
                                     0x4444444444444444,
                                     0x4444444444444444,
                                     0x4444444444444440};
    static const uint64_t far[] = {0xf2345678, 0xf2345679, 0x123456789, 0x12345678a}; /* 8 digits, and 9 */
    static const struct sfu_dump_stack memory[] = {
        {0x20000000, 20, words}, {UINT64_MAX - 15, 2, words}, {0x40000000, 4, far}};
    const struct sfu_dump dump = {.abi = SFU_AMD64, .stacks = memory, .num_stacks = 3, .words = 1};

    (void)state;
    sfu_dump_print(&panic, &dump, &top);
    expect_dump("begin 3 exact\nr pc 1004\nr sp 10000\nr fp 10008\nm 10000 0\n"
                "m 20000000 +10 -10 ffffffff81001234 >c <4 *1 5\n"
                "m 20000038 ffffffff81001234 0 *2 <1000000 123456789\n"
                "m 20000068 12345678a 1111111111111111 2222222222222222\n"
                "m 20000080 3333333333333333 4444444444444444 *1\n"
                "m 20000098 4444444444444440\n"
                "m fffffffffffffff0 20000010 1ffffff8\n"
                "m 40000000 f2345678 f2345679 123456789 >1\nend 1b\n");
}

/* Which byte order a word has, by the ABI; that of the program itself, if nothing is said. */
static void test_dump_abis(void **state)
{
    static const char *const words[] = {NULL, "102030405060708", "807060504030201", "807060504030201",
                                        "102030405060708"};
    struct sfu_dump dump = {.words = 1};
    char expected[100];

    (void)state;
    memcpy(stack, "\1\2\3\4\5\6\7\10", 8);
    for (dump.abi = SFU_AARCH64_BIG; dump.abi <= SFU_S390X; dump.abi++) {
        length = 0;
        sfu_dump_print(&panic, &dump, &top);
        snprintf(expected, sizeof expected,
                 "begin %d exact\nr pc 1004\nr sp 10000\nr fp 10008\nm 10000 %s\nend 1\n", dump.abi,
                 words[dump.abi]);
        expect_dump(expected);
    }
#if defined(__x86_64__)
    dump.abi = 0;
    length = 0;
    sfu_dump_print(&panic, &dump, &top);
    assert_non_null(strstr(output, "sfu2 00 begin 3 exact "));
#endif
}

/* More places than a byte counts, at address 0, too. */
static void test_dump_places(void **state)
{
    static struct sfu_dump_place places[300];
    const struct sfu_dump dump = {.abi = SFU_AMD64, .places = places, .num_places = 300};
    unsigned i;

    (void)state;
    for (i = 0; i < 300; i++)
        places[i].name = "here";
    sfu_dump_print(&panic, &dump, &top);
    assert_non_null(strstr(output, "sfu2 01 at 0 here "));
    assert_non_null(strstr(output, "sfu2 12c at 0 here "));
}

/* The shortest way counts, where several are shorter than the number; and memory at either end of the address space. */
static void test_dump_shortest(void **state)
{
    static const uint64_t both[] = {0x2100000000000000, 0x2000000000000010}, near[] = {0x108}, low[] = {5, 0};
    static const struct sfu_dump first = {.abi = SFU_AMD64, .words = 1};
    static const uint64_t high[10] = {0};
    static const struct sfu_dump_stack memory[] = {
        {0x2000000000000000, 2, both}, {0x100, 1, near}, {0, 2, low}, {UINT64_MAX - 8 * 10 + 1, 10, high}};
    const struct sfu_dump dump = {.abi = SFU_AMD64, .stacks = memory, .num_stacks = 4, .words = 1};

    (void)state;
    top.sp = STACK + sizeof stack + 8; /* outside of its stack */
    soil_stack();
    sfu_dump_print(&panic, &dump, &top);
    expect_dump("begin 3 exact\nr pc 1004\nr sp 10208\nr fp 10008\nm 2000000000000000 2100000000000000 +8\n"
                "m 100 +8\nm 0 5 0\nm ffffffffffffffb0 0 *9\nend f\n");
    length = 0; /* no word has been written before the first one */
    top.sp = STACK;
    stack[0] = UINT64_C(0x5555555555555550);
    soil_stack();
    sfu_dump_print(&panic, &first, &top);
    expect_dump("begin 3 exact\nr pc 1004\nr sp 10000\nr fp 10008\nm 10000 5555555555555550\nend 1\n");
}

/* At most what is asked for, and no line is longer than a serial console's. */
static void test_dump_long(void **state)
{
    static uint64_t much[SFU_DUMP_MOST + 2];
    struct sfu_dump dump = {.abi = SFU_AMD64};
    const char *line, *end;

    (void)state;
    sfu_dump_print(&panic, &dump, &top);
    assert_non_null(strstr(output, " m 10000 0 *3f "));
    assert_non_null(strstr(output, " end 40 "));
    for (line = output; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        assert_true(end - line <= 80);
    }
    target.stack.bytes = much;
    target.stack.low = top.sp = 0x1000000;
    target.stack.high = target.stack.low + sizeof much;
    length = 0;
    sfu_dump_print(&panic, &dump, &top);
    assert_non_null(strstr(output, " end 100 "));
    dump.words = SFU_DUMP_MOST + 1;
    length = 0;
    sfu_dump_print(&panic, &dump, &top);
    assert_non_null(strstr(output, " m 1000000 0 *1ffff "));
    assert_non_null(strstr(output, " end 20000 "));
    target.stack.low = UINT64_MAX - sizeof much + 1;
    target.stack.high = UINT64_MAX;
    top.sp = UINT64_MAX - 16 + 1;
    length = 0;
    sfu_dump_print(&panic, &dump, &top);
    assert_non_null(strstr(output, " m fffffffffffffff0 0 "));
    assert_non_null(strstr(output, " end 1 "));
}

/* A fault in the middle of a dump comes to the printer, which stops; a dump does not begin in one. */
static void test_dump_fault(void **state)
{
    static const struct sfu_dump dump = {.abi = SFU_AMD64};

    (void)state;
    faults = 1;
    sfu_dump_print(&panic, &dump, &top);
    assert_int_equal(faults, 0);
    assert_non_null(strstr(output, "\nsecond fault while printing"));
    length = 0;
    output[0] = '\0';
    panic.busy = 1;
    sfu_dump_print(&panic, &dump, &top);
    assert_string_equal(output, "");
}

/* ---- sizes, and stacks that have overflowed ---- */

/* Three frames: from word 0 to 3, to 7, and the outermost that is known. */
static void three_frames(void)
{
    record(1, STACK + 8 * 5, 0x2004);
    record(5, 0, 0x3004);
    panic.sizes = sfu_print_size;
    panic.before = sfu_print_overflow;
}

/* The size stands behind the marks. It is the distance to the caller's SP; the last frame has none. */
static void test_sizes(void **state)
{
    (void)state;
    three_frames();
    assert_int_equal(sfu_panic_print(&panic, &top), SFU_E_NO_FDE);
    assert_string_equal(output, "#0  0x0000000000001004  [24 bytes]\n"
                                "#1  0x0000000000002004  [guessed]  [32 bytes]\n"
                                "#2  0x0000000000003004  [guessed]\n"
                                "trace ends (-13): no .sframe entry for this PC; guessed frames are not proven\n"
                                "addr2line -Cfipe IMAGE 0x1004 0x2003 0x3003\n");
    length = 0;
    panic.sizes = NULL;
    (void)sfu_panic_print(&panic, &top);
    assert_null(strstr(output, "bytes"));
}

/* A frame whose caller is on another stack has no size that could be told. */
static void test_sizes_switch(void **state)
{
    (void)state;
    panic.sizes = sfu_print_size;
    target.find_stack = find_stack;
    record(1, STACK + 8 * 20, 0x2004);
    record(20, 0, 0x3004);
    (void)sfu_panic_print(&panic, &top);
    assert_non_null(strstr(output, "#0  0x0000000000001004  [24 bytes]\n"));
    assert_non_null(strstr(output, "#1  0x0000000000002004  [guessed]\n"));
    assert_non_null(strstr(output, "#2  0x0000000000003004  [stack switch]  [guessed]\n"));
}

static unsigned count(const char *what)
{
    const char *at = output;
    unsigned n = 0;

    while ((at = strstr(at, what)) != NULL) {
        at++;
        n++;
    }
    return n;
}

/* Frames that were held back, and are printed behind an abbreviation, have their sizes. */
static void test_sizes_cycles(void **state)
{
    (void)state;
    panic.sizes = sfu_print_size;
    stack_of("XABCABCABCAD");
    (void)sfu_panic_print(&panic, &top);
    assert_non_null(strstr(output, "    ... 2 times more: the 3 above\n#10 0x"));
    assert_int_equal(count("  [8 bytes]\n"), 5); /* all but the outermost: X, A, B, C and the A in front of D */
}

/* The lowest 32 bytes are a guard. SP lies in it: frame 1 is the largest. */
static void test_overflow(void **state)
{
    (void)state;
    three_frames();
    panic.symbol = symbol;
    target.stack.low += 32;
    target.stack.bytes = stack + 4;
    top.sp = STACK + 16;
    top.fp = STACK + 8 * 5;
    record(5, STACK + 8 * 11, 0x2004);
    record(11, 0, 0x3004);
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(strstr(output,
                            "stack overflow: 3 frames use 496 of 480 bytes; the largest is frame 1, 48 bytes: "
                            "second+0x4\n#0  "),
                     output);
}

static struct sfu_range guard;

/* The target's stack, and a guard below it; below that lies the guard of another one. */
static bool find_guarded(void *ctx, uint64_t addr, struct sfu_stack *found)
{
    (void)ctx;
    *found = target.stack;
    if (addr < guard.low)
        found->low = found->high = guard.low - 4096;
    return addr < guard.high || (addr >= found->low && addr <= found->high);
}

/* The first of many frames is below its stack, the last one is the largest. */
static void test_overflow_many(void **state)
{
    unsigned i;

    (void)state;
    panic.before = sfu_print_overflow;
    for (i = 1; i < 23; i += 2)
        record(i, STACK + 8 * (i + 2), 0x5000 + i);
    record(23, STACK + 8 * 35, 0x6000);
    record(35, 0, 0x7000);
    top.sp = STACK - 8;
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(strstr(output,
                            "stack overflow: 14 frames use 520 of 512 bytes; the largest is frame 12, 96 bytes: "
                            "0x6000\n#0  "),
                     output);
}

/* Two stacks: words 4 to 15, which count the four below as theirs, and from word 16 up. */
static bool find_two(void *ctx, uint64_t addr, struct sfu_stack *found)
{
    const unsigned begin = addr >= STACK + 8 * 16 ? 16 : addr >= STACK + 8 * 4 ? 4 : 0;

    (void)ctx;
    found->low = STACK + 8 * (uint64_t)begin;
    found->bytes = stack + begin;
    found->high = begin < 16 ? STACK + 8 * 16 : target.stack.high;
    return addr >= STACK && addr <= found->high;
}

/* The first frame is larger than the next, and the last one that is on the stack leads to another stack. */
static void test_overflow_switch(void **state)
{
    (void)state;
    panic.before = sfu_print_overflow;
    target.find_stack = find_two;
    top.sp = STACK + 8 * 2;
    top.fp = STACK + 8 * 6;
    record(6, STACK + 8 * 11, 0x2004);
    record(11, STACK + 8 * 40, 0x3004);
    record(40, 0, 0x4004);
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(strstr(output,
                            "stack overflow: 3 frames use 112 of 96 bytes; the largest is frame 0, 48 bytes: "
                            "0x1004\n#0  "),
                     output);
    length = 0; /* the next frame is where the stack begins: it is that stack */
    top.fp = STACK + 8 * 2;
    record(2, STACK + 8 * 40, 0x2004);
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(
        strstr(output, "stack overflow: 2 frames use 112 of 96 bytes; the largest is frame 0, 16 bytes"), output);
    length = 0; /* all that is known of it lies below: its frame pointer says nothing, nor does another stack */
    top.sp = STACK;
    top.fp = STACK + 8;
    record(1, STACK + 8 * 63, 0x2004);
    (void)sfu_panic_print(&panic, &top);
    record(1, STACK + 8 * 40, 0x2004);
    (void)sfu_panic_print(&panic, &top);
    assert_null(strstr(output, "overflow"));
}

/* Below word 24 a stack of its own, on which the trace begins; what lies below both is the guard of the other one. */
static bool find_other(void *ctx, uint64_t addr, struct sfu_stack *found)
{
    const bool own = addr >= STACK && addr < STACK + 8 * 24;

    (void)ctx;
    found->low = own ? STACK : STACK + 8 * 24;
    found->high = own ? STACK + 8 * 24 : target.stack.high;
    found->bytes = own ? stack : stack + 24;
    return addr <= found->high;
}

/* The stack that has overflowed is not the one that the trace begins on. */
static void test_overflow_elsewhere(void **state)
{
    unsigned i;

    (void)state;
    panic.before = sfu_print_overflow;
    target.find_stack = find_other;
    target.trap_hook = trap;
    for (i = 1; i < 19; i += 2)
        record(i, STACK + 8 * (i + 2), 0x5000 + i);
    record(19, STACK + 8 * 33, 0x2000); /* frame 10, at word 21: the hook goes on at word 29 */
    record(33, STACK + 8 * 45, 0x6000);
    record(45, 0, 0x7000);
    panic.fault_address = STACK - 8;
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(
        strstr(output, "stack overflow: 3 frames use 520 of 320 bytes; 240 of them lie below frame 11\n#0  "),
        output);
}

/* Addresses of which 32 bits are not enough, and a fault that may be on the stack, or is not known. */
static void test_overflow_wide(void **state)
{
    const uint64_t base = UINT64_C(0xffff800000010000);

    (void)state;
    panic.before = sfu_print_overflow;
    target.frame_pointers = false;
    target.stack.low = base;
    target.stack.high = base + sizeof stack;
    top.sp = base - 8;
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(strstr(output, "stack overflow: 1 frame uses 520 of 512 bytes\n#0  "), output);
    length = 0;
    top.sp = base;
    target.find_stack = find_guarded;
    guard.low = base - 4096;
    guard.high = base;
    panic.fault_address = base - 8;
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(strstr(output, "stack overflow: 1 frame uses 520 of 512 bytes\n#0  "), output);
    length = 0;
    panic.fault_address = base;
    (void)sfu_panic_print(&panic, &top);
    guard.low = 0; /* it would be in the guard */
    panic.fault_address = 0;
    (void)sfu_panic_print(&panic, &top);
    assert_null(strstr(output, "overflow"));
}

/* The smallest frames that there are; a frame at a null pointer, too; and a stack that is no longer than a byte. */
static void test_overflow_small(void **state)
{
    (void)state;
    stack_of("XBC");
    panic.before = sfu_print_overflow;
    target.find_stack = find_guarded;
    guard.low = STACK - 4096;
    guard.high = STACK;
    panic.fault_address = STACK - 8;
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(strstr(output, "stack overflow: 3 frames use 24 of 16 bytes; the largest is frame 0, 8 bytes: "
                                    "0x801174\n#0  "),
                     output);
    length = 0;
    target.sections->text.low = CODE;
    target.sections->text.high = CODE + 0x10000;
    top.pc = 0;
    (void)sfu_panic_print(&panic, &top);
    assert_non_null(strstr(output, "; the largest is frame 0, 8 bytes: 0x0\n#0  "));
    length = 0;
    panic.fault_address = STACK - 33;
    (void)sfu_panic_print(&panic, &top);
    assert_non_null(strstr(output, "; 33 of them lie below frame 0\n#0  "));
    length = 0;
    top.pc = 0x1004;
    top.sp = STACK - 1;
    target.find_stack = NULL;
    target.stack.high = STACK + 1;
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(strstr(output, "stack overflow: 1 frame uses 2 of 1 bytes\n#0  "), output);
}

/* SP is still on the stack, but what the fault was about lies in the guard below it. */
static void test_overflow_fault(void **state)
{
    (void)state;
    three_frames();
    guard.low = STACK - 4096;
    guard.high = STACK;
    target.find_stack = find_guarded;
    panic.fault_address = STACK - 8;
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(strstr(output,
                            "stack overflow: 3 frames use 520 of 512 bytes; the largest is frame 1, 32 bytes: "
                            "0x2004\n#0  "),
                     output);
    length = 0;
    panic.fault_address = STACK - 33; /* what takes more than each frame has none in the trace */
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(
        strstr(output, "stack overflow: 3 frames use 545 of 512 bytes; 33 of them lie below frame 0\n#0  "),
        output);
    length = 0;
    panic.fault_address = STACK - 4097; /* in the other guard, on the stack, above it, or not known */
    (void)sfu_panic_print(&panic, &top);
    panic.fault_address = STACK + 8;
    (void)sfu_panic_print(&panic, &top);
    panic.fault_address = STACK + sizeof stack + 8;
    (void)sfu_panic_print(&panic, &top);
    panic.fault_address = 0;
    (void)sfu_panic_print(&panic, &top);
    panic.fault_address = STACK - 8; /* nobody says whose guard it is in */
    target.find_stack = NULL;
    (void)sfu_panic_print(&panic, &top);
    assert_null(strstr(output, "overflow"));
}

/* The target's stack without its lowest 32 bytes, which are memory below it: an address there has it all. */
static bool find_with_memory(void *ctx, uint64_t addr, struct sfu_stack *found)
{
    (void)ctx;
    *found = target.stack;
    if (addr >= STACK + 32) {
        found->low += 32;
        found->bytes = stack + 4;
    }
    return addr >= STACK && addr <= found->high;
}

/* What lies below the stack is read, but not counted as a part of the stack. */
static void test_overflow_memory(void **state)
{
    (void)state;
    three_frames();
    target.find_stack = find_with_memory;
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(strstr(output,
                            "stack overflow: 3 frames use 512 of 480 bytes; the largest is frame 1, 32 bytes: "
                            "0x2004\n#0  "),
                     output);
    length = 0;
    panic.fault_address = STACK + 8; /* SP is still on the stack */
    top.sp = STACK + 32;
    top.fp = STACK + 8 * 5;
    record(5, STACK + 8 * 11, 0x2004);
    record(11, 0, 0x3004);
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(strstr(output,
                            "stack overflow: 3 frames use 504 of 480 bytes; the largest is frame 1, 48 bytes: "
                            "0x2004\n#0  "),
                     output);
}

/* If all frames lie in the memory below the stack, they may be those of another stack. */
static void test_overflow_in_doubt(void **state)
{
    (void)state;
    three_frames();
    target.find_stack = find_with_memory;
    record(1, 0, 0x2004); /* the second frame's caller is not known */
    (void)sfu_panic_print(&panic, &top);
    assert_null(strstr(output, "overflow"));
}

/* One frame, whose caller is not known, and a panic before there are tables. */
static void test_overflow_alone(void **state)
{
    (void)state;
    panic.before = sfu_print_overflow;
    target.frame_pointers = false;
    top.sp = STACK - 8;
    (void)sfu_panic_print(&panic, &top);
    assert_ptr_equal(strstr(output, "stack overflow: 1 frame uses 520 of 512 bytes\n#0  "), output);
    length = 0;
    panic.target = NULL;
    (void)sfu_panic_print(&panic, &top);
    assert_null(strstr(output, "overflow"));
}

/* Code at CODE + 16, and what is printed of it. */
struct trap_code {
    uint8_t code[24];
    const char *text;
};

#define BUILTIN "trap: __builtin_trap(), or a check that gives no reason\n"
static struct trap_code trap_codes[] = {
#if defined(__x86_64__)
    {{[16] = 0x0f, 0x0b}, BUILTIN},
    {{[16] = 0x0f, 0x0b, 0x90}, BUILTIN},
    {{[15] = 0x0b, 0x0f, 0x0c}, ""},
    {{[16] = 0x0e, 0x0b}, ""},
    {{[16] = 0x67, 0x0f, 0xb9, 0x40, 18}, "trap: index out of bounds\n"},
    {{[16] = 0x67, 0x0f, 0xb9, 0x40, 24}, "trap: array length is not positive\n"},
    {{[16] = 0x67, 0x0f, 0xb9, 0x40, 25}, "trap: check of the compiler\n"},
    {{[16] = 0x67, 0x0f, 0xb9, 0x40, 255}, "trap: check of the compiler\n"},
    {{[16] = 0x67, 0x0f, 0xb9, 0x00}, "trap: addition overflowed\n"},
    {{[16] = 0x67, 0x0f, 0xb9, 0x41}, ""},
    {{0, 0, 0, 0, 0x41, 0xba, 1, 2, 3, 4, 0x45, 0x03, 0x53, 0xfc, 0x74, 0x02, 0x0f, 0x0b},
     "trap: call of a function of another type\n"},
    {{0, 0, 0, 0, 0x41, 0xbb, 1, 2, 3, 4, 0x45, 0x03, 0x53, 0xfc, 0x74, 0x02, 0x0f, 0x0b}, BUILTIN},
    {{0, 0, 0, 0, 0x41, 0xba, 1, 2, 3, 4, 0x45, 0x03, 0x53, 0xfc, 0x74, 0x03, 0x0f, 0x0b}, BUILTIN},
    {{0, 0, 0, 0, 0x41, 0xba, 1, 2, 3, 4, 0x45, 0x03, 0x5b, 0xfc, 0x74, 0x02, 0x0f, 0x0b}, BUILTIN},
    {{0, 0, 0, 0, 0x41, 0xba, 1, 2, 3, 4, 0x45, 0x02, 0x53, 0xfc, 0x74, 0x02, 0x0f, 0x0b}, BUILTIN},
    {{0, 0, 0, 0, 0x41, 0xba, 1, 2, 3, 4, 0x46, 0x03, 0x53, 0xfc, 0x74, 0x02, 0x0f, 0x0b}, BUILTIN},
    {{[16] = 0x90}, ""},
#elif defined(__aarch64__)
    {{[16] = 0x20, 0x00, 0x20, 0xd4}, BUILTIN},
    {{[16] = 0x00, 0x7d, 0x20, 0xd4}, BUILTIN},
    {{[16] = 0x40, 0xa2, 0x2a, 0xd4}, "trap: index out of bounds\n"},
    {{[16] = 0x00, 0x45, 0x30, 0xd4}, "trap: call of a function of another type\n"},
    {{[16] = 0x1f, 0x20, 0x03, 0xd5}, ""},
#else
    {{[16] = 0x55}, ""},
#endif
};

/* The instruction as clang's and gcc's assemblers write it. */
static void test_trap(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof trap_codes / sizeof trap_codes[0]; i++) {
        const struct trap_code *t = &trap_codes[i];

        length = 0;
        output[0] = '\0';
        target.sections = NULL;
        assert_int_equal(
            sfu_add(&target.sections, &section, 1, bytes, sizeof bytes, (uintptr_t)t->code + 16 - 0x10), SFU_OK);
        top.pc = (uintptr_t)t->code + 16;
        sfu_print_trap(&panic, &top);
        assert_string_equal(output, t->text);
    }
}

#if defined(__x86_64__)
/* An instruction may begin at an odd address. */
static void test_trap_odd(void **state)
{
    static uint8_t code[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0f, 0x0b, 0};
    unsigned i;

    (void)state;
    for (i = 0; i < 2; i++) {
        assert_string_equal(sfu_trap_reason((uintptr_t)code + 13 - i),
                            "__builtin_trap(), or a check that gives no reason");
        memmove(code + 12, code + 13, 3);
    }
}
#endif

/* A return address, a PC without a row, and a panic without a target: nothing is read or printed. */
static void test_trap_elsewhere(void **state)
{
    const struct trap_code *t = &trap_codes[0];

    (void)state;
    output[0] = '\0';
    target.sections = NULL;
    assert_int_equal(sfu_add(&target.sections, &section, 1, bytes, sizeof bytes, (uintptr_t)t->code + 16 - 0x10),
                     SFU_OK);
    top.pc = (uintptr_t)t->code + 16;
    top.pc_kind = SFU_PC_RETURN;
    sfu_print_trap(&panic, &top);
    top.pc_kind = SFU_PC_EXACT;
    top.pc = 0x1000;
    sfu_print_trap(&panic, &top);
    panic.target = NULL;
    top.pc = (uintptr_t)t->code + 16;
    sfu_print_trap(&panic, &top);
    assert_string_equal(output, "");
}

/* A section of this CPU, version 3, of one function at 0x10 above it that is 8 bytes long. */
#if defined(__x86_64__)
enum { OWN_ABI = SFU_AMD64 };
#elif defined(__aarch64__)
enum { OWN_ABI = SFU_AARCH64 };
#elif defined(__riscv)
enum { OWN_ABI = SFU_RISCV64 };
#else
enum { OWN_ABI = SFU_S390X };
#endif
#ifdef __riscv
enum { MAGIC_LOW = 0x75, MAGIC_HIGH = 0x5f };
#else
enum { MAGIC_LOW = 0xe2, MAGIC_HIGH = 0xde };
#endif
static uint8_t own_bytes[] = {MAGIC_LOW, MAGIC_HIGH, 3, 1, OWN_ABI, 0,  0xf8, 0, 1, 0,  0, 0, 1, 0, 0, 0, 8, 0, 0,
                              0,         0,          0, 0, 0,       16, 0,    0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 8, 0,
                              0,         0,          0, 0, 0,       0,  1,    0, 0, 0,  0, 0, 3, 8, 4, 3, 8};
/* The last three are a second row, if the other numbers say that there are two. */
enum { OWN_NUM_ROWS = 12, OWN_ROW_BYTES = 16, OWN_ROWS = 44, OWN_INFO = 46, TRAP_FRAME = 0x80, FUNCTION = 16 };

/* Code, where in it the function is, from 16 on, and whether a call ends at RA. */
static const struct call_code {
    uint8_t code[32];
    unsigned ra;
    bool is_call;
} call_codes[] = {
#if defined(__x86_64__)
    {{[16] = 0xe8, 0, 0, 0, 0}, 21, true},
    {{[17] = 0xe8, 0, 0, 0, 0}, 21, false},
    {{[15] = 0xe8, 0, 0, 0, 0}, 20, false}, /* begins in front of the function */
    {{[19] = 0xe8, 0, 0, 0, 0}, 24, true},  /* the last instruction of the function */
    {{[16] = 0xff, 0xd0}, 18, true},
    {{[16] = 0xff, 0xd7}, 18, true},
    {{[16] = 0xff, 0xe0}, 18, false}, /* jmp */
    {{[16] = 0xff, 0xc0}, 18, false}, /* inc */
    {{[16] = 0xff, 0xf0}, 18, false}, /* push */
    {{[16] = 0xfe, 0xd0}, 18, false},
    {{[15] = 0xff, 0xd0}, 17, false},
    {{[16] = 0x41, 0xff, 0xd3}, 19, true},
    {{[16] = 0xff, 0x10}, 18, true},
    {{[16] = 0xff, 0x18}, 18, true}, /* to another segment */
    {{[16] = 0xff, 0x14, 0x24}, 19, true},
    {{[16] = 0xff, 0x14, 0x25}, 19, false},
    {{[16] = 0xff, 0x14}, 18, false},
    {{[16] = 0xff, 0x14, 0x25}, 18, false}, /* what lies at the return address is not of the call */
    {{[16] = 0xff, 0x50, 8}, 19, true},
    {{[16] = 0xff, 0x50}, 18, false},
    {{[16] = 0xff, 0x54, 0x24, 8}, 20, true},
    {{[16] = 0xff, 0x54, 0x24}, 19, false},
    {{[16] = 0xff, 0x90, 0, 1, 0, 0}, 22, true},
    {{[16] = 0xff, 0x90, 0, 1, 0}, 21, false},
    {{[16] = 0xff, 0x94, 0x24, 0, 1, 0, 0}, 23, true},
    {{[16] = 0xff, 0x15, 0, 1, 0, 0}, 22, true},
    {{[16] = 0xff, 0x15}, 18, false},
    {{[16] = 0xff, 0x14, 0x25, 0, 1, 0, 0}, 23, true},
    {{[16] = 0xff, 0xd4}, 18, true},
    {{[16] = 0xff, 0xd5}, 18, true},
    {{[16] = 0x9a, 0, 0, 0, 0, 0, 0}, 23, false}, /* of 32 bits */
    {{[16] = 0x90, 0xc3}, 18, false},
#elif defined(__aarch64__)
    {{[16] = 0, 0, 0, 0x94}, 20, true},     {{[16] = 0, 0, 0, 0x97}, 20, true},
    {{[16] = 0, 0, 0, 0x14}, 20, false},    {{[14] = 0, 0, 0, 0x94}, 18, false},
    {{[16] = 0, 0, 0x3f, 0xd6}, 20, true},  {{[16] = 0x1f, 8, 0x3f, 0xd6}, 20, true}, /* blraaz */
    {{[16] = 0, 8, 0x3f, 0xd7}, 20, true},                                            /* blraa */
    {{[16] = 0, 0, 0x1f, 0xd6}, 20, false}, {{[16] = 0xc0, 3, 0x5f, 0xd6}, 20, false},
#elif defined(__s390x__)
    {{[16] = 0xc0, 0xe5, 0, 0, 0, 0}, 22, true},
    {{[16] = 0xc0, 0xf4, 0, 0, 0, 0}, 22, false},
    {{[14] = 0xc0, 0xe5, 0, 0, 0, 0}, 20, false},
    {{[16] = 0xa7, 0xe5, 0, 0}, 20, true},
    {{[16] = 0xa7, 0xf4, 0, 0}, 20, false},
    {{[14] = 0xa7, 0xe5, 0, 0}, 18, false},
    {{[16] = 0x0d, 0xe1}, 18, true},
    {{[16] = 0x07, 0xfe}, 18, false},
#elif defined(__riscv)
    {{[16] = 0xef, 0, 0, 0}, 20, true},     /* jal ra */
    {{[16] = 0xef, 2, 0, 0}, 20, true},     /* jal t0 */
    {{[16] = 0x6f, 0, 0, 0}, 20, false},    /* j */
    {{[14] = 0xef, 0, 0, 0}, 18, false},    /* begins in front of the function */
    {{[16] = 0xe7, 0x80, 7, 0}, 20, true},  /* jalr ra, a5 */
    {{[16] = 0x67, 0x80, 0, 0}, 20, false}, /* ret */
    {{[16] = 0x82, 0x97}, 18, true},        /* c.jalr a5 */
    {{[16] = 2, 0x90}, 18, false},          /* c.ebreak */
    {{[16] = 0x82, 0x80}, 18, false},       /* c.jr ra */
    {{[16] = 0x82, 0xa0}, 18, true},        /* cm.jalt 32 */
    {{[16] = 0x7e, 0xa0}, 18, false},       /* cm.jt 31 */
    {{[16] = 1, 0x20}, 18, false},          /* c.addiw, which is c.jal with 32 bits */
#else
    {{0}, 18, true},
#endif
};

/* The frames of a thread that is in the function of C, and returns to what C says. What lies there cannot be read. */
static void print_calls(const struct call_code *c)
{
    uint8_t *code = malloc(c->ra);
    size_t i;

    assert_non_null(code);
    memcpy(code, c->code, c->ra);
    for (i = 0; i < sizeof stack / sizeof stack[0]; i++)
        stack[i] = 0x2000; /* its caller's address is not 0, which is marked as well */
    length = 0;
    output[0] = '\0';
    target.sections = NULL;
    assert_int_equal(
        sfu_add(&target.sections, &section, 1, own_bytes, sizeof own_bytes, (uintptr_t)code + FUNCTION - 0x10),
        SFU_OK);
    panic.calls = sfu_print_calls;
    top.pc = (uintptr_t)code + c->ra;
    top.pc_kind = SFU_PC_RETURN;
    (void)sfu_panic_print(&panic, &top);
    free(code);
}

static void test_calls(void **state)
{
    size_t i;

    (void)state;
    target.frame_pointers = false;
    for (i = 0; i < sizeof call_codes / sizeof call_codes[0]; i++) {
        const struct call_code *c = &call_codes[i];
        char line[64];

        print_calls(c);
        snprintf(line, sizeof line, "#0  0x%016" PRIx64 "%s\n", top.pc, c->is_call ? "" : "  [guessed]");
        assert_non_null(strstr(output, line));
        assert_true((strstr(output, "guessed frames are not proven") == NULL) == c->is_call);
        snprintf(line, sizeof line, "IMAGE 0x%" PRIx64, c->is_call ? top.pc - 1 : top.pc);
        assert_non_null(strstr(output, line));
    }
}

#if defined(__x86_64__)
/* A trap's own frame returns to where no call ends, but not to what lies behind it, whichever of its rows that is. */
static void test_calls_trap(void **state)
{
    static const struct call_code inside = {{0x90}, 20, false}, behind = {{0x90}, 24, false},
                                  later = {{0x90}, 22, false};

    (void)state;
    target.frame_pointers = false;
    own_bytes[OWN_INFO] = TRAP_FRAME;
    print_calls(&inside);
    assert_null(strstr(output, "guessed"));
    print_calls(&behind);
    assert_non_null(strstr(output, "  [guessed]\n"));
    own_bytes[OWN_NUM_ROWS] = own_bytes[OWN_ROWS] = 2;
    own_bytes[OWN_ROW_BYTES] += 3;
    print_calls(&later);
    assert_null(strstr(output, "guessed"));
    own_bytes[OWN_NUM_ROWS] = own_bytes[OWN_ROWS] = 1;
    own_bytes[OWN_ROW_BYTES] -= 3;
    own_bytes[OWN_INFO] = 0;
}

/* An exact PC is marked nowhere, nor is a return address without a row: nothing is read there. */
static void test_calls_elsewhere(void **state)
{
    static const struct call_code code = {{0x90}, 20, false};

    (void)state;
    target.frame_pointers = false;
    print_calls(&code);
    assert_non_null(strstr(output, "guessed"));
    length = 0;
    top.pc_kind = SFU_PC_EXACT;
    (void)sfu_panic_print(&panic, &top);
    assert_null(strstr(output, "guessed"));
    length = 0;
    top.pc_kind = SFU_PC_RETURN;
    top.pc = 0x1000;
    (void)sfu_panic_print(&panic, &top);
    assert_null(strstr(output, "guessed"));
}
#endif

int main(void)
{
    const struct check_test tests[] = {
        CHECK_SETUP(test_plain, reset),
        CHECK_SETUP(test_marks, reset),
        CHECK_SETUP(test_first_address, reset),
        CHECK_SETUP(test_guessed_by_hook, reset),
        CHECK_SETUP(test_init, reset),
        CHECK_SETUP(test_init_damaged, reset),
        CHECK_SETUP(test_init_broken, reset),
        CHECK_SETUP(test_wild_call, reset),
        CHECK_SETUP(test_replaced, reset),
        CHECK_SETUP(test_interrupted_and_switched, reset),
        CHECK_SETUP(test_after, reset),
        CHECK_SETUP(test_fault_in_naming, reset),
        CHECK_SETUP(test_joined, reset),
        CHECK_SETUP(test_many, reset),
        CHECK_SETUP(test_fault, reset),
        CHECK_SETUP(test_fault_anywhere, reset),
        CHECK_SETUP(test_early, reset),
        CHECK_SETUP(test_again, reset),
        CHECK_SETUP(test_cycles, reset),
        CHECK_SETUP(test_cycles_left_out, reset),
        CHECK_SETUP(test_cycles_sizes, reset),
        CHECK_SETUP(test_cycles_wide, reset),
        CHECK_SETUP(test_cycles_begin, reset),
        CHECK_SETUP(test_line, reset),
        CHECK_SETUP(test_walk, reset),
        CHECK_SETUP(test_cycles_anew, reset),
        CHECK_SETUP(test_cycles_nested, reset),
        CHECK_SETUP(test_cycles_lossless, reset),
        CHECK_SETUP(test_cycles_deep, reset),
        CHECK_SETUP(test_cycles_marks, reset),
        CHECK_SETUP(test_cycles_guessed, reset),
        CHECK_SETUP(test_skip, reset),
        CHECK_SETUP(test_skip_wide, reset),
        CHECK_SETUP(test_skip_interrupted, reset),
        CHECK_SETUP(test_record, reset),
        CHECK_SETUP(test_record_long, reset),
        CHECK_SETUP(test_slide_outside, reset),
        CHECK_SETUP(test_slide_low, reset),
        CHECK_SETUP(test_slide_entry, reset),
        CHECK_SETUP(test_record_code, reset),
        CHECK_SETUP(test_end, reset),
        CHECK_SETUP(test_record_marks, reset),
        CHECK_SETUP(test_record_names, reset),
        CHECK_SETUP(test_record_sizes, reset),
        CHECK_SETUP(test_record_moved, reset),
        CHECK_SETUP(test_record_corrupt, reset),
        CHECK_SETUP(test_record_hostile, reset),
        CHECK_SETUP(test_record_busy, reset),
        CHECK_SETUP(test_record_fault, reset),
        CHECK_SETUP(test_all, reset),
        CHECK_SETUP(test_all_many, reset),
        CHECK_SETUP(test_build_id, reset),
        CHECK_SETUP(test_dump_plain, reset),
        CHECK_SETUP(test_dump_read, reset),
        CHECK_SETUP(test_dump_all, reset),
        CHECK_SETUP(test_dump_packed, reset),
        CHECK_SETUP(test_dump_shortest, reset),
        CHECK_SETUP(test_dump_abis, reset),
        CHECK_SETUP(test_dump_places, reset),
        CHECK_SETUP(test_dump_long, reset),
        CHECK_SETUP(test_dump_fault, reset),
        CHECK_SETUP(test_sizes, reset),
        CHECK_SETUP(test_sizes_switch, reset),
        CHECK_SETUP(test_sizes_cycles, reset),
        CHECK_SETUP(test_overflow, reset),
        CHECK_SETUP(test_overflow_many, reset),
        CHECK_SETUP(test_overflow_switch, reset),
        CHECK_SETUP(test_overflow_elsewhere, reset),
        CHECK_SETUP(test_overflow_wide, reset),
        CHECK_SETUP(test_overflow_small, reset),
        CHECK_SETUP(test_overflow_fault, reset),
        CHECK_SETUP(test_overflow_memory, reset),
        CHECK_SETUP(test_overflow_in_doubt, reset),
        CHECK_SETUP(test_overflow_alone, reset),
        CHECK_SETUP(test_trap, reset),
#if defined(__x86_64__)
        CHECK_SETUP(test_trap_odd, reset),
#endif
        CHECK_SETUP(test_trap_elsewhere, reset),
        CHECK_SETUP(test_calls, reset),
#if defined(__x86_64__)
        CHECK_SETUP(test_calls_trap, reset),
        CHECK_SETUP(test_calls_elsewhere, reset),
#endif
    };

    return check_run("print", tests);
}
