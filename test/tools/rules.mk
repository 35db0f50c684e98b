# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# The rooms beside this: gates, coverage, measurements and their pictures, the toolchain.

# ---- gates: what must hold of the core: it compiles everywhere and needs nothing; its size, stack and speed ----

CHECK += gates

.PHONY: suite-gates budget perf switches
suite-gates: | $(TC)
	@test/run.sh gates test/tools/gates/gates.sh build/gates

## [measure] perf: instructions per frame and per lookup, by callgrind
perf: | $(TC)
	@test/tools/gates/budget.sh build/gates perf

## [record] budget: records size, stack and instructions of the core as they are now
budget: | $(TC)
	@{ sed -n '/^#/p' test/tools/gates/budget.txt; test/tools/gates/budget.sh build/gates; } >build/gates.budget && \
		mv build/gates.budget test/tools/gates/budget.txt && cat test/tools/gates/budget.txt

## [record] switches: records what each build-time switch saves, and what a panic needs of the stack
switches: | $(TC)
	@mkdir -p build/gates
	@test/tools/gates/switches.sh build/gates >build/gates/switches.md && \
		mv build/gates/switches.md test/tools/gates/SWITCHES.md && \
		cat test/tools/gates/SWITCHES.md

# ---- cov ----

## [campaigns] cov: lines and branches of sfu.c that the hosted tests do not reach; fails if there are any
.PHONY: cov
cov:
	@test/tools/toolchain/install.sh check
	@test/tools/cov/cov.sh

# ---- cost: not a part of `make check-all`, because it builds for some minutes. Whether it counts right is ----

.PHONY: cost suite-cost
## [measure] cost: what .sframe, .eh_frame and frame pointers cost lua, zlib, sqlite and a firmware, on five CPUs
cost: build/tools/sfu-gen | $(TC)
	@test/tools/toolchain/install.sh check cost
	@test/tools/cost/cost.sh build/cost

CHECK += cost

suite-cost: build/tools/sfu-gen | $(TC)
	@test/run.sh cost test/tools/cost/check.sh build/cost-check

# ---- bench: not a part of `make check-all`, because it takes some minutes ----

.PHONY: bench bench-shapes
## [measure] bench: sfu and other unwinders on the stacks of sqlite: instructions, time, stack, size
bench: build/tools/sfu-gen | $(TC)
	@test/tools/bench/bench.sh build/bench

## [measure] bench-shapes: the same on stacks of many shapes: instructions, and time as a ratio
bench-shapes: | $(TC)
	@test/tools/bench/shapes.sh build/bench

.PHONY: bench-repeat
## [measure] bench-repeat: a trace that is remembered, beside the fast walker: instructions, and time as a ratio
bench-repeat:
	@test/tools/bench/repeat.sh build/bench

# ---- pictures: those of README.md, drawn from what was measured ----

CHECK += pictures

.PHONY: pictures suite-pictures
## [record] pictures: draws the pictures of README.md anew
pictures: $(BARE)/x86_64/kernel.elf build/profile/x86_64/sqlite.elf build/tools/sfu-trace
	@test/tools/toolchain/install.sh bare
	@test/tools/pictures/pictures.sh $(TC) test/tools/pictures build/profile/x86_64/sqlite.elf

# sqlite takes half a minute to compile: its picture is compared by LONG=1 only.
PICTURES_LONG := $(if $(LONG),build/profile/x86_64/sqlite.elf)
suite-pictures: $(BARE)/x86_64/kernel.elf $(PICTURES_LONG) $(if $(LONG),build/tools/sfu-trace)
	@test/tools/toolchain/install.sh bare
	@test/run.sh pictures test/tools/pictures/pictures.sh $(TC) build/pictures $(PICTURES_LONG)

# ---- toolchain ----

.PHONY: fresh
## [campaigns] fresh: what .ci/run does on a machine where nothing is installed yet (as root)
fresh:
	@test/tools/toolchain/install.sh fresh
	@test/tools/toolchain/fresh.sh
