/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* How sections are opened and added. For every size, every address and every header, no bound:
 *   prove_open         sfu_open
 *   prove_open_remote  sfu_open_remote
 *   prove_next         find_next finds the header behind the tables: in their byte order, or in the other one if it
 *                      can be opened
 * and for every room:
 *   prove_add          sfu_add opens up to MAX_JOINED sections that are joined, and adds them
 *   prove_add_remote   sfu_add_remote
 *   prove_list         sections are added in two groups, and any group is taken out */
#include "prove.h"

static bool documented(int code)
{
    return code == SFU_OK || code == SFU_E_EMPTY || code == SFU_E_MAGIC || code == SFU_E_VERSION ||
           code == SFU_E_ABI || code == SFU_E_FLAGS || code == SFU_E_BOUNDS;
}

/* SIZE bytes, of which sfu_open may read the first HEADER_SIZE at most: the object has no more. It reads each of them
 * once, which test/hostile/changing.c shows. So bytes that change meanwhile are as good as others that do not. */
void prove_open(void)
{
    static uint8_t object[HEADER_SIZE];
    struct sfu_section s, before;
    sfu_addr size = nondet_addr(), addr = nondet_addr();
    unsigned there = size < HEADER_SIZE ? (unsigned)size : HEADER_SIZE;
    const uint8_t *bytes = object + HEADER_SIZE - there;
    int code;

    __CPROVER_havoc_object(object);
    s.big = nondet_bool();
    before = s;
    code = sfu_open(&s, bytes, size, addr);
    PROVE(documented(code), "only documented codes");
    if (code != SFU_OK) {
        PROVE(same_section(&s, &before), "outputs are unchanged on error");
        return;
    }
    PROVE(opened(&s) && s.size == size && s.addr == addr, "an opened section is sound");
    PROVE(s.bytes == bytes && s.next == NULL, "it is mapped, and in no list");
    PROVE(s.text.low == 0 && s.text.high == 0, "its text is not set");
    PROVE(s.code.low == 0 && s.code.high == 0, "nor is where its functions are");
}

void prove_open_remote(void)
{
    struct sfu_section s, before;
    int code;

    section_addr = nondet_addr();
    section_size = nondet_addr();
    s.big = nondet_bool();
    before = s;
    code = sfu_open_remote(&s, read_section, &section_addr, section_size, section_addr);
    PROVE(documented(code) || code == SFU_E_SECTION, "only documented codes");
    PROVE(callback_reads <= 1, "the header is read at once");
    if (code != SFU_OK) {
        PROVE(same_section(&s, &before), "outputs are unchanged on error");
        return;
    }
    PROVE(opened(&s) && s.size == section_size && s.addr == section_addr, "an opened section is sound");
    PROVE(s.bytes == NULL && s.read == read_section && s.ctx == &section_addr && s.next == NULL,
          "it is remote, and in no list");
}

/* ---- What is joined -------------------------------------------------------------------------------------------- */

enum { PLACES = 8 }; /* where a header may begin behind the tables: at once, or after up to 7 bytes */

/* What is there, as far as a magic number goes. */
static uint8_t behind_tables[PLACES + 1];

/* What stands for read_known, which read.c proves. */
const uint8_t *known_behind(struct lookup *l, const struct tables *t, uint32_t at, uint32_t len);
const uint8_t *known_behind(struct lookup *l, const struct tables *t, uint32_t at, uint32_t len)
{
    PROVE(are_tables(t, l->s), "the tables are those of the lookup's section");
    PROVE(len == 2 && at >= l->s->end && at - l->s->end < PLACES, "nothing but magic numbers is read");
    PROVE(at <= l->s->size && len <= l->s->size - at, "a read lies within the section");
    callback_reads++;
    if (l->s->bytes == NULL && nondet_bool())
        return NULL;
    return &behind_tables[at - l->s->end];
}

/* What stands for open_behind, which prove_add shows to call open_section: of each place it says the same. */
static int behind_codes[PLACES];
static unsigned tried;

int known_open(const struct sfu_section *s, uint32_t at, struct sfu_section *next);
int known_open(const struct sfu_section *s, uint32_t at, struct sfu_section *next)
{
    int code = behind_codes[at - s->end];

    (void)next;
    PROVE(at >= s->end && at - s->end < PLACES && s->size - at >= HEADER_SIZE, "a header has room");
    ASSUME(documented(code) || (code == SFU_E_SECTION && s->bytes == NULL));
    tried++;
    return code;
}

/* Whether there is a header at PLACE behind the tables of S: it has room, and there is the magic number of S. In
 * the other byte order that counts only if it can be opened, or if nobody knows. */
static bool is_header(const struct sfu_section *s, uint32_t place)
{
    uint8_t high = behind_tables[place + !is_big(s)], low = behind_tables[place + is_big(s)];
    uint8_t first = s->abi > SFU_S390X ? 0x5f : 0xde, second = s->abi > SFU_S390X ? 0x75 : 0xe2;

    return s->size - s->end >= place + HEADER_SIZE &&
           ((high == first && low == second) ||
            (high == second && low == first &&
             (behind_codes[place] == SFU_OK || behind_codes[place] == SFU_E_SECTION)));
}

void prove_next(void)
{
    struct sfu_section s;
    uint32_t at = nondet_u32(), place = nondet_u32();
    int code;

    any_section(&s);
    __CPROVER_havoc_object(behind_tables);
    __CPROVER_havoc_object(behind_codes);
    ASSUME(place < PLACES);
    ASSUME(documented(behind_codes[place]) || (behind_codes[place] == SFU_E_SECTION && s.bytes == NULL));
    code = find_next(&s, &at);
    PROVE(code == SFU_OK || code == SFU_E_NO_SECTION || (code == SFU_E_SECTION && s.bytes == NULL),
          "only documented codes");
    PROVE(callback_reads <= PLACES && tried <= PLACES, "each place where a header may be is looked at once");
    if (code == SFU_OK)
        PROVE(at >= s.end && at - s.end < PLACES && is_header(&s, at - s.end),
              "a header is there, in either order");
    if (code == SFU_E_NO_SECTION || (code == SFU_OK && place < at - s.end))
        PROVE(!is_header(&s, place), "it is the first one");
}

enum { MAX_JOINED = 3 };

static struct sfu_section group[MAX_JOINED + 1], group_before[MAX_JOINED + 1], other;
static struct sfu_section *list;
static size_t group_room;
static bool mapped;
static size_t opened_sections;   /* of group */
static bool refused;             /* the one behind them */
static bool asked_next;          /* what is joined to the last of them */
static int next_code, open_code; /* what was said at last */
static uint32_t next_at;
static uint8_t joined[(MAX_JOINED + 1) * HEADER_SIZE - 1]; /* room for MAX_JOINED headers */

/* What stands for find_next: prove_next. */
int any_next(const struct sfu_section *s, uint32_t *at);
int any_next(const struct sfu_section *s, uint32_t *at)
{
    PROVE(opened_sections > 0 && s == &group[opened_sections - 1] && !asked_next, "each section is followed once");
    PROVE(list == s, "what is in front of the next section is in the list");
    asked_next = true;
    next_code = nondet_bool() ? SFU_OK : nondet_bool() && !mapped ? SFU_E_SECTION : SFU_E_NO_SECTION;
    if (next_code != SFU_OK)
        return next_code;
    next_at = nondet_u32();
    ASSUME(next_at >= s->end && next_at - s->end < PLACES && next_at <= s->size &&
           s->size - next_at >= HEADER_SIZE);
    *at = next_at;
    return SFU_OK;
}

/* What stands for open_section: prove_open and prove_open_remote. */
int any_open(struct sfu_section *s, const void *bytes, sfu_read_fn read, void *ctx, sfu_addr size, sfu_addr addr);
int any_open(struct sfu_section *s, const void *bytes, sfu_read_fn read, void *ctx, sfu_addr size, sfu_addr addr)
{
    PROVE(opened_sections < group_room && s == &group[opened_sections], "they are opened in turn, within the room");
    PROVE(mapped ? bytes != NULL : bytes == NULL && read == read_section && ctx == &section_addr,
          "all are read as the first one is");
    if (opened_sections > 0)
        PROVE(asked_next && next_code == SFU_OK && size == s[-1].size - next_at && addr == s[-1].addr + next_at &&
                  (!mapped || bytes == s[-1].bytes + next_at),
              "the next one is what follows");
    else
        PROVE(size == section_size && addr == section_addr && (!mapped || bytes == joined),
              "the first one is what was given");
    refused = nondet_bool();
    open_code = refused ? (int8_t)nondet_byte() : SFU_OK;
    ASSUME(!refused || (open_code != SFU_OK && documented(open_code)) || (open_code == SFU_E_SECTION && !mapped));
    if (refused)
        return open_code;
    s->next = NULL;
    s->bytes = (const uint8_t *)bytes;
    s->read = read;
    s->ctx = ctx;
    s->addr = addr;
    s->size = size;
    s->end = nondet_u32();
    s->abi = (enum sfu_abi)nondet_byte();
    ASSUME(s->end >= HEADER_SIZE && s->end <= size); /* prove_open: and more, of which adding knows nothing */
    opened_sections++;
    asked_next = false;
    return SFU_OK;
}

/* Adding has returned CODE. The list began with FIRST. */
static void prove_added(int code, const struct sfu_section *first)
{
    bool mixed = opened_sections > 0 && !asked_next;
    size_t added = opened_sections - mixed, i = nondet_byte();

    if (refused)
        PROVE(code == open_code && !mixed, "what cannot be opened is said");
    else if (mixed)
        PROVE(code == SFU_E_ABI, "a list has one ABI");
    else if (next_code == SFU_OK)
        PROVE(code == SFU_E_CONCATENATED && opened_sections == group_room, "it is full if the room is");
    else
        PROVE(code == (next_code == SFU_E_NO_SECTION ? (int)SFU_OK : next_code),
              "the end is where nothing follows");
    PROVE(list == (added > 0 ? &group[added - 1] : first), "what was added last is in front");
    if (i < added) {
        PROVE(group[i].next == (i > 0 ? &group[i - 1] : first), "each is in front of the one before it");
        PROVE(group[i].abi == group[0].abi && (first == NULL || group[i].abi == first->abi), "they have one ABI");
        PROVE(i + 1 == opened_sections || group[i].size == group[i].end, "each ends in front of the next");
    } else if (mixed && i == added)
        PROVE(group[i].next == NULL && (i > 0 ? group[0].abi : first->abi) != group[i].abi,
              "another ABI is left out");
    else if (i <= MAX_JOINED)
        PROVE(same_section(&group[i], &group_before[i]), "sections that are not needed are left alone");
}

static void any_group(void)
{
    size_t i;

    group_room = nondet_u64();
    ASSUME(group_room > 0);
    section_addr = nondet_addr();
    section_size = nondet_addr();
    ASSUME(section_size <= sizeof joined);
    other.abi = (enum sfu_abi)nondet_byte();
    list = nondet_bool() ? &other : NULL;
    for (i = 0; i <= MAX_JOINED; i++)
        group[i].addr = group_before[i].addr = nondet_addr();
}

void prove_add(void)
{
    const struct sfu_section *first;

    any_group();
    first = list;
    mapped = true;
    prove_added(sfu_add(&list, group, group_room, joined, section_size, section_addr), first);
}

void prove_add_remote(void)
{
    const struct sfu_section *first;

    any_group();
    first = list;
    mapped = false;
    prove_added(sfu_add_remote(&list, group, group_room, read_section, &section_addr, section_size, section_addr),
                first);
}

/* ---- List ------------------------------------------------------------------------------------------------------ */

enum { LISTED = 3 };

static struct sfu_section sections[LISTED];

/* Any of LISTED sections are in the list, and one of another array. ROOM of them, from FIRST on, are taken out. */
void prove_list(void)
{
    struct sfu_section *s;
    bool in_list[LISTED], left[LISTED] = {false, false, false}, wanted = false, others = nondet_bool(), removed;
    size_t first = nondet_byte(), room = nondet_byte(), i;

    ASSUME(first <= LISTED && room <= LISTED - first);
    for (i = 0; i < LISTED; i++) {
        if (i == 1 && others) {
            other.next = list;
            list = &other;
        }
        in_list[i] = nondet_bool();
        if (in_list[i]) {
            sections[i].next = list;
            list = &sections[i];
        }
        wanted = wanted || (in_list[i] && i >= first && i - first < room);
    }
    removed = sfu_remove(&list, &sections[first], room);
    PROVE(removed == wanted, "whether one was in the list is said");
    for (s = list; s != NULL; s = s->next) {
        others = others && s != &other;
        for (i = 0; i < LISTED; i++)
            left[i] = left[i] || s == &sections[i];
    }
    PROVE(!others, "a section of another array stays");
    for (i = 0; i < LISTED; i++) {
        PROVE(left[i] == (in_list[i] && (i < first || i - first >= room)), "those of the room are out, others in");
        PROVE(left[i] || !in_list[i] || sections[i].next == NULL, "what was taken out is in no list");
    }
}
