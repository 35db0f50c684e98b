/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * rows TABLES START END: what TABLES, the bytes of a section that counts from address 0, says of the PCs from START up
 * to END: a line for each row with its PC, where it ends, its CFA, RA and FP; or the PC and where no row ends.
 */
#include "sfu.h"
#include "test/lib/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void put(const struct sfu_rule *rule)
{
    const char *const open = rule->control & 2 ? "[" : "", *const close = rule->control & 2 ? "]" : "";

    if (rule->control & 1)
        printf(" %sr%u%+" PRId32 "%s", open, (unsigned)(rule->control >> 3), rule->offset, close);
    else
        printf(" %scfa%+" PRId32 "%s", open, rule->offset, close);
}

int main(int argc, char **argv)
{
    struct sfu_section section;
    struct sfu_row row;
    uint64_t pc, end, next;
    uint8_t *bytes;
    size_t size;

    if (argc != 4)
        return 2;
    bytes = read_file(argv[1], &size);
    if (sfu_open(&section, bytes, size, 0) != SFU_OK)
        return 1;
    end = strtoull(argv[3], NULL, 0);
    for (pc = strtoull(argv[2], NULL, 0); pc < end; pc = next) {
        bool found = sfu_find(&section, pc, &row) == SFU_OK;

        for (next = found ? row.start + row.length : pc + 1; !found && next < end; next++)
            if (sfu_find(&section, next, &row) == SFU_OK)
                break;
        printf("%" PRIx64 " %" PRIx64, pc, next);
        if (found && row.kind == SFU_ROW_OUTERMOST)
            printf(" outermost");
        if (found && row.kind == SFU_ROW_RULES) {
            put(&row.cfa);
            put(&row.ra);
            put(&row.fp);
        }
        putchar('\n');
    }
    free(bytes);
    return 0;
}
