# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# How a kernel is compiled and linked.

BARE := build/bare
BARE_CPUS := x86_64 aarch64 s390x

# What kernels are compiled with: no frame pointers, no vector registers.
BARE_CPU_x86_64 := -m64 -mno-red-zone -mgeneral-regs-only -fcf-protection=none
BARE_CPU_aarch64 := -mgeneral-regs-only -mstrict-align -mno-outline-atomics
BARE_CPU_s390x := -msoft-float -march=z196

BARE_FLAGS := -std=c11 -ffreestanding -O2 -g -fomit-frame-pointer -fno-stack-protector \
    -fpie -fvisibility=hidden -fno-optimize-sibling-calls \
    -fasynchronous-unwind-tables -ffunction-sections -Wa,--gsframe $(WARN) -Werror \
    -I. -Iarch -Iport/print -Iport/symbols -Iport/baremetal
BARE_LINK := -nostdlib -static-pie -Wl,--gc-sections,-z,norelro,--build-id=sha1,-z,max-page-size=4096
BARE_HEADERS := sfu.h \
    $(wildcard arch/*.h arch/*/*.h port/print/*.h port/symbols/*.h port/baremetal/*.h port/baremetal/*/*.h)
