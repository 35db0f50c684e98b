/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The fast walker never differs from the core, for any bytes of a mapped section. In the order of a lookup:
 *   prove_fast_function  of MAX_FDES functions that sfu_check accepts it takes the one that the core takes, with an
 *                        index of up to BLOCKS blocks; of a PC outside of the section's code the core says
 *                        SFU_E_NO_FDE
 *   prove_fast_index     the index is what prove_fast_function takes it for
 *   prove_fast_row       of up to MAX_ROWS rows that check_rows accepts, in up to SIZE bytes, it takes the one that the
 *                        core takes; each kind of rows is a proof of its own
 *   prove_fast_rule      whatever rule it makes of a row, default or flexible, the core makes the same: no bound
 *   prove_fast_entry     an entry of the cache, at any place, counts for its own PC only: no bound
 *   prove_fast_pc        an entry tells its PC: no bound
 *   prove_fast_short     what an entry says of a rule is that rule: no bound
 *   prove_fast_large     the same of a large frame: no bound
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
#define load                fast_load
#define is_in               fast_is_in
#define INFO_ADDRESS        FAST_INFO_ADDRESS
#define INFO_MASK           FAST_INFO_MASK
#define INFO_SIGNAL         FAST_INFO_SIGNAL
#define INFO2_TYPE          FAST_INFO2_TYPE
#define RULE_REGISTER       FAST_RULE_REGISTER
#define RULE_DEREFERENCE    FAST_RULE_DEREFERENCE
#define RULE_NUMBER         FAST_RULE_NUMBER
#define SP                  FAST_SP
#define FP                  FAST_FP
#ifdef AARCH64 /* the CPU that is proven, instead of this one */
#undef __x86_64__
#undef __aarch64__
#define __aarch64__ 1
#endif
#include "port/fast/sfu_fast.h"
#undef SFU_FAST_BLOCKS
#define SFU_FAST_BLOCKS UINT64_MAX /* any_index has a size of blocks of its own */
#include "port/fast/sfu_fast.c"
#undef ATTRIBUTES_SIZE
#undef INFO_MASK
#undef INFO_SIGNAL
#undef RULE_REGISTER
#undef RULE_DEREFERENCE
#undef is_in

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
#ifndef ADDRESS
#define ADDRESS 1
#define MASKED  0
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

/* ---- Function -------------------------------------------------------------------------------------------------- */

/* What stands for sfu_check: it accepts functions that do not wrap, in ascending order, empty ones anywhere (sfu.h),
 * and whose attributes are in the tables. */
int accepts_order(const struct sfu_section *s, struct sfu_place *place);
int accepts_order(const struct sfu_section *s, struct sfu_place *place)
{
    uint64_t before = 0, end = 0;
    struct tables t;
    uint32_t i;

    (void)place;
    get_tables(&t, s);
    for (i = 0; i < s->num_fdes; i++) {
        const uint8_t *p = s->bytes + fde_at(&t, i);
        uint64_t start = fde_start(&t, i, p), size = load4(p + 8);

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

static uint32_t blocks[BLOCKS + 2];

/* What stands for make_index: prove_fast_index proves it. The size of a block is any that leaves BLOCKS at most. */
uint32_t *any_index(struct sfu_fast_image *image, uint32_t *index, unsigned shift);
uint32_t *any_index(struct sfu_fast_image *image, uint32_t *index, unsigned shift)
{
    (void)index;
    shift = nondet_u8();
    ASSUME(shift < 64 && image->span >> shift < BLOCKS);
    __CPROVER_havoc_object(blocks);
    blocks[0] = shift;
    ASSUME(is_entry(image, blocks[1], 0, shift) && is_entry(image, blocks[2], 1, shift));
    ASSUME(image->span >> shift == 0 || is_entry(image, blocks[3], 2, shift));
    image->index = blocks;
    return blocks + BLOCKS + 2;
}

static uint32_t core_fde; /* the function that the core takes */
static const uint8_t *fast_attributes;
static uint32_t fast_offset, fast_fde;

int take_fde(struct lookup *l, const uint8_t *p);
int take_fde(struct lookup *l, const uint8_t *p)
{
    core_fde = (uint32_t)(p - l->s->bytes - l->s->fdes) / FDE_SIZE;
    return SFU_OK;
}

const struct sfu_fast_rule *take_attributes(const struct sfu_fast_image *image, size_t at, uint32_t offset,
                                            struct sfu_fast_rule *own);
const struct sfu_fast_rule *take_attributes(const struct sfu_fast_image *image, size_t at, uint32_t offset,
                                            struct sfu_fast_rule *own)
{
    fast_fde = (uint32_t)(at / FDE_SIZE);
    PROVE(at == fast_fde * (size_t)FDE_SIZE, "it is an FDE");
    fast_attributes = attributes_of(image, at);
    fast_offset = offset;
    return own;
}

void prove_fast_function(void)
{
    static struct sfu_fast fast;
    struct sfu_section s;
    struct sfu_fast_image image;
    struct trace v;
    struct lookup l;
    const struct sfu_fast_rule *rule;
    struct sfu_fast_rule own;
    uint64_t pc = nondet_u64();
    int code;

    simple_section(&s, MAX_FDES);
    image.section = &s;
    image.next = NULL;
    survey(&image);
    v.fast = &fast;
    v.images = v.near = &image;
    rule = look_up(&v, pc, &own);
    l.s = &s;
    code = find_fde(&l, pc);
    PROVE(rule != &no_fde || (code == SFU_E_NO_FDE && fast_is_in(&s.text, pc)),
          "no function has a PC outside of the code");
    PROVE(rule != &not_code || !fast_is_in(&s.text, pc), "what is not code is in no text");
    if (rule != &own)
        return;
    PROVE(fast_is_in(&s.text, pc), "a rule is for a PC that is looked up");
    PROVE(code == SFU_OK, "the core finds a function, too");
    PROVE(fast_fde == core_fde, "it is the same");
    PROVE(fast_attributes == bytes + s.rows + load4(bytes + s.fdes + core_fde * FDE_SIZE + FDE_ROWS),
          "so are its attributes");
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
    PROVE(make_index(&image, blocks, shift) == blocks + 3 + (image.span >> shift), "it says where the index ends");
    PROVE(is_entry(&image, blocks[1], 0, shift) && is_entry(&image, blocks[2], 1, shift),
          "the first block is right");
    PROVE(image.span >> shift == 0 || is_entry(&image, blocks[3], 2, shift), "the second block is right");
    PROVE(image.index == blocks && blocks[0] == shift, "it is the image's");
}

/* ---- Row ------------------------------------------------------------------------------------------------------- */

static unsigned fast_info, taken;
static const uint8_t *fast_words;
static bool fast_traps, fast_flexible;

const struct sfu_fast_rule *take_default(unsigned info, const uint8_t *p, unsigned size, bool traps,
                                         struct sfu_fast_rule *rule);
const struct sfu_fast_rule *take_default(unsigned info, const uint8_t *p, unsigned size, bool traps,
                                         struct sfu_fast_rule *rule)
{
    PROVE(size == 1u << (info >> 5 & 3), "words are loaded as the row says");
    fast_info = info;
    fast_words = p;
    fast_traps = traps;
    taken++;
    return rule;
}

const struct sfu_fast_rule *take_flexible(unsigned info, const uint8_t *p, unsigned size, bool traps,
                                          struct sfu_fast_rule *rule);
const struct sfu_fast_rule *take_flexible(unsigned info, const uint8_t *p, unsigned size, bool traps,
                                          struct sfu_fast_rule *rule)
{
    fast_flexible = true;
    return take_default(info, p, size, traps, rule);
}

/* Of the section's only function, whose rows have starts of ADDRESS bytes; MASKED: it is a block that repeats. */
void prove_fast_row(void)
{
    struct sfu_section s;
    struct sfu_fast_image image;
    struct sfu_fast_rule own;
    struct lookup l;
    uint32_t offset = nondet_u32(), index;
    const struct sfu_fast_rule *rule;
    int code;

    simple_section(&s, 1);
    image.long_index = NULL;
    image.fdes = bytes;
    image.rows = bytes + s.rows;
    bytes[FDE_ROWS] = bytes[FDE_ROWS + 1] = bytes[FDE_ROWS + 2] = bytes[FDE_ROWS + 3] = 0;
    l.s = &s;
    /* what sfu_check has found out */
    ASSUME(read_attributes(&l, read_range(&l, 0)) == SFU_OK && l.fde.num_rows <= MAX_ROWS);
    ASSUME(l.fde.address == ADDRESS && ((l.fde.info & INFO_MASK) != 0) == MASKED);
    ASSUME(check_rows(&l, &index) == SFU_OK);
    ASSUME(offset < l.fde.size);
    rule = row_rule(&image, 0, offset, &own);
    if (rule == &by_core)
        return;
    code = find_row(&l, l.fde.start + offset);
    PROVE(code == SFU_OK && l.fde.num_rows > 0, "the core finds a row, too");
    if (rule == &outermost) {
        PROVE(l.row.count == 0, "it is that of an outermost frame");
        return;
    }
    PROVE(fast_info == l.row.info && fast_words == bytes + l.row.words, "it is the same");
    PROVE(fast_flexible == (l.fde.type == TYPE_FLEXIBLE), "it is read as what it is");
    PROVE(taken == 1 && rule == &own, "once");
    PROVE(fast_traps == ((l.fde.info & INFO_SIGNAL) != 0), "a trap frame is one");
}

/* Any row that sfu_check accepts, whose words end where its record ends. */
static void any_row(struct sfu_section *s, struct lookup *l, struct sfu_row *row, uint8_t type)
{
    uint8_t info = nondet_u8();

    any_section(s);
    ASSUME(s->ra.offset == FIXED_RA && s->fp.offset == 0);
    s->end = SIZE;
    l->s = s;
    l->fde.num_rows = 1;
    l->fde.type = type;
    l->row.info = info;
    l->row.count = info >> 1 & 15;
    l->row.size = (uint8_t)(1u << (info >> 5 & 3));
    ASSUME(l->row.size <= 4 && l->row.count > 0); /* read_row; any_rule */
    l->row.words = SIZE - l->row.count * l->row.size;
    ASSUME(read_rules(l, row) == SFU_OK);
    row->trap_frame = false;
    row->signed_ra = info & abi_of(NATIVE)->signed_ra;
}

/* RULE says so, whatever a control word has in the bits that mean nothing: bit 2 and, of what counts from the CFA,
 * those of the register. */
static bool means(const struct sfu_rule *rule, uint32_t control, int64_t offset)
{
    uint32_t used = rule->control & RULE_REGISTER ? ~(uint32_t)4 : RULE_REGISTER | RULE_DEREFERENCE;

    return (rule->control & used) == control && rule->offset == offset;
}

/* What FROM of a wide rule is in a row. */
static uint32_t base_control(unsigned from)
{
    const struct abi *abi = abi_of(NATIVE);

    return from == FROM_CFA ? 0 : register_rule(from == FROM_SP ? abi->sp : abi->fp);
}

void prove_fast_rule(void)
{
    const struct sfu_fast_rule *made;
    struct sfu_section s;
    struct sfu_fast_rule rule;
    struct sfu_row row;
    struct lookup l;
    uint8_t type = nondet_u8() & 1;
    bool traps = nondet_u8() & 1;
    uint32_t base;

    any_row(&s, &l, &row, type);
    made = type == TYPE_DEFAULT ? default_rule(l.row.info, bytes + l.row.words, l.row.size, traps, &rule)
                                : flexible_rule(l.row.info, bytes + l.row.words, l.row.size, traps, &rule);
    PROVE(made == &rule || made == &by_core, "else the core does it");
    if (made != &rule)
        return;
    base = base_control(rule.how & FROM);
    PROVE((rule.how & FROM) != FROM_CFA && (rule.how & FROM) <= FROM_FP, "the CFA is from a register");
    PROVE(means(&row.cfa, base | (rule.how & CFA_LOADED ? RULE_DEREFERENCE : 0), rule.cfa), "CFA");
    PROVE(rule.how & RA_LEFT ? LINK && means(&row.ra, register_rule(abi_of(NATIVE)->ra), 0)
                             : means(&row.ra, base_control(rule.how >> RA_FROM & FROM) | RULE_DEREFERENCE, rule.ra),
          "RA");
    PROVE(rule.how & FP_LOADED
              ? means(&row.fp, base_control(rule.how >> FP_FROM & FROM) | RULE_DEREFERENCE, rule.fp)
              : means(&row.fp, register_rule(abi_of(NATIVE)->fp), 0),
          "FP");
    PROVE(((rule.how & TRAP) != 0) == traps && row.signed_ra == ((rule.how & SIGNED) != 0), "trap and PAC");
    PROVE(!(rule.how & (BY_CORE | OUTERMOST | NO_FDE | NOT_CODE)), "it is a rule");
    if (rule.how & COMPLEX)
        return;
    PROVE(!(rule.how & (TRAP | CFA_LOADED | RA_LEFT)) && means(&row.ra, RULE_DEREFERENCE, rule.ra) &&
              (!(rule.how & FP_LOADED) || means(&row.fp, RULE_DEREFERENCE, rule.fp)),
          "a simple one counts from the CFA");
    PROVE(rule.cfa > BELOW && rule.ra <= -8 && rule.ra + rule.cfa >= 0, "SP grows, and the RA is above the base");
    PROVE(rule.how & FP_LOADED ? rule.fp <= -8 && rule.fp + rule.cfa >= 0 : rule.fp == 0,
          "so is FP, or it is unset");
}

/* ---- Cache ----------------------------------------------------------------------------------------------------- */

/* A cache of any size, without anything in it. */
static void any_cache(struct sfu_fast *fast)
{
    const unsigned bits = nondet_u32();

    ASSUME(bits >= 8 && bits < 32);
    fast->mask = ((uint64_t)1 << bits) - 1;
    fast->shift = 64 - bits;
    fast->reach = reach_of(fast->mask);
}

/* Instead of a multiplication by an odd number modulo 2^64, which no solver takes apart: what is known of it. The
 * lowest bit in which two numbers differ is the lowest in which their products do: (a - b) * odd has as many zeros at
 * its end as a - b. It is known of the first product and each later one by the same number. LEFT: by how much the
 * multiplier is shifted, if it is even. */
static struct {
    uint64_t x, product, by;
    unsigned left;
    bool known;
} multiplied;

static uint64_t lowest_bit(uint64_t x)
{
    return x & (~x + 1);
}

uint64_t any_mixed(uint64_t x, uint64_t by);
uint64_t any_mixed(uint64_t x, uint64_t by)
{
    uint64_t product = nondet_u64();

    if (!multiplied.known) {
        multiplied.x = x;
        multiplied.product = product;
        multiplied.by = by;
        multiplied.known = true;
    } else if (by == multiplied.by || by << multiplied.left == multiplied.by) {
        ASSUME(lowest_bit(product ^ multiplied.product) == lowest_bit(x ^ multiplied.x));
    }
    return by & 1 ? product : product << multiplied.left;
}

uint64_t any_unmixed(uint64_t number, uint64_t odd);
uint64_t any_unmixed(uint64_t number, uint64_t odd)
{
    uint64_t x = nondet_u64();

    (void)odd;
    ASSUME(lowest_bit(number ^ multiplied.product) == lowest_bit(x ^ multiplied.x));
    return x;
}

/* The number by which a cache of any size multiplies is odd, and undone by its inverse. */
void prove_fast_inverse(void)
{
    struct sfu_fast fast;
    unsigned bits;

    for (bits = 8; bits < 32; bits++) {
        uint64_t by;

        fast.shift = 64 - bits;
        by = multiplier(fast.shift);
        PROVE(by % 2 == 1 && by * inverse(by) == 1, "the inverse undoes it");
    }
}

/* What is added to the products of a region: any number, the same one each time. */
static uint64_t turn;

uint64_t any_turn(uint64_t upper);
uint64_t any_turn(uint64_t upper)
{
    (void)upper;
    return turn;
}

/* Whether a region may have NUMBER. */
static bool is_number(uint32_t number)
{
    return number < SFU_FAST_REGIONS && (number % WIDE_STEP != 0 || number == 0 || number == WIDE_STEP);
}

/* Two PCs, each in front of a BEHIND in a region, in a cache of any size: an entry at any place for one, sought at any
 * place for the other. What is added in two regions may differ. */
void prove_fast_entry(void)
{
    struct sfu_fast fast;
    struct region kept_in, wanted_in;
    uint64_t kept = nondet_u64(), wanted = nondet_u64(), in_region, mix;
    unsigned kept_less, wanted_less;
    uint32_t says = nondet_u32(), entry, found, kept_number = nondet_u8(), wanted_number = nondet_u8();
    unsigned i = nondet_u8(), k = nondet_u8();

    ASSUME(i < WAYS && k < WAYS && says < NOT_FOUND && says != EMPTY);
    ASSUME(is_number(kept_number) && is_number(wanted_number));
    any_cache(&fast);
    multiplied.left = bits_above(fast.shift);
    multiplied.known = false;
    mix = mix_of(fast.shift);
    turn = nondet_u64();
    set_region(&kept_in, nondet_u64(), turn, kept_number);
    if (wanted_number != kept_number)
        turn = nondet_u64();
    set_region(&wanted_in, nondet_u64(), turn, wanted_number);
    kept_less = narrower(&kept_in);
    wanted_less = narrower(&wanted_in);
    in_region = (fast.reach >> kept_less) - 1;
    entry = tag_of(kept, kept_less, kept_in.tag) | says;
    found = says_in(entry, tag_of(wanted, wanted_less, wanted_in.tag));
    if ((place_of(kept, mix, kept_less, kept_in.turn, fast.shift) ^ i) ==
            (place_of(wanted, mix, wanted_less, wanted_in.turn, fast.shift) ^ k) &&
        found < NOT_FOUND) {
        PROVE((kept & in_region) == (wanted & in_region) && kept_number == wanted_number,
              "an entry counts for its own place");
        PROVE(found == says, "an entry has the rule");
        PROVE(cfa_of(entry) == cfa_of(found) && large_cfa_of(entry) == large_cfa_of(found),
              "an entry has the CFA's offset in the bits that what it says has it in");
    }
    entry = EMPTY;
    found = says_in(entry, tag_of(wanted, wanted_less, wanted_in.tag));
    PROVE(found >= NOT_FOUND || found == EMPTY, "an empty entry says nothing");
    PROVE(is_empty(tag_of(wanted, wanted_less, wanted_in.tag) | EMPTY) &&
              !is_empty(tag_of(kept, kept_less, kept_in.tag) | says),
          "an entry is empty or has a rule");
}

/* An entry for PC, at any place of a cache of any size that it may have, tells PC. */
void prove_fast_pc(void)
{
    struct sfu_fast fast;
    struct region region;
    uint64_t pc = nondet_u64();
    unsigned i = nondet_u8(), number = nondet_u8(), less = is_wide(number) ? 0 : NARROWER;
    uint32_t says = nondet_u32();
    uint64_t low;

    ASSUME(i < WAYS && is_number(number) && says < NOT_FOUND && says != EMPTY);
    any_cache(&fast);
    multiplied.left = bits_above(fast.shift);
    multiplied.known = false;
    turn = nondet_u64();
    fast.wide[0] = nondet_u64();
    low = (pc + 1) & ~((fast.reach >> less) - 1);
    if (is_wide(number))
        fast.wide[number / WIDE_STEP % 2] = low;
    else
        fast.regions[number % SFU_FAST_REGIONS] = ((pc + 1) >> narrow_bits(fast.shift)) + 1;
    set_region(&region, low, turn, number);
    PROVE(pc_of(&fast, place_of(pc + 1, mix_of(fast.shift), less, region.turn, fast.shift) ^ i,
                tag_of(pc + 1, less, region.tag) | says) == pc,
          "it tells the PC");
}

/* All of RULE, a simple one, but for its CFA is in its kind, which is any or becomes it. */
static void is_in_kind(const struct sfu_fast_rule *rule)
{
    struct sfu_fast_rule again;
    struct sfu_fast_kind at;
    int32_t base;

    ASSUME(rule->how < KIND_AT_SP); /* which no rule has */
    ASSUME(is_between(rule->ra, rule->cfa));
    ASSUME(rule->how & FP_LOADED ? is_between(rule->fp, rule->cfa) : rule->fp == 0); /* prove_fast_rule */
    if (!is_kind_or_becomes(&at, rule))
        return;
    base = is_at_sp(at.how) ? 0 : rule->cfa;
    PROVE(base + at.ra == rule->cfa + rule->ra, "the RA's place is where the rule has it");
    PROVE(base + at.fp == rule->cfa + (rule->how & FP_LOADED ? rule->fp : rule->ra),
          "so is that of FP, or it is the RA's");
    (void)rule_of_kind(&at, rule->cfa, &again);
    PROVE(again.cfa == rule->cfa && again.ra == rule->ra && again.fp == rule->fp && again.how == rule->how,
          "the rule can be made of it again");
}

/* A rule in short is all that it was: its CFA is in the entry, all else in its kind. */
void prove_fast_short(void)
{
    struct sfu_fast_rule rule;
    uint32_t kind = nondet_u8(), says;

    ASSUME(kind < SFU_FAST_KINDS && rule.how != 0);
    ASSUME(rule.cfa > BELOW && has_short_cfa(&rule)); /* make_rule */
    says = in_short(kind, rule.cfa);
    PROVE(is_short(says) && says != EMPTY, "an entry can say it");
    PROVE(kind_of(says) == kind && cfa_of(says) == (uint64_t)rule.cfa, "it says the kind and the CFA");
    is_in_kind(&rule);
}

/* The same of a large frame. Nothing else says what it says. */
void prove_fast_large(void)
{
    struct sfu_fast_rule rule;
    uint32_t kind = nondet_u8(), says;

    ASSUME(kind >= SFU_FAST_KINDS && kind < ALL_KINDS && rule.how != 0);
    ASSUME(rule.cfa > BELOW && !has_short_cfa(&rule) && has_large_cfa(&rule)); /* make_rule; keep_rule */
    says = as_large(kind, rule.cfa);
    PROVE(is_large(says) && !is_short(says), "an entry can say it");
    PROVE(large_kind_of(says) == kind && large_cfa_of(says) == (uint64_t)rule.cfa, "it says the kind and the CFA");
    is_in_kind(&rule);
}
