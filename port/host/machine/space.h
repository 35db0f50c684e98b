/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The memory and the registers of what is unwound, dead or alive (space.c), and what their words mean on each CPU:
 * registers by name (registers.c), and by the number that a stub gives them (features.c), frames of signals
 * (signals.c, passed.c) and of a Cortex-M's exceptions (cortexm_frames.c), instructions that trap (traps.c), words that
 * are return addresses (slide.c).
 */
#ifndef SFU_HOST_MACHINE_SPACE_H
#define SFU_HOST_MACHINE_SPACE_H

#include "images/images.h"

/* Registers of a stopped thread by DWARF number. */
struct thread_registers {
    uint64_t value[NUM_REGISTERS];
    bool known[NUM_REGISTERS];
    uint64_t psp; /* Cortex-M: the process stack pointer, which has no DWARF number */
    bool has_psp;
};

/* Reads LEN bytes at ADDR. Returns false if not all of them are there. */
typedef bool (*space_read_fn)(void *ctx, uint64_t addr, void *buffer, size_t len);

/* Where the registers of an interrupted frame are saved. */
enum saved { SAVED_NOWHERE, SAVED_LINUX, SAVED_ARRAY, SAVED_CORTEXM };

/* Frames of several traces. */
struct trace_frames {
    struct trace_frame {
        uint64_t pc, sp;
    } * list; /* to be freed */
    size_t num;
};

/* What is unwound. */
struct trace_space {
    struct trace_images *images;
    uint8_t abi; /* enum sfu_abi */
    space_read_fn read;
    void *ctx;
    struct thread_registers regs; /* of the thread that is walked */
    uint64_t pac_mask;
    uint32_t max_frames;
    uint16_t red_zone;
    bool frame_pointers;
    bool sizes;                /* print the bytes of stack of each frame */
    bool machine;              /* there may be a user mode */
    bool halted;               /* a Cortex-M may have stopped in the handler of a fault */
    bool unplaced;             /* words of the stack have no addresses in the log: they may be others */
    bool jumped;               /* a jump has led to the PC, where nothing has run */
    bool *in_user;             /* set while the walk is in it: its addresses may be others; or NULL */
    struct trace_frames *seen; /* gets each frame that walk_print prints; or NULL */
    /* The walk's own: of the last trap. LINUX: the SP of a signal frame. ARRAY: the address of register 0, by DWARF
     * numbers. CORTEXM: the address of an exception frame. */
    enum saved saved;
    uint64_t saved_at;
    const struct sfu_target *target;
    uint64_t last_ra;  /* that the walk has read, as it was, */
    bool ra_on_stack;  /* in a word of the stack */
    bool lacks_psp;    /* the walk has ended where the process stack pointer had to be known */
    bool in_exception; /* the walk has come to the frame of an exception of a Cortex-M, */
    bool in_thread;    /* and it has interrupted no handler */
};

/* Reads memory, or code from an image's file: kernels leave unchanged code out of cores. */
bool space_read(const struct trace_space *space, uint64_t addr, void *buffer, size_t len);
/* The saved register at ADDR: 8 bytes, of ABIs of 32 bits 4. */
bool space_word(const struct trace_space *space, uint64_t addr, uint64_t *value);

/* Compares the build IDs of placed images with those in memory, as far as it has them. An image that differs is no
 * longer placed, and a message says so. */
void images_verify(struct trace_images *images, const struct trace_space *space);

/* Which of s390x's floating-point registers has DWARF number REG, from 16 to 31. */
unsigned s390x_float(unsigned reg);

/* Sets the register NAME, which a user has written, to TEXT, or *PC_KIND. Returns false if there is none, or TEXT is no
 * number. */
bool registers_set(uint8_t abi, struct thread_registers *regs, uint8_t *pc_kind, const char *name,
                   const char *text);

/* Sets PC, SP, FP and, if it is not 0, RA to what VALUES has, in this order. */
void registers_fill(uint8_t abi, struct thread_registers *regs, const uint64_t *values);

/* Whether SIGNAL is one that leaves the PC behind the instruction that made it: of s390x. */
bool linux_is_behind(uint8_t abi, uint64_t signal);

/* How far behind a byte of the instruction that made a signal PC lies, by the first 24 bytes of the struct siginfo at
 * INFO and the number of the exception (x86_64). 0: PC is at it, or at the next one to run. */
uint64_t linux_passed(uint8_t abi, const uint8_t *info, uint64_t vector, uint64_t pc);

/* The same where nothing but the number of the signal is known: of s390x, a guess, unless there was a system call. */
uint64_t linux_passed_unsure(const struct trace_space *space, uint64_t signal, uint64_t pc);

/* The trap hook for such frames, and the registers that are saved there. */
int linux_trap(const struct trace_space *space, const struct sfu_frame *frame, int code,
               struct sfu_interrupted *interrupted);
/* Whether the step from FROM to TO, whose PC is exact, has crossed such a frame: sets *TRAP to where linux_saved finds
 * its registers. BY_ROW: by CFI, which does not know that the PC lies behind its instruction; TO is put right. */
bool linux_crossed(const struct trace_space *space, const struct sfu_frame *from, bool by_row, struct sfu_frame *to,
                   uint64_t *trap);
bool linux_saved(const struct trace_space *space, uint64_t trap, unsigned reg, uint64_t *value);

/* Whether PC, a return address, is EXC_RETURN: what exception handlers of a Cortex-M return to. */
bool cortexm_is_return(uint8_t abi, uint64_t pc);

/* The trap hook for it, and the registers that the CPU has pushed at FRAME. */
int cortexm_trap(struct trace_space *space, const struct sfu_frame *frame, struct sfu_interrupted *interrupted);
bool cortexm_saved(const struct trace_space *space, uint64_t frame, unsigned reg, uint64_t *value);

/* What the instruction at PC says of its reason if it is one that only traps, or NULL. */
const char *trap_reason(const struct trace_space *space, uint64_t pc);

/* Which check of the compiler has failed if it calls FUNCTION then, or NULL. */
const char *failure_reason(const char *function);

/* Whether ADDR, without the bit of Thumb code, lies behind a call in the code of an image, and the call leads to
 * code. */
bool images_is_return(const struct trace_images *images, uint64_t addr);

/* Finds how far the first image is above its addresses if nobody has GIVEN that (0) and the PC of SPACE is in no image:
 * by words of SPACE. Places it, or says what the user may do. */
void slide_set(struct trace_space *space, uint64_t given);

#endif
