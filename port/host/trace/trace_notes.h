/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The notes of a core: what a kernel, gdb or QEMU says of threads, files and the start of the program. Nothing is
 * believed. */
#ifndef SFU_HOST_TRACE_NOTES_H
#define SFU_HOST_TRACE_NOTES_H

#include "trace.h"
#include "trace_paging.h"

struct core_thread {
    uint32_t id;
    struct thread_registers regs;
    struct paging_registers control; /* of a CPU */
};

/* Memory from start up to end is that of a file from offset on. */
struct core_file {
    uint64_t start, end, offset;
    const char *name; /* in the bytes of the notes */
};

struct core_notes {
    uint8_t abi;
    struct core_thread *threads;
    size_t num_threads;
    struct core_file *files;
    size_t num_files;
    uint64_t phdr; /* of the program: where its headers are; 0: not known */
    uint64_t vdso; /* 0: none */
    uint64_t pac_mask;
    size_t num_qemu;        /* notes of QEMU for x86_64, one for each CPU, in the order of the threads */
    const char *vmcoreinfo; /* what Linux says of itself, lines of text; or NULL */
    size_t vmcoreinfo_size;
};

/* Adds to NOTES what the SIZE bytes of notes at BYTES say. NOTES is zeroed before the first call, except for abi.
 * Returns false if the notes are broken. */
bool notes_read(struct core_notes *notes, const uint8_t *bytes, uint64_t size);
void notes_free(struct core_notes *notes);

#endif
