/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Names of functions in a text file: System.map, /proc/kallsyms, what nm prints, or the map that a linker writes:
 * link.exe and lld-link (/map, /lldmap), GNU ld, ld.lld, mold (-Map). Nothing in it is believed.
 */
#ifndef SFU_HOST_MAP_H
#define SFU_HOST_MAP_H

#include "image.h"

struct map_symbol {
    uint64_t addr, size; /* size 0: up to the next symbol */
    const char *name;
    const char *module; /* of Linux, or NULL: of the kernel itself */
    bool code;
    bool function; /* the map says so */
};

struct map {
    char *text; /* has the names */
    struct map_symbol *list;
    size_t num;
    bool relative;  /* addresses count from where the image begins */
    bool no_static; /* functions that are not global may be missing */
    bool has_stamp;
    uint64_t stamp; /* of link.exe: the same number is in the image */
};

/* Takes the SIZE bytes at TEXT, which malloc has given with room for one more. Lines that name nothing are passed over.
 * Returns how many symbols there are. */
size_t map_parse(struct map *map, char *text, size_t size);

/* The function at ADDR, or NULL. Where several begin at the same address, the first by name. */
const struct map_symbol *map_at(const struct map *map, uint64_t addr);

/* The address of the symbol NAME of the kernel itself. */
bool map_find(const struct map *map, const char *name, uint64_t *addr);

/* Gives IMAGE, for which image_symbols has been called, those functions of MAP at whose address it has no symbol.
 * Addresses of a relative map become the image's. MAP must stay until the image is closed. Returns how many functions
 * of the map lie in the image's code. */
size_t map_name_image(struct map *map, struct image *image);

/* What the numbers say that a linker writes into its map and into the image. */
enum map_link { MAP_UNKNOWN, MAP_SAME_LINK, MAP_ANOTHER_LINK };
enum map_link map_link(const struct map *map, const struct image *image);
/* What is said then, with the names of both files. */
#define MAP_OF_ANOTHER_LINK "%s: this map is not of the link that made %s: their timestamps differ"

/* Gives IMAGE, for which image_symbols has been called, the functions of the map FILE, as above. MAP must stay
 * until the image is closed, and is to be freed after a failure, too. Returns false, with a line in image->error, if
 * FILE cannot be read or has none. */
bool map_name_by_file(struct map *map, const char *file, struct image *image);

void map_free(struct map *map);

/* All of the file NAME, with room for one more byte, to be freed; or NULL, and errno says why. */
char *map_read_file(const char *name, size_t *size);

#endif
