# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# What must hold of the core itself: that it compiles everywhere and needs nothing, its size, stack and speed.

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
