/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Lines for people: trace_out.c; sizes of frames: trace_sizes.c; functions that have left: trace_tail.c. */
#ifndef SFU_HOST_TRACE_OUT_H
#define SFU_HOST_TRACE_OUT_H

#include "images/images.h"

#include <stdio.h>

/* Lines for people: INDENT, the text, and EOL. Empty lines before it are those that FORMAT begins with. What names of
 * an image or a target could do to a terminal is printed as printable() says. */
struct trace_out {
    FILE *file;
    const char *indent, *eol;
    bool *said;    /* becomes true with each line; or NULL */
    bool *midline; /* whether a line is open that has no end: it ends before the next one; or NULL */
};

void out_line(const struct trace_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints functions, files and lines at run-time address LOOKUP, or at link-time address ADDR of IMAGE. */
void out_place(const struct trace_out *out, const struct trace_images *images, uint64_t lookup);
void out_place_in(const struct trace_out *out, const struct trace_images *images, struct trace_image *image,
                  uint64_t addr);

/* Registers of a frame that a log has. */
struct log_registers {
    uint64_t sp, fp;
};

/* Prints the bytes of stack of the frame at run-time address LOOKUP as its row has them, or why they are not known:
 * nothing of the outermost frame, and of code in no image. KNOWN is NULL if the log does not have these registers. */
void out_size(const struct trace_out *out, const struct trace_images *images, uint64_t lookup,
              const struct log_registers *known);

/* Whether PC is no address of code, but what a Cortex-M puts into LR when an exception begins, with or without bit 0.
 * The second one says so if it is. */
#define EXCEPTION_RETURN                                                                                           \
    "an exception return (EXC_RETURN), by which the handler of an exception goes back to what was interrupted"
bool is_exception_return(const struct trace_images *images, uint64_t pc);
bool out_exception_return(const struct trace_out *out, const struct trace_images *images, uint64_t pc);

/* Prints the functions that were called at return address RA, and have left by tail calls before the function at PC was
 * entered, if there are any: link-time addresses of IMAGE. */
void out_tail_calls(const struct trace_out *out, struct trace_image *image, uint64_t ra, uint64_t pc);

/* Whether the call before RA leads to a function that cannot be the one at PC, nor have left by a tail call. */
bool tail_cannot_lead(struct trace_image *image, uint64_t ra, uint64_t pc);

#endif
