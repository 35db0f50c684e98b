/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Reads the vectors of this directory: README.md has their format. Knows nothing of any reader of SFrame, so that each
 * can be run on them.
 */
#ifndef VECTOR_H
#define VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VECTOR_BYTES = 4096, VECTOR_LINES = 256, VECTOR_REASON = 16, VECTOR_WORDS = 4, VECTOR_REGISTERS = 34 };

/* A rule in the two words of a flexible row (specification 3.2). 255 stands for a register that the ABI lacks. */
struct rule {
    uint32_t control;
    int32_t offset;
};

/* A frame before or after a step. */
struct frame {
    uint64_t pc, sp, fp, ra;
    bool exact, has_ra;
};

struct step {
    struct frame before, after;
    uint64_t registers[VECTOR_REGISTERS];
    uint64_t known; /* bit n: registers[n] has a value */
    uint64_t addresses[VECTOR_WORDS], values[VECTOR_WORDS];
    unsigned words;
};

/* One line of what is expected. */
enum expect_kind { EXPECT_OPEN, EXPECT_WHOLE, EXPECT_FUNCTION, EXPECT_PCS, EXPECT_NEXT, EXPECT_STEP };
struct expect {
    enum expect_kind kind;
    char reason[VECTOR_REASON]; /* "ok" if there is none */
    uint64_t first, last;       /* PCS: the PCs; WHOLE: function and row; FUNCTION: its start; NEXT: the offset */
    struct rule cfa, ra, fp;    /* PCS, if the reason is "ok" */
    bool signal, signed_ra;
    struct step step;
};

struct line {
    const char *text;
    int number;
};

/* A section, in one byte order, and what is expected of it. */
struct vector {
    const char *file;
    char name[64];
    int number; /* of its line */
    uint8_t bytes[VECTOR_BYTES];
    size_t size;
    uint64_t at;
    bool big, own; /* own: this is the byte order of its ABI */
    struct line lines[VECTOR_LINES];
    unsigned num_lines;
};

/* DWARF numbers of an ABI's registers, the byte order of its memory, and the bytes of a saved register. */
struct abi {
    uint32_t sp, fp, ra;
    bool big;
    unsigned word;
};
const struct abi *vector_abi(const struct vector *v);

/* For each vector of FILE whose name matches PATTERN, if that is not NULL, calls BEGIN, then RUN for each of its values
 * and sizes, in its own byte order and in the other, then END. Exits with a message if FILE cannot be understood. */
typedef void vector_fn(const struct vector *v);
void vectors_read(const char *file, const char *pattern, vector_fn *begin, vector_fn *run, vector_fn *end);

/* What line INDEX of V expects. Exits with a message if it cannot be understood. */
void vector_expect(const struct vector *v, unsigned index, struct expect *e);

#endif
