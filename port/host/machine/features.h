/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The registers that a stub of the GDB protocol says that its target has. Nothing in it is believed. */
#ifndef SFU_HOST_MACHINE_FEATURES_H
#define SFU_HOST_MACHINE_FEATURES_H

#include <stdbool.h>

enum { FEATURE_NAME = 64 };

/* A register, or what is to be read in the place of the tag. */
struct feature_tag {
    bool include;
    bool numbered;           /* a register: number is its own; otherwise it is one more than that before it */
    char name[FEATURE_NAME]; /* "": it has none */
    char number[FEATURE_NAME];
};

/* Takes the next register or inclusion from *TEXT, which ends in a 0. Returns false if there is none. */
bool features_next(const char **text, struct feature_tag *tag);

/* Whether TAG is the register NAME. Some stubs write it in capitals. */
bool features_is(const struct feature_tag *tag, const char *name);

#endif
