/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Registers, words of stacks, and lists of calls in a log, as formats.txt describes them. Nothing in them is believed.
 */
#ifndef SFU_HOST_LOG_DUMPS_H
#define SFU_HOST_LOG_DUMPS_H

#include "formats.h"
#include "levels.h"
#include "log.h"

enum { DUMPS_NAMED = 64 /* addresses of a line that get names */ };

/* An address that a line lists. */
struct named_address {
    uint64_t addr, base; /* base: where its image begins; 0: not said */
    bool is_return;      /* it is that of the instruction behind a call */
};

enum { DUMPS_HALVES = 64 /* lines that wait */, DUMPS_HALVES_SIZE = 32 /* bytes of a line */ };

/* How the numbers of four digits in a dump are written. */
enum halves { HALVES_UNKNOWN, HALVES_BYTES /* in the order of memory */, HALVES_NUMBERS /* of 16 bits */ };

/* A line of them that came before this was known. */
struct half_line {
    uint64_t addr;
    uint8_t size, bytes[DUMPS_HALVES_SIZE]; /* as they are written */
};

enum { DUMPS_SHORTS = 128 /* rows of words that are written without zeros */, DUMPS_SHORT_WORDS = 8 };

/* A row of words of eight digits, for a CPU of 64 bits. LAST: no row has come behind it. */
struct narrow_row {
    uint64_t addr;
    uint32_t word[DUMPS_SHORT_WORDS];
    unsigned num;
    bool last;
};

enum { DUMPS_FALLING = 256 };

/* A word whose index from SP on is lower than that of the line before. */
struct falling {
    uint64_t hex, decimal; /* the index, read as either */
    uint64_t word;
};

enum { DUMPS_BRACED = 1024 };

enum { DUMPS_SYMBOL = 64 /* characters of a symbol, and a 0 */ };

/* A row of words without zeros before them: how large a word is, and that they are no decimal numbers, is known when
 * others have come. */
struct short_row {
    uint64_t addr, word[DUMPS_SHORT_WORDS];
    unsigned num;
};

struct dumps {
    const struct formats *formats;
    uint8_t abi;   /* enum sfu_abi of the program; 0: none of sfu's */
    unsigned word; /* bytes of its addresses */
    bool big;      /* its byte order */
    uint32_t cpu;  /* its bit in formats */
    /* Of the dump that is open: */
    struct log_dump dump;
    bool begun;            /* a text that begins one has come */
    bool listed;           /* calls have been listed */
    unsigned registers;    /* how many are known */
    unsigned pointers;     /* how many numbers of registers may be addresses */
    unsigned foreign;      /* names of registers of other CPUs */
    unsigned unknown;      /* names with a number that may be registers, in lines one behind the other */
    unsigned most_unknown; /* the most of them */
    uint64_t foreign_names, unknown_names; /* a bit for each that has been counted */
    unsigned others;                       /* names of registers of this CPU of which nothing is needed */
    unsigned idle;                         /* lines since something was taken */
    bool follow, list;                     /* words of the stack follow; lines of a list of calls follow */
    bool frames, framed;                   /* lines of frames follow; the first of them has come */
    unsigned behind_heading;               /* lines since those were said to follow */
    bool stack_said;                       /* a text has said that the stack follows, */
    bool stack_lost;                       /* and no SP was known: kept from dump to dump */
    unsigned bare;       /* lines of words that were not taken, because nothing says where they lie */
    unsigned singles;    /* the same, of one word each */
    unsigned rows;       /* lines that look like memory, and were not taken */
    unsigned strings;    /* lines with a long hexadecimal number */
    bool unplaced;       /* an object in JSON has words of which it does not say that they are the stack */
    unsigned near_rows;  /* lines that begin with an address near SP, and were not taken */
    unsigned columns;    /* words of the first line of words that have no address; 0: none has come */
    bool top;            /* the first word that has an address is at SP */
    bool again, caller;  /* it ends where the PC of another frame is; it began there */
    const char *unread;  /* what is said of a dump that is not read, or NULL */
    bool taken;          /* the last line belongs to the dump, or is of a format, */
    bool ignored;        /* and all its registers are another frame's */
    uint8_t row;         /* 0, or one more than the register that the words of the next line begin with */
    uint8_t pending;     /* the same, of one whose number stands alone in the next line */
    uint8_t printed;     /* the same, of one that gdb prints in the next line */
    uint8_t member;      /* the same, of one whose number follows in lines of its own, in several bases */
    bool octets;         /* bytes follow, of which none has an address */
    bool single;         /* the words that follow may stand alone in their lines */
    bool headed;         /* a line that ended with their address came before the words that follow */
    uint8_t lone[8];     /* a word that stood alone in its line, behind a text that names the stack; */
    unsigned lone_words; /* how many did, */
    size_t lone_first;   /* the first one's place in dump.words; */
    size_t lone_end;     /* behind the last one's, where they may be return addresses: they are behind the others */
    bool lone_like;      /* the last one can be no return address, */
    bool lone_proven;    /* and one before it */
    bool placed;         /* lines of them had an address, or their distance: one without has lost it */
    bool plain_pc;       /* the PC is not that of an exception that is said beside it */
    uint64_t next;       /* where the words that follow lie, */
    uint64_t first;      /* and the first of them */
    uint64_t base;       /* where the image begins */
    uint64_t slide;      /* how far it was moved */
    uint64_t row_addr;   /* the last row of words that has an address, */
    uint64_t row_size;   /* the bytes of a whole one, */
    unsigned row_words;  /* its words; 0: none has come */
    bool row_short;      /* the last one had fewer */
    bool counted;        /* words were taken that have no address: those before them say where they lie */
    bool contradicted;   /* the log has different words for the same place, */
    uint64_t contradiction; /* which is this */
    bool no_cause;          /* the cause of an exception is 0: none, or an address that is no multiple of 2 */
    uint64_t linked, moved; /* PCs: as the image was linked, and where it ran */
    bool has_base, has_slide, has_linked, has_moved;
    uint64_t exc_return, msp, xpsr;
    bool has_msp, has_xpsr;
    bool pc_twice, mixed; /* a second PC has come before SP; and then a second SP: two CPUs print at once */
    bool top_sp;          /* SP is where the words that were printed begin */
    bool hex_index,
        moved_index; /* "regs[a]" has come, whose numbers are hexadecimal; the first is not x0 of RISC-V */
    struct levels levels;
    bool chosen_sp;   /* SP is that of one of these */
    unsigned group;   /* bytes of the last number of 8 or 16 digits that is a word of the stack; 0: none has come */
    bool are_numbers; /* words are numbers, or of several sizes, */
    bool are_bytes;   /* or bytes in the order of memory */
    enum halves halves;
    bool hex_offsets, octal_offsets; /* the numbers in front of them are */
    unsigned num_halves; /* lines of numbers of four digits whose order is not known: the first ones wait */
    struct half_line half[DUMPS_HALVES];
    struct short_row shorts[DUMPS_SHORTS];
    unsigned num_shorts;
    unsigned shorter; /* how many of them have words of fewer digits than 8: the others were taken, too */
    bool short_hex;   /* a word of them has a letter */
    struct narrow_row narrow_rows[DUMPS_SHORTS];
    unsigned num_narrow;
    unsigned steps_of_4, steps_of_8; /* how many of them words of so many bytes would fill, up to the next row */
    struct falling falling[DUMPS_FALLING];
    unsigned num_falling;
    uint64_t miscounted; /* the address of the last line, above SP, where addresses count words; 0: it had none */
    uint64_t braced[DUMPS_BRACED]; /* elements of an array in braces, */
    unsigned num_braced;
    bool bracing;              /* which has begun, and not ended; */
    bool wide;                 /* the command that prints it names a type as large as a word, on CPUs of 64 bits; */
    bool narrow;               /* its elements are not as large as words */
    char symbol[DUMPS_SYMBOL]; /* what stands before rows whose addresses are distances from it; "": nothing */
    uint64_t symbol_base;      /* where it lies */
    unsigned symbol_rows;      /* such rows that were not taken, because nothing says where they lie */
    uint64_t pair, pair_word;  /* of the last line: an address near SP, and a word */
    bool has_pair;
    char *joined; /* an array that goes on over lines, as one line; to be freed */
    size_t joined_size;
    bool joining; /* it has no end yet */
    uint8_t *run; /* bytes of the stack, one behind the other, that are to be added; to be freed */
    size_t run_size, run_room;
    uint64_t run_addr;
};

/* Begins anew for a program of ABI, or if that is 0, one with addresses of WORD bytes. */
void dumps_start(struct dumps *dumps, const struct formats *formats, uint8_t abi, unsigned word, bool big);

/* Whether the dump that is open ends before the line of SIZE characters at TEXT, which is to be taken then. */
bool dumps_ends(struct dumps *dumps, const char *text, size_t size);

/* Takes that line. Returns how many addresses of it are to be named, at LIST. */
size_t dumps_take(struct dumps *dumps, const char *text, size_t size, struct named_address *list);

/* Sets LIST to the numbers of a line that are as long as addresses; returns how many there are. *FIRST: the line begins
 * with the number 0, as the first frame of a list does. */
size_t dumps_addresses(struct dumps *dumps, const char *text, size_t size, struct named_address *list, bool *first);

/* Sets LIST to all numbers of a line that may be addresses; returns how many there are. */
size_t dumps_numbers(struct dumps *dumps, const char *text, size_t size, struct named_address *list);

/* Completes the dump, so that it can be unwound. Returns whether there is anything to be said of it. */
bool dumps_finish(struct dumps *dumps);

/* Forgets the dump. */
void dumps_clear(struct dumps *dumps);

/* Frees all. */
void dumps_free(struct dumps *dumps);

/* Adds SIZE bytes of a stack to DUMP: at least 8. Returns false if there are too many. */
bool dump_add_memory(struct log_dump *dump, uint64_t addr, const uint8_t *bytes, size_t size);

/* Sets the FP of a DUMP of 32-bit ARM by its registers. */
void dump_set_fp(struct log_dump *dump);

#endif
