/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* A walk of the stopped program by sfu: the stack and the section are read through the machine's back end. */
#ifndef STEP_TRACE_H
#define STEP_TRACE_H

#include "binary.h"
#include "shadow.h"
#include "sfu_fast.h"

enum { MAX_SEEN = 4096, PAGE = 1024, MAPPED_STACK = 1 << 16, FAST_CACHE = 256 };

struct trace {
    struct seen frames[MAX_SEEN];
    unsigned count;
    int code; /* how the walk ended */
    struct regs regs;
};

/* The fast walker, with a section of its own. */
struct fast_walk {
    struct sfu_fast fast;
    struct sfu_fast_image image;
    struct sfu_section section;
};

struct tracer {
    struct machine *m;
    struct sfu_section section;
    struct sfu_target target;
    uint8_t *pages; /* the section as read so far */
    bool *page_read;
    uint64_t sframe, sframe_size;
    uint64_t restorer, restorer_end; /* the code that signal handlers return to */
    uint64_t stack_end;              /* nothing is read from here on; 0: there is no such place */
    bool no_registers;               /* the walk was resumed at a caller */
    struct sfu_registers top;        /* of the last walk */
    struct fast_walk bare, cached;
    uint64_t cache[FAST_CACHE];
    struct sfu_stack mapped;     /* what the last walk read of the stack, if it read nothing else */
    uint8_t bytes[MAPPED_STACK]; /* of that: between the blocks that were read lies rubbish */
    uint64_t pcs[MAX_SEEN];
};

/* Returns SFU_OK, or why the section was refused. */
int tracer_open(struct tracer *tracer, struct machine *m, const struct binary *image);
void tracer_close(struct tracer *tracer);

/* Walks from the machine's registers; MAPPED: once more, where the stack has bytes. */
void tracer_walk(struct tracer *tracer, struct trace *trace, bool mapped);

/* Whether the section is one for the fast walker of this machine. */
bool tracer_is_fast(const struct tracer *tracer);

/* After tracer_walk, if tracer_is_fast: whether the fast walker, without a cache and with one, gives the PCs and the
 * code of TRACE. It sees no more of the stack than that walk has read. */
bool tracer_agrees(struct tracer *tracer, const struct trace *trace);

/* After tracer_walk: whether the section as mapped memory gives TRACE; and whether a stack that ends at the SP of its
 * middle frame gives TRACE up to there, and then SFU_E_STACK. OTHER is overwritten. */
bool tracer_varies(struct tracer *tracer, struct trace *other, const struct trace *trace);

/* What the table says of a frame that was SEEN. Returns whether it says anything. */
bool tracer_row(struct tracer *tracer, const struct seen *seen, struct sfu_row *row);

/* Walks on from a caller of which only this is known. */
void tracer_resume(struct tracer *tracer, struct trace *trace, const struct seen *from);

#endif
