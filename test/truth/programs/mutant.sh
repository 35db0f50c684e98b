#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# mutant.sh: shows that the programs notice a broken core. Prints "ok NAME" for each way to break it that makes the
# test fail that is there for it.
set -u
out=build/programs/mutants
mkdir -p "$out"

# mutant NAME ABI LABEL TEST EXPRESSION: the core, edited by sed's EXPRESSION, has to fail TEST of LABEL
mutant() {
    core=$out/$1.c
    sed "$5" sfu.c >"$core"
    if cmp -s sfu.c "$core"; then
        echo "not ok $1: '$5' finds nothing to change in sfu.c"
        return
    fi
    T=$3 CORE=$core OUT=$out test/truth/programs/run.sh "$2" >"$out/$1.out" 2>&1
    if grep -q "^not ok $3 $4" "$out/$1.out"; then
        echo "ok $1"
    else
        echo "not ok $1: not noticed by $3 $4"
    fi
}

mutant return-address-as-it-is x86_64 plain-O2 noreturn 's/return regs->pc - regs->pc_kind;/return regs->pc;/'
mutant interrupted-as-return-address x86_64 plain-O2 'each instruction of leaf' \
    's/interrupted.regs.pc_kind = SFU_PC_EXACT;/interrupted.regs.pc_kind = SFU_PC_RETURN;/'
mutant interrupted-by-table x86_64 plain-O2 'by table, two signals in' \
    's/frame->regs.pc_kind = trap ? SFU_PC_EXACT : SFU_PC_RETURN;/frame->regs.pc_kind = SFU_PC_RETURN;/'
mutant fp-not-restored x86_64 plain-O2 'call of alloca' 's/frame->regs.fp = .*;/;/'
mutant signature-kept aarch64 pac-b-O2 'call of leaf' 's/if (row->signed_ra)/if (0)/'
mutant registers-not-asked s390x plain-O2 'each instruction of leaf' 's/t->reg == NULL || .*$/1)/'
mutant original-not-asked x86_64 traced-O2 'call of leaf' 's/t->original_ra(t->ctx, frame, caller->slot, .*);/false;/'
mutant original-not-asked-in-register s390x traced-O2 'each instruction of leaf' \
    's/t->original_ra(t->ctx, frame, caller->slot/caller->slot != 0 \&\& &/'
mutant slot-not-told x86_64 traced-O2 'call of leaf' 's/caller->slot = sum;/;/'
mutant replaced-not-said x86_64 traced-O2 'call of leaf' 's/frame->replaced = caller.replaced;/;/'
mutant padding-not-skipped x86_64 joined-lld-8 tables 's/padding < 8 &&/padding < 1 \&\&/'
mutant tables-not-cut x86_64 joined-gold-1 tables 's/section->size = section->end;/;/'
mutant address-of-bytes x86_64 plain-O2 'call of copy' \
    's/return s->addr + start;/return (uint64_t)(uintptr_t)s->bytes + start;/'
