/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The tables of a section: one table, or several that a linker has only joined (lld). Reads what sfu_add reads.
 */
#ifndef SFU_HOST_JOINED_H
#define SFU_HOST_JOINED_H

#include "sfu.h"

#include <stddef.h>

struct joined {
    uint8_t *bytes;           /* a copy of all */
    struct sfu_section *list; /* each ends where its own bytes do; the last one has the rest of the section */
    size_t num;
};

/* Where a table is broken, as sfu_check says it. */
struct joined_place {
    uint64_t offset; /* of the table in the section */
    struct sfu_place at;
    size_t index; /* of the table */
};

/* Copies the SIZE bytes at BYTES, a section at ADDR, and opens the tables in it. Returns SFU_OK, or what sfu_open says
 * of the table at *WHERE. To be closed in any case. */
int joined_open(struct joined *tables, const uint8_t *bytes, uint64_t size, uint64_t addr,
                struct joined_place *where);
void joined_close(struct joined *tables);

/* Checks each table. Returns SFU_OK, or the first error, with its place in *WHERE. */
int joined_check(const struct joined *tables, struct joined_place *where);

/* Sorts those that are not, so that they can be searched often. Returns SFU_OK or SFU_E_READONLY. */
int joined_sort(struct joined *tables);

/* Finds the row for PC in the first table that has one. Otherwise returns the first error that is not SFU_E_NO_FDE, or
 * SFU_E_NO_FDE. The tables are sorted. */
int joined_find(const struct joined *tables, uint64_t pc, struct sfu_row *row);

#endif
