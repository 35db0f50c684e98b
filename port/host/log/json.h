/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Memory in a line of JSON, as lines with an address in front of each word: {"0x2000": "0x80001234"}, {"base":
 * "0x2000", "words": [1, 2]}, {"address": 8192, "data": "00112233"}, "stack": "AAECAw==". Nothing in it is believed. */
#ifndef SFU_HOST_LOG_JSON_H
#define SFU_HOST_LOG_JSON_H

#include "lines.h"

/* Calls TAKE for what the SIZE characters at TEXT have beside memory, as lines_split does, then for a line for each
 * word, or for 16 bytes. Returns false if they have no memory in one of these forms. *UNPLACED: an object has words,
 * and a base that is not SP, where they may lie or not; or a map with SP in it has a name that says nothing of
 * memory. */
bool json_split(const char *text, size_t size, const struct lines_names *names, bool *unplaced,
                void (*take)(void *ctx, const char *line, size_t size), void *ctx);

#endif
