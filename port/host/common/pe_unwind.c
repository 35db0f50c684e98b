/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "pe.h"
#include "basics.h"
#include "dwarf_cfi.h"
#include "pe_dwarf.h"

#include <stdlib.h>
#include <string.h>

/* ---- Functions (.pdata) ---------------------------------------------------------------------------------------- */

enum { DIRECTORY_EXCEPTION = 3, EXECUTE = 0x20000000, PACKED = 3 };

/* Whether the code from START up to END is in the file, in one section. */
static bool is_code(const struct pe *pe, uint64_t start, uint64_t end)
{
    uint32_t i;

    for (i = 0; i < pe->num_sections; i++) {
        const struct pe_section s = pe_section(pe, i);

        if (s.flags & EXECUTE && start >= s.rva && start - s.rva < s.size)
            return end > start && end - s.rva <= s.size;
    }
    return false;
}

/* The entry at P. */
static struct pe_function read_function(const struct pe *pe, const uint8_t *p)
{
    struct pe_function f = {load_number(p, 4, false), 0, 0};
    uint64_t left, words = 0;
    const uint8_t *info;

    if (pe->x86_64) {
        f.end = load_number(p + 4, 4, false);
        f.info = (uint32_t)load_number(p + 8, 4, false);
        return f;
    }
    f.info = (uint32_t)load_number(p + 4, 4, false);
    info = f.info & PACKED ? NULL : pe_loaded(pe, f.info, &left);
    if (f.info & PACKED)
        words = f.info >> 2 & 0x7ff;
    else if (info != NULL && left >= 4)
        words = load_number(info, 4, false) & 0x3ffff;
    f.end = f.start + 4 * words;
    return f;
}

static int by_start(const void *a, const void *b)
{
    const struct pe_function *x = a, *y = b;

    return x->start != y->start ? (x->start < y->start ? -1 : 1) : (x->end > y->end) - (x->end < y->end);
}

/* Leaves out functions that overlap, which of them is right does not tell. */
static void drop_overlapping(struct pe_functions *functions)
{
    uint64_t end = 0;
    size_t i, num = 0;

    for (i = 0; i < functions->num; i++) {
        const struct pe_function f = functions->list[i];

        if (f.start < end && num > 0 && functions->list[num - 1].end > f.start)
            num--;
        if (f.start >= end)
            functions->list[num++] = f;
        end = f.end > end ? f.end : end;
    }
    functions->num = num;
}

void pe_functions(const struct pe *pe, struct pe_functions *functions)
{
    const unsigned entry = pe->x86_64 ? 12 : 8;
    uint64_t rva, size, left, i;
    const uint8_t *p;

    memset(functions, 0, sizeof *functions);
    p = pe_directory(pe, DIRECTORY_EXCEPTION, &rva, &size) ? pe_loaded(pe, rva, &left) : NULL;
    if (p == NULL)
        return;
    size = size < left ? size : left;
    for (i = 0; i + entry <= size; i += entry) {
        const struct pe_function f = read_function(pe, p + i);

        if (!is_code(pe, f.start, f.end))
            continue;
        functions->list = grow(functions->list, functions->num, sizeof f);
        functions->list[functions->num++] = f;
    }
    put_in_order(functions->list, functions->num, sizeof *functions->list, by_start);
    drop_overlapping(functions);
}

/* ---- x86_64: unwind codes -------------------------------------------------------------------------------------- */

/* UNWIND_INFO: version and flags, size of the prologue, number of codes, frame register; then the codes, of 2 bytes
 * each, those of the last instruction first. */
enum {
    INFO_SIZE = 4,
    FLAG_CHAINED = 4,
    PUSH_NONVOL = 0,
    ALLOC_LARGE = 1,
    ALLOC_SMALL = 2,
    SET_FPREG = 3,
    SAVE_NONVOL = 4,
    SAVE_NONVOL_FAR = 5,
    SAVE_XMM128 = 8,
    SAVE_XMM128_FAR = 9,
    PUSH_MACHFRAME = 10,
    MOST_PARENTS = 8,
    MOST_PUSHES = 16,
    RBP = 5, /* as unwind codes count registers */
    RSP = 4
};

/* The numbers of DWARF for those of unwind codes. */
static unsigned dwarf_register(unsigned reg)
{
    static const uint8_t numbers[8] = {0, 2, 1, 3, 7, 6, 4, 5};

    return reg < 8 ? numbers[reg] : reg;
}

/* What the instructions of the prologue have done so far. */
struct frame {
    const struct pe *pe;
    const struct pe_functions *functions;
    struct pe_bytes program;
    uint64_t start; /* RVA of the function */
    uint64_t at;    /* where the program is, from the function's start on */
    int64_t depth;  /* from SP up to the CFA: of pushes and allocations */
    int64_t base;   /* from the area of saved registers up to the CFA, once there is a frame register */
    uint64_t allocated;
    uint8_t pushed[MOST_PUSHES];
    unsigned num_pushed, cfa_reg; /* CFA_REG: DWARF's */
    int64_t cfa_offset;
    bool saved, interrupt;
    uint64_t *budget; /* how many codes are read, at most */
};

static void move_sp(struct frame *f, int64_t by)
{
    f->depth += by;
    if (f->cfa_reg == X86_64_RSP)
        f->cfa_offset = f->depth;
    put_cfa(&f->program, f->cfa_reg, f->cfa_offset);
}

/* What the CPU pushes for an interrupt, CODE: with an error code. The words above that are SS, SP, flags, CS, PC. */
static bool push_machine_frame(struct frame *f, bool code)
{
    if (f->depth != WORD || f->interrupt)
        return false;
    f->interrupt = true;
    move_sp(f, 4 * WORD + (code ? WORD : 0));
    put_saved(&f->program, X86_64_RA, 5 * WORD);
    put_saved(&f->program, X86_64_RSP, 2 * WORD);
    return true;
}

static bool push_register(struct frame *f, unsigned reg)
{
    if (f->num_pushed == MOST_PUSHES || f->saved || reg == RSP)
        return false;
    f->pushed[f->num_pushed++] = (uint8_t)reg;
    move_sp(f, WORD);
    if (reg == RBP)
        put_saved(&f->program, X86_64_RBP, f->depth);
    return true;
}

/* The area counts from SP behind all allocations, or from what the frame register says. */
static bool save_register(struct frame *f, unsigned reg, uint64_t offset)
{
    const bool framed = f->cfa_reg != X86_64_RSP;

    f->saved = !framed;
    if (reg == RBP)
        put_saved(&f->program, X86_64_RBP, (framed ? f->base : f->depth) - (int64_t)offset);
    return reg != RSP;
}

static bool allocate(struct frame *f, uint64_t size)
{
    if (f->saved || size % WORD != 0 || f->depth + (int64_t)size > INT32_MAX)
        return false;
    f->allocated += size;
    move_sp(f, (int64_t)size);
    return true;
}

static bool set_frame_register(struct frame *f, unsigned frame)
{
    if ((frame & 15) == RSP || (frame & 15) == 0 || f->cfa_reg != X86_64_RSP)
        return false;
    f->cfa_reg = dwarf_register(frame & 15);
    f->base = f->depth;
    f->cfa_offset = f->depth - 16 * (int64_t)(frame >> 4);
    put_cfa(&f->program, f->cfa_reg, f->cfa_offset);
    return true;
}

/* How many codes the one at P takes, or 0: it is none. */
static unsigned slots(const uint8_t *p)
{
    static const uint8_t numbers[11] = {1, 0, 1, 1, 2, 3, 0, 0, 2, 3, 1};
    const unsigned op = p[1] & 15, detail = p[1] >> 4;

    if (op == ALLOC_LARGE)
        return detail == 0 ? 2 : detail == 1 ? 3 : 0;
    return op <= PUSH_MACHFRAME ? numbers[op] : 0;
}

/* Does what the code at P says. FRAME: the byte that names the frame register. */
static bool run_code(struct frame *f, const uint8_t *p, unsigned frame)
{
    const unsigned detail = p[1] >> 4;
    const uint64_t word = slots(p) > 1 ? load_number(p + 2, 2, false) : 0,
                   far = slots(p) > 2 ? load_number(p + 2, 4, false) : 0;

    switch (p[1] & 15) {
    case PUSH_NONVOL:
        return push_register(f, detail);
    case ALLOC_LARGE:
        return allocate(f, detail == 0 ? 8 * word : far);
    case ALLOC_SMALL:
        return allocate(f, 8 * detail + 8);
    case SET_FPREG:
        return detail == 0 && set_frame_register(f, frame);
    case SAVE_NONVOL:
        return save_register(f, detail, 8 * word);
    case SAVE_NONVOL_FAR:
        return far % WORD == 0 && save_register(f, detail, far);
    case PUSH_MACHFRAME:
        return detail <= 1 && push_machine_frame(f, detail == 1);
    default: /* SAVE_XMM128: no rule is about those */
        return true;
    }
}

/* Does what the codes of INFO say, in the order of the instructions: WHOLE: all at once, else behind each of them. */
static bool run_info(struct frame *f, const uint8_t *info, bool whole)
{
    const uint8_t *codes = info + INFO_SIZE, *order[256];
    unsigned num = info[2], count = 0, i, size;

    if (*f->budget < num)
        return false;
    *f->budget -= num;
    for (i = 0; i < num; i += size) {
        size = slots(codes + 2 * i);
        if (size == 0 || size > num - i)
            return false;
        order[count++] = codes + 2 * i;
    }
    while (count-- > 0) {
        const uint64_t at = whole ? 0 : order[count][0];

        if (at < f->at)
            return false;
        put_advance(&f->program, at - f->at);
        f->at = at;
        if (!run_code(f, order[count], info[3]))
            return false;
    }
    return true;
}

/* The unwind information at RVA with all its codes and, in *PARENT, the RVA of the one that it continues, or 0. NULL if
 * it is of another version or not all there. */
static const uint8_t *find_info(const struct pe *pe, uint64_t rva, uint64_t *parent)
{
    uint64_t left = 0, at;
    const uint8_t *p = rva % 4 == 0 ? pe_loaded(pe, rva, &left) : NULL;

    *parent = 0;
    if (p == NULL || left < INFO_SIZE || (p[0] & 7) != 1 || left < INFO_SIZE + 2u * p[2])
        return NULL;
    at = INFO_SIZE + 2 * ((p[2] + 1u) & ~1u);
    if (p[0] >> 3 & FLAG_CHAINED) {
        if (left < at + 12)
            return NULL;
        *parent = load_number(p + at + 8, 4, false);
        return *parent != 0 ? p : NULL;
    }
    return p;
}

/* Runs all codes of FUNCTION: first those of the parts that it continues, whose instructions lie elsewhere. */
static bool run_codes(struct frame *f, const struct pe_function *function)
{
    const uint8_t *infos[MOST_PARENTS];
    uint64_t next = function->info;
    unsigned num = 0;

    while (next != 0) {
        if (num == MOST_PARENTS)
            return false;
        infos[num] = find_info(f->pe, next, &next);
        if (infos[num++] == NULL)
            return false;
    }
    while (num-- > 0)
        if (!run_info(f, infos[num], num > 0))
            return false;
    return num + 1 == 0 && f->at <= function->end - function->start;
}

/* ---- x86_64: epilogues ----------------------------------------------------------------------------------------- */

/* Unwind codes say nothing of epilogues: their readers look at the instructions, for which there are fixed forms. Up to
 * the first pop the CFA is what it was. */

/* The register that is popped at P, which *SIZE bytes follow, and the size of that in *SIZE; or -1. */
static int popped(const uint8_t *p, uint64_t left, unsigned *size)
{
    const bool high = left >= 2 && p[0] == 0x41;

    *size = high ? 2 : 1;
    if (left < *size || p[high] < 0x58 || p[high] > 0x5f || (!high && p[0] == 0x58 + RSP))
        return -1;
    return p[high] - 0x58 + (high ? 8 : 0);
}

enum jump { NO_JUMP, JUMP_DIRECT, JUMP_INDIRECT };

/* The jump that the LEFT bytes at P begin with, if it is one that may leave a function; of a direct one *BY is from P
 * to where it leads. Other indirect ones are those of jump tables. */
static enum jump find_jump(const uint8_t *p, uint64_t left, int64_t *by)
{
    const unsigned prefix = left >= 1 && (p[0] & 0xf8) == 0x48;

    *by = 0;
    if (left >= prefix + 2u && p[prefix] == 0xff && (p[prefix + 1] & 0x38) == 0x20)
        return prefix > 0 || p[1] == 0x25 ? JUMP_INDIRECT : NO_JUMP;
    if (left >= 5 && p[0] == 0xe9)
        *by = 5 + (int64_t)(int32_t)load_number(p + 1, 4, false);
    else if (left >= 2 && p[0] == 0xeb)
        *by = 2 + (int64_t)(int8_t)p[1];
    return *by != 0 ? JUMP_DIRECT : NO_JUMP;
}

/* Whether nothing of the caller's frame is on the stack above the return address when control comes to RVA: a function
 * without unwind codes begins there, for that is what it means to have none, or one whose prologue has not begun. Codes
 * at offset 0 are those of a part of another function. */
static bool is_fresh(const struct frame *f, uint64_t rva)
{
    const struct pe_functions *all = f->functions;
    const size_t below =
        count_up_to(all->list, all->num, sizeof *all->list, offsetof(struct pe_function, start), rva);
    const struct pe_function *target = below > 0 ? &all->list[below - 1] : NULL;
    const uint8_t *info;
    uint64_t parent;
    unsigned i, size;

    if (target == NULL || rva >= target->end)
        return is_code(f->pe, rva, rva + 1);
    info = rva == target->start ? find_info(f->pe, target->info, &parent) : NULL;
    if (info == NULL || parent != 0)
        return false;
    for (i = 0; i < info[2]; i += size) {
        size = slots(info + INFO_SIZE + 2 * i);
        if (size == 0 || info[INFO_SIZE + 2 * i] == 0)
            return false;
    }
    return true;
}

static bool returns(const uint8_t *p, uint64_t left)
{
    return left >= 1 && (p[0] == 0xc3 || (left >= 3 && p[0] == 0xc2) ||
                         (left >= 2 && (p[0] == 0xf3 || p[0] == 0xf2) && p[1] == 0xc3));
}

enum epilogue { NONE, RETURNS, UNKNOWN };

/* A place in a function: LEFT bytes before its end, BEHIND bytes behind its start. */
struct place {
    const uint8_t *code;
    uint64_t left, behind;
};

/* How many of the bytes before P, of which BEHIND are the function's, are the pops of all registers that were pushed;
 * *LAST: whether they are that of the last one, at least. */
static uint64_t popped_before(const struct frame *f, const uint8_t *p, uint64_t behind, bool *last)
{
    uint64_t size = 0;
    unsigned i;

    for (i = 0; i < f->num_pushed; i++) {
        const unsigned reg = f->pushed[i], length = reg < 8 ? 1 : 2;

        if (behind < size + length || p[-(int64_t)size - 1] != 0x58 + (reg & 7) ||
            (length == 2 && p[-(int64_t)size - 2] != 0x41))
            return 0;
        size += length;
        *last = true;
    }
    return size;
}

/* How many of the bytes before P take away what was allocated: an addition to SP, or SP made of the frame register; 0:
 * they do not. */
static uint64_t freed_before(const struct frame *f, const uint8_t *p, uint64_t behind)
{
    if (f->cfa_reg != X86_64_RSP) {
        if (behind >= 3 && (memcmp(p - 3, "\x48\x89\xec", 3) == 0 || memcmp(p - 3, "\x48\x8b\xe5", 3) == 0))
            return 3;
        if (behind >= 4 && memcmp(p - 4, "\x48\x8d\x65", 3) == 0)
            return 4;
        return behind >= 7 && memcmp(p - 7, "\x48\x8d\xa5", 3) == 0 ? 7 : 0;
    }
    if (behind >= 4 && memcmp(p - 4, "\x48\x83\xc4", 3) == 0 && p[-1] == f->allocated)
        return 4;
    return behind >= 7 && memcmp(p - 7, "\x48\x81\xc4", 3) == 0 && load_number(p - 4, 4, false) == f->allocated ? 7
                                                                                                                : 0;
}

/* Whether the frame has been taken away in front of the jump at P, which BEHIND bytes of the function precede: by all
 * instructions that this needs, of more bytes than the middle of another instruction would have by chance. */
static enum epilogue jump_leaves(const struct frame *f, const uint8_t *p, uint64_t behind)
{
    enum { EVIDENCE = 3 };
    bool last = false;
    uint64_t pops, freed;

    if (f->depth == WORD)
        return NONE;
    pops = popped_before(f, p, behind, &last);
    if (f->num_pushed > 0 && pops == 0)
        return last ? UNKNOWN : NONE;
    freed = f->allocated > 0 || f->cfa_reg != X86_64_RSP ? freed_before(f, p - pops, behind - pops) : 0;
    if (pops + freed >= EVIDENCE && (f->allocated == 0 || freed > 0))
        return RETURNS;
    return pops > 0 || freed > 0 ? UNKNOWN : NONE;
}

/* Whether the frame is gone at the jump at P, in front of which POPS registers are popped, in ORDER. A direct one leads
 * to code that says how it is entered, also where that is the function itself. If nothing says it, what stands in front
 * of the jump does. */
static enum epilogue judge_jump(const struct frame *f, const struct place *p, const uint8_t *order, unsigned pops)
{
    int64_t by;
    const enum jump jump = find_jump(p->code, p->left, &by);
    const int64_t in = (int64_t)p->behind + by;
    unsigned i;

    if (jump == NO_JUMP || (jump == JUMP_DIRECT && in > 0 && in < (int64_t)(p->behind + p->left)))
        return NONE;
    for (i = 0; i < pops; i++)
        if (pops > f->num_pushed || order[i] != f->pushed[pops - 1 - i])
            return NONE;
    if (jump == JUMP_DIRECT && (int64_t)f->start + in >= 0 && is_fresh(f, f->start + (uint64_t)in))
        return RETURNS;
    if (jump == JUMP_INDIRECT)
        return pops > 0 ? RETURNS : jump_leaves(f, p->code, p->behind);
    return pops > 0 || jump_leaves(f, p->code, p->behind) != NONE ? UNKNOWN : NONE;
}

/* Whether an epilogue begins at P. *POPS: how many registers it pops. *RBP_AT: which of them, from 0 on, is RBP, or -1.
 * Before a jump the pops must be the reverse of the first pushes. */
static enum epilogue find_epilogue(const struct frame *f, struct place p, int *pops, int *rbp_at)
{
    uint8_t order[MOST_PUSHES];
    unsigned size;
    int reg;

    *rbp_at = -1;
    for (*pops = 0; *pops < MOST_PUSHES && (reg = popped(p.code, p.left, &size)) >= 0; ++*pops) {
        if (reg == RBP)
            *rbp_at = *pops;
        order[*pops] = (uint8_t)reg;
        p.code += size, p.left -= size, p.behind += size;
    }
    if (f->interrupt && p.left >= 4 && memcmp(p.code, "\x48\x83\xc4\x08", 4) == 0)
        p.code += 4, p.left -= 4, ++*pops;
    if (f->interrupt)
        return p.left >= 2 && p.code[0] == 0x48 && p.code[1] == 0xcf ? RETURNS : NONE;
    return returns(p.code, p.left) ? RETURNS : judge_jump(f, &p, order, (unsigned)*pops);
}

/* Puts what holds in the epilogues of FUNCTION, whose code is at P, behind its prologue. Each byte is asked: where
 * instructions begin is not known. */
static void put_epilogues(struct frame *f, const uint8_t *p, uint64_t size)
{
    const int pushed = f->interrupt ? 5 * WORD : WORD; /* by the CPU */
    uint64_t i;
    int pops, rbp_at;

    for (i = f->at; i < size; i++) {
        const enum epilogue found = find_epilogue(f, (struct place){p + i, size - i, i}, &pops, &rbp_at);

        if (found == NONE)
            continue;
        put_advance(&f->program, i - f->at);
        f->at = i + 1;
        pe_put(&f->program, DW_CFA_remember_state, 1);
        if (found == UNKNOWN) {
            put_same(&f->program, X86_64_RA);
        } else {
            put_cfa(&f->program, X86_64_RSP, WORD * pops + pushed);
            if (rbp_at >= 0)
                put_saved(&f->program, X86_64_RBP, WORD * (pops - rbp_at) + pushed);
            else
                put_same(&f->program, X86_64_RBP);
        }
        put_advance(&f->program, 1);
        pe_put(&f->program, DW_CFA_restore_state, 1);
    }
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

/* The functions of x86_64. */
static bool unwind_x86_64(const struct pe *pe, const struct pe_functions *functions, struct pe_bytes *out)
{
    uint64_t budget = 2 * (uint64_t)pe->size, left;
    size_t i, cies[2];

    cies[0] = 0;
    put_cie(out, true, false);
    cies[1] = out->size;
    put_cie(out, true, true);
    for (i = 0; i < functions->num; i++) {
        const struct pe_function *function = &functions->list[i];
        const uint8_t *code = pe_loaded(pe, function->start, &left);
        struct frame f = {pe, functions,  {NULL, 0}, function->start, 0,     WORD,   0, 0, {0},
                          0,  X86_64_RSP, WORD,      false,           false, &budget};

        if (!run_codes(&f, function)) {
            free(f.program.data);
            if (budget < 256)
                return false;
            continue;
        }
        put_epilogues(&f, code, function->end - function->start);
        put_fde(pe, out, cies[f.interrupt], function, &f.program);
    }
    return true;
}

bool pe_unwind(const struct pe *pe, const struct pe_functions *functions, struct pe_bytes *out)
{
    if (functions->num == 0)
        return true;
    return pe->x86_64 ? unwind_x86_64(pe, functions, out) : pe_unwind_aarch64(pe, functions, out);
}
