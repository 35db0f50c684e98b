# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

CHECK += dist release

.PHONY: dist release suite-dist suite-release
## [tools] dist: what people copy, in build/dist: sfu_panic, what needs it, *.ld, a tarball; PREFIX=mine_: renamed
# PREFIX is also a folder, that of `make install`. DIST is another folder than build/dist.
DIST ?= build/dist
dist:
	@python3 port/dist/dist.py $(DIST) $(if $(findstring /,$(PREFIX)),,$(PREFIX))

suite-dist: build/tools/sfu-gen build/tools/sfu-link | $(TC)
	@test/tools/toolchain/install.sh check
	@test/tools/toolchain/install.sh bare
	@test/run.sh dist port/dist/test/dist_test.sh

## [tools] release: what a version publishes, in build/release: files of dist, SHA256SUMS, notes; behind make check-all
RELEASE ?= build/release
RELEASE_TESTS ?= check-all
release:
	@test/tools/toolchain/install.sh check
	@port/dist/release.sh $(RELEASE) $(RELEASE_TESTS)

suite-release: | $(TC)
	@test/tools/toolchain/install.sh check
	@test/run.sh release port/dist/test/release_test.sh build/release-test
