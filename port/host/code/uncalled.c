/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Who is not called, whatever its CFI says. It reads from top to bottom: addresses that code and data have, whose code
 * may be called by them; what entries of RISC-V call; what jumps lead to; why a unit is not called; and what becomes of
 * it then. */
#include "uncalled.h"
#include "kinds.h"
#include "units.h"
#include "vectors.h"

#include <stdlib.h>
#include <string.h>

/* ---- Addresses that code and data have ------------------------------------------------------------------------- */

/* Whether UNIT is start-up code: with that everything begins anew, whoever calls it. */
static bool starts(const struct code_unit *unit)
{
    const struct code_edge *edge = code_edge_to_start(unit);

    return edge != NULL && edge->begins == CODE_START + 1;
}

/* Whether UNIT is start-up code which has an address at PLACE, and calls nothing behind that: the address is where it
 * jumps to. Only start-up code may lead to it, as that of the first CPU behind a branch. */
static bool starts_by_jumps(const struct code *code, const struct code_unit *unit, uint64_t place)
{
    const struct code_text text = {image_instructions(code->image, unit->start, unit->end - unit->start),
                                   unit->start, unit->end};
    const struct code_edge *edge = code_edge_to_start(unit);
    bool calls = text.bytes == NULL || edge == NULL || (!starts(unit) && edge->state.caller != CALLER_NONE);
    bool has_called = false;
    uint64_t pc = unit->start;

    while (!calls && pc < unit->end) {
        struct code_fact fact;

        memset(&fact, 0, sizeof fact);
        code->cpu->decode(code->decoder, &text, pc, &fact);
        if (pc < place)
            has_called |= fact.flow == CODE_CALL;
        else
            calls = fact.flow == CODE_CALL || (has_called && (fact.flow == CODE_JUMP || fact.flow == CODE_BRANCH) &&
                                               fact.target >= unit->start && fact.target < place);
        pc += fact.size != 0 ? fact.size : code->cpu->align;
    }
    return !calls;
}

/* Notes that ADDR stands at PLACE, in data or in code. */
static void note_address(struct code *code, uint64_t addr, uint64_t place)
{
    struct code_unit *unit = code_unit_at(code, addr & ~(uint64_t)code->cpu->mode);
    const struct code_unit *by;

    if (unit == NULL || unit->start != (addr & ~(uint64_t)code->cpu->mode))
        return;
    by = code_unit_at(code, place);
    unit->addressed = true;
    unit->may_be_taken = unit->may_be_taken || by == NULL || !starts_by_jumps(code, by, place);
}

/* Notes the words of SIZE bytes in SECTION, each STEP bytes. Instructions of x86_64 extend 4 bytes by their sign: so
 * kernels, which lie in the uppermost 2 GiB, have addresses in them. */
static void note_words(struct code *code, struct section *section, unsigned size, unsigned step)
{
    const uint8_t *bytes = image_load(code->image, section) ? section->bytes : NULL;
    uint64_t at;

    for (at = 0; bytes != NULL && section->size >= size && at <= section->size - size; at += step) {
        const uint64_t word = load_number(bytes + at, size, code->image->big);

        note_address(code, word, section->addr + at);
        if (size == 4 && size < code->cpu->word)
            note_address(code, (uint64_t)(int64_t)(int32_t)(uint32_t)word, section->addr + at);
    }
}

/* Whether SECTION says of all functions where they begin. */
static bool has_all_starts(const struct section *section)
{
    static const char *const names[] = {".eh_frame", ".eh_frame_hdr", ".dynsym", ".sframe", IMAGE_TABLES};
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(section->name, names[i]) == 0)
            return true;
    return false;
}

/* Numbers that registers have had, up to what has been read. */
struct numbers {
    int64_t value[CODE_REGISTERS];
    bool is_known[CODE_REGISTERS];
};

/* Whether OP, behind others, may give a register a number. */
static bool gives_number(struct numbers *n, const struct code_op *op)
{
    int64_t value = op->k;

    if (op->what == CODE_INSERT && n->is_known[op->reg])
        value = (int64_t)code_insert((uint64_t)n->value[op->reg], op);
    else if (op->what == CODE_SET && n->is_known[op->base])
        value = (int64_t)((uint64_t)n->value[op->base] + (uint64_t)op->k);
    else if (op->what != CODE_NUMBER)
        return false;
    n->value[op->reg] = value;
    n->is_known[op->reg] = true;
    return true;
}

/* The address that REG, a number, has. */
static uint64_t number_address(const struct code *code, const struct numbers *n, unsigned reg)
{
    const struct code_value value = {n->value[reg], BASE_NUMBER, false, 0, 0};

    return unit_address_of(code->cpu, &value) & ~(uint64_t)code->cpu->mode;
}

/* The same of UNIT's instructions, one behind the other. */
static void note_code(struct code *code, const struct code_unit *unit)
{
    const struct code_text text = {image_instructions(code->image, unit->start, unit->end - unit->start),
                                   unit->start, unit->end};
    struct numbers n = {{0}, {false}};
    uint64_t pc = unit->start;

    while (text.bytes != NULL && pc < unit->end) {
        struct code_fact fact;
        unsigned i;

        memset(&fact, 0, sizeof fact);
        code->cpu->decode(code->decoder, &text, pc, &fact);
        for (i = 0; i < fact.num; i++)
            if (gives_number(&n, &fact.op[i]))
                note_address(code, number_address(code, &n, fact.op[i].reg), pc);
        pc += fact.size != 0 ? fact.size : code->cpu->align;
    }
}

/* Finds out which units are addressed. x86 has addresses of 32 bits in its instructions, at any byte. */
static void find_addresses(struct code *code)
{
    const unsigned word = code->cpu->word;
    size_t i;

    if (code->addresses_known)
        return;
    code->addresses_known = true;
    for (i = 0; i < code->image->num_data; i++)
        if (!has_all_starts(code->image->data[i]))
            note_words(code, code->image->data[i], word, word);
    for (i = 0; i < code->image->num_code && !code->cpu->link; i++)
        note_words(code, code->image->code[i], 4, 1);
    for (i = 0; i < code->num_units; i++)
        note_code(code, &code->units[i]);
}

/* ---- RISC-V: scratch registers ---------------------------------------------------------------------------------- */

/* Units that entries of interrupts lead to: ENTRIES, by jumps, and CALLED, which code of both calls. */
struct reach {
    struct code *code;
    bool *entries, *called;
    uint32_t *work;
    size_t num;
    bool indirect; /* something that is not known is called, too */
    bool keeps;
};

/* Marks the unit at ADDR in MARKED, and puts it on the list of work if it was not and is to be read NOW. */
static void reach(struct reach *r, uint64_t addr, bool *marked, bool now)
{
    const struct code_unit *unit = code_unit_at(r->code, addr);

    if (unit == NULL) {
        r->indirect = true;
        return;
    }
    if (now && !marked[unit - r->code->units])
        r->work[r->num++] = (uint32_t)(unit - r->code->units);
    marked[unit - r->code->units] = true;
}

/* Whether OP gives SP what is not on its stack, or writes a scratch register. Compilers take SP from FP. */
static bool changes_thread(const struct code_cpu *cpu, const struct code_op *op)
{
    const bool here = op->base == cpu->sp || op->base == cpu->fp;

    if (op->what == CODE_LOAD && op->reg <= cpu->sp && op->last >= cpu->sp)
        return true;
    if (op->reg == CODE_OTHER_SP)
        return op->what == CODE_SET || op->what == CODE_NUMBER || op->what == CODE_FORGET;
    return op->reg == cpu->sp && (((op->what == CODE_SET || op->what == CODE_SUM) && !here) ||
                                  op->what == CODE_NUMBER || op->what == CODE_FORGET);
}

/* Takes notice of an instruction of a unit: of an entry's own, if ENTRY. */
static void reach_by(struct reach *r, const struct code_fact *fact, bool entry)
{
    const bool call = fact->flow == CODE_CALL;
    unsigned i;

    for (i = 0; i < fact->num && !entry; i++)
        r->keeps &= !changes_thread(r->code->cpu, &fact->op[i]);
    r->keeps &= fact->size != 0 && (entry || fact->flow != CODE_RESUME);
    if (fact->target != 0)
        reach(r, fact->target, entry && !call ? r->entries : r->called, !(entry && call));
    else
        r->indirect |= call || (fact->flow == CODE_AWAY && !entry);
}

/* Reads the units on the list of work, and what they lead to. */
static void reach_all(struct reach *r, bool entry)
{
    struct code *code = r->code;

    while (r->num > 0) {
        const struct code_unit *unit = &code->units[r->work[--r->num]];
        const struct code_text text = {image_instructions(code->image, unit->start, unit->end - unit->start),
                                       unit->start, unit->end};
        uint64_t pc = unit->start;

        r->keeps &= text.bytes != NULL;
        while (text.bytes != NULL && pc < unit->end) {
            struct code_fact fact;
            bool goes_on;

            memset(&fact, 0, sizeof fact);
            code->cpu->decode(code->decoder, &text, pc, &fact);
            reach_by(r, &fact, entry);
            pc += fact.size != 0 ? fact.size : code->cpu->align;
            goes_on = fact.flow == CODE_NEXT || fact.flow == CODE_BRANCH || (entry && fact.flow == CODE_CALL);
            if (pc >= unit->end && goes_on)
                reach(r, pc, entry ? r->entries : r->called, true);
            else if (!goes_on && image_is_padding(code->image, pc, unit->end))
                break;
        }
    }
}

/* Puts the units that calls of entries lead to on the list of work or, ADDRESSED, those that may be called by their
 * address. */
static void list_called(struct reach *r, bool addressed)
{
    size_t i;

    for (i = 0; i < r->code->num_units; i++) {
        const struct code_unit *unit = &r->code->units[i];

        if (addressed && unit->addressed && !starts(unit) && !r->entries[i] && !r->called[i])
            reach(r, unit->start, r->called, true);
        else if (!addressed && r->called[i])
            r->work[r->num++] = (uint32_t)i;
    }
}

bool code_keeps_scratch(struct code *code, const bool *from)
{
    struct reach r = {code, NULL, NULL, NULL, 0, false, true};
    size_t i;

    r.entries = zeroed(code->num_units, sizeof *r.entries);
    r.called = zeroed(code->num_units, sizeof *r.called);
    r.work = zeroed(2 * code->num_units, sizeof *r.work);
    for (i = 0; i < code->num_units; i++)
        if (from[i])
            reach(&r, code->units[i].start, r.entries, true);
    reach_all(&r, true);
    list_called(&r, false);
    reach_all(&r, false);
    /* Where the loader relocates the image, words have no addresses yet. */
    r.keeps &= !r.indirect || code->image->header.e_type == ET_EXEC;
    if (r.indirect) {
        find_addresses(code);
        list_called(&r, true);
        reach_all(&r, false);
    }
    for (i = 0; i < code->num_units; i++)
        r.keeps &= !r.entries[i] || !r.called[i];
    free(r.entries);
    free(r.called);
    free(r.work);
    return r.keeps;
}

/* ---- Handlers that entries jump to ------------------------------------------------------------------------------ */

/*
 * An interrupt's entry that jumps to a handler in C, as that of a kernel may whose user programs alone come by it,
 * leaves in the register of the return address what a program had there: nobody has called the handler, whatever
 * its CFI says. Nothing but the entry shows this, which has no CFI, and may not be read otherwise: it is found by what
 * it does with registers, one instruction behind the other.
 */
struct handed {
    struct code *code;
    bool *handed, *called; /* units that such entries go to; that code without CFI calls */
    bool *reads;           /* units that ask the CPU why an exception has come */
    bool leaves;           /* such an entry goes where nothing says */
};

/* Code that is read one instruction behind the other. */
struct straight {
    struct numbers numbers;
    uint64_t idle;  /* idle registers that are as they were */
    unsigned saved; /* how many of those have been stored */
    bool is_entry;  /* it uses what the CPU has for interrupts: a register, or the low core */
    bool keeps_ra;  /* RA's register is as it was, or as far from that as an exception's entry of ARM moves it */
    bool moves_sp;
    uint64_t same; /* x86: registers that are as they were */
};

/* x86: the registers that an entry saves in any case: those that a callee may change, or all. */
static uint64_t to_save(const struct code_cpu *cpu)
{
    const uint64_t all = (1ull << cpu->ra) - 1;

    return cpu->idle != 0 ? cpu->changed & all : all & ~(1ull << cpu->sp);
}

static void begin_straight(const struct code *code, struct straight *s)
{
    memset(s, 0, sizeof *s);
    s->idle = code->cpu->link ? code->cpu->idle : to_save(code->cpu);
    s->keeps_ra = code->cpu->link;
    s->same = UINT64_MAX;
}

static unsigned num_bits(uint64_t bits)
{
    unsigned num = 0;

    for (; bits != 0; bits &= bits - 1)
        num++;
    return num;
}

/* The registers that OP stores, a bit each. */
static uint64_t stored_by(const struct code_op *op)
{
    if (op->what == CODE_STORES)
        return (uint32_t)op->from;
    return op->what == CODE_STORE && op->reg <= op->last && op->last < CODE_REAL
               ? (2ull << op->last) - (1ull << op->reg)
               : 0;
}

/* The registers that OP may give other values, a bit each. */
static uint64_t changed_by(const struct code_op *op)
{
    switch (op->what) {
    case CODE_STORE:
    case CODE_STORES:
    case CODE_WRITE:
    case CODE_COPY:
    case CODE_MODE: /* its LR is no return address of a call, either */
    case CODE_SAVE:
        return 0;
    case CODE_LOADS:
        return (uint32_t)op->from;
    case CODE_SET: /* i386: padding is lea 0(%esi), %esi */
        return op->reg == op->base && op->k == 0 ? 0 : code_written_by(op);
    default:
        return code_written_by(op);
    }
}

/* s390x: whether K is an address of the low core, or of an old PSW there. */
static bool is_low(const struct code_cpu *cpu, int64_t k)
{
    return cpu->old_psw != 0 && k >= 0 && k < 8192;
}

static bool is_old_psw(const struct code_cpu *cpu, int64_t k)
{
    enum { OLD_PSWS = 5 };

    return is_low(cpu, k) && k >= cpu->old_psw && k < cpu->old_psw + 16 * OLD_PSWS;
}

/* Whether OP uses what the CPU has for interrupts. IDLE: it stores an idle register. */
static bool is_of_entry(const struct code_cpu *cpu, const struct code_op *op, bool idle)
{
    switch (op->what) {
    case CODE_SET:
        return op->reg == CODE_OTHER_SP || op->base == CODE_OTHER_SP || op->base == CODE_PC;
    case CODE_STORE:
        return idle && op->base == CODE_ZERO && is_low(cpu, op->k);
    case CODE_LOAD:
        return op->base == CODE_ZERO && is_old_psw(cpu, op->k);
    case CODE_COPY:
        return op->reg == CODE_ZERO && is_old_psw(cpu, op->from);
    default:
        return op->what == CODE_SAVE;
    }
}

/* Takes notice of OP in S. */
static void pass_op(const struct code *code, struct straight *s, const struct code_op *op)
{
    const struct code_cpu *cpu = code->cpu;
    const uint64_t stored = s->idle & stored_by(op), written = changed_by(op);
    const bool moves = op->what == CODE_SET && op->reg == op->base; /* ARM: sub lr, lr, #4 */
    unsigned i;

    s->saved += num_bits(stored);
    s->idle &= ~(stored | written);
    s->is_entry |= is_of_entry(cpu, op, stored != 0);
    if (cpu->link)
        s->keeps_ra &= !(written >> cpu->ra & 1) || (cpu->banked && moves);
    s->moves_sp |= (written >> cpu->sp & 1) != 0;
    s->same &= ~written | 1ull << cpu->sp;
    if (!gives_number(&s->numbers, op))
        for (i = 0; i < CODE_REAL; i++)
            s->numbers.is_known[i] &= !(written >> i & 1);
}

/* A32 and T32: the instruction at P as the manual writes it, T32's with its first half on top. */
static uint32_t arm_word(const uint8_t *p, bool wide)
{
    const uint32_t word = (uint32_t)load_number(p, 4, false);

    return wide ? word << 16 | word >> 16 : word;
}

static bool reads_spsr(const uint8_t *p)
{
    return ((arm_word(p, false) & 0xffff0fff) == 0xe14f0000 && p[1] < 0xf0) ||
           (arm_word(p, true) & 0xfffff0ff) == 0xf3ff8000;
}

/* Takes notice in S of what ARM's instruction FACT at P does and ops do not say: `mrs` of SPSR, which no return address
 * is; `stm ^`, of the registers of programs. */
static void pass_arm(struct straight *s, const uint8_t *p, const struct code_fact *fact, bool kept_ra)
{
    const struct code_op *last = fact->num > 0 ? &fact->op[fact->num - 1] : NULL;
    const uint32_t word = arm_word(p, false);

    if (reads_spsr(p)) {
        s->is_entry = true;
        s->keeps_ra = kept_ra;
    }
    s->is_entry |= (word & 0xfe700000) == 0xe8400000 && last != NULL && last->what == CODE_WRITE &&
                   last->base == (word >> 16 & 15) && last->from == 4 * (int32_t)num_bits(word & 0xffff);
}

/* The op of FACT that gives SP another value, or NULL. */
static const struct code_op *moves_sp(const struct code_cpu *cpu, const struct code_fact *fact)
{
    unsigned i;

    for (i = fact->num; i > 0; i--)
        if (changed_by(&fact->op[i - 1]) >> cpu->sp & 1)
            return &fact->op[i - 1];
    return NULL;
}

/* x86: whether the word at SP behind FACT cannot be a return address, because it is what a register had when the code
 * began, or SP: S says so of the word in front of FACT. A stack that is taken up may have one. */
static bool has_no_return(const struct code_cpu *cpu, const struct straight *s, const struct code_fact *fact)
{
    const struct code_op *sp = moves_sp(cpu, fact);
    const int64_t k = sp != NULL ? sp->k : 0;
    bool none = s->keeps_ra;
    unsigned i;

    if (sp != NULL && sp->what == CODE_ALIGN)
        return none;
    if (sp != NULL && (sp->what != CODE_SET || sp->base != cpu->sp || k > 0))
        return sp->what == CODE_NUMBER;
    for (i = 0; i < fact->num; i++) {
        const struct code_op *op = &fact->op[i];

        if (op->what == CODE_STORE && op->base == cpu->sp && op->k == k)
            none = op->reg < CODE_REAL && (s->same >> op->reg & 1) != 0;
        else if (op->what == CODE_WRITE || op->what == CODE_COPY)
            none = false;
    }
    return none;
}

/* i386: takes notice of `pusha`, which a fact has no room for. */
static void pass_all(const struct code_cpu *cpu, struct straight *s)
{
    const uint64_t stored = s->idle & to_save(cpu);

    s->saved += num_bits(stored);
    s->idle &= ~stored;
    s->keeps_ra = (s->same & to_save(cpu)) == to_save(cpu);
}

/* Whether S may still be found to be an entry: of x86, if no register has been changed before it was saved. */
static bool may_be_entry(const struct code_cpu *cpu, const struct straight *s)
{
    return cpu->link ? s->is_entry : s->saved + num_bits(s->idle) == num_bits(to_save(cpu));
}

/* Whether S is an entry that has saved what no caller leaves anything in, and given no return address. s390x: code that
 * stores a CPU's registers for a dump may be called, and go on in a function; it leaves SP alone. */
static bool is_leaving_entry(const struct code_cpu *cpu, const struct straight *s)
{
    const unsigned least = num_bits(cpu->idle) > 1 ? 2 : 1;

    if (!cpu->link)
        return s->saved == num_bits(to_save(cpu)) && s->keeps_ra;
    return s->is_entry && s->saved >= least && s->keeps_ra && (cpu->old_psw == 0 || s->moves_sp);
}

/* Where FACT, which S has passed, goes to or calls; or 0. */
static uint64_t goes_to(const struct code *code, const struct straight *s, const struct code_fact *fact)
{
    if (fact->target != 0)
        return fact->target & ~(uint64_t)code->cpu->mode;
    return s->numbers.is_known[CODE_TARGET] ? number_address(code, &s->numbers, CODE_TARGET) : 0;
}

/* Passes the instruction at PC. Returns where the code goes on, which may be behind it or a jump away; or 0. */
static uint64_t pass(struct handed *h, struct straight *s, const struct code_text *text, uint64_t pc,
                     struct code_fact *fact)
{
    const struct code_cpu *cpu = h->code->cpu;
    const bool kept_ra = s->keeps_ra;
    const struct code_unit *unit;
    unsigned i;
    uint64_t to;
    bool left;

    memset(fact, 0, sizeof *fact);
    s->numbers.is_known[CODE_TARGET] = false;
    h->code->cpu->decode(h->code->decoder, text, pc, fact);
    if (!cpu->link)
        s->keeps_ra = has_no_return(cpu, s, fact);
    for (i = 0; i < fact->num; i++)
        pass_op(h->code, s, &fact->op[i]);
    if (h->code->image->header.e_machine == EM_386 && fact->size == 1 && text->bytes[pc - text->start] == 0x60)
        pass_all(cpu, s);
    if (cpu->banked && fact->size == 4)
        pass_arm(s, text->bytes + (pc - text->start), fact, kept_ra);
    if (fact->size == 0 || fact->flow == CODE_RETURN || fact->flow == CODE_RESUME || fact->flow == CODE_STOP)
        return 0;
    if (fact->flow == CODE_NEXT || fact->flow == CODE_BRANCH || (fact->condition != 0 && fact->flow != CODE_CALL))
        return pc + fact->size;
    to = goes_to(h->code, s, fact);
    unit = to != 0 ? code_unit_at(h->code, to) : NULL;
    if (unit != NULL && (unit->start != to || unit->fde == NULL))
        unit = NULL;
    if (fact->flow == CODE_CALL) {
        s->keeps_ra = false;
        if (unit != NULL)
            h->called[unit - h->code->units] = true;
        return pc + fact->size;
    }
    left = is_leaving_entry(cpu, s);
    if (left && unit != NULL && unit->function)
        h->handed[unit - h->code->units] = true;
    h->leaves |= left && to == 0;
    return to;
}

/* Follows S from PC on, where another piece of an entry without CFI may be. */
static void pass_on(struct handed *h, struct straight *s, uint64_t pc)
{
    enum { MOST = 256 };
    unsigned i;

    for (i = 0; i < MOST && pc != 0 && may_be_entry(h->code->cpu, s); i++) {
        const struct code_unit *unit = code_unit_at(h->code, pc);
        const struct code_text text = unit_text_at(h->code, pc);
        struct code_fact fact;

        if ((unit != NULL && unit->fde != NULL) || text.bytes == NULL)
            return;
        pc = pass(h, s, &text, pc, &fact);
    }
}

/* Reads the code of SECTION that has no CFI. */
static void pass_section(struct handed *h, const struct section *section)
{
    const struct code_text text = unit_text_at(h->code, section->addr);
    uint64_t pc = section->addr;
    struct straight s;
    bool begins = true;

    while (text.bytes != NULL && pc < text.end) {
        const struct code_unit *unit = code_unit_at(h->code, pc);
        struct code_fact fact;
        uint64_t next;

        if (unit != NULL && unit->fde != NULL) {
            pc = unit->end;
            begins = true;
            continue;
        }
        if (begins)
            begin_straight(h->code, &s);
        next = pass(h, &s, &text, pc, &fact);
        pc += fact.size != 0 ? fact.size : h->code->cpu->align;
        begins = next != pc || fact.flow == CODE_CALL;
        if (next != pc && next != 0)
            pass_on(h, &s, next);
    }
}

/* s390x: whether the instruction at P reads an interruption code or an old PSW in the low core, as C does. */
static bool reads_low_core(const struct code_cpu *cpu, const uint8_t *p)
{
    enum { CODES = 0x80, CODES_END = 0xa8 };
    const bool has_index = p[0] == 0x43 || p[0] == 0x48 || p[0] == 0x58 || (p[0] == 0xe3 && p[4] == 0);
    const int64_t k = (p[2] & 15) << 8 | p[3];

    return has_index && (p[1] & 15) == 0 && p[2] >> 4 == 0 && ((k >= CODES && k < CODES_END) || is_old_psw(cpu, k));
}

/* ARM: whether the instruction at P reads SPSR, or a status or an address of a fault (mrc, c5 and c6). */
static bool reads_fault(const uint8_t *p)
{
    const uint32_t short_word = arm_word(p, false), wide_word = arm_word(p, true);

    return reads_spsr(p) || (short_word & 0xffff0f9f) == 0xee150f10 || (short_word & 0xffff0f9f) == 0xee160f10 ||
           (wide_word & 0xffff0f9f) == 0xee150f10 || (wide_word & 0xffff0f9f) == 0xee160f10;
}

/* Whether the instruction of 4 bytes or more at P asks the CPU why an exception has come: by scause or mcause; by the
 * ESR of an exception level; as above. */
static bool reads_cause(const struct code *code, const uint8_t *p)
{
    const uint32_t word = (uint32_t)load_number(p, 4, false);

    switch (code->image->header.e_machine) {
    case EM_RISCV:
        return (word & 0xdffff07f) == 0x14202073;
    case EM_AARCH64:
        return (word & 0xfff8ffe0) == 0xd5385200;
    case EM_ARM:
        return reads_fault(p);
    default:
        return reads_low_core(code->cpu, p);
    }
}

/* Whether the code of UNIT asks so, as handlers do. */
static bool asks_cause(const struct code *code, const struct code_unit *unit)
{
    const uint8_t *p = image_instructions(code->image, unit->start, unit->end - unit->start);
    const bool is_s390 = code->cpu->old_psw != 0;
    uint64_t at = 0;

    while (p != NULL && at + 4 <= unit->end - unit->start) {
        const unsigned size = !is_s390 ? code->cpu->align : p[at] < 0x40 ? 2 : p[at] < 0xc0 ? 4 : 6;

        if ((!is_s390 || (size >= 4 && at + size <= unit->end - unit->start)) && reads_cause(code, p + at))
            return true;
        at += size;
    }
    return false;
}

/* Finds the handlers that an entry may go to that finds their address in memory: nothing calls them, and they ask for
 * the cause, or what they call does. */
static void find_asking(struct handed *h)
{
    struct code *code = h->code;
    bool *asks = zeroed(code->num_units, sizeof *asks);
    size_t i;

    for (i = 0; i < code->num_units; i++)
        asks[i] = h->reads[i] = asks_cause(code, &code->units[i]);
    for (i = 0; i < code->num_calls; i++)
        asks[code->calls[i].caller] |= h->reads[code->calls[i].callee];
    for (i = 0; i < code->num_units; i++)
        h->handed[i] |= asks[i] && code->units[i].function && !code->units[i].is_called && !h->called[i];
    free(asks);
}

static void find_handed(struct code *code)
{
    struct handed h = {code, NULL, NULL, NULL, false};
    size_t i;

    if (code->handed_known || code->cpu == &code_thumb)
        return;
    code->handed_known = true;
    h.handed = zeroed(code->num_units, sizeof *h.handed);
    h.called = zeroed(code->num_units, sizeof *h.called);
    h.reads = zeroed(code->num_units, sizeof *h.reads);
    for (i = 0; i < code->image->num_code; i++)
        pass_section(&h, code->image->code[i]);
    if (h.leaves && code->cpu->link)
        find_asking(&h);
    for (i = 0; i < code->num_units; i++)
        code->units[i].is_handed = h.handed[i];
    free(h.handed);
    free(h.called);
    free(h.reads);
}

/* ---- Who is not called, whatever its CFI says ------------------------------------------------------------------ */

/* Marks the units that jumps lead to from those that are marked; or, if BACK, that lead to those. */
static void spread(const struct code *code, bool *marked, bool back)
{
    uint32_t *first = zeroed(code->num_units + 1, sizeof *first), *to = zeroed(code->num_jumps, sizeof *to);
    uint32_t *work = zeroed(code->num_units, sizeof *work);
    size_t num = 0, i;

    for (i = 0; i < code->num_jumps; i++)
        first[back ? code->jumps[i].callee : code->jumps[i].caller]++;
    for (i = 1; i <= code->num_units; i++)
        first[i] += first[i - 1];
    for (i = 0; i < code->num_jumps; i++)
        to[--first[back ? code->jumps[i].callee : code->jumps[i].caller]] =
            back ? code->jumps[i].caller : code->jumps[i].callee;
    for (i = 0; i < code->num_units; i++)
        if (marked[i])
            work[num++] = (uint32_t)i;
    while (num > 0) {
        const uint32_t unit = work[--num], end = first[unit + 1];
        uint32_t k;

        for (k = first[unit]; k < end; k++)
            if (!marked[to[k]]) {
                marked[to[k]] = true;
                work[num++] = to[k];
            }
    }
    free(first);
    free(to);
    free(work);
}

void code_forget_ways(struct code *code, bool *from)
{
    size_t i;

    spread(code, from, false);
    for (i = 0; i < code->num_units; i++)
        if (from[i])
            code_forget_edges(code, &code->units[i]);
    for (i = 0; i < code->num_jumps; i++)
        if (from[code->jumps[i].callee])
            code->units[code->jumps[i].caller].dirty = true;
}

/* Units from which a jump, or several, may lead to a return from an interrupt. */
static bool *may_resume(const struct code *code)
{
    bool *may = zeroed(code->num_units, sizeof *may);
    size_t i;

    for (i = 0; i < code->num_units; i++)
        may[i] = code->units[i].resumes || code->units[i].leaves;
    spread(code, may, true);
    return may;
}

/* Whether the code that ENDS are of never goes on anywhere. What begins as interrupt functions alone do need not be
 * known to its ends. */
static bool is_last(const struct code_ends *ends)
{
    return !ends->returns && !ends->returns_ill && !ends->resumes && !ends->exits && !ends->tail_calls &&
           (!ends->unknown || ends->begins_mode);
}

/* Whether UNIT, whose ways end as ENDS say, may be entered by an interrupt and never return, as a double fault's entry
 * does. Compilers describe how their functions move SP: code that moves SP under CFI that says nothing is assembly.
 * Start-up code, which takes a stack of its own, is no such entry. */
static bool may_be_last_entry(const struct code_cpu *cpu, const struct code_unit *unit,
                              const struct code_ends *ends)
{
    const bool odd = ends->moves || ends->misaligned;

    return (cpu->idle != 0 || !cpu->link) && is_last(ends) &&
           (ends->saves || ends->hands_frame || ends->begins_mode || (unit->says_nothing && odd && !ends->loses));
}

/* Whether UNIT, whose CFI says that a word lies below the return address at its start, is an interrupt function of gcc
 * with an error code that never returns. A piece of a function may begin so, too: it has no symbol or another name, and
 * does not begin as an interrupt function. */
static bool is_last_below(const struct code_unit *unit, const struct symbol *symbol, const struct code_ends *ends)
{
    if (unit->edges != NULL || unit->jumped_to || !is_last(ends))
        return false;
    if (symbol != NULL && symbol->addr == unit->start)
        return symbol->function && !unit_names_piece(symbol->name);
    return ends->saves || ends->begins_mode;
}

/* Whether UNIT, whose ways end as ENDS say, returns from an interrupt, and so was not called, although its CFI says so.
 * A function that was called may do that, too, to enter another program: it does not take off the stack what its caller
 * has, and the CPU's frame would not be where an interrupt leaves it. Or it goes back to its caller so, in another mode
 * of the CPU. */
static bool is_uncalled(struct code *code, const struct code_unit *unit, const struct code_ends *ends)
{
    const char *why;

    if (ends->exits && (unit->says_nothing || code_is_kind(code, unit->start, CODE_SYSCALL)))
        return true;
    if (ends->takes_up)
        return true;
    if (ends->hands_back && !ends->resumes_ill)
        return false;
    return ends->resumes &&
           (unit->says_nothing || ends->takes || ((code->cpu->banked || !code->cpu->link) && ends->begins_mode) ||
            code_is_kind(code, unit->start, CODE_TRAP) || code_kind_of(code, unit->start, &why) != CODE_KINDS);
}

/* Whether a way with STATE, which jumps to the start of a unit, proves that it is not a call of it: an interrupt's
 * entry; start-up code that has taken a stack of its own. Without one firmware may have called it, and so the unit. Nor
 * does one whose code has been entered in several ways leave what one alone would have. */
static bool is_no_caller(const struct code_cpu *cpu, const struct code_state *state)
{
    return state->caller == CALLER_INTERRUPTED || state->caller == CALLER_UNCERTAIN ||
           (state->caller == CALLER_NONE && state->reg[cpu->sp].base == BASE_ALIGNED);
}

/* Whether code that calls nobody so comes to the start of UNIT by a jump that leaves no return address: an interrupt's
 * entry, or, of CALLER_NONE, start-up code. If UNIT is called, too, nothing tells in it which of both has been. */
static bool is_jumped_to(const struct code *code, const struct code_unit *unit, unsigned caller)
{
    const struct code_edge *edge = unit->edges;
    const struct symbol *symbol = image_symbol(code->image, unit->start);

    while (edge != NULL &&
           (edge->target != unit->start || edge->state.caller != caller || !is_no_caller(code->cpu, &edge->state)))
        edge = edge->next;
    return edge != NULL && edge->bare && (symbol == NULL || !unit_names_piece(symbol->name));
}

/* Whether a function jumps to the start of UNIT in the middle of its own frame, which the code there takes off, or
 * keeps for ever: UNIT is an end that functions share. CFI that says more than that UNIT is called is wrong only if
 * the code, called, would end otherwise. */
static bool is_shared_end(struct code *code, struct code_unit *unit)
{
    const struct code_edge *edge = code_edge_to_start(unit);
    const struct code_value *sp;
    struct code_ends ends, called;
    bool returns;

    if (edge == NULL || !edge->bare || edge->state.caller != CALLER_KNOWN)
        return false;
    if (code_is_goto_thunk(code, unit, &edge->state))
        return true;
    if (unit->is_called)
        return false;
    if (code_is_jump_thunk(code, unit, &edge->state))
        return true;
    if (!code_try_piece(code, unit->start, &edge->state, &ends))
        return false;
    returns = ends.returns || ends.tail_calls;
    if (!unit->says_nothing) {
        code_try(code, unit->start, CODE_CALLED, &called);
        return returns && code_contradicts_call(&called);
    }
    sp = &edge->state.reg[code->cpu->sp];
    return returns || (sp->base == BASE_CFA && sp->k < code->cpu->sp_at_entry);
}

/* What the code of UNIT, whose CFI was wrong, has been named in spite of that; or CODE_KINDS. */
static enum code_kind named_kind(const struct code_how *how, const struct code_unit *unit)
{
    size_t i;

    for (i = 0; i < how->num_entries; i++)
        if (how->entries[i].addr == unit->start && how->entries[i].described) {
            how->entries[i].taken = true;
            return how->entries[i].kind;
        }
    return CODE_KINDS;
}

/* The code of UNIT has lost its CFI: ways begin there if it is known who enters it. */
static void enter_uncalled(struct code *code, const struct code_how *how, struct code_unit *unit)
{
    const enum code_kind named = named_kind(how, unit);
    const char *why;
    enum code_kind kind;

    if (named != CODE_KINDS) {
        code_begin_at(code, unit->start, named);
        return;
    }
    if (unit->lost_to == LOST_BY_WORD)
        code_enter(code, how, unit->start, CODE_ERROR,
                   "its CFI says that an error code lies below the interrupted PC");
    if (unit->lost_to == LOST_BY_START)
        code_begin_at(code, unit->start, CODE_START);
    if (unit->lost_to == LOST_BY_PROGRAM || unit->lost_to == LOST_BY_START)
        return;
    if ((unit->lost_to == LOST_BY_JUMP || unit->lost_to == LOST_BY_FRAME) && unit->is_called)
        code_begin_at(code, unit->start, CODE_CALLED);
    if (!code_is_lost_by_itself(unit) || unit->jumped_to)
        return;
    kind = code_kind_of(code, unit->start, &why);
    if (kind != CODE_KINDS)
        code_enter(code, how, unit->start, kind, why);
    else if (how->entered != NULL && !code_is_given(how, unit->start))
        how->entered(
            how->ctx, unit->start, CODE_KINDS, NULL,
            unit->lost_to == LOST_BY_END ? "its CFI says that it is called, but it returns from an interrupt"
            : unit->lost_to == LOST_BY_GATE
                ? code_why_gate(code)
                : "its CFI says that it is called, but nothing calls it, and it may be an exception's entry");
}

/* What entries go to with the return address of another program begins with a state of which no row comes. */
static void enter_handed(struct code *code, const bool *from)
{
    struct code_state state;
    size_t i;

    code_entry(code->cpu, &state);
    state.caller = CALLER_UNCERTAIN;
    memset(&state.reg[code->cpu->ra], 0, sizeof *state.reg);
    for (i = 0; i < code->num_units; i++)
        if (from[i] && code->units[i].lost_to == LOST_BY_PROGRAM)
            code_add_edge(code, code->units[i].start, &state);
}

/* Whether UNIT, whose ways end as ENDS say, is where the image starts, and leaves the stack that it was entered with
 * for good: its CFI is that of a function without a prologue (`__attribute__((naked))`). */
static bool is_first(const struct code *code, const struct code_unit *unit, const struct code_ends *ends)
{
    return unit->start == code->image->header.e_entry && code->image->pe == NULL && unit->says_nothing &&
           ends->loses && !ends->returns && !ends->resumes && !ends->exits;
}

/* x86: whether HOW names the function UNIT as an exception's entry, and its code may be one: a gate may have the
 * address of a function in C, which then never returns. */
static bool is_named_entry(struct code *code, const struct code_how *how, const struct code_unit *unit)
{
    bool named = false;
    size_t i;

    for (i = 0; i < how->num_entries && !code->cpu->link; i++) {
        const struct code_entry_point *entry = &how->entries[i];
        struct code_ends ends;

        if (entry->addr != unit->start || !entry->described || !entry->exact ||
            (entry->kind != CODE_TRAP && entry->kind != CODE_ERROR))
            continue;
        code_try_seen(code, unit->start, entry->kind, &ends);
        named |= !ends.resumes_ill && !ends.returns && !ends.returns_ill && !ends.tail_calls && !ends.unknown &&
                 !ends.goes_on && !ends.left_open;
    }
    return named;
}

/* Why UNIT is not called, although its CFI says so; or LOST_BY_NOTHING. VECTOR: a register says that an interrupt
 * enters it. MAY: it may lead to a return from one. */
static enum code_lost_by why_uncalled(struct code *code, const struct code_how *how, struct code_unit *unit,
                                      bool vector, bool may)
{
    struct code_ends ends;

    if (unit->fde == NULL || unit->trap || unit->says_end)
        return LOST_BY_NOTHING;
    if (unit->is_handed && (code->cpu->link || !is_jumped_to(code, unit, CALLER_INTERRUPTED)))
        return LOST_BY_PROGRAM;
    if (unit->function && !vector &&
        (is_jumped_to(code, unit, CALLER_INTERRUPTED) || is_jumped_to(code, unit, CALLER_UNCERTAIN)))
        return LOST_BY_JUMP;
    if (unit->is_called && unit->function && !unit->returns && code_is_gate(code, unit->start))
        return LOST_BY_JUMP;
    if (unit->is_called)
        return LOST_BY_NOTHING;
    if (unit->function && !vector && is_jumped_to(code, unit, CALLER_NONE)) {
        find_addresses(code); /* it may be called by its own */
        if (!unit->may_be_taken)
            return LOST_BY_JUMP;
    }
    if (unit->begins_below && !unit->is_tried) {
        unit->is_tried = true;
        code_try(code, unit->start, CODE_CALLED, &ends);
        return is_last_below(unit, image_symbol(code->image, unit->start), &ends) ? LOST_BY_WORD : LOST_BY_NOTHING;
    }
    if (!unit->function)
        return LOST_BY_NOTHING;
    if (is_named_entry(code, how, unit))
        return LOST_BY_NAME;
    if (vector)
        return LOST_BY_REGISTER;
    if (!unit->returns && code_is_gate(code, unit->start))
        return LOST_BY_GATE;
    if ((!may && unit->returns) || unit->is_tried)
        return LOST_BY_NOTHING;
    unit->is_tried = true; /* its code says the same another time */
    code_try(code, unit->start, CODE_CALLED, &ends);
    if (is_first(code, unit, &ends))
        return LOST_BY_START;
    if (may_be_last_entry(code->cpu, unit, &ends))
        return LOST_BY_ENTRY;
    return may && is_uncalled(code, unit, &ends) ? LOST_BY_END : LOST_BY_NOTHING;
}

/* Takes the CFI from units that nobody calls. Marks them. Returns whether there are any. */
static bool drop_uncalled(struct code *code, const struct code_how *how, bool *lost)
{
    bool *may = may_resume(code), *vectors = zeroed(code->num_units, sizeof *vectors), any = false;
    size_t i;

    find_handed(code);
    code_mark_vectors(code, vectors);
    for (i = 0; i < code->num_units; i++) {
        const enum code_lost_by why = why_uncalled(code, how, &code->units[i], vectors[i], may[i]);

        if (why == LOST_BY_NOTHING)
            continue;
        code_drop_cfi(code, &code->units[i]);
        code->units[i].lost_to = (uint8_t)why;
        lost[i] = any = true;
    }
    free(may);
    free(vectors);
    return any;
}

/* The same of ends that functions share: once it is known which entries are none of functions. */
static bool drop_shared(struct code *code, bool *lost)
{
    bool any = false;
    size_t i;

    for (i = 0; i < code->num_units; i++) {
        struct code_unit *unit = &code->units[i];

        if (unit->fde == NULL || unit->trap || unit->says_end || !unit->function || !is_shared_end(code, unit))
            continue;
        code_drop_cfi(code, unit);
        unit->lost_to = LOST_BY_FRAME;
        lost[i] = any = true;
    }
    return any;
}

/* Whether EDGE is a jump of start-up code by a register that has its target's address. */
static bool is_start_by_register(const struct code_cpu *cpu, const struct code_edge *edge)
{
    unsigned i = 0;

    while (i < CODE_REAL && (edge->state.reg[i].base != BASE_NUMBER ||
                             (unit_address_of(cpu, &edge->state.reg[i]) & ~(uint64_t)cpu->mode) != edge->target))
        i++;
    return edge->state.caller == CALLER_NONE && i < CODE_REAL;
}

/* Whether UNIT, whose ways end as ENDS say, is a label that takes a stack of its own, and nothing leads back. ARM: each
 * mode has its own SP. */
static bool takes_stack(const struct code *code, const struct code_unit *unit, const struct code_ends *ends)
{
    return ends->loses && !ends->returns && !ends->returns_ill && !ends->takes && !ends->unknown &&
           !ends->resumes && !ends->exits && !code_begins_function(code, unit->start) &&
           code->image->header.e_machine != EM_ARM;
}

/* Whether UNIT, without CFI, which jumps of an interrupt's entry, of a function in its frame or of start-up code lead
 * to, may be called by its address, too. */
static bool may_be_called(struct code *code, struct code_unit *unit)
{
    const struct code_edge *edge = unit->fde == NULL && !unit->doubted ? code_edge_to_start(unit) : NULL;
    struct code_ends ends;
    bool by_start;

    if (edge == NULL || edge->begins != 0)
        return false;
    by_start = is_start_by_register(code->cpu, edge);
    if (edge->state.caller == CALLER_INTERRUPTED
            ? unit->lost_to != LOST_BY_JUMP && !code_begins_function(code, unit->start)
            : unit->lost_to != LOST_BY_FRAME && !by_start)
        return false;
    unit->doubted = true;
    find_addresses(code);
    if (by_start ? !unit->may_be_taken : !unit->addressed)
        return false;
    code_try(code, unit->start, CODE_CALLED, &ends);
    if (by_start && takes_stack(code, unit, &ends)) /* whoever calls it */
        return false;
    return !ends.resumes && !ends.exits && !ends.returns_ill && !ends.takes;
}

/* Of units that may be entered by a jump and by a call nothing tells which of both has been. */
static bool doubt_units(struct code *code)
{
    bool any = false;
    size_t i;

    for (i = 0; i < code->num_units; i++)
        if (may_be_called(code, &code->units[i])) {
            code_begin_at(code, code->units[i].start, CODE_CALLED);
            any = true;
        }
    return any;
}

/* Gates that lead to code without CFI which does not show what the CPU has pushed, such as one jump: what that goes to
 * is no called function. Nor is what is called, too, and does not return: nothing tells which of both has been. Returns
 * whether there are any. */
static bool enter_gates(struct code *code)
{
    struct code_state state;
    const char *why;
    bool any = false;
    size_t i;

    code_entry(code->cpu, &state);
    state.caller = CALLER_UNCERTAIN;
    for (i = 0; i < code->num_vectors; i++) {
        const uint64_t addr = code->vectors[i].addr;
        const struct code_unit *unit = code_unit_at(code, addr);

        if (code->vectors[i].asked || !code_is_gate(code, addr) || unit->fde != NULL)
            continue;
        code->vectors[i].asked = true;
        if (unit->is_called ? unit->returns
                            : unit->lost_to != LOST_BY_NOTHING || code_begins_function(code, addr) ||
                                  code_edge_to_start(unit) != NULL || code_kind_of(code, addr, &why) != CODE_KINDS)
            continue;
        code_add_edge(code, addr, &state);
        any = true;
    }
    return any;
}

bool code_find_uncalled(struct code *code, const struct code_how *how)
{
    bool *from = zeroed(code->num_units, sizeof *from), *lost = zeroed(code->num_units, sizeof *lost);
    bool any, doubts;
    size_t i;

    code_find_gates(code);
    any = drop_uncalled(code, how, lost) || drop_shared(code, lost);
    doubts = !any && (doubt_units(code) || enter_gates(code));
    if (any) {
        memcpy(from, lost, code->num_units * sizeof *from);
        code_forget_ways(code, from);
        enter_handed(code, from);
    }
    for (i = 0; i < code->num_units && any; i++)
        if (lost[i])
            enter_uncalled(code, how, &code->units[i]);
    for (i = 0; i < code->num_vectors && any && !how->find; i++)
        if (!code->vectors[i].done) {
            code->vectors[i].done = true;
            code_enter_vector(code, how, &code->vectors[i]);
        }
    free(from);
    free(lost);
    return any || doubts;
}
