/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Addresses of data that code takes. */
#ifndef SFU_HOST_CODE_TAKEN_H
#define SFU_HOST_CODE_TAKEN_H

#include "code.h"

/* Whether an instruction of the image puts ADDR, which is that of data, together. Something begins there. */
bool code_takes(struct code *code, uint64_t addr);

#endif
