/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A raw stack dump, for programs that have no tables on board. `sfu-trace kernel.elf` finds it in the console's log,
 * and unwinds it by the tables or the CFI of the ELF file. Needs sfu_build_id.c, but neither sfu.c nor sfu_print.c.
 *
 *     static const struct sfu_dump_place place = {(uintptr_t)image_start, "image_start", NULL};
 *     static const struct sfu_dump dump = {.places = &place, .num_places = 1};
 *
 *     sfu_dump_print(&panic, &dump, &here); // behind sfu_panic_print, or instead of it
 *
 * Without tables, panic.target needs nothing but its stacks. sfu_build_id.h says how
 * the build ID gets into the image.
 *
 * Format. A dump is lines of at most 80 columns. Each begins with "sfu1 ": 1 is the version. A reader looks for that
 * anywhere in a line, because consoles put times and the like in front. One space stands between words. Numbers are
 * hexadecimal, without 0x and in lower case; those of 64 bits have 16 digits. Words of the stack are numbers, whatever
 * the byte order. The lines are, in this order:
 *
 *     sfu1 begin ABI KIND          ABI: a digit, enum sfu_abi. KIND of the PC: exact or return
 *     sfu1 build DIGITS            the build ID; left out if there is none
 *     sfu1 at ADDR NAME [IMAGE]    the symbol or section NAME of the image, or of IMAGE (a module), is at ADDR; none or
 *                                  more lines
 *     sfu1 r NAME VALUE ...        registers: pc, sp, fp; ra if it is known; pac (target's pac_mask) if it is set; then
 *                                  those that target's reg callback knows, if the PC is exact, by DWARF number: NAME
 *                                  has two digits
 *     sfu1 s OFFSET WORD ...       up to 4 words from SP + OFFSET upward; OFFSET has at least 4 digits
 *     sfu1 m ADDR WORD ...         up to 3 words of another stack, from ADDR upward
 *     sfu1 end COUNT               of all these words; COUNT has at least 4 digits
 */
#ifndef SFU_DUMP_H
#define SFU_DUMP_H

#include "sfu_build_id.h"
#include "sfu_print.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where something of an image is now. */
struct sfu_dump_place {
    uint64_t addr;
    const char *name;  /* of a symbol or section, without spaces */
    const char *image; /* its file's name; NULL: the program's own */
};

/* Another stack that the trace may come to: behind an interrupt, for instance. */
struct sfu_dump_stack {
    uint64_t addr;  /* usually the interrupted SP; a multiple of 8 */
    uint32_t words; /* at most */
};

/* What is dumped besides registers and stack. Zero what is not used. */
struct sfu_dump {
    const void *build_id, *build_id_end; /* .note.gnu.build-id, or NULL */
    const struct sfu_dump_place *places;
    unsigned num_places;
    const struct sfu_dump_stack *stacks; /* others than the one that SP is in */
    unsigned num_stacks;
    uint32_t words; /* from SP up, at most SFU_DUMP_MOST; 0: SFU_DUMP_WORDS */
    uint8_t abi;    /* enum sfu_abi; 0: this program's own */
};
#define SFU_DUMP_WORDS 256
#define SFU_DUMP_MOST  131072

/* Prints the dump of TOP by PANIC's put. Stacks are read through PANIC's target as a trace reads them, each up to the
 * first word that cannot be read. Prints nothing while PANIC is being printed. */
void sfu_dump_print(struct sfu_panic *panic, const struct sfu_dump *dump, const struct sfu_registers *top);

#ifdef __cplusplus
}
#endif

#endif
