# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

$(foreach abi,$(ABIS),$(eval CHECK_$(abi) += programs-$(abi)))

.PHONY: $(ABIS:%=suite-programs-%)

$(ABIS:%=suite-programs-%): suite-programs-%: | $(TC)
	@test/run.sh programs-$* test/truth/programs/run.sh $*
