#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Prints loop contracts of sfu.c for goto-instrument --loop-contracts-file: what each pass of a loop writes, what holds
before and after each, and what gets smaller. With them a proof is of any number of passes: it shows that the contract
holds, and goes on with nothing but the contract. The argument names the set."""
import json
import sys

RECORD = "records, __CPROVER_object_whole(record)"
RANGE = "l->fde.start, l->fde.size"
FDE = RANGE + ", l->fde.rows, l->fde.num_rows, l->fde.info, l->fde.address, l->fde.type, l->fde.repeat"
ROW = "l->row.start, l->row.words, l->row.info, l->row.count, l->row.size, l->words"


def loop(function, number, parameters, variables, writes, holds, decreases):
    """PARAMETERS and VARIABLES are those of FUNCTION that the rest names, the latter with a block's number if they are
    in one. What the proofs count is named by all."""
    names = [f"{name},{name}" for name in ("record", "records")]
    names += [f"{name},{function}::{name}" for name in parameters.split()]
    names += [f"{name.rpartition('::')[2]},{function}::1::{name}" for name in variables.split()]
    return function, {
        "loop_id": str(number),
        "assigns": writes,
        "invariants": " && ".join(holds),
        "decreases": decreases,
        "symbol_map": ";".join(names),
    }


SEARCH = loop("search", 0, "l", "low high", "low, high, " + RECORD,
              ["low <= high", "high <= l->s->num_fdes"], "high - low")

FIND_FDE = loop("find_fde", 0, "l", "index", f"index, {RANGE}, {RECORD}", ["index <= l->s->num_fdes"], "index")

SCAN_ROWS = loop("scan_rows", 0, "offset", "i count at last words info", f"i, at, last, words, info, {RECORD}", [
    "i <= count",
    # the row that was passed last starts at or below the offset
    "last <= offset",
    # its words have a size that can be read
    "((info >> 5) & 3) != 3",
], "count - i")

CHECK_ROWS = loop("check_rows", 0, "l", "i at last start info code row",
                  f"i, at, last, start, info, code, row, {ROW}, {RECORD}", [
    "i <= l->fde.num_rows",
    "records <= __CPROVER_loop_entry(records) + 2ul * i",
], "l->fde.num_rows - i")

CHECK_FDES = loop("sfu_check", 0, "section", "index code start end left row l",
                  "index, code, start, end, left, rows_left, row, " + f"{FDE}, {ROW}, {RECORD}".replace("l->", "l."), [
    "index <= section->num_fdes",
    "(code == 0 || index == 0)",
    "l.s == section",
    "left == rows_left",
], "section->num_fdes - index")

SWAP = loop("swap", 0, "s", "i p q", "i, __CPROVER_object_whole(p)", ["i <= s->fde_size"], "i")

REBASE_FDE = loop("rebase", 0, "fdes", "k size 1::1::start", "k, start, __CPROVER_object_whole(fdes)", ["k <= size"],
                  "size - k")

REBASE = loop("rebase", 1, "fdes s", "i k size l",
              "i, k, fdes, l.fde.start, l.fde.size, __CPROVER_object_whole(fdes)", [
    "i <= s->num_fdes",
    "(s->fde_size == 16 || s->fde_size == 17 || s->fde_size == 20)",
    "(s->fde_size != 16 || (unsigned long)fdes == (unsigned long)__CPROVER_loop_entry(fdes) + 16ul * i)",
    "(s->fde_size != 17 || (unsigned long)fdes == (unsigned long)__CPROVER_loop_entry(fdes) + 17ul * i)",
    "(s->fde_size != 20 || (unsigned long)fdes == (unsigned long)__CPROVER_loop_entry(fdes) + 20ul * i)",
], "s->num_fdes - i")

FITS_FDE = loop("rebase", 0, "", "k size 1::1::start", "k, start", ["k <= size"], "size - k")

FITS = loop("rebase", 1, "fdes s", "i l", "i, l.fde.start, l.fde.size", ["i <= s->num_fdes"], "s->num_fdes - i")

SINK = loop("sink", 0, "root count", "", "root", ["root < count"], "count - root")

SORT = loop("sfu_sort", 0, "section", "count root", "root, count", [
    "count <= section->num_fdes",
    # first the heap is made, from the middle down, then it shrinks
    "root <= section->num_fdes / 2",
    "(count == section->num_fdes || root == 0)",
], "(unsigned long)count + root")

# For prove_complete: the function that has the PC, WITNESS, has not been passed.
SEARCH_COMPLETE = loop("search", 0, "l pc", "low high", "low, high", [
    "low <= high",
    "high <= l->s->num_fdes",
    "high > witness",
    "(low == 0 || table_starts[low - 1] <= pc)",
], "high - low")

FIND_FDE_COMPLETE = loop("find_fde", 0, "l pc", "index sorted", f"index, ranged, {RANGE}", [
    "index <= l->s->num_fdes",
    "index > witness",
    "(!sorted || table_starts[index - 1] <= pc)",
], "index")

CHECK_FDES[1]["symbol_map"] += ";rows_left,rows_left"
for contract in SEARCH_COMPLETE, FIND_FDE_COMPLETE:
    contract[1]["symbol_map"] += ";witness,witness;table_starts,table_starts"
FIND_FDE_COMPLETE[1]["symbol_map"] += ";ranged,ranged"

SETS = {
    "find": [SEARCH, FIND_FDE, SCAN_ROWS],
    "complete": [SEARCH_COMPLETE, FIND_FDE_COMPLETE],
    "rows": [CHECK_ROWS],
    "check": [CHECK_FDES],
    "swap": [SWAP],
    "rebase": [REBASE_FDE, REBASE],
    "fits": [FITS_FDE, FITS],
    "sort": [SINK, SORT],
}

functions = {}
for name, contract in SETS[sys.argv[1]]:
    functions.setdefault(name, []).append(contract)
print(json.dumps({"sources": ["sfu.c"], "functions": [functions], "output": "stdout"}))
