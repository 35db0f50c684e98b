/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Which object file each function comes from. The linker does not say. DWARF's compilation units do; in an image
 * without it symbols of files do, for local symbols and for what lies between two of them.
 */
#include "lint.h"

#ifndef SFU_NO_LIBDW
#include <dwarf.h>
#endif
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Code of an object. */
struct source {
    uint64_t start, end; /* end: start + 1 of a symbol */
    const char *name;
};

struct sources {
    struct source *list; /* by start */
    size_t num;
};

static void add_source(struct sources *sources, uint64_t start, uint64_t end, const char *name)
{
    sources->list = grow(sources->list, sources->num, sizeof *sources->list);
    sources->list[sources->num++] = (struct source){start, end, name};
}

static int by_source_start(const void *a, const void *b)
{
    const struct source *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return compare_names(x->name, y->name);
}

static void sort_sources(struct sources *sources)
{
    if (sources->num > 0)
        qsort(sources->list, sources->num, sizeof *sources->list, by_source_start);
}

/* How many of SOURCES start at or below ADDR. */
static size_t count_below(const struct sources *sources, uint64_t addr)
{
    return count_up_to(sources->list, sources->num, sizeof *sources->list, offsetof(struct source, start), addr);
}

/* The last one of SOURCES that starts at or below ADDR, or NULL. */
static const struct source *source_below(const struct sources *sources, uint64_t addr)
{
    size_t n = count_below(sources, addr);

    return sources->list != NULL && n > 0 ? &sources->list[n - 1] : NULL;
}

/* The first one that starts above ADDR, or NULL. */
static const struct source *source_above(const struct sources *sources, uint64_t addr)
{
    size_t n = count_below(sources, addr);

    return sources->list != NULL && n < sources->num ? &sources->list[n] : NULL;
}

/* ---- DWARF ----------------------------------------------------------------------------------------------------- */

#ifdef SFU_NO_LIBDW

static void read_dwarf(struct lint *lint, struct sources *sources)
{
    (void)lint;
    (void)sources;
}

void lint_objects_free(struct lint *lint)
{
    (void)lint;
}

#else

static void add_compile_unit(struct sources *sources, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);
    Dwarf_Addr base, start, end;
    ptrdiff_t next = 0;

    while (name != NULL && (next = dwarf_ranges(die, next, &base, &start, &end)) > 0)
        if (start < end)
            add_source(sources, start, end, name);
}

/* What cannot be read names no object. */
static void read_dwarf(struct lint *lint, struct sources *sources)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;

    lint->dwarf = lint->image.object ? NULL : dwarf_begin_elf(lint->image.elf, DWARF_C_READ, NULL);
    if (lint->dwarf == NULL)
        return;
    while (dwarf_get_units(lint->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0)
        if (type == DW_UT_compile || type == DW_UT_skeleton)
            add_compile_unit(sources, &die);
    sort_sources(sources);
}

void lint_objects_free(struct lint *lint)
{
    if (lint->dwarf != NULL)
        dwarf_end(lint->dwarf);
}

#endif

/* ---- Symbols --------------------------------------------------------------------------------------------------- */

/* The symbols of a file follow its own one, as far as they are local. */
struct reading {
    const struct image *image;
    struct sources *sources;
    const char *file;
};

/* An image_symbol_fn. */
static void read_symbol(void *ctx, const GElf_Sym *sym, const char *name)
{
    struct reading *r = ctx;

    if (GELF_ST_TYPE(sym->st_info) == STT_FILE)
        r->file = name;
    else if (GELF_ST_BIND(sym->st_info) == STB_LOCAL && GELF_ST_TYPE(sym->st_info) != STT_SECTION &&
             sym->st_shndx != SHN_UNDEF && image_code(r->image, sym->st_value) != NULL)
        add_source(r->sources, sym->st_value, sym->st_value + 1, r->file);
}

/* ---- Functions ------------------------------------------------------------------------------------------------- */

static const char *object_name_of(const struct lint *lint, const struct sources *units, const struct sources *files,
                                  const struct lint_function *f)
{
    const struct section *code = image_code(&lint->image, f->start);
    const struct source *unit = source_below(units, f->start);
    const struct source *below = source_below(files, f->start), *above = source_above(files, f->start);

    if (unit != NULL && f->start < unit->end)
        return unit->name;
    if (below == NULL || image_code(&lint->image, below->start) != code)
        return "";
    if (below->start == f->start)
        return below->name;
    if (above == NULL || image_code(&lint->image, above->start) != code ||
        compare_names(below->name, above->name) != 0)
        return "";
    return below->name;
}

static int by_object_name(const void *a, const void *b)
{
    const struct lint_object *x = a, *y = b;

    return compare_names(x->name, y->name);
}

/* Makes NAMES, one for each function, the list of objects. The first one is without a name. */
static void list_objects(struct lint *lint, const char *const *names)
{
    struct lint_object *objects = zeroed(lint->num_functions + 1, sizeof *objects);
    size_t i, num = 0;

    objects[0].name = "";
    for (i = 0; i < lint->num_functions; i++)
        objects[i + 1].name = names[i];
    qsort(objects, lint->num_functions + 1, sizeof *objects, by_object_name);
    for (i = 1; i < lint->num_functions + 1; i++)
        if (compare_names(objects[i].name, objects[num].name) != 0)
            objects[++num].name = objects[i].name;
    lint->objects = objects;
    lint->num_objects = num + 1;
    for (i = 0; i < lint->num_functions; i++) {
        struct lint_object key = {names[i], 0, 0, 0, 0, 0, 0, 0};
        const struct lint_object *found =
            bsearch(&key, objects, lint->num_objects, sizeof *objects, by_object_name);

        lint->functions[i].object = found != NULL ? (size_t)(found - objects) : 0;
    }
}

bool lint_objects(struct lint *lint)
{
    struct sources units = {NULL, 0}, files = {NULL, 0};
    struct reading reading = {&lint->image, &files, ""};
    const char **names = zeroed(lint->num_functions, sizeof *names);
    size_t i;
    bool good;

    read_dwarf(lint, &units);
    good = image_each_symbol(&lint->image, SHT_SYMTAB, read_symbol, &reading);
    sort_sources(&files);
    for (i = 0; i < lint->num_functions; i++)
        names[i] = object_name_of(lint, &units, &files, &lint->functions[i]);
    list_objects(lint, names);
    free(names);
    free(units.list);
    free(files.list);
    return good;
}
