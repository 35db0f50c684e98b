/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Functions whose start may be a return address: that of the first function of a thread, FreeRTOS' prvTaskExitError for
 * instance. Nothing has called there, and what is looked up is the byte before, which belongs to another function or to
 * the padding behind it. Where no call ends there, that function is not in the trace: the byte counts as the start's.
 * No instruction begins at that byte, so no other lookup needs it. On x86, whose instructions may have one byte, code
 * says where that holds (code/trust.c). There each function's first row leads to a caller, as does the last row of what
 * lies in front: the byte has no row, and only in front of functions that never return, because that costs bytes.
 *
 * Where code returns to a start that was called elsewhere (`la ra, ret_from_exception; j do_irq`), the byte has the row
 * of that start.
 */
#include "tables.h"
#include "common/calls.h"

#include <string.h>

/* Whether a frame that has made a call has a caller by ROW, or is the outermost one. Where RA is in its register, the
 * trace ends with an error. */
static bool leads_on(const struct registers *r, const struct made_row *row)
{
    return (row->flags & ROW_OUTERMOST) != 0 || row->control[ROW_RA] != (r->ra << RULE_NUMBER | RULE_REGISTER) ||
           row->offset[ROW_RA] != 0;
}

static bool is_plain(const struct function *f)
{
    return f->repeat == 0 && !f->signal && f->num_rows > 0;
}

/* Whether that byte, behind END of the function in front, is in no call, and no instruction begins there. */
static bool is_free(const struct tables *t, const struct cfi *cfi, uint64_t end, uint64_t start)
{
    struct call call;

    return (end < start && image_is_padding(t->image, end, start)) || cfi_is_free_start(cfi, start) ||
           (end <= start && t->image->registers->link && start % t->image->registers->code_unit == 0 &&
            !call_before(t->image, start, &call));
}

/* Whether the byte before B, which comes behind A, leads to where a return to the start of B does not. */
static bool misleads(const struct tables *t, const struct function *a, const struct function *b)
{
    const struct registers *r = t->image->registers;
    const struct made_row *last = &t->rows[a->first_row + a->num_rows - 1], *first = &t->rows[b->first_row];

    if ((first->flags & ROW_OUTERMOST) != 0)
        return (last->flags & ROW_OUTERMOST) == 0;
    return r->link && leads_on(r, last) && !leads_on(r, first);
}

/* Whether F begins with a row that says who has called it, on x86. */
static bool begins_called(const struct tables *t, const struct function *f)
{
    return !t->image->registers->link && (t->rows[f->first_row].flags & ROW_OUTERMOST) == 0;
}

void tables_mark_starts(struct tables *t, const struct cfi *cfi)
{
    size_t i;

    for (i = 1; i < t->num_functions; i++) {
        const struct function *a = &t->functions[i - 1];
        struct function *b = &t->functions[i];

        b->is_returned_to = cfi_is_return(cfi, b->start) && a->repeat == 0 && b->repeat == 0 && b->num_rows > 0 &&
                            is_free(t, cfi, a->start + a->size, b->start);
        b->has_byte_before = b->is_returned_to || (is_plain(a) && is_plain(b) && misleads(t, a, b) &&
                                                   is_free(t, cfi, a->start + a->size, b->start));
        b->is_apart = is_plain(a) && is_plain(b) && begins_called(t, b) && cfi_is_free_start(cfi, b->start);
    }
}
