/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "space.h"
#include "common/report.h"
#include "images/symbols.h"

#include <inttypes.h>
#include <string.h>

/* Code that is not in memory is taken from the image, because dumps leave out what a file has. */
bool space_read(const struct trace_space *space, uint64_t addr, void *buffer, size_t len)
{
    struct trace_image *image;
    const uint8_t *code = NULL;

    if (addr > UINT64_MAX - len)
        return false;
    if (space->read(space->ctx, addr, buffer, len))
        return true;
    image = images_at(space->images, addr);
    if (image != NULL && !image_is_object(image))
        code = image_instructions(&image->image, addr - image->slide, len);
    if (code != NULL)
        memcpy(buffer, code, len);
    return code != NULL;
}

bool space_word(const struct trace_space *space, uint64_t addr, uint64_t *value)
{
    const struct registers *r = abi_registers(space->abi);
    uint8_t bytes[8];

    if (!space_read(space, addr, bytes, r->word))
        return false;
    *value = load_number(bytes, r->word, r->big);
    return true;
}

/* Returns whether IMAGE can be the right one. One whose note cannot be read can, because dumps leave out pages. */
static bool verify(struct trace_image *image, const struct trace_space *space)
{
    const struct section *note = image_section(&image->image, ".note.gnu.build-id");
    uint8_t header[16], id[64];
    size_t size = image->build_id_size;

    if (!image->placed || note == NULL || size == 0 || size > sizeof id || note->size != sizeof header + size ||
        !(note->flags & SHF_ALLOC))
        return true;
    if (!space->read(space->ctx, note->addr + image->slide, header, sizeof header) ||
        !space->read(space->ctx, note->addr + image->slide + sizeof header, id, size))
        return true;
    if (memcmp(header + 12, "GNU", 4) == 0 && memcmp(id, image->build_id, size) == 0)
        return true;
    report_warn("%s: WRONG IMAGE: its build ID is not in memory at 0x%" PRIx64 "; it is not used", image->file,
                note->addr + image->slide);
    image->placed = false;
    return false;
}

void images_verify(struct trace_images *images, const struct trace_space *space)
{
    size_t i;

    for (i = 0; i < images->num; i++) {
        if (space->in_user != NULL)
            *space->in_user = images->list[i]->user;
        images->wrong = !verify(images->list[i], space) || images->wrong;
    }
}
