/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What a trap instruction says of its reason. Compilers put such an instruction behind a check that has failed. Needs
 * sfu_print.c.
 *
 *     static struct sfu_panic panic = {.put = console_put, .before = sfu_print_trap};
 *
 * A trace that begins at such an instruction then has a line in front of it:
 *
 *     trap: index out of bounds
 *
 * Known are __builtin_trap() of gcc and clang; on x86_64, i386 and aarch64 also clang's checks of undefined behaviour
 * (-fsanitize=undefined -fsanitize-trap=undefined), and on x86_64 and aarch64 its check of indirect calls
 * (-fsanitize=kcfi). On other CPUs clang's checks execute __builtin_trap(), so that the line says no more than that.
 */
#ifndef SFU_TRAP_H
#define SFU_TRAP_H

#include "sfu_print.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Prints the line, if TOP's PC is exact and at such an instruction. Reads the instruction only if PANIC's tables have a
 * row for PC, because other memory may not be readable; code that may be executed but not read must not be in the
 * tables then. To use another `before` as well, call both from a function of your own. */
void sfu_print_trap(struct sfu_panic *panic, const struct sfu_registers *top);

/* Returns the text of the instruction at PC, or NULL if it is not one that is known. The memory from 12 bytes before PC
 * to 5 bytes behind it must be readable, as far as an instruction is there. Not moved by relocations. */
const char *sfu_trap_reason(sfu_addr pc);

#ifdef __cplusplus
}
#endif

#endif
