/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * lookups core|fast|index IMAGE TABLES: looks 1,000 PCs up in TABLES, IMAGE's own .sframe or, if that is another file,
 * the bytes of a section that lies there. The PCs are at random in the functions of IMAGE's own. callgrind counts.
 * core: sfu_find; fast: the fast walker's look_up, without a cache; index: the same with an index.
 */
#include "common/image.h"
#include "port/fast/sfu_fast.h"
#include "sfu.h"
#include "test/lib/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PCS = 1000, STACK = 1 << 16 };

static struct image image;
static struct sfu_section own[1], tables[1];
static struct sfu_section *own_list, *list;
static uint64_t pcs[PCS];

static void fail(const char *what)
{
    fprintf(stderr, "lookups: %s\n", what);
    exit(1);
}

static uint64_t chosen(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* PCs from the first to the last function that have a row of rules. */
static void choose_pcs(void)
{
    unsigned i = 0;

    while (i < PCS) {
        struct sfu_row row;
        uint64_t pc = own->text.low + chosen() % (own->text.high - own->text.low);

        if (sfu_find(own, pc, &row) == SFU_OK && row.kind == SFU_ROW_RULES && !row.trap_frame)
            pcs[i++] = pc;
    }
}

static void look_up_by_core(void)
{
    struct sfu_row row;
    unsigned i;

    for (i = 0; i < PCS; i++)
        if (sfu_find(tables, pcs[i], &row) != SFU_OK)
            fail("no row");
}

/* A trace of one frame looks up one PC. */
static void look_up_by_fast(bool with_index)
{
    static struct sfu_fast fast;
    static struct sfu_fast_image fast_image;
    static uint8_t stack[STACK];
    struct sfu_target target = {0};
    struct sfu_registers top = {0};
    uint64_t out[2];
    unsigned i;

    if (sfu_fast_add(&fast, &fast_image, 1, list) != SFU_OK)
        fail("sfu_fast_add");
    if (with_index) {
        size_t size = sfu_fast_index_size(&fast_image);

        if (!sfu_fast_set_index(&fast_image, malloc(size), size))
            fail("sfu_fast_set_index");
    }
    target.sections = sfu_fast_sections(&fast);
    target.stack = (struct sfu_stack){stack, 1 << 20, (1 << 20) + STACK};
    top.sp = target.stack.low;
    top.fp = top.sp + STACK / 2;
    for (i = 0; i < PCS; i++) {
        size_t count;

        top.pc = pcs[i];
        (void)sfu_fast_trace(&fast, &target, &top, 0, out, 2, &count);
    }
}

int main(int argc, char **argv)
{
    struct section *section;
    const uint8_t *bytes;
    size_t size;

    if (argc != 4 || !image_open(&image, argv[2]))
        fail("usage: lookups core|fast|index IMAGE TABLES");
    section = image_tables(&image);
    if (section == NULL || !image_load(&image, section))
        fail("no .sframe");
    bytes = section->bytes;
    size = (size_t)section->size;
    if (sfu_add(&own_list, own, 1, bytes, size, section->addr) != SFU_OK || sfu_find_text(own) != SFU_OK)
        fail("the image's tables");
    if (strcmp(argv[2], argv[3]) != 0)
        bytes = read_file(argv[3], &size);
    if (bytes == NULL || sfu_add(&list, tables, 1, bytes, size, section->addr) != SFU_OK)
        fail("the tables");
    choose_pcs();
    if (strcmp(argv[1], "core") == 0)
        look_up_by_core();
    else
        look_up_by_fast(strcmp(argv[1], "index") == 0);
    return 0;
}
