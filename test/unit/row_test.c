/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The row of a PC (specification 2.4, 3.1): ranges, repeated blocks, the default rows of each ABI. */
#include "test.h"

static struct build *const b = &the_build;

static const unsigned address_limit[] = {0xff, 0xffff, 0xffffffff};

/* Rows at the least and the largest addresses of each size; each row holds up to the next one. */
static void ranges(const struct variant *v)
{
    for (unsigned size = ADDR1; size <= ADDR4; size++) {
        uint32_t top = address_limit[size];
        uint32_t start[] = {0, 1, 7, 0x7f, 0x80, top / 2, top - 1};
        struct opened o;
        struct sfu_row row;
        begin_variant(b, v);
        build_fde(b, 0x1000, top, size);
        for (int i = 0; i < 7; i++) {
            if (i == 0 || start[i] > start[i - 1]) {
                ROW(b, start[i], BASE_SP, i);
            }
        }
        open_valid(&o, b);
        code(check(&o, NULL), SFU_OK);
        for (int i = 0; i < 7; i++) {
            uint32_t next = i == 6 ? top : start[i + 1];
            uint64_t at = BASE + 0x1000 + start[i];
            if (i > 0 && start[i] <= start[i - 1]) {
                continue;
            }
            for (int last = 0; last < 2 && next > start[i]; last++) {
                note("version %d, address size %u, row %d", v->version, size, i);
                code(find(&o, last ? BASE + 0x1000 + next - 1 : at, &row), SFU_OK);
                same(row.start, at);
                same(row.length, (next > start[i] ? next : start[i + 2]) - start[i]);
                same(row.function, BASE + 0x1000);
                same(row.cfa.offset, cfa_offset(v->abi, i));
            }
        }
        close_section(&o);
    }
}

static void test_ranges(void **state)
{
    (void)state;
    for_each_variant(ranges);
}

/* Two words of two bytes: what each ABI makes of one, two and three words; fixed offsets; either base. */
static void expect_default(const struct variant *v, const struct sfu_row *row, unsigned base, const int64_t *w,
                           unsigned count)
{
    int64_t ra_word = v->abi == SFU_AMD64 ? -8 : count > 1 ? w[1] : 0;
    bool has_ra = v->abi == SFU_AMD64 || (count > 1 && !(v->abi == SFU_S390X && ra_word == 0));
    unsigned fp = v->abi == SFU_AMD64 ? 1 : 2;
    same_rule(row->cfa, base == BASE_SP ? REG(registers[v->abi].sp) : REG(registers[v->abi].fp),
              cfa_offset(v->abi, w[0]));
    same_rule(row->ra, has_ra ? AT_CFA : REG(registers[v->abi].ra), has_ra ? ra_word : 0);
    same_rule(row->fp, count > fp ? AT_CFA : REG(registers[v->abi].fp), count > fp ? w[fp] : 0);
    same(row->kind, SFU_ROW_RULES);
    same(row->trap_frame, false);
    same(row->signed_ra, false);
}

static void words(const struct variant *v)
{
    static const unsigned size[] = {WORD1, WORD2, WORD4};
    static const int64_t value[3][6] = {{0, 16, 2, -2, 126, -128},
                                        {0, 256, 128, -130, 32766, -32768},
                                        {0, 65536, 32768, -32770, 2147483646, -INT64_C(2147483648)}};
    unsigned most = v->abi == SFU_AMD64 ? 2 : 3;
    struct sfu_row row;
    for (unsigned base = BASE_FP; base <= BASE_SP; base++) {
        for (unsigned n = 0; n < 3 * 6 * 3; n++) {
            unsigned count = n % 3 + 1, s = n / 18;
            int64_t w[3];
            for (unsigned i = 0; i < 3; i++) {
                w[i] = value[s][(n / 3 + 5 * i) % 6];
            }
            begin_variant(b, v);
            build_fde(b, 0x1000, 0x10, ADDR1);
            build_row(b, 0, base | size[s], count, w);
            build_end(b);
            note("version %d, ABI %d, big %d, %u words: %lld %lld %lld", v->version, v->abi, v->big, count,
                 (long long)w[0], (long long)w[1], (long long)w[2]);
            if (count > most || cfa_offset(v->abi, w[0]) != (int32_t)cfa_offset(v->abi, w[0])) {
                code(find_in_build(b, BASE + 0x1000, &row), SFU_E_ROW);
            } else {
                code(find_in_build(b, BASE + 0x1000, &row), SFU_OK);
                expect_default(v, &row, base, w, count);
            }
        }
    }
}

static void test_words(void **state)
{
    (void)state;
    for_each_variant(words);
}

/* Every count and word size that the row's info byte can hold. */
static void row_info(const struct variant *v)
{
    for (unsigned info = 0; info < 256; info++) {
        unsigned count = info >> 1 & 15, size = info >> 5 & 3;
        unsigned most = v->abi == SFU_AMD64 ? 2 : 3;
        int64_t w[15] = {0};
        struct sfu_row row;
        int result;
        begin_variant(b, v);
        build_fde(b, 0x1000, 0x10, ADDR1);
        build_row(b, 0, info & ~0x1eu, count, w);
        build_end(b);
        result = find_in_build(b, BASE + 0x1000, &row);
        note("version %d, ABI %d, info %x", v->version, v->abi, info);
        if (size == 3 || count > most || (count == 0 && v->version == 1)) {
            code(result, SFU_E_ROW);
            continue;
        }
        code(result, SFU_OK);
        same(row.kind, count == 0 ? SFU_ROW_OUTERMOST : SFU_ROW_RULES);
        if (count > 0) {
            same(row.signed_ra, info & SIGNED_RA && v->abi <= SFU_AARCH64 ? 1 : 0);
        }
    }
}

static void test_row_info(void **state)
{
    (void)state;
    for_each_variant(row_info);
}

/* The header's fixed offsets hold where the rows of amd64 say nothing. */
static void test_fixed_offsets(void **state)
{
    static const int8_t offset[] = {-8, -128, 127, 1, -1};
    struct sfu_row row;
    (void)state;
    for (int version = OLDEST; version <= 3 && built(version, SFU_AMD64, false); version++) {
        for (size_t i = 0; i < sizeof offset; i++) {
            build_begin(b, version, SFU_AMD64, false);
            b->fixed_ra = offset[i];
            b->fixed_fp = offset[4 - i];
            build_fde(b, 0x1000, 0x10, ADDR1);
            ROW(b, 0, BASE_SP, 16);
            ROW(b, 8, BASE_SP, 16, -16);
            build_end(b);
            code(find_in_build(b, BASE + 0x1000, &row), SFU_OK);
            same_rule(row.ra, AT_CFA, offset[i]);
            same_rule(row.fp, AT_CFA, offset[4 - i]);
            code(find_in_build(b, BASE + 0x1008, &row), SFU_OK);
            same_rule(row.ra, AT_CFA, offset[i]);
            same_rule(row.fp, AT_CFA, -16);
        }
        build_begin(b, version, SFU_AMD64, false);
        b->fixed_ra = 0; /* none: then the row has no rule for the RA */
        build_fde(b, 0x1000, 0x10, ADDR1);
        ROW(b, 0, BASE_SP, 16);
        build_end(b);
        code(find_in_build(b, BASE + 0x1000, &row), SFU_OK);
        same_rule(row.ra, REG(255), 0);
    }
}

/* A row that starts behind the PC is no row for it. */
static void no_row(const struct variant *v)
{
    begin_variant(b, v);
    build_fde(b, 0x1000, 0x20, ADDR1);
    ROW(b, 4, BASE_SP, 16);
    build_fde(b, 0x2000, 0x20, ADDR1);
    build_end(b);
    code(find_in_build(b, BASE + 0x1000, NULL), SFU_E_NO_ROW);
    code(find_in_build(b, BASE + 0x1003, NULL), SFU_E_NO_ROW);
    code(find_in_build(b, BASE + 0x1004, NULL), SFU_OK);
    if (v->version < 3) {
        code(find_in_build(b, BASE + 0x2000, NULL), SFU_E_NO_ROW);
    }
}

static void test_no_row(void **state)
{
    (void)state;
    for_each_variant(no_row);
}

/* Both ways to say "no caller": no rows for the whole function (3), no words for a range of it (2 and 3). */
static void outermost(const struct variant *v)
{
    struct sfu_row row;
    begin_variant(b, v);
    build_fde(b, 0x1000, 0x20, ADDR1);
    ROW(b, 0, BASE_SP, 16);
    ROW0(b, 8, BASE_SP);
    ROW(b, 12, BASE_SP, 24);
    build_fde(b, 0x2000, 0x30, ADDR1);
    build_end(b);
    if (v->version == 1) {
        code(find_in_build(b, BASE + 0x1008, NULL), SFU_E_ROW);
        return;
    }
    code(find_in_build(b, BASE + 0x1007, &row), SFU_OK);
    same(row.kind, SFU_ROW_RULES);
    code(find_in_build(b, BASE + 0x100b, &row), SFU_OK);
    same(row.kind, SFU_ROW_OUTERMOST);
    same(row.start, BASE + 0x1008);
    same(row.length, 4);
    code(find_in_build(b, BASE + 0x101f, &row), SFU_OK);
    same(row.kind, SFU_ROW_RULES);
    if (v->version == 3) {
        code(find_in_build(b, BASE + 0x2010, &row), SFU_OK);
        same(row.kind, SFU_ROW_OUTERMOST);
        same(row.start, BASE + 0x2000);
        same(row.function, BASE + 0x2000);
        same(row.length, 0x30);
    }
}

static void test_outermost(void **state)
{
    (void)state;
    for_each_variant(outermost);
}

/* The signal bit, of version 3 only: rows hold as they are; without rows the trap hook is to be asked. */
static void signals(const struct variant *v)
{
    struct sfu_row row;
    begin_variant(b, v);
    build_fde(b, 0x1000, 0x20, ADDR1 | SIGNAL);
    ROW(b, 0, BASE_SP, 16);
    build_fde(b, 0x2000, 0x30, ADDR1 | SIGNAL);
    build_fde_more(b, 0x3000, 0x30, ADDR1 | SIGNAL, FLEX, 0);
    build_end(b);
    code(find_in_build(b, BASE + 0x1000, &row), SFU_OK);
    same(row.trap_frame, v->version == 3);
    same(row.kind, SFU_ROW_RULES);
    if (v->version < 3) {
        code(find_in_build(b, BASE + 0x2000, NULL), SFU_E_NO_ROW);
        return;
    }
    for (uint64_t pc = BASE + 0x2000; pc <= BASE + 0x3000; pc += 0x1000) {
        code(find_in_build(b, pc + 5, &row), SFU_OK);
        same(row.kind, SFU_ROW_ASK);
        same(row.trap_frame, true);
        same(row.start, pc);
        same(row.function, pc);
        same(row.length, 0x30);
    }
}

static void test_signals(void **state)
{
    (void)state;
    for_each_variant(signals);
}

/* Three functions of ROWS rows of 4 bytes of code. */
enum { ROWS = 5, EACH = 4 * ROWS };

static void three_functions(const struct variant *v)
{
    begin_variant(b, v);
    for (int f = 0; f < 3; f++) {
        build_fde(b, 0x1000 + EACH * f, EACH, ADDR1);
        for (int i = 0; i < ROWS; i++) {
            ROW(b, 4u * (unsigned)i, BASE_SP | WORD2, 8 * (f * ROWS + i + 1), -8);
        }
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
            uint64_t start = BASE + 0x1000 + EACH * f;
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

/* Rows of a repeated block: PC % rep_size, counted from the function's start. */
static void repeated(const struct variant *v)
{
    static const unsigned reps[] = {1, 2, 8, 16, 24, 255};
    for (unsigned r = 0; r < 6; r++) {
        unsigned rep = v->version == 1 ? 16 : reps[r], size = rep * 3 + rep / 2;
        struct opened o;
        struct sfu_row row;
        begin_variant(b, v);
        build_fde_more(b, 0x1008, size, ADDR1 | MASK, DEFAULT, rep);
        ROW(b, 0, BASE_SP, 8);
        if (rep > 2) {
            ROW(b, 6, BASE_SP, 16);
        }
        open_valid(&o, b);
        code(check(&o, NULL), SFU_OK);
        for (unsigned i = 0; i < size; i++) {
            unsigned block = i - i % rep, in = i % rep;
            unsigned end = block + rep < size ? block + rep : size;
            note("version %d, block of %u, offset %u", v->version, rep, i);
            code(find(&o, BASE + 0x1008 + i, &row), SFU_OK);
            same(row.function, BASE + 0x1008);
            if (rep > 2 && in >= 6) {
                same(row.start, BASE + 0x1008 + block + 6);
                same(row.length, end - block - 6);
                same(row.cfa.offset, cfa_offset(v->abi, 16));
            } else {
                unsigned next = rep > 2 && block + 6 < end ? block + 6 : end;
                same(row.start, BASE + 0x1008 + block);
                same(row.length, next - block);
                same(row.cfa.offset, cfa_offset(v->abi, 8));
            }
        }
        code(find(&o, BASE + 0x1008 + size, NULL), SFU_E_NO_FDE);
        close_section(&o);
    }
}

static void test_repeated(void **state)
{
    (void)state;
    for_each_variant(repeated);
}

/* The same of every size of a block, at offsets of up to 32 bits. */
static void repeated_far(const struct variant *v)
{
    static const uint32_t offsets[] = {0, 254, 255, 256, 0x7fffffff, 0x80000000, 0xfffffefe, 0xfffffffd, 0xfffffffe};
    for (unsigned rep = v->version == 1 ? 16 : 1; rep <= (v->version == 1 ? 16 : 255); rep++) {
        struct opened o;
        struct sfu_row row;
        begin_variant(b, v);
        build_fde_more(b, 0x1008, 0xffffffff, ADDR1 | MASK, DEFAULT, rep);
        ROW(b, 0, BASE_SP, 8);
        open_valid(&o, b);
        for (unsigned i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
            uint32_t block = offsets[i] - offsets[i] % rep, left = 0xffffffff - block;
            note("version %d, block of %u, offset %x", v->version, rep, offsets[i]);
            code(find(&o, BASE + 0x1008 + offsets[i], &row), SFU_OK);
            same(row.start, BASE + 0x1008 + block);
            same(row.length, rep < left ? rep : left);
        }
        close_section(&o);
    }
}

static void test_repeated_far(void **state)
{
    (void)state;
    for_each_variant(repeated_far);
}

/* A block of 0 bytes is no block; where nothing repeats, its size means nothing. */
static void repeat_of_0(const struct variant *v)
{
    struct opened o;
    struct sfu_place place;
    if (v->version == 1) {
        return;
    }
    begin_variant(b, v);
    build_fde_more(b, 0x1000, 16, ADDR1, DEFAULT, 0);
    ROW(b, 0, BASE_SP, 8);
    build_fde_more(b, 0x2000, 64, ADDR1 | MASK, DEFAULT, 0);
    ROW(b, 0, BASE_SP, 8);
    open_valid(&o, b);
    code(find(&o, BASE + 0x1000, NULL), SFU_OK);
    code(find(&o, BASE + 0x2000, NULL), SFU_E_FDE);
    code(find(&o, BASE + 0x203f, NULL), SFU_E_FDE);
    code(check(&o, &place), SFU_E_FDE);
    same(place.fde, 1);
    close_section(&o);
}

static void test_repeat_of_0(void **state)
{
    (void)state;
    for_each_variant(repeat_of_0);
}

/* A block larger than the function: the rows end with the function. */
static void short_block(const struct variant *v)
{
    struct sfu_row row;
    begin_variant(b, v);
    build_fde_more(b, 0x1000, 8, ADDR1 | MASK, DEFAULT, 16);
    ROW(b, 0, BASE_SP, 8);
    build_end(b);
    code(find_in_build(b, BASE + 0x1007, &row), SFU_OK);
    same(row.start, BASE + 0x1000);
    same(row.length, 8);
}

static void test_short_block(void **state)
{
    (void)state;
    for_each_variant(short_block);
}

/* Rows must ascend; a fault behind the PC's own rows is not looked for. */
static void order(const struct variant *v)
{
    static const uint32_t second[] = {0, 4, 5, 8};
    struct opened o;
    struct sfu_place place;
    for (int i = 0; i < 4; i++) {
        begin_variant(b, v);
        build_fde(b, 0x1000, 0x20, ADDR1);
        ROW(b, 0, BASE_SP, 8);
        ROW(b, 5, BASE_SP, 16);
        ROW(b, second[i], BASE_SP, 24);
        ROW(b, 0x10, BASE_SP, 32);
        open_valid(&o, b);
        code(find(&o, BASE + 0x1004, NULL), SFU_OK);
        code(find(&o, BASE + 0x101f, NULL), second[i] > 5 ? SFU_OK : SFU_E_ROW);
        if (second[i] <= 5) {
            code(check(&o, &place), SFU_E_ROW);
            same(place.fde, 0);
            same(place.row, 2);
        }
        close_section(&o);
    }
}

static void test_order(void **state)
{
    (void)state;
    for_each_variant(order);
}

/* Rows that begin in the FREs and end behind them. */
static void cut_off(const struct variant *v)
{
    for (uint32_t size = ADDR1; size <= ADDR4; size++) {
        uint32_t whole;
        begin_variant(b, v);
        build_fde(b, 0x1000, 0x20, size);
        ROW(b, 0, BASE_SP | WORD4, 8);
        ROW(b, 5, BASE_SP | WORD4, 16);
        build_end(b);
        whole = b->fre_len;
        for (uint32_t len = 0; len <= whole; len++) {
            int result;
            build_put(b, H_FRE_LEN, len, 4);
            note("version %d, %u of %u bytes", v->version, len, whole);
            result = find_in_build(b, BASE + 0x1010, NULL);
            if (len == whole) {
                code(result, SFU_OK);
            } else {
                holds(result == SFU_E_BOUNDS || result == SFU_E_FDE);
            }
            result = find_in_build(b, BASE + 0x1000, NULL);
            holds(result == SFU_OK || result == SFU_E_BOUNDS || result == SFU_E_FDE);
        }
    }
}

static void test_cut_off(void **state)
{
    (void)state;
    for_each_variant(cut_off);
}

/* Version 2 on s390x: an odd word is a register, number w >> 1. */
static void test_s390x_registers(void **state)
{
    static const int64_t offset[] = {33, 35, 29, 1, 63, -48, 127};
    struct sfu_row row;
    (void)state;
    for (int version = OLDEST > 2 ? OLDEST : 2; version <= 3 && built(version, SFU_S390X, true); version++) {
        for (int i = 0; i < 7; i++) {
            bool is_register = version == 2 && offset[i] & 1;
            build_begin(b, version, SFU_S390X, true);
            build_fde(b, 0x1000, 0x20, ADDR1);
            ROW(b, 0, BASE_SP, 0, offset[i], offset[6 - i]);
            build_end(b);
            code(find_in_build(b, BASE + 0x1000, &row), SFU_OK);
            same_rule(row.cfa, REG(15), 160);
            same_rule(row.ra, is_register ? REG(offset[i] >> 1) : AT_CFA, is_register ? 0 : offset[i]);
            is_register = version == 2 && offset[6 - i] & 1;
            same_rule(row.fp, is_register ? REG(offset[6 - i] >> 1) : AT_CFA, is_register ? 0 : offset[6 - i]);
        }
        /* a register of no machine: it cannot be had */
        for (int large = 0; large < 2; large++) {
            struct machine m;
            struct sfu_target t;
            struct sfu_frame frame = {0};
            build_begin(b, version, SFU_S390X, true);
            build_fde(b, 0x1000, 0x20, ADDR1);
            ROW(b, 0, BASE_SP | (large ? WORD4 : WORD1), 0, large ? 0x7fffffff : -1);
            build_end(b);
            if (version > 2 || find_in_build(b, BASE + 0x1000, &row) != SFU_OK) {
                continue;
            }
            machine_init(&m, &t, true);
            t.reg = machine_reg;
            m.known = UINT64_MAX;
            frame.regs.sp = STACK;
            code(apply(&t, &row, &frame), SFU_E_REGISTER);
            frame.regs.pc_kind = SFU_PC_RETURN;
            code(apply(&t, &row, &frame), SFU_E_UNSAFE);
        }
    }
}

/* An RA word of 0 on s390x holds the place where only FP is saved: the RA is in its register, also if the header has a
 * fixed offset; on aarch64 it is an offset. */
static void test_ra_word_of_0(void **state)
{
    struct sfu_row row;
    (void)state;
    for (int abi = SFU_AARCH64_BIG; abi <= SFU_S390X; abi += SFU_S390X - SFU_AARCH64_BIG) {
        for (int version = OLDEST; version <= 3; version++) {
            if (!built(version, abi, true)) {
                continue;
            }
            build_begin(b, version, abi, true);
            b->fixed_ra = -24;
            build_fde(b, 0x1000, 0x20, ADDR1);
            ROW(b, 0, BASE_SP, 0, 0, -16);
            build_end(b);
            code(find_in_build(b, BASE + 0x1000, &row), SFU_OK);
            same_rule(row.ra, abi == SFU_S390X ? REG(14) : AT_CFA, 0);
            same_rule(row.fp, AT_CFA, -16);
        }
    }
}

/* s390x: the CFA's offset is 8 times the word, and 160, if that is an offset at all. Not so elsewhere, nor for RA
 * and FP. */
static void scaled(const struct variant *v)
{
    static const int64_t words[] = {268435435, -268435476, 268435436, -268435477, INT32_MAX, INT32_MIN};
    for (unsigned flexible = 0; flexible < (v->version == 3 ? 2u : 1u); flexible++) {
        for (unsigned i = 0; i < 6; i++) {
            bool good = i < 2 || v->abi != SFU_S390X;
            unsigned sp = registers[v->abi].sp;
            struct opened o;
            struct sfu_row row;
            struct sfu_place place;
            begin_variant(b, v);
            build_fde_more(b, 0x1000, 0x20, ADDR1, flexible ? FLEX : DEFAULT, 0);
            if (flexible) {
                ROW(b, 0, WORD1, REG(sp), 8);
                ROW(b, 8, WORD4, REG(sp), words[i], AT_CFA, words[i], AT_CFA, words[i]);
            } else if (v->abi == SFU_AMD64) {
                ROW(b, 0, BASE_SP, 8);
                ROW(b, 8, BASE_SP | WORD4, words[i], words[i]);
            } else {
                ROW(b, 0, BASE_SP, 8);
                ROW(b, 8, BASE_SP | WORD4, words[i], words[i] & ~1, words[i] & ~1); /* odd ones may be registers */
            }
            open_valid(&o, b);
            note("version %d, ABI %d, type %u, word %lld", v->version, v->abi, flexible, (long long)words[i]);
            code(find(&o, BASE + 0x1007, &row), SFU_OK);
            same_rule(row.cfa, REG(sp), cfa_offset(v->abi, 8));
            code(find(&o, BASE + 0x1008, &row), good ? SFU_OK : SFU_E_ROW);
            code(check(&o, &place), good ? SFU_OK : SFU_E_ROW);
            if (good) {
                same_rule(row.cfa, REG(sp), cfa_offset(v->abi, words[i]));
                same(row.fp.offset, flexible || v->abi == SFU_AMD64 ? words[i] : words[i] & ~1);
            } else {
                same(place.fde, 0);
                same(place.row, 1);
            }
            close_section(&o);
        }
    }
}

static void test_scaled(void **state)
{
    (void)state;
    for_each_variant(scaled);
    same(cfa_offset(SFU_S390X, 268435435), INT32_MAX - 7); /* the largest multiple of 8 that there is */
    same(cfa_offset(SFU_S390X, -268435476), INT32_MIN);
}

/* The row behind the PC's own is read as far as its start, and no further: nothing else in it counts. */
static void next_row(const struct variant *v)
{
    for (unsigned i = 0; i < 4; i++) {
        struct opened o;
        struct sfu_row row;
        struct sfu_place place;
        begin_variant(b, v);
        build_fde(b, 0x1000, 0x20, ADDR1);
        ROW(b, 0, BASE_SP, 8);
        ROW(b, 8, BASE_SP, 16);
        build_end(b);
        b->bytes[build_row_at(b, 1) + 1] = (uint8_t)(i == 0 ? 0x63 : i == 1 ? 15 << 1 : i == 2 ? 7 << 1 : 0x43);
        note("version %d, %u", v->version, i);
        code(open_build(&o, b), SFU_OK);
        code(find(&o, BASE + 0x1007, &row), SFU_OK);
        same(row.length, 8);
        code(find(&o, BASE + 0x1008, NULL), i < 3 ? SFU_E_ROW : SFU_E_BOUNDS);
        code(check(&o, &place), i < 3 ? SFU_E_ROW : SFU_E_BOUNDS);
        same(place.row, 1);
        close_section(&o);
    }
}

static void test_next_row(void **state)
{
    (void)state;
    for_each_variant(next_row);
}

/* One read for the head of a row; rows behind the next one are not read. */
#ifndef SFU_NO_REMOTE
static void counted(const struct variant *v)
{
    struct opened o;
    struct sfu_row row;
    begin_variant(b, v);
    build_fde(b, 0x1000, 0x100, ADDR1);
    for (unsigned i = 0; i < 100; i++) {
        ROW(b, 2 * i, BASE_SP, (int)i);
    }
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),        cmocka_unit_test(test_words),
        cmocka_unit_test(test_row_info),      cmocka_unit_test(test_fixed_offsets),
        cmocka_unit_test(test_no_row),        cmocka_unit_test(test_outermost),
        cmocka_unit_test(test_signals),       cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_repeat_of_0),   cmocka_unit_test(test_repeated_far),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_short_block),
        cmocka_unit_test(test_order),         cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_s390x_registers), cmocka_unit_test(test_ra_word_of_0),
        cmocka_unit_test(test_scaled),        cmocka_unit_test(test_next_row),
#ifndef SFU_NO_REMOTE
        cmocka_unit_test(test_counted),
#endif
    };
    return cmocka_run_group_tests_name("row", tests, NULL, NULL);
}
