/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What sfu_dump.c prints, log/log.c reads: random words, of the shapes that have a notation of their own, and as many
 * places as a reader keeps. SMALL: the same of sfu_dump_small.c, which has no places.
 */
#include "common/report.h"
#include "sfu_dump.h"
#include "test/lib/check.h"
#include "log/log.h"

#ifndef SMALL
#define SMALL 0
#endif

const char tool_name[] = "dump_round";

enum { DUMPS = 400, WORDS = 200, BASE = 0x10000, TEXT = 1 << 16 };

static struct log_dump dump;
static enum log_dump_event event;
static char line[TEXT];
static size_t length;

/* Gives each whole line to the reader. */
static void put(void *ctx, char c)
{
    (void)ctx;
    if (c != '\n') {
        line[length++ % TEXT] = c;
        return;
    }
    event = log_dump_line(&dump, line, length);
    length = 0;
}

static uint64_t state = 88172645463325252u;

static uint64_t drawn(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* A word of I of WORDS: small, of any number of digits, near the one before or near its own address, or that again. */
static uint64_t word(const uint64_t *words, unsigned i)
{
    uint64_t value = drawn(), before = i > 0 ? words[i - 1 - value % (i < 3 ? i : 3)] : 0;

    switch (value >> 8 & 7) {
    case 0:
        return before;
    case 1:
    case 2:
        return before + (value >> 20 & 0xffff) - 0x8000;
    case 3:
        return BASE + 8 * i + (value >> 20 & 0xfff) - 0x800;
    default:
        return value >> (value >> 12 & 63);
    }
}

/* What comes back of WORDS and of the first NUM of PLACES, as a program of ABI has them. */
static void comes_back(enum sfu_abi abi, const uint64_t *words, const struct sfu_dump_place *places, unsigned num)
{
    const struct sfu_dump_stack memory = {BASE, WORDS, words};
    const struct sfu_dump what = {
        .places = places, .num_places = num, .stacks = &memory, .num_stacks = 1, .abi = (uint8_t)abi};
    const struct sfu_registers top = {.pc = 0x1234, .sp = 8, .fp = UINT64_MAX};
    struct sfu_target target = {0};
    struct sfu_panic panic = {.put = put, .target = &target};
    unsigned i;

    log_dump_clear(&dump);
    sfu_dump_print(&panic, &what, &top);
    assert_int_equal(event, DUMP_DONE);
    assert_true(dump.missing == 0 && dump.lost == 0);
    assert_int_equal(dump.num_words, WORDS);
    assert_int_equal(dump.num_places, num);
    assert_true(dump.pc == top.pc && dump.sp == top.sp && dump.fp == top.fp);
    for (i = 0; i < WORDS; i++) {
        assert_int_equal(dump.words[i].addr, BASE + 8 * i);
        assert_memory_equal(dump.words[i].bytes, &words[i], 8);
    }
    for (i = 0; i < num; i++) {
        assert_int_equal(dump.places[i].addr, places[i].addr);
        assert_string_equal(dump.places[i].name, places[i].name);
    }
}

static void random_words(uint64_t words[WORDS])
{
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = word(words, i);
}

static void test_words(void **unused)
{
    uint64_t words[WORDS];

    (void)unused;
    for (unsigned n = 0; n < DUMPS; n++) {
        random_words(words);
        comes_back(SMALL || n % 2 == 0 ? SFU_AMD64 : SFU_S390X, words, NULL, 0);
    }
    log_dump_clear(&dump);
}

#if !SMALL
static void test_places(void **unused)
{
    static struct sfu_dump_place places[LOG_PLACES];
    uint64_t words[WORDS];

    (void)unused;
    for (unsigned i = 0; i < LOG_PLACES; i++)
        places[i] = (struct sfu_dump_place){drawn(), "place", i % 2 != 0 ? "module.ko" : NULL};
    for (unsigned n = 0; n < DUMPS; n++) {
        random_words(words);
        comes_back(n % 2 == 0 ? SFU_AMD64 : SFU_S390X, words, places, n % (LOG_PLACES + 1));
    }
    log_dump_clear(&dump);
}
#endif

int main(void)
{
    static const struct check_test tests[] = {
        CHECK(test_words),
#if !SMALL
        CHECK(test_places),
#endif
    };

    return check_run(NULL, tests);
}
