# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

$(foreach abi,$(ABIS),$(eval CHECK_$(abi) += programs-$(abi)))
CHECK += programs-mutant

.PHONY: $(ABIS:%=suite-programs-%) suite-programs-mutant

$(ABIS:%=suite-programs-%): suite-programs-%: | $(TC)
	@test/run.sh programs-$* test/truth/programs/run.sh $*

suite-programs-mutant: | $(TC)
	@test/run.sh programs-mutant test/truth/programs/mutant.sh
