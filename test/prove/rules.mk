# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

## prove: proofs of the core with CBMC; their bounds are in test/prove/prove.sh
.PHONY: prove
prove:
	@test/prove/prove.sh
