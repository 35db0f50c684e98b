/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * equal IMAGE SECTION: whether the tables that sfu-gen has made, the bytes of a section at the address of
 * IMAGE's own .sframe, say at every PC what that one says, which the assembler and the linker have made; and are not
 * larger, unless they say more. In .plt.got ld is not asked (FAULTS.md: ld-plt-got).
 */
#include "common/image.h"
#include "sfu.h"
#include "test/lib/file.h"
#include "test/lib/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct image image;
static uint64_t pcs, differences, more;
static char first[256];

/* What B has that A has not, or NULL. */
static const char *compare(const struct sfu_row *a, const struct sfu_row *b)
{
    if (a->kind != b->kind || a->trap_frame != b->trap_frame)
        return "kind";
    if (a->kind != SFU_ROW_RULES)
        return NULL;
    if (a->signed_ra != b->signed_ra)
        return "signed RA";
    if (!same_rule(&a->cfa, &b->cfa))
        return "CFA";
    if (!same_rule(&a->ra, &b->ra))
        return "RA";
    return same_rule(&a->fp, &b->fp) ? NULL : "FP";
}

/* A signal frame that the assembler could not describe may have rows. */
static void compare_at(const struct sfu_section *gas, const struct sfu_section *made, uint64_t pc)
{
    struct sfu_row a, b;
    int code = sfu_find(gas, pc, &a), made_code = sfu_find(made, pc, &b);
    const char *what = NULL;

    if (code == SFU_E_NO_FDE) {
        more += made_code == SFU_OK;
        return;
    }
    pcs++;
    if (code != SFU_OK || made_code != SFU_OK)
        what = sfu_string(code != SFU_OK ? code : made_code);
    else if (a.kind == SFU_ROW_ASK && b.kind == SFU_ROW_RULES && b.trap_frame)
        more++;
    else
        what = compare(&a, &b);
    if (what != NULL && differences++ == 0)
        snprintf(first, sizeof first, "0x%" PRIx64 ": %s", pc, what);
}

static int fail(const char *why)
{
    printf("%s (%" PRIu64 " differences)\n", why, differences);
    return 1;
}

int main(int argc, char **argv)
{
    struct sfu_section gas, made;
    struct section *own;
    size_t size, i;
    uint8_t *bytes;

    if (argc != 3 || !image_open(&image, argv[1]) || (own = image_section(&image, ".sframe")) == NULL ||
        !image_load(&image, own))
        return fail("no image");
    bytes = read_file(argv[2], &size);
    if (sfu_open(&gas, own->bytes, own->size, own->addr) != SFU_OK ||
        sfu_open(&made, bytes, size, own->addr) != SFU_OK || sfu_check(&made, NULL) != SFU_OK)
        return fail("a section cannot be opened");
    for (i = 0; i < image.num_code; i++) {
        uint64_t pc = image.code[i]->addr, end = pc + image.code[i]->size;

        if (strcmp(image.code[i]->name, ".plt.got") == 0)
            continue;
        for (; pc < end; pc++)
            compare_at(&gas, &made, pc);
    }
    if (differences > 0)
        return fail(first);
    if (made.end > gas.end && more == 0)
        return fail("larger than the assembler's");
    printf("%" PRIu64 " PCs, %" PRIu64 " more; %" PRIu32 " bytes, the assembler's %" PRIu32 "\n", pcs, more,
           made.end, gas.end);
    return 0;
}
