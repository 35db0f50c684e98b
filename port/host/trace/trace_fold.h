/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Profiles and leak reports: the depots in logs become folded stacks and flame graphs. */
#ifndef SFU_HOST_TRACE_FOLD_H
#define SFU_HOST_TRACE_FOLD_H

#include "trace.h"

struct fold_options {
    bool folded;       /* to the standard output */
    const char *flame; /* file, or NULL */
    double least;      /* pixels of a box, at least */
    const char *unit;  /* only dumps with this unit; NULL: that of the first one */
    bool files;        /* names of functions have files and lines */
    const char **logs; /* files; none: the standard input */
    size_t num_logs;
    const char **minus; /* files, whose weights are subtracted */
    size_t num_minus;
};

/* Does what FOLD says. Ends the program if a file cannot be read or written, or if no log has a depot. */
void trace_fold(struct trace_options *options, const struct fold_options *fold);

#endif
