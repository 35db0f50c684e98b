/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "trace_text.h"
#include "common/image.h"

#include <stdlib.h>
#include <string.h>

enum { LAST_SIZE = 65536 }; /* of the last symbol, whose end nobody says, at most */

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

/* "TYPE NAME". Undefined and absolute symbols, and those of debug information, have no place in memory. */
static bool is_type(const struct text *t)
{
    return t->end - t->p > 2 && t->p[1] == ' ';
}

static bool take_type(struct text *t, struct map_symbol *symbol)
{
    char type = '?';

    if (is_type(t)) {
        type = t->p[0];
        t->p += 2;
    }
    symbol->code = type != '\0' && strchr("tTwWi", type) != NULL;
    return strchr("aAnNU?-", type) == NULL;
}

/* Cuts the names from NAME up to END out of the text; there is room for a 0 at END. "$x" marks code of aarch64. */
static bool take_names(char *name, char *end, struct map_symbol *symbol)
{
    char *tab;

    while (end > name && (end[-1] == ' ' || end[-1] == '\r'))
        end--;
    *end = '\0';
    tab = memchr(name, '\t', (size_t)(end - name));
    if (tab != NULL) {
        *tab = '\0';
        symbol->module = tab + 1 + (tab[1] == '[');
        end[end[-1] == ']' ? -1 : 0] = '\0';
    }
    symbol->name = name;
    return name[0] != '\0' && name[0] != '$';
}

/* There is a line feed, or room for a 0, at END. */
static bool take_map_line(char *line, char *end, struct map_symbol *symbol)
{
    struct text t = {line, end};

    memset(symbol, 0, sizeof *symbol);
    if (!text_number(&t, 16, 1, 16, &symbol->addr) || !text_take(&t, " "))
        return false;
    if (!is_type(&t) && (!text_number(&t, 16, 1, 16, &symbol->size) || !text_take(&t, " ")))
        return false;
    return take_type(&t, symbol) && take_names(line + (t.p - line), end, symbol);
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

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
    char *line, *eol;

    memset(map, 0, sizeof *map);
    map->text = text;
    for (line = text; line < text + size; line = eol + 1) {
        struct map_symbol symbol;

        eol = memchr(line, '\n', (size_t)(text + size - line));
        if (eol == NULL)
            eol = text + size;
        if (!take_map_line(line, eol, &symbol))
            continue;
        map->list = grow(map->list, map->num, sizeof *map->list);
        map->list[map->num++] = symbol;
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
