/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Sorting a section in place: nothing is lost, everything is found as before, starts are made section-relative. */
#include "test.h"

static struct build *const b = &the_build;

enum { MOST = 600 };
static struct {
    int64_t start;
    uint32_t size;
} functions[MOST];

/* N functions, the I-th 0x20 * i above the first, in the order that ORDER gives them. Each has a row of its own. */
static void build_shuffled(const struct variant *v, int n, int order)
{
    begin_variant(b, v);
    b->flags &= (uint8_t)~F_SORTED;
    for (int i = 0; i < n; i++) {
        functions[i].start = -0x800 + 0x20 * (order == 0 ? i : n - 1 - i);
        functions[i].size = 0x10 + (uint32_t)(i % 0x10);
    }
    for (int i = n - 1; order == 2 && i > 0; i--) {
        int j = (int)(random_number() % (unsigned)(i + 1));
        int64_t kept = functions[i].start;
        functions[i].start = functions[j].start;
        functions[j].start = kept;
    }
    for (int i = 0; i < n; i++) {
        build_fde(b, functions[i].start, functions[i].size, ADDR1);
        ROW(b, 0, BASE_SP | WORD2, i);
    }
    build_end(b);
}

/* A function in another one: an unsorted table has both, a sorted one cannot, and the check says so. */
static void nested(const struct variant *v)
{
    struct opened o;
    struct sfu_row row;
    struct sfu_place place;
    begin_variant(b, v);
    b->flags &= (uint8_t)~F_SORTED;
    build_fde(b, 0x1000, 0x100, ADDR1);
    ROW(b, 0, BASE_SP, 8);
    build_fde(b, 0x1010, 0x10, ADDR1);
    ROW(b, 0, BASE_SP, 16);
    open_valid(&o, b);
    code(check(&o, NULL), SFU_OK);
    code(sfu_find(&o.mapped, BASE + 0x1020, &row), SFU_OK);
    same(row.function, BASE + 0x1000);
    code(sfu_sort(&o.mapped, o.block + 1), SFU_OK);
    code(sfu_find(&o.mapped, BASE + 0x100f, &row), SFU_OK);
    same(row.function, BASE + 0x1000);
    code(sfu_find(&o.mapped, BASE + 0x1010, &row), SFU_OK);
    same(row.function, BASE + 0x1010);
    code(sfu_find(&o.mapped, BASE + 0x1020, &row), SFU_E_NO_FDE);
    code(sfu_check(&o.mapped, &place), SFU_E_OVERLAP);
    same(place.fde, 1);
    close_section(&o);
}

static void test_nested(void **state)
{
    (void)state;
    for_each_variant(nested);
}

static void expect_functions(const struct sfu_section *s, const struct variant *v, int n)
{
    for (int i = 0; i < n; i++) {
        struct sfu_row row;
        sfu_addr start = BASE + (sfu_addr)functions[i].start;
        note("version %d, %d functions, number %d", v->version, n, i);
        code(sfu_find(s, start, &row), SFU_OK);
        same(row.function, start);
        same(row.length, functions[i].size);
        same(row.cfa.offset, cfa_offset(v->abi, i));
        code(sfu_find(s, start + functions[i].size - 1, &row), SFU_OK);
        same(row.function, start);
        code(sfu_find(s, start + functions[i].size, &row), SFU_E_NO_FDE);
    }
}

static void sorts(const struct variant *v)
{
    static const int sizes[] = {1, 2, 3, 4, 5, 10, 33, 257, MOST};
    for (int i = 0; i < 9; i++) {
        for (int order = 0; order < 3; order++) {
            struct opened o;
            struct sfu_section again;
            uint8_t *bytes;
            build_shuffled(v, sizes[i], order);
            code(open_build(&o, b), SFU_OK);
            bytes = o.block + 1;
            if (sizes[i] <= 33) /* a linear search takes its time */
                expect_functions(&o.mapped, v, sizes[i]);
            code(sfu_sort(&o.mapped, bytes), SFU_OK);
            same(o.mapped.flags, F_SORTED);
            same(bytes[H_FLAGS], F_SORTED);
            expect_functions(&o.mapped, v, sizes[i]);
            /* the bytes themselves are a valid section, with the same rows */
            code(sfu_open(&again, bytes, size_of(b), BASE), SFU_OK);
            code(sfu_check(&again, NULL), SFU_OK);
            expect_functions(&again, v, sizes[i]);
            assert_memory_equal(bytes + again.rows, b->bytes + build_fre_at(b), b->fre_len);
            bytes[H_FLAGS] = b->flags;
            assert_memory_equal(bytes, b->bytes, build_fde_at(b, 0));
            bytes[H_FLAGS] = F_SORTED;
            code(sfu_sort(&o.mapped, bytes), SFU_OK); /* and again: nothing is left to do */
            expect_functions(&o.mapped, v, sizes[i]);
            close_section(&o);
        }
    }
}

static void test_sorts(void **state)
{
    (void)state;
    random_seed(3);
    for_each_variant(sorts);
}

/* The whole entry moves: an entry is as it was but for its place and its start. */
static void entries(const struct variant *v)
{
    struct opened o;
    unsigned start = v->version == 3 ? 8 : 4;
    size_t size;
    build_shuffled(v, 33, 2);
    size = build_fde_size(b);
    code(open_build(&o, b), SFU_OK);
    code(sfu_sort(&o.mapped, o.block + 1), SFU_OK);
    for (uint32_t i = 0; i < 33; i++) {
        uint32_t rank = (uint32_t)((functions[i].start + 0x800) / 0x20);
        assert_memory_equal(o.block + 1 + build_fde_at(b, rank) + start, b->bytes + build_fde_at(b, i) + start,
                            size - start);
    }
    close_section(&o);
}

static void test_entries(void **state)
{
    (void)state;
    for_each_variant(entries);
}

/* Empty functions beside the real one with the same start, in every order. */
static void empties(const struct variant *v)
{
    for (int real = 0; real < 4; real++) {
        struct opened o;
        struct sfu_row row;
        begin_variant(b, v);
        b->flags &= (uint8_t)~F_SORTED;
        build_fde(b, 0x2000, 0x10, ADDR1);
        ROW(b, 0, BASE_SP, 1);
        for (int i = 0; i < 4; i++) {
            build_fde(b, 0x1000, i == real ? 0x10 : 0, ADDR1);
            ROW(b, 0, BASE_SP, 1);
        }
        open_valid(&o, b);
        code(sfu_sort(&o.mapped, o.block + 1), SFU_OK);
        code(check(&o, NULL), SFU_OK);
        code(sfu_find(&o.mapped, BASE + 0x100f, &row), SFU_OK);
        code(sfu_find(&o.mapped, BASE + 0x2000, &row), SFU_OK);
        close_section(&o);
    }
}

static void test_empties(void **state)
{
    (void)state;
    for_each_variant(empties);
}

static void refuses(struct opened *o, void *bytes, size_t size)
{
    struct sfu_section before = o->mapped;
    uint8_t *kept = malloc(size);
    memcpy(kept, o->block + 1, size);
    code(seen(sfu_sort(&o->mapped, bytes)), SFU_E_READONLY);
    assert_memory_equal(&before, &o->mapped, sizeof before);
    assert_memory_equal(kept, o->block + 1, size);
    free(kept);
}

/* Bytes that are not the section's, and starts that their field cannot hold from the start of the section. */
static void readonly(const struct variant *v)
{
    struct opened o;
    uint8_t other[4096];
    build_shuffled(v, 20, 2);
    code(open_build(&o, b), SFU_OK);
    memcpy(other, b->bytes, b->size);
    refuses(&o, other, b->size);
    refuses(&o, o.block, b->size);
    if (o.has_remote) {
        struct sfu_section before = o.remote;
        code(seen(sfu_sort(&o.remote, other)), SFU_E_READONLY);
        assert_memory_equal(&before, &o.remote, sizeof before);
        assert_memory_equal(other, b->bytes, b->size);
    }
    close_section(&o);
    if (v->flags & F_PCREL && v->version == 2) {
        for (int over = 0; over < 2; over++) {
            begin_variant(b, v);
            b->flags = F_PCREL;
            build_fde(b, 0x5000, 0x10, ADDR1);
            ROW(b, 0, BASE_SP, 1);
            build_fde(b, INT64_C(0x7fffffff) + over, 0x10, ADDR1); /* in the field it is less */
            ROW(b, 0, BASE_SP, 1);
            open_valid(&o, b);
            code(find(&o, BASE + 0x7fffffff + (sfu_addr)over, NULL), SFU_OK);
            if (over) {
                refuses(&o, o.block + 1, b->size);
            } else {
                code(sfu_sort(&o.mapped, o.block + 1), SFU_OK);
                code(sfu_find(&o.mapped, BASE + 0x7fffffff, &(struct sfu_row){0}), SFU_OK);
            }
            close_section(&o);
        }
    }
}

static void test_readonly(void **state)
{
    (void)state;
    for_each_variant(readonly);
}

/* The least start that fits, next to the largest. */
static void limits(const struct variant *v)
{
    struct opened o;
    struct sfu_row row;
    int64_t far = v->version == 3 ? INT64_C(0x3fffffffffffff00) : 0x7fffffff;
    sfu_addr base = (sfu_addr)UINT64_C(0x4000000000000000);
    int64_t near = v->flags & F_PCREL ? -far + 0x1000 : -far - 1;
    begin_variant(b, v);
    b->flags = (uint8_t)v->flags;
    build_fde(b, far, 1, ADDR1);
    ROW(b, 0, BASE_SP, 1);
    build_fde(b, near, 0x10, ADDR1);
    ROW(b, 0, BASE_SP, 1);
    build_end(b);
    code(open_bytes(&o, b->bytes, b->size, base), SFU_OK);
    code(sfu_sort(&o.mapped, o.block + 1), SFU_OK);
    code(sfu_find(&o.mapped, base + (sfu_addr)far, &row), SFU_OK);
    same(row.length, 1);
    code(sfu_find(&o.mapped, base + (sfu_addr)near + 0xf, &row), SFU_OK);
    same(row.length, 0x10);
    code(sfu_check(&o.mapped, NULL), max_address < base ? SFU_E_FDE : SFU_OK);
    close_section(&o);
}

static void test_limits(void **state)
{
    (void)state;
    for_each_variant(limits);
}

/* No functions: nothing to do, but to say that it is sorted. */
static void none(const struct variant *v)
{
    struct opened o;
    begin_variant(b, v);
    b->flags = (uint8_t)v->flags;
    open_valid(&o, b);
    code(sfu_sort(&o.mapped, o.block + 1), SFU_OK);
    same(o.mapped.flags, F_SORTED);
    close_section(&o);
}

static void test_none(void **state)
{
    (void)state;
    for_each_variant(none);
}

int sort_tests(void)
{
    const struct check_test tests[] = {
        CHECK(test_nested),   CHECK(test_sorts),  CHECK(test_entries), CHECK(test_empties),
        CHECK(test_readonly), CHECK(test_limits), CHECK(test_none),
    };
    return check_run("sort", tests);
}
