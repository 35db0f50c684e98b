/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What registers of the CPU get (VBAR_EL1, stvec and mtvec, LSTAR) and s390x's new PSWs are entries of interrupts and
 * system calls without a trial, and no functions, whatever their CFI says.
 */
#include "vectors.h"
#include "kinds.h"
#include "units.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Registers of the CPU -------------------------------------------------------------------------------------- */

enum { VBAR, TVEC, LSTAR, SYSENTER, NEW_PSW, GATE };

static void note_vector(struct code *code, unsigned what, uint64_t addr, uint64_t by)
{
    struct code_unit *unit = what == GATE ? code_unit_at(code, addr) : NULL;
    size_t i;

    if (unit != NULL && unit->is_gate)
        return;
    if (unit != NULL)
        unit->is_gate = true;
    for (i = 0; i < code->num_vectors && what != GATE; i++)
        if (code->vectors[i].addr == addr && code->vectors[i].what == what)
            return;
    code->vectors = grow(code->vectors, code->num_vectors, sizeof *code->vectors);
    code->vectors[code->num_vectors++] = (struct code_vector){addr, by, (uint8_t)what, false, false};
}

/* x86: EAX, EDX and ECX by their numbers, and registers that say where programs enter; s390x: where new PSWs are. */
enum { AMD64_RAX, AMD64_RDX, AMD64_RCX, FIRST_PSW = 0x1a0, LAST_PSW = 0x200 };
enum { I386_EAX, I386_ECX, I386_EDX };
static const uint32_t msr_sysenter = 0x176, msr_lstar = 0xc0000082, msr_cstar = 0xc0000083;

static bool is_i386(const struct code *code)
{
    return code->image->abi == SFU_I386;
}

/* wrmsr writes EDX and EAX to the register ECX. Code that shifts an address for EDX has all of it in RAX. */
static void note_msr(struct code *code, uint64_t pc, const struct code_state *state)
{
    const struct code_value *low = &state->reg[is_i386(code) ? I386_EAX : AMD64_RAX],
                            *high = &state->reg[is_i386(code) ? I386_EDX : AMD64_RDX],
                            *number = &state->reg[is_i386(code) ? I386_ECX : AMD64_RCX];
    const uint32_t msr = (uint32_t)number->k;
    uint64_t addr = (uint64_t)low->k;

    if (number->base != BASE_NUMBER || low->base != BASE_NUMBER)
        return;
    if (is_i386(code))
        addr &= UINT32_MAX;
    else if (high->base == BASE_NUMBER)
        addr = (uint64_t)high->k << 32 | (addr & UINT32_MAX);
    if (msr == msr_sysenter)
        note_vector(code, SYSENTER, addr, pc);
    else if (!is_i386(code) && (msr == msr_lstar || msr == msr_cstar))
        note_vector(code, LSTAR, addr, pc);
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

/* ---- x86's gates ----------------------------------------------------------------------------------------------- */

/* Whether the image has lidt: it sets up exceptions. Data may have the same bytes. */
static bool has_lidt(struct code *code)
{
    size_t i;
    uint64_t at;

    for (i = 0; i < code->image->num_code; i++) {
        const struct section *section = code->image->code[i];
        const uint8_t *p = image_instructions(code->image, section->addr, section->size);

        for (at = 0; p != NULL && at + 3 <= section->size; at++)
            if (p[at] == 0x0f && p[at + 1] == 0x01 && (p[at + 2] >> 3 & 7) == 3 && p[at + 2] >> 6 != 3)
                return true;
    }
    return false;
}

static bool may_write_gates(struct code *code)
{
    if (!code->gates_asked && (code->image->abi == SFU_AMD64 || is_i386(code)))
        code->has_gates = has_lidt(code);
    code->gates_asked = true;
    return code->has_gates;
}

/* The register that the instruction at P, of SIZE bytes, shifts to the right by 16: its DWARF number, or CODE_NONE. */
static unsigned halved_register(const struct code *code, const uint8_t *p, unsigned size)
{
    static const uint8_t numbers[] = {0, 2, 1, 3, 7, 6, 4, 5};
    const bool has_rex = !is_i386(code) && size == 4 && (*p & 0xf0) == 0x40;
    const uint8_t *op = p + has_rex;
    const unsigned reg = has_rex && (*p & 1) ? 8 : 0;

    if (size != 3u + has_rex || op[0] != 0xc1 || op[1] >> 6 != 3 || (op[1] >> 3 & 5) != 5 || op[2] != 16)
        return CODE_NONE;
    return is_i386(code) ? op[1] & 7u : reg != 0 ? reg + (op[1] & 7u) : numbers[op[1] & 7];
}

/* The start of the unit that VALUE is, or 0. */
static uint64_t start_in(const struct code *code, const struct code_value *value)
{
    const uint64_t wide = is_i386(code) ? (uint32_t)value->k : (uint64_t)value->k;
    const uint64_t addrs[] = {wide, is_i386(code) ? wide : (uint64_t)(int64_t)(int32_t)value->k};
    unsigned i;

    for (i = 0; i < 2 && value->base == BASE_NUMBER; i++) {
        const struct code_unit *unit = code_unit_at(code, addrs[i]);

        if (unit != NULL && unit->start == addrs[i])
            return addrs[i];
    }
    return 0;
}

/* A gate has its address in halves: what shifts the address of code by 16 bits puts it into one. */
static void note_gate(struct code *code, uint64_t pc, const struct code_fact *fact, const struct code_state *state)
{
    const uint8_t *p = fact->size == 3 || fact->size == 4 ? image_instructions(code->image, pc, fact->size) : NULL;
    const unsigned reg = p != NULL ? halved_register(code, p, fact->size) : (unsigned)CODE_NONE;
    const uint64_t addr = reg != CODE_NONE ? start_in(code, &state->reg[reg]) : 0;

    if (addr != 0)
        note_vector(code, GATE, addr, pc);
}

/* Whether a register or a word has the address of code, which a callee may get. */
static bool hands_address(const struct code *code, const struct code_state *state)
{
    unsigned i;

    for (i = 0; i < CODE_REAL; i++)
        if (start_in(code, &state->reg[i]) != 0)
            return true;
    for (i = 0; i < state->num; i++)
        if (start_in(code, &state->slot[i].value) != 0)
            return true;
    return false;
}

/* Follows CALL, or a jump in its place, in front of which FROM holds, as far as a function goes that fills a gate, or
 * one that it calls. */
static void follow_call(struct code *code, const struct code_state *from, const struct code_fact *call)
{
    enum { MOST = 64, DEPTH = 2 };
    const struct code_cpu *cpu = code->cpu;
    struct code_fact fact = *call;
    struct code_state state;
    uint64_t back[DEPTH], next = 0, pc;
    unsigned depth = 0, i;

    state = *from;
    for (i = 0; i < MOST; i++) {
        if (fact.flow == CODE_CALL && fact.target != 0 && depth < DEPTH) {
            back[depth++] = next;
            code_move(&state.reg[cpu->sp], -cpu->word);
            pc = fact.target;
        } else if (fact.flow == CODE_CALL) {
            code_after_call(cpu, &state, NULL);
            pc = next;
        } else if (fact.flow == CODE_RETURN && depth > 1) {
            code_move(&state.reg[cpu->sp], cpu->word + fact.pops);
            pc = back[--depth];
        } else if (fact.flow == CODE_NEXT || fact.flow == CODE_BRANCH) {
            pc = next;
        } else if (fact.flow == CODE_JUMP) {
            pc = fact.target;
        } else {
            return;
        }
        if (!unit_fact_at(code, pc, &fact))
            return;
        note_gate(code, pc, &fact, &state);
        code_step(cpu, &state, &fact);
        next = pc + fact.size;
    }
}

static void note_gates(struct code *code, uint64_t pc, const struct code_fact *fact, const struct code_state *state)
{
    if (!may_write_gates(code))
        return;
    note_gate(code, pc, fact, state);
    if ((fact->flow == CODE_CALL || (fact->flow == CODE_JUMP && code_begins_function(code, fact->target))) &&
        fact->target != 0 && hands_address(code, state))
        follow_call(code, state, fact);
}

bool code_is_gate(const struct code *code, uint64_t addr)
{
    const struct code_unit *unit = code_unit_at(code, addr);

    return unit != NULL && unit->start == addr && unit->is_gate;
}

/* ---- x86's gates that are filled from tables ------------------------------------------------------------------- */

/* Objects of data, by their symbols, in order. LEFT: how many words are still read at all. */
struct objects {
    struct object {
        uint64_t addr, size;
    } * list;
    size_t num;
    unsigned left;
};

static void note_object(void *ctx, const GElf_Sym *sym, const char *name)
{
    struct objects *objects = ctx;

    (void)name;
    if (GELF_ST_TYPE(sym->st_info) != STT_OBJECT || sym->st_size == 0 || sym->st_shndx == SHN_UNDEF)
        return;
    objects->list = grow(objects->list, objects->num, sizeof *objects->list);
    objects->list[objects->num++] = (struct object){sym->st_value, sym->st_size};
}

/* The object that ADDR is in, or ends: clang counts up to the end of a table. */
static const struct object *find_object(const struct objects *objects, uint64_t addr)
{
    size_t below =
        count_up_to(objects->list, objects->num, sizeof *objects->list, offsetof(struct object, addr), addr);
    const struct object *object = below > 0 ? &objects->list[below - 1] : NULL;

    return object != NULL && addr - object->addr <= object->size ? object : NULL;
}

/* How far a unit is from the code that puts an address, which it does not know, into a gate: in calls, + 1; or 0. */
enum { FILLS = 1, FILLS_LAST = 3 };

/* How far the jump at P, where SIZE bytes of code are, leads from its own end, *LENGTH bytes behind P; 0: no jump. */
static int64_t jump_at(const uint8_t *p, uint64_t size, unsigned *length)
{
    const unsigned opcode = p[0] == 0x0f ? 2 : 1;

    *length = opcode + 1;
    if (size >= *length && (p[0] >> 4 == 7 || p[0] == 0xeb || (p[0] & 0xfc) == 0xe0))
        return (int8_t)p[1];
    *length = opcode + 4;
    if (size >= *length && (p[0] == 0xe9 || (p[0] == 0x0f && p[1] >> 4 == 8)))
        return (int32_t)(uint32_t)load_number(p + opcode, 4, false);
    return 0;
}

/* Whether a jump in code of SIZE bytes at P leads from behind END, an offset, back over what ends there, as at the end
 * of a loop. */
static bool is_in_loop(const uint8_t *p, uint64_t size, uint64_t end)
{
    enum { TAIL = 96 };
    const uint64_t last = size - end > TAIL ? end + TAIL : size;
    bool found = false;
    uint64_t i;

    for (i = end; i < last && !found; i++) {
        unsigned length;
        const int64_t by = jump_at(p + i, size - i, &length), to = (int64_t)(i + length) + by;

        found = by < 0 && to >= 0 && (uint64_t)to < end;
    }
    return found;
}

/* Whether the code of UNIT shifts an address by 16 bits, and on x86_64 by 32, too, as code does that puts it into a
 * gate. *LOOP_END is the offset behind the last such shift by 16 that is in a loop, or 0. */
static bool fills_gate(const struct code *code, const struct code_unit *unit, uint64_t *loop_end)
{
    const uint8_t *p = image_instructions(code->image, unit->start, unit->end - unit->start);
    const uint64_t size = p != NULL ? unit->end - unit->start : 0;
    bool low = false, high = is_i386(code);
    uint64_t i;

    *loop_end = 0;
    for (i = 0; i + 3 <= size; i++)
        if (p[i] == 0xc1 && p[i + 1] >> 6 == 3 && (p[i + 1] >> 3 & 5) == 5) { /* shr or sar of a register */
            high |= p[i + 2] == 32;
            low |= p[i + 2] == 16;
            if (p[i + 2] == 16 && is_in_loop(p, size, i + 3))
                *loop_end = i + 3;
        }
    return low && high;
}

/* The unit that the call, or the jump in the place of one, at offset I of UNIT's code at P goes to; or NULL. */
static const struct code_unit *called_at(const struct code *code, const struct code_unit *unit, const uint8_t *p,
                                         uint64_t i)
{
    const int64_t by = (int32_t)(uint32_t)load_number(p + i + 1, 4, false);
    const uint64_t to = unit->start + i + 5 + (uint64_t)by;
    const struct code_unit *callee = p[i] == 0xe8 || p[i] == 0xe9 ? code_unit_at(code, to) : NULL;

    return callee != NULL && callee->start == to ? callee : NULL;
}

/* Marks in FAR the units that call those that are NEAR. */
static void mark_callers(const struct code *code, uint8_t *far, uint8_t near)
{
    size_t i;

    for (i = 0; i < code->num_calls; i++)
        if (far[code->calls[i].callee] == near && far[code->calls[i].caller] == 0)
            far[code->calls[i].caller] = (uint8_t)(near + 1);
}

/* The address of code that is the word at ADDR of data, or 0. */
static uint64_t code_at(const struct code *code, uint64_t addr)
{
    const unsigned word = code->cpu->word;
    const uint8_t *p = image_bytes(code->image, addr, word);
    const uint64_t to = p != NULL ? load_number(p, word, false) : 0;

    return to != 0 && image_code(code->image, to) != NULL ? to : 0;
}

/* Notes TO as what an entry of a gate's table has, if a unit begins there. */
static void note_of_table(struct code *code, uint64_t to, uint64_t by)
{
    const struct code_unit *unit = to != 0 ? code_unit_at(code, to) : NULL;

    if (unit != NULL && unit->start == to)
        note_vector(code, GATE, to, by);
}

/* Notes the functions whose addresses are in the object of data that ADDR is at the start or end of, or at the other
 * members of its first element; or, without a symbol, in words around ADDR: at least two of them, with no more than
 * MOST_BETWEEN other words from one to the next. */
static void note_table(struct code *code, struct objects *objects, uint64_t addr, uint64_t by)
{
    enum { MOST = 1024, MOST_BETWEEN = 4, AT_START = 4 };
    const struct object *object = find_object(objects, addr);
    const unsigned word = code->cpu->word;
    uint64_t at = object != NULL ? object->addr : addr, first = 0;
    unsigned i, between = 0;

    if (object != NULL && addr - object->addr > AT_START * word && addr - object->addr < object->size)
        return;
    for (i = 0; i < MOST && object == NULL && objects->left > 0 && code_at(code, at - word) != 0; i++) {
        at -= word;
        objects->left--;
    }
    for (i = 0; i < MOST && (object != NULL ? at - object->addr < object->size : between <= MOST_BETWEEN); i++) {
        const uint64_t to = objects->left > 0 ? code_at(code, at) : 0;

        if (objects->left == 0)
            return;
        objects->left--;
        at += word;
        between = to != 0 ? 0 : between + 1;
        if (to == 0)
            continue;
        if (first != 0)
            note_of_table(code, first, by);
        if (first != 0 || object != NULL)
            note_of_table(code, to, by);
        first = to;
    }
}

/* Whether ADDR is in data of the image, or where it ends. */
static bool is_in_data(const struct code *code, uint64_t addr)
{
    struct image *image = code->image;

    return (image_bytes(image, addr, 1) != NULL || image_bytes(image, addr - 1, 1) != NULL) &&
           image_code(image, addr) == NULL;
}

/* Notes the tables whose addresses the instruction has that ends with the 4 bytes at offset I of UNIT's code at P: as a
 * number of 32 bits or, behind a ModRM byte that says so, counted from the PC. */
static void note_tables_at(struct code *code, struct objects *objects, const struct code_unit *unit,
                           const uint8_t *p, uint64_t i)
{
    const int64_t number = (int32_t)(uint32_t)load_number(p + i, 4, false);
    const uint64_t by = unit->start + i, addr = is_i386(code) ? (uint32_t)number : (uint64_t)number;

    if (addr % 4 == 0 && is_in_data(code, addr))
        note_table(code, objects, addr, by);
    if (is_i386(code) || i == 0 || (p[i - 1] & 0xc7) != 5)
        return;
    if ((by + 4 + (uint64_t)number) % 4 == 0 && is_in_data(code, by + 4 + (uint64_t)number))
        note_table(code, objects, by + 4 + (uint64_t)number, by);
}

/* The offset behind the last place in UNIT's code, of SIZE bytes at P, where a loop fills gates itself or calls what is
 * NEAR, by its number among FAR; or 0. */
static uint64_t find_loop_end(const struct code *code, const struct code_unit *unit, const uint8_t *p,
                              uint64_t size, const uint8_t *far, uint8_t near)
{
    uint64_t i, end = 0;

    if (near == 0)
        (void)fills_gate(code, unit, &end);
    for (i = 0; near != 0 && i + 5 <= size; i++) {
        const struct code_unit *callee = called_at(code, unit, p, i);

        if (callee != NULL && far[callee - code->units] == near && is_in_loop(p, size, i + 5))
            end = i + 5;
    }
    return end;
}

/* Notes the tables that UNIT goes through in a loop that fills gates, or hands to what does: its next call is one of
 * that. */
static void note_tables(struct code *code, struct objects *objects, const uint8_t *far,
                        const struct code_unit *unit)
{
    enum { COMPARES = 16 }; /* behind what the loop is for: with the end of the table */
    const uint8_t *p = image_instructions(code->image, unit->start, unit->end - unit->start);
    const uint64_t size = p != NULL ? unit->end - unit->start : 0;
    const uint8_t near = (uint8_t)(far[unit - code->units] - 1);
    const uint64_t loop_end = find_loop_end(code, unit, p, size, far, near);
    bool hands = false;
    uint64_t i;

    for (i = size; i-- > 0;) {
        const struct code_unit *callee = i + 5 <= size ? called_at(code, unit, p, i) : NULL;

        if (callee != NULL)
            hands = near != 0 && far[callee - code->units] == near;
        if (i + 4 <= size && (hands || (loop_end != 0 && i < loop_end + COMPARES)))
            note_tables_at(code, objects, unit, p, i);
    }
}

/* The same of the gates that code fills from tables. */
static void find_tables_of_gates(struct code *code)
{
    struct objects objects = {NULL, 0, 1u << 18};
    uint8_t *far = zeroed(code->num_units, sizeof *far), near;
    uint64_t loop_end;
    size_t i;

    for (i = 0; i < code->num_units; i++)
        far[i] = fills_gate(code, &code->units[i], &loop_end) ? FILLS : 0;
    for (near = FILLS; near < FILLS_LAST; near++)
        mark_callers(code, far, near);
    image_each_symbol(code->image, SHT_SYMTAB, note_object, &objects);
    put_in_order(objects.list, objects.num, sizeof *objects.list, by_first_number);
    for (i = 0; i < code->num_units; i++)
        if (far[i] != 0)
            note_tables(code, &objects, far, &code->units[i]);
    free(objects.list);
    free(far);
}

/* ---- 32-bit ARM's vectors, of the A and R profiles ------------------------------------------------------------- */

/* Where the instruction at ADDR jumps, if it is `b` or loads the PC from a word beside itself, in A32 or T32 code; or
 * 0. Mapping symbols, which say which of the two it is, may be gone. */
static uint64_t arm_jump(struct code *code, uint64_t addr)
{
    const uint8_t *p = image_instructions(code->image, addr, 4);
    const uint32_t word = p != NULL ? (uint32_t)load_number(p, 4, false) : 0, low = word & 0xffff,
                   high = word >> 16;
    const uint32_t sign = low >> 10 & 1, j1 = ~(high >> 13 ^ sign) & 1, j2 = ~(high >> 11 ^ sign) & 1;
    const uint32_t far = sign << 24 | j1 << 23 | j2 << 22 | (low & 1023) << 12 | (high & 2047) << 1;
    const uint64_t pc = (addr + 4) & ~(uint64_t)3; /* of T32 */
    uint64_t from = 0;

    if (word >> 24 == 0xea) /* b */
        return (uint32_t)(addr + 8 + ((word & 0xffffff) ^ 0x800000) * 4 - 0x800000u * 4);
    if ((low & 0xf800) == 0xf000 && (high & 0xd000) == 0x9000) /* b.w */
        return (uint32_t)(addr + 4 + (far ^ 1u << 24) - (1u << 24));
    if ((word & 0xff7ff000) == 0xe51ff000) /* ldr pc, [pc, #...] */
        from = (word >> 23 & 1) != 0 ? addr + 8 + (word & 4095) : addr + 8 - (word & 4095);
    else if ((low & 0xff7f) == 0xf85f && high >> 12 == 15) /* ldr.w pc, [pc, #...] */
        from = (low >> 7 & 1) != 0 ? pc + (high & 4095) : pc - (high & 4095);
    p = from != 0 ? image_instructions(code->image, from, 4) : NULL;
    return p != NULL ? (uint32_t)load_number(p, 4, code->image->big) & ~(uint32_t)1 : 0;
}

/* Whether the vectors of a CPU are at ADDR. Those of a reserved exception, and of FIQ, may be anything else. */
static bool are_arm_vectors(struct code *code, uint64_t addr)
{
    enum { RESERVED = 5, IRQ = 6, WORD = 4 };
    unsigned n;

    for (n = 0; n <= IRQ; n++)
        if (n != RESERVED && arm_jump(code, addr + n * WORD) == 0)
            return false;
    return true;
}

/* What the vector at BY leads to is no called function: nor is what that jumps to before it does anything else, as the
 * linker's glue between A32 and T32 code does. */
static void note_arm_vector(struct code *code, uint64_t to, uint64_t by)
{
    enum { MOST = 8 };
    const struct code_unit *unit = code_unit_at(code, to);
    struct code_state state;
    struct code_fact fact;
    unsigned i;

    code_entry(code->cpu, &state);
    if (unit != NULL && unit->start == to)
        note_vector(code, GATE, to, by);
    for (i = 0; i < MOST; i++) {
        const struct code_text text = unit_text_at(code, to);

        memset(&fact, 0, sizeof fact);
        if (text.bytes != NULL && to % code->cpu->align == 0)
            code->cpu->decode(code->decoder, &text, to, &fact);
        if (fact.size == 0 || fact.condition != 0)
            return;
        code_step(code->cpu, &state, &fact);
        to += fact.size;
        if (fact.flow == CODE_NEXT)
            continue;
        if (fact.flow != CODE_JUMP && (fact.flow != CODE_AWAY || state.reg[CODE_TARGET].base != BASE_NUMBER))
            return;
        to = fact.flow == CODE_JUMP ? fact.target : unit_address_of(code->cpu, &state.reg[CODE_TARGET]);
        to &= ~(uint64_t)code->cpu->mode;
        unit = code_unit_at(code, to);
        if (unit != NULL && unit->start == to && code_is_entry(code->cpu, &state))
            note_vector(code, GATE, to, by);
    }
}

static void find_arm_vectors(struct code *code)
{
    enum { SLOTS_OF_ARM = 8, ALIGN = 32 };
    size_t i;
    unsigned n;

    for (i = 0; i < code->image->num_code; i++) {
        const struct section *section = code->image->code[i];
        const uint64_t end = section->addr + section->size;
        uint64_t at = (section->addr + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);

        for (; at < end && end - at >= ALIGN; at += ALIGN)
            for (n = are_arm_vectors(code, at) ? 1 : SLOTS_OF_ARM; n < SLOTS_OF_ARM; n++)
                note_arm_vector(code, arm_jump(code, at + n * 4), at + n * 4);
    }
}

void code_find_gates(struct code *code)
{
    if (code->gates_found)
        return;
    code->gates_found = true;
    if (may_write_gates(code))
        find_tables_of_gates(code);
    else if (code->image->header.e_machine == EM_ARM && !code->image->m_profile)
        find_arm_vectors(code);
}

const char *code_why_gate(const struct code *code)
{
    return code->image->header.e_machine == EM_ARM
               ? "the CPU's vectors lead to it, and its code does not show where it returns to"
               : "its address is put into a gate, and its code does not show whether the CPU has pushed an error "
                 "code";
}

/* ---- Who sets them ---------------------------------------------------------------------------------------------- */

/* Whether FACT may be one of an instruction that sets such a register: of those little or nothing is known. */
static bool may_set_vector(const struct code *code, const struct code_fact *fact)
{
    if (code->image->abi == SFU_AMD64 || is_i386(code))
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

    note_gates(code, pc, fact, state);
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
    } else if ((code->image->abi == SFU_AMD64 || is_i386(code)) && p[0] == 0x0f && p[1] == 0x30) { /* wrmsr */
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
    const struct section *section = image_code(image, addr);
    const uint64_t left = section != NULL ? section->size - (addr - section->addr) : 0;
    const unsigned size = left < SLOT ? (unsigned)left : SLOT; /* the code of the last slot may end the section */
    const uint8_t *bytes = image_instructions(image, addr, size);
    unsigned i;

    for (i = 0; bytes != NULL && i + 4 <= size; i += 4) {
        const uint32_t word = (uint32_t)load_number(bytes + i, 4, false);

        if (word != 0xd503201f && word != 0 && word != 0x14000000)
            return true;
    }
    return false;
}

/* Whether a function that is not a slot begins in slot N, at ADDR, or an object that is longer: other code has taken
 * the place of the last slots of a kernel without programs. Behind the code of the very last one anything may begin. */
static bool is_taken(const struct image *image, uint64_t addr, unsigned n)
{
    const uint64_t end = n == SLOTS - 1 ? addr + 1 : addr + SLOT;
    size_t i = count_up_to(image->symbols, image->num_symbols, sizeof *image->symbols,
                           offsetof(struct symbol, addr), addr - 1);

    for (; i < image->num_symbols && image->symbols[i].addr < end; i++)
        if (image->symbols[i].function && (image->symbols[i].addr != addr || image->symbols[i].size > SLOT))
            return true;
    return false;
}

/* How many slots are at ADDR, which VBAR is set to. */
static unsigned num_slots(const struct image *image, uint64_t addr)
{
    unsigned n = 0;

    while (addr % (SLOTS * SLOT) == 0 && n < SLOTS && (n == 0 || !is_taken(image, addr + n * SLOT, n)))
        n++;
    return n;
}

/* At the first four the CPU has left SP_EL0 for another SP. The last eight are of lower exception levels: the SP of a
 * program is in SP_EL0. */
static enum code_kind kind_of_slot(unsigned n)
{
    return n < 4 ? CODE_SP0 : n < 8 ? CODE_TRAP : CODE_LOWER;
}

void code_enter_slots(struct code *code, const struct code_how *how, uint64_t addr, const char *why)
{
    const unsigned num = num_slots(code->image, addr);
    unsigned n;

    for (n = 0; n < num; n++)
        if (image_code(code->image, addr + n * SLOT) != NULL && is_used(code->image, addr + n * SLOT))
            code_enter(code, how, addr + n * SLOT, kind_of_slot(n), why);
}

bool code_has_slots(struct code *code, uint64_t addr)
{
    unsigned n;

    if (addr % (SLOTS * SLOT) != 0 || code->image->header.e_machine != EM_AARCH64)
        return false;
    for (n = 0; n < SLOTS; n++)
        if (is_used(code->image, addr + n * SLOT) && code_is_kind(code, addr + n * SLOT, CODE_TRAP))
            return true;
    return false;
}

enum code_kind code_kind_of_slot(const struct code *code, uint64_t addr)
{
    size_t i;

    for (i = 0; i < code->num_vectors; i++) {
        const struct code_vector *v = &code->vectors[i];

        if (v->what != VBAR || addr < v->addr || addr % SLOT != 0)
            continue;
        if ((addr - v->addr) / SLOT < num_slots(code->image, v->addr))
            return kind_of_slot((unsigned)((addr - v->addr) / SLOT));
    }
    return CODE_KINDS;
}

/* ---- Vectors --------------------------------------------------------------------------------------------------- */

/* RISC-V: BASE has its mode in its low bits. One with vectors has a jump for each interrupt. */
static void enter_tvec(struct code *code, const struct code_how *how, uint64_t base)
{
    const uint64_t addr = base & ~(uint64_t)3;
    unsigned n;

    for (n = 0; n < ((base & 3) == 1 ? 64u : 1u); n++) {
        const struct code_text text = unit_text_at(code, addr + 4 * n);
        struct code_fact fact;

        memset(&fact, 0, sizeof fact);
        if (text.bytes != NULL)
            code->cpu->decode(code->decoder, &text, addr + 4 * n, &fact);
        if (fact.size == 0 || (n > 0 && fact.flow != CODE_JUMP))
            return;
        code_enter(code, how, addr + 4 * n,
                   code_kind_of_trap(code, (base & 3) == 1 && fact.flow == CODE_JUMP ? fact.target : addr),
                   (base & 3) == 1 ? "stvec or mtvec is set to the vectors there" : "stvec or mtvec is set to it");
    }
}

void code_enter_vector(struct code *code, const struct code_how *how, const struct code_vector *v)
{
    const struct code_unit *unit = code_unit_at(code, v->addr);

    switch (v->what) {
    case VBAR:
        code_enter_slots(code, how, v->addr, "VBAR is set to the vectors there");
        break;
    case TVEC:
        enter_tvec(code, how, v->addr);
        break;
    case LSTAR: /* a symbol of a kernel at a high address has these low bits */
        if (unit != NULL)
            code_enter(code, how, v->addr, CODE_SYSCALL, "LSTAR or CSTAR is set to it");
        break;
    case GATE: /* it does not show what the CPU pushes there */
        break;
    case SYSENTER:
        if (unit != NULL)
            code_enter(code, how, v->addr, CODE_START, "sysenter leads there, which keeps neither the PC nor SP");
        break;
    default:
        code_enter(code, how, v->addr, CODE_TRAP, "a new PSW is set to it");
        break;
    }
}

void code_mark_vectors(const struct code *code, bool *from)
{
    size_t i;
    unsigned n;

    for (i = 0; i < code->num_vectors; i++) {
        const struct code_vector *v = &code->vectors[i];
        const uint64_t addr = v->what == TVEC ? v->addr & ~(uint64_t)3 : v->addr;
        const unsigned num = v->what == VBAR ? num_slots(code->image, addr) : v->what == GATE ? 0 : 1;

        for (n = 0; n < num; n++) {
            const struct code_unit *unit = code_unit_at(code, addr + n * SLOT);

            if (unit != NULL && unit->start == addr + n * SLOT)
                from[unit - code->units] = true;
        }
    }
}

/* ---- x86_64: from 32-bit code ---------------------------------------------------------------------------------- */

/* Whether nothing leads from the code at ADDR back to who was there before. A jump into 64-bit code that goes back to
 * it is one of a thunk, which 64-bit code has called. */
static bool leads_nowhere_back(struct code *code, uint64_t addr)
{
    struct code_ends ends;

    code_try_seen(code, addr, CODE_CALLED, &ends);
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
        const uint64_t to = modes_far_target(code->image, bytes + i, i, size - i);
        const uint64_t addr = to != 0 ? modes_linked_at(code->image, to) : 0;
        const struct code_unit *target = to != 0 ? code_unit_at(code, addr) : NULL;

        if (target == NULL || target->fde != NULL || code_has_row(target, addr) ||
            code_has_row(unit, unit->start + i + 4) || code_is_given(how, addr) || !leads_nowhere_back(code, addr))
            continue;
        code_enter(code, how, addr, CODE_START, "a far jump of 32-bit code leads there");
        any = true;
    }
    return any;
}

bool code_enter_64_bits(struct code *code, const struct code_how *how)
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
