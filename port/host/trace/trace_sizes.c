/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The bytes of stack of a frame of which only the PC is known: a log has no stack pointers, but where a row counts the
 * CFA from SP, the distance to the caller's SP is the row's offset.
 */
#include "tables/cfi.h"
#include "trace.h"

#include <inttypes.h>

/* Finds the row of IMAGE for LOOKUP in the order of a walk: its own tables, those of its CFI, those of its separate
 * file. */
static bool find_row(struct trace_image *image, uint64_t lookup, struct sfu_row *row)
{
    return (image_open_own(image) && sfu_find(&image->own.section, lookup, row) == SFU_OK) ||
           (image_open_cfi(image) && sfu_find(&image->cfi.section, lookup, row) == SFU_OK) ||
           (image_open_debug_cfi(image) && sfu_find(&image->debug_cfi.section, lookup, row) == SFU_OK) ||
           (image_open_code(image) && sfu_find(&image->code.section, lookup, row) == SFU_OK);
}

static void say_unknown(const struct trace_out *out, const char *why)
{
    out_line(out, "        bytes of stack not known: %s", why);
}

static void say_size(const struct trace_out *out, uint64_t sp, uint64_t caller_sp)
{
    if (caller_sp >= sp)
        out_line(out, "        %" PRIu64 " bytes of stack", caller_sp - sp);
    else
        say_unknown(out, "its registers and its row contradict each other");
}

/* By ROW, whose CFA is offset + the register of its rule, or a word there. */
static void say_by_row(const struct trace_out *out, const struct registers *r, const struct sfu_row *row,
                       const struct log_registers *known)
{
    const uint64_t offset = (uint64_t)(int64_t)row->cfa.offset - r->sp_below_cfa;

    if (row->cfa.control == (r->sp << RULE_NUMBER | RULE_REGISTER))
        say_size(out, 0, offset);
    else if (row->cfa.control != (r->fp << RULE_NUMBER | RULE_REGISTER))
        say_unknown(out, "its caller's SP is in memory or in a register that the log does not have");
    else if (known != NULL)
        say_size(out, known->sp, known->fp + offset);
    else
        say_unknown(out, "its caller is found by FP, which the log does not have");
}

void out_size(const struct trace_out *out, const struct trace_images *images, uint64_t lookup,
              const struct log_registers *known)
{
    struct trace_image *image = images_at(images, lookup);
    struct sfu_row row;

    if (image == NULL)
        return; /* has been said */
    if (!find_row(image, lookup, &row))
        say_unknown(out, "no table has this address");
    else if (row.kind == SFU_ROW_ASK)
        say_unknown(out, "a trap frame that the tables cannot describe");
    else if (row.kind == SFU_ROW_RULES)
        say_by_row(out, abi_registers(image->image.abi), &row, known);
}
