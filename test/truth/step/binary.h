/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What the harness takes from a program's ELF file: code, symbols, the place of .sframe, the compiler's name. */
#ifndef STEP_BINARY_H
#define STEP_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct function {
    uint64_t start, size;
    const char *name;
};

struct binary {
    struct function *functions; /* by start */
    size_t num_functions;
    uint64_t entry, sframe, sframe_size;
    const uint8_t *code; /* the executable segment */
    uint64_t code_start, code_size;
    uint8_t *seen;      /* one bit for each byte of code: an instruction there was stepped */
    char compiler[256]; /* .comment: who compiled it */
    void *elf;          /* struct image of port/host */
};

bool binary_open(struct binary *image, const char *path);
void binary_close(struct binary *image);

/* The program has been loaded so that its first instruction is at START. */
void binary_move(struct binary *image, uint64_t start);

/* The function that ADDR lies in, or NULL. */
const struct function *binary_function(const struct binary *image, uint64_t addr);

/* The address of symbol NAME, or 0. */
uint64_t binary_symbol(const struct binary *image, const char *name);

/* Marks ADDR as stepped; returns whether that is new. */
bool binary_mark(struct binary *image, uint64_t addr);

#endif
