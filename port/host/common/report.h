/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What the tools share in what they say: how they are called, JSON, shares, and what is known already. */
#ifndef SFU_HOST_REPORT_H
#define SFU_HOST_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each tool defines it. */
extern const char tool_name[];

/* Says on one line what is wrong with the command line, and ends the program with status 2. */
void usage(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Prints the NUM lines of a tool's --help. */
void print_lines(const char *const *lines, size_t num);

/* Prints TEXT as a string of JSON. */
void put_json(const char *text);

/* PART of WHOLE in percent. Of nothing it is 100. */
double percent(uint64_t part, uint64_t whole);

/* Names that need not be reported. */
struct known {
    struct known_name {
        char *name;
        bool used;
    } * list;
    size_t num;
};

/* Adds the SIZE bytes at NAME. */
void known_add(struct known *known, const char *name, size_t size);

/* Adds the first word of each line of FILE; # begins a comment. On failure errno says why. */
bool known_read(struct known *known, const char *file);

/* Whether NAME is known. Marks it as used. */
bool known_use(struct known *known, const char *name);

#endif
