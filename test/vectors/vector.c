/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "vector.h"

#include <err.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number of LEN bytes: a group of hexadecimal digits. */
struct group {
    uint64_t value;
    size_t at; /* its offset in the section */
    unsigned len;
};

enum { GROUPS = 2048, VALUES = 256, DEFAULT_AT = 0x400000 };

/* A file as far as it has been read: the last section, and the vector that is being read. */
struct reader {
    const char *file, *pattern;
    vector_fn *begin, *run, *end;
    struct group groups[GROUPS]; /* the section; behind it, what the vector puts in its place */
    unsigned num_groups, num_bytes_groups;
    size_t size;
    uint64_t at;
    uint8_t values[VALUES]; /* of the byte at EACH, in turn; none: nothing is changed */
    unsigned num_values;
    size_t each;
    size_t first_size, last_size;
    bool has_spec, has_vector;
    struct vector v;
};

static void fail(const struct reader *r, int number, const char *what)
{
    errx(2, "%s:%d: %s", r->file, number, what);
}

/* The number that TEXT begins with. *END becomes what follows. */
static uint64_t hex(const struct reader *r, int number, const char *text, char **end)
{
    uint64_t value;

    errno = 0;
    value = strtoull(text, end, 16);
    if (*end == text || errno != 0 || strchr("0123456789abcdef", *text) == NULL)
        fail(r, number, "a number is missing or too large");
    return value;
}

/* FIRST..LAST, or one number for both. */
static void range(const struct reader *r, int number, const char *text, uint64_t *first, uint64_t *last)
{
    char *end;

    *first = *last = hex(r, number, text, &end);
    if (strncmp(end, "..", 2) == 0)
        *last = hex(r, number, end + 2, &end);
    if (*end != '\0' || *last < *first)
        fail(r, number, "not a range of numbers");
}

/* ---- Sections -------------------------------------------------------------------------------------------------- */

/* Adds the groups of digits in TEXT, which begin at offset AT. Returns the offset behind them. */
static size_t add_groups(struct reader *r, int number, char *text, size_t at)
{
    char *end;

    for (char *token = strtok(text, " "); token != NULL; token = strtok(NULL, " ")) {
        struct group *g = &r->groups[r->num_groups++];
        size_t digits = strlen(token);

        if (r->num_groups == GROUPS || (digits != 2 && digits != 4 && digits != 8 && digits != 16))
            fail(r, number, "not 2, 4, 8 or 16 digits");
        g->value = hex(r, number, token, &end);
        if (*end != '\0' || at + digits / 2 > VECTOR_BYTES)
            fail(r, number, "no digits, or too many");
        g->at = at;
        g->len = (unsigned)digits / 2;
        at += g->len;
    }
    return at;
}

static void render(const struct reader *r, struct vector *v, int value)
{
    memset(v->bytes, 0, sizeof v->bytes);
    for (unsigned i = 0; i < r->num_groups; i++) {
        const struct group *g = &r->groups[i];

        for (unsigned k = 0; k < g->len; k++)
            v->bytes[g->at + (v->big ? g->len - 1 - k : k)] = (uint8_t)(g->value >> 8 * k);
    }
    if (value >= 0)
        v->bytes[r->each] = (uint8_t)value;
}

/* The vector with VALUE (-1: none) and the size SIZE, in both byte orders. */
static void run_orders(struct reader *r, int value, size_t size)
{
    struct vector *v = &r->v;

    for (unsigned other = 0; other < 2; other++) {
        v->big = false;
        render(r, v, value);
        v->big = vector_abi(v)->big != (other == 1);
        v->own = other == 0;
        v->size = size;
        render(r, v, value);
        r->run(v);
    }
}

static bool is_wanted(const struct reader *r)
{
    char pattern[sizeof r->v.name + 2];

    if (r->pattern == NULL || strstr(r->v.name, r->pattern) != NULL)
        return true;
    if (snprintf(pattern, sizeof pattern, "*%s*", r->pattern) >= (int)sizeof pattern)
        return false;
    return fnmatch(pattern, r->v.name, 0) == 0;
}

static void run_vector(struct reader *r)
{
    struct vector *v = &r->v;

    if (!r->has_vector)
        return;
    if (!r->has_spec || v->num_lines == 0 || r->size == 0)
        fail(r, v->number, "a vector without a paragraph, a section or what is expected");
    if (!is_wanted(r))
        return;
    v->at = r->at;
    r->begin(v);
    for (size_t size = r->first_size; size <= r->last_size; size++) {
        for (unsigned i = 0; i < r->num_values; i++)
            run_orders(r, r->values[i], size);
        if (r->num_values == 0)
            run_orders(r, -1, size);
    }
    r->end(v);
}

static void begin_vector(struct reader *r, int number, const char *name)
{
    run_vector(r);
    if (snprintf(r->v.name, sizeof r->v.name, "%s", name) >= (int)sizeof r->v.name)
        fail(r, number, "a long name");
    r->v.file = r->file;
    r->v.number = number;
    for (unsigned i = 0; i < r->v.num_lines; i++)
        free((void *)(uintptr_t)r->v.lines[i].text);
    r->v.num_lines = 0;
    r->has_vector = true;
    r->at = DEFAULT_AT;
    r->num_groups = r->num_bytes_groups;
    r->num_values = 0;
    r->first_size = r->last_size = r->size;
}

static void read_each(struct reader *r, int number, char *text)
{
    char *end;
    uint64_t first, last;

    r->each = (size_t)hex(r, number, strtok(text, " "), &end);
    for (char *token = strtok(NULL, " "); token != NULL; token = strtok(NULL, " ")) {
        range(r, number, token, &first, &last);
        for (; first <= last; first++) {
            if (r->num_values == VALUES || first > 0xff)
                fail(r, number, "no byte, or too many");
            r->values[r->num_values++] = (uint8_t)first;
        }
    }
    if (r->num_values == 0 || r->each >= r->size)
        fail(r, number, "no values, or not in the section");
}

static void read_size(struct reader *r, int number, const char *text)
{
    uint64_t first, last;

    range(r, number, text, &first, &last);
    if (last > VECTOR_BYTES)
        fail(r, number, "too large");
    r->first_size = (size_t)first;
    r->last_size = (size_t)last;
}

static void keep_line(struct reader *r, int number, const char *text)
{
    struct line *line = &r->v.lines[r->v.num_lines++];
    struct expect e;

    if (r->v.num_lines == VECTOR_LINES || (line->text = strdup(text)) == NULL)
        fail(r, number, "too many lines");
    line->number = number;
    r->v.bytes[4] = 3; /* whatever the ABI is: only whether it can be read */
    vector_expect(&r->v, r->v.num_lines - 1, &e);
}

/* TEXT has no comment and no blanks around it. */
static void read_line(struct reader *r, int number, char *text, bool *in_bytes)
{
    char *rest = strchr(text, ' ');
    size_t len = rest != NULL ? (size_t)(rest - text) : strlen(text);
    char *end;

#define IS(word) (len == sizeof(word) - 1 && strncmp(text, word, len) == 0)
    if (*in_bytes && strspn(text, "0123456789abcdef ") == strlen(text)) {
        r->size = r->first_size = r->last_size = add_groups(r, number, text, r->size);
        r->num_bytes_groups = r->num_groups;
        return;
    }
    *in_bytes = IS("bytes");
    if (*in_bytes)
        r->num_groups = r->num_bytes_groups = 0, r->size = 0;
    else if (rest != NULL && IS("spec"))
        r->has_spec = true;
    else if (rest != NULL && IS("vector"))
        begin_vector(r, number, rest + 1);
    else if (!r->has_vector || rest == NULL)
        fail(r, number, "a line of no vector, or of one word");
    else if (IS("at"))
        r->at = hex(r, number, rest + 1, &end);
    else if (IS("with")) {
        size_t at = (size_t)hex(r, number, rest + 1, &end);

        (void)add_groups(r, number, end, at);
    } else if (IS("each"))
        read_each(r, number, rest + 1);
    else if (IS("size"))
        read_size(r, number, rest + 1);
    else
        keep_line(r, number, text);
#undef IS
}

void vectors_read(const char *file, const char *pattern, vector_fn *begin, vector_fn *run, vector_fn *end)
{
    static struct reader r;
    FILE *f = fopen(file, "r");
    char buffer[256];
    bool in_bytes = false;

    if (f == NULL)
        err(2, "%s", file);
    memset(&r, 0, sizeof r);
    r.file = file;
    r.pattern = pattern;
    r.begin = begin;
    r.run = run;
    r.end = end;
    for (int number = 1; fgets(buffer, sizeof buffer, f) != NULL; number++) {
        char *text = buffer + strspn(buffer, " ");
        char *stop = text + strcspn(text, ";\n");

        while (stop > text && stop[-1] == ' ')
            stop--;
        *stop = '\0';
        if (*text != '\0')
            read_line(&r, number, text, &in_bytes);
    }
    begin_vector(&r, 0, "");
    fclose(f);
}

/* ---- What is expected ------------------------------------------------------------------------------------------ */

const struct abi *vector_abi(const struct vector *v)
{
    static const struct abi abis[] = {
        [1] = {31, 29, 30, true, 8},     [2] = {31, 29, 30, false, 8},   [3] = {7, 6, 255, false, 8},
        [4] = {15, 11, 14, true, 8},     [0x81] = {2, 8, 1, false, 8},   [0x82] = {2, 8, 1, false, 4},
        [0x83] = {13, 11, 14, false, 4}, [0x84] = {13, 7, 14, false, 4}, [0x85] = {4, 5, 255, false, 4}};
    const uint8_t number = v->bytes[4];

    return &abis[number < sizeof abis / sizeof abis[0] && abis[number].word != 0 ? number : 3];
}

/* What is being read: a line of V. */
struct text {
    const struct vector *v;
    int number;
};

static void wrong(const struct text *t, const char *what)
{
    errx(2, "%s:%d: %s", t->v->file, t->number, what);
}

static uint64_t hex_of(const struct text *t, const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 16);

    if (end == text || *end != '\0')
        wrong(t, "no number");
    return value;
}

/* The register that TEXT begins with: sp, fp or r and its number; or the CFA, for which *IS_REGISTER is false. */
static uint32_t base_of(const struct text *t, const char *text, bool *is_register)
{
    const struct abi *abi = vector_abi(t->v);

    *is_register = strncmp(text, "cfa", 3) != 0;
    if (!*is_register)
        return 0;
    if (strncmp(text, "sp", 2) == 0 || strncmp(text, "fp", 2) == 0)
        return *text == 's' ? abi->sp : abi->fp;
    if (*text != 'r')
        wrong(t, "no register");
    return (uint32_t)strtoul(text + 1, NULL, 10);
}

/* base+offset, or [base+offset] for what is there, or "same": the register OWN keeps its value. */
static void read_rule(const struct text *t, const char *text, uint32_t own, struct rule *rule)
{
    bool dereference = *text == '[', is_register = true;
    uint32_t base = own;
    long long offset = 0;

    if (strcmp(text, "same") != 0) {
        const char *sign = text + strcspn(text, "+-");
        char *end;

        base = base_of(t, text + dereference, &is_register);
        offset = strtoll(sign, &end, 10);
        if (end == sign || strcmp(end, dereference ? "]" : "") != 0 || offset != (int32_t)offset)
            wrong(t, "no rule");
    }
    rule->control = base << 3 | (dereference ? 2 : 0) | (is_register ? 1 : 0);
    rule->offset = (int32_t)offset;
}

static void set_reason(const struct text *t, struct expect *e, const char *word)
{
    if (snprintf(e->reason, sizeof e->reason, "%s", word) >= (int)sizeof e->reason)
        wrong(t, "a long reason");
}

/* The words behind the PCs: all three rules, or a reason; signal, signed. */
static void read_pcs(const struct text *t, struct expect *e, char **save)
{
    const struct abi *abi = vector_abi(t->v);
    unsigned rules = 0;

    set_reason(t, e, "ok");
    for (char *word = strtok_r(NULL, " ", save); word != NULL; word = strtok_r(NULL, " ", save)) {
        if (strncmp(word, "cfa=", 4) == 0) {
            read_rule(t, word + 4, abi->sp, &e->cfa);
            rules |= 1;
        } else if (strncmp(word, "ra=", 3) == 0) {
            read_rule(t, word + 3, abi->ra, &e->ra);
            rules |= 2;
        } else if (strncmp(word, "fp=", 3) == 0) {
            read_rule(t, word + 3, abi->fp, &e->fp);
            rules |= 4;
        } else if (strcmp(word, "signal") == 0) {
            e->signal = true;
        } else if (strcmp(word, "signed") == 0) {
            e->signed_ra = true;
        } else {
            set_reason(t, e, word);
        }
    }
    if (rules != (strcmp(e->reason, "ok") == 0 ? 7u : 0u))
        wrong(t, "three rules, or a reason");
}

/* NAME=VALUE of a step, where NAME is that of a register or an address in brackets. */
static void read_value(const struct text *t, struct step *s, struct frame *frame, char *word)
{
    char *equals = strchr(word, '=');
    uint64_t value;

    if (equals == NULL)
        wrong(t, "no value");
    value = hex_of(t, equals + 1);
    *equals = '\0';
    if (strcmp(word, "pc") == 0)
        frame->pc = value;
    else if (strcmp(word, "sp") == 0)
        frame->sp = value;
    else if (strcmp(word, "fp") == 0)
        frame->fp = value;
    else if (strcmp(word, "ra") == 0)
        frame->ra = value, frame->has_ra = true;
    else if (*word == '[' && equals[-1] == ']' && s->words < VECTOR_WORDS) {
        equals[-1] = '\0';
        s->addresses[s->words] = hex_of(t, word + 1);
        s->values[s->words++] = value;
    } else if (*word == 'r' && strtoul(word + 1, NULL, 10) < VECTOR_REGISTERS) {
        s->registers[strtoul(word + 1, NULL, 10)] = value;
        s->known |= (uint64_t)1 << strtoul(word + 1, NULL, 10);
    } else
        wrong(t, "not a register or an address");
}

/* The frame that is left, an arrow, and the frame that is reached or a reason. */
static void read_step(const struct text *t, struct expect *e, char **save)
{
    struct frame *frame = &e->step.before;

    set_reason(t, e, "ok");
    for (char *word = strtok_r(NULL, " ", save); word != NULL; word = strtok_r(NULL, " ", save))
        if (strcmp(word, "->") == 0)
            frame = &e->step.after;
        else if (strcmp(word, "exact") == 0)
            frame->exact = true;
        else if (strchr(word, '=') == NULL && frame == &e->step.after)
            set_reason(t, e, word);
        else
            read_value(t, &e->step, frame, word);
    if (frame == &e->step.before)
        wrong(t, "no arrow");
}

/* The first word after the kind is a number for all but open and whole. */
static void read_other(const struct text *t, struct expect *e, char **save)
{
    const char *word = strtok_r(NULL, " ", save);
    const char *first, *last;

    if (word == NULL)
        wrong(t, "a word is missing");
    if (e->kind == EXPECT_FUNCTION ||
        (e->kind == EXPECT_NEXT && strspn(word, "0123456789abcdef") == strlen(word))) {
        set_reason(t, e, "ok");
        e->first = hex_of(t, word);
        return;
    }
    set_reason(t, e, word);
    if (e->kind != EXPECT_WHOLE || strcmp(word, "ok") == 0)
        return;
    first = strtok_r(NULL, " ", save);
    last = strtok_r(NULL, " ", save);
    if (first == NULL || last == NULL)
        wrong(t, "the function and the row are missing");
    e->first = hex_of(t, first);
    e->last = hex_of(t, last);
}

void vector_expect(const struct vector *v, unsigned index, struct expect *e)
{
    static const char *const kinds[] = {"open", "whole", "function", "", "next", "step"};
    struct text t = {v, v->lines[index].number};
    char buffer[256], *save, *dots, *word;

    memset(e, 0, sizeof *e);
    (void)snprintf(buffer, sizeof buffer, "%s", v->lines[index].text);
    word = strtok_r(buffer, " ", &save);
    e->kind = EXPECT_PCS;
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(word, kinds[i]) == 0)
            e->kind = (enum expect_kind)i;
    if (e->kind == EXPECT_STEP)
        read_step(&t, e, &save);
    else if (e->kind != EXPECT_PCS)
        read_other(&t, e, &save);
    if (e->kind != EXPECT_PCS)
        return;
    dots = strstr(word, "..");
    if (dots != NULL)
        *dots = '\0';
    e->first = e->last = hex_of(&t, word);
    if (dots != NULL)
        e->last = hex_of(&t, dots + 2);
    read_pcs(&t, e, &save);
}
