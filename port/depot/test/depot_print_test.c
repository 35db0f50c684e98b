/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * depot_print_test [FILE]: what sfu_depot_print prints of random depots is what sfu-trace's parser reads, and keeps to
 * the format. FILE: the last dump is written there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sfu_depot_print.h"
#include "test/lib/check.h"
#include "log/log.h"

enum { TRACES = 60, MOST_PCS = 200, ROUNDS = 300 };

static char text[1 << 22];
static size_t size;
static void put(void *ctx, char c)
{
    (void)ctx;
    if (size < sizeof text - 1)
        text[size++] = c;
}

static uint64_t random64(uint64_t *seed)
{
    uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return z ^ z >> 29;
}

static struct sfu_depot depot;
static uint64_t memory[8192];

/* Reads what was printed, line by line, with things in front of them, as a console has. */
static void read_text(struct depot_dump *dump)
{
    char line[400];
    size_t at = 0;
    enum depot_event event = DEPOT_OTHER;

    memset(dump, 0, sizeof *dump);
    while (at < size) {
        size_t length = strcspn(text + at, "\n");

        assert_that(length <= 80, "a line is too long");
        snprintf(line, sizeof line, "[%8u.123] %.*s", (unsigned)at, (int)length, text + at);
        assert_that(event != DEPOT_DONE, "something follows the end");
        event = depot_line(dump, line, strlen(line));
        assert_that(event != DEPOT_OTHER, "a line is not known");
        at += length + 1;
    }
    assert_that(event == DEPOT_DONE && !dump->open && dump->bad == 0 && dump->cut == 0 && dump->missing == 0,
                "a dump is not complete");
}

/* Each trace of the depot that weighs something is the next of the dump. */
static void compare(const struct depot_dump *dump)
{
    static uint64_t pcs[SFU_DEPOT_PCS];
    uint32_t handle;
    size_t found = 0;

    for (handle = sfu_depot_next(&depot, 0); handle != 0; handle = sfu_depot_next(&depot, handle)) {
        int64_t weight;
        size_t count = sfu_depot_get(&depot, handle, 0, pcs, SFU_DEPOT_PCS, &weight);
        const struct depot_trace *t = &dump->traces[found];

        if (weight == 0)
            continue;
        assert_that(found < dump->num_traces && t->weight == weight && t->count == count &&
                        (count == 0 || memcmp(dump->pcs + t->first, pcs, 8 * count) == 0),
                    "another trace");
        found++;
    }
    assert_that(found == dump->num_traces, "more traces");
}

static void one_round(uint64_t seed)
{
    static const uint64_t bases[] = {0, UINT64_C(0xffffffff80000000), UINT64_C(0x40200000)};
    static const uint8_t note[] = {4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0x12, 0xab, 0, 0xff};
    const struct sfu_dump_place places[2] = {{0x1234, "image_start", NULL}, {UINT64_MAX, ".text", "module.ko"}};
    struct sfu_depot_report report = {.unit = seed % 3 == 0 ? NULL : seed % 3 == 1 ? "bytes" : "ns"};
    struct sfu_panic panic = {.put = put};
    uint64_t pcs[MOST_PCS];
    struct depot_dump dump;
    unsigned i, k;

    assert_that(sfu_depot_init(&depot, memory, sizeof memory, bases[seed % 3]), "there is room");
    for (i = 0; i < TRACES; i++) {
        size_t count = random64(&seed) % (i % 10 == 0 ? MOST_PCS : 20);

        for (k = 0; k < count; k++)
            pcs[k] = random64(&seed) >> random64(&seed) % 64;
        (void)sfu_depot_add(&depot, pcs, count, (int64_t)random64(&seed) >> 1 >> random64(&seed) % 63);
    }
    (void)sfu_depot_add(&depot, pcs, 1, seed % 2 == 0 ? INT64_MIN : INT64_MAX);
    (void)sfu_depot_add(&depot, pcs, SFU_DEPOT_PCS + 1, (int64_t)(random64(&seed) % 64) - 32);
    report.name = seed % 2 == 0 ? "cpu1" : NULL;
    report.exact = seed % 5 == 0;
    report.rate = seed % 7 == 0 ? 1000 : 0;
    report.idle = seed % 11;
    report.not_kept = seed % 13;
    report.places = places;
    report.num_places = (unsigned)(seed % 3);
    report.build_id = seed % 2 != 0 ? note : NULL;
    report.build_id_end = note + sizeof note;
    panic.slide = seed % 4 == 0 ? 0 : random64(&seed);
    size = 0;
    sfu_depot_print(&panic, &depot, &report);
    read_text(&dump);
    compare(&dump);
    assert_that(strcmp(dump.unit, report.unit != NULL ? report.unit : "samples") == 0, "another unit");
    assert_that(strcmp(dump.name, report.name != NULL ? report.name : "") == 0, "another name");
    assert_that(dump.exact == report.exact && dump.rate == report.rate && dump.idle == (int64_t)report.idle,
                "another number");
    assert_that(dump.lost == (int64_t)report.not_kept + depot.lost_weight, "another weight of lost ones");
    assert_that(dump.has_slide == (panic.slide != 0) && dump.slide == panic.slide && dump.base == depot.base,
                "an address");
    assert_that(dump.num_places == report.num_places, "another number of places");
    for (i = 0; i < dump.num_places; i++)
        assert_that(dump.places[i].addr == places[i].addr && strcmp(dump.places[i].name, places[i].name) == 0 &&
                        strcmp(dump.places[i].image, places[i].image != NULL ? places[i].image : "") == 0,
                    "another place");
    assert_that(dump.id_size == (report.build_id != NULL ? 4 : 0) && memcmp(dump.id, note + 16, dump.id_size) == 0,
                "another build ID");
    depot_clear(&dump);
}

/* Whatever stands in the memory of a depot, printing it ends. What it prints need not be right. */
static void broken(uint64_t seed)
{
    const struct sfu_depot_report report = {0};
    const struct sfu_panic panic = {.put = put};
    struct depot_dump dump;
    unsigned i;

    for (i = 0; i < 20; i++)
        memory[random64(&seed) % 200] = random64(&seed) % 3 == 0 ? random64(&seed) : random64(&seed) % 600;
    size = 0;
    sfu_depot_print(&panic, &depot, &report);
    read_text(&dump);
    depot_clear(&dump);
}

static const char *output; /* a file for the last dump, or NULL */

static void test_print(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++)
        one_round(i);
    if (output != NULL) {
        FILE *file = fopen(output, "w");

        assert_true(file != NULL && fwrite(text, 1, size, file) == size && fclose(file) == 0);
    }
}

static void test_broken(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        one_round(i);
        memory[i % 100] = 3;
        broken(i);
    }
}

int main(int argc, char **argv)
{
    static const struct check_test tests[] = {CHECK(test_print), CHECK(test_broken)};

    output = argc > 1 ? argv[1] : NULL;
    return check_run(NULL, tests);
}
