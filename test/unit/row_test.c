/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The row of a PC: what damage costs, and what a lookup reads. What rows say is in the vectors. */
#include "test.h"

static struct build *const b = &the_build;

/* Three functions of ROWS rows of 4 bytes of code. */
enum { ROWS = 5, EACH = 4 * ROWS };

static void three_functions(const struct variant *v)
{
    begin_variant(b, v);
    for (int f = 0; f < 3; f++) {
        build_fde(b, 0x1000 + EACH * f, EACH, ADDR1);
        for (int i = 0; i < ROWS; i++)
            ROW(b, 4u * (unsigned)i, BASE_SP | WORD2, 8 * (f * ROWS + i + 1), -8);
    }
    build_end(b);
}

/* The PCs of function BAD from offset FROM up to TO get WANT; all others their row, as long as it is. */
static void expect_cost(const struct variant *v, unsigned bad, unsigned from, unsigned to, int want)
{
    struct opened o;
    code(open_build(&o, b), SFU_OK);
    for (unsigned f = 0; f < 3; f++) {
        for (unsigned offset = 0; offset < EACH; offset++) {
            struct sfu_row row;
            sfu_addr start = BASE + 0x1000 + EACH * f;
            bool lost = f == bad && offset >= from && offset < to;
            code(find(&o, start + offset, &row), lost ? want : SFU_OK);
            if (!lost) {
                same(row.start, start + offset / 4 * 4);
                same(row.length, 4);
                same(row.cfa.offset, cfa_offset(v->abi, 8 * (f * ROWS + offset / 4 + 1)));
            }
        }
    }
    close_section(&o);
}

/* What sfu.h says that each kind of damage costs, for each row of each function. */
static void damage(const struct variant *v)
{
    for (unsigned bad = 0; bad < 3; bad++) {
        for (unsigned i = 0; i < ROWS; i++) {
            for (unsigned to = 0; i > 0 && to <= 4 * (i - 1); to++) { /* that of a row before it, or less */
                three_functions(v);
                b->bytes[build_row_at(b, bad * ROWS + i)] = (uint8_t)to;
                note("version %d, function %u, row %u starts at %u", v->version, bad, i, to);
                expect_cost(v, bad, 4 * (i - 1), EACH, SFU_E_ROW);
            }
            three_functions(v);
            b->bytes[build_row_at(b, bad * ROWS + i) + 1] |= 0x60;
            note("version %d, function %u, row %u has words of no size", v->version, bad, i);
            expect_cost(v, bad, 4 * i, EACH, SFU_E_ROW);
            three_functions(v);
            b->bytes[build_row_at(b, bad * ROWS + i) + 1] = BASE_SP | WORD1 | 4 << 1;
            note("version %d, function %u, row %u has words that no default row has", v->version, bad, i);
            expect_cost(v, bad, 4 * i, 4 * i + 4, SFU_E_ROW);
        }
        three_functions(v);
        build_set_info(b, bad, 3);
        note("version %d, function %u is broken", v->version, bad);
        expect_cost(v, bad, 0, EACH, SFU_E_FDE);
        three_functions(v);
        build_set_fre_off(b, bad, 0x7fffffff);
        note("version %d, the rows of function %u are outside", v->version, bad);
        expect_cost(v, bad, 0, EACH, SFU_E_BOUNDS);
    }
    for (uint32_t cut = 1; cut <= 6; cut++) { /* the last row ends behind the tables: its words, or its head */
        three_functions(v);
        build_put(b, H_FRE_LEN, b->fre_len - cut, 4);
        note("version %d, %u bytes are cut off", v->version, cut);
        expect_cost(v, 2, cut <= 4 ? EACH - 4 : EACH - 8, EACH, SFU_E_BOUNDS);
    }
}

static void test_damage(void **state)
{
    (void)state;
    for_each_variant(damage);
}

/* One read for the head of a row; rows behind the next one are not read. */
#ifndef SFU_NO_REMOTE
static void counted(const struct variant *v)
{
    struct opened o;
    struct sfu_row row;
    begin_variant(b, v);
    build_fde(b, 0x1000, 0x100, ADDR1);
    for (unsigned i = 0; i < 100; i++)
        ROW(b, 2 * i, BASE_SP, (int)i);
    open_valid(&o, b);
    for (unsigned i = 0; i < 200; i++) {
        o.memory.reads = 0;
        code(sfu_find(&o.remote, BASE + 0x1000 + i, &row), SFU_OK);
        same(row.cfa.offset, cfa_offset(v->abi, (int)(i / 2)));
        note("row %u: %u reads", i / 2, o.memory.reads);
        holds(o.memory.reads <= 1 + LOOKUP_READS + i / 2 + 2);
    }
    close_section(&o);
}

static void test_counted(void **state)
{
    (void)state;
    for_each_variant(counted);
}
#endif

int row_tests(void)
{
    const struct check_test tests[] = {
        CHECK(test_damage),
#ifndef SFU_NO_REMOTE
        CHECK(test_counted),
#endif
    };
    return check_run("row", tests);
}
