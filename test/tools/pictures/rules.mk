# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# The pictures of README.md, drawn from what was measured.

CHECK += pictures

.PHONY: pictures suite-pictures
## [record] pictures: draws the pictures of README.md anew
pictures: $(BARE)/x86_64/kernel.elf
	@test/tools/toolchain/install.sh bare
	@test/tools/pictures/pictures.sh $(TC) test/tools/pictures

suite-pictures: $(BARE)/x86_64/kernel.elf
	@test/tools/toolchain/install.sh bare
	@test/run.sh pictures test/tools/pictures/test.sh $(TC) build/pictures
