/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A line of a log is searched for names of registers with a number behind each, for words of a stack with an address
 * before them, and for the texts of formats. People and programs print these in many ways, which need no code: names
 * may be followed by another name ("S0/FP", "LR [R14]"), by ":", "=", "-", "." or nothing; numbers may have 0x or not,
 * brackets ("[<c0008000>]"), and a selector before them ("e008:[<...>]"). A dump has no end that all formats have: it
 * ends where another begins, or some lines behind its last one.
 */
#include "dumps.h"
#include "braces.h"
#include "common/image.h"
#include "halves.h"
#include "lists.h"
#include "scan.h"
#include "sfu.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

enum {
    IDLE_BEFORE = 60,   /* lines behind registers that end a dump: their stack may follow */
    ENOUGH_DIGITS = 16, /* digits that are not 0, and no letter among them: they are decimal */
    LEAST_POINTER = 65536,
    LOOK_KNOWN = 6,  /* registers that look like a dump, though none of them is the PC */
    LOOK_UNKNOWN = 8 /* names with numbers that look like a dump of registers */
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

/* Lines with one word each belong together, also if the one with the highest address comes first. */
void dumps_add_bytes(struct dumps *d, uint64_t addr, const uint8_t *bytes, size_t size)
{
    enum { RUN = 4096 };
    const bool below = d->run_size > 0 && size <= d->run_addr && addr == d->run_addr - size;

    if ((!below && addr != d->run_addr + d->run_size) || d->run_size + size > RUN) {
        flush_run(d);
        d->run_addr = addr;
    }
    if (d->run == NULL)
        d->run = zeroed(RUN, 1);
    if (below && d->run_size > 0) {
        memmove(d->run + size, d->run, d->run_size);
        memcpy(d->run, bytes, size);
        d->run_addr = addr;
    } else {
        memcpy(d->run + d->run_size, bytes, size);
    }
    d->run_size += size;
}

static bool has_words(const struct dumps *d)
{
    return d->dump.num_words > 0 || d->run_size > 0;
}

/* ---- Registers ------------------------------------------------------------------------------------------------- */

/* Passes over another name of the same register: "/fp", "[r14]", "(r15)"; or over its bits: "(/32)". */
static size_t skip_other_name(const struct scan *s, size_t at)
{
    const size_t first = scan_spaces(s, at);
    const char open = s->text[first], close = open == '[' ? ']' : open == '(' ? ')' : '\0';
    size_t i = first + 1;

    if (open != '/' && close == '\0')
        return at;
    i += open == '(' && s->text[i] == '/';
    if (!text_is_of_a_word(s->text[i]) || (open == '[' && s->text[i] <= '9')) /* "sp[16]" is a word of the stack */
        return at;
    while (text_is_of_a_word(s->text[i]))
        i++;
    if (open == '/')
        return i;
    return s->text[i] == close && i - first <= 4 ? i + 1 : at;
}

/* Where the number stands whose column begins at I, or behind the number of the register in a table: "|SP |2 |0x80|".
 * The name ends at AT. */
static size_t behind_index(const struct scan *s, size_t at, size_t i)
{
    size_t next = i + strspn(s->text + i, "0123456789");

    next = scan_spaces(s, next);
    if (s->text[scan_spaces(s, at)] != '|' || next == i || s->text[next] != '|')
        return i;
    next = scan_spaces(s, next + 1);
    return s->text[next] == '0' && s->text[next + 1] == 'x' ? next : i;
}

/* Passes over "value" and what stands before it: <reg name="pc" value="0x80">, {"name": "pc", "value": "0x80"}, "pc
 * value: 0x80". */
static size_t skip_value_word(const struct scan *s, size_t at)
{
    const size_t word = at + strspn(s->text + at, " ,\"");

    return (word > at || (at > 0 && is_space(s->text[at - 1]))) && strncmp(s->text + word, "value", 5) == 0 &&
                   !text_is_of_a_word(s->text[word + 5])
               ? word + 5 + (s->text[word + 5] == '"')
               : at;
}

/* Passes over the name of an address space, which some debuggers print: "EL1N:0x8000". */
static size_t skip_space_of(const struct scan *s, size_t at)
{
    enum { LONGEST = 5 };
    size_t end = at;

    while (text_is_of_a_word(s->text[end]) && end - at <= LONGEST)
        end++;
    return end > at && end - at <= LONGEST && strncmp(s->text + end, ":0x", 3) == 0 &&
                   formats_find(s->d->formats, s->text + at, end - at, s->d->cpu, s->text) == NULL
               ? end + 1
               : at;
}

/* Passes over tags between the cells of a table: "rip</td><td>0x8000". */
static size_t skip_tags(const struct scan *s, size_t at)
{
    size_t i = at, end;

    while (s->text[i] == '<' && (i > at || s->text[i + 1] == '/')) {
        end = i + strcspn(s->text + i, "> ");
        if (s->text[end] != '>')
            return at;
        i = end + 1;
    }
    return i;
}

/* Whether the word that ends at AT is the first one, or stands behind a comma, as in a table: "pc,0x8000,sp,0x2000".
 * In an instruction it does not: "add ebx,0x10". */
static bool is_cell(const struct scan *s, size_t at)
{
    while (at > 0 && text_is_of_a_word(s->text[at - 1]))
        at--;
    while (at > 0 && is_space(s->text[at - 1]))
        at--;
    return at == 0 || is_one_of(s->text[at - 1], ",;:|]");
}

/* Passes over a text that formats know to stand between a name and its number. */
static size_t skip_between(const struct scan *s, size_t at)
{
    const struct formats *f = s->d->formats;
    size_t i;

    for (i = 0; i < f->num_texts; i++) {
        const struct format_text *t = &f->texts[i];
        const size_t size = strlen(t->text);

        if (t->kind == FORMAT_BETWEEN && (t->cpus & s->d->cpu) != 0 && strncmp(s->text + at, t->text, size) == 0 &&
            !text_is_of_a_word(s->text[at + size]))
            return scan_spaces(s, at + size);
    }
    return at;
}

/* Passes over a verb or "at", which may stand between a name and its number: "ip at 8010a5c2". */
static size_t skip_verb(const struct scan *s, size_t at)
{
    static const char *const verbs[] = {"at ",  "is ",  "was ",      "held ",     "holds ",
                                        "had ", "has ", "contains ", "contained "};
    size_t i;

    for (i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strncmp(s->text + at, verbs[i], strlen(verbs[i])) == 0)
            return scan_spaces(s, at + strlen(verbs[i]));
    return at;
}

/* Whether what stands at AT may stand between a name and its number. A comma may if 0x follows: "PC,0x8000". */
static bool is_sign(const struct scan *s, size_t at)
{
    return is_one_of(s->text[at], ":=-.|") || (strncmp(s->text + at, ",0x", 3) == 0 && is_cell(s, at));
}

/* Finds the number of a register behind its name, which ends at AT. SIGN: whether a sign stands between them. It is no
 * number of a register if another one follows (PC:SP), or if it is a heading. */
static bool find_value(const struct scan *s, size_t at, struct number *n, bool *sign)
{
    size_t i = skip_between(s, scan_spaces(s, skip_other_name(s, at))), end;
    struct number selector;
    bool verb;

    i += s->text[i] == '"' || (s->text[i] == '\'' && s->text[i + 1] == ':');
    i = skip_value_word(s, i);
    end = skip_verb(s, i);
    verb = end > i;
    i = end;
    end = skip_tags(s, i);
    *sign = verb || end > i || is_sign(s, i);
    if (end > i)
        return scan_hex(s, end, n) && scan_fits(s->d, n->value);
    while (*sign && !verb && s->text[i + 1] == s->text[i]) /* "PC ..... 0x" */
        i++;
    i = scan_spaces(s, i + (*sign && !verb));
    i += s->text[i] == '"' || s->text[i] == '`';
    if (s->text[i] == ':' || s->text[i] == '=' || s->text[i] == '>')
        i = scan_spaces(s, i + 1);
    if (scan_hex(s, i, &selector) && selector.digits <= 4 && s->text[selector.end] == ':' &&
        !is_space(s->text[selector.end + 1]))
        i = selector.end + 1;
    i = skip_space_of(s, i);
    while (s->text[i] == '[' || s->text[i] == '<' || s->text[i] == '(')
        i++;
    i = behind_index(s, at, i);
    return scan_hex(s, i, n) && scan_fits(s->d, n->value) && s->text[n->end] != '+' /* a name: "add+0x4" */ &&
           !(s->text[n->end] == ':' && (s->text[n->end + 1] == '\0' || hex_of(s->text[n->end + 1]) >= 0));
}

/* Passes over what is said between the name from AT to END, if that is in quotes, and its number: "'pc' (4 bytes) from
 * hardware: 0x8000". */
static size_t skip_remark(const struct scan *s, size_t at, size_t end)
{
    enum { LONGEST = 40 };
    size_t behind;

    if (at == 0 || !is_one_of(s->text[at - 1], "'`") || s->text[end] != '\'')
        return end;
    behind = end + 1 + strcspn(s->text + end + 1, ":='`");
    return behind - end <= LONGEST && strncmp(s->text + behind, ": 0x", 4) == 0 ? behind : end;
}

/* Whether the line has nothing but a name, which ends at AT, and the number N, and registers stood in lines before it,
 * or the number is long: "rip    100001". */
static bool is_pair_alone(const struct scan *s, size_t at, const struct number *n)
{
    enum { LONG = 5 };
    size_t from = at;

    while (from > 0 && text_is_of_a_word(s->text[from - 1]))
        from--;
    return scan_spaces(s, 0) == from && s->text[scan_spaces(s, n->end)] == '\0' &&
           (s->d->registers > 0 || n->digits >= LONG);
}

/* Whether N goes on as a decimal fraction: a measured value. */
static bool is_fraction(const struct scan *s, const struct number *n)
{
    enum { LONG = 8 };

    return !n->prefixed && n->digits < LONG && s->text[n->end] == '.' && s->text[n->end + 1] >= '0' &&
           s->text[n->end + 1] <= '9';
}

static bool take_value(const struct scan *s, size_t at, struct number *n)
{
    bool sign;

    return find_value(s, at, n, &sign) && !is_fraction(s, n) &&
           (sign || n->prefixed || n->digits >= 8 || is_pair_alone(s, at, n));
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

/* A register that is none of a frame's. */
static void set_other(struct dumps *d, uint8_t reg, uint64_t value)
{
    if (reg == FORMAT_PSP) {
        d->dump.psp = value;
        d->dump.has_psp = true;
    } else if (reg == FORMAT_MSP) {
        d->msp = value;
        d->has_msp = true;
    } else if (reg == FORMAT_EXC_RETURN) {
        d->exc_return = value;
    } else if (reg == FORMAT_XPSR) {
        d->xpsr = value;
        d->has_xpsr = true;
    } else if (reg == FORMAT_CAUSE) {
        d->no_cause = value == 0;
    }
    d->others++;
}

/* Whether a register that has the PC of the last exception is printed beside the PC itself, as debuggers do. */
static bool is_old_epc(const struct dumps *d)
{
    return d->plain_pc && d->idle <= IDLE_BEHIND;
}

/* What REG, which may be the PC of an exception, is in this dump: the PC, or no register of a frame. */
static uint8_t pc_or_other(const struct dumps *d, uint8_t reg)
{
    const bool of_level = reg >= FORMAT_ELR_EL1 && reg <= FORMAT_ELR_EL3;

    if (reg != FORMAT_EPC && !of_level)
        return reg;
    if (of_level && reg < FORMAT_ELR_EL1 + d->levels.elr - 1)
        return FORMAT_OTHER;
    return is_old_epc(d) ? FORMAT_OTHER : REGISTER_PC;
}

/* Whether VALUE is what the LR of a handler of a Cortex-M is, which does not replace the LR of what was interrupted. */
static bool is_exc_return(const struct dumps *d, uint64_t value)
{
    enum { EXC_RETURN = 0xffffff };

    return d->abi == SFU_THUMB && value >> 8 == EXC_RETURN;
}

/* A register that aarch64 has for each exception level. */
static void set_of_level(struct dumps *d, uint8_t reg, uint64_t value)
{
    struct levels *l = &d->levels;
    unsigned used;

    if (reg >= FORMAT_SP_EL0 && reg <= FORMAT_SP_EL3) {
        l->sp[reg - FORMAT_SP_EL0] = value;
        l->has_sp[reg - FORMAT_SP_EL0] = true;
    } else if (reg >= FORMAT_SPSR && reg <= FORMAT_SPSR_EL3) {
        l->spsr[reg - FORMAT_SPSR] = value;
        l->has_spsr[reg - FORMAT_SPSR] = true;
    } else if (reg >= FORMAT_ELR_EL1 && reg <= FORMAT_ELR_EL3) {
        l->elr = reg - FORMAT_ELR_EL1 + 1u;
    }
    used = levels_in_use(l);
    if (d->dump.has_sp && !d->chosen_sp)
        return;
    d->chosen_sp = d->dump.has_sp = used != NO_LEVEL && l->has_sp[used];
    d->dump.sp = d->chosen_sp ? l->sp[used] : 0;
}

/* Once PC and SP are known, what is known stays, in lines without the PC: other registers are another thread's, or an
 * SP is that of another stack. */
static void set_register(struct scan *s, uint8_t reg, uint64_t value)
{
    struct dumps *d = s->d;
    struct log_dump *dump = &d->dump;
    uint8_t meant;

    s->took = true;
    d->plain_pc = d->plain_pc || reg == REGISTER_PC;
    meant = pc_or_other(d, reg);
    if (meant == REGISTER_PC || reg >= FORMAT_SP_EL0)
        set_of_level(d, reg, value);
    reg = meant == FORMAT_RA && is_exc_return(d, value) && dump->has_ra ? (uint8_t)FORMAT_EXC_RETURN : meant;
    if (reg == FORMAT_SP && d->chosen_sp)
        d->chosen_sp = dump->has_sp = false;
    if (s->linked) {
        d->has_linked = d->has_linked || reg == REGISTER_PC;
        d->linked = reg == REGISTER_PC ? value : d->linked;
        return;
    }
    if (reg != REGISTER_PC && is_set(dump, reg) && reg < FORMAT_PSP && dump->has_pc && dump->has_sp && !s->pc) {
        d->mixed = d->mixed || (reg == FORMAT_SP && d->pc_twice && d->idle == 0 && value != dump->sp);
        s->ignored = true;
        return;
    }
    s->set = true;
    d->pointers += value >= LEAST_POINTER;
    d->registers += !is_set(dump, reg);
    if (reg == REGISTER_PC) {
        d->pc_twice = d->pc_twice || (dump->has_pc && !dump->has_sp && value != dump->pc);
        dump->pc = d->moved = value;
        dump->has_pc = d->has_moved = s->pc = true;
    } else if (reg == FORMAT_SP) {
        dump->sp = value;
        dump->has_sp = true;
    } else if (reg == FORMAT_FP) {
        dump->fp = value;
        dump->has_fp = true;
    } else if (reg == FORMAT_RA) {
        dump->ra = value;
        dump->has_ra = true;
    } else if (reg < LOG_REGISTERS) {
        dump->value[reg] = value;
        dump->known[reg] = true;
    } else {
        set_other(d, reg, value);
    }
}

/* "r  12", "x  12" or "gpr 12" for the name "r12" or "x12": its size, or 0. */
static size_t spaced_name(const struct scan *s, size_t at, char *name)
{
    const size_t letters = strncmp(s->text + at, "gpr ", 4) == 0 ? 3 : 1, digits = scan_spaces(s, at + letters);
    size_t i = digits;

    if ((letters == 1 && s->text[at] != 'r' && s->text[at] != 'x') || digits == at + letters)
        return 0;
    while (s->text[i] >= '0' && s->text[i] <= '9' && i < digits + 2)
        i++;
    if (i == digits || text_is_of_a_word(s->text[i]))
        return 0;
    name[0] = s->text[at] == 'x' ? 'x' : 'r';
    memcpy(name + 1, s->text + digits, i - digits);
    name[1 + i - digits] = '\0';
    return i - at;
}

/* "regs[12]" for the register with that number: its size, or 0. Such numbers are hexadecimal once one has a letter. */
static size_t indexed_name(const struct scan *s, size_t at, char *name)
{
    static const char *const names[] = {"regs", "reg", "gpr", "gprs", "gregs", "x", "r"};
    const size_t end = scan_end_of_name(s, at), from = end + 1;
    const size_t digits = strspn(s->text + from, "0123456789abcdef"),
                 decimal = strspn(s->text + from, "0123456789");
    unsigned long number;
    size_t i = 0;

    while (i < sizeof names / sizeof names[0] &&
           (end - at != strlen(names[i]) || memcmp(s->text + at, names[i], end - at) != 0))
        i++;
    if (i == sizeof names / sizeof names[0] || s->text[end] != '[' || digits == 0 || digits > 2 ||
        s->text[from + digits] != ']')
        return 0;
    s->d->hex_index = s->d->hex_index || decimal < digits;
    number = strtoul(s->text + from, NULL, s->d->hex_index ? 16 : 10);
    if (number >= 32 || s->d->moved_index)
        return 0;
    name[0] = abi_is_riscv(s->d->abi) || abi_is_aarch64(s->d->abi) ? 'x' : 'r';
    name[1] = (char)('0' + number / 10);
    name[2] = (char)('0' + number % 10);
    if (number < 10)
        name[1] = name[2];
    name[number < 10 ? 2 : 3] = '\0';
    return from + digits + 1 - at;
}

/* The end of a name between AT and END, or behind the bracket that closes behind it: "(ra   ) = ". */
static size_t behind_bracket(const struct scan *s, size_t at, size_t end)
{
    const char open = at > 0 ? s->text[at - 1] : '\0', close = open == '[' ? ']' : open == '(' ? ')' : '\0';
    const size_t i = scan_spaces(s, end);

    return close != '\0' && s->text[i] == close ? i + 1 : end;
}

/* Whether another PC is that of another frame: PC and SP are known, or the PC alone, as the new one then is. */
static bool has_frame(const struct dumps *d)
{
    return d->dump.has_pc && (d->dump.has_sp || d->registers == 1);
}

/* A register of a line that is not taken yet: that the PC comes again with another value, or another register than SP,
 * which several stacks of one dump have. */
static void look_at_register(struct scan *s, uint8_t reg, uint64_t value)
{
    const struct log_dump *dump = &s->d->dump;
    const bool higher =
        s->d->levels.elr > 0 && reg > FORMAT_ELR_EL1 + s->d->levels.elr - 1 && reg <= FORMAT_ELR_EL3;

    reg = higher ? (uint8_t)FORMAT_OTHER : pc_or_other(s->d, reg);
    s->looked += reg < FORMAT_OTHER;
    if (reg == REGISTER_PC && !s->linked && has_frame(s->d) && value != dump->pc)
        s->pc = true;
    if (reg < FORMAT_PSP && reg != FORMAT_SP && is_set(dump, reg))
        s->took = true;
}

/* What the register is that is named by the letter of NAME and NUMBER; or NULL. */
static const struct format_name *numbered(const struct scan *s, char letter, unsigned number)
{
    char name[4] = {letter, number >= 10 ? (char)('0' + number / 10) : (char)('0' + number), '\0', '\0'};

    if (number >= 10)
        name[2] = (char)('0' + number % 10);
    return formats_find(s->d->formats, name, strlen(name), s->d->cpu, s->text);
}

/* The number behind the letter at *AT, or behind "gpr" or "gpr ", which has two digits at most; MOST_NUMBERS: none. *AT
 * is then behind it. */
static unsigned number_of_name(const struct scan *s, size_t *at)
{
    const bool spelt = strncmp(s->text + *at, "gpr", 3) == 0;
    const size_t from = *at + (spelt ? 3u + is_space(s->text[*at + 3]) : 1u),
                 digits = strspn(s->text + from, "0123456789");

    if ((!spelt && s->text[*at] != 'x' && s->text[*at] != 'r') || digits == 0 || digits > 2)
        return MOST_NUMBERS;
    *at = from + digits;
    return (unsigned)strtoul(s->text + from, NULL, 10);
}

/* The number at *I, of two digits at most and with ":" behind it; MOST_NUMBERS: none. *I is then behind it. */
static unsigned bare_number(const struct scan *s, size_t *i)
{
    const size_t digits = strspn(s->text + *i, "0123456789"), from = *i;

    if (digits == 0 || digits > 2 || s->text[from + digits] != ':')
        return MOST_NUMBERS;
    *i = from + digits;
    return (unsigned)strtoul(s->text + from, NULL, 10);
}

/* The number of the last register of "x4-x7", "r4-7:" or "r4..r7", whose first one is FIRST, at AT; the sign is at *I,
 * which is then behind the number. Without a sign it is that of the last of four or eight words: "x4: 0 1 2 3". */
static unsigned last_of_range(const struct scan *s, size_t at, unsigned first, size_t *i)
{
    struct number list[MOST_NUMBERS];
    unsigned num;

    if (is_one_of(s->text[*i], "-.~")) {
        *i = scan_spaces(s, *i + strspn(s->text + *i, "-.~"));
        return s->text[*i] == s->text[at] ? number_of_name(s, i) : bare_number(s, i);
    }
    if (s->text[*i] != ':' && s->text[*i] != '=' && !is_space(s->text[*i - 1]))
        return MOST_NUMBERS;
    num = scan_numbers(s, *i, list, 2 * s->d->word);
    return (num == 4 || num == 8) && list[0].digits >= 2 * s->d->word ? first + num - 1 : MOST_NUMBERS;
}

/* "x4-x7: 0 1 2 3" or "r4..r7 0 1 2 3" at AT: a word for each. Returns where it ends, or AT. */
static size_t take_range(struct scan *s, size_t at, bool take)
{
    struct number list[MOST_NUMBERS];
    size_t i = at;
    const char letter = s->text[at] == 'x' ? 'x' : 'r';
    const unsigned first = number_of_name(s, &i);
    unsigned last, num, k;

    i = scan_spaces(s, i);
    last = first < MOST_NUMBERS ? last_of_range(s, at, first, &i) : MOST_NUMBERS;
    i += s->text[i] == ':' || s->text[i] == '=';
    num = last < MOST_NUMBERS ? scan_numbers(s, i, list, 8) : 0;
    if (last <= first || num != last - first + 1 || !scan_are_words(list, num) ||
        !scan_only_numbers(s, i, list, num))
        return at;
    for (k = 0; k < num; k++) {
        const struct format_name *found = numbered(s, letter, first + k);

        if (found != NULL && take)
            set_register(s, found->reg, list[k].value);
        else if (found != NULL)
            look_at_register(s, found->reg, list[k].value);
    }
    return list[num - 1].end;
}

/* What the register with DWARF number N is here. */
static uint8_t row_register(const struct dumps *d, uint8_t n)
{
    const struct registers *r = abi_registers(d->abi);

    if (abi_is_arm(d->abi) && n == 15)
        return REGISTER_PC;
    if (n == r->sp)
        return FORMAT_SP;
    if (r->link && n == r->ra)
        return FORMAT_RA;
    return n == r->fp && !abi_is_arm(d->abi) ? (uint8_t)FORMAT_FP : n;
}

static void take_register(struct scan *s, uint8_t reg, uint64_t value, bool take)
{
    if (take)
        set_register(s, reg, value);
    else
        look_at_register(s, reg, value);
}

/* Which registers an array of NUM numbers at LIST has: those with DWARF numbers from *FIRST on. Returns how many of
 * them, or 0. All of a CPU's registers with a number, or those in front of SP and LR, have one order only. x0 of RISC-V
 * is 0, and may be left out. NAMED: a name says that they are registers. */
static unsigned registers_of_array(uint8_t abi, const struct number *list, unsigned num, bool named,
                                   unsigned *first)
{
    enum { WITH_SP_AND_PC = 33, AND_PSTATE };

    *first = abi_is_riscv(abi);
    if (abi_is_riscv(abi))
        return num == 32 && list[0].value == 0 ? 31 : num == 31 && list[0].value != 0 ? 31 : 0;
    if (abi_is_aarch64(abi))
        return (num >= 29 && num <= 31) ? num : num == WITH_SP_AND_PC || num == AND_PSTATE ? WITH_SP_AND_PC : 0;
    if (!named)
        return 0;
    if (abi_is_arm(abi))
        return num == 13 || num == 15 || num == 16 ? num : num == 17 ? 16 : 0;
    return abi == SFU_S390X && num == 16 ? num : 0;
}

/* Where the name of registers begins that ends at END: "x", "regs", "general_regs"; or END. */
static size_t begin_of_array(const char *text, size_t end)
{
    static const char *const names[] = {"reg", "regs", "gpr", "gprs", "registers"};
    size_t from = end, i, size;

    while (from > 0 && text_is_of_a_word(text[from - 1]))
        from--;
    if (end - from == 1 && (text[from] == 'x' || text[from] == 'r'))
        return from;
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        size = strlen(names[i]);
        if (end - from >= size && memcmp(text + end - size, names[i], size) == 0)
            return from;
    }
    return end;
}

/* Whether the name in front of the bracket at AT is one of registers: "regs: [", "gpr=[". */
static bool is_named_array(const struct scan *s, size_t at)
{
    while (at > 0 && is_one_of(s->text[at - 1], " :=\""))
        at--;
    return begin_of_array(s->text, at) < at;
}

/* The numbers of an array behind the bracket at AT. Returns where the array ends, behind its bracket; or AT. */
static size_t find_array(const struct scan *s, size_t at, struct number *list, unsigned *num)
{
    size_t i = scan_spaces(s, at + 1);

    *num = 0;
    while (*num < MOST_NUMBERS && scan_hex(s, i, &list[*num]) && scan_fits(s->d, list[*num].value)) {
        i = scan_spaces(s, list[(*num)++].end);
        i = s->text[i] == ',' ? scan_spaces(s, i + 1) : i;
    }
    return s->text[i] == ']' && *num > 0 ? i + 1 : at;
}

/* Registers with a number, as an array behind the bracket at AT. Returns where it ends, or AT. */
static size_t take_array(struct scan *s, size_t at, bool take)
{
    struct number list[MOST_NUMBERS];
    unsigned num, first, taken, k;
    const size_t end = find_array(s, at, list, &num);

    taken = end > at ? registers_of_array(s->d->abi, list, num, is_named_array(s, at), &first) : 0;
    if (taken == 0)
        return at;
    for (k = 0; k < taken; k++)
        if (abi_is_aarch64(s->d->abi) && first + k == 32)
            take_register(s, REGISTER_PC, list[k].value, take);
        else
            take_register(s, row_register(s->d, (uint8_t)(first + k)), list[k + (num == 32)].value, take);
    return end;
}

/* Whether "name :" stands before AT, as Eclipse prints an expression, whose value follows in lines of its own. */
static bool is_member_name(const struct scan *s, size_t at)
{
    return at >= 7 && strncmp(s->text + at - 7, "name : ", 7) == 0;
}

/* A line behind "Name : pc": its number as "Hex:0x8000" or "Default:0x8000", or the same in another base. */
static bool take_member(struct scan *s)
{
    static const char *const others[] = {"details:", "default:", "decimal:"};
    const char *hex = strstr(s->text, "hex:0x"), *shown = strstr(s->text, "default:0x");
    const uint8_t member = s->d->member;
    struct number n;
    size_t i;

    if (member == 0)
        return false;
    for (i = 0; i < sizeof others / sizeof others[0] && shown == NULL; i++)
        if (strstr(s->text, others[i]) != NULL)
            return true;
    s->d->member = 0;
    hex = shown != NULL ? strchr(shown, ':') - 3 : hex;
    if (hex == NULL || !scan_hex(s, (size_t)(hex - s->text) + 4, &n) || !scan_fits(s->d, n.value))
        return false;
    set_register(s, (uint8_t)(member - 1), n.value);
    return true;
}

/* What the register is that the name from AT to END names by its last part, behind a word that says that a fault has
 * saved it: "debug_hardfault_pc", "crash_lr", "tf_rip" of a BSD's trap frame; or NULL. SP and FP may be those of a
 * handler, except behind the first words. A kernel's tf_esp is no SP: 32-bit x86 has not pushed it. */
static const struct format_name *prefixed_name(const struct scan *s, size_t at, size_t end)
{
    static const char *const words[] = {"fault", "crash", "tf", "stacked", "saved", "exception", "trap", "panic"};
    enum { OF_ANY = 3, NUM = sizeof words / sizeof words[0] };
    const struct format_name *found;
    size_t part = end, i, size;

    while (part > at && s->text[part - 1] != '_')
        part--;
    if (part < at + 2)
        return NULL;
    for (i = 0; i < NUM; i++) {
        size = strlen(words[i]);
        if (part - 1 - at >= size && memcmp(s->text + part - 1 - size, words[i], size) == 0)
            break;
    }
    found = i < NUM ? formats_find(s->d->formats, s->text + part, end - part, s->d->cpu, s->text) : NULL;
    return found != NULL && (found->reg < LOG_REGISTERS || found->reg == REGISTER_PC || found->reg == FORMAT_RA ||
                             ((found->reg == FORMAT_SP || found->reg == FORMAT_FP) && i < OF_ANY &&
                              strncmp(s->text + at, "tf_esp", 6) != 0))
               ? found
               : NULL;
}

/* Whether the word before AT says that the register is another frame's: "caller pc: 0x8000". */
static bool is_of_caller(const struct scan *s, size_t at)
{
    static const char *const words[] = {"caller", "callers", "calling", "previous", "prev"};
    size_t end = at, from, i;

    while (end > 0 && is_space(s->text[end - 1]))
        end--;
    for (from = end; from > 0 && text_is_of_a_word(s->text[from - 1]);)
        from--;
    for (i = 0; i < sizeof words / sizeof words[0]; i++)
        if (end - from == strlen(words[i]) && memcmp(s->text + from, words[i], end - from) == 0)
            return true;
    return false;
}

/* What "R13(LR)" names, whose number is wrong: the name in the brackets at END, if it is another one's than FOUND. */
static const struct format_name *in_brackets(const struct scan *s, const struct format_name *found, size_t end)
{
    const size_t from = end + 1, to = scan_end_of_name(s, from);
    const struct format_name *second;

    if (found == NULL || s->text[end] != '(' || s->text[to] != ')')
        return found;
    second = formats_find(s->d->formats, s->text + from, to - from, s->d->cpu, s->text);
    return second != NULL ? second : found;
}

/* Whether FOUND, which ends at END, is no register, but says what N is an address of: "ds:0x8000", as Simics prints. */
static bool is_address_space(const struct scan *s, const struct format_name *found, size_t end,
                             const struct number *n)
{
    return found != NULL && found->reg == FORMAT_OTHER && s->text[end] == ':' && n->at == end + 1 &&
           scan_is_near_sp(s->d, n->value);
}

/* Whether the name from AT to END has not been seen: SEEN has a bit for some names each. */
static bool is_new_name(const struct scan *s, size_t at, size_t end, uint64_t *seen)
{
    uint64_t before = *seen;
    unsigned hash = 0;

    for (; at < end; at++)
        hash = hash * 31 + (unsigned char)s->text[at];
    *seen |= UINT64_C(1) << hash % 64;
    return *seen != before;
}

/* What stands at AT: a register of this CPU, of another, or another name with a number. Returns where it ends. */
static size_t take_name(struct scan *s, size_t at, bool take)
{
    const struct formats *f = s->d->formats;
    const struct format_name *found;
    size_t end = scan_end_of_name(s, at), spaced, bracket, behind;
    struct number n;
    char name[4];

    spaced = indexed_name(s, at, name);
    spaced = spaced > 0 ? spaced : spaced_name(s, at, name);
    found = spaced > 0 ? formats_find(f, name, strlen(name), s->d->cpu, s->text)
                       : formats_find(f, s->text + at, end - at, s->d->cpu, s->text);
    if (spaced > 0 && found != NULL)
        end = at + spaced;
    if (found == NULL && spaced == 0)
        found = prefixed_name(s, at, end);
    if (take && found != NULL && end == s->size && is_member_name(s, at))
        s->d->member = (uint8_t)(found->reg + 1);
    bracket = scan_spaces(s, end + (s->text[end] == ':' || s->text[end] == '='));
    behind = s->text[bracket] == '[' ? take_array(s, bracket, take) : bracket;
    if (behind > bracket)
        return behind;
    if (!take_value(s, behind_bracket(s, at, skip_remark(s, at, end)), &n))
        return end;
    if (is_of_caller(s, at) || is_address_space(s, found, end, &n))
        return n.end;
    s->d->moved_index =
        s->d->moved_index || (spaced > 0 && strcmp(name, "x0") == 0 && abi_is_riscv(s->d->abi) && n.value != 0);
    if (s->text[at] == 'r')
        found = in_brackets(s, found, end);
    if (found == NULL && s->text[end] == '/') { /* "0/x" is no name; "a1/r1" may be one by its second word */
        const size_t second = end + 1;

        found = formats_find(f, s->text + second, scan_end_of_name(s, second) - second, s->d->cpu, s->text);
    }
    if (!take)
        look_at_register(s, found != NULL ? found->reg : FORMAT_OTHER, n.value);
    else if (found != NULL)
        set_register(s, found->reg, n.value);
    else if (formats_find(f, s->text + at, end - at, UINT32_MAX, s->text) != NULL)
        s->d->foreign += is_new_name(s, at, end, &s->d->foreign_names);
    else if (n.digits >= 8 && end - at > 1) /* a letter may be the level of a message: "E: 0x80001234" */
        s->d->unknown += is_new_name(s, at, end, &s->d->unknown_names);
    return n.end;
}

/* Where TEXT ends, which stands at AT; "*" in it is any text, as short as can be. Returns 0 if it does not. */
static size_t match_phrase(const struct scan *s, size_t at, const char *text)
{
    bool any = false;
    size_t i = at, size;

    for (;; text += size + 1) {
        size = strcspn(text, "*");
        while (any && s->text[i] != '\0' && strncmp(s->text + i, text, size) != 0)
            i++;
        if (strncmp(s->text + i, text, size) != 0)
            return 0;
        i += size;
        if (text[size] == '\0')
            return i;
        any = true;
    }
}

/* A register whose name is more than a word; its number may stand in the next line. Returns where it ends, or AT, also
 * if other registers may stand between. */
static size_t take_phrase(struct scan *s, size_t at, bool take)
{
    const struct formats *f = s->d->formats;
    struct number n;
    size_t i, end;
    bool sign;

    for (i = 0; i < f->num_texts; i++) {
        const struct format_text *t = &f->texts[i];

        if (t->kind != FORMAT_REGISTER || (t->cpus & s->d->cpu) == 0)
            continue;
        end = match_phrase(s, at, t->text);
        if (end == 0)
            continue;
        if (take && s->text[end] == '\0' && t->text[strlen(t->text) - 1] == '(')
            s->d->pending = (uint8_t)(t->reg + 1);
        if (!find_value(s, end, &n, &sign) || !(n.prefixed || n.digits >= 8 || hex_of(s->text[n.at]) <= 9))
            continue;
        if (take)
            set_register(s, t->reg, n.value);
        else
            look_at_register(s, t->reg, n.value);
        if (strchr(t->text, '*') == NULL)
            return n.end;
    }
    return at;
}

/* Whether a list of three numbers or more begins at AT, behind its bracket, and all are decimal: "[1048590, 7, 0]". */
static bool is_decimal_list(const struct scan *s, size_t at)
{
    enum { LEAST = 3 };
    size_t num = 0, sum = 0, first = 0, key = at;
    bool alike = true;

    while (key > 0 && is_one_of(s->text[key - 1], "[: "))
        key--;
    for (;; num++) {
        const size_t digits = strspn(s->text + at, "0123456789");
        size_t i;

        if (digits == 0 || (digits > 1 && s->text[at] == '0'))
            return false;
        first = num == 0 ? digits : first;
        alike = alike && digits == first;
        for (i = 0; i < digits; i++)
            sum += s->text[at + i] != '0';
        at = scan_spaces(s, at + digits);
        if (s->text[at] != ',')
            break;
        at = scan_spaces(s, at + 1);
        if (s->text[at] == ']')
            break;
    }
    if (s->text[at] != ']' || num + 1 < LEAST)
        return false;
    return (key > 0 && s->text[key - 1] == '"') || /* JSON */
           (sum >= ENOUGH_DIGITS && !(alike && (first == 8 || first == 16)));
}

static bool has_decimal_list(const struct scan *s)
{
    const char *open;

    for (open = strchr(s->text, '['); open != NULL; open = strchr(open + 1, '['))
        if (is_decimal_list(s, scan_spaces(s, (size_t)(open - s->text) + 1)))
            return true;
    return false;
}

/* Whether the line is a register as Rust and JSON print a member of a structure, one a line: "    sepc: 1048578,". Such
 * numbers are decimal if they have no 0x; those with as many digits as a word may be none of theirs. */
static bool is_decimal_member(const struct scan *s)
{
    size_t end = s->size, from, name;

    while (end > 0 && is_space(s->text[end - 1]))
        end--;
    if (end == 0 || s->text[end - 1] != ',')
        return false;
    for (from = --end; from > 0 && is_one_of(s->text[from - 1], "0123456789");)
        from--;
    if (from == end || end - from == 8 || end - from == 16 || (s->text[from] == '0' && end - from > 1))
        return false;
    for (end = from; end > 0 && is_one_of(s->text[end - 1], " :\"");)
        end--;
    for (name = end; name > 0 && text_is_of_a_word(s->text[name - 1]);)
        name--;
    return end < from && memchr(s->text + end, ':', from - end) != NULL && memchr(s->text, ',', name) == NULL &&
           formats_find(s->d->formats, s->text + name, end - name, s->d->cpu, s->text) != NULL;
}

/* Whether the name from AT to END is a key of JSON, whose number stands at VALUE: such numbers are decimal. */
static bool is_json_number(const struct scan *s, size_t at, size_t end, size_t value)
{
    const size_t digits = strspn(s->text + value, "0123456789");

    return at > 0 && is_one_of(s->text[at - 1], "\"'") && s->text[end] == s->text[at - 1] && digits > 0 &&
           !text_is_of_a_word(s->text[value + digits]);
}

/* Whether the numbers of registers are decimal, as Rust prints a structure: one is too long to be hexadecimal; or none
 * has 0x, zeros before it, the size of a word, or a letter, although so many digits that are not 0 would have some. */
static bool has_decimal(const struct scan *s)
{
    size_t i, end, name, digits, sum = 0;
    bool hex = false, sized = false, json = false;

    if (has_decimal_list(s) || is_decimal_member(s))
        return true;
    for (i = 0; i<s->size; i = end> i ? end : i + 1) {
        end = scan_end_of_name(s, i);
        if (end == i || formats_find(s->d->formats, s->text + i, end - i, s->d->cpu, s->text) == NULL)
            continue;
        name = end;
        end = scan_spaces(s, end + is_one_of(s->text[end], "\"'"));
        if (s->text[end] != ':' && s->text[end] != '=')
            continue;
        end = scan_spaces(s, end + 1);
        json = json || is_json_number(s, i, name, end);
        digits = strspn(s->text + end, "0123456789");
        if (digits > 2 * s->d->word && s->text[end] != '0' && !text_is_of_a_word(s->text[end + digits]))
            return true;
        sized = sized || digits == 8 || digits == 16;
        hex = hex || text_is_of_a_word(s->text[end + digits]) || (digits > 1 && s->text[end] == '0');
        for (; digits > 0; digits--)
            sum += s->text[end + digits - 1] != '0';
    }
    return !hex && (json || (!sized && sum >= ENOUGH_DIGITS));
}

/* Takes the registers of the line; or only asks whether one is there that is known already. */
static void scan_registers(struct scan *s, bool take)
{
    size_t i = 0, end;

    while (i < s->size) {
        if (!is_space(s->text[i]) && !text_is_of_a_word(s->text[i])) {
            end = take_phrase(s, i, take);
            i = end > i ? end : i + 1;
            continue;
        }
        if (is_space(s->text[i]) || (i > 0 && text_is_of_a_word(s->text[i - 1]))) {
            i++;
            continue;
        }
        end = take_phrase(s, i, take);
        if (end == i && hex_of(s->text[i]) >= 0 && hex_of(s->text[i]) <= 9)
            end = scan_end_of_name(s, i);
        if (end == i)
            end = take_range(s, i, take);
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

static uint64_t add_words(struct dumps *d, uint64_t addr, const struct number *list, unsigned num)
{
    bool all_short = true;
    uint8_t bytes[8];
    unsigned i, size;

    for (i = 0; i < num; i++)
        all_short = all_short && list[i].digits == 8;
    for (i = 0; i < num; i++) {
        size = word_size(d, &list[i], all_short);
        d->are_numbers = d->are_numbers || list[i].prefixed || (d->group != 0 && d->group != size);
        d->group = size;
        store_number(bytes, size, d->big, list[i].value);
        dumps_add_bytes(d, addr, bytes, size);
        addr += size;
    }
    return addr;
}

/* Whether the characters of the line from AT on are those of NUM numbers, which are written as bytes in the order of
 * memory; or, if SWAPPED, as numbers of little endian. The line has as many. Letters have lost their case. */
static bool are_written(const struct scan *s, size_t at, const struct number *list, unsigned num, bool swapped)
{
    unsigned i, k;

    for (i = 0; i < num; i++)
        for (k = 0; k < list[i].digits / 2; k++, at++) {
            const unsigned shift = 8 * (swapped ? k : list[i].digits / 2 - 1 - k);
            const char byte = (char)(list[i].value >> shift & 0xff);
            const char lower = byte >= 'A' && byte <= 'Z' ? (char)(byte + 'a' - 'A') : byte;

            if ((byte >= ' ' && byte <= '~' ? lower : '.') != s->text[at])
                return false;
        }
    return true;
}

/* Notes what the characters at the line's end, behind the words at LIST, say of the order of their bytes: a character
 * for each byte, where the words have two digits. */
static void note_order(struct scan *s, const struct number *list, unsigned num)
{
    size_t at = s->size - (s->text[s->size - 1] == '|');
    bool bytes, numbers;
    unsigned i;

    for (i = 0; i < num; i++)
        at -= list[i].digits / 2;
    if (s->d->big || at <= list[num - 1].end)
        return;
    bytes = are_written(s, at, list, num, false);
    numbers = are_written(s, at, list, num, true);
    s->d->are_bytes = s->d->are_bytes || (bytes && !numbers);
    s->d->are_numbers = s->d->are_numbers || (numbers && !bytes);
}

/* Bytes of two digits: "20001f40  00 11 22 ..", behind an address, at least four. */
static bool take_byte_line(struct scan *s, const struct number *addr)
{
    uint8_t bytes[32];
    size_t at = scan_spaces(s, addr->end + (s->text[addr->end] == ':' || s->text[addr->end] == ']')), count = 0;
    struct number n;

    at += s->text[at] == '|' || s->text[at] == '='; /* J-Link: "20001F40 = 00 11 22 .." */

    while (count < sizeof bytes && scan_hex(s, scan_spaces(s, at), &n) && n.digits == 2 && !n.prefixed) {
        bytes[count++] = (uint8_t)n.value;
        at = n.end + (s->text[n.end] == '-' && count % 8 == 0); /* the EFI shell, in the middle of a line */
    }
    if (count < 4 || (count & 3) != 0)
        return false;
    s->d->are_numbers = true;
    dumps_add_bytes(s->d, addr->value, bytes, count);
    return true;
}

/* Whether nothing stands before AT but what a log puts there: "<err> ", "[12.345] E: ". A word with ":" may say what
 * the number is: "base: 20001000". */
static bool is_alone(const struct scan *s, size_t at)
{
    while (at > 0 && is_space(s->text[at - 1]))
        at--;
    return at == 0 || is_one_of(s->text[at - 1], ">]") ||
           (s->text[at - 1] == '-' && is_space(s->text[at]) && (at == 1 || is_space(s->text[at - 2]))) ||
           (at > 1 && s->text[at - 1] == ':' && (at == 2 || is_space(s->text[at - 3])));
}

/* Where the bytes of a line begin that stand alone in it, or SIZE. */
static size_t begin_of_bytes(const struct scan *s)
{
    size_t at;

    for (at = 0; at + 2 < s->size; at++) {
        if (hex_of(s->text[at]) < 0 || hex_of(s->text[at + 1]) < 0 || !is_space(s->text[at + 2]) ||
            (at > 0 && !is_space(s->text[at - 1])))
            continue;
        return is_alone(s, at) ? at : s->size;
    }
    return s->size;
}

/* Bytes of the stack of which none has an address, directly behind the text that names the stack: from SP on. */
static bool take_bare_bytes(struct scan *s)
{
    enum { LEAST = 8, MOST = 32 };
    struct dumps *d = s->d;
    uint8_t bytes[MOST];
    size_t at = begin_of_bytes(s), count = 0;
    struct number n;

    if (at == s->size || d->placed || d->idle > 0 || d->single || d->headed || (d->columns > 0 && !d->octets))
        return false;
    while (count < MOST && scan_hex(s, scan_spaces(s, at), &n) && n.digits == 2 && !n.prefixed) {
        bytes[count++] = (uint8_t)n.value;
        at = n.end;
    }
    if (count < LEAST || count % 4 != 0 || (d->columns > 0 && count > d->columns) ||
        !(scan_is_blank(s, at, s->size) || scan_are_characters(s, at, count + 1)))
        return false;
    d->columns = d->columns > 0 ? d->columns : (unsigned)count;
    d->octets = d->counted = d->are_numbers = s->took = true;
    d->follow = count == d->columns;
    dumps_add_bytes(d, d->next, bytes, count);
    d->next += count;
    return true;
}

/* How far behind BASE, which is SP, the next word lies if the last ones, from there on, have no gap. */
static uint64_t next_distance(const struct dumps *d, uint64_t base)
{
    return (d->run_size > 0 ? d->run_addr + d->run_size : base) - base;
}

/* Whether N is VALUE, in decimal perhaps, as people count. */
static bool is_count(const struct scan *s, const struct number *n, uint64_t value)
{
    char *end;
    const uint64_t decimal = strtoull(s->text + n->at, &end, 10);

    return n->value == value || (!n->prefixed && decimal == value && end == s->text + n->end);
}

/* Where the distance from SP stands in "sp+10", "[sp + 0x10]", "sp[16]", "stack[4]", "stack_4"; 0: nowhere. *ARRAY: it
 * is in brackets of its own, or behind a name. *PSP: it is that of a PSP, "psp+32". */
static size_t find_index(const struct scan *s, bool *array, bool *psp)
{
    static const char *const names[] = {"sp", "stack"};
    const char *p;
    size_t i, at;

    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        for (p = strstr(s->text, names[i]); p != NULL; p = strstr(p + 1, names[i])) {
            at = scan_spaces(s, (size_t)(p - s->text) + strlen(names[i]));
            *array = s->text[at] == '[' || (s->text[at] == '_' && s->text[at + 1] >= '0' && s->text[at + 1] <= '9');
            *psp = p > s->text && p[-1] == 'p';
            if (*array || s->text[at] == '+')
                return scan_spaces(s, at + 1);
        }
    return 0;
}

/* Keeps the word behind INDEX, if that is lower than the one before: what the indices count is known when all have
 * come. */
static bool keep_falling(struct scan *s, const struct number *index)
{
    struct dumps *d = s->d;
    struct number list[MOST_NUMBERS];
    const unsigned num = scan_numbers(s, index->end, list, 8);
    struct falling *last = d->num_falling > 0 ? &d->falling[d->num_falling - 1] : NULL;

    if (num != 1 || !scan_are_words(list, num) || !scan_only_numbers(s, index->end, list, num) ||
        d->num_falling == DUMPS_FALLING || (last != NULL && index->value >= last->hex))
        return false;
    d->falling[d->num_falling++] =
        (struct falling){index->value, strtoull(s->text + index->at, NULL, 10), list[0].value};
    return true;
}

/* By how much the index N of the falling ones is higher than the next one, if it is DECIMAL or not. */
static uint64_t falling_step(const struct dumps *d, unsigned n, bool decimal)
{
    const struct falling *f = &d->falling[n];

    return decimal ? f[0].decimal - f[1].decimal : f[0].hex - f[1].hex;
}

/* Adds the words whose indices fell: by a word's size, in bytes, or by 1, in words. */
static void add_falling(struct dumps *d)
{
    const bool decimal = d->num_falling > 1 && falling_step(d, 0, true) <= falling_step(d, 0, false);
    const uint64_t step = d->num_falling > 1 ? falling_step(d, 0, decimal) : 0;
    uint8_t bytes[8];
    unsigned i;

    for (i = 1; i < d->num_falling; i++)
        if (falling_step(d, i - 1, decimal) != step)
            return;
    for (i = 0; i < d->num_falling && (step == 1 || step == d->word); i++) {
        const uint64_t index = decimal ? d->falling[i].decimal : d->falling[i].hex;

        store_number(bytes, d->word, d->big, d->falling[i].word);
        dumps_add_bytes(d, d->dump.sp + index * (d->word / step), bytes, d->word);
    }
}

/* The distance from PSP, at AT, of the first word that is printed: 0, or behind the registers that the CPU has
 * pushed. */
static uint64_t first_of_psp(const struct scan *s, size_t at)
{
    enum { PUSHED = 32, WITH_FPU = 104 };
    struct number n;

    if (!scan_hex(s, at, &n))
        return 0;
    return is_count(s, &n, PUSHED) ? PUSHED : is_count(s, &n, WITH_FPU) ? WITH_FPU : 0;
}

/* "sp+10: WORD", "[sp+0x10] = WORD", "stack[4]: WORD": a distance from SP in bytes, or in words. Which of them, and
 * whether it is decimal, is known where it goes on behind the words that have come. */
static bool take_index_line(struct scan *s)
{
    struct dumps *d = s->d;
    struct number index, list[MOST_NUMBERS];
    bool array = false, psp = false;
    const size_t from = find_index(s, &array, &psp);
    const uint64_t base = psp ? d->dump.psp : d->dump.sp;
    const uint64_t next = psp && d->run_size == 0 ? first_of_psp(s, from) : next_distance(d, base);
    uint64_t distance = next;
    unsigned num;

    if (from == 0 || !(psp ? d->dump.has_psp : d->dump.has_sp) || !scan_hex(s, from, &index))
        return false;
    if (!array && (index.prefixed || index.value < 10))
        distance = index.value;
    else if (!is_count(s, &index, next) && !(array && is_count(s, &index, next / d->word)))
        return !psp && keep_falling(s, &index);
    num = scan_numbers(s, index.end, list, 8);
    if (!scan_are_words(list, num) || !scan_only_numbers(s, index.end, list, num) || distance >= NEAR_ABOVE)
        return false;
    (void)add_words(d, base + distance, list, num);
    return true;
}

/* Whether a line of NUM numbers without ":" may be an address and words: as many as a power of two; or one word, where
 * the last line's words end. */
static bool may_be_words(const struct dumps *d, uint64_t addr, unsigned num)
{
    return num > 2 ? ((num - 1) & (num - 2)) == 0
                   : num == 2 && d->follow && addr == (has_words(d) ? d->run_addr + d->run_size : d->dump.sp);
}

/* "ADDRESS WORD": of the stack, if the line before is one, too, and they lie side by side. Other lines of two numbers
 * are frames, which have an SP and a PC. */
static bool take_pair(struct scan *s, const struct number *addr, const struct number *word)
{
    struct dumps *d = s->d;
    const struct number before = {.value = d->pair_word, .digits = word->digits, .prefixed = word->prefixed};
    const uint64_t last = d->pair;
    const bool had = d->has_pair;

    d->has_pair = scan_is_near_sp(d, addr->value) && (word->digits == 2 * d->word || word->prefixed) &&
                  scan_is_blank(s, addr->end, word->at);
    d->pair = addr->value;
    d->pair_word = word->value;
    if (!had || !d->has_pair || (addr->value != last + d->word && addr->value + d->word != last))
        return false;
    (void)add_words(d, last, &before, 1);
    (void)add_words(d, addr->value, word, 1);
    return true;
}

/* "ADDRESS WORD", the highest first, where addresses are 1 apart although words are not: they count words, from SP
 * on. */
static bool take_miscounted(struct scan *s)
{
    struct dumps *d = s->d;
    struct number list[MOST_NUMBERS];
    const unsigned num = scan_numbers(s, 0, list, 2 * d->word);
    const uint64_t addr = num == 2 ? list[0].value : 0, sp = d->dump.sp, last = d->miscounted;
    struct falling *f = d->falling;

    d->miscounted = 0;
    if (num != 2 || !d->dump.has_sp || addr < sp || addr - sp >= DUMPS_FALLING ||
        !scan_is_blank(s, list[0].end, list[1].at))
        return false;
    d->miscounted = addr;
    if (d->num_falling == 0 || addr + 1 != last)
        d->num_falling = 0;
    f[d->num_falling++] = (struct falling){addr - sp, addr - sp, list[1].value};
    return addr + 1 == last;
}

/* Whether an arrow stands between FROM and TO: "->", "-->", "=>", or one of Unicode. */
static bool has_arrow(const struct scan *s, size_t from, size_t to)
{
    static const char *const arrows[] = {"->", "=>", "\xe2\x86", "\xe2\x96\xb8", "\xe2\x97\x82"};
    const char *found;
    size_t i;

    for (i = 0; i < sizeof arrows / sizeof arrows[0]; i++) {
        found = strstr(s->text + from, arrows[i]);
        if (found != NULL && found < s->text + to)
            return true;
    }
    return false;
}

/* Whether nothing but commas and spaces stands between the numbers: "[LOW..HIGH]" is a range. */
static bool are_elements(const struct scan *s, const struct number *list, unsigned num)
{
    unsigned i;

    for (i = 1; i < num; i++)
        if (list[i - 1].end + strspn(s->text + list[i - 1].end, ", ") != list[i].at)
            return false;
    return true;
}

/* Keeps a row whose words have eight digits, for a CPU of 64 bits: it may be that larger ones would have more. That is
 * so if rows begin as far from each other as words of 64 bits take. */
static void note_narrow_row(struct dumps *d, uint64_t addr, const struct number *list, unsigned num)
{
    struct narrow_row *last = d->num_narrow > 0 ? &d->narrow_rows[d->num_narrow - 1] : NULL;
    bool all_short = true;
    unsigned i;

    if (last != NULL && last->last) {
        last->last = false;
        d->steps_of_8 += addr == last->addr + 8 * (uint64_t)last->num;
        d->steps_of_4 += addr == last->addr + 4 * (uint64_t)last->num;
    }
    for (i = 0; i < num; i++)
        all_short = all_short && list[i].digits == 8;
    if (d->word != 8 || !all_short || num > DUMPS_SHORT_WORDS || d->num_narrow == DUMPS_SHORTS)
        return;
    last = &d->narrow_rows[d->num_narrow++];
    last->addr = addr;
    last->num = num;
    last->last = true;
    for (i = 0; i < num; i++)
        last->word[i] = (uint32_t)list[i].value;
}

/* Takes them as words of 64 bits, if they are. */
static void widen_rows(struct dumps *d)
{
    struct log_dump *dump = &d->dump;
    uint8_t bytes[8 * DUMPS_SHORT_WORDS];
    size_t i, kept;
    unsigned n, k;

    for (n = 0; n < d->num_narrow && d->steps_of_8 > 1 && d->steps_of_4 == 0; n++) {
        const struct narrow_row *row = &d->narrow_rows[n];

        for (i = kept = 0; i < dump->num_words; i++)
            if (dump->words[i].addr - row->addr >= 4 * (uint64_t)row->num)
                dump->words[kept++] = dump->words[i];
        dump->num_words = kept;
        for (k = 0; k < row->num; k++)
            store_number(bytes + 8 * (size_t)k, 8, d->big, row->word[k]);
        (void)dump_add_memory(dump, row->addr, bytes, 8 * (size_t)row->num);
    }
}

/* A row of words at ADDR. If one has fewer words than those around it, it is not known which of its words is missing:
 * it is not taken. */
static void add_row(struct scan *s, uint64_t addr, const struct number *list, unsigned num)
{
    struct dumps *d = s->d;
    const bool follows = d->row_words > 0 && addr == d->row_addr + d->row_size;
    uint64_t end;

    note_narrow_row(d, addr, list, num);

    if (d->row_short && follows && num == d->row_words && d->run_addr == d->row_addr)
        d->run_size = 0;
    d->row_short = follows && num < d->row_words;
    if (d->row_short)
        flush_run(d);
    note_order(s, list, num);
    end = add_words(d, addr, list, num);
    d->row_addr = addr;
    if (!d->row_short) {
        d->row_words = num;
        d->row_size = end - addr;
    }
}

/* "ADDRESS -> WORD -> ...", as debuggers print a stack: what lies at the word and behind it is none of its words. SP
 * may have a name in its line. Behind one arrow there may be four or eight words. */
static bool take_arrow_line(struct scan *s)
{
    struct number list[MOST_NUMBERS];
    const unsigned num = scan_numbers(s, 0, list, 8);

    if (num < 2 || !scan_is_near_sp(s->d, list[0].value) || !has_arrow(s, list[0].end, list[1].at) ||
        !scan_is_blank(s, list[0].end, list[1].at))
        return false;
    if ((num == 5 || num == 9) && scan_are_words(list + 1, num - 1) && are_elements(s, list + 1, num - 1))
        add_row(s, list[0].value, list + 1, num - 1);
    else
        (void)take_pair(s, &list[0], &list[1]);
    return true;
}

/* How many of the NUM numbers at LIST are left of an address near SP and a word, behind which a name stands, whose
 * distance is a number, too: "leaf+0x4". */
static unsigned before_name(const struct scan *s, const struct number *list, unsigned num)
{
    const bool named = num > 2 && scan_is_near_sp(s->d, list[0].value) &&
                       scan_is_blank(s, list[0].end, list[1].at) && !scan_is_blank(s, list[1].end, list[2].at);

    return named ? 2 : num;
}

/* Takes a distance between an address and its words out of the NUM numbers at LIST: "ADDRESS|+0x0010: WORD", as gef
 * prints. Returns how many are left. */
static unsigned without_distance(const struct scan *s, struct number *list, unsigned num)
{
    if (num < 3 || s->text[list[1].at - 1] != '+' || s->text[list[1].end] != ':' ||
        !scan_is_blank(s, list[0].end, list[1].at))
        return num;
    list[0].end = list[1].end;
    memmove(list + 1, list + 2, (num - 2) * sizeof *list);
    return num - 1;
}

/* Takes the end of a range out of the NUM numbers at LIST: "[ADDRESS-END]: WORD". Returns how many are left. */
static unsigned without_end(const struct scan *s, struct number *list, unsigned num)
{
    if (num < 3 || s->text[list[0].end] != '-' || list[1].at != list[0].end + 1 || list[1].value <= list[0].value ||
        list[1].value - list[0].value > 8u * MOST_NUMBERS || !scan_is_behind_address(s, list[1].end))
        return num;
    list[0].end = list[1].end;
    memmove(list + 1, list + 2, (num - 2) * sizeof *list);
    return num - 1;
}

/* Puts the address before the NUM numbers at LIST that has fewer digits than a word, and no 0x: "12ae80: WORD". Fewer
 * than five may be a distance. Returns how many numbers there are then. */
static unsigned with_short_address(const struct scan *s, struct number *list, unsigned num)
{
    enum { LEAST = 5, MOST = 7 };
    struct number address;
    size_t end = num > 0 ? list[0].at : 0, at;

    while (end > 0 && is_space(s->text[end - 1]))
        end--;
    if (num == MOST_NUMBERS || end == 0 || s->text[end - 1] != ':')
        return num;
    for (at = end - 1; at > 0 && hex_of(s->text[at - 1]) >= 0;)
        at--;
    if (end - 1 - at < LEAST || end - 1 - at > MOST || s->text[at] == '0' ||
        (at > 0 && !is_space(s->text[at - 1])) || !scan_hex(s, at, &address) ||
        !scan_is_near_sp(s->d, address.value))
        return num;
    memmove(list + 1, list, num * sizeof *list);
    list[0] = address;
    return num + 1;
}

/* Takes what loggers and debuggers put in front of an address near SP out of the NUM numbers at LIST, if ":" stands
 * before the address or behind it: "type=0x80 ADDRESS: WORD...", "Stack[00001234]:ADDRESS WORD". Returns how many are
 * left. */
static unsigned without_front(const struct scan *s, struct number *list, unsigned num)
{
    unsigned i = 0;

    while (i < num && !scan_is_near_sp(s->d, list[i].value))
        i++;
    if (i == 0 || num - i < 2 || (s->text[list[i].end] != ':' && s->text[list[i].at - 1] != ':'))
        return num;
    memmove(list, list + i, (num - i) * sizeof *list);
    return num - i;
}

/* Puts the address near SP that stands behind a letter before the NUM numbers at LIST: "V0000004000800538 WORD...", as
 * z/VM prints. Returns how many numbers there are then. */
static unsigned with_letter(const struct scan *s, struct number *list, unsigned num)
{
    const size_t end = num > 0 ? list[0].at : 0;
    struct number address;
    size_t at = 0;

    while (at < end && !(strchr("vrl", s->text[at]) != NULL && (at == 0 || is_space(s->text[at - 1])) &&
                         scan_hex(s, at + 1, &address) && address.digits == 2 * s->d->word &&
                         is_space(s->text[address.end]) && scan_is_near_sp(s->d, address.value)))
        at++;
    if (at == end || num == MOST_NUMBERS)
        return num;
    memmove(list + 1, list, num * sizeof *list);
    list[0] = address;
    return num + 1;
}

/* "ADDRESS: 0x0b 0x00 ..." or "ADDRESS: 0x000b 0x0010 ...", as debuggers print bytes and numbers of 16 bits: eight or
 * sixteen in a line, all with as many digits. */
static bool take_parts(struct scan *s, const struct number *list, unsigned num)
{
    enum { MOST_BYTES = 32 };
    const unsigned parts = num - 1, size = num > 1 ? list[1].digits / 2 : 0;
    uint8_t bytes[MOST_BYTES];
    unsigned i;

    if ((parts != 8 && parts != 16) || (size != 1 && size != 2))
        return false;
    for (i = 0; i < parts; i++) {
        if (!list[1 + i].prefixed || list[1 + i].digits != 2 * size)
            return false;
        store_number(bytes + size * i, size, s->d->big, list[1 + i].value);
    }
    s->d->are_numbers = true;
    dumps_add_bytes(s->d, list[0].value, bytes, size * parts);
    return true;
}

/* Keeps a row of hexadecimal words that may have no zeros before them. They lie at ADDR, and stand from AT on in the
 * line. */
static bool add_short_row(struct scan *s, uint64_t addr, size_t at)
{
    const size_t end = s->size - (s->size > 0 && is_one_of(s->text[s->size - 1], ",;"));
    struct dumps *d = s->d;
    struct short_row row = {.addr = addr};
    struct number n;
    bool hex = false, shorter = false;

    if (d->num_shorts == DUMPS_SHORTS)
        return false;
    for (at = scan_spaces(s, at); at < end; at = scan_spaces(s, n.end)) {
        if (row.num == DUMPS_SHORT_WORDS || !scan_hex(s, at, &n) || n.prefixed || !scan_fits(d, n.value))
            return false;
        row.word[row.num++] = n.value;
        hex = hex || strcspn(s->text + at, "abcdef") < n.digits;
        shorter = shorter || n.digits < 8;
    }
    if (row.num == 0 || (row.num & (row.num - 1)) != 0)
        return false;
    d->shorts[d->num_shorts++] = row;
    d->shorter += shorter;
    d->next = row.addr + (uint64_t)d->word * row.num;
    d->short_hex = d->short_hex || hex;
    return true;
}

/* "ADDRESS: WORD...". Without ":" the address must be near SP. */
static bool take_word_line(struct scan *s)
{
    struct number list[MOST_NUMBERS];
    unsigned num = with_short_address(s, list, scan_numbers(s, 0, list, 8));
    bool near, marked, behind, said;

    num = without_front(s, list, with_letter(s, list, num));
    num = before_name(s, list, without_end(s, list, without_distance(s, list, num)));
    if (num == 0 || list[0].value % 4 != 0 || !scan_fits(s->d, list[0].value) ||
        (list[0].at > 0 && s->text[list[0].at - 1] == '+'))
        return false;
    behind = scan_is_behind_address(s, list[0].end);
    said = strstr(s->text, "addr") != NULL && strstr(s->text, "addr2line") == NULL;
    if (s->d->top && !s->d->dump.has_sp && (behind || said) && num > 1) {
        set_register(s, FORMAT_SP, list[0].value);
        s->d->top_sp = true;
    }
    near = scan_is_near_sp(s->d, list[0].value);
    if ((near || behind) && (take_byte_line(s, &list[0]) || take_parts(s, list, num)))
        return true;
    marked = (behind || said) && (s->d->begun || s->d->registers > 2 || near);
    if (num == 2 && !behind && take_pair(s, &list[0], &list[1])) {
        if (s->d->word == 4)
            (void)add_short_row(s, list[0].value, list[1].at);
        return true;
    }
    s->d->has_pair = s->d->has_pair && num == 2;
    if (num < 2 || !scan_are_words(list + 1, num - 1) ||
        !(marked || (near && may_be_words(s->d, list[0].value, num))) ||
        !(scan_only_numbers(s, list[0].end, list + 1, num - 1) ||
          (near && behind && num == 2 && scan_is_blank(s, list[0].end, list[1].at)))) /* a name behind it */
        return false;
    add_row(s, list[0].value, list + 1, num - 1);
    if (near && s->d->word == 4)
        (void)add_short_row(s, list[0].value, list[1].at);
    return true;
}

/* "ADDRESS=WORD ADDRESS=WORD ...", two or more, which need not lie side by side. */
static bool take_equal_pairs(struct scan *s)
{
    struct number list[MOST_NUMBERS];
    const unsigned num = scan_numbers(s, 0, list, 2 * s->d->word);
    unsigned i;

    if (num < 4 || num % 2 != 0 || !scan_only_numbers(s, list[0].end, list + 1, num - 1))
        return false;
    for (i = 0; i < num; i += 2)
        if (!scan_is_near_sp(s->d, list[i].value) || s->text[list[i].end] != '=' ||
            list[i + 1].at != list[i].end + 1)
            return false;
    for (i = 0; i < num; i += 2)
        (void)add_words(s->d, list[i].value, list + i + 1, 1);
    return true;
}

/* Whether N, at AT, stands as a distance does: "0010:", "+10", "[16]". */
static bool is_distance(const struct scan *s, size_t at, const struct number *n)
{
    const char before = at > 0 ? s->text[at - 1] : ' ', behind = s->text[n->end];

    return before == '+' || (before == '[' && behind == ']') || (before == ' ' && n->digits > 1 && behind == ':');
}

/* "0010: WORD...", "+10 WORD..." or bytes: a distance from SP that is as many bytes as have come, or words. */
static bool take_distance_line(struct scan *s)
{
    struct dumps *d = s->d;
    const uint64_t next = next_distance(d, d->dump.sp);
    struct number first = {0}, list[MOST_NUMBERS];
    size_t at = 0;
    unsigned num;

    while (at < s->size && !((at == 0 || strchr(" +[", s->text[at - 1]) != NULL) && scan_hex(s, at, &first) &&
                             is_distance(s, at, &first)))
        at++;
    if (!d->dump.has_sp || at == s->size || !(is_count(s, &first, next) || is_count(s, &first, next / d->word)))
        return false;
    first.value = d->dump.sp + next;
    num = scan_numbers(s, first.end, list, 8);
    if (num > 0 && scan_is_near_sp(d, list[0].value) && scan_is_behind_address(s, list[0].end))
        return false; /* the number of the line, in front of an address */
    if (!scan_are_words(list, num) || !scan_only_numbers(s, first.end, list, num))
        return take_byte_line(s, &first);
    (void)add_words(d, first.value, list, num);
    return true;
}

/* Words follow, from ADDR on. HEADED: a line that ended with ADDR came before them. */
static void begin_words(struct dumps *d, uint64_t addr, bool headed)
{
    d->follow = true;
    d->headed = headed;
    d->placed = false;
    d->columns = 0;
    d->next = addr;
}

/* A line that ends with an address near SP and ":": the words of the next lines lie there. */
static bool take_heading(struct scan *s)
{
    struct number list[MOST_NUMBERS];
    const unsigned num = scan_numbers(s, 0, list, 8);

    if (num != 1 || !scan_is_near_sp(s->d, list[0].value) || list[0].end + 1 != s->size ||
        s->text[list[0].end] != ':')
        return false;
    begin_words(s->d, list[0].value, true);
    return true;
}

/* The last digits of the address of words, or how far behind the first ones they lie, may stand before them. Behind a
 * heading, words that were left out are passed over. Returns false if they do not go on from there. */
static bool pass_to_key(struct scan *s, size_t at)
{
    enum { KEY = 4, MOST_LEFT_OUT = 1024 };
    struct dumps *d = s->d;
    struct number key;
    size_t end = at, from;
    uint64_t left_out;

    while (end > 0 && is_space(s->text[end - 1]))
        end--;
    for (from = end; from > 0 && hex_of(s->text[from - 1]) >= 0;)
        from--;
    if (end - from < KEY || (from > 0 && !is_space(s->text[from - 1])) || !scan_hex(s, from, &key) ||
        key.end != end || key.digits >= 16)
        return true;
    if (!d->headed || key.digits != KEY)
        return ((key.value ^ d->next) & ((UINT64_C(1) << 4 * key.digits) - 1)) == 0 ||
               scan_is_offset(s, &key, d->next - d->first);
    left_out = (key.value - d->next) & 0xffff;
    if (left_out >= MOST_LEFT_OUT || left_out % 4 != 0)
        return false;
    d->next += left_out;
    return true;
}

/* Whether the first of two numbers is a distance: the lines count, by words. Where it is as long as a word, it may be
 * one, and the second line tells. */
static bool is_counted(struct dumps *d, const struct number *first)
{
    const uint64_t so_far = d->next - d->first;

    if (first->digits < 2 * d->word ? first->value == so_far : so_far == 2 * d->word && first->value == d->word) {
        d->run_size = 0;
        return true;
    }
    return false;
}

/* Notes a word that has no address, where such words begin if FIRST. It may be a return address of a list of calls,
 * too: it is a word of the stack if words come that no list has, before the last one. */
static void note_lone(struct dumps *d, uint64_t word, bool first)
{
    enum { SMALL = 4096 };

    if (first) {
        flush_run(d);
        d->lone_first = d->dump.num_words;
    }
    d->lone_proven = d->lone_proven || d->lone_like;
    d->lone_like = word < SMALL || scan_is_near_sp(d, word);
    d->lone_words++;
}

/* Adds the NUM words at LIST, which have no address, from d->next on. */
static void add_lone_words(struct dumps *d, const struct number *list, unsigned num, bool first)
{
    unsigned i;

    for (i = 0; i < num; i++)
        note_lone(d, list[i].value, first && i == 0);
    d->next = add_words(d, d->next, list, num);
    d->counted = true;
}

/* A word that stands alone in its line, directly behind the text that names the stack. */
static bool take_lone_word(struct scan *s, const struct number *n)
{
    struct dumps *d = s->d;

    if (!d->stack_said || d->list || d->columns > 1 || d->idle > 0 || d->headed || d->next % d->word != 0 ||
        (n->digits != 2 * d->word && !n->prefixed) || (d->columns == 0 && n->value == d->dump.sp))
        return false;
    note_lone(d, n->value, d->columns == 0);
    d->columns = 1;
    d->counted = true;
    store_number(d->lone, d->word, d->big, n->value);
    dumps_add_bytes(d, d->next, d->lone, d->word);
    d->next += d->word;
    return true;
}

/* Takes words out that have no addresses, and may be return addresses. */
static void drop_lone_words(struct dumps *d)
{
    if (d->lone_words == 0 || d->lone_proven)
        return;
    d->lone_end = d->dump.num_words;
    d->dump.num_words = d->lone_first;
    d->counted = false;
}

/* Takes a line of words that have no address: from d->next on. What may be an address and a word, or words, is not
 * taken, nor is what follows it: where that lies would be a guess. */
static bool take_bare(struct scan *s)
{
    enum { LEAST = 2 };
    struct dumps *d = s->d;
    struct number list[MOST_NUMBERS];
    const unsigned num = scan_numbers(s, 0, list, 8);

    if (num == 1 && !d->placed && !d->single && is_alone(s, list[0].at) &&
        scan_only_numbers(s, list[0].at, list, num) && !scan_is_behind_address(s, list[0].end))
        return take_lone_word(s, &list[0]);
    if (d->placed || num + d->single < LEAST || !scan_are_words(list, num) ||
        !scan_only_numbers(s, list[0].at, list, num) || scan_is_behind_address(s, list[0].end))
        return false;
    if (d->columns == 0)
        d->first = d->next;
    if ((num == LEAST && is_counted(d, &list[0])) ||
        (list[0].at > 0 && strchr("+[", s->text[list[0].at - 1]) != NULL) || !pass_to_key(s, list[0].at))
        d->follow = false;
    if (d->columns > 0 ? num > d->columns : (num & (num - 1)) != 0 && ((num - 1) & (num - 2)) == 0)
        d->follow = false;
    if (num == LEAST && scan_is_near_sp(d, list[0].value & ~UINT64_C(3)))
        d->follow = false;
    if (!d->follow)
        return false;
    note_order(s, list, num);
    if (d->headed)
        d->next = add_words(d, d->next, list, num);
    else
        add_lone_words(d, list, num, d->columns == 0);
    d->counted = true;
    d->columns = d->columns > 0 ? d->columns : num;
    d->follow = num == d->columns; /* a shorter one is the last one */
    return true;
}

/* Words behind the address that a text has named: "de00:" and columns of the addresses that end so; or words alone. */
static bool take_following(struct scan *s)
{
    enum { KEY = 4 };
    struct number list[MOST_NUMBERS], key;
    unsigned num;
    size_t at = 0;

    while (at < s->size && !(hex_of(s->text[at]) >= 0 && (at == 0 || is_space(s->text[at - 1])) &&
                             scan_hex(s, at, &key) && key.digits == KEY && s->text[key.end] == ':'))
        at++;
    if (at < s->size) {
        num = scan_numbers(s, key.end, list, 8);
        if (!scan_are_words(list, num))
            return false;
        (void)add_words(s->d,
                        (s->d->next & ~UINT64_C(0xffff)) + key.value +
                            list[0].digits / 2 * ((list[0].at - key.end - 2) / (list[0].digits + 1)),
                        list, num);
        s->d->placed = true;
        return true;
    }
    return take_bare(s);
}

/* Where the numbers begin that the line ends with. */
static size_t begin_of_last_numbers(const struct scan *s)
{
    size_t at = s->size;

    while (at > 0 && (hex_of(s->text[at - 1]) >= 0 || is_space(s->text[at - 1])))
        at--;
    return at > 0 ? at + strcspn(s->text + at, " ") : 0;
}

/* "ADDRESS: 10000b 0": a row of hexadecimal words without zeros before them, as kernel debuggers print. */
static bool take_short_row(struct scan *s)
{
    struct dumps *d = s->d;
    struct number list[MOST_NUMBERS];
    const unsigned num = scan_numbers(s, 0, list, 8);
    const size_t sign = num > 0 ? scan_spaces(s, list[0].end) : 0;

    if (num > 0 && scan_is_near_sp(d, list[0].value) && is_one_of(s->text[sign], ":=-"))
        return add_short_row(s, list[0].value, sign + 1);
    if (!d->follow || !d->headed || d->placed || !add_short_row(s, d->next, begin_of_last_numbers(s)))
        return false;
    d->counted = true;
    return true;
}

/* Finds "SYMBOL+0x10:", the symbol from *FROM to *END. *BEHIND: where the words begin. */
static bool find_symbol(const struct scan *s, size_t *from, size_t *end, uint64_t *distance, size_t *behind)
{
    const char *plus = strchr(s->text, '+');
    struct number n;

    *from = *end = plus != NULL ? (size_t)(plus - s->text) : 0;
    while (*from > 0 && (text_is_of_a_word(s->text[*from - 1]) || is_one_of(s->text[*from - 1], ".$")))
        (*from)--;
    if (*end == *from || *end - *from >= DUMPS_SYMBOL || !scan_hex(s, *end + 1, &n) || s->text[n.end] != ':')
        return false;
    *distance = n.value;
    *behind = n.end + 1;
    return true;
}

/* "SYMBOL+0x10: WORD...": kernel debuggers name the address of a row by the symbol in front of it. The first row begins
 * at SP if a text has said so, and tells where the symbol lies. */
static bool take_symbol_row(struct scan *s, bool follow)
{
    struct dumps *d = s->d;
    struct number list[MOST_NUMBERS];
    uint64_t distance;
    size_t from, end, behind;
    unsigned num;

    if (!find_symbol(s, &from, &end, &distance, &behind))
        return false;
    if (d->symbol[0] == '\0' && follow && !d->placed && d->columns == 0) {
        memcpy(d->symbol, s->text + from, end - from);
        d->symbol[end - from] = '\0';
        d->symbol_base = d->next - distance;
    }
    if (strlen(d->symbol) != end - from || memcmp(d->symbol, s->text + from, end - from) != 0) {
        d->symbol_rows += scan_hex(s, scan_spaces(s, behind), &list[0]);
        return false;
    }
    d->placed = true;
    num = scan_numbers(s, behind, list, 8);
    if (!scan_are_words(list, num) || !scan_only_numbers(s, behind, list, num))
        return add_short_row(s, d->symbol_base + distance, behind);
    add_row(s, d->symbol_base + distance, list, num);
    return true;
}

/* Adds such rows, if each begins where the words of the one before end. */
static void add_short_rows(struct dumps *d)
{
    uint8_t bytes[8];
    unsigned i, k;

    if (d->shorter == 0)
        return;
    for (i = 1; i < d->num_shorts; i++)
        if (d->shorts[i].addr != d->shorts[i - 1].addr + (uint64_t)d->word * d->shorts[i - 1].num)
            return;
    for (i = 0; i < d->num_shorts && d->num_shorts > 1 && d->short_hex; i++)
        for (k = 0; k < d->shorts[i].num; k++) {
            store_number(bytes, d->word, d->big, d->shorts[i].word[k]);
            dumps_add_bytes(d, d->shorts[i].addr + (uint64_t)d->word * k, bytes, d->word);
        }
}

/* ---- Texts ----------------------------------------------------------------------------------------------------- */

/* Where TEXT of a format ends in the line; 0: the line does not have it. */
static size_t find_text(const struct scan *s, const char *text)
{
    const char *found = strstr(s->text, text);
    size_t at, end = 0;

    if (found != NULL)
        return (size_t)(found - s->text) + strlen(text);
    for (at = 0; at < s->size && end == 0 && strchr(text, '*') != NULL; at++)
        if (s->text[at] == text[0])
            end = match_phrase(s, at, text);
    return end;
}

/* Words of the stack from SP on, as an array behind AT; two at least, because one may be how many there are. */
static void take_stack_array(struct scan *s, size_t at)
{
    struct number list[MOST_NUMBERS];
    unsigned num = scan_numbers(s, at, list, 8);
    bool first = true;

    s->d->single = are_elements(s, list, num);
    if (num < 2 || !scan_are_words(list, num) || !s->d->single)
        return;
    s->d->follow = strchr(s->text + at, ']') == NULL;
    for (; num > 0; num = scan_numbers(s, list[num - 1].end, list, 8), first = false)
        add_lone_words(s->d, list, num, first);
}

/* Words behind the text that names the stack, in its line: "Stack: WORD WORD ...", from SP on. Two numbers may be its
 * bounds. Where they are fewer words than that, those of the next lines lie nobody knows where. */
static void take_first_row(struct scan *s, size_t at)
{
    enum { LEAST = 3 };
    struct number list[MOST_NUMBERS];
    unsigned num = scan_numbers(s, at, list, 8);
    bool first = true;

    if (num < LEAST || !scan_are_words(list, num) || !scan_only_numbers(s, at, list, num))
        return;
    s->words = true;
    s->d->columns = num;
    s->d->first = s->d->next;
    for (; num > 0; num = scan_numbers(s, list[num - 1].end, list, 8), first = false)
        add_lone_words(s->d, list, num, first);
}

/* Whether nothing but a word that says "from here on" stands between AT, where a heading ends, and the number at
 * END. */
static bool is_start(const struct scan *s, size_t at, size_t end)
{
    static const char *const words[] = {"from", "at", "starting", "begin", "starts", "addr", "address", "range"};
    size_t i, to;

    while (at < end) {
        to = scan_end_of_name(s, at);
        for (i = 0; i < sizeof words / sizeof words[0]; i++)
            if (to - at == strlen(words[i]) && memcmp(s->text + at, words[i], to - at) == 0)
                break;
        if (to > at && i == sizeof words / sizeof words[0])
            return false;
        at = to > at ? to : at + 1;
    }
    return true;
}

/* Reads how many bytes the number N at the end of a line is. Without 0x it may be decimal: as it is a multiple of a
 * word's size. Returns false if it may be both. */
static bool read_bytes(const struct scan *s, const struct number *n, uint64_t *bytes)
{
    char *end;
    const uint64_t decimal = strtoull(s->text + n->at, &end, 10);
    const bool may_be_decimal = !n->prefixed && end == s->text + n->end && decimal % s->d->word == 0;
    const bool may_be_hex = n->value % s->d->word == 0;

    *bytes = may_be_decimal ? decimal : n->value;
    return may_be_decimal != may_be_hex || (may_be_hex && decimal == n->value);
}

/* "sp-16", "sp + 0x10" at AT, up to the end of the line: sets *ADDR. *KNOWN: whether it is clear how many bytes that
 * is. */
static bool is_from_sp(const struct scan *s, size_t at, uint64_t *addr, bool *known)
{
    struct number n;
    uint64_t bytes = 0;
    size_t sign;

    at += strspn(s->text + at, " :=(");
    sign = scan_spaces(s, at + 2);
    if (strncmp(s->text + at, "sp", 2) != 0 || (s->text[sign] != '-' && s->text[sign] != '+') ||
        !scan_hex(s, scan_spaces(s, sign + 1), &n) || s->text[n.end + strspn(s->text + n.end, " ):")] != '\0')
        return false;
    *known = read_bytes(s, &n, &bytes);
    *addr = s->text[sign] == '-' ? s->d->dump.sp - bytes : s->d->dump.sp + bytes;
    return true;
}

/* A heading ends at AT in the line. Sets *ADDR to where the words lie that follow: from SP on, or from an address
 * behind the heading on. Returns false if the heading has another address of the stack, which may be that of the first
 * word. */
static bool place_of_heading(const struct scan *s, size_t at, uint64_t *addr)
{
    struct number list[MOST_NUMBERS];
    const unsigned num = scan_numbers(s, at, list, 8);
    bool other = false, known = false;
    unsigned i;

    *addr = s->d->dump.sp;
    if (is_from_sp(s, at, addr, &known))
        return known;
    if (num == 0 || num > 2)
        return true;
    for (i = 0; i < num; i++) {
        if (list[i].value == s->d->dump.sp)
            return true;
        other = other || scan_is_near_sp(s->d, list[i].value);
    }
    if (!other || !scan_is_near_sp(s->d, list[0].value) || !is_start(s, at, list[0].at))
        return !other;
    *addr = list[0].value;
    return true;
}

/* Whether the word from FROM to END is one of LIST, which ends with NULL. */
static bool is_listed(const struct scan *s, size_t from, size_t end, const char *const *list)
{
    while (*list != NULL && (end - from != strlen(*list) || memcmp(s->text + from, *list, end - from) != 0))
        list++;
    return *list != NULL;
}

/* The word, or the part of a name, that ends before END: from *AT on. Returns where it ends. */
static size_t word_before(const struct scan *s, size_t end, size_t *at)
{
    while (end > 0 && (!text_is_of_a_word(s->text[end - 1]) || s->text[end - 1] == '_'))
        end--;
    for (*at = end; *at > 0 && text_is_of_a_word(s->text[*at - 1]) && s->text[*at - 1] != '_';)
        --*at;
    return end;
}

/* Whether the heading from FROM to BEHIND names a stack that SP was not on, or one from its other end on: "IRQ stack:",
 * "idle_task_stack:", "Stack (base to top):". */
static bool is_other_stack(const struct scan *s, size_t from, size_t behind)
{
    static const char *const before[] = {"irq", "isr", "interrupt", "idle", "other", NULL};
    static const char *const between[] = {"task", "thread", "handler", NULL};
    static const char *const after[] = {"base", "bottom", "top", NULL};
    size_t end, at;

    end = word_before(s, from, &at);
    if (is_listed(s, at, end, between))
        end = word_before(s, at, &at);
    if (is_listed(s, at, end, before))
        return true;
    for (at = behind; at<s->size; at = end> at ? end : at + 1) {
        end = scan_end_of_name(s, at);
        if (is_listed(s, at, end, after))
            return true;
    }
    return false;
}

/* Whether a text that names a list of calls has the one that names the stack, which ends at BEHIND: "Call stack: ". */
static bool is_of_list(const struct scan *s, size_t behind)
{
    const struct formats *f = s->d->formats;
    size_t i;

    for (i = 0; i < f->num_texts; i++) {
        const struct format_text *t = &f->texts[i];
        const size_t size = strlen(t->text);
        const bool lists = t->kind == FORMAT_LIST || t->kind == FORMAT_CALLS || t->kind == FORMAT_RETURNS;
        const size_t end = lists && (t->cpus & s->d->cpu) != 0 ? find_text(s, t->text) : 0;

        if (end > 0 && end + 1 >= behind && end - size < behind && end <= behind)
            return true;
    }
    return false;
}

/* Whether the line begins with an address of the stack, behind which a word of it stands: a remark, no heading. */
static bool begins_with_address(const struct scan *s)
{
    struct number list[MOST_NUMBERS];

    return scan_numbers(s, 0, list, 8) > 1 && scan_is_near_sp(s->d, list[0].value) &&
           scan_is_behind_address(s, list[0].end);
}

/* A heading of the words of the stack, of SIZE characters, which ends at BEHIND. */
static void take_stack_heading(struct scan *s, size_t size, size_t behind)
{
    struct dumps *d = s->d;
    uint64_t from;

    d->stack_lost = d->stack_lost || !d->dump.has_sp;
    if (is_other_stack(s, behind > size ? behind - size : 0, behind) || !d->dump.has_sp ||
        !place_of_heading(s, behind, &from)) {
        d->follow = false;
        return;
    }
    d->stack_said = s->took = true;
    d->octets = false;
    begin_words(d, from, false);
    braces_note_type(s);
    d->single = s->text[scan_spaces(s, behind)] == '[';
    if (d->single)
        take_stack_array(s, behind);
    else
        take_first_row(s, behind);
}

/* The first number of the line behind BEHIND, as T's kind needs it: where words begin, an image's base, its slide. */
static void take_place(struct scan *s, const struct format_text *t, size_t behind)
{
    struct dumps *d = s->d;
    struct number numbers[MOST_NUMBERS];

    if (scan_numbers(s, behind, numbers, t->kind == FORMAT_FROM ? 8 : 6) == 0)
        return;
    if (t->kind == FORMAT_FROM) {
        s->took = true;
        begin_words(d, numbers[0].value, false);
    } else if (t->kind == FORMAT_BASE) {
        d->has_base = true;
        d->base = numbers[0].value;
    } else {
        d->has_slide = true;
        d->slide = numbers[0].value;
    }
}

/* What the text T says of the line, in which it ends at BEHIND. LIST has NUM addresses. Returns how many it has now. */
static size_t take_text(struct scan *s, const struct format_text *t, size_t behind, struct named_address *list,
                        size_t num)
{
    struct dumps *d = s->d;
    struct number numbers[MOST_NUMBERS];

    switch (t->kind) {
    case FORMAT_BEGIN:
        d->begun = true;
        break;
    case FORMAT_LINKED:
        s->linked = true;
        break;
    case FORMAT_TOP:
        d->top = true;
        break;
    case FORMAT_LIST:
        d->list = d->list || (scan_numbers(s, behind, numbers, 6) == 0 && !begins_with_address(s));
        break;
    case FORMAT_CALLS:
    case FORMAT_RETURNS:
        return lists_take_all(s, behind, t->kind == FORMAT_RETURNS, list, num);
    case FORMAT_FRAMES:
        d->frames = true;
        d->behind_heading = 0;
        break;
    case FORMAT_STACK:
        take_stack_heading(s, strlen(t->text), behind);
        break;
    case FORMAT_FROM:
    case FORMAT_BASE:
    case FORMAT_MOVED:
        take_place(s, t, behind);
        break;
    case FORMAT_UNREAD:
        d->unread = t->said;
        break;
    default: /* for others to read */
        break;
    }
    return num;
}

/* What the texts of formats say of the line. */
static size_t take_texts(struct scan *s, struct named_address *list, size_t num)
{
    const struct formats *f = s->d->formats;
    size_t i;

    for (i = 0; i < f->num_texts; i++) {
        const struct format_text *t = &f->texts[i];
        const size_t behind = (t->cpus & s->d->cpu) != 0 && t->kind != FORMAT_REGISTER ? find_text(s, t->text) : 0;

        if (behind != 0 && !(t->kind == FORMAT_STACK && is_of_list(s, behind)))
            num = take_text(s, t, behind, list, num);
    }
    return num;
}

/* ---- Rows of registers ----------------------------------------------------------------------------------------- */

/* Numbers alone from AT on: registers from the one that d->row says. */
static bool take_row(struct scan *s, size_t at, bool take)
{
    enum { NUM_ROW = 16 };
    struct number list[MOST_NUMBERS];
    const unsigned num = scan_numbers(s, at, list, 8);
    unsigned i;

    if (at > 0 && scan_spaces(s, at) == s->size)
        return true;
    if (num < 2 || !scan_are_words(list, num) || !scan_only_numbers(s, at > 0 ? at : list[0].at, list, num))
        return false;
    for (i = 0; i < num && s->d->row <= NUM_ROW; i++) {
        const uint8_t reg = row_register(s->d, (uint8_t)(s->d->row - 1));

        take_register(s, reg, list[i].value, take);
        s->d->row++;
    }
    if (s->d->row > NUM_ROW)
        s->d->row = 0;
    return true;
}

/* A line with registers that have no names, or one of those behind it. */
static bool take_rows(struct scan *s, bool take)
{
    const struct formats *f = s->d->formats;
    const uint8_t before = s->d->row;
    bool taken = false;
    size_t i;

    for (i = 0; i < f->num_texts && s->d->abi != 0 && !taken; i++) {
        const struct format_text *t = &f->texts[i];
        const char *found = t->kind == FORMAT_ROW && (t->cpus & s->d->cpu) != 0 ? strstr(s->text, t->text) : NULL;

        if (found == NULL || (found > s->text && text_is_of_a_word(found[-1])))
            continue;
        s->d->row = (uint8_t)(t->reg + 1);
        taken = take_row(s, (size_t)(found - s->text) + strlen(t->text), take);
    }
    if (!taken) {
        s->d->row = before;
        taken = before != 0 && take_row(s, 0, take);
    }
    if (!taken || !take)
        s->d->row = taken ? before : 0;
    return taken;
}

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

/* C libraries print a null pointer as "(nil)" or "(null)". */
static void replace_nil(char *text)
{
    static const char *const from[] = {"(nil)", "(null)"}, *const to[] = {"0x000", "0x0000"};
    char *found;
    size_t i;

    for (i = 0; i < sizeof from / sizeof from[0]; i++)
        for (found = strstr(text, from[i]); found != NULL; found = strstr(found, from[i]))
            memcpy(found, to[i], strlen(to[i]));
}

/* "{"value": 12}" of JSON is the number alone. */
static void replace_values(char *text)
{
    static const char name[] = "\"value\"";
    char *found, *from, *end;

    for (found = strstr(text, name); found != NULL; found = strstr(end, name)) {
        from = found;
        end = found + strlen(name);
        while (from > text && from[-1] == ' ')
            from--;
        while (*end == ' ')
            end++;
        if (from == text || from[-1] != '{' || *end != ':')
            continue;
        memset(from - 1, ' ', (size_t)(end + 1 - (from - 1)));
        end += strspn(end, " ");
        end += strspn(end, "0123456789 ");
        if (*end == '}')
            *end = ' ';
    }
}

/* How other languages write hexadecimal numbers: Ada, Verilog, Lisp, Basic, Pascal (and Motorola's assemblers). */
static const struct notation {
    const char *before; /* the digits */
    const char *put;    /* in its place, of the same size */
    char behind;        /* the digits; '\0': nothing */
    unsigned least;     /* digits */
} notations[] = {{"16#", " 0x", '#', 1}, {"32'h", "  0x", '\0', 1}, {"64'h", "  0x", '\0', 1},
                 {"#x", "0x", '\0', 1},  {"&h", "0x", '\0', 1},     {"$", " ", '\0', 8}};

/* Writes the number at AT, which is of notation N, as C does. */
static void replace_notation(char *text, char *at, const struct notation *n)
{
    const size_t size = strlen(n->before), digits = strspn(at + size, "0123456789abcdef");
    char *const end = at + size + digits;

    if (digits < n->least || (n->least > 1 && digits != 8 && digits != 16) || text_is_of_a_word(*end) ||
        (n->behind != '\0' && *end != n->behind) || (at > text && text_is_of_a_word(at[-1])))
        return;
    memcpy(at, n->put, size);
    if (n->behind != '\0')
        *end = ' ';
}

static void replace_notations(char *text)
{
    size_t i;
    char *at;

    for (i = 0; i < sizeof notations / sizeof notations[0]; i++)
        for (at = strstr(text, notations[i].before); at != NULL; at = strstr(at + 1, notations[i].before))
            replace_notation(text, at, &notations[i]);
}

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
    replace_nil(s->text);
    replace_values(s->text);
    replace_notations(s->text);
    s->decimal = has_decimal(s);
    return true;
}

/* Where the bytes end that stand at AT without anything between them, in the order of memory: 16 of them or more. 0:
 * none do. */
static size_t end_of_bytes(const struct scan *s, size_t at)
{
    enum { LEAST = 32 };
    const size_t digits = strspn(s->text + at, "0123456789abcdef");

    return digits >= LEAST && digits % 8 == 0 && !text_is_of_a_word(s->text[at + digits]) ? at + digits : 0;
}

/* "ADDRESS: 0b00100015001000...", bytes of the stack as one number; or such a number alone, behind the text that names
 * the stack. */
static bool take_string(struct scan *s, bool follow)
{
    struct dumps *d = s->d;
    struct number list[MOST_NUMBERS];
    const unsigned num = scan_numbers(s, 0, list, 8);
    const bool near = num > 0 && scan_is_near_sp(d, list[num - 1].value) && s->text[list[num - 1].end] == ':';
    const char *space = strrchr(s->text, ' ');
    size_t at = space != NULL ? (size_t)(space - s->text) + 1 : 0;
    const size_t end = end_of_bytes(s, at);
    uint8_t byte;

    if (end != s->size || !(near ? scan_is_blank(s, list[num - 1].end, at)
                                 : follow && !d->placed && num == 0 && d->idle == 0 && is_alone(s, at)))
        return false;
    d->next = near ? list[num - 1].value : d->next;
    d->counted = d->counted || !near;
    d->are_numbers = true;
    for (; at < end; at += 2) {
        byte = (uint8_t)(hex_of(s->text[at]) << 4 | hex_of(s->text[at + 1]));
        dumps_add_bytes(d, d->next++, &byte, 1);
    }
    return true;
}

/* Words of a stack. With an address before them there is one number more than a power of two. */
static bool take_lines(struct scan *s, bool follow)
{
    struct number list[MOST_NUMBERS];
    const unsigned num = scan_numbers(s, 0, list, 8);
    const bool addressed =
        num > 0 && (scan_is_behind_address(s, list[0].end) || (num > 2 && (num & (num - 1)) != 0) ||
                    (num == 2 && may_be_words(s->d, list[0].value, num)));

    const bool distant = follow && take_distance_line(s);

    if (!distant && follow && !addressed && take_following(s))
        return true;
    if (distant || take_symbol_row(s, follow) || take_equal_pairs(s) || take_word_line(s)) {
        s->d->placed = true;
        return true;
    }
    return (follow && (take_following(s) || take_bare_bytes(s))) || take_string(s, follow) || halves_take(s) ||
           take_short_row(s);
}

/* Whether the line has nothing but words, written as a whole, of which nothing says where they lie, or no more than a
 * distance before them. */
static bool has_bare_words(const struct scan *s)
{
    struct number list[MOST_NUMBERS];
    const unsigned num = scan_numbers(s, 0, list, 2 * s->d->word);
    unsigned i;

    for (i = 0; i < num; i++)
        if (list[i].digits != 2 * s->d->word)
            return false;
    return num > 1 && scan_only_numbers(s, list[0].at, list, num);
}

/* Whether the line is nothing but one word, written as a whole. */
static bool is_lone_word(const struct scan *s)
{
    struct number list[MOST_NUMBERS];
    const unsigned num = scan_numbers(s, 0, list, 2 * s->d->word);

    return num == 1 && list[0].digits == 2 * s->d->word && is_alone(s, list[0].at) &&
           scan_only_numbers(s, list[0].at, list, num);
}

/* Whether the line begins with an address and a colon, and numbers with "0x" follow: "0x20001f40: 0x1 0x0". */
static bool has_prefixed_words(const struct scan *s)
{
    struct number n;
    unsigned num = 0;
    size_t i = scan_spaces(s, 0);

    if (!scan_hex(s, i, &n) || s->text[n.end] != ':')
        return false;
    while (scan_hex(s, scan_spaces(s, n.end + (num == 0)), &n) && n.prefixed)
        num++;
    return num > 1;
}

/* Whether numbers of one size stand side by side, as many as a dump of memory has in a line. */
static bool has_memory(const struct scan *s)
{
    enum { LEAST_WORDS = 2, LEAST_PARTS = 4, PART = 4 /* digits */ };
    unsigned same = 0, before = 0;
    struct number n;
    size_t i;

    for (i = 0; i < s->size; i = n.end) {
        n.end = i + 1;
        if (hex_of(s->text[i]) < 0 || (i > 0 && text_is_of_a_word(s->text[i - 1])) || !scan_hex(s, i, &n) ||
            (n.digits != 2 && n.digits != PART && n.digits != 8 && n.digits != 16)) {
            same = is_space(s->text[i]) ? same : 0;
            n.end = i + 1;
            continue;
        }
        same = n.digits == before ? same + 1 : 1;
        before = n.digits;
        if (same >= (n.digits > PART ? LEAST_WORDS : LEAST_PARTS))
            return true;
    }
    return false;
}

/* Whether the line is nothing but a word in quotes, as in an array of JSON whose begin was not understood. */
static bool is_quoted_word(const struct scan *s)
{
    struct number n;
    const size_t at = scan_spaces(s, 0);

    return s->text[at] == '"' && scan_hex(s, at + 1, &n) && (n.prefixed || n.digits >= 8) &&
           s->text[n.end] == '"' && s->size - n.end <= 2;
}

/* Whether the line has bytes without anything between them, in hexadecimal or in base64. */
static bool has_string(const struct scan *s)
{
    enum { LEAST_BASE64 = 40 };
    size_t i, base64 = 0;

    for (i = 0; i < s->size; i++) {
        if ((i == 0 || !text_is_of_a_word(s->text[i - 1])) && end_of_bytes(s, i) > 0)
            return true;
        base64 = text_is_of_a_word(s->text[i]) || is_one_of(s->text[i], "+/=") ? base64 + 1 : 0;
        if (base64 >= LEAST_BASE64)
            return true;
    }
    return false;
}

/* Whether the line has an address near SP, in front of other long numbers or behind ":", and behind it ":" and
 * something, or another number as long as a word. */
static bool is_row_near_sp(const struct scan *s)
{
    struct number list[MOST_NUMBERS];
    const unsigned num = scan_numbers(s, 0, list, 8);
    unsigned i = 0;

    while (i < num && !((i == 0 || s->text[list[i].at - 1] == ':') && scan_is_near_sp(s->d, list[i].value)))
        i++;
    return i + 1 < num || (i < num && s->text[list[i].end] == ':' && list[i].end + 1 < s->size);
}

/* Whether addresses of the line are those that the image was linked to. */
static bool is_linked(const struct scan *s)
{
    const struct formats *f = s->d->formats;
    size_t i;

    for (i = 0; i < f->num_texts; i++)
        if (f->texts[i].kind == FORMAT_LINKED && strstr(s->text, f->texts[i].text) != NULL)
            return true;
    return false;
}

/* Where a line's last array begins, at the name of registers in front of its bracket, if the array has no end and the
 * line has nothing but numbers in it; or SIZE. */
static size_t open_array(const char *text, size_t size)
{
    size_t open = size, at, name;

    for (at = size; at > 0 && open == size; at--) {
        if (text[at - 1] == ']')
            return size;
        if (text[at - 1] == '[')
            open = at - 1;
    }
    for (at = open; at < size; at++)
        if (!is_one_of(text[at], "[0123456789abcdefx_, "))
            return size;
    while (open > 0 && open < size && is_one_of(text[open - 1], " :=\""))
        open--;
    name = open < size ? begin_of_array(text, open) : size;
    return name < open ? name : size;
}

/* Whether a number as long as a word ends at END: an address, behind which words follow. */
static bool is_word_before(const char *text, size_t end)
{
    enum { LEAST = 8 };
    size_t from = end;

    while (from > 0 && hex_of(text[from - 1]) >= 0)
        from--;
    return end - from >= LEAST && (from == 0 || !text_is_of_a_word(text[from - 1]) || text[from - 1] == 'x');
}

/* Where the numbers at a line's end begin, which go on with an array or end it: "0x80001234,", "12, 13],"; or SIZE. */
static size_t more_of_array(const char *text, size_t size)
{
    size_t end = size, from, at;

    while (end > 0 && is_one_of(text[end - 1], " ,"))
        end--;
    end -= end > 0 && text[end - 1] == ']';
    for (from = end; from > 0 && is_one_of(text[from - 1], "0123456789abcdefx_, ");)
        from--;
    if (from > 0 && text[from - 1] == ':' && is_word_before(text, from - 1))
        return size;
    for (at = from; at < end && text[at] == ' ';)
        at++;
    return (at == end && end == size) || (at > 0 && text_is_of_a_word(text[at - 1])) ? size : at;
}

static bool is_of_number(char c)
{
    return hex_of(c) >= 0 || c == 'x';
}

/* Whether a line's end has cut the last number of the array, which goes on in TEXT: the numbers have commas between
 * them, and here is none; or what is left of the last one and the first one are as long as the one before. */
static bool is_cut_in_array(const struct dumps *d, const char *text, size_t size)
{
    size_t at = d->joined_size, before, last, more = 0;

    while (more < size && is_of_number(text[more]))
        more++;
    while (at > 0 && is_of_number(d->joined[at - 1]))
        at--;
    last = d->joined_size - at;
    if (more == 0 || last == 0)
        return false;
    if (memchr(d->joined, ',', d->joined_size) != NULL)
        return true;
    while (at > 0 && d->joined[at - 1] == ' ')
        at--;
    for (before = 0; before < at && is_of_number(d->joined[at - 1 - before]);)
        before++;
    return last < before && last + more == before;
}

/* Adds the SIZE characters at TEXT, which begin a line, to the array; too many end it. */
static void join(struct dumps *d, const char *text, size_t size)
{
    if (d->joined == NULL)
        d->joined = zeroed(MOST_LINE + 1, 1);
    if (size >= MOST_LINE - d->joined_size) {
        d->joining = false;
        return;
    }
    if (d->joined_size > 0 && !is_cut_in_array(d, text, size))
        d->joined[d->joined_size++] = ' ';
    memcpy(d->joined + d->joined_size, text, size);
    d->joined_size += size;
}

/* Whether the line is one of an array that goes on over lines. *WHOLE: its last one. */
static bool take_joined(struct dumps *d, const char *text, size_t size, bool *whole)
{
    const size_t more = d->joining ? more_of_array(text, size) : size;
    const size_t open = open_array(text, size);

    *whole = false;
    if (more < size) {
        join(d, text + more, size - more);
        *whole = d->joining && memchr(text + more, ']', size - more) != NULL;
        d->joining = d->joining && !*whole;
        return true;
    }
    d->joining = open < size;
    d->joined_size = 0;
    if (d->joining)
        join(d, text + open, size - open);
    return false;
}

/* Begins with the line; or, where an array ends that went on over lines, with all of it. */
static bool begin_whole(struct scan *s, struct dumps *d, const char *text, size_t size)
{
    const size_t before = d->joined_size;
    size_t more;

    if (!begin_scan(s, d, text, size))
        return false;
    more = d->joining && !d->follow ? more_of_array(s->text, size) : size;
    if (more == size || memchr(s->text + more, ']', size - more) == NULL)
        return true;
    join(d, s->text + more, size - more);
    d->joined_size = d->joining ? d->joined_size : 0;
    (void)begin_scan(s, d, d->joined, d->joined_size);
    d->joined_size = d->joining ? before : 0;
    return true;
}

bool dumps_ends(struct dumps *d, const char *text, size_t size)
{
    struct scan s;

    d->again = false;
    if (d->registers == 0 && !has_words(d) && !d->begun && d->unknown == 0)
        return false;
    if (d->idle > (has_words(d) ? IDLE_BEHIND : IDLE_BEFORE))
        return true;
    if (d->list || !(has_words(d) || has_frame(d)) || !begin_whole(&s, d, text, size))
        return false;
    s.linked = is_linked(&s);
    if (!take_rows(&s, false))
        scan_registers(&s, false);
    d->again = s.pc && (d->dump.has_sp || s.looked == 1 || d->caller);
    return d->again || (s.took && has_words(d));
}

/* "p $pc", "print/x $sp" of gdb at the end of a line: the number follows in the next one. */
static void take_print(struct scan *s)
{
    const char *dollar = strrchr(s->text, '$');
    const size_t at = dollar != NULL ? (size_t)(dollar + 1 - s->text) : 0;
    const size_t end = scan_end_of_name(s, at);
    const struct format_name *found;
    size_t from = at > 0 ? at - 1 : 0;

    while (from > 0 && is_space(s->text[from - 1]))
        from--;
    while (from > 0 && !is_space(s->text[from - 1]))
        from--;
    if (at == 0 || end != s->size || s->text[from] != 'p')
        return;
    found = formats_find(s->d->formats, s->text + at, end - at, s->d->cpu, s->text);
    s->d->printed = found != NULL ? (uint8_t)(found->reg + 1) : 0;
}

/* "$1 = (void (*)()) 0x100001 <leaf+1>": what gdb prints of it. */
static bool take_printed(struct scan *s)
{
    const uint8_t reg = s->d->printed;
    struct number list[MOST_NUMBERS];
    size_t at = strcspn(s->text, "$"), digits;

    s->d->printed = 0;
    digits = s->text[at] == '$' ? strspn(s->text + at + 1, "0123456789") : 0;
    at += 1 + digits;
    if (reg == 0 || digits == 0 || strncmp(s->text + at, " = ", 3) != 0 || scan_numbers(s, at, list, 16) == 0 ||
        !list[0].prefixed || !scan_fits(s->d, list[0].value))
        return false;
    set_register(s, (uint8_t)(reg - 1), list[0].value);
    return true;
}

/* The number that stands alone in a line, of a register whose name is the end of the line before. */
static bool take_pending(struct scan *s)
{
    struct number list[MOST_NUMBERS];
    const uint8_t reg = (uint8_t)(s->d->pending - 1);

    if (s->d->pending == 0)
        return false;
    s->d->pending = 0;
    if (scan_numbers(s, 0, list, 8) != 1 || !scan_only_numbers(s, list[0].at, list, 1))
        return false;
    set_register(s, reg, list[0].value);
    return true;
}

/* Whether a word of the last rows, PC or RA is VALUE. */
static bool is_word(const struct dumps *d, uint64_t value)
{
    size_t i;

    for (i = 0; i + d->word <= d->run_size; i += d->word)
        if (load_number(d->run + i, d->word, d->big) == value)
            return true;
    return (d->dump.has_pc && value == d->dump.pc) || (d->dump.has_ra && value == d->dump.ra);
}

/* Whether the line says what a word of the line before is, as monitors do: "0x4200001a - main",
 * "--- 0x4200001a: main at main.c:8", "    at main.c:8", "(inlined by) main". */
static bool is_remark(const struct scan *s)
{
    struct number list[MOST_NUMBERS];

    return strstr(s->text, "  at ") != NULL || strstr(s->text, "(inlined by)") != NULL ||
           (scan_numbers(s, 0, list, 16) == 1 && list[0].prefixed && is_word(s->d, list[0].value));
}

/* Whether a text of the line says that the stack follows, perhaps in the same line as SP. */
static bool names_stack(const struct scan *s)
{
    const struct formats *f = s->d->formats;
    size_t i;

    for (i = 0; i < f->num_texts; i++)
        if (f->texts[i].kind == FORMAT_STACK && (f->texts[i].cpus & s->d->cpu) != 0 &&
            find_text(s, f->texts[i].text) > 0)
            return true;
    return false;
}

/* Whether the line has signs alone: a number of an array may be missing in it. */
static bool has_no_word(const struct scan *s)
{
    size_t i;

    for (i = 0; i < s->size && !text_is_of_a_word(s->text[i]);)
        i++;
    return i == s->size;
}

/* A line of which a part has been kept, with the next ones that belong to it. */
static bool take_part(struct scan *s)
{
    struct dumps *d = s->d;
    bool whole;

    if (d->follow || !take_joined(d, s->text, s->size, &whole))
        return false;
    d->idle = 0;
    d->taken = true;
    if (whole && begin_scan(s, d, d->joined, d->joined_size))
        scan_registers(s, true);
    d->ignored = s->ignored && !s->set;
    return true;
}

/* The addresses of code in the line, which become LIST. Returns their number. */
static size_t take_list(struct scan *s, struct named_address *list)
{
    const bool list_follows = s->d->list, frames = s->d->frames;
    size_t num;

    num = take_texts(s, list, 0);
    num = lists_take_based_line(s, list, num);
    if (list_follows)
        num = lists_take_list_line(s, list, num);
    if (frames)
        num = lists_take_first_number(s, list, num);
    if (num == 0 && !(list_follows && s->took))
        num = lists_take_frame_line(s, list, num);
    s->d->listed = s->d->listed || num > 0;
    return num;
}

/* Counts what might be words of a stack, for what is said where none is found. */
static void count_words(const struct scan *s)
{
    struct dumps *d = s->d;

    d->bare += !s->took && !d->stack_said && has_bare_words(s);
    d->singles += !s->took && is_lone_word(s);
    d->rows += !s->took && (has_memory(s) || has_prefixed_words(s) || is_quoted_word(s));
    d->strings += has_string(s);
    d->near_rows += !s->took && is_row_near_sp(s);
}

/* Registers and words of the stack in the line. FOLLOW: words of the stack stood in front of it. */
static void take_words(struct scan *s, bool follow)
{
    bool arrow;

    if (take_rows(s, true) || take_pending(s) || take_member(s) || take_printed(s) || braces_take(s))
        return;
    take_print(s);
    scan_registers(s, true);
    arrow = !s->words && (take_miscounted(s) || take_arrow_line(s));
    s->took = s->took || s->words || arrow || take_index_line(s) || take_heading(s) || take_lines(s, follow);
    count_words(s);
}

size_t dumps_take(struct dumps *d, const char *text, size_t size, struct named_address *list)
{
    const bool follow = d->follow, top = d->top;
    const unsigned unknown = d->unknown;
    struct scan s;
    size_t num;

    if (!begin_scan(&s, d, text, size) || take_part(&s))
        return 0;
    if (!d->dump.has_sp && names_stack(&s))
        scan_registers(&s, true);
    num = take_list(&s, list);
    if (num == 0)
        take_words(&s, follow);
    d->taken = s.took || num > 0;
    d->ignored = s.ignored && !s.set;
    d->top = d->top && !(top && s.size > 0);
    d->follow = d->follow && (s.took || s.size == 0 || (d->idle < 2 && !(d->single && has_no_word(&s))));
    d->idle = s.took || num > 0 ? 0 : d->idle + (size > 0 && !is_remark(&s));
    d->most_unknown = d->unknown > d->most_unknown ? d->unknown : d->most_unknown;
    if (d->unknown == unknown && !d->begun && d->registers == 0 && d->unknown < LOOK_UNKNOWN)
        d->unknown_names = d->unknown = 0;
    return num;
}

size_t dumps_addresses(struct dumps *d, const char *text, size_t size, struct named_address *list, bool *first)
{
    struct number numbers[MOST_NUMBERS];
    struct scan s;
    unsigned found = 0, i;
    size_t num = 0;

    *first = false;
    if (begin_scan(&s, d, text, size)) {
        found = scan_numbers(&s, 0, numbers, 8);
        found = lists_before_arguments(&s, " (", numbers, found);
        found = lists_before_arguments(&s, " : ", numbers, found);
        *first = lists_begin(&s);
    }
    for (i = 0; i < found; i++)
        if (numbers[i].digits >= 6 && scan_fits(d, numbers[i].value) && s.text[numbers[i].end] != '+')
            num = lists_add(list, num, numbers[i].value, true);
    return num;
}

size_t dumps_numbers(struct dumps *d, const char *text, size_t size, struct named_address *list)
{
    enum { LEAST = 6 };
    struct number numbers[MOST_NUMBERS];
    struct scan s;
    unsigned found, i;
    size_t num = 0;

    found = begin_scan(&s, d, text, size) ? scan_numbers(&s, 0, numbers, LEAST) : 0;
    for (i = 0; i < found; i++)
        num = lists_add(list, num, numbers[i].value, false);
    return num;
}

/* ---- A whole dump ---------------------------------------------------------------------------------------------- */

/* What a Cortex-M pushes: r0 to r3, r12, LR, PC, xPSR; with an FPU 18 words more, and one where SP was no multiple of
 * 8. Handlers print these registers, and SP as it is behind them. */
static bool is_pushed_at(const struct dumps *d, uint64_t addr)
{
    uint8_t bytes[12];

    return (d->dump.pc != 0 || d->dump.ra != 0) &&
           log_dump_read((void *)&d->dump, addr + 20, bytes, sizeof bytes) &&
           load_number(bytes, 4, d->big) == d->dump.ra &&
           (load_number(bytes + 4, 4, d->big) & ~UINT64_C(1)) == (d->dump.pc & ~UINT64_C(1));
}

/* The SP of what was interrupted, whose registers were pushed at ADDR. */
static uint64_t behind_pushed(const struct dumps *d, uint64_t addr)
{
    const bool fpu = d->exc_return != 0 && (d->exc_return & 16) == 0;

    return addr + 32 + (fpu ? 72 : 0) + ((d->xpsr >> 9 & 1) != 0 ? 4 : 0);
}

/* The words that are printed begin behind those that the CPU has pushed at PSP. */
static void pop_unprinted(struct dumps *d)
{
    struct log_dump *dump = &d->dump;
    const uint64_t sp = behind_pushed(d, dump->psp);
    uint8_t word[4];

    if (dump->has_sp || !dump->has_psp || !d->has_xpsr || log_dump_read(dump, sp - 4, word, sizeof word) ||
        !log_dump_read(dump, sp, word, sizeof word))
        return;
    dump->sp = sp;
    dump->has_sp = true;
}

static void pop_exception(struct dumps *d)
{
    enum { BELOW = 256 /* bytes of a handler's own below what the CPU pushed */ };
    struct log_dump *dump = &d->dump;
    uint64_t at = dump->has_sp ? dump->sp : dump->psp;
    uint8_t psr[4];

    if (!dump->has_pc || !dump->has_ra)
        return;
    if (!(dump->has_sp && is_pushed_at(d, at)) && dump->has_psp)
        at = dump->psp;
    if (!dump->has_sp && d->has_msp && !(dump->has_psp && is_pushed_at(d, at)))
        for (at = d->msp; at < d->msp + BELOW && !is_pushed_at(d, at); at += 4)
            continue;
    if (!is_pushed_at(d, at) || !log_dump_read(dump, at + 28, psr, sizeof psr)) {
        pop_unprinted(d);
        return;
    }
    d->xpsr = load_number(psr, 4, d->big);
    d->has_xpsr = true;
    dump->sp = behind_pushed(d, at);
    dump->has_sp = true;
}

static void finish_arm(struct dumps *d)
{
    struct log_dump *dump = &d->dump;

    dump->exact = (dump->pc & 1) == 0;
    log_dump_sort(dump);
    if (d->abi == SFU_THUMB && d->top_sp && (d->xpsr >> 9 & 1) != 0)
        dump->sp += 4; /* the CPU pushed a word more, because SP was no multiple of 8 */
    if (d->abi == SFU_THUMB)
        pop_exception(d);
    dump->jumped = d->abi == SFU_THUMB && d->has_xpsr && (d->xpsr >> 24 & 1) == 0;
    dump_set_fp(dump);
}

/* Whether VALUE may be an address of this program: near SP, or near PC. */
static bool is_like_address(const struct dumps *d, uint64_t value)
{
    return scan_is_near_sp(d, value) || (d->dump.has_pc && value != 0 && (value ^ d->dump.pc) < NEAR_ABOVE);
}

/* The words of one size that W holds, with the bytes of each in the other order. */
static void swap_word(const struct dumps *d, struct log_word *w)
{
    uint8_t other[8];
    size_t i;

    for (i = 0; i < sizeof other; i++)
        other[i] = w->bytes[i ^ (d->group - 1)];
    memcpy(w->bytes, other, sizeof other);
}

/* How many words that may be addresses the dump has. */
static size_t count_addresses(const struct dumps *d)
{
    size_t i, at, num = 0;

    for (i = 0; i < d->dump.num_words; i++)
        for (at = 0; at < 8; at += d->word)
            num += is_like_address(d, load_number(d->dump.words[i].bytes + at, d->word, d->big));
    return num;
}

static void swap_words(struct dumps *d)
{
    size_t i;

    for (i = 0; i < d->dump.num_words; i++)
        swap_word(d, &d->dump.words[i]);
}

/* Words of 8 or 16 digits may be bytes in the order of memory, as "xxd -g4" and mdb's "::dump" print them. Characters
 * behind them tell, or what the addresses of the program look like. */
static void find_word_order(struct dumps *d)
{
    enum { ENOUGH = 2 };

    if (d->big || d->are_numbers || d->group == 0 || (!d->are_bytes && count_addresses(d) > 0))
        return;
    swap_words(d);
    d->are_bytes = d->are_bytes || count_addresses(d) >= ENOUGH;
    if (!d->are_bytes)
        swap_words(d);
}

/* Whether the bytes that two words of a dump have in common differ. B does not lie below A. */
static bool are_contradictory(const struct log_word *a, const struct log_word *b)
{
    const uint64_t shift = b->addr - a->addr;

    return shift < sizeof a->bytes && memcmp(a->bytes + shift, b->bytes, sizeof a->bytes - (size_t)shift) != 0;
}

/* Leaves one of the words that are the same. */
static void drop_doubled(struct log_dump *dump)
{
    size_t i, kept = 0;

    for (i = 0; i < dump->num_words; i++)
        if (kept == 0 || memcmp(&dump->words[i], &dump->words[kept - 1], sizeof *dump->words) != 0)
            dump->words[kept++] = dump->words[i];
    dump->num_words = kept;
}

/* Takes words out for which the log has different numbers: which of them was there when the registers were saved is not
 * known. Of more than NEAR words that overlap, some have the same address, and these differ. */
static void drop_contradictions(struct dumps *d)
{
    enum { NEAR = 16 };
    struct log_dump *dump = &d->dump;
    bool *dropped = zeroed(dump->num_words + 1, sizeof *dropped);
    size_t i, k, kept = 0;

    log_dump_sort(dump);
    drop_doubled(dump);
    for (i = 0; i < dump->num_words; i++)
        for (k = i + 1; k < dump->num_words && k <= i + NEAR; k++)
            if (are_contradictory(&dump->words[i], &dump->words[k]))
                dropped[i] = dropped[k] = true;
    for (i = 0; i < dump->num_words; i++) {
        if (dropped[i] && !d->contradicted) {
            d->contradicted = true;
            d->contradiction = dump->words[i].addr;
        }
        if (!dropped[i])
            dump->words[kept++] = dump->words[i];
    }
    dump->num_words = kept;
    free(dropped);
}

bool dumps_finish(struct dumps *d)
{
    struct log_dump *dump = &d->dump;

    add_falling(d);
    add_short_rows(d);
    flush_run(d);
    widen_rows(d);
    find_word_order(d);
    drop_lone_words(d);
    drop_contradictions(d);
    dump->abi = d->abi;
    dump->counted = d->counted;
    dump->exact = true;
    if (!dump->has_pc && d->has_linked) {
        dump->pc = d->linked;
        dump->has_pc = true;
    }
    if (abi_is_arm(d->abi))
        finish_arm(d);
    if (dump->has_pc && dump->pc == 0 && !d->plain_pc && d->no_cause)
        dump->has_pc = false;
    return (dump->has_pc && (d->registers > 1 || d->others > 0 || d->begun || d->bare > 1)) ||
           (!dump->has_pc && (dump->has_sp || dump->has_ra) && d->registers >= LOOK_KNOWN) ||
           (d->begun && (d->foreign > 3 || d->unknown > 3)) || d->foreign > LOOK_UNKNOWN ||
           d->unknown >= LOOK_UNKNOWN;
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
    d->joined = kept.joined;
    d->joined_size = kept.joined_size;
    d->joining = kept.joining;
    d->stack_lost = kept.stack_lost;
    d->caller = kept.again;
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
    free(d->joined);
    memset(d, 0, sizeof *d);
}
