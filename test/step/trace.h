/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* A walk of the stopped program by sfu: the stack and the section are read through the machine's back end. */
#ifndef STEP_TRACE_H
#define STEP_TRACE_H

#include "image.h"
#include "machine.h"
#include "sfu.h"

enum { MAX_SEEN = 4096, PAGE = 1024, SMALL_CACHE = 13, LARGE_CACHE = 4093 };

struct seen {
    uint64_t pc, sp, fp;
    bool exact, reliable;
    int found;
    struct sfu_row row;
};

struct trace {
    struct seen frames[MAX_SEEN];
    unsigned count;
    int code; /* how the walk ended */
    struct regs regs;
};

struct tracer {
    struct machine *m;
    struct sfu_section section;
    struct sfu_target target;
    struct sfu_row small[SMALL_CACHE], *large;
    uint8_t *pages; /* the section as read so far */
    bool *page_read;
    uint64_t sframe, sframe_size;
    uint64_t restorer, restorer_end; /* the code that signal handlers return to */
    bool no_registers;               /* the walk was resumed at a caller */
};

/* Returns SFU_OK, or why the section was refused. */
int tracer_open(struct tracer *tracer, struct machine *m, const struct image *image);
void tracer_close(struct tracer *tracer);

/* Walks from the machine's registers, without a cache of rows or with one. In the large one nearly every PC has a
 * place of its own; in the small one rows are used for PCs that they were not found by. */
enum cache { NO_CACHE, SMALL, LARGE };
void tracer_walk(struct tracer *tracer, struct trace *trace, enum cache cache);

/* Walks on from a caller of which only this is known. */
void tracer_resume(struct tracer *tracer, struct trace *trace, const struct seen *from);

#endif
