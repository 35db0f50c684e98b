/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The fast walker never differs from the core, in mapped sections of up to SIZE bytes and MAX_FDES functions:
 *   prove_fast        whatever rule it finds, for any bytes and any PC, sfu_find gives the same; and of a PC outside of
 *                     the section's code it says SFU_E_NO_FDE
 *   prove_fast_index  the same with an index, of code of up to BLOCKS blocks
 *   prove_fast_entry  an entry of the cache counts for its own PC and generation only
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
#include "port/fast/sfu_fast.c"

#ifndef SIZE
#define SIZE 48
#endif
#ifndef MAX_FDES
#define MAX_FDES 2
#endif
enum { BLOCKS = 2 };

#define ASSUME(condition)      __CPROVER_assume(condition)
#define PROVE(condition, text) __CPROVER_assert(condition, text)

static uint8_t bytes[SIZE];
static uint32_t index_memory[BLOCKS + 1];
uint64_t nondet_u64(void);
uint32_t nondet_u32(void);

/* Any section that may be common, of any bytes: open.c proves what opening checks. The header is of no use to a lookup,
 * and need not be there. Of others, survey says that they are not common and may have any PC. */
static void any_section(struct sfu_section *s)
{
    struct sfu_section any;

    ASSUME(any.size <= SIZE && any.addr <= UINT64_MAX - any.size && any.num_fdes <= MAX_FDES);
    ASSUME(any.fdes + (uint64_t)any.num_fdes * FDE_SIZE <= any.fres && any.fres <= any.end && any.end <= any.size);
    *s = any;
    s->next = NULL;
    s->bytes = bytes;
    s->read = NULL;
    s->version = 3;
    s->abi = NATIVE;
    s->big = BIG;
    s->fde_size = FDE_SIZE;
    set_unmentioned(&s->fp, (uint8_t)nondet_u32(), abi_of(NATIVE)->fp);
    set_unmentioned(&s->ra, (uint8_t)nondet_u32(), abi_of(NATIVE)->ra);
    __CPROVER_havoc_object(bytes);
}

static bool is_rule(const struct sfu_rule *rule, uint32_t control, int64_t offset)
{
    return rule->control == control && rule->offset == offset;
}

/* What the core says of PC, next to RULE, which is 0 if the fast walker has none. */
static void prove_same(const struct sfu_section *s, const struct sfu_fast_image *image, uint64_t pc, uint64_t rule)
{
    const struct abi *abi = abi_of(s->abi);
    struct sfu_row row;
    int code = sfu_find(s, pc, &row);

    if (pc - image->low > image->span)
        PROVE(code == SFU_E_NO_FDE || !in_text(s, pc), "no function has a PC outside of the code");
    if (rule == 0)
        return;
    PROVE(in_text(s, pc), "a rule is for a PC that is looked up");
    PROVE(rule >> RULE_BITS == 0, "a rule has RULE_BITS bits");
    PROVE(code == SFU_OK && row.kind == SFU_ROW_RULES && !row.signal, "a rule is of a row");
    PROVE(is_rule(&row.cfa, register_rule(rule & BASE_FP ? abi->fp : abi->sp), (int64_t)rule_cfa(rule)), "CFA");
    PROVE(rule_ra(rule) == 0 ? is_rule(&row.ra, register_rule(abi->ra), 0)
                             : is_rule(&row.ra, RULE_DEREFERENCE, -(int64_t)rule_ra(rule)),
          "RA");
    PROVE(rule_fp(rule) == 0 ? is_rule(&row.fp, register_rule(abi->fp), 0)
                             : is_rule(&row.fp, RULE_DEREFERENCE, -(int64_t)rule_fp(rule)),
          "FP");
    PROVE(row.signed_ra == ((rule & SIGNED_RA) != 0), "PAC");
    PROVE(rule_ra(rule) <= rule_cfa(rule) && rule_fp(rule) <= rule_cfa(rule), "no slot is below the base");
    PROVE(rule_cfa(rule) > BELOW || rule & LEAF, "SP grows, but for leaves");
}

void prove_fast(void)
{
    struct sfu_section s;
    struct sfu_fast_image image;
    uint64_t pc = nondet_u64(), rule = 0;

    any_section(&s);
    image.section = &s;
    image.index = NULL;
    survey(&image);
    if (pc - image.low <= image.span)
        rule = find_rule(&image, pc);
    prove_same(&s, &image, pc, rule);
}

void prove_fast_index(void)
{
    struct sfu_section s;
    struct sfu_fast_image image;
    uint64_t pc = nondet_u64(), rule = 0;

    any_section(&s);
    image.section = &s;
    image.index = NULL;
    survey(&image);
    ASSUME(sfu_fast_index_size(&image) <= sizeof index_memory);
    (void)sfu_fast_set_index(&image, index_memory, sizeof index_memory);
    if (pc - image.low <= image.span)
        rule = find_rule(&image, pc);
    prove_same(&s, &image, pc, rule);
}

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
