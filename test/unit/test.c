/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "test.h"

#include <stdarg.h>

struct build the_build;

/* ---- Comparing ---- */

static char noted[256];
static const char *numbers_format; /* of numbers, which are not in noted yet; or NULL */
static unsigned long long numbers[4];

void note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(noted, sizeof noted, format, args);
    va_end(args);
    numbers_format = NULL;
}

void note_numbers(const char *format, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    numbers_format = format;
    numbers[0] = a;
    numbers[1] = b;
    numbers[2] = c;
    numbers[3] = d;
}

static const char *last_note(void)
{
    if (numbers_format != NULL)
        note(numbers_format, numbers[0], numbers[1], numbers[2], numbers[3]);
    return noted;
}

void same_at(uint64_t a, uint64_t b, const char *what, const char *file, int line)
{
    if (a != b) {
        check_fail(file, line, "%s: 0x%llx, 0x%llx (%s)", what, (unsigned long long)a, (unsigned long long)b,
                   last_note());
    }
}

static const struct {
    int code;
    const char *name;
} codes[] = {
#define CODE(name)                                                                                                 \
    {                                                                                                              \
        SFU_##name, #name                                                                                          \
    }
    CODE(OK),          CODE(END),        CODE(E_EMPTY),    CODE(E_MAGIC),     CODE(E_VERSION),
    CODE(E_ABI),       CODE(E_FLAGS),    CODE(E_BOUNDS),   CODE(E_SECTION),   CODE(E_CONCATENATED),
    CODE(E_UNSORTED),  CODE(E_OVERLAP),  CODE(E_COUNT),    CODE(E_READONLY),  CODE(E_NO_FDE),
    CODE(E_NO_ROW),    CODE(E_FDE),      CODE(E_ROW),      CODE(E_STACK),     CODE(E_ADDRESS),
    CODE(E_UNSAFE),    CODE(E_REGISTER), CODE(E_NO_RA),    CODE(E_PROGRESS),  CODE(E_SWITCHES),
    CODE(E_DEPTH),     CODE(E_TRAP),     CODE(E_NOT_CODE), CODE(E_NOT_FINAL), CODE(E_NO_SECTION),
    CODE(E_DEAD_SLOT),
#undef CODE
};

const char *code_name(int code)
{
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i].code == code)
            return codes[i].name;
    return "not a code of sfu";
}

void code_at(int got, int want, const char *what, const char *file, int line)
{
    if (got != want)
        check_fail(file, line, "%s: %s (%d), not %s (%s)", what, code_name(got), got, code_name(want), last_note());
}

static bool seen_codes[64];

int seen(int code)
{
    if (code >= LAST_CODE && code <= SFU_END)
        seen_codes[code - LAST_CODE] = true;
    return code;
}

bool was_seen(int code)
{
    return seen_codes[code - LAST_CODE];
}

bool built(int version, int abi, bool big)
{
    static const int last[] = {0, SFU_AMD64, SFU_S390X, LAST_OF_ABIS}; /* of each version */
    bool exists =
        version >= OLDEST && version <= 3 && abi >= FIRST_ABI && abi <= last[version] && abis[abi].id == abi;
#ifdef SFU_ABI
    return exists && abi == SFU_ABI && big == registers[abi].big;
#else
    (void)big;
    return exists;
#endif
}

sfu_addr stack_base, max_address;
unsigned word_size;

int use_abi(int abi)
{
    word_size = abis[abi > LAST_ABI ? SOME_ABI : abi].word;
    stack_base = (sfu_addr)(word_size == 8 ? UINT64_C(0x7ff000000000) : 0x7ff00000);
    max_address = word_size == 8 ? SFU_ADDR_MAX : UINT32_MAX;
    return abi;
}

sfu_addr below(int abi)
{
    return abis[abi].sp_below_cfa;
}

int64_t cfa_word(int abi, int64_t offset)
{
    return abi == SFU_S390X ? offset / 8 : offset;
}

int64_t cfa_offset(int abi, int64_t word)
{
    return abi == SFU_S390X ? 8 * word + 160 : word;
}

sfu_addr pc_of(int abi, sfu_addr ra)
{
    return abis[abi].even ? ra / 2 * 2 : ra;
}

sfu_addr behind_call(int abi, sfu_addr pc)
{
    return pc + (abis[abi].even ? 2 : 1);
}

/* ---- Memory ---- */

int stack_read(void *ctx, sfu_addr addr, void *buffer, size_t len)
{
    same(len, word_size); /* the promise of sfu_read_fn */
    return memory_read(ctx, addr, buffer, len);
}

int memory_read(void *ctx, sfu_addr addr, void *buffer, size_t len)
{
    struct memory *m = ctx;
    holds(len >= 1 && len <= 28); /* the promise of sfu_read_fn */
    holds(addr <= SFU_ADDR_MAX - len);
    m->reads++;
    if (len > m->longest)
        m->longest = len;
    if (m->reads == m->fail_at)
        return -1;
    if (addr - m->addr > m->size || len > m->size - (addr - m->addr)) {
        holds(!m->strict);
        return 1;
    }
    memcpy(buffer, m->bytes + (addr - m->addr), len);
    return 0;
}

/* ---- Sections ---- */

static int open_one(struct sfu_section *s, const uint8_t *block, struct memory *m, sfu_addr size, sfu_addr addr)
{
    struct sfu_section before;
    int result;
    memset(&before, 0xa5, sizeof before);
    *s = before;
    result = seen(m == NULL ? sfu_open(s, block, size, addr) : sfu_open_remote(s, memory_read, m, size, addr));
    if (result != SFU_OK)
        assert_memory_equal(s, &before, sizeof before);
    return result;
}

int open_bytes(struct opened *o, const void *bytes, size_t size, sfu_addr addr)
{
    int result;
    memset(o, 0, sizeof *o);
    o->block = malloc(size + 1);
    assert_non_null(o->block);
    memcpy(o->block + 1, bytes, size); /* nothing is aligned, and the block ends where the section does */
    o->memory.bytes = o->block + 1;
    o->memory.addr = addr;
    o->memory.size = (sfu_addr)size;
    o->memory.strict = true;
    result = open_one(&o->mapped, o->block + 1, NULL, (sfu_addr)size, addr);
#ifndef SFU_NO_REMOTE
    code(open_one(&o->remote, NULL, &o->memory, (sfu_addr)size, addr), result);
    holds(o->memory.reads <= 1);
    o->memory.reads = 0;
    o->has_remote = true;
#endif
    if (result != SFU_OK)
        close_section(o);
    return result;
}

sfu_addr size_of(const struct build *build)
{
    return (sfu_addr)build->size;
}

int open_build(struct opened *o, const struct build *b)
{
    return open_bytes(o, b->bytes, b->size, BASE);
}

void open_valid(struct opened *o, struct build *b)
{
    build_end(b);
    code(open_build(o, b), SFU_OK);
}

void close_section(struct opened *o)
{
    free(o->block);
    o->block = NULL;
}

int add(struct sfu_section **list, struct sfu_section *s)
{
    struct sfu_range text = s->text;
    struct memory *m = s->ctx;
    unsigned reads = m != NULL ? m->reads : 0;
    int result = s->bytes != NULL ? sfu_add(list, s, 1, s->bytes, s->size, s->addr)
                                  : sfu_add_remote(list, s, 1, s->read, s->ctx, s->size, s->addr);
    if (result == SFU_OK) {
        assert_ptr_equal(*list, s);
        s->text = text;
    }
    if (m != NULL)
        m->reads = reads;
    return result;
}

static int find_one(const struct sfu_section *s, sfu_addr pc, struct sfu_row *row)
{
    struct sfu_row before;
    int result;
    memset(&before, 0xa5, sizeof before);
    *row = before;
    result = seen(sfu_find(s, pc, row));
    if (result != SFU_OK) {
        assert_memory_equal(row, &before, sizeof before);
    } else {
        holds(pc - row->start < row->length);
        same(row->abi, s->abi);
    }
    return result;
}

unsigned list_length(const struct sfu_section *list)
{
    unsigned n = 0;
    for (; list != NULL; list = list->next)
        n++;
    return n;
}

int find(struct opened *o, sfu_addr pc, struct sfu_row *row)
{
    struct sfu_row mine;
    int result = find_one(&o->mapped, pc, row == NULL ? &mine : row);
    if (o->has_remote) {
        struct sfu_row other;
        code(find_one(&o->remote, pc, &other), result);
        if (result == SFU_OK)
            same_row(row == NULL ? &mine : row, &other);
    }
    return result;
}

int find_frame(const struct sfu_target *t, const struct sfu_frame *frame, struct sfu_row *row)
{
    struct sfu_row before;
    int result;
    memset(&before, 0xa5, sizeof before);
    *row = before;
    result = seen(sfu_find_frame(t, frame, row));
    if (result != SFU_OK)
        assert_memory_equal(row, &before, sizeof before);
    else
        holds(sfu_lookup_pc(&frame->regs) - row->start < row->length);
    return result;
}

int check(struct opened *o, struct sfu_place *place)
{
    struct sfu_place mine = {77, 78};
    int result = seen(sfu_check(&o->mapped, &mine));
    code(sfu_check(&o->mapped, NULL), result);
    if (result == SFU_OK) {
        holds(mine.fde == 77 && mine.row == 78); /* there is no fault, and no place of it */
    } else {
        holds(mine.fde <= o->mapped.num_fdes);
        holds(mine.fde < o->mapped.num_fdes || mine.row == 0);
    }
    if (o->has_remote) {
        struct sfu_place other = {77, 78};
        unsigned reads = o->memory.reads;
        code(sfu_check(&o->remote, &other), result);
        holds(o->memory.reads - reads <= CHECK_FDE_READS * o->mapped.num_fdes + CHECK_END_READS +
                                             CHECK_ROW_READS * ((o->mapped.end - o->mapped.rows) / 2));
        same(other.fde, mine.fde);
        same(other.row, mine.row);
    }
    if (place != NULL)
        *place = mine;
    return result;
}

/* ---- Frames ---- */

void machine_init(struct machine *m, struct sfu_target *t, bool big)
{
    memset(m, 0, sizeof *m);
    memset(t, 0, sizeof *t);
    m->stack.bytes = m->bytes;
    m->stack.addr = STACK;
    m->stack.size = sizeof m->bytes;
    m->big = big;
    m->stack_size = 0x1000;
    t->stack.high = SFU_ADDR_MAX;
    t->read = stack_read;
    t->ctx = m;
}

void put_word(struct machine *m, sfu_addr addr, sfu_addr value)
{
    holds(addr - STACK <= sizeof m->bytes - word_size);
    for (unsigned i = 0; i < word_size; i++)
        m->bytes[addr - STACK + (m->big ? word_size - 1 - i : i)] = (uint8_t)(value >> (8 * i));
}

sfu_addr called_from(struct machine *m, int abi, sfu_addr sp, sfu_addr pc, sfu_addr fp)
{
    put_word(m, sp + 32 + below(abi) - 8, pc);
    put_word(m, sp + 32 + below(abi) - 16, fp);
    return sp + 32;
}

sfu_addr put_record(struct machine *m, int abi, sfu_addr cfa, sfu_addr fp, sfu_addr pc)
{
    put_word(m, cfa - 2 * word_size, fp);
    put_word(m, cfa - word_size, pc);
    return cfa - abis[abi].record;
}

int machine_reg(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value)
{
    struct machine *m = ctx;
    m->asked++;
    same(frame->regs.pc_kind, SFU_PC_EXACT);
    if (reg >= 34 || !(m->known >> reg & 1))
        return 1;
    *value = m->reg[reg];
    return 0;
}

int machine_trap(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    struct machine *m = ctx;
    const struct sfu_registers *r = &interrupted->regs;
    m->trapped++;
    holds(r->pc == 0 && r->sp == 0 && r->fp == 0 && r->ra == 0 && !r->has_ra && r->pc_kind == SFU_PC_EXACT);
    same(interrupted->guess, SFU_GUESS_NONE);
    same(interrupted->saved, frame->regs.sp);
    return m->trap(m, frame, code, interrupted);
}

bool machine_find_stack(void *ctx, sfu_addr addr, struct sfu_stack *stack)
{
    struct machine *m = ctx;
    m->finds++;
    stack->bytes = NULL;
    stack->low = addr - addr % m->stack_size;
    stack->high = stack->low > SFU_ADDR_MAX - m->stack_size ? SFU_ADDR_MAX : stack->low + m->stack_size;
    return true;
}

void stand(struct sfu_walk *walk)
{
    const struct sfu_target *t = walk->target;
    sfu_addr sp = walk->frame.regs.sp;
    walk->stack = t->stack;
    if ((t->find_stack != NULL && !t->find_stack(t->ctx, sp, &walk->stack)) || sp > walk->stack.high)
        memset(&walk->stack, 0, sizeof walk->stack);
}

int apply(const struct sfu_target *t, const struct sfu_row *row, struct sfu_frame *frame)
{
    struct sfu_walk walk;
    int result;
    memset(&walk, 0, sizeof walk);
    walk.target = t;
    memcpy(&walk.frame, frame, sizeof *frame);
    stand(&walk);
    result = apply_to(&walk, row);
    memcpy(frame, &walk.frame, sizeof *frame);
    return result;
}

int apply_to(struct sfu_walk *walk, const struct sfu_row *row)
{
    struct sfu_walk before;
    struct sfu_row row_before = *row;
    struct machine *m = walk->target->ctx;
    unsigned reads = m->stack.reads;
    int result;
    memcpy(&before, walk, sizeof before);
    result = seen(sfu_apply(walk, row));
    if (result != SFU_OK)
        assert_memory_equal(walk, &before, sizeof before);
    assert_memory_equal(row, &row_before, sizeof row_before);
    holds(m->stack.reads - reads <= 3);
    return result;
}

/* A failed step is asked again: it must say the same. */
int step(struct sfu_walk *walk)
{
    struct sfu_walk before;
    int result;
    memcpy(&before, walk, sizeof before);
    result = seen(sfu_walk_step(walk));
    if (result != SFU_OK) {
        if (result == SFU_END || result == SFU_E_NOT_FINAL) /* a hook that is not sure makes the frame unreliable */
            before.frame.reliable = before.frame.reliable && walk->frame.reliable;
        assert_memory_equal(walk, &before, sizeof before);
    } else {
        same(walk->frame.depth, before.frame.depth + 1);
        same(walk->frame.reliable, before.frame.reliable && walk->frame.guess == SFU_GUESS_NONE);
    }
    return result;
}

void same_rule_at(const struct sfu_rule *rule, uint32_t control, int64_t offset, const char *file, int line)
{
    same_at(rule->control, control, "rule's control", file, line);
    same_at((sfu_addr)rule->offset, (sfu_addr)offset, "rule's offset", file, line);
}

void same_row_at(const struct sfu_row *a, const struct sfu_row *b, const char *file, int line)
{
    same_at(a->start, b->start, "start", file, line);
    same_at(a->function, b->function, "function", file, line);
    same_at(a->length, b->length, "length", file, line);
    same_at(a->abi, b->abi, "abi", file, line);
    same_at(a->kind, b->kind, "kind", file, line);
    same_at(a->trap_frame, b->trap_frame, "trap_frame", file, line);
    if (a->kind != SFU_ROW_RULES)
        return;
    same_at(a->signed_ra, b->signed_ra, "signed_ra", file, line);
    same_rule_at(&a->cfa, b->cfa.control, b->cfa.offset, file, line);
    same_rule_at(&a->ra, b->ra.control, b->ra.offset, file, line);
    same_rule_at(&a->fp, b->fp.control, b->fp.offset, file, line);
}

/* ---- Loops ---- */

void for_each_variant(void (*test)(const struct variant *v))
{
    struct variant v;
    for (v.version = OLDEST; v.version <= 3; v.version++) {
        FOR_ABIS(abi)
        {
            for (int i = 0; i < (v.version == 1 ? 2 : 4); i++) {
                v.abi = use_abi(abi);
                v.big = i & 1;
                v.flags = i & 2 ? F_PCREL : 0;
                if (!built(v.version, v.abi, v.big))
                    continue;
                note("version %d, ABI %d, %s-endian, flags %x", v.version, v.abi, v.big ? "big" : "little",
                     v.flags);
                test(&v);
            }
        }
    }
}

void begin_variant(struct build *b, const struct variant *v)
{
    build_begin(b, v->version, v->abi, v->big);
    b->flags |= (uint8_t)v->flags;
}

static uint64_t random_state = 1;

void random_seed(uint64_t seed)
{
    random_state = seed * 2 + 1;
}

uint64_t random_number(void)
{
    uint64_t x = random_state; /* Marsaglia's xorshift */
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    random_state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}
