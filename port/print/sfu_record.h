/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The crash record: 104 bytes in memory that survives a reset, for machines whose console nobody reads. The panic path
 * writes it, without waiting for anything. The next boot prints it. Needs sfu.c and sfu_print.c.
 *
 *     extern struct sfu_record crash; // linker script: in memory that nobody clears or loads
 *
 *     // in the panic path, before sfu_panic_print
 *     sfu_record_write(&crash, &panic, (uintptr_t)image_start, &here);
 *
 *     // at boot, when there is a console
 *     if (sfu_record_print(&crash, &panic, (uintptr_t)image_start) != SFU_RECORD_NONE)
 *         sfu_record_clear(&crash);
 *
 * In the linker script, after all that is loaded and after .bss, which start-up code and loaders clear:
 *
 *     . = ALIGN(8); crash = .; . += 104;
 *
 * It prints, where A to D are PCs:
 *
 *     crash record: pc 0x<A> sp 0x<S> fp 0x<F> ra 0x<R>
 *     #0  0x<A>  leaf+0x1c
 *     #1  0x<B>  tick+0x40
 *     #2  0x<C>  work+0x8  [interrupted]
 *         ... 3 more frames, not recorded
 *     trace ends (1): end of the stack: the outermost frame
 *
 * The lines are the printer's, with the same abbreviations and the same frames skipped. sfu-trace puts functions, files
 * and lines under them. There is room for 12 PCs within 128 MiB from the image's start. A PC elsewhere takes the room
 * of three, an abbreviation that of two. PCs are kept relative to that start: names are right also if the next boot is
 * at another address.
 *
 * The machine must keep the memory's contents through the reset, and firmware and loader must leave them alone. A warm
 * reset may drop what is still in the caches: write them back, if the CPU needs that.
 */
#ifndef SFU_RECORD_H
#define SFU_RECORD_H

#include "sfu_print.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SFU_RECORD_WORDS 12 /* room for PCs */

struct sfu_record {
    uint32_t magic;        /* written last */
    uint32_t check;        /* CRC-32 of what follows */
    int32_t code;          /* what ended the walk */
    uint16_t flags, num;   /* num: how many words are used */
    uint32_t first, total; /* number of the first frame in words; frames of the walk */
    /* A frame is a word: (PC - start of the image) * 32 + marks. sfu_record.c has the rest. */
    uint32_t words[SFU_RECORD_WORDS];
    uint64_t registers[4]; /* pc, sp, fp, ra of the topmost frame; ra is 0 if it is not known */
};

/* What is in the memory of a record. */
enum sfu_record_state {
    SFU_RECORD_NONE = 0, /* none: never written, cleared, or lost by the memory */
    SFU_RECORD_GOOD = 1,
    SFU_RECORD_CORRUPT = 2 /* one that has changed since it was written */
};

/* Writes what PANIC would print of the walk that begins at TOP. IMAGE_START is the run-time address that PCs are
 * relative to. Writes nothing while PANIC is busy: then writing or printing has faulted, and the fault has come here
 * again. Returns the code that ended the walk, or SFU_E_STACK if nothing was written. */
int sfu_record_write(volatile struct sfu_record *record, struct sfu_panic *panic, sfu_addr image_start,
                     const struct sfu_registers *top);

/* Says whether there is a record. */
enum sfu_record_state sfu_record_check(const volatile struct sfu_record *record);

/* Prints RECORD by PANIC's put, symbol and slide; IMAGE_START is that of this boot. Says that a record is corrupt.
 * Prints nothing if there is none. PANIC must have a put; it need not have been initialised by sfu_panic_init. Returns
 * what sfu_record_check returns. */
enum sfu_record_state sfu_record_print(const volatile struct sfu_record *record, const struct sfu_panic *panic,
                                       sfu_addr image_start);

/* Removes the record. */
void sfu_record_clear(volatile struct sfu_record *record);

#ifdef __cplusplus
}
#endif

#endif
