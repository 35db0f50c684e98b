/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Unwind codes of aarch64: each stands for one instruction of a prologue, the last one first, and codes of an epilogue
 * stand in the order of its instructions, which undo what the codes say. So the state in front of an instruction of a
 * prologue is that of the codes behind its own, and in front of one of an epilogue that of its own code and those
 * behind it: both are sums of codes from the last one on.
 */
#include "basics.h"
#include "dwarf_cfi.h"
#include "pe.h"
#include "pe_dwarf.h"

#include <stdlib.h>
#include <string.h>

enum {
    INSTRUCTION = 4,  /* bytes */
    MOST_CODES = 1024 /* bytes of codes; and instructions, and one more, of what they describe */
};

/* What holds in front of an instruction. BELOW: bytes from the CFA down to where a register is saved; 0: it is not. */
struct state {
    int64_t depth; /* from SP up to the CFA */
    int64_t base;  /* from FP up to the CFA, if FP is set */
    int64_t fp_below, ra_below;
    bool framed, is_signed;
};

enum action {
    NOTHING,
    ALLOCATE, /* AT: bytes */
    SAVE,     /* REG and perhaps the register behind it, AT bytes above SP */
    PUSH,     /* the same, at SP, which goes AT bytes down before */
    NEXT,     /* the pair behind the one of the code that follows: never x29 and x30 */
    SET_FP,   /* AT bytes above SP */
    SIGN,     /* the return address */
    END
};

struct code {
    uint8_t action, reg, second; /* registers that are saved: 0: none of x29 and x30 */
    uint8_t pair;                /* the first register of a pair; PAIR_OF_FLOATS; 0: no pair */
    int64_t at;
};

enum { PAIR_OF_FLOATS = 1 };

/* ---- One code -------------------------------------------------------------------------------------------------- */

/* A pair, or one register, of those from REG on. Others than x29 and x30 are of no account. */
static struct code save(enum action action, unsigned reg, bool pair, unsigned at)
{
    const unsigned second = pair ? reg + 1 : 0;

    return (struct code){(uint8_t)action, (uint8_t)(reg == AARCH64_FP || reg == AARCH64_LR ? reg : 0),
                         (uint8_t)(second == AARCH64_FP || second == AARCH64_LR ? second : 0),
                         (uint8_t)(pair ? reg : 0), 8 * (int64_t)at};
}

/* The same of floating-point registers. */
static struct code save_floats(enum action action, bool pair, unsigned at)
{
    return (struct code){(uint8_t)action, 0, 0, pair ? PAIR_OF_FLOATS : 0, 8 * (int64_t)at};
}

/* A code that saves nothing, or LR as the second register of a pair. */
static struct code other(enum action action, int64_t at)
{
    return (struct code){(uint8_t)action, 0, action == SAVE || action == PUSH ? AARCH64_LR : 0, 0, at};
}

/* save_regp to save_freg_x, of two bytes: WORD, the first one is the high one. Returns false if it is none of them. */
static bool read_save(unsigned word, struct code *code)
{
    const unsigned z = word & 0x3f, x = word >> 6 & 15, wide = word >> 5 & 15, reg = 19 + x;

    switch (word >> 10) {
    case 0x32: /* save_regp */
        *code = save(SAVE, reg, true, z);
        return reg < AARCH64_LR;
    case 0x33: /* save_regp_x */
        *code = save(PUSH, reg, true, z + 1);
        return reg < AARCH64_LR;
    case 0x34: /* save_reg */
        *code = save(SAVE, reg, false, z);
        return reg <= AARCH64_LR;
    case 0x35: /* save_reg_x; save_lrpair */
        if ((word >> 9 & 1) == 0) {
            *code = save(PUSH, 19 + wide, false, (word & 31) + 1);
            return 19 + wide <= AARCH64_LR;
        }
        *code = other(SAVE, 8 * (int64_t)z);
        return 19 + 2 * (x & 7) < AARCH64_FP;
    case 0x36: /* save_fregp, save_fregp_x */
        *code = save_floats((word >> 9 & 1) == 0 ? SAVE : PUSH, true, z + (word >> 9 & 1));
        return true;
    case 0x37: /* save_freg; save_freg_x, whose register takes the bits above 5 */
        *code = save_floats((word >> 9 & 1) == 0 ? SAVE : PUSH, false, (word >> 9 & 1) == 0 ? z : (word & 31) + 1);
        return (word >> 9 & 1) == 0 || (word >> 8 & 1) == 0;
    default:
        return false;
    }
}

/* Reads the code at P, LEFT bytes before the end. Returns how many bytes it has; 0: it is none that is understood. */
static unsigned read_code(const uint8_t *p, uint64_t left, struct code *code)
{
    const unsigned first = p[0], size = first < 0xc0 || (first >= 0xe1 && first != 0xe2) ? 1
                                        : first == 0xe0                                  ? 4
                                                                                         : 2;
    const unsigned word = size > 1 && left >= 2 ? first << 8 | p[1] : 0;

    *code = other(NOTHING, 0);
    if (left < size)
        return 0;
    if (first < 0x20) /* alloc_s */
        *code = other(ALLOCATE, 16 * (int64_t)first);
    else if (first < 0x40) /* save_r19r20_x */
        *code = save(PUSH, 19, true, first & 31);
    else if (first < 0x80) /* save_fplr */
        *code = save(SAVE, AARCH64_FP, true, first & 63);
    else if (first < 0xc0) /* save_fplr_x */
        *code = save(PUSH, AARCH64_FP, true, (first & 63) + 1);
    else if (first < 0xc8) /* alloc_m */
        *code = other(ALLOCATE, 16 * (int64_t)(word & 0x7ff));
    else if (first < 0xe0)
        return read_save(word, code) ? size : 0;
    else if (first == 0xe0) /* alloc_l: the high byte is the first one */
        *code = other(ALLOCATE, 16 * (int64_t)(p[1] << 16 | p[2] << 8 | p[3]));
    else if (first == 0xe1 || first == 0xe2) /* set_fp, add_fp */
        *code = other(SET_FP, first == 0xe2 ? 8 * (int64_t)p[1] : 0);
    else if (first == 0xe4)
        code->action = END;
    else if (first == 0xe6) /* save_next */
        code->action = NEXT;
    else if (first == 0xfc) /* pac_sign_lr */
        code->action = SIGN;
    else if (first != 0xe3) /* nop */
        return 0;
    return size;
}

/* Adds what CODE says to S, which holds in front of it. Returns false if that cannot be. */
static bool add_code(struct state *s, const struct code *code)
{
    unsigned i;

    if (code->action == ALLOCATE || code->action == PUSH)
        s->depth += code->at;
    if (code->action == SIGN)
        s->is_signed = !s->is_signed;
    if (code->action == SET_FP) {
        s->framed = true;
        s->base = s->depth - code->at;
    }
    for (i = 0; i < 2 && (code->action == SAVE || code->action == PUSH); i++) {
        const unsigned reg = i == 0 ? code->reg : code->second;
        const int64_t below = s->depth - (code->action == SAVE ? code->at : 0) - 8 * (int64_t)i;

        if (reg != 0 && below <= 0)
            return false;
        if (reg == AARCH64_FP)
            s->fp_below = below;
        if (reg == AARCH64_LR)
            s->ra_below = below;
    }
    return s->depth <= INT32_MAX && s->base >= 0;
}

/* ---- Codes of a prologue or an epilogue ------------------------------------------------------------------------ */

/* Codes that are read: in the order of the bytes, without that of the end. */
struct codes {
    struct code list[MOST_CODES];
    struct state states[MOST_CODES + 1]; /* [N]: of all codes from N on */
    unsigned num;
};

/* Sums the codes up from the last one on. */
static bool sum_codes(struct codes *c)
{
    unsigned i = c->num, pair = 0;

    memset(&c->states[i], 0, sizeof c->states[i]);
    while (i-- > 0) {
        c->states[i] = c->states[i + 1];
        if (c->list[i].action != NEXT)
            pair = c->list[i].pair;
        else if (pair >= 19)
            pair += 2;
        if (c->list[i].action == NEXT && (pair == 0 || pair >= AARCH64_FP))
            return false;
        if (!add_code(&c->states[i], &c->list[i]))
            return false;
    }
    return true;
}

/* Reads the codes in the SIZE bytes at P up to their end. Functions may share codes, so *BUDGET says how many are read,
 * at most. */
static bool read_codes(struct codes *c, const uint8_t *p, uint64_t size, uint64_t *budget)
{
    uint64_t at = 0;
    unsigned taken;

    for (c->num = 0; *budget > 0 && at < size && c->num < MOST_CODES; at += taken) {
        --*budget;
        taken = read_code(p + at, size - at, &c->list[c->num]);
        if (taken == 0)
            return false;
        if (c->list[c->num].action == END)
            return sum_codes(c);
        c->num++;
    }
    return false;
}

/* ---- Functions ------------------------------------------------------------------------------------------------- */

struct writer {
    struct pe_bytes program;
    struct state state; /* that the program has said */
    uint64_t at;        /* where it is, from the function's start on */
};

/* From AT on S holds. */
static void put_state(struct writer *w, uint64_t at, const struct state *s)
{
    const struct state *old = &w->state;
    const bool moved = s->framed != old->framed || (s->framed ? s->base != old->base : s->depth != old->depth);

    if (!moved && s->fp_below == old->fp_below && s->ra_below == old->ra_below && s->is_signed == old->is_signed)
        return;
    put_advance(&w->program, at - w->at);
    w->at = at;
    if (moved)
        put_cfa(&w->program, s->framed ? AARCH64_FP : AARCH64_SP, s->framed ? s->base : s->depth);
    if (s->fp_below != old->fp_below && s->fp_below > 0)
        put_saved(&w->program, AARCH64_FP, s->fp_below);
    else if (s->fp_below != old->fp_below)
        put_same(&w->program, AARCH64_FP);
    if (s->ra_below != old->ra_below && s->ra_below > 0)
        put_saved(&w->program, AARCH64_LR, s->ra_below);
    else if (s->ra_below != old->ra_below)
        put_same(&w->program, AARCH64_LR);
    if (s->is_signed != old->is_signed)
        pe_put(&w->program, DW_CFA_AARCH64_negate_ra_state, 1);
    w->state = *s;
}

/* The prologue at the function's start. Returns how many bytes it has. */
static uint64_t put_prologue(struct writer *w, const struct codes *c)
{
    unsigned i;

    for (i = 0; i <= c->num; i++)
        put_state(w, (uint64_t)INSTRUCTION * i, &c->states[c->num - i]);
    return (uint64_t)INSTRUCTION * c->num;
}

/* An epilogue at AT; behind its last instruction, which leaves, BODY holds. Returns where that is. */
static uint64_t put_epilogue(struct writer *w, uint64_t at, const struct codes *c, const struct state *body)
{
    unsigned i;

    for (i = 0; i <= c->num; i++, at += INSTRUCTION)
        put_state(w, at, &c->states[i]);
    put_state(w, at, body);
    return at;
}

/* What .xdata has of a function. */
struct record {
    const uint8_t *scopes, *codes;
    uint64_t size; /* of the codes */
    uint32_t num;  /* epilogues; of one at the end, where its codes begin */
    bool at_end;
};

/* Reads the record at RVA: all of it is in the file. */
static bool read_record(const struct pe *pe, uint64_t rva, struct record *r)
{
    uint64_t left = 0, at = 4, word, words;
    const uint8_t *p = rva % 4 == 0 ? pe_loaded(pe, rva, &left) : NULL;

    if (p == NULL || left < 8)
        return false;
    word = load_number(p, 4, false);
    r->at_end = (word >> 21 & 1) != 0;
    r->num = (uint32_t)(word >> 22 & 31);
    words = word >> 27;
    if (r->num == 0 && words == 0) {
        word |= load_number(p + 4, 4, false) << 32;
        r->num = (uint32_t)(word >> 32 & 0xffff);
        words = word >> 48 & 0xff;
        at += 4;
    }
    r->scopes = p + at;
    at += r->at_end ? 0 : 4 * (uint64_t)r->num;
    r->size = 4 * words;
    r->codes = at <= left ? p + at : NULL;
    return (word >> 18 & 3) == 0 && at <= left && r->size <= left - at && r->size <= MOST_CODES;
}

/* The epilogues of R, in the order of their addresses; the codes of their instructions are read into C. */
static bool put_epilogues(struct writer *w, const struct record *r, uint64_t end, uint64_t from, struct codes *c,
                          uint64_t *budget)
{
    const struct state body = c->states[0];
    const uint32_t num = r->at_end ? 1 : r->num;
    uint32_t i;

    for (i = 0; i < num; i++) {
        const uint64_t scope = r->at_end ? 0 : load_number(r->scopes + 4 * (uint64_t)i, 4, false),
                       index = r->at_end ? r->num : scope >> 22;
        uint64_t at;

        if (index >= r->size || !read_codes(c, r->codes + index, r->size - index, budget))
            return false;
        at = r->at_end ? end - INSTRUCTION * (uint64_t)(c->num + 1) : INSTRUCTION * (scope & 0x3ffff);
        if (at < from || at > end || end - at < INSTRUCTION * (uint64_t)(c->num + 1))
            return false;
        from = put_epilogue(w, at, c, &body);
    }
    return true;
}

static bool put_full(const struct pe *pe, const struct pe_function *f, struct writer *w, struct codes *c,
                     uint64_t *budget)
{
    const uint64_t end = f->end - f->start;
    struct record r;

    if (!read_record(pe, f->info, &r) || !read_codes(c, r.codes, r.size, budget))
        return false;
    return INSTRUCTION * (uint64_t)c->num <= end && put_epilogues(w, &r, end, put_prologue(w, c), c, budget);
}

/* ---- Packed unwind data ---------------------------------------------------------------------------------------- */

static void add(struct codes *c, struct code code)
{
    c->list[c->num++] = code;
}

/* One that saves. The first one also makes room for all, SAVED bytes. */
static void add_save(struct codes *c, unsigned first, unsigned saved, struct code code)
{
    if (c->num == first) {
        code.action = PUSH;
        code.at = saved;
    }
    add(c, code);
}

/* Saves registers and homes arguments, in the order of the instructions. */
static void add_saves(struct codes *c, uint32_t info, unsigned saved)
{
    const unsigned floats = info >> 13 & 7, registers = info >> 16 & 15, kind = info >> 21 & 3, first = c->num;
    const bool homed = (info >> 20 & 1) != 0;
    unsigned i;

    for (i = 0; i < registers; i += 2) /* the last one, if they are odd, may be paired with LR */
        add_save(c, first, saved,
                 i + 1 == registers && kind == 1 ? other(SAVE, 8 * (int64_t)i) : save(SAVE, 19, false, i));
    if (kind == 1 && registers % 2 == 0)
        add_save(c, first, saved, save(SAVE, AARCH64_LR, false, registers));
    for (i = 0; floats > 0 && i < floats + 1; i += 2)
        add_save(c, first, saved, save_floats(SAVE, false, 0));
    for (i = 0; homed && i < 4; i++)
        add_save(c, first, saved, save_floats(SAVE, false, 0));
}

/* Local variables, and the frame record. */
static void add_locals(struct codes *c, bool framed, unsigned size)
{
    if (framed && size <= 512) {
        add(c, save(PUSH, AARCH64_FP, true, size / 8));
    } else {
        if (size > 4080)
            add(c, other(ALLOCATE, 4080));
        if (size > 0)
            add(c, other(ALLOCATE, size > 4080 ? size - 4080 : size));
        if (framed)
            add(c, save(SAVE, AARCH64_FP, true, 0));
    }
    if (framed)
        add(c, other(SET_FP, 0));
}

/* The instructions that INFO of .pdata stands for, which a compiler that uses it must have written. HOMED: with those
 * that home arguments, which no epilogue has. */
static bool pack(struct codes *c, uint32_t info, bool homed)
{
    const unsigned floats = info >> 13 & 7, registers = info >> 16 & 15, kind = info >> 21 & 3, frame = info >> 23;
    const unsigned saved = (8 * registers + (kind == 1 ? 8 : 0) + (floats > 0 ? 8 * floats + 8 : 0) +
                            ((info >> 20 & 1) != 0 ? 64 : 0) + 15) &
                           ~15u;
    unsigned i;

    c->num = 0;
    if (registers > 10 || 16 * frame < saved || (kind >= 2 && 16 * frame == saved) || (registers == 1 && kind == 1))
        return false;
    /* Homed arguments alone: which instruction frees their room is not said. */
    if ((info >> 20 & 1) != 0 && registers == 0 && floats == 0 && kind != 1)
        return false;
    if (kind == 2)
        add(c, other(SIGN, 0));
    add_saves(c, homed ? info : info & ~(UINT32_C(1) << 20), saved);
    add_locals(c, kind >= 2, 16 * frame - saved);
    for (i = 0; i < c->num / 2; i++) {
        const struct code first = c->list[i];

        c->list[i] = c->list[c->num - 1 - i];
        c->list[c->num - 1 - i] = first;
    }
    return sum_codes(c);
}

static bool put_packed(const struct pe_function *f, struct writer *w, struct codes *c)
{
    const uint64_t end = f->end - f->start;
    struct state body;
    uint64_t behind;

    if (!pack(c, f->info, true))
        return false;
    body = c->states[0];
    if ((f->info & 3) == 2) { /* a part without prologue and epilogue */
        put_state(w, 0, &body);
        return true;
    }
    if ((f->info & 3) != 1 || INSTRUCTION * (uint64_t)c->num > end)
        return false;
    behind = put_prologue(w, c);
    if (!pack(c, f->info, false) || end < behind + INSTRUCTION * (uint64_t)(c->num + 1))
        return false;
    (void)put_epilogue(w, end - INSTRUCTION * (uint64_t)(c->num + 1), c, &body);
    return true;
}

bool pe_unwind_aarch64(const struct pe *pe, const struct pe_functions *functions, struct pe_bytes *out)
{
    struct codes *c = zeroed(1, sizeof *c);
    uint64_t budget = 2 * (uint64_t)pe->size;
    bool good = true;
    size_t i;

    put_cie(out, false, false);
    for (i = 0; i < functions->num && good; i++) {
        const struct pe_function *f = &functions->list[i];
        struct writer w;

        memset(&w, 0, sizeof w);
        if ((f->info & 3) != 0 ? put_packed(f, &w, c) : put_full(pe, f, &w, c, &budget))
            put_fde(pe, out, 0, f, &w.program);
        else
            free(w.program.data);
        good = budget > 0;
    }
    free(c);
    return good;
}
