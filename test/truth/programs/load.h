/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The smallest loader that will do for image.c. */
#ifndef LOAD_H
#define LOAD_H

#include <stdint.h>

struct loaded {
    void *file;     /* the ELF file, symbols of an object as they have been placed */
    uint64_t slide; /* to be added to its symbols */
    const void *phdrs;
    uint64_t num_phdrs;
    void *sframe; /* of an object */
    uint64_t sframe_size;
};

/* Loads a shared library that needs nobody else, wherever there is room; its PLT is bound at once, except on
 * x86_64. */
int load_library(struct loaded *loaded, const char *path);
/* Loads a relocatable object, its sections in the opposite order. */
int load_object(struct loaded *loaded, const char *path);
/* Address of the symbol NAME, or 0. */
uint64_t load_symbol(const struct loaded *loaded, const char *name);

#endif
