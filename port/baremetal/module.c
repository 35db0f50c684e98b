/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Loads a relocatable ELF object (ld -r) where it lies in memory. It is enough of a module loader to show what becomes
 * of its tables: .sframe, by the assembler, is relocated like the other sections, and not sorted; .sfu_sframe, by
 * sfu-gen (docs/kernel.md), counts from the start of .text. The object is trusted.
 */
#include "kernel.h"

enum { RELA = 4, NOBITS = 8, REL = 9, SFRAME = 0x6ffffff4, ALLOC = 2 };

struct elf_header {
    uint8_t ident[16];
    uint16_t type, machine;
    uint32_t version;
    uintptr_t entry, segments, sections;
    uint32_t flags;
    uint16_t size, segment_size, num_segments, section_size, num_sections, names;
};

struct elf_section {
    uint32_t name, type;
    uintptr_t flags, addr, offset, size;
    uint32_t link, info;
    uintptr_t align, entry_size;
};

/* ELF of 32 bits has the members in another order, and shorter numbers of symbols. */
struct elf_symbol {
    uint32_t name;
#if UINTPTR_MAX == UINT32_MAX
    uint32_t value, size;
#endif
    uint8_t info, other;
    uint16_t section;
#if UINTPTR_MAX != UINT32_MAX
    uint64_t value, size;
#endif
};

/* MACHINE_REL: what is added stands at the place itself. */
struct elf_relocation {
    uintptr_t offset, info;
#ifndef MACHINE_REL
    uintptr_t addend;
#endif
};

#ifdef MACHINE_REL
#define RELOCATIONS REL
#else
#define RELOCATIONS RELA
#endif

#if UINTPTR_MAX == UINT32_MAX
#define SYMBOL_OF(info) ((info) >> 8)
#define TYPE_OF(info)   ((info)&0xff)
#else
#define SYMBOL_OF(info) ((info) >> 32)
#define TYPE_OF(info)   ((uint32_t)(info))
#endif

/* The parts of an object; everything in it is aligned as its section says, because the object is. */
struct object {
    uint8_t *image;
    const struct elf_section *sections;
    unsigned num_sections;
    const char *names;
};

static void *part(const struct object *object, const struct elf_section *section)
{
    return object->image + section->offset;
}

static bool same(const char *a, const char *b)
{
    while (*a == *b && *a != '\0') {
        a++;
        b++;
    }
    return *a == *b;
}

/* Where SYMBOL is; 0: it is not in the object. */
static uintptr_t address(const struct object *object, const struct elf_symbol *symbol)
{
    if (symbol->section == 0 || symbol->section >= object->num_sections)
        return 0;
    return (uintptr_t)part(object, &object->sections[symbol->section]) + symbol->value;
}

static uintptr_t addend(const struct elf_relocation *r, const uint8_t *place)
{
#ifdef MACHINE_REL
    uint32_t value;

    (void)r;
    __builtin_memcpy(&value, place, sizeof value);
    return value;
#else
    (void)place;
    return r->addend;
#endif
}

static bool relocate(const struct object *object, const struct elf_section *section)
{
    const struct elf_section *target = &object->sections[section->info];
    const struct elf_symbol *symbols = part(object, &object->sections[section->link]);
    const struct elf_relocation *r = part(object, section);
    const struct elf_relocation *end = r + section->size / sizeof *r;

    for (; r < end; r++) {
        uintptr_t symbol = address(object, &symbols[SYMBOL_OF(r->info)]);
        uint8_t *place = (uint8_t *)part(object, target) + r->offset;

        if (symbol == 0 || !machine_relocate(TYPE_OF(r->info), place, symbol + addend(r, place)))
            return false;
    }
    return true;
}

/* The symbol NAME of the symbol table that SECTION's relocations use; 0: none. */
static uintptr_t find(const struct object *object, const struct elf_section *section, const char *name)
{
    const struct elf_section *table = &object->sections[section->link];
    const struct elf_symbol *symbol = part(object, table);
    const struct elf_symbol *end = symbol + table->size / sizeof *symbol;
    const char *names = part(object, &object->sections[table->link]);

    for (; symbol < end; symbol++)
        if (same(names + symbol->name, name))
            return address(object, symbol);
    return 0;
}

/* The section NAME, or NULL. */
static const struct elf_section *named(const struct object *object, const char *name)
{
    unsigned i;

    for (i = 0; i < object->num_sections; i++)
        if (same(object->names + object->sections[i].name, name))
            return &object->sections[i];
    return NULL;
}

/* The tables, and in *FROM what their addresses count from; or NULL. */
static const struct elf_section *tables(const struct object *object, const struct elf_section **from)
{
    const struct elf_section *section = named(object, ".sfu_sframe");
    unsigned i;

    *from = named(object, ".text");
    if (section != NULL && *from != NULL)
        return section;
    for (i = 0; i < object->num_sections; i++)
        if (object->sections[i].type == SFRAME)
            return *from = &object->sections[i];
    return NULL;
}

/* On failure the section is not in the list: its memory may go away. */
static int add_section(struct module *module, const struct object *object)
{
    const struct elf_section *from, *section = tables(object, &from);
    int code;

    if (section == NULL)
        return SFU_E_NO_SECTION;
    code = sfu_add(&kernel_target.sections, &module->section, 1, part(object, section), section->size,
                   (uintptr_t)part(object, from));
    if (code == SFU_OK)
        code = sfu_find_text(&module->section);
    if (code != SFU_OK)
        module_remove(module); /* a part may have been added: tables that a linker has only joined */
    return code;
}

bool module_load(struct module *module, uint8_t *image)
{
    const struct elf_header *header = (const void *)image;
    struct object object = {image, (const void *)(image + header->sections), header->num_sections, NULL};
    unsigned i;

    object.names = part(&object, &object.sections[header->names]);

    for (i = 0; i < object.num_sections; i++) {
        const struct elf_section *section = &object.sections[i];

        if (section->type == RELOCATIONS && (object.sections[section->info].flags & ALLOC) != 0) {
            if (!relocate(&object, section))
                return false;
            module->entry = (void (*)(void (*)(void)))find(&object, section, "module_entry");
        }
        if (section->type == NOBITS && section->size != 0)
            return false;
    }
    return module->entry != NULL && add_section(module, &object) == SFU_OK;
}

void module_remove(struct module *module)
{
    (void)sfu_remove(&kernel_target.sections, &module->section, 1);
}
