/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Where scenarios get into the kernel. NULL: they do not. */
#ifndef HOOKS_H
#define HOOKS_H

#include "kernel.h"

struct hooks {
    bool (*trap)(struct trap *trap); /* on each trap; returns whether it is done */
    void (*timer)(void);
    void (*fault)(void);   /* in the next fault, before it is reported */
    void (*crashed)(void); /* at the end of a panic */
};
extern struct hooks hooks;

#endif
