/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A frame takes the short way if the row for its PC is of the common shape:
 *     CFA = SP + c or FP + c;  RA = *(CFA - k);  FP = *(CFA - f) or unchanged;  0 < k, f <= c
 * and if the base, SP or FP, lies in the stack, at SP or above. Then no slot is below SP, so none is dead, and no sum
 * can wrap. Such a row is packed into a rule, a part of one word. find_rule makes it of the section's bytes, and the
 * cache keeps it. 0 is no rule. Anything else in a section or in a frame is left to the core, and so are all errors.
 * Numbers in comments are sections of "The SFrame format", version 3.
 */
#include "sfu_fast.h"

/* What this machine is. On any other the core does all frames. */
#define BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#if defined(__x86_64__)
#define IS_AMD64 1
#define NATIVE   SFU_AMD64
#elif defined(__aarch64__)
#define IS_AARCH64 1
#define NATIVE     (BIG ? SFU_AARCH64_BIG : SFU_AARCH64)
#elif defined(__s390x__)
#define IS_S390X 1
#define NATIVE   SFU_S390X
#endif
#ifndef IS_AMD64
#define IS_AMD64 0
#endif
#ifndef IS_AARCH64
#define IS_AARCH64 0
#endif
#ifndef IS_S390X
#define IS_S390X 0
#endif

/* At every optimisation, what is called once becomes part of its caller, and what is rare does not. */
#define INLINE      static inline __attribute__((always_inline))
#define OUT_OF_LINE static __attribute__((noinline))
#define LIKELY(x)   __builtin_expect((x) ? 1 : 0, 1)
#define KEEP_BRANCH __asm__ volatile("") /* instead of a conditional move, which waits for the load before it */
#define UNLIKELY(x) __builtin_expect((x) ? 1 : 0, 0)

/* Where size counts there is one loop for rows of all kinds, and no table. The core does what comes up once in a trace,
 * and targets that tell stacks apart. */
#ifdef __OPTIMIZE_SIZE__
#define SMALL       1
#define INLINE_FAST OUT_OF_LINE
#else
#define SMALL       0
#define INLINE_FAST INLINE
#endif

#ifdef NATIVE

/* clang-format off */
enum {
    FLAG_SORTED = 0x1, FLAG_FIELD_RELATIVE = 0x4,       /* 2.1.3 */
    FDE_SIZE = 16, FDE_LENGTH = 8, FDE_ROWS = 12,       /* 2.3: its fields behind the start */
    ATTRIBUTES_SIZE = 5,
    INFO_WIDE = 0x01,                                   /* 2.3.3: starts of rows have 2 bytes, not 1 */
    UNCOMMON_INFO = 0x9e, UNCOMMON_INFO2 = 0x1f,        /* wider ones; MASK, signal; flexible */
    UNCOMMON = BIG ? UNCOMMON_INFO << 8 | UNCOMMON_INFO2 : UNCOMMON_INFO2 << 8 | UNCOMMON_INFO,
    ROW_BASE_SP = 0x01, ROW_SIGNED_RA = 0x80,           /* 2.4.1 */
    ROW_COUNT = 0x1e, ONE_WORD = 0x02,
    ROW_UNCOMMON = 0x40,                                /* words have 4 bytes, or no valid size */

    LINK = !IS_AMD64,             /* a call leaves the RA in a register, and rows say where it is saved */
    FIXED_RA = IS_AMD64 ? -8 : 0, /* in the header (2.2) */
    BELOW = IS_S390X ? 160 : 0,   /* the caller's SP is CFA - BELOW */
    CFA_SCALE = IS_S390X ? 8 : 1, /* CFA = base + CFA_SCALE * word + BELOW (3.1) */

    /* A rule: RULE_BITS bits, not all 0. */
    CFA_BITS = 11,
    RA_BITS = IS_AMD64 ? 0 : IS_S390X ? 5 : 11,
    FP_BITS = IS_AMD64 ? 7 : IS_S390X ? 5 : 1,
    BASE_FP = 1 << 0,
    CFA_SHIFT = 1,                                    /* c / 8 */
    RA_SHIFT = CFA_SHIFT + CFA_BITS,                  /* k / 8; 0: the RA is in its register. amd64: k is 8 */
    FP_SHIFT = RA_SHIFT + RA_BITS,                    /* f / 8; 0: unchanged. aarch64: 1: f is k + 8 */
    LEAF = LINK << (FP_SHIFT + FP_BITS),              /* holds only where the PC is exact: k is 0, or SP stays */
    SIGNED_RA = IS_AARCH64 << (FP_SHIFT + FP_BITS + 1), /* the RA has a PAC */
    RULE_BITS = FP_SHIFT + FP_BITS + LINK + IS_AARCH64,

    /* An entry of the cache is a rule and, above it, a label: the generation and above that a key without its lowest
     * bits, which the set tells. Keys have 48, 41 and 44 bits on amd64, aarch64 and s390x. */
    GENERATION_BITS = 3,
    LABEL_BITS = 64 - RULE_BITS,
    MIN_SET_BITS = 6,
    KEY_BITS = LABEL_BITS - GENERATION_BITS + MIN_SET_BITS,

    BLOCK_SHIFT = 11 /* the index has an entry per 2 KiB of code */
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

/* The same of 1 byte or, if WIDE, 2, sign-extended. */
INLINE int32_t load_signed(const uint8_t *p, unsigned wide)
{
    return wide ? (int16_t)load2(p) : (int8_t)p[0];
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

/* How far below the CFA the slot of a row's WORD is: 8, 16, ..., C, and less than LIMIT, a power of two. 0 if it is at
 * another place. C: how far the CFA is above its base. */
INLINE uint32_t slot(int32_t word, int32_t c, int32_t limit)
{
    int32_t distance = -word;

    if (UNLIKELY((distance & ~(limit - 8)) != 0))
        return 0;
    return LIKELY(distance <= c) ? (uint32_t)distance : 0;
}

/* The rule for the default row (3.1) with info byte INFO and words at P, WIDE as in load_signed. 0 if the row is not
 * common, or if INFO is 0: there is no row. */
INLINE uint64_t pack(unsigned info, const uint8_t *p, unsigned wide)
{
    const unsigned count = info & (ROW_COUNT | ROW_UNCOMMON);
    const int32_t fp_limit = IS_AARCH64 ? 1 << 16 : 8 << FP_BITS;
    int32_t c, word;
    uint32_t k = 8, f = 0;
    uint64_t rule;

    if (count < ONE_WORD || count > (2 + LINK) * ONE_WORD)
        return 0;
    c = load_signed(p, wide) * CFA_SCALE + BELOW;
    if ((c & ~((8 << CFA_BITS) - 8)) != 0 || c < (LINK ? BELOW : 8))
        return 0;
    if (LINK) {
        word = count > ONE_WORD ? load_signed(p + 1 + wide, wide) : 0;
        k = slot(word, c, 8 << RA_BITS);
        if (k == 0 && count > ONE_WORD && (IS_AARCH64 || word != 0))
            return 0;
    }
    if (count > (1 + LINK) * ONE_WORD) {
        f = slot(load_signed(p + ((1 + LINK) << wide), wide), c, fp_limit);
        if (f == 0 || (IS_AARCH64 && (k == 0 || f != k + 8)))
            return 0;
    }
    rule = (info & ROW_BASE_SP ? 0 : BASE_FP) | (uint64_t)c >> 3 << CFA_SHIFT;
    rule |= (uint64_t)(IS_AARCH64 ? f != 0 : f >> 3) << FP_SHIFT;
    if (LINK)
        rule |= (uint64_t)k >> 3 << RA_SHIFT | (k == 0 || c == BELOW ? LEAF : 0);
    return rule | (IS_AARCH64 && info & ROW_SIGNED_RA ? SIGNED_RA : 0);
}

/* ---- Lookup ---------------------------------------------------------------------------------------------------- */

/* Bytes of the words of a row with info byte INFO (2.4.1): their number, times 1, 2 or 4. sfu_check accepts no other
 * size. */
/* clang-format off */
#define PAIR(n)    (n), (n)
#define ALL(times) PAIR(0 * (times)), PAIR(1 * (times)), PAIR(2 * (times)), PAIR(3 * (times)), PAIR(4 * (times)), \
                   PAIR(5 * (times)), PAIR(6 * (times)), PAIR(7 * (times)), PAIR(8 * (times)), PAIR(9 * (times)), \
                   PAIR(10 * (times)), PAIR(11 * (times)), PAIR(12 * (times)), PAIR(13 * (times)), PAIR(14 * (times)), \
                   PAIR(15 * (times))
/* clang-format on */

INLINE size_t words_size(size_t info)
{
    static const uint8_t sizes[256] = {ALL(1), ALL(2), ALL(4), ALL(0), ALL(1), ALL(2), ALL(4), ALL(0)};

    return SMALL ? (info >> 1 & 15) << (info >> 5 & 3) : sizes[info];
}

/* The start of the row at P, of 1 byte or, if WIDE, 2. */
INLINE uint32_t row_start(const uint8_t *p, unsigned wide)
{
    return wide ? load2(p) : p[0];
}

/* The rule for OFFSET among the ROWS rows at P. 0 if the row is not common, or OFFSET is in front of all. sfu_check has
 * accepted the rows: they ascend and lie in the tables. */
INLINE uint64_t find_row(const uint8_t *p, uint32_t rows, uint32_t offset, unsigned wide)
{
    size_t info = 0, size = 0;

    for (; rows > 0 && row_start(p, wide) <= offset; rows--) {
        info = p[1 + wide];
        size = words_size(info);
        p += 2 + wide + size;
    }
    p -= size;
    if (SMALL)
        return pack((unsigned)info, p, info >> 5 & 1);
    return info >> 5 & 1 ? pack((unsigned)info, p, 1) : pack((unsigned)info, p, 0);
}

/* The rule for OFFSET in the function whose attributes (2.3.3) are at P. */
INLINE uint64_t row_rule(const uint8_t *p, uint32_t offset)
{
    const uint8_t *first = p + ATTRIBUTES_SIZE;
    unsigned wide = p[2] & INFO_WIDE;

    if (load2(p + 2) & UNCOMMON)
        return 0;
    if (SMALL)
        return find_row(first, load2(p), offset, wide);
    return wide ? find_row(first, load2(p), offset, 1) : find_row(first, load2(p), offset, 0);
}

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

/* The rule for PC, a lookup PC that IMAGE may have, or 0. */
INLINE uint64_t find_rule(const struct sfu_fast_image *image, uint64_t pc)
{
    uint64_t where = pc - image->origin, offset;
    const uint32_t *entry;
    size_t at;
    uint32_t n;

    if (!image->common)
        return 0;
    entry = image->index + ((pc - image->low) >> image->block_shift);
    at = entry[0] * (size_t)FDE_SIZE;
    n = entry[1] - entry[0] + 1;
    if (SMALL)
        at = bisect(image, at, n, (int64_t)where, image->relative);
    else if (image->relative)
        at = bisect(image, at, n, (int64_t)where, UINT64_MAX);
    else
        at = bisect(image, at, n, (int64_t)where, 0);
    offset = where - (uint64_t)start_at(image, at, image->relative);
    if (offset >= load4(image->fdes + at + FDE_LENGTH))
        return 0;
    return row_rule(image->rows + load4(image->fdes + at + FDE_ROWS), (uint32_t)offset);
}

/* The first of IMAGES (at least 1) that may have PC, a lookup PC, or NULL. */
INLINE const struct sfu_fast_image *image_of(const struct sfu_fast_image *image, uint64_t pc)
{
    do {
        if (pc - image->low <= image->span)
            break;
        image = image->next;
    } while (image != NULL);
    return image;
}

/* The rule for PC, a lookup PC, in IMAGES, or 0. */
OUT_OF_LINE uint64_t look_up(const struct sfu_fast_image *images, uint64_t pc)
{
    const struct sfu_fast_image *image = image_of(images, pc);

    return image != NULL ? find_rule(image, pc) : 0;
}

/* ---- Cache ----------------------------------------------------------------------------------------------------- */

/* A trace. Only its walk changes. */
struct trace {
    struct sfu_walk walk;
    const struct sfu_fast_image *images; /* NULL: all is left to the core */
    uint64_t *cache;     /* two entries for each set, the second mask + 1 behind the first; or NULL */
    uint64_t base;       /* a KEY is a return address from here */
    uint64_t mask;       /* how many sets there are, less 1 */
    uint64_t generation; /* not 0 */
};

/* Takes a view of FAST. A change sets the generation to 0 before it, and to another number after it. So a view is of
 * one generation, or it has no cache. */
INLINE void look(struct trace *v, const struct sfu_fast *fast)
{
    const struct sfu_target *t = v->walk.target;
    uint32_t generation = __atomic_load_n(&fast->generation, __ATOMIC_ACQUIRE);

    v->images = __atomic_load_n(&fast->images, __ATOMIC_ACQUIRE);
    v->base = __atomic_load_n(&fast->base, __ATOMIC_ACQUIRE) + SFU_PC_RETURN;
    v->cache = fast->cache;
    v->mask = fast->cache_mask;
    v->generation = generation;
    if (generation == 0 || __atomic_load_n(&fast->generation, __ATOMIC_RELAXED) != generation)
        v->cache = NULL;
    if ((v->images != NULL && v->images->section != t->sections) || t->original_ra != NULL)
        v->images = NULL;
}

/* What an entry for KEY has above its rule. A KEY of more than KEY_BITS has a label that is in no entry. */
INLINE uint64_t label(const struct trace *v, uint64_t key)
{
    return (key >> MIN_SET_BITS << GENERATION_BITS) + v->generation;
}

/* The set for KEY. Set and label together tell KEY. */
INLINE uint64_t set_of(const struct trace *v, uint64_t key)
{
    return (key ^ key >> MIN_SET_BITS) & v->mask;
}

/* An entry is one word, read and written at once. */
INLINE uint64_t read_entry(const uint64_t *entry)
{
    return __atomic_load_n(entry, __ATOMIC_RELAXED);
}

INLINE void write_entry(uint64_t *entry, uint64_t value)
{
    __atomic_store_n(entry, value, __ATOMIC_RELAXED);
}

/* Makes RULE for KEY the first entry of its set. The entry there becomes the second. So what is used most is found at
 * once. */
INLINE void keep(const struct trace *v, uint64_t key, uint64_t rule)
{
    uint64_t *entry = &v->cache[set_of(v, key)];

    write_entry(entry + v->mask + 1, read_entry(entry));
    write_entry(entry, rule);
}

/* Finds the rule for KEY where the first entry of its set is another's: in the second, or in a section. Keeps it and
 * returns it, or 0 if there is none. */
INLINE_FAST uint64_t find(const struct trace *v, uint64_t key)
{
    uint64_t wanted = label(v, key), rule = read_entry(v->cache + set_of(v, key) + v->mask + 1);

    if (rule >> RULE_BITS != wanted) {
        rule = look_up(v->images, key + v->base - SFU_PC_RETURN);
        if (rule == 0 || key >> KEY_BITS != 0)
            return rule;
        rule |= wanted << RULE_BITS;
    }
    keep(v, key, rule);
    return rule;
}

/* ---- Frames ---------------------------------------------------------------------------------------------------- */

/* RA without its PAC, as the core does it. */
INLINE uint64_t strip(const struct sfu_target *t, uint64_t ra)
{
    uint64_t bit55 = (uint64_t)1 << 55, mask = t->pac_mask != 0 ? t->pac_mask : ~(((uint64_t)1 << 48) - 1);

    return ra & bit55 ? ra | mask : ra & ~mask;
}

/* Walks on by the short way as far as it leads, at most COUNT (at least 1) frames, and stores their PCs at OUT. The
 * frame's SP is in the stack; its pc, sp and fp become those of the last frame. Returns how many frames those were. In
 * here stack addresses are offsets in the stack. */
INLINE size_t go(struct trace *v, size_t count, uint64_t *out, bool cached)
{
    ptrdiff_t i = -(ptrdiff_t)count; /* of the next PC, from the end */
    struct sfu_registers *regs = &v->walk.frame.regs;
    const struct sfu_stack *stack = &v->walk.stack;
    const uint8_t *bytes = (const uint8_t *)stack->bytes;
    const uint64_t *cache = v->cache;
    const uint64_t low = stack->low, span = stack->high - low;
    uint64_t pc = regs->pc, sp = regs->sp - low, cfa, rule;
    uint64_t where = pc - regs->pc_kind, key = where + SFU_PC_RETURN - v->base;
    bool exact = regs->pc_kind == SFU_PC_EXACT;

    out += count;
    do {
        if (cached) {
            rule = read_entry(&cache[set_of(v, key)]);
            if (UNLIKELY(rule >> RULE_BITS != label(v, key))) {
                rule = find(v, key);
                if (rule == 0)
                    break;
            }
        } else {
            rule = look_up(v->images, where);
            if (rule == 0)
                break;
        }
        cfa = sp + rule_cfa(rule);
        if (rule & BASE_FP) {
            if (UNLIKELY(regs->fp - low < sp || regs->fp - low > span))
                break;
            cfa = regs->fp - low + rule_cfa(rule);
        }
        if (UNLIKELY(cfa > span))
            break;
        if (LINK && UNLIKELY(rule & LEAF) && (!exact || (rule_ra(rule) == 0 && !regs->has_ra)))
            break;
        pc = LINK && rule_ra(rule) == 0 ? regs->ra : load8(bytes + (cfa - rule_ra(rule)));
        if (rule_fp(rule) != 0)
            regs->fp = load8(bytes + (cfa - rule_fp(rule)));
        if (IS_AARCH64 && rule & SIGNED_RA)
            pc = strip(v->walk.target, pc);
        sp = cfa - BELOW;
        where = pc - SFU_PC_RETURN;
        key = pc - v->base;
        exact = false;
        out[i] = pc;
    } while (++i != 0);
    regs->pc = pc;
    regs->sp = sp + low;
    return count - (size_t)-i;
}

/* Whether PC may be code of SECTION. */
INLINE bool in_text(const struct sfu_section *section, uint64_t pc)
{
    return section->text.high == 0 || (pc >= section->text.low && pc < section->text.high);
}

/* The code that the core has for PC, a lookup PC that is in none of IMAGES. */
INLINE int code_outside(const struct sfu_fast_image *image, uint64_t pc)
{
    for (; image != NULL; image = image->next)
        if (in_text(image->section, pc))
            return SFU_E_NO_FDE;
    return SFU_E_NOT_CODE;
}

/* Walks on by the short way, at most COUNT (at least 1) frames, and stores their PCs at OUT. Leaves the walk as the
 * core does. Returns how many frames those were. If the last caller's PC is outside of all images, and nobody else is
 * asked about it, *CODE becomes what the core would return next: SFU_E_NO_FDE or SFU_E_NOT_CODE. */
INLINE size_t go_on(struct trace *v, size_t count, uint64_t *out, int *code)
{
    const struct sfu_target *t = v->walk.target;
    struct sfu_frame *frame = &v->walk.frame;
    uint32_t limit = t->max_frames != 0 ? t->max_frames : SFU_MAX_FRAMES;
    size_t done;

    if (v->images == NULL || v->walk.stack.bytes == NULL || frame->regs.sp < v->walk.stack.low ||
        frame->regs.sp > v->walk.stack.high || frame->depth + 1 >= limit)
        return 0;
    if (count > limit - 1 - frame->depth)
        count = limit - 1 - frame->depth;
    if (SMALL)
        done = go(v, count, out, v->cache != NULL);
    else
        done = v->cache != NULL ? go(v, count, out, true) : go(v, count, out, false);
    if (done > 0) {
        frame->regs.ra = 0;
        frame->regs.has_ra = false;
        frame->regs.pc_kind = SFU_PC_RETURN;
        frame->saved = 0;
        frame->depth += (uint32_t)done;
        frame->interrupted = frame->switched = frame->replaced = false;
        frame->guess = SFU_GUESS_NONE;
        v->walk.stayed = false; /* asked only where the PC is exact */
    }
    if (!SMALL && done < count && t->trap_hook == NULL && !t->frame_pointers &&
        frame->regs.pc_kind == SFU_PC_RETURN && image_of(v->images, frame->regs.pc - SFU_PC_RETURN) == NULL)
        *code = code_outside(v->images, frame->regs.pc - SFU_PC_RETURN);
    return done;
}

/* ---- Images ---------------------------------------------------------------------------------------------------- */

/* Makes the index of a common IMAGE at INDEX, in blocks of 1 << SHIFT bytes. The entry of a block is the last function
 * that starts at or below its first address. The first block begins at low, and has one. One more entry stands at the
 * end: the last function. */
OUT_OF_LINE void make_index(struct sfu_fast_image *image, uint32_t *index, unsigned shift)
{
    const uint32_t last = image->section->num_fdes - 1;
    uint64_t i;
    uint32_t n = 0;

    for (i = 0; i <= image->span >> shift; i++) {
        int64_t where = (int64_t)(image->low + (i << shift) - image->origin);

        while (n < last && start_at(image, (n + (size_t)1) * FDE_SIZE, image->relative) <= where)
            n++;
        index[i] = n;
    }
    index[i] = last;
    image->index = index;
    image->block_shift = (uint8_t)shift;
}

/* Decides whether image->section may take the short way: sfu_check accepts it, and its functions ascend from the
 * image's origin on as signed numbers, too. Then finds where its code is, as far as that is in its text. Any other
 * section may have any PC. */
static void survey(struct sfu_fast_image *image)
{
    const struct sfu_section *s = image->section;
    uint32_t n = s->num_fdes, size = 0; /* of the last function that is not empty */
    uint64_t first, end;
    unsigned shift = 0;
    size_t at = 0;

    image->low = 0;
    image->span = UINT64_MAX;
    image->common = false;
    if (s->bytes == NULL || s->version != 3 || s->abi != NATIVE || s->big != BIG || !(s->flags & FLAG_SORTED) ||
        s->ra.offset != FIXED_RA || s->fp.offset != 0 || sfu_check(s, NULL) != SFU_OK)
        return;
    image->fdes = s->bytes + s->fdes;
    image->rows = s->bytes + s->rows;
    image->relative = s->flags & FLAG_FIELD_RELATIVE ? UINT64_MAX : 0;
    image->origin = s->addr + (s->fdes & image->relative);
    while (n > 0 && size == 0) {
        n--;
        at = n * (size_t)FDE_SIZE;
        size = load4(image->fdes + at + FDE_LENGTH);
    }
    first = image->origin + (uint64_t)start_at(image, 0, image->relative);
    end = image->origin + (uint64_t)start_at(image, at, image->relative) + size;
    if (end == first || end - first > INT64_MAX ||
        (int64_t)(first - image->origin) > (int64_t)(end - image->origin))
        return;
    if (s->text.high != 0 && s->text.high < end)
        end = s->text.high;
    if (first < s->text.low)
        first = s->text.low;
    if (first >= end)
        return;
    image->low = first;
    image->span = end - 1 - first;
    image->common = true;
    while (image->span >> shift >= SFU_FAST_BLOCKS)
        shift++;
    make_index(image, image->coarse, shift);
}

size_t sfu_fast_index_size(const struct sfu_fast_image *image)
{
    uint64_t blocks = image->span >> BLOCK_SHIFT;

    return image->common && blocks < UINT32_MAX / 4 ? ((size_t)blocks + 2) * sizeof(uint32_t) : 0;
}

bool sfu_fast_set_index(struct sfu_fast_image *image, void *memory, size_t bytes)
{
    size_t size = sfu_fast_index_size(image);

    if (size == 0 || bytes < size)
        return false;
    make_index(image, (uint32_t *)memory, BLOCK_SHIFT);
    return true;
}

static void clear(struct sfu_fast *fast)
{
    uint64_t i;

    for (i = 0; i / 2 <= fast->cache_mask; i++)
        write_entry(&fast->cache[i], 0);
}

void sfu_fast_set_cache(struct sfu_fast *fast, void *memory, size_t bytes)
{
    size_t off = (size_t)(0 - (uintptr_t)memory) % sizeof(uint64_t), entries = 2 << MIN_SET_BITS;

    fast->cache = NULL;
    if (bytes < off || (bytes - off) / sizeof(uint64_t) < entries)
        return;
    while (entries <= (bytes - off) / sizeof(uint64_t) / 2)
        entries *= 2;
    fast->cache = (uint64_t *)(void *)((uint8_t *)memory + off);
    fast->cache_mask = entries / 2 - 1;
    clear(fast);
}

#else

#define REACH 0

/* Any other CPU: no frame is common. */
struct trace {
    struct sfu_walk walk;
};

static void look(struct trace *v, const struct sfu_fast *fast)
{
    (void)v;
    (void)fast;
}

static size_t go_on(struct trace *v, size_t count, uint64_t *out, int *code)
{
    (void)v;
    (void)count;
    (void)out;
    (void)code;
    return 0;
}

static void survey(struct sfu_fast_image *image)
{
    image->low = 0;
    image->span = UINT64_MAX;
    image->common = false;
}

static void clear(struct sfu_fast *fast)
{
    (void)fast;
}

size_t sfu_fast_index_size(const struct sfu_fast_image *image)
{
    (void)image;
    return 0;
}

bool sfu_fast_set_index(struct sfu_fast_image *image, void *memory, size_t bytes)
{
    (void)image;
    (void)memory;
    (void)bytes;
    return false;
}

void sfu_fast_set_cache(struct sfu_fast *fast, void *memory, size_t bytes)
{
    (void)fast;
    (void)memory;
    (void)bytes;
}

#endif

/* ---- Changes --------------------------------------------------------------------------------------------------- */

/* Traces that begin from now on leave the cache alone. Returns the last generation, for end_change. */
static uint32_t begin_change(struct sfu_fast *fast)
{
    uint32_t generation = fast->generation;

    __atomic_store_n(&fast->generation, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return generation;
}

/* Entries of the next generation count. Before a number returns, no entry may have it. */
static void end_change(struct sfu_fast *fast, uint32_t generation)
{
    if (generation == SFU_FAST_GENERATIONS && fast->cache != NULL)
        clear(fast);
    __atomic_store_n(&fast->generation, generation % SFU_FAST_GENERATIONS + 1, __ATOMIC_RELEASE);
}

struct sfu_section *sfu_fast_sections(const struct sfu_fast *fast)
{
    return __atomic_load_n(&fast->sections, __ATOMIC_ACQUIRE);
}

int sfu_fast_add(struct sfu_fast *fast, struct sfu_fast_image *images, size_t room, struct sfu_section *list)
{
    struct sfu_section *s, *last = list;
    uint32_t generation;
    size_t i = 0;

    if (list == NULL)
        return SFU_E_NO_SECTION;
    if (fast->sections != NULL && fast->sections->abi != list->abi)
        return SFU_E_ABI;
    for (s = list; s != NULL; s = s->next) {
        if (i == room)
            return SFU_E_CONCATENATED;
        images[i].section = last = s;
        images[i].next = &images[i + 1];
        survey(&images[i]);
        i++;
    }
    last->next = fast->sections;
    images[i - 1].next = fast->images;
    generation = begin_change(fast);
    if (fast->images == NULL)
        fast->base = images->low - REACH;
    __atomic_store_n(&fast->images, images, __ATOMIC_RELEASE);
    __atomic_store_n(&fast->sections, list, __ATOMIC_RELEASE);
    end_change(fast, generation);
    return SFU_OK;
}

/* The loop ends: no image is in the list twice. What is taken out still leads to the rest, for traces that are
 * there. */
bool sfu_fast_remove(struct sfu_fast *fast, struct sfu_fast_image *images, size_t room)
{
    struct sfu_fast_image *image, **before = &fast->images;
    struct sfu_section **link = &fast->sections;
    uint32_t generation = begin_change(fast);
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
    end_change(fast, generation);
    return removed;
}

/* ---- Trace ----------------------------------------------------------------------------------------------------- */

/* Each pass gets at least a frame further, or to the end. Skipped frames are passed one at a time. */
int sfu_fast_trace(const struct sfu_fast *fast, const struct sfu_target *target, const struct sfu_registers *top,
                   size_t skip, uint64_t *pcs, size_t capacity, size_t *count)
{
    struct trace v;
    uint64_t nowhere;
    size_t stored = 0;
    int code = SFU_OK;

    sfu_walk_start(&v.walk, target, top);
    look(&v, fast);
    while (code == SFU_OK) {
        uint64_t *out = &nowhere;
        size_t wanted = 1, done;

        if (skip == 0) {
            if (stored == 0 && capacity > 0)
                pcs[stored++] = v.walk.frame.regs.pc;
            out = pcs + stored;
            wanted = capacity - stored;
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
