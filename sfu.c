/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The core of sfu. It reads from top to bottom in the order in which a step runs:
 *     bytes -> section -> function (FDE) -> row (FRE) -> rules -> caller's frame
 * Numbers in comments are sections of "The SFrame format", version 3. Nothing that a section or a stack holds is
 * believed: each number is read by one function, which checks it against the end of the tables.
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

/* Where the compiler's own choice costs a step stack, or the whole much code. */
#define OUT_OF_LINE __attribute__((noinline))
#define INLINE      inline __attribute__((always_inline))

/* clang-format off */
enum {
    MAGIC = 0xdee2,
    HEADER_SIZE = 28,
    MAX_END = INT32_MAX, /* longer tables are not read, so that no 32-bit offset wraps */
    FLAG_SORTED = 0x1, FLAG_FRAME_POINTER = 0x2, FLAG_FIELD_RELATIVE = 0x4,     /* 2.1.3 */
    INFO_ADDRESS = 0x0f, INFO_MASK = 0x10, INFO_SIGNAL = 0x80, INFO2_TYPE = 0x1f, /* 2.3.3 */
    TYPE_DEFAULT = 0, TYPE_FLEXIBLE = 1,
    V1_REPEAT_SIZE = 16,  /* V1's MASK functions are amd64 PLTs */
    ROW_BASE_SP = 0x01, ROW_SIGNED_RA = 0x80, /* 2.4.1 */
    ROW_WORD_SIZE = 0x60, /* all of it: not a size */
    RULE_REGISTER = 0x1, RULE_DEREFERENCE = 0x2, RULE_NUMBER = 3 /* 3.2; shift of the register number */
};
/* clang-format on */

/* What differs between versions. */
static const struct version {
    uint8_t fde_size, flags, last_abi;
} versions[] = {
    {17, FLAG_SORTED | FLAG_FRAME_POINTER, SFU_AMD64},
    {20, FLAG_SORTED | FLAG_FRAME_POINTER | FLAG_FIELD_RELATIVE, SFU_S390X},
    {16, FLAG_SORTED | FLAG_FIELD_RELATIVE, SFU_S390X},
};

/* What an ABI fixes (3.1). Registers have their DWARF numbers. */
struct sfu_abi_data {
    uint8_t sp, fp, ra; /* of amd64, whose RA is in no register, a number that no register has */
    uint8_t traits;
    uint16_t cfa_scale; /* CFA = base + cfa_scale * word + sp_below_cfa */
    uint16_t sp_below_cfa;
};

enum {
    LINK = 1,   /* a call leaves the RA in register ra, and default rows say where it is saved */
    RECORD = 2, /* FP, where used, points at a pair: the caller's FP, RA */
    SIGN = 4,   /* the RA may carry a PAC */
    BIG = 8     /* byte order of the stack */
};

static const struct sfu_abi_data abis[] = {
    {31, 29, 30, LINK | RECORD | SIGN | BIG, 1, 0}, /* SFU_AARCH64_BIG */
    {31, 29, 30, LINK | RECORD | SIGN, 1, 0},       /* SFU_AARCH64 */
    {7, 6, 0xff, RECORD, 1, 0},                     /* SFU_AMD64 */
    {15, 11, 14, LINK | BIG, 8, 160},               /* SFU_S390X */
};

/* ID has been checked by sfu_open; a row that somebody else made cannot lead outside of the table. */
static const struct sfu_abi_data *abi_of(uint8_t id)
{
    return &abis[(id - 1u) & 3];
}

/* A rule's control word for the value of register REG. */
static uint32_t register_rule(uint32_t reg)
{
    return reg << RULE_NUMBER | RULE_REGISTER;
}

/* ---- Bytes ----------------------------------------------------------------------------------------------------- */

/* The number in the SIZE (1, 2, 4 or 8) bytes at P, which need no alignment. Each expression is one that compilers
 * make a single load of. */
static INLINE uint64_t load(const uint8_t *p, unsigned size, bool big)
{
    if (size == 1)
        return p[0];
    if (size == 2)
        return big ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
    if (size == 4)
        return big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
                   : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
    return big ? (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 | (uint64_t)p[3] << 32 |
                     (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 | (uint64_t)p[6] << 8 | p[7]
               : (uint64_t)p[7] << 56 | (uint64_t)p[6] << 48 | (uint64_t)p[5] << 40 | (uint64_t)p[4] << 32 |
                     (uint64_t)p[3] << 24 | (uint64_t)p[2] << 16 | (uint64_t)p[1] << 8 | p[0];
}

/* The one place that calls a read callback. */
static bool fetch(sfu_read_fn read, void *ctx, uint64_t addr, uint8_t *buffer, size_t len)
{
    return read(ctx, addr, buffer, len) == 0;
}

/* A place in a section and what was read on the way there. The first error stays, and numbers are 0 from then on. */
struct cursor {
    const struct sfu_section *s;
    uint32_t at;  /* offset of the next byte; at most MAX_END plus the size of a row */
    uint32_t end; /* nothing is read from here on; at most MAX_END and the size of the section */
    /* the FDE */
    uint64_t start; /* address of the function */
    uint32_t size, num_rows;
    uint8_t info, type, repeat;
    /* the row */
    uint8_t row_info, word_count, word_size;
    int8_t error;
    uint32_t row_start; /* of its PCs, from the start of the function or of the repeated block */
    uint32_t words;     /* offset of its data words */
    uint8_t buffer[8];  /* what a callback brought */
};

static void fail(struct cursor *c, int8_t code)
{
    if (c->error == SFU_OK)
        c->error = code;
}

/* The next number, of SIZE (1, 2, 4 or 8) bytes. */
static inline uint64_t number(struct cursor *c, unsigned size)
{
    const uint8_t *p;

    if (c->at > c->end || size > c->end - c->at)
        fail(c, SFU_E_BOUNDS);
    if (c->error != SFU_OK)
        return 0;
    if (!REMOTE || c->s->bytes != NULL) {
        p = c->s->bytes + c->at;
    } else if (fetch(c->s->read, c->s->ctx, c->s->addr + c->at, c->buffer, size)) {
        p = c->buffer;
    } else {
        c->error = SFU_E_SECTION;
        return 0;
    }
    c->at += size;
    return load(p, size, c->s->big);
}

static uint64_t number8(struct cursor *c)
{
    return number(c, 1);
}

static uint64_t number32(struct cursor *c)
{
    return number(c, 4);
}

/* ---- Section (2.1, 2.2) ---------------------------------------------------------------------------------------- */

/* What is wrong with the preamble or the ABI in header H, if anything. */
static int check_preamble(const uint8_t *h, bool big)
{
    const struct version *version = &versions[(h[2] - 1u) % 3];

    if (load(h, 2, big) != MAGIC)
        return SFU_E_MAGIC;
    if (h[2] < SFU_OLDEST_VERSION || h[2] > 3)
        return SFU_E_VERSION;
    if (h[4] == 0 || h[4] > version->last_abi)
        return SFU_E_ABI;
    return h[3] & ~version->flags ? SFU_E_FLAGS : SFU_OK;
}

/* Fills in all of S but where it is read from, if its header H is good. Offsets there count from its own end. */
static int open_header(struct sfu_section *s, const uint8_t *h, uint64_t size, uint64_t addr)
{
    uint64_t base = HEADER_SIZE + (uint64_t)h[7], field[5]; /* num_fdes, num_fres, fre_len, fdeoff, freoff */
    uint8_t fde_size = versions[(h[2] - 1u) % 3].fde_size;
    unsigned i;
    bool big = h[0] == MAGIC >> 8;
    int code = check_preamble(h, big);

    for (i = 0; i < 5; i++)
        field[i] = load(h + 8 + 4 * i, 4, big);
    field[2] += field[4];
    if (code == SFU_OK &&
        (field[3] + field[0] * fde_size > field[4] || base + field[2] > size || base + field[2] > MAX_END))
        code = SFU_E_BOUNDS;
    if (code != SFU_OK)
        return code;
    s->next = NULL;
    s->addr = addr;
    s->size = size;
    s->num_fdes = (uint32_t)field[0];
    s->num_fres = (uint32_t)field[1];
    s->fdes = (uint32_t)(base + field[3]);
    s->fres = (uint32_t)(base + field[4]);
    s->end = (uint32_t)(base + field[2]);
    s->version = h[2];
    s->flags = h[3];
    s->abi = h[4];
    s->abi_data = abi_of(h[4]);
    s->fixed_fp = (int8_t)h[5];
    s->fixed_ra = (int8_t)h[6];
    s->fde_size = fde_size;
    s->big = big;
    return SFU_OK;
}

static int open_section(struct sfu_section *s, const void *bytes, sfu_read_fn read, void *ctx, uint64_t size,
                        uint64_t addr)
{
    uint8_t header[HEADER_SIZE];
    const uint8_t *h = (const uint8_t *)bytes;
    int code;

    if (size == 0)
        return SFU_E_EMPTY;
    if (size < HEADER_SIZE || addr + size < size)
        return SFU_E_BOUNDS;
    if (h == NULL) {
        if (!REMOTE || read == NULL || !fetch(read, ctx, addr, header, HEADER_SIZE))
            return SFU_E_SECTION;
        h = header;
    }
    code = open_header(s, h, size, addr);
    if (code == SFU_OK) {
        s->bytes = (const uint8_t *)bytes;
        s->read = read;
        s->ctx = ctx;
    }
    return code;
}

int sfu_open(struct sfu_section *section, const void *bytes, uint64_t size, uint64_t addr)
{
    return open_section(section, bytes, NULL, NULL, size, addr);
}

int sfu_open_remote(struct sfu_section *section, sfu_read_fn read, void *ctx, uint64_t size, uint64_t addr)
{
    return REMOTE ? open_section(section, NULL, read, ctx, size, addr) : SFU_E_SECTION;
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

static OUT_OF_LINE void start_at(struct cursor *c, const struct sfu_section *s)
{
    c->s = s;
    c->end = s->end;
    c->error = SFU_OK;
    c->at = 0;
    c->word_count = c->word_size = c->row_info = 0;
    c->row_start = 0;
}

static bool is_v3(const struct sfu_section *s)
{
    return SFU_OLDEST_VERSION > 2 || s->version > 2;
}

/* The address at which function INDEX starts, which wraps as addresses do; C is at the field that follows. INDEX is
 * less than num_fdes, here and below. */
static uint64_t read_start(struct cursor *c, uint32_t index)
{
    uint64_t start;

    c->at = c->s->fdes + index * c->s->fde_size;
    start = is_v3(c->s) ? number(c, 8) : (uint64_t)(int32_t)number(c, 4);
    if (c->s->flags & FLAG_FIELD_RELATIVE)
        start += c->at - (is_v3(c->s) ? 8 : 4);
    return c->s->addr + start;
}

/* Reads the start and the size; C is at what follows. */
static void read_fde(struct cursor *c, uint32_t index)
{
    c->start = read_start(c, index);
    c->size = (uint32_t)number32(c);
}

static unsigned address_size(const struct cursor *c)
{
    return 1u << (c->info & INFO_ADDRESS);
}

/* Reads the attributes, which follow in C up to V2 and precede the rows in V3. C is at the rows then. Each takes an
 * address and an info byte at least, so that the section bounds num_rows. */
static void read_attributes(struct cursor *c)
{
    uint64_t rows = c->s->fres + number32(c);

    if (rows > c->end)
        fail(c, SFU_E_BOUNDS);
    if (is_v3(c->s))
        c->at = (uint32_t)rows;
    c->num_rows = (uint32_t)number(c, is_v3(c->s) ? 2 : 4);
    c->info = (uint8_t)number8(c);
    c->type = TYPE_DEFAULT;
    c->repeat = V1_REPEAT_SIZE;
    if (is_v3(c->s))
        c->type = (uint8_t)number8(c) & INFO2_TYPE;
    if (c->s->version > 1)
        c->repeat = (uint8_t)number8(c);
    if (!is_v3(c->s)) {
        c->info &= (uint8_t)~INFO_SIGNAL;
        c->at = (uint32_t)rows;
    }
    if ((c->info & INFO_ADDRESS) > 2 || c->type > TYPE_FLEXIBLE || (c->info & INFO_MASK && c->repeat == 0) ||
        (uint64_t)c->num_rows * (address_size(c) + 1) > c->end - c->at)
        fail(c, SFU_E_FDE);
}

/* Reads the FDE that contains PC. In a sorted table a search, which halves what lies between LOW and HIGH each time,
 * leaves the FDEs that start at or below PC, of which the last counts that is not empty: empty functions may share a
 * start with the one that is looked for, on either side of it. In another table every FDE is tried. */
static void find_fde(struct cursor *c, uint64_t pc)
{
    uint32_t low = 0, high = c->s->num_fdes;

    while (c->s->flags & FLAG_SORTED && low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (read_start(c, middle) <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    while (c->error == SFU_OK && high > 0) {
        read_fde(c, --high);
        if (pc - c->start < c->size)
            return;
        if (c->s->flags & FLAG_SORTED && c->size > 0)
            break;
    }
    fail(c, SFU_E_NO_FDE);
}

/* ---- Row: FRE (2.4) -------------------------------------------------------------------------------------------- */

/* Reads the row at C, which is at the next one then, and takes it if it starts at or below OFFSET. Returns where it
 * starts. */
static uint32_t read_row(struct cursor *c, uint32_t offset)
{
    uint64_t start = number(c, address_size(c));
    uint8_t info = (uint8_t)number8(c);

    if ((info & ROW_WORD_SIZE) == ROW_WORD_SIZE)
        fail(c, SFU_E_ROW);
    if (start <= offset) {
        c->row_start = (uint32_t)start;
        c->row_info = info;
        c->word_count = info >> 1 & 15;
        c->word_size = (uint8_t)(1 << (info >> 5 & 3));
        c->words = c->at;
        c->at += (unsigned)c->word_count * c->word_size;
    }
    return (uint32_t)start;
}

/* Finds the last row that starts at or below OFFSET; none is taken if there are none. Returns where the next one
 * starts, at most LIMIT. Passes num_rows at the most. */
static uint32_t find_row(struct cursor *c, uint32_t offset, uint32_t limit)
{
    uint32_t i, start, last = 0;

    for (i = 0; i < c->num_rows && c->error == SFU_OK; i++) {
        start = read_row(c, offset);
        if (i > 0 && start <= last)
            fail(c, SFU_E_ROW);
        if (start > offset) {
            if (i == 0)
                fail(c, SFU_E_NO_ROW);
            return start < limit ? start : limit;
        }
        last = start;
    }
    return limit;
}

/* ---- Rules (3) ------------------------------------------------------------------------------------------------- */

/* The rule that *OFFSET, a word of a default row (3.1), stands for, I being 0 for CFA, 1 for RA, 2 for FP: an offset
 * from the base of the CFA or, where the value is saved, from the CFA. On s390x an RA of 0 is not saved, and an odd V2
 * word is a register, its number above bit 0. Returns the control word. */
static uint32_t default_rule(const struct cursor *c, unsigned i, int32_t *offset)
{
    uint32_t reg = c->row_info & ROW_BASE_SP ? c->s->abi_data->sp : c->s->abi_data->fp;

    if (i > 0) {
        bool unsaved = i == 1 && *offset == 0;

        if (c->s->abi != SFU_S390X || (!unsaved && (c->s->version != 2 || !(*offset & 1))))
            return RULE_DEREFERENCE;
        reg = unsaved ? c->s->abi_data->ra : (uint32_t)(*offset >> 1);
        *offset = 0;
    }
    return register_rule(reg);
}

/* Reads RULE of the row, I as above. A default row has one word for each, the RA's only if the ABI tracks it; a
 * flexible row (3.2) has two, the first of them 0 and alone for none. What is left out is at the header's FIXED
 * offset or, if that is 0, still in its register: the control word ABSENT. */
static void read_rule(struct cursor *c, unsigned i, int32_t fixed, uint32_t absent, struct sfu_rule *rule)
{
    unsigned size = c->word_size;
    uint32_t control = 0;
    uint64_t sign;

    rule->offset = fixed;
    rule->control = fixed != 0 ? (uint32_t)RULE_DEREFERENCE : absent;
    if (c->word_count == 0 || (i == 1 && c->type == TYPE_DEFAULT && !(c->s->abi_data->traits & LINK)))
        return;
    c->word_count--;
    if (c->type == TYPE_FLEXIBLE) {
        control = (uint32_t)number(c, size);
        if (control == 0)
            return;
        c->word_count--; /* wraps if there is no second word, and never gets back to 0 */
    }
    sign = (uint64_t)1 << (8 * size - 1);
    rule->offset = (int32_t)((number(c, size) ^ sign) - sign);
    rule->control = c->type == TYPE_FLEXIBLE ? control : default_rule(c, i, &rule->offset);
}

/* Reads what the row says of its PCs, or takes what it means that there is none. */
static void read_rules(struct cursor *c, struct sfu_row *row)
{
    row->kind = SFU_ROW_OUTERMOST;
    if (c->word_count > 0) {
        row->kind = SFU_ROW_RULES;
        c->at = c->words;
    } else if (c->num_rows > 0) {
        if (c->s->version == 1)
            fail(c, SFU_E_ROW);
    } else if (c->info & INFO_SIGNAL) {
        row->kind = SFU_ROW_ASK;
    } else if (!is_v3(c->s) || c->type != TYPE_DEFAULT) {
        fail(c, SFU_E_NO_ROW);
    }
    read_rule(c, 0, 0, 0, &row->cfa);
    read_rule(c, 1, (int32_t)c->s->fixed_ra, register_rule(c->s->abi_data->ra), &row->ra);
    read_rule(c, 2, (int32_t)c->s->fixed_fp, register_rule(c->s->abi_data->fp), &row->fp);
    if (c->word_count > 0 || (row->kind == SFU_ROW_RULES && !(row->cfa.control & RULE_REGISTER)))
        fail(c, SFU_E_ROW);
}

/* Finds the row for PC in S: all of *ROW but what read_rules sets. */
static void locate(struct cursor *c, const struct sfu_section *s, uint64_t pc, struct sfu_row *row)
{
    uint32_t offset, limit;

    start_at(c, s);
    find_fde(c, pc);
    read_attributes(c);
    if (c->error != SFU_OK)
        return;
    row->abi = c->s->abi;
    row->signal = c->info & INFO_SIGNAL;
    row->function = row->start = c->start;
    offset = (uint32_t)(pc - c->start);
    limit = c->size;
    if (c->info & INFO_MASK) {
        uint32_t block = offset - offset % c->repeat;

        row->start += block;
        offset -= block;
        limit -= block;
        if (limit > c->repeat)
            limit = c->repeat;
    }
    limit = find_row(c, offset, limit);
    row->start += c->row_start;
    row->length = limit - c->row_start;
    row->signed_ra = (c->s->abi_data->traits & SIGN) && (c->row_info & ROW_SIGNED_RA);
}

/* *TO = *FROM, which might become a call of memcpy. */
static OUT_OF_LINE void copy_row(struct sfu_row *to, const struct sfu_row *from)
{
    to->start = from->start;
    to->function = from->function;
    to->cfa = from->cfa;
    to->ra = from->ra;
    to->fp = from->fp;
    to->length = from->length;
    to->abi = from->abi;
    to->kind = from->kind;
    to->signal = from->signal;
    to->signed_ra = from->signed_ra;
}

int sfu_find(const struct sfu_section *section, uint64_t pc, struct sfu_row *row)
{
    struct cursor c;
    struct sfu_row found;

    locate(&c, section, pc, &found);
    read_rules(&c, &found);
    if (c.error == SFU_OK)
        copy_row(row, &found);
    return c.error;
}

/* ---- Frame ----------------------------------------------------------------------------------------------------- */

/* Register REG of FRAME: SP and FP always, all others only where no call can have changed them. */
static int frame_register(const struct sfu_target *t, const struct sfu_abi_data *abi, const struct sfu_frame *frame,
                          unsigned i, uint32_t reg, uint64_t *value)
{
    if (reg == abi->sp)
        *value = frame->sp;
    else if (reg == abi->fp)
        *value = frame->fp;
    else if (frame->pc_kind != SFU_PC_EXACT)
        return i == 1 && reg == abi->ra ? SFU_E_NO_RA : SFU_E_UNSAFE;
    else if (reg == abi->ra && frame->has_ra)
        *value = frame->ra;
    else if (t->reg == NULL || t->reg(t->ctx, frame, reg, value) != 0)
        return SFU_E_REGISTER;
    return SFU_OK;
}

/* RA without its PAC: those bits are all as bit 55 is. */
static uint64_t strip(const struct sfu_target *t, uint64_t ra)
{
    uint64_t bit55 = (uint64_t)1 << 55;
    uint64_t mask = t->pac_mask != 0 ? t->pac_mask : ~(((uint64_t)1 << 48) - 1);

    return ra & bit55 ? ra | mask : ra & ~mask;
}

/* Makes FRAME its caller's, whose SP this is, in all but pc, fp, ra and has_ra, if that is progress. Within a stack
 * SP grows; it may stay once, when a leaf without a frame of its own returns. Other stacks are known by the callback
 * or, without one, by a trap that leads down. Both are counted, as are all frames: every walk ends. */
static int advance(const struct sfu_target *t, uint64_t sp, bool trap, struct sfu_frame *frame)
{
    bool leaf = frame->pc_kind == SFU_PC_EXACT && !trap;
    bool grows = sp > frame->sp || (leaf && sp == frame->sp);
    bool switched = t->stack != NULL ? t->stack(t->ctx, sp) != t->stack(t->ctx, frame->sp) : trap && !grows;

    if (!grows && !switched)
        return SFU_E_PROGRESS;
    if (switched && frame->switches >= (t->max_switches != 0 ? t->max_switches : SFU_MAX_SWITCHES))
        return SFU_E_SWITCHES;
    if (frame->depth + 1 >= (t->max_frames != 0 ? t->max_frames : SFU_MAX_FRAMES))
        return SFU_E_DEPTH;
    frame->trap = trap ? frame->sp : 0;
    frame->sp = sp;
    frame->depth++;
    frame->pc_kind = trap ? SFU_PC_EXACT : SFU_PC_RETURN;
    frame->switches = (uint8_t)(frame->switches + switched);
    frame->switched = switched;
    frame->guessed = false;
    return SFU_OK;
}

/* What RULE, a rule of ROW, gives: VALUES[I], from VALUES[0], the CFA, which is the first. */
static int apply_rule(const struct sfu_target *t, const struct sfu_row *row, const struct sfu_frame *frame,
                      unsigned i, uint64_t *values)
{
    const struct sfu_rule *rule = i == 0 ? &row->cfa : i == 1 ? &row->ra : &row->fp;
    const struct sfu_abi_data *abi = abi_of(row->abi);
    uint32_t control = rule->control;
    int64_t offset = rule->offset;
    uint64_t base = values[0], sum;
    uint8_t word[8];
    int code = SFU_OK;

    if (i == 0)
        offset = offset * abi->cfa_scale + abi->sp_below_cfa;
    if (control & RULE_REGISTER)
        code = frame_register(t, abi, frame, i, control >> RULE_NUMBER, &base);
    sum = base + (uint64_t)offset;
    if (code != SFU_OK)
        return code;
    if ((offset < 0) != (sum < base))
        return SFU_E_ADDRESS;
    if (control & RULE_DEREFERENCE) {
        if (sum > UINT64_MAX - sizeof word || !fetch(t->read, t->ctx, sum, word, sizeof word))
            return SFU_E_STACK;
        sum = load(word, sizeof word, abi->traits & BIG);
    }
    values[i] = sum;
    return SFU_OK;
}

int sfu_apply(const struct sfu_target *target, const struct sfu_row *row, struct sfu_frame *frame)
{
    uint64_t values[3];
    uint32_t below = abi_of(row->abi)->sp_below_cfa;
    int code = SFU_OK;
    unsigned i;

    if (row->kind != SFU_ROW_RULES)
        return row->kind == SFU_ROW_OUTERMOST ? (int)SFU_END : (int)SFU_E_SIGNAL;
    values[0] = 0;
    for (i = 0; i < 3 && code == SFU_OK; i++)
        code = apply_rule(target, row, frame, i, values);
    if (code == SFU_OK && values[0] < below)
        code = SFU_E_ADDRESS;
    if (code == SFU_OK)
        code = advance(target, values[0] - below, row->signal, frame);
    if (code != SFU_OK)
        return code;
    frame->pc = row->signed_ra ? strip(target, values[1]) : values[1];
    frame->fp = values[2];
    frame->ra = frame->function = 0;
    frame->has_ra = false;
    return SFU_OK;
}

/* ---- Walk ------------------------------------------------------------------------------------------------------ */

uint64_t sfu_lookup_pc(const struct sfu_frame *frame)
{
    return frame->pc - frame->pc_kind;
}

/* Looks the walk's PC up in the cache, then in every section: the list is the caller's, and ends. If none has it, the
 * first error counts that says more than that. Returns SFU_OK. */
static int look_up(struct sfu_walk *walk)
{
    const struct sfu_target *t = walk->target;
    const struct sfu_section *s = t->sections;
    uint64_t pc = sfu_lookup_pc(&walk->frame);
    struct sfu_row *kept = t->cache_rows != 0 ? &t->cache[pc % t->cache_rows] : &walk->row;
    struct cursor c;

    walk->found = s != NULL ? SFU_E_NO_FDE : SFU_E_EMPTY;
    if (pc - kept->start < kept->length) {
        copy_row(&walk->row, kept);
        walk->found = SFU_OK;
    }
    for (; s != NULL && walk->found != SFU_OK; s = s->next) {
        locate(&c, s, sfu_lookup_pc(&walk->frame), &walk->row);
        read_rules(&c, &walk->row);
        if (c.error == SFU_OK || walk->found == SFU_E_NO_FDE)
            walk->found = (int)c.error;
    }
    walk->frame.function = 0;
    if (walk->found == SFU_OK) {
        walk->frame.function = walk->row.function;
        copy_row(kept, &walk->row);
    } else {
        walk->row.length = 0;
    }
    return SFU_OK;
}

void sfu_walk_start(struct sfu_walk *walk, const struct sfu_target *target, const struct sfu_frame *top)
{
    walk->target = target;
    walk->frame.pc = top->pc;
    walk->frame.sp = top->sp;
    walk->frame.fp = top->fp;
    walk->frame.ra = top->ra;
    walk->frame.pc_kind = top->pc_kind;
    walk->frame.has_ra = top->has_ra;
    walk->frame.trap = 0;
    walk->frame.depth = 0;
    walk->row.start = walk->row.length = 0;
    walk->frame.switches = 0;
    walk->frame.switched = walk->frame.guessed = false;
    walk->frame.reliable = true;
    (void)look_up(walk);
}

/* Asks the trap hook about the walk's frame, for which there is no rule because of CODE. */
static OUT_OF_LINE int ask_hook(struct sfu_walk *walk, int code)
{
    const struct sfu_target *t = walk->target;
    struct sfu_frame next;

    if (t->trap == NULL)
        return code;
    next.pc = next.sp = next.fp = next.ra = 0;
    next.trap = walk->frame.sp;
    next.has_ra = false;
    code = t->trap(t->ctx, &walk->frame, code, &next);
    if (code == SFU_OK)
        code = advance(t, next.sp, true, &walk->frame);
    if (code != SFU_OK)
        return code;
    walk->frame.pc = next.pc;
    walk->frame.fp = next.fp;
    walk->frame.ra = next.ra;
    walk->frame.has_ra = next.has_ra;
    walk->frame.trap = next.trap;
    return SFU_OK;
}

/* Guesses that FP holds a frame record. If that fails, the reason stays that there is no FDE, and so the walk's row is
 * free to be used. */
static OUT_OF_LINE int guess(struct sfu_walk *walk)
{
    const struct sfu_target *t = walk->target;
    struct sfu_row *row = &walk->row;
    const struct sfu_abi_data *abi = t->sections->abi_data;

    if (!t->frame_pointers || !(abi->traits & RECORD))
        return SFU_E_NO_FDE;
    row->abi = t->sections->abi;
    row->kind = SFU_ROW_RULES;
    row->signal = false;
    row->signed_ra = abi->traits & SIGN;
    row->cfa.control = register_rule(abi->fp);
    row->cfa.offset = 16;
    row->ra.control = row->fp.control = RULE_DEREFERENCE;
    row->ra.offset = -8;
    row->fp.offset = -16;
    if (sfu_apply(t, row, &walk->frame) != SFU_OK)
        return SFU_E_NO_FDE;
    walk->frame.guessed = true;
    walk->frame.reliable = false;
    return SFU_OK;
}

int sfu_walk_step(struct sfu_walk *walk)
{
    int code = walk->found;

    if (code == SFU_OK)
        code = sfu_apply(walk->target, &walk->row, &walk->frame);
    if (code == SFU_E_SIGNAL || code == SFU_E_NO_FDE)
        code = ask_hook(walk, code);
    if (code == SFU_E_NO_FDE && walk->found == SFU_E_NO_FDE)
        code = guess(walk);
    return code == SFU_OK ? look_up(walk) : code;
}

/* ---- Check ----------------------------------------------------------------------------------------------------- */

/* Every row of the FDE that C has read. The last may start at the end of the function: gcc's may. Returns the index of
 * the row where it failed; each is looked at once. */
static OUT_OF_LINE uint32_t check_rows(struct cursor *c)
{
    struct sfu_row row;
    uint32_t i, next, start, last = 0;

    c->word_count = 0;
    if (c->num_rows == 0)
        read_rules(c, &row);
    for (i = 0; i < c->num_rows; i++) {
        start = read_row(c, UINT32_MAX);
        if ((i > 0 && start <= last) || start > c->size)
            fail(c, SFU_E_ROW);
        last = start;
        next = c->at;
        read_rules(c, &row);
        c->at = next;
        if (c->error != SFU_OK)
            return i;
    }
    return 0;
}

/* The FDEs in turn, up to the first fault: its place in *PLACE. An empty function may share its start with another. */
static void check_fdes(struct cursor *c, struct sfu_place *place)
{
    const struct sfu_section *s = c->s;
    uint64_t start = 0, end = 0, num_rows = 0;

    place->row = 0;
    for (place->fde = 0; place->fde < s->num_fdes; place->fde++) {
        read_fde(c, place->fde);
        read_attributes(c);
        if (c->error == SFU_OK)
            place->row = check_rows(c);
        if (c->start + c->size < c->start)
            fail(c, SFU_E_FDE);
        if (s->flags & FLAG_SORTED) {
            if (c->start < start)
                fail(c, SFU_E_UNSORTED);
            if (c->start < end && c->size > 0)
                fail(c, SFU_E_OVERLAP);
        }
        if (c->error != SFU_OK)
            return;
        start = c->start;
        if (c->size > 0)
            end = start + c->size;
        num_rows += c->num_rows;
    }
    if (s->num_fdes == 0)
        fail(c, SFU_E_EMPTY);
    if (num_rows != s->num_fres)
        fail(c, SFU_E_COUNT);
    /* a linker that does not merge leaves the next file's header behind the tables, aligned to 8 */
    c->at = (s->end + 7) & ~(uint32_t)7;
    c->end = c->at + 2;
    if (s->size >= (uint64_t)c->at + HEADER_SIZE && number(c, 2) == MAGIC)
        fail(c, SFU_E_CONCATENATED);
}

int sfu_check(const struct sfu_section *section, struct sfu_place *place)
{
    struct sfu_place at;
    struct cursor c;

    start_at(&c, section);
    check_fdes(&c, place != NULL ? place : &at);
    return c.error;
}

/* ---- Sort ------------------------------------------------------------------------------------------------------ */

/* Whether FDE A belongs behind FDE B: by start, empty functions first. */
static bool behind(const struct sfu_section *s, uint32_t a, uint32_t b)
{
    struct cursor c;
    uint64_t start;
    uint32_t size;

    start_at(&c, s);
    read_fde(&c, a);
    start = c.start;
    size = c.size;
    read_fde(&c, b);
    return start != c.start ? start > c.start : size > c.size;
}

static void swap(const struct sfu_section *s, uint8_t *fdes, uint32_t a, uint32_t b)
{
    uint8_t *p = fdes + a * s->fde_size, *q = fdes + b * s->fde_size;
    unsigned i = s->fde_size;

    while (i-- > 0) {
        uint8_t kept = p[i];

        p[i] = q[i];
        q[i] = kept;
    }
}

/* Lets FDE ROOT sink in the heap of the first COUNT, at most log2(COUNT) times. */
static void sink(const struct sfu_section *s, uint8_t *fdes, uint32_t root, uint32_t count)
{
    while (root < count / 2) {
        uint32_t child = 2 * root + 1;

        if (child + 1 < count && behind(s, child + 1, child))
            child++;
        if (!behind(s, child, root))
            return;
        swap(s, fdes, root, child);
        root = child;
    }
}

/* Writes every FDE's start relative to the section or, if FDES is NULL, finds out whether they fit. */
static bool rebase(const struct sfu_section *s, uint8_t *fdes)
{
    struct cursor c;
    unsigned size = is_v3(s) ? 8 : 4, k;
    uint32_t i;

    start_at(&c, s);
    for (i = 0; i < s->num_fdes; i++) {
        uint64_t start = read_start(&c, i) - s->addr;

        if (size == 4 && (int64_t)start != (int32_t)start)
            return false;
        if (fdes == NULL)
            continue;
        for (k = 0; k < size; k++, start >>= 8)
            fdes[s->big ? size - 1 - k : k] = (uint8_t)start;
        fdes += s->fde_size;
    }
    return true;
}

int sfu_sort(struct sfu_section *section, void *bytes)
{
    uint8_t *p = (uint8_t *)bytes, *fdes;
    uint32_t count = section->num_fdes, root = count / 2;

    if (p == NULL || p != section->bytes || !rebase(section, NULL))
        return SFU_E_READONLY;
    fdes = p + section->fdes;
    (void)rebase(section, fdes);
    section->flags = (section->flags & FLAG_FRAME_POINTER) | FLAG_SORTED;
    p[3] = section->flags;
    while (count > 1) {
        if (root > 0)
            root--;
        else
            swap(section, fdes, 0, --count);
        sink(section, fdes, root, count);
    }
    return SFU_OK;
}

/* ---- Messages -------------------------------------------------------------------------------------------------- */

#ifdef SFU_NO_STRINGS
const char *sfu_string(int code)
{
    (void)code;
    return "";
}
#else
/* From SFU_END down, and one for every other code. */
/* clang-format off */
static const char messages[] =
    "end of the stack: the outermost frame\0" "no error\0" "no .sframe section, or an empty one\0"
    "not an .sframe section: wrong magic number\0" "unsupported .sframe version\0"
    "unsupported or mixed ABI in .sframe\0" "unknown flags in .sframe\0"
    "truncated or corrupt .sframe: an entry points outside of it\0" ".sframe cannot be read\0"
    ".sframe sections were concatenated, not merged, by the linker\0" ".sframe is flagged as sorted, but is not\0"
    "functions overlap in .sframe\0" "wrong number of rows in .sframe\0" ".sframe cannot be sorted in place\0"
    "no .sframe entry for this PC\0" "no row for this PC in its function's .sframe entry\0"
    "corrupt function entry in .sframe\0" "corrupt row in .sframe\0" "unreadable stack\0"
    "address outside of the address space\0" "needs a register that is unknown in a calling frame\0"
    "needs a register that was not supplied\0" "the return address is not saved in this frame\0"
    "no progress: the stack pointer does not grow\0" "too many stack switches\0" "too many frames\0"
    "signal or trap frame that the table does not describe\0"
    "unknown code";
/* clang-format on */

/* Passes as many messages as the code says, and there are so many. */
const char *sfu_string(int code)
{
    const char *p = messages;
    int skip = code <= SFU_END && code >= SFU_E_SIGNAL ? SFU_END - code : SFU_END - SFU_E_SIGNAL + 1;

    for (; skip > 0; p++)
        skip -= *p == '\0';
    return p;
}
#endif
