/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The check of a whole section: each fault, with its place, and nothing but faults. */
#include "test.h"

static struct build *const b = &the_build;

/* Three functions of two rows each. */
static void three(const struct variant *v)
{
    begin_variant(b, v);
    for (int i = 0; i < 3; i++) {
        build_fde(b, 0x1000 + 0x20 * i, 0x20, ADDR1);
        ROW(b, 0, BASE_SP, 8);
        ROW(b, 4, BASE_SP, 16);
    }
    build_end(b);
}

static void expect_at(int want, uint32_t fde, uint32_t row, int line)
{
    struct opened o;
    struct sfu_place place;
    note("line %d, version %d", line, b->version);
    code(open_build(&o, b), SFU_OK);
    code(check(&o, &place), want);
    if (want != SFU_OK) {
        same(place.fde, fde);
        same(place.row, row);
    }
    close_section(&o);
}
#define EXPECT(code, fde, row) expect_at(code, fde, row, __LINE__)

static void valid(const struct variant *v)
{
    three(v);
    EXPECT(SFU_OK, 0, 0);
    b->auxhdr_len = 3;
    b->gap = 5;
    build_end(b);
    EXPECT(SFU_OK, 0, 0);
}

static void test_valid(void **state)
{
    (void)state;
    for_each_variant(valid);
}

static void order(const struct variant *v)
{
    three(v);
    b->fde[2].start = 0x0fff;
    build_end(b);
    EXPECT(SFU_E_UNSORTED, 2, 0);
    b->fde[2].start = 0x103f;
    build_end(b);
    EXPECT(SFU_E_OVERLAP, 2, 0);
    b->fde[2].start = 0x1020; /* the same start twice */
    build_end(b);
    EXPECT(SFU_E_OVERLAP, 2, 0);
    for (int empty = 1; empty <= 2; empty++) { /* but one of them is empty */
        begin_variant(b, v);
        for (int i = 0; i < 3; i++) {
            build_fde(b, i == 0 ? 0x1000 : 0x1020, i == empty ? 0 : 0x20, ADDR1);
            ROW(b, 0, BASE_SP, 8);
        }
        build_end(b);
        EXPECT(SFU_OK, 0, 0);
    }
    three(v);
    b->fde[0].size = 0x21;
    build_end(b);
    EXPECT(SFU_E_OVERLAP, 1, 0);
    b->flags &= (uint8_t)~F_SORTED; /* an unsorted table promises nothing */
    build_end(b);
    EXPECT(SFU_OK, 0, 0);
    b->fde[0].start = 0x9000;
    build_end(b);
    EXPECT(SFU_OK, 0, 0);
}

static void test_order(void **state)
{
    (void)state;
    for_each_variant(order);
}

/* A function that reaches the end of the address space has no end: a check and a search for the text refuse it. */
static void top_of_memory(const struct variant *v)
{
    sfu_addr addr = max_address - 0xffff;
    for (uint32_t size = 0xfe; size <= 0x102; size++) {
        struct opened o;
        struct sfu_place place;
        begin_variant(b, v);
        build_fde(b, 0xf000, 0x10, ADDR1);
        ROW(b, 0, BASE_SP, 8);
        build_fde(b, 0xff00, size, ADDR1);
        ROW(b, 0, BASE_SP, 8);
        build_end(b);
        code(open_bytes(&o, b->bytes, b->size, addr), SFU_OK);
        code(check(&o, &place), size < 0x100 ? SFU_OK : SFU_E_FDE);
        same(place.fde, size < 0x100 ? 77 : 1); /* of no fault there is no place */
        code(sfu_find_text(&o.mapped), size < 0x100 ? SFU_OK : SFU_E_FDE);
        same(o.mapped.text.low, size < 0x100 ? addr + 0xf000 : 0);
        same(o.mapped.text.high, size < 0x100 ? addr + 0xff00 + size : 0);
        close_section(&o);
    }
}

static void test_top_of_memory(void **state)
{
    (void)state;
    for_each_variant(top_of_memory);
}

static void counts(const struct variant *v)
{
    for (uint32_t n = 0; n < 6; n++) { /* too few: the first function that has more */
        three(v);
        build_put(b, H_FRES, n, 4);
        EXPECT(SFU_E_COUNT, n / 2, 0);
    }
    for (uint32_t i = 0; i < 4; i++) { /* too many: seen at the end only */
        static const uint32_t wrong[] = {7, 8, 0x80000000, 0xffffffff};
        three(v);
        build_put(b, H_FRES, wrong[i], 4);
        EXPECT(SFU_E_COUNT, 3, 0);
    }
    three(v); /* it comes before the rows of that function, which are not looked at */
    build_put(b, H_FRES, 3, 4);
    b->bytes[build_row_at(b, 2) + 1] |= 0x60;
    EXPECT(SFU_E_COUNT, 1, 0);
    three(v);
    build_put(b, H_FRES, 4, 4);
    b->bytes[build_row_at(b, 2) + 1] |= 0x60;
    EXPECT(SFU_E_ROW, 1, 0);
    three(v);
    build_put(b, H_FRES, 6, 4);
    build_put(b, H_FDES, 2, 4);
    EXPECT(SFU_E_COUNT, 2, 0);
    build_put(b, H_FDES, 0, 4);
    EXPECT(SFU_E_EMPTY, 0, 0);
}

static void test_counts(void **state)
{
    (void)state;
    for_each_variant(counts);
}

/* Functions that share their rows. There are no more of them than the bytes have room for, a row taking two at least,
 * whatever the header says. */
static void shared(const struct variant *v)
{
    enum { EACH = 40, FUNCTIONS = 200 };
    for (uint32_t odd = 0; odd < 2; odd++) {
        uint32_t room, full;
        begin_variant(b, v);
        for (int i = 0; i < FUNCTIONS; i++) {
            build_fde(b, 0x1000 + 0x40 * i, 0x40, ADDR1);
            if (i == 0) {
                for (uint32_t k = 0; k < EACH; k++)
                    build_row(b, k, BASE_SP, v->version == 1, (const int64_t[]){8}); /* V1 has none without words */
                b->fre_len += odd;
            }
        }
        if (v->version == 3) /* the others' attributes are not needed */
            b->fre_len -= 5 * (FUNCTIONS - 1);
        build_end(b);
        for (uint32_t i = 1; i < FUNCTIONS; i++) {
            build_set_fre_off(b, i, 0);
            if (v->version < 3)
                build_set_num_fres(b, i, EACH);
        }
        room = b->fre_len / 2;
        full = room / EACH; /* so many functions have their rows */
        same(full, 1);
        for (uint32_t said = 0; said < 2; said++) {
            build_put(b, H_FRES, said ? 0xffffffff : EACH * FUNCTIONS, 4);
            EXPECT(SFU_E_COUNT, full, 0);
        }
        build_put(b, H_FRES, EACH, 4);
        EXPECT(SFU_E_COUNT, 1, 0);
        build_put(b, H_FDES, 1, 4);
        EXPECT(SFU_OK, 0, 0);
        if (v->version < 3) { /* exactly the room, and one more; or only said to be more */
            build_put(b, H_FDES, 2, 4);
            build_set_num_fres(b, 0, EACH - 1);
            for (uint32_t more = 0; more < 2; more++) {
                build_set_num_fres(b, 1, room - (EACH - 1) + more);
                build_put(b, H_FRES, room + more, 4);
                EXPECT(more ? SFU_E_COUNT : SFU_OK, 1, 0);
            }
            build_set_num_fres(b, 1, room - (EACH - 1));
            EXPECT(SFU_E_COUNT, 2, 0);
        }
    }
}

static void test_shared(void **state)
{
    (void)state;
    for_each_variant(shared);
}

#ifndef SFU_NO_REMOTE
/* A check reads what a section of that size has, also if each of its functions claims all rows. */
static void proportional(const struct variant *v)
{
    enum { EACH = 100, FUNCTIONS = 1000 };
    for (unsigned lie = 0; lie < 2; lie++) {
        struct opened o;
        begin_variant(b, v);
        for (int i = 0; i < FUNCTIONS; i++) {
            build_fde(b, 0x1000 + 0x100 * i, 0x100, ADDR1);
            for (uint32_t k = 0; k < (i == 0 ? EACH : 1); k++)
                ROW(b, k, BASE_SP, 8);
        }
        build_end(b);
        for (uint32_t i = 1; i < FUNCTIONS && lie; i++) {
            build_set_fre_off(b, i, 0);
            if (v->version < 3)
                build_set_num_fres(b, i, EACH);
        }
        build_put(b, H_FRES, lie ? EACH * FUNCTIONS : b->rows, 4);
        code(open_build(&o, b), SFU_OK);
        code(seen(sfu_check(&o.remote, NULL)), lie ? SFU_E_COUNT : SFU_OK);
        note("version %d, lie %u: %u reads", v->version, lie, o.memory.reads);
        holds(o.memory.reads <= CHECK_FDE_READS * FUNCTIONS + CHECK_ROW_READS * (b->fre_len / 2) + CHECK_END_READS);
        holds(!lie ||
              o.memory.reads <= CHECK_FDE_READS * (b->fre_len / 2 / EACH + 1) + CHECK_ROW_READS * (b->fre_len / 2));
        close_section(&o);
    }
}

static void test_proportional(void **state)
{
    (void)state;
    for_each_variant(proportional);
}
#endif

/* Faults of entries, in each place. */
static void entries(const struct variant *v)
{
    for (uint32_t i = 0; i < 3; i++) {
        three(v);
        build_set_info(b, i, 3);
        EXPECT(SFU_E_FDE, i, 0);
        three(v);
        build_set_num_fres(b, i, 0xff00);
        EXPECT(SFU_E_FDE, i, 0);
        three(v);
        build_set_fre_off(b, i, 0x7fffffff);
        EXPECT(SFU_E_BOUNDS, i, 0);
        if (v->version > 1) {
            three(v);
            build_set_info(b, i, MASK);
            build_set_rep_size(b, i, 0);
            EXPECT(SFU_E_FDE, i, 0);
        }
        if (v->version == 3) {
            three(v);
            build_set_info2(b, i, 2);
            EXPECT(SFU_E_FDE, i, 0);
        }
    }
}

static void test_entries(void **state)
{
    (void)state;
    for_each_variant(entries);
}

/* An FDE without rows says that there is no caller in version 3, if it is of the default type, and nothing else. */
static void no_rows(const struct variant *v)
{
    for (unsigned flexible = 0; flexible < (v->version == 3 ? 2u : 1u); flexible++) {
        begin_variant(b, v);
        build_fde(b, 0x1000, 0x20, ADDR1);
        ROW(b, 0, BASE_SP, 8);
        build_fde_more(b, 0x1020, 0x20, ADDR1, flexible ? FLEX : DEFAULT, 0);
        build_end(b);
        EXPECT(v->version == 3 && !flexible ? SFU_OK : SFU_E_NO_ROW, 1, 0);
        if (v->version == 3) {
            build_set_info(b, 1, SIGNAL); /* the trap hook is to be asked */
            EXPECT(SFU_OK, 0, 0);
        }
    }
}

static void test_no_rows(void **state)
{
    (void)state;
    for_each_variant(no_rows);
}

/* Faults of rows, in each place: the address, the size of words, their number. */
static void rows(const struct variant *v)
{
    for (uint32_t i = 0; i < 6; i++) {
        size_t at;
        three(v);
        at = build_row_at(b, i);
        b->bytes[at + 1] |= 0x60;
        EXPECT(SFU_E_ROW, i / 2, i % 2);
        three(v);
        b->bytes[at + 1] = 15 << 1;
        {
            struct opened o;
            struct sfu_place place;
            int result;
            code(open_build(&o, b), SFU_OK);
            result = check(&o, &place); /* at the end of the section there is no room for 15 words */
            holds(result == SFU_E_ROW || result == SFU_E_BOUNDS);
            same(place.fde, i / 2);
            same(place.row, i % 2);
            close_section(&o);
        }
        if (i % 2) {
            three(v);
            b->bytes[at] = 0; /* not above the one before */
            EXPECT(SFU_E_ROW, i / 2, 1);
            b->bytes[at] = 0x1f; /* the function's last byte */
            EXPECT(SFU_OK, 0, 0);
            b->bytes[at] = 0x20; /* its end: gcc emits that */
            EXPECT(SFU_OK, 0, 0);
            b->bytes[at] = 0x21;
            EXPECT(SFU_E_ROW, i / 2, 1);
        }
    }
}

static void test_rows(void **state)
{
    (void)state;
    for_each_variant(rows);
}

/* What a linker leaves that does not merge: one section behind the other, aligned to 8. */
static void concatenated(const struct variant *v)
{
    for (size_t gap = 0; gap < 8; gap++) {
        struct opened o;
        struct sfu_place place;
        uint8_t twice[1024];
        size_t size, pad;
        three(v);
        b->gap = (uint32_t)gap;
        build_end(b);
        size = b->size;
        pad = (8 - size % 8) % 8;
        memset(twice, 0, sizeof twice);
        memcpy(twice, b->bytes, size);
        code(open_bytes(&o, twice, size + pad, BASE), SFU_OK);
        code(check(&o, NULL), SFU_OK); /* padding alone */
        close_section(&o);
        memcpy(twice + size + pad, b->bytes, size);
        code(open_bytes(&o, twice, 2 * size + pad, BASE), SFU_OK);
        code(check(&o, &place), SFU_E_CONCATENATED);
        same(place.fde, 3);
        close_section(&o);
    }
}

static void test_concatenated(void **state)
{
    (void)state;
    for_each_variant(concatenated);
}

/* N tables one behind the other, each of one function more than the one before, with PADDING bytes of FILL between
 * them; 8: as many as align them. Table I begins at AT[I]. Returns the size of all. */
enum { TABLES = 4, JOINED = 4096 };
static uint8_t joined[JOINED];
static size_t at[TABLES + 1];

static size_t join(const struct variant *v, int n, size_t padding, uint8_t fill, sfu_addr addr)
{
    size_t size = 0;
    memset(joined, fill, sizeof joined);
    for (int i = 0; i < n; i++) {
        if (i > 0)
            size += padding < 8 ? padding : (size_t)(-(addr + size) % 8);
        begin_variant(b, v);
        for (int k = 0; k <= i; k++) {
            build_fde(b, 0x10000 * (i + 1) + 0x20 * k, 0x20, ADDR1);
            ROW(b, 0, BASE_SP, 8 * (i + 1));
        }
        b->gap = (uint32_t)i;
        build_end(b);
        at[i] = size;
        memcpy(joined + size, b->bytes, b->size);
        size += b->size;
    }
    at[n] = size;
    holds(size + 64 < sizeof joined);
    return size;
}

/* Adds what ALL has been opened from. */
static int add_all(struct sfu_section **list, struct sfu_section *s, size_t room, const struct sfu_section *all)
{
    return seen(all->bytes != NULL ? sfu_add(list, s, room, all->bytes, all->size, all->addr)
                                   : sfu_add_remote(list, s, room, all->read, all->ctx, all->size, all->addr));
}

/* Each of the N tables is whole, and says what is its own. */
static void expect_each(const struct sfu_section *s, unsigned n, int abi)
{
    for (unsigned i = 0; i < n; i++) {
        struct sfu_row row;
        code(sfu_check(&s[i], NULL), SFU_OK);
        for (unsigned k = 0; k < n; k++) {
            sfu_addr pc = s[k].addr + 0x10000 * (sfu_addr)(k + 1);
            code(sfu_find(&s[i], pc, &row), i == k ? SFU_OK : SFU_E_NO_FDE);
            holds(i != k || row.cfa.offset == cfa_offset(abi, 8 * (int64_t)(i + 1)));
        }
    }
}

/* Adds ALL, of N tables, behind what is in the list already, with too little room, enough, and more than that. */
static void expect_joined(const struct sfu_section *all, unsigned n, int abi)
{
    struct sfu_section s[TABLES + 2], old, untouched;
    memset(&untouched, 0x5a, sizeof untouched);
    for (unsigned room = 1; room <= n + 1; room++) {
        struct sfu_section *list = NULL, *p;
        unsigned added = room < n ? room : n;
        code(add_all(&list, &old, 1, all), n > 1 ? SFU_E_CONCATENATED : SFU_OK);
        for (unsigned i = 0; i < TABLES + 2; i++)
            s[i] = untouched;
        note("%u tables, room for %u", n, room);
        code(add_all(&list, s, room, all), room < n ? SFU_E_CONCATENATED : SFU_OK);
        same(list_length(list), added + 1);
        p = list;
        for (unsigned i = added; i-- > 0; p = p->next) { /* the last one is in front */
            size_t left = (size_t)(all->size - at[i]);
            assert_ptr_equal(p, &s[i]);
            same(s[i].addr, all->addr + at[i]);
            same(s[i].size, i + 1 < added ? s[i].end : left);
            same(s[i].num_fdes, i + 1);
            same(s[i].text.high, 0);
        }
        assert_ptr_equal(p, &old);
        for (unsigned i = added; i < TABLES + 2; i++)
            assert_memory_equal(&s[i], &untouched, sizeof untouched);
        code(sfu_check(&s[added - 1], NULL), room < n ? SFU_E_CONCATENATED : SFU_OK);
        if (room >= n)
            expect_each(s, n, abi);
        holds(sfu_remove(&list, s, added));
        assert_ptr_equal(list, &old);
        holds(!sfu_remove(&list, s, added));
        holds(sfu_remove(&list, &old, 1));
        assert_null(list);
    }
}

static void joins(const struct variant *v)
{
    for (unsigned n = 1; n <= TABLES; n++) {
        for (unsigned how = 0; how <= 8; how++) {
            for (unsigned odd = 0; odd < 2; odd++) {
                struct opened o;
                sfu_addr addr = BASE + 3 * odd;
                uint8_t fill = odd ? 0xcc : 0;
                size_t size = join(v, (int)n, how, fill, addr);
                note("version %d, %u tables, padding %u, odd %u", v->version, n, how, odd);
                code(open_bytes(&o, joined, size + odd * 30, addr), SFU_OK);
                expect_joined(&o.mapped, n, v->abi);
                if (o.has_remote)
                    expect_joined(&o.remote, n, v->abi);
                close_section(&o);
            }
        }
    }
}

static void test_joined(void **state)
{
    (void)state;
    for_each_variant(joins);
}

/* The first table has more rows than an offset of 16 bits can be behind; the second one has the byte order BIG. */
static void join_far(const struct variant *v, bool big)
{
    enum { ROWS = 70000 };
    static uint8_t far[ROWS + 1024];
    struct variant second = *v;
    struct sfu_section s[2], *list = NULL;
    size_t size;
    memset(far, 0, sizeof far);
    begin_variant(b, v);
    build_end(b);
    size = b->size;
    memcpy(far, b->bytes, size);
    second.big = big;
    begin_variant(b, &second);
    build_end(b);
    memcpy(far + size + ROWS, b->bytes, b->size);
    for (unsigned i = 0; i < 4; i++)
        far[H_FRE_LEN + i] = (uint8_t)(ROWS >> 8 * (v->big ? 3 - i : i));
    note("version %d, big %d, then %d", v->version, v->big, big);
    code(sfu_add(&list, s, 2, far, (sfu_addr)(size + ROWS + b->size), BASE), SFU_OK);
    same(list_length(list), 2);
    same(s[1].addr, BASE + size + ROWS);
    same(s[1].big, big);
}

static void joins_far(const struct variant *v)
{
    join_far(v, v->big);
    if (built(v->version, v->abi, !v->big))
        join_far(v, !v->big);
}

static void test_joined_far(void **state)
{
    (void)state;
    for_each_variant(joins_far);
}

/* What comes behind the first table is a header that can be opened; or, with SFU_E_NO_SECTION, none; or one that cannot
 * be opened: then the first is in the list, whole. */
static void expect_next(size_t size, int want)
{
    struct opened o;
    code(open_bytes(&o, joined, (sfu_addr)size, BASE), SFU_OK);
    for (int remote = 0; remote < (o.has_remote ? 2 : 1); remote++) {
        struct sfu_section s[2], untouched, *list = NULL;
        const struct sfu_section *all = remote ? &o.remote : &o.mapped;
        bool both = want == SFU_OK;
        memset(&untouched, 0x5a, sizeof untouched);
        s[1] = untouched;
        note("version %d, size %zu, remote %d", b->version, size, remote);
        code(add_all(&list, s, 2, all), want == SFU_E_NO_SECTION ? SFU_OK : want);
        same(list_length(list), both ? 2 : 1);
        assert_ptr_equal(list, both ? &s[1] : &s[0]);
        same(s[0].size, both ? s[0].end : size);
        if (both)
            same(s[1].size, size - at[1]);
        else
            assert_memory_equal(&s[1], &untouched, sizeof untouched);
        code(sfu_check(&s[0], NULL), both || want == SFU_E_NO_SECTION ? SFU_OK : SFU_E_CONCATENATED);
    }
    close_section(&o);
}

static void no_next(const struct variant *v)
{
    size_t size;
    join(v, 2, 5, 0, BASE);
    for (size_t end = at[1]; end < at[2]; end++) { /* cut off: in the header, and behind it */
        join(v, 2, 5, 0, BASE);
        expect_next(end, end < at[1] + 28 ? SFU_E_NO_SECTION : SFU_E_BOUNDS);
    }
    join(v, 2, 5, 0, BASE);
    expect_next(at[2], SFU_OK);
    joined[at[1] + H_VERSION] = 9;
    expect_next(at[2], SFU_E_VERSION);
    join(v, 2, 5, 0, BASE);
    joined[at[1] + H_ABI] = 9;
    expect_next(at[2], SFU_E_ABI);
    join(v, 2, 5, 0, BASE);
    joined[at[1] + H_FLAGS] = 0x80;
    expect_next(at[2], SFU_E_FLAGS);
    join(v, 2, 5, 0, BASE);
    joined[at[1]] ^= 0x3c; /* the magic number of the other byte order alone */
    joined[at[1] + 1] ^= 0x3c;
    expect_next(at[2], SFU_E_NO_SECTION);
    for (int half = 0; half < 2; half++) { /* half a magic number is none */
        join(v, 2, 5, 0, BASE);
        joined[at[1] + (unsigned)half] ^= 1;
        expect_next(at[2], SFU_E_NO_SECTION);
    }
    size = join(v, 2, 7, 0, BASE);
    memmove(joined + at[1] + 1, joined + at[1], size - at[1]); /* 8 bytes of padding */
    joined[at[1]] = 0;
    expect_next(size + 1, SFU_E_NO_SECTION);
}

static void test_no_next(void **state)
{
    (void)state;
    for_each_variant(no_next);
}

/* Tables of both byte orders, in each order: none of them goes unseen. */
static void other_order(const struct variant *v)
{
    for (unsigned orders = 0; orders < 1u << TABLES; orders++) {
        struct opened o;
        struct variant mine = *v;
        struct sfu_section s[TABLES], *list = NULL;
        size_t size = 0;
        memset(joined, 0, sizeof joined);
        for (unsigned i = 0; i < TABLES; i++) {
            mine.big = orders >> i & 1 ? !v->big : v->big;
            begin_variant(b, &mine);
            for (unsigned k = 0; k <= i; k++) {
                build_fde(b, 0x10000 * (i + 1) + 0x20 * k, 0x20, ADDR1);
                ROW(b, 0, BASE_SP, 8 * (i + 1));
            }
            build_end(b);
            at[i] = size;
            memcpy(joined + size, b->bytes, b->size);
            size += b->size + i;
        }
        note("version %d, orders %x", v->version, orders);
        if (!built(v->version, v->abi, !v->big)) { /* a build for one ABI takes no other one for a section */
            unsigned same_order = 0;
            while (same_order < TABLES && !(orders >> same_order & 1))
                same_order++;
            code(seen(sfu_add(&list, s, TABLES, joined, (sfu_addr)size, BASE)),
                 same_order > 0 ? SFU_OK : SFU_E_ABI);
            same(list_length(list), same_order);
            continue;
        }
        code(open_bytes(&o, joined, (sfu_addr)size, BASE), SFU_OK);
        for (int remote = 0; remote < (o.has_remote ? 2 : 1); remote++) {
            list = NULL;
            code(sfu_check(remote ? &o.remote : &o.mapped, NULL), SFU_E_CONCATENATED);
            code(add_all(&list, s, TABLES, remote ? &o.remote : &o.mapped), SFU_OK);
            same(list_length(list), TABLES);
            for (unsigned i = 0; i < TABLES; i++)
                same(s[i].big, (orders >> i & 1) != v->big);
            expect_each(s, TABLES, v->abi);
        }
        for (unsigned k = 1, most = 0; o.has_remote && most < TABLES; k++) { /* the k-th read fails */
            int result;
            list = NULL;
            o.memory.reads = 0;
            o.memory.fail_at = k;
            result = add_all(&list, s, TABLES, &o.remote);
            code(result, o.memory.reads < k ? SFU_OK : SFU_E_SECTION);
            holds(list_length(list) >= most && (result == SFU_OK) <= (list_length(list) == TABLES));
            most = result == SFU_OK ? TABLES : most;
        }
        close_section(&o);
    }
}

static void test_other_order(void **state)
{
    (void)state;
    for_each_variant(other_order);
}

/* Of some tables one cannot be opened, or is of another ABI: those in front of it are in the list, those behind are
 * not, and a list that had sections has them still. */
static void refused_in_the_middle(const struct variant *v)
{
    static const struct {
        unsigned field, value;
        int want;
    } wrong[] = {{H_VERSION, 9, SFU_E_VERSION}, {H_ABI, 9, SFU_E_ABI},           {H_ABI, 0, SFU_E_ABI},
                 {H_FLAGS, 0x80, SFU_E_FLAGS},  {H_FRE_LEN, 0xff, SFU_E_BOUNDS}, {H_FREOFF + 1, 0xff, SFU_E_BOUNDS},
                 {H_ABI, 0x100, SFU_E_ABI}};
    for (unsigned bad = 0; bad < TABLES; bad++) {
        for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            struct opened o;
            struct sfu_section s[TABLES], *list = NULL;
            size_t size = join(v, TABLES, 3, 0, BASE);
            unsigned value = wrong[i].value, field = wrong[i].field;
            note("version %d, table %u, field %u: %u", v->version, bad, field, value);
            if (value == 0x100) /* another one, which there is */
                value = v->abi == SFU_RISCV64 ? SFU_RISCV32
                        : v->abi > 0x80       ? SFU_RISCV64
                        : v->abi == SFU_AMD64 ? SFU_AARCH64
                                              : SFU_AMD64;
            if (field == H_FRE_LEN || field > H_FREOFF) /* the most significant byte */
                field = (field & ~3u) + (v->big ? 0 : 3);
            code(open_bytes(&o, joined, (sfu_addr)size, BASE), SFU_OK);
            o.block[1 + at[bad] + field] = (uint8_t)value;
            joined[at[bad] + field] = (uint8_t)value;
            for (int remote = 0; remote < (o.has_remote ? 2 : 1); remote++) {
                bool fits = bad == 0 && wrong[i].value == 0x100 && FIRST_ABI < LAST_ABI; /* the next one is other */
                list = NULL;
                code(add_all(&list, s, TABLES, remote ? &o.remote : &o.mapped), wrong[i].want);
                same(list_length(list), fits ? 1 : bad);
                for (unsigned k = 0; k + 1 < bad; k++)
                    same(s[k].size, s[k].end);
            }
            close_section(&o);
        }
    }
}

static void test_refused_in_the_middle(void **state)
{
    (void)state;
    for_each_variant(refused_in_the_middle);
}

#ifndef SFU_NO_REMOTE
/* The k-th read fails: what was opened before is in the list. */
static void next_failing(const struct variant *v)
{
    struct opened o;
    size_t size = join(v, 3, 3, 0, BASE);
    /* a header and up to the magic in the fourth place behind it, twice; the last header, which nothing follows */
    enum { EACH = 1 + 4, READS = 2 * EACH + 1 };
    code(open_bytes(&o, joined, (sfu_addr)size, BASE), SFU_OK);
    for (unsigned k = 1; k <= READS + 1; k++) {
        struct sfu_section s[3], *list = NULL;
        unsigned whole = k > READS ? 3 : (k - 1) / EACH + ((k - 1) % EACH != 0);
        o.memory.reads = 0;
        o.memory.fail_at = k;
        note("version %d, read %u", v->version, k);
        code(add_all(&list, s, 3, &o.remote), k > READS ? SFU_OK : SFU_E_SECTION);
        same(list_length(list), whole);
        same(o.memory.reads, k > READS ? READS : k);
        if (whole > 0) {
            assert_ptr_equal(list, &s[whole - 1]);
            same(s[whole - 1].size, size - at[whole - 1]);
        }
    }
    close_section(&o);
}

static void test_next_failing(void **state)
{
    (void)state;
    for_each_variant(next_failing);
}
#endif

#ifndef SFU_NO_REMOTE
/* The k-th read fails for every k; the place is where the check had come to. */
static void failing(const struct variant *v)
{
    struct opened o;
    uint32_t reached = 0;
    int result;
    unsigned k = 0;
    three(v);
    memset(b->bytes + b->size, 0, 64); /* padding, in which another header is looked for */
    b->size += 64;
    code(open_build(&o, b), SFU_OK);
    do {
        struct sfu_place place = {3, 0};
        o.memory.reads = 0;
        o.memory.fail_at = ++k;
        result = sfu_check(&o.remote, &place);
        holds(result == SFU_E_SECTION || result == SFU_OK);
        holds(place.fde >= reached && place.fde <= 3);
        reached = place.fde;
    } while (result != SFU_OK);
    holds(k > 3 * 6);
    close_section(&o);
}

static void test_failing(void **state)
{
    (void)state;
    for_each_variant(failing);
}
#endif

int check_tests(void)
{
    const struct check_test tests[] = {
        CHECK(test_valid),         CHECK(test_order),
        CHECK(test_counts),        CHECK(test_entries),
        CHECK(test_rows),          CHECK(test_concatenated),
        CHECK(test_top_of_memory), CHECK(test_no_rows),
        CHECK(test_shared),        CHECK(test_joined),
        CHECK(test_joined_far),    CHECK(test_no_next),
        CHECK(test_other_order),   CHECK(test_refused_in_the_middle),
#ifndef SFU_NO_REMOTE
        CHECK(test_failing),       CHECK(test_proportional),
        CHECK(test_next_failing),
#endif
    };
    return check_run("check", tests);
}
