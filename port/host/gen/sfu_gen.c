/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * sfu-gen: makes an image's SFrame section out of its call frame information, or checks the one that it has.
 *     image -> CFI, and what machine code makes of it -> functions and rows -> bytes -> compared with both, by sfu
 *     -> written
 */
#include "code/code.h"
#include "tables/compare.h"
#include "tables/encode.h"
#include "common/filled.h"
#include "common/map.h"
#include "common/report.h"
#include "tables/tables.h"
#include "entries.h"
#include "output.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Options --------------------------------------------------------------------------------------------------- */

/* The lines of sfu-gen.txt, made by rules.mk. */
const char tool_name[] = "sfu-gen";

static const char *const help[] = {
#include "sfu-gen.txt.h"
};

/* --small: a lookup reads the rows of an entry in turn. */
enum { SMALL_ROWS = 32 };

enum action { IN_PLACE, SIZE, CHECK, RAW, ASM, OBJECT, APPEND, SIDE };
enum fp { FP_KEEP, FP_DROP, FP_AUTO };

static struct options {
    const char *image;
    enum action action;
    const char *file; /* what is written, other than the image */
    const char *allow;
    const char *map;
    unsigned sources;
    struct encoding encoding;
    enum fp fp;
    double require; /* percent of the code */
    uint64_t address;
    bool has_address, no_share, forget, keep_below_sp, keep_faults, keep_cfi, derive, find, strict, json, quiet,
        verbose;
} options = {.action = IN_PLACE, .sources = CFI_EH | CFI_DEBUG, .fp = FP_KEEP};

/* Says what is wrong, in one line, and ends. */
static void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void fail(const char *format, ...)
{
    va_list args;

    fflush(stdout); /* so that the reason comes last where both go to one place */
    fprintf(stderr, "sfu-gen: ");
    if (options.image != NULL)
        fprintf(stderr, "%s: ", options.image);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static uint64_t parse_number(const char *option, const char *text, uint64_t low, uint64_t high)
{
    uint64_t value;

    if (!is_whole_number(text, &value) || value < low || value > high)
        usage("%s: not a number from %" PRIu64 " to %" PRIu64 ": %s", option, low, high, text);
    return value;
}

/* Which of the COUNT words at NAMES TEXT is. */
static unsigned parse_word(const char *option, const char *text, const char *const *names, unsigned count)
{
    char list[80] = "";
    size_t used = 0;
    unsigned i;

    for (i = 0; i < count; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    for (i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", names[i]);
    usage("%s: not one of %s: %s", option, list, text);
}

static void set_action(enum action action, const char *file)
{
    if (options.action != IN_PLACE)
        usage("more than one output is asked for");
    options.action = action;
    options.file = file;
}

/* The options that say what comes out. */
static void set_output(int option, const char *argument)
{
    switch (option) {
    case 'o':
        set_action(RAW, argument);
        break;
    case 'A':
        set_action(ASM, argument);
        break;
    case 'O':
        set_action(OBJECT, argument);
        break;
    case 'P':
        set_action(APPEND, argument);
        break;
    case 'D':
        set_action(SIDE, argument);
        break;
    case 'S':
        set_action(SIZE, NULL);
        break;
    case 'C':
        set_action(CHECK, NULL);
        break;
    case 'V':
        printf("sfu-gen %d.%d.%d\n", SFU_VERSION / 10000, SFU_VERSION / 100 % 100, SFU_VERSION % 100);
        exit(0);
    case 'h':
        print_lines(help, sizeof help / sizeof help[0]);
        exit(0);
    default:
        exit(2); /* getopt has said why */
    }
}

/* What --entry names, each as it stands on the command line or in a file. */
static struct known entries;

static void add_entry(const char *text)
{
    if (text[0] != '@')
        known_add(&entries, text, strlen(text));
    else if (!known_read(&entries, text + 1))
        usage("--entry=%s: %s: %s", text, text + 1, strerror(errno));
}

/* Options that change what the tables say, and what is printed. */
static void set_option(int option, const char *argument)
{
    static const char *const fp[] = {"keep", "drop", "auto"}, *const from[] = {"eh_frame", "debug_frame", "both"};
    static const char *const cfi[] = {"check", "keep"};

    switch (option) {
    case 'a':
        options.address = parse_number("--address", argument, 0, UINT64_MAX);
        options.has_address = true;
        break;
    case 'f':
        options.sources = 1 + parse_word("--from", argument, from, 3);
        break;
    case 'c':
        options.keep_cfi = parse_word("--cfi", argument, cfi, 2) == 1;
        break;
    case 'e':
        options.derive = true;
        add_entry(argument);
        break;
    case 'p':
        options.fp = (enum fp)parse_word("--fp", argument, fp, 3);
        break;
    case 'm':
        options.encoding.rows = SMALL_ROWS;
        break;
    case 'r':
        options.encoding.rows = (uint32_t)parse_number("--rows", argument, 1, 256);
        break;
    case 'l':
        options.allow = argument;
        break;
    case 'M':
        options.map = argument;
        break;
    case 'R':
        options.require = parse_percent("--require", argument);
        break;
    default:
        set_output(option, argument);
        break;
    }
}

/* Ends sfu-gen if one option asks for something that another one excludes. */
static void check_options(void)
{
    if (options.has_address && options.action != RAW && options.action != ASM && options.action != OBJECT)
        usage("--address is for -o, --asm and --object");
    if (options.json && options.file != NULL && strcmp(options.file, "-") == 0)
        usage("--json and an output of - are both for the standard output");
    if (options.keep_cfi && options.derive)
        usage("--cfi=keep and --keep-faults read no code, --derive, --find and --entry do");
}

static void parse_options(int argc, char **argv)
{
    static const struct option names[] = {{"address", required_argument, NULL, 'a'},
                                          {"allow", required_argument, NULL, 'l'},
                                          {"append", required_argument, NULL, 'P'},
                                          {"asm", required_argument, NULL, 'A'},
                                          {"cfi", required_argument, NULL, 'c'},
                                          {"check", no_argument, NULL, 'C'},
                                          {"derive", no_argument, NULL, 'd'},
                                          {"entry", required_argument, NULL, 'e'},
                                          {"find", no_argument, NULL, 'i'},
                                          {"fp", required_argument, NULL, 'p'},
                                          {"forget", no_argument, NULL, 'F'},
                                          {"from", required_argument, NULL, 'f'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"keep-below-sp", no_argument, NULL, 'k'},
                                          {"keep-faults", no_argument, NULL, 'K'},
                                          {"map", required_argument, NULL, 'M'},
                                          {"no-share", no_argument, NULL, 's'},
                                          {"object", required_argument, NULL, 'O'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"require", required_argument, NULL, 'R'},
                                          {"rows", required_argument, NULL, 'r'},
                                          {"side", required_argument, NULL, 'D'},
                                          {"small", no_argument, NULL, 'm'},
                                          {"size", no_argument, NULL, 'S'},
                                          {"strict", no_argument, NULL, 't'},
                                          {"verbose", no_argument, NULL, 'v'},
                                          {"version", no_argument, NULL, 'V'},
                                          {NULL, 0, NULL, 0}};
    static const char letters[] = "sFjkKqtdiv";
    bool *const flags[] = {&options.no_share,    &options.forget, &options.json,   &options.keep_below_sp,
                           &options.keep_faults, &options.quiet,  &options.strict, &options.derive,
                           &options.find,        &options.verbose};
    int option;

    while ((option = getopt_long(argc, argv, "o:hqv", names, NULL)) != -1)
        if (strchr(letters, option) != NULL)
            *flags[strchr(letters, option) - letters] = true;
        else
            set_option(option, optarg);
    if (argc - optind != 1)
        usage(optind == argc ? "no image" : "more than one image");
    options.image = argv[optind];
    options.encoding.share = !options.no_share;
    options.keep_cfi |= options.keep_faults;
    options.derive |= options.find;
    check_options();
}

/* ---- Messages -------------------------------------------------------------------------------------------------- */

/* Functions and PCs that --allow names. */
static struct known known;

/* What code at an address is called. */
struct name {
    /* The symbol's; or, if it has none, its address and the symbol before it (image_name_place). */
    const char *text;
    bool symbol;
    uint64_t start, offset; /* its address, and how far behind the symbol that is */
};

/* What the code at START is called, as long as PLACE is there. */
static struct name name_place(const struct image *image, uint64_t start, char place[IMAGE_PLACE])
{
    const struct symbol *symbol = image_symbol(image, start);

    if (symbol != NULL)
        return (struct name){symbol->name, true, start, start - symbol->addr};
    return (struct name){image_name_place(image, start, place), false, start, 0};
}

/* The same, until the program ends. */
static struct name name_code(const struct image *image, uint64_t start)
{
    char place[IMAGE_PLACE];
    struct name name = name_place(image, start, place);

    if (!name.symbol)
        name.text = copied(name.text);
    return name;
}

/* Begins a line about the code that has the name NAME; OFFSET: how far behind its symbol it is may be said. */
static void say_name(const struct name *name, bool offset)
{
    fprintf(stderr, "sfu-gen: %s: %s", options.image, printable(name->text));
    if (name->symbol && offset)
        fprintf(stderr, "+0x%" PRIx64, name->offset);
    if (name->symbol)
        fprintf(stderr, " (0x%" PRIx64 ")", name->start);
}

static bool is_difference_allowed(const struct name *name)
{
    char pc[24];
    bool by_name = name->symbol && known_use(&known, name->text), by_pc;

    snprintf(pc, sizeof pc, "0x%" PRIx64, name->start);
    by_pc = known_use(&known, pc);
    return by_name || by_pc;
}

/* Code in one function with one fault. NAME: of the first of its PCs. */
struct finding {
    struct name name;
    uint64_t bytes, ranges;
    bool inherent; /* --strict accepts it */
    char what[256];
};

static struct finding *findings;
static size_t num_findings;

/* Adds to what has been found in IMAGE. Ranges of one function with the same fault are one finding. */
static void note_code(const struct image *image, uint64_t start, uint64_t end, const char *what)
{
    const struct name name = name_code(image, start);
    struct finding *last = num_findings > 0 ? &findings[num_findings - 1] : NULL;

    if (last != NULL && name.symbol && last->name.text == name.text && strcmp(last->what, what) == 0) {
        last->bytes += end - start;
        last->ranges++;
        return;
    }
    findings = grow(findings, num_findings, sizeof *findings);
    last = &findings[num_findings++];
    *last = (struct finding){name, end - start, 1, false, ""};
    snprintf(last->what, sizeof last->what, "%s", what);
}

/* i386: whether the byte from START up to END is the return of a function that puts its own address into FP. FP is the
 * function's result, so that no other code could have a row there. */
static bool returns_fp(struct image *image, uint64_t start, uint64_t end)
{
    static const uint8_t thunk[] = {0x8b, 0x2c, 0x24, 0xc3}; /* mov (%esp), %ebp; ret */
    const uint8_t *p =
        image->abi == SFU_I386 && end - start == 1 ? image_instructions(image, start - 3, sizeof thunk) : NULL;

    return p != NULL && memcmp(p, thunk, sizeof thunk) == 0;
}

static void say_difference(const struct finding *f)
{
    const struct name *name = &f->name;
    const char *accepted = f->inherent ? "; --strict accepts that" : "";

    if (name->symbol)
        fprintf(stderr, "sfu-gen: %s: %s+0x%" PRIx64 " (0x%" PRIx64 ", %" PRIu64 " bytes): %s%s\n", options.image,
                printable(name->text), name->offset, name->start, f->bytes, f->what, accepted);
    else
        fprintf(stderr, "sfu-gen: %s: %s, %" PRIu64 " bytes: %s%s\n", options.image, printable(name->text),
                f->bytes, f->what, accepted);
}

/* Says all that has been found; with --quiet only what --strict refuses. Returns how much of it nothing allows. */
static size_t say_findings(void)
{
    size_t i, count = 0;

    if (options.json)
        printf(",\n \"findings\": [");
    for (i = 0; i < num_findings; i++) {
        const struct finding *f = &findings[i];
        const bool allowed = f->inherent || is_difference_allowed(&f->name);

        count += !allowed;
        if (options.json) {
            printf("%s\n  {\"function\": ", i > 0 ? "," : "");
            put_json(f->name.text);
            printf(", \"offset\": %" PRIu64 ", \"pc\": \"0x%" PRIx64 "\", \"bytes\": %" PRIu64
                   ", \"ranges\": %" PRIu64 ", \"allowed\": %s, \"what\": ",
                   f->name.offset, f->name.start, f->bytes, f->ranges, allowed ? "true" : "false");
            put_json(f->what);
            putchar('}');
        } else if (f->inherent ? !options.quiet : (!options.quiet || options.strict) && !allowed) {
            say_difference(f);
        }
    }
    if (options.json)
        printf("]}\n");
    for (i = 0; i < known.num; i++)
        if (!known.list[i].used)
            fprintf(stderr, "sfu-gen: %s: nothing found for the line %s\n", options.allow, known.list[i].name);
    return count;
}

/* With --quiet the COUNT places that have no row are said in one line. */
static void say_losses(size_t count)
{
    const struct finding *first = NULL;
    uint64_t bytes = 0;
    size_t i;

    for (i = num_findings; i-- > 0;)
        if (!findings[i].inherent && !is_difference_allowed(&findings[i].name)) {
            first = &findings[i];
            bytes += first->bytes;
        }
    if (count == 1)
        say_difference(first);
    if (count == 1 || first == NULL)
        return;
    fprintf(stderr, "sfu-gen: %s: %" PRIu64 " bytes have no rows, in %zu places; the first is %s", options.image,
            bytes, count, printable(first->name.text));
    if (first->name.symbol)
        fprintf(stderr, " (0x%" PRIx64 ")", first->name.start);
    fputs("; without --quiet each is named\n", stderr);
}

/* ---- Check ----------------------------------------------------------------------------------------------------- */

/* Who compares tables. */
struct comparer {
    struct image *image;
    struct walker *walker; /* or NULL */
};

/* What a difference is, in words: a difference_fn. */
static void put_difference_in_words(void *ctx, const struct difference *d)
{
    const struct comparer *comparer = ctx;
    char what[160];

    print_difference(what, sizeof what, d);
    note_code(comparer->image, d->start, d->end, what);
}

/* A reader_fn. */
static const char *ask_walker(void *ctx, const struct difference *agreed)
{
    const struct comparer *comparer = ctx;

    return comparer->walker != NULL ? walker_check(comparer->walker, agreed) : NULL;
}

/* Opens and checks tables as sfu does, the SIZE bytes at BYTES, at ADDR. On failure says why, and ends. */
static struct joined open_made_tables(const struct image *image, const uint8_t *bytes, uint64_t size, uint64_t addr,
                                      const char *before)
{
    struct joined tables;
    struct joined_place where;
    int code = joined_open(&tables, bytes, size, addr, &where);

    if (code == SFU_OK && tables.list[0].abi != image->abi)
        fail("%sits tables are for another ABI", before);
    if (code == SFU_OK)
        code = joined_check(&tables, &where);
    if (code != SFU_OK && where.index > 0)
        fail("%s%s (table %zu, at offset 0x%" PRIx64 ", function %" PRIu32 ", row %" PRIu32 ")", before,
             sfu_string(code), where.index, where.offset, where.at.fde, where.at.row);
    if (code != SFU_OK)
        fail("%s%s (function %" PRIu32 ", row %" PRIu32 ")", before, sfu_string(code), where.at.fde, where.at.row);
    if (joined_sort(&tables) != SFU_OK)
        fail("%s%s", before, sfu_string(SFU_E_READONLY));
    return tables;
}

/* The image's own tables. */
static struct joined open_own(struct image *image)
{
    struct section *section = image_tables(image);

    if (section == NULL)
        fail("no section %s", image_tables_name(image));
    if (!image_load(image, section))
        fail("%s", image->error);
    return open_made_tables(image, section->bytes, section->size, section->addr, "");
}

/* Code that CFI describes, and by which entry; NO_ENTRY: by several. */
struct said {
    uint64_t start, end;
    size_t fde;
};

#define NO_ENTRY SIZE_MAX

/* What tables are made of. */
struct input {
    struct image image;
    struct cfi cfi;
    struct cfi_spans spans;
    struct kept kept;
    struct code_report code;
    struct said *said; /* what SPANS was before the code was read, by address */
    size_t num_said;
};

/* CFI that the code has shown to be none of its own, as of a handler to which an exception's entry jumps. */
static uint64_t dropped_bytes, said_bytes; /* without a row; of all code that CFI says something of */

/* Functions whose CFI is wrong, or is kept although the code contradicts it. */
struct correction {
    struct name name;
    uint64_t bytes;
};

struct correction_list {
    struct correction *list;
    size_t num;
};

static struct correction_list corrections, doubts;

static void note_correction(struct correction_list *where, const struct image *image, uint64_t start,
                            uint64_t bytes)
{
    where->list = grow(where->list, where->num, sizeof *where->list);
    where->list[where->num++] = (struct correction){name_code(image, start), bytes};
}

/* What of an interrupt's entry has no row. */
struct unsaid {
    struct name name;
    const char *why;
    uint64_t start, end;
    bool found; /* its CFI said something: it is among the findings */
};

static struct unsaid *unsaid;
static size_t num_unsaid;

/* Notes what is wrong with the CFI of UNIT, and what of an interrupt's entry has no row. */
static void add_correction(void *ctx, const struct code_unit *unit, const struct code_report *report)
{
    size_t i;

    for (i = 0; i < unit->num_lost; i++) {
        const struct code_lost *lost = &unit->lost[i];

        unsaid = grow(unsaid, num_unsaid, sizeof *unsaid);
        unsaid[num_unsaid++] =
            (struct unsaid){name_code(ctx, lost->start), lost->why, lost->start, lost->end, false};
    }
    if (unit->fde != NULL && report->corrected > 0)
        note_correction(&corrections, ctx, unit->start, report->corrected);
    if (unit->fde != NULL && report->doubted > 0)
        note_correction(&doubts, ctx, unit->start, report->doubted);
}

static void say_unsaid(void)
{
    size_t i;

    if (options.json)
        printf(",\n \"entries\": [");
    for (i = 0; i < num_unsaid; i++) {
        const struct unsaid *u = &unsaid[i];

        if (options.json) {
            printf("%s\n  {\"function\": ", i > 0 ? "," : "");
            put_json(u->name.text);
            printf(", \"pc\": \"0x%" PRIx64 "\", \"bytes\": %" PRIu64 ", \"reason\": ", u->name.start,
                   u->end - u->start);
            put_json(u->why);
            putchar('}');
        } else if (!options.quiet && !u->found) {
            say_name(&u->name, true);
            fprintf(stderr, ": %" PRIu64 " bytes have no row: %s\n", u->end - u->start, u->why);
        }
    }
    if (options.json)
        putchar(']');
}

static void put_corrections(const char *name, const struct correction_list *all)
{
    size_t i;

    printf(",\n \"%s\": [", name);
    for (i = 0; i < all->num; i++) {
        printf("%s\n  {\"function\": ", i > 0 ? "," : "");
        put_json(all->list[i].name.text);
        printf(", \"pc\": \"0x%" PRIx64 "\", \"bytes\": %" PRIu64 "}", all->list[i].name.start, all->list[i].bytes);
    }
    putchar(']');
}

/* Says WHAT of the bytes in ALL, and CONSEQUENCE; with --verbose WHAT of each function. */
static void say_each(const struct correction_list *all, const char *what, const char *consequence)
{
    uint64_t bytes = 0;
    size_t i;

    for (i = 0; i < all->num; i++)
        bytes += all->list[i].bytes;
    if (all->num > 0 && !options.quiet)
        fprintf(stderr, "sfu-gen: %s: %s %" PRIu64 " bytes, in %zu function%s: %s%s\n", options.image, what, bytes,
                all->num, all->num > 1 ? "s" : "", consequence, options.verbose ? "" : " (-v lists them)");
    for (i = 0; i < all->num && options.verbose; i++) {
        say_name(&all->list[i].name, false);
        fprintf(stderr, ": %s %" PRIu64 " bytes\n", what, all->list[i].bytes);
    }
}

static void say_corrections(const struct code_report *code)
{
    if (options.json) {
        printf(",\n \"code\": {\"reached\": %" PRIu64 ", \"confirmed\": %" PRIu64 ", \"corrected\": %" PRIu64
               ", \"lost\": %" PRIu64 ", \"doubted\": %" PRIu64 ", \"derived\": %" PRIu64 "}",
               code->reached, code->confirmed, code->corrected, code->lost, code->doubted, code->derived);
        put_corrections("corrections", &corrections);
        put_corrections("doubts", &doubts);
        say_unsaid();
        return;
    }
    say_unsaid();
    if (options.derive && !options.quiet)
        fprintf(stderr, "sfu-gen: %s: %" PRIu64 " bytes without CFI have rows by their instructions\n",
                options.image, code->derived);
    say_each(&corrections, "CFI is wrong at", "their rows are made from the machine code, and you need do nothing");
    say_each(&doubts, "the machine code contradicts the CFI at",
             "the code cannot be followed for sure, and their rows are those of the CFI");
}

/* Compares the image's tables with its CFI. It fails if one contradicts the other, with --strict also if rows are
 * missing. */
static void check(struct input *in)
{
    struct joined own = open_own(&in->image);
    struct comparer comparer = {&in->image, NULL};
    struct epilogues epilogues = {0};
    const struct compare_how how = {false, put_difference_in_words, NULL, NULL, &comparer, &epilogues};
    struct comparison c;
    size_t left;

    compare_tables(&in->cfi, &in->spans, &own, &how, &c);
    if (options.json) {
        printf("{\"image\": ");
        put_json(options.image);
        printf(",\n \"pcs\": %" PRIu64 ", \"same\": %" PRIu64 ", \"below_sp\": %" PRIu64 ", \"epilogue\": %" PRIu64
               ",\n \"different\": %" PRIu64 ", \"missing\": %" PRIu64 ", \"lost\": %" PRIu64,
               c.pcs, c.same + c.stale, c.below_sp, c.epilogue, c.different, c.missing, c.lost);
    } else if (!options.quiet) {
        printf("%" PRIu64 " PCs: %" PRIu64 " the same, %" PRIu64 " better (%" PRIu64 " below SP, %" PRIu64
               " epilogues), %" PRIu64 " different, %" PRIu64 " missing, %" PRIu64 " that SFrame cannot say\n",
               c.pcs, c.same + c.stale, c.pcs - c.same - c.stale - c.different - c.missing - c.lost, c.below_sp,
               c.epilogue, c.different, c.missing, c.lost);
    }
    say_corrections(&in->code);
    left = say_findings();
    joined_close(&own);
    epilogues_free(&epilogues);
    if (left > 0 && (c.different > 0 || options.strict))
        fail("its tables are wrong at %" PRIu64 " PCs and missing at %" PRIu64, c.different, c.missing);
}

/* Compares the new tables, as the core and the fast walker read them, with what they were made of. Nothing is written
 * before, so that a fault of this program is a failed build and not a wrong trace. */
static void check_self(struct input *in, const struct tables *tables, const struct bytes *bytes, uint64_t addr,
                       bool without_fp)
{
    struct joined made =
        open_made_tables(&in->image, bytes->data, bytes->size, addr, "self-check: nothing written: ");
    struct comparer comparer = {&in->image, walker_new(&in->image, bytes->data, bytes->size, addr)};
    struct epilogues epilogues = {0};
    const struct compare_how how = {without_fp, put_difference_in_words, ask_walker, NULL, &comparer, &epilogues};
    struct comparison c, kept;

    num_findings = 0;
    compare_tables(&in->cfi, &in->spans, &made, &how, &c);
    compare_kept(&in->cfi, &in->kept, &made, &how, &kept);
    walker_free(comparer.walker);
    epilogues_free(&epilogues);
    if (findings != NULL && num_findings > 0)
        fail("self-check: 0x%" PRIx64 ": %s; nothing written", findings[0].name.start, findings[0].what);
    if (c.stale > 0 || c.pcs != tables->covered || c.lost != tables->lost || kept.pcs != tables->kept ||
        (!without_fp && c.below_sp != tables->below_sp) || c.epilogue != tables->epilogue)
        fail("self-check: other PCs than were meant; nothing written");
    joined_close(&made);
}

/* ---- Make ------------------------------------------------------------------------------------------------------ */

/* Says why the image has no call frame information, and ends. */
static void fail_without_cfi(struct image *image) __attribute__((noreturn));
static void fail_without_cfi(struct image *image)
{
    const struct section *place = cfi_misplaced(image);
    const char *option = abi_is_arm(image->abi) ? "-g" : "-fasynchronous-unwind-tables";

    if (image->pe != NULL)
        fail(
            "no call frame information: .pdata, .eh_frame and .debug_frame are missing or empty, or the entries of "
            ".pdata overlap. --find needs none of them: it reads the machine code");
    if (place != NULL)
        fail("its call frame information is in the section %s, where no reader looks for it: a line of the linker "
             "script, such as *(.eh_frame), puts it there. Take that line out, and write at the end of the script "
             ".eh_frame (INFO) : { KEEP(*(.eh_frame)) }",
             place->name);
    fail("no call frame information: .eh_frame and .debug_frame are missing or empty. Either the files were "
         "compiled "
         "without %s, or the linker script discards the section (/DISCARD/), or strip has removed it. --find needs "
         "neither: it reads the machine code",
         option);
}

static void note_loss(struct image *image, const struct loss *loss)
{
    const bool thunk = returns_fp(image, loss->start, loss->end);

    note_code(image, loss->start, loss->end, thunk ? "FP has the function's own address already" : loss->why);
    findings[num_findings - 1].inherent = thunk || loss->why == cfi_goes_down || loss->why == cfi_is_above;
}

/* Notes that code of PIECE from START up to END, which had CFI, has no rows. */
static void note_dropped(struct input *in, const struct said *piece, uint64_t start, uint64_t end)
{
    const char *why = "its CFI is not true of it, and nothing shows who enters it (--entry)";
    size_t i = count_up_to(unsaid, num_unsaid, sizeof *unsaid, offsetof(struct unsaid, start), start);

    if (piece->fde == NO_ENTRY || !in->cfi.fdes[piece->fde].dropped || image_is_padding(&in->image, start, end))
        return;
    dropped_bytes += end - start;
    said_bytes += end - start;
    for (i -= i > 0; i < num_unsaid && unsaid[i].start < end; i++) {
        if (unsaid[i].end <= start)
            continue;
        why = unsaid[i].why;
        unsaid[i].found = true;
    }
    note_code(&in->image, start, end, why);
}

static int by_unsaid_start(const void *a, const void *b)
{
    const struct unsaid *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

/* Notes what has no rows: what TABLES cannot say, and code whose CFI was not its own. */
static void note_losses(struct input *in, const struct tables *tables)
{
    size_t i, k = 0;

    num_findings = 0;
    for (i = 0; i < tables->num_losses; i++)
        note_loss(&in->image, &tables->losses[i]);
    put_in_order(unsaid, num_unsaid, sizeof *unsaid, by_unsaid_start);
    for (i = 0; i < in->num_said; i++) {
        const struct said *piece = &in->said[i];
        uint64_t pc = piece->start;

        for (; k < in->spans.num && in->spans.list[k].start < piece->end; k++) {
            const struct cfi_span *span = &in->spans.list[k];
            uint64_t end = span->end < piece->end ? span->end : piece->end;

            if (span->start > pc)
                note_dropped(in, piece, pc, span->start);
            pc = span->start > pc ? span->start : pc;
            said_bytes += end > pc ? end - pc : 0;
            pc = end > pc ? end : pc;
            if (span->end > piece->end)
                break;
        }
        if (pc < piece->end)
            note_dropped(in, piece, pc, piece->end);
    }
}

/* Says why there is not one row, of each function and of all of them, and ends. */
static void fail_without_rows(const struct tables *tables, struct input *in)
{
    size_t i;

    note_losses(in, tables);
    for (i = 0; i < num_findings && !options.json; i++)
        say_difference(&findings[i]);
    fail("%s", in->cfi.num_fdes == 0 ? "no call frame information, and no code of which is known who enters it"
               : num_findings > 0    ? "none of its code has a row"
                                     : cfi_why_nothing(&in->cfi));
}

/* Makes the rows, and leaves FP's rules out of them if that is asked for. Returns whether they are left out. */
static bool make_tables(struct tables *tables, struct input *in)
{
    bool need;

    memset(tables, 0, sizeof *tables);
    tables->image = &in->image;
    tables->keep_below_sp = options.keep_below_sp;
    tables->keep_faults = options.keep_faults;
    tables->keep_cfi = options.keep_cfi;
    tables_make(tables, &in->cfi, &in->spans, &in->kept);
    if (tables->num_functions == 0 && in->cfi.num_fdes == 0 && !options.derive)
        fail_without_cfi(&in->image);
    if (tables->num_functions == 0)
        fail_without_rows(tables, in);
    if (options.fp == FP_KEEP)
        return false;
    need = tables_need_fp(tables);
    if (need && options.fp == FP_DROP)
        fail("--fp=drop: some of its rows need FP");
    if (options.fp == FP_AUTO && !options.quiet)
        fprintf(stderr, "sfu-gen: %s: --fp=auto: %s\n", options.image,
                need ? "FP's rules are kept: some rows need them" : "FP's rules are left out: no row needs them");
    if (!need)
        tables_drop_fp(tables);
    return !need;
}

/* Where the section will be. A size does not depend on it. */
static uint64_t address_of(struct image *image, struct append *append)
{
    const struct section *section = image_tables(image);

    if (options.action == SIZE || options.action == SIDE)
        return 0;
    if (options.action == APPEND) {
        if (!(image->pe != NULL ? append_plan_pe(image, append) : append_plan(image, append)))
            fail("%s", image->error);
        return append->section;
    }
    if (options.has_address)
        return options.address;
    if (section == NULL && options.action == IN_PLACE)
        fail("no section %s to write into: reserve room %s, or use --append (--help)", image_tables_name(image),
             image->pe != NULL ? "by an array in it" : "in the linker script");
    if (section == NULL)
        fail("no section %s, and no --address: where will it be?", image_tables_name(image));
    if (options.action == IN_PLACE && section->type == SHT_NOBITS)
        fail("its %s has no bytes in the file", section->name);
    return section->addr;
}

/* How much of the image is code, and how much of the code the tables describe: in bytes. */
struct share {
    uint64_t described, code;
};

/* Code without rows, by function: the bytes of each. Each piece of code without a symbol is one of its own. */
struct without {
    struct name name;
    uint64_t bytes;
};

static struct without *without;
static size_t num_without;

/* Where the code from START up to END begins, behind padding in front of it. */
static uint64_t skip_padding(struct image *image, uint64_t start, uint64_t end)
{
    enum { MAX_ALIGN = 2048 };
    uint64_t align, at;

    for (align = MAX_ALIGN; align > 1; align /= 2) {
        at = start + (align - start % align) % align;
        if (at > start && at < end && image_is_padding(image, start, at))
            return at;
    }
    return start;
}

/* Notes that code from START up to END, where functions may begin, has no rows. */
static void note_without(struct image *image, const struct filled *filled, uint64_t start, uint64_t end)
{
    while (start < end) {
        const struct symbol *symbol = image_symbol(image, start);
        const struct without *last = num_without > 0 ? &without[num_without - 1] : NULL;
        const size_t next = count_up_to(image->symbols, image->num_symbols, sizeof *image->symbols,
                                        offsetof(struct symbol, addr), start);
        const uint64_t stop =
            next < image->num_symbols && image->symbols[next].addr < end ? image->symbols[next].addr : end;
        const uint64_t bytes =
            image_is_padding(image, start, stop) ? 0 : stop - start - filled_count(filled, start, stop);

        if (bytes > 0 && (last == NULL || symbol == NULL || compare_names(last->name.text, symbol->name) != 0)) {
            without = grow(without, num_without, sizeof *without);
            without[num_without++] =
                (struct without){name_code(image, symbol != NULL ? start : skip_padding(image, start, stop)), 0};
        }
        if (bytes > 0)
            without[num_without - 1].bytes += bytes;
        start = stop;
    }
}

/* How many bytes between two functions that are described are code: padding is none, nor is what filled.h names. */
static uint64_t measure_gap(struct image *image, const struct filled *filled, uint64_t start, uint64_t end)
{
    if (start >= end || image_is_padding(image, start, end))
        return 0;
    note_without(image, filled, start, end);
    return end - start - filled_count(filled, start, end);
}

/* The most bytes first. */
static int by_bytes(const void *a, const void *b)
{
    const struct without *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->name.start != y->name.start)
        return x->name.start < y->name.start ? -1 : 1;
    return 0;
}

static void put_without(void)
{
    size_t i;

    if (num_without > 0)
        qsort(without, num_without, sizeof *without, by_bytes);
    printf(",\n \"without\": [");
    for (i = 0; i < num_without; i++) {
        printf("%s\n  {\"function\": ", i > 0 ? "," : "");
        put_json(without[i].name.text);
        printf(", \"pc\": \"0x%" PRIx64 "\", \"bytes\": %" PRIu64 "}", without[i].name.start, without[i].bytes);
    }
    putchar(']');
}

/* Where entries of interrupts keep registers of what they have interrupted. */
static struct code_saved *saved;
static size_t num_saved;

static void put_saved(void)
{
    static const char *const from[] = {"sp", "interrupted", "sscratch", "mscratch"};
    size_t i;

    printf(",\n \"saved\": [");
    for (i = 0; i < num_saved; i++)
        printf("%s\n  {\"pc\": \"0x%" PRIx64 "\", \"bytes\": %" PRIu64
               ", \"register\": %u, \"from\": \"%s\", \"sure\": %d, \"offset\": %" PRId32 "}",
               i > 0 ? "," : "", saved[i].start, saved[i].end - saved[i].start, saved[i].reg,
               from[saved[i].from & 3], saved[i].from >= CODE_FROM_SURE, saved[i].offset);
    putchar(']');
}

/* TABLES has functions by address, none twice. */
static struct share measure_code(struct image *image, const struct tables *tables)
{
    struct share share = {0, 0};
    struct filled filled;
    size_t i, k = 0;

    if (!filled_read(&filled, image))
        fail("%s", image->error);
    for (i = 0; i < image->num_code; i++) {
        const struct section *s = image->code[i];
        uint64_t pc = s->addr, end = s->addr + s->size;

        for (; k < tables->num_functions && tables->functions[k].start < end; k++) {
            const struct function *f = &tables->functions[k];

            if (f->start < pc)
                continue;
            share.code += measure_gap(image, &filled, pc, f->start);
            pc = f->start + f->size;
            if (f->num_rows == 0)
                share.code += measure_gap(image, &filled, f->start, pc);
            else
                share.described += f->size;
        }
        share.code += measure_gap(image, &filled, pc, end);
    }
    share.code += share.described;
    filled_free(&filled);
    return share;
}

/* Writes the line of a linker script that makes room for tables of NEEDED bytes into TEXT of SIZE bytes; nothing, if
 * there is nothing that room could be in proportion to. Its factor is in 64ths of what the tables are made of, and
 * leaves a twentieth for code to come. */
static void room_line(char *text, size_t size, const struct image *image, const struct section *room,
                      uint64_t needed)
{
    const struct section *eh = image_section(image, ".eh_frame"), *own = image_section(image, ".sframe");
    const struct section *source = eh != NULL && eh->size > 0 ? eh : image_section(image, ".debug_frame");
    uint64_t beside = own != NULL && own != room ? own->size : 0, factor = 0;

    text[0] = '\0';
    if (source == NULL || source->size == 0 || image->pe != NULL)
        return;
    needed += needed / 20;
    if (needed > 64 + beside)
        factor = ((needed - 64 - beside) * 64 + source->size - 1) / source->size;
    snprintf(text, size, "; this fits: . += 64 + %sSIZEOF(%s) * %" PRIu64 " / 64;",
             beside > 0 ? "SIZEOF(.sframe) + " : "", source->name, factor);
}

/* Says how much of the ROOM is left over by tables of SIZE bytes, where that is much. A sixth is not, because code
 * grows from one build to the next. */
static void say_room(const struct image *image, const struct section *room, size_t size)
{
    char line[128];

    if (room == NULL || size > room->size || room->size - size <= room->size / 6)
        return;
    room_line(line, sizeof line, image, room, size);
    fprintf(stderr, "sfu-gen: %s: %" PRIu64 " of %" PRIu64 " bytes of room are left over%s\n", options.image,
            room->size - size, room->size, line);
}

static void say_summary(const struct tables *tables, const struct cfi_spans *spans, const struct bytes *bytes,
                        const struct share *share)
{
    const struct section *section = image_tables(tables->image);
    const uint64_t lost = tables->lost + dropped_bytes, covered = tables->covered + dropped_bytes;

    if (options.json) {
        printf("{\"image\": ");
        put_json(options.image);
        printf(",\n \"bytes\": %zu, \"room\": %" PRIu64 ", \"fdes\": %zu, \"rows\": %zu,\n \"covered\": %" PRIu64
               ", \"expressed\": %" PRIu64 ", \"below_sp\": %" PRIu64 ", \"epilogue\": %" PRIu64
               ", \"plt\": %" PRIu64 ", \"kept\": %" PRIu64 ", \"dropped\": %zu"
               ",\n \"code_bytes\": %" PRIu64 ", \"described_bytes\": %" PRIu64,
               bytes->size, section != NULL ? section->size : 0, bytes->num_fdes, bytes->num_fres, covered,
               covered - lost, tables->below_sp, tables->epilogue, tables->plt, tables->kept, spans->dropped,
               share->code, share->described);
        put_without();
        put_saved();
        return;
    }
    if (options.quiet)
        return;
    fprintf(stderr, "sfu-gen: %s: %zu bytes, %zu entries, %zu rows: ", options.image, bytes->size, bytes->num_fdes,
            bytes->num_fres);
    if (said_bytes > 0)
        fprintf(stderr, "%.*f%% of %" PRIu64 " bytes with CFI, ", lost > 0 ? 3 : 0,
                percent(said_bytes - lost, said_bytes), said_bytes);
    else
        fputs("no byte has CFI, ", stderr);
    fprintf(stderr, "%.2f%% of %" PRIu64 " bytes of code\n", percent(share->described, share->code), share->code);
    if (tables->epilogue > 0)
        fprintf(stderr,
                "sfu-gen: %s: %" PRIu64 " bytes in epilogues without CFI have rows by their instructions "
                "(--keep-faults leaves them)\n",
                options.image, tables->epilogue);
    if (options.action == IN_PLACE || options.action == SIZE)
        say_room(tables->image, section, bytes->size);
}

static bool put_out(struct image *image, const struct bytes *bytes, const struct append *append)
{
    const struct section *section = image_tables(image);
    char line[128];

    switch (options.action) {
    case IN_PLACE:
        room_line(line, sizeof line, image, section, bytes->size);
        if (bytes->size > section->size)
            return image_fail(image, "room %" PRIu64 ", need %zu: nothing written%s", section->size, bytes->size,
                              line);
        return image->pe != NULL ? output_pe_in_place(image, section, bytes)
                                 : output_in_place(image, section, bytes);
    case SIZE:
        return options.json || printf("%zu\n", bytes->size) > 0;
    case RAW:
        return output_raw(image, options.file, bytes);
    case ASM:
        return output_asm(image, options.file, bytes);
    case OBJECT:
        return output_elf(image, options.file, bytes, true);
    case SIDE:
        return output_elf(image, options.file, bytes, false);
    case APPEND:
        return image->pe != NULL ? output_pe_appended(image, options.file, append, bytes)
                                 : output_appended(image, options.file, append, bytes);
    default:
        return true;
    }
}

static void make(struct input *in)
{
    struct append append = {0, 0, 0, 0, 0, 0};
    uint64_t addr = address_of(&in->image, &append);
    struct tables tables;
    struct bytes bytes;
    struct share share;
    bool without_fp;
    size_t left;

    without_fp = make_tables(&tables, in);
    if (!encode(&tables, &options.encoding, addr, &bytes))
        fail("its tables would be 2 GiB or more");
    if (addr > (in->image.registers->word == 4 ? UINT32_MAX : UINT64_MAX) - bytes.size)
        fail("its tables, %zu bytes at 0x%" PRIx64 ", would leave the address space", bytes.size, addr);
    check_self(in, &tables, &bytes, addr, without_fp);
    note_losses(in, &tables);
    share = measure_code(&in->image, &tables);
    say_summary(&tables, &in->spans, &bytes, &share);
    say_corrections(&in->code);
    left = say_findings();
    if (options.quiet && !options.strict && !options.json)
        say_losses(left);
    if (options.strict && left > 0)
        fail("--strict: %zu functions cannot be described; nothing written", left);
    if (percent(share.described, share.code) < options.require)
        fail("--require: %.3f%% of the %" PRIu64 " bytes of code have rows, and %g%% are required; nothing written "
             "(sfu-lint names the code without)",
             percent(share.described, share.code), share.code, options.require);
    if (!put_out(&in->image, &bytes, &append))
        fail("%s", in->image.error);
    tables_free(&tables);
    free(bytes.data);
}

/* ---- Machine code ---------------------------------------------------------------------------------------------- */

/* --entry=TEXT names code of which it is known already how it is entered. */
static void skip_entry(const char *text, bool by_cfi)
{
    const size_t length = strlen(text);

    if (options.quiet)
        return;
    fprintf(stderr, "sfu-gen: %s: --entry=%s is not used: %s\n", options.image, text,
            by_cfi ? "this code has call frame information, which says how it is entered"
                   : "this code has rows in .sframe (--forget ignores those)");
    if (by_cfi && length > 6 && strcmp(text + length - 6, ":start") == 0)
        fputs("sfu-gen: to end traces in a function in C, write __asm__(\".cfi_undefined rip\") as its first "
              "statement (x30 on aarch64, %r14 on s390x, ra on RISC-V, lr on ARM)\n",
              stderr);
}

static int by_name_and_addr(const void *a, const void *b)
{
    const struct symbol *x = *(const struct symbol *const *)a, *y = *(const struct symbol *const *)b;
    const int order = compare_names(x->name, y->name);

    return order != 0 ? order : (x->addr > y->addr) - (x->addr < y->addr);
}

/* Whether X has the name of Y, its neighbour by name and address, and another address; or SHARED says so of Y. */
static bool shares(const struct image *image, const bool *shared, const struct symbol *x, const struct symbol *y)
{
    return compare_names(x->name, y->name) == 0 && (x->addr != y->addr || shared[y - image->symbols]);
}

/* Of each symbol of IMAGE, whether code at another address has its name, too. */
static const bool *find_shared(const struct image *image)
{
    static bool *shared;
    const struct symbol **list;
    const size_t num = image->num_symbols;
    size_t i;

    if (shared != NULL || num == 0)
        return shared;
    shared = zeroed(num, sizeof *shared);
    list = zeroed(num, sizeof *list);
    for (i = 0; i < num; i++)
        list[i] = &image->symbols[i];
    qsort(list, num, sizeof *list, by_name_and_addr);
    for (i = 1; i < num; i++)
        shared[list[i] - image->symbols] = shares(image, shared, list[i], list[i - 1]);
    for (i = num - 1; i-- > 0;)
        shared[list[i] - image->symbols] |= shares(image, shared, list[i], list[i + 1]);
    free(list);
    return shared;
}

/* Writes what --entry names the code at ADDR by, and no other code, into TEXT of SIZE bytes: "NAME", "NAME+0xN" or,
 * where no symbol says it, an address. */
static void name_entry(const struct image *image, uint64_t addr, char *text, size_t size)
{
    const struct symbol *symbol = image_symbol_before(image, addr);

    if (symbol == NULL || strlen(symbol->name) + 24 > size || find_shared(image)[symbol - image->symbols])
        (void)snprintf(text, size, "0x%" PRIx64, addr);
    else if (symbol->addr == addr)
        (void)snprintf(text, size, "%s", symbol->name);
    else
        (void)snprintf(text, size, "%s+0x%" PRIx64, symbol->name, addr - symbol->addr);
}

/* A reason why entries have no rows, and how many have none for it. A macro makes hundreds of entries alike. */
struct reason {
    const char *why;
    size_t num;
};
enum { NAMED_ENTRIES = 4 }; /* of each reason, unless -v is given */
static struct reason *reasons;
static size_t num_reasons;

/* Counts an entry that has no rows because of WHY. Returns whether it is to be named. */
static bool is_named(const char *why)
{
    struct reason *r;

    for (r = reasons; r != reasons + num_reasons && strcmp(r->why, why) != 0; r++) {
    }
    if (r == reasons + num_reasons) {
        reasons = grow(reasons, num_reasons, sizeof *reasons);
        r = &reasons[num_reasons++];
        r->why = why;
        r->num = 0;
    }
    return ++r->num <= NAMED_ENTRIES || options.verbose;
}

/* Says how many entries were not named. */
static void say_unnamed(const struct image *image)
{
    size_t i;

    for (i = 0; i < num_reasons && !options.verbose; i++)
        if (reasons[i].num > NAMED_ENTRIES)
            report_note("%s: %zu more have no rows: %s; -v lists them", image->file, reasons[i].num - NAMED_ENTRIES,
                        reasons[i].why);
}

/* A function of struct code_how. */
static void say_entered(void *ctx, uint64_t addr, enum code_kind kind, const struct code_entry_point *named,
                        const char *why)
{
    const struct image *image = ctx;
    char place[IMAGE_PLACE];
    const struct name name = name_place(image, addr, place);
    const char *word = entries_kind(kind);
    char entry[256];

    if (named == NULL && (options.quiet || (kind != CODE_KINDS && !options.verbose)))
        return;
    if (named == NULL && kind == CODE_KINDS && !is_named(why))
        return;
    name_entry(image, addr, entry, sizeof entry);
    if (named != NULL)
        fail("--entry=%s:%s: it cannot be that, but :%s: %s", printable(entry), entries_kind(named->kind), word,
             why);
    say_name(&name, name.offset != 0);
    if (kind != CODE_KINDS)
        fprintf(stderr, ": entered as by --entry=%s:%s: %s\n", printable(entry), word, why);
    else
        fprintf(stderr, " has no rows: %s; say it by --entry=%s:%s\n", why, printable(entry),
                image->header.e_machine == EM_ARM
                    ? "call or :start, or of an exception's entry that begins with srs "
                      "by :trap, :trap4 or :trap8; another one needs a trap hook"
                    : "KIND");
}

/* A function of struct code_how. */
static void say_foreign(void *ctx, const struct code_region *region)
{
    const struct image *image = ctx;
    char place[IMAGE_PLACE];
    const struct name name = name_place(image, region->start, place);

    if (options.quiet)
        return;
    say_name(&name, name.offset != 0);
    fprintf(stderr, ": %" PRIu64 " bytes have no rows: they are %u-bit code, in an image for %s\n",
            region->end - region->start, (unsigned)region->bits, abi_name(image->abi));
}

/* A function of struct code_how. */
static void add_saved(void *ctx, const struct code_saved *found)
{
    (void)ctx;
    saved = grow(saved, num_saved, sizeof *saved);
    saved[num_saved++] = *found;
}

/* Says so if the image is entered in a section that does not count as code, such as `.section .boot, "a"` makes:
 * nothing in it is read. */
static void say_unread_entry(const struct image *image)
{
    const uint64_t entry = modes_linked_at(image, image->header.e_entry);
    size_t i;

    if (image->bare || image->header.e_type != ET_EXEC)
        return;
    for (i = 0; i < image->num_sections; i++) {
        const struct section *s = &image->sections[i];

        if (s->flags & SHF_ALLOC && !(s->flags & SHF_EXECINSTR) && s->type == SHT_PROGBITS && entry >= s->addr &&
            entry - s->addr < s->size)
            report_note("%s: its entry, 0x%" PRIx64
                        ", is in section %s, which does not count as code: nothing in it "
                        "gets rows; in assembly, write `.section %s, \"ax\"`",
                        image->file, entry, printable(s->name), printable(s->name));
    }
}

/* What the machine code says beside the CFI, or where there is none. */
static void read_machine_code(struct input *in)
{
    struct entries points;
    struct code_how how = {
        options.derive, options.find,   NULL,        0,
        &in->kept,      add_correction, say_entered, options.json && options.derive ? add_saved : NULL,
        say_foreign,    &in->image};

    say_unread_entry(&in->image);
    if (!entries_read(&points, &in->image, &entries, &in->cfi, &in->spans, &in->kept, skip_entry))
        fail("%s", points.error);
    how.entries = points.list;
    how.num_entries = points.num;
    if (!code_trust(&in->cfi, &in->spans, &how, &in->code) && options.derive)
        fail("--derive, --entry: this program cannot read code of this CPU");
    say_unnamed(&in->image);
    entries_skip(&points, skip_entry);
    free(points.list);
    if (!in->code.other_spans)
        return;
    free(in->spans.list);
    if (!cfi_find_spans(&in->cfi, &in->spans))
        fail("%s", in->image.error);
}

/* The names that it gives are used until the program ends. */
static void read_map(struct image *image)
{
    static struct map map;
    const bool good = image_symbols(image) && map_name_by_file(&map, options.map, image);

    if (map_link(&map, image) == MAP_ANOTHER_LINK)
        report_warn(MAP_OF_ANOTHER_LINK, options.map, image->file);
    if (!good)
        fail("%s", image->error);
}

static void keep_said(struct input *in)
{
    size_t i;

    in->said = zeroed(in->spans.num, sizeof *in->said);
    in->num_said = in->spans.num;
    for (i = 0; i < in->spans.num; i++) {
        const struct cfi_span *span = &in->spans.list[i];

        in->said[i] = (struct said){span->start, span->end,
                                    span->fde != NULL ? (size_t)(span->fde - in->cfi.fdes) : NO_ENTRY};
    }
}

static void read_input(struct input *in)
{
    memset(in, 0, sizeof *in);
    if (!image_open(&in->image, options.image))
        fail("%s", in->image.error);
    if (in->image.bare && (options.action == IN_PLACE || options.action == APPEND))
        fail("its section headers are gone: -o or --side writes its tables into a file of their own");
    if (in->image.header.e_type == ET_REL)
        fail("a relocatable object: its addresses are not known before it is linked, or loaded");
    if (options.map != NULL)
        read_map(&in->image);
    if (!cfi_read(&in->cfi, &in->image, options.sources) || !cfi_find_spans(&in->cfi, &in->spans))
        fail("%s", in->image.error);
    if (in->cfi.num_fdes == 0 && !options.derive &&
        (options.forget || options.action == CHECK || image_tables(&in->image) == NULL))
        fail_without_cfi(&in->image);
    if (options.action != CHECK && !options.forget && !kept_read(&in->kept, &in->image, &in->spans))
        fail("%s", in->image.error);
    keep_said(in);
    if (!options.keep_cfi)
        read_machine_code(in);
}

int main(int argc, char **argv)
{
    struct input in;

    parse_options(argc, argv);
    if (options.allow != NULL && !known_read(&known, options.allow))
        fail("%s: %s", options.allow, strerror(errno));
    read_input(&in);
    if (options.action == CHECK)
        check(&in);
    else
        make(&in);
    free(in.spans.list);
    free(in.said);
    cfi_free(&in.cfi);
    kept_free(&in.kept);
    image_close(&in.image);
    if (fflush(stdout) != 0 || ferror(stdout))
        fail("the standard output cannot be written");
    return 0;
}
