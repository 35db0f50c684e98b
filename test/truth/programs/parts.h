/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What each part of these programs is for. */
#ifndef PARTS_H
#define PARTS_H

#include "os.h"
#include "shadow.h"

/* ---- marked.c: the shapes of functions that a trace has to cross ---- */

/* What each pattern calls when it is as deep as it gets. */
extern unsigned (*volatile patterns_inside)(void);

struct pattern {
    const char *name;
    void (*run)(void);
};
extern const struct pattern patterns[]; /* ends with a NULL name */

/* Direct recursion, N deep. In a function that calls itself the list does not tell its beginning from the middle of
 * its caller, so this is not for interruptions. */
unsigned p_recursive(unsigned n);

/* Does not return: calls patterns_never, as the last instruction. */
extern void (*volatile patterns_never)(void);
void p_never(void);

/* ---- interrupt.c: signals, and their handlers, which compare the trace from inside of them ---- */

/* SIGALRM: compares. SIGUSR1: raises SIGUSR2, which compares, on a stack of its own. Faults: compare. The handlers
 * return through RESTORER, NULL: as is usual. */
void interrupt_init(void (*restorer)(void));

/* From interrupt_each_begin on, each instruction of functions whose names begin with p_, and of each PLT, is
 * interrupted before it runs the first time; on x86 every time. */
void interrupt_each_begin(void);
void interrupt_each_end(void);

/* An instruction that is undefined, and one that writes where nothing is, in the function that this is in. The
 * handlers go on behind them. */
static inline __attribute__((always_inline)) void interrupt_fault(void)
{
#if defined(__x86_64__)
    __asm__ volatile("ud2\n\tmovb $0, 8\n" : : : "memory");
#elif defined(__aarch64__)
    __asm__ volatile(".inst 0\n\tmov x9, 8\n\tstr x9, [x9]" : : : "x9", "memory");
#elif defined(__s390x__)
    __asm__ volatile(".short 0\n\tlghi %%r1, 8\n\tstg %%r1, 0(%%r1)" : : : "r1", "memory");
#elif defined(__riscv)
    __asm__ volatile(".2byte 0\n\t.option push\n\t.option norvc\n\tsw zero, 8(zero)\n\t.option pop" : : : "memory");
#elif defined(__i386__)
    __asm__ volatile("ud2\n\tmovb $0, 8\n" : : : "memory");
#endif
}

/* ---- copied.c: a function that has been copied at run time, as trampolines are ---- */

/* It is walked through by the rows of the original. FILE: this program, in memory. */
void copied_test(const void *file);

/* ---- image.c: what is loaded a second time, or at another place: three functions, without any data ---- */

/* What to do at the innermost function: call next(next_chain), or inside() if next is NULL. */
struct chain {
    struct shadow *list;
    unsigned (*next)(struct chain *);
    struct chain *next_chain;
    unsigned (*inside)(void);
};

unsigned p_image_outer(struct chain *chain);
unsigned p_image_middle(struct chain *chain, unsigned n);
unsigned p_image_inner(struct chain *chain);

/* Where the ELF header of the image is, if it is a shared library. */
const void *image_header(void);

/* ---- load.c: the smallest loader that will do for image.c ---- */

struct loaded {
    void *file;     /* the ELF file, symbols of an object as they have been placed */
    uint64_t slide; /* to be added to its symbols */
    const void *phdrs;
    uint64_t num_phdrs;
    void *sframe; /* of an object */
    uint64_t sframe_size;
};

/* Loads a shared library that needs nobody else, wherever there is room; its PLT is bound at once, except on
 * x86_64. */
int load_library(struct loaded *loaded, const char *path);
/* Loads a relocatable object, its sections in the opposite order. */
int load_object(struct loaded *loaded, const char *path);
/* Address of the symbol NAME, or 0. */
uint64_t load_symbol(const struct loaded *loaded, const char *name);

#endif
