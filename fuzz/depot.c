/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Dumps of depots in a log, which sfu-trace reads. */
#include "harness.h"
#include "log/log.h"

#include <stdlib.h>
#include <string.h>

/* Traces lie behind each other in pcs, all of them. */
static void check_dump(const struct depot_dump *dump)
{
    size_t sum = 0, i;

    MUST(memchr(dump->name, 0, sizeof dump->name) != NULL && memchr(dump->unit, 0, sizeof dump->unit) != NULL);
    MUST(dump->id_size <= LOG_BUILD_ID && dump->num_places <= LOG_PLACES);
    for (i = 0; i < dump->num_traces; i++) {
        const struct depot_trace *t = &dump->traces[i];

        MUST(t->first == sum && t->count <= DEPOT_PCS);
        sum += t->count;
    }
    MUST(sum == dump->num_pcs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct depot_dump dump;
    char *text = malloc(size + 1);
    size_t at = 0;

    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    memset(&dump, 0, sizeof dump);
    while (at < size) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
        enum depot_event event;

        if (dump.open && depot_begins(text + at, length)) {
            depot_cut(&dump);
            check_dump(&dump);
        }
        event = depot_line(&dump, text + at, length);
        MUST(event != DEPOT_DONE || !dump.open);
        if (event == DEPOT_DONE)
            check_dump(&dump);
        at += length + 1;
    }
    depot_cut(&dump);
    if (dump.num_traces > 0)
        check_dump(&dump);
    depot_clear(&dump);
    free(text);
    return 0;
}
