/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Lists of calls: the addresses of a line that get names. */
#ifndef SFU_HOST_LOG_LISTS_H
#define SFU_HOST_LOG_LISTS_H

#include "scan.h"

/* Adds ADDR to the NUM addresses at LIST, if there is room; returns how many there are then. */
size_t lists_add(struct named_address *list, size_t num, uint64_t addr, bool is_return);

/* The addresses from AT on. Of a pair, "PC:SP", the first one. */
size_t lists_take_all(struct scan *s, size_t at, bool are_returns, struct named_address *list, size_t num);

/* A line of a list: a number first, or "#" and one; and an address at its end, or behind its number. Or addresses
 * alone. */
size_t lists_take_list_line(struct scan *s, struct named_address *list, size_t num);

/* A line of frames: its first number is the address. A line without a number ends them; before the first one there may
 * be some. */
size_t lists_take_first_number(struct scan *s, struct named_address *list, size_t num);

/* A frame may stand behind what a log puts before its lines. */
size_t lists_take_frame_line(struct scan *s, struct named_address *list, size_t num);

/* "PC 0x... (0xBASE+0xOFFSET) [ 0] NAME": frames of EDK II, whose images begin at BASE. */
size_t lists_take_based_line(struct scan *s, struct named_address *list, size_t num);

/* Whether "#0 ", "[0] ", "=>0 ", "0: " or "0# " stands where the line or a message begins. */
bool lists_begin(const struct scan *s);

/* How many of the FOUND numbers at LIST stand before SIGN, behind which the arguments of a function follow; all, if
 * none does. */
unsigned lists_before_arguments(const struct scan *s, const char *sign, const struct number *list, unsigned found);

#endif
