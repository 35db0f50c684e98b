/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "mi.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_LINE = 1024 };

/* An object: what stands between two braces. */
struct object {
    const char *p, *end;
};

/* Finds TEXT from P on, up to END. Returns what stands behind it, or NULL. */
static const char *behind(const char *p, const char *end, const char *text)
{
    const size_t size = strlen(text);

    for (; (size_t)(end - p) >= size; p++)
        if (memcmp(p, text, size) == 0)
            return p + size;
    return NULL;
}

/* The number in BASE of the field NAME, which ends with "=" and a quote. */
static bool field(const struct object *o, const char *name, unsigned base, uint64_t *value)
{
    struct text t = {behind(o->p, o->end, name), o->end};

    return t.p != NULL && (base == 10 || text_take(&t, "0x")) && text_number(&t, base, 1, 16, value);
}

/* The name of the register that GDB counts as NUMBER, or NULL. */
static const char *register_name(const struct lines_names *names, uint64_t number)
{
    const struct formats *f = names->formats;
    size_t i;

    for (i = 0; i < f->num_texts; i++)
        if (f->texts[i].kind == FORMAT_GDB && (f->texts[i].cpus & names->cpu) != 0 && f->texts[i].reg == number)
            return f->texts[i].text;
    return NULL;
}

/* {number="15",value="0x8000"} */
static size_t put_register(const struct object *o, const struct lines_names *names, char *line)
{
    const char *name;
    uint64_t number, value;

    if (!field(o, "number=\"", 10, &number) || !field(o, "value=\"", 16, &value))
        return 0;
    name = register_name(names, number);
    return name != NULL ? (size_t)snprintf(line, MOST_LINE, "%s: 0x%" PRIx64, name, value) : 0;
}

/* The next of a list of numbers in quotes: "0x1", "0x2". */
static bool take_element(struct text *t, uint64_t *value, unsigned *digits)
{
    const char *from;

    while (t->p < t->end && (*t->p == ' ' || *t->p == ','))
        t->p++;
    if (!text_take(t, "\"0x"))
        return false;
    from = t->p;
    if (!text_number_to(t, '"', value))
        return false;
    *digits = (unsigned)(t->p - 1 - from);
    return true;
}

/* The bytes of an element: half its digits, if all have as many, else those of a word. */
static unsigned element_size(struct text t, unsigned word)
{
    unsigned first = 0, digits;
    uint64_t value;

    while (take_element(&t, &value, &digits)) {
        if (first != 0 && digits != first)
            return word;
        first = digits;
    }
    return first % 2 == 0 ? first / 2 : word;
}

/* {addr="0x2000",data=["0x1","0x2"]}: the numbers, a few in each line, with the address in front of each. */
static void give_words(const struct object *o, unsigned word,
                       void (*take)(void *ctx, const char *line, size_t size), void *ctx)
{
    enum { EACH = 8 };
    struct text t = {behind(o->p, o->end, "data=["), o->end};
    char line[MOST_LINE];
    uint64_t addr, value;
    unsigned each, digits, num;
    int size = 0;

    if (t.p == NULL || !field(o, "addr=\"", 16, &addr))
        return;
    each = element_size(t, word);
    for (num = 0; take_element(&t, &value, &digits); num++) {
        if (num % EACH == 0 && num > 0)
            take(ctx, line, (size_t)size);
        if (num % EACH == 0)
            size = snprintf(line, sizeof line, "0x%" PRIx64 ":", addr + (uint64_t)num * each);
        size += snprintf(line + size, sizeof line - (size_t)size, " 0x%0*" PRIx64, (int)digits, value);
    }
    if (num > 0)
        take(ctx, line, (size_t)size);
}

/* {begin="0x2000",offset="0x0",contents="00112233"}: the bytes, sixteen in each line. */
static void give_bytes(const struct object *o, void (*take)(void *ctx, const char *line, size_t size), void *ctx)
{
    enum { EACH = 16 };
    const char *p = behind(o->p, o->end, "contents=\"");
    uint64_t addr, offset = 0;
    char line[MOST_LINE];
    unsigned i;
    int size;

    if (p == NULL || !field(o, "begin=\"", 16, &addr))
        return;
    (void)field(o, "offset=\"", 16, &offset);
    for (addr += offset; o->end - p >= 2 && p[0] != '"'; addr += EACH) {
        size = snprintf(line, sizeof line, "0x%" PRIx64 ":", addr);
        for (i = 0; i < EACH && o->end - p >= 2 && p[0] != '"'; i++, p += 2)
            size += snprintf(line + size, sizeof line - (size_t)size, " %.2s", p);
        take(ctx, line, (size_t)size);
    }
}

bool mi_split(const char *text, size_t size, const struct lines_names *names,
              void (*take)(void *ctx, const char *line, size_t size), void *ctx)
{
    const char *const end = text + size;
    struct object o = {behind(text, end, "register-values=["), end};
    char line[MOST_LINE];

    o.p = o.p != NULL ? o.p : behind(text, end, ",memory=[");
    if (o.p == NULL)
        return false;
    while (o.p < end) {
        o.end = memchr(o.p, '}', (size_t)(end - o.p));
        o.end = o.end != NULL ? o.end : end;
        size = put_register(&o, names, line);
        if (size > 0)
            take(ctx, line, size);
        give_words(&o, names->word, take, ctx);
        give_bytes(&o, take, ctx);
        o.p = o.end < end ? o.end + 1 : end;
    }
    return true;
}
