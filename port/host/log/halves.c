/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "halves.h"
#include "text.h"

/* Numbers of four digits in a line: two bytes each, as they are written. */
struct halves_found {
    uint8_t bytes[DUMPS_HALVES_SIZE];
    size_t from, end, size;
    size_t gap; /* spaces between each two */
};

static bool take_half(const struct scan *s, size_t at, struct number *n)
{
    return at < s->size && hex_of(s->text[at]) >= 0 && scan_hex(s, at, n) && n->digits == 4 && !n->prefixed &&
           (n->end == s->size || is_space(s->text[n->end]));
}

/* The first two or more that stand side by side, with as many spaces between each two. */
static bool find_halves(const struct scan *s, struct halves_found *h)
{
    struct number n;
    size_t at, next;

    for (at = 0; at < s->size; at++) {
        h->from = at;
        h->size = h->gap = 0;
        if (at > 0 && !is_space(s->text[at - 1]))
            continue;
        for (next = at; h->size < sizeof h->bytes && take_half(s, next, &n); next = n.end + h->gap) {
            h->bytes[h->size++] = (uint8_t)(n.value >> 8);
            h->bytes[h->size++] = (uint8_t)n.value;
            h->end = n.end;
            h->gap = h->gap > 0 ? h->gap : scan_spaces(s, n.end) - n.end;
        }
        if (h->size >= 4)
            return true;
    }
    return false;
}

/* Whether the characters from AT on are those of the bytes, or, if SWAPPED, of each two in the other order. Letters
 * have lost their case. */
static bool are_theirs(const struct scan *s, size_t at, const struct halves_found *h, bool swapped)
{
    size_t i;

    for (i = 0; i < h->size; i++) {
        const uint8_t byte = h->bytes[swapped ? i ^ 1 : i];
        const char shown = at + i < s->size ? s->text[at + i] : ' ';
        const char lower = byte >= 'A' && byte <= 'Z' ? (char)(byte + 'a' - 'A') : (char)byte;

        if (shown != (byte >= ' ' && byte <= '~' ? lower : '.'))
            return false;
    }
    return true;
}

/* Whether hexdump or od has printed the numbers: with seven digits before them, and no sign between; or, as hexdump -x
 * does, with four spaces between each two. */
static bool are_of_hexdump(const struct scan *s, const struct halves_found *h)
{
    enum { OFFSET = 7, GAP = 4 };
    size_t end = h->from, at;

    while (end > 0 && is_space(s->text[end - 1]))
        end--;
    for (at = end; at > 0 && hex_of(s->text[at - 1]) >= 0;)
        at--;
    return h->gap == GAP || (end - at == OFFSET && (at == 0 || is_space(s->text[at - 1])));
}

/* Finds out by the characters behind the numbers how these are written. Returns false if the characters are not
 * theirs. */
static bool find_order(struct scan *s, const struct halves_found *h)
{
    struct dumps *d = s->d;
    size_t at = s->size > h->end + h->size ? s->size - h->size : 0;
    bool bytes, numbers;

    if (d->big)
        d->halves = HALVES_BYTES; /* both are the same */
    else if (d->halves == HALVES_UNKNOWN && are_of_hexdump(s, h))
        d->halves = HALVES_NUMBERS;
    if (d->big || scan_is_blank(s, h->end, s->size))
        return true;
    if (at < h->end + 2 || !scan_is_blank(s, h->end, at))
        at = h->end + 2;
    if (s->size < at || s->size - at > h->size || !scan_is_blank(s, h->end, at))
        return false;
    bytes = are_theirs(s, at, h, false);
    numbers = are_theirs(s, at, h, true);
    if (d->halves == HALVES_UNKNOWN && bytes != numbers)
        d->halves = bytes ? HALVES_BYTES : HALVES_NUMBERS;
    return d->halves == HALVES_UNKNOWN ? bytes : d->halves == HALVES_BYTES ? bytes : numbers;
}

/* Whether N is the distance of the next bytes from SP. The distances of a dump are all hexadecimal or all octal. */
static bool is_next_offset(struct dumps *d, const struct scan *s, const struct number *n)
{
    const uint64_t next = d->next - d->dump.sp;
    const bool hex = n->value == next, octal = scan_is_octal(s, n, next);

    if (!(hex && !d->octal_offsets) && !(octal && !d->hex_offsets))
        return false;
    d->hex_offsets = d->hex_offsets || !octal;
    d->octal_offsets = d->octal_offsets || !hex;
    return true;
}

/* Where the bytes lie: the address before them, near SP; or what it is behind a text that names the stack, as far from
 * SP as bytes have come. */
static bool place_halves(const struct scan *s, const struct halves_found *h, uint64_t *addr)
{
    struct dumps *d = s->d;
    struct number n;
    size_t end = h->from, at;

    while (end > 0 && strchr(" :|", s->text[end - 1]) != NULL)
        end--;
    for (at = end; at > 0 && text_is_of_a_word(s->text[at - 1]);)
        at--;
    *addr = d->next;
    if (at == end || !scan_hex(s, at, &n) || n.end != end || n.digits < 4)
        return d->follow && end == 0;
    if (scan_is_near_sp(d, n.value))
        *addr = n.value;
    return scan_is_near_sp(d, n.value) || (d->follow && d->dump.has_sp && is_next_offset(d, s, &n));
}

static void add_halves(struct dumps *d, uint64_t addr, const uint8_t *bytes, size_t size)
{
    uint8_t ordered[DUMPS_HALVES_SIZE];
    size_t i;

    for (i = 0; i < size; i++)
        ordered[i] = bytes[d->halves == HALVES_NUMBERS ? i ^ 1 : i];
    dumps_add_bytes(d, addr, ordered, size);
}

bool halves_take(struct scan *s)
{
    struct dumps *d = s->d;
    struct halves_found h;
    struct half_line *line;
    uint64_t addr;
    unsigned i;

    if (!find_halves(s, &h) || h.size % 4 != 0 || !place_halves(s, &h, &addr) || !find_order(s, &h))
        return false;
    d->next = addr + h.size;
    d->are_numbers = true;
    if (d->halves == HALVES_UNKNOWN && d->num_halves < DUMPS_HALVES) {
        line = &d->half[d->num_halves];
        line->addr = addr;
        line->size = (uint8_t)h.size;
        memcpy(line->bytes, h.bytes, h.size);
    }
    d->num_halves += d->halves == HALVES_UNKNOWN;
    if (d->halves == HALVES_UNKNOWN)
        return true;
    for (i = 0; i < d->num_halves && i < DUMPS_HALVES; i++)
        add_halves(d, d->half[i].addr, d->half[i].bytes, d->half[i].size);
    d->num_halves = 0;
    add_halves(d, addr, h.bytes, h.size);
    return true;
}
