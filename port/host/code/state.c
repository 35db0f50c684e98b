/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* It reads from top to bottom: states, what two of them have in common, what an instruction makes of a state, and what
 * a call leaves of it. */
#include "index.h"
#include "state.h"

#include <string.h>

/* ---- States ---------------------------------------------------------------------------------------------------- */

/* s390x: what lies below is the CPU's own ("assigned storage locations"). */
enum { LOW_CORE = 8192 };

static const struct code_value gone = {CODE_GONE, BASE_UNKNOWN, false, 0, 0},
                               called = {CODE_BY_CALL, BASE_UNKNOWN, false, 0, 0},
                               of_mode = {CODE_OF_MODE, BASE_UNKNOWN, false, 0, 0},
                               all_or_none = {CODE_ALL_OR_NONE, BASE_UNKNOWN, false, 0, 0},
                               perhaps = {CODE_PERHAPS, BASE_UNKNOWN, false, 0, 0};

/* x86: where string instructions move to (CODE_STATUS). */
static const struct code_value upwards = {1, BASE_NUMBER, false, 0, 0}, downwards = {-1, BASE_NUMBER, false, 0, 0};

uint64_t code_insert(uint64_t number, const struct code_op *op)
{
    return (number & ~((uint64_t)0xffff << op->last)) | (uint64_t)op->k << op->last;
}

/* What is known of the lowest five bits of a number: those that are 0; those that are 1; those that are as they were in
 * CODE_NOW when the function was entered. GONE: as of code_is_gone. */
struct bits {
    uint32_t zero, one, same;
    bool gone;
};

enum { BITS_ONE = 5, BITS_SAME = 10, BITS_GONE = 15 };

static bool has_bits(const struct code_value *value)
{
    return value->base == BASE_UNKNOWN && value->k >= CODE_SOME_BITS;
}

static struct bits bits_of(const struct code_value *value)
{
    const uint32_t k = (uint32_t)value->k;
    struct bits bits = {0, 0, 0, false};

    if (value->base == BASE_NUMBER)
        bits = (struct bits){~k & CODE_MODE_BITS, k & CODE_MODE_BITS, 0, false};
    else if (has_bits(value))
        bits = (struct bits){k & CODE_MODE_BITS, k >> BITS_ONE & CODE_MODE_BITS, k >> BITS_SAME & CODE_MODE_BITS,
                             (k >> BITS_GONE & 1) != 0};
    return bits;
}

static struct code_value value_of(const struct bits *bits)
{
    const uint32_t k =
        bits->zero | bits->one << BITS_ONE | bits->same << BITS_SAME | (uint32_t)bits->gone << BITS_GONE;

    if ((bits->zero | bits->one | bits->same) == 0)
        return bits->gone ? gone : state_unknown;
    return (struct code_value){CODE_SOME_BITS + (int64_t)k, BASE_UNKNOWN, false, 0, 0};
}

bool code_is_gone(const struct code_value *value)
{
    return value->base == BASE_UNKNOWN &&
           ((value->k >= CODE_GONE && value->k <= CODE_ONE_WAY) || (has_bits(value) && bits_of(value).gone));
}

/* No place in memory is as far from another one, or from 0, as a number with a sign. */
static bool is_far(int64_t k)
{
    const int64_t most = (int64_t)1 << 60;

    return k < -most || k > most;
}

void code_move(struct code_value *value, int64_t by)
{
    if (value->base == BASE_UNKNOWN || value->base == BASE_NEAR)
        return;
    if ((value->base == BASE_WORD && by != 0) ||
        (value->base > BASE_NEAR && (is_far(value->k) || is_far(by) || is_far(value->k + by))))
        *value = state_unknown;
    else
        value->k = (int64_t)((uint64_t)value->k + (uint64_t)by);
}

static bool is_slot(const struct code_slot *slot, uint8_t base, int64_t k)
{
    return slot->base == base && slot->k == k;
}

struct code_slot *state_find_slot(const struct code_state *state, uint8_t base, int64_t k)
{
    unsigned i;

    for (i = 0; i < state->num; i++)
        if (is_slot(&state->slot[i], base, k))
            return (struct code_slot *)&state->slot[i];
    return NULL;
}

void state_drop_slot(struct code_state *state, struct code_slot *slot)
{
    *slot = state->slot[--state->num];
}

static bool is_perhaps(const struct code_value *value)
{
    return value->base == BASE_UNKNOWN && value->k == CODE_PERHAPS;
}

/* Whether VALUE is what RA or FP had when the function was entered. */
static bool is_own_value(const struct code_cpu *cpu, const struct code_value *value)
{
    return value->k == 0 && (value->base == BASE_RETURN || value->base == BASE_ENTRY + cpu->fp);
}

/* Whether a word of BASE with VALUE is one by which the frame is found: the return address or FP, which a function has
 * when it is entered, or has been, or is perhaps; where SP was rounded, the CFA, too. Where that gets another value, it
 * stays noted: it is not that any more. */
static bool is_own_word(const struct code_cpu *cpu, uint8_t base, const struct code_value *value)
{
    const bool is_cfa = base == BASE_ALIGNED && value->base == BASE_CFA && value->k == 0;

    return (base == BASE_CFA || base == BASE_ALIGNED) &&
           (code_is_gone(value) || is_perhaps(value) || is_own_value(cpu, value) || is_cfa);
}

/* x86: whether a word of STATE at BASE + K is where the caller has pushed the return address. */
static bool is_pushed_ra(const struct code_cpu *cpu, const struct code_state *state, uint8_t base, int64_t k)
{
    return !cpu->link && state->caller == CALLER_KNOWN && base == BASE_CFA && k == cpu->ra_at_entry;
}

/* Nobody knows any more what SLOT of STATE has. Returns whether it is noted all the same: a word by which the frame is
 * found, perhaps; or the word of the return address, which has had another value. */
static bool stays_noted(const struct code_cpu *cpu, const struct code_state *state, struct code_slot *slot)
{
    if (is_pushed_ra(cpu, state, slot->base, slot->k) && slot->value.base > BASE_UNKNOWN &&
        slot->value.base != BASE_RETURN)
        slot->value = gone;
    if (!is_own_word(cpu, slot->base, &slot->value))
        return false;
    if (!code_is_gone(&slot->value))
        slot->value = perhaps;
    return true;
}

/* Forgets slots of which one of SIZE bytes from BASE + K on is a part. REPLACED: those get another value. What is lost
 * already stays so: what is perhaps written there is not what was lost. */
static void write_slots(const struct code_cpu *cpu, struct code_state *state, uint8_t base, int64_t k, int64_t size,
                        bool replaced)
{
    unsigned i = 0;

    while (i < state->num) {
        struct code_slot *slot = &state->slot[i];
        const bool hit = slot->base == base && slot->k < k + size && k < slot->k + cpu->word;

        if (hit && !stays_noted(cpu, state, slot)) {
            state_drop_slot(state, slot);
            continue;
        }
        if (hit && replaced)
            slot->value = gone;
        i++;
    }
}

/* Forgets the slots of BASE from LOW up to HIGH. */
static void drop_range(struct code_state *state, uint8_t base, int64_t low, int64_t high)
{
    unsigned i = 0;

    while (i < state->num)
        if (state->slot[i].base == base && state->slot[i].k >= low && state->slot[i].k < high)
            state_drop_slot(state, &state->slot[i]);
        else
            i++;
}

/* SP has moved above the slots of BASE below END, which it has left: an interrupt may overwrite them at any time. */
static void leave_below(const struct code_cpu *cpu, struct code_state *state, uint8_t base, int64_t end)
{
    unsigned i = 0;

    while (i < state->num)
        if (state->slot[i].base == base && state->slot[i].k < end && !stays_noted(cpu, state, &state->slot[i]))
            state_drop_slot(state, &state->slot[i]);
        else
            i++;
}

/* Whether words at AT and K behind it can be followed: on a stack, where the scratch register pointed to and, at an
 * interrupt of s390x, where the CPU saves its state. Then the sum of the two is a number, and so is what is not far
 * from it. */
static bool is_place(const struct code_state *state, const struct code_value *at, int64_t k)
{
    if (is_far(at->k) || is_far(k))
        return false;
    return (at->base > BASE_NEAR && !(state->names && at->base >= BASE_RETURN && at->base != BASE_SCRATCH)) ||
           (at->base == BASE_NUMBER && (state->globals || (state->low_core && at->k >= 0 && at->k < LOW_CORE &&
                                                           k > -LOW_CORE && k < LOW_CORE)));
}

/* A number below is no address, nor is one as little below 0. Slots that numbers leave to what is more important. */
enum { MIN_ADDRESS = 4096, SLOTS_LEFT = 16 };

/* Whether VALUE in a word of AT is of use later. Of numbers those are that start-up code goes on at, and addresses of
 * tables of jumps, which compilers save on a stack. */
static bool is_useful(const struct code_state *state, const struct code_value *at, const struct code_value *value)
{
    if (value->base == BASE_NUMBER && state->caller != CALLER_NONE)
        return (value->k >= MIN_ADDRESS || value->k < -MIN_ADDRESS) && at->base > BASE_NEAR &&
               state->num < CODE_SLOTS - SLOTS_LEFT;
    return (value->base > BASE_NEAR || value->base == BASE_NUMBER) && state->num < CODE_SLOTS;
}

/* Whether VALUE says what CODE_NOW becomes, if it is put there. */
static bool is_saved_mode(const struct code_state *state, const struct code_value *value)
{
    const struct bits bits = bits_of(value);

    return has_bits(value) && !bits.gone && (bits.zero | bits.one | bits.same) == CODE_MODE_BITS &&
           state->num < CODE_SLOTS - SLOTS_LEFT;
}

/* Something has been written where nobody knows: perhaps there. Stacks are elsewhere. */
static void forget_struct(struct code_state *state)
{
    drop_range(state, BASE_STRUCT, INT64_MIN, INT64_MAX);
    drop_range(state, BASE_SCRATCH, INT64_MIN, INT64_MAX);
    if (state->globals)
        drop_range(state, BASE_NUMBER, INT64_MIN, INT64_MAX);
}

/* Something is written at AT, which is known: what has two names, by an absolute address and from where GS begins, may
 * be forgotten. */
static void forget_other_name(struct code_state *state, const struct code_value *at)
{
    if (state->globals && at->base == BASE_NUMBER)
        drop_range(state, BASE_STRUCT, INT64_MIN, INT64_MAX);
    if (state->globals && at->base == BASE_STRUCT)
        drop_range(state, BASE_NUMBER, INT64_MIN, INT64_MAX);
}

/* What is noted of a word by which the frame is found, OWN, or, NULL, where the return address was pushed, and which
 * gets VALUE, of no use later. It is perhaps put back. */
static const struct code_value *note_of(const struct code_state *state, const struct code_slot *own,
                                        const struct code_value *value)
{
    const bool may_be_back = state->keeps_word && value->base == BASE_UNKNOWN && !code_is_gone(value);

    return may_be_back && (own == NULL || is_perhaps(&own->value) || code_is_gone(&own->value)) ? &perhaps : &gone;
}

void state_store(const struct code_cpu *cpu, struct code_state *state, const struct code_value *at, int64_t offset,
                 const struct code_value *value)
{
    const int64_t k = at->k + offset;
    const struct code_value *note = NULL;
    struct code_slot *own;

    if (!is_place(state, at, offset)) {
        state->keeps_sp |= code_is_on_stack(value);
        state->keeps_fp |= value->base == BASE_ENTRY + cpu->fp;
        state->keeps_word |= is_own_value(cpu, value);
        forget_struct(state);
        return;
    }
    forget_other_name(state, at);
    own = state_find_slot(state, at->base, k);
    if ((own != NULL ? is_own_word(cpu, own->base, &own->value) : is_pushed_ra(cpu, state, at->base, k)) &&
        (value->base == BASE_UNKNOWN || !is_useful(state, at, value)))
        value = note = note_of(state, own, value);
    if (own != NULL)
        state_drop_slot(state, own);
    write_slots(cpu, state, at->base, k, cpu->word, true);
    if (is_useful(state, at, value) || is_saved_mode(state, value) || (note != NULL && state->num < CODE_SLOTS))
        state->slot[state->num++] = (struct code_slot){*value, k, at->base};
}

struct code_value state_load(const struct code_state *state, const struct code_value *at, int64_t offset)
{
    const struct code_slot *slot = NULL;

    if (is_place(state, at, offset))
        slot = state_find_slot(state, at->base, at->k + offset);
    return slot != NULL && !is_perhaps(&slot->value) ? slot->value : state_unknown;
}

/* The same for a register, which may have what RA or FP had, if that is perhaps in the word. */
static struct code_value take(struct code_state *state, const struct code_value *at, int64_t offset)
{
    const struct code_slot *slot =
        is_place(state, at, offset) ? state_find_slot(state, at->base, at->k + offset) : NULL;

    state->keeps_word |= slot != NULL && is_perhaps(&slot->value);
    return state_load(state, at, offset);
}

/* BYTES at TO + K become those at FROM + OFFSET: words that are known, if no byte is written before it is read, because
 * the CPU copies them one by one. Where gcc does not know the length, a loop copies 256 bytes at a time, 255 to spread
 * one byte: it is perhaps not taken, and writes nothing behind an array that is smaller. */
static void copy(const struct code_cpu *cpu, struct code_state *state, const struct code_value *to, int64_t k,
                 const struct code_value *from, int64_t offset, unsigned bytes)
{
    enum { LOOPED = 255 };
    struct code_value words[32] = {{0, BASE_UNKNOWN, false, 0, 0}};
    const bool apart = from->base != to->base ||
                       (is_place(state, to, k) && is_place(state, from, offset) && to->k + k <= from->k + offset);
    unsigned i;

    for (i = 0; apart && i < bytes / 8; i++)
        words[i] = take(state, from, offset + 8 * (int64_t)i);
    if (!is_place(state, to, k)) {
        forget_struct(state);
        return;
    }
    write_slots(cpu, state, to->base, to->k + k, bytes, bytes < LOOPED);
    for (i = 0; i < bytes / 8; i++)
        if (bytes < LOOPED || words[i].base != BASE_UNKNOWN)
            state_store(cpu, state, to, k + 8 * (int64_t)i, &words[i]);
}

static struct code_value entry_value(unsigned reg)
{
    return (struct code_value){0, (uint8_t)(BASE_ENTRY + reg), false, 0, 0};
}

/* Nothing is known but which bits CODE_NOW has: its own. */
static void begin(const struct code_cpu *cpu, struct code_state *state)
{
    const struct bits own = {0, 0, CODE_MODE_BITS, false};

    memset(state, 0, offsetof(struct code_state, slot)); /* of which there are none yet */
    state->reg[CODE_ZERO] = (struct code_value){0, BASE_NUMBER, false, 0, 0};
    if (cpu->banked)
        state->reg[CODE_NOW] = value_of(&own);
}

void code_entry(const struct code_cpu *cpu, struct code_state *state)
{
    begin(cpu, state);
    state->reg[cpu->sp] = (struct code_value){cpu->sp_at_entry, BASE_CFA, false, 0, 0};
    state->reg[cpu->fp] = entry_value(cpu->fp);
    if (cpu->shadow != 0)
        state->reg[cpu->shadow] = entry_value(cpu->shadow);
    if (state_has_pc(cpu))
        state->reg[CODE_PC] = entry_value(CODE_PC);
    if (cpu->link)
        state->reg[cpu->ra] = state_way_back;
    else {
        state->reg[CODE_STATUS] = upwards;
        state->slot[state->num++] = (struct code_slot){state_way_back, cpu->ra_at_entry, BASE_CFA};
    }
}

/* s390x: of restart, external, supervisor-call, program, machine-check and input/output interruptions. */
enum { OLD_PSWS = 6 };

/* x86_64: where `syscall` puts the PC. */
enum { AMD64_RCX = 2 };

/* s390x: the CPU has left SP alone; which PSW it has stored the code knows. */
static void begin_with_psw(const struct code_cpu *cpu, struct code_state *state)
{
    unsigned i;

    state->reg[cpu->ra] = state_unknown;
    state->low_core = true;
    for (i = 0; i < OLD_PSWS; i++)
        state->slot[state->num++] =
            (struct code_slot){state_way_back, cpu->old_psw + 16 * (int64_t)i + 8, BASE_NUMBER};
}

/* ARM: SP is that of the CPU's mode for the exception, and LR leads back. */
static void begin_in_mode(const struct code_cpu *cpu, struct code_state *state, enum code_kind kind)
{
    state->reg[cpu->ra].k = kind == CODE_TRAP8 ? 8 : kind == CODE_TRAP4 ? 4 : 0;
    state->reg[cpu->sp] = entry_value(cpu->sp);
    state->reg[CODE_PC] = state_unknown;
    state->reg[CODE_OTHER_SP] = (struct code_value){0, BASE_CFA, false, 0, 0};
    state->reg[CODE_STATUS] = entry_value(CODE_STATUS);
}

/* aarch64, RISC-V: the PC is in a register of its own; RA is only what was interrupted had there. */
static void begin_with_pc(const struct code_cpu *cpu, struct code_state *state, enum code_kind kind)
{
    state->reg[cpu->ra] = state_unknown;
    state->reg[cpu->sp] = (struct code_value){0, BASE_TRAP, false, 0, 0};
    state->reg[CODE_PC] = state_way_back;
    if (kind == CODE_SP0 || kind == CODE_LOWER)
        state->reg[CODE_OTHER_SP] = (struct code_value){0, BASE_CFA, false, 0, 0};
    if (kind == CODE_SCRATCH) {
        state->reg[CODE_OTHER_SP] = state->reg[cpu->sp];
        state->reg[cpu->sp] = (struct code_value){0, BASE_CFA, false, 0, 0};
    }
    state->trap_is_cfa = kind != CODE_SP0 && kind != CODE_LOWER && kind != CODE_SCRATCH;
    state->from_lower = kind == CODE_LOWER;
}

/* x86_64: the instruction syscall has pushed nothing. */
static void begin_system_call(const struct code_cpu *cpu, struct code_state *state)
{
    state->reg[cpu->sp] = (struct code_value){0, BASE_CFA, false, 0, 0};
    state->reg[AMD64_RCX] = state_way_back;
    state->reg[CODE_OTHER_SP] = (struct code_value){0, BASE_STRUCT, false, 0, 0};
    state->globals = true;
    state->num = 0;
}

/* x86: the CPU has pushed SS and SP, but not on i386, and flags, CS, PC and perhaps an error code. */
static void begin_pushed(const struct code_cpu *cpu, struct code_state *state, enum code_kind kind)
{
    const int64_t error = kind == CODE_ERROR ? cpu->word : 0;

    if (cpu->pushed != 0) {
        state->reg[cpu->sp] = (struct code_value){-cpu->pushed - error, BASE_CFA, false, 0, 0};
        state->slot[0] = (struct code_slot){state_way_back, -cpu->pushed, BASE_CFA};
        return;
    }
    state->reg[cpu->sp] = (struct code_value){-error, BASE_TRAP, false, 0, 0};
    state->slot[0] = (struct code_slot){state_way_back, 0, BASE_TRAP};
    state->slot[1] = (struct code_slot){{0, BASE_CFA, false, 0, 0}, 24, BASE_TRAP};
    state->num = 2;
}

void code_trap_entry(const struct code_cpu *cpu, struct code_state *state, enum code_kind kind)
{
    code_entry(cpu, state);
    state->caller = CALLER_INTERRUPTED;
    if (cpu->old_psw != 0) {
        begin_with_psw(cpu, state);
    } else if (cpu->banked) {
        begin_in_mode(cpu, state, kind);
    } else if (cpu->link) {
        begin_with_pc(cpu, state, kind);
    } else {
        state->reg[CODE_STATUS] = state_unknown;
        if (kind == CODE_SYSCALL)
            begin_system_call(cpu, state);
        else
            begin_pushed(cpu, state, kind);
    }
}

/* What holds where KIND begins: that of an entry, a call, or the start that nobody has called. */
static void begin_kind(const struct code_cpu *cpu, struct code_state *state, enum code_kind kind)
{
    if (kind == CODE_CALLED) {
        code_entry(cpu, state);
    } else if (kind == CODE_START) {
        begin(cpu, state);
        state->caller = CALLER_NONE;
    } else {
        code_trap_entry(cpu, state, kind);
    }
}

void state_begin_way(const struct code *code, struct code_state *state, enum code_kind kind)
{
    const struct code_cpu *cpu = code->cpu;
    unsigned i;

    begin_kind(cpu, state, kind);
    state->names = code->naming && state->caller == CALLER_INTERRUPTED && kind != CODE_SYSCALL;
    for (i = 0; i < CODE_REAL && state->names; i++)
        if (i != cpu->sp && state->reg[i].base == BASE_UNKNOWN)
            state->reg[i] = entry_value(i);
    if (state->names && code->scratch && state->reg[CODE_OTHER_SP].base == BASE_UNKNOWN)
        state->reg[CODE_OTHER_SP] = entry_value(CODE_OTHER_SP);
    if (state->names && cpu->pushed != 0) { /* CS and flags say who was interrupted */
        state->slot[state->num++] = (struct code_slot){entry_value(CODE_PC), cpu->word - cpu->pushed, BASE_CFA};
        state->slot[state->num++] =
            (struct code_slot){entry_value(CODE_STATUS), 2 * cpu->word - cpu->pushed, BASE_CFA};
    }
}

/* Values that count from BASE_ALIGNED become OTHER, and words there are forgotten: the base is to be another one. */
static void forget_aligned(struct code_state *state, const struct code_value *other)
{
    unsigned i;

    for (i = 0; i < CODE_REGISTERS; i++)
        if (state->reg[i].base == BASE_ALIGNED)
            state->reg[i] = *other;
    for (i = 0; i < state->num;) {
        struct code_slot *slot = &state->slot[i];
        const bool counts = slot->value.base == BASE_ALIGNED;

        if (counts)
            slot->value = *other;
        if (slot->base == BASE_ALIGNED || (counts && other->base == BASE_UNKNOWN))
            state_drop_slot(state, slot);
        else
            i++;
    }
}

void state_align(const struct code_cpu *cpu, struct code_state *state)
{
    forget_aligned(state, &state_unknown);
    state->reg[cpu->sp] = (struct code_value){0, BASE_ALIGNED, false, 0, 0};
}

void state_move_sp(const struct code_cpu *cpu, struct code_state *state)
{
    if (state->reg[cpu->fp].base == BASE_ALIGNED) {
        state->reg[cpu->sp] = state_near;
        return;
    }
    forget_aligned(state, &state_near);
    state->reg[cpu->sp] = (struct code_value){0, BASE_ALIGNED, false, 0, 0};
}

/* Whether rows find a frame by register REG. */
static bool is_own_register(const struct code_cpu *cpu, unsigned reg)
{
    return reg == cpu->sp || reg == cpu->fp || (cpu->link && reg == cpu->ra);
}

/* REG gets a number that is not known, which is counted from what REG was. SP, FP and RA's register that were something
 * else than at the entry do not become that again. */
static void lose_count(const struct code_cpu *cpu, struct code_state *state, unsigned reg)
{
    const bool is_other = state->reg[reg].base == BASE_NUMBER || code_is_gone(&state->reg[reg]);

    state->keeps_word |= is_own_value(cpu, &state->reg[reg]);
    state->reg[reg] = is_own_register(cpu, reg) && is_other ? gone : state_unknown;
}

/* What is known of the bits of VALUE and, or, xor, without (HOW) OTHER. */
static struct bits combine(const struct bits *value, const struct bits *other, int32_t how)
{
    const struct bits b = how == CODE_BIC ? (struct bits){other->one, other->zero, 0, false} : *other, a = *value;

    if (how == CODE_XOR)
        return (struct bits){(a.zero & b.zero) | (a.one & b.one), (a.zero & b.one) | (a.one & b.zero),
                             (a.same & b.zero) | (a.zero & b.same), false};
    if (how == CODE_OR)
        return (struct bits){a.zero & b.zero, a.one | b.one, (a.same & (b.zero | b.same)) | (a.zero & b.same),
                             false};
    return (struct bits){a.zero | b.zero, a.one & b.one, (a.same & (b.one | b.same)) | (a.one & b.same), false};
}

/* The number A and, or, xor, without (HOW) B. */
static uint64_t combined(uint64_t a, uint64_t b, int32_t how)
{
    return how == CODE_XOR ? a ^ b : how == CODE_OR ? a | b : how == CODE_BIC ? a & ~b : a & b;
}

static struct code_value combine_values(const struct code_cpu *cpu, const struct code_value *a,
                                        const struct code_value *b, int32_t how)
{
    const struct bits first = bits_of(a), second = bits_of(b), both = combine(&first, &second, how);

    if (a->base == BASE_NUMBER && b->base == BASE_NUMBER)
        return (struct code_value){state_wrapped(cpu, (int64_t)combined((uint64_t)a->k, (uint64_t)b->k, how)),
                                   BASE_NUMBER, false, 0, 0};
    return value_of(&both);
}

/* REG = BASE and MASK, a number: of those only what has some bits is followed. */
static struct code_value masked(const struct code_cpu *cpu, const struct code_value *value, int64_t mask)
{
    const struct code_value number = {mask, BASE_NUMBER, false, 0, 0};

    return cpu->banked && value->base == BASE_UNKNOWN ? combine_values(cpu, value, &number, CODE_AND)
                                                      : state_unknown;
}

/* REG is rounded down by an instruction. What is near SP may become SP; nothing is known of what is not on a stack. */
static void round_down(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    const unsigned reg = op->reg;

    if (op->k != 0 && reg != cpu->sp && has_bits(&state->reg[reg]))
        state->reg[reg] = masked(cpu, &state->reg[reg], op->k);
    else if (!code_is_on_stack(&state->reg[reg]))
        lose_count(cpu, state, reg);
    else if (reg == cpu->sp)
        state_move_sp(cpu, state);
    else
        state->reg[reg] = state_near;
}

/* The other one of the two names. */
static uint8_t other_name(uint8_t base)
{
    return (uint8_t)(base == BASE_TRAP ? BASE_CFA : base == BASE_CFA ? BASE_TRAP : base);
}

/* What VALUE of STATE and what OTHER has in the same place are both. Returns false if that is not known. Sets *LESS if
 * it was more before. An interrupt that has left SP alone has two names for the CFA, of which another one has one. */
static bool join_values(const struct code_state *state, const struct code_state *other, struct code_value *value,
                        const struct code_value *theirs, bool *less)
{
    uint8_t mine = value->base;

    if (state_same_value(value, theirs))
        return true;
    if (value->k != theirs->k || mine != other_name(theirs->base) || !(state->trap_is_cfa || other->trap_is_cfa))
        return false;
    if (state->trap_is_cfa)
        value->base = other->trap_is_cfa ? (uint8_t)BASE_CFA : theirs->base;
    *less |= value->base != mine;
    return true;
}

/* Whether there is one stack alone for what STATE and OTHER say. */
static bool has_one_stack(const struct code_state *state, const struct code_state *other)
{
    return state->switched == 0 && other->switched == 0 && state->caller == CALLER_KNOWN &&
           other->caller == CALLER_KNOWN;
}

/* As join_values, of two addresses on one stack: they are there, wherever that is. */
static bool join_near(const struct code_state *state, const struct code_state *other, struct code_value *value,
                      const struct code_value *theirs, bool *less)
{
    if (!code_is_on_stack(value) || !code_is_on_stack(theirs) || !has_one_stack(state, other))
        return false;
    *less |= value->base != BASE_NEAR;
    *value = state_near;
    return true;
}

bool state_same_stack(const struct code_value *a, const struct code_value *b)
{
    return a->base >= BASE_CFA && a->base <= BASE_TRAP && b->base >= BASE_CFA && b->base <= BASE_TRAP;
}

/* The slot of OTHER that MINE of STATE is, by another name; or NULL. MINE gets the name that both have. */
static const struct code_slot *find_renamed(const struct code_state *state, const struct code_state *other,
                                            struct code_slot *mine, bool *less)
{
    const uint8_t name = other_name(mine->base);
    const struct code_slot *theirs = name != mine->base ? state_find_slot(other, name, mine->k) : NULL;

    if (theirs == NULL || !(state->trap_is_cfa || other->trap_is_cfa))
        return NULL;
    if (!state->trap_is_cfa || (other->trap_is_cfa && mine->base == BASE_CFA))
        return theirs;
    if (state_find_slot(state, name, mine->k) != NULL)
        return NULL;
    mine->base = name;
    *less = true;
    return theirs;
}

/* Whether MINE and THEIRS, of one place, which differ, are a word that the frame is found by, or perhaps. */
static bool is_perhaps_word(const struct code_cpu *cpu, const struct code_slot *mine,
                            const struct code_slot *theirs)
{
    const struct code_value *a = &mine->value, *b = &theirs->value;

    return (is_perhaps(a) || is_perhaps(b)) && !code_is_gone(a) && !code_is_gone(b) &&
           is_own_word(cpu, mine->base, a) && is_own_word(cpu, theirs->base, b);
}

/* Whether MINE and THEIRS, or NULL, of one place, which differ, are lost as a word that the frame is found by: one way
 * has overwritten it. */
static bool is_lost_word(const struct code_cpu *cpu, const struct code_slot *mine, const struct code_slot *theirs)
{
    return code_is_gone(&mine->value) || (theirs != NULL && (is_own_word(cpu, mine->base, &mine->value) ||
                                                             is_own_word(cpu, theirs->base, &theirs->value)));
}

/* Words that are lost in OTHER are lost, too, where STATE does not know them. */
static bool join_lost_words(struct code_state *state, const struct code_state *other)
{
    bool less = false;
    unsigned i;

    for (i = 0; i < other->num && state->num < CODE_SLOTS; i++) {
        const struct code_slot *theirs = &other->slot[i];

        if (code_is_gone(&theirs->value) && state_find_slot(state, theirs->base, theirs->k) == NULL) {
            state->slot[state->num++] = *theirs;
            less = true;
        }
    }
    return less;
}

/* Joins the slots: those of STATE that OTHER does not have go. They are often in the same order. */
static bool join_slots(const struct code_cpu *cpu, struct code_state *state, const struct code_state *other)
{
    bool less = false;
    unsigned i = 0;

    while (i < state->num) {
        struct code_slot *mine = &state->slot[i];
        const struct code_slot *theirs = i < other->num && is_slot(&other->slot[i], mine->base, mine->k)
                                             ? &other->slot[i]
                                             : state_find_slot(other, mine->base, mine->k);

        if (theirs == NULL)
            theirs = find_renamed(state, other, mine, &less);
        if (theirs != NULL && (join_values(state, other, &mine->value, &theirs->value, &less) ||
                               join_near(state, other, &mine->value, &theirs->value, &less))) {
            i++;
            continue;
        }
        if (theirs != NULL && is_perhaps_word(cpu, mine, theirs)) {
            less |= !is_perhaps(&mine->value);
            mine->value = perhaps;
            i++;
            continue;
        }
        if (is_lost_word(cpu, mine, theirs)) {
            less |= !code_is_gone(&mine->value);
            mine->value = gone;
            i++;
            continue;
        }
        state_drop_slot(state, mine);
        less = true;
    }
    return join_lost_words(state, other) || less;
}

/* Takes the words that count from SP, which is not the same in STATE and in OTHER, out of STATE and into KEPT: those
 * that both have at the same distance from it. Returns how many. */
static unsigned take_near_sp(const struct code_cpu *cpu, struct code_state *state, const struct code_state *other,
                             struct code_slot *kept, bool *less)
{
    const struct code_value *sp = &state->reg[cpu->sp], *other_sp = &other->reg[cpu->sp];
    const bool follows = is_place(state, sp, 0) && is_place(other, other_sp, 0);
    unsigned i = 0, num = 0;

    while (i < state->num) {
        const struct code_slot *slot = &state->slot[i];
        const struct code_slot *theirs = NULL;
        bool same;

        if (follows && slot->base == sp->base)
            theirs = state_find_slot(other, other_sp->base, slot->k - sp->k + other_sp->k);
        same = theirs != NULL && slot->value.base != BASE_ALIGNED && state_same_value(&slot->value, &theirs->value);

        if (same)
            kept[num++] = (struct code_slot){slot->value, slot->k - sp->k, BASE_ALIGNED};
        if (slot->base != BASE_ALIGNED) {
            i++;
            continue;
        }
        *less |= !same;
        state_drop_slot(state, &state->slot[i]);
    }
    return num;
}

/* Whether VALUE, that of register REG, is not what REG had at the entry, and no address in the frame. A number in RA's
 * register is perhaps where a jump is to return to; and with 0 in FP a thread begins, whose code a function may have in
 * its middle, and which never comes to the end of that. */
static bool is_lost(const struct code_cpu *cpu, const struct code_value *value, unsigned reg)
{
    const bool is_number = value->base >= BASE_NUMBER && value->base <= BASE_INDEXED;

    return is_own_register(cpu, reg) && (code_is_gone(value) || value->base == BASE_WORD ||
                                         (is_number && (reg == cpu->sp || (reg == cpu->fp && value->k != 0))) ||
                                         (value->base == BASE_RETURN && reg == cpu->fp));
}

/* What two values of REG that differ are both. What is lost on one way is lost: a row is right for both, or it is none.
 * But from a call perhaps nobody comes back. */
static struct code_value join_other(const struct code_cpu *cpu, const struct code_value *a,
                                    const struct code_value *b, unsigned reg)
{
    const struct bits first = bits_of(a), second = bits_of(b);
    struct bits both = {first.zero & second.zero, first.one & second.one, first.same & second.same, false};

    if (state_same_value(a, &state_one_way) || state_same_value(b, &state_one_way))
        return state_one_way;
    if (!has_bits(a) && !has_bits(b))
        both = (struct bits){0, 0, 0, false};
    both.gone = (is_lost(cpu, a, reg) && !state_same_value(a, &called)) ||
                (is_lost(cpu, b, reg) && !state_same_value(b, &called));
    return value_of(&both);
}

/* Whether what MINE of register REG says is what THEIRS says, too, and stays so when both are joined. */
static bool is_joined(const struct code_cpu *cpu, const struct code_value *mine, const struct code_value *theirs,
                      unsigned reg)
{
    if (mine->base != BASE_UNKNOWN)
        return state_same_value(mine, theirs);
    return state_same_value(mine, &state_unknown) && !is_own_register(cpu, reg);
}

/* Joins the registers but for APART. */
static bool join_registers(const struct code_cpu *cpu, struct code_state *state, const struct code_state *other,
                           unsigned apart)
{
    bool less = false;
    unsigned i;

    for (i = 0; i < CODE_REGISTERS; i++) {
        struct code_value *value = &state->reg[i];

        if (i == apart || is_joined(cpu, value, &other->reg[i], i))
            continue;
        if (!join_values(state, other, value, &other->reg[i], &less) &&
            !join_near(state, other, value, &other->reg[i], &less)) {
            const struct code_value both = join_other(cpu, value, &other->reg[i], i);

            less |= !state_same_value(value, &both);
            *value = both;
        }
    }
    return less;
}

/* SP, which is not the same for both, gets a base of its own, and the NUM words of KEPT count from it. */
static bool part_sp(const struct code_cpu *cpu, struct code_state *state, const struct code_slot *kept,
                    unsigned num)
{
    const struct code_value before = state->reg[cpu->sp];
    unsigned i;

    state_align(cpu, state);
    state->has_parted = true;
    for (i = 0; i < num && state->num < CODE_SLOTS; i++)
        state->slot[state->num++] = kept[i];
    return !state_same_value(&before, &state->reg[cpu->sp]);
}

/* *MINE stays true where THEIRS is true, too. */
static bool join_both(bool *mine, bool theirs)
{
    const bool less = *mine && !theirs;

    *mine = *mine && theirs;
    return less;
}

/* *MINE becomes true where THEIRS is true: what has happened on one way may have happened. */
static bool join_either(bool *mine, bool theirs)
{
    const bool less = !*mine && theirs;

    *mine = *mine || theirs;
    return less;
}

/* ---- Where ways meet --------------------------------------------------------------------------------------------- */

/* Joins what is known besides registers and words. */
static bool join_rest(struct code_state *state, const struct code_state *other)
{
    bool less = false;

    less |= index_join(state, other);
    if (state->caller != other->caller && state->caller != CALLER_UNCERTAIN) {
        state->caller = CALLER_UNCERTAIN;
        less = true;
    }
    if (state->switched != other->switched && state->switched != CODE_MIXED) {
        state->switched =
            state->switched == 0 || other->switched == 0 ? state->switched | other->switched : CODE_MIXED;
        less = true;
    }
    if (state->mode != other->mode && state->mode != CODE_NONE) {
        state->mode = CODE_NONE;
        less = true;
    }
    if (other->left.base != BASE_UNKNOWN && !state_same_value(&state->left, &other->left) &&
        state->left.base != BASE_NEAR) {
        state->left = state->left.base == BASE_UNKNOWN ? other->left : state_near;
        less = true;
    }
    less |= join_both(&state->trap_is_cfa, other->trap_is_cfa);
    less |= join_both(&state->has_left, other->has_left);
    less |= join_either(&state->keeps_sp, other->keeps_sp);
    less |= join_either(&state->keeps_fp, other->keeps_fp);
    less |= join_either(&state->keeps_word, other->keeps_word);
    less |= join_either(&state->may_pop, other->may_pop);
    less |= join_either(&state->names, other->names);
    less |= join_both(&state->globals, other->globals);
    less |= join_both(&state->detours, other->detours);
    less |= join_both(&state->from_lower, other->from_lower);
    less |= join_both(&state->strays, other->strays);
    less |= join_both(&state->low_core, other->low_core);
    less |= join_either(&state->has_parted, other->has_parted);
    less |= join_either(&state->has_called, other->has_called);
    return less;
}

/* Whether FP is in the rounded part of the frame, at the same place for both, so that the frame is found by it. */
static bool is_framed(const struct code_cpu *cpu, const struct code_state *state, const struct code_state *other)
{
    const struct code_value *fp = &state->reg[cpu->fp];

    return fp->base == BASE_ALIGNED && state_same_value(fp, &other->reg[cpu->fp]);
}

bool code_join(const struct code_cpu *cpu, struct code_state *state, const struct code_state *other)
{
    const struct code_value *other_sp = &other->reg[cpu->sp];
    struct code_value sp = state->reg[cpu->sp];
    struct code_slot kept[CODE_SLOTS];
    const bool parted = state->has_parted;
    bool less = false;
    bool moved = state_same_stack(&sp, other_sp) && !is_framed(cpu, state, other) &&
                 !join_values(state, other, &sp, other_sp, &less);
    unsigned num = moved ? take_near_sp(cpu, state, other, kept, &less) : 0;

    less |= join_registers(cpu, state, other, moved ? cpu->sp : CODE_NONE);
    less |= join_slots(cpu, state, other);
    less |= moved && (part_sp(cpu, state, kept, num) || !parted);
    less |= join_rest(state, other);
    return less;
}

struct code_value code_evaluate(const struct code_state *state, const struct sfu_rule *rule)
{
    uint32_t reg = rule->control >> RULE_NUMBER;
    struct code_value value = {0, BASE_CFA, false, 0, 0};

    if (rule->control & RULE_REGISTER)
        value = reg < CODE_REGISTERS ? state->reg[reg] : state_unknown;
    if (value.base == BASE_UNKNOWN)
        return rule->control & RULE_DEREFERENCE && !code_is_gone(&value) ? state_unknown : value;
    if (rule->control & RULE_DEREFERENCE)
        return state_load(state, &value, rule->offset);
    code_move(&value, rule->offset);
    return value;
}

/* ---- What an instruction does ---------------------------------------------------------------------------------- */

/* SP has been BEFORE. What lies below it now is forgotten. */
static void sp_moved(const struct code_cpu *cpu, struct code_state *state, const struct code_value *before)
{
    const struct code_value *sp = &state->reg[cpu->sp];

    if (sp->base != before->base) {
        if (sp->base == BASE_CFA)
            drop_range(state, BASE_ALIGNED, INT64_MIN, INT64_MAX);
        if (sp->base > BASE_NEAR)
            leave_below(cpu, state, sp->base, sp->k);
    } else if (sp->k > before->k) {
        leave_below(cpu, state, sp->base, sp->k);
    }
}

/* The entry of a table ENTRY, with NUMBER added. SHIFT: it is extended and shifted before, CODE_ENTRY_...; or 0. */
static struct code_value case_of(const struct code_value *entry, const struct code_value *number, unsigned shift)
{
    struct code_value result = *entry;

    if (entry->width & CODE_ENTRY_COMPLETE || is_far(number->k) || is_far(entry->k))
        return state_unknown;
    result.add = (int32_t)(number->k - entry->k);
    result.width =
        (uint8_t)((shift != 0 ? (entry->width & CODE_ENTRY_SIZE) | shift : entry->width) | CODE_ENTRY_COMPLETE);
    return result.add != number->k - entry->k ? state_unknown : result;
}

/* An entry of WIDTH in the table that AT, BASE_INDEXED, + K is in. */
static struct code_value entry_of(const struct code_value *at, int64_t k, unsigned width)
{
    return (struct code_value){(int64_t)((uint64_t)at->k + (uint64_t)k), BASE_TABLE, false, (uint8_t)width, 0};
}

/* The lowest 32 bits of VALUE, with their sign: of an entry of four bytes, that is the entry with its sign. */
static struct code_value low_word(const struct code_value *value)
{
    struct code_value result = *value;

    if (value->base == BASE_NUMBER)
        result.k = (int32_t)(uint32_t)value->k;
    else if (value->base == BASE_TABLE && (value->width | CODE_ENTRY_SIGNED) == (4 | CODE_ENTRY_SIGNED))
        result.width = 4 | CODE_ENTRY_SIGNED;
    else
        result = state_unknown;
    return result;
}

static struct code_value sum(const struct code_value *a, const struct code_value *b, int64_t sign)
{
    struct code_value result = *a;

    if (sign > 0 && a->base == BASE_NUMBER && b->base == BASE_TABLE)
        return case_of(b, a, 0);
    if (sign > 0 && a->base == BASE_TABLE && b->base == BASE_NUMBER)
        return case_of(a, b, 0);
    if (code_is_on_stack(a) && b->base == BASE_UNKNOWN)
        return state_near;
    if (sign > 0 && a->base + b->base == BASE_NUMBER + BASE_UNKNOWN) {
        result.k = a->base == BASE_NUMBER ? a->k : b->k;
        result.base = BASE_INDEXED;
        return result;
    }
    if (sign > 0 && a->base == BASE_NUMBER && b->base > BASE_NEAR)
        return sum(b, a, sign);
    if (a->base == BASE_UNKNOWN || a->base == BASE_TABLE || b->base != BASE_NUMBER)
        return state_unknown;
    if (sign < 0 && b->k == INT64_MIN)
        return state_unknown;
    code_move(&result, sign < 0 ? -b->k : b->k);
    return result;
}

/* BASE + ENTRY, extended and shifted by HOW: an address of a table, or one in a table of which ENTRY is the index. */
static struct code_value scaled(const struct code_value *base, const struct code_value *entry, unsigned how)
{
    struct code_value result = *base;

    if (base->base == BASE_NUMBER && entry->base == BASE_TABLE)
        return case_of(entry, base, how);
    if (entry->base == BASE_NUMBER && how % CODE_ENTRY_SHIFT == 0 && how < 4 * CODE_ENTRY_SHIFT) {
        code_move(&result, (int64_t)((uint64_t)entry->k << how / CODE_ENTRY_SHIFT));
        return result;
    }
    if (base->base == BASE_NUMBER && entry->base == BASE_UNKNOWN) {
        result.base = BASE_INDEXED;
        return result;
    }
    return code_is_on_stack(base) ? state_near : state_unknown;
}

/* How many registers of the MASK are below REG. */
static unsigned num_below(uint32_t mask, unsigned reg)
{
    unsigned n = 0;

    for (mask &= (1u << reg) - 1; mask != 0; mask &= mask - 1)
        n++;
    return n;
}

/* The registers of MASK = the words at AT + K and behind it. */
static void load_many(const struct code_cpu *cpu, struct code_state *state, const struct code_value *at, int64_t k,
                      uint32_t mask)
{
    enum { ARM_PC = 15 };
    unsigned i;

    for (i = 0; i <= ARM_PC; i++)
        if (mask >> i & 1)
            state->reg[i == ARM_PC ? (unsigned)CODE_TARGET : i] =
                take(state, at, k + cpu->word * (int64_t)num_below(mask, i));
}

/* Whether nobody knows where register REG points: it is as it was at the entry, or that is not known either. */
static bool is_nowhere(const struct code_state *state, unsigned reg)
{
    const struct code_value value = state->names ? entry_value(reg) : state_unknown;

    return state->reg[reg].base == BASE_UNKNOWN || state_same_value(&state->reg[reg], &value);
}

/* An entry stores SP where REG points, and nobody knows where that is: that gets a name, so that the word is known when
 * it is read there again. It has the name alone. */
static void name_struct(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    unsigned i;

    if (!state_has_pc(cpu) || state->caller != CALLER_INTERRUPTED || state->has_called || op->base == cpu->sp ||
        op->base >= CODE_REAL || !is_nowhere(state, op->base) || op->last != op->reg ||
        !code_is_on_stack(&state->reg[op->reg]) || !state_same_value(&state->reg[op->reg], &state->reg[cpu->sp]))
        return;
    for (i = 0; i < CODE_REGISTERS; i++)
        if (state->reg[i].base == BASE_STRUCT)
            state->reg[i] = state_unknown;
    for (i = 0; i < state->num;)
        if (state->slot[i].value.base == BASE_STRUCT || state->slot[i].base == BASE_STRUCT)
            state_drop_slot(state, &state->slot[i]);
        else
            i++;
    state->reg[op->base] = (struct code_value){0, BASE_STRUCT, false, 0, 0};
}

/* How often OP is repeated: 1 if it is not, INT32_MAX for more, or -1 where that is not known. */
static int64_t times_of(const struct code_state *state, const struct code_op *op)
{
    const struct code_value *count = op->last != CODE_NONE ? &state->reg[op->last] : NULL;

    if (count == NULL)
        return 1;
    if (count->base != BASE_NUMBER)
        return -1;
    return count->k >= 0 && count->k < INT32_MAX ? count->k : INT32_MAX;
}

/* SIZE bytes at BASE + K get another value. x86: if the return address was among them, that is gone, even if nobody
 * knew any more that it was there. */
static void replace_bytes(const struct code_cpu *cpu, struct code_state *state, uint8_t base, int64_t k,
                          int64_t size)
{
    const int64_t at = cpu->ra_at_entry;

    write_slots(cpu, state, base, k, size, true);
    if (is_pushed_ra(cpu, state, base, at) && k < at + cpu->word && at < k + size &&
        state_find_slot(state, BASE_CFA, at) == NULL && state->num < CODE_SLOTS)
        state->slot[state->num++] = (struct code_slot){gone, at, BASE_CFA};
}

/* Memory at AT becomes unknown, as OP says. Of a repeated instruction whose direction is not known, both are taken: it
 * has perhaps overwritten what lies on either side. */
static void overwrite(const struct code_cpu *cpu, struct code_state *state, const struct code_value *at,
                      const struct code_op *op)
{
    const struct code_value *way = &state->reg[CODE_STATUS];
    const int64_t times = times_of(state, op), more = times > 1 ? (times - 1) * op->from : 0;
    const int64_t below = cpu->link || state_same_value(way, &upwards) ? 0 : more;
    const int64_t above = !cpu->link && state_same_value(way, &downwards) ? 0 : more;
    const int64_t size = below + op->from + above;
    const bool replaced = op->reg != 0 && times > 0;

    if (times == 0)
        return;
    if (!is_place(state, at, op->k)) {
        forget_struct(state);
        return;
    }
    forget_other_name(state, at);
    if (replaced)
        replace_bytes(cpu, state, at->base, at->k + op->k - below, size);
    else
        write_slots(cpu, state, at->base, at->k + op->k - below, size, false);
}

/* A register that nobody knows is moved up by a word, as functions of newer clangs for RISC-V move the pointer of their
 * shadow call stack. Elsewhere global data lies around that register (gp), and nobody moves it. */
static bool names_shadow(const struct code_cpu *cpu, const struct code_state *state, const struct code_op *op)
{
    return cpu->new_shadow != 0 && op->reg == cpu->new_shadow && op->base == op->reg && op->k == cpu->word &&
           state->reg[op->reg].base == BASE_UNKNOWN && state->caller == CALLER_KNOWN;
}

/* VALUE, which has some bits, in another register. */
static struct code_value without_gone(const struct code_value *value)
{
    struct bits bits = bits_of(value);

    bits.gone = false;
    return value_of(&bits);
}

/* REG = the value AT + K. What is gone stays so wherever it moves. */
static void set_value(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    struct code_value at = state->reg[op->base];

    if (names_shadow(cpu, state, op)) {
        at = entry_value(op->reg);
        drop_range(state, at.base, INT64_MIN, INT64_MAX);
    }
    code_move(&at, op->k);
    at.k = state_wrapped(cpu, at.k);
    if (has_bits(&at) && op->k == 0)
        state->reg[op->reg] = without_gone(&at);
    else if (at.base != BASE_UNKNOWN)
        state->reg[op->reg] = at.base != BASE_TABLE || op->k == 0 ? at : state_unknown;
    else if (op->base != op->reg || !code_is_gone(&at))
        state->reg[op->reg] = state_unknown;
}

/* REG moves as a string instruction moves it. */
static void stride(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    const struct code_value *way = &state->reg[CODE_STATUS];
    const int64_t times = times_of(state, op);
    const struct code_op set = {CODE_SET, op->reg, 0, op->reg, 0, way->k * times * op->k};

    if (way->base == BASE_NUMBER && times >= 0 && times < INT32_MAX && state->reg[op->reg].base != BASE_NEAR)
        set_value(cpu, state, &set);
    else
        state->reg[op->reg] = state_unknown;
}

/* BASE and LAST: where each bit of LAST is the same, that is BASE, or 0. An address of a stack, where a function
 * returns to and what its caller has in FP are not 0 in a program that goes on: so compilers make them useless if the
 * CPU runs ahead on a way that is none (clang's -mspeculative-load-hardening on aarch64). */
static void mask_value(struct code_state *state, const struct code_op *op)
{
    const bool is_mask = state_same_value(&state->reg[op->last], &all_or_none);

    state->reg[op->reg] =
        is_mask && state->reg[op->base].base != BASE_NUMBER ? state->reg[op->base] : state_unknown;
}

/* AT as where something is read: the sum of an address and an entry is a place in a table there, if that was an index,
 * as of what a byte of text leads to. */
static struct code_value as_place(struct code_value at)
{
    if (at.base == BASE_TABLE && (at.width & CODE_ENTRY_COMPLETE) != 0)
        return (struct code_value){(int64_t)((uint64_t)at.k + (uint64_t)at.add), BASE_INDEXED, false, 0, 0};
    return at;
}

/* An entry of the table that OP names. */
static struct code_value table_entry(const struct code_state *state, const struct code_op *op)
{
    struct code_value at = as_place(state->reg[op->base]);

    if ((op->from & UINT8_MAX) == CODE_NONE)
        return at.base == BASE_INDEXED ? entry_of(&at, op->k, op->last) : state_unknown;
    if (at.base != BASE_NUMBER)
        at = state->reg[op->from & UINT8_MAX];
    return at.base == BASE_NUMBER ? entry_of(&at, op->k, op->last) : state_unknown;
}

static void add_registers(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    struct code_value *reg = &state->reg[op->reg];
    const struct code_value *a = &state->reg[op->base], *b = &state->reg[op->last];
    struct code_value result;

    if (op->reg == cpu->sp && op->base == cpu->sp && a->base > BASE_NEAR && b->base != BASE_NUMBER) {
        state_move_sp(cpu, state); /* alloca: the same stack */
    } else {
        result = sum(a, b, op->k);
        if (state_same_value(&result, &state_unknown) && (op->base == op->reg || op->last == op->reg))
            lose_count(cpu, state, op->reg);
        else
            *reg = result;
    }
    reg->k = state_wrapped(cpu, reg->k);
}

static void load_row(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    const struct code_value at = as_place(state->reg[op->base]);
    unsigned i;

    for (i = op->reg; i <= op->last; i++)
        state->reg[i] = at.base == BASE_INDEXED ? entry_of(&at, op->k, cpu->word)
                                                : take(state, &at, op->k + cpu->word * (int64_t)(i - op->reg));
}

/* Notes that SP has been stored where no stack is known to be. */
static void store_row(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    struct code_value at;
    unsigned i;

    name_struct(cpu, state, op);
    at = state->reg[op->base];
    for (i = op->reg; i <= op->last; i++) {
        state_store(cpu, state, &at, op->k + cpu->word * (int64_t)(i - op->reg), &state->reg[i]);
        if ((at.base <= BASE_NEAR || at.base == BASE_STRUCT) && state->reg[i].base > BASE_NEAR &&
            state_same_value(&state->reg[i], &state->reg[cpu->sp])) {
            state->has_left = true;
            state->left = state->reg[cpu->sp];
        }
    }
}

static void store_many(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    const struct code_value at = state->reg[op->base];
    unsigned i;

    for (i = 0; i < CODE_REAL; i++)
        if ((uint32_t)op->from >> i & 1)
            state_store(cpu, state, &at, op->k + cpu->word * (int64_t)num_below((uint32_t)op->from, i),
                        &state->reg[i]);
}

/* REG, of which nothing but an entry's value or RA may have a signature, gets one or loses it. */
static void sign(struct code_value *reg, bool is_signed)
{
    if (reg->base >= BASE_RETURN && reg->is_signed != is_signed)
        reg->is_signed = is_signed;
    else if (!code_is_gone(reg))
        *reg = state_unknown;
}

/* REG = K if REG was a number. */
static void renumber(const struct code_cpu *cpu, struct code_value *reg, uint64_t k)
{
    reg->k = state_wrapped(cpu, (int64_t)k);
    if (reg->base != BASE_NUMBER)
        *reg = state_unknown;
}

/* VALUE, shifted to the right by K, 1 to 32, as HOW says. */
static uint32_t shifted_right(uint32_t value, int64_t k, int32_t how)
{
    const uint32_t low = k < 32 ? value >> k : 0, high = k < 32 ? UINT32_MAX << (32 - k) : UINT32_MAX;

    if (how == CODE_AROUND)
        return k < 32 ? low | value << (32 - k) : value;
    return how == CODE_RIGHT_SIGNED && value >> 31 != 0 ? low | high : low;
}

/* REG is shifted by K, as HOW says: a number, or, to the left, an entry of a table. */
static void shift(const struct code_cpu *cpu, struct code_value *reg, int64_t k, int32_t how)
{
    if (how != CODE_LEFT && reg->base == BASE_NUMBER)
        renumber(cpu, reg, shifted_right((uint32_t)reg->k, k, how));
    else if (how != CODE_LEFT)
        *reg = state_unknown;
    else if (reg->base != BASE_TABLE)
        renumber(cpu, reg, (uint64_t)reg->k << k);
    else if ((reg->width & CODE_ENTRY_COMPLETE) == 0 && reg->width / CODE_ENTRY_SHIFT + k <= 3)
        reg->width = (uint8_t)(reg->width + k * CODE_ENTRY_SHIFT);
    else
        *reg = state_unknown;
}

/* REG to LAST have what nobody knows. */
static void forget(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    unsigned i;

    for (i = op->reg; i <= op->last; i++) {
        state->keeps_word |= op->k == 0 && is_own_value(cpu, &state->reg[i]);
        state->reg[i] = op->k == CODE_BANKED && i == cpu->sp ? gone : state_unknown;
    }
}

/* REG by the bits of BASE and of LAST, or of K if there is no LAST. */
static void combine_bits(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    const struct code_value number = {op->k, BASE_NUMBER, false, 0, 0};
    const struct code_value *other = op->last != CODE_NONE ? &state->reg[op->last] : &number;
    const struct code_value result = combine_values(cpu, &state->reg[op->base], other, op->from);

    state->reg[op->reg] = op->reg != cpu->sp ? result : state_unknown;
}

/* What REG becomes by OP, which reads no other register. */
static void change_register(const struct code_cpu *cpu, struct code_value *reg, const struct code_op *op)
{
    switch ((enum code_do)op->what) {
    case CODE_NUMBER:
        *reg = (struct code_value){op->k, BASE_NUMBER, false, 0, 0};
        break;
    case CODE_ONES:
        *reg = all_or_none;
        break;
    case CODE_SIGN:
    case CODE_AUTH:
        sign(reg, op->what == CODE_SIGN);
        break;
    case CODE_INSERT:
        renumber(cpu, reg, code_insert((uint64_t)reg->k, op));
        break;
    case CODE_WORD:
        *reg = low_word(reg);
        break;
    case CODE_SHIFT:
        shift(cpu, reg, op->k, op->from);
        break;
    case CODE_BOUND: /* has been seen */
        break;
    default: /* CODE_FETCH */
        *reg = state_unknown;
        break;
    }
}

/* What registers become by OP, one that neither reads nor writes memory. */
static void transfer_register(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    struct code_value *reg = &state->reg[op->reg];

    switch ((enum code_do)op->what) {
    case CODE_SET:
        set_value(cpu, state, op);
        break;
    case CODE_SCALED:
        *reg = scaled(&state->reg[op->base], &state->reg[op->last], (unsigned)op->from);
        break;
    case CODE_SUM:
        add_registers(cpu, state, op);
        break;
    case CODE_STRIDE:
        stride(cpu, state, op);
        break;
    case CODE_MASK:
        mask_value(state, op);
        break;
    case CODE_FORGET:
        forget(cpu, state, op);
        break;
    case CODE_ALIGN:
        round_down(cpu, state, op);
        break;
    case CODE_BITS:
        combine_bits(cpu, state, op);
        break;
    case CODE_INDEX:
        if (op->last == 0 && op->from == 0 && op->k >= 0 && state->reg[op->base].base == BASE_NUMBER)
            *reg = (struct code_value){state->reg[op->base].k & op->k, BASE_NUMBER, false, 0, 0};
        else
            *reg = op->last == 0 && op->from == 0 ? masked(cpu, &state->reg[op->base], op->k) : state_unknown;
        break;
    default:
        change_register(cpu, reg, op);
        break;
    }
}

/* ARM: whether STATE is that of an exception's entry that has interrupted MODE, as far as the code says: it does
 * nothing with the SP of another mode. */
static bool is_of_mode(struct code_state *state, unsigned mode)
{
    if (state->caller != CALLER_INTERRUPTED || state->reg[CODE_OTHER_SP].base != BASE_CFA ||
        (mode != CODE_MODE_SVC && mode != CODE_MODE_SYS) || (state->mode != 0 && state->mode != mode))
        return false;
    state->mode = (uint8_t)mode;
    return true;
}

/* The mode becomes another one, and may have been FIQ mode, which has r8 to r12 of its own: those have what they had at
 * the entry, if nothing was put into them, and no copy of that is theirs. */
static void leave_banked(struct code_state *state)
{
    enum { FIRST = 8, LAST = 12 };
    unsigned reg, i = 0;

    for (reg = 0; reg < CODE_REAL; reg++) {
        const struct code_value own = entry_value(reg);
        const uint8_t base = state->reg[reg].base;
        const bool is_copy = base >= BASE_ENTRY + FIRST && base <= BASE_ENTRY + LAST;

        if ((is_copy || (reg >= FIRST && reg <= LAST)) && !state_same_value(&state->reg[reg], &own))
            state->reg[reg] = state_unknown;
    }
    while (i < state->num) {
        const uint8_t base = state->slot[i].value.base;

        if (base >= BASE_ENTRY + FIRST && base <= BASE_ENTRY + LAST)
            state->slot[i] = state->slot[--state->num];
        else
            i++;
    }
}

/* The mode becomes MODE. It may have been SVC mode before, too: then the SP that is taken is the one that is left, and
 * that must not have moved but by srs. */
static void take_mode(const struct code_cpu *cpu, struct code_state *state, unsigned mode)
{
    const struct code_value first = entry_value(cpu->sp);
    const bool moved = !state_same_value(&state->reg[cpu->sp], &first);
    const bool known = is_of_mode(state, mode) && (mode != CODE_MODE_SVC || !moved);

    state->reg[cpu->sp] = known ? state->reg[CODE_OTHER_SP] : state_unknown;
    state->reg[cpu->ra] = known ? entry_value(cpu->ra) : state_unknown;
    state->reg[CODE_OTHER_SP] = state_unknown;
    state->reg[CODE_STATUS] = state_unknown;
    leave_banked(state);
}

/* The mode with BITS, or 0: it is not known. */
static unsigned mode_of(const struct bits *bits)
{
    return (bits->zero | bits->one) == CODE_MODE_BITS ? bits->one : 0;
}

/* Whether the BITS of MASK are those of NOW. */
static bool has_same_bits(const struct bits *bits, const struct bits *now, uint32_t mask)
{
    return (((bits->zero & now->zero) | (bits->one & now->one) | (bits->same & now->same)) & mask) == mask;
}

/* What the mode is behind OP. */
static struct bits mode_behind(const struct code_state *state, const struct code_op *op)
{
    const struct code_value number = {op->reg, BASE_NUMBER, false, 0, 0};

    return bits_of(op->reg != CODE_NONE ? &number : &state->reg[op->base]);
}

/* Whether OP, CODE_MODE, leaves SP and LR: user mode has those of system mode. */
static bool keeps_mode(const struct code_state *state, const struct code_op *op)
{
    const struct bits mode = mode_behind(state, op), now = bits_of(&state->reg[CODE_NOW]);

    return has_same_bits(&mode, &now, CODE_MODE_BITS) ||
           ((mode_of(&mode) == CODE_MODE_USR || mode_of(&mode) == CODE_MODE_SYS) &&
            (mode_of(&now) == CODE_MODE_USR || mode_of(&now) == CODE_MODE_SYS));
}

/* Whether the mode is known to be another one behind OP, CODE_MODE. Of a mode that is not known nobody says that. */
static bool takes_other_mode(const struct code_state *state, const struct code_op *op)
{
    const struct bits mode = mode_behind(state, op);

    return !keeps_mode(state, op) && mode_of(&mode) != 0;
}

/* OP, CODE_MODE. */
static void change_mode(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    struct bits mode = mode_behind(state, op);

    if (takes_other_mode(state, op)) {
        take_mode(cpu, state, mode_of(&mode));
    } else if (!keeps_mode(state, op)) {
        state->reg[cpu->sp] = state->reg[cpu->ra] = state_unknown;
        state->reg[CODE_OTHER_SP] = state->reg[CODE_STATUS] = state_unknown;
    }
    mode.gone = false;
    state->reg[CODE_NOW] = value_of(&mode);
}

/* Whether OP, CODE_CONTROL, leaves SP: bit SPSEL is what it was, or 0 where nobody has another stack than that. */
static bool keeps_control(const struct code_state *state, const struct code_op *op)
{
    const struct bits control = bits_of(&state->reg[op->base]), now = bits_of(&state->reg[CODE_NOW]);

    return has_same_bits(&control, &now, CODE_SPSEL) || (op->k == 0 && (control.zero & now.same & CODE_SPSEL) != 0);
}

/* OP, CODE_CONTROL. Where SPSEL is restored, SP is the one of the entry. */
static void change_control(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    struct bits control = bits_of(&state->reg[op->base]);

    if (!keeps_control(state, op))
        state->reg[cpu->sp] = control.same & CODE_SPSEL ? state_unknown : gone;
    control.gone = false;
    state->reg[CODE_NOW] = value_of(&control);
}

/* srs. Where the mode's SP is not known, or may be the one that is in use, SP has no value any more. */
static void save_status(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    const struct code_value first = entry_value(cpu->sp);
    const struct code_value *at = &state->reg[CODE_OTHER_SP];
    const bool moved = !state_same_value(&state->reg[cpu->sp], &first);

    if (!is_of_mode(state, op->reg) || (op->reg == CODE_MODE_SVC && moved)) {
        state->reg[cpu->sp] = state->reg[CODE_OTHER_SP] = state_unknown;
        forget_struct(state);
        return;
    }
    state_store(cpu, state, at, op->k, &state->reg[cpu->ra]);
    state_store(cpu, state, at, op->k + cpu->word, &state->reg[CODE_STATUS]);
    code_move(&state->reg[CODE_OTHER_SP], op->from);
}

static void transfer(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    const struct code_value at = state->reg[op->base];

    switch ((enum code_do)op->what) {
    case CODE_TABLE:
        state->reg[op->reg] = table_entry(state, op);
        break;
    case CODE_LOAD:
        load_row(cpu, state, op);
        break;
    case CODE_LOADS:
        load_many(cpu, state, &at, op->k, (uint32_t)op->from);
        break;
    case CODE_STORE:
        store_row(cpu, state, op);
        break;
    case CODE_STORES:
        store_many(cpu, state, op);
        break;
    case CODE_WRITE:
        overwrite(cpu, state, &at, op);
        break;
    case CODE_COPY:
        copy(cpu, state, &at, op->k, &state->reg[op->reg], op->from, op->last + 1u);
        break;
    case CODE_MODE:
        change_mode(cpu, state, op);
        break;
    case CODE_CONTROL:
        change_control(cpu, state, op);
        break;
    case CODE_SAVE:
        save_status(cpu, state, op);
        break;
    default:
        transfer_register(cpu, state, op);
        break;
    }
}

/* Whether STATE says anything of BASE_TRAP. If it does not, and SP is the CFA, that is another name for it. */
static bool has_trap_name(const struct code_state *state)
{
    unsigned i;

    for (i = 0; i < CODE_REGISTERS; i++)
        if (state->reg[i].base == BASE_TRAP)
            return true;
    for (i = 0; i < state->num; i++)
        if (state->slot[i].base == BASE_TRAP || state->slot[i].value.base == BASE_TRAP)
            return true;
    return false;
}

/* Whether VALUE is what register REG has at the entry, or an address in the frame: SP, wherever that has moved, and FP
 * where the frame is found by it. */
static bool is_own(const struct code_cpu *cpu, const struct code_value *value, unsigned reg)
{
    if (reg == cpu->sp)
        return value->base == BASE_CFA;
    if (reg == cpu->fp && (value->base == BASE_CFA || value->base == BASE_ALIGNED))
        return true;
    return value->k == 0 && value->base == (reg == cpu->ra ? BASE_RETURN : BASE_ENTRY + reg);
}

/* Whether OP, which loads REG, takes it from a word in which the function in STATE has not saved it. What an epilogue
 * loads is in the frame, known or not. FP and RA are saved below the CFA: above it, if they have not been stored there,
 * are arguments, or it is a piece of another function that loads them (RISC-V, clang's -Oz). */
static bool loads_other(const struct code_cpu *cpu, const struct code_state *state, const struct code_op *op,
                        unsigned reg)
{
    const struct code_value *at = &state->reg[op->base];
    const bool many = op->what == CODE_LOADS;
    const unsigned before = many ? num_below((uint32_t)op->from, reg) : reg - op->reg;

    return !code_is_on_stack(at) ||
           (reg != cpu->sp && at->base == BASE_CFA && at->k + op->k + cpu->word * (int64_t)before >= 0);
}

static bool loads(const struct code_op *op, unsigned reg)
{
    return (op->what == CODE_LOAD && op->reg <= reg && op->last >= reg) ||
           (op->what == CODE_LOADS && reg < CODE_REAL && (uint32_t)op->from >> reg & 1);
}

/* Whether FACT may give REG, in STATE, what it had before that was gone: from the function's own frame or, if it has
 * been put there, from elsewhere. */
static bool may_give_back(const struct code_cpu *cpu, const struct code_state *state, const struct code_fact *fact,
                          unsigned reg)
{
    const bool kept = reg == cpu->sp ? state->keeps_sp : reg != cpu->fp || state->keeps_fp;
    bool may = false;
    unsigned i;

    for (i = 0; i < fact->num; i++) {
        const struct code_op *op = &fact->op[i];

        if (loads(op, reg))
            may = kept || !loads_other(cpu, state, op, reg);
        else if (op->what == CODE_SET && op->reg == reg && op->base != reg)
            may = kept;
    }
    return may;
}

/* Whether FACT gives REG a value that is not one of the frame in STATE, which holds in front of it. */
static bool replaces(const struct code_cpu *cpu, const struct code_state *state, const struct code_fact *fact,
                     unsigned reg)
{
    bool result = false;
    unsigned i;

    for (i = 0; i < fact->num; i++) {
        const struct code_op *op = &fact->op[i];

        switch ((enum code_do)op->what) {
        case CODE_SET:
        case CODE_SUM:
        case CODE_ONES:
        case CODE_MASK:
        case CODE_WORD:
        case CODE_TABLE:
        case CODE_SCALED:
        case CODE_INSERT:
        case CODE_SHIFT:
        case CODE_INDEX:
        case CODE_FETCH:
        case CODE_BITS:
            result |= op->reg == reg;
            break;
        case CODE_FORGET:
            if (op->reg <= reg && op->last >= reg)
                result = op->k != 0;
            break;
        case CODE_MODE: /* which has an SP and an LR of its own */
            result |= reg != cpu->fp && takes_other_mode(state, op);
            break;
        case CODE_CONTROL:
            result |= reg == cpu->sp && !keeps_control(state, op);
            break;
        case CODE_LOAD:
        case CODE_LOADS:
            if (loads(op, reg))
                result = loads_other(cpu, state, op, reg);
            break;
        default:
            break;
        }
    }
    return result;
}

/* REG, which was its own or lost, has what is not known. */
static void lose(struct code_value *reg)
{
    struct bits bits = bits_of(reg);

    bits.gone = true;
    if (has_bits(reg) || state_same_value(reg, &state_unknown))
        *reg = value_of(&bits);
}

/* Whether FACT has chosen, in STATE, which holds behind it, a mode whose SP may be that of the entry. */
static bool chooses_mode(const struct code_state *state, const struct code_fact *fact)
{
    const struct bits now = bits_of(&state->reg[CODE_NOW]);
    unsigned i;

    for (i = 0; i < fact->num; i++)
        if ((fact->op[i].what == CODE_MODE && mode_of(&now) != 0) ||
            (fact->op[i].what == CODE_CONTROL && (now.same & CODE_SPSEL) != 0))
            return true;
    return false;
}

bool state_takes_sp(const struct code_cpu *cpu, const struct code_op *op)
{
    if (op->what == CODE_LOAD)
        return op->reg <= cpu->sp && op->last >= cpu->sp;
    return op->what == CODE_SET && op->reg == cpu->sp && op->base != cpu->sp;
}

void code_step(const struct code_cpu *cpu, struct code_state *state, const struct code_fact *fact)
{
    struct code_value before = state->reg[cpu->sp];
    const unsigned own[] = {cpu->sp, cpu->fp, cpu->ra}, num_own = cpu->link ? 3 : 2;
    bool leaves[3] = {false, false, false};
    unsigned i;

    if (fact->compares)
        state->compared.num = 0;
    if (fact->mode != 0)
        state->mode = state->mode == 0 || state->mode == fact->mode ? fact->mode : CODE_NONE;
    if (fact->num == 0 && !cpu->link) /* registers and memory stay as they are */
        return;
    for (i = 0; i < num_own; i++)
        leaves[i] = is_lost(cpu, &state->reg[own[i]], own[i])
                        ? !may_give_back(cpu, state, fact, own[i])
                        : is_own(cpu, &state->reg[own[i]], own[i]) && replaces(cpu, state, fact, own[i]);

    for (i = 0; i < fact->num; i++) {
        index_follow(cpu, state, &fact->op[i]);
        transfer(cpu, state, &fact->op[i]);
        state->may_pop &= !state_takes_sp(cpu, &fact->op[i]);
        if (state->reg[cpu->sp].base == BASE_NEAR)
            state_move_sp(cpu, state);
        if (state->reg[cpu->sp].base == BASE_STRUCT)
            state->reg[cpu->sp] = state_unknown;
    }
    if (state->reg[cpu->sp].base == BASE_TABLE || state->reg[cpu->sp].base == BASE_INDEXED)
        state->reg[cpu->sp] = gone; /* a stack of several */
    for (i = 0; i < num_own; i++)
        if (leaves[i])
            lose(&state->reg[own[i]]);
    if (leaves[0] && chooses_mode(state, fact))
        state->reg[cpu->sp] = of_mode;
    if (cpu->link && state->caller == CALLER_INTERRUPTED && state->reg[cpu->sp].base == BASE_CFA &&
        !has_trap_name(state))
        state->trap_is_cfa = true;
    if (!state_same_value(&before, &state->reg[cpu->sp])) {
        sp_moved(cpu, state, &before);
        state->has_left = false;
    }
}

bool state_pops_arguments(const struct code_unit *unit)
{
    return unit->odd && unit->popped > 1 && unit->popped != POPPED_MIXED;
}

/* What FP is behind a call of CALLEE, which returns with another one on some way or on all, if SP is at BEFORE. */
static struct code_value fp_behind(const struct code_cpu *cpu, const struct code_value *before,
                                   const struct code_unit *callee)
{
    struct code_value fp = *before;

    if (!callee->frames || before->base <= BASE_NEAR)
        return callee->keeps_fp ? state_unknown : gone;
    code_move(&fp, callee->framed - (cpu->link ? cpu->sp_at_entry : 0));
    return fp;
}

/* A call is over: of a shadow call stack the words are left that this function has put below its pointer. All else is
 * the callee's, or no such stack, but global data. */
static void keep_shadow(struct code_state *state, uint8_t reg)
{
    const uint8_t base = (uint8_t)(BASE_ENTRY + reg);
    const struct code_value *at = &state->reg[reg];

    if (reg == 0)
        return;
    drop_range(state, base, INT64_MIN, 0);
    drop_range(state, base, at->base == base && at->k > 0 ? at->k : 0, INT64_MAX);
}

/* An interrupt's entry may hand the callee SP in a register, as it was before something else was pushed. Several such
 * addresses do not tell where the stack is left. */
static void note_handed(const struct code_cpu *cpu, struct code_state *state)
{
    const struct code_value *sp = &state->reg[cpu->sp];
    struct code_value handed = state_unknown;
    unsigned i;

    if (state->caller != CALLER_INTERRUPTED || state->left.base != BASE_UNKNOWN || sp->base <= BASE_NEAR)
        return;
    for (i = 0; i < CODE_REAL; i++) {
        const struct code_value *reg = &state->reg[i];

        if (!(cpu->changed >> i & 1) || reg->base != sp->base)
            continue;
        if (state_same_value(reg, sp))
            return;
        handed = handed.base == BASE_UNKNOWN || state_same_value(&handed, reg) ? *reg : state_near;
    }
    state->left = handed;
}

void code_after_call(const struct code_cpu *cpu, struct code_state *state, const struct code_unit *callee)
{
    struct code_value *sp = &state->reg[cpu->sp];
    const struct code_value before = *sp;
    unsigned i;

    note_handed(cpu, state);
    if (!cpu->link && sp->base > BASE_NEAR) /* where the callee returns to */
        replace_bytes(cpu, state, sp->base, sp->k - cpu->word, cpu->word);
    if (callee != NULL && state_pops_arguments(callee) && sp->base > BASE_NEAR)
        code_move(sp, callee->popped - 1);
    else if (callee != NULL && callee->odd)
        *sp = state_unknown;

    for (i = 0; i < CODE_REGISTERS; i++)
        if (cpu->changed >> i & 1) {
            state->keeps_word |= i != cpu->ra && is_own_value(cpu, &state->reg[i]);
            state->reg[i] = state_unknown;
        }
    index_drop_all(state, cpu->changed | (uint64_t)1 << CODE_TARGET);
    if (cpu->link)
        state->reg[cpu->ra] = called;
    else
        state->reg[CODE_STATUS] = state_same_value(&state->reg[CODE_STATUS], &downwards) ? state_unknown : upwards;
    state->reg[CODE_TARGET] = state_unknown;
    state->has_called = true;
    state->compared.num = 0;
    index_drop_places(state);
    if (sp->base > BASE_NEAR)
        leave_below(cpu, state, sp->base, sp->k);
    keep_shadow(state, cpu->shadow);
    keep_shadow(state, cpu->new_shadow);
    drop_range(state, BASE_NUMBER, INT64_MIN, INT64_MAX); /* another interrupt may have come */
    forget_struct(state);
    if (callee != NULL && callee->spoils)
        state->reg[cpu->fp] = fp_behind(cpu, &before, callee);
}

void code_hold(const struct code_cpu *cpu, struct code_state *held, const struct code_state *state,
               const struct code_unit *callee)
{
    state_copy(held, state);
    code_after_call(cpu, held, callee);
    held->reg[cpu->sp] = state->reg[cpu->sp];
}
