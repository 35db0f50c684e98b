/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu-trace --memory and --record: what has been kept without any format, and crash records. */
#include "trace.h"
#include "log/log.h"
#include "trace_threads.h"
#include "trace_write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Raw memory ------------------------------------------------------------------------------------------------ */

/* All of FILE, which stays mapped. */
static const uint8_t *map_bytes(const char *file, size_t *size)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *bytes;

    if (fd < 0 || fstat(fd, &status) != 0)
        report_fail("%s: %s", file, strerror(errno));
    if (!S_ISREG(status.st_mode) || status.st_size == 0)
        report_fail("%s: not a file, or empty", file);
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        report_fail("%s: %s", file, strerror(errno));
    close(fd);
    *size = (size_t)status.st_size;
    return bytes;
}

/* Maps FILE, whose bytes were at ADDR. */
static void map_file(struct memory *m, const char *file, uint64_t addr)
{
    size_t size;
    const uint8_t *bytes = map_bytes(file, &size);

    if (size - 1 > UINT64_MAX - addr)
        report_fail("%s: does not fit into the address space from 0x%" PRIx64, file, addr);
    memory_add(m, addr, 0, bytes, size);
}

/* "FILE@ADDR,FILE@ADDR". */
static void map_files(struct memory *m, const char *list)
{
    char *copy = copied(list), *save = NULL, *item;
    uint64_t addr;

    for (item = strtok_r(copy, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
        char *at = strrchr(item, '@');

        if (at == NULL || !text_is_number(at + 1, &addr))
            report_fail("--memory: not FILE@ADDR: %s", item);
        *at = '\0';
        map_file(m, item, addr);
    }
    free(copy);
}

static uint8_t set_registers(struct trace_space *space, const char *list)
{
    char *copy = copied(list), *save = NULL, *item;
    uint8_t pc_kind = SFU_PC_EXACT;

    for (item = strtok_r(copy, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
        char *equals = strchr(item, '=');

        if (equals != NULL)
            *equals = '\0';
        if (equals == NULL || !registers_set(space->abi, &space->regs, &pc_kind, item, equals + 1))
            report_fail("--regs: not a register and its value: %s", item);
    }
    free(copy);
    return pc_kind;
}

/* ---- Crash records --------------------------------------------------------------------------------------------- */

enum { MAX_RECORDS = 64 };

/* Where the images lie, and what PCs of RECORD are relative to: the PC of frame 0 is there both ways. */
static uint64_t place_raw_images(struct trace_options *options, const struct log_record *record, const char *where)
{
    struct trace_image *image = options->images.list[0];
    const struct log_item *item = record->items;
    bool both = record->num_items > 0 && item->relative && item->times == 0 && item->number == 0;
    uint64_t linked, start = both ? record->registers[0] - item->pc : 0, given;
    bool named = images_find(&options->images, image, "image_start", &linked);

    if (where != NULL) {
        if (!text_is_number(where, &given))
            report_fail("--record: not an address: %s", where);
        start = given;
    } else if (!both && !named) {
        report_fail(
            "--record: %s has no symbol image_start, and the record no frame 0, to say what its PCs are relative "
            "to: give --record=FILE@START",
            image->name);
    }
    image_place(image, named && (both || where != NULL) ? start - linked : options->slide);
    images_place(&options->images, 0);
    return both || where != NULL ? start : linked + image->slide;
}

/* REGISTERS are those that the record begins with. */
static void print_item(const struct trace_out *out, const struct trace_options *options,
                       const struct log_item *item, uint64_t start, const uint64_t *registers)
{
    static const char *const marks[] = {"  [interrupted]", "  [stack switch]", "  [guessed]", "  [replaced]",
                                        "  [wild call]"};
    const struct log_registers known = {registers[1], registers[2]};
    uint64_t pc = item->relative ? start + item->pc : item->pc,
             lookup = item->exact || pc == 0 ? pc : images_before(&options->images, pc);
    char text[100] = "";
    size_t used = 0, i;

    if (item->times != 0) {
        out_line(out, "    ... %" PRIu32 " times more: the %" PRIu32 " above", item->times, item->length);
        return;
    }
    for (i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if ((item->marks >> i & 1) != 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s", marks[i]);
    out_line(out, "#%-2" PRIu64 " 0x%016" PRIx64 "%s", item->number, pc, text);
    out_place(out, &options->images, lookup);
    if (options->sizes)
        out_size(out, &options->images, lookup, item->number == 0 && pc == registers[0] ? &known : NULL);
}

static void print_record(const struct trace_out *out, struct trace_options *options,
                         const struct log_record *record, const char *where)
{
    uint64_t start = place_raw_images(options, record, where);
    const uint64_t *r = record->registers;
    unsigned i;

    out_line(out, "crash record: pc 0x%016" PRIx64 " sp 0x%016" PRIx64 " fp 0x%016" PRIx64 " ra 0x%016" PRIx64,
             r[0], r[1], r[2], r[3]);
    if (options->images.list[0]->slide != 0)
        out_line(out, "slide 0x%" PRIx64, options->images.list[0]->slide);
    for (i = 0; i < record->num_items; i++)
        print_item(out, options, &record->items[i], start, r);
    if (record->missing > 0)
        out_line(out, "    ... %" PRIu64 " more frames, not recorded", record->missing);
    out_line(out, "trace ends (%" PRId32 "): %s%s", record->code, sfu_string(record->code),
             record->reliable ? "" : "; guessed frames are not proven");
}

/* Finds the different records in FILE: a program's stack may have a copy. At least one, to be freed. */
static struct log_record *find_records(const char *file, bool big, size_t *num)
{
    size_t size, at = 0, broken = 0, i, *starts = NULL;
    const uint8_t *bytes = map_bytes(file, &size);
    struct log_record record, *list = NULL;

    for (*num = 0; *num < MAX_RECORDS && log_record_find(bytes, size, big, &at, &record, &broken); at++) {
        for (i = 0; i < *num && memcmp(bytes + starts[i], bytes + at, LOG_RECORD_SIZE) != 0; i++)
            continue;
        if (i < *num)
            continue;
        starts = grow(starts, *num, sizeof *starts);
        starts[*num] = at;
        list = grow(list, *num, sizeof *list);
        list[(*num)++] = record;
    }
    if (*num == MAX_RECORDS)
        report_note("%s: more crash records than %d are not looked for", file, MAX_RECORDS);
    free(starts);
    (void)munmap((void *)bytes, size);
    if (*num == 0 && broken > 0)
        report_fail(
            "%s: no crash record in it; %zu places begin like one, but have a wrong check: they are no record, "
            "or one that has changed since it was written",
            file, broken);
    if (*num == 0)
        report_fail("%s: no crash record (struct sfu_record) for the CPU of the image in it", file);
    return list;
}

/* FILE, or FILE@START, of which *WHERE is the latter. To be freed. */
static char *split_record(const char *argument, const char **where)
{
    char *file = copied(argument), *at = strrchr(file, '@');
    uint64_t start;

    *where = NULL;
    if (at != NULL && text_is_number(at + 1, &start)) {
        *at = '\0';
        *where = argument + (at - file) + 1;
    }
    return file;
}

void trace_record(struct trace_options *options, const char *argument)
{
    const struct trace_out out = {stdout, "", "\n", NULL, NULL};
    uint8_t abi = options->images.list[0]->image.abi;
    const char *where;
    char *file = split_record(argument, &where);
    struct log_record *list;
    size_t num, i;

    list = find_records(file, abi_is_big(abi), &num);
    for (i = 0; i < num; i++) {
        if (i > 0)
            out_line(&out, "%s", "");
        print_record(&out, options, &list[i], where);
    }
    if (options->written != NULL)
        write_records(options, abi, list, num);
    free(list);
    free(file);
}

/* ---- Memory and registers -------------------------------------------------------------------------------------- */

/* Where the program is, and the registers: those of the record, or of --regs. */
static uint8_t set_start(struct trace_space *space, struct trace_options *options, const char *registers,
                         const char *record)
{
    struct log_record *list;
    const char *where;
    char *file;
    size_t num;
    bool exact;

    if (record == NULL) {
        images_place(&options->images, options->slide);
        return set_registers(space, registers);
    }
    file = split_record(record, &where);
    list = find_records(file, abi_is_big(space->abi), &num);
    if (num > 1)
        report_note("%s: it has %zu crash records: the first one is taken", file, num);
    (void)place_raw_images(options, &list[0], where);
    registers_fill(space->abi, &space->regs, list[0].registers);
    exact = list[0].exact;
    free(list);
    free(file);
    return exact ? SFU_PC_EXACT : SFU_PC_RETURN;
}

/* Says so if SP lies in none of the files. */
static void explain_memory(const struct trace_space *space, const struct trace_out *out)
{
    const struct registers *r = abi_registers(space->abi);
    const uint64_t sp = space->regs.value[r->sp];
    uint8_t byte;

    if (space->read(space->ctx, sp, &byte, 1))
        return;
    out_line(out, "SP 0x%016" PRIx64 " is in no file of --memory%s%s%s", sp,
             space->abi == SFU_THUMB ? ""
                                     : ": if a file is physical memory, its ADDR must be the virtual address at "
                                       "which the page tables have it (",
             space->abi == SFU_THUMB ? "" : r->page_root, space->abi == SFU_THUMB ? "" : ")");
}

void trace_memory(struct trace_options *options, const char *files, const char *registers, const char *record)
{
    const struct trace_out out = {stdout, "", "\n", NULL, NULL};
    struct memory memory = {.segments = NULL};
    struct core_thread *list = grow(NULL, 0, sizeof *list);
    struct trace_frames seen = {NULL, 0};
    struct kernel_threads threads;
    struct trace_space space;
    size_t num = 1;
    uint8_t pc_kind;

    trace_space_init(&space, options, options->images.list[0]->image.abi);
    map_files(&memory, files);
    space.read = memory_read;
    space.ctx = &memory;
    space.seen = &seen;
    space.halted = record == NULL;
    pc_kind = set_start(&space, options, registers, record);
    if (record == NULL)
        slide_set(&space, options->slide);
    images_verify(&options->images, &space);
    if (!walk_print(&out, &space, pc_kind))
        report_fail("--regs: pc and sp are needed");
    explain_memory(&space, &out);
    list[0] = (struct core_thread){.id = 1, .regs = space.regs};
    threads_print(&out, &space, options->threads, 1, &threads);
    write_add_threads(&list, &num, &threads);
    if (options->written != NULL) {
        struct written w = {.abi = space.abi, .threads = list, .num_threads = num};

        w.blocks = memory.segments;
        w.num_blocks = memory.num;
        write_set_image(&w, &options->images);
        write_add_memory(&w, &memory);
        write_core(&w, options->written);
        free(w.pieces);
    }
    free(threads.list);
    free(seen.list);
    free(list);
    free(memory.segments);
}
