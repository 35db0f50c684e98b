/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "index.h"

#include <string.h>

enum { MOST_BELOW = UINT16_MAX, MOST_UP = 63 };

/* REG has another value than its twins from now on. */
static void leave_twins(struct code_state *state, unsigned reg)
{
    const uint8_t twin = state->index[reg].twin;
    uint8_t next = 0;
    unsigned i;

    state->index[reg].twin = 0;
    for (i = reg + 1; twin == reg + 1 && i < CODE_INDICES; i++)
        if (state->index[i].twin == twin) {
            next = next != 0 ? next : (uint8_t)(i + 1);
            state->index[i].twin = next;
        }
}

/* Nothing is known of the index REG, which is another one. */
static void put_index(struct code_state *state, unsigned reg, const struct code_index *index)
{
    if (state->index[reg].twin != 0)
        leave_twins(state, reg);
    state->index[reg] = *index;
    state->index[reg].twin = 0;
    state->compared.regs &= ~((uint64_t)1 << reg);
}

static const struct code_index no_index;

static void drop_place(struct code_state *state, unsigned i)
{
    if (state->place[i].bytes == 0)
        return;
    put_index(state, CODE_PLACE + i, &no_index);
    state->place[i].bytes = 0;
}

void index_drop_places(struct code_state *state)
{
    unsigned i;

    for (i = 0; i < CODE_PLACES; i++)
        drop_place(state, i);
}

void index_drop(struct code_state *state, unsigned reg)
{
    unsigned i;

    put_index(state, reg, &no_index);
    for (i = 0; i < CODE_PLACES; i++)
        if (state->place[i].base == reg)
            drop_place(state, i);
}

void index_drop_all(struct code_state *state, uint64_t regs)
{
    uint8_t lowest[CODE_REGISTERS] = {0}; /* of what has been the twin of each: the first one that is left, + 1 */
    unsigned i;

    for (i = 0; i < CODE_PLACES; i++)
        if (regs >> state->place[i].base & 1)
            drop_place(state, i);
    for (i = 0; i < CODE_INDICES; i++) {
        const uint8_t twin = state->index[i].twin;

        if (i < CODE_REGISTERS && (regs >> i & 1) != 0) {
            state->index[i] = no_index;
        } else if (twin != 0 && twin <= CODE_REGISTERS && (regs >> (twin - 1) & 1) != 0) {
            if (lowest[twin - 1] == 0)
                lowest[twin - 1] = (uint8_t)(i + 1);
            state->index[i].twin = lowest[twin - 1];
        }
    }
    state->compared.regs &= ~regs;
}

/* REG gets INDEX, which is not that of another register. */
static void set_index(struct code_state *state, unsigned reg, struct code_index index)
{
    index_drop(state, reg);
    index.twin = 0;
    state->index[reg] = index;
}

void index_forget_twins(struct code_state *state)
{
    unsigned i;

    index_drop_places(state);
    for (i = 0; i < CODE_REGISTERS; i++)
        if (state->index[i].below != 0 || state->index[i].fits != 0)
            state->index[i].twin = 0;
        else
            state->index[i] = no_index;
}

void index_forget(struct code_state *state)
{
    memset(state->index, 0, sizeof state->index);
    memset(state->place, 0, sizeof state->place);
    state->compared.num = 0;
}

void index_copy(struct code_state *state, unsigned reg, unsigned from)
{
    const unsigned low = reg < from ? reg : from;
    uint8_t twin;
    unsigned i;

    if (reg == from)
        return;
    index_drop(state, reg);
    twin = state->index[from].twin;
    if (twin == 0)
        state->index[from].twin = (uint8_t)(low + 1);
    for (i = 0; twin > low + 1 && i < CODE_INDICES; i++)
        if (state->index[i].twin == twin)
            state->index[i].twin = (uint8_t)(low + 1);
    state->index[reg] = state->index[from];
    if (state->compared.regs >> from & 1)
        state->compared.regs |= (uint64_t)1 << reg;
}

/* REG, and what has its value, a bit each. */
static uint64_t twins_of(const struct code_state *state, unsigned reg)
{
    uint64_t mask = (uint64_t)1 << reg;
    unsigned i;

    for (i = 0; state->index[reg].twin != 0 && i < CODE_INDICES; i++)
        if (state->index[i].twin == state->index[reg].twin)
            mask |= (uint64_t)1 << i;
    return mask;
}

uint32_t index_bound(const struct code_index *index)
{
    return index->of_table && index->bits == 0 && index->up == 0 ? index->below : 0;
}

/* The number of entries, each of SIZE bytes, up to the highest one that INDEX leads to; or that at the distance INDEX.
 * 0: it is not known. */
static uint32_t num_entries(const struct code_index *index, unsigned size, bool is_number)
{
    enum { TOP = 16 };
    uint64_t last;

    if (index->below == 0 || index->bits != 0 || index->up > TOP || size == 0)
        return 0;
    last = ((uint64_t)index->below - 1) << index->up;
    last = is_number ? last : last / size;
    return last < MOST_BELOW ? (uint32_t)last + 1 : 0;
}

void index_take_bound(struct code_state *state, bool less)
{
    const struct code_compared *c = &state->compared;
    const uint32_t below = c->num - (less ? 1 : 0);
    unsigned i;

    if (c->num == 0 || below == 0 || below > MOST_BELOW)
        return;
    for (i = 0; i < CODE_INDICES; i++) {
        struct code_index *index = &state->index[i];
        const bool all = c->bits == 0 || (index->fits != 0 && index->fits <= c->bits);
        const bool is_better = index->bits != 0 || index->up != 0 || below < index->below;

        if ((c->regs >> i & 1) == 0 || index->of_table || (index->below != 0 && !(all && is_better)))
            continue;
        index->below = (uint16_t)below;
        index->up = 0;
        index->bits = all ? 0 : c->bits;
    }
}

void code_take_check(struct code_state *state, const struct code_fact *fact, bool there)
{
    const bool is_there = (fact->checks & CODE_CHECKS_THERE) != 0, less = (fact->checks & CODE_CHECKS_LESS) != 0;

    if (fact->checks != 0 && (is_there != state->compared.is_first) == there)
        index_take_bound(state, less != state->compared.is_first);
}

/* OP compares. */
static void compare(struct code_state *state, const struct code_op *op)
{
    const struct code_value *reg = &state->reg[op->reg];
    const struct code_value number = {op->k, BASE_NUMBER, false, 0, 0};
    const struct code_value *last = op->last == CODE_NONE ? &number : &state->reg[op->last];
    const bool is_first = last->base != BASE_NUMBER;
    const struct code_value *num = is_first ? reg : last;

    state->compared.num = 0;
    if (num->base != BASE_NUMBER || num->k < 0 || num->k >= MOST_BELOW)
        return;
    state->compared = (struct code_compared){twins_of(state, is_first ? op->last : op->reg), (uint32_t)num->k + 1,
                                             (uint8_t)op->from, is_first};
}

/* The place I is PLACE, of which nothing is known yet. */
static void put_place(struct code_state *state, unsigned i, const struct code_place *place)
{
    drop_place(state, i);
    state->place[i] = *place;
    state->last_place = (uint8_t)i;
}

/* Whether the place I is compared or has a bound: a jump may ask for it. */
static bool is_asked(const struct code_state *state, unsigned i)
{
    const bool is_compared = state->compared.num != 0 && (state->compared.regs >> (CODE_PLACE + i) & 1) != 0;

    return state->place[i].bytes != 0 && (is_compared || state->index[CODE_PLACE + i].below != 0);
}

/* The place that another one replaces: one of which nothing is asked; else the one that was put there first. */
static unsigned old_place(const struct code_state *state)
{
    const unsigned last = state->last_place, first = (last + 1u) % CODE_PLACES;

    return is_asked(state, first) && !is_asked(state, last) ? last : first;
}

/* In how many bits what is read fits that has BYTES; or 0, where code_index need not say. */
static uint8_t bits_of(unsigned bytes)
{
    return (uint8_t)(bytes <= 2 ? 8 * bytes : 0);
}

/* REG = what is at PLACE. */
static void fetch_index(struct code_state *state, unsigned reg, const struct code_place *place)
{
    unsigned i;

    for (i = 0; i < CODE_PLACES; i++) {
        const struct code_place *other = &state->place[i];

        if (other->bytes == place->bytes && other->base == place->base && other->k == place->k &&
            other->scale == place->scale)
            break;
    }
    if (i == CODE_PLACES) {
        i = old_place(state);
        put_place(state, i, place);
        state->index[CODE_PLACE + i].fits = bits_of(place->bytes);
    }
    index_copy(state, reg, CODE_PLACE + i);
}

/* The word at PLACE = REG. */
static void store_index(struct code_state *state, unsigned reg, const struct code_place *place)
{
    index_drop_places(state);
    put_place(state, 0, place);
    index_copy(state, CODE_PLACE, reg);
}

/* INDEX to the left by UP. */
static struct code_index moved_up(const struct code_index *index, unsigned up)
{
    struct code_index result = *index;

    result.fits = 0;
    result.up = (uint8_t)(index->up + up);
    return index->below == 0 || index->bits != 0 || index->of_table || index->up + up > MOST_UP ? no_index : result;
}

/* OP, a CODE_INDEX: the lower bits of a register, to the left and to the right. Where that is all of it, it is a copy.
 */
static void take_index(struct code_state *state, const struct code_op *op)
{
    const struct code_index *from = &state->index[op->base];
    const uint64_t mask = (uint64_t)op->k;
    const unsigned bits = mask == UINT8_MAX ? 8 : mask == UINT16_MAX ? 16 : 0;
    struct code_index index = *from;

    if (op->last == 0 && op->from == 0 &&
        (mask >= UINT32_MAX || (bits != 0 && from->fits != 0 && from->fits <= bits))) {
        index_copy(state, op->reg, op->base);
        return;
    }
    if (index.of_table || index.up != 0 || (index.bits != 0 && (bits == 0 || bits > index.bits)))
        index.below = 0;
    if (mask >= UINT32_MAX && !from->of_table && from->bits == 0)
        index = *from;
    else
        index.bits = 0;
    index.fits = (uint8_t)bits;
    index.of_table = false;
    if (index.below != 0 && op->last != 0)
        index = moved_up(&index, op->last);
    if (index.below != 0 && op->from != 0)
        index.below = index.up >= op->from ? index.below : 0;
    index.up = (uint8_t)(index.below != 0 ? index.up - op->from : 0);
    set_index(state, op->reg, index);
}

/* REG = an entry or an address in a table, of which NUM are within bounds. */
static void set_bound(struct code_state *state, unsigned reg, uint32_t num)
{
    set_index(state, reg, (struct code_index){(uint16_t)num, 0, 0, 0, 0, num != 0});
}

/* How many entries of the table that OP, a CODE_TABLE, reads from are within bounds; or 0. */
static uint32_t table_bound(const struct code_state *state, const struct code_op *op)
{
    const uint8_t other = (uint8_t)(op->from & UINT8_MAX), number = (uint8_t)(op->from >> 8);
    const unsigned size = op->last & CODE_ENTRY_SIZE;
    const uint8_t distance = state->reg[op->base].base == BASE_NUMBER ? other : op->base;

    if (other == CODE_NONE)
        return state->index[op->base].of_table && state->reg[op->base].base == BASE_INDEXED
                   ? num_entries(&state->index[op->base], size, false)
                   : 0;
    if (number != CODE_NONE)
        return state->index[number].of_table ? 0 : num_entries(&state->index[number], size, true);
    return state->index[distance].of_table ? 0 : num_entries(&state->index[distance], size, false);
}

/* REG = a number + OTHER, which is an index or has been read from a table or is an address in one. */
static void add_index(struct code_state *state, unsigned reg, unsigned other, unsigned up)
{
    const uint8_t base = state->reg[other].base;
    struct code_index index = state->index[other];

    if (base == BASE_UNKNOWN && !index.of_table && up != 0)
        index = moved_up(&index, up);
    if ((base != BASE_UNKNOWN || index.of_table) && (base == BASE_UNKNOWN || !index.of_table))
        index = no_index;
    index.of_table = index.below != 0;
    set_index(state, reg, base > BASE_INDEXED ? no_index : index);
}

/* OP is a sum. */
static void sum_index(struct code_state *state, const struct code_op *op)
{
    const bool first = state->reg[op->base].base == BASE_NUMBER, second = state->reg[op->last].base == BASE_NUMBER;

    if (op->k > 0 && first != second)
        add_index(state, op->reg, first ? op->last : op->base, 0);
    else
        index_drop(state, op->reg);
}

/* Memory is read by OP. */
static void load_index(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    const uint8_t at = state->reg[op->base].base;
    const uint32_t num = at == BASE_INDEXED && state->index[op->base].of_table
                             ? num_entries(&state->index[op->base], cpu->word, false)
                             : 0;
    unsigned i;

    if (op->reg == op->last && at != BASE_INDEXED && at != BASE_TABLE && op->reg != op->base) {
        fetch_index(state, op->reg, &(struct code_place){op->k, op->base, cpu->word, 0});
        return;
    }
    for (i = op->reg; i <= op->last; i++)
        set_bound(state, i, op->reg == op->last ? num : 0);
}

/* OP, a CODE_TABLE: an entry of a table, or less than a word from anywhere. */
static void entry_index(struct code_state *state, const struct code_op *op)
{
    const uint8_t base = state->reg[op->base].base, index = (uint8_t)(op->from >> 8);
    const uint8_t size = op->last & CODE_ENTRY_SIZE;
    const bool is_signed = (op->last & CODE_ENTRY_SIGNED) != 0;

    if ((op->from & UINT8_MAX) != CODE_NONE || base == BASE_INDEXED || base == BASE_TABLE) {
        const uint32_t num = table_bound(state, op);

        if (num == 0 && op->base == CODE_ZERO && !is_signed && index < CODE_REGISTERS && index != op->reg)
            fetch_index(state, op->reg, &(struct code_place){op->k, index, size, size});
        else
            set_bound(state, op->reg, num);
    } else if (op->reg == op->base || (is_signed && size < 4)) {
        index_drop(state, op->reg);
    } else {
        fetch_index(state, op->reg, &(struct code_place){op->k, op->base, size, 0});
    }
}

/* OP gives one register another value, and does nothing else. */
static void follow_register(struct code_state *state, const struct code_op *op)
{
    const uint8_t base = op->base < CODE_REGISTERS ? state->reg[op->base].base : (uint8_t)BASE_UNKNOWN;

    switch ((enum code_do)op->what) {
    case CODE_SET:
        if (op->k == 0)
            index_copy(state, op->reg, op->base);
        else
            set_index(state, op->reg, base == BASE_INDEXED ? state->index[op->base] : no_index);
        break;
    case CODE_TABLE:
        entry_index(state, op);
        break;
    case CODE_SCALED:
        if (base == BASE_NUMBER)
            add_index(state, op->reg, op->last, (unsigned)op->from / CODE_ENTRY_SHIFT % 4);
        else
            index_drop(state, op->reg);
        break;
    case CODE_SUM:
        sum_index(state, op);
        break;
    case CODE_MASK:
        set_index(state, op->reg, state->index[op->base]);
        break;
    case CODE_SHIFT:
        if (op->from != CODE_LEFT)
            index_drop(state, op->reg);
        else if (state->reg[op->reg].base != BASE_TABLE)
            set_index(state, op->reg, moved_up(&state->index[op->reg], (unsigned)op->k));
        break;
    case CODE_INDEX:
        take_index(state, op);
        break;
    case CODE_FETCH:
        if (op->reg != op->base)
            fetch_index(state, op->reg, &(struct code_place){op->k, op->base, op->last, (uint8_t)op->from});
        else
            set_index(state, op->reg, (struct code_index){0, 0, 0, bits_of(op->last), 0, false});
        break;
    case CODE_WORD:
        break;
    default:
        index_drop(state, op->reg);
        break;
    }
}

/* A word below SP is written. Returns whether a place is left: none that may be on the stack that SP is on, for all
 * that is known of its register, because below SP there is none to which others have an address. */
static bool keep_places(const struct code_cpu *cpu, struct code_state *state)
{
    bool is_left = false;
    unsigned i;

    for (i = 0; i < CODE_PLACES; i++) {
        const struct code_place *place = &state->place[i];

        if (place->bytes == 0)
            continue;
        if (place->base == cpu->sp || code_is_on_stack(&state->reg[place->base]))
            drop_place(state, i);
        else
            is_left = true;
    }
    return is_left;
}

void index_follow(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op)
{
    enum { ARM_PC = 15 };
    unsigned i;

    switch ((enum code_do)op->what) {
    case CODE_LOAD:
        load_index(cpu, state, op);
        break;
    case CODE_LOADS:
        for (i = 0; i <= ARM_PC; i++)
            if ((uint32_t)op->from >> i & 1)
                index_drop(state, i == ARM_PC ? (unsigned)CODE_TARGET : i);
        break;
    case CODE_FORGET:
        for (i = op->reg; i <= op->last; i++)
            index_drop(state, i);
        break;
    case CODE_STORE:
        if (op->base == cpu->sp && op->k < 0 && keep_places(cpu, state))
            break;
        if (op->reg == op->last)
            store_index(state, op->reg, &(struct code_place){op->k, op->base, cpu->word, 0});
        else
            index_drop_places(state);
        break;
    case CODE_STORES:
    case CODE_WRITE:
    case CODE_COPY:
        index_drop_places(state);
        break;
    case CODE_MODE: /* FIQ mode has registers of its own */
    case CODE_CONTROL:
        index_forget(state);
        break;
    case CODE_SAVE:
        index_drop_places(state);
        index_drop(state, cpu->sp);
        index_drop(state, cpu->ra);
        index_drop(state, CODE_OTHER_SP);
        index_drop(state, CODE_STATUS);
        break;
    case CODE_BOUND:
        compare(state, op);
        break;
    default:
        follow_register(state, op);
        break;
    }
}

/* What MINE says of a bound, and THEIRS, too. */
static bool join_bound(struct code_index *mine, const struct code_index *theirs)
{
    const bool is_kept = theirs->below != 0 && mine->up == theirs->up && mine->bits == theirs->bits &&
                         mine->of_table == theirs->of_table;
    const bool less = !is_kept || mine->below < theirs->below;

    if (!is_kept)
        *mine = (struct code_index){0, 0, 0, mine->fits, 0, false};
    else if (less)
        mine->below = theirs->below;
    return less;
}

/* What MINE says of an index, and THEIRS, too. */
static bool join_index(struct code_index *mine, const struct code_index *theirs)
{
    bool less = mine->below != 0 && join_bound(mine, theirs);

    if (mine->fits != 0 && (theirs->fits == 0 || theirs->fits > mine->fits)) {
        mine->fits = theirs->fits;
        less = true;
    }
    return less;
}

/* Joins what was compared. */
static bool join_compared(struct code_compared *mine, const struct code_compared *theirs)
{
    const struct code_compared before = *mine;

    if (mine->num != theirs->num || mine->bits != theirs->bits || mine->is_first != theirs->is_first)
        mine->num = 0;
    mine->regs &= theirs->regs;
    return mine->num != before.num || (mine->num != 0 && mine->regs != before.regs);
}

bool index_join(struct code_state *state, const struct code_state *other)
{
    bool less = join_compared(&state->compared, &other->compared);
    unsigned i;

    index_drop_places(state);
    for (i = 0; i < CODE_REGISTERS; i++)
        if (state->index[i].below != 0 || state->index[i].fits != 0) {
            state->index[i].twin = 0;
            less |= join_index(&state->index[i], &other->index[i]);
        } else {
            state->index[i] = no_index;
        }
    return less;
}
