/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Zephyr: "Core Dump" in its documentation; include/zephyr/debug/coredump.h has the numbers, arch/arm/core/cortex_m/
 * coredump.c the order of the registers. NuttX: up_dump_register and stack_dump.
 */
#include "trace_foreign.h"
#include "common/image.h"
#include "sfu.h"
#include "trace_text.h"

#include <stdlib.h>
#include <string.h>

enum { R7 = 7, R11 = 11, R12 = 12, ALL_BYTES = 8 * LOG_WORDS };

/* What the registers of DUMP, which has those from r0 to r12, make of its FP. */
static void set_fp(struct log_dump *dump)
{
    const unsigned fp = dump->abi == SFU_THUMB ? R7 : R11;

    dump->fp = dump->value[fp];
    dump->has_fp = dump->known[fp];
}

/* Adds the SIZE bytes at BYTES. A word begins at each multiple of 8 of them, and one ends where they end. */
static bool add_memory(struct log_dump *dump, uint64_t addr, const uint8_t *bytes, size_t size)
{
    size_t at;

    for (at = 0; size >= 8 && at < size; at += 8) {
        const size_t from = at < size - 8 ? at : size - 8;

        if (dump->num_words == LOG_WORDS || addr + from > UINT32_MAX)
            return false;
        dump->words = grow(dump->words, dump->num_words, sizeof *dump->words);
        dump->words[dump->num_words].addr = addr + from;
        memcpy(dump->words[dump->num_words++].bytes, bytes + from, 8);
    }
    return true;
}

/* ---- Zephyr ---------------------------------------------------------------------------------------------------- */

enum {
    HEADER = 12,
    CORTEX_M = 3, /* the target */
    WORD_BITS = 5,
    FLAG_CRC = 1,
    FIRST = 9, /* registers in a block of version 1; the others follow in later ones */
    LATER = 8,
    BLOCK = 5,     /* bytes of the header of a block of registers or of threads, */
    SNAPSHOT = 13, /* of registers of another CPU, */
    MEMORY = 11    /* and of memory */
};

/* The registers of a block, of which SIZE bytes are at P. Version 3 says whether the last of them are known. */
static bool take_zephyr_registers(struct log_dump *dump, const uint8_t *p, size_t size, unsigned version)
{
    static const uint8_t first[] = {0, 1, 2, 3, R12};
    bool later = false;
    unsigned i;

    if (version < 1 || version > 3 || size < 4 * FIRST || (version > 1 && size < 4 * (FIRST + LATER)) ||
        (version > 2 && size < 4 * (FIRST + LATER + 1)))
        return false;
    for (i = 0; i < sizeof first; i++) {
        dump->value[first[i]] = load_number(p + 4 * i, 4, false);
        dump->known[first[i]] = true;
    }
    dump->ra = load_number(p + 20, 4, false);
    dump->pc = load_number(p + 24, 4, false) & ~(uint64_t)1;
    dump->sp = load_number(p + 32, 4, false);
    dump->has_ra = dump->has_pc = dump->has_sp = true;
    for (i = 0; version > 1 && i < LATER; i++) {
        dump->value[4 + i] = load_number(p + 4 * (FIRST + i), 4, false);
        later = later || dump->value[4 + i] != 0;
    }
    if (version > 2)
        later = load_number(p + 4 * (FIRST + LATER), 4, false) != 0;
    for (i = 0; i < LATER; i++)
        dump->known[4 + i] = later;
    return true;
}

/* CRC-32 of IEEE 802.3. */
static uint32_t check_of(const uint8_t *bytes, size_t size)
{
    uint32_t sum = 0xffffffff;
    size_t i;
    unsigned bit;

    for (i = 0; i < size; i++) {
        sum ^= bytes[i];
        for (bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xedb88320 : 0);
    }
    return ~sum;
}

/* Takes the block at *AT. Returns NULL, or what is wrong with it. */
static const char *take_zephyr_block(const struct foreign *f, size_t *at, struct log_dump *dump)
{
    const uint8_t *p = f->bytes + *at;
    const size_t left = f->size - *at, head = p[0] == 'M'   ? MEMORY
                                              : p[0] == 'F' ? SNAPSHOT
                                              : p[0] == 'C' ? 7
                                                            : BLOCK;
    uint64_t low, size;

    if (left < head)
        return "it is cut";
    if (p[0] == 'C') {
        *at += head;
        return load_number(p + 3, 4, false) == check_of(f->bytes, (size_t)(p - f->bytes)) ? NULL
                                                                                          : "its check is wrong";
    }
    low = load_number(p + 3, 4, false);
    size = p[0] == 'M' ? load_number(p + 7, 4, false) - low : load_number(p + 3, 2, false);
    if (size > left - head)
        return "it is cut";
    *at += head + (size_t)size;
    if (p[0] == 'M')
        return add_memory(dump, low, p + head, (size_t)size) ? NULL : "its memory cannot be";
    if (p[0] == 'A')
        return take_zephyr_registers(dump, p + head, (size_t)size, (unsigned)load_number(p + 1, 2, false))
                   ? NULL
                   : "its registers are of another version";
    return p[0] == 'T' || p[0] == 'F' ? NULL : "it has a block of another kind";
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
    else if (load_number(f->bytes + 4, 2, false) != CORTEX_M || f->bytes[6] != WORD_BITS)
        f->wrong = "it is of no Cortex-M: let Zephyr's coredump_gdbserver.py read it, and sfu-trace --gdb";
    else if (!abi_is_arm(abi))
        f->wrong = "the image is of another CPU";
    else
        for (f->wrong = NULL; at < f->size && f->wrong == NULL;)
            f->wrong = take_zephyr_block(f, &at, dump);
    set_fp(dump);
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

/* ---- NuttX ----------------------------------------------------------------------------------------------------- */

/* "R4: 00000000", and so on. FP is the fourth of its line: behind R6 it is r7, behind SL r11. */
static bool take_nuttx_register(struct text *t, struct log_dump *dump)
{
    static const struct {
        const char *name;
        uint8_t number;
    } names[] = {{"R10: ", 10}, {"R11: ", R11}, {"R0: ", 0},   {"R1: ", 1},  {"R2: ", 2},  {"R3: ", 3},
                 {"R4: ", 4},   {"R5: ", 5},    {"R6: ", 6},   {"R7: ", R7}, {"R8: ", 8},  {"R9: ", 9},
                 {"SB: ", 9},   {"SL: ", 10},   {"IP: ", R12}, {"SP: ", 13}, {"LR: ", 14}, {"PC: ", 15}};
    uint64_t value;
    size_t i;

    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        const unsigned reg = names[i].number;

        if (!text_take(t, names[i].name))
            continue;
        if (!text_number(t, 16, 8, 8, &value))
            return false;
        dump->value[reg] = value;
        dump->known[reg] = true;
        return true;
    }
    return false;
}

/* A line of four registers, for LINE. Returns whether it is one. */
static bool take_nuttx_registers(struct log_dump *line, struct text t)
{
    uint64_t fp = 0;
    unsigned n, reg;
    bool has_fp = false;

    memset(line, 0, sizeof *line);
    for (n = 0; n < 4; n++) {
        has_fp = n == 3 && text_take(&t, "FP: ");
        if (has_fp ? !text_number(&t, 16, 8, 8, &fp) : !take_nuttx_register(&t, line))
            return false;
        if (n < 3 && !text_take(&t, " "))
            return false;
        (void)text_take(&t, " ");
    }
    if (has_fp) {
        reg = line->known[6] ? R7 : R11;
        line->value[reg] = fp;
        line->known[reg] = true;
    }
    return t.p == t.end;
}

static void set_nuttx_registers(struct foreign *f, const struct log_dump *line)
{
    unsigned reg;

    f->open = FOREIGN_NUTTX;
    for (reg = 0; reg < LOG_REGISTERS; reg++) {
        if (line->known[reg]) {
            f->nuttx.value[reg] = line->value[reg];
            f->nuttx.known[reg] = true;
        }
    }
}

/* "0x20001000: " and eight words of 8 digits. */
static bool take_nuttx_words(struct foreign *f, struct text t)
{
    uint8_t bytes[32];
    uint64_t addr, word;
    unsigned n;

    (void)text_take(&t, "0x");
    if (!text_number(&t, 16, 8, 8, &addr) || !text_take(&t, ":"))
        return false;
    for (n = 0; n < 8; n++) {
        if (!text_take(&t, " ") || !text_number(&t, 16, 8, 8, &word))
            return false;
        store_number(bytes + 4 * n, 4, false, word);
    }
    return t.p == t.end && add_memory(&f->nuttx, addr, bytes, sizeof bytes);
}

/* A PC with the bit of Thumb code is a return address: NuttX has taken it from LR. */
static bool end_nuttx(struct foreign *f, uint8_t abi, struct log_dump *dump)
{
    const struct log_dump *n = &f->nuttx;

    *dump = *n;
    memset(&f->nuttx, 0, sizeof f->nuttx);
    f->open = FOREIGN_OTHER;
    f->wrong = abi_is_arm(abi) ? NULL : "the image is of another CPU";
    dump->abi = abi;
    dump->pc = dump->value[15];
    dump->sp = dump->value[13];
    dump->ra = dump->value[14];
    dump->has_pc = dump->known[15];
    dump->has_sp = dump->known[13];
    dump->has_ra = dump->known[14];
    dump->exact = (dump->pc & 1) == 0;
    dump->known[13] = dump->known[14] = dump->known[15] = false;
    set_fp(dump);
    return true;
}

/* What stands between registers and stacks, or between two stacks. */
static bool is_of_nuttx(struct text t)
{
    static const char *const begins[] = {"xPSR: ",        "CPSR: ", "EXC_RETURN: ", "IRQ Stack:", "User Stack:",
                                         "Kernel Stack:", "base: ", "size: ",       "sp: "};
    size_t i;

    for (i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (text_take(&t, begins[i]))
            return true;
    return false;
}

/* Registers come first, then the words of stacks. Anything else behind these ends the dump. */
static bool take_nuttx(struct foreign *f, uint8_t abi, const char *text, size_t size, struct log_dump *dump)
{
    struct log_dump line;
    bool taken = false;
    size_t i;

    for (i = 0; i < size && !taken; i++) {
        struct text t = {text + i, text + size};

        if (i > 0 && text[i - 1] != ' ')
            continue;
        if (take_nuttx_registers(&line, t)) {
            bool ended = f->nuttx.num_words > 0 && end_nuttx(f, abi, dump);

            set_nuttx_registers(f, &line);
            return ended;
        }
        if (f->open == FOREIGN_NUTTX)
            taken = take_nuttx_words(f, t) || is_of_nuttx(t);
    }
    if (taken || f->open != FOREIGN_NUTTX || f->nuttx.num_words == 0)
        return false;
    return end_nuttx(f, abi, dump);
}

/* ---- Both ------------------------------------------------------------------------------------------------------ */

bool foreign_line(struct foreign *f, uint8_t abi, const char *text, size_t size, struct log_dump *dump)
{
    size_t i;

    for (i = 0; i + 4 <= size; i++) {
        struct text t = {text + i, text + size};

        if (text_take(&t, "#CD:"))
            return take_zephyr(f, abi, t, dump);
    }
    return f->open != FOREIGN_ZEPHYR && take_nuttx(f, abi, text, size, dump);
}

bool foreign_end(struct foreign *f, uint8_t abi, struct log_dump *dump)
{
    if (f->open == FOREIGN_NUTTX && f->nuttx.num_words > 0)
        return end_nuttx(f, abi, dump);
    if (f->open != FOREIGN_ZEPHYR)
        return false;
    (void)end_zephyr(f, abi, dump);
    f->wrong = "it has no end";
    return true;
}

void foreign_clear(struct foreign *f)
{
    free(f->bytes);
    log_dump_clear(&f->nuttx);
    memset(f, 0, sizeof *f);
}
