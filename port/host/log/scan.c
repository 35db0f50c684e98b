/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "scan.h"
#include "text.h"

#include <stdlib.h>

/* Whether the sign at AT stands between digits, of which DIGITS came before: "0xffff_8000", "00000000_00100010",
 * "0x00000000'80001000", "fffff800`12345678". */
static bool is_between(const struct scan *s, size_t at, bool prefixed, unsigned digits)
{
    const char sign = s->text[at];

    return (((sign == '_' || sign == '\'') && (prefixed || digits == 8)) || sign == '`') &&
           hex_of(s->text[at + 1]) >= 0;
}

/* Takes a decimal number at N->at. It is as good as one with a 0x: no part of a name or of another number. */
static bool take_decimal(const struct scan *s, struct number *n)
{
    size_t i = n->at;
    unsigned digit;

    for (; s->text[i] >= '0' && s->text[i] <= '9'; i++) {
        digit = (unsigned)(s->text[i] - '0');
        if (n->value > (UINT64_MAX - digit) / 10)
            return false;
        n->value = 10 * n->value + digit;
    }
    n->end = i;
    n->digits = (unsigned)(i - n->at);
    n->prefixed = true;
    return n->digits > 0 && !text_is_of_a_word(s->text[i]);
}

bool scan_hex(const struct scan *s, size_t at, struct number *n)
{
    size_t i = at;

    memset(n, 0, sizeof *n);
    n->at = at;
    n->prefixed = s->text[i] == '0' && s->text[i + 1] == 'x';
    if (s->decimal && !n->prefixed)
        return take_decimal(s, n);
    i += n->prefixed ? 2 : 0;
    while (n->prefixed && s->text[i] == ' ')
        i++;
    i += n->prefixed && s->text[i] == '0' &&
         strspn(s->text + i, "0123456789abcdef") == 17; /* EDK II prints so many */
    for (; hex_of(s->text[i]) >= 0 && n->digits < 17; n->digits++) {
        n->value = n->value << 4 | (unsigned)hex_of(s->text[i]);
        i += 1u + is_between(s, i + 1, n->prefixed, n->digits + 1);
    }
    i += s->text[i] == 'h' && !n->prefixed && n->digits >= 4; /* "20001F40h" */
    n->end = i;
    return n->digits > 0 && n->digits <= 16 && !text_is_of_a_word(s->text[i]) &&
           !(s->text[i] == '.' && text_is_of_a_word(s->text[i + 1]));
}

bool scan_fits(const struct dumps *d, uint64_t value)
{
    return d->word == 8 || value <= UINT32_MAX;
}

unsigned scan_numbers(const struct scan *s, size_t from, struct number *list, unsigned least)
{
    unsigned num = 0;
    size_t i;

    for (i = from; i < s->size && num < MOST_NUMBERS; i++) {
        struct number n;

        if ((i > 0 && text_is_of_a_word(s->text[i - 1])) || hex_of(s->text[i]) < 0 || !scan_hex(s, i, &n))
            continue;
        if (n.prefixed || n.digits >= least)
            list[num++] = n;
        i = n.end - 1;
    }
    return num;
}

size_t scan_spaces(const struct scan *s, size_t at)
{
    while (is_space(s->text[at]))
        at++;
    return at;
}

size_t scan_end_of_name(const struct scan *s, size_t at)
{
    size_t i = at;

    while (text_is_of_a_word(s->text[i]))
        i++;
    return i;
}

bool scan_are_words(const struct number *list, unsigned num)
{
    unsigned i;

    for (i = 0; i < num; i++)
        if (list[i].digits != 8 && list[i].digits != 16 && !list[i].prefixed)
            return false;
    return num > 0;
}

bool scan_is_blank(const struct scan *s, size_t from, size_t to)
{
    static const char *const words[] = {"data", "value", "val", "word", "content"};
    size_t end, i;

    for (; from<to; from = end> from ? end : from + 1) {
        for (end = from; end < to && text_is_of_a_word(s->text[end]);)
            end++;
        if (s->text[from] == '<' && strncmp(s->text + from, "<repeats", 8) != 0) { /* the name of a place */
            while (end < to && s->text[end] != '>')
                end++;
            continue;
        }
        for (i = 0; i < sizeof words / sizeof words[0]; i++)
            if (end - from == strlen(words[i]) && memcmp(s->text + from, words[i], end - from) == 0)
                break;
        if (end > from && i == sizeof words / sizeof words[0])
            return false;
    }
    return true;
}

bool scan_are_characters(const struct scan *s, size_t at, size_t size)
{
    const size_t from = scan_spaces(s, at);

    return (from >= at + 2 || s->text[from] == '|') && s->size - from <= size + 2;
}

/* The end of the line without a tag that a logger has put there: "[E]". */
static size_t without_tag(const struct scan *s)
{
    enum { LONGEST = 10 };
    size_t open = s->size;

    if (s->size == 0 || s->text[s->size - 1] != ']')
        return s->size;
    while (open > 0 && s->text[open - 1] != '[')
        open--;
    return open > 1 && s->size - open <= LONGEST && is_space(s->text[open - 2]) ? open - 2 : s->size;
}

bool scan_only_numbers(const struct scan *s, size_t at, const struct number *list, unsigned num)
{
    unsigned i;
    size_t size = 0;

    for (i = 0; i < num; i++) {
        if (!scan_is_blank(s, at, list[i].at))
            return false;
        at = list[i].end;
        size += list[i].digits / 2;
    }
    return scan_is_blank(s, at, s->size) || scan_is_blank(s, at, without_tag(s)) ||
           scan_are_characters(s, at, size);
}

static bool is_near(uint64_t sp, uint64_t addr)
{
    return addr >= sp ? addr - sp < NEAR_ABOVE : sp - addr <= NEAR_BELOW;
}

bool scan_is_near_sp(const struct dumps *d, uint64_t addr)
{
    const struct log_dump *dump = &d->dump;

    return addr % 4 == 0 && ((dump->has_sp && is_near(dump->sp, addr)) ||
                             (!dump->has_sp && dump->has_psp && is_near(dump->psp, addr)) ||
                             (!dump->has_sp && d->has_msp && is_near(d->msp, addr)));
}

bool scan_is_behind_address(const struct scan *s, size_t at)
{
    size_t i = scan_spaces(s, at);

    i = scan_spaces(s, i + (s->text[i] == ']' || s->text[i] == ')'));
    if (s->text[i] == '<' && strchr(s->text + i, '>') != NULL)
        i = scan_spaces(s, (size_t)(strchr(s->text + i, '>') - s->text) + 1);
    return s->text[i] == ':' || s->text[i] == '=' || (s->text[i] == '|' && i == at);
}

bool scan_is_octal(const struct scan *s, const struct number *n, uint64_t value)
{
    char *end;

    return !n->prefixed && strtoull(s->text + n->at, &end, 8) == value && end == s->text + n->end;
}

bool scan_is_offset(const struct scan *s, const struct number *n, uint64_t value)
{
    return n->value == value || scan_is_octal(s, n, value);
}
