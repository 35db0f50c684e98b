/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Code that nothing is seen to call is followed from there on, along its jumps through whatever unit, on trial: as if
 * it had been called, and as if an interrupt of each kind had entered it. What holds where the ways end says which of
 * them is true:
 *
 *   - A return from an interrupt takes back what the CPU has left at the entry. SP is there for one kind alone: where
 *     the CPU pushes an error code for some entries, those leave out as much themselves, or drop as much more.
 *   - A function that was called returns to its caller, with SP and FP as they were. If it never returns, it leaves
 *     alone what is its caller's: it takes nothing off the stack that it has not put there, it does not lose SP, and
 *     on x86_64 it aligns SP to 16 for those that it calls, as the ABI says.
 */
#include "imports.h"
#include "state.h"
#include "trial.h"
#include "units.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A way is followed no further than that: entries are short. */
enum {
    MAX_STEPS = 8192,
    MAX_BLOCKS = 1024,
    PLACES = 2 * MAX_BLOCKS,
    MAX_PIECE_STEPS = 512,
    MAX_DEPTH = 32,
    MAX_TRAPS = 8
};

/* Where ways begin or meet. */
struct block {
    uint64_t pc;
    struct code_state state;
    bool waits;
};

struct trial {
    struct code *code;
    struct code_ends *ends;
    uint16_t by_pc[PLACES]; /* of blocks, + 1; or 0 */
    unsigned num_blocks, num_work, steps, max_steps;
    struct block *behind[MAX_TRAPS]; /* ASKS_BACK: behind traps, which a handler may skip: followed last */
    unsigned num_behind;
    bool doubts;  /* no symbol says that the code goes on behind one of them: another function may begin there */
    bool guesses; /* such a way is followed, because none before leads back */
    bool guessed; /* and one does, by a return or by a jump out of no frame: it is of this function */
    uint64_t start;
    uint64_t symbol, next_symbol; /* no symbol is between */
    bool called;
    struct code_value first; /* SP where it begins */
    bool pushes;             /* x86: SP has left that place by the push of a number */
    bool piece;              /* it begins within a function, whose frame its end must find */
    bool by_row;             /* and what is known of that is what CFI says of it */
    bool
        asks_back; /* whether a way leads back is all it asks: it notes nothing in units, and tries what is called */
    unsigned depth;  /* of those calls */
    bool seen_alone; /* x86: it follows nothing behind a call that never returns, unless a number was pushed */
    bool
        crossed; /* a way has come from a call over a symbol, or from behind a trap: its end proves no return, and no
                    stack of its own */
    struct block *blocks[MAX_BLOCKS]; /* NUM_BLOCKS of them */
    uint16_t work[MAX_BLOCKS];        /* NUM_WORK of them */
};

/* The block at PC, or where it would be noted. */
static uint16_t *find_block(struct trial *t, uint64_t pc)
{
    unsigned at = code_hash(pc) % PLACES;

    while (t->by_pc[at] != 0 && t->blocks[t->by_pc[at] - 1]->pc != pc)
        at = (at + 1) % PLACES;
    return &t->by_pc[at];
}

static bool begins_symbol(const struct code *code, uint64_t addr)
{
    const struct symbol *symbol = image_symbol(code->image, addr);

    return symbol != NULL && symbol->addr == addr;
}

/* Whether a symbol is at ADDR that is not the name of a piece. */
static bool is_other_code(const struct code *code, uint64_t addr)
{
    const struct symbol *symbol = image_symbol(code->image, addr);

    return symbol != NULL && symbol->addr == addr && !unit_names_piece(symbol->name);
}

static struct code_callee ask_callee(struct code *code, uint64_t addr, unsigned depth);
static bool import_never_returns(struct code *code, const struct code_import *import, unsigned depth);

/* A jump with STATE to PC, in whatever unit. Where it goes to the start of another one in the middle of a frame, that
 * is no function that is called. */
static void note_jump(struct trial *t, uint64_t pc, const struct code_state *state)
{
    struct code_unit *unit = code_unit_at(t->code, pc);

    if (unit == NULL || unit->start != pc || pc == t->start || t->piece || t->asks_back)
        return;
    if (!code_is_entry(t->code->cpu, state)) {
        unit->jumped_to = true;
        t->ends->goes_on |= is_other_code(t->code, pc);
    }
}

/* STATE comes to PC. */
static void arrive(struct trial *t, uint64_t pc, const struct code_state *state)
{
    uint16_t *at = find_block(t, pc);
    struct block *block;

    if (*at == 0) {
        if (t->num_blocks == MAX_BLOCKS) {
            t->ends->unknown = true;
            return;
        }
        block = t->blocks[t->num_blocks++] = unwritten(sizeof *block);
        block->pc = pc;
        state_copy(&block->state, state);
        *at = (uint16_t)t->num_blocks;
    } else {
        block = t->blocks[*at - 1];
        if (!code_join(t->code->cpu, &block->state, state) || block->waits)
            return;
    }
    block->waits = true;
    t->work[t->num_work++] = (uint16_t)(*at - 1);
}

static void jump(struct trial *t, uint64_t pc, const struct code_state *state)
{
    if (t->asks_back && import_by_plt(t->code, pc) != NULL && ask_callee(t->code, pc, t->depth + 1).never)
        return;
    note_jump(t, pc, state);
    /* A function that another one goes on in, as its caller's, returns in its place. */
    if (t->called && pc != t->start && code_begins_function(t->code, pc) && code_is_entry(t->code->cpu, state)) {
        t->ends->tail_calls = true;
        if (t->asks_back)
            t->ends->left_open |= !ask_callee(t->code, pc, t->depth + 1).never;
    } else {
        arrive(t, pc, state);
    }
}

/* Whether a register or a word in STATE has a value of a base from FIRST to LAST. */
static bool has_base(const struct code_state *state, uint8_t first, uint8_t last)
{
    unsigned i;

    for (i = 0; i < CODE_REGISTERS; i++)
        if (state->reg[i].base >= first && state->reg[i].base <= last)
            return true;
    for (i = 0; i < state->num; i++)
        if (state->slot[i].value.base >= first && state->slot[i].value.base <= last)
            return true;
    return false;
}

/* Whether a copy of what SP was is anywhere. */
static bool has_sp(const struct code_state *state)
{
    return has_base(state, BASE_CFA, BASE_TRAP);
}

/* Whether UNIT is a part of the code that is tried: not if it is a function that CFI describes, which goes on in its
 * place. */
static bool is_own(const struct trial *t, const struct code_unit *unit)
{
    return unit == NULL || unit->fde == NULL || unit->says_nothing ||
           (t->start >= unit->start && t->start < unit->end);
}

/* How far up SP may be in code that was called. CFI may describe a frame whose return address has been popped. */
static int64_t highest_sp(const struct trial *t)
{
    const struct code_cpu *cpu = t->code->cpu;

    return cpu->sp_at_entry + (t->by_row && !cpu->link ? cpu->word : 0);
}

/* SP has been BEFORE. OWN: by is_own. */
static void look_at_sp(struct trial *t, struct code_state *state, const struct code_value *before, bool left,
                       bool own)
{
    const struct code_cpu *cpu = t->code->cpu;
    const struct code_value *sp = &state->reg[cpu->sp];
    const bool called = state->has_called;

    t->ends->moves |= own && (sp->base != before->base || sp->k != before->k);
    if (sp->base == BASE_CFA && before->base == BASE_CFA && sp->k > highest_sp(t))
        t->ends->takes = true;
    if (sp->base <= BASE_NUMBER && before->base > BASE_NEAR && !has_sp(state) && !left) {
        t->ends->loses |= !t->crossed;
        t->ends->unknown |= t->crossed && !t->asks_back;
    }
    if (!t->by_row && code_move_stack(cpu, state, before, left) && called)
        state->switched = CODE_MIXED;
}

static void note_return(struct trial *t, const struct code_state *state, const struct code_fact *fact)
{
    if (code_is_left(t->code->cpu, state, fact)) {
        t->ends->returns |= !t->crossed || t->piece;
        t->ends->left_open |= t->crossed;
        t->guessed |= t->guesses;
    } else if (t->by_row && state->reg[t->code->cpu->sp].base == BASE_UNKNOWN)
        t->ends->unknown = true; /* from a place of which CFI says nothing */
    else
        t->ends->returns_ill = true;
}

/* ARM: whether an instruction that returns from an exception, behind which STATE holds, goes on in front of where a
 * caller would, as behind an interrupt or an abort, or there, as behind svc. No compiler's function returns so to a
 * caller. */
static bool takes_up(const struct code_cpu *cpu, const struct code_state *state)
{
    const struct code_value *to = &state->reg[CODE_TARGET];

    return cpu->banked && to->base == BASE_RETURN && to->k <= 0;
}

/* ARM: whether FACT, behind which STATE holds, loads where it goes on from the stack, and from above what the code has
 * put there: the CPU or another piece of an exception's entry has. */
static bool loads_above(const struct trial *t, const struct code_state *state, const struct code_fact *fact)
{
    const struct code_cpu *cpu = t->code->cpu;
    const struct code_value *sp = &state->reg[cpu->sp];
    bool above = sp->k > highest_sp(t), moves = false;
    unsigned i;

    for (i = 0; i < fact->num; i++)
        moves |= fact->op[i].what == CODE_SET && fact->op[i].reg == cpu->sp;
    for (i = 0; i < fact->num && !moves; i++)
        above |= fact->op[i].what == CODE_LOAD && fact->op[i].reg == CODE_PC && fact->op[i].base == cpu->sp &&
                 sp->k + fact->op[i].k >= highest_sp(t);
    return cpu->banked && sp->base == BASE_CFA && above;
}

/* What goes on in a program, at what a register has, does so for the one that has called the system, or begins another
 * one: a way on which the PC and SP are not those of the entry is no proof against it. */
static void note_resume(struct trial *t, const struct code_state *state, const struct code_fact *fact)
{
    const bool well = code_resumes_well(t->code->cpu, state, fact);

    if (fact->link != 0) {
        t->ends->exits = true;
        t->ends->resumes |= well && !t->called;
        return;
    }
    /* Of s390x's old PSW nothing is known. */
    t->ends->hands_back |= well && t->called && t->code->cpu->old_psw == 0;
    t->ends->takes_up |= t->called && takes_up(t->code->cpu, state);
    t->ends->takes |= t->called && loads_above(t, state, fact);
    t->ends->resumes = true;
    t->ends->resumes_ill |= !well;
}

/* Whether nothing but padding comes from PC on, or a function: a call in front of it does not come back. */
static bool ends_at(const struct code *code, uint64_t pc)
{
    const struct code_unit *unit = code_unit_at(code, pc);

    if (unit == NULL) /* what CFI says all of, if it is code */
        return code_begins_function(code, pc) || image_code(code->image, pc) == NULL;
    return code_begins_function(code, pc) || image_is_padding(code->image, pc, unit->end);
}

/* The register that has what the call of FACT, at PC, calls; or CODE_NONE. */
static unsigned register_of_call(const struct code *code, uint64_t pc, const struct code_fact *fact)
{
    static const uint8_t amd64[8] = {0, 2, 1, 3, 7, 6, 4, 5}; /* the DWARF numbers */
    const uint8_t *p = fact->target == 0 ? image_instructions(code->image, pc, fact->size) : NULL;
    const uint32_t word = p != NULL && fact->size <= 4 ? (uint32_t)load_number(p, fact->size, code->image->big) : 0;

    if (p == NULL)
        return CODE_NONE;
    switch (code->image->header.e_machine) {
    case EM_X86_64: /* ff /2, perhaps behind REX.B */
        if (fact->size == 2 && p[0] == 0xff && p[1] >> 3 == 0x1a)
            return amd64[p[1] & 7];
        return fact->size == 3 && p[0] == 0x41 && p[1] == 0xff && p[2] >> 3 == 0x1a ? 8u + (p[2] & 7) : CODE_NONE;
    case EM_386: /* ff /2 */
        return fact->size == 2 && p[0] == 0xff && p[1] >> 3 == 0x1a ? p[1] & 7u : CODE_NONE;
    case EM_AARCH64: { /* blr; instructions are little-endian */
        const uint32_t blr = (uint32_t)load_number(p, 4, false);

        return (blr & 0xfffffc1f) == 0xd63f0000 ? blr >> 5 & 31 : CODE_NONE;
    }
    case EM_RISCV: /* jalr ra, 0(r); c.jalr */
        if (fact->size == 4)
            return (word & 0xfff07fff) == 0x000000e7 ? word >> 15 & 31 : CODE_NONE;
        return (word & 0xf07f) == 0x9002 ? word >> 7 & 31 : CODE_NONE;
    case EM_S390: /* basr */
        return fact->size == 2 && p[0] == 0x0d ? p[1] & 15 : CODE_NONE;
    default: /* blx */
        if (fact->size == 4)
            return (word & 0x0ffffff0) == 0x012fff30 ? word & 15 : CODE_NONE;
        return (word & 0xff87) == 0x4780 ? word >> 3 & 15 : CODE_NONE;
    }
}

/* Whether FACT calls what a register has that functions keep for their callers, as it was at the entry: a function that
 * was called does not know what that is. The first instructions of a thread do. */
static bool calls_kept(const struct trial *t, const struct code_state *state, uint64_t pc,
                       const struct code_fact *fact)
{
    const unsigned reg = t->called ? register_of_call(t->code, pc, fact) : CODE_NONE;

    return reg < CODE_REAL && !(t->code->cpu->changed >> reg & 1) && state->reg[reg].base == BASE_ENTRY + reg &&
           state->reg[reg].k == 0;
}

/* Whether OP stores REG where an exception's entry does: on the stack, or where an absolute address or GS says. A
 * function that dumps all registers (sfu_capture) has the address of its structure in one of them. ARM's only idle
 * register, where it is stored alone, has the static chain of a nested function. */
static bool saves(const struct code *code, const struct code_op *op, unsigned reg)
{
    if (op->base != code->cpu->sp && op->base != CODE_ZERO && op->base != CODE_OTHER_SP)
        return false;
    if (op->what == CODE_STORE)
        return op->reg <= reg && reg <= op->last && code->image->header.e_machine != EM_ARM;
    return op->what == CODE_STORES && (uint32_t)op->from >> reg & 1;
}

static bool is_store(const struct code_op *op)
{
    return op->what == CODE_STORE || op->what == CODE_STORES;
}

/* Whether FACT saves what an idle register has at the entry: whoever has interrupted needs it again, or a dump. */
static bool saves_idle(const struct code *code, const struct code_state *state, const struct code_fact *fact)
{
    const struct code_cpu *cpu = code->cpu;
    unsigned i, reg;

    for (i = 0; i < fact->num; i++)
        for (reg = 0; reg < CODE_REAL && is_store(&fact->op[i]); reg++)
            if (cpu->idle >> reg & 1 && state->reg[reg].base == BASE_ENTRY + reg && saves(code, &fact->op[i], reg))
                return true;
    return false;
}

/* Whether P is an instruction of strings, or the prefix of one. */
static bool is_of_strings(uint8_t p)
{
    return p == 0xf2 || p == 0xf3 || (p >= 0xa4 && p <= 0xa7) || (p >= 0xaa && p <= 0xaf) ||
           (p >= 0x6c && p <= 0x6f);
}

/* Whether the instruction at PC, in TEXT, is one that compilers write into interrupt functions alone. The ABIs say what
 * it makes sure of: that functions find the direction flag clear, and SP at a multiple of 8. */
static bool begins_mode(const struct code *code, const struct code_text *text, uint64_t pc)
{
    const uint8_t *p;
    uint32_t word;

    if (text->bytes == NULL || pc < text->start || pc >= text->end || text->end - pc < 4)
        return false;
    p = text->bytes + (pc - text->start);
    switch (code->image->header.e_machine) {
    case EM_X86_64:
        return p[0] == 0xfc && !is_of_strings(p[1]);
    case EM_386: /* pusha, too: a function need not keep what it saves */
        return p[0] == 0x60 || (p[0] == 0xfc && !is_of_strings(p[1]));
    case EM_ARM: /* bfc sp, #0, #3; srs */
        word = (uint32_t)load_number(p, 4, code->image->big);
        return word == 0xe7c2d01f || (word & 0xfe5fffe0) == 0xf84d0500;
    default:
        return false;
    }
}

/* What registers that a function keeps, and idle ones, have at its entry has a name, too. */
static void name_registers(const struct code_cpu *cpu, struct code_state *state)
{
    unsigned i;

    for (i = 0; i < CODE_REAL; i++)
        if (!((cpu->changed & ~cpu->idle) >> i & 1) && state->reg[i].base == BASE_UNKNOWN && i != cpu->sp &&
            i != cpu->ra)
            state->reg[i] = (struct code_value){0, (uint8_t)(BASE_ENTRY + i), false, 0, 0};
}

/* Whether the ABI of calls aligns SP to 16: that of x86_64. That of i386 does, too, but kernels choose otherwise. */
static bool has_alignment(const struct code_cpu *cpu)
{
    return !cpu->link && cpu->word == 8;
}

/* x86: whether the instruction at PC pushes a number. */
static bool pushes_number(const struct code *code, uint64_t pc)
{
    const uint8_t *p = image_instructions(code->image, pc, 1);

    return p != NULL && (*p == 0x68 || *p == 0x6a);
}

/* Whether an argument of a call has, in STATE, the address of what an exception's entry finds on the stack, or, on
 * x86_64, has pushed first. It is where a compiler's function has its return address, or the arguments of a call. */
static bool hands_frame(const struct trial *t, const struct code_state *state)
{
    static const uint8_t registers[2][6] = {{0, 1, 2, 0, 1, 2}, {5, 4, 1, 2, 8, 9}};
    const struct code_cpu *cpu = t->code->cpu;
    const struct sfu_rule pushed = {0, (uint32_t)cpu->sp << RULE_NUMBER | RULE_REGISTER | RULE_DEREFERENCE};
    const struct code_value word = code_evaluate(state, &pushed);
    const bool pushes = t->pushes && has_alignment(cpu); /* on i386 numbers are arguments */
    unsigned i;

    for (i = 0; i < 6 && !cpu->link; i++) {
        const struct code_value *value = &state->reg[registers[has_alignment(cpu)][i]];

        if (value->base == BASE_CFA && (value->k == cpu->sp_at_entry || (pushes && value->k < cpu->sp_at_entry)))
            return true;
    }
    return !cpu->link && !has_alignment(cpu) && word.base == BASE_CFA && word.k == cpu->sp_at_entry;
}

/* x86: whether FACT, whose next instruction is at NEXT, is a call over instructions that nobody comes to but the CPU
 * in advance, as in thunks of returns and jumps, or to fill its predictor of returns. It is a push. */
static bool is_push(const struct trial *t, const struct code_fact *fact, uint64_t next)
{
    static const uint8_t pause[] = {0xf3, 0x90}, lfence[] = {0x0f, 0xae, 0xe8}, int3 = 0xcc;
    enum { MOST = 32 };
    const uint8_t *p = image_instructions(t->code->image, next, sizeof lfence);

    if (t->code->cpu->link || p == NULL || fact->target <= next || fact->target - next > MOST)
        return false;
    return memcmp(p, pause, sizeof pause) == 0 || memcmp(p, lfence, sizeof lfence) == 0 || *p == int3;
}

/* STATE goes on where FACT pushes NEXT, in the middle of a thunk. That of a jump returns to what it puts there. */
static void push_next(struct trial *t, struct code_state *state, const struct code_fact *fact)
{
    const struct code_cpu *cpu = t->code->cpu;
    const uint8_t *p = image_instructions(t->code->image, fact->target, 4);
    const unsigned rex = cpu->word == 8;

    if (p == NULL || (p[rex] == 0x89 && p[rex + 2] == 0x24)) { /* mov REGISTER, (%rsp) */
        t->ends->unknown = true;
        return;
    }
    code_move(&state->reg[cpu->sp], -cpu->word);
    jump(t, fact->target, state);
}

/* Code calls TARGET with an SP that is not aligned. */
static void note_unaligned(struct code_ends *ends, uint64_t target)
{
    ends->misaligned |= target == 0;
    if (ends->num_unaligned < sizeof ends->unaligned / sizeof *ends->unaligned)
        ends->unaligned[ends->num_unaligned++] = target;
}

/* x86: whether the code at ADDR calls what lies a little behind where it is to return to, before it does: so libgcc's
 * __morestack calls a function anew, on a larger stack. No function that it calls before moves SP or FP. */
static bool goes_behind(const struct code *code, uint64_t addr)
{
    enum { MOST = 64, RETURN_SIZE = 3 }; /* instructions; of `ret $8` */
    const struct code_cpu *cpu = code->cpu;
    const struct code_value *to;
    struct code_state state;
    struct code_fact fact;
    unsigned i;

    code_entry(cpu, &state);
    for (i = 0; i < MOST && unit_fact_at(code, addr, &fact); i++) {
        struct code_value word = {0};

        code_step(cpu, &state, &fact);
        if (fact.flow == CODE_CALL && fact.target == 0) {
            if (fact.by_word)
                word = state_load(&state, &state.reg[fact.word_base], fact.word);
            to = fact.by_word ? &word : &state.reg[CODE_TARGET];
            return to->base == BASE_RETURN && to->k > 0 && to->k <= RETURN_SIZE;
        }
        if (fact.flow == CODE_CALL)
            code_after_call(cpu, &state, NULL);
        else if (fact.flow != CODE_NEXT && fact.flow != CODE_BRANCH)
            return false;
        addr += fact.size;
    }
    return false;
}

/* x86: whether the function of T goes on behind the return at NEXT, because TARGET, which is called in front of that,
 * calls it anew there, and returns once that has (gcc's -fsplit-stack: `call __morestack; ret`). Follows it there. */
static bool goes_on_behind_return(struct trial *t, uint64_t target, uint64_t next)
{
    const struct code_unit *unit = code_unit_at(t->code, next);
    struct code_state entry;
    struct code_fact back;

    if (t->code->cpu->link || target == 0 || unit == NULL || !unit_fact_at(t->code, next, &back) ||
        back.flow != CODE_RETURN || next + back.size >= unit->end || !goes_behind(t->code, target))
        return false;
    code_entry(t->code->cpu, &entry);
    jump(t, next + back.size, &entry);
    return true;
}

/* A call that FACT, of PC, makes. Returns whether it may come back. */
static bool take_call(struct trial *t, struct code_state *state, const struct code_fact *fact, uint64_t pc)
{
    const struct code_cpu *cpu = t->code->cpu;
    const struct code_value *sp = &state->reg[cpu->sp];
    const struct code_import *import = import_by_word(t->code, fact, state);
    const uint64_t next = pc + fact->size;

    if (fact->link != 0) {
        t->ends->unknown = true;
        return false;
    }
    if (code_is_own_address(t->code, fact, next)) {
        if (!cpu->link)
            code_move(&state->reg[cpu->sp], -cpu->word);
        else
            state->reg[cpu->ra] = (struct code_value){(int64_t)next, BASE_NUMBER, false, 0, 0};
        return true;
    }
    if (is_push(t, fact, next)) {
        push_next(t, state, fact);
        return false;
    }
    if (has_alignment(cpu) && sp->base == BASE_CFA && sp->k % 16 == 0)
        t->ends->aligned = true;
    else if (has_alignment(cpu) && sp->base == BASE_CFA)
        note_unaligned(t->ends, fact->target);
    t->ends->calls = true;
    t->ends->hands_on |= calls_kept(t, state, pc, fact);
    t->ends->hands_frame |= hands_frame(t, state);
    code_after_call(cpu, state, unit_called_by(t->code, fact));
    t->ends->forgets |= cpu->link && !has_base(state, BASE_RETURN, BASE_RETURN);
    /* What stands behind a handler that never returns still shows who has entered the code in front. */
    if (!t->asks_back && (!t->seen_alone || t->pushes))
        return !ends_at(t->code, next);
    return !ends_at(t->code, next) && !unit_ends_with_call(t->code, next) &&
           !goes_on_behind_return(t, fact->target, next) &&
           !ask_callee(t->code, fact->target, t->depth + 1).never &&
           !import_never_returns(t->code, import, t->depth);
}

/* A return from an interrupt that has not been, to a place that is known, is how start-up code leaves a mode of the
 * CPU, which has another SP there. */
static bool enters(struct trial *t, struct code_state *state)
{
    static const struct code_value unknown;
    const struct code_cpu *cpu = t->code->cpu;
    const struct code_value pc = state->reg[CODE_PC];

    if (!t->called || !cpu->link || pc.base != BASE_NUMBER ||
        image_code(t->code->image, unit_address_of(cpu, &pc)) == NULL)
        return false;
    state->reg[CODE_PC] = unknown;
    state->reg[cpu->sp] = unknown;
    t->ends->loses |= !has_sp(state);
    jump(t, unit_address_of(cpu, &pc), state);
    return true;
}

/* x86_64: whether iretq, at PC, goes on in the same unit, with the SP that it finds above: so code has a CPU read its
 * instructions anew, or take NMIs again. */
static bool goes_on_behind(struct trial *t, struct code_state *state, const struct code_fact *fact, uint64_t pc)
{
    const struct code_cpu *cpu = t->code->cpu;
    const struct code_unit *unit = code_unit_at(t->code, pc);
    struct sfu_rule word = {0, (uint32_t)cpu->sp << RULE_NUMBER | RULE_REGISTER | RULE_DEREFERENCE};
    const struct code_value to = code_evaluate(state, &word);

    if (cpu->link || fact->link != 0 || to.base != BASE_NUMBER || unit == NULL ||
        code_unit_at(t->code, unit_address_of(cpu, &to)) != unit)
        return false;
    word.offset = 24;
    if (cpu->pushed == 0)
        state->reg[cpu->sp] = code_evaluate(state, &word);
    else /* its own, or a program's */
        memset(&state->reg[cpu->sp], 0, sizeof state->reg[cpu->sp]);
    jump(t, unit_address_of(cpu, &to), state);
    return true;
}

/* STATE goes where nobody knows. Nothing leads back from there if SP is a number, and no copy is left of what it was,
 * or of the return address. */
static void go_away(struct trial *t, const struct code_state *state)
{
    bool knows = !t->called || state->reg[t->code->cpu->sp].base != BASE_NUMBER || has_sp(state);
    unsigned i;

    for (i = 0; i < CODE_REGISTERS; i++)
        knows |= state->reg[i].base == BASE_RETURN;
    for (i = 0; i < state->num; i++)
        knows |= state->slot[i].value.base == BASE_RETURN && state->slot[i].base != BASE_CFA;
    t->ends->unknown |= knows;
    t->guessed |= t->guesses && code_is_entry(t->code->cpu, state);
}

/* s390x: where the function goes on that jumps, at PC, to __morestack at TARGET, as on x86; or 0. That stores all
 * registers first. R1 points to three numbers: the sizes of the frame and of arguments, and how far from there that
 * is. */
static uint64_t goes_on_later(struct trial *t, const struct code_state *state, uint64_t target, uint64_t pc)
{
    enum { R1 = 1, OFFSET = 16, SIZE = 24 };
    static const uint8_t stores[] = {0xeb, 0x2f, 0xf0, 0x10, 0x00, 0x24}; /* stmg %r2, %r15, 16(%r15) */
    struct image *image = t->code->image;
    const struct code_value *at = &state->reg[R1];
    const struct code_unit *unit = code_unit_at(t->code, pc);
    const uint8_t *p, *first;
    uint64_t to;

    if (t->code->cpu->old_psw == 0 || at->base != BASE_NUMBER || unit == NULL)
        return 0;
    p = image_bytes(image, (uint64_t)at->k, SIZE);
    first = image_instructions(image, target, sizeof stores);
    if (p == NULL || first == NULL || memcmp(first, stores, sizeof stores) != 0 ||
        !code_is_entry(t->code->cpu, state))
        return 0;
    to = (uint64_t)at->k + load_number(p + OFFSET, 8, image->big);
    return to > pc && to < unit->end && to % t->code->cpu->align == 0 ? to : 0;
}

/* STATE jumps to TARGET, at PC. */
static void go_to(struct trial *t, const struct code_state *state, uint64_t target, uint64_t pc)
{
    const uint64_t instead = t->asks_back ? goes_on_later(t, state, target, pc) : 0;

    jump(t, instead != 0 ? instead : target, state);
}

/* STATE goes where FACT, of PC, says. Returns whether it may go on behind it. */
static bool depart(struct trial *t, struct code_state *state, const struct code_fact *fact, uint64_t pc)
{
    const struct code_value *target = &state->reg[CODE_TARGET];
    const bool goes = fact->flow == CODE_JUMP || fact->flow == CODE_BRANCH;
    const uint64_t label = unit_returns_to(t->code, state, fact);

    if (label != 0) {
        t->ends->calls = true;
        code_after_call(t->code->cpu, state, unit_called_by(t->code, fact));
        jump(t, label, state);
        return false;
    }
    if (goes && (!fact->by_register ||
                 (target->base == BASE_NUMBER && unit_address_of(t->code->cpu, target) == fact->target)))
        go_to(t, state, fact->target, pc);
    else if (goes)
        go_away(t, state);
    if (fact->flow == CODE_AWAY && target->base == BASE_RETURN)
        note_return(t, state, fact);
    else if (fact->flow == CODE_AWAY && target->base == BASE_NUMBER &&
             image_code(t->code->image, unit_address_of(t->code->cpu, target)))
        jump(t, unit_address_of(t->code->cpu, target) & ~(uint64_t)t->code->cpu->mode, state);
    else if (fact->flow == CODE_AWAY &&
             !(t->asks_back && import_never_returns(t->code, import_by_word(t->code, fact, state), t->depth)))
        go_away(t, state);
    if (fact->flow == CODE_RETURN && code_goes_by_table(t->code->cpu, state, fact))
        go_away(t, state);
    else if (fact->flow == CODE_RETURN)
        note_return(t, state, fact);
    if (fact->flow == CODE_RESUME && !enters(t, state) && !goes_on_behind(t, state, fact, pc))
        note_resume(t, state, fact);
    t->ends->left_open |= (fact->flow == CODE_STOP && !t->asks_back) || fact->may_leave;
    if (fact->flow == CODE_CALL) {
        struct code_fact call = *fact;

        if (call.target == 0)
            call.target = unit_callee_of(t->code, state, fact);
        return take_call(t, state, &call, pc);
    }
    return fact->flow == CODE_NEXT || fact->flow == CODE_BRANCH;
}

/* Whether a function begins at ADDR. Most instructions are not at a symbol: those between two are not looked up. */
static bool begins_function(struct trial *t, uint64_t addr)
{
    const struct image *image = t->code->image;
    size_t below;

    if (addr > t->symbol && addr < t->next_symbol)
        return false;
    below = count_up_to(image->symbols, image->num_symbols, sizeof *image->symbols, offsetof(struct symbol, addr),
                        addr);
    t->symbol = below > 0 ? image->symbols[below - 1].addr : 0;
    t->next_symbol = below < image->num_symbols ? image->symbols[below].addr : UINT64_MAX;
    return code_begins_function(t->code, addr);
}

/* Whether STATE goes on at PC, where it comes from UNIT by no jump, as in code.c, fall_off: not from what CFI
 * describes, nor into that, unless UNIT moves SP and its CFI says nothing, and so does that of what lies there:
 * then a compiler has written neither, but somebody who has left out the jump. */
static bool falls_into(struct trial *t, const struct code_state *state, const struct code_unit *unit, uint64_t pc)
{
    const bool stays = unit != NULL && pc >= unit->start && pc < unit->end;
    const struct code_unit *behind = stays ? unit : code_unit_at(t->code, pc);
    const struct code_value *sp = &state->reg[t->code->cpu->sp];

    if (unit == NULL || unit == behind)
        return state->caller != CALLER_KNOWN || !begins_function(t, pc);
    if (behind != NULL && unit->says_nothing && (behind->fde == NULL || behind->says_nothing) &&
        (sp->base != BASE_CFA || sp->k != t->code->cpu->sp_at_entry))
        return true;
    if (unit->fde != NULL || behind == NULL || behind->fde != NULL)
        return false;
    return state->caller != CALLER_KNOWN || !begins_function(t, pc);
}

/* Whether FACT is all that it does, adds a number to SP: behind an instruction that made SP a number, which is then the
 * upper part of an address (RISC-V's auipc). */
static bool adds_to_sp(const struct code_cpu *cpu, const struct code_fact *fact)
{
    return fact->flow == CODE_NEXT && fact->condition == 0 && fact->num == 1 && fact->op[0].what == CODE_SET &&
           fact->op[0].reg == cpu->sp && fact->op[0].base == cpu->sp;
}

/* Reads the instruction at PC, which may be in TEXT. Returns false if the way ends there. */
static bool read_next(struct trial *t, const struct code_text *text, uint64_t pc, struct code_fact *fact)
{
    const struct code_cpu *cpu = t->code->cpu;

    memset(fact, 0, sizeof *fact);
    if (text->bytes != NULL && pc >= text->start && pc < text->end && pc % cpu->align == 0)
        cpu->decode(t->code->decoder, text, pc, fact);
    if (fact->size == 0 && code_is_foreign(t->code, pc))
        return false; /* Only a far jump leads into another mode: what stands in front is a call that never returns. */
    if (fact->size != 0 && t->steps++ != t->max_steps)
        return true;
    t->ends->unknown = true;
    return false;
}

/* Whether the symbol of what T follows says that this goes on at ADDR, behind padding: by its size; a label without one
 * by there being no other at ADDR. */
static bool goes_on_at(const struct trial *t, uint64_t addr)
{
    const struct symbol *symbol = image_symbol(t->code->image, t->start);

    if (symbol == NULL || symbol->addr != t->start || addr < t->start)
        return false;
    return symbol->size > 0 ? addr - t->start < symbol->size
                            : !ends_at(t->code, addr) && !begins_symbol(t->code, addr);
}

/* Where padding ends that begins at ADDR. More than MOST instructions of it lead nowhere. */
static uint64_t behind_padding(const struct code *code, uint64_t addr)
{
    enum { MOST = 16 };
    struct code_fact fact;
    unsigned i;

    for (i = 0;
         i < MOST && unit_fact_at(code, addr, &fact) && image_is_padding(code->image, addr, addr + fact.size); i++)
        addr += fact.size;
    return addr;
}

/* STATE comes to a trap in front of NEXT. A kernel's handler may skip that, but not where nothing is meant to follow on
 * it: at the end of a function, and in front of padding, unless a symbol tells. */
static void pass_trap(struct trial *t, uint64_t next, const struct code_state *state)
{
    const uint64_t behind = behind_padding(t->code, next);
    struct block *block;

    if (ends_at(t->code, next) || (behind != next && !goes_on_at(t, behind)))
        return;
    if (t->num_behind == MAX_TRAPS) {
        t->ends->left_open = true;
        return;
    }
    t->doubts |= !goes_on_at(t, behind);
    block = t->behind[t->num_behind++] = unwritten(sizeof *block);
    block->pc = next;
    state_copy(&block->state, state);
}

/* Whether a way that ends as in ENDS may lead back to the caller. */
static bool may_come_back(const struct code_ends *ends)
{
    return ends->returns || ends->returns_ill || ends->left_open || ends->unknown || ends->resumes || ends->exits ||
           ends->takes || ends->loses || ends->goes_on;
}

/* Whether ways are left, behind traps. Where no symbol says whose they are, none is needed if a way that was followed
 * before may lead back: they say no more than that. */
static bool go_behind_traps(struct trial *t)
{
    if (t->doubts && !t->guesses && may_come_back(t->ends))
        return false;
    t->guesses |= t->doubts;
    t->crossed |= t->num_behind > 0;
    while (t->num_behind > 0) {
        struct block *block = t->behind[--t->num_behind];

        arrive(t, block->pc, &block->state);
        free(block);
    }
    return t->num_work > 0;
}

/* Where a trial is on a way. */
struct way {
    struct code_state state;
    const struct code_unit *unit;
    uint64_t pc;
    bool built; /* what stands in front of PC has made SP of a number */
};

/* Carries out FACT, the instruction at W's PC, and goes behind it. Returns whether the way goes on there. */
static bool carry_out(struct trial *t, struct way *w, struct code_fact *fact)
{
    const struct code_cpu *cpu = t->code->cpu;
    struct code_value before = w->state.reg[cpu->sp], *sp = &w->state.reg[cpu->sp];
    const bool left = w->state.has_left, own = is_own(t, w->unit), begun = w->built, may = fact->condition != 0;
    struct code_state other;
    bool goes_on;

    if (may)
        other = w->state;
    (void)unit_make_call(t->code, &w->state, fact, w->pc + fact->size);
    t->ends->saves |= own && saves_idle(t->code, &w->state, fact);
    import_step(t->code, &w->state, fact);
    w->built = !may && sp->base == BASE_NUMBER;
    if (begun && adds_to_sp(cpu, fact))
        *sp = before;
    if (state_same_value(&before, &t->first) && !state_same_value(sp, &before))
        t->pushes = !cpu->link && pushes_number(t->code, w->pc);
    if (fact->flow == CODE_NEXT)
        look_at_sp(t, &w->state, &before, left, own);
    goes_on = depart(t, &w->state, fact, w->pc);
    if (may && goes_on)
        (void)code_join(cpu, &w->state, &other);
    else if (may)
        w->state = other;
    w->pc += fact->size;
    return goes_on || may;
}

/* Follows the way of BLOCK to where ways meet or end. */
static void follow(struct trial *t, struct block *block)
{
    const struct code_text text = unit_text_at(t->code, block->pc);
    struct way way;
    struct code_fact fact;
    bool goes_on;

    state_copy(&way.state, &block->state);
    way.unit = code_unit_at(t->code, block->pc);
    way.pc = block->pc;
    way.built = false;
    for (;;) {
        t->ends->begins_mode |= is_own(t, way.unit) && begins_mode(t->code, &text, way.pc);
        if (!read_next(t, &text, way.pc, &fact))
            return;
        goes_on = carry_out(t, &way, &fact);
        if (fact.flow == CODE_STOP && t->asks_back)
            pass_trap(t, way.pc, &way.state);
        if (!goes_on)
            return;
        if (!falls_into(t, &way.state, way.unit, way.pc) || (fact.odd && begins_symbol(t->code, way.pc))) {
            t->ends->left_open = true;
            return;
        }
        if (way.unit != NULL && way.pc >= way.unit->end)
            way.unit = code_unit_at(t->code, way.pc);
        t->crossed |= fact.flow == CODE_CALL && begins_symbol(t->code, way.pc);
        if (*find_block(t, way.pc) != 0) {
            arrive(t, way.pc, &way.state);
            return;
        }
    }
}

/* A trial of the code at ADDR, called or not, whose ways end in ENDS. */
static struct trial *new_trial(struct code *code, uint64_t addr, bool called, struct code_ends *ends)
{
    struct trial *t = unwritten(sizeof *t);

    memset(t, 0, offsetof(struct trial, blocks));
    memset(ends, 0, sizeof *ends);
    t->code = code;
    t->ends = ends;
    t->start = addr;
    t->called = called;
    t->max_steps = MAX_STEPS;
    return t;
}

/* Follows T from STATE on to all of its ends, or to what it asks, and frees it. */
static void run_trial(struct trial *t, const struct code_state *state)
{
    unsigned i;

    t->first = state->reg[t->code->cpu->sp];
    arrive(t, t->start, state);
    while ((t->num_work > 0 || go_behind_traps(t)) && !(t->asks_back && t->ends->returns)) {
        struct block *block = t->blocks[t->work[--t->num_work]];

        block->waits = false;
        follow(t, block);
    }
    if (t->guesses) { /* how another function ends says nothing of this one */
        memset(t->ends, 0, sizeof *t->ends);
        t->ends->left_open = t->guessed;
    }
    for (i = 0; i < t->num_blocks; i++)
        free(t->blocks[i]);
    for (i = 0; i < t->num_behind; i++)
        free(t->behind[i]);
    free(t);
}

/* Whether a compiler aligns SP to call the code at ADDR. gcc does not, if it knows that neither that nor what is called
 * from there needs it: those calls find SP where it happens to be. */
static bool needs_alignment(struct code *code, uint64_t addr)
{
    struct code_unit *unit = addr != 0 ? code_unit_at(code, addr) : NULL;
    struct code_ends ends;
    struct code_state state;
    struct trial *t;

    if (unit == NULL || unit->start != addr)
        return true;
    if (unit->alignment == 0) {
        t = new_trial(code, addr, true, &ends);
        t->max_steps = MAX_PIECE_STEPS;
        code_entry(code->cpu, &state);
        run_trial(t, &state);
        unit->alignment = ends.aligned || ends.unknown ? ALIGNMENT_NEEDED : ALIGNMENT_IDLE;
    }
    return unit->alignment == ALIGNMENT_NEEDED;
}

/* The place of the callee at ADDR, or where it would be noted. */
static struct code_callee *find_callee(const struct code_callees *callees, uint64_t addr)
{
    size_t at = code_hash(addr) & (callees->size - 1);

    while (callees->places[at].addr != 0 && callees->places[at].addr != addr)
        at = (at + 1) & (callees->size - 1);
    return &callees->places[at];
}

/* Makes room for one callee more. At most half of the places are taken. */
static void grow_callees(struct code_callees *callees)
{
    const size_t size = callees->size > 0 ? 2 * callees->size : 64;
    struct code_callees more = *callees;
    size_t i;

    if (callees->num < callees->size / 2)
        return;
    more.size = size;
    more.places = zeroed(size, sizeof *more.places);
    for (i = 0; i < callees->size; i++)
        if (callees->places[i].addr != 0)
            *find_callee(&more, callees->places[i].addr) = callees->places[i];
    free(callees->places);
    *callees = more;
}

/* Whether ways of the code at ADDR lead back to its caller. DEPTH calls lead here. */
static struct code_callee follow_callee(struct code *code, uint64_t addr, unsigned depth)
{
    struct code_ends ends;
    struct code_state state;
    struct trial *t = new_trial(code, addr, true, &ends);

    t->asks_back = true;
    t->depth = depth;
    t->max_steps = MAX_PIECE_STEPS;
    code_entry(code->cpu, &state);
    run_trial(t, &state);
    return (struct code_callee){.addr = addr, .never = !may_come_back(&ends), .returns = ends.returns};
}

/* The same of IMPORT: by its code, if the image has one, before its name. */
static bool never_returns(struct code *code, const struct code_import *import, unsigned depth)
{
    const struct code_callee callee = ask_callee(code, import->target, depth + 1);

    return callee.never || (import->never && !callee.returns);
}

/* The same of IMPORT, if it is not NULL: of what FACT goes to by a word of the GOT. */
static bool import_never_returns(struct code *code, const struct code_import *import, unsigned depth)
{
    return import != NULL && never_returns(code, import, depth);
}

/* Follows the code at ADDR, or what its entry of a PLT leads to. */
static struct code_callee find_end(struct code *code, uint64_t addr, unsigned depth)
{
    const struct code_import *import = import_by_plt(code, addr);
    struct code_callee callee = {.addr = addr};

    if (import == NULL)
        return follow_callee(code, addr, depth);
    callee.never = never_returns(code, import, depth);
    return callee;
}

/* What was believed of callees from ORDER on is KNOWN now; or it was not true for each of them, and is asked anew. */
static void close_callees(struct code_callees *callees, uint32_t order, bool known)
{
    while (callees->num_open >= order) {
        struct code_callee *callee = find_callee(callees, callees->open[--callees->num_open]);

        callee->order = 0;
        callee->never = callee->known = known;
        callee->tries++;
    }
}

/* Notes END, what following a callee, of ORDER, has found. What may come back may do so whatever was believed. */
static struct code_callee note_end(struct code *code, struct code_callee *end, uint32_t order, unsigned depth)
{
    struct code_callees *callees = &code->callees;
    const uint32_t lowest = callees->lowest;

    if (end->never && lowest < order) {
        find_callee(callees, end->addr)->lowest = lowest;
        return *end;
    }
    close_callees(callees, order, end->never);
    end->known = true;
    *find_callee(callees, end->addr) = *end;
    if (!end->never && !end->returns && lowest != UINT32_MAX) {
        end->returns = find_end(code, end->addr, depth).returns;
        find_callee(callees, end->addr)->returns = end->returns;
    }
    callees->lowest = UINT32_MAX;
    return *end;
}

/* Whether the code at ADDR comes back. Functions that call each other in turn never do, if none of them does as long as
 * the others do not. So what is being followed is believed not to. Once the first one of those that ask for each other
 * has been followed, it is known: that was true for all of them, or that one comes back, and the others are asked anew.
 * Each is followed MAX_TRIES times, and may come back then. So may what lies behind MAX_DEPTH calls. */
static struct code_callee ask_callee(struct code *code, uint64_t addr, unsigned depth)
{
    enum { MAX_TRIES = 4 };
    struct code_callees *callees = &code->callees;
    const uint32_t lowest = callees->lowest, order = (uint32_t)callees->num_open + 1;
    struct code_callee callee = {.addr = addr}, *place;

    if (addr == 0 || depth > MAX_DEPTH || image_code(code->image, addr) == NULL)
        return callee;
    grow_callees(callees);
    place = find_callee(callees, addr);
    if (place->order != 0 && place->lowest < callees->lowest)
        callees->lowest = place->lowest;
    if (place->known || place->order != 0 || place->tries == MAX_TRIES)
        return *place;
    callees->num += place->addr == 0;
    *place =
        (struct code_callee){.addr = addr, .never = true, .tries = place->tries, .order = order, .lowest = order};
    callees->open = grow(callees->open, callees->num_open, sizeof *callees->open);
    callees->open[callees->num_open++] = addr;
    callees->lowest = UINT32_MAX;
    callee = find_end(code, addr, depth);
    callee = note_end(code, &callee, order, depth);
    callees->lowest = lowest < callees->lowest ? lowest : callees->lowest;
    return callee;
}

bool code_never_returns(struct code *code, uint64_t addr)
{
    return ask_callee(code, addr, 0).never;
}

bool code_never_returns_by_word(struct code *code, const struct code_fact *fact, const struct code_state *state)
{
    return import_never_returns(code, import_by_word(code, fact, state), 0);
}

bool code_returns(struct code *code, uint64_t addr)
{
    return ask_callee(code, addr, 0).returns;
}

static void try_kind(struct trial *t, enum code_kind kind)
{
    struct code_state state;

    if (t->called) {
        code_entry(t->code->cpu, &state);
        name_registers(t->code->cpu, &state);
    } else {
        code_trap_entry(t->code->cpu, &state, kind);
    }
    run_trial(t, &state);
}

void code_try_seen(struct code *code, uint64_t addr, enum code_kind kind, struct code_ends *ends)
{
    struct trial *t = new_trial(code, addr, kind == CODE_CALLED, ends);

    t->seen_alone = true;
    try_kind(t, kind);
}

void code_try(struct code *code, uint64_t addr, enum code_kind kind, struct code_ends *ends)
{
    unsigned i;

    try_kind(new_trial(code, addr, kind == CODE_CALLED, ends), kind);
    for (i = 0; i < ends->num_unaligned && !ends->misaligned; i++)
        ends->misaligned = needs_alignment(code, ends->unaligned[i]);
}

/* code_try_piece, also of what has no frame. */
static bool try_state(struct code *code, uint64_t addr, const struct code_state *state, struct code_ends *ends)
{
    const bool called = state->caller == CALLER_KNOWN;
    struct trial *t;

    if (!called && state->caller != CALLER_INTERRUPTED)
        return false;
    t = new_trial(code, addr, called, ends);
    t->piece = true;
    t->max_steps = MAX_PIECE_STEPS;
    run_trial(t, state);
    return !ends->unknown && !ends->resumes_ill && !ends->returns_ill && !ends->takes &&
           !(called ? ends->resumes : ends->returns);
}

bool code_try_piece(struct code *code, uint64_t addr, const struct code_state *state, struct code_ends *ends)
{
    return !code_is_entry(code->cpu, state) && try_state(code, addr, state, ends);
}

bool code_ends_well(struct code *code, uint64_t addr, const struct code_state *state)
{
    struct code_ends ends;

    return try_state(code, addr, state, &ends) && (ends.returns || ends.tail_calls);
}

bool code_is_piece(struct code *code, uint64_t addr, const struct code_state *state)
{
    struct code_ends ends;

    return code_try_piece(code, addr, state, &ends) && (ends.returns || ends.tail_calls || ends.resumes);
}

bool code_counts_from(const struct code_cpu *cpu, const struct cfi_row *row)
{
    const unsigned from = row->cfa.control >> RULE_NUMBER;

    return (row->cfa.control & (RULE_REGISTER | RULE_DEREFERENCE)) == RULE_REGISTER &&
           (from == cpu->sp || (from == cpu->fp && row->fp.control == RULE_DEREFERENCE));
}

/* Whether RULE says that its register's value is in a register as it is: in its own, or in another one, which longjmp
 * has loaded it into. FROM is the one that the CFA is counted from. */
static bool is_kept_in(const struct code_cpu *cpu, const struct sfu_rule *rule, unsigned from)
{
    const unsigned reg = rule->control >> RULE_NUMBER;

    return rule->control == ((uint32_t)reg << RULE_NUMBER | RULE_REGISTER) && rule->offset == 0 &&
           reg < CODE_REAL && reg != cpu->sp && reg != from;
}

/* s390x: R15 has been saved behind R14, of which rows say nothing. */
bool code_state_of(const struct code_cpu *cpu, const struct cfi_row *row, struct code_state *state)
{
    const unsigned regs[] = {cpu->fp, cpu->ra}, from = row->cfa.control >> RULE_NUMBER;
    const struct sfu_rule *rules[] = {&row->fp, &row->ra};
    unsigned i;

    code_entry(cpu, state);
    state->num = 0;
    memset(&state->reg[cpu->sp], 0, sizeof state->reg[cpu->sp]);
    if (!code_counts_from(cpu, row))
        return false;
    for (i = 0; i < 2; i++) {
        const bool is_ra = regs[i] == cpu->ra;
        const struct code_value value = {0, (uint8_t)(is_ra ? BASE_RETURN : BASE_ENTRY + regs[i]),
                                         is_ra && row->signed_ra, 0, 0};

        memset(&state->reg[regs[i]], 0, sizeof value);
        if (rules[i]->control == RULE_DEREFERENCE && from == cpu->sp && rules[i]->offset < -row->cfa.offset &&
            (!is_ra || cpu->link))
            state->reg[regs[i]] = value; /* an epilogue has loaded it, and leaves the rule standing */
        else if (rules[i]->control == RULE_DEREFERENCE)
            state->slot[state->num++] = (struct code_slot){value, rules[i]->offset, BASE_CFA};
        else if (is_kept_in(cpu, rules[i], from) && rules[i]->control != rules[1 - i]->control)
            state->reg[rules[i]->control >> RULE_NUMBER] = value;
        else
            return false;
    }
    state->reg[from] = (struct code_value){-(int64_t)row->cfa.offset, BASE_CFA, false, 0, 0};
    if (cpu->old_psw != 0 && row->ra.control == RULE_DEREFERENCE)
        state->slot[state->num++] =
            (struct code_slot){{cpu->sp_at_entry, BASE_CFA, false, 0, 0}, row->ra.offset + cpu->word, BASE_CFA};
    return true;
}

enum code_bearing code_bears_out(struct code *code, uint64_t addr, const struct cfi_row *row)
{
    struct code_ends ends;
    struct code_state state;
    struct trial *t;

    if (!code_state_of(code->cpu, row, &state))
        return CODE_UNDECIDED;
    t = new_trial(code, addr, true, &ends);
    t->piece = t->by_row = true;
    t->max_steps = MAX_PIECE_STEPS;
    run_trial(t, &state);
    if (ends.returns_ill || ends.takes)
        return CODE_CONTRADICTS;
    return (ends.returns || ends.tail_calls) && !ends.unknown && !ends.resumes ? CODE_BEARS_OUT : CODE_UNDECIDED;
}
