/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Profiles and leak reports: the depots in logs become a tree of calls, and that folded stacks and flame graphs. */
#ifndef SFU_HOST_TRACE_FOLD_H
#define SFU_HOST_TRACE_FOLD_H

#include "trace.h"

#include <stdio.h>

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

/* ---- The tree (trace_flame.c) ---------------------------------------------------------------------------------- */

enum flame_kind { FLAME_FUNCTION, FLAME_INLINED, FLAME_ROOT, FLAME_BOUNDARY, FLAME_UNKNOWN };

struct flame_node {
    char *name;
    enum flame_kind kind;
    unsigned image;               /* of the command line, from 0 */
    int64_t own[2];               /* weight that ends here: of the logs, and of those that are subtracted */
    int64_t total[2];             /* with all below it, without what is negative */
    int64_t width;                /* in the picture: the sum of the larger one of each pair */
    struct flame_node **children; /* by name, after flame_sum */
    size_t num;
};

struct flame {
    struct flame_node *root;
    char unit[32];      /* of all weights; "" before the first */
    uint64_t rate;      /* of the first dump */
    int64_t idle, lost; /* of the logs */
    bool minus;         /* there are logs to subtract */
    size_t dumps;
    double least; /* pixels: what is narrower is left out of the picture */
};

/* Sums up totals and widths, and sorts. */
void flame_sum(struct flame *flame);

/* Prints a line "a;b;c N" for each path that has a weight of its own; with logs to subtract "a;b;c BEFORE N". */
void flame_folded(const struct flame *flame, FILE *out);

/* Draws FLAME as SVG. */
void flame_draw(const struct flame *flame, FILE *out);

#endif
