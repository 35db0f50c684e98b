/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* One row of CFI, judged by what holds at its PC; and the row that what holds there makes. */
#ifndef SFU_HOST_CODE_VERDICT_H
#define SFU_HOST_CODE_VERDICT_H

#include "row_list.h"

static inline bool offset_fits(int64_t offset)
{
    return offset == (int32_t)offset;
}

bool value_is_at(const struct code_value *value, unsigned base, int64_t k, bool is_signed);
struct sfu_rule rule_of_register(uint32_t reg, int64_t offset, bool dereference);
bool rule_is_register(const struct sfu_rule *rule);

/* Where the CFA is, as a rule. */
bool place_of_cfa(const struct code_cpu *cpu, const struct code_state *state, struct sfu_rule *rule);
/* Where what register REG had at the entry is now: there, in another register or in memory, with a signature if
 * ANY_SIGN lets it have one. */
bool place_of_entry(const struct code_cpu *cpu, const struct code_state *state, unsigned reg, bool any_sign,
                    struct sfu_rule *rule, bool *is_signed);

/* REFUTED: what the rule names is something else for sure, and the code does not know where it should be. */
enum verdict { CONFIRMED, SILENT, CORRECTED, REFUTED };

/* REFUTED: the row is wrong, and there is no other. */
struct judgement {
    enum verdict cfa, ra, fp, row;
};

/* The slots that rules named last for RA and FP, and that had them, from the CFA; or 0. */
struct stored {
    int32_t ra, fp;
};

/* What holds at an instruction: in front of it and, if it is a call, in the frame that waits for the callee, which a
 * lookup of the return address finds by the same row. A reader knows no registers there but SP and FP. Elsewhere both
 * are the same. */
struct view {
    const struct code_state *state, *held;
    const struct stored *stored; /* by the instructions in front of it; or NULL */
    bool mended;                 /* RISC-V: epilogue_riscv.c mends a CFA that is too high there */
};

/* Judges the rules of ROW by what holds at its PC, and corrects them. */
void judge_row(const struct code_cpu *cpu, const struct view *v, struct cfi_row *row, struct judgement *j);
/* The row that STATE says, without any CFI. Returns false if a part of it is not known. */
bool derive_row(const struct code_cpu *cpu, const struct code_state *state, struct cfi_row *row);

#endif
