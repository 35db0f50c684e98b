/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Dumps of depots in a log (port/depot/sfu_depot_print.h): traces with weights. Nothing in a line is believed. What
 * makes no sense is left out and counted.
 */
#ifndef SFU_HOST_TRACE_DEPOT_H
#define SFU_HOST_TRACE_DEPOT_H

#include "trace_log.h"

enum {
    DEPOT_PCS = 4096,     /* of a trace, at most */
    DEPOT_ALL = 64 << 20, /* PCs of all traces of a dump, at most; and so many traces */
    DEPOT_UNIT = 16
};

struct depot_trace {
    int64_t weight;
    size_t first, count; /* in pcs */
};

struct depot_dump {
    bool open; /* between begin and end */
    bool exact;
    char unit[DEPOT_UNIT];
    char name[LOG_NAME]; /* "": none */
    uint64_t rate;
    bool has_slide;
    uint64_t slide, base;
    uint8_t id[LOG_BUILD_ID];
    size_t id_size;
    struct log_place places[LOG_PLACES];
    unsigned num_places;
    struct depot_trace *traces;
    size_t num_traces;
    uint64_t *pcs;
    size_t num_pcs;
    bool tracing; /* the last trace may go on */
    int64_t idle, lost;
    size_t bad;       /* lines that are not of the format */
    size_t cut;       /* traces that had not all of their PCs */
    uint64_t missing; /* traces that end counted, but no line had */
};

enum depot_event { DEPOT_OTHER, DEPOT_MORE, DEPOT_DONE };

/* Takes the SIZE characters at TEXT, a line without its end. DEPOT_OTHER: it is not of a dump. DEPOT_DONE: the dump is
 * complete, and DUMP stays until the next begins. If another one begins in the midst of one, or the log ends there,
 * what there is is not complete: depot_cut says so before that line is taken. */
enum depot_event depot_line(struct depot_dump *dump, const char *text, size_t size);

/* Whether TEXT begins a dump. */
bool depot_begins(const char *text, size_t size);

/* Ends a dump that is open: the last trace may be incomplete. */
void depot_cut(struct depot_dump *dump);

void depot_clear(struct depot_dump *dump);

#endif
