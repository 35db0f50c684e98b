/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What loggers put in front of each line: a time, the name of a machine and of a program, or a number that counts. */
#ifndef SFU_HOST_LOG_FRONT_H
#define SFU_HOST_LOG_FRONT_H

#include "lines.h"

/* The number that the last line began with. */
struct front {
    uint64_t number;
    size_t digits;  /* how many it has; 0: the line began with none */
    bool plus;      /* the last line began with "+", as those of a patch do */
    bool registers; /* registers stood behind such a number in one of the lines so far, which count upward */
};

/* How many of the SIZE characters at TEXT, a line, a logger has put there. */
size_t front_size(struct front *front, const char *text, size_t size, const struct lines_names *names);

#endif
