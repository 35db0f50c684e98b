/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "log.h"
#include "common/image.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

void depot_clear(struct depot_dump *dump)
{
    free(dump->traces);
    free(dump->pcs);
    memset(dump, 0, sizeof *dump);
}

/* A trace that has fewer PCs than its line said is left out. */
static void end_depot_trace(struct depot_dump *dump)
{
    struct depot_trace *last = dump->tracing ? &dump->traces[dump->num_traces - 1] : NULL;

    dump->tracing = false;
    if (last == NULL || dump->num_pcs - last->first == last->count)
        return;
    dump->num_pcs = last->first;
    dump->num_traces--;
    dump->cut++;
}

void depot_cut(struct depot_dump *dump)
{
    if (dump->open)
        end_depot_trace(dump);
    dump->open = false;
}

/* Words up to the end: each a distance from the base or "=" and a PC. */
static bool take_pcs(struct depot_dump *dump, struct text *t)
{
    const struct depot_trace *last = &dump->traces[dump->num_traces - 1];

    while (text_take(t, " ")) {
        bool whole = text_take(t, "=");
        uint64_t value;

        if (!text_number(t, 16, 1, 16, &value) || dump->num_pcs - last->first == last->count)
            return false;
        dump->pcs = grow(dump->pcs, dump->num_pcs, sizeof *dump->pcs);
        dump->pcs[dump->num_pcs++] = whole ? value : dump->base + value;
    }
    return t->p == t->end;
}

/* Leaves out the last trace, if it could go on: a line of it makes no sense. */
static bool leave_out_depot_trace(struct depot_dump *dump)
{
    if (dump->tracing) {
        dump->num_pcs = dump->traces[dump->num_traces - 1].first;
        dump->num_traces--;
        dump->cut++;
    }
    dump->tracing = false;
    return false;
}

static bool take_trace(struct depot_dump *dump, struct text *t)
{
    struct depot_trace trace = {0, dump->num_pcs, 0};
    uint64_t count;

    if (!text_signed(t, &trace.weight) || !text_take(t, " ") || !text_number(t, 16, 1, 16, &count) ||
        count > DEPOT_PCS || dump->num_pcs > DEPOT_ALL - DEPOT_PCS || dump->num_traces >= DEPOT_ALL)
        return false;
    trace.count = (size_t)count;
    dump->traces = grow(dump->traces, dump->num_traces, sizeof *dump->traces);
    dump->traces[dump->num_traces++] = trace;
    dump->tracing = true;
    return take_pcs(dump, t) || leave_out_depot_trace(dump);
}

static bool take_more(struct depot_dump *dump, struct text *t)
{
    return dump->tracing && (take_pcs(dump, t) || leave_out_depot_trace(dump));
}

static bool take_depot_place(struct depot_dump *dump, struct text *t)
{
    struct log_place place;

    memset(&place, 0, sizeof place);
    if (!text_number(t, 16, 1, 16, &place.addr) || !text_take(t, " ") ||
        !text_name(t, place.name, sizeof place.name))
        return false;
    if (text_take(t, " ") && !text_name(t, place.image, sizeof place.image))
        return false;
    if (t->p < t->end || dump->num_places == LOG_PLACES)
        return false;
    dump->places[dump->num_places++] = place;
    return true;
}

static bool take_depot_begin(struct depot_dump *dump, struct text *t)
{
    depot_clear(dump);
    dump->exact = text_take(t, "exact ");
    if (!dump->exact && !text_take(t, "return "))
        return false;
    if (!text_name(t, dump->unit, sizeof dump->unit) || !text_take(t, " ") || !text_decimal(t, &dump->rate))
        return false;
    if (text_take(t, " ") && !text_name(t, dump->name, sizeof dump->name))
        return false;
    dump->open = t->p == t->end;
    return dump->open;
}

static bool take_depot_end(struct depot_dump *dump, struct text *t)
{
    uint64_t count;

    if (!text_decimal(t, &count) || t->p < t->end)
        return false;
    depot_cut(dump);
    dump->missing = count > dump->num_traces ? count - dump->num_traces : 0;
    return true;
}

/* A line of an open dump that has nothing to do with its traces. */
static bool take_other(struct depot_dump *dump, struct text *t)
{
    if (text_take(t, "build "))
        return text_bytes(t, dump->id, &dump->id_size, sizeof dump->id);
    if (text_take(t, "slide ")) {
        dump->has_slide = text_number(t, 16, 1, 16, &dump->slide) && t->p == t->end;
        return dump->has_slide;
    }
    if (text_take(t, "at "))
        return take_depot_place(dump, t);
    if (text_take(t, "base "))
        return text_number(t, 16, 1, 16, &dump->base) && t->p == t->end;
    if (text_take(t, "idle "))
        return text_signed(t, &dump->idle) && t->p == t->end;
    return text_take(t, "lost ") && text_signed(t, &dump->lost) && t->p == t->end;
}

/* What follows "sfut1 " in a line. */
static bool find_depot_line(const char *text, size_t size, struct text *line)
{
    size_t i;

    for (i = 0; i < size; i++) {
        struct text t = {text + i, text + size};

        if ((i == 0 || !text_is_of_a_word(text[i - 1])) && text_take(&t, "sfut1 ")) {
            *line = t;
            return true;
        }
    }
    return false;
}

bool depot_begins(const char *text, size_t size)
{
    struct text t;

    return find_depot_line(text, size, &t) && text_take(&t, "begin ");
}

enum depot_event depot_line(struct depot_dump *dump, const char *text, size_t size)
{
    struct text t;
    bool good;

    if (!find_depot_line(text, size, &t))
        return DEPOT_OTHER;
    if (text_take(&t, "begin ")) {
        good = take_depot_begin(dump, &t);
    } else if (!dump->open) {
        good = false;
    } else if (text_take(&t, "c ")) {
        t.p--; /* the space is each PC's */
        good = take_more(dump, &t);
    } else {
        end_depot_trace(dump);
        if (text_take(&t, "t "))
            good = take_trace(dump, &t);
        else if (text_take(&t, "end "))
            return take_depot_end(dump, &t) ? DEPOT_DONE : DEPOT_MORE;
        else
            good = take_other(dump, &t);
    }
    dump->bad += !good;
    return DEPOT_MORE;
}
