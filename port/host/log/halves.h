/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Rows of numbers of four digits. */
#ifndef SFU_HOST_LOG_HALVES_H
#define SFU_HOST_LOG_HALVES_H

#include "scan.h"

/* A line of numbers of four digits: bytes in the order of memory, as xxd prints them, or numbers of 16 bits, as md.w of
 * U-Boot does. Characters behind them tell, in one line for all. */
bool halves_take(struct scan *s);

#endif
