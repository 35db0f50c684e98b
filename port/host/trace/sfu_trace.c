/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * sfu-trace: what happened? Names and lines for a log in which sfu has printed traces or dumped stacks, and traces
 * of what is in a core, in a memory dump or behind a debugger's stub.
 */
#include "trace.h"
#include "trace_fold.h"
#include "log/formats.h"
#include "trace_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char tool_name[] = "sfu-trace";

/* The lines of sfu-trace.txt, made by rules.mk. */
static const char *const help[] = {
#include "sfu-trace.txt.h"
};

enum action { FILTER, CORE, MEMORY, RECORD, GDB, FOLD };

static struct options {
    enum action action;
    const char *file; /* what the action is about */
    const char *log, *registers, *record;
    const char **users; /* images of user mode */
    size_t num_users;
    struct fold_options fold;
    struct trace_options trace;
} options = {.action = FILTER, .trace = {.red_zone = -1}, .fold = {.least = 0.2}};

/* ---- Options --------------------------------------------------------------------------------------------------- */

static uint64_t parse_number(const char *option, const char *text, uint64_t high)
{
    uint64_t value;

    if (!text_is_number(text, &value) || value > high)
        usage("%s: not a number from 0 to 0x%" PRIx64 ": %s", option, high, text);
    return value;
}

static void set_action(enum action action, const char *file)
{
    if (options.action != FILTER)
        usage("more than one of --core, --memory, --record, --gdb, and --folded or --flame");
    options.action = action;
    options.file = file;
}

/* "ADDR", "ADDR,BITS" or "ADDR,BITS,PAGE". */
static void set_page_table(const char *argument)
{
    struct trace_options *t = &options.trace;
    unsigned long long page = 4096;
    bool good;
    char *end;

    t->has_page_table = true;
    t->page_table = strtoull(argument, &end, 0);
    good = end != argument;
    if (good && *end == ',') {
        t->address_bits = (unsigned)strtoul(end + 1, &end, 10);
        good = t->address_bits >= 25 && t->address_bits <= 57;
    }
    if (good && *end == ',')
        page = strtoull(end + 1, &end, 10);
    t->page_bits = page == 65536 ? 16 : page == 16384 ? 14 : 12;
    if (!good || *end != '\0' || page != 1ull << t->page_bits)
        usage("--page-table: not ADDR, ADDR,BITS or ADDR,BITS,PAGE: %s", argument);
}

static void add_file(const char ***list, size_t *num, const char *file)
{
    *list = grow(*list, *num, sizeof **list);
    (*list)[(*num)++] = file;
}

/* FILE, or FILE@SLIDE. */
static void add_map(const char *argument)
{
    const char *at = strrchr(argument, '@');
    char *file = copied(argument);
    uint64_t slide = 0;
    bool placed = at != NULL && text_is_number(at + 1, &slide);

    if (placed)
        file[at - argument] = '\0';
    images_add_map(&options.trace.images, file, placed, slide);
    free(file);
}

static struct formats formats;

/* The lines of formats.txt, made by rules.mk. */
static const char *const own_formats[] = {
#include "formats.txt.h"
};

/* How others print registers and stacks. */
static void add_formats(const char *argument)
{
    FILE *file = fopen(argument, "r");
    const char *wrong = NULL;
    char line[1024];

    if (file == NULL)
        report_fail("--formats=%s: %s", argument, strerror(errno));
    formats.cpus = 0;
    formats.number = 0;
    while (wrong == NULL && fgets(line, sizeof line, file) != NULL)
        wrong = formats_add_line(&formats, line);
    fclose(file);
    if (wrong != NULL)
        report_fail("--formats=%s: line %u: %s", argument, formats.number, wrong);
}

static void set_threads(const char *argument)
{
    char error[300];

    if (!threads_check(argument, error, sizeof error))
        usage("--threads: %s: %s", argument, error);
    options.trace.threads = argument;
}

static void set_log(const char *argument)
{
    options.log = argument;
    add_file(&options.fold.logs, &options.fold.num_logs, argument);
}

static void set_debug_folder(const char *argument)
{
    if (access(argument, X_OK) != 0)
        report_fail("--debug-dir=%s: %s", argument, strerror(errno));
    symbols_set_folder(argument);
}

static void set_user_table(const char *argument)
{
    options.trace.user_table = parse_number("--user-table", argument, UINT64_MAX);
    options.trace.has_user_table = true;
}

static void set_core(const char *argument)
{
    set_action(CORE, argument);
}

static void set_memory(const char *argument)
{
    set_action(MEMORY, argument);
}

static void set_gdb(const char *argument)
{
    set_action(GDB, argument);
}

static void set_user(const char *argument)
{
    add_file(&options.users, &options.num_users, argument);
}

static void set_minus(const char *argument)
{
    add_file(&options.fold.minus, &options.fold.num_minus, argument);
}

static void set_least(const char *argument)
{
    options.fold.least = (double)parse_number("--least", argument, 1000);
}

static void set_slide(const char *argument)
{
    options.trace.slide = parse_number("--slide", argument, UINT64_MAX);
}

static void set_pac_mask(const char *argument)
{
    options.trace.pac_mask = parse_number("--pac-mask", argument, UINT64_MAX);
}

static void set_max_frames(const char *argument)
{
    options.trace.max_frames = (uint32_t)parse_number("--max-frames", argument, UINT32_MAX);
}

static void set_red_zone(const char *argument)
{
    options.trace.red_zone = (int)parse_number("--red-zone", argument, UINT16_MAX);
}

static void be_quiet(const char *argument)
{
    (void)argument;
    report_be_quiet();
}

static void print_help(const char *argument)
{
    (void)argument;
    print_lines(help, sizeof help / sizeof help[0]);
    exit(0);
}

static void print_version(const char *argument)
{
    (void)argument;
    printf("sfu-trace %d.%d.%d\n", SFU_VERSION / 10000, SFU_VERSION / 100 % 100, SFU_VERSION % 100);
    exit(0);
}

/* Adds the image ARGUMENT: FILE, or FILE@ADDR where its code is at ADDR. */
static struct trace_image *add_image(const char *argument)
{
    const char *at = strrchr(argument, '@');
    char *file = copied(argument), error[300];
    struct trace_image *image;
    uint64_t where = 0, text;

    if (at != NULL && text_is_number(at + 1, &where))
        file[at - argument] = '\0';
    else
        at = NULL;
    image = images_add(&options.trace.images, file, error, sizeof error);
    if (image == NULL)
        report_fail("%s: %s", file, error);
    if (at != NULL && !image_find(image, ".text", &text))
        report_fail("%s: no section .text, so that @0x%" PRIx64 " is of no use", file, where);
    if (at != NULL)
        image_place(image, where - text);
    free(file);
    return image;
}

/* The program that runs in user mode: the same, or FILE, which then lies where it was linked to. */
static void add_user(const char *argument)
{
    struct trace_image *image = add_image(argument);

    if (!image->placed)
        image_place(image, 0);
    image->user = true;
}

/* An option sets FLAG, or sets TEXT to its argument, or calls TAKE with it. A flag and TAKES_NONE have no argument. */
static const struct known_option {
    const char *name;
    char letter; /* the short form; or 0 */
    bool takes_none;
    bool *flag;
    const char **text;
    void (*take)(const char *argument);
} known_options[] = {
    {.name = "core", .take = set_core},
    {.name = "debug-dir", .take = set_debug_folder},
    {.name = "files", .flag = &options.fold.files},
    {.name = "flame", .text = &options.fold.flame},
    {.name = "folded", .flag = &options.fold.folded},
    {.name = "formats", .take = add_formats},
    {.name = "frame-pointers", .flag = &options.trace.frame_pointers},
    {.name = "gdb", .take = set_gdb},
    {.name = "help", .letter = 'h', .takes_none = true, .take = print_help},
    {.name = "least", .take = set_least},
    {.name = "log", .letter = 'l', .take = set_log},
    {.name = "map", .take = add_map},
    {.name = "max-frames", .take = set_max_frames},
    {.name = "memory", .take = set_memory},
    {.name = "minus", .take = set_minus},
    {.name = "pac-mask", .take = set_pac_mask},
    {.name = "page-table", .take = set_page_table},
    {.name = "quiet", .letter = 'q', .takes_none = true, .take = be_quiet},
    {.name = "record", .text = &options.record},
    {.name = "red-zone", .take = set_red_zone},
    {.name = "regs", .text = &options.registers},
    {.name = "sizes", .flag = &options.trace.sizes},
    {.name = "slide", .take = set_slide},
    {.name = "sysroot", .text = &options.trace.sysroot},
    {.name = "threads", .take = set_threads},
    {.name = "unit", .text = &options.fold.unit},
    {.name = "user", .take = set_user},
    {.name = "user-table", .take = set_user_table},
    {.name = "version", .takes_none = true, .take = print_version},
    {.name = "write-core", .text = &options.trace.written},
};
enum { NUM_OPTIONS = sizeof known_options / sizeof known_options[0], FIRST_OPTION = 256 /* above each letter */ };

/* OPTION is what getopt_long returned: a letter, or FIRST_OPTION + a place in the table. */
static void set_option(int option)
{
    size_t i;

    for (i = 0; i < NUM_OPTIONS; i++) {
        const struct known_option *known = &known_options[i];

        if (option != (int)(FIRST_OPTION + i) && (known->letter == 0 || option != known->letter))
            continue;
        if (known->flag != NULL)
            *known->flag = true;
        else if (known->text != NULL)
            *known->text = optarg;
        else
            known->take(optarg);
        return;
    }
    exit(2); /* getopt_long has said what is wrong */
}

/* --record and the profile's options are actions only if no other option names one. */
static void complete_action(void)
{
    if (options.record != NULL && options.action != MEMORY)
        set_action(RECORD, options.record);
    if (options.fold.folded && options.fold.flame != NULL && strcmp(options.fold.flame, "-") == 0)
        usage("--folded and --flame=- both write to the standard output");
    if (options.fold.folded || options.fold.flame != NULL)
        set_action(FOLD, NULL);
}

/* Refuses options that do not go together. */
static void check_together(bool has_image)
{
    const struct trace_options *t = &options.trace;
    const bool filter = options.action == FILTER, fold = options.action == FOLD, core = options.action == CORE;
    const bool live = core || options.action == GDB;
    const bool profile = options.fold.files || options.fold.unit != NULL || options.fold.num_minus > 0;
    const bool by_map = t->images.num_maps > 0 && (filter || fold);
    const bool raw = options.action == MEMORY && options.record == NULL;
    const struct {
        bool wrong;
        const char *says;
    } rules[] = {
        {profile && !fold, "--files, --unit and --minus are for --folded and --flame"},
        {!has_image && !core && !by_map, "no image: name the ELF file of the program or kernel"},
        {(options.registers != NULL) != raw, "--memory goes with --regs, or with --record"},
        {t->written != NULL && fold, "--write-core is not for --folded and --flame"},
        {t->written != NULL && strcmp(t->written, "-") == 0,
         "--write-core: the standard output has the traces: name a file"},
        {t->sizes && (fold || (filter && !has_image)),
         "--sizes needs an image, for its tables, and is not for --folded and --flame"},
        {t->threads != NULL && !live && options.action != MEMORY, "--threads is for --core, --memory and --gdb"},
        {t->sysroot != NULL && !live, "--sysroot is for --core and --gdb"},
        {t->has_page_table && !core, "--page-table is for --core"},
        {t->has_user_table && (!core || options.num_users == 0), "--user-table is for --core, with --user"},
        {options.log != NULL && !filter && !fold, "--log is for the filter, --folded and --flame"},
        {options.fold.num_logs > 1 && filter, "more than one --log: only --folded and --flame take several"},
    };
    size_t i;

    for (i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i].wrong)
            usage("%s", rules[i].says);
}

static void parse_options(int argc, char **argv)
{
    struct option names[NUM_OPTIONS + 1];
    int option;
    size_t i;

    memset(names, 0, sizeof names);
    for (i = 0; i < NUM_OPTIONS; i++) {
        const struct known_option *known = &known_options[i];

        names[i].name = known->name;
        names[i].has_arg = known->flag != NULL || known->takes_none ? no_argument : required_argument;
        names[i].val = (int)(FIRST_OPTION + i);
    }
    while ((option = getopt_long(argc, argv, "hl:q", names, NULL)) != -1)
        set_option(option);
    complete_action();
    check_together(optind < argc);
    for (; optind < argc; optind++)
        (void)add_image(argv[optind]);
    for (i = 0; i < options.num_users; i++)
        add_user(options.users[i]);
    images_use_maps(&options.trace.images);
}

/* ---- What is done ---------------------------------------------------------------------------------------------- */

static void filter(void)
{
    int in = STDIN_FILENO;
    size_t i;

    if (options.log != NULL)
        in = open(options.log, O_RDONLY | O_CLOEXEC);
    if (in < 0)
        report_fail("%s: %s", options.log, strerror(errno));
    formats.cpus = 0;
    for (i = 0; i < sizeof own_formats / sizeof own_formats[0]; i++)
        (void)formats_add_line(&formats, own_formats[i]);
    formats_sort(&formats);
    options.trace.formats = &formats;
    trace_filter(&options.trace, in);
    formats_free(&formats);
}

/* Images of CPUs that are not unwound are for names in logs. */
static void check_cpu(void)
{
    const struct trace_images *images = &options.trace.images;
    size_t i;

    for (i = 0; i < images->num; i++)
        if (images->list[i]->image.abi == 0 && (options.action != FILTER || options.trace.sizes))
            report_fail(
                "%s: machine %u is none of x86_64, i386, aarch64, s390x, riscv and arm: only names of a log",
                images->list[i]->file, images->list[i]->image.header.e_machine);
}

int main(int argc, char **argv)
{
    parse_options(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    check_cpu();
    switch (options.action) {
    case FILTER:
        filter();
        break;
    case CORE:
        trace_core(&options.trace, options.file);
        break;
    case MEMORY:
        trace_memory(&options.trace, options.file, options.registers, options.record);
        break;
    case RECORD:
        trace_record(&options.trace, options.file);
        break;
    case GDB:
        trace_gdb(&options.trace, options.file);
        break;
    case FOLD:
        trace_fold(&options.trace, &options.fold);
        break;
    }
    images_free(&options.trace.images);
    if (fflush(stdout) != 0 || ferror(stdout))
        report_fail("the standard output cannot be written");
    return options.trace.images.wrong ? 1 : 0;
}
