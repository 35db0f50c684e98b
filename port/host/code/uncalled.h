/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Who is not called, whatever its CFI says. */
#ifndef SFU_HOST_CODE_UNCALLED_H
#define SFU_HOST_CODE_UNCALLED_H

#include "code.h"

/* Entries of CFI go that say of code that it is called, where nobody is seen to call it, and it returns from an
 * interrupt, or may be an interrupt's entry that never returns: the code is as if it had none. What it leads to is
 * forgotten. Returns whether there are any. */
bool code_find_uncalled(struct code *code, const struct code_how *how);

/* RISC-V: whether nothing that the entries which FROM marks call changes a scratch register or SP, as code does that
 * goes on with another thread. What jumps lead to from an entry is a part of it. */
bool code_keeps_scratch(struct code *code, const bool *from);

/* Forgets what has come to the units that FROM marks and to what jumps lead to from there, and marks those, too: it
 * comes anew when the units that are dirty are run. */
void code_forget_ways(struct code *code, bool *from);

#endif
