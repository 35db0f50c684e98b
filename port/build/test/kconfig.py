#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""kconfig.py WORK MAIN: reads port/build/Kconfig as projects do, and builds MAIN by what it sets, in the way that
port/zephyr/CMakeLists.txt says: by CMake, to which functions of Zephyr's names are given."""
import os
import subprocess
import sys

import kconfiglib
import yaml

sys.path.insert(0, "test/lib")
from check import finish, must, run, test  # noqa: E402

ZEPHYR = """cmake_minimum_required(VERSION 3.13)
project(zephyr C)
add_executable(zephyr %s)
function(zephyr_library_named name)
endfunction()
function(zephyr_library_sources)
    target_sources(zephyr PRIVATE ${ARGN})
endfunction()
function(zephyr_include_directories)
    target_include_directories(zephyr PRIVATE ${ARGN})
endfunction()
function(zephyr_compile_definitions)
    target_compile_definitions(zephyr PRIVATE ${ARGN})
endfunction()
include(config.cmake)
include(%s/CMakeLists.txt)
"""
CASES = [  # what is set, what main.c prints
    ("default", {}, [], "oldest 3 abi 0 no-remote: 1 -1 end of the stack: the outermost frame"),
    ("all", {"SFU_OLDEST_VERSION": "2", "SFU_AMD64": "y", "SFU_NO_REMOTE": "n", "SFU_NO_STRINGS": "y",
             "SFU_PROFILE": "y"},
     ["WITH_PRINT", "WITH_FAST"], "oldest 2 abi 3 no-strings print 1 fast 1: 1 -1 "),
    ("profile", {"SFU_PRINT": "n", "SFU_PROFILE": "y"}, ["WITH_PRINT", "WITH_FAST", "WITH_DEPOT", "WITH_PROFILE"],
     "oldest 3 abi 0 no-remote print 1 fast 1 depot 1 profile 1: 1 -1 end of the stack: the outermost frame"),
]


def build(work, main, values, definitions):
    module = yaml.safe_load(open("port/zephyr/module.yml", encoding="utf-8"))["build"]
    config = kconfiglib.Kconfig("port/" + module["kconfig"])
    for name, value in {"SFU": "y", **values}.items():
        if not config.syms[name].set_value(value):
            raise ValueError(name)
    if config.warnings:
        raise ValueError(config.warnings[0])
    os.makedirs(work)
    with open(work + "/config.cmake", "w", encoding="utf-8") as f:
        for symbol in config.unique_defined_syms:
            if symbol.str_value not in ("n", ""):
                f.write("set(CONFIG_%s %s)\n" % (symbol.name, symbol.str_value))
    with open(work + "/CMakeLists.txt", "w", encoding="utf-8") as f:
        f.write(ZEPHYR % (main, os.path.abspath("port/" + module["cmake"])))
        f.write("target_compile_definitions(zephyr PRIVATE %s)\n" % " ".join(definitions))
    for command in (["cmake", "-S", work, "-B", work + "/build"], ["cmake", "--build", work + "/build"]):
        run(*command)
    return subprocess.run([work + "/build/zephyr"], check=True, capture_output=True, text=True).stdout.rstrip("\n")



def stack_walk(work):
    """What the module adds to Zephyr's build for arch_stack_walk; only Zephyr has the CPUs that the symbol asks for."""
    os.makedirs(work)
    with open(work + "/CMakeLists.txt", "w", encoding="utf-8") as f:
        f.write("cmake_minimum_required(VERSION 3.13)\nproject(zephyr NONE)\n")
        for name in "library_named", "library_sources", "include_directories", "compile_definitions", "ld_options":
            f.write("function(zephyr_%s)\nmessage(\"%s ${ARGN}\")\nendfunction()\n" % (name, name))
        f.write("set(CONFIG_SFU y)\nset(CONFIG_SFU_STACK_WALK y)\ninclude(%s/CMakeLists.txt)\n" %
                os.path.abspath("port/zephyr"))
    said = subprocess.run(["cmake", "-S", work, "-B", work + "/build"], check=True,
                          capture_output=True, text=True).stderr
    source = [line.split()[1] for line in said.splitlines() if line.startswith("library_sources")][-1]
    must(os.path.exists(source) and "ld_options -Wl,--wrap=arch_stack_walk" in said, said)


def configured(case, values_set, with_parts, wanted):
    got = build("%s/kconfig-%s" % (sys.argv[1], case), sys.argv[2], values_set, with_parts)
    must(got == wanted, "%s instead of %s" % (got, wanted))


for case, *values in CASES:
    test("kconfig-" + case, configured, case, *values)
test("zephyr-build", stack_walk, sys.argv[1] + "/zephyr-build")
finish()
