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
 * The panic printer makes the same walk and prints each frame. `make dist` combines the printer, this file and the
 * register capture into sfu_panic.h and sfu_panic.c:
 *
 *     #include "sfu_panic.h"
 *     extern const uint8_t sframe_start[], sframe_end[], stack_low[], stack_high[];
 *     void console_putc(char c);
 *     static void put(void *ctx, char c) { (void)ctx; console_putc(c); }
 *     static struct sfu_panic printer;
 *     void kernel_init(void) {
 *         printer.put = put;
 *         sfu_panic_init(&printer, sframe_start, sframe_end, stack_low, stack_high);
 *     }
 *     void kernel_panic(void) {
 *         struct sfu_registers here = sfu_registers_here();
 *         sfu_panic_print(&printer, &here);
 *     }
 *
 * Conventions
 *   sfu can unwind the program that it is part of, or another one, of any supported ABI and byte order. Addresses and
 *   register values are those of the unwound program, as sfu_addr. Sizes and offsets are in bytes. Ranges are
 *   half-open: low <= x < high. A member that is 0 or NULL is unset; its comment gives the default. A parameter that is
 *   a pointer must not be NULL, unless the function's comment allows that. A function that fails leaves its outputs
 *   unchanged, except where its comment says otherwise. sfu keeps no state outside of the structures given to it,
 *   allocates nothing and takes no lock. Calls on different structures may run at the same time. SECURITY.md lists what
 *   the caller must guarantee. "Specification" is "The SFrame format", version 3:
 *   https://sourceware.org/binutils/docs/sframe-spec.html. Numbers in parentheses are its sections.
 *
 * Words (docs/glossary.md has more)
 *   PC, SP, FP         program counter, stack pointer, frame pointer
 *   section            the bytes of one .sframe; its tables are its FDEs and their rows
 *   FDE                function descriptor entry: describes one function (2.3)
 *   FRE, row           frame row entry: how to find the caller; holds from its instruction up to the next row's (2.4)
 *   rule               the equation for one value of the caller: CFA, RA or FP (3)
 *   CFA                canonical frame address: the caller's SP at the call (s390x: that SP + 160)
 *   RA                 return address; the link register is the register that holds the RA after a call
 *   PAC                pointer authentication code: a signature in the upper bits of an RA (aarch64)
 *   frame              a function that was called and has not returned, with its registers
 *   walk               all steps from the topmost frame to the outermost one
 *   step               goes from one frame to its caller
 *   trap               an exception, an interrupt or a signal: stops a program between two instructions
 *   trap frame         the frame of the trap's own entry or handler (specification: signal frame)
 *   interrupted frame  the caller of a trap frame
 *   exact PC           the next instruction to run, as in the topmost frame and in interrupted frames
 *   lookup PC          an exact PC, or a return address minus 1 (enum sfu_pc_kind says why)
 */
#ifndef SFU_H
#define SFU_H

/* A kernel without <stdint.h> names a header of its own: -DSFU_TYPES='"types.h"'. It must define bool, NULL, offsetof,
 * size_t, uintptr_t and the types from int8_t to uint64_t. */
#ifdef SFU_TYPES
#include SFU_TYPES
#ifndef UINT64_MAX
#define UINT64_MAX 0xffffffffffffffffu
#define UINT32_MAX 0xffffffffu
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

/* Build-time switches. All files of a program must have the same ones. Each switch leaves something out:
 *   SFU_OLDEST_VERSION  oldest version of the format that is read: 1, 2 or 3. Defaults to 1, or to 3 where SFU_ABI is
 *                       an ABI that the specification does not have: there are no older tables of it.
 *   SFU_ABI             the only ABI that is read, in its own byte order: -DSFU_ABI=SFU_AMD64, for instance.
 *                       Give it a name out of enum sfu_abi: sfu_addr depends on it.
 *   SFU_NO_REMOTE       defined: sections are read through a pointer only; sfu_open_remote always fails.
 *   SFU_NO_STRINGS      defined: sfu_string returns "" for every code. */

/* An address of the unwound program, a number of its bytes, or the value of one of its registers. It has 64 bits, or 32
 * if SFU_ABI is SFU_RISCV32, SFU_ARM, SFU_THUMB or SFU_I386. */
#define SFU_AARCH64_BIG_ADDR_BITS 64
#define SFU_AARCH64_ADDR_BITS     64
#define SFU_AMD64_ADDR_BITS       64
#define SFU_S390X_ADDR_BITS       64
#define SFU_RISCV64_ADDR_BITS     64
#define SFU_RISCV32_ADDR_BITS     32
#define SFU_ARM_ADDR_BITS         32
#define SFU_THUMB_ADDR_BITS       32
#define SFU_I386_ADDR_BITS        32
#define SFU_ADDR_BITS_(abi)       abi##_ADDR_BITS
#define SFU_ADDR_BITS_OF(abi)     SFU_ADDR_BITS_(abi)
#ifdef SFU_ABI
#define SFU_ADDR_BITS SFU_ADDR_BITS_OF(SFU_ABI)
#else
#define SFU_ADDR_BITS 64
#endif
#if SFU_ADDR_BITS == 32
typedef uint32_t sfu_addr;
#define SFU_ADDR_MAX UINT32_MAX
#else
typedef uint64_t sfu_addr;
#define SFU_ADDR_MAX UINT64_MAX
#endif

/* What a function returns: SFU_OK, SFU_END or a negative error. */
enum sfu_code {
    SFU_OK = 0,  /* done; of a step: the walk has moved to the caller */
    SFU_END = 1, /* the table marks this frame as the outermost: the trace is complete */

    /* The section as a whole. */
    SFU_E_EMPTY = -1,   /* its size is 0, or it describes no function */
    SFU_E_MAGIC = -2,   /* it does not begin with a magic number that is built in, in either byte order */
    SFU_E_VERSION = -3, /* its version is not supported, or not built in */
    SFU_E_ABI = -4,     /* unknown ABI for this version, ABI not built in (SFU_ABI), or different from the sections
                         * already in the list; of a row: no ABI has this number */
    SFU_E_FLAGS = -5,   /* its version has no such flags */
    SFU_E_BOUNDS = -6,  /* an offset points outside of the section, the section extends past the end of the address
                         * space, or its tables are 2 GiB or more */
    SFU_E_SECTION = -7, /* the callback could not read the section */
    SFU_E_CONCATENATED = -8, /* another section follows the tables, and there is no room for it */
    SFU_E_UNSORTED = -9,     /* flagged as sorted, but this FDE starts below the one before it */
    SFU_E_OVERLAP = -10,     /* flagged as sorted, but this FDE starts inside the one before it */
    SFU_E_COUNT = -11,       /* the functions' row count differs from the header's */
    SFU_E_READONLY = -12,    /* sfu_sort: BYTES are not the section's own, or a start does not fit its field */
    SFU_E_NO_SECTION = -28,  /* the target has no section */

    /* One function. An FDE is corrupt if its type is unknown, its repeat size is 0, or there is no room for its rows. A
     * row is corrupt if it does not start above the row before it, or has words that the FDE's type cannot have. */
    SFU_E_NO_FDE = -13, /* no section describes this PC */
    SFU_E_NO_ROW = -14, /* its function is described, but has no row for this PC */
    SFU_E_FDE = -15,    /* its FDE is corrupt; for a check also: it reaches the end of the address space */
    SFU_E_ROW = -16,    /* its row is corrupt; for a check also: it starts after the end of the function */

    /* One step. */
    SFU_E_STACK = -17, /* SP, or what a rule reads, lies on no stack, could not be read or may be dead (red_zone) */
    SFU_E_ADDRESS = -18,   /* base + offset of a rule leaves the address space: 64 or 32 bits */
    SFU_E_UNSAFE = -19,    /* a rule needs a register that is known only where the PC is exact */
    SFU_E_REGISTER = -20,  /* a rule needs a register that the reg callback does not know */
    SFU_E_NO_RA = -21,     /* the row leaves the RA in its register, but this frame has made a call since */
    SFU_E_PROGRESS = -22,  /* SP would not move up, on this stack or on one visited before: a loop */
    SFU_E_SWITCHES = -23,  /* more stack switches than the limit */
    SFU_E_DEPTH = -24,     /* more frames than the limit */
    SFU_E_TRAP = -25,      /* a trap frame without rows, and no trap hook that knows it */
    SFU_E_NOT_CODE = -26,  /* this PC lies outside of the text of all sections */
    SFU_E_NOT_FINAL = -27, /* the trace ends, but not in the final frame that the target names */
    SFU_E_DEAD_SLOT = -29  /* a rule needs a value from below SP (sfu_target.red_zone), and no register has it */
};

/* ABI/arch identifiers: those of SFrame (specification 2.2.1), and from 0x81 on those of ABIs that it does not have.
 * The tables of these are not SFrame: docs/format.md. They begin with another magic number, and have the layout of
 * version 3. A word, the size of a saved register, has 8 bytes; for SFU_RISCV32 and those behind it it has 4. */
enum sfu_abi {
    SFU_AARCH64_BIG = 1,
    SFU_AARCH64 = 2,
    SFU_AMD64 = 3,
    SFU_S390X = 4,
    SFU_RISCV64 = 0x81,
    SFU_RISCV32 = 0x82,
    SFU_ARM = 0x83,   /* 32-bit ARM, little-endian; the FP is r11, as in code of the A32 instruction set */
    SFU_THUMB = 0x84, /* the same, but the FP is r7, as in code of T32 (Thumb): all Cortex-M */
    SFU_I386 = 0x85   /* 32-bit x86 */
};

/* What the PC of a frame is. A return address may lie one past the end of its function: the call in front of it never
 * returns. So a return address is looked up as pc - 1 (sfu_lookup_pc), and reported as pc. */
enum sfu_pc_kind {
    SFU_PC_EXACT = 0, /* the next instruction to run */
    SFU_PC_RETURN = 1 /* a return address */
};

/* The registers of a frame: a walk begins with them, and a trap hook fills them in. */
struct sfu_registers {
    sfu_addr pc; /* without its PAC, if it was a signed RA (aarch64). ARM: a walk clears its bit 0 */
    sfu_addr sp, fp;
    sfu_addr ra; /* the link register (all but amd64 and i386) */
    enum sfu_pc_kind pc_kind;
    bool has_ra; /* ra is known. It is used only where the PC is exact, because a call changes it */
};

/* How a frame was guessed. */
enum sfu_guess {
    SFU_GUESS_NONE = 0,   /* not guessed: from the tables, from a trap hook that is sure, or by sfu_walk_to */
    SFU_GUESS_RECORD = 1, /* found by a frame record, because target.frame_pointers is set */
    SFU_GUESS_HOOK = 2,   /* found by a trap hook that is not sure */
    SFU_GUESS_CALL = 3    /* taken for the caller through a bad pointer: sfu_walk_step */
};

/* One frame of a walk. */
struct sfu_frame {
    struct sfu_registers regs;
    sfu_addr saved; /* of an interrupted frame: the trap frame's SP, or what the trap hook says; else 0 */
    uint32_t depth; /* 0 for the topmost frame */
    enum sfu_guess guess;
    uint8_t switches; /* stack switches from the topmost frame to this one */
    bool interrupted; /* a trap interrupted it */
    bool switched;    /* it is on another stack than the frame before it */
    bool replaced;    /* a tracer had replaced the return address that led here; pc is the original one */
    /* True while no frame so far was guessed. Also false in the last frame if a trap hook that was not sure ended the
     * trace. The whole trace is proven if its last frame is reliable and the walk returned SFU_END. */
    bool reliable;
};

/* The addresses low <= x < high. high 0: unset. */
struct sfu_range {
    sfu_addr low, high;
};

/* A stack, which grows down from high to low. BYTES are its memory: the live stack, a copy or a dump. NULL: the read
 * callback of the target reads it. high 0: unset, and nothing can be read. */
struct sfu_stack {
    const void *bytes;
    sfu_addr low, high;
};

/* One recovery rule, in the two words of a flexible row (specification 3.2). Default rows (3.1) become such rules:
 *   base  = control & 1 ? register[control >> 3] : CFA
 *   value = control & 2 ? *(base + offset) : base + offset
 * A value that is still in a register has the rule "that register + 0". Registers have their DWARF numbers; a row may
 * name any number up to 2^29 - 1. amd64 has no RA register: 255 stands for it. OFFSET is in bytes. (s390x: CFA = base +
 * 8 * word + 160, 3.1.3) */
struct sfu_rule {
    int32_t offset;
    uint32_t control;
};

/* What a row says about the caller. */
enum sfu_row_kind {
    SFU_ROW_RULES = 0,     /* the rules hold */
    SFU_ROW_OUTERMOST = 1, /* the RA is undefined: there is no caller */
    SFU_ROW_ASK = 2        /* a trap frame that the table cannot describe: ask the trap hook */
};

/* A row: what the table says of the PCs with pc - start < length. (A row has no high, because it may reach the end of
 * the address space.) A row may be copied, kept, and applied any number of times. The caller's registers (3):
 *   CFA = cfa rule;  pc = ra rule;  fp = fp rule;  sp = CFA (s390x: CFA - 160) */
struct sfu_row {
    sfu_addr start;
    sfu_addr function; /* start of the function */
    struct sfu_rule cfa, ra, fp;
    uint32_t length;
    uint8_t abi;     /* enum sfu_abi; with SFU_ABI it is not looked at */
    uint8_t kind;    /* enum sfu_row_kind */
    bool trap_frame; /* its function is a trap frame: the caller is interrupted, and has an exact PC */
    bool signed_ra;  /* aarch64: the RA carries a PAC */
};

/* Reads LEN bytes at ADDR of the unwound program into BUFFER: a word of a stack, 1 to 28 bytes of a section (or a part
 * of a stack, if you call sfu_fast_trace_remote). ADDR may be any address, aligned or not. ADDR + LEN does not wrap.
 * The callback must not fault. Returns 0 if all bytes were read. */
typedef int (*sfu_read_fn)(void *ctx, sfu_addr addr, void *buffer, size_t len);

/* Sets *VALUE to register REG (DWARF number) of FRAME, whose PC is exact. In the topmost frame (depth 0) that is the
 * value at the start of the walk, in an interrupted frame the value that the trap has saved (frame->saved,
 * sfu_read_word). REG may be any number up to 2^29 - 1, because it comes out of a row, and a corrupt or hostile row
 * may name any: compare REG with the number of registers that you have before you use it as an index. REG 16 to 31 of
 * s390x are floating-point registers. Returns 0, or anything else if the register is not known. */
typedef int (*sfu_reg_fn)(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value);

/* The frame that a trap interrupted, as a trap hook says. Before sfu asks the hook, it sets the registers to 0, pc_kind
 * to SFU_PC_EXACT, saved to the SP of the trap frame, and guess to SFU_GUESS_NONE. */
struct sfu_interrupted {
    struct sfu_registers
        regs;             /* pc_kind: SFU_PC_RETURN if the frame was not stopped by a trap, but has itself called
                                * a function that switches threads or coroutines */
    sfu_addr saved;       /* becomes frame.saved, if the PC is exact */
    enum sfu_guess guess; /* SFU_GUESS_HOOK: not sure. This frame, or the end, is then not reliable */
};

/* The trap hook: finds the caller of FRAME where no row does. CODE says why: no FDE describes FRAME (SFU_E_NO_FDE or
 * SFU_E_NOT_CODE), or FRAME is a trap frame without rows (SFU_E_TRAP). The step returns what the hook returns:
 *   SFU_OK        The hook knows FRAME: a trap frame, or a function that switches threads or coroutines. It has filled
 *                 in *INTERRUPTED.
 *   SFU_END       FRAME is the outermost: user mode entered it, for instance.
 *   CODE          the hook does not know FRAME.
 *   another error */
typedef int (*sfu_trap_hook_fn)(void *ctx, const struct sfu_frame *frame, int code,
                                struct sfu_interrupted *interrupted);

/* Finds the stack that ADDR, an SP or the address of a word, lies on, and fills in all of *STACK. Stacks do not
 * overlap. An SP equal to high is that of an empty stack. If ADDR lies in the guard area below a stack, return that
 * stack: its SP has overflowed. If stack A's high is stack B's low, an SP with that address is ambiguous: A is empty,
 * or B is full. As long as SP has that address, sfu reads nothing below it. Leave 8 bytes between two stacks, and sfu
 * tells them apart. Returns false if ADDR lies on none. */
typedef bool (*sfu_find_stack_fn)(void *ctx, sfu_addr addr, struct sfu_stack *stack);

/* Returns the original of a return address that a function tracer or a return probe has replaced. *RA is what a row or
 * a guess gives for FRAME, without its PAC. SLOT is its address on the stack, or 0 if it is in a register. Returns true
 * and sets *RA to the original address if it was replaced. Else returns false and leaves *RA alone. The callback is not
 * asked about the PC of an interrupted frame. It may be asked twice about one frame, also after a step that failed. */
typedef bool (*sfu_original_ra_fn)(void *ctx, const struct sfu_frame *frame, sfu_addr slot, sfu_addr *ra);

/* One .sframe section. sfu_add or sfu_open fills in the structure. Callers may read it, and may set text. The bytes of
 * the section must stay where they are. */
struct sfu_section {
    struct sfu_section *next; /* of the list that it was added to */
    const uint8_t *bytes;     /* NULL: read through the callback */
    sfu_read_fn read;
    void *ctx;
    sfu_addr addr, size;
    /* The code that the section describes. sfu_find_frame does not look up a PC outside of this range in the section.
     * Default: any PC may be its code. Set text from the linker script or by sfu_find_text. When code is freed, set
     * text again, so that it no longer covers the freed code. */
    struct sfu_range text;
    /* Where the functions are. sfu_add and sfu_sort set it if the table is sorted and mapped. sfu_find_frame does not
     * ask the section about a PC outside of this range. If the FDE of the first or last function is damaged, this range
     * may be too small, and hide other functions: if sfu_check finds a fault, set low and high to 0. If unset, each
     * lookup searches the section. */
    struct sfu_range code;
    uint32_t fdes, rows, end; /* where the FDEs and the rows begin, and the rows end: offsets from addr */
    uint32_t num_fdes, num_rows;
    struct sfu_rule ra, fp; /* where a row has none: saved at the header's fixed offset (2.2), or unchanged */
    enum sfu_abi abi;
    uint8_t version, flags, fde_size;
    bool big; /* byte order of the tables, by the magic number alone */
};

/* The program that is unwound. Zero the members that you do not use: each comment gives the default. The target must
 * outlive the walk. */
struct sfu_target {
    /* The list of sections: sfu_add(&target.sections, ...). Default: none, and each step is SFU_E_NO_SECTION. */
    struct sfu_section *sections;
    /* The stack, if there is only one. Only a trap can lead out of it. If you unwind another machine, it may be the
     * whole address space of that machine. Default: nothing can be read. If find_stack is
     * set, a walk asks find_stack instead; sfu_read_word still reads a word that lies on this stack from there, so set
     * it only to memory of the unwound program. */
    struct sfu_stack stack;
    /* Tells several stacks apart. Default: there is the one stack above. */
    sfu_find_stack_fn find_stack;
    /* Reads stacks whose bytes are NULL. Default: such stacks cannot be read. */
    sfu_read_fn read;
    /* Registers of the topmost frame and of interrupted frames. Default: only SP and FP are known, and the RA that the
     * walk began with. */
    sfu_reg_fn reg;
    /* Finds the caller where no row does. Default: such a trace ends. */
    sfu_trap_hook_fn trap_hook;
    /* Returns original return addresses. Default: nobody has replaced one. */
    sfu_original_ra_fn original_ra;
    /* Passed to each of the callbacks. */
    void *ctx;
    /* Where a trace must end: in a frame whose lookup PC lies here. If the tables or the trap hook end the trace in
     * another frame, the step returns SFU_E_NOT_FINAL. Default: a trace may end in any frame. */
    struct sfu_range final;
    /* aarch64: the bits of a signed RA that are its PAC, without bit 55. Default: those of a 48-bit address space. */
    uint64_t pac_mask;
    /* The most frames of a walk. Default: SFU_MAX_FRAMES. */
    uint32_t max_frames;
    /* Bytes below SP that a trap does not overwrite: 128 in x86_64 user mode. Default: 0, which is right in a kernel.
     * In a frame with an exact PC, a slot below SP - red_zone on SP's stack is dead, because a trap may have
     * overwritten it: sfu does not read it. For instance, the row after `pop %rbp` often still says FP = *(CFA - 16).
     * That slot is dead, and FP is in its register again. So, where CFA = SP + offset:
     *   a dead slot of FP  is not used: the FP register has it
     *   a dead slot of RA  is not used: the link register has it. Exceptions, which return SFU_E_DEAD_SLOT: amd64,
     *                      because it has no link register; a trap frame, because its link register belongs to the
     *                      interrupted code
     * Any other rule that reads a dead slot is SFU_E_DEAD_SLOT.
     * A function that switches stacks may leave slots on another stack, at lower addresses. These slots are not dead.
     * sfu reads them if it knows the stack that SP is on, and SP is above the low end of that stack. If not, it cannot
     * tell them from dead slots: SFU_E_STACK. */
    uint16_t red_zone;
    /* The most stack switches of a walk. Default and upper limit: SFU_MAX_SWITCHES. */
    uint8_t max_switches;
    /* Where no FDE covers a PC, guess that FP holds a frame record. Default: false, and the trace ends. Not on s390x
     * and ARM.
     *   CFA = FP + 16 (RISC-V: FP);  RA = *(CFA - 8);  FP = *(CFA - 16) (words of 4 bytes: -4, -8) */
    bool frame_pointers;
};
#define SFU_MAX_FRAMES   4096
#define SFU_MAX_SWITCHES 16

/* A walk from frame to frame. Callers may read frame and stack. */
struct sfu_walk {
    const struct sfu_target *target;
    struct sfu_frame frame;
    struct sfu_stack stack;          /* the stack of the frame; unset if that stack is not known */
    sfu_addr left[SFU_MAX_SWITCHES]; /* the SP before each of the frame.switches stack switches */
    bool stayed;                     /* the frame before has the same SP */
};

/* Where a check stopped. */
struct sfu_place {
    uint32_t fde; /* index of the FDE; num_fdes if the fault is in none */
    uint32_t row; /* index of the row within it; 0 if the fault is in the FDE itself */
};

/* Adds a .sframe to *LIST, which begins as NULL: to target.sections, or to a list that you assign to target.sections
 * later. The section has SIZE bytes at BYTES, of any alignment. ADDR is where these bytes are in the unwound program
 * at run time: function starts are relative to it. Linkers that do not know the format join sections instead of
 * merging them, with up to 7 bytes between two. sfu_add opens all that are joined, into SECTIONS, and adds them to
 * the front of *LIST. SECTIONS is an array of ROOM structures, at least 1, none of which is in a list. A joined
 * section of the other byte order is added too, if it can be opened. sfu_add reads the headers (2.1, 2.2) and what
 * follows the tables. Of a sorted table it also reads the first function, and functions from the end backward until
 * one is not empty. All other entries are read, and checked, only when they are used.
 * Returns SFU_OK; SFU_E_CONCATENATED if more than ROOM are joined; what sfu_open returns, if it refuses one;
 * SFU_E_ABI if the ABI of one is not that of the list. On error SECTIONS may have changed, and the sections before
 * the failing one are in the list: call sfu_remove before retrying. */
int sfu_add(struct sfu_section **list, struct sfu_section *sections, size_t room, const void *bytes, sfu_addr size,
            sfu_addr addr);

/* sfu_add for a section that READ(CTX, ADDR + offset, ...) reads. No function is read. Returns what sfu_add returns, or
 * SFU_E_SECTION. */
int sfu_add_remote(struct sfu_section **list, struct sfu_section *sections, size_t room, sfu_read_fn read,
                   void *ctx, sfu_addr size, sfu_addr addr);

/* Takes SECTIONS[0] to SECTIONS[ROOM - 1] out of *LIST, as far as they are in it. Returns whether one was. */
bool sfu_remove(struct sfu_section **list, struct sfu_section *sections, size_t room);

/* Opens one section, to check it or to look something up in it. Parameters are those of sfu_add. If sections are
 * joined, sfu_open opens only the first. Fills in *SECTION, which is in no list, but may be all that a target has: set
 * target.sections to its address. Without sfu_add a kernel is 500 bytes smaller; its walks search the section for each
 * PC, also for one that is outside of all functions. Reads only the header. Returns
 * SFU_OK, SFU_E_EMPTY (SIZE is 0), SFU_E_MAGIC, SFU_E_VERSION, SFU_E_ABI, SFU_E_FLAGS or SFU_E_BOUNDS. */
int sfu_open(struct sfu_section *section, const void *bytes, sfu_addr size, sfu_addr addr);

/* sfu_open for a section that READ(CTX, ADDR + offset, ...) reads. Returns what sfu_open returns, or SFU_E_SECTION. */
int sfu_open_remote(struct sfu_section *section, sfu_read_fn read, void *ctx, sfu_addr size, sfu_addr addr);

/* Checks a whole section: every FDE, every row, the number of rows, what follows the tables and, if the section is
 * flagged as sorted, order and overlap. Empty functions are exempt from the overlap check, because compilers emit
 * them. Takes time in proportion to the section. After a section has passed, no lookup in it returns SFU_E_BOUNDS,
 * SFU_E_FDE or SFU_E_ROW; a lookup in it may still be slow (sfu_find). PLACE may be NULL. Otherwise *PLACE becomes
 * the place of a fault.
 * Returns SFU_OK, or the first fault: SFU_E_EMPTY (no FDE), SFU_E_BOUNDS, SFU_E_SECTION, SFU_E_FDE, SFU_E_ROW,
 * SFU_E_NO_ROW (an FDE has no rows, but its version or its type does not allow that), SFU_E_UNSORTED, SFU_E_OVERLAP,
 * SFU_E_COUNT or SFU_E_CONCATENATED. */
int sfu_check(const struct sfu_section *section, struct sfu_place *place);

/* Sorts the FDEs in place by start, so that a lookup is a binary search. BYTES are the section's own bytes, writable.
 * Starts become relative to the section, and the header's flags say so. Takes O(n log n) time, no memory. Nobody may
 * use the section meanwhile. Check the section afterwards: where functions contain each other, a sorted table no longer
 * finds all of them (SFU_E_OVERLAP). Returns SFU_OK, or SFU_E_READONLY, which leaves the bytes as they were. */
int sfu_sort(struct sfu_section *section, void *bytes);

/* Sets section->text to what the FDEs describe: from the lowest start of a function to the highest end of one. Takes
 * time in proportion to the FDEs. Returns SFU_OK, SFU_E_EMPTY (no function, or only empty ones), SFU_E_FDE (a function
 * reaches the end of the address space) or SFU_E_SECTION. */
int sfu_find_text(struct sfu_section *section);

/* Returns the lookup PC of REGS: pc, or pc - 1 if pc is a return address. */
sfu_addr sfu_lookup_pc(const struct sfu_registers *regs);

/* Finds the row of SECTION for PC, a lookup PC, and fills in *ROW. A sorted table is searched
 * by halves, an unsorted one from its end; then the rows of the function that was found. Consecutive empty functions
 * are passed one by one. So the time is at most in
 * proportion to the functions of the section and the rows of one of them, whatever its bytes are (SECURITY.md). Returns
 * SFU_OK, SFU_E_NO_FDE, SFU_E_NO_ROW, SFU_E_FDE, SFU_E_ROW, SFU_E_BOUNDS or SFU_E_SECTION.
 * A lookup reads no more than it needs. So damage to what is on the left affects only the PCs on the right:
 *   the attributes of a function, or where its rows are   those of the function (SFU_E_FDE, SFU_E_BOUNDS)
 *   words that a row of its type cannot have              those of the row (SFU_E_ROW)
 *   words of no valid size                                those of the row and of all rows after it (SFU_E_ROW)
 *   a row that does not start above the row before it,    those of the row before it, whose end is not known, and of
 *   or starts outside of the tables                       all rows after it (SFU_E_ROW, SFU_E_BOUNDS)
 *   the start of a function                               those of the function. In a sorted table also those of
 *                                                         functions that the search then misses, and, if it is the
 *                                                         first or last function, those that sfu_section.code then
 *                                                         leaves out
 * Corruption that still decodes as a valid, ordered table is not detected: a wrong start that is still in order
 * moves the border of two rows. */
int sfu_find(const struct sfu_section *section, sfu_addr pc, struct sfu_row *row);

/* Finds the row for FRAME in the sections of TARGET, and fills in *ROW. row->function is where the frame's function
 * starts. Asks each section whose text and code have the lookup PC, from the front of the list, until one has a row.
 * Returns SFU_OK; SFU_E_NO_SECTION if TARGET has none; SFU_E_NOT_CODE if no section's text has the PC; otherwise the
 * first error of sfu_find other than SFU_E_NO_FDE; SFU_E_NO_FDE if every section returned that. */
int sfu_find_frame(const struct sfu_target *target, const struct sfu_frame *frame, struct sfu_row *row);

/* Begins a walk. walk->frame is now the topmost frame, with the registers TOP, even if no table knows its PC or if its
 * SP lies on no stack. */
void sfu_walk_start(struct sfu_walk *walk, const struct sfu_target *target, const struct sfu_registers *top);

/* Moves WALK to the caller by ROW. For programs that keep rows. Reads at most three words of stacks. Uses the
 * target's stacks, limits and callbacks, but not its trap hook, sections and final frame. Anything but SFU_OK leaves
 * WALK alone.
 * Returns SFU_OK, SFU_END (ROW is SFU_ROW_OUTERMOST), SFU_E_TRAP (ROW is SFU_ROW_ASK), SFU_E_STACK, SFU_E_ADDRESS,
 * SFU_E_UNSAFE, SFU_E_REGISTER, SFU_E_DEAD_SLOT, SFU_E_NO_RA, SFU_E_PROGRESS, SFU_E_SWITCHES or SFU_E_DEPTH;
 * SFU_E_ABI if ROW, which the caller made, has the number of no ABI that is built in. */
int sfu_apply(struct sfu_walk *walk, const struct sfu_row *row);

/* Moves WALK to the caller, whose registers are CALLER. For programs that know these registers without a row, for
 * instance from an interpreter or a cache. The caller was interrupted if its PC is exact, else it has made a call.
 * Reads nothing. CALLER is believed: walk->frame.reliable stays as it is. Uses the target's stacks and limits, as
 * sfu_walk_step says. Of the callbacks it calls only find_stack, and does not call that either if the caller's SP is
 * higher than the SP of walk->frame and on the same stack. Returns SFU_OK; or, with WALK as it was, SFU_E_STACK,
 * SFU_E_PROGRESS, SFU_E_SWITCHES or SFU_E_DEPTH. */
int sfu_walk_to(struct sfu_walk *walk, const struct sfu_registers *caller);

/* Moves WALK to the caller: finds the row and applies it, or asks the trap hook. Returns what sfu_find_frame,
 * sfu_apply or the trap hook returned, or SFU_E_NOT_FINAL. Any other result than SFU_OK leaves WALK unchanged, so
 * calling again returns the same result; except that a trap hook that ends the trace without being sure clears
 * walk->frame.reliable.
 * Every walk ends: frames and stack switches are counted, and SP grows on each stack. A leaf function or a trap frame
 * may have the same SP as its caller; of two trap frames that follow each other only one may. If the new SP is
 * higher, and not above the high end of the stack, the walk stays on this stack. With any other SP the walk switches
 * to the stack that find_stack names. A stack is entered again only above each SP where the walk left it. Without
 * find_stack there is one stack: on it, an interrupted frame may have a lower SP than its trap frame, which counts as a
 * switch. A trap may lead to an SP on no stack. The step then succeeds; a later step that has to read from that stack
 * returns SFU_E_STACK.
 * If an exact PC is not code (SFU_E_NOT_CODE), and no trap hook knows the frame, sfu assumes that a call through a
 * bad pointer led there. It guesses the caller as such a call leaves it (SFU_GUESS_CALL): the RA is the word at SP
 * (amd64) or the link register, all else is unchanged. It does so only if this RA is in the text of a section, and
 * before it tries frame_pointers. */
int sfu_walk_step(struct sfu_walk *walk);

/* Reads the word at ADDR of a stack of TARGET into *VALUE, big-endian if BIG. A word has the size of a register of
 * the ABI that the target's sections have: 8 bytes, or 4 bytes, which are zero-extended. Without sections a word has
 * 8 bytes. Callbacks use sfu_read_word to read what a trap has saved. Returns SFU_OK or SFU_E_STACK. */
int sfu_read_word(const struct sfu_target *target, sfu_addr addr, bool big, sfu_addr *value);

/* Returns the message for CODE: static text, never NULL. A number that is no code has "unknown code". */
const char *sfu_string(int code);

#ifdef __cplusplus
}
#endif

#endif
