/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * decodes 8|4|a|t < HEX: what port/host/code says of the instructions of RISC-V, with 8 or 4 bytes in a register, or of
 * ARM, A32 or T32, whose bytes HEX has: in front of them is their PC, all in hexadecimal, one on a line. For each of
 * them a line: its size; where the PC goes; to where, or 0; its condition, of ARM; and what it does, as the operations
 * of code.h.
 */
#include "code/code.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(const struct code_op *op)
{
    static const char *const names[] = {"set",    "number", "table", "scaled", "sum",   "ones",    "mask",
                                        "load",   "store",  "loads", "stores", "write", "stride",  "copy",
                                        "forget", "align",  "bits",  "sign",   "auth",  "insert",  "word",
                                        "shift",  "index",  "fetch", "bound",  "mode",  "control", "save"};

    printf(" %s,%u,%u,%u,%" PRId64 ",%d", names[op->what], op->reg, op->last, op->base, op->k, op->from);
}

int main(int argc, char **argv)
{
    static const char *const flows[] = {"next", "jump", "branch", "call", "return", "away", "resume", "stop"};
    const char kind = argc > 1 ? *argv[1] : '8';
    const struct code_cpu *cpu = kind == '4'   ? &code_riscv32
                                 : kind == 'a' ? &code_arm
                                 : kind == 't' ? &code_thumb
                                               : &code_riscv64;
    char line[128];

    while (fgets(line, sizeof line, stdin) != NULL) {
        char *rest;
        uint8_t bytes[16] = {0};
        struct code_text text = {bytes, strtoull(line, &rest, 16), 0};
        struct code_fact fact;
        uint64_t value = strtoull(rest, &rest, 16);
        unsigned size = (unsigned)strtoul(rest, NULL, 10), i;

        store_number(bytes, 8, false, value);
        text.end = text.start + size;
        cpu->decode(NULL, &text, text.start, &fact);
        printf("%u %s 0x%" PRIx64, fact.size, flows[fact.flow], fact.target);
        if (cpu->mode != 0)
            printf(" %u", fact.condition);
        for (i = 0; i < fact.num; i++)
            put(&fact.op[i]);
        putchar('\n');
    }
    return 0;
}
