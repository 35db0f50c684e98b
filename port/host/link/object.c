/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "object.h"
#include "common/image.h"
#include "common/report.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char object_mark[] = "sfu-link: not yet filled in .....";

/* A file that is written from its start to its end. */
struct writer {
    uint8_t *bytes;
    size_t size;
    bool wide, big; /* ELF's 64 bits; byte order */
};

static void put_bytes(struct writer *w, const void *bytes, size_t size)
{
    uint8_t *all = zeroed(w->size + size + 1, 1);

    if (w->size > 0)
        memcpy(all, w->bytes, w->size);
    if (size > 0)
        memcpy(all + w->size, bytes, size);
    free(w->bytes);
    w->bytes = all;
    w->size += size;
}

static void put_zeros(struct writer *w, size_t size)
{
    uint8_t *zeros = zeroed(size + 1, 1);

    put_bytes(w, zeros, size);
    free(zeros);
}

static void put(struct writer *w, unsigned size, uint64_t value)
{
    uint8_t bytes[8];

    store_number(bytes, size, w->big, value);
    put_bytes(w, bytes, size);
}

/* An address or an offset of the file's class. */
static void put_word(struct writer *w, uint64_t value)
{
    put(w, w->wide ? 8 : 4, value);
}

static size_t up_to(size_t value, size_t to)
{
    return (value + to - 1) / to * to;
}

/* ---- The section ----------------------------------------------------------------------------------------------- */

size_t object_tables(const struct room *room)
{
    return up_to(room->facts, 8) + up_to(room->names, 8);
}

size_t object_size(const struct room *room)
{
    return object_tables(room) + up_to(room->tables, 8);
}

/* ---- The object ------------------------------------------------------------------------------------------------ */

enum { NONE, CONSTANTS, STACK, PROPERTY, SYMBOLS, STRINGS, NUM_SECTIONS };

/* A section header's own members; those of its place come from where the section is written. */
struct part {
    uint32_t name, type;
    uint64_t flags, offset, size;
    uint32_t link, info;
    uint64_t align, entry;
};

static void put_part(struct writer *w, const struct part *part)
{
    put(w, 4, part->name);
    put(w, 4, part->type);
    put_word(w, part->flags);
    put_word(w, 0);
    put_word(w, part->offset);
    put_word(w, part->size);
    put(w, 4, part->link);
    put(w, 4, part->info);
    put_word(w, part->align);
    put_word(w, part->entry);
}

static void put_header(struct writer *w, const struct target *target, uint64_t headers)
{
    const uint8_t ident[EI_NIDENT] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, target->class, target->data, EV_CURRENT};
    const unsigned size = w->wide ? 64 : 52;

    put_bytes(w, ident, sizeof ident);
    put(w, 2, ET_REL);
    put(w, 2, target->machine);
    put(w, 4, EV_CURRENT);
    put_word(w, 0);
    put_word(w, 0);
    put_word(w, headers);
    put(w, 4, target->flags);
    put(w, 2, size);
    put(w, 2, 0);
    put(w, 2, 0);
    put(w, 2, w->wide ? 64 : 40);
    put(w, 2, NUM_SECTIONS);
    put(w, 2, STRINGS);
}

/* A symbol of the section CONSTANTS. It is hidden, so that position-independent code reaches it without a GOT. */
static void put_symbol(struct writer *w, uint32_t name, unsigned bind, uint64_t value, uint64_t size)
{
    const unsigned info = bind << 4 | STT_OBJECT;

    put(w, 4, name);
    if (w->wide) {
        put(w, 1, info);
        put(w, 1, STV_HIDDEN);
        put(w, 2, CONSTANTS);
    }
    put_word(w, value);
    put_word(w, size);
    if (!w->wide) {
        put(w, 1, info);
        put(w, 1, STV_HIDDEN);
        put(w, 2, CONSTANTS);
    }
}

static const char *const symbols[] = {OBJECT_DATA, "sframe_start", "sframe_end"};

static void put_symbols(struct writer *w, const struct room *room, const uint32_t *names, bool tables)
{
    const size_t at = object_tables(room), size = object_size(room);

    put_zeros(w, w->wide ? 24 : 16);
    put_symbol(w, names[0], STB_GLOBAL, 0, size);
    if (!tables)
        return;
    put_symbol(w, names[1], STB_GLOBAL, at, 0);
    put_symbol(w, names[2], STB_GLOBAL, size, 0);
}

/* Adds TEXT to the STRINGS, and returns where it is there. */
static uint32_t add_string(struct writer *strings, const char *text)
{
    const size_t at = strings->size;

    put_bytes(strings, text, strlen(text) + 1);
    return (uint32_t)at;
}

/* Notes that the part begins here, at a multiple of its alignment. */
static void begin(struct writer *w, struct part *part)
{
    put_zeros(w, up_to(w->size, (size_t)part->align) - w->size);
    part->offset = w->size;
}

static struct writer make_object(const struct target *target, const struct room *room, const char *section,
                                 bool tables)
{
    const bool wide = target->class == ELFCLASS64, big = target->data == ELFDATA2MSB;
    struct writer w = {NULL, 0, wide, big}, strings = {NULL, 0, wide, big};
    const size_t ehdr = wide ? 64 : 52, symbol = wide ? 24 : 16, num = tables ? 4 : 2;
    struct part parts[NUM_SECTIONS] = {
        {0, SHT_NULL, 0, 0, 0, 0, 0, 0, 0},
        {0, SHT_PROGBITS, SHF_ALLOC, 0, object_size(room), 0, 0, 8, 0},
        {0, SHT_PROGBITS, 0, 0, 0, 0, 0, 1, 0},
        {0, SHT_NOTE, SHF_ALLOC, 0, target->property_size, 0, 0, wide ? 8 : 4, 0},
        {0, SHT_SYMTAB, 0, 0, num * symbol, STRINGS, 1, 8, symbol},
        {0, SHT_STRTAB, 0, 0, 0, 0, 0, 1, 0},
    };
    uint32_t names[3];
    struct writer head = {NULL, 0, wide, big};
    size_t i;

    put_zeros(&strings, 1);
    for (i = 0; i < 3; i++)
        names[i] = add_string(&strings, symbols[i]);
    parts[CONSTANTS].name = add_string(&strings, section);
    parts[STACK].name = add_string(&strings, ".note.GNU-stack");
    parts[PROPERTY].name = add_string(&strings, ".note.gnu.property");
    if (!target->stack_note)
        parts[STACK] = (struct part){0, SHT_NULL, 0, 0, 0, 0, 0, 1, 0};
    if (target->property == NULL)
        parts[PROPERTY] = (struct part){0, SHT_NULL, 0, 0, 0, 0, 0, 1, 0};
    parts[SYMBOLS].name = add_string(&strings, ".symtab");
    parts[STRINGS].name = add_string(&strings, ".strtab");
    parts[STRINGS].size = strings.size;
    put_zeros(&w, ehdr);
    begin(&w, &parts[CONSTANTS]);
    put_bytes(&w, object_mark, OBJECT_MARK_SIZE);
    put_zeros(&w, object_size(room) - OBJECT_MARK_SIZE);
    begin(&w, &parts[PROPERTY]);
    put_bytes(&w, target->property, target->property_size);
    begin(&w, &parts[SYMBOLS]);
    put_symbols(&w, room, names, tables);
    begin(&w, &parts[STRINGS]);
    put_bytes(&w, strings.bytes, strings.size);
    put_zeros(&w, up_to(w.size, 8) - w.size);
    put_header(&head, target, w.size);
    memcpy(w.bytes, head.bytes, ehdr);
    for (i = 0; i < NUM_SECTIONS; i++)
        put_part(&w, &parts[i]);
    free(strings.bytes);
    free(head.bytes);
    return w;
}

/* ---- The archive ----------------------------------------------------------------------------------------------- */

static void put_member(struct writer *w, const char *name, const struct writer *member)
{
    char header[61];

    (void)snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8o%-10zu`\n", name, 0, 0, 0, 0644u, member->size);
    put_bytes(w, header, 60);
    put_bytes(w, member->bytes, member->size);
    put_bytes(w, "\n", member->size % 2);
}

bool object_write(const char *file, const struct target *target, const struct room *room, const char *section,
                  bool tables)
{
    struct writer object = make_object(target, room, section, tables), w = {NULL, 0, false, true};
    struct writer index = {NULL, 0, false, true}; /* of symbols, each with the place of its member: big-endian */
    const size_t num = tables ? 3 : 1;
    struct written_file f;
    size_t i, names = 0;
    bool good;

    for (i = 0; i < num; i++)
        names += strlen(symbols[i]) + 1;
    put(&index, 4, num);
    for (i = 0; i < num; i++)
        put(&index, 4, 8 + 60 + up_to(4 + 4 * num + names, 2));
    for (i = 0; i < num; i++)
        put_bytes(&index, symbols[i], strlen(symbols[i]) + 1);
    put_bytes(&w, "!<arch>\n", 8);
    put_member(&w, "/", &index);
    put_member(&w, "sfu_link.o/", &object);
    good = written_open(&f, file);
    if (good) {
        good = fwrite(w.bytes, 1, w.size, f.stream) == w.size;
        good = written_close(&f, good, 0666) && good;
    }
    free(object.bytes);
    free(index.bytes);
    free(w.bytes);
    return good;
}
