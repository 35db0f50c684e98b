/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_start.h"

#include "sfu_cycles.h"
#include "sfu_symbols.h"

static struct {
    const struct sfu_link *data; /* NULL: sfu_panic_start has not been called */
    struct sfu_range memory;
    sfu_addr top; /* the SP where the last trace begins */
    bool masking; /* interrupts are being masked, or that has faulted */
    struct sfu_panic panic;
#ifndef SFU_NO_SYMBOLS
    struct sfu_symbols symbols;
#endif
} started;

/* The address OFFSET bytes from DATA. */
static sfu_addr address_at(const struct sfu_link *data, uint64_t offset)
{
    return (sfu_addr)((uintptr_t)data + (uintptr_t)offset);
}

static const uint8_t *bytes_at(const struct sfu_link *data, uint64_t offset)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): offsets may lead below DATA, out of the object that it is */
    return (const uint8_t *)(uintptr_t)address_at(data, offset);
}

static bool is_in_part(const struct sfu_range *part, sfu_addr addr)
{
    return part->low <= addr && addr <= part->high;
}

/* The part of the memory that ADDR lies in; high is 0: in none. The SP where one part ends and the next one begins is
 * that of an empty stack. */
static struct sfu_range part_at(sfu_addr addr)
{
    const struct sfu_link *data = started.data;
    const struct sfu_link_memory *memory =
        (const struct sfu_link_memory *)(const void *)bytes_at(data, sizeof *data);
    struct sfu_range found, part;
    uint64_t i;

    found.low = found.high = 0;
    for (i = 0; i < data->num_memory; i++, memory++) {
        part.low = address_at(data, memory->start);
        part.high = part.low + (sfu_addr)memory->size;
        if (is_in_part(&part, addr) && (found.high == 0 || addr != part.low))
            found = part;
    }
    if (found.high == 0 && is_in_part(&started.memory, addr))
        found = started.memory;
    return found;
}

/* A sfu_find_stack_fn. Several stacks may lie in one part, and nobody knows where each one ends. For instance, the
 * trace begins on the stack of an exception, and leads to the stack of the interrupted code, which lies below: that one
 * ends before the trace begins. */
static bool find_part(void *ctx, sfu_addr addr, struct sfu_stack *stack)
{
    struct sfu_range part = part_at(addr);

    (void)ctx;
    if (part.high == 0)
        return false;
    if (addr < started.top && started.top <= part.high)
        part.high = started.top - 1;
    stack->low = part.low;
    stack->high = part.high;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): no object is known there */
    stack->bytes = (const void *)(uintptr_t)part.low;
    return true;
}

#ifndef SFU_NO_SYMBOLS
static const char *name_of(void *ctx, sfu_addr addr, sfu_addr *offset)
{
    (void)ctx;
    return sfu_symbols_find(&started.symbols, addr, offset);
}

static void open_names(const struct sfu_link *data)
{
    started.symbols.bytes = bytes_at(data, data->names);
    started.symbols.end = started.symbols.bytes + (size_t)data->names_size;
    started.symbols.base = address_at(data, data->base);
    started.panic.symbol = name_of;
}
#endif

static bool is_filled_in(const struct sfu_link *data)
{
    static const char magic[sizeof data->magic] = {'s', 'f', 'u', 'l', 'i', 'n', 'k', '1'};
    unsigned i = 0;

    while (i < sizeof magic && data->magic[i] == magic[i])
        i++;
    return i == sizeof magic;
}

/* Opens what sfu-link has written. An image that has moved itself has moved DATA. */
static int open_data(const struct sfu_link *data)
{
    struct sfu_panic *panic = &started.panic;
    const bool good = is_filled_in(data);
    const uint8_t *tables = bytes_at(data, good ? data->tables : 0);
    const int code = sfu_panic_init(panic, tables, tables + (size_t)(good ? data->tables_size : 0), NULL, NULL);

    started.data = data;
    if (!good)
        return code;
    panic->own.find_stack = find_part;
    panic->slide = (sfu_addr)((uintptr_t)data - (uintptr_t)data->address);
    panic->image = (const char *)bytes_at(data, data->image);
#ifndef SFU_NO_SYMBOLS
    open_names(data);
#endif
#ifndef SFU_NO_CYCLES
    panic->cycles = sfu_print_cycles;
#endif
    return code;
}

int sfu_link_start(const void *data, void (*put)(void *ctx, char c))
{
    started.panic.put = put;
    return open_data((const struct sfu_link *)data);
}

/* Keeps interrupts away, where sfu_arch.h knows the CPU, and returns whether it did. On RISC-V this faults if the CPU
 * is in another mode than SFU_RISCV_MODE says: the trace of that fault does not try it. */
static bool mask(uintptr_t *before)
{
#ifdef SFU_NUM_REGS
    if (started.masking)
        return false;
    started.masking = true;
    *before = sfu_mask_interrupts();
    started.masking = false;
    return true;
#else
    (void)before;
    return false;
#endif
}

static void unmask(uintptr_t before)
{
#ifdef SFU_NUM_REGS
    sfu_unmask_interrupts(before);
#else
    (void)before;
#endif
}

int sfu_link_print(const void *data, const struct sfu_registers *top)
{
    uintptr_t before = 0;
    bool masked;
    int code;

    if (started.data != data && started.data != NULL)
        (void)open_data((const struct sfu_link *)data);
    masked = mask(&before);
    started.top = top->sp;
    code = sfu_panic_print(&started.panic, top);
    if (masked)
        unmask(before);
    return code;
}

void sfu_panic_memory(const void *low, const void *high)
{
    started.memory.low = (sfu_addr)(uintptr_t)low;
    started.memory.high = (sfu_addr)(uintptr_t)high;
}

struct sfu_panic *sfu_panic_printer(void)
{
    return &started.panic;
}
