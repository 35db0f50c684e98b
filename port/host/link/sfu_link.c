/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * sfu-link: runs a link command, and gives the image its unwind tables, and names for its traces.
 *     command -> a link to see what the image needs -> a link with exactly that room -> filled in
 * The files of this room:
 *     command.c    what the command links, by what, for which CPU
 *     object.c     the object with the room, which the link gets
 *     names.c, fill.c    the functions' names; facts, names and tables in the image
 *     moved.c      whether the second link has only moved the first one's image: then its tables are right
 *     run.c        programs that are run, and files that are read
 */
#include "command.h"
#include "common/report.h"
#include "fill.h"
#include "moved.h"
#include "object.h"
#include "run.h"
#include "sfu.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Options --------------------------------------------------------------------------------------------------- */

const char tool_name[] = "sfu-link";

static const char *const help[] = {
#include "sfu-link.txt.h"
};

static struct {
    struct words gen; /* sfu-gen, and its options */
    bool no_names, quiet, verbose;
} options;

/* What the link goes through. */
static struct {
    struct command command;
    struct target target;
    char *archive, *image,
        *tables; /* names of files beside the output: the last link's image, before it is whole */
    char *made;  /* the file that the linker has written: behind the symbolic link that the output may be */
    const char *section;
    struct room room;
    uint64_t script_room; /* sfu_room */
    bool own_tables;      /* they go into the object; else the linker script has a place for them */
    bool defaults;        /* the tables are what sfu-link makes by default */
    bool has_target;
    unsigned links;
} job;

/* Options of sfu-gen whose results sfu-link needs, or would not find. */
static void refuse(const char *word)
{
    static const char *const not_here[] = {"-o",     "--asm",  "--object",  "--append",
                                           "--side", "--size", "--address", "--check"};
    size_t i;

    for (i = 0; i < sizeof not_here / sizeof not_here[0]; i++)
        if (strncmp(word, not_here[i], strlen(not_here[i])) == 0)
            usage("%s: the tables go into the image", word);
}

static const char *find_gen(const char *self)
{
    const char *gen = getenv("SFU_GEN"), *slash = strrchr(self, '/');
    char *beside;

    if (gen != NULL && gen[0] != '\0')
        return gen;
    if (slash == NULL)
        return "sfu-gen";
    beside = zeroed((size_t)(slash - self) + sizeof "/sfu-gen", 1);
    memcpy(beside, self, (size_t)(slash - self));
    strcat(beside, "/sfu-gen");
    return access(beside, X_OK) == 0 ? beside : "sfu-gen";
}

static void set_option(const char *word)
{
    refuse(word);
    if (strcmp(word, "--no-names") == 0) {
        options.no_names = true;
    } else if (strcmp(word, "--quiet") == 0 || strcmp(word, "-q") == 0) {
        options.quiet = true;
        report_be_quiet();
    } else if (strcmp(word, "--version") == 0) {
        printf("sfu-link %d.%d.%d\n", SFU_VERSION / 10000, SFU_VERSION / 100 % 100, SFU_VERSION % 100);
        exit(0);
    } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_lines(help, sizeof help / sizeof help[0]);
        exit(0);
    } else {
        options.verbose |= strcmp(word, "-v") == 0 || strcmp(word, "--verbose") == 0;
        words_add(&options.gen, word);
    }
}

/* Whether the first of NUM words at LIST, which begins with a dash, is for a linker: cargo and EDK II hand over no
 * command, only its arguments. */
static bool is_for_linker(char **list, int num)
{
    static const char *const own[] = {"--", "-q", "-h", "-v"};
    static const char *const others[] = {"--eh-frame-hdr", "--as-needed", "--start-group"};
    const char *word = list[0];
    size_t i;

    for (i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(word, own[i]) == 0)
            return false;
    if (strcmp(word, "-o") == 0) /* in front of a command it would be sfu-gen's */
        return num > 2 && command_is_argument(list[2]);
    for (i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(word, others[i]) == 0)
            return true;
    return word[1] != '-' && strncmp(word, "-o", 2) != 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Reads sfu-link's own options, from word I on. Returns the first word behind them. */
static int parse_words(int argc, char **argv, int i)
{
    for (; i < argc && argv[i][0] == '-' && !is_for_linker(argv + i, argc - i); i++) {
        if (strcmp(argv[i], "--") == 0)
            return i + 1;
        set_option(argv[i]);
    }
    return i;
}

/* Reads sfu-link's own options, and those of SFU_LINK_OPTIONS. Returns where the command begins. A build system may put
 * sfu-link in front of a command that begins with sfu-link: options of both count. */
static int parse_options(int argc, char **argv)
{
    char *more = getenv("SFU_LINK_OPTIONS"), *copy = more != NULL ? copied(more) : NULL, *word;
    int i;

    for (word = copy != NULL ? strtok(copy, " \t\n") : NULL; word != NULL; word = strtok(NULL, " \t\n"))
        set_option(word);
    i = parse_words(argc, argv, 1);
    while (i < argc && strcmp(base_name(argv[i]), tool_name) == 0)
        i = parse_words(argc, argv, i + 1);
    return i;
}

/* ---- Files ----------------------------------------------------------------------------------------------------- */

static char *beside(const char *name, const char *end)
{
    char *result = zeroed(strlen(name) + strlen(end) + 1, 1);

    strcat(strcpy(result, name), end);
    return result;
}

static void remove_scratch(void)
{
    (void)unlink(job.archive);
    (void)unlink(job.tables);
}

/* Nothing is left that could be taken for an image. */
static void stop(int status) __attribute__((noreturn));
static void stop(int status)
{
    remove_scratch();
    (void)unlink(job.image);
    (void)unlink(job.made != NULL ? job.made : job.command.output);
    exit(status != 0 ? status : 1);
}

#define FAIL(...) (report_warn(__VA_ARGS__), stop(1))

/* ---- One link -------------------------------------------------------------------------------------------------- */

/* Adds TEXT, an argument for the linker, to WORDS. */
static void add_for_linker(struct words *words, const char *text)
{
    if (job.command.driver)
        words_add(words, "-Xlinker");
    words_add(words, text);
}

static bool has_word(const struct words *words, const char *text)
{
    size_t i;

    for (i = 0; i < words->num; i++)
        if (strncmp(words->list[i], text, strlen(text)) == 0)
            return true;
    return false;
}

/* The command with what sfu-link adds. */
static struct words make_words(void)
{
    struct words words = {NULL, 0};
    char room[64];
    size_t i;

    for (i = 0; i < job.command.words.num; i++)
        words_add(&words, job.command.words.list[i]);
    if (job.command.has_room) {
        (void)snprintf(room, sizeof room, "--defsym=sfu_room=%" PRIu64, job.script_room);
        add_for_linker(&words, room);
    }
    if (!job.has_target)
        return words;
    if (has_word(&job.command.seen, "--whole-archive"))
        add_for_linker(&words, "--no-whole-archive");
    if (has_word(&job.command.seen, "--format") || has_word(&job.command.seen, "-b"))
        add_for_linker(&words, "--format=default");
    add_for_linker(&words, job.archive);
    return words;
}

/* Runs the command. The image is moved away at once, so that it does not look finished. */
static int link_once(struct said *said)
{
    struct words words = make_words();
    int status;

    if (job.has_target && !object_write(job.archive, &job.target, &job.room, job.section, job.own_tables))
        FAIL("cannot write %s: %s", job.archive, strerror(errno));
    status = run_command(words.list, said);
    job.links++;
    free(job.made);
    job.made = realpath(job.command.output, NULL);
    if (status == 0 && (job.made == NULL || rename(job.made, job.image) != 0)) {
        said_print(said);
        if (errno == ENOENT)
            FAIL("%s was not written: what does this command link?", job.command.output);
        FAIL("%s: %s", job.command.output, strerror(errno));
    }
    return status;
}

/* Whether the linker script has no place for the section. */
static bool is_discarded(const struct said *said)
{
    static const char *const reasons[] = {"discarded", "orphan", "unplaced", "not in any", "no section assigned"};
    size_t i;

    if (said->err == NULL || (strstr(said->err, OBJECT_DATA) == NULL && strstr(said->err, "sfu_link.o") == NULL))
        return false;
    for (i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (strstr(said->err, reasons[i]) != NULL)
            return true;
    return false;
}

/* Says what may be wrong with a program that does not take what sfu-link adds to its words. */
static void say_program(const struct said *said)
{
    const char *program = job.command.words.list[0];

    if (said->err == NULL || strstr(said->err, "-Xlinker") == NULL)
        return;
    if (job.command.unknown)
        report_warn("if %s runs a linker or a compiler itself, write sfu-link in front of that one there", program);
    else
        report_warn("%s does not hand words on to a linker: link by ld, or by another compiler", program);
}

/* Links, in a section that the script places. */
static void link_anywhere(struct said *said)
{
    static const char *const sections[] = {".rodata", ".rodata.sfu_link", ".sfu_sframe", ".data", ".text"};
    size_t i;
    int status = 0;

    for (i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        job.section = sections[i];
        status = link_once(said);
        if (status == 0)
            return;
        if (!is_discarded(said))
            break;
        if (i + 1 < sizeof sections / sizeof sections[0])
            said_free(said);
    }
    if (is_discarded(said))
        report_warn(
            "the linker script has no place for constants: write  .rodata : { *(.rodata .rodata.*) }  in it");
    say_program(said);
    said_print(said);
    stop(status);
}

static void link_again(struct said *said)
{
    int status;

    said_free(said);
    status = link_once(said);
    if (status == 0)
        return;
    said_print(said);
    report_warn("%s: the link failed with %zu bytes of room for tables and names%s", job.command.output,
                (size_t)job.script_room + object_size(&job.room),
                options.no_names ? "" : " (--no-names takes less)");
    stop(status);
}

/* ---- sfu-gen --------------------------------------------------------------------------------------------------- */

/* Prints TEXT with the name that the image will have. */
static void print_called(const char *text)
{
    const size_t size = strlen(job.image);
    const char *at;

    while (text != NULL && (at = strstr(text, job.image)) != NULL) {
        fprintf(stderr, "%.*s%s", (int)(at - text), text, job.command.output);
        text = at + size;
    }
    if (text != NULL)
        fputs(text, stderr);
}

/* What sfu-gen has said of an image that it has made tables for. */
static void print_said(const struct said *said)
{
    if (!options.quiet)
        print_called(said->err);
}

/* What is made where the image asks for it; for linker scripts with a place of their own, options say what is made. */
static const char *const defaults[] = {"--small", "--find"};

/* Runs sfu-gen with the NUM options at MORE. On failure says why, and ends; else what it says is the caller's. */
static void run_gen(const char *const *more, size_t num, struct said *said)
{
    struct words words = {NULL, 0};
    size_t i;
    int status;

    words_add(&words, options.gen.list[0]);
    for (i = 0; job.defaults && i < sizeof defaults / sizeof defaults[0]; i++)
        words_add(&words, defaults[i]);
    for (i = 1; i < options.gen.num; i++)
        words_add(&words, options.gen.list[i]);
    for (i = 0; i < num; i++)
        words_add(&words, more[i]);
    words_add(&words, job.image);
    status = run_command(words.list, said);
    if (status != 0) {
        print_called(said->err);
        stop(status);
    }
}

/* The number behind KEY in the JSON that sfu-gen has printed. */
static uint64_t number_of(const char *json, const char *key)
{
    const char *at = json != NULL ? strstr(json, key) : NULL;

    return at != NULL ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* How many bytes the tables need. Reads what entries save into SAVED. */
static uint64_t gen_size(struct saved *saved)
{
    static const char *const more[] = {"--quiet", "--size", "--json"};
    struct said said;
    uint64_t size;

    run_gen(more, 3, &said);
    print_said(&said);
    size = number_of(said.out, "\"bytes\": ");
    fill_read_saved(said.out, saved);
    said_free(&said);
    return size;
}

/* ---- What the image needs -------------------------------------------------------------------------------------- */

struct needs {
    bool asked; /* the image has the section */
    struct place place;
    struct memory memory;
    struct saved saved;
    struct names names;
};

/* Where sframe_start is. */
struct start {
    const struct image *image;
    uint64_t addr;
    bool found;
};

/* Whether ADDR is in a section of IMAGE that is loaded, or where one ends. */
static bool is_loaded(const struct image *image, uint64_t addr)
{
    size_t i;

    for (i = 0; i < image->num_sections; i++) {
        const struct section *s = &image->sections[i];

        if ((s->flags & SHF_ALLOC) != 0 && addr >= s->addr && addr - s->addr <= s->size)
            return true;
    }
    return false;
}

/* An image_symbol_fn. With --just-symbols, the symbol may be that of another image. */
static void see_start(void *ctx, const GElf_Sym *sym, const char *name)
{
    struct start *start = ctx;

    if (sym->st_shndx == SHN_UNDEF || strcmp(name, "sframe_start") != 0 ||
        (sym->st_shndx == SHN_ABS && !is_loaded(start->image, sym->st_value)))
        return;
    start->addr = sym->st_value;
    start->found = true;
}

/* Whether the linker script has a place for tables: a section, or a symbol that is not the object's own. */
static bool has_place(struct image *image, const struct needs *needs)
{
    const struct section *section = image_section(image, IMAGE_TABLES);
    struct start start = {image, 0, false};

    if (section != NULL && (section->flags & SHF_ALLOC) != 0 && strcmp(job.section, IMAGE_TABLES) != 0)
        return true;
    (void)image_each_symbol(image, SHT_SYMTAB, see_start, &start);
    return start.found && (!needs->asked || start.addr != needs->place.addr + object_tables(&job.room));
}

/* Whether the file, which is none that the tools know, has the section all the same. */
static bool has_mark(const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    char block[4096 + OBJECT_MARK_SIZE];
    size_t have = 0, i;
    ssize_t n;
    bool found = false;

    while (!found && fd >= 0 && (n = read(fd, block + have, 4096)) > 0) {
        have += (size_t)n;
        for (i = 0; i + OBJECT_MARK_SIZE <= have && !found; i++)
            found = memcmp(block + i, object_mark, OBJECT_MARK_SIZE) == 0;
        if (have >= OBJECT_MARK_SIZE) {
            memmove(block, block + have - (OBJECT_MARK_SIZE - 1), OBJECT_MARK_SIZE - 1);
            have = OBJECT_MARK_SIZE - 1;
        }
    }
    if (fd >= 0)
        (void)close(fd);
    return found;
}

/* Opens the last link's image. Returns false if it is none that tables could be made for. */
static bool open_image(struct image *image)
{
    if (image_open(image, job.image) && image->pe == NULL)
        return true;
    if (has_mark(job.image))
        FAIL("%s: the tables go into an ELF file: link one, and convert it behind that (objcopy -O binary)",
             job.command.output);
    return false;
}

/* Finds out what the image needs. */
static void read_needs(struct image *image, struct needs *needs)
{
    unsigned count;

    memset(needs, 0, sizeof *needs);
    count = fill_find(image, &needs->place);
    if (count > 1)
        FAIL("%s: its part for tables is there %u times", job.command.output, count);
    needs->asked = count == 1;
    if (!needs->asked)
        return;
    if (job.has_target && image->header.e_machine != job.target.machine)
        FAIL("%s: the image names another CPU than its code is for: leave --oformat or OUTPUT_FORMAT out, and "
             "convert the linked image (objcopy -O elf32-i386)",
             job.command.output);
    fill_memory(image, &needs->memory);
    if (!options.no_names)
        names_make(image, needs->place.addr, true, &needs->names);
}

static void free_needs(struct needs *needs)
{
    free(needs->memory.list);
    free(needs->saved.list);
    free(needs->names.bytes);
}

/* ---- What comes out -------------------------------------------------------------------------------------------- */

/* Prints VALUE with commas into TEXT of 32 bytes. */
static const char *with_commas(uint64_t value, char *text)
{
    char digits[32];
    int size = snprintf(digits, sizeof digits, "%" PRIu64, value), i;
    char *to = text;

    for (i = 0; i < size; i++) {
        *to++ = digits[i];
        if ((size - i) % 3 == 1 && i + 1 < size)
            *to++ = ',';
    }
    *to = '\0';
    return text;
}

/* Says which functions have code without rows, the largest first, as sfu-gen's JSON lists them. */
static void say_without(const char *json)
{
    enum { MAX_SAID = 6 };
    const char *at = json != NULL ? strstr(json, "\"without\": [") : NULL,
               *end = at != NULL ? strchr(at, ']') : NULL;
    unsigned count = 0;
    char number[32];

    while (at != NULL && (at = strstr(at, "{\"function\": \"")) != NULL && at < end) {
        const char *name = at + strlen("{\"function\": \"");

        if (count < MAX_SAID)
            fprintf(stderr, "%s%.*s (%s)", count > 0 ? ", " : "; none: ", (int)strcspn(name, "\""), name,
                    with_commas(number_of(name, "\"bytes\": "), number));
        count++;
        at = name;
    }
    if (count > MAX_SAID)
        fprintf(stderr, " and %u more", count - MAX_SAID);
}

/* Why functions have code without rows: a reason, and those that have it, in the order of sfu-gen's JSON. */
enum { REASON_NAMES = 3 };
struct reason {
    const char *why;
    size_t size; /* of WHY, which no 0 ends */
    const char *names[REASON_NAMES], *last;
    unsigned num;
};

struct reasons {
    struct reason *list;
    size_t num;
};

/* The length of the string at TEXT, which a quotation mark ends. */
static size_t string_size(const char *text)
{
    size_t size = 0;

    while (text[size] != '\0' && text[size] != '"')
        size += text[size] == '\\' && text[size + 1] != '\0' ? 2 : 1;
    return size;
}

static bool same_string(const char *a, const char *b)
{
    const size_t size = string_size(a);

    return size == string_size(b) && memcmp(a, b, size) == 0;
}

static void add_reason(struct reasons *all, const char *name, const char *why, size_t size)
{
    struct reason *r = all->list, *end = r + all->num;

    while (r < end && (r->size != size || memcmp(r->why, why, size) != 0))
        r++;
    if (r == end) {
        all->list = grow(all->list, all->num, sizeof *all->list);
        r = &all->list[all->num++];
        *r = (struct reason){why, size, {NULL}, NULL, 0};
    }
    if (r->last != NULL && same_string(r->last, name))
        return;
    if (r->num < REASON_NAMES)
        r->names[r->num] = name;
    r->last = name;
    r->num++;
}

/* A function of one item of a list in JSON: the strings behind "function" and, unless that is NULL, behind KEY. */
typedef void (*item_fn)(void *ctx, const char *name, const char *value);

/* Gives each item of the list NAME in JSON, as sfu-gen lays it out: a line for each, which begins with two spaces. */
static void each_item(const char *json, const char *name, const char *key, item_fn give, void *ctx)
{
    static const char start[] = "\n  {\"function\": \"";
    const char *at = json != NULL ? strstr(json, name) : NULL;

    at = at != NULL ? strchr(at, '\n') : NULL;
    while (at != NULL && strncmp(at, start, sizeof start - 1) == 0) {
        const char *next = strchr(at + 1, '\n'), *value = key != NULL ? strstr(at, key) : NULL;

        at += sizeof start - 1;
        if (key == NULL || (value != NULL && (next == NULL || value < next)))
            give(ctx, at, value != NULL ? value + strlen(key) : NULL);
        at = next;
    }
}

struct range {
    uint64_t start, end;
};

/* A name within a text. */
struct piece {
    const char *text;
    size_t size;
};

/* What is known of the functions that sfu-gen's JSON lists. */
struct heard {
    struct piece *explained; /* those of which something has said why they have no rows */
    size_t num;
    uint64_t *addrs; /* the same of code by its address, as code without a symbol is named */
    size_t num_addrs;
    struct range *foreign; /* code of other modes, which the messages of sfu-gen list */
    size_t num_foreign;
    const struct saved *saved;
    uint16_t machine;      /* of the image */
    struct piece *crossed; /* entries whose calls the hook of sfu_start.c crosses */
    size_t num_crossed;
    struct reasons *all;
};

static int by_name(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    const int order = memcmp(x->text, y->text, x->size < y->size ? x->size : y->size);

    return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

/* Whether it keeps the interrupted PC, by which the hook of sfu_start.c crosses an entry: struct sfu_link_saved. */
static bool is_saved_pc(const struct saved_register *saved, uint16_t machine)
{
    switch (machine) {
    case EM_386:
        return saved->reg == 8;
    case EM_ARM:
        return saved->reg == 15;
    case EM_RISCV:
        return saved->reg == 64 || saved->reg == 65;
    default:
        return false;
    }
}

/* An item_fn: a function in which code has no rows. */
static void note_crossed(void *ctx, const char *name, const char *value)
{
    struct heard *heard = ctx;
    const uint64_t start = strtoull(value, NULL, 0), end = start + number_of(value, "\"bytes\": ");
    size_t i;

    for (i = 0; i < heard->saved->num; i++) {
        const struct saved_register *saved = &heard->saved->list[i];

        if (!is_saved_pc(saved, heard->machine) || saved->start >= end || saved->start + saved->size <= start)
            continue;
        heard->crossed = grow(heard->crossed, heard->num_crossed, sizeof *heard->crossed);
        heard->crossed[heard->num_crossed++] = (struct piece){name, string_size(name)};
        return;
    }
}

/* An item_fn. */
static void note_reason(void *ctx, const char *name, const char *value)
{
    static const char crossed[] = "sfu_panic_here and sfu_panic_trap cross its calls without rows; "
                                  "for sfu_kernel_start, set entries";
    const struct heard *heard = ctx;
    size_t i = 0;

    while (i < heard->num_crossed && !same_string(heard->crossed[i].text, name))
        i++;
    if (i < heard->num_crossed)
        add_reason(heard->all, name, crossed, sizeof crossed - 1);
    else
        add_reason(heard->all, name, value, string_size(value));
}

static void add_explained(struct heard *heard, const char *name, size_t size)
{
    heard->explained = grow(heard->explained, heard->num, sizeof *heard->explained);
    heard->explained[heard->num++] = (struct piece){name, size};
}

static void add_explained_addr(struct heard *heard, uint64_t addr)
{
    heard->addrs = grow(heard->addrs, heard->num_addrs, sizeof *heard->addrs);
    heard->addrs[heard->num_addrs++] = addr;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* An item_fn. VALUE is its address. */
static void note_explained(void *ctx, const char *name, const char *value)
{
    add_explained(ctx, name, string_size(name));
    add_explained_addr(ctx, strtoull(value, NULL, 0));
}

/* Notes the functions in TEXT, sfu-gen's messages: "...: NAME (0x...", "...: NAME+0xN (0x..." and "...: 0x...". */
static void note_messages(struct heard *heard, const char *text)
{
    const char *at;

    for (at = text; at != NULL && (at = strstr(at, ": 0x")) != NULL; at++)
        add_explained_addr(heard, strtoull(at + 2, NULL, 0));
    for (at = text; at != NULL && (at = strstr(at, " (0x")) != NULL; at++) {
        const char *name = at, *offset;

        while (name > text && name[-1] != ' ' && name[-1] != '\n')
            name--;
        offset = memmem(name, (size_t)(at - name), "+0x", 3);
        add_explained(heard, name, (size_t)((offset != NULL ? offset : at) - name));
    }
}

/* Notes the code of other modes in TEXT: "...: NAME (0x...): N bytes have no rows: they are" and
 * "...: 0x... (NAME+0xN): N bytes ...". */
static void note_foreign(struct heard *heard, const char *text)
{
    static const char key[] = " bytes have no rows: they are ";
    const char *key_at = text;

    while (key_at != NULL && (key_at = strstr(key_at, key)) != NULL) {
        const char *at = key_at++, *addr;
        uint64_t bytes, start;

        while (at > text && at[-1] >= '0' && at[-1] <= '9')
            at--;
        bytes = strtoull(at, NULL, 10);
        while (at > text && *at != '(' && *at != '\n')
            at--;
        addr = at + 1;
        if (strncmp(addr, "0x", 2) != 0 && at > text)
            for (addr = at - 1; addr > text && addr[-1] != ' ' && addr[-1] != '\n';)
                addr--;
        start = strtoull(addr, NULL, 0);
        heard->foreign = grow(heard->foreign, heard->num_foreign, sizeof *heard->foreign);
        heard->foreign[heard->num_foreign++] = (struct range){start, start + bytes};
    }
}

/* Whether any of the code from START to END is code of another mode. */
static bool is_foreign(const struct heard *heard, uint64_t start, uint64_t end)
{
    size_t i;

    for (i = 0; i < heard->num_foreign; i++)
        if (start < heard->foreign[i].end && end > heard->foreign[i].start)
            return true;
    return false;
}

/* An item_fn: a function in which code has no rows. Where nothing has said why, no way leads to that code. */
static void note_unreached(void *ctx, const char *name, const char *value)
{
    static const char why[] = "no way through the code was found to lead there";
    const struct heard *heard = ctx;
    const struct piece piece = {name, string_size(name)};
    const uint64_t start = strtoull(value, NULL, 0), end = start + number_of(value, "\"bytes\": ");
    const size_t to = count_up_to(heard->addrs, heard->num_addrs, sizeof *heard->addrs, 0, end - 1);

    if (heard->num > 0 && bsearch(&piece, heard->explained, heard->num, sizeof piece, by_name) != NULL)
        return;
    if (strncmp(name, "0x", 2) == 0 && end > start && to > 0 && heard->addrs[to - 1] >= start)
        return;
    if (!is_foreign(heard, start, end))
        add_reason(heard->all, name, why, sizeof why - 1);
}

/* Finds out why functions have code without rows. */
static void find_reasons(const struct said *said, uint16_t machine, struct reasons *all)
{
    struct saved saved;
    struct heard heard = {.saved = &saved, .machine = machine, .all = all};

    fill_read_saved(said->out, &saved);
    each_item(said->out, "\"without\": [", "\"pc\": \"", note_crossed, &heard);
    each_item(said->out, "\"entries\": [", "\"reason\": \"", note_reason, &heard);
    each_item(said->out, "\"findings\": [", "\"what\": \"", note_reason, &heard);
    each_item(said->out, "\"entries\": [", "\"pc\": \"", note_explained, &heard);
    each_item(said->out, "\"findings\": [", "\"pc\": \"", note_explained, &heard);
    note_messages(&heard, said->err);
    note_foreign(&heard, said->err);
    if (heard.num > 0)
        qsort(heard.explained, heard.num, sizeof *heard.explained, by_name);
    if (heard.num_addrs > 0)
        qsort(heard.addrs, heard.num_addrs, sizeof *heard.addrs, by_number);
    each_item(said->out, "\"without\": [", "\"pc\": \"", note_unreached, &heard);
    free(heard.explained);
    free(heard.addrs);
    free(heard.foreign);
    free(heard.crossed);
    free(saved.list);
}

/* Says who has the reason R. */
static void say_reason(const struct reason *r)
{
    size_t k;

    fprintf(stderr, "sfu-link: %s: some code of ", job.command.output);
    for (k = 0; k < r->num && k < REASON_NAMES; k++)
        fprintf(stderr, "%s%.*s", k > 0 ? ", " : "", (int)string_size(r->names[k]), r->names[k]);
    if (r->num > REASON_NAMES)
        fprintf(stderr, " and %u more", r->num - REASON_NAMES);
    fprintf(stderr, " has no rows: %.*s\n", (int)r->size, r->why);
}

/* Says why functions have code without rows, a line for each reason: the first ones, and with -v all. */
static void say_reasons(const struct said *said, uint16_t machine)
{
    enum { MAX_REASONS = 4 };
    struct reasons all = {NULL, 0};
    size_t i;

    find_reasons(said, machine, &all);
    for (i = 0; i < all.num && (i < MAX_REASONS || options.verbose); i++)
        say_reason(&all.list[i]);
    if (i < all.num)
        fprintf(stderr, "sfu-link: %s: %zu more reasons (-v lists them)\n", job.command.output, all.num - i);
    free(all.list);
}

static void say_summary(struct image *image, const struct said *said, const struct needs *needs)
{
    const char *json = said->out;
    const uint64_t code = number_of(json, "\"code_bytes\": "), described = number_of(json, "\"described_bytes\": ");
    char a[32], b[32], c[32];

    if (options.quiet)
        return;
    fprintf(stderr, "sfu-link: %s: %.2f%% of %s bytes of code have rows: %s bytes of tables", job.command.output,
            percent(described, code), with_commas(code, a), with_commas(number_of(json, "\"bytes\": "), b));
    if (needs->asked && needs->names.size > 0)
        fprintf(stderr, ", %s of names", with_commas(needs->names.size, c));
    fprintf(stderr, ", %u link%s", job.links, job.links == 1 ? "" : "s");
    say_without(json);
    fputc('\n', stderr);
    if (image_section(image, ".symtab") == NULL)
        fprintf(
            stderr,
            "sfu-link: %s: the linker has left out the symbols (-s), which names and most rows come from: leave -s "
            "out, and strip the image behind that\n",
            job.command.output);
    say_reasons(said, image->header.e_machine);
}

/* The tables that sfu-gen has written into their file. */
static uint8_t *read_tables(size_t *size)
{
    FILE *f = fopen(job.tables, "rb");
    uint8_t *bytes = NULL;
    long end;

    *size = 0;
    if (f != NULL && fseek(f, 0, SEEK_END) == 0 && (end = ftell(f)) > 0 && fseek(f, 0, SEEK_SET) == 0) {
        bytes = zeroed((size_t)end, 1);
        *size = fread(bytes, 1, (size_t)end, f);
    }
    if (f != NULL)
        (void)fclose(f);
    return bytes;
}

/* Fills the section in. */
static void fill(const struct image *image, const struct needs *needs, const uint8_t *tables, size_t tables_size)
{
    const char *called = base_name(job.command.output);
    uint8_t *facts = zeroed(job.room.facts, 1);
    const uint64_t at = needs->place.offset;
    bool good;
    int fd = open(job.image, O_WRONLY | O_CLOEXEC);

    fill_facts(facts, image, &needs->place, &job.room, &needs->memory, &needs->saved, &needs->names, called);
    good = fd >= 0 && overwrite_file(fd, facts, job.room.facts, at) &&
           overwrite_file(fd, needs->names.bytes, needs->names.size, at + (job.room.facts + 7) / 8 * 8) &&
           overwrite_file(fd, tables, tables_size, at + object_tables(&job.room));
    if (fd >= 0)
        good = close(fd) == 0 && good;
    if (!good)
        FAIL("cannot write %s: %s", job.command.output, strerror(errno));
    free(facts);
}

/* ---- The links ------------------------------------------------------------------------------------------------- */

/* Whether the room is large enough; makes it so. SPARE: four parts of memory more, which the room itself may make when
 * it moves what lies behind it: where data ends up on a page of code, the code's sections can be written, too. */
enum { SPARE = 64 };
static bool make_room(const struct needs *needs, uint64_t tables)
{
    struct room *room = &job.room, before = *room;
    const char *called = base_name(job.command.output);
    const size_t facts = needs->asked ? fill_facts_size(&needs->memory, &needs->saved, called) : 0;
    const uint64_t script = job.script_room;

    if (facts > room->facts)
        room->facts = facts + SPARE;
    if (needs->names.size > room->names)
        room->names = needs->names.size;
    if (job.own_tables && tables > room->tables)
        room->tables = (size_t)tables;
    if (!job.own_tables && job.command.has_room && tables > job.script_room)
        job.script_room = tables;
    return before.facts == room->facts && before.names == room->names && before.tables == room->tables &&
           script == job.script_room;
}

/* Gives the image its name. */
static void finish(void)
{
    remove_scratch();
    if (rename(job.image, job.made) != 0)
        FAIL("cannot write %s: %s", job.command.output, strerror(errno));
}

/* Tables of the link before, and what sfu-gen has said of them. */
static struct {
    struct linked linked;
    struct said said;
    uint8_t *tables;
    size_t size;
    uint64_t addr;
} last;

static void forget_last(void)
{
    if (last.linked.image == NULL)
        return;
    image_close(last.linked.image);
    free(last.linked.image);
    free(last.tables);
    said_free(&last.said);
    memset(&last, 0, sizeof last);
}

/* Whether an option of sfu-gen, or a file that it names, may say where code is: then the code is read where it is. */
static bool names_addresses(void)
{
    size_t i;

    for (i = 1; i < options.gen.num; i++) {
        const char *word = options.gen.list[i];

        if (strstr(word, "0x") != NULL || strchr(word, '@') != NULL || strncmp(word, "--al", 4) == 0 ||
            strncmp(word, "--m", 3) == 0)
            return true;
    }
    return false;
}

/* Takes the tables of the link before for those of NOW at ADDR, if nothing but the room is another one. */
static bool take_last(const struct linked *now, uint64_t addr)
{
    uint64_t code;

    if (last.linked.image == NULL || !moved_only(&last.linked, now, &code) || (code != 0 && names_addresses()) ||
        !moved_tables(last.tables, last.size, now->image->big, last.addr, addr, code))
        return false;
    last.addr = addr;
    if (code == 0)
        return true;
    last.said.out = moved_text(last.said.out, last.linked.image, now->image);
    last.said.err = moved_text(last.said.err, last.linked.image, now->image);
    return true;
}

/* Makes tables for ADDR. They are then the last ones. */
static void make_last(uint64_t addr)
{
    char address[64], *output = beside("-o", job.tables);
    const char *const more[] = {"--json", address, output};

    forget_last();
    (void)snprintf(address, sizeof address, "--address=0x%" PRIx64, addr);
    run_gen(more, 3, &last.said);
    last.tables = read_tables(&last.size);
    last.addr = addr;
    free(output);
}

/* Makes the tables of IMAGE, and fills the object's section in. Returns false if it is too small: it has then become
 * larger, and IMAGE stays. */
static bool make_own(struct image *image, struct needs *needs)
{
    const struct linked now = {image, needs->place.addr, object_size(&job.room), object_tables(&job.room)};
    const uint64_t addr = needs->place.addr + object_tables(&job.room);

    if (!take_last(&now, addr))
        make_last(addr);
    fill_read_saved(last.said.out, &needs->saved);
    needs->place.tables = addr;
    needs->place.tables_size = last.size;
    if (!make_room(needs, last.size)) {
        if (last.linked.image != NULL)
            image_close(last.linked.image);
        free(last.linked.image);
        last.linked = now;
        return false;
    }
    print_said(&last.said);
    fill(image, needs, last.tables, last.size);
    say_summary(image, &last.said, needs);
    return true;
}

/* The same where the linker script has a place for the tables. */
static bool make_in_script(struct image *image, struct needs *needs)
{
    static const char *const more[] = {"--json"};
    const struct section *section = image_tables(image);
    struct said json;

    const uint64_t size = needs->asked || job.command.has_room ? gen_size(&needs->saved) : 0;

    if (!make_room(needs, size))
        return false;
    if (section != NULL) {
        needs->place.tables = section->addr;
        needs->place.tables_size = section->size;
    }
    if (needs->asked)
        fill(image, needs, NULL, 0);
    run_gen(more, 1, &json);
    print_said(&json);
    say_summary(image, &json, needs);
    said_free(&json);
    return true;
}

/* Makes the tables of the last link's image. Returns false if it must be linked again, with more room. */
static bool make_tables(struct image *image)
{
    struct needs needs;
    bool done;

    read_needs(image, &needs);
    if (job.links == 1)
        job.own_tables = !has_place(image, &needs);
    /* of the first link the object may be there for sframe_start alone, which the script has, too */
    job.defaults = needs.asked && (job.own_tables || job.command.has_room || job.links > 1);
    if (job.own_tables)
        done = !needs.asked || make_own(image, &needs);
    else
        done = make_in_script(image, &needs);
    free_needs(&needs);
    return done;
}

static void link_image(void)
{
    enum { MAX_LINKS = 8 };
    struct said said;
    bool done = false;

    link_anywhere(&said);
    while (!done) {
        struct image *image = zeroed(1, sizeof *image);

        done = !open_image(image) || make_tables(image);
        if (last.linked.image != image) {
            image_close(image);
            free(image);
        }
        if (!done && job.links == MAX_LINKS)
            FAIL("%s: each link needs more room than the last one said", job.command.output);
        if (!done)
            link_again(&said);
    }
    forget_last();
    said_print(&said);
    finish();
}

int main(int argc, char **argv)
{
    /* The command may be a script that has sfu-link in it: only one of both links twice. */
    static const char inside[] = "SFU_LINK_INSIDE";
    int first;

    words_add(&options.gen, find_gen(argv[0]));
    first = parse_options(argc, argv);
    if (first == argc)
        usage("no command to link by");
    if (getenv(inside) != NULL && first > 1)
        usage("%s: this command is part of another sfu-link's: give that one the options", argv[1]);
    command_read(&job.command, argv + first, (size_t)(argc - first));
    /* A linker may also write to a device, which nobody may move away. */
    if (!job.command.links || !may_be_file(job.command.output) || getenv(inside) != NULL) {
        execvp(job.command.words.list[0], job.command.words.list);
        report_fail("%s: %s", job.command.words.list[0], strerror(errno));
    }
    job.archive = beside(job.command.output, ".sfu-link.a");
    job.tables = beside(job.command.output, ".sfu-tables");
    job.image = beside(job.command.output, ".sfu-link");
    job.own_tables = !job.command.has_room;
    job.has_target = command_target(&job.command, job.archive, &job.target);
    job.room.facts = OBJECT_MARK_SIZE;
    (void)setenv(inside, "1", 1);
    link_image();
    return 0;
}
