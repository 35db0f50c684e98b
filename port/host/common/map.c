/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LAST_SIZE = 65536, /* of the last symbol, whose end nobody says, at most */
    SEGMENTS = 256,    /* of link.exe's maps; loaders take 96 sections */
    MOST_WORDS = 6     /* of a line, that are looked at */
};

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

/* A part of a line. There is a line feed, or room for a 0, at END. */
struct part {
    char *p, *end;
};

/* How the lines of a map are read: from a line on that only such a map has. */
enum shape { SHAPE_NM, SHAPE_LINK, SHAPE_LD, SHAPE_COLUMNS };

struct reader {
    struct map *map;
    enum shape shape;
    bool code;              /* the section that lines are in has instructions */
    bool code_of[SEGMENTS]; /* SHAPE_LINK: the same of each segment */
    struct part pending;    /* SHAPE_LD: an input section's name, whose address is in the next line */
    uint64_t end;           /* of the input section; 0: none */
    size_t out, in, symbol; /* SHAPE_COLUMNS: where names of output sections, input sections and symbols begin */
    bool decimal;           /* SHAPE_COLUMNS: sizes are decimal */
};

static struct part next_word(struct part *line)
{
    struct part word;

    while (line->p < line->end && *line->p == ' ')
        line->p++;
    word.p = line->p;
    while (line->p < line->end && *line->p != ' ')
        line->p++;
    word.end = line->p;
    return word;
}

static bool begins(const struct part *t, const char *with)
{
    const size_t size = strlen(with);

    return (size_t)(t->end - t->p) >= size && memcmp(t->p, with, size) == 0;
}

static bool has(const struct part *t, const char *text)
{
    return memmem(t->p, (size_t)(t->end - t->p), text, strlen(text)) != NULL;
}

static bool is(const struct part *t, const char *text)
{
    return begins(t, text) && (size_t)(t->end - t->p) == strlen(text);
}

/* Takes a hexadecimal number of LEAST to 16 digits, of small or capital letters. What follows it stays. */
static bool take_hex(struct part *t, unsigned least, uint64_t *value)
{
    unsigned n = 0;

    for (*value = 0; n < 16 && t->p < t->end; n++, t->p++) {
        const char c = *t->p;
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;

        if (digit < 0)
            break;
        *value = *value << 4 | (unsigned)digit;
    }
    return n >= least;
}

/* Whether WORD is a hexadecimal number and nothing else; PREFIX: with 0x. */
static bool is_hex(struct part word, bool prefix, uint64_t *value)
{
    if (prefix && !begins(&word, "0x"))
        return false;
    word.p += begins(&word, "0x") ? 2 : 0;
    return take_hex(&word, 1, value) && word.p == word.end;
}

static void add(struct reader *r, const struct map_symbol *symbol)
{
    struct map *map = r->map;

    map->list = grow(map->list, map->num, sizeof *map->list);
    map->list[map->num++] = *symbol;
}

/* Ends NAME where it is, without the spaces behind it. "$x" marks code of aarch64. */
static bool end_name(struct part name)
{
    while (name.end > name.p && (name.end[-1] == ' ' || name.end[-1] == '\r'))
        name.end--;
    *name.end = '\0';
    return name.p[0] != '\0' && name.p[0] != '$';
}

/* ---- System.map, /proc/kallsyms, nm ---------------------------------------------------------------------------- */

/* "TYPE NAME". Undefined and absolute symbols, and those of debug information, have no place in memory. */
static bool is_type(const struct part *t)
{
    return t->end - t->p > 2 && t->p[1] == ' ';
}

static bool take_type(struct part *t, struct map_symbol *symbol)
{
    char type = '?';

    if (is_type(t)) {
        type = t->p[0];
        t->p += 2;
    }
    symbol->code = type != '\0' && strchr("tTwWi", type) != NULL;
    return strchr("aAnNU?-", type) == NULL;
}

static bool take_space(struct part *t)
{
    const bool found = t->p < t->end && *t->p == ' ';

    t->p += found;
    return found;
}

static void take_nm_line(struct reader *r, struct part t)
{
    struct map_symbol symbol;
    char *tab;

    memset(&symbol, 0, sizeof symbol);
    if (!take_hex(&t, 1, &symbol.addr) || !take_space(&t))
        return;
    if (!is_type(&t) && (!take_hex(&t, 1, &symbol.size) || !take_space(&t)))
        return;
    if (!take_type(&t, &symbol) || !end_name(t))
        return;
    tab = strchr(t.p, '\t');
    if (tab != NULL) {
        const size_t size = strlen(tab);

        if (tab[size - 1] == ']')
            tab[size - 1] = '\0';
        *tab = '\0';
        symbol.module = tab + 1 + (tab[1] == '[');
    }
    symbol.name = t.p;
    if (symbol.name[0] != '\0')
        add(r, &symbol);
}

/* ---- link.exe, lld-link /map ----------------------------------------------------------------------------------- */

/* " 0001:00000000 00000062H .text CODE": a part of a segment; " 0001:00000040 NAME 0000000140001040 f i OBJECT". */
static void take_link_line(struct reader *r, struct part line)
{
    struct part word = next_word(&line), name, rest;
    struct map_symbol symbol;
    uint64_t segment, offset;

    if (is(&word, "Timestamp") && (next_word(&line), word = next_word(&line), is_hex(word, false, &offset))) {
        r->map->has_stamp = true;
        r->map->stamp = offset;
    }
    if (!take_hex(&word, 4, &segment) || !begins(&word, ":") || (word.p++, !is_hex(word, false, &offset)))
        return;
    name = rest = next_word(&line);
    if (take_hex(&rest, 8, &offset) && is(&rest, "H")) {
        (void)next_word(&line);
        word = next_word(&line);
        r->code_of[segment % SEGMENTS] |= segment < SEGMENTS && begins(&word, "CODE");
        return;
    }
    memset(&symbol, 0, sizeof symbol);
    if (segment == 0 || segment >= SEGMENTS || !is_hex(next_word(&line), false, &symbol.addr))
        return;
    symbol.code = r->code_of[segment];
    word = next_word(&line);
    symbol.function = symbol.code && is(&word, "f");
    symbol.name = name.p;
    if (end_name(name))
        add(r, &symbol);
}

/* ---- GNU ld -Map ----------------------------------------------------------------------------------------------- */

/* Whether sections of that name have instructions: all that are not known to have data. */
static bool is_code_section(const struct part *name)
{
    static const char *const data[] = {".data",   ".rdata",    ".rodata",     ".bss",      ".sbss",   ".sdata",
                                       ".debug",  ".comment",  ".eh_frame",   ".pdata",    ".xdata",  ".idata",
                                       ".edata",  ".reloc",    ".rsrc",       ".symtab",   ".strtab", ".shstrtab",
                                       ".note",   ".gnu",      ".dyn",        ".got",      ".tls",    ".tbss",
                                       ".tdata",  ".rel",      ".init_array", ".ctors",    ".dtors",  ".fini_array",
                                       ".ARM.ex", ".ARM.attr", ".riscv",      ".noinit",   ".heap",   ".stack",
                                       ".stab",   ".sframe",   ".sfu_sframe", "/DISCARD/", "COMMON",  "<internal>"};
    size_t i;

    for (i = 0; i < sizeof data / sizeof data[0]; i++)
        if (begins(name, data[i]))
            return false;
    return true;
}

/* The name of the only function of an input section: ".text.NAME", ".text.unlikely.NAME", of MinGW ".text$NAME". */
static bool function_of(struct part *name)
{
    static const char *const groups[] = {"unlikely.", "startup.", "exit.", "hot."};
    size_t i;

    if (!begins(name, ".text.") && !begins(name, ".text$"))
        return false;
    name->p += 6;
    for (i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (begins(name, groups[i]))
            name->p += strlen(groups[i]);
    for (i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if ((size_t)(name->end - name->p) + 1 == strlen(groups[i]) &&
            memcmp(name->p, groups[i], strlen(groups[i]) - 1) == 0)
            return false;
    return name->p < name->end;
}

/* An input section with SIZE bytes at ADDR. Of functions that are not global its name is all that the map says. */
static void begin_input(struct reader *r, struct part name, uint64_t addr, uint64_t size)
{
    struct map_symbol symbol;

    r->end = addr + size;
    if (!r->code || size == 0 || r->end < addr)
        return;
    memset(&symbol, 0, sizeof symbol);
    symbol.addr = addr;
    symbol.size = size;
    symbol.code = true;
    if (!function_of(&name)) {
        r->map->no_static = true;
    } else if (end_name(name)) {
        symbol.name = name.p;
        add(r, &symbol);
    }
}

/* A symbol ends where its input section does, if not before. */
static void add_in_section(struct reader *r, uint64_t addr, uint64_t size, struct part name)
{
    struct map_symbol symbol;

    memset(&symbol, 0, sizeof symbol);
    symbol.addr = addr;
    symbol.size = size != 0 ? size : addr < r->end ? r->end - addr : 0;
    symbol.code = r->code;
    symbol.name = name.p;
    if (end_name(name))
        add(r, &symbol);
}

/* Behind an address: the size of the section that is PENDING, a symbol, or what a script says. */
static void take_ld_address(struct reader *r, struct part line, uint64_t addr)
{
    struct part name, word = next_word(&line);
    uint64_t size;

    name = (struct part){word.p, line.end};
    if (is_hex(word, true, &size)) {
        if (r->pending.p != NULL)
            begin_input(r, r->pending, addr, size);
    } else if (word.p < word.end && !has(&name, " = ") && !begins(&name, "PROVIDE") && !begins(&name, "HIDDEN") &&
               !begins(&name, "ASSERT")) {
        add_in_section(r, addr, 0, name);
    }
}

static void take_ld_line(struct reader *r, struct part line)
{
    const bool outer = line.p < line.end && line.p[0] != ' ',
               input = line.end - line.p > 1 && line.p[0] == ' ' && line.p[1] != ' ' && line.p[1] != '*';
    struct part rest = line, word = next_word(&rest), second;
    uint64_t addr, size;

    if (is_hex(word, true, &addr) && !outer)
        take_ld_address(r, rest, addr);
    r->pending.p = NULL;
    if (outer) {
        r->code = is_code_section(&word);
        r->end = 0;
    }
    if (!input)
        return;
    second = next_word(&rest);
    if (second.p == second.end)
        r->pending = word;
    else if (is_hex(second, true, &addr) && is_hex(next_word(&rest), true, &size))
        begin_input(r, word, addr, size);
}

/* ---- ld.lld, mold -Map, lld-link /lldmap ----------------------------------------------------------------------- */

/* Columns of numbers: addresses, size and alignment; then a name, whose column says of what. */
static void take_columns(struct reader *r, struct part line)
{
    struct part numbers = {line.p, line.p + r->out}, words[MOST_WORDS], name;
    uint64_t addr, size = 0;
    size_t num = 0, at;

    if ((size_t)(line.end - line.p) <= r->out)
        return;
    for (at = r->out; at < (size_t)(line.end - line.p) && line.p[at] == ' ';)
        at++;
    while (num < MOST_WORDS && (words[num] = next_word(&numbers), words[num].p < words[num].end))
        num++;
    if (num < 3 || !is_hex(words[0], false, &addr) || (!r->decimal && !is_hex(words[num - 2], false, &size)))
        return;
    name = (struct part){line.p + at, line.end};
    if (at == r->out)
        r->code = is_code_section(&name);
    if (at == r->in || at == r->out)
        r->end = addr + size > addr ? addr + size : 0;
    else if (at == r->symbol)
        add_in_section(r, addr, size, name);
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

/* Whether LINE says that the map is a linker's. */
static bool is_heading(struct reader *r, struct part line)
{
    static const char columns[] = "Out     In      Symbol";
    const char *found = memmem(line.p, (size_t)(line.end - line.p), columns, sizeof columns - 1);

    if (begins(&line, "Linker script and memory map")) {
        r->shape = SHAPE_LD;
    } else if (begins(&line, " Timestamp is ") || (begins(&line, " Start ") && has(&line, " Class"))) {
        r->shape = SHAPE_LINK;
        take_link_line(r, line);
    } else if (found != NULL) {
        r->shape = SHAPE_COLUMNS;
        r->out = (size_t)(found - line.p);
        r->in = r->out + 8;
        r->symbol = r->out + 16;
        r->decimal = !has(&line, "LMA") && !begins(&line, "Address");
        r->map->relative = begins(&line, "Address");
    } else {
        return false;
    }
    return true;
}

static void take_line(struct reader *r, struct part line)
{
    static void (*const take[])(struct reader *, struct part) = {[SHAPE_NM] = take_nm_line,
                                                                 [SHAPE_LINK] = take_link_line,
                                                                 [SHAPE_LD] = take_ld_line,
                                                                 [SHAPE_COLUMNS] = take_columns};

    if (line.end > line.p && line.end[-1] == '\r')
        *--line.end = '\0';
    if (r->shape != SHAPE_NM || r->map->num > 0 || !is_heading(r, line))
        take[r->shape](r, line);
}

/* Of functions at one address the one that is to be shown comes last. */
static int by_map_symbol(const void *a, const void *b)
{
    const struct map_symbol *x = a, *y = b;

    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (x->code != y->code)
        return x->code ? 1 : -1;
    return strcmp(y->name, x->name);
}

size_t map_parse(struct map *map, char *text, size_t size)
{
    struct reader r;
    char *line, *eol;

    memset(map, 0, sizeof *map);
    memset(&r, 0, sizeof r);
    r.map = map;
    map->text = text;
    for (line = text; line < text + size; line = eol + 1) {
        eol = memchr(line, '\n', (size_t)(text + size - line));
        if (eol == NULL)
            eol = text + size;
        take_line(&r, (struct part){line, eol});
    }
    if (map->num > 0)
        qsort(map->list, map->num, sizeof *map->list, by_map_symbol);
    return map->num;
}

const struct map_symbol *map_at(const struct map *map, uint64_t addr)
{
    size_t below = count_up_to(map->list, map->num, sizeof *map->list, offsetof(struct map_symbol, addr), addr);
    const struct map_symbol *symbol = below > 0 ? &map->list[below - 1] : NULL;
    uint64_t size;

    if (symbol == NULL || !symbol->code)
        return NULL;
    size = symbol->size != 0 ? symbol->size : below < map->num ? map->list[below].addr - symbol->addr : LAST_SIZE;
    return addr - symbol->addr < size ? symbol : NULL;
}

bool map_find(const struct map *map, const char *name, uint64_t *addr)
{
    size_t i;

    for (i = 0; i < map->num; i++) {
        if (map->list[i].module == NULL && strcmp(map->list[i].name, name) == 0) {
            *addr = map->list[i].addr;
            return true;
        }
    }
    return false;
}

void map_free(struct map *map)
{
    free(map->list);
    free(map->text);
    memset(map, 0, sizeof *map);
}

/* /proc does not say how long a file is. */
char *map_read_file(const char *name, size_t *size)
{
    FILE *file = fopen(name, "r");
    char *bytes = NULL, *more;
    size_t room = 0, got = 1;

    for (*size = 0; file != NULL && got > 0; *size += got) {
        if (room - *size < 2) {
            room = 2 * room + 65536;
            more = realloc(bytes, room);
            if (more == NULL)
                break;
            bytes = more;
        }
        got = fread(bytes + *size, 1, room - *size - 1, file);
    }
    if (file == NULL || got > 0 || ferror(file)) {
        free(bytes);
        bytes = NULL;
    }
    if (file != NULL)
        (void)fclose(file);
    return bytes;
}

/* ---- Images ---------------------------------------------------------------------------------------------------- */

static uint64_t start_of(const struct image *image)
{
    GElf_Phdr segment;

    return image_segment(image, PT_LOAD, true, 0, &segment) ? segment.p_vaddr : 0;
}

/* Whether one of the NUM symbols of IMAGE, which are in order, is at ADDR. */
static bool has_symbol_at(const struct image *image, size_t num, uint64_t addr)
{
    const size_t below =
        count_up_to(image->symbols, num, sizeof *image->symbols, offsetof(struct symbol, addr), addr);

    return below > 0 && image->symbols[below - 1].addr == addr;
}

size_t map_name_image(struct map *map, struct image *image)
{
    const size_t before = image->num_symbols;
    const uint64_t start = map->relative ? start_of(image) : 0;
    size_t i, found = 0;

    for (i = 0; i < map->num; i++) {
        struct map_symbol *s = &map->list[i];

        s->addr += start;
        if (!s->code || s->module != NULL || image_code(image, s->addr) == NULL)
            continue;
        found++;
        if (has_symbol_at(image, before, s->addr))
            continue;
        image->symbols = grow(image->symbols, image->num_symbols, sizeof *image->symbols);
        image->symbols[image->num_symbols++] = (struct symbol){s->addr, s->size, s->name, s->function};
    }
    map->relative = false;
    image_sort_symbols(image);
    return found;
}

/* The stamp is behind the signature and 4 bytes of the COFF header. Of some images a tool has set it to 0. */
enum map_link map_link(const struct map *map, const struct image *image)
{
    enum { DOS_PE = 60, STAMP = 8 };
    uint8_t bytes[4];

    if (!map->has_stamp || image->pe == NULL || pread(image->fd, bytes, 4, DOS_PE) != 4 ||
        pread(image->fd, bytes, 4, (off_t)load_number(bytes, 4, false) + STAMP) != 4 ||
        load_number(bytes, 4, false) == 0)
        return MAP_UNKNOWN;
    return load_number(bytes, 4, false) == map->stamp ? MAP_SAME_LINK : MAP_ANOTHER_LINK;
}

bool map_name_by_file(struct map *map, const char *file, struct image *image)
{
    size_t size;
    char *text = map_read_file(file, &size);

    memset(map, 0, sizeof *map);
    if (text == NULL)
        return image_fail(image, "%s: %s", file, strerror(errno));
    if (map_parse(map, text, size) == 0)
        return image_fail(image, "%s: no symbols: not a linker's map or the output of nm", file);
    if (map_name_image(map, image) == 0)
        return image_fail(image, "%s: no function of this map is in the code of the image", file);
    return true;
}
