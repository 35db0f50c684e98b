/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Stacks as values: which one a walk is on, when find_stack is asked, and what a stack's bounds allow. */
#include "test.h"

static struct machine m;
static struct sfu_target t;
static struct sfu_walk walk;
static struct sfu_registers top;
static struct sfu_row row;

/* ---- The kernel's stacks, in any order, and what it says of them ---- */

enum { STACKS = 4, SIZE = 0x400 };

static struct sfu_stack stacks[STACKS];
static struct sfu_section section; /* says which ABI the target has */
static unsigned num_stacks;
static sfu_addr asked; /* for which address the last time */
static sfu_addr guard; /* bytes below each */

/* As a kernel would: the stack that has ADDR, up to its high end, or the bytes below it, which are a guard. */
static bool find_listed(void *ctx, sfu_addr addr, struct sfu_stack *stack)
{
    struct machine *machine = ctx;
    machine->finds++;
    asked = addr;
    for (unsigned i = 0; i < num_stacks; i++) {
        if (addr >= stacks[i].low - guard && addr <= stacks[i].high) {
            *stack = stacks[i];
            return true;
        }
    }
    memset(stack, 0xa5, sizeof *stack); /* it is not looked at */
    return false;
}

/* Four stacks of 1 KiB with 1 KiB between them, the first two mapped. Each word holds its own address. FP is the base
 * of every rule: CFA = FP (+ below), RA = the PC of nothing, FP stays. */
static void begin(int abi, enum sfu_pc_kind kind)
{
    note("ABI %d, PC kind %d", abi, kind);
    machine_init(&m, &t, registers[abi].big);
    memset(&section, 0, sizeof section);
    section.abi = (enum sfu_abi)abi;
    t.sections = &section;
    for (unsigned i = 0; i < sizeof m.bytes / 8; i++)
        put_word(&m, STACK + 8 * i, STACK + 8 * i);
    num_stacks = STACKS;
    guard = 0x40;
    for (unsigned i = 0; i < STACKS; i++) {
        sfu_addr low = STACK + 0x200 + i * 2 * (sfu_addr)SIZE;
        stacks[i].bytes = i < 2 ? m.bytes + (low - STACK) : NULL;
        stacks[i].low = low;
        stacks[i].high = low + SIZE;
    }
    memset(&t.stack, 0, sizeof t.stack);
    t.find_stack = find_listed;
    memset(&top, 0, sizeof top);
    top.pc = 0x1234;
    top.sp = stacks[0].low + 0x80;
    top.pc_kind = kind;
    memset(&row, 0, sizeof row);
    row.start = row.function = 0x1200;
    row.length = 0x100;
    row.abi = (uint8_t)abi;
    row.cfa.control = row.ra.control = row.fp.control = (uint32_t)REG(registers[abi].fp);
    row.cfa.offset = (int32_t)below(abi);
}

static void start(void)
{
    memset(&walk, 0x5a, sizeof walk);
    walk.frame.regs.has_ra = walk.frame.switched = walk.frame.replaced = walk.frame.reliable = false;
    sfu_walk_start(&walk, &t, &top);
    m.finds = 0;
}

static int go_to(sfu_addr sp)
{
    walk.frame.regs.fp = sp;
    return apply_to(&walk, &row);
}

static void expect_on(const struct sfu_stack *stack)
{
    assert_ptr_equal(walk.stack.bytes, stack->bytes);
    same(walk.stack.low, stack->low);
    same(walk.stack.high, stack->high);
}

/* On no stack. */
static void expect_nowhere(void)
{
    same(walk.stack.low, 0);
    same(walk.stack.high, 0);
}

/* ---- Edges ---- */

/* SP may be all that there is from below a stack, where it has overflown, up to its high end: the topmost frame lies on
 * it. In between the callback is not asked. One byte more is another stack's, or none's. */
static void test_edges(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (unsigned i = 0; i < STACKS; i++) {
            for (int one = 0; one < 2; one++) { /* the target's only stack, or one of four */
                sfu_addr low, high;
                begin(abi, SFU_PC_RETURN);
                low = stacks[i].low;
                high = stacks[i].high;
                if (one) {
                    t.find_stack = NULL;
                    t.stack = stacks[i];
                }
                for (top.sp = low - 0x40; top.sp <= high; top.sp += 8) {
                    start();
                    expect_on(&stacks[i]);
                    code(go_to(high), top.sp == high ? SFU_E_PROGRESS : SFU_OK);
                    same(m.finds, top.sp == high && !one);
                    expect_on(&stacks[i]);
                    holds(!walk.frame.switched);
                }
                top.sp = low;
                start();
                code(go_to(high + 1), SFU_E_STACK);
                code(go_to(low - (one ? low : 0x41)), one ? SFU_E_PROGRESS : SFU_E_STACK);
                top.sp = high + 1;
                start();
                expect_nowhere();
                same(walk.frame.regs.sp, high + 1);
            }
        }
    }
}

/* What lies below an overflown stack's low end cannot be read; what lies above, as on any. */
static void test_overflown(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (unsigned i = 0; i < STACKS; i++) {
            for (sfu_addr by = 1; by <= 0x40; by++) {
                sfu_addr low;
                begin(abi, SFU_PC_RETURN);
                low = stacks[i].low;
                top.sp = low - by;
                start();
                row.ra.control = (uint32_t)AT_REG(registers[abi].sp);
                row.ra.offset = 0;
                code(go_to(low + 0x10), SFU_E_STACK);
                same(m.stack.reads, 0);
                same(m.finds, 1);
                row.ra.offset = (int32_t)by;
                code(go_to(low + 0x10), SFU_OK);
                same(walk.frame.regs.pc, low);
                same(walk.frame.switched, false);
                expect_on(&stacks[i]);
                same(m.finds, 1);
            }
        }
    }
}

/* The first stack and the second one right behind it, without guards. UPPER_FIRST: the callback takes the second for
 * that of the edge, as sfu.h wants it; else the first. Returns the edge. */
static sfu_addr touch(bool upper_first)
{
    num_stacks = 2;
    guard = 0;
    stacks[1].low = stacks[0].high;
    stacks[1].high = stacks[1].low + SIZE;
    stacks[1].bytes = m.bytes + (stacks[1].low - STACK);
    if (upper_first) {
        struct sfu_stack lower = stacks[0];
        stacks[0] = stacks[1];
        stacks[1] = lower;
        return stacks[0].low;
    }
    return stacks[0].high;
}

/* What has no register to be in again: the RA of x86. */
static int revived(int abi)
{
    return !registers[abi].link ? SFU_E_DEAD_SLOT : SFU_OK;
}

/* RA is DEPTH bytes below SP, of a frame that is counted from SP. */
static void count_from_sp(int abi, int32_t depth, bool by_cfa)
{
    row.cfa.control = (uint32_t)REG(registers[abi].sp);
    row.cfa.offset = (int32_t)below(abi) + 16;
    row.ra.control = by_cfa ? (uint32_t)AT_CFA : (uint32_t)AT_REG(registers[abi].sp);
    row.ra.offset = by_cfa ? -(int32_t)below(abi) - 16 - depth : -depth;
}

/* RA is where FP points, which go_to sets; the caller's SP lies 512 bytes higher. */
static void count_from_fp(int abi)
{
    row.cfa.control = (uint32_t)REG(registers[abi].fp);
    row.cfa.offset = (int32_t)below(abi) + 512;
    row.ra.control = (uint32_t)AT_REG(registers[abi].fp);
    row.ra.offset = 0;
}

/* What lies below SP on its own stack is dead; what lies on another is alive. A slot that is counted from SP is on
 * SP's own, wherever the edges are. Of any other only an SP within its stack tells: not one at the low end, which may
 * be that of the empty stack below. */
static void test_edge_slots(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int upper_first = 0; upper_first < 2; upper_first++) {
            for (int32_t from = -8; from <= 8; from += 8) {        /* SP, from the edge */
                for (int32_t depth = 8; depth <= 24; depth += 8) { /* of the slot below SP */
                    sfu_addr edge, slot;
                    bool on_upper = from > 0 || (from == 0 && upper_first), elsewhere = from > 0 && depth > from;
                    begin(abi, SFU_PC_EXACT);
                    edge = touch(upper_first);
                    top.sp = edge + (sfu_addr)(int64_t)from;
                    top.ra = 0x5550;
                    top.has_ra = true;
                    slot = top.sp - (sfu_addr)depth;
                    note("ABI %d, upper first %d, SP at %d, slot at %d", abi, upper_first, from, from - depth);
                    for (int by_cfa = 0; by_cfa < 2; by_cfa++) {
                        start();
                        same(walk.stack.low == edge, on_upper);
                        count_from_sp(abi, depth, by_cfa);
                        code(go_to(0), revived(abi));
                        same(walk.frame.regs.pc, !registers[abi].link ? 0x1234 : 0x5550);
                    }
                    start();
                    count_from_fp(abi);
                    code(go_to(slot), elsewhere ? SFU_OK : on_upper && from == 0 ? SFU_E_STACK : SFU_E_DEAD_SLOT);
                    same(walk.frame.regs.pc, elsewhere ? slot : 0x1234);
                }
            }
        }
    }
}

/* Nor one that is lower than its stack, which has overflown: it is not known by how much. */
static void test_overflown_slots(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (sfu_addr by = 0; by <= 0x40; by += 8) {
            for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
                begin(abi, SFU_PC_EXACT);
                top.sp = stacks[1].low - by;
                top.ra = 0x5550;
                top.has_ra = true;
                note("ABI %d, SP %u below the low end, slot on another stack %d", abi, (unsigned)by, elsewhere);
                start();
                expect_on(&stacks[1]);
                count_from_fp(abi);
                code(go_to(elsewhere ? stacks[0].low + 0x80 : top.sp - 8), SFU_E_STACK);
                same(m.stack.reads + m.finds, 0);
                code(go_to(stacks[1].low + 0x80), SFU_OK);
                same(walk.frame.regs.pc, stacks[1].low + 0x80);
                start();
                count_from_sp(abi, 8, elsewhere);
                code(go_to(0), revived(abi));
            }
        }
    }
}

/* The first function of a thread, interrupted where clang leaves it (aarch64: at `autiasp`): SP is the high end of the
 * stack, which another one touches; the RA is in its register again, and the trap has written to its slot. */
static void test_top_of_touching_stack(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int upper_first = 0; upper_first < 2; upper_first++) {
            begin(abi, SFU_PC_EXACT);
            top.sp = touch(upper_first);
            put_word(&m, top.sp - 8, 0xbad);
            put_word(&m, top.sp - 16, 0xbad);
            top.ra = 0x5550;
            top.has_ra = true;
            top.fp = 0x77;
            start();
            row.cfa.control = (uint32_t)REG(registers[abi].sp);
            row.cfa.offset = (int32_t)below(abi);
            row.ra.control = row.fp.control = (uint32_t)AT_CFA;
            row.ra.offset = -(int32_t)below(abi) - 8;
            row.fp.offset = -(int32_t)below(abi) - 16;
            code(apply_to(&walk, &row), revived(abi));
            if (!registers[abi].link)
                continue;
            same(walk.frame.regs.pc, 0x5550);
            same(walk.frame.regs.fp, 0x77);
            same(walk.frame.regs.sp, top.sp);
            same(walk.frame.switched, false);
            same(walk.frame.reliable, true);
        }
    }
}

/* A function has switched to a stack that nobody knows, and its slots, by FP, are on the old one, which is known. SP
 * says nothing of those that lie lower: they may be alive, or SP may be wrong. Of a calling frame the callee has kept
 * SP, so that its slots are alive. So are those that lie higher than SP. */
static void test_sp_on_no_stack(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        FOR_KINDS(kind)
        {
            for (int one = 0; one < 2; one++) { /* the target's only stack, or one of four */
                for (int where = 0; where < 3; where++) {
                    bool told;
                    begin(abi, (enum sfu_pc_kind)kind);
                    if (one) {
                        t.find_stack = NULL;
                        t.stack = stacks[1];
                    }
                    top.sp = where == 0 ? stacks[3].high + 0x200 : stacks[1].high + 0x200;
                    if (where == 2)
                        t.red_zone = UINT16_MAX;
                    top.ra = 0xbad;
                    top.has_ra = true;
                    note("ABI %d, PC kind %d, one %d, case %d", abi, kind, one, where);
                    start();
                    expect_nowhere();
                    told = kind == SFU_PC_RETURN || where == 2;
                    row.cfa.offset = 16 + (int32_t)below(abi);
                    row.ra.control = (uint32_t)AT_CFA;
                    row.ra.offset = -(int32_t)below(abi) - 8;
                    code(go_to(stacks[1].low + 0x80), told ? SFU_OK : SFU_E_STACK);
                    same(walk.frame.regs.pc, told ? stacks[1].low + 0x88 : 0x1234);
                    start(); /* the same of FP alone, and of the CFA */
                    row.ra.control = (uint32_t)REG(registers[abi].fp);
                    row.ra.offset = 0;
                    row.fp.control = (uint32_t)AT_CFA;
                    row.fp.offset = -(int32_t)below(abi) - 16;
                    code(go_to(stacks[1].low + 0x80), told ? SFU_OK : SFU_E_STACK);
                    start();
                    row.cfa.control = (uint32_t)AT_REG(registers[abi].fp);
                    row.fp.control = (uint32_t)REG(registers[abi].fp);
                    row.cfa.offset = 0;
                    put_word(&m, stacks[1].low + 0x80, stacks[1].low + 0x100 + below(abi));
                    code(go_to(stacks[1].low + 0x80), told ? SFU_OK : SFU_E_STACK);
                    start(); /* the lowest slot of all */
                    row.cfa.control = (uint32_t)REG(registers[abi].fp);
                    row.cfa.offset = (int32_t)below(abi);
                    row.ra.control = (uint32_t)AT_CFA;
                    row.ra.offset = -(int32_t)below(abi) - 8;
                    code(go_to(8), SFU_E_STACK);
                    if (one)
                        continue;
                    top.sp = stacks[2].low - 0x100; /* on none, and lower than the slots */
                    start();
                    expect_nowhere();
                    code(go_to(stacks[2].low + 0x80), SFU_OK);
                }
            }
        }
    }
}

/* Where one stack is all that there is, as far as anybody knows: SP is above the slots, on what is another stack in
 * truth. Their values are not taken from registers, which the function that was called there may have changed. */
static void test_stack_of_everything(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        begin(abi, SFU_PC_EXACT);
        t.find_stack = NULL;
        t.stack = (struct sfu_stack){NULL, 0, SFU_ADDR_MAX};
        top.sp = stacks[1].high;
        top.ra = 0xbad;
        top.has_ra = true;
        start();
        row.ra.control = (uint32_t)AT_REG(registers[abi].fp);
        row.ra.offset = 8;
        row.cfa.offset = 16 + (int32_t)below(abi);
        code(go_to(stacks[0].low + 0x80), SFU_E_DEAD_SLOT);
        row.ra.control = (uint32_t)REG(registers[abi].fp);
        row.fp.control = (uint32_t)AT_REG(registers[abi].fp);
        code(go_to(stacks[0].low + 0x80), SFU_E_DEAD_SLOT);
        /* by SP, but at a fixed distance below it: no frame of SP's own */
        row.cfa.control = (uint32_t)REG(registers[abi].sp);
        row.cfa.offset = (int32_t)below(abi) - 8;
        row.ra.control = (uint32_t)AT_CFA;
        row.ra.offset = -8;
        row.fp.control = (uint32_t)REG(registers[abi].fp);
        code(go_to(stacks[0].low + 0x80), below(abi) == 0 ? SFU_E_DEAD_SLOT : SFU_E_PROGRESS);
        row.ra.offset = -8 - (int32_t)below(abi);
        code(go_to(stacks[0].low + 0x80), SFU_E_DEAD_SLOT);
    }
}

/* Stacks without a gap: SP grows up to the end of the lower one; more than that is the upper one's. So is the word at
 * the end. */
static void test_adjacent(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int other = 0; other < 2;
             other++) /* each order of the list: which of both the callback takes for the edge's */
        {
            sfu_addr edge;
            bool upper_first = (other & 1) != 0;
            begin(abi, SFU_PC_RETURN);
            num_stacks = 2;
            stacks[1].low = stacks[0].high;
            stacks[1].high = stacks[1].low + SIZE;
            stacks[1].bytes = m.bytes + (stacks[1].low - STACK);
            edge = stacks[0].high;
            if (upper_first) {
                struct sfu_stack lower = stacks[0];
                stacks[0] = stacks[1];
                stacks[1] = lower;
            }
            start();
            code(go_to(edge), SFU_OK); /* stays, empty */
            same(m.finds, 0);
            same(walk.stack.high, edge);
            same(walk.frame.switches, 0);
            row.ra.control = (uint32_t)AT_REG(registers[abi].sp); /* the word at the edge */
            row.ra.offset = 0;
            code(go_to(edge + 8), upper_first ? SFU_OK : SFU_E_STACK);
            row.ra.offset = 8; /* one that nobody takes for the lower one's */
            if (!upper_first)
                code(go_to(edge + 8), SFU_OK);
            same(walk.frame.regs.pc, upper_first ? edge : edge + 8);
            same(walk.stack.low, edge);
            same(walk.frame.switches, 1);
            same(walk.frame.switched, true);
            row.ra.control = (uint32_t)REG(registers[abi].fp);
            code(go_to(edge + 0x10), SFU_OK);
            code(go_to(edge - 8), SFU_E_PROGRESS); /* the lower one was left at its end */
        }
    }
}

/* ---- None ---- */

/* A stack that nobody knows: the topmost frame is there all the same, a row leads to none, a trap may. Such a frame has
 * its registers. */
static void test_nowhere(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        const sfu_addr nowhere = STACK + 0x100;
        for (int one = 0; one < 2; one++) {
            sfu_addr none = one ? STACK + 0x1f00 : nowhere;
            begin(abi, SFU_PC_EXACT);
            if (one) {
                t.find_stack = NULL;
                t.stack = stacks[0];
            }
            start();
            code(go_to(none), SFU_E_STACK);
            expect_on(&stacks[0]);
            row.trap_frame = true;
            code(go_to(none), SFU_OK);
            expect_nowhere();
            same(walk.frame.switched, true);
            same(walk.frame.switches, 1);
            same(walk.frame.interrupted, true);
            same(walk.frame.regs.sp, none);
            same(walk.frame.reliable, true);
            /* from there: no word, but a caller that needs none, and a stack that is known */
            row.trap_frame = false;
            row.ra.control = (uint32_t)AT_REG(registers[abi].sp);
            row.ra.offset = 0;
            code(go_to(none), SFU_E_STACK);
            same(m.stack.reads, 0);
            row.ra.control = (uint32_t)REG(registers[abi].fp);
            code(go_to(none + 8), SFU_E_STACK);
            code(go_to(none), SFU_OK);
            expect_nowhere();
            same(walk.frame.switched, false);
            code(go_to(top.sp), SFU_E_PROGRESS);
            code(go_to(top.sp + 8), SFU_OK);
            expect_on(&stacks[0]);
            same(walk.frame.switches, 2);
            /* it begins there */
            top.sp = none;
            start();
            expect_nowhere();
            same(walk.frame.regs.sp, none);
            code(go_to(stacks[0].low), SFU_OK);
            expect_on(&stacks[0]);
            same(walk.frame.switches, 1);
        }
    }
}

static struct sfu_stack lie;

static bool find_lie(void *ctx, sfu_addr addr, struct sfu_stack *stack)
{
    (void)ctx, (void)addr;
    *stack = lie;
    return true;
}

/* What a callback says that lies is not believed: its bytes are not there, so that a read of them would be seen. */
static void test_liar(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        const sfu_addr sp = STACK + 0x1010;
        const struct {
            sfu_addr low, high;
            int want;
        } lies[] = {{sp, sp - 1, SFU_E_STACK}, {sp - 0x100, sp - 8, SFU_E_STACK},
                    {0, 0, SFU_E_STACK},       {SFU_ADDR_MAX, 0, SFU_E_STACK},
                    {sp + 8, sp, SFU_OK},      {SFU_ADDR_MAX, SFU_ADDR_MAX, SFU_OK},
                    {sp + 16, sp + 8, SFU_OK}, {sp, sp, SFU_OK}};
        for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
            for (int trap = 0; trap < 2; trap++) {
                begin(abi, SFU_PC_RETURN);
                start();
                t.find_stack = find_lie;
                lie = (struct sfu_stack){(const void *)(uintptr_t)1, lies[i].low, lies[i].high};
                row.trap_frame = trap;
                note("ABI %d, lie %zu, trap %d", abi, i, trap);
                code(go_to(sp), trap ? SFU_OK : lies[i].want);
                row.ra.control = (uint32_t)AT_REG(registers[abi].sp);
                row.ra.offset = -8;
                walk.frame.regs.pc_kind = SFU_PC_RETURN;
                if (trap || lies[i].want == SFU_OK)
                    code(go_to(sp + 8), SFU_E_STACK);
            }
        }
    }
}

/* Where find_stack is set, the one stack still has its words for sfu_read_word; a walk does not use it. */
static void test_one_stack_and_others(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        sfu_addr value = 5;
        begin(abi, SFU_PC_RETURN);
        t.stack = (struct sfu_stack){m.bytes, 0x1000, 0x1100};
        code(sfu_read_word(&t, 0x1000, false, &value), SFU_OK);
        same(m.finds, 0);
        top.sp = 0x1000;
        start();
        same(walk.stack.high, 0);
    }
}

/* The whole address space but its last byte may be one stack. A stack that is not set has nothing. */
static void test_whole_and_unset(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        sfu_addr value = 5;
        begin(abi, SFU_PC_RETURN);
        t.find_stack = NULL;
        t.stack = (struct sfu_stack){NULL, 0, SFU_ADDR_MAX};
        top.sp = 0;
        start();
        expect_on(&t.stack);
        code(go_to(max_address - below(abi)), SFU_OK);
        same(walk.frame.switches, 0);
        begin(abi, SFU_PC_RETURN);
        t.find_stack = NULL;
        start();
        expect_nowhere();
        code(sfu_read_word(&t, top.sp, false, &value), SFU_E_STACK);
        code(sfu_read_word(&t, 0, false, &value), SFU_E_STACK);
        same(value, 5);
        same(m.stack.reads, 0);
        code(go_to(top.sp + 8), SFU_E_STACK);
        t.stack = (struct sfu_stack){m.bytes, STACK, 0}; /* not set, whatever low is */
        start();
        code(go_to(top.sp + 8), SFU_E_STACK);
        top.sp = 0; /* which is not its high end */
        start();
        expect_nowhere();
    }
}

/* ---- When the callback is asked ---- */

/* Once for the topmost frame, and once for each switch; never for a frame whose SP grows on its stack, or stays. */
static void test_asked(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        begin(abi, SFU_PC_EXACT);
        m.finds = 0;
        top.sp = stacks[1].low;
        sfu_walk_start(&walk, &t, &top);
        same(m.finds, 1);
        same(asked, top.sp);
        m.finds = 0;
        row.ra.control = (uint32_t)AT_REG(registers[abi].sp);
        code(go_to(top.sp), SFU_OK); /* a leaf */
        for (sfu_addr sp = stacks[1].low + 16; sp <= stacks[1].high - 16; sp += 16) {
            row.trap_frame = sp / 16 % 3 == 0;
            code(go_to(sp), SFU_OK);
            same(walk.frame.regs.pc, sp - 16);
            same(walk.frame.switched, false);
            same(m.finds, 0);
        }
        row.trap_frame = false;
        for (unsigned i = 0; i < 3; i++) {
            static const unsigned order[] = {3, 0, 2};
            sfu_addr sp = stacks[order[i]].low + 0x100;
            m.finds = 0;
            code(go_to(sp), SFU_OK);
            same(m.finds, 1);
            same(asked, sp);
            expect_on(&stacks[order[i]]);
            code(go_to(sp + 8), SFU_OK);
            same(m.finds, 1);
        }
    }
}

/* A slot that is on another stack is looked for by its own address, and the walk stays where it is. */
static void test_slots_elsewhere(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int kinds = 0; kinds < 2; kinds++) {
            for (unsigned i = 0; i < STACKS; i++) {
                enum sfu_pc_kind kind = kinds & 1 ? SFU_PC_RETURN : SFU_PC_EXACT;
                begin(abi, kind);
                for (sfu_addr slot = stacks[i].low - 9; slot <= stacks[i].high + 1; slot++) {
                    bool whole = slot >= stacks[i].low && slot <= stacks[i].high - word_size;
                    sfu_addr value = 7;
                    if (slot == stacks[i].low + 10)
                        slot = stacks[i].high - 10;
                    top.sp = stacks[2].low + 0x80;
                    start();
                    row.ra.control = (uint32_t)AT_REG(registers[abi].fp);
                    row.cfa.control = (uint32_t)REG(registers[abi].sp);
                    row.cfa.offset = 32 + (int32_t)below(abi);
                    note("ABI %d, stack %u, slot %llx, kind %d", abi, i, (unsigned long long)slot, kind);
                    if (i == 2 && kind == SFU_PC_EXACT && slot >= stacks[i].low && slot < top.sp)
                        continue; /* dead */
                    code(go_to(slot), whole ? SFU_OK : SFU_E_STACK);
                    same(m.finds, whole && i == 2 ? 0 : 1);
                    expect_on(&stacks[2]);
                    same(walk.frame.switches, 0);
                    if (m.finds > 0)
                        same(asked, slot);
                    code(sfu_read_word(&t, slot, registers[abi].big, &value), whole ? SFU_OK : SFU_E_STACK);
                    same(whole ? pc_of(abi, value) : value, whole ? walk.frame.regs.pc : 7);
                    if (whole && slot % 8 == 0)
                        same(value, slot);
                }
            }
        }
    }
}

/* ---- Traps ---- */

/* Without find_stack a trap leads anywhere, as often as there may be switches: nothing is remembered. */
static void test_trap_down(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int limit = 0; limit <= SFU_MAX_SWITCHES + 1; limit++) {
            unsigned most = limit == 0 || limit > SFU_MAX_SWITCHES ? SFU_MAX_SWITCHES : (unsigned)limit;
            begin(abi, SFU_PC_EXACT);
            t.find_stack = NULL;
            t.stack = stacks[0];
            t.max_switches = (uint8_t)limit;
            row.trap_frame = true;
            start();
            for (unsigned i = 0; i < most; i++) {
                sfu_addr sp = i % 3 == 2 ? 8 : stacks[0].low + 0x40 - 8 * (i % 3);
                note("ABI %d, limit %d, switch %u", abi, limit, i);
                code(go_to(sp), SFU_OK);
                same(walk.frame.switched, sp <= top.sp || i > 0);
                top.sp = sp;
                if (walk.frame.switches == most)
                    break;
                code(go_to(stacks[0].low + 0x80), SFU_OK); /* up again, on the stack */
            }
            same(walk.frame.switches, most);
            code(go_to(0), SFU_E_SWITCHES);
        }
    }
}

/* A trap frame may have the interrupted frame's SP, once. Twice is a loop: with find_stack it ends there; without, it
 * is a switch, which is counted. */
static void test_trap_stays(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int one = 0; one < 2; one++) {
            begin(abi, SFU_PC_EXACT);
            if (one) {
                t.find_stack = NULL;
                t.stack = stacks[0];
            }
            row.trap_frame = true;
            start();
            code(go_to(top.sp), SFU_OK);
            same(walk.frame.switched, false);
            same(walk.frame.interrupted, true);
            same(walk.frame.saved, top.sp);
            same(m.finds, 0);
            code(go_to(top.sp), one ? SFU_OK : SFU_E_PROGRESS);
            same(walk.frame.switched, one);
            start(); /* something else in between: a leaf, which may stay as often as it is interrupted */
            code(go_to(top.sp), SFU_OK);
            row.trap_frame = false;
            code(go_to(top.sp), SFU_OK);
            same(walk.frame.regs.pc_kind, SFU_PC_RETURN);
            same(walk.frame.interrupted, false);
            same(walk.frame.saved, 0);
            row.trap_frame = true;
            code(go_to(top.sp), one ? SFU_OK : SFU_E_PROGRESS); /* a call has pushed something: it does not stay */
            same(walk.frame.switched, one);
        }
    }
}

/* A frame that a call has left does not stay, whatever leads on from it. */
static void test_return_does_not_stay(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int trap = 0; trap < 2; trap++) {
            begin(abi, SFU_PC_RETURN);
            row.trap_frame = trap;
            start();
            code(go_to(top.sp), SFU_E_PROGRESS);
            t.find_stack = NULL;
            t.stack = stacks[0];
            code(go_to(top.sp), trap ? SFU_OK : SFU_E_PROGRESS);
            same(walk.frame.switched, trap);
        }
    }
}

/* ---- Every order of visits ---- */

enum { LEVELS = 4 };

/* Below a stack's low end, at it, in its middle, at its high end. */
static sfu_addr address(unsigned stack, unsigned level)
{
    const sfu_addr levels[LEVELS] = {stacks[stack].low - 8, stacks[stack].low, stacks[stack].low + 0x200,
                                     stacks[stack].high};
    return levels[level];
}

/* Visits of stacks, from the rule: on each stack SP grows, from where it was there last. */
struct visits {
    sfu_addr last[STACKS]; /* 0: it has not been on it */
    unsigned current, switches;
    bool stayed;
};

static unsigned visited, refused;

/* Every way to go on from FROM, whose visits were V, over the first COUNT stacks, LEFT visits more, by rows that are a
 * trap frame's or not. */
static void visit(const struct sfu_walk *from, const struct visits *v, unsigned count, unsigned left, bool traps)
{
    for (unsigned i = 0; left > 0 && i < count * LEVELS * (traps ? 2 : 1); i++) {
        unsigned stack = i / LEVELS % count;
        bool trap = i >= count * LEVELS;
        sfu_addr sp = address(stack, i % LEVELS), last = v->last[stack];
        bool stays = sp == from->frame.regs.sp && from->frame.regs.pc_kind == SFU_PC_EXACT && !(trap && v->stayed);
        struct sfu_walk next;
        memcpy(&next, from, sizeof next);
        next.frame.regs.fp = sp;
        row.trap_frame = trap;
        note_numbers("stack %llu, SP %llx, %llu visits left, trap %llu", stack, sp, left, trap);
        visited++;
        if (sp <= last && !stays) {
            refused++;
            code(apply_to(&next, &row), SFU_E_PROGRESS);
        } else {
            struct visits then = *v;
            code(apply_to(&next, &row), SFU_OK);
            then.last[stack] = sp;
            then.switches += stack != v->current;
            then.current = stack;
            then.stayed = stays;
            same(next.frame.regs.sp, sp);
            same(next.frame.switched, stack != v->current);
            same(next.frame.switches, then.switches);
            same(next.frame.reliable, true);
            same(next.stack.low, stacks[stack].low);
            same(next.stack.high, stacks[stack].high);
            visit(&next, &then, count, left - 1, traps);
        }
    }
}

/* Every order of visits of up to four stacks that do not touch, from each place of the first. */
static void test_visits(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (unsigned count = 1; count <= STACKS; count++) {
            for (int traps = 0; traps < 2; traps++) {
                for (unsigned level = 0; level < LEVELS; level++) {
                    struct visits v;
                    begin(abi, traps ? SFU_PC_EXACT : SFU_PC_RETURN);
                    memset(&v, 0, sizeof v);
                    top.sp = v.last[0] = address(0, level);
                    start();
                    visited = refused = 0;
                    visit(&walk, &v, count, count == 1 ? 5 : traps ? 3 : 4, traps);
                    holds(visited > 0 && refused > 0);
                }
            }
        }
    }
}

int stack_tests(void)
{
    const struct check_test tests[] = {
        CHECK(test_edges),
        CHECK(test_overflown),
        CHECK(test_edge_slots),
        CHECK(test_overflown_slots),
        CHECK(test_top_of_touching_stack),
        CHECK(test_sp_on_no_stack),
        CHECK(test_stack_of_everything),
        CHECK(test_adjacent),
        CHECK(test_nowhere),
        CHECK(test_liar),
        CHECK(test_one_stack_and_others),
        CHECK(test_whole_and_unset),
        CHECK(test_asked),
        CHECK(test_slots_elsewhere),
        CHECK(test_trap_down),
        CHECK(test_trap_stays),
        CHECK(test_return_does_not_stay),
        CHECK(test_visits),
    };
    return check_run("stack", tests);
}
