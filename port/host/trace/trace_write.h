/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* --write-core: an ELF core that a debugger opens, of what has been kept of a process or a machine. */
#ifndef SFU_HOST_TRACE_WRITE_H
#define SFU_HOST_TRACE_WRITE_H

#include "log/log.h"
#include "trace_machine.h"
#include "trace_threads.h"

struct written {
    uint8_t abi;
    const struct core_thread *threads;
    size_t num_threads;
    const struct segment *blocks; /* bytes that the file gets, each once */
    size_t num_blocks;
    struct segment *pieces; /* memory at virtual addresses: bytes of blocks; to be freed */
    size_t num_pieces;
    const void *build_id;
    size_t build_id_size;              /* 0: none */
    struct note_bytes auxv, file_list; /* of a process: a debugger finds its images by them */
};

/* Adds as pieces what MEMORY has at virtual addresses. Page tables may map it all many times: then a message says that
 * some of it is left out. */
void write_add_memory(struct written *w, const struct memory *memory);

/* Adds THREADS to the NUM (at least 1) threads of *LIST, one of which runs them. */
void write_add_threads(struct core_thread **list, size_t *num, const struct kernel_threads *threads);

/* Sets the build ID, if it is known which image is the program. */
void write_set_image(struct written *w, const struct trace_images *images);

/* Writes FILE. Ends the program if that fails. */
void write_core(const struct written *w, const char *file);

/* Writes the core that OPTIONS name, of the registers of the NUM records, and says what is missing. */
void write_records(const struct trace_options *options, uint8_t abi, const struct log_record *records, size_t num);

#endif
