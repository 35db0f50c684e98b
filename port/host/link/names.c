/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "names.h"

#include <stdlib.h>
#include <string.h>

enum { PER_BLOCK = 16, FIRST_TOKEN = 128, MAX_TOKENS = 128, SAMPLE = 3000, MAX_NAME = 255 };

/* ---- Functions ------------------------------------------------------------------------------------------------- */

struct named {
    uint64_t start, size;
    const char *name;
    unsigned rank; /* less counts more: global, local, weak */
};

struct found {
    const struct image *image;
    struct named *list;
    size_t num;
};

/* An image_symbol_fn. */
static void add_named(void *ctx, const GElf_Sym *sym, const char *name)
{
    static const unsigned ranks[] = {[STB_LOCAL] = 1, [STB_GLOBAL] = 0, [STB_WEAK] = 2};
    const unsigned type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info);
    struct found *found = ctx;

    if ((type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC) || sym->st_shndx == SHN_UNDEF ||
        sym->st_shndx == SHN_ABS || name[0] == '\0' || name[0] == '$' || strncmp(name, ".L", 2) == 0 ||
        image_code(found->image, sym->st_value) == NULL)
        return;
    found->list = grow(found->list, found->num, sizeof *found->list);
    found->list[found->num++] = (struct named){sym->st_value, sym->st_size, name, bind < 3 ? ranks[bind] : 3};
}

/* By address; of several at one, the one that counts comes first. */
static int by_start(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    size_t x_length, y_length;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    x_length = strlen(x->name);
    y_length = strlen(y->name);
    if (x_length != y_length)
        return x_length < y_length ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Leaves one name for each address, gives each function its end, and returns how many there are. A label without a size
 * counts only if LABELS, and outside of functions that have one. */
static size_t choose(const struct image *image, struct named *list, size_t num, bool labels)
{
    uint64_t covered = 0; /* where the last function that has a size ends */
    size_t i, kept = 0;

    for (i = 0; i < num; i++) {
        if (kept > 0 && list[kept - 1].start == list[i].start)
            continue;
        if (list[i].size == 0 && (!labels || list[i].start < covered))
            continue;
        if (list[i].size > 0 && list[i].start + list[i].size > covered)
            covered = list[i].start + list[i].size;
        list[kept++] = list[i];
    }
    for (i = 0; i < kept; i++) {
        const struct section *code = image_code(image, list[i].start);
        uint64_t end = code->addr + code->size;

        if (i + 1 < kept && list[i + 1].start < end)
            end = list[i + 1].start;
        if (list[i].size == 0 || list[i].size > end - list[i].start)
            list[i].size = end - list[i].start;
    }
    return kept;
}

/* ---- Tokens ---------------------------------------------------------------------------------------------------- */

/* Names with a newline between two, whose pairs of characters become tokens. */
struct text {
    uint8_t *bytes;
    size_t size;
};

static void replace_pair(struct text *text, uint8_t a, uint8_t b, uint8_t code)
{
    size_t from, to = 0;

    for (from = 0; from < text->size; to++)
        if (text->bytes[from] == a && from + 1 < text->size && text->bytes[from + 1] == b) {
            text->bytes[to] = code;
            from += 2;
        } else {
            text->bytes[to] = text->bytes[from++];
        }
    text->size = to;
}

struct token {
    uint8_t *text;
    size_t size;
};

static size_t length_of(const struct token *tokens, unsigned code)
{
    return code >= FIRST_TOKEN ? tokens[code - FIRST_TOKEN].size : 1;
}

/* The pair in SAMPLE, every STEPth name, that saves the most bytes; of equal ones the highest. Returns 256 * a + b; 0
 * if none saves any. */
static unsigned best_pair(const struct text *sample, const struct token *tokens, size_t step)
{
    static uint32_t counts[256][256];
    int64_t best_saved = 0;
    unsigned a, b, best = 0;
    size_t i;

    memset(counts, 0, sizeof counts);
    for (i = 0; i + 1 < sample->size; i++)
        counts[sample->bytes[i]][sample->bytes[i + 1]]++;
    for (a = 0; a < 256; a++)
        for (b = 0; b < 256; b++) {
            int64_t size = (int64_t)(length_of(tokens, a) + length_of(tokens, b));
            int64_t saved = (int64_t)counts[a][b] * (int64_t)step - size - 2;

            if (counts[a][b] > 0 && a != '\n' && b != '\n' && saved >= best_saved) {
                best_saved = saved;
                best = a << 8 | b;
            }
        }
    return best;
}

static void join_token(struct token *tokens, unsigned num, unsigned pair)
{
    const unsigned halves[2] = {pair >> 8, pair & 255};
    struct token *token = &tokens[num];
    unsigned i;

    token->text = zeroed(length_of(tokens, halves[0]) + length_of(tokens, halves[1]), 1);
    token->size = 0;
    for (i = 0; i < 2; i++) {
        const uint8_t letter = (uint8_t)halves[i];
        const size_t size = length_of(tokens, halves[i]);

        memcpy(token->text + token->size, halves[i] >= FIRST_TOKEN ? tokens[halves[i] - FIRST_TOKEN].text : &letter,
               size);
        token->size += size;
    }
}

/* Of each pair of characters: the number of the token that it became, + 1; or 0. */
struct ranks {
    uint8_t of[256][256];
};

/* Chooses tokens. Returns how many there are. */
static unsigned choose_tokens(struct text *sample, size_t step, struct token *tokens, struct ranks *ranks)
{
    unsigned num, pair;

    for (num = 0; num < MAX_TOKENS && (pair = best_pair(sample, tokens, step)) != 0; num++) {
        join_token(tokens, num, pair);
        replace_pair(sample, (uint8_t)(pair >> 8), (uint8_t)pair, (uint8_t)(FIRST_TOKEN + num));
        ranks->of[pair >> 8][pair & 255] = (uint8_t)(num + 1);
    }
    return num;
}

/* The first token that NAME has the pair of: the pair is at *AT. 0: there is none; else it is as in RANKS. */
static unsigned first_token(const struct text *name, const struct ranks *ranks, size_t *at)
{
    unsigned first = 0;
    size_t i;

    for (i = 0; i + 1 < name->size; i++) {
        const unsigned rank = ranks->of[name->bytes[i]][name->bytes[i + 1]];

        if (rank != 0 && (first == 0 || rank < first)) {
            first = rank;
            *at = i;
        }
    }
    return first;
}

/* Writes each name of EVERY with tokens, those that were chosen first in front of others. A pair that has a token in it
 * was chosen behind that. */
static void take_tokens(struct text *every, const struct ranks *ranks)
{
    size_t from, size, to = 0, at = 0;

    for (from = 0; from < every->size; from += size + 1) {
        const uint8_t *stop = memchr(every->bytes + from, '\n', every->size - from);
        struct text name = {every->bytes + from, 0};
        unsigned rank;

        size = name.size = stop != NULL ? (size_t)(stop - name.bytes) : every->size - from;
        while ((rank = first_token(&name, ranks, &at)) != 0)
            replace_pair(&name, name.bytes[at], name.bytes[at + 1], (uint8_t)(FIRST_TOKEN + rank - 1));
        memmove(every->bytes + to, name.bytes, name.size);
        to += name.size;
        if (stop != NULL)
            every->bytes[to++] = '\n';
    }
    every->size = to;
}

/* ---- The table ------------------------------------------------------------------------------------------------- */

/* Every STEPth name of LIST. */
static struct text names_of(const struct named *list, size_t num, size_t step)
{
    struct text text = {NULL, 0};
    size_t i, k, size = 1;

    for (i = 0; i < num; i += step)
        size += strnlen(list[i].name, MAX_NAME) + 1;
    text.bytes = zeroed(size, 1);
    for (i = 0; i < num; i += step) {
        if (i > 0)
            text.bytes[text.size++] = '\n';
        for (k = 0; k < MAX_NAME && list[i].name[k] != '\0'; k++) {
            const char c = list[i].name[k];

            text.bytes[text.size++] = (uint8_t)(c >= 32 && c < 127 ? c : '?');
        }
    }
    return text;
}

static size_t put_uleb(uint8_t *to, uint64_t value)
{
    size_t size = 0;

    while (value >= 128) {
        to[size++] = (uint8_t)((value & 127) | 128);
        value >>= 7;
    }
    to[size++] = (uint8_t)value;
    return size;
}

/* The blocks and the entries of the table, which begin at AT. */
static void put_entries(struct names *names, const struct named *list, const struct text *every, size_t at)
{
    const uint8_t *name = every->bytes, *end = every->bytes + every->size;
    size_t i;

    for (i = 0; i < names->num; i++) {
        const uint8_t *stop = memchr(name, '\n', (size_t)(end - name));
        const size_t size = (size_t)((stop != NULL ? stop : end) - name);
        const uint64_t next = i + 1 < names->num ? list[i + 1].start : list[i].start + list[i].size;

        if (i % PER_BLOCK == 0) {
            uint8_t *block = names->bytes + 12 + i / PER_BLOCK * 8;

            store_number(block, 4, false, list[i].start - names->base);
            store_number(block + 4, 4, false, at);
        }
        at += put_uleb(names->bytes + at, list[i].size);
        names->bytes[at++] = (uint8_t)size;
        memcpy(names->bytes + at, name, size);
        at += size;
        at += put_uleb(names->bytes + at, next - list[i].start - list[i].size);
        name += size + 1;
    }
    names->size = at;
}

static void put_table(struct names *names, const struct named *list)
{
    const size_t step = names->num / SAMPLE > 1 ? names->num / SAMPLE : 1, blocks = (names->num + 15) / PER_BLOCK;
    struct text sample = names_of(list, names->num, step), every = names_of(list, names->num, 1);
    struct token tokens[MAX_TOKENS];
    struct ranks *ranks = zeroed(1, sizeof *ranks);
    unsigned num, i;
    size_t at, end = 0;

    memset(tokens, 0, sizeof tokens);
    num = choose_tokens(&sample, step, tokens, ranks);
    take_tokens(&every, ranks);
    free(ranks);
    for (i = 0; i < num; i++)
        end += tokens[i].size;
    at = 12 + 8 * blocks + 2 * (size_t)num;
    names->bytes =
        zeroed(at + end + every.size + names->num * 21, 1); /* two ULEB128s of at most 10 bytes, a length */
    memcpy(names->bytes, "sfs1", 4);
    store_number(names->bytes + 4, 4, false, blocks);
    store_number(names->bytes + 8, 4, false, num);
    for (i = 0, end = 0; i < num; i++) {
        memcpy(names->bytes + at + end, tokens[i].text, tokens[i].size);
        end += tokens[i].size;
        store_number(names->bytes + 12 + 8 * blocks + 2 * (size_t)i, 2, false, end);
        free(tokens[i].text);
    }
    put_entries(names, list, &every, at + end);
    free(sample.bytes);
    free(every.bytes);
}

void names_make(struct image *image, uint64_t near, bool labels, struct names *names)
{
    enum { REACH = 0x7fffffff };
    struct found found = {image, NULL, 0};
    size_t first = 0;

    memset(names, 0, sizeof *names);
    if (!image_each_symbol(image, SHT_SYMTAB, add_named, &found) || found.num == 0) {
        free(found.list);
        return;
    }
    qsort(found.list, found.num, sizeof *found.list, by_start);
    names->num = choose(image, found.list, found.num, labels);
    while (first < names->num && found.list[first].start < near && near - found.list[first].start > REACH)
        first++;
    while (names->num > first && found.list[names->num - 1].start > near &&
           found.list[names->num - 1].start - near > REACH)
        names->num--;
    names->num -= first;
    if (names->num > 0) {
        names->base = found.list[first].start;
        put_table(names, found.list + first);
    }
    free(found.list);
}
