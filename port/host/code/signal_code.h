/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Code to which signal handlers return. */
#ifndef SFU_HOST_CODE_SIGNAL_CODE_H
#define SFU_HOST_CODE_SIGNAL_CODE_H

#include "code.h"

/* Rows of a called function go where signal handlers return to, and in front of that. */
void code_leave_to_signals(struct code *code, const struct cfi_spans *spans, const struct code_how *how);

#endif
