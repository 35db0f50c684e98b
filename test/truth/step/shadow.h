/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The truth: the chain of calls as the machine makes it. It is built from the instructions that are carried out
 * (cpu.c), SP, FP, the link register and the pushed address. CFI and SFrame are never looked at.
 *
 *   call            pushes an entry: the return address (link register, or the word at the new SP), and SP and FP
 *                   as they were at the call, which are what the caller has again after the return.
 *   return          an INDIRECT branch that lands on the top entry's address with the top entry's SP pops it. It
 *                   need not be a ret: a pop and a jmp, or br %r4, are returns too. `ret n` leaves SP n higher; so
 *                   does code that pops the address into a register, moves SP up and jumps there.
 *   tail call       a branch that does neither leaves the chain as it is: the callee returns for its caller.
 *   outlined        a tail call by a piece of the caller that clang has made a function of, OUTLINED_...: what the
 *                   piece has done to FP is the caller's, so FP is what it is at the tail call. The machine must say
 *                   the same at the return.
 *                   A return that lands on the address of the entry below, with its SP, pops both: gcc's thunks of
 *                   returns (-mfunction-return=thunk) call, move SP over that call's address, and return.
 *   help            RISC-V: a call with another link register, of what -msave-restore makes prologues of. It returns to
 *                   what is behind it with an SP that it has moved.
 *   noreturn call   a call like any other, which is not returned from.
 *   longjmp         SP rises above the top entry's by anything but a return: the frames below the new SP are gone.
 *                   The function that does so is about to go to an address that only its coming INDIRECT branch
 *                   tells. Until then the top entry is pending: it has the new SP, and its address and FP are
 *                   filled in by that branch, which pops it. The harness keeps the walks made meanwhile and
 *                   compares them then. On a CPU with a link register a jump to the middle of another function
 *                   with the SP of the top entry is one as well, for the frame ends there; a jump to the start of
 *                   a function is a tail call. Where arguments are pushed (i386), SP does not say which frames are
 *                   gone: setjmp may have been called with more of them than what has led here. There an SP that
 *                   setjmp was called with stands for the frames of that call.
 *   own address     a call of the next instruction, which takes the address off the stack (i386), is none.
 *   signal          the harness has it delivered, and stops at the handler's first instruction: pushes the
 *                   interrupted registers as an interrupted entry, and above it the address to which the handler
 *                   returns.
 *   signal return   SIGRETURN with an interrupted entry on top goes back there and pops it. A handler that leaves by
 *                   longjmp loses both entries by the rule for longjmp.
 *   outermost       the bottom: the program's first function was not called.
 */
#ifndef STEP_SHADOW_H
#define STEP_SHADOW_H

#include "binary.h"
#include "machine.h"

struct entry {
    uint64_t pc, sp, fp;
    bool interrupted;
    bool pending; /* pc and fp are not known yet */
    bool help;    /* what has been called moves SP */
    bool jump;    /* it was pending: the address need not be one that follows a call */
    bool piece;   /* FP is what a piece of the caller has made of it */
};

enum { MAX_ENTRIES = 4096 };

/* Of calls of setjmp that longjmp may return from: the last ones. */
enum { MAX_MARKED = 8 };

struct shadow {
    struct entry entries[MAX_ENTRIES];
    unsigned count;
    struct {
        uint64_t sp;
        unsigned count; /* of entries, behind the call; 0: none */
    } marked[MAX_MARKED];
    unsigned num_marked; /* in all */
    const char *fault;   /* or why the truth is lost */
};

/* A frame of a walk, or what is true of it. */
struct seen {
    uint64_t pc, sp, fp;
    bool exact, reliable;
};

/* The program went from BEFORE by an instruction of KIND to the machine's present registers. */
void shadow_step(struct shadow *shadow, struct machine *m, const struct binary *image, const struct regs *before,
                 enum kind kind);

/* A signal interrupted the program at BEFORE; the machine is at the handler's first instruction. */
void shadow_signal(struct shadow *shadow, struct machine *m, const struct regs *before);

/* The address that the function entered by the last call returns to, by the machine. */
bool return_address(struct machine *m, uint64_t *addr);

/* Whether the next INDIRECT branch tells where a longjmp goes. */
bool shadow_is_pending(const struct shadow *shadow);

/* What is true of the caller of a walk's frame number FRAME, which is below COUNT. The walk began when there were COUNT
 * entries. */
struct seen shadow_caller(const struct shadow *shadow, unsigned count, unsigned frame);

/* The first of "sp", "pc" and "fp" in which SEEN differs from RIGHT, or NULL. */
const char *seen_difference(const struct seen *seen, const struct seen *right);

/* Where the program calls step_mark from: the same place each time, so that all frames but the topmost stay the same.
 */
struct marks {
    uint64_t sp;
    unsigned depth;
    uint64_t now, total; /* phase */
};

/* The machine is at the first instruction of step_mark. What happened since the last mark need not have been watched:
 * the entries above the mark's are gone. */
void shadow_mark(struct shadow *shadow, struct machine *m, struct marks *marks);

#endif
