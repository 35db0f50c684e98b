/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Functions that are not on the stack, because they have left by a tail call: the call before a return address names
 * the function that it leads to, and the frame below is another one's. What lies between is certain where debug
 * information has all tail calls of these functions, and one path alone leads there; or where the code of each has no
 * other way out than jumps to the next. Where the function that was called has no tail call at all, nobody has left:
 * the return address is an old one, or the function has changed it.
 */
#include "code/code.h"
#include "common/calls.h"
#include "trace.h"

#include <string.h>

enum {
    MOST_CALLS = 16, /* of a function */
    MOST_PATH = 16,  /* functions */
    MOST_STEPS = 64,
    MOST_LABELS = 32, /* in a function, before an address */
    MOST_CODE = 4096  /* bytes of a function whose code is read */
};

struct path {
    struct trace_image *image;
    uint64_t to;
    uint64_t list[MOST_PATH], found[MOST_PATH];
    unsigned num_found, ways, steps;
    bool all;   /* no function on the way may have left by another tail call */
    bool stays; /* the first function has no tail call */
};

/* The function of IMAGE at ADDR whose start and end its symbol says, or NULL. Labels of assembly may lie in it. */
static const struct symbol *function_at(const struct trace_image *image, uint64_t addr)
{
    const struct symbol *symbol = image_is_object(image) ? NULL : image_symbol(&image->image, addr);
    unsigned labels = 0;

    for (; symbol != NULL && !(symbol->function && symbol->size > 0); labels++)
        symbol = labels < MOST_LABELS && symbol > image->image.symbols ? symbol - 1 : NULL;
    return symbol != NULL && addr - symbol->addr < symbol->size ? symbol : NULL;
}

enum { COME = 1, DONE };

/* A function while its ways out are looked for. */
struct exits {
    struct code_text text;
    uint8_t come[MOST_CODE]; /* COME: a way leads to this byte. DONE: the instruction there has been read */
    uint64_t target;         /* where a jump out of it leads to, or 0 */
    bool returns;
    bool others; /* it has ways out to other targets, or such as are not known */
    bool more;   /* an instruction has been reached since */
};

/* Somebody jumps or goes on to ADDR. */
static void come_to(struct exits *e, uint64_t addr)
{
    if (addr < e->text.start || addr >= e->text.end) {
        e->others = e->others || (e->target != 0 && addr != e->target);
        e->target = addr;
    } else if (e->come[addr - e->text.start] == 0) {
        e->come[addr - e->text.start] = COME;
        e->more = true;
    }
}

/* Follows what FACT, of the instruction at PC, says of where it goes on. */
static void go_on(struct exits *e, const struct code_fact *fact, uint64_t pc)
{
    const uint64_t next = pc + fact->size;
    const bool jumps = fact->flow == CODE_JUMP || fact->flow == CODE_BRANCH;
    const bool passes = fact->flow == CODE_NEXT || fact->flow == CODE_BRANCH || fact->condition != 0;

    if (fact->size == 0 || fact->executes != 0 || fact->by_register || fact->flow == CODE_AWAY ||
        fact->flow == CODE_RESUME || (jumps && fact->target == 0) || (passes && next >= e->text.end)) {
        e->others = true;
        return;
    }
    if (jumps)
        come_to(e, fact->target);
    e->returns = e->returns || fact->flow == CODE_RETURN;
    /* A call at the end does not return. */
    if ((passes || fact->flow == CODE_CALL) && next < e->text.end)
        come_to(e, next);
}

/* Finds the ways out of FUNCTION. Returns false if its code is not known. */
static bool find_exits(struct trace_image *image, const struct symbol *function, struct exits *e)
{
    const struct code_cpu *cpu = code_cpu(&image->image);
    void *decoder;
    uint64_t i;

    if (cpu == NULL || function->size > MOST_CODE)
        return false;
    memset(e, 0, sizeof *e);
    e->text = (struct code_text){image_instructions(&image->image, function->addr, function->size), function->addr,
                                 function->addr + function->size};
    if (e->text.bytes == NULL)
        return false;
    decoder = cpu->open != NULL ? cpu->open(&image->image) : NULL;
    e->come[0] = COME;
    e->more = true;
    while (e->more && !e->others) {
        e->more = false;
        for (i = 0; i < function->size && !e->others; i++) {
            struct code_fact fact;

            if (e->come[i] != COME)
                continue;
            e->come[i] = DONE;
            memset(&fact, 0, sizeof fact);
            cpu->decode(decoder, &e->text, function->addr + i, &fact);
            go_on(e, &fact, function->addr + i);
        }
    }
    if (cpu->close != NULL)
        cpu->close(decoder);
    return true;
}

/* The targets of the tail calls of the function at ADDR, by debug information, or its code. ALL: there are no others.
 */
static unsigned find_targets(struct trace_image *image, uint64_t addr, uint64_t *targets, bool *all)
{
    static struct exits e; /* static, because it is large */
    const struct symbol *function = function_at(image, addr), *next;
    const unsigned num = symbols_tail_calls(image, addr, targets, MOST_CALLS, all);

    if (*all || function == NULL || !find_exits(image, function, &e) || e.others)
        return num;
    if (e.target == 0) {
        *all = true;
        return 0;
    }
    next = function_at(image, e.target);
    if (e.returns || next == NULL || next->addr != e.target)
        return num;
    targets[0] = e.target;
    *all = true;
    return 1;
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
    num = find_targets(p->image, p->list[depth - 1], targets, &all);
    p->all = p->all && all;
    p->stays = p->stays || (depth == 1 && all && num == 0);
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

/* Finds who may have left between the call before RA, which is of *CALLED, and the function at PC. Returns false if the
 * call is of that function, or of one that is not known. */
static bool find_path(struct trace_image *image, uint64_t ra, uint64_t pc, struct path *path,
                      const struct symbol **called)
{
    const struct symbol *entered = function_at(image, pc);
    struct call call;

    if (entered == NULL || !call_before(&image->image, ra, &call) || !call.direct)
        return false;
    *called = function_at(image, call.target);
    if (*called == NULL || (*called)->addr != call.target || (*called)->addr == entered->addr ||
        is_part(*called, entered))
        return false;
    memset(path, 0, sizeof *path);
    path->image = image;
    path->all = true;
    path->to = entered->addr;
    path->list[0] = (*called)->addr;
    follow_path(path, 1);
    return true;
}

bool tail_cannot_lead(struct trace_image *image, uint64_t ra, uint64_t pc)
{
    const struct symbol *called;
    struct path path;

    return find_path(image, ra, pc, &path, &called) && path.stays;
}

void out_tail_calls(const struct trace_out *out, struct trace_image *image, uint64_t ra, uint64_t pc)
{
    const struct symbol *called;
    struct path path;
    char text[1024] = "";
    size_t used = 0;
    unsigned i;

    if (!find_path(image, ra, pc, &path, &called) || path.stays)
        return;
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
