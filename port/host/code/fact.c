/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "fact.h"

void code_add(struct code_fact *fact, enum code_do what, uint8_t reg, uint8_t last, uint8_t base, int64_t k)
{
    if (fact->num == CODE_OPS)
        fact->size = 0;
    else
        fact->op[fact->num++] = (struct code_op){(uint8_t)what, reg, last, base, 0, k};
}

void code_table(struct code_fact *fact, uint8_t reg, unsigned width, uint8_t base, uint8_t other, uint8_t index,
                int64_t k)
{
    code_add(fact, CODE_TABLE, reg, (uint8_t)width, base, k);
    if (fact->size != 0)
        fact->op[fact->num - 1].from = other | index << 8;
}

void code_scaled(struct code_fact *fact, uint8_t reg, uint8_t base, uint8_t entry, unsigned how)
{
    code_add(fact, CODE_SCALED, reg, entry, base, 0);
    if (fact->size != 0)
        fact->op[fact->num - 1].from = (int32_t)how;
}

void code_write(struct code_fact *fact, uint8_t base, int64_t k, uint32_t bytes)
{
    code_add(fact, CODE_WRITE, 0, CODE_NONE, base, k);
    if (fact->size != 0)
        fact->op[fact->num - 1].from = (int32_t)bytes;
}

void code_replace_bytes(struct code_fact *fact)
{
    if (fact->size != 0)
        fact->op[fact->num - 1].reg = 1;
}

void code_overwrite(struct code_fact *fact, uint8_t base, int64_t k, uint32_t bytes)
{
    code_write(fact, base, k, bytes);
    code_replace_bytes(fact);
}

void code_repeat(struct code_fact *fact, uint8_t reg)
{
    if (fact->size != 0)
        fact->op[fact->num - 1].last = reg;
}

void code_copy(struct code_fact *fact, uint8_t to, int64_t k, uint8_t from, int64_t offset, unsigned bytes)
{
    code_add(fact, CODE_COPY, from, (uint8_t)(bytes - 1), to, k);
    if (fact->size != 0)
        fact->op[fact->num - 1].from = (int32_t)offset;
}
