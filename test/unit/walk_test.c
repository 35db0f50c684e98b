/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Walks: several sections, trap hook, frame-pointer fallback, stacks, limits, and that each walk ends. */
#include "test.h"

static struct build *const b = &the_build;
static struct machine m;
static struct sfu_target t;
static struct sfu_walk walk;
static struct sfu_registers top;
static struct sfu_row row; /* of the walk's frame, when it was looked up last */

/* An ordinary function, 0x40 bytes long: SP grows by 32, RA = *(CFA - 8), FP = *(CFA - 16); the first 4 bytes are
 * those of its entry. */
static void function(int abi, int64_t start)
{
    build_fde(b, start, 0x40, ADDR1);
    if (!registers[abi].link) {
        ROW(b, 0, BASE_SP | WORD1, 8);
        ROW(b, 4, BASE_SP | WORD1, 32, -16);
    } else {
        ROW(b, 0, BASE_SP | WORD1, cfa_word(abi, 0));
        ROW(b, 4, BASE_SP | WORD1, cfa_word(abi, 32), -8, -16);
    }
}

/* The section of every test here: functions at 0x1000 and 0x1040, an entry point without caller at 0x1080, a trap
 * frame in the table at 0x1100, one that is not at 0x1200, a function that returns without a frame at 0x1300. */
static void begin(int abi, struct opened *o)
{
    unsigned sp = registers[abi].sp;
    note("ABI %d", abi);
    build_begin(b, 3, abi, registers[abi].big);
    function(abi, 0x1000);
    function(abi, 0x1040);
    build_fde(b, 0x1080, 0x40, ADDR1); /* no rows: outermost */
    build_fde_more(b, 0x1100, 0x40, ADDR1 | SIGNAL, FLEX, 0);
    /* CFA = SP + 64 (+ below), RA = *(SP + 8), FP = *(SP + 16), of an ABI's own SP register */
    ROW(b, 0, WORD2, REG(sp), cfa_word(abi, 64), AT_REG(sp), 8, AT_REG(sp), 16);
    build_fde_more(b, 0x1200, 0x40, ADDR1 | SIGNAL, DEFAULT, 0);
    build_fde_more(b, 0x1300, 0x40, ADDR1, FLEX, 0);
    ROW(b, 0, BASE_SP, REG(3), cfa_word(abi, 8)); /* known only in an exact frame */
    open_valid(o, b);
    machine_init(&m, &t, b->big);
    code(add(&t.sections, &o->mapped), SFU_OK);
    memset(&top, 0, sizeof top);
    top.pc = BASE + 0x1010;
    top.sp = STACK;
    top.fp = 0xf0;
    top.pc_kind = SFU_PC_EXACT;
}

/* Looks up the frame that the walk has come to. */
static int found(void)
{
    return find_frame(&t, &walk.frame, &row);
}

/* Where its function starts; 0: nothing is known of it. */
static sfu_addr function_of(void)
{
    return found() == SFU_OK ? row.function : 0;
}

static void expect(sfu_addr pc, sfu_addr sp, sfu_addr fp, sfu_addr function_start, enum sfu_pc_kind kind)
{
    same(walk.frame.regs.pc, pc);
    same(walk.frame.regs.sp, sp);
    same(walk.frame.regs.fp, fp);
    same(function_of(), function_start);
    same(walk.frame.regs.pc_kind, kind);
}

/* Three frames: the last return address is one past the end of its function, and belongs to it nevertheless. */
static void test_walk(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        sfu_addr sp;
        begin(abi, &o);
        sp = called_from(&m, abi, STACK, BASE + 0x1080, 0xf1);
        called_from(&m, abi, sp, BASE + 0x10c0, 0xf2);
        sfu_walk_start(&walk, &t, &top);
        code(found(), SFU_OK);
        expect(BASE + 0x1010, STACK, 0xf0, BASE + 0x1000, SFU_PC_EXACT);
        same(walk.frame.depth, 0);
        same(walk.frame.reliable, true);
        same(walk.frame.saved, 0);
        code(step(&walk), SFU_OK);
        expect(BASE + 0x1080, STACK + 32, 0xf1, BASE + 0x1040, SFU_PC_RETURN);
        same(row.start, BASE + 0x1044);
        code(step(&walk), SFU_OK);
        expect(BASE + 0x10c0, STACK + 64, 0xf2, BASE + 0x1080, SFU_PC_RETURN);
        same(walk.frame.depth, 2);
        code(step(&walk), SFU_END);
        code(step(&walk), SFU_END);
        same(walk.frame.reliable, true);
        same(walk.frame.depth, 2);
        close_section(&o);
    }
}

/* A section that was only opened is all that a target needs. */
static void test_opened(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        struct sfu_section section;
        begin(abi, &o);
        memset(&section, 0xa5, sizeof section);
        code(sfu_open(&section, o.mapped.bytes, o.mapped.size, o.mapped.addr), SFU_OK);
        t.sections = &section;
        called_from(&m, abi, STACK, BASE + 0x10c0, 0xf1);
        sfu_walk_start(&walk, &t, &top);
        code(step(&walk), SFU_OK);
        expect(BASE + 0x10c0, STACK + 32, 0xf1, BASE + 0x1080, SFU_PC_RETURN);
        code(step(&walk), SFU_END);
        top.pc = BASE + 0x100000;
        sfu_walk_start(&walk, &t, &top);
        code(step(&walk), SFU_E_NO_FDE);
        close_section(&o);
    }
}

/* The first frame is there at once, whatever it is, and nothing has been read for it. */
static void test_start(void **state)
{
    struct opened o;
    (void)state;
    begin(SOME_ABI, &o);
    if (o.has_remote) {
        holds(sfu_remove(&t.sections, &o.mapped, 1));
        code(add(&t.sections, &o.remote), SFU_OK);
    }
    memset(&top, 0xa5, sizeof top);
    top.pc = 0x10;
    top.sp = STACK;
    top.fp = 1;
    top.ra = 0x77;
    top.has_ra = true;
    top.pc_kind = SFU_PC_RETURN;
    memset(&walk, 0x5a, sizeof walk);
    walk.frame.regs.has_ra = walk.frame.switched = walk.frame.replaced = walk.frame.reliable = false;
    sfu_walk_start(&walk, &t, &top);
    same(o.memory.reads + m.stack.reads, 0);
    assert_ptr_equal(walk.target, &t);
    code(found(), SFU_E_NO_FDE);
    expect(0x10, STACK, 1, 0, SFU_PC_RETURN);
    same(walk.frame.regs.ra, 0x77);
    same(walk.frame.regs.has_ra, true);
    same(walk.frame.saved, 0);
    same(walk.frame.depth, 0);
    same(walk.frame.switches, 0);
    same(walk.frame.switched, false);
    same(walk.frame.guess, SFU_GUESS_NONE);
    same(walk.frame.reliable, true);
    code(step(&walk), SFU_E_NO_FDE);
    code(step(&walk), SFU_E_NO_FDE);
    /* a first frame by a return address is looked up like any other */
    top.pc = BASE + 0x1080;
    sfu_walk_start(&walk, &t, &top);
    code(found(), SFU_OK);
    same(function_of(), BASE + 0x1040);
    t.sections = NULL;
    sfu_walk_start(&walk, &t, &top);
    code(found(), SFU_E_NO_SECTION);
    code(step(&walk), SFU_E_NO_SECTION);
    close_section(&o);
}

/* A leaf function that has not touched the stack: its RA is in the link register; on x86 at the stack's top. */
static void test_leaf(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        begin(abi, &o);
        top.pc = BASE + 0x1000;
        if (!registers[abi].link) {
            put_word(&m, STACK, BASE + 0x1060);
        } else {
            top.ra = BASE + 0x1060;
            top.has_ra = true;
        }
        sfu_walk_start(&walk, &t, &top);
        code(step(&walk), SFU_OK);
        expect(BASE + 0x1060, STACK + (!registers[abi].link ? 8 : 0), 0xf0, BASE + 0x1040, SFU_PC_RETURN);
        /* further up such a row is a lie: the RA has been overwritten by the call */
        called_from(&m, abi, walk.frame.regs.sp, behind_call(abi, BASE + 0x1000), 0xf1);
        code(step(&walk), SFU_OK);
        code(step(&walk), !registers[abi].link ? SFU_OK : SFU_E_NO_RA);
        close_section(&o);
    }
}

/* Sections come and go; a PC is looked for in each; one corrupt section hides none of the others. */
static void test_sections(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o[3];
        begin(abi, &o[0]);
        for (int i = 1; i < 3; i++) {
            build_begin(b, 3, abi, registers[abi].big);
            function(abi, 0x1000);
            build_end(b);
            code(open_bytes(&o[i], b->bytes, b->size, BASE + 0x100000 * (sfu_addr)i), SFU_OK);
            code(add(&t.sections, i == 1 || !o[i].has_remote ? &o[i].mapped : &o[i].remote), SFU_OK);
        }
        for (int i = 0; i < 3; i++) {
            top.pc = BASE + 0x100000 * (sfu_addr)i + 0x1020;
            sfu_walk_start(&walk, &t, &top);
            code(found(), SFU_OK);
            same(function_of(), top.pc - 0x20);
        }
        top.pc = BASE + 0x300000;
        sfu_walk_start(&walk, &t, &top);
        code(found(), SFU_E_NO_FDE);
        o[2].block[1 + build_fre_at(b) + 2] = 0x0f; /* an address size that there is not */
        top.pc = BASE + 0x1020;
        sfu_walk_start(&walk, &t, &top);
        code(found(), SFU_OK);
        top.pc = BASE + 0x201020;
        sfu_walk_start(&walk, &t, &top);
        code(found(), SFU_E_FDE);
        holds(sfu_remove(&t.sections, &o[1].mapped, 1));
        top.pc = BASE + 0x101020;
        sfu_walk_start(&walk, &t, &top);
        code(found(), SFU_E_NO_FDE);
        top.pc = BASE + 0x1020;
        sfu_walk_start(&walk, &t, &top);
        code(found(), SFU_OK);
        for (int i = 0; i < 3; i++)
            close_section(&o[i]);
    }
}

/* Sections that say different things of the same PC: the first row counts and, where there is none, the first error
 * that says more than that no FDE was found. In every order. */
static void test_failing_sections(void **state)
{
    /* what it says of the PC, in the order of the kinds below */
    static const int says[] = {SFU_OK,    SFU_E_NO_FDE, SFU_E_NO_ROW, SFU_E_FDE,
                               SFU_E_ROW, SFU_E_BOUNDS, SFU_E_SECTION};
    enum { KINDS = 7 };
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o[KINDS];
        struct sfu_frame frame;
        note("ABI %d", abi);
        machine_init(&m, &t, registers[abi].big);
        memset(&frame, 0, sizeof frame);
        frame.regs.pc = BASE + 0x1011; /* its lookup PC is the one before it */
        frame.regs.pc_kind = SFU_PC_RETURN;
        for (int kind = 0; kind < KINDS; kind++) {
            build_begin(b, 3, abi, registers[abi].big);
            build_fde(b, says[kind] == SFU_E_NO_FDE ? 0x2000 : 0x1000, 0x40, says[kind] == SFU_E_FDE ? 3 : ADDR1);
            ROW(b, says[kind] == SFU_E_NO_ROW ? 0x20 : 0, BASE_SP | (says[kind] == SFU_E_ROW ? 0x60 : 0), 8);
            build_end(b);
            if (says[kind] == SFU_E_BOUNDS)
                build_set_fre_off(b, 0, 0x1000);
            code(open_build(&o[kind], b), SFU_OK);
        }
        for (int i = 0; i < KINDS * KINDS * KINDS; i++) {
            int order[] = {i % KINDS, i / KINDS % KINDS, i / KINDS / KINDS};
            int want = SFU_E_NO_FDE;
            struct sfu_section s[3];
            t.sections = NULL;
            for (int k = 2; k >= 0; k--) { /* to the front of the list: the last one first */
                struct opened *from = &o[order[k]];
                bool remote = says[order[k]] == SFU_E_SECTION;
                s[k] = remote && from->has_remote ? from->remote : from->mapped;
                if (remote && from->has_remote) {
                    from->memory.reads = 0;
                    s[k].ctx = &from->memory;
                    from->memory.fail_at = 1;
                    from->memory.strict = false;
                    from->memory.size = 0; /* no read of it succeeds */
                } else if (remote) {
                    s[k] = o[1].mapped;
                }
                s[k].next = t.sections; /* it cannot be opened again: no read of it may succeed */
                t.sections = &s[k];
            }
            for (int k = 0; k < 3; k++) {
                int one = says[order[k]] == SFU_E_SECTION && !o[0].has_remote ? SFU_E_NO_FDE : says[order[k]];
                want = want == SFU_OK || one == SFU_OK ? SFU_OK : want == SFU_E_NO_FDE ? one : want;
            }
            note("ABI %d: %s, %s, %s", abi, code_name(says[order[0]]), code_name(says[order[1]]),
                 code_name(says[order[2]]));
            code(find_frame(&t, &frame, &row), want);
            walk.target = &t;
            walk.frame = frame;
            if (want != SFU_OK)
                code(step(&walk), want); /* for that reason the walk ends */
        }
        for (int kind = 0; kind < KINDS; kind++)
            close_section(&o[kind]);
    }
}

/* Of two sections that know the PC, the one in front counts. */
static void test_first_section(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o[2];
        struct sfu_frame frame;
        note("ABI %d", abi);
        memset(&frame, 0, sizeof frame);
        machine_init(&m, &t, registers[abi].big);
        for (int i = 0; i < 2; i++) {
            build_begin(b, 3, abi, registers[abi].big);
            build_fde(b, 0x1000 - 0x10 * i, 0x40, ADDR1);
            ROW(b, 0, BASE_SP, 8);
            open_valid(&o[i], b);
            code(add(&t.sections, &o[i].mapped), SFU_OK);
        }
        frame.regs.pc = BASE + 0x1010;
        code(find_frame(&t, &frame, &row), SFU_OK);
        same(row.function, BASE + 0x0ff0);
        frame.regs.pc = BASE + 0x1030; /* one past the end of the front one's: exact, or returned to */
        code(find_frame(&t, &frame, &row), SFU_OK);
        same(row.function, BASE + 0x1000);
        frame.regs.pc_kind = SFU_PC_RETURN;
        code(find_frame(&t, &frame, &row), SFU_OK);
        same(row.function, BASE + 0x0ff0);
        close_section(&o[0]);
        close_section(&o[1]);
    }
}

/* A lookup is done when it is needed, and nothing of it is kept: sections may come and go between two steps. */
static void test_changing_sections(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        begin(abi, &o);
        called_from(&m, abi, STACK, BASE + 0x1050, 0xf1);
        called_from(&m, abi, STACK + 32, BASE + 0x1090, 0xf2);
        sfu_walk_start(&walk, &t, &top);
        for (int i = 0; i < 2; i++) {
            holds(sfu_remove(&t.sections, &o.mapped, 1));
            code(step(&walk), SFU_E_NO_SECTION);
            code(found(), SFU_E_NO_SECTION);
            code(add(&t.sections, &o.mapped), SFU_OK);
            code(step(&walk), SFU_OK);
        }
        code(step(&walk), SFU_END);
        close_section(&o);
    }
}

/* A frame is interrupted: by a trap frame that the table describes. */
static void test_trap_in_table(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        sfu_addr sp;
        begin(abi, &o);
        sp = called_from(&m, abi, STACK, BASE + 0x1104, 0xf1);
        put_word(&m, sp + 8, BASE + 0x1040); /* interrupted at the first instruction of a function */
        put_word(&m, sp + 16, 0xf2);
        sfu_walk_start(&walk, &t, &top);
        code(step(&walk), SFU_OK);
        same(function_of(), BASE + 0x1100);
        same(row.trap_frame, true);
        code(step(&walk), SFU_OK);
        expect(BASE + 0x1040, sp + 64, 0xf2, BASE + 0x1040, SFU_PC_EXACT);
        same(walk.frame.saved, sp);
        same(walk.frame.reliable, true);
        same(row.length, 4);
        if (registers[abi].link) {
            code(step(&walk), SFU_E_REGISTER); /* nobody knows its link register */
            t.reg = machine_reg;
            m.known = SFU_ADDR_MAX;
            m.reg[registers[abi].ra] = BASE + 0x1090;
        } else {
            put_word(&m, sp + 64, BASE + 0x1090);
        }
        code(step(&walk), SFU_OK);
        same(function_of(), BASE + 0x1080);
        same(walk.frame.saved, 0);
        code(step(&walk), SFU_END);
        close_section(&o);
    }
}

/* The hook. It fills in what it likes; TRAP_CODE is what it returns; MADE is the frame. */
static int trap_code, trap_asked;
static struct sfu_interrupted made;

static int trap(struct machine *machine, const struct sfu_frame *frame, int code,
                struct sfu_interrupted *interrupted)
{
    (void)machine;
    trap_asked = code;
    same(frame->regs.pc, walk.frame.regs.pc);
    if (made.saved == 0)
        made.saved = interrupted->saved;
    *interrupted = made;
    return trap_code;
}

static void begin_hook(int abi, struct opened *o, sfu_addr pc)
{
    begin(abi, o);
    t.trap_hook = machine_trap;
    m.trap = trap;
    top.pc = pc;
    memset(&made, 0, sizeof made);
    made.regs.pc = BASE + 0x1000;
    made.regs.sp = STACK + 0x200;
    made.regs.fp = 0xf7;
    trap_code = SFU_OK;
    sfu_walk_start(&walk, &t, &top);
}

static void test_hook(void **state)
{
    static const sfu_addr pcs[] = {BASE + 0x1208, BASE + 0x1800, 0x10};
    (void)state;
    FOR_ABIS(abi)
    {
        for (int i = 0; i < 3; i++) {
            struct opened o;
            begin_hook(abi, &o, pcs[i]);
            code(step(&walk), SFU_OK);
            code(trap_asked, i == 0 ? SFU_E_TRAP : SFU_E_NO_FDE);
            same(m.trapped, 1);
            expect(BASE + 0x1000, STACK + 0x200, 0xf7, BASE + 0x1000, SFU_PC_EXACT);
            same(walk.frame.saved, STACK); /* as it was left alone */
            same(walk.frame.depth, 1);
            same(walk.frame.regs.has_ra, false);
            same(walk.frame.switched, false);
            same(walk.frame.guess, SFU_GUESS_NONE);
            same(walk.frame.reliable, true);
            close_section(&o);
        }
    }
}

/* All that the hook says is in the frame; the rest of the frame is sfu's. */
static void test_hook_fields(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        begin_hook(abi, &o, BASE + 0x1208);
        made.regs.pc = BASE + 0x1000;
        made.regs.sp = STACK - 8; /* another stack */
        made.regs.fp = 1;
        made.regs.ra = BASE + 0x1044;
        made.regs.has_ra = true;
        made.saved = 0x1234;
        code(step(&walk), SFU_OK);
        expect(BASE + 0x1000, STACK - 8, 1, BASE + 0x1000, SFU_PC_EXACT);
        same(walk.frame.saved, 0x1234);
        same(walk.frame.regs.ra, BASE + 0x1044);
        same(walk.frame.regs.has_ra, true);
        same(walk.frame.depth, 1);
        same(walk.frame.switched, true);
        same(walk.frame.switches, 1);
        same(walk.frame.guess, SFU_GUESS_NONE);
        same(walk.frame.reliable, true);
        if (registers[abi].link) {
            code(step(&walk), SFU_OK); /* the link register was filled in */
            same(function_of(), BASE + 0x1040);
            same(walk.frame.switched, false);
            same(walk.frame.switches, 1);
        }
        close_section(&o);
    }
}

/* What the hook brings back may have been left by a call: then its PC is one that was returned to. It is looked up as
 * such, and only SP and FP of its registers count. */
static void test_hook_kind(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int kind = SFU_PC_EXACT; kind <= SFU_PC_RETURN; kind++) {
            struct opened o;
            begin_hook(abi, &o, BASE + 0x1208);
            made.regs.pc_kind = (enum sfu_pc_kind)kind;
            made.regs.pc = BASE + 0x1080; /* the end of one function, and the start of another */
            made.regs.ra = BASE + 0x1090;
            made.regs.has_ra = true;
            code(step(&walk), SFU_OK);
            expect(BASE + 0x1080, STACK + 0x200, 0xf7, kind == SFU_PC_EXACT ? BASE + 0x1080 : BASE + 0x1040,
                   (enum sfu_pc_kind)kind);
            same(walk.frame.saved, kind == SFU_PC_EXACT ? STACK : 0);
            same(walk.frame.guess, SFU_GUESS_NONE);
            same(walk.frame.reliable, true);
            if (kind == SFU_PC_EXACT) {
                code(step(&walk), SFU_END);
            } else {
                called_from(&m, abi, STACK + 0x200, BASE + 0x10a0, 0xf8);
                code(step(&walk), SFU_OK);
                expect(BASE + 0x10a0, STACK + 0x220, 0xf8, BASE + 0x1080, SFU_PC_RETURN);
            }
            close_section(&o);
            /* a row that needs another register, and one that has the RA still in it */
            begin_hook(abi, &o, BASE + 0x1208);
            t.reg = machine_reg;
            m.known = 1 << 3;
            m.reg[3] = STACK + 0x300;
            put_word(&m, STACK + 0x300, BASE + 0x1010);
            made.regs.pc_kind = (enum sfu_pc_kind)kind;
            made.regs.pc = BASE + 0x1310;
            made.regs.ra = BASE + 0x1090;
            made.regs.has_ra = true;
            code(step(&walk), SFU_OK);
            code(step(&walk), kind == SFU_PC_EXACT ? SFU_OK : SFU_E_UNSAFE);
            same(m.asked, kind == SFU_PC_EXACT ? 1 : 0);
            close_section(&o);
            begin_hook(abi, &o, BASE + 0x1208);
            made.regs.pc_kind = (enum sfu_pc_kind)kind;
            made.regs.pc = behind_call(abi, BASE + 0x1000); /* the entry of a function */
            made.regs.ra = BASE + 0x1090;
            made.regs.has_ra = true;
            put_word(&m, STACK + 0x200, BASE + 0x1090); /* x86 */
            code(step(&walk), SFU_OK);
            code(step(&walk), kind == SFU_PC_RETURN && registers[abi].link ? SFU_E_NO_RA : SFU_OK);
            close_section(&o);
        }
    }
}

/* The hook may bring back the same SP, whatever the kind; a lower one is counted as a switch. */
static void test_hook_progress(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int kind = SFU_PC_EXACT; kind <= SFU_PC_RETURN; kind++) {
            for (int by = -8; by <= 8; by += 8) {
                struct opened o;
                begin_hook(abi, &o, BASE + 0x1208);
                made.regs.pc_kind = (enum sfu_pc_kind)kind;
                made.regs.sp = STACK + 0x100 + (sfu_addr)by;
                walk.frame.regs.sp = STACK + 0x100;
                code(step(&walk), SFU_OK);
                same(walk.frame.switched, by < 0);
                close_section(&o);
            }
        }
    }
}

/* A caller whose registers are known: the walk moves there as by a row that says so. */
static void test_walk_to(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int kind = SFU_PC_EXACT; kind <= SFU_PC_RETURN; kind++) {
            for (int by = -8; by <= 8; by += 8) {
                const bool trap = kind == SFU_PC_EXACT, refused = by < 0 && !trap;
                struct sfu_registers caller;
                struct sfu_walk before;
                struct opened o;
                begin(abi, &o);
                sfu_walk_start(&walk, &t, &top);
                walk.frame.regs.sp = STACK + 0x100;
                walk.frame.replaced = true;
                memset(&caller, 0, sizeof caller);
                caller.pc = BASE + 0x1080 + (abis[abi].even ? 1 : 0); /* bit 0 is no part of an address there */
                caller.sp = STACK + 0x100 + (sfu_addr)by;
                caller.fp = 0xf7;
                caller.ra = 0xf8;
                caller.has_ra = true;
                caller.pc_kind = (enum sfu_pc_kind)kind;
                before = walk;
                t.max_frames = 1;
                code(sfu_walk_to(&walk, &caller), SFU_E_DEPTH);
                same(memcmp(&walk, &before, sizeof walk), 0);
                t.max_frames = 0;
                code(sfu_walk_to(&walk, &caller), refused ? SFU_E_PROGRESS : SFU_OK);
                if (refused) {
                    same(memcmp(&walk, &before, sizeof walk), 0);
                } else {
                    same(walk.frame.regs.pc, BASE + 0x1080);
                    same(walk.frame.regs.sp, STACK + 0x100 + (sfu_addr)by);
                    same(walk.frame.regs.fp, 0xf7);
                    same(walk.frame.regs.ra, 0xf8);
                    same(walk.frame.regs.has_ra, true);
                    same(walk.frame.regs.pc_kind, kind);
                    same(walk.frame.depth, 1);
                    same(walk.frame.switched, by < 0);
                    same(walk.frame.interrupted, trap);
                    same(walk.frame.saved, trap ? STACK + 0x100 : 0);
                    same(walk.frame.guess, SFU_GUESS_NONE);
                    same(walk.frame.replaced, false);
                    same(walk.frame.reliable, true);
                }
                close_section(&o);
            }
        }
    }
}

/* A hook that is not sure says so: its frame is labelled, and neither it nor what comes behind it is reliable. */
static void test_hook_guess(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int kind = SFU_PC_EXACT; kind <= SFU_PC_RETURN; kind++) {
            struct opened o;
            begin_hook(abi, &o, BASE + 0x1208);
            made.guess = SFU_GUESS_HOOK;
            made.regs.pc_kind = (enum sfu_pc_kind)kind;
            made.regs.pc = BASE + 0x1204; /* another one that only the hook knows */
            code(step(&walk), SFU_OK);
            expect(BASE + 0x1204, STACK + 0x200, 0xf7, BASE + 0x1200, (enum sfu_pc_kind)kind);
            same(walk.frame.guess, SFU_GUESS_HOOK);
            same(walk.frame.reliable, false);
            made.guess = SFU_GUESS_NONE; /* this time it is sure, of what it was given */
            made.saved = 0;
            made.regs.pc = BASE + 0x1050;
            made.regs.sp = STACK + 0x300;
            called_from(&m, abi, STACK + 0x300, BASE + 0x1090, 0xf8);
            code(step(&walk), SFU_OK);
            same(walk.frame.guess, SFU_GUESS_NONE);
            same(walk.frame.reliable, false);
            code(step(&walk), SFU_OK);
            same(walk.frame.guess, SFU_GUESS_NONE);
            same(walk.frame.reliable, false);
            code(step(&walk), SFU_END);
            same(walk.frame.reliable, false);
            close_section(&o);
        }
    }
}

/* A hook that is not sure and ends the trace proves nothing: the last frame is not reliable, also if it is asked again,
 * or the end is another one than the target names. One that is sure, or that fails, leaves it as it is. */
static void test_hook_end(void **state)
{
    static const sfu_addr pcs[] = {BASE + 0x1208, BASE + 0x1800, 0xbad};
    static const int codes[] = {SFU_END, SFU_E_STACK, SFU_E_NO_FDE};
    (void)state;
    FOR_ABIS(abi)
    {
        for (int i = 0; i < 3 * 3 * 2 * 2; i++) {
            struct opened o;
            bool unsure = i / 9 % 2, final = i / 18;
            int want = codes[i / 3 % 3];
            begin_hook(abi, &o, pcs[i % 3]);
            note("ABI %d, PC %llx, code %d, unsure %d, final %d", abi, (unsigned long long)pcs[i % 3], want, unsure,
                 final);
            trap_code = want;
            made.guess = unsure ? SFU_GUESS_HOOK : SFU_GUESS_NONE;
            if (final)
                t.final = (struct sfu_range){1, 2};
            for (int again = 0; again < 2; again++) {
                code(step(&walk), final && want == SFU_END ? SFU_E_NOT_FINAL : want);
                same(walk.frame.reliable, !(unsure && want == SFU_END));
                same(walk.frame.guess, SFU_GUESS_NONE);
                same(walk.frame.depth, 0);
            }
            close_section(&o);
        }
    }
}

/* A frame that a trap interrupted says so, unless a call had left it; what comes behind it does not. */
static void test_interrupted(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int kind = SFU_PC_EXACT; kind <= SFU_PC_RETURN; kind++) {
            struct opened o;
            begin_hook(abi, &o, BASE + 0x1208);
            same(walk.frame.interrupted, false);
            made.regs.pc_kind = (enum sfu_pc_kind)kind;
            made.regs.pc = BASE + 0x1020;
            code(step(&walk), SFU_OK);
            same(walk.frame.interrupted, kind == SFU_PC_EXACT);
            called_from(&m, abi, STACK + 0x200, BASE + 0x1104, 0xf8);
            code(step(&walk), SFU_OK);
            same(walk.frame.interrupted, false);
            same(walk.frame.saved, 0);
            put_word(&m, STACK + 0x220 + 8, BASE + 0x1040);
            code(step(&walk), SFU_OK); /* by the table */
            same(walk.frame.interrupted, true);
            same(walk.frame.saved, STACK + 0x220);
            close_section(&o);
        }
    }
}

/* The step returns what the hook returns; it is not asked where a row is corrupt. */
static void test_hook_codes(void **state)
{
    static const int codes[] = {SFU_END, SFU_E_STACK, SFU_E_TRAP, SFU_E_NO_FDE};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct opened o;
        begin_hook(SOME_ABI, &o, BASE + 0x1208);
        trap_code = codes[i];
        code(step(&walk), codes[i]);
        code(step(&walk), codes[i]);
        close_section(&o);
    }
    {
        struct opened o;
        begin_hook(SOME_ABI, &o, BASE + 0x1208);
        holds(sfu_remove(&t.sections, &o.mapped, 1));
        sfu_walk_start(&walk, &t, &top); /* no section at all */
        code(step(&walk), SFU_E_NO_SECTION);
        same(m.trapped, 0);
        close_section(&o);
        begin_hook(SOME_ABI, &o, BASE + 0x1208);
        o.block[1 + build_fre_at(b) + b->fde[0].fre_off + 2] = 3;
        top.pc = BASE + 0x1010;
        sfu_walk_start(&walk, &t, &top);
        code(step(&walk), SFU_E_FDE);
        same(m.trapped, 0);
        close_section(&o);
    }
}

/* A hook that goes in circles is stopped by the count of switches. With one stack every second step is one: the others
 * stay, as an exception entry may that is about to return. */
static void test_hook_circle(void **state)
{
    (void)state;
    for (int same_stack = 0; same_stack < 2; same_stack++) {
        struct opened o;
        unsigned n = 0;
        int result;
        begin_hook(SOME_ABI, &o, BASE + 0x1208);
        made.regs.pc = BASE + 0x1208;
        made.regs.sp = STACK;
        if (same_stack)
            t.find_stack = machine_find_stack;
        while ((result = step(&walk)) == SFU_OK)
            holds(++n < 100);
        code(result, same_stack ? SFU_E_PROGRESS : SFU_E_SWITCHES);
        same(n, same_stack ? 1 : 2 * SFU_MAX_SWITCHES + 1);
        close_section(&o);
    }
}

/* Frame pointers: only where asked for, only where no FDE covers the PC, not on s390x and ARM; and labelled. */
static void test_frame_pointers(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        begin(abi, &o);
        top.pc = BASE + 0x2000;
        /* aarch64: the RA may carry a PAC, which nobody can know of a guessed frame */
        top.fp = put_record(&m, abi, STACK + 0x50, 0xf5,
                            (BASE + 0x1050) | (abi <= SFU_AARCH64 ? (sfu_addr)(UINT64_C(0x1234) << 48) : 0));
        sfu_walk_start(&walk, &t, &top);
        code(step(&walk), SFU_E_NO_FDE);
        t.frame_pointers = true;
        sfu_walk_start(&walk, &t, &top);
        if (registers[abi].record == NO_RECORD) {
            code(step(&walk), SFU_E_NO_FDE);
            top.fp = STACK + 0x50; /* nor below FP, where RISC-V has it */
            sfu_walk_start(&walk, &t, &top);
            code(step(&walk), SFU_E_NO_FDE);
            close_section(&o);
            continue;
        }
        code(step(&walk), SFU_OK);
        expect(BASE + 0x1050, STACK + 0x50, 0xf5, BASE + 0x1040, SFU_PC_RETURN);
        same(walk.frame.guess, SFU_GUESS_RECORD);
        same(walk.frame.reliable, false);
        called_from(&m, abi, STACK + 0x50, BASE + 0x1090, 0xf6);
        code(step(&walk), SFU_OK); /* the table again; but nothing is proven any more */
        same(walk.frame.guess, SFU_GUESS_NONE);
        same(walk.frame.reliable, false);
        code(step(&walk), SFU_END);
        close_section(&o);
    }
}

/* amd64 has no PAC: what is where the RA should be is the PC, whatever its upper bits are. */
static void test_frame_pointers_exactly(void **state)
{
    const sfu_addr ra = (BASE + 0x1050) | (sfu_addr)(UINT64_C(0x1234) << 48);
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        if (abi != SFU_AMD64)
            continue;
        begin(abi, &o);
        top.pc = BASE + 0x2000;
        top.fp = STACK + 0x40;
        put_word(&m, STACK + 0x48, ra);
        t.frame_pointers = true;
        sfu_walk_start(&walk, &t, &top);
        code(step(&walk), SFU_OK);
        same(walk.frame.regs.pc, ra);
        close_section(&o);
    }
}

/* Where a guess leads nowhere there is none. */
static void test_bad_frame_pointers(void **state)
{
    const sfu_addr above = STACK + 8192 + 8; /* a CFA: the words of its record end above the stack */
    const sfu_addr fps[] = {
        0, 8, STACK - 16, STACK - 0x1000, above - abis[SOME_ABI].record, SFU_ADDR_MAX, SFU_ADDR_MAX - 15};
    struct opened o;
    (void)state;
    begin(SOME_ABI, &o);
    t.frame_pointers = true;
    for (size_t i = 0; i < sizeof fps / sizeof fps[0]; i++) {
        note("FP %llx", (unsigned long long)fps[i]);
        top.pc = 0x10;
        top.fp = fps[i];
        sfu_walk_start(&walk, &t, &top);
        holds(step(&walk) < 0);
    }
    /* a described frame is never guessed at: not a corrupt one, not one without a row, not a signal frame */
    top.fp = STACK + 0x40;
    top.pc = BASE + 0x1208;
    sfu_walk_start(&walk, &t, &top);
    code(step(&walk), SFU_E_TRAP);
    o.block[1 + build_fre_at(b) + b->fde[0].fre_off + 2] = 3;
    top.pc = BASE + 0x1010;
    sfu_walk_start(&walk, &t, &top);
    code(step(&walk), SFU_E_FDE);
    close_section(&o);
}

/* The hook comes before the guess; only if it does not know the frame is there a guess. */
static void test_hook_then_guess(void **state)
{
    struct opened o;
    (void)state;
    begin_hook(SOME_ABI, &o, BASE + 0x2000);
    t.frame_pointers = true;
    walk.frame.regs.fp = STACK + 0x40;
    put_word(&m, STACK + 0x48, BASE + 0x1050);
    trap_code = SFU_END;
    code(step(&walk), SFU_END);
    trap_code = SFU_E_STACK;
    code(step(&walk), SFU_E_STACK);
    trap_code = SFU_E_NO_FDE;
    if (registers[SOME_ABI].record == NO_RECORD) {
        code(step(&walk), SFU_E_NO_FDE);
    } else {
        code(step(&walk), SFU_OK);
        same(walk.frame.guess, SFU_GUESS_RECORD);
    }
    holds(sfu_remove(&t.sections, &o.mapped, 1));
    sfu_walk_start(&walk, &t, &top);
    code(step(&walk), SFU_E_NO_SECTION); /* without a section the ABI is not known: no guess */
    close_section(&o);
}

/* Registers of the topmost frame, and no longer after it. */
static void test_registers(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        begin(abi, &o);
        t.reg = machine_reg;
        m.known = SFU_ADDR_MAX;
        m.reg[3] = STACK + 0x10;
        if (registers[abi].link)
            m.reg[registers[abi].ra] = BASE + 0x1304;
        put_word(&m, STACK + 0x10, BASE + 0x1304);
        top.pc = BASE + 0x1300;
        sfu_walk_start(&walk, &t, &top);
        code(step(&walk), SFU_OK);
        same(walk.frame.regs.sp, STACK + 0x18);
        same(function_of(), BASE + 0x1300);
        m.asked = 0;
        code(step(&walk), SFU_E_UNSAFE);
        same(m.asked, 0);
        same(walk.frame.depth, 1); /* the good frame is kept */
        close_section(&o);
    }
}

/* A chain of COUNT frames, by turns in the two functions, up to the outermost one. */
static void chain(int abi, int count)
{
    sfu_addr sp = STACK;
    for (int i = 1; i <= count; i++)
        sp = called_from(&m, abi, sp, i == count ? BASE + 0x1088 : BASE + 0x1010 + (i % 2 ? 0x40 : 0), (sfu_addr)i);
}

/* The walk comes as far as the stack reaches, whatever part of it there is, mapped or read by the callback. */
static void test_short_stack(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int mapped = 0; mapped < 2; mapped++) {
            struct opened o;
            begin(abi, &o);
            chain(abi, 40);
            t.stack.bytes = mapped ? m.bytes : NULL;
            t.stack.low = STACK;
            for (sfu_addr size = 0; size < 40 * 32 + 200; size += 4) {
                unsigned n = 0, whole = size < below(abi) ? 0 : (unsigned)(size - below(abi)) / 32;
                t.stack.high = STACK + size;
                m.stack.reads = 0;
                sfu_walk_start(&walk, &t, &top);
                while (step(&walk) == SFU_OK) {
                    n++;
                    same(walk.frame.regs.sp, STACK + 32 * (sfu_addr)n);
                    same(walk.frame.regs.fp, n);
                    same(function_of(), n == 40 ? BASE + 0x1080 : n % 2 ? BASE + 0x1040 : BASE + 0x1000);
                }
                note("ABI %d, %s stack of %llu", abi, mapped ? "mapped" : "other", (unsigned long long)size);
                code(step(&walk), whole >= 40 ? SFU_END : SFU_E_STACK);
                same(n, whole < 40 ? whole : 40);
                /* The RA comes first, and lies higher than FP. Of 4 bytes it ends below the CFA: then both are read,
                 * but there is no caller, twice. */
                same(m.stack.reads, mapped ? 0 : 2 * n + (word_size == 4 && whole < 40 && size % 32 == 28 ? 4 : 0));
            }
            close_section(&o);
        }
    }
}

/* An interrupted function's slots below the red zone are not read, a caller's are. */
static void test_red_zone(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (uint16_t zone = 16; zone <= 32; zone = (uint16_t)(zone + 8)) {
            struct opened o;
            begin(abi, &o);
            build_begin(b, 3, abi, b->big);
            build_fde_more(b, 0x1000, 0x40, ADDR1, FLEX, 0); /* RA = CFA + 4, FP = *(SP - 24) */
            ROW(b, 0, WORD1, REG(registers[abi].sp), cfa_word(abi, 32), REG(registers[abi].sp), 0,
                AT_REG(registers[abi].sp), -24);
            close_section(&o);
            open_valid(&o, b);
            t.sections = NULL;
            code(add(&t.sections, &o.mapped), SFU_OK);
            top.sp = STACK + 0x100;
            put_word(&m, STACK + 0x100 - 24, 0xf8);
            t.red_zone = zone;
            sfu_walk_start(&walk, &t, &top);
            code(step(&walk), SFU_OK);
            note("ABI %d, red zone of %u", abi, zone);
            same(walk.frame.regs.fp, zone < 24 ? 0xf0 : 0xf8);
            top.pc_kind = SFU_PC_RETURN;
            sfu_walk_start(&walk, &t, &top);
            code(step(&walk), SFU_OK);
            same(walk.frame.regs.fp, 0xf8);
            close_section(&o);
        }
    }
}

/* Reads per step: of the stack at most three; of the section no more than the search and one function's rows. */
#ifndef SFU_NO_REMOTE
static void test_counted(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        begin(abi, &o);
        chain(abi, 100);
        holds(sfu_remove(&t.sections, &o.mapped, 1));
        code(add(&t.sections, &o.remote), SFU_OK);
        sfu_walk_start(&walk, &t, &top);
        for (int n = 0; n < 100; n++) {
            o.memory.reads = m.stack.reads = 0;
            code(step(&walk), SFU_OK);
            note("ABI %d: %u reads of the section", abi, o.memory.reads);
            same(m.stack.reads, 2);
            holds(o.memory.reads <= 3 + LOOKUP_READS + 2); /* 6 FDEs, 2 rows */
        }
        code(step(&walk), SFU_END);
        close_section(&o);
    }
}
#endif

/* The k-th read of the stack fails, or of the section: the frames before it stay, and the walk can be resumed. */
static void test_failing_reads(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        begin(abi, &o);
        chain(abi, 10);
        for (unsigned k = 1; k <= 20; k++) {
            unsigned n = 0;
            int result;
            m.stack.reads = 0;
            m.stack.fail_at = k;
            sfu_walk_start(&walk, &t, &top);
            while ((result = step(&walk)) == SFU_OK)
                n++;
            note("ABI %d, read %u", abi, k);
            code(result, SFU_E_STACK);
            same(n, (k - 1) / 2);
            same(walk.frame.depth, n);
            same(walk.frame.regs.sp, STACK + 32 * (sfu_addr)n);
            while ((result = step(&walk)) == SFU_OK) {
            }
            code(result, SFU_END);
            same(walk.frame.depth, 10);
        }
#ifndef SFU_NO_REMOTE
        m.stack.fail_at = 0;
        holds(sfu_remove(&t.sections, &o.mapped, 1));
        code(add(&t.sections, &o.remote), SFU_OK);
        for (unsigned k = 1;; k++) {
            int result;
            holds(k < 1000);
            o.memory.reads = 0;
            o.memory.fail_at = k;
            sfu_walk_start(&walk, &t, &top);
            while ((result = step(&walk)) == SFU_OK) {
            }
            if (result == SFU_END) {
                holds(k > 40);
                break;
            }
            code(result, SFU_E_SECTION);
        }
#endif
        close_section(&o);
    }
}

/* A stack that says the same wherever it is read, and pretends to have no end. */
static int endless_read(void *ctx, sfu_addr addr, void *buffer, size_t len)
{
    struct machine *machine = ctx;
    (void)addr;
    machine->stack.reads++;
    for (size_t i = 0; i < len; i++)
        ((uint8_t *)buffer)[machine->big ? len - 1 - i : i] = (uint8_t)(machine->word[0] >> (8 * i));
    return 0;
}

static void test_endless(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        unsigned n = 0;
        int result;
        begin(abi, &o);
        t.read = endless_read;
        m.word[0] = BASE + 0x1010; /* every return address */
        sfu_walk_start(&walk, &t, &top);
        while ((result = step(&walk)) == SFU_OK)
            n++;
        code(result, SFU_E_DEPTH);
        same(n, SFU_MAX_FRAMES - 1);
        same(m.stack.reads, 2 * SFU_MAX_FRAMES);
        n = 0;
        t.max_frames = 10;
        sfu_walk_start(&walk, &t, &top);
        while ((result = step(&walk)) == SFU_OK)
            n++;
        code(result, SFU_E_DEPTH);
        same(n, 9);
        /* trap frames that return to themselves */
        t.max_frames = 0;
        m.word[0] = BASE + 0x1110;
        top.pc = BASE + 0x1110;
        sfu_walk_start(&walk, &t, &top);
        n = 0;
        while ((result = step(&walk)) == SFU_OK)
            n++;
        code(result, SFU_E_DEPTH);
        /* a frame pointer that points at itself */
        t.frame_pointers = true;
        m.word[0] = STACK + 0x10;
        top.pc = STACK + 0x10;
        top.fp = STACK + 0x10;
        n = 0;
        sfu_walk_start(&walk, &t, &top);
        while ((result = step(&walk)) == SFU_OK)
            holds(++n < 3);
        code(result, SFU_E_NO_FDE);
        close_section(&o);
    }
}

/* A walk may go up through the top of memory, not around it. */
static void test_top_of_memory(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        unsigned n = 0;
        int result;
        begin(abi, &o);
        t.read = endless_read;
        m.word[0] = BASE + 0x1010;
        top.sp = SFU_ADDR_MAX - 0x400;
        sfu_walk_start(&walk, &t, &top);
        while ((result = step(&walk)) == SFU_OK)
            holds(++n <= 0x400 / 32);
        code(result, SFU_E_ADDRESS);
        close_section(&o);
    }
}

int walk_tests(void)
{
    const struct check_test tests[] = {
        CHECK(test_walk),
        CHECK(test_opened),
        CHECK(test_start),
        CHECK(test_leaf),
        CHECK(test_sections),
        CHECK(test_trap_in_table),
        CHECK(test_hook),
        CHECK(test_hook_fields),
        CHECK(test_hook_codes),
        CHECK(test_hook_circle),
        CHECK(test_frame_pointers),
        CHECK(test_frame_pointers_exactly),
        CHECK(test_bad_frame_pointers),
        CHECK(test_hook_then_guess),
        CHECK(test_registers),
        CHECK(test_failing_sections),
        CHECK(test_first_section),
        CHECK(test_changing_sections),
        CHECK(test_hook_kind),
        CHECK(test_hook_progress),
        CHECK(test_walk_to),
        CHECK(test_hook_guess),
        CHECK(test_hook_end),
        CHECK(test_interrupted),
        CHECK(test_short_stack),
        CHECK(test_red_zone),
#ifndef SFU_NO_REMOTE
        CHECK(test_counted),
#endif
        CHECK(test_failing_reads),
        CHECK(test_endless),
        CHECK(test_top_of_memory),
    };
    return check_run("walk", tests);
}
