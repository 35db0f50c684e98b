/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Sections and stacks that nobody wrote in earnest, with each build-time switch; test/hostile sets every byte to every
 * value. What must hold of any of them: mapped and remote say the same, nothing outside is read, reads are bounded, a
 * row holds for the PC that it was found for, a section that passes the check has no corrupt entry, and each walk ends.
 */
#include "test.h"

static struct build *const b = &the_build;

enum { FIRST = 0x1000, LAST = 0x10a0 };

/* Functions of every kind that the version has, in a small section. */
static void mixed(const struct variant *v)
{
    int64_t sp = v->abi == SFU_AMD64 ? 7 : v->abi == SFU_S390X ? 15 : 31;
    begin_variant(b, v);
    build_fde(b, 0x1000, 0x20, ADDR1);
    ROW(b, 0, BASE_SP, 8);
    ROW(b, 4, BASE_SP | WORD2, 16, -16);
    build_fde(b, 0x1020, 0x20, ADDR2);
    ROW(b, 0, BASE_FP | WORD4, 8);
    build_fde(b, 0x1040, 0, ADDR1);
    ROW(b, 0, BASE_SP, 8);
    build_fde_more(b, 0x1040, 0x20, ADDR1 | MASK, DEFAULT, 8);
    ROW(b, 0, BASE_SP, 8);
    ROW(b, 6, BASE_SP, 16);
    if (v->version == 3) {
        build_fde_more(b, 0x1060, 0x20, ADDR4, FLEX, 0);
        ROW(b, 0, WORD1, AT_REG(sp), 8, 0, AT_CFA, -16);
        build_fde(b, 0x1080, 0x10, ADDR1);
        build_fde(b, 0x1090, 0x10, ADDR1 | SIGNAL);
    }
    build_end(b);
}

/* All that must hold of the section of SIZE bytes. */
static void examine(const uint8_t *bytes, size_t size)
{
    struct opened o;
    int checked;
    if (open_bytes(&o, bytes, size, BASE) != SFU_OK)
        return;
    holds(o.mapped.fdes <= o.mapped.end && o.mapped.rows <= o.mapped.end && o.mapped.end <= size);
    checked = check(&o, NULL);
    for (sfu_addr pc = BASE + FIRST - 1; pc <= BASE + LAST; pc += 5) {
        struct sfu_row row;
        int result;
        o.memory.reads = 0;
        result = find(&o, pc, &row);
        holds(o.memory.reads <= LOOKUP_READS + 2 * o.mapped.num_fdes + (o.mapped.end - o.mapped.rows) / 2);
        if (checked == SFU_OK)
            holds(result != SFU_E_BOUNDS && result != SFU_E_FDE && result != SFU_E_ROW);
        if (result == SFU_OK) {
            holds(row.start - row.function < UINT32_MAX);
            holds(row.kind <= SFU_ROW_ASK);
            holds(row.kind != SFU_ROW_RULES || row.cfa.control & 1);
        }
    }
    close_section(&o);
}

static void random_bytes(const struct variant *v)
{
    static uint8_t bytes[1024];
    static const uint8_t likely[] = {0, 1, 2, 3, 4, 0x10, 0x20, 0x7f, 0x80, 0xfe, 0xff};
    for (int i = 0; i < 400; i++) {
        unsigned n = (unsigned)(random_number() % 6) + 1;
        mixed(v);
        memcpy(bytes, b->bytes, b->size);
        while (n-- > 0) {
            uint64_t r = random_number();
            /* the first four bytes decide whether it is a section at all: test/hostile sets each to each value */
            bytes[5 + r % (b->size - 5)] = r >> 32 & 1 ? likely[(r >> 33) % sizeof likely] : (uint8_t)(r >> 40);
        }
        examine(bytes, b->size);
    }
}

static void test_random_bytes(void **state)
{
    (void)state;
    random_seed(7);
    for_each_variant(random_bytes);
}

/* Sections cut off at each length, whose header says that they are. */
static void cut(const struct variant *v)
{
    mixed(v);
    for (size_t size = build_fre_at(b); size < b->size; size++) {
        build_put(b, H_FRE_LEN, size - build_fre_at(b), 4);
        examine(b->bytes, size);
    }
}

static void test_cut(void **state)
{
    (void)state;
    for_each_variant(cut);
}

static struct machine m;

/* Walks over a stack of random words, most of which are PCs and addresses of this program. */
static void random_stack(const struct variant *v)
{
    struct opened o;
    struct sfu_target t;
    static const uint16_t zones[] = {0, 8, 128, UINT16_MAX};
    mixed(v);
    for (int i = 0; i < 60; i++) {
        struct sfu_registers top;
        struct sfu_walk walk;
        unsigned n = 0;
        int result;
        code(open_build(&o, b), SFU_OK);
        machine_init(&m, &t, v->abi == SFU_AARCH64_BIG || v->abi == SFU_S390X);
        code(add(&t.sections, &o.mapped), SFU_OK);
        for (unsigned w = 0; w < sizeof m.bytes / 8; w++) {
            uint64_t r = random_number();
            put_word(&m, STACK + 8 * w,
                     (sfu_addr)(r & 3 ? BASE + FIRST + (r >> 8) % 0xa8 : STACK + (r >> 8) % 0x2000));
        }
        memset(&top, 0, sizeof top);
        top.pc = BASE + FIRST + (sfu_addr)(random_number() % 0xa0);
        top.sp = STACK + (sfu_addr)(random_number() % 64 * 8);
        top.fp = STACK + (sfu_addr)(random_number() % 0x400 * 8);
        top.pc_kind = random_number() & 1 ? SFU_PC_RETURN : SFU_PC_EXACT;
        t.frame_pointers = i & 1;
        t.find_stack = i & 2 ? machine_find_stack : NULL;
        m.stack_size = 64 + (sfu_addr)(random_number() % 4096);
        t.max_frames = 300;
        t.max_switches = (uint8_t)(i % 8);
        t.red_zone = zones[i / 8 % 4];
        if (i & 4) {
            uint64_t low = random_number() % sizeof m.bytes, high = random_number() % (sizeof m.bytes + 1);
            t.stack = (struct sfu_stack){m.bytes + low, (sfu_addr)(STACK + low), (sfu_addr)(STACK + high)};
        }
        sfu_walk_start(&walk, &t, &top);
        do {
            struct sfu_frame last = walk.frame;
            m.stack.reads = 0;
            result = step(&walk);
            holds(m.stack.reads <= 3);
            if (result == SFU_OK) {
                holds(walk.frame.switched || walk.frame.regs.sp >= last.regs.sp);
                holds(walk.frame.switches == last.switches + walk.frame.switched);
                holds(++n < 300);
            }
        } while (result == SFU_OK);
        holds(result == SFU_END || result < 0);
        close_section(&o);
    }
}

static void test_random_stack(void **state)
{
    (void)state;
    random_seed(5);
    for_each_variant(random_stack);
}

int hostile_tests(void)
{
    const struct check_test tests[] = {
        CHECK(test_random_bytes),
        CHECK(test_cut),
        CHECK(test_random_stack),
    };
    return check_run("hostile", tests);
}
