/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "trace_fold.h"
#include "log/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_LEVELS = 1000, /* of a tree, because it is walked by recursion. What lies deeper becomes one box */
    MAX_INLINED = 200, /* functions at one address, as images/symbols.c gives them */
    BUCKETS = 1 << 14
};

/* What there is at an address: functions, the outermost first. */
struct place {
    struct place *next; /* of its bucket */
    const struct trace_image *image;
    uint64_t addr; /* of the file; without an image, at run time */
    char **names;
    size_t num;
    bool named;      /* by debug information or symbols */
    bool trap_frame; /* the function is one, say its tables: what called it was interrupted */
};

struct folder {
    struct trace_options *options;
    const struct fold_options *fold;
    struct flame flame;
    struct place *places[BUCKETS];
    struct depot_dump dump;
    struct trace_image *main; /* of the dump; NULL: a build ID of no image */
    int side;                 /* 0: the log's weights, 1: those that are subtracted */
    size_t bad, cut, missing, deep;
    uint64_t negative;
};

/* ---- Places ---------------------------------------------------------------------------------------------------- */

/* Separators of folded lines, and what is no character, have no place in a name. */
static void clean(char *name)
{
    for (; *name != '\0'; name++)
        if (*name == ';' || (unsigned char)*name < ' ' || *name == 0x7f)
            *name = *name == ';' ? ':' : '?';
}

static char *copy_name(const char *name)
{
    char *copy = copied(name);

    clean(copy);
    return copy;
}

struct finding {
    struct place *place;
    const char *symbol; /* or NULL */
    bool files;
};

/* Gets the innermost function first. */
static void add_name(void *ctx, const char *function, const char *file, int line, bool inlined)
{
    const struct finding *f = ctx;
    const char *name = function != NULL ? function : f->symbol != NULL ? f->symbol : "??";
    char text[1024];

    (void)inlined;
    if (f->place->num == MAX_INLINED)
        return;
    if (f->files && file != NULL)
        snprintf(text, sizeof text, "%.700s (%.200s:%d)", name, text_base_name(file), line);
    else
        snprintf(text, sizeof text, "%.1000s", name);
    f->place->names = grow(f->place->names, f->place->num, sizeof *f->place->names);
    f->place->names[f->place->num++] = copy_name(text);
}

static void reverse(char **names, size_t num)
{
    size_t i;

    for (i = 0; i < num / 2; i++) {
        char *name = names[i];

        names[i] = names[num - 1 - i];
        names[num - 1 - i] = name;
    }
}

/* Whether the function at ADDR is a trap frame, by the image's own tables or those made of CFI. */
static bool is_trap_frame(struct trace_image *image, uint64_t addr)
{
    struct sfu_row row;

    if (image_open_own(image) && sfu_find(&image->own.section, addr + image->slide, &row) == SFU_OK)
        return row.trap_frame;
    if (image_open_cfi(image) && sfu_find(&image->cfi.section, addr + image->slide, &row) == SFU_OK)
        return row.trap_frame;
    return image_open_debug_cfi(image) &&
           sfu_find(&image->debug_cfi.section, addr + image->slide, &row) == SFU_OK && row.trap_frame;
}

static void fill_place(const struct folder *f, struct place *p, struct trace_image *image)
{
    struct finding finding = {p, NULL, f->fold->files};
    struct function_name symbol;
    char text[32];

    (void)images_name(&f->options->images, image, p->addr, &symbol);
    finding.symbol = symbol.name;
    if (image != NULL) {
        p->trap_frame = is_trap_frame(image, p->addr);
        (void)symbols_find(image, p->addr, add_name, &finding);
    }
    if (p->num == 0 && symbol.name != NULL)
        add_name(&finding, symbol.name, NULL, 0, false);
    p->named = p->num > 0;
    if (p->num == 0) {
        snprintf(text, sizeof text, "0x%" PRIx64, p->addr);
        add_name(&finding, text, NULL, 0, false);
    }
    reverse(p->names, p->num);
}

/* What there is at LOOKUP, a run-time address. */
static const struct place *find_place(struct folder *f, uint64_t lookup)
{
    struct trace_image *image = images_at(&f->options->images, lookup);
    uint64_t addr = image != NULL ? lookup - image->slide : lookup;
    struct place **bucket = &f->places[(addr ^ addr >> 14) % BUCKETS], *p;

    for (p = *bucket; p != NULL; p = p->next)
        if (p->image == image && p->addr == addr)
            return p;
    p = zeroed(1, sizeof *p);
    p->next = *bucket;
    p->image = image;
    p->addr = addr;
    fill_place(f, p, image);
    *bucket = p;
    return p;
}

static void free_places(struct folder *f)
{
    size_t i, k;

    for (i = 0; i < BUCKETS; i++)
        while (f->places[i] != NULL) {
            struct place *p = f->places[i];

            f->places[i] = p->next;
            for (k = 0; k < p->num; k++)
                free(p->names[k]);
            free(p->names);
            free(p);
        }
}

/* ---- Tree ------------------------------------------------------------------------------------------------------ */

static struct flame_node *new_node(const char *name, enum flame_kind kind, unsigned image)
{
    struct flame_node *node = zeroed(1, sizeof *node);

    node->name = copy_name(name);
    node->kind = kind;
    node->image = image;
    return node;
}

/* The child of NODE with that NAME, which is made if there is none. */
static struct flame_node *child(struct flame_node *node, const char *name, enum flame_kind kind, unsigned image)
{
    size_t i;

    for (i = 0; i < node->num; i++)
        if (node->children[i]->kind == kind && strcmp(node->children[i]->name, name) == 0)
            return node->children[i];
    node->children = grow(node->children, node->num, sizeof *node->children);
    node->children[node->num] = new_node(name, kind, image);
    return node->children[node->num++];
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void free_node(struct flame_node *node)
{
    size_t i;

    for (i = 0; i < node->num; i++)
        free_node(node->children[i]);
    free(node->children);
    free(node->name);
    free(node);
}

static unsigned image_number(const struct folder *f, const struct trace_image *image)
{
    unsigned i;

    for (i = 0; i < f->options->images.num; i++)
        if (f->options->images.list[i] == image)
            return i;
    return 0;
}

/* Where a trace has got to in the tree. */
struct branch {
    struct flame_node *node;
    unsigned level;
};

static void descend_stack(struct folder *f, struct branch *b, const char *name, enum flame_kind kind,
                          unsigned image)
{
    if (b->level == MAX_LEVELS) {
        f->deep++;
        return;
    }
    if (b->level == MAX_LEVELS - 1)
        b->node = child(b->node, "[deeper]", FLAME_UNKNOWN, 0);
    else
        b->node = child(b->node, name, kind, image);
    b->level++;
}

static void descend_place(struct folder *f, struct branch *b, const struct place *place)
{
    unsigned image = image_number(f, place->image);
    size_t i;

    for (i = 0; i < place->num; i++)
        descend_stack(f, b, place->names[i],
                      !place->named ? FLAME_UNKNOWN
                      : i == 0      ? FLAME_FUNCTION
                                    : FLAME_INLINED,
                      image);
}

static int64_t sum_of(int64_t a, int64_t b)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        return b > 0 ? INT64_MAX : INT64_MIN;
    return a + b;
}

/* Puts a trace of COUNT PCs into the tree. The PC of a frame is exact if it was interrupted: the first one, if the dump
 * says so, and each that called a trap frame. The base as the last PC says that there would be more. */
static void add_trace(struct folder *f, const struct depot_trace *trace)
{
    const uint64_t *pcs = f->dump.pcs + trace->first;
    const struct place *places[DEPOT_PCS];
    bool interrupted[DEPOT_PCS];
    struct branch b = {f->flame.root, 0};
    bool complete = trace->count == 0 || pcs[trace->count - 1] != f->dump.base;
    size_t count = trace->count - !complete, i;

    for (i = 0; i < count; i++) {
        interrupted[i] = i > 0 && places[i - 1]->trap_frame;
        places[i] = find_place(f, interrupted[i] || (i == 0 && f->dump.exact) ? pcs[i] : pcs[i] - (pcs[i] > 0));
    }
    if (f->dump.name[0] != '\0')
        descend_stack(f, &b, f->dump.name, FLAME_ROOT, 0);
    if (!complete)
        descend_stack(f, &b, "[incomplete]", FLAME_UNKNOWN, 0);
    for (i = count; i > 0; i--) {
        descend_place(f, &b, places[i - 1]);
        if (interrupted[i - 1])
            descend_stack(f, &b, "[interrupted]", FLAME_BOUNDARY, 0);
    }
    if (trace->count == 0)
        descend_stack(f, &b, "[no trace]", FLAME_UNKNOWN, 0);
    b.node->own[f->side] = sum_of(b.node->own[f->side], trace->weight);
}

/* ---- Dumps ----------------------------------------------------------------------------------------------------- */

/* The image that the dump is of, by its build ID: the program. Without it, nothing but addresses would be true. */
static struct trace_image *choose_dump_image(struct folder *f)
{
    const struct trace_images *images = &f->options->images;
    struct trace_image *image = images_by_id(images, f->dump.id, f->dump.id_size);
    size_t i;

    if (images->num == 0)
        return NULL;
    if (f->dump.id_size == 0 || (image == NULL && images->list[0]->build_id_size == 0))
        return images->list[0];
    if (image == NULL) {
        char text[2 * LOG_BUILD_ID + 1] = "";

        for (i = 0; i < f->dump.id_size; i++)
            snprintf(text + 2 * i, 3, "%02x", f->dump.id[i]);
        report_warn("WRONG IMAGE: build ID %s is that of no image", text);
        f->options->images.wrong = true;
    }
    return image;
}

/* Places the images as the dump says. */
static void place_dump_images(struct folder *f)
{
    unsigned i;
    uint64_t addr;

    if (f->main != NULL)
        f->main->placed = false;
    f->main = choose_dump_image(f);
    f->options->images.slide = f->dump.has_slide ? f->dump.slide : f->options->slide;
    if (f->main != NULL)
        image_place(f->main, f->options->images.slide);
    for (i = 0; i < f->dump.num_places; i++) {
        const struct log_place *p = &f->dump.places[i];
        struct trace_image *image = p->image[0] == '\0' ? f->main : images_by_name(&f->options->images, p->image);

        if (image != NULL && images_find(&f->options->images, image, p->name, &addr))
            image_place(image, p->addr - addr);
        else if (image != NULL)
            report_warn("%s has no symbol and no section %s", image->name, p->name);
    }
}

static void add_dump(struct folder *f)
{
    struct depot_dump *d = &f->dump;
    size_t i;

    if (f->fold->unit != NULL && strcmp(f->fold->unit, d->unit) != 0)
        return;
    f->bad += d->bad;
    f->cut += d->cut;
    f->missing += d->missing;
    if (f->flame.dumps++ == 0) {
        snprintf(f->flame.unit, sizeof f->flame.unit, "%s", d->unit);
        f->flame.rate = d->rate;
    }
    if (strcmp(f->flame.unit, d->unit) != 0) {
        report_warn("a dump of %s is left out: the first one is of %s", d->unit, f->flame.unit);
        return;
    }
    if (f->side == 0) {
        f->flame.idle = sum_of(f->flame.idle, d->idle);
        f->flame.lost = sum_of(f->flame.lost, d->lost);
    }
    place_dump_images(f);
    for (i = 0; i < d->num_traces; i++) {
        f->negative += d->traces[i].weight < 0;
        add_trace(f, &d->traces[i]);
    }
}

/* ---- Logs ------------------------------------------------------------------------------------------------------ */

static void fold_line(struct folder *f, const char *line, size_t size)
{
    if (f->dump.open && depot_begins(line, size)) {
        depot_cut(&f->dump);
        report_warn("a depot's dump has no end");
        add_dump(f);
    }
    if (depot_line(&f->dump, line, size) == DEPOT_DONE)
        add_dump(f);
}

static void read_log(struct folder *f, FILE *log, const char *name)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size;

    while ((size = getline(&line, &room, log)) >= 0)
        fold_line(f, line, text_clean(line, (size_t)size));
    if (ferror(log))
        report_fail("%s: %s", name, strerror(errno));
    free(line);
    if (f->dump.open) {
        depot_cut(&f->dump);
        report_warn("%s: the last depot's dump has no end", name);
        add_dump(f);
    }
    depot_clear(&f->dump);
}

static void read_logs(struct folder *f, const char **files, size_t num, int side)
{
    size_t i;

    f->side = side;
    for (i = 0; i < num; i++) {
        FILE *log = fopen(files[i], "r");

        if (log == NULL)
            report_fail("%s: %s", files[i], strerror(errno));
        read_log(f, log, files[i]);
        fclose(log);
    }
}

static void report_losses(const struct folder *f)
{
    if (f->bad > 0)
        report_warn("%zu lines of depots make no sense, and are left out", f->bad);
    if (f->cut > 0)
        report_warn("%zu traces are left out, because lines of them are missing in the log", f->cut);
    if (f->missing > 0)
        report_warn("%zu traces are missing in the log", f->missing);
    if (f->deep > 0)
        report_note("what lies deeper than %d functions is one box, [deeper]", MAX_LEVELS);
    if (f->negative > 0)
        report_note("%" PRIu64 " traces have a negative weight", f->negative);
    if (f->flame.lost != 0)
        report_note("%" PRId64 " %s were lost", f->flame.lost, f->flame.unit);
}

static void draw_flame(const struct folder *f)
{
    struct written_file file;
    bool good = written_open(&file, f->fold->flame);

    if (good) {
        flame_draw(&f->flame, file.stream);
        good = written_close(&file, true, 0666);
    }
    if (!good)
        report_fail("%s: %s", f->fold->flame, strerror(errno));
}

void trace_fold(struct trace_options *options, const struct fold_options *fold)
{
    struct folder *f = zeroed(1, sizeof *f);

    f->options = options;
    f->fold = fold;
    f->flame.root = new_node("all", FLAME_ROOT, 0);
    f->flame.minus = fold->num_minus > 0;
    f->flame.least = fold->least;
    if (fold->num_logs == 0)
        read_log(f, stdin, "the standard input");
    read_logs(f, fold->logs, fold->num_logs, 0);
    read_logs(f, fold->minus, fold->num_minus, 1);
    if (f->flame.dumps == 0)
        report_fail("there is no depot in the log: no line begins with \"sfut1 \" (port/depot)");
    report_losses(f);
    flame_sum(&f->flame);
    if (fold->folded)
        flame_folded(&f->flame, stdout);
    if (fold->flame != NULL)
        draw_flame(f);
    free_places(f);
    free_node(f->flame.root);
    free(f);
}
