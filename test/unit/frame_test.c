/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Applying a row: the caller's registers on every ABI, and each reason why there are none. */
#include "test.h"

static struct machine m;
static struct sfu_target t;
static struct sfu_row row;
static struct sfu_section section; /* says which ABI the target has */
static struct sfu_frame frame;

/* The CFA's rule, so that SP grows by BYTES if it is the base. */
static void grow(int abi, int bytes)
{
    row.cfa.offset = bytes + (int)below(abi);
}

/* A stack of ABI whose words hold 0x1111 times their number, a frame in its middle, and the row of an ordinary
 * function: CFA = SP + 32 (s390x: + 160), RA = *(CFA - 8), FP = *(CFA - 16). */
static void begin(int abi, enum sfu_pc_kind kind)
{
    note("ABI %d, PC kind %d", abi, kind);
    machine_init(&m, &t, registers[abi].big);
    for (unsigned i = 0; i < sizeof m.bytes / 8; i++)
        put_word(&m, STACK + 8 * i, 0x1111 * i);
    memset(&frame, 0, sizeof frame);
    frame.regs.pc = 0x1234;
    frame.regs.sp = STACK + 0x100;
    frame.regs.fp = STACK + 0x180;
    frame.regs.pc_kind = (enum sfu_pc_kind)kind;
    frame.reliable = true;
    memset(&row, 0, sizeof row);
    row.start = row.function = 0x1200;
    row.length = 0x100;
    row.abi = (uint8_t)abi;
    row.cfa.control = (uint32_t)REG(registers[abi].sp);
    grow(abi, 32);
    row.ra.control = AT_CFA;
    row.ra.offset = -8;
    row.fp.control = AT_CFA;
    row.fp.offset = -16;
    memset(&section, 0, sizeof section);
    section.abi = (enum sfu_abi)abi;
    t.sections = &section;
}

/* Nothing is saved: the RA and FP are in their registers. */
static void unsaved(int abi)
{
    row.ra.control = (uint32_t)REG(registers[abi].ra);
    row.fp.control = (uint32_t)REG(registers[abi].fp);
    row.ra.offset = row.fp.offset = 0;
}

/* The word that the stack holds at ADDR. */
static sfu_addr at(sfu_addr addr)
{
    return 0x1111 * ((addr - STACK) / 8);
}

static void test_ordinary(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        FOR_KINDS(kind)
        {
            sfu_addr sp = STACK + 0x120, cfa = sp + below(abi);
            begin(abi, (enum sfu_pc_kind)kind);
            frame.regs.ra = 0x99;
            frame.regs.has_ra = true;
            frame.saved = 0x77;
            code(apply(&t, &row, &frame), SFU_OK);
            same(frame.regs.pc, pc_of(abi, at(cfa - 8)));
            same(frame.regs.fp, at(cfa - 16));
            same(frame.regs.sp, sp);
            same(frame.regs.pc_kind, SFU_PC_RETURN);
            same(frame.regs.has_ra, false);
            same(frame.saved, 0);
            same(frame.depth, 1);
            same(frame.switches, 0);
            same(frame.switched, false);
            same(frame.guess, SFU_GUESS_NONE);
            same(frame.reliable, true);
            same(m.stack.reads, 2);
            same(m.stack.longest, word_size);
        }
    }
}

/* FP as the base; FP without a rule stays; what was not reliable stays so; a guess is not handed on. */
static void test_variations(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        sfu_addr cfa = STACK + 0x1a0 + below(abi);
        begin(abi, SFU_PC_RETURN);
        row.cfa.control = (uint32_t)REG(registers[abi].fp);
        row.fp.control = (uint32_t)REG(registers[abi].fp);
        row.fp.offset = 0;
        frame.reliable = false;
        frame.guess = SFU_GUESS_RECORD;
        frame.depth = 7;
        frame.switches = 2;
        frame.switched = true;
        code(apply(&t, &row, &frame), SFU_OK);
        same(frame.regs.pc, pc_of(abi, at(cfa - 8)));
        same(frame.regs.fp, STACK + 0x180);
        same(frame.regs.sp, STACK + 0x1a0);
        same(frame.reliable, false);
        same(frame.guess, SFU_GUESS_NONE);
        same(frame.depth, 8);
        same(frame.switches, 2);
        same(frame.switched, false);
        same(m.stack.reads, 1);
    }
}

/* Every rule dereferenced: three words of the stack, no more. */
static void test_dereferenced(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        begin(abi, SFU_PC_RETURN);
        put_word(&m, STACK + 0x108 + below(abi), STACK + 0x400); /* the caller's CFA */
        row.cfa.control = (uint32_t)AT_REG(registers[abi].sp);
        grow(abi, 8);
        row.ra.control = (uint32_t)AT_REG(registers[abi].fp);
        row.ra.offset = -0x20;
        row.fp.control = (uint32_t)AT_REG(registers[abi].sp);
        row.fp.offset = 0x28;
        code(apply(&t, &row, &frame), SFU_OK);
        same(frame.regs.sp, STACK + 0x400 - below(abi));
        same(frame.regs.pc, at(STACK + 0x160));
        same(frame.regs.fp, at(STACK + 0x128));
        same(m.stack.reads, 3);
    }
}

/* Values that are not dereferenced: RA = SP + 1, FP = CFA + 3. */
static void test_values(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        begin(abi, SFU_PC_RETURN);
        row.ra.control = (uint32_t)REG(registers[abi].sp);
        row.ra.offset = 1;
        row.fp.control = 4; /* the unused bit: CFA + offset */
        row.fp.offset = 3;
        code(apply(&t, &row, &frame), SFU_OK);
        same(frame.regs.pc, pc_of(abi, STACK + 0x101));
        same(frame.regs.fp, STACK + 0x123 + below(abi));
        same(m.stack.reads, 0);
    }
}

/* A leaf function: the RA is in the link register of the first frame, and SP may stay where it is. */
static void test_link_register(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        begin(abi, SFU_PC_EXACT);
        grow(abi, 0);
        unsaved(abi);
        frame.regs.ra = 0x5678;
        frame.regs.has_ra = registers[abi].link;
        if (!registers[abi].link) {
            code(apply(&t, &row, &frame), SFU_E_REGISTER); /* no such register */
            frame.regs.pc_kind = SFU_PC_RETURN;
            code(apply(&t, &row, &frame), SFU_E_NO_RA);
            continue;
        }
        code(apply(&t, &row, &frame), SFU_OK);
        same(frame.regs.pc, 0x5678);
        same(frame.regs.sp, STACK + 0x100);
        same(frame.regs.fp, STACK + 0x180);
        same(frame.regs.has_ra, false);
        same(frame.regs.pc_kind, SFU_PC_RETURN);
        same(m.stack.reads, 0);
        code(apply(&t, &row, &frame), SFU_E_NO_RA); /* it made a call since */
        frame.regs.has_ra = true;
        code(apply(&t, &row, &frame), SFU_E_NO_RA);
    }
}

/* A link register that the frame does not hold is asked for like any other, where no call was made since. */
static void test_link_register_asked(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        if (!registers[abi].link)
            continue;
        begin(abi, SFU_PC_EXACT);
        unsaved(abi);
        code(apply(&t, &row, &frame), SFU_E_REGISTER);
        t.reg = machine_reg;
        code(apply(&t, &row, &frame), SFU_E_REGISTER);
        m.known = (sfu_addr)1 << registers[abi].ra;
        m.reg[registers[abi].ra] = 0x9876;
        code(apply(&t, &row, &frame), SFU_OK);
        same(frame.regs.pc, 0x9876);
    }
}

/* Rules that name registers: SP, FP and the known RA are the frame's; others are asked for in an exact frame. */
static void test_registers(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        begin(abi, SFU_PC_EXACT);
        t.reg = machine_reg;
        m.known = SFU_ADDR_MAX;
        for (unsigned i = 0; i < 34; i++)
            m.reg[i] = 0x3300 + i;
        frame.regs.ra = 0x5678;
        frame.regs.has_ra = true;
        for (unsigned reg = 0; reg < 34; reg++) {
            struct sfu_frame f = frame;
            bool own = reg == registers[abi].sp || reg == registers[abi].fp || reg == registers[abi].ra;
            sfu_addr value = reg == registers[abi].sp   ? frame.regs.sp
                             : reg == registers[abi].fp ? frame.regs.fp
                                                        : frame.regs.ra;
            note("ABI %d, register %u", abi, reg);
            m.asked = 0;
            row.ra.control = row.fp.control = (uint32_t)REG(reg);
            row.ra.offset = 2;
            row.fp.offset = -2;
            code(apply(&t, &row, &f), SFU_OK);
            same(f.regs.pc, pc_of(abi, (own ? value : 0x3300 + reg) + 2));
            same(f.regs.fp, (own ? value : 0x3300 + reg) - 2);
            same(m.asked, own ? 0 : 2);
        }
        row.ra.control = (uint32_t)REG(34); /* the callback does not know it */
        code(apply(&t, &row, &frame), SFU_E_REGISTER);
        row.ra.control = 0xfffffff9;
        code(apply(&t, &row, &frame), SFU_E_REGISTER);
        t.reg = NULL;
        row.ra.control = (uint32_t)REG(2);
        code(apply(&t, &row, &frame), SFU_E_REGISTER);
    }
}

/* The CFA from a register of a topmost frame (stack clash probes): r11 + 16400. */
static void test_cfa_register(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        begin(abi, SFU_PC_EXACT);
        t.reg = machine_reg;
        m.known = 1 << 3;
        m.reg[3] = STACK + 0x140;
        row.cfa.control = (uint32_t)REG(3);
        code(apply(&t, &row, &frame), SFU_OK);
        same(frame.regs.sp, STACK + 0x160);
        begin(abi, SFU_PC_EXACT);
        row.cfa.control = (uint32_t)REG(3);
        code(apply(&t, &row, &frame), SFU_E_REGISTER);
        row.cfa.control = (uint32_t)AT_REG(3);
        code(apply(&t, &row, &frame), SFU_E_REGISTER);
    }
}

/* After a call, only SP and FP are known: each other register, in each rule, is unsafe, and is not asked for. */
static void test_unsafe(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (unsigned reg = 0; reg < 34; reg++) {
            bool safe = reg == registers[abi].sp || reg == registers[abi].fp;
            for (int rule = 0; rule < 3; rule++) {
                struct sfu_rule *r = rule == 0 ? &row.cfa : rule == 1 ? &row.ra : &row.fp;
                begin(abi, SFU_PC_RETURN);
                note("ABI %d, register %u, rule %d", abi, reg, rule);
                t.reg = machine_reg;
                m.known = SFU_ADDR_MAX;
                frame.regs.has_ra = true;
                r->control = (uint32_t)REG(reg);
                r->offset = rule == 0 ? 64 + (int)below(abi) : 0;
                code(apply(&t, &row, &frame), safe                                    ? SFU_OK
                                              : rule == 1 && reg == registers[abi].ra ? SFU_E_NO_RA
                                                                                      : SFU_E_UNSAFE);
                same(m.asked, 0);
            }
        }
    }
}

/* What is no frame at all. */
static void test_kinds(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        begin(abi, SFU_PC_RETURN);
        row.kind = SFU_ROW_OUTERMOST;
        code(apply(&t, &row, &frame), SFU_END);
        row.kind = SFU_ROW_ASK;
        row.trap_frame = true;
        code(apply(&t, &row, &frame), SFU_E_TRAP);
        same(m.stack.reads, 0);
    }
}

/* A CFA that counts from no register counts from 0. No table has such a rule; a row of the caller's may. */
static void test_cfa_of_no_register(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        begin(abi, SFU_PC_RETURN);
        row.cfa.control = 0;
        row.cfa.offset = word_size == 4 ? (int32_t)(stack_base + 0x1c0) : 0x1c0;
        row.ra.control = row.fp.control = 4; /* CFA + offset: nothing is read */
        code(apply(&t, &row, &frame), word_size == 4 ? SFU_OK : SFU_E_PROGRESS);
        if (word_size == 4)
            same(frame.regs.sp, stack_base + 0x1c0 - below(abi));
    }
}

/* Sums that leave the address space, at either end, in each rule; the last ones that do not. */
static void test_addresses(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        begin(abi, SFU_PC_RETURN);
        t.reg = machine_reg;
        frame.regs.fp = max_address - 31;
        row.cfa.control = (uint32_t)REG(registers[abi].fp);
        row.ra.control = row.fp.control = 4; /* CFA + offset: nothing is read */
        row.ra.offset = row.fp.offset = 0;
        code(apply(&t, &row, &frame), SFU_E_ADDRESS);
        row.cfa.offset = INT32_MAX;
        code(apply(&t, &row, &frame), SFU_E_ADDRESS);
        frame.regs.fp = 31;
        grow(abi, -32);
        code(apply(&t, &row, &frame), SFU_E_ADDRESS);
        row.cfa.offset = INT32_MIN;
        code(apply(&t, &row, &frame), SFU_E_ADDRESS);
        frame.regs.fp = 0;
        grow(abi, 8); /* SP = 8: the RA is below 0 */
        row.ra.offset = -200;
        code(apply(&t, &row, &frame), SFU_E_ADDRESS);
        row.ra.offset = 0;
        row.fp.offset = -200;
        code(apply(&t, &row, &frame), SFU_E_ADDRESS);
        row.fp.offset = 0;
        if (below(abi) > 0) {
            grow(abi, -8); /* CFA = 152 */
            code(apply(&t, &row, &frame), SFU_E_ADDRESS);
        }
        /* the largest CFA there is, and the last word that can be read */
        begin(abi, SFU_PC_RETURN);
        frame.regs.fp = max_address - 32 - below(abi);
        row.cfa.control = (uint32_t)REG(registers[abi].fp);
        row.ra.offset = -7; /* the word wraps, in 64 bits; of 4 bytes it cannot be read */
        code(apply(&t, &row, &frame), SFU_E_STACK);
        same(m.stack.reads, word_size == 8 ? 0 : 1);
        m.stack.addr = max_address - (sfu_addr)(sizeof m.bytes - 1);
        row.ra.offset = -8; /* reaches up to the last byte but one, or further down */
        row.fp.control = 4;
        row.fp.offset = 0;
        code(apply(&t, &row, &frame), SFU_OK);
        same(frame.regs.sp, max_address - below(abi));
        /* each rule for itself: the one that leaves the address space counts from where it has not been left */
        frame.regs.fp = max_address - 32 - below(abi);
        row.ra.control = 4;
        row.ra.offset = 200;
        code(apply(&t, &row, &frame), SFU_E_ADDRESS);
        row.ra.offset = 0;
        row.fp.offset = 200;
        code(apply(&t, &row, &frame), SFU_E_ADDRESS);
        frame.regs.fp = max_address - 31;
        row.ra.control = row.fp.control = (uint32_t)REG(registers[abi].fp);
        row.fp.offset = 0;
        code(apply(&t, &row, &frame), SFU_E_ADDRESS);
    }
}

/* Stack memory that cannot be read: the k-th read fails, for every k. */
static void test_unreadable(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        unsigned k;
        for (k = 1; k < 10; k++) {
            int result;
            begin(abi, SFU_PC_RETURN);
            put_word(&m, STACK + 0x108 + below(abi), STACK + 0x400);
            row.cfa.control = (uint32_t)AT_REG(registers[abi].sp);
            grow(abi, 8);
            m.stack.fail_at = k;
            result = apply(&t, &row, &frame);
            if (result == SFU_OK)
                break;
            code(result, SFU_E_STACK);
            same(m.stack.reads, k);
        }
        same(k, 4);
        begin(abi, SFU_PC_RETURN);
        frame.regs.sp = STACK + sizeof m.bytes; /* just outside */
        code(apply(&t, &row, &frame), SFU_E_STACK);
    }
}

/* SP must grow. It may stay only where a leaf returns. */
static void test_progress(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        begin(abi, SFU_PC_RETURN);
        grow(abi, 0);
        code(apply(&t, &row, &frame), SFU_E_PROGRESS);
        grow(abi, -8);
        code(apply(&t, &row, &frame), SFU_E_PROGRESS);
        grow(abi, 8);
        code(apply(&t, &row, &frame), SFU_OK);
        begin(abi, SFU_PC_EXACT);
        t.red_zone = 24;
        grow(abi, -8);
        row.ra.offset = 0;
        code(apply(&t, &row, &frame), SFU_E_PROGRESS);
    }
}

/* A frame that a trap interrupted is exact, knows where the trap's registers are, and may lie on another stack. */
static void test_signal_row(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        FOR_KINDS(kind)
        {
            begin(abi, (enum sfu_pc_kind)kind);
            row.trap_frame = true;
            code(apply(&t, &row, &frame), SFU_OK);
            same(frame.regs.pc_kind, SFU_PC_EXACT);
            same(frame.saved, STACK + 0x100);
            same(frame.regs.has_ra, false);
            same(frame.switched, false);
            same(frame.switches, 0);
            same(frame.regs.sp, STACK + 0x120);
            /* down, to another stack: nothing but a trap can */
            begin(abi, (enum sfu_pc_kind)kind);
            row.trap_frame = true;
            t.red_zone = 0x20;
            grow(abi, -0x20);
            row.ra.offset = row.fp.offset = 0;
            code(apply(&t, &row, &frame), SFU_OK);
            same(frame.regs.sp, STACK + 0xe0);
            same(frame.switched, true);
            same(frame.switches, 1);
            same(frame.saved, STACK + 0x100);
        }
    }
}

/* Stacks that a callback tells apart: down only into another one, and not more often than the limit. */
static void test_stacks(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int sig = 0; sig < 2; sig++) {
            begin(abi, SFU_PC_RETURN);
            t.find_stack = machine_find_stack;
            t.red_zone = UINT16_MAX;
            row.trap_frame = sig;
            frame.regs.sp = STACK + 0x1100;
            grow(abi, -8); /* within the stack */
            row.ra.offset = 0;
            row.fp.offset = 0;
            code(apply(&t, &row, &frame), SFU_E_PROGRESS);
            grow(abi, 0);
            code(apply(&t, &row, &frame), SFU_E_PROGRESS);
            grow(abi, -0x108); /* to the one below */
            frame.switches = 14;
            code(apply(&t, &row, &frame), SFU_OK);
            same(frame.switched, true);
            same(frame.switches, 15);
            same(frame.regs.sp, STACK + 0xff8);
            grow(abi, 16); /* and to the one above */
            code(apply(&t, &row, &frame), SFU_OK);
            same(frame.switched, true);
            same(frame.switches, 16);
            code(apply(&t, &row, &frame), SFU_OK); /* onwards in this one */
            same(frame.switched, false);
            same(frame.switches, 16);
            grow(abi, -0x100);
            code(apply(&t, &row, &frame), SFU_E_SWITCHES); /* SFU_MAX_SWITCHES */
            t.max_switches = 255;
            code(apply(&t, &row, &frame), SFU_E_SWITCHES);
            frame.switches = 15;
            t.max_switches = 15;
            code(apply(&t, &row, &frame), SFU_E_SWITCHES);
            t.max_switches = 16;
            code(apply(&t, &row, &frame), SFU_OK);
            same(frame.switches, 16);
            t.max_switches = 1;
            grow(abi, 0x100);
            code(apply(&t, &row, &frame), SFU_E_SWITCHES);
            frame.switches = 0;
            code(apply(&t, &row, &frame), SFU_OK);
            t.max_switches = 255;
            frame.switches = SFU_MAX_SWITCHES;
            grow(abi, -0x200);
            code(apply(&t, &row, &frame), SFU_E_SWITCHES);
        }
    }
}

/* Not more frames than the limit, the first one included. */
static void test_depth(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        begin(abi, SFU_PC_RETURN);
        t.max_frames = 1;
        code(apply(&t, &row, &frame), SFU_E_DEPTH);
        t.max_frames = 2;
        code(apply(&t, &row, &frame), SFU_OK);
        code(apply(&t, &row, &frame), SFU_E_DEPTH);
        t.max_frames = 0;
        frame.depth = SFU_MAX_FRAMES - 2;
        code(apply(&t, &row, &frame), SFU_OK);
        code(apply(&t, &row, &frame), SFU_E_DEPTH);
        t.max_frames = UINT32_MAX;
        frame.depth = UINT32_MAX - 1;
        code(apply(&t, &row, &frame), SFU_E_DEPTH);
        t.max_frames = 2; /* set while the walk was deeper */
        frame.depth = 7;
        code(apply(&t, &row, &frame), SFU_E_DEPTH);
    }
}

/* A signed RA: bits 48 to 63 but 55 are the PAC, unless the mask says otherwise; bit 55 tells what they were. */
static void test_pac(void **state)
{
    static const struct {
        uint64_t mask, ra, pc;
    } cases[] = {
        {0, UINT64_C(0x0000aaaabbbbcccc), UINT64_C(0x0000aaaabbbbcccc)},
        {0, UINT64_C(0xff7faaaabbbbcccc), UINT64_C(0x0000aaaabbbbcccc)},
        {0, UINT64_C(0x1234aaaabbbbcccc), UINT64_C(0x0000aaaabbbbcccc)},
        {0, UINT64_C(0x00800aaabbbbcccc), UINT64_C(0xffff0aaabbbbcccc)},
        {0, UINT64_C(0x5aaf8aaabbbbcccc), UINT64_C(0xffff8aaabbbbcccc)},
        {UINT64_C(0x007f000000000000), UINT64_C(0x1234aaaabbbbcccc), UINT64_C(0x1200aaaabbbbcccc)},
        {UINT64_C(0x007f000000000000), UINT64_C(0x12a4aaaabbbbcccc), UINT64_C(0x12ffaaaabbbbcccc)},
        {UINT64_C(0xffffff8000000000), UINT64_C(0xdb7edcb987654321), UINT64_C(0x0000003987654321)},
        {UINT64_C(0xffffff8000000000), UINT64_C(0xdbfedcb987654321), UINT64_C(0xffffffb987654321)},
        {UINT64_C(0xfffe000000000000), UINT64_C(0x1235aaaabbbbcccc), UINT64_C(0x0001aaaabbbbcccc)},
        {1, 0x12345, 0x12344},
    };
    (void)state;
    FOR_ABIS(abi)
    {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0] && word_size == 8; i++) {
            for (int where = 0; where < 2; where++) {
                begin(abi, SFU_PC_EXACT);
                note("ABI %d, case %zu", abi, i);
                t.pac_mask = cases[i].mask;
                frame.regs.ra = (sfu_addr)cases[i].ra;
                frame.regs.has_ra = true;
                put_word(&m, STACK + 0x118 + below(abi), (sfu_addr)cases[i].ra);
                if (where == 0 && registers[abi].link) {
                    row.ra.control = (uint32_t)REG(registers[abi].ra); /* the link register of a topmost frame */
                    row.ra.offset = 0;
                }
                row.signed_ra = abi <= SFU_AARCH64;
                code(apply(&t, &row, &frame), SFU_OK);
                same(frame.regs.pc, abi <= SFU_AARCH64 ? cases[i].pc : cases[i].ra);
                begin(abi, SFU_PC_EXACT);
                t.pac_mask = cases[i].mask;
                put_word(&m, STACK + 0x118 + below(abi), (sfu_addr)cases[i].ra);
                code(apply(&t, &row, &frame), SFU_OK); /* not signed: left alone */
                same(frame.regs.pc, cases[i].ra);
            }
        }
    }
}

/* s390x: the CFA lies 160 above SP at the call, whatever register it comes from. */
static void test_s390x(void **state)
{
    (void)state;
    if (!built(3, SFU_S390X, true))
        return;
    (void)use_abi(SFU_S390X);
    begin(SFU_S390X, SFU_PC_EXACT);
    t.reg = machine_reg;
    m.known = 7 << 16;
    m.reg[16] = 0xabcde; /* f0 holds the RA, f2 the FP: leaf functions */
    m.reg[17] = 0x12345;
    row.cfa.offset = 160;
    row.ra.control = (uint32_t)REG(16);
    row.fp.control = (uint32_t)REG(17);
    row.ra.offset = row.fp.offset = 0;
    code(apply(&t, &row, &frame), SFU_OK);
    same(frame.regs.sp, STACK + 0x100);
    same(frame.regs.pc, 0xabcde);
    same(frame.regs.fp, 0x12345);
    begin(SFU_S390X, SFU_PC_RETURN);
    row.cfa.offset = 0x101; /* in bytes, of which there may be any number */
    row.ra.offset = -9;
    row.fp.offset = -17;
    code(apply(&t, &row, &frame), SFU_OK);
    same(frame.regs.sp, STACK + 0x201 - 160);
    same(frame.regs.pc, at(STACK + 0x200 - 8));
    same(frame.regs.fp, at(STACK + 0x200 - 16));
    for (int over = 0; over < 2; over++) { /* SP cannot lie below 0 */
        begin(SFU_S390X, SFU_PC_RETURN);
        t.find_stack = machine_find_stack; /* down, to another stack */
        row.cfa.control = (uint32_t)REG(11);
        row.cfa.offset = 160 - over;
        row.ra.control = row.fp.control = 4;
        row.ra.offset = row.fp.offset = 0;
        frame.regs.fp = 0;
        code(apply(&t, &row, &frame), over ? SFU_E_ADDRESS : SFU_OK);
        same(frame.regs.sp, over ? STACK + 0x100 : 0);
    }
    (void)use_abi(SOME_ABI);
}

/* ---- The bytes of a stack ---- */

enum { LOW = 0x80, HIGH = 0x280 }; /* from STACK */

/* Begins with an ordinary row whose RA is at OFFSET from STACK, and a stack from LOW to HIGH: a copy of its own, so
 * that a byte read on either side of it is seen, or what the callback reads. FP stays in its register. */
static void begin_stack(int abi, sfu_addr offset, bool mapped)
{
    static uint8_t *copy;
    begin(abi, SFU_PC_RETURN);
    note("ABI %d, a word at %llx, %s", abi, (unsigned long long)offset, mapped ? "mapped" : "by the callback");
    free(copy);
    copy = malloc(HIGH - LOW);
    assert_non_null(copy);
    memcpy(copy, m.bytes + LOW, HIGH - LOW);
    t.stack = (struct sfu_stack){mapped ? copy : NULL, STACK + LOW, STACK + HIGH};
    row.ra.offset = (int32_t)(offset - 0x120 - below(abi));
    row.fp.control = (uint32_t)REG(registers[abi].fp);
    row.fp.offset = 0;
}

/* The word at OFFSET from STACK. */
static sfu_addr word_at(int abi, sfu_addr offset)
{
    sfu_addr value = 0;
    for (unsigned i = 0; i < word_size; i++)
        value = value << 8 | m.bytes[offset + (registers[abi].big ? i : word_size - 1 - i)];
    return value;
}

/* A word is read if it lies on the stack with all of its bytes, at any alignment, mapped or through the callback. */
static void test_stack_bytes(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int mapped = 0; mapped < 2; mapped++) {
            for (sfu_addr offset = LOW - 17; offset <= HIGH + 9; offset++) {
                sfu_addr value = 0x77;
                bool inside = offset >= LOW && offset <= HIGH - word_size;
                if (offset == LOW + 17)
                    offset = HIGH - 17;
                begin_stack(abi, offset, mapped);
                code(apply(&t, &row, &frame), inside ? SFU_OK : SFU_E_STACK);
                same(frame.regs.pc, inside ? pc_of(abi, word_at(abi, offset)) : 0x1234);
                same(m.stack.reads, inside && !mapped ? 1 : 0);
                code(seen(sfu_read_word(&t, STACK + offset, registers[abi].big, &value)),
                     inside ? SFU_OK : SFU_E_STACK);
                same(value, inside ? word_at(abi, offset) : 0x77);
                begin_stack(abi, offset, mapped);
                t.read = NULL;
                code(apply(&t, &row, &frame), inside && mapped ? SFU_OK : SFU_E_STACK);
                same(m.stack.reads, 0);
            }
        }
    }
}

/* The bytes count: what the callback would say does not. */
static void test_stack_bytes_first(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        begin_stack(abi, 0x200, true);
        put_word(&m, STACK + 0x200, 0x4711);
        code(apply(&t, &row, &frame), SFU_OK);
        same(frame.regs.pc, pc_of(abi, at(STACK + 0x200)));
        begin_stack(abi, 0x200, false);
        put_word(&m, STACK + 0x200, 0x4711);
        code(apply(&t, &row, &frame), SFU_OK);
        same(frame.regs.pc, pc_of(abi, 0x4711));
    }
}

/* Each of the three rules is read from the bytes. */
static void test_stack_bytes_rules(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        begin(abi, SFU_PC_RETURN);
        t.stack = (struct sfu_stack){m.bytes, STACK, STACK + sizeof m.bytes};
        t.read = NULL;
        put_word(&m, STACK + 0x108 + below(abi), STACK + 0x400);
        row.cfa.control = (uint32_t)AT_REG(registers[abi].sp);
        grow(abi, 8);
        code(apply(&t, &row, &frame), SFU_OK);
        same(frame.regs.sp, STACK + 0x400 - below(abi));
        same(frame.regs.pc, pc_of(abi, at(STACK + 0x400 - 8)));
        same(frame.regs.fp, at(STACK + 0x400 - 16));
        same(m.stack.reads, 0);
    }
}

/* Stacks that hold no word, those of a callback that lies among them, and no stack at all. */
static void test_stack_without_words(void **state)
{
    static const struct {
        sfu_addr low, high;
    } none[] = {{0x200, 0x200}, {0x200, 0x207}, {0x201, 0x209}, {0x1f9, 0x201}, {0x208, 0x200}, {0x300, 0x100}};
    (void)state;
    FOR_ABIS(abi)
    {
        for (size_t i = 0; i <= sizeof none / sizeof none[0]; i++) {
            for (int mapped = 0; mapped < 2; mapped++) {
                sfu_addr value = 0x77;
                begin_stack(abi, 0x200, mapped);
                t.stack.low = t.stack.high = 0;
                if (i < sizeof none / sizeof none[0]) {
                    t.stack.low = STACK + none[i].low;
                    t.stack.high = STACK + none[i].high - (none[i].high == 0x207 ? 8 - word_size : 0);
                }
                code(apply(&t, &row, &frame), SFU_E_STACK);
                code(sfu_read_word(&t, STACK + 0x200, false, &value), SFU_E_STACK);
                same(value, 0x77);
                same(m.stack.reads, 0);
            }
        }
    }
}

/* A stack at either end of the address space. */
static void test_stack_ends(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int top = 0; top < 2; top++) {
            for (int over = 0; over < 2; over++) {
                sfu_addr low = top ? max_address - 0x1ff : 0, word = top ? max_address - word_size : 0;
                begin_stack(abi, 0x200, true);
                t.stack.low = low;
                t.stack.high = low + 0x1ff; /* the last byte of the address space can be on no stack */
                t.read = NULL;
                frame.regs.sp = low;
                row.ra.control = row.fp.control = (uint32_t)AT_REG(registers[abi].fp);
                row.ra.offset = row.fp.offset = 0;
                frame.regs.fp = top ? word + (unsigned)over : word - (unsigned)over;
                code(apply(&t, &row, &frame), !over                         ? SFU_OK
                                              : frame.regs.fp > max_address ? SFU_E_ADDRESS
                                                                            : SFU_E_STACK);
                same(over || frame.regs.fp == word_at(abi, top ? LOW + 0x1ff - word_size : LOW), true);
            }
        }
    }
}

/* The byte order of sfu_read_word is the caller's, whatever the host has. The size of a word is that of the ABI of the
 * target's sections. */
static void test_read_word(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int i = 0; i < 4; i++) {
            bool big = i & 1, mapped = i & 2;
            sfu_addr value = 0;
            begin(abi, SFU_PC_EXACT);
            m.big = big;
            put_word(&m, STACK + 3, (sfu_addr)(word_size == 8 ? UINT64_C(0x0123456789abcdef) : 0x89abcdef));
            if (mapped)
                t.stack = (struct sfu_stack){m.bytes, STACK, STACK + sizeof m.bytes};
            code(sfu_read_word(&t, STACK + 3, big, &value), SFU_OK);
            same(value, (sfu_addr)(word_size == 8 ? UINT64_C(0x0123456789abcdef) : 0x89abcdef));
            code(sfu_read_word(&t, STACK + 3, !big, &value), SFU_OK);
            same(value, word_size == 8 ? UINT64_C(0xefcdab8967452301) : 0xefcdab89);
            same(m.stack.reads, mapped ? 0 : 2);
        }
    }
#ifndef SFU_ABI
    sfu_addr value = 0;
    (void)use_abi(SFU_AMD64);
    begin(SFU_AMD64, SFU_PC_EXACT);
    t.sections = NULL; /* nothing says what a word is: 8 bytes */
    put_word(&m, STACK + 8, UINT64_C(0x0123456789abcdef));
    code(sfu_read_word(&t, STACK + 8, false, &value), SFU_OK);
    same(value, UINT64_C(0x0123456789abcdef));
#endif
}

/* A row that a caller made, with the number of no ABI that is built in, is refused: it gets no other ABI's
 * registers. */
static void test_made_rows(void **state)
{
    (void)state;
    for (int abi = 0; abi <= 255; abi++) {
#ifdef SFU_ABI
        bool exists = abi == SFU_ABI;
#else
        bool exists = abi <= LAST_ABI && abis[abi].id == abi && abi != 0;
#endif
        for (int kind = SFU_ROW_RULES; kind <= SFU_ROW_ASK; kind++) {
            begin(SOME_ABI, SFU_PC_EXACT);
            t.reg = machine_reg;
            m.known = SFU_ADDR_MAX;
            row.abi = (uint8_t)abi;
            row.kind = (uint8_t)kind;
            row.cfa.control = (uint32_t)REG(0);
            row.ra.control = row.fp.control = (uint32_t)REG(0);
            row.ra.offset = row.fp.offset = 0;
            m.reg[0] = STACK + 0x200;
            if (exists && abis[abi].word == 4)
                continue;
            note("ABI %d, kind %d", abi, kind);
            code(apply(&t, &row, &frame), !exists                     ? SFU_E_ABI
                                          : kind == SFU_ROW_RULES     ? SFU_OK
                                          : kind == SFU_ROW_OUTERMOST ? SFU_END
                                                                      : SFU_E_TRAP);
        }
    }
}

/* ---- The red zone: what an interrupted function has left below SP, and what an interrupt may have taken ---- */

static const uint16_t zones[] = {0, 8, 128, 288, UINT16_MAX};

/* A frame in the middle of a stack that is large enough for every red zone: its words hold what they did, and FP
 * points below them. */
static uint8_t deep[2 * UINT16_MAX + 1024];

static void begin_zone(int abi, enum sfu_pc_kind kind, uint16_t zone)
{
    begin(abi, kind);
    note("ABI %d, PC kind %d, red zone of %u", abi, kind, zone);
    m.stack.bytes = deep;
    m.stack.addr = STACK;
    m.stack.size = sizeof deep;
    frame.regs.sp = STACK + UINT16_MAX + 512;
    t.red_zone = zone;
}

/* A word of it. */
static sfu_addr filled(void)
{
    return (sfu_addr)(deep[0] * UINT64_C(0x0101010101010101)) & max_address;
}

/* Makes RULE what lies DEPTH bytes below SP. */
static void lies_below(int abi, struct sfu_rule *rule, int32_t depth)
{
    rule->control = (uint32_t)AT_REG(registers[abi].sp);
    rule->offset = -depth;
}

/* What the registers of a frame hold whose slots are dead. */
enum { LINK = 0x5550, FAR = 0x180 };

/* FP's slot at the far end of the red zone is read; one byte below it is not, and FP is in its register. After a call
 * the whole stack is the function's own. */
static void test_red_zone(void **state)
{
    sfu_addr there;
    (void)state;
    memset(deep, 0x22, sizeof deep);
    FOR_ABIS(abi)
    {
        there = filled();
        for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
            FOR_KINDS(kind)
            {
                for (int32_t over = -9; over <= 9; over++) { /* at any alignment */
                    bool dead = over > 0 && kind == SFU_PC_EXACT;
                    if (zones[i] + over < 0)
                        continue;
                    begin_zone(abi, (enum sfu_pc_kind)kind, zones[i]);
                    lies_below(abi, &row.fp, zones[i] + over);
                    row.ra.control = 4;
                    code(apply(&t, &row, &frame), SFU_OK);
                    same(frame.regs.fp, dead ? STACK + FAR : there);
                    same(m.stack.reads, dead ? 0 : 1);
                }
            }
        }
    }
}

static sfu_addr asked_slot;

static bool notes_slot(void *ctx, const struct sfu_frame *f, sfu_addr slot, sfu_addr *ra)
{
    (void)ctx, (void)f, (void)ra;
    asked_slot = slot;
    return false;
}

/* So is the RA's, where the ABI has a register for it: the frame's own, or the one that the callback knows, and with
 * its PAC, if the row says so. If nobody knows the register, or there is none, there is no caller. */
static void test_dead_ra(void **state)
{
    sfu_addr there, pac;
    enum { UNKNOWN, BY_FRAME, BY_CALLBACK, KNOWN };
    (void)state;
    FOR_ABIS(abi)
    {
        there = filled();
        pac = (sfu_addr)(word_size == 8 ? UINT64_C(0x5a) << 48 : 0);
        for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
            FOR_KINDS(kind)
            {
                for (int known = UNKNOWN; known < KNOWN; known++) {
                    for (int is_signed = 0; is_signed < (abi <= SFU_AARCH64 ? 2 : 1); is_signed++) {
                        for (int32_t over = -9; over <= 9; over++) {
                            bool dead = over > 0 && kind == SFU_PC_EXACT;
                            if (zones[i] + over < 0)
                                continue;
                            begin_zone(abi, (enum sfu_pc_kind)kind, zones[i]);
                            note("ABI %d, zone %u + %d, known %d, signed %d", abi, zones[i], over, known,
                                 is_signed);
                            lies_below(abi, &row.ra, zones[i] + over);
                            row.fp.control = 4;
                            row.signed_ra = is_signed;
                            t.original_ra = notes_slot;
                            t.reg = machine_reg;
                            frame.regs.has_ra = known == BY_FRAME;
                            frame.regs.ra = LINK | pac;
                            if (known == BY_CALLBACK && registers[abi].link) {
                                m.known = (sfu_addr)1 << registers[abi].ra;
                                m.reg[registers[abi].ra] = LINK | pac;
                            }
                            asked_slot = 1;
                            code(apply(&t, &row, &frame), !dead                  ? SFU_OK
                                                          : !registers[abi].link ? SFU_E_DEAD_SLOT
                                                          : known == UNKNOWN     ? SFU_E_REGISTER
                                                                                 : SFU_OK);
                            same(m.stack.reads, dead ? 0 : 1);
                            if (!dead) {
                                same(frame.regs.pc, is_signed ? there & ~(UINT64_C(0xffff) << 48) : there);
                                same(asked_slot, STACK + UINT16_MAX + 512 - (sfu_addr)(zones[i] + over));
                            } else if (registers[abi].link && known != UNKNOWN) {
                                same(frame.regs.pc, is_signed ? LINK : LINK | pac);
                                same(asked_slot, 0);
                                same(frame.reliable, true);
                            }
                        }
                    }
                }
            }
        }
    }
}

/* A CFA has no register to be in. */
static void test_dead_cfa(void **state)
{
    sfu_addr there;
    (void)state;
    FOR_ABIS(abi)
    {
        if (word_size == 4) /* such a CFA would lie below SP */
            memset(deep, 0x82, sizeof deep);
        there = filled();
        for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
            FOR_KINDS(kind)
            {
                for (int trap = 0; trap < 2; trap++) {
                    for (int32_t over = -9; over <= 9; over++) {
                        bool dead = over > 0 && kind == SFU_PC_EXACT;
                        if (zones[i] + over < 0)
                            continue;
                        begin_zone(abi, (enum sfu_pc_kind)kind, zones[i]);
                        lies_below(abi, &row.cfa, zones[i] + over);
                        row.ra.control = row.fp.control = 4;
                        row.ra.offset = row.fp.offset = 0;
                        row.trap_frame = trap;
                        frame.regs.has_ra = true;
                        t.stack.high = SFU_ADDR_MAX;
                        code(apply(&t, &row, &frame), dead ? SFU_E_DEAD_SLOT : SFU_OK);
                        same(frame.regs.sp, dead ? STACK + UINT16_MAX + 512 : there - below(abi));
                        same(m.stack.reads, dead ? 0 : 1);
                    }
                }
            }
        }
        memset(deep, 0x22, sizeof deep);
    }
}

/* clang 16's row at `autiasp`, behind `ldp x29, x30, [sp, 16]; add sp, sp, 32`: CFA = SP, RA = *(CFA - 8), signed, FP =
 * *(CFA - 16). An exception has overwritten both slots with 0xbad. The trap frame has x30. */
static void test_dead_epilogue(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int fixed = 0; fixed < 2; fixed++) {
            begin(abi, SFU_PC_EXACT);
            put_word(&m, STACK + 0xf0, 0xbad);
            put_word(&m, STACK + 0xf8, 0xbad);
            row.cfa.offset = (int32_t)below(abi);
            row.ra.offset = -(int32_t)below(abi) - 8;
            row.fp.offset = -(int32_t)below(abi) - 16;
            row.signed_ra = abi <= SFU_AARCH64;
            frame.regs.has_ra = fixed;
            frame.regs.ra = LINK | (abi <= SFU_AARCH64 ? (sfu_addr)(UINT64_C(0xff7f) << 48) : 0);
            code(apply(&t, &row, &frame), !registers[abi].link ? SFU_E_DEAD_SLOT : fixed ? SFU_OK : SFU_E_REGISTER);
            same(m.stack.reads, 0);
            if (registers[abi].link && fixed) {
                same(frame.regs.pc, LINK);
                same(frame.regs.sp, STACK + 0x100);
                same(frame.regs.fp, STACK + FAR);
                same(frame.reliable, true);
            }
        }
    }
}

/* A trap frame's RA is where the trap came, which is in no register of a call: x30 holds what the interrupted code had
 * there. FP is in its register again. */
static void test_dead_trap_frame(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int32_t over = 0; over < 2; over++) {
            begin_zone(abi, SFU_PC_EXACT, 128);
            row.trap_frame = true;
            row.fp.control = 4;
            lies_below(abi, &row.ra, 128 + over);
            frame.regs.has_ra = true;
            frame.regs.ra = LINK;
            code(apply(&t, &row, &frame), over ? SFU_E_DEAD_SLOT : SFU_OK);
            same(m.stack.reads, over ? 0 : 1);
            begin_zone(abi, SFU_PC_EXACT, 128);
            row.trap_frame = true;
            row.ra.control = 4;
            lies_below(abi, &row.fp, 128 + over);
            code(apply(&t, &row, &frame), SFU_OK);
            same(frame.regs.fp, over ? STACK + FAR : filled());
        }
    }
}

/* A slot on another stack is not below SP, though its address is lower: a function that has switched stacks, by FP. */
static void test_slot_on_another_stack(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        FOR_KINDS(kind)
        {
            for (int above = 0; above < 2; above++) {
                sfu_addr other = above ? STACK + 0x1400 : STACK + 0x300, cfa = other + 16;
                begin(abi, (enum sfu_pc_kind)kind);
                m.stack_size = 0x800;
                t.find_stack = machine_find_stack;
                frame.regs.sp = STACK + 0xc00;
                frame.regs.fp = other;
                frame.regs.has_ra = true;
                frame.regs.ra = 0xbad;
                row.cfa.control = (uint32_t)REG(registers[abi].fp);
                row.cfa.offset = 16;
                row.ra.control = (uint32_t)AT_CFA;
                row.ra.offset = -8;
                row.fp.control = (uint32_t)AT_REG(registers[abi].fp);
                row.fp.offset = 0;
                code(apply(&t, &row, &frame), SFU_OK);
                same(frame.regs.pc, pc_of(abi, at(other + 8)));
                same(frame.regs.fp, at(other));
                same(frame.regs.sp, cfa - below(abi));
                same(frame.switched, true);
                same(frame.reliable, true);
                /* and the CFA itself lies there */
                begin(abi, (enum sfu_pc_kind)kind);
                m.stack_size = 0x800;
                t.find_stack = machine_find_stack;
                frame.regs.sp = STACK + 0xc00;
                frame.regs.fp = other;
                put_word(&m, other + 24, other + 0x40 + below(abi));
                row.cfa.control = (uint32_t)AT_REG(registers[abi].fp);
                row.cfa.offset = 24;
                row.ra.offset = -8;
                code(apply(&t, &row, &frame), SFU_OK);
                same(frame.regs.sp, other + 0x40);
                same(frame.regs.pc, pc_of(abi, at(other + 0x40 + below(abi) - 8)));
            }
        }
    }
}

/* Of a slot below SP the address decides on which stack it lies, not the base that a rule counts from: FP is on SP's
 * stack, and the slot on the stack below. */
static void test_slot_below_its_base(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        begin(abi, SFU_PC_EXACT);
        m.stack_size = 0x800;
        t.find_stack = machine_find_stack;
        frame.regs.sp = STACK + 0xc00;
        frame.regs.fp = STACK + 0x808;
        row.cfa.control = (uint32_t)REG(registers[abi].fp);
        row.cfa.offset = 0x500;
        row.ra.control = row.fp.control = (uint32_t)AT_REG(registers[abi].fp);
        row.ra.offset = -16;
        row.fp.offset = -24;
        code(apply(&t, &row, &frame), SFU_OK);
        same(frame.regs.pc, pc_of(abi, at(STACK + 0x7f8)));
        same(frame.regs.fp, at(STACK + 0x7f0));
    }
}

/* A slot that is not read need not be readable, nor exist. */
static void test_red_zone_unread(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        begin_zone(abi, SFU_PC_EXACT, 128);
        frame.regs.sp = STACK + 64; /* the zone ends below the stack */
        for (int32_t over = 0; over < 2; over++) {
            struct sfu_frame f = frame;
            row.ra.control = 4;
            lies_below(abi, &row.fp, 128 + over);
            code(apply(&t, &row, &f), over ? SFU_OK : SFU_E_STACK);
        }
        begin_zone(abi, SFU_PC_EXACT, 128);
        frame.regs.sp = 200;
        frame.regs.fp = 0x4711;
        row.ra.control = 4;
        lies_below(abi, &row.fp, 200); /* address 0 */
        code(apply(&t, &row, &frame), SFU_OK);
        same(frame.regs.fp, 0x4711);
        begin_zone(abi, SFU_PC_EXACT, 128);
        frame.regs.sp = 200;
        row.ra.control = 4;
        lies_below(abi, &row.fp, 201); /* none */
        code(apply(&t, &row, &frame), SFU_E_ADDRESS);
    }
}

/* It is the address that counts, by whatever rule: from the CFA or FP; and what lies at SP or above is never dead.
 * Where a slot is found by FP, its value need not be in a register again. A value that is not read lies nowhere. */
static void test_red_zone_rules(void **state)
{
    (void)state;
    memset(deep, 0x22, sizeof deep);
    FOR_ABIS(abi)
    {
        begin_zone(abi, SFU_PC_EXACT, 0);
        row.ra.control = row.fp.control = AT_CFA;
        row.fp.offset = -(int32_t)below(abi) - 32; /* SP itself */
        row.ra.offset = -(int32_t)below(abi) - 31;
        code(apply(&t, &row, &frame), SFU_OK);
        same(frame.regs.fp, filled());
        same(m.stack.reads, 2);
        begin_zone(abi, SFU_PC_EXACT, 0);
        row.fp.control = AT_CFA;
        row.fp.offset = -(int32_t)below(abi) - 33;
        code(apply(&t, &row, &frame), SFU_OK);
        same(frame.regs.fp, STACK + 0x180);
        begin_zone(abi, SFU_PC_EXACT, 8);
        frame.regs.fp = frame.regs.sp - 9;
        row.fp.control = (uint32_t)AT_REG(registers[abi].fp);
        row.fp.offset = 0;
        code(apply(&t, &row, &frame), SFU_E_DEAD_SLOT);
        row.fp.offset = 1;
        code(apply(&t, &row, &frame), SFU_OK);
        same(frame.regs.fp, filled());
        begin_zone(abi, SFU_PC_EXACT, 0);
        row.ra.control = row.fp.control = (uint32_t)REG(registers[abi].sp);
        row.ra.offset = row.fp.offset = -4096;
        code(apply(&t, &row, &frame), SFU_OK);
        same(frame.regs.fp, STACK + UINT16_MAX + 512 - 4096);
        same(frame.regs.pc, pc_of(abi, STACK + UINT16_MAX + 512 - 4096));
    }
}

/* A slot in the bytes of a stack is no less dead. */
static void test_red_zone_bytes(void **state)
{
    (void)state;
    memset(deep, 0x22, sizeof deep);
    FOR_ABIS(abi)
    {
        for (int32_t over = 0; over < 2; over++) {
            begin_zone(abi, SFU_PC_EXACT, 128);
            t.stack = (struct sfu_stack){deep, STACK, STACK + sizeof deep};
            t.read = NULL;
            lies_below(abi, &row.fp, 128 + over);
            code(apply(&t, &row, &frame), SFU_OK);
            same(frame.regs.fp, over ? STACK + 0x180 : filled());
        }
    }
}

int frame_tests(void)
{
    const struct check_test tests[] = {
        CHECK(test_ordinary),
        CHECK(test_variations),
        CHECK(test_dereferenced),
        CHECK(test_values),
        CHECK(test_made_rows),
        CHECK(test_link_register),
        CHECK(test_link_register_asked),
        CHECK(test_registers),
        CHECK(test_cfa_register),
        CHECK(test_unsafe),
        CHECK(test_kinds),
        CHECK(test_cfa_of_no_register),
        CHECK(test_addresses),
        CHECK(test_unreadable),
        CHECK(test_progress),
        CHECK(test_signal_row),
        CHECK(test_stacks),
        CHECK(test_depth),
        CHECK(test_pac),
        CHECK(test_s390x),
        CHECK(test_stack_bytes),
        CHECK(test_stack_bytes_first),
        CHECK(test_stack_bytes_rules),
        CHECK(test_stack_without_words),
        CHECK(test_stack_ends),
        CHECK(test_read_word),
        CHECK(test_red_zone),
        CHECK(test_dead_ra),
        CHECK(test_dead_cfa),
        CHECK(test_dead_epilogue),
        CHECK(test_dead_trap_frame),
        CHECK(test_slot_on_another_stack),
        CHECK(test_slot_below_its_base),
        CHECK(test_red_zone_unread),
        CHECK(test_red_zone_rules),
        CHECK(test_red_zone_bytes),
    };
    return check_run("frame", tests);
}
