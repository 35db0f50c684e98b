/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * sfu: a freestanding SFrame stack unwinder. A walk from here to the outermost frame:
 *
 *     #include "sfu.h"
 *     #include "arch/sfu_arch.h"
 *     static struct sfu_section sections[1];
 *     static struct sfu_target target;
 *     int trace(void) {
 *         struct sfu_registers here = sfu_registers_here();
 *         struct sfu_stack stack = {stack_low, (uintptr_t)stack_low, (uintptr_t)stack_high};
 *         struct sfu_walk walk;
 *         int code = sfu_add(&target.sections, sections, 1, sframe_start, sframe_size, (uintptr_t)sframe_start);
 *         target.stack = stack;
 *         for (sfu_walk_start(&walk, &target, &here); code == SFU_OK; code = sfu_walk_step(&walk))
 *             print(walk.frame.regs.pc);
 *         return code;
 *     }
 *
 * The panic printer does that, and says what it finds. `make dist` joins it, this file and the capture of registers to
 * sfu_panic.h and sfu_panic.c:
 *
 *     #include "sfu_panic.h"
 *     extern const uint8_t sframe_start[], sframe_end[], stack_low[], stack_high[];
 *     void console_putc(char c);
 *     static void put(void *ctx, char c) { (void)ctx; console_putc(c); }
 *     static struct sfu_panic trace;
 *     void kernel_init(void) {
 *         trace.put = put;
 *         sfu_panic_init(&trace, sframe_start, sframe_end, stack_low, stack_high);
 *     }
 *     void kernel_panic(void) {
 *         struct sfu_registers here = sfu_registers_here();
 *         sfu_panic_print(&trace, &here);
 *     }
 *
 * Conventions
 *   Addresses and registers are uint64_t of the unwound program: this one or another, of any supported ABI and byte
 *   order. Sizes and offsets are in bytes. Where two addresses bound a range, they are named low and high, and high is
 *   left out. A member that is 0 or NULL is not set; each says what holds then. No other pointer may be NULL. A
 *   function changes its outputs only when it succeeds. sfu keeps no state outside of the structures given to it,
 *   allocates nothing and takes no lock. Calls on different structures may run at the same time. "Specification" is
 *   "The SFrame format", version 3; numbers in parentheses are its sections.
 *
 * Words
 *   A section is the bytes of one .sframe; its tables are its FDEs and their rows. An FDE describes a function. A row
 *   (FRE) says how to find the caller from a range of PCs: it has a rule for each value. A walk leads from the topmost
 *   frame to the outermost. A trap is what stops a program between two instructions: an exception, an interrupt, a
 *   signal. It interrupts a frame. Its own entry or handler is a trap frame (specification: signal frame); the caller
 *   of a trap frame is the interrupted frame. An exact PC is the next instruction to run: that of the topmost frame and
 *   of interrupted frames.
 */
#ifndef SFU_H
#define SFU_H

/* A kernel without <stdint.h> names a header of its own: -DSFU_TYPES='"types.h"'. It must define bool, NULL, offsetof,
 * size_t, uintptr_t and the types from int8_t to uint64_t. */
#ifdef SFU_TYPES
#include SFU_TYPES
#ifndef UINT64_MAX
#define UINT64_MAX (~(uint64_t)0)
#define UINT32_MAX (~(uint32_t)0)
#define INT32_MAX  0x7fffffff
#define INT32_MIN  (-INT32_MAX - 1)
#endif
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SFU_VERSION 10000 /* major * 10000 + minor * 100 + patch */

/* Build-time switches. Every file of a program must have the same. Each leaves something out:
 *   SFU_OLDEST_VERSION  oldest version of the format that is read: 1 (default), 2 or 3.
 *   SFU_ABI             the only ABI that is read, for instance -DSFU_ABI=SFU_AMD64. Its byte order is the only one.
 *   SFU_NO_REMOTE       defined: sections are read through a pointer only; sfu_open_remote always fails.
 *   SFU_NO_STRINGS      defined: sfu_string returns "" for every code. */

/* What a function returns: SFU_OK, SFU_END or a negative error. */
enum sfu_code {
    SFU_OK = 0,  /* done; of a step: the walk has moved to the caller */
    SFU_END = 1, /* the table marks this frame as the outermost: the trace is complete */

    /* The section as a whole. */
    SFU_E_EMPTY = -1,   /* its size is 0, or it describes no function */
    SFU_E_MAGIC = -2,   /* it does not begin with the magic number, in either byte order */
    SFU_E_VERSION = -3, /* its version is not supported, or not built in */
    SFU_E_ABI = -4,     /* its version has no such ABI; or it is not built in, or not that of the other sections */
    SFU_E_FLAGS = -5,   /* its version has no such flags */
    SFU_E_BOUNDS = -6,  /* an offset leads out, it leaves the address space, or its tables are 2 GiB or more */
    SFU_E_SECTION = -7, /* the callback could not read the section */
    SFU_E_CONCATENATED = -8, /* another section follows the tables, or more of them than there is room for */
    SFU_E_UNSORTED = -9,     /* flagged as sorted, but this FDE starts below the one before it */
    SFU_E_OVERLAP = -10,     /* flagged as sorted, but this FDE starts inside the one before it */
    SFU_E_COUNT = -11,       /* the functions have another number of rows than the header says */
    SFU_E_READONLY = -12,    /* not the section's own bytes, or a start does not fit its field */
    SFU_E_NO_SECTION = -28,  /* the target has no section */

    /* One function. An FDE is corrupt if its type is unknown, its repeat size 0, or if it has more rows than there is
     * room for; a row, if it does not start above the one before it, or has words that its FDE's type cannot have. */
    SFU_E_NO_FDE = -13, /* no section describes this PC */
    SFU_E_NO_ROW = -14, /* its function is described, but has no row for this PC */
    SFU_E_FDE = -15,    /* its FDE is corrupt; for a check also: it reaches the end of the address space */
    SFU_E_ROW = -16,    /* its row is corrupt; for a check also: it starts behind the end of the function */

    /* One step. */
    SFU_E_STACK = -17,     /* SP, or what a rule reads, lies on no stack, or could not be read */
    SFU_E_ADDRESS = -18,   /* base + offset of a rule leaves the address space */
    SFU_E_UNSAFE = -19,    /* a rule needs a register that is known only where the PC is exact */
    SFU_E_REGISTER = -20,  /* a rule needs a register that the reg callback does not know */
    SFU_E_NO_RA = -21,     /* the row leaves the RA in its register, but this frame has made a call since */
    SFU_E_PROGRESS = -22,  /* SP would not grow, on the same stack or on one that the walk comes back to */
    SFU_E_SWITCHES = -23,  /* more stack switches than the limit */
    SFU_E_DEPTH = -24,     /* more frames than the limit */
    SFU_E_TRAP = -25,      /* a trap frame without rows, and no trap hook that knows it */
    SFU_E_NOT_CODE = -26,  /* this PC lies outside of the text of all sections */
    SFU_E_NOT_FINAL = -27, /* the trace ends, but not in the final frame that the target names */
    SFU_E_DEAD_SLOT = -29  /* a rule reads below SP (sfu_target.red_zone) what is in no register either */
};

/* SFrame ABI/arch identifiers (specification 2.2.1). */
enum sfu_abi { SFU_AARCH64_BIG = 1, SFU_AARCH64 = 2, SFU_AMD64 = 3, SFU_S390X = 4 };

/* The PC of a frame. Behind a call that never returns, a return address lies one past the end of its function. So it is
 * looked up as pc - 1 (sfu_lookup_pc). It is reported as it is. */
enum sfu_pc_kind {
    SFU_PC_EXACT = 0, /* the next instruction to run */
    SFU_PC_RETURN = 1 /* a return address */
};

/* What a walk begins with, what a trap hook fills in and what a frame carries. */
struct sfu_registers {
    uint64_t pc; /* without its PAC, if it was a signed RA (aarch64) */
    uint64_t sp, fp;
    uint64_t ra; /* the link register (aarch64, s390x) */
    enum sfu_pc_kind pc_kind;
    bool has_ra; /* ra is known. It counts only where the PC is exact: a call changes it */
};

/* How a frame was guessed. */
enum sfu_guess {
    SFU_GUESS_NONE = 0,   /* it was not: the tables say so, or a trap hook that is sure */
    SFU_GUESS_RECORD = 1, /* by a frame record: the target's frame_pointers */
    SFU_GUESS_HOOK = 2,   /* by a trap hook that is not sure */
    SFU_GUESS_CALL = 3    /* by a call through a wild pointer: sfu_walk_step */
};

/* One frame of a walk. */
struct sfu_frame {
    struct sfu_registers regs;
    uint64_t saved; /* behind a trap frame: the SP of that, or what the trap hook says; else 0 */
    uint32_t depth; /* 0 for the topmost frame */
    enum sfu_guess guess;
    uint8_t switches; /* stack switches from the topmost frame to this one */
    bool interrupted; /* a trap interrupted it */
    bool switched;    /* it is on another stack than the frame before it */
    bool replaced;    /* somebody had replaced the return address that led here; pc is the original one */
    /* Neither this frame nor one before it was guessed, and no hook that is not sure ended the trace here. A trace is
     * proven as a whole if its last frame is reliable and the walk returned SFU_END. */
    bool reliable;
};

/* Addresses from low up to high. high 0: not set. */
struct sfu_range {
    uint64_t low, high;
};

/* A stack, which grows down from high to low. BYTES are its memory: the live stack, a copy of it or a dump. NULL: it is
 * read by the target's callback. high 0: not set, nothing can be read. */
struct sfu_stack {
    const void *bytes;
    uint64_t low, high;
};

/* One recovery rule, in the two words of a flexible row (specification 3.2). Default rows (3.1) are turned into these:
 *   base  = control & 1 ? register[control >> 3] : CFA
 *   value = control & 2 ? *(base + offset) : base + offset
 * "Register + 0" is the rule of a value that is still in that register. Registers have their DWARF numbers. amd64 has
 * no RA register: 255 stands for it. On s390x offset is in bytes, too: CFA = base + 8 * word + 160 (3.1.3) is done. */
struct sfu_rule {
    int32_t offset;
    uint32_t control;
};

/* What a row says. */
enum sfu_row_kind {
    SFU_ROW_RULES = 0,     /* the rules hold */
    SFU_ROW_OUTERMOST = 1, /* the RA is undefined: there is no caller */
    SFU_ROW_ASK = 2        /* a trap frame that the table cannot describe: ask the trap hook */
};

/* What the table says of the PCs with pc - start < length. (It has no high: a row may reach the end of the address
 * space.) It is a value: it may be copied, kept, and applied any number of times. The caller's registers (3):
 *   CFA = cfa rule;  pc = ra rule;  fp = fp rule;  sp = CFA (s390x: CFA - 160) */
struct sfu_row {
    uint64_t start;
    uint64_t function; /* start of the function */
    struct sfu_rule cfa, ra, fp;
    uint32_t length;
    uint8_t abi;     /* enum sfu_abi */
    uint8_t kind;    /* enum sfu_row_kind */
    bool trap_frame; /* its function is a trap frame: the caller is interrupted, its PC exact */
    bool signed_ra;  /* aarch64: the RA carries a PAC */
};

/* Reads LEN bytes at ADDR of the unwound program into BUFFER: 8 of a stack, 1 to 28 of a section. ADDR may be any
 * address, aligned or not; ADDR + LEN does not wrap. It must not fault. Returns 0, or anything else if not all bytes
 * can be read. */
typedef int (*sfu_read_fn)(void *ctx, uint64_t addr, void *buffer, size_t len);

/* Sets *VALUE to register REG (DWARF number) of FRAME, whose PC is exact. In the topmost frame (depth 0) it is what the
 * walk began with. In an interrupted frame it is what the trap has saved (frame->saved): sfu_read_word. On s390x 16 to
 * 31 are floating-point registers. Returns 0, or anything else if it is not known. */
typedef int (*sfu_reg_fn)(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *value);

/* The frame behind a trap, as a trap hook says. Before the hook is asked: registers 0, pc_kind SFU_PC_EXACT, saved SP
 * of the trap frame, guess SFU_GUESS_NONE. */
struct sfu_interrupted {
    struct sfu_registers regs; /* pc_kind SFU_PC_RETURN if a call left that frame: a coroutine, a switch */
    uint64_t saved;            /* becomes frame.saved */
    enum sfu_guess guess; /* SFU_GUESS_HOOK: not sure. That frame, or the end, and all behind it are not reliable */
};

/* The trap hook. It is asked about FRAME for one of two reasons: no FDE describes it (CODE is SFU_E_NO_FDE or
 * SFU_E_NOT_CODE), or it is a trap frame without rows (SFU_E_TRAP). The step returns what the hook returns:
 *   SFU_OK        FRAME is a trap frame. *INTERRUPTED is filled in.
 *   SFU_END       nothing lies beyond it: for instance, it was entered from user mode.
 *   CODE          the hook does not know FRAME.
 *   another error */
typedef int (*sfu_trap_hook_fn)(void *ctx, const struct sfu_frame *frame, int code,
                                struct sfu_interrupted *interrupted);

/* Finds the stack that ADDR lies on, which is an SP or the address of a word, and fills in all of *STACK. An SP may be
 * equal to high: the stack is empty. Where two stacks touch, that address belongs to the upper one. An SP may lie below
 * low: the stack has overflown, and is the answer all the same. Stacks do not overlap. Returns false if ADDR lies on
 * none. */
typedef bool (*sfu_find_stack_fn)(void *ctx, uint64_t addr, struct sfu_stack *stack);

/* Puts back a return address that somebody has replaced: a function tracer, a return probe. *RA is what a row or a
 * guess gives for FRAME, without its PAC. It lies at SLOT of the stack, or in a register if SLOT is 0. Returns true if
 * it was replaced, and sets *RA to the original one. Returns false if not, and leaves *RA alone. It is not asked about
 * the PC of an interrupted frame. It may be asked again about the same frame, also when the step has failed. */
typedef bool (*sfu_original_ra_fn)(void *ctx, const struct sfu_frame *frame, uint64_t slot, uint64_t *ra);

/* One .sframe section. sfu_open fills it in. Callers may read it, and may set text. It refers to the bytes, which must
 * stay where they are. */
struct sfu_section {
    struct sfu_section *next; /* of the list that it was added to */
    const uint8_t *bytes;     /* NULL: read through the callback */
    sfu_read_fn read;
    void *ctx;
    uint64_t addr, size;
    /* The code that it describes. sfu_find_frame does not ask it about another PC. Not set: any PC may be its code. Set
     * it from the linker script or by sfu_find_text, and again when code goes away (text of the boot). */
    struct sfu_range text;
    /* Where its functions are. sfu_add sets it if the table is sorted and mapped. Not set: only a search tells. */
    struct sfu_range code;
    uint32_t fdes, rows, end; /* where the FDEs and the rows begin, and the rows end: offsets from addr */
    uint32_t num_fdes, num_rows;
    struct sfu_rule ra, fp; /* where a row has no rule for them: at the header's fixed offset (2.2), or unchanged */
    enum sfu_abi abi;
    uint8_t version, flags, fde_size;
    bool big; /* byte order of the tables, by the magic number alone */
};

/* The program that is unwound. Zero what is not used. It must outlive the walk. */
struct sfu_target {
    struct sfu_section *sections; /* list: sfu_add(&target.sections, ...) */
    /* Its only stack, which only a trap can leave. That of another machine may be the whole address space. */
    struct sfu_stack stack;
    sfu_find_stack_fn find_stack;   /* where there are several stacks, instead of stack; or NULL */
    sfu_read_fn read;               /* reads stacks whose bytes are NULL; or NULL */
    sfu_reg_fn reg;                 /* or NULL: only SP and FP are known, and the RA that the walk began with */
    sfu_trap_hook_fn trap_hook;     /* or NULL */
    sfu_original_ra_fn original_ra; /* or NULL: nobody replaces return addresses */
    void *ctx;                      /* passed to each of the callbacks */
    /* Where a trace must end: in a frame whose lookup PC lies here. If it ends in another one, by the tables or by the
     * trap hook, the step returns SFU_E_NOT_FINAL. Not set: it may end in any frame. */
    struct sfu_range final;
    /* aarch64: which bits of a signed RA are its PAC, bit 55 excepted. 0: those of a 48-bit address space. */
    uint64_t pac_mask;
    uint32_t max_frames; /* 0: SFU_MAX_FRAMES */
    /* Bytes below SP that a trap leaves alone: 0 in a kernel, 128 in x86_64 user mode. What lies lower may be
     * overwritten where the PC is exact, and is not read. A saved FP is in its register again. So is an RA, but not on
     * amd64, which has no register for it, and not that of a trap frame. */
    uint16_t red_zone;
    uint8_t max_switches; /* 0, or more than SFU_MAX_SWITCHES: SFU_MAX_SWITCHES */
    /* Opt in: where no FDE covers a PC, guess that FP holds a frame record. Not on s390x.
     *   CFA = FP + 16;  RA = *(CFA - 8);  FP = *(CFA - 16) */
    bool frame_pointers;
};
#define SFU_MAX_FRAMES   4096
#define SFU_MAX_SWITCHES 16

/* A walk. Callers may read frame and stack. */
struct sfu_walk {
    const struct sfu_target *target;
    struct sfu_frame frame;
    struct sfu_stack stack;          /* the one that the frame is on; not set: on none that is known */
    uint64_t left[SFU_MAX_SWITCHES]; /* the SP before each of the frame.switches stack switches */
    bool stayed;                     /* the frame before has the same SP */
};

/* Where a check stopped. */
struct sfu_place {
    uint32_t fde; /* index of the FDE; num_fdes if the fault is in none */
    uint32_t row; /* index of the row within it; 0 if the fault is in the FDE itself */
};

/* Adds a .sframe to a list: the section of SIZE bytes at BYTES, of any alignment, whose own address in the unwound
 * program at run time is ADDR. Function starts are relative to it. Linkers that do not know the format join sections
 * instead of merging them, with up to 7 bytes between them. All of them are opened, into SECTIONS, and added to the
 * front of *LIST, which begins as NULL. SECTIONS are in no list, and there are ROOM of them, at least 1. Reads nothing
 * but headers (2.1, 2.2), what follows the tables and, if they are sorted, the first and the last function: each entry
 * is checked when it is used.
 * Returns SFU_OK; SFU_E_CONCATENATED if there are more than ROOM; what sfu_open returns of the first that it refuses;
 * SFU_E_ABI if its ABI is not that of the list. Those in front of that one are in the list all the same: before another
 * try, sfu_remove takes them out. One of the other byte order counts if it can be opened. */
int sfu_add(struct sfu_section **list, struct sfu_section *sections, size_t room, const void *bytes, uint64_t size,
            uint64_t addr);

/* The same for a section that is read by READ(CTX, ADDR + offset, ...), of which no function is read. Returns the same,
 * or SFU_E_SECTION. */
int sfu_add_remote(struct sfu_section **list, struct sfu_section *sections, size_t room, sfu_read_fn read,
                   void *ctx, uint64_t size, uint64_t addr);

/* Takes those of SECTIONS[0] to SECTIONS[ROOM - 1] that are in *LIST out of it. Returns whether there was one. */
bool sfu_remove(struct sfu_section **list, struct sfu_section *sections, size_t room);

/* Opens one section, to check it or to look something up in it: the first of what sfu_add adds. Fills in *SECTION,
 * which is in no list. Reads nothing but the header. Returns SFU_OK, SFU_E_EMPTY (SIZE is 0), SFU_E_MAGIC,
 * SFU_E_VERSION, SFU_E_ABI, SFU_E_FLAGS or SFU_E_BOUNDS. */
int sfu_open(struct sfu_section *section, const void *bytes, uint64_t size, uint64_t addr);

/* The same for a section that is read by READ(CTX, ADDR + offset, ...). Returns the same, or SFU_E_SECTION. */
int sfu_open_remote(struct sfu_section *section, sfu_read_fn read, void *ctx, uint64_t size, uint64_t addr);

/* Checks a whole section: every FDE, every row, the number of rows, what follows the tables and, if it is flagged as
 * sorted, order and overlap. Functions of size 0, which compilers emit, may lie anywhere. Takes time in proportion to
 * the section. On a fault *PLACE, unless PLACE is NULL, becomes its place. Returns SFU_OK, or the first fault:
 * SFU_E_EMPTY (no FDE), SFU_E_BOUNDS, SFU_E_SECTION, SFU_E_FDE, SFU_E_ROW, SFU_E_NO_ROW (an FDE lacks rows, and that
 * means nothing), SFU_E_UNSORTED, SFU_E_OVERLAP, SFU_E_COUNT or SFU_E_CONCATENATED. In a section that passes, no lookup
 * returns SFU_E_BOUNDS, SFU_E_FDE or SFU_E_ROW. */
int sfu_check(const struct sfu_section *section, struct sfu_place *place);

/* Sorts the FDEs in place by start, so that a lookup is a binary search. BYTES are the section's own, writable. Starts
 * become relative to the section, and the header's flags say so. Takes O(n log n), no memory. Nobody may use the
 * section meanwhile. Check it afterwards: of functions that contain each other, a sorted table finds some no more, and
 * sfu_check returns SFU_E_OVERLAP. Returns SFU_OK or SFU_E_READONLY, which leaves the bytes as they were. */
int sfu_sort(struct sfu_section *section, void *bytes);

/* Sets the text of SECTION to what its FDEs describe: from the lowest start to the highest end of a function. Takes
 * time in proportion to the FDEs. Returns SFU_OK, SFU_E_EMPTY (it has only empty functions, or none), SFU_E_FDE (a
 * function reaches the end of the address space) or SFU_E_SECTION. */
int sfu_find_text(struct sfu_section *section);

/* The PC to look up: pc, or pc - 1 for a return address. */
uint64_t sfu_lookup_pc(const struct sfu_registers *regs);

/* Finds what SECTION says of PC, a lookup PC, and fills in *ROW. Searches a sorted table by halves and any other from
 * its end, then the rows of one function. Returns SFU_OK, SFU_E_NO_FDE, SFU_E_NO_ROW, SFU_E_FDE, SFU_E_ROW,
 * SFU_E_BOUNDS or SFU_E_SECTION.
 * A lookup reads no more than it needs. So damage costs these PCs, and no others:
 *   the attributes of a function, or where its rows are   those of the function (SFU_E_FDE, SFU_E_BOUNDS)
 *   words that a row of its type cannot have              those of the row (SFU_E_ROW)
 *   words of no valid size                                those of the row and all behind, in the function (SFU_E_ROW)
 *   a row that does not start above the one before it,    those of the one before it and all behind, in the function:
 *   or starts outside of the tables                       its end is not known (SFU_E_ROW, SFU_E_BOUNDS)
 *   the start of a function                               its own; in a sorted table also what is no longer found,
 *                                                         which may be all if it is the first or the last
 * Damage that makes sense is not seen: a wrong start that is still in order moves the border of two rows. */
int sfu_find(const struct sfu_section *section, uint64_t pc, struct sfu_row *row);

/* Finds what the sections of TARGET say of FRAME. Asks each section whose text has its lookup PC, from the front of the
 * list, until one has a row. Fills in *ROW; row->function is where the frame's function starts.
 * Returns SFU_OK; SFU_E_NO_SECTION if TARGET has none; SFU_E_NOT_CODE if no section's text has the PC; otherwise the
 * first error of sfu_find that is not SFU_E_NO_FDE, or SFU_E_NO_FDE. */
int sfu_find_frame(const struct sfu_target *target, const struct sfu_frame *frame, struct sfu_row *row);

/* Begins a walk. walk->frame is at once the topmost frame, with the registers TOP, also if no table knows its PC, and
 * if its SP lies on no stack. */
void sfu_walk_start(struct sfu_walk *walk, const struct sfu_target *target, const struct sfu_registers *top);

/* Moves WALK to the caller by ROW. Reads at most three words of stacks. Uses the target's stacks, limits and callbacks,
 * but not its trap hook, its sections and its final frame. Anything but SFU_OK leaves WALK as it is.
 * Returns SFU_OK, SFU_END (ROW is SFU_ROW_OUTERMOST), SFU_E_TRAP (ROW is SFU_ROW_ASK), SFU_E_STACK, SFU_E_ADDRESS,
 * SFU_E_UNSAFE, SFU_E_REGISTER, SFU_E_DEAD_SLOT, SFU_E_NO_RA, SFU_E_PROGRESS, SFU_E_SWITCHES or SFU_E_DEPTH. */
int sfu_apply(struct sfu_walk *walk, const struct sfu_row *row);

/* Moves WALK to the caller. Returns what sfu_find_frame, sfu_apply or the trap hook returned, or SFU_E_NOT_FINAL.
 * Anything but SFU_OK leaves WALK as it is, and comes again if asked again; but a trap hook that ends the trace and is
 * not sure makes the frame unreliable.
 * Every walk ends: frames and stack switches are counted, and SP grows on each stack. A leaf function may have its
 * caller's SP, and so may a trap frame, but not twice in a row. SP that grows up to the high end of its stack stays on
 * it. Any other SP is a switch: to the stack that find_stack names, also one that the walk has been on, but only above
 * each SP where it left that. Without find_stack there is one stack, and a trap may go down on it, which counts as a
 * switch. A trap may also lead to an SP on no stack: that frame is given, and what needs that stack is SFU_E_STACK.
 * A wild call: an exact PC is not code (SFU_E_NOT_CODE), and the trap hook does not know the frame. Then its caller is
 * guessed to be where a call leaves it (SFU_GUESS_CALL): the RA is the word at SP (amd64) or the link register; all
 * else is unchanged. This is done only if that RA is in the text of a section. It comes before frame_pointers. */
int sfu_walk_step(struct sfu_walk *walk);

/* Reads the word (8 bytes) at ADDR of a stack of TARGET, big-endian if BIG: for callbacks that need what a trap has
 * saved. Returns SFU_OK or SFU_E_STACK. */
int sfu_read_word(const struct sfu_target *target, uint64_t addr, bool big, uint64_t *value);

/* Explains CODE: static text, never NULL; "unknown code" for any other number. */
const char *sfu_string(int code);

#ifdef __cplusplus
}
#endif

#endif
