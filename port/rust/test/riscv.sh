#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# riscv.sh DIRECTORY: the crate for RISC-V without an operating system, of 64 and of 32 bits. cargo builds it with no
# variable set; the objects are of the target's class, extensions and ABI, and Rust and C link into one.
set -eu
LC_ALL=C
export LC_ALL
. test/lib/tests.sh
work=$1

# flags_of CPU: what readelf -h says of the target's objects.
flags_of() {
    if [ "$1" = riscv64 ]; then echo 'ELF64 0x5, RVC, double-float ABI'; else echo 'ELF32 0x1, RVC, soft-float ABI'; fi
}

said_of() {
    riscv64-linux-gnu-readelf -h "$1" | sed -n 's/^ *\(Class\|Flags\): *//p' | sort -u | tr '\n' ' ' |
        sed 's/^\(0x.*ABI\) \(ELF[0-9]*\) $/\2 \1/'
}

# one CPU TARGET EMULATION
one() {
    directory=$work/$1
    core=$(port/rust/test/core.sh "$1")
    mkdir -p "$directory"
    if RUSTFLAGS="-L$core" CARGO_TARGET_DIR="$directory/target" cargo build --offline --release --target "$2" \
        --manifest-path port/rust/Cargo.toml >"$directory/log" 2>&1; then
        none "$1 cargo build" ''
    else
        none "$1 cargo build" "$(tail -n 5 "$directory/log")"
        return
    fi
    archive=$(find "$directory/target" -name libsfu.a | head -n 1)
    none "$1 objects" "$([ "$(said_of "$archive")" = "$(flags_of "$1")" ] || said_of "$archive")"
    cat >"$directory/use.rs" <<'EOF'
#![no_std]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
#[no_mangle]
pub extern "C" fn use_it(code: i32) -> usize {
    unsafe { *sfu::sys::sfu_string(code) as usize }
}
EOF
    rlib=$(find "$directory/target/$2" -name 'libsfu-*.rlib' | head -n 1)
    if rustc --edition=2021 "--target=$2" "-L$core" -Cpanic=abort -Copt-level=2 --crate-type=staticlib \
        --extern "sfu=$rlib" "-L${archive%/*}" "$directory/use.rs" -o "$directory/libuse.a" >"$directory/log" 2>&1 &&
        riscv64-linux-gnu-ld -m "$3" --gc-sections -u use_it -e use_it "$directory/libuse.a" "$archive" \
            -o "$directory/use" >"$directory/log" 2>&1; then
        none "$1 link" ''
    else
        none "$1 link" "$(tail -n 5 "$directory/log")"
    fi
}

one riscv64 riscv64gc-unknown-none-elf elf64lriscv
one riscv32 riscv32imac-unknown-none-elf elf32lriscv
exit $failed
