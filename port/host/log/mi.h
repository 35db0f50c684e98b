/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What GDB's machine interface (MI) prints of registers and memory, as lines with a name or an address in front of each
 * number. Nothing in it is believed. */
#ifndef SFU_HOST_LOG_MI_H
#define SFU_HOST_LOG_MI_H

#include "lines.h"

/* Calls TAKE for each line that the SIZE characters at TEXT stand for. Returns false if they are none of MI's. */
bool mi_split(const char *text, size_t size, const struct lines_names *names,
              void (*take)(void *ctx, const char *line, size_t size), void *ctx);

#endif
