/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The fast walker never differs from the core, for any bytes of a mapped section. In the order of a lookup:
 *   prove_fast_function  of MAX_FDES functions that sfu_check accepts it takes the one that the core takes, with an
 *                        index of up to BLOCKS blocks; of a PC outside of the section's code the core says
 *                        SFU_E_NO_FDE
 *   prove_fast_index     the index is what prove_fast_function takes it for
 *   prove_fast_row       of up to MAX_ROWS rows that check_rows accepts, in up to SIZE bytes, it takes the one that the
 *                        core takes, and none of a function that is not common
 *   prove_fast_pack      whatever rule it makes of a row, the core makes the same: no bound
 *   prove_fast_entry     an entry of the cache counts for its own PC and generation only: no bound
 * Each begins with any values of what the one before it ends with.
 */
#include "sfu.c"

/* What both files have under one name, each for itself. */
#undef INLINE
#undef OUT_OF_LINE
#define FLAG_SORTED         FAST_SORTED
#define FLAG_FIELD_RELATIVE FAST_FIELD_RELATIVE
#define ATTRIBUTES_SIZE     FAST_ATTRIBUTES_SIZE
#define ROW_BASE_SP         FAST_BASE_SP
#define LINK                FAST_LINK
#define load2               fast_load2
#define load4               fast_load4
#define load8               fast_load8
#define load_signed         fast_load_signed
#define read_entry          fast_read_entry
#define strip               fast_strip
#define pack                fast_pack
#define find_row            fast_find_row
#include "port/fast/sfu_fast.h"
#undef SFU_FAST_BLOCKS
#define SFU_FAST_BLOCKS UINT64_MAX /* any_index has a size of blocks of its own */
#include "port/fast/sfu_fast.c"
#undef ATTRIBUTES_SIZE
#undef find_row

#ifndef SIZE
#define SIZE 64
#endif
#ifndef MAX_FDES
#define MAX_FDES 1
#endif
enum { BLOCKS = 2 };
#ifndef MAX_ROWS
#define MAX_ROWS 1
#endif

#define ASSUME(condition)      __CPROVER_assume(condition)
#define PROVE(condition, text) __CPROVER_assert(condition, text)

static uint8_t bytes[SIZE];
uint64_t nondet_u64(void);
uint32_t nondet_u32(void);
uint8_t nondet_u8(void);

/* Any section that may be common, of any bytes: open.c proves what opening checks. The header is of no use to a lookup,
 * and need not be there. Of others, survey says that they are not common and may have any PC. */
static void any_section(struct sfu_section *s)
{
    struct sfu_section any;

    ASSUME(any.size <= SIZE && any.addr <= UINT64_MAX - any.size && any.num_fdes <= MAX_FDES);
    ASSUME(any.fdes + (uint64_t)any.num_fdes * FDE_SIZE <= any.rows && any.rows <= any.end && any.end <= any.size);
    *s = any;
    s->next = NULL;
    s->bytes = bytes;
    s->read = NULL;
    s->version = 3;
    s->abi = NATIVE;
    s->big = BIG;
    s->fde_size = FDE_SIZE;
    set_unmentioned(&s->fp, nondet_u8(), abi_of(NATIVE)->fp);
    set_unmentioned(&s->ra, nondet_u8(), abi_of(NATIVE)->ra);
    __CPROVER_havoc_object(bytes);
}

/* The same with its tables in the places that they mostly have. */
static void simple_section(struct sfu_section *s, uint32_t fdes)
{
    any_section(s);
    ASSUME(s->num_fdes == fdes);
    s->num_fdes = fdes;
    s->fdes = 0;
    s->rows = fdes * FDE_SIZE;
    ASSUME(s->end >= s->rows);
}

static bool is_rule(const struct sfu_rule *rule, uint32_t control, int64_t offset)
{
    return rule->control == control && rule->offset == offset;
}

/* RULE, not 0, is that of ROW. */
static void prove_rule(const struct sfu_row *row, uint64_t rule)
{
    const struct abi *abi = abi_of(NATIVE);

    PROVE(rule >> RULE_BITS == 0, "a rule has RULE_BITS bits");
    PROVE(row->kind == SFU_ROW_RULES && !row->trap_frame, "a rule is of a row");
    PROVE(is_rule(&row->cfa, register_rule(rule & BASE_FP ? abi->fp : abi->sp), (int64_t)rule_cfa(rule)), "CFA");
    PROVE(rule_ra(rule) == 0 ? is_rule(&row->ra, register_rule(abi->ra), 0)
                             : is_rule(&row->ra, RULE_DEREFERENCE, -(int64_t)rule_ra(rule)),
          "RA");
    PROVE(rule_fp(rule) == 0 ? is_rule(&row->fp, register_rule(abi->fp), 0)
                             : is_rule(&row->fp, RULE_DEREFERENCE, -(int64_t)rule_fp(rule)),
          "FP");
    PROVE(row->signed_ra == ((rule & SIGNED_RA) != 0), "PAC");
    PROVE(rule_ra(rule) <= rule_cfa(rule) && rule_fp(rule) <= rule_cfa(rule), "no slot is below the base");
    PROVE(rule_cfa(rule) > BELOW || rule & LEAF, "SP grows, but for leaves");
}

/* ---- Function -------------------------------------------------------------------------------------------------- */

/* What stands for sfu_check: it accepts functions that do not wrap, in ascending order, empty ones anywhere (sfu.h),
 * and whose attributes are in the tables. */
int accepts_order(const struct sfu_section *s, struct sfu_place *place);
int accepts_order(const struct sfu_section *s, struct sfu_place *place)
{
    uint64_t before = 0, end = 0;
    uint32_t i;

    (void)place;
    for (i = 0; i < s->num_fdes; i++) {
        const uint8_t *p = s->bytes + fde_at(s, i);
        uint64_t start = fde_start(s, i, p), size = load4(p + 8);

        if (start < before || (start < end && size > 0) || start > UINT64_MAX - size ||
            (uint64_t)s->rows + load4(p + 12) + ATTRIBUTES_SIZE > s->end)
            return SFU_E_UNSORTED;
        before = start;
        if (size > 0)
            end = start + size;
    }
    return s->num_fdes > 0 ? (int)SFU_OK : (int)SFU_E_EMPTY;
}

/* Entry I of the index of IMAGE, in blocks of 1 << SHIFT bytes: the last function that starts at or below the
 * block's start. */
static bool is_entry(const struct sfu_fast_image *image, uint32_t entry, uint64_t i, unsigned shift)
{
    const uint32_t last = image->section->num_fdes - 1;
    int64_t where = (int64_t)(image->low + (i << shift) - image->origin);

    if (i > image->span >> shift)
        return entry == last;
    return entry <= last && start_at(image, entry * (size_t)FDE_SIZE, image->relative) <= where &&
           (entry == last || start_at(image, (entry + (size_t)1) * FDE_SIZE, image->relative) > where);
}

static uint32_t blocks[BLOCKS + 1];

/* What stands for make_index: prove_fast_index proves it. The size of a block is any that leaves BLOCKS at most. */
void any_index(struct sfu_fast_image *image, uint32_t *index, unsigned shift);
void any_index(struct sfu_fast_image *image, uint32_t *index, unsigned shift)
{
    (void)index;
    shift = nondet_u8();
    ASSUME(shift < 64 && image->span >> shift < BLOCKS);
    __CPROVER_havoc_object(blocks);
    ASSUME(is_entry(image, blocks[0], 0, shift) && is_entry(image, blocks[1], 1, shift));
    ASSUME(image->span >> shift == 0 || is_entry(image, blocks[2], 2, shift));
    image->index = blocks;
    image->block_shift = (uint8_t)shift;
}

static uint32_t core_fde; /* the function that the core takes */
static const uint8_t *fast_attributes;
static uint32_t fast_offset;

int take_fde(struct lookup *l, uint32_t index);
int take_fde(struct lookup *l, uint32_t index)
{
    (void)l;
    core_fde = index;
    return SFU_OK;
}

uint64_t take_attributes(const uint8_t *p, uint32_t offset);
uint64_t take_attributes(const uint8_t *p, uint32_t offset)
{
    fast_attributes = p;
    fast_offset = offset;
    return 1;
}

void prove_fast_function(void)
{
    struct sfu_section s;
    struct sfu_fast_image image;
    struct lookup l;
    uint64_t pc = nondet_u64(), rule = 0;
    int code;

    simple_section(&s, MAX_FDES);
    image.section = &s;
    image.next = NULL;
    survey(&image);
    if (image_of(&image, pc) != NULL)
        rule = find_rule(&image, pc);
    l.s = &s;
    code = find_fde(&l, pc);
    PROVE(image_of(&image, pc) != NULL || code == SFU_E_NO_FDE || !is_in(&s.text, pc),
          "no function has a PC outside of the code");
    if (rule == 0)
        return;
    PROVE(is_in(&s.text, pc), "a rule is for a PC that is looked up");
    PROVE(code == SFU_OK, "the core finds a function, too");
    PROVE(fast_attributes == bytes + s.rows + load4(bytes + s.fdes + core_fde * FDE_SIZE + FDE_ROWS),
          "it is the same");
    PROVE(fast_offset == pc - l.fde.start, "and the PC is at the same place in it");
}

/* Of functions in order, from where survey says that the code is. */
void prove_fast_index(void)
{
    struct sfu_section s;
    struct sfu_fast_image image;
    unsigned shift = nondet_u8();
    uint32_t i;

    simple_section(&s, MAX_FDES);
    image.section = &s;
    image.fdes = bytes;
    image.relative = s.flags & FLAG_FIELD_RELATIVE ? UINT64_MAX : 0;
    for (i = 0; i < MAX_FDES - 1; i++)
        ASSUME(start_at(&image, i * (size_t)FDE_SIZE, image.relative) <=
               start_at(&image, (i + (size_t)1) * FDE_SIZE, image.relative));
    ASSUME(start_at(&image, 0, image.relative) <= (int64_t)(image.low - image.origin));
    ASSUME((int64_t)(image.low - image.origin) <= (int64_t)(image.low + image.span - image.origin));
    ASSUME(image.span <= INT64_MAX && shift < 64 && image.span >> shift < BLOCKS);
    make_index(&image, blocks, shift);
    PROVE(is_entry(&image, blocks[0], 0, shift) && is_entry(&image, blocks[1], 1, shift),
          "the first block is right");
    PROVE(image.span >> shift == 0 || is_entry(&image, blocks[2], 2, shift), "the second block is right");
    PROVE(image.index == blocks && image.block_shift == shift, "it is the image's");
}

/* ---- Row ------------------------------------------------------------------------------------------------------- */

static unsigned fast_info;
static const uint8_t *fast_words;

uint64_t take_row(unsigned info, const uint8_t *p, unsigned wide);
uint64_t take_row(unsigned info, const uint8_t *p, unsigned wide)
{
    PROVE(wide == (info >> 5 & 1), "words are loaded as the row says");
    fast_info = info;
    fast_words = p;
    return 1;
}

/* Of the section's only function. */
void prove_fast_row(void)
{
    struct sfu_section s;
    struct lookup l;
    uint32_t offset = nondet_u32(), index;
    int code;

    simple_section(&s, 1);
    bytes[FDE_ROWS] = bytes[FDE_ROWS + 1] = bytes[FDE_ROWS + 2] = bytes[FDE_ROWS + 3] = 0;
    l.s = &s;
    /* what sfu_check has found out */
    ASSUME(read_range(&l, 0) == SFU_OK && read_attributes(&l, 0) == SFU_OK && l.fde.num_rows <= MAX_ROWS);
    ASSUME(check_rows(&l, &index) == SFU_OK);
    ASSUME(offset < l.fde.size);
    if (row_rule(bytes + l.fde.rows - ATTRIBUTES_SIZE, offset) == 0)
        return;
    PROVE(l.fde.type == TYPE_DEFAULT && !(l.fde.info & (INFO_SIGNAL | INFO_MASK)), "a common function");
    code = find_row(&l, l.fde.start + offset);
    if (fast_info == 0) /* no row: pack has no rule */
        return;
    PROVE(code == SFU_OK && l.fde.num_rows > 0, "the core finds a row, too");
    PROVE(fast_info == l.row.info && fast_words == bytes + l.row.words, "it is the same");
}

/* The words of a row end where its record ends. */
void prove_fast_pack(void)
{
    uint8_t info = nondet_u8();
    unsigned count = info >> 1 & 15, wide = info >> 5 & 1;
    uint64_t rule;
    struct sfu_section s;
    struct sfu_row row;
    struct lookup l;

    any_section(&s);
    ASSUME(s.ra.offset == FIXED_RA && s.fp.offset == 0);
    s.end = SIZE;
    l.s = &s;
    l.fde.num_rows = 1;
    l.fde.type = TYPE_DEFAULT;
    l.row.info = info;
    l.row.count = (uint8_t)count;
    l.row.size = (uint8_t)(1u << (info >> 5 & 3));
    ASSUME(l.row.size <= 4); /* read_row */
    l.row.words = SIZE - (count << wide);
    rule = pack(info, bytes + l.row.words, wide);
    if (rule == 0)
        return;
    PROVE(info != 0, "a rule is of a row");
    PROVE(read_rules(&l, &row) == SFU_OK, "the core has rules, too");
    row.trap_frame = false;
    row.signed_ra = info & abi_of(NATIVE)->signed_ra;
    prove_rule(&row, rule);
}

/* ---- Cache ----------------------------------------------------------------------------------------------------- */

/* Two keys, in caches of the same size. */
void prove_fast_entry(void)
{
    struct trace one, two;
    uint64_t kept = nondet_u64(), wanted = nondet_u64();
    unsigned bits = nondet_u32();
    uint64_t entry, rule = nondet_u64();

    ASSUME(bits >= MIN_SET_BITS && bits < 32);
    one.mask = two.mask = ((uint64_t)1 << bits) - 1;
    ASSUME(one.generation >= 1 && one.generation <= SFU_FAST_GENERATIONS);
    ASSUME(two.generation >= 1 && two.generation <= SFU_FAST_GENERATIONS);
    ASSUME(kept >> KEY_BITS == 0 && rule >> RULE_BITS == 0);
    entry = label(&one, kept) << RULE_BITS | rule;
    if (set_of(&one, kept) == set_of(&two, wanted) && entry >> RULE_BITS == label(&two, wanted)) {
        PROVE(kept == wanted, "an entry counts for its own PC");
        PROVE(one.generation == two.generation, "an entry counts in its own generation");
        PROVE((entry & (((uint64_t)1 << RULE_BITS) - 1)) == rule, "an entry has the rule");
    }
    PROVE(label(&two, wanted) != 0, "an empty entry counts for no PC");
}
