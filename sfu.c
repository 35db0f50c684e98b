/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The core of sfu. It reads from top to bottom in the order in which a step runs:
 *     bytes -> section -> function (FDE) -> row (FRE) -> rules -> caller's frame
 * Numbers in comments are sections of "The SFrame format", version 3. Nothing that a section or a stack holds is
 * believed. A section is read record by record: read_record checks that the bytes lie in the tables, and points at
 * them. A number out of a record is checked before it is used.
 */
#include "sfu.h"

/* ---- The format ------------------------------------------------------------------------------------------------ */

#ifdef SFU_NO_REMOTE
#define REMOTE false
#else
#define REMOTE true
#endif

/* Which tables are read: SFrame's, and those of the ABIs that the specification does not have (docs/format.md). */
#ifdef SFU_ABI
#define READS_OWN    (SFU_ABI > SFU_S390X)
#define READS_SFRAME (!READS_OWN)
#define ONE_ORDER    true /* of bytes */
#define SIGNS        (SFU_ABI == SFU_AARCH64 || SFU_ABI == SFU_AARCH64_BIG)
#else
#define READS_OWN    true
#define READS_SFRAME true
#define ONE_ORDER    false
#define SIGNS        true
#endif

#ifndef SFU_OLDEST_VERSION
#define SFU_OLDEST_VERSION (READS_SFRAME ? 1 : 3)
#endif

/* Left to itself the compiler would spend more stack on a step, or more code on the whole: it takes a load for many
 * instructions. */
#define OUT_OF_LINE __attribute__((__noinline__))
#define INLINE      inline __attribute__((__always_inline__))
/* The CPU guesses where a branch leads, and loads from there at once. A conditional move, which compilers prefer at
 * -Os, waits for what it compares. */
#define KEEP_BRANCH __asm__ volatile("")

/* clang-format off */
enum {
    MAGIC = 0xdee2,
    OWN_MAGIC = 0x5f75, /* of tables that are not SFrame: it has no byte that MAGIC has */
    LAST_OFFICIAL = SFU_S390X, FIRST_OWN = SFU_RISCV64, /* ABI numbers of the one and of the other */
    HEADER_SIZE = 28,
    MAX_END = INT32_MAX, /* of the tables: no 32-bit offset in them wraps */
    FLAG_SORTED = 0x1, FLAG_FRAME_POINTER = 0x2, FLAG_FIELD_RELATIVE = 0x4,     /* 2.1.3 */
    INFO_ADDRESS = 0x0f, INFO_MASK = 0x10, INFO_SIGNAL = 0x80, INFO2_TYPE = 0x1f, /* 2.3.3 */
    TYPE_DEFAULT = 0, TYPE_FLEXIBLE = 1,
    V1_REPEAT_SIZE = 16,  /* V1's MASK functions are amd64 PLTs */
    ATTRIBUTES_SIZE = 5,  /* V3 has them in front of a function's rows */
    ROW_BASE_SP = 0x01,   /* 2.4.1 */
    MAX_WORDS = 6,        /* three pairs of a flexible row */
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
enum { LEAST_FDE = 16 }; /* the least fde_size */

/* What version NUMBER, which is built in, has of its own. */
static const struct version *version_of(uint8_t number)
{
    return &versions[SFU_OLDEST_VERSION > 2 ? 2 : number - 1];
}

enum {
    LINK = 1,               /* a call leaves the RA in register ra; default rows say where it is saved */
    RECORD = 2,             /* an FP that is used points at a frame record: the caller's FP, then the RA */
    BIG = 4,                /* the stack is big-endian */
    SAVES_IN_REGISTERS = 8, /* default rows may say that RA or FP is in a register: set_saved */
    CFA_IN_WORDS = 16,      /* rows have the CFA's offset in units of 8 bytes */
    EVEN = 32               /* bit 0 of an RA chooses the instruction set, and is not a part of the address */
};

/* What an ABI fixes (3.1). Registers have their DWARF numbers. The specification's ABIs stand at their numbers; behind
 * them those from FIRST_OWN on. */
static const struct abi {
    uint8_t sp, fp, ra; /* amd64 and i386 have no RA register: a number that no register has */
    uint8_t traits;
    uint8_t signed_ra;    /* bit of a row's info byte: the RA carries a PAC */
    uint8_t sp_below_cfa; /* CFA = base + offset + sp_below_cfa */
    uint8_t word;         /* bytes of a saved register, and of an address: 8 or 4 */
    uint8_t record;       /* of a frame record: CFA = FP + record. RA and FP are the two words below the CFA */
} abis[] = {
    {0xff, 0xff, 0xff, 0, 0, 0, 8, 0},                                          /* no ABI */
    {31, 29, 30, LINK | RECORD | BIG, 0x80, 0, 8, 16},                          /* SFU_AARCH64_BIG */
    {31, 29, 30, LINK | RECORD, 0x80, 0, 8, 16},                                /* SFU_AARCH64 */
    {7, 6, 0xff, RECORD, 0, 0, 8, 16},                                          /* SFU_AMD64 */
    {15, 11, 14, LINK | BIG | SAVES_IN_REGISTERS | CFA_IN_WORDS, 0, 160, 8, 0}, /* SFU_S390X */
    {2, 8, 1, LINK | RECORD, 0, 0, 8, 0},                                       /* SFU_RISCV64 */
    {2, 8, 1, LINK | RECORD, 0, 0, 4, 0},                                       /* SFU_RISCV32 */
    {13, 11, 14, LINK | EVEN, 0, 0, 4, 0},                                      /* SFU_ARM */
    {13, 7, 14, LINK | EVEN, 0, 0, 4, 0},                                       /* SFU_THUMB */
    {4, 5, 0xff, RECORD, 0, 0, 4, 8},                                           /* SFU_I386 */
};

/* What ABI number ID fixes. A number that no ABI has, which only a row can have that a caller made: "no ABI". */
static const struct abi *abi_of(unsigned id)
{
#ifdef SFU_ABI
    id = SFU_ABI;
#endif
    if (id > LAST_OFFICIAL)
        id = id < FIRST_OWN ? 0 : id - FIRST_OWN + LAST_OFFICIAL + 1;
    return &abis[id < sizeof abis / sizeof abis[0] ? id : 0];
}

/* Bytes of a word of ABI. */
static unsigned word_size(const struct abi *abi)
{
#ifdef SFU_ABI
    abi = abi_of(SFU_ABI);
#endif
    return abi->word;
}

/* The last address of ABI. */
static sfu_addr last_address(const struct abi *abi)
{
    return word_size(abi) == 4 ? (sfu_addr)UINT32_MAX : SFU_ADDR_MAX;
}

static bool is_abi(unsigned id)
{
#ifdef SFU_ABI
    return id == SFU_ABI;
#else
    return abi_of(id) != &abis[0];
#endif
}

/* The ABI of T's sections, if it has any. */
static const struct abi *target_abi(const struct sfu_target *t)
{
    return abi_of(t->sections != NULL ? (unsigned)t->sections->abi : 0u);
}

/* The address of the instruction that PC, a return address perhaps, names. */
static sfu_addr code_address(const struct abi *abi, sfu_addr pc)
{
    return abi->traits & EVEN ? pc & ~(sfu_addr)1 : pc;
}

/* Whether the tables of S are big-endian. */
static bool is_big(const struct sfu_section *s)
{
#ifdef SFU_ABI
    (void)s;
    return abi_of(SFU_ABI)->traits & BIG;
#else
    return s->big;
#endif
}

static bool is_v1(const struct sfu_section *s)
{
    return SFU_OLDEST_VERSION < 2 && s->version < 2;
}

static bool is_v3(const struct sfu_section *s)
{
    return SFU_OLDEST_VERSION > 2 || s->version > 2;
}

/* The control word of the rule "register REG + offset". */
static uint32_t register_rule(uint32_t reg)
{
    return reg << RULE_NUMBER | RULE_REGISTER;
}

/* ---- Numbers: 32-bit hosts would call a library for them -------------------------------------------------------- */

/* VALUE modulo BY, bit by bit. BY is not 0. */
static uint32_t modulo(uint32_t value, uint8_t by)
{
    uint32_t rest = 0;
    unsigned bit = 32;

    while (bit > 0) {
        bit--;
        rest = rest << 1 | (value >> bit & 1);
        if (rest >= by)
            rest -= by;
    }
    return rest;
}

/* ---- Bytes ----------------------------------------------------------------------------------------------------- */

/* The numbers in the 2, 4 and 8 bytes at P, of any alignment. Compilers make a single load of each branch. */
static INLINE uint16_t load2(const uint8_t *p, bool big)
{
    return (uint16_t)(big ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
}

static INLINE uint32_t load4(const uint8_t *p, bool big)
{
    return big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
               : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static INLINE uint64_t load8(const uint8_t *p, bool big)
{
    return big ? (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 | (uint64_t)p[3] << 32 |
                     (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 | (uint64_t)p[6] << 8 | p[7]
               : (uint64_t)p[7] << 56 | (uint64_t)p[6] << 48 | (uint64_t)p[5] << 40 | (uint64_t)p[4] << 32 |
                     (uint64_t)p[3] << 24 | (uint64_t)p[2] << 16 | (uint64_t)p[1] << 8 | p[0];
}

/* The number in the SIZE (1, 2 or 4) bytes at P. */
static INLINE uint32_t load(const uint8_t *p, unsigned size, bool big)
{
    return size == 1 ? p[0] : size == 2 ? load2(p, big) : load4(p, big);
}

/* The same, sign-extended. */
static inline int32_t load_signed(const uint8_t *p, unsigned size, bool big)
{
    return size == 1 ? (int8_t)p[0] : size == 2 ? (int16_t)load2(p, big) : (int32_t)load4(p, big);
}

/* The one place that calls a read callback. */
static bool fetch(sfu_read_fn read, void *ctx, sfu_addr addr, uint8_t *buffer, size_t len)
{
    return read != NULL && read(ctx, addr, buffer, len) == 0;
}

/* A function. It is valid after find_fde or read_attributes has succeeded. */
struct fde {
    sfu_addr start; /* address */
    uint32_t size;  /* start + size may wrap */
    uint32_t rows;  /* offset of its rows, at most the end of the tables */
    uint32_t num_rows;
    uint8_t info;
    uint8_t address; /* bytes of a row's start: 1, 2 or 4 */
    uint8_t type;    /* TYPE_DEFAULT or TYPE_FLEXIBLE */
    uint8_t repeat;  /* not 0 in a MASK function */
};

/* A row of it. It is valid after take_row has succeeded. */
struct row {
    uint32_t start; /* from the start of the function or of the repeated block */
    uint32_t words; /* offset of its data words */
    uint8_t info;
    uint8_t count; /* of its words */
    uint8_t size;  /* of a word: 1, 2 or 4 */
};

/* A lookup: what it reads, and what it has found. */
struct lookup {
    const struct sfu_section *s;
    const uint8_t *words; /* of the row: valid after read_rules has read them */
    struct fde fde;
    struct row row;
    sfu_addr start; /* the row holds for LENGTH bytes from here on: valid after find_row has succeeded */
    uint32_t length;
    uint8_t buffer[REMOTE ? 4 * MAX_WORDS : 1]; /* for a record that the callback reads */
};

/* Prepares L for lookups in S. An initializer would clear the buffer as well: clang at -O0 calls memset for that, and
 * gcc 12 takes 137 bytes more at -Os. All else is written before it is read: each comment says by whom. */
static void begin(struct lookup *l, const struct sfu_section *s)
{
    l->s = s;
}

/* What is asked of a section for each record. Who reads records has a copy of its own, which no callback and no store
 * of a byte can change: of the section itself a compiler would have to load it anew for each record. */
struct tables {
    const uint8_t *bytes; /* NULL: the callback reads */
    sfu_addr addr;
    uint32_t fdes, end; /* offsets */
    uint8_t fde_size;
    bool big, v3, relative;
};

static INLINE void get_tables(struct tables *t, const struct sfu_section *s)
{
    t->bytes = s->bytes;
    t->addr = s->addr;
    t->fdes = s->fdes;
    t->end = s->end;
    t->fde_size = SFU_OLDEST_VERSION > 2 ? version_of(3)->fde_size : s->fde_size;
    t->big = is_big(s);
    t->v3 = is_v3(s);
    t->relative = s->flags & FLAG_FIELD_RELATIVE;
}

static OUT_OF_LINE const uint8_t *fetch_record(struct lookup *l, uint32_t at, uint32_t len)
{
    return fetch(l->s->read, l->s->ctx, l->s->addr + at, l->buffer, len) ? l->buffer : NULL;
}

/* The record of LEN (at most 24) bytes at offset AT of T, the tables of the lookup's section; NULL if the callback
 * fails. The caller knows that they lie in the section. The next record may take its place. */
static INLINE const uint8_t *read_known(struct lookup *l, const struct tables *t, uint32_t at, uint32_t len)
{
    return REMOTE && t->bytes == NULL ? fetch_record(l, at, len) : t->bytes + at;
}

/* Whether read_known has read RECORD. Only a callback fails. */
static INLINE bool is_read(const uint8_t *record)
{
    return !REMOTE || record != NULL;
}

/* The same as read_known for any AT, as *RECORD: checks that the bytes lie in the tables. */
static INLINE int read_record(struct lookup *l, const struct tables *t, uint32_t at, uint32_t len,
                              const uint8_t **record)
{
    if (at > t->end || len > t->end - at)
        return SFU_E_BOUNDS;
    *record = read_known(l, t, at, len);
    return is_read(*record) ? SFU_OK : SFU_E_SECTION;
}

/* ---- Section (2.1, 2.2) ---------------------------------------------------------------------------------------- */

/* Checks the preamble (2.1) and the ABI (2.2.1) in header H. Tables of our own have version 3's layout, and their own
 * ABIs: docs/format.md. */
static int check_preamble(const uint8_t *h, bool big)
{
    const struct version *version;
    uint32_t magic = load2(h, big);
    bool own = READS_OWN && magic == OWN_MAGIC;

    if (!own && !(READS_SFRAME && magic == MAGIC))
        return SFU_E_MAGIC;
    if (h[2] < SFU_OLDEST_VERSION || h[2] > 3 || (own && h[2] < 3))
        return SFU_E_VERSION;
    version = version_of(h[2]);
    if (own ? h[4] < FIRST_OWN || !is_abi(h[4]) : h[4] == 0 || h[4] > version->last_abi)
        return SFU_E_ABI;
#ifdef SFU_ABI
    if (h[4] != SFU_ABI || big != (bool)(abi_of(SFU_ABI)->traits & BIG))
        return SFU_E_ABI;
#endif
    return h[3] & ~version->flags ? SFU_E_FLAGS : SFU_OK;
}

/* An assignment might become a call of memcpy: gcc's for ARMv6-M does. */
static void copy_rule(struct sfu_rule *to, const struct sfu_rule *from)
{
    to->offset = from->offset;
    to->control = from->control;
}

/* Sets RULE for RA or FP where a row has none: saved at the header's FIXED offset or, if that is 0, still in REG. */
static void set_unmentioned(struct sfu_rule *rule, uint8_t fixed, uint8_t reg)
{
    rule->offset = (int8_t)fixed;
    rule->control = fixed != 0 ? (uint32_t)RULE_DEREFERENCE : register_rule(reg);
}

/* Fills in S from header H, but not bytes, read and ctx. Offsets in a header count from its own end. Each number is
 * compared with the room that is left before it is added or multiplied, so that nothing wraps. */
static int open_header(struct sfu_section *s, const uint8_t *h, sfu_addr size, sfu_addr addr)
{
    bool big = (READS_SFRAME && h[0] == MAGIC >> 8) || (READS_OWN && h[0] == OWN_MAGIC >> 8);
    int code = check_preamble(h, big);
    uint32_t base = HEADER_SIZE + (uint32_t)h[7], room = size < MAX_END ? (uint32_t)size : (uint32_t)MAX_END;
    uint32_t num_fdes, fdes, rows, len;
    uint8_t fde_size;

    if (code != SFU_OK)
        return code;
    fde_size = version_of(h[2])->fde_size;
    num_fdes = load4(h + 8, big);
    len = load4(h + 16, big);
    fdes = load4(h + 20, big);
    rows = load4(h + 24, big);
    if (base > room || rows > room - base || len > room - base - rows || fdes > rows ||
        num_fdes > (rows - fdes) / LEAST_FDE || num_fdes * fde_size > rows - fdes)
        return SFU_E_BOUNDS;
    s->next = NULL;
    s->addr = addr;
    s->size = size;
    s->text.low = s->text.high = 0;
    s->code.low = s->code.high = 0;
    s->num_fdes = num_fdes;
    s->num_rows = load4(h + 12, big);
    s->fdes = base + fdes;
    s->rows = base + rows;
    s->end = base + rows + len;
    s->version = h[2];
    s->flags = h[3];
    s->abi = (enum sfu_abi)h[4];
    set_unmentioned(&s->fp, h[5], abi_of(h[4])->fp);
    set_unmentioned(&s->ra, h[6], abi_of(h[4])->ra);
    s->fde_size = fde_size;
    s->big = big;
    return SFU_OK;
}

/* The header is read once: somebody else may write to mapped bytes meanwhile, and what was checked must be what counts.
 * VOLATILE keeps a compiler from reading them again. */
static OUT_OF_LINE int open_section(struct sfu_section *s, const void *bytes, sfu_read_fn read, void *ctx,
                                    sfu_addr size, sfu_addr addr)
{
    const volatile uint8_t *mapped = (const volatile uint8_t *)bytes;
    uint8_t header[HEADER_SIZE];
    unsigned i;
    int code;

    if (size == 0)
        return SFU_E_EMPTY;
    if (size < HEADER_SIZE || addr > SFU_ADDR_MAX - size)
        return SFU_E_BOUNDS;
    if (mapped == NULL && (!REMOTE || !fetch(read, ctx, addr, header, HEADER_SIZE)))
        return SFU_E_SECTION;
    for (i = 0; mapped != NULL && i < HEADER_SIZE; i++)
        header[i] = mapped[i];
    code = open_header(s, header, size, addr);
    if (code == SFU_OK) {
        s->bytes = (const uint8_t *)bytes;
        s->read = read;
        s->ctx = ctx;
    }
    return code;
}

int sfu_open(struct sfu_section *section, const void *bytes, sfu_addr size, sfu_addr addr)
{
    return open_section(section, bytes, NULL, NULL, size, addr);
}

int sfu_open_remote(struct sfu_section *section, sfu_read_fn read, void *ctx, sfu_addr size, sfu_addr addr)
{
    return REMOTE ? open_section(section, NULL, read, ctx, size, addr) : SFU_E_SECTION;
}

/* Opens what lies at offset AT of S, up to the end of S, as *NEXT. */
static int open_behind(const struct sfu_section *s, uint32_t at, struct sfu_section *next)
{
    return REMOTE && s->bytes == NULL ? sfu_open_remote(next, s->read, s->ctx, s->size - at, s->addr + at)
                                      : sfu_open(next, s->bytes + at, s->size - at, s->addr + at);
}

/* Sets *AT to the offset of the header behind the tables of S. It follows at once, or after up to 7 bytes of padding,
 * because linkers align each .sframe to 8 at most. A magic number like that of S is enough: whether that section can be
 * opened is not asked here, so that a damaged header is an error, and not the end of the tables. In the other byte
 * order a magic number is a header only if the section can be opened, because a linker joins sections of one target.
 * Returns SFU_E_NO_SECTION if there is none. */
static OUT_OF_LINE int find_next(const struct sfu_section *s, uint32_t *at)
{
    struct lookup l;
    struct tables t;
    struct sfu_section other;
    uint32_t padding, magic = READS_OWN && (!READS_SFRAME || s->abi > SFU_S390X) ? OWN_MAGIC : MAGIC;

    begin(&l, s);
    get_tables(&t, s);
    for (padding = 0; padding < 8 && s->size - s->end >= padding + HEADER_SIZE; padding++) {
        const uint8_t *p = read_known(&l, &t, s->end + padding, 2);

        if (!is_read(p))
            return SFU_E_SECTION;
        *at = s->end + padding;
        if (load2(p, is_big(s)) == magic)
            return SFU_OK;
        if (!ONE_ORDER && load2(p, !is_big(s)) == magic) {
            int code = open_behind(s, *at, &other);

            if (code == SFU_OK || code == SFU_E_SECTION)
                return code;
        }
    }
    return SFU_E_NO_SECTION;
}

static void find_code(struct sfu_section *s);

/* Adds SECTIONS[0], which is opened, to *LIST. Then opens what is joined to it, and adds that, as far as there is ROOM.
 * At most ROOM passes. Each section ends in front of the next: only the last one may have bytes behind its tables. */
static int add_joined(struct sfu_section **list, struct sfu_section *sections, size_t room)
{
    struct sfu_section *s = sections;
    uint32_t at;
    int code;

    for (;;) {
        if (*list != NULL && (*list)->abi != s->abi)
            return SFU_E_ABI;
        find_code(s);
        s->next = *list;
        *list = s;
        code = find_next(s, &at);
        if (code != SFU_OK)
            return code == SFU_E_NO_SECTION ? SFU_OK : code;
        room--;
        if (room == 0)
            return SFU_E_CONCATENATED;
        code = open_behind(s, at, s + 1);
        if (code != SFU_OK)
            return code;
        s->size = s->end; /* else sfu_check(S) would find the next header: SFU_E_CONCATENATED */
        s++;
    }
}

int sfu_add(struct sfu_section **list, struct sfu_section *sections, size_t room, const void *bytes, sfu_addr size,
            sfu_addr addr)
{
    int code = sfu_open(sections, bytes, size, addr);

    return code == SFU_OK ? add_joined(list, sections, room) : code;
}

int sfu_add_remote(struct sfu_section **list, struct sfu_section *sections, size_t room, sfu_read_fn read,
                   void *ctx, sfu_addr size, sfu_addr addr)
{
    int code = sfu_open_remote(sections, read, ctx, size, addr);

    return code == SFU_OK ? add_joined(list, sections, room) : code;
}

/* The loop ends: the list is the caller's own, and has no section twice. */
bool sfu_remove(struct sfu_section **list, struct sfu_section *sections, size_t room)
{
    /* numbers, because pointers into different arrays have no order */
    uintptr_t low = (uintptr_t)sections, high = (uintptr_t)(sections + room);
    bool removed = false;

    while (*list != NULL) {
        struct sfu_section *s = *list;

        if ((uintptr_t)s >= low && (uintptr_t)s < high) {
            *list = s->next;
            s->next = NULL;
            removed = true;
        } else {
            list = &s->next;
        }
    }
    return removed;
}

/* Whether PC lies in RANGE. An unset one has every address. */
static bool is_in(const struct sfu_range *range, sfu_addr pc)
{
    return range->high == 0 || (pc >= range->low && pc < range->high);
}

/* ---- Function: FDE (2.3; V1 and V2 keep the attributes in the entry) ------------------------------------------- */

/* The offset of FDE INDEX. Here and below INDEX is less than num_fdes: sfu_open has checked that those fit. */
static INLINE uint32_t fde_at(const struct tables *t, uint32_t index)
{
    return t->fdes + index * t->fde_size;
}

static INLINE const uint8_t *read_fde(struct lookup *l, const struct tables *t, uint32_t index)
{
    return read_known(l, t, fde_at(t, index), t->fde_size);
}

/* The address of function INDEX, whose FDE is at P. The sum wraps. */
static INLINE sfu_addr fde_start(const struct tables *t, uint32_t index, const uint8_t *p)
{
    sfu_addr start = t->v3 ? (sfu_addr)load8(p, t->big) : (sfu_addr)(int32_t)load4(p, t->big);

    if (t->relative)
        start += fde_at(t, index);
    return t->addr + start;
}

/* The rest of the FDE at P: size, offset of the rows and, up to V2, the attributes. */
static INLINE const uint8_t *fde_rest(const struct tables *t, const uint8_t *p)
{
    return p + (t->v3 ? 8 : 4);
}

/* Reads start and size of function INDEX, and nothing else. Returns its FDE, or NULL if the callback fails. */
static const uint8_t *read_range(struct lookup *l, uint32_t index)
{
    struct tables t;
    const uint8_t *p;

    get_tables(&t, l->s);
    p = read_fde(l, &t, index);
    if (is_read(p)) {
        l->fde.start = fde_start(&t, index, p);
        l->fde.size = load4(fde_rest(&t, p), t.big);
    }
    return p;
}

/* Whether the function that read_range has read goes up to the end of the address space, or past it. */
static bool is_past_end(const struct lookup *l)
{
    return l->fde.start > last_address(abi_of(l->s->abi)) - l->fde.size;
}

/* Reads the attributes of the function whose FDE is at P, where read_range has just read it: from there or, in V3, from
 * in front of its rows. A row takes at least its address and an info byte, so the room up to the end of the tables
 * bounds num_rows. */
static int read_attributes(struct lookup *l, const uint8_t *p)
{
    const struct sfu_section *s = l->s;
    struct fde *fde = &l->fde;
    struct tables t;
    uint32_t offset, room;

    get_tables(&t, s);
    p = fde_rest(&t, p);
    offset = load4(p + 4, t.big);
    if (offset > s->end - s->rows)
        return SFU_E_BOUNDS;
    fde->rows = s->rows + offset;
    if (t.v3) {
        int code = read_record(l, &t, fde->rows, ATTRIBUTES_SIZE, &p);

        if (code != SFU_OK)
            return code;
        fde->rows += ATTRIBUTES_SIZE;
        fde->num_rows = load2(p, t.big);
        fde->info = p[2];
        fde->type = p[3] & INFO2_TYPE;
        fde->repeat = p[4];
    } else {
        fde->num_rows = load4(p + 8, t.big);
        fde->info = p[12] & (uint8_t)~INFO_SIGNAL;
        fde->type = TYPE_DEFAULT;
        fde->repeat = is_v1(s) ? (uint8_t)V1_REPEAT_SIZE : p[13];
    }
    room = s->end - fde->rows;
    if ((fde->info & INFO_ADDRESS) > 2 || fde->type > TYPE_FLEXIBLE ||
        (fde->info & INFO_MASK && fde->repeat == 0) || fde->num_rows > room ||
        fde->num_rows > (room - fde->num_rows) >> (fde->info & INFO_ADDRESS))
        return SFU_E_FDE;
    fde->address = (uint8_t)(1u << (fde->info & INFO_ADDRESS));
    return SFU_OK;
}

/* Sets *COUNT to the number of functions that start at or below PC, in a sorted table. Reads at most 27 of them: there
 * are fewer than 2^27, because an FDE has 16 bytes at least. */
static int search(struct lookup *l, sfu_addr pc, uint32_t *count)
{
    uint32_t low = 0, high = l->s->num_fdes;
    struct tables t;

    get_tables(&t, l->s);
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const uint8_t *p = read_fde(l, &t, middle);

        if (!is_read(p))
            return SFU_E_SECTION;
        if (fde_start(&t, middle, p) <= pc) {
            KEEP_BRANCH;
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *count = low;
    return SFU_OK;
}

/* Finds the function that contains PC. In a sorted table the FDEs below INDEX start at or below PC: the last non-empty
 * one is the candidate. Empty ones may share its start, on either side: gcc emits one for a body that is
 * __builtin_unreachable(), and a linker may put it in front of another function or behind it. In any other table, that
 * of a module for instance, each is a candidate. At most num_fdes passes. */
static INLINE int find_fde(struct lookup *l, sfu_addr pc)
{
    bool sorted = l->s->flags & FLAG_SORTED;
    uint32_t index = l->s->num_fdes;
    int code = sorted ? search(l, pc, &index) : SFU_OK;

    if (code != SFU_OK)
        return code;
    while (index > 0) {
        const uint8_t *p = read_range(l, --index);

        if (!is_read(p))
            return SFU_E_SECTION;
        if (pc - l->fde.start < l->fde.size)
            return read_attributes(l, p);
        if (sorted && l->fde.size > 0)
            break;
    }
    return SFU_E_NO_FDE;
}

/* Sets the code of S, if its table is sorted and mapped: from the first start to the end of the last function that is
 * not empty. By then find_fde has passed all others. Leaves it unset if that end does not fit, or if the functions do
 * not ascend. At most num_fdes passes. */
static void find_code(struct sfu_section *s)
{
    struct lookup l;
    uint32_t index = s->num_fdes;
    sfu_addr high;

    s->code.low = s->code.high = 0;
    if (!(s->flags & FLAG_SORTED) || s->bytes == NULL)
        return;
    begin(&l, s);
    do {
        if (index == 0)
            return;
        index--;
        (void)read_range(&l, index); /* succeeds: the section is mapped */
    } while (l.fde.size == 0);
    if (is_past_end(&l))
        return;
    high = l.fde.start + l.fde.size;
    (void)read_range(&l, 0);
    if (l.fde.start >= high)
        return;
    s->code.low = l.fde.start;
    s->code.high = high;
}

int sfu_find_text(struct sfu_section *section)
{
    struct lookup l;
    sfu_addr low = SFU_ADDR_MAX, high = 0;
    uint32_t index;

    begin(&l, section);
    for (index = 0; index < section->num_fdes; index++) {
        if (!is_read(read_range(&l, index)))
            return SFU_E_SECTION;
        if (is_past_end(&l))
            return SFU_E_FDE;
        if (l.fde.size == 0)
            continue;
        if (l.fde.start < low)
            low = l.fde.start;
        if (l.fde.start + l.fde.size > high)
            high = l.fde.start + l.fde.size;
    }
    if (high == 0)
        return SFU_E_EMPTY;
    section->text.low = low;
    section->text.high = high;
    return SFU_OK;
}

/* ---- Row: FRE (2.4) -------------------------------------------------------------------------------------------- */

/* Reads *START and *INFO of the row at AT. A start has SIZE bytes. */
static INLINE int read_row(struct lookup *l, const struct tables *t, uint32_t at, unsigned size, uint32_t *start,
                           unsigned *info)
{
    const uint8_t *p;
    int code = read_record(l, t, at, size + 1, &p);

    if (code != SFU_OK)
        return code;
    *start = load(p, size, t->big);
    *info = p[size];
    return SFU_OK;
}

/* How many words a row with INFO has, and whether each has 8 bytes: none may. */
static INLINE unsigned count_of(unsigned info)
{
    return info >> 1 & 15;
}

static INLINE bool is_too_wide(unsigned info)
{
    return (info >> 5 & 3) == 3;
}

/* Where the words at offset WORDS of a row with INFO end. That is at most 15 words of 4 bytes behind the end of the
 * tables. */
static INLINE uint32_t words_end(unsigned info, uint32_t words)
{
    return words + (count_of(info) << (info >> 5 & 3));
}

/* Makes the lookup's row the one that begins with START and INFO, and has its words at WORDS. */
static void take_row(struct lookup *l, uint32_t start, unsigned info, uint32_t words)
{
    l->row.start = start;
    l->row.words = words;
    l->row.info = (uint8_t)info;
    l->row.count = (uint8_t)count_of(info);
    l->row.size = (uint8_t)(1u << (info >> 5 & 3));
}

/* Finds the last row that starts at or below OFFSET, in at most num_rows reads. If the next row starts below *END, *END
 * becomes its start. *END must be above OFFSET. Returns SFU_E_NO_ROW if the first row starts above OFFSET. Without rows
 * the lookup's row stays. */
static INLINE int scan_rows(struct lookup *l, uint32_t offset, uint32_t *end)
{
    const unsigned size = l->fde.address;
    const uint32_t count = l->fde.num_rows;
    uint32_t i, at = l->fde.rows, last = 0, words = 0; /* the last two: of the row before */
    unsigned info = 0;                                 /* of the row before */
    struct tables t;

    get_tables(&t, l->s);
    for (i = 0; i < count; i++) {
        uint32_t start;
        unsigned next;
        int code = read_row(l, &t, at, size, &start, &next);

        if (code != SFU_OK)
            return code;
        if (start > offset) {
            if (start < *end)
                *end = start;
            break;
        }
        if ((i > 0 && start <= last) || is_too_wide(next))
            return SFU_E_ROW;
        last = start;
        info = next;
        words = at + size + 1;
        at = words_end(info, words);
    }
    if (i == 0)
        return count > 0 ? SFU_E_NO_ROW : SFU_OK;
    take_row(l, last, info, words);
    return SFU_OK;
}

/* Finds the row for PC, which lies in the function, and the range that the row holds for. A function without rows
 * counts as one row. In a MASK function rows count from the start of the block that repeats: a PLT of 16-byte entries
 * has rows for 0 and 6, say, and PC start + 0x28 is at 8 of its third block. */
static INLINE int find_row(struct lookup *l, sfu_addr pc)
{
    uint32_t offset = (uint32_t)(pc - l->fde.start), block = 0, end = l->fde.size;
    int code;

    if (l->fde.info & INFO_MASK) {
        block = offset - modulo(offset, l->fde.repeat);
        end = end - block < l->fde.repeat ? end - block : l->fde.repeat;
    }
    l->row.start = l->row.info = 0;
    code = scan_rows(l, offset - block, &end);
    l->start = l->fde.start + block + l->row.start;
    l->length = end - l->row.start;
    return code;
}

/* ---- Rules (3) ------------------------------------------------------------------------------------------------- */

/* Word INDEX of the row, sign-extended. */
static int32_t data_word(const struct lookup *l, unsigned index)
{
    return load_signed(l->words + index * l->row.size, l->row.size, is_big(l->s));
}

/* Sets RULE to CONTROL and the offset that WORD of a row stands for (3.1.3). Returns false, and leaves RULE alone, if
 * that does not fit. */
static bool set_cfa(const struct abi *abi, struct sfu_rule *rule, uint32_t control, int32_t word)
{
    int64_t offset = (abi->traits & CFA_IN_WORDS ? (int64_t)8 * word : word) + abi->sp_below_cfa;

    if (offset < INT32_MIN || offset > INT32_MAX)
        return false;
    rule->control = control;
    rule->offset = (int32_t)offset;
    return true;
}

/* Sets RULE to what WORD of a default row says of RA or FP: saved at CFA + WORD. With SAVES_IN_REGISTERS an RA whose
 * word is 0 is in its own register, and an odd word of V2 is a register: its number is above bit 0. */
static void set_saved(const struct sfu_section *s, struct sfu_rule *rule, int32_t word, bool is_ra)
{
    const struct abi *abi = abi_of(s->abi);
    bool own = is_ra && word == 0;

    rule->offset = word;
    rule->control = RULE_DEREFERENCE;
    if (abi->traits & SAVES_IN_REGISTERS && (own || (!is_v3(s) && word & 1))) {
        rule->offset = 0;
        rule->control = register_rule(own ? abi->ra : (uint32_t)(word >> 1));
    }
}

/* Reads the rules of a default row (3.1). Words: the CFA's; on an ABI with LINK the RA's; FP's. */
static bool default_rules(const struct lookup *l, struct sfu_row *row)
{
    const struct abi *abi = abi_of(l->s->abi);
    unsigned count = l->row.count, fp = abi->traits & LINK ? 2 : 1;
    uint32_t base = register_rule(l->row.info & ROW_BASE_SP ? abi->sp : abi->fp);

    if (count > fp + 1 || !set_cfa(abi, &row->cfa, base, data_word(l, 0)))
        return false;
    copy_rule(&row->ra, &l->s->ra);
    copy_rule(&row->fp, &l->s->fp);
    if (fp == 2 && count > 1)
        set_saved(l->s, &row->ra, data_word(l, 1), true);
    if (count > fp)
        set_saved(l->s, &row->fp, data_word(l, fp), false);
    return true;
}

/* The rules, in the order of a row's words. */
enum { CFA, RA, FP, RULES };

/* Reads the rules of a flexible row (3.2). A rule is an unsigned control word and a signed offset. A control word of 0
 * stands alone: the row has no such rule. So CFA and FP without an RA are five words, not six: where the stack is
 * realigned, { 0x51, 0, 0, 0x33, 0 } says CFA = r10 + 0, RA as the header has it, FP = *(FP + 0). */
static bool flexible_rules(const struct lookup *l, struct sfu_row *row)
{
    uint32_t mask = UINT32_MAX >> (32 - 8 * l->row.size);
    unsigned count = l->row.count, used = 0, i;
    struct sfu_rule rules[RULES];

    rules[CFA].control = 0;
    copy_rule(&rules[RA], &l->s->ra);
    copy_rule(&rules[FP], &l->s->fp);
    for (i = 0; i < RULES && used < count; i++) {
        uint32_t control = (uint32_t)data_word(l, used) & mask;

        used++;
        if (control == 0)
            continue;
        if (used == count)
            return false;
        rules[i].control = control;
        rules[i].offset = data_word(l, used);
        used++;
    }
    if (used < count || !(rules[CFA].control & RULE_REGISTER) ||
        !set_cfa(abi_of(l->s->abi), &row->cfa, rules[CFA].control, rules[CFA].offset))
        return false;
    copy_rule(&row->ra, &rules[RA]);
    copy_rule(&row->fp, &rules[FP]);
    return true;
}

/* Sets *ROW to KIND, with the rules that hold where a row has none. */
static void no_rules(const struct sfu_section *s, struct sfu_row *row, enum sfu_row_kind kind)
{
    row->kind = (uint8_t)kind;
    row->cfa.offset = 0;
    row->cfa.control = 0;
    copy_rule(&row->ra, &s->ra);
    copy_rule(&row->fp, &s->fp);
}

/* Sets kind and rules of *ROW by the lookup's row. Decides what a missing row means: with the signal bit, ask the trap
 * hook; in V3, of the default type, the outermost frame; else SFU_E_NO_ROW. */
static int read_rules(struct lookup *l, struct sfu_row *row)
{
    const struct sfu_section *s = l->s;
    struct tables t;
    int code;

    if (l->fde.num_rows == 0) {
        bool asks = l->fde.info & INFO_SIGNAL;

        if (!asks && (!is_v3(s) || l->fde.type != TYPE_DEFAULT))
            return SFU_E_NO_ROW;
        no_rules(s, row, asks ? SFU_ROW_ASK : SFU_ROW_OUTERMOST);
        return SFU_OK;
    }
    if (l->row.count == 0) {
        if (is_v1(s))
            return SFU_E_ROW;
        no_rules(s, row, SFU_ROW_OUTERMOST);
        return SFU_OK;
    }
    if (l->row.count > MAX_WORDS)
        return SFU_E_ROW;
    get_tables(&t, s);
    code = read_record(l, &t, l->row.words, (uint32_t)l->row.count * l->row.size, &l->words);
    if (code != SFU_OK)
        return code;
    if (!(l->fde.type == TYPE_DEFAULT ? default_rules(l, row) : flexible_rules(l, row)))
        return SFU_E_ROW;
    row->kind = SFU_ROW_RULES;
    return SFU_OK;
}

int sfu_find(const struct sfu_section *section, sfu_addr pc, struct sfu_row *row)
{
    struct lookup l;
    int code;

    begin(&l, section);
    code = find_fde(&l, pc);
    if (code == SFU_OK)
        code = find_row(&l, pc);
    if (code == SFU_OK)
        code = read_rules(&l, row);
    if (code != SFU_OK)
        return code;
    row->start = l.start;
    row->length = l.length;
    row->function = l.fde.start;
    row->abi = (uint8_t)section->abi;
    row->trap_frame = l.fde.info & INFO_SIGNAL;
    row->signed_ra = l.row.info & abi_of(section->abi)->signed_ra;
    return SFU_OK;
}

/* ---- Frame ----------------------------------------------------------------------------------------------------- */

/* Sets *VALUE to register REG of FRAME, for rule WHICH. A call may have changed all but SP and FP. */
static int frame_register(const struct sfu_target *t, const struct abi *abi, const struct sfu_frame *frame,
                          unsigned which, uint32_t reg, sfu_addr *value)
{
    if (reg == abi->sp)
        *value = frame->regs.sp;
    else if (reg == abi->fp)
        *value = frame->regs.fp;
    else if (frame->regs.pc_kind != SFU_PC_EXACT)
        return which == RA && reg == abi->ra ? SFU_E_NO_RA : SFU_E_UNSAFE;
    else if (reg == abi->ra && frame->regs.has_ra)
        *value = frame->regs.ra;
    else if (t->reg == NULL || t->reg(t->ctx, frame, reg, value) != 0)
        return SFU_E_REGISTER;
    return SFU_OK;
}

/* Sets *STACK to the stack of T that ADDR lies on: up to its high end, which is the SP of an empty stack, or below its
 * low end, if it has overflowed. Returns false, and sets an empty one, if there is none. */
static OUT_OF_LINE bool find_stack(const struct sfu_target *t, sfu_addr addr, struct sfu_stack *stack)
{
    stack->bytes = t->stack.bytes;
    stack->low = t->stack.low;
    stack->high = t->stack.high;
    if ((t->find_stack == NULL || t->find_stack(t->ctx, addr, stack)) && stack->high != 0 && addr <= stack->high)
        return true;
    stack->low = stack->high = 0;
    return false;
}

/* Whether STACK has all SIZE bytes at ADDR. */
static bool has_word(const struct sfu_stack *stack, sfu_addr addr, unsigned size)
{
    return addr >= stack->low && addr < stack->high && stack->high - addr >= size;
}

/* Reads the word of SIZE (8 or 4) bytes at ADDR. It lies on STACK or, where a row crosses to another stack, on that
 * one. */
static bool read_word(const struct sfu_target *t, const struct sfu_stack *stack, sfu_addr addr, bool big,
                      unsigned size, sfu_addr *value)
{
    struct sfu_stack other;
    uint8_t word[8];
    const uint8_t *p = word;

    if (!has_word(stack, addr, size)) {
        if (!find_stack(t, addr, &other) || !has_word(&other, addr, size))
            return false;
        stack = &other;
    }
    if (stack->bytes != NULL)
        p = (const uint8_t *)stack->bytes + (addr - stack->low);
    else if (!fetch(t->read, t->ctx, addr, word, size))
        return false;
    *value = size == 4 ? load4(p, big) : (sfu_addr)load8(p, big);
    return true;
}

int sfu_read_word(const struct sfu_target *target, sfu_addr addr, bool big, sfu_addr *value)
{
    unsigned size = word_size(target_abi(target));

    return read_word(target, &target->stack, addr, big, size, value) ? SFU_OK : SFU_E_STACK;
}

/* Whether ADDR lies below SP, but for the red zone, in a frame that was interrupted, or where a walk begins, in a trap
 * handler for instance. A trap may have overwritten what lies there, if it is on SP's own stack. */
static bool is_below(const struct sfu_walk *walk, sfu_addr addr)
{
    sfu_addr sp = walk->frame.regs.sp;

    return walk->frame.regs.pc_kind == SFU_PC_EXACT && addr < sp && sp - addr > walk->target->red_zone;
}

/* Whether RULE of ROW finds its slot from SP, in a frame that begins at SP or above: CFA = SP + offset. Then the slot
 * is on SP's stack, whichever that is. */
static bool is_from_sp(const struct abi *abi, const struct sfu_row *row, const struct sfu_rule *rule)
{
    uint32_t sp = register_rule(abi->sp);

    return row->cfa.control == sp && row->cfa.offset >= abi->sp_below_cfa &&
           (!(rule->control & RULE_REGISTER) || rule->control >> RULE_NUMBER == abi->sp);
}

/* Says what lies at ADDR, below SP, by the stacks alone:
 *   SFU_OK           a word of another stack, which is alive: a function that has switched stacks finds its slots on
 *                    the old one
 *   SFU_E_DEAD_SLOT  a word of SP's own stack
 *   SFU_E_STACK      cannot be told: SP is on no known stack, or it is the low end of its stack, or lower. An SP at the
 *                    low end may be that of an empty stack which ends there, and ADDR a dead slot of that stack */
static int judge_slot(const struct sfu_walk *walk, sfu_addr addr)
{
    sfu_addr sp = walk->frame.regs.sp;

    if (sp <= walk->stack.low || sp > walk->stack.high)
        return SFU_E_STACK;
    return addr < walk->stack.low ? SFU_OK : SFU_E_DEAD_SLOT;
}

/* What a row says of FRAME's caller. */
struct caller {
    sfu_addr values[RULES]; /* CFA, RA, FP */
    sfu_addr slot;          /* where the RA is on the stack; 0: it was in a register */
    bool replaced;          /* the RA is not the one that was there */
};

/* Sets *VALUE to what a dead slot held, for WHICH (RA or FP). An epilogue has put FP and the RA back into their
 * registers before it gave up their slots. Compilers do not always say so: clang's row at `autiasp`, behind
 * `ldp x29, x30, [sp, 16]; add sp, sp, 32`, still has RA = *(CFA - 8). x86's RA has no register. Nor has the RA of a
 * trap frame: x30 has what the interrupted code had there. */
static int revive(const struct sfu_walk *walk, const struct sfu_row *row, unsigned which, sfu_addr *value)
{
    const struct abi *abi = abi_of(row->abi);

    if (which == RA && (row->trap_frame || !(abi->traits & LINK)))
        return SFU_E_DEAD_SLOT;
    return frame_register(walk->target, abi, &walk->frame, which, which == RA ? abi->ra : abi->fp, value);
}

/* Applies the rule of ROW for WHICH (CFA, RA or FP) and sets values[WHICH] of CALLER. RA and FP need values[CFA]. */
static int apply_rule(const struct sfu_walk *walk, const struct abi *abi, const struct sfu_row *row, unsigned which,
                      struct caller *caller)
{
    const struct sfu_rule *rule = which == CFA ? &row->cfa : which == RA ? &row->ra : &row->fp;
    const struct sfu_target *t = walk->target;
    const struct sfu_frame *frame = &walk->frame;
    int32_t offset = rule->offset;
    sfu_addr base = caller->values[CFA], sum;
    int code = SFU_OK;

    if (rule->control & RULE_REGISTER)
        code = frame_register(t, abi, frame, which, rule->control >> RULE_NUMBER, &base);
    if (code != SFU_OK)
        return code;
    sum = base + (sfu_addr)offset;
    if ((offset < 0) != (sum < base) || sum > last_address(abi))
        return SFU_E_ADDRESS;
    caller->values[which] = sum;
    if (!(rule->control & RULE_DEREFERENCE))
        return SFU_OK;
    if (is_below(walk, sum)) {
        if (is_from_sp(abi, row, rule))
            return revive(walk, row, which, &caller->values[which]);
        code = judge_slot(walk, sum);
        if (code != SFU_OK)
            return code;
    }
    if (which == RA)
        caller->slot = sum;
    return read_word(t, &walk->stack, sum, abi->traits & BIG, word_size(abi), &caller->values[which]) ? SFU_OK
                                                                                                      : SFU_E_STACK;
}

/* RA without its PAC: its bits become what bit 55 is. */
static sfu_addr strip(const struct sfu_target *t, uint64_t ra)
{
    uint64_t bit55 = (uint64_t)1 << 55;
    uint64_t mask = t->pac_mask != 0 ? t->pac_mask : ~(((uint64_t)1 << 48) - 1);

    return (sfu_addr)(ra & bit55 ? ra | mask : ra & ~mask);
}

/* Finds the caller of WALK's frame by ROW, which has rules, and is of ABI. */
static int find_caller(const struct sfu_walk *walk, const struct abi *abi, const struct sfu_row *row,
                       struct caller *caller)
{
    const struct sfu_target *t = walk->target;
    unsigned which;
    int code = SFU_OK;

    caller->values[CFA] = 0;
    caller->slot = 0;
    for (which = CFA; which < RULES && code == SFU_OK; which++)
        code = apply_rule(walk, abi, row, which, caller);
    if (code == SFU_OK && caller->values[CFA] < abi->sp_below_cfa)
        code = SFU_E_ADDRESS;
    if (code != SFU_OK)
        return code;
    if (SIGNS && row->signed_ra)
        caller->values[RA] = strip(t, caller->values[RA]);
    caller->replaced = t->original_ra != NULL && !row->trap_frame &&
                       t->original_ra(t->ctx, &walk->frame, caller->slot, &caller->values[RA]);
    caller->values[RA] = code_address(abi, caller->values[RA]);
    return SFU_OK;
}

/* Whether WALK has left STACK at SP or above: then it cannot come back there. For instance, the walk went from a task's
 * stack, at SP = 0x1f00, to another one. If the next caller is on the task's stack again, at 0x1e80, its frames are in
 * the trace already: a loop. At 0x1f80 the walk goes on above them. An SP between SP and the high end of STACK was on
 * it. There are at most SFU_MAX_SWITCHES places where the walk left a stack, and the frame's own. */
static bool was_left(const struct sfu_walk *walk, const struct sfu_stack *stack, sfu_addr sp)
{
    sfu_addr left = walk->frame.regs.sp;
    unsigned i = walk->frame.switches;

    while (left < sp || left > stack->high) {
        if (i == 0)
            return false;
        i--;
        left = walk->left[i];
    }
    return true;
}

/* Moves WALK to the stack that SP lies on, and counts that. A frame that a trap interrupted has all of its registers,
 * even where nobody knows its stack: only TRAP may lead to none. */
static int switch_stack(struct sfu_walk *walk, sfu_addr sp, bool trap)
{
    const struct sfu_target *t = walk->target;
    struct sfu_frame *frame = &walk->frame;
    uint8_t limit = t->max_switches != 0 && t->max_switches < SFU_MAX_SWITCHES ? t->max_switches : SFU_MAX_SWITCHES;
    struct sfu_stack stack;

    if (frame->switches >= limit)
        return SFU_E_SWITCHES;
    if (!find_stack(t, sp, &stack) && !trap)
        return SFU_E_STACK;
    if ((t->find_stack != NULL || !trap) && was_left(walk, &stack, sp))
        return SFU_E_PROGRESS;
    walk->left[frame->switches] = frame->regs.sp;
    walk->stack.bytes = stack.bytes;
    walk->stack.low = stack.low;
    walk->stack.high = stack.high;
    frame->switches++;
    return SFU_OK;
}

/* Whether the caller of WALK's frame may have the same SP. A leaf function's may, if it has no frame of its own:
 * aarch64 and s390x leave the RA in a register. A trap frame's may (TRAP), if the exception entry has put back all
 * registers but the PC, and has yet to return. But it may not twice in a row: two handlers that wait to return to each
 * other would be a loop. A frame that has made a call has pushed something since, or its RA is lost. */
static bool may_stay(const struct sfu_walk *walk, bool trap)
{
    return walk->frame.regs.pc_kind == SFU_PC_EXACT && !(trap && walk->stayed);
}

/* Moves the frame of WALK to its caller at SP; pc, fp, ra and has_ra are left to do. TRAP: the frame is a trap frame.
 * SP grows up to the high end of its stack, or stays. Everything else is another stack, or the end: no callback is
 * asked about an ordinary frame. Frames and switches are counted, so every walk ends. An example, innermost frame
 * first, IRQ stack 0x8000 to 0x9000, thread stack 0x2000 to 0x3000:
 *     irq_handler  SP 0x8e00                      called by
 *     irq_entry    SP 0x8f00  a trap frame        which interrupted: below 0x8f00, so find_stack is asked
 *     work         SP 0x2c00  on the thread stack  left: 0x8f00. A later SP from 0x8000 to 0x8f00 is SFU_E_PROGRESS
 *     main         SP 0x2fe0 */
static int advance(struct sfu_walk *walk, sfu_addr sp, bool trap)
{
    const struct sfu_target *t = walk->target;
    struct sfu_frame *frame = &walk->frame;
    bool stays = sp == frame->regs.sp && may_stay(walk, trap);
    bool switched = !stays && (sp <= frame->regs.sp || sp > walk->stack.high);

    if (frame->depth + 1 >= (t->max_frames != 0 ? t->max_frames : SFU_MAX_FRAMES))
        return SFU_E_DEPTH;
    if (switched) {
        int code = switch_stack(walk, sp, trap);

        if (code != SFU_OK)
            return code;
    }
    walk->stayed = stays;
    frame->saved = trap ? frame->regs.sp : 0;
    frame->interrupted = trap;
    frame->regs.sp = sp;
    frame->regs.pc_kind = trap ? SFU_PC_EXACT : SFU_PC_RETURN;
    frame->depth++;
    frame->switched = switched;
    frame->guess = SFU_GUESS_NONE;
    frame->replaced = false;
    return SFU_OK;
}

/* The section behind S in its list. It is read at once: the fast walker's list may change meanwhile. A CPU that cannot
 * read a pointer so without a library has no such list. */
static inline const struct sfu_section *next_section(const struct sfu_section *s)
{
    return __atomic_always_lock_free(sizeof(void *), NULL) ? __atomic_load_n(&s->next, __ATOMIC_RELAXED) : s->next;
}

/* Whether PC may be code of one of the sections, each of which is in the list once. */
static bool is_code(const struct sfu_target *t, sfu_addr pc)
{
    const struct sfu_section *s = t->sections;

    while (s != NULL && !is_in(&s->text, pc))
        s = next_section(s);
    return s != NULL;
}

/* Moves WALK to its caller by ROW, which has rules. TO_CODE: only if the caller is in the text of a section. */
static int move(struct sfu_walk *walk, const struct sfu_row *row, bool to_code)
{
    const struct abi *abi = abi_of(row->abi);
    struct sfu_frame *frame = &walk->frame;
    struct caller caller;
    int code = find_caller(walk, abi, row, &caller);

    if (code == SFU_OK && to_code && !is_code(walk->target, caller.values[RA] - SFU_PC_RETURN))
        code = SFU_E_NOT_CODE;
    if (code == SFU_OK)
        code = advance(walk, caller.values[CFA] - abi->sp_below_cfa, row->trap_frame);
    if (code != SFU_OK)
        return code;
    frame->regs.pc = caller.values[RA];
    frame->regs.fp = caller.values[FP];
    frame->regs.ra = 0;
    frame->regs.has_ra = false;
    frame->replaced = caller.replaced;
    return SFU_OK;
}

/* The same as sfu_apply, for a ROW of an ABI that is built in: a row that a section has, for instance. */
static INLINE int apply_row(struct sfu_walk *walk, const struct sfu_row *row)
{
    if (row->kind != SFU_ROW_RULES)
        return row->kind == SFU_ROW_OUTERMOST ? SFU_END : SFU_E_TRAP;
    return move(walk, row, false);
}

int sfu_apply(struct sfu_walk *walk, const struct sfu_row *row)
{
    return is_abi(row->abi) ? apply_row(walk, row) : SFU_E_ABI;
}

/* ---- Walk ------------------------------------------------------------------------------------------------------ */

sfu_addr sfu_lookup_pc(const struct sfu_registers *regs)
{
    return regs->pc_kind == SFU_PC_RETURN ? regs->pc - 1 : regs->pc;
}

static inline int find_frame(const struct sfu_target *target, const struct sfu_frame *frame, struct sfu_row *row)
{
    const struct sfu_section *s = target->sections;
    sfu_addr pc = sfu_lookup_pc(&frame->regs);
    int first = s != NULL ? SFU_E_NOT_CODE : SFU_E_NO_SECTION;

    for (; s != NULL; s = next_section(s)) {
        int code;

        if (!is_in(&s->text, pc))
            continue;
        code = is_in(&s->code, pc) ? sfu_find(s, pc, row) : SFU_E_NO_FDE;
        if (code == SFU_OK)
            return SFU_OK;
        if (first == SFU_E_NOT_CODE || first == SFU_E_NO_FDE)
            first = code;
    }
    return first;
}

int sfu_find_frame(const struct sfu_target *target, const struct sfu_frame *frame, struct sfu_row *row)
{
    return find_frame(target, frame, row);
}

/* An assignment might become a call of memcpy. */
static OUT_OF_LINE void copy_registers(struct sfu_registers *to, const struct sfu_registers *from)
{
    to->pc = from->pc;
    to->sp = from->sp;
    to->fp = from->fp;
    to->ra = from->ra;
    to->has_ra = from->has_ra;
    to->pc_kind = from->pc_kind;
}

void sfu_walk_start(struct sfu_walk *walk, const struct sfu_target *target, const struct sfu_registers *top)
{
    struct sfu_frame *frame = &walk->frame;

    walk->target = target;
    walk->stayed = false;
    (void)find_stack(target, top->sp, &walk->stack); /* on none, the frame has its registers all the same */
    copy_registers(&frame->regs, top);
    frame->regs.pc = code_address(target_abi(target), top->pc);
    frame->saved = 0;
    frame->depth = 0;
    frame->guess = SFU_GUESS_NONE;
    frame->switches = 0;
    frame->interrupted = frame->switched = frame->replaced = false;
    frame->reliable = true;
}

int sfu_walk_to(struct sfu_walk *walk, const struct sfu_registers *caller)
{
    int code = advance(walk, caller->sp, caller->pc_kind == SFU_PC_EXACT);

    if (code != SFU_OK)
        return code;
    copy_registers(&walk->frame.regs, caller);
    walk->frame.regs.pc = code_address(target_abi(walk->target), caller->pc);
    return SFU_OK;
}

/* Marks the frame of WALK as guessed. */
static void mark(struct sfu_walk *walk, enum sfu_guess guess)
{
    walk->frame.guess = guess;
    walk->frame.reliable = false;
}

/* Asks the trap hook about the frame of WALK. CODE: why there is no rule. Moves WALK if the hook knows the frame. A
 * hook that is not sure and ends the trace proves nothing: the last frame is then not reliable. */
static OUT_OF_LINE int ask_hook(struct sfu_walk *walk, int code)
{
    const struct sfu_target *t = walk->target;
    struct sfu_frame *frame = &walk->frame;
    struct sfu_interrupted interrupted;

    if (t->trap_hook == NULL)
        return code;
    interrupted.regs.pc = interrupted.regs.sp = interrupted.regs.fp = interrupted.regs.ra = 0;
    interrupted.regs.has_ra = false;
    interrupted.regs.pc_kind = SFU_PC_EXACT;
    interrupted.saved = frame->regs.sp;
    interrupted.guess = SFU_GUESS_NONE;
    code = t->trap_hook(t->ctx, frame, code, &interrupted);
    if (code == SFU_END && interrupted.guess != SFU_GUESS_NONE)
        frame->reliable = false;
    if (code == SFU_OK)
        code = advance(walk, interrupted.regs.sp, true);
    if (code != SFU_OK)
        return code;
    copy_registers(&frame->regs, &interrupted.regs);
    frame->regs.pc = code_address(target_abi(t), interrupted.regs.pc);
    frame->interrupted = interrupted.regs.pc_kind == SFU_PC_EXACT;
    frame->saved = frame->interrupted ? interrupted.saved : 0;
    if (interrupted.guess != SFU_GUESS_NONE)
        mark(walk, SFU_GUESS_HOOK);
    return SFU_OK;
}

/* Sets *ROW for ABI number ID and a function whose FP points at a frame record: the caller's FP, then the RA. */
static void set_record(struct sfu_row *row, uint8_t id)
{
    const struct abi *abi = abi_of(id);

    row->abi = id;
    row->trap_frame = false;
    row->signed_ra = abi->signed_ra != 0;
    row->cfa.control = register_rule(abi->fp);
    row->cfa.offset = abi->record;
    row->ra.control = row->fp.control = RULE_DEREFERENCE;
    row->ra.offset = -abi->word;
    row->fp.offset = -2 * abi->word;
}

/* Sets *ROW for ABI number ID and the first instruction of a function: as a call leaves the registers. A call of a null
 * pointer arrives at 0 so: nothing has run there that could have moved SP. */
static void set_call(struct sfu_row *row, uint8_t id)
{
    const struct abi *abi = abi_of(id);

    row->abi = id;
    row->trap_frame = false;
    row->signed_ra = false;
    row->cfa.control = register_rule(abi->sp);
    row->cfa.offset = abi->sp_below_cfa;
    row->ra.control = register_rule(abi->ra);
    row->ra.offset = 0;
    if (!(abi->traits & LINK)) {
        row->cfa.offset = abi->word;
        row->ra.control = row->cfa.control | RULE_DEREFERENCE;
    }
    row->fp.control = register_rule(abi->fp);
    row->fp.offset = 0;
}

/* Guesses the caller of WALK's frame, which no table describes, by a row of its own making, *ROW. CODE is
 * SFU_E_NOT_CODE or SFU_E_NO_FDE. If the PC is exact and not code, a call through a wild pointer is tried: only if the
 * RA that it would have left is code, because garbage seldom is. Then a frame record is tried, if the target wants
 * that. On failure the step still reports CODE. */
static OUT_OF_LINE int guess(struct sfu_walk *walk, struct sfu_row *row, int code)
{
    const struct sfu_target *t = walk->target;
    const uint8_t abi = (uint8_t)t->sections->abi;

    if (code == SFU_E_NOT_CODE && walk->frame.regs.pc_kind == SFU_PC_EXACT) {
        set_call(row, abi);
        if (move(walk, row, true) == SFU_OK) {
            mark(walk, SFU_GUESS_CALL);
            return SFU_OK;
        }
    }
    if (t->frame_pointers && abi_of(abi)->traits & RECORD) {
        set_record(row, abi);
        if (move(walk, row, false) == SFU_OK) {
            mark(walk, SFU_GUESS_RECORD);
            return SFU_OK;
        }
    }
    return code;
}

int sfu_walk_step(struct sfu_walk *walk)
{
    struct sfu_row row;
    int found = find_frame(walk->target, &walk->frame, &row), code = found;
    bool unknown = found == SFU_E_NO_FDE || found == SFU_E_NOT_CODE;

    if (code == SFU_OK)
        code = apply_row(walk, &row);
    if (code == SFU_E_TRAP || unknown)
        code = ask_hook(walk, code);
    if (unknown && code == found)
        code = guess(walk, &row, code);
    if (code == SFU_END && !is_in(&walk->target->final, sfu_lookup_pc(&walk->frame.regs)))
        code = SFU_E_NOT_FINAL;
    return code;
}

/* ---- Check ----------------------------------------------------------------------------------------------------- */

/* Checks each row of the lookup's function once. The last may start at the end of the function, as gcc's may. On
 * failure *INDEX becomes the row's. */
static OUT_OF_LINE int check_rows(struct lookup *l, uint32_t *index)
{
    const unsigned size = l->fde.address;
    uint32_t i, start, at = l->fde.rows, last = 0;
    struct tables t;
    struct sfu_row row;
    unsigned info;
    int code;

    if (l->fde.num_rows == 0)
        return read_rules(l, &row);
    get_tables(&t, l->s);
    for (i = 0; i < l->fde.num_rows; i++) {
        code = read_row(l, &t, at, size, &start, &info);
        if (code == SFU_OK && ((i > 0 && start <= last) || start > l->fde.size || is_too_wide(info)))
            code = SFU_E_ROW;
        if (code == SFU_OK) {
            take_row(l, start, info, at + size + 1);
            code = read_rules(l, &row);
        }
        if (code != SFU_OK) {
            *index = i;
            return code;
        }
        at = words_end(info, l->row.words);
        last = start;
    }
    return SFU_OK;
}

/* Checks function INDEX, which may have at most LEFT rows. If a row fails, *ROW becomes its index. */
static int check_fde(struct lookup *l, uint32_t index, uint32_t left, uint32_t *row)
{
    const uint8_t *p = read_range(l, index);
    int code = is_read(p) ? read_attributes(l, p) : SFU_E_SECTION;

    if (code == SFU_OK && l->fde.num_rows > left)
        code = SFU_E_COUNT;
    if (code == SFU_OK)
        code = check_rows(l, row);
    if (code == SFU_OK && is_past_end(l))
        code = SFU_E_FDE;
    return code;
}

/* Checks that no other header follows the tables of S. */
static int check_end(const struct sfu_section *s)
{
    uint32_t at;
    int code = find_next(s, &at);

    return code == SFU_OK ? SFU_E_CONCATENATED : code == SFU_E_NO_SECTION ? SFU_OK : code;
}

/* Looks at no more rows than the header says, and at no more than there is room for: a row takes at least two bytes. */
int sfu_check(const struct sfu_section *section, struct sfu_place *place)
{
    struct lookup l;
    uint32_t room = (section->end - section->rows) / 2;
    uint32_t left = section->num_rows < room ? section->num_rows : room;
    uint32_t index, row = 0;
    sfu_addr start = 0, end = 0; /* start of the function before; end of the last one that is not empty */
    int code = SFU_E_EMPTY;

    begin(&l, section);
    for (index = 0; index < section->num_fdes; index++) {
        code = check_fde(&l, index, left, &row);
        if (code == SFU_OK && section->flags & FLAG_SORTED && l.fde.start < start)
            code = SFU_E_UNSORTED;
        if (code == SFU_OK && section->flags & FLAG_SORTED && l.fde.start < end && l.fde.size > 0)
            code = SFU_E_OVERLAP;
        if (code != SFU_OK)
            break;
        start = l.fde.start;
        if (l.fde.size > 0)
            end = start + l.fde.size;
        left -= l.fde.num_rows;
    }
    if (code == SFU_OK && (left > 0 || section->num_rows > room))
        code = SFU_E_COUNT;
    if (code == SFU_OK)
        code = check_end(section);
    if (code != SFU_OK && place != NULL) {
        place->fde = index;
        place->row = row;
    }
    return code;
}

/* ---- Sort ------------------------------------------------------------------------------------------------------ */

/* read_range for a section that is mapped, where it succeeds. Even if it did not, nothing unset would be compared. */
static void read_mapped(struct lookup *l, uint32_t index)
{
    l->fde.start = l->fde.size = 0;
    (void)read_range(l, index);
}

/* Whether FDE A belongs behind FDE B: by start; of equal starts, by size. */
static bool behind(const struct sfu_section *s, uint32_t a, uint32_t b)
{
    struct lookup first, second;

    begin(&first, s);
    begin(&second, s);
    read_mapped(&first, a);
    read_mapped(&second, b);
    return first.fde.start != second.fde.start ? first.fde.start > second.fde.start
                                               : first.fde.size > second.fde.size;
}

static void swap(const struct sfu_section *s, uint8_t *fdes, uint32_t a, uint32_t b)
{
    uint8_t *p = fdes + a * s->fde_size, *q = fdes + b * s->fde_size;
    unsigned i = s->fde_size;

    while (i > 0) {
        uint8_t kept = p[--i];

        p[i] = q[i];
        q[i] = kept;
    }
}

/* Lets FDE ROOT sink in the heap of the first COUNT FDEs, by at most log2(COUNT) swaps. */
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

/* Writes every FDE's start relative to the section. If FDES is NULL, only finds out whether they all fit. The section
 * is mapped: reads succeed. */
static bool rebase(const struct sfu_section *s, uint8_t *fdes)
{
    unsigned size = is_v3(s) ? 8 : 4, k;
    struct lookup l;
    uint32_t i;

    begin(&l, s);
    for (i = 0; i < s->num_fdes; i++) {
        uint64_t start;

        read_mapped(&l, i);
        start = (uint64_t)l.fde.start - s->addr;
        if (size == 4 && (int64_t)start != (int32_t)start)
            return false;
        if (fdes == NULL)
            continue;
        for (k = 0; k < size; k++) {
            fdes[is_big(s) ? size - 1 - k : k] = (uint8_t)start;
            start >>= 8;
        }
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
    find_code(section);
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
/* One for each code from SFU_END down, then one for all other codes. */
/* clang-format off */
static const char messages[] =
    "end of the stack: the outermost frame\0" "no error\0" "empty .sframe section\0"
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
    "signal or trap frame that the table does not describe\0" "not code: this PC lies outside of all text\0"
    "the trace ended in another frame than the final one\0" "no .sframe section\0"
    "needs a value from below the stack pointer, where nothing is alive\0"
    "unknown code";
/* clang-format on */

/* Skips one message for each code below SFU_END. Unknown codes get the last. */
const char *sfu_string(int code)
{
    const char *p = messages;
    int skip = code <= SFU_END && code >= SFU_E_DEAD_SLOT ? SFU_END - code : SFU_END - SFU_E_DEAD_SLOT + 1;

    while (skip > 0) {
        skip -= *p == '\0';
        p++;
    }
    return p;
}
#endif
