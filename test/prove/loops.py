#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Prints the loop contracts of sfu.c for goto-instrument --loop-contracts-file: what each pass of a loop writes, what
holds before and after each, and what gets smaller. With them a proof is of any number of passes: it shows that the
contract holds, and goes on with nothing but the contract."""
import json

ROW = "c->at, c->error, c->row_start, c->row_info, c->word_count, c->word_size, c->words"
FDE = "c->start, c->size, c->num_rows, c->info, c->type, c->repeat"


def errors(*codes):
    """The errors that reading numbers gives, and CODES."""
    more = "".join(f" || c->error == {code}" for code in codes)
    return f"(c->error == 0 || c->error == -6 || (c->error == -7 && c->s->bytes == 0){more})"


def loop(function, number, parameters, variables, writes, holds, decreases):
    """PARAMETERS and VARIABLES are those of FUNCTION that the rest names; with a block's number if they are in one."""
    names = [f"{name},{function}::{name}" for name in parameters.split()]
    names += [f"{name.rpartition('::')[2]},{function}::1::{name}" for name in variables.split()]
    return {
        "loop_id": str(number),
        "assigns": writes,
        "invariants": " && ".join(holds),
        "decreases": decreases,
        "symbol_map": ";".join(names),
    }


SEARCH = loop("find_fde", 0, "c", "low high", "low, high, c->at, c->error",
              ["low <= high", "high <= c->s->num_fdes", errors()], "high - low")

STEP_BACK = loop("find_fde", 1, "c", "high", "high, c->at, c->error, c->start, c->size",
                 ["high <= c->s->num_fdes", errors()], "high")

FIND_ROW = loop("find_row", 0, "c offset", "i start last", "i, start, last, " + ROW, [
    "i <= c->num_rows",
    # the row that was taken starts at or below the offset, and is the last one
    "c->row_start <= offset",
    "(i > 0 || c->row_start == 0)",
    "(i == 0 || c->error != 0 || (last <= offset && c->row_start == last))",
    # the words that it has can be read, or will not be
    "c->word_count <= 15",
    "(c->word_count == 0 || c->word_size == 1 || c->word_size == 2 || c->word_size == 4 || c->word_size == 8)",
    "(c->error != 0 || c->word_size <= 4)",
    errors(-16),
], "c->num_rows - i")

CHECK_ROWS = loop("check_rows", 0, "c", "i next start last row", "i, next, start, last, row, " + ROW,
                  ["i <= c->num_rows", "c->error == 0"], "c->num_rows - i")

CHECK_FDES = loop("check_fdes", 0, "c place", "s start end num_rows",
                  "place->fde, place->row, start, end, num_rows, " + FDE + ", " + ROW,
                  ["place->fde <= s->num_fdes", "c->error == 0"], "s->num_fdes - place->fde")

SWAP = loop("swap", 0, "s", "i p", "i, __CPROVER_object_whole(p)", ["i <= s->fde_size"], "i")

REBASE_FDE = loop("rebase", 0, "fdes", "k size 1::1::start", "k, start, __CPROVER_object_whole(fdes)", ["k <= size"],
                  "size - k")

REBASE = loop("rebase", 1, "fdes s", "i k c size", "i, k, fdes, c.at, c.error, __CPROVER_object_whole(fdes)", [
    "i <= s->num_fdes",
    "(unsigned long)fdes == (unsigned long)__CPROVER_loop_entry(fdes) + (unsigned long)i * s->fde_size",
], "s->num_fdes - i")

SINK = loop("sink", 0, "root count", "", "root", ["root < count"], "count - root")

SORT = loop("sfu_sort", 0, "section", "count root", "root, count", [
    "count <= section->num_fdes",
    # first the heap is made, from the middle down, then it shrinks
    "root <= section->num_fdes / 2",
    "(count == section->num_fdes || root == 0)",
], "(unsigned long)count + root")

print(json.dumps({
    "sources": ["sfu.c"],
    "functions": [{
        "find_fde": [SEARCH, STEP_BACK],
        "find_row": [FIND_ROW],
        "check_rows": [CHECK_ROWS],
        "check_fdes": [CHECK_FDES],
        "swap": [SWAP],
        "rebase": [REBASE_FDE, REBASE],
        "sink": [SINK],
        "sfu_sort": [SORT],
    }],
    "output": "stdout",
}))
