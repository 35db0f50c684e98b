#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# build.sh OUT: builds the program that OUT, build/step/ABI/PROGRAM-COMPILER-LEVEL[-FLAG], names, with SFrame for
# all of its code. COMPILER: gcc12 (the system's), gcc16, clang. FLAG: see below; gen, small: the tables are
# sfu-gen's, small by --small; debuggen: of .debug_frame; code...: of the machine code alone, all CFI is removed.
# kernel[+WAY...]: a kernel that steps the program itself, in the ways of kernel_way.
# shellcheck disable=SC2054 # commas belong to -Wa, and -Wl,
set -eu

out=$1
here=$(dirname "$0")
abi=$(basename "$(dirname "$out")")
cpu=${abi%_be}
tools=build/tc/$cpu
# RISC-V: SFrame does not have it, so sfu-gen makes all tables, and the system's own binutils do. One compiler makes
# code of 32 bits, too.
riscv=
[[ $abi != riscv* ]] || riscv=yes gnu=riscv64-linux-gnu
# 32-bit ARM is the same. Its CFI is in .debug_frame.
arm=
if [ "$abi" = arm ] || [ "$abi" = thumb ]; then
    arm=yes riscv=yes gnu=arm-none-eabi
fi
# i386 is the same as RISC-V. The compilers of x86_64 make it.
i386=
[ "$abi" != i386 ] || i386=yes riscv=yes gnu=x86_64-linux-gnu
objcopy=$tools/objcopy nm=$tools/nm ld=
[ -z "$riscv" ] || objcopy=$gnu-objcopy nm=$gnu-nm ld=$(command -v "$gnu-ld")
read -ra KERNEL_PARTS <<<"${KERNEL_PARTS-}" # objects of a kernel, below build/bare/KIND; KERNEL_SFU: another sfu.o
IFS=- read -r program compiler level flag <<<"$(basename "$out")-"
flag=${flag%-}

case $compiler in
gcc12) cc=("${gnu-$cpu-linux-gnu}-gcc") ;;
gcc16)
    cc=("build/tc/gcc16/${cpu/i386/x86_64}/gcc")
    [ -z "$riscv" ] || [ -n "$i386" ] || cc=("build/tc/riscv/riscv64/gcc")
    ;;
clang | newest)
    target=$abi-linux-gnu
    [ -z "$arm" ] || target="arm-none-eabi"
    cc=("$(command -v clang-16 || echo clang)" "--target=$target")
    if [ "$compiler" = newest ]; then
        newest=(build/tc/chains/clang-* build/tc/chains/root/usr/lib/llvm-*/lib/clang/*)
        # By its name it runs itself again, and does not find its headers.
        cc=("${newest[0]}" -no-canonical-prefixes -resource-dir "$PWD/${newest[1]}" "${cc[@]:1}")
        compiler=clang
        # Its objects have what older binutils do not read.
        [ -z "$riscv" ] || [ -n "$arm" ] || objcopy=$tools/objcopy nm=$tools/nm ld=$PWD/build/tc/riscv/riscv64/ld
    fi
    cc+=(-fasynchronous-unwind-tables)
    [ -n "$riscv" ] || cc+=(-fno-integrated-as)
    ;;
*) echo "build.sh: no compiler $compiler" >&2 && exit 2 ;;
esac
[ -z "$i386" ] || [ "$compiler" = clang ] || cc+=(-m32)
[ "$compiler" = clang ] || [ "$abi" != aarch64_be ] || cc+=(-mbig-endian)
[ "$compiler" = clang ] && linker=(-fuse-ld="$PWD/build/tc/$cpu/ld") || linker=()
[ -z "$riscv" ] || linker=()
[ -z "$riscv" ] || [ "$compiler" != clang ] || linker=(-fuse-ld="$ld")
[ -n "$riscv" ] || cc+=("-B$PWD/build/tc/$cpu/")
cc+=("-$level" -w -fno-stack-protector -fno-pie -U_FORTIFY_SOURCE)
# RV32 has no floating point here: its library computes.
march=${abi/riscv/rv}
[ "$abi" = riscv64 ] && march+=gc || march+=imac

# A kernel: the port and the stepper are built as port/baremetal/test builds them, in the directory of their KIND.
kind=$cpu
machine_directory=port/baremetal/$cpu
[ -z "$riscv" ] || [ -n "$i386" ] || machine_directory=port/baremetal/riscv
made=() # options of sfu-gen, where the tables are its own
# What is not called, in the port's assembly and in begin.S.
derived=(--derive --entry=thread_start:start --entry=step_begin:start --entry=boot_again:start \
    --entry=boot_second:start)
case $cpu in
x86_64) derived+=(--entry=boot64:start --entry=vectors:vectors/16) ;;
i386) derived+=(--entry=boot:start --entry=double_fault:start --entry=vectors:vectors/16) ;;
aarch64)
    derived+=(--entry=boot:start)
    for slot in 0:sp0 0x80:sp0 0x200:trap 0x280:trap; do derived+=("--entry=vectors+$slot"); done
    ;;
s390x)
    derived+=(--entry=boot:start --entry=program_entry --entry=external_entry --entry=step_entry)
    # As below: an instruction that there is not.
    derived+=(--entry=step_begin+6:start --entry=__wrap_step_mark+2:call)
    ;;
riscv*)
    derived+=(--entry=boot:start --entry=exception_entry:scratch)
    # sfu-gen believes that nothing goes on behind ebreak, by which these two call the stepper.
    derived+=(--entry=step_begin+4:start --entry=__wrap_step_mark+2:call)
    ;;
esac
kernel_way() {
    case $1 in
    kernel)
        case $cpu in
        x86_64) cc+=(-mno-red-zone -fcf-protection=none) ;;
        i386) cc+=(-fcf-protection=none) ;;
        riscv64) kind=riscv64-s march=rv64imac ;;
        riscv32) kind=riscv32-s ;;
        esac
        ;;
    m) kind=$cpu ;; # RISC-V: M mode
    long) march=${march%c} ;;
    save) cc+=(-msave-restore) ;;
    hook) kind=$cpu-hook ;;
    fp) cc+=(-fno-omit-frame-pointer) ;;
    nofp) cc+=(-fomit-frame-pointer) ;;
    gen) made=(--small) ;;
    derive) made=(--small "${derived[@]}") ;;
    clash) cc+=(-fstack-clash-protection) ;;
    pac) cc+=(-mbranch-protection=pac-ret) kind=$cpu-pac ;; # the port turns it on
    8)
        if [ "$compiler" = clang ]; then
            cc+=(-mstack-alignment=8)
        else
            cc+=(-mpreferred-stack-boundary=3 -mgeneral-regs-only -DNO_FLOATS)
        fi
        ;;
    4) [ "$compiler" = clang ] && cc+=(-mstack-alignment=4) || cc+=(-mpreferred-stack-boundary=2) ;; # i386
    *) echo "build.sh: no way $1" >&2 && exit 2 ;;
    esac
}

[ -n "$riscv" ] || [[ $flag =~ ^(gen|pacgen|slhgen|thunkgen|debuggen|small|code.*)$ ]] || cc+=(-Wa,--gsframe)
pie=-no-pie
case $flag in
'') ;;
cf) cc+=(-fcf-protection=full) ;;
fp) cc+=(-fno-omit-frame-pointer) ;;
pie) cc+=(-fPIE) pie=-static-pie ;;
pic) cc+=(-fPIC) ;;
leaf) cc+=(-fno-omit-frame-pointer -mno-omit-leaf-frame-pointer) ;;
nofp) cc+=(-fomit-frame-pointer) ;;
noplt) cc+=(-fno-plt -fPIC) linker+=(-Wl,--no-relax) ;;
signals) cc+=(-DNO_TRAMPOLINES) ;;
clash) cc+=(-fstack-clash-protection) ;;
pac) cc+=(-mbranch-protection=standard) ;;
pacb) cc+=(-mbranch-protection=pac-ret+leaf+b-key) ;;
chain) cc+=(-mbackchain) ;;
gen | small) cc+=(-fasynchronous-unwind-tables) ;;
debuggen) cc+=(-g -fno-asynchronous-unwind-tables -fno-unwind-tables) ;;
code | codepac | codecet | codethunk | codereturn | codesls | codelto | codeclash | codesave | codelong | codepic | \
    codeslh | codem0 | codefp | codefpu | codea15 | codenofp | codebp | codertd | codems)
    cc+=(-fno-asynchronous-unwind-tables -fno-unwind-tables)
    ;;&
code) ;;
codepac) cc+=(-mbranch-protection=standard) ;;
codecet) cc+=(-fcf-protection=full) ;;
codethunk) [ "$compiler" = clang ] && cc+=(-mretpoline) || cc+=(-mindirect-branch=thunk) ;;
codereturn) [ "$compiler" = clang ] && cc+=(-mfunction-return=thunk-extern) || cc+=(-mfunction-return=thunk) ;;
codesls) cc+=(-mharden-sls=all) ;; # aarch64: the same for calls by registers; x86_64: int3 behind each return
codelto) cc+=(-flto) ;;
codepic) cc+=(-fPIE) ;; # tables of jumps are relative
codeclash) cc+=(-fstack-clash-protection) ;;
codeslh) cc+=(-mspeculative-load-hardening) ;;
codesave) cc+=(-msave-restore) ;; # RISC-V: as below
codelong) march=${march%c} ;;
codefp) cc+=(-fno-omit-frame-pointer) ;;
codenofp) cc+=(-fomit-frame-pointer) ;;
codeparts) cc+=(-fbasic-block-sections=all) ;; # clang, x86: each block is a part with a name of its own
rtd | codertd) # i386: functions take their arguments off the stack, but for those in assembly
    cc+=(-mrtd -DSTEP_OTHER_CALLS "-DSTEP_ASSEMBLY=__attribute__((cdecl))")
    ;;
ms | codems) # x86_64: Microsoft's calls, but for assembly
    cc+=(-mabi=ms -DSTEP_OTHER_CALLS "-DSTEP_ASSEMBLY=__attribute__((sysv_abi))")
    ;;
codebp) cc+=(-mpreferred-stack-boundary=2) ;; # i386: SP is a multiple of 4, and main aligns nothing
codem0 | codefpu | codea15) ;; # ARM: as below
pacgen) cc+=(-fasynchronous-unwind-tables -fomit-frame-pointer -mbranch-protection=pac-ret+leaf) ;;
slhgen) cc+=(-fasynchronous-unwind-tables -mspeculative-load-hardening) ;;
thunkgen) cc+=(-fasynchronous-unwind-tables -mindirect-branch=thunk-inline -mfunction-return=thunk-inline) ;;
packed) cc+=(-mpacked-stack -mbackchain -msoft-float) ;;
z13) cc+=(-march=z13) ;;
long) march=${march%c} ;;           # RISC-V: no compressed instructions
save) cc+=(-msave-restore) ;;       # RISC-V: prologues and epilogues of libgcc's
norelax) cc+=(-mno-relax) ;;        # RISC-V: the linker does not shorten code
scs)
    cc+=(-fsanitize=shadow-call-stack -ffixed-x18)
    # Newer ones have it in gp, by which the linker then must not address anything.
    if [[ ${cc[0]} = */chains/* ]]; then
        cc+=(-DSHADOW_GP)
        linker+=(-Wl,--no-relax-gp)
    fi
    ;;
m0 | fpu | a15) ;;                        # ARM: what ARMv6-M has; with floating-point registers
kernel*)
    [ "$compiler" != clang ] || [ -n "$riscv" ] || kind=$cpu-clang
    IFS=+ read -ra ways <<<"$flag"
    for way in "${ways[@]}"; do kernel_way "$way"; done
    ;;
*) echo "build.sh: no flag $flag" >&2 && exit 2 ;;
esac

if [ -n "$i386" ]; then
    # The headers of x86_64 serve both; there need be no library.
    cc+=(-march=i686 -idirafter /usr/include/x86_64-linux-gnu)
elif [ -n "$arm" ]; then
    case $abi-${flag#code} in
    thumb-m0) machine=(-mcpu=cortex-m0 -mthumb -DNO_FLOATS) ;;
    thumb-fpu) machine=(-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16) ;;
    thumb-*) machine=(-mcpu=cortex-m3 -mthumb -DNO_FLOATS) ;;
    arm-fpu) machine=(-march=armv7-a -mfpu=vfpv3 -marm -mfloat-abi=hard) ;;
    arm-a15) machine=(-mcpu=cortex-a15 -marm -mfloat-abi=soft -DNO_FLOATS) ;;
    arm-*) machine=(-march=armv7-a -marm -mfloat-abi=soft -DNO_FLOATS) ;;
    esac
    cc+=("${machine[@]}" -g -fno-asynchronous-unwind-tables -fno-unwind-tables -DNO_TRAMPOLINES
        -isystem /usr/lib/arm-none-eabi/include)
elif [ -n "$riscv" ]; then
    cc+=("-march=$march" -fasynchronous-unwind-tables)
    case $abi-$flag in
    riscv64-kernel*) cc+=(-mabi=lp64 -mcmodel=medany -DNO_FLOATS) ;;
    riscv64-*) cc+=(-mabi=lp64d) ;;
    *-kernel*) cc+=(-mabi=ilp32 -mcmodel=medany -DNO_FLOATS) ;;
    *)
        cc+=(-mabi=ilp32)
        [[ $program =~ ^(lua|sqlite)$ ]] || cc+=(-DNO_FLOATS)
        ;;
    esac
fi

# Headers of the cross compilers' libc serve both byte orders, and RISC-V's of 32 bits, but for the name of one file.
headers=build/step/include
mkdir -p $headers/gnu "$(dirname "$out")"
: >$headers/gnu/stubs-lp64_be.h
: >$headers/gnu/stubs-ilp32.h
: >$headers/gnu/stubs-lp64.h
: >$headers/gnu/stubs-32.h
[ "$cpu" = x86_64 ] || [ -n "$i386" ] || cc+=(-isystem "/usr/${gnu-$cpu-linux-gnu}/include")
cc+=("-I$here/programs" -I. -idirafter "$headers")

# What of the flag changes how foreign code is compiled.
variant=${flag//+hook/}
[ "$cpu" = x86_64 ] || variant=${variant#kernel}

# library DIRECTORY NAME...: objects of foreign code, compiled once for each ABI and variant, or kept from before.
library() {
    local directory=$1 made f sources=()
    made=$(dirname "$out")/$compiler-$level${variant:+-$variant}/$program
    shift
    for f; do
        sources+=("$directory/$f.c")
        files+=("$made/$f.o")
    done
    mkdir -p "$(dirname "$made")"
    (
        flock 9
        ! [ "$made/key" -nt "$0" ] || exit 0
        {
            "${cc[0]}" --version
            readlink -f "$tools" || :
            printf '%s\n' "${cc[@]//"$PWD"/}"
            "${cc[@]}" -E "${sources[@]}"
        } | test/tools/toolchain/sources.sh kept "$made" && exit 0
        for f in "${sources[@]}"; do
            "${cc[@]}" -c -o "$made/$(basename "$f" .c).o" "$f" 2>"$made.log" || { cat "$made.log" >&2 && exit 1; }
        done
        test/tools/toolchain/sources.sh keep "$made"
    ) 9>"$made.lock" || { rm -f "$made/key" && exit 1; }
}

files=("$here/programs/start.S")
[[ $flag == kernel* ]] || [ -n "$arm$i386" ] || files+=("$here/programs/signals.c")
if [ "$flag-$compiler" = codereturn-clang ]; then # clang leaves it to the program, as Linux has it
    mkdir -p "$out.parts"
    printf '%s\n' '.globl __x86_return_thunk' '.type __x86_return_thunk, @function' '__x86_return_thunk: ret' \
        '.size __x86_return_thunk, . - __x86_return_thunk' >"$out.parts/thunk.s"
    files+=("$out.parts/thunk.s")
fi
case $program in
patterns | goto | engine | calls) files+=("$here/programs/$program.c") ;;
zlib | lua | sqlite)
    src=$(test/tools/toolchain/sources.sh)
    files+=("$here/programs/shim.c" "$here/programs/$program.c")
    cc+=(-fno-builtin -D__NO_CTYPE)
    [ "$compiler" = clang ] || cc+=(-fno-tree-loop-distribute-patterns)
    ;;&
zlib)
    cc+=("-I$src/zlib")
    library "$src/zlib" adler32 crc32 deflate inffast inflate inftrees trees zutil
    ;;
lua)
    cc+=("-I$src/lua5.4/src" "-Dluai_makeseed(l)=1" "-Dlua_getlocaledecpoint()='.'")
    library "$src/lua5.4/src" lapi lauxlib lbaselib lcode lcorolib lctype ldebug ldo ldump lfunc lgc llex lmem \
        lobject lopcodes lparser lstate lstring lstrlib ltable ltablib ltm lundump lvm lzio
    ;;
sqlite)
    cc+=("-I$src/sqlite3" -DSQLITE_OS_OTHER=1 -DSQLITE_THREADSAFE=0 -DSQLITE_TEMP_STORE=3 -DLONGDOUBLE_TYPE=double
        -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_LOCALTIME -DSQLITE_OMIT_WAL -DSQLITE_OMIT_JSON)
    if [ "$abi-$compiler-$level-$flag" = x86_64-gcc12-O2- ]; then
        test/truth/sqlite.sh build/sqlite
        files+=(build/sqlite/sqlite3.s)
    else
        library "$src/sqlite3" sqlite3
    fi
    ;;
*) echo "build.sh: no program $program" >&2 && exit 2 ;;
esac

# kernel_objects: the port's and the stepper's, whose memcpy is not the program's.
kernel_objects() {
    local directory=$out.parts from
    for f in "${KERNEL_PARTS[@]}"; do
        from=build/bare/$kind/$f
        [ "$f" != sfu.o ] || from=${KERNEL_SFU-$from}
        mkdir -p "$(dirname "$directory/$f")"
        "$objcopy" --redefine-sym memcpy=kernel_memcpy --redefine-sym memset=kernel_memset \
            --redefine-sym strcmp=kernel_strcmp "$from" "$directory/$f"
        # Nothing is left that says what assembly does.
        [[ " ${made[*]-} " != *' --derive '* ]] || [[ $f != */boot.o && $f != */begin.o ]] ||
            "$objcopy" -R '.sframe*' -R '.rela.sframe*' -R '.sfu_sframe*' -R '.rela.sfu_sframe*' -R .eh_frame \
                -R .rela.eh_frame "$directory/$f"
        files+=("$directory/$f")
    done
}

pointer=.quad padding=
[ "$abi" != riscv32 ] || pointer=.word padding=', 0'
[ -z "$i386" ] || pointer=.long
# functions IMAGE: struct function for each of its functions; only setjmp and those without a table have a name.
functions() {
    echo '.globl step_functions, step_functions_end'
    echo '.section .rodata.functions, "a"; .balign 8; step_functions:'
    [ -z "$1" ] || "$nm" -nS --defined-only "$1" | awk -v pointer="$pointer" -v padding="$padding" '
        $3 ~ /[tTwW]/ && NF == 4 {
            name = $4 ~ /^notable_/ ? "none" : $4 ~ /^_?setjmp$/ ? "marks" : "empty"
            print ".quad 0x" $1 ", 0x" $2 "; " pointer " " name padding
        }'
    echo 'step_functions_end: none: .asciz "notable_"; marks: .asciz "setjmp"; empty: .byte 0'
}

# Assemblers name each function that cannot be described: expected are the signal's return, and in what clang makes at
# -O0 for aarch64 one more (FAULTS.md: gas-fp-without-ra).
log=$(mktemp)
trap 'rm -f "$log"' EXIT
drive() {
    local expected='no such line'
    case $program-$compiler-$cpu-$level in
    patterns-clang-aarch64-O0) expected='patterns-.*: Warning: no SFrame FDE emitted; FP without RA on stack$' ;;
    esac
    if ! "${cc[@]}" "$@" 2>"$log"; then
        cat "$log" >&2
        exit 1
    fi
    [ "$(grep -c -e "$expected" "$log")" = 1 ] || expected='no such line'
    grep -v -e 'Assembler messages' -e 'op (0xf)' -e 'no-warn-execstack' -e "$expected" "$log" >&2 || true
}

link() { drive "${linker[@]}" -nostdlib -static $pie -z execstack -Wl,--no-warn-execstack "$@"; }

# compile_sources: what FILES are sources becomes objects.
compile_sources() {
    local i object
    for i in "${!files[@]}"; do
        case ${files[i]} in
        *.c | *.S)
            object=$out.parts/$(basename "${files[i]}").o
            drive -c "${files[i]}" -o "$object"
            files[i]=$object
            ;;
        esac
    done
}

# save_library: the libgcc with the functions that save and restore registers. Its CFI is that of their source.
save_library() {
    case $abi-$flag in
    riscv64-kernel*) riscv64-unknown-elf-gcc -march=rv64imac -mabi=lp64 -print-libgcc-file-name ;;
    riscv64-*) "${cc[@]}" -print-libgcc-file-name ;;
    *) riscv64-unknown-elf-gcc -march=rv32imac -mabi=ilp32 -print-libgcc-file-name ;;
    esac
}

# Linked twice: the second time the functions are known.
link_kernel() {
    mkdir -p "$out.parts"
    compile_sources
    kernel_objects
    # The harness reads the compiler's name in .comment.
    if [ -n "$riscv" ]; then
        [ -n "$i386" ] || files+=("$(save_library)")
        [ -n "${made[*]-}" ] || made=(--strict)
        sed 's/\*(.comment /*(/' "build/bare/$kind/kernel.ld" >"$out.parts/kernel.ld"
    else
        sed 's/\*(.comment /*(/' port/baremetal/kernel.ld >"$out.parts/kernel.ld"
    fi
    # sfu-gen writes its tables where the assembler's are: those of exception entries are taken over.
    [ -z "${made[*]-}" ] || [ -n "$riscv" ] || sed -i -e 's/ \.eh_frame / /' \
        -e '$s/}/.eh_frame 0 (INFO) : { KEEP(*(.eh_frame)) } }/' "$out.parts/kernel.ld"
    functions '' >"$out.s"
    for f in "$out.first" "$out"; do
        link -Wl,--gc-sections,--build-id=sha1,-z,norelro,-z,max-page-size=4096 -Wl,--wrap=step_mark \
            "-Wl,-L,$out.parts,-T,$machine_directory/machine.ld" -o "$f" "${files[@]}" "$out.s"
        functions "$f" >"$out.s"
    done
    [ -z "${made[*]-}" ] || build/tools/sfu-gen -q "${made[@]}" "$out"
}

if [[ $flag == kernel* ]]; then
    link_kernel
else
    # sqlite counts zeros, for which RISC-V has no instruction here; lua computes with floating-point numbers.
    [[ $flag != *save ]] && [ "${riscv:+$program}" != sqlite ] && [ "$abi-$program" != riscv32-lua ] ||
        files+=("$(save_library)")
    [ -z "$arm" ] || files+=(-Wl,-Ttext-segment=0x100000 "$("$gnu-gcc" "${machine[@]}" -print-libgcc-file-name)")
    link -o "$out" "${files[@]}"
fi
[ -z "$riscv" ] || [[ $flag =~ ^(small|code.*|kernel.*)$ ]] || flag=gen
case $flag in
gen | pacgen | slhgen | thunkgen | debuggen) build/tools/sfu-gen -q --append="$out" "$out" ;;
small) build/tools/sfu-gen -q --small --append="$out" "$out" ;;
code*)
    "$objcopy" -R .eh_frame -R .debug_frame -R '.sframe*' "$out"
    build/tools/sfu-gen -q --derive '--entry=*:call' --append="$out" "$out"
    ;;
esac
