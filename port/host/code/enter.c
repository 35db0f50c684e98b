/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Who enters code that nothing is seen to call. It is followed from there on, along its jumps through whatever unit,
 * on trial: as if it had been called, and as if an interrupt of each kind had entered it. What holds where the ways end
 * says which of them is true:
 *
 *   - A return from an interrupt takes back what the CPU has left at the entry. SP is there for one kind alone: where
 *     the CPU pushes an error code for some entries, those leave out as much themselves, or drop as much more.
 *   - A function that was called returns to its caller, with SP and FP as they were. If it never returns, it leaves
 *     alone what is its caller's: it takes nothing off the stack that it has not put there, it does not lose SP, and
 *     on x86_64 it aligns SP to 16 for those that it calls, as the ABI says.
 *
 * What registers of the CPU get (VBAR_EL1, stvec and mtvec, LSTAR) and s390x's new PSWs are entries of interrupts and
 * system calls without a trial, and no functions, whatever their CFI says.
 */
#include "enter.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Trials ---------------------------------------------------------------------------------------------------- */

/* A way is followed no further than that: entries are short. */
enum { MAX_STEPS = 8192, MAX_BLOCKS = 1024, PLACES = 2 * MAX_BLOCKS, MAX_PIECE_STEPS = 512, MAX_DEPTH = 32 };

/* Where ways begin or meet. */
struct block {
    uint64_t pc;
    struct code_state state;
    bool waits;
};

struct trial {
    struct code *code;
    struct code_ends *ends;
    struct block *blocks[MAX_BLOCKS];
    uint16_t by_pc[PLACES]; /* of blocks, + 1; or 0 */
    uint16_t work[MAX_BLOCKS];
    unsigned num_blocks, num_work, steps, max_steps;
    uint64_t start;
    uint64_t symbol, next_symbol; /* no symbol is between */
    bool called;
    bool pushes; /* x86_64: SP has left where it was at the entry by the push of a number */
    bool piece;  /* it begins within a function, whose frame its end must find */
    bool by_row; /* and what is known of that is what CFI says of it */
    bool
        asks_back; /* whether a way leads back is all it asks: it notes nothing in units, and tries what is called */
    unsigned depth; /* of those calls */
    bool
        crossed; /* a way has come from a call, or what may not come back, over a symbol: its end proves no return */
};

/* The address that VALUE, a number, is. */
static uint64_t address_of(const struct code_cpu *cpu, const struct code_value *value)
{
    return cpu->word == 4 ? (uint32_t)value->k : (uint64_t)value->k;
}

/* The block at PC, or where it would be noted. */
static uint16_t *find_block(struct trial *t, uint64_t pc)
{
    unsigned at = code_hash(pc) % PLACES;

    while (t->by_pc[at] != 0 && t->blocks[t->by_pc[at] - 1]->pc != pc)
        at = (at + 1) % PLACES;
    return &t->by_pc[at];
}

static struct code_text text_at(const struct code *code, uint64_t pc)
{
    const struct section *section = image_code(code->image, pc);

    if (section == NULL)
        return (struct code_text){NULL, 0, 0};
    return (struct code_text){image_instructions(code->image, section->addr, section->size), section->addr,
                              section->addr + section->size};
}

static bool begins_symbol(const struct code *code, uint64_t addr)
{
    const struct symbol *symbol = image_symbol(code->image, addr);

    return symbol != NULL && symbol->addr == addr;
}

/* Names of pieces of functions, which are jumped to. */
static bool is_piece(const char *name)
{
    return strstr(name, ".cold") != NULL || strstr(name, ".__part.") != NULL ||
           strncmp(name, "OUTLINED_", 9) == 0 || strncmp(name, "__riscv_save_", 13) == 0 ||
           strncmp(name, "__riscv_restore_", 16) == 0;
}

/* Whether a symbol is at ADDR that is not the name of a piece. */
static bool is_other_code(const struct code *code, uint64_t addr)
{
    const struct symbol *symbol = image_symbol(code->image, addr);

    return symbol != NULL && symbol->addr == addr && !is_piece(symbol->name);
}

static struct code_callee ask_callee(struct code *code, uint64_t addr, unsigned depth);

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
        block = t->blocks[t->num_blocks++] = zeroed(1, sizeof *block);
        block->pc = pc;
        block->state = *state;
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
    if (sp->base <= BASE_NUMBER && before->base > BASE_NEAR && !has_sp(state) && !left)
        t->ends->loses = true;
    if (!t->by_row && code_move_stack(cpu, state, before, left) && called)
        state->switched = CODE_MIXED;
}

static void note_return(struct trial *t, const struct code_state *state, const struct code_fact *fact)
{
    if (code_is_left(t->code->cpu, state, fact)) {
        t->ends->returns |= !t->crossed || t->piece;
        t->ends->left_open |= t->crossed;
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

/* x86_64: whether the instruction at PC pushes a number. On i386 numbers are arguments. */
static bool pushes_number(const struct code *code, uint64_t pc)
{
    const uint8_t *p = has_alignment(code->cpu) ? image_instructions(code->image, pc, 1) : NULL;

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
    unsigned i;

    for (i = 0; i < 6 && !cpu->link; i++) {
        const struct code_value *value = &state->reg[registers[has_alignment(cpu)][i]];

        if (value->base == BASE_CFA && (value->k == cpu->sp_at_entry || (t->pushes && value->k < cpu->sp_at_entry)))
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

/* A call that FACT, of PC, makes. Returns whether it may come back. */
static bool take_call(struct trial *t, struct code_state *state, const struct code_fact *fact, uint64_t pc)
{
    const struct code_cpu *cpu = t->code->cpu;
    const struct code_value *sp = &state->reg[cpu->sp];
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
    code_after_call(cpu, state, fact->target != 0 ? code_unit_at(t->code, fact->target) : NULL);
    t->ends->forgets |= cpu->link && !has_base(state, BASE_RETURN, BASE_RETURN);
    /* What stands behind a handler that never returns still shows who has entered the code in front. */
    return !ends_at(t->code, next) && !(t->asks_back && ask_callee(t->code, fact->target, t->depth + 1).never);
}

/* A return from an interrupt that has not been, to a place that is known, is how start-up code leaves a mode of the
 * CPU, which has another SP there. */
static bool enters(struct trial *t, struct code_state *state)
{
    static const struct code_value unknown;
    const struct code_cpu *cpu = t->code->cpu;
    const struct code_value pc = state->reg[CODE_PC];

    if (!t->called || !cpu->link || pc.base != BASE_NUMBER ||
        image_code(t->code->image, address_of(cpu, &pc)) == NULL)
        return false;
    state->reg[CODE_PC] = unknown;
    state->reg[cpu->sp] = unknown;
    t->ends->loses |= !has_sp(state);
    jump(t, address_of(cpu, &pc), state);
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
        code_unit_at(t->code, address_of(cpu, &to)) != unit)
        return false;
    word.offset = 24;
    if (cpu->pushed == 0)
        state->reg[cpu->sp] = code_evaluate(state, &word);
    else /* its own, or a program's */
        memset(&state->reg[cpu->sp], 0, sizeof state->reg[cpu->sp]);
    jump(t, address_of(cpu, &to), state);
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
}

/* STATE goes where FACT, of PC, says. Returns whether it may go on behind it. */
static bool depart(struct trial *t, struct code_state *state, const struct code_fact *fact, uint64_t pc)
{
    const struct code_value *target = &state->reg[CODE_TARGET];
    const bool goes = fact->flow == CODE_JUMP || fact->flow == CODE_BRANCH;

    if (goes &&
        (!fact->by_register || (target->base == BASE_NUMBER && address_of(t->code->cpu, target) == fact->target)))
        jump(t, fact->target, state);
    else if (goes)
        go_away(t, state);
    if (fact->flow == CODE_AWAY && target->base == BASE_RETURN)
        note_return(t, state, fact);
    else if (fact->flow == CODE_AWAY && target->base == BASE_NUMBER &&
             image_code(t->code->image, address_of(t->code->cpu, target)))
        jump(t, address_of(t->code->cpu, target) & ~(uint64_t)t->code->cpu->mode, state);
    else if (fact->flow == CODE_AWAY)
        go_away(t, state);
    if (fact->flow == CODE_RETURN && code_goes_by_table(t->code->cpu, state, fact))
        go_away(t, state);
    else if (fact->flow == CODE_RETURN)
        note_return(t, state, fact);
    if (fact->flow == CODE_RESUME && !enters(t, state) && !goes_on_behind(t, state, fact, pc))
        note_resume(t, state, fact);
    /* A trap a kernel's handler may skip. */
    t->ends->left_open |= fact->flow == CODE_STOP || fact->may_leave;
    if (fact->flow == CODE_CALL)
        return take_call(t, state, fact, pc);
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

/* Follows the way of BLOCK to where ways meet or end. */
static void follow(struct trial *t, struct block *block)
{
    const struct code_cpu *cpu = t->code->cpu;
    const struct code_text text = text_at(t->code, block->pc);
    const struct code_unit *unit = code_unit_at(t->code, block->pc);
    struct code_state state = block->state, other;
    uint64_t pc = block->pc;
    bool built = false;

    for (;;) {
        struct code_fact fact;
        struct code_value before = state.reg[cpu->sp];
        const bool left = state.has_left, own = is_own(t, unit), begun = built;
        bool goes_on;

        memset(&fact, 0, sizeof fact);
        t->ends->begins_mode |= own && begins_mode(t->code, &text, pc);
        if (text.bytes != NULL && pc >= text.start && pc < text.end && pc % cpu->align == 0)
            cpu->decode(t->code->decoder, &text, pc, &fact);
        if (fact.size == 0 && code_is_foreign(t->code, pc))
            return; /* Only a far jump leads into another mode: what stands in front is a call that never returns. */
        if (fact.size == 0 || t->steps++ == t->max_steps) {
            t->ends->unknown = true;
            return;
        }
        if (fact.condition != 0)
            other = state;
        t->ends->saves |= own && saves_idle(t->code, &state, &fact);
        code_step(cpu, &state, &fact);
        built = fact.condition == 0 && state.reg[cpu->sp].base == BASE_NUMBER;
        if (begun && adds_to_sp(cpu, &fact))
            state.reg[cpu->sp] = before;
        if (before.base == BASE_CFA && before.k == cpu->sp_at_entry && state.reg[cpu->sp].k != before.k)
            t->pushes = pushes_number(t->code, pc);
        if (fact.flow == CODE_NEXT)
            look_at_sp(t, &state, &before, left, own);
        goes_on = depart(t, &state, &fact, pc);
        if (fact.condition != 0 && goes_on)
            (void)code_join(cpu, &state, &other);
        else if (fact.condition != 0)
            state = other;
        pc += fact.size;
        if (!goes_on && fact.condition == 0)
            return;
        if (!falls_into(t, &state, unit, pc)) {
            t->ends->left_open = true;
            return;
        }
        unit = unit != NULL && pc >= unit->end ? code_unit_at(t->code, pc) : unit;
        t->crossed |= (fact.flow == CODE_CALL || fact.odd) && begins_symbol(t->code, pc);
        if (*find_block(t, pc) != 0) {
            arrive(t, pc, &state);
            return;
        }
    }
}

/* A trial of the code at ADDR, called or not, whose ways end in ENDS. */
static struct trial *new_trial(struct code *code, uint64_t addr, bool called, struct code_ends *ends)
{
    struct trial *t = zeroed(1, sizeof *t);

    memset(ends, 0, sizeof *ends);
    t->code = code;
    t->ends = ends;
    t->start = addr;
    t->called = called;
    t->max_steps = MAX_STEPS;
    return t;
}

/* Follows T from STATE on to all of its ends, and frees it. */
static void run_trial(struct trial *t, const struct code_state *state)
{
    unsigned i;

    arrive(t, t->start, state);
    while (t->num_work > 0) {
        struct block *block = t->blocks[t->work[--t->num_work]];

        block->waits = false;
        follow(t, block);
    }
    for (i = 0; i < t->num_blocks; i++)
        free(t->blocks[i]);
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
    struct code_callees more = {NULL, callees->num, size};
    size_t i;

    if (callees->num < callees->size / 2)
        return;
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
    bool may;

    t->asks_back = true;
    t->depth = depth;
    t->max_steps = MAX_PIECE_STEPS;
    code_entry(code->cpu, &state);
    run_trial(t, &state);
    may = ends.returns || ends.returns_ill || ends.left_open || ends.unknown || ends.resumes || ends.exits ||
          ends.takes || ends.loses || ends.goes_on;
    return (struct code_callee){addr, !may, ends.returns};
}

/* Behind MAX_DEPTH calls, and where it is in the middle of what calls itself, code may come back. */
static struct code_callee ask_callee(struct code *code, uint64_t addr, unsigned depth)
{
    struct code_callee callee = {addr, false, false};

    if (addr == 0 || depth > MAX_DEPTH || image_code(code->image, addr) == NULL)
        return callee;
    grow_callees(&code->callees);
    if (find_callee(&code->callees, addr)->addr != 0)
        return *find_callee(&code->callees, addr);
    *find_callee(&code->callees, addr) = callee;
    code->callees.num++;
    callee = follow_callee(code, addr, depth);
    *find_callee(&code->callees, addr) = callee;
    return callee;
}

bool code_never_returns(struct code *code, uint64_t addr)
{
    return ask_callee(code, addr, 0).never;
}

bool code_returns(struct code *code, uint64_t addr)
{
    return ask_callee(code, addr, 0).returns;
}

void code_try(struct code *code, uint64_t addr, enum code_kind kind, struct code_ends *ends)
{
    struct trial *t = new_trial(code, addr, kind == CODE_CALLED, ends);
    struct code_state state;
    unsigned i;

    if (t->called) {
        code_entry(code->cpu, &state);
        name_registers(code->cpu, &state);
    } else {
        code_trap_entry(code->cpu, &state, kind);
    }
    run_trial(t, &state);
    for (i = 0; i < ends->num_unaligned && !ends->misaligned; i++)
        ends->misaligned = needs_alignment(code, ends->unaligned[i]);
}

/* Follows the code at ADDR with STATE, as a piece of the function or of the interrupt that is in that. Returns false if
 * a way ends otherwise, or nobody knows where one ends. */
static bool try_piece(struct code *code, uint64_t addr, const struct code_state *state, struct code_ends *ends)
{
    const bool called = state->caller == CALLER_KNOWN;
    struct trial *t;

    if ((!called && state->caller != CALLER_INTERRUPTED) || code_is_entry(code->cpu, state))
        return false;
    t = new_trial(code, addr, called, ends);
    t->piece = true;
    t->max_steps = MAX_PIECE_STEPS;
    run_trial(t, state);
    return !ends->unknown && !ends->resumes_ill && !ends->returns_ill && !ends->takes &&
           !(called ? ends->resumes : ends->returns);
}

bool code_is_piece(struct code *code, uint64_t addr, const struct code_state *state)
{
    struct code_ends ends;

    return try_piece(code, addr, state, &ends) && (ends.returns || ends.tail_calls || ends.resumes);
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

/* What ROW says in STATE: where SP or FP, what FP was, and RA are, counted from the CFA. Returns false if it counts
 * from another register, or from more than the frame. s390x: R15 has been saved behind R14, of which rows say
 * nothing. */
static bool state_of(const struct code_cpu *cpu, const struct cfi_row *row, struct code_state *state)
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
        if (rules[i]->control == RULE_DEREFERENCE && from == cpu->sp && rules[i]->offset < -row->cfa.offset)
            state->reg[regs[i]] = value; /* an epilogue has loaded it, and leaves the rule standing */
        else if (rules[i]->control == RULE_DEREFERENCE)
            state->slot[state->num++] = (struct code_slot){value, rules[i]->offset, BASE_CFA};
        else if (is_kept_in(cpu, rules[i], from))
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

    if (!state_of(code->cpu, row, &state))
        return CODE_UNDECIDED;
    t = new_trial(code, addr, true, &ends);
    t->piece = t->by_row = true;
    t->max_steps = MAX_PIECE_STEPS;
    run_trial(t, &state);
    if (ends.returns_ill || ends.takes)
        return CODE_CONTRADICTS;
    return (ends.returns || ends.tail_calls) && !ends.unknown && !ends.resumes ? CODE_BEARS_OUT : CODE_UNDECIDED;
}

/* ---- Who it is ------------------------------------------------------------------------------------------------- */

static const struct code_ends none;

/* Whether an interrupt of KIND has entered the code at ADDR: each way back takes what the CPU has left. */
static bool is_kind(struct code *code, uint64_t addr, enum code_kind kind)
{
    struct code_ends ends;

    code_try(code, addr, kind, &ends);
    return ends.resumes && !ends.resumes_ill && !ends.returns && !ends.returns_ill;
}

/* RISC-V: whether the entry at ADDR begins with an exchange of SP and the scratch register. */
static enum code_kind kind_of_trap(struct code *code, uint64_t addr)
{
    const uint8_t *p = image_instructions(code->image, addr, 4);
    const uint32_t word = p != NULL ? (uint32_t)load_number(p, 4, false) : 0;

    /* csrrw sp, sscratch or mscratch, sp */
    return word == 0x14011173 || word == 0x34011173 ? CODE_SCRATCH : CODE_TRAP;
}

/* The kind of interrupt for which alone the code at ADDR returns to what was interrupted; or CODE_KINDS. */
static enum code_kind kind_of(struct code *code, uint64_t addr, const char **why)
{
    const struct code_cpu *cpu = code->cpu;
    const bool x86 = !cpu->link, riscv = code->image->header.e_machine == EM_RISCV;
    const bool trap = is_kind(code, addr, CODE_TRAP);

    *why = "it returns to what was interrupted";
    if (x86 && trap != is_kind(code, addr, CODE_ERROR)) {
        static const char *const texts[2][2] = {{"iretq takes back what the CPU has pushed, behind an error code",
                                                 "iretq takes back what the CPU has pushed, without an error code"},
                                                {"iret takes back what the CPU has pushed, behind an error code",
                                                 "iret takes back what the CPU has pushed, without an error code"}};

        *why = texts[cpu->pushed != 0][trap];
        return trap ? CODE_TRAP : CODE_ERROR;
    }
    if (x86 && cpu->pushed == 0 && !trap && is_kind(code, addr, CODE_SYSCALL)) {
        *why = "it returns to where syscall has left the PC, with SP as it was";
        return CODE_SYSCALL;
    }
    if (riscv && !trap && (kind_of_trap(code, addr) == CODE_SCRATCH || is_kind(code, addr, CODE_SCRATCH))) {
        *why = "it returns to what was interrupted, whose SP was in the scratch register";
        return CODE_SCRATCH;
    }
    if (cpu->banked && !trap) {
        *why = "rfe takes back the PC and the status that srs has stored";
        return is_kind(code, addr, CODE_TRAP4)   ? CODE_TRAP4
               : is_kind(code, addr, CODE_TRAP8) ? CODE_TRAP8
                                                 : CODE_KINDS;
    }
    return trap && (riscv || cpu->banked || cpu->old_psw != 0) ? CODE_TRAP : CODE_KINDS;
}

/* Whether what was seen of the code at ADDR says that a call has not entered it. */
static bool contradicts_call(const struct code_ends *ends)
{
    return ends->takes || ends->loses || ends->hands_on || (ends->returns_ill && !ends->returns) ||
           (!ends->returns && !ends->tail_calls &&
            (ends->misaligned || ends->saves || ends->hands_frame || ends->begins_mode || ends->forgets ||
             ends->goes_on));
}

/* Who enters UNIT, by how its ways end; or CODE_KINDS. */
static enum code_kind judge_unit(struct code *code, const struct code_unit *unit, const struct code_ends *ends,
                                 const char **why)
{
    const struct symbol *symbol = image_symbol(code->image, unit->start);
    const bool function =
        symbol != NULL && symbol->function && !is_piece(symbol->name) && unit->lost_to != LOST_BY_ENTRY;

    if (unit->jumped_to)
        return CODE_KINDS;
    if (ends->resumes || ends->exits) {
        const enum code_kind kind = kind_of(code, unit->start, why);

        if (kind != CODE_KINDS)
            return kind;
        if (ends->resumes && !ends->hands_on)
            return CODE_KINDS;
    }
    if (function && !contradicts_call(ends)) {
        *why = ends->returns ? "a function, which returns to its caller" : "a function, by its symbol";
        return CODE_CALLED;
    }
    if (ends->returns && !ends->unknown && !contradicts_call(ends)) {
        *why = "it returns to its caller, with SP and FP as they were";
        return CODE_CALLED;
    }
    /* It may then go on in a program, by a frame that lies where the thread's stack begins. */
    if (ends->hands_on && !ends->returns && !ends->returns_ill && (!ends->takes || ends->resumes || ends->exits)) {
        *why = "it calls what a register has that callers keep, and does not return: the first code of a thread";
        return CODE_START;
    }
    /* ARM: each mode has its own SP, and exceptions' entries change modes. */
    if (ends->loses && !ends->returns && !ends->returns_ill && !ends->takes && !ends->unknown && !ends->exits &&
        code->image->header.e_machine != EM_ARM) {
        *why = "it takes a stack of its own, and nothing leads back to another one";
        return CODE_START;
    }
    return CODE_KINDS;
}

static bool is_given(const struct code_how *how, uint64_t addr)
{
    size_t i;

    for (i = 0; i < how->num_entries; i++)
        if (how->entries[i].addr == addr && !how->entries[i].described)
            return true;
    return false;
}

/* Ways begin at ADDR, which KIND enters. */
static void enter(struct code *code, const struct code_how *how, uint64_t addr, enum code_kind kind,
                  const char *why)
{
    struct code_unit *unit = code_unit_at(code, addr);

    if (unit == NULL || unit->fde != NULL || is_given(how, addr))
        return;
    code_begin_at(code, addr, kind);
    if (how->entered != NULL)
        how->entered(how->ctx, addr, kind, NULL, why);
}

/* ---- Registers of the CPU -------------------------------------------------------------------------------------- */

static void note_vector(struct code *code, unsigned what, uint64_t addr, uint64_t by)
{
    size_t i;

    for (i = 0; i < code->num_vectors; i++)
        if (code->vectors[i].addr == addr && code->vectors[i].what == what)
            return;
    code->vectors = grow(code->vectors, code->num_vectors, sizeof *code->vectors);
    code->vectors[code->num_vectors++] = (struct code_vector){addr, by, (uint8_t)what, false};
}

enum { VBAR, TVEC, LSTAR, SYSENTER, NEW_PSW };

/* x86_64: RAX, RDX, RCX, and registers that say where programs enter; s390x: where new PSWs are. */
enum { AMD64_RAX, AMD64_RDX, AMD64_RCX, FIRST_PSW = 0x1a0, LAST_PSW = 0x200 };
static const uint32_t msr_sysenter = 0x176, msr_lstar = 0xc0000082, msr_cstar = 0xc0000083;

/* wrmsr writes EDX and EAX to the register ECX. Code that shifts an address for EDX has all of it in RAX. */
static void note_msr(struct code *code, uint64_t pc, const struct code_state *state)
{
    const struct code_value *low = &state->reg[AMD64_RAX], *high = &state->reg[AMD64_RDX],
                            *number = &state->reg[AMD64_RCX];
    const uint32_t msr = (uint32_t)number->k;
    uint64_t addr = (uint64_t)low->k;

    if (number->base != BASE_NUMBER || low->base != BASE_NUMBER)
        return;
    if (high->base == BASE_NUMBER)
        addr = (uint64_t)high->k << 32 | (addr & UINT32_MAX);
    if (msr == msr_lstar || msr == msr_cstar)
        note_vector(code, LSTAR, addr, pc);
    else if (msr == msr_sysenter)
        note_vector(code, SYSENTER, addr, pc);
}

/* The address in the new PSW at ADDR of the image, or 0: if the CPU would wait there (bit 14), if a bit is set that
 * must be 0, or if addresses do not have 64 bits (bits 31 and 32; "z/Architecture Principles of Operation",
 * "Program-Status Word"). */
static uint64_t psw_address(struct image *image, uint64_t addr)
{
    static const uint64_t wide = 0x180000000, never = 0xb80a00fe7fffffff;
    const uint8_t *p = image_bytes(image, addr, 16);
    uint64_t mask;

    if (p == NULL && (p = image_instructions(image, addr, 16)) == NULL)
        return 0;
    mask = load_number(p, 8, image->big);
    return (mask & wide) == wide && (mask & never) == 0 ? load_number(p + 8, 8, image->big) : 0;
}

/* The CPU has BYTES at AT that the image has at FROM: the new PSWs among them, because of the instruction BY. */
static void note_psws(struct code *code, int64_t at, uint64_t from, unsigned bytes, uint64_t by)
{
    unsigned i;

    for (i = 0; i + 16 <= bytes; i++) {
        const int64_t k = at + i;
        const uint64_t to = k >= FIRST_PSW && k < LAST_PSW && k % 16 == 0 ? psw_address(code->image, from + i) : 0;

        if (to != 0)
            note_vector(code, NEW_PSW, to, by);
    }
}

void code_note_low_core(struct code *code)
{
    if (code->cpu->old_psw != 0)
        note_psws(code, FIRST_PSW, FIRST_PSW, LAST_PSW - FIRST_PSW, FIRST_PSW);
}

/* Whether FACT may be one of an instruction that sets such a register: of those little or nothing is known. */
static bool may_set_vector(const struct code *code, const struct code_fact *fact)
{
    if (code->image->abi == SFU_AMD64)
        return fact->size == 2;
    return code->cpu->old_psw != 0 || (fact->size == 4 && fact->num < 2);
}

void code_note_register(struct code *code, uint64_t pc, const struct code_fact *fact,
                        const struct code_state *state)
{
    const struct code_cpu *cpu = code->cpu;
    const uint8_t *p = may_set_vector(code, fact) ? image_instructions(code->image, pc, fact->size) : NULL;
    const uint32_t word = p != NULL && fact->size == 4 ? (uint32_t)load_number(p, 4, false) : 0;
    const struct code_value *value;
    unsigned i;

    if (p == NULL)
        return;
    if (code->image->header.e_machine == EM_AARCH64 &&
        ((word & 0xffffffe0) == 0xd518c000 || (word & 0xffffffe0) == 0xd51cc000 ||
         (word & 0xffffffe0) == 0xd51ec000) &&
        (word & 31) < 31) { /* msr vbar_el1, vbar_el2, vbar_el3 */
        value = &state->reg[word & 31];
        if (value->base == BASE_NUMBER)
            note_vector(code, VBAR, (uint64_t)value->k, pc);
    } else if (code->image->header.e_machine == EM_RISCV && (word & 0x707f) == 0x1073 &&
               (word >> 20 == 0x105 || word >> 20 == 0x305)) { /* csrrw stvec, mtvec */
        value = &state->reg[word >> 15 & 31];
        if (value->base == BASE_NUMBER)
            note_vector(code, TVEC, (uint64_t)value->k & (cpu->word == 4 ? UINT32_MAX : UINT64_MAX), pc);
    } else if (code->image->abi == SFU_AMD64 && fact->size == 2 && p[0] == 0x0f && p[1] == 0x30) { /* wrmsr */
        note_msr(code, pc, state);
    }
    for (i = 0; i < fact->num && cpu->old_psw != 0; i++) {
        const struct code_op *op = &fact->op[i];
        struct code_value at = state->reg[op->base], from = state->reg[op->reg];

        code_move(&at, op->k);
        if (at.base != BASE_NUMBER || from.base != BASE_NUMBER || at.k >= LAST_PSW || at.k < -LAST_PSW)
            continue;
        if (op->what == CODE_STORE && at.k >= FIRST_PSW && at.k % 16 == 8)
            note_vector(code, NEW_PSW, (uint64_t)from.k, pc);
        code_move(&from, op->from);
        if (op->what == CODE_COPY)
            note_psws(code, at.k, (uint64_t)from.k, op->last + 1u, pc);
    }
}

/* ---- aarch64's vectors ----------------------------------------------------------------------------------------- */

enum { SLOTS = 16, SLOT = 128 };

/* Whether the slot at ADDR has instructions: not nops, zeros, or a jump to itself alone. */
static bool is_used(struct image *image, uint64_t addr)
{
    const uint8_t *bytes = image_instructions(image, addr, SLOT);
    unsigned i;

    for (i = 0; bytes != NULL && i < SLOT; i += 4) {
        const uint32_t word = (uint32_t)load_number(bytes + i, 4, false);

        if (word != 0xd503201f && word != 0 && word != 0x14000000)
            return true;
    }
    return false;
}

/* Whether a function that is not a slot begins in the slot at ADDR, or an object that is longer: other code has taken
 * the place of the last slots of a kernel without programs. */
static bool is_taken(const struct image *image, uint64_t addr)
{
    size_t i = count_up_to(image->symbols, image->num_symbols, sizeof *image->symbols,
                           offsetof(struct symbol, addr), addr - 1);

    for (; i < image->num_symbols && image->symbols[i].addr < addr + SLOT; i++)
        if (image->symbols[i].function && (image->symbols[i].addr != addr || image->symbols[i].size > SLOT))
            return true;
    return false;
}

/* How many slots are at ADDR, which VBAR is set to. */
static unsigned num_slots(const struct image *image, uint64_t addr)
{
    unsigned n = 0;

    while (addr % (SLOTS * SLOT) == 0 && n < SLOTS && (n == 0 || !is_taken(image, addr + n * SLOT)))
        n++;
    return n;
}

/* At the first four the CPU has left SP_EL0 for another SP, and at the last eight a program's SP is in SP_EL0. */
static void enter_slots(struct code *code, const struct code_how *how, uint64_t addr, const char *why)
{
    const unsigned num = num_slots(code->image, addr);
    unsigned n;

    for (n = 0; n < num; n++)
        if (image_code(code->image, addr + n * SLOT) != NULL && is_used(code->image, addr + n * SLOT))
            enter(code, how, addr + n * SLOT, n >= 4 && n < 8 ? CODE_TRAP : CODE_SP0, why);
}

/* Whether a slot at ADDR returns from an interrupt. */
static bool has_slots(struct code *code, uint64_t addr)
{
    unsigned n;

    if (addr % (SLOTS * SLOT) != 0 || code->image->header.e_machine != EM_AARCH64)
        return false;
    for (n = 0; n < SLOTS; n++)
        if (is_used(code->image, addr + n * SLOT) && is_kind(code, addr + n * SLOT, CODE_TRAP))
            return true;
    return false;
}

/* ---- Vectors --------------------------------------------------------------------------------------------------- */

/* RISC-V: BASE has its mode in its low bits. One with vectors has a jump for each interrupt. */
static void enter_tvec(struct code *code, const struct code_how *how, uint64_t base)
{
    const uint64_t addr = base & ~(uint64_t)3;
    unsigned n;

    for (n = 0; n < ((base & 3) == 1 ? 64u : 1u); n++) {
        const struct code_text text = text_at(code, addr + 4 * n);
        struct code_fact fact;

        memset(&fact, 0, sizeof fact);
        if (text.bytes != NULL)
            code->cpu->decode(code->decoder, &text, addr + 4 * n, &fact);
        if (fact.size == 0 || (n > 0 && fact.flow != CODE_JUMP))
            return;
        enter(code, how, addr + 4 * n,
              kind_of_trap(code, (base & 3) == 1 && fact.flow == CODE_JUMP ? fact.target : addr),
              (base & 3) == 1 ? "stvec or mtvec is set to the vectors there" : "stvec or mtvec is set to it");
    }
}

static void enter_vector(struct code *code, const struct code_how *how, const struct code_vector *v)
{
    const struct code_unit *unit = code_unit_at(code, v->addr);

    switch (v->what) {
    case VBAR:
        enter_slots(code, how, v->addr, "VBAR is set to the vectors there");
        break;
    case TVEC:
        enter_tvec(code, how, v->addr);
        break;
    case LSTAR: /* a symbol of a kernel at a high address has these low bits */
        if (unit != NULL)
            enter(code, how, v->addr, CODE_SYSCALL, "LSTAR or CSTAR is set to it");
        break;
    case SYSENTER:
        if (unit != NULL)
            enter(code, how, v->addr, CODE_START, "sysenter leads there, which keeps neither the PC nor SP");
        break;
    default:
        enter(code, how, v->addr, CODE_TRAP, "a new PSW is set to it");
        break;
    }
}

/* ---- x86_64: from 32-bit code ---------------------------------------------------------------------------------- */

uint64_t code_linked_at(const struct image *image, uint64_t physical)
{
    enum { MAX_HEADERS = 64 }; /* each far jump reads them */
    size_t i, num = 0;
    GElf_Phdr ph;

    (void)elf_getphdrnum(image->elf, &num);
    for (i = 0; i < num && i < MAX_HEADERS && gelf_getphdr(image->elf, (int)i, &ph) != NULL; i++)
        if (ph.p_type == PT_LOAD && physical >= ph.p_paddr && physical - ph.p_paddr < ph.p_filesz)
            return physical - ph.p_paddr + ph.p_vaddr;
    return physical;
}

/* Whether the 6 bytes at P are a far pointer by a selector of the GDT that a kernel may use: the offset, then it. */
static bool is_far_pointer(const uint8_t *p)
{
    return p[4] >= 8 && (p[4] & 7) == 0 && p[5] == 0;
}

/* The three forms, which all set CS:
 *     ljmp $selector, $target;  ljmp *pointer, with its 32-bit address;  push $target; lret, with the selector below */
uint64_t code_far_target(struct image *image, const uint8_t *p, size_t before, size_t behind)
{
    if (before >= 1 && p[-1] == 0xea && behind >= 6 && is_far_pointer(p))
        return load_number(p, 4, false);
    if (before >= 2 && p[-2] == 0xff && p[-1] == 0x2d && behind >= 4) {
        const uint64_t at = code_linked_at(image, load_number(p, 4, false));
        const uint8_t *pointer = image_bytes(image, at, 6);

        return pointer != NULL && is_far_pointer(pointer) ? load_number(pointer, 4, false) : 0;
    }
    if (before >= 8 && p[-1] == 0xcb && p[-6] == 0x68 && p[-8] == 0x6a && p[-7] >= 8 && (p[-7] & 0x87) == 0)
        return load_number(p - 5, 4, false);
    return 0;
}

/* Whether nothing leads from the code at ADDR back to who was there before. A jump into 64-bit code that goes back to
 * it is one of a thunk, which 64-bit code has called. */
static bool leads_nowhere_back(struct code *code, uint64_t addr)
{
    struct code_ends ends;

    code_try(code, addr, CODE_CALLED, &ends);
    return (ends.calls || ends.tail_calls) && !ends.returns && !ends.returns_ill && !ends.resumes &&
           !ends.resumes_ill && !ends.exits && !ends.unknown;
}

/* Ways begin where far jumps from UNIT, which may be 32-bit code, lead to code that no way has reached. Read as 64-bit
 * code the unit ends in such a jump: what is described behind it is an instruction that only has the same bytes.
 * Returns whether there are any. */
static bool enter_from_32_bits(struct code *code, const struct code_how *how, const struct code_unit *unit)
{
    const size_t size = (size_t)(unit->end - unit->start);
    const uint8_t *bytes = image_instructions(code->image, unit->start, size);
    bool any = false;
    size_t i;

    for (i = 1; bytes != NULL && i <= size; i++) {
        const uint64_t to = code_far_target(code->image, bytes + i, i, size - i);
        const uint64_t addr = to != 0 ? code_linked_at(code->image, to) : 0;
        const struct code_unit *target = to != 0 ? code_unit_at(code, addr) : NULL;

        if (target == NULL || target->fde != NULL || code_has_row(target, addr) ||
            code_has_row(unit, unit->start + i + 4) || is_given(how, addr) || !leads_nowhere_back(code, addr))
            continue;
        enter(code, how, addr, CODE_START, "a far jump of 32-bit code leads there");
        any = true;
    }
    return any;
}

static bool enter_64_bits(struct code *code, const struct code_how *how)
{
    bool any = false;
    size_t i;

    if (code->image->abi != SFU_AMD64 || code->far_jumps_done)
        return false;
    code->far_jumps_done = true;
    for (i = 0; i < code->num_units; i++)
        if (code->units[i].fde == NULL)
            any |= enter_from_32_bits(code, how, &code->units[i]);
    return any;
}

/* Where the last branches of a unit lead to. */
enum { BRANCHES = 16 };
struct branches {
    uint64_t to[BRANCHES];
    size_t num; /* all there have been */
};

static bool branch_leads_to(const struct branches *branches, uint64_t pc)
{
    size_t i;

    for (i = 0; i < branches->num && i < BRANCHES; i++)
        if (branches->to[i] == pc)
            return true;
    return false;
}

/* Stubs that follow on the one at the start of UNIT, which an interrupt enters, without symbols. Where a branch in
 * front leads is a way of that one. */
static void enter_stubs(struct code *code, const struct code_how *how, const struct code_unit *unit)
{
    const struct code_text text = text_at(code, unit->start);
    struct branches branches = {{0}, 0};
    uint64_t pc = unit->start;
    bool begins = false;

    while (pc < unit->end && text.bytes != NULL) {
        struct code_fact fact;
        enum code_kind kind;
        const char *why;

        memset(&fact, 0, sizeof fact);
        code->cpu->decode(code->decoder, &text, pc, &fact);
        if (fact.size == 0)
            return;
        if (begins && !image_is_padding(code->image, pc, pc + fact.size)) {
            kind = code_has_row(unit, pc) || branch_leads_to(&branches, pc) ? CODE_KINDS : kind_of(code, pc, &why);
            if (kind != CODE_KINDS)
                enter(code, how, pc, kind, why);
            begins = false;
        }
        if (fact.flow == CODE_BRANCH)
            branches.to[branches.num++ % BRANCHES] = fact.target;
        begins |= fact.flow == CODE_JUMP || fact.flow == CODE_RESUME || fact.flow == CODE_STOP;
        pc += fact.size;
    }
}

/* ---- Addresses that code and data have ------------------------------------------------------------------------- */

static void note_address(struct code *code, uint64_t addr)
{
    struct code_unit *unit = code_unit_at(code, addr & ~(uint64_t)code->cpu->mode);

    if (unit != NULL && unit->start == (addr & ~(uint64_t)code->cpu->mode))
        unit->addressed = true;
}

/* Notes the words of SIZE bytes in SECTION, each STEP bytes. Instructions of x86_64 extend 4 bytes by their sign: so
 * kernels, which lie in the uppermost 2 GiB, have addresses in them. */
static void note_words(struct code *code, struct section *section, unsigned size, unsigned step)
{
    const uint8_t *bytes = image_load(code->image, section) ? section->bytes : NULL;
    uint64_t at;

    for (at = 0; bytes != NULL && section->size >= size && at <= section->size - size; at += step) {
        const uint64_t word = load_number(bytes + at, size, code->image->big);

        note_address(code, word);
        if (size == 4 && size < code->cpu->word)
            note_address(code, (uint64_t)(int64_t)(int32_t)(uint32_t)word);
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

/* Notes the address that OP, behind others, may give a register. */
static void note_op(struct code *code, struct numbers *n, const struct code_op *op)
{
    struct code_value value = {op->k, BASE_NUMBER, false, 0, 0};

    if (op->what == CODE_INSERT && n->is_known[op->reg])
        value.k = (int64_t)code_insert((uint64_t)n->value[op->reg], op);
    else if (op->what == CODE_SET && n->is_known[op->base])
        value.k = (int64_t)((uint64_t)n->value[op->base] + (uint64_t)op->k);
    else if (op->what != CODE_NUMBER)
        return;
    n->value[op->reg] = value.k;
    n->is_known[op->reg] = true;
    note_address(code, address_of(code->cpu, &value));
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
            note_op(code, &n, &fact.op[i]);
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
        return symbol->function && !is_piece(symbol->name);
    return ends->saves || ends->begins_mode;
}

/* Whether UNIT, whose ways end as ENDS say, returns from an interrupt, and so was not called, although its CFI says so.
 * A function that was called may do that, too, to enter another program: it does not take off the stack what its caller
 * has, and the CPU's frame would not be where an interrupt leaves it. Or it goes back to its caller so, in another mode
 * of the CPU. */
static bool is_uncalled(struct code *code, const struct code_unit *unit, const struct code_ends *ends)
{
    const char *why;

    if (ends->exits && (unit->says_nothing || is_kind(code, unit->start, CODE_SYSCALL)))
        return true;
    if (ends->takes_up)
        return true;
    if (ends->hands_back && !ends->resumes_ill)
        return false;
    return ends->resumes &&
           (unit->says_nothing || ends->takes || (code->cpu->banked && ends->begins_mode) ||
            is_kind(code, unit->start, CODE_TRAP) || kind_of(code, unit->start, &why) != CODE_KINDS);
}

/* Whether a way with STATE, which jumps to the start of a unit, proves that it is not a call of it: an interrupt's
 * entry; start-up code that has taken a stack of its own. Without one firmware may have called it, and so the unit. */
static bool is_no_caller(const struct code_cpu *cpu, const struct code_state *state)
{
    return state->caller == CALLER_INTERRUPTED ||
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
    return edge != NULL && edge->bare && (symbol == NULL || !is_piece(symbol->name));
}

/* Whether a function jumps to the start of UNIT in the middle of its own frame, which the code there takes off, or
 * keeps for ever: UNIT is an end that functions share. CFI that says more than that UNIT is called is wrong only if
 * the code, called, would end otherwise. */
static bool is_shared_end(struct code *code, const struct code_unit *unit)
{
    const struct code_edge *edge = code_edge_to_start(unit);
    const struct code_value *sp;
    struct code_ends ends, called;
    bool returns;

    if (edge == NULL || !edge->bare || edge->state.caller != CALLER_KNOWN)
        return false;
    if (code_is_jump_thunk(code, unit, &edge->state))
        return true;
    if (!try_piece(code, unit->start, &edge->state, &ends))
        return false;
    returns = ends.returns || ends.tail_calls;
    if (!unit->says_nothing) {
        code_try(code, unit->start, CODE_CALLED, &called);
        return returns && contradicts_call(&called);
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

/* Whether UNIT lost its CFI because of its own instructions, which do not say who enters it. */
static bool is_lost_by_itself(const struct code_unit *unit)
{
    return unit->lost_to == LOST_BY_END || unit->lost_to == LOST_BY_ENTRY;
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
        enter(code, how, unit->start, CODE_ERROR, "its CFI says that an error code lies below the interrupted PC");
    if (unit->lost_to == LOST_BY_JUMP && unit->is_called)
        code_begin_at(code, unit->start, CODE_CALLED);
    if (!is_lost_by_itself(unit) || unit->jumped_to)
        return;
    kind = kind_of(code, unit->start, &why);
    if (kind != CODE_KINDS)
        enter(code, how, unit->start, kind, why);
    else if (how->entered != NULL && !is_given(how, unit->start))
        how->entered(
            how->ctx, unit->start, CODE_KINDS, NULL,
            unit->lost_to == LOST_BY_END
                ? "its CFI says that it is called, but it returns from an interrupt"
                : "its CFI says that it is called, but nothing calls it, and it may be an exception's entry");
}

/* Marks in FROM the units that registers of the CPU say are entered by interrupts. */
static void mark_vectors(const struct code *code, bool *from)
{
    size_t i;
    unsigned n;

    for (i = 0; i < code->num_vectors; i++) {
        const struct code_vector *v = &code->vectors[i];
        const uint64_t addr = v->what == TVEC ? v->addr & ~(uint64_t)3 : v->addr;
        const unsigned num = v->what == VBAR ? num_slots(code->image, addr) : 1;

        for (n = 0; n < num; n++) {
            const struct code_unit *unit = code_unit_at(code, addr + n * SLOT);

            if (unit != NULL && unit->start == addr + n * SLOT)
                from[unit - code->units] = true;
        }
    }
}

/* Why UNIT is not called, although its CFI says so; or LOST_BY_NOTHING. VECTOR: a register says that an interrupt
 * enters it. MAY: it may lead to a return from one. */
static enum code_lost_by why_uncalled(struct code *code, struct code_unit *unit, bool vector, bool may)
{
    struct code_ends ends;

    if (unit->fde == NULL || unit->trap || unit->says_end)
        return LOST_BY_NOTHING;
    if (unit->function && !vector && is_jumped_to(code, unit, CALLER_INTERRUPTED))
        return LOST_BY_JUMP;
    if (unit->is_called)
        return LOST_BY_NOTHING;
    if (unit->function && !vector && is_jumped_to(code, unit, CALLER_NONE)) {
        find_addresses(code); /* it may be called by its own */
        if (!unit->addressed)
            return LOST_BY_JUMP;
    }
    if (unit->begins_below && !unit->is_tried) {
        unit->is_tried = true;
        code_try(code, unit->start, CODE_CALLED, &ends);
        return is_last_below(unit, image_symbol(code->image, unit->start), &ends) ? LOST_BY_WORD : LOST_BY_NOTHING;
    }
    if (!unit->function)
        return LOST_BY_NOTHING;
    if (vector)
        return LOST_BY_REGISTER;
    if ((!may && unit->returns) || unit->is_tried)
        return LOST_BY_NOTHING;
    unit->is_tried = true; /* its code says the same another time */
    code_try(code, unit->start, CODE_CALLED, &ends);
    if (may_be_last_entry(code->cpu, unit, &ends))
        return LOST_BY_ENTRY;
    return may && is_uncalled(code, unit, &ends) ? LOST_BY_END : LOST_BY_NOTHING;
}

/* Takes the CFI from units that nobody calls. Marks them. Returns whether there are any. */
static bool drop_uncalled(struct code *code, bool *lost)
{
    bool *may = may_resume(code), *vectors = zeroed(code->num_units, sizeof *vectors), any = false;
    size_t i;

    mark_vectors(code, vectors);
    for (i = 0; i < code->num_units; i++) {
        const enum code_lost_by why = why_uncalled(code, &code->units[i], vectors[i], may[i]);

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

        if (unit->fde == NULL || unit->trap || unit->is_called || unit->says_end || !unit->function ||
            !is_shared_end(code, unit))
            continue;
        code_drop_cfi(code, unit);
        unit->lost_to = LOST_BY_FRAME;
        lost[i] = any = true;
    }
    return any;
}

/* Whether UNIT, without CFI, which jumps of an interrupt's entry or of a function in its frame lead to, may be called
 * by its address, too. */
static bool may_be_called(struct code *code, struct code_unit *unit)
{
    const struct code_edge *edge = unit->fde == NULL && !unit->doubted ? code_edge_to_start(unit) : NULL;
    struct code_ends ends;

    if (edge == NULL || edge->begins != 0 ||
        (edge->state.caller == CALLER_INTERRUPTED
             ? unit->lost_to != LOST_BY_JUMP && !code_begins_function(code, unit->start)
             : unit->lost_to != LOST_BY_FRAME))
        return false;
    unit->doubted = true;
    find_addresses(code);
    if (!unit->addressed)
        return false;
    code_try(code, unit->start, CODE_CALLED, &ends);
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

bool code_find_uncalled(struct code *code, const struct code_how *how)
{
    bool *from = zeroed(code->num_units, sizeof *from), *lost = zeroed(code->num_units, sizeof *lost);
    const bool any = drop_uncalled(code, lost) || drop_shared(code, lost), doubts = !any && doubt_units(code);
    size_t i;

    if (any) {
        memcpy(from, lost, code->num_units * sizeof *from);
        code_forget_ways(code, from);
    }
    for (i = 0; i < code->num_units && any; i++)
        if (lost[i])
            enter_uncalled(code, how, &code->units[i]);
    for (i = 0; i < code->num_vectors && any && !how->find; i++)
        if (!code->vectors[i].done) {
            code->vectors[i].done = true;
            enter_vector(code, how, &code->vectors[i]);
        }
    free(from);
    free(lost);
    return any || doubts;
}

/* ---- Code without CFI ------------------------------------------------------------------------------------------ */

struct candidate {
    struct code_unit *unit;
    struct code_ends ends;
};

/* Units that nothing leads to, and which begin at a symbol. */
static size_t find_candidates(struct code *code, const struct code_how *how, struct candidate **list)
{
    size_t i, num = 0;

    for (i = 0; i < code->num_units; i++) {
        struct code_unit *unit = &code->units[i];
        const struct symbol *symbol = image_symbol(code->image, unit->start);

        if (unit->fde != NULL || unit->function || unit->edges != NULL || symbol == NULL ||
            symbol->addr != unit->start || is_given(how, unit->start) || code_is_foreign(code, unit->start) ||
            image_is_padding(code->image, unit->start, unit->end))
            continue;
        *list = grow(*list, num, sizeof **list);
        (*list)[num++] = (struct candidate){unit, none};
    }
    for (i = 0; i < num; i++)
        code_try(code, (*list)[i].unit->start, CODE_CALLED, &(*list)[i].ends);
    return num;
}

/* Functions come first: what they lead to needs no judgement of its own. */
static bool take_candidates(struct code *code, const struct code_how *how, struct candidate *list, size_t num,
                            bool labels)
{
    bool any = false;
    size_t i;

    for (i = 0; i < num; i++) {
        struct code_unit *unit = list[i].unit;
        const char *why = NULL;
        enum code_kind kind;

        if (unit->judged || (!labels && !code_begins_function(code, unit->start)))
            continue;
        if (has_slots(code, unit->start)) {
            enter_slots(code, how, unit->start,
                        "vectors, by their alignment, one of which returns from an exception");
            unit->judged = any = true;
            continue;
        }
        kind = judge_unit(code, unit, &list[i].ends, &why);
        if (kind == CODE_KINDS)
            continue;
        unit->judged = any = true;
        enter(code, how, unit->start, kind, why);
        if (kind == CODE_TRAP || kind == CODE_ERROR)
            enter_stubs(code, how, unit);
    }
    return any;
}

bool code_find_entries(struct code *code, const struct code_how *how)
{
    struct candidate *list = NULL;
    size_t i, num;
    bool any = false;

    for (i = 0; i < code->num_vectors; i++)
        if (!code->vectors[i].done) {
            code->vectors[i].done = any = true;
            enter_vector(code, how, &code->vectors[i]);
        }
    if (any || enter_64_bits(code, how))
        return true;
    num = find_candidates(code, how, &list);
    any = take_candidates(code, how, list, num, false) || take_candidates(code, how, list, num, true);
    for (i = 0; i < num && !any && how->entered != NULL; i++) {
        const struct code_ends *ends = &list[i].ends;

        if (!list[i].unit->jumped_to && !is_lost_by_itself(list[i].unit) && /* that has been said */
            (ends->resumes || ends->calls || code_begins_function(code, list[i].unit->start)))
            how->entered(how->ctx, list[i].unit->start, CODE_KINDS, NULL,
                         ends->resumes ? "it returns from an interrupt, but not as any kind would"
                                       : "nothing shows how it is entered");
    }
    free(list);
    return any;
}

/* The kind of the slot at ADDR of vectors that VBAR is set to; or CODE_KINDS. */
static enum code_kind kind_of_slot(const struct code *code, uint64_t addr)
{
    size_t i;

    for (i = 0; i < code->num_vectors; i++) {
        const struct code_vector *v = &code->vectors[i];

        if (v->what != VBAR || addr < v->addr || addr % SLOT != 0)
            continue;
        if ((addr - v->addr) / SLOT < num_slots(code->image, v->addr))
            return (addr - v->addr) / SLOT / 4 == 1 ? CODE_TRAP : CODE_SP0;
    }
    return CODE_KINDS;
}

/* What the code of ENTRY is if it cannot be what it is named; or CODE_KINDS. Nobody need have called what is a start,
 * and what is a function of many is none of them alone. */
static enum code_kind contradiction(struct code *code, const struct code_entry_point *entry, const char **why)
{
    const enum code_kind slot = kind_of_slot(code, entry->addr);
    const struct code_unit *unit = code_unit_at(code, entry->addr);
    struct code_ends ends;
    enum code_kind kind;

    *why = "a call leads there";
    if (entry->overrules && unit != NULL && unit->is_called)
        return CODE_CALLED;
    if (entry->kind == CODE_START || (entry->kind == CODE_CALLED && !entry->exact))
        return CODE_KINDS;
    *why = "it is one of the vectors that VBAR is set to";
    if (slot != CODE_KINDS)
        return slot != entry->kind ? slot : CODE_KINDS;
    code_try(code, entry->addr, CODE_CALLED, &ends);
    *why = "it returns to its caller, with SP and FP as they were";
    if (entry->kind != CODE_CALLED && ends.returns && !ends.returns_ill && !ends.resumes && !ends.exits &&
        !ends.unknown && !contradicts_call(&ends))
        return CODE_CALLED;
    if (entry->kind == CODE_CALLED ? ends.returns || !ends.resumes : is_kind(code, entry->addr, entry->kind))
        return CODE_KINDS;
    kind = kind_of(code, entry->addr, why);
    return kind != entry->kind && kind != CODE_KINDS && is_kind(code, entry->addr, kind) ? kind : CODE_KINDS;
}

void code_find_conflicts(struct code *code, const struct code_how *how)
{
    size_t i;

    for (i = 0; i < how->num_entries && how->entered != NULL; i++) {
        const char *why;
        enum code_kind kind;

        if (how->entries[i].described && !how->entries[i].taken)
            continue;
        kind = contradiction(code, &how->entries[i], &why);
        if (kind != CODE_KINDS)
            how->entered(how->ctx, how->entries[i].addr, kind, &how->entries[i], why);
    }
}
