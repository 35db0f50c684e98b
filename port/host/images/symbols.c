/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Functions, files, lines and inlined calls, by libdw. What is read of an image stays until it is closed. Addresses
 * are those of the file; a relocatable object has those that libdwfl lays it out at.
 */
#include "symbols.h"
#include "common/report.h"

#include <dwarf.h>
#include <errno.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_DEPTH = 200,     /* of functions inlined into each other, and of what stands around them */
    MAX_DIES = 50000000, /* looked at for one address: a broken file may lead in circles */
    LARGE = 32 << 20     /* bytes of a file, from which on people are told what takes so long */
};

/* Code of one compilation unit. */
struct unit_range {
    Dwarf_Addr start, end;
    Dwarf_Off unit;
};

struct symbols {
    Dwfl *dwfl;
    Dwfl_Module *module;
    Dwarf *dwarf; /* or NULL */
    Dwarf *own;   /* the same, of a PE file; else NULL */
    Dwarf_Addr bias;
    struct unit_range *ranges;      /* by address */
    size_t num_ranges, most_ranges; /* units may share a list of ranges: no more are taken than the file can have */
    bool more;                      /* symbols than common/image.h has */
    struct named {
        const char *name;
        uint64_t addr;
        int index;
    } * named; /* symbols by name, once one has been asked for */
    size_t num_named;
};

/* ---- Files of their own ---------------------------------------------------------------------------------------- */

static char *debuginfo_path; /* NULL: libdwfl's own */

void symbols_set_folder(const char *folder)
{
    static const char format[] = ":.debug:%s:/usr/lib/debug"; /* its own, and the folder */
    /* libdwfl takes a relative one as one beside each image. */
    char *whole = realpath(folder, NULL);
    size_t room;

    if (whole == NULL)
        report_fail("--debug-dir=%s: %s", folder, strerror(errno));
    room = sizeof format + strlen(whole);
    free(debuginfo_path);
    debuginfo_path = zeroed(room, 1);
    (void)snprintf(debuginfo_path, room, format, whole);
    free(whole);
}

/* Where debuginfod has put the file with that build ID. To be freed. NULL: no folder is named. */
static char *cached_name(const uint8_t *id, size_t size)
{
    static const struct {
        const char *variable, *folder;
    } places[] = {{"DEBUGINFOD_CACHE_PATH", ""},
                  {"XDG_CACHE_HOME", "/debuginfod_client"},
                  {"HOME", "/.cache/debuginfod_client"}};
    char text[2 * 64 + 1] = "", *name;
    const char *home = NULL;
    size_t i, k, room;

    for (k = 0; k < sizeof places / sizeof places[0] && home == NULL; k++)
        home = getenv(places[k].variable);
    if (home == NULL || size == 0 || size > 64)
        return NULL;
    for (i = 0; i < size; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", id[i]);
    room = strlen(home) + sizeof text + 64;
    name = zeroed(room, 1);
    (void)snprintf(name, room, "%s%s/%s/debuginfo", home, places[k - 1].folder, text);
    return name;
}

static bool has_id(int fd, const uint8_t *id, size_t size)
{
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const void *found;
    bool same = elf != NULL && dwelf_elf_gnu_build_id(elf, &found) == (ssize_t)size && memcmp(found, id, size) == 0;

    (void)elf_end(elf);
    return same;
}

/* As libdwfl does, which asks debuginfod's servers, too. Then what they have given before, also without a server. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *module_name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word crc, char **name)
{
    int fd = dwfl_standard_find_debuginfo(module, data, module_name, base, file, link, crc, name);
    const unsigned char *id;
    GElf_Addr at;
    int size;

    if (fd >= 0 || *name != NULL)
        return fd;
    size = dwfl_module_build_id(module, &id, &at);
    *name = size > 0 ? cached_name(id, (size_t)size) : NULL;
    if (*name == NULL)
        return -1;
    fd = open(*name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && has_id(fd, id, (size_t)size))
        return fd;
    if (fd >= 0)
        close(fd);
    free(*name);
    *name = NULL;
    return -1;
}

/* ---- Opening --------------------------------------------------------------------------------------------------- */

bool image_is_object(const struct trace_image *image)
{
    return image->image.header.e_type == ET_REL;
}

static int by_unit_start(const void *a, const void *b)
{
    const struct unit_range *x = a, *y = b;

    return x->start != y->start ? (x->start < y->start ? -1 : 1) : (x->unit > y->unit) - (x->unit < y->unit);
}

static void add_ranges(struct symbols *s, Dwarf_Die *unit)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;

    while (s->num_ranges < s->most_ranges && (at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
        if (start >= end)
            continue;
        s->ranges = grow(s->ranges, s->num_ranges, sizeof *s->ranges);
        s->ranges[s->num_ranges++] = (struct unit_range){start, end, dwarf_dieoffset(unit)};
    }
}

/* Lists the code of each unit. Compilers need not write .debug_aranges, and clang does not. */
static void read_units(struct symbols *s)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Half version;
    uint8_t type;
    Dwarf_Die unit, split;
    size_t size = 0;

    (void)elf_rawfile(dwarf_getelf(s->dwarf), &size);
    s->most_ranges = size / 4;
    while (dwarf_get_units(s->dwarf, cu, &cu, &version, &type, &unit, &split) == 0)
        if (type == DW_UT_compile)
            add_ranges(s, &unit);
    if (s->num_ranges > 0)
        qsort(s->ranges, s->num_ranges, sizeof *s->ranges, by_unit_start);
}

/* Whether libdwfl has symbols that common/image.h does not have: of an object, of a separate file, or of a compressed
 * table. It is asked only then, because it looks at all of them for each address. */
static bool has_more(const struct trace_image *image, const struct symbols *s)
{
    const char *file = NULL, *separate = NULL;

    if (s->module == NULL)
        return false;
    (void)dwfl_module_getsymtab(s->module);
    (void)dwfl_module_info(s->module, NULL, NULL, NULL, NULL, NULL, &file, &separate);
    return image_is_object(image) || separate != NULL || image_section(&image->image, ".gnu_debugdata") != NULL;
}

static struct symbols *symbols_open(struct trace_image *image)
{
    static const Dwfl_Callbacks callbacks = {.find_debuginfo = find_debuginfo,
                                             .section_address = dwfl_offline_section_address,
                                             .debuginfo_path = &debuginfo_path};
    struct symbols *s = image->symbols;
    size_t size = 0;

    if (s != NULL)
        return s;
    image->symbols = s = zeroed(1, sizeof *s);
    (void)elf_rawfile(image->image.elf, &size);
    if (size >= LARGE)
        report_note("%s: reading its debug information (%zu MB)", image->name, size >> 20);
    /* libdwfl would read the file itself. */
    s->dwfl = image->image.pe == NULL ? dwfl_begin(&callbacks) : NULL;
    if (s->dwfl == NULL) {
        s->dwarf = s->own = image->image.pe != NULL ? dwarf_begin_elf(image->image.elf, DWARF_C_READ, NULL) : NULL;
        if (s->dwarf != NULL)
            read_units(s);
        return s;
    }
    s->module = image_is_object(image) ? dwfl_report_offline(s->dwfl, image->name, image->file, -1)
                                       : dwfl_report_elf(s->dwfl, image->name, image->file, -1, 0, true);
    (void)dwfl_report_end(s->dwfl, NULL, NULL);
    if (s->module != NULL)
        s->dwarf = dwfl_module_getdwarf(s->module, &s->bias);
    if (s->dwarf != NULL)
        read_units(s);
    s->more = has_more(image, s);
    return s;
}

const char *symbols_file(struct trace_image *image)
{
    struct symbols *s = symbols_open(image);
    const char *file = NULL, *separate = NULL;

    if (s->module != NULL)
        (void)dwfl_module_info(s->module, NULL, NULL, NULL, NULL, NULL, &file, &separate);
    return separate != NULL && (file == NULL || strcmp(file, separate) != 0) && s->bias == 0 ? separate : NULL;
}

void symbols_free(struct trace_image *image)
{
    if (image->symbols == NULL)
        return;
    if (image->symbols->dwfl != NULL)
        dwfl_end(image->symbols->dwfl);
    if (image->symbols->own != NULL)
        dwarf_end(image->symbols->own);
    free(image->symbols->ranges);
    free(image->symbols->named);
    free(image->symbols);
    image->symbols = NULL;
}

/* ---- Functions at an address ----------------------------------------------------------------------------------- */

static bool find_unit(const struct symbols *s, Dwarf_Addr pc, Dwarf_Die *unit)
{
    size_t below = count_up_to(s->ranges, s->num_ranges, sizeof *s->ranges, offsetof(struct unit_range, start), pc);

    return below > 0 && pc < s->ranges[below - 1].end &&
           dwarf_offdie(s->dwarf, s->ranges[below - 1].unit, unit) != NULL;
}

/* Functions around an address: the outermost is the first. */
struct chain {
    Dwarf_Die list[MAX_DEPTH];
    unsigned num, dies;
};

/* Adds the functions below DIE that PC is in. Returns whether there are any. At most MAX_DEPTH deep. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool descend_die(struct chain *chain, Dwarf_Die *die, Dwarf_Addr pc, unsigned depth)
{
    Dwarf_Die child;
    bool more = depth < MAX_DEPTH && dwarf_child(die, &child) == 0;

    for (; more && chain->dies < MAX_DIES; more = dwarf_siblingof(&child, &child) == 0) {
        bool function = false;

        chain->dies++;
        switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram:
        case DW_TAG_inlined_subroutine:
            function = true;
            /* fallthrough */
        case DW_TAG_lexical_block:
            if (dwarf_haspc(&child, pc) <= 0)
                continue;
            if (function && chain->num < MAX_DEPTH)
                chain->list[chain->num++] = child;
            (void)descend_die(chain, &child, pc, depth + 1);
            return true;
        case DW_TAG_namespace:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_module:
            if (descend_die(chain, &child, pc, depth + 1))
                return true;
            break;
        default:
            break;
        }
    }
    return false;
}

static const char *die_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));

    return name != NULL ? name : "??";
}

/* Where DIE has been inlined. */
static const char *call_line(Dwarf_Die *unit, Dwarf_Die *die, int *line)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file, number;
    Dwarf_Files *files;
    size_t num;

    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &number) != 0)
        number = 0;
    *line = (int)(number & INT32_MAX);
    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_getsrcfiles(unit, &files, &num) != 0 || file >= num)
        return NULL;
    return dwarf_filesrc(files, (size_t)file, NULL, NULL);
}

static unsigned find_in_unit(struct symbols *s, Dwarf_Addr pc, symbols_fn found, void *ctx)
{
    static struct chain chain; /* static, because it is large */
    const char *file = NULL;
    int number = 0;
    Dwarf_Die unit;
    Dwarf_Line *line;
    unsigned i;

    if (!find_unit(s, pc, &unit))
        return 0;
    chain.num = chain.dies = 0;
    (void)descend_die(&chain, &unit, pc, 0);
    line = dwarf_getsrc_die(&unit, pc);
    if (line != NULL) {
        file = dwarf_linesrc(line, NULL, NULL);
        (void)dwarf_lineno(line, &number);
    }
    for (i = chain.num; i > 0; i--) {
        found(ctx, die_name(&chain.list[i - 1]), file, number, i < chain.num);
        file = call_line(&unit, &chain.list[i - 1], &number);
    }
    if (chain.num == 0 && line != NULL)
        found(ctx, NULL, file, number, false);
    return chain.num > 0 ? chain.num : line != NULL;
}

unsigned symbols_find(struct trace_image *image, uint64_t addr, symbols_fn found, void *ctx)
{
    struct symbols *s = symbols_open(image);

    return s->dwarf != NULL ? find_in_unit(s, addr - s->bias, found, ctx) : 0;
}

/* ---- Tail calls ------------------------------------------------------------------------------------------------ */

static bool has_flag(Dwarf_Die *die, unsigned name, unsigned old_name)
{
    Dwarf_Attribute attribute;
    bool flag = false;

    if (dwarf_attr(die, name, &attribute) == NULL && dwarf_attr(die, old_name, &attribute) == NULL)
        return false;
    return dwarf_formflag(&attribute, &flag) == 0 && flag;
}

/* Where the function that SITE calls begins: by its code, or by its name if that is in another unit. */
static bool find_origin(struct trace_image *image, Dwarf_Die *site, uint64_t *addr)
{
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    Dwarf_Addr low;
    const char *name;

    if ((dwarf_attr(site, DW_AT_call_origin, &attribute) == NULL &&
         dwarf_attr(site, DW_AT_abstract_origin, &attribute) == NULL) ||
        dwarf_formref_die(&attribute, &origin) == NULL)
        return false;
    if (dwarf_lowpc(&origin, &low) == 0) {
        *addr = low + image->symbols->bias;
        return true;
    }
    name = dwarf_formstring(dwarf_attr_integrate(&origin, DW_AT_linkage_name, &attribute));
    if (name == NULL)
        name = die_name(&origin);
    return symbols_address(image, name, strlen(name), addr);
}

struct tail_calls {
    struct trace_image *image;
    uint64_t *targets;
    unsigned num, room, dies;
    bool all;
};

/* At most MAX_DEPTH deep. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void find_tail_calls(struct tail_calls *t, Dwarf_Die *die, unsigned depth)
{
    Dwarf_Die child;
    bool more = depth < MAX_DEPTH && dwarf_child(die, &child) == 0;

    for (; more && t->dies < MAX_DIES; more = dwarf_siblingof(&child, &child) == 0) {
        const int tag = dwarf_tag(&child);
        uint64_t addr;

        t->dies++;
        if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine)
            find_tail_calls(t, &child, depth + 1);
        if ((tag != DW_TAG_call_site && tag != DW_TAG_GNU_call_site) ||
            !has_flag(&child, DW_AT_call_tail_call, DW_AT_GNU_tail_call))
            continue;
        if (t->num < t->room && find_origin(t->image, &child, &addr))
            t->targets[t->num++] = addr;
        else
            t->all = false; /* through a pointer */
    }
}

unsigned symbols_tail_calls(struct trace_image *image, uint64_t addr, uint64_t *targets, unsigned room, bool *all)
{
    static struct chain chain; /* static, because it is large */
    struct symbols *s = symbols_open(image);
    struct tail_calls t = {image, targets, 0, room, 0, false};
    Dwarf_Die unit;

    *all = false;
    chain.num = chain.dies = 0;
    if (s->dwarf == NULL || !find_unit(s, addr - s->bias, &unit) ||
        !descend_die(&chain, &unit, addr - s->bias, 0) || chain.num == 0)
        return 0;
    t.all = has_flag(&chain.list[0], DW_AT_call_all_tail_calls, DW_AT_GNU_all_tail_call_sites) ||
            has_flag(&chain.list[0], DW_AT_call_all_calls, DW_AT_GNU_all_call_sites);
    find_tail_calls(&t, &chain.list[0], 0);
    *all = t.all;
    return t.num;
}

/* ---- Symbols --------------------------------------------------------------------------------------------------- */

const char *symbols_name(struct trace_image *image, uint64_t addr, uint64_t *offset)
{
    const struct symbol *symbol;
    struct symbols *s;
    GElf_Off at;
    GElf_Sym sym;
    const char *name;

    symbol = image_is_object(image) ? NULL : image_symbol(&image->image, addr);
    if (symbol != NULL) {
        *offset = addr - symbol->addr;
        return symbol->name;
    }
    s = symbols_open(image);
    name = s->more ? dwfl_module_addrinfo(s->module, addr, &at, &sym, NULL, NULL, NULL) : NULL;
    *offset = name != NULL ? at : 0;
    return name;
}

static bool same_name(const char *name, const char *wanted, size_t size)
{
    return name != NULL && strncmp(name, wanted, size) == 0 && name[size] == '\0';
}

/* The address of a section of a relocatable object, as libdwfl has laid it out. */
static bool section_address(struct symbols *s, const char *name, size_t size, uint64_t *addr)
{
    Dwarf_Addr bias;
    Elf *elf = dwfl_module_getelf(s->module, &bias);
    Elf_Scn *scn = NULL;
    GElf_Shdr sh;
    size_t names;

    if (elf == NULL || elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((scn = elf_nextscn(elf, scn)) != NULL) {
        if (gelf_getshdr(scn, &sh) != NULL && sh.sh_flags & SHF_ALLOC &&
            same_name(elf_strptr(elf, names, sh.sh_name), name, size)) {
            *addr = sh.sh_addr + bias;
            return true;
        }
    }
    return false;
}

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    const int order = strcmp(x->name, y->name);

    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

/* Lists the symbols by name, because a log may name one in each line. */
static void read_names(struct symbols *s)
{
    int i, num = s->module != NULL && s->named == NULL ? dwfl_module_getsymtab(s->module) : 0;
    GElf_Sym sym;
    GElf_Word section;
    GElf_Addr addr;
    Dwarf_Addr bias;

    if (num <= 0)
        return;
    s->named = zeroed((size_t)num, sizeof *s->named);
    for (i = 0; i < num; i++) {
        const char *name = dwfl_module_getsym_info(s->module, i, &sym, &addr, &section, NULL, &bias);

        if (name != NULL && section != SHN_UNDEF && GELF_ST_TYPE(sym.st_info) != STT_FILE)
            s->named[s->num_named++] = (struct named){name, addr, i};
    }
    if (s->num_named > 0)
        qsort(s->named, s->num_named, sizeof *s->named, by_name);
}

bool symbols_address(struct trace_image *image, const char *name, size_t size, uint64_t *addr)
{
    struct symbols *s = symbols_open(image);
    size_t low = 0, high;

    read_names(s);
    for (high = s->num_named; low < high;) {
        const size_t middle = low + (high - low) / 2;

        if (strncmp(s->named[middle].name, name, size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    /* Those with NAME at their beginning follow; the shortest comes first. */
    if (low < s->num_named && same_name(s->named[low].name, name, size)) {
        *addr = s->named[low].addr;
        return true;
    }
    return s->module != NULL && section_address(s, name, size, addr);
}
