/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * reads [-d] [-t ADDRESS | -s ADDRESS | -c ADDRESS] IMAGE...: what port/host/code makes of each function with call
 * frame information, in bytes: one on a line; with -d also how many bytes of code without have rows, and which.
 * -t, -s: where an interrupt enters, with SP as it was, and with another one in the scratch register; -c: what x86_64's
 * syscall enters. A line "sum" is the last one of an image without -d.
 */
#include "code/code.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct image image;

static void put(const char *name, const struct code_report *r)
{
    printf("%s reached %" PRIu64 " confirmed %" PRIu64 " silent %" PRIu64 " corrected %" PRIu64 " lost %" PRIu64
           "\n",
           name, r->reached, r->confirmed, r->silent, r->corrected, r->lost);
}

static void found(void *ctx, const struct code_unit *unit, const struct code_report *report)
{
    const struct symbol *symbol = image_symbol(&image, unit->start);

    (void)ctx;
    put(symbol != NULL ? symbol->name : "-", report);
}

/* The code from the FIRST entry on that has rows only by the machine code. */
static void put_derived(const struct cfi *cfi, size_t first, uint64_t bytes)
{
    printf("derived bytes %" PRIu64 "\n", bytes);
    for (; first < cfi->num_fdes; first++)
        printf("0x%" PRIx64 " rows %" PRIu64 "\n", cfi->fdes[first].start, cfi->fdes[first].size);
}

static bool read_one(const char *file, const struct code_how *how)
{
    struct code_report sum;
    struct cfi_spans spans;
    struct cfi cfi = {0};
    size_t described;

    memset(&image, 0, sizeof image);
    if (!image_open(&image, file) || !cfi_read(&cfi, &image, CFI_EH | CFI_DEBUG) || !cfi_find_spans(&cfi, &spans))
        return false;
    described = cfi.num_fdes;
    if (!code_trust(&cfi, &spans, how, &sum))
        return false;
    printf("all bytes %" PRIu64 "\n", sum.bytes);
    put("sum", &sum);
    if (how->derive)
        put_derived(&cfi, described, sum.derived);
    return true;
}

int main(int argc, char **argv)
{
    struct code_entry_point entry = {.kind = CODE_TRAP, .exact = true};
    struct code_how how = {false, false, &entry, 0, NULL, found, NULL, NULL, NULL, NULL};
    int option;

    while ((option = getopt(argc, argv, "c:ds:t:")) != -1) {
        how.derive = true;
        if (option != 'd') {
            entry.addr = strtoull(optarg, NULL, 16);
            entry.kind = option == 's' ? CODE_SCRATCH : option == 'c' ? CODE_SYSCALL : CODE_TRAP;
            how.num_entries = 1;
        }
    }
    for (; optind < argc; optind++)
        if (!read_one(argv[optind], &how)) {
            fprintf(stderr, "%s\n", image.error);
            return 1;
        }
    return 0;
}
