/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Names, lines and tail calls of an image by its symbols and its debug information: images/symbols.c. */
#ifndef SFU_HOST_IMAGES_SYMBOLS_H
#define SFU_HOST_IMAGES_SYMBOLS_H

#include "images.h"

/* A function at an address: the innermost first, then each that it has been inlined into. FILE is NULL, or the line
 * where the address, or the call that was inlined, is. */
typedef void (*symbols_fn)(void *ctx, const char *function, const char *file, int line, bool inlined);

/* Where files with debug information are, beside the usual places. Before the first image is asked. */
void symbols_set_folder(const char *folder);

/* The separate file with IMAGE's debug information, which stays until the image is closed, or NULL. */
const char *symbols_file(struct trace_image *image);

/* Finds what there is at link-time address ADDR of IMAGE. Returns how many functions it has given. */
unsigned symbols_find(struct trace_image *image, uint64_t addr, symbols_fn found, void *ctx);

/* The name of the function at ADDR from IMAGE's symbols and how far in it is, or NULL. */
const char *symbols_name(struct trace_image *image, uint64_t addr, uint64_t *offset);

/* The address of the function NAME, which has SIZE characters, or of a section of a relocatable object. */
bool symbols_address(struct trace_image *image, const char *name, size_t size, uint64_t *addr);

/* The functions that the one at link-time address ADDR leaves by a tail call, as debug information has its call sites:
 * at most ROOM addresses at TARGETS. Returns how many. ALL: there are no others. */
unsigned symbols_tail_calls(struct trace_image *image, uint64_t addr, uint64_t *targets, unsigned room, bool *all);

void symbols_free(struct trace_image *image);

#endif
