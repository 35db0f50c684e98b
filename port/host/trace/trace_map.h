/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Names of functions in a text file: System.map, /proc/kallsyms, or what nm prints. Nothing in it is believed.
 */
#ifndef SFU_HOST_TRACE_MAP_H
#define SFU_HOST_TRACE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_symbol {
    uint64_t addr, size; /* size 0: up to the next symbol */
    const char *name;
    const char *module; /* of Linux, or NULL: of the kernel itself */
    bool code;
};

struct map {
    char *text; /* has the names */
    struct map_symbol *list;
    size_t num;
};

/* Takes the SIZE bytes at TEXT, which malloc has given with room for one more: lines "ADDRESS TYPE NAME" or "ADDRESS
 * SIZE TYPE NAME" (nm -S), and perhaps a tab and "[MODULE]" behind them. Others are passed over. Returns how many
 * symbols there are. */
size_t map_parse(struct map *map, char *text, size_t size);

/* The function at ADDR, or NULL. Where several begin at the same address, the first by name. */
const struct map_symbol *map_at(const struct map *map, uint64_t addr);

/* The address of the symbol NAME of the kernel itself. */
bool map_find(const struct map *map, const char *name, uint64_t *addr);

void map_free(struct map *map);

#endif
