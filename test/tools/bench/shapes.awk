# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# The section of RESULTS.md on shapes, of the two files that shapes.sh writes: that of whole traces comes second.

function whole(shape, walker)
{
    return (shape, walker) in trace ? sprintf("%.0f", trace[shape, walker]) : "missing"
}

function more(walker)
{
    if (!(("plt", walker) in trace) || !(("plt_caller", walker) in trace)) return "missing"
    return sprintf("%.0f", trace["plt", walker] - trace["plt_caller", walker])
}

BEGIN {
    FS = "\t"
    print ""
    print "## Stacks of other shapes"
    print ""
    print "Programs by `shapes.py`, gcc 16 -O2: instructions per frame (and ns), everything warm; all frames were"
    print "compared first. `_Os`: ours with -Os. `plt`: the topmost PC is in a PLT; `plt_caller`: the same stacks"
    print "without that frame; ours begin with what the signal interrupted, peers in its handler."
    print "`signals`: a signal frame in the midst. `skip`: the fast walker leaves out 60 of 66 frames; it has the same"
    print "work with fewer frames to divide it by. Frame pointers lose a frame that was interrupted before it had one,"
    print "and all behind it count as wrong."
    print ""
}
FNR == 1 { next }
NR != FNR { trace[$1, $2] = $3; next }
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
    print ""
    print "Instructions of a whole trace:"
    print ""
    printf "| |"
    for (j = 1; j <= m; j++) printf " `%s` |", walkers[j]
    printf "\n|---|"
    for (j = 1; j <= m; j++) printf "---|"
    print ""
    printf "| 60 frames skipped |"
    for (j = 1; j <= m; j++) printf " %s |", whole("skip", walkers[j])
    printf "\n| topmost PC in a PLT: more by |"
    for (j = 1; j <= m; j++) printf " %s |", more(walkers[j])
    print ""
}
