/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What the fuzzers and the exhaustive faults have found in the core, each as its own test. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

enum { ADDR = 0x2000, TEXT = 0x1000 };

/* A V3 section in BYTES: COUNT functions that begin at TEXT, and the bytes ROWS for all of them. Returns its size. */
struct function {
    uint64_t start;
    uint32_t size, rows;
};

static size_t build(uint8_t *bytes, uint8_t abi, const struct function *f, unsigned count, const uint8_t *rows,
                    unsigned size)
{
    bool big = abi == SFU_S390X;
    static const uint8_t preamble[] = {3, 1};

    memset(bytes, 0, 28);
    table_put(bytes, 2, big, 0xdee2);
    memcpy(bytes + 2, preamble, 2);
    bytes[4] = abi;
    bytes[6] = abi == SFU_AMD64 ? 0xf8 : 0;
    table_put(bytes + 8, 4, big, count);
    table_put(bytes + 12, 4, big, count); /* rows: one each, where they are counted */
    table_put(bytes + 16, 4, big, size);
    table_put(bytes + 24, 4, big, 16 * count);
    for (unsigned i = 0; i < count; i++) {
        table_put(bytes + 28 + 16 * i, 8, big, f[i].start - ADDR);
        table_put(bytes + 36 + 16 * i, 4, big, f[i].size);
        table_put(bytes + 40 + 16 * i, 4, big, f[i].rows);
    }
    memcpy(bytes + 28 + 16 * count, rows, size);
    return 28 + 16 * count + size;
}

static const struct function one = {TEXT, 16, 0};
static const uint8_t plain[] = {1, 0, 0, 0, 0, 0, 0x03, 8}; /* CFA = SP + 8 */

/* The last byte of the section was the last of the address space: it opened, but its end could not be read. */
static void section_at_the_top(void)
{
    uint8_t bytes[256];
    struct sfu_section s;
    size_t size = build(bytes, SFU_AMD64, &one, 1, plain, sizeof plain);
    struct remote remote = {bytes, UINT64_MAX - size + 1, size, 0, 0};

    MUST(try_open(&s, bytes, size, remote.addr, NULL) == SFU_E_BOUNDS);
    MUST(try_open(&s, NULL, size, remote.addr, &remote) == SFU_E_BOUNDS);
}

/* A lookup stepped over 8 empty functions and no more. */
static void many_empty_functions(void)
{
    uint8_t bytes[1024];
    struct function f[40];
    struct sfu_section s;
    struct sfu_row row;

    for (unsigned i = 0; i < 40; i++)
        f[i] = (struct function){TEXT + (i > 0 ? 4 : 0), i > 0 ? 0 : 16, 0};
    MUST(try_open(&s, bytes, build(bytes, SFU_AMD64, f, 40, plain, sizeof plain), ADDR, NULL) == SFU_OK);
    MUST(try_find(&s, TEXT + 8, false, &row) == SFU_OK && row.function == TEXT);
}

/* A word of 0 means "not saved" for the RA only. */
static void fp_at_the_cfa(void)
{
    static const uint8_t rows[] = {0, 1,          0, 0,    0,
                                   0, 3 << 1 | 1, 0, 0xd0, 0}; /* CFA = SP + 160, RA at -48, FP at 0 */
    uint8_t bytes[256];
    struct sfu_section s;
    struct sfu_row row;

    MUST(try_open(&s, bytes, build(bytes, SFU_S390X, &one, 1, rows, sizeof rows), ADDR, NULL) == SFU_OK);
    MUST(try_find(&s, TEXT, false, &row) == SFU_OK);
    MUST(row.fp.control == 2 && row.fp.offset == 0 && row.ra.control == 2 && row.ra.offset == -48);
}

/* That an RA is not saved was taken for a row that says nothing of it, to which the header's fixed offset applied. */
static void unsaved_ra(void)
{
    static const uint8_t rows[] = {0, 1, 0, 0, 0, 0, 3 << 1 | 1, 0, 0, 0xc8}; /* CFA = SP + 160, FP at -56 */
    uint8_t bytes[256];
    size_t size = build(bytes, SFU_S390X, &one, 1, rows, sizeof rows);
    struct sfu_section s;
    struct sfu_row row;

    bytes[6] = 0xf8;
    MUST(try_open(&s, bytes, size, ADDR, NULL) == SFU_OK);
    MUST(try_find(&s, TEXT, false, &row) == SFU_OK);
    MUST(row.ra.control == (14 << 3 | 1) && row.ra.offset == 0 && row.fp.control == 2 && row.fp.offset == -56);
}

/* A flexible row whose first word said "no rule" got CFA = FP. */
static void no_rule_for_the_cfa(void)
{
    static const uint8_t rows[] = {1, 0, 0, 1, 0, 0, 1 << 1, 0};
    uint8_t bytes[256];
    struct sfu_section s;
    struct sfu_row row;
    struct sfu_place place;

    MUST(try_open(&s, bytes, build(bytes, SFU_AMD64, &one, 1, rows, sizeof rows), ADDR, NULL) == SFU_OK);
    MUST(try_find(&s, TEXT, false, &row) == SFU_E_ROW);
    MUST(try_check(&s, &place) == SFU_E_ROW && place.fde == 0 && place.row == 0);
}

static int hook(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    (void)ctx;
    (void)frame;
    (void)interrupted;
    return code == SFU_E_TRAP ? SFU_E_NO_FDE : code;
}

static int read_words(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    (void)ctx;
    (void)addr;
    memset(buffer, 0x10, len);
    return 0;
}

/* A hook that says "no FDE" of a signal frame made sfu guess, although the table covers the PC; the guess then stood
 * as the frame's row. */
static void no_guess_for_a_signal_frame(void)
{
    static const uint8_t rows[] = {0, 0, 0x80, 0, 0};
    uint8_t bytes[256];
    struct sfu_section s;
    struct sfu_target target = {0};
    struct sfu_registers top = {0};
    struct sfu_walk walk;
    struct sfu_row row;

    MUST(try_open(&s, bytes, build(bytes, SFU_AMD64, &one, 1, rows, sizeof rows), ADDR, NULL) == SFU_OK);
    MUST(sfu_add(&target.sections, &s) == SFU_OK);
    target.read = read_words;
    target.trap = hook;
    target.frame_pointers = true;
    top.pc = TEXT;
    top.sp = top.fp = 0x8000;
    sfu_walk_start(&walk, &target, &top);
    MUST(sfu_find_frame(&target, &walk.frame, &row) == SFU_OK && row.kind == SFU_ROW_ASK);
    MUST(sfu_walk_step(&walk) == SFU_E_NO_FDE);
    MUST(walk.frame.depth == 0 && walk.frame.regs.pc == TEXT);
}

/* Without a section, a guess asked the list for the ABI. */
static void no_guess_without_a_section(void)
{
    struct sfu_target target = {0};
    struct sfu_registers top = {0};
    struct sfu_walk walk;

    target.read = read_words;
    target.trap = hook;
    target.frame_pointers = true;
    sfu_walk_start(&walk, &target, &top);
    MUST(sfu_walk_step(&walk) == SFU_E_EMPTY);
}

/* A remote section without a callback: an error, not a call of NULL. */
static void remote_without_callback(void)
{
    struct sfu_section s;

    MUST(sfu_open_remote(&s, NULL, NULL, 64, ADDR) == SFU_E_SECTION);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {
        {"section_at_the_top", section_at_the_top},
        {"many_empty_functions", many_empty_functions},
        {"fp_at_the_cfa", fp_at_the_cfa},
        {"unsaved_ra", unsaved_ra},
        {"no_rule_for_the_cfa", no_rule_for_the_cfa},
        {"no_guess_for_a_signal_frame", no_guess_for_a_signal_frame},
        {"no_guess_without_a_section", no_guess_without_a_section},
        {"remote_without_callback", remote_without_callback},
    };

    for (unsigned i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        if (argc > 1 && strcmp(argv[1], tests[i].name) != 0)
            continue;
        tests[i].run();
        printf("ok %s\n", tests[i].name);
        fflush(stdout);
    }
    return 0;
}
