/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * afar NAME PROGRAM IMAGE LAST: unwinds the IMAGE that PROGRAM, of any ABI, has written of itself (target.c),
 * through read callbacks, section included. The truth: the calls that target.c makes, LAST being the innermost
 * function, and the return addresses that it has noted. Prints "ok NAME" or "not ok NAME: reason".
 */
#include "sfu.h"

#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 200, MAX_TRUTH = 2 * LEVELS, MAX_REGS = 33, MAX_FRAMES = 1000 };

static const uint64_t magic = 0x7366752061666172;

struct range {
    uint64_t addr, size;
    const uint8_t *bytes;
};

struct image {
    uint8_t *bytes;
    size_t size, at; /* of the file; how much has been taken from it */
    bool big;
    uint64_t slide, num_regs, num_truth;
    uint64_t regs[MAX_REGS], truth[MAX_TRUTH];
    struct range section, stack;
    unsigned long section_reads, stack_reads;
};

struct frame {
    struct sfu_frame frame;
    uint64_t function; /* where it starts; 0: not known */
};

struct trace {
    struct frame frames[MAX_FRAMES];
    unsigned count;
    int code;
};

static const char *test_name;

static void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    printf("not ok %s: ", test_name);
    vprintf(format, args);
    puts("");
    va_end(args);
    exit(1);
}

/* ---- The image ---- */

static const uint8_t *take(struct image *image, uint64_t size)
{
    const uint8_t *p = image->bytes + image->at;

    if (size > image->size - image->at)
        fail("the image is too short: %zu bytes", image->size);
    image->at += size;
    return p;
}

static uint64_t take_word(struct image *image)
{
    const uint8_t *p = take(image, 8);
    uint64_t value = 0;

    for (unsigned i = 0; i < 8; i++)
        value |= (uint64_t)p[i] << 8 * (image->big ? 7 - i : i);
    return value;
}

static uint64_t take_count(struct image *image, uint64_t most)
{
    uint64_t count = take_word(image);

    if (count > most)
        fail("a count of %" PRIu64 " in the image", count);
    return count;
}

static void take_range(struct image *image, struct range *range)
{
    range->addr = take_word(image);
    range->size = take_word(image);
    range->bytes = take(image, range->size);
}

static void read_image(struct image *image, const char *file)
{
    FILE *f = fopen(file, "rb");

    if (f == NULL || fseek(f, 0, SEEK_END) != 0)
        err(2, "%s", file);
    image->size = (size_t)ftell(f);
    image->bytes = malloc(image->size + 1);
    rewind(f);
    if (image->bytes == NULL || fread(image->bytes, 1, image->size, f) != image->size)
        err(2, "%s", file);
    fclose(f);
    image->big = image->size > 0 && image->bytes[0] == magic >> 56;
    if (take_word(image) != magic)
        fail("no image");
    image->slide = take_word(image);
    image->num_regs = take_count(image, MAX_REGS - 1);
    for (unsigned i = 0; i <= image->num_regs; i++)
        image->regs[i] = take_word(image);
    image->num_truth = take_count(image, MAX_TRUTH);
    for (unsigned i = 0; i < image->num_truth; i++)
        image->truth[i] = take_word(image);
    take_range(image, &image->section);
    take_range(image, &image->stack);
}

static int read_range(const struct range *range, uint64_t addr, void *buffer, size_t len)
{
    if (addr < range->addr || addr - range->addr > range->size || len > range->size - (addr - range->addr))
        return -1;
    memcpy(buffer, range->bytes + (addr - range->addr), len);
    return 0;
}

static int read_section(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    struct image *image = ctx;

    image->section_reads++;
    return read_range(&image->section, addr, buffer, len);
}

static int read_stack(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    struct image *image = ctx;

    image->stack_reads++;
    return read_range(&image->stack, addr, buffer, len);
}

static int read_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *value)
{
    const struct image *image = ctx;

    if (frame->trap != 0 || frame->depth != 0 || reg >= image->num_regs)
        return -1;
    *value = image->regs[reg];
    return 0;
}

/* ---- The program's file: names, and where its section must be ---- */

struct symbols {
    Elf_Data *data, *strings;
    uint64_t sframe, sframe_size;
    unsigned machine;
};

static void read_symbols(struct symbols *symbols, const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    Elf_Scn *scn = NULL;
    GElf_Shdr sh;
    GElf_Ehdr eh;
    size_t names;
    Elf *elf;

    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf == NULL || elf_getshdrstrndx(elf, &names) != 0 || gelf_getehdr(elf, &eh) == NULL)
        errx(2, "%s: %s", file, elf_errmsg(-1));
    symbols->machine = eh.e_machine;
    while ((scn = elf_nextscn(elf, scn)) != NULL && gelf_getshdr(scn, &sh) != NULL) {
        if (sh.sh_type == SHT_SYMTAB) {
            symbols->data = elf_getdata(scn, NULL);
            symbols->strings = elf_getdata(elf_getscn(elf, sh.sh_link), NULL);
        } else if (strcmp(elf_strptr(elf, names, sh.sh_name), ".sframe") == 0) {
            symbols->sframe = sh.sh_addr;
            symbols->sframe_size = sh.sh_size;
        }
    }
    if (symbols->data == NULL || symbols->strings == NULL || symbols->sframe_size == 0)
        errx(2, "%s: no symbols, or no .sframe", file);
}

/* The function that ADDR, without the slide, lies in: its name, and where it starts. */
static const char *name_of(const struct symbols *symbols, uint64_t addr, uint64_t *start)
{
    GElf_Sym sym;

    for (int i = 0; gelf_getsym(symbols->data, i, &sym) != NULL; i++) {
        if (GELF_ST_TYPE(sym.st_info) == STT_FUNC && addr - sym.st_value < sym.st_size) {
            *start = sym.st_value;
            return (const char *)symbols->strings->d_buf + sym.st_name;
        }
    }
    return "?";
}

/* ---- The truth ---- */

/* Name of the function I levels above LAST, and how many there are in all. */
static const char *expected_name(const char *last, unsigned i)
{
    static const char *const inner[] = {"pointer", "aligned"};
    static const char *const outer[] = {"sfu_linux_main", "sfu_linux_start", "_start"};

    if (i == 0)
        return last;
    if (i < 3)
        return inner[i - 1];
    if (i < 4 + LEVELS)
        return (i - 3) % 2 == 0 ? "ping" : "pong";
    return outer[i - 4 - LEVELS];
}

enum { EXPECTED_FRAMES = 4 + LEVELS + 3, UNNOTED = 2 /* the return address of sfu_linux_start; _start has none */ };

static void compare(const struct image *image, const struct symbols *symbols, const struct trace *trace,
                    const char *last)
{
    if (image->num_truth != EXPECTED_FRAMES - UNNOTED)
        fail("%" PRIu64 " calls were noted", image->num_truth);
    for (unsigned i = 0; i < trace->count && i < EXPECTED_FRAMES; i++) {
        const struct sfu_frame *f = &trace->frames[i].frame;
        uint64_t pc = i == 0                  ? image->regs[image->num_regs]
                      : i <= image->num_truth ? image->truth[image->num_truth - i]
                                              : f->regs.pc;
        uint64_t start = 0;
        const char *name = name_of(symbols, sfu_lookup_pc(&f->regs) - image->slide, &start);

        if (strcmp(name, expected_name(last, i)) != 0 || trace->frames[i].function != start + image->slide)
            fail("frame %u is in %s, not %s", i, name, expected_name(last, i));
        if (f->regs.pc != pc)
            fail("frame %u, PC 0x%" PRIx64 ": the machine went back to 0x%" PRIx64, i, f->regs.pc, pc);
        if (!f->reliable || f->guessed || f->switched || f->depth != i ||
            f->regs.pc_kind != (i == 0 ? SFU_PC_EXACT : SFU_PC_RETURN))
            fail("attributes of frame %u", i);
    }
    if (trace->code != SFU_END || trace->count != EXPECTED_FRAMES)
        fail("%u frames, then: %s", trace->count, sfu_string(trace->code));
}

/* ---- Walks ---- */

static void walk(const struct sfu_target *target, const struct image *image, unsigned machine, struct trace *trace)
{
    unsigned sp = machine == EM_X86_64 ? 7 : machine == EM_AARCH64 ? 31 : 15;
    unsigned fp = machine == EM_X86_64 ? 6 : machine == EM_AARCH64 ? 29 : 11;
    unsigned ra = machine == EM_AARCH64 ? 30 : 14;
    struct sfu_registers top = {0};
    struct sfu_row row;
    struct sfu_walk w;

    top.pc = image->regs[image->num_regs];
    top.sp = image->regs[sp];
    top.fp = image->regs[fp];
    top.has_ra = machine != EM_X86_64;
    if (top.has_ra)
        top.ra = image->regs[ra];
    sfu_walk_start(&w, target, &top);
    trace->count = 0;
    do {
        if (trace->count == MAX_FRAMES)
            fail("the walk does not end");
        trace->frames[trace->count].frame = w.frame;
        trace->frames[trace->count++].function =
            sfu_find_frame(target, &w.frame, &row) == SFU_OK ? row.function : 0;
        trace->code = sfu_walk_step(&w);
    } while (trace->code == SFU_OK);
}

/* Another walk must give TRACE's frames as far as it gets. */
static void compare_traces(const char *what, const struct trace *a, const struct trace *b)
{
    for (unsigned i = 0; i < a->count && i < b->count; i++) {
        const struct sfu_registers *x = &a->frames[i].frame.regs, *y = &b->frames[i].frame.regs;

        if (x->pc != y->pc || x->sp != y->sp || x->fp != y->fp || a->frames[i].function != b->frames[i].function)
            fail("%s: frame %u differs", what, i);
    }
}

/* The same with the stack in a window, all of it or half; with the section mapped; and with an image that lacks the
 * outer half of the stack. */
static void vary(struct image *image, const struct sfu_target *remote, unsigned machine, const struct trace *trace)
{
    static struct trace other;
    struct sfu_section mapped;
    struct sfu_target target = *remote;
    unsigned long reads;

    target.window = image->stack.bytes;
    target.window_low = image->stack.addr;
    target.window_high = image->stack.addr + image->stack.size;
    target.read = NULL;
    walk(&target, image, machine, &other);
    compare_traces("in a window", trace, &other);
    if (other.code != SFU_END || other.count != trace->count)
        fail("in a window: %u frames, then: %s", other.count, sfu_string(other.code));
    target.window_high -= image->stack.size / 2;
    target.read = read_stack;
    reads = image->stack_reads;
    walk(&target, image, machine, &other);
    compare_traces("half in a window", trace, &other);
    if (other.code != SFU_END || other.count != trace->count || image->stack_reads == reads ||
        image->stack_reads - reads > reads / 3 * 2)
        fail("half in a window: %u frames, %lu reads of %lu", other.count, image->stack_reads - reads, reads);

    target = *remote;
    target.sections = NULL;
    if (sfu_open(&mapped, image->section.bytes, image->section.size, image->section.addr) != SFU_OK ||
        sfu_add(&target.sections, &mapped) != SFU_OK)
        fail("the mapped section");
    walk(&target, image, machine, &other);
    compare_traces("mapped", trace, &other);
    if (other.code != SFU_END || other.count != trace->count)
        fail("mapped: %u frames", other.count);

    image->stack.size /= 2;
    walk(remote, image, machine, &other);
    compare_traces("half of the stack", trace, &other);
    if (other.code != SFU_E_STACK || other.count < 50 || other.count > trace->count / 3 * 2)
        fail("half of the stack: %u frames, then: %s", other.count, sfu_string(other.code));
}

int main(int argc, char **argv)
{
    static struct image image;
    static struct symbols symbols;
    static struct trace trace;
    struct sfu_target target = {0};
    struct sfu_section section;
    unsigned long section_reads, stack_reads;
    int code;

    if (argc != 5)
        errx(2, "usage: afar NAME PROGRAM IMAGE LAST");
    test_name = argv[1];
    read_symbols(&symbols, argv[2]);
    read_image(&image, argv[3]);
    if (image.section.addr != symbols.sframe + image.slide || image.section.size < symbols.sframe_size)
        fail("the section is not where the file has it");
    code = sfu_open_remote(&section, read_section, &image, image.section.size, image.section.addr);
    if (code == SFU_OK)
        code = sfu_check(&section, NULL);
    if (code == SFU_OK)
        code = sfu_add(&target.sections, &section);
    if (code != SFU_OK)
        fail("the section: %s", sfu_string(code));
    target.read = read_stack;
    target.reg = read_register;
    target.red_zone = symbols.machine == EM_X86_64 ? 128 : 0;
    target.ctx = &image;
    image.section_reads = 0;
    walk(&target, &image, symbols.machine, &trace);
    compare(&image, &symbols, &trace, argv[4]);
    section_reads = image.section_reads;
    stack_reads = image.stack_reads;
    vary(&image, &target, symbols.machine, &trace);
    printf("ok %s: %u frames, %lu reads of the section, %lu of the stack\n", argv[1], trace.count, section_reads,
           stack_reads);
    return 0;
}
