#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# A parent project by CMake, by Meson and by Kconfig: each switch arrives in main.c, and the program runs. Zephyr itself
# is not here: its files are read as it reads them, with its functions replaced by those of CMake.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. test/lib/tests.sh
work=build/port/build
main=$PWD/port/build/test/main.c
rm -rf $work
mkdir -p $work
ln -s "$PWD" $work/sfu

# check NAME WANTED PROGRAM: what it prints. If it is not there, the end of the log says why.
check() {
    equal "$1" "$($3 2>>$work/log || tail -n 2 $work/log)" "$2"
}

# cmake NAME WANTED DEFINITIONS OPTION...
by_cmake() {
    name=$1 wanted=$2 definitions=$3
    shift 3
    mkdir -p "$work/$name"
    cat >"$work/$name/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.13)
project(parent C)
add_compile_options(-O2 -Wall -Wextra -Werror)
add_subdirectory(../sfu/port/build sfu)
add_executable(parent $main)
target_compile_definitions(parent PRIVATE $definitions)
target_link_libraries(parent PRIVATE sfu)
EOF
    { cmake -S "$work/$name" -B "$work/$name/build" "$@" && cmake --build "$work/$name/build"; } >$work/log 2>&1
    check "$name" "$wanted" "$work/$name/build/parent"
}

# meson NAME WANTED DEFINITIONS SWITCHES PARTS
by_meson() {
    mkdir -p "$work/$1"
    cp -r sfu.h sfu.c arch "$work/$1" # Meson takes nothing from outside of the project
    mkdir -p "$work/$1/sfu"
    mv "$work/$1/sfu.h" "$work/$1/sfu.c" "$work/$1/arch" "$work/$1/sfu"
    cp -r port "$work/$1/sfu"
    cp "$main" "$work/$1"
    cat >"$work/$1/meson.build" <<EOF
project('parent', 'c', default_options: ['warning_level=2', 'werror=true', 'c_std=c99'])
sfu_switches = [$4]
sfu_parts = [$5]
subdir('sfu/port/build')
executable('parent', 'main.c', dependencies: sfu_dep, c_args: [$3])
EOF
    { meson setup "$work/$1/build" "$work/$1" && ninja -C "$work/$1/build"; } >$work/log 2>&1
    check "$1" "$2" "$work/$1/build/parent"
}

sentence="end of the stack: the outermost frame"
by_cmake cmake-default "oldest 1 abi 0 print 1: 1 -1 $sentence" WITH_PRINT
by_cmake cmake-all "oldest 3 abi 3 no-remote no-strings fast 1: 1 -1 " WITH_FAST \
    -DSFU_OLDEST_VERSION=3 -DSFU_ABI=SFU_AMD64 -DSFU_NO_REMOTE=ON -DSFU_NO_STRINGS=ON -DSFU_PRINT=OFF -DSFU_FAST=ON
by_cmake cmake-profile "oldest 1 abi 0 print 1 fast 1 depot 1 profile 1 repeat 1: 1 -1 $sentence" \
    "WITH_PRINT WITH_FAST WITH_DEPOT WITH_PROFILE WITH_REPEAT" -DSFU_FAST=ON -DSFU_DEPOT=ON -DSFU_PROFILE=ON
by_meson meson-default "oldest 1 abi 0: 1 -1 $sentence" "" "" ""
by_meson meson-all "oldest 3 abi 3 no-remote no-strings print 1 fast 1: 1 -1 " "'-DWITH_PRINT', '-DWITH_FAST'" \
    "'-DSFU_OLDEST_VERSION=3', '-DSFU_ABI=SFU_AMD64', '-DSFU_NO_REMOTE', '-DSFU_NO_STRINGS'" "'print', 'fast'"
by_meson meson-profile "oldest 1 abi 0 print 1 fast 1 depot 1 profile 1 repeat 1: 1 -1 $sentence" \
    "'-DWITH_PRINT', '-DWITH_FAST', '-DWITH_DEPOT', '-DWITH_PROFILE', '-DWITH_REPEAT'" "" \
    "'print', 'build_id', 'fast', 'repeat', 'depot', 'depot_print', 'profile'"

# A variable that the parent sets before add_subdirectory counts at the first configure and at each later one, whatever
# policies the parent has; and so it does against the cache.
set_twice() {
    name=cmake-set-$1
    mkdir -p "$work/$name"
    cat >"$work/$name/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION $2)
project(parent C)
set(SFU_OLDEST_VERSION 3)
set(SFU_ABI SFU_AMD64)
set(SFU_PRINT OFF)
add_subdirectory(../sfu/port/build sfu)
add_executable(parent $main)
target_link_libraries(parent PRIVATE sfu::sfu)
EOF
    shift 2
    for round in first second; do
        { cmake -S "$work/$name" -B "$work/$name/build" "$@" && cmake --build "$work/$name/build"; } >$work/log 2>&1
        check "$name, $round" "oldest 3 abi 3: 1 -1 $sentence" "$work/$name/build/parent"
        touch "$work/$name/CMakeLists.txt"
    done
}
set_twice old 3.13
set_twice new 3.25
set_twice policy 3.25 -DCMAKE_POLICY_DEFAULT_CMP0126=OLD
set_twice cache 3.25 -DSFU_OLDEST_VERSION=2

# sfu in a library that is taken whole, and in the program; and in a shared library.
# whole NAME LINE LIBRARY
whole() {
    mkdir -p "$work/$1/sfu"
    cp -r sfu.h sfu.c arch port "$work/$1/sfu"
    cp "$main" "$work/$1"
    cat >"$work/$1/more.c" <<EOF
#include "sfu.h"
const char *more(void);
const char *more(void) { return sfu_string(SFU_OK); }
EOF
    cat >"$work/$1/meson.build" <<EOF
project('parent', 'c', default_options: ['warning_level=2', 'werror=true', 'c_std=c99'])
sfu_switches = []
sfu_parts = ['print']
$2
subdir('sfu/port/build')
more = static_library('more', 'more.c', dependencies: sfu_dep)
$3
executable('parent', 'main.c', dependencies: sfu_dep, link_whole: more)
EOF
    { meson setup "$work/$1/build" "$work/$1" && ninja -C "$work/$1/build"; } >$work/log 2>&1
    check "$1" "oldest 1 abi 0: 1 -1 $sentence" "$work/$1/build/parent"
}
whole meson-whole "" ""
whole meson-shared "sfu_pic = true" "shared_library('shared', 'more.c', dependencies: sfu_dep)"

# Meson's subproject: from a repository by a wrap, and in a folder that is there already.
# subproject NAME: puts it into the folder $subprojects by the function of that name
subproject() {
    subprojects=$work/meson-$1/subprojects
    mkdir -p "$subprojects/packagefiles"
    cp -r port/build/wrap "$subprojects/packagefiles/sfu"
    cp "$main" "$work/meson-$1"
    cat >"$work/meson-$1/meson.build" <<EOF
project('parent', 'c', default_options: ['warning_level=2', 'werror=true', 'c_std=c99'])
sfu_dep = dependency('sfu', fallback: ['sfu', 'sfu_dep'],
    default_options: ['parts=print,fast', 'switches=-DSFU_OLDEST_VERSION=2'])
executable('parent', 'main.c', dependencies: sfu_dep, c_args: ['-DWITH_PRINT', '-DWITH_FAST'])
EOF
    {
        "$1"
        meson setup "$work/meson-$1/build" "$work/meson-$1" && ninja -C "$work/meson-$1/build"
    } >$work/log 2>&1
    check "meson-$1" "oldest 2 abi 0 print 1 fast 1: 1 -1 $sentence" "$work/meson-$1/build/parent"
}
wrap() {
    repository=$PWD/$work/repository
    mkdir "$repository"
    cp -r sfu.h sfu.c arch port "$repository"
    git -C "$repository" init -q && git -C "$repository" add -A &&
        git -C "$repository" -c user.name=sfu -c user.email=sfu@localhost commit -qm all
    printf '%s\n' '[wrap-git]' "url = file://$repository" 'revision = HEAD' 'patch_directory = sfu' '[provide]' \
        'sfu = sfu_dep' >"$subprojects/sfu.wrap"
}
folder() {
    mkdir "$subprojects/sfu"
    cp -r sfu.h sfu.c arch port port/build/wrap/* "$subprojects/sfu"
}
subproject wrap
subproject folder

# Every part that there is compiles and links; one that is not is named.
parts=$(sed -n '/^sfu_part_folders/,/^}/s/^    //p' port/build/meson.build | sed "s/: '[a-z]*'//g" | tr -d '\n')
by_meson meson-parts "oldest 1 abi 0 print 1 fast 1: 1 -1 $sentence" "'-DWITH_PRINT', '-DWITH_FAST'" "" "$parts"
by_cmake cmake-parts "oldest 1 abi 0 print 1 fast 1: 1 -1 $sentence" "WITH_PRINT WITH_FAST" \
    -DSFU_FAST=ON -DSFU_DEPOT=ON -DSFU_PROFILE=ON
sed -i "s/^sfu_parts = .*/sfu_parts = ['recorder']/" $work/meson-parts/meson.build
none "meson: a part that is not there" "$(meson setup $work/meson-parts/wrong $work/meson-parts 2>&1 |
    grep -q 'sfu_parts: there is no recorder, but ' || echo 'no word of it')"

# The blocks of README.md. block NAME: that one's lines.
block() {
    awk -v mark="<!-- file: $1 -->" '$0 == mark { on = 1; next }
        on && /^```/ { if (in_block) exit; in_block = 1; next }
        on { print }' port/build/README.md
}

# page NAME BUILD PROLOGUE BLOCK PROGRAM WANTED: PROGRAM, built by CMake or Meson as BLOCK says, prints WANTED.
page() {
    folder=$work/page-$1
    mkdir -p "$folder/sfu/port"
    cp -r sfu.h sfu.c arch "$folder/sfu"
    cp -r port/build port/print port/symbols port/fast port/depot port/profile "$folder/sfu/port"
    cp "$5" "$folder/kernel.c"
    { printf '%s\n' "$3"; block "$4"; } >"$folder/$2"
    case $2 in
    meson.build) { meson setup "$folder/build" "$folder" && ninja -C "$folder/build"; } >$work/log 2>&1 ;;
    *) { cmake -S "$folder" -B "$folder/build" && cmake --build "$folder/build"; } >$work/log 2>&1 ;;
    esac
    check "page-$1" "$6" "$folder/build/kernel"
}
begin='cmake_minimum_required(VERSION 3.13)
project(parent C)
set(CMAKE_EXE_LINKER_FLAGS -Wl,--defsym=image_start=__executable_start)'
project="project('parent', 'c')
add_project_link_arguments('-Wl,--defsym=image_start=__executable_start', language: 'c')"
named=port/build/test/named.c
page cmake CMakeLists.txt "$begin
add_executable(kernel kernel.c)" CMakeLists.txt "$main" "oldest 1 abi 0: 1 -1 $sentence"
page cmake-twice CMakeLists.txt "$begin" twice.cmake $named "main+0 sfu_open+1 none"
page meson meson.build "$project" meson.build "$main" "oldest 3 abi 0: 1 -1 $sentence"
page meson-twice meson.build "$project
$(block meson.build | grep -v executable)" twice.meson $named "main+0 sfu_open+1 none"

/usr/bin/python3 port/build/test/kconfig.py $work "$main" # the one that Debian's packages are for

# arch_stack_walk of port/zephyr, in a process that plays Zephyr (zephyr_walk_test.c). theirs.c: the architecture's own,
# which ld's --wrap leaves aside. ZEPHYR=folder: with that tree's declarations.
zephyr=$work/zephyr
mkdir -p $zephyr/zephyr
: >$zephyr/zephyr/kernel.h
: >$zephyr/zephyr/kernel_structs.h
echo 'void arch_stack_walk(void) {}' >$zephyr/theirs.c
printf '%s\n' 'SECTIONS { .sframe : { sframe_start = .; KEEP(*(.sframe .sframe.*)) sframe_end = .; } }' \
    'INSERT AFTER .rodata;' >$zephyr/insert.ld

# declarations FOLDER: those of a Zephyr tree for a CPU, whose headers are in FOLDER.
declarations() {
    sed -n '/^typedef bool (\*stack_trace_callback_fn)/p; /^void arch_stack_walk(/,/;/p' \
        "$ZEPHYR/include/zephyr/arch/arch_interface.h"
    cat "$ZEPHYR/include/zephyr/arch/$1/thread.h" "$ZEPHYR/include/zephyr/arch/$1/exception.h" |
        sed -n '/^#define X86_\(FXSAVE\|THREAD_FLAG\)_/p
            /^struct _callee_saved {/,/^}/p; /^struct _thread_arch {/,/^}/p; /^struct arch_esf {/,/^}/p'
}

# walks CPU FLAGS: FLAGS are those of a configuration.
walks() {
    cpu=$1 program=$zephyr/walk_test-$1
    shift
    if [ -n "${ZEPHYR-}" ]; then
        folder=arm64
        [ "$cpu" = aarch64 ] || folder=x86/intel64
        { echo 'struct k_thread; struct arch_esf;' && declarations $folder; } >$zephyr/declarations.h
        set -- "$@" -DZEPHYR_TREE
    fi
    "$cpu-linux-gnu-gcc" -std=gnu11 -O2 -Wall -Wextra -Werror -Wconversion -Wshadow -fno-stack-protector \
        -fomit-frame-pointer -fasynchronous-unwind-tables "-Bbuild/tc/$cpu/" -Wa,--gsframe -static \
        -Wl,-T,$zephyr/insert.ld -Wl,--wrap=arch_stack_walk -I. -Iarch -I$zephyr "$@" \
        sfu.c port/zephyr/test/zephyr_walk_test.c $zephyr/theirs.c -o "$program" || echo "not ok zephyr-$cpu: see above"
    { if [ "$cpu" = x86_64 ]; then "$program"; else "qemu-$cpu" "$program"; fi || echo "not ok: ended"; } |
        sed "s/ok/ok zephyr-$cpu:/"
}
walks x86_64
walks aarch64 -DCONFIG_ARM64
