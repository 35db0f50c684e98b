# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# N: how many mutants; 0: all. T: only those whose name has it.

.PHONY: mutants
## mutants: small changes of sfu.c, made by rule, each of which a unit test has to notice; N=0: all of them
mutants:
	@test/tools/toolchain/install.sh check
	@test/run.sh mutants python3 test/mutants/mutants.py build/mutants test/mutants/equivalent $(or $(N),400) '$(T)'
