/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What sfu-trace can trace, and by which options. A file of each kind of target reads it into a struct trace_space;
 * trace_walk.c walks that, and prints by trace_out.h. The files of this room:
 *
 *     sfu_trace.c        options
 *     trace_filter.c     a log: names for addresses, and traces of what others have dumped; log/log.h has what reads it
 *     trace_core.c       --core of a process or, by trace_machine.c, of a machine
 *     trace_raw.c        --memory, --record
 *     trace_gdb.c        --gdb: a machine or a process behind a stub, which is asked again where it does not answer
 *     trace_process.c    where the images of a process lie
 *     trace_threads.c    --threads: those of a kernel that do not run
 *     trace_walk.c       the walk of one of them, and its frames
 *     trace_tail.c, trace_sizes.c    functions that have left by a tail call; bytes of stack of each frame
 *     trace_out.c        how lines are printed
 *     trace_write.c      --write-core
 *     trace_fold.c, trace_flame.c    profiles: --folded and --minus; --flame
 */
#ifndef SFU_HOST_TRACE_H
#define SFU_HOST_TRACE_H

#include "common/report.h"
#include "images/images.h"
#include "images/symbols.h"
#include "machine/space.h"
#include "trace_out.h"

struct formats;

struct trace_options {
    struct trace_images images;
    const char *sysroot; /* before the names that a core has */
    uint64_t slide;
    uint64_t pac_mask;
    uint32_t max_frames;
    int red_zone; /* -1: what the program has */
    bool frame_pointers;
    bool sizes;              /* print the bytes of stack of each frame */
    const char *written;     /* the core to be written, or NULL */
    struct formats *formats; /* of others' dumps in logs (log/formats.h) */
    const char *threads;     /* where a kernel has its threads (trace_threads.h), or NULL */
    bool has_page_table;     /* of the core of a machine: */
    uint64_t page_table;
    unsigned address_bits, page_bits; /* 0: to be found out */
    bool has_user_table;              /* of the user program: */
    uint64_t user_table;
};

/* Passes the lines of the file descriptor IN on, and adds to them. */
void trace_filter(struct trace_options *options, int in);

/* Prints every thread of the core FILE. */
void trace_core(struct trace_options *options, const char *file);

/* Prints the trace of a thread with REGISTERS or, if that is NULL, those of the crash record RECORD, as below. FILES
 * have its memory. */
void trace_memory(struct trace_options *options, const char *files, const char *registers, const char *record);

/* Prints the crash records in RECORD, which is FILE, or FILE@START: what PCs in it are relative to. */
void trace_record(struct trace_options *options, const char *record);

/* Prints every thread behind HOST:PORT. */
void trace_gdb(struct trace_options *options, const char *address);

/* ---- The walk: trace_walk.c ------------------------------------------------------------------------------------ */

/* Fills in a space, except for how it is read and its registers. */
void trace_space_init(struct trace_space *space, struct trace_options *options, uint8_t abi);

/* Prints the trace of a thread. PC_KIND: enum sfu_pc_kind. Returns false if there are no PC and SP. */
bool walk_print(const struct trace_out *out, struct trace_space *space, uint8_t pc_kind);

/* Whether a caller in the trace of a thread is one of FRAMES: then another trace began on the same stack. */
bool walk_meets(struct trace_space *space, uint8_t pc_kind, const struct trace_frames *frames);

#endif
