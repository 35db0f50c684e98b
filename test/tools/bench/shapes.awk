# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# The table of shapes, of the two files that shapes.sh writes: that of whole traces comes second.

function whole(shape, walker)
{
    return (shape, walker) in trace ? thousands(trace[shape, walker]) : "missing"
}

function more(walker)
{
    if (!(("plt", walker) in trace) || !(("plt_caller", walker) in trace)) return "missing"
    return thousands(trace["plt", walker] - trace["plt_caller", walker])
}

BEGIN {
    FS = "\t"
    print "# How sfu compares: stacks of many shapes"
    print ""
    print "Made by `make bench-shapes`; figures vary with the machine, and times with what else it does."
    print "Sqlite\047s stacks are in RESULTS.md."
    print ""
    print "Programs by `shapes.py`, gcc 16 -O2. A cell has the instructions of a frame and, in parentheses, its"
    print "time as a ratio to that of `unw_backtrace` (`libunwind_cached`) in the same run, whose own time is"
    print "given; everything is warm, and all frames were compared first. `_8k`, `_32k`: with a cache of so"
    print "many bytes; `_room`: with 8 bytes for each call site, rounded up to a power of two, and at least 8 KiB."
    print "`_Os`: ours by -Os. `_fp`: the program has frame pointers, and so has the peer\047s. `fp`:"
    print "the walk by them in that program; they lose a frame that was interrupted before it had one, and"
    print "all behind it count as wrong."
    print ""
    print "- `sites_N`: so many call sites, evenly used. `alike_1k`: whose rules are alike. `fresh`: 1,000"
    print "  sites, and our cache is empty before each trace; the peers keep theirs. `frames_400`: 400 sizes of"
    print "  frames. `recursion`: one function calls itself."
    print "- `modules_N`: the sites of `sites_4k`, whose section is divided into so many, in order; peers see"
    print "  one program. `sections_100`: 100 more sections. `library`: a program and a library, far apart,"
    print "  call each other in turn."
    print "- `near_10`: 400 sites. `aligned_N`: the same in ten modules, each at a multiple of N bytes. `far_12`:"
    print "  384 sites in twelve modules, 64 MiB apart. Each module has a section of its own."
    print "- `drap`: functions that realign their stack; `drap_8th`: each eighth does. `arrays`: of a size that"
    print "  is not known to the compiler."
    print "- `interrupt`, `interrupt_stack`: traces of 10 frames or so across an interrupt, on the same stack"
    print "  and on another one. `signals`: the same, deeper. `copy_Nk`: the first KiB of a stack, as perf"
    print "  takes them; peers have all of it."
    print "- `plt`: the topmost PC is in a PLT; `plt_caller`: the same stacks without that frame; ours begin"
    print "  with what the signal interrupted, peers in its handler. `skip`: the fast walker leaves out 60 of"
    print "  66 frames; it has the same work with fewer frames to divide it by."
    print ""
}
FNR == 1 { next }
NR != FNR { trace[$1, $2] = $3; next }
!($1 in seen) { shapes[++n] = $1; seen[$1] = 1 }
!($2 in known) { walkers[++m] = $2; known[$2] = 1 }
{
    cell[$1, $2] = figure($3) ($5 != "-" ? " (" $5 ($2 == "libunwind_cached" ? ", " figure($4) " ns" : "") ")" : "")
    if ($6 != 0) cell[$1, $2] = cell[$1, $2] ", " thousands($6) " wrong"
}
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
