/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * sfu-trace as a filter: every byte of a log is passed on as soon as it is there, because a prompt that waits for an
 * answer has no end of a line. Under a line that sfu's printer has written comes what it means.
 */
#include "trace.h"
#include "log/dumps.h"
#include "log/foreign.h"
#include "log/front.h"
#include "log/lines.h"
#include "log/log.h"
#include "log/json.h"
#include "log/mi.h"
#include "trace_write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    MAX_LINE = 4096,   /* what is longer is passed on, and not looked at */
    MAX_TEXT = 262144, /* of lines that a logger has written as one */
    MAX_FRAMES = 4096,
    MAX_CPUS = 64 /* whose lines come between each other */
};

struct shown_frame {
    uint64_t number, pc;
    bool exact, sized;
};

/* What the lines of one CPU, or of a program that does not say which, have so far. */
struct cpu_dump {
    unsigned cpu;
    size_t age; /* lines since the last one of it */
    bool ended; /* since then */
    struct dumps dumps;
    bool pc_named;               /* that of the dump, as part of a list, or by its symbol */
    bool ra_named;               /* the same of the return address, by its symbol */
    bool guessed_calls;          /* calls of this dump were listed in lines that might be of anything */
    uint64_t named[DUMPS_NAMED]; /* the first addresses that got names in this dump */
    size_t num_named;
};

struct filter {
    struct trace_options *options;
    struct trace_out out;
    struct trace_image *main; /* the program that prints; NULL: a build ID of no image */
    uint64_t slide;           /* of the trace that is being printed */
    bool slide_said;          /* in the log, for the trace that is to come or is being printed */
    bool in_trace;
    struct shown_frame frames[MAX_FRAMES]; /* of this trace, for a slide that comes behind them */
    size_t num_frames;
    struct log_dump dump;
    struct foreign foreign;
    struct cpu_dump now;
    struct cpu_dump *parked[MAX_CPUS]; /* those of other CPUs */
    size_t num_parked;
    struct log_record record; /* the registers of the last crash record */
    bool has_record, written; /* written: the core of a dump */
    bool behind_record;       /* no frame has come since */
    bool said;                /* something about this log */
    struct lone {
        uint64_t addr;
        unsigned lines; /* since then; 0: there is none */
    } lone;             /* an address of code that stood alone in a line: where a list of calls may begin */
    size_t unnamed;     /* return addresses in lines that might be of anything */
    struct unsaid {
        unsigned registers, foreign, unknown; /* names in what was no dump */
        unsigned rows;                        /* lines of words */
        size_t code, cut;                     /* addresses of code; lines that tell of a crash, and are too long */
        bool crash;                           /* a line tells of one */
        bool has_pc;
        uint64_t pc;
    } unsaid;     /* what the log has, and nothing was said of */
    bool dumped;  /* something was said of registers and words together */
    bool has_cpu; /* lines have the number of a CPU in front of them */
    struct lines_table table;
    struct front front;
    char line[MAX_LINE + 1], row[MAX_LINE + 1];
    size_t size;
    char held[MAX_LINE + 1]; /* a line that may go on in the next one */
    size_t held_size;
    bool holds;
    char *text;       /* the line so far, as it was written; */
    size_t text_size; /* MAX_TEXT if it is longer */
    bool partial;     /* bytes of it have been passed on */
    bool quoted;      /* it is quoted-printable text of a mail */
    size_t joined;    /* the size of what this line goes on with */
};

/* ---- Images ---------------------------------------------------------------------------------------------------- */

/* Where the program is. Other images stay where the command line has put them. */
static void set_log_slide(struct filter *f, uint64_t slide)
{
    f->slide = f->options->images.slide = slide;
    if (f->main != NULL)
        image_place(f->main, slide);
}

static void print_id(char *text, size_t room, const uint8_t *id, size_t size)
{
    size_t i;

    text[0] = '\0';
    for (i = 0; i < size && 2 * i + 2 < room; i++)
        snprintf(text + 2 * i, 3, "%02x", id[i]);
}

/* The image with this build ID is the program from now on. Without one nothing that is printed would be true. */
static void choose_log_image(struct filter *f, const uint8_t *id, size_t size)
{
    struct trace_image *image = images_by_id(&f->options->images, id, size);
    struct trace_image *first = f->options->images.num > 0 ? f->options->images.list[0] : NULL;
    char text[2 * LOG_BUILD_ID + 1];

    if (first == NULL)
        return;
    if (image == NULL && first->build_id_size == 0) {
        out_line(&f->out, "        %s has no build ID: not compared", first->name);
        image = first;
    }
    if (image == NULL) {
        print_id(text, sizeof text, id, size);
        out_line(&f->out, "        WRONG IMAGE: build ID %s is not that of %s%s", text, first->name,
                 f->options->images.num > 1 ? ", nor of another image" : "");
        f->options->images.wrong = true;
    }
    if (f->main != NULL && f->main != image)
        f->main->placed = false;
    f->main = image;
    set_log_slide(f, f->slide);
}

/* ---- Frames ---------------------------------------------------------------------------------------------------- */

/* A function of a module, which lies in no image that is placed: by the name that the printer knew. */
static bool place_by_name(struct filter *f, const struct log_line *line)
{
    size_t i;
    uint64_t addr;

    for (i = 0; i < f->options->images.num; i++) {
        struct trace_image *image = f->options->images.list[i];

        if (image == f->main || !symbols_address(image, line->name, line->name_size, &addr))
            continue;
        addr += line->offset;
        if (!line->exact)
            addr--;
        out_place_in(&f->out, &f->options->images, image, addr);
        return true;
    }
    return false;
}

/* The size of a frame, of which the log says nothing but its PC or, of the one that a crash record begins with, its
 * registers. */
static void size_frame(struct filter *f, const struct log_line *line, uint64_t lookup, bool by_name)
{
    const struct log_registers known = {f->record.registers[1], f->record.registers[2]};
    const bool has = f->behind_record && line->number == 0 && line->pc == f->record.registers[0];

    f->behind_record = false;
    if (!f->options->sizes || line->sized)
        return;
    if (by_name)
        out_line(&f->out, "        bytes of stack not known: its image has no address: give FILE@ADDR");
    else
        out_size(&f->out, &f->options->images, lookup, has ? &known : NULL);
}

static void place_frame(struct filter *f, const struct log_line *line)
{
    uint64_t lookup = line->exact ? line->pc : images_before(&f->options->images, line->pc);
    struct trace_image *image = line->exact || line->pc > 0 ? images_at(&f->options->images, lookup) : NULL;
    struct function_name found;
    bool by_name;

    if (f->main == NULL && image == NULL && f->options->images.num > 0)
        return; /* has been said */
    by_name = image == NULL && line->name != NULL && place_by_name(f, line);
    if (!by_name && !out_exception_return(&f->out, &f->options->images, line->pc))
        out_place(&f->out, &f->options->images, lookup);
    if (images_name(&f->options->images, image, lookup - (image != NULL ? image->slide : 0), &found) &&
        failure_reason(found.name) != NULL)
        out_line(&f->out, "        trap: %s", failure_reason(found.name));
    size_frame(f, line, lookup, by_name);
}

static void end_log_trace(struct filter *f)
{
    f->in_trace = false;
    f->num_frames = 0;
}

/* Numbers only grow within a trace. Its first frames may have been skipped, others abbreviated. */
static bool begins_trace(const struct filter *f, const struct log_line *line)
{
    return line->number == 0 || f->num_frames == 0 || line->number <= f->frames[f->num_frames - 1].number;
}

static void take_frame(struct filter *f, const struct log_line *line)
{
    if (begins_trace(f, line)) {
        end_log_trace(f);
        if (!f->slide_said)
            set_log_slide(f, f->options->slide);
        f->in_trace = true;
        f->slide_said = false;
    }
    if (f->num_frames < MAX_FRAMES)
        f->frames[f->num_frames++] = (struct shown_frame){line->number, line->pc, line->exact, line->sized};
    place_frame(f, line);
}

/* Before a trace; or after its frames, which are then shown again, because another slide was used for them. */
static void take_slide(struct filter *f, uint64_t slide)
{
    struct log_line line = {.kind = LOG_FRAME};
    bool again = f->in_trace && slide != f->slide;
    size_t i;

    set_log_slide(f, slide);
    f->slide_said = !f->in_trace;
    if (!again)
        return;
    out_line(&f->out, "        The frames above, by this slide:");
    for (i = 0; i < f->num_frames; i++) {
        line.pc = f->frames[i].pc;
        line.exact = f->frames[i].exact;
        line.sized = f->frames[i].sized;
        out_line(&f->out, "        #%-2" PRIu64 " 0x%016" PRIx64, f->frames[i].number, line.pc);
        place_frame(f, &line);
    }
}

/* ---- Dumps ----------------------------------------------------------------------------------------------------- */

/* Places the images that the dump says something of. */
static void place_log_images(struct filter *f, const struct log_dump *d)
{
    unsigned i;
    uint64_t addr;

    for (i = 0; i < d->num_places; i++) {
        const struct log_place *p = &d->places[i];
        struct trace_image *image = p->image[0] == '\0' ? f->main : images_by_name(&f->options->images, p->image);

        if (image == NULL)
            continue;
        if (!images_find(&f->options->images, image, p->name, &addr))
            out_line(&f->out, "        %s has no symbol and no section %s", image->name, p->name);
        else if (image == f->main)
            set_log_slide(f, p->addr - addr);
        else
            image_place(image, p->addr - addr);
    }
}

static void fill_registers(const struct log_dump *d, struct trace_space *space)
{
    const struct registers *r = abi_registers(d->abi);
    struct thread_registers *regs = &space->regs;

    memcpy(regs->value, d->value, sizeof d->value);
    memcpy(regs->known, d->known, sizeof d->known);
    regs->value[REGISTER_PC] = d->pc;
    regs->known[REGISTER_PC] = d->has_pc;
    regs->value[r->sp] = d->sp;
    regs->known[r->sp] = d->has_sp;
    regs->value[r->fp] = d->fp;
    regs->known[r->fp] = d->has_fp;
    regs->psp = d->psp;
    regs->has_psp = d->has_psp;
    if (r->link && d->has_ra) {
        regs->value[r->ra] = d->ra;
        regs->known[r->ra] = true;
    }
}

/* Writes the core of a dump whose words are sorted. */
static void write_dump(const struct filter *f, const struct log_dump *d, const struct thread_registers *regs)
{
    const struct core_thread thread = {.id = 1, .regs = *regs};
    struct memory memory = {.segments = NULL};
    struct segment block = {0, 0, sizeof d->words->bytes * d->num_words, NULL};
    struct written w = {.abi = d->abi, .threads = &thread, .num_threads = 1, .blocks = &block, .num_blocks = 1};
    uint8_t *bytes = zeroed(d->num_words + 1, sizeof d->words->bytes);
    size_t i;

    for (i = 0; i < d->num_words; i++) {
        uint8_t *word = bytes + sizeof d->words->bytes * i;

        memcpy(word, d->words[i].bytes, sizeof d->words->bytes);
        memory_add(&memory, d->words[i].addr, 0, word, sizeof d->words->bytes);
    }
    block.bytes = bytes;
    w.build_id = d->id;
    w.build_id_size = d->id_size;
    write_add_memory(&w, &memory);
    write_core(&w, f->options->written);
    free(w.pieces);
    free(memory.segments);
    free(bytes);
}

static void unwind_dump(struct filter *f)
{
    struct log_dump *d = &f->dump;
    uint64_t slide = f->slide;
    struct trace_space space;

    if (d->id_size > 0)
        choose_log_image(f, d->id, d->id_size);
    if (f->options->images.num == 0)
        out_line(&f->out, "        a dump needs an image, for its tables");
    if (f->main == NULL)
        return;
    if (!abi_fits(d->abi, f->main->image.abi)) {
        out_line(&f->out, "        a dump of %s, but %s is for %s", abi_name(d->abi), f->main->name,
                 abi_name(f->main->image.abi));
        return;
    }
    if (d->num_places == 0)
        set_log_slide(f, f->options->slide);
    place_log_images(f, d);
    log_dump_sort(d);
    trace_space_init(&space, f->options, d->abi);
    space.halted = !d->known[0]; /* a dump has r0 if it begins with what was interrupted, and has been pushed */
    space.read = log_dump_read;
    space.ctx = d;
    space.unplaced = d->counted;
    space.jumped = d->jumped;
    if (d->pac != 0)
        space.pac_mask = d->pac;
    fill_registers(d, &space);
    if (d->num_places == 0)
        slide_set(&space, f->options->slide);
    if (!walk_print(&f->out, &space, d->exact ? SFU_PC_EXACT : SFU_PC_RETURN))
        out_line(&f->out, "        a dump without PC and SP");
    else if (d->missing > 0)
        out_line(&f->out, "        %zu words of the stack are missing in the log", d->missing);
    if (d->lost > 0)
        out_line(&f->out, "        %zu lines of the dump are missing in the log, or damaged", d->lost);
    if (f->options->written != NULL)
        write_dump(f, d, &space.regs);
    f->written = true;
    set_log_slide(f, slide);
}

static void take_dump(struct filter *f, const char *text, size_t size)
{
    enum log_dump_event event = log_dump_line(&f->dump, text, size);

    if (event == DUMP_CUT) {
        out_line(&f->out, "        the dump before this one is not complete:");
        unwind_dump(f);
        event = log_dump_line(&f->dump, text, size);
    }
    if (event == DUMP_BAD)
        out_line(&f->out, "        not a line of a dump, or a damaged one");
    if (event == DUMP_DONE)
        unwind_dump(f);
}

/* Unwinds what a dump of another system has, as one of sfu's. */
static void unwind_other(struct filter *f, struct log_dump *dump)
{
    const struct log_dump before = f->dump;

    f->dump = *dump;
    unwind_dump(f);
    *dump = f->dump;
    f->dump = before;
}

static void unwind_foreign(struct filter *f, struct log_dump *dump)
{
    if (f->foreign.wrong != NULL)
        out_line(&f->out, "        a dump that cannot be used: %s", f->foreign.wrong);
    else
        unwind_other(f, dump);
    log_dump_clear(dump);
}

/* ---- Dumps of others ------------------------------------------------------------------------------------------- */

/* Where the first byte of IMAGE was linked to, in pages. */
static uint64_t link_base(const struct trace_image *image)
{
    uint64_t base = image->image.num_code > 0 ? image->image.code[0]->addr : 0;
    size_t num = 0, i;
    GElf_Phdr p;

    (void)elf_getphdrnum(image->image.elf, &num);
    for (i = 0; i < num; i++)
        if (gelf_getphdr(image->image.elf, (int)i, &p) != NULL && p.p_type == PT_LOAD && p.p_vaddr < base)
            base = p.p_vaddr;
    return base & ~UINT64_C(0xfff);
}

/* How far the program was moved, by what the dump says. */
static uint64_t dump_slide(const struct filter *f)
{
    const struct dumps *d = &f->now.dumps;

    return d->has_slide                    ? d->slide
           : d->has_base                   ? d->base - link_base(f->main)
           : d->has_linked && d->has_moved ? d->moved - d->linked
                                           : f->options->slide;
}

static bool is_return_address(const struct filter *f, uint64_t addr)
{
    return images_is_return(&f->options->images, addr);
}

/* Why the instruction at the PC traps, if it does. Nothing is said behind a call: the PC may be a return address, and
 * compilers put a trap behind a call that does not return. */
static void say_reason(struct filter *f, uint64_t pc)
{
    const struct trace_image *image = images_at(&f->options->images, pc);
    struct trace_space space;
    const char *reason;

    if (image == NULL || image->image.abi == 0 || (abi_is_arm(image->image.abi) && (pc & 1) != 0) ||
        is_return_address(f, pc))
        return;
    trace_space_init(&space, f->options, f->now.dumps.abi != 0 ? f->now.dumps.abi : image->image.abi);
    space.read = log_dump_read;
    space.ctx = &f->now.dumps.dump;
    reason = trap_reason(&space, pc);
    if (reason != NULL)
        out_line(&f->out, "        trap: %s", reason);
}

/* A register that is an address of code, and what is there. */
static void name_register(struct filter *f, const char *name, uint64_t value, bool is_return)
{
    const uint64_t addr = abi_is_arm(f->now.dumps.abi) ? value & ~UINT64_C(1) : value;

    if (is_return && (value < NULL_PAGE || images_at(&f->options->images, addr - 1) == NULL))
        return;
    out_line(&f->out, "    %s 0x%" PRIx64, name, value);
    if (out_exception_return(&f->out, &f->options->images, value))
        return;
    out_place(&f->out, &f->options->images, addr - is_return);
    if (!is_return)
        say_reason(f, value);
}

/* Registers that the CPU pushed lie at the SP that NAME says; the log has its words, or not. */
static void say_not_pushed(struct filter *f, const char *name, uint64_t addr)
{
    struct log_dump *d = &f->now.dumps.dump;
    uint8_t byte;

    log_dump_sort(d);
    if (!log_dump_read(d, addr, &byte, 1))
        out_line(&f->out,
                 "        no trace: the log has no words of the stack from %s (0x%" PRIx64 ") on: print them", name,
                 addr);
    else if (!d->has_pc || !d->has_ra)
        out_line(&f->out,
                 "        no trace: the log has no %s, which tells whether the CPU has pushed registers at %s "
                 "(0x%" PRIx64 "): print it",
                 d->has_pc ? "LR" : "PC", name, addr);
    else
        out_line(&f->out,
                 "        no trace: LR and PC of the log are not in the words at %s (0x%" PRIx64
                 "), where the CPU pushes registers: print SP, or %s as it was when the handler began",
                 name, addr, name);
}

/* The log has words of memory, but not where they lie: WHY. */
static void say_unplaced(struct filter *f, const char *why)
{
    out_line(&f->out,
             "        no trace: %s: if they are the stack from SP (0x%" PRIx64
             ") on, write a line \"stack:\" before them",
             why, f->now.dumps.dump.sp);
}

static void say_halves(struct filter *f)
{
    out_line(&f->out,
             "        no trace: the log does not say whether its numbers of four digits are bytes in the order of "
             "memory, or numbers of 16 bits: print bytes, or words of %u digits",
             2 * f->now.dumps.word);
}

/* The log has no SP, though it may have those of a Cortex-M, at which the CPU has pushed registers. */
static void say_no_sp(struct filter *f)
{
    const struct dumps *d = &f->now.dumps;

    if (d->num_halves > 0)
        say_halves(f);
    else if (d->dump.has_psp || d->has_msp)
        say_not_pushed(f, d->dump.has_psp ? "PSP" : "MSP", d->dump.has_psp ? d->dump.psp : d->msp);
    else if (levels_any(&d->levels) && levels_in_use(&d->levels) != NO_LEVEL)
        out_line(&f->out, "        no trace: the log has no SP_EL%u, which was in use, as SPSR says: print SP_EL%u",
                 levels_in_use(&d->levels), levels_in_use(&d->levels));
    else if (levels_any(&d->levels))
        out_line(&f->out,
                 "        no trace: the log has no SPSR, which says the SP of which exception level was in "
                 "use: print SPSR, or SP");
    else
        out_line(&f->out, "        no trace: the log has no register that is known as SP%s",
                 d->dump.num_words > 0 ? ": print it"
                 : d->bare > 1         ? ", and does not say where its words of memory lie: print both"
                                       : ", and no words of the stack: print both");
}

static bool is_in_image(const struct filter *f, uint64_t addr)
{
    return images_at(&f->options->images, addr) != NULL;
}

/* What a log lacks for a trace. */
static void say_lacking(struct filter *f)
{
    const struct dumps *d = &f->now.dumps;
    const char *image = f->main->name;

    if (d->foreign > 3 && (!d->dump.has_pc || (d->foreign >= d->registers && !is_in_image(f, d->dump.pc))))
        out_line(&f->out, "        registers of another CPU than %s is for: give the image that has printed them",
                 image);
    else if (!d->dump.has_pc && !f->now.pc_named)
        out_line(
            &f->out,
            "        this looks like a dump, but no register in it is known as the PC: --formats=FILE says how "
            "registers are named");
    else if (f->main->image.abi == 0)
        out_line(&f->out, "        stacks of this CPU are not unwound: names alone");
    else if (!d->dump.has_sp)
        say_no_sp(f);
    else if (d->mixed)
        out_line(&f->out, "        no trace: two CPUs or threads have printed their registers at once: print the "
                          "number of the CPU in front of each line, as [CPU1]");
    else if (d->dump.num_words == 0 && d->num_halves > 0)
        say_halves(f);
    else if (d->dump.num_words == 0 && d->lone_end > d->lone_first)
        out_line(&f->out,
                 "        no trace: the numbers without addresses may be words of the stack, or return addresses: "
                 "print the address of each word before it");
    else if (d->dump.num_words == 0 && d->narrow)
        out_line(&f->out,
                 "        no trace: the numbers of the array at SP (0x%" PRIx64
                 ") are not as long as words: print words of %u digits",
                 d->dump.sp, 2 * d->word);
    else if (d->dump.num_words == 0 && d->unplaced)
        out_line(&f->out,
                 "        no trace: the words in JSON have a base that is not SP (0x%" PRIx64
                 "), or are in an object whose name does not say that it is memory: write \"address\" before the "
                 "address of the first one and \"memory\" before a map from addresses to words",
                 d->dump.sp);
    else if (d->dump.num_words == 0 && (d->bare > 1 || d->singles > 3))
        say_unplaced(f, "the log does not say where its words of memory lie");
    else if (d->dump.num_words == 0 && d->symbol_rows > 1)
        say_unplaced(f, "words of memory stand behind symbols in the log, not behind their addresses");
    else if (d->dump.num_words == 0 && d->near_rows + d->num_shorts > 1)
        out_line(&f->out,
                 "        no trace: lines of the log have addresses near SP (0x%" PRIx64
                 "), but what follows is in no form that is known: print words of %u digits",
                 d->dump.sp, 2 * d->word);
    else if (d->dump.num_words == 0)
        out_line(&f->out,
                 "        no trace: the log has no words of the stack from SP (0x%" PRIx64 ") on%s: print them",
                 d->dump.sp, d->rows + d->strings > 0 ? " in a form that is known" : "");
    else
        out_line(&f->out, "        no trace: the log names the function that the PC is in, but does not have the "
                          "PC: print it");
}

/* Words of the stack that are return addresses perhaps: all that is known where a CPU is not unwound. */
static void name_words(struct filter *f)
{
    enum { MOST = 64 };
    const struct log_dump *d = &f->now.dumps.dump;
    const unsigned word = f->now.dumps.word;
    unsigned named = 0;
    size_t i, at;

    for (i = 0; i < d->num_words && named < MOST; i++) {
        for (at = 0; at < 8 && named < MOST; at += word) {
            const uint64_t value = load_number(d->words[i].bytes + at, word, f->now.dumps.big);

            if (value < NULL_PAGE || images_at(&f->options->images, value) == NULL)
                continue;
            if (named++ == 0)
                out_line(&f->out, "    words of the stack that lie in the code:");
            out_line(&f->out, "    0x%" PRIx64, value);
            out_place(&f->out, &f->options->images, value - 1);
        }
    }
}

/* Words that may be of the stack, and may be a list of calls: those that are return addresses. */
static void name_lone_words(struct filter *f)
{
    const struct dumps *d = &f->now.dumps;
    uint64_t next = 0, addr;
    size_t i, at;

    for (i = d->lone_first; i < d->lone_end; i++) {
        for (at = 0; at < 8; at += d->word) {
            const uint64_t value = load_number(d->dump.words[i].bytes + at, d->word, d->big);

            addr = d->dump.words[i].addr + at;
            if (addr < next || !is_return_address(f, abi_is_arm(d->abi) ? value & ~UINT64_C(1) : value))
                continue;
            next = addr + d->word;
            name_register(f, "return address", value, true);
        }
    }
}

/* Where the function at ADDR begins, or ADDR. */
static uint64_t function_at(const struct filter *f, uint64_t addr)
{
    struct trace_image *image = images_at(&f->options->images, addr);
    struct function_name found;

    return image != NULL && images_name(&f->options->images, image, addr - image->slide, &found)
               ? addr - found.offset
               : addr;
}

/* Whether the call that returns to ADDR is in a function that got a name in this dump. */
static bool is_named(const struct filter *f, uint64_t addr)
{
    const uint64_t start = function_at(f, (abi_is_arm(f->now.dumps.abi) ? addr & ~UINT64_C(1) : addr) - 1);
    size_t i;

    for (i = 0; i < f->now.num_named; i++)
        if (function_at(f, f->now.named[i]) == start)
            return true;
    return false;
}

static void note_named(struct filter *f, uint64_t addr)
{
    if (f->now.num_named < DUMPS_NAMED)
        f->now.named[f->now.num_named++] = addr;
}

/* A PC that is alone, and in no image, may be anything. */
static bool is_chance(const struct filter *f)
{
    const struct dumps *d = &f->now.dumps;

    return d->dump.has_pc && d->registers <= 1 && !d->begun && !d->has_slide && !d->has_base &&
           images_at(&f->options->images, d->dump.pc) == NULL;
}

/* A null pointer was called, and the caller is known by a register that the log does not have. */
static void say_no_link(struct filter *f)
{
    const struct log_dump *d = &f->now.dumps.dump;

    if (abi_registers(d->abi)->link && !d->has_ra && d->pc < NULL_PAGE &&
        images_at(&f->options->images, d->pc) == NULL)
        out_line(&f->out,
                 "        who has called this is in the return address register (%s), which the log does not "
                 "have: print it",
                 abi_is_riscv(d->abi)     ? "ra"
                 : d->abi == SFU_S390X    ? "r14"
                 : abi_is_aarch64(d->abi) ? "x30"
                                          : "lr");
}

/* A map has names alone. */
static void say_no_image(struct filter *f)
{
    const struct log_dump *d = &f->now.dumps.dump;

    if (d->has_pc) {
        out_line(&f->out, "    pc 0x%" PRIx64, d->pc);
        out_place(&f->out, &f->options->images, d->pc);
    }
    out_line(&f->out, "        no trace: a dump needs an image, for its tables");
}

static void say_dump(struct filter *f)
{
    const struct trace_options *o = f->options;
    const uint64_t given = o->slide, before = f->slide;
    struct dumps *d = &f->now.dumps;
    const bool has_calls = d->listed && !f->now.guessed_calls && f->now.num_named != 1; /* one address is no list */
    uint8_t byte;

    if (f->options->images.num == 0)
        say_no_image(f);
    if (f->main == NULL || is_chance(f))
        return;
    if (f->num_parked > 0 && f->now.cpu != LINES_NO_CPU)
        out_line(&f->out, "    of %s %u:", (f->now.cpu & LINES_TASK) != 0 ? "task" : "CPU",
                 f->now.cpu & ~LINES_TASK);
    f->options->slide = dump_slide(f);
    set_log_slide(f, o->slide);
    log_dump_sort(&d->dump);
    if (d->dump.has_pc && d->dump.has_sp && f->main->image.abi != 0 && !d->mixed &&
        (d->dump.num_words > 0 || log_dump_read(&d->dump, d->dump.sp, &byte, 1))) {
        unwind_other(f, &d->dump);
        say_no_link(f);
        if (d->contradicted)
            out_line(&f->out,
                     "        the log has different words for 0x%" PRIx64 " of the stack: none of them was used",
                     d->contradiction);
        else if (!log_dump_read(&d->dump, d->dump.sp, &byte, 1))
            out_line(&f->out, "        SP 0x%" PRIx64 " lies in no word of the stack that the log has", d->dump.sp);
        if (d->counted)
            out_line(&f->out,
                     "        the words of the stack have no addresses in the log: the frames are right only "
                     "if none of its lines is missing");
    } else {
        if (d->dump.has_pc && (!f->now.pc_named || (is_in_image(f, d->dump.pc) && !is_named(f, d->dump.pc + 1))))
            name_register(f, "pc", d->dump.pc, false);
        if (d->dump.has_ra && !f->now.ra_named && !is_named(f, d->dump.ra))
            name_register(f, "return address", d->dump.ra, true);
        if (f->main->image.abi == 0 && !d->listed)
            name_words(f);
        name_lone_words(f);
        if (!has_calls)
            say_lacking(f);
    }
    f->options->slide = given;
    set_log_slide(f, before);
}

/* A PC that is all that a log has of registers, and lies in the code. In the frame of a caller it is a return
 * address. */
static void name_lone_pc(struct filter *f)
{
    const struct log_dump *d = &f->now.dumps.dump;

    if (f->main != NULL && d->has_pc && !f->now.pc_named && !f->now.dumps.listed && is_in_image(f, d->pc))
        name_register(f, "pc", d->pc, f->now.dumps.caller && is_return_address(f, d->pc));
}

/* What a dump has of which nothing is said. */
static void note_unsaid(struct filter *f)
{
    enum { LEAST = 4 /* registers without a number that may be an address: fewer may be any words */ };
    const struct dumps *d = &f->now.dumps;
    struct unsaid *u = &f->unsaid;

    u->registers += d->registers >= LEAST && d->registers > d->pointers ? d->registers : d->pointers;
    u->foreign += d->foreign;
    u->unknown = d->most_unknown > u->unknown ? d->most_unknown : u->unknown;
    u->rows += d->rows + (d->dump.num_words > 0 ? 2u : 0);
    if (d->dump.has_pc && !u->has_pc) {
        u->has_pc = true;
        u->pc = d->dump.pc;
    }
}

static void end_dump(struct filter *f)
{
    const bool whole = dumps_finish(&f->now.dumps);

    if (!whole) {
        name_lone_pc(f);
        note_unsaid(f);
    }
    if (whole || (f->now.pc_named && f->now.dumps.dump.has_sp && !f->now.dumps.listed)) {
        say_dump(f);
        f->dumped = true;
    }
    f->now.dumps.stack_lost = f->now.dumps.stack_lost && !whole;
    dumps_clear(&f->now.dumps);
    f->now.num_named = 0;
    f->now.pc_named = f->now.ra_named = f->now.guessed_calls = false;
}

/* Takes the dump P of another CPU in place of this one's. */
static void swap_parked(struct filter *f, struct cpu_dump *p)
{
    const struct cpu_dump mine = f->now;

    f->now = *p;
    *p = mine;
    p->age = 0;
    p->ended = false;
}

static void start_dumps(const struct filter *f, struct dumps *dumps)
{
    dumps_start(dumps, f->options->formats, f->main != NULL ? f->main->image.abi : 0,
                f->main != NULL ? f->main->image.registers->word : 8, f->main != NULL && f->main->image.big);
}

static bool is_empty(const struct dumps *d)
{
    return d->registers == 0 && d->dump.num_words == 0 && d->run_size == 0;
}

/* Ends P, a dump of another CPU. */
static void end_other(struct filter *f, struct cpu_dump *p)
{
    swap_parked(f, p);
    end_dump(f);
    swap_parked(f, p);
}

/* The dump of CPU, not this one: the one that has begun, or a new one. If there is no room, the one that has waited
 * longest ends. */
static struct cpu_dump *parked_of(struct filter *f, unsigned cpu)
{
    struct cpu_dump *p = NULL;
    size_t i;

    for (i = 0; i < f->num_parked; i++)
        if (f->parked[i]->cpu == cpu)
            return f->parked[i];
    if (f->num_parked < MAX_CPUS) {
        p = f->parked[f->num_parked++] = zeroed(1, sizeof *p);
        start_dumps(f, &p->dumps);
    }
    for (i = 0; i < MAX_CPUS && p == NULL; i++)
        if (is_empty(&f->parked[i]->dumps))
            p = f->parked[i];
    if (p == NULL) {
        for (p = f->parked[0], i = 1; i < MAX_CPUS; i++)
            if (f->parked[i]->age > p->age)
                p = f->parked[i];
        end_other(f, p);
    }
    p->cpu = cpu;
    return p;
}

/* The line is one of CPU: it belongs to that CPU's dump. */
static void choose_cpu(struct filter *f, unsigned cpu)
{
    if (!f->has_cpu && is_empty(&f->now.dumps))
        f->now.cpu = cpu;
    f->has_cpu = true;
    if (cpu != f->now.cpu)
        swap_parked(f, parked_of(f, cpu));
}

/* A line without the number of a CPU goes on with the last dump that has begun: "CPU1: stopped" is none. */
static void return_to_dump(struct filter *f)
{
    struct cpu_dump *last = NULL;
    size_t i;

    for (i = 0; i < f->num_parked && is_empty(&f->now.dumps); i++)
        if (!is_empty(&f->parked[i]->dumps) && (last == NULL || f->parked[i]->age < last->age))
            last = f->parked[i];
    if (last != NULL)
        swap_parked(f, last);
}

/* Ends the dumps of other CPUs of which no line has come for long, though each of them may have had some; or all. */
static void end_parked(struct filter *f, bool all)
{
    enum { LONG = 100, LINES_EACH = 4 };
    size_t i;

    for (i = 0; i < f->num_parked; i++) {
        struct cpu_dump *p = f->parked[i];

        if (p->age++ < LONG + LINES_EACH * f->num_parked && !all)
            continue;
        if (!p->ended)
            end_other(f, p);
        p->ended = true;
    }
}

/* Above the calls that led there stands where the program was. */
static void name_pc_first(struct filter *f, const struct named_address *named)
{
    const struct log_dump *d = &f->now.dumps.dump;

    if ((named->is_return || named->addr != d->pc) && !f->now.pc_named && d->has_pc &&
        images_at(&f->options->images, d->pc) != NULL) {
        name_register(f, "pc", d->pc, false);
        note_named(f, abi_is_arm(f->now.dumps.abi) ? d->pc & ~UINT64_C(1) : d->pc);
        f->now.pc_named = true;
    }
}

/* The image that begins at BASE is the program. Returns whether the address lies in the code of an image. */
static bool name_address(struct filter *f, const struct named_address *named)
{
    const uint64_t addr = abi_is_arm(f->now.dumps.abi) ? named->addr & ~UINT64_C(1) : named->addr;
    const uint64_t before = f->slide;
    struct trace_image *at;

    if (f->main != NULL)
        set_log_slide(f, named->base != 0 ? named->base - link_base(f->main) : dump_slide(f));
    name_pc_first(f, named);
    at = images_at(&f->options->images, addr - named->is_return);
    f->now.pc_named = f->now.pc_named || (!named->is_return && at != NULL);
    if (at != NULL)
        note_named(f, addr - named->is_return);
    if (at != NULL || f->options->images.num == 0) {
        out_line(&f->out, "    0x%" PRIx64, named->addr);
        out_place(&f->out, &f->options->images, addr - named->is_return);
        if (!named->is_return && f->now.dumps.dump.has_pc && named->addr == f->now.dumps.dump.pc)
            say_reason(f, named->addr);
    } else if (!f->now.dumps.list) {
        out_line(&f->out, "    0x%" PRIx64 ": %s", named->addr,
                 is_exception_return(&f->options->images, named->addr) ? EXCEPTION_RETURN : "in no image");
    }
    if (f->main != NULL)
        set_log_slide(f, before);
    return at != NULL;
}

/* ADDR without the bit that says that its code is Thumb. */
static uint64_t code_address(const struct filter *f, uint64_t addr)
{
    return abi_is_arm(f->now.dumps.abi) ? addr & ~UINT64_C(1) : addr;
}

/* Whether the NUM addresses of a line all lie in the code, and two at least are return addresses: words of a stack have
 * others between them. */
static bool are_calls(const struct filter *f, const struct named_address *list, size_t num)
{
    size_t i, returns = 0;

    for (i = 0; i < num; i++) {
        if (!is_in_image(f, code_address(f, list[i].addr)))
            return false;
        returns += list[i].is_return;
    }
    return returns >= 2;
}

/* Above return addresses stands where the program was, alone in a line shortly before the first of them. */
static void name_lone(struct filter *f, const struct named_address *call)
{
    enum { NEAR = 4 /* lines: some lists print lines of source between their frames */ };
    const struct named_address lone = {f->lone.addr, 0, false};

    if (f->lone.lines > 0 && f->lone.lines <= NEAR && lone.addr != call->addr &&
        !(f->now.num_named > 0 && f->now.named[f->now.num_named - 1] == lone.addr))
        (void)name_address(f, &lone);
    f->lone.lines = 0;
}

enum { MOST_OF_CRASH = 4 /* numbers of a line that tells of a crash */ };

/* Whether LINE tells of a crash. */
static bool says_crash(const char *line)
{
    static const char *const words[] = {"fault", "trap", "exception", "abort", "crash", "panic", "illegal"};
    const char *found;
    size_t i;

    for (i = 0; i < sizeof words / sizeof words[0]; i++) {
        found = strcasestr(line, words[i]);
        if (found != NULL && !(found - line >= 2 && strncasecmp(found - 2, "default", 7) == 0))
            return true;
    }
    return false;
}

/* Whether the line tells of a crash, before the log has a PC: addresses of code in it are likely to be where that
 * happened, and who has called. */
static bool is_crash(const struct filter *f, const struct named_address *list, size_t num)
{
    size_t i;

    for (i = 0; i < num && num <= MOST_OF_CRASH && !f->now.dumps.dump.has_pc; i++)
        if (!list[i].is_return && is_in_image(f, list[i].addr))
            return says_crash(f->line);
    return false;
}

/* Lines of lists that no format has: numbers that can be nothing but return addresses, and what a line that begins with
 * the number 0 has. Lines with more than MOST numbers get no names; their return addresses are counted. */
static void name_returns(struct filter *f, size_t size, size_t most)
{
    const uint64_t before = f->slide;
    struct named_address list[DUMPS_NAMED];
    bool first, calls, crash;
    const size_t num = dumps_addresses(&f->now.dumps, f->line, size, list, &first);
    size_t i;

    set_log_slide(f, dump_slide(f));
    for (i = 0; i < num; i++)
        list[i].is_return = is_return_address(f, code_address(f, list[i].addr));
    calls = most > 0 && are_calls(f, list, num);
    crash = is_crash(f, list, num);
    for (i = 0; i < num; i++) {
        const bool in_image = is_in_image(f, code_address(f, list[i].addr));
        bool named;

        if (num > most && !calls && !crash) {
            f->unnamed += list[i].is_return;
            continue;
        }
        if (list[i].is_return)
            name_lone(f, &list[i]);
        named = (list[i].is_return || calls || ((first || crash) && in_image)) && name_address(f, &list[i]);
        f->now.guessed_calls = f->now.guessed_calls || (named && !crash && !f->now.dumps.listed);
        f->now.dumps.listed = f->now.dumps.listed || (named && !crash);
    }
    if (num == 1 && most > 0 && !first && !crash && !list[0].is_return && is_in_image(f, list[0].addr))
        f->lone = (struct lone){list[0].addr, 1};
    set_log_slide(f, before);
}

/* ---- Names and offsets ----------------------------------------------------------------------------------------- */

/* The image whose file is named as MODULE, "-" and "_" being the same, or NULL. */
static struct trace_image *module_named(const struct filter *f, const char *module, size_t size)
{
    size_t i, k;

    for (i = 0; i < f->options->images.num; i++) {
        const char *name = f->options->images.list[i]->name;

        for (k = 0; k < size && (name[k] == module[k] || (name[k] == '-' && module[k] == '_')); k++)
            continue;
        if (k == size && (name[k] == '.' || name[k] == '\0'))
            return f->options->images.list[i];
    }
    return NULL;
}

/* Whether the word before P says that a PC follows, not a return address. */
static bool follows_pc(const char *line, const char *p)
{
    static const char *const words[] = {"rip:", "pc", "epc", "psw", "nip", "at", "r"};
    const char *end, *word;
    size_t i;

    for (end = p; end > line && (end[-1] == ' ' || end[-1] == ':' || end[-1] == '('); end--)
        continue;
    for (word = end; word > line && text_is_of_a_word(word[-1]); word--)
        continue;
    if (end > line && end[-1] == '0' && word > line && strchr(line, ':') != NULL)
        return strstr(line, "RIP") != NULL; /* "RIP: 0010:f+0x1/0x2" */
    for (i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncasecmp(word, words[i], strlen(words[i])) == 0 && word + strlen(words[i]) == end)
            return strcmp(words[i], "at") != 0 || strstr(line, "PC is") != NULL;
    return false;
}

/* Whether the name at P is that of the return address: "ra : name", "lr : name", "LR is at name". */
static bool follows_link(const char *line, const char *p)
{
    const char *end, *word;

    for (end = p; end > line && (end[-1] == ' ' || end[-1] == ':');)
        end--;
    for (word = end; word > line && text_is_of_a_word(word[-1]);)
        word--;
    if (end - word == 2 && strncasecmp(word, "at", 2) == 0)
        return strstr(line, "LR is") != NULL;
    return end - word == 2 && (strncasecmp(word, "ra", 2) == 0 || strncasecmp(word, "lr", 2) == 0);
}

/* "0x12/0x34" behind "name+". */
static bool take_length(struct text t, struct log_line *line)
{
    uint64_t length;

    return text_take(&t, "0x") && text_number_to(&t, '/', &line->offset) && text_take(&t, "0x") &&
           text_number(&t, 16, 1, 16, &length);
}

/* "f(1) at name+0x12", "Stopped at name+0x12:", "f() at netbsd:name+0x12", "unix:name+12 ()". NAME: in the line. */
static bool take_bsd(const char *text, const char *name, struct text t, struct log_line *line)
{
    const bool prefixed = text_take(&t, "0x");
    const char *before = name;

    if (!text_number(&t, 16, 1, 16, &line->offset))
        return false;
    if (!prefixed)
        return before > text && before[-1] == ':' && text_take(&t, " ()");
    while (before > text && (before[-1] == ':' || text_is_of_a_word(before[-1])))
        before--;
    while (before > text && (before[-1] == ' ' || before[-1] == '\t'))
        before--;
    return before - text > 3 && memcmp(before - 3, " at", 3) == 0;
}

/* "name+0x12/0x34", and perhaps " [module]": as Linux and Xen print addresses; and as the BSDs do, if the line has none
 * of the NUM addresses that have names. */
static bool name_symbols(struct filter *f, size_t size, size_t num)
{
    bool found = false;
    char *end = f->line + size, *p;

    for (p = f->line; (p = memchr(p, '+', (size_t)(end - p))) != NULL; p++) {
        struct text t = {p + 1, end};
        struct log_line line = {.kind = LOG_FRAME};
        struct trace_image *module;
        const char *name = p, *bracket;
        uint64_t addr;
        bool link, placed;

        while (name > f->line && (text_is_of_a_word(name[-1]) || name[-1] == '.' || name[-1] == '$'))
            name--;
        if (name == p || !(take_length(t, &line) || (num == 0 && take_bsd(f->line, name, t, &line))))
            continue;
        found = true;
        line.exact = line.offset == 0 || follows_pc(f->line, name);
        line.name = name;
        line.name_size = (size_t)(p - name);
        link = follows_link(f->line, name);
        f->now.ra_named = f->now.ra_named || link;
        f->now.pc_named = f->now.pc_named || line.exact;
        while (t.p < end && *t.p != ' ')
            t.p++;
        bracket = text_take(&t, " [") ? memchr(t.p, ']', (size_t)(end - t.p)) : NULL;
        module = bracket != NULL ? module_named(f, t.p, (size_t)(bracket - t.p)) : f->main;
        placed = module != NULL && symbols_address(module, line.name, line.name_size, &addr);
        if (placed)
            note_named(f, addr + line.offset - !line.exact + module->slide);
        if (placed)
            out_place_in(&f->out, &f->options->images, module, addr + line.offset - !line.exact);
        else
            placed = bracket == NULL && place_by_name(f, &line);
        f->now.dumps.listed = f->now.dumps.listed || (placed && !link && !follows_pc(f->line, name));
    }
    return found;
}

/* Whether ADDR lies in a function, behind its first instruction: that one's address stands in many logs. */
static bool is_inside(const struct filter *f, uint64_t addr)
{
    struct trace_image *image = images_at(&f->options->images, addr);
    struct function_name found;

    return image != NULL && images_name(&f->options->images, image, addr - image->slide, &found) &&
           found.offset > 0;
}

/* Notes what in the line looks like a crash, until something has been said. */
static void note_line(struct filter *f, size_t size)
{
    struct named_address list[DUMPS_NAMED];
    size_t num, i;

    if (f->said || f->main == NULL)
        return;
    f->unsaid.crash = f->unsaid.crash || says_crash(f->line);
    num = dumps_numbers(&f->now.dumps, f->line, size, list);
    for (i = 0; i < num; i++)
        f->unsaid.code += is_inside(f, code_address(f, list[i].addr));
}

static struct lines_names names_of(const struct filter *f)
{
    const struct dumps *d = &f->now.dumps;

    return (struct lines_names){f->options->formats, d->cpu, d->word, d->dump.has_sp, d->dump.sp};
}

/* Takes off what a logger has put in front of the line; returns the size of the rest. */
static size_t without_front(struct filter *f, size_t size, const struct lines_names *names)
{
    const size_t front = front_size(&f->front, f->line, size, names);

    memmove(f->line, f->line + front, size - front);
    return size - front;
}

/* A line that is none of sfu's. */
static void take_foreign(struct filter *f, size_t size)
{
    const uint8_t abi = f->main != NULL ? f->main->image.abi : 0;
    struct named_address named[DUMPS_NAMED];
    const struct lines_names names = names_of(f);
    const char *text = f->line;
    struct log_dump dump;
    bool listed, found = false, symbols = false;
    size_t num, i, row;
    unsigned cpu;

    if (f->options->images.num > 0 && foreign_line(&f->foreign, abi, f->line, size, &dump))
        unwind_foreign(f, &dump);
    if (f->foreign.took)
        return;
    size = without_front(f, size, &names);
    if (size == 0)
        return;
    f->line[size] = '\0';
    note_line(f, size);
    f->lone.lines += f->lone.lines > 0 && size > 0;
    if (lines_cpu(f->line, size, &cpu))
        choose_cpu(f, cpu);
    else
        return_to_dump(f);
    end_parked(f, false);
    row = lines_row(&f->table, f->line, size, &names, f->row, MAX_LINE);
    text = row > 0 ? f->row : f->line;
    if (dumps_ends(&f->now.dumps, text, row > 0 ? row : size))
        end_dump(f);
    listed = f->now.dumps.listed;
    num = dumps_take(&f->now.dumps, text, row > 0 ? row : size, named);
    if (f->now.dumps.unread != NULL && f->main != NULL)
        out_line(&f->out, "        no trace: %s", f->now.dumps.unread);
    f->now.dumps.unread = NULL;
    for (i = 0; i < num; i++) {
        if (named[i].is_return)
            name_lone(f, &named[i]);
        found = name_address(f, &named[i]) || found;
    }
    if (num > 0 && !found && f->main != NULL)
        f->now.dumps.listed = listed;
    if (f->options->images.num > 0)
        symbols = name_symbols(f, size, num);
    /* More than two numbers in a line are words of a stack, or registers. */
    if (f->main != NULL && num == 0 && !symbols)
        name_returns(f, size, !f->now.dumps.taken || f->now.dumps.ignored ? 2 : 0);
}

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

/* A line has been passed on, without its end. */
static void filter_line(struct filter *f, const char *eol)
{
    struct log_line line;
    size_t size = f->size;

    f->out.eol = eol;
    log_parse(f->line, size, &line);
    switch (line.kind) {
    case LOG_FRAME:
        take_frame(f, &line);
        break;
    case LOG_SLIDE:
        take_slide(f, line.number);
        break;
    case LOG_ID:
        choose_log_image(f, line.id, line.id_size);
        break;
    case LOG_DUMP:
        take_dump(f, f->line + line.dump, size - line.dump);
        break;
    case LOG_END:
        end_log_trace(f);
        break;
    case LOG_RECORD:
        memcpy(f->record.registers, line.registers, sizeof line.registers);
        f->has_record = f->behind_record = true;
        break;
    default:
        take_foreign(f, size);
        break;
    }
}

static void flush(const struct filter *f)
{
    if (fflush(f->out.file) != 0)
        report_fail("the standard output cannot be written: %s", strerror(errno));
}

/* Takes the line that was held back: nothing goes on with it. */
static void take_held(struct filter *f)
{
    if (!f->holds)
        return;
    memcpy(f->line, f->held, f->held_size);
    f->size = f->held_size;
    f->holds = false;
    filter_line(f, f->out.eol);
}

/* Takes a line as the program has printed it; or a part of it, if a terminal has cut it. */
static void take_line(void *ctx, const char *line, size_t size)
{
    struct filter *f = ctx;
    const struct lines_names names = names_of(f);
    char clean[MAX_LINE];
    struct log_line own;
    bool space;

    if (size >= MAX_LINE) {
        f->unsaid.cut += says_crash(line);
        return;
    }
    memcpy(clean, line, size);
    size = text_clean(clean, size);
    if (f->holds && f->held_size + size < MAX_LINE &&
        lines_go_on(f->held, f->held_size, clean, size, &names, &space)) {
        f->held[f->held_size] = ' ';
        memcpy(f->held + f->held_size + space, clean, size);
        f->held_size += size + space;
    } else {
        take_held(f);
        memcpy(f->held, clean, size);
        f->held_size = size;
        f->holds = true;
    }
    log_parse(f->held, f->held_size, &own);
    if (own.kind != LOG_OTHER || !lines_may_go_on(clean, size, &names))
        take_held(f);
}

/* The line in f->text is complete. It is several ones if it has carriage returns in its midst, as a console's log has
 * that lost its line feeds. */
static void take_text(struct filter *f, bool cr)
{
    const struct lines_names names = names_of(f);
    size_t from = 0, size, end = f->text_size;
    bool unplaced = false;

    f->out.eol = cr ? "\r\n" : "\n";
    f->text[f->text_size] = '\0';
    if (f->text_size == MAX_TEXT) {
        f->unsaid.cut += says_crash(f->text);
        return;
    }
    while (end > 0 && f->text[end - 1] == '\r')
        end--;
    end = text_lay_out(f->text, f->quoted ? text_of_mail(f->text, end) : end);
    do {
        const char *const next = memchr(f->text + from, '\r', end - from);

        size = next != NULL ? (size_t)(next - f->text) - from : end - from;
        f->text[from + size] = '\0';
        if (!mi_split(f->text + from, size, &names, take_line, f) &&
            !json_split(f->text + from, size, &names, &unplaced, take_line, f))
            lines_split(f->text + from, size, &names, take_line, f);
        f->now.dumps.unplaced = f->now.dumps.unplaced || unplaced;
        from += size + 1;
    } while (from < end);
}

/* Whether the line in f->text goes on in the next one: it is of a mail, and ends with "=", which is taken away. */
static bool goes_on_in_mail(struct filter *f, bool cr)
{
    const size_t size = f->text_size - cr;

    if (f->text_size == MAX_TEXT || size < f->joined)
        return false;
    f->text[size] = '\0';
    f->quoted = text_is_mail(f->text + f->joined, size - f->joined, f->quoted);
    f->text[size] = cr ? '\r' : '\0';
    if (!f->quoted || size == 0 || f->text[size - 1] != '=')
        return false;
    f->text_size = f->joined = size - 1;
    return true;
}

/* Takes one byte, which has been written. */
static void filter_byte(struct filter *f, char c)
{
    const bool cr = f->text_size > 0 && f->text_size < MAX_TEXT && f->text[f->text_size - 1] == '\r';

    if (c != '\n') {
        if (f->text_size < MAX_TEXT)
            f->text[f->text_size++] = c;
        f->partial = true;
        return;
    }
    f->partial = false;
    if (goes_on_in_mail(f, cr))
        return;
    take_text(f, cr);
    f->text_size = f->joined = 0;
}

static void filter_bytes(struct filter *f, const char *bytes, size_t size)
{
    size_t i;

    for (i = 0; i < size; i++) {
        putc((unsigned char)bytes[i], f->out.file);
        filter_byte(f, bytes[i]);
    }
    flush(f);
}

/* Registers of which nothing was said, because they are too few. Returns false if there are none. */
static bool say_unsaid_registers(const struct filter *f)
{
    const struct unsaid *u = &f->unsaid;

    if (u->has_pc && u->crash)
        out_line(&f->out, "        no trace: the PC of the log (0x%" PRIx64 ") lies in no image that was given",
                 u->pc);
    else if (u->registers > 1 || (u->registers > 0 && (u->crash || u->code > 1)))
        out_line(&f->out, "        no trace: no register of the log is known as the PC: --formats=FILE says how "
                          "registers are named");
    else if (u->foreign > 1 && u->crash)
        out_line(&f->out, "        no trace: the CPU of %s has none of the registers that the log names",
                 f->main->name);
    else if (u->unknown > 2 && u->crash)
        out_line(&f->out,
                 "        no trace: none of the names in the log is known as a register: --formats=FILE says "
                 "how registers are named");
    else
        return false;
    return true;
}

/* What the log has that looks like a crash, if no line of it was understood. */
static void say_unsaid(const struct filter *f)
{
    const struct unsaid *u = &f->unsaid;

    if (!f->said && f->main != NULL && say_unsaid_registers(f))
        return;
    if (f->unnamed > 0 && (!f->said || f->now.dumps.stack_lost)) {
        out_line(
            &f->out,
            "        no trace: the log has return addresses, but no registers and stack in a form that is known: "
            "--formats=FILE describes one");
        return;
    }
    if (f->main == NULL || (f->said && (f->dumped || u->has_pc)))
        return;
    if (!f->said && u->code > 0 && (u->code > 1 || u->crash || u->rows > 1))
        out_line(
            &f->out,
            "        no trace: the log has addresses of code, but no registers, no stack and no list of calls in "
            "a form that is known: --formats=FILE describes one");
    else if (u->rows > (f->said ? 3 : 1))
        out_line(
            &f->out,
            "        no trace: the log has words of memory, but no registers in a form that is known: print PC "
            "and SP");
    else if (!f->said && u->cut > 0)
        out_line(
            &f->out,
            "        no trace: %zu lines of the log that tell of a crash have more than %d characters, and were "
            "not read",
            u->cut, MAX_LINE);
}

/* A log may end in the middle of a line, or of a dump. */
static void take_end_of_log(struct filter *f)
{
    struct log_dump dump;

    f->out.midline = &f->partial;
    if (f->partial || f->text_size > 0)
        take_text(f, false);
    take_held(f);
    end_dump(f);
    end_parked(f, true);
    if (foreign_end(&f->foreign, f->main != NULL ? f->main->image.abi : 0, &dump))
        unwind_foreign(f, &dump);
    if (f->dump.open) {
        out_line(&f->out, "        the dump is not complete:");
        unwind_dump(f);
    }
    say_unsaid(f);
    flush(f);
}

/* The core that has been asked for, if it has not been written. */
static void write_rest(struct filter *f)
{
    if (f->options->written == NULL || f->written)
        return;
    if (!f->has_record || f->main == NULL)
        report_fail("%s: not written: the log has no raw dump and no crash record%s", f->options->written,
                    f->has_record || f->main == NULL ? " of an image that is given" : "");
    write_records(f->options, f->main->image.abi, &f->record, 1);
}

void trace_filter(struct trace_options *options, int in)
{
    static char buffer[65536];
    struct filter *f = zeroed(1, sizeof *f);
    size_t i;
    ssize_t n;

    f->options = options;
    f->text = zeroed(MAX_TEXT + 1, 1);
    f->now.cpu = LINES_NO_CPU;
    f->out = (struct trace_out){stdout, "", "\n", &f->said, NULL};
    f->main = options->images.num > 0 ? options->images.list[0] : NULL;
    set_log_slide(f, options->slide);
    start_dumps(f, &f->now.dumps);
    while ((n = read(in, buffer, sizeof buffer)) != 0) {
        if (n < 0 && errno != EINTR)
            report_fail("the log cannot be read: %s", strerror(errno));
        if (n > 0)
            filter_bytes(f, buffer, (size_t)n);
    }
    take_end_of_log(f);
    write_rest(f);
    log_dump_clear(&f->dump);
    foreign_clear(&f->foreign);
    dumps_free(&f->now.dumps);
    for (i = 0; i < f->num_parked; i++) {
        dumps_free(&f->parked[i]->dumps);
        free(f->parked[i]);
    }
    lines_free(&f->table);
    free(f->text);
    free(f);
}
