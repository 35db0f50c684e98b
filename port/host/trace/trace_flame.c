/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu-trace's trees of calls, as folded lines and as a picture. No tree is deeper than trace_fold.c makes it. */
#include "trace_fold.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Sums ------------------------------------------------------------------------------------------------------ */

static int by_node_name(const void *a, const void *b)
{
    const struct flame_node *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);

    return order != 0 ? order : ((*x)->kind > (*y)->kind) - ((*x)->kind < (*y)->kind);
}

static int64_t positive(int64_t weight)
{
    return weight > 0 ? weight : 0;
}

/* Of two that are not negative. A sum that would be too large stays at the largest number. */
static int64_t plus(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void sum_node(struct flame_node *node)
{
    size_t i;

    node->total[0] = positive(node->own[0]);
    node->total[1] = positive(node->own[1]);
    node->width = node->total[0] > node->total[1] ? node->total[0] : node->total[1];
    for (i = 0; i < node->num; i++) {
        sum_node(node->children[i]);
        node->total[0] = plus(node->total[0], node->children[i]->total[0]);
        node->total[1] = plus(node->total[1], node->children[i]->total[1]);
        node->width = plus(node->width, node->children[i]->width);
    }
    if (node->num > 0)
        qsort(node->children, node->num, sizeof *node->children, by_node_name);
}

void flame_sum(struct flame *flame)
{
    sum_node(flame->root);
}

/* ---- Folded ---------------------------------------------------------------------------------------------------- */

/* What stands in front of a node's own name. */
struct path {
    const struct path *before;
    const struct flame_node *node;
};

/* NOLINTNEXTLINE(misc-no-recursion) */
static void print_path(const struct path *path, FILE *out)
{
    if (path->before != NULL) {
        print_path(path->before, out);
        fputc(';', out);
    }
    fputs(printable(path->node->name), out);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void fold(const struct flame *flame, const struct flame_node *node, const struct path *before, FILE *out)
{
    struct path path = {before, node};
    const bool is_root = node == flame->root;
    int64_t now = positive(node->own[0]), then = positive(node->own[1]);
    size_t i;

    if (!is_root && (now > 0 || then > 0)) {
        print_path(&path, out);
        if (flame->minus)
            fprintf(out, " %" PRId64, then);
        fprintf(out, " %" PRId64 "\n", now);
    }
    for (i = 0; i < node->num; i++)
        fold(flame, node->children[i], is_root ? NULL : &path, out);
}

void flame_folded(const struct flame *flame, FILE *out)
{
    fold(flame, flame->root, NULL, out);
}

/* ---- Picture --------------------------------------------------------------------------------------------------- */

enum { WIDTH = 1200, MARGIN = 10, ROW = 17, TOP = 46, BOTTOM = 10, CHARACTER = 7 };

struct drawing {
    const struct flame *flame;
    FILE *out;
    double scale;    /* pixels for a weight of 1 */
    unsigned levels; /* rows */
    int64_t most;    /* the largest difference */
};

/* NOLINTNEXTLINE(misc-no-recursion) */
static unsigned levels_of(const struct drawing *d, const struct flame_node *node)
{
    unsigned most = 0, here;
    size_t i;

    if ((double)node->width * d->scale < d->flame->least)
        return 0;
    for (i = 0; i < node->num; i++) {
        here = levels_of(d, node->children[i]);
        most = here > most ? here : most;
    }
    return most + 1;
}

static int64_t difference(const struct flame_node *node)
{
    return node->total[0] - node->total[1];
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static int64_t most_of(const struct flame_node *node)
{
    int64_t most = difference(node) < 0 ? -difference(node) : difference(node), here;
    size_t i;

    for (i = 0; i < node->num; i++) {
        here = most_of(node->children[i]);
        most = here > most ? here : most;
    }
    return most;
}

/* Text of an SVG. What is not printable ASCII is shown as "?": names come from files. */
static void put_text(FILE *out, const char *text, size_t most)
{
    size_t i;

    for (i = 0; i < most && text[i] != '\0'; i++) {
        switch (text[i]) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(text[i] >= ' ' && text[i] <= '~' ? text[i] : '?', out);
        }
    }
}

static unsigned name_hash(const char *name)
{
    unsigned hash = 5381;

    for (; *name != '\0'; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash ^ hash >> 16;
}

/* Each image has a colour, functions shades of it. Boundaries and what is not known are grey. */
static void choose_colour(const struct flame_node *node, unsigned rgb[3])
{
    static const unsigned char images[][3] = {{236, 140, 72}, {104, 168, 220}, {120, 190, 110},
                                              {214, 196, 86}, {190, 140, 206}, {110, 200, 190}};
    const unsigned char *base = images[node->image % (sizeof images / sizeof images[0])];
    unsigned shade = name_hash(node->name) % 40, i;

    for (i = 0; i < 3; i++) {
        rgb[i] = base[i] + shade > 255 ? 255 : base[i] + shade;
        if (node->kind == FLAME_INLINED)
            rgb[i] = (rgb[i] + 255) / 2;
        if (node->kind == FLAME_ROOT || node->kind == FLAME_UNKNOWN)
            rgb[i] = 205;
        if (node->kind == FLAME_BOUNDARY)
            rgb[i] = 150;
    }
}

/* Red: more than before. Blue: less. White: the same. */
static void choose_difference(const struct drawing *d, const struct flame_node *node, unsigned rgb[3])
{
    double part = d->most > 0 ? (double)difference(node) / (double)d->most : 0;
    double size = part < 0 ? -part : part;
    unsigned faded = 250 - (unsigned)(170 * size);

    rgb[0] = part < 0 ? faded : 250;
    rgb[1] = faded;
    rgb[2] = part > 0 ? faded : 250;
}

static void put_title(const struct drawing *d, const struct flame_node *node)
{
    const struct flame *f = d->flame;
    double all = (double)f->root->total[0];

    put_text(d->out, node->name, SIZE_MAX);
    fprintf(d->out, ": %" PRId64 " %s, %.2f%%", node->total[0], f->unit,
            all > 0 ? 100 * (double)node->total[0] / all : 0);
    if (f->rate > 0 && strcmp(f->unit, "samples") == 0)
        fprintf(d->out, ", %.3f s", (double)node->total[0] / (double)f->rate);
    if (f->minus)
        fprintf(d->out, "; %" PRId64 " before: %+" PRId64, node->total[1], difference(node));
}

/* The box of NODE at LEFT in row LEVEL from below. */
static void put_box(const struct drawing *d, const struct flame_node *node, double left, unsigned level)
{
    double width = (double)node->width * d->scale;
    unsigned y = TOP + (d->levels - 1 - level) * ROW, rgb[3];
    size_t room = width > 2 * CHARACTER ? (size_t)((width - 4) / CHARACTER) : 0, size = strlen(node->name);

    if (d->flame->minus)
        choose_difference(d, node, rgb);
    else
        choose_colour(node, rgb);
    fputs("<g><title>", d->out);
    put_title(d, node);
    fprintf(d->out, "</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"#%02x%02x%02x\"/>", left,
            y, width, ROW - 1, rgb[0], rgb[1], rgb[2]);
    if (room >= 3 || (room > 0 && size <= room)) {
        fprintf(d->out, "<text x=\"%.2f\" y=\"%u\">", left + 3, y + 12);
        put_text(d->out, node->name, size <= room ? size : room - 2);
        fprintf(d->out, "%s</text>", size <= room ? "" : "..");
    }
    fputs("</g>\n", d->out);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void put_boxes(const struct drawing *d, const struct flame_node *node, double left, unsigned level)
{
    size_t i;

    if ((double)node->width * d->scale < d->flame->least)
        return;
    put_box(d, node, left, level);
    for (i = 0; i < node->num; i++) {
        put_boxes(d, node->children[i], left, level + 1);
        left += (double)node->children[i]->width * d->scale;
    }
}

/* What the picture is of, in two lines. */
static void put_caption(const struct drawing *d)
{
    const struct flame *f = d->flame;

    fprintf(d->out, "<text x=\"%d\" y=\"18\" font-size=\"13\">%" PRId64 " ", MARGIN, f->root->total[0]);
    put_text(d->out, f->unit, sizeof f->unit);
    if (f->rate > 0)
        fprintf(d->out, ", %" PRIu64 " in a second", f->rate);
    if (f->minus)
        fprintf(d->out, "; before: %" PRId64 ". Red: more, blue: less", f->root->total[1]);
    fputs("</text>\n", d->out);
    fprintf(d->out, "<text x=\"%d\" y=\"36\" fill=\"#666666\">idle: %" PRId64 ", lost: %" PRId64 "</text>\n",
            MARGIN, f->idle, f->lost);
}

void flame_draw(const struct flame *flame, FILE *out)
{
    struct drawing d = {flame, out, 0, 0, 0};
    unsigned height;

    d.scale = flame->root->width > 0 ? (WIDTH - 2 * MARGIN) / (double)flame->root->width : 0;
    d.levels = levels_of(&d, flame->root);
    d.most = most_of(flame->root);
    height = TOP + d.levels * ROW + BOTTOM;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" width=\"%d\" height=\"%u\" "
            "font-family=\"monospace\" font-size=\"11\">\n",
            WIDTH, height, WIDTH, height);
    fprintf(out, "<rect width=\"%d\" height=\"%u\" fill=\"#ffffff\"/>\n", WIDTH, height);
    put_caption(&d);
    put_boxes(&d, flame->root, MARGIN, 0);
    fputs("</svg>\n", out);
}
