/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What was stepped, counted: step.c says what each figure is. */
#ifndef STEP_FIGURES_H
#define STEP_FIGURES_H

struct figures {
    unsigned long long instructions, pcs, frames, wrong, no_table, known;
};

/* One line, at once. SET may be empty. */
void print_figures(const char *abi, const char *set, const struct figures *f);
void add_figures(struct figures *sum, const struct figures *f);

#endif
