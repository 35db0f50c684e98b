/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* A tree of calls with weights, made of the depots in logs, and what is drawn of it. */
#ifndef SFU_HOST_TRACE_FLAME_H
#define SFU_HOST_TRACE_FLAME_H

#include "trace.h"

#include <stdio.h>

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
