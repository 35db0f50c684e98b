/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * faults SEED...: every single fault in small real sections, each between guard pages, with the invariants of the
 * fuzzing harnesses, which do the work: whatever does not hold aborts.
 *
 *   bytes      every byte set to every value
 *   truncated  every size below the whole one
 *   reads      every read of the section or of the stack made to fail, until one run needs no more reads
 */
#include "harness.h"
#include "test/lib/check.h"

#include <stdio.h>
#include <string.h>

/* The entry points of fuzz/section.c and fuzz/walk.c. */
int section_input(const uint8_t *data, size_t size);
int walk_input(const uint8_t *data, size_t size);

enum { STACK_BYTES = 64, CHOICES = 24, ROOM = 512, WALKS = 4 };

struct seed {
    const char *name;
    uint8_t bytes[ROOM];
    size_t size;
    uint64_t addr;
};

/* ---- Inputs of the harnesses ----------------------------------------------------------------------------------- */

/* As a section: mapped and through the callback, at either end of a page; the PCs start at a different one each
 * time. */
static void as_section(const uint8_t *bytes, size_t size, unsigned variant)
{
    uint8_t input[ROOM + 4];

    memcpy(input, bytes, size);
    input[size] = variant & 1 ? 2 : 0;
    input[size + 1] = input[size + 2] = 0;
    input[size + 3] = (uint8_t)variant;
    section_input(input, size + 4);
}

/* A stack that leads back into the section's functions: saved FPs, and return addresses a few bytes into each. */
static void put_stack(uint8_t *p, unsigned variant)
{
    for (unsigned i = 0; i < STACK_BYTES / 2; i++) {
        unsigned code = 5u << 13 | ((i + variant) % 6) << 8 | (i * 3 + variant) % 16;
        unsigned frame = 2u << 13 | (i + 3 < 32 ? i + 3 : 31);

        bytes_put(p + 2 * i, 2, false, (i ^ variant) & 1 ? code : frame);
    }
}

/* As a walk; FAIL_SECTION and FAIL_STACK are the reads that fail, 0 for none. See struct choices in fuzz/walk.c. */
static void as_walk(const uint8_t *bytes, size_t size, unsigned variant, unsigned fail_section, unsigned fail_stack)
{
    uint8_t input[ROOM + STACK_BYTES + CHOICES] = {0};
    uint8_t *how = input + size + STACK_BYTES;

    memcpy(input, bytes, size);
    put_stack(input + size, variant);
    how[3] = (uint8_t)((variant & 1) | (variant >> 1 & 1) << 1);
    how[4] = (uint8_t)(1 | 16 | (variant & 2) | variant << 6);
    if (fail_stack == 0) { /* a stack of each kind; what is mapped cannot fail */
        how[3] |= (uint8_t)(variant << 6);
        how[4] |= (uint8_t)(variant << 2);
    }
    how[5] = variant & 2 ? 0x81 : 0;
    how[6] = variant & 1 ? 128 | 6 : 0; /* pieces of 64 bytes, with gaps */
    how[9] = (uint8_t)fail_section;
    how[10] = (uint8_t)fail_stack;
    bytes_put(how + 12, 2, false, 5u << 13 | variant << 8 | 4);
    bytes_put(how + 14, 2, false, 2u << 13);
    bytes_put(how + 16, 2, false, 2u << 13 | 4);
    bytes_put(how + 18, 2, false, 5u << 13 | 0x102);
    bytes_put(how + 20, 2, false, 0x0813);
    bytes_put(how + 22, 2, false, 5u << 13 | 0x203);
    walk_input(input, size + STACK_BYTES + CHOICES);
}

/* ---- Faults ---------------------------------------------------------------------------------------------------- */

static void bytes(void *argument)
{
    const struct seed *seed = argument;
    uint8_t copy[ROOM];

    memcpy(copy, seed->bytes, seed->size);
    for (size_t i = 0; i < seed->size; i++) {
        for (unsigned value = 0; value < 256; value++) {
            copy[i] = (uint8_t)value;
            as_section(copy, seed->size, value);
            as_walk(copy, seed->size, value % WALKS, 0, 0);
        }
        copy[i] = seed->bytes[i];
    }
    check_say("%zu values", seed->size * 256);
}

static void truncated(void *argument)
{
    const struct seed *seed = argument;
    struct sfu_section s;

    for (size_t size = 0; size <= seed->size; size++) {
        for (unsigned variant = 0; variant < WALKS; variant++) {
            as_section(seed->bytes, size, variant);
            as_walk(seed->bytes, size, variant, 0, 0);
        }
        /* The tables end with the section: less is always noticed. */
        MUST((try_open(&s, seed->bytes, size, seed->addr, NULL) == SFU_OK) == (size == seed->size));
    }
    check_say("%zu sizes", seed->size);
}

/* One run in which read K of the section fails: open, check, and find at every interesting PC, each counted anew.
 * Returns whether any of them came that far. */
static bool fail_read(const struct seed *seed, const struct table *t, uint32_t k)
{
    struct remote remote = {seed->bytes, seed->addr, seed->size, 0, k};
    struct sfu_section s;
    struct sfu_place place;
    struct sfu_row row, expected;
    uint64_t pcs[MAX_PCS];
    unsigned n = interesting_pcs(t, pcs);
    bool failed = try_open(&s, NULL, seed->size, seed->addr, &remote) == SFU_E_SECTION;

    MUST(failed == (remote.reads >= k));
    remote.fail_at = 0;
    MUST(try_open(&s, NULL, seed->size, seed->addr, &remote) == SFU_OK);
    remote.fail_at = k;
    remote.reads = 0;
    MUST(try_check(&s, &place) == (remote.reads >= k ? SFU_E_SECTION : SFU_OK));
    failed = failed || remote.reads >= k;
    for (unsigned i = 0; i < n; i++) {
        int code, wanted = table_find(t, pcs[i], &expected);

        remote.reads = 0;
        code = try_find(&s, pcs[i], true, &row);
        MUST(code == (remote.reads >= k ? SFU_E_SECTION : wanted));
        MUST(code != SFU_OK || same_row(&row, &expected));
        failed = failed || remote.reads >= k;
    }
    return failed;
}

static void reads(void *argument)
{
    const struct seed *seed = argument;
    static struct table t;
    uint32_t k = 1;

    table_read(&t, seed->bytes, seed->size, seed->addr);
    MUST(t.complete && !table_overlaps(&t));
    while (fail_read(seed, &t, k))
        k++;
    for (unsigned fail = 1; fail < 256; fail++) {
        for (unsigned variant = 0; variant < WALKS; variant++) {
            as_walk(seed->bytes, seed->size, variant, fail, 0);
            as_walk(seed->bytes, seed->size, variant, 0, fail);
        }
    }
    check_say("%u reads", k - 1);
}

static void load(struct seed *seed, const char *path)
{
    FILE *file = fopen(path, "rb");
    const char *slash = strrchr(path, '/');

    seed->name = slash != NULL ? slash + 1 : path;
    seed->addr = 0x2000;
    seed->size = file != NULL ? fread(seed->bytes, 1, ROOM, file) : 0;
    if (file != NULL)
        fclose(file);
    MUST(seed->size > 28 && seed->size < ROOM);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void *argument);
    } kinds[] = {{"bytes", bytes}, {"truncated", truncated}, {"reads", reads}};
    static struct seed seed;
    int failed = 0;

    for (int i = 1; i < argc; i++) {
        load(&seed, argv[i]);
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            char name[ROOM];

            snprintf(name, sizeof name, "%s %s", kinds[k].name, seed.name);
            failed += check_case(name, kinds[k].run, &seed);
        }
    }
    return failed != 0;
}
