/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Lines as a program has printed them, before a logger, a terminal or a table has changed them. Nothing in them is
 * believed. */
#ifndef SFU_HOST_LOG_LINES_H
#define SFU_HOST_LOG_LINES_H

#include "formats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINES_CELLS = 64 };

#define LINES_TASK   (1u << 31) /* in the number of a CPU: it is that of a task */
#define LINES_NO_CPU UINT32_MAX

/* The first line of a table, which names its columns. */
struct lines_table {
    char *heading; /* to be freed; NULL: none */
    size_t size;
    char separator; /* of its cells */
};

/* What names are known of. */
struct lines_names {
    const struct formats *formats;
    uint32_t cpu;
    unsigned word; /* bytes of the program's addresses */
    bool has_sp;   /* a line before this one has SP */
    uint64_t sp;
};

/* The register that the SIZE characters at TEXT name, in small letters or capitals; or NULL. */
const struct format_name *lines_register(const struct lines_names *names, const char *text, size_t size);

/* Calls TAKE for each line in the SIZE characters at TEXT, which a logger has written as one: with "\n" in a string in
 * quotes, as JSON and Python do, or with "#012", as syslog does. Other text is a line as it is. */
void lines_split(const char *text, size_t size, const struct lines_names *names,
                 void (*take)(void *ctx, const char *line, size_t size), void *ctx);

/* Whether a terminal has cut a line in the midst: the SIZE characters at TEXT go on with those at NEXT. *SPACE: with a
 * space between them. */
bool lines_go_on(const char *text, size_t size, const char *next, size_t next_size, const struct lines_names *names,
                 bool *space);

/* Whether a line may have been cut so: it is as long as a terminal is wide, or its last number is shorter than the one
 * before, or it ends with the name of a register. */
bool lines_may_go_on(const char *text, size_t size, const struct lines_names *names);

/* What a row of TABLE has of registers, as "name: value" for each: the size of it, at TO. Returns 0 if the line is no
 * such row. A line that names the columns of a table begins another one. */
size_t lines_row(struct lines_table *table, const char *text, size_t size, const struct lines_names *names,
                 char *to, size_t room);

/* Whether a CPU has put its number in front of the line: "[CPU1] ", "hart0: ", "[    1.0][    C1] ". */
bool lines_cpu(const char *text, size_t size, unsigned *cpu);

void lines_free(struct lines_table *table);

#endif
