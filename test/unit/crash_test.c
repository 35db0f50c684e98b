/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What a crash leaves behind, and what a kernel does to its stacks: PCs that are not code, calls through wild pointers,
 * return addresses that were replaced, visits of several stacks, and where a trace has to end. */
#include "test.h"

static struct build *const b = &the_build;
static struct machine m;
static struct sfu_target t;
static struct sfu_walk walk;
static struct sfu_registers top;

/* The text of the section that begin opens. */
#define FIRST (BASE + 0x1000)
#define LAST  (BASE + 0x10ff)

/* A function at 0x1000 whose frames are 32 bytes long, with FP and RA at their end; a gap at 0x1040 without a function;
 * an interrupted frame at 0x1080 whose caller's PC is at SP + 8; the outermost frame at 0x10c0. */
static void begin(int abi, struct opened *o)
{
    unsigned sp = registers[abi].sp;
    note("ABI %d", abi);
    build_begin(b, 3, abi, registers[abi].big);
    build_fde(b, 0x1000, 0x40, ADDR1);
    if (!registers[abi].link)
        ROW(b, 0, BASE_SP | WORD1, 32, -16);
    else
        ROW(b, 0, BASE_SP | WORD1, cfa_word(abi, 32), -8, -16);
    build_fde_more(b, 0x1080, 0x40, ADDR1 | SIGNAL, FLEX, 0);
    ROW(b, 0, WORD2, REG(sp), cfa_word(abi, 64), AT_REG(sp), 8, AT_REG(sp), 16);
    build_fde(b, 0x10c0, 0x40, ADDR1);
    open_valid(o, b);
    machine_init(&m, &t, b->big);
    code(seen(sfu_find_text(&o->mapped)), SFU_OK);
    same(o->mapped.text.low, FIRST);
    same(o->mapped.text.high, LAST + 1);
    code(add(&t.sections, &o->mapped), SFU_OK);
    memset(&top, 0, sizeof top);
    memset(&walk, 0, sizeof walk);
    top.pc = BASE + 0x1010;
    top.sp = STACK;
    top.fp = 0xf0;
    top.pc_kind = SFU_PC_EXACT;
}

/* ---- Text ---- */

/* Functions anywhere, the empty ones at both ends: they do not count. */
static void find_text(const struct variant *v)
{
    static const struct {
        int64_t start;
        uint32_t size;
    } functions[] = {{0x3000, 0x123}, {0x500, 0}, {0x1000, 1}, {0x9000, 0}, {0x2000, 0x1124}, {0x1001, 0x10}};
    struct opened o;
    struct sfu_section before;
    begin_variant(b, v);
    b->flags &= (uint8_t)~F_SORTED;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        build_fde(b, functions[i].start, functions[i].size, ADDR1);
        ROW(b, 0, BASE_SP, 8);
    }
    open_valid(&o, b);
    for (int i = 0; i < (o.has_remote ? 2 : 1); i++) {
        struct sfu_section *s = i == 0 ? &o.mapped : &o.remote;
        same(s->text.low, 0);
        same(s->text.high, 0);
        code(sfu_find_text(s), SFU_OK);
        same(s->text.low, BASE + 0x1000);
        same(s->text.high, BASE + 0x3124);
    }
    holds(!o.has_remote || o.memory.reads == b->fdes);
    for (unsigned k = 1; o.has_remote && k <= b->fdes; k++) { /* the k-th read fails */
        o.memory.reads = 0;
        o.memory.fail_at = k;
        memcpy(&before, &o.remote, sizeof before);
        code(sfu_find_text(&o.remote), SFU_E_SECTION);
        assert_memory_equal(&o.remote, &before, sizeof before);
    }
    close_section(&o);
    for (int fdes = 0; fdes < 2; fdes++) { /* no function, or an empty one */
        begin_variant(b, v);
        if (fdes == 1) {
            build_fde(b, 0x1000, 0, ADDR1);
            ROW(b, 0, BASE_SP, 8);
        }
        open_valid(&o, b);
        code(sfu_find_text(&o.mapped), SFU_E_EMPTY);
        same(o.mapped.text.low, 0);
        same(o.mapped.text.high, 0);
        close_section(&o);
    }
}

static void test_find_text(void **state)
{
    (void)state;
    for_each_variant(find_text);
}

/* Where the functions of a sorted table are, mapped and added: from the first start to the end of the last one that is
 * not empty. Otherwise it is not known, and the table is asked about each PC. */
static void code_range(const struct variant *v)
{
    enum { TOP = 1 };
    static const struct {
        struct {
            int64_t start;
            uint32_t size;
        } functions[3];
        sfu_addr addr; /* or TOP: 64 KiB below the end of the address space */
        bool sorted;
        sfu_addr low, high; /* from ADDR on; 0, 0: not known */
    } tables[] = {
        {{{0x1000, 0x40}, {0x2000, 0x80}, {0x3000, 0x20}}, BASE, true, 0x1000, 0x3020},
        {{{0x1000, 0x40}, {0x2000, 0x80}, {0x3000, 0x20}}, BASE, false, 0, 0},
        {{{0x1000, 0x40}, {0x2000, 0x80}, {0x3000, 0}}, BASE, true, 0x1000, 0x2080},
        {{{0x1000, 0x40}, {0x2000, 0}, {0x3000, 0}}, BASE, true, 0x1000, 0x1040},
        {{{0x1000, 0}, {0x2000, 1}, {0x3000, 0}}, BASE, true, 0x1000, 0x2001},
        {{{0x1000, 0}, {0x2000, 0}, {0x3000, 0}}, BASE, true, 0, 0},
        {{{0x3000, 0x40}, {0x2000, 0x80}, {0x1000, 0x20}}, BASE, true, 0, 0}, /* they do not ascend */
        {{{0x1020, 0x40}, {0x2000, 0x80}, {0x1000, 0x20}}, BASE, true, 0, 0},
        {{{0x101f, 0x40}, {0x2000, 0x80}, {0x1000, 0x20}}, BASE, true, 0x101f, 0x1020},
        {{{0x1000, 0x40}, {0x2000, 0x80}, {0xff00, 0xff}}, TOP, true, 0x1000, 0xffff},
        {{{0x1000, 0x40}, {0x2000, 0x80}, {0xff00, 0x100}}, TOP, true, 0, 0},
        {{{0x1000, 0x40}, {0x2000, 0x80}, {-0x10 - (int64_t)BASE, 0x402000}}, BASE, true, 0, 0}, /* it wraps */
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        bool known = tables[i].high != 0;
        sfu_addr addr = tables[i].addr == TOP ? max_address - 0xffff : tables[i].addr;
        struct opened o;
        begin_variant(b, v);
        if (!tables[i].sorted)
            b->flags &= (uint8_t)~F_SORTED;
        for (int k = 0; k < 3; k++) {
            build_fde(b, tables[i].functions[k].start, tables[i].functions[k].size, ADDR1);
            ROW(b, 0, BASE_SP, 8);
        }
        build_end(b);
        code(open_bytes(&o, b->bytes, b->size, addr), SFU_OK);
        for (int k = 0; k < (o.has_remote ? 2 : 1); k++) {
            struct sfu_section *s = k == 0 ? &o.mapped : &o.remote, *list = NULL;
            note("table %zu, %s", i, k == 0 ? "mapped" : "remote");
            code(add(&list, s), SFU_OK);
            same(s->code.low, known && k == 0 ? addr + tables[i].low : 0);
            same(s->code.high, known && k == 0 ? addr + tables[i].high : 0);
        }
        close_section(&o);
    }
}

static void test_code(void **state)
{
    (void)state;
    for_each_variant(code_range);
}

/* What is said of the lookup PC: as it is, or of a return address behind it. */
static int found_at(sfu_addr pc)
{
    struct sfu_frame frame;
    struct sfu_row row;
    int exact, returned;
    memset(&frame, 0, sizeof frame);
    frame.regs.pc = pc;
    exact = find_frame(&t, &frame, &row);
    frame.regs.pc = pc + 1;
    frame.regs.pc_kind = SFU_PC_RETURN;
    returned = find_frame(&t, &frame, &row);
    code(returned, exact);
    return exact;
}

/* Each edge of the text, of one section and of two. Outside of it nothing is read. */
/* A section is asked only about a PC that is in its text and where its functions are. If it is not, that is no more
 * than that it does not know the PC. */
static void test_asked(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        begin(abi, &o);
        for (int i = 0; i < (o.has_remote ? 2 : 1); i++) {
            struct sfu_section *s = i == 0 ? &o.mapped : &o.remote;
            int asked = i == 0 ? SFU_OK : SFU_E_SECTION;
            if (i == 1) {
                (void)sfu_remove(&t.sections, &o.mapped, 1);
                s->text = o.mapped.text;
                code(add(&t.sections, s), SFU_OK);
                o.memory.strict = false;
                o.memory.size = 0; /* each read fails */
            }
            s->code.low = FIRST + 4;
            s->code.high = FIRST + 8;
            note("ABI %d, %s", abi, i == 0 ? "mapped" : "remote");
            code(found_at(FIRST - 1), SFU_E_NOT_CODE);
            code(found_at(FIRST + 3), SFU_E_NO_FDE);
            code(found_at(FIRST + 4), asked);
            code(found_at(FIRST + 7), asked);
            code(found_at(FIRST + 8), SFU_E_NO_FDE);
        }
        close_section(&o);
    }
}

static void test_text(void **state)
{
    static const sfu_addr pcs[] = {0,    1,        FIRST - 2, FIRST - 1,        FIRST,       FIRST + 1, LAST - 1,
                                   LAST, LAST + 1, LAST + 2,  SFU_ADDR_MAX - 1, SFU_ADDR_MAX};
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o[2];
        begin(abi, &o[0]);
        for (size_t i = 0; i < sizeof pcs / sizeof pcs[0]; i++) {
            note("ABI %d, PC %llx", abi, (unsigned long long)pcs[i]);
            code(found_at(pcs[i]), pcs[i] >= FIRST && pcs[i] <= LAST ? SFU_OK : SFU_E_NOT_CODE);
        }
        code(found_at(BASE + 0x1050), SFU_E_NO_FDE);
        o[0].mapped.text = (struct sfu_range){BASE + 0x1010, BASE + 0x1011}; /* narrowed */
        code(found_at(BASE + 0x100f), SFU_E_NOT_CODE);
        code(found_at(BASE + 0x1010), SFU_OK);
        code(found_at(BASE + 0x1011), SFU_E_NOT_CODE);
        for (int back = 0; back < 2; back++) { /* nothing is left */
            o[0].mapped.text = (struct sfu_range){back ? LAST : 1, 1};
            for (size_t i = 0; i < sizeof pcs / sizeof pcs[0]; i++)
                code(found_at(pcs[i]), SFU_E_NOT_CODE);
        }
        for (int low = 0; low < 2; low++) { /* not set, whatever low is */
            o[0].mapped.text = (struct sfu_range){low ? FIRST + 1 : 0, 0};
            code(found_at(0), SFU_E_NO_FDE);
            code(found_at(FIRST), SFU_OK);
            code(found_at(SFU_ADDR_MAX - 1), SFU_E_NO_FDE);
        }
        o[0].mapped.text = (struct sfu_range){0, SFU_ADDR_MAX}; /* all that can be set */
        code(found_at(0), SFU_E_NO_FDE);
        code(found_at(SFU_ADDR_MAX - 1), SFU_E_NO_FDE);
        o[0].mapped.text = (struct sfu_range){FIRST, LAST + 1};
        code(open_bytes(&o[1], b->bytes, b->size, BASE + 0x100000), SFU_OK);
        for (int remote = 0; remote <= (o[1].has_remote ? 1 : 0); remote++) {
            struct sfu_section *s = remote ? &o[1].remote : &o[1].mapped;
            s->text = (struct sfu_range){BASE + 0x101000, BASE + 0x101080}; /* in front of its second function */
            code(add(&t.sections, s), SFU_OK);
            o[1].memory.reads = 0;
            code(found_at(FIRST), SFU_OK);
            code(found_at(BASE + 0x1050), SFU_E_NO_FDE); /* one that has it in its text counts, wherever it is */
            code(found_at(LAST + 1), SFU_E_NOT_CODE);
            code(found_at(BASE + 0x100fff), SFU_E_NOT_CODE);
            code(found_at(BASE + 0x101080), SFU_E_NOT_CODE);
            same(o[1].memory.reads, 0);
            code(found_at(BASE + 0x101000), SFU_OK);
            code(found_at(BASE + 0x10107f), SFU_E_NO_FDE);
            holds(!remote || o[1].memory.reads > 0);
            holds(sfu_remove(&t.sections, s, 1));
        }
        /* a section that is broken says so of its own text only, whatever comes first */
        o[1].block[1 + build_fre_at(b) + 2] = 3;
        for (int order = 0; order < 2; order++) {
            t.sections = NULL;
            code(add(&t.sections, order == 0 ? &o[0].mapped : &o[1].mapped), SFU_OK);
            code(add(&t.sections, order == 0 ? &o[1].mapped : &o[0].mapped), SFU_OK);
            o[1].mapped.text.low = FIRST;
            code(found_at(BASE + 0x101000), SFU_E_FDE);
            code(found_at(BASE + 0x1050), SFU_E_NO_FDE);
            code(found_at(FIRST), SFU_OK);
            code(found_at(FIRST - 1), SFU_E_NOT_CODE);
            o[0].mapped.text.high = SFU_ADDR_MAX;
            code(found_at(BASE + 0x101000), SFU_E_FDE); /* it says more than the other one */
            o[0].mapped.text.high = LAST + 1;
            o[1].mapped.text.low = BASE + 0x101040;
            code(found_at(BASE + 0x101000), SFU_E_NOT_CODE);
        }
        close_section(&o[0]);
        close_section(&o[1]);
    }
}

/* ---- Wild calls ---- */

/* The top frame is where a call has led that left RA. */
static void call_from(int abi, sfu_addr ra)
{
    if (!registers[abi].link) {
        put_word(&m, top.sp, ra);
    } else {
        top.ra = ra;
        top.has_ra = true;
    }
}

static void expect_wild(int abi, sfu_addr sp, sfu_addr ra)
{
    same(walk.frame.regs.pc, ra);
    same(walk.frame.regs.sp, sp + (registers[abi].link ? 0 : registers[abi].word));
    same(walk.frame.regs.fp, 0xf0);
    same(walk.frame.regs.has_ra, false);
    same(walk.frame.regs.pc_kind, SFU_PC_RETURN);
    same(walk.frame.guess, SFU_GUESS_CALL);
    same(walk.frame.reliable, false);
    same(walk.frame.saved, 0);
    same(walk.frame.switched, false);
    same(walk.frame.replaced, false);
}

static int first_step(void)
{
    sfu_walk_start(&walk, &t, &top);
    return step(&walk);
}

static void test_wild_call(void **state)
{
    const sfu_addr pcs[] = {0, 1, 0x10, FIRST - 1, LAST + 1, STACK + 0x40, SFU_ADDR_MAX};
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        begin(abi, &o);
        for (size_t i = 0; i < sizeof pcs / sizeof pcs[0]; i++) {
            top.pc = pcs[i];
            call_from(abi, BASE + 0x1020);
            note("ABI %d, PC %llx", abi, (unsigned long long)top.pc);
            code(first_step(), SFU_OK);
            expect_wild(abi, STACK, BASE + 0x1020);
            same(walk.frame.depth, 1);
            called_from(&m, abi, walk.frame.regs.sp, BASE + 0x10d0, 0xf1);
            code(step(&walk), SFU_OK); /* by the table again, but nothing is proven any more */
            same(walk.frame.guess, SFU_GUESS_NONE);
            same(walk.frame.reliable, false);
            same(walk.frame.regs.fp, 0xf1);
            code(step(&walk), SFU_END);
        }
        /* code without a table is code: nothing is known of its frame */
        top.pc = BASE + 0x1050;
        code(first_step(), SFU_E_NO_FDE);
        /* nor is anything known where the text is not */
        top.pc = 0;
        o.mapped.text.low = 0;
        code(first_step(), SFU_E_NO_FDE);
        o.mapped.text.low = 1;
        code(first_step(), SFU_OK);
        close_section(&o);
    }
}

/* The return address is in the text of a section, or there is no guess. */
static void test_wild_caller(void **state)
{
    static const struct {
        sfu_addr ra;
        bool code, even; /* even: if bit 0 is not a part of RA */
    } callers[] = {
        {FIRST, false, false},
        {FIRST + 1, true, false},
        {LAST, true, true},
        {LAST + 1, true, true},
        {LAST + 2, false, true},
        {LAST + 3, false, false},
        {0, false, false},
        {1, false, false},
        {SFU_ADDR_MAX, false, false},
        {BASE + 0x1050, true, true},
        {BASE + 0x200000, false, false},
        {BASE + 0x101000, false, false},
        {BASE + 0x101001, true, false},
        {BASE + 0x101003, true, true},
    };
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o[2];
        begin(abi, &o[0]);
        code(open_bytes(&o[1], b->bytes, b->size, BASE + 0x100000), SFU_OK);
        code(sfu_find_text(&o[1].mapped), SFU_OK);
        code(add(&t.sections, &o[1].mapped), SFU_OK);
        top.pc = 0;
        for (size_t i = 0; i < sizeof callers / sizeof callers[0]; i++) {
            note("ABI %d, RA %llx", abi, (unsigned long long)callers[i].ra);
            call_from(abi, callers[i].ra);
            if (registers[abi].even ? callers[i].even : callers[i].code) {
                code(first_step(), SFU_OK);
                expect_wild(abi, STACK, pc_of(abi, callers[i].ra));
            } else {
                code(first_step(), SFU_E_NOT_CODE);
            }
        }
        close_section(&o[0]);
        close_section(&o[1]);
    }
}

/* Nothing is guessed in the middle of a stack, nor twice, nor where the RA cannot be had or the walk cannot go on. */
static void test_wild_limits(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        begin(abi, &o);
        top.pc = 0;
        call_from(abi, BASE + 0x1020);
        top.pc_kind = SFU_PC_RETURN;
        code(first_step(), SFU_E_NOT_CODE);
        top.pc_kind = SFU_PC_EXACT;
        code(first_step(), SFU_OK);
        called_from(&m, abi, walk.frame.regs.sp, 0x10, 0xf1); /* the caller's RA is no code, either */
        code(step(&walk), SFU_OK);
        same(walk.frame.regs.pc, 0x10);
        code(step(&walk), SFU_E_NOT_CODE);
        t.max_frames = 1;
        code(first_step(), SFU_E_NOT_CODE);
        t.max_frames = 2;
        code(first_step(), SFU_OK);
        if (!registers[abi].link) {
            const sfu_addr sps[] = {0, STACK - 1, STACK - 8, STACK + 8192 - 7, SFU_ADDR_MAX - 8, SFU_ADDR_MAX};
            for (size_t i = 0; i < sizeof sps / sizeof sps[0]; i++) {
                top.sp = sps[i];
                code(first_step(), SFU_E_NOT_CODE);
            }
        } else {
            top.has_ra = false;
            code(first_step(), SFU_E_NOT_CODE);
            t.reg = machine_reg;
            code(first_step(), SFU_E_NOT_CODE);
            m.known = (sfu_addr)1 << registers[abi].ra;
            m.reg[registers[abi].ra] = BASE + 0x1030;
            code(first_step(), SFU_OK);
            expect_wild(abi, STACK, BASE + 0x1030);
            top.sp = max_address; /* the slot of the RA is in no stack; only s390x needs room above SP */
            code(first_step(), abi == SFU_S390X ? SFU_E_NOT_CODE : SFU_OK);
        }
        close_section(&o);
    }
}

/* An interrupted frame is as exact as the first one. */
static void test_wild_interrupted(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        begin(abi, &o);
        top.pc = BASE + 0x1090;
        put_word(&m, STACK + 8, 0); /* the PC where the trap came */
        put_word(&m, STACK + 16, 0xf0);
        code(first_step(), SFU_OK);
        same(walk.frame.regs.pc_kind, SFU_PC_EXACT);
        same(walk.frame.reliable, true);
        if (!registers[abi].link) {
            put_word(&m, STACK + 64, BASE + 0x1020);
        } else {
            t.reg = machine_reg;
            m.known = (sfu_addr)1 << registers[abi].ra;
            m.reg[registers[abi].ra] = BASE + 0x1020;
        }
        code(step(&walk), SFU_OK);
        expect_wild(abi, STACK + 64, BASE + 0x1020);
        same(walk.frame.depth, 2);
        close_section(&o);
    }
}

static int trap_code, trap_asked;
static sfu_addr trap_sp; /* 0: above the frame's */

static int trap(struct machine *machine, const struct sfu_frame *frame, int code,
                struct sfu_interrupted *interrupted)
{
    (void)machine;
    trap_asked = code;
    interrupted->regs.pc = BASE + 0x10d0;
    interrupted->regs.sp = trap_sp != 0 ? trap_sp : frame->regs.sp + 0x80;
    return trap_code == 0x100 ? code : trap_code;
}

/* The hook comes first, the frame record last; what the hook says of the frame counts. */
static void test_wild_order(void **state)
{
    enum { DOES_NOT_KNOW = 0x100 };
    static const int says[] = {SFU_OK, SFU_END, SFU_E_STACK, SFU_E_NO_FDE, SFU_E_TRAP, DOES_NOT_KNOW};
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        bool record = registers[abi].record != NO_RECORD;
        begin(abi, &o);
        top.pc = 0;
        t.trap_hook = machine_trap;
        m.trap = trap;
        t.frame_pointers = true;
        for (size_t i = 0; i < sizeof says / sizeof says[0]; i++) {
            note("ABI %d, hook says %d", abi, says[i]);
            top.fp = put_record(&m, abi, STACK + 0x50, 0, BASE + 0x1030);
            call_from(abi, BASE + 0x1020);
            trap_code = says[i];
            code(first_step(), says[i] == DOES_NOT_KNOW ? SFU_OK : says[i]);
            code(trap_asked, SFU_E_NOT_CODE);
            if (says[i] == SFU_OK || says[i] == DOES_NOT_KNOW) {
                same(walk.frame.guess, says[i] == SFU_OK ? SFU_GUESS_NONE : SFU_GUESS_CALL);
                same(walk.frame.regs.pc, says[i] == SFU_OK ? BASE + 0x10d0 : BASE + 0x1020);
            }
        }
        call_from(abi, 0x20); /* the return address is not code: only the record is left */
        code(first_step(), record ? SFU_OK : SFU_E_NOT_CODE);
        same(walk.frame.guess, record ? SFU_GUESS_RECORD : SFU_GUESS_NONE);
        same(walk.frame.regs.pc, record ? BASE + 0x1030 : 0);
        call_from(abi, BASE + 0x1020);
        top.pc_kind = SFU_PC_RETURN;
        code(first_step(), record ? SFU_OK : SFU_E_NOT_CODE);
        same(walk.frame.guess, record ? SFU_GUESS_RECORD : SFU_GUESS_NONE);
        t.frame_pointers = false;
        code(first_step(), SFU_E_NOT_CODE);
        close_section(&o);
    }
}

/* ---- Replaced return addresses ---- */

enum { NESTED = 100 };
#define TRAMPOLINE UINT64_C(0x12340)

static sfu_addr originals[NESTED + 1]; /* by the number of the slot's frame */
static unsigned ra_asked;
static sfu_addr last_slot, last_ra;

static bool original_ra(void *ctx, const struct sfu_frame *frame, sfu_addr slot, sfu_addr *ra)
{
    assert_ptr_equal(ctx, &m);
    same(frame->regs.sp, walk.frame.regs.sp); /* it is the frame whose RA it is */
    same(frame->regs.pc, walk.frame.regs.pc);
    ra_asked++;
    last_slot = slot;
    last_ra = *ra;
    if (*ra != TRAMPOLINE)
        return false;
    *ra = originals[frame->depth];
    return true;
}

/* Every return is hooked: the walk is the same, and says so. */
static void test_replaced(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (unsigned every = 1; every <= 3; every++) {
            struct opened o;
            sfu_addr sp = STACK;
            begin(abi, &o);
            t.original_ra = original_ra;
            for (unsigned i = 0; i < NESTED; i++) {
                originals[i] = i == NESTED - 1 ? BASE + 0x10d0 : BASE + 0x1004 + 8 * (i % 5);
                sp = called_from(&m, abi, sp, i % every == 0 ? TRAMPOLINE : originals[i], i);
            }
            sfu_walk_start(&walk, &t, &top);
            for (unsigned i = 0; i < NESTED; i++) {
                sfu_addr cfa = STACK + 32 * (sfu_addr)(i + 1) + below(abi);
                note("ABI %d, frame %u", abi, i);
                ra_asked = 0;
                code(step(&walk), SFU_OK);
                same(ra_asked, 1);
                same(last_slot, cfa - 8);
                same(last_ra, i % every == 0 ? TRAMPOLINE : originals[i]);
                same(walk.frame.regs.pc, originals[i]);
                same(walk.frame.replaced, i % every == 0);
                same(walk.frame.reliable, true);
                same(walk.frame.guess, SFU_GUESS_NONE);
            }
            code(step(&walk), SFU_END);
            same(ra_asked, 1);
            t.original_ra = NULL; /* without it the trampoline is all there is */
            code(first_step(), SFU_OK);
            same(walk.frame.regs.pc, TRAMPOLINE);
            same(walk.frame.replaced, false);
            close_section(&o);
        }
    }
}

/* A register has no slot; a PAC is not part of the address; the PC that a trap has saved is no return address. */
static void test_replaced_kinds(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        struct sfu_row row;
        begin(abi, &o);
        t.original_ra = original_ra;
        originals[0] = BASE + 0x1020;
        memset(&row, 0, sizeof row);
        row.abi = (uint8_t)abi;
        row.cfa.control = (uint32_t)REG(registers[abi].sp);
        row.cfa.offset = 64 + (int32_t)below(abi);
        row.fp.control = (uint32_t)REG(registers[abi].fp);
        row.ra.control = (uint32_t)REG(registers[abi].link ? registers[abi].ra : registers[abi].fp);
        top.fp = top.ra = TRAMPOLINE;
        top.has_ra = true;
        sfu_walk_start(&walk, &t, &top);
        code(apply_to(&walk, &row), SFU_OK);
        same(last_slot, 0);
        same(walk.frame.regs.pc, BASE + 0x1020);
        same(walk.frame.replaced, true);
        row.ra.control = (uint32_t)AT_REG(registers[abi].sp);
        row.ra.offset = 24;
        row.signed_ra = abi <= SFU_AARCH64;
        put_word(&m, STACK + 24, TRAMPOLINE | (row.signed_ra ? (sfu_addr)(UINT64_C(0x55) << 48) : 0));
        sfu_walk_start(&walk, &t, &top);
        code(apply_to(&walk, &row), SFU_OK);
        same(last_slot, STACK + 24);
        same(walk.frame.replaced, true);
        for (int signal = 0; signal < 2; signal++) {
            row.trap_frame = signal;
            ra_asked = 0;
            sfu_walk_start(&walk, &t, &top);
            code(apply_to(&walk, &row), SFU_OK);
            same(ra_asked, !signal);
            same(walk.frame.replaced, !signal);
            same(walk.frame.regs.pc, signal ? TRAMPOLINE : BASE + 0x1020);
        }
        /* it holds for one frame, and is not asked where the stack cannot be read */
        row.trap_frame = false;
        row.ra.offset = 32;
        put_word(&m, STACK + 64 + 32, BASE + 0x1030);
        code(apply_to(&walk, &row), SFU_OK);
        same(walk.frame.replaced, false);
        ra_asked = 0;
        row.ra.offset = 8192;
        code(apply_to(&walk, &row), SFU_E_STACK);
        same(ra_asked, 0);
        close_section(&o);
    }
}

/* What is guessed may have been replaced, too. */
static void test_replaced_guess(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        begin(abi, &o);
        t.original_ra = original_ra;
        originals[0] = BASE + 0x1020;
        top.pc = 0;
        call_from(abi, TRAMPOLINE);
        code(first_step(), SFU_OK);
        same(walk.frame.guess, SFU_GUESS_CALL);
        same(walk.frame.replaced, true);
        same(walk.frame.regs.pc, BASE + 0x1020);
        same(last_slot, !registers[abi].link ? STACK : 0);
        if (registers[abi].record != NO_RECORD) {
            t.frame_pointers = true;
            top.pc = BASE + 0x1050;
            top.fp = put_record(&m, abi, STACK + 0x50, 0, TRAMPOLINE);
            code(first_step(), SFU_OK);
            same(walk.frame.guess, SFU_GUESS_RECORD);
            same(walk.frame.replaced, true);
            same(last_slot, STACK + 0x50 - word_size);
        }
        close_section(&o);
    }
}

/* ---- The final frame ---- */

/* By the tables and by the hook; each edge; of a return address the lookup PC counts. */
static void test_final(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int hook = 0; hook < 2; hook++) {
            struct opened o;
            sfu_addr pc = hook ? BASE + 0x1050 : BASE + 0x10d0;
            begin(abi, &o);
            t.trap_hook = machine_trap;
            m.trap = trap;
            trap_code = SFU_END;
            for (int kind = SFU_PC_EXACT; kind <= SFU_PC_RETURN; kind++) {
                top.pc = kind == SFU_PC_EXACT ? pc : behind_call(abi, pc);
                pc = kind == SFU_PC_EXACT ? pc : top.pc - 1; /* the lookup PC */
                top.pc_kind = (enum sfu_pc_kind)kind;
                t.final = (struct sfu_range){0, 0};
                code(first_step(), SFU_END);
                t.final.low = pc + 1; /* not set, whatever low is */
                code(first_step(), SFU_END);
                t.final = (struct sfu_range){pc, pc + 1};
                code(first_step(), SFU_END);
                t.final = (struct sfu_range){pc, pc}; /* no frame is final */
                code(first_step(), SFU_E_NOT_FINAL);
                t.final = (struct sfu_range){pc + 1, pc + 2};
                code(first_step(), SFU_E_NOT_FINAL);
                code(step(&walk), SFU_E_NOT_FINAL);
                t.final = (struct sfu_range){pc - 1, pc};
                code(first_step(), SFU_E_NOT_FINAL);
                t.final.low = 0;
                code(first_step(), SFU_E_NOT_FINAL);
                t.final.high = pc + 1;
                code(first_step(), SFU_END);
                t.final.high = SFU_ADDR_MAX;
                code(first_step(), SFU_END);
                t.final.low = pc;
                code(first_step(), SFU_END);
                t.final.low = pc + 1;
                code(first_step(), SFU_E_NOT_FINAL);
            }
            close_section(&o);
        }
    }
}

/* Only the end is looked at: frames and errors are as without it, and sfu_apply does not know it. */
static void test_final_only(void **state)
{
    struct opened o;
    struct sfu_row row;
    (void)state;
    begin(SOME_ABI, &o);
    t.final = (struct sfu_range){1, 2};
    called_from(&m, SOME_ABI, STACK, BASE + 0x10d0, 0xf1);
    code(first_step(), SFU_OK);
    code(find_frame(&t, &walk.frame, &row), SFU_OK);
    code(apply_to(&walk, &row), SFU_END);
    code(step(&walk), SFU_E_NOT_FINAL);
    top.pc = BASE + 0x1050;
    code(first_step(), SFU_E_NO_FDE);
    close_section(&o);
}

/* ---- The instruction set in bit 0 ---- */

static int say_odd(struct machine *machine, const struct sfu_frame *frame, int code,
                   struct sfu_interrupted *interrupted)
{
    (void)machine;
    (void)frame;
    (void)code;
    interrupted->regs.pc = BASE + 0x1031;
    interrupted->regs.sp = STACK + 0x200;
    return SFU_OK;
}

/* Whoever gives a PC may have left that bit in it: the caller, a trap hook, a tracer, the stack. */
static void test_even(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        begin(abi, &o);
        for (int kind = SFU_PC_EXACT; kind <= SFU_PC_RETURN; kind++) {
            top.pc = BASE + 0x1011;
            top.pc_kind = (enum sfu_pc_kind)kind;
            called_from(&m, abi, STACK, BASE + 0x1021, 0xf1);
            sfu_walk_start(&walk, &t, &top);
            same(walk.frame.regs.pc, pc_of(abi, BASE + 0x1011));
            code(step(&walk), SFU_OK);
            same(walk.frame.regs.pc, pc_of(abi, BASE + 0x1021));
        }
        t.original_ra = original_ra;
        originals[0] = BASE + 0x1025;
        called_from(&m, abi, STACK, TRAMPOLINE, 0xf1);
        code(first_step(), SFU_OK);
        same(walk.frame.replaced, true);
        same(walk.frame.regs.pc, pc_of(abi, BASE + 0x1025));
        t.trap_hook = machine_trap;
        m.trap = say_odd;
        top.pc = BASE + 0x1050;
        code(first_step(), SFU_OK);
        same(walk.frame.regs.pc, pc_of(abi, BASE + 0x1031));
        close_section(&o);
    }
}

/* ---- Stacks ---- */

enum { SIZE = 0x1000, LEVELS = 3 };

/* A row by which SP becomes what FP is. */
static void row_to_fp(int abi, struct sfu_row *row)
{
    memset(row, 0, sizeof *row);
    row->abi = (uint8_t)abi;
    row->cfa.control = (uint32_t)REG(registers[abi].fp);
    row->cfa.offset = (int32_t)below(abi);
    row->ra.control = row->fp.control = (uint32_t)REG(registers[abi].fp);
}

static sfu_addr address(unsigned stack, unsigned level)
{
    return STACK + stack * (sfu_addr)SIZE + 0x10 * (level + 1);
}

/* Visits of stacks, from the rule: on each stack SP grows, from where it was there last. */
struct visits {
    unsigned count;
    sfu_addr last[8]; /* by the number of the stack; 0: it has not been on it */
    unsigned current;
    unsigned switches;
};

static bool may_go(const struct visits *v, unsigned stack, sfu_addr sp)
{
    return sp > v->last[stack];
}

static unsigned visited, refused;

/* Every way to go on from WALK, whose visits were V, over STACKS stacks, LEFT visits more. */
static void visit(const struct sfu_walk *from, const struct visits *v, const struct sfu_row *row, unsigned stacks,
                  unsigned left)
{
    if (left == 0)
        return;
    for (unsigned i = 0; i < stacks * LEVELS; i++) {
        unsigned stack = i / LEVELS;
        sfu_addr sp = address(stack, i % LEVELS);
        struct sfu_walk next;
        memcpy(&next, from, sizeof next);
        next.frame.regs.fp = sp;
        note_numbers("stack %llu, SP %llx, %llu visits left", stack, sp, left, 0);
        visited++;
        if (!may_go(v, stack, sp)) {
            refused++;
            code(apply_to(&next, row), SFU_E_PROGRESS);
        } else {
            struct visits then = *v;
            code(apply_to(&next, row), SFU_OK);
            then.last[stack] = sp;
            then.switches += stack != v->current;
            then.current = stack;
            same(next.frame.regs.sp, sp);
            same(next.frame.switched, stack != v->current);
            same(next.frame.switches, then.switches);
            same(next.frame.reliable, true);
            visit(&next, &then, row, stacks, left - 1);
        }
    }
}

/* Every order of visits of up to five stacks. */
static void test_visits(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct sfu_row row;
        machine_init(&m, &t, registers[abi].big);
        t.find_stack = machine_find_stack;
        m.stack_size = SIZE;
        row_to_fp(abi, &row);
        for (unsigned stacks = 1; stacks <= 5; stacks++) {
            struct visits v;
            memset(&v, 0, sizeof v);
            memset(&walk, 0, sizeof walk);
            memset(&top, 0, sizeof top);
            top.sp = v.last[0] = address(0, 0);
            top.pc_kind = SFU_PC_RETURN;
            sfu_walk_start(&walk, &t, &top);
            visited = refused = 0;
            visit(&walk, &v, &row, stacks, stacks < 4 ? 6 : 9 - stacks);
            holds(visited > 0 && refused > 0);
        }
    }
}

/* Goes from one stack to the next in turn, up on each, as often as a walk may. No stack is forgotten. */
static void test_remembered(void **state)
{
    (void)state;
    for (unsigned stacks = 2; stacks <= SFU_MAX_SWITCHES; stacks++) {
        struct sfu_row row;
        machine_init(&m, &t, registers[SOME_ABI].big);
        t.find_stack = machine_find_stack;
        m.stack_size = SIZE;
        row_to_fp(SOME_ABI, &row);
        memset(&walk, 0, sizeof walk);
        memset(&top, 0, sizeof top);
        top.sp = address(0, 1);
        top.pc_kind = SFU_PC_RETURN;
        sfu_walk_start(&walk, &t, &top);
        for (unsigned i = 1; i < SFU_MAX_SWITCHES; i++) {
            note("%u stacks, visit %u", stacks, i);
            walk.frame.regs.fp = address(i % stacks, 1 + i / stacks);
            code(apply_to(&walk, &row), SFU_OK);
        }
        for (unsigned i = SFU_MAX_SWITCHES - stacks; i < SFU_MAX_SWITCHES - 1; i++) {
            for (int by = -1; by <= 1; by++) {
                struct sfu_walk other;
                memcpy(&other, &walk, sizeof other);
                other.frame.regs.fp = address(i % stacks, 1 + i / stacks) + (sfu_addr)(int64_t)by;
                note("%u stacks, left at visit %u, %d", stacks, i, by);
                code(apply_to(&other, &row), by > 0 ? SFU_OK : SFU_E_PROGRESS);
            }
        }
    }
}

/* A stack is entered again above where it was left, whatever leads there. */
static void test_entered_again(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int kind = SFU_PC_EXACT; kind <= SFU_PC_RETURN; kind++) {
            for (int signal = 0; signal < 2; signal++) {
                for (int by = -1; by <= 1; by++) {
                    struct sfu_row row;
                    bool grows = by > 0 || (by == 0 && kind == SFU_PC_EXACT && !signal); /* within a stack */
                    machine_init(&m, &t, registers[abi].big);
                    t.find_stack = machine_find_stack;
                    m.stack_size = SIZE;
                    row_to_fp(abi, &row);
                    memset(&walk, 0, sizeof walk);
                    memset(&top, 0, sizeof top);
                    top.sp = address(0, 2);
                    sfu_walk_start(&walk, &t, &top);
                    walk.frame.regs.fp = address(1, 0);
                    code(apply_to(&walk, &row), SFU_OK);
                    walk.frame.regs.fp = address(0, 2) + (sfu_addr)(int64_t)by;
                    walk.frame.regs.pc_kind = (enum sfu_pc_kind)kind;
                    row.trap_frame = signal;
                    note("ABI %d, kind %d, signal %d, by %d", abi, kind, signal, by);
                    code(apply_to(&walk, &row), by > 0 ? SFU_OK : SFU_E_PROGRESS);
                    t.find_stack = NULL; /* without the callback nothing is remembered, and a trap leads anywhere */
                    sfu_walk_start(&walk, &t, &top);
                    walk.frame.regs.pc_kind = (enum sfu_pc_kind)kind;
                    walk.frame.regs.fp = address(0, 2) + (sfu_addr)(int64_t)by;
                    code(apply_to(&walk, &row), grows || signal ? SFU_OK : SFU_E_PROGRESS);
                }
            }
        }
    }
}

/* A hook's frames are held to the same rule: from stack A to B and back to A below where it was left. */
static void test_hook_back(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        for (int by = -0x10; by <= 0x10; by += 0x10) {
            struct opened o;
            begin(abi, &o);
            t.find_stack = machine_find_stack;
            t.trap_hook = machine_trap;
            m.trap = trap;
            m.stack_size = SIZE;
            trap_code = SFU_OK;
            top.pc = 0;
            top.sp = address(0, 1);
            trap_sp = address(1, 1);
            code(first_step(), SFU_OK);
            same(walk.frame.switched, true);
            walk.frame.regs.pc = 0;
            trap_sp = address(0, 1) + (sfu_addr)(int64_t)by;
            code(step(&walk), by > 0 ? SFU_OK : SFU_E_PROGRESS);
            same(walk.frame.switches, by > 0 ? 2 : 1);
            same(walk.frame.reliable, true);
            trap_sp = 0;
            close_section(&o);
        }
    }
}

/* An exception entry that has put all registers back, and not returned yet, has no stack: SP is the interrupted one. It
 * stays once, so that a hook that says so for ever does not go on for ever. */
static void test_hook_same_sp(void **state)
{
    (void)state;
    FOR_ABIS(abi)
    {
        struct opened o;
        begin(abi, &o);
        t.find_stack = machine_find_stack;
        t.trap_hook = machine_trap;
        m.trap = trap;
        m.stack_size = SIZE;
        trap_code = SFU_OK;
        top.pc = 0;
        top.sp = address(0, 1);
        trap_sp = address(0, 1);
        code(first_step(), SFU_OK);
        same(walk.frame.switched, false);
        same(walk.frame.reliable, true);
        walk.frame.regs.pc = 0;
        code(step(&walk), SFU_E_PROGRESS);
        trap_sp = 0;
        close_section(&o);
    }
}

int crash_tests(void)
{
    const struct check_test tests[] = {
        CHECK(test_find_text),  CHECK(test_code),          CHECK(test_asked),          CHECK(test_text),
        CHECK(test_wild_call),  CHECK(test_wild_caller),   CHECK(test_wild_limits),    CHECK(test_wild_interrupted),
        CHECK(test_wild_order), CHECK(test_replaced),      CHECK(test_replaced_kinds), CHECK(test_replaced_guess),
        CHECK(test_final),      CHECK(test_final_only),    CHECK(test_even),           CHECK(test_visits),
        CHECK(test_remembered), CHECK(test_entered_again), CHECK(test_hook_back),      CHECK(test_hook_same_sp),
    };
    return check_run("crash", tests);
}
