#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# switches.sh OUT [MEASURED]: prints, as the tables of SWITCHES.md, what the core costs, what each build-time switch
# saves of it, and the stack that a panic needs. By Debian 12's gcc, which the budget has, too: MEASURED is where
# budget.sh has just left its objects.
#
# SFU_SWITCHES=some: of the core the columns of -Os alone, of a panic those of x86_64. This finds old figures in half of
# the time, because all columns are of the same sources.
set -eu
out=$1
measured=${2-}
some=
[ "${SFU_SWITCHES-}" != some ] || some=1
here=$(dirname "$0")
rm -rf "$out/switches"
mkdir -p "$out/switches"
cpus='x86_64 aarch64 s390x riscv64 riscv32'
opts='-Os -O2' # of the tables of the core
[ -z "$some" ] || opts=-Os

abi() {
    case $1 in
    x86_64) echo SFU_AMD64 ;;
    aarch64) echo SFU_AARCH64 ;;
    s390x) echo SFU_S390X ;;
    riscv64) echo SFU_RISCV64 ;;
    riscv32) echo SFU_RISCV32 ;;
    esac
}

compiler() {
    case $1 in
    riscv64) echo riscv64-linux-gnu-gcc -march=rv64imac -mabi=lp64 -mcmodel=medany ;;
    riscv32) echo riscv64-linux-gnu-gcc -march=rv32imac -mabi=ilp32 -mcmodel=medany ;;
    *) echo "$1-linux-gnu-gcc" ;;
    esac
}

# Any readelf reads each of them.
readelf() { case $1 in riscv*) echo riscv64-linux-gnu-readelf ;; *) echo "build/tc/$1/readelf" ;; esac }

# heads: of a table of sizes
heads() {
    for opt in $opts; do
        for cpu in $cpus; do
            printf '| %s %s%s%s ' "$cpu" '`' "$opt" '`'
        done
    done | sed 's/^/| /; s/$/|/'
    echo
    for opt in $opts; do
        for cpu in $cpus; do
            printf '|---'
        done
    done | sed 's/^/|---/; s/$/|/'
    echo
}

# object CPU OPTIMISATION FILE SWITCH...: prints the name of an object without its .o, which is compiled once. With .ci
# in its place it has the frames.
object() {
    cpu=$1 opt=$2 file=$3
    object=$out/switches/$(echo "$*" | tr ' /' -+)
    shift 3
    case ${measured:+$file $*} in
    'sfu.c -DSFU_NO_STRINGS') object=$measured/gcc12-$cpu-${opt#-} ;;
    'port/fast/sfu_fast.c ') object=$measured/gcc12-$cpu-${opt#-}-fast ;; # without messages, of which it has none
    esac
    # shellcheck disable=SC2046  # words
    [ -f "$object.o" ] || $(compiler "$cpu") -std=c99 -ffreestanding "$opt" -I. -Iport/print -Iport/fast "$@" \
        -fcallgraph-info=su -c "$file" -o "$object.o"
    echo "$object"
}

# thousands N: with a comma in front of each three digits
thousands() { echo "$1" | sed -e :again -e 's/\(.*[0-9]\)\([0-9]\{3\}\)/\1,\2/;t again'; }

# size CPU OPTIMISATION FILE SWITCH...: bytes of code and constants
size() { "$here/../measure.sh" text "$(readelf "$1")" "$(object "$@").o"; }

# row TITLE FILE [SWITCH...]: sizes; with MINUS set to a file of sizes, what is saved of them
row() {
    title=$1 file=$2
    shift 2
    printf '| %s ' "$title"
    for opt in $opts; do
        for cpu in $cpus; do
            # The fast walker's cache has words of 64 bits.
            if [ "$cpu $file" = 'riscv32 port/fast/sfu_fast.c' ] || [ "${cpu%??} $*" = "riscv $apart" ]; then
                printf '| - '
                continue
            fi
            # shellcheck disable=SC2046  # words
            now=$(size "$cpu" "$opt" "$file" $(echo "$*" | sed "s/@ABI@/$(abi "$cpu")/"))
            if [ -z "$saved_of" ]; then
                echo "$cpu $opt $now" >>"$out/switches.all"
            else
                now=$(($(sed -n "s/^$cpu $opt //p" "$saved_of") - now))
            fi
            printf '| %s ' "$(thousands "$now")"
        done
    done
    echo '|'
}

# stack OPTIMISATION CPU: of a step; of sfu_panic_print and what it calls
stack() {
    core=$(object "$2" "$1" sfu.c).ci
    cat "$core" "$(object "$2" "$1" port/print/sfu_print.c).ci" >"$out/stack-both.ci"
    step=$("$here/stack.py" "$core" sfu_walk_step)
    panic=$("$here/stack.py" "$out/stack-both.ci" sfu_panic_print)
    printf '| %s | %s | %s | %s |\n' "$2" "\`$1\`" "$(thousands "${step%% *}")" "$(thousands "${panic%% *}")"
}

apart=none # switches for which RISC-V has no figure
rm -f "$out/switches.all"
python3 port/dist/dist.py "$out/dist"
saved_of=
cat <<'END'
# What the core costs, and what each switch saves

Made by `make switches`, with Debian 12's gcc. Bytes of code and constants; what the linker drops besides does not
count.

END
heads
row 'sfu.c, without switches' sfu.c
saved_of=$out/switches.all
row 'SFU_NO_STRINGS saves' sfu.c -DSFU_NO_STRINGS
row 'SFU_ABI saves' sfu.c -DSFU_ABI=@ABI@
row 'SFU_NO_REMOTE saves' sfu.c -DSFU_NO_REMOTE
row 'SFU_OLDEST_VERSION=3 saves' sfu.c -DSFU_OLDEST_VERSION=3
row 'all four save' sfu.c -DSFU_NO_STRINGS -DSFU_ABI=@ABI@ -DSFU_NO_REMOTE -DSFU_OLDEST_VERSION=3
# The core without RISC-V, ARM and i386, whose tables are not SFrame. Built for one of the other CPUs, it has nothing
# of them.
official=$out/switches/official.c
sed -e '/\/\* SFU_\(RISCV64\|RISCV32\|ARM\|THUMB\|I386\) \*\/$/d' \
    -e 's/^#define READS_OWN    true$/#define READS_OWN false/' sfu.c >"$official"
row 'a core without RISC-V, ARM and i386 would save' "$official"
apart='-DSFU_ABI=@ABI@'
rm "$out/switches.all"
saved_of=
row '' sfu.c $apart >/dev/null
saved_of=$out/switches.all
row 'the same, built by SFU_ABI for one of the other CPUs' "$official" $apart
apart=none
saved_of=
row 'sfu_print.c' port/print/sfu_print.c
row 'sfu_fast.c' port/fast/sfu_fast.c
cat <<'END'

Bytes of stack, callbacks and the caller's own excluded:

| CPU | | a step of a walk | a panic: `sfu_panic_print` |
|---|---|---|---|
END
for cpu in $cpus; do
    for opt in $opts; do
        stack "$opt" "$cpu"
    done
done
cat <<'END'

## A build without --gc-sections

It carries all of `sfu_panic.c`, messages too, as `make dist` makes it. "Own" are `SFU_ABI`, `SFU_NO_REMOTE` and
`SFU_OLDEST_VERSION=3`. All sizes are at `-Os`.

END
opts=-Os
[ -z "$some" ] || cpus=x86_64
heads
rm -f "$out/switches.all"
panic=$out/dist/sfu_panic.c
own='-DSFU_ABI=@ABI@ -DSFU_NO_REMOTE -DSFU_OLDEST_VERSION=3'
parts='-DSFU_NO_CYCLES -DSFU_NO_CALLS -DSFU_NO_RECORD -DSFU_NO_ALL -DSFU_NO_SYMBOLS'
row 'sfu_panic.c, all of it' "$panic"
saved_of=$out/switches.all
for part in CYCLES CALLS RECORD ALL SYMBOLS; do
    row "SFU_NO_$part saves" "$panic" -DSFU_NO_$part
done
saved_of=
row 'without these five' "$panic" "$parts"
row 'without these five, own' "$panic" "$parts" "$own"
row 'the same, and SFU_NO_STRINGS' "$panic" "$parts" "$own" -DSFU_NO_STRINGS
