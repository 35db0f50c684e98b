# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# sfu in real programs. Not a part of `make check-all`, because it fetches and builds for minutes. Its own logic is.

REAL := u_boot_aarch64 u_boot_aarch64.linked u_boot_x86_64 u_boot_x86_64.linked u_boot_riscv64 u_boot_riscv64.linked \
    opensbi opensbi.linked s390_ccw s390_ccw.linked trusted_firmware trusted_firmware.linked memtest86 \
    memtest86.linked memtest86.i386 u_boot_i386 xen xen.derived xen.linked

.PHONY: real real-freertos real-nuttx real-unikraft real-xv6 suite-real
## [campaigns] real: sfu goes into programs of Debian's, which crash in QEMU: test/real/RESULTS.md; T=u_boot: one
real: tools dist | $(TC)
	@test/tools/toolchain/install.sh check bare tools cost real
	@test/run.sh real-programs python3 -B test/real/real.py build/real test/real/RESULTS.md \
	    $(REAL)

# The trees are the user's: none of them is in Debian.
# The first time each puts sfu's lines into a copy in build/real, and says what to build; then it boots what was built.
## [campaigns] real-nuttx: the same in NuttX that you build, NUTTX=folder APPS=folder QEMU=qemu-system-x86_64 of 9.0
real-nuttx: tools dist
	@test/tools/toolchain/install.sh check bare tools
	@test/run.sh real-nuttx python3 -B test/real/real.py build/real test/real/RESULTS.md \
	    nuttx.armv8a nuttx.x86_64

## [campaigns] real-unikraft: the same in a source tree of Unikraft that you build, UNIKRAFT=folder
real-unikraft: tools dist
	@test/tools/toolchain/install.sh check bare tools
	@test/run.sh real-unikraft python3 -B test/real/real.py build/real test/real/RESULTS.md \
	    unikraft.x86_64 unikraft.arm64

# Built here, in seconds. The submodules of the tree must be those of its commit.
## [campaigns] real-freertos: the same in FreeRTOS's demo for a Cortex-M3, FREERTOS=folder of FreeRTOS/FreeRTOS
real-freertos: tools dist
	@test/tools/toolchain/install.sh check bare tools
	@test/run.sh real-freertos python3 -B test/real/real.py build/real test/real/RESULTS.md \
	    freertos.fault freertos.tasks freertos.linked

# Built here, too, of a tree of mit-pdos/xv6-public.
## [campaigns] real-xv6: the same in xv6 for 32-bit x86, XV6=folder
real-xv6: tools dist
	@test/tools/toolchain/install.sh check bare tools
	@test/run.sh real-xv6 python3 -B test/real/real.py build/real test/real/RESULTS.md xv6

CHECK += real

# Whether that comparison fails where it should.
suite-real:
	@test/run.sh real python3 -B test/real/real.py test
