/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The vDSO: code of the kernel's in each process, clock_gettime for instance, which has no row of the program's. Newer
 * kernels give it tables of its own. Others give it .eh_frame, as compilers and the kernel's assembly write it: that is
 * read here, as far as PC, SP and FP go. What is not known of it ends a walk as without this file.
 * Numbers in parentheses are sections of the DWARF standard, version 5; the rest is in the Linux Standard Base, 10.6.
 */
#include "sfu_linux.h"
#include "cpu.h"

enum { AT_SYSINFO_EHDR = 33, PT_LOAD = 1, PT_GNU_EH_FRAME = 0x6474e550 };
#if UINTPTR_MAX > 0xffffffff
enum { EHDR_SIZE = 64, E_PHOFF = 32, E_PHNUM = 56 };
#else
enum { EHDR_SIZE = 52, E_PHOFF = 28, E_PHNUM = 44 };
#endif
enum { UDATA4 = 0x03, PCREL_SDATA4 = 0x1b, DATAREL_SDATA4 = 0x3b }; /* how pointers are encoded */

#if defined(__s390x__)
enum { SP_BELOW_CFA = 160 };
#else
enum { SP_BELOW_CFA = 0 };
#endif

/* ---- Bytes: a reader never goes beyond its end. Then it is bad, and gives zeros --------------------------------- */

struct reader {
    const uint8_t *p, *end;
    bool bad;
};

static uint64_t get(struct reader *r, unsigned size)
{
    uint64_t value = 0;
    unsigned i;

    if (r->bad || (size_t)(r->end - r->p) < size) {
        r->bad = true;
        return 0;
    }
    for (i = 0; i < size; i++) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        value = value << 8 | *r->p++;
#else
        value |= (uint64_t)*r->p++ << 8 * i;
#endif
    }
    return value;
}

static uint64_t get_uleb(struct reader *r)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = (uint8_t)get(r, 1);
        value |= (uint64_t)(byte & 127) << shift;
        shift += 7;
    } while (byte >= 128 && shift < 63);
    return value;
}

static int64_t get_sleb(struct reader *r)
{
    const uint8_t *start = r->p;
    uint64_t value = get_uleb(r), bits = 7 * (uint64_t)(r->p - start);

    if (!r->bad && bits < 64 && (r->p[-1] & 64) != 0)
        value |= ~(uint64_t)0 << bits;
    return (int64_t)value;
}

static void skip(struct reader *r, uint64_t size)
{
    r->bad = r->bad || (uint64_t)(r->end - r->p) < size;
    if (!r->bad)
        r->p += size;
}

/* A signed number of 4 bytes, relative to where it lies. */
static const uint8_t *get_pcrel(struct reader *r)
{
    const uint8_t *from = r->p;

    return from + (int32_t)(uint32_t)get(r, 4);
}

/* ---- The entry of a PC ------------------------------------------------------------------------------------------ */

/* The program header of TYPE, without which a reader is bad: what it has of the image at ELF. */
static struct reader segment_of(const uint8_t *elf, uint32_t type)
{
    struct reader segment = {NULL, NULL, true};
    const struct phdr *phdr =
        (const struct phdr *)(const void *)(elf + *(const uintptr_t *)(const void *)(elf + E_PHOFF));
    unsigned num = *(const uint16_t *)(const void *)(elf + E_PHNUM);

    for (; num > 0; num--, phdr++)
        if (phdr->type == type && segment.bad) {
            segment.p = elf + phdr->offset;
            segment.end = segment.p + phdr->filesz;
            segment.bad = false;
        }
    return segment;
}

/* The FDE of PC by the sorted table of .eh_frame_hdr: pairs of a function's start and its FDE. NULL: none. */
static const uint8_t *find_fde(const uint8_t *elf, uint64_t pc)
{
    struct reader r = segment_of(elf, PT_GNU_EH_FRAME);
    const uint8_t *header = r.p;
    uint64_t low = 0, high, kinds = get(&r, 1) == 1 ? 1 : 0;

    kinds = kinds != 0 && get(&r, 1) == PCREL_SDATA4 && get(&r, 1) == UDATA4 && get(&r, 1) == DATAREL_SDATA4;
    skip(&r, 4);
    high = get(&r, 4);
    if (kinds == 0 || r.bad || (uint64_t)(r.end - r.p) / 8 < high)
        return NULL;
    while (low < high) { /* the number of entries that start at PC or below */
        uint64_t middle = low + (high - low) / 2;
        struct reader entry = {r.p + 8 * middle, r.end, false};

        if ((uintptr_t)header + (uint64_t)(int32_t)(uint32_t)get(&entry, 4) <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    r.p += 8 * (low - 1) + 4;
    return header + (int32_t)(uint32_t)get(&r, 4);
}

/* ---- Rules (6.4) ------------------------------------------------------------------------------------------------ */

enum how { SAME, AT_CFA, IN_REGISTER, UNDEFINED, UNKNOWN };
struct rule {
    enum how how;
    int64_t value; /* an offset, or a register */
};
struct rules {
    uint64_t cfa_register;
    int64_t cfa_offset;
    struct rule ra, fp;
    bool cfa_known, signed_ra;
};
enum { REMEMBERED = 4 };
struct run {
    struct rules now, first, kept[REMEMBERED];
    unsigned num_kept;
    uint64_t code_align, ra_register;
    int64_t data_align;
    uint64_t pc, at; /* what is asked for, and where the instructions are */
    bool bad;
};

static void set_rule(struct run *run, uint64_t reg, enum how how, int64_t value)
{
    struct rule *rule = reg == run->ra_register ? &run->now.ra : reg == SFU_REG_FP ? &run->now.fp : NULL;

    if (rule != NULL) {
        rule->how = how;
        rule->value = value;
    }
}

static void restore(struct run *run, uint64_t reg)
{
    const struct rule *rule = reg == run->ra_register ? &run->first.ra : &run->first.fp;

    set_rule(run, reg, rule->how, rule->value);
}

static void set_cfa(struct run *run, uint64_t reg, int64_t offset)
{
    run->now.cfa_register = reg;
    run->now.cfa_offset = offset;
    run->now.cfa_known = true;
}

static void keep(struct run *run)
{
    if (run->num_kept < REMEMBERED)
        run->kept[run->num_kept++] = run->now;
    else
        run->bad = true;
}

static void take_back(struct run *run)
{
    if (run->num_kept > 0)
        run->now = run->kept[--run->num_kept];
    else
        run->bad = true;
}

/* One of the instructions that is a byte OP and its operands (6.4.2). One that is not known makes RUN bad. */
static void one(struct run *run, struct reader *r, unsigned op)
{
    uint64_t reg;

    switch (op) {
    case 0x00: /* nop */
        break;
    case 0x02: /* advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        run->at += get(r, 1u << (op - 2)) * run->code_align;
        break;
    case 0x05: /* offset_extended */
        reg = get_uleb(r);
        set_rule(run, reg, AT_CFA, (int64_t)get_uleb(r) * run->data_align);
        break;
    case 0x06: /* restore_extended */
        restore(run, get_uleb(r));
        break;
    case 0x07: /* undefined */
        set_rule(run, get_uleb(r), UNDEFINED, 0);
        break;
    case 0x08: /* same_value */
        set_rule(run, get_uleb(r), SAME, 0);
        break;
    case 0x09: /* register */
        reg = get_uleb(r);
        set_rule(run, reg, IN_REGISTER, (int64_t)get_uleb(r));
        break;
    case 0x0a: /* remember_state */
        keep(run);
        break;
    case 0x0b: /* restore_state */
        take_back(run);
        break;
    case 0x0c: /* def_cfa */
        reg = get_uleb(r);
        set_cfa(run, reg, (int64_t)get_uleb(r));
        break;
    case 0x0d: /* def_cfa_register */
        set_cfa(run, get_uleb(r), run->now.cfa_offset);
        break;
    case 0x0e: /* def_cfa_offset */
        set_cfa(run, run->now.cfa_register, (int64_t)get_uleb(r));
        break;
    case 0x0f: /* def_cfa_expression */
        skip(r, get_uleb(r));
        run->now.cfa_known = false;
        break;
    case 0x10: /* expression, val_expression */
    case 0x16:
        set_rule(run, get_uleb(r), UNKNOWN, 0);
        skip(r, get_uleb(r));
        break;
    case 0x11: /* offset_extended_sf */
        reg = get_uleb(r);
        set_rule(run, reg, AT_CFA, get_sleb(r) * run->data_align);
        break;
    case 0x12: /* def_cfa_sf */
        reg = get_uleb(r);
        set_cfa(run, reg, get_sleb(r) * run->data_align);
        break;
    case 0x13: /* def_cfa_offset_sf */
        set_cfa(run, run->now.cfa_register, get_sleb(r) * run->data_align);
        break;
    case 0x14: /* val_offset, val_offset_sf: of SP, mostly, which is where the ABI says */
    case 0x15:
        set_rule(run, get_uleb(r), UNKNOWN, 0);
        (void)get_uleb(r);
        break;
#if defined(__aarch64__)
    case 0x2d: /* AARCH64_negate_ra_state */
        run->now.signed_ra = !run->now.signed_ra;
        break;
#endif
    default:
        run->bad = true;
        break;
    }
}

/* Runs the instructions in R up to those behind the PC. */
static void run_all(struct run *run, struct reader r)
{
    while (r.p < r.end && !r.bad && !run->bad && run->at <= run->pc) {
        unsigned op = (unsigned)get(&r, 1), low = op & 63;

        if (op >> 6 == 1) /* advance_loc, offset, restore: with an operand in OP itself */
            run->at += low * run->code_align;
        else if (op >> 6 == 2)
            set_rule(run, low, AT_CFA, (int64_t)get_uleb(&r) * run->data_align);
        else if (op >> 6 == 3)
            restore(run, low);
        else
            one(run, &r, op);
    }
    run->bad = run->bad || r.bad;
}

/* What follows the length at ENTRY. */
static struct reader body_of(const uint8_t *entry, const uint8_t *end)
{
    struct reader r = {entry, end, false};
    uint64_t size = get(&r, 4);

    r.bad = r.bad || size == 0xffffffff || (uint64_t)(end - r.p) < size;
    if (!r.bad)
        r.end = r.p + size;
    return r;
}

/* Reads the CIE in R, and runs its instructions. Augmentations other than zR, and B of aarch64, are not known. */
static void run_cie(struct run *run, struct reader r)
{
    uint64_t id = get(&r, 4), version = get(&r, 1), size;
    bool pcrel = false;
    const uint8_t *names = r.p, *rest;

    while (get(&r, 1) != 0)
        ;
    run->code_align = get_uleb(&r);
    run->data_align = get_sleb(&r);
    run->ra_register = version == 1 ? get(&r, 1) : get_uleb(&r);
    size = get_uleb(&r);
    run->bad =
        r.bad || id != 0 || (version != 1 && version != 3) || names[0] != 'z' || (size_t)(r.end - r.p) < size;
    if (run->bad)
        return;
    rest = r.p + size;
    for (names++; *names != '\0'; names++)
        if (*names == 'R')
            pcrel = get(&r, 1) == PCREL_SDATA4;
        else if (*names != 'B')
            run->bad = true;
    run->bad = run->bad || r.bad || !pcrel;
    r.p = rest;
    if (!run->bad)
        run_all(run, r);
    run->first = run->now;
}

/* Finds the rules of PC in the image at ELF. */
static bool find_rules(struct run *run, const uint8_t *elf, uint64_t pc)
{
    struct reader load = segment_of(elf, PT_LOAD), r;
    const uint8_t *fde, *start;
    uint64_t cie, size;

    if (load.bad || pc < (uintptr_t)load.p || pc >= (uintptr_t)load.end)
        return false;
    fde = find_fde(elf, pc);
    if (fde == NULL || fde < load.p || fde >= load.end)
        return false;
    r = body_of(fde, load.end);
    cie = (uintptr_t)r.p;
    cie -= get(&r, 4);
    start = get_pcrel(&r);
    size = get(&r, 4);
    if (r.bad || cie < (uintptr_t)load.p || cie >= (uintptr_t)fde || pc - (uintptr_t)start >= size)
        return false;
    run->now.ra.how = run->now.fp.how = SAME;
    run->now.cfa_known = run->now.signed_ra = run->bad = false;
    run->num_kept = 0;
    run->pc = run->at = 0; /* those of a CIE hold from the start on */
    run_cie(run, body_of((const uint8_t *)(uintptr_t)cie, load.end));
    run->at = (uintptr_t)start;
    run->pc = pc;
    skip(&r, get_uleb(&r)); /* augmentation data */
    if (r.bad || run->bad)
        return false;
    run_all(run, r);
    return !run->bad && run->now.cfa_known;
}

/* ---- The caller ------------------------------------------------------------------------------------------------- */

/* Register REG of FRAME. */
static int value_of(const struct sfu_linux *self, const struct sfu_frame *frame, uint64_t reg, sfu_addr *value)
{
    const struct sfu_target *t = &self->target;

    if (reg != SFU_REG_SP && reg != SFU_REG_FP) {
        if (frame->regs.pc_kind != SFU_PC_EXACT)
            return SFU_E_UNSAFE;
        return t->reg != NULL && t->reg(t->ctx, frame, (uint32_t)reg, value) == 0 ? (int)SFU_OK
                                                                                  : (int)SFU_E_REGISTER;
    }
    *value = reg == SFU_REG_SP ? frame->regs.sp : frame->regs.fp;
    return SFU_OK;
}

/* What RULE says, where *VALUE is the register's own. */
static int follow(const struct sfu_linux *self, const struct sfu_frame *frame, const struct rule *rule,
                  sfu_addr cfa, sfu_addr *value)
{
    sfu_addr slot = cfa + (sfu_addr)rule->value;

    if (rule->how == SAME)
        return SFU_OK;
    if (rule->how == IN_REGISTER)
        return value_of(self, frame, (uint64_t)rule->value, value);
    if (rule->how != AT_CFA)
        return SFU_E_NO_RA;
    if (slot < frame->regs.sp && frame->regs.sp - slot > RED_ZONE)
        return SFU_E_DEAD_SLOT; /* a signal may have overwritten it */
    return sfu_linux_read(NULL, slot, value, 8) == 0 ? (int)SFU_OK : (int)SFU_E_STACK;
}

/* RA without the bits that are its PAC. Bit 55 says what they were. */
static sfu_addr plain(const struct sfu_target *target, uint64_t ra)
{
    const uint64_t pac = target->pac_mask != 0 ? target->pac_mask : 0xff7f000000000000;

    return (sfu_addr)((ra >> 55 & 1) != 0 ? ra | pac : ra & ~pac);
}

int sfu_linux_vdso_trap(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    const struct sfu_linux *self = (const struct sfu_linux *)ctx;
    struct sfu_registers *regs = &interrupted->regs;
    struct run run;
    sfu_addr cfa, ra = frame->regs.ra, fp = frame->regs.fp;
    int by_signal = sfu_linux_trap(ctx, frame, code, interrupted), wrong;

    if (by_signal != code || self->vdso == NULL || code == SFU_E_TRAP ||
        !find_rules(&run, (const uint8_t *)self->vdso, sfu_lookup_pc(&frame->regs)))
        return by_signal;
    wrong = value_of(self, frame, run.now.cfa_register, &cfa);
    if (wrong != SFU_OK)
        return wrong;
    cfa += (sfu_addr)run.now.cfa_offset;
    if (run.now.ra.how == SAME && !(frame->regs.has_ra && frame->regs.pc_kind == SFU_PC_EXACT))
        return SFU_E_NO_RA;
    wrong = follow(self, frame, &run.now.ra, cfa, &ra);
    if (wrong == SFU_OK)
        wrong = follow(self, frame, &run.now.fp, cfa, &fp);
    if (wrong != SFU_OK)
        return wrong;
    regs->pc = run.now.signed_ra ? plain(&self->target, ra) : ra;
    regs->sp = cfa - SP_BELOW_CFA;
    regs->fp = fp;
    regs->pc_kind = SFU_PC_RETURN;
    interrupted->saved = 0;
    return SFU_OK;
}

int sfu_linux_vdso(struct sfu_linux *self, struct sfu_section *section, const uintptr_t *auxv)
{
    const uint8_t *elf = NULL;
    sfu_addr unused;
    int code;

    for (; auxv[0] != 0; auxv += 2)
        if (auxv[0] == AT_SYSINFO_EHDR)
            elf = (const uint8_t *)auxv[1];
    if (elf == NULL)
        return SFU_E_NO_SECTION;
    self->vdso = elf;
    self->target.trap_hook = sfu_linux_vdso_trap;
    code = sfu_linux_find(section, elf + EHDR_SIZE, *(const uint16_t *)(const void *)(elf + E_PHNUM), &unused);
    if (code == SFU_E_NO_SECTION)
        return segment_of(elf, PT_GNU_EH_FRAME).bad ? (int)SFU_E_NO_SECTION : (int)SFU_OK;
    if (code == SFU_OK)
        code = sfu_add(&self->target.sections, section, 1, section->bytes, section->size, section->addr);
    return code;
}
