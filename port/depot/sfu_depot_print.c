/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_depot_print.h"

enum { COLUMNS = 80, LONGEST_PC = 18, FIRST_COLUMN = 7, TRACE_COLUMN = 33, CHUNK = 8 };

static unsigned digits_of(uint64_t value)
{
    unsigned digits = 1;

    while (value >>= 4, value != 0)
        digits++;
    return digits;
}

/* Prints COUNT (at most CHUNK) PCs behind COLUMN, in more lines if they do not fit. Returns the column behind them. */
static unsigned print_pcs(const struct sfu_panic *p, const struct sfu_depot *depot, const uint64_t *pcs,
                          size_t count, unsigned column)
{
    size_t i;

    for (i = 0; i < count; i++) {
        uint64_t distance = pcs[i] - depot->base;
        bool near = distance <= UINT32_MAX;

        if (column > COLUMNS - LONGEST_PC) {
            sfu_print_text(p, "\nsfut1 c");
            column = FIRST_COLUMN;
        }
        sfu_print_number(p, near ? " " : " =", near ? distance : pcs[i], 16, 1);
        column += near ? 1 + digits_of(distance) : 2 + digits_of(pcs[i]);
    }
    return column;
}

static void print_weight(const struct sfu_panic *p, const char *before, int64_t weight)
{
    sfu_print_text(p, before);
    sfu_print_number(p, weight < 0 ? "-" : "", weight < 0 ? 0 - (uint64_t)weight : (uint64_t)weight, 10, 1);
}

/* Returns whether there was something to be printed. */
static bool print_trace(const struct sfu_panic *p, const struct sfu_depot *depot, uint32_t handle)
{
    uint64_t pcs[CHUNK];
    int64_t weight;
    size_t count = sfu_depot_get(depot, handle, 0, pcs, CHUNK, &weight), done;
    unsigned column = TRACE_COLUMN; /* no further, whatever the weight */

    if (weight == 0)
        return false;
    print_weight(p, "sfut1 t ", weight);
    sfu_print_number(p, " ", count, 16, 1);
    for (done = 0; done < count; done += CHUNK) {
        (void)sfu_depot_get(depot, handle, done, pcs, CHUNK, NULL);
        column = print_pcs(p, depot, pcs, count - done < CHUNK ? count - done : (size_t)CHUNK, column);
    }
    sfu_print_text(p, "\n");
    return true;
}

static void print_begin(const struct sfu_panic *p, const struct sfu_depot *depot,
                        const struct sfu_depot_report *report)
{
    unsigned i;

    sfu_print_text(p, report->exact ? "sfut1 begin exact " : "sfut1 begin return ");
    sfu_print_text(p, report->unit != NULL ? report->unit : "samples");
    sfu_print_number(p, " ", report->rate, 10, 1);
    sfu_print_text(p, report->name != NULL ? " " : "");
    sfu_print_text(p, report->name != NULL ? report->name : "");
    sfu_print_text(p, "\n");
    sfu_print_note(p, "sfut1 build ", report->build_id, report->build_id_end);
    if (p->slide != 0) {
        sfu_print_number(p, "sfut1 slide ", p->slide, 16, 1);
        sfu_print_text(p, "\n");
    }
    for (i = 0; i < report->num_places; i++) {
        const struct sfu_dump_place *place = &report->places[i];

        sfu_print_number(p, "sfut1 at ", place->addr, 16, 1);
        sfu_print_text(p, " ");
        sfu_print_text(p, place->name);
        sfu_print_text(p, place->image != NULL ? " " : "");
        sfu_print_text(p, place->image != NULL ? place->image : "");
        sfu_print_text(p, "\n");
    }
    sfu_print_number(p, "sfut1 base ", depot->base, 16, 1);
    sfu_print_text(p, "\n");
}

/* No depot has more traces than units of room: so a list that was overwritten, and leads in a circle, ends here. */
void sfu_depot_print(const struct sfu_panic *p, const struct sfu_depot *depot,
                     const struct sfu_depot_report *report)
{
    uint32_t handle, left = depot->room, printed = 0;

    print_begin(p, depot, report);
    for (handle = sfu_depot_next(depot, 0); handle != 0 && left > 0; handle = sfu_depot_next(depot, handle)) {
        printed += print_trace(p, depot, handle);
        left--;
    }
    sfu_print_number(p, "sfut1 idle ", report->idle, 10, 1);
    print_weight(p, "\nsfut1 lost ", (int64_t)(report->not_kept + (uint64_t)depot->lost_weight));
    sfu_print_number(p, "\nsfut1 end ", printed, 10, 1);
    sfu_print_text(p, "\n");
}
