# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# The section of RESULTS.md on shapes, of the file that shapes.sh writes.

BEGIN {
    FS = "\t"
    print ""
    print "## Stacks of other shapes"
    print ""
    print "Programs by `shapes.py`, gcc 16 -O2: instructions per frame (and ns), everything warm; all frames were"
    print "compared first. `skip`: per frame that is not left out."
    print ""
}
NR == 1 { next }
!($1 in seen) { shapes[++n] = $1; seen[$1] = 1 }
!($2 in known) { walkers[++m] = $2; known[$2] = 1 }
{ cell[$1, $2] = $3 ($4 != "-" ? " (" $4 ")" : "") ($5 != 0 ? ", " $5 " wrong" : "") }
END {
    printf "| shape |"
    for (j = 1; j <= m; j++) printf " `%s` |", walkers[j]
    printf "\n|---|"
    for (j = 1; j <= m; j++) printf "---|"
    print ""
    for (i = 1; i <= n; i++) {
        printf "| %s |", shapes[i]
        for (j = 1; j <= m; j++)
            printf " %s |", ((shapes[i], walkers[j]) in cell) ? cell[shapes[i], walkers[j]] : "missing"
        print ""
    }
}
