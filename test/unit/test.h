/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What the unit tests share. Every call of sfu goes through a wrapper that notes the code, which the last test of
 * all compares with the list in sfu.h, and that fails the test if an error changed an output. A section is opened
 * in a block of exactly its size, so that the address sanitizer sees each byte read outside of it; unless remote
 * reading is left out, it is opened a second time through a callback, and both must say the same.
 */
#ifndef TEST_H
#define TEST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "test/lib/abi.h"
#include "test/lib/check.h"
#include "sfu.h"

#ifdef SFU_OLDEST_VERSION
#define OLDEST SFU_OLDEST_VERSION
#else
#define OLDEST 1
#endif

/* The ABIs that are built in: all of them, or one, in the byte order that it has. SOME_ABI is one of them, where
 * it does not matter which. */
#ifdef SFU_ABI
#define FIRST_ABI ((int)SFU_ABI)
#define LAST_ABI  ((int)SFU_ABI)
#define SOME_ABI  ((int)SFU_ABI)
#else
#define FIRST_ABI ((int)SFU_AARCH64_BIG)
#define LAST_ABI  ((int)LAST_OF_ABIS)
#define SOME_ABI  ((int)SFU_AMD64)
#endif
#define FOR_ABIS(abi)   for (int abi = use_abi(FIRST_ABI); abi <= LAST_ABI; abi = use_abi(next_abi(abi)))
#define FOR_KINDS(kind) for (int kind = SFU_PC_EXACT; kind <= SFU_PC_RETURN; kind++)
#define FOR_FORMS(abi, big)                                                                                        \
    FOR_ABIS(abi)                                                                                                  \
    for (int big = 0; big < 2; big++)                                                                              \
        if (!built(3, abi, big)) {                                                                                 \
        } else
/* From here on the stack of tests is one of ABI; behind the last, of SOME_ABI. Returns ABI. */
int use_abi(int abi);
/* Whether sections of VERSION and ABI in this byte order are read at all, by this build. */
bool built(int version, int abi, bool big);

/* Where sections lie unless a test says otherwise. */
#define BASE ((sfu_addr)0x400000)

/* ---- Comparing. A failure prints what note said last. ---- */

void note(const char *format, ...);
/* The same of numbers, as %llu or %llx. They become text when a failure prints them: some loops are passed a million
 * times. */
void note_numbers(const char *format, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
void same_at(uint64_t a, uint64_t b, const char *what, const char *file, int line);
void code_at(int got, int want, const char *what, const char *file, int line);
#define same(a, b)       same_at((uint64_t)(a), (uint64_t)(b), #a " == " #b, __FILE__, __LINE__)
#define code(call, want) code_at((call), (want), #call, __FILE__, __LINE__)
#define holds(condition) same((condition) ? 1 : 0, 1)
const char *code_name(int code);
#define LAST_CODE SFU_E_DEAD_SLOT
int seen(int code); /* notes CODE; returns it */
bool was_seen(int code);

/* ---- Memory that is read through a callback ---- */

struct memory {
    const uint8_t *bytes;
    sfu_addr addr, size;
    unsigned reads;   /* so far */
    unsigned fail_at; /* the read that fails, from 1; 0: none */
    bool strict;      /* a read outside of it fails the test, not only the read */
    size_t longest;   /* read so far */
};
int memory_read(void *ctx, sfu_addr addr, void *buffer, size_t len); /* of a section */
int stack_read(void *ctx, sfu_addr addr, void *buffer, size_t len);

/* ---- Sections ---- */

struct opened {
    struct sfu_section mapped, remote;
    struct memory memory; /* behind remote */
    uint8_t *block;       /* behind mapped */
    bool has_remote;
};

/* Both return what both ways of opening returned. close_section is due after SFU_OK only. */
int open_bytes(struct opened *o, const void *bytes, size_t size, sfu_addr addr);
int open_build(struct opened *o, const struct build *b);
void open_valid(struct opened *o, struct build *b); /* build_end first; must succeed */
void close_section(struct opened *o);
sfu_addr size_of(const struct build *b); /* of its bytes */

/* Adds S, which is open, with the text that it has. Reads that this takes are not counted. */
int add(struct sfu_section **list, struct sfu_section *s);

unsigned list_length(const struct sfu_section *list);

int find(struct opened *o, sfu_addr pc, struct sfu_row *row);
int check(struct opened *o, struct sfu_place *place);
int find_frame(const struct sfu_target *t, const struct sfu_frame *frame, struct sfu_row *row);

/* Reads that one lookup may cost beyond the search and one for the head of each row: the range of the FDE, the rest of
 * it, its attribute, the words. */
#define LOOKUP_READS 4
/* Reads that a check may cost for each FDE, and for each row. */
#define CHECK_FDE_READS 3
#define CHECK_ROW_READS 2
/* And for what follows: each place where a header may be. */
#define CHECK_END_READS 8

/* The offset of the CFA's rule that WORD of a row stands for. */
int64_t cfa_offset(int abi, int64_t word);
/* How far SP lies below the CFA, from which a frame's words are counted. */
sfu_addr below(int abi);
/* A word of a default row that makes CFA = base + OFFSET + below. OFFSET is a multiple of 8. */
int64_t cfa_word(int abi, int64_t offset);

/* The PC that the word RA, a return address, stands for. */
sfu_addr pc_of(int abi, sfu_addr ra);
/* The return address behind a call at PC that has the smallest size of an instruction. */
sfu_addr behind_call(int abi, sfu_addr pc);

/* ---- Frames ---- */

/* A stack of words from ADDR up, each in the first bytes of eight of them, and registers. It is the ctx of the
 * target, whose only stack is all of memory:
 * a word that the machine does not have cannot be read. */
struct machine {
    struct memory stack;
    uint8_t bytes[8192];
    bool big;
    sfu_addr reg[34];
    sfu_addr known;      /* bit n: the value of register n can be had */
    unsigned asked;      /* how often */
    sfu_addr stack_size; /* of each stack, for machine_find_stack */
    unsigned finds;      /* how often it was asked */
    int (*trap)(struct machine *m, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted);
    unsigned trapped;
    sfu_addr word[4]; /* for the trap hook */
};
/* use_abi sets these. */
extern sfu_addr stack_base, max_address; /* the last address there is */
extern unsigned word_size;
#define STACK stack_base

void machine_init(struct machine *m, struct sfu_target *t, bool big);
void put_word(struct machine *m, sfu_addr addr, sfu_addr value);
/* A frame of 32 bytes at SP was called from PC, with FP, which lie at its end. Returns the caller's SP. */
sfu_addr called_from(struct machine *m, int abi, sfu_addr sp, sfu_addr pc, sfu_addr fp);
/* A frame record whose CFA is CFA: the caller's FP and the PC. Returns the FP that points at it. */
sfu_addr put_record(struct machine *m, int abi, sfu_addr cfa, sfu_addr fp, sfu_addr pc);
int machine_reg(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value);
int machine_trap(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted);

/* All of memory is stacks of stack_size bytes each, one behind the other, which are read by the callback. */
bool machine_find_stack(void *ctx, sfu_addr addr, struct sfu_stack *stack);

/* Sets the stack of WALK to the one that SP of its frame is on, as sfu_walk_start does. */
void stand(struct sfu_walk *walk);

int apply_to(struct sfu_walk *walk, const struct sfu_row *row);
int apply(const struct sfu_target *t, const struct sfu_row *row, struct sfu_frame *frame);
int step(struct sfu_walk *walk);

/* What is known of an ABI. amd64 and i386 have no register for the RA. */
#define registers abis

/* Compare everything that has a meaning. */
void same_rule_at(const struct sfu_rule *rule, uint32_t control, int64_t offset, const char *file, int line);
#define same_rule(rule, control, offset) same_rule_at(&(rule), (uint32_t)(control), (offset), __FILE__, __LINE__)
void same_row_at(const struct sfu_row *a, const struct sfu_row *b, const char *file, int line);
#define same_row(a, b) same_row_at(a, b, __FILE__, __LINE__)

/* ---- Loops over what is supported ---- */

struct variant {
    int version, abi;
    bool big;
    unsigned flags;
};
/* Calls TEST for every version that is built in, every ABI of that version and both byte orders as far as they are
 * built in, and section- as well as field-relative starts where the version has them. */
void for_each_variant(void (*test)(const struct variant *v));
void begin_variant(struct build *b, const struct variant *v);

/* A number that looks random and is the same in each run. */
uint64_t random_number(void);
void random_seed(uint64_t seed);

/* The one builder that tests use: it is large. */
extern struct build the_build;

/* ---- Files of tests ---- */

int bytes_tests(void);
int section_tests(void);
int function_tests(void);
int row_tests(void);
int frame_tests(void);
int walk_tests(void);
int crash_tests(void);
int stack_tests(void);
int sort_tests(void);
int check_tests(void);
int hostile_tests(void);
int limits_tests(void);
int strings_tests(void);

#endif
