/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Opening a section: what a struct sfu_section says of it, and lists of them. What a header may say is in the
 * vectors. */
#include "test.h"

static struct build *const b = &the_build;

/* One function of one row, 16 bytes long. */
static void one_function(const struct variant *v)
{
    begin_variant(b, v);
    build_fde(b, 0x1000, 16, ADDR1);
    ROW(b, 0, BASE_SP | WORD1, 16);
}

static int open_only(const uint8_t *bytes, sfu_addr size, sfu_addr addr)
{
    struct opened o;
    int result = open_bytes(&o, bytes, (size_t)size, addr);
    if (result == SFU_OK)
        close_section(&o);
    return result;
}

static void fields(const struct variant *v)
{
    struct opened o;
    one_function(v);
    b->fixed_fp = -128;
    b->fixed_ra = 127;
    b->auxhdr_len = 255;
    b->gap = 3;
    open_valid(&o, b);
    for (int i = 0; i < (o.has_remote ? 2 : 1); i++) {
        const struct sfu_section *s = i == 0 ? &o.mapped : &o.remote;
        assert_null(s->next);
        same(s->addr, BASE);
        same(s->size, size_of(b));
        same(s->fdes, 28 + 255);
        same(s->rows, build_fre_at(b));
        same(s->end, size_of(b));
        same(s->num_fdes, 1);
        same(s->num_rows, 1);
        same_rule(s->fp, AT_CFA, -128);
        same_rule(s->ra, AT_CFA, 127);
        same(s->version, v->version);
        same(s->flags, b->flags);
        same(s->abi, v->abi);
        same(s->fde_size, build_fde_size(b));
        same(s->big, v->big);
        same(s->text.low, 0);
        same(s->text.high, 0);
    }
    assert_ptr_equal(o.mapped.bytes, o.block + 1);
    close_section(&o);
    b->fixed_fp = b->fixed_ra = 0; /* none: both are unchanged */
    open_valid(&o, b);
    same_rule(o.mapped.fp, REG(registers[v->abi].fp), 0);
    same_rule(o.mapped.ra, REG(registers[v->abi].ra), 0);
    close_section(&o);
}

static void test_fields(void **state)
{
    (void)state;
    for_each_variant(fields);
}

/* Each reason to refuse a section leaves *SECTION as it was: open_bytes sees to that. */
static void refused(const struct variant *v)
{
    static const struct {
        unsigned field, value;
        int want;
    } wrong[] = {{H_MAGIC, 0, SFU_E_MAGIC},
                 {H_VERSION, 9, SFU_E_VERSION},
                 {H_ABI, 9, SFU_E_ABI},
                 {H_FLAGS, 0x80, SFU_E_FLAGS},
                 {H_AUX, 1, SFU_E_BOUNDS}};
    one_function(v);
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        build_end(b);
        b->bytes[wrong[i].field] = (uint8_t)wrong[i].value;
        code(open_only(b->bytes, size_of(b), BASE), wrong[i].want);
    }
    build_end(b);
    code(open_only(b->bytes, 0, BASE), SFU_E_EMPTY);
    code(open_only(b->bytes, size_of(b), BASE), SFU_OK);
}

static void test_refused(void **state)
{
    (void)state;
    for_each_variant(refused);
}

/* The versions that are left out of this build are refused by name. */
static void test_oldest_version(void **state)
{
    (void)state;
    for (int version = 1; version <= 3; version++) {
        int abi = version == 1 && SOME_ABI == SFU_S390X ? SFU_AMD64 : SOME_ABI;
        build_begin(b, version, abi, registers[abi].big);
        build_fde(b, 0, 16, ADDR1);
        ROW(b, 0, BASE_SP, 8);
        build_end(b);
        code(open_only(b->bytes, size_of(b), BASE), version < (abi > 0x80 ? 3 : OLDEST)       ? SFU_E_VERSION
                                                    : built(version, abi, registers[abi].big) ? SFU_OK
                                                                                              : SFU_E_ABI);
    }
}

/* What a table with this magic number and ABI number is: docs/format.md, "Header". */
static int kind_of(int version, int abi, bool big, bool own)
{
#ifdef SFU_ABI
    if (own != (SFU_ABI > 0x80))
        return SFU_E_MAGIC;
#endif
    if (own && version < 3)
        return SFU_E_VERSION;
    return own == (abi > 0x80) && built(version, abi, big) ? SFU_OK : SFU_E_ABI;
}

/* So are the ABIs, and the byte order that the one that is left does not have. Each number with each magic number: an
 * ABI that lib/abi.h lacks is opened here all the same. */
static void test_built_in(void **state)
{
    (void)state;
    for (int version = OLDEST; version <= 3; version++) {
        for (int abi = 0; abi <= 255; abi++) {
            for (int i = 0; i < 4; i++) {
                bool big = i & 1, own = i & 2;
                build_begin(b, version, abi, big);
                build_fde(b, 0, 16, ADDR1);
                ROW(b, 0, BASE_SP, 8);
                build_end(b);
                build_put(b, H_MAGIC, abi_magic(own ? 0x81 : 1), 2);
                note("version %d, ABI %d, big %d, own %d", version, abi, big, own);
                code(open_only(b->bytes, size_of(b), BASE), kind_of(version, abi, big, own));
            }
        }
    }
}

/* Numbers of a header whose sums or products fit only if they lose what is above 32 bits. */
static void sums(const struct variant *v)
{
    const uint32_t entry = v->version == 1 ? 17 : v->version == 2 ? 20 : 16, whole = UINT32_MAX / entry + 1;
    const struct {
        size_t field;
        uint32_t value;
    } wrong[] = {
        {H_FREOFF, UINT32_MAX},  {H_FREOFF, UINT32_MAX - 27},  {H_FREOFF, UINT32_MAX - 27 + entry},
        {H_FRE_LEN, UINT32_MAX}, {H_FRE_LEN, UINT32_MAX - 27}, {H_FRE_LEN, UINT32_MAX - 27 - entry},
        {H_FDEOFF, UINT32_MAX},  {H_FDEOFF, UINT32_MAX - 27},  {H_FDEOFF, UINT32_MAX - entry + 1},
        {H_FDES, whole},         {H_FDES, whole + 1},          {H_FDES, UINT32_MAX},
    };

    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        note("version %d, field at %u, %x", v->version, (unsigned)wrong[i].field, (unsigned)wrong[i].value);
        one_function(v);
        build_end(b);
        build_put(b, wrong[i].field, wrong[i].value, 4);
        code(open_only(b->bytes, size_of(b), BASE), SFU_E_BOUNDS);
    }
}

/* A number of entries whose product fits only if it loses what is above 32 bits, in the largest section. */
static void products(const struct variant *v)
{
    const uint32_t entry = v->version == 1 ? 17 : v->version == 2 ? 20 : 16, whole = UINT32_MAX / entry + 1;
    const uint32_t fdes[] = {0, 0x7ffffef0};

    for (unsigned i = 0; i < sizeof fdes / sizeof fdes[0]; i++) {
        struct sfu_section s;

        note("version %d, entries at %x", v->version, (unsigned)fdes[i]);
        one_function(v);
        build_end(b);
        build_put(b, H_FDES, whole, 4);
        build_put(b, H_FDEOFF, fdes[i], 4);
        build_put(b, H_FREOFF, 0x7fffff00, 4);
        code(sfu_open(&s, b->bytes, INT32_MAX, BASE), SFU_E_BOUNDS); /* it reads only the header */
    }
}

static void test_sums(void **state)
{
    (void)state;
    for_each_variant(sums);
    for_each_variant(products);
}

/* No section reaches the end of the address space, let alone goes beyond it. */
static void top_of_memory(const struct variant *v)
{
    one_function(v);
    build_end(b);
    code(open_only(b->bytes, size_of(b), SFU_ADDR_MAX - size_of(b)), SFU_OK);
    code(open_only(b->bytes, size_of(b), SFU_ADDR_MAX - size_of(b) + 1), SFU_E_BOUNDS);
    code(open_only(b->bytes, size_of(b), SFU_ADDR_MAX - size_of(b) + 2), SFU_E_BOUNDS);
    code(open_only(b->bytes, size_of(b), SFU_ADDR_MAX), SFU_E_BOUNDS);
    code(open_only(b->bytes, size_of(b), 0), SFU_OK);
}

static void test_top_of_memory(void **state)
{
    (void)state;
    for_each_variant(top_of_memory);
}

#ifndef SFU_NO_REMOTE
/* Sizes that no host can map. The tables may end at INT32_MAX, and not behind it. */
static void test_huge(void **state)
{
    struct variant v = {3, SOME_ABI, registers[SOME_ABI].big, 0};
    struct sfu_section s;
    struct memory m;
    (void)state;
    one_function(&v);
    build_end(b);
    m = (struct memory){b->bytes, BASE, size_of(b), 0, 0, true, 0};
    code(sfu_open_remote(&s, memory_read, &m, SFU_ADDR_MAX - BASE, BASE), SFU_OK);
    code(sfu_open_remote(&s, memory_read, &m, SFU_ADDR_MAX, BASE), SFU_E_BOUNDS);
    m.addr = 0;
    code(sfu_open_remote(&s, memory_read, &m, SFU_ADDR_MAX, 0), SFU_OK);
    build_put(b, H_FRE_LEN, 0x7fffffff - build_fre_at(b), 4);
    code(sfu_open_remote(&s, memory_read, &m, SFU_ADDR_MAX, 0), SFU_OK);
    same(s.end, 0x7fffffff);
    code(sfu_open_remote(&s, memory_read, &m, 0x7fffffff, 0), SFU_OK);
    code(sfu_open_remote(&s, memory_read, &m, 0x7ffffffe, 0), SFU_E_BOUNDS);
    build_put(b, H_FRE_LEN, 0x80000000 - build_fre_at(b), 4);
    code(sfu_open_remote(&s, memory_read, &m, SFU_ADDR_MAX, 0), SFU_E_BOUNDS);
    build_end(b);
    build_put(b, H_FREOFF, 0x10001 * 16, 4); /* FDEs that end where the rows begin, more than 16 bits count */
    for (unsigned fdes = 0x10000; fdes <= 0x10002; fdes++) {
        build_put(b, H_FDES, fdes, 4);
        code(sfu_open_remote(&s, memory_read, &m, SFU_ADDR_MAX, 0), fdes <= 0x10001 ? SFU_OK : SFU_E_BOUNDS);
    }
    same(s.rows, 28 + 0x10001 * 16);
    build_put(b, H_FDES, 1, 4);
    build_put(b, H_FDEOFF, 0x10000, 4);
    code(sfu_open_remote(&s, memory_read, &m, SFU_ADDR_MAX, 0), SFU_OK);
    same(s.fdes, 28 + 0x10000);
    build_end(b);
    for (size_t field = H_FDES; field <= H_FREOFF; field += 4) { /* tables of more than 2 GiB */
        uint64_t kept = build_get(b, field, 4);
        if (field != H_FRES && field != H_FDEOFF) {
            build_put(b, field, 0x80000000, 4);
            code(sfu_open_remote(&s, memory_read, &m, SFU_ADDR_MAX, 0), SFU_E_BOUNDS);
            build_put(b, field, kept, 4);
        }
    }
}
#endif

/* Adds what lies at BYTES. */
static int add_one(struct sfu_section **list, struct sfu_section *s)
{
    return seen(sfu_add(list, s, 1, b->bytes, size_of(b), BASE));
}

static void test_list(void **state)
{
    struct sfu_section s[4];
    struct sfu_section *list = NULL;
    struct variant v = {3, SOME_ABI, registers[SOME_ABI].big, 0};
    (void)state;
    memset(s, 0, sizeof s);
    holds(!sfu_remove(&list, s, 4));
    for (int i = 0; i < 3; i++) {
        one_function(&v);
        build_end(b);
        code(add_one(&list, &s[i]), SFU_OK);
        assert_ptr_equal(list, &s[i]);
        same(list_length(list), i + 1);
    }
    v.abi = LAST_ABI > FIRST_ABI ? SFU_AARCH64 : SOME_ABI;
    one_function(&v);
    build_end(b);
    if (LAST_ABI > FIRST_ABI) {
        struct sfu_section kept = s[3];
        code(add_one(&list, &s[3]), SFU_E_ABI);
        assert_ptr_equal(s[3].next, kept.next);
        b->bytes[H_ABI] = 77; /* no ABI at all */
        code(add_one(&list, &s[3]), SFU_E_ABI);
        build_end(b);
    }
    same(list_length(list), 3);
    code(seen(sfu_add(&list, &s[3], 1, b->bytes, 0, BASE)), SFU_E_EMPTY);
    same(list_length(list), 3);
    holds(!sfu_remove(&list, &s[3], 1));
    holds(!sfu_remove(&list, s, 0));
    same(list_length(list), 3);
    holds(sfu_remove(&list, &s[1], 1)); /* from the middle */
    same(list_length(list), 2);
    assert_ptr_equal(list->next, &s[0]);
    assert_null(s[1].next);
    holds(!sfu_remove(&list, &s[1], 1));
    holds(sfu_remove(&list, &s[2], 1)); /* the first */
    holds(sfu_remove(&list, &s[0], 1)); /* the last one */
    assert_null(list);
    code(add_one(&list, &s[3]), SFU_OK); /* of another ABI */
    holds(sfu_remove(&list, &s[3], 1));
    assert_null(list);
}

/* Every group of neighbours, out of a list that has every second one, all but one, or all of the sections. */
static void test_remove_groups(void **state)
{
    enum { COUNT = 5 };
    struct sfu_section s[COUNT + 1];
    struct variant v = {3, SOME_ABI, registers[SOME_ABI].big, 0};
    (void)state;
    one_function(&v);
    build_end(b);
    for (unsigned in = 0; in < 1u << COUNT; in++) {
        for (unsigned first = 0; first <= COUNT; first++) {
            for (unsigned room = 0; first + room <= COUNT; room++) {
                unsigned group = ((1u << room) - 1) << first, left = 0;
                struct sfu_section *list = NULL;
                note("in %x, group %x", in, group);
                for (unsigned i = 0; i < COUNT; i++)
                    if (in >> i & 1)
                        code(add_one(&list, &s[i]), SFU_OK);
                same(sfu_remove(&list, s + first, room), (in & group) != 0);
                for (const struct sfu_section *p = list; p != NULL; p = p->next)
                    left |= 1u << (p - s);
                same(left, in & ~group);
                for (unsigned i = 0; i < COUNT; i++)
                    if (in & group & 1u << i)
                        assert_null(s[i].next);
                for (const struct sfu_section *p = list; p != NULL && p->next != NULL; p = p->next)
                    holds(p > p->next); /* the order is what it was */
            }
        }
    }
}

int section_tests(void)
{
    const struct check_test tests[] = {
        CHECK(test_fields), CHECK(test_refused),       CHECK(test_oldest_version), CHECK(test_built_in),
        CHECK(test_sums),   CHECK(test_top_of_memory), CHECK(test_list),           CHECK(test_remove_groups),
#ifndef SFU_NO_REMOTE
        CHECK(test_huge),
#endif
    };
    return check_run("section", tests);
}
