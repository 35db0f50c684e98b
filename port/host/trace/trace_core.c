/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu-trace --core: what has been kept of a process or a machine. */
#include "code/code.h"
#include "trace.h"
#include "trace_machine.h"
#include "trace_process.h"
#include "trace_threads.h"
#include "trace_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Core ------------------------------------------------------------------------------------------------------ */

/* Takes segments and notes as far as they are in the file, which may be cut. */
static void read_segments(struct core *core)
{
    size_t file_size, num, i;
    uint64_t notes = 0; /* bytes */
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
        notes += p.p_type == PT_NOTE ? size : 0;
        if (notes > file_size)
            report_fail("%s: its notes overlap", core->file);
        if (p.p_type == PT_NOTE && !notes_read(&core->notes, file + (size > 0 ? p.p_offset : 0), size))
            report_fail("%s: broken notes", core->file);
        if (p.p_type == PT_LOAD && size > 0)
            memory_add(&core->memory, p.p_vaddr, p.p_paddr, file + p.p_offset, size);
        if (p.p_type == PT_LOAD && p.p_memsz > size)
            memory_leave_out(&core->memory, p.p_vaddr + size, p.p_paddr + size, p.p_memsz - size);
        /* That of a process has no physical addresses: Linux and gdb write 0. */
        core->memory.machine = core->memory.machine || (p.p_type == PT_LOAD && p.p_paddr != 0);
    }
    if (cut)
        report_note("%s: it is cut: some of its memory is missing", core->file);
    if (core->notes.num_threads == 0)
        report_fail("%s: no registers of any thread", core->file);
    core->memory.machine = core->memory.machine || core->notes.threads[0].control.has_x86_64 ||
                           core->notes.threads[0].control.has_s390x || core->notes.vmcoreinfo != NULL;
}

static void place_core_images(struct core *core)
{
    const struct trace_process process = {core->options, &core->notes, memory_read, &core->memory};
    struct trace_images *images = &core->options->images;
    size_t i;

    images->abi = core->image.abi;
    if (core->memory.machine) {
        machine_place(core);
        return;
    }
    process_place(&process);
    for (i = 0; i < images->num; i++)
        if (!images->list[i]->placed)
            report_note("%s: not in this core", images->list[i]->file);
}

/* ---- Threads --------------------------------------------------------------------------------------------------- */

/* Whether an instruction of IMAGE may start at ADDR: the last byte of an operand may look like int3. The instructions
 * from the start of the function on say so, one behind the other, as far as they are known. */
static bool may_start_at(struct trace_image *image, uint64_t addr)
{
    const struct code_cpu *cpu = code_cpu(&image->image);
    const struct symbol *function = image_is_object(image) ? NULL : image_symbol(&image->image, addr);
    struct code_text text;
    struct code_fact fact;
    void *decoder;
    uint64_t at;

    if (cpu == NULL || function == NULL || !function->function || addr - function->addr > 1 << 20)
        return true;
    text = (struct code_text){image_instructions(&image->image, function->addr, addr + 1 - function->addr),
                              function->addr, addr + 1};
    if (text.bytes == NULL)
        return true;
    decoder = cpu->open != NULL ? cpu->open(&image->image) : NULL;
    for (at = text.start; at < addr; at += fact.size) {
        memset(&fact, 0, sizeof fact);
        cpu->decode(decoder, &text, at, &fact);
        if (fact.size == 0)
            break;
    }
    if (cpu->close != NULL)
        cpu->close(decoder);
    return at <= addr;
}

/* Whether the instruction that ends before PC is x86's int3 (0xcc, or 0xcd 3), as far as that is known. A debugger
 * has put the PC back to the place of its own breakpoint, and what it writes is the program's own code. Behind a
 * breakpoint of the program it has left the PC; but at the start of a function it is rather its own, because linkers
 * fill the space between functions with 0xcc. */
static bool is_behind_int3(const struct core *core, struct trace_space *space, uint64_t pc)
{
    struct trace_image *image = images_at(&core->options->images, pc);
    uint8_t bytes[2];
    uint64_t offset;

    if (pc < sizeof bytes || !space_read(space, pc - sizeof bytes, bytes, sizeof bytes))
        return !core->notes.by_debugger;
    if (bytes[1] != 0xcc && (bytes[0] != 0xcd || bytes[1] != 3))
        return false;
    if (image != NULL && !may_start_at(image, pc - image->slide - (bytes[1] == 0xcc ? 1 : 2)))
        return false;
    return !core->notes.by_debugger || image == NULL || symbols_name(image, pc - image->slide, &offset) == NULL ||
           offset > 0;
}

/* Puts the PC of THREAD back to the breakpoint of the program that has stopped it. */
static void put_back(const struct core *core, struct trace_space *space, struct core_thread *thread)
{
    uint64_t *pc = &thread->regs.value[REGISTER_PC];

    if (thread->passed > 0 &&
        ((space->abi != SFU_AMD64 && space->abi != SFU_I386) || is_behind_int3(core, space, *pc)))
        *pc -= thread->passed;
    thread->passed = 0;
}

/* The PC of a thread that got SIGNAL, of which the core says no more, may lie behind the instruction that made it. */
static void step_back(const struct trace_out *out, struct trace_space *space, unsigned signal)
{
    uint64_t *pc = &space->regs.value[REGISTER_PC], passed = linux_passed_unsure(space, signal, *pc);

    *pc -= passed;
    if (passed > 0)
        out_line(out, "    signal %u, and no note NT_SIGINFO: the instruction is taken to lie before the PC",
                 signal);
}

static void print_threads(struct core *core)
{
    const struct trace_out out = {stdout, "", "\n", NULL, NULL};
    struct trace_frames seen = {NULL, 0};
    struct kernel_threads threads;
    struct trace_space space;
    size_t i;

    trace_space_init(&space, core->options, core->image.abi);
    space.seen = &seen;
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
    space.regs = core->notes.threads[0].regs;
    if (core->memory.machine)
        slide_set(&space, core->options->slide);
    images_verify(&core->options->images, &space);
    for (i = 0; i < core->notes.num_threads; i++) {
        struct core_thread *thread = &core->notes.threads[i];

        if (core->memory.machine)
            out_line(&out, "%sCPU %zu", i > 0 ? "\n" : "", i);
        else
            out_line(&out, "%sthread %zu (%" PRIu32 ")", i > 0 ? "\n" : "", i + 1, thread->id);
        put_back(core, &space, thread);
        space.regs = thread->regs;
        if (core->memory.machine)
            machine_choose(core, i);
        else
            step_back(&out, &space, thread->signal);
        (void)walk_print(&out, &space, SFU_PC_EXACT);
        if (core->memory.machine)
            machine_explain(core, i, &out);
    }
    if (core->memory.machine)
        machine_choose(core, 0);
    threads_print(&out, &space, core->options->threads, i, &threads);
    write_add_threads(&core->notes.threads, &core->notes.num_threads, &threads);
    free(threads.list);
    free(seen.list);
}

/* What each CPU maps is added, because CPUs may have page tables of their own. */
static void write_again(struct core *core)
{
    struct written w = {
        .abi = core->image.abi, .threads = core->notes.threads, .num_threads = core->notes.num_threads};
    struct paging first;
    size_t i;

    w.auxv = core->notes.auxv;
    w.file_list = core->notes.file_list;
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
        report_fail("%s: not a core, but an ELF file of another kind: images come after the options", file);
    if (images->num > 0 && !abi_fits(images->list[0]->image.abi, core.image.abi))
        report_fail("%s: a core of %s, but %s is for %s", file, abi_name(core.image.abi), images->list[0]->name,
                    abi_name(images->list[0]->image.abi));
    if (images->num > 0) {
        core.image.abi = images->list[0]->image.abi;
        core.image.registers = images->list[0]->image.registers;
    }
    core.notes.abi = core.image.abi;
    read_segments(&core);
    if (core.memory.machine && images->num == 0)
        report_fail("%s: the core of a machine, but no image: name its kernel", file);
    if (!core.memory.machine && (options->has_page_table || options->has_user_table))
        report_fail(
            "%s: its addresses are virtual, as in the core of a process: leave out --page-table and --user-table",
            file);
    place_core_images(&core);
    print_threads(&core);
    if (options->written != NULL)
        write_again(&core);
    free(core.memory.segments);
    free(core.memory.left_out);
    notes_free(&core.notes);
    image_close(&core.image);
}
