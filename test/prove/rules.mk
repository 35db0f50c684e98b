# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

.PHONY: prove prove-mutants suite-prove

## [campaigns] prove: proofs of the core with CBMC; their bounds are in test/prove/prove.sh
prove:
	@test/toolchain/install.sh check
	@test/prove/prove.sh

# Those that take seconds.
CHECK += prove
suite-prove: | $(TC)
	@test/run.sh prove test/prove/prove.sh -q

## [campaigns] prove-mutants: break sfu on purpose, in ways of each of which a proof has to fail
prove-mutants:
	@test/toolchain/install.sh check
	@test/prove/mutants.sh
