/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "output.h"
#include "common/pe.h"
#include "common/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DIRECTORY_CERTIFICATES = 4,
    READABLE_DATA = 0x40000040,
    /* Offsets: in the COFF header, in the optional header. */
    NUM_SECTIONS = 2,
    SIZE_OF_DATA = 8,
    SECTION_ALIGNMENT = 32,
    FILE_ALIGNMENT = 36,
    SIZE_OF_IMAGE = 56,
    SIZE_OF_HEADERS = 60,
    CHECKSUM = 64,
    HEADER_SIZE = 40, /* of a section */
    NAME_SIZE = 8
};

static uint64_t aligned(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

/* Reads the image's file into *BYTES, to be freed, with room for MORE bytes of zeros, and its headers into PE. */
static bool read_file(struct image *image, struct pe *pe, uint8_t **bytes, uint64_t more)
{
    struct stat status;
    size_t size, have = 0;

    if (fstat(image->fd, &status) != 0)
        return image_fail(image, "%s", strerror(errno));
    size = (size_t)status.st_size;
    *bytes = zeroed(size + (size_t)more, 1);
    while (have < size) {
        const ssize_t n = pread(image->fd, *bytes + have, size - have, (off_t)have);

        if (n <= 0)
            return image_fail(image, "it has changed while it was read");
        have += (size_t)n;
    }
    if (!pe_read(pe, *bytes, size))
        return image_fail(image, "%s", pe->error);
    return true;
}

/* A signature would be wrong behind a change. */
static bool is_signed(struct image *image, const struct pe *pe)
{
    uint64_t at, size;

    if (!pe_directory(pe, DIRECTORY_CERTIFICATES, &at, &size))
        return false;
    (void)image_fail(image, "it is signed: make the tables first, and sign the file that has them");
    return true;
}

/* The sum of the file's SIZE bytes as numbers of 16 bits, in which carries are added again, and of its size. Its own
 * place, at AT, counts as 0; that is a multiple of 4, as loaders want it. */
static uint32_t checksum(const uint8_t *bytes, size_t size, uint64_t at)
{
    uint64_t sum = 0;
    size_t i;

    for (i = 0; i < size; i += 2)
        if (i != at && i != at + 2)
            sum += bytes[i] | (i + 1 < size ? (unsigned)bytes[i + 1] << 8 : 0u);
    while (sum >> 16 != 0)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint32_t)(sum + size);
}

/* Makes the checksum anew, if the file has one. */
static void set_checksum(const struct pe *pe, uint8_t *bytes, size_t size)
{
    const uint64_t at = pe->optional + CHECKSUM;

    if (load_number(bytes + at, 4, false) != 0)
        store_number(bytes + at, 4, false, checksum(bytes, size, at));
}

bool output_pe_in_place(struct image *image, const struct section *section, const struct bytes *bytes)
{
    const uint64_t offset = section->offset, size = section->size;
    uint8_t *all = NULL;
    struct pe pe;
    bool good = read_file(image, &pe, &all, 0) && !is_signed(image, &pe);
    int fd;

    if (good && (offset > pe.size || size > pe.size - offset))
        good = image_fail(image, "it has changed while it was read");
    if (good) {
        memset(all + offset, 0, (size_t)size);
        memcpy(all + offset, bytes->data, bytes->size);
        set_checksum(&pe, all, pe.size);
        fd = open(image->file, O_WRONLY | O_CLOEXEC);
        good = fd >= 0 && overwrite_file(fd, all + offset, (size_t)size, offset) &&
               overwrite_file(fd, all + pe.optional + CHECKSUM, 4, pe.optional + CHECKSUM);
        if (fd >= 0 && close(fd) != 0)
            good = false;
        if (!good)
            image_fail(image, "cannot be written: %s", strerror(errno));
    }
    free(all);
    return good;
}

/* ---- A copy with one more section ------------------------------------------------------------------------------ */

/* Where the header of one more section would be, or 0: there is other data, or the bytes of a section. */
static uint64_t header_place(const struct pe *pe)
{
    const uint64_t at = pe->sections + (uint64_t)pe->num_sections * HEADER_SIZE;
    uint64_t end = pe_number(pe, pe->optional + SIZE_OF_HEADERS, 4), i;

    if (end > pe->size)
        end = pe->size;
    for (i = 0; i < pe->num_sections; i++) {
        const struct pe_section s = pe_section(pe, (uint32_t)i);

        if (s.size > 0 && s.offset < end)
            end = s.offset;
    }
    if (at + HEADER_SIZE > end || pe->num_sections == PE_MOST_SECTIONS)
        return 0;
    for (i = 0; i < HEADER_SIZE; i++)
        if (pe_number(pe, at + i, 1) != 0)
            return 0;
    return at;
}

/* Alignments are powers of two; those beyond what the specification has are those of a broken file. */
static bool is_alignment(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0 && n <= 1 << 24;
}

/* Why no section can be added to PE, the image, or NULL; and where it would be. */
static const char *find_place(const struct pe *pe, struct append *append)
{
    const uint64_t align = pe_number(pe, pe->optional + SECTION_ALIGNMENT, 4);
    const uint64_t end = pe_number(pe, pe->optional + SIZE_OF_IMAGE, 4);
    uint32_t i;

    append->align = pe_number(pe, pe->optional + FILE_ALIGNMENT, 4);
    if (header_place(pe) == 0)
        return "no room for the header of one more section: reserve a section .sframe when you link, and leave "
               "--append out";
    if (!is_alignment(align) || !is_alignment(append->align))
        return "its alignments are none";
    for (i = 0; i < pe->num_sections; i++) {
        const struct pe_section s = pe_section(pe, i);

        if (s.rva + s.memory > aligned(end, align))
            return "its SizeOfImage is smaller than its sections";
    }
    append->offset = aligned(pe->size, append->align);
    append->section = pe->base + aligned(end, align);
    return append->offset > INT32_MAX || append->section - pe->base > INT32_MAX
               ? "no place for a section: such files have no more than 2 GiB"
               : NULL;
}

bool append_plan_pe(struct image *image, struct append *append)
{
    const char *why;
    uint8_t *all = NULL;
    struct pe pe;
    bool good = read_file(image, &pe, &all, 0) && !is_signed(image, &pe);

    if (good && image_tables(image) != NULL)
        good = image_fail(image, "it has a section %s, which is written into without --append",
                          image_tables(image)->name);
    why = good ? find_place(&pe, append) : NULL;
    if (why != NULL)
        good = image_fail(image, "%s", why);
    free(all);
    return good;
}

/* Puts the header of the section into the copy ALL, and what follows of it. SIZE: of the section in the file. */
static void put_header(const struct pe *pe, uint8_t *all, const struct append *append, uint64_t memory,
                       uint64_t size)
{
    const uint64_t rva = append->section - pe->base, data = pe->optional + SIZE_OF_DATA;
    const uint64_t align = pe_number(pe, pe->optional + SECTION_ALIGNMENT, 4);
    uint8_t *p = all + header_place(pe);

    memcpy(p, ".sframe", NAME_SIZE);
    store_number(p + 8, 4, false, memory);
    store_number(p + 12, 4, false, rva);
    store_number(p + 16, 4, false, size);
    store_number(p + 20, 4, false, append->offset);
    store_number(p + 36, 4, false, READABLE_DATA);
    store_number(all + pe->coff + NUM_SECTIONS, 2, false, pe->num_sections + 1);
    store_number(all + data, 4, false, load_number(all + data, 4, false) + size);
    store_number(all + pe->optional + SIZE_OF_IMAGE, 4, false, aligned(rva + memory, align));
}

bool output_pe_appended(struct image *image, const char *file, const struct append *append,
                        const struct bytes *bytes)
{
    const uint64_t size = aligned(bytes->size, append->align);
    uint8_t *all = NULL;
    struct pe pe;
    struct stat status;
    bool good = fstat(image->fd, &status) == 0 || image_fail(image, "%s", strerror(errno));

    good = good && read_file(image, &pe, &all, append->offset + size - (uint64_t)status.st_size);
    if (good) {
        const struct bytes whole = {all, (size_t)(append->offset + size), 0, 0};

        memcpy(all + append->offset, bytes->data, bytes->size);
        put_header(&pe, all, append, bytes->size, size);
        set_checksum(&pe, all, whole.size);
        good = output_file(image, file, &whole, status.st_mode | 0200);
    }
    free(all);
    return good;
}
