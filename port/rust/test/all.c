/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* All that the crate declares, in one object for expect.py. */
#include <stdlib.h>

#include "sfu.c"
#include "port/rust/sfu_rust.c"
