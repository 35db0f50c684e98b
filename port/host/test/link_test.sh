#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# sfu-link: the room is what the tables need, whoever links; a failure leaves no image behind; and what it brings by
# itself is there, however the image is linked.
#
#   link_test.sh OUT SFU-GEN
set -u
. test/lib/tests.sh
out=$1
gen=$(realpath "$2")
root=$PWD
link=$PWD/build/tools/sfu-link
export SFU_GEN=$gen
rm -rf "$out"
mkdir -p "$out"
out=$(realpath "$out")
log=$out/log
cd "$out" || exit 1

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
try "gcc and GNU ld" exact -- "${compile[@]}"
try "--small" exact --small -- "${compile[@]}"
try "--small --fp=auto" exact --small --fp=auto -- "${compile[@]}"
try "lld" exact --small -- "${compile[@]}" -fuse-ld=lld
try "lld by clang" exact --small -- ./counted clang -nostdlib -static -fuse-ld=lld -Wl,-T,kernel.ld kernel.o \
    -okernel.elf
# gold knows no (INFO): .eh_frame is loaded then, and the room is exact all the same.
if command -v ld.gold >/dev/null; then
    sed 's/ (INFO)//' kernel.ld >gold.ld
    # shellcheck disable=SC2054 # those commas are the compiler's
    try "gold" exact --small -- ./counted gcc -nostdlib -static -no-pie -Wl,-T,gold.ld kernel.o -o kernel.elf \
        -fuse-ld=gold
fi
cat >ld.bfd <<'END'
#!/bin/sh
echo x >>links
exec ld "$@"
END
chmod +x ld.bfd
try "a linker by itself" exact --small -- ./ld.bfd -T kernel.ld kernel.o --output=kernel.elf

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
try "make LD=: ld -r and --version run once" makefile

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
try "ELF, multiboot and flat: at most 3% are left over" loaders
efi() {
    many && gcc -O2 -ffreestanding -fpie -fno-stack-protector -fasynchronous-unwind-tables -c many.c -o many.o &&
        "$link" --small gcc -nostdlib -shared -Wl,-Bsymbolic,-T,many.ld many.o -o kernel.elf && waste kernel.elf &&
        objcopy -O efi-app-x86_64 -j .text -j .rodata -j .data -j .sfu_sframe kernel.elf kernel.efi &&
        inside kernel.efi
}
try "EFI: at most 3% are left over" efi

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
try "a link that fails" refused 1 "required symbol .nothing. not defined" \
    "$link" gcc -nostdlib -static -no-pie -Wl,-T,kernel.ld,--require-defined=nothing kernel.o -o kernel.elf
grep -v sfu_room kernel.ld | sed 's/.data :/.data : { sframe_start = .; sframe_end = .; } .more :/' >elsewhere.ld
try "a script with the symbols alone" refused 1 "no section .sframe" \
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
try "code that cannot be described, --strict" refused 1 "cannot be described" "$link" --strict \
    gcc -nostdlib -static -no-pie -Wl,-T,kernel.ld kernel.o bad.o -o kernel.elf
try "no command" refused 2 "no command" "$link" --small
try "another output" refused 2 "the tables go into the image" "$link" -o x gcc
try "--help" sh -c "$link --help | grep -q SFU_LINK_OPTIONS"

# ---- the object that sfu-link brings ----

(cd "$root" && python3 port/dist/dist.py "$out/dist") || exit 1
cat >own.c <<'END'
#include "sfu_panic.h"
static void put(void *ctx, char c) { (void)ctx; (void)c; }
char stack[4096];
__attribute__((noinline)) int g(int x) { return x + stack[x]; }
void start(void) { sfu_panic_start(put); sfu_panic_here(); stack[1] = (char)g(1); for (;;) { } }
END
cat >other.c <<'END'
void start(void) { for (;;) { } }
END
cat >own.ld <<'END'
ENTRY(start)
SECTIONS {
    . = 0x100000;
    .text : { *(.text .text.*) }
    .rodata : { *(.rodata .rodata.*) }
    .data : { *(.data .data.*) }
    .bss : { *(.bss .bss.*) }
    /DISCARD/ : { *(.eh_frame .comment .note.*) }
}
END
plain=(-Os -ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables -Idist)
gcc "${plain[@]}" -fno-pie -c own.c other.c && gcc "${plain[@]}" -fno-pie -c dist/sfu_panic.c -o panic.o &&
    gcc "${plain[@]}" -fpie -c own.c -o own-pie.o && gcc "${plain[@]}" -fpie -c dist/sfu_panic.c -o panic-pie.o ||
    exit 1

# What has no rows is said with the reason: the largest part in the first line, then a line for each reason.
cat >why.s <<'END'
    .text
    .type after, @function
after:
    ret
    hlt
    .size after, . - after
entry:
    mov %rsp, saved(%rip)
    mov top(%rip), %rsp
    push saved(%rip)
    push %rcx
    call after
    pop %rcx
    pop %rsp
    sysretq
    .data
saved: .quad 0
top: .quad 0
END
gcc -c why.s || exit 1
why() {
    "$link" ld -T own.ld own.o panic.o why.o -o why.elf 2>why.log &&
        grep -q 'bytes of code have rows: .*; none: .*after (1)' why.log &&
        grep -q '^sfu-link: why.elf: some code of entry has no rows: .*' why.log &&
        grep -q '^sfu-link: why.elf: some code of after has no rows: no way through the code was found' why.log
}
try "code without rows, with the reason" why

# A compiler need not save the return address in front of a call that it knows never to return.
cat >endless.s <<'END'
    .text
    .globl start, sfu_link_data
    .type stop, @function
start:
    ldr x0, =sfu_link_data
    bl endless
stop:
    b stop
    .size stop, . - stop
    .type endless, @function
endless:
    cbz x0, 1f
    ret
1:  bl stop
    .size endless, . - endless
END
aarch64-linux-gnu-gcc -c endless.s || exit 1
endless() {
    "$link" aarch64-linux-gnu-ld -T own.ld endless.o -o endless.elf 2>endless.log &&
        grep -q 'some code of endless has no rows: the call overwrites the return address, .*-funwind-tables' \
            endless.log
}
test "a call that never returns, in a function that saves no return address" endless

# An entry of 32-bit x86 that the printer's own hook crosses has no rows, which costs nothing: another entry's reason
# stays its own.
cat >crossed.s <<'END'
    .text
    .type handle, @function
handle:
    ltr %ax
    ret
    .size handle, . - handle
crossed:
    pushal
    xor %ebp, %ebp
    call handle
    popal
    iret
lost:
    pushal
    mov %esp, %ebx
    mov $0x9000, %esp
    call handle
    mov %ebx, %esp
    popal
    iret
END
gcc "${plain[@]}" -m32 -fno-pie -c own.c -o own-i386.o && gcc -m32 -c crossed.s &&
    gcc "${plain[@]}" -m32 -fno-pie -c dist/sfu_panic.c -o panic-i386.o || exit 1
crossed() {
    "$link" ld -m elf_i386 -T own.ld own-i386.o panic-i386.o crossed.o -o crossed.elf 2>crossed.log &&
        grep -q '^sfu-link: crossed.elf: some code of crossed has no rows: sfu_panic_here .* cross' crossed.log &&
        grep -q '^sfu-link: crossed.elf: some code of .*lost has no rows: ' crossed.log &&
        ! grep -q 'lost has no rows: sfu_panic_here' crossed.log
}
try "code without rows that the printer crosses" crossed

# Code without a symbol is named by its address, and how far it is behind the symbol before it.
cat >unnamed.s <<'END'
    .text
    .type known, @function
known:
    ret
    .size known, . - known
    push $0
    cld
    call known
    hlt
END
gcc -c unnamed.s || exit 1
unnamed() {
    local place='0x[0-9a-f]+ \(known\+0x1\)'

    "$link" ld -T own.ld own.o panic.o unnamed.o -o unnamed.elf 2>unnamed.log &&
        grep -Eq "bytes of code have rows: .*; none: $place \(9\)" unnamed.log &&
        grep -Eq "^sfu-link: unnamed.elf: some code of $place has no rows: no way through the code was found" \
            unnamed.log &&
        "$link" --entry=known+1:error ld -T own.ld own.o panic.o unnamed.o -o unnamed.elf 2>unnamed.log &&
        grep -q '100.00%' unnamed.log
}
try "code without rows and without a symbol" unnamed

# The message about 16-bit code is the reason of each symbol in that code.
cat >second.s <<'END'
    .text
    .code16
second:
    mov %cr0, %eax
    or $1, %eax
    mov %eax, %cr0
further:
    call deeper
    jmp further
deeper:
    ret
    .code64
END
gcc -c second.s || exit 1
second() {
    "$link" ld -T own.ld own.o panic.o second.o -o second.elf 2>second.log &&
        grep -q 'second (0x.*): 16 bytes have no rows: they are 16-bit code' second.log &&
        grep -q '; none: .*further (' second.log &&
        ! grep -q 'some code of .*further' second.log
}
try "code without rows: 16-bit code" second
try "code without rows, -v" sh -c "$link -v ld -T own.ld own.o panic.o why.o -o why.elf 2>&1 |
    grep -q 'put (0x.*entered as by --entry=put:call: '"
try "code without rows, -q" sh -c "! $link -q ld -T own.ld own.o panic.o why.o -o why.elf 2>&1 | grep sfu-"

# filled FILE: what sfu-link has written is there, and in it tables that describe start, as sfu itself says.
cat >facts.py <<'END'
"""What sfu-link has written into FILE: struct sfu_link of sfu_start.h, which ends with the name of the file."""
import re


def facts(file):
    data = open(file, "rb").read()
    for at in (m.start() for m in re.finditer(b"sfulink1", data)):
        words = [int.from_bytes(data[at + 8 * i:at + 8 * i + 8], "little") for i in range(10)]
        if data[at + words[7]:].split(b"\0")[0] == file.rsplit("/")[-1].encode():
            return data, at, words
    raise SystemExit("not filled in")
END
cat >filled.py <<'END'
import subprocess
import sys

from facts import facts

file, reader = sys.argv[1:]
data, at, words = facts(file)
address, tables, size = words[1:4]
assert words[8] > 0, "no memory"
assert b"sfu-link: not yet" not in data
symbols = {line.split()[-1]: int(line.split()[0], 16) for line in subprocess.check_output(
    ["nm", "--defined-only", file], text=True).split("\n") if line}
assert symbols["sfu_link_data"] == address
open("tables.raw", "wb").write(data[at + tables:at + tables + size])
sys.exit(subprocess.call([reader, "tables.raw", hex(address + tables), hex(symbols["start"])]))
END
cat >reader.c <<'END'
#include "sfu.h"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    static uint8_t bytes[1 << 20];
    FILE *f = fopen(argv[1], "rb");
    size_t size = fread(bytes, 1, sizeof bytes, f);
    struct sfu_section section;
    struct sfu_row row;
    return argc < 4 || sfu_open(&section, bytes, size, strtoull(argv[2], NULL, 0)) != SFU_OK ||
           sfu_check(&section, NULL) != SFU_OK || sfu_find(&section, strtoull(argv[3], NULL, 0), &row) != SFU_OK;
}
END
gcc -O1 -I"$root" reader.c "$root/sfu.c" -o reader || exit 1
filled() { python3 filled.py "$1" ./reader; }

# own LINKS COMMAND...: links own.elf by at most so many links, fills it in, and leaves nothing else behind.
own() {
    local most=$1
    shift
    rm -f links own.elf
    "$link" "$@" && [ "$(wc -l <links)" -le "$most" ] && filled own.elf && [ -z "$(ls own.elf.* 2>/dev/null)" ]
}
# shellcheck disable=SC2054 # those commas are the compiler's
static=(-nostdlib -static -no-pie -Wl,-T,own.ld own.o panic.o -o own.elf)
ld=(-T own.ld own.o panic.o -o own.elf)
# Two links, and one run of the compiler where no input says for which CPU it is.
try "own object: ld" own 2 ./ld.bfd "${ld[@]}"
try "own object: gcc" own 2 ./counted gcc "${static[@]}"
try "own object: clang" own 2 ./counted clang "${static[@]}"
try "own object: lld" own 2 ./counted ld.lld "${ld[@]}"
try "own object: gold" own 2 ./counted ld.gold "${ld[@]}"
try "own object: mold" own 2 ./counted mold -static own.o panic.o -e start -o own.elf
try "own object: static-pie" own 2 ./counted gcc -nostdlib -static-pie -Wl,-T,own.ld own-pie.o panic-pie.o -o own.elf
no_relocations() {
    own 2 ./counted gcc -nostdlib -static-pie -Wl,-T,own.ld own-pie.o panic-pie.o -o own.elf &&
        [ "$(readelf -rW own.elf | grep -c R_X86_64)" = "$(readelf -rW own.elf | grep -c RELATIVE)" ]
}
try "own object: it adds no symbols to relocate" no_relocations
try "own object: --gc-sections" own 2 ./ld.bfd --gc-sections "${ld[@]}"
try "own object: --build-id" own 2 ./ld.bfd --build-id=sha1 "${ld[@]}"
# What is -E, -S and -M for a compiler, to stop before it links, is another option for a linker.
try "own object: ld -E -S -M" own 2 ./ld.bfd -E -S -M "${ld[@]}"
try "own object: gcc -Wl,-E,-S -Xlinker -M" own 2 ./counted gcc -Wl,-E,-S -Xlinker -M "${static[@]}"
try "own object: -o in the same word" own 2 ./ld.bfd -T own.ld own.o panic.o -oown.elf
response() { echo "-T own.ld own.o 'panic.o' -o own.elf" >words && own 2 ./ld.bfd @words; }
try "own object: a response file" response
responses() {
    mkdir -p 'a b' && cp panic.o 'a b/' && printf 'own.o\n"a b/panic.o"\n' >inner && echo '@inner -o own.elf' >outer &&
        own 2 ./ld.bfd -T own.ld @outer && own 2 ./counted ld.lld -T own.ld @outer &&
        own 2 ./counted gcc -nostdlib -static -no-pie -Wl,-T,own.ld @outer &&
        own 3 ./counted gcc -nostdlib -static -no-pie -Wl,-T,own.ld -Wl,@inner -o own.elf
}
try "own object: response files in one another, and of the linker alone" responses
archive() { rm -f all.a; ar rc all.a own.o panic.o && own 2 ./ld.bfd -T own.ld -u start all.a -o own.elf; }
try "own object: all in an archive" archive
thin() {
    mkdir -p objects && cp own.o panic.o objects/ && rm -f objects/all.a nested.a joined.a &&
        (cd objects && ar rcT all.a own.o panic.o && ar rc ../joined.a own.o panic.o) &&
        ar rcT nested.a objects/all.a && own 2 ./ld.bfd -T own.ld -u start nested.a -o own.elf &&
        own 2 ./ld.bfd -T own.ld -u start "$PWD/objects/all.a" -o own.elf && rm nested.a && ar rcT nested.a joined.a &&
        own 2 ./ld.bfd -T own.ld --whole-archive nested.a -o own.elf &&
        own 2 ./counted ld.lld -T own.ld --whole-archive objects/all.a -o own.elf
}
try "own object: all in a thin archive" thin
broken_thin() {
    head -c 200 objects/all.a >cut.a && printf '!<thin>\n%s' '/9 x' >bad.a && : >empty.a &&
        refused 1 "cut.a" "$link" ld -T own.ld cut.a bad.a empty.a -o kernel.elf
}
try "a broken thin archive" broken_thin
whole() { rm -f all.a; ar rc all.a own.o panic.o && own 2 ./ld.bfd -T own.ld --whole-archive all.a -o own.elf; }
try "own object: --whole-archive to the end" whole
binary() {
    echo text >text.bin
    own 2 ./ld.bfd -T own.ld own.o panic.o -o own.elf -b binary text.bin
}
try "own object: -b binary to the end" binary
joined() {
    "$link" ld -r own.o panic.o -o joined.o && own 2 ./ld.bfd -T own.ld joined.o -o own.elf
}
try "own object: ld -r before" joined
sources() {
    own 3 ./counted gcc "${plain[@]}" -fno-pie -nostdlib -static -no-pie -Wl,-T,own.ld own.c dist/sfu_panic.c \
        -o own.elf
}
try "own object: the same command compiles" sources
options_of_two_words() {
    own 3 ./counted gcc "${plain[@]}" -D NUMBER -U OTHER -I . -B . -isystem . -fno-pie -nostdlib -static -no-pie \
        -Wl,-T,own.ld own.c dist/sfu_panic.c -o own.elf
}
try "own object: the same command compiles, with options of two words" options_of_two_words
lto() {
    gcc "${plain[@]}" -fno-pie -flto -c own.c -o own-lto.o &&
        gcc "${plain[@]}" -fno-pie -flto -c dist/sfu_panic.c -o panic-lto.o &&
        own 2 ./counted gcc -Os -flto -nostdlib -static -no-pie -Wl,-T,own.ld own-lto.o panic-lto.o -o own.elf
}
try "own object: LTO of gcc" lto
clang_lto() {
    clang "${plain[@]}" -fno-pie -flto -c own.c -o own-lto.o &&
        clang "${plain[@]}" -fno-pie -flto -c dist/sfu_panic.c -o panic-lto.o &&
        own 3 ./counted clang -flto -fuse-ld=lld -nostdlib -static -no-pie -Wl,-T,own.ld own-lto.o panic-lto.o \
        -o own.elf
}
try "own object: LTO of clang" clang_lto
lld_lto() {
    clang "${plain[@]}" -fno-pie -flto -c own.c -o own-lto.o &&
        clang "${plain[@]}" -fno-pie -flto -c dist/sfu_panic.c -o panic-lto.o &&
        own 3 ./counted ld.lld -T own.ld own-lto.o panic-lto.o -o own.elf
}
try "own object: LTO of clang by the linker alone" lld_lto
# A script whose name does not say that it is a linker, as its output does.
named_otherwise() {
    printf '#!/bin/sh\nexec ./ld.bfd "$@"\n' >link-it && chmod +x link-it && own 3 ./link-it "${ld[@]}"
}
try "own object: a linker with another name" named_otherwise
# A script that links with words of its own, and a compiler that hands nothing on, as tcc 0.9.27 says: the message says
# what helps.
links_inside() {
    printf '#!/bin/sh\n./ld.bfd -T own.ld "$@" -o own.elf\n' >makes-it && chmod +x makes-it &&
        ! "$link" ./makes-it own.o panic.o 2>said && grep -q "write sfu-link in front of that one there" said &&
        printf '#!/bin/sh\necho "tcc: error: invalid option -- '"'-Xlinker'"'" >&2\nexit 1\n' >tcc && chmod +x tcc &&
        ! "$link" ./tcc -nostdlib own.o panic.o -o own.elf 2>said && grep -q "tcc does not hand words on" said
}
try "own object: a script that links inside, and tcc" links_inside
# What another image has by sframe_start is no place in this one.
just_symbols() {
    own 2 ./ld.bfd "${ld[@]}" && mv own.elf first.elf &&
        printf 'extern const char sframe_start[];\nconst char *start(void) { return sframe_start; }\n' >user.c &&
        gcc "${plain[@]}" -fno-pie -c user.c &&
        "$link" ./ld.bfd -Ttext=0x300000 -e start user.o --just-symbols=first.elf -o user.elf 2>said && [ ! -s said ]
}
try "own object: --just-symbols of an image with tables" just_symbols
sed -e 's/ \*(.rodata .rodata.\*) / own.o(.rodata .rodata.*) panic.o(.rodata .rodata.*) /' \
    -e 's/\.comment/.rodata &/' own.ld \
    >discards.ld
try "own object: a script that discards constants" own 5 ./ld.bfd -T discards.ld own.o panic.o -o own.elf
sed 's,/DISCARD/ : {[^}]*},/DISCARD/ : { *(*) },' own.ld >all.ld
try "own object: /DISCARD/ : { *(*) }" own 2 ./ld.bfd -T all.ld own.o panic.o -o own.elf
try "own object: --orphan-handling=error" own 2 ./ld.bfd --orphan-handling=error -T all.ld own.o panic.o -o own.elf
sed 's/    .rodata :/    .text2 :/; s/.text : { /.text : { *(.rodata .rodata.*) /' own.ld >first.ld
try "own object: constants before the code" own 4 ./ld.bfd -T first.ld own.o panic.o -o own.elf
spaces() {
    mkdir -p "a b" && cp own.o "a b/own o.o" && "$link" ld -T own.ld "a b/own o.o" panic.o -o "a b/own e.elf" &&
        filled "a b/own e.elf"
}
try "own object: names with spaces" spaces
twice() {
    own 2 ./ld.bfd --build-id=sha1 "${ld[@]}" && cp own.elf one.elf &&
        own 2 ./ld.bfd --build-id=sha1 "${ld[@]}" && cmp own.elf one.elf
}
try "own object: the same bytes twice" twice
at_once() {
    local i
    for i in 1 2 3 4 5 6; do "$link" ld -T own.ld own.o panic.o -o "many$i.elf" & done
    wait
    for i in 1 2 3 4 5 6; do filled "many$i.elf" || return 1; done
}
try "own object: several at once" at_once
# The place in the script is used, and the object has the rest.
in_script() {
    sed 's/    .data :/    .sfu_sframe : ALIGN(8) { sframe_start = .; QUAD(0) . += sfu_room; sframe_end = .; }\n&/' \
        own.ld \
        >room.ld
    own 3 "$@" -T room.ld own.o panic.o -o own.elf && [ "$(($(room own.elf)))" -gt 16 ]
}
try "own object: the script has room, ld" in_script ./ld.bfd
try "own object: the script has room, lld" in_script ./counted ld.lld
# Another program is linked once, and is what it would be without sfu-link.
others() {
    rm -f links
    "$link" "$@" -T own.ld other.o -o other.elf 2>said && [ "$(wc -l <links)" = 1 ] && [ ! -s said ] &&
        "${@:2}" -T own.ld other.o -o expected.elf && cmp other.elf expected.elf
}
try "a program that does not ask: ld" others ./counted ld
try "a program that does not ask: lld" others ./counted ld.lld
foreign() {
    printf '.globl start\nstart: jmp start\n' | as --x32 -o x32.o - &&
        "$link" ld -m elf32_x86_64 -e start x32.o -o x32.elf
}
try "a program for another CPU" foreign
# One word before each program of a makefile.
tools() {
    rm -f tools.a tools.bin
    "$link" gcc -E own.c -Idist -o tools.i && "$link" gcc -S tools.i -o tools.s &&
        "$link" gcc -MM own.c -Idist >tools.d &&
        [ -s tools.s ] && [ -s tools.d ] || return 1
    "$link" as -o tools.o - </dev/null && "$link" gcc-ar rc tools.a tools.o && "$link" ranlib tools.a &&
        "$link" objcopy own.o copied.o && cmp own.o copied.o &&
        "$link" objcopy own.o -O binary tools.bin &&
        [ -s tools.bin ] && [ "$("$link" nm own.o)" = "$(nm own.o)" ] && [ ! -e a.out ]
}
try "programs that do not link" tools
names() {
    own 2 ./ld.bfd "${ld[@]}" && python3 - <<'END'
import re
import subprocess

from facts import facts

data, at, words = facts("own.elf")
own = data[at + words[4]:at + words[4] + words[5]]
base = (words[1] + words[6]) % (1 << 64)
text = subprocess.check_output(["python3", "symbols.py", "--base=0x%x" % base, "nm", "own.elf"], text=True)
expected = bytes(int(n) for line in re.findall(r"\.byte (.*)", text) for n in line.split(","))
assert own == expected, "%d and %d bytes" % (len(own), len(expected))
END
}
cp "$root/port/symbols/symbols.py" .
try "names are those of symbols.py" names
no_names() {
    own 2 ./ld.bfd "${ld[@]}" && cp own.elf with.elf && rm -f links &&
        "$link" --no-names ./ld.bfd "${ld[@]}" && filled own.elf && ! strings own.elf | grep -q '^sfs1'
}
try "--no-names" no_names
try "a flat binary" refused 1 "link one, and convert it" \
    "$link" ld --oformat=binary -T own.ld own.o panic.o -o kernel.elf
# Its script puts constants into .data, as gnu-efi's does: objcopy takes what sfu-link has made along.
sed -e '/rodata/d' -e 's/ \*(.data / *(.rodata*) &/' own.ld >efi-own.ld
for_efi() {
    own 2 ./ld.bfd -shared -Bsymbolic -znocombreloc -T efi-own.ld own-pie.o panic-pie.o -o own.elf &&
        objcopy -j .text -j .data -j .dynamic -j .dynsym -j .reloc --target efi-app-x86_64 own.elf own.efi &&
        grep -q sfulink1 own.efi
}
try "own object: a shared object for EFI" for_efi
try "an image that names another CPU" refused 1 "another CPU than its code is for.*objcopy -O elf32-i386" \
    "$link" ld --oformat=elf32-i386 -T own.ld own.o panic.o -o kernel.elf
# Without symbols there are no names, and few rows; strip leaves what sfu-link has made.
no_symbols() {
    "$link" ld -s -T own.ld own.o panic.o -o own.elf 2>said && grep -q "left out the symbols (-s)" said &&
        "$link" ld -T own.ld own.o panic.o -o own.elf 2>said && ! grep -q "left out the symbols" said &&
        cp own.elf stripped.elf && strip stripped.elf && objcopy -O binary own.elf one.bin &&
        objcopy -O binary stripped.elf two.bin && cmp one.bin two.bin
}
try "ld -s" no_symbols
without_link() {
    ! ld -T own.ld own.o panic.o -o own.elf 2>said && grep -q "undefined reference to .sfu_link_data" said
}
try "without sfu-link the linker names what is missing" without_link
interrupted() {
    printf '#!/bin/sh\nsleep 30\n' >ld.slow && chmod +x ld.slow && cp own.o own.elf
    "$link" ./ld.slow own.o -o own.elf &
    local pid=$!
    sleep 0.5
    kill -TERM $pid
    ! wait $pid && [ ! -e own.elf ] && [ -z "$(ls own.elf.* 2>/dev/null)" ]
}
try "a signal leaves nothing" interrupted
launcher() {
    command -v cmake >/dev/null || return 0
    mkdir -p cm && cat >cm/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.21)
project(own C)
add_executable(own.elf $PWD/own.c $PWD/dist/sfu_panic.c)
target_include_directories(own.elf PRIVATE $PWD/dist)
target_compile_options(own.elf PRIVATE ${plain[*]} -fno-pie)
target_link_options(own.elf PRIVATE -nostdlib -static -no-pie -Wl,-T,$PWD/own.ld)
END
    cmake -S cm -B cm/build -DCMAKE_C_LINKER_LAUNCHER="$link" >/dev/null && cmake --build cm/build >/dev/null &&
        filled cm/build/own.elf
}
try "CMAKE_C_LINKER_LAUNCHER" launcher
by_meson() {
    command -v meson >/dev/null || return 0
    rm -rf me && mkdir me && cp own.c dist/sfu_panic.[ch] me/ &&
        printf "[binaries]\nc = ['%s', 'gcc']\n" "$link" >me/native &&
        cat >me/meson.build <<END
project('own', 'c', default_options : ['b_pie=false', 'optimization=s'])
executable('own.elf', 'own.c', 'sfu_panic.c',
    c_args : ['-ffreestanding', '-fno-stack-protector', '-fno-asynchronous-unwind-tables', '-fno-pie'],
    link_args : ['-nostdlib', '-static', '-no-pie', '-Wl,-T,$PWD/own.ld'])
END
    meson setup --native-file me/native me/build me && ninja -j1 -C me/build && filled me/build/own.elf
}
try "Meson: c of a native file" by_meson
arguments_alone() {
    rm -f own.elf && SFU_LINKER=ld SFU_LINK_OPTIONS="--no-names -q" "$link" "${ld[@]}" && filled own.elf &&
        rm -f own.elf && "$link" -flavor gnu "${ld[@]}" && filled own.elf
}
try "arguments alone, as cargo has them" arguments_alone
output_first() {
    rm -f own.elf && SFU_LINKER=ld "$link" -o own.elf "${ld[@]}" && filled own.elf &&
        rm -f own.elf && SFU_LINKER=ld "$link" -q --no-names -o own.elf "${ld[@]}" && filled own.elf
}
try "arguments alone, which begin with the output, as EDK II has them" output_first
# A build system may put the word in front of a command that has it already, at its start or in a script.
word_twice() {
    own 2 "$link" -q --no-names ./ld.bfd "${ld[@]}" || return 1
    own 2 -q -- "$link" --entry=start:start ./ld.bfd "${ld[@]}" || return 1
    printf '#!/bin/sh\nexec "%s" ./ld.bfd "$@"\n' "$link" >ld.twice && chmod +x ld.twice || return 1
    own 2 ./ld.twice "${ld[@]}" || return 1
    sed -i 's/ \.\/ld/ --small&/' ld.twice
    ! "$link" ./ld.twice "${ld[@]}" 2>said && grep -q 'sfu-link: --small: this command is part of another' said &&
        [ ! -e own.elf ]
}
try "own object: sfu-link in front of sfu-link" word_twice
# ld writes behind a symbolic link, and lld replaces the link.
symbolic_link() {
    local linker
    for linker in ./ld.bfd "./counted ld.lld"; do
        rm -f far.elf && ln -sf far.elf own.elf || return 1
        # shellcheck disable=SC2086 # two words
        "$link" $linker "${ld[@]}" && filled own.elf || return 1
        [ ! -e far.elf ] || cmp own.elf far.elf || return 1
        [ -z "$(ls own.elf.* far.elf.* 2>/dev/null)" ] || return 1
    done
}
try "own object: the output is a symbolic link" symbolic_link
# What is no file stays where it is, and is written once.
no_file() {
    cat >ld.pipe <<'END'
#!/bin/sh
echo x >>links
[ -p pipe.elf ] && echo there >pipe.elf
END
    rm -f pipe.elf links && mkfifo pipe.elf && chmod +x ld.pipe || return 1
    timeout 20 cat pipe.elf >piped &
    timeout 20 "$link" ./ld.pipe own.o -o pipe.elf && wait $! && grep -q there piped && [ "$(wc -l <links)" = 1 ] &&
        [ -p pipe.elf ]
}
try "own object: the output is no file" no_file
# The tables that sfu-link has written into a file, into made.tables; and where they are.
cat >tables.py <<'END'
import sys

from facts import facts

data, at, words = facts(sys.argv[1])
open("made.tables", "wb").write(data[at + words[2]:at + words[2] + words[3]])
print("0x%x" % (words[1] + words[2]))
END
# sfu-gen, and how often it runs.
printf '#!/bin/sh\necho x >>made\nexec "%s" "$@"\n' "$gen" >gen.counts
chmod +x gen.counts
# The second link has other code where it has other input: the tables of the first one are not taken then.
changed() {
    cat >ld.changes <<'END'
#!/bin/sh
echo x >>links
[ "$(wc -l <links)" = 1 ] || cp changed.o own.o
exec ld "$@"
END
    chmod +x ld.changes
    local frame
    for frame in 40 64; do
        # shellcheck disable=SC2016  # for sed
        sed 's/{ return x/{ volatile char a['$frame']; a[x] = 1; return a[1] + x/' first.c >own.c
        gcc "${plain[@]}" -fno-pie -c own.c -o "own$frame.o" || return 1
    done
    cp own40.o own.o && cp own64.o changed.o && rm -f links made
    SFU_GEN=./gen.counts "$link" ./ld.changes "${ld[@]}" && [ "$(wc -l <made)" = 2 ] &&
        "$gen" -q --small --find --address="$(python3 tables.py own.elf)" -o true.tables own.elf &&
        cmp true.tables made.tables
}
cp own.c first.c
try "own object: another code in the second link" changed
# The code is read once, although the tables begin elsewhere in the second link and, with lld, the code has moved:
# messages name the addresses that it has then.
cat >bounds.s <<'END'
    .text
    .globl tables_at, lost
    .type tables_at, @function
tables_at:
    lea sframe_start(%rip), %rax
    lea sframe_end(%rip), %rcx
    ret
    .size tables_at, . - tables_at
    .type lost, @function
lost:
    mov %rdi, %rsp
    jmp *%rsi
    .size lost, . - lost
END
gcc -c bounds.s || exit 1
# where NAME OFFSET: the address in own.elf.
where() { printf '0x%x' $((0x$(nm own.elf | awk -v name="$1" '$3 == name { print $1 }') + $2)); }
once() {
    rm -f links made
    SFU_GEN=./gen.counts "$link" "$@" own.o panic.o bounds.o unnamed.o -o own.elf 2>once.log &&
        [ "$(wc -l <made)" = 1 ] && filled own.elf &&
        "$gen" -q --small --find --address="$(python3 tables.py own.elf)" -o true.tables own.elf &&
        cmp true.tables made.tables && grep -q " lost ($(where lost 0)) has no rows" once.log &&
        grep -q "; none: .*$(where known 1) (known+0x1)" once.log
}
try "own object: the code is read once" once ./ld.bfd -T own.ld
try "own object: the code is read once, by lld, which moves it" once ./counted ld.lld -static -e start
# The lines of README.md, in a kernel that has a console and a structure of saved registers.
readme() {
    {
        echo '#include <stdint.h>'
        echo 'void console_putc(char c); struct frame { uintptr_t pc, sp, fp, ra; };'
        # shellcheck disable=SC2016  # for sed
        sed -n '/^<!-- block: started/,/^```$/{/^```/d;/^<!--/d;p;}' "$root/README.md"
        echo 'void console_putc(char c) { (void)c; }'
        echo 'void start(void) { struct frame f = {0, 0, 0, 0}; kernel_init(); kernel_panic(); kernel_fault(&f); }'
    } >own.c
    gcc "${plain[@]}" -fno-pie -Wall -Wextra -Werror -c own.c -o readme.o &&
        own 2 ./ld.bfd -T own.ld readme.o panic.o -o own.elf
}
try "the lines of README.md" readme
