/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Numbers at their limits: tables of more than 64 KiB and sections of more than 4 GiB, addresses of more than 32 bits
 * and at the end of the address space, numbers of registers of more than 16 bits, sums that just fit. */
#include "test.h"
#include "test/lib/bytes.h"

static struct build *const b = &the_build;

/* ---- More than 65536 functions: twice that, so that half of them have such numbers in the heap, too ---- */

enum { MANY = 132000, ENTRY = 16, ROWS = 28 + MANY * ENTRY, EACH = 8, LARGE = ROWS + MANY * EACH };

/* Where the first function starts, from the start of the section. The others follow. */
#define FUNCTIONS INT64_C(0x4000000)

/* What the CFA of function I is from SP. */
static int64_t word_of(uint32_t i)
{
    return i % 127;
}

/* A version 3 section of MANY functions, each of 16 bytes and one row. DOWN: the last one comes first. */
static uint8_t *build_large(unsigned flags, bool down)
{
    uint8_t *bytes = calloc(1, LARGE), *at = bytes + 28;
    bool big = registers[SOME_ABI].big;

    assert_non_null(bytes);
    bytes_put(bytes, 2, big, 0xdee2);
    bytes[2] = 3;
    bytes[3] = (uint8_t)flags;
    bytes[4] = (uint8_t)SOME_ABI;
    bytes_put(bytes + H_FDES, 4, big, MANY);
    bytes_put(bytes + H_FRES, 4, big, MANY);
    bytes_put(bytes + H_FRE_LEN, 4, big, MANY * EACH);
    bytes_put(bytes + H_FREOFF, 4, big, MANY * ENTRY);
    for (uint32_t k = 0; k < MANY; k++, at += ENTRY) {
        uint32_t i = down ? MANY - 1 - k : k;
        uint8_t *row = bytes + ROWS + k * EACH;
        int64_t start = FUNCTIONS + 16 * (int64_t)i - (flags & F_PCREL ? at - bytes : 0);

        bytes_put(at, 8, big, (sfu_addr)start);
        bytes_put(at + 8, 4, big, 16);
        bytes_put(at + 12, 4, big, k * EACH);
        bytes_put(row, 2, big, 1); /* its only row */
        row[6] = BASE_SP | 1 << 1;
        row[7] = (uint8_t)word_of(i);
    }
    return bytes;
}

static void expect_large(const struct sfu_section *s)
{
    static const uint32_t some[] = {0, 1, 0x7fff, 0x8000, 0xffff, 0x10000, 0x10001, MANY - 1};
    struct sfu_row row;

    for (unsigned k = 0; k < sizeof some / sizeof some[0]; k++) {
        sfu_addr start = BASE + (sfu_addr)FUNCTIONS + 16 * (sfu_addr)some[k];

        note("function %u, flags %x", some[k], s->flags);
        code(sfu_find(s, start + 15, &row), SFU_OK);
        same(row.function, start);
        same(row.cfa.offset, cfa_offset(SOME_ABI, word_of(some[k])));
    }
    code(sfu_find(s, BASE + (sfu_addr)FUNCTIONS + 16 * MANY, &row), SFU_E_NO_FDE);
}

/* Sorted, or the other way round and relative to the field. In one build of all ABIs: it takes its time. */
static void test_many_functions(void **state)
{
    static const unsigned all_flags[] = {F_SORTED, F_PCREL};

    (void)state;
    if (OLDEST > 1 || FIRST_ABI == LAST_ABI)
        return;
    for (int i = 0; i < 2; i++) {
        struct opened o;
        struct sfu_section added, *list = NULL;
        struct sfu_place place;
        uint8_t *bytes = build_large(all_flags[i], i > 0);

        code(sfu_add(&list, &added, 1, bytes, LARGE, BASE), SFU_OK);
        same(added.code.high, i == 0 ? BASE + (sfu_addr)FUNCTIONS + 16 * MANY : 0);
        code(open_bytes(&o, bytes, LARGE, BASE), SFU_OK);
        expect_large(i == 0 && o.has_remote ? &o.remote : &o.mapped);
        code(sfu_find_text(&o.mapped), SFU_OK);
        same(o.mapped.text.low, BASE + (sfu_addr)FUNCTIONS);
        same(o.mapped.text.high, BASE + (sfu_addr)FUNCTIONS + 16 * MANY);
        code(sfu_sort(&o.mapped, o.block + 1), SFU_OK);
        expect_large(&o.mapped);
        code(sfu_check(&o.mapped, &place), SFU_OK);
        o.block[1 + ROWS + 0x10001 * EACH + 2] = 3; /* starts of rows have no such size */
        code(sfu_check(&o.mapped, &place), SFU_E_FDE);
        same(place.fde, i == 0 ? 0x10001 : MANY - 1 - 0x10001);
        close_section(&o);
        free(bytes);
    }
}

/* FDEs that lie behind the first 64 KiB, and rows behind them. */
static void far_tables(const struct variant *v)
{
    enum { FAR = 0x10010 };
    static uint8_t bytes[FAR + 4096];
    struct opened o;
    struct sfu_row row;
    size_t at;

    begin_variant(b, v);
    b->flags &= (uint8_t)~F_PCREL;
    build_fde(b, 0x1000, 0x10, ADDR1);
    ROW(b, 0, BASE_SP, 8);
    build_end(b);
    at = build_fde_at(b, 0);
    build_put(b, H_FDEOFF, FAR, 4);
    build_put(b, H_FREOFF, FAR + build_get(b, H_FREOFF, 4), 4);
    memset(bytes, 0xff, sizeof bytes);
    memcpy(bytes, b->bytes, at);
    memcpy(bytes + at + FAR, b->bytes + at, b->size - at);
    code(open_bytes(&o, bytes, FAR + b->size, BASE), SFU_OK);
    code(find(&o, BASE + 0x100f, &row), SFU_OK);
    same(row.function, BASE + 0x1000);
    code(check(&o, NULL), SFU_OK);
    close_section(&o);
}

static void test_far_tables(void **state)
{
    (void)state;
    for_each_variant(far_tables);
}

/* ---- High addresses, of more than 32 bits where the ABI has such ---- */

#define KERNEL (max_address - 0x7fffffff)
#define OTHERS (sizeof(sfu_addr) == 8 ? 3 : 1) /* how many addresses have the lower half of one */

/* A section of more than 4 GiB, of which the header alone is read. */
static void test_large_section(void **state)
{
    struct sfu_section s;

    (void)state;
    build_begin(b, 3, SOME_ABI, registers[SOME_ABI].big);
    build_fde(b, 0x1000, 0x10, ADDR1);
    ROW(b, 0, BASE_SP, 8);
    build_end(b);
    for (unsigned more = 0; more < 2 && sizeof(sfu_addr) == 8; more++) {
        sfu_addr size = (sfu_addr)((UINT64_C(1) << 32) + more);

        code(sfu_open(&s, b->bytes, size, KERNEL - size), SFU_OK);
        same(s.size, size);
        same(s.addr, KERNEL - size);
    }
}

/* Addresses whose lower halves are the same are not. */
static void test_high_addresses(void **state)
{
    struct opened o;
    struct sfu_target t = {0};
    struct sfu_walk walk;
    struct sfu_registers top = {0};
    struct sfu_row row;

    (void)state;
    build_begin(b, 3, SOME_ABI, registers[SOME_ABI].big);
    build_fde(b, 0x1000, 0x10, ADDR1); /* without rows: the outermost frame */
    build_end(b);
    code(open_bytes(&o, b->bytes, b->size, KERNEL), SFU_OK);
    same(o.mapped.addr, KERNEL);
    code(check(&o, NULL), SFU_OK);
    code(sfu_find_text(&o.mapped), SFU_OK);
    same(o.mapped.text.low, KERNEL + 0x1000);
    same(o.mapped.text.high, KERNEL + 0x1010);
    code(add(&t.sections, &o.mapped), SFU_OK);
    top.sp = STACK;
    for (uint64_t other = 0; other < OTHERS; other++) {
        top.pc = KERNEL + 0x1000 - (sfu_addr)(other << 32);
        sfu_walk_start(&walk, &t, &top);
        code(find_frame(&t, &walk.frame, &row), other == 0 ? SFU_OK : SFU_E_NOT_CODE);
        if (other == 0)
            same(row.start, KERNEL + 0x1000);
    }
    top.pc = KERNEL + 0x1000;
    sfu_walk_start(&walk, &t, &top);
    for (uint64_t other = 0; other < OTHERS; other++) { /* where a trace has to end */
        t.final.low = top.pc - (sfu_addr)(other << 32);
        t.final.high = t.final.low + 0x10;
        code(step(&walk), other == 0 ? SFU_END : SFU_E_NOT_FINAL);
    }
    close_section(&o);
}

static int has_ra(void *ctx, sfu_addr addr, void *buffer, size_t len)
{
    const sfu_addr *ra = ctx;

    (void)addr;
    same(len, 8);
    bytes_put(buffer, 8, registers[SOME_ABI].big, *ra);
    return 0;
}

/* The same of the caller of a wild call. */
static void test_high_caller(void **state)
{
    struct opened o;
    struct sfu_target t = {0};
    struct sfu_walk walk;
    struct sfu_registers top = {0};
    sfu_addr ra;

    (void)state;
    if (word_size == 4)
        return; /* no address has more than 32 bits: test_sums */
    build_begin(b, 3, SOME_ABI, registers[SOME_ABI].big);
    build_fde(b, 0x1000, 0x10, ADDR1);
    open_valid(&o, b);
    o.mapped.text.low = KERNEL;
    o.mapped.text.high = KERNEL + 0x10;
    code(add(&t.sections, &o.mapped), SFU_OK);
    t.stack.high = SFU_ADDR_MAX;
    t.read = has_ra;
    t.ctx = &ra;
    top.sp = STACK;
    top.has_ra = true;
    for (uint64_t other = 0; other < OTHERS; other++) {
        top.ra = ra = KERNEL + 0x10 - (sfu_addr)(other << 32);
        sfu_walk_start(&walk, &t, &top);
        code(step(&walk), other == 0 ? SFU_OK : SFU_E_NOT_CODE);
    }
    close_section(&o);
}

/* ---- The end of the address space ---- */

/* Functions behind the end, where their starts wrap, and in front of it. The last one ends at 2^64 - 1 or, which is too
 * far, at 2^64. Order is that of addresses: what has wrapped comes first. */
static void wrapping(const struct variant *v)
{
    sfu_addr addr = SFU_ADDR_MAX - 0xffff;

    if (max_address < SFU_ADDR_MAX)
        return; /* nothing wraps: test_above */

    for (uint32_t over = 0; over < 2; over++) {
        for (int down = 0; down < 2; down++) {
            struct opened o;
            struct sfu_place place;
            struct sfu_row row;

            note("version %d, flags %x, %u, %d", v->version, v->flags, over, down);
            begin_variant(b, v);
            b->flags = (uint8_t)(v->flags | (down ? 0 : F_SORTED));
            for (int i = 0; i < 3; i++) {
                static const int64_t starts[] = {0x10000, 0x10010, 0xff01};
                int k = down ? 2 - i : i;

                build_fde(b, starts[k], k < 2 ? 0x10 : 0xfe + over, ADDR1);
                ROW(b, 0, BASE_SP, 8 + k);
            }
            build_end(b);
            code(open_bytes(&o, b->bytes, b->size, addr), SFU_OK);
            code(check(&o, &place), over ? SFU_E_FDE : SFU_OK);
            if (over)
                same(place.fde, down ? 0 : 2);
            code(seen(sfu_find_text(&o.mapped)), over ? SFU_E_FDE : SFU_OK);
            same(o.mapped.text.low, 0);
            same(o.mapped.text.high, over ? 0 : SFU_ADDR_MAX);
            for (int sorted = 0; sorted < 2; sorted++) {
                code(sfu_find(&o.mapped, 0, &row), SFU_OK);
                same(row.function, 0);
                code(sfu_find(&o.mapped, 0x1f, &row), SFU_OK);
                same(row.function, 0x10);
                code(sfu_find(&o.mapped, 0x20, &row), SFU_E_NO_FDE);
                code(sfu_find(&o.mapped, SFU_ADDR_MAX - 0xfe, &row), SFU_OK);
                same(row.function, SFU_ADDR_MAX - 0xfe);
                code(sfu_find(&o.mapped, SFU_ADDR_MAX - 1, &row), SFU_OK);
                code(sfu_find(&o.mapped, SFU_ADDR_MAX, &row), over ? SFU_OK : SFU_E_NO_FDE);
                code(sfu_sort(&o.mapped, o.block + 1), SFU_OK);
            }
            code(sfu_check(&o.mapped, &place), over ? SFU_E_FDE : SFU_OK);
            close_section(&o);
        }
    }
}

static void test_wrapping(void **state)
{
    (void)state;
    for_each_variant(wrapping);
}

/* Functions behind the end of an address space of 32 bits, which this build could read. */
static void above(const struct variant *v)
{
    for (uint32_t over = 0; over < 2; over++) {
        struct opened o;
        struct sfu_place place;

        if (max_address == SFU_ADDR_MAX)
            return;
        note("version %d, flags %x, %u", v->version, v->flags, over);
        begin_variant(b, v);
        build_fde(b, 0xff00, 0x10, ADDR1);
        ROW(b, 0, BASE_SP, 8);
        build_fde(b, 0xfff0 + over * 0x10, 0xf, ADDR1);
        ROW(b, 0, BASE_SP, 8);
        build_end(b);
        code(open_bytes(&o, b->bytes, b->size, max_address - 0xffff), SFU_OK);
        code(check(&o, &place), over ? SFU_E_FDE : SFU_OK);
        same(place.fde, over ? 1 : 77);
        code(sfu_find_text(&o.mapped), over ? SFU_E_FDE : SFU_OK);
        close_section(&o);
    }
}

static void test_above(void **state)
{
    (void)state;
    for_each_variant(above);
}

/* ---- Small functions ---- */

struct span {
    int64_t start;
    uint32_t size;
};

static int check_spans(const struct variant *v, const struct span *spans, int count, sfu_addr addr, uint32_t *fde)
{
    struct opened o;
    struct sfu_place place;
    int result;

    begin_variant(b, v);
    for (int i = 0; i < count; i++) {
        build_fde(b, spans[i].start, spans[i].size, ADDR1);
        ROW(b, 0, BASE_SP, 8);
    }
    build_end(b);
    code(open_bytes(&o, b->bytes, b->size, addr), SFU_OK);
    result = check(&o, &place);
    *fde = place.fde;
    close_section(&o);
    return result;
}

/* Two functions that overlap by one byte or do not, and an empty one between them: at the start of either, or elsewhere
 * in the first one. The place is that of the second, whichever address the section has. */
static void overlap(const struct variant *v)
{
    const sfu_addr addrs[] = {BASE, KERNEL};
    uint32_t fde;

    for (int i = 0; i < 2; i++) {
        for (uint32_t size = 1; size <= 0x20; size += 0x1f) {
            for (int over = 0; over < 2; over++) {
                int64_t second = 0x1000 + (int64_t)size - over;

                for (int64_t empty = 0x1000; empty <= second; empty++) {
                    struct span spans[] = {{0x1000, size}, {empty, 0}, {second, 0x10}, {0x2000, 0x10}};

                    note("version %d, the empty one at %x, the second at %x", v->version, (int)empty, (int)second);
                    code(check_spans(v, spans, 4, addrs[i], &fde), over ? SFU_E_OVERLAP : SFU_OK);
                    same(fde, over ? 2 : 77);
                }
            }
        }
    }
}

static void test_overlap(void **state)
{
    (void)state;
    for_each_variant(overlap);
}

/* One, two or three functions with the same start, of which at most one is not empty, in each order: sorted, the table
 * is in order, and each byte of that one is found. */
static void same_start(const struct variant *v)
{
    for (int count = 1; count <= 3; count++) {
        for (int real = 0; real <= count; real++) { /* count: none */
            for (int other = 0; other < 3; other++) {
                struct opened o;
                struct sfu_row row;

                note("version %d, %d, %d of %d", v->version, other, real, count);
                begin_variant(b, v);
                b->flags = (uint8_t)v->flags;
                for (int i = 0; i < count; i++) {
                    build_fde(b, 0x1000, i == real ? 2 : 0, ADDR1);
                    ROW(b, 0, BASE_SP, 16);
                }
                if (other > 0) { /* below or above */
                    build_fde(b, other == 1 ? 0x0ff0 : 0x1002, 0x10, ADDR1);
                    ROW(b, 0, BASE_SP, 8);
                }
                open_valid(&o, b);
                code(sfu_sort(&o.mapped, o.block + 1), SFU_OK);
                code(sfu_check(&o.mapped, NULL), SFU_OK);
                for (sfu_addr i = 0; i < 2; i++) {
                    code(sfu_find(&o.mapped, BASE + 0x1000 + i, &row), real < count ? SFU_OK : SFU_E_NO_FDE);
                    if (real < count)
                        same(row.cfa.offset, cfa_offset(v->abi, 16));
                }
                close_section(&o);
            }
        }
    }
}

static void test_same_start(void **state)
{
    (void)state;
    for_each_variant(same_start);
}

/* Text of one byte. */
static void one_byte(const struct variant *v)
{
    struct opened o;

    begin_variant(b, v);
    build_fde(b, 0x1000, 1, ADDR1);
    ROW(b, 0, BASE_SP, 8);
    open_valid(&o, b);
    code(sfu_find_text(&o.mapped), SFU_OK);
    same(o.mapped.text.low, BASE + 0x1000);
    same(o.mapped.text.high, BASE + 0x1001);
    close_section(&o);
}

static void test_one_byte(void **state)
{
    (void)state;
    for_each_variant(one_byte);
}

/* ---- Registers ---- */

/* Numbers whose lower 16 bits are those of a register that is known. */
static void test_large_registers(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        static struct machine m;
        const unsigned known[] = {registers[abi].sp, registers[abi].fp, registers[abi].ra};

        for (unsigned i = 0; i < 3; i++) {
            for (unsigned above = 0; above < 2; above++) {
                struct sfu_target t;
                struct sfu_frame frame = {.regs = {.pc = 0x1234, .sp = STACK, .fp = STACK, .has_ra = true}};
                struct sfu_row row = {.length = 1, .abi = (uint8_t)abi};

                note("ABI %d, register %u", abi, known[i]);
                machine_init(&m, &t, registers[abi].big);
                row.cfa.control = (uint32_t)REG(registers[abi].sp);
                row.cfa.offset = 512;
                row.ra.control = (uint32_t)REG(known[i] + (above << 16));
                row.fp.control = (uint32_t)REG(registers[abi].fp);
                code(apply(&t, &row, &frame), above ? SFU_E_REGISTER : SFU_OK);
            }
        }
    }
}

/* s390x's odd words name registers (V2). */
static void test_large_register_words(void **state)
{
    struct opened o;
    struct sfu_row row;

    (void)state;
    if (!built(2, SFU_S390X, true))
        return;
    for (int64_t reg = 14; reg < 0x20000; reg += 0x10000) {
        build_begin(b, 2, SFU_S390X, true);
        build_fde(b, 0x1000, 0x10, ADDR1);
        ROW(b, 0, BASE_SP | WORD4, 0, reg << 1 | 1, reg << 1 | 1);
        open_valid(&o, b);
        code(find(&o, BASE + 0x1000, &row), SFU_OK);
        same_rule(row.ra, REG(reg), 0);
        same_rule(row.fp, REG(reg), 0);
        close_section(&o);
    }
}

/* Whether VALUE + OFFSET is an address. */
static bool fits(sfu_addr value, int64_t offset)
{
    return offset < 0 ? value >= (sfu_addr)-offset && value + (sfu_addr)offset <= max_address
                      : value <= max_address - (sfu_addr)offset && value <= max_address;
}

/* FP at the edges, in each rule, with offsets that just fit and just do not. */
static void test_sums(void **state)
{
    static const sfu_addr values[] = {0,
                                      1,
                                      SFU_ADDR_MAX / 2,
                                      SFU_ADDR_MAX / 2 + 1,
                                      SFU_ADDR_MAX - 1,
                                      SFU_ADDR_MAX,
                                      INT32_MAX,
                                      UINT64_C(1) << 31,
                                      SFU_ADDR_MAX - INT32_MAX};
    static const int32_t offsets[] = {INT32_MIN, INT32_MIN + 1, -1, 0, 1, INT32_MAX - 1, INT32_MAX};

    (void)state;
    FOR_ABIS(abi)
    {
        static struct machine m;
        sfu_addr below = abi == SFU_S390X ? 160 : 0;

        for (unsigned i = 0; i < 9 * 7 * 3; i++) {
            struct sfu_target t;
            struct sfu_frame frame = {.regs = {.sp = STACK, .fp = values[i % 9], .pc_kind = SFU_PC_RETURN}};
            struct sfu_row row = {.length = 1, .abi = (uint8_t)abi};
            struct sfu_rule *const rules[] = {&row.cfa, &row.ra, &row.fp};
            int32_t offset = offsets[i / 9 % 7];
            unsigned which = i / 63;
            sfu_addr sum = values[i % 9] + (sfu_addr)(int64_t)offset;
            bool good = fits(values[i % 9], offset) && (which > 0 || sum >= below);
            sfu_addr *const results[] = {&frame.regs.sp, &frame.regs.pc, &frame.regs.fp};
            sfu_addr before = *results[which];

            note("ABI %d, rule %u, %llx + %d", abi, which, (unsigned long long)values[i % 9], (int)offset);
            machine_init(&m, &t, registers[abi].big);
            t.find_stack = machine_find_stack; /* SP may lie anywhere */
            row.cfa.control = (uint32_t)REG(registers[abi].sp);
            row.cfa.offset = 512;
            row.ra.control = row.fp.control = (uint32_t)REG(registers[abi].sp);
            rules[which]->control = (uint32_t)REG(registers[abi].fp);
            rules[which]->offset = offset;
            code(apply(&t, &row, &frame), good ? SFU_OK : SFU_E_ADDRESS);
            if (!good)
                same(*results[which], before);
            else
                same(*results[which], which == 0 ? sum - below : which == 1 ? pc_of(abi, sum) : sum);
        }
    }
}

int limits_tests(void)
{
    const struct check_test tests[] = {
        CHECK(test_many_functions), CHECK(test_far_tables),      CHECK(test_large_section),
        CHECK(test_high_addresses), CHECK(test_high_caller),     CHECK(test_wrapping),
        CHECK(test_above),          CHECK(test_overlap),         CHECK(test_same_start),
        CHECK(test_one_byte),       CHECK(test_large_registers), CHECK(test_large_register_words),
        CHECK(test_sums),
    };
    return check_run("limits", tests);
}
