/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A line of a log is searched for names of registers with a number behind each, for words of a stack with an address
 * before them, and for the texts of formats. People and programs print these in many ways, which need no code: names
 * may be followed by another name ("S0/FP", "LR [R14]"), by ":", "=", "-", "." or nothing; numbers may have 0x or not,
 * brackets ("[<c0008000>]"), and a selector before them ("e008:[<...>]"). A dump has no end that all formats have: it
 * ends where another begins, or some lines behind its last one.
 */
#include "trace_dumps.h"
#include "common/image.h"
#include "sfu.h"
#include "trace_text.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_LINE = 4096,
    MOST_NUMBERS = 40,  /* of a line */
    IDLE_BEHIND = 4,    /* lines behind the last words of a stack that end a dump, */
    IDLE_BEFORE = 60,   /* and behind registers, whose stack may follow */
    NEAR_BELOW = 65536, /* bytes below SP, and above it, that a line without any other sign has */
    NEAR_ABOVE = 1 << 20,
    LOOK_UNKNOWN = 8 /* names with numbers that look like a dump of registers */
};

/* A line while it is taken: in small letters, and 0 at its end. */
struct scan {
    struct dumps *d;
    char text[MOST_LINE + 1];
    size_t size;
    bool linked, took;
};

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

void dump_set_fp(struct log_dump *dump)
{
    const unsigned fp = dump->abi == SFU_THUMB ? 7 : 11;

    dump->fp = dump->value[fp];
    dump->has_fp = dump->known[fp];
}

/* A word of DUMP begins at each multiple of 8 of the bytes, and one ends where they end. */
bool dump_add_memory(struct log_dump *dump, uint64_t addr, const uint8_t *bytes, size_t size)
{
    size_t at;

    for (at = 0; size >= 8 && at < size; at += 8) {
        const size_t from = at < size - 8 ? at : size - 8;

        if (dump->num_words == LOG_WORDS || addr > UINT64_MAX - size)
            return false;
        dump->words = grow(dump->words, dump->num_words, sizeof *dump->words);
        dump->words[dump->num_words].addr = addr + from;
        memcpy(dump->words[dump->num_words++].bytes, bytes + from, 8);
    }
    return true;
}

/* Adds the bytes that have been collected. */
static void flush_run(struct dumps *d)
{
    (void)dump_add_memory(&d->dump, d->run_addr, d->run, d->run_size);
    d->run_size = 0;
}

/* Lines with one word each belong together. */
static void add_bytes(struct dumps *d, uint64_t addr, const uint8_t *bytes, size_t size)
{
    enum { RUN = 4096 };

    if (addr != d->run_addr + d->run_size || d->run_size + size > RUN) {
        flush_run(d);
        d->run_addr = addr;
    }
    if (d->run == NULL)
        d->run = zeroed(RUN, 1);
    memcpy(d->run + d->run_size, bytes, size);
    d->run_size += size;
}

static bool has_words(const struct dumps *d)
{
    return d->dump.num_words > 0 || d->run_size > 0;
}

/* ---- Numbers --------------------------------------------------------------------------------------------------- */

struct number {
    uint64_t value;
    size_t at, end; /* in the line, with its 0x */
    unsigned digits;
    bool prefixed;
};

static int hex_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Takes a hexadecimal number at AT. It ends where no word goes on. */
static bool take_hex(const struct scan *s, size_t at, struct number *n)
{
    size_t i = at;

    memset(n, 0, sizeof *n);
    n->at = at;
    n->prefixed = s->text[i] == '0' && s->text[i + 1] == 'x';
    i += n->prefixed ? 2 : 0;
    for (; hex_of(s->text[i]) >= 0 && n->digits < 17; i++, n->digits++)
        n->value = n->value << 4 | (unsigned)hex_of(s->text[i]);
    n->end = i;
    return n->digits > 0 && n->digits <= 16 && !text_is_of_a_word(s->text[i]) &&
           !(s->text[i] == '.' && text_is_of_a_word(s->text[i + 1]));
}

static bool fits(const struct dumps *d, uint64_t value)
{
    return d->word == 8 || value <= UINT32_MAX;
}

/* All numbers from FROM on that are as long as words or addresses are, or have 0x. */
static unsigned find_numbers(const struct scan *s, size_t from, struct number *list, unsigned least)
{
    unsigned num = 0;
    size_t i;

    for (i = from; i < s->size && num < MOST_NUMBERS; i++) {
        struct number n;

        if ((i > 0 && text_is_of_a_word(s->text[i - 1])) || hex_of(s->text[i]) < 0 || !take_hex(s, i, &n))
            continue;
        if (n.prefixed || n.digits >= least)
            list[num++] = n;
        i = n.end - 1;
    }
    return num;
}

/* ---- Registers ------------------------------------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ';
}

static size_t skip_spaces(const struct scan *s, size_t at)
{
    while (is_space(s->text[at]))
        at++;
    return at;
}

/* Passes over another name of the same register: "/fp", "[r14]", "(r15)". */
static size_t skip_other_name(const struct scan *s, size_t at)
{
    const size_t first = skip_spaces(s, at);
    const char open = s->text[first], close = open == '[' ? ']' : open == '(' ? ')' : '\0';
    size_t i = first + 1;

    if (open != '/' && close == '\0')
        return at;
    if (!text_is_of_a_word(s->text[i]) || hex_of(s->text[i + 1]) > 9 + 6)
        return at;
    while (text_is_of_a_word(s->text[i]))
        i++;
    if (open == '/')
        return i;
    return s->text[i] == close && i - first <= 4 ? i + 1 : at;
}

/* Takes the number of a register behind its name, which ends at AT. */
static bool take_value(const struct scan *s, size_t at, struct number *n)
{
    size_t i = skip_spaces(s, skip_other_name(s, at));
    bool sign = s->text[i] != '\0' && strchr(":=-.", s->text[i]) != NULL;
    struct number selector;

    i = skip_spaces(s, i + sign);
    if (s->text[i] == ':' || s->text[i] == '=')
        i = skip_spaces(s, i + 1);
    if (take_hex(s, i, &selector) && !selector.prefixed && selector.digits <= 4 && s->text[selector.end] == ':' &&
        !is_space(s->text[selector.end + 1]))
        i = selector.end + 1;
    while (s->text[i] == '[' || s->text[i] == '<' || s->text[i] == '(')
        i++;
    return take_hex(s, i, n) && (sign || n->prefixed || n->digits >= 8) && fits(s->d, n->value) &&
           !(s->text[n->end] == ':' && hex_of(s->text[n->end + 1]) >= 0);
}

/* Whether REG has a value. */
static bool is_set(const struct log_dump *dump, uint8_t reg)
{
    return reg == REGISTER_PC    ? dump->has_pc
           : reg == FORMAT_SP    ? dump->has_sp
           : reg == FORMAT_FP    ? dump->has_fp
           : reg == FORMAT_RA    ? dump->has_ra
           : reg == FORMAT_PSP   ? dump->has_psp
           : reg < LOG_REGISTERS ? dump->known[reg]
                                 : true; /* others do not count */
}

static void set_register(struct scan *s, uint8_t reg, uint64_t value)
{
    struct dumps *d = s->d;
    struct log_dump *dump = &d->dump;

    s->took = true;
    if (s->linked) {
        d->has_linked = d->has_linked || reg == REGISTER_PC;
        d->linked = reg == REGISTER_PC ? value : d->linked;
        return;
    }
    d->registers += !is_set(dump, reg);
    if (reg == REGISTER_PC) {
        dump->pc = d->moved = value;
        dump->has_pc = d->has_moved = true;
    } else if (reg == FORMAT_SP) {
        dump->sp = value;
        dump->has_sp = true;
    } else if (reg == FORMAT_FP) {
        dump->fp = value;
        dump->has_fp = true;
    } else if (reg == FORMAT_RA) {
        dump->ra = value;
        dump->has_ra = true;
    } else if (reg == FORMAT_PSP) {
        dump->psp = value;
        dump->has_psp = true;
    } else if (reg == FORMAT_EXC_RETURN) {
        d->exc_return = value;
    } else if (reg < LOG_REGISTERS) {
        dump->value[reg] = value;
        dump->known[reg] = true;
    }
}

/* The end of the word at AT. "r  12" is one name, as some print it. */
static size_t end_of_name(const struct scan *s, size_t at)
{
    size_t i = at;

    while (text_is_of_a_word(s->text[i]))
        i++;
    return i;
}

/* "r  12" for the name "r12": its size, or 0. */
static size_t spaced_name(const struct scan *s, size_t at, char *name)
{
    const size_t digits = skip_spaces(s, at + 1);
    size_t i = digits;

    if ((s->text[at] != 'r' && s->text[at] != 'x') || digits == at + 1)
        return 0;
    while (s->text[i] >= '0' && s->text[i] <= '9' && i < digits + 2)
        i++;
    if (i == digits || text_is_of_a_word(s->text[i]))
        return 0;
    name[0] = s->text[at];
    memcpy(name + 1, s->text + digits, i - digits);
    name[1 + i - digits] = '\0';
    return i - at;
}

/* What stands at AT: a register of this CPU, of another, or another name with a number. Returns where it ends. */
static size_t take_name(struct scan *s, size_t at, bool take)
{
    const struct formats *f = s->d->formats;
    const struct format_name *found;
    size_t end = end_of_name(s, at), spaced;
    struct number n;
    char name[4];

    spaced = spaced_name(s, at, name);
    found = spaced > 0 ? formats_find(f, name, strlen(name), s->d->cpu, s->text)
                       : formats_find(f, s->text + at, end - at, s->d->cpu, s->text);
    if (spaced > 0 && found != NULL)
        end = at + spaced;
    if (!take_value(s, end, &n))
        return end;
    if (found == NULL && s->text[end] == '/') { /* "0/x" is no name; "a1/r1" may be one by its second word */
        const size_t second = end + 1, behind = end_of_name(s, second);

        found = formats_find(f, s->text + second, behind - second, s->d->cpu, s->text);
    }
    if (!take)
        s->took = s->took || (found != NULL && found->reg < FORMAT_EXC_RETURN && is_set(&s->d->dump, found->reg));
    else if (found != NULL)
        set_register(s, found->reg, n.value);
    else if (formats_find(f, s->text + at, end - at, UINT32_MAX, s->text) != NULL)
        s->d->foreign++;
    else if (n.digits >= 8)
        s->d->unknown++;
    return n.end;
}

/* A register whose name is more than a word. Returns where it ends, or AT. */
static size_t take_phrase(struct scan *s, size_t at, bool take)
{
    const struct formats *f = s->d->formats;
    struct number n;
    size_t i;

    for (i = 0; i < f->num_texts; i++) {
        const struct format_text *t = &f->texts[i];
        const size_t size = strlen(t->text);

        if (t->kind != FORMAT_REGISTER || (t->cpus & s->d->cpu) == 0 || strncmp(s->text + at, t->text, size) != 0 ||
            !take_value(s, at + size, &n))
            continue;
        if (take)
            set_register(s, t->reg, n.value);
        return n.end;
    }
    return at;
}

/* Takes the registers of the line; or only asks whether one is there that is known already. */
static void scan_registers(struct scan *s, bool take)
{
    size_t i = 0, end;

    while (i < s->size) {
        if (!text_is_of_a_word(s->text[i]) || (i > 0 && text_is_of_a_word(s->text[i - 1]))) {
            i++;
            continue;
        }
        end = take_phrase(s, i, take);
        if (end == i && hex_of(s->text[i]) >= 0 && hex_of(s->text[i]) <= 9)
            end = end_of_name(s, i);
        if (end == i)
            end = take_name(s, i, take);
        i = end > i ? end : i + 1;
    }
}

/* ---- Words of a stack ------------------------------------------------------------------------------------------ */

/* Bytes of the word N of a line: as many as its digits, or those of an address. */
static unsigned word_size(const struct dumps *d, const struct number *n, bool all_short)
{
    if (n->digits == 16)
        return 8;
    return n->digits == 8 && (all_short || !n->prefixed) ? 4 : d->word;
}

static bool are_words(const struct number *list, unsigned num)
{
    unsigned i;

    for (i = 0; i < num; i++)
        if (list[i].digits != 8 && list[i].digits != 16 && !list[i].prefixed)
            return false;
    return num > 0;
}

static uint64_t add_words(struct dumps *d, uint64_t addr, const struct number *list, unsigned num)
{
    bool all_short = true;
    uint8_t bytes[8];
    unsigned i, size;

    for (i = 0; i < num; i++)
        all_short = all_short && list[i].digits == 8;
    for (i = 0; i < num; i++) {
        size = word_size(d, &list[i], all_short);
        store_number(bytes, size, d->big, list[i].value);
        add_bytes(d, addr, bytes, size);
        addr += size;
    }
    return addr;
}

/* Only spaces, signs, and the words that lines of a stack have stand between FROM and TO. */
static bool is_blank(const struct scan *s, size_t from, size_t to)
{
    static const char *const words[] = {"data", "value", "word", "content"};
    size_t end, i;

    for (; from<to; from = end> from ? end : from + 1) {
        for (end = from; end < to && text_is_of_a_word(s->text[end]);)
            end++;
        for (i = 0; i < sizeof words / sizeof words[0]; i++)
            if (end - from == strlen(words[i]) && memcmp(s->text + from, words[i], end - from) == 0)
                break;
        if (end > from && i == sizeof words / sizeof words[0])
            return false;
    }
    return true;
}

/* Whether nothing but numbers follows AT. */
static bool only_numbers(const struct scan *s, size_t at, const struct number *list, unsigned num)
{
    unsigned i;

    for (i = 0; i < num; i++) {
        if (!is_blank(s, at, list[i].at))
            return false;
        at = list[i].end;
    }
    return is_blank(s, at, s->size);
}

static bool is_near_sp(const struct dumps *d, uint64_t addr)
{
    const uint64_t sp = d->dump.has_sp ? d->dump.sp : d->dump.psp;

    return (d->dump.has_sp || d->dump.has_psp) && addr % 4 == 0 &&
           (addr >= sp ? addr - sp < NEAR_ABOVE : sp - addr <= NEAR_BELOW);
}

/* Bytes of two digits: "20001f40  00 11 22 ..", behind an address, at least four. */
static bool take_byte_line(struct scan *s, const struct number *addr)
{
    uint8_t bytes[32];
    size_t at = addr->end + (s->text[addr->end] == ':'), count = 0;
    struct number n;

    while (count < sizeof bytes && take_hex(s, skip_spaces(s, at), &n) && n.digits == 2 && !n.prefixed) {
        bytes[count++] = (uint8_t)n.value;
        at = n.end;
    }
    if (count < 4 || (count & 3) != 0)
        return false;
    add_bytes(s->d, addr->value, bytes, count);
    return true;
}

/* "sp+10: WORD", "[sp+0x10] = WORD", "stack[4]: WORD": a distance from SP in bytes, or in words. */
static bool take_index_line(struct scan *s)
{
    const char *at = strstr(s->text, "sp+"), *stack = strstr(s->text, "stack[");
    const size_t from = at != NULL ? (size_t)(at - s->text) + 3 : stack != NULL ? (size_t)(stack - s->text) + 6 : 0;
    struct number index, list[MOST_NUMBERS];
    unsigned num;
    uint64_t distance;

    if (from == 0 || !s->d->dump.has_sp || !take_hex(s, from, &index))
        return false;
    num = find_numbers(s, index.end, list, 8);
    distance = at != NULL ? index.value : strtoull(s->text + from, NULL, index.prefixed ? 16 : 10) * s->d->word;
    if (!are_words(list, num) || !only_numbers(s, index.end, list, num) || distance >= NEAR_ABOVE)
        return false;
    (void)add_words(s->d, s->d->dump.sp + distance, list, num);
    return true;
}

/* Whether a line of NUM numbers without ":" may be an address and words: as many as a power of two. */
static bool may_be_words(unsigned num)
{
    return num > 2 && ((num - 1) & (num - 2)) == 0;
}

/* "ADDRESS: WORD...". Without ":" the address must be near SP. */
static bool take_word_line(struct scan *s)
{
    struct number list[MOST_NUMBERS];
    unsigned num = find_numbers(s, 0, list, 8);
    bool near, marked, behind;

    if (num == 0 || list[0].value % 4 != 0 || !fits(s->d, list[0].value))
        return false;
    near = is_near_sp(s->d, list[0].value);
    behind = s->text[list[0].end] == ':' || (s->text[list[0].end] == ' ' && s->text[list[0].end + 1] == ':') ||
             s->text[list[0].end] == '|';
    if ((near || behind) && take_byte_line(s, &list[0]))
        return true;
    marked = (behind || strstr(s->text, "addr") != NULL) && (s->d->begun || s->d->registers > 2 || near);
    if (num < 2 || !are_words(list + 1, num - 1) || !(marked || (near && may_be_words(num))) ||
        !only_numbers(s, list[0].end, list + 1, num - 1))
        return false;
    (void)add_words(s->d, list[0].value, list + 1, num - 1);
    return true;
}

/* Words behind the address that a text has named: "de00:" and columns of 9 characters, of the addresses that end so; or
 * words alone. */
static bool take_following(struct scan *s)
{
    enum { KEY = 4, COLUMN = 9, LEAST_BARE = 2 };
    struct number list[MOST_NUMBERS], key;
    unsigned num;
    size_t at = 0;

    while (at < s->size && !(hex_of(s->text[at]) >= 0 && (at == 0 || is_space(s->text[at - 1])) &&
                             take_hex(s, at, &key) && key.digits == KEY && s->text[key.end] == ':'))
        at++;
    if (at < s->size) {
        num = find_numbers(s, key.end, list, 8);
        if (!are_words(list, num))
            return false;
        (void)add_words(s->d,
                        (s->d->next & ~UINT64_C(0xffff)) + key.value + 4 * ((list[0].at - key.end - 2) / COLUMN),
                        list, num);
        return true;
    }
    num = find_numbers(s, 0, list, 8);
    if (num < LEAST_BARE || !are_words(list, num) || !only_numbers(s, list[0].at, list, num) ||
        s->text[list[0].end] == ':')
        return false;
    s->d->next = add_words(s->d, s->d->next, list, num);
    return true;
}

/* ---- Texts ----------------------------------------------------------------------------------------------------- */

static size_t add_named(struct named_address *list, size_t num, uint64_t addr, bool is_return)
{
    if (num < DUMPS_NAMED)
        list[num++] = (struct named_address){addr, 0, is_return};
    return num;
}

/* The addresses from AT on. Of a pair, "PC:SP", the first one. */
static size_t name_numbers(struct scan *s, size_t at, bool are_returns, struct named_address *list, size_t num)
{
    struct number numbers[MOST_NUMBERS];
    unsigned found = find_numbers(s, at, numbers, 6), i;

    for (i = 0; i < found; i++)
        if (numbers[i].at == 0 || s->text[numbers[i].at - 1] != ':' || i == 0 ||
            numbers[i - 1].end + 1 != numbers[i].at)
            num = add_named(list, num, numbers[i].value, are_returns);
    return num;
}

/* A line of a list: a number first, or "#" and one; and an address at its end, or behind its number. */
static size_t take_list_line(struct scan *s, struct named_address *list, size_t num)
{
    struct number numbers[MOST_NUMBERS];
    unsigned found = find_numbers(s, 0, numbers, 8);

    if (strstr(s->text, "+0x") != NULL) /* "name+0x12/0x34", which is more than an address */
        return num;
    if (found == 0) {
        s->d->list = s->d->list && (s->size == 0 || strstr(s->text, "trace") != NULL);
        return num;
    }
    s->took = true;
    if (strncmp(s->text + skip_spaces(s, 0), "code", 4) == 0)
        return num;
    return add_named(list, num, numbers[found - 1].value, true);
}

/* "#1  0x... in f ()", as debuggers and sanitizers print frames. */
static size_t take_frame_line(struct scan *s, struct named_address *list, size_t num)
{
    size_t at = skip_spaces(s, 0), digits;
    struct number n;

    if (s->text[at] != '#')
        return num;
    for (digits = at + 1; s->text[digits] >= '0' && s->text[digits] <= '9'; digits++)
        continue;
    at = skip_spaces(s, digits);
    if (digits == 1 || !take_hex(s, at, &n) || !n.prefixed || n.digits < 6)
        return num;
    return add_named(list, num, n.value, strncmp(s->text + digits - 1, "0 ", 2) != 0 || s->text[digits - 2] != '#');
}

/* "PC 0x... (0xBASE+0xOFFSET) [ 0] NAME": frames of EDK II, whose images begin at BASE. */
static size_t take_based_line(struct scan *s, struct named_address *list, size_t num)
{
    const char *paren = strstr(s->text, " (0x");
    struct number pc, base, offset;
    const size_t at = paren != NULL ? (size_t)(paren - s->text) + 2 : 0;

    if (paren == NULL || strncmp(s->text + skip_spaces(s, 0), "pc 0x", 5) != 0 ||
        !take_hex(s, skip_spaces(s, 0) + 3, &pc) || !take_hex(s, at, &base) || s->text[base.end] != '+' ||
        !take_hex(s, base.end + 1, &offset) || base.value + offset.value != pc.value)
        return num;
    num = add_named(list, num, pc.value, s->d->listed);
    list[num - 1].base = base.value;
    if (!s->d->has_base)
        s->d->base = base.value;
    s->d->has_base = s->d->listed = s->took = true;
    return num;
}

/* What the texts of formats say of the line. */
static size_t take_texts(struct scan *s, struct named_address *list, size_t num)
{
    const struct formats *f = s->d->formats;
    struct number numbers[MOST_NUMBERS];
    size_t i;

    for (i = 0; i < f->num_texts; i++) {
        const struct format_text *t = &f->texts[i];
        const char *found = (t->cpus & s->d->cpu) != 0 ? strstr(s->text, t->text) : NULL;
        const size_t behind = found != NULL ? (size_t)(found - s->text) + strlen(t->text) : 0;

        if (found == NULL)
            continue;
        s->d->begun = s->d->begun || t->kind == FORMAT_BEGIN;
        s->linked = s->linked || t->kind == FORMAT_LINKED;
        s->d->list = s->d->list || t->kind == FORMAT_LIST;
        if (t->kind == FORMAT_CALLS || t->kind == FORMAT_RETURNS)
            num = name_numbers(s, behind, t->kind == FORMAT_RETURNS, list, num);
        if (t->kind == FORMAT_FROM && find_numbers(s, behind, numbers, 8) > 0) {
            s->d->follow = true;
            s->d->next = numbers[0].value;
        }
        if (t->kind == FORMAT_STACK && s->d->dump.has_sp) {
            s->d->follow = true;
            s->d->next = s->d->dump.sp;
        }
        if (t->kind == FORMAT_BASE && find_numbers(s, behind, numbers, 6) > 0) {
            s->d->has_base = true;
            s->d->base = numbers[0].value;
        }
    }
    return num;
}

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

static bool begin_scan(struct scan *s, struct dumps *d, const char *text, size_t size)
{
    size_t i;

    if (size > MOST_LINE)
        return false;
    memset(s, 0, sizeof *s);
    s->d = d;
    s->size = size;
    for (i = 0; i < size; i++)
        s->text[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 'a' - 'A') : text[i];
    return true;
}

/* Words of a stack. With an address before them there is one number more than a power of two. */
static bool take_lines(struct scan *s, bool follow)
{
    struct number list[MOST_NUMBERS];
    const unsigned num = find_numbers(s, 0, list, 8);
    const bool addressed = num > 0 && (s->text[list[0].end] == ':' || (num > 2 && (num & (num - 1)) != 0));

    if (follow && !addressed && take_following(s))
        return true;
    return take_word_line(s) || (follow && take_following(s));
}

bool dumps_ends(struct dumps *d, const char *text, size_t size)
{
    struct scan s;

    if (d->registers == 0 && !has_words(d) && !d->begun && d->unknown == 0)
        return false;
    if (d->idle > (has_words(d) ? IDLE_BEHIND : IDLE_BEFORE))
        return true;
    if (d->list || !(has_words(d) || (d->dump.has_pc && d->dump.has_sp)) || !begin_scan(&s, d, text, size))
        return false;
    /* A PC that is known comes again, or another register behind the words of a stack. */
    scan_registers(&s, false);
    return s.took && has_words(d);
}

size_t dumps_take(struct dumps *d, const char *text, size_t size, struct named_address *list)
{
    const bool list_follows = d->list, follow = d->follow;
    const unsigned unknown = d->unknown;
    struct scan s;
    size_t num;

    if (!begin_scan(&s, d, text, size))
        return 0;
    num = take_texts(&s, list, 0);
    num = take_based_line(&s, list, num);
    if (list_follows)
        num = take_list_line(&s, list, num);
    else if (num == 0)
        num = take_frame_line(&s, list, num);
    d->listed = d->listed || num > 0;
    if (num == 0) {
        scan_registers(&s, true);
        s.took = s.took || take_index_line(&s) || take_lines(&s, follow);
    }
    d->follow = d->follow && (s.took || s.size == 0 || d->idle < 2);
    d->idle = s.took || num > 0 ? 0 : d->idle + (size > 0);
    if (d->unknown == unknown && !d->begun && d->registers == 0 && d->unknown < LOOK_UNKNOWN)
        d->unknown = 0;
    return num;
}

/* ---- A whole dump ---------------------------------------------------------------------------------------------- */

/* What a Cortex-M pushes: r0 to r3, r12, LR, PC, xPSR; with an FPU 18 words more, and one where SP was no multiple of
 * 8. Handlers print these registers, and SP as it is behind them. */
static bool is_pushed_at(const struct dumps *d, uint64_t addr)
{
    uint8_t bytes[12];

    return log_dump_read((void *)&d->dump, addr + 20, bytes, sizeof bytes) &&
           load_number(bytes, 4, d->big) == d->dump.ra &&
           (load_number(bytes + 4, 4, d->big) & ~UINT64_C(1)) == (d->dump.pc & ~UINT64_C(1));
}

static void pop_exception(struct dumps *d)
{
    struct log_dump *dump = &d->dump;
    uint64_t at = dump->has_sp ? dump->sp : dump->psp;
    uint8_t psr[4];

    if (!dump->has_pc || !dump->has_ra)
        return;
    if (!(dump->has_sp && is_pushed_at(d, at)) && dump->has_psp)
        at = dump->psp;
    if (!(dump->has_sp || dump->has_psp) || !is_pushed_at(d, at) || !log_dump_read(dump, at + 28, psr, sizeof psr))
        return;
    dump->sp = at + 32 + (d->exc_return != 0 && (d->exc_return & 16) == 0 ? 72 : 0) +
               ((load_number(psr, 4, d->big) >> 9 & 1) != 0 ? 4 : 0);
    dump->has_sp = true;
}

static void finish_arm(struct dumps *d)
{
    struct log_dump *dump = &d->dump;

    dump->exact = (dump->pc & 1) == 0;
    log_dump_sort(dump);
    if (d->abi == SFU_THUMB)
        pop_exception(d);
    dump_set_fp(dump);
}

bool dumps_finish(struct dumps *d)
{
    struct log_dump *dump = &d->dump;

    flush_run(d);
    dump->abi = d->abi;
    dump->exact = true;
    if (!dump->has_pc && d->has_linked) {
        dump->pc = d->linked;
        dump->has_pc = true;
    }
    if (abi_is_arm(d->abi))
        finish_arm(d);
    return (dump->has_pc && d->registers > 1) || (d->begun && (d->foreign > 3 || d->unknown > 3)) ||
           d->foreign > LOOK_UNKNOWN || d->unknown >= LOOK_UNKNOWN;
}

void dumps_clear(struct dumps *d)
{
    struct dumps kept = *d;

    log_dump_clear(&d->dump);
    memset(d, 0, sizeof *d);
    d->formats = kept.formats;
    d->abi = kept.abi;
    d->word = kept.word;
    d->big = kept.big;
    d->cpu = kept.cpu;
    d->run = kept.run;
}

void dumps_start(struct dumps *d, const struct formats *formats, uint8_t abi, unsigned word, bool big)
{
    memset(d, 0, sizeof *d);
    d->formats = formats;
    d->abi = abi;
    d->word = word;
    d->big = big;
    d->cpu = formats_cpu(abi);
}

void dumps_free(struct dumps *d)
{
    log_dump_clear(&d->dump);
    free(d->run);
    memset(d, 0, sizeof *d);
}
