# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# From afar: this machine unwinds memory images of programs of each ABI.
AFAR := build/afar
AFAR_SOURCES := test/afar/target.c sfu.c port/linux/sfu_linux.c port/linux/start.c port/linux/start.S \
    port/linux/restorer.S
AFAR_x86_64 := x86_64-linux-gnu-gcc -B$(TC)/x86_64/
AFAR_aarch64 := aarch64-linux-gnu-gcc -B$(TC)/aarch64/ -mbranch-protection=standard
AFAR_aarch64_be := aarch64-linux-gnu-gcc -mbig-endian -B$(TC)/aarch64/
AFAR_s390x := s390x-linux-gnu-gcc -B$(TC)/s390x/

$(AFAR)/afar: test/afar/afar.c sfu.c sfu.h | $(TC)
	@mkdir -p $(@D)
	@$(CC) -std=c99 -D_GNU_SOURCE $(WARN) -O2 -g -I. test/afar/afar.c sfu.c -lelf -o $@

define AFAR_SUITE
$(AFAR)/$(1)-%: $(AFAR_SOURCES) sfu.h $(wildcard port/linux/*.h arch/*.h arch/*/*.h) | $(TC)
	@mkdir -p $$(@D)
	@$(AFAR_$(1)) -$$* -I. -Iport/linux -ffreestanding -fPIE -static-pie -nostdlib -fstack-clash-protection \
	    -Wa,--gsframe $(AFAR_SOURCES) -o $$@

CHECK_$(1) += afar-$(1)
.PHONY: suite-afar-$(1)
suite-afar-$(1): $(AFAR)/afar $(AFAR)/$(1)-O0 $(AFAR)/$(1)-O2 $(AFAR)/$(1)-Os
	@test/run.sh afar-$(1) test/afar/check.sh $(1) $(AFAR)
endef
$(foreach abi,$(ABIS),$(eval $(call AFAR_SUITE,$(abi))))
