/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The core of a machine: where its page tables are, and what is missing if its memory cannot be read. */
#ifndef SFU_HOST_TRACE_MACHINE_H
#define SFU_HOST_TRACE_MACHINE_H

#include "machine/memory.h"
#include "trace.h"

struct core {
    const char *file;
    struct image image;
    struct core_notes notes;
    struct memory memory;
    struct paging tables; /* where no CPU's registers say which */
    struct trace_options *options;
};

/* Places the images of the command line that have no address. */
void machine_place(struct core *core);

/* Finds the page tables that --page-table or a note of the kernel names. */
void machine_set_paging(struct core *core);

/* Makes the memory that of thread or CPU NUMBER. */
void machine_choose(struct core *core, size_t number);

/* Says why the stack of CPU NUMBER cannot be read, if that is so, and what to give. */
void machine_explain(const struct core *core, size_t number, const struct trace_out *out);

#endif
