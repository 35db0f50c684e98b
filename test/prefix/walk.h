/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The same file compiled twice, for each copy of sfu under its own name. */
#ifndef WALK_H
#define WALK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Walks a stack of three frames by a section of VERSION, frame by frame, by the fast walker and by the printer.
 * Returns what sfu_open returned, or 100 if a trace is not what it must be. */
int walk_plain(int version);
int walk_mine(int version);

#ifdef __cplusplus
}
#endif

#endif
