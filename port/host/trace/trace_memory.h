/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What has been kept of the memory of a process or a machine. */
#ifndef SFU_HOST_TRACE_MEMORY_H
#define SFU_HOST_TRACE_MEMORY_H

#include "trace_paging.h"

struct segment {
    uint64_t vaddr, paddr, size;
    const uint8_t *bytes;
};

struct memory {
    struct segment *segments; /* to be freed */
    size_t num;
    bool machine;         /* physical addresses count, too */
    struct paging paging; /* of the CPU that is asked for; its read is memory_read_physical */
    struct paging user;   /* of the user program, if that has tables of its own */
    bool in_user;         /* they count first */
};

void memory_add(struct memory *m, uint64_t vaddr, uint64_t paddr, const uint8_t *bytes, uint64_t size);

/* Reads LEN bytes at ADDR of the struct memory MEMORY. A space_read_fn. */
bool memory_read(void *memory, uint64_t addr, void *buffer, size_t len);

/* The bytes that the page tables of M have at virtual address ADDR, and how many; or NULL. The next thing to ask for is
 * *LEFT bytes on, at least 1. */
const uint8_t *memory_mapped(const struct memory *m, uint64_t addr, uint64_t *size, uint64_t *left);

/* A paging_read_fn. */
bool memory_read_physical(void *memory, uint64_t addr, void *buffer, size_t len);

#endif
