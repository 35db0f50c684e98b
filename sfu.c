/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The core of sfu. It reads from top to bottom in the order in which a step runs:
 *
 *     bytes -> section -> function (FDE) -> row (FRE) -> rules -> caller's frame
 *
 * Section numbers are those of "The SFrame format", version 3. Nothing that a section or a stack holds is believed:
 * offsets are uint64_t, which sums of the format's 32-bit fields cannot overflow, and each read is checked against
 * the end of the section where it is made.
 */
#include "sfu.h"

/* ---- The format ------------------------------------------------------------------------------------------------ */

#ifndef SFU_OLDEST_VERSION
#define SFU_OLDEST_VERSION 1
#endif

#ifdef SFU_NO_REMOTE
#define REMOTE false
#else
#define REMOTE true
#endif

enum {
    MAGIC = 0xdee2,
    HEADER_SIZE = 28,

    FLAG_SORTED = 0x1, /* 2.1.3 */
    FLAG_FRAME_POINTER = 0x2,
    FLAG_FIELD_RELATIVE = 0x4,

    ATTRIBUTE_SIZE = 5,    /* 2.3.2 */
    INFO_ADDRESS = 0x0f,   /* 2.3.3 */
    INFO_MASK = 0x10,
    INFO_SIGNAL = 0x80,
    INFO2_TYPE = 0x1f,
    TYPE_DEFAULT = 0,
    TYPE_FLEXIBLE = 1,
    V1_REPEAT_SIZE = 16,   /* V1's MASK functions are amd64 PLTs */

    ROW_BASE_SP = 0x01,    /* 2.4.1 */
    ROW_SIGNED_RA = 0x80,
    MAX_WORDS = 6,         /* three rules of two words */

    RULE_REGISTER = 0x1,   /* 3.2 */
    RULE_DEREFERENCE = 0x2,
    RULE_NUMBER = 3,       /* shift of the register number */

    EMPTY_FDES = 8         /* how many functions of size 0 a lookup steps over */
};

/* What an ABI fixes (3.1). Registers have their DWARF numbers. */
struct abi {
    uint8_t sp, fp, ra;
    bool link;         /* a call leaves the RA in register ra, and default rows say where it is saved */
    bool record;       /* FP, where used, points at a pair (caller's FP, RA) */
    bool sign;         /* the RA may carry a PAC */
    bool big;          /* byte order of the stack */
    uint8_t cfa_scale; /* CFA = base + cfa_scale * w + sp_below_cfa */
    uint8_t sp_below_cfa;
};

static const struct abi abis[] = {
    {31, 29, 30, true, true, true, true, 1, 0},   /* SFU_AARCH64_BIG */
    {31, 29, 30, true, true, true, false, 1, 0},  /* SFU_AARCH64 */
    {7, 6, 16, false, true, false, false, 1, 0},  /* SFU_AMD64 */
    {15, 11, 14, true, false, false, true, 8, 160}, /* SFU_S390X */
};

/* ID has been checked by sfu_open; a row that somebody else made cannot lead outside of the table. */
static const struct abi *abi_of(uint8_t id)
{
    return &abis[(id - 1u) & 3];
}

/* ---- Bytes ----------------------------------------------------------------------------------------------------- */

/* The number in the SIZE (1 to 8) bytes at P, which need no alignment. */
static uint64_t load(const uint8_t *p, unsigned size, bool big)
{
    uint64_t value = 0;
    unsigned i;

    if (big) {
        for (i = 0; i < size; i++)
            value = value << 8 | p[i];
    } else {
        for (i = size; i > 0; i--)
            value = value << 8 | p[i - 1];
    }
    return value;
}

/* The same as two's complement. */
static int64_t load_signed(const uint8_t *p, unsigned size, bool big)
{
    uint64_t sign = (uint64_t)1 << (8 * size - 1);

    return (int64_t)((load(p, size, big) ^ sign) - sign);
}

static void store(uint8_t *p, unsigned size, bool big, uint64_t value)
{
    unsigned i;

    for (i = 0; i < size; i++, value >>= 8)
        p[big ? size - 1 - i : i] = (uint8_t)value;
}

/* The one place that calls a read callback. */
static bool fetch(sfu_read_fn read, void *ctx, uint64_t addr, uint8_t *buffer, size_t len)
{
    return read != NULL && addr <= UINT64_MAX - len && read(ctx, addr, buffer, len) == 0;
}

/* The LEN bytes at OFFSET, both within s->size: where they lie if the section is mapped, otherwise in BUFFER. NULL
 * if they cannot be read. */
static const uint8_t *section_bytes(const struct sfu_section *s, uint64_t offset, size_t len, uint8_t *buffer)
{
    if (!REMOTE || s->bytes != NULL)
        return s->bytes + offset;
    return fetch(s->read, s->ctx, s->addr + offset, buffer, len) ? buffer : NULL;
}

/* The same for any OFFSET, up to the end of the tables. */
static int table_bytes(const struct sfu_section *s, uint64_t offset, size_t len, uint8_t *buffer, const uint8_t **p)
{
    if (offset > s->end || len > s->end - offset)
        return SFU_E_BOUNDS;
    *p = section_bytes(s, offset, len, buffer);
    return *p != NULL ? SFU_OK : SFU_E_SECTION;
}

/* ---- Section (2.1, 2.2) ---------------------------------------------------------------------------------------- */

/* Version, ABI and flags of header H, at least 5 bytes. */
static int check_preamble(const uint8_t *h)
{
    bool v1 = h[2] == 1;

    if (load(h, 2, true) != MAGIC && load(h, 2, false) != MAGIC)
        return SFU_E_MAGIC;
    if (h[2] < SFU_OLDEST_VERSION || h[2] > 3)
        return SFU_E_VERSION;
    if (h[4] < SFU_AARCH64_BIG || h[4] > (v1 ? SFU_AMD64 : SFU_S390X))
        return SFU_E_ABI;
    if (h[3] & ~(FLAG_SORTED | FLAG_FRAME_POINTER | (v1 ? 0 : FLAG_FIELD_RELATIVE)))
        return SFU_E_FLAGS;
    return SFU_OK;
}

/* Opens S, whose bytes or read and ctx are set. H is its header. */
static int open_header(struct sfu_section *s, const uint8_t *h, uint64_t size, uint64_t addr)
{
    static const uint8_t fde_sizes[] = {17, 20, 16};
    bool big = h[0] == MAGIC >> 8;
    uint8_t fde_size;
    uint64_t base, fdes, fres, end;
    int code = check_preamble(h);

    if (code != SFU_OK)
        return code;
    fde_size = fde_sizes[h[2] - 1];
    base = HEADER_SIZE + (uint64_t)h[7];
    fdes = base + load(h + 20, 4, big);
    fres = base + load(h + 24, 4, big);
    end = fres + load(h + 16, 4, big);
    if (fdes + load(h + 8, 4, big) * fde_size > fres || end > size)
        return SFU_E_BOUNDS;
    s->next = NULL;
    s->addr = addr;
    s->size = size;
    s->fdes = fdes;
    s->fres = fres;
    s->end = end;
    s->num_fdes = (uint32_t)load(h + 8, 4, big);
    s->num_fres = (uint32_t)load(h + 12, 4, big);
    s->fixed_fp = (int8_t)load_signed(h + 5, 1, big);
    s->fixed_ra = (int8_t)load_signed(h + 6, 1, big);
    s->version = h[2];
    s->flags = h[3];
    s->abi = h[4];
    s->fde_size = fde_size;
    s->big = big;
    return SFU_OK;
}

/* Whether the header lies in SIZE bytes at ADDR, which must not wrap. */
static int check_extent(uint64_t size, uint64_t addr)
{
    if (size == 0)
        return SFU_E_EMPTY;
    return size < HEADER_SIZE || size - 1 > UINT64_MAX - addr ? SFU_E_BOUNDS : SFU_OK;
}

int sfu_open(struct sfu_section *section, const void *bytes, uint64_t size, uint64_t addr)
{
    int code = check_extent(size, addr);

    if (code == SFU_OK)
        code = open_header(section, (const uint8_t *)bytes, size, addr);
    if (code == SFU_OK) {
        section->bytes = (const uint8_t *)bytes;
        section->read = NULL;
        section->ctx = NULL;
    }
    return code;
}

int sfu_open_remote(struct sfu_section *section, sfu_read_fn read, void *ctx, uint64_t size, uint64_t addr)
{
    uint8_t header[HEADER_SIZE];
    int code = check_extent(size, addr);

    if (code == SFU_OK && (!REMOTE || !fetch(read, ctx, addr, header, HEADER_SIZE)))
        code = SFU_E_SECTION;
    if (code == SFU_OK)
        code = open_header(section, header, size, addr);
    if (code == SFU_OK) {
        section->bytes = NULL;
        section->read = read;
        section->ctx = ctx;
    }
    return code;
}

int sfu_add(struct sfu_section **list, struct sfu_section *section)
{
    if (*list != NULL && (*list)->abi != section->abi)
        return SFU_E_ABI;
    section->next = *list;
    *list = section;
    return SFU_OK;
}

/* The list ends: it is the caller's own, and no section is in it twice. */
int sfu_remove(struct sfu_section **list, struct sfu_section *section)
{
    while (*list != NULL && *list != section)
        list = &(*list)->next;
    if (*list == NULL)
        return SFU_E_EMPTY;
    *list = section->next;
    section->next = NULL;
    return SFU_OK;
}

/* ---- Function: FDE (2.3; V1 and V2 keep the attributes in the entry) ------------------------------------------- */

struct fde {
    uint64_t start; /* address */
    uint64_t rows;  /* offset of the first row */
    uint32_t size, num_rows;
    uint8_t info, type, repeat;
};

/* Bytes that an FDE's start takes; its size follows. */
static unsigned start_size(const struct sfu_section *s)
{
    return SFU_OLDEST_VERSION > 2 || s->version > 2 ? 8 : 4;
}

static uint64_t fde_offset(const struct sfu_section *s, uint32_t index)
{
    return s->fdes + (uint64_t)index * s->fde_size;
}

/* The address where the function starts whose FDE is at OFFSET and P. Wraps as addresses do. */
static uint64_t fde_start(const struct sfu_section *s, uint64_t offset, const uint8_t *p)
{
    uint64_t base = s->flags & FLAG_FIELD_RELATIVE ? s->addr + offset : s->addr;

    return base + (uint64_t)load_signed(p, start_size(s), s->big);
}

/* INDEX < num_fdes, here and below. */
static int read_fde(const struct sfu_section *s, uint32_t index, struct fde *fde)
{
    uint8_t buffer[20];
    const uint8_t *p;
    unsigned size = start_size(s);
    uint64_t offset = fde_offset(s, index);
    int code = table_bytes(s, offset, s->fde_size, buffer, &p);

    if (code != SFU_OK)
        return code;
    fde->start = fde_start(s, offset, p);
    fde->size = (uint32_t)load(p + size, 4, s->big);
    fde->rows = s->fres + load(p + size + 4, 4, s->big);
    if (size == 4) {
        fde->num_rows = (uint32_t)load(p + 12, 4, s->big);
        fde->info = p[16] & (uint8_t)~INFO_SIGNAL;
        fde->type = TYPE_DEFAULT;
        fde->repeat = s->version == 1 ? (uint8_t)V1_REPEAT_SIZE : p[17];
    }
    return SFU_OK;
}

static unsigned address_size(const struct fde *fde)
{
    return 1u << (fde->info & INFO_ADDRESS);
}

/* Completes a V3 FDE with the attributes in front of its rows, and checks those of any version. Each row takes an
 * address and an info byte at least, so that num_rows is bounded by the section afterwards. */
static int read_attributes(const struct sfu_section *s, struct fde *fde)
{
    uint8_t buffer[ATTRIBUTE_SIZE];
    const uint8_t *p;

    if (start_size(s) == 8) {
        int code = table_bytes(s, fde->rows, ATTRIBUTE_SIZE, buffer, &p);

        if (code != SFU_OK)
            return code;
        fde->rows += ATTRIBUTE_SIZE;
        fde->num_rows = (uint32_t)load(p, 2, s->big);
        fde->info = p[2];
        fde->type = p[3] & INFO2_TYPE;
        fde->repeat = p[4];
    }
    if ((fde->info & INFO_ADDRESS) > 2 || fde->type > TYPE_FLEXIBLE || (fde->info & INFO_MASK && fde->repeat == 0))
        return SFU_E_FDE;
    if (fde->rows > s->end || (uint64_t)fde->num_rows * (address_size(fde) + 1) > s->end - fde->rows)
        return SFU_E_BOUNDS;
    return SFU_OK;
}

/* Finds the last FDE that starts at or below PC and is not empty. The search halves COUNT FDEs each time round. Empty
 * ones may share a start with the function that is looked for, and lie on either side of it. */
static int search_sorted(const struct sfu_section *s, uint64_t pc, struct fde *fde)
{
    uint8_t buffer[8];
    const uint8_t *p;
    uint32_t first = 0, count = s->num_fdes, empty;

    while (count > 0) {
        uint32_t half = count / 2;
        uint64_t offset = fde_offset(s, first + half);
        int code = table_bytes(s, offset, start_size(s), buffer, &p);

        if (code != SFU_OK)
            return code;
        if (fde_start(s, offset, p) <= pc) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    for (empty = 0; first > 0 && empty <= EMPTY_FDES; empty++) {
        int code = read_fde(s, --first, fde);

        if (code != SFU_OK || fde->size > 0)
            return code;
    }
    return SFU_E_NO_FDE;
}

/* The first FDE that contains PC, after num_fdes at the most. */
static int search_unsorted(const struct sfu_section *s, uint64_t pc, struct fde *fde)
{
    uint32_t i;

    for (i = 0; i < s->num_fdes; i++) {
        int code = read_fde(s, i, fde);

        if (code != SFU_OK || pc - fde->start < fde->size)
            return code;
    }
    return SFU_E_NO_FDE;
}

static int find_fde(const struct sfu_section *s, uint64_t pc, struct fde *fde)
{
    int code = s->flags & FLAG_SORTED ? search_sorted(s, pc, fde) : search_unsorted(s, pc, fde);

    if (code == SFU_OK && pc - fde->start >= fde->size)
        return SFU_E_NO_FDE;
    return code == SFU_OK ? read_attributes(s, fde) : code;
}

/* ---- Row: FRE (2.4) -------------------------------------------------------------------------------------------- */

struct row_head {
    uint64_t words; /* offset of its data words */
    uint32_t start; /* of its PCs, from the start of the function or of the repeated block */
    uint8_t info, count, size; /* number of words, bytes in each */
};

/* Reads the row at OFFSET of FDE, whose words are there too. */
static int read_row(const struct sfu_section *s, const struct fde *fde, uint64_t offset, struct row_head *head)
{
    uint8_t buffer[5];
    const uint8_t *p;
    unsigned size = address_size(fde);
    int code = table_bytes(s, offset, size + 1, buffer, &p);

    if (code != SFU_OK)
        return code;
    head->start = (uint32_t)load(p, size, s->big);
    head->info = p[size];
    head->count = p[size] >> 1 & 15;
    head->size = (uint8_t)(1u << (p[size] >> 5 & 3));
    head->words = offset + size + 1;
    if (head->size > 4)
        return SFU_E_ROW;
    return (unsigned)head->count * head->size > s->end - head->words ? SFU_E_BOUNDS : SFU_OK;
}

/* Finds the last row of FDE that starts at or below OFFSET: *HEAD, and where the next one starts in *LIMIT, which is
 * left alone after the last. Passes num_rows at the most; leaves *HEAD alone if there are none. */
static int find_row(const struct sfu_section *s, const struct fde *fde, uint32_t offset, struct row_head *head,
                    uint32_t *limit)
{
    struct row_head next;
    uint64_t at = fde->rows;
    uint32_t i;

    for (i = 0; i < fde->num_rows; i++) {
        int code = read_row(s, fde, at, &next);

        if (code != SFU_OK)
            return code;
        if (i > 0 && next.start <= head->start)
            return SFU_E_ROW;
        if (next.start > offset) {
            if (next.start < *limit)
                *limit = next.start;
            break;
        }
        at = next.words + (unsigned)next.count * next.size;
        *head = next;
    }
    return i > 0 || fde->num_rows == 0 ? SFU_OK : SFU_E_NO_ROW;
}

/* ---- Rules (3) ------------------------------------------------------------------------------------------------- */

struct words {
    const uint8_t *p;
    uint8_t count, size;
    bool big;
};

static int64_t word(const struct words *w, unsigned i)
{
    return load_signed(w->p + i * w->size, w->size, w->big);
}

static void set_rule(struct sfu_rule *rule, uint32_t control, int64_t offset)
{
    rule->control = control;
    rule->offset = offset;
}

struct rules {
    struct sfu_rule cfa, ra, fp;
};

/* RULE = *(CFA + OFFSET), or in V2 on s390x, where OFFSET is odd, the register numbered OFFSET >> 1. */
static int default_rule(const struct sfu_section *s, int64_t offset, struct sfu_rule *rule)
{
    if (SFU_OLDEST_VERSION > 2 || s->version != 2 || s->abi != SFU_S390X || (offset & 1) == 0) {
        set_rule(rule, RULE_DEREFERENCE, offset);
        return SFU_OK;
    }
    if (offset < 0 || offset > UINT16_MAX)
        return SFU_E_ROW;
    set_rule(rule, (uint32_t)offset >> 1 << RULE_NUMBER | RULE_REGISTER, 0);
    return SFU_OK;
}

/* 3.1: words are CFA, RA if the ABI tracks it, FP; an RA word of 0 on s390x says that it is not saved. */
static int default_rules(const struct sfu_section *s, const struct words *w, bool base_sp, struct rules *rules)
{
    const struct abi *abi = abi_of(s->abi);
    unsigned fp = abi->link ? 2 : 1;
    int code = SFU_OK;

    if (w->count > fp + 1)
        return SFU_E_ROW;
    set_rule(&rules->cfa, (uint32_t)(base_sp ? abi->sp : abi->fp) << RULE_NUMBER | RULE_REGISTER, word(w, 0));
    if (abi->link && w->count > 1 && (s->abi != SFU_S390X || word(w, 1) != 0))
        code = default_rule(s, word(w, 1), &rules->ra);
    if (code == SFU_OK && w->count > fp)
        code = default_rule(s, word(w, fp), &rules->fp);
    return code;
}

/* 3.2: the rule at word *I, which moves behind it: a pair, or one word of 0 for none. None, too, after the last. */
static int flexible_rule(const struct words *w, unsigned *i, struct sfu_rule *rule)
{
    uint32_t control;

    if (*i == w->count)
        return SFU_OK;
    control = (uint32_t)load(w->p + *i * w->size, w->size, w->big);
    *i += 1;
    if (control == 0)
        return SFU_OK;
    if (*i == w->count)
        return SFU_E_ROW;
    set_rule(rule, control, word(w, *i));
    *i += 1;
    return SFU_OK;
}

static int flexible_rules(const struct words *w, struct rules *rules)
{
    unsigned i = 0;
    int code = flexible_rule(w, &i, &rules->cfa);

    if (code == SFU_OK)
        code = flexible_rule(w, &i, &rules->ra);
    if (code == SFU_OK)
        code = flexible_rule(w, &i, &rules->fp);
    return code == SFU_OK && i == w->count && rules->cfa.control & RULE_REGISTER ? SFU_OK : SFU_E_ROW;
}

/* The rules of row HEAD, which has words. What it leaves out is at the header's fixed offset, if there is one. */
static int read_rules(const struct sfu_section *s, const struct fde *fde, const struct row_head *head,
                      struct rules *rules)
{
    const struct abi *abi = abi_of(s->abi);
    uint8_t buffer[4 * MAX_WORDS];
    struct words w = {NULL, head->count, head->size, s->big};
    int code;

    if (head->count > MAX_WORDS)
        return SFU_E_ROW;
    w.p = section_bytes(s, head->words, (size_t)head->count * head->size, buffer);
    if (w.p == NULL)
        return SFU_E_SECTION;
    set_rule(&rules->cfa, 0, 0);
    set_rule(&rules->ra, s->fixed_ra != 0 ? RULE_DEREFERENCE : 0, s->fixed_ra);
    set_rule(&rules->fp, s->fixed_fp != 0 ? RULE_DEREFERENCE : 0, s->fixed_fp);
    code = fde->type == TYPE_DEFAULT ? default_rules(s, &w, head->info & ROW_BASE_SP, rules)
                                     : flexible_rules(&w, rules);
    rules->cfa.offset = rules->cfa.offset * abi->cfa_scale + abi->sp_below_cfa;
    return code;
}

/* What row HEAD of FDE is: enum sfu_row_kind, or an error. */
static int row_kind(const struct sfu_section *s, const struct fde *fde, const struct row_head *head)
{
    if (head->count > 0)
        return SFU_ROW_RULES;
    if (fde->num_rows > 0)
        return s->version > 1 ? (int)SFU_ROW_OUTERMOST : (int)SFU_E_ROW;
    if (fde->info & INFO_SIGNAL)
        return SFU_ROW_ASK;
    return s->version > 2 && fde->type == TYPE_DEFAULT ? (int)SFU_ROW_OUTERMOST : (int)SFU_E_NO_ROW;
}

int sfu_find(const struct sfu_section *section, uint64_t pc, struct sfu_row *row)
{
    struct fde fde;
    struct row_head head = {0, 0, 0, 0, 0};
    struct rules rules = {{0, 0}, {0, 0}, {0, 0}};
    uint32_t offset, limit, block = 0;
    int kind, code = find_fde(section, pc, &fde);

    if (code != SFU_OK)
        return code;
    offset = (uint32_t)(pc - fde.start);
    limit = fde.size;
    if (fde.info & INFO_MASK) {
        block = offset - offset % fde.repeat;
        offset -= block;
        limit = limit - block < fde.repeat ? limit - block : fde.repeat;
    }
    code = find_row(section, &fde, offset, &head, &limit);
    kind = code == SFU_OK ? row_kind(section, &fde, &head) : code;
    if (kind == SFU_ROW_RULES)
        code = read_rules(section, &fde, &head, &rules);
    if (kind < 0 || code != SFU_OK)
        return kind < 0 ? kind : code;
    row->function = fde.start;
    row->start = fde.start + block + head.start;
    row->length = limit - head.start;
    row->cfa = rules.cfa;
    row->ra = rules.ra;
    row->fp = rules.fp;
    row->abi = section->abi;
    row->kind = (uint8_t)kind;
    row->signal = fde.info & INFO_SIGNAL;
    row->signed_ra = abi_of(section->abi)->sign && head.info & ROW_SIGNED_RA;
    return SFU_OK;
}

/* ---- Frame ----------------------------------------------------------------------------------------------------- */

/* Register REG of FRAME: SP and FP always, all others only where no call can have changed them. */
static int frame_register(const struct sfu_target *t, const struct abi *abi, const struct sfu_frame *frame,
                          uint32_t reg, uint64_t *value)
{
    if (reg == abi->sp)
        *value = frame->sp;
    else if (reg == abi->fp)
        *value = frame->fp;
    else if (frame->pc_kind != SFU_PC_EXACT)
        return SFU_E_UNSAFE;
    else if (reg == abi->ra && frame->has_ra)
        *value = frame->ra;
    else if (t->reg == NULL || t->reg(t->ctx, frame, reg, value) != 0)
        return SFU_E_REGISTER;
    return SFU_OK;
}

/* *VALUE by RULE, whose control is not 0. */
static int apply_rule(const struct sfu_target *t, const struct abi *abi, const struct sfu_frame *frame,
                      const struct sfu_rule *rule, uint64_t cfa, uint64_t *value)
{
    uint8_t word[8];
    uint64_t base = cfa, sum;

    if (rule->control & RULE_REGISTER) {
        int code = frame_register(t, abi, frame, rule->control >> RULE_NUMBER, &base);

        if (code != SFU_OK)
            return code;
    }
    sum = base + (uint64_t)rule->offset;
    if (rule->offset < 0 ? sum > base : sum < base)
        return SFU_E_ADDRESS;
    if (rule->control & RULE_DEREFERENCE) {
        if (!fetch(t->read, t->ctx, sum, word, sizeof word))
            return SFU_E_STACK;
        sum = load(word, sizeof word, abi->big);
    }
    *value = sum;
    return SFU_OK;
}

/* RA without its PAC: those bits are all as bit 55 is. */
static uint64_t strip(const struct sfu_target *t, uint64_t ra)
{
    uint64_t bit55 = (uint64_t)1 << 55;
    uint64_t mask = (t->pac_mask != 0 ? t->pac_mask : ~(((uint64_t)1 << 48) - 1)) & ~bit55;

    return ra & bit55 ? ra | mask : ra & ~mask;
}

static int recover_ra(const struct sfu_target *t, const struct sfu_row *row, const struct sfu_frame *frame,
                      uint64_t cfa, uint64_t *ra)
{
    const struct abi *abi = abi_of(row->abi);
    int code;

    if (row->ra.control != 0)
        code = apply_rule(t, abi, frame, &row->ra, cfa, ra);
    else if (abi->link && frame->pc_kind == SFU_PC_EXACT)
        code = frame_register(t, abi, frame, abi->ra, ra);
    else
        code = SFU_E_NO_RA;
    if (code == SFU_OK && row->signed_ra)
        *ra = strip(t, *ra);
    return code;
}

/* Makes NEXT, whose pc, sp, fp, ra, has_ra, trap, pc_kind and guessed are set, the current frame, if that is
 * progress. Within a stack SP grows; it may stay once, when a leaf without a frame of its own returns. Other stacks
 * are known by the callback or, without one, by a trap that leads down. Both are counted, as are all frames: every
 * walk ends. */
static int advance(const struct sfu_target *t, const struct sfu_frame *next, struct sfu_frame *frame)
{
    bool trap = next->pc_kind == SFU_PC_EXACT;
    bool leaf = frame->pc_kind == SFU_PC_EXACT && !trap;
    bool grows = leaf ? next->sp >= frame->sp : next->sp > frame->sp;
    bool switched = t->stack != NULL ? t->stack(t->ctx, next->sp) != t->stack(t->ctx, frame->sp) : trap && !grows;

    if (!grows && !switched)
        return SFU_E_PROGRESS;
    if (switched && frame->switches >= (t->max_switches != 0 ? t->max_switches : SFU_MAX_SWITCHES))
        return SFU_E_SWITCHES;
    if (frame->depth + 1 >= (t->max_frames != 0 ? t->max_frames : SFU_MAX_FRAMES))
        return SFU_E_DEPTH;
    frame->pc = next->pc;
    frame->sp = next->sp;
    frame->fp = next->fp;
    frame->ra = next->ra;
    frame->function = 0;
    frame->trap = next->trap;
    frame->depth++;
    frame->pc_kind = next->pc_kind;
    frame->switches = (uint8_t)(frame->switches + switched);
    frame->has_ra = next->has_ra;
    frame->switched = switched;
    frame->guessed = next->guessed;
    frame->reliable = frame->reliable && !next->guessed;
    return SFU_OK;
}

/* sfu_apply for a row with rules; GUESSED: they are not from a table. */
static int apply_rules(const struct sfu_target *t, const struct sfu_row *row, bool guessed, struct sfu_frame *frame)
{
    const struct abi *abi = abi_of(row->abi);
    struct sfu_frame next;
    uint64_t cfa = 0;
    int code = apply_rule(t, abi, frame, &row->cfa, 0, &cfa);

    if (code != SFU_OK)
        return code;
    if (cfa < abi->sp_below_cfa)
        return SFU_E_ADDRESS;
    next.sp = cfa - abi->sp_below_cfa;
    code = recover_ra(t, row, frame, cfa, &next.pc);
    if (code != SFU_OK)
        return code;
    next.fp = frame->fp;
    if (row->fp.control != 0)
        code = apply_rule(t, abi, frame, &row->fp, cfa, &next.fp);
    if (code != SFU_OK)
        return code;
    next.ra = 0;
    next.has_ra = false;
    next.trap = row->signal ? frame->sp : 0;
    next.pc_kind = row->signal ? SFU_PC_EXACT : SFU_PC_RETURN;
    next.guessed = guessed;
    return advance(t, &next, frame);
}

int sfu_apply(const struct sfu_target *target, const struct sfu_row *row, struct sfu_frame *frame)
{
    if (row->kind == SFU_ROW_OUTERMOST)
        return SFU_END;
    if (row->kind == SFU_ROW_ASK)
        return SFU_E_SIGNAL;
    return apply_rules(target, row, false, frame);
}

/* ---- Walk ------------------------------------------------------------------------------------------------------ */

uint64_t sfu_lookup_pc(const struct sfu_frame *frame)
{
    return frame->pc_kind == SFU_PC_RETURN ? frame->pc - 1 : frame->pc;
}

/* sfu_find in every section: the list is the caller's, and ends. If none has the PC, the first error counts that is
 * more than that. */
static int find_in_sections(const struct sfu_target *t, uint64_t pc, struct sfu_row *row)
{
    const struct sfu_section *s;
    int code = t->sections != NULL ? SFU_E_NO_FDE : SFU_E_EMPTY;

    for (s = t->sections; s != NULL; s = s->next) {
        int found = sfu_find(s, pc, row);

        if (found == SFU_OK)
            return SFU_OK;
        if (code == SFU_E_NO_FDE)
            code = found;
    }
    return code;
}

/* Looks the walk's frame up, in the cache first: a row that holds for a PC holds wherever it is kept. */
static void look_up(struct sfu_walk *walk)
{
    const struct sfu_target *t = walk->target;
    uint64_t pc = sfu_lookup_pc(&walk->frame);
    struct sfu_row *kept = NULL;

    if (t->cache_rows != 0)
        kept = &t->cache[pc % t->cache_rows];
    if (kept != NULL && pc - kept->start < kept->length) {
        walk->row = *kept;
        walk->found = SFU_OK;
    } else {
        walk->found = find_in_sections(t, pc, &walk->row);
        if (kept != NULL && walk->found == SFU_OK)
            *kept = walk->row;
    }
    walk->frame.function = walk->found == SFU_OK ? walk->row.function : 0;
}

void sfu_walk_start(struct sfu_walk *walk, const struct sfu_target *target, const struct sfu_frame *top)
{
    walk->target = target;
    walk->frame.pc = top->pc;
    walk->frame.sp = top->sp;
    walk->frame.fp = top->fp;
    walk->frame.ra = top->ra;
    walk->frame.trap = 0;
    walk->frame.depth = 0;
    walk->frame.pc_kind = top->pc_kind;
    walk->frame.switches = 0;
    walk->frame.has_ra = top->has_ra;
    walk->frame.switched = false;
    walk->frame.guessed = false;
    walk->frame.reliable = true;
    look_up(walk);
}

/* Asks the trap hook about the walk's frame, for which there is no rule because of CODE. */
static int ask_hook(struct sfu_walk *walk, int code)
{
    const struct sfu_target *t = walk->target;
    struct sfu_frame next = {0, 0, 0, 0, 0, 0, 0, 0, 0, false, false, false, false};

    if (t->trap == NULL)
        return code;
    code = t->trap(t->ctx, &walk->frame, code, &next);
    if (code != SFU_OK)
        return code;
    next.pc_kind = SFU_PC_EXACT;
    next.guessed = false;
    if (next.trap == 0)
        next.trap = walk->frame.sp;
    return advance(t, &next, &walk->frame);
}

/* Guesses that FP holds a frame record. CODE says why there is no rule, and stays the reason if the guess fails. The
 * walk's row is free: none was found. */
static int guess(struct sfu_walk *walk, int code)
{
    const struct sfu_target *t = walk->target;
    const struct abi *abi;
    struct sfu_row *row = &walk->row;

    if (!t->frame_pointers || t->sections == NULL || code == SFU_E_SIGNAL)
        return code;
    row->abi = t->sections->abi;
    abi = abi_of(row->abi);
    if (!abi->record)
        return code;
    row->signal = row->signed_ra = false;
    set_rule(&row->cfa, (uint32_t)abi->fp << RULE_NUMBER | RULE_REGISTER, 16);
    set_rule(&row->ra, RULE_DEREFERENCE, -8);
    set_rule(&row->fp, RULE_DEREFERENCE, -16);
    return apply_rules(t, row, true, &walk->frame) == SFU_OK ? SFU_OK : code;
}

int sfu_walk_step(struct sfu_walk *walk)
{
    int code = walk->found;

    if (code == SFU_OK)
        code = sfu_apply(walk->target, &walk->row, &walk->frame);
    if (code == SFU_E_NO_FDE || code == SFU_E_EMPTY || code == SFU_E_SIGNAL)
        code = ask_hook(walk, code);
    if (code == SFU_E_NO_FDE)
        code = guess(walk, code);
    if (code == SFU_OK)
        look_up(walk);
    return code;
}

/* ---- Check ----------------------------------------------------------------------------------------------------- */

/* What sfu_check carries from one FDE to the next. */
struct progress {
    struct sfu_place place;
    uint64_t start, end; /* of the last function that was not empty */
    uint64_t num_rows;
};

/* Every row of FDE, num_rows of them. A row may start at the end of the function, where no PC finds it, only in an
 * empty function. */
static int check_rows(const struct sfu_section *s, const struct fde *fde, struct sfu_place *place)
{
    struct row_head head;
    struct rules rules;
    uint32_t limit = fde->info & INFO_MASK && fde->repeat < fde->size ? fde->repeat : fde->size;
    uint64_t at = fde->rows;
    uint64_t least = 0;

    for (place->row = 0; place->row < fde->num_rows; place->row++) {
        int code = read_row(s, fde, at, &head);

        if (code == SFU_OK && (head.start < least || (head.start >= limit && limit > 0)))
            code = SFU_E_ROW;
        if (code == SFU_OK)
            code = row_kind(s, fde, &head);
        if (code == SFU_ROW_RULES)
            code = read_rules(s, fde, &head, &rules);
        if (code < 0)
            return code;
        least = (uint64_t)head.start + 1;
        at = head.words + (unsigned)head.count * head.size;
    }
    place->row = 0;
    return SFU_OK;
}

/* The FDE at the place, after those before it. An empty function may start anywhere in a sorted table. */
static int check_fde(const struct sfu_section *s, struct progress *progress)
{
    struct fde fde;
    int code = read_fde(s, progress->place.fde, &fde);

    if (code == SFU_OK)
        code = read_attributes(s, &fde);
    if (code == SFU_OK)
        code = check_rows(s, &fde, &progress->place);
    if (code != SFU_OK)
        return code;
    if (fde.size > 0 && fde.start + (fde.size - 1) < fde.start)
        return SFU_E_FDE;
    progress->num_rows += fde.num_rows;
    if (s->flags & FLAG_SORTED && fde.start < progress->start)
        return SFU_E_UNSORTED;
    progress->start = fde.start;
    if (fde.size == 0)
        return SFU_OK;
    if (s->flags & FLAG_SORTED && fde.start < progress->end)
        return SFU_E_OVERLAP;
    progress->end = fde.start + fde.size;
    return SFU_OK;
}

/* What follows the tables: a linker that does not merge leaves the next file's header there, aligned to 8. */
static int check_rest(const struct sfu_section *s)
{
    uint8_t buffer[2];
    const uint8_t *p;
    uint64_t at;

    for (at = s->end; at < s->end + 8 && at + HEADER_SIZE <= s->size; at++) {
        p = section_bytes(s, at, 2, buffer);
        if (p == NULL)
            return SFU_E_SECTION;
        if (load(p, 2, s->big) == MAGIC)
            return SFU_E_CONCATENATED;
    }
    return SFU_OK;
}

int sfu_check(const struct sfu_section *section, struct sfu_place *place)
{
    struct progress progress = {{0, 0}, 0, 0, 0};
    int code = section->num_fdes > 0 ? SFU_OK : SFU_E_EMPTY;

    while (code == SFU_OK && progress.place.fde < section->num_fdes) {
        code = check_fde(section, &progress);
        if (code == SFU_OK)
            progress.place.fde++;
    }
    if (code == SFU_OK)
        code = check_rest(section);
    if (code == SFU_OK && progress.num_rows != section->num_fres)
        code = SFU_E_COUNT;
    if (code != SFU_OK && place != NULL)
        *place = progress.place;
    return code;
}

/* ---- Sort ------------------------------------------------------------------------------------------------------ */

/* Whether FDE A belongs behind FDE B: by start, empty functions first. */
static bool behind(const struct sfu_section *s, uint32_t a, uint32_t b)
{
    struct fde fde_a, fde_b;

    (void)read_fde(s, a, &fde_a);
    (void)read_fde(s, b, &fde_b);
    return fde_a.start != fde_b.start ? fde_a.start > fde_b.start : fde_a.size > fde_b.size;
}

static void swap(const struct sfu_section *s, uint8_t *bytes, uint32_t a, uint32_t b)
{
    uint8_t *p = bytes + fde_offset(s, a), *q = bytes + fde_offset(s, b);
    unsigned i;

    for (i = 0; i < s->fde_size; i++) {
        uint8_t kept = p[i];

        p[i] = q[i];
        q[i] = kept;
    }
}

/* Lets FDE ROOT sink in the heap of the first COUNT, at most log2(COUNT) times. */
static void sink(const struct sfu_section *s, uint8_t *bytes, uint32_t root, uint32_t count)
{
    while (root < count / 2) {
        uint32_t child = 2 * root + 1;

        if (child + 1 < count && behind(s, child + 1, child))
            child++;
        if (!behind(s, child, root))
            return;
        swap(s, bytes, root, child);
        root = child;
    }
}

/* Writes every FDE's start relative to the section, or, if WRITE is false, finds out whether they fit. */
static int rebase(const struct sfu_section *s, uint8_t *bytes, bool write)
{
    unsigned size = start_size(s);
    uint32_t i;

    for (i = 0; i < s->num_fdes; i++) {
        uint64_t offset = fde_offset(s, i);
        uint64_t start = fde_start(s, offset, bytes + offset) - s->addr;

        if (size == 4 && start + ((uint64_t)1 << 31) > UINT32_MAX)
            return SFU_E_READONLY;
        if (write)
            store(bytes + offset, size, s->big, start);
    }
    return SFU_OK;
}

int sfu_sort(struct sfu_section *section, void *bytes)
{
    uint8_t *p = (uint8_t *)bytes;
    uint32_t i;

    if (p == NULL || p != section->bytes || rebase(section, p, false) != SFU_OK)
        return SFU_E_READONLY;
    (void)rebase(section, p, true);
    section->flags = (section->flags & (uint8_t)~FLAG_FIELD_RELATIVE) | FLAG_SORTED;
    p[3] = section->flags;
    for (i = section->num_fdes / 2; i > 0; i--)
        sink(section, p, i - 1, section->num_fdes);
    for (i = section->num_fdes; i > 1; i--) {
        swap(section, p, 0, i - 1);
        sink(section, p, 0, i - 1);
    }
    return SFU_OK;
}

/* ---- Messages -------------------------------------------------------------------------------------------------- */

#ifdef SFU_NO_STRINGS
static const char messages[] = "";
#else
/* From SFU_END down, and one for every other code. */
static const char messages[] =
    "end of the stack: the outermost frame\0"
    "no error\0"
    "no .sframe section, or an empty one\0"
    "not an .sframe section: wrong magic number\0"
    "unsupported .sframe version\0"
    "unsupported or mixed ABI in .sframe\0"
    "unknown flags in .sframe\0"
    "truncated or corrupt .sframe: an entry points outside of it\0"
    ".sframe cannot be read\0"
    ".sframe sections were concatenated, not merged, by the linker\0"
    ".sframe is flagged as sorted, but is not\0"
    "functions overlap in .sframe\0"
    "wrong number of rows in .sframe\0"
    ".sframe cannot be sorted in place\0"
    "no .sframe entry for this PC\0"
    "no row for this PC in its function's .sframe entry\0"
    "corrupt function entry in .sframe\0"
    "corrupt row in .sframe\0"
    "unreadable stack\0"
    "address outside of the address space\0"
    "needs a register that is unknown in a calling frame\0"
    "needs a register that was not supplied\0"
    "the return address is not saved in this frame\0"
    "no progress: the stack pointer does not grow\0"
    "too many stack switches\0"
    "too many frames\0"
    "signal or trap frame that the table does not describe\0"
    "unknown code";
#endif

/* Passes as many messages as the code says, never more than there are. */
const char *sfu_string(int code)
{
    const char *p = messages, *last = messages + sizeof messages;
    int skip;

    if (code > SFU_END || code < SFU_E_SIGNAL)
        code = SFU_E_SIGNAL - 1;
    for (skip = SFU_END - code; skip > 0 && p < last; p++)
        skip -= *p == '\0';
    return p < last ? p : last - 1;
}
