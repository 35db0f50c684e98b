/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * How far the program was moved when it was loaded, if nobody has said so: return addresses lie behind calls. A moved
 * program keeps the place in a page of each of its instructions. Among all distances at which a PC would be in its
 * code, that one is right by which most return addresses on the stack lie behind a call. Memory proves it: by the build
 * ID, or by the code that is there.
 */
#include "space.h"
#include "common/calls.h"
#include "common/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE = 4096,
    WORDS = 256,          /* of a stack that are looked at */
    ANCHORS = 8,          /* of them, each of which may lie in the code */
    MAX_SLIDES = 1 << 16, /* of an anchor: code of 256 MiB */
    LEAST = 4,            /* return addresses that no other distance explains half as well */
    COMPARED = 16         /* bytes of code */
};

struct search {
    const struct trace_space *space; /* or NULL: there is no memory */
    struct trace_image *image;
    const uint64_t *words;
    size_t num;
    uint64_t best, slide;
    unsigned count, second; /* return addresses by the best slide, and by the next best */
    bool proven;
};

bool images_is_return(const struct trace_images *images, uint64_t addr)
{
    struct trace_image *image = addr > 0 ? images_at(images, addr - 1) : NULL;
    struct call call;

    return image != NULL && image->image.abi != 0 && !image_is_object(image) &&
           call_before(&image->image, addr - image->slide, &call) &&
           (!call.direct || images_at(images, call.target + image->slide) != NULL);
}

/* How many different words are return addresses if the image is SLIDE above its addresses. */
static unsigned count_returns(const struct search *s, uint64_t slide)
{
    struct call call;
    unsigned count = 0;
    size_t i;

    for (i = 0; i < s->num; i++) {
        const uint64_t ra = s->words[i] - slide;

        if (image_code(&s->image->image, ra) != NULL && call_before(&s->image->image, ra, &call))
            count += !call.direct || image_code(&s->image->image, call.target) != NULL;
    }
    return count;
}

/* Whether memory has the code of the image around run-time address ADDR; and more than one instruction, of which there
 * are many alike. */
static bool has_same_code(const struct search *s, uint64_t addr, uint64_t slide)
{
    uint8_t bytes[COMPARED];
    const uint8_t *code = image_instructions(&s->image->image, addr - slide, sizeof bytes);

    return s->space != NULL && code != NULL && s->space->read(s->space->ctx, addr, bytes, sizeof bytes) &&
           memcmp(code, bytes, sizeof bytes) == 0;
}

static bool has_same_id(const struct search *s, uint64_t slide)
{
    const struct section *note = image_section(&s->image->image, ".note.gnu.build-id");
    const size_t size = s->image->build_id_size;
    uint8_t id[64];

    return s->space != NULL && note != NULL && (note->flags & SHF_ALLOC) != 0 && size > 0 && size <= sizeof id &&
           note->size == 16 + size && s->space->read(s->space->ctx, note->addr + slide + 16, id, size) &&
           memcmp(id, s->image->build_id, size) == 0;
}

/* Tries each distance of whole pages at which ANCHOR is in the code. */
static void try_anchor(struct search *s, uint64_t anchor)
{
    const struct image *image = &s->image->image;
    const struct section *first = image->code[0], *last = image->code[image->num_code - 1];
    const uint64_t high = (last->addr + last->size - 1) | (PAGE - 1);
    uint64_t at = high - (PAGE - 1) + anchor % PAGE; /* in the last page of code */
    unsigned i;

    for (i = 0; i < MAX_SLIDES && at + PAGE > first->addr && !s->proven; i++, at -= PAGE) {
        const uint64_t slide = anchor - at;
        unsigned count = image_code(image, at) != NULL && slide != 0 ? count_returns(s, slide) : 0;

        if (count == 0 || (s->count > 0 && slide == s->slide))
            continue;
        s->proven = has_same_id(s, slide) || (count > 1 && has_same_code(s, anchor, slide));
        if (count > s->count || s->proven) {
            s->second = s->count;
            s->count = count;
            s->slide = slide;
        } else if (count > s->second) {
            s->second = count;
        }
        if (at < PAGE)
            return;
    }
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Takes out of the NUM words what cannot be a return address, and what is there twice. Returns how many are left. */
static size_t sort_words(uint64_t *words, size_t num)
{
    size_t i, kept = 0;

    qsort(words, num, sizeof *words, by_value);
    for (i = 0; i < num; i++)
        if (words[i] >= PAGE && (kept == 0 || words[i] != words[kept - 1]))
            words[kept++] = words[i];
    return kept;
}

/* Finds how far IMAGE is above its addresses, by the NUM words, of which the first ones are most likely code: more of
 * them than by any other distance are return addresses. PROVEN: memory of SPACE, which may be NULL, has the build ID or
 * the code there. */
static bool find_slide(struct trace_image *image, const struct trace_space *space, const uint64_t *words,
                       size_t num, uint64_t *slide, bool *proven)
{
    struct search s = {.space = space, .image = image};
    uint64_t sorted[WORDS + 2];
    size_t i;

    if (num > WORDS + 2)
        num = WORDS + 2;
    if (num == 0 || image_is_object(image) || image->image.num_code == 0)
        return false;
    memcpy(sorted, words, num * sizeof *words);
    s.words = sorted;
    s.num = sort_words(sorted, num);
    for (i = 0; i < num && i < ANCHORS && !s.proven && s.count <= s.num / 2; i++)
        if (words[i] >= PAGE)
            try_anchor(&s, words[i]);
    *slide = s.slide;
    *proven = s.proven;
    return s.proven || (s.count >= LEAST && s.count >= 2 * s.second);
}

/* A return address without the bits that are not of the address. */
static uint64_t without_marks(const struct trace_space *space, uint64_t ra)
{
    return ra & ~(abi_is_arm(space->abi) ? (uint64_t)1 : space->pac_mask);
}

/* PC, the return address in its register, and the words of the stack. */
static size_t take_words(const struct trace_space *space, uint64_t *words)
{
    const struct registers *r = abi_registers(space->abi);
    uint64_t addr = space->regs.value[r->sp], word;
    size_t num = 0;

    words[num++] = space->regs.value[REGISTER_PC];
    if (r->link && space->regs.known[r->ra])
        words[num++] = without_marks(space, space->regs.value[r->ra]);
    for (; num < WORDS && addr <= UINT64_MAX - r->word && space->read(space->ctx, addr, &(uint8_t[8]){0}, r->word);
         addr += r->word)
        if (space_word(space, addr, &word))
            words[num++] = without_marks(space, word);
    return num;
}

void slide_set(struct trace_space *space, uint64_t given)
{
    struct trace_image *first = space->images->num > 0 ? space->images->list[0] : NULL;
    const uint64_t pc = space->regs.value[REGISTER_PC];
    uint64_t words[WORDS + 2], slide;
    bool proven;

    if (first == NULL || given != 0 || !first->placed || first->slide != 0 || first->user ||
        !space->regs.known[REGISTER_PC] || !space->regs.known[abi_registers(space->abi)->sp] ||
        images_at(space->images, pc) != NULL)
        return;
    if (!find_slide(first, space, words, take_words(space, words), &slide, &proven)) {
        if (pc >= NULL_PAGE)
            report_note("PC 0x%" PRIx64
                        " is in no image: if %s was moved when it was loaded, give --slide=N, how far",
                        pc, first->name);
        return;
    }
    report_note("%s lies 0x%" PRIx64 " above its addresses, as %s: the same as --slide=0x%" PRIx64, first->name,
                slide, proven ? "the memory there proves" : "return addresses on the stack behind its calls say",
                slide);
    image_place(first, slide);
    space->images->slide = slide;
}
