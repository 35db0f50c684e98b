/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "joined.h"
#include "common/image.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_SIZE = 28, FLAG_SORTED = 1 };

/* Whether another header begins within a linker's padding behind S, which is less than 8 bytes because assemblers align
 * the section to 8. *AT: where, from the start of S. */
static bool find_next(const struct sfu_section *s, uint64_t *at)
{
    for (*at = s->end; *at < (uint64_t)s->end + 8 && *at + HEADER_SIZE <= s->size; ++*at)
        if (load_number(s->bytes + *at, 2, s->big) == abi_tables_magic((uint8_t)s->abi))
            return true;
    return false;
}

int joined_open(struct joined *tables, const uint8_t *bytes, uint64_t size, uint64_t addr,
                struct joined_place *where)
{
    uint64_t offset = 0, next = 0;
    bool more = true;

    memset(tables, 0, sizeof *tables);
    memset(where, 0, sizeof *where);
    tables->bytes = zeroed((size_t)size, 1);
    memcpy(tables->bytes, bytes, (size_t)size);
    for (; more; offset += next) {
        struct sfu_section s;
        int code = sfu_open(&s, tables->bytes + offset, size - offset, addr + offset);

        if (code != SFU_OK) {
            where->offset = offset;
            where->index = tables->num;
            return code;
        }
        more = find_next(&s, &next);
        if (more)
            s.size = s.end;
        tables->list = grow(tables->list, tables->num, sizeof *tables->list);
        tables->list[tables->num++] = s;
    }
    return SFU_OK;
}

void joined_close(struct joined *tables)
{
    free(tables->bytes);
    free(tables->list);
    memset(tables, 0, sizeof *tables);
}

int joined_check(const struct joined *tables, struct joined_place *where)
{
    size_t i;

    for (i = 0; i < tables->num; i++) {
        int code = tables->list[i].num_fdes > 0 ? sfu_check(&tables->list[i], &where->at) : SFU_OK;

        if (code != SFU_OK) {
            where->offset = tables->list[i].addr - tables->list[0].addr;
            where->index = i;
            return code;
        }
    }
    return SFU_OK;
}

int joined_sort(struct joined *tables)
{
    size_t i;

    for (i = 0; i < tables->num; i++) {
        struct sfu_section *s = &tables->list[i];
        int code = s->flags & FLAG_SORTED ? SFU_OK : sfu_sort(s, tables->bytes + (s->addr - tables->list[0].addr));

        if (code != SFU_OK)
            return code;
        if (s->num_fdes > 0)
            (void)sfu_find_text(s);
    }
    return SFU_OK;
}

/* A table that has a function without a row there says more than one that has no such function, so its code is the one
 * that is returned. */
int joined_find(const struct joined *tables, uint64_t pc, struct sfu_row *row)
{
    int result = SFU_E_NO_FDE;
    size_t i;

    for (i = 0; i < tables->num; i++) {
        const struct sfu_section *s = &tables->list[i];
        int code;

        if (s->text.high != 0 && (pc < s->text.low || pc >= s->text.high))
            continue;
        code = sfu_find(s, pc, row);
        if (code == SFU_OK)
            return SFU_OK;
        if (result == SFU_E_NO_FDE)
            result = code;
    }
    return result;
}
