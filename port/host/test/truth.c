/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * truth IMAGE SECTION ADDRESS: whether one step of sfu by the tables in SECTION, which sfu-gen has made for ADDRESS,
 * leads where the call frame information of IMAGE leads as libdw reads it, at every PC. Registers and memory are
 * numbers that come from their own names.
 */
#include "common/image.h"
#include "sfu.h"
#include "test/lib/file.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The machine ----------------------------------------------------------------------------------------------- */

enum { STACK = 0x70000000 };

/* All memory holds addresses of a stack, above SP. */
static uint64_t memory_at(uint64_t addr)
{
    return STACK + (addr * 0x9e3779b97f4a7c15u >> 40 & 0xfffff8) + 8;
}

static uint64_t register_of(const struct image *image, uint64_t number)
{
    return number == image->registers->sp ? STACK : STACK + 0x1000 * (number + 1);
}

static int read_memory(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    const struct image *image = ctx;

    if (len != image->registers->word)
        return -1;
    store_number(buffer, image->registers->word, image->big, memory_at(addr));
    return 0;
}

static int read_register(void *ctx, const struct sfu_frame *frame, uint32_t number, uint64_t *value)
{
    (void)frame;
    *value = register_of(ctx, number);
    return 0;
}

/* Every address is on a stack of its own, which ends with the word there: here any step is progress. */
static bool find_stack(void *ctx, uint64_t addr, struct sfu_stack *stack)
{
    (void)ctx;
    stack->bytes = NULL;
    stack->low = 0;
    stack->high = addr + 8;
    return true;
}

/* ---- libdw's answer -------------------------------------------------------------------------------------------- */

struct answer {
    uint64_t cfa, ra, fp;
    bool end; /* the return address is undefined */
};

struct evaluation {
    const struct image *image;
    uint64_t pc, cfa;
    uint64_t stack[16];
    unsigned depth;
    bool bad, is_value;
};

static void push(struct evaluation *e, uint64_t value)
{
    if (e->depth < 16)
        e->stack[e->depth++] = value;
    else
        e->bad = true;
}

static uint64_t pop(struct evaluation *e)
{
    if (e->depth > 0)
        return e->stack[--e->depth];
    e->bad = true;
    return 0;
}

static void binary(struct evaluation *e, unsigned op)
{
    uint64_t b = pop(e), a = pop(e);

    switch (op) {
    case DW_OP_plus:
        push(e, a + b);
        break;
    case DW_OP_minus:
        push(e, a - b);
        break;
    case DW_OP_and:
        push(e, a & b);
        break;
    case DW_OP_mul:
        push(e, a * b);
        break;
    case DW_OP_shl:
        push(e, a << (b & 63));
        break;
    case DW_OP_ge:
        push(e, (int64_t)a >= (int64_t)b);
        break;
    default:
        e->bad = true;
        break;
    }
}

static void operate(struct evaluation *e, const Dwarf_Op *op)
{
    unsigned atom = op->atom;

    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
        push(e,
             (atom - DW_OP_breg0 == e->image->registers->pc ? e->pc : register_of(e->image, atom - DW_OP_breg0)) +
                 op->number);
    else if (atom == DW_OP_bregx)
        push(e, register_of(e->image, op->number) + op->number2);
    else if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31)
        push(e, register_of(e->image, atom - DW_OP_reg0)), e->is_value = true;
    else if (atom == DW_OP_regx)
        push(e, register_of(e->image, op->number)), e->is_value = true;
    else if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
        push(e, atom - DW_OP_lit0);
    else if (atom >= DW_OP_const1u && atom <= DW_OP_consts)
        push(e, op->number);
    else if (atom == DW_OP_plus_uconst)
        push(e, pop(e) + op->number);
    else if (atom == DW_OP_call_frame_cfa)
        push(e, e->cfa);
    else if (atom == DW_OP_deref)
        push(e, memory_at(pop(e)));
    else if (atom == DW_OP_stack_value)
        e->is_value = true;
    else
        binary(e, atom);
}

/* What OPS give: a value, or the value at an address. */
static bool evaluate(struct evaluation *e, const Dwarf_Op *ops, size_t count, uint64_t *value)
{
    size_t i;

    e->depth = 0;
    e->bad = e->is_value = false;
    for (i = 0; i < count; i++)
        operate(e, &ops[i]);
    *value = pop(e);
    return !e->bad;
}

/* The caller's value of register NUMBER. */
static bool find_register(struct evaluation *e, Dwarf_Frame *frame, uint32_t number, uint64_t *value,
                          bool *undefined)
{
    Dwarf_Op memory[3], *ops;
    size_t count;

    if (dwarf_frame_register(frame, (int)number, memory, &ops, &count) != 0)
        return false;
    *undefined = count == 0 && ops == memory;
    if (count == 0) {
        *value = register_of(e->image, number);
        return true;
    }
    if (!evaluate(e, ops, count, value))
        return false;
    if (!e->is_value)
        *value = memory_at(*value);
    return true;
}

/* libdw takes another column than the ABI's for undefined where nothing is said of it: those registers belong to the
 * function that is called. They hold the return address all the same. */
static bool find_ra(struct evaluation *e, Dwarf_Frame *frame, struct answer *answer)
{
    Dwarf_Addr start, end;
    bool signal;
    uint32_t column = (uint32_t)dwarf_frame_info(frame, &start, &end, &signal);

    if (!find_register(e, frame, column, &answer->ra, &answer->end))
        return false;
    if (answer->end && column != e->image->registers->ra) {
        answer->end = false;
        answer->ra = register_of(e->image, column);
    }
    return true;
}

static bool ask(struct evaluation *e, Dwarf_CFI *cfi, uint64_t pc, struct answer *answer)
{
    Dwarf_Frame *frame;
    Dwarf_Op *ops;
    size_t count;
    bool undefined, good;

    e->pc = pc;
    if (dwarf_cfi_addrframe(cfi, pc, &frame) != 0)
        return false;
    good = dwarf_frame_cfa(frame, &ops, &count) == 0 && evaluate(e, ops, count, &answer->cfa);
    e->cfa = answer->cfa;
    good = good && find_ra(e, frame, answer) &&
           find_register(e, frame, e->image->registers->fp, &answer->fp, &undefined);
    free(frame);
    return good;
}

/* ---- sfu's answer ---------------------------------------------------------------------------------------------- */

/* Returns what sfu_find or sfu_apply returned. *KEPT: FP is said to be in its register. */
static int step(const struct image *image, const struct sfu_section *section, uint64_t pc, struct answer *answer,
                bool *kept)
{
    struct sfu_target target = {0};
    struct sfu_walk walk;
    struct sfu_registers top = {.pc = pc,
                                .sp = STACK,
                                .fp = register_of(image, image->registers->fp),
                                .ra = register_of(image, image->registers->ra),
                                .pc_kind = SFU_PC_EXACT,
                                .has_ra = true};
    struct sfu_row row;
    int code = sfu_find(section, pc, &row);

    if (code != SFU_OK)
        return code;
    target.read = read_memory;
    target.reg = read_register;
    target.find_stack = find_stack;
    target.red_zone = UINT16_MAX;
    target.ctx = (void *)image;
    row.signed_ra = false;
    *kept = row.fp.control == (image->registers->fp << 3 | 1) && row.fp.offset == 0;
    sfu_walk_start(&walk, &target, &top);
    code = sfu_apply(&walk, &row);
    answer->end = code == SFU_END;
    answer->cfa = walk.frame.regs.sp + image->registers->sp_below_cfa;
    answer->ra = walk.frame.regs.pc;
    answer->fp = walk.frame.regs.fp;
    return code;
}

/* ---- All PCs --------------------------------------------------------------------------------------------------- */

static uint64_t pcs, silent, corrected, differences;
static char first[256];

static void compare_at(const struct image *image, Dwarf_CFI *cfi, const struct sfu_section *section, uint64_t pc)
{
    struct evaluation e = {0};
    struct answer truth = {0}, got = {0};
    const char *what = NULL;
    bool kept = false;
    int code;

    e.image = image;
    code = step(image, section, pc, &got, &kept);
    if (code == SFU_E_NO_FDE || !ask(&e, cfi, pc, &truth)) {
        silent += code != SFU_E_NO_FDE;
        return;
    }
    pcs++;
    if (truth.end || got.end)
        what = truth.end == got.end ? NULL : "outermost";
    else if (code != SFU_OK)
        what = sfu_string(code);
    else if (truth.cfa != got.cfa)
        what = "CFA";
    else if (truth.ra != got.ra)
        what = "RA";
    else if (truth.fp != got.fp && kept)
        corrected++;
    else if (truth.fp != got.fp)
        what = "FP";
    if (what != NULL && differences++ == 0)
        snprintf(first, sizeof first, "0x%" PRIx64 ": %s", pc, what);
}

int main(int argc, char **argv)
{
    struct sfu_section section;
    struct image image;
    Dwarf_CFI *cfi;
    uint8_t *bytes;
    size_t size, i;

    if (argc != 4 || !image_open(&image, argv[1])) {
        printf("no image\n");
        return 1;
    }
    cfi = dwarf_getcfi_elf(image.elf);
    if (cfi == NULL)
        cfi = dwarf_getcfi(dwarf_begin_elf(image.elf, DWARF_C_READ, NULL));
    bytes = read_file(argv[2], &size);
    if (cfi == NULL || sfu_open(&section, bytes, size, strtoull(argv[3], NULL, 0)) != SFU_OK) {
        printf("no CFI, or no section\n");
        return 1;
    }
    for (i = 0; i < image.num_code; i++) {
        uint64_t pc = image.code[i]->addr, end = pc + image.code[i]->size;

        for (; pc < end; pc++)
            compare_at(&image, cfi, &section, pc);
    }
    if (differences > 0 || pcs == 0) {
        printf("%s (%" PRIu64 " differences)\n", first, differences);
        return 1;
    }
    printf("%" PRIu64 " PCs, %" PRIu64 " of which libdw says nothing; FP corrected at %" PRIu64 "\n", pcs, silent,
           corrected);
    return 0;
}
