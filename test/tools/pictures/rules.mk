# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# The pictures of README.md, drawn from what was measured.

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
