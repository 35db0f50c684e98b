/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Which entry of call frame information says what of which code.
 *
 * An entry is dead if the linker has dropped its function (--gc-sections, COMDAT, identical code): linkers take dead
 * entries out of .eh_frame, and leave them in .debug_frame, as a debugger's matter. The start of a dead entry is then
 * what the linker has put in the place of an address: GNU ld, lld and mold write 0, lld 1 or the highest addresses if
 * it is asked to, gold 0 and the distance of the function from the start of its section. Where no code is at such an
 * address, nobody asks. Where code is at 0, as in the flash of most Cortex-M, a dead entry would speak of vectors and
 * of living functions. What decides is what is there, and never that a symbol is not:
 *
 *     at 0 or 1   alive if a function's symbol has exactly this place and length; dead if a function's symbol there has
 *                 another length, if the next function begins before the entry ends, or if there are data; else alive
 *                 if it is written as a distance, which of a dead one would not lead to 0, or if the next entry of its
 *                 object begins where it ends; dead if nothing begins there, and undecided if something else does
 *     elsewhere   dead if it begins in one function's symbol and ends in another place than that, or overlaps an entry
 *                 that is alive for a better reason than itself: two functions never share code
 */
#include "cfi.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- What lies at 0 -------------------------------------------------------------------------------------------- */

/* Functions are aligned to at most so much. */
enum { ALIGNED = 16 };

/* How sure it is that an entry is alive. Of two that overlap the surer one counts, and of equals neither. */
enum rank { BEYOND, UNSURE, LOW, PLAIN, EXACT, RANKS };

struct candidate {
    struct cfi_span span;
    enum rank rank;
    bool dead;
};

struct candidates {
    struct candidate *list;
    size_t num, dropped;
};

/* What is known of the code at 0, for entries that begin there. */
struct low {
    bool read, data;
    uint64_t function; /* the lowest start of a function above 1, by its symbol */
    uint64_t *starts;  /* of other entries, in order; to be freed */
    size_t num_starts;
};

/* Whether START is what a linker writes in the place of an address that there is not. */
static bool is_tombstone(const struct cfi *cfi, uint64_t start)
{
    const uint64_t highest = cfi->image->registers->word == 4 ? UINT32_MAX : UINT64_MAX;

    return start <= 1 || start >= highest - 1;
}

/* An image_symbol_fn: whether data are at 0. A mapping symbol says so ($d), or an object's type. */
static void find_data(void *ctx, const GElf_Sym *sym, const char *name)
{
    if (sym->st_value <= 1 && sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS &&
        (GELF_ST_TYPE(sym->st_info) == STT_OBJECT || strncmp(name, "$d", 2) == 0))
        *(bool *)ctx = true;
}

/* Whether the words at 0 are vectors of a Cortex-M: an SP, which is not in code, and the reset handler, whose bit 0
 * says that it is Thumb code. */
static bool has_vectors(struct image *image)
{
    const uint8_t *p = abi_is_arm(image->abi) ? image_bytes(image, 0, 8) : NULL;
    uint64_t sp = p != NULL ? load_number(p, 4, image->big) : 1;
    uint64_t reset = p != NULL ? load_number(p + 4, 4, image->big) : 0;

    return sp % 4 == 0 && image_code(image, sp) == NULL && reset & 1 && image_code(image, reset) != NULL;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void read_low(const struct cfi *cfi, struct low *low)
{
    size_t i;

    low->read = true;
    low->function = UINT64_MAX;
    for (i = 0; i < cfi->image->num_symbols; i++)
        if (cfi->image->symbols[i].function && cfi->image->symbols[i].addr > 1) {
            low->function = cfi->image->symbols[i].addr;
            break;
        }
    /* Symbols that cannot be read have failed before. */
    (void)image_each_symbol(cfi->image, SHT_SYMTAB, find_data, &low->data);
    low->data |= has_vectors(cfi->image);
    low->starts = zeroed(cfi->num_fdes, sizeof *low->starts);
    for (i = 0; i < cfi->num_fdes; i++)
        if (!is_tombstone(cfi, cfi->fdes[i].start) && cfi->fdes[i].rows == NULL)
            low->starts[low->num_starts++] = cfi->fdes[i].start;
    put_in_order(low->starts, low->num_starts, sizeof *low->starts, by_number);
}

/* Whether something else begins at END, or behind what fills up the alignment of a function from there on. */
static bool ends_well(const struct cfi *cfi, const struct low *low, uint64_t end)
{
    const struct image *image = cfi->image;
    const struct section *code = image_code(image, end - 1);
    uint64_t next = code != NULL ? code->addr + code->size : end;
    size_t symbol = count_up_to(image->symbols, image->num_symbols, sizeof *image->symbols,
                                offsetof(struct symbol, addr), end - 1);
    size_t start = count_up_to(low->starts, low->num_starts, sizeof *low->starts, 0, end - 1);

    if (symbol < image->num_symbols && image->symbols[symbol].addr < next)
        next = image->symbols[symbol].addr;
    if (start < low->num_starts && low->starts[start] < next)
        next = low->starts[start];
    return next - end < ALIGNED && image_is_padding(cfi->image, end, next);
}

/* The last of the functions' symbols at ADDR, which is the largest; or NULL. */
static const struct symbol *function_at(const struct image *image, uint64_t addr)
{
    size_t n = count_up_to(image->symbols, image->num_symbols, sizeof *image->symbols,
                           offsetof(struct symbol, addr), addr);
    const struct symbol *symbol = n > 0 ? &image->symbols[n - 1] : NULL;

    return symbol != NULL && symbol->addr == addr && symbol->function && symbol->size > 0 ? symbol : NULL;
}

/* Whether a function's symbol has the place and the length of FDE. Symbols are by address, and then by size. */
static bool has_symbol(const struct image *image, const struct cfi_fde *fde)
{
    size_t first = 0, end = image->num_symbols;

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const struct symbol *s = &image->symbols[middle];

        if (s->addr < fde->start || (s->addr == fde->start && s->size < fde->size))
            first = middle + 1;
        else
            end = middle;
    }
    return first < image->num_symbols && image->symbols[first].addr == fde->start &&
           image->symbols[first].size == fde->size;
}

enum low_life { DEAD, UNDECIDED, ALIVE };

/* Whether FDE, which begins where a linker has no address to name, is alive. It has no symbol of its length. */
static enum low_life life_of(const struct cfi *cfi, const struct cfi_fde *fde, struct low *low)
{
    const uint64_t end = fde->start + fde->size;
    const struct cfi_fde *next = fde + 1;

    if (fde->start > 1)
        return DEAD;
    if (!low->read)
        read_low(cfi, low);
    if (low->data || function_at(cfi->image, fde->start) != NULL || low->function < end)
        return DEAD;
    if (cfi_is_relative(fde))
        return ALIVE;
    if (!ends_well(cfi, low, end))
        return DEAD;
    return next < cfi->fdes + cfi->num_fdes && next->cie == fde->cie && next->start >= end &&
                   next->start - end < ALIGNED
               ? ALIVE
               : UNDECIDED;
}

/* Whether FDE begins or ends in the middle of a function, and does not lie in it as a whole: gold's dead ones do. */
static bool crosses_symbols(const struct image *image, const struct cfi_fde *fde)
{
    const uint64_t end = fde->start + fde->size;
    const struct symbol *first = image_symbol(image, fde->start), *last = image_symbol(image, end - 1);

    if (first != NULL && first->addr == fde->start)
        return false;
    if (first != NULL && first->function && first->size > 0 && first->addr + first->size < end)
        return true;
    return last != NULL && last->function && last->addr > fde->start && last->size > 0 &&
           last->addr + last->size > end;
}

/* How sure it is that FDE, which begins in the section CODE, is alive; RANKS: it is dead. */
static enum rank rank_of(const struct cfi *cfi, const struct cfi_fde *fde, const struct section *code,
                         struct low *low)
{
    bool beyond = fde->size > code->size - (fde->start - code->addr) || fde->size > UINT32_MAX;

    if (fde->rows != NULL || (!beyond && has_symbol(cfi->image, fde)))
        return EXACT;
    if (is_tombstone(cfi, fde->start)) {
        static const enum rank ranks[] = {[DEAD] = RANKS, [UNDECIDED] = UNSURE, [ALIVE] = LOW};

        return beyond ? RANKS : ranks[life_of(cfi, fde, low)];
    }
    if (beyond)
        return BEYOND;
    return cfi_is_debug(fde) && !cfi_is_relative(fde) && crosses_symbols(cfi->image, fde) ? RANKS : PLAIN;
}

/* ---- Candidates ------------------------------------------------------------------------------------------------ */

static int by_start(const void *a, const void *b)
{
    const struct cfi_span *x = &((const struct candidate *)a)->span, *y = &((const struct candidate *)b)->span;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->fde > y->fde) - (x->fde < y->fde);
}

/* The entries of one source that lie in code, by address; they may overlap. */
static void collect(const struct cfi *cfi, bool debug, struct low *low, struct candidates *found)
{
    size_t i;

    for (i = 0; i < cfi->num_fdes; i++) {
        const struct cfi_fde *fde = &cfi->fdes[i];
        const struct section *code = image_code(cfi->image, fde->start);
        struct candidate c = {{fde->start, fde->start + fde->size, fde, NULL}, RANKS, false};

        if (cfi_is_debug(fde) != debug || fde->size == 0)
            continue;
        if (code != NULL)
            c.rank = rank_of(cfi, fde, code, low);
        if (c.rank == RANKS) {
            found->dropped++;
            continue;
        }
        if (c.rank == BEYOND)
            c.span =
                (struct cfi_span){fde->start, code->addr + code->size, NULL, "its CFI reaches beyond the section"};
        if (c.rank == UNSURE) {
            c.span.fde = NULL;
            c.span.why = "its CFI, which begins at 0, may be of a function that the linker has dropped: give the "
                         "function here a symbol with .type and .size";
        }
        found->list = grow(found->list, found->num, sizeof *found->list);
        found->list[found->num++] = c;
    }
    put_in_order(found->list, found->num, sizeof *found->list, by_start);
}

/* What the candidates of one rank take, as far as it has been looked at: the highest end of those up to each. */
struct taken {
    const struct candidate **list;
    uint64_t *ends;
    size_t num;
};

static void take_rank(const struct candidates *c, enum rank rank, struct taken *taken)
{
    size_t i;

    taken->num = 0;
    for (i = 0; i < c->num; i++) {
        const struct candidate *one = &c->list[i];

        if (one->rank != rank || one->dead)
            continue;
        taken->list[taken->num] = one;
        taken->ends[taken->num] = one->span.end;
        if (taken->num > 0 && taken->ends[taken->num - 1] > one->span.end)
            taken->ends[taken->num] = taken->ends[taken->num - 1];
        taken->num++;
    }
}

/* Whether anything of TAKEN shares code with SPAN: of those that begin before its end, one ends behind its start. */
static bool is_taken(const struct taken *taken, const struct cfi_span *span)
{
    size_t low = 0, high = taken->num;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (taken->list[middle]->span.start < span->end)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && taken->ends[low - 1] > span->start;
}

/* Drops what overlaps candidates of a higher rank. */
static void drop_dead(struct candidates *c)
{
    struct taken taken = {zeroed(c->num, sizeof *taken.list), zeroed(c->num, sizeof *taken.ends), 0};
    int rank;
    size_t i, num = 0;

    for (rank = EXACT; rank > BEYOND; rank--) {
        take_rank(c, (enum rank)rank, &taken);
        for (i = 0; i < c->num; i++)
            if ((int)c->list[i].rank < rank && is_taken(&taken, &c->list[i].span))
                c->list[i].dead = true;
    }
    free(taken.list);
    free(taken.ends);
    for (i = 0; i < c->num; i++)
        if (!c->list[i].dead)
            c->list[num++] = c->list[i];
    c->dropped += c->num - num;
    c->num = num;
}

/* ---- Spans ----------------------------------------------------------------------------------------------------- */

static int by_span_start(const void *a, const void *b)
{
    const struct cfi_span *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->fde > y->fde) - (x->fde < y->fde);
}

static void add_span(struct cfi_spans *spans, const struct cfi_span *span)
{
    spans->list = grow(spans->list, spans->num, sizeof *spans->list);
    spans->list[spans->num++] = *span;
}

/* Puts NEXT behind LAST, which it overlaps and which is alive as surely. What two entries say of the same code is no
 * use, unless they are the same. Of entries whose starts are absolute, one may be dead as a whole. */
static void settle_span(struct cfi_spans *spans, const struct cfi_span *next)
{
    struct cfi_span *last = &spans->list[spans->num - 1];

    if (last->fde != NULL && next->fde != NULL && cfi_is_same(last->fde, next->fde))
        return;
    if (last->fde != NULL && last->start < next->start && cfi_is_relative(last->fde)) {
        struct cfi_span both = {next->start, last->end > next->end ? last->end : next->end, NULL, NULL};

        both.why = "entries of CFI that overlap";
        last->end = next->start;
        add_span(spans, &both);
        return;
    }
    last->end = last->end > next->end ? last->end : next->end;
    last->fde = NULL;
    last->why = "entries of CFI that overlap";
}

/* Frees FROM, and makes TO of it, in which no two overlap. */
static void disentangle(struct candidates *from, struct cfi_spans *to)
{
    size_t i;

    drop_dead(from);
    for (i = 0; i < from->num; i++) {
        const struct cfi_span *next = &from->list[i].span;

        if (to->num > 0 && next->start < to->list[to->num - 1].end)
            settle_span(to, next);
        else
            add_span(to, next);
    }
    to->dropped = from->dropped;
    free(from->list);
}

/* Adds to RESULT the parts of SPAN that none of the spans of EH from number K on has. Returns whether any has a
 * part. */
static bool add_rest(const struct cfi_spans *eh, size_t k, const struct cfi_span *span, struct cfi_spans *result)
{
    struct cfi_span rest = *span;
    size_t n;

    for (n = k; n < eh->num && eh->list[n].start < rest.end; n++) {
        struct cfi_span before = rest;

        before.end = eh->list[n].start;
        if (before.start < before.end)
            add_span(result, &before);
        rest.start = eh->list[n].end;
    }
    if (rest.start < rest.end)
        add_span(result, &rest);
    return n > k;
}

/* Adds to RESULT those of EH, and those of DEBUG that have no code in common with them. Of one that has a part in
 * common the rest is alive if there is a symbol for it. */
static void unite_spans(const struct image *image, const struct cfi_spans *eh, const struct cfi_spans *debug,
                        struct cfi_spans *result)
{
    size_t i, k = 0;

    for (i = 0; i < eh->num; i++)
        add_span(result, &eh->list[i]);
    for (i = 0; i < debug->num; i++) {
        const struct cfi_span *span = &debug->list[i];
        size_t before = result->num;

        while (k < eh->num && eh->list[k].end <= span->start)
            k++;
        if (add_rest(eh, k, span, result) && result->num > before &&
            (span->fde == NULL || !has_symbol(image, span->fde))) {
            result->num = before;
            result->dropped++;
        }
    }
    if (eh->num > 0 && debug->num > 0)
        put_in_order(result->list, result->num, sizeof *result->list, by_span_start);
}

bool cfi_find_spans(const struct cfi *cfi, struct cfi_spans *spans)
{
    struct candidates all_eh = {0}, all_debug = {0};
    struct cfi_spans eh = {0}, debug = {0};
    struct low low = {0};

    memset(spans, 0, sizeof *spans);
    if (!image_symbols(cfi->image))
        return false;
    collect(cfi, false, &low, &all_eh);
    collect(cfi, true, &low, &all_debug);
    free(low.starts);
    disentangle(&all_eh, &eh);
    disentangle(&all_debug, &debug);
    spans->dropped = eh.dropped + debug.dropped;
    unite_spans(cfi->image, &eh, &debug, spans);
    free(eh.list);
    free(debug.list);
    return true;
}

const struct cfi_span *cfi_span_at(const struct cfi_spans *spans, uint64_t addr)
{
    size_t below =
        count_up_to(spans->list, spans->num, sizeof *spans->list, offsetof(struct cfi_span, start), addr);

    return below > 0 && addr < spans->list[below - 1].end ? &spans->list[below - 1] : NULL;
}
