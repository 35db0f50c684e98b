#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# run.sh ABI: builds the programs of this directory for ABI in many ways, and runs each. Prints "ok NAME" or
# "not ok NAME: reason" for each test. Runs in the top directory; it builds in build/programs/ABI.
#
# TC      the toolchain, default build/tc
# T       only the labels that have its first word, or match it as a pattern of the shell, as in T=lto
# CORE    the core to test instead of sfu.c
# OUT     where to build instead
# MADE    with Debian's tools alone: the tables are sfu-gen's, as those of RISC-V are, and the ways to build fewer
set -u
abi=$1
TC=${TC:-build/tc}
T=${T-}
CORE=${CORE:-sfu.c}
here=test/truth/programs
out=${OUT:-build/programs/${MADE:+made-}$abi}
mkdir -p "$out"

# -cpu max has all that there is; the cheap algorithm for signatures changes nothing else.
# clang is tried on x86_64 only: version 14 describes no epilogues on the others, so its tables are wrong there.
big=
cpu=${abi%_be}
gcc=$cpu-linux-gnu-gcc
case $abi in
x86_64) run='' interpreter=/lib64/ld-linux-x86-64.so.2 ;;
aarch64)
    run='qemu-aarch64 -cpu max,pauth-impdef=on -L /usr/aarch64-linux-gnu'
    interpreter=/lib/ld-linux-aarch64.so.1
    ;;
aarch64_be) # Debian has no libc for it, hence no dynamic linker
    run='qemu-aarch64_be -cpu max,pauth-impdef=on' big=-mbig-endian interpreter=''
    ;;
s390x) run='qemu-s390x -cpu max -L /usr/s390x-linux-gnu' interpreter=/lib/ld64.so.1 ;;
riscv64) run=qemu-riscv64 gcc='riscv64-linux-gnu-gcc -march=rv64gc -mabi=lp64d' interpreter='' ;;
riscv32) run=qemu-riscv32 gcc='riscv64-linux-gnu-gcc -march=rv32imac -mabi=ilp32' interpreter='' ;;
i386)
    run=test/lib/run_m32.sh interpreter=/lib/ld-linux.so.2
    gcc='gcc -m32 -march=i686 -idirafter /usr/include/x86_64-linux-gnu'
    ;;
*)
    echo "not ok programs: no ABI $abi"
    exit 1
    ;;
esac

warn='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-align -Wstrict-prototypes'
# os.c has port/linux/sfu_linux.c in it.
port='port/linux/start.c port/linux/start.S port/linux/restorer.S'
common="$here/trace.c $here/tracer.c $here/tracer_hook.S $here/os.c $CORE $port"
# The room that the tracer needs. gcc 12 and 16 for s390x leave that of -fpatchable-function-entry in front of the FDE,
# and so does gcc 12 for aarch64, which is not tried.
case $abi in
x86_64 | i386) room=-fpatchable-function-entry=5 ;;
aarch64*) room=-fpatchable-function-entry=2 ;;
s390x) room='-pg -mfentry -mnop-mcount -mrecord-mcount' ;;
esac

# No assembler writes tables for RISC-V: sfu-gen does, into the room that its linker script makes.
made=${MADE-}
objcopy=$TC/$cpu/objcopy
tables="-B$TC/$cpu/ -Wa,--gsframe"
libgcc='' script='' absolute=''
case $abi in
riscv*) made=yes objcopy=riscv64-linux-gnu-objcopy ;;
i386) made=yes objcopy=objcopy ;;
esac
if [ -n "$made" ]; then
    [ -z "${MADE-}" ] || [ "$abi" = i386 ] || objcopy=$cpu-linux-gnu-objcopy
    tables='-fasynchronous-unwind-tables -DMADE'
    script='-Wl,-T,port/linux/sfu-gen.lds -Wl,--build-id=none'
fi
# Of 32 bits gcc calls its library to divide 64 of them.
[ "$abi" != riscv32 ] || libgcc=$(riscv64-unknown-elf-gcc -march=rv32imac -mabi=ilp32 -print-libgcc-file-name)
[ "$abi" != i386 ] || libgcc=$(gcc -m32 -print-libgcc-file-name)
# Addresses in code, which shadow.h has there, are for the loader.
[ "$abi" != i386 ] || absolute=-Wl,-z,notext

# compile ARGUMENTS...: with $cc and what all of the programs need
compile() {
    # shellcheck disable=SC2086
    $cc $big -std=c99 -I. -I$here $tables -ffreestanding -nostdlib $warn "$@"
}

# add_tables PROGRAM
add_tables() {
    [ -z "$made" ] || build/tools/sfu-gen -q --strict "$1" 2>"$1.gen" ||
        { cat "$1.gen" && false; }
}

# support LEVEL: compiles what is in no trace but the unwinder's own, by $compiler, once: into $objects. The core has
# each LEVEL in the programs that are "plain"; in others of gcc it has -O2, which is fast.
support() {
    case $label in
    plain* | gcc16* | clang*) ;;
    *) set -- -O2 ;;
    esac
    objects=$out/support-$compiler$1
    [ ! -e "$objects/done" ] || return 0
    mkdir -p "$objects"
    for file in $common; do
        compile -fPIE "$1" -c "$file" -o "$objects/$(basename "$file").o" || return 1
    done
    # Signals return through pages that nobody makes writable, as the tests do with what they interrupt: else no trace
    # across a signal is reliable.
    "$objcopy" --set-section-alignment .text=4096 "$objects/restorer.S.o" || return 1
    touch "$objects/done"
}

wanted() {
    # shellcheck disable=SC2254
    case $1 in
    *"${T%% *}"* | *${T%% *}*) return 0 ;;
    esac
    return 1
}

# execute LABEL PROGRAM ARGUMENTS...: one that ends badly without saying which test did is a failure itself
execute() {
    label=$1
    shift
    # shellcheck disable=SC2086
    timeout 300 $run "$@" >"$out/$label.out" 2>&1
    status=$?
    cat "$out/$label.out"
    if [ $status -ne 0 ] && ! grep -q '^not ok' "$out/$label.out"; then
        echo "not ok $label: exit status $status"
    fi
}

# patterns LABEL LEVEL FLAGS...: all patterns, compiled with LEVEL and FLAGS
patterns() {
    label=$1
    shift
    wanted "$label" || return 0
    case $label in
    *-O0* | *-O1* | by-clang*) ;;
    *) set -- "$@" -DTAIL_CALLS ;;
    esac
    # shellcheck disable=SC2086
    if support "$1" &&
        compile -static "$@" $here/main.c $here/marked.c $here/copied.c $here/interrupt.c "$objects"/*.o \
            $libgcc $script -o "$out/$label" && add_tables "$out/$label"; then
        execute "$label" "$out/$label" "$label"
    else
        echo "not ok $label: it cannot be built"
    fi
}

# traced LABEL LEVEL FLAGS...: the same, with a tracer that replaces every return address
traced() {
    # shellcheck disable=SC2086
    patterns "$@" $room -DTRACED
}

# joined LABEL LINKER ALIGNMENT LEVEL: all patterns, by a linker that joins the tables of objects, which have ALIGNMENT.
# Where there is no gold, it is left out. The objects are compiled once for all of these programs.
joined() {
    label=$1 linker=$2 alignment=$3
    shift 3
    wanted "$label" || return 0
    [ "$linker" != gold ] || $gcc -fuse-ld=gold -Wl,--version >"$out/gold" 2>&1 || return 0
    b=$out/$label.d parts=$out/support-joined$1
    rm -rf "$b"
    mkdir -p "$b"
    if [ ! -e "$parts/done" ]; then
        mkdir -p "$parts"
        for file in main patterns copied interrupt; do
            compile "$@" -DJOINED -c $here/$file.c -o "$parts/$file.o" || return 1
        done
        touch "$parts/done"
    fi
    if support "$1" && cp "$parts"/*.o "$objects"/*.o "$b" && for object in "$b"/*.o; do
        "$TC/$cpu/objcopy" --set-section-alignment ".sframe=$alignment" "$object" || return 1
    done && ln -s "$(command -v ld.lld)" "$b" &&
        compile -static "-fuse-ld=$linker" "-B$b/" -Wl,-T,port/linux/sfu.lds "$b"/*.o -o "$out/$label"; then
        execute "$label" "$out/$label" "$label"
    else
        echo "not ok $label: it cannot be built"
    fi
}

# append_tables FILE...: where tables are sfu-gen's, a segment of them
append_tables() {
    for file; do
        [ -z "$made" ] || build/tools/sfu-gen -q --strict "--append=$file" "$file" 2>"$file.gen" ||
            { cat "$file.gen" && return 1; }
    done
}

# images LABEL LEVEL FLAGS...: two images and an unsorted object in one program, loaded and bound by itself
images() {
    label=$1
    shift
    wanted "$label" || return 0
    b=$out/$label
    second='-Dp_image_outer=p_second_outer -Dp_image_middle=p_second_middle -Dp_image_inner=p_second_inner'
    # shellcheck disable=SC2086
    if support "$1" && compile -fPIC -shared -DSHARED $absolute "$@" $here/image.c -o "$b.so" &&
        compile -fPIC -ffunction-sections "$@" -c $here/image.c -o "$b.1.o" &&
        compile -fPIC -ffunction-sections "$@" -c $second $here/image.c -o "$b.2.o" &&
        compile -r "$b.1.o" "$b.2.o" -o "$b.o" &&
        compile -static "$@" $here/images.c $here/load.c $here/interrupt.c "$objects"/*.o $libgcc -o "$b" &&
        append_tables "$b" "$b.so"; then
        execute "$label" "$b" "$label" "$b.so" "$b.o"
    else
        echo "not ok $label: it cannot be built"
    fi
}

# linked LABEL LEVEL FLAGS...: a program and a shared library, loaded and lazily bound by the libc's dynamic linker
linked() {
    label=$1
    shift
    wanted "$label" && [ -n "$interpreter" ] || return 0
    b=$out/$label
    # shellcheck disable=SC2016,SC2086
    if support "$1" &&
        compile -fPIC -shared -DSHARED $absolute "$@" $here/image.c -o "$b.so" -Wl,-soname,"$label.so" &&
        compile -fPIE -pie -DDYNAMIC $absolute "$@" $here/images.c $here/interrupt.c "$objects"/*.o "$b.so" \
            $libgcc -o "$b" -Wl,--dynamic-linker=$interpreter -Wl,-rpath,'$ORIGIN' -Wl,-z,lazy &&
        append_tables "$b" "$b.so"; then
        execute "$label" "$b" "$label" "$b.so"
    else
        echo "not ok $label: it cannot be built"
    fi
}

rm -rf "$out"/support-*
cc=$gcc compiler=gcc
for level in -O0 -O1 -O2 -O3 -Os; do
    case ${MADE:+made}$level in
    made-O1 | made-O3) continue ;;
    esac
    patterns "plain$level" $level
    [ -z "${MADE-}" ] || continue
    case ${LONG:-}$level-$abi in
    -O1-* | -O3-* | -Os-* | -O0-i386) continue ;; # LONG: each of the other ways, too
    esac
    patterns "stack-clash$level" $level -fstack-clash-protection
    patterns "lto$level" $level -flto
    case $abi in
    x86_64)
        patterns "v3$level" $level -march=x86-64-v3
        patterns "cet$level" $level -fcf-protection=full
        ;;
    aarch64*)
        patterns "pac-a-bti$level" $level -mbranch-protection=bti+pac-ret+leaf
        patterns "pac-b$level" $level -mbranch-protection=pac-ret+leaf+b-key -march=armv8.3-a
        ;;
    s390x)
        patterns "z13$level" $level -march=z13
        ;;
    riscv64) patterns "no-c$level" $level -march=rv64g ;;
    riscv32) patterns "no-c$level" $level -march=rv32ima ;;
    i386)
        patterns "no-pie$level" $level -fno-pie
        patterns "fp$level" $level -fno-omit-frame-pointer
        patterns "sse$level" $level -fno-pie -march=pentium4 -mfpmath=sse
        ;;
    esac
    case $abi in
    riscv*) continue ;; # images.c loads images by relocations of the other CPUs
    esac
    images "images$level" $level
    linked "ld.so$level" $level
done
[ -z "${MADE-}" ] || exit 0
# FAULTS.md: lld-joined, and for what is missing FAULTS.md: gold-be. Debian's lld does not know s390x.
for alignment in 1 8; do
    case $abi in
    x86_64 | aarch64 | s390x) joined "joined-gold-$alignment" gold "$alignment" -O2 ;;
    esac
    case $abi in
    x86_64 | aarch64) joined "joined-lld-$alignment" lld "$alignment" -O2 ;;
    esac
done
case $abi in
x86_64 | s390x | i386)
    for level in -O0 -O2 -Os; do
        traced "traced$level" $level
    done
    ;;
esac
case $abi in
x86_64)
    traced traced-cet-O2 -O2 -fcf-protection=full
    images images-cet-O2 -O2 -fcf-protection=full -Wl,-z,ibtplt
    ;;
aarch64*) images images-pac-b-O2 -O2 -mbranch-protection=pac-ret+leaf+b-key ;;
esac

case $abi in
riscv*) exit 0 ;;
i386)
    options='-m32 -march=i686 -idirafter /usr/include/x86_64-linux-gnu'
    cc="$TC/gcc16/x86_64/gcc $options" compiler=gcc16
    patterns gcc16-O0 -O0
    patterns gcc16-O2 -O2
    patterns gcc16-no-pie-O2 -O2 -fno-pie
    traced gcc16-traced-O2 -O2
    images gcc16-images-O2 -O2
    cc="$(command -v clang-16 || echo clang) --target=i386-linux-gnu $options -fno-integrated-as" compiler=clang
    # It makes no tail call where there are arguments on the stack; and of -O0 sfu-gen cannot describe the `ret $4` of
    # the unwinder's own parts, which are compiled with -O2 here.
    patterns by-clang-O0 -O0
    patterns by-clang-O2 -O2
    patterns by-clang-pic-O2 -O2 -fPIE
    patterns by-clang-fp-O2 -O2 -fno-omit-frame-pointer
    traced by-clang-traced-O2 -O2
    exit 0
    ;;
esac
cc=$TC/gcc16/$cpu/gcc compiler=gcc16
patterns gcc16-O2 -O2
traced gcc16-traced-O2 -O2
case $abi in
aarch64*) traced gcc16-traced-pac-O2 -O2 -mbranch-protection=standard ;;
esac
images gcc16-images-O2 -O2
if [ "$abi" = x86_64 ]; then
    cc='clang -fno-integrated-as -fasynchronous-unwind-tables' compiler=clang
    patterns clang-O0 -O0
    patterns clang-O2 -O2
    traced clang-traced-O2 -O2
fi
exit 0
