/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* How others print registers, stacks and lists of calls: formats.txt, and files of the user like it. */
#ifndef SFU_HOST_LOG_FORMATS_H
#define SFU_HOST_LOG_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a name stands for: a register by DWARF number, REGISTER_PC, or one of these. */
enum {
    FORMAT_SP = 64,
    FORMAT_FP,
    FORMAT_RA,
    FORMAT_PSP,
    FORMAT_MSP,
    FORMAT_EXC_RETURN,
    FORMAT_XPSR,
    FORMAT_EPC,
    FORMAT_ELR_EL1, /* of aarch64: those of an exception level, */
    FORMAT_ELR_EL2,
    FORMAT_ELR_EL3,
    FORMAT_SP_EL0,
    FORMAT_SP_EL1,
    FORMAT_SP_EL2,
    FORMAT_SP_EL3,
    FORMAT_SPSR, /* of none, */
    FORMAT_SPSR_EL1,
    FORMAT_SPSR_EL2,
    FORMAT_SPSR_EL3,
    FORMAT_CAUSE,
    FORMAT_OTHER
};

/* What stands behind a text, or where it stands. */
enum format_kind {
    FORMAT_REGISTER, /* a register whose name is more than a word; "*" is any text */
    FORMAT_ROW,
    FORMAT_BEGIN,
    FORMAT_FROM,
    FORMAT_STACK,
    FORMAT_TOP,
    FORMAT_CALLS,
    FORMAT_RETURNS,
    FORMAT_LIST,
    FORMAT_FRAMES,
    FORMAT_BASE,
    FORMAT_MOVED,
    FORMAT_LINKED,
    FORMAT_BETWEEN,
    FORMAT_GDB,   /* nothing: it is the name of a register that GDB counts */
    FORMAT_UNREAD /* nothing: it is in a form that is not read */
};

struct format_name {
    const char *name; /* in small letters */
    const char *with; /* it counts only in a line with this word; or NULL */
    uint32_t cpus;    /* a bit for each */
    uint8_t reg;
};

struct format_text {
    enum format_kind kind;
    const char *text; /* in small letters */
    const char *said; /* of FORMAT_UNREAD; else NULL */
    uint32_t cpus;
    uint8_t reg;
};

struct formats {
    struct format_name *names; /* by name, after formats_sort */
    size_t num_names;
    struct format_text *texts;
    size_t num_texts;
    uint32_t cpus;       /* of the lines that are being read */
    unsigned int number; /* of the line */
};

/* Adds a line. Returns NULL, or what is wrong with it. */
const char *formats_add_line(struct formats *formats, const char *line);

/* After the last line. */
void formats_sort(struct formats *formats);

/* The bit of the CPU of ABI, or of those that have none (0). */
uint32_t formats_cpu(uint8_t abi);

/* Finds the SIZE characters at NAME among the names of CPUS. WITH_LINE: the whole line, in small letters. Returns NULL
 * if there is none. */
const struct format_name *formats_find(const struct formats *formats, const char *name, size_t size, uint32_t cpus,
                                       const char *line);

void formats_free(struct formats *formats);

#endif
