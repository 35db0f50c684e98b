/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A raw stack dump, for programs that have no tables on board. `sfu-trace kernel.elf` finds it in the console's log,
 * and unwinds it by the tables or the CFI of the ELF file. Of this folder it needs two headers alone.
 *
 *     static const struct sfu_dump_place place = {(uintptr_t)image_start, "image_start", NULL};
 *     static const struct sfu_dump dump = {.places = &place, .num_places = 1};
 *
 *     sfu_dump_print(&panic, &dump, &here); // after sfu_panic_print, or instead of it
 *
 * sfu_dump_small.c has the same function in less than 1 KB of code, for a program that dumps itself; it says what it
 * leaves out.
 *
 * Without tables, panic.target needs nothing but its stacks. sfu_build_id.h says how the build ID gets into the image.
 *
 * Format. A dump is lines of at most 80 columns, but for long names of places. Each begins with "sfu2 ": 2 is the
 * version. A reader looks for that anywhere in a line, because consoles put times and the like in front. Then come the
 * line's number in the dump, from 00 up, its words, and a check of 4 digits: CRC-16 (CCITT, polynomial 0x1021, from
 * 0xffff) of what stands between "sfu2 " and the space before the check. So a line that was lost, printed twice or
 * damaged is known to be. One space stands between words. Numbers are hexadecimal, without 0x and in lower case. The
 * lines are, in this order:
 *
 *     sfu2 N begin ABI KIND CHECK    ABI: a digit, enum sfu_abi. KIND of the PC: exact or return
 *     sfu2 N build DIGITS CHECK      the build ID; left out if there is none
 *     sfu2 N at ADDR NAME [IMAGE] CHECK
 *                                    the symbol or section NAME of the image, or of IMAGE (a module), is at ADDR; none
 *                                    or more lines
 *     sfu2 N r NAME VALUE CHECK      a register: pc, sp, fp; ra if it is known; pac (target's pac_mask) if it is set;
 *                                    psp (dump's) if it is set; then those that target's reg callback knows, if the
 *                                    PC is exact, by DWARF number: NAME has two digits
 *     sfu2 N m ADDR WORD ... CHECK   words of memory, from ADDR upward
 *     sfu2 N end COUNT CHECK         of all these words
 *
 * A WORD is a number, whatever the byte order. It is the shortest of these; each line can be read without others:
 *
 *     X         the number itself
 *     +X, -X    X above or below the word's own address
 *     >X, <X    X above or below the last word of the line that was written as more than 8 digits without a sign; or 0
 *     *X        X times more the word before
 */
#ifndef SFU_DUMP_H
#define SFU_DUMP_H

#include "sfu_build_id.h"
#include "sfu_print.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ABI of the program that this is compiled for: enum sfu_abi, or 0 if it is none of these. */
#if defined(__x86_64__)
#define SFU_DUMP_OWN_ABI SFU_AMD64
#elif defined(__i386__)
#define SFU_DUMP_OWN_ABI SFU_I386
#elif defined(__AARCH64EB__)
#define SFU_DUMP_OWN_ABI SFU_AARCH64_BIG
#elif defined(__aarch64__)
#define SFU_DUMP_OWN_ABI SFU_AARCH64
#elif defined(__s390x__)
#define SFU_DUMP_OWN_ABI SFU_S390X
#elif defined(__riscv) && __riscv_xlen == 64
#define SFU_DUMP_OWN_ABI SFU_RISCV64
#elif defined(__riscv) && __riscv_xlen == 32
#define SFU_DUMP_OWN_ABI SFU_RISCV32
#elif defined(__thumb__)
#define SFU_DUMP_OWN_ABI SFU_THUMB
#elif defined(__arm__)
#define SFU_DUMP_OWN_ABI SFU_ARM
#else
#define SFU_DUMP_OWN_ABI 0
#endif

/* Where something of an image is now. */
struct sfu_dump_place {
    sfu_addr addr;
    const char *name;  /* of a symbol or section, without spaces */
    const char *image; /* its file's name; NULL: the program's own */
};

/* Another stack that the trace may come to, across an interrupt for instance, or other memory worth having. */
struct sfu_dump_stack {
    sfu_addr addr;     /* usually the interrupted SP; a multiple of 8 */
    uint32_t words;    /* at most */
    const void *bytes; /* what is at ADDR, if it is no stack of the target: all of it can be read; or NULL */
};

/* What is dumped besides registers and stack. Zero what is not used. */
struct sfu_dump {
    const void *build_id, *build_id_end; /* .note.gnu.build-id, or NULL */
    const struct sfu_dump_place *places;
    unsigned num_places;
    const struct sfu_dump_stack *stacks; /* others than the one that SP is in, and other memory */
    unsigned num_stacks;
    uint32_t words; /* from SP up, at most SFU_DUMP_MOST; 0: SFU_DUMP_WORDS */
    uint8_t abi;    /* enum sfu_abi; 0: this program's own */
    /* Cortex-M: the process stack pointer, where the trace leads through an exception handler to a task; else 0. */
    uint32_t psp;
};
#define SFU_BUILD_ID_HEADER 16 /* bytes of the note before the build ID */
#define SFU_DUMP_WORDS      256
#define SFU_DUMP_MOST       131072

/* Prints the dump of TOP by PANIC's put. Stacks are read through PANIC's target as a trace reads them, each up to the
 * first word that cannot be read. Prints nothing while PANIC is being printed. PANIC must have a put, and a target:
 * sfu_panic_init must have run, or you have set the target. */
void sfu_dump_print(struct sfu_panic *panic, const struct sfu_dump *dump, const struct sfu_registers *top);

#ifdef __cplusplus
}
#endif

#endif
