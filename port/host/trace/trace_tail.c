/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Functions that are not on the stack, because they have left by a tail call: the call before a return address names
 * the function that it leads to, and the frame below is another one's. What lies between is certain where debug
 * information has all tail calls of these functions, and one path alone leads there.
 */
#include "trace.h"

#include <string.h>

enum { MOST_CALLS = 16 /* of a function */, MOST_PATH = 16 /* functions */, MOST_STEPS = 64 };

struct path {
    struct trace_image *image;
    uint64_t to;
    uint64_t list[MOST_PATH], found[MOST_PATH];
    unsigned num_found, ways, steps;
    bool all; /* no function on the way may have left by another tail call */
};

/* The function of IMAGE at ADDR whose start and end its symbol says, or NULL. */
static const struct symbol *function_at(const struct trace_image *image, uint64_t addr)
{
    const struct symbol *symbol = image_is_object(image) ? NULL : image_symbol(&image->image, addr);

    return symbol != NULL && symbol->function && symbol->size > 0 ? symbol : NULL;
}

/* Follows the tail calls of the function at the end of the path, which has DEPTH functions, up to the one at p->to. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void follow_path(struct path *p, unsigned depth)
{
    uint64_t targets[MOST_CALLS];
    unsigned num, i, k;
    bool all;

    if (p->steps++ > MOST_STEPS) {
        p->all = false;
        return;
    }
    num = symbols_tail_calls(p->image, p->list[depth - 1], targets, MOST_CALLS, &all);
    p->all = p->all && all;
    for (i = 0; i < num; i++) {
        for (k = 0; k < depth && p->list[k] != targets[i]; k++)
            continue;
        if (targets[i] == p->to) {
            p->ways++;
            p->num_found = depth;
            memcpy(p->found, p->list, depth * sizeof p->list[0]);
        } else if (k == depth && depth < MOST_PATH) {
            p->list[depth] = targets[i];
            follow_path(p, depth + 1);
        } else {
            p->all = false; /* in a circle, or too far */
        }
    }
}

/* Whether B is a part of A that the compiler has put elsewhere. */
static bool is_part(const struct symbol *a, const struct symbol *b)
{
    const size_t size = strlen(a->name);

    return strncmp(b->name, a->name, size) == 0 && strncmp(b->name + size, ".cold", 5) == 0;
}

void out_tail_calls(const struct trace_out *out, struct trace_image *image, uint64_t ra, uint64_t pc)
{
    const struct symbol *entered = function_at(image, pc), *called;
    struct path path = {.image = image, .all = true};
    struct trace_call call;
    char text[1024] = "";
    size_t used = 0;
    unsigned i;

    if (entered == NULL || !call_before(image, ra, &call) || !call.direct)
        return;
    called = function_at(image, call.target);
    if (called == NULL || called->addr != call.target || called->addr == entered->addr || is_part(called, entered))
        return;
    path.to = entered->addr;
    path.list[0] = called->addr;
    follow_path(&path, 1);
    if (!path.all || path.ways != 1) {
        out_line(out, "    [tail call: %.200s, ...]", called->name);
        return;
    }
    for (i = 0; i < path.num_found && used < sizeof text - 1; i++) {
        const struct symbol *symbol = function_at(image, path.found[i]);

        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.200s", i > 0 ? ", " : "",
                                 symbol != NULL ? symbol->name : "??");
    }
    out_line(out, "    [tail call: %s]", text);
}
