/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Compares a walk with the shadow list, frame by frame. */
#ifndef TRACE_H
#define TRACE_H

#include "port/linux/sfu_linux.h"
#include "shadow.h"

/* The symbols of an ELF file in memory, to which SLIDE is added. */
struct image {
    const void *file;
    const void *symbols; /* Elf64_Sym, Elf32_Sym */
    uint64_t count, slide;
    uint64_t first, last; /* symbols outside are no functions */
    const char *names;
};

/* Adds an image to those whose functions are known. Names of PLT sections count as functions. */
void trace_add_image(const void *file, uint64_t slide);
/* The same, of what lies from FIRST to LAST alone. */
void trace_add_copy(const void *file, uint64_t slide, uint64_t first, uint64_t last);

struct function {
    uint64_t start, end;
    const char *name; /* NULL: none */
};
struct function trace_function(uint64_t pc);
/* The function number N of all images, NULL name past the last. */
struct function trace_nth_function(uint64_t n);

/* RA is on the stack from the call on. */
enum { IS_X86 = SFU_REG_SP == 7 || SFU_NUM_REGS == 8 };

/* What one test has seen. */
struct verdict {
    const char *fault; /* NULL: none; else the first one, which was printed */
    uint64_t walks, frames;
    uint64_t longest;      /* of the walks, in frames */
    uint64_t registers;    /* rows that find RA or FP in, or the CFA by, another register */
    uint64_t after_end;    /* return addresses that lie behind their function */
    uint64_t in_plt;       /* interrupted in a PLT */
    uint64_t wrong_tables; /* interrupted where the compiler's table is known to be wrong: see trace.c */
    uint64_t replaced;     /* frames that a replaced return address led to */
    uint64_t in_tracer;    /* frames of the tracer itself */
};
extern struct verdict trace_verdict;
void trace_begin(void);
/* Prints "ok LABEL NAME" or "not ok ...", the latter too if ENOUGH is false; WHY says of what. */
void trace_end(const char *name, int enough, const char *why);
extern const char *trace_label;
extern unsigned trace_failures;

/* Where programs start; the outermost frame is of that. */
void _start(void);

/* What RA was that a function returned to whose caller then has SP, before a tracer replaced it; 0: that is not known.
 * NULL: there is no tracer. Functions of the tracer have names that begin with tracer_. */
extern uint64_t (*trace_original)(uint64_t ra, uint64_t sp);

extern struct sfu_linux self;
extern struct shadow list;

/* Walks from TOP, whose registers are in self.cpu, all of them, and whose truth is LIST, and compares each frame. */
void trace_check(const struct sfu_registers *top);

/* Walks from here, and compares. */
#define TRACE_HERE()                                                                                               \
    do {                                                                                                           \
        struct sfu_registers top_ = sfu_here(&self.cpu);                                                           \
        (void)CALL(&list, (trace_check(&top_), 0));                                                                \
    } while (0)

/* Innermost functions of a pattern: one compares, the other does nothing. */
unsigned trace_inside(void);
unsigned trace_nothing(void);

#endif
