/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A frame takes the short way if its row is turned into a rule, and the rule can be applied to it. There are
 *   packed rules, which fit in a part of one word: CFA = SP + c or FP + c;  RA = *(CFA - k);  FP = *(CFA - f) or
 *     unchanged;  0 < k, f <= c. Nearly all rows are so. If the base, SP or FP, lies on the stack, at SP or above, no
 *     slot is below SP, so none is dead.
 *   wide rules, struct sfu_fast_rule: any offsets, from SP, FP or the CFA, and trap frames.
 * Addresses of the stack are taken from its low end here: they are below 2^63, so that no sum with an offset wraps.
 * Anything else in a section or in a frame is left to the core, and so are all errors.
 *
 * The text goes from bytes to rows, rules, the cache, frames, images and changes. Numbers in comments are sections of
 * "The SFrame format", version 3.
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
#else
#define NATIVE 0
#endif
#define IS_AARCH64 (NATIVE == SFU_AARCH64 || NATIVE == SFU_AARCH64_BIG)
#define IS_S390X   (NATIVE == SFU_S390X)
#define IS_AMD64   (!IS_AARCH64 && !IS_S390X)

/* At every optimisation, what each frame needs is a part of the loop, and what is rare is not. */
#define INLINE      static inline __attribute__((always_inline))
#define OUT_OF_LINE static __attribute__((noinline))
#define LIKELY(x)   __builtin_expect((x) ? 1 : 0, 1)
#define UNLIKELY(x) __builtin_expect((x) ? 1 : 0, 0)
#define KEEP_BRANCH __asm__ volatile("") /* instead of a conditional move, which waits for the load before it */

/* clang-format off */
enum {
    FLAG_SORTED = 0x1, FLAG_FIELD_RELATIVE = 0x4,       /* 2.1.3 */
    FDE_SIZE = 16, FDE_LENGTH = 8, FDE_ROWS = 12,       /* 2.3: its fields behind the start */
    ATTRIBUTES_SIZE = 5,
    INFO_ADDRESS = 0x03, INFO_MASK = 0x10, INFO_SIGNAL = 0x80, INFO2_TYPE = 0x1f, /* 2.3.3 */
    COMMON_INFO = 0x01, UNCOMMON_INFO = 0x92,           /* starts of 2 bytes; of 4, MASK, signal */
    UNCOMMON = BIG ? UNCOMMON_INFO << 8 | INFO2_TYPE : INFO2_TYPE << 8 | UNCOMMON_INFO,
    ROW_BASE_SP = 0x01, ROW_SIGNED_RA = 0x80,           /* 2.4.1 */
    ROW_COUNT = 0x1e, ONE_WORD = 0x02, ROW_TWO_BYTES = 0x20, ROW_FOUR_BYTES = 0x40,
    
    RULE_REGISTER = 0x1, RULE_DEREFERENCE = 0x2, RULE_NUMBER = 3, /* 3.2 */

    SP = IS_AMD64 ? 7 : IS_S390X ? 15 : 31,             /* DWARF numbers */
    FP = IS_AMD64 ? 6 : IS_S390X ? 11 : 29,
    LINK = !IS_AMD64,             /* a call leaves the RA in a register, and rows say where it is saved */
    FIXED_RA = IS_AMD64 ? -8 : 0, /* in the header (2.2) */
    BELOW = IS_S390X ? 160 : 0,   /* the caller's SP is CFA - BELOW */
    CFA_SCALE = IS_S390X ? 8 : 1, /* CFA = base + CFA_SCALE * word + BELOW (3.1) */

    /* A packed rule: RULE_BITS bits. */
    CFA_BITS = IS_AMD64 ? 12 : 11,
    RA_BITS = IS_AMD64 ? 0 : IS_S390X ? 5 : 11,
    FP_BITS = IS_AMD64 ? 7 : IS_S390X ? 5 : 1,
    BASE_FP = 1 << 0,
    CFA_SHIFT = 1,                                    /* c / 8 */
    RA_SHIFT = CFA_SHIFT + CFA_BITS,                  /* k / 8; 0: the RA is in its register. amd64: k is 8 */
    FP_SHIFT = RA_SHIFT + RA_BITS,                    /* f / 8; 0: unchanged. aarch64: 1: f is k + 8 */
    LEAF = LINK << (FP_SHIFT + FP_BITS),              /* holds only where the PC is exact: k is 0, or SP stays */
    SIGNED_RA = IS_AARCH64 << (FP_SHIFT + FP_BITS + 1), /* the RA has a PAC */
    RULE_BITS = FP_SHIFT + FP_BITS + LINK + IS_AARCH64,
    PACKED = 1 << RULE_BITS,                          /* that bit of a rule: it is packed */

    /* Instead of a packed rule: */
    CORE = 1,      /* the core does this */
    OUTERMOST = 2, /* there is no caller */
    WIDE = 3,      /* the wide rule of the trace */
    NAMED = 4,     /* this and up: those of the cache */

    /* An entry of the cache is a rule, PACKED and, above it, a label: whether it is at its second place, and a key
     * without its lowest bits, which the place tells. 0: none. Keys have 48, 42 and 45 bits on amd64, aarch64, s390x.
     * */
    PLACES = 8, /* of a wide rule in the table */
    LABEL_BITS = 2, /* PACKED and SECOND_PLACE */
    SECOND_PLACE = PACKED << 1,
    MIN_SET_BITS = 6,
    KEY_BITS = 64 - RULE_BITS - LABEL_BITS + MIN_SET_BITS,
    MOVES = 5, /* of entries that make place for a new one */

    /* How a wide rule is to be read: what each value counts from, and what is done. */
    FROM_CFA = 0, FROM_SP = 1, FROM_FP = 2, FROM = 3,
    RA_FROM = 2, FP_FROM = 4, /* shifts; the CFA's is 0 */
    CFA_LOADED = 0x40, FP_LOADED = 0x80, NEEDS_FP = 0x100, TRAP = 0x200, SIGNED = 0x400, USED = 0x800,

    BLOCK_SHIFT = 11, /* the index has an entry per 2 KiB of code */
    LONG = 64,        /* a function of more rows is in the index of long ones, with */
    STRIDE = 16       /* a checkpoint for so many of them */
};
/* clang-format on */

/* The cache's base lies this far below the first image. The cache takes PCs from there to as far above the image. */
#define REACH ((uint64_t)1 << (KEY_BITS - 1))

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

INLINE uint64_t rule_cfa(uint64_t rule)
{
    return (rule >> CFA_SHIFT & ((1 << CFA_BITS) - 1)) << 3;
}

INLINE uint64_t rule_ra(uint64_t rule)
{
    return LINK ? (rule >> RA_SHIFT & ((1 << RA_BITS) - 1)) << 3 : 8;
}

INLINE uint64_t rule_fp(uint64_t rule)
{
    uint64_t field = rule >> FP_SHIFT & ((1 << FP_BITS) - 1);

    if (IS_AARCH64)
        return field != 0 ? rule_ra(rule) + 8 : 0;
    return field << 3;
}

/* How far below the CFA the slot at OFFSET from it is, if that is 8, 16, ... up to C, and less than LIMIT, a power of
 * two. Else 0. C: how far the CFA is above its base. */
INLINE uint32_t slot(int32_t offset, int32_t c, uint32_t limit)
{
    uint32_t distance = 0 - (uint32_t)offset;

    if (UNLIKELY((distance & ~(limit - 8)) != 0))
        return 0;
    return LIKELY(distance <= (uint32_t)c) ? distance : 0;
}

/* The packed rule of the default row (3.1) with info byte INFO and words of SIZE bytes at P, or 0. sfu_check has
 * accepted the row, but it may have no words. */
INLINE uint64_t pack(unsigned info, const uint8_t *p, unsigned size)
{
    const unsigned count = info & ROW_COUNT;
    const uint32_t fp_limit = IS_AARCH64 ? 1 << 16 : 8 << FP_BITS;
    uint32_t k = 8, f = 0;
    int32_t c;
    uint64_t rule;

    if (UNLIKELY(count == 0))
        return 0;
    c = load_signed(p, size) * CFA_SCALE + BELOW;
    if (UNLIKELY((c & ~((8 << CFA_BITS) - 8)) != 0 || c < (LINK ? BELOW : 8)))
        return 0;
    if (LINK) {
        int32_t word = count > ONE_WORD ? load_signed(p + size, size) : 0;

        k = slot(word, c, 8 << RA_BITS);
        if (k == 0 && count > ONE_WORD && (IS_AARCH64 || word != 0))
            return 0;
    }
    if (count > (1 + LINK) * ONE_WORD) {
        f = slot(load_signed(p + (1 + LINK) * size, size), c, fp_limit);
        if (f == 0 || (IS_AARCH64 && (k == 0 || f != k + 8)))
            return 0;
    }
    rule = PACKED | (info & ROW_BASE_SP ? 0 : BASE_FP) | (uint64_t)(uint32_t)c >> 3 << CFA_SHIFT;
    rule |= (uint64_t)(IS_AARCH64 ? f != 0 : f >> 3) << FP_SHIFT;
    if (LINK)
        rule |= (uint64_t)k >> 3 << RA_SHIFT | (k == 0 || c == BELOW ? LEAF : 0);
    return rule | (IS_AARCH64 && info & ROW_SIGNED_RA ? SIGNED_RA : 0);
}

/* Makes the wide rule of a default row (3.1) with info byte INFO and words at P, of a trap frame if TRAPS, in *RULE.
 * Returns WIDE; or CORE if the RA is in its register. */
static uint64_t default_rule(unsigned info, const uint8_t *p, bool traps, struct sfu_fast_rule *rule)
{
    const unsigned count = info >> 1 & 15, size = 1u << (info >> 5 & 3);
    const bool fp_saved = count > 1 + LINK;

    rule->cfa = load_signed(p, size) * CFA_SCALE + BELOW;
    rule->ra = LINK && count > 1 ? load_signed(p + size, size) : FIXED_RA;
    rule->fp = fp_saved ? load_signed(p + (1 + LINK) * size, size) : 0;
    rule->how = USED | (info & ROW_BASE_SP ? FROM_SP : FROM_FP | NEEDS_FP) | (fp_saved ? FP_LOADED : 0) |
                (IS_AARCH64 && info & ROW_SIGNED_RA ? SIGNED : 0) | (traps ? TRAP : 0);
    return LINK && (count == 1 || (IS_S390X && rule->ra == 0)) ? CORE : WIDE;
}

/* What a rule with CONTROL (3.2) counts from. Returns false if that is another register. */
INLINE bool counts_from(uint32_t control, unsigned *from)
{
    uint32_t reg = control >> RULE_NUMBER;

    *from = !(control & RULE_REGISTER) ? FROM_CFA : reg == SP ? FROM_SP : FROM_FP;
    return *from != FROM_FP || reg == FP;
}

/* The same for a flexible row (3.2). Its words are pairs of a control word, which may be 0 and stand alone, and an
 * offset: of the CFA, the RA and FP. */
OUT_OF_LINE uint64_t flexible_rule(unsigned info, const uint8_t *p, bool traps, struct sfu_fast_rule *rule)
{
    const unsigned size = 1u << (info >> 5 & 3);
    const uint8_t *end = p + (info >> 1 & 15) * size;
    uint32_t control[3] = {0, LINK ? 0 : RULE_DEREFERENCE, 0};
    int32_t offset[3] = {0, FIXED_RA, 0};
    unsigned i, cfa, ra, fp;

    for (i = 0; i < 3 && p < end; i++) {
        uint32_t word = load(p, size);

        p += size;
        if (word == 0)
            continue;
        control[i] = word;
        offset[i] = load_signed(p, size);
        p += size;
    }
    if (control[2] == (FP << RULE_NUMBER | RULE_REGISTER) && offset[2] == 0)
        control[2] = 0;
    if (!counts_from(control[0], &cfa) || !counts_from(control[1], &ra) || !counts_from(control[2], &fp) ||
        !(control[1] & RULE_DEREFERENCE) || (control[2] != 0 && !(control[2] & RULE_DEREFERENCE)))
        return CORE;
    rule->cfa = offset[0] * CFA_SCALE + BELOW;
    rule->ra = offset[1];
    rule->fp = offset[2];
    rule->how = USED | cfa | ra << RA_FROM | fp << FP_FROM | (control[0] & RULE_DEREFERENCE ? CFA_LOADED : 0) |
                (control[2] != 0 ? FP_LOADED : 0) | (IS_AARCH64 && info & ROW_SIGNED_RA ? SIGNED : 0) |
                (traps ? TRAP : 0) | (cfa == FROM_FP || ra == FROM_FP || fp == FROM_FP ? NEEDS_FP : 0);
    return WIDE;
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

/* Some rows of a function: COUNT of them at P. Their starts have SIZE bytes. */
struct rows {
    const uint8_t *p;
    uint32_t count;
    unsigned size;
};

/* The info byte of the last row that starts at or below OFFSET, of COUNT rows at *P with starts of SIZE bytes. *P
 * becomes where its words are. 0 if OFFSET is in front of all. sfu_check has accepted the rows: they ascend and lie in
 * the tables. */
INLINE unsigned scan(const uint8_t **p, uint32_t count, uint32_t offset, unsigned size)
{
    const uint8_t *next = *p;
    size_t info = 0, words = 0;

    for (; count > 0 && load(next, size) <= offset; count--) {
        info = next[size];
        words = words_size[info];
        next += size + 1 + words;
    }
    *p = next - words;
    return (unsigned)info;
}

/* A trace. */
struct trace {
    struct sfu_walk walk;
    struct sfu_fast *fast;
    const struct sfu_fast_image *images; /* NULL: all is left to the core */
    const struct sfu_fast_image *near;   /* where a lookup begins */
    const uint64_t *cache;            /* two entries for each set, the second mask + 1 behind the first; or NULL */
    uint64_t mask;                    /* how many sets there are, less 1 */
    uint64_t base;                    /* a key is a lookup PC from here */
    uint64_t changes;                 /* the cache has entries of sections as they were after so many */
    const struct sfu_fast_rule *rule; /* where the wide rule is */
    struct sfu_fast_rule wide;        /* one that is in no cache */
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

/* The rule for OFFSET in function FDE of IMAGE, whose attributes (2.3.3) are at P: any function, any row. */
OUT_OF_LINE uint64_t any_rule(struct trace *v, const struct sfu_fast_image *image, uint32_t fde, const uint8_t *p,
                              uint32_t offset)
{
    const bool traps = p[2] & INFO_SIGNAL, flexible = p[3] & INFO2_TYPE;
    struct rows rows;
    unsigned info;
    uint64_t rule = 0;

    rows.p = p + ATTRIBUTES_SIZE;
    rows.count = load2(p);
    rows.size = 1u << (p[2] & INFO_ADDRESS);
    if (p[2] & INFO_MASK)
        offset %= p[4];
    if (rows.count == 0 || load(rows.p, rows.size) > offset)
        return CORE;
    if (rows.count > LONG && image->long_index != NULL)
        take_checkpoint(image->long_index, fde, offset, &rows);
    p = rows.p;
    info = rows.size == 1   ? scan(&p, rows.count, offset, 1)
           : rows.size == 2 ? scan(&p, rows.count, offset, 2)
                            : scan(&p, rows.count, offset, 4);
    if ((info & ROW_COUNT) == 0)
        return OUTERMOST;
    v->rule = &v->wide;
    if (flexible)
        return flexible_rule(info, p, traps, &v->wide);
    if (!traps)
        rule = pack(info, p, 1u << (info >> 5 & 3));
    return rule != 0 ? rule : default_rule(info, p, traps, &v->wide);
}

/* The same. Nearly all functions are common, have few rows, whose words have 1 or 2 bytes, and those are packed. */
INLINE uint64_t row_rule(struct trace *v, const struct sfu_fast_image *image, uint32_t fde, const uint8_t *p,
                         uint32_t offset)
{
    const uint32_t count = load2(p);

    if (LIKELY(!(load2(p + 2) & UNCOMMON) && count <= LONG)) {
        const uint8_t *words = p + ATTRIBUTES_SIZE;
        const unsigned info = p[2] & COMMON_INFO ? scan(&words, count, offset, 2) : scan(&words, count, offset, 1);

        if (LIKELY(!(info & ROW_FOUR_BYTES))) {
            const uint64_t rule = info & ROW_TWO_BYTES ? pack(info, words, 2) : pack(info, words, 1);

            if (LIKELY(rule != 0))
                return rule;
        }
    }
    return any_rule(v, image, fde, p, offset);
}

/* ---- Lookup ---------------------------------------------------------------------------------------------------- */

/* The start of the function whose FDE is AT bytes behind the first, from the image's origin. */
INLINE int64_t start_at(const struct sfu_fast_image *image, size_t at, uint64_t relative)
{
    return (int64_t)(load8(image->fdes + at) + (at & relative));
}

/* The last of the N (at least 1) functions from AT on that starts at or below WHERE, if the first does. Each pass
 * leaves half of them; if their number is odd, the larger half. */
INLINE size_t bisect(const struct sfu_fast_image *image, size_t at, uint32_t n, int64_t where)
{
    const uint64_t relative = image->relative;

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
INLINE uint64_t find_rule(struct trace *v, const struct sfu_fast_image *image, uint64_t pc)
{
    const uint64_t where = pc - image->origin;
    const uint32_t *entry = image->index + 1 + ((pc - image->low) >> image->index[0]);
    const size_t at = bisect(image, entry[0] * (size_t)FDE_SIZE, entry[1] - entry[0] + 1, (int64_t)where);
    const uint64_t offset = where - (uint64_t)start_at(image, at, image->relative);

    if (offset >= load4(image->fdes + at + FDE_LENGTH))
        return CORE;
    return row_rule(v, image, (uint32_t)(at / FDE_SIZE), image->rows + load4(image->fdes + at + FDE_ROWS),
                    (uint32_t)offset);
}

/* The next of the list: sfu_fast_remove may change it meanwhile. */
INLINE struct sfu_fast_image *next_image(const struct sfu_fast_image *image)
{
    return __atomic_load_n(&image->next, __ATOMIC_RELAXED);
}

/* The first of the trace's images (at least 1) that may have PC, a lookup PC, or NULL. If no two have the same PC, it
 * is mostly that of the frame before. */
INLINE const struct sfu_fast_image *image_of(struct trace *v, uint64_t pc)
{
    const struct sfu_fast_image *image = v->near;

    if (LIKELY(pc - image->low <= image->span))
        return image;
    for (image = v->images; image != NULL; image = next_image(image))
        if (pc - image->low <= image->span)
            break;
    if (image != NULL && !__atomic_load_n(&v->fast->overlap, __ATOMIC_RELAXED))
        v->near = image;
    return image;
}

/* The rule for PC, a lookup PC; 0 if it is in no image. What is not packed becomes the trace's wide rule. */
OUT_OF_LINE uint64_t look_up(struct trace *v, uint64_t pc)
{
    const struct sfu_fast_image *image = image_of(v, pc);

    if (image == NULL)
        return 0;
    return image->common ? find_rule(v, image, pc) : (uint64_t)CORE;
}

/* ---- Cache ----------------------------------------------------------------------------------------------------- */

/*
 * Who writes to the cache, or clears it, has set BUSY, and does not wait for it: who finds it set leaves the cache as
 * it is. So one writes at a time, also in an interrupt of one that writes. An entry is found by sections as they are
 * after some number of CHANGES. It is written only while that number stands; BUSY is set before that is asked. A
 * change counts up CHANGES when it is done, and then nothing in the cache counts until somebody has cleared it, and
 * has set CLEARED to that number. So what a trace writes that began before a change, however late, is either cleared
 * or not written at all; and no number comes again. Readers take no part in that: an entry is one word, and a wide
 * rule is complete before an entry names it, and is never written again.
 */

/* gcc would call a library that a kernel does not have. */
#if defined(__aarch64__)
__attribute__((target("no-outline-atomics")))
#endif
OUT_OF_LINE bool
set_busy(struct sfu_fast *fast)
{
    return !__atomic_exchange_n(&fast->busy, true, __ATOMIC_ACQUIRE);
}

INLINE void clear_busy(struct sfu_fast *fast)
{
    __atomic_store_n(&fast->busy, false, __ATOMIC_RELEASE);
}

INLINE uint64_t read_entry(const uint64_t *entry)
{
    return __atomic_load_n(entry, __ATOMIC_RELAXED);
}

INLINE void write_entry(uint64_t *entry, uint64_t value)
{
    __atomic_store_n(entry, value, __ATOMIC_RELEASE);
}

/* Clears the cache, if changes have made it wrong, and nobody writes. */
OUT_OF_LINE void renew(struct sfu_fast *fast)
{
    uint64_t changes, i;

    if (fast->cache == NULL || !set_busy(fast))
        return;
    changes = __atomic_load_n(&fast->changes, __ATOMIC_ACQUIRE);
    if (changes != __atomic_load_n(&fast->cleared, __ATOMIC_RELAXED)) {
        for (i = 0; i / 2 <= fast->cache_mask; i++)
            write_entry(&fast->cache[i], 0);
        __atomic_store_n(&fast->cleared, changes, __ATOMIC_RELEASE);
    }
    clear_busy(fast);
}

/* Takes a view of the walker. The number of changes is read first: the list is as new as that, or newer. */
INLINE void look(struct trace *v, struct sfu_fast *fast)
{
    const struct sfu_target *t = v->walk.target;

    v->fast = fast;
    v->changes = __atomic_load_n(&fast->changes, __ATOMIC_ACQUIRE);
    if (UNLIKELY(__atomic_load_n(&fast->cleared, __ATOMIC_ACQUIRE) != v->changes))
        renew(fast);
    v->mask = fast->cache_mask;
    v->cache = __atomic_load_n(&fast->cleared, __ATOMIC_ACQUIRE) == v->changes ? fast->cache : NULL;
    v->images = v->near = __atomic_load_n(&fast->images, __ATOMIC_ACQUIRE);
    v->base = v->images != NULL ? fast->base : 0;
    if (v->images != NULL && (v->images->section != t->sections || t->original_ra != NULL || NATIVE == 0))
        v->images = NULL;
}

/* What an entry for KEY, at its first place, has above a packed rule. A KEY of more than KEY_BITS has a label that no
 * entry has. */
INLINE uint64_t label(uint64_t key)
{
    return (key >> MIN_SET_BITS << LABEL_BITS) + 1;
}

/* The set of the first place of KEY. Set and label together tell KEY. */
INLINE uint64_t set_of(uint64_t key, uint64_t mask)
{
    return (key ^ key >> MIN_SET_BITS) & mask;
}

/* The set of the second place of an entry with LABEL whose first place is in SET; and the other way round. How far they
 * are apart depends on what LABEL has of the key alone: so set and label still tell the key. */
INLINE uint64_t other_set(uint64_t label, uint64_t set, uint64_t mask)
{
    uint64_t upper = label >> LABEL_BITS;

    return set ^ (((upper ^ upper >> 7 ^ upper >> 17) | 1) & mask);
}

/* Puts ENTRY into its SET of CACHE. What has to make room moves to its other set, and so on; what has found no room
 * after some MOVES is dropped. */
INLINE void put(uint64_t *cache, uint64_t mask, uint64_t set, uint64_t entry)
{
    unsigned i;

    for (i = 0; entry != 0 && i < MOVES; i++) {
        uint64_t *place = &cache[set], before;

        if (read_entry(place) != 0 && (i % 2 == 1 || read_entry(place + mask + 1) == 0))
            place += mask + 1;
        before = read_entry(place);
        write_entry(place, entry);
        set = other_set(before >> RULE_BITS, set, mask);
        entry = before != 0 ? before ^ SECOND_PLACE : 0;
    }
}

/* The number of the wide rule that is equal to RULE, which has some places in the table; SFU_FAST_RULES if others have
 * them. Writes it there if it is new. */
INLINE unsigned number_of(struct sfu_fast *fast, const struct sfu_fast_rule *rule)
{
    const uint32_t mixed =
        (((uint32_t)rule->cfa * 31 + (uint32_t)rule->ra) * 31 + (uint32_t)rule->fp) * 31 + rule->how;
    unsigned i;

    for (i = 0; i < PLACES; i++) {
        unsigned n = ((mixed ^ mixed >> 9) + i) % SFU_FAST_RULES;
        struct sfu_fast_rule *at = &fast->rules[n];

        if (at->how == 0)
            *at = *rule;
        if (at->how == rule->how && at->cfa == rule->cfa && at->ra == rule->ra && at->fp == rule->fp)
            return n;
    }
    return SFU_FAST_RULES;
}

/* Keeps RULE, which was looked up, for KEY; but not that there is none: an image may come that has it. */
OUT_OF_LINE void keep(struct trace *v, uint64_t key, uint64_t rule)
{
    struct sfu_fast *fast = v->fast;

    if (rule == 0 || key >> KEY_BITS != 0 || !set_busy(fast))
        return;
    if (__atomic_load_n(&fast->changes, __ATOMIC_RELAXED) == v->changes) {
        if (rule == WIDE)
            rule = NAMED + number_of(fast, &v->wide);
        if (rule != NAMED + SFU_FAST_RULES)
            put(fast->cache, v->mask, set_of(key, v->mask), (label(key) - 1) << RULE_BITS | rule);
    }
    clear_busy(fast);
}

/* The rule of KEY, looked up and kept. */
OUT_OF_LINE uint64_t miss(struct trace *v, uint64_t key)
{
    uint64_t rule = look_up(v, key + v->base);

    keep(v, key, rule);
    return rule;
}

/* Whether ENTRY has the label WANTED, packed or not. */
INLINE bool matches(uint64_t entry, uint64_t wanted)
{
    return (entry >> RULE_BITS | 1) == wanted && entry != 0;
}

/* The rule of ENTRY, packed or not. */
INLINE uint64_t rule_of(struct trace *v, uint64_t entry)
{
    if (entry & PACKED)
        return entry;
    entry &= PACKED - 1;
    if (entry < NAMED)
        return entry;
    v->rule = &v->fast->rules[entry - NAMED];
    return WIDE;
}

/* Finds the rule for KEY where the first entry of its set has none that is packed: in one of its four places, or in a
 * section. */
OUT_OF_LINE uint64_t find(struct trace *v, uint64_t key)
{
    const uint64_t mask = v->mask, set = set_of(key, mask), wanted = label(key);
    const uint64_t second = wanted + (SECOND_PLACE >> RULE_BITS);
    const uint64_t *place = &v->cache[set];
    uint64_t entry = __atomic_load_n(place, __ATOMIC_ACQUIRE);

    if (matches(entry, wanted))
        return rule_of(v, entry);
    entry = __atomic_load_n(place + mask + 1, __ATOMIC_ACQUIRE);
    if (matches(entry, wanted))
        return rule_of(v, entry);
    place = &v->cache[other_set(wanted, set, mask)];
    entry = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (matches(entry, second))
        return rule_of(v, entry);
    entry = __atomic_load_n(place + mask + 1, __ATOMIC_ACQUIRE);
    return matches(entry, second) ? rule_of(v, entry) : miss(v, key);
}

/* ---- Frames ---------------------------------------------------------------------------------------------------- */

/* RA without its PAC, as the core does it. */
INLINE uint64_t strip(const struct sfu_target *t, uint64_t ra)
{
    uint64_t bit55 = (uint64_t)1 << 55, mask = t->pac_mask != 0 ? t->pac_mask : ~(((uint64_t)1 << 48) - 1);

    return ra & bit55 ? ra | mask : ra & ~mask;
}

/* Where a trace is. */
struct place {
    uint64_t pc, sp, fp;  /* SP from the low end of the stack, which is not above its high end */
    uint64_t back;        /* from PC to the lookup PC: enum sfu_pc_kind */
    const uint8_t *bytes; /* of the stack */
    uint64_t low, span;
};

/* Moves AT by the trace's wide rule. Returns false, and changes nothing, if the core must do it. */
INLINE bool apply_wide(struct trace *v, struct place *at)
{
    const struct sfu_fast_rule *rule = v->rule;
    const uint32_t how = rule->how;
    const uint8_t *bytes = at->bytes;
    const uint64_t low = at->low, span = at->span;
    const uint64_t floor = at->back == SFU_PC_EXACT ? at->sp : 0; /* what lies below may be dead */
    const uint64_t room = span - floor - 8;                       /* a word is at FLOOR or up to so much above */
    uint64_t from[FROM_FP + 1], cfa, ra, fp;

    from[FROM_SP] = at->sp;
    from[FROM_FP] = at->fp - low;
    if (span - floor < 8 || (how & NEEDS_FP && from[FROM_FP] > span))
        return false;
    cfa = from[how & FROM] + (uint64_t)(int64_t)rule->cfa;
    if (how & CFA_LOADED) {
        if (cfa - floor > room)
            return false;
        cfa = load8(bytes + cfa) - low;
    }
    if (cfa > span || cfa <= at->sp + BELOW)
        return false;
    from[FROM_CFA] = cfa;
    ra = from[how >> RA_FROM & FROM] + (uint64_t)(int64_t)rule->ra;
    if (ra - floor > room)
        return false;
    if (how & FP_LOADED) {
        fp = from[how >> FP_FROM & FROM] + (uint64_t)(int64_t)rule->fp;
        if (fp - floor > room)
            return false;
        at->fp = load8(bytes + fp);
    }
    at->back = SFU_PC_RETURN;
    if (UNLIKELY(how & TRAP)) {
        v->walk.frame.saved = at->sp + low;
        v->walk.frame.interrupted = true;
        v->walk.frame.regs.has_ra = false;
        at->back = SFU_PC_EXACT;
    }
    at->pc = load8(bytes + ra);
    if (IS_AARCH64 && how & SIGNED)
        at->pc = strip(v->walk.target, at->pc);
    at->sp = cfa - BELOW;
    return true;
}

/* Moves AT by a packed RULE. Returns false, and changes nothing, if the core must do it. */
INLINE bool apply_packed(const struct trace *v, uint64_t rule, struct place *at)
{
    const struct sfu_registers *regs = &v->walk.frame.regs;
    uint64_t cfa = at->sp + rule_cfa(rule);

    if (rule & BASE_FP) {
        if (UNLIKELY(at->fp - at->low < at->sp || at->fp - at->low > at->span))
            return false;
        cfa = at->fp - at->low + rule_cfa(rule);
    }
    if (UNLIKELY(cfa > at->span))
        return false;
    if (LINK && UNLIKELY(rule & LEAF) && (at->back != SFU_PC_EXACT || (rule_ra(rule) == 0 && !regs->has_ra)))
        return false;
    at->pc = LINK && rule_ra(rule) == 0 ? regs->ra : load8(at->bytes + (cfa - rule_ra(rule)));
    if (rule_fp(rule) != 0)
        at->fp = load8(at->bytes + (cfa - rule_fp(rule)));
    if (IS_AARCH64 && rule & SIGNED_RA)
        at->pc = strip(v->walk.target, at->pc);
    at->sp = cfa - BELOW;
    at->back = SFU_PC_RETURN;
    return true;
}

/* Walks on by the short way as far as it leads, at most COUNT (at least 1) frames, and stores their PCs at OUT. SP is
 * on the stack. The frame's pc, pc_kind, sp and fp become those of the last frame. Returns how many frames those were.
 * If the last one is the outermost, *OUTERMOST_FRAME becomes true. CACHED: the trace has a cache. */
INLINE size_t go(struct trace *v, size_t count, uint64_t *out, bool *outermost_frame, bool cached)
{
    struct sfu_frame *frame = &v->walk.frame;
    struct sfu_registers *regs = &frame->regs;
    const uint64_t low = v->walk.stack.low, span = v->walk.stack.high - low, base = v->base, mask = v->mask;
    const uint64_t *cache = v->cache;
    struct place at = {regs->pc, regs->sp - low, regs->fp, regs->pc_kind, (const uint8_t *)v->walk.stack.bytes, low,
                       span};
    size_t done = 0;

    do {
        const uint64_t key = at.pc - at.back - base;
        const uint64_t *entry = cached ? &cache[set_of(key, mask)] : NULL;
        uint64_t rule = cached ? read_entry(entry) : 0;

        if (!cached || UNLIKELY(rule >> RULE_BITS != label(key))) {
            if (!cached)
                rule = look_up(v, key + base);
            else if (matches(rule, label(key)) && __atomic_load_n(entry, __ATOMIC_ACQUIRE) == rule)
                rule = rule_of(v, rule);
            else
                rule = find(v, key);
            if (UNLIKELY(!(rule & PACKED))) {
                if (rule != WIDE || !apply_wide(v, &at)) {
                    *outermost_frame = rule == OUTERMOST;
                    break;
                }
                out[done] = at.pc;
                continue;
            }
        }
        if (!apply_packed(v, rule, &at))
            break;
        out[done] = at.pc;
    } while (++done < count);
    regs->pc = at.pc;
    regs->sp = at.sp + low;
    regs->fp = at.fp;
    if (done > 0) {
        regs->ra = 0;
        regs->has_ra = false;
        regs->pc_kind = (enum sfu_pc_kind)at.back;
        if (at.back == SFU_PC_RETURN) {
            frame->saved = 0;
            frame->interrupted = false;
        }
    }
    return done;
}

/* Whether PC lies in RANGE, as the core asks. */
INLINE bool is_in(const struct sfu_range *range, uint64_t pc)
{
    return range->high == 0 || (pc >= range->low && pc < range->high);
}

/* What the core would return for a return address that leads to PC, a lookup PC that is in none of the trace's images,
 * if nobody else is asked about it. */
INLINE int code_outside(const struct sfu_fast_image *image, uint64_t pc)
{
    for (; image != NULL; image = next_image(image))
        if (is_in(&image->section->text, pc))
            return SFU_E_NO_FDE;
    return SFU_E_NOT_CODE;
}

/* Walks on by the short way, at most COUNT (at least 1) frames, and stores their PCs at OUT. Leaves the walk as the
 * core does. Returns how many frames those were. If it knows what the core would return next, *CODE becomes that. */
INLINE size_t go_on(struct trace *v, size_t count, uint64_t *out, int *code)
{
    const struct sfu_target *t = v->walk.target;
    const struct sfu_stack *stack = &v->walk.stack;
    struct sfu_frame *frame = &v->walk.frame;
    const uint32_t limit = t->max_frames != 0 ? t->max_frames : SFU_MAX_FRAMES;
    bool outermost = false;
    uint64_t pc;
    size_t done;

    if (v->images == NULL || stack->bytes == NULL || frame->regs.sp < stack->low || frame->regs.sp > stack->high ||
        stack->high - stack->low > INT64_MAX || frame->depth + 1 >= limit)
        return 0;
    if (count > limit - 1 - frame->depth)
        count = limit - 1 - frame->depth;
    done = v->cache != NULL ? go(v, count, out, &outermost, true) : go(v, count, out, &outermost, false);
    if (done > 0) {
        frame->depth += (uint32_t)done;
        frame->switched = frame->replaced = false;
        frame->guess = SFU_GUESS_NONE;
        v->walk.stayed = false; /* asked only where the PC is exact; a trap frame's SP has grown */
    }
    if (done == count)
        return done;
    pc = sfu_lookup_pc(&frame->regs);
    if (outermost)
        *code = is_in(&t->final, pc) ? SFU_END : SFU_E_NOT_FINAL;
    else if (t->trap_hook == NULL && !t->frame_pointers && frame->regs.pc_kind == SFU_PC_RETURN &&
             image_of(v, pc) == NULL)
        *code = code_outside(v->images, pc);
    return done;
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

/* All rows of function FDE of IMAGE. */
INLINE void rows_of(const struct sfu_fast_image *image, uint32_t fde, struct rows *rows)
{
    const uint8_t *p = image->rows + load4(image->fdes + fde * (size_t)FDE_SIZE + FDE_ROWS);

    rows->p = p + ATTRIBUTES_SIZE;
    rows->count = load2(p);
    rows->size = 1u << (p[2] & INFO_ADDRESS);
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
        rows_of(image, fde, &rows);
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
        const uint8_t *p;

        rows_of(image, fde, &rows);
        if (rows.count <= LONG)
            continue;
        *entry++ = fde;
        *entry++ = (uint32_t)((checkpoint - index) / 2);
        p = rows.p;
        for (i = 1; i <= checkpoints_of(rows.count) * STRIDE; i++) {
            p += rows.size + 1 + words_size[p[rows.size]];
            if (i % STRIDE == 0) {
                *checkpoint++ = load(p, rows.size);
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
 * sfu_check accepts it. Any other section may have any PC. */
static void survey(struct sfu_fast_image *image)
{
    struct sfu_section *s = image->section;
    const struct sfu_range text = s->text;
    struct sfu_range code;
    unsigned shift = 0;
    bool known;

    image->low = 0;
    image->span = UINT64_MAX;
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
                    s->ra.offset == FIXED_RA && s->fp.offset == 0 && image->span <= INT64_MAX && ascends(image);
    if (!image->common)
        return;
    while (image->span >> shift >= SFU_FAST_BLOCKS)
        shift++;
    (void)make_index(image, image->coarse, shift);
}

/* How many bytes the index of functions takes, of an IMAGE that can have one. */
INLINE size_t index_size(const struct sfu_fast_image *image)
{
    return ((size_t)(image->span >> BLOCK_SHIFT) + 3) * sizeof(uint32_t);
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
    make_long_index(image, make_index(image, (uint32_t *)memory, BLOCK_SHIFT), count);
    return true;
}

void sfu_fast_set_cache(struct sfu_fast *fast, void *memory, size_t bytes)
{
    size_t off = (size_t)(0 - (uintptr_t)memory) % sizeof(uint64_t), entries = 2 << MIN_SET_BITS, i;

    fast->cache = NULL;
    if (bytes < off || (bytes - off) / sizeof(uint64_t) < entries)
        return;
    while (entries <= (bytes - off) / sizeof(uint64_t) / 2)
        entries *= 2;
    fast->cache = (uint64_t *)(void *)((uint8_t *)memory + off);
    fast->cache_mask = entries / 2 - 1;
    for (i = 0; i < entries; i++)
        fast->cache[i] = 0;
    for (i = 0; i < SFU_FAST_RULES; i++)
        fast->rules[i].how = 0;
    fast->cleared = fast->changes;
}

/* ---- Changes --------------------------------------------------------------------------------------------------- */

struct sfu_section *sfu_fast_sections(const struct sfu_fast *fast)
{
    return __atomic_load_n(&fast->sections, __ATOMIC_ACQUIRE);
}

/* What the cache has may be wrong: nothing of it counts until it is cleared. That is left to a trace if somebody writes
 * to it. */
static void discard(struct sfu_fast *fast)
{
    __atomic_store_n(&fast->changes, fast->changes + 1, __ATOMIC_RELEASE);
    renew(fast);
}

/* Whether a PC may be in IMAGE and in one of OTHERS. */
static bool overlaps(const struct sfu_fast_image *image, const struct sfu_fast_image *others)
{
    for (; others != NULL; others = others->next)
        if (image->low - others->low <= others->span || others->low - image->low <= image->span)
            return true;
    return false;
}

int sfu_fast_add(struct sfu_fast *fast, struct sfu_fast_image *images, size_t room, struct sfu_section *list)
{
    struct sfu_section *s, *last = list;
    bool overlap = false;
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
        survey(&images[i - 1]);
        overlap = overlap || overlaps(&images[i - 1], images[i - 1].next);
    }
    if (fast->changes == 0)
        fast->base = images->low - REACH;
    if (overlap)
        __atomic_store_n(&fast->overlap, true, __ATOMIC_RELAXED);
    __atomic_store_n(&fast->images, images, __ATOMIC_RELEASE);
    __atomic_store_n(&fast->sections, list, __ATOMIC_RELEASE);
    if (overlap || fast->changes == 0)
        discard(fast);
    return SFU_OK;
}

/* The loop ends: no image is in the list twice. What is taken out still leads to the rest, for traces that are there. A
 * link is read by traces: only images and sections that were there before lie behind it, which they know. */
bool sfu_fast_remove(struct sfu_fast *fast, struct sfu_fast_image *images, size_t room)
{
    struct sfu_fast_image *image, **before = &fast->images;
    struct sfu_section **link = &fast->sections;
    bool removed = false;

    for (image = fast->images; image != NULL; image = image->next) {
        if (image >= images && image < images + room) {
            __atomic_store_n(link, image->section->next, __ATOMIC_RELEASE);
            __atomic_store_n(before, image->next, __ATOMIC_RELEASE);
            removed = true;
        } else {
            before = &image->next;
            link = &image->section->next;
        }
    }
    if (removed)
        discard(fast);
    return removed;
}

/* ---- Trace ----------------------------------------------------------------------------------------------------- */

/* Each pass gets at least a frame further, or to the end. */
int sfu_fast_trace(struct sfu_fast *fast, const struct sfu_target *target, const struct sfu_registers *top,
                   size_t skip, uint64_t *pcs, size_t capacity, size_t *count)
{
    struct trace v;
    uint64_t skipped[8];
    size_t stored = 0;
    int code = SFU_OK;

    sfu_walk_start(&v.walk, target, top);
    look(&v, fast);
    while (code == SFU_OK) {
        uint64_t *out = skipped;
        size_t wanted = sizeof skipped / sizeof *skipped, done;

        if (skip == 0) {
            if (stored == 0 && capacity > 0)
                pcs[stored++] = v.walk.frame.regs.pc;
            out = pcs + stored;
            wanted = capacity - stored;
        } else if (skip < wanted) {
            wanted = skip;
        }
        if (wanted == 0)
            break;
        done = go_on(&v, wanted, out, &code);
        if (done < wanted && code == SFU_OK) {
            code = sfu_walk_step(&v.walk);
            if (code == SFU_OK)
                out[done++] = v.walk.frame.regs.pc;
        }
        if (skip > 0)
            skip -= done;
        else
            stored += done;
    }
    *count = stored;
    return code;
}
