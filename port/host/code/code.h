/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What machine code says of its frames: an abstract interpretation. It follows SP, FP, the return address (RA) and
 * every register that holds one of them from the first instruction of a function along all of its branches. It knows
 * where CFA, RA and FP are in front of an instruction, or that it does not know.
 *
 * Each file uses those above it alone:
 *
 *     fact.c    struct code_fact: what an instruction does to registers, to memory and to the PC
 *     decoded.c facts of what has been decoded already
 *     modes.c   x86: which code does not run in the image's mode
 *     x86_64.c (i386, too), aarch64.c, s390x.c, riscv.c, arm.c   bytes -> facts
 *     index.c   the part of a state that says how many entries a table of jumps has
 *     state.c   facts -> struct code_state: what holds in front of an instruction, and what it makes of that
 *     units.c   functions and other pieces of code, and who comes into them
 *     taken.c   addresses of data that code takes: a table of jumps ends where another one begins
 *     imports.c functions that are called by words of the GOT, and names of those that never return
 *     stacks.c  switches to another stack
 *     trial.c   how the ways of code end that is followed as if it had been called, or interrupted
 *     code.c    the ways through a function: the state of each of its instructions, and what it does to its caller
 *     kinds.c, vectors.c, uncalled.c, enter.c   who enters code: by trials, by registers of the CPU; whom nobody calls;
 *               what has no CFI
 *     row_list.c, verdict.c   a row of call frame information (CFI), judged by the state at its PC
 *     trust_ways.c, trust_rows.c   an entry of CFI: what it says to who follows the ways, and its rows beside the code
 *     find_units.c, begin.c, rounds.c   the units of an image, where their ways begin, and all of them until none
 *               changes another one
 *     saved.c, signal_code.c   what entries of interrupts save; code to which signal handlers return
 *     trust.c   an image: states and CFI -> rows, and who is right where they differ
 *
 * A function of x86_64 from bytes to rows. At its entry the ABI says what holds: SP is the CFA - 8, where RA is, and FP
 * is the caller's. Each line has what holds in front of its instruction, which the facts turn into what the next line
 * has. The row says the same by the registers of that moment.
 *
 *     bytes        instruction     facts                              SP        FP        words       row
 *     55           push %rbp       store FP at SP - 8; SP = SP - 8    CFA - 8   caller's  RA          CFA = SP + 8
 *     48 89 e5     mov %rsp,%rbp   FP = SP                            CFA - 16  caller's  RA, FP      CFA = SP + 16
 *     48 83 ec 20  sub $32,%rsp    SP = SP - 32                       CFA - 16  CFA - 16  RA, FP      CFA = SP + 16
 *     e8 ...       call g          RAX, RCX, ... are unknown          CFA - 48  CFA - 16  RA, FP      CFA = SP + 48
 *     c9           leave           SP = FP; load FP; SP = SP + 8      CFA - 48  CFA - 16  RA, FP      CFA = SP + 48
 *     c3           ret             must find SP, FP and RA as at      CFA - 8   caller's  RA          CFA = SP + 8
 *                                  the entry, or the way is another
 *
 * In each row RA is at the CFA - 8, and FP at the CFA - 16 where its register has another value. Were SP moved by a
 * number that is not known, the rows behind that would count from FP.
 *
 * Where two ways lead to one instruction, what holds is what both say (code_join). States only ever lose by that, so
 * the analysis ends: an instruction is read again until nothing is lost any more.
 *
 *     one way                 the other one             in front of the instruction
 *     a value                 the same one              that value
 *     a value                 another one               unknown
 *     SP = CFA - 16           SP = CFA - 48             SP = ALIGNED, a base of its own: words that both have at the
 *                                                       same distance from SP count from it, the CFA does not
 *     CFA + k                 TRAP + k                  the name that both know, where an interrupt has left SP as it
 *                                                       was, so that one place has two names
 *     a word that is known    none there, or another    unknown
 *     RA or FP in a word      overwritten, or another   lost: no row says that it is there
 *     RA or FP in a word      perhaps still there       perhaps
 *     a bound of an index     another                   the higher one
 *     a bound of an index     none                      none
 *     called                  interrupted, nobody       uncertain
 *     on another stack        on none, or a third one   on that one; of several
 *
 * It is sound under the assumptions in the list below: what holds for one way to an instruction and not for another
 * is unknown, and an instruction that nobody knows makes everything unknown that it could write.
 *
 *   - A function is entered at its first instruction as the ABI says, or by a jump or a call that is analysed, too.
 *     A jump out of code without CFI that has left the address behind it where a callee finds its return address is a
 *     call (unit_make_call).
 *   - A callee leaves SP and the registers that the ABI makes it save as it found them. One of the same image for
 *     which that is known to be false (`ret n`) is believed not to; of one that is not known CFI says how much it takes
 *     off the stack. RA's register is another one behind each call.
 *   - A call returns, unless CFI says by another row behind it that it does not, or the function ends there; or, where
 *     there is no CFI, what is called has no way back, or a name that says so (imports.c). Functions that call each
 *     other have none, if none of them has one as long as the others do not come back. `ud2`, `unimp`, `ebreak`, `udf`
 *     and `brk`, except for `brk #0`, do not go on.
 *   - Who jumps to a thunk that returns in its place (x86: `__x86_return_thunk`) has put SP and FP back, unless it is
 *     seen that SP is below the return address (`__x86_indirect_thunk`).
 *   - Code that no way is seen to lead to begins with what CFI says of it there, unless the code contradicts that.
 *     Where there is no CFI, or it says nothing, that code has no rows; a jump to where nobody knows, in a frame, may
 *     lead to it, and from there back to code that has.
 *   - Where the lower half of a register was compared and the whole of it is the index of a table of jumps, its upper
 *     half is 0.
 *   - What jumps into an IT block of ARM's jumps nowhere.
 *   - A store to an address that is not known as CFA + a number does not hit a slot with a saved register or with the
 *     address of a table of jumps; nor does one of a length that is not known, behind the bytes that it writes at
 *     least.
 *   - x86: the direction flag is clear where a function is entered and behind a call, as the ABI says. It is not known
 *     where an exception enters.
 *   - Where SP gets a value that is not known, an interrupt is handled on another stack, or a thread goes on that has
 *     left its stack in the same way. The way that follows has to bear this out (stacks.c). Addresses of
 *     a stack that were saved on it when SP was left are taken for that stack's own.
 *   - The instructions are those in the file: nobody changes them at run time in what concerns SP, FP and RA.
 */
#ifndef SFU_HOST_CODE_H
#define SFU_HOST_CODE_H

#include "fact.h"
#include "tables/cfi.h"
#include "tables/kept.h"

/* ---- States ---------------------------------------------------------------------------------------------------- */

/* A value is BASE + K. In spite of that BASE_TABLE + K is an entry of the table there, WIDTH as above, + ADD + K;
 * BASE_UNKNOWN + CODE_GONE is, of SP, FP and RA's register, or of their words, another value than at the entry, because
 * an instruction has taken it from elsewhere than from the function's own frame; + CODE_BY_CALL, because of a call,
 * which perhaps does not come back; + CODE_OF_MODE, the SP of a mode of the CPU that may be that of the entry;
 * + CODE_ONE_WAY, on one of two ways that flags have decided between; BASE_UNKNOWN + CODE_ALL_OR_NONE is all ones, or
 * 0; BASE_UNKNOWN + CODE_PERHAPS, in a word, is what RA or FP had at the entry, or not any more; and BASE_UNKNOWN +
 * CODE_SOME_BITS and more is a number of which some bits are known (state.c, struct bits). BASE_WORD is the address of
 * a function, which is in the word of the GOT at K (imports.c). */
enum {
    BASE_UNKNOWN,
    BASE_NUMBER,  /* 0 */
    BASE_TABLE,   /* see above */
    BASE_INDEXED, /* a number that is not known: of an entry in a table at K */
    BASE_WORD,    /* see above */
    BASE_NEAR,    /* somewhere on the stack that SP is on: SP may be moved there (alloca) */
    BASE_CFA,     /* the CFA */
    BASE_ALIGNED, /* SP where it was rounded */
    BASE_TRAP,    /* where the CPU has put the PC at an interrupt, whose CFA is the SP of what was interrupted */
    BASE_STRUCT, /* what a register pointed to when an interrupt's entry stored SP there: on no stack (RISC-V: tp) */
    BASE_RETURN, /* 0: where the function returns to, or what was interrupted goes on */
    BASE_ENTRY   /* + r: what register r had when the function was entered */
};

/* RISC-V: what the scratch register had when an interrupt came, if that has a name: entries keep registers there. */
enum { BASE_SCRATCH = BASE_ENTRY + CODE_OTHER_SP };

/* Who comes before a function. */
enum { CALLER_KNOWN, CALLER_NONE, CALLER_INTERRUPTED, CALLER_UNCERTAIN };

struct code_value {
    int64_t k;
    uint8_t base;
    bool is_signed; /* it has a signature of pointer authentication */
    uint8_t width;
    int32_t add;
};

/* Whether VALUE is an address on the stack that SP is on. */
static inline bool code_is_on_stack(const struct code_value *value)
{
    return value->base >= BASE_NEAR && value->base <= BASE_TRAP;
}

/* A word in memory, at BASE + K. */
struct code_slot {
    struct code_value value;
    int64_t k;
    uint8_t base;
};

enum {
    CODE_GONE = 1,
    CODE_BY_CALL,
    CODE_OF_MODE,
    CODE_ONE_WAY,
    CODE_ALL_OR_NONE,
    CODE_PERHAPS,
    CODE_SOME_BITS = 1 << 30
};

/* NUMBER with the 16 bits that OP, a CODE_INSERT, puts into it. */
uint64_t code_insert(uint64_t number, const struct code_op *op);

/* VALUE moves by BY: a number as the CPU adds, in 64 bits. What counts from another base, and is then too far from it
 * for any memory, is unknown. */
void code_move(struct code_value *value, int64_t by);

/* Whether VALUE is one of those from CODE_GONE to CODE_ONE_WAY, or has some bits and is gone. */
bool code_is_gone(const struct code_value *value);

enum { CODE_SLOTS = 40, CODE_MIXED = INT32_MAX, CODE_ENTERS = 1 << 30 };

/* What is known of a register as of the index of a table of jumps. */
struct code_index {
    uint16_t below;   /* it is lower, to the left by UP; or 0 */
    uint8_t up, bits; /* BITS: as many of its lowest bits are; or 0: all */
    uint8_t fits;     /* in as many bits; or 0 */
    uint8_t twin;     /* the lowest register with the same value, + 1; or 0 */
    bool of_table; /* it is an address in a table or an entry: what is lower is a distance in bytes or a number */
};

/* Places in memory, by their numbers among registers. */
enum { CODE_PLACE = CODE_REGISTERS, CODE_PLACES = 2, CODE_INDICES = CODE_PLACE + CODE_PLACES };

/* A place that is followed as a register is: BYTES, or none, at BASE, a register, times SCALE, 0 for 1, + K. */
struct code_place {
    int64_t k;
    uint8_t base, bytes, scale;
};

/* What conditions ask for: registers, a bit each, were compared with NUM - 1. */
struct code_compared {
    uint64_t regs;
    uint32_t num;  /* or 0 */
    uint8_t bits;  /* as many of their lowest bits were; or 0: all */
    bool is_first; /* it stood first: conditions are those of the number */
};

struct code_state {
    struct code_value reg[CODE_REGISTERS];
    unsigned num;
    struct code_index index[CODE_INDICES];
    struct code_compared compared;
    struct code_place place[CODE_PLACES];
    uint8_t last_place; /* the one that was put there last */
    uint8_t caller;     /* CALLER_... */
    bool low_core;      /* words at low absolute addresses are known, too (s390x, at an interrupt) */
    bool globals;       /* words at all absolute addresses are (x86_64, at a system call) */
    bool trap_is_cfa;   /* BASE_TRAP is the CFA: the interrupt has left SP as it was */
    bool has_called;    /* others have run since the entry, who may have decided to switch */
    bool has_parted;    /* ways have met at which SP was at another distance from the CFA */
    bool has_left;      /* SP, as it is, has been stored where no stack is known to be */
    bool keeps_sp;      /* SP, or an address near it, has been put where it is not followed */
    bool keeps_fp;      /* the same of FP as it was at the entry */
    bool keeps_word;    /* the same of RA or FP as they were at the entry, or a register that may still have them */
    bool may_pop;       /* i386: SP is known if no callee that is not known has taken its arguments off the stack */
    bool names;         /* what registers had when an interrupt came has names: no stack is where those point */
    bool detours;       /* a detour's call leads here (enum code_detour): a return is not the unit's */
    bool from_lower;    /* aarch64: a lower exception level was interrupted: a program or a guest */
    bool strays;        /* nothing but a jump to where nobody knows leads here, and that perhaps */
    uint8_t mode; /* ARM: the one that was interrupted, if the CFA is its SP, by what the code does; RISC-V: the one
                          whose registers of interrupts it has used; 0: none yet; CODE_NONE: several */
    uint32_t switched;      /* SP is on another stack: the number of the unit that moved it there, + 1, and
                                          CODE_ENTERS, if an interrupt is handled there; CODE_MIXED: of several */
    struct code_value left; /* SP when it was last stored so; BASE_UNKNOWN: never; BASE_NEAR: it differs */
    struct code_slot slot[CODE_SLOTS]; /* NUM of them, in any order, no two at one place */
};

/* Whether the branch FACT goes to its target, THERE, or not, says how high what was compared in STATE is. */
void code_take_check(struct code_state *state, const struct code_fact *fact, bool there);

/* The state that a function begins with. */
void code_entry(const struct code_cpu *cpu, struct code_state *state);
/* What an interrupt begins with. x86_64: the CPU has pushed the PC and what belongs to it and, for CODE_ERROR, an error
 * code. aarch64: it has left SP alone or, for CODE_SP0, taken another one; CODE_LOWER: the same, and what was
 * interrupted is of a lower exception level. s390x: it has left SP alone, and the PC is in the low core. RISC-V: it has
 * left SP alone; CODE_SCRATCH: and another SP is in the scratch register. CODE_SYSCALL, x86_64: the instruction syscall
 * has left SP alone, and the PC is in RCX. ARM: the PC is in LR; CODE_TRAP4 and CODE_TRAP8: that is 4 or 8 behind it.
 * gen/entries.c has the names for --entry; state.c what holds in each (code_trap_entry); kinds.c finds out which kind
 * code is; vectors.c what the CPU is told to enter. */
enum code_kind {
    CODE_TRAP,
    CODE_ERROR,
    CODE_SP0,
    CODE_LOWER,
    CODE_SCRATCH,
    CODE_SYSCALL,
    CODE_TRAP4,
    CODE_TRAP8,
    CODE_START,
    CODE_CALLED,
    CODE_KINDS
};
void code_trap_entry(const struct code_cpu *cpu, struct code_state *state, enum code_kind kind);

/* Changes STATE as FACT does, whose instruction is at PC: the ops alone. */
void code_step(const struct code_cpu *cpu, struct code_state *state, const struct code_fact *fact);
/* Leaves in STATE what OTHER says, too. Returns whether that was less. */
bool code_join(const struct code_cpu *cpu, struct code_state *state, const struct code_state *other);

/* What RULE is, whose base may be the CFA. */
struct code_value code_evaluate(const struct code_state *state, const struct sfu_rule *rule);

/* What was found out, in bytes of code. */
struct code_report {
    uint64_t bytes;       /* of code with CFI */
    uint64_t reached;     /* of those, of instructions that analysis has reached */
    uint64_t confirmed;   /* with each rule of their row */
    uint64_t silent;      /* where a rule can be neither confirmed nor refuted */
    uint64_t corrected;   /* where the row is the code's */
    uint64_t cfa, ra, fp; /* corrected for this */
    uint64_t lost;        /* whose row is wrong, and the code does not know the right one: it has none */
    uint64_t doubted; /* where the code contradicts CFI, which counts: its ways through the function may be none */
    uint64_t derived; /* of code without CFI, with a row now */
    bool other_spans; /* entries of CFI have come or gone */
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* The CPU of IMAGE, or NULL where there is none, or it needs a library that this program was built without. */
const struct code_cpu *code_cpu(const struct image *image);

/* Who comes into a unit from outside, other than by a call of its start. */
struct code_edge {
    struct code_edge *next;  /* of the unit */
    struct code_edge *chain; /* in struct code_edges */
    uint64_t target;
    uint8_t begins; /* 0, or a way begins there, and this is its kind, enum code_kind, + 1 */
    bool bare;      /* one of those that come has left no address of code to return to */
    struct code_state state;
};

/* Code of an interrupt's entry that no row can describe, and why. */
struct code_lost {
    uint64_t start, end;
    const char *why;
};

enum { POPPED_MIXED = INT32_MAX };

/* Why nobody calls code whose CFI says that it is called, or why that is not known: a register of the CPU says that an
 * interrupt enters it; an interrupt's entry jumps there; a function does in the middle of its frame, which the code
 * there takes off; it returns from an interrupt; it never returns, and begins as no function of a compiler does; its
 * CFI says that a word lies below where it returns to; an entry lends it its return address; it is where the image
 * starts, and takes a stack of its own; the user says so; code puts its address into a gate (x86). */
enum code_lost_by {
    LOST_BY_NOTHING,
    LOST_BY_REGISTER,
    LOST_BY_JUMP,
    LOST_BY_FRAME,
    LOST_BY_END,
    LOST_BY_ENTRY,
    LOST_BY_WORD,
    LOST_BY_PROGRAM,
    LOST_BY_START,
    LOST_BY_NAME,
    LOST_BY_GATE
};

/* Whether code was seen to call with an SP at a multiple of 16, if SP was there for the call of its own. */
enum { ALIGNMENT_IDLE = 1, ALIGNMENT_NEEDED };

enum { TAKES_NOTHING = 1, TAKES_PERHAPS };

/* One that goes on where a register says; a call that takes its own address off the stack, and returns; another one. */
enum { FIRST_OTHER = 1, FIRST_GOTO, FIRST_THUNK };

/* A piece of code with one entry of CFI, or without any. */
struct code_unit {
    uint64_t start, end;
    const struct cfi_fde *fde;
    bool function;    /* it is entered at its start, by calls */
    bool trap, error; /* an interrupt, with an error code */
    bool named;       /* --entry says that it is one, whether it returns or not */
    bool dirty;       /* to be run again */
    uint8_t runs;
    struct cfi_row *rows; /* without CFI: what code says */
    size_t num_rows;
    struct code_lost *lost; /* by address; to be freed */
    size_t num_lost;
    bool overlaps;   /* ways lead into the middle of instructions of others: not all of them are real */
    bool unsettled;  /* it has too many tables of jumps: not all ways were read, and the states prove nothing */
    bool odd;        /* it returns with another SP */
    uint32_t popped; /* by so much, + 1, at each return that was seen; POPPED_MIXED: it differs, or is not known */
    bool spoils;     /* it returns with another FP */
    bool frames;     /* at each return that was seen FP is at FRAMED from its CFA */
    bool keeps_fp;   /* a return was seen with what may be the FP of its caller */
    int64_t framed;
    bool awaited;       /* callers go on behind their calls of it once it is known what it takes off the stack */
    bool is_waiting;    /* it has not been seen to return, and awaits others */
    bool passes_on;     /* x86: in another function that nobody knows, which returns to its caller */
    bool changed;       /* it has become one of these: those that call it are to be run again */
    bool opened;        /* it passes on now: those that go on in it are to be run again */
    bool returns;       /* a return was seen */
    bool called;        /* by what was analysed: its start is entered as a function's */
    bool switches_well; /* behind a switch of it to another stack a way ends as is believed of that stack */
    bool switches_ill;  /* a way ends otherwise: nothing is believed */
    bool switch_forgotten;
    bool waits;          /* it has instructions without rows because a way ends nowhere yet behind a switch */
    bool outermost;      /* its CFI begins with: nobody has called it */
    bool says_end;       /* its CFI says so somewhere */
    bool says_nothing;   /* its CFI is no more than that it is called */
    bool begins_below;   /* its CFI says that a word lies at SP at its start, below the return address (x86) */
    bool is_called;      /* by a call that was seen */
    bool is_returned_to; /* by code that was called elsewhere */
    bool is_handed;    /* an interrupt's entry goes to its start with the return address of what was interrupted */
    bool jumped_to;    /* a jump in the middle of a frame comes to its start */
    bool addressed;    /* data or code has its address, if code_find_uncalled has asked for that */
    bool may_be_taken; /* the same, without start-up code that calls nothing behind that, and so jumps there */
    bool doubted;      /* it has: who jumps there, and it may be called by its address, too */
    bool is_piece;     /* calls in front of its start come back to it */
    bool bare;         /* it had CFI, which was wrong */
    uint8_t lost_to;   /* and why: LOST_BY_... */
    bool refutes;      /* ways in it were found to be none, by how they end */
    bool is_tried;     /* whether it returns from an interrupt has been looked for */
    bool judged;       /* who enters it has been looked for */
    bool is_gate;      /* x86: a gate has the address of its start; ARM: a vector leads there */
    uint8_t alignment; /* x86_64: whether it needs an aligned SP: 0, or ALIGNMENT_... */
    bool leaves;       /* it goes on in a program, or jumps to code that is not read, because its CFI says all */
    bool resumes, resumes_otherwise; /* it returns from an interrupt, with SP at RESUMED from the CFA; or not so */
    int64_t resumed;
    struct code_edge *edges;
    /* While states are given: what all jumps agree on that may lead to any place of the unit (goto by an address that
     * nobody knows); or NULL. */
    const struct code_state *anywhere;
    /* The same: what holds if a condition is met, and if not, where flags decide between two ways; or NULL. */
    const struct code_state *const *ways;
    uint8_t takes;    /* x86: whether it may have a `ret n`: 0 if that is not known, or TAKES_... */
    uint8_t first;    /* x86: what its first instruction is: 0 if that is not known, or FIRST_... */
    bool is_read;     /* whether WRITTEN is known */
    uint64_t written; /* registers that may be others behind a call of it, a bit each, as far as its code says */
};

/* A call, or a jump, by the numbers of units. */
struct code_call {
    uint32_t caller, callee;
};

/* An address that a register of the CPU gets: where exceptions or system calls enter. BY: the instruction. */
struct code_vector {
    uint64_t addr, by;
    uint8_t what;
    bool done, asked;
};

/* All edges by their targets, of which no two are the same: SIZE lists, a power of two. */
struct code_edges {
    struct code_edge **lists;
    size_t num, size;
};

/* Whether what is called at ADDR comes back to its caller: never, or by a way that was seen. As long as that is not
 * KNOWN, trial.c believes it, if it has an ORDER. */
struct code_callee {
    uint64_t addr; /* 0: no callee */
    bool never, returns, known;
    uint8_t tries;
    uint32_t order, lowest;
};

/* A word of the GOT, where the address of a function is: NEVER, of one that does not return (imports.c), whoever has
 * it; or of the image's own one at TARGET; neither: of one of which nothing is known, or something else. */
struct code_import {
    uint64_t word, target;
    bool never;
};

/* By the addresses of the words. */
struct code_imports {
    struct code_import *list;
    size_t num;
    bool is_known;
};

/* SIZE places, a power of two; by addresses. OPEN: the addresses of those that are not known, by ORDER; LOWEST: the
 * lowest order of those whose answer was believed. */
struct code_callees {
    struct code_callee *places;
    size_t num, size;
    uint64_t *open;
    size_t num_open;
    uint32_t lowest;
};

struct code {
    struct image *image;
    const struct code_cpu *cpu;
    void *decoder;
    struct cfi *cfi;
    struct code_unit *units; /* by address; no two of them overlap */
    size_t num_units;
    uint64_t *starts;     /* of each unit: what is searched for an address lies close together */
    uint32_t *blocks;     /* of each block behind the first start: the last unit in front of it, or the first one */
    unsigned block_shift; /* a block has 2^BLOCK_SHIFT bytes */
    size_t num_blocks;
    struct code_report *reports; /* one for each unit */
    struct code_call *calls;     /* each one that a run has met; some more than once */
    size_t num_calls;
    struct code_call *jumps; /* each one into another unit; some more than once */
    size_t num_jumps;
    struct code_edges edges;
    struct code_callees callees;
    struct code_imports imports;
    struct code_vector *vectors;
    size_t num_vectors;
    uint64_t *taken; /* addresses of data that code takes, in order, if that is known */
    size_t num_taken;
    bool gates_asked, has_gates; /* x86: whether HAS_GATES is known; the image has lidt */
    bool gates_found;            /* tables of addresses for gates, or ARM's vectors, have been looked for */
    bool far_jumps_done;         /* x86_64: those of 32-bit code have been looked for */
    bool naming;                 /* interrupts begin with names for what registers have */
    bool scratch;                /* RISC-V: and the scratch register has */
    bool changed;                /* a unit has */
    const char *pushed;          /* i386: why no row tells what exceptions have pushed; NULL: rows do */
    bool switch_ended;           /* a way behind a switch to another stack has, or otherwise */
    bool taken_known;
    bool addresses_known; /* which units are addressed */
    bool handed_known;    /* which units entries go to with the return address of what was interrupted */
};
/* Whether what STATE says of UNIT's code holds behind the switch to another stack that has led there, if any. */
bool code_is_sure(const struct code *code, struct code_unit *unit, const struct code_state *state);
/* Between runs: what they have found out about switches is known to all units. */
void code_end_switches(struct code *code);
void code_free(struct code *code);

/* Who runs a unit. All functions may be NULL. */
struct code_watch {
    /* Takes what holds in front of an instruction at PC. */
    void (*give)(void *ctx, uint64_t pc, const struct code_fact *fact, const struct code_state *state);
    /* Whether the call of FACT, at PC, does not return, because something else holds at NEXT. */
    bool (*ends)(void *ctx, const struct code_fact *fact, uint64_t pc, uint64_t next);
    /* Whether STATE, that of a jump to an address in a register, may be that of PC, to which no other way leads. Leaves
     * in it what is sure then. */
    bool (*admit)(void *ctx, uint64_t pc, struct code_state *state);
    /* Whether STATE, that of a jump by a table or into the middle of a unit, may be that of PC: where a table ends is
     * seldom known for sure, and what it seems to lead to may jump elsewhere. */
    bool (*agrees)(void *ctx, uint64_t pc, const struct code_state *state);
    /* Whether something else holds of register REG from NEXT on, as if the instruction in front had restored it. */
    bool (*restores)(void *ctx, uint64_t next, unsigned reg);
    /* How many bytes a callee that is not known has taken off the stack, in front of the instruction at NEXT of FACT.
     * STATE is what holds there if it has taken none. */
    int64_t (*pops)(void *ctx, uint64_t next, const struct code_fact *fact, const struct code_state *state);
    /* Of code at PC to which no way leads: leaves in STATE what is believed of it, and returns PC. What is given from
     * then on, up to CLOSE, holds if that does. Or returns up to where nothing is believed. */
    uint64_t (*believe)(void *ctx, uint64_t pc, struct code_state *state);
    /* Whether something else is believed from NEXT on than in front, although STATE has not changed so. */
    bool (*parts)(void *ctx, uint64_t next, const struct code_state *state);
    /* IS_DATA: what was given since BELIEVE was called is not all code, and counts for nothing. */
    void (*close)(void *ctx, bool is_data);
    void *ctx;
};

/* Analyses UNIT alone. What it jumps to in others becomes their edges. Gives every instruction that was reached, once,
 * in the order of the ways that lead there; then, if WATCH believes anything of them, those that were not, or, where
 * ways are missing or are not all real, all. */
void code_run(struct code *code, struct code_unit *unit, const struct code_watch *watch);

/* Somebody comes to TARGET with STATE, in whatever unit that is. */
void code_add_edge(struct code *code, uint64_t target, const struct code_state *state);
/* A way begins at TARGET, which KIND enters. */
void code_begin_at(struct code *code, uint64_t target, enum code_kind kind);

/* Nobody comes to UNIT any more, until it is said anew: those that jump there are run again. Ways that begin there
 * still do. */
void code_forget_edges(struct code *code, struct code_unit *unit);

/* Whether a symbol at ADDR says that a function begins there. */
bool code_begins_function(const struct code *code, uint64_t addr);
/* Whether FACT is a call of the next instruction, NEXT, which calls nothing: that is how code finds its own address. At
 * the end of a unit it is a call of what lies behind, unless that is a label whose code takes the address at once. */
bool code_is_own_address(const struct code *code, const struct code_fact *fact, uint64_t next);

/* x86: what a call is behind which nobody comes back. What it calls puts another address in the place of its own, and
 * returns: a jump to that; or it takes its address off the stack, and returns: the caller's return. So compilers keep
 * the CPU from guessing where either leads (gcc's -mindirect-branch and -mfunction-return, clang's -mretpoline). */
enum code_detour { DETOUR_NONE, DETOUR_JUMPS, DETOUR_RETURNS };
/* Which of them FACT is, whose next instruction is at NEXT. */
enum code_detour code_detour(const struct code *code, const struct code_fact *fact, uint64_t next);
/* Whether UNIT, which code with STATE jumps to, goes on where that has pushed (gcc's -mindirect-branch=thunk: `push
 * TARGET; jmp __x86_indirect_thunk`). The same instructions return in place of code that has pushed nothing. */
bool code_is_jump_thunk(const struct code *code, struct code_unit *unit, const struct code_state *state);
/* Whether UNIT, which code with STATE jumps to, goes on where a register says, as `jmp *%rax` in its place would
 * (`__x86_indirect_thunk_rax`): that may be in the middle of a frame. The unit may be called, too. */
bool code_is_goto_thunk(const struct code *code, const struct code_unit *unit, const struct code_state *state);

/* What is left behind a call of CALLEE, or of what is not known, NULL. */
void code_after_call(const struct code_cpu *cpu, struct code_state *state, const struct code_unit *callee);

/* Whether the code of UNIT, without CFI, has a row at PC. */
bool code_has_row(const struct code_unit *unit, uint64_t pc);
/* The CFI of UNIT goes: its code is as if it had never had any, and nothing is known of who enters it. */
void code_drop_cfi(struct code *code, struct code_unit *unit);

/* Leaves in HELD what of STATE is true for the frame that calls CALLEE, or what is not known, NULL, until that returns:
 * SP has not moved in it, and what the callee may change counts no more. */
void code_hold(const struct code_cpu *cpu, struct code_state *held, const struct code_state *state,
               const struct code_unit *callee);

bool code_is_outlined(const struct code *code, const struct code_unit *unit);

/* Whether STATE is as a function finds it that has just been called; and as its caller finds it, behind FACT. */
bool code_is_entry(const struct code_cpu *cpu, const struct code_state *state);
bool code_is_left(const struct code_cpu *cpu, const struct code_state *state, const struct code_fact *fact);
/* Whether FACT, which looks like a return, jumps by a table: RA's register is any other once RA is saved (s390x). */
bool code_goes_by_table(const struct code_cpu *cpu, const struct code_state *state, const struct code_fact *fact);

/* SP, which has been BEFORE, may be on another stack now, as in stacks.c. LEFT: it has been stored where
 * no stack is known to be. Returns whether it is. */
bool code_move_stack(const struct code_cpu *cpu, struct code_state *state, const struct code_value *before,
                     bool left);

/* Whether FACT, which returns from an interrupt, finds in STATE what the CPU has left at the entry. */
bool code_resumes_well(const struct code_cpu *cpu, const struct code_state *state, const struct code_fact *fact);
/* Whether SP points to what the CPU has pushed for an interrupt, which is not one with an error code. */
bool code_is_at_pushed(const struct code_cpu *cpu, const struct code_value *sp);

/* What jumps to the start of UNIT, or NULL. */
const struct code_edge *code_edge_to_start(const struct code_unit *unit);

/* Whether the code at ADDR runs in another mode than the image. */
bool code_is_foreign(const struct code *code, uint64_t addr);

/* The unit that ADDR is in, or NULL. */
struct code_unit *code_unit_at(const struct code *code, uint64_t addr);

/* ---- Trust ----------------------------------------------------------------------------------------------------- */

/* Code that nobody is seen to call. CODE_START: nobody has called it; CODE_CALLED: it is an ordinary function. */
struct code_entry_point {
    uint64_t addr;
    size_t order; /* of those that were named */
    enum code_kind kind;
    bool exact;       /* it was named by itself, not by a pattern */
    bool described;   /* CFI says how the code is entered: it is only taken if that turns out to be wrong */
    bool taken;       /* if DESCRIBED: it was */
    bool overrules;   /* a CODE_START: CFI says that the function is called, which does not count */
    const char *text; /* if DESCRIBED and EXACT: as it was named */
};

/* From START up to END, which has a call, an interrupt's entry keeps what register REG had when it came: at OFFSET from
 * what FROM says. ARM's entries keep the PC and SPSR, too; of the SP of the mode
 * that was interrupted, OFFSET is where that pointed to. Its LR is that mode's. Those of i386 keep the PC, too, where
 * exceptions may come from programs: CS says whether one does. Those of RISC-V may keep the PC, SP, FP and RA at OFFSET
 * from what their scratch register has. */
enum {
    CODE_SAVED_EIP = 8, /* i386: CS and flags follow on it */
    CODE_SAVED_PC = 15,
    CODE_SAVED_EPC = 64,    /* RISC-V: the PC, in the structure */
    CODE_SAVED_EPC_ALONE,   /* it is where the CPU has put it, and nowhere else */
    CODE_SAVED_SP_IN_PLACE, /* SP was OFFSET bytes above what it is in the entry */
    CODE_SAVED_STATUS = 128,
    CODE_SAVED_SP_SYS = 149, /* DWARF's number of R13_USR; R14_USR follows */
    CODE_SAVED_SP_SVC = 164  /* the same of R13_SVC */
};

/* What OFFSET counts from: SP; the interrupted SP; what the scratch register of S or M mode has, SURE if nothing that
 * the entry calls may change it, or go on with another thread. */
enum { CODE_FROM_SP, CODE_FROM_INTERRUPTED, CODE_FROM_SSCRATCH, CODE_FROM_MSCRATCH, CODE_FROM_SURE = 4 };

struct code_saved {
    uint64_t start, end;
    int32_t offset;
    uint8_t reg;
    uint8_t from; /* CODE_FROM_... */
};

struct code_how {
    bool derive; /* code without CFI gets rows, too */
    bool find;   /* entries that are not named are found */
    struct code_entry_point *entries;
    size_t num_entries;
    const struct kept *kept; /* code for which the image has rows: none is derived; or NULL */
    /* Takes a unit whose CFI is wrong or, if it is without, with an entry that cannot be described as a whole. */
    void (*found)(void *ctx, const struct code_unit *unit, const struct code_report *report);
    /* Takes an entry that was found, and why; or one of which nothing shows how it is entered, with CODE_KINDS. Where
     * NAMED is not NULL, that is another kind for the same code, which cannot be. May be NULL. */
    void (*entered)(void *ctx, uint64_t addr, enum code_kind kind, const struct code_entry_point *named,
                    const char *why);
    /* Takes where entries keep registers of what they have interrupted: of the registers that rows need, where the
     * entries call. May be NULL. */
    void (*saved)(void *ctx, const struct code_saved *saved);
    /* Takes code that has no rows because it does not run in the image's mode. May be NULL. */
    void (*foreign)(void *ctx, const struct code_region *region);
    void *ctx;
};

/* Reads all code that SPANS describes and gives the entries of CFI the rows of code where it contradicts them. Code
 * without CFI gets entries, if HOW says so: SPANS has to be found anew then. Returns false, and does nothing, if the
 * image's CPU is not known. */
bool code_trust(struct cfi *cfi, const struct cfi_spans *spans, const struct code_how *how,
                struct code_report *report);

#endif
