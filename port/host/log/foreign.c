/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Zephyr's core dump: "Core Dump" in its documentation; include/zephyr/debug/coredump.h has the numbers, coredump.c in
 * arch/ the order of the registers.
 */
#include "foreign.h"
#include "common/image.h"
#include "sfu.h"
#include "dumps.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

enum {
    ALL_BYTES = 8 * LOG_WORDS,
    HEADER = 12,
    BLOCK = 5 /* bytes of the header of a block of registers or threads */
};

/* What a word of a block of registers is: a register by DWARF number, or one of these. CALLEE: the same, of one that
 * some programs do not save: if all of them are 0, none is known. */
enum { CALLEE = 0x40, PC = 0x80, SP, FP, RA, KNOWN /* whether those of CALLEE are */, SKIP, END };

static const struct layout {
    uint16_t target; /* enum coredump_tgt_code */
    uint8_t bits;    /* of an address, as a power of 2 */
    uint8_t version;
    uint8_t words[40];
} layouts[] = {
#define CORTEX_M 0, 1, 2, 3, 12, RA, PC, SKIP, SP
#define CORTEX_M_LATER                                                                                             \
    CALLEE | 4, CALLEE | 5, CALLEE | 6, CALLEE | 7, CALLEE | 8, CALLEE | 9, CALLEE | 10, CALLEE | 11
    {3, 5, 1, {CORTEX_M, END}},
    {3, 5, 2, {CORTEX_M, CORTEX_M_LATER, END}},
    {3, 5, 3, {CORTEX_M, CORTEX_M_LATER, KNOWN, END}},
#define RISCV 1, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31, PC, SP, END
#define RISCV_LATER                                                                                                \
    SKIP, 1, SP, 3, 4, 5, 6, 7, FP, CALLEE | 9, 10, 11, 12, 13, 14, 15, 16, 17, CALLEE | 18, CALLEE | 19,          \
        CALLEE | 20, CALLEE | 21, CALLEE | 22, CALLEE | 23, CALLEE | 24, CALLEE | 25, CALLEE | 26, CALLEE | 27,    \
        28, 29, 30, 31, PC, END
    {4, 5, 1, {RISCV}},
    {4, 6, 2, {RISCV}},
    {4, 5, 3, {RISCV_LATER}},
    {4, 6, 4, {RISCV_LATER}},
#define ARM64 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18
    {6, 6, 1, {ARM64, RA, SKIP, PC, END}},
    {6, 6, 2, {ARM64, RA, SKIP, PC, FP, SP, END}},
    {6, 6, 3, {ARM64, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, RA, SKIP, PC, FP, SP, END}},
    {2, 6, 1, {SKIP, SKIP, 0, 2, 1, 4, 5, SP, 8, 9, 10, 11, PC, SKIP, SKIP, SKIP, FP, 3, 12, 13, 14, 15, END}},
};

static void set_word(struct log_dump *dump, uint8_t what, uint64_t value)
{
    if (what == PC) {
        dump->pc = abi_is_arm(dump->abi) ? value & ~UINT64_C(1) : value;
        dump->has_pc = true;
    } else if (what == SP) {
        dump->sp = value;
        dump->has_sp = true;
    } else if (what == FP) {
        dump->fp = value;
        dump->has_fp = value != 0;
    } else if (what == RA) {
        dump->ra = value;
        dump->has_ra = true;
    } else if (what < LOG_REGISTERS) {
        dump->value[what] = value;
        dump->known[what] = true;
    }
}

/* The registers in the SIZE bytes at P. Those at the end may be missing: a program need not save them. */
static bool take_zephyr_registers(struct log_dump *dump, const struct layout *layout, const uint8_t *p, size_t size)
{
    const unsigned word = layout->bits == 6 ? 8 : 4;
    uint64_t values[sizeof layout->words];
    bool known = false, has_pc = false;
    unsigned num, i;

    for (num = 0; layout->words[num] != END && (num + 1) * word <= size; num++) {
        values[num] = load_number(p + num * word, word, false);
        known = layout->words[num] == KNOWN                                          ? values[num] != 0
                : (layout->words[num] & (PC | CALLEE)) == CALLEE && values[num] != 0 ? true
                                                                                     : known;
        has_pc = has_pc || layout->words[num] == PC;
    }
    for (i = 0; i < num; i++)
        if (layout->words[i] < CALLEE || layout->words[i] >= PC)
            set_word(dump, layout->words[i], values[i]);
        else if (known)
            set_word(dump, layout->words[i] & (CALLEE - 1), values[i]);
    if (abi_is_riscv(dump->abi) && dump->known[1]) {
        dump->ra = dump->value[1];
        dump->has_ra = true;
    }
    return has_pc;
}

static const struct layout *find_layout(const struct foreign *f, unsigned version)
{
    const uint64_t target = load_number(f->bytes + 4, 2, false);
    size_t i;

    for (i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        if (layouts[i].target == target && layouts[i].bits == f->bytes[6] &&
            (layouts[i].version == version || version == 0))
            return &layouts[i];
    return NULL;
}

/* Takes the block at *AT. Returns NULL, or what is wrong with it. */
static const char *take_zephyr_block(const struct foreign *f, size_t *at, struct log_dump *dump)
{
    const uint8_t *p = f->bytes + *at;
    const unsigned word = f->bytes[6] == 6 ? 8 : 4;
    const size_t left = f->size - *at, head = p[0] == 'M'   ? 3 + 2 * word
                                              : p[0] == 'F' ? 9 + word
                                              : p[0] == 'C' ? 7
                                                            : BLOCK;
    const struct layout *layout;
    uint64_t low, size;

    if (left < head)
        return "it is cut";
    if (p[0] == 'C') {
        *at += head;
        return load_number(p + 3, 4, false) == log_crc32(f->bytes, (size_t)(p - f->bytes)) ? NULL
                                                                                           : "its check is wrong";
    }
    low = load_number(p + 3, word, false);
    size = p[0] == 'M' ? load_number(p + 3 + word, word, false) - low : load_number(p + 3, 2, false);
    if (size > left - head)
        return "it is cut";
    *at += head + (size_t)size;
    if (p[0] == 'M')
        return dump_add_memory(dump, low, p + head, (size_t)size) ? NULL : "its memory cannot be";
    if (p[0] == 'A') {
        layout = find_layout(f, (unsigned)load_number(p + 1, 2, false));
        return layout != NULL && take_zephyr_registers(dump, layout, p + head, (size_t)size)
                   ? NULL
                   : "its registers are of another version";
    }
    return p[0] == 'T' || p[0] == 'F' ? NULL : "it has a block of another kind";
}

/* Whether a dump of TARGET is one of the CPU of ABI. */
static bool is_for(uint64_t target, uint8_t abi)
{
    return (target == 2 && abi == SFU_AMD64) || (target == 3 && abi_is_arm(abi)) ||
           (target == 4 && abi_is_riscv(abi)) || (target == 6 && abi_is_aarch64(abi));
}

static bool end_zephyr(struct foreign *f, uint8_t abi, struct log_dump *dump)
{
    size_t at = HEADER;

    memset(dump, 0, sizeof *dump);
    dump->abi = abi;
    dump->exact = true;
    f->open = FOREIGN_OTHER;
    if (f->size < HEADER || f->bytes[0] != 'Z' || f->bytes[1] != 'E')
        f->wrong = "it has no header";
    else if (find_layout(f, 0) == NULL)
        f->wrong = "it is of a CPU that sfu does not unwind";
    else if (!is_for(load_number(f->bytes + 4, 2, false), abi))
        f->wrong = "the image is of another CPU";
    else
        for (f->wrong = NULL; at < f->size && f->wrong == NULL;)
            f->wrong = take_zephyr_block(f, &at, dump);
    if (abi_is_arm(abi))
        dump_set_fp(dump);
    return true;
}

/* Behind "#CD:". */
static bool take_zephyr(struct foreign *f, uint8_t abi, struct text t, struct log_dump *dump)
{
    uint8_t line[256];
    size_t size;

    if (text_take(&t, "BEGIN#")) {
        if (f->bytes == NULL)
            f->bytes = zeroed(ALL_BYTES, 1);
        f->open = FOREIGN_ZEPHYR;
        f->size = 0;
        return false;
    }
    if (f->open != FOREIGN_ZEPHYR)
        return false;
    if (text_take(&t, "END#"))
        return end_zephyr(f, abi, dump);
    if (!text_bytes(&t, line, &size, sizeof line) || f->size + size > ALL_BYTES)
        return false;
    memcpy(f->bytes + f->size, line, size);
    f->size += size;
    return false;
}

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

bool foreign_line(struct foreign *f, uint8_t abi, const char *text, size_t size, struct log_dump *dump)
{
    size_t i;

    f->took = false;
    for (i = 0; i + 4 <= size; i++) {
        struct text t = {text + i, text + size};

        if (text_take(&t, "#CD:")) {
            f->took = true;
            return take_zephyr(f, abi, t, dump);
        }
    }
    return false;
}

bool foreign_end(struct foreign *f, uint8_t abi, struct log_dump *dump)
{
    if (f->open != FOREIGN_ZEPHYR)
        return false;
    (void)end_zephyr(f, abi, dump);
    f->wrong = "it has no end";
    return true;
}

void foreign_clear(struct foreign *f)
{
    free(f->bytes);
    memset(f, 0, sizeof *f);
}
