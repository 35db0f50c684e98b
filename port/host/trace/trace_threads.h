/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The threads of a kernel that do not run: where it keeps them, as --threads says, and what their registers are.
 * Nothing in its memory is believed.
 */
#ifndef SFU_HOST_TRACE_THREADS_H
#define SFU_HOST_TRACE_THREADS_H

#include "trace.h"

enum { THREAD_NAME = 40 };

struct kernel_thread {
    uint64_t addr; /* 0: of a file */
    uint64_t id;
    bool has_id;
    char name[THREAD_NAME]; /* or "" */
    struct thread_registers regs;
    uint8_t pc_kind;
};

struct kernel_threads {
    struct kernel_thread *list; /* to be freed */
    size_t num;
};

/* Whether TEXT is what --threads takes. If not, a line says why. */
bool threads_check(const char *text, char *error, size_t size);

/* Prints a trace of each that TEXT describes, which may be NULL, behind NUMBER others, whose frames are SPACE's seen.
 * Says which thread is on the stack of one of these. *THREADS gets them. */
void threads_print(const struct trace_out *out, struct trace_space *space, const char *text, size_t number,
                   struct kernel_threads *threads);

#endif
