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

/* No function reaches the end of the address space. */
static void top_of_memory(const struct variant *v)
{
    uint64_t addr = UINT64_MAX - 0xffff;
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

static size_t join(const struct variant *v, int n, size_t padding, uint8_t fill, uint64_t addr)
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

/* Opens all of what O has, mapped or remote: N tables, of which each is whole, and says what is its own. */
static void expect_joined(const struct sfu_section *first, int n, int abi)
{
    struct sfu_section s[TABLES + 1];
    struct sfu_place place;
    s[0] = *first;
    for (int i = 1; i < n; i++) {
        uint64_t size = s[i - 1].size;
        code(sfu_check(&s[i - 1], &place), SFU_E_CONCATENATED);
        code(seen(sfu_open_next(&s[i - 1], &s[i])), SFU_OK);
        same(s[i - 1].size, s[i - 1].end);
        same(s[i].addr, first->addr + at[i]);
        same(s[i].size, size - (at[i] - at[i - 1]));
        same(s[i].num_fdes, i + 1);
        assert_null(s[i].next);
        code(sfu_open_next(&s[i - 1], &s[n]), SFU_E_EMPTY); /* it was cut off */
    }
    code(sfu_open_next(&s[n - 1], &s[n]), SFU_E_EMPTY);
    for (int i = 0; i < n; i++) {
        struct sfu_row row;
        code(sfu_check(&s[i], NULL), SFU_OK);
        for (int k = 0; k < n; k++) {
            uint64_t pc = s[k].addr + 0x10000 * (uint64_t)(k + 1);
            code(sfu_find(&s[i], pc, &row), i == k ? SFU_OK : SFU_E_NO_FDE);
            holds(i != k || row.cfa.offset == cfa_offset(abi, 8 * (i + 1)));
        }
    }
}

static void joins(const struct variant *v)
{
    for (unsigned n = 1; n <= TABLES; n++) {
        for (unsigned how = 0; how <= 8; how++) {
            for (unsigned odd = 0; odd < 2; odd++) {
                struct opened o;
                uint64_t addr = BASE + 3 * odd;
                uint8_t fill = odd ? 0xcc : 0;
                size_t size = join(v, (int)n, how, fill, addr);
                note("version %d, %u tables, padding %u, odd %u", v->version, n, how, odd);
                code(open_bytes(&o, joined, size + odd * 30, addr), SFU_OK);
                expect_joined(&o.mapped, (int)n, v->abi);
                if (o.has_remote)
                    expect_joined(&o.remote, (int)n, v->abi);
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

/* What comes behind the tables is no header, or not one that can be opened: nothing changes. */
static void expect_next(size_t size, int want)
{
    struct opened o;
    code(open_bytes(&o, joined, size, BASE), SFU_OK);
    for (int remote = 0; remote < (o.has_remote ? 2 : 1); remote++) {
        struct sfu_section *s = remote ? &o.remote : &o.mapped, next, before, next_before;
        memset(&next, 0x5a, sizeof next);
        memcpy(&next_before, &next, sizeof next);
        memcpy(&before, s, sizeof before);
        note("version %d, size %zu, remote %d", b->version, size, remote);
        code(seen(sfu_open_next(s, &next)), want);
        if (want == SFU_OK) {
            same(s->size, s->end);
            same(next.size, size - at[1]);
        } else {
            assert_memory_equal(s, &before, sizeof before);
            assert_memory_equal(&next, &next_before, sizeof next);
        }
    }
    close_section(&o);
}

static void no_next(const struct variant *v)
{
    size_t size;
    join(v, 2, 5, 0, BASE);
    for (size_t end = at[1]; end < at[2]; end++) { /* cut off: in the header, and behind it */
        join(v, 2, 5, 0, BASE);
        expect_next(end, end < at[1] + 28 ? SFU_E_EMPTY : SFU_E_BOUNDS);
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
    joined[at[1]] ^= 0x3c; /* in the other byte order, too, it is another table's */
    joined[at[1] + 1] ^= 0x3c;
    expect_next(at[2], SFU_E_EMPTY);
    size = join(v, 2, 7, 0, BASE);
    memmove(joined + at[1] + 1, joined + at[1], size - at[1]); /* 8 bytes of padding */
    joined[at[1]] = 0;
    expect_next(size + 1, SFU_E_EMPTY);
}

static void test_no_next(void **state)
{
    (void)state;
    for_each_variant(no_next);
}

#ifndef SFU_NO_REMOTE
/* The k-th read fails: nothing changes. */
static void next_failing(const struct variant *v)
{
    struct opened o;
    struct sfu_section next;
    size_t size = join(v, 2, 3, 0, BASE);
    unsigned k = 0;
    int result;
    code(open_bytes(&o, joined, size, BASE), SFU_OK);
    do {
        struct sfu_section before = o.remote;
        o.memory.reads = 0;
        o.memory.fail_at = ++k;
        result = sfu_open_next(&o.remote, &next);
        holds(result == SFU_E_SECTION || result == SFU_OK);
        same(o.remote.size, result == SFU_OK ? before.end : before.size);
    } while (result != SFU_OK);
    same(k, 3 + 2 + 1); /* up to the magic in the fourth place, and the header */
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),         cmocka_unit_test(test_order),
        cmocka_unit_test(test_counts),        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_rows),          cmocka_unit_test(test_concatenated),
        cmocka_unit_test(test_top_of_memory), cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_shared),        cmocka_unit_test(test_joined),
        cmocka_unit_test(test_no_next),
#ifndef SFU_NO_REMOTE
        cmocka_unit_test(test_failing),       cmocka_unit_test(test_proportional),
        cmocka_unit_test(test_next_failing),
#endif
    };
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
