/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Flexible rows (specification 3.2): pairs of control and offset words, their padding, and what no pair can be. */
#include "test.h"

static struct build *const b = &the_build;
static const unsigned word_size[] = {WORD1, WORD2, WORD4};

static void one_row(int abi, bool big, unsigned size, unsigned count, const int64_t *w)
{
    build_begin(b, 3, abi, big);
    build_fde_more(b, 0x1000, 0x20, ADDR1, FLEX, 0);
    build_row(b, 0, BASE_SP | size, count, w);
    build_end(b);
}

/* A row of COUNT words is corrupt; the row before it and other functions are not. */
static void corrupt_at(unsigned count, const int64_t *w, int line)
{
    struct opened o;
    struct sfu_place place;
    FOR_FORMS(abi, big) {
        for (unsigned s = 0; s < 3; s++) {
            note("line %d, ABI %d, big %d, %u words", line, abi, big, count);
            build_begin(b, 3, abi, big);
            build_fde_more(b, 0x1000, 0x20, ADDR1, FLEX, 0);
            ROW(b, 0, BASE_SP | WORD1, REG(7), 8);
            build_row(b, 8, word_size[s], count, w);
            build_fde_more(b, 0x2000, 0x20, ADDR1, FLEX, 0);
            ROW(b, 0, BASE_SP | WORD4, REG(7), 8, AT_CFA, 0, AT_CFA, 0);
            open_valid(&o, b);
            code(find(&o, BASE + 0x1007, NULL), SFU_OK);
            code(find(&o, BASE + 0x1008, NULL), SFU_E_ROW);
            code(check(&o, &place), SFU_E_ROW);
            same(place.row, 1);
            close_section(&o);
        }
    }
}
#define CORRUPT(...)                                                                                               \
    corrupt_at(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__}, __LINE__)

/* Two, five and six words, each word size, ABI and byte order. */
static void test_forms(void **state)
{
    struct sfu_row row;
    (void)state;
    FOR_FORMS(abi, big) for (int s = 0; s < 3; s++) {
        unsigned size = word_size[s];
        bool amd64 = abi == SFU_AMD64;
        note("ABI %d, big %d, size %x", abi, big, size);

        one_row(abi, big, size, 2, (const int64_t[]){REG(10), 0});
        code(find_in_build(b, BASE + 0x1000, &row), SFU_OK);
        same_rule(row.cfa, REG(10), cfa_offset(abi, 0));
        same_rule(row.ra, amd64 ? AT_CFA : REG(registers[abi].ra), amd64 ? -8 : 0);
        same_rule(row.fp, REG(registers[abi].fp), 0);
        same(row.kind, SFU_ROW_RULES);

        one_row(abi, big, size, 4, (const int64_t[]){REG(7), 2, REG(2), -3});
        code(find_in_build(b, BASE + 0x1000, &row), SFU_OK);
        same_rule(row.cfa, REG(7), cfa_offset(abi, 2));
        same_rule(row.ra, REG(2), -3);
        same_rule(row.fp, REG(registers[abi].fp), 0);

        one_row(abi, big, size, 5, (const int64_t[]){AT_REG(6), -8, 0, AT_REG(6), 0});
        code(find_in_build(b, BASE + 0x1000, &row), SFU_OK);
        same_rule(row.cfa, AT_REG(6), cfa_offset(abi, -8));
        same_rule(row.ra, amd64 ? AT_CFA : REG(registers[abi].ra), amd64 ? -8 : 0);
        same_rule(row.fp, AT_REG(6), 0);

        one_row(abi, big, size, 6, (const int64_t[]){AT_REG(7), 127, AT_REG(7), -128, AT_CFA, 1});
        code(find_in_build(b, BASE + 0x1000, &row), SFU_OK);
        same_rule(row.cfa, AT_REG(7), cfa_offset(abi, 127));
        same_rule(row.ra, AT_REG(7), -128);
        same_rule(row.fp, AT_CFA, 1);
    }
}

/* Control words are unsigned, offsets signed, both as large as their size allows. */
static void test_word_limits(void **state)
{
    static const int64_t control[] = {0xfb, 0xfffb, 0xfffffffb};
    static const int64_t most[] = {0x7f, 0x7fff, 0x7fffffff};
    struct sfu_row row;
    (void)state;
    FOR_FORMS(abi, big) {
        for (int s = 0; s < 3; s++) {
            /* s390x: the CFA's largest and least offsets of 4 bytes are those that fit when they are scaled */
            bool narrow = abi == SFU_S390X && s == 2;
            int64_t high = narrow ? 268435435 : most[s], low = narrow ? -268435476 : -most[s] - 1;
            int64_t w[] = {control[s], high, control[s], -most[s] - 1, control[s], -1};
            one_row(abi, big, word_size[s], 6, w);
            note("ABI %d, big %d, size %d", abi, big, s);
            code(find_in_build(b, BASE + 0x1000, &row), SFU_OK);
            same_rule(row.cfa, control[s], cfa_offset(abi, high));
            same_rule(row.ra, control[s], -most[s] - 1);
            same_rule(row.fp, control[s], -1);
            w[1] = low;
            one_row(abi, big, word_size[s], 6, w);
            code(find_in_build(b, BASE + 0x1000, &row), SFU_OK);
            same_rule(row.cfa, control[s], cfa_offset(abi, low));
        }
    }
}

/* The CFA cannot be based on itself, and a rule has both of its words. */
static void test_corrupt(void **state)
{
    (void)state;
    CORRUPT(AT_CFA, 8);
    CORRUPT(0, 8);
    CORRUPT(0);
    CORRUPT(0, AT_CFA, -8);
    CORRUPT(0, 0, AT_CFA, -16);
    CORRUPT(REG(7));
    CORRUPT(4, 8); /* the unused bit alone */
    CORRUPT(REG(7), 8, AT_CFA);
    CORRUPT(REG(7), 8, 0, AT_CFA);
    CORRUPT(REG(7), 8, AT_CFA, -8, AT_CFA);
    CORRUPT(REG(7), 8, 0, AT_CFA, -16, 0);
    CORRUPT(REG(7), 8, AT_CFA, -8, AT_CFA, -16, 0);
    CORRUPT(REG(7), 8, AT_CFA, -8, AT_CFA, -16, AT_CFA, 0);
    CORRUPT(REG(7), 8, AT_CFA, -8, AT_CFA, -16, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

/* No words: no caller. No rows: nothing is known, unlike in a default FDE. */
static void test_no_words(void **state)
{
    struct sfu_row row;
    (void)state;
    build_begin(b, 3, SOME_ABI, registers[SOME_ABI].big);
    build_fde_more(b, 0x1000, 0x20, ADDR1, FLEX, 0);
    ROW0(b, 0, BASE_SP);
    build_fde_more(b, 0x2000, 0x20, ADDR1, FLEX, 0);
    build_end(b);
    code(find_in_build(b, BASE + 0x1000, &row), SFU_OK);
    same(row.kind, SFU_ROW_OUTERMOST);
    code(find_in_build(b, BASE + 0x2000, &row), SFU_E_NO_ROW);
}

/* A trap frame that a macro wrote: everything from the stack, and the caller was interrupted. */
static void test_trap_frame(void **state)
{
    struct sfu_row row;
    (void)state;
    build_begin(b, 3, SOME_ABI, registers[SOME_ABI].big);
    build_fde_more(b, 0x1000, 0x20, ADDR1 | SIGNAL, FLEX, 0);
    ROW(b, 0, BASE_SP | WORD2, AT_REG(7), 16, AT_REG(7), 136, AT_REG(7), 80);
    build_end(b);
    code(find_in_build(b, BASE + 0x1000, &row), SFU_OK);
    same(row.trap_frame, true);
    same_rule(row.cfa, AT_REG(7), cfa_offset(SOME_ABI, 16));
    same_rule(row.ra, AT_REG(7), 136);
    same_rule(row.fp, AT_REG(7), 80);
}

/* The base bit of the row's info byte has no meaning here, and a signed RA has on aarch64. */
static void test_info(void **state)
{
    struct sfu_row row;
    (void)state;
    FOR_FORMS(abi, big) {
        build_begin(b, 3, abi, big);
        build_fde_more(b, 0x1000, 0x20, ADDR1, FLEX, 0);
        ROW(b, 0, BASE_FP | SIGNED_RA, REG(7), 0);
        build_end(b);
        code(find_in_build(b, BASE + 0x1000, &row), SFU_OK);
        same_rule(row.cfa, REG(7), cfa_offset(abi, 0));
        same(row.signed_ra, abi <= SFU_AARCH64);
    }
}

int rules_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),    cmocka_unit_test(test_word_limits), cmocka_unit_test(test_corrupt),
        cmocka_unit_test(test_no_words), cmocka_unit_test(test_trap_frame),  cmocka_unit_test(test_info),
    };
    return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
