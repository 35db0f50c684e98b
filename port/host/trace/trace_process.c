/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "trace_process.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_MAPS = 4096, MAX_NAME = 4096, MAX_VDSO = 1 << 20 };

static const struct registers *process_registers(const struct trace_process *process)
{
    return abi_registers(process->notes->abi);
}

/* The word at ADDR of the process: 8 bytes, or 4. */
static bool read_process_word(const struct trace_process *process, uint64_t addr, uint64_t *value)
{
    const unsigned word = process_registers(process)->word;
    uint8_t bytes[8];

    if (addr > UINT64_MAX - sizeof bytes || !process->read(process->ctx, addr, bytes, word))
        return false;
    *value = load_number(bytes, word, process_registers(process)->big);
    return true;
}

/* The address that OFFSET of the file was linked to, by the segment that has it. */
static bool linked_at(const struct trace_image *image, uint64_t offset, uint64_t *addr)
{
    size_t num, i;
    GElf_Phdr p;

    if (elf_getphdrnum(image->image.elf, &num) != 0)
        return false;
    for (i = 0; i < num && gelf_getphdr(image->image.elf, (int)i, &p) != NULL; i++) {
        if (p.p_type == PT_LOAD && offset >= p.p_offset && offset - p.p_offset < p.p_filesz) {
            *addr = p.p_vaddr + (offset - p.p_offset);
            return true;
        }
    }
    return false;
}

/* The image NAME, as the process called it: of the command line, or below the system's root. */
static struct trace_image *open_by_name(const struct trace_process *process, const char *name)
{
    struct trace_image *image = images_by_name(&process->options->images, name);
    const char *root = process->options->sysroot != NULL ? process->options->sysroot : "";
    size_t room = strlen(root) + strlen(name) + 1;
    char *file, error[300];

    if (image != NULL)
        return image->placed ? NULL : image;
    file = zeroed(room, 1);
    (void)snprintf(file, room, "%s%s", root, name);
    image = images_add(&process->options->images, file, error, sizeof error);
    if (image == NULL)
        report_note("%s: %s: frames in it are lost", file, error);
    free(file);
    return image;
}

/* Whether what lies at ADDR may be an ELF file's start: it is, or is not in what is known of its memory. */
static bool may_be_image(const struct trace_process *process, uint64_t addr)
{
    uint8_t magic[4];

    return !process->read(process->ctx, addr, magic, sizeof magic) || memcmp(magic, "\177ELF", 4) == 0;
}

/* By the list of mapped files, which the kernel and gdb write. */
static void place_by_files(const struct trace_process *process)
{
    size_t i;
    uint64_t addr;

    for (i = 0; i < process->notes->num_files; i++) {
        const struct core_file *f = &process->notes->files[i];
        struct trace_image *image;

        if (f->offset != 0 || f->name[0] != '/' || !may_be_image(process, f->start))
            continue;
        image = open_by_name(process, f->name);
        if (image != NULL && linked_at(image, 0, &addr))
            image_place(image, f->start - addr);
    }
}

/* The program, by its headers' place: the first image that has not been placed. */
static struct trace_image *place_program(const struct trace_process *process)
{
    const struct trace_images *images = &process->options->images;
    size_t i;
    uint64_t addr;

    for (i = 0; i < images->num; i++) {
        struct trace_image *image = images->list[i];

        if (image->placed)
            continue;
        if (process->notes->phdr != 0 && linked_at(image, image->image.header.e_phoff, &addr))
            image_place(image, process->notes->phdr - addr);
        else
            image_place(image, process->options->slide);
        return image;
    }
    return NULL;
}

/* Where the dynamic linker's list begins: DT_DEBUG of the program leads to struct r_debug. */
static uint64_t find_link_map(const struct trace_process *process, const struct trace_image *program)
{
    size_t num, i;
    GElf_Phdr p;
    uint64_t tag, value, at, end, map, word = process_registers(process)->word;

    if (elf_getphdrnum(program->image.elf, &num) != 0)
        return 0;
    for (i = 0; i < num && gelf_getphdr(program->image.elf, (int)i, &p) != NULL; i++) {
        if (p.p_type != PT_DYNAMIC)
            continue;
        at = p.p_vaddr + program->slide;
        end = at + (p.p_memsz < 65536 ? p.p_memsz : 65536);
        for (; at < end && read_process_word(process, at, &tag) && tag != DT_NULL; at += 2 * word)
            if (tag == DT_DEBUG && read_process_word(process, at + word, &value) && value != 0 &&
                value < UINT64_MAX - word)
                return read_process_word(process, value + word, &map) ? map : 0;
    }
    return 0;
}

static void read_process_name(const struct trace_process *process, uint64_t addr, char *name, size_t room)
{
    size_t n;

    for (n = 0; n + 1 < room; n++)
        if (addr > UINT64_MAX - n || !process->read(process->ctx, addr + n, &name[n], 1) || name[n] == '\0')
            break;
    name[n] = '\0';
}

/* By the dynamic linker's list: struct link_map is address, name, dynamic section, next, previous. All of them are
 * read,
 * because a core that is written of a stub has what has been read, and debuggers read all of them. */
static void place_by_link_map(const struct trace_process *process, uint64_t map)
{
    uint64_t addr, name_at, previous, word = process_registers(process)->word;
    char name[MAX_NAME];
    unsigned i;

    for (i = 0; i < MAX_MAPS && map != 0 && map < UINT64_MAX - 32; i++) {
        struct trace_image *image;

        if (!read_process_word(process, map, &addr) || !read_process_word(process, map + word, &name_at) ||
            !read_process_word(process, map + 4 * word, &previous))
            return;
        read_process_name(process, name_at, name, sizeof name);
        image = name[0] == '/' ? open_by_name(process, name) : NULL;
        if (image != NULL)
            image_place(image, addr);
        if (!read_process_word(process, map + 3 * word, &map))
            return;
    }
}

static bool is_placed_at(const struct trace_images *images, uint64_t start)
{
    uint64_t addr;
    size_t i;

    for (i = 0; i < images->num; i++)
        if (images->list[i]->placed && linked_at(images->list[i], 0, &addr) &&
            addr + images->list[i]->slide == start)
            return true;
    return false;
}

/* The dynamic linker, where its list does not have it yet: a process begins in it. PROGRAM says its name. */
static void place_linker(const struct trace_process *process, const struct trace_image *program)
{
    uint64_t addr, base = process->notes->base;
    struct trace_image *image = NULL;
    char name[MAX_NAME] = "";
    size_t num, i;
    GElf_Phdr p;

    if (base == 0 || is_placed_at(&process->options->images, base) || elf_getphdrnum(program->image.elf, &num) != 0)
        return;
    for (i = 0; i < num && gelf_getphdr(program->image.elf, (int)i, &p) != NULL; i++)
        if (p.p_type == PT_INTERP)
            read_process_name(process, p.p_vaddr + program->slide, name, sizeof name);
    if (name[0] == '/')
        image = open_by_name(process, name);
    if (image != NULL && linked_at(image, 0, &addr))
        image_place(image, base - addr);
}

/* Stubs give as much as a block at once. */
static bool read_all(const struct trace_process *process, uint64_t addr, uint8_t *bytes, uint64_t size)
{
    enum { STEP = 256 };
    uint64_t at, step;

    for (at = 0; at < size; at += step) {
        step = STEP - (addr + at) % STEP;
        step = step < size - at ? step : size - at;
        if (addr > UINT64_MAX - size || !process->read(process->ctx, addr + at, bytes + at, (size_t)step))
            return false;
    }
    return true;
}

/* The kernel's own image in a process is whole in memory. */
static void place_vdso(const struct trace_process *process)
{
    const struct registers *r = process_registers(process);
    const bool wide = r->word == 8;
    uint8_t header[64], *bytes;
    struct trace_image *image = NULL;
    char name[64], error[300];
    uint64_t size, addr;
    int fd;

    if (process->notes->vdso == 0 || !process->read(process->ctx, process->notes->vdso, header, sizeof header))
        return;
    size = load_number(header + (wide ? 40 : 32), r->word, r->big); /* the section headers are its end */
    if (size > MAX_VDSO)
        return;
    size += (wide ? 64u : 40u) * load_number(header + (wide ? 60 : 48), 2, r->big);
    bytes = zeroed((size_t)size, 1);
    fd = memfd_create("vdso", MFD_CLOEXEC);
    if (fd >= 0 && read_all(process, process->notes->vdso, bytes, size) &&
        write(fd, bytes, (size_t)size) == (ssize_t)size) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        image = images_add(&process->options->images, name, error, sizeof error);
    }
    if (image != NULL && linked_at(image, 0, &addr))
        image_place(image, process->notes->vdso - addr);
    if (image != NULL)
        image->name = "vdso";
    if (fd >= 0)
        close(fd);
    free(bytes);
}

void process_place(const struct trace_process *process)
{
    struct trace_image *program;

    place_by_files(process);
    program = place_program(process);
    if (program != NULL && process->notes->num_files == 0) {
        place_by_link_map(process, find_link_map(process, program));
        place_linker(process, program);
    }
    place_vdso(process);
}
