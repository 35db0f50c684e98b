/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "filled.h"
#include "sfu.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 16 }; /* bytes: fewer nops may be a function's own, room for a tracer for instance */

/* A mapping symbol: what begins at ADDR is data, or instructions. */
struct mark {
    uint64_t addr;
    bool data;
};

struct marks {
    const struct image *image;
    struct mark *list;
    size_t num;
};

/* Mapping symbols are $d, $x of aarch64 and RISC-V, and $a and $t of ARM, also with more behind a dot; and $x with the
 * name of an instruction set, as in $xrv64i2p1_m2p0 (RISC-V's ABI, "Mapping Symbol"). */
static bool is_mark(const char *name)
{
    return name[0] == '$' && name[1] != '\0' && strchr("dxat", name[1]) != NULL &&
           (name[2] == '\0' || name[2] == '.' || strncmp(name + 1, "xrv", 3) == 0);
}

/* An image_symbol_fn. */
static void add_mark(void *ctx, const GElf_Sym *sym, const char *name)
{
    struct marks *marks = ctx;

    if (!is_mark(name) || image_code(marks->image, sym->st_value) == NULL)
        return;
    marks->list = grow(marks->list, marks->num, sizeof *marks->list);
    marks->list[marks->num++] = (struct mark){sym->st_value, name[1] == 'd'};
}

/* By address; of two at one address the instructions count. */
static int by_mark(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;

    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return y->data - x->data;
}

static void add_data(struct filled *filled, uint64_t start, uint64_t end)
{
    filled->data = grow(filled->data, filled->num_data, sizeof *filled->data);
    filled->data[filled->num_data++] = (struct filled_data){start, end};
}

/* Words of headers that boot loaders look for in the first bytes of a file: the numbers that they begin with, and where
 * one has its length. FIELDS: it has addresses, or a mode of the screen, too ("Multiboot Specification" 0.6.96, 3.1;
 * "Multiboot2 Specification" 2.0, 3.1). */
enum { HEADERS = 32768, SHORT_HEADER = 12, ADDRESSES = 20, SCREEN = 16, TAGGED_HEADER = 16 };
static const uint32_t short_magic = 0x1badb002, tagged_magic = 0xe85250d6, has_addresses = 0x10000, has_screen = 4;

/* The sum of a header's first words is 0 modulo 2^32. */
uint64_t filled_header_size(const uint8_t *p, uint64_t size)
{
    uint32_t word[4] = {0};
    unsigned i;

    for (i = 0; i < 4 && size >= 4 * (i + 1); i++)
        word[i] = (uint32_t)load_number(p + 4 * i, 4, false);
    if (size >= SHORT_HEADER && word[0] == short_magic && word[0] + word[1] + word[2] == 0)
        return (word[1] & has_screen) != 0      ? SHORT_HEADER + ADDRESSES + SCREEN
               : (word[1] & has_addresses) != 0 ? SHORT_HEADER + ADDRESSES
                                                : SHORT_HEADER;
    if (size >= TAGGED_HEADER && word[0] == tagged_magic && word[0] + word[1] + word[2] + word[3] == 0)
        return word[2] >= TAGGED_HEADER ? word[2] : 0;
    return 0;
}

/* x86: adds the headers of boot loaders that lie in front of the code of SECTION. */
static void add_headers(struct filled *filled, const struct section *section)
{
    const uint64_t most = section->size < HEADERS ? section->size : HEADERS;
    const uint8_t *p = image_instructions(filled->image, section->addr, section->size);
    uint64_t at = (4 - section->addr % 4) % 4;

    while (p != NULL && at < most) {
        const uint64_t size = filled_header_size(p + at, section->size - at);

        if (size > 0 && size <= section->size - at) {
            add_data(filled, section->addr + at, section->addr + at + size);
            at += (size + 3) & ~(uint64_t)3;
        } else {
            at += 4;
        }
    }
}

bool filled_read(struct filled *filled, struct image *image)
{
    struct marks marks = {image, NULL, 0};
    size_t i;

    *filled = (struct filled){image, NULL, 0};
    if (image->abi == SFU_AMD64 || image->abi == SFU_I386) {
        for (i = 0; i < image->num_code; i++)
            add_headers(filled, image->code[i]);
        return true;
    }
    if (!image_each_symbol(image, SHT_SYMTAB, add_mark, &marks)) {
        free(marks.list);
        return false;
    }
    if (marks.num > 0)
        qsort(marks.list, marks.num, sizeof *marks.list, by_mark);
    for (i = 0; i < marks.num; i++) {
        const struct section *code = image_code(image, marks.list[i].addr);
        uint64_t end = code->addr + code->size;

        if (!marks.list[i].data)
            continue;
        if (i + 1 < marks.num && marks.list[i + 1].addr < end)
            end = marks.list[i + 1].addr;
        add_data(filled, marks.list[i].addr, end);
    }
    free(marks.list);
    return true;
}

void filled_free(struct filled *filled)
{
    free(filled->data);
}

bool filled_is_data(const struct filled *filled, uint64_t addr)
{
    const struct filled_data *data = filled->data;
    const size_t i = count_up_to(data, filled->num_data, sizeof *data, offsetof(struct filled_data, start), addr);

    return i > 0 && addr < data[i - 1].end;
}

/* Bytes from START up to END, where no data is, of runs of one nop, trap or zero that are at least LEAST long. */
static uint64_t count_filler_runs(struct image *image, uint64_t start, uint64_t end)
{
    const uint64_t step = image->registers->code_unit;
    const uint8_t *p = start < end ? image_instructions(image, start, end - start) : NULL;
    uint64_t pc = start, sum = 0;

    while (p != NULL && pc < end && end - pc >= LEAST) {
        uint64_t run = pc + step;

        while (end - run >= step && memcmp(p + (run - start), p + (pc - start), step) == 0)
            run += step;
        if (run - pc >= LEAST && image_is_padding(image, pc, pc + step))
            sum += run - pc;
        pc = run;
    }
    return sum;
}

/* The same of what lies between data, or beside it: all of it, if nothing else is there. */
static uint64_t count_filler(struct image *image, uint64_t start, uint64_t end)
{
    return image_is_padding(image, start, end) ? end - start : count_filler_runs(image, start, end);
}

uint64_t filled_count(const struct filled *filled, uint64_t start, uint64_t end)
{
    const struct filled_data *data = filled->data;
    size_t i = count_up_to(data, filled->num_data, sizeof *data, offsetof(struct filled_data, start), start);
    uint64_t pc = start, sum = 0;

    for (i = i > 0 ? i - 1 : 0; i < filled->num_data && data[i].start < end; i++) {
        uint64_t from = data[i].start > pc ? data[i].start : pc;
        uint64_t to = data[i].end < end ? data[i].end : end;

        if (from >= to)
            continue;
        sum += count_filler(filled->image, pc, from) + (to - from);
        pc = to;
    }
    return sum + (pc > start ? count_filler : count_filler_runs)(filled->image, pc, end);
}
