/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What sfu's printers (port/print, port/depot) have left: lines of a console's log, in front of which anything may
 * stand, times for instance, and crash records. Nothing in them is believed.
 *
 * The files of this room, in the order in which trace_filter.c gives them a line:
 *
 *     text.c               words and numbers; what colours and a terminal's controls leave of a line
 *     mi.c, json.c         registers and memory in one line of GDB's machine interface or of JSON, as many lines
 *     front.c              what a logger has put in front of the line
 *     lines.c              lines that a logger or a terminal has joined or cut, and rows of a table
 *     log.c                what sfu has printed: frames, raw dumps, how a trace ends, crash records
 *     depots.c             the depots that sfu has printed
 *     foreign.c            Zephyr's core dump
 *     dumps.c              registers, words of stacks and lists of calls of other systems, by
 *     formats.c, .txt        how each system prints them
 *     levels.c               aarch64: which SP is in use
 *     scan.c                 numbers and signs of a line, for the three files below
 *     halves.c, braces.c     rows of numbers of four digits; arrays as gdb prints them
 *     lists.c                the addresses of a list of calls
 */
#ifndef SFU_HOST_LOG_H
#define SFU_HOST_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LOG_BUILD_ID = 64,   /* bytes of a build ID, at most */
    LOG_PLACES = 32,     /* in a dump */
    LOG_REGISTERS = 32,  /* by DWARF number */
    LOG_WORDS = 1 << 20, /* of all stacks */
    LOG_NAME = 128
};

/* ---- Traces ---------------------------------------------------------------------------------------------------- */

enum log_kind { LOG_OTHER, LOG_FRAME, LOG_SLIDE, LOG_ID, LOG_END, LOG_DUMP, LOG_RECORD };

struct log_line {
    enum log_kind kind;
    uint64_t number;  /* frame: its number; slide: the slide */
    uint64_t pc;      /* frame */
    const char *name; /* frame: that the printer knew, or NULL */
    size_t name_size;
    uint64_t offset; /* frame: of the PC from NAME */
    bool exact;      /* frame: its PC is exact */
    bool sized;      /* frame: the printer has said its size */
    uint8_t id[LOG_BUILD_ID];
    size_t id_size;
    size_t dump;           /* where the line of a dump begins */
    uint64_t registers[4]; /* crash record: pc, sp, fp, ra */
};

/* Says what the SIZE characters at TEXT are, without the end of the line. */
void log_parse(const char *text, size_t size, struct log_line *line);

/* ---- Crash records (port/print/sfu_record.h) ------------------------------------------------------------------- */

enum { LOG_RECORD_SIZE = 104, LOG_RECORD_WORDS = 12 };

/* A line of its trace: a frame or, if times is not 0, that the LENGTH frames before come TIMES times more. */
struct log_item {
    uint64_t pc;
    bool relative; /* pc is the distance from the start of the image */
    bool exact;
    uint64_t number; /* of the frame, or of the first one that is left out */
    unsigned marks;  /* enum sfu_print_mark */
    uint32_t length, times;
};

struct log_record {
    uint64_t registers[4]; /* pc, sp, fp, ra; ra is 0 if it is not known */
    int32_t code;          /* what ended the walk */
    bool reliable, exact;  /* exact: the PC of registers */
    struct log_item items[LOG_RECORD_WORDS];
    unsigned num_items;
    uint64_t missing; /* frames behind the last item */
};

/* CRC-32 of IEEE 802.3, which crash records and Zephyr's core dumps have. */
uint32_t log_crc32(const uint8_t *bytes, size_t size);

/* Finds the next crash record in the SIZE bytes at BYTES, from *AT on, and sets *AT to where it begins. BIG: the byte
 * order of the machine. Adds to *BROKEN how many it has passed over whose check is wrong. Returns false if there is no
 * other. */
bool log_record_find(const uint8_t *bytes, size_t size, bool big, size_t *at, struct log_record *record,
                     size_t *broken);

/* ---- Raw dumps (port/print/sfu_dump.h) ------------------------------------------------------------------------- */

struct log_place {
    uint64_t addr;
    char name[LOG_NAME], image[LOG_NAME]; /* image: "" for the program's own */
};

struct log_word {
    uint64_t addr;
    uint8_t bytes[8]; /* in the program's byte order */
};

struct log_dump {
    bool open;     /* between begin and end */
    bool ended;    /* end was the last line */
    uint64_t line; /* the number of the last line */
    size_t lost;   /* lines that were missing before it, or damaged */
    uint8_t abi;
    bool exact;
    uint8_t id[LOG_BUILD_ID];
    size_t id_size;
    struct log_place places[LOG_PLACES];
    unsigned num_places;
    uint64_t pc, sp, fp, ra, pac, psp;
    bool has_pc, has_sp, has_fp, has_ra, has_psp;
    uint64_t value[LOG_REGISTERS];
    bool known[LOG_REGISTERS];
    struct log_word *words; /* by address, after log_dump_sort */
    size_t num_words;
    size_t missing; /* words that end counted, but no line had */
    bool counted;   /* words have no addresses in the log: those before them say where they lie */
    bool jumped;    /* a jump has led to the PC, where nothing has run */
};

enum log_dump_event { DUMP_MORE, DUMP_CUT, DUMP_DONE, DUMP_BAD };

/* Takes the SIZE characters at TEXT, which log_parse has found to be a dump's. DUMP_DONE: it is complete. DUMP_CUT:
 * another one begins before its end: give the line again. DUMP_BAD: the line is not of the format, or damaged. A line
 * that comes again is passed over. */
enum log_dump_event log_dump_line(struct log_dump *dump, const char *text, size_t size);

/* Forgets all of DUMP. */
void log_dump_clear(struct log_dump *dump);

/* Sorts the words of DUMP, for log_dump_read. */
void log_dump_sort(struct log_dump *dump);

/* The LEN bytes at ADDR of the dumped stacks. */
bool log_dump_read(void *dump, uint64_t addr, void *buffer, size_t len);

/* ---- Dumps of depots (port/depot/sfu_depot_print.h, log/depots.c): traces with weights ------------------------ */

/* What makes no sense is left out and counted. */

enum {
    DEPOT_PCS = 4096,     /* of a trace, at most */
    DEPOT_ALL = 64 << 20, /* PCs of all traces of a dump, at most; and so many traces */
    DEPOT_UNIT = 16
};

struct depot_trace {
    int64_t weight;
    size_t first, count; /* in pcs */
};

struct depot_dump {
    bool open; /* between begin and end */
    bool exact;
    char unit[DEPOT_UNIT];
    char name[LOG_NAME]; /* "": none */
    uint64_t rate;
    bool has_slide;
    uint64_t slide, base;
    uint8_t id[LOG_BUILD_ID];
    size_t id_size;
    struct log_place places[LOG_PLACES];
    unsigned num_places;
    struct depot_trace *traces;
    size_t num_traces;
    uint64_t *pcs;
    size_t num_pcs;
    bool tracing; /* the last trace may go on */
    int64_t idle, lost;
    size_t bad;       /* lines that are not of the format */
    size_t cut;       /* traces that had not all of their PCs */
    uint64_t missing; /* traces that end counted, but no line had */
};

enum depot_event { DEPOT_OTHER, DEPOT_MORE, DEPOT_DONE };

/* Takes the SIZE characters at TEXT, a line without its end. DEPOT_OTHER: it is not of a dump. DEPOT_DONE: the dump is
 * complete, and DUMP stays until the next begins. If another one begins in the midst of one, or the log ends there,
 * what there is is not complete: depot_cut says so before that line is taken. */
enum depot_event depot_line(struct depot_dump *dump, const char *text, size_t size);

/* Whether TEXT begins a dump. */
bool depot_begins(const char *text, size_t size);

/* Ends a dump that is open: the last trace may be incomplete. */
void depot_cut(struct depot_dump *dump);

void depot_clear(struct depot_dump *dump);

#endif
