/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu_string, for every number. */
#include "prove.h"

void prove_string(void)
{
    int code = nondet_int();
    const char *s = sfu_string(code);
    bool known = code <= SFU_END && code >= SFU_E_DEAD_SLOT;

    PROVE(s >= messages && s < messages + sizeof messages, "there is a message for every code");
    PROVE(s == messages || s[-1] == '\0', "it is a whole one");
    PROVE(known == (s + sizeof "unknown code" < messages + sizeof messages), "the last is for unknown codes");
}
