/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Traces of an image that sfu-link has linked: three calls, and no address to pass. The tables, the names of functions
 * and the bounds of the memory that stacks lie in come from sfu-link (port/host/link). Needs sfu_print.c and, unless
 * SFU_NO_SYMBOLS, SFU_NO_CYCLES and SFU_NO_CALLS leave them out, sfu_symbols.c, sfu_cycles.c and sfu_calls.c.
 *
 *     static void put(void *ctx, char c) { (void)ctx; console_putc(c); }
 *
 *     sfu_panic_start(put);             // at boot
 *     sfu_panic_here();                 // in panic()
 *     sfu_panic_trap(pc, sp, fp, ra);   // in the handler of a fault, with the registers that the entry has saved
 *
 * If the linker says that sfu_link_data is not defined, put the word sfu-link before the command that links: make
 * LD='sfu-link ld', or CC='sfu-link gcc'.
 *
 * sfu takes for the stack that part of the image's writable memory in which SP lies, and reads no other memory of a
 * stack. If a stack lies elsewhere, in memory that the boot loader or an allocator gave, call sfu_panic_memory. While a
 * trace is printed, interrupts are masked on this CPU (sfu_mask.h), so PUT must not wait for one; other CPUs go on.
 */
#ifndef SFU_START_H
#define SFU_START_H

#include "sfu_arch.h"
#include "sfu_print.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What sfu-link writes into the image. Offsets are in bytes from the start of this structure, modulo 2^64. */
struct sfu_link {
    char magic[8];    /* "sfulink1": it is filled in */
    uint64_t address; /* the address that this structure was linked for */
    uint64_t tables, tables_size;
    uint64_t names, names_size; /* of port/symbols; size 0: there are none */
    uint64_t base;              /* what the functions of the names are relative to */
    uint64_t image;             /* the name of the image's file, with a 0 behind it */
    uint64_t num_memory;        /* how many struct sfu_link_memory follow */
    uint64_t num_saved;         /* how many struct sfu_link_saved follow behind those */
};

/* A part of the writable memory. */
struct sfu_link_memory {
    uint64_t start, size;
};

/* SIZE bytes of code, from START on, of an exception entry, which keeps a register of what it has interrupted: at
 * OFFSET from what FROM says. 32-bit ARM, A and R profile: REG is also 15, the PC; 128, the saved status (SPSR); and
 * the SP of the mode whose stack the entry uses, which was OFFSET bytes above the entry's SP, and its LR: 164 and 165
 * for SVC mode, 149 and 150 for System mode, which has those of User mode. 32-bit x86, a kernel with programs: REG is
 * also 8, the PC, on which CS and the flags follow. RISC-V, an entry that keeps registers in a structure of which
 * sscratch or mscratch has the address: REG is also 64, the PC; 65, the PC that no word has, but sepc or mepc; and 66,
 * the SP, which was OFFSET bytes above the entry's SP. */
struct sfu_link_saved {
    uint64_t start;
    uint32_t size;
    int32_t offset;
    uint32_t reg; /* its DWARF number */
    /* What OFFSET counts from: 0, the entry's SP; 1, the interrupted SP; 2, sscratch; 3, mscratch; plus 4 if nothing
     * that the entry calls changes those, or goes on with another thread. */
    uint32_t from;
};

/* The structure, of a type that a second copy of this file, made with PREFIX, can declare as well. */
extern const char sfu_link_data[] __attribute__((__visibility__("hidden")));

/* The bodies of the calls below: DATA is sfu_link_data. A program that makes none of these calls needs no sfu-link. */
int sfu_link_start(const void *data, void (*put)(void *ctx, char c));
int sfu_link_print(const void *data, const struct sfu_registers *top);

/* Opens the tables. PUT prints a character and must not take a lock; its CTX is NULL. Returns SFU_OK, or a code that
 * says what is wrong with the tables: each trace then ends with it. */
static inline int sfu_panic_start(void (*put)(void *ctx, char c))
{
    return sfu_link_start(sfu_link_data, put);
}

#ifdef SFU_NUM_REGS /* this CPU has a capture */
/* Prints the trace that begins here, in the function that makes this call. Before sfu_panic_start it prints nothing,
 * and returns SFU_E_NO_SECTION. Returns the code that ended the trace. */
static inline __attribute__((__always_inline__)) int sfu_panic_here(void)
{
    struct sfu_registers here = sfu_registers_here();

    return sfu_link_print(sfu_link_data, &here);
}
#endif

/* Prints the trace that begins where a fault or an interrupt has stopped the CPU, by the registers that were saved: the
 * program counter, the stack pointer of the interrupted code (32-bit x86 saves none where it interrupts a kernel: give
 * the address behind the saved flags), the frame pointer (x86: rbp, ebp; aarch64: x29; RISC-V: s0; s390x: r11; ARM: r7
 * in Thumb code, else r11) and the link register (x30, ra, r14, lr; on x86 give 0). A frame that lies above this
 * handler's, on the stack that was interrupted below it, is [guessed]: an entry that sets SP to the top of a stack each
 * time overwrites what it interrupts there. Returns what sfu_panic_here returns. */
static inline int sfu_panic_trap(sfu_addr pc, sfu_addr sp, sfu_addr fp, sfu_addr ra)
{
    struct sfu_registers top;

    top.pc = pc;
    top.sp = sp;
    top.fp = fp;
    top.ra = ra;
#ifdef SFU_REG_RA
    top.has_ra = true;
#else
    top.has_ra = false;
#endif
    top.pc_kind = SFU_PC_EXACT;
    return sfu_link_print(sfu_link_data, &top);
}

/* Says that stacks may also lie in the memory from LOW up to HIGH, all of which must be mapped. Call it once for each
 * such range: the last four calls count. */
void sfu_panic_memory(const void *low, const void *high);

/* The printer that sfu_panic_start has set up. After that call you may set more in it: own.reg (with own.ctx),
 * own.trap_hook, own.find_stack, sizes, before, or image. If the image has moved its data since, the next trace sets
 * own.find_stack and image anew. */
struct sfu_panic *sfu_panic_printer(void);

/* PANIC's walk may ask sfu_panic_printer()->own.reg for registers, too. One other printer has this: the last one. */
void sfu_link_share(struct sfu_panic *panic);

/* For a port that has a printer of its own, PANIC: does what sfu_panic_start does with PANIC's put, and gives PANIC
 * what sfu-link has made: symbol, image, cycles and calls, where they are NULL, and slide. Returns the section of the
 * tables, and sets *CODE to what sfu_panic_start returns. The section's bytes are NULL if there are no tables: then
 * *CODE says why. */
static inline const struct sfu_section *sfu_panic_share(struct sfu_panic *panic, int *code)
{
    const struct sfu_panic *made;

    *code = sfu_panic_start(panic->put);
    made = sfu_panic_printer();
    if (panic->symbol == NULL)
        panic->symbol = made->symbol;
    if (panic->image == NULL)
        panic->image = made->image;
    if (panic->cycles == NULL)
        panic->cycles = made->cycles;
    if (panic->calls == NULL)
        panic->calls = made->calls;
    panic->slide = made->slide;
    sfu_link_share(panic);
    return &made->section;
}

#ifdef __cplusplus
}
#endif

#include "sfu_entry.h"

#endif
