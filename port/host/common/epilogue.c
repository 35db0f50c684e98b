/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Encodings are those of "z/Architecture Principles of Operation". */
#include "cfi.h"

static struct sfu_rule epilogue_cfa(const struct image *image)
{
    const struct registers *r = image->registers;

    return (struct sfu_rule){(int32_t)r->sp_below_cfa, r->sp << RULE_NUMBER | RULE_REGISTER};
}

/* Whether ROW can be that of a body whose epilogue has no CFI. */
static bool can_be(const struct image *image, const struct cfi_row *row)
{
    struct sfu_rule cfa = epilogue_cfa(image);

    return image->abi == SFU_S390X && row->kind == CFI_RULES && !(row->cfa.control & RULE_DEREFERENCE) &&
           (row->cfa.control != cfa.control || row->cfa.offset != cfa.offset);
}

/* The two highest bits of an instruction are its size. */
static unsigned instruction_size(const uint8_t *p)
{
    return *p < 0x40 ? 2 : *p < 0xc0 ? 4 : 6;
}

/* br %rN; j, jg: the size of the jump at P, in LEFT bytes, or 0. */
static unsigned jump_at(const uint8_t *p, uint64_t left)
{
    bool jump =
        left >= 2 && instruction_size(p) <= left &&
        ((p[0] == 0x07 && p[1] >> 4 == 15) || (p[0] == 0xa7 && p[1] == 0xf4) || (p[0] == 0xc0 && p[1] == 0xf4));

    return jump ? instruction_size(p) : 0;
}

/* Whether RULE says that register REG is saved where an lmg loads it from: FIRST and those behind it from OFFSET on. */
static bool is_loaded(const struct cfi_row *row, const struct sfu_rule *rule, uint32_t reg, uint32_t first,
                      int32_t offset)
{
    return rule->control == RULE_DEREFERENCE && first <= reg &&
           (int64_t)row->cfa.offset + rule->offset == (int64_t)offset + 8 * (int64_t)(reg - first);
}

/* lmg %rN, %r15, D(%rB): a displacement of 20 bits, whose high byte comes last. SP is the caller's if RA or, in a leaf
 * function, FP comes from where ROW says that it is: prologues save all of them in one piece. */
static bool loads_sp(const uint8_t *p, const struct image *image, const struct cfi_row *row)
{
    const struct registers *r = image->registers;
    uint32_t base = p[2] >> 4, first = p[1] >> 4;
    int32_t offset = (int32_t)((p[2] & 15u) << 8 | p[3]) + 4096 * (int8_t)p[4];

    return p[0] == 0xeb && p[5] == 0x04 && (p[1] & 15) == r->sp &&
           row->cfa.control == (base << RULE_NUMBER | RULE_REGISTER) &&
           (is_loaded(row, &row->ra, r->ra, first, offset) || is_loaded(row, &row->fp, r->fp, first, offset));
}

/* aghi or agfi %r15, N, in a function that has saved nothing. It must be all that SP had been moved by. */
static bool adds_to_sp(const uint8_t *p, unsigned size, const struct image *image, const struct cfi_row *row)
{
    const struct registers *r = image->registers;
    int64_t n = size == 4 ? (int16_t)load_number(p + 2, 2, true) : (int32_t)load_number(p + 2, 4, true);

    return ((p[0] == 0xa7 && p[1] == 0xfb) || (p[0] == 0xc2 && p[1] == 0xf8)) && n > 0 &&
           row->cfa.control == (r->sp << RULE_NUMBER | RULE_REGISTER) &&
           n == row->cfa.offset - (int64_t)r->sp_below_cfa;
}

static bool restores_sp(const uint8_t *p, const struct image *image, const struct cfi_row *row)
{
    return instruction_size(p) == 6 ? loads_sp(p, image, row) || adds_to_sp(p, 6, image, row)
                                    : instruction_size(p) == 4 && adds_to_sp(p, 4, image, row);
}

/* The code from START on, and what holds there. */
static struct epilogue found_at(const struct image *image, const struct cfi_row *row, uint64_t start, unsigned size)
{
    return (struct epilogue){start, start + size, epilogue_cfa(image), row->ra, row->fp};
}

bool epilogue_find(struct image *image, const struct cfi_row *row, uint64_t pc, struct epilogue *found)
{
    uint64_t at = pc - row->start, size = row->end - row->start;
    const uint8_t *p = can_be(image, row) ? image_instructions(image, row->start, size) : NULL;

    if (abi_is_riscv(image->abi))
        return epilogue_riscv(image, row, pc, found);
    if (abi_is_arm(image->abi))
        return epilogue_arm(image, row, pc, found);

    for (; p != NULL && at < size && instruction_size(p + at) < size - at; at += instruction_size(p + at)) {
        uint64_t next = at + instruction_size(p + at);
        unsigned jump = jump_at(p + next, size - next);

        if (jump == 0 || !restores_sp(p + at, image, row))
            continue;
        *found = found_at(image, row, row->start + next, jump);
        return true;
    }
    return false;
}

bool epilogue_at(struct image *image, const struct cfi_row *row, uint64_t pc, struct epilogue *found)
{
    unsigned jump = 0, size;

    if (abi_is_riscv(image->abi))
        return epilogue_riscv(image, row, pc, found) && found->start == pc;
    if (abi_is_arm(image->abi))
        return epilogue_arm(image, row, pc, found) && found->start == pc;
    if (!can_be(image, row))
        return false;
    for (size = 6; size >= 2 && jump == 0; size -= 2) { /* it may be at the section's end */
        const uint8_t *p = image_instructions(image, pc, size);

        jump = p != NULL ? jump_at(p, size) : 0;
    }
    *found = found_at(image, row, pc, jump);
    for (size = 4; size <= 6; size += 2) {
        const uint8_t *p = image_instructions(image, pc - size, size);

        if (jump > 0 && p != NULL && instruction_size(p) == size && restores_sp(p, image, row))
            return true;
    }
    return false;
}
