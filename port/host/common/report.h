/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What the tools share in what they say: messages, JSON, shares, what is known already, and files that they write. */
#ifndef SFU_HOST_REPORT_H
#define SFU_HOST_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Each tool defines it. */
extern const char tool_name[];

/* Says on one line what is wrong with the command line, and ends the program with status 2. */
void usage(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Whether the whole of TEXT is a number, which VALUE gets: decimal, 0x... or 0... */
bool is_whole_number(const char *text, uint64_t *value);
/* TEXT, which OPTION was given, from 0 to 100. Another one is wrong usage. */
double parse_percent(const char *option, const char *text);

/* Says on one line what is wrong, and ends the program with status 1. */
void report_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Says something, unless the user wants it quiet. */
void report_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_be_quiet(void);

/* Says what is wrong, and goes on. */
void report_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the NUM lines of a tool's --help. */
void print_lines(const char *const *lines, size_t num);

/* TEXT, which a file that is not believed has given, as it may be printed: bytes that a terminal obeys, ends of lines
 * and what is no UTF-8 stand there as \xNN. It is TEXT itself if it has none of them; else a copy, cut to some hundred
 * bytes, that stays until the eighth call from here. */
const char *printable(const char *text);

/* Prints TEXT as a string of JSON. */
void put_json(const char *text);

/* PART of WHOLE in percent. Of nothing it is 100. */
double percent(uint64_t part, uint64_t whole);

/* A file that is written: it is there whole, or not at all, because it has another name meanwhile. */
struct written_file {
    FILE *stream;
    const char *name;
    char *temporary; /* that name; or NULL, for what is no file, which is written as it comes */
};

/* Begins to write NAME; "-" is the standard output. On failure errno says why. */
bool written_open(struct written_file *f, const char *name);

/* Gives the file its name, with the rights MODE, if GOOD and if all of it could be written; else there is none. On
 * failure errno says why. */
bool written_close(struct written_file *f, bool good, mode_t mode);

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
