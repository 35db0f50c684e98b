/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Small enough for each machine's immediate operands. */
#define PROBE_FP   0x1230
#define PROBE_KEPT 0x4567
