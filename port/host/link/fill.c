/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "fill.h"

#include <stdlib.h>
#include <string.h>

unsigned fill_find(struct image *image, struct place *place)
{
    unsigned count = 0;
    size_t i, at;

    for (i = 0; i < image->num_sections; i++) {
        struct section *s = &image->sections[i];

        if ((s->flags & SHF_ALLOC) == 0 || s->type == SHT_NOBITS || s->size < OBJECT_MARK_SIZE ||
            !image_load(image, s))
            continue;
        for (at = (size_t)(-s->addr & 7); at + OBJECT_MARK_SIZE <= s->size; at += 8)
            if (memcmp(s->bytes + at, object_mark, OBJECT_MARK_SIZE) == 0) {
                place->addr = s->addr + at;
                place->offset = s->offset + at;
                count++;
            }
    }
    return count;
}

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

/* Bytes. What is smaller than LEAST_STACK is no stack. Behind a segment, up to MOST_BEHIND may be left free for one. */
enum { LEAST_STACK = 256, MOST_BEHIND = 256 << 10 };

struct objects {
    struct part_of_memory *list;
    size_t num;
};

/* An image_symbol_fn. */
static void add_object(void *ctx, const GElf_Sym *sym, const char *name)
{
    struct objects *objects = ctx;

    (void)name;
    if (GELF_ST_TYPE(sym->st_info) != STT_OBJECT || sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS ||
        sym->st_size < LEAST_STACK || sym->st_value > UINT64_MAX - sym->st_size)
        return;
    objects->list = grow(objects->list, objects->num, sizeof *objects->list);
    objects->list[objects->num++] = (struct part_of_memory){sym->st_value, sym->st_value + sym->st_size};
}

/* By start; of several at one, the largest first. */
static int by_start(const void *a, const void *b)
{
    const struct part_of_memory *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end > y->end ? -1 : x->end < y->end;
}

static void add_part(struct memory *memory, uint64_t start, uint64_t end)
{
    if (start >= end)
        return;
    memory->list = grow(memory->list, memory->num, sizeof *memory->list);
    memory->list[memory->num++] = (struct part_of_memory){start, end};
}

/* Adds the segment from START up to END, with the variables in it as parts of their own. What is between them is one if
 * it has LEAST bytes. */
static void add_segment(struct memory *memory, const struct objects *objects, uint64_t start, uint64_t end,
                        uint64_t least)
{
    size_t i;

    for (i = 0; i < objects->num; i++) {
        const struct part_of_memory *object = &objects->list[i];

        if (object->start < start || object->end > end)
            continue;
        if (object->start - start >= least)
            add_part(memory, start, object->start);
        add_part(memory, object->start, object->end);
        start = object->end;
    }
    if (end - start >= least)
        add_part(memory, start, end);
}

/* Behind a segment, what a symbol may be at, up to END. TOP: the last one, or where the segment ends. */
struct behind {
    uint64_t end, top;
};

/* An image_symbol_fn. */
static void find_top(void *ctx, const GElf_Sym *sym, const char *name)
{
    struct behind *behind = ctx;

    (void)name;
    if (GELF_ST_TYPE(sym->st_info) == STT_NOTYPE && sym->st_shndx != SHN_UNDEF && sym->st_value > behind->top &&
        sym->st_value <= behind->end)
        behind->top = sym->st_value;
}

/* Adds what a linker script leaves free behind the segment that ends at END, up to a symbol: `. += 16K; top = .;` makes
 * a stack so, which no section and no segment has. */
static void add_behind(struct image *image, struct memory *memory, uint64_t end)
{
    struct behind behind = {end <= UINT64_MAX - MOST_BEHIND ? end + MOST_BEHIND : UINT64_MAX, end};
    GElf_Phdr ph;
    size_t i, num = 0;

    (void)elf_getphdrnum(image->elf, &num);
    for (i = 0; i < num && gelf_getphdr(image->elf, (int)i, &ph) != NULL; i++) {
        if (ph.p_type != PT_LOAD || ph.p_memsz == 0)
            continue;
        if (ph.p_vaddr <= end && end - ph.p_vaddr < ph.p_memsz)
            return;
        if (ph.p_vaddr >= end && ph.p_vaddr <= behind.end)
            behind.end = ph.p_vaddr - 1; /* what begins there is that segment's */
    }
    (void)image_each_symbol(image, SHT_SYMTAB, find_top, &behind);
    if (behind.top - end >= LEAST_STACK)
        add_part(memory, end, behind.top);
}

/* Whether a segment that is writable has ADDR. */
static bool is_writable(const struct image *image, uint64_t addr)
{
    GElf_Phdr ph;
    size_t i, num = 0;

    (void)elf_getphdrnum(image->elf, &num);
    for (i = 0; i < num && gelf_getphdr(image->elf, (int)i, &ph) != NULL; i++)
        if (ph.p_type == PT_LOAD && (ph.p_flags & PF_W) != 0 && addr >= ph.p_vaddr &&
            addr - ph.p_vaddr < ph.p_memsz)
            return true;
    return false;
}

/* Adds the zeros in SECTION, from a word's start to a word's end: what follows may begin with a byte of zero. */
static void add_zeros(struct memory *memory, const struct section *section)
{
    uint64_t at, start = 0;

    for (at = 0; at <= section->size; at++) {
        const uint64_t end = section->addr + at - (section->addr + at) % 4;

        if (at < section->size && section->bytes[at] == 0)
            continue;
        if (end > section->addr + start && end - (section->addr + start) >= LEAST_STACK)
            add_part(memory, section->addr + start, end);
        start = at + 1;
    }
}

/* Adds what may be stacks in sections of code that no segment calls writable: start-up code runs without an MMU, and
 * `stack: .skip 4096` in its section makes zeros. */
static void add_in_code(struct image *image, struct memory *memory)
{
    size_t i;

    for (i = 0; i < image->num_sections; i++) {
        struct section *s = &image->sections[i];

        if ((s->flags & SHF_ALLOC) != 0 && (s->flags & SHF_EXECINSTR) != 0 && s->type == SHT_PROGBITS &&
            !is_writable(image, s->addr) && image_load(image, s))
            add_zeros(memory, s);
    }
}

void fill_memory(struct image *image, struct memory *memory)
{
    /* RISC-V: entries of exceptions keep registers in variables that are no stack. */
    const uint64_t least = image->header.e_machine == EM_RISCV ? 1 : LEAST_STACK;
    struct objects objects = {NULL, 0};
    GElf_Phdr ph;
    size_t i, num = 0;

    *memory = (struct memory){NULL, 0};
    (void)image_each_symbol(image, SHT_SYMTAB, add_object, &objects);
    if (objects.num > 0)
        qsort(objects.list, objects.num, sizeof *objects.list, by_start);
    (void)elf_getphdrnum(image->elf, &num);
    for (i = 0; i < num && gelf_getphdr(image->elf, (int)i, &ph) != NULL; i++)
        if (ph.p_type == PT_LOAD && (ph.p_flags & PF_W) != 0 && ph.p_vaddr <= UINT64_MAX - ph.p_memsz) {
            add_segment(memory, &objects, ph.p_vaddr, ph.p_vaddr + ph.p_memsz, least);
            add_behind(image, memory, ph.p_vaddr + ph.p_memsz);
        }
    free(objects.list);
    add_in_code(image, memory);
}

/* ---- Saved registers ------------------------------------------------------------------------------------------- */

/* The number behind KEY in the text from AT on, which has it. */
static uint64_t number_behind(const char *at, const char *key)
{
    const char *value = strstr(at, key);

    return value != NULL ? strtoull(value + strlen(key), NULL, 0) : 0;
}

/* What the offset in the line at AT counts from, as sfu_start.h numbers it. */
static unsigned from_of(const char *at)
{
    static const char *const names[] = {"sp", "interrupted", "sscratch", "mscratch"};
    static const char key[] = "\"from\": \"";
    const char *value = strstr(at, key);
    unsigned i;

    for (i = 3; i > 0; i--)
        if (value != NULL && strncmp(value + sizeof key - 1, names[i], strlen(names[i])) == 0)
            break;
    return i | (number_behind(at, "\"sure\": ") != 0 ? 4u : 0);
}

void fill_read_saved(const char *json, struct saved *saved)
{
    static const char start[] = "\n  {\"pc\": \"";
    const char *at = json != NULL ? strstr(json, "\"saved\": [") : NULL;

    *saved = (struct saved){NULL, 0};
    at = at != NULL ? strchr(at, '\n') : NULL;
    while (at != NULL && strncmp(at, start, sizeof start - 1) == 0) {
        const char *next = strchr(at + 1, '\n');

        saved->list = grow(saved->list, saved->num, sizeof *saved->list);
        saved->list[saved->num++] = (struct saved_register){
            number_behind(at, "\"pc\": \""), number_behind(at, "\"bytes\": "), number_behind(at, "\"offset\": "),
            (unsigned)number_behind(at, "\"register\": "), from_of(at)};
        at = next;
    }
}

/* ---- Facts ----------------------------------------------------------------------------------------------------- */

enum { NUM_WORDS = 10 }; /* in front of the memory: 8 bytes each */

/* Where the saved registers are, and the image's name behind them. */
static size_t saved_at(const struct memory *memory)
{
    return 8 * NUM_WORDS + 16 * memory->num;
}

static size_t name_at(const struct memory *memory, const struct saved *saved)
{
    return saved_at(memory) + 24 * saved->num;
}

size_t fill_facts_size(const struct memory *memory, const struct saved *saved, const char *called)
{
    return name_at(memory, saved) + strlen(called) + 1;
}

/* Writes REG at P, in the facts at the address HERE. */
static void put_saved(uint8_t *p, bool big, uint64_t here, const struct saved_register *reg)
{
    store_number(p, 8, big, reg->start - here);
    store_number(p + 8, 4, big, reg->size);
    store_number(p + 12, 4, big, reg->offset & UINT32_MAX);
    store_number(p + 16, 4, big, reg->reg);
    store_number(p + 20, 4, big, reg->from);
}

void fill_facts(uint8_t *facts, const struct image *image, const struct place *place, const struct room *room,
                const struct memory *memory, const struct saved *saved, const struct names *names,
                const char *called)
{
    const size_t text = name_at(memory, saved), names_at = (room->facts + 7) / 8 * 8;
    const uint64_t words[NUM_WORDS - 1] = {place->addr,
                                           place->tables - place->addr,
                                           place->tables_size,
                                           names_at,
                                           names->size,
                                           names->base - place->addr,
                                           text,
                                           memory->num,
                                           saved->num};
    size_t i;

    memcpy(facts, "sfulink1", 8);
    for (i = 0; i < NUM_WORDS - 1; i++)
        store_number(facts + 8 + 8 * i, 8, image->big, words[i]);
    for (i = 0; i < memory->num; i++) {
        store_number(facts + 8 * NUM_WORDS + 16 * i, 8, image->big, memory->list[i].start - place->addr);
        store_number(facts + 8 * NUM_WORDS + 16 * i + 8, 8, image->big,
                     memory->list[i].end - memory->list[i].start);
    }
    for (i = 0; i < saved->num; i++)
        put_saved(facts + saved_at(memory) + 24 * i, image->big, place->addr, &saved->list[i]);
    memcpy(facts + text, called, strlen(called) + 1);
}
