/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Epilogues that CFI says nothing of: clang's for s390x. The row of the body goes on behind the instruction that has
 * put SP back. What is right there can be read off that instruction.
 */
#ifndef SFU_HOST_EPILOGUE_H
#define SFU_HOST_EPILOGUE_H

#include "cfi.h"

/* The jump at the end of such an epilogue, from START up to END. SP is the caller's there: the CFA is SP + 160. The
 * other rules of the row still hold: what a function saves lies in its caller's frame. */
struct epilogue {
    uint64_t start, end;
};

/* Finds the first jump at or behind PC, an instruction, that lies in ROW behind such an instruction. */
bool epilogue_find(struct image *image, const struct cfi_row *row, uint64_t pc, struct epilogue *found);

/* Whether there is one at PC: what is in front of PC is taken for an instruction. */
bool epilogue_at(struct image *image, const struct cfi_row *row, uint64_t pc, struct epilogue *found);

/* The rule for the CFA there. */
struct sfu_rule epilogue_cfa(const struct image *image);

#endif
