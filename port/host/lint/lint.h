/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What sfu-lint finds out about an image. In this order:
 *     lint_place    where the tables are, and whether the kernel will find them there
 *     lint_rows     what the tables say, by themselves and beside the CFI
 *     lint_worth    which functions have rows, and why others have none
 *     lint_frames   if it is asked for: how much stack functions take
 * Each of them adds its findings by lint_findings.c, which calls none of them.
 */
#ifndef SFU_HOST_LINT_H
#define SFU_HOST_LINT_H

#include "tables/compare.h"
#include "code/modes.h"
#include "common/filled.h"
#include "common/map.h"

/* Without libdw, objects are named by symbols alone. */
#ifdef SFU_NO_LIBDW
typedef void Dwarf;
#else
#include <elfutils/libdw.h>
#endif

/* A fault makes a build fail. A note says what the tables are worth. */
enum lint_level { LINT_FAULT, LINT_NOTE };

/* What can be found. The names that users know are in lint_findings.c. */
enum lint_name {
    LINT_NO_SECTION,
    LINT_DROPPED,
    LINT_NO_BYTES,
    LINT_EMPTY_SECTION,
    LINT_UNFILLED_ROOM,
    LINT_TRUNCATED,
    LINT_BAD_MAGIC,
    LINT_BAD_VERSION,
    LINT_OLD_VERSION,
    LINT_BAD_FLAGS,
    LINT_WRONG_ABI,
    LINT_WRONG_BYTE_ORDER,
    LINT_ABSURD_HEADER,
    LINT_SEVERAL_HEADERS,
    LINT_OBJECT_VERSION,
    LINT_UNSORTED,
    LINT_BAD_ORDER,
    LINT_OVERLAP,
    LINT_BAD_COUNT,
    LINT_CORRUPT_FUNCTION,
    LINT_CORRUPT_ROW,
    LINT_NO_ROWS,
    LINT_NOT_LOADED,
    LINT_NOT_READABLE,
    LINT_WRONG_SEGMENT,
    LINT_IDLE_SEGMENT,
    LINT_STRAY_SECTION,
    LINT_OTHER_SECTION,
    LINT_WRONG_START,
    LINT_WRONG_STARTS,
    LINT_WRONG_END,
    LINT_OUTSIDE_CODE,
    LINT_DEAD_FUNCTIONS,
    LINT_ABSURD_REGISTER,
    LINT_ABSURD_OFFSET,
    LINT_UNSAFE_REGISTER,
    LINT_FP_BELOW_SP,
    LINT_RA_BELOW_SP,
    LINT_STALE_EPILOGUE,
    LINT_WRONG_BY_CODE,
    LINT_NO_OUTERMOST,
    LINT_NO_CFI,
    LINT_WRONG_CFA,
    LINT_WRONG_RA,
    LINT_WRONG_FP,
    LINT_WRONG_SIGNED_RA,
    LINT_WRONG_SIGNAL,
    LINT_WRONG_OUTERMOST,
    LINT_WRONG_ROW,
    LINT_DOUBTFUL_RESTORE,
    LINT_MIXED_OBJECTS,
    LINT_MOSTLY_MISSING,
    LINT_BELOW_REQUIRED,
    LINT_LOST_ROWS,
    LINT_NOT_IN_FLAT,
    LINT_LARGE_FRAME,
    LINT_DEEP_CALLS,
    LINT_NAMES
};

struct lint_kind_of {
    const char *name;
    enum lint_level level;
};
extern const struct lint_kind_of lint_names[LINT_NAMES];

/* Something found. Ranges of PCs in one function with the same name are one fault; notes of the same name
 * are one, except for LINT_WRONG_BY_CODE. */
struct finding {
    enum lint_name name;
    const char *where; /* a function, a section or a symbol; or "" */
    uint64_t offset;   /* from there */
    uint64_t start;    /* address, or 0 */
    uint64_t bytes;    /* of code or of the section; or 0 */
    uint64_t ranges;
    char what[320]; /* of the first range */
};

/* A piece of code: a function, or code between functions that is not padding. */
struct lint_function {
    const char *name; /* "" if nothing names it */
    uint64_t start, end;
    uint64_t covered; /* bytes that have rows */
    uint64_t bytes;   /* those, and what else is neither data nor filled up */
    size_t object;
    const char *reason; /* why not all of it is covered, as a name that stays; or NULL */
    const char *why;    /* the same as a sentence */
};

/* An object file. Number 0 is what belongs to none that is known. */
struct lint_object {
    const char *name;
    uint64_t functions, described; /* described: with rows */
    uint64_t bytes, covered;
    uint64_t cfi; /* functions with CFI */
    uint64_t rows, table_bytes;
};

enum lint_kind { LINT_DEFAULT, LINT_FLEXIBLE, LINT_MASK, LINT_SIGNAL, LINT_OUTERMOST, LINT_KINDS };

struct lint_count {
    uint64_t functions, rows, bytes;
};

/* The stack of a function, in bytes below its caller's SP. */
struct lint_frame {
    uint64_t bytes; /* of the function itself; at least that if DYNAMIC */
    uint64_t depth; /* with what it calls, on the deepest path; at least that if LEAST */
    size_t deepest; /* the function that it calls there, by its number; or its own */
    size_t next;    /* in a cycle: the function that it calls there; else the number of functions */
    bool dynamic;   /* its SP is not known everywhere */
    bool pointers;  /* it calls by a pointer */
    bool cycle;     /* direct calls lead back to it */
    bool least;
    bool called; /* by another function or itself, directly */
};

/* Functions that call each other: a shortest way from FIRST back to it, by lint_frame.next. */
struct lint_cycle {
    size_t first, length;
    uint64_t bytes; /* that each round takes */
};

struct lint_range {
    uint64_t start, end;
};

/* An entry of the tables. */
struct lint_entry {
    uint64_t start;
    uint32_t size, num_rows;
    uint64_t bytes; /* in the section, with its rows */
    enum lint_kind kind;
};

struct lint {
    struct image image;
    struct map map; /* has names of the image, if a map is given */
    struct cfi cfi;
    struct cfi_spans spans;
    struct cfi mended; /* the same with the rows of the machine code where that contradicts; no entry: not known */
    struct cfi_spans mended_spans;
    struct cfi found; /* the same as by sfu-gen --find, as soon as somebody asks: its image is NULL before */
    struct cfi_spans found_spans;
    struct epilogues epilogues; /* of comparisons */
    /* lint_place */
    struct section *section; /* that the tables are in, or NULL */
    uint64_t addr, size;     /* of the tables; with the rest of their room */
    uint64_t used;           /* what the tables take of it, if they are open */
    struct joined tables;    /* sorted */
    bool open;               /* they can be looked up */
    unsigned version;        /* the oldest of the tables */
    /* lint_rows */
    struct lint_entry *entries;
    size_t num_entries;
    uint64_t num_rows;
    struct lint_range *covered; /* by address, in one piece where they touch */
    size_t num_covered;
    uint64_t dead;            /* entries that begin at 0, or in the tables */
    void *decoder;            /* of instructions, as soon as somebody reads one (lint_instructions.c) */
    bool with_fp, without_fp; /* rows say where FP is, or need it; no row does, and there are some (--fp=auto) */
    bool outermost; /* there is a row that marks code as outermost: of a function's own, or in a shared entry */
    struct lint_count kinds[LINT_KINDS];
    struct comparison comparison;
    /* lint_worth */
    Dwarf *dwarf;                    /* the names of objects are its own; or NULL */
    struct lint_function *functions; /* by address */
    size_t num_functions;
    struct filled filled;        /* what lies in code and is none */
    struct code_region *regions; /* of code in other modes than the image's */
    size_t num_regions;
    struct lint_object *objects;
    size_t num_objects;
    uint64_t code_bytes, covered_bytes, described;
    /* lint_frames */
    struct lint_frame *frames; /* one for each function; or NULL */
    bool calls;                /* calls are known, and with them depths */
    struct lint_cycle *cycles;
    size_t num_cycles;
    struct finding *findings;
    size_t num_findings;
    size_t notes[LINT_NAMES]; /* the number of the finding that is the note of this name, + 1; or 0 */
};

/* Opens FILE, whose name must stay, and finds out all. MAP: a file with names of its functions, or NULL. OLDEST: the
 * oldest version that will be read. Returns false, with a line in lint->image.error, if it could not be read. lint_free
 * is to be called after a failure, too. */
bool lint_read(struct lint *lint, const char *file, const char *map, unsigned oldest);
void lint_free(struct lint *lint);

void lint_place(struct lint *lint, unsigned oldest);

/* Whether FILE, a flat binary that was made of the image (objcopy -O binary), has the tables where they belong. Returns
 * false, with a line in lint->image.error, if it could not be read. */
bool lint_flat(struct lint *lint, const char *file);
void lint_rows(struct lint *lint);

/* Reads CFI and SPANS, and gives them the rows of the machine code where that contradicts; FIND: and where it finds who
 * enters it. Does nothing if they have been read, or for an object, whose instructions are not relocated yet. */
bool lint_read_code(struct lint *lint, struct cfi *cfi, struct cfi_spans *spans, bool find);
bool lint_worth(struct lint *lint);
void lint_frames(struct lint *lint);

/* Whether a frame may wait for one that it has called at one of the PCs from START up to END: there is a call, or an
 * instruction that cannot be read. */
bool lint_calls(struct lint *lint, uint64_t start, uint64_t end);

/* Which of FP and RA, CFI_OF_..., have been loaded from the slots that ROW names, and not been changed since, and
 * nothing has been stored since, behind the instructions of ROW, which are the next ones; LOADED: in front of them. */
unsigned lint_loaded(struct lint *lint, const struct cfi_row *row, unsigned loaded);
void lint_close_code(struct lint *lint);

/* Adds a finding about code, which has been found from START up to END. */
void lint_code(struct lint *lint, enum lint_name name, uint64_t start, uint64_t end, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds a finding about WHERE, a section or a symbol, at ADDR. */
void lint_thing(struct lint *lint, enum lint_name name, const char *where, uint64_t addr, uint64_t bytes,
                const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Fills in the object of each function, and the objects' names. Takes them from DWARF and from the symbols of files. */
bool lint_objects(struct lint *lint);

/* Frees what the objects' names are in. */
void lint_objects_free(struct lint *lint);

#endif
