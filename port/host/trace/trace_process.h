/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Where the images of a process lie, of which there is a core, or which is behind a stub. */
#ifndef SFU_HOST_TRACE_PROCESS_H
#define SFU_HOST_TRACE_PROCESS_H

#include "trace_machine.h"

struct trace_process {
    struct trace_options *options;
    const struct core_notes *notes; /* abi, phdr, vdso and base; and the files, if they are known */
    space_read_fn read;
    void *ctx;
};

/* Opens the images that the process has mapped, or takes those of the command line with their names, and places
 * them: by
 * the list of files or, if there is none, by that of the dynamic linker; the program by its headers. */
void process_place(const struct trace_process *process);

#endif
