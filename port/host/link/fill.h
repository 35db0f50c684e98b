/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What the section of sfu-link (object.h) is filled with in a linked image: facts, names and tables. The facts are
 * struct sfu_link of port/print/sfu_start.h.
 */
#ifndef SFU_HOST_FILL_H
#define SFU_HOST_FILL_H

#include "names.h"
#include "object.h"

/* The section in a linked image. */
struct place {
    uint64_t addr, offset; /* in memory and in the file */
    uint64_t tables, tables_size;
};

/* Finds the section in IMAGE, by its first bytes. Returns how often it is there. */
unsigned fill_find(struct image *image, struct place *place);

/* Memory that the image writes to, in the parts that may be stacks: START up to END. */
struct part_of_memory {
    uint64_t start, end;
};

struct memory {
    struct part_of_memory *list;
    size_t num;
};

/* A variable that is large enough for a stack is a part of its own; so is what lies between two of them, what a linker
 * script has left free behind the memory, up to a symbol, and zeros in a section of code, which `.skip` makes. */
void fill_memory(struct image *image, struct memory *memory);

/* From START on, SIZE bytes of code of an exception's entry keep a register of what was interrupted: REG, at OFFSET
 * from what FROM says. */
struct saved_register {
    uint64_t start, size, offset; /* OFFSET modulo 2^64 */
    unsigned reg, from;           /* FROM as in struct sfu_link_saved */
};

struct saved {
    struct saved_register *list;
    size_t num;
};

/* Reads them from JSON, what sfu-gen has printed. The list is to be freed. */
void fill_read_saved(const char *json, struct saved *saved);

/* How large the facts are. CALLED: the image's file name, for addr2line. */
size_t fill_facts_size(const struct memory *memory, const struct saved *saved, const char *called);

/* Writes the facts into FACTS, which has room for fill_facts_size zeros. */
void fill_facts(uint8_t *facts, const struct image *image, const struct place *place, const struct room *room,
                const struct memory *memory, const struct saved *saved, const struct names *names,
                const char *called);

#endif
