/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The object that sfu-link brings: a section of constants, in an archive. A linker takes the object out of the archive
 * only if the image asks for one of its symbols, so that other programs stay as they are. Where constants go, every
 * linker script says. Nothing in the section is relocated.
 */
#ifndef SFU_HOST_OBJECT_H
#define SFU_HOST_OBJECT_H

#include "command.h"

/* What the section has, in this order, each at a multiple of 8. The sizes are the room for it. */
struct room {
    size_t facts, names, tables;
};

#define OBJECT_DATA "sfu_link_data"

/* The first bytes of the section, until they are written over. */
enum { OBJECT_MARK_SIZE = 32 };
extern const char object_mark[OBJECT_MARK_SIZE + 1];

/* Where the tables begin, and how large the section is. */
size_t object_tables(const struct room *room);
size_t object_size(const struct room *room);

/* Writes the archive FILE. SECTION: the name. TABLES: the image has no place of its own for tables, and they get
 * sframe_start and sframe_end. On failure errno says why. */
bool object_write(const char *file, const struct target *target, const struct room *room, const char *section,
                  bool tables);

#endif
