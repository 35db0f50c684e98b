#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# sfu-link: the room is what the tables need, whoever links, and a failure leaves no image behind.
#
#   link_test.sh OUT SFU-GEN
set -u
out=$1
gen=$(realpath "$2")
link=$PWD/build/tools/sfu-link
export SFU_GEN=$gen
rm -rf "$out"
mkdir -p "$out"
cd "$out" || exit 1

# test NAME COMMAND...: ok if it succeeds.
test() {
    local name=$1
    case $name in *"${T:-}"*) ;; *) return ;; esac
    shift
    if "$@" >log 2>&1; then echo "ok $name"; else echo "not ok $name: $(tail -n 3 log | tr '\n' ' ')"; fi
}

cat >kernel.c <<'END'
volatile int sink;
extern const char sframe_start[], sframe_end[];
#define F(n) __attribute__((noinline)) int f##n(int x) { int a[n + 1]; a[0] = x; sink = a[0]; return x > n ? g(x) : 0; }
__attribute__((noinline, noipa)) int g(int x) { return sink + x; }
F(1) F(20) F(300) F(4000)
void start(void) { sink = f1(9) + f20(2) + f300(3) + f4000(4) + (int)(sframe_end - sframe_start); for (;;) { } }
END
cat >kernel.ld <<'END'
ENTRY(start)
SECTIONS {
    . = 0x100000;
    .text : { *(.text .text.*) }
    .rodata : { *(.rodata .rodata.*) }
    .sfu_sframe : ALIGN(8) { sframe_start = .; QUAD(0) . += sfu_room; sframe_end = .; }
    .data : { *(.data .data.*) }
    .bss : { *(.bss .bss.*) }
    .eh_frame (INFO) : { KEEP(*(.eh_frame)) }
}
END
grep -v sfu_room kernel.ld >without.ld
gcc -O2 -ffreestanding -fno-pie -fno-stack-protector -fasynchronous-unwind-tables -c kernel.c || exit 1

# A command that counts how often it ran.
cat >counted <<'END'
#!/bin/sh
echo x >>links
exec "$@"
END
chmod +x counted

# The room in FILE, as readelf knows it.
room() { readelf -SW "$1" | awk '{ sub(/^ *\[ *[0-9]+\] */, "") } $1 ~ /^\.(sfu_)?sframe$/ { print "0x" $5 }'; }

# exact OPTIONS -- COMMAND...: links, and looks at what came out.
exact() {
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    rm -f links kernel.elf
    "$link" "${options[@]}" "$@" || return 1
    [ "$(wc -l <links)" = 2 ] || { echo "$(wc -l <links) links"; return 1; }
    local have need
    have=$(($(room kernel.elf)))
    need=$("$gen" "${options[@]}" --quiet --size kernel.elf) || return 1
    if [ "$have" -lt "$need" ] || [ "$((have - need))" -gt 15 ]; then
        echo "room $have, need $need"
        return 1
    fi
    "$gen" --quiet --strict --check kernel.elf || return 1
    [ "$(nm kernel.elf | awk '$3 ~ /^sframe_(start|end)$/ { at[$3] = $1 }
        END { print "0x" at["sframe_end"], "0x" at["sframe_start"] }' |
        { read -r end start && echo $((end - start)); })" = "$have" ]
}
# shellcheck disable=SC2054 # those commas are the compiler's
compile=(./counted gcc -nostdlib -static -no-pie -Wl,-T,kernel.ld kernel.o -o kernel.elf)
test "gcc and GNU ld" exact -- "${compile[@]}"
test "--small" exact --small -- "${compile[@]}"
test "--small --fp=auto" exact --small --fp=auto -- "${compile[@]}"
test "lld" exact --small -- "${compile[@]}" -fuse-ld=lld
test "lld by clang" exact --small -- ./counted clang -nostdlib -static -fuse-ld=lld -Wl,-T,kernel.ld kernel.o \
    -okernel.elf
# gold knows no (INFO): .eh_frame is loaded then, and the room is exact all the same.
if command -v ld.gold >/dev/null; then
    sed 's/ (INFO)//' kernel.ld >gold.ld
    # shellcheck disable=SC2054 # those commas are the compiler's
    test "gold" exact --small -- ./counted gcc -nostdlib -static -no-pie -Wl,-T,gold.ld kernel.o -o kernel.elf \
        -fuse-ld=gold
fi
cat >ld.bfd <<'END'
#!/bin/sh
echo x >>links
exec ld "$@"
END
chmod +x ld.bfd
test "a linker by itself" exact --small -- ./ld.bfd -T kernel.ld kernel.o --output=kernel.elf

# A makefile whose linker has other things to do as well.
cat >Makefile <<'END'
kernel.elf: parts.o kernel.ld
	$(LD) -T kernel.ld parts.o -o $@
parts.o: kernel.o
	$(LD) --version >version
	$(LD) -r -o $@ $<
END
makefile() {
    rm -f links kernel.elf parts.o
    make -s LD="$link --small ./ld.bfd" && [ "$(wc -l <links)" = 4 ] && "$gen" --quiet --strict --check kernel.elf
}
test "make LD=: ld -r and --version run once" makefile

# waste FILE: at most 3% of the room is left over; and the tables are where the symbols say.
waste() {
    local have need
    have=$(($(room "$1")))
    need=$("$gen" --small --quiet --size "$1")
    [ "$have" -ge "$need" ] && [ $(((have - need) * 100)) -le $((have * 3)) ]
}
# A kernel of some size, as its loaders take it: ELF, multiboot, a flat binary, EFI.
many() {
    local i
    {
        cat kernel.c
        echo '__attribute__((section(".multiboot"), used)) static const int header[3] = {0x1badb002, 0, -0x1badb002};'
        for i in $(seq 200); do echo "__attribute__((noinline)) int m$i(int x)
            { volatile int a[$i + 40]; a[0] = x; sink = g(a[0]); return x > $i ? g(sink) + g(x + 1) + $i : 0; }"; done
        echo 'int all(int x) { return 0'
        for i in $(seq 200); do echo "+ m$i(x)"; done
        echo '; }'
    } >many.c
    gcc -O2 -ffreestanding -fno-pie -fno-stack-protector -fasynchronous-unwind-tables -c many.c &&
        sed 's/.text : {/.text : { KEEP(*(.multiboot))/' kernel.ld >many.ld
}
# The tables in FILE, a copy of the image by OBJCOPY's options, are those of the image.
inside() {
    objcopy --dump-section .sfu_sframe=tables kernel.elf /dev/null || return 1
    python3 - "$1" <<'END'
import sys
with open("tables", "rb") as tables, open(sys.argv[1], "rb") as file:
    sys.exit(tables.read() not in file.read())
END
}
loaders() {
    many && "$link" --small gcc -nostdlib -static -no-pie -Wl,-T,many.ld many.o -o kernel.elf &&
        waste kernel.elf || return 1
    objcopy -O binary kernel.elf kernel.bin && inside kernel.bin || return 1
    # Multiboot: the header lies in the first 8 KiB, and the segment that has the tables is loaded with the rest.
    python3 - <<'END' || return 1
import struct
data = open("kernel.elf", "rb").read()
assert struct.pack("<I", 0x1badb002) in data[:8192], "no multiboot header"
END
}
test "ELF, multiboot and flat: at most 3% are left over" loaders
efi() {
    many && gcc -O2 -ffreestanding -fpie -fno-stack-protector -fasynchronous-unwind-tables -c many.c -o many.o &&
        "$link" --small gcc -nostdlib -shared -Wl,-Bsymbolic,-T,many.ld many.o -o kernel.elf && waste kernel.elf &&
        objcopy -O efi-app-x86_64 -j .text -j .rodata -j .data -j .sfu_sframe kernel.elf kernel.efi &&
        inside kernel.efi
}
test "EFI: at most 3% are left over" efi

# Fails COMMAND... with STATUS, says WHAT and leaves no image.
refused() {
    local status=$1 what=$2
    shift 2
    cp kernel.o kernel.elf
    "$@" >said 2>&1
    local found=$?
    [ $found = "$status" ] || { echo "status $found: $(cat said)"; return 1; }
    grep -q -e "$what" said || { cat said; return 1; }
    [ "$status" = 2 ] || [ ! -e kernel.elf ] || { echo "an image is left"; return 1; }
}
test "a link that fails" refused 1 "required symbol .nothing. not defined" \
    "$link" gcc -nostdlib -static -no-pie -Wl,-T,kernel.ld,--require-defined=nothing kernel.o -o kernel.elf
test "a script without the line" refused 1 "undefined reference to .sframe_start" \
    "$link" --small gcc -nostdlib -static -no-pie -Wl,-T,without.ld kernel.o -o kernel.elf
grep -v sfu_room kernel.ld | sed 's/.data :/.data : { sframe_start = .; sframe_end = .; } .more :/' >elsewhere.ld
test "a script with the symbols alone" refused 1 "no section .sframe" \
    "$link" --small gcc -nostdlib -static -no-pie -Wl,-T,elsewhere.ld kernel.o -o kernel.elf
cat >bad.s <<'END'
    .text
    .globl bad
    .type bad, @function
bad:
    .cfi_startproc
    .cfi_escape 0x0f, 5, 0x77, 8, 6, 0x06, 0x06     # CFA = *(*(*(SP + 8)))
    nop
    .cfi_endproc
    .size bad, . - bad
END
gcc -c bad.s || exit 1
test "code that cannot be described, --strict" refused 1 "cannot be described" "$link" --strict \
    gcc -nostdlib -static -no-pie -Wl,-T,kernel.ld kernel.o bad.o -o kernel.elf
test "no command" refused 2 "no command" "$link" --small
test "another output" refused 2 "the tables go into the image" "$link" -o x gcc
test "--help" sh -c "$link --help | grep -q 'SFU_GEN names sfu-gen'"
