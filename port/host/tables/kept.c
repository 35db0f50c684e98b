/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "kept.h"
#include "cfi.h"

#include <stdlib.h>
#include <string.h>

/* ---- Sections -------------------------------------------------------------------------------------------------- */

static bool is_magic(const uint8_t *p, const struct image *image)
{
    return load_number(p, 2, image->big) == abi_tables_magic(image->abi) && p[2] >= 1 && p[2] <= 3;
}

/* ARM and 32-bit x86: no relocation has the 8 bytes of a start. The sum that leads to it is one of 32 bits, and has the
 * bit of Thumb code (docs/format.md 3.10, 4.9). Makes starts of 8 bytes of those of S, whose bytes are at P. */
static void settle_starts(const struct sfu_section *s, uint8_t *p)
{
    const uint64_t thumb = abi_is_arm((uint8_t)s->abi);
    uint32_t i;

    for (i = 0; i < s->num_fdes; i++) {
        const uint64_t at = s->fdes + (uint64_t)s->fde_size * i, base = s->addr + (s->flags & 4 ? at : 0);
        const uint64_t start = (uint32_t)(base + load_number(p + at, 8, false)) & ~thumb;

        store_number(p + at, 8, false, start - base);
    }
}

/* Opens what is at OFFSET of SECTION. *END is behind it. */
static bool open_at(struct kept *kept, struct image *image, const struct section *section, uint64_t offset,
                    uint64_t *end)
{
    struct sfu_section s;
    int code = sfu_open(&s, kept->bytes + offset, section->size - offset, section->addr + offset);

    if (code == SFU_OK && (abi_is_arm(image->abi) || image->abi == SFU_I386))
        settle_starts(&s, kept->bytes + offset);
    if (code == SFU_OK) {
        s.size = s.end; /* what follows is another one, or room */
        code = s.num_fdes > 0 ? sfu_check(&s, NULL) : SFU_OK;
    }
    if (code == SFU_OK && !(s.flags & 1))
        code = sfu_sort(&s, kept->bytes + offset);
    if (code == SFU_OK && !abi_fits((uint8_t)s.abi, image->abi))
        code = SFU_E_ABI;
    if (code != SFU_OK)
        return image_fail(image, "the tables that its %s has at offset 0x%llx: %s (--forget leaves them out)",
                          section->name, (unsigned long long)offset, sfu_string(code));
    *end = offset + s.end;
    if (s.num_fdes == 0)
        return true;
    kept->sections = grow(kept->sections, kept->num_sections, sizeof *kept->sections);
    kept->sections[kept->num_sections++] = s;
    return true;
}

static bool open_all(struct kept *kept, struct image *image, struct section *section)
{
    uint64_t offset = 0;

    if (section->type == SHT_NOBITS)
        return true;
    if (!image_load(image, section))
        return false;
    kept->bytes = zeroed((size_t)section->size, 1); /* a copy: an unsorted table is sorted in place */
    memcpy(kept->bytes, section->bytes, (size_t)section->size);
    while (offset + 28 <= section->size)
        if (!is_magic(kept->bytes + offset, image))
            offset += 8;
        else if (open_at(kept, image, section, offset, &offset))
            offset = (offset + 7) & ~(uint64_t)7;
        else
            return false;
    return true;
}

/* ---- Functions ------------------------------------------------------------------------------------------------- */

/* Finds the row for PC. One of an entry that begins where CFI is does not count: it is made of that, and of padding
 * behind it. */
static bool find_kept(const struct kept *kept, const struct cfi_spans *spans, uint64_t pc, struct sfu_row *row,
                      const struct sfu_section **section)
{
    size_t i;

    for (i = 0; i < kept->num_sections; i++) {
        *section = &kept->sections[i];
        if (sfu_find(*section, pc, row) == SFU_OK && cfi_span_at(spans, row->function) == NULL)
            return true;
    }
    return false;
}

/* Adds what is described of the code from PC up to END. Rows next to each other are of one span if they are of one
 * function. A lookup that fails does not say where the next function begins, so what has no row is passed byte by byte:
 * at most END - PC lookups, and code without CFI is a small part of an image. */
static void collect_kept(struct kept *kept, const struct cfi_spans *spans, uint64_t pc, uint64_t end)
{
    const struct sfu_section *section;
    uint64_t function = 0;
    bool open = false;
    struct sfu_row row;

    while (pc < end) {
        struct kept_span span;

        if (!find_kept(kept, spans, pc, &row, &section)) {
            open = false;
            pc++;
            continue;
        }
        span = (struct kept_span){pc, row.start + row.length, section, row.trap_frame, row.kind == SFU_ROW_ASK};
        span.end = span.end < end ? span.end : end;
        if (open && row.function == function) {
            kept->list[kept->num - 1].end = span.end;
        } else {
            kept->list = grow(kept->list, kept->num, sizeof *kept->list);
            kept->list[kept->num++] = span;
        }
        open = true;
        function = row.function;
        pc = span.end;
    }
}

bool kept_read(struct kept *kept, struct image *image, const struct cfi_spans *spans)
{
    struct section *section = image_input(image);
    size_t i, k = 0;

    memset(kept, 0, sizeof *kept);
    if (section == NULL && spans->num == 0)
        section = image_section(image, IMAGE_TABLES);
    if (section == NULL)
        return true;
    if (!open_all(kept, image, section))
        return false;
    for (i = 0; i < image->num_code && kept->num_sections > 0; i++) {
        uint64_t pc = image->code[i]->addr, end = pc + image->code[i]->size;

        if (plt_is(image->code[i]) || image->code[i]->type == SHT_NOBITS)
            continue;
        for (; k < spans->num && spans->list[k].start < end; k++) {
            if (pc < spans->list[k].start)
                collect_kept(kept, spans, pc, spans->list[k].start);
            if (spans->list[k].end > pc)
                pc = spans->list[k].end;
        }
        if (pc < end)
            collect_kept(kept, spans, pc, end);
    }
    return true;
}

void kept_free(struct kept *kept)
{
    free(kept->sections);
    free(kept->bytes);
    free(kept->list);
}

void kept_rows(const struct kept_span *span, cfi_row_fn row, void *ctx)
{
    uint64_t pc = span->start;
    struct sfu_row found;

    while (pc < span->end && sfu_find(span->section, pc, &found) == SFU_OK) {
        struct cfi_row given = {0};

        given.start = pc;
        given.end = found.start + found.length;
        given.cfa = found.cfa;
        given.ra = found.ra;
        given.fp = found.fp;
        given.signed_ra = found.signed_ra;
        if (found.kind != SFU_ROW_RULES)
            given.kind = CFI_OUTERMOST;
        given.end = given.end < span->end ? given.end : span->end;
        row(ctx, &given);
        pc = given.end;
    }
}
