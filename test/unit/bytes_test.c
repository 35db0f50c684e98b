/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The reader: sections written out by hand, one per version and byte order, mapped at every alignment and through
 * the callback, which may fail at every call.
 */
#include "test.h"

/* Version 3, amd64, little-endian. */
static const uint8_t v3_little[] = {
    0xe2, 0xde, 3, 0x01,    /* magic, version, sorted */
    3, 0, 0xf8, 0,          /* amd64, no fixed FP, RA at CFA - 8, no auxiliary header */
    1, 0, 0, 0,             /* FDEs */
    3, 0, 0, 0,             /* FREs */
    19, 0, 0, 0,            /* bytes of FREs */
    0, 0, 0, 0,             /* the FDEs follow the header, */
    16, 0, 0, 0,            /* the FREs the one FDE */
    0x00, 0x10, 0, 0, 0, 0, 0, 0, /* starts at section + 0x1000 */
    0x20, 0, 0, 0,          /* size */
    0, 0, 0, 0,             /* offset in the FREs */
    3, 0, 0x00, 0x00, 0,    /* rows, 1-byte addresses, INC, default */
    0x00, 0x03, 8,          /* from 0: CFA = SP + 8 */
    0x01, 0x05, 16, 0xf0,   /* from 1: CFA = SP + 16, FP = *(CFA - 16) */
    0x1f, 0x24, 0x2c, 0x01, 0xf0, 0xff, 0xaa /* from 0x1f: CFA = FP + 300, FP = *(CFA - 16); one byte not used */
};

/* Version 3, s390x, big-endian, field-relative start. */
static const uint8_t v3_big[] = {
    0xde, 0xe2, 3, 0x05,
    4, 0, 0, 0,
    0, 0, 0, 1,
    0, 0, 0, 2,
    0, 0, 0, 17,
    0, 0, 0, 0,
    0, 0, 0, 16,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf0, 0x00, /* starts at the field, section + 28, - 0x1000 */
    0, 0, 1, 0x10,
    0, 0, 0, 0,
    0, 2, 0x01, 0x00, 0,    /* 2-byte addresses */
    0, 0, 0x03, 0,          /* from 0: CFA = SP + 160, all else where it was */
    1, 0x02, 0x07, 0x13, 0xd0, 0xc8, /* from 0x102: CFA = SP + 8 * 19 + 160, RA = *(CFA - 48), FP = *(CFA - 56) */
    0xaa, 0xaa
};

#if OLDEST <= 2
/* Version 2, aarch64, little-endian: FDEs of 20 bytes with the attributes in them. An auxiliary header of 2 bytes,
 * from whose end all is counted, and a byte of nothing between FDEs and FREs. */
static const uint8_t v2_little[] = {
    0xe2, 0xde, 2, 0x01,
    2, 0, 0, 2,
    1, 0, 0, 0,
    2, 0, 0, 0,
    14, 0, 0, 0,
    0, 0, 0, 0,
    21, 0, 0, 0,
    0x55, 0x55,             /* auxiliary header */
    0xe0, 0xff, 0xff, 0xff, /* starts at section - 32 */
    0x40, 0, 0, 0,
    0, 0, 0, 0,
    2, 0, 0, 0,
    0x22, 0, 0, 0,          /* 4-byte addresses, key B */
    0x55,
    0, 0, 0, 0, 0x03, 0,    /* from 0: CFA = SP */
    8, 0, 0, 0, 0x86, 32, 0xe8, 0xe0, /* from 8, signed: CFA = FP + 32, RA = *(CFA - 24), FP = *(CFA - 32) */
};
#endif

#if OLDEST <= 1
/* Version 1, aarch64, big-endian: FDEs of 17 bytes. */
static const uint8_t v1_big[] = {
    0xde, 0xe2, 1, 0x01,
    1, 0, 0, 0,
    0, 0, 0, 1,
    0, 0, 0, 1,
    0, 0, 0, 5,
    0, 0, 0, 0,
    0, 0, 0, 17,
    0x00, 0x01, 0x00, 0x00, /* starts at section + 0x10000 */
    0, 0, 0, 4,
    0, 0, 0, 0,
    0, 0, 0, 1,
    0x00,
    0x00, 0x43, 0x00, 0x01, 0x00 /* from 0: CFA = SP + ...: the word has 4 bytes, of which 3 are left */
};
#endif

/* Opens it, unless its ABI is left out of this build: then it is refused. */
static bool opens(struct opened *o, const uint8_t *bytes, size_t size)
{
    bool good = built(bytes[2], bytes[4], bytes[0] == 0xde);
    code(open_bytes(o, bytes, size, BASE), good ? SFU_OK : SFU_E_ABI);
    return good;
}
#define OPENS(o, bytes) opens(o, bytes, sizeof bytes)

static void test_v3_little(void **state)
{
    struct opened o;
    struct sfu_row row;
    (void)state;
    if (!OPENS(&o, v3_little)) {
        return;
    }
    code(find(&o, BASE + 0xfff, &row), SFU_E_NO_FDE);
    code(find(&o, BASE + 0x1000, &row), SFU_OK);
    same(row.start, BASE + 0x1000);
    same(row.length, 1);
    same(row.function, BASE + 0x1000);
    same_rule(row.cfa, REG(7), 8);
    same_rule(row.ra, AT_CFA, -8);
    same_rule(row.fp, REG(6), 0);
    same(row.kind, SFU_ROW_RULES);
    same(row.trap_frame, false);
    same(row.signed_ra, false);
    for (uint64_t pc = BASE + 0x1001; pc < BASE + 0x101f; pc++) {
        code(find(&o, pc, &row), SFU_OK);
        same(row.start, BASE + 0x1001);
        same(row.length, 0x1e);
        same_rule(row.cfa, REG(7), 16);
        same_rule(row.ra, AT_CFA, -8);
        same_rule(row.fp, AT_CFA, -16);
    }
    code(find(&o, BASE + 0x101f, &row), SFU_OK);
    same(row.length, 1);
    same_rule(row.cfa, REG(6), 300);
    same_rule(row.fp, AT_CFA, -16);
    code(find(&o, BASE + 0x1020, &row), SFU_E_NO_FDE);
    code(check(&o, NULL), SFU_OK);
    close_section(&o);
}

static void test_v3_big(void **state)
{
    struct opened o;
    struct sfu_row row;
    (void)state;
    if (!OPENS(&o, v3_big)) {
        return;
    }
    code(find(&o, BASE + 28 - 0x1001, &row), SFU_E_NO_FDE);
    code(find(&o, BASE + 28 - 0x1000 + 0x101, &row), SFU_OK);
    same(row.start, BASE + 28 - 0x1000);
    same(row.length, 0x102);
    same_rule(row.cfa, REG(15), 160);
    same_rule(row.ra, REG(14), 0);
    same_rule(row.fp, REG(11), 0);
    code(find(&o, BASE + 28 - 0x1000 + 0x10f, &row), SFU_OK);
    same(row.start, BASE + 28 - 0x1000 + 0x102);
    same(row.length, 0xe);
    same_rule(row.cfa, REG(15), 8 * 19 + 160);
    same_rule(row.ra, AT_CFA, -48);
    same_rule(row.fp, AT_CFA, -56);
    code(find(&o, BASE + 28 - 0x1000 + 0x110, &row), SFU_E_NO_FDE);
    code(check(&o, NULL), SFU_OK);
    close_section(&o);
}

#if OLDEST <= 2
static void test_v2_little(void **state)
{
    struct opened o;
    struct sfu_row row;
    (void)state;
    if (!OPENS(&o, v2_little)) {
        return;
    }
    same(o.mapped.fdes, 30);
    same(o.mapped.rows, 51);
    code(find(&o, BASE - 33, &row), SFU_E_NO_FDE);
    code(find(&o, BASE - 32, &row), SFU_OK);
    same(row.length, 8);
    same_rule(row.cfa, REG(31), 0);
    same_rule(row.ra, REG(30), 0);
    same_rule(row.fp, REG(29), 0);
    same(row.signed_ra, false);
    code(find(&o, BASE + 31, &row), SFU_OK);
    same(row.start, BASE - 24);
    same(row.length, 0x38);
    same_rule(row.cfa, REG(29), 32);
    same_rule(row.ra, AT_CFA, -24);
    same_rule(row.fp, AT_CFA, -32);
    same(row.signed_ra, true);
    code(check(&o, NULL), SFU_OK);
    close_section(&o);
}
#endif

#if OLDEST <= 1
static void test_v1_big(void **state)
{
    struct opened o;
    struct sfu_row row;
    uint8_t longer[sizeof v1_big + 1];
    (void)state;
    if (!OPENS(&o, v1_big)) {
        return;
    }
    code(find(&o, BASE + 0x10000, &row), SFU_E_BOUNDS);
    close_section(&o);
    memcpy(longer, v1_big, sizeof v1_big);
    longer[sizeof v1_big] = 0x20;
    longer[19] = 6;
    holds(OPENS(&o, longer));
    code(find(&o, BASE + 0x10003, &row), SFU_OK);
    same(row.length, 4);
    same_rule(row.cfa, REG(31), 0x10020);
    same_rule(row.ra, REG(30), 0);
    code(find(&o, BASE + 0x10004, &row), SFU_E_NO_FDE);
    close_section(&o);
}
#endif

static void test_alignment(void **state)
{
    uint8_t bytes[sizeof v3_big + sizeof v3_little];
    (void)state;
    for (unsigned i = 0; i < 8 && built(3, SFU_S390X, true); i++) {
        struct sfu_section s;
        struct sfu_row row;
        memcpy(bytes + i, v3_big, sizeof v3_big);
        code(sfu_open(&s, bytes + i, sizeof v3_big, BASE + i), SFU_OK);
        code(sfu_find(&s, BASE + i + 28 - 0x1000 + 0x102, &row), SFU_OK);
        same_rule(row.cfa, REG(15), 8 * 19 + 160);
    }
    for (unsigned i = 0; i < 8 && built(3, SFU_AMD64, false); i++) {
        struct sfu_section s;
        struct sfu_row row;
        memcpy(bytes + i, v3_little, sizeof v3_little);
        code(sfu_open(&s, bytes + i, sizeof v3_little, BASE + i), SFU_OK);
        code(sfu_find(&s, BASE + i + 0x101f, &row), SFU_OK);
        same_rule(row.cfa, REG(6), 300);
    }
}

#ifndef SFU_NO_REMOTE
/* Fails the k-th read of a call for every k, until the call succeeds without a k-th read. */
static void test_failing_reads(void **state)
{
    struct opened o;
    struct sfu_row row, good;
    struct memory m = {v3_little, BASE, sizeof v3_little, 0, 1, true, 0};
    struct sfu_section s, before;
    unsigned k;
    (void)state;
    memset(&s, 0x5a, sizeof s);
    before = s;
    code(seen(sfu_open_remote(&s, memory_read, &m, sizeof v3_little, BASE)), SFU_E_SECTION);
    assert_memory_equal(&s, &before, sizeof s);
    if (!OPENS(&o, v3_little)) {
        return;
    }
    code(find(&o, BASE + 0x1010, &good), SFU_OK);
    for (k = 1; k < 100; k++) {
        int result;
        memset(&row, 0x5a, sizeof row);
        o.memory.reads = 0;
        o.memory.fail_at = k;
        result = seen(sfu_find(&o.remote, BASE + 0x1010, &row));
        if (result == SFU_OK) {
            break;
        }
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
        if (result == SFU_OK) {
            break;
        }
        code(result, SFU_E_SECTION);
        holds(place.fde <= 1);
    }
    holds(k > 4 && k < 100);
    close_section(&o);
}
#endif

static void test_remote(void **state)
{
    struct memory m = {v3_little, BASE, sizeof v3_little, 0, 0, true, 0};
    struct sfu_section s;
    (void)state;
#ifdef SFU_NO_REMOTE
    code(seen(sfu_open_remote(&s, memory_read, &m, sizeof v3_little, BASE)), SFU_E_SECTION);
    same(m.reads, 0);
#else
    if (!built(3, SFU_AMD64, false)) {
        code(seen(sfu_open_remote(&s, memory_read, &m, sizeof v3_little, BASE)), SFU_E_ABI);
        same(m.reads, 1);
        return;
    }
    code(sfu_open_remote(&s, memory_read, &m, sizeof v3_little, BASE), SFU_OK);
    same(m.reads, 1);
    same(m.longest, 28);
    assert_null(s.bytes);
    assert_ptr_equal(s.ctx, &m);
#endif
}

int bytes_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_v3_little),
        cmocka_unit_test(test_v3_big),
#if OLDEST <= 2
        cmocka_unit_test(test_v2_little),
#endif
#if OLDEST <= 1
        cmocka_unit_test(test_v1_big),
#endif
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_remote),
#ifndef SFU_NO_REMOTE
        cmocka_unit_test(test_failing_reads),
#endif
    };
    return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
