/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * sfu-trace: what happened? Names and lines for a log in which sfu has printed traces or dumped stacks, and traces
 * of what is in a core, in a memory dump or behind a debugger's stub.
 */
#include "trace.h"
#include "trace_fold.h"
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

static bool read_number(const char *text, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 0);
    return errno == 0 && end != text && *end == '\0' && text[0] != '-' && text[0] != ' ';
}

static uint64_t parse_number(const char *option, const char *text, uint64_t high)
{
    uint64_t value;

    if (!read_number(text, &value) || value > high)
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

/* --folded, --flame and what belongs to them. */
static bool set_fold_option(int option, const char *argument)
{
    struct fold_options *fold = &options.fold;

    if (option == 'O')
        fold->folded = true;
    else if (option == 'f')
        fold->flame = argument;
    else if (option == 'n')
        add_file(&fold->minus, &fold->num_minus, argument);
    else if (option == 'u')
        fold->unit = argument;
    else if (option == 'L')
        fold->least = (double)parse_number("--least", argument, 1000);
    else if (option == 'i')
        fold->files = true;
    else
        return false;
    return true;
}

/* FILE, or FILE@SLIDE. */
static void add_map(const char *argument)
{
    const char *at = strrchr(argument, '@');
    char *file = copied(argument);
    uint64_t slide = 0;
    bool placed = at != NULL && read_number(at + 1, &slide);

    if (placed)
        file[at - argument] = '\0';
    images_add_map(&options.trace.images, file, placed, slide);
    free(file);
}

static void set_threads(const char *argument)
{
    char error[300];

    if (!threads_check(argument, error, sizeof error))
        usage("--threads: %s: %s", argument, error);
    options.trace.threads = argument;
}

static void set_option(int option, const char *argument)
{
    if (set_fold_option(option, argument))
        return;
    switch (option) {
    case 'C':
        set_action(CORE, argument);
        break;
    case 'M':
        set_action(MEMORY, argument);
        break;
    case 'c':
        options.record = argument;
        break;
    case 'G':
        set_action(GDB, argument);
        break;
    case 'l':
        options.log = argument;
        add_file(&options.fold.logs, &options.fold.num_logs, argument);
        break;
    case 'r':
        options.registers = argument;
        break;
    case 'S':
        options.trace.sysroot = argument;
        break;
    case 's':
        options.trace.slide = parse_number("--slide", argument, UINT64_MAX);
        break;
    case 'p':
        options.trace.pac_mask = parse_number("--pac-mask", argument, UINT64_MAX);
        break;
    case 'w':
        options.trace.written = argument;
        break;
    case 'k':
        add_map(argument);
        break;
    case 'D':
        if (access(argument, X_OK) != 0)
            report_fail("--debug-dir=%s: %s", argument, strerror(errno));
        symbols_set_folder(argument);
        break;
    case 'T':
        set_threads(argument);
        break;
    case 'U':
        add_file(&options.users, &options.num_users, argument);
        break;
    case 'R':
        options.trace.user_table = parse_number("--user-table", argument, UINT64_MAX);
        options.trace.has_user_table = true;
        break;
    case 'P':
        set_page_table(argument);
        break;
    case 'm':
        options.trace.max_frames = (uint32_t)parse_number("--max-frames", argument, UINT32_MAX);
        break;
    case 'z':
        options.trace.red_zone = (int)parse_number("--red-zone", argument, UINT16_MAX);
        break;
    default:
        exit(2); /* getopt has said why */
    }
}

/* Adds the image ARGUMENT: FILE, or FILE@ADDR where its code is at ADDR. */
static struct trace_image *add_image(const char *argument)
{
    const char *at = strrchr(argument, '@');
    char *file = copied(argument), error[300];
    struct trace_image *image;
    uint64_t where = 0, text;

    if (at != NULL && read_number(at + 1, &where))
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

static void parse_options(int argc, char **argv)
{
    static const struct option names[] = {{"core", required_argument, NULL, 'C'},
                                          {"debug-dir", required_argument, NULL, 'D'},
                                          {"files", no_argument, NULL, 'i'},
                                          {"flame", required_argument, NULL, 'f'},
                                          {"folded", no_argument, NULL, 'O'},
                                          {"frame-pointers", no_argument, NULL, 'F'},
                                          {"gdb", required_argument, NULL, 'G'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"least", required_argument, NULL, 'L'},
                                          {"log", required_argument, NULL, 'l'},
                                          {"map", required_argument, NULL, 'k'},
                                          {"max-frames", required_argument, NULL, 'm'},
                                          {"memory", required_argument, NULL, 'M'},
                                          {"minus", required_argument, NULL, 'n'},
                                          {"pac-mask", required_argument, NULL, 'p'},
                                          {"page-table", required_argument, NULL, 'P'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"record", required_argument, NULL, 'c'},
                                          {"red-zone", required_argument, NULL, 'z'},
                                          {"regs", required_argument, NULL, 'r'},
                                          {"sizes", no_argument, NULL, 'B'},
                                          {"slide", required_argument, NULL, 's'},
                                          {"sysroot", required_argument, NULL, 'S'},
                                          {"threads", required_argument, NULL, 'T'},
                                          {"unit", required_argument, NULL, 'u'},
                                          {"user", required_argument, NULL, 'U'},
                                          {"user-table", required_argument, NULL, 'R'},
                                          {"version", no_argument, NULL, 'V'},
                                          {"write-core", required_argument, NULL, 'w'},
                                          {NULL, 0, NULL, 0}};
    int option;
    size_t i;

    while ((option = getopt_long(argc, argv, "hl:q", names, NULL)) != -1) {
        if (option == 'h') {
            print_lines(help, sizeof help / sizeof help[0]);
            exit(0);
        }
        if (option == 'V') {
            printf("sfu-trace %d.%d.%d\n", SFU_VERSION / 10000, SFU_VERSION / 100 % 100, SFU_VERSION % 100);
            exit(0);
        }
        if (option == 'q')
            report_be_quiet();
        else if (option == 'F')
            options.trace.frame_pointers = true;
        else if (option == 'B')
            options.trace.sizes = true;
        else
            set_option(option, optarg);
    }
    if (options.record != NULL && options.action != MEMORY)
        set_action(RECORD, options.record);
    if (options.fold.folded && options.fold.flame != NULL && strcmp(options.fold.flame, "-") == 0)
        usage("--folded and --flame=- both write to the standard output");
    if (options.fold.folded || options.fold.flame != NULL)
        set_action(FOLD, NULL);
    else if (options.fold.files || options.fold.unit != NULL || options.fold.num_minus > 0)
        usage("--files, --unit and --minus are for --folded and --flame");
    if (optind == argc && options.action != CORE &&
        (options.trace.images.num_maps == 0 || (options.action != FILTER && options.action != FOLD)))
        usage("no image: name the ELF file of the program or kernel");
    if ((options.registers != NULL) != (options.action == MEMORY && options.record == NULL))
        usage("--memory goes with --regs, or with --record");
    if (options.trace.written != NULL && options.action == FOLD)
        usage("--write-core is not for --folded and --flame");
    if (options.trace.written != NULL && strcmp(options.trace.written, "-") == 0)
        usage("--write-core: the standard output has the traces: name a file");
    if (options.trace.threads != NULL &&
        (options.action == FILTER || options.action == FOLD || options.action == RECORD))
        usage("--threads is for --core, --memory and --gdb");
    if (options.trace.sysroot != NULL && options.action != CORE && options.action != GDB)
        usage("--sysroot is for --core and --gdb");
    if (options.trace.has_page_table && options.action != CORE)
        usage("--page-table is for --core");
    if (options.trace.has_user_table && (options.action != CORE || options.num_users == 0))
        usage("--user-table is for --core, with --user");
    if (options.log != NULL && options.action != FILTER && options.action != FOLD)
        usage("--log is for the filter, --folded and --flame");
    if (options.fold.num_logs > 1 && options.action == FILTER)
        usage("more than one --log: only --folded and --flame take several");
    for (; optind < argc; optind++)
        (void)add_image(argv[optind]);
    for (i = 0; i < options.num_users; i++)
        add_user(options.users[i]);
}

/* ---- What is done ---------------------------------------------------------------------------------------------- */

static void filter(void)
{
    int in = STDIN_FILENO;

    if (options.log != NULL)
        in = open(options.log, O_RDONLY | O_CLOEXEC);
    if (in < 0)
        report_fail("%s: %s", options.log, strerror(errno));
    trace_filter(&options.trace, in);
}

int main(int argc, char **argv)
{
    parse_options(argc, argv);
    signal(SIGPIPE, SIG_IGN);
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
