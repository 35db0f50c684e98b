/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * sfu: a freestanding SFrame stack unwinder. A panic that prints a trace, with the two files that `make dist` makes:
 *
 *     #include "sfu.h"
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
 * Conventions. Every address and register is a uint64_t of the unwound program, which may be this program or another
 * one, of any supported ABI and byte order. Sizes and offsets are in bytes. No pointer may be NULL unless its comment
 * says so. sfu keeps no state outside the structures given to it, allocates nothing and takes no lock: calls on
 * different structures may run at the same time. A function changes its outputs only when it succeeds. "Specification"
 * is "The SFrame format", version 3; its sections are named where a layout or a rule comes from.
 */
#ifndef SFU_H
#define SFU_H

/* A kernel that has no <stdint.h> names a header of its own: -DSFU_TYPES='"types.h"'. That has bool, NULL, offsetof,
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

#define SFU_VERSION 200 /* major * 10000 + minor * 100 + patch */

/* Build-time switches, the same for every file of one program. Each leaves out what a program does not need:
 *   SFU_OLDEST_VERSION  oldest version of the format that is read: 1 (default), 2 or 3.
 *   SFU_ABI             the only ABI that is read, for instance -DSFU_ABI=SFU_AMD64. Sections in another byte order
 *                       than that ABI's are refused, too.
 *   SFU_NO_REMOTE       defined: sections are read through a pointer only; sfu_open_remote always fails.
 *   SFU_NO_STRINGS      defined: sfu_string returns "" for every code. */

#ifdef SFU_PREFIX
/* This switch leaves nothing out: with -DSFU_PREFIX=mine_ the linker sees mine_open instead of sfu_open, and so on for
 * every function, so that two copies link into one program. Sources still say sfu_open. Types keep their names. */
#define SFU_NAME_JOIN(prefix, name) prefix##name
#define SFU_NAME_OF(prefix, name)   SFU_NAME_JOIN(prefix, name)
#define SFU_NAME(name)              SFU_NAME_OF(SFU_PREFIX, name)
#define sfu_open                    SFU_NAME(open)
#define sfu_open_remote             SFU_NAME(open_remote)
#define sfu_open_next               SFU_NAME(open_next)
#define sfu_check                   SFU_NAME(check)
#define sfu_sort                    SFU_NAME(sort)
#define sfu_find_text               SFU_NAME(find_text)
#define sfu_add                     SFU_NAME(add)
#define sfu_remove                  SFU_NAME(remove)
#define sfu_lookup_pc               SFU_NAME(lookup_pc)
#define sfu_find                    SFU_NAME(find)
#define sfu_find_frame              SFU_NAME(find_frame)
#define sfu_apply                   SFU_NAME(apply)
#define sfu_walk_start              SFU_NAME(walk_start)
#define sfu_walk_step               SFU_NAME(walk_step)
#define sfu_string                  SFU_NAME(string)
#endif

/* What a function returns: SFU_OK, the proper end, or a negative error. */
/* clang-format off */
enum sfu_code {
    SFU_OK = 0,            /* done; of a step: the walk has moved to the caller's frame */
    SFU_END = 1,           /* the table marks this frame as the outermost one: the trace is complete */
    /* the section as a whole */
    SFU_E_EMPTY = -1,      /* no section, a section of size 0, or one that describes no function */
    SFU_E_MAGIC = -2,      /* it does not begin with the magic number, in either byte order */
    SFU_E_VERSION = -3,    /* a version that is not supported, or not built in */
    SFU_E_ABI = -4,        /* an ABI that this version lacks, that is not built in, or not that of the other sections */
    SFU_E_FLAGS = -5,      /* flags that are not defined in this version */
    SFU_E_BOUNDS = -6,     /* the header or an entry points outside of the section, the section wraps around the end of
                              the address space, or its tables are 2 GiB or longer */
    SFU_E_SECTION = -7,    /* the callback could not read the section */
    SFU_E_CONCATENATED = -8, /* a second header follows the tables: sfu_open_next */
    SFU_E_UNSORTED = -9,   /* flagged as sorted, but this FDE starts below the one before it */
    SFU_E_OVERLAP = -10,   /* flagged as sorted, but this FDE starts inside the one before it */
    SFU_E_COUNT = -11,     /* the functions have another number of rows than the header says */
    SFU_E_READONLY = -12,  /* the bytes to be sorted are not those of the section, or a start does not fit its field */
    /* one function */
    SFU_E_NO_FDE = -13,    /* no section describes this PC */
    SFU_E_NO_ROW = -14,    /* its function is described, but has no row for this PC */
    SFU_E_FDE = -15,       /* its FDE is corrupt: an unknown type, a repeat size of 0, more rows than there is room for,
                              a function that reaches the end of the address space (sfu_check) */
    SFU_E_ROW = -16,       /* one of its rows is corrupt: not ascending, words that its FDE type cannot have, or a start
                              behind the end of the function (sfu_check) */
    /* one step */
    SFU_E_STACK = -17,     /* the callback could not read the stack */
    SFU_E_ADDRESS = -18,   /* a rule's base + offset leaves the address space */
    SFU_E_UNSAFE = -19,    /* a rule needs a register that is known only in a topmost or interrupted frame */
    SFU_E_REGISTER = -20,  /* a rule needs a register that the caller could not supply */
    SFU_E_NO_RA = -21,     /* the row leaves the RA in its register, but this frame has made a call since */
    SFU_E_PROGRESS = -22,  /* SP would not grow, on the same stack or on one that the walk has been on before */
    SFU_E_SWITCHES = -23,  /* more stack switches than the limit */
    SFU_E_DEPTH = -24,     /* more frames than the limit */
    SFU_E_TRAP = -25,    /* a signal frame without rows, and no trap hook that knows it */
    SFU_E_NOT_CODE = -26,  /* this PC lies outside of the text of all sections: it is not code */
    SFU_E_NOT_FINAL = -27  /* the trace has ended, but not in the final frame that the target names */
};
/* clang-format on */

/* SFrame ABI/arch identifiers (specification 2.2.1). */
enum sfu_abi { SFU_AARCH64_BIG = 1, SFU_AARCH64 = 2, SFU_AMD64 = 3, SFU_S390X = 4 };

/* The PC of a frame. A caller's PC can lie one past the end of its function, after a call that never returns, so
 * an SFU_PC_RETURN is looked up as pc - 1 (sfu_lookup_pc); it is reported as it is. */
enum sfu_pc_kind {
    SFU_PC_EXACT = 0, /* the next instruction to run: topmost or interrupted */
    SFU_PC_RETURN = 1 /* a return address */
};

/* What a walk begins with, what a trap hook fills in and what a frame carries. */
struct sfu_registers {
    uint64_t pc; /* raw, except that a signed RA (aarch64) has been stripped */
    uint64_t sp, fp;
    uint64_t ra;     /* the link register (aarch64, s390x); meaningful if has_ra */
    bool has_ra;     /* ra is known. It counts where pc_kind is SFU_PC_EXACT: a call changes it */
    uint8_t pc_kind; /* enum sfu_pc_kind */
};

/* How a frame was reached. */
enum sfu_guess {
    SFU_GUESS_NONE = 0,   /* by the tables, or by a trap hook that was sure */
    SFU_GUESS_RECORD = 1, /* by a frame record: the target's frame_pointers */
    SFU_GUESS_HOOK = 2,   /* by a trap hook that was not sure */
    SFU_GUESS_CALL = 3    /* by a call through a wild pointer: sfu_walk_step */
};

struct sfu_frame { /* one frame of a walk */
    struct sfu_registers regs;
    uint64_t trap;    /* SP in the trap or signal frame that interrupted this one: its saved registers are there;
                         0 in other frames */
    uint32_t depth;   /* 0 for the first frame of a walk */
    uint8_t switches; /* how many stack switches lie between here and the first frame */
    bool switched;    /* on another stack than the frame before it */
    uint8_t guessed;  /* enum sfu_guess */
    bool replaced;    /* somebody had replaced the return address that led here: pc is the original one */
    bool reliable; /* neither this frame nor one before it was guessed. A trace is proven as a whole when its last
                         frame is reliable and the walk returned SFU_END */
};

/* One recovery rule, in the two words of a flexible row (specification 3.2). Default rows (3.1) are turned into these:
 *   base  = control & 1 ? register[control >> 3] : CFA
 *   value = control & 2 ? *(base + offset) : base + offset
 * A value that was not saved has the rule "its register + 0". Registers have their DWARF numbers; 255 is the RA's on
 * amd64, which has none. s390x's scaling (3.1.3: CFA = base + 8 * word + 160) is done: offset is in bytes. */
struct sfu_rule {
    int32_t offset;
    uint32_t control;
};

/* What a row says. */
enum sfu_row_kind {
    SFU_ROW_RULES = 0,     /* the rules hold */
    SFU_ROW_OUTERMOST = 1, /* the RA is undefined: there is no caller */
    SFU_ROW_ASK = 2        /* a signal frame that the table cannot describe: ask the trap hook */
};

/* What the table says of a range of PCs. A value: copy it, keep it, apply it as often as wanted. It holds for the
 * PCs with pc - start < length. Caller's registers (specification 3):
 *   CFA = cfa rule;  pc = ra rule;  fp = fp rule;  sp = CFA (s390x: CFA - 160) */
struct sfu_row {
    uint64_t start;
    uint64_t function; /* start of the function */
    struct sfu_rule cfa, ra, fp;
    uint32_t length;
    uint8_t abi;     /* enum sfu_abi */
    uint8_t kind;    /* enum sfu_row_kind */
    bool trap_frame; /* the caller was interrupted: its PC will be exact */
    bool signed_ra;  /* aarch64: the RA carries a PAC */
};

/* Reads LEN bytes at ADDR of the unwound program into BUFFER: 8 of a stack, 1 to 28 of a section. Returns 0, or
 * anything else if not all of them can be read; it must survive every address, aligned or not. ADDR + LEN does not
 * wrap. */
typedef int (*sfu_read_fn)(void *ctx, uint64_t addr, void *buffer, size_t len);

/* Gives the value that register REG (DWARF number) has in FRAME, whose PC is exact: the registers that the walk
 * began with (frame->trap == 0 and depth 0) or those saved by the trap that interrupted it. On s390x numbers 16 to
 * 31 are floating-point registers. Returns 0, or anything else if it does not know. */
typedef int (*sfu_reg_fn)(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *value);

/* What a trap hook says of the frame behind a trap. Before the hook: registers 0, pc_kind SFU_PC_EXACT, trap FRAME's
 * SP, guessed false. */
struct sfu_interrupted {
    struct sfu_registers regs; /* pc_kind SFU_PC_RETURN if that frame was left by a call: a coroutine, a switch */
    uint64_t trap;             /* where the registers were saved: handed on in the frame */
    bool guessed;              /* the hook is not sure: the frame and all behind it are not reliable */
};

/* Asked about a FRAME that no FDE describes (CODE is SFU_E_NO_FDE or SFU_E_NOT_CODE) or whose FDE is a signal frame
 * without rows (SFU_E_TRAP). If that is a trap or signal frame that it knows, it fills in *TRAPPED and returns
 * SFU_OK. It returns SFU_END if it knows that nothing lies beyond (entry from user mode), CODE if it does not know the
 * frame, or an error. The step returns that value. */
typedef int (*sfu_trap_fn)(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted);

/* Tells stacks apart: any number that is the same for two SPs exactly if they lie on the same stack. */
typedef uint64_t (*sfu_stack_fn)(void *ctx, uint64_t sp);

/* Gives the return address that somebody has replaced: a function tracer, a return probe. Asked about each *RA that a
 * row or a guess gives for FRAME, without its PAC, but not about the PC that a trap has saved. SLOT is where it was on
 * the stack; 0: in a register. Returns true if *RA was replaced, and is the original one now; otherwise it is
 * unchanged. It may be asked again about the same frame, and of a step that fails then. */
typedef bool (*sfu_ra_fn)(void *ctx, const struct sfu_frame *frame, uint64_t slot, uint64_t *ra);

/* One .sframe section, filled in by sfu_open; callers read it, and write nothing but text_first and text_last. It
 * refers to the bytes, which must stay where they are. */
struct sfu_section {
    struct sfu_section *next; /* of the list that it was added to */
    const uint8_t *bytes;     /* NULL: read through the callback */
    sfu_read_fn read;
    void *ctx;
    uint64_t addr, size;
    /* The first and the last address of the code that it describes. Of a PC outside, it is not asked by sfu_find_frame.
     * sfu_open sets 0 and UINT64_MAX: unknown. Set them from the linker script or by sfu_find_text, and again when code
     * goes away (text of the boot). No code is left: 1 and 0. */
    uint64_t text_first, text_last;
    uint32_t fdes, rows, end; /* offsets of the sub-sections from the start of the section, end of the last */
    uint32_t num_fdes, num_rows;
    struct sfu_rule ra, fp; /* of rows that do not mention them: at the header's fixed offset (2.2), or unchanged */
    uint8_t version, flags, abi, fde_size;
    bool big; /* byte order of the tables, by the magic alone */
};

/* The program that is unwound. Zero what is not used. It must outlive the walk. */
struct sfu_target {
    struct sfu_section *sections; /* list: sfu_add(&target.sections, ...) */
    /* The bytes of the unwound program from window_low up to window_high: its live stack, a copy of it or a dump.
     * They are read without a callback. Both 0: there is no window. */
    const void *window;
    uint64_t window_low, window_high;
    sfu_read_fn read;      /* reads what is not in the window; or NULL */
    sfu_reg_fn reg;        /* or NULL: only SP, FP and the RA of the first frame are known */
    sfu_trap_fn trap;      /* or NULL */
    sfu_stack_fn stack;    /* or NULL: all is one stack, which only a trap can leave */
    sfu_ra_fn original_ra; /* or NULL: nobody replaces return addresses */
    void *ctx;             /* passed to each of the callbacks */
    uint64_t pac_mask;     /* aarch64: which bits of a signed RA are its PAC, bit 55 excepted;
                                     0: those of a 48-bit address space */
    uint32_t max_frames;   /* 0: SFU_MAX_FRAMES */
    uint16_t red_zone;     /* bytes below SP that an interrupted function may still use: 0 in a kernel, 128 in
                                     x86_64 user mode. A slot of FP that lies lower is not read in an exact frame: an
                                     interrupt may have overwritten it, and FP is still in its register */
    uint8_t max_switches;  /* 0, or more than SFU_MAX_SWITCHES: SFU_MAX_SWITCHES */
    bool frame_pointers;   /* opt in: where no FDE covers a PC, guess that FP holds a frame record:
                                     CFA = FP + 16, RA = *(CFA - 8), FP = *(CFA - 16); not on s390x */
    /* Where a trace has to end: the lookup PC of the final frame is from final_first to final_last. A trace that ends
     * in another frame, by the tables or by the trap hook, ends with SFU_E_NOT_FINAL. final_last 0: any frame. */
    uint64_t final_first, final_last;
};
#define SFU_MAX_FRAMES   4096
#define SFU_MAX_SWITCHES 16

/* A walk. Callers read frame. */
struct sfu_walk {
    const struct sfu_target *target;
    struct sfu_frame frame;
    uint64_t left[SFU_MAX_SWITCHES]; /* the SP at each stack switch so far: frame.switches of them */
    bool stayed;                     /* SP is that of the frame before */
};

/* Where a check stopped. */
struct sfu_place {
    uint32_t fde; /* index of the FDE; num_fdes: the fault is not in an FDE */
    uint32_t row; /* index of the row within it; 0 too where the fault is in the FDE itself */
};

/* Opens the SIZE bytes at BYTES, any alignment, which lie at ADDR in the unwound program: the section's own address
 * at run time, to which its function starts are relative. Reads the header (specification 2.1, 2.2) and nothing
 * else: each entry is checked when it is used. Fills in *SECTION, which stays in no list.
 * Returns SFU_OK, SFU_E_EMPTY (SIZE is 0), SFU_E_MAGIC, SFU_E_VERSION, SFU_E_ABI, SFU_E_FLAGS or SFU_E_BOUNDS. */
int sfu_open(struct sfu_section *section, const void *bytes, uint64_t size, uint64_t addr);

/* The same for a section that READ(CTX, ADDR + offset, ...) brings. Returns the same, or SFU_E_SECTION. */
int sfu_open_remote(struct sfu_section *section, sfu_read_fn read, void *ctx, uint64_t size, uint64_t addr);

/* Linkers that do not know the format join sections without merging them: then only the first tables are SECTION, and
 * sfu_check says SFU_E_CONCATENATED. Opens the tables behind those of SECTION, which follow at once or after up to 7
 * bytes of padding, as a section of their own, *NEXT, and makes SECTION end in front of them. SECTION may be in a list,
 * NEXT is in none. To open all of them:
 *     code = sfu_open(&s[0], ...);
 *     for (n = 0; code == SFU_OK && sfu_add(&list, &s[n]) == SFU_OK && ++n < ROOM;)
 *         code = sfu_open_next(&s[n - 1], &s[n]);
 * Returns SFU_OK, SFU_E_EMPTY if there are no more, or what sfu_open or sfu_open_remote returns. */
int sfu_open_next(struct sfu_section *section, struct sfu_section *next);

/* Checks a whole section as no lookup needs to: every FDE and every row, order and overlap where it is flagged as
 * sorted, the number of rows, and what follows the table. Takes time in proportion to the section. On a fault *PLACE,
 * which may be NULL, becomes its place; on SFU_OK it stays as it was. Returns SFU_OK, or the first fault: SFU_E_EMPTY
 * (no FDE), SFU_E_BOUNDS, SFU_E_SECTION, SFU_E_FDE, SFU_E_ROW, SFU_E_NO_ROW (an FDE without rows that does not mean
 * anything), SFU_E_UNSORTED, SFU_E_OVERLAP, SFU_E_COUNT or SFU_E_CONCATENATED. No lookup in a section that passes
 * returns SFU_E_BOUNDS, SFU_E_FDE or SFU_E_ROW. Functions of size 0, which compilers emit, may lie anywhere. */
int sfu_check(const struct sfu_section *section, struct sfu_place *place);

/* Sorts the FDEs in place by start, so that they are found by binary search. BYTES are the section's own, writable.
 * Field-relative starts become section-relative; the header's flags follow. Takes O(n log n), no memory. Nobody may
 * use the section meanwhile. Check it afterwards: functions that contain each other, which only an unsorted table may
 * have, are not all found any more, and sfu_check says so (SFU_E_OVERLAP). Returns SFU_OK or SFU_E_READONLY, which
 * leaves the bytes as they were. */
int sfu_sort(struct sfu_section *section, void *bytes);

/* Sets the text of SECTION to what its FDEs describe: from the lowest start of a function to the highest end. Takes
 * time in proportion to the FDEs. Returns SFU_OK, SFU_E_EMPTY (it has none but empty functions), SFU_E_FDE (a function
 * reaches the end of the address space) or SFU_E_SECTION. */
int sfu_find_text(struct sfu_section *section);

/* Adds SECTION, opened and in no list, to the front of *LIST, which begins as NULL. Returns SFU_OK, or SFU_E_ABI if
 * its ABI is not that of the sections in the list. */
int sfu_add(struct sfu_section **list, struct sfu_section *section);

/* Takes SECTION out of *LIST. Returns SFU_OK, or SFU_E_EMPTY if it was not in the list. */
int sfu_remove(struct sfu_section **list, struct sfu_section *section);

/* The PC to look up: pc, or pc - 1 for a return address. */
uint64_t sfu_lookup_pc(const struct sfu_registers *regs);

/* Finds what SECTION says of PC, which is a lookup PC: binary search in a sorted table, linear in another, then the
 * rows of one function. Fills in *ROW. Returns SFU_OK, SFU_E_NO_FDE, SFU_E_NO_ROW, SFU_E_FDE, SFU_E_ROW,
 * SFU_E_BOUNDS or SFU_E_SECTION.
 * A lookup reads no more than it needs, so that damage costs these PCs, and no others:
 *   the attributes of a function, or where its rows are   those of the function (SFU_E_FDE, SFU_E_BOUNDS)
 *   words that a row of its type cannot have              those of the row (SFU_E_ROW)
 *   words of no valid size                                those of the row and behind, in the function (SFU_E_ROW)
 *   a row that does not start above the one before it,    those of the one before it and behind, in the function: where
 *   or starts outside of the tables                       that one ends is not known (SFU_E_ROW, SFU_E_BOUNDS)
 *   the start of a function                               its own; in a sorted table, also what is not found then
 * Damage that makes sense is not seen: a start that is wrong and still in order moves the border of two rows. */
int sfu_find(const struct sfu_section *section, uint64_t pc, struct sfu_row *row);

/* Finds what the sections of TARGET say of FRAME. Those whose text has its lookup PC are tried, from the front of the
 * list, until one of them has a row. If none has, the first error counts that says more than SFU_E_NO_FDE. Fills in
 * *ROW; row->function is where the frame's function starts. Returns what sfu_find returned, SFU_E_NOT_CODE if no
 * section's text has the PC, or SFU_E_EMPTY if TARGET has no section. */
int sfu_find_frame(const struct sfu_target *target, const struct sfu_frame *frame, struct sfu_row *row);

/* Begins a walk at TOP. The first frame is there at once, also if nothing is known of its PC: walk->frame. */
void sfu_walk_start(struct sfu_walk *walk, const struct sfu_target *target, const struct sfu_registers *top);

/* Moves WALK to the caller by ROW, reading at most three words of the stack. The target's window, its callbacks except
 * trap, and its limits are used, its sections and its final frame are not. Anything but SFU_OK leaves WALK as it is.
 * Returns SFU_OK, SFU_END (ROW is SFU_ROW_OUTERMOST), SFU_E_TRAP (ROW is SFU_ROW_ASK), SFU_E_STACK, SFU_E_ADDRESS,
 * SFU_E_UNSAFE, SFU_E_REGISTER, SFU_E_NO_RA, SFU_E_PROGRESS, SFU_E_SWITCHES or SFU_E_DEPTH. */
int sfu_apply(struct sfu_walk *walk, const struct sfu_row *row);

/* Moves the walk to the caller: walk->frame. Anything but SFU_OK leaves walk as it is, and comes again if asked again.
 * Returns SFU_OK, SFU_END, what sfu_find_frame or sfu_apply returned, what the trap hook returned, or SFU_E_NOT_FINAL.
 * Every walk ends: frames and stack switches are counted. On each stack SP grows. With the target's stack callback that
 * is so, too, where the walk comes back to a stack: it goes on above where it left it.
 * A frame that is exact and whose PC is not code (SFU_E_NOT_CODE) may have been called through a wild pointer. If the
 * trap hook does not know it, its caller is where a call leaves it: the return address is the word at SP (amd64) or in
 * the link register, and all else is unchanged. This is a guess (SFU_GUESS_CALL), made only if that return address is
 * in the text of a section; it comes before frame_pointers. */
int sfu_walk_step(struct sfu_walk *walk);

/* A sentence for CODE, static, never NULL; "unknown code" for a number that is none of ours. */
const char *sfu_string(int code);

#ifdef __cplusplus
}
#endif

#endif
