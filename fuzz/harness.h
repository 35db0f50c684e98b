/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What the harnesses share: sections between guard pages, a reader that watches what is read, and the checks that
 * every lookup gets. A check that fails ends the program: that is what a fuzzer looks for.
 */
#ifndef FUZZ_HARNESS_H
#define FUZZ_HARNESS_H

#include "test/lib/rows.h"
#include "test/lib/table.h"

/* Reports the failed condition and aborts. */
#define MUST(condition) ((condition) ? (void)0 : harness_fail(__FILE__, __LINE__, #condition))
void harness_fail(const char *file, int line, const char *condition) __attribute__((noreturn));

/* A harness: the same entry point that libFuzzer calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Copies SIZE (up to MAX_SECTION) bytes into place N (0 to 3), between two guard pages: right behind the first, or
 * right in front of the second if AT_END. The bytes around it are out of bounds for AddressSanitizer too. */
uint8_t *arena_place(unsigned n, const uint8_t *bytes, size_t size, bool at_end);

/* A section that is read through a callback. */
struct remote {
    const uint8_t *bytes;
    uint64_t addr, size;
    uint32_t reads;   /* so far */
    uint32_t fail_at; /* which read fails, the first is 1; 0: none */
};

/* An sfu_read_fn with a struct remote: nothing outside of the section may be asked for. */
int remote_read(void *ctx, uint64_t addr, void *buffer, size_t len);

bool same_registers(const struct sfu_registers *a, const struct sfu_registers *b);

/* Opens BYTES, mapped if REMOTE is NULL, and checks what every open must obey. */
int try_open(struct sfu_section *s, const uint8_t *bytes, size_t size, uint64_t addr, struct remote *remote);

/* sfu_check, and what it must obey. */
int try_check(const struct sfu_section *s, struct sfu_place *place);

/* sfu_find, and what every lookup must obey; CHECKED: the section has passed sfu_check. */
int try_find(const struct sfu_section *s, uint64_t pc, bool checked, struct sfu_row *row);

/* sfu_sort, and what it must obey. */
int try_sort(struct sfu_section *s, uint8_t *bytes);

/* How many reads of S one lookup may take: T is its decoding. */
uint32_t most_reads(const struct sfu_section *s, const struct table *t);

/* How many reads a check may take: no more than S is long, whatever its functions say. */
uint32_t most_check_reads(const struct sfu_section *s);

/* Addresses next to every border in T: functions, rows, repeated blocks. Returns how many, at most MAX_PCS. */
enum { MAX_PCS = 48 };
unsigned interesting_pcs(const struct table *t, uint64_t *pcs);

#endif
