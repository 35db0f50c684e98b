/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What sfu-lint has found: names, levels, and the list. Nothing here looks at an image. */
#include "lint.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct lint_kind_of lint_names[LINT_NAMES] = {
    [LINT_NO_SECTION] = {"no-section", LINT_FAULT},
    [LINT_DROPPED] = {"dropped", LINT_FAULT},
    [LINT_NO_BYTES] = {"no-bytes", LINT_FAULT},
    [LINT_EMPTY_SECTION] = {"empty-section", LINT_FAULT},
    [LINT_UNFILLED_ROOM] = {"unfilled-room", LINT_FAULT},
    [LINT_TRUNCATED] = {"truncated", LINT_FAULT},
    [LINT_BAD_MAGIC] = {"bad-magic", LINT_FAULT},
    [LINT_BAD_VERSION] = {"bad-version", LINT_FAULT},
    [LINT_OLD_VERSION] = {"old-version", LINT_FAULT},
    [LINT_BAD_FLAGS] = {"bad-flags", LINT_FAULT},
    [LINT_WRONG_ABI] = {"wrong-abi", LINT_FAULT},
    [LINT_WRONG_BYTE_ORDER] = {"wrong-byte-order", LINT_FAULT},
    [LINT_ABSURD_HEADER] = {"absurd-header", LINT_FAULT},
    [LINT_SEVERAL_HEADERS] = {"several-headers", LINT_FAULT},
    [LINT_OBJECT_VERSION] = {"object-version", LINT_NOTE},
    [LINT_UNSORTED] = {"unsorted", LINT_FAULT},
    [LINT_BAD_ORDER] = {"bad-order", LINT_FAULT},
    [LINT_OVERLAP] = {"overlap", LINT_FAULT},
    [LINT_BAD_COUNT] = {"bad-count", LINT_FAULT},
    [LINT_CORRUPT_FUNCTION] = {"corrupt-function", LINT_FAULT},
    [LINT_CORRUPT_ROW] = {"corrupt-row", LINT_FAULT},
    [LINT_NO_ROWS] = {"no-rows", LINT_FAULT},
    [LINT_NOT_LOADED] = {"not-loaded", LINT_FAULT},
    [LINT_NOT_READABLE] = {"not-readable", LINT_FAULT},
    [LINT_WRONG_SEGMENT] = {"wrong-segment", LINT_FAULT},
    [LINT_IDLE_SEGMENT] = {"idle-segment", LINT_NOTE},
    [LINT_STRAY_SECTION] = {"stray-section", LINT_FAULT},
    [LINT_OTHER_SECTION] = {"other-section", LINT_NOTE},
    [LINT_WRONG_START] = {"wrong-start", LINT_FAULT},
    [LINT_WRONG_STARTS] = {"wrong-starts", LINT_FAULT},
    [LINT_WRONG_END] = {"wrong-end", LINT_FAULT},
    [LINT_OUTSIDE_CODE] = {"outside-code", LINT_FAULT},
    [LINT_DEAD_FUNCTIONS] = {"dead-functions", LINT_FAULT},
    [LINT_ABSURD_REGISTER] = {"absurd-register", LINT_FAULT},
    [LINT_ABSURD_OFFSET] = {"absurd-offset", LINT_FAULT},
    [LINT_UNSAFE_REGISTER] = {"unsafe-register", LINT_NOTE},
    [LINT_FP_BELOW_SP] = {"fp-below-sp", LINT_NOTE},
    [LINT_RA_BELOW_SP] = {"ra-below-sp", LINT_NOTE},
    [LINT_STALE_EPILOGUE] = {"stale-epilogue", LINT_NOTE},
    [LINT_WRONG_BY_CODE] = {"wrong-by-code", LINT_NOTE},
    [LINT_NO_OUTERMOST] = {"no-outermost", LINT_NOTE},
    [LINT_NO_CFI] = {"no-cfi", LINT_NOTE},
    [LINT_WRONG_CFA] = {"wrong-cfa", LINT_FAULT},
    [LINT_WRONG_RA] = {"wrong-ra", LINT_FAULT},
    [LINT_WRONG_FP] = {"wrong-fp", LINT_FAULT},
    [LINT_WRONG_SIGNED_RA] = {"wrong-signed-ra", LINT_FAULT},
    [LINT_WRONG_SIGNAL] = {"wrong-signal", LINT_FAULT},
    [LINT_WRONG_OUTERMOST] = {"wrong-outermost", LINT_FAULT},
    [LINT_WRONG_ROW] = {"wrong-row", LINT_FAULT},
    [LINT_DOUBTFUL_RESTORE] = {"doubtful-restore", LINT_FAULT},
    [LINT_MIXED_OBJECTS] = {"mixed-objects", LINT_NOTE},
    [LINT_MOSTLY_MISSING] = {"mostly-missing", LINT_FAULT},
    [LINT_BELOW_REQUIRED] = {"below-required", LINT_FAULT},
    [LINT_LOST_ROWS] = {"lost-rows", LINT_FAULT},
    [LINT_NOT_IN_FLAT] = {"not-in-flat", LINT_FAULT},
    [LINT_LARGE_FRAME] = {"large-frame", LINT_FAULT},
    [LINT_DEEP_CALLS] = {"deep-calls", LINT_FAULT},
};

/* Whether there is one finding of NAME for the whole image. */
static bool is_one(enum lint_name name)
{
    return lint_names[name].level == LINT_NOTE && name != LINT_WRONG_BY_CODE;
}

/* The finding that one of NAME at WHERE belongs to, or NULL. */
static struct finding *find_same(struct lint *lint, enum lint_name name, const char *where)
{
    struct finding *last = lint->num_findings > 0 ? &lint->findings[lint->num_findings - 1] : NULL;

    if (is_one(name))
        return lint->notes[name] > 0 ? &lint->findings[lint->notes[name] - 1] : NULL;
    return last != NULL && last->name == name && where[0] != '\0' && last->where == where ? last : NULL;
}

static struct finding *add_finding(struct lint *lint, enum lint_name name, const char *where, uint64_t start,
                                   uint64_t bytes)
{
    struct finding *added;

    lint->findings = grow(lint->findings, lint->num_findings, sizeof *lint->findings);
    added = &lint->findings[lint->num_findings++];
    *added = (struct finding){name, where, 0, start, bytes, 1, ""};
    if (is_one(name))
        lint->notes[name] = lint->num_findings;
    return added;
}

void lint_code(struct lint *lint, enum lint_name name, uint64_t start, uint64_t end, const char *format, ...)
{
    const struct symbol *symbol = image_symbol(&lint->image, start);
    const struct section *section = symbol == NULL ? image_code(&lint->image, start) : NULL;
    const char *where = symbol != NULL ? symbol->name : section != NULL ? section->name : "";
    struct finding *finding = find_same(lint, name, where);
    va_list args;

    if (finding != NULL) {
        finding->bytes += end - start;
        finding->ranges++;
        return;
    }
    finding = add_finding(lint, name, where, start, end - start);
    if (symbol != NULL || section != NULL)
        finding->offset = start - (symbol != NULL ? symbol->addr : section->addr);
    va_start(args, format);
    vsnprintf(finding->what, sizeof finding->what, format, args);
    va_end(args);
}

void lint_thing(struct lint *lint, enum lint_name name, const char *where, uint64_t addr, uint64_t bytes,
                const char *format, ...)
{
    struct finding *finding = add_finding(lint, name, where, addr, bytes);
    va_list args;

    va_start(args, format);
    vsnprintf(finding->what, sizeof finding->what, format, args);
    va_end(args);
}
