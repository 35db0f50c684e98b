/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * sfu-lint: says whether an image's SFrame tables will work, and what they are worth.
 *     images -> lint_read (lint.h) -> what is required -> the difference to an older build -> text or JSON -> status
 */
#include "lint.h"
#include "common/report.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Options --------------------------------------------------------------------------------------------------- */

/* The lines of sfu-lint.txt, made by rules.mk. */
const char tool_name[] = "sfu-lint";

static const char *const help[] = {
#include "sfu-lint.txt.h"
};

enum status { CLEAN, FOUND, UNREADABLE };

static struct options {
    const char *old;     /* --diff */
    const char *flat;    /* --flat */
    const char *map;     /* --map, of the image, */
    const char *old_map; /* and --old-map, of the older build */
    double require;
    unsigned oldest;
    uint64_t max_frame, max_depth; /* 0: any */
    bool all, frames, json, quiet, strict;
} options = {NULL, NULL, NULL, NULL, 0, 1, 0, 0, false, false, false, false, false};

static struct known known;

static uint64_t parse_bytes(const char *name, const char *text)
{
    uint64_t value;

    if (!is_whole_number(text, &value) || value == 0)
        usage("%s: not a number of bytes: %s", name, text);
    options.frames = true;
    return value;
}

/* --allow=NAME[:WHERE] */
static void allow(const char *text)
{
    size_t size = strcspn(text, ":"), i;

    for (i = 0; i < LINT_NAMES; i++) {
        if (strlen(lint_names[i].name) == size && strncmp(lint_names[i].name, text, size) == 0) {
            known_add(&known, text, strlen(text));
            return;
        }
    }
    usage("--allow: nothing has this name: %s", text);
}

static void set_option(int option, const char *argument)
{
    switch (option) {
    case 'd':
        options.old = argument;
        break;
    case 'f':
        options.flat = argument;
        break;
    case 'p':
        options.map = argument;
        break;
    case 'P':
        options.old_map = argument;
        break;
    case 'r':
        options.require = parse_percent("--require", argument);
        break;
    case 'o':
        if (strlen(argument) != 1 || strchr("123", argument[0]) == NULL)
            usage("--oldest: not 1, 2 or 3: %s", argument);
        options.oldest = (unsigned)(argument[0] - '0');
        break;
    case 'm':
        options.max_frame = parse_bytes("--max-frame", argument);
        break;
    case 'M':
        options.max_depth = parse_bytes("--max-depth", argument);
        break;
    case 'l':
        allow(argument);
        break;
    case 'L':
        if (!known_read(&known, argument))
            usage("--allow-file: %s: %s", argument, strerror(errno));
        break;
    case 'V':
        printf("sfu-lint %d.%d.%d\n", SFU_VERSION / 10000, SFU_VERSION / 100 % 100, SFU_VERSION % 100);
        exit(0);
    case 'h':
        print_lines(help, sizeof help / sizeof help[0]);
        exit(0);
    default:
        exit(UNREADABLE); /* getopt has said why */
    }
}

/* Returns where the images begin. */
static int parse_options(int argc, char **argv)
{
    static const struct option names[] = {{"all", no_argument, NULL, 'a'},
                                          {"allow", required_argument, NULL, 'l'},
                                          {"allow-file", required_argument, NULL, 'L'},
                                          {"diff", required_argument, NULL, 'd'},
                                          {"flat", required_argument, NULL, 'f'},
                                          {"frames", no_argument, NULL, 'F'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"map", required_argument, NULL, 'p'},
                                          {"max-depth", required_argument, NULL, 'M'},
                                          {"max-frame", required_argument, NULL, 'm'},
                                          {"old-map", required_argument, NULL, 'P'},
                                          {"oldest", required_argument, NULL, 'o'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"require", required_argument, NULL, 'r'},
                                          {"strict", no_argument, NULL, 's'},
                                          {"version", no_argument, NULL, 'V'},
                                          {NULL, 0, NULL, 0}};
    static const char letters[] = "aFjqs";
    bool *const flags[] = {&options.all, &options.frames, &options.json, &options.quiet, &options.strict};
    int option;

    while ((option = getopt_long(argc, argv, "hq", names, NULL)) != -1)
        if (strchr(letters, option) != NULL)
            *flags[strchr(letters, option) - letters] = true;
        else
            set_option(option, optarg);
    if (optind == argc)
        usage("no image");
    if (options.old != NULL && argc - optind > 1)
        usage("--diff compares one image with its older build");
    if (options.flat != NULL && argc - optind > 1)
        usage("--flat is made of one image");
    if (options.map != NULL && argc - optind > 1)
        usage("--map is that of one image");
    if (options.old_map != NULL && options.old == NULL)
        usage("--old-map is that of the older build: --diff names it");
    return optind;
}

/* ---- What is required ------------------------------------------------------------------------------------------ */

static void require(struct lint *lint)
{
    double share = percent(lint->covered_bytes, lint->code_bytes);

    if (share < options.require)
        lint_thing(lint, LINT_BELOW_REQUIRED, "", 0, lint->code_bytes - lint->covered_bytes,
                   "%.3f%% of the bytes of code have rows, and %g%% are required", share, options.require);
}

/* Functions that take more stack than they may. */
static void require_frames(struct lint *lint)
{
    size_t i;

    for (i = 0; i < lint->num_functions; i++) {
        const struct lint_function *f = &lint->functions[i];
        const struct lint_frame *frame = &lint->frames[i];

        if (options.max_frame > 0 && frame->bytes > options.max_frame)
            lint_thing(lint, LINT_LARGE_FRAME, f->name, f->start, 0, "its frame takes %" PRIu64 "%s bytes of stack",
                       frame->bytes, frame->dynamic ? "+" : "");
        if (options.max_depth > 0 && !frame->called && frame->depth > options.max_depth)
            lint_thing(lint, LINT_DEEP_CALLS, f->name, f->start, 0,
                       "its calls take up to %" PRIu64 "%s bytes of stack", frame->depth, frame->least ? "+" : "");
    }
}

/* ---- The difference to an older build -------------------------------------------------------------------------- */

/* All functions of one name. */
struct tally {
    const char *name;
    uint64_t start, bytes, covered;
};

struct tallies {
    struct tally *list; /* by name */
    size_t num;
};

static int by_tally_name(const void *a, const void *b)
{
    const struct tally *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order != 0 ? order : (x->start > y->start) - (x->start < y->start);
}

static struct tallies count(const struct lint *lint)
{
    struct tallies t = {zeroed(lint->num_functions, sizeof *t.list), 0};
    size_t i, num = 0;

    for (i = 0; i < lint->num_functions; i++) {
        const struct lint_function *f = &lint->functions[i];

        if (f->name[0] != '\0')
            t.list[num++] = (struct tally){f->name, f->start, f->bytes, f->covered};
    }
    qsort(t.list, num, sizeof *t.list, by_tally_name);
    for (i = 0; i < num; i++) {
        if (t.num > 0 && strcmp(t.list[t.num - 1].name, t.list[i].name) == 0) {
            t.list[t.num - 1].bytes += t.list[i].bytes;
            t.list[t.num - 1].covered += t.list[i].covered;
        } else {
            t.list[t.num++] = t.list[i];
        }
    }
    return t;
}

/* What has changed between two builds. */
struct changes {
    uint64_t gained, lost, added, removed; /* functions */
    int64_t code, tables;                  /* bytes */
};

/* Compares a function that both builds have. */
static void compare_function(struct lint *lint, const struct tally *old, const struct tally *now,
                             struct changes *changes)
{
    uint64_t bare_before = old->bytes - old->covered, bare = now->bytes - now->covered;

    if (old->covered > 0 && bare > bare_before && (bare_before == 0 || now->covered < old->covered)) {
        changes->lost++;
        lint_thing(lint, LINT_LOST_ROWS, now->name, now->start, bare,
                   "has no rows for %" PRIu64 " of %" PRIu64 " bytes; before, for %" PRIu64 " of %" PRIu64, bare,
                   now->bytes, bare_before, old->bytes);
    }
    changes->gained += now->covered > 0 && bare < bare_before;
}

static struct changes compare_with_old(struct lint *lint, const struct lint *old)
{
    struct tallies before = count(old), now = count(lint);
    struct changes changes = {0, 0, 0, 0, 0, 0};
    size_t i = 0, k = 0;

    while (i < before.num || k < now.num) {
        int order = i == before.num ? 1 : k == now.num ? -1 : strcmp(before.list[i].name, now.list[k].name);

        if (order == 0)
            compare_function(lint, &before.list[i], &now.list[k], &changes);
        changes.removed += order < 0;
        changes.added += order > 0;
        i += order <= 0;
        k += order >= 0;
    }
    changes.code = (int64_t)(lint->code_bytes - old->code_bytes);
    changes.tables = (int64_t)(lint->size - old->size);
    free(before.list);
    free(now.list);
    return changes;
}

/* ---- Status ---------------------------------------------------------------------------------------------------- */

static bool is_finding_allowed(const struct finding *f)
{
    char name[1024];
    bool by_kind = known_use(&known, lint_names[f->name].name), by_where, by_pc;

    snprintf(name, sizeof name, "%s:%s", lint_names[f->name].name, f->where);
    by_where = known_use(&known, name);
    snprintf(name, sizeof name, "%s:0x%" PRIx64, lint_names[f->name].name, f->start);
    by_pc = known_use(&known, name);
    return by_kind || by_where || by_pc;
}

static const char *level_of(const struct finding *f)
{
    return lint_names[f->name].level == LINT_FAULT ? "fault" : "note";
}

static bool counts(const struct finding *f)
{
    return (options.strict || lint_names[f->name].level == LINT_FAULT) && !is_finding_allowed(f);
}

static enum status status_of(const struct lint *lint)
{
    enum status status = CLEAN;
    size_t i;

    for (i = 0; i < lint->num_findings; i++)
        if (counts(&lint->findings[i]))
            status = FOUND;
    return status;
}

/* ---- Lists ----------------------------------------------------------------------------------------------------- */

static const char *const kinds[LINT_KINDS] = {"default", "flexible", "mask", "signal", "outermost"};

/* How many of NUM lines of a list are shown. */
static size_t shown(size_t num)
{
    return options.all || options.json || num < 10 ? num : 10;
}

/* Those with more code without rows first. */
static int by_bare(const void *a, const void *b)
{
    const struct lint_function *x = *(const struct lint_function *const *)a;
    const struct lint_function *y = *(const struct lint_function *const *)b;
    uint64_t m = x->bytes - x->covered, n = y->bytes - y->covered;

    if (m != n)
        return m > n ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

/* The functions without rows, *NUM of them; to be freed. */
static const struct lint_function **list_bare(const struct lint *lint, size_t *num)
{
    const struct lint_function **list = zeroed(lint->num_functions, sizeof *list);
    size_t i;

    *num = 0;
    for (i = 0; i < lint->num_functions; i++)
        if (lint->functions[i].reason != NULL)
            list[(*num)++] = &lint->functions[i];
    qsort(list, *num, sizeof *list, by_bare);
    return list;
}

static int by_table(const void *a, const void *b)
{
    const struct lint_object *x = *(const struct lint_object *const *)a;
    const struct lint_object *y = *(const struct lint_object *const *)b;

    if (x->table_bytes != y->table_bytes)
        return x->table_bytes > y->table_bytes ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* The objects that have code or tables, *NUM of them; to be freed. Those with larger tables first. */
static const struct lint_object **print_objects(const struct lint *lint, size_t *num)
{
    const struct lint_object **list = zeroed(lint->num_objects, sizeof *list);
    size_t i;

    *num = 0;
    for (i = 0; i < lint->num_objects; i++)
        if (lint->objects[i].functions > 0 || lint->objects[i].table_bytes > 0)
            list[(*num)++] = &lint->objects[i];
    qsort(list, *num, sizeof *list, by_table);
    return list;
}

/* Functions with larger frames first, or with deeper calls. */
static const struct lint *listed;

static int by_frame(const void *a, const void *b)
{
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    const struct lint_frame *x = &listed->frames[i], *y = &listed->frames[k];

    return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1) : (i > k) - (i < k);
}

static int by_depth(const void *a, const void *b)
{
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    const struct lint_frame *x = &listed->frames[i], *y = &listed->frames[k];

    return x->depth != y->depth ? (x->depth > y->depth ? -1 : 1) : (i > k) - (i < k);
}

/* The numbers of all functions, or of those that no other one calls directly; to be freed. */
static size_t *list_frames(const struct lint *lint, bool all, int (*order)(const void *, const void *), size_t *num)
{
    size_t *list = zeroed(lint->num_functions, sizeof *list), i;

    *num = 0;
    for (i = 0; i < lint->num_functions; i++)
        if (all || !lint->frames[i].called)
            list[(*num)++] = i;
    listed = lint;
    qsort(list, *num, sizeof *list, order);
    return list;
}

/* What function I is called, as it may be printed: its name, or its place. It stays until the next call. */
static const char *function_name(const struct lint *lint, size_t i)
{
    static char place[IMAGE_PLACE];
    const struct lint_function *f = &lint->functions[i];

    return printable(f->name[0] != '\0' ? f->name : image_name_place(&lint->image, f->start, place));
}

/* Prints what function F is called, and its address. */
static void say_function(const struct lint *lint, const struct lint_function *f)
{
    printf("%s", function_name(lint, (size_t)(f - lint->functions)));
    if (f->name[0] != '\0')
        printf(" (0x%" PRIx64 ")", f->start);
}

/* The bytes that function I adds to the path that its depth is of. */
static uint64_t own_bytes(const struct lint *lint, size_t i)
{
    const struct lint_frame *frame = &lint->frames[i];

    return frame->deepest == i ? frame->bytes : frame->depth - lint->frames[frame->deepest].depth;
}

/* ---- Text ------------------------------------------------------------------------------------------------------ */

static void say_finding(const struct lint *lint, const struct finding *f)
{
    printf("%s: %s: %s: %s", lint->image.file, level_of(f), lint_names[f->name].name, printable(f->where));
    if (f->offset > 0)
        printf("+0x%" PRIx64, f->offset);
    if (f->start > 0) {
        printf("%s(0x%" PRIx64, f->where[0] != '\0' ? " " : "", f->start);
        if (f->bytes > 0)
            printf(", %" PRIu64 " bytes", f->bytes);
        if (f->ranges > 1)
            printf(" in %" PRIu64 " places", f->ranges);
        putchar(')');
    }
    printf("%s%s\n", f->where[0] != '\0' || f->start > 0 ? ": " : "", printable(f->what));
}

static void say_kinds(const struct lint *lint)
{
    unsigned i;

    printf("  %-12s %9s %9s %9s\n", "kind", "functions", "rows", "bytes");
    for (i = 0; i < LINT_KINDS; i++) {
        const struct lint_count *k = &lint->kinds[i];

        if (k->functions > 0)
            printf("  %-12s %9" PRIu64 " %9" PRIu64 " %9" PRIu64 "\n", kinds[i], k->functions, k->rows, k->bytes);
    }
}

static void say_objects(const struct lint *lint)
{
    size_t i, num;
    const struct lint_object **list = print_objects(lint, &num);

    printf("  %9s %9s %9s %9s  object\n", "bytes", "rows", "functions", "have rows");
    for (i = 0; i < shown(num); i++) {
        const struct lint_object *o = list[i];

        printf("  %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %8.1f%%  %s\n", o->table_bytes, o->rows, o->functions,
               percent(o->covered, o->bytes), o->name[0] != '\0' ? printable(o->name) : "(not known)");
    }
    if (shown(num) < num)
        printf("  and %zu more (--all)\n", num - shown(num));
    free(list);
}

static void say_bare(const struct lint *lint)
{
    size_t i, num;
    const struct lint_function **list = list_bare(lint, &num);

    if (num > 0)
        printf("  bytes without rows\n");
    for (i = 0; i < shown(num); i++) {
        const struct lint_function *f = list[i];

        printf("  %9" PRIu64 "  ", f->bytes - f->covered);
        say_function(lint, f);
        printf(": %s: %s\n", f->reason, f->why);
    }
    if (shown(num) < num)
        printf("  and %zu more (--all)\n", num - shown(num));
    free(list);
}

static void say_numbers(const struct lint *lint)
{
    const struct comparison *c = &lint->comparison;

    if (lint->open) {
        printf("%s: %s: 0x%" PRIx64 ", %" PRIu64 " bytes", lint->image.file, printable(lint->section->name),
               lint->addr, lint->used);
        if (lint->used < lint->size)
            printf(" in a room of %" PRIu64, lint->size);
        printf(", %.1f%% of the code; version %u, %zu functions, %" PRIu64 " rows\n",
               percent(lint->used, lint->code_bytes), lint->version, lint->num_entries, lint->num_rows);
    }
    printf("%s: rows for %.2f%% of %" PRIu64 " bytes of code, for %" PRIu64 " of %zu functions (%.2f%%)\n",
           lint->image.file, percent(lint->covered_bytes, lint->code_bytes), lint->code_bytes, lint->described,
           lint->num_functions, percent(lint->described, lint->num_functions));
    if (lint->open && lint->cfi.num_fdes > 0)
        printf("%s: beside its CFI: %" PRIu64 " PCs, %" PRIu64 " the same, %" PRIu64 " better, %" PRIu64
               " different, %" PRIu64 " missing, %" PRIu64 " that SFrame cannot say\n",
               lint->image.file, c->pcs, c->same + c->stale,
               c->pcs - c->same - c->stale - c->different - c->missing - c->lost, c->different, c->missing,
               c->lost);
    if (lint->open) {
        say_kinds(lint);
        say_objects(lint);
    }
    say_bare(lint);
}

static void say_frame_sizes(const struct lint *lint)
{
    size_t i, num;
    size_t *list = list_frames(lint, true, by_frame, &num);

    printf("  bytes of stack by frame; +: at least, because SP is computed\n");
    for (i = 0; i < shown(num); i++) {
        printf("  %9" PRIu64 "%c ", lint->frames[list[i]].bytes, lint->frames[list[i]].dynamic ? '+' : ' ');
        say_function(lint, &lint->functions[list[i]]);
        putchar('\n');
    }
    if (shown(num) < num)
        printf("  and %zu more (--all)\n", num - shown(num));
    free(list);
}

/* At most as many functions as there are: a path does not come back. */
static void say_path(const struct lint *lint, size_t i)
{
    const struct lint_frame *frames = lint->frames;

    printf("  %9" PRIu64 "%c %s %" PRIu64, frames[i].depth, frames[i].least ? '+' : ' ', function_name(lint, i),
           own_bytes(lint, i));
    while (frames[i].deepest != i) {
        i = frames[i].deepest;
        printf(" > %s %" PRIu64, function_name(lint, i), own_bytes(lint, i));
    }
    putchar('\n');
}

static void say_cycles(const struct lint *lint)
{
    size_t i, at;

    if (lint->num_cycles > 0)
        printf("  bytes of stack that each round of recursion takes\n");
    for (i = 0; i < shown(lint->num_cycles); i++) {
        printf("  %9" PRIu64 "  %s", lint->cycles[i].bytes, function_name(lint, lint->cycles[i].first));
        for (at = lint->frames[lint->cycles[i].first].next;; at = lint->frames[at].next) {
            printf(" > %s", function_name(lint, at));
            if (at == lint->cycles[i].first)
                break;
        }
        putchar('\n');
    }
    if (shown(lint->num_cycles) < lint->num_cycles)
        printf("  and %zu more (--all)\n", lint->num_cycles - shown(lint->num_cycles));
}

static void say_frames(const struct lint *lint)
{
    size_t i, num;
    size_t *list;

    say_frame_sizes(lint);
    if (!lint->calls) {
        printf("  calls are not known: %s\n", lint->image.object
                                                  ? "an object is not linked yet"
                                                  : "this sfu-lint does not read this machine's code");
        return;
    }
    list = list_frames(lint, options.all, by_depth, &num);
    printf("  bytes of stack by the deepest path of direct calls; +: at least (pointers, recursion, SP)\n");
    for (i = 0; i < shown(num); i++)
        say_path(lint, list[i]);
    if (shown(num) < num)
        printf("  and %zu more (--all)\n", num - shown(num));
    free(list);
    say_cycles(lint);
}

static void say_changes(const struct lint *lint, const struct changes *c)
{
    printf("%s: since %s: %" PRIu64 " functions have gained rows, %" PRIu64 " lost some, %" PRIu64
           " are new, %" PRIu64 " gone; code %+" PRId64 " bytes, tables %+" PRId64 "\n",
           lint->image.file, options.old, c->gained, c->lost, c->added, c->removed, c->code, c->tables);
}

static void say_all(const struct lint *lint, const struct changes *changes)
{
    size_t i;

    for (i = 0; i < lint->num_findings; i++)
        if (options.quiet ? counts(&lint->findings[i]) : !is_finding_allowed(&lint->findings[i]))
            say_finding(lint, &lint->findings[i]);
    if (options.quiet)
        return;
    say_numbers(lint);
    if (lint->frames != NULL)
        say_frames(lint);
    if (changes != NULL)
        say_changes(lint, changes);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

static void put_findings(const struct lint *lint)
{
    size_t i;

    printf(",\n \"findings\": [");
    for (i = 0; i < lint->num_findings; i++) {
        const struct finding *f = &lint->findings[i];

        printf("%s\n  {\"name\": \"%s\", \"level\": \"%s\", \"allowed\": %s, \"where\": ", i > 0 ? "," : "",
               lint_names[f->name].name, level_of(f), is_finding_allowed(f) ? "true" : "false");
        put_json(f->where);
        printf(", \"offset\": %" PRIu64 ", \"address\": \"0x%" PRIx64 "\", \"bytes\": %" PRIu64
               ", \"ranges\": %" PRIu64 ", \"what\": ",
               f->offset, f->start, f->bytes, f->ranges);
        put_json(f->what);
        putchar('}');
    }
    printf("]");
}

static void put_objects(const struct lint *lint)
{
    size_t i, num;
    const struct lint_object **list = print_objects(lint, &num);

    printf(",\n \"objects\": [");
    for (i = 0; i < num; i++) {
        const struct lint_object *o = list[i];

        printf("%s\n  {\"name\": ", i > 0 ? "," : "");
        put_json(o->name);
        printf(", \"functions\": %" PRIu64 ", \"with_rows\": %" PRIu64 ", \"code_bytes\": %" PRIu64
               ", \"covered\": %" PRIu64 ", \"rows\": %" PRIu64 ", \"bytes\": %" PRIu64 "}",
               o->functions, o->described, o->bytes, o->covered, o->rows, o->table_bytes);
    }
    printf("]");
    free(list);
}

static void put_bare(const struct lint *lint)
{
    size_t i, num;
    const struct lint_function **list = list_bare(lint, &num);

    printf(",\n \"without_rows\": [");
    for (i = 0; i < num; i++) {
        const struct lint_function *f = list[i];

        printf("%s\n  {\"function\": ", i > 0 ? "," : "");
        put_json(f->name);
        printf(", \"address\": \"0x%" PRIx64 "\", \"bytes\": %" PRIu64 ", \"without\": %" PRIu64
               ", \"reason\": \"%s\", \"why\": ",
               f->start, f->bytes, f->bytes - f->covered, f->reason);
        put_json(f->why);
        printf(", \"object\": ");
        put_json(lint->objects[f->object].name);
        putchar('}');
    }
    printf("]");
    free(list);
}

static void put_path(const struct lint *lint, size_t i)
{
    bool more = true;

    printf("[");
    while (more) {
        printf("{\"function\": ");
        put_json(lint->functions[i].name);
        printf(", \"bytes\": %" PRIu64 "}", own_bytes(lint, i));
        more = lint->frames[i].deepest != i;
        i = lint->frames[i].deepest;
        if (more)
            printf(", ");
    }
    printf("]");
}

static void put_frames(const struct lint *lint)
{
    size_t i, num, at;
    size_t *list = list_frames(lint, true, lint->calls ? by_depth : by_frame, &num);

    printf(",\n \"frames\": [");
    for (i = 0; i < num; i++) {
        const struct lint_frame *frame = &lint->frames[list[i]];

        printf("%s\n  {\"function\": ", i > 0 ? "," : "");
        put_json(lint->functions[list[i]].name);
        printf(", \"address\": \"0x%" PRIx64 "\", \"bytes\": %" PRIu64 ", \"exact\": %s",
               lint->functions[list[i]].start, frame->bytes, frame->dynamic ? "false" : "true");
        if (lint->calls) {
            printf(", \"called\": %s, \"depth\": %" PRIu64 ", \"depth_exact\": %s, \"path\": ",
                   frame->called ? "true" : "false", frame->depth, frame->least ? "false" : "true");
            put_path(lint, list[i]);
        }
        putchar('}');
    }
    printf("],\n \"cycles\": [");
    for (i = 0; i < lint->num_cycles; i++) {
        printf("%s\n  {\"bytes\": %" PRIu64 ", \"functions\": [", i > 0 ? "," : "", lint->cycles[i].bytes);
        put_json(lint->functions[lint->cycles[i].first].name);
        for (at = lint->frames[lint->cycles[i].first].next; at != lint->cycles[i].first;
             at = lint->frames[at].next) {
            printf(", ");
            put_json(lint->functions[at].name);
        }
        printf("]}");
    }
    printf("]");
    free(list);
}

static void put_all(const struct lint *lint, const struct changes *changes)
{
    const struct comparison *c = &lint->comparison;
    unsigned i;

    printf("{\"image\": ");
    put_json(lint->image.file);
    printf(",\n \"section\": ");
    put_json(lint->section != NULL ? lint->section->name : "");
    printf(", \"address\": \"0x%" PRIx64 "\", \"bytes\": %" PRIu64
           ", \"version\": %u, \"entries\": %zu, \"rows\": %" PRIu64 ",\n \"code_bytes\": %" PRIu64
           ", \"covered_bytes\": %" PRIu64 ", \"functions\": %zu, \"with_rows\": %" PRIu64,
           lint->addr, lint->size, lint->open ? lint->version : 0, lint->num_entries, lint->num_rows,
           lint->code_bytes, lint->covered_bytes, lint->num_functions, lint->described);
    printf(",\n \"cfi\": {\"pcs\": %" PRIu64 ", \"same\": %" PRIu64 ", \"below_sp\": %" PRIu64
           ", \"epilogue\": %" PRIu64 ", \"by_code\": %" PRIu64 ", \"different\": %" PRIu64
           ", \"missing\": %" PRIu64 ", \"lost\": %" PRIu64 "}",
           c->pcs, c->same + c->stale, c->below_sp, c->epilogue, c->by_code, c->different, c->missing, c->lost);
    printf(",\n \"kinds\": {");
    for (i = 0; i < LINT_KINDS; i++)
        printf("%s\"%s\": {\"functions\": %" PRIu64 ", \"rows\": %" PRIu64 ", \"bytes\": %" PRIu64 "}",
               i > 0 ? ", " : "", kinds[i], lint->kinds[i].functions, lint->kinds[i].rows, lint->kinds[i].bytes);
    printf("}");
    if (changes != NULL)
        printf(",\n \"since\": {\"gained\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"new\": %" PRIu64
               ", \"gone\": %" PRIu64 ", \"code\": %" PRId64 ", \"tables\": %" PRId64 "}",
               changes->gained, changes->lost, changes->added, changes->removed, changes->code, changes->tables);
    put_findings(lint);
    put_objects(lint);
    put_bare(lint);
    if (lint->frames != NULL)
        put_frames(lint);
    printf("}");
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

/* Says in one line why FILE could not be read. Returns false. */
static bool say_error(const struct lint *lint, const char *file)
{
    fflush(stdout);
    fprintf(stderr, "sfu-lint: %s: %s\n", file, lint->image.error);
    if (options.json) {
        printf("{\"image\": ");
        put_json(file);
        printf(", \"error\": ");
        put_json(lint->image.error);
        printf("}");
    }
    return false;
}

static bool read_image(struct lint *lint, const char *file, const char *map)
{
    const bool good = lint_read(lint, file, map, options.oldest);

    if (map_link(&lint->map, &lint->image) == MAP_ANOTHER_LINK)
        report_warn(MAP_OF_ANOTHER_LINK, map, file);
    return good || say_error(lint, file);
}

static enum status lint_image(const char *file)
{
    struct lint lint, old;
    struct changes changes;
    enum status status = UNREADABLE;
    bool good = read_image(&lint, file, options.map), older = false;

    if (good && options.old != NULL) {
        good = older = read_image(&old, options.old, options.old_map);
        if (older)
            changes = compare_with_old(&lint, &old);
        else
            lint_free(&old);
    }
    if (good) {
        require(&lint);
        if (options.frames) {
            lint_frames(&lint);
            require_frames(&lint);
        }
        good = options.flat == NULL || lint_flat(&lint, options.flat) || say_error(&lint, options.flat);
    }
    if (good) {
        status = status_of(&lint);
        if (options.json)
            put_all(&lint, older ? &changes : NULL);
        else
            say_all(&lint, older ? &changes : NULL);
    }
    if (older)
        lint_free(&old);
    lint_free(&lint);
    return status;
}

/* Lines of --allow that have silenced nothing are likely to be mistakes, or can go. */
static void say_unused(void)
{
    size_t i;

    for (i = 0; i < known.num; i++)
        if (!known.list[i].used)
            fprintf(stderr, "sfu-lint: nothing found that is allowed as %s\n", known.list[i].name);
}

int main(int argc, char **argv)
{
    int i, first = parse_options(argc, argv);
    enum status worst = CLEAN;

    if (options.json)
        printf("{\"images\": [");
    for (i = first; i < argc; i++) {
        enum status status = lint_image(argv[i]);

        worst = status > worst ? status : worst;
        if (options.json && i + 1 < argc)
            printf(",\n");
    }
    if (options.json)
        printf("]}\n");
    say_unused();
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "sfu-lint: the standard output cannot be written\n");
        return UNREADABLE;
    }
    return (int)worst;
}
