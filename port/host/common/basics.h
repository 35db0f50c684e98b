/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What every tool needs: numbers in bytes, lists that grow or are searched, memory, names in broken files. */
#ifndef SFU_HOST_BASICS_H
#define SFU_HOST_BASICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number in the SIZE (1 to 8) bytes at P. */
uint64_t load_number(const uint8_t *p, unsigned size, bool big);

/* The number VALUE into the SIZE bytes at P. */
void store_number(uint8_t *p, unsigned size, bool big, uint64_t value);

/* Room for one more behind COUNT things of SIZE bytes at P. Ends the program if there is no memory. */
void *grow(void *p, size_t count, size_t size);

/* How many of the COUNT elements of SIZE bytes at LIST have a number of at most ADDR in the uint64_t at OFFSET. They
 * are sorted by it. */
size_t count_up_to(const void *list, size_t count, size_t size, size_t offset, uint64_t addr);

/* Sorts the COUNT elements of SIZE bytes at LIST, if they are not sorted yet: most are. */
void put_in_order(void *list, size_t count, size_t size, int (*compare)(const void *, const void *));
/* For that: of elements that begin with a number of 64 bits. */
int by_first_number(const void *a, const void *b);

/* Room for COUNT things of SIZE bytes, zeroed. Ends the program if there is no memory. */
void *zeroed(size_t count, size_t size);

/* The same for SIZE bytes, at least one, which the caller writes before it reads them. */
void *unwritten(size_t size);

/* As strcmp, of the first bytes: names in a broken file can share all of it, and each of them be as long. */
int compare_names(const char *a, const char *b);

/* A copy of TEXT, to be freed. The same if there is no memory. */
char *copied(const char *text);

#endif
