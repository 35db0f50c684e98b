/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "braces.h"
#include "common/image.h"

#include <stdlib.h>
#include <string.h>

void braces_note_type(struct scan *s)
{
    static const char *const wide[] = {"long", "64", "ptr", "size_t", "void"};
    size_t i;

    s->d->wide = false;
    for (i = 0; i < sizeof wide / sizeof wide[0]; i++)
        s->d->wide = s->d->wide || strstr(s->text, wide[i]) != NULL;
}

static void add_element(struct dumps *d, uint64_t value, unsigned long times)
{
    for (; times > 0 && d->num_braced < DUMPS_BRACED; times--)
        d->braced[d->num_braced++] = value;
}

/* Takes an element at *AT, its name and how often it repeats: "0x100b <leaf+11>", "0x0 <repeats 12 times>". */
static bool take_element(struct scan *s, size_t *at)
{
    static const char repeats[] = "<repeats ";
    unsigned long times = 1;
    struct number n;
    size_t i;

    if (!scan_hex(s, *at, &n) || !n.prefixed)
        return false;
    for (i = scan_spaces(s, n.end); s->text[i] == '<'; i = scan_spaces(s, i)) {
        if (strncmp(s->text + i, repeats, strlen(repeats)) == 0)
            times = strtoul(s->text + i + strlen(repeats), NULL, 10);
        i += strcspn(s->text + i, ">");
        i += s->text[i] == '>';
    }
    add_element(s->d, n.value, times);
    *at = i;
    return true;
}

/* Whether the elements are as large as words. */
static bool are_wide(const struct dumps *d)
{
    uint64_t most = 0;
    unsigned i;

    for (i = 0; i < d->num_braced; i++)
        most = d->braced[i] > most ? d->braced[i] : most;
    return scan_fits(d, most) && (most > (d->word == 8 ? UINT32_MAX : UINT16_MAX) || (d->word == 8 && d->wide));
}

/* The array has ended. */
static void add_array(struct dumps *d)
{
    uint8_t bytes[8];
    unsigned i;

    d->bracing = d->follow = false;
    d->narrow = !are_wide(d);
    for (i = 0; i < d->num_braced && !d->narrow; i++) {
        store_number(bytes, d->word, d->big, d->braced[i]);
        dumps_add_bytes(d, d->next + (uint64_t)d->word * i, bytes, d->word);
    }
    d->counted = d->counted || !d->narrow;
    d->are_numbers = true;
    d->num_braced = 0;
}

bool braces_take(struct scan *s)
{
    struct dumps *d = s->d;
    const char *open = strstr(s->text, "= {0x"), *first = strstr(s->text, " 0x");
    size_t at = 0;

    if (d->bracing)
        at = first != NULL ? (size_t)(first - s->text) + 1 : scan_spaces(s, 0);
    else if (d->follow && open != NULL && strchr(s->text, '$') != NULL)
        at = (size_t)(open - s->text) + 3;
    else {
        /* Nothing says where they lie. */
        d->bare += open != NULL && strchr(s->text, '$') != NULL && strchr(open, ',') != NULL ? 2 : 0;
        return false;
    }
    d->bracing = true;
    while (take_element(s, &at) && s->text[at] == ',')
        at = scan_spaces(s, at + 1);
    if (at < s->size)
        add_array(d);
    s->took = true;
    return true;
}
