/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include <stdio.h>
#include "figures.h"

void print_figures(const char *abi, const char *set, const struct figures *f)
{
    printf("%s%s%s instructions=%llu pcs=%llu frames=%llu wrong=%llu no-table=%llu known=%llu\n", abi,
           set[0] != '\0' ? " " : "", set, f->instructions, f->pcs, f->frames, f->wrong, f->no_table, f->known);
    fflush(stdout);
}

void add_figures(struct figures *sum, const struct figures *f)
{
    sum->instructions += f->instructions;
    sum->pcs += f->pcs;
    sum->frames += f->frames;
    sum->wrong += f->wrong;
    sum->no_table += f->no_table;
    sum->known += f->known;
}
