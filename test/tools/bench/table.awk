# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Turns bench.sh's lines "WHAT NAME NUMBER..." into RESULTS.md, and the file TSV for scripts.

{ value[$1, $2] = $3; rest[$1, $2] = substr($0, length($1) + length($2) + 3) }
$1 == "time" || $1 == "fp-time" { times[$1, $2] = times[$1, $2] " " $3 }
$1 == "count" { walks[$2] = $4; frames[$2] = $5 }
$1 == "wrong" { all_frames[$2] = $4 }
$1 == "bare" { bare_frames[$2] = $4 }
$1 == "missing" { missing[$2] = $0; sub(/^missing [^ ]* /, "", missing[$2]) }
$1 == "shape" && split($2, part, "-") == 3 && !seen[part[2]]++ { shapes[++shape_count] = part[2] }
$1 == "stacks" { stacks = $3; total = $4; distinct = $5 }
$1 == "modules" { modules = modules (modules == "" ? "" : "; ") $2 ": " substr($0, length($1 $2) + 3) }
$1 == "compiler" { compiler = $2 " " $3 }
$1 == "sqlite" { sqlite = $2 }
$1 == "cpu-model" { model = $0; sub(/^cpu-model /, "", model) }
$1 == "version" { versions = versions (versions == "" ? "" : ", ") $2 " " $3 }

function median(list,    x, n, i, j, t)
{
    n = split(list, x, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && x[j] + 0 < x[j - 1] + 0; j--) { t = x[j]; x[j] = x[j - 1]; x[j - 1] = t }
    return x[int((n + 1) / 2)]
}

# What NAME needs in code: ours by object, as it was compiled; of a peer, its library; glibc's uses libgcc's.
function text(name)
{
    if (name ~ /^sfu_fast/) return value["text", "sfu_fast" (name ~ /_Os$/ ? "_Os" : "")]
    if (name == "fp") return value["text", "walk_fp"]
    if (name == "glibc") return value["text", "libgcc"]
    if (name ~ /^libunwind/) return value["text", "libunwind"]
    return value["text", name]
}

function or_missing(x) { return x == "" ? "missing" : thousands(x) }

# A figure as scripts read it: without commas.
function plain(x) { gsub(",", "", x); return x }

function row(name,    instr, ns, cold, reference, ratio, why, line, c, idle)
{
    if (!(("wrong", name) in value)) {
        why = name in missing ? missing[name] : missing[substr(name, 1, index(name "_", "_") - 1)]
        print "| `" name "` | missing | | | | | | |"
        absent = absent "\n- `" name "` is missing" (why == "" ? "" : ": " why)
        line = name
        for (c = 0; c < 6; c++) line = line "\tmissing"
        print line >tsv
        return
    }
    if (("count", name) in value) {
        idle = value["count", "nothing"] / walks["nothing"]
        instr = figure((value["count", name] - idle * walks[name]) / frames[name])
        ns = median(times["time", name])
        reference = median(times[name == "fp" ? "fp-time" : "time", "libunwind_cached"])
        ratio = reference > 0 ? sprintf("%.2f", ns / reference) : "-"
        ns = figure(ns)
        cold = figure(value["cold", name])
    } else {
        instr = ns = ratio = cold = "-"
    }
    printf "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", name, instr, ns, ratio, cold,
        or_missing(value["stack", name]), or_missing(text(name)), value["wrong", name]
    printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", name, plain(instr), plain(ns), plain(cold), value["stack", name],
        text(name), value["wrong", name] >tsv
}

END {
    print "# How sfu compares"
    print ""
    print "Made by `make bench`; figures vary with the machine, and times with what else it does."
    print ""
    print "sqlite " sqlite " by " compiler " -O2 -fomit-frame-pointer answers queries that run other queries; in"
    print thousands(stacks) " calls that it makes of us (allocator, functions, collations, ...) its stack, 15 to 40 " \
        "frames deep,"
    print "is walked: " thousands(total) " frames, " distinct " PCs. All walkers' frames were compared before " \
        "anything was measured."
    print model "; " versions "."
    print ""
    print "| walker | instructions | ns | of `unw_backtrace` | ns, cold | stack | text | wrong |"
    print "|---|---|---|---|---|---|---|---|"
    print "walker\tinstr_per_frame\tns_per_frame\tns_cold\tstack\ttext\twrong" >tsv
    n = split("sfu sfu_Os sfu_fast sfu_fast_Os sfu_fast_index sfu_fast_index_Os sfu_fast_2k sfu_fast_4k sfu_fast_8k " \
        "sfu_fast_8k_Os sfu_fast_16k fp glibc libgcc libunwind_step libunwind_cached libsframe llvm", names, " ")
    for (i = 1; i <= n; i++) row(names[i])
    print ""
    print "- instructions: per frame, by callgrind, everything warm. A walk's own start and end are in it."
    print "- ns: per frame, sqlite having run since the walk before; the median of 15 passes, of each stack, and " \
        "of 3 runs."
    print "  A pass has one walker, and passes of all walkers alternate. `fp` is walked in a program compiled " \
        "with frame"
    print "  pointers, which runs in between; its ratio is to `unw_backtrace` there."
    print "- ns, cold: one whole walk (" sprintf("%.0f", total / stacks) " frames of sqlite on average) after a " \
        "buffer of" \
        " three times the largest"
    print "  cache was written and read. What a walker itself caches stays."
    print "- stack: bytes at most, adapter and register capture included. text: bytes of code and constants: ours " \
        "without"
    print "  messages (`sfu_fast`: beside the core's); of a peer, its whole library (`glibc`: libgcc's, which it " \
        "loads)."
    print "- Ours are compiled with -O2, `_Os` with -Os: all figures of a row are of the same level."
    for (i = 1; i <= n; i++) if (names[i] in bare_frames) {
        if (bare_frames[names[i]] == all_frames[names[i]]) by = by " `" names[i] "`"
        else not_by = not_by " `" names[i] "`"
    }
    print "- Who uses SFrame: in a build whose .eh_frame is empty these walk all the same:" by ";"
    print "  these do not:" not_by "."
    print "- How they find the module of a PC: " modules "." absent
    if (!(("count", "sfu") in value)) exit
    print ""
    print "## Sections of all sizes"
    print ""
    print "Functions and rows drawn from sqlite's own. A PC looked up (`sfu_find`) or a frame walked: " \
        "instructions; ns for"
    print "the same 1,000 PCs again and again; ns for 64,000 PCs in turn, for which the CPU's caches are small."
    print ""
    print "| functions | `sfu_find` | | | `sfu` | | | `sfu_fast` | | | with an index | | |"
    print "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    m = split("1000 10000 100000 1000000", sizes, " ")
    split("1,000 10,000 100,000 1,000,000", labels, " ")
    k = split("find sfu fast index", modes, " ")
    for (i = 1; i <= m; i++) {
        printf "| %s |", labels[i]
        for (j = 1; j <= k; j++) {
            key = sizes[i] "-" modes[j]
            if ((("lookup-count"), key) in value)
                printf " %s | %s | %s |", figure(value["lookup-count", key]), figure(value["lookup-ns", key]),
                    figure(value["lookup-ns-all", key])
            else
                printf " missing | | |"
        }
        print ""
    }
    print ""
    print "## Other CPUs"
    print ""
    print "Instructions per frame, by QEMU: a stack of 1,000 frames, whose PCs are drawn from sqlite compiled for that"
    print "CPU, behind an epilogue\047s pops, too: no call returns there, and FP\047s slot is below SP, so that the " \
        "core does it."
    print "Code for RISC-V (rv64gc) reads what is not aligned byte by byte, as all numbers in tables may be."
    print ""
    print "| CPU | `sfu` | `sfu_fast` | with an index | with 16 KiB |"
    print "|---|---|---|---|---|"
    m = split("x86_64 aarch64 s390x riscv64", cpus, " ")
    k = split("sfu fast index cache", modes, " ")
    for (i = 1; i <= m; i++) {
        printf "| %s |", cpus[i]
        for (j = 1; j <= k; j++) {
            key = cpus[i] "-" modes[j]
            printf " %s |", ("cpu", key) in value ? figure(value["cpu", key]) : "missing"
        }
        print ""
    }
    if (shape_count == 0) exit
    print ""
    print "Some of the shapes of `make bench-shapes`, as those CPUs' compilers make them."
    print ""
    printf "| shape |"
    for (c = 2; c <= m; c++) printf " %s: `sfu` | `sfu_fast` | with an index | with 8 KiB |", cpus[c]
    printf "\n|---|"
    for (c = 2; c <= m; c++) printf "---|---|---|---|"
    print ""
    k = split("sfu sfu_fast sfu_fast_index sfu_fast_8k", ours, " ")
    for (i = 1; i <= shape_count; i++) {
        printf "| %s |", shapes[i]
        for (c = 2; c <= m; c++)
            for (j = 1; j <= k; j++) {
                key = cpus[c] "-" shapes[i] "-" ours[j]
                printf " %s |", ("shape", key) in value ? figure(value["shape", key]) : "missing"
            }
        print ""
    }
}
