/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "memory.h"
#include "common/image.h"

#include <string.h>

/* The segment with physical address ADDR, and where in it. */
static const struct segment *find_physical(const struct memory *m, uint64_t addr, uint64_t *offset)
{
    size_t i;

    for (i = 0; i < m->num; i++) {
        const struct segment *s = &m->segments[i];

        *offset = addr - s->paddr;
        if (addr >= s->paddr && *offset < s->size)
            return s;
    }
    return NULL;
}

/* The segment that has ADDR, and where in it. By virtual address; one that has only a physical address has 0. */
static const struct segment *find_memory_segment(const struct memory *m, uint64_t addr, uint64_t *offset)
{
    size_t i;

    for (i = 0; i < m->num; i++) {
        const struct segment *s = &m->segments[i];

        *offset = addr - s->vaddr;
        if (addr >= s->vaddr && *offset < s->size && (s->vaddr != 0 || s->paddr == 0))
            return s;
    }
    return m->machine ? find_physical(m, addr, offset) : NULL;
}

/* The same for an address as the program knows it. *LEFT gets how many bytes are there. Where the page tables are known
 * nothing else counts: virtual addresses of segments may be wrong (QEMU 7.2, x86_64), and a physical one is another.
 * Those of aarch64's lower half are the user program's, if anything is known of them. */
static const struct segment *find_virtual(const struct memory *m, uint64_t addr, uint64_t *offset, uint64_t *left)
{
    bool lower = m->paging.kind == PAGING_AARCH64 && addr >> 63 == 0;
    const struct segment *s;
    uint64_t physical, page = UINT64_MAX;

    if (m->user.kind != PAGING_UNKNOWN && (m->in_user || lower) &&
        paging_translate(&m->user, addr, &physical, &page))
        s = find_physical(m, physical, offset);
    else if (m->paging.kind == PAGING_UNKNOWN || lower)
        s = find_memory_segment(m, addr, offset);
    else
        s = paging_translate(&m->paging, addr, &physical, &page) ? find_physical(m, physical, offset) : NULL;
    if (s == NULL)
        return NULL;
    *left = s->size - *offset < page ? s->size - *offset : page;
    return s;
}

const uint8_t *memory_mapped(const struct memory *m, uint64_t addr, uint64_t *size, uint64_t *left)
{
    uint64_t physical, offset;
    const struct segment *s;

    if (!paging_translate(&m->paging, addr, &physical, left))
        return NULL;
    s = find_physical(m, physical, &offset);
    if (s == NULL)
        return NULL;
    if (s->size - offset < *left)
        *left = s->size - offset;
    *size = *left;
    return s->bytes + offset;
}

bool memory_read_physical(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    uint64_t offset;
    const struct segment *s = find_physical(ctx, addr, &offset);

    if (s == NULL || s->size - offset < len)
        return false;
    memcpy(buffer, s->bytes + offset, len);
    return true;
}

bool memory_read(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    uint8_t *to = buffer;

    while (len > 0) {
        uint64_t offset, left;
        const struct segment *s = find_virtual(ctx, addr, &offset, &left);
        size_t n;

        if (s == NULL)
            return false;
        n = left < len ? (size_t)left : len;
        memcpy(to, s->bytes + offset, n);
        to += n;
        len -= n;
        if (len > 0 && addr > UINT64_MAX - n)
            return false;
        addr += n;
    }
    return true;
}

void memory_leave_out(struct memory *m, uint64_t vaddr, uint64_t paddr, uint64_t size)
{
    m->left_out = grow(m->left_out, m->num_left_out, sizeof *m->left_out);
    m->left_out[m->num_left_out++] = (struct segment){vaddr, paddr, size, NULL};
}

bool memory_is_left_out(const struct memory *m, uint64_t addr)
{
    size_t i;

    for (i = 0; i < m->num_left_out; i++) {
        const struct segment *s = &m->left_out[i];

        if (addr - s->vaddr < s->size || (m->machine && addr - s->paddr < s->size))
            return true;
    }
    return false;
}

void memory_add(struct memory *m, uint64_t vaddr, uint64_t paddr, const uint8_t *bytes, uint64_t size)
{
    m->segments = grow(m->segments, m->num, sizeof *m->segments);
    m->segments[m->num++] = (struct segment){vaddr, paddr, size, bytes};
}
