# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# sfu beside other unwinders, on the stacks of sqlite's queries. Not a part of `make check`: it takes some minutes.

.PHONY: bench
## [measure] bench: sfu and other unwinders on the same stacks: instructions, time, stack, size
bench: | $(TC)
	@test/tools/bench/bench.sh build/bench
