/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Programs that are run, and files that are read. */
#ifndef SFU_HOST_RUN_H
#define SFU_HOST_RUN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether NAME is a file, or nothing yet: no folder, pipe or device. */
bool may_be_file(const char *name);

/* The bytes of the file NAME, with a 0 behind them, to be freed; NULL if it cannot be read, or is larger than a script
 * may be. */
char *read_text(const char *name);

/* Whether PATH has a program NAME. */
bool find_program(const char *name);

/* What a program has written. */
struct said {
    char *out, *err;
    size_t out_size, err_size;
};

/* Runs the program in the words at ARGV, keeps what it writes, and returns its exit status, as a shell does: 127 if
 * there is no such program, 128 and the signal's number if one ended it. */
int run_command(char *const *argv, struct said *said);

/* Prints that, and frees it. */
void said_print(struct said *said);
void said_free(struct said *said);

/* Whether the program succeeds. What it says is dropped. */
bool run_silently(char *const *argv);

#endif
