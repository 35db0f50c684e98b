/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Traces by the fast walker: without a cache and with one of many sizes, cold and warm, with an index, after sections
 * came, went and changed. Each gives the PCs and the code of the core, and asks the callbacks just what the core asks.
 *
 * Input: the section or a description of it, 64 stack words of 2 bytes (see value), and choices (struct choices).
 */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "sfu_fast.h"
#include "test/core_trace.h"

enum { WORDS = 64, STACK = 0x70000000, TOPS = 2, IMAGES = 2, CHANGES = 6, MOST = 128, INDEX = 1 << 16 };

struct choices {
    uint8_t
        section; /* bits 0 and 1: as it is, generated (of any version and ABI), or for this machine; 2: at the end
                         of a page; 3 and 4: address; 5 to 7: whether there is a second one, and where */
    uint8_t fault[3]; /* which byte of the first is changed, and how */
    uint8_t target;   /* bit 0: reg, 1: frame pointers, 2 to 4: stack, 5: red zone, 6 and 7: read callback */
    uint8_t part;     /* of the stack, that is there */
    uint8_t trap;     /* 0 to 127: no hook; otherwise what it does */
    uint8_t stacks;   /* 0 to 191: no callback; otherwise how it tells stacks apart */
    uint8_t max_frames;
    uint8_t max_switches; /* bit 5: a final frame, 6: RAs are replaced, 7: the text is known */
    uint8_t fail;         /* which word of the stack the callback cannot read */
    uint8_t pac;
    uint8_t skip, capacity; /* below 192: 0; everything */
    uint8_t cache;
    uint8_t change[CHANGES];
    uint8_t kind[TOPS]; /* bit 0: the PC is a return address, 1: no RA */
    uint8_t pc[TOPS][2], sp[TOPS], fp[TOPS], ra[TOPS][2], interrupted[2];
};

struct world {
    struct choices how;
    struct table table[IMAGES];
    struct sfu_section section[IMAGES];
    struct sfu_fast_image image[IMAGES];
    uint8_t *bytes[IMAGES];
    size_t size;
    bool added[IMAGES];
    uint32_t *index[IMAGES];
    struct sfu_fast fast;
    struct sfu_target target;
    struct sfu_registers top[TOPS];
    uint8_t stack[8 * WORDS];
    uint64_t asked; /* what the callbacks were asked, in one number */
    size_t window;  /* bytes of the stack that may be read at once, besides a word */
};

/* ---- Sections -------------------------------------------------------------------------------------------------- */

static uint8_t *put(uint8_t *out, unsigned size, uint64_t value)
{
    bytes_put(out, size, BIG_HOST, value);
    return out + size;
}

/* The words of a row as compilers write them; the first is the CFA's. Returns how many. */
static unsigned common_words(unsigned how, unsigned more, int64_t *words)
{
    int64_t c = 8 * (int64_t)(1 + (how & 7)), k;

    words[0] = c;
    if (HOST_ABI == SFU_AMD64) {
        words[1] = -8 * (int64_t)(1 + more % (unsigned)(c / 8));
        return how & 0x40 ? 2 : 1;
    }
    if (HOST_ABI == SFU_S390X) {
        words[0] = how & 7;
        words[1] = how & 0x20 ? 0 : -48;
        words[2] = -8 * (int64_t)(1 + more % 20);
        return more & 0x80 ? 1 : how & 0x40 ? 3 : 2;
    }
    k = 8 * (int64_t)(1 + more % (unsigned)(c / 8));
    words[0] = more & 0x40 ? 0 : c + 8;
    words[1] = -k;
    words[2] = -k - 8;
    return more & 0x40 ? 1 : how & 0x40 ? 3 : 2;
}

/* A row that is common unless the second byte of its description is large. */
static uint8_t *put_row(struct source *in, uint8_t *out, unsigned address, uint32_t start)
{
    unsigned how = next_byte(in), more = next_byte(in), size = how & 0x80 ? 2 : 1, count;
    unsigned info = ((how >> 3 & 7) == 7 ? 0 : 1) | (size >> 1) << 5 | (more & 0x20 ? 0x80 : 0);
    int64_t words[3];

    count = common_words(how, more, words);
    if (more >= 0xf0)
        words[more % count] = (int8_t)next_byte(in) * (int64_t)(size == 2 ? next_byte(in) : 1);
    if (more >= 0xfc)
        info ^= next_byte(in);
    out = put(out, address, start);
    out = put(out, 1, info | count << 1);
    for (unsigned i = 0; i < count; i++)
        out = put(out, size, (uint64_t)words[i]);
    return out;
}

/* A flexible row: the CFA, mostly the RA and FP, each from SP, FP or the CFA, or from what the input says. */
static uint8_t *put_flexible_row(struct source *in, uint8_t *out, unsigned address, uint32_t start)
{
    static const unsigned native[] = {HOST_SP, HOST_FP};
    unsigned how = next_byte(in), size = how & 0x80 ? 4 : 1, rules = 1 + (how >> 5 & 3) % 3, i;

    out = put(out, address, start);
    out = put(out, 1, (rules * 2) << 1 | (size >> 1) << 5 | (how & 1 ? 0x80 : 0));
    for (i = 0; i < rules; i++) {
        unsigned what = next_byte(in);
        unsigned control = what >= 0xf8 ? next_byte(in) : what & 1 || i == 0 ? native[what >> 1 & 1] << 3 | 1u : 0u;

        control |= what & 4 || i > 0 ? 2u : 0u;
        out = put(out, size, what >= 0xfc ? what & 1 : control);
        out = put(out, size, (uint64_t)((int8_t)next_byte(in) * (what & 8 && size == 4 ? 64 : what & 16 ? 1 : 8)));
    }
    return out;
}

/* What few functions are: bits of KIND. Returns the first byte of attributes. */
static unsigned put_unusual(unsigned kind, uint8_t *attributes)
{
    attributes[3] = kind & 1;
    attributes[4] = (uint8_t)(kind & 8 ? 8 + (kind & 0xf0) / 4 : 0);
    return (kind & 2 ? 2 : 1) | (kind & 4 ? 0x80 : 0) | (kind & 8 ? 0x10 : 0);
}

/* The attributes and rows of a function; behind FULL only one row. */
static uint8_t *put_function(struct source *in, uint8_t *out, uint32_t length, const uint8_t *full)
{
    unsigned how = next_byte(in), address = 1 + (how & 1), rows = 1 + (how >> 1 & 3), info, i;
    unsigned kind = how >= 0xc0 && how < 0xe8 ? next_byte(in) : 0;
    uint32_t start = 0;
    uint8_t *attributes = out;

    out += 5;
    attributes[3] = (uint8_t)(how >= 0xf8 ? next_byte(in) : 0);
    attributes[4] = (uint8_t)(how >= 0xf0 ? next_byte(in) : 0);
    info = (how & 1) ^ (how >= 0xf0 ? next_byte(in) : how & 0x20);
    if (how >= 0xc0 && how < 0xe8) {
        info = put_unusual(kind, attributes);
        address = 1u << (info & 3);
        rows = kind & 8 ? rows : 1 + (kind >> 4) * 6;
    }
    for (i = 0; i < rows && (i == 0 || (start < length && out < full)) && start >> 8 * (address & 3) == 0; i++) {
        out = attributes[3] == 1 ? put_flexible_row(in, out, address, start) : put_row(in, out, address, start);
        start += 1 + (next_byte(in) * length >> 8) / (rows > 8 ? rows / 4 : 1);
    }
    put(attributes, 2, how >= 0xfa ? 0 : i);
    attributes[2] = (uint8_t)info;
    return out;
}

/* A sorted section of version 3 for this machine. Returns its size. */
static size_t native_section(struct source *in, uint8_t *out)
{
    unsigned how = next_byte(in), number = 1 + (how & 7), rows = 0;
    uint8_t *fde = out + 28, *fres = fde + number * 16, *at = fres, *function;
    int64_t start = (int64_t)(int8_t)next_byte(in) * (how & 0x40 ? 0x100 : 0x1000);

    for (unsigned i = 0; i < number; i++, fde += 16) {
        unsigned gap = next_byte(in);
        uint32_t length = next_byte(in) * (gap & 1 ? gap & 2 ? 257 : 37 : 1);

        start += gap >> 4;
        put(fde, 8, (uint64_t)start - (how & 0x20 ? (uint64_t)(fde - out) : 0));
        put(fde + 8, 4, length);
        put(fde + 12, 4, (uint64_t)(at - fres));
        function = at;
        at = put_function(in, at, length, out + MAX_SECTION - 8 * 40 - 32);
        rows += (unsigned)bytes_get(function, 2, BIG_HOST);
        start += length;
    }
    put(out, 2, 0xdee2);
    out[2] = 3;
    out[3] = how & 0x20 ? 5 : 1;
    out[4] = HOST_ABI;
    out[5] = 0;
    out[6] = HOST_ABI == SFU_AMD64 ? 0xf8 : 0;
    out[7] = 0;
    put(out + 8, 4, number);
    put(out + 12, 4, rows);
    put(out + 16, 4, (uint64_t)(at - fres));
    put(out + 20, 4, 0);
    put(out + 24, 4, number * 16);
    return (size_t)(at - out);
}

static uint64_t address_of(const struct world *w, unsigned n)
{
    static const uint64_t addresses[] = {UINT64_C(0x555555600000), UINT64_C(0xffffffff81000000), 0x400000, 0x1000};
    static const int64_t moves[] = {0x10000, 0x10000, 0x400, -0x10000, 1, 0x4000000000000000, 0, 0x7fffffffffff};

    return addresses[w->how.section >> 3 & 3] + (n > 0 ? (uint64_t)moves[w->how.section >> 5] : 0);
}

/* Opens section N, and adds it if that is possible. */
static void add(struct world *w, unsigned n)
{
    if (try_open(&w->section[n], w->bytes[n], w->size, address_of(w, n), NULL) != SFU_OK)
        return;
    table_read(&w->table[n], w->bytes[n], w->size, address_of(w, n));
    if (w->how.max_switches & 128 && sfu_find_text(&w->section[n]) == SFU_OK && w->how.part & 2)
        w->section[n].text.high -= (w->section[n].text.high - w->section[n].text.low) / 4;
    w->added[n] = sfu_fast_add(&w->fast, &w->image[n], 1, &w->section[n]) == SFU_OK;
    MUST(!w->added[n] || (w->fast.sections == &w->section[n] && w->fast.images == &w->image[n]));
}

static void take(struct world *w, unsigned n)
{
    MUST(sfu_fast_remove(&w->fast, &w->image[n], 1) == w->added[n]);
    w->added[n] = false;
}

/* An index in just the bytes that it needs, or with one byte less: then the one before stays. */
static void set_index(struct world *w, unsigned n, bool enough)
{
    size_t size = w->added[n] ? sfu_fast_index_size(&w->image[n]) : 0;
    uint32_t *index;

    if (size == 0 || size > INDEX)
        return;
    index = malloc(size);
    MUST(index != NULL);
    MUST(sfu_fast_set_index(&w->image[n], index, size - !enough) == enough);
    if (enough) {
        free(w->index[n]);
        w->index[n] = index;
    } else {
        free(index);
    }
}

static void set_cache(struct world *w, unsigned how)
{
    static uint64_t cache[1024 + 1];

    sfu_fast_set_cache(&w->fast, (uint8_t *)cache + how % 8,
                       how & 0x20   ? (size_t)1 << 10 << (how >> 6)
                       : how & 0x10 ? 1024 + (how & 15)
                                    : 0);
}

/* ---- Target ---------------------------------------------------------------------------------------------------- */

/* A number from 2 bytes: mostly return addresses, or addresses in the stack. */
static uint64_t value(const struct world *w, const uint8_t *p)
{
    unsigned v = (unsigned)bytes_get(p, 2, false), low = v & 0xfff, kind = v >> 12;
    const struct table *t = &w->table[kind & 1];
    const struct table_fde *f;

    if (kind >= 14)
        return kind == 14 ? low : low << 8 | (uint64_t)low << 48;
    if (kind >= 11 || t->num_fdes == 0)
        return STACK + (kind == 13 ? low & 0x3ff : (low & 0x3f) * 8);
    f = &t->fde[(low >> 8) % t->num_fdes];
    if (kind >= 10)
        return f->start + (low & 0xff) - 1;
    if (kind >= 8 && f->decoded > 0)
        return f->start + t->row[f->first + (low >> 4 & 15) % f->decoded].start + (low & 3);
    f = &t->fde[(low & 15) % t->num_fdes];
    return f->start + 1 + ((uint64_t)f->size * (low >> 4) >> 8);
}

static void note(struct world *w, uint64_t what)
{
    w->asked = (w->asked ^ what) * UINT64_C(0x9e3779b97f4a7c15) + (w->asked >> 29);
}

static int read_stack(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    struct world *w = ctx;

    MUST(len > 0 && (len == 8 || len <= w->window) && addr <= UINT64_MAX - len);
    note(w, addr);
    if (addr < STACK || addr - STACK > sizeof w->stack || len > sizeof w->stack - (addr - STACK))
        return -1;
    for (uint64_t word = (addr - STACK) / 8; word <= (addr - STACK + len - 1) / 8; word++)
        if (word + 1 == w->how.fail)
            return -1;
    memcpy(buffer, w->stack + (addr - STACK), len);
    return 0;
}

static int supply_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *result)
{
    struct world *w = ctx;

    MUST(frame->regs.pc_kind == SFU_PC_EXACT);
    note(w, reg);
    *result = STACK + (reg * w->how.pac & 0x1ff);
    return reg % 7 == 0 ? 1 : 0;
}

static void note_frame(struct world *w, const struct sfu_frame *f)
{
    note(w, f->regs.pc);
    note(w, f->regs.sp);
    note(w, f->regs.fp);
    note(w, f->regs.has_ra ? f->regs.ra : 1);
    note(w, f->regs.pc_kind);
    note(w, f->saved);
    note(w, f->depth);
    note(w, f->switches * 8u + f->switched * 4u + f->interrupted * 2u + f->reliable);
    note(w, f->guess * 2u + f->replaced);
}

static int hook(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    struct world *w = ctx;
    struct sfu_registers *r = &interrupted->regs;

    note_frame(w, frame);
    note(w, (uint64_t)(int64_t)code);
    if ((w->how.trap & 3) == 0 || frame->depth > 20 || frame->regs.sp - STACK > sizeof w->stack)
        return w->how.trap & 64 ? SFU_END : code;
    r->pc = value(w, w->how.interrupted);
    r->sp = frame->regs.sp + (w->how.trap & 3) * 8 - (w->how.trap & 64);
    r->fp = frame->regs.fp;
    r->has_ra = w->how.trap & 4;
    r->ra = r->pc + 1;
    r->pc_kind = w->how.trap & 8 ? SFU_PC_RETURN : SFU_PC_EXACT;
    interrupted->guess = w->how.trap & 16 ? SFU_GUESS_HOOK : SFU_GUESS_NONE;
    return SFU_OK;
}

static bool original_ra(void *ctx, const struct sfu_frame *frame, uint64_t slot, uint64_t *ra)
{
    struct world *w = ctx;

    note_frame(w, frame);
    note(w, slot);
    if (*ra % 4 != 1)
        return false;
    *ra += 2;
    return true;
}

/* Stacks of so many bytes each, in what the target shows of the stack. */
static bool tell_stack(void *ctx, uint64_t addr, struct sfu_stack *stack)
{
    const struct world *w = ctx;
    const struct sfu_stack *all = &w->target.stack;
    uint64_t mask = (UINT64_C(1) << (w->how.stacks & 15)) - 1;

    note((struct world *)ctx, addr);
    if (addr < all->low || addr >= all->high)
        return false;
    stack->low = (addr & ~mask) < all->low ? all->low : addr & ~mask;
    stack->high = all->high - 1 < (addr | mask) ? all->high : (addr | mask) + 1;
    stack->bytes = all->bytes != NULL ? (const uint8_t *)all->bytes + (stack->low - all->low) : NULL;
    return true;
}

/* Shows the target the stack, or a part of it, at the border of a page. */
static void set_stack(struct world *w)
{
    struct sfu_target *t = &w->target;
    unsigned kind = w->how.target >> 2 & 7, low = 0, high = 8 * WORDS;

    if (kind == 7) {
        t->stack.high = UINT64_MAX;
        return;
    }
    if (kind >= 5) {
        low = w->how.part & 15;
        high -= (kind == 5 ? 1u : 8u) * (w->how.part >> 4);
    }
    t->stack.bytes = arena_place(2, w->stack + low, high - low, !(w->how.part & 1));
    t->stack.low = STACK + low;
    t->stack.high = STACK + high;
}

static void set_target(struct world *w)
{
    struct sfu_target *t = &w->target;

    memset(t, 0, sizeof *t);
    set_stack(w);
    t->read = w->how.target >> 6 == 3 ? read_stack : NULL;
    t->reg = w->how.target & 1 ? supply_register : NULL;
    t->trap_hook = w->how.trap >= 128 ? hook : NULL;
    t->find_stack = w->how.stacks >= 192 ? tell_stack : NULL;
    t->ctx = w;
    t->pac_mask = w->how.pac & 1 ? w->how.pac * UINT64_C(0x0101010101010101) : 0;
    t->red_zone = w->how.target & 32 ? 128 : 0;
    t->max_frames = w->how.max_frames >= 192 ? w->how.max_frames - 192u : 0;
    t->max_switches = w->how.max_switches & 31;
    t->final.high = w->how.max_switches & 32 ? w->top[0].pc : 0;
    t->original_ra = w->how.max_switches & 64 ? original_ra : NULL;
    t->frame_pointers = w->how.target & 2 && w->how.target & 64;
}

static void set_top(struct world *w, unsigned n)
{
    struct sfu_registers *r = &w->top[n];

    r->pc = value(w, w->how.pc[n]);
    r->sp = STACK + (w->how.sp[n] >= 250 ? w->how.sp[n] * 3u : w->how.sp[n] % 16 * 8u);
    r->fp = w->how.fp[n] >= 250 ? 8 * WORDS * (uint64_t)w->how.fp[n] : r->sp + w->how.fp[n] % 32 * 8u;
    r->ra = value(w, w->how.ra[n]);
    r->has_ra = HOST_ABI != SFU_AMD64 && !(w->how.kind[n] & 2);
    r->pc_kind = w->how.kind[n] & 1 ? SFU_PC_RETURN : SFU_PC_EXACT;
}

/* ---- Traces ---------------------------------------------------------------------------------------------------- */

/* A trace from top N, by the core and twice by the fast walker: the second time its cache is warm. */
static void trace(struct world *w, unsigned n)
{
    static const uint64_t blank[MOST] = {0};
    uint64_t want[MOST], asked, *got;
    size_t skip = w->how.skip >= 192 ? w->how.skip - 192u : 0, want_count, count = 77;
    size_t capacity = w->how.capacity >= 192 ? w->how.capacity - 192u : MOST;
    int code;

    w->asked = 0;
    code = core_trace(&w->target, &w->top[n], skip, want, capacity, &want_count);
    asked = w->asked;
    for (unsigned pass = 0; pass < 2; pass++) {
        got = (uint64_t *)(void *)arena_place(3, (const uint8_t *)blank, capacity * sizeof *got, true);
        w->asked = 0;
        MUST(sfu_fast_trace(&w->fast, &w->target, &w->top[n], skip, got, capacity, &count) == code);
        MUST(count == want_count && memcmp(got, want, count * sizeof *got) == 0 && w->asked == asked);
        MUST(memcmp(got + count, blank, (capacity - count) * sizeof *got) == 0);
    }
    w->window = w->how.cache % 32 * 8u + w->how.part % 8;
    got = (uint64_t *)(void *)arena_place(3, (const uint8_t *)blank, capacity * sizeof *got, true);
    MUST(sfu_fast_trace_remote(&w->fast, &w->target, &w->top[n], skip, got, capacity, &count,
                               arena_place(4, w->stack, w->window, true), w->window) == code);
    MUST(count == want_count && memcmp(got, want, count * sizeof *got) == 0);
    w->window = 0;
}

static void traces(struct world *w)
{
    for (unsigned n = 0; n < TOPS; n++)
        trace(w, n);
}

/* One byte of section N becomes another one while nobody uses the section. */
static void change_byte(struct world *w, unsigned n, unsigned how)
{
    take(w, n);
    w->bytes[n][(w->how.fault[0] * 4u + how) % w->size] ^= (uint8_t)(w->how.fault[1] | 1u << how % 8);
    add(w, n);
}

static void change(struct world *w, unsigned how)
{
    unsigned n = how >> 3 & 1;

    switch (how & 7) {
    case 0: /* a list that is not that of the walker */
        w->target.sections = w->fast.sections != NULL ? w->fast.sections->next : NULL;
        traces(w);
        break;
    case 1:
        if (w->added[n])
            take(w, n);
        else
            add(w, n);
        break;
    case 2:
        set_index(w, n, !(how & 0x80));
        break;
    case 3:
        set_cache(w, how);
        break;
    case 4:
    case 5:
        change_byte(w, n, how >> 4);
        break;
    default: /* some times */
        for (unsigned i = 0; w->added[n] && i < (how & 1 ? 1 : 3 + how % 3); i++) {
            take(w, n);
            add(w, n);
        }
        if (how & 0x40)
            set_index(w, n, true);
    }
    w->target.sections = w->fast.sections;
    traces(w);
}

static void place_sections(struct world *w, const uint8_t *data, size_t size)
{
    static uint8_t copy[MAX_SECTION];
    struct source in = {data, size};

    w->size = size;
    memcpy(copy, data, size);
    if ((w->how.section & 3) == 1)
        w->size = table_generate(data, size, copy);
    else if (w->how.section & 2)
        w->size = native_section(&in, copy);
    if (w->how.fault[2] >= 128 && w->size > 0)
        copy[(w->how.fault[0] * 4u + (w->how.fault[2] & 3)) % w->size] ^= w->how.fault[1];
    for (unsigned n = 0; n < IMAGES; n++) {
        w->bytes[n] = arena_place(n, copy, w->size, w->how.section & 4);
        w->table[n].num_fdes = 0;
        w->added[n] = false;
        w->index[n] = NULL;
    }
    memset(&w->fast, 0, sizeof w->fast);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world w;

    if (size < sizeof w.how + 2 * WORDS)
        return 0;
    size -= sizeof w.how + 2 * WORDS;
    if (size == 0 || size > MAX_SECTION / 2)
        return 0;
    memcpy(&w.how, data + size + 2 * WORDS, sizeof w.how);
    place_sections(&w, data, size);
    set_cache(&w, w.how.cache);
    add(&w, 0);
    if (w.how.section >> 5 != 0)
        add(&w, 1);
    for (unsigned i = 0; i < WORDS; i++)
        bytes_put(w.stack + 8 * i, 8, BIG_HOST, value(&w, data + size + 2 * i));
    set_target(&w);
    for (unsigned n = 0; n < TOPS; n++)
        set_top(&w, n);
    w.target.sections = w.fast.sections;
    traces(&w);
    for (unsigned i = 0; i < CHANGES; i++)
        change(&w, w.how.change[i]);
    for (unsigned n = 0; n < IMAGES; n++)
        free(w.index[n]);
    return 0;
}
