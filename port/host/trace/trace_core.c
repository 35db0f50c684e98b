/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu-trace --core: what has been kept of a process or a machine. */
#include "trace.h"
#include "trace_machine.h"
#include "trace_threads.h"
#include "trace_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_MAPS = 4096, MAX_NAME = 4096, MAX_VDSO = 1 << 20 };

/* ---- Core ------------------------------------------------------------------------------------------------------ */

/* Takes segments and notes as far as they are in the file, which may be cut. */
static void read_segments(struct core *core)
{
    size_t file_size, num, i;
    const uint8_t *file = (const uint8_t *)elf_rawfile(core->image.elf, &file_size);
    bool cut = false;
    GElf_Phdr p;

    if (file == NULL || elf_getphdrnum(core->image.elf, &num) != 0)
        report_fail("%s: bad program headers", core->file);
    for (i = 0; i < num; i++) {
        uint64_t size;

        if (gelf_getphdr(core->image.elf, (int)i, &p) == NULL)
            report_fail("%s: bad program headers", core->file);
        if (p.p_type != PT_LOAD && p.p_type != PT_NOTE)
            continue;
        size = p.p_offset >= file_size               ? 0
               : p.p_filesz < file_size - p.p_offset ? p.p_filesz
                                                     : file_size - p.p_offset;
        cut = cut || size < p.p_filesz;
        if (p.p_type == PT_NOTE && !notes_read(&core->notes, file + (size > 0 ? p.p_offset : 0), size))
            report_fail("%s: broken notes", core->file);
        if (p.p_type == PT_LOAD && size > 0)
            memory_add(&core->memory, p.p_vaddr, p.p_paddr, file + p.p_offset, size);
        core->memory.machine = core->memory.machine || (p.p_type == PT_LOAD && p.p_paddr != 0);
    }
    if (cut)
        report_note("%s: it is cut: some of its memory is missing", core->file);
    if (core->notes.num_threads == 0)
        report_fail("%s: no registers of any thread", core->file);
    core->memory.machine = core->memory.machine || core->notes.threads[0].control.has_x86_64 ||
                           core->notes.threads[0].control.has_s390x || core->notes.vmcoreinfo != NULL;
}

/* The word at ADDR of the process: 8 bytes, or 4. */
static bool read_word(const struct core *core, uint64_t addr, uint64_t *value)
{
    const unsigned word = core->image.registers->word;
    uint8_t bytes[8];

    if (addr > UINT64_MAX - sizeof bytes || !memory_read((void *)&core->memory, addr, bytes, word))
        return false;
    *value = load_number(bytes, word, core->image.big);
    return true;
}

/* ---- Images of a process --------------------------------------------------------------------------------------- */

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
static struct trace_image *open_by_name(const struct core *core, const char *name)
{
    struct trace_image *image = images_by_name(&core->options->images, name);
    const char *root = core->options->sysroot != NULL ? core->options->sysroot : "";
    size_t room = strlen(root) + strlen(name) + 1;
    char *file, error[300];

    if (image != NULL)
        return image->placed ? NULL : image;
    file = zeroed(room, 1);
    (void)snprintf(file, room, "%s%s", root, name);
    image = images_add(&core->options->images, file, error, sizeof error);
    if (image == NULL)
        report_note("%s: %s: frames in it are lost", file, error);
    free(file);
    return image;
}

/* Whether what lies at ADDR may be an ELF file's start: it is, or is not in the core. */
static bool may_be_image(const struct core *core, uint64_t addr)
{
    uint8_t magic[4];

    return !memory_read((void *)&core->memory, addr, magic, sizeof magic) || memcmp(magic, "\177ELF", 4) == 0;
}

/* By the list of mapped files, which the kernel and gdb write. */
static void place_by_files(const struct core *core)
{
    size_t i;
    uint64_t addr;

    for (i = 0; i < core->notes.num_files; i++) {
        const struct core_file *f = &core->notes.files[i];
        struct trace_image *image;

        if (f->offset != 0 || f->name[0] != '/' || !may_be_image(core, f->start))
            continue;
        image = open_by_name(core, f->name);
        if (image != NULL && linked_at(image, 0, &addr))
            image_place(image, f->start - addr);
    }
}

/* The program, by its headers' place: the first image that has not been placed. */
static struct trace_image *place_program(const struct core *core)
{
    const struct trace_images *images = &core->options->images;
    size_t i;
    uint64_t addr;

    for (i = 0; i < images->num; i++) {
        struct trace_image *image = images->list[i];

        if (image->placed)
            continue;
        if (core->notes.phdr != 0 && linked_at(image, image->image.header.e_phoff, &addr))
            image_place(image, core->notes.phdr - addr);
        else
            image_place(image, core->options->slide);
        return image;
    }
    return NULL;
}

/* Where the dynamic linker's list begins: DT_DEBUG of the program leads to struct r_debug. */
static uint64_t find_link_map(const struct core *core, const struct trace_image *program)
{
    size_t num, i;
    GElf_Phdr p;
    uint64_t tag, value, at, end, map, word = core->image.registers->word;

    if (elf_getphdrnum(program->image.elf, &num) != 0)
        return 0;
    for (i = 0; i < num && gelf_getphdr(program->image.elf, (int)i, &p) != NULL; i++) {
        if (p.p_type != PT_DYNAMIC)
            continue;
        at = p.p_vaddr + program->slide;
        end = at + (p.p_memsz < 65536 ? p.p_memsz : 65536);
        for (; at < end && read_word(core, at, &tag) && tag != DT_NULL; at += 2 * word)
            if (tag == DT_DEBUG && read_word(core, at + word, &value) && value != 0 && value < UINT64_MAX - word)
                return read_word(core, value + word, &map) ? map : 0;
    }
    return 0;
}

static void read_name(const struct core *core, uint64_t addr, char *name, size_t room)
{
    size_t n;

    for (n = 0; n + 1 < room; n++)
        if (addr > UINT64_MAX - n || !memory_read((void *)&core->memory, addr + n, &name[n], 1) || name[n] == '\0')
            break;
    name[n] = '\0';
}

/* By the dynamic linker's list: struct link_map is address, name, dynamic section, next. */
static void place_by_link_map(const struct core *core, uint64_t map)
{
    uint64_t addr, name_at, word = core->image.registers->word;
    char name[MAX_NAME];
    unsigned i;

    for (i = 0; i < MAX_MAPS && map != 0 && map < UINT64_MAX - 32; i++) {
        struct trace_image *image;

        if (!read_word(core, map, &addr) || !read_word(core, map + word, &name_at))
            return;
        read_name(core, name_at, name, sizeof name);
        image = name[0] == '/' ? open_by_name(core, name) : NULL;
        if (image != NULL)
            image_place(image, addr);
        if (!read_word(core, map + 3 * word, &map))
            return;
    }
}

/* The kernel's own image in a process is whole in memory. */
static void place_vdso(const struct core *core)
{
    uint8_t header[64], *bytes;
    struct trace_image *image = NULL;
    char name[64], error[300];
    uint64_t size, addr;
    int fd;

    if (core->notes.vdso == 0 || !memory_read((void *)&core->memory, core->notes.vdso, header, sizeof header))
        return;
    size = load_number(header + 40, 8, core->image.big);
    if (size > MAX_VDSO)
        return;
    size += 64 * load_number(header + 60, 2, core->image.big);
    bytes = zeroed((size_t)size, 1);
    fd = memfd_create("vdso", MFD_CLOEXEC);
    if (fd >= 0 && memory_read((void *)&core->memory, core->notes.vdso, bytes, (size_t)size) &&
        write(fd, bytes, (size_t)size) == (ssize_t)size) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        image = images_add(&core->options->images, name, error, sizeof error);
    }
    if (image != NULL && linked_at(image, 0, &addr))
        image_place(image, core->notes.vdso - addr);
    if (image != NULL)
        image->name = "vdso";
    if (fd >= 0)
        close(fd);
    free(bytes);
}

static void place_images(struct core *core)
{
    struct trace_images *images = &core->options->images;
    struct trace_image *program;
    size_t i;

    images->abi = core->image.abi;
    if (core->memory.machine) {
        machine_place(core);
        return;
    }
    place_by_files(core);
    program = place_program(core);
    if (program != NULL && core->notes.num_files == 0)
        place_by_link_map(core, find_link_map(core, program));
    place_vdso(core);
    for (i = 0; i < images->num; i++)
        if (!images->list[i]->placed)
            report_note("%s: not in this core", images->list[i]->file);
}

/* ---- Threads --------------------------------------------------------------------------------------------------- */

static void print_threads(struct core *core)
{
    const struct trace_out out = {stdout, "", "\n"};
    struct kernel_threads threads;
    struct trace_space space;
    size_t i;

    trace_space_init(&space, core->options, core->image.abi);
    space.read = memory_read;
    space.ctx = &core->memory;
    if (core->options->red_zone < 0 && !core->memory.machine && core->image.registers->red_zone > 0)
        space.red_zone = core->image.registers->red_zone;
    if (space.pac_mask == 0)
        space.pac_mask = core->notes.pac_mask;
    space.machine = core->memory.machine;
    space.in_user = &core->memory.in_user;
    if (core->memory.machine) {
        machine_set_paging(core);
        machine_choose(core, 0);
    }
    images_verify(&core->options->images, &space);
    for (i = 0; i < core->notes.num_threads; i++) {
        const struct core_thread *thread = &core->notes.threads[i];

        if (core->memory.machine)
            out_line(&out, "%sCPU %zu", i > 0 ? "\n" : "", i);
        else
            out_line(&out, "%sthread %zu (%" PRIu32 ")", i > 0 ? "\n" : "", i + 1, thread->id);
        space.regs = thread->regs;
        if (core->memory.machine)
            machine_choose(core, i);
        (void)walk_print(&out, &space, SFU_PC_EXACT);
        if (core->memory.machine)
            machine_explain(core, i, &out);
    }
    if (core->memory.machine)
        machine_choose(core, 0);
    threads_print(&out, &space, core->options->threads, i, &threads);
    write_add_threads(&core->notes.threads, &core->notes.num_threads, &threads);
    free(threads.list);
}

/* CPUs may have page tables of their own. */
static void write_again(struct core *core)
{
    struct written w = {
        .abi = core->image.abi, .threads = core->notes.threads, .num_threads = core->notes.num_threads};
    struct paging first;
    size_t i;

    w.blocks = core->memory.segments;
    w.num_blocks = core->memory.num;
    write_set_image(&w, &core->options->images);
    if (core->memory.machine)
        machine_choose(core, 0);
    first = core->memory.paging;
    write_add_memory(&w, &core->memory);
    for (i = 1; i < w.num_threads && core->memory.machine; i++) {
        machine_choose(core, i);
        if (core->memory.paging.kind != first.kind || core->memory.paging.root != first.root)
            write_add_memory(&w, &core->memory);
    }
    write_core(&w, core->options->written);
    free(w.pieces);
}

/* What a dump may be that is no ELF file, and what to do. */
static const struct {
    const char *begin, *what;
} formats[] = {
    {"KDUMP   ",
     "a compressed dump of kdump, but an ELF core is needed: QEMU's dump-guest-memory without -z, -l, -s"},
    {"makedumpfile", "a dump of makedumpfile, but an ELF core is needed: makedumpfile -E"},
    {"\037\213", "compressed by gzip: uncompress it first"},
    {"\3757zXZ", "compressed by xz: uncompress it first"},
    {"\050\265\057\375", "compressed by zstd: uncompress it first, or coredumpctl dump"},
    {"\004\042\115\030", "compressed by lz4: uncompress it first, or coredumpctl dump"},
};

/* Or NULL. */
static const char *other_format(const char *file)
{
    char bytes[16] = "";
    FILE *f = fopen(file, "rb");
    size_t size = f != NULL ? fread(bytes, 1, sizeof bytes, f) : 0, i;

    if (f != NULL)
        fclose(f);
    for (i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (size == sizeof bytes && memcmp(bytes, formats[i].begin, strlen(formats[i].begin)) == 0)
            return formats[i].what;
    return NULL;
}

void trace_core(struct trace_options *options, const char *file)
{
    const char *other;

    struct core core;
    const struct trace_images *images = &options->images;

    memset(&core, 0, sizeof core);
    core.file = file;
    core.options = options;
    if (!image_open(&core.image, file)) {
        other = other_format(file);
        report_fail("%s: %s", file, other != NULL ? other : core.image.error);
    }
    if (core.image.header.e_type != ET_CORE)
        report_fail("%s: not a core, but an ELF file of another kind: images come behind the options", file);
    if (images->num > 0 && images->list[0]->image.abi != core.image.abi)
        report_fail("%s: a core of %s, but %s is for %s", file, abi_name(core.image.abi), images->list[0]->name,
                    abi_name(images->list[0]->image.abi));
    core.notes.abi = core.image.abi;
    read_segments(&core);
    if (core.memory.machine && images->num == 0)
        report_fail("%s: the core of a machine, but no image: name its kernel", file);
    if (!core.memory.machine && (options->has_page_table || options->has_user_table))
        report_fail(
            "%s: its addresses are virtual, as in the core of a process: leave out --page-table and --user-table",
            file);
    place_images(&core);
    print_threads(&core);
    if (options->written != NULL)
        write_again(&core);
    free(core.memory.segments);
    notes_free(&core.notes);
    image_close(&core.image);
}
