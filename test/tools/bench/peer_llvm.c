/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* LLVM's libunwind. */
#include <stddef.h>
#include <libunwind.h>
#include "bench.h"
#include "unw_step.h"

extern peer_list peer;

peer_list peer = {{"llvm", NULL, step}, {NULL, NULL, NULL}};
