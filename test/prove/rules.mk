# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

.PHONY: prove suite-prove

## [campaigns] prove: proofs of the core with CBMC; their bounds are in test/prove/prove.sh
prove:
	@test/tools/toolchain/install.sh check
	@test/prove/prove.sh

# Those that take seconds.
CHECK += prove
suite-prove: | $(TC)
	@test/run.sh prove test/prove/prove.sh -q
