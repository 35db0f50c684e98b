/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Always compiled so that this function has nothing to do but the capture: it changes no register before. */
#include "registers.h"

void IN_REGISTER capture_leaf(struct sfu_cpu *cpu)
{
    sfu_capture(cpu);
}
