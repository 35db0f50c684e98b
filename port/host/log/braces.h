/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The stack as an array that gdb prints, in braces and over lines: "$1 = {0x100b, 0x0 <repeats 12 times>, 0x2}". */
#ifndef SFU_HOST_LOG_BRACES_H
#define SFU_HOST_LOG_BRACES_H

#include "scan.h"

/* Takes a line of such an array, behind a text that names the stack. Its elements are words of the stack from SP on if
 * their values, or the type that the command names, say that they are as large. */
bool braces_take(struct scan *s);

/* Notes the type that the line names, which is a command that prints the stack. */
void braces_note_type(struct scan *s);

#endif
