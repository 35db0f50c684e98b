/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "trace_write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_PIECES = 60000,  /* program headers are counted in 16 bits */
    MAX_STEPS = 1 << 22, /* answers of the page tables */
    STATUS_SIZE = 392,   /* of aarch64, the largest */
    NOTE_HEADER = 12
};

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

/* Adds a piece, to the last one if it goes on there in the addresses and in the bytes. */
static bool add_piece(struct written *w, uint64_t vaddr, const uint8_t *bytes, uint64_t size)
{
    struct segment *last = w->num_pieces > 0 ? &w->pieces[w->num_pieces - 1] : NULL;

    if (last != NULL && last->vaddr + last->size == vaddr && last->bytes + last->size == bytes) {
        last->size += size;
        return true;
    }
    if (w->num_pieces == MAX_PIECES)
        return false;
    w->pieces = grow(w->pieces, w->num_pieces, sizeof *w->pieces);
    w->pieces[w->num_pieces++] = (struct segment){vaddr, 0, size, bytes};
    return true;
}

/* What the page tables map, from the lowest address up. */
static void add_mapped(struct written *w, const struct memory *memory)
{
    uint64_t addr = 0, left, size;
    unsigned steps;

    for (steps = 0; steps < MAX_STEPS; steps++) {
        const uint8_t *bytes = memory_mapped(memory, addr, &size, &left);

        if (bytes != NULL && !add_piece(w, addr, bytes, size))
            break;
        if (left > UINT64_MAX - addr)
            return;
        addr += left;
    }
    report_note("the page tables map so much that only what lies below 0x%" PRIx64 " is written", addr);
}

void write_add_memory(struct written *w, const struct memory *memory)
{
    /* The tables of aarch64 are those of the upper half. */
    bool by_segments = memory->paging.kind <= PAGING_OFF || memory->paging.kind == PAGING_AARCH64;
    size_t i;

    if (memory->paging.kind > PAGING_OFF)
        add_mapped(w, memory);
    if (memory->user.lower) {
        struct memory user = *memory;

        user.paging = memory->user;
        add_mapped(w, &user);
    }
    for (i = 0; i < memory->num && by_segments; i++) {
        const struct segment *s = &memory->segments[i];

        if (!add_piece(w, s->vaddr != 0 ? s->vaddr : s->paddr, s->bytes, s->size))
            break;
    }
    if (by_segments && i < memory->num)
        report_note("more than %d pieces of memory: the others are not written", MAX_PIECES);
}

/* ---- Threads and image ----------------------------------------------------------------------------------------- */

void write_add_threads(struct core_thread **list, size_t *num, const struct kernel_threads *threads)
{
    size_t i;

    for (i = 0; i < threads->num; i++) {
        *list = grow(*list, *num, sizeof **list);
        (*list)[*num] = (struct core_thread){.regs = threads->list[i].regs, .control = (*list)[0].control};
        (*num)++;
    }
}

void write_set_image(struct written *w, const struct trace_images *images)
{
    if (images->num == 0 || !images->list[0]->placed)
        return;
    w->build_id = images->list[0]->build_id;
    w->build_id_size = images->list[0]->build_id_size;
}

/* ---- File ------------------------------------------------------------------------------------------------------ */

struct output {
    struct written_file *file;
    const struct registers *facts;
};

/* Sizes of the header and of a program header, for words of WORD bytes. */
static uint64_t ehdr_size(unsigned word)
{
    return 40 + 3 * (uint64_t)word;
}

static uint64_t phdr_size(unsigned word)
{
    return 8 + 6 * (uint64_t)word;
}

static void put_bytes_of_core(const struct output *o, const void *bytes, size_t size)
{
    if (size == 0 || fwrite(bytes, size, 1, o->file->stream) == 1)
        return;
    (void)written_close(o->file, false, 0);
    report_fail("%s: %s", o->file->name, strerror(errno));
}

static void put_number(const struct output *o, unsigned size, uint64_t value)
{
    uint8_t bytes[8];

    store_number(bytes, size, o->facts->big, value);
    put_bytes_of_core(o, bytes, size);
}

static void put_zeros(const struct output *o, uint64_t size)
{
    for (; size > 0; size--)
        put_number(o, 1, 0);
}

static uint64_t write_padded(uint64_t size)
{
    return (size + 3) & ~(uint64_t)3;
}

static uint64_t note_size(size_t name, uint64_t size)
{
    return NOTE_HEADER + write_padded(name) + write_padded(size);
}

static void put_note(const struct output *o, const char *name, uint32_t type, const void *desc, size_t size)
{
    size_t name_size = strlen(name) + 1;

    put_number(o, 4, name_size);
    put_number(o, 4, size);
    put_number(o, 4, type);
    put_bytes_of_core(o, name, name_size);
    put_zeros(o, write_padded(name_size) - name_size);
    put_bytes_of_core(o, desc, size);
    put_zeros(o, write_padded(size) - size);
}

static uint64_t bytes_size(const struct note_bytes *note)
{
    return note->size > 0 ? note_size(sizeof "CORE", note->size) : 0;
}

static void put_bytes(const struct output *o, uint32_t type, const struct note_bytes *note)
{
    if (note->size > 0)
        put_note(o, "CORE", type, note->bytes, note->size);
}

static void put_thread(const struct output *o, const struct core_thread *thread, uint32_t id)
{
    const struct registers *r = o->facts;
    const uint32_t pr_reg = status_registers(r->word);
    const uint64_t mode = (uint64_t)0x180000000; /* s390x: addresses have 64 bits */
    uint8_t status[STATUS_SIZE] = {0};
    unsigned reg;

    store_number(status + status_pid(r->word), 4, r->big, id);
    if (r->abi == SFU_S390X)
        store_number(status + pr_reg, 8, r->big, thread->control.psw_mask | mode);
    for (reg = 0; reg < NUM_REGISTERS; reg++) {
        int at = r->status[reg];

        if (at >= 0 && thread->regs.known[reg])
            store_number(status + pr_reg + r->word * (size_t)at, r->word, r->big, thread->regs.value[reg]);
    }
    put_note(o, "CORE", NT_PRSTATUS, status, status_size(r));
}

static void put_core_header(const struct output *o, size_t num_headers)
{
    const uint8_t word = o->facts->word;
    const uint8_t ident[EI_NIDENT] = {
        0x7f,      'E', 'L', 'F', word == 8 ? ELFCLASS64 : ELFCLASS32, o->facts->big ? ELFDATA2MSB : ELFDATA2LSB,
        EV_CURRENT};

    put_bytes_of_core(o, ident, sizeof ident);
    put_number(o, 2, ET_CORE);
    put_number(o, 2, o->facts->machine);
    put_number(o, 4, EV_CURRENT);
    put_number(o, word, 0);
    put_number(o, word, ehdr_size(word));
    put_number(o, word, 0);
    put_number(o, 4, 0);
    put_number(o, 2, ehdr_size(word));
    put_number(o, 2, phdr_size(word));
    put_number(o, 2, num_headers);
    put_number(o, 2, 0);
    put_number(o, 2, 0);
    put_number(o, 2, 0);
}

/* Files of 32 bits have the flags further back. */
static void put_segment(const struct output *o, uint32_t type, uint64_t offset, uint64_t vaddr, uint64_t size)
{
    const uint8_t word = o->facts->word;
    const uint32_t flags = type == PT_LOAD ? PF_R | PF_W | PF_X : 0;

    put_number(o, 4, type);
    if (word == 8)
        put_number(o, 4, flags);
    put_number(o, word, offset);
    put_number(o, word, vaddr);
    put_number(o, word, 0);
    put_number(o, word, size);
    put_number(o, word, type == PT_LOAD ? size : 0);
    if (word == 4)
        put_number(o, 4, flags);
    put_number(o, word, 1);
}

/* Where the file has BYTES, which are in one of the blocks, the first of which is at START. */
static uint64_t file_offset_of(const struct written *w, uint64_t start, const uint8_t *bytes)
{
    size_t i;

    for (i = 0; i < w->num_blocks; i++) {
        const struct segment *b = &w->blocks[i];

        if (bytes >= b->bytes && bytes < b->bytes + b->size)
            return start + (uint64_t)(bytes - b->bytes);
        start += b->size;
    }
    return 0;
}

static void write_whole_core(const struct written *w, const struct output *o)
{
    const uint8_t word = o->facts->word;
    uint64_t notes_at = ehdr_size(word) + phdr_size(word) * (w->num_pieces + 1), notes_end = notes_at;
    size_t i;

    notes_end += w->num_threads * note_size(sizeof "CORE", status_size(o->facts));
    notes_end += bytes_size(&w->auxv) + bytes_size(&w->file_list);
    if (w->build_id_size > 0)
        notes_end += note_size(sizeof "GNU", w->build_id_size);
    put_core_header(o, w->num_pieces + 1);
    put_segment(o, PT_NOTE, notes_at, 0, notes_end - notes_at);
    for (i = 0; i < w->num_pieces; i++)
        put_segment(o, PT_LOAD, file_offset_of(w, notes_end, w->pieces[i].bytes), w->pieces[i].vaddr,
                    w->pieces[i].size);
    for (i = 0; i < w->num_threads; i++)
        put_thread(o, &w->threads[i], w->threads[i].id != 0 ? w->threads[i].id : (uint32_t)i + 1);
    put_bytes(o, NT_AUXV, &w->auxv);
    put_bytes(o, NT_FILE, &w->file_list);
    if (w->build_id_size > 0)
        put_note(o, "GNU", NT_GNU_BUILD_ID, w->build_id, w->build_id_size);
    for (i = 0; i < w->num_blocks; i++)
        put_bytes_of_core(o, w->blocks[i].bytes, (size_t)w->blocks[i].size);
}

void write_core(const struct written *w, const char *file)
{
    struct written_file f;
    const struct output o = {&f, abi_registers(w->abi)};
    bool good = written_open(&f, file);

    if (good) {
        write_whole_core(w, &o);
        good = written_close(&f, true, 0666);
    }
    if (!good)
        report_fail("%s: %s", file, strerror(errno));
}

void write_records(const struct trace_options *options, uint8_t abi, const struct log_record *records, size_t num)
{
    struct core_thread *threads = zeroed(num, sizeof *threads);
    struct written w = {.abi = abi, .threads = threads, .num_threads = num};
    size_t i;

    for (i = 0; i < num; i++)
        registers_fill(abi, &threads[i].regs, records[i].registers);
    write_set_image(&w, &options->images);
    write_core(&w, options->written);
    report_note("%s: it has %s of a crash record, and no memory: a debugger cannot find the callers",
                options->written, abi_registers(abi)->link ? "PC, SP, FP and RA" : "PC, SP and FP");
    free(threads);
}
