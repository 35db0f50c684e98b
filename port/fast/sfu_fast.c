/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A row becomes a rule, struct sfu_fast_rule: what the CFA, the RA and FP count from, and how many bytes they are from
 * there. The cache names the rule of each PC, so a frame needs its rule and three words of the stack.
 * Nearly all rules are simple: CFA = SP + c or FP + c;  RA = *(CFA - k);  FP = *(CFA - f) or unchanged;
 * 8 <= k, f <= c. On amd64 k is 8.
 * If their base, SP or FP, lies on the stack, at SP or above, no slot is below SP, so none is dead.
 * Anything else in a section or in a frame is left to the core, and so are all errors.
 *
 * The text goes from bytes to rules, rows, functions, the cache, frames, images and changes. Numbers in comments are
 * sections of "The SFrame format", version 3.
 */
#include "sfu_fast.h"

/* What this machine is. On any other no section is common, and the core does all frames. */
#define BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#if defined(__x86_64__)
#define NATIVE SFU_AMD64
#elif defined(__aarch64__)
#define NATIVE (BIG ? SFU_AARCH64_BIG : SFU_AARCH64)
#elif defined(__s390x__)
#define NATIVE SFU_S390X
#elif defined(__riscv) && __riscv_xlen == 64
#define NATIVE SFU_RISCV64
#else
#define NATIVE 0
#endif
#define IS_AARCH64 (NATIVE == SFU_AARCH64 || NATIVE == SFU_AARCH64_BIG)
#define IS_S390X   (NATIVE == SFU_S390X)
#define IS_RISCV64 (NATIVE == SFU_RISCV64)
#define IS_AMD64   (!IS_AARCH64 && !IS_S390X && !IS_RISCV64)

/* At every optimisation, what each frame needs is a part of the loop, and what is rare is not. */
#define INLINE      static inline __attribute__((always_inline))
#define OUT_OF_LINE static __attribute__((__noinline__))
#define LIKELY(x)   __builtin_expect((x) ? 1 : 0, 1)
#define UNLIKELY(x) __builtin_expect((x) ? 1 : 0, 0)
#define KEEP_BRANCH __asm__ volatile("") /* instead of a conditional move, which waits for the load before it */

/* clang-format off */
/* The format, version 3: what the tables of the short way may have. Whatever has something else is left to the core. */
enum {
    FLAG_SORTED = 0x1, FLAG_FIELD_RELATIVE = 0x4,       /* 2.1.3 */
    FDE_SIZE = 16, FDE_LENGTH = 8, FDE_ROWS = 12,       /* 2.3: its fields behind the start */
    ATTRIBUTES_SIZE = 5,
    INFO_ADDRESS = 0x03, INFO_MASK = 0x10, INFO_SIGNAL = 0x80, INFO2_TYPE = 0x1f, /* 2.3.3 */
    COMMON_INFO = 0x01, UNCOMMON_INFO = 0x92,           /* starts of 2 bytes; of 4, MASK, signal */
    UNCOMMON = BIG ? UNCOMMON_INFO << 8 | INFO2_TYPE : INFO2_TYPE << 8 | UNCOMMON_INFO,
    ROW_BASE_SP = 0x01, ROW_COUNT = 0x1e, ROW_SIGNED_RA = 0x80, /* 2.4.1 */
    ROW_TWO_BYTES = 0x20, ROW_FOUR_BYTES = 0x40,
    RULE_REGISTER = 0x1, RULE_DEREFERENCE = 0x2, RULE_NUMBER = 3 /* 3.2 */
};

/* This CPU, as constants, so that the compiler drops what it does not have: an ABI of abis[] in sfu.c. */
enum {
    SP = IS_AMD64 ? 7 : IS_S390X ? 15 : IS_RISCV64 ? 2 : 31, /* DWARF numbers */
    FP = IS_AMD64 ? 6 : IS_S390X ? 11 : IS_RISCV64 ? 8 : 29,
    RA_NUMBER = IS_S390X ? 14 : IS_RISCV64 ? 1 : 30, /* where LINK */
    LINK = !IS_AMD64,             /* a call leaves the RA in a register, and rows say where it is saved */
    FIXED_RA = IS_AMD64 ? -8 : 0, /* in the header (2.2) */
    BELOW = IS_S390X ? 160 : 0,   /* the caller's SP is CFA - BELOW */
    CFA_SCALE = IS_S390X ? 8 : 1, /* CFA = base + CFA_SCALE * word + BELOW (3.1) */
    /* Where the frame record lies from FP, if code with frame pointers has one: the caller's FP and, above it, the RA.
     * On s390x their place depends on the frame. */
    HAS_RECORD = !IS_S390X, RECORD_AT = IS_RISCV64 ? -16 : 0,
    /* Code without frame pointers may save the RA and FP at places that are counted from SP, whatever the size of the
     * frame. On the other CPUs they are counted from the CFA. */
    SAVES_AT_SP = IS_AARCH64
};

/* The bits of sfu_fast_rule.how. The lower six say what each value counts from, two bits for each. The upper ones say
 * what is done besides or, from BY_CORE on, what happens instead. COMPLEX goes with all that a simple frame does not
 * have, so that one test tells simple frames, which are nearly all. */
enum {
    FROM_CFA = 0, FROM_SP = 1, FROM_FP = 2, FROM = 3,
    RA_FROM = 2, FP_FROM = 4, /* shifts; the CFA's is 0 */
    BY_FP = FROM_FP | FROM_FP << RA_FROM | FROM_FP << FP_FROM,
    CFA_LOADED = 0x40, FP_LOADED = 0x80,
    COMPLEX = 0x100,     /* not simple, in the words of the top of this file */
    TRAP = 0x200,        /* the caller was interrupted */
    SIGNED = 0x400,      /* the RA has a PAC */
    RA_LEFT = 0x800,     /* the RA is still in its register */
    BY_CORE = 0x1000,    /* the core does this frame */
    OUTERMOST = 0x2000,  /* there is no caller */
    NO_FDE = 0x4000,     /* the trace ends: SFU_E_NO_FDE, SFU_E_NOT_CODE */
    NOT_CODE = 0x8000,
    NO_RULE = BY_CORE | OUTERMOST | NO_FDE | NOT_CODE,
    KIND_AT_SP = 0x10000, /* of a kind: its RA and FP are counted from SP */
    /* what gcc makes of a function that aligns its stack: the CFA and the caller's FP lie at FP */
    REALIGNED = COMPLEX | CFA_LOADED | FP_LOADED | FROM_FP | FROM_FP << FP_FROM
};

/* The cache. An entry has a tag and, below it, what it says. Below LARGE that is a rule in short: the CFA's offset in
 * words and, above WORDS_BITS, the number of all else. From LARGE on it is the same of a large frame: by how many pairs
 * of words the CFA's offset is above LARGE_CFA and, above PAIRS_BITS, the number of all else, counted from LARGE. From
 * FROM_RECORD on it is a frame record's rule: the CFA's offset from the record in words. From NUMBERED on it is,
 * counted from there, the number of a rule. */
enum {
    TAG_BITS = 20, SAYS_BITS = 12, WORDS_BITS = 8, PAIRS_BITS = 9,
    SHORT_WORDS = (1 << WORDS_BITS) - 1, LARGE_PAIRS = (1 << PAIRS_BITS) - 1,
    LARGE_CFA = 8 * (SHORT_WORDS + 1), LARGEST_CFA = LARGE_CFA + 16 * LARGE_PAIRS,
    ALL_KINDS = SFU_FAST_KINDS + SFU_FAST_LARGE_KINDS,
    LARGE = SFU_FAST_KINDS << WORDS_BITS, /* a multiple of LARGE_PAIRS + 1 */
    SHORT_KINDS = LARGE - SHORT_WORDS - 1, /* the bits that tell the kind of a rule in short */
    FROM_RECORD = LARGE + (SFU_FAST_LARGE_KINDS << PAIRS_BITS), NUMBERED = FROM_RECORD + SHORT_WORDS + 1,
    EMPTY = NUMBERED + SFU_FAST_RULES, /* nothing */
    NOT_FOUND = 1 << SAYS_BITS, /* 1 above EMPTY */
    WAY_BITS = 3, WAYS = 1 << WAY_BITS, /* saying names each */
    REGION_BITS = 3, /* of a tag whose region is wide, */
    PC_BITS = TAG_BITS - REGION_BITS, /* and of these */
    NARROWER = 5, /* so many more bits of the tag of a narrow region are its number, and fewer are of a PC */
    WIDE_STEP = 4, /* the numbers of the two wide regions are 0 and this; a narrow one has no multiple of it */
    MOST_REGIONS = SFU_FAST_REGIONS - SFU_FAST_REGIONS / WIDE_STEP + 2, /* that get a number */
    FOLDED = 11, /* bits of a PC; at most PC_BITS - NARROWER */
    MIN_ENTRIES = 256,
    TURNS = 16,      /* the first miss of a trace, then one of so many, takes a place of a full set */
    MOVING_BITS = 4, /* one trace of 2^4 moves entries to where they are tried first */
    FREE_MISSES = 4, /* a trace gives up that has missed so often more than it has hit */
    TRIES = 8, /* places of a rule in the table */
    SPREAD = 0x1e3779b1 /* odd, of mixed bits */
};
#define MIX  0x9e377aca05037843u /* odd; see Keys, below */
#define TURN 0xda942042e4dd58b5u /* the same */

/* The index: where the search for a function begins, and for a row of a function that has many. */
enum {
    BLOCK_SHIFT = 11, /* an entry per 2 KiB of code */
    LONG = 64,        /* a function of more rows is in the index of long ones, with */
    STRIDE = 16       /* a checkpoint for so many of them */
};
/* clang-format on */

/* ---- Bytes ----------------------------------------------------------------------------------------------------- */

/* The number at P, of any alignment, in this machine's byte order. Compilers make a single load of each. */
INLINE uint32_t load2(const uint8_t *p)
{
    return BIG ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

INLINE uint32_t load4(const uint8_t *p)
{
    return BIG ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
               : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

INLINE uint64_t load8(const uint8_t *p)
{
    return BIG ? (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 | (uint64_t)p[3] << 32 |
                     (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 | (uint64_t)p[6] << 8 | p[7]
               : (uint64_t)p[7] << 56 | (uint64_t)p[6] << 48 | (uint64_t)p[5] << 40 | (uint64_t)p[4] << 32 |
                     (uint64_t)p[3] << 24 | (uint64_t)p[2] << 16 | (uint64_t)p[1] << 8 | p[0];
}

/* The number in the SIZE (1, 2 or 4) bytes at P. */
INLINE uint32_t load(const uint8_t *p, unsigned size)
{
    return size == 1 ? p[0] : size == 2 ? load2(p) : load4(p);
}

/* The same, sign-extended. */
INLINE int32_t load_signed(const uint8_t *p, unsigned size)
{
    return size == 1 ? (int8_t)p[0] : size == 2 ? (int16_t)load2(p) : (int32_t)load4(p);
}

/* ---- Rules ----------------------------------------------------------------------------------------------------- */

/* What is said of a PC instead of a rule. */
static const struct sfu_fast_rule by_core = {0, 0, 0, COMPLEX | BY_CORE},
                                  outermost = {0, 0, 0, COMPLEX | OUTERMOST}, no_fde = {0, 0, 0, COMPLEX | NO_FDE},
                                  not_code = {0, 0, 0, COMPLEX | NOT_CODE};

/* Whether all of the word at OFFSET from the CFA is between the CFA and what that counts from, C below it. */
INLINE bool is_between(int32_t offset, int64_t c)
{
    return offset <= -8 && c + offset >= 0;
}

/* Makes *RULE of offsets and HOW, and returns it. CFA is the word of a row that sfu_check has accepted: its offset fits
 * 32 bits. */
INLINE const struct sfu_fast_rule *make_rule(struct sfu_fast_rule *rule, int32_t cfa, int32_t ra, int32_t fp,
                                             uint32_t how)
{
    const int64_t c = (int64_t)cfa * CFA_SCALE + BELOW;

    rule->cfa = (int32_t)c;
    rule->ra = ra;
    rule->fp = fp;
    if (UNLIKELY(how & (TRAP | CFA_LOADED | RA_LEFT | FROM << RA_FROM | FROM << FP_FROM)) || c <= BELOW ||
        !is_between(ra, c) || (!LINK && ra != FIXED_RA) || (how & FP_LOADED && !is_between(fp, c)))
        how |= COMPLEX;
    rule->how = how;
    return rule;
}

/* The rule of the default row (3.1) with info byte INFO and words of SIZE bytes at P, of a trap frame if TRAPS. It has
 * at least one word, and sfu_check has accepted it. */
INLINE const struct sfu_fast_rule *default_rule(unsigned info, const uint8_t *p, unsigned size, bool traps,
                                                struct sfu_fast_rule *rule)
{
    const unsigned count = info >> 1 & 15;
    unsigned how = (info & ROW_BASE_SP ? FROM_SP : FROM_FP) | (traps ? TRAP : 0);
    int32_t ra = FIXED_RA, fp = 0;

    if (LINK && count > 1)
        ra = load_signed(p + size, size);
    if (LINK && (count == 1 || (IS_S390X && ra == 0)))
        how |= RA_LEFT;
    if (count > 1 + LINK) {
        fp = load_signed(p + (1 + LINK) * size, size);
        how |= FP_LOADED;
    }
    if (IS_AARCH64 && info & ROW_SIGNED_RA)
        how |= SIGNED;
    return make_rule(rule, load_signed(p, size), ra, fp, how);
}

/* What a rule with CONTROL (3.2) counts from. FROM: from another register. */
INLINE unsigned counts_from(uint32_t control)
{
    const uint32_t reg = control >> RULE_NUMBER;

    return !(control & RULE_REGISTER) ? FROM_CFA : reg == SP ? FROM_SP : reg == FP ? FROM_FP : FROM;
}

/* The same for a flexible row (3.2). Its words are pairs of a control word, which may be 0 and stand alone, and an
 * offset: of the CFA, the RA and FP. */
OUT_OF_LINE const struct sfu_fast_rule *flexible_rule(unsigned info, const uint8_t *p, unsigned size, bool traps,
                                                      struct sfu_fast_rule *rule)
{
    const uint8_t *end = p + (info >> 1 & 15) * size;
    uint32_t control[3] = {0, LINK ? 0 : RULE_DEREFERENCE, 0};
    int32_t offset[3] = {0, FIXED_RA, 0};
    unsigned i, cfa, ra, fp;

    for (i = 0; i < 3 && p < end; i++) {
        const uint32_t word = load(p, size);

        p += size;
        if (word == 0)
            continue;
        control[i] = word;
        offset[i] = load_signed(p, size);
        p += size;
    }
    if (control[2] == (FP << RULE_NUMBER | RULE_REGISTER) && offset[2] == 0)
        control[2] = 0;
    cfa = counts_from(control[0]);
    ra = counts_from(control[1]);
    fp = counts_from(control[2]);
    if (cfa == FROM || ra == FROM || fp == FROM || !(control[1] & RULE_DEREFERENCE) ||
        (control[2] != 0 && !(control[2] & RULE_DEREFERENCE)))
        return &by_core;
    return make_rule(rule, offset[0], offset[1], offset[2],
                     cfa | ra << RA_FROM | fp << FP_FROM | (control[0] & RULE_DEREFERENCE ? CFA_LOADED : 0) |
                         (control[2] != 0 ? FP_LOADED : 0) | (traps ? TRAP : 0) |
                         (IS_AARCH64 && info & ROW_SIGNED_RA ? SIGNED : 0));
}

/* ---- Rows ------------------------------------------------------------------------------------------------------ */

/* Bytes of the words of a row with info byte INFO (2.4.1): their number, times 1, 2 or 4. sfu_check accepts no other
 * size. */
/* clang-format off */
#define PAIR(n)    (n), (n)
#define ALL(times) PAIR(0 * (times)), PAIR(1 * (times)), PAIR(2 * (times)), PAIR(3 * (times)), PAIR(4 * (times)), \
                   PAIR(5 * (times)), PAIR(6 * (times)), PAIR(7 * (times)), PAIR(8 * (times)), PAIR(9 * (times)), \
                   PAIR(10 * (times)), PAIR(11 * (times)), PAIR(12 * (times)), PAIR(13 * (times)), PAIR(14 * (times)), \
                   PAIR(15 * (times))
static const uint8_t words_size[256] = {ALL(1), ALL(2), ALL(4), ALL(0), ALL(1), ALL(2), ALL(4), ALL(0)};
/* clang-format on */

/* Some rows of a function: COUNT of them at P. */
struct rows {
    const uint8_t *p;
    uint32_t count;
};

/* The info byte of the last of ROWS that starts at or below OFFSET; *WORDS becomes where its words are, or the first
 * row if OFFSET is in front of all. SIZE is that of their starts. sfu_check has accepted the rows: they ascend and lie
 * in the tables. */
INLINE unsigned scan(const struct rows *rows, uint32_t offset, unsigned size, const uint8_t **words)
{
    const uint8_t *next = rows->p;
    uint32_t count = rows->count;
    size_t info = 0, behind = 0;

    for (; count > 0 && load(next, size) <= offset; count--) {
        info = next[size];
        behind = words_size[info];
        next += size + 1 + behind;
    }
    *words = next - behind;
    return (unsigned)info;
}

/* X, of which the compiler does not know that it is. So it makes a sum of it anew, and the CPU need not wait for the
 * one that is there. */
INLINE uint64_t anew(uint64_t x)
{
    __asm__("" : "+r"(x));
    return x;
}

/* A region of code that the cache has a number for. */
struct region {
    uint64_t low;  /* its low end */
    uint64_t turn; /* what is added to the product that the places of its PCs are the upper bits of */
    uint32_t tag;  /* its number, where tags have it */
};

/* A trace. */
struct trace {
    struct sfu_walk walk;
    struct sfu_fast *fast;
    const struct sfu_fast_image *images; /* NULL: all is left to the core */
    const struct sfu_fast_image *near;   /* where a lookup begins */
    const uint32_t *cache;               /* or NULL */
    unsigned shift;                      /* of the cache */
    uint64_t changes;                    /* it has entries of sections as they were after so many */
    uint64_t wide;                       /* the size of the wide regions; 0: there is none */
    struct region first, second;         /* those, in the order in which they were met */
    uint32_t misses;                     /* of the cache, since the short way began */
    const struct sfu_fast_rule *last;    /* that of the frame where the short way ended */
    struct sfu_fast_rule own;            /* a rule that is not in the cache's tables */
    struct sfu_stack window;             /* a part of a stack that the callback has read; high 0: none */
};

/* The index of long functions is their number; for each its FDE's number and where its checkpoints begin, counted in
 * pairs from the index, in ascending order; one more such pair, for the end; then pairs: the start of every STRIDE-th
 * row behind the first of its function, and how far that is behind the first, in bytes. */
INLINE const uint32_t *pair_of(const uint32_t *index, uint32_t n)
{
    return index + 1 + 2 * (size_t)n;
}

/* The last pair from FIRST to before LAST whose first number is at most KEY; LAST if there is none. */
INLINE uint32_t last_pair(const uint32_t *index, uint32_t first, uint32_t last, uint32_t key)
{
    uint32_t low = first, high = last;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (pair_of(index, middle)[0] <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low > first ? low - 1 : last;
}

/* Leaves of ROWS, all those of function FDE, which are more than LONG, at most STRIDE that may have OFFSET. */
OUT_OF_LINE void take_checkpoint(const uint32_t *index, uint32_t fde, uint32_t offset, struct rows *rows)
{
    const uint32_t *entry = pair_of(index, last_pair(index, 0, index[0], fde));
    uint32_t first = entry[1], last = entry[3], n = last_pair(index, first, last, offset), left;

    if (n != last) {
        left = rows->count - (n + 1 - first) * STRIDE;
        rows->p += pair_of(index, n)[1];
        rows->count = left < (uint32_t)STRIDE ? left : (uint32_t)STRIDE;
    } else {
        rows->count = STRIDE;
    }
}

/* The attributes (2.3.3) of the function whose FDE is AT bytes behind the first of IMAGE. */
INLINE const uint8_t *attributes_of(const struct sfu_fast_image *image, size_t at)
{
    return image->rows + load4(image->fdes + at + FDE_ROWS);
}

/* The rule for OFFSET in the function whose FDE is AT bytes behind the first of IMAGE: any function, any row. It may be
 * written to *OWN. */
OUT_OF_LINE const struct sfu_fast_rule *any_rule(const struct sfu_fast_image *image, size_t at, uint32_t offset,
                                                 struct sfu_fast_rule *own)
{
    const uint8_t *p = attributes_of(image, at);
    const bool traps = p[2] & INFO_SIGNAL;
    const uint8_t *words;
    struct rows rows;
    unsigned info, size;

    rows.p = p + ATTRIBUTES_SIZE;
    rows.count = load2(p);
    if (p[2] & INFO_MASK)
        offset %= p[4];
    if (rows.count > LONG && image->long_index != NULL)
        take_checkpoint(image->long_index, (uint32_t)(at / FDE_SIZE), offset, &rows);
    size = p[2] & INFO_ADDRESS;
    info = size == 0   ? scan(&rows, offset, 1, &words)
           : size == 1 ? scan(&rows, offset, 2, &words)
                       : scan(&rows, offset, 4, &words);
    size = 1u << (info >> 5 & 3);
    if (words == rows.p)
        return &by_core;
    if ((info & ROW_COUNT) == 0)
        return &outermost;
    return p[3] & INFO2_TYPE ? flexible_rule(info, words, size, traps, own)
                             : default_rule(info, words, size, traps, own);
}

/* The same. Nearly all functions are common and have few rows, which have words of 1 or 2 bytes. */
INLINE const struct sfu_fast_rule *row_rule(const struct sfu_fast_image *image, size_t at, uint32_t offset,
                                            struct sfu_fast_rule *own)
{
    const uint8_t *p = attributes_of(image, at);
    struct rows rows;

    rows.p = p + ATTRIBUTES_SIZE;
    rows.count = load2(p);
    if (LIKELY(!(load2(p + 2) & UNCOMMON) && rows.count <= LONG)) {
        const uint8_t *words;
        const unsigned info = p[2] & COMMON_INFO ? scan(&rows, offset, 2, &words) : scan(&rows, offset, 1, &words);

        if (LIKELY((info & ROW_COUNT) != 0 && !(info & ROW_FOUR_BYTES)))
            return info & ROW_TWO_BYTES ? default_rule(info, words, 2, false, own)
                                        : default_rule(info, words, 1, false, own);
    }
    return any_rule(image, at, offset, own);
}

/* ---- Lookup ---------------------------------------------------------------------------------------------------- */

/* The start of the function whose FDE is AT bytes behind the first, from the image's origin. */
INLINE int64_t start_at(const struct sfu_fast_image *image, size_t at, uint64_t relative)
{
    return (int64_t)(load8(image->fdes + at) + (at & relative));
}

/* The last of the N (at least 1) functions from AT on that starts at or below WHERE, if the first does. Each pass
 * leaves half of them; if their number is odd, the larger half. */
INLINE size_t bisect(const struct sfu_fast_image *image, size_t at, uint32_t n, int64_t where, uint64_t relative)
{
    while (n > 1) {
        uint32_t half = n / 2;

        n -= half;
        if (start_at(image, at + half * (size_t)FDE_SIZE, relative) <= where) {
            KEEP_BRANCH;
            at += half * (size_t)FDE_SIZE;
        }
    }
    return at;
}

/* The rule for PC, a lookup PC that IMAGE, a common one, may have. */
INLINE const struct sfu_fast_rule *find_rule(const struct sfu_fast_image *image, uint64_t pc,
                                             struct sfu_fast_rule *own)
{
    const uint64_t where = pc - image->origin;
    const uint32_t *entry = image->index + 1 + ((pc - image->low) >> image->index[0]);
    const size_t first = entry[0] * (size_t)FDE_SIZE;
    const uint32_t n = entry[1] - entry[0] + 1;
    const size_t at = LIKELY(image->relative != 0) ? bisect(image, first, n, (int64_t)where, UINT64_MAX)
                                                   : bisect(image, first, n, (int64_t)where, 0);
    const uint64_t offset = where - (uint64_t)start_at(image, at, image->relative);

    if (offset >= load4(image->fdes + at + FDE_LENGTH))
        return &by_core;
    return row_rule(image, at, (uint32_t)offset, own);
}

/* The next of the list: sfu_fast_remove may change it meanwhile. */
INLINE struct sfu_fast_image *next_image(const struct sfu_fast_image *image)
{
    return __atomic_load_n(&image->next, __ATOMIC_RELAXED);
}

/*
 * Order. A walker may have an array of its images, in ascending order of their low ends, which a change alters while
 * traces search it. At each moment each image that was there before the change and is there afterwards is in it, and it
 * ascends, though an image may be there twice. Whoever finds an image that has the PC, has found one that is there, or
 * was there when the trace began. Whoever finds none asks whether ORDER_CHANGES is what it was before, and even: then
 * there is none. Else the list knows.
 */

/* Where a PC lies in the order. */
struct neighbours {
    const struct sfu_fast_image *at;    /* the last image whose low end is at or below the PC, or NULL */
    const struct sfu_fast_image *above; /* the next, or NULL */
};

INLINE const struct sfu_fast_image *ordered_at(const struct sfu_fast *fast, size_t i)
{
    return __atomic_load_n(&fast->order[i], __ATOMIC_ACQUIRE);
}

/* Sets *FOUND. Returns whether that is right: there is an order, and no change came in between. If there is an order,
 * FOUND->AT may be used anyhow, if it has PC. */
OUT_OF_LINE bool find_neighbours(const struct sfu_fast *fast, uint64_t pc, struct neighbours *found)
{
    const uint64_t changes = __atomic_load_n(&fast->order_changes, __ATOMIC_ACQUIRE);
    const size_t count = __atomic_load_n(&fast->ordered, __ATOMIC_ACQUIRE);
    size_t at = 0, n = count;

    found->at = found->above = NULL;
    if (n == 0)
        return false;
    while (n > 1) { /* each pass leaves half of them; if their number is odd, the larger half */
        const size_t half = n / 2;

        n -= half;
        if (ordered_at(fast, at + half)->low <= pc)
            at += half;
    }
    found->at = ordered_at(fast, at);
    if (pc < found->at->low) {
        found->above = found->at;
        found->at = NULL;
    } else if (at + 1 < count) {
        found->above = ordered_at(fast, at + 1);
    }
    return changes % 2 == 0 && changes == __atomic_load_n(&fast->order_changes, __ATOMIC_RELAXED);
}

/* The first of the trace's images (at least 1) that may have PC, a lookup PC that is not in the near one; or NULL. */
OUT_OF_LINE const struct sfu_fast_image *search_images(struct trace *v, uint64_t pc)
{
    const bool overlap = __atomic_load_n(&v->fast->overlap, __ATOMIC_RELAXED);
    const struct sfu_fast_image *image;
    struct neighbours found;

    if (!overlap) {
        const bool sure = find_neighbours(v->fast, pc, &found);

        if (found.at != NULL && pc - found.at->low <= found.at->span)
            return v->near = found.at;
        if (sure)
            return NULL;
    }
    for (image = v->images; image != NULL; image = next_image(image))
        if (pc - image->low <= image->span)
            break;
    if (image != NULL && !overlap)
        v->near = image;
    return image;
}

/* The first of the trace's images (at least 1) that may have PC, a lookup PC, or NULL. If no two have the same PC, it
 * is mostly that of the frame before. */
INLINE const struct sfu_fast_image *image_of(struct trace *v, uint64_t pc)
{
    return LIKELY(pc - v->near->low <= v->near->span) ? v->near : search_images(v, pc);
}

/* Whether PC lies in RANGE, as the core asks. */
INLINE bool is_in(const struct sfu_range *range, uint64_t pc)
{
    return range->high == 0 || (pc >= range->low && pc < range->high);
}

INLINE bool is_in_text(const struct sfu_fast_image *image, uint64_t pc)
{
    return image != NULL && is_in(&image->section->text, pc);
}

/* What the core says of PC, a lookup PC that is in none of the trace's images. */
OUT_OF_LINE const struct sfu_fast_rule *outside(const struct trace *v, uint64_t pc)
{
    const struct sfu_fast_image *image;
    struct neighbours found;

    if (__atomic_load_n(&v->fast->anywhere, __ATOMIC_RELAXED) > 0)
        return &no_fde;
    if (!__atomic_load_n(&v->fast->overlap, __ATOMIC_RELAXED) &&
        !__atomic_load_n(&v->fast->texts_mixed, __ATOMIC_RELAXED) && find_neighbours(v->fast, pc, &found))
        return is_in_text(found.at, pc) || is_in_text(found.above, pc) ? &no_fde : &not_code;
    for (image = v->images; image != NULL; image = next_image(image))
        if (is_in(&image->section->text, pc))
            return &no_fde;
    return &not_code;
}

/* The rule for PC, a lookup PC. It may be written to *OWN. */
INLINE const struct sfu_fast_rule *look_up(struct trace *v, uint64_t pc, struct sfu_fast_rule *own)
{
    const struct sfu_fast_image *image = image_of(v, pc);

    if (UNLIKELY(image == NULL))
        return outside(v, pc);
    return LIKELY(image->common) ? find_rule(image, pc, own) : &by_core;
}

/* ---- Cache ----------------------------------------------------------------------------------------------------- */

/*
 * Keys. A key is the address behind a lookup PC, which a return address is by itself. Code lies in few regions of 2^n
 * bytes, which are numbered as they are met, and keep their numbers. The lower n bits of a key are its place in its
 * region. The lowest PC_BITS of them are the tag, and below them the region's number.
 * The first two regions that are met are such wide ones: most code is in them. All others are narrow, so that there may
 * be many: n and PC_BITS are less by NARROWER, and the number has as many bits more.
 * The place is multiplied by an odd number, modulo 2^n: so PCs get different numbers if their distance is a power of
 * two, and modules that a loader has aligned are spread over the whole cache. Of the product, the upper bits are the
 * number of the entry: the lowest of them say which entry of a set is tried first, and the others choose the set. The
 * odd number is 2^n times a fraction (MIX / 2^64) whose multiples are spread evenly, so that call sites at equal
 * distances are, too. But the products of some distances are so small that a thousand call sites at such a distance
 * would share a part of the sets: so the lowest FOLDED bits of the PC are folded into the upper bits of the product by
 * exclusive or. Not each fraction goes well with that: with the golden ratio's, where n is 27, 4% of the call sites at
 * equal distances of 16 to 4,096 bytes would find their set full. MIX was chosen near it by simulation: in caches of 2
 * to 128 KiB, 0.6 to 1.7% of such call sites find their set full, and 0.2 to 1.4% of those in modules, aligned or far
 * apart; in a layout by chance, 0.8% do. The product's lower PC_BITS bits follow from the same bits of the place,
 * since carries move upwards only. And what an odd number has multiplied can be undone, and so can what is folded in,
 * as the tag has it. So set and tag together tell the PC. In each region but the first, a number of its own is added
 * to the product, so that code that is laid out alike in two regions does not take the same places. Nothing is added
 * in the first, where most code is: the CPU would wait for it. In a narrow region that number is a product of the
 * upper bits of the key: the CPU has it at once, and looks the region's number up beside that. It does not wait for a
 * region that the trace remembers, nor does it have to foresee whether the frame before was in the same one. That
 * product is by TURN and not by MIX, nor by a number near it: so the call sites of many modules at equal distances
 * would lie as those of one module do, at distances that share sets. TURN was chosen by the tests' layouts and by 12 to
 * 64 modules far apart.
 *
 * Rules. From one frame to the next the CPU waits for three loads: the return address, its entry, the word at the CFA.
 * So an entry has the CFA's offset in itself where it can: if the rule is simple and counts from SP. What else such a
 * rule says is one of a few kinds. The CPU need not wait for that, and it looks up all other rules by their number.
 *
 * Order. A PC that is found where it is tried first costs least: the CPU foresees that. Where two have the same place,
 * the one that traces meet more often should be there. So some traces exchange what they find elsewhere with what is
 * there. They are few, since all others must not write: memory that a CPU writes to is slow for the others.
 *
 * Size. A cache that is too small for the code that runs must not cost more than it saves. Where a trace misses often,
 * only some of its misses take a place of a full set. Where it hits too seldom it goes on without the cache.
 *
 * Writing. Who writes to the cache, takes entries out of it or exchanges two has set BUSY, and does not wait for it:
 * who finds it set leaves the cache as it is. So one writes at a time, also in an interrupt of one that writes. An
 * entry is found by sections as they are after some number of CHANGES. It is written only while that number stands;
 * BUSY is set before that is asked. A change counts up CHANGES when it is done, and then nothing in the cache counts
 * until somebody has taken out the entries that it made wrong, and has set CLEARED to that number. So what a trace
 * writes that began before a change, however late, is either looked at then or not written at all; and no number comes
 * again. Readers take no part in that: an entry is one word, and a rule is complete before an entry names it, and is
 * never written again.
 *
 * One change, as an example. Trace T looks up a PC of an image, and the image is removed while T is at it. What is "by
 * R" below is done by the one who removes the image or, if BUSY was set then, by the next trace that begins.
 *
 *     what happens                                                              CHANGES  CLEARED  is the cache asked?
 *     T begins, and notes 7 as the number of changes                               7        7     yes
 *     the image leaves the list; GONE_LOW and GONE_LAST become its ends            7        7     yes
 *     CHANGES is counted up                                                        8        7     by no new trace
 *     by R: BUSY is set, and the entries of the PCs in the image are taken out     8        7     by no new trace
 *     by R: CLEARED is set, and then BUSY is cleared                               8        8     yes
 *
 * T has found a rule in the image and wants to write it. There are three cases. T sets BUSY while CHANGES is 7: then T
 * writes the entry, however late, but R cannot set BUSY until T has cleared it, so R takes the entry out before CLEARED
 * is 8. T sets BUSY when CHANGES is 8: that is not the 7 that T has noted, and T writes nothing. T finds BUSY set by R:
 * T writes nothing.
 *
 * What a change makes wrong. If no two images have the same PC, the rule of a PC is that of the one image that has it:
 * no other can change it. An image that goes takes the entries of its PCs with it: an entry tells its PC. An image that
 * comes changes those of PCs that were in none, as one that goes does, because of its text, too. There are at most
 * SFU_FAST_OUTSIDE of them, and where they are is written down. If two images have the same PC, everything is wrong.
 * Between a change and the next taking out others may follow: GONE_LOW to GONE_LAST has the PCs of all of them, and
 * only grows until CLEARED is CHANGES.
 */

/* gcc would call a library that a kernel does not have. */
#if defined(__aarch64__)
__attribute__((target("no-outline-atomics")))
#endif
OUT_OF_LINE bool
set_busy(struct sfu_fast *fast)
{
    return __atomic_exchange_n(&fast->busy, 1, __ATOMIC_ACQUIRE) == 0;
}

INLINE void clear_busy(struct sfu_fast *fast)
{
    __atomic_store_n(&fast->busy, 0, __ATOMIC_RELEASE);
}

/* Whether ENTRY has no rule. */
INLINE bool is_empty(uint32_t entry)
{
    return entry % NOT_FOUND == EMPTY;
}

/* Whether an entry that SAYS this has a rule in short. */
INLINE bool is_short(uint32_t says)
{
    return says < LARGE;
}

/* Whether it has that of a large frame, if it has none in short. */
INLINE bool is_large(uint32_t says)
{
    return says < FROM_RECORD;
}

/* Whether it has the rule of a frame record, if it has neither. */
INLINE bool is_of_record(uint32_t says)
{
    return HAS_RECORD && says < NUMBERED;
}

/* The size of a wide region if there are MASK + 1 entries: for each set as many PCs as a tag can tell apart. */
INLINE uint64_t reach_of(uint64_t mask)
{
    return (mask + 1) / WAYS << PC_BITS;
}

/* Whether NUMBER is that of a wide region; and its bits above the lowest REGION_BITS may be those of a PC. */
INLINE bool is_wide(uint32_t number)
{
    return number % WIDE_STEP == 0;
}

/* How many bits of an address are above those of its place in a wide region, in a cache with SHIFT. */
INLINE unsigned bits_above(unsigned shift)
{
    return shift - (PC_BITS - WAY_BITS);
}

/* What places in a region are multiplied by; and the same, shifted so that the upper bits of the product are the number
 * of an entry. */
INLINE uint64_t multiplier(unsigned shift)
{
    return MIX >> bits_above(shift) | 1;
}

INLINE uint64_t mix_of(unsigned shift)
{
    return multiplier(shift) << bits_above(shift);
}

/* How many bits of an address are those of its place in a narrow region. The others are the region's upper bits. */
INLINE unsigned narrow_bits(unsigned shift)
{
    return 64 - NARROWER - bits_above(shift);
}

/* The upper bits, + 1, of the narrow region with NUMBER; 0: there is none. */
INLINE uint64_t region_at(const struct sfu_fast *fast, unsigned number)
{
    return __atomic_load_n(&fast->regions[number], __ATOMIC_RELAXED);
}

/* The low end of the wide region that was met as the Nth, from 0 on. */
INLINE uint64_t wide_at(const struct sfu_fast *fast, unsigned n)
{
    return __atomic_load_n(&fast->wide[n], __ATOMIC_RELAXED);
}

/* What is added to products of PCs in the narrow region with these upper bits, or in the wide one that is so far above
 * the first. */
INLINE uint64_t turn_of(uint64_t upper)
{
    return upper * TURN;
}

/* The number that undoes a multiplication by ODD, modulo 2^64: each pass gets twice as many of its lowest bits right,
 * of which three are right at first. */
INLINE uint64_t inverse(uint64_t odd)
{
    uint64_t x = odd;
    unsigned right;

    for (right = 3; right < 64; right *= 2)
        x *= 2 - odd * x;
    return x;
}

/* The product of X and a multiplier, which may be shifted to the left; and X of the product of X and ODD. */
INLINE uint64_t mixed(uint64_t x, uint64_t by)
{
    return x * by;
}

INLINE uint64_t unmixed(uint64_t product, uint64_t odd)
{
    return product * inverse(odd);
}

/* What is folded into the product of a PC that ends in the bits of LOW. */
INLINE uint64_t fold(uint64_t low)
{
    return low << (64 - FOLDED);
}

/* The lookup PC that ENTRY, at PLACE, is for: of its product, PLACE has the set, and the tag tells what is below. */
INLINE uint64_t pc_of(const struct sfu_fast *fast, uint64_t place, uint32_t entry)
{
    const unsigned above = bits_above(fast->shift);
    const uint64_t odd = multiplier(fast->shift), below_set = ((uint64_t)1 << (fast->shift + WAY_BITS)) - 1;
    const uint32_t number = entry >> SAYS_BITS;
    const unsigned less = is_wide(number) ? 0 : NARROWER;
    const uint64_t upper = fast->regions[number % SFU_FAST_REGIONS] - 1;
    const uint64_t region =
        is_wide(number) ? fast->wide[number / WIDE_STEP % 2] : upper << narrow_bits(fast->shift);
    const uint64_t turn = turn_of(is_wide(number) ? region - fast->wide[0] : upper);
    const uint64_t low = entry >> (SAYS_BITS + REGION_BITS + less);
    const uint64_t below = (mixed(low, odd) << above << less) + turn;
    const uint64_t product = (((place << fast->shift) ^ fold(low)) & ~below_set) | (below & below_set);
    const uint64_t behind = unmixed((product - turn) >> above >> less, odd);

    return region + (behind & ((fast->reach >> less) - 1)) - 1;
}

/* Takes out the entries of those PCs from LOW to LAST. */
INLINE void take_out(struct sfu_fast *fast, uint64_t low, uint64_t last)
{
    uint64_t i;

    for (i = 0; low <= last && i <= fast->mask; i++) {
        const uint32_t entry = __atomic_load_n(&fast->cache[i], __ATOMIC_RELAXED);
        uint64_t pc;

        if (is_empty(entry))
            continue;
        pc = pc_of(fast, i, entry);
        if (pc >= low && pc <= last)
            __atomic_store_n(&fast->cache[i], EMPTY, __ATOMIC_RELEASE);
    }
}

/* Takes out the entries of PCs that no function had. */
INLINE void take_out_outside(struct sfu_fast *fast)
{
    for (; fast->outside_count > 0; fast->outside_count--) {
        const uint64_t place = fast->outside[fast->outside_count - 1];
        uint64_t i;

        for (i = 0; i < WAYS; i++) {
            const uint32_t says = __atomic_load_n(&fast->cache[place ^ i], __ATOMIC_RELAXED) % NOT_FOUND;

            if (says >= NUMBERED && says < EMPTY && fast->rules[says - NUMBERED].how & (NO_FDE | NOT_CODE))
                __atomic_store_n(&fast->cache[place ^ i], EMPTY, __ATOMIC_RELEASE);
        }
    }
}

/* Takes out what changes have made wrong, if nobody writes. */
OUT_OF_LINE void renew(struct sfu_fast *fast)
{
    uint64_t changes;

    if (fast->cache == NULL || !set_busy(fast))
        return;
    changes = __atomic_load_n(&fast->changes, __ATOMIC_ACQUIRE);
    if (changes != __atomic_load_n(&fast->cleared, __ATOMIC_RELAXED)) {
        take_out_outside(fast);
        take_out(fast, __atomic_load_n(&fast->gone_low, __ATOMIC_RELAXED),
                 __atomic_load_n(&fast->gone_last, __ATOMIC_RELAXED));
        __atomic_store_n(&fast->cleared, changes, __ATOMIC_RELEASE);
    }
    clear_busy(fast);
}

/* Makes *REGION the one with NUMBER. The others: as struct region says. */
INLINE void set_region(struct region *region, uint64_t low, uint64_t turn, unsigned number)
{
    region->low = low;
    region->turn = turn;
    region->tag = (uint32_t)number << SAYS_BITS;
}

/* The first of the places in REGIONS of the narrow region with TURN. */
INLINE unsigned first_number(uint64_t turn)
{
    return (unsigned)(turn >> (64 - REGION_BITS - NARROWER));
}

/* The number of the narrow region with these UPPER bits: where it stands in REGIONS, of which none is ever taken out.
 * SFU_FAST_REGIONS: it has none. */
OUT_OF_LINE unsigned find_number(const struct sfu_fast *fast, uint64_t upper)
{
    const unsigned first = first_number(turn_of(upper));
    unsigned i;

    for (i = 0; i < SFU_FAST_REGIONS; i++) {
        const uint64_t there = region_at(fast, first ^ i);

        if (there == upper + 1)
            return first ^ i;
        if (there == 0 && !is_wide(first ^ i))
            break;
    }
    return SFU_FAST_REGIONS;
}

/* Gives the trace the wide regions: most code is in them. */
INLINE void enter_wide(struct trace *v)
{
    const struct sfu_fast *fast = v->fast;
    const uint32_t count = __atomic_load_n(&fast->num_regions, __ATOMIC_ACQUIRE);
    const uint64_t first = wide_at(fast, 0);
    const unsigned n = count > 1;

    if (count == 0)
        return;
    v->wide = fast->reach;
    set_region(&v->first, first, 0, 0);
    set_region(&v->second, wide_at(fast, n), turn_of(wide_at(fast, n) - first), n * WIDE_STEP);
}

/* Takes a view of the walker. The number of changes is read first: the list is as new as that, or newer. */
INLINE void look(struct trace *v, struct sfu_fast *fast)
{
    const struct sfu_target *t = v->walk.target;
    const uint64_t changes = __atomic_load_n(&fast->changes, __ATOMIC_ACQUIRE);
    uint64_t cleared = __atomic_load_n(&fast->cleared, __ATOMIC_ACQUIRE);
    const struct sfu_fast_image *images;

    if (UNLIKELY(cleared != changes)) {
        renew(fast);
        cleared = __atomic_load_n(&fast->cleared, __ATOMIC_ACQUIRE);
    }
    images = __atomic_load_n(&fast->images, __ATOMIC_ACQUIRE);
    if (images != NULL && (images->section != t->sections || t->original_ra != NULL ||
                           (unsigned)images->section->abi != NATIVE)) /* all have the same */
        images = NULL;
    v->fast = fast;
    v->changes = changes;
    v->images = v->near = images;
    v->cache = NULL;
    v->shift = fast->shift;
    v->wide = 0;
    v->window.high = 0;
    if (fast->cache != NULL && cleared == changes) {
        v->cache = fast->cache;
        enter_wide(v);
    }
}

/* By how many bits REGION is narrower than a wide one. */
INLINE unsigned narrower(const struct region *region)
{
    return is_wide(region->tag >> SAYS_BITS) ? 0 : NARROWER;
}

/* Whether the PC in front of BEHIND is in REGION, which has SIZE bytes. */
INLINE bool is_in_region(const struct region *region, uint64_t size, uint64_t behind)
{
    return behind - region->low < size;
}

/* The wide region of V that has the PC in front of BEHIND, or NULL. */
INLINE const struct region *wide_with(const struct trace *v, uint64_t behind)
{
    return is_in_region(&v->first, v->wide, behind)    ? &v->first
           : is_in_region(&v->second, v->wide, behind) ? &v->second
                                                       : NULL;
}

/* The region that has the PC in front of BEHIND: one of V, or *NARROW. NULL: it has no number. */
OUT_OF_LINE const struct region *region_of(struct trace *v, uint64_t behind, struct region *narrow)
{
    const unsigned bits = narrow_bits(v->shift);
    const uint64_t upper = behind >> bits;
    const struct region *region = wide_with(v, behind);
    unsigned number;

    if (region == NULL) {
        enter_wide(v); /* there may be one more */
        region = wide_with(v, behind);
    }
    if (region != NULL)
        return region;
    number = find_number(v->fast, upper);
    if (number == SFU_FAST_REGIONS)
        return NULL;
    set_region(narrow, upper << bits, turn_of(upper), number);
    return narrow;
}

/* The entry that is tried first for the PC in front of BEHIND, which is in a region with TURN that is narrower by LESS
 * bits. Those of one set differ in the lowest bits of their number. */
INLINE uint64_t place_of(uint64_t behind, uint64_t mix, unsigned less, uint64_t turn, unsigned shift)
{
    return (((mixed(behind, mix) << less) + turn) ^ fold(behind)) >> shift;
}

/* An entry for the PC in front of BEHIND, which is in a region with TAG that is narrower by LESS bits, without what it
 * says. */
INLINE uint32_t tag_of(uint64_t behind, unsigned less, uint32_t tag)
{
    return (uint32_t)(behind << (SAYS_BITS + REGION_BITS) << less) ^ tag;
}

/* What ENTRY says, if it is the one with TAG; else NOT_FOUND or more. */
INLINE uint32_t says_in(uint32_t entry, uint32_t tag)
{
    return entry ^ tag;
}

/* The number of the kind of a rule in short. */
INLINE uint32_t kind_of(uint32_t says)
{
    return says >> WORDS_BITS;
}

/* The CFA's offset from SP of a rule in short, or from a frame record, in words. An entry has it in the bits that it
 * has in what the entry says. */
INLINE uint64_t words_of(uint32_t says)
{
    return says & SHORT_WORDS;
}

/* The same in bytes. */
INLINE uint64_t cfa_of(uint32_t says)
{
    return words_of(says) * 8;
}

/* What an entry says of a rule of KIND whose CFA is OFFSET above SP, a multiple of 8 up to 8 * SHORT_WORDS. */
INLINE uint32_t in_short(uint32_t kind, int32_t offset)
{
    return kind << WORDS_BITS | (uint32_t)offset / 8;
}

/* The same three of a large frame. Its CFA is a multiple of 16 from LARGE_CFA to LARGEST_CFA above SP: nearly all ABIs
 * keep SP at a multiple of 16. */
INLINE uint32_t large_kind_of(uint32_t says)
{
    return SFU_FAST_KINDS + ((says - LARGE) >> PAIRS_BITS);
}

INLINE uint64_t large_cfa_of(uint32_t says)
{
    return LARGE_CFA + (uint64_t)(says & LARGE_PAIRS) * 16;
}

INLINE uint32_t as_large(uint32_t kind, int32_t offset)
{
    return LARGE + ((kind - SFU_FAST_KINDS) << PAIRS_BITS | (uint32_t)(offset - LARGE_CFA) / 16);
}

/* Whether the rule AT is RULE. It becomes that if there is none yet. An assignment might become a call of memcpy. */
INLINE bool is_or_becomes(struct sfu_fast_rule *at, const struct sfu_fast_rule *rule)
{
    if (at->how == 0) {
        at->cfa = rule->cfa;
        at->ra = rule->ra;
        at->fp = rule->fp;
        at->how = rule->how;
    }
    return at->how == rule->how && at->cfa == rule->cfa && at->ra == rule->ra && at->fp == rule->fp;
}

/* Whether the RA and FP of a kind that is HOW are counted from SP. */
INLINE bool is_at_sp(uint32_t how)
{
    return SAVES_AT_SP && how & KIND_AT_SP;
}

/* The same of a kind and of RULE, a simple one whose CFA's offset is at most LARGEST_CFA: so the RA and FP are not
 * further below the CFA, and 16 bits are enough. They are counted from SP if the RA is nearer to SP than to the CFA. */
INLINE bool is_kind_or_becomes(struct sfu_fast_kind *at, const struct sfu_fast_rule *rule)
{
    const bool at_sp = SAVES_AT_SP && rule->cfa + rule->ra <= -rule->ra;
    const uint32_t how = rule->how | (at_sp ? KIND_AT_SP : 0);
    const int32_t ra = rule->ra + (at_sp ? rule->cfa : 0);
    const int32_t fp = (how & FP_LOADED ? rule->fp : rule->ra) + (at_sp ? rule->cfa : 0);

    if (at->how == 0) {
        at->ra = (int16_t)ra;
        at->fp = (int16_t)fp;
        at->how = how;
    }
    return at->how == how && at->ra == ra && at->fp == fp;
}

/* Makes *RULE that of KIND whose CFA is OFFSET above SP, and returns it. */
INLINE const struct sfu_fast_rule *rule_of_kind(const struct sfu_fast_kind *kind, int32_t offset,
                                                struct sfu_fast_rule *rule)
{
    const int32_t from_cfa = is_at_sp(kind->how) ? offset : 0;

    rule->cfa = offset;
    rule->ra = kind->ra - from_cfa;
    rule->fp = kind->how & FP_LOADED ? kind->fp - from_cfa : 0;
    rule->how = kind->how & ~(uint32_t)KIND_AT_SP;
    return rule;
}

/* Whether RULE is that of a frame record, whose CFA is a multiple of 8 up to 8 * SHORT_WORDS above it. On RISC-V such a
 * rule is not simple, as the record lies below FP. */
INLINE bool has_record(const struct sfu_fast_rule *rule)
{
    const int64_t above = (int64_t)rule->cfa - RECORD_AT;

    return HAS_RECORD && (rule->how | COMPLEX) == (COMPLEX | FROM_FP | FP_LOADED) && rule->fp == -above &&
           rule->ra == 8 - above && above % 8 == 0 && above >= 16 && above <= 8 * SHORT_WORDS;
}

/* Whether the CFA of RULE, a simple one, is that of a rule in short; or, if it is not, of a large frame. */
INLINE bool has_short_cfa(const struct sfu_fast_rule *rule)
{
    return rule->cfa % 8 == 0 && rule->cfa <= 8 * SHORT_WORDS;
}

INLINE bool has_large_cfa(const struct sfu_fast_rule *rule)
{
    return rule->cfa % 16 == 0 && rule->cfa <= LARGEST_CFA;
}

/* What an entry says of RULE, which is written to a table if it is new; EMPTY if others have its places. */
INLINE uint32_t keep_rule(struct sfu_fast *fast, const struct sfu_fast_rule *rule)
{
    const uint32_t mixed =
        ((uint32_t)rule->cfa * 31 + (uint32_t)rule->ra * 7 + (uint32_t)rule->fp + rule->how) * SPREAD;
    const uint32_t first = (uint32_t)((uint64_t)mixed * (SFU_FAST_RULES - TRIES) >> 32);
    const bool in_short_form = has_short_cfa(rule);
    const uint32_t kinds_end = in_short_form ? SFU_FAST_KINDS : ALL_KINDS;
    uint32_t i;

    if (!(rule->how & (COMPLEX | FROM_FP)) && (in_short_form || has_large_cfa(rule)))
        for (i = in_short_form ? 0 : SFU_FAST_KINDS; i < kinds_end; i++)
            if (is_kind_or_becomes(&fast->kinds[i], rule))
                return in_short_form ? in_short(i, rule->cfa) : as_large(i, rule->cfa);
    if (has_record(rule))
        return FROM_RECORD + (uint32_t)(rule->cfa - RECORD_AT) / 8;
    for (i = first; i < first + TRIES; i++)
        if (is_or_becomes(&fast->rules[i], rule))
            return NUMBERED + i;
    return EMPTY;
}

/* The rule that SAYS names, which is neither EMPTY nor NOT_FOUND. It may be written to *OWN. */
OUT_OF_LINE const struct sfu_fast_rule *rule_of(const struct sfu_fast *fast, uint32_t says,
                                                struct sfu_fast_rule *own)
{
    const int32_t above = (int32_t)cfa_of(says);

    if (!is_large(says))
        return is_of_record(says) ? make_rule(own, above + RECORD_AT, 8 - above, -above, FROM_FP | FP_LOADED)
                                  : &fast->rules[says - NUMBERED];
    return rule_of_kind(&fast->kinds[is_short(says) ? kind_of(says) : large_kind_of(says)],
                        is_short(says) ? above : (int32_t)large_cfa_of(says), own);
}

/* Gives the region of the PC in front of BEHIND, which has no number, one if fewer than MOST have one: the first two
 * are wide. */
INLINE void keep_region(struct sfu_fast *fast, uint64_t behind, uint32_t most)
{
    const uint32_t count = fast->num_regions;
    const uint64_t upper = behind >> narrow_bits(fast->shift);
    unsigned number = first_number(turn_of(upper)), i = 0;

    if (count >= most)
        return;
    while (is_wide(number ^ i) || region_at(fast, number ^ i) != 0)
        i++;
    if (count < 2)
        __atomic_store_n(&fast->wide[count], behind & ~(fast->reach - 1), __ATOMIC_RELAXED);
    else
        __atomic_store_n(&fast->regions[number ^ i], upper + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&fast->num_regions, count + 1, __ATOMIC_RELEASE);
}

/* Puts ENTRY at an empty one of the places of its set, of which FIRST is tried first. If there is none, at FIRST: what
 * was there goes to one of the places, by turns. */
INLINE void put(struct sfu_fast *fast, uint64_t first, uint32_t entry)
{
    uint64_t i = 0;

    while (i < WAYS && !is_empty(__atomic_load_n(&fast->cache[first ^ i], __ATOMIC_RELAXED)))
        i++;
    if (i == WAYS) {
        const uint32_t moved = __atomic_load_n(&fast->cache[first], __ATOMIC_RELAXED);

        i = 0;
        __atomic_store_n(&fast->cache[first ^ fast->turn++ % WAYS], moved, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&fast->cache[first ^ i], entry, __ATOMIC_RELEASE);
}

/* Whether an entry in the set of PLACE may be for a PC that no function has. */
INLINE bool note_outside(struct sfu_fast *fast, uint64_t place)
{
    unsigned i = 0;

    while (i < fast->outside_count && (fast->outside[i] ^ place) >= WAYS)
        i++;
    if (i == SFU_FAST_OUTSIDE)
        return false;
    if (i == fast->outside_count)
        fast->outside[fast->outside_count++] = place;
    return true;
}

/* Keeps RULE, which was looked up, for the lookup PC in front of BEHIND. One that no function has may be anywhere: such
 * PCs get half of the regions at most. Returns false if it was not kept. */
OUT_OF_LINE bool keep(struct trace *v, uint64_t behind, const struct sfu_fast_rule *rule)
{
    struct sfu_fast *fast = v->fast;
    struct region narrow;
    const bool is_outside = rule->how & (NO_FDE | NOT_CODE);
    bool kept = false;

    if (!set_busy(fast))
        return false;
    if (__atomic_load_n(&fast->changes, __ATOMIC_RELAXED) == v->changes) {
        const struct region *region = region_of(v, behind, &narrow);

        if (region == NULL) {
            keep_region(fast, behind, is_outside ? MOST_REGIONS / 2 : MOST_REGIONS);
            region = region_of(v, behind, &narrow);
        }
        if (region != NULL) {
            const uint32_t says = keep_rule(fast, rule);
            const uint64_t place = place_of(behind, mix_of(v->shift), narrower(region), region->turn, v->shift);

            kept = says != EMPTY && (!is_outside || note_outside(fast, place));
            if (kept)
                put(fast, place, tag_of(behind, narrower(region), region->tag) | says);
        }
    }
    clear_busy(fast);
    return kept;
}

/* What an entry says if it is the one that was sought: all of it, and on amd64 in two parts. */
struct found {
    uint32_t says;
    uint32_t besides; /* what it says besides the words of the CFA, if it has those */
    uint64_t words;
};

INLINE struct found found_of(uint32_t says)
{
    const struct found found = {says, IS_AMD64 ? says & ~(uint32_t)SHORT_WORDS : says, words_of(says)};

    return found;
}

/* Whether that is a rule in short; or else another. */
INLINE bool has_short(struct found found)
{
    return IS_AMD64 ? (found.besides & ~(uint32_t)SHORT_KINDS) == 0 : is_short(found.says);
}

INLINE bool has_other(struct found found)
{
    return found.says >= LARGE && found.says < EMPTY;
}

/* What CACHE says at *PLACE, for TAG. On amd64 the words are loaded by themselves, as a byte: so the CPU need not wait
 * until they are cut out of the entry, nor for a sum that is the address of both loads. If the entry was written
 * between them, the parts are no rule in short. */
INLINE struct found found_at(const uint32_t *cache, uint64_t *place, uint32_t tag)
{
    struct found found;

    if (!IS_AMD64)
        return found_of(says_in(__atomic_load_n(&cache[*place], __ATOMIC_ACQUIRE), tag));
    found.words = anew(__atomic_load_n((const uint8_t *)&cache[*place], __ATOMIC_RELAXED));
    *place = anew(*place);
    found.says = says_in(__atomic_load_n(&cache[*place], __ATOMIC_ACQUIRE), tag);
    found.besides = found.says ^ (uint32_t)found.words;
    return found;
}

/* Whether the trace is one of those that move entries: by where it began, which is another place in most traces. */
INLINE bool moves(const struct trace *v)
{
    const struct sfu_registers *top = &v->walk.frame.regs;

    return ((uint64_t)top->pc + top->sp) * MIX >> (64 - MOVING_BITS) == 0;
}

/* Exchanges the entries at two places of a set, unless somebody writes. A trace that asks meanwhile may find one of
 * them nowhere: then it looks the PC up, and perhaps keeps it once more. */
OUT_OF_LINE void exchange(struct sfu_fast *fast, uint64_t first, uint64_t second)
{
    uint32_t was_first, was_second;

    if (!set_busy(fast))
        return;
    was_first = __atomic_load_n(&fast->cache[first], __ATOMIC_RELAXED);
    was_second = __atomic_load_n(&fast->cache[second], __ATOMIC_RELAXED);
    __atomic_store_n(&fast->cache[first], was_second, __ATOMIC_RELEASE);
    __atomic_store_n(&fast->cache[second], was_first, __ATOMIC_RELEASE);
    clear_busy(fast);
}

/* What CACHE, whose places are by MIX and SHIFT, has for the lookup PC in front of BEHIND. If that says EMPTY,
 * NOT_FOUND or more: nothing; or the PC's region has no number. Most narrow regions are at one of their first two
 * places: the CPU cannot foresee which, and need not wait for that before it has the entry. */
INLINE struct found seek(struct trace *v, const uint32_t *cache, uint64_t mix, unsigned shift, unsigned bits,
                         uint64_t behind)
{
    struct found found = found_of(NOT_FOUND);
    uint64_t place, i;
    uint32_t tag;

    if (LIKELY(is_in_region(&v->first, v->wide, behind))) {
        place = place_of(behind, mix, 0, 0, shift);
        tag = tag_of(behind, 0, v->first.tag);
    } else if (is_in_region(&v->second, v->wide, behind)) {
        place = place_of(behind, mix, 0, v->second.turn, shift);
        tag = tag_of(behind, 0, v->second.tag);
    } else {
        const uint64_t upper = behind >> bits, turn = turn_of(upper);
        unsigned number = first_number(turn);

        number ^= region_at(v->fast, number) != upper + 1;
        if (UNLIKELY(region_at(v->fast, number) != upper + 1)) {
            number = find_number(v->fast, upper);
            if (number == SFU_FAST_REGIONS)
                return found;
        }
        place = place_of(behind, mix, NARROWER, turn, shift);
        tag = tag_of(behind, NARROWER, (uint32_t)number << SAYS_BITS);
    }
    found = found_at(cache, &place, tag);
    if (LIKELY(has_short(found)) || has_other(found))
        return found;
    if (UNLIKELY(is_short(found.says))) /* it was written between the loads */
        return found_of(found.says);
    for (i = 1; i < WAYS; i++) {
        found = found_of(says_in(__atomic_load_n(&cache[place ^ i], __ATOMIC_ACQUIRE), tag));
        if (UNLIKELY(found.says >= EMPTY))
            continue;
        if (UNLIKELY(moves(v)))
            exchange(v->fast, place, place ^ i);
        break;
    }
    return found;
}

/* Whether there is an empty place for the lookup PC in front of BEHIND; or its region is new, and may get a number. */
INLINE bool has_place(struct trace *v, uint64_t behind)
{
    const uint32_t *cache = v->cache;
    struct region narrow;
    const struct region *region = region_of(v, behind, &narrow);
    uint64_t place, i = 0;

    if (region == NULL)
        return __atomic_load_n(&v->fast->num_regions, __ATOMIC_RELAXED) < MOST_REGIONS;
    place = place_of(behind, mix_of(v->shift), narrower(region), region->turn, v->shift);
    while (i < WAYS && !is_empty(__atomic_load_n(&cache[place ^ i], __ATOMIC_RELAXED)))
        i++;
    return i < WAYS;
}

/* The rule for the lookup PC in front of BEHIND, which has none in the cache. Keeps it, perhaps. DONE: how many frames
 * there were before, by the cache or not. If too many missed that found no empty place, or were not kept, that is the
 * end of the cache for this trace. */
OUT_OF_LINE const struct sfu_fast_rule *find(struct trace *v, uint64_t behind, size_t done,
                                             struct sfu_fast_rule *own)
{
    const struct sfu_fast_rule *rule;
    bool place;

    place = has_place(v, behind);
    if (!place)
        v->misses++;
    if (v->misses > FREE_MISSES + (done + 1 - v->misses)) {
        v->cache = NULL;
        return &by_core;
    }
    rule = look_up(v, behind - 1, own);
    if ((place || v->misses % TURNS == 1) && !keep(v, behind, rule) && place)
        v->misses++;
    return rule;
}

/* ---- Frames ---------------------------------------------------------------------------------------------------- */

/* RA without its PAC, as the core does it. */
INLINE uint64_t strip(const struct sfu_target *t, uint64_t ra)
{
    uint64_t bit55 = (uint64_t)1 << 55, mask = t->pac_mask != 0 ? t->pac_mask : ~(((uint64_t)1 << 48) - 1);

    return ra & bit55 ? ra | mask : ra & ~mask;
}

/* Where a trace is. A place on the stack is where its byte is in this program's memory. */
struct place {
    uint64_t behind;      /* 1 above the lookup PC (sfu_lookup_pc): a return address itself */
    uint64_t sp;          /* the place of SP, which is not above the high end */
    uint64_t fp;          /* an address, or any number */
    uint64_t exact;       /* the place of SP where the PC is exact; elsewhere another number */
    uint64_t bottom, top; /* the places of the stack's low end and of its high end */
    uint64_t low, span;   /* the address of its low end; its size */
};

/* Whether the PC is exact. */
INLINE bool is_exact(const struct place *at)
{
    return at->sp == at->exact;
}

/* The word at PLACE on the stack. Nearly all are aligned; for RISC-V, compilers read others byte by byte. */
INLINE uint64_t word_at(uint64_t place)
{
    const uint8_t *p = (const uint8_t *)(uintptr_t)place;

    return IS_RISCV64 && LIKELY(place % 8 == 0) ? load8((const uint8_t *)__builtin_assume_aligned(p, 8)) : load8(p);
}

/* An OFFSET, to be added to a place on the stack. */
INLINE uint64_t extend(int32_t offset)
{
    return (uint64_t)(int64_t)offset;
}

/* Moves AT by a simple rule that is HOW: CFA is the place of its CFA, which is on the stack; RA and FP are what the
 * caller's frame has of them. Stores the PC at OUT. */
INLINE void move_on(const struct trace *v, uint64_t cfa, uint64_t ra, uint64_t fp, uint32_t how, struct place *at,
                    uint64_t *out)
{
    at->behind = ra;
    at->fp = fp;
    if (IS_AARCH64 && how & SIGNED)
        at->behind = strip(v->walk.target, at->behind);
    at->sp = cfa - BELOW;
    *out = at->behind;
}

/* The caller's FP by a rule of KIND, whose places are counted from BASE; FP is the frame's. The CPU often foresees
 * wrong whether a frame has saved FP: so on amd64 a word is read for each, which is the RA if FP is not saved. */
INLINE uint64_t fp_of(const struct sfu_fast_kind *kind, uint64_t base, uint64_t fp)
{
    const uint64_t saved = IS_AMD64 ? anew(word_at(base + extend(kind->fp))) : 0;

    if (IS_AMD64)
        return kind->how & FP_LOADED ? saved : fp;
    return kind->how & FP_LOADED ? word_at(base + extend(kind->fp)) : fp;
}

/* The place of the return address, by a rule of KIND whose CFA is UNITS of SIZE bytes above SP. BASE: what the kind's
 * places are counted from. */
INLINE uint64_t place_of_ra(const struct sfu_fast_kind *kind, uint64_t base, uint64_t units, unsigned size,
                            uint64_t sp)
{
    return LINK ? base + extend(kind->ra) : sp + anew(units) * size + (uint64_t)FIXED_RA;
}

/* Moves AT, and stores the PC at OUT, as move_on does, by a rule of KIND whose CFA is UNITS of SIZE bytes above SP, at
 * most LARGEST_CFA. Returns false, and changes nothing, if the core must do it. SP is far below 2^64 (suits). */
INLINE bool apply_kind(const struct trace *v, const struct sfu_fast_kind *kind, uint64_t units, unsigned size,
                       struct place *at, uint64_t *out)
{
    const uint64_t cfa = at->sp + units * size, base = is_at_sp(kind->how) ? at->sp : cfa;
    uint64_t ra;

    if (UNLIKELY(cfa > at->top))
        return false;
    ra = word_at(place_of_ra(kind, base, units, size, at->sp)); /* first: the CPU waits for it */
    move_on(v, cfa, ra, fp_of(kind, base, at->fp), kind->how, at, out);
    return true;
}

/* The same by RULE, a simple one whose base, SP or FP, is at BASE on the stack. Returns false, and changes nothing, if
 * the core must do it. */
INLINE bool apply_from(const struct trace *v, const struct sfu_fast_rule *rule, uint64_t base, struct place *at,
                       uint64_t *out)
{
    const uint64_t cfa = base + extend(rule->cfa);
    uint64_t ra;

    if (UNLIKELY(extend(rule->cfa) > at->top - base))
        return false;
    ra = word_at(cfa + (LINK ? extend(rule->ra) : (uint64_t)FIXED_RA));
    move_on(v, cfa, ra, rule->how & FP_LOADED ? word_at(cfa + extend(rule->fp)) : at->fp, rule->how, at, out);
    return true;
}

/* The same by any simple RULE whose base is FP. */
INLINE bool apply_to_fp(const struct trace *v, const struct sfu_fast_rule *rule, struct place *at, uint64_t *out)
{
    const uint64_t base = at->fp - at->low;

    return base <= at->span && at->bottom + base >= at->sp && apply_from(v, rule, at->bottom + base, at, out);
}

/* Moves AT by the rule of a frame record, whose CFA is ABOVE bytes above it, at least 16 and at most 8 * SHORT_WORDS.
 * Stores the PC at OUT. Returns false, and changes nothing, if the core must do it. The place of the next record needs
 * nothing but this record: from frame to frame the CPU waits for one load. */
INLINE bool apply_record(struct place *at, uint64_t above, uint64_t *out)
{
    const uint64_t from = at->fp + extend(RECORD_AT) - at->low, record = at->bottom + from;

    if (UNLIKELY(from > at->span || record < at->sp || above > at->top - record))
        return false;
    at->fp = word_at(record);
    at->behind = word_at(record + 8);
    at->sp = record + above;
    *out = at->behind;
    return true;
}

/* What the value whose FROM is at SHIFT in HOW counts from: CFA, SP or FP. */
INLINE uint64_t base_of(uint32_t how, unsigned shift, uint64_t cfa, uint64_t sp, uint64_t fp)
{
    return !(how & (uint32_t)FROM << shift) ? cfa : how & (uint32_t)FROM_FP << shift ? fp : sp;
}

/*
 * Where a rule is not simple, addresses of the stack are taken from its low end. They are below 2^63, so that no sum
 * with an offset wraps.
 */

/* SP, from the low end. */
INLINE uint64_t sp_of(const struct place *at)
{
    return at->sp - at->bottom;
}

/* The word at WHERE from the low end. */
INLINE uint64_t word_from(const struct place *at, uint64_t where)
{
    return word_at(at->bottom + where);
}

/* Whether all of the word at WHERE from the low end is on the stack, and not below SP: it may be dead there. */
INLINE bool is_on_stack(const struct place *at, uint64_t where)
{
    return where >= sp_of(at) && where <= at->span - 8;
}

/* Applies any RULE, which is HOW, as apply_from does. */
INLINE bool apply(struct trace *v, const struct sfu_fast_rule *rule, uint32_t how, struct place *at, uint64_t *out)
{
    struct sfu_frame *frame = &v->walk.frame;
    const bool stays = LINK && is_exact(at) && !(how & TRAP), kept = LINK && how & RA_LEFT;
    const uint64_t sp = sp_of(at), fp_base = at->fp - at->low;
    uint64_t cfa, ra, fp;

    if (how & NO_RULE || (how & BY_FP && fp_base > at->span))
        return false;
    cfa = (how & FROM_FP ? fp_base : sp) + extend(rule->cfa);
    if (how & CFA_LOADED) {
        if (!is_on_stack(at, cfa))
            return false;
        cfa = word_from(at, cfa) - at->low;
    }
    if (cfa > at->span || (stays ? cfa < sp + BELOW : cfa <= sp + BELOW))
        return false;
    ra = base_of(how, RA_FROM, cfa, sp, fp_base) + extend(rule->ra);
    if (kept ? !stays || !frame->regs.has_ra : !is_on_stack(at, ra))
        return false;
    if (how & FP_LOADED) {
        fp = base_of(how, FP_FROM, cfa, sp, fp_base) + extend(rule->fp);
        if (!is_on_stack(at, fp))
            return false;
        at->fp = word_from(at, fp);
    }
    ra = kept ? frame->regs.ra : word_from(at, ra);
    if (IS_AARCH64 && how & SIGNED)
        ra = strip(v->walk.target, ra);
    at->behind = *out = ra;
    if (stays) /* otherwise SP leaves at->exact behind */
        at->exact = UINT64_MAX;
    if (how & TRAP) {
        frame->saved = (sfu_addr)(sp + at->low);
        frame->interrupted = true;
        frame->regs.has_ra = false;
        at->behind++;
        at->exact = at->bottom + cfa - BELOW;
    }
    at->sp = at->bottom + cfa - BELOW;
    return true;
}

/* The stack that the walk is on, or the part of it that has been read. */
INLINE const struct sfu_stack *stack_of(const struct trace *v)
{
    return LIKELY(v->window.high == 0) ? &v->walk.stack : &v->window;
}

/* Sets AT to where the walk is. SP is on the stack. */
INLINE void depart(const struct trace *v, struct place *at)
{
    const struct sfu_registers *regs = &v->walk.frame.regs;
    const struct sfu_stack *stack = stack_of(v);
    const bool exact = regs->pc_kind == SFU_PC_EXACT;

    at->behind = exact ? regs->pc + 1 : regs->pc;
    at->low = stack->low;
    at->span = stack->high - stack->low;
    at->bottom = (uintptr_t)stack->bytes;
    at->top = at->bottom + at->span;
    at->sp = at->bottom + (regs->sp - at->low);
    at->fp = regs->fp;
    at->exact = exact ? at->sp : UINT64_MAX;
}

/* Sets the walk's frame to AT, which is not where it began. */
INLINE void arrive(struct sfu_frame *frame, const struct place *at)
{
    const bool exact = is_exact(at);

    frame->regs.pc = (sfu_addr)(exact ? at->behind - 1 : at->behind);
    frame->regs.sp = (sfu_addr)(sp_of(at) + at->low);
    frame->regs.fp = (sfu_addr)at->fp;
    frame->regs.ra = 0;
    frame->regs.has_ra = false;
    frame->regs.pc_kind = exact ? SFU_PC_EXACT : SFU_PC_RETURN;
    if (!exact) {
        frame->saved = 0;
        frame->interrupted = false;
    }
}

/* Walks on by the short way as far as it leads, at most COUNT (at least 1) frames, and stores their PCs at OUT, which
 * moves on by STEP for each. SP is on the stack, which has a word at least. The walk arrives at the last of them.
 * Returns how many frames those were. If they are fewer, the trace's last rule is that of the last frame. CACHED: the
 * trace has a cache. */
INLINE size_t go(struct trace *v, size_t count, uint64_t *out, size_t step, bool cached)
{
    const uint32_t *const cache = v->cache;
    const unsigned shift = v->shift;
    const unsigned bits = cached ? narrow_bits(shift) : 0;
    const uint64_t mix = cached ? mix_of(shift) : 0;
    const struct sfu_fast_kind *const kinds = v->fast->kinds;
    /* The rule of most functions that align their stack, in constants: for those the CPU need not wait. */
    const struct sfu_fast_rule aligned = {-8, FIXED_RA, 0, REALIGNED};
    struct place at;
    struct found found = found_of(NOT_FOUND);
    size_t left = count;

    depart(v, &at);
    do {
        const struct sfu_fast_rule *rule = NULL;
        bool applied;

        if (cached)
            found = seek(v, cache, mix, shift, bits, at.behind);
        /* the CPU need not wait for what the tag says of the entry */
        if (cached && LIKELY(has_short(found))) {
            applied = apply_kind(v, &kinds[kind_of(found.besides)], found.words, 8, &at, out);
        } else if (cached && is_large(found.says)) {
            applied = apply_kind(v, &kinds[large_kind_of(found.says)], large_cfa_of(found.says), 1, &at, out);
        } else if (cached && is_of_record(found.says)) {
            applied = apply_record(&at, cfa_of(found.says), out);
        } else {
            rule = !cached                      ? look_up(v, at.behind - 1, &v->own)
                   : LIKELY(found.says < EMPTY) ? &v->fast->rules[found.says - NUMBERED]
                                                : find(v, at.behind, count - left, &v->own);
            if (LIKELY(!(rule->how & (COMPLEX | FROM_FP))))
                applied = apply_from(v, rule, at.sp, &at, out);
            else if (!(rule->how & COMPLEX))
                applied = apply_to_fp(v, rule, &at, out);
            else if (cached && !LINK && rule->how == REALIGNED && rule->cfa == aligned.cfa &&
                     rule->ra == aligned.ra && rule->fp == aligned.fp)
                applied = apply(v, &aligned, REALIGNED, &at, out);
            else if (rule->how == REALIGNED)
                applied = apply(v, rule, REALIGNED, &at, out);
            else
                applied = apply(v, rule, rule->how, &at, out);
        }
        if (UNLIKELY(!applied)) {
            v->last = rule != NULL ? rule : rule_of(v->fast, found.says, &v->own);
            break;
        }
        out += step;
    } while (--left > 0);
    if (left < count)
        arrive(&v->walk.frame, &at);
    return count - left;
}

/* The same for a trace with a cache, and for one without. Each has registers enough for its loop. */
OUT_OF_LINE size_t go_by_cache(struct trace *v, size_t count, uint64_t *out, size_t step)
{
    v->misses = 0;
    return go(v, count, out, step, true);
}

OUT_OF_LINE size_t go_by_sections(struct trace *v, size_t count, uint64_t *out, size_t step)
{
    return go(v, count, out, step, false);
}

/* Whether the short way may begin on STACK, with SP: so that what go adds up is below 2^64. */
INLINE bool suits(const struct sfu_stack *stack, uint64_t sp)
{
    const uint64_t bytes = (uintptr_t)stack->bytes, span = stack->high - stack->low;

    return bytes != 0 && sp >= stack->low && sp <= stack->high && span >= 8 && span <= UINT64_MAX / 2 &&
           bytes <= UINT64_MAX - LARGEST_CFA - span;
}

/* Reads the walk's stack, unless it is mapped, from its SP on, at most SIZE bytes, into MEMORY. What lies there, lies
 * on the stack. */
OUT_OF_LINE void read_window(struct trace *v, void *memory, size_t size)
{
    const struct sfu_target *t = v->walk.target;
    const struct sfu_stack *stack = &v->walk.stack;
    const sfu_addr sp = v->walk.frame.regs.sp;

    v->window.high = 0;
    if (stack->bytes != NULL || t->read == NULL || sp < stack->low || sp >= stack->high)
        return;
    if (size > stack->high - sp)
        size = (size_t)(stack->high - sp);
    if (t->read(t->ctx, sp, memory, size) != 0)
        return;
    v->window.bytes = memory;
    v->window.low = sp;
    v->window.high = sp + (sfu_addr)size;
}

/* Walks on by the short way, at most COUNT (at least 1) frames, and stores their PCs as go does. Leaves the walk as the
 * core does. Returns how many frames those were. If they are fewer, the trace's last rule is that of the last frame, or
 * none. If it knows what the core would return next, *CODE becomes that. */
INLINE size_t go_on(struct trace *v, size_t count, uint64_t *out, size_t step, void *window, size_t bytes,
                    int *code)
{
    const struct sfu_target *t = v->walk.target;
    struct sfu_frame *frame = &v->walk.frame;
    const uint32_t limit = t->max_frames != 0 ? t->max_frames : SFU_MAX_FRAMES;
    size_t done = 0;

    v->last = &by_core;
    if (v->images == NULL || frame->depth + 1 >= limit)
        return 0;
    if (bytes > 0)
        read_window(v, window, bytes);
    if (!suits(bytes > 0 ? stack_of(v) : &v->walk.stack, frame->regs.sp))
        return 0;
    if (count > limit - 1 - frame->depth)
        count = limit - 1 - frame->depth;
    if (v->cache != NULL)
        done = go_by_cache(v, count, out, step);
    if (done < count && v->cache == NULL)
        done += go_by_sections(v, count - done, out + step * done, step);
    if (done > 0) {
        frame->depth += (uint32_t)done;
        frame->switched = frame->replaced = false;
        frame->guess = SFU_GUESS_NONE;
        v->walk.stayed = false; /* asked only where the PC is exact; a trap frame's SP has grown */
    }
    if (done == count)
        return done;
    if (v->last->how & OUTERMOST)
        *code = is_in(&t->final, sfu_lookup_pc(&frame->regs)) ? SFU_END : SFU_E_NOT_FINAL;
    else if (v->last->how & (NO_FDE | NOT_CODE) && t->trap_hook == NULL && !t->frame_pointers &&
             frame->regs.pc_kind == SFU_PC_RETURN)
        *code = v->last->how & NO_FDE ? SFU_E_NO_FDE : SFU_E_NOT_CODE;
    return done;
}

/* The control word (3.2) of a rule whose value counts from what HOW says at SHIFT. */
INLINE uint32_t control_of(uint32_t how, unsigned shift, bool loaded)
{
    const uint32_t from = how >> shift & FROM;

    return (from == FROM_CFA ? 0 : (uint32_t)(from == FROM_SP ? SP : FP) << RULE_NUMBER | RULE_REGISTER) |
           (loaded ? RULE_DEREFERENCE : 0);
}

/* Sets *CALLER to the caller's registers by the last rule, which has the caller's SP, its PC and perhaps its FP on the
 * frame's stack, at places that count from the frame's registers: as a trap frame has them, wherever its caller's stack
 * is. Returns false, and sets nothing, if the rule is no such one. */
INLINE bool find_saved(const struct trace *v, struct sfu_registers *caller)
{
    const struct sfu_fast_rule *rule = v->last;
    const uint32_t how = rule->how;
    const bool fp_loaded = how & FP_LOADED;
    uint64_t fp_base, sp, ra, fp;
    struct place at;

    depart(v, &at);
    fp_base = at.fp - at.low;
    if (!(how & CFA_LOADED) || how & SIGNED || !(how & FROM << RA_FROM) ||
        (fp_loaded && !(how & FROM << FP_FROM)) || (how & BY_FP && fp_base > at.span))
        return false;
    sp = base_of(how, 0, 0, sp_of(&at), fp_base) + extend(rule->cfa);
    ra = base_of(how, RA_FROM, 0, sp_of(&at), fp_base) + extend(rule->ra);
    fp = fp_loaded ? base_of(how, FP_FROM, 0, sp_of(&at), fp_base) + extend(rule->fp) : sp;
    if (!is_on_stack(&at, sp) || !is_on_stack(&at, ra) || !is_on_stack(&at, fp) || word_from(&at, sp) <= BELOW)
        return false;
    caller->sp = (sfu_addr)(word_from(&at, sp) - BELOW);
    caller->pc = (sfu_addr)word_from(&at, ra);
    caller->fp = (sfu_addr)(fp_loaded ? word_from(&at, fp) : at.fp);
    caller->ra = 0;
    caller->has_ra = false;
    caller->pc_kind = how & TRAP ? SFU_PC_EXACT : SFU_PC_RETURN;
    return true;
}

/* A step by the core and the last rule, which is one: the core need not find its row. */
OUT_OF_LINE int apply_by_core(struct trace *v)
{
    const struct sfu_fast_rule *rule = v->last;
    const uint32_t how = rule->how;
    struct sfu_registers caller;
    struct sfu_row row;

    if (find_saved(v, &caller))
        return sfu_walk_to(&v->walk, &caller);
    row.start = row.function = row.length = 0; /* a walk does not ask for them */
    row.cfa.offset = rule->cfa;
    row.cfa.control = control_of(how, 0, how & CFA_LOADED);
    row.ra.offset = rule->ra; /* 0 where it is left; so is FP's where that is not loaded */
    row.ra.control =
        how & RA_LEFT ? (uint32_t)RA_NUMBER << RULE_NUMBER | RULE_REGISTER : control_of(how, RA_FROM, true);
    row.fp.offset = rule->fp;
    row.fp.control = how & FP_LOADED ? control_of(how, FP_FROM, true) : (uint32_t)FP << RULE_NUMBER | RULE_REGISTER;
    row.abi = NATIVE;
    row.kind = SFU_ROW_RULES;
    row.trap_frame = how & TRAP;
    row.signed_ra = how & SIGNED;
    return sfu_apply(&v->walk, &row);
}

/* A step by the core, where the short way ended: onto another stack, say, or where the stack ends. Where the core has
 * to find the row, which takes most of the stack, nothing of apply_by_core is on it. */
INLINE int step_by_core(struct trace *v)
{
    return v->last->how & NO_RULE ? sfu_walk_step(&v->walk) : apply_by_core(v);
}

/* ---- Images ---------------------------------------------------------------------------------------------------- */

/* Makes the index of a common IMAGE at INDEX, in blocks of 1 << SHIFT bytes, which is its first word. The entry of a
 * block is the last function that starts at or below its first address. The first block begins at low, and has one. One
 * more entry stands at the end: the last function. Returns where the index ends. */
OUT_OF_LINE uint32_t *make_index(struct sfu_fast_image *image, uint32_t *index, unsigned shift)
{
    const uint32_t last = image->section->num_fdes - 1;
    uint64_t i;
    uint32_t n = 0;

    image->index = index;
    *index++ = shift;
    for (i = 0; i <= image->span >> shift; i++) {
        int64_t where = (int64_t)(image->low + (i << shift) - image->origin);

        while (n < last && start_at(image, (n + (size_t)1) * FDE_SIZE, image->relative) <= where)
            n++;
        *index++ = n;
    }
    *index++ = last;
    return index;
}

/* Makes ROWS all rows of function FDE of IMAGE. Returns the size of their starts. */
INLINE unsigned rows_of(const struct sfu_fast_image *image, uint32_t fde, struct rows *rows)
{
    const uint8_t *p = attributes_of(image, fde * (size_t)FDE_SIZE);

    rows->p = p + ATTRIBUTES_SIZE;
    rows->count = load2(p);
    return 1u << (p[2] & INFO_ADDRESS);
}

/* How many checkpoints COUNT rows have. */
INLINE uint32_t checkpoints_of(uint32_t count)
{
    return count > LONG ? (count - 1) / STRIDE : 0;
}

/* How many numbers the index of long functions takes. Sets *COUNT to how many functions those are. */
static size_t long_size(const struct sfu_fast_image *image, uint32_t *count)
{
    struct rows rows;
    size_t size = 3;
    uint32_t fde;

    *count = 0;
    for (fde = 0; fde < image->section->num_fdes; fde++) {
        (void)rows_of(image, fde, &rows);
        *count += rows.count > LONG;
        size += (rows.count > LONG ? 2 : 0) + 2 * (size_t)checkpoints_of(rows.count);
    }
    return size;
}

/* Makes that index, of COUNT functions, at INDEX. */
static void make_long_index(struct sfu_fast_image *image, uint32_t *index, uint32_t count)
{
    uint32_t *entry = index + 1, *checkpoint = entry + 2 * ((size_t)count + 1);
    struct rows rows;
    uint32_t fde, i;

    index[0] = count;
    for (fde = 0; fde < image->section->num_fdes; fde++) {
        const unsigned start_size = rows_of(image, fde, &rows);
        const uint8_t *p;

        if (rows.count <= LONG)
            continue;
        *entry++ = fde;
        *entry++ = (uint32_t)((checkpoint - index) / 2);
        p = rows.p;
        for (i = 1; i <= checkpoints_of(rows.count) * STRIDE; i++) {
            p += start_size + 1 + words_size[p[start_size]];
            if (i % STRIDE == 0) {
                *checkpoint++ = load(p, start_size);
                *checkpoint++ = (uint32_t)(p - rows.p);
            }
        }
    }
    *entry++ = 0;
    *entry = (uint32_t)((checkpoint - index) / 2);
    image->long_index = count > 0 ? index : NULL;
}

/* Whether the code of IMAGE ascends from its origin on as signed numbers, too. */
INLINE bool ascends(const struct sfu_fast_image *image)
{
    uint64_t first = image->low - image->origin;

    return (int64_t)first <= (int64_t)(first + image->span);
}

/* Decides whether image->section may take the short way: sfu_check accepts it, and its functions ascend from the
 * image's origin on as signed numbers, too. Finds where its code is, as far as that is in its text, if it is mapped and
 * sfu_check accepts it. Any other section may have any PC of its text. */
static void survey(struct sfu_fast_image *image)
{
    struct sfu_section *s = image->section;
    const struct sfu_range text = s->text;
    struct sfu_range code;
    unsigned shift = 0;
    bool known;

    image->low = text.high > text.low ? text.low : 0;
    image->span = text.high > text.low ? text.high - 1 - text.low : UINT64_MAX;
    image->index = image->long_index = NULL;
    image->common = false;
    if (s->bytes == NULL || sfu_check(s, NULL) != SFU_OK)
        return;
    known = sfu_find_text(s) == SFU_OK;
    code = s->text;
    s->text = text;
    if (text.high != 0 && code.high > text.high)
        code.high = text.high;
    if (text.high != 0 && code.low < text.low)
        code.low = text.low;
    if (!known || code.low >= code.high)
        return;
    image->low = code.low;
    image->span = code.high - 1 - code.low;
    image->fdes = s->bytes + s->fdes;
    image->rows = s->bytes + s->rows;
    image->relative = s->flags & FLAG_FIELD_RELATIVE ? UINT64_MAX : 0;
    image->origin = s->addr + (s->fdes & image->relative);
    image->common = s->version == 3 && (unsigned)s->abi == NATIVE && s->big == BIG && s->flags & FLAG_SORTED &&
                    s->ra.offset == FIXED_RA && s->fp.offset == 0 && image->span <= UINT64_MAX / 2 &&
                    ascends(image);
    if (!image->common)
        return;
    while (image->span >> shift >= SFU_FAST_BLOCKS)
        shift++;
    (void)make_index(image, image->coarse, shift);
}

/* The size of blocks that an index of IMAGE has, as a shift: that of the coarse one if its blocks are smaller. */
INLINE unsigned block_shift(const struct sfu_fast_image *image)
{
    return image->coarse[0] < (uint32_t)BLOCK_SHIFT ? image->coarse[0] : (unsigned)BLOCK_SHIFT;
}

/* How many bytes the index of functions takes, of an IMAGE that can have one. */
INLINE size_t index_size(const struct sfu_fast_image *image)
{
    return ((size_t)(image->span >> block_shift(image)) + 3) * sizeof(uint32_t);
}

size_t sfu_fast_index_size(const struct sfu_fast_image *image)
{
    uint32_t count;

    return image->common && image->span >> BLOCK_SHIFT < UINT32_MAX / 8
               ? index_size(image) + long_size(image, &count) * sizeof(uint32_t)
               : 0;
}

bool sfu_fast_set_index(struct sfu_fast_image *image, void *memory, size_t bytes)
{
    size_t size = sfu_fast_index_size(image);
    uint32_t count;

    if (size == 0 || bytes < size)
        return false;
    (void)long_size(image, &count);
    make_long_index(image, make_index(image, (uint32_t *)memory, block_shift(image)), count);
    return true;
}

void sfu_fast_set_cache(struct sfu_fast *fast, void *memory, size_t bytes)
{
    size_t off = (size_t)(0 - (uintptr_t)memory) % sizeof(uint32_t), entries = MIN_ENTRIES, i;

    fast->cache = NULL;
    if (bytes < off || (bytes - off) / sizeof(uint32_t) < entries)
        return;
    while (entries <= (bytes - off) / sizeof(uint32_t) / 2)
        entries *= 2;
    fast->cache = (uint32_t *)(void *)((uint8_t *)memory + off);
    fast->mask = entries - 1;
    fast->reach = reach_of(fast->mask);
    for (fast->shift = 64; entries >> (64 - fast->shift) > 1; fast->shift--) {
    }
    for (i = 0; i < entries; i++)
        fast->cache[i] = EMPTY;
    for (i = 0; i < SFU_FAST_RULES; i++)
        fast->rules[i].how = 0;
    for (i = 0; i < ALL_KINDS; i++)
        fast->kinds[i].how = 0;
    for (i = 0; i < SFU_FAST_REGIONS; i++)
        fast->regions[i] = 0;
    fast->wide[0] = fast->wide[1] = 0;
    fast->num_regions = 0;
    fast->outside_count = 0;
    fast->cleared = fast->changes;
}

/* ---- Changes --------------------------------------------------------------------------------------------------- */

struct sfu_section *sfu_fast_sections(const struct sfu_fast *fast)
{
    return __atomic_load_n(&fast->sections, __ATOMIC_ACQUIRE);
}

/* A change is done, and has made the entries of the PCs from LOW to LAST wrong; LOW > LAST: of none. Nothing in the
 * cache counts until they are taken out. That is left to a trace if somebody writes to the cache. */
static void count_change(struct sfu_fast *fast, uint64_t low, uint64_t last)
{
    const bool first = __atomic_load_n(&fast->cleared, __ATOMIC_ACQUIRE) == fast->changes; /* or others wait, too */

    if (first || low < fast->gone_low)
        __atomic_store_n(&fast->gone_low, low, __ATOMIC_RELAXED);
    if (first || last > fast->gone_last)
        __atomic_store_n(&fast->gone_last, last, __ATOMIC_RELAXED);
    __atomic_store_n(&fast->changes, fast->changes + 1, __ATOMIC_RELEASE);
    renew(fast);
}

/* Whether a PC may be in both. */
INLINE bool overlap(const struct sfu_fast_image *one, const struct sfu_fast_image *other)
{
    return one->low - other->low <= other->span || other->low - one->low <= one->span;
}

/* Whether the text of IMAGE, if it is known, reaches as far as OTHER, its code or its text. */
static bool reaches(const struct sfu_fast_image *image, const struct sfu_fast_image *other)
{
    const struct sfu_range text = image->section->text, others = other->section->text;

    return text.high != 0 && ((text.low <= other->low + other->span && other->low < text.high) ||
                              (others.high != 0 && text.low < others.high && others.low < text.high));
}

/* Each alteration of the order is between two of these. */
static void begin_order(struct sfu_fast *fast)
{
    __atomic_store_n(&fast->order_changes, fast->order_changes + 1, __ATOMIC_RELAXED);
}

static void end_order(struct sfu_fast *fast)
{
    __atomic_store_n(&fast->order_changes, fast->order_changes + 1, __ATOMIC_RELEASE);
}

static void set_ordered(const struct sfu_fast *fast, size_t i, struct sfu_fast_image *image)
{
    __atomic_store_n(&fast->order[i], image, __ATOMIC_RELEASE);
}

/* Where IMAGE is in the order, or belongs if it is not there: how many have a lower low end. */
static size_t place_in_order(const struct sfu_fast *fast, const struct sfu_fast_image *image)
{
    size_t low = 0, high = fast->ordered;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (fast->order[middle]->low < image->low)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* There is no order from now on: images may have the same PC, or there is no room. */
static void lose_order(struct sfu_fast *fast)
{
    begin_order(fast);
    __atomic_store_n(&fast->ordered, 0, __ATOMIC_RELEASE);
    fast->order_room = 0;
    end_order(fast);
}

/* Puts IMAGE into the order. Each other is there all the time: from the end on they move by one. */
static void put_in_order(struct sfu_fast *fast, struct sfu_fast_image *image)
{
    const size_t at = place_in_order(fast, image), count = fast->ordered;
    const struct sfu_fast_image *below = at > 0 ? fast->order[at - 1] : NULL,
                                *above = at < count ? fast->order[at] : NULL;
    size_t i;

    if ((below != NULL && (reaches(image, below) || reaches(below, image))) ||
        (above != NULL && (reaches(image, above) || reaches(above, image))))
        __atomic_store_n(&fast->texts_mixed, true, __ATOMIC_RELAXED);
    begin_order(fast);
    set_ordered(fast, count, count > at ? fast->order[count - 1] : image);
    __atomic_store_n(&fast->ordered, count + 1, __ATOMIC_RELEASE);
    for (i = count; i > at; i--)
        set_ordered(fast, i, fast->order[i - 1]);
    set_ordered(fast, at, image);
    end_order(fast);
}

/* Takes IMAGE out of the order, which has it. */
static void take_from_order(struct sfu_fast *fast, const struct sfu_fast_image *image)
{
    size_t i;

    begin_order(fast);
    for (i = place_in_order(fast, image); i + 1 < fast->ordered; i++)
        set_ordered(fast, i, fast->order[i + 1]);
    __atomic_store_n(&fast->ordered, fast->ordered - 1, __ATOMIC_RELEASE);
    end_order(fast);
}

/* Whether there is an order, of all images. */
static bool is_ordered(const struct sfu_fast *fast)
{
    return fast->order_room > 0;
}

/* Whether a PC may be in IMAGE and in one of those that are there: in order, only its neighbours can have it. */
static bool overlaps_any(const struct sfu_fast *fast, const struct sfu_fast_image *image)
{
    const struct sfu_fast_image *other = image->next;
    size_t at;

    if (!is_ordered(fast)) {
        while (other != NULL && !overlap(image, other))
            other = other->next;
        return other != NULL;
    }
    at = place_in_order(fast, image);
    return (at > 0 && overlap(image, fast->order[at - 1])) ||
           (at < fast->ordered && overlap(image, fast->order[at]));
}

/* Takes IMAGE, whose next ones are there, in. */
static void take_in(struct sfu_fast *fast, struct sfu_fast_image *image)
{
    survey(image);
    if (!fast->overlap && overlaps_any(fast, image))
        __atomic_store_n(&fast->overlap, true, __ATOMIC_RELAXED);
    if (image->section->text.high == 0)
        __atomic_store_n(&fast->anywhere, fast->anywhere + 1, __ATOMIC_RELAXED);
    if (is_ordered(fast) && (fast->overlap || fast->ordered == fast->order_room))
        lose_order(fast);
    if (is_ordered(fast))
        put_in_order(fast, image);
}

int sfu_fast_add(struct sfu_fast *fast, struct sfu_fast_image *images, size_t room, struct sfu_section *list)
{
    struct sfu_section *s, *last = list;
    size_t count = 0, i;

    if (list == NULL)
        return SFU_E_NO_SECTION;
    if (fast->sections != NULL && fast->sections->abi != list->abi)
        return SFU_E_ABI;
    for (s = list; s != NULL; s = s->next) {
        if (count == room)
            return SFU_E_CONCATENATED;
        images[count++].section = last = s;
    }
    last->next = fast->sections;
    images[count - 1].next = fast->images;
    for (i = count; i > 0; i--) {
        if (i < count)
            images[i - 1].next = &images[i];
        take_in(fast, &images[i - 1]);
    }
    __atomic_store_n(&fast->images, images, __ATOMIC_RELEASE);
    __atomic_store_n(&fast->sections, list, __ATOMIC_RELEASE);
    count_change(fast, fast->overlap ? 0 : UINT64_MAX, fast->overlap ? UINT64_MAX : 0);
    return SFU_OK;
}

/* The loop ends: no image is in the list twice. What is taken out still leads to the rest, for traces that are there. A
 * link is read by traces: only images and sections that were there before lie behind it, which they know. */
bool sfu_fast_remove(struct sfu_fast *fast, struct sfu_fast_image *images, size_t room)
{
    struct sfu_fast_image *image, **before = &fast->images;
    struct sfu_section **link = &fast->sections;
    uint64_t low = UINT64_MAX, last = 0;
    bool removed = false;

    for (image = fast->images; image != NULL; image = image->next) {
        if (image >= images && image < images + room) {
            __atomic_store_n(link, image->section->next, __ATOMIC_RELEASE);
            __atomic_store_n(before, image->next, __ATOMIC_RELEASE);
            if (is_ordered(fast))
                take_from_order(fast, image);
            if (image->section->text.high == 0)
                __atomic_store_n(&fast->anywhere, fast->anywhere - 1, __ATOMIC_RELAXED);
            low = image->low < low ? image->low : low;
            last = image->low + image->span > last ? image->low + image->span : last;
            removed = true;
        } else {
            before = &image->next;
            link = &image->section->next;
        }
    }
    if (removed)
        count_change(fast, fast->overlap ? 0 : low, fast->overlap ? UINT64_MAX : last);
    return removed;
}

void sfu_fast_set_order(struct sfu_fast *fast, void *memory, size_t bytes)
{
    const size_t off = (size_t)(0 - (uintptr_t)memory) % sizeof(struct sfu_fast_image *);
    struct sfu_fast_image *image;

    fast->ordered = fast->order_room = 0;
    fast->texts_mixed = false;
    if (bytes < off || fast->overlap)
        return;
    fast->order = (struct sfu_fast_image **)(void *)((uint8_t *)memory + off);
    fast->order_room = (bytes - off) / sizeof(struct sfu_fast_image *);
    for (image = fast->images; image != NULL && is_ordered(fast); image = image->next)
        if (fast->ordered == fast->order_room)
            lose_order(fast);
        else
            put_in_order(fast, image);
}

/* ---- Trace ----------------------------------------------------------------------------------------------------- */

/* Each pass gets at least a frame further, or to the end. Where a window ends, the next one may lead on. */
INLINE int take_trace(struct sfu_fast *fast, const struct sfu_target *target, const struct sfu_registers *top,
                      size_t skip, uint64_t *pcs, size_t capacity, size_t *count, void *window, size_t bytes)
{
    struct trace v;
    size_t stored = 0;
    int code = SFU_OK;

    sfu_walk_start(&v.walk, target, top);
    look(&v, fast);
    while (code == SFU_OK) {
        uint64_t skipped, *out = &skipped;
        size_t wanted = skip, step = 0, done;

        if (skip == 0) {
            if (stored == 0 && capacity > 0)
                pcs[stored++] = v.walk.frame.regs.pc;
            out = pcs + stored;
            wanted = capacity - stored;
            step = 1;
        }
        if (wanted == 0)
            break;
        done = go_on(&v, wanted, out, step, window, bytes, &code);
        if (done < wanted && code == SFU_OK && (done == 0 || bytes == 0 || v.window.high == 0)) {
            code = step_by_core(&v);
            if (code == SFU_OK)
                out[step * done++] = v.walk.frame.regs.pc;
        }
        if (skip > 0)
            skip -= done;
        else
            stored += done;
    }
    *count = stored;
    return code;
}

/* Each has code of its own: who has no stacks that a callback reads does not pay for them. */
int sfu_fast_trace(struct sfu_fast *fast, const struct sfu_target *target, const struct sfu_registers *top,
                   size_t skip, uint64_t *pcs, size_t capacity, size_t *count)
{
    return take_trace(fast, target, top, skip, pcs, capacity, count, NULL, 0);
}

int sfu_fast_trace_remote(struct sfu_fast *fast, const struct sfu_target *target, const struct sfu_registers *top,
                          size_t skip, uint64_t *pcs, size_t capacity, size_t *count, void *window, size_t bytes)
{
    return take_trace(fast, target, top, skip, pcs, capacity, count, window, bytes);
}
