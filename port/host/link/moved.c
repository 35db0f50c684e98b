/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "moved.h"
#include "common/image.h"
#include "common/report.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- By how much things move ----------------------------------------------------------------------------------- */

enum { MAX_MOVES = 16, MAX_DELTAS = MAX_MOVES * MAX_MOVES + 1 };

/* The distances by which sections have moved, and by which words change that have addresses and differences of them:
 * modulo 2^64, because something may move down. */
struct deltas {
    uint64_t moves[MAX_MOVES], list[MAX_DELTAS];
    unsigned num_moves, num;
};

static bool add_move(struct deltas *d, uint64_t move)
{
    unsigned i;

    for (i = 0; i < d->num_moves; i++)
        if (d->moves[i] == move)
            return true;
    if (d->num_moves == MAX_MOVES)
        return false;
    d->moves[d->num_moves++] = move;
    return true;
}

static void add_delta(struct deltas *d, uint64_t delta)
{
    unsigned i = 0;

    while (i < d->num && d->list[i] != delta)
        i++;
    if (i == d->num)
        d->list[d->num++] = delta;
}

/* Something always stays where it is: absolute addresses. */
static void combine(struct deltas *d)
{
    unsigned i, k;

    d->num = 0;
    for (i = 0; i < d->num_moves; i++)
        for (k = 0; k < d->num_moves; k++)
            add_delta(d, d->moves[i] - d->moves[k]);
}

/* Whether a word of BITS, 32 or 64, changes by CHANGE where an address does. */
static bool is_delta(const struct deltas *d, uint64_t change, unsigned bits)
{
    const uint64_t mask = bits == 64 ? UINT64_MAX : UINT32_MAX;
    unsigned i;

    for (i = 0; i < d->num; i++)
        if (((d->list[i] ^ change) & mask) == 0)
            return true;
    return false;
}

/* The same of the lowest BITS, and of what is above them, which also changes where the lowest ones carry over. */
static bool is_low(const struct deltas *d, uint64_t change, unsigned bits)
{
    unsigned i;

    for (i = 0; i < d->num; i++)
        if (((d->list[i] ^ change) & ((1u << bits) - 1)) == 0)
            return true;
    return false;
}

static bool is_high(const struct deltas *d, uint32_t change, unsigned bits, uint32_t mask)
{
    unsigned i;

    for (i = 0; i < d->num; i++) {
        const uint32_t high = (uint32_t)(d->list[i] >> bits);

        if (((high ^ change) & mask) == 0 || (((high + 1) ^ change) & mask) == 0)
            return true;
    }
    return false;
}

/* ---- Instructions ---------------------------------------------------------------------------------------------- */

static uint32_t bits_of(uint32_t word, unsigned low, unsigned num)
{
    return word >> low & ((1u << num) - 1);
}

/* aarch64: adrp, and add, load and store with an offset, not from SP. */
static bool is_moved_aarch64(const struct deltas *d, uint32_t a, uint32_t b)
{
    const uint32_t adrp = 0x9f000000, imm12 = 0x003ffc00;
    const uint32_t change = bits_of(b, 10, 12) - bits_of(a, 10, 12);

    if ((a & adrp) == 0x90000000 && ((a ^ b) & (adrp | 31)) == 0) {
        const uint32_t from = bits_of(a, 5, 19) << 2 | bits_of(a, 29, 2),
                       to = bits_of(b, 5, 19) << 2 | bits_of(b, 29, 2);

        return is_high(d, to - from, 12, 0x1fffff);
    }
    if (((a ^ b) & ~imm12) != 0 || bits_of(a, 5, 5) == 31)
        return false;
    if ((a & 0x7fc00000) == 0x11000000)
        return is_low(d, change, 12);
    if ((a & 0x3b000000) == 0x39000000) {
        const unsigned scale = (a & 0x04800000) == 0x04800000 ? 4 : bits_of(a, 30, 2);

        return is_low(d, (uint64_t)change << scale, 12);
    }
    return false;
}

/* RISC-V: auipc, lui, and instructions with an offset; from SP only where the one BEFORE has set it to an address. */
static bool is_moved_riscv(const struct deltas *d, uint32_t before, uint32_t a, uint32_t b)
{
    enum { SP = 2, AUIPC = 0x17, LUI = 0x37 };
    const uint32_t opcode = a & 0x7f, own = before & 0xfff;
    const bool from_sp = bits_of(a, 15, 5) == SP && own != (SP << 7 | AUIPC) && own != (SP << 7 | LUI);

    if ((opcode == AUIPC || opcode == LUI) && ((a ^ b) & 0xfff) == 0)
        return is_high(d, (b >> 12) - (a >> 12), 12, 0xfffff);
    if (from_sp)
        return false;
    if ((opcode == 0x13 || opcode == 0x03 || opcode == 0x07 || opcode == 0x1b || opcode == 0x67) &&
        ((a ^ b) & 0xfffff) == 0)
        return is_low(d, (b >> 20) - (a >> 20), 12);
    if ((opcode == 0x23 || opcode == 0x27) && ((a ^ b) & 0x01fff07f) == 0)
        return is_low(d, (bits_of(b, 25, 7) << 5 | bits_of(b, 7, 5)) - (bits_of(a, 25, 7) << 5 | bits_of(a, 7, 5)),
                      12);
    return false;
}

static uint32_t number_a32(uint32_t word)
{
    return bits_of(word, 16, 4) << 12 | bits_of(word, 0, 12);
}

/* The first halfword is in the upper half of WORD. */
static uint32_t number_t32(uint32_t word)
{
    return bits_of(word, 16, 4) << 12 | bits_of(word, 26, 1) << 11 | bits_of(word, 12, 3) << 8 |
           bits_of(word, 0, 8);
}

/* ARM's movw and movt: the bits that the number is not in; the opcode's, and what they are. */
static const struct halves {
    uint32_t kept, opcode, movw, movt;
    uint32_t (*number)(uint32_t word);
} a32 = {0xfff0f000, 0x0ff00000, 0x03000000, 0x03400000, number_a32},
  t32 = {0xfbf08f00, 0xfbf08000, 0xf2400000, 0xf2c00000, number_t32};

static bool is_moved_arm(const struct deltas *d, const struct halves *halves, uint32_t a, uint32_t b)
{
    const uint32_t change = halves->number(b) - halves->number(a), opcode = a & halves->opcode;

    if (((a ^ b) & halves->kept) != 0)
        return false;
    return opcode == halves->movw ? is_low(d, change, 16)
                                  : opcode == halves->movt && is_high(d, change, 16, 0xffff);
}

/* ---- Bytes ----------------------------------------------------------------------------------------------------- */

/* What is compared: SIZE bytes of both images, which are at ADDR in the first one, and have moved by MOVE. */
struct bytes_of {
    const uint8_t *a, *b;
    uint64_t size, addr, move; /* MOVE modulo 2^64, because something may move down */
    const struct deltas *deltas;
    const struct linked *before, *after;
    unsigned machine;
    bool big, code;
};

static bool has_room(const struct linked *l, const struct section *s)
{
    return (s->flags & SHF_ALLOC) != 0 && s->addr <= l->addr && l->addr - s->addr < s->size;
}

/* Whether ADDR is in the section S, or so near that an index or an end may be meant. */
static bool is_near(const struct section *s, uint64_t addr)
{
    enum { NEAR = 256 };

    return addr < s->addr ? s->addr - addr <= NEAR : addr - s->addr <= s->size || addr - s->addr - s->size <= NEAR;
}

/* Whether what is at ADDR in the first image has moved by CHANGE, of which BITS count. */
static bool has_moved(const struct bytes_of *of, uint64_t addr, uint64_t change, unsigned bits)
{
    const uint64_t mask = bits == 64 ? UINT64_MAX : UINT32_MAX, grown = of->after->size - of->before->size;
    const uint64_t start = of->after->tables - of->before->tables; /* by so much sframe_start moves in the room */
    size_t i;

    for (i = 0; i < of->before->image->num_sections; i++) {
        const struct section *s = &of->before->image->sections[i];
        const uint64_t move = of->after->image->sections[i].addr - s->addr;

        if ((s->flags & SHF_ALLOC) != 0 && is_near(s, addr) &&
            (((move ^ change) & mask) == 0 ||
             (has_room(of->before, s) &&
              ((((move + grown) ^ change) & mask) == 0 || (((move + start) ^ change) & mask) == 0))))
            return true;
    }
    return false;
}

/* The same of what is VALUE behind the section NAME, as position-independent code counts. */
static bool has_moved_behind(const struct bytes_of *of, const char *name, uint64_t value, uint64_t change)
{
    size_t i;

    for (i = 0; i < of->before->image->num_sections; i++) {
        const struct section *s = &of->before->image->sections[i];

        if (strcmp(s->name, name) == 0)
            return has_moved(of, s->addr + value, change + (of->after->image->sections[i].addr - s->addr), 32);
    }
    return false;
}

/* x86: whether the word of SIZE bytes at AT may be an address or a distance from the PC or the GOT, and changes just as
 * what is there has moved. Any other one is a number, although something moves by as much as it changes. */
static bool is_address(const struct bytes_of *of, uint64_t at, unsigned size, uint64_t change)
{
    const uint64_t word = load_number(of->a + at, size, of->big);
    const uint64_t value = size == 4 ? (uint64_t)(int64_t)(int32_t)(uint32_t)word : word;

    if (has_moved(of, value, change, 8 * size) || has_moved(of, word, change, 8 * size))
        return true;
    return size == 4 &&
           (has_moved(of, of->addr + at + size + value, change + of->move, 32) ||
            has_moved_behind(of, ".got.plt", value, change) || has_moved_behind(of, ".got", value, change));
}

static bool is_word(const struct bytes_of *of, uint64_t at, unsigned size)
{
    uint64_t change;

    if (at + size > of->size)
        return false;
    change = load_number(of->b + at, size, of->big) - load_number(of->a + at, size, of->big);
    if (!is_delta(of->deltas, change, 8 * size))
        return false;
    return !of->code || (of->machine != EM_X86_64 && of->machine != EM_386) || is_address(of, at, size, change);
}

/* s390x: an instruction's distance is in halfwords. */
static bool is_halved(const struct bytes_of *of, uint64_t at)
{
    return of->code && of->machine == EM_S390 && at % 2 == 0 && at + 4 <= of->size &&
           is_delta(of->deltas, 2 * (load_number(of->b + at, 4, true) - load_number(of->a + at, 4, true)), 32);
}

static uint32_t word_at(const uint8_t *bytes, uint64_t at)
{
    return (uint32_t)load_number(bytes + at, 4, false);
}

static uint32_t halfwords_at(const uint8_t *bytes, uint64_t at)
{
    return (uint32_t)(load_number(bytes + at, 2, false) << 16 | load_number(bytes + at + 2, 2, false));
}

/* An instruction of 4 bytes at AT, which is little-endian on these CPUs. */
static bool is_instruction(const struct bytes_of *of, uint64_t at)
{
    const uint8_t *a = of->a, *b = of->b;

    if (!of->code || at + 4 > of->size || at % 2 != 0)
        return false;
    switch (of->machine) {
    case EM_AARCH64:
        return at % 4 == 0 && is_moved_aarch64(of->deltas, word_at(a, at), word_at(b, at));
    case EM_RISCV:
        return is_moved_riscv(of->deltas, at >= 4 ? word_at(a, at - 4) : 0, word_at(a, at), word_at(b, at));
    case EM_ARM:
        return (at % 4 == 0 && is_moved_arm(of->deltas, &a32, word_at(a, at), word_at(b, at))) ||
               is_moved_arm(of->deltas, &t32, halfwords_at(a, at), halfwords_at(b, at));
    default:
        return false;
    }
}

/* How many bytes of a changed word follow from AT on, the first one that differs; or 0 if nothing explains it. */
static unsigned explain(const struct bytes_of *of, uint64_t at)
{
    unsigned back;

    for (back = 0; back < 8 && back <= at; back++) {
        if (back < 4 && (is_word(of, at - back, 4) || is_halved(of, at - back) || is_instruction(of, at - back)))
            return 4 - back;
        if (is_word(of, at - back, 8))
            return 8 - back;
    }
    return 0;
}

static bool same_bytes(const struct bytes_of *of)
{
    uint64_t at = 0;

    while (at < of->size) {
        const uint64_t step = of->size - at < 64 ? of->size - at : 64;
        unsigned more = 0;

        if (memcmp(of->a + at, of->b + at, step) == 0) {
            at += step;
            continue;
        }
        while (of->a[at] == of->b[at])
            at++;
        more = explain(of, at);
        if (more == 0)
            return false;
        at += more;
    }
    return true;
}

/* ---- Images ---------------------------------------------------------------------------------------------------- */

/* Whether the sections are the same, and where A's room is B's is. Collects by how much they have moved. */
static bool compare_sections(const struct linked *a, const struct linked *b, struct deltas *d, uint64_t *code)
{
    bool has_code = false;
    size_t i;

    for (i = 0; i < a->image->num_sections; i++) {
        const struct section *x = &a->image->sections[i], *y = &b->image->sections[i];
        const uint64_t move = y->addr - x->addr, grown = has_room(a, x) ? b->size - a->size : 0;
        const uint64_t start = has_room(a, x) ? b->tables - a->tables : 0;

        if (strcmp(x->name, y->name) != 0 || x->type != y->type || x->flags != y->flags)
            return false;
        if ((x->flags & SHF_ALLOC) == 0)
            continue;
        if (has_room(a, x) != has_room(b, y) || y->size - x->size != grown || !add_move(d, move) ||
            !add_move(d, move + grown) || !add_move(d, move + start) ||
            (grown != 0 && a->addr - x->addr != b->addr - y->addr))
            return false;
        if ((x->flags & SHF_EXECINSTR) == 0)
            continue;
        if (has_room(a, x) || (has_code && move != *code))
            return false;
        has_code = true;
        *code = move;
    }
    return has_code;
}

static bool compare_symbols(struct image *a, struct image *b, uint64_t code)
{
    size_t i;

    if (!image_symbols(a) || !image_symbols(b) || a->num_symbols != b->num_symbols)
        return false;
    for (i = 0; i < a->num_symbols; i++) {
        const struct symbol *x = &a->symbols[i], *y = &b->symbols[i];

        if (y->addr - x->addr != code || x->size != y->size || x->function != y->function ||
            strcmp(x->name, y->name) != 0)
            return false;
    }
    return true;
}

/* Whether sfu-gen reads the bytes of S: not those of notes, of which one has the hash of the image. */
static bool is_read(const struct section *s)
{
    return s->type != SHT_NOBITS && s->type != SHT_NOTE && s->size > 0 &&
           ((s->flags & SHF_ALLOC) != 0 || strstr(s->name, "_frame") != NULL || strncmp(s->name, ".s", 2) == 0) &&
           s->type != SHT_SYMTAB && s->type != SHT_STRTAB;
}

/* Compares section I: with the room in it, what is in front of that and what is behind. */
static bool compare_section(const struct linked *a, const struct linked *b, size_t i, const struct deltas *d)
{
    struct section *x = &a->image->sections[i], *y = &b->image->sections[i];
    const uint64_t head = has_room(a, x) ? a->addr - x->addr : x->size;
    struct bytes_of of = {.size = head,
                          .addr = x->addr,
                          .move = y->addr - x->addr,
                          .deltas = d,
                          .before = a,
                          .after = b,
                          .machine = a->image->header.e_machine,
                          .big = a->image->big,
                          .code = (x->flags & SHF_EXECINSTR) != 0};

    if (!is_read(x))
        return true;
    if (!image_load(a->image, x) || !image_load(b->image, y))
        return false;
    of.a = x->bytes;
    of.b = y->bytes;
    if (head == x->size)
        return x->size == y->size && same_bytes(&of);
    if (!same_bytes(&of) || x->size - head < a->size)
        return false;
    of.a += head + a->size;
    of.b += head + b->size;
    of.size -= of.size - (x->size - head - a->size);
    return same_bytes(&of);
}

bool moved_only(const struct linked *a, const struct linked *b, uint64_t *code)
{
    const GElf_Ehdr *x = &a->image->header, *y = &b->image->header;
    struct deltas d;
    size_t i;

    *code = 0;
    d.num = d.num_moves = 0;
    (void)add_move(&d, 0);
    if (x->e_type != y->e_type || x->e_machine != y->e_machine || x->e_flags != y->e_flags ||
        a->image->num_sections != b->image->num_sections || !compare_sections(a, b, &d, code) ||
        y->e_entry - x->e_entry != *code || !compare_symbols(a->image, b->image, *code))
        return false;
    combine(&d);
    for (i = 0; i < a->image->num_sections; i++)
        if (!compare_section(a, b, i, &d))
            return false;
    return true;
}

/* ---- Tables ---------------------------------------------------------------------------------------------------- */

bool moved_tables(uint8_t *bytes, size_t size, bool big, uint64_t from, uint64_t to, uint64_t code)
{
    enum { HEADER = 28, ENTRY = 16, VERSION = 3, FROM_FIELDS = 0x4 };
    uint64_t num, i;

    if (size < HEADER || bytes[2] != VERSION || (bytes[3] & FROM_FIELDS) == 0)
        return false;
    num = load_number(bytes + 8, 4, big);
    if (num > (size - HEADER) / ENTRY)
        return false;
    for (i = 0; i < num; i++) {
        uint8_t *start = bytes + HEADER + ENTRY * i;

        store_number(start, 8, big, load_number(start, 8, big) + code - (to - from));
    }
    return true;
}

/* ---- Messages -------------------------------------------------------------------------------------------------- */

/* Where in AFTER is what is at ADDR in BEFORE. */
static uint64_t moved_addr(const struct image *before, const struct image *after, uint64_t addr)
{
    size_t i;

    for (i = 0; i < before->num_sections; i++) {
        const struct section *s = &before->sections[i];

        if ((s->flags & SHF_ALLOC) != 0 && (s->flags & SHF_TLS) == 0 && addr >= s->addr && addr - s->addr < s->size)
            return addr - s->addr + after->sections[i].addr;
    }
    return addr;
}

/* Whether the number at AT in TEXT is an address. Distances follow a plus sign, and what else has a number is in the
 * middle of a name. */
static bool is_printed_addr(const char *text, const char *at)
{
    return at > text && strchr(" (\"=", at[-1]) != NULL;
}

char *moved_text(char *text, const struct image *before, const struct image *after)
{
    const char *from = text, *at;
    char *result = NULL;
    size_t size;
    FILE *f;

    if (text == NULL)
        return NULL;
    f = open_memstream(&result, &size);
    if (f == NULL)
        report_fail("out of memory");
    for (at = text; (at = strstr(at, "0x")) != NULL; at += 2) {
        char *end;
        const uint64_t addr = strtoull(at, &end, 16);

        if (!is_printed_addr(text, at))
            continue;
        fprintf(f, "%.*s0x%" PRIx64, (int)(at - from), from, moved_addr(before, after, addr));
        from = end;
    }
    fputs(from, f);
    if (fclose(f) != 0)
        report_fail("out of memory");
    free(text);
    return result;
}
