/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Any bytes as a section: opened, checked, searched at every interesting PC, sorted and searched again; mapped, and
 * through a callback of which one read fails. What a section that passes the check says is compared with a second
 * decoder.
 *
 * Input: the section, then 4 bytes: how it is placed and repaired, its address, the read that fails, a PC.
 */
#include "harness.h"

#include <string.h>

/* So many PCs are looked up in one run, beginning at one that the input chooses. */
#ifndef ENOUGH_PCS
#define ENOUGH_PCS 12
#endif

struct run {
    struct sfu_section mapped, far;
    struct remote remote;
    struct table table;
    uint64_t pcs[MAX_PCS + 1];
    unsigned num_pcs, first_pc;
    bool checked; /* and nothing overlaps: there is one answer for each PC */
};

static uint64_t address(unsigned how, size_t size)
{
    switch (how) {
    case 0:
        return 0x2000;
    case 1:
        return 0;
    case 2:
        return UINT64_MAX - size + 1;
    case 3:
        return (uint64_t)1 << 63;
    default:
        return (uint64_t)how << 32 | how;
    }
}

static void look_up(struct run *run)
{
    uint32_t most = most_reads(&run->mapped, &run->table);

    for (unsigned i = 0; i < run->num_pcs && i < ENOUGH_PCS; i++) {
        struct sfu_row row, far, expected;
        uint32_t before = run->remote.reads;
        uint64_t pc = run->pcs[(run->first_pc + i) % run->num_pcs];
        int code = try_find(&run->mapped, pc, run->checked, &row);

        MUST(try_find(&run->far, pc, run->checked, &far) == code);
        MUST(run->remote.reads - before <= most);
        MUST(code != SFU_OK || same_row(&row, &far));
        if (run->checked) {
            MUST(table_find(&run->table, pc, &expected) == code);
            MUST(code != SFU_OK || same_row(&row, &expected));
        }
    }
}

/* One read fails: the answer is that, or the same as without. */
static void fail_once(struct run *run, uint32_t k, uint64_t pc)
{
    struct sfu_section s;
    struct sfu_place place;
    struct sfu_row row;
    int code;

    run->remote.fail_at = k;
    run->remote.reads = 0;
    code = try_open(&s, NULL, run->mapped.size, run->mapped.addr, &run->remote);
    MUST(code == (k == 1 ? SFU_E_SECTION : SFU_OK));
    run->remote.reads = 0;
    code = try_check(&run->far, &place);
    MUST((code == SFU_E_SECTION) == (run->remote.reads >= k));
    run->remote.reads = 0;
    code = try_find(&run->far, pc, run->checked, &row);
    MUST((code == SFU_E_SECTION) == (run->remote.reads >= k));
    run->remote.fail_at = 0;
}

static void sort(struct run *run, uint8_t *bytes)
{
    struct sfu_place place;

    if (try_sort(&run->mapped, bytes) != SFU_OK)
        return;
    MUST(try_open(&run->far, NULL, run->mapped.size, run->mapped.addr, &run->remote) == SFU_OK);
    if (run->checked) {
        MUST(try_check(&run->mapped, &place) == SFU_OK);
        look_up(run);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct run run;
    static uint8_t copy[MAX_SECTION];
    const uint8_t *how = data + size - 4;
    struct sfu_place place, far;
    uint8_t *bytes;
    int code;

    if (size < 4 || size - 4 > MAX_SECTION)
        return 0;
    size -= 4;
    memcpy(copy, data, size);
    if (how[0] & 1)
        table_repair(copy, size, how[0] >> 2 | (uint32_t)how[2] << 6);
    bytes = arena_place(0, copy, size, how[0] & 2);
    run.remote.bytes = bytes;
    run.remote.addr = address(how[1], size);
    run.remote.size = size;
    run.remote.reads = run.remote.fail_at = 0;
    code = try_open(&run.mapped, bytes, size, run.remote.addr, NULL);
    MUST(try_open(&run.far, NULL, size, run.remote.addr, &run.remote) == code);
    if (code != SFU_OK)
        return 0;
    table_read(&run.table, copy, size, run.remote.addr);
    code = try_check(&run.mapped, &place);
    run.remote.reads = 0;
    MUST(try_check(&run.far, &far) == code);
    MUST(run.remote.reads <= most_check_reads(&run.far));
    MUST(code == SFU_OK || (place.fde == far.fde && place.row == far.row));
    MUST(code != SFU_OK || run.table.complete || run.table.num_fdes == MAX_FDES || run.table.num_rows == MAX_ROWS);
    run.checked = code == SFU_OK && run.table.complete && !table_overlaps(&run.table);
    run.num_pcs = interesting_pcs(&run.table, run.pcs);
    run.pcs[run.num_pcs++] = run.remote.addr + (uint64_t)(int64_t)(int8_t)how[3] * 16;
    run.first_pc = how[3];
    look_up(&run);
    if (how[2] != 0)
        fail_once(&run, how[2], run.pcs[how[3] % run.num_pcs]);
    sort(&run, bytes);
    return 0;
}
