/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Any bytes as an ELF file, or as sections of a good one, read as sfu-lint and sfu-gen do. What is found must be in
 * order, and tables made of the CFI must pass sfu_check and say what the CFI says.
 *
 * Input: a byte of flags; with WRAPPED three bytes that say how long .eh_frame, .debug_frame and the code are, in units
 * of 2 bytes; then those sections in turn, and what is left is .sframe. Without WRAPPED the file itself follows.
 */
#include "tables/encode.h"
#include "harness.h"
#include "lint/lint.h"
#include "tables/tables.h"
#include "tables/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    WRAPPED = 0x01,
    PLT = 0x02,   /* the code is a PLT */
    LONG = 0x04,  /* it goes on with zeros */
    KEEP = 0x08,  /* slots below SP stay in the tables */
    SMALL = 0x10, /* neighbours share entries */
    SHARE = 0x20, /* equal lists of rows are there once */
    MACHINE = 6   /* shift of a number from 0 to 3 */
};
enum { EHDR_SIZE = 64, PHDR_SIZE = 56, SHDR_SIZE = 64, ROOM = 16384, CODE_AT = 0x10000, MOST_CODE = 4096 };

/* ---- A file ---------------------------------------------------------------------------------------------------- */

/* One that is put together around the input. */
struct wrapped {
    uint8_t bytes[ROOM];
    size_t size;
    unsigned sections;
    bool big;
};

static const char names[] = "\0.text\0.plt\0.eh_frame\0.debug_frame\0.sframe\0.symtab\0.strtab\0first\0second";

static uint32_t name_at(const char *name)
{
    uint32_t at = 0;

    while (strcmp(names + at, name) != 0)
        at += (uint32_t)strlen(names + at) + 1;
    return at;
}

static void put(struct wrapped *w, size_t at, unsigned size, uint64_t value)
{
    store_number(w->bytes + at, size, w->big, value);
}

/* Appends the SIZE bytes at P, and zeros up to LENGTH, as a section at ADDR; the headers come first in the file. */
static void add_section(struct wrapped *w, const char *name, uint32_t type, uint64_t flags, uint64_t addr,
                        const void *p, size_t size, size_t length)
{
    size_t header = EHDR_SIZE + PHDR_SIZE + SHDR_SIZE * ++w->sections;

    memcpy(w->bytes + w->size, p, size);
    put(w, header, 4, name_at(name));
    put(w, header + 4, 4, type);
    put(w, header + 8, 8, flags);
    put(w, header + 16, 8, addr);
    put(w, header + 24, 8, w->size);
    put(w, header + 32, 8, length);
    w->size += (length + 7) / 8 * 8;
}

/* Two functions, the second of them without a size. */
static void add_symbols(struct wrapped *w)
{
    uint8_t symbols[72] = {0};
    unsigned i;

    for (i = 1; i < 3; i++) {
        store_number(symbols + 24 * i, 4, w->big, name_at(i == 1 ? "first" : "second"));
        symbols[24 * i + 4] = i == 1 ? STB_GLOBAL << 4 | STT_FUNC : STT_NOTYPE;
        store_number(symbols + 24 * i + 6, 2, w->big, 1);
        store_number(symbols + 24 * i + 8, 8, w->big, CODE_AT + 16 * (i - 1));
        store_number(symbols + 24 * i + 16, 8, w->big, i == 1 ? 12 : 0);
    }
    add_section(w, ".symtab", SHT_SYMTAB, 0, 0, symbols, sizeof symbols, sizeof symbols);
    put(w, EHDR_SIZE + PHDR_SIZE + SHDR_SIZE * w->sections + 40, 4, w->sections + 1);
    put(w, EHDR_SIZE + PHDR_SIZE + SHDR_SIZE * w->sections + 56, 8, 24);
    add_section(w, ".strtab", SHT_STRTAB, 0, 0, names, sizeof names, sizeof names);
}

static void put_headers(struct wrapped *w, unsigned machine)
{
    static const uint16_t machines[] = {EM_X86_64, EM_AARCH64, EM_AARCH64, EM_S390};

    memcpy(w->bytes,
           "\x7f"
           "ELF\2",
           5);
    w->bytes[5] = w->big ? ELFDATA2MSB : ELFDATA2LSB;
    w->bytes[6] = EV_CURRENT;
    put(w, 16, 2, ET_EXEC);
    put(w, 18, 2, machines[machine]);
    put(w, 20, 4, EV_CURRENT);
    put(w, 32, 8, EHDR_SIZE);
    put(w, 40, 8, EHDR_SIZE + PHDR_SIZE);
    put(w, 52, 2, EHDR_SIZE);
    put(w, 54, 2, PHDR_SIZE);
    put(w, 56, 2, 1);
    put(w, 58, 2, SHDR_SIZE);
    put(w, 60, 2, w->sections + 1);
    put(w, 62, 2, w->sections);
    put(w, EHDR_SIZE, 4, PT_LOAD);
    put(w, EHDR_SIZE + 4, 4, PF_R | PF_X);
    put(w, EHDR_SIZE + 16, 8, CODE_AT);
    put(w, EHDR_SIZE + 32, 8, w->size);
    put(w, EHDR_SIZE + 40, 8, w->size);
}

/* Takes up to 2 * UNITS of *SIZE bytes. */
static size_t take(size_t *size, unsigned units)
{
    size_t taken = *size < 2 * units ? *size : 2 * units;

    *size -= taken;
    return taken;
}

/* DATA has 4 bytes or more. */
static void wrap(struct wrapped *w, const uint8_t *data, size_t size)
{
    const uint8_t *p = data + 4;
    size_t left = size - 4, eh = take(&left, data[1]), debug = take(&left, data[2]), code = take(&left, data[3]);
    unsigned machine = data[0] >> MACHINE;

    memset(w, 0, sizeof *w);
    w->big = machine > 1;
    w->size = EHDR_SIZE + PHDR_SIZE + SHDR_SIZE * 8;
    add_section(w, data[0] & PLT ? ".plt" : ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, CODE_AT,
                p + eh + debug, code, data[0] & LONG ? MOST_CODE : code);
    add_section(w, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0x20000, p, eh, eh);
    add_section(w, ".debug_frame", SHT_PROGBITS, 0, 0, p + eh, debug, debug);
    if (left > 0)
        add_section(w, ".sframe", SHT_SFRAME, SHF_ALLOC, 0x30000, p + eh + debug + code, left, left);
    add_symbols(w);
    put_headers(w, machine);
}

/* Makes the SIZE bytes at P a file. Returns its name. */
static const char *make_file(const uint8_t *p, size_t size)
{
    static char name[32];
    static int fd = -1;

    if (fd < 0) {
        fd = memfd_create("image", 0);
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, p, size, 0) != (ssize_t)size)
        abort();
    return name;
}

/* ---- What must hold -------------------------------------------------------------------------------------------- */

static void try_lint(const char *file)
{
    struct lint lint;
    uint64_t end = 0, bytes = 0;
    size_t i;

    if (lint_read(&lint, file, NULL, 1)) {
        MUST(lint.covered_bytes <= lint.code_bytes && lint.described <= lint.num_functions);
        for (i = 0; i < lint.num_functions; i++) {
            const struct lint_function *f = &lint.functions[i];

            MUST(f->start >= end && f->start < f->end && f->bytes > 0);
            MUST(f->covered <= f->bytes && f->bytes <= f->end - f->start);
            MUST(f->object < lint.num_objects && (f->reason == NULL) == (f->covered == f->bytes));
            end = f->end;
            bytes += f->bytes;
        }
        MUST(bytes == lint.code_bytes);
        for (i = 0; i < lint.num_findings; i++)
            MUST(lint.findings[i].name < LINT_NAMES && lint.findings[i].what[0] != '\0');
    } else {
        MUST(lint.image.error[0] != '\0');
    }
    lint_free(&lint);
}

/* A reader_fn. CTX is a walker, or NULL. */
static const char *ask_walker(void *ctx, const struct difference *agreed)
{
    return ctx != NULL ? walker_check(ctx, agreed) : NULL;
}

/* Makes tables of the CFI, and compares. */
static void try_tables(struct image *image, const struct cfi *cfi, const struct cfi_spans *spans,
                       const struct kept *kept, unsigned flags)
{
    const struct encoding encoding = {flags & SMALL ? 5 : 0, flags & SHARE};
    struct tables tables;
    struct bytes bytes;
    struct joined made;
    struct joined_place where;
    struct comparison c;
    struct walker *walker;
    struct epilogues epilogues = {0};
    struct compare_how how = {false, NULL, ask_walker, NULL, NULL, &epilogues};

    memset(&tables, 0, sizeof tables);
    tables.image = image;
    tables.keep_below_sp = flags & KEEP;
    tables_make(&tables, cfi, spans, kept);
    if (tables.num_functions > 0 && encode(&tables, &encoding, 0x40000, &bytes)) {
        MUST(joined_open(&made, bytes.data, bytes.size, 0x40000, &where) == SFU_OK &&
             joined_check(&made, &where) == SFU_OK);
        MUST(made.num == 1 && joined_sort(&made) == SFU_OK);
        how.ctx = walker = walker_new(image, bytes.data, bytes.size, 0x40000);
        compare_tables(cfi, spans, &made, &how, &c);
        MUST(c.different == 0 && c.missing == 0 && c.pcs == tables.covered && c.lost == tables.lost);
        compare_kept(cfi, kept, &made, &how, &c);
        MUST(c.different == 0 && c.missing == 0);
        walker_free(walker);
        epilogues_free(&epilogues);
        joined_close(&made);
        free(bytes.data);
    }
    tables_free(&tables);
}

static void try_gen(const char *file, unsigned flags)
{
    struct image image;
    struct cfi cfi;
    struct cfi_spans spans = {NULL, 0, 0};
    struct kept kept;

    memset(&cfi, 0, sizeof cfi);
    memset(&kept, 0, sizeof kept);
    if (image_open(&image, file) && image.header.e_type != ET_REL && cfi_read(&cfi, &image, CFI_EH | CFI_DEBUG) &&
        cfi_find_spans(&cfi, &spans) && kept_read(&kept, &image, &spans))
        try_tables(&image, &cfi, &spans, &kept, flags);
    else
        MUST(image.header.e_type == ET_REL || image.error[0] != '\0');
    free(spans.list);
    cfi_free(&cfi);
    kept_free(&kept);
    image_close(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct wrapped wrapped;
    const char *file;

    if (size < 4 || size > 4096)
        return 0;
    if (data[0] & WRAPPED) {
        wrap(&wrapped, data, size);
        file = make_file(wrapped.bytes, wrapped.size);
    } else {
        file = make_file(data + 1, size - 1);
    }
    try_lint(file);
    try_gen(file, data[0]);
    return 0;
}
