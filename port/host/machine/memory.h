/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What cores and dumps have of a process or a machine: page tables (paging.c), memory (memory.c), notes (notes.c).
 * Nothing in a file is believed.
 */
#ifndef SFU_HOST_MACHINE_MEMORY_H
#define SFU_HOST_MACHINE_MEMORY_H

#include "space.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Page tables: from virtual to physical addresses ----------------------------------------------------------- */

/* Each table is read from what has been kept of the machine: a walk reads at most one entry of each level. */

enum paging_kind {
    PAGING_UNKNOWN,
    PAGING_OFF,     /* addresses are physical; on s390x real */
    PAGING_X86_64,  /* Intel's manual, volume 3, 4.5: 4 or 5 levels, pages of 4 KiB, 2 MiB and 1 GiB */
    PAGING_AARCH64, /* Arm's manual, D8: pages of 4, 16 and 64 KiB, and blocks */
    PAGING_S390X,   /* z/Architecture, 3-40: segment and region tables, pages of 4 KiB, 1 MiB and 2 GiB */
    PAGING_I386,    /* Intel's manual, volume 3, 4.3 and 4.4: 2 levels, or 3 (PAE), pages of 4 KiB and 4 or 2 MiB */
    PAGING_RISCV    /* The RISC-V Instruction Set Manual, volume II: Sv32, Sv39, Sv48, Sv57 */
};

/* Reads LEN bytes of physical memory. Returns false if not all of them are there. */
typedef bool (*paging_read_fn)(void *ctx, uint64_t physical, void *buffer, size_t len);

struct paging {
    enum paging_kind kind;
    uint64_t root;   /* x86_64: CR3; aarch64: TTBR1; s390x: the address-space-control element (ASCE);
                      * RISC-V: the physical address of the first table */
    unsigned page;   /* aarch64: bits of an address in a page: 12, 14 or 16 */
    unsigned width;  /* x86_64: bits of a virtual address, 48 or 57; aarch64: those of each half, 25 to 52;
                      * RISC-V: 32, 39, 48, 57 */
    bool lower;      /* aarch64: the root is TTBR0, which maps the lower half */
    uint64_t prefix; /* s390x: which 8 KiB of real addresses are exchanged with the first 8 KiB */
    bool big;        /* tables are big-endian */
    paging_read_fn read;
    void *ctx;
};

/* What a CPU's control registers say, as far as a dump has them. */
struct paging_registers {
    bool has_x86_64, has_i386, has_s390x;
    uint64_t cr0, cr3, cr4;
    uint64_t psw_mask, prefix, control[16];
};

/* Sets kind, root, width and prefix of PAGING by REGS, if those are known. */
void paging_set(struct paging *paging, const struct paging_registers *regs);

/* Sets kind, root and width of PAGING by the register satp of a CPU with words of WORD bytes. */
void paging_set_satp(struct paging *paging, uint64_t satp, unsigned word);

/* Whether the root of PAGING is aligned as its kind, page and width need. */
bool paging_root_fits(const struct paging *paging);

/* Where virtual address ADDR is. *LEFT gets how many bytes, from ADDR on, have the same answer: up to the end of the
 * page, or of what one entry would map. It is at least 1, and ADDR + *LEFT - 1 fits. */
bool paging_translate(const struct paging *paging, uint64_t addr, uint64_t *physical, uint64_t *left);

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

struct segment {
    uint64_t vaddr, paddr, size;
    const uint8_t *bytes;
};

struct memory {
    struct segment *segments; /* to be freed */
    size_t num;
    struct segment *left_out; /* the same: what a core describes, but does not have */
    size_t num_left_out;
    bool machine;         /* physical addresses count, too */
    struct paging paging; /* of the CPU that is asked for; its read is memory_read_physical */
    struct paging user;   /* of the user program, if that has tables of its own */
    bool in_user;         /* they count first */
};

void memory_add(struct memory *m, uint64_t vaddr, uint64_t paddr, const uint8_t *bytes, uint64_t size);

/* Notes that the core knows of this memory, and has left it out. */
void memory_leave_out(struct memory *m, uint64_t vaddr, uint64_t paddr, uint64_t size);

/* Whether ADDR, by virtual or by physical address, lies in such memory. */
bool memory_is_left_out(const struct memory *m, uint64_t addr);

/* Reads LEN bytes at ADDR of the struct memory MEMORY. A space_read_fn. */
bool memory_read(void *memory, uint64_t addr, void *buffer, size_t len);

/* The bytes that the page tables of M have at virtual address ADDR, and how many; or NULL. The next thing to ask for is
 * *LEFT bytes on, at least 1. */
const uint8_t *memory_mapped(const struct memory *m, uint64_t addr, uint64_t *size, uint64_t *left);

/* A paging_read_fn. */
bool memory_read_physical(void *memory, uint64_t addr, void *buffer, size_t len);

/* ---- Notes: what a kernel, gdb or QEMU says of threads, files and the start of the program --------------------- */

struct core_thread {
    uint32_t id;
    uint16_t signal; /* that it got, if there is no note that says more of it; or 0 */
    uint8_t
        passed; /* bytes that the PC lies behind the breakpoint that made the signal, as its note has it; or 0 */
    struct thread_registers regs;
    struct paging_registers control; /* of a CPU */
};

/* Memory from start up to end is that of a file from offset on. */
struct core_file {
    uint64_t start, end, offset;
    const char *name; /* in the bytes of the notes */
};

/* What a note has, or nothing. */
struct note_bytes {
    const uint8_t *bytes;
    size_t size;
};

struct core_notes {
    uint8_t abi;
    struct core_thread *threads;
    size_t num_threads;
    struct core_file *files;
    size_t num_files;
    uint64_t phdr; /* of the program: where its headers are; 0: not known */
    uint64_t vdso; /* 0: none */
    uint64_t base; /* where the dynamic linker lies; 0: there is none, or it is not known */
    uint64_t pac_mask;
    bool by_debugger;            /* gdb has written them: of the process before the threads */
    struct note_bytes auxv;      /* NT_AUXV and NT_FILE as they are */
    struct note_bytes file_list; /* size 0: there is none */
    size_t num_qemu;             /* notes of QEMU for x86_64, one for each CPU, in the order of the threads */
    const char *vmcoreinfo;      /* what Linux says of itself, lines of text; or NULL */
    size_t vmcoreinfo_size;
};

/* Where a note NT_PRSTATUS (struct elf_prstatus) has the thread's number and its registers, and its size, for words of
 * WORD bytes. */
uint32_t status_pid(unsigned word);
uint32_t status_registers(unsigned word);
uint32_t status_size(const struct registers *registers);

/* Adds to NOTES what the SIZE bytes of notes at BYTES say. NOTES is zeroed before the first call, except for abi.
 * Returns false if the notes are broken. */
bool notes_read(struct core_notes *notes, const uint8_t *bytes, uint64_t size);

/* The same of the SIZE bytes of an auxiliary vector at BYTES, which must stay. */
void notes_read_auxv(struct core_notes *notes, const uint8_t *bytes, size_t size);
void notes_free(struct core_notes *notes);

#endif
