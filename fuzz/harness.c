/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#define _DEFAULT_SOURCE
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define HAVE_ASAN
#endif
#ifdef HAVE_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

enum { PAGE = 4096 };

void harness_fail(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, condition);
    fflush(NULL);
    abort();
}

uint8_t *arena_place(unsigned n, const uint8_t *bytes, size_t size, bool at_end)
{
    static uint8_t *places[5];
    uint8_t *p = places[n], *start;

    if (p == NULL) {
        p = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED || mprotect(p + PAGE, PAGE, PROT_READ | PROT_WRITE) != 0)
            abort();
        p = places[n] = p + PAGE;
    }
    start = at_end ? p + PAGE - size : p;
    ASAN_UNPOISON_MEMORY_REGION(p, PAGE);
    memcpy(start, bytes, size);
    if (at_end)
        ASAN_POISON_MEMORY_REGION(p, PAGE - size);
    else
        ASAN_POISON_MEMORY_REGION(p + size, PAGE - size);
    return start;
}

int remote_read(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    struct remote *r = ctx;

    MUST(len >= 1 && len <= 28 && addr >= r->addr && addr - r->addr <= r->size &&
         len <= r->size - (addr - r->addr));
    if (++r->reads == r->fail_at)
        return -1;
    memcpy(buffer, r->bytes + (addr - r->addr), len);
    return 0;
}

bool same_registers(const struct sfu_registers *a, const struct sfu_registers *b)
{
    return a->pc == b->pc && a->sp == b->sp && a->fp == b->fp && a->has_ra == b->has_ra &&
           (!a->has_ra || a->ra == b->ra) && a->pc_kind == b->pc_kind;
}

int try_open(struct sfu_section *s, const uint8_t *bytes, size_t size, uint64_t addr, struct remote *remote)
{
    struct sfu_section before;
    int code;

    memset(s, 0xa5, sizeof *s);
    before = *s;
    code = remote != NULL ? sfu_open_remote(s, remote_read, remote, size, addr) : sfu_open(s, bytes, size, addr);
    if (code != SFU_OK) {
        MUST(memcmp(s, &before, sizeof before) == 0);
        MUST((code <= SFU_E_EMPTY && code >= SFU_E_BOUNDS) || (code == SFU_E_SECTION && remote != NULL));
    } else {
        MUST(s->size == size && s->addr == addr && s->end <= size && s->rows <= s->end && s->fdes >= 28);
        MUST(s->fdes + (uint64_t)s->num_fdes * s->fde_size <= s->rows);
    }
    return code;
}

int try_check(const struct sfu_section *s, struct sfu_place *place)
{
    static const struct sfu_place untouched = {0xa5a5a5a5, 0x5a5a5a5a};
    int code;

    *place = untouched;
    code = sfu_check(s, place);
    MUST(code == SFU_OK || (code < 0 && code >= SFU_E_ROW && code != SFU_E_NO_FDE && code != SFU_E_READONLY));
    MUST(code == SFU_OK || place->fde <= s->num_fdes);
    return code;
}

int try_find(const struct sfu_section *s, uint64_t pc, bool checked, struct sfu_row *row)
{
    struct sfu_row before;
    int code;

    memset(row, 0x5a, sizeof *row);
    before = *row;
    code = sfu_find(s, pc, row);
    if (code != SFU_OK) {
        MUST(memcmp(row, &before, sizeof before) == 0);
        MUST(code == SFU_E_NO_FDE || code == SFU_E_NO_ROW || code == SFU_E_FDE || code == SFU_E_ROW ||
             code == SFU_E_BOUNDS || (code == SFU_E_SECTION && s->bytes == NULL));
        MUST(!checked || (code != SFU_E_FDE && code != SFU_E_ROW && code != SFU_E_BOUNDS));
        return code;
    }
    MUST(pc - row->start < row->length && row->start - row->function <= pc - row->function);
    MUST(row->abi == s->abi && row->kind <= SFU_ROW_ASK);
    MUST(row->kind != SFU_ROW_RULES || row->cfa.control & 1);
    return code;
}

int try_sort(struct sfu_section *s, uint8_t *bytes)
{
    static uint8_t before[MAX_SECTION];
    struct sfu_section unsorted = *s;
    uint64_t tables = s->fdes + (uint64_t)s->num_fdes * s->fde_size;
    int code;

    memcpy(before, bytes, s->size);
    MUST(sfu_sort(s, NULL) == SFU_E_READONLY && sfu_sort(s, before) == SFU_E_READONLY);
    code = sfu_sort(s, bytes);
    if (code != SFU_OK) {
        MUST(code == SFU_E_READONLY);
        MUST(memcmp(before, bytes, s->size) == 0 && memcmp(s, &unsorted, sizeof unsorted) == 0);
        return code;
    }
    MUST((s->flags & 5) == 1 && s->flags == bytes[3]);
    MUST(memcmp(before, bytes, 3) == 0 && memcmp(before + 4, bytes + 4, s->fdes - 4) == 0);
    MUST(memcmp(before + tables, bytes + tables, s->size - tables) == 0);
    return code;
}

/* One read for each record. In a sorted table the start of one FDE for each halving, and start and size of the last one
 * and of those that are empty; in an unsorted one start and size of each. Then the rest of the FDE and its attributes,
 * the head of each of its rows, of at least 2 bytes, and the words of one. */
uint32_t most_reads(const struct sfu_section *s, const struct table *t)
{
    uint32_t halvings = 0, rows = 0, most = (uint32_t)(s->end - s->rows) / 2;

    while (s->num_fdes >> halvings != 0)
        halvings++;
    for (unsigned i = 0; i < t->num_fdes; i++)
        if (t->fde[i].num_rows > rows)
            rows = t->fde[i].num_rows;
    if (rows > most)
        rows = most;
    return (s->flags & 1 ? halvings + table_empties(t) + 1 : s->num_fdes) + 2 + rows + 1;
}

/* Three records of each FDE, the head and the words of each row, and the places where a second header may be. */
uint32_t most_check_reads(const struct sfu_section *s)
{
    return 3 * s->num_fdes + 2 * ((s->end - s->rows) / 2) + 8;
}

unsigned interesting_pcs(const struct table *t, uint64_t *pcs)
{
    unsigned n = 0;

    pcs[n++] = t->addr;
    pcs[n++] = UINT64_MAX;
    for (unsigned i = 0; i < t->num_fdes && n + 8 <= MAX_PCS; i++) {
        const struct table_fde *f = &t->fde[i];

        pcs[n++] = f->start - 1;
        pcs[n++] = f->start;
        pcs[n++] = f->start + f->size;
        pcs[n++] = f->start + f->size - 1;
        for (unsigned r = 0; r < f->decoded && n + 2 <= MAX_PCS; r++) {
            uint64_t at = f->start + t->row[f->first + r].start;

            pcs[n++] = at;
            pcs[n++] = f->info & 0x10 ? at + f->repeat : at - 1;
        }
    }
    return n;
}
