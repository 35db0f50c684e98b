/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * libsframe finds the row; what the row says is done here, by the rules for default rows of amd64. Its search does
 * not tell the type of a function, so that those of the flexible type are marked first: their frames end a walk.
 * The mark is one byte for each 16 of text, which costs a walk next to nothing.
 */
#include <stddef.h>
#include <stdlib.h>
#include <sframe-api.h>
#include "bench.h"

extern peer_list peer;

static sframe_decoder_ctx *decoder;
static uint64_t base, low, high;
static int fixed_ra;
static uint64_t text, text_size; /* relative to the section */
static uint8_t *flexible;

static void mark(uint64_t start, uint64_t size)
{
    for (uint64_t at = start / 16; at <= (start + size) / 16 && at <= text_size / 16; at++)
        flexible[at] = 1;
}

static bool is_flexible(int64_t pc)
{
    uint64_t at = (uint64_t)pc - text;
    return at < text_size && flexible[at / 16] != 0;
}

static bool init(const struct bench_image *image)
{
    int error = 0;
    decoder = sframe_decode(image->sframe, image->sframe_size, &error);
    if (decoder == NULL)
        return false;
    base = (uint64_t)(uintptr_t)image->sframe;
    low = image->stack_low;
    high = image->stack_high - 8;
    fixed_ra = sframe_decoder_get_fixed_ra_offset(decoder);
    text = image->text - base;
    text_size = image->text_size;
    flexible = calloc(text_size / 16 + 1, 1);
    for (unsigned i = 0; flexible != NULL && i < sframe_decoder_get_num_fidx(decoder); i++) {
        uint32_t rows, size;
        int64_t start;
        unsigned char info, info2;
        uint8_t repeat;
        if (sframe_decoder_get_funcdesc_v3(decoder, i, &rows, &size, &start, &info, &info2, &repeat) == 0 &&
            info2 != 0) {
            /* the linker's starts count from their own field */
            start += sframe_decoder_get_offsetof_fde_start_addr(decoder, i, &error);
            mark((uint64_t)start - text, size);
        }
    }
    return flexible != NULL;
}

static bool load(uint64_t addr, uint64_t *value)
{
    if (addr < low || addr > high)
        return false;
    *value = *(const uint64_t *)(uintptr_t)addr;
    return true;
}

/* One step. Returns false at the end. */
static bool up(uint64_t *pc, uint64_t *sp, uint64_t *fp, bool topmost)
{
    sframe_frame_row_entry row;
    int64_t at = (int64_t)(*pc - base) - !topmost;
    int error = 0;
    uint64_t cfa;
    int32_t offset;
    if (sframe_find_fre(decoder, at, &row) != 0 || is_flexible(at) ||
        sframe_fre_get_ra_undefined_p(decoder, &row, &error))
        return false;
    offset = sframe_fre_get_cfa_offset(decoder, &row, SFRAME_FDE_TYPE_DEFAULT, &error);
    if (error != 0)
        return false;
    cfa = (sframe_fre_get_base_reg_id(&row, &error) == SFRAME_BASE_REG_SP ? *sp : *fp) + (uint64_t)(int64_t)offset;
    if (!load(cfa + (uint64_t)(int64_t)fixed_ra, pc))
        return false;
    offset = sframe_fre_get_fp_offset(decoder, &row, SFRAME_FDE_TYPE_DEFAULT, &error);
    if (error == 0 && !load(cfa + (uint64_t)(int64_t)offset, fp))
        return false;
    *sp = cfa;
    return true;
}

static unsigned walk(uint64_t *pcs, unsigned max)
{
    uint64_t pc, sp, fp;
    unsigned n = 0;
    /* This function is in a module without a table here: the walk begins in its caller, with the registers that the
     * caller has. The frame pointer makes those known. */
    const uint64_t *record = __builtin_frame_address(0);
    pc = record[1];
    sp = (uint64_t)(uintptr_t)(record + 2);
    fp = record[0];
    while (n < max) {
        pcs[n++] = pc;
        if (!up(&pc, &sp, &fp, false))
            break;
    }
    return n;
}

peer_list peer = {{"libsframe", init, walk}, {NULL, NULL, NULL}};
