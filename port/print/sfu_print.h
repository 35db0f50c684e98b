/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The panic printer: one call prints a whole trace, a character at a time. Needs nothing but sfu.c.
 *
 *     static struct sfu_panic panic = {.put = console_put, .image = "kernel.elf"};
 *
 *     // at boot; or, where there are more sections or stacks, set .target to your own
 *     sfu_panic_init(&panic, sframe_start, sframe_end, stack_low, stack_high);
 *
 *     // in the panic path
 *     struct sfu_registers here = sfu_registers_here(); // arch/sfu_arch.h; or registers filled in from a trap frame
 *     sfu_panic_print(&panic, &here);
 *
 * prints, where A to D are PCs:
 *
 *     slide 0x100000
 *     #0  0x<A>  leaf+0x1c
 *     #1  0x<B>  tick+0x40
 *     #2  0x<C>  work+0x8  [interrupted]
 *     #3  0x<D>  main+0x22  [guessed]
 *     trace ends (1): end of the stack: the outermost frame
 *     addr2line -Cfipe kernel.elf 0x<a> 0x<b> 0x<c> 0x<d>
 *
 * A frame's address is its PC: of a caller, the return address. The addr2line line has lookup PCs (sfu_lookup_pc) minus
 * the slide: a return address minus one is in the line of the call. An address below 4096 that lies outside of all
 * text, such as a null pointer, is printed as it is. The line takes a second walk, because nothing is allocated.
 *
 * Marks of a frame:
 *   [interrupted]   the frame above is a trap frame, which interrupted this one
 *   [stack switch]  it is on another stack than the frame above
 *   [replaced]      its return address had been replaced
 *   [wild call]     the frame above is what it called through a wild pointer, as far as can be guessed
 *   [guessed]       by the frame-pointer fallback, by a trap hook that is not sure, or by a return address that no call
 *                   has left (sfu_calls.h)
 *
 * Skipping. A panic that is called from C begins its trace in the panic's own functions. With .skip_function =
 * (uintptr_t)panic the trace begins at the caller of panic(), with .skip = 2 at frame 2. Frames keep their numbers. If
 * the trace does not contain that function, or has no more than .skip frames, nothing is skipped. With tables of
 * `sfu-gen --small`, use .skip: an entry there is not a function, so .skip_function seldom finds one. Interrupted
 * frames are never skipped, nor their callers: a fault in panic() is printed.
 *
 * sfu-trace (port/host) puts files, lines and inlined callers under each frame of such a trace in a log. The other
 * parts are files of their own, and each may be left out:
 *   sfu_build_id.h  the build ID, by which sfu-trace chooses the image
 *   sfu_cycles.h    one line for deep recursion
 *   sfu_calls.h     marks return addresses that no call has left
 *   sfu_sizes.h     the bytes of stack of each frame; says that a stack has overflowed, and by which frame
 *   sfu_trap.h      the reason of a trap instruction, such as a check of undefined behaviour that has failed
 *   sfu_record.h    a crash record for the next boot
 *   sfu_all.h       a trace of each CPU or thread
 *   sfu_dump.h      a dump for programs without tables
 *   port/symbols    names of functions
 */
#ifndef SFU_PRINT_H
#define SFU_PRINT_H

#include "sfu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One line of a trace: a frame or, if times is not 0, that the LENGTH frames before come TIMES times more. */
struct sfu_print_item {
    sfu_addr pc, lookup; /* lookup: sfu_lookup_pc */
    uint32_t number;     /* of the frame, or of the first one that is left out */
    uint32_t marks;      /* enum sfu_print_mark */
    uint32_t length, times;
    sfu_addr size; /* bytes of stack from the frame's SP to its caller's; 0: not known, or not asked for */
};
enum sfu_print_mark {
    SFU_PRINT_INTERRUPTED = 1,
    SFU_PRINT_SWITCHED = 2,
    SFU_PRINT_GUESSED = 4,
    SFU_PRINT_REPLACED = 8,
    SFU_PRINT_WILD_CALL = 16
};
/* Gets each line of a trace, in order. */
typedef void (*sfu_print_fn)(void *ctx, const struct sfu_print_item *item);

/* Where the items go, and what sfu_cycles.c knows of the frames before. */
#define SFU_PRINT_CYCLE 8
struct sfu_print_cycle {
    sfu_print_fn each;
    void *ctx;
    sfu_addr before[SFU_PRINT_CYCLE]; /* PCs of the latest frames, which have no marks, the most recent one first */
    sfu_addr sizes[SFU_PRINT_CYCLE];  /* and their sizes */
    uint32_t number;                  /* of the last one */
    uint32_t held;                    /* how many of them are held back */
    unsigned num;                     /* how many PCs before has */
    unsigned lengths;                 /* bit N - 1: each frame held back repeats the frame N before it */
};
/* Passes ITEM on to CYCLE's each, now or later. NULL: the walk has ended. */
typedef void (*sfu_print_filter_fn)(struct sfu_print_cycle *cycle, const struct sfu_print_item *item);

/* Zero what is not used. Make it static, not a local variable: a second fault during printing is then noticed, and
 * stack is saved. */
struct sfu_panic {
    const struct sfu_target *target; /* sfu_panic_init sets it, or you do */
    void (*put)(void *ctx, char c);  /* prints a character; must not take a lock */
    /* Returns the name of the function that ADDR, a lookup PC, is in, and sets *OFFSET to how far in. Returns NULL if
     * it is not known. The member may be NULL: no names are printed. */
    const char *(*symbol)(void *ctx, sfu_addr addr, sfu_addr *offset);
    void *ctx;                  /* passed to both */
    const char *image;          /* file name for addr2line; NULL: IMAGE */
    sfu_addr slide;             /* run-time minus link-time address of the image */
    sfu_addr skip_function;     /* start of the function whose caller the trace begins at; or 0. Not with --small */
    uint32_t skip;              /* if skip_function is 0: how many frames are skipped */
    sfu_print_filter_fn cycles; /* NULL, or sfu_print_cycles (sfu_cycles.h) */
    void (*calls)(struct sfu_panic *panic); /* NULL, or sfu_print_calls (sfu_calls.h), which looks at each frame */
    /* NULL, or sfu_print_size (sfu_sizes.h), which ends the line of each frame. A frame is then printed only after the
     * walk has left it: if the walk itself faults, the line of that frame is missing. */
    void (*sizes)(const struct sfu_panic *panic, const struct sfu_print_item *item);
    /* NULL, or what is called in front of the trace that begins at TOP and may use the walk: sfu_print_overflow
     * (sfu_sizes.h), sfu_print_trap (sfu_trap.h), or a function of your own. */
    void (*before)(struct sfu_panic *panic, const struct sfu_registers *top);
    /* NULL, or what is asked once a trace has been walked to its end, by CODE. Returns the code that the last line
     * says, and may say more in lines of its own, or clear walk.frame.reliable. */
    int (*after)(struct sfu_panic *panic, int code);
    sfu_addr fault_address; /* for sfu_print_overflow: what could not be accessed; 0: nothing, or not known */
    /* Room for the sections, if the linker joins them instead of merging them; or NULL, 0: there is room for one. */
    struct sfu_section *sections;
    size_t room;
    /* the printer's own */
    volatile uint8_t busy;
    struct sfu_walk walk;
    struct sfu_print_item item;
    struct sfu_print_cycle cycle;
    struct sfu_row row;
    int code;                   /* of sfu_panic_init */
    struct sfu_section section; /* used if sections is NULL */
    struct sfu_target own;      /* callbacks and limits may be set at any time */
};

/* All that a program with one stack needs. Adds the section from SFRAME to SFRAME_END, and those that are joined to it
 * as far as there is room, to a target of its own. Finds their text and checks them: a PC elsewhere is not code then
 * (sfu_walk_step). The target's stack is the memory from STACK up to STACK_END. A trace reads no other memory of a
 * stack, so no garbage can make it fault. Returns SFU_OK, or what sfu_add or sfu_check returned. PANIC can print in any
 * case: a fault in the section costs frames. If none could be opened, that code ends each trace. */
int sfu_panic_init(struct sfu_panic *panic, const void *sframe, const void *sframe_end, const void *stack,
                   const void *stack_end);

/* Prints the trace that begins at TOP. If PANIC is being printed already, printing has faulted and the fault has come
 * here again: says so and returns at once, the next time silently. Other CPUs must have been stopped, or must use
 * another PANIC. Before sfu_panic_init it prints the first frame; without a put it prints nothing, and returns
 * SFU_E_NO_SECTION. Returns the code that ended the walk. */
int sfu_panic_print(struct sfu_panic *panic, const struct sfu_registers *top);

/* ---- For the other parts, and for a panic path that prints in a format of its own ---- */

/* Calls EACH with CTX for each line of the trace that begins at TOP, in order. Skips and abbreviates as sfu_panic_print
 * does. Uses PANIC's walk, and not its put. Returns the code that ended the walk. */
int sfu_print_walk(struct sfu_panic *panic, const struct sfu_registers *top, sfu_print_fn each, void *ctx);

/* Prints the line of ITEM. */
void sfu_print_line(const struct sfu_panic *panic, const struct sfu_print_item *item);

/* Prints the last line of a trace: CODE, and whether the last frame was RELIABLE. */
void sfu_print_end(const struct sfu_panic *panic, int code, bool reliable);

/* Prints the line of PANIC's slide, if there is one. */
void sfu_print_slide(const struct sfu_panic *panic);

/* Prints TEXT. */
void sfu_print_text(const struct sfu_panic *panic, const char *text);

/* What is said of a fault or a panic while a trace is being printed. */
#define SFU_PRINT_SECOND "\nsecond fault while printing the trace: stopped\n"

#define SFU_PRINT_DIGITS (2 * (unsigned)sizeof(sfu_addr)) /* of an address, in base 16 */

/* Prints BEFORE, then at least WIDTH (1 to 16) digits of VALUE in BASE (8 to 16). */
void sfu_print_number(const struct sfu_panic *panic, const char *before, uint64_t value, unsigned base,
                      unsigned width);

#ifdef __cplusplus
}
#endif

#endif
