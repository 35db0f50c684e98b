/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * decodes 8|4|a|t < HEX: what port/host/code says of the instructions of RISC-V, with 8 or 4 bytes in a register, or of
 * ARM, A32 or T32, whose bytes HEX has: in front of them is their PC, all in hexadecimal, one on a line. For each of
 * them a line: its size; where the PC goes; to where, or 0; its condition, of ARM; and what it does, as the operations
 * of code.h. decodes /FILE: whether each instruction of a file is the same when it has been decoded before.
 */
#include "code/code.h"

#include <inttypes.h>
#include <stddef.h>
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

static bool same(const struct code_fact *a, const struct code_fact *b)
{
    const size_t head = offsetof(struct code_fact, op);

    return memcmp(a, b, head) == 0 && memcmp(a->op, b->op, a->num * sizeof *a->op) == 0;
}

/* Decodes the instruction at PC with a decoder of the image, whose bytes end at END, and with one that knows no image.
 * Returns the size of it. */
static unsigned decode_both(const struct code_cpu *cpu, void *const *decoders, struct code_text text, uint64_t pc,
                            uint64_t end, bool *differs)
{
    struct code_fact fact[2];
    unsigned i;

    text.end = end;
    for (i = 0; i < 2; i++) {
        memset(&fact[i], 0xa5, sizeof fact[i]);
        cpu->decode(decoders[i], &text, pc, &fact[i]);
    }
    *differs |= !same(&fact[0], &fact[1]);
    return fact[1].size;
}

/* Prints how many instructions FILE has, and how many of them are others the second time, or where not all of their
 * bytes are there. */
static int decode_twice(const char *file)
{
    struct image image;
    const bool opened = image_open(&image, file);
    const struct code_cpu *cpu = opened ? code_cpu(&image) : NULL;
    void *const decoders[] = {cpu != NULL ? cpu->open(&image) : NULL, cpu != NULL ? cpu->open(NULL) : NULL};
    unsigned long num = 0, others = 0;
    size_t i;

    for (i = 0; cpu != NULL && i < image.num_code; i++) {
        const struct section *s = image.code[i];
        const struct code_text text = {image_instructions(&image, s->addr, s->size), s->addr, s->addr + s->size};
        uint64_t pc = s->addr;

        while (text.bytes != NULL && pc < text.end) {
            bool differs = false;
            unsigned size = decode_both(cpu, decoders, text, pc, text.end, &differs), k;

            for (k = 1; k <= size; k++)
                (void)decode_both(cpu, decoders, text, pc, pc + k, &differs);
            num++;
            others += differs;
            pc += size != 0 ? size : 1;
        }
    }
    printf("%lu instructions, %lu others\n", num, others);
    return 0;
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

    if (kind == '/')
        return decode_twice(argv[1]);
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
