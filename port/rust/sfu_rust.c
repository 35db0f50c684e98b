/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What the crate needs of C besides sfu.c: the registers of "here", which only inlined code can capture, and the panic
 * printer. src/sys.rs declares it. */
#include "sfu_arch.h"
#include "sfu_print.h"

struct sfu_rust_image {
    const void *tables, *tables_end;
    const struct sfu_stack *stacks;
    size_t num_stacks;
    const char *name;
    uint64_t slide;
};

typedef void (*sfu_rust_here_fn)(void *ctx, const struct sfu_registers *here);
typedef void (*sfu_rust_put_fn)(void *ctx, char c);

void sfu_rust_here(sfu_rust_here_fn with, void *ctx);
int sfu_rust_print(const struct sfu_rust_image *image, const struct sfu_registers *top, sfu_rust_put_fn put,
                   void *ctx);

/* The registers hold only until this function returns. So it calls WITH instead of returning them. */
void sfu_rust_here(sfu_rust_here_fn with, void *ctx)
{
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);

    with(ctx, &here);
}

static struct sfu_panic panic;

/* The SP of an empty stack is its high end. If another stack begins there, that one is meant. */
static bool find_image_stack(void *ctx, uint64_t addr, struct sfu_stack *stack)
{
    const struct sfu_rust_image *image = (const struct sfu_rust_image *)ctx;
    bool found = false;
    size_t i;

    for (i = 0; i < image->num_stacks; i++) {
        const struct sfu_stack *s = &image->stacks[i];

        if (addr < s->low || addr > s->high || (addr == s->high && found))
            continue;
        *stack = *s;
        found = true;
    }
    return found;
}

int sfu_rust_print(const struct sfu_rust_image *image, const struct sfu_registers *top, sfu_rust_put_fn put,
                   void *ctx)
{
    struct sfu_rust_image own = *image;
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);

    if (panic.busy == 0) {
        panic.put = put;
        panic.ctx = ctx;
        panic.image = image->name;
        panic.slide = image->slide;
        /* A faulty section costs frames; the trace ends with a code that says so. */
        (void)sfu_panic_init(&panic, image->tables, image->tables_end, NULL, NULL);
        panic.own.find_stack = find_image_stack;
        panic.own.ctx = &own;
    }
    return sfu_panic_print(&panic, top != NULL ? top : &here);
}
