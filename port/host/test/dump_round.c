/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What sfu_dump.c prints, trace_log.c reads: random words, of the shapes that have a notation of their own, and as many
 * places as a reader keeps. Prints a line for each test. SMALL: the same of sfu_dump_small.c, which has no places.
 */
#include "common/report.h"
#include "sfu_dump.h"
#include "trace/trace_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SMALL
#define SMALL 0
#endif
#define WRITER (SMALL ? "sfu_dump_small.c" : "sfu_dump.c")

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

/* Whether the words come back, as a program of ABI has them. */
static bool comes_back(enum sfu_abi abi, const uint64_t *words, const struct sfu_dump_place *places, unsigned num)
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
    if (event != DUMP_DONE || dump.num_words != WORDS || dump.missing != 0 || dump.lost != 0 ||
        dump.num_places != num || dump.pc != top.pc || dump.sp != top.sp || dump.fp != top.fp)
        return false;
    for (i = 0; i < num; i++)
        if (dump.places[i].addr != places[i].addr || strcmp(dump.places[i].name, places[i].name) != 0)
            return false;
    return true;
}

int main(void)
{
    static struct sfu_dump_place places[LOG_PLACES];
    uint64_t words[WORDS];
    unsigned n, i, wrong = 0, wrong_places = 0;

    for (i = 0; i < LOG_PLACES; i++)
        places[i] = (struct sfu_dump_place){drawn(), "place", i % 2 != 0 ? "module.ko" : NULL};
    for (n = 0; n < DUMPS; n++) {
        for (i = 0; i < WORDS; i++)
            words[i] = word(words, i);
        if (!comes_back(SMALL || n % 2 == 0 ? SFU_AMD64 : SFU_S390X, words, places,
                        SMALL ? 0 : n % (LOG_PLACES + 1)))
            wrong_places++;
        for (i = 0; i < WORDS && i < dump.num_words; i++)
            wrong += dump.words[i].addr != BASE + 8 * i || memcmp(dump.words[i].bytes, &words[i], 8) != 0;
    }
    log_dump_clear(&dump);
    printf("%s%s: words, %u wrong\n", wrong == 0 ? "ok " : "not ok ", WRITER, wrong);
    printf("%s%s: registers and places, %u dumps wrong\n", wrong_places == 0 ? "ok " : "not ok ", WRITER,
           wrong_places);
    return wrong + wrong_places != 0;
}
