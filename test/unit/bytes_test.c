/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The reader: sections mapped at every alignment, and through the callback, which may fail at every call. */
#include "test.h"

static struct build *const b = &the_build;

/* A function of three rows. */
static void three_rows(int abi, bool big)
{
    build_begin(b, 3, abi, big);
    build_fde(b, 0x1000, 0x20, ADDR1);
    ROW(b, 0, BASE_SP | WORD1, 8);
    ROW(b, 1, BASE_SP | WORD2, 16, -16);
    ROW(b, 0x1f, BASE_SP | WORD4, 0x12345678 & (abi == SFU_S390X ? 0x7ffffff : -1), -16);
    build_end(b);
}

static void test_alignment(void **state)
{
    static uint8_t bytes[1024];
    (void)state;
    FOR_FORMS(abi, big)
    {
        three_rows(abi, big);
        for (unsigned i = 0; i < 8; i++) {
            struct sfu_section s;
            struct sfu_row row;
            memcpy(bytes + i, b->bytes, b->size);
            code(sfu_open(&s, bytes + i, size_of(b), BASE + i), SFU_OK);
            code(sfu_find(&s, BASE + i + 0x101f, &row), SFU_OK);
            same(row.cfa.offset, cfa_offset(abi, 0x12345678 & (abi == SFU_S390X ? 0x7ffffff : -1)));
        }
    }
}

#ifndef SFU_NO_REMOTE
/* Fails the k-th read of a call for every k, until the call succeeds without a k-th read. */
static void test_failing_reads(void **state)
{
    struct opened o;
    struct sfu_row row, good;
    struct sfu_section s, before;
    struct memory m;
    unsigned k;
    (void)state;
    three_rows(SOME_ABI, registers[SOME_ABI].big);
    m = (struct memory){b->bytes, BASE, size_of(b), 0, 1, true, 0};
    memset(&s, 0x5a, sizeof s);
    before = s;
    code(seen(sfu_open_remote(&s, memory_read, &m, size_of(b), BASE)), SFU_E_SECTION);
    assert_memory_equal(&s, &before, sizeof s);
    code(open_build(&o, b), SFU_OK);
    code(find(&o, BASE + 0x1010, &good), SFU_OK);
    for (k = 1; k < 100; k++) {
        int result;
        memset(&row, 0x5a, sizeof row);
        o.memory.reads = 0;
        o.memory.fail_at = k;
        result = seen(sfu_find(&o.remote, BASE + 0x1010, &row));
        if (result == SFU_OK)
            break;
        code(result, SFU_E_SECTION);
        same(o.memory.reads, k); /* it stops at once */
        same(row.length, 0x5a5a5a5a);
    }
    holds(k > 4 && k < 100);
    same_row(&row, &good);
    for (k = 1; k < 100; k++) {
        int result;
        struct sfu_place place = {9, 9};
        o.memory.reads = 0;
        o.memory.fail_at = k;
        result = sfu_check(&o.remote, &place);
        if (result == SFU_OK)
            break;
        code(result, SFU_E_SECTION);
        holds(place.fde <= 1);
    }
    holds(k > 4 && k < 100);
    close_section(&o);
}
#endif

static void test_remote(void **state)
{
    struct sfu_section s;
    struct memory m;
    (void)state;
    three_rows(SOME_ABI, registers[SOME_ABI].big);
    m = (struct memory){b->bytes, BASE, size_of(b), 0, 0, true, 0};
#ifdef SFU_NO_REMOTE
    code(seen(sfu_open_remote(&s, memory_read, &m, size_of(b), BASE)), SFU_E_SECTION);
    same(m.reads, 0);
#else
    code(sfu_open_remote(&s, memory_read, &m, size_of(b), BASE), SFU_OK);
    same(m.reads, 1);
    same(m.longest, 28);
    assert_null(s.bytes);
    assert_ptr_equal(s.ctx, &m);
#endif
}

int bytes_tests(void)
{
    const struct check_test tests[] = {
        CHECK(test_alignment),
        CHECK(test_remote),
#ifndef SFU_NO_REMOTE
        CHECK(test_failing_reads),
#endif
    };
    return check_run("bytes", tests);
}
