/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What the crate needs of C besides sfu.c: the registers of "here", which only inlined code can capture, and the panic
 * printer and its parts. src/sys.rs declares it. */
#include "sfu_arch.h"
#include "sfu_build_id.h"
#include "sfu_cycles.h"
#include "sfu_record.h"
#include "sfu_symbols.h"

struct sfu_rust_image {
    const void *tables, *tables_end;
    const struct sfu_stack *stacks;
    size_t num_stacks;
    const char *name;
    uint64_t slide;
    const void *build_id, *build_id_end; /* .note.gnu.build-id */
    const void *symbols, *symbols_end;   /* what symbols.py makes */
    uint64_t image_start;                /* of symbols and of records */
    uint64_t skip_function;              /* as in struct sfu_panic */
    uint32_t skip;
    bool cycles;
};

/* Record of src/lib.rs. */
_Static_assert(sizeof(struct sfu_record) == 104 && _Alignof(struct sfu_record) == 8, "Record");

typedef void (*sfu_rust_here_fn)(void *ctx, const struct sfu_registers *here);
typedef void (*sfu_rust_put_fn)(void *ctx, char c);

void sfu_rust_here(sfu_rust_here_fn with, void *ctx);
int sfu_rust_print(const struct sfu_rust_image *image, const struct sfu_registers *top, sfu_rust_put_fn put,
                   void *ctx);
int sfu_rust_record(void *record, const struct sfu_rust_image *image, const struct sfu_registers *top);
bool sfu_rust_print_record(void *record, const struct sfu_rust_image *image, sfu_rust_put_fn put, void *ctx);

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

/* What the printer's callbacks need. */
struct own {
    struct sfu_rust_image image;
    sfu_rust_put_fn put;
    void *ctx;
    struct sfu_symbols names;
};

static void put_by_own(void *ctx, char c)
{
    const struct own *own = (const struct own *)ctx;

    if (own->put != NULL)
        own->put(own->ctx, c);
}

static const char *symbol_by_own(void *ctx, uint64_t addr, uint64_t *offset)
{
    return sfu_symbols_find(&((struct own *)ctx)->names, addr, offset);
}

/* Makes the printer one of OWN. Not while it prints: then a fault in printing has come here. */
static void prepare(struct own *own, const struct sfu_rust_image *image, sfu_rust_put_fn put, void *ctx)
{
    own->image = *image;
    own->put = put;
    own->ctx = ctx;
    own->names.bytes = (const uint8_t *)image->symbols;
    own->names.end = (const uint8_t *)image->symbols_end;
    own->names.base = image->image_start;
    panic.put = put_by_own;
    panic.symbol = image->symbols != image->symbols_end ? symbol_by_own : NULL;
    panic.ctx = own;
    panic.image = image->name;
    panic.slide = image->slide;
    panic.skip_function = image->skip_function;
    panic.skip = image->skip;
    panic.cycles = image->cycles ? sfu_print_cycles : NULL;
    /* A faulty section costs frames; the trace ends with a code that says so. */
    (void)sfu_panic_init(&panic, image->tables, image->tables_end, NULL, NULL);
    panic.own.find_stack = find_image_stack;
    panic.own.ctx = &own->image;
}

/* With no registers it begins here. */
int sfu_rust_print(const struct sfu_rust_image *image, const struct sfu_registers *top, sfu_rust_put_fn put,
                   void *ctx)
{
    struct own own;
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);

    if (panic.busy == 0) {
        prepare(&own, image, put, ctx);
        if (image->build_id != image->build_id_end)
            sfu_print_build_id(&panic, image->build_id, image->build_id_end);
    }
    return sfu_panic_print(&panic, top != NULL ? top : &here);
}

int sfu_rust_record(void *record, const struct sfu_rust_image *image, const struct sfu_registers *top)
{
    struct own own;
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);

    if (panic.busy == 0)
        prepare(&own, image, NULL, NULL);
    return sfu_record_write((struct sfu_record *)record, &panic, image->image_start, top != NULL ? top : &here);
}

bool sfu_rust_print_record(void *record, const struct sfu_rust_image *image, sfu_rust_put_fn put, void *ctx)
{
    struct own own;

    prepare(&own, image, put, ctx);
    if (sfu_record_print((struct sfu_record *)record, &panic, image->image_start) == SFU_RECORD_NONE)
        return false;
    sfu_record_clear((struct sfu_record *)record);
    return true;
}
