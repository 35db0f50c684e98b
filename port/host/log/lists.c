/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "lists.h"
#include "text.h"

#include <string.h>

size_t lists_add(struct named_address *list, size_t num, uint64_t addr, bool is_return)
{
    if (num < DUMPS_NAMED)
        list[num++] = (struct named_address){addr, 0, is_return};
    return num;
}

/* Whether the number at AT has the name of a frame pointer: "lr = 0x... fp = 0x...". */
static bool is_frame_pointer(const struct scan *s, size_t at)
{
    while (at > 0 && strchr(" =:", s->text[at - 1]) != NULL)
        at--;
    return at >= 2 && memcmp(s->text + at - 2, "fp", 2) == 0 && (at == 2 || !text_is_of_a_word(s->text[at - 3]));
}

size_t lists_take_all(struct scan *s, size_t at, bool are_returns, struct named_address *list, size_t num)
{
    struct number numbers[MOST_NUMBERS];
    unsigned found = scan_numbers(s, at, numbers, 6), i;

    for (i = 0; i < found; i++)
        if (!is_frame_pointer(s, numbers[i].at) && (numbers[i].at == 0 || s->text[numbers[i].at - 1] != ':' ||
                                                    i == 0 || numbers[i - 1].end + 1 != numbers[i].at))
            num = lists_add(list, num, numbers[i].value,
                            are_returns && !(s->d->dump.has_pc && numbers[i].value == s->d->dump.pc));
    return num;
}

/* Whether SIGN stands before the number at AT. */
static bool is_behind(const struct scan *s, size_t at, char sign, size_t *where)
{
    while (at > 0 && is_space(s->text[at - 1]))
        at--;
    *where = at > 0 ? at - 1 : 0;
    return at > 0 && s->text[at - 1] == sign;
}

/* Whether the number at AT has the name of a register that is none of a return address: "mtval=". */
static bool is_of_another(const struct scan *s, size_t at)
{
    static const char *const names[] = {"lr", "ra", "pc", "ip", "ret"};
    size_t end, from, i;

    if (!is_behind(s, at, '=', &end))
        return false;
    while (end > 0 && is_space(s->text[end - 1]))
        end--;
    for (from = end; from > 0 && text_is_of_a_word(s->text[from - 1]);)
        from--;
    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if (end - from == strlen(names[i]) && memcmp(s->text + from, names[i], end - from) == 0)
            return false;
    return true;
}

/* Whether the name before the number at AT says that it is an address of code: "eip f0100a62", "lr: 0x8000123". */
static bool is_named_code(const struct scan *s, size_t at)
{
    static const char *const names[] = {"lr", "ra", "pc", "ip", "eip", "rip"};
    size_t end, from, i;

    for (end = at; end > 0 && strchr(" :=([", s->text[end - 1]) != NULL;)
        end--;
    for (from = end; from > 0 && text_is_of_a_word(s->text[from - 1]);)
        from--;
    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if (end - from == strlen(names[i]) && memcmp(s->text + from, names[i], end - from) == 0)
            return true;
    return false;
}

static bool has_named_code(const struct scan *s, const struct number *numbers, unsigned found)
{
    unsigned i;

    for (i = 0; i < found; i++)
        if (is_named_code(s, numbers[i].at))
            return true;
    return false;
}

/* How many of the FOUND numbers at NUMBERS are left if the last one has to be the address: no distance behind it ("+
 * 0x12"), no SP in brackets ("0x1234 (0x5678)"), no arguments where a name says which number it is. */
static unsigned last_address(const struct scan *s, const struct number *numbers, unsigned found)
{
    unsigned i;
    size_t where;

    for (i = found; i > 0; i--)
        if (is_named_code(s, numbers[i - 1].at))
            return i;
    while (found > 0 && is_behind(s, numbers[found - 1].at, '+', &where))
        found--;
    if (found > 1 && s->text[numbers[found - 1].at - 1] == '(' && s->text[numbers[found - 1].end] == ')' &&
        numbers[found - 2].digits >= 6 && numbers[found - 2].end + 2 == numbers[found - 1].at)
        found--;
    return found;
}

/* Whether nothing but numbers in hexadecimal stand from AT on, each perhaps in brackets. */
static bool are_all_numbers(const struct scan *s, size_t at)
{
    struct number n;

    for (; at < s->size && scan_hex(s, at, &n); at = n.end)
        while (is_one_of(s->text[n.end], "[], "))
            n.end++;
    return at == s->size;
}

size_t lists_take_list_line(struct scan *s, struct named_address *list, size_t num)
{
    struct number numbers[MOST_NUMBERS];
    unsigned found = scan_numbers(s, 0, numbers, 8), i;

    if (strstr(s->text, "+0x") != NULL && !has_named_code(s, numbers, found) &&
        !(found > 0 && s->text[numbers[found - 1].at - 1] == '[' && s->text[numbers[found - 1].end] == ']' &&
          numbers[found - 1].prefixed))
        return num; /* "name+0x12/0x34", which is more than an address */
    if (found > 1 && are_all_numbers(s, numbers[0].at)) {
        for (i = 0; i < found; i++)
            num = lists_add(list, num, numbers[i].value, true);
        s->took = true;
        return num;
    }
    found = last_address(s, numbers, found);
    if (found == 0 || is_of_another(s, numbers[found - 1].at)) {
        if (strncmp(s->text + scan_spaces(s, 0), "at ", 3) == 0) /* a file and a line */
            return num;
        s->d->list = s->d->list && (s->size == 0 || (found == 0 && strstr(s->text, "trace") != NULL));
        return num;
    }
    s->took = true;
    if (strncmp(s->text + scan_spaces(s, 0), "code", 4) == 0)
        return num;
    return lists_add(list, num, numbers[found - 1].value,
                     !s->d->dump.has_pc || numbers[found - 1].value != s->d->dump.pc);
}

size_t lists_take_first_number(struct scan *s, struct named_address *list, size_t num)
{
    struct number numbers[MOST_NUMBERS];
    const bool has = scan_numbers(s, 0, numbers, 8) > 0 && scan_fits(s->d, numbers[0].value);

    if (has)
        num = lists_add(list, num, numbers[0].value, s->d->framed);
    s->took = has;
    s->d->frames = has || (!s->d->framed && s->d->behind_heading < IDLE_BEHIND);
    s->d->behind_heading++;
    s->d->framed = has;
    return num;
}

/* The number of a frame at *AT, which is then behind it and a ":". Returns -1 if none stands there. */
static int take_frame_number(const struct scan *s, size_t *at)
{
    size_t i = *at;
    int number = 0;

    for (; s->text[i] >= '0' && s->text[i] <= '9' && i < *at + 4; i++)
        number = 10 * number + (s->text[i] - '0');
    if (i == *at || strchr(": \t", s->text[i]) == NULL)
        return -1;
    *at = scan_spaces(s, i + (s->text[i] == ':'));
    return number;
}

/* "1   IMAGE   0x... NAME + 12", as macOS prints frames, and "1: 0x... - NAME", as Rust does, at AT, behind the number.
 * Returns whether N is the address. */
static bool take_numbered(const struct scan *s, size_t at, struct number *n)
{
    const char *address = strstr(s->text + at, "0x");
    const char *behind;
    bool plus;

    if (address == NULL || !scan_hex(s, (size_t)(address - s->text), n) || n->digits < 6)
        return false;
    if (n->at == at || s->text[at - 1] == ':' || s->text[at - 2] == ':') /* no time: "12:34:56" */
        return n->at == at && strncmp(s->text + n->end, " - ", 3) == 0;
    behind = strstr(s->text + n->end, " + ");
    plus = behind != NULL && behind[3] >= '0' && behind[3] <= '9';
    return plus && n->at > at + 1 && is_space(s->text[n->at - 1]) && strchr(" \t", s->text[n->at - 2]) != NULL;
}

/* Whether glibc has printed the line: "FILE(NAME+0x12) [0x...]", and N is its address. */
static bool take_bracketed(const struct scan *s, struct number *n)
{
    const char *open = strrchr(s->text, '[');
    size_t at = open != NULL ? (size_t)(open - s->text) : 0, behind;

    if (open == NULL || !scan_hex(s, at + 1, n) || n->digits < 6 || s->text[n->end] != ']' ||
        !(n->prefixed || strstr(s->text, "+0x") != NULL))
        return false;
    behind = scan_spaces(s, n->end + 1);
    while (at > 0 && is_space(s->text[at - 1]))
        at--;
    return at > 0 && s->text[at - 1] == ')' && strchr(s->text, '(') != NULL && s->text[behind] == '\0';
}

/* The return address among the numbers from AT on, by its name: "fp 0x... lr 0x...". */
static bool take_link(const struct scan *s, size_t at, struct number *n)
{
    struct number numbers[MOST_NUMBERS];
    const unsigned num = scan_numbers(s, at, numbers, 8);
    unsigned i;

    for (i = 0; i < num; i++)
        if (numbers[i].digits >= 6 && is_named_code(s, numbers[i].at)) {
            *n = numbers[i];
            return true;
        }
    return false;
}

/* "#1  0x... in f ()", "bt#1: pc 0x...", "frame #1: 0x...", "Frame 1: f @ 0x...": as debuggers, sanitizers and kernels
 * print frames. Takes one at AT: *IS_RETURN says whether N is a return address. An address behind "pc" has been made
 * that of an instruction. */
static bool take_frame_at(const struct scan *s, size_t at, struct number *n, bool *is_return)
{
    static const char *const before[] = {"bt", "frame ", "#"};
    const char *sign;
    bool is_frame = false, is_pc;
    size_t i;
    int number;

    for (i = 0; i < sizeof before / sizeof before[0]; i++)
        if (strncmp(s->text + at, before[i], strlen(before[i])) == 0) {
            is_frame = i > 0;
            at += strlen(before[i]);
        }
    number = take_frame_number(s, &at);
    *is_return = number > 0;
    if (number < 0 || !is_frame)
        return number >= 0 && take_numbered(s, at, n);
    is_pc = strncmp(s->text + at, "pc ", 3) == 0;
    sign = strstr(s->text + at, " @ 0x");
    if (sign != NULL)
        at = (size_t)(sign - s->text) + 3;
    *is_return = number > 0 && !is_pc;
    if (scan_hex(s, at + (is_pc ? 3 : 0), n))
        return n->prefixed ? n->digits >= 6 : is_pc && n->digits >= 8;
    *is_return = true;
    return take_link(s, at, n);
}

/* "f() at 0x..." or "f(0x1) at 80001234": as the kernels of the BSDs print frames. */
static bool take_called(const struct scan *s, struct number *n)
{
    const char *at = strstr(s->text, ") at "), *open = at;

    while (open != NULL && open > s->text && *open != '(')
        open--;
    return open != NULL && open > s->text && text_is_of_a_word(open[-1]) &&
           scan_hex(s, (size_t)(at - s->text) + 5, n) && n->digits >= (n->prefixed ? 6u : 8u);
}

size_t lists_take_frame_line(struct scan *s, struct named_address *list, size_t num)
{
    struct number n;
    bool is_return;
    size_t at;

    for (at = 0; at < s->size; at++)
        if (!is_space(s->text[at]) && (at == 0 || is_space(s->text[at - 1])) &&
            take_frame_at(s, at, &n, &is_return))
            return lists_add(list, num, n.value, is_return);
    return take_bracketed(s, &n) || take_called(s, &n) ? lists_add(list, num, n.value, true) : num;
}

size_t lists_take_based_line(struct scan *s, struct named_address *list, size_t num)
{
    const char *paren = strstr(s->text, " (0x");
    struct number pc, base, offset;
    const size_t at = paren != NULL ? (size_t)(paren - s->text) + 2 : 0;

    if (paren == NULL || strncmp(s->text + scan_spaces(s, 0), "pc 0x", 5) != 0 ||
        !scan_hex(s, scan_spaces(s, 0) + 3, &pc) || !scan_hex(s, at, &base) || s->text[base.end] != '+' ||
        !scan_hex(s, base.end + 1, &offset) || base.value + offset.value != pc.value)
        return num;
    num = lists_add(list, num, pc.value, s->d->listed);
    list[num - 1].base = base.value;
    if (!s->d->has_base)
        s->d->base = base.value;
    s->d->has_base = s->d->listed = s->took = true;
    return num;
}

bool lists_begin(const struct scan *s)
{
    size_t i, from;

    for (i = 0; i + 1 < s->size; i++) {
        const char before = i > 0 ? s->text[i - 1] : ' ', behind = s->text[i + 1];
        const bool closed = behind == ':' || behind == ']' || behind == '#';

        if (s->text[i] != '0' || text_is_of_a_word(before))
            continue;
        for (from = i; from > 0 && strchr("#[=> ", s->text[from - 1]) != NULL;)
            from--;
        if ((from == 0 || s->text[from - 1] == ':' || s->text[from - 1] == '|') &&
            (closed || before == '#' || before == '>') && is_space(closed ? s->text[i + 2] : behind))
            return true;
    }
    return false;
}

unsigned lists_before_arguments(const struct scan *s, const char *sign, const struct number *list, unsigned found)
{
    const char *at = strstr(s->text, sign);

    while (found > 1 && at != NULL && list[0].at < (size_t)(at - s->text) &&
           list[found - 1].at > (size_t)(at - s->text))
        found--;
    return found;
}
