/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "output.h"
#include "common/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Files ----------------------------------------------------------------------------------------------------- */

static bool cannot_write(struct image *image, const char *name)
{
    return image_fail(image, "cannot write %s: %s", name, strerror(errno));
}

/* In a file OFFSET counts, elsewhere all comes in order. */
static bool write_at(struct image *image, struct written_file *f, const void *p, size_t size, uint64_t offset)
{
    bool there = f->temporary == NULL || fseeko(f->stream, (off_t)offset, SEEK_SET) == 0;

    return (there && fwrite(p, 1, size, f->stream) == size) || cannot_write(image, f->name);
}

static bool close_output(struct image *image, struct written_file *f, bool good, mode_t mode)
{
    return written_close(f, good, mode) || (good && cannot_write(image, f->name));
}

/* Of ELF files of 64 bits; those of 32 bits are in the table behind. */
enum { EHDR_SIZE = 64, SHDR_SIZE = 64, PHDR_SIZE = 56, EHDR_SIZE_32 = 52, SHDR_SIZE_32 = 40, PHDR_SIZE_32 = 32 };

static bool is_32(const struct image *image)
{
    return image->registers->word == 4;
}

static size_t ehdr_size(const struct image *image)
{
    return is_32(image) ? EHDR_SIZE_32 : EHDR_SIZE;
}

static size_t shdr_size(const struct image *image)
{
    return is_32(image) ? SHDR_SIZE_32 : SHDR_SIZE;
}

static size_t phdr_size(const struct image *image)
{
    return is_32(image) ? PHDR_SIZE_32 : PHDR_SIZE;
}

/* Puts VALUE at P. Returns where the next field is. */
static uint8_t *put_field(uint8_t *p, unsigned size, bool big, uint64_t value)
{
    store_number(p, size, big, value);
    return p + size;
}

/* A program header of the image's class at P: that of 64 bits has the flags further in front. */
static void put_phdr(uint8_t *p, const struct image *image, const GElf_Phdr *ph)
{
    const bool big = image->big;
    const unsigned word = is_32(image) ? 4 : 8;

    p = put_field(p, 4, big, ph->p_type);
    if (word == 8)
        p = put_field(p, 4, big, ph->p_flags);
    p = put_field(p, word, big, ph->p_offset);
    p = put_field(p, word, big, ph->p_vaddr);
    p = put_field(p, word, big, ph->p_paddr);
    p = put_field(p, word, big, ph->p_filesz);
    p = put_field(p, word, big, ph->p_memsz);
    if (word == 4)
        p = put_field(p, 4, big, ph->p_flags);
    put_field(p, word, big, ph->p_align);
}

/* ---- In place -------------------------------------------------------------------------------------------------- */

/* The linker's PT_GNU_SFRAME may speak of the objects' tables, which are not in memory. Returns its place in the file,
 * and what it must be in HEADER; or 0, if there is none or it is right. */
static uint64_t find_table_segment(struct image *image, const struct section *section, uint8_t *header)
{
    GElf_Phdr ph, load;
    size_t i, num = 0;

    (void)elf_getphdrnum(image->elf, &num);
    for (i = 0; i < num && gelf_getphdr(image->elf, (int)i, &ph) != NULL; i++) {
        if (ph.p_type != PT_GNU_SFRAME || ph.p_vaddr == section->addr || abi_is_own(image->abi))
            continue;
        if (!image_segment(image, PT_LOAD, false, section->addr, &load))
            return 0;
        ph = (GElf_Phdr){PT_GNU_SFRAME,
                         PF_R,
                         section->offset,
                         section->addr,
                         section->addr - load.p_vaddr + load.p_paddr,
                         section->size,
                         section->size,
                         8};
        put_phdr(header, image, &ph);
        return image->header.e_phoff + i * image->header.e_phentsize;
    }
    return 0;
}

bool output_in_place(struct image *image, const struct section *section, const struct bytes *bytes)
{
    uint64_t offset = section->offset, size = section->size;
    uint64_t type_at = image->header.e_shoff + (uint64_t)section->index * image->header.e_shentsize + 4;
    uint8_t *padded = zeroed((size_t)size, 1), type[4], header[PHDR_SIZE];
    uint64_t header_at = find_table_segment(image, section, header);
    size_t header_size = phdr_size(image);
    bool good, big = image->big;
    int fd;

    memcpy(padded, bytes->data, bytes->size);
    store_number(type, sizeof type, big, image_tables_type(image));
    image_close(image); /* now, because libelf has the file mapped that is going to change */
    fd = open(image->file, O_WRONLY | O_CLOEXEC);
    good = fd >= 0 && overwrite_file(fd, padded, (size_t)size, offset) &&
           overwrite_file(fd, type, sizeof type, type_at) &&
           (header_at == 0 || overwrite_file(fd, header, header_size, header_at));
    if (!good)
        image_fail(image, "cannot be written: %s", strerror(errno));
    if (fd >= 0 && close(fd) != 0 && good)
        good = image_fail(image, "cannot be written: %s", strerror(errno));
    free(padded);
    return good;
}

/* ---- Bytes and text -------------------------------------------------------------------------------------------- */

bool output_file(struct image *image, const char *file, const struct bytes *bytes, mode_t mode)
{
    struct written_file f;

    if (!written_open(&f, file))
        return cannot_write(image, file);
    return close_output(image, &f, write_at(image, &f, bytes->data, bytes->size, 0), mode);
}

bool output_raw(struct image *image, const char *file, const struct bytes *bytes)
{
    return output_file(image, file, bytes, 0666);
}

bool output_asm(struct image *image, const char *file, const struct bytes *bytes)
{
    static const char head[] = "/* Made by sfu-gen. To be linked to the address that it was made for. */\n"
                               "    .section " IMAGE_TABLES ", \"a\", %progbits\n    .balign 8\n";
    size_t lines = bytes->size / 16 + 1, room = sizeof head + lines * (sizeof "    .byte \n" + 16 * 5), at, i;
    char *text = zeroed(room, 1);
    struct written_file f;
    bool good;

    at = (size_t)snprintf(text, room, "%s", head);
    for (i = 0; i < bytes->size; i++) {
        const char *before = i % 16 == 0 ? "    .byte " : ",",
                   *after = i % 16 == 15 || i + 1 == bytes->size ? "\n" : "";

        at += (size_t)snprintf(text + at, room - at, "%s0x%02x%s", before, bytes->data[i], after);
    }
    good = written_open(&f, file) || cannot_write(image, file);
    if (good)
        good = close_output(image, &f, write_at(image, &f, text, at, 0), 0666);
    free(text);
    return good;
}

/* ---- Small ELF files ------------------------------------------------------------------------------------------- */

/* A section header of the image's class at P. */
static void put_output_section(uint8_t *p, const struct image *image, const GElf_Shdr *sh)
{
    const bool big = image->big;
    const unsigned word = is_32(image) ? 4 : 8;

    p = put_field(p, 4, big, sh->sh_name);
    p = put_field(p, 4, big, sh->sh_type);
    p = put_field(p, word, big, sh->sh_flags);
    p = put_field(p, word, big, sh->sh_addr);
    p = put_field(p, word, big, sh->sh_offset);
    p = put_field(p, word, big, sh->sh_size);
    p = put_field(p, 4, big, sh->sh_link);
    p = put_field(p, 4, big, sh->sh_info);
    p = put_field(p, word, big, sh->sh_addralign);
    put_field(p, word, big, sh->sh_entsize);
}

static uint64_t aligned(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

/* The header of the image, for another file with NUM sections whose headers are at OFFSET. */
static void put_elf_header(uint8_t *p, const struct image *image, unsigned type, uint64_t offset, unsigned num)
{
    memcpy(p, image->header.e_ident, EI_NIDENT);
    store_number(p + 16, 2, image->big, type);
    store_number(p + 18, 2, image->big, image->header.e_machine);
    store_number(p + 20, 4, image->big, EV_CURRENT);
    store_number(p + (is_32(image) ? 32 : 40), image->registers->word, image->big, offset);
    p += ehdr_size(image); /* from its end the others have the same distances */
    store_number(p - 16, 4, image->big, image->header.e_flags);
    store_number(p - 12, 2, image->big, ehdr_size(image));
    store_number(p - 6, 2, image->big, shdr_size(image));
    store_number(p - 4, 2, image->big, num);
    store_number(p - 2, 2, image->big, num - 1);
}

/* Sections: none, the build ID, the tables, the names. */
bool output_elf(struct image *image, const char *file, const struct bytes *bytes, bool object)
{
    static const char names[] = "\0.note.gnu.build-id\0.sframe\0" IMAGE_TABLES "\0.shstrtab";
    struct section *note = object ? NULL : image_section(image, ".note.gnu.build-id");
    uint64_t note_size = note != NULL && image_load(image, note) ? note->size : 0;
    bool own_name = object || abi_is_own(image->abi); /* IMAGE_TABLES, not .sframe */
    uint64_t note_at = ehdr_size(image), tables_at = aligned(note_at + note_size, 8);
    uint64_t names_at = tables_at + bytes->size, headers_at = aligned(names_at + sizeof names, 8);
    uint64_t size = headers_at + 4 * shdr_size(image);
    GElf_Shdr sh = {1, SHT_NOTE, SHF_ALLOC, 0, note_at, note_size, 0, 0, 4, 0};
    uint8_t *p = zeroed((size_t)size, 1), *headers = p + headers_at;
    struct bytes all = {p, (size_t)size, 0, 0};
    bool good;

    put_elf_header(p, image, object ? ET_REL : ET_DYN, headers_at, 4);
    if (note_size > 0)
        memcpy(p + note_at, note->bytes, (size_t)note_size);
    else
        sh.sh_type = SHT_NULL, sh.sh_name = 0, sh.sh_flags = 0, sh.sh_offset = 0, sh.sh_addralign = 0;
    put_output_section(headers + shdr_size(image), image, &sh);
    sh = (GElf_Shdr){
        own_name ? 28 : 20, own_name ? SHT_PROGBITS : SHT_SFRAME, SHF_ALLOC, 0, tables_at, bytes->size, 0, 0, 8, 0};
    memcpy(p + tables_at, bytes->data, bytes->size);
    put_output_section(headers + 2 * shdr_size(image), image, &sh);
    sh = (GElf_Shdr){sizeof names - sizeof ".shstrtab", SHT_STRTAB, 0, 0, names_at, sizeof names, 0, 0, 1, 0};
    memcpy(p + names_at, names, sizeof names);
    put_output_section(headers + 3 * shdr_size(image), image, &sh);
    good = output_raw(image, file, &all);
    free(p);
    return good;
}

/* ---- A copy with one more segment ------------------------------------------------------------------------------ */

/* What the segments of an image take. */
struct extent {
    uint64_t low, delta; /* the lowest address, and its distance from its place in the file */
    uint64_t end, load;  /* the highest end, and the distance from there to where the segment is loaded (p_paddr) */
    uint64_t align;
    size_t num, loaded; /* num: of the headers that stay */
};

/* Looks at program header INDEX. */
static bool add_extent(struct image *image, size_t index, uint64_t file_size, struct extent *x)
{
    GElf_Phdr ph;

    /* GNU ld places a segment of .bss alone beyond the end of the file. */
    if (gelf_getphdr(image->elf, (int)index, &ph) == NULL || ph.p_vaddr > UINT64_MAX - ph.p_memsz ||
        (ph.p_filesz > 0 && ph.p_offset > file_size) || ph.p_align > UINT32_MAX)
        return image_fail(image, "program header %zu is corrupt", index);
    x->num += ph.p_type != PT_PHDR && ph.p_type != PT_GNU_SFRAME;
    if (ph.p_type != PT_LOAD)
        return true;
    if (x->loaded++ == 0 || ph.p_vaddr < x->low) {
        x->low = ph.p_vaddr;
        x->delta = ph.p_vaddr - ph.p_offset;
    }
    if (ph.p_vaddr + ph.p_memsz >= x->end) {
        x->end = ph.p_vaddr + ph.p_memsz;
        x->load = ph.p_paddr - ph.p_vaddr;
    }
    x->align = ph.p_align > x->align ? ph.p_align : x->align;
    return true;
}

/* The program headers move to the new segment, because there is no room for more where they are. Programs find them by
 * the distance from the start of the file, which must be that from the start of memory: loaders depend on it. PT_PHDR
 * says where they were linked to: without it a program takes them to be behind the ELF header. */
bool append_plan(struct image *image, struct append *append)
{
    struct extent x = {0, 0, 0, 0, 4096, 0, 0};
    size_t i, num, file_size;

    if (elf_getphdrnum(image->elf, &num) != 0 || num == 0 || image->header.e_phentsize != phdr_size(image))
        return image_fail(image, "no program headers, to which a segment could be added");
    /* Numbers from 0xff00 on have another meaning in an ELF header. */
    if (num > 60000 || image->num_sections > 60000 || elf_rawfile(image->elf, &file_size) == NULL)
        return image_fail(image, "too many headers");
    for (i = 0; i < num; i++)
        if (!add_extent(image, i, file_size, &x))
            return false;
    if (x.loaded == 0)
        return image_fail(image, "no loaded segment");
    /* memory may begin below its place in the file: modulo 2^64 this is the place of its end there */
    if (x.end - x.delta > file_size + (1u << 30))
        return image_fail(image, "no place for a segment: its memory is too far from its file");
    append->num_headers = x.num + (abi_is_own(image->abi) ? 2 : 3);
    append->offset = aligned(x.end - x.delta > file_size ? x.end - x.delta : file_size, x.align);
    append->vaddr = append->offset + x.delta;
    append->paddr = append->vaddr + x.load;
    append->section = append->vaddr + append->num_headers * phdr_size(image);
    if (append->section < x.end || (is_32(image) && append->section > UINT32_MAX))
        return image_fail(image, "no place for a segment: its memory ends where the address space does");
    return true;
}

/* The program headers of the copy at P: first PT_PHDR; the new segment behind the last one that is loaded; at the end
 * that of the tables, unless they are not SFrame's. */
static void put_phdrs(struct image *image, const struct append *a, const struct bytes *bytes, uint8_t *p)
{
    uint64_t at = a->section - a->vaddr, size = at + bytes->size, align = 4096;
    size_t i, num = 0, last = 0, put = 0;
    GElf_Phdr ph = {PT_PHDR, PF_R, a->offset, a->vaddr, a->paddr, at, at, 8};

    (void)elf_getphdrnum(image->elf, &num);
    put_phdr(p + phdr_size(image) * put++, image, &ph);
    for (i = 0; i < num && gelf_getphdr(image->elf, (int)i, &ph) != NULL; i++) {
        if (ph.p_type == PT_LOAD) {
            last = i;
            align = ph.p_align > align ? ph.p_align : align;
        }
    }
    for (i = 0; i < num && gelf_getphdr(image->elf, (int)i, &ph) != NULL; i++) {
        if (ph.p_type != PT_PHDR && ph.p_type != PT_GNU_SFRAME)
            put_phdr(p + phdr_size(image) * put++, image, &ph);
        if (i != last)
            continue;
        ph = (GElf_Phdr){PT_LOAD, PF_R, a->offset, a->vaddr, a->paddr, size, size, align};
        put_phdr(p + phdr_size(image) * put++, image, &ph);
    }
    if (abi_is_own(image->abi))
        return;
    ph = (GElf_Phdr){PT_GNU_SFRAME, PF_R, a->offset + at, a->section, a->paddr + at, bytes->size, bytes->size, 8};
    put_phdr(p + phdr_size(image) * put, image, &ph);
}

/* The section headers of the copy, at AT in it: those of the image, and one for the tables, whose name is behind them.
 * Those of tables that were there before lose their name and type, so that readers find these alone. */
static struct bytes make_sections(struct image *image, const struct append *a, const struct bytes *bytes,
                                  uint64_t at)
{
    const char *name = image_tables_name(image);
    size_t names, num = image->num_sections + 1, i, names_size = 0, header = shdr_size(image);
    struct bytes result = {NULL, 0, num + 1, 0};
    const uint8_t *old_names = NULL;
    GElf_Shdr sh;

    if (elf_getshdrstrndx(image->elf, &names) == 0 && names > 0 && names <= image->num_sections &&
        image_load(image, &image->sections[names - 1])) {
        old_names = image->sections[names - 1].bytes;
        names_size = (size_t)image->sections[names - 1].size;
    }
    result.size = (num + 1) * header + names_size + strlen(name) + 1;
    result.data = zeroed(result.size, 1);
    for (i = 1; i < num && gelf_getshdr(elf_getscn(image->elf, i), &sh) != NULL; i++) {
        if (i == names) {
            sh.sh_offset = at + (num + 1) * header;
            sh.sh_size = names_size + strlen(name) + 1;
        }
        if (strcmp(image->sections[i - 1].name, ".sframe") == 0 ||
            strcmp(image->sections[i - 1].name, IMAGE_TABLES) == 0)
            sh.sh_type = SHT_PROGBITS, sh.sh_name = 0;
        put_output_section(result.data + i * header, image, &sh);
    }
    sh = (GElf_Shdr){(uint32_t)names_size,
                     image_tables_type(image),
                     SHF_ALLOC,
                     a->section,
                     a->offset + (a->section - a->vaddr),
                     bytes->size,
                     0,
                     0,
                     8,
                     0};
    put_output_section(result.data + num * header, image, &sh);
    if (names_size > 0)
        memcpy(result.data + (num + 1) * header, old_names, names_size);
    memcpy(result.data + (num + 1) * header + names_size, name, strlen(name) + 1);
    return result;
}

bool output_appended(struct image *image, const char *file, const struct append *append, const struct bytes *bytes)
{
    size_t file_size, head_size = (size_t)(append->section - append->vaddr);
    const char *old = elf_rawfile(image->elf, &file_size);
    uint64_t sections_at = aligned(append->offset + head_size + bytes->size, 8);
    uint8_t header[EHDR_SIZE], *head = zeroed(head_size, 1), *counts = header + ehdr_size(image);
    size_t header_size = ehdr_size(image), word = image->registers->word;
    struct bytes sections = make_sections(image, append, bytes, sections_at);
    struct stat status;
    struct written_file f;
    bool good;

    put_phdrs(image, append, bytes, head);
    memcpy(header, old, header_size);
    store_number(header + 24 + word, (unsigned)word, image->big, append->offset);
    store_number(header + 24 + 2 * word, (unsigned)word, image->big, sections_at);
    store_number(counts - 8, 2, image->big, append->num_headers);
    store_number(counts - 4, 2, image->big, sections.num_fdes);
    good = fstat(image->fd, &status) == 0 && (written_open(&f, file) || cannot_write(image, file));
    if (good && f.temporary == NULL) {
        (void)written_close(&f, false, 0);
        good = image_fail(image, "%s: only a file can be written", file);
    } else if (good) {
        good = write_at(image, &f, header, header_size, 0) &&
               write_at(image, &f, old + header_size, file_size - header_size, header_size) &&
               write_at(image, &f, head, head_size, append->offset) &&
               write_at(image, &f, bytes->data, bytes->size, append->offset + head_size) &&
               write_at(image, &f, sections.data, sections.size, sections_at);
        good = close_output(image, &f, good, status.st_mode | 0200);
    }
    free(head);
    free(sections.data);
    return good;
}
