/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* A function that has been copied at run time, as trampolines are: it is walked through by the rows of the original. */
#ifndef COPIED_H
#define COPIED_H

/* FILE: this program, in memory. */
void copied_test(const void *file);

#endif
