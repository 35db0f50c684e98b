/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Nothing in an ELF file says in which mode code runs; instructions that change the mode do, because they stand in code
 * of one mode alone:
 *
 *     sets or clears PE in CR0, with operands as 16-bit code has them      16-bit code
 *     a far jump, whose bytes are no instruction in 64-bit code,           32-bit code of an image for x86_64
 *         to code of the image
 *     is where a boot loader starts an image for x86_64 (Multiboot)        32-bit code, if that changes the mode later
 *     is where a far jump leads, in an image that sets EFER.LME            64-bit code of an image for i386
 *
 * From there on the mode is that of all code which near jumps and calls lead to, and of code that calls or jumps there.
 * Sections are those of the "Intel 64 and IA-32 Architectures Software Developer's Manual".
 */
#include "modes.h"

/* ---- Far jumps --------------------------------------------------------------------------------------------------- */

uint64_t modes_linked_at(const struct image *image, uint64_t physical)
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
uint64_t modes_far_target(struct image *image, const uint8_t *p, size_t before, size_t behind)
{
    if (before == 0 || (p[-1] != 0xea && p[-1] != 0x2d && p[-1] != 0xcb)) /* most bytes end none */
        return 0;
    if (before >= 1 && p[-1] == 0xea && behind >= 6 && is_far_pointer(p))
        return load_number(p, 4, false);
    if (before >= 2 && p[-2] == 0xff && p[-1] == 0x2d && behind >= 4) {
        const uint64_t at = modes_linked_at(image, load_number(p, 4, false));
        const uint8_t *pointer = image_bytes(image, at, 6);

        return pointer != NULL && is_far_pointer(pointer) ? load_number(pointer, 4, false) : 0;
    }
    if (before >= 8 && p[-1] == 0xcb && p[-6] == 0x68 && p[-8] == 0x6a && p[-7] >= 8 && (p[-7] & 0x87) == 0)
        return load_number(p - 5, 4, false);
    return 0;
}

#ifdef SFU_ZYDIS
#include "common/filled.h"
#include "common/report.h"
#include "sfu.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a byte of code: nothing, or its mode, and whether an instruction begins there. */
enum { UNKNOWN, BITS_16, BITS_32, BITS_64, MODES, MODE = 3, BEGINS = 4 };

/* What code does with PE, bit 0 of CR0. */
enum { PE_KEPT, PE_SET, PE_CLEARED };

/* Where a way goes on. PENDING: what happens to PE as soon as CR0 is written. */
struct place {
    uint64_t addr;
    uint8_t mode, pe, pending;
};

/* What is known of a section of code. Marks lie in a BLOCK, or none does. */
enum { BLOCK = 32768 };

struct area {
    const struct section *section;
    const uint8_t *bytes;
    uint8_t *marks;
    bool *blocks;
};

struct modes {
    struct image *image;
    uint8_t own;
    ZydisDecoder decoder[MODES];
    struct area *areas;
    struct place *places; /* where ways are to go on */
    size_t num_places;
    uint64_t *marked; /* the instructions that this spread has marked */
    size_t num_marked;
    bool switches; /* it has come to a change of the mode */
    bool changes;  /* it has come to a change of PE, as 16-bit code has it */
    bool protects; /* it has come to the far jump of 16-bit code behind that */
    bool fails;    /* it has come to bytes that are no instruction, or out of the code */
};

struct insn {
    ZydisDecodedInstruction i;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    uint64_t next;
};

/* ---- Code ------------------------------------------------------------------------------------------------------ */

static struct area *area_at(const struct modes *m, uint64_t addr)
{
    size_t i;

    for (i = 0; i < m->image->num_code; i++)
        if (m->areas[i].bytes != NULL && addr >= m->areas[i].section->addr &&
            addr - m->areas[i].section->addr < m->areas[i].section->size)
            return &m->areas[i];
    return NULL;
}

/* The instruction at PC, in A, as one of MODE. */
static bool read_at(const struct modes *m, const struct area *a, unsigned mode, uint64_t pc, struct insn *x)
{
    const uint64_t at = pc - a->section->addr;

    if (pc < a->section->addr || at >= a->section->size ||
        !ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&m->decoder[mode], a->bytes + at, a->section->size - at, &x->i, x->op)))
        return false;
    x->next = pc + x->i.length;
    return true;
}

static bool is_far(const struct insn *x)
{
    return x->i.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
}

/* Whether X jumps or calls relative to its own address: then *TARGET is where. */
static bool goes_to(const struct insn *x, uint64_t *target)
{
    *target = x->next + (uint64_t)x->i.raw.imm[0].value.s;
    return x->i.raw.imm[0].is_relative;
}

/* Whether nothing comes behind X. */
static bool ends(const struct insn *x)
{
    switch (x->i.mnemonic) {
    case ZYDIS_MNEMONIC_JMP:
    case ZYDIS_MNEMONIC_RET:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_RSM:
        return true;
    default:
        return false;
    }
}

/* Whether the instructions of MODE from START on, one behind the other, come to one at END, all in one mode. */
static bool comes_to(const struct modes *m, const struct area *a, unsigned mode, uint64_t start, uint64_t end)
{
    uint64_t pc = start;
    struct insn x;

    while (pc < end) {
        if (!read_at(m, a, mode, pc, &x) || is_far(&x))
            return false;
        pc = x.next;
    }
    return pc == end;
}

/* Whether the image has a symbol at ADDR, of a FUNCTION or of anything. */
static bool has_symbol(const struct modes *m, uint64_t addr, bool function)
{
    const struct symbol *symbol = image_symbol_before(m->image, addr);

    return symbol != NULL && symbol->addr == addr && (symbol->function || !function);
}

/* ---- Marks ----------------------------------------------------------------------------------------------------- */

/* Whether the instruction X at PC is in A and nothing is known of its bytes: marks them. */
static bool mark(struct modes *m, struct area *a, unsigned mode, uint64_t pc, const struct insn *x)
{
    const uint64_t at = pc - a->section->addr;
    unsigned i;

    for (i = 0; i < x->i.length; i++)
        if (a->marks[at + i] != UNKNOWN)
            return false;
    memset(a->marks + at, (int)mode, x->i.length);
    a->marks[at] |= BEGINS;
    a->blocks[at / BLOCK] = true;
    m->marked = grow(m->marked, m->num_marked, sizeof *m->marked);
    m->marked[m->num_marked++] = pc;
    return true;
}

/* Nothing of this spread has been. */
static void unmark(struct modes *m)
{
    while (m->num_marked > 0) {
        const uint64_t pc = m->marked[--m->num_marked];
        struct area *a = area_at(m, pc);
        uint64_t at = pc - a->section->addr;

        do
            a->marks[at++] = UNKNOWN;
        while (at < a->section->size && a->marks[at] != UNKNOWN && !(a->marks[at] & BEGINS));
    }
}

static bool is_marked(const struct modes *m, uint64_t addr, unsigned mode)
{
    const struct area *a = area_at(m, addr);

    return a != NULL && a->marks[addr - a->section->addr] == (mode | BEGINS);
}

static bool is_near_marks(const struct area *a, uint64_t addr)
{
    const uint64_t block = (addr - a->section->addr) / BLOCK, last = (a->section->size - 1) / BLOCK;

    return a->blocks[block] || (block > 0 && a->blocks[block - 1]) || (block < last && a->blocks[block + 1]);
}

/* ---- Ways ------------------------------------------------------------------------------------------------------ */

static void go_on(struct modes *m, uint64_t addr, unsigned mode, unsigned pe, unsigned pending)
{
    m->places = grow(m->places, m->num_places, sizeof *m->places);
    m->places[m->num_places++] = (struct place){addr, (uint8_t)mode, (uint8_t)pe, (uint8_t)pending};
}

/* What X, with a number, makes of bit 0 of a register, if that was WAS. */
static unsigned pending_pe(const struct insn *x, unsigned was)
{
    const bool number = x->i.operand_count_visible == 2 && x->op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    const bool one = number && x->op[1].imm.value.u & 1;

    switch (x->i.mnemonic) {
    case ZYDIS_MNEMONIC_OR:
        return one ? PE_SET : was;
    case ZYDIS_MNEMONIC_AND:
        return number && !one ? PE_CLEARED : was;
    case ZYDIS_MNEMONIC_INC:
        return PE_SET;
    case ZYDIS_MNEMONIC_DEC:
        return PE_CLEARED;
    case ZYDIS_MNEMONIC_MOV:
        return !number ? PE_KEPT : one ? PE_SET : PE_CLEARED;
    default:
        return was;
    }
}

/* How many bytes an instruction of 16-bit code has that ends in front of P and sets or clears bit 0 of a register; or
 * 0. BEFORE bytes are in front of P. With 0x66 it changes a whole register; in 32-bit code it would change a half, and
 * no half goes to CR0. */
static size_t changes_pe(const uint8_t *p, size_t before)
{
    const bool one = before >= 6 && p[-4] & 1;

    if (before >= 4 && p[-4] == 0x66 && p[-3] == 0x83 &&
        (((p[-2] & 0xf8) == 0xc8 && p[-1] == 1) || ((p[-2] & 0xf8) == 0xe0 && p[-1] == 0xfe)))
        return 4; /* or $1, and $~1 */
    if (before >= 6 && p[-6] == 0x66 &&
        ((p[-5] == 0x0d && one) || (p[-5] == 0x25 && !one) || (p[-5] & 0xf8) == 0xb8))
        return 6; /* or, and, mov */
    if (before >= 7 && p[-7] == 0x66 && p[-6] == 0x81 &&
        (((p[-5] & 0xf8) == 0xc8 && one) || ((p[-5] & 0xf8) == 0xe0 && !one)))
        return 7;
    if (before >= 2 && p[-2] == 0x66 && (p[-1] & 0xf0) == 0x40)
        return 2; /* inc, dec */
    if (before >= 2 && ((p[-2] == 0x0c && p[-1] == 1) || (p[-2] == 0x24 && p[-1] == 0xfe)))
        return 2; /* or $1, %al; and $~1, %al */
    if (before >= 3 && p[-3] == 0x80 &&
        (((p[-2] & 0xf8) == 0xc8 && p[-1] == 1) || ((p[-2] & 0xf8) == 0xe0 && p[-1] == 0xfe)))
        return 3;
    return 0;
}

static bool writes_cr0(const struct insn *x)
{
    return x->i.mnemonic == ZYDIS_MNEMONIC_LMSW ||
           (x->i.mnemonic == ZYDIS_MNEMONIC_MOV && x->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            x->op[0].reg.value == ZYDIS_REGISTER_CR0);
}

/* Whether X calls a function that begins with a frame of 64-bit code: soon it computes with 64 bits of RSP. */
static bool calls_64_bits(const struct modes *m, const struct insn *x)
{
    enum { MOST = 8 };
    const struct area *a;
    uint64_t pc;
    unsigned n, k;
    struct insn y;

    if (x->i.mnemonic != ZYDIS_MNEMONIC_CALL || !goes_to(x, &pc) || !has_symbol(m, pc, true))
        return false;
    a = area_at(m, pc);
    for (n = 0; n < MOST && a != NULL && read_at(m, a, BITS_64, pc, &y) && !ends(&y); n++, pc = y.next)
        for (k = 0; k < y.i.operand_count_visible && y.i.raw.rex.W != 0; k++)
            if (y.op[k].type == ZYDIS_OPERAND_TYPE_REGISTER && y.op[k].reg.value == ZYDIS_REGISTER_RSP)
                return true;
    return false;
}

/* Whether code at ADDR, up to where it ends, has only instructions of 64-bit code, and one with operands of 64 bits, of
 * which the image's mode makes two; or, in an image for x86_64, calls what has. */
static bool has_64_bits(const struct modes *m, uint64_t addr)
{
    enum { MOST = 32 };
    const struct area *a = area_at(m, addr);
    bool any = false;
    unsigned n;
    struct insn x;

    for (n = 0; n < MOST; n++, addr = x.next) {
        if (a == NULL || !read_at(m, a, BITS_64, addr, &x))
            return false;
        any |= x.i.raw.rex.W != 0 || (m->own == BITS_64 && calls_64_bits(m, &x));
        if (ends(&x))
            break;
    }
    return any;
}

static bool has_selector(const struct insn *x)
{
    const uint16_t selector = x->op[0].ptr.segment;

    return x->op[0].type != ZYDIS_OPERAND_TYPE_POINTER || (selector >= 8 && selector < 256 && selector % 8 == 0);
}

/* Whether code at ADDR, read as 32-bit code, comes to a far jump before it ends, and is none of 64 bits. */
static bool leaves_32_bits(const struct modes *m, uint64_t addr)
{
    enum { MOST = 128 };
    const struct area *a = area_at(m, addr);
    uint64_t pc = addr;
    unsigned n;
    struct insn x;

    for (n = 0; a != NULL && n < MOST && read_at(m, a, BITS_32, pc, &x); n++, pc = x.next)
        if (ends(&x))
            return x.i.mnemonic == ZYDIS_MNEMONIC_JMP && is_far(&x) && has_selector(&x) && !has_64_bits(m, addr);
    return false;
}

/* Where code stands that a far jump leads to whose OFFSET counts in a page below 1 MiB, because it is copied there
 * before it runs: at a symbol of the section that NEXT is in, or at NEXT, which is behind the jump; or 0. */
static uint64_t place_in_page(const struct modes *m, uint64_t offset, uint64_t next)
{
    enum { PAGE = 4096, LOW = 1 << 20, MOST = 16 };
    const struct symbol *first = image_symbol_before(m->image, next);
    unsigned i;

    for (i = 0; first != NULL && offset < LOW && i < MOST && i <= (size_t)(first - m->image->symbols); i++) {
        const uint64_t to = (first - i)->addr + offset % PAGE;

        if ((to == next || has_symbol(m, to, false)) && area_at(m, to) == area_at(m, next))
            return to;
    }
    return 0;
}

/* Where in the image code stands that a far jump to OFFSET leads to, behind which NEXT is; or 0. */
static uint64_t place_of(const struct modes *m, uint64_t offset, uint64_t next)
{
    const uint64_t linked = modes_linked_at(m->image, offset);
    const uint64_t copied = has_symbol(m, linked, false) ? 0 : place_in_page(m, offset, next);

    return copied != 0 ? copied : area_at(m, linked) != NULL ? linked : 0;
}

/* The mode behind the far jump X of AT's way that leads to ADDR; or UNKNOWN. */
static unsigned mode_behind(const struct modes *m, const struct place *at, const struct insn *x, uint64_t addr)
{
    if (at->mode == BITS_16 && x->i.operand_width == 16 && at->pe != PE_SET)
        return at->pe == PE_CLEARED || x->op[0].ptr.segment == 0 ? BITS_16 : UNKNOWN;
    if (m->own == BITS_64)
        return leaves_32_bits(m, addr) ? BITS_32 : UNKNOWN;
    return at->mode == BITS_16 ? BITS_32 : UNKNOWN;
}

/* Whether the bytes of X, a far jump in 16-bit code, are one to code of the image in 32-bit code, too. */
static bool is_far_32(const struct modes *m, const struct insn *x)
{
    const uint64_t pc = x->next - x->i.length;
    struct insn other;

    return read_at(m, area_at(m, pc), BITS_32, pc, &other) && is_far(&other) && has_selector(&other) &&
           area_at(m, modes_linked_at(m->image, other.op[0].ptr.offset)) != NULL;
}

static void jump_far(struct modes *m, const struct place *at, const struct insn *x)
{
    const ZydisDecodedOperand *to = &x->op[0];
    uint64_t addr;
    unsigned mode;

    m->switches = true;
    if (x->i.mnemonic != ZYDIS_MNEMONIC_JMP || to->type != ZYDIS_OPERAND_TYPE_POINTER)
        return;
    addr = place_of(m, to->ptr.offset, x->next);
    m->protects |= at->mode == BITS_16 && at->pe == PE_SET && addr != 0 && has_selector(x) && !is_far_32(m, x);
    mode = addr != 0 ? mode_behind(m, at, x, addr) : UNKNOWN;
    if (mode != UNKNOWN)
        go_on(m, addr, mode, PE_KEPT, PE_KEPT);
}

/* Where AT's way goes on besides the next instruction. */
static void branch(struct modes *m, const struct place *at, const struct insn *x)
{
    const bool call = x->i.mnemonic == ZYDIS_MNEMONIC_CALL;
    uint64_t target;

    if (goes_to(x, &target))
        go_on(m, target, at->mode, call ? PE_KEPT : at->pe, call ? PE_KEPT : at->pending);
}

/* Whether the code behind X, of MODE, belongs to it: not a function, nor code with a symbol behind a call, which need
 * not return, nor what stands behind `hlt` but a jump back to that. */
static bool goes_on(const struct modes *m, const struct area *a, unsigned mode, const struct insn *x)
{
    struct insn next;

    if (ends(x) || has_symbol(m, x->next, x->i.mnemonic != ZYDIS_MNEMONIC_CALL))
        return false;
    return x->i.mnemonic != ZYDIS_MNEMONIC_HLT ||
           (read_at(m, a, mode, x->next, &next) && next.i.mnemonic == ZYDIS_MNEMONIC_JMP);
}

/* Follows AT's way as far as it does not jump. */
static void follow(struct modes *m, struct place at)
{
    struct area *a = area_at(m, at.addr);
    struct insn x;

    while (a != NULL && read_at(m, a, at.mode, at.addr, &x) && mark(m, a, at.mode, at.addr, &x)) {
        const uint64_t before = at.addr - a->section->addr;

        if (writes_cr0(&x)) {
            at.pe = x.i.mnemonic == ZYDIS_MNEMONIC_LMSW ? PE_SET : at.pending;
            m->changes |= at.mode == BITS_16 && changes_pe(a->bytes + before, before) != 0;
        }
        at.pending = (uint8_t)pending_pe(&x, at.pending);
        if (is_far(&x))
            jump_far(m, &at, &x);
        else
            branch(m, &at, &x);
        if (!goes_on(m, a, at.mode, &x))
            return;
        at.addr = x.next;
        a = area_at(m, at.addr);
    }
    m->fails |= a == NULL || !read_at(m, a, at.mode, at.addr, &x);
}

/* Gives MODE to all that ways from ADDR lead to. */
static void mark_ways(struct modes *m, uint64_t addr, unsigned mode)
{
    m->num_marked = 0;
    m->switches = m->changes = m->protects = m->fails = false;
    go_on(m, addr, mode, PE_KEPT, PE_KEPT);
    while (m->num_places > 0)
        follow(m, m->places[--m->num_places]);
}

/* Gives MODE to all that ways from ADDR lead to; to nothing, if they do not change the mode and ADDR's is not CERTAIN.
 * Returns whether there is any. */
static bool spread(struct modes *m, uint64_t addr, unsigned mode, bool certain)
{
    mark_ways(m, addr, mode);
    if (!certain && !m->switches)
        unmark(m);
    return m->num_marked > 0;
}

/* ---- Where other modes are for sure ---------------------------------------------------------------------------- */

/* Where code of MODE begins that comes to the instruction at PC, in A: at a symbol, or where a far jump of 32-bit code
 * leads; or 0. */
static uint64_t begin_of(const struct modes *m, const struct area *a, unsigned mode, uint64_t pc)
{
    enum { SYMBOLS = 8, NEAR = 512 };
    const struct symbol *symbol = image_symbol_before(m->image, pc);
    const uint64_t low = pc - a->section->addr > NEAR ? pc - NEAR : a->section->addr;
    uint64_t at;
    unsigned i;

    for (i = 0; symbol != NULL && i < SYMBOLS && i <= (size_t)(symbol - m->image->symbols); i++)
        if ((symbol - i)->addr >= low && comes_to(m, a, mode, (symbol - i)->addr, pc))
            return (symbol - i)->addr;
    for (at = low; at + 7 <= pc; at++) {
        const uint8_t *p = a->bytes + (at - a->section->addr);
        const uint64_t to = p[0] == 0xea ? modes_linked_at(m->image, load_number(p + 1, 4, false)) : 0;

        if (to >= low && to < pc && comes_to(m, a, mode, to, pc))
            return to;
    }
    return comes_to(m, a, mode, low, pc) ? low : 0;
}

/* 16-bit code is where PE changes: protected mode begins and ends in it (vol. 3, 10.9). */
static bool find_16_bits(struct modes *m, const struct area *a)
{
    bool any = false;
    uint64_t i;

    for (i = 0; i + 3 <= a->section->size; i++) {
        const uint8_t *p = a->bytes + i;
        size_t before;
        uint64_t pc, start;

        if (p[0] != 0x0f || p[1] != 0x22 || (p[2] & 0xf8) != 0xc0 || (before = changes_pe(p, i)) == 0)
            continue;
        pc = a->section->addr + i - before;
        start = begin_of(m, a, BITS_16, pc);
        any |= spread(m, start != 0 ? start : pc, BITS_16, true);
    }
    return any;
}

/* The target of the far jump of A that ends in front of offset I, which is not 0, but for its pointer; or 0. */
static uint64_t far_target(const struct modes *m, const struct area *a, uint64_t i)
{
    return modes_far_target(m->image, a->bytes + i, (size_t)i, (size_t)(a->section->size - i));
}

/* 32-bit code of an image for x86_64 is in front of a far jump to code of the image, if it leads there. */
static bool find_32_bits(struct modes *m, const struct area *a)
{
    bool any = false;
    uint64_t i;

    for (i = 1; i < a->section->size; i++) {
        const uint64_t to = far_target(m, a, i);
        const uint64_t pc = a->section->addr + i - (a->bytes[i - 1] == 0x2d ? 2 : 1);
        const uint64_t start =
            to != 0 && area_at(m, modes_linked_at(m->image, to)) != NULL ? begin_of(m, a, BITS_32, pc) : 0;

        if (start != 0 && !(has_symbol(m, start, true) && comes_to(m, a, BITS_64, start, pc)))
            any |= spread(m, start, BITS_32, false);
    }
    return any;
}

/* Whether the image begins with the header of a boot loader that starts it in 32-bit code (Multiboot). */
static bool has_boot_header(const struct modes *m)
{
    enum { HEADERS = 32768 };
    uint64_t at, most;
    size_t i;

    for (i = 0; i < m->image->num_sections; i++) {
        struct section *section = &m->image->sections[i];

        if (!(section->flags & SHF_ALLOC) || !image_load(m->image, section))
            continue;
        most = section->size < HEADERS ? section->size : HEADERS;
        for (at = (4 - section->addr % 4) % 4; at < most; at += 4)
            if (filled_header_size(section->bytes + at, section->size - at) > 0)
                return true;
    }
    return false;
}

/* Whether code sets EFER.LME: it has `mov $0xc0000080, %ecx`. */
static bool sets_long_mode(const struct area *a)
{
    static const uint8_t efer[] = {0xb9, 0x80, 0, 0, 0xc0};
    uint64_t i;

    for (i = 0; i + sizeof efer <= a->section->size; i++)
        if (memcmp(a->bytes + i, efer, sizeof efer) == 0)
            return true;
    return false;
}

/* 64-bit code of an image for i386 is where far jumps lead that come to it behind EFER.LME. */
static bool find_64_bits(struct modes *m, const struct area *a)
{
    bool any = false;
    uint64_t i;

    for (i = 1; i < a->section->size; i++) {
        const uint64_t to = far_target(m, a, i);
        const uint64_t addr = to != 0 ? modes_linked_at(m->image, to) : 0;

        if (addr != 0 && has_64_bits(m, addr))
            any |= spread(m, addr, BITS_64, true);
    }
    return any;
}

/* ---- What calls code of other modes ---------------------------------------------------------------------------- */

/* Whether the code from PC up to END, read as that of MODE, calls code that is known to be, jumps or falls into it. */
static bool leads_to(const struct modes *m, const struct area *a, unsigned mode, uint64_t pc, uint64_t end)
{
    bool any = false;
    uint64_t target;
    struct insn x;

    for (; pc < end; pc = x.next) {
        if (a->marks[pc - a->section->addr] != UNKNOWN || !read_at(m, a, mode, pc, &x))
            return false;
        any |= goes_to(&x, &target) && is_marked(m, target, mode);
        if (x.next >= end)
            any |= !ends(&x) && is_marked(m, x.next, mode);
    }
    return any;
}

/* Whether the same code, read as that of the image's mode, calls or jumps to a symbol. */
static bool leads_to_symbol(const struct modes *m, const struct area *a, uint64_t pc, uint64_t end)
{
    uint64_t target;
    struct insn x;

    for (; pc < end && read_at(m, a, m->own, pc, &x); pc = x.next)
        if (goes_to(&x, &target) && has_symbol(m, target, false) && area_at(m, target) != NULL)
            return true;
    return false;
}

/* Code from one symbol to the next has the mode of what it leads to. Returns whether there is any. */
static bool find_callers(struct modes *m)
{
    const struct image *image = m->image;
    bool any = false;
    unsigned mode;
    size_t i;

    for (i = 0; i < image->num_symbols; i++) {
        const uint64_t start = image->symbols[i].addr;
        const struct area *a = area_at(m, start);
        uint64_t end;

        if (a == NULL || !is_near_marks(a, start) || a->marks[start - a->section->addr] != UNKNOWN)
            continue;
        end = a->section->addr + a->section->size;
        if (i + 1 < image->num_symbols && image->symbols[i + 1].addr < end)
            end = image->symbols[i + 1].addr;
        for (mode = BITS_16; mode <= BITS_64; mode++)
            if (mode != m->own && leads_to(m, a, mode, start, end) && !leads_to_symbol(m, a, start, end))
                any |= spread(m, start, mode, true);
    }
    return any;
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

static bool open_modes(struct modes *m, struct image *image)
{
    static const ZydisMachineMode machine[MODES] = {ZYDIS_MACHINE_MODE_LEGACY_16, ZYDIS_MACHINE_MODE_LEGACY_16,
                                                    ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_MACHINE_MODE_LONG_64};
    static const ZydisStackWidth width[MODES] = {ZYDIS_STACK_WIDTH_16, ZYDIS_STACK_WIDTH_16, ZYDIS_STACK_WIDTH_32,
                                                 ZYDIS_STACK_WIDTH_64};
    unsigned mode;
    size_t i;

    *m = (struct modes){.image = image, .own = image->abi == SFU_AMD64 ? BITS_64 : BITS_32};
    for (mode = BITS_16; mode < MODES; mode++)
        if (!ZYAN_SUCCESS(ZydisDecoderInit(&m->decoder[mode], machine[mode], width[mode])))
            return false;
    m->areas = zeroed(image->num_code, sizeof *m->areas);
    for (i = 0; i < image->num_code; i++) {
        struct section *section = image->code[i];

        m->areas[i].section = section;
        m->areas[i].bytes = image_instructions(image, section->addr, section->size);
        m->areas[i].marks = zeroed(section->size, 1);
        m->areas[i].blocks = zeroed(section->size / BLOCK + 1, sizeof(bool));
    }
    return true;
}

static void close_modes(struct modes *m)
{
    size_t i;

    for (i = 0; i < m->image->num_code; i++) {
        free(m->areas[i].marks);
        free(m->areas[i].blocks);
    }
    free(m->areas);
    free(m->places);
    free(m->marked);
}

/* Whether an image for i386 is entered in 16-bit code, as by a boot sector: read so, the ways from its entry are all
 * code, and come to where protected mode begins. Then the mode is known of what they lead to. */
static bool find_entry_16(struct modes *m)
{
    if (m->own != BITS_32 || has_boot_header(m))
        return false;
    mark_ways(m, m->image->header.e_entry, BITS_16);
    if (m->changes && m->protects && !m->fails)
        return true;
    unmark(m);
    return false;
}

/* The image's own code is where it is entered, or, for x86_64, where far jumps of 32-bit code lead. */
static void find_own(struct modes *m, bool entry_16)
{
    size_t k;
    uint64_t i;

    if (m->own == BITS_32 && !entry_16)
        (void)spread(m, m->image->header.e_entry, BITS_32, true);
    for (k = 0; k < m->image->num_code && m->own == BITS_64; k++)
        for (i = 1; m->areas[k].bytes != NULL && i < m->areas[k].section->size; i++) {
            const uint64_t to = modes_far_target(m->image, m->areas[k].bytes + i, i, m->areas[k].section->size - i);
            const uint64_t addr = to != 0 ? modes_linked_at(m->image, to) : 0;

            if (addr != 0 && has_64_bits(m, addr))
                (void)spread(m, addr, BITS_64, true);
        }
}

/* Returns whether there is code of another mode. */
static bool find_all(struct modes *m)
{
    const bool entry_16 = find_entry_16(m);
    bool any = entry_16, is_long = false;
    size_t i;

    find_own(m, entry_16);
    if (m->own == BITS_64 && has_boot_header(m))
        any |= spread(m, modes_linked_at(m->image, m->image->header.e_entry), BITS_32, false);
    for (i = 0; i < m->image->num_code; i++)
        if (m->areas[i].bytes != NULL)
            any |= find_16_bits(m, &m->areas[i]);
    for (i = 0; i < m->image->num_code; i++)
        is_long |= m->areas[i].bytes != NULL && m->own == BITS_32 && sets_long_mode(&m->areas[i]);
    for (i = 0; i < m->image->num_code; i++)
        if (m->areas[i].bytes != NULL && m->own == BITS_64)
            any |= find_32_bits(m, &m->areas[i]);
        else if (m->areas[i].bytes != NULL && is_long)
            any |= find_64_bits(m, &m->areas[i]);
    while (any && find_callers(m))
        ;
    return any;
}

/* Adds the regions of A. */
static struct code_region *take_regions(const struct modes *m, const struct area *a, struct code_region *list,
                                        size_t *num)
{
    static const uint8_t bits[MODES] = {0, 16, 32, 64};
    uint64_t at;

    for (at = 0; a->bytes != NULL && at < a->section->size; at++) {
        const uint64_t addr = a->section->addr + at;
        const unsigned mode = a->marks[at] & MODE;
        struct code_region *last = *num > 0 ? &list[*num - 1] : NULL;

        if (mode == UNKNOWN || mode == m->own)
            continue;
        if (last != NULL && last->bits == bits[mode] && last->start >= a->section->addr &&
            (last->end == addr || image_is_padding(m->image, last->end, addr))) {
            last->end = addr + 1;
            continue;
        }
        list = grow(list, *num, sizeof *list);
        list[(*num)++] = (struct code_region){addr, addr + 1, bits[mode]};
    }
    return list;
}

struct code_region *modes_find(struct image *image, size_t *num)
{
    struct code_region *list = NULL;
    struct modes m;
    size_t i;

    *num = 0;
    if (!open_modes(&m, image))
        return NULL;
    if (find_all(&m))
        for (i = 0; i < image->num_code; i++)
            list = take_regions(&m, &m.areas[i], list, num);
    close_modes(&m);
    return list;
}
#else
/* ISO C forbids an empty file. */
typedef int modes_without_zydis;
#endif
