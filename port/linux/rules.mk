# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

FIRST += demo
CHECK += demo
$(foreach abi,$(ABIS),$(eval CHECK_$(abi) += demo-$(abi)))

.PHONY: demo suite-demo $(ABIS:%=suite-demo-%)

## [tools] demo: a backtrace without frame pointers, with this machine's own compiler
demo:
	@test/tools/toolchain/install.sh demo
	@port/linux/demo.sh

suite-demo:
	@test/tools/toolchain/install.sh demo
	@test/run.sh demo port/linux/test/demo_test.sh

CHECK += demo-riscv64 demo-riscv32
.PHONY: suite-demo-riscv64 suite-demo-riscv32
suite-demo-riscv64 suite-demo-riscv32: suite-demo-%: build/tools/sfu-gen build/tools/sfu-trace
	@test/tools/toolchain/install.sh core cxx riscv clang python tools
	@test/run.sh demo-$* port/linux/test/port.py $* build/tools/sfu-trace

CHECK += demo-i386
.PHONY: suite-demo-i386
suite-demo-i386: build/tools/sfu-gen build/tools/sfu-trace | $(TC)
	@test/tools/toolchain/install.sh core cxx m32 clang python tools
	@test/run.sh demo-i386 port/linux/test/port.py i386 build/tools/sfu-trace

$(ABIS:%=suite-demo-%): suite-demo-%: build/tools/sfu-trace | $(TC)
	@test/tools/toolchain/toolchain.sh v1 v2 >/dev/null
	@test/run.sh demo-$* port/linux/test/port.py $* build/tools/sfu-trace
