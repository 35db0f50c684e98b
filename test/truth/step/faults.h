/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What was stepped, counted, and the list of places where a compiler's own table is known to be wrong: ../FAULTS.md
 * says what each line means.
 */
#ifndef STEP_FAULTS_H
#define STEP_FAULTS_H

#include "binary.h"
#include "trace.h"

/* step.c says what each is. */
struct figures {
    unsigned long long instructions, pcs, frames, wrong, no_table, known;
};

/* One line, at once. SET may be empty. */
void print_figures(const char *abi, const char *set, const struct figures *f);
void add_figures(struct figures *sum, const struct figures *f);

struct fault {
    char name[64], abi[16], compiler[64], function[64], instruction[64], table[64], truth[64];
    bool usable; /* a program by its compiler was stepped */
    unsigned long matched;
};

struct faults {
    struct fault *list;
    unsigned count;
};

/* One frame that the walk got wrong, or did not reach. */
struct mistake {
    const struct seen *frame; /* of the function whose row it is */
    bool topmost;             /* its registers are known */
    const char *field;        /* the first of the caller's "sp", "pc" and "fp" that is wrong; NULL: not reached */
    struct seen right;        /* the caller */
};

/* ALL: with those of blocks "step-all". */
bool faults_read(struct faults *faults, const char *path, bool all);

/* Notes which faults IMAGE could show. */
void faults_use(struct faults *faults, const struct cpu *cpu, const struct binary *image);

/* Whether MISTAKE, seen in TRACER's program with registers REGS, is exactly one of those listed, which is then
 * counted. */
bool faults_match(struct faults *faults, struct tracer *tracer, const struct binary *image, const struct regs *regs,
                  const struct mistake *mistake);

/* Whether FUNCTION is listed as one that has no table, or none at PC; counts it if so. */
bool faults_no_table(struct faults *faults, const struct cpu *cpu, const struct binary *image, const char *function,
                     uint64_t pc);

/* The row's rule for FIELD, as the list writes it. */
void describe_rule(char *text, size_t size, const struct cpu *cpu, const struct sfu_row *row, const char *field);

/* The instruction at PC, and the one before it if the function's start is not between, in hexadecimal. */
void describe_code(char *text, size_t size, const struct binary *image, uint64_t pc);

#endif
