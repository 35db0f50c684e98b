#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# kernels.sh OUT NAME ABI VARIANT: builds a freestanding program of Debian's with both kinds of tables, as
# OUT/ABI/NAME-VARIANT. NAME: u-boot, s390-ccw. VARIANT: nofp (without frame pointers), fp (with), chain (s390x: with
# a back chain).
set -eu
out=$1
name=$2
abi=$3
variant=$4
tc=$PWD/build/tc/$abi
cross=$abi-linux-gnu-
ld=$tc/ld
source=$(test/tools/toolchain/sources.sh kernels)/$name
# Some of these undo what the program's own makefiles say: gcc writes no CFI directives, hence no .sframe, with
# -fno-dwarf2-cfi-asm.
flags="-O2 -g0 -fasynchronous-unwind-tables -fdwarf2-cfi-asm"
# SFrame does not have RISC-V: the system's own binutils do, and sfu-gen makes the tables.
case $abi in
riscv*) cross=riscv64-linux-gnu- ld=$(command -v riscv64-linux-gnu-ld) ;;
*) flags="$flags -Wa,--gsframe -B$tc/" ;;
esac
case $variant in
nofp) flags="$flags -fomit-frame-pointer" ;;
fp) flags="$flags -fno-omit-frame-pointer" ;;
chain) flags="$flags -mbackchain" ;;
*) echo "kernels.sh: no variant $variant" >&2 && exit 2 ;;
esac
mkdir -p "$out/$abi"
elf=$out/$abi/$name-$variant
work=$PWD/$elf.d
log=$elf.log

# Compiler and linker to build with: our flags come last, and the linker script of U-Boot keeps the tables.
tools() {
    rm -rf "$work"
    mkdir -p "$work/tools"
    printf '#!/bin/sh\nexec %sgcc "$@" %s\n' "$cross" "$flags" >"$work/tools/gcc"
    cat >"$work/tools/ld" <<END
#!/bin/sh
if [ -f u-boot.lds ] && ! grep -q 'KEEP.*sframe' u-boot.lds; then
    sed -i '\$ s/}\$/.sframe : { KEEP(*(.sframe .sframe.*)) } .eh_frame : { KEEP(*(.eh_frame)) } }/' u-boot.lds
fi
exec $ld "\$@"
END
    chmod +x "$work/tools/gcc" "$work/tools/ld"
}

u_boot() {
    case $abi in
    x86_64) board=efi-x86_app64 ;;
    riscv*) board=qemu-${abi}_smode ;;
    *) board=qemu_arm64 ;;
    esac
    tools
    make -s -C "$source" O="$work" CROSS_COMPILE="$cross" "${board}_defconfig"
    make -j"$(nproc)" -C "$source" O="$work" CROSS_COMPILE="$cross" CC="$work/tools/gcc" LD="$work/tools/ld" u-boot
    cp "$work/u-boot" "$elf"
}

s390_ccw() {
    tools
    cp -r "$source/." "$work"
    cat >"$work/config-host.mak" <<END
SRC_PATH=$work
CC=$work/tools/gcc
CCAS=$work/tools/gcc
STRIP=$tc/strip
END
    make -C "$work" s390-ccw.elf
    cp "$work/s390-ccw.elf" "$elf"
}

[ -z "$(find "$elf" -newer "$0" 2>/dev/null)" ] || exit 0
trap '[ $? -eq 0 ] || tail -n 20 "$log" >&3' EXIT
exec 3>&2 >"$log" 2>&1
case $name in
u-boot) u_boot ;;
s390-ccw) s390_ccw ;;
*) echo "kernels.sh: no program $name" && exit 2 ;;
esac
rm -rf "$work"
