/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Prints what is in a depot, for `sfu-trace --folded` and `--flame`, which find it in the console's log. Needs sfu.c,
 * sfu_depot.c, sfu_print.c and sfu_build_id.c.
 *
 *     static const struct sfu_depot_report report = {.unit = "bytes", .build_id = build_id_start,
 *                                                    .build_id_end = build_id_end};
 *
 *     sfu_depot_print(&panic, &depot, &report); // at any time, in a panic too
 *
 * Format. A dump of a depot is lines of at most 80 columns, unless a name is long. Each begins with "sfut1 ": 1 is the
 * version. A reader looks for that anywhere in a line, because consoles put times and the like in front. One space
 * stands between words. Weights, rates and the number of traces are decimal, all other numbers hexadecimal, without 0x,
 * in lower case and without zeros in front. A PC is its distance from the base, or "=" and the PC. The lines are, in
 * this order:
 *
 *     sfut1 begin KIND UNIT RATE [NAME]  KIND of each trace's first PC: exact or return. UNIT of weights: samples,
 *                                        bytes or another word. RATE: samples in a second, or 0. NAME of the CPU or
 *                                        thread
 *     sfut1 build DIGITS                 the build ID; left out if there is none
 *     sfut1 slide N                      run-time minus link-time address of the image; left out if it is 0
 *     sfut1 at ADDR NAME [IMAGE]         the symbol or section NAME of the image, or of IMAGE (a module), is at ADDR;
 *                                        none or more lines
 *     sfut1 base ADDR
 *     sfut1 t WEIGHT COUNT [PC ...]      a trace of COUNT PCs, the topmost frame first, unless its weight is 0
 *     sfut1 c PC ...                     more PCs of the trace. If the last one is the base, where no call returns to,
 *                                        the trace is not complete
 *     sfut1 idle WEIGHT                  weight without a trace: idle time
 *     sfut1 lost WEIGHT                  weight whose trace was lost: the depot was full, or memory could not be read
 *     sfut1 end COUNT                    of traces in these lines
 */
#ifndef SFU_DEPOT_PRINT_H
#define SFU_DEPOT_PRINT_H

#include "sfu_depot.h"
#include "sfu_dump.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the reader has to know. Zero what is not used. */
struct sfu_depot_report {
    const char *unit;                    /* without spaces; NULL: samples */
    const char *name;                    /* without spaces, or NULL */
    const void *build_id, *build_id_end; /* .note.gnu.build-id, or NULL */
    const struct sfu_dump_place *places; /* of modules; or of the image, if PANIC's slide is not its slide */
    unsigned num_places;
    bool exact;        /* the first PC of each trace is exact: it was interrupted there */
    uint32_t rate;     /* samples in a second, or 0 */
    uint64_t idle;     /* weight of what has no trace */
    uint64_t not_kept; /* weight of what was lost, besides the depot's lost_weight */
};

/* Prints DEPOT by PANIC's put, with PANIC's slide. Adds may come meanwhile: some of them are printed. Whatever stands
 * in the depot's memory, this ends, and reads nothing beside it. */
void sfu_depot_print(const struct sfu_panic *panic, const struct sfu_depot *depot,
                     const struct sfu_depot_report *report);

#ifdef __cplusplus
}
#endif

#endif
