/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The .sframe section of an ELF file as a program would have it in memory. */
#ifndef LOADED_H
#define LOADED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place {
    uint64_t addr, size;
    uint64_t entry_size; /* of a section of equal entries, such as a PLT */
};

struct loaded {
    uint8_t *sframe;
    size_t size;
    uint64_t addr;
    bool object;          /* relocatable: it was laid out and relocated here */
    struct place *places; /* by section number; size 0 if it takes no memory */
    size_t num_places;
    uint64_t *starts; /* object: where the function of each FDE is, by its relocation */
    size_t num_starts;
};

/* Loads FILE, little or big-endian, 64 bits. Exits with a message if it cannot. */
void load_file(struct loaded *loaded, const char *file);

/* The place that ADDR lies in, or NULL. */
const struct place *place_of(const struct loaded *loaded, uint64_t addr);

#endif
