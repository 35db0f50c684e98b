/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * It reads from top to bottom: bytes, entries, expressions, rules, instructions. Sections in comments are those of the
 * DWARF standard, version 5; .eh_frame is described in the Linux Standard Base.
 */
#include "cfi.h"
#include "common/dwarf_cfi.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Bytes ----------------------------------------------------------------------------------------------------- */

/* Reads forward and never beyond the end: then it is bad, and gives zeros. */
struct cursor {
    const uint8_t *p, *end;
    bool big, bad;
    uint8_t word; /* bytes of an address */
};

static const uint8_t *take_bytes(struct cursor *c, uint64_t size)
{
    const uint8_t *p = c->p;

    if (size > (uint64_t)(c->end - c->p)) {
        c->bad = true;
        c->p = c->end;
        return NULL;
    }
    c->p += size;
    return p;
}

/* Most of what is read: a byte. */
static uint8_t take_byte(struct cursor *c)
{
    if (c->p != c->end)
        return *c->p++;
    c->bad = true;
    return 0;
}

static uint64_t take(struct cursor *c, unsigned size)
{
    const uint8_t *p = take_bytes(c, size);

    return p != NULL ? load_number(p, size, c->big) : 0;
}

static int64_t take_signed(struct cursor *c, unsigned size)
{
    unsigned unused = 64 - 8 * size;

    return (int64_t)(take(c, size) << unused) >> unused;
}

/* 7.6: seven bits a byte. Bits beyond 64 are dropped. */
static uint64_t take_leb(struct cursor *c, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = take_byte(c);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += shift < 64 ? 7 : 0;
    } while (byte & 0x80 && !c->bad);
    if (is_signed && byte & 0x40 && shift < 64)
        value |= UINT64_MAX << shift;
    return value;
}

static uint64_t take_uleb(struct cursor *c)
{
    return take_leb(c, false);
}

static int64_t take_sleb(struct cursor *c)
{
    return (int64_t)take_leb(c, true);
}

/* How .eh_frame writes an address: the parts of an encoding. */
enum { POINTER_FORM = 0x0f, POINTER_BASE = 0x70 };

/* The number in the form of ENCODING. An unknown form is bad. */
static uint64_t take_form(struct cursor *c, uint8_t encoding)
{
    switch (encoding & POINTER_FORM) {
    case DW_EH_PE_absptr:
        return take(c, c->word);
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return take(c, 8);
    case DW_EH_PE_uleb128:
        return take_uleb(c);
    case DW_EH_PE_sleb128:
        return (uint64_t)take_sleb(c);
    case DW_EH_PE_udata2:
        return take(c, 2);
    case DW_EH_PE_udata4:
        return take(c, 4);
    case DW_EH_PE_sdata2:
        return (uint64_t)take_signed(c, 2);
    case DW_EH_PE_sdata4:
        return (uint64_t)take_signed(c, 4);
    default:
        c->bad = true;
        return 0;
    }
}

/* An address of ENCODING, where C is at address AT of the program. One of 32 bits wraps. Other bases are refused,
 * because only a library at run time knows where they are. */
static uint64_t take_pointer(struct cursor *c, uint8_t encoding, uint64_t at)
{
    uint64_t value = take_form(c, encoding);
    uint8_t base = encoding & (POINTER_BASE | DW_EH_PE_indirect);

    if (base != DW_EH_PE_pcrel && base != 0)
        c->bad = true;
    if (base == DW_EH_PE_pcrel)
        value += at;
    return c->word == 4 ? (uint32_t)value : value;
}

/* ---- Entries (6.4.1) ------------------------------------------------------------------------------------------- */

/* How a register of the caller is found. */
enum how { SAME, UNDEFINED, SAVED, OFFSET, REGISTER, SAVED_AT, EXPRESSION, ABSENT };

struct rule {
    enum how how;
    int64_t offset;                /* SAVED, OFFSET: from the CFA; the CFA's own: from the register */
    uint64_t reg;                  /* REGISTER */
    struct cfi_program expression; /* SAVED_AT, EXPRESSION */
};

/* The registers whose rules are followed. */
enum { CFA, SP, FP, RA, RULES };

struct state {
    struct rule rules[RULES];
    bool signed_ra;
    uint8_t doubtful; /* of FP and RA: struct cfi_row */
    bool restored;
    bool shadowed;
};

struct cfi_cie {
    const struct section *section;
    uint64_t offset; /* in the section */
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra;
    uint8_t encoding;
    bool debug, sized, signal, key_b;
    struct cfi_program program;
    struct state initial;
    const char *why; /* NULL, or why nothing can be said of its functions */
};

/* One of the two sections, and where in it reading is. */
struct source {
    struct cfi *cfi;
    const struct section *section;
    struct cursor c;
    bool debug;
};

static uint64_t entry_offset(const struct source *s, const uint8_t *p)
{
    return (uint64_t)(p - s->section->bytes);
}

static bool bad_entry(const struct source *s, const uint8_t *p, const char *what)
{
    return image_fail(s->cfi->image, "%s, offset 0x%llx: %s", s->section->name,
                      (unsigned long long)entry_offset(s, p), what);
}

/* An entry: its contents behind the length, and whether it is a CIE or which CIE it belongs to. */
struct entry {
    const uint8_t *start;
    struct cursor c;
    bool is_cie, empty;
    uint64_t cie;
};

/* Takes the next entry. An empty one is a terminator, behind which linkers may have put more. */
static bool take_entry(struct source *s, struct entry *entry)
{
    unsigned size = 4;
    const uint8_t *id_at, *p;
    uint64_t length, id;

    memset(entry, 0, sizeof *entry);
    entry->start = s->c.p;
    length = take(&s->c, 4);
    if (length == 0xffffffff) {
        length = take(&s->c, 8);
        size = s->debug ? 8 : 4;
    }
    id_at = s->c.p;
    entry->empty = length == 0;
    p = take_bytes(&s->c, length);
    if (s->c.bad)
        return bad_entry(s, entry->start, "an entry reaches beyond the end");
    entry->c = (struct cursor){p, s->c.p, s->c.big, false, s->c.word};
    if (entry->empty)
        return true;
    id = take(&entry->c, size);
    if (entry->c.bad)
        return bad_entry(s, entry->start, "an entry is too short");
    if (s->debug) {
        entry->is_cie = id == (size == 8 ? UINT64_MAX : 0xffffffff);
        entry->cie = id;
    } else {
        entry->is_cie = id == 0;
        entry->cie = entry_offset(s, id_at) - id;
    }
    return true;
}

/* The data behind the letters of an augmentation that begins with z. */
static void take_augmentation(struct cursor *c, const char *letters, struct cfi_cie *cie)
{
    struct cursor data = {NULL, NULL, c->big, false, c->word};
    uint64_t size = take_uleb(c);

    data.p = take_bytes(c, size);
    data.end = c->p;
    if (data.p == NULL)
        return;
    cie->sized = true;
    for (letters++; *letters != '\0' && cie->why == NULL; letters++)
        if (*letters == 'R')
            cie->encoding = (uint8_t)take(&data, 1);
        else if (*letters == 'L')
            (void)take(&data, 1);
        else if (*letters == 'P')
            (void)take_form(&data, (uint8_t)take(&data, 1));
        else if (*letters == 'S')
            cie->signal = true;
        else if (*letters == 'B')
            cie->key_b = true;
        else if (*letters != 'G')
            cie->why = "its CFI has an unknown augmentation";
    c->bad |= data.bad;
}

/* Takes what stands in front of a CIE's instructions. */
static void take_cie_head(struct cursor *c, struct cfi_cie *cie)
{
    uint8_t version = (uint8_t)take(c, 1);
    const char *letters = (const char *)c->p;

    while (take(c, 1) != 0)
        continue;
    if (c->bad)
        return;
    if (version != 1 && version != 3 && version != 4) {
        cie->why = "its CFI is of an unknown version";
        return;
    }
    if (version == 4 && (take(c, 1) != c->word) + (take(c, 1) != 0) > 0)
        cie->why = "its CFI has addresses of another size, or segments";
    cie->code_align = take_uleb(c);
    cie->data_align = take_sleb(c);
    cie->ra = version == 1 ? take(c, 1) : take_uleb(c);
    if (letters[0] == 'z')
        take_augmentation(c, letters, cie);
    else if (letters[0] != '\0')
        cie->why = "its CFI has an unknown augmentation";
}

static void run_cie(const struct cfi *cfi, struct cfi_cie *cie);

static bool add_cie(struct source *s, struct entry *entry)
{
    struct cfi *cfi = s->cfi;
    struct cfi_cie cie = {0};

    cie.section = s->section;
    cie.offset = entry_offset(s, entry->start);
    cie.debug = s->debug;
    take_cie_head(&entry->c, &cie);
    if (entry->c.bad)
        return bad_entry(s, entry->start, "a CIE is too short");
    cie.program = (struct cfi_program){entry->c.p, entry->c.end};
    run_cie(cfi, &cie);
    cfi->cies = grow(cfi->cies, cfi->num_cies, sizeof *cfi->cies);
    cfi->cies[cfi->num_cies++] = cie;
    return true;
}

/* The CIE of the source at OFFSET, among those behind the first FIRST, or NULL. They are in the order of the file. */
static const struct cfi_cie *find_cie(const struct cfi *cfi, size_t first, uint64_t offset)
{
    size_t low = first, high = cfi->num_cies;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (cfi->cies[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < cfi->num_cies && cfi->cies[low].offset == offset ? &cfi->cies[low] : NULL;
}

/* Free Pascal (3.2) says where the CIE is in 8 bytes, behind a length that promises 4. As far as DWARF goes, its FDEs
 * are of code that is nowhere: the address begins 4 bytes later. */
static void skip_half(const struct source *s, struct cursor *c)
{
    enum { HALF = 4, ADDRESS = 8 };
    const struct image *image = s->cfi->image;
    const uint8_t *p = c->p;
    const struct section *section;
    uint64_t start, size;

    if (!s->debug || c->word != ADDRESS || c->end - p < HALF + 2 * ADDRESS || load_number(p, HALF, c->big) != 0 ||
        image_code(image, load_number(p, ADDRESS, c->big)) != NULL)
        return;
    start = load_number(p + HALF, ADDRESS, c->big);
    size = load_number(p + HALF + ADDRESS, ADDRESS, c->big);
    section = image_code(image, start);
    if (section != NULL && size > 0 && size <= section->size - (start - section->addr))
        (void)take_bytes(c, HALF);
}

static bool add_fde(struct source *s, struct entry *entry, size_t first_cie)
{
    struct cfi *cfi = s->cfi;
    struct cursor *c = &entry->c;
    struct cfi_fde fde = {0};

    fde.cie = find_cie(cfi, first_cie, entry->cie);
    if (fde.cie == NULL)
        return bad_entry(s, entry->start, "an FDE of no CIE");
    skip_half(s, c);
    fde.start = take_pointer(c, fde.cie->encoding, s->section->addr + entry_offset(s, c->p));
    if (abi_is_arm(cfi->image->abi))
        fde.start &= ~(uint64_t)1; /* of Thumb code */
    fde.size = take_form(c, fde.cie->encoding);
    if (fde.cie->sized)
        (void)take_bytes(c, take_uleb(c));
    if (c->bad)
        return bad_entry(s, entry->start, "an FDE is too short, or its addresses of an unknown encoding");
    fde.program = (struct cfi_program){c->p, c->end};
    cfi->fdes = grow(cfi->fdes, cfi->num_fdes, sizeof *cfi->fdes);
    cfi->fdes[cfi->num_fdes++] = fde;
    return true;
}

/* Reads the CIEs of a section, and then its FDEs: they may come first. */
static bool read_source(struct cfi *cfi, struct section *section, bool debug)
{
    struct source s = {cfi, section, {NULL, NULL, cfi->image->big, false, cfi->image->registers->word}, debug};
    size_t first_cie = cfi->num_cies;
    struct entry entry;
    int pass;

    if (!image_load(cfi->image, section))
        return false;
    for (pass = 0; pass < 2; pass++) {
        s.c.p = section->bytes;
        s.c.end = section->bytes + section->size;
        while (s.c.p < s.c.end) {
            if (!take_entry(&s, &entry))
                return false;
            if (entry.empty || entry.is_cie != (pass == 0))
                continue;
            if (!(entry.is_cie ? add_cie(&s, &entry) : add_fde(&s, &entry, first_cie)))
                return false;
        }
    }
    return true;
}

bool cfi_read(struct cfi *cfi, struct image *image, unsigned sources)
{
    struct section *eh = image_section(image, ".eh_frame"), *debug = image_section(image, ".debug_frame");

    memset(cfi, 0, sizeof *cfi);
    cfi->image = image;
    if (sources & CFI_EH && eh != NULL && eh->type != SHT_NOBITS && !read_source(cfi, eh, false))
        return false;
    if (sources & CFI_DEBUG && debug != NULL && debug->type != SHT_NOBITS) {
        const struct cfi_cie *before = cfi->cies;
        size_t i, count = cfi->num_fdes;
        bool good = read_source(cfi, debug, true);

        for (i = 0; i < count; i++) /* more CIEs may have moved them */
            cfi->fdes[i].cie = cfi->cies + (cfi->fdes[i].cie - before);
        return good;
    }
    return true;
}

/* Whether a CIE with an augmentation of its own size is at P, which has LEFT bytes, and behind it an FDE that says that
 * it belongs to it. */
static bool is_cfi(const uint8_t *p, uint64_t left, bool big)
{
    enum { LEAST = 12, MOST = 64, HEAD = 9 };
    uint64_t length = left >= HEAD ? load_number(p, 4, big) : 0;

    return length >= LEAST && length <= MOST && left >= length + 12 && load_number(p + 4, 4, big) == 0 &&
           (p[8] == 1 || p[8] == 3) && p[9] == 'z' && load_number(p + length + 8, 4, big) == length + 8;
}

const struct section *cfi_misplaced(struct image *image)
{
    size_t i;
    uint64_t at;

    for (i = 0; i < image->num_data; i++) {
        struct section *s = image->data[i];

        if (strcmp(s->name, ".eh_frame") == 0 || !image_load(image, s))
            continue;
        for (at = 0; at < s->size; at += 4)
            if (is_cfi(s->bytes + at, s->size - at, image->big))
                return s;
    }
    return NULL;
}

/* Whether each entry starts outside of the code, and code is 4 GiB from there: a linker has cut distances to 32
 * bits. */
static bool is_out_of_reach(const struct cfi *cfi)
{
    const uint64_t cut = (uint64_t)1 << 32;
    size_t i;

    for (i = 0; i < cfi->num_fdes; i++) {
        uint64_t start = cfi->fdes[i].start;

        if (image_code(cfi->image, start) != NULL ||
            (image_code(cfi->image, start - cut) == NULL && image_code(cfi->image, start + cut) == NULL))
            return false;
    }
    return cfi->num_fdes > 0;
}

const char *cfi_why_nothing(const struct cfi *cfi)
{
    return is_out_of_reach(cfi)
               ? "its .eh_frame is 2 GiB or more from the code, and the linker has cut what leads there "
                 "to 32 bits: place .eh_frame nearer to the code"
               : "SFrame can express nothing of its CFI";
}

void cfi_free(struct cfi *cfi)
{
    size_t i;

    for (i = 0; i < cfi->num_fdes; i++)
        free(cfi->fdes[i].rows);
    free(cfi->made);
    free(cfi->cies);
    free(cfi->fdes);
    free(cfi->free_starts);
    cfi->free_starts = NULL;
    cfi->num_free_starts = 0;
    free(cfi->returns);
    cfi->returns = NULL;
    cfi->num_returns = 0;
    cfi->made = NULL;
    cfi->cies = NULL;
    cfi->fdes = NULL;
}

static bool is_among(const uint64_t *list, size_t num, uint64_t addr)
{
    const size_t n = count_up_to(list, num, sizeof *list, 0, addr);

    return n > 0 && list[n - 1] == addr;
}

bool cfi_is_free_start(const struct cfi *cfi, uint64_t addr)
{
    return is_among(cfi->free_starts, cfi->num_free_starts, addr);
}

bool cfi_is_return(const struct cfi *cfi, uint64_t addr)
{
    return is_among(cfi->returns, cfi->num_returns, addr);
}

void cfi_add_code(struct cfi *cfi, const struct cfi_row *rows, size_t num)
{
    struct cfi_fde fde = {0};

    if (cfi->made == NULL) {
        cfi->made = zeroed(1, sizeof *cfi->made);
        cfi->made->ra = cfi->image->registers->ra;
    }
    fde.cie = cfi->made;
    fde.start = rows[0].start;
    fde.size = rows[num - 1].end - rows[0].start;
    fde.trap = rows[0].trap;
    fde.rows = zeroed(num, sizeof *rows);
    memcpy(fde.rows, rows, num * sizeof *rows);
    fde.num_rows = num;
    cfi->fdes = grow(cfi->fdes, cfi->num_fdes, sizeof *cfi->fdes);
    cfi->fdes[cfi->num_fdes++] = fde;
}

bool cfi_is_signal(const struct cfi_fde *fde)
{
    return fde->cie->signal || fde->trap;
}

bool cfi_is_key_b(const struct cfi_fde *fde)
{
    return fde->cie->key_b;
}

uint64_t cfi_ra_register(const struct cfi_fde *fde)
{
    return fde->cie->ra;
}

bool cfi_is_debug(const struct cfi_fde *fde)
{
    return fde->cie->debug;
}

bool cfi_is_relative(const struct cfi_fde *fde)
{
    return (fde->cie->encoding & POINTER_BASE) == DW_EH_PE_pcrel;
}

static bool same_program(const struct cfi_program *a, const struct cfi_program *b)
{
    size_t size = (size_t)(a->end - a->start);

    return size == (size_t)(b->end - b->start) && (size == 0 || memcmp(a->start, b->start, size) == 0);
}

/* Their programs are read alike. */
static bool same_cie(const struct cfi_cie *a, const struct cfi_cie *b)
{
    return a == b || (a->code_align == b->code_align && a->data_align == b->data_align && a->ra == b->ra &&
                      a->encoding == b->encoding && a->signal == b->signal && a->key_b == b->key_b &&
                      a->why == NULL && b->why == NULL && same_program(&a->program, &b->program));
}

bool cfi_is_same(const struct cfi_fde *a, const struct cfi_fde *b)
{
    return a->start == b->start && a->size == b->size && same_cie(a->cie, b->cie) &&
           same_program(&a->program, &b->program);
}

/* ---- Expressions (2.5) ----------------------------------------------------------------------------------------- */

/* What an expression has computed, as far as rules can be made of it. */
struct value {
    enum { NUMBER, SUM, WORD } kind; /* offset; base + offset; *(base + offset) */
    bool cfa;                        /* the base is the CFA */
    uint64_t reg;                    /* the base is this register */
    int64_t offset;
};

/* Steps are counted, because an expression may jump back. */
enum { STACK = 32, MAX_STEPS = 1000 };

struct machine {
    struct cursor c;
    const uint8_t *start;
    const struct registers *registers;
    uint64_t pc;
    bool asked_pc;
    struct value stack[STACK];
    unsigned depth;
    const char *why;
};

static const char too_complex[] = "a rule by an expression that SFrame cannot say";
static const char bad_expression[] = "a corrupt expression";

static void push_value(struct machine *m, struct value value)
{
    if (m->depth == STACK)
        m->why = bad_expression;
    else
        m->stack[m->depth++] = value;
}

static void push_number(struct machine *m, uint64_t number)
{
    push_value(m, (struct value){NUMBER, false, 0, (int64_t)number});
}

static struct value pop_value(struct machine *m)
{
    if (m->depth == 0) {
        m->why = bad_expression;
        return (struct value){NUMBER, false, 0, 0};
    }
    return m->stack[--m->depth];
}

/* The value N below the top. */
static struct value peek(struct machine *m, uint64_t n)
{
    if (n >= m->depth) {
        m->why = bad_expression;
        return (struct value){NUMBER, false, 0, 0};
    }
    return m->stack[m->depth - 1 - n];
}

static void push_register(struct machine *m, uint64_t reg, int64_t offset)
{
    if (reg == m->registers->pc) {
        m->asked_pc = true;
        push_number(m, m->pc + (uint64_t)offset);
    } else {
        push_value(m, (struct value){SUM, false, reg, offset});
    }
}

static void dereference(struct machine *m)
{
    struct value v = pop_value(m);

    if (v.kind != SUM)
        m->why = too_complex;
    v.kind = WORD;
    push_value(m, v);
}

/* V + NUMBER. To what has been read from memory nothing can be added, because a rule of SFrame reads last. */
static void push_sum(struct machine *m, struct value v, uint64_t number)
{
    if (v.kind == WORD && number != 0)
        m->why = too_complex;
    else if (v.kind != WORD)
        v.offset = (int64_t)((uint64_t)v.offset + number);
    push_value(m, v);
}

static bool is_shift(uint8_t op)
{
    return op >= DW_OP_shl && op <= DW_OP_shra;
}

/* A OP B for numbers. */
static uint64_t calculate(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
    int64_t x = (int64_t)a, y = (int64_t)b;

    if (((op == DW_OP_div || op == DW_OP_mod) && b == 0) || (op == DW_OP_div && x == INT64_MIN && y == -1) ||
        (is_shift(op) && b > 63)) {
        m->why = bad_expression;
        return 0;
    }
    switch (op) {
    case DW_OP_and:
        return a & b;
    case DW_OP_div:
        return (uint64_t)(x / y);
    case DW_OP_minus:
        return a - b;
    case DW_OP_mod:
        return a % b;
    case DW_OP_mul:
        return a * b;
    case DW_OP_or:
        return a | b;
    case DW_OP_plus:
        return a + b;
    case DW_OP_shl:
        return a << b;
    case DW_OP_shr:
        return a >> b;
    case DW_OP_shra:
        return (uint64_t)(x >> y);
    case DW_OP_xor:
        return a ^ b;
    case DW_OP_eq:
        return x == y;
    case DW_OP_ge:
        return x >= y;
    case DW_OP_gt:
        return x > y;
    case DW_OP_le:
        return x <= y;
    case DW_OP_lt:
        return x < y;
    default:
        return x != y;
    }
}

static void binary(struct machine *m, uint8_t op)
{
    struct value b = pop_value(m), a = pop_value(m);

    if (a.kind == NUMBER && b.kind == NUMBER)
        push_number(m, calculate(m, op, (uint64_t)a.offset, (uint64_t)b.offset));
    else if (op == DW_OP_plus && b.kind == NUMBER)
        push_sum(m, a, (uint64_t)b.offset);
    else if (op == DW_OP_plus && a.kind == NUMBER)
        push_sum(m, b, (uint64_t)a.offset);
    else if (op == DW_OP_minus && b.kind == NUMBER)
        push_sum(m, a, 0 - (uint64_t)b.offset);
    else
        m->why = too_complex;
}

static void unary(struct machine *m, uint8_t op)
{
    struct value v = pop_value(m);

    if (v.kind != NUMBER)
        m->why = too_complex;
    else if (op == DW_OP_abs)
        push_number(m, v.offset < 0 ? 0 - (uint64_t)v.offset : (uint64_t)v.offset);
    else if (op == DW_OP_neg)
        push_number(m, 0 - (uint64_t)v.offset);
    else
        push_number(m, ~(uint64_t)v.offset);
}

/* DW_OP_skip, and DW_OP_bra if TAKEN. */
static void jump(struct machine *m, bool always)
{
    int64_t offset = take_signed(&m->c, 2);
    struct value condition = {NUMBER, false, 0, 1};

    if (!always)
        condition = pop_value(m);
    if (condition.kind != NUMBER)
        m->why = too_complex;
    else if (offset < m->start - m->c.p || offset > m->c.end - m->c.p)
        m->why = bad_expression;
    else if (condition.offset != 0)
        m->c.p += offset;
}

/* What moves values about (2.5.1.3). */
static void shuffle(struct machine *m, uint8_t op)
{
    struct value a, b, c;

    switch (op) {
    case DW_OP_dup:
        push_value(m, peek(m, 0));
        break;
    case DW_OP_drop:
        (void)pop_value(m);
        break;
    case DW_OP_over:
        push_value(m, peek(m, 1));
        break;
    case DW_OP_pick:
        push_value(m, peek(m, take(&m->c, 1)));
        break;
    case DW_OP_swap:
        a = pop_value(m), b = pop_value(m);
        push_value(m, a), push_value(m, b);
        break;
    default: /* DW_OP_rot */
        a = pop_value(m), b = pop_value(m), c = pop_value(m);
        push_value(m, a), push_value(m, c), push_value(m, b);
        break;
    }
}

/* What pushes a constant (2.5.1.1). */
static void push_constant(struct machine *m, uint8_t op)
{
    if (op == DW_OP_addr)
        push_number(m, take(&m->c, m->c.word));
    else if (op == DW_OP_constu)
        push_number(m, take_uleb(&m->c));
    else if (op == DW_OP_consts)
        push_number(m, (uint64_t)take_sleb(&m->c));
    else if (op & 1)
        push_number(m, (uint64_t)take_signed(&m->c, 1u << (op - DW_OP_const1u) / 2));
    else
        push_number(m, take(&m->c, 1u << (op - DW_OP_const1u) / 2));
}

static void operation(struct machine *m)
{
    uint8_t op = (uint8_t)take(&m->c, 1);
    uint64_t reg;

    if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
        push_number(m, op - DW_OP_lit0);
    } else if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
        push_register(m, op - DW_OP_breg0, take_sleb(&m->c));
    } else if (op == DW_OP_bregx) {
        reg = take_uleb(&m->c);
        push_register(m, reg, take_sleb(&m->c));
    } else if (op == DW_OP_addr || (op >= DW_OP_const1u && op <= DW_OP_consts)) {
        push_constant(m, op);
    } else if (op >= DW_OP_dup && op <= DW_OP_rot) {
        shuffle(m, op);
    } else if (op == DW_OP_deref || (op == DW_OP_deref_size && take(&m->c, 1) == m->c.word)) {
        dereference(m);
    } else if (op == DW_OP_abs || op == DW_OP_neg || op == DW_OP_not) {
        unary(m, op);
    } else if (op == DW_OP_plus_uconst) {
        push_sum(m, pop_value(m), take_uleb(&m->c));
    } else if (op == DW_OP_bra || op == DW_OP_skip) {
        jump(m, op == DW_OP_skip);
    } else if (op >= DW_OP_and && op <= DW_OP_ne) {
        binary(m, op);
    } else if (op == DW_OP_call_frame_cfa) {
        push_value(m, (struct value){SUM, true, 0, 0});
    } else if (op != DW_OP_nop) {
        m->why = too_complex;
    }
}

/* Computes EXPRESSION. The rules of registers find the CFA on the stack; the CFA's own rule does not. */
static struct value compute(struct machine *m, const struct cfi_program *expression, bool with_cfa)
{
    unsigned steps = 0;

    m->start = expression->start;
    m->c.p = expression->start;
    m->c.end = expression->end;
    m->c.bad = false;
    m->depth = 0;
    if (with_cfa)
        push_value(m, (struct value){SUM, true, 0, 0});
    while (m->c.p < m->c.end && m->why == NULL && steps++ < MAX_STEPS)
        operation(m);
    if (m->why == NULL && (m->c.bad || m->c.p < m->c.end))
        m->why = bad_expression;
    return pop_value(m);
}

/* ---- Rules (3 of the SFrame format) ---------------------------------------------------------------------------- */

enum { MAX_REGISTER = UINT16_MAX >> RULE_NUMBER };

/* Makes RULE of VALUE. RULE says the CFA is at its base by a control word without RULE_REGISTER. */
static void set_value_rule(struct machine *m, struct sfu_rule *rule, struct value *value)
{
    if (m->registers->word == 4 && value->offset > INT32_MAX && value->offset <= UINT32_MAX)
        value->offset -= (int64_t)UINT32_MAX + 1; /* what is added to a register of 32 bits wraps */
    if (value->offset != (int32_t)value->offset || (!value->cfa && value->reg > MAX_REGISTER))
        m->why = "an offset or a register number that is too large for SFrame";
    else if (value->kind == NUMBER)
        m->why = too_complex;
    if (m->why != NULL)
        return;
    rule->offset = (int32_t)value->offset;
    rule->control = value->cfa ? 0 : (uint32_t)value->reg << RULE_NUMBER | RULE_REGISTER;
    if (value->kind == WORD)
        rule->control |= RULE_DEREFERENCE;
}

/* A rule CFA + offset has no control word, because 0 means that there is no rule (3.2 of the SFrame format). So it is
 * written with the base of the CFA. */
static void rebase_on_cfa(struct machine *m, struct sfu_rule *rule, const struct sfu_rule *cfa)
{
    int64_t sum = (int64_t)cfa->offset + rule->offset;

    if (rule->control != 0)
        return;
    if (cfa->control & RULE_DEREFERENCE || sum != (int32_t)sum)
        m->why = "a value that is the CFA itself, which SFrame cannot say";
    rule->control = cfa->control;
    rule->offset = (int32_t)sum;
}

/* What RULE of register REG says. */
static void read_rule(struct machine *m, const struct rule *rule, uint64_t reg, struct sfu_rule *result)
{
    struct value value = {SUM, true, 0, rule->offset};

    switch (rule->how) {
    case SAME:
    case REGISTER:
        value = (struct value){SUM, false, rule->how == SAME ? reg : rule->reg, 0};
        break;
    case SAVED:
        value.kind = WORD;
        break;
    case OFFSET:
        break;
    case SAVED_AT:
    case EXPRESSION:
        value = compute(m, &rule->expression, true);
        if (rule->how == SAVED_AT) {
            push_value(m, value);
            dereference(m);
            value = pop_value(m);
        }
        break;
    default:
        m->why = "a register whose value nothing gives";
        break;
    }
    set_value_rule(m, result, &value);
}

static void read_cfa(struct machine *m, const struct rule *rule, struct sfu_rule *result)
{
    struct value value = {SUM, false, rule->reg, rule->offset};

    if (rule->how == EXPRESSION)
        value = compute(m, &rule->expression, false);
    else if (rule->how != REGISTER)
        m->why = "no rule for the CFA";
    if (value.cfa)
        m->why = bad_expression;
    set_value_rule(m, result, &value);
}

/* Makes RULE, which begins at the CFA, one that begins at the register of CFA. */
static void rebase_on_register(struct machine *m, struct sfu_rule *rule, const struct sfu_rule *cfa)
{
    int64_t sum = (int64_t)cfa->offset + rule->offset;

    if (rule->control & RULE_REGISTER)
        return;
    if (sum != (int32_t)sum)
        m->why = "an offset or a register number that is too large for SFrame";
    rule->control |= cfa->control;
    rule->offset = (int32_t)sum;
}

/* An exception entry that says where the CPU has saved SP, in a slot at an OFFSET from the CFA: in SFrame the CFA is
 * what lies there, and RA and FP are found from the register that the CFA was found from. */
static void take_saved_sp(struct machine *m, const struct rule *sp, struct cfi_row *row)
{
    struct sfu_rule slot = {0, RULE_DEREFERENCE};

    read_rule(m, sp, m->registers->sp, &slot);
    rebase_on_register(m, &row->ra, &row->cfa);
    rebase_on_register(m, &row->fp, &row->cfa);
    rebase_on_register(m, &slot, &row->cfa);
    row->cfa = slot;
}

/* In SFrame SP is the CFA (s390x: CFA - 160). If s390x has saved SP, in a slot or a register, that is taken for true,
 * because its compilers save r15 like any other register, and it has the caller's SP. */
static void check_sp(struct machine *m, const struct rule *rule, const struct sfu_rule *cfa)
{
    uint32_t below = m->registers->sp_below_cfa;
    struct sfu_rule sp = {0, 0};

    if (rule->how == SAME || ((rule->how == SAVED || rule->how == REGISTER) && below != 0) ||
        (rule->how == OFFSET && rule->offset == -(int64_t)below))
        return;
    if (rule->how == SAVED_AT || rule->how == EXPRESSION) {
        read_rule(m, rule, m->registers->sp, &sp);
        if (sp.control == cfa->control && sp.offset == cfa->offset - (int32_t)below &&
            (below == 0 || !(sp.control & RULE_DEREFERENCE)))
            return;
    }
    m->why = "the caller's SP is not the CFA";
}

/* What STATE says at m->pc. */
static void read_row(struct machine *m, const struct cfi_cie *cie, const struct state *state, struct cfi_row *row)
{
    memset(row, 0, sizeof *row);
    m->why = cie->why;
    m->asked_pc = false;
    row->signed_ra = state->signed_ra;
    row->doubtful = state->doubtful;
    row->restored = state->restored;
    row->shadowed = state->shadowed;
    if (m->why == NULL && state->rules[RA].how == UNDEFINED) {
        row->kind = CFI_OUTERMOST;
        return;
    }
    if (m->why == NULL)
        read_cfa(m, &state->rules[CFA], &row->cfa);
    if (m->why == NULL && m->registers->sp_below_cfa != 0 && row->cfa.offset % 8 != 0)
        m->why = "the CFA's offset is no multiple of 8";
    if (m->why == NULL && state->rules[RA].how == SAME && !m->registers->link)
        m->why = "no rule for the return address";
    if (m->why == NULL)
        read_rule(m, &state->rules[RA], cie->ra, &row->ra);
    if (m->why == NULL)
        read_rule(m, &state->rules[FP], m->registers->fp, &row->fp);
    if (m->why == NULL && state->rules[SP].how == SAVED && m->registers->sp_below_cfa == 0 &&
        !(row->cfa.control & RULE_DEREFERENCE))
        take_saved_sp(m, &state->rules[SP], row);
    else if (m->why == NULL)
        check_sp(m, &state->rules[SP], &row->cfa);
    if (m->why == NULL)
        rebase_on_cfa(m, &row->ra, &row->cfa);
    if (m->why == NULL)
        rebase_on_cfa(m, &row->fp, &row->cfa);
    row->by_pc = m->asked_pc;
    row->why = m->why;
    row->kind = m->why == NULL ? CFI_RULES : CFI_LOST;
}

bool rule_is_same(const struct sfu_rule *a, const struct sfu_rule *b)
{
    return a->control == b->control && a->offset == b->offset;
}

const char cfi_goes_down[] = "the caller's SP would be below SP, where no trace goes on";
const char cfi_is_above[] = "RA or FP would be above the frame: another context goes on there, not the caller";

const char *cfi_leads_nowhere(const struct image *image, const struct cfi_row *row)
{
    const struct registers *registers = image->registers;
    const struct sfu_rule *cfa = &row->cfa;

    if (row->kind != CFI_RULES || row->trap)
        return NULL;
    if (cfa->control == (registers->sp << RULE_NUMBER | RULE_REGISTER) &&
        cfa->offset < (int32_t)registers->sp_below_cfa)
        return cfi_goes_down;
    if (!row->by_code && image->pe == NULL &&
        ((row->ra.control == RULE_DEREFERENCE && row->ra.offset >= 0) ||
         (row->fp.control == RULE_DEREFERENCE && row->fp.offset >= 0)))
        return cfi_is_above;
    return NULL;
}

static bool same_cfi_rules(const struct cfi_row *a, const struct cfi_row *b)
{
    if (a->kind != b->kind || a->kind != CFI_RULES)
        return a->kind == b->kind && a->why == b->why;
    return a->signed_ra == b->signed_ra && rule_is_same(&a->cfa, &b->cfa) && rule_is_same(&a->ra, &b->ra) &&
           rule_is_same(&a->fp, &b->fp);
}

/* ---- Instructions (6.4.2) -------------------------------------------------------------------------------------- */

/* Newer than some of libdw's headers: the PC is a part of the signature. */
enum { AARCH64_negate_ra_state_with_pc = 0x2c };

enum { MAX_REMEMBERED = 32 };

/* An FDE or, without one, a CIE that is being interpreted. */
struct run {
    const struct cfi *cfi;
    const struct cfi_cie *cie;
    struct cursor c;
    uint64_t start, pc, end;
    bool begun[RULES]; /* the rules that the entry gives at its start */
    struct state state;
    const struct state *initial;
    struct state remembered[MAX_REMEMBERED];
    unsigned depth;
    const char *why;
    cfi_row_fn row;
    void *ctx;
    struct machine machine;
};

/* Gives the row for the PCs up to END. If it depends on the PC, each of them is asked: linkers describe all entries of
 * a PLT by one expression, which compares the lower bits of the PC. */
static void give_row(struct run *r, uint64_t end)
{
    struct cfi_row row, next;
    uint64_t pc;

    if (end <= r->pc)
        return;
    r->machine.pc = r->pc;
    read_row(&r->machine, r->cie, &r->state, &row);
    row.start = r->pc;
    for (pc = r->pc + 1; row.by_pc && pc < end; pc++) {
        r->machine.pc = pc;
        read_row(&r->machine, r->cie, &r->state, &next);
        if (same_cfi_rules(&row, &next))
            continue;
        row.end = next.start = pc;
        r->row(r->ctx, &row);
        row = next;
    }
    row.end = end;
    r->row(r->ctx, &row);
}

/* Moves to PC. Rows may begin at the end of the function, and none lies behind it. */
static void move_to(struct run *r, uint64_t pc)
{
    if (r->row == NULL)
        r->why = "its CIE advances";
    else if (pc < r->pc)
        r->why = "its CFI goes back";
    else
        give_row(r, pc < r->end ? pc : r->end);
    if (r->why == NULL)
        r->pc = pc;
}

static void advance_pc(struct run *r, uint64_t delta)
{
    uint64_t room = UINT64_MAX - r->pc;

    if (delta != 0 && r->cie->code_align > room / delta)
        r->why = "its CFI leaves the address space";
    else
        move_to(r, r->pc + delta * r->cie->code_align);
}

static int64_t factored(const struct run *r, int64_t n)
{
    return (int64_t)((uint64_t)n * (uint64_t)r->cie->data_align);
}

static bool is_aarch64(const struct run *r)
{
    return abi_is_aarch64(r->cfi->image->abi);
}

/* The place of register REG's rule, which is about to change, or NULL: nobody needs it. */
static struct rule *run_rule(struct run *r, uint64_t reg)
{
    const struct registers *registers = r->cfi->image->registers;

    if (reg == registers->fp || reg == r->cie->ra) {
        r->state.doubtful &= (uint8_t) ~(reg == r->cie->ra ? CFI_OF_RA : CFI_OF_FP);
        r->state.restored = false;
    }
    if (reg == r->cie->ra)
        return &r->state.rules[RA];
    if (reg == 18 && is_aarch64(r))
        r->state.shadowed = true;
    return reg == registers->sp ? &r->state.rules[SP] : reg == registers->fp ? &r->state.rules[FP] : NULL;
}

static void set(struct run *r, uint64_t reg, enum how how, int64_t offset, uint64_t other)
{
    struct rule *rule = run_rule(r, reg);

    if (rule != NULL)
        *rule = (struct rule){how, offset, other, {NULL, NULL}};
    if (rule != NULL && how == SAVED && r->pc == r->start)
        r->begun[rule - r->state.rules] = true;
}

static void set_expression(struct run *r, struct rule *rule, enum how how)
{
    uint64_t size = take_uleb(&r->c);
    const uint8_t *p = take_bytes(&r->c, size);

    if (rule != NULL && p != NULL)
        *rule = (struct rule){how, 0, 0, {p, p + size}};
}

static void restore_rule(struct run *r, uint64_t reg)
{
    struct rule *rule = run_rule(r, reg);

    if (rule != NULL)
        *rule = r->initial->rules[rule - r->state.rules];
    if (rule == &r->state.rules[FP] || (rule == &r->state.rules[RA] && r->cfi->image->registers->link)) {
        if (rule->how == SAVED)
            r->state.doubtful |= rule == &r->state.rules[RA] ? CFI_OF_RA : CFI_OF_FP;
        r->state.restored = rule->how != SAVED && r->begun[rule - r->state.rules];
    }
}

static void remember_state(struct run *r)
{
    if (r->depth == MAX_REMEMBERED)
        r->why = "its CFI remembers too many states";
    else
        r->remembered[r->depth++] = r->state;
}

static void recall(struct run *r)
{
    if (r->depth == 0)
        r->why = "its CFI restores a state that it has not remembered";
    else
        r->state = r->remembered[--r->depth];
}

/* Changes of the CFA (6.4.2.2). An offset alone needs a register before it. In a CIE gas for RISC-V writes the register
 * alone, which readers take with an offset of 0 (test/truth/FAULTS.md: gas-riscv-cie). */
static void set_cfa(struct run *r, uint8_t op)
{
    struct rule *cfa = &r->state.rules[CFA];

    if (op == DW_CFA_def_cfa_expression) {
        set_expression(r, cfa, EXPRESSION);
        return;
    }
    if (op == DW_CFA_def_cfa || op == DW_CFA_def_cfa_sf)
        *cfa = (struct rule){REGISTER, 0, take_uleb(&r->c), {NULL, NULL}};
    else if (op == DW_CFA_def_cfa_register && cfa->how == ABSENT)
        *cfa = (struct rule){REGISTER, 0, 0, {NULL, NULL}};
    else if (cfa->how != REGISTER)
        r->why = "its CFI changes a part of a CFA that has no parts";
    if (op == DW_CFA_def_cfa_register)
        cfa->reg = take_uleb(&r->c);
    else if (op == DW_CFA_def_cfa_sf || op == DW_CFA_def_cfa_offset_sf)
        cfa->offset = factored(r, take_sleb(&r->c));
    else
        cfa->offset = (int64_t)take_uleb(&r->c);
}

/* Rules of registers (6.4.2.3). */
static void set_register(struct run *r, uint8_t op)
{
    uint64_t reg = take_uleb(&r->c);

    switch (op) {
    case DW_CFA_offset_extended:
        set(r, reg, SAVED, factored(r, (int64_t)take_uleb(&r->c)), 0);
        break;
    case DW_CFA_restore_extended:
        restore_rule(r, reg);
        break;
    case DW_CFA_undefined:
        set(r, reg, UNDEFINED, 0, 0);
        break;
    case DW_CFA_same_value:
        set(r, reg, SAME, 0, 0);
        break;
    case DW_CFA_register:
        set(r, reg, REGISTER, 0, take_uleb(&r->c));
        break;
    case DW_CFA_expression:
        set_expression(r, run_rule(r, reg), SAVED_AT);
        break;
    case DW_CFA_offset_extended_sf:
        set(r, reg, SAVED, factored(r, take_sleb(&r->c)), 0);
        break;
    case DW_CFA_val_offset:
        set(r, reg, OFFSET, factored(r, (int64_t)take_uleb(&r->c)), 0);
        break;
    case DW_CFA_val_offset_sf:
        set(r, reg, OFFSET, factored(r, take_sleb(&r->c)), 0);
        break;
    case DW_CFA_val_expression:
        set_expression(r, run_rule(r, reg), EXPRESSION);
        break;
    default: /* DW_CFA_GNU_negative_offset_extended */
        set(r, reg, SAVED, factored(r, (int64_t)(0 - take_uleb(&r->c))), 0);
        break;
    }
}

/* An instruction whose first byte has no operand in it. */
static void extended_instruction(struct run *r, uint8_t op)
{
    const struct section *section = r->cie->section;

    if (op == DW_CFA_nop)
        return;
    if (op == DW_CFA_set_loc)
        move_to(r, take_pointer(&r->c, r->cie->encoding, section->addr + (uint64_t)(r->c.p - section->bytes)));
    else if (op >= DW_CFA_advance_loc1 && op <= DW_CFA_advance_loc4)
        advance_pc(r, take(&r->c, 1u << (op - DW_CFA_advance_loc1)));
    else if (op == DW_CFA_MIPS_advance_loc8)
        advance_pc(r, take(&r->c, 8));
    else if (op == DW_CFA_remember_state)
        remember_state(r);
    else if (op == DW_CFA_restore_state)
        recall(r);
    else if ((op >= DW_CFA_def_cfa && op <= DW_CFA_def_cfa_expression) || op == DW_CFA_def_cfa_sf ||
             op == DW_CFA_def_cfa_offset_sf)
        set_cfa(r, op);
    else if ((op >= DW_CFA_offset_extended && op <= DW_CFA_val_expression) ||
             op == DW_CFA_GNU_negative_offset_extended)
        set_register(r, op);
    else if ((op == DW_CFA_AARCH64_negate_ra_state || op == AARCH64_negate_ra_state_with_pc) && is_aarch64(r))
        r->state.signed_ra = !r->state.signed_ra;
    else if (op == DW_CFA_GNU_args_size)
        (void)take_uleb(&r->c);
    else
        r->why = "its CFI has an unknown instruction";
}

static void interpret(struct run *r)
{
    while (r->c.p < r->c.end && r->why == NULL) {
        uint8_t op = take_byte(&r->c), low = op & 0x3f;

        if ((op & 0xc0) == DW_CFA_advance_loc)
            advance_pc(r, low);
        else if ((op & 0xc0) == DW_CFA_offset)
            set(r, low, SAVED, factored(r, (int64_t)take_uleb(&r->c)), 0);
        else if ((op & 0xc0) == DW_CFA_restore)
            restore_rule(r, low);
        else
            extended_instruction(r, op);
        if (r->c.bad && r->why == NULL)
            r->why = "its CFI is truncated";
    }
}

static void start_run(struct run *r, const struct cfi *cfi, const struct cfi_cie *cie,
                      const struct cfi_program *program)
{
    r->cfi = cfi;
    r->cie = cie;
    r->c = (struct cursor){program->start, program->end, cfi->image->big, false, cfi->image->registers->word};
    r->start = r->pc = r->end = 0;
    memset(r->begun, 0, sizeof r->begun);
    r->depth = 0;
    r->why = cie->why;
    r->row = NULL;
    r->ctx = NULL;
    r->machine.c.big = cfi->image->big;
    r->machine.c.word = cfi->image->registers->word;
    r->machine.registers = cfi->image->registers;
    r->machine.depth = 0;
}

/* Finds the state that the functions of CIE begin with. */
static void run_cie(const struct cfi *cfi, struct cfi_cie *cie)
{
    struct run r;

    start_run(&r, cfi, cie, &cie->program);
    memset(&r.state, 0, sizeof r.state);
    r.state.rules[CFA].how = ABSENT;
    r.initial = &r.state;
    interpret(&r);
    cie->initial = r.state;
    cie->why = r.why;
}

void cfi_rows(const struct cfi *cfi, const struct cfi_fde *fde, cfi_row_fn row, void *ctx)
{
    struct cfi_row lost = {0};
    struct run r;
    size_t i;

    if (fde->outermost) {
        row(ctx, &(struct cfi_row){.start = fde->start, .end = fde->start + fde->size, .kind = CFI_OUTERMOST});
        return;
    }
    for (i = 0; i < fde->num_rows; i++)
        row(ctx, &fde->rows[i]);
    if (fde->num_rows > 0)
        return;
    start_run(&r, cfi, fde->cie, &fde->program);
    r.state = fde->cie->initial;
    r.initial = &fde->cie->initial;
    r.start = r.pc = fde->start;
    r.end = fde->start + fde->size;
    r.row = row;
    r.ctx = ctx;
    interpret(&r);
    if (r.why == NULL) {
        give_row(&r, r.end);
    } else if (r.pc < r.end) {
        lost.start = r.pc;
        lost.end = r.end;
        lost.kind = CFI_LOST;
        lost.why = r.why;
        row(ctx, &lost);
    }
}
