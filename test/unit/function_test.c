/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Finding the function of a PC: what a lookup reads. What entries say is in the vectors. */
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

static void expect(struct opened *o, sfu_addr pc, sfu_addr start, uint32_t size, int id)
{
    struct sfu_row row;
    note("PC %llx, function %d", (unsigned long long)pc, id);
    code(find(o, pc, &row), SFU_OK);
    same(id_of(&row), id);
    same(row.function, start);
    same(row.start, start);
    same(row.length, size);
}

#ifndef SFU_NO_REMOTE
static unsigned log2_ceil(unsigned n)
{
    unsigned bits = 0;
    while (1u << bits < n)
        bits++;
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
            unsigned step = n > 100 && !is_sorted ? 17 : 1; /* each lookup takes N reads then */
            begin_variant(b, v);
            b->flags = (uint8_t)(v->flags | (is_sorted ? F_SORTED : 0));
            for (unsigned f = 0; f < n; f++)
                function(0x40 * (int)f, 0x20, 1);
            open_valid(&o, b);
            for (unsigned f = 0; f < 2 * n; f += step) {
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
        for (int i = 0; i < 200; i++)
            function(0x1000, i == real ? 0x40 : 0, 1 + (i == real));
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
    same(sfu_lookup_pc(&regs), SFU_ADDR_MAX);
    regs.pc_kind = SFU_PC_EXACT;
    same(sfu_lookup_pc(&regs), 0);
}

int function_tests(void)
{
    const struct check_test tests[] = {
        CHECK(test_many_empty),
        CHECK(test_lookup_pc),
#ifndef SFU_NO_REMOTE
        CHECK(test_counted),
#endif
    };
    return check_run("function", tests);
}
