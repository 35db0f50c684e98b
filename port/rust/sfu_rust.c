/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What the crate needs of C besides sfu.c: the registers of "here", which only inlined code can capture, and the panic
 * printer and its parts. src/sys.rs declares it. There is no state here: a printer is memory of the caller's, which
 * src/lib.rs gives to one call at a time. */
#include "sfu_arch.h"
#include "sfu_build_id.h"
#include "sfu_cycles.h"
#include "sfu_record.h"
#include "sfu_symbols.h"

#if SFU_ADDR_BITS == 32
#error "src/sys.rs has addresses of 64 bits: leave SFU_ABI out of CFLAGS for a CPU of 32 bits"
#endif

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

typedef void (*sfu_rust_here_fn)(void *ctx, const struct sfu_registers *here);
typedef void (*sfu_rust_put_fn)(void *ctx, char c);

/* What the memory of a Printer of src/lib.rs holds: the panic printer, and what its callbacks need. */
struct printer {
    struct sfu_panic panic;
    struct sfu_rust_image image;
    sfu_rust_put_fn put;
    void *ctx;
    struct sfu_symbols names;
};

/* Printer and Record of src/lib.rs, in words of 8 bytes. */
enum { SFU_RUST_PRINTER_WORDS = 192, SFU_RUST_RECORD_WORDS = 13 };
_Static_assert(sizeof(struct printer) <= 8 * SFU_RUST_PRINTER_WORDS && _Alignof(struct printer) <= 8, "Printer");
_Static_assert((sizeof(struct sfu_record) + 7) / 8 == SFU_RUST_RECORD_WORDS && _Alignof(struct sfu_record) <= 8,
               "Record");

void sfu_rust_here(sfu_rust_here_fn with, void *ctx);
bool sfu_rust_exchange(uint32_t *word, uint32_t from, uint32_t to);
int sfu_rust_print(void *printer, const struct sfu_rust_image *image, const struct sfu_registers *top,
                   sfu_rust_put_fn put, void *ctx);
int sfu_rust_record(void *printer, void *record, const struct sfu_rust_image *image,
                    const struct sfu_registers *top);
bool sfu_rust_print_record(void *printer, void *record, const struct sfu_rust_image *image, sfu_rust_put_fn put,
                           void *ctx);

/* The registers hold only until this function returns. So it calls WITH instead of returning them. */
void sfu_rust_here(sfu_rust_here_fn with, void *ctx)
{
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);

    with(ctx, &here);
}

/* Makes *WORD, if it is FROM, into TO, at once for all CPUs. Returns whether it did. It is in C because an exchange of
 * Rust may be a call into libgcc (aarch64, Linux), which a kernel has not; build.rs has the C compiler make none. */
bool sfu_rust_exchange(uint32_t *word, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

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

static void put_by_printer(void *ctx, char c)
{
    const struct printer *printer = (const struct printer *)ctx;

    if (printer->put != NULL)
        printer->put(printer->ctx, c);
}

static const char *symbol_by_printer(void *ctx, uint64_t addr, uint64_t *offset)
{
    return sfu_symbols_find(&((struct printer *)ctx)->names, addr, offset);
}

/* Makes a printer for IMAGE in MEMORY, whatever was in it. */
static struct printer *prepare(void *memory, const struct sfu_rust_image *image, sfu_rust_put_fn put, void *ctx)
{
    struct printer *printer = (struct printer *)memory;
    struct sfu_panic *panic = &printer->panic;
    volatile uint8_t *bytes = (volatile uint8_t *)memory; /* volatile: compilers must not call memset */
    size_t i;

    for (i = 0; i < sizeof *printer; i++)
        bytes[i] = 0;
    printer->image = *image;
    printer->put = put;
    printer->ctx = ctx;
    printer->names.bytes = (const uint8_t *)image->symbols;
    printer->names.end = (const uint8_t *)image->symbols_end;
    printer->names.base = image->image_start;
    panic->put = put_by_printer;
    panic->symbol = image->symbols != image->symbols_end ? symbol_by_printer : NULL;
    panic->ctx = printer;
    panic->image = image->name;
    panic->slide = image->slide;
    panic->skip_function = image->skip_function;
    panic->skip = image->skip;
    panic->cycles = image->cycles ? sfu_print_cycles : NULL;
    /* A faulty section costs frames; the trace ends with a code that says so. */
    (void)sfu_panic_init(panic, image->tables, image->tables_end, NULL, NULL);
    panic->own.find_stack = find_image_stack;
    panic->own.ctx = &printer->image;
    return printer;
}

/* With no registers it begins here. */
int sfu_rust_print(void *printer, const struct sfu_rust_image *image, const struct sfu_registers *top,
                   sfu_rust_put_fn put, void *ctx)
{
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);
    struct sfu_panic *panic = &prepare(printer, image, put, ctx)->panic;

    if (image->build_id != image->build_id_end)
        sfu_print_build_id(panic, image->build_id, image->build_id_end);
    return sfu_panic_print(panic, top != NULL ? top : &here);
}

int sfu_rust_record(void *printer, void *record, const struct sfu_rust_image *image,
                    const struct sfu_registers *top)
{
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);
    struct sfu_panic *panic = &prepare(printer, image, NULL, NULL)->panic;

    return sfu_record_write((struct sfu_record *)record, panic, image->image_start, top != NULL ? top : &here);
}

bool sfu_rust_print_record(void *printer, void *record, const struct sfu_rust_image *image, sfu_rust_put_fn put,
                           void *ctx)
{
    const struct sfu_panic *panic = &prepare(printer, image, put, ctx)->panic;

    if (sfu_record_print((struct sfu_record *)record, panic, image->image_start) == SFU_RECORD_NONE)
        return false;
    sfu_record_clear((struct sfu_record *)record);
    return true;
}
