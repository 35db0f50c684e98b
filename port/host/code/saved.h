/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What the entries of interrupts save of registers. */
#ifndef SFU_HOST_CODE_SAVED_H
#define SFU_HOST_CODE_SAVED_H

#include "code.h"

/* Gives where the entries of interrupts keep registers. Nobody asks for the units' edges behind that. */
void code_find_saved(struct code *code, const struct code_how *how, bool scratch);

#endif
