/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Facts of the instructions that have been decoded, by their addresses. The same instruction is read by several rounds
 * and trials, and to decode one of x86_64 takes longer than what is then done with its fact.
 *
 * What an instruction of an image does depends on its own bytes and its address alone, and nobody changes either while
 * the image is open. So what is kept stays valid, and is the fact of whoever asks for a text that has all bytes of the
 * instruction. Bytes that are no instruction are never kept.
 */
#ifndef SFU_HOST_DECODED_H
#define SFU_HOST_DECODED_H

#include "fact.h"

struct decoded;

/* NULL: the image is too large for that. */
struct decoded *decoded_new(struct image *image);
void decoded_free(struct decoded *d);

/* Finds the fact of the instruction at PC. Returns false, and leaves FACT as it is, if it is not kept, or not all of
 * the instruction is in TEXT. */
bool decoded_find(struct decoded *d, const struct code_text *text, uint64_t pc, struct code_fact *fact);
/* Keeps FACT, of an instruction at PC, where decoded_find has found none. All bytes of it that nobody has set are 0. */
void decoded_keep(struct decoded *d, uint64_t pc, const struct code_fact *fact);

#endif
