/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Finding the function of a PC (specification 2.3): sorted and unsorted tables, and what their entries may say. */
#include "test.h"

static struct build *const b = &the_build;

/* A function whose one row can be told from the others': its CFA offset is 8 * ID. */
static void function(int64_t start, uint32_t size, int id)
{
    build_fde(b, start, size, ADDR1);
    ROW(b, 0, BASE_SP | WORD2, 8 * id);
}

static int64_t id_of(const struct sfu_row *row)
{
    return (row->cfa.offset - cfa_offset(row->abi, 0)) / (cfa_offset(row->abi, 8) - cfa_offset(row->abi, 0));
}

/* Functions 1 to N: start, size. Function i starts 0x40 * i above START; gaps follow those of odd number. */
static uint32_t size_of(int i)
{
    return i % 2 ? 0x20 : 0x40;
}

static void expect(struct opened *o, uint64_t pc, uint64_t start, uint32_t size, int id)
{
    struct sfu_row row;
    note("PC %llx, function %d", (unsigned long long)pc, id);
    code(find(o, pc, &row), SFU_OK);
    same(id_of(&row), id);
    same(row.function, start);
    same(row.start, start);
    same(row.length, size);
}

/* The first and last PC of every function, and the PCs next to them. */
static void expect_all(struct opened *o, uint64_t start, int n)
{
    code(find(o, start + 0x3f, NULL), SFU_E_NO_FDE);
    code(find(o, 0, NULL), SFU_E_NO_FDE);
    code(find(o, UINT64_MAX, NULL), SFU_E_NO_FDE);
    for (int i = 1; i <= n; i++) {
        uint64_t at = start + 0x40 * (uint64_t)i;
        expect(o, at, at, size_of(i), i);
        expect(o, at + size_of(i) - 1, at, size_of(i), i);
        if (i == n || i % 2) {
            code(find(o, at + size_of(i), NULL), SFU_E_NO_FDE);
            code(find(o, at + 0x3f + (i % 2 ? 0 : 1), NULL), SFU_E_NO_FDE);
        }
    }
}

static void sorted(const struct variant *v)
{
    struct opened o;
    for (int n = 1; n <= 33; n++) {
        begin_variant(b, v);
        for (int i = 1; i <= n; i++) {
            function(-0x200 + 0x40 * i, size_of(i), i);
        }
        open_valid(&o, b);
        expect_all(&o, BASE - 0x200, n);
        code(check(&o, NULL), SFU_OK);
        close_section(&o);
    }
}

static void test_sorted(void **state)
{
    (void)state;
    for_each_variant(sorted);
}

static void unsorted(const struct variant *v)
{
    struct opened o;
    for (int n = 1; n <= 33; n += 4) {
        begin_variant(b, v);
        b->flags &= (uint8_t)~F_SORTED;
        for (int i = 0; i < n; i++) {
            int id = i * 2 % n + 1; /* n is odd: each once */
            function(0x1000 + 0x40 * id, size_of(id), id);
        }
        open_valid(&o, b);
        expect_all(&o, BASE + 0x1000, n);
        code(check(&o, NULL), SFU_OK);
        close_section(&o);
    }
}

static void test_unsorted(void **state)
{
    (void)state;
    for_each_variant(unsorted);
}

static void no_functions(const struct variant *v)
{
    struct opened o;
    for (int i = 0; i < 2; i++) {
        begin_variant(b, v);
        b->flags = (uint8_t)(v->flags | (i ? F_SORTED : 0));
        open_valid(&o, b);
        code(find(&o, BASE, NULL), SFU_E_NO_FDE);
        code(check(&o, NULL), SFU_E_EMPTY);
        close_section(&o);
    }
}

static void test_no_functions(void **state)
{
    (void)state;
    for_each_variant(no_functions);
}

/* Functions of size 0, which compilers and linkers leave: at the start of a function, on either side of it in the
 * table, several at once, in a gap, and at its end. None of them is ever found. */
static void empty_functions(const struct variant *v)
{
    struct opened o;
    for (int before = 0; before <= 3; before++) {
        for (int after = 0; after <= 3; after++) {
            for (int is_sorted = 0; is_sorted < 2; is_sorted++) {
                begin_variant(b, v);
                b->flags = (uint8_t)(v->flags | (is_sorted ? F_SORTED : 0));
                function(0x0f00, 0, 90);
                function(0x0f80, 0x80, 1);
                for (int i = 0; i < before; i++) {
                    function(0x1000, 0, 91);
                }
                function(0x1000, 0x20, 2);
                for (int i = 0; i < after; i++) {
                    function(0x1000, 0, 92);
                }
                function(0x1020, 0, 93);
                function(0x1028, 0, 94);
                function(0x1030, 1, 3);
                open_valid(&o, b);
                expect(&o, BASE + 0x0fff, BASE + 0x0f80, 0x80, 1);
                for (uint64_t pc = 0x1000; pc < 0x1020; pc++) {
                    expect(&o, BASE + pc, BASE + 0x1000, 0x20, 2);
                }
                code(find(&o, BASE + 0x0f00, NULL), SFU_E_NO_FDE);
                code(find(&o, BASE + 0x1020, NULL), SFU_E_NO_FDE);
                code(find(&o, BASE + 0x1028, NULL), SFU_E_NO_FDE);
                code(find(&o, BASE + 0x1029, NULL), SFU_E_NO_FDE);
                expect(&o, BASE + 0x1030, BASE + 0x1030, 1, 3);
                code(check(&o, NULL), SFU_OK);
                close_section(&o);
            }
        }
    }
}

static void test_empty_functions(void **state)
{
    (void)state;
    for_each_variant(empty_functions);
}

/* Starts and sizes as small and as large as their fields can hold. */
static void extremes(const struct variant *v)
{
    struct opened o;
    uint64_t base = UINT64_C(0x4000000000000000);
    int64_t least = v->version == 3 ? -INT64_C(0x3fffffffffffffff) : INT32_MIN;
    int64_t most = v->version == 3 ? INT64_C(0x7fffffffffffff00) : INT32_MAX;
    if (v->flags & F_PCREL) { /* what is stored is less by the place of the field */
        least += 0x1000;
    }
    begin_variant(b, v);
    function(least, 0x10, 1);
    function(0, UINT32_MAX, 2);
    function(v->version == 3 ? UINT32_MAX : most, 1, 3);
    if (v->version == 3) {
        function(most, 0x80, 4);
        function(most + 0x80, 0x7f, 5);
    } else {
        b->fde[1].size = INT32_MAX;
    }
    build_end(b);
    code(open_bytes(&o, b->bytes, b->size, base), SFU_OK);
    expect(&o, base + (uint64_t)least, base + (uint64_t)least, 0x10, 1);
    expect(&o, base + (uint64_t)least + 0xf, base + (uint64_t)least, 0x10, 1);
    code(find(&o, base + (uint64_t)least + 0x10, NULL), SFU_E_NO_FDE);
    code(find(&o, base + (uint64_t)least - 1, NULL), SFU_E_NO_FDE);
    expect(&o, base, base, b->fde[1].size, 2);
    expect(&o, base + b->fde[1].size - 1, base, b->fde[1].size, 2);
    expect(&o, base + b->fde[1].size, base + b->fde[1].size, 1, 3);
    if (v->version == 3) {
        expect(&o, base + (uint64_t)most + 0xfe, base + (uint64_t)most + 0x80, 0x7f, 5);
        code(find(&o, base + (uint64_t)most + 0xff, NULL), SFU_E_NO_FDE);
    }
    close_section(&o);
}

static void test_extremes(void **state)
{
    (void)state;
    for_each_variant(extremes);
}

/* A kernel lies in the last 2 GiB; its last function may end with the address space. */
static void top_of_memory(const struct variant *v)
{
    struct opened o;
    uint64_t addr = UINT64_C(0xffffffffc0000000);
    begin_variant(b, v);
    function(-0x1000, 0x20, 1);
    function(0x3fffff00, 0x80, 2);
    function(0x3fffff80, 0x80, 3);
    build_end(b);
    code(open_bytes(&o, b->bytes, b->size, addr), SFU_OK);
    expect(&o, addr - 0x1000 + 0x1f, addr - 0x1000, 0x20, 1);
    expect(&o, UINT64_MAX - 0x80, UINT64_MAX - 0xff, 0x80, 2);
    expect(&o, UINT64_MAX - 0x7f, UINT64_MAX - 0x7f, 0x80, 3);
    expect(&o, UINT64_MAX, UINT64_MAX - 0x7f, 0x80, 3);
    code(find(&o, 0, NULL), SFU_E_NO_FDE);
    code(find(&o, addr, NULL), SFU_E_NO_FDE);
    code(check(&o, NULL), SFU_E_FDE); /* it can be found, but nothing can return behind it */
    close_section(&o);
}

static void test_top_of_memory(void **state)
{
    (void)state;
    for_each_variant(top_of_memory);
}

/* One corrupt entry costs its own function, never the table. */
static void bad_neighbours(const struct variant *v)
{
    struct opened o;
    unsigned unknown = 0;
    struct sfu_place place;
    for (int i = 0; i < 2; i++) {
        begin_variant(b, v);
        b->flags = (uint8_t)(v->flags | (i ? F_SORTED : 0));
        for (int n = 1; n <= 9; n++) {
            function(0x1000 + 0x40 * n, 0x40, n);
        }
        build_end(b);
        build_set_info(b, 1, 3);                /* address size 3 */
        build_set_info(b, 3, 15);
        build_set_fre_off(b, 5, 0xffffffff);    /* rows outside */
        build_set_num_fres(b, 7, 0xffff);       /* more rows than there is room */
        code(open_build(&o, b), SFU_OK);
        for (int n = 1; n <= 9; n++) {
            static const int want[] = {0, 0, SFU_E_FDE, 0, SFU_E_FDE, 0, SFU_E_BOUNDS, 0, SFU_E_FDE, 0};
            uint64_t pc = BASE + 0x1000 + 0x40 * (uint64_t)n;
            if (want[n] == 0) {
                expect(&o, pc + 1, pc, 0x40, n);
            } else {
                note("version %d, function %d", v->version, n);
                code(find(&o, pc + 1, NULL), want[n]);
            }
        }
        code(check(&o, &place), SFU_E_FDE);
        same(place.fde, 1);
        same(place.row, 0);
        close_section(&o);
        for (unknown = 2; unknown < 32 && v->version == 3; unknown++) {
            build_set_info2(b, 2, unknown); /* FDE types that nobody knows */
            code(find_in_build(b, BASE + 0x10c0, NULL), SFU_E_FDE);
        }
    }
}

static void test_bad_neighbours(void **state)
{
    (void)state;
    for_each_variant(bad_neighbours);
}

/* Address sizes, by the low four bits of the info byte; the key and the unused bit change nothing. */
static void info_bits(const struct variant *v)
{
    begin_variant(b, v);
    function(0x1000, 0x40, 1);
    build_end(b);
    for (unsigned info = 0; info < 256; info++) {
        struct sfu_row row;
        int result;
        build_set_info(b, 0, info);
        if (v->version > 1) {
            build_set_rep_size(b, 0, 16);
        }
        result = find_in_build(b, BASE + 0x1000, &row);
        note("version %d, info %x", v->version, info);
        if ((info & 15) > 2) {
            code(result, SFU_E_FDE);
        } else if ((info & 15) == 0) {
            code(result, SFU_OK);
            same(row.length, info & MASK ? 16 : 0x40);
            same(row.trap_frame, v->version == 3 && info & SIGNAL ? true : false);
        }
    }
}

static void test_info_bits(void **state)
{
    (void)state;
    for_each_variant(info_bits);
}

/* The number of rows against the room: it fits exactly, or is one too many. */
static void num_fres(const struct variant *v)
{
    begin_variant(b, v);
    build_fde(b, 0x1000, 0x40, ADDR1);
    ROW0(b, 0, BASE_SP);
    ROW0(b, 1, BASE_SP);
    build_end(b);
    for (unsigned n = 1; n < 6; n++) {
        build_set_num_fres(b, 0, n);
        code(find_in_build(b, BASE + 0x1000, NULL), n > 2 ? SFU_E_FDE : v->version == 1 ? SFU_E_ROW : SFU_OK);
    }
    build_set_num_fres(b, 0, v->version == 3 ? 0xffff : 0xffffffff);
    code(find_in_build(b, BASE + 0x1000, NULL), SFU_E_FDE);
    if (v->version < 3) {
        build_set_num_fres(b, 0, 0x80000000); /* times 2 is 0 in 32 bits */
        code(find_in_build(b, BASE + 0x1000, NULL), SFU_E_FDE);
    }
}

static void test_num_fres(void **state)
{
    (void)state;
    for_each_variant(num_fres);
}

/* Where the rows are: anywhere in the FREs; at their end there is no room for a row, behind it no place. */
static void fre_offset(const struct variant *v)
{
    static const uint32_t outside[] = {1, 2, 0x1000, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff};
    begin_variant(b, v);
    function(0x1000, 0x40, 1);
    build_end(b);
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        note("version %d, %x", v->version, outside[i]);
        build_set_fre_off(b, 0, outside[i] < 3 ? b->fre_len + outside[i] : outside[i]);
        code(find_in_build(b, BASE + 0x1000, NULL), SFU_E_BOUNDS);
    }
    if (v->version == 3) {
        for (uint32_t i = 0; i < 5; i++) { /* no room for the attribute */
            build_set_fre_off(b, 0, b->fre_len - i);
            code(find_in_build(b, BASE + 0x1000, NULL), SFU_E_BOUNDS);
        }
    }
}

static void test_fre_offset(void **state)
{
    (void)state;
    for_each_variant(fre_offset);
}

#ifndef SFU_NO_REMOTE
static unsigned log2_ceil(unsigned n)
{
    unsigned bits = 0;
    while (1u << bits < n) {
        bits++;
    }
    return bits;
}

/* Reads of the section: one for each step of a binary search, one for each FDE of a linear one. */
static void counted(const struct variant *v)
{
    static const unsigned sizes[] = {1, 2, 3, 4, 7, 8, 100, 1000};
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned is_sorted = 0; is_sorted < 2; is_sorted++) {
            struct opened o;
            unsigned n = sizes[i], most = 0;
            begin_variant(b, v);
            b->flags = (uint8_t)(v->flags | (is_sorted ? F_SORTED : 0));
            for (unsigned f = 0; f < n; f++) {
                function(0x40 * (int)f, 0x20, 1);
            }
            open_valid(&o, b);
            for (unsigned f = 0; f < 2 * n; f++) {
                o.memory.reads = 0;
                code(sfu_find(&o.remote, BASE + 0x20 * f, &(struct sfu_row){0}), f % 2 ? SFU_E_NO_FDE : SFU_OK);
                most = o.memory.reads > most ? o.memory.reads : most;
            }
            note("%u functions: %u reads", n, most);
            holds(most <= (is_sorted ? log2_ceil(n + 1) : n) + LOOKUP_READS + 1);
            close_section(&o);
        }
    }
}

static void test_counted(void **state)
{
    (void)state;
    for_each_variant(counted);
}
#endif

/* However many empty functions share its start, a function is found; if all are empty, none is. */
static void many_empty(const struct variant *v)
{
    struct opened o;
    for (int real = 0; real <= 200; real += 40) {
        begin_variant(b, v);
        for (int i = 0; i < 200; i++) {
            function(0x1000, i == real ? 0x40 : 0, 1 + (i == real));
        }
        open_valid(&o, b);
        if (real < 200) {
            expect(&o, BASE + 0x1000, BASE + 0x1000, 0x40, 2);
            expect(&o, BASE + 0x103f, BASE + 0x1000, 0x40, 2);
        } else {
            code(find(&o, BASE + 0x1000, NULL), SFU_E_NO_FDE);
        }
        holds(o.memory.reads <= 3 * (8 + 200 + LOOKUP_READS + 1));
        close_section(&o);
    }
}

static void test_many_empty(void **state)
{
    (void)state;
    for_each_variant(many_empty);
}

/* A return address can be the first byte behind its function. */
static void test_lookup_pc(void **state)
{
    struct sfu_registers regs;
    (void)state;
    memset(&regs, 0, sizeof regs);
    regs.pc = 0x1040;
    regs.pc_kind = SFU_PC_EXACT;
    same(sfu_lookup_pc(&regs), 0x1040);
    regs.pc_kind = SFU_PC_RETURN;
    same(sfu_lookup_pc(&regs), 0x103f);
    regs.pc = 0;
    same(sfu_lookup_pc(&regs), UINT64_MAX);
    regs.pc_kind = SFU_PC_EXACT;
    same(sfu_lookup_pc(&regs), 0);
}

int function_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorted),         cmocka_unit_test(test_unsorted),
        cmocka_unit_test(test_no_functions),   cmocka_unit_test(test_empty_functions),
        cmocka_unit_test(test_extremes),       cmocka_unit_test(test_top_of_memory),
        cmocka_unit_test(test_bad_neighbours), cmocka_unit_test(test_info_bits),
        cmocka_unit_test(test_num_fres),       cmocka_unit_test(test_fre_offset),
        cmocka_unit_test(test_many_empty),     cmocka_unit_test(test_lookup_pc),
#ifndef SFU_NO_REMOTE
        cmocka_unit_test(test_counted),
#endif
    };
    return cmocka_run_group_tests_name("function", tests, NULL, NULL);
}
