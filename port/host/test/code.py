#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""code.py facts | planted | trust | hostile: tests of what reads machine code (port/host/code), in build/host.

facts    what each instruction does is known; for s390x, each fault of the table is noticed
planted  facts notices each fault in what is known of an instruction
trust    code and CFI: agreement where compilers tell the truth, the code's rows where they do not, by the machine
hostile  random code, under the sanitizers; twice as much code takes twice as many instructions, in whatever shape
"""
import functools
import json
import os
import random
import re
import sys
import time

import host
from host import NM, OUT, TC, Wrong, finish, gen, must, read, run, test, write
from saved import check_saved

WORK = OUT + "/work/code-" + sys.argv[1]
BEGUN = time.time()
CODE = OUT + "/reads"

ARCH = {"i386": ["--32"], "aarch64": ["-march=armv9.2-a+memtag+sve2"], "s390x": ["-march=arch13"],
        "riscv64": ["-march=rv64gcv_zba_zicboz", "-mabi=lp64d"],
        "riscv32": ["-march=rv32gcv_zba_zicboz", "-mabi=ilp32d"],
        "thumb": ["-march=armv7e-m", "-mfpu=fpv5-d16"], "arm": ["-march=armv7ve", "-mfpu=neon"]}
# BP: A32's and T32's frame pointers, r11 and r7.
ARM_BEFORE = ".syntax unified\n.%s\nBP .req r%d\n"
# What the text for both kinds of RISC-V needs.
WORDS = """.macro LOAD a, b\nl%(d)s \\a, \\b\n.endm\n.macro STORE a, b\ns%(d)s \\a, \\b\n.endm\n.equ W, %(w)d\n"""
BEFORE = {"riscv64": WORDS % {"d": "d", "w": 8}, "riscv32": WORDS % {"d": "w", "w": 4},
          "arm": ARM_BEFORE % ("arm", 11), "thumb": ARM_BEFORE % ("thumb", 7)}
ARM = ("arm", "thumb")


def build(cpu, file, lines, *flags):
    """Assembles LINES and links them, to FILE."""
    tool = "riscv64-linux-gnu-%s" if cpu.startswith("riscv") else "arm-none-eabi-%s" if cpu in ARM else \
        TC + "/" + cpu.replace("i386", "x86_64") + "/%s"
    machine = {"riscv64": ["-m", "elf64lriscv"], "riscv32": ["-m", "elf32lriscv"],
               "i386": ["-m", "elf_i386"]}.get(cpu, ())
    write(file + ".s", (BEFORE.get(cpu, "") + "\n".join(lines) + "\n").encode())
    run(tool % "as", *ARCH.get(cpu, ()), file + ".s", "-o", file + ".o")
    run(tool % "ld", *machine, *flags, file + ".o", "-o", file)
    return file


# ---- facts ----

# Functions whose CFI is true at each instruction: all of their code is to be confirmed. By the manuals of the CPUs.
TRUE = {
    "x86_64": {
        "undefined": """test %edi, %edi\njz 1f\nsub $24, %rsp\n.cfi_adjust_cfa_offset 24\nud2
            .cfi_adjust_cfa_offset -24\n1: js 2f\nsub $24, %rsp\n.cfi_adjust_cfa_offset 24\nud1 3(%rax), %eax
            .cfi_adjust_cfa_offset -24\n2: jc 3f\nsub $24, %rsp\n.cfi_adjust_cfa_offset 24\nud0 (%rax), %eax
            .cfi_adjust_cfa_offset -24\n3: ret""",
        "push": """push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset 6, -16\npush $7\n.cfi_adjust_cfa_offset 8
            pushf\n.cfi_adjust_cfa_offset 8\npush (%rdi)\n.cfi_adjust_cfa_offset 8\nsub $24, %rsp
            .cfi_adjust_cfa_offset 24\nadd $24, %rsp\n.cfi_adjust_cfa_offset -24\npop (%rdi)
            .cfi_adjust_cfa_offset -8
            popf\n.cfi_adjust_cfa_offset -8\npop %rcx\n.cfi_adjust_cfa_offset -8\npop %rbp
            .cfi_adjust_cfa_offset -8\n.cfi_restore 6\nret""",
        "frame": """push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset 6, -16\nmov %rsp, %rbp\n.cfi_def_cfa_register 6
            sub %rcx, %rsp\nand $-32, %rsp\ncall 1f\n1: lea -64(%rsp), %rsp\nleave\n.cfi_def_cfa 7, 8
            .cfi_restore 6\nret""",
        "stored": """lea -40(%rsp), %rsp\n.cfi_adjust_cfa_offset 40\nmov %rbp, 8(%rsp)\n.cfi_offset 6, -40
            xor %ebp, %ebp\nmov %rsp, %r11\n.cfi_def_cfa_register 11\nsub $0x1000, %rsp\nadd $0x1000, %rsp
            .cfi_def_cfa_register 7\nmov 8(%rsp), %rbp\n.cfi_restore 6\nmov $40, %eax\nadd %rax, %rsp
            .cfi_adjust_cfa_offset -40\nret""",
        "realigned": """lea 8(%rsp), %r10\n.cfi_def_cfa 10, 0\nand $-64, %rsp\npush -8(%r10)\npush %rbp
            mov %rsp, %rbp
            .cfi_escape 0x10, 6, 2, 0x76, 0\npush %r10\n.cfi_escape 0xf, 3, 0x76, 0x78, 6\nsub $24, %rsp\ncall push
            add $24, %rsp\npop %r10\n.cfi_def_cfa 10, 0\npop %rbp\n.cfi_restore 6\nlea -8(%r10), %rsp
            .cfi_def_cfa 7, 8\nret""",
        "loop": """push %rbx\n.cfi_adjust_cfa_offset 8\nmov $9, %ebx\n1: call push\ndec %ebx\njnz 1b
            test %eax, %eax\nje 2f
            pop %rbx\n.cfi_remember_state\n.cfi_adjust_cfa_offset -8\njmp push\n2: .cfi_restore_state
            pop %rbx\n.cfi_adjust_cfa_offset -8\nret""",
        # Instructions of the same bytes at other PCs, and those that begin with the same bytes.
        "switches": """cmp $1, %edi\nja 3f\n11: lea 21f(%rip), %rdx\nmovslq (%rdx,%rdi,4), %rax\nadd %rdx, %rax
            jmp *%rax\n1: nop\n2: cmp $1, %edi\nja 3f\n12: lea 22f(%rip), %rdx\nmovslq (%rdx,%rdi,4), %rax
            add %rdx, %rax\njmp *%rax\n4: nop\n3: ret\n.pushsection .rodata\n21: .long 1b - 21b, 2b - 21b
            .skip 12b - 11b - 8\n22: .long 4b - 22b, 3b - 22b\n.popsection""",
        # Nothing but the table leads to the cases. DS is no segment of its own; gcc's -fcf-protection.
        "no_track": """cmp $1, %edi\nja 2f\nmov %edi, %edi\nnotrack jmp *9f(,%rdi,8)\n1: nop\n2: ret
            .pushsection .rodata\n9: .quad 1b, 2b\n.popsection""",
        "segment": """push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset 6, -16\nxor %ebp, %ebp\nmov %ds:(%rsp), %rbp
            .cfi_restore 6\nadd $8, %rsp\n.cfi_adjust_cfa_offset -8\nret""",
        # Two SPs of one stack: the frame is found by FP.
        "two_ways": """push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset 6, -16\nmov %rsp, %rbp\n.cfi_def_cfa_register 6
            test %eax, %eax\nje 1f\npush %rbx\n1: call push\nleave\n.cfi_def_cfa 7, 8\n.cfi_restore 6\nret""",
        "branches": "je 1f\nret\n1: je 1f\nret\n1: ret",
        "halves": """push %ax\n.cfi_adjust_cfa_offset 2\npushw $5\n.cfi_adjust_cfa_offset 2\npushfw
            .cfi_adjust_cfa_offset 2\npopfw\n.cfi_adjust_cfa_offset -2\npop %cx\n.cfi_adjust_cfa_offset -2\npush %fs
            .cfi_adjust_cfa_offset 8\npop %fs\n.cfi_adjust_cfa_offset -8\npushw $6
            .cfi_adjust_cfa_offset 2\npopw 16(%rsp)\n.cfi_adjust_cfa_offset -2\nret""",
        "entered": """enter $16, $2\n.cfi_def_cfa 7, 48\n.cfi_offset 6, -16\nlea 16(%rbp), %rcx\n.cfi_def_cfa 2, 0
            xor %ecx, %ecx\n.cfi_def_cfa 6, 16\nleave\n.cfi_def_cfa 7, 8\n.cfi_restore 6\nret""",
        "rounds": """push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset 6, -16\n1: loop 1b\n2: loopne 3f\njrcxz 2b
            jecxz 3f\npop %rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore 6\nret\n.cfi_adjust_cfa_offset 8
            .cfi_offset 6, -16\n3: loope 4f\npop %rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore 6\nret
            .cfi_adjust_cfa_offset 8\n.cfi_offset 6, -16\n4: xbegin 5f\n5: pop %rbp\n.cfi_adjust_cfa_offset -8
            .cfi_restore 6\nret""",
        # Up to FP's word, and from behind it: it stays what it is.
        "beside": """sub $88, %rsp\n.cfi_adjust_cfa_offset 88\nmov %rbp, 64(%rsp)\n.cfi_offset 6, -32\nxor %ebp, %ebp
            setz 63(%rsp)\nsetz 72(%rsp)\nmovups %xmm0, 48(%rsp)\nvmovups %zmm0, (%rsp)\nfstpt 54(%rsp)
            stmxcsr 72(%rsp)\nxadd %eax, 60(%rsp)\nrolb 63(%rsp)\nlea 56(%rsp), %rdi\nmov $2, %ecx\nrep stosl
            cmpxchg16b 48(%rsp)\nmov $0, %ecx\nlea 72(%rsp), %rdi\nrep movsb\nfnstenv 36(%rsp)\nfnstcw 72(%rsp)
            vextracti128 $1, %ymm0, 48(%rsp)\nvpmovqb %zmm0, 56(%rsp)\npush $1\n.cfi_adjust_cfa_offset 8
            pop 56(%rsp)\n.cfi_adjust_cfa_offset -8\nmov 64(%rsp), %rbp\n.cfi_restore 6\nadd $88, %rsp
            .cfi_adjust_cfa_offset -88\nret""",
        "rounded": """vaddpd {ru-sae}, %zmm1, %zmm2, %zmm3\npush %rax\n.cfi_adjust_cfa_offset 8
            vsqrtps {rz-sae}, %zmm1, %zmm2\npop %rax\n.cfi_adjust_cfa_offset -8\nret""",
        "numbers": """mov $0x10, %eax\nsub %rax, %rsp\n.cfi_adjust_cfa_offset 0x10\nmov $0x110, %eax\nsub %rax, %rsp
            .cfi_adjust_cfa_offset 0x110\nadd %al, (%rax)\nadd $0x120, %rsp\n.cfi_adjust_cfa_offset -0x120\nret""",
    },
    "aarch64": {
        "frame": """stp x29, x30, [sp, #-48]!\n.cfi_def_cfa_offset 48\n.cfi_offset 29, -48\n.cfi_offset 30, -40
            mov x29, sp\n.cfi_def_cfa_register 29\nstr x19, [sp, #16]\nsub sp, sp, x0\nbl 1f\n1: mov x1, sp
            and sp, x1, #-64\nmov sp, x29\n.cfi_def_cfa_register 31\nldr x19, [sp, #16]\nldp x29, x30, [sp], #48
            .cfi_def_cfa_offset 0\n.cfi_restore 29\n.cfi_restore 30\nret""",
        # stilp x0, x1, [sp, #-16]!; stlr x0, [sp, #-8]!; ldiapp x0, x1, [sp], #16
        "ordered": """.inst 0xd9010be0\n.cfi_def_cfa_offset 16\n.inst 0xd9800be0\n.cfi_def_cfa_offset 24
            add sp, sp, #8\n.cfi_def_cfa_offset 16\n.inst 0xd9410be0\n.cfi_def_cfa_offset 0\nret""",
        "signed": """paciasp\n.cfi_negate_ra_state\nstr x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 30, -16
            bl frame\nldr x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 30\nautiasp
            .cfi_negate_ra_state\nret""",
        "signed_by": """pacib x30, sp\n.cfi_negate_ra_state\nstur x30, [sp, #-8]\nsub sp, sp, #1, lsl #12
            .cfi_def_cfa_offset 4096\nadd sp, sp, #1, lsl #12\n.cfi_def_cfa_offset 0\nautib x30, sp
            .cfi_negate_ra_state\nret""",
        "stored": """sub sp, sp, #32\n.cfi_def_cfa_offset 32\nstr x30, [sp, #8]\n.cfi_offset 30, -24
            stur x29, [sp, #16]
            .cfi_offset 29, -16\nmov x29, xzr\nblr x0\nstr w1, [sp, #24]\nstp q0, q1, [sp, #-32]!
            .cfi_def_cfa_offset 64\nadd sp, sp, #32\n.cfi_def_cfa_offset 32\nldp x30, x29, [sp, #8]\n.cfi_restore 30
            .cfi_restore 29\nmov w9, #32\nadd sp, sp, x9\n.cfi_def_cfa_offset 0\nret""",
        "large": """mov x9, #0x20000\nmovk x9, #0x10\nsub sp, sp, x9\n.cfi_def_cfa_offset 0x20010\ncbz x0, 1f
            mov x10, x30\n.cfi_register 30, 10\nmov x30, xzr\nmov x30, x10\n.cfi_restore 30
            1: tbnz x0, #3, 1b\nb.eq 1b
            add sp, sp, x9\n.cfi_def_cfa_offset 0\nb frame""",
        # Up to FP's word, and from behind it: it stays what it is.
        "beside": """sub sp, sp, #96\n.cfi_def_cfa_offset 96\nstr x29, [sp, #64]\n.cfi_offset 29, -32\nmov x29, #0
            add x1, sp, #16\nst3 {v0.16b-v2.16b}, [x1]\nadd x1, sp, #40\nst3 {v0.8b-v2.8b}, [x1]
            add x1, sp, #60\nst1 {v0.s}[0], [x1]\nadd x1, sp, #58\nst3 {v0.h-v2.h}[0], [x1]\nadd x1, sp, #61
            st3 {v0.b-v2.b}[0], [x1]\nadd x1, sp, #72\nst1 {v0.8b}, [x1]\nst2 {v0.d-v1.d}[0], [x1]
            add x1, sp, #48\nst1 {v0.16b}, [x1]\nstz2g sp, [sp, #32]\nstzg sp, [sp, #48]
            stg sp, [sp, #64]\nst2g sp, [sp, #64]\nstgp x0, x1, [sp, #48]
            strb w0, [sp, #63]\nstp q0, q1, [sp, #32]\nstr w0, [sp, #72]\nadd x0, sp, #47\nmov x2, #17
            .inst 0x19010440\nldr x29, [sp, #64]\n.cfi_restore 29\nadd sp, sp, #96\n.cfi_def_cfa_offset 0\nret""",
        "shadowed": """str x30, [x18], #8\nstp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 29, -16
            .cfi_offset 30, -8\nbl frame\nldp x29, x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 29
            .cfi_restore 30
            mov x30, xzr\n.cfi_escape 0x10, 30, 2, 0x82, 0x78\nldr x30, [x18, #-8]!\n.cfi_restore 30\nret""",
    },
    "s390x": {
        "frame": """stmg %r11, %r15, 88(%r15)\n.cfi_offset 11, -72\n.cfi_offset 14, -48\n.cfi_offset 15, -40
            aghi %r15, -168\n.cfi_def_cfa_offset 328\nlgr %r11, %r15\n.cfi_def_cfa_register 11\nsgr %r15, %r2
            brasl %r14, frame\nlhi %r1, 4\nmvc 164(4, %r11), 0(%r1)\nlmg %r11, %r15, 256(%r11)\n.cfi_restore 11
            .cfi_restore 14\n.cfi_restore 15\n.cfi_def_cfa 15, 160\nbr %r14""",
        "floats": """ldgr %f2, %r11\n.cfi_register 11, 17\nldgr %f0, %r14\n.cfi_register 14, 16\nlghi %r11, 4
            lghi %r14, 5\n1: brctg %r11, 1b\nld %f4, 0(%r2)\nadbr %f4, %f4\nldr %f6, %f4\nmaebr %f4, %f6, %f6
            ldebr %f4, %f4\nstd %f4, 0(%r2)\nvl %v16, 0(%r2)\nlgdr %r14, %f0\n.cfi_restore 14\nlgdr %r11, %f2
            .cfi_restore 11\nbr %r14""",
        "stored": """stg %r14, 112(%r15)\n.cfi_offset 14, -48\nlay %r15, -176(%r15)\n.cfi_def_cfa_offset 336
            stg %r11, 168(%r15)\n.cfi_offset 11, -168\nmvc 160(8, %r15), 288(%r15)\nlghi %r14, 0\nlghi %r11, 0
            st %r1, 0(%r1, %r15)\nltgr %r2, %r2\nje 1f\nlg %r14, 160(%r15)\n.cfi_restore 14\nlg %r11, 168(%r15)
            .cfi_restore 11\naghik %r15, %r15, 176\n.cfi_def_cfa_offset 160\ncgrje %r1, %r2, frame\nbr %r14
            .cfi_def_cfa_offset 336\n.cfi_offset 14, -48\n.cfi_offset 11, -168\n1: bras %r14, 2f\n2: la %r1, 160(%r15)
            lmg %r14, %r14, 0(%r1)\n.cfi_restore 14\nlg %r11, 168(%r15)\n.cfi_restore 11\nla %r15, 176(%r15)
            .cfi_def_cfa_offset 160\njg frame""",
        "large": """lgfi %r1, -100000\nagr %r15, %r1\n.cfi_def_cfa_offset 100160\nllilh %r1, 1\nllill %r2, 34464
            slgfi %r15, 8\n.cfi_def_cfa_offset 100168\nalgfi %r15, 8\n.cfi_def_cfa_offset 100160\nagfi %r15, 100000
            .cfi_def_cfa_offset 160\nllilf %r1, 4096\nslgr %r15, %r1\n.cfi_def_cfa_offset 4256\nla %r1, 4095
            lay %r15, 1(%r1, %r15)\n.cfi_def_cfa_offset 160\nsgrk %r0, %r15, %r1\nagrk %r15, %r0, %r1\nbr %r14""",
        "strings": """stmg %r6, %r15, 48(%r15)\n.cfi_offset 11, -72\n.cfi_offset 14, -48\n.cfi_offset 15, -40
            aghi %r15, -160\n.cfi_def_cfa_offset 320\nexrl %r1, 3f\n3: mvc 160(1, %r15), 0(%r2)
            clc 0(8, %r15), 0(%r1)\nmvcle %r2, %r4, 0
            xc 160(40, %r15), 0(%r2)\nstmg %r12, %r1, 160(%r15)\nlmg %r6, %r1, 208(%r15)\n.cfi_restore 11
            .cfi_restore 14\n.cfi_restore 15\n.cfi_def_cfa_offset 160\nbr %r14""",
        "numbers": """lghi %r1, -64\nagr %r15, %r1\n.cfi_def_cfa_offset 224\nllill %r1, 64\nagr %r15, %r1
            .cfi_def_cfa_offset 160\nllilh %r1, 1\nsgr %r15, %r1\n.cfi_def_cfa_offset 65696\nagrk %r15, %r15, %r1
            .cfi_def_cfa_offset 160\naghik %r1, %r15, -64\nlgr %r15, %r1\n.cfi_def_cfa_offset 224\nlghi %r1, 64
            la %r15, 0(%r15, %r1)\n.cfi_def_cfa_offset 160\nbr %r14""",
        "beside": """aghi %r15, -600\n.cfi_def_cfa_offset 760\nstg %r11, 416(%r15)\n.cfi_offset 11, -344\nlghi %r11, 0
            vstm %v0, %v15, 160(%r15)\nvstm %v0, %v0, 424(%r15)\nvstm %v16, %v17, 384(%r15)\nmvc 160(256, %r15), 0(%r1)
            stam %a0, %a15, 352(%r15)\nxc 408(8, %r15), 408(%r15)\nmvc 424(9, %r15), 0(%r1)\nlg %r11, 416(%r15)
            .cfi_restore 11\naghi %r15, 600\n.cfi_def_cfa_offset 160\nbr %r14""",
        "wrapped": """aghi %r15, -176\n.cfi_def_cfa_offset 336\nlgr %r0, %r14\n.cfi_register 14, 0
            stmg %r15, %r0, 160(%r15)\nlghi %r14, 0\nlghi %r0, 0\n.cfi_offset 14, -168\nbras %r14, frame
            lg %r14, 168(%r15)\n.cfi_restore 14\naghi %r15, 176\n.cfi_def_cfa_offset 160\nltgr %r2, %r2
            ber %r14\ncgrbe %r1, %r2, 0(%r14)\nbr %r14""",
    },
}
RISCV = {
    "frame": """addi sp, sp, -6*W\n.cfi_def_cfa_offset 6*W\nSTORE ra, 5*W(sp)\n.cfi_offset 1, -W\nSTORE s0, 4*W(sp)
        .cfi_offset 8, -2*W\naddi s0, sp, 6*W\n.cfi_def_cfa 8, 0\nfsw fa0, 0(sp)\nsub sp, sp, a0\njal 1f
        1: andi sp, sp, -64
        addi sp, s0, -6*W\n.cfi_def_cfa 2, 6*W\nLOAD ra, 5*W(sp)\n.cfi_restore 1\nLOAD s0, 4*W(sp)\n.cfi_restore 8
        addi sp, sp, 6*W\n.cfi_def_cfa_offset 0\nret""",
    "plain": """.option push\n.option norvc\n.option norelax\naddi sp, sp, -32\n.cfi_def_cfa_offset 32\nSTORE ra, 24(sp)
        .cfi_offset 1, -8\nSTORE s0, 16(sp)\n.cfi_offset 8, -16\nmv s0, zero\nsb a0, 15(sp)\ncall frame
        1: bgeu a0, a1, 2f
        amoadd.w a0, a1, (sp)\nfcvt.w.s a0, fa0\nbnez a0, 1b\n2: LOAD ra, 24(sp)\n.cfi_restore 1\nLOAD s0, 16(sp)
        .cfi_restore 8\naddi t0, sp, 32\nadd sp, t0, zero\n.cfi_def_cfa_offset 0\ntail frame\n.option pop""",
    "large": """li t0, -4112\nadd sp, sp, t0\n.cfi_def_cfa_offset 4112\nsub sp, sp, t0\n.cfi_def_cfa_offset 0\nli t1, 3
        slli t1, t1, 12\nsub sp, sp, t1\n.cfi_def_cfa_offset 12288\nadd t2, t1, sp\nmv sp, t2\n.cfi_def_cfa_offset 0
        lui t0, 16\nsub sp, sp, t0\n.cfi_def_cfa_offset 65536\nmv t3, ra\n.cfi_register 1, 28\nli ra, 0\nmv ra, t3
        .cfi_restore 1\nbeqz a0, 1f\n1: add sp, sp, t0\n.cfi_def_cfa_offset 0\nret""",
    "saved": """jal t0, save\n.cfi_def_cfa_offset 16\n.cfi_offset 1, -W\n.cfi_offset 8, -2*W\nli s0, 4\njal frame
        j restore""",
    "saved_far": """.option push\n.option norelax\ncall t0, save\n.cfi_def_cfa_offset 16\n.cfi_offset 1, -W
        .cfi_offset 8, -2*W\nli s0, 4\ncall frame\ntail restore\n.option pop""",
    "save": """.cfi_return_column 5\naddi sp, sp, -16\n.cfi_def_cfa_offset 16\nSTORE ra, 16-W(sp)\nSTORE s0, 16-2*W(sp)
        .cfi_offset 8, -2*W\njr t0""",
    "restore": """.cfi_def_cfa_offset 16\n.cfi_offset 1, -W\n.cfi_offset 8, -2*W\nLOAD ra, 16-W(sp)\n.cfi_restore 1
        LOAD s0, 16-2*W(sp)\n.cfi_restore 8\naddi sp, sp, 16\n.cfi_def_cfa_offset 0\nret""",
    "shadowed": """addi s2, s2, W\nSTORE ra, -W(s2)\naddi sp, sp, -16\n.cfi_def_cfa_offset 16\nSTORE ra, 8(sp)
        .cfi_offset 1, -8\njal frame\nLOAD ra, 8(sp)\n.cfi_restore 1\naddi sp, sp, 16\n.cfi_def_cfa_offset 0\nli ra, 0
        .cfi_escape 0x10, 1, 2, 0x82, 0x80 - W\nLOAD ra, -W(s2)\n.cfi_restore 1\naddi s2, s2, -W\nret""",
    # Called by "calls": CFI that says nothing is no proof of that (NAKED has the same, which nobody is seen to call).
    "enters": "csrw sepc, a0\nsret",
    "calls": """addi sp, sp, -16\n.cfi_def_cfa_offset 16\nSTORE ra, 8(sp)\n.cfi_offset 1, -8\njal enters
        LOAD ra, 8(sp)\n.cfi_restore 1\naddi sp, sp, 16\n.cfi_def_cfa_offset 0\nret""",
    "debugged": """addi sp, sp, -16\n.cfi_def_cfa_offset 16\n.option push\n.option norvc\nslli x0, x0, 31\nebreak
        srai x0, x0, 7\n.option pop\necall\nwfi\nfence\ncsrw mepc, a0\ncsrr a0, mcause\naddi sp, sp, 16
        .cfi_def_cfa_offset 0\nret""",
}
TRUE["riscv64"] = {**RISCV, "of_64": """lui t0, 2\naddiw t0, t0, -16\nsub sp, sp, t0\n.cfi_def_cfa_offset 8176
        sd s0, 8(sp)
        .cfi_offset 8, -8168\nli s0, 0\nsw a0, 16(sp)\nsw a0, 4(sp)\nld s0, 8(sp)\n.cfi_restore 8\nadd sp, sp, t0
        .cfi_def_cfa_offset 0\nret"""}
TRUE["riscv32"] = {**RISCV, "of_32": """addi sp, sp, -16\n.cfi_def_cfa_offset 16\nsw s0, 8(sp)\n.cfi_offset 8, -8
        sw a0, 12(sp)
        sw a0, 4(sp)\nli s0, 0\nlw s0, 8(sp)\n.cfi_restore 8\naddi sp, sp, 16\n.cfi_def_cfa_offset 0
        ret"""}

ARM_TRUE = {
    "frame": """push {r4, BP, lr}\n.cfi_def_cfa_offset 12\n.cfi_offset 4, -12\n.cfi_offset FPN, -8\n.cfi_offset 14, -4
        add BP, sp, #4\n.cfi_def_cfa FPN, 8\nsub sp, sp, r0\nbl stored\nmov r1, sp\nbic r1, r1, #7\nmov sp, r1
        movs r4, #0\nsubs BP, #4\n.cfi_def_cfa_offset 12\nmov sp, BP\n.cfi_def_cfa_register 13\npop {r4, BP, pc}""",
    "stored": """sub sp, sp, #32\n.cfi_def_cfa_offset 32\nstr lr, [sp, #28]\n.cfi_offset 14, -4\nstr BP, [sp, #24]
        .cfi_offset FPN, -8\nmov BP, #0\nblx r3\nstrb r1, [sp, #23]\nstrh r1, [sp, #20]\nstrd r0, r1, [sp, #8]
        svc #0\nldr BP, [sp, #24]\n.cfi_restore FPN\nldr lr, [sp, #28]\n.cfi_restore 14\nmov r3, #32\nadd sp, sp, r3
        .cfi_def_cfa_offset 0\nbx lr""",
    "conditions": """cmp r0, #0\nit eq\nbxeq lr\npush {r4, lr}\n.cfi_def_cfa_offset 8\n.cfi_offset 14, -4\ncmp r0, #3
        ite ne\nmovne r2, sp\nmoveq r2, sp\nmov sp, r2\ncmp r0, #4\nitt lt\nmovlt r0, #1\npoplt {r4, pc}\nbeq 1f
        bl frame\n1: pop {r4, lr}\n.cfi_restore 14\n.cfi_def_cfa_offset 0\nb frame""",
    "large": """movw r3, #0x1010\nmovt r3, #1\nsub sp, sp, r3\n.cfi_def_cfa_offset 0x11010\nmov r12, lr
        .cfi_register 14, 12\nmov lr, #0\nmov lr, r12\n.cfi_restore 14\nldr r2, 1f\nadd sp, sp, r2
        .cfi_def_cfa_offset 0\nmvn r1, #15\nadd sp, sp, r1\n.cfi_def_cfa_offset 16\nrsb r1, r1, #0\nadd sp, sp, r1
        .cfi_def_cfa_offset 0\nbx lr\n.cfi_endproc\n.balign 4\n1: .word 0x11010\n.cfi_startproc\nbx lr""",
    "floats": """vpush {d8-d9}\n.cfi_def_cfa_offset 16\nstr lr, [sp, #-8]!\n.cfi_def_cfa_offset 24\n.cfi_offset 14, -24
        vstr d8, [sp, #8]\nvstr s0, [sp, #4]\nvmov r0, s0\nvmov r0, r1, d0\nvmov s0, r0\nvmrs r2, fpscr\nadd r0, sp, #8
        vldmia r0!, {d0}\nmov lr, #0\nldr lr, [sp], #8\n.cfi_def_cfa_offset 16\n.cfi_restore 14\nvpop {d8-d9}
        .cfi_def_cfa_offset 0\nbx lr""",
    "lists": """stmdb sp!, {r4-r6, lr}\n.cfi_def_cfa_offset 16\n.cfi_offset 14, -4\nstmia r0!, {r1, r2}\nmov lr, #0
        sub r3, sp, #8\nadd r3, r3, #8\nldmia r3, {r4-r6, lr}\n.cfi_restore 14\nadd sp, sp, #16\n.cfi_def_cfa_offset 0
        bx lr""",
    "pieces": """push {r4, lr}\n.cfi_def_cfa_offset 8\n.cfi_offset 14, -4\nbl 2f\n1: bl 3f\npop {r4, pc}\n2: b 1b
        3: mov r0, #1\nbx lr""",
    "registers": """adr r1, .\nclz r0, r0\nmul r0, r1, r0\numull r0, r1, r2, r3\nsxth r0, r1\nubfx r0, r0, #1, #2
        ldrex r0, [r1]\nstrex r2, r0, [r1]\nldrd r2, r3, [r1]\nldrb r0, [r1], #1\nnop\ndmb\nbx lr""",
}
TRUE["thumb"] = {**{name: text.replace("FPN", "7") for name, text in ARM_TRUE.items()}, "wide": """push.w {r4, r8, lr}
        .cfi_def_cfa_offset 12\n.cfi_offset 14, -4
        subw sp, sp, #1028\n.cfi_def_cfa_offset 1040\ncbz r0, 1f\nmsr primask, r0\ncpsid i\nbkpt #0xab
        1: addw sp, sp, #1028\n.cfi_def_cfa_offset 12\nldr r4, [sp], #4\n.cfi_def_cfa_offset 8\nldr.w r8, [sp], #4
        .cfi_def_cfa_offset 4\nldr.w pc, [sp], #4""",
    "aligned": """push {r4, r7, lr}\n.cfi_def_cfa_offset 12\n.cfi_offset 7, -8\n.cfi_offset 14, -4\nadd r7, sp, #4
        .cfi_def_cfa 7, 8\nsub sp, #20\nmov r4, sp\nlsrs r4, r4, #4\nlsls r4, r4, #4\nmov sp, r4\nbl frame
        subs r7, #4\n.cfi_def_cfa_offset 12\nmov sp, r7\n.cfi_def_cfa_register 13\npop {r4, r7, pc}""",
    # vstr fpcxtns, [sp, #-4]! and vldr fpcxtns, [sp], #4, as a function that the other world may call has them
    "secure": """.inst.w 0xed6dcf81\n.cfi_def_cfa_offset 4\npush {lr}\n.cfi_def_cfa_offset 8\n.cfi_offset 14, -8
        bl frame\nldr lr, [sp], #4\n.cfi_def_cfa_offset 4\n.cfi_restore 14\n.inst.w 0xecfdcf81
        .cfi_def_cfa_offset 0\nbx lr"""}
TRUE["arm"] = {**{name: text.replace("FPN", "11") for name, text in ARM_TRUE.items()}, "apcs": """mov r12, sp
        push {r11, r12, lr, pc}\n.cfi_def_cfa_offset 16\n.cfi_offset 11, -16
        .cfi_offset 14, -8\nsub r11, r12, #4\n.cfi_def_cfa 11, 4\nsub sp, sp, #8\nbl frame\nldmdb r11, {r11, sp, pc}""",
    "pairs": """str lr, [sp, #-4]!\n.cfi_def_cfa_offset 4\n.cfi_offset 14, -4\nstrd r4, r5, [sp, #-8]!
        .cfi_def_cfa_offset 12\nstmib sp, {r4}\ncmp r0, #0\nbne 1f\nvst1.8 {d0-d1}, [r0]\nldrdeq r4, r5, [sp]
        addne r0, r0, #1\n1: ldrd r4, r5, [sp], #8\n.cfi_def_cfa_offset 4\npopne {pc}\nldr pc, [sp], #4"""}

# Switches without CFI, whose cases are found by their tables alone: by gcc and clang, with entries that are distances
# and addresses; with a number that is compared with the index, behind which there are more words.
JUMPS = {
    "distances": """beqz a1, 7f\naddi sp, sp, -16\nj 6f\n7: li a5, 2\nbltu a5, a0, 5f\nslli a0, a0, 2\nlla a4, 9f
        add a0, a0, a4\nlw a0, 0(a0)\nadd a0, a0, a4\njr a0
        2: li a0, 1\nj 5f\n3: li a0, 2\nj 5f\n4: li a0, 3\n5: ret\n6: addi sp, sp, 16\nret
        .section .rodata\n.balign 4\n9: .word 2b - 9b, 3b - 9b, 4b - 9b, 6b - 9b\n.text""",
    "scaled": """beqz a1, 7f\naddi sp, sp, -16\nj 6f\n7: lla a4, 9f\nli a5, 3\nbgeu a0, a5, 5f\nsh2add a0, a0, a4
        lw a0, 0(a0)\nadd a0, a4, a0\njr a0
        2: li a0, 1\nj 5f\n3: li a0, 2\nj 5f\n4: li a0, 3\n5: ret\n6: addi sp, sp, 16\nret
        .section .rodata\n.balign 4\n9: .word 2b - 9b, 3b - 9b, 4b - 9b, 6b - 9b\n.text""",
    "addresses": """lui a4, %hi(9f)\naddi a4, a4, %lo(9f)\nslli a0, a0, 2\nadd a0, a0, a4\nlw a0, 0(a0)\njr a0
        2: li a0, 1\nj 5f\n3: li a0, 2\nj 5f\n4: li a0, 3\n5: ret\n.section .rodata\n.balign 4
        9: .word 2b, 3b, 4b, 1\n.text""",
    "words": """lui a4, %hi(9f)\nslli a0, a0, 3\nadd a0, a0, a4\nLOAD a0, %lo(9f)(a0)\njr a0
        2: li a0, 1\nj 5f\n3: li a0, 2\nj 5f\n4: li a0, 3\n5: ret\n.section .rodata\n.balign 8
        9: .if W == 8\n.dword 2b, 3b, 4b, 1\n.else\n.word 2b, 3b, 4b, 1\n.endif\n.text""",
    "bytes": """lla a4, 9f\nadd a0, a0, a4\nlbu a0, 0(a0)\nlla a4, 2f\nsh1add a0, a0, a4\njr a0
        2: c.li a0, 1\nc.j 5f\nc.li a0, 2\nc.j 5f\nc.li a0, 3\n5: ret\n.section .rodata\n9: .byte 0, 2, 4, 255
        .text""",
    "a place": "lla a5, 1f\njr a5\n1: addi sp, sp, -16\naddi sp, sp, 16\nret",
}
# Of ARM: data in code, with what T32 has in front of it to align it, is said to be that many bytes.
ARM_JUMPS = {
    "addresses": """cmp r0, #2\nbhi 5f\nldr r1, =9f\nldr pc, [r1, r0, lsl #2]\n2: mov r0, #1\nb 5f\n3: mov r0, #2
        b 5f\n4: mov r0, #3\n5: bx lr\n.ltorg @ data 4\n.section .rodata\n.balign 4
        9: .word 2b + T, 3b + T, 4b + T, 1
        .text""",
    "a place": "ldr r1, =1f + T\nbx r1\n1: sub sp, sp, #16\nadd sp, sp, #16\nbx lr\n.ltorg @ data 4 + 2 * T",
    "distances": """cmp r0, #2\nbhi 5f\nadr r1, 9f\nldr r0, [r1, r0, lsl #2]\nadd r0, r0, r1\nmov r2, r2\nbx r0
        .balign 4\n9: .word 2f - 9b + T, 3f - 9b + T, 4f - 9b + T @ data 12\n2: mov r0, #1\nb 5f\n3: mov r0, #2\nb 5f
        4: mov r0, #3
        5: bx lr""",
    # What is marked as data is no instruction, even if a way seems to lead there.
    "into data": "cmp r0, #0\nbeq 1f\nmov r0, r1\nbx lr\n1: .word 0xffffffff @ data 4",
}
JUMPS = {"riscv64": JUMPS, "riscv32": JUMPS, "arm": {**ARM_JUMPS,
    "on a condition": """cmp r0, #2\nldrls pc, [pc, r0, lsl #2]\nb 5f\n.word 2f, 3f, 4f @ data 12\n2: mov r0, #1\nb 5f
        3: mov r0, #2\nb 5f\n4: mov r0, #3\n5: bx lr""",
    }, "thumb": {**ARM_JUMPS,
    "bytes": """cmp r0, #2\nbhi 5f\ntbb [pc, r0]\n1: .byte (2f - 1b) / 2, (3f - 1b) / 2, (4f - 1b) / 2 @ data 4
        .balign 2
        2: movs r0, #1\nb 5f\n3: movs r0, #2\nb 5f\n4: movs r0, #3\n5: bx lr""",
    "bytes without a bound": """tbb [pc, r0]\n1: .byte (2f - 1b) / 2, (3f - 1b) / 2 @ data 2\n2: movs r0, #1
        b 5f\n3: movs r0, #2\n5: bx lr""",
    "another bound": """cmp r0, #5\nbhi 5f\ncmp r1, #1\nbeq 5f\ntbb [pc, r0]
        1: .byte (2f - 1b) / 2, (3f - 1b) / 2, (4f - 1b) / 2, (6f - 1b) / 2, (7f - 1b) / 2, (8f - 1b) / 2 @ data 6
        2: movs r0, #1\nb 5f\n3: movs r0, #2\nb 5f\n4: movs r0, #3\nb 5f\n6: movs r0, #4\nb 5f\n7: movs r0, #5\nb 5f
        8: movs r0, #6\n5: bx lr""",
    "another lower bound": """cmp r0, #2\nbhi 5f\ncmp r1, #1\nbeq 5f\ntbb [pc, r0]
        1: .byte (2f - 1b) / 2, (3f - 1b) / 2, (4f - 1b) / 2, (6f - 1b) / 2, (7f - 1b) / 2, (8f - 1b) / 2 @ data 6
        2: movs r0, #1\nb 5f\n3: movs r0, #2\nb 5f\n4: movs r0, #3\nb 5f
        6: .hword 0x2004\n7: .hword 0x2005\n8: .hword 0x2006 @ data 6
        5: bx lr""",
    "halves": """cmp r0, #2\nbhi 5f\ntbh [pc, r0, lsl #1]
        1: .hword (2f - 1b) / 2, (3f - 1b) / 2, (4f - 1b) / 2 @ data 6
        2: movs r0, #1\nb 5f\n3: movs r0, #2\nb 5f\n4: movs r0, #3\n5: bx lr""",
    "of small cores": """push {r4, lr}\ncmp r0, #2\nbhi 5f\nbl __gnu_thumb1_case_uqi
        1: .byte (2f - 1b) / 2, (3f - 1b) / 2, (4f - 1b) / 2 @ data 4\n.balign 2
        2: movs r0, #1\nb 5f\n3: movs r0, #2\nb 5f\n4: movs r0, #3\n5: pop {r4, pc}""",
    "aligned again": """push {r4, r7, lr}\nadd r7, sp, #4\nsub sp, #20\nmov r4, sp\nlsrs r4, r4, #4\nlsls r4, r4, #4
        mov sp, r4\nnop\nsubs r7, #4\nmov sp, r7\npop {r4, r7, pc}""",
    "__gnu_thumb1_case_uqi": "bx lr"}, "aarch64": {
    # gcc -Oz, in a loop: the address of the table is saved on the stack.
    "saved": """stp x29, x30, [sp, #-32]!\nadr x1, 9f\nstr x1, [sp, #16]\n1: bl elsewhere\ncmp w0, #2
        b.hi 5f\nldr x1, [sp, #16]\nldrh w0, [x1, w0, uxtw #1]\nadr x1, 2f\nadd x0, x1, w0, sxth #2\nbr x0
        2: mov w0, #1\nb 1b\n3: mov w0, #2\nb 1b\n4: mov w0, #3\n5: ldp x29, x30, [sp], #32\nret
        .section .rodata\n.balign 4\n9: .hword (2b - 2b) / 4, (3b - 2b) / 4, (4b - 2b) / 4\n.text""",
    "elsewhere": "ret",
}}

# Each of these writes the register.
X86_REGISTERS = [line.strip().split(": ", 1) for line in """rdi: rep insb | rdi: rep stosb | rdi: repe cmpsb |
    rsi: repe cmpsb | rdi: repne scasb | rsi: rep lodsb | rsi: rep outsb | rdi: rep movsb | rsi: rep movsb |
    rcx: rep stosb | rcx: loop 1f ; 1: nop |
    rax: .byte 0x66, 0xf2, 0x48, 0x0f, 0x2d, 0xc0 | rax: cvttss2si %xmm0, %rax | rax: xbegin 1f ; 1: nop |
    rbx: cpuid | rdx: rdtscp | rdx: cmpxchg8b (%rdi) | rax: cmpxchg %rdi, (%rdi) | rax: lahf | rax: xlat |
    rbx: mulx %rax, %rcx, %rbx | rcx: mulx %rax, %rcx, %rbx | rax: pextrq $0, %xmm0, %rax | rdx: rdsspq %rdx |
    rax: movmskps %xmm0, %eax | rax: kmovq %k0, %rax | rax: xgetbv | rdx: cqto | rdx: mul %rdi | rax: setz %ah |
    rbx: vmrun %rax | rbx: .byte 0x66, 0x0f, 0x01, 0xcc | rcx: syscall | r11: syscall | rax: int $0x80 |
    rbx: push %ax ; .cfi_adjust_cfa_offset 2 ; pop %bx ; .cfi_adjust_cfa_offset -2""".split("|")]
# Each of these writes a part of the word at 8(%rsp).
X86_WORDS = [text.strip() for text in """setz 15(%rsp) | movups %xmm0, (%rsp) | movbe %eax, 8(%rsp) | fstpt (%rsp) |
    fstl 8(%rsp) | stmxcsr 12(%rsp) | incb 8(%rsp) | pextrb $0, %xmm0, 15(%rsp) | xadd %eax, 8(%rsp) | rolb 8(%rsp) |
    shlw 14(%rsp) | fnstenv -18(%rsp) | vmovups %zmm0, -48(%rsp) | fxsave -502(%rsp) | xsave -560(%rsp) |
    cmpxchg16b (%rsp) | fnsave -98(%rsp) | movdir64b (%rdi), %rsp | btsl $1, 8(%rsp) |
    lea -7(%rsp), %rdi ; maskmovdqu %xmm0, %xmm1 | xchg %al, 8(%rsp) | movnti %eax, 8(%rsp) | sidt (%rsp) |
    vmovdqu8 %zmm0, -48(%rsp){%k1} | vcompresspd %zmm0, -48(%rsp) | negq 8(%rsp) | vextracti128 $1, %ymm0, (%rsp) |
    movq %mm0, 8(%rsp) | movhps %xmm0, 8(%rsp) | lock decb 8(%rsp) | movl $0, 12(%rsp) | movnti %rax, 8(%rsp) |
    vpmovqb %zmm0, 8(%rsp) | lea 8(%rsp), %rax ; clzero | mov %rsp, %rdi ; mov $9, %ecx ; rep stosb |
    lea 8(%rsp), %rdi ; rep movsb | lea 14(%rsp), %rdi ; stosw | mov %rsp, %rdi ; mov $3, %ecx ; rep movsl |
    mov %rsp, %rdi ; mov $3, %ecx ; repne movsl | mov %fs, 8(%rsp)""".split("|")]

# The same for the word at sp + 16. What is too new for the assembler is written as its bytes.
A64_WORDS = [text.strip() for text in """str w0, [sp, #20] | strb w0, [sp, #23] | stur d0, [sp, #9] |
    stp w0, w1, [sp, #12] | stp q0, q1, [sp] | stz2g sp, [sp] | stzg sp, [sp, #16] |
    sub x1, sp, #32 ; stz2g sp, [x1, #48] | stgp x0, x1, [sp, #16] |
    st3 {v0.8b-v2.8b}, [sp] | st1 {v0.16b-v1.16b}, [sp] | st4 {v0.4s-v3.4s}, [sp] | st2 {v0.2d-v1.2d}, [sp] |
    add x1, sp, #12 ; st1 {v0.d}[1], [x1] | add x1, sp, #14 ; st4 {v0.b-v3.b}[1], [x1] |
    add x1, sp, #10 ; st4 {v0.h-v3.h}[1], [x1] | add x1, sp, #8 ; st3 {v0.s-v2.s}[1], [x1] |
    add x1, sp, #8 ; st2 {v0.d-v1.d}[1], [x1] | add x1, sp, #16 ; stlr w0, [x1] | add x1, sp, #16 ; stlrb w0, [x1] |
    stlur w0, [sp, #16] | add x1, sp, #16 ; stxr w3, x0, [x1] | add x1, sp, #16 ; stlxp w3, x0, x2, [x1] |
    add x1, sp, #16 ; swp x0, x2, [x1] | add x1, sp, #16 ; stadd w0, [x1] | add x1, sp, #16 ; cas x0, x2, [x1] |
    add x1, sp, #8 ; casp x2, x3, x4, x5, [x1] | .inst 0xf83f93e0 | .inst 0xf821b3e0 |
    add x2, sp, #8 ; .inst 0x19212040 |
    mov x0, sp ; mov x2, #17 ; .inst 0x19010440 | add x0, sp, #16 ; .inst 0x19c20420 |
    add x1, sp, #16 ; .inst 0xd9011820 |
    add x1, sp, #8 ; str z0, [x1] | add x1, sp, #16 ; str p0, [x1] | add x1, sp, #8 ; st1b {z0.b}, p0, [x1]
    """.split("|")]

# Behind these instructions nothing is known of SP or, with the mark of FP, of FP. What CFI says there stays, or goes.
LOST = {
    "x86_64": [*"""and $-64, %rsp | xchg %rax, %rsp | mov %eax, %esp | mov (%rdi), %rsp |
        add %rdi, %rsp | neg %rsp | xadd %rax, %rsp | bswap %rsp | leavew |
        mov %rbp, (%rsp) ; .cfi_offset 6, -64 ; mov %rsp, %rbp ; leavew |
        cmovz %rax, %rsp | enterw $8, $0 | sub $8, %esp | pop %sp | imul %rax, %rsp | movzbl (%rdi), %esp |
        lea (%rsp,%rax), %rsp
        | mov %rsp, %r11 ; test %eax, %eax ; je 1f ; mov %rdi, %rsp ; 1: nop
        | mov %rsp, (%rsp) ; mov %gs:(%rsp), %rsp | mov %rsp, (%rsp) ; mov %fs:(%rsp), %rsp
        | mov %rsp, %rbx ; test %eax, %eax ; je 1f ; mov %rdi, %rsp ; 1: nop
        | bsf %rax, %rsp | lcall *(%rdi) | or $1, %rsp | cmpxchg %rsp, %rsp""".split("|"),
        *("mov %%rsp, %%%s ; %s ; mov %%%s, %%rsp" % (reg, text, reg) for reg, text in X86_REGISTERS),
        *("mov %rsp, 8(%rsp) ; " + text + " ; mov 8(%rsp), %rsp" for text in X86_WORDS)],
    "aarch64": """mov sp, x0 | add sp, sp, x0 | msr spsel, #1 | add wsp, wsp, #16 |
        addvl sp, sp, #1 | and sp, x0, #-16 | irg sp, sp | sub sp, sp, x0, uxtw | orr sp, x1, #1 |
        addg sp, sp, #16, #1 | st1 {v0.16b}, [sp], x1 | ldraa x0, [sp, #8]! |
        mov x9, sp ; swp x8, x9, [x0] ; mov sp, x9 |
        mov x9, sp ; cas x9, x8, [x0] ; mov sp, x9 | mov x9, sp ; ldxp x10, x9, [x0] ; mov sp, x9 |
        mov x10, sp ; ldxr x10, [x0] ; mov sp, x10 |
        mov x9, sp ; .cfi_def_cfa 9, 64 ; and sp, x9, #-64 ; mov x9, xzr ; .cfi_def_cfa 31, 64 |
        mov x9, sp ; mrs x9, tpidr_el0 ; mov sp, x9 | mov x9, sp ; fmov x9, d0 ; mov sp, x9 |
        mov x9, sp ; umov x9, v0.d[0] ; mov sp, x9 | mov x9, sp ; fcvtzs x9, d0, #3 ; mov sp, x9 |
        mov x9, sp ; ldr x9, 1f ; 1: mov sp, x9 | mov x10, sp ; stxr w10, x8, [x0] ; mov sp, x10 |
        mov x9, sp ; bfi x9, x0, #3, #4 ; mov sp, x9 | mov x9, sp ; cnth x9 ; mov sp, x9 |
        mov x9, sp ; svc #0 ; mov sp, x9 |
        mov x9, sp ; ldrsw x9, [x0, x1] ; mov sp, x9 | mov x9, sp ; ldp w8, w9, [x0] ; mov sp, x9 |
        mov x9, sp ; ldr w9, [x0] ; mov sp, x9 | mov x9, sp ; csel x9, x9, x9, eq ; mov sp, x9 |
        mov x9, sp ; adds x9, x9, #1 ; mov sp, x9 | mov x9, sp ; stlxp w9, x8, x7, [x0] ; mov sp, x9 |
        bl frame |
        str x30, [sp, #8] ; .cfi_offset 30, -56 ; mov x9, sp ; blr x1 ; mov sp, x9""".split("|") +
        ["mov x9, sp ; str x9, [sp, #16] ; " + text + " ; ldr x9, [sp, #16] ; mov sp, x9" for text in A64_WORDS],
    "s390x": """lgr %r15, %r1 | agr %r15, %r1 | nill %r15, 0xfff0 | lay %r15, 0(%r1, %r15) | lmg %r14, %r15, 0(%r1) |
        lmg %r14, %r2, 0(%r1) | ngr %r15, %r1 | lgr %r9, %r15 ; brasl %r9, frame ; lgr %r15, %r9 | pr | diag 1, 2, 0 |
        stg %r14, 112(%r15) ; .cfi_offset 14, -112 ; lgr %r5, %r15 ; basr %r14, %r1 ; lgr %r15, %r5 |
        lgr %r5, %r15 ; svc 0 ; lgr %r15, %r5 |
        ldgr %f0, %r15 ; ldr %f0, %f1 ; lgdr %r15, %f0 | ldgr %f3, %r15 ; vl %v3, 0(%r1) ; lgdr %r15, %f3 |
        ldgr %f2, %r15 ; axbr %f0, %f0 ; lgdr %r15, %f2 | exrl %r1, 1f ; 1: lgr %r15, %r0 | ex %r1, 0(%r2) |
        stg %r15, 160(%r15) ; mvi 163(%r15), 0 ; lg %r15, 160(%r15) |
        stg %r15, 168(%r15) ; mvc 160(16, %r15), 161(%r15) ; lg %r15, 168(%r15) |
        stg %r15, 160(%r15) ; st %r1, 164(%r15) ; lg %r15, 160(%r15) |
        stg %r15, 415(%r15) ; vstm %v0, %v15, 160(%r15) ; lg %r15, 415(%r15) |
        stg %r15, 191(%r15) ; vstm %v0, %v1, 160(%r15) ; lg %r15, 191(%r15) |
        stg %r15, 286(%r15) ; stam %a0, %a15, 230(%r15) ; lg %r15, 286(%r15) |
        stg %r15, 415(%r15) ; mvc 160(256, %r15), 0(%r1) ; lg %r15, 415(%r15) |
        lgr %r6, %r15 ; mvcle %r6, %r4, 0 ; lgr %r15, %r6 |
        lgr %r7, %r15 ; dlgr %r6, %r4 ; lgr %r15, %r7 | lgr %r6, %r15 ; brct %r6, 1f ; 1: lgr %r15, %r6 |
        stg %r15, 160(%r15) ; exrl %r1, 1f ; lg %r15, 160(%r15) ; j 2f ; 1: mvc 160(1, %r15), 0(%r2) ; 2: nopr |
        exrl %r1, 1f ; j 2f ; 1: lgr %r15, %r0 ; 2: nopr |
        stg %r14, 112(%r15) ; .cfi_offset 14, -112 ; lgr %r9, %r15 ; brasl %r9, frame ; lgr %r15, %r9""".split("|"),
}

LOST_RISCV = """mv sp, a0 | add sp, sp, a0 | sub sp, sp, a0 | LOAD sp, 0(a0) | andi sp, sp, -16 | ori sp, sp, 1 |
    slli sp, sp, 1 | xor sp, sp, a0 | csrrw sp, sscratch, sp | csrr sp, mstatus | lr.w sp, (a0) | lb sp, 0(a0) |
    amoadd.w sp, a1, (a0) | sc.w sp, a1, (a0) | lui sp, 1 | auipc sp, 0 | sh2add sp, a0, a1 | mul sp, sp, a0 |
    .insn r 0x0b, 0, 0, a0, a1, a2 | csrrsi sp, sepc, 1 | mv a5, sp ; ecall ; mv sp, a5 |
    STORE ra, 0(sp) ; .cfi_offset 1, -64 ; mv t3, sp ; jalr a5 ; mv sp, t3 |
    STORE ra, 0(sp) ; .cfi_offset 1, -64 ; mv a7, sp ; jalr a5 ; mv sp, a7 |
    mv t0, sp ; jal t0, 1f ; 1: mv sp, t0 | mv t1, sp ; jal t1, 1f ; 1: mv sp, t1 | jal t0, frame |
    mv a5, sp ; fcvt.w.s a5, fa0 ; mv sp, a5 | mv a5, sp ; fmv.x.w a5, fa0 ; mv sp, a5 |
    mv a5, sp ; feq.s a5, fa0, fa0 ; mv sp, a5 | mv a5, sp ; vsetvli a5, a0, e8, m1, ta, ma ; mv sp, a5 |
    mv a5, sp ; vmv.x.s a5, v0 ; mv sp, a5 | mv a5, sp ; srli a5, a5, 1 ; mv sp, a5 |
    mv a5, sp ; c.xor a5, a4 ; mv sp, a5 |
    STORE sp, 2*W(sp) ; sb a0, 2*W+3(sp) ; LOAD sp, 2*W(sp) | STORE sp, 2*W(sp) ; fsd fa0, 2*W(sp) ; LOAD sp, 2*W(sp) |
    STORE sp, 2*W(sp) ; fsw fa0, 2*W(sp) ; LOAD sp, 2*W(sp) | STORE sp, 0(sp) ; amoadd.w a0, a1, (sp) ; LOAD sp, 0(sp) |
    STORE sp, 0(sp) ; vse8.v v0, (sp) ; LOAD sp, 0(sp) | STORE sp, 0(sp) ; cbo.zero (sp) ; LOAD sp, 0(sp) |
    STORE sp, 2*W(sp) ; sh zero, 2*W+2(sp) ; LOAD sp, 2*W(sp) |
    STORE sp, 2*W(sp) ; STORE zero, 2*W(sp) ; LOAD sp, 2*W(sp) |
    mv a5, sp ; lw a5, 2(a0) ; mv sp, a5 |
    STORE ra, 0(sp) ; .cfi_offset 1, -64 ; csrw sscratch, sp ; jal frame ; csrr sp, sscratch |
    csrw sscratch, sp ; csrc sscratch, a0 ; csrr sp, sscratch |
    csrw sscratch, sp ; csrwi sscratch, 4 ; csrr sp, sscratch"""
LOST["riscv64"] = (LOST_RISCV + """ | addiw sp, sp, 0 | addw sp, sp, a0 | mv a5, sp ; lwu a5, 0(a0) ; mv sp, a5 |
    sd sp, 16(sp) ; sw a0, 20(sp) ; ld sp, 16(sp) | mv a5, sp ; slliw a5, a5, 0 ; mv sp, a5""").split("|")
LOST["riscv32"] = (LOST_RISCV + " | mv a5, sp ; .insn i 3, 3, a4, 0(a0) ; mv sp, a5").split("|")

LOST_ARM = """mov sp, r0 | add sp, sp, r0 | sub sp, sp, r0 | ldr sp, [r0] | mov r1, sp ; bic r1, r1, #15 ; mov sp, r1 |
    mov r2, sp ; svc #0 ; mov sp, r2 | mov r12, sp ; svc #0 ; mov sp, r12 | mov r2, sp ; bkpt #0 ; mov sp, r2 |
    str lr, [sp] ; .cfi_offset 14, -64 ; mov r3, sp ; blx r1 ; mov sp, r3 |
    str lr, [sp] ; .cfi_offset 14, -64 ; mov r12, sp ; blx r3 ; mov sp, r12 | mov r2, sp ; vmov r2, s0 ; mov sp, r2 |
    mov r2, sp ; vmov r1, r2, d0 ; mov sp, r2 | mov r2, sp ; vmov r2, r1, d0 ; mov sp, r2 |
    mov r2, sp ; vmrs r2, fpscr ; mov sp, r2 | mov r2, sp ; mul r2, r2, r0 ; mov sp, r2 |
    mov r2, sp ; mla r2, r1, r0, r3 ; mov sp, r2 | mov r2, sp ; umull r2, r3, r0, r1 ; mov sp, r2 |
    mov r2, sp ; umull r3, r2, r0, r1 ; mov sp, r2 | mov r2, sp ; smlal r2, r3, r0, r1 ; mov sp, r2 |
    mov r2, sp ; smulbb r2, r0, r1 ; mov sp, r2 | mov r2, sp ; smlalbb r2, r3, r0, r1 ; mov sp, r2 |
    mov r2, sp ; clz r2, r0 ; mov sp, r2 | mov r2, sp ; sxth r2, r2 ; mov sp, r2 |
    mov r2, sp ; rev r2, r2 ; mov sp, r2 |
    mov r2, sp ; uxtah r2, r2, r0 ; mov sp, r2 | mov r2, sp ; ssat r2, #4, r2 ; mov sp, r2 |
    mov r2, sp ; ubfx r2, r2, #1, #4 ; mov sp, r2 | mov r2, sp ; bfi r2, r0, #0, #4 ; mov sp, r2 |
    mov r2, sp ; bfc r2, #4, #4 ; mov sp, r2 | mov r2, sp ; bfc r2, #0, #4 ; mov sp, r2 |
    mov r2, sp ; sdiv r2, r0, r1 ; mov sp, r2 | mov r2, sp ; smmul r2, r0, r1 ; mov sp, r2 |
    mov r2, sp ; smlald r2, r3, r0, r1 ; mov sp, r2 | mov r2, sp ; usad8 r2, r0, r1 ; mov sp, r2 |
    mov r2, sp ; qadd r2, r0, r1 ; mov sp, r2 | mov r2, sp ; sadd16 r2, r0, r1 ; mov sp, r2 |
    mov r2, sp ; and r2, r2, r0 ; mov sp, r2 | mov r2, sp ; eor r2, r2, #4 ; mov sp, r2 |
    mov r2, sp ; orr r2, r2, r0 ; mov sp, r2 |
    mov r2, sp ; mvn r2, r2 ; mov sp, r2 | mov r2, sp ; rsb r2, r2, #4 ; mov sp, r2 |
    mov r2, sp ; adc r2, r2, #0 ; mov sp, r2 |
    mov r2, sp ; sbcs r2, r2, r0 ; mov sp, r2 | mov r2, sp ; lsl r2, r2, #1 ; mov sp, r2 |
    mov r2, sp ; lsr r2, r2, #1 ; mov sp, r2 |
    mov r2, sp ; ror r2, r2, r0 ; mov sp, r2 | mov r2, sp ; add r2, r2, r0, asr #1 ; mov sp, r2 |
    mov r2, sp ; add r2, r2, r0, lsl #2 ; mov sp, r2 | mov r2, sp ; sub r2, r2, r0, lsl #2 ; mov sp, r2 |
    mov r2, sp ; movw r2, #1 ; mov sp, r2 | mov r2, sp ; movt r2, #1 ; mov sp, r2 |
    mov r2, sp ; adr r2, . ; mov sp, r2 |
    mov r2, sp ; mrs r2, apsr ; mov sp, r2 | mov r2, sp ; ldrb r2, [r0] ; mov sp, r2 |
    mov r2, sp ; ldrsh r2, [r0] ; mov sp, r2 |
    mov r2, sp ; ldr r2, [r0] ; mov sp, r2 | mov r2, sp ; ldr r2, [r0, r1] ; mov sp, r2 |
    mov r2, sp ; ldr r2, [r0, r1, lsl #2] ; mov sp, r2 |
    mov r2, sp ; ldrd r2, r3, [r0] ; mov sp, r2 | mov r3, sp ; ldrd r2, r3, [r0] ; mov sp, r3 |
    mov r2, sp ; ldm r0, {r1, r2} ; mov sp, r2 | mov r2, sp ; ldrex r2, [r0] ; mov sp, r2 |
    mov r2, sp ; strex r2, r1, [r0] ; mov sp, r2 |
    mov r2, sp ; ldrexb r2, [r0] ; mov sp, r2 | mov r2, sp ; strexb r2, r1, [r0] ; mov sp, r2 |
    cmp r0, #0 ; it eq ; addeq sp, sp, #8 ; nop | mov r2, sp ; cmp r0, #0 ; it eq ; moveq r2, r0 ; mov sp, r2 |
    mov r2, sp ; cmp r0, #0 ; ite eq ; moveq r2, r0 ; movne r3, r0 ; mov sp, r2 |
    mov r2, sp ; cmp r0, #0 ; itee eq ; moveq r2, r0 ; cmpne r0, #1 ; movne r2, sp ; mov sp, r2 |
    mov r2, sp ; str r2, [sp, #8] ; strb r0, [sp, #11] ; ldr sp, [sp, #8] |
    mov r2, sp ; str r2, [sp, #8] ; strh r0, [sp, #10] ; ldr sp, [sp, #8] |
    mov r2, sp ; str r2, [sp, #8] ; str r0, [sp, #8] ; ldr sp, [sp, #8] |
    mov r2, sp ; str r2, [sp, #8] ; strd r0, r1, [sp, #4] ; ldr sp, [sp, #8] |
    mov r2, sp ; str r2, [sp, #8] ; add r3, sp, #4 ; stm r3, {r0, r1} ; ldr sp, [sp, #8] |
    mov r2, sp ; str r2, [sp, #8] ; add r3, sp, #12 ; stmdb r3, {r0, r1} ; ldr sp, [sp, #8] |
    mov r2, sp ; str r2, [sp, #8] ; vstr s0, [sp, #8] ; ldr sp, [sp, #8] |
    mov r2, sp ; str r2, [sp, #8] ; vstr d0, [sp, #4] ; ldr sp, [sp, #8] |
    mov r2, sp ; str r2, [sp, #8] ; add r3, sp, #4 ; vstmia r3, {d0} ; ldr sp, [sp, #8] |
    mov r2, sp ; str r2, [sp, #8] ; add r3, sp, #12 ; vstmdb r3!, {d0} ; ldr sp, [sp, #8] |
    mov r2, sp ; str r2, [sp, #8] ; add r3, sp, #8 ; strex r1, r0, [r3] ; ldr sp, [sp, #8] |
    mov r2, sp ; str r2, [sp, #8] ; add r3, sp, #8 ; strexb r1, r0, [r3] ; ldr sp, [sp, #8] |
    mov r2, sp ; str r2, [sp, #8] ; add r3, sp, #8 ; str r0, [r3], #4 ; ldr sp, [sp, #8]"""
LOST["thumb"] = (LOST_ARM + """ | mov r2, sp ; lsrs r2, r2, #1 ; mov sp, r2 |
    mov r2, sp ; orr r2, r0, r2 ; mov sp, r2 | msr msp, r0 | msr psp, r0 | msr control, r0 |
    mov r2, sp ; lsls r2, r0 ; mov sp, r2 |
    mov r2, sp ; sxtb r2, r0 ; mov sp, r2 | mov r2, sp ; adds r2, r2, r0 ; mov sp, r2 |
    mov r2, sp ; orn r2, r2, #1 ; mov sp, r2 |
    mov r2, sp ; pkhbt r2, r0, r1 ; mov sp, r2""").split("|")
LOST["arm"] = (LOST_ARM + """ | mov r2, sp ; mov r2, r2, lsl r0 ; mov sp, r2 |
    mov r2, sp ; str r2, [sp, #8] ; add r3, sp, #4 ; stmib r3, {r0} ; ldr sp, [sp, #8] | msr cpsr_c, r0 |
    msr cpsr_c, #0x13 | cps #0x13 | mov r2, sp ; swp r2, r1, [r0] ; mov sp, r2 |
    mov r2, sp ; ldr r1, [r2], r0 ; mov sp, r2 | mov r2, sp ; ldrh r1, [r2], r0 ; mov sp, r2 |
    mov r2, sp ; vld1.8 {d0}, [r2], r0 ; mov sp, r2 | mov r2, sp ; mrc p15, 0, r2, c0, c0, 0 ; mov sp, r2 |
    mov r2, sp ; mrrc p15, 0, r1, r2, c2 ; mov sp, r2 | mov r2, sp ; rsc r2, r2, #0 ; mov sp, r2 |
    mov r2, sp ; str r2, [sp, #8] ; vst1.8 {d0}, [sp] ; add r3, sp, #8 ; vst1.8 {d0}, [r3] ; ldr sp, [sp, #8] |
    mov r2, sp ; cmp r0, #0 ; movne r2, r0 ; mov sp, r2 | mov r2, sp ; umaal r2, r3, r0, r1 ; mov sp, r2 |
    mov r2, sp ; mov r2, r2, rrx ; mov sp, r2 | mov r2, sp ; pkhbt r2, r0, r1 ; mov sp, r2""").split("|")
# Entries of RISC-V, from TAKEN, where the PC is in t0, up to AFTER with rows: on the stack of what they interrupt; and
# on another one, which the scratch register has unless a trap is being handled, as in port/baremetal/riscv/boot.S.
HANDLED = """taken: STORE t0, 32*W(sp)\nSTORE s0, 8*W(sp)\njal handler\nLOAD t0, 32*W(sp)\ncsrw sepc, t0
    LOAD ra, W(sp)\nLOAD s0, 8*W(sp)"""
TP = """entry: csrrw tp, sscratch, tp\nbnez tp, 1f\ncsrr tp, sscratch\nSTORE sp, W(tp)\n1: STORE sp, 2*W(tp)
        LOAD sp, W(tp)\naddi sp, sp, -36*W\nSTORE ra, W(sp)\nSTORE t0, 5*W(sp)\nSTORE s0, 8*W(sp)\n%s\nLOAD s0, 2*W(tp)
        STORE s0, 2*W(sp)\n%s\ntaken: csrr t1, sscratch\nSTORE t1, 4*W(sp)\ncsrw sscratch, zero
        STORE t0, 32*W(sp)\njal handler\nLOAD t0, 32*W(sp)\naddi s0, sp, 36*W\nSTORE s0, W(tp)
        csrw sscratch, tp\ncsrw sepc, t0\nLOAD ra, W(sp)\nLOAD t0, 5*W(sp)\nLOAD s0, 8*W(sp)\nLOAD tp, 4*W(sp)
        LOAD sp, 2*W(sp)\nafter: sret"""
TRAPS = {
    "trap": """entry: addi sp, sp, -36*W\nSTORE t0, 5*W(sp)\nSTORE ra, W(sp)\ncsrr t0, sepc
        %s\nLOAD t0, 5*W(sp)\naddi sp, sp, 36*W\nafter: sret""" % HANDLED,
    "scratch": """entry: csrrw sp, sscratch, sp\nbnez sp, 1f\ncsrr sp, sscratch\naddi sp, sp, -36*W\nSTORE t0, 5*W(sp)
        addi t0, sp, 36*W\nSTORE t0, 2*W(sp)\nmv t0, zero\nj 2f\n1: addi sp, sp, -36*W\nSTORE t0, 5*W(sp)
        csrrw t0, sscratch, zero\nSTORE t0, 2*W(sp)\nli t0, 1\n2: STORE t0, 33*W(sp)\ncsrr t0, sepc
        %s\nLOAD t0, 33*W(sp)\nbeqz t0, 3f\naddi t0, sp, 36*W\ncsrw sscratch, t0\n3: LOAD t0, 5*W(sp)
        LOAD sp, 2*W(sp)\nafter: sret""" % HANDLED,
    # Two stacks meet: whose the SP is then nobody knows.
    "scratch, two stacks": """entry: csrrw sp, sscratch, sp\nbnez a0, 1f\ncsrr t0, sscratch\nj 2f\n1: mv t0, sp
        2: mv sp, t0\ntaken: csrr t1, sepc\nSTORE t1, -2*W(sp)\naddi sp, sp, -16\nafter: sret""",
    # The same stack perhaps, but not at the same place.
    "scratch, two frames": """entry: csrrw sp, sscratch, sp\ncsrr t2, sscratch\ncsrr t1, sepc\ntaken: bnez a0, 1f
        csrr sp, sscratch\naddi sp, sp, -32\nSTORE t1, 0(sp)\nj 2f\n1: addi sp, sp, -48\nSTORE t1, 16(sp)
        2: li t1, 0\nafter: nop\nsret""",
    # The SP that was interrupted is in the scratch register alone, but for one way.
    "scratch, not saved": """entry: csrrw sp, sscratch, sp\nbnez sp, 1f\ncsrr sp, sscratch\nj 2f\n1: nop
        2: addi sp, sp, -32\ncsrr t1, sepc\ntaken: STORE t1, 0(sp)\nnop\nafter: sret""",
    # As Linux enters: tp swaps with the scratch register, and points to where SPs are kept.
    "tp": TP % ("", "csrr t0, sepc"),
    # Somebody else may have written there, or it is not there any more.
    "tp, written": TP % ("STORE a0, 0(a1)", "csrr t0, sepc"),
    "tp, another": TP % ("mv tp, a0", "csrr t0, sepc"),
    "tp, called": TP % ("mv s2, tp\njal handler\nmv tp, s2", "csrr t0, sepc"),
    # The PC is saved on one stack or on the other.
    "scratch, two slots": """entry: csrrw sp, sscratch, sp\ncsrr t1, sepc\ncsrr t2, sscratch\ntaken: bnez a0, 1f
        csrr t0, sscratch\nSTORE t1, 0(t0)\nj 2f\n1: mv t0, sp\nSTORE t1, 0(t0)\n2: li t1, 0\nafter: nop\nsret""",
}

# Faults in what is known: file, what stands there, and what is put in its place. Another text of WHAT counts once.
FAULTS = {
    "x86_64": [("x86_64.c", a, b) for a, b in (
        ("code_add(fact, CODE_STORE, reg, reg, sp, -word);", ";"),
        ("code_overwrite(fact, sp, -bytes, (uint32_t)bytes);\\n    code_add(fact, CODE_SET, sp, 0, sp, -bytes)", ";"),
        ("code_add(fact, CODE_SET, sp, 0, sp, -bytes)", "code_add(fact, CODE_SET, sp, 0, sp, -16)"),
        ("code_add(fact, CODE_LOAD, reg, reg, sp, 0)", "code_add(fact, CODE_LOAD, reg, reg, sp, 8)"),
        ("if (reg != sp)\\n        code_add(fact, CODE_SET, sp, 0, sp, stack_bytes(d));", ""),
        ("operand_width == 16 ? 2 : d->mode->word", "operand_width == 32 ? 2 : d->mode->word"),
        ("if (to != NULL && is_memory(to))", "if (0)"),
        ("if (to != NULL && is_register(to) && reg == CODE_NONE)", "if (0)"),
        ("operand_count_visible > 0 ? &d->op[0] : NULL", "operand_count > 0 ? &d->op[0] : NULL"),
        ("code_add(fact, CODE_SET, sp, 0, fp, 0)", "code_add(fact, CODE_SET, sp, 0, sp, 0)"),
        ("code_add(fact, CODE_LOAD, fp, fp, sp, 0)", "code_forget(fact, RBX)"),
        ("    if (d->insn.operand_width == 16) /* of BP and SP */\\n        return false;", ""),
        ("        code_forget(fact, fp);\\n        code_add(fact, CODE_SET, sp, 0, sp, -2 -",
         "        code_add(fact, CODE_SET, sp, 0, sp, -2 -"),
        ("code_add(fact, CODE_STORE, fp, fp, sp, -word);", ";"),
        ("code_add(fact, CODE_SET, fp, 0, sp, -word);", ";"),
        ("sp, 0, sp, -word * (1 + level) - bytes", "sp, 0, sp, -word - bytes"),
        ("sp, 0, sp, -word * (1 + level) - bytes", "sp, 0, sp, -word * (1 + level)"),
        ("code_add(fact, CODE_SET, to, to, base == GS", "code_add(fact, CODE_LOAD, to, to, base == GS"),
        ("code_add(fact, CODE_LOAD, to, to, base, k);", "code_add(fact, CODE_SET, to, to, base, k);"),
        ("d->insn.mnemonic == ZYDIS_MNEMONIC_SUB ? -1 : 1", "1"),
        ("code_add(fact, CODE_ALIGN, to, 0, 0, 0)", "(void)0"),
        ("code_add(fact, CODE_SUM, to, from, to, sign)", "(void)0"),
        ("code_add(fact, CODE_STORE, from, from, base, k)", "(void)0"),
        ("far)\\n            forget_all(d, fact);", "0)\\n            ;"),
        ("    name_registers(d);", "    name_registers(d);\\n    d->number[ZYDIS_REGISTER_ESP] = 0;"),
        ("    name_registers(d);", "    name_registers(d);\\n    d->number[ZYDIS_REGISTER_AH] = 0;"),
        ("d->whole[reg] = reg == all", "d->whole[reg] = true"),
        ("{RAX, RCX, RDX,", "{RAX, RDX, RCX,"),
        ("ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE", "ACTION_WRITE"),
        ("ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE", "ACTION_CONDWRITE"),
        ("pass(d, fact, &d->op[i]);", ";"),
        ("            write_to(d, fact, &d->op[i]);", "            ;"),
        ("for (i = 0; i < d->insn.operand_count; i++)\\n        if", "for (i = 0; i < 1; i++)\\n        if"),
        ("i < d->insn.operand_count; i++) {", "i < d->insn.operand_count_visible; i++) {"),
        ("code_repeat(fact, d->mode->count);", ";"),
        ("code_repeat(fact, d->mode->count);", "code_repeat(fact, RDX);"),
        ("ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE", "ZYDIS_ATTRIB_HAS_REP"),
        ("code_write(fact, RAX, -63, 127);", ";"),
        ("    code_add(fact, CODE_FORGET, RAX, (uint8_t)(d->mode->sp - 1), 0, 0);\\n", ""),
        ("    code_add(fact, CODE_FORGET, RAX, RCX, 0, 0);", ""),
        ("        code_add(fact, CODE_FORGET, R8, R11, 0, 0);\\n", "        ;\\n"),
        ("case ZYDIS_MNEMONIC_VMRUN:\\n", ""),
        ("case ZYDIS_MNEMONIC_TDCALL:\\n", ""),
        ("go(fact, CODE_BRANCH, target);", ";"),
        ("mem->index != ZYDIS_REGISTER_NONE ||", ""),
        ("mem->segment != ZYDIS_REGISTER_FS && mem->segment != ZYDIS_REGISTER_GS", "mem->segment == ZYDIS_REGISTER_SS"),
        # Where words are that count from a segment, or have an address.
        ("*k = (int64_t)(d->pc + d->insn.length + (uint64_t)*k);", ";"),
        ("is_flat(mem) ? (uint8_t)CODE_ZERO : (uint8_t)GS", "(uint8_t)GS"),
        ("is_flat(mem) ? (uint8_t)CODE_ZERO : (uint8_t)GS", "(uint8_t)CODE_ZERO"),
        ("|| mem->segment == ZYDIS_REGISTER_FS ||", "||"),
        ("else if (is_flat(mem) && d->whole", "else if (d->whole"),
        ("reg = CODE_TARGET;", ";"),
        ("code_add(fact, CODE_LOAD, reg, reg, base, k);\n    }", ";\n    }"),
        ("case ZYDIS_MNEMONIC_SWAPGS:", "case ZYDIS_MNEMONIC_AAA:"),
        ("case ZYDIS_MNEMONIC_WRGSBASE:", "case ZYDIS_MNEMONIC_AAA:"),
        ("case ZYDIS_MNEMONIC_WRMSR:", "case ZYDIS_MNEMONIC_AAA:"),
        ("    if (reg == ZYDIS_REGISTER_GS)\\n        forget_gs(fact);\\n    else if", "    if"),
    )] + [("state.c", a, b) for a, b in (
        ("if (state->globals)\n        drop_range", "if (0)\n        drop_range"),
        ("if (state->globals && at->base == BASE_NUMBER)", "if (0)"),
        ("if (state->globals && at->base == BASE_STRUCT)", "if (0)"),
        ("    forget_other_name(state, at);", ""),
        ("    forget_other_name(state, at);\\n    if (replaced)\\n        replace_bytes(",
         "    if (replaced)\\n        replace_bytes("),
        ("if (count->base != BASE_NUMBER)", "if (true)"),
    )] + [("stacks.c", a, b) for a, b in (
        ("(!cpu->link && is_pushed(cpu, state, sp))", "false"),
        ("&& pc.base == BASE_RETURN && old", "&& old"),
        ("&& old.base == BASE_CFA && old.k == 0", ""),
    )] + [("state.c", a, b) for a, b in (
        ("state->reg[AMD64_RCX] = state_way_back;", ""),
        ("    state->globals = true;\n    state->num = 0;", "    state->num = 0;"),
        # Two SPs of one stack.
        ("moved = state_same_stack(&sp, other_sp) &&", "moved = true &&"),
        ("!join_values(state, other, &sp, other_sp, &less);", "join_values(state, other, &sp, other_sp, &less);"),
        ("a->base <= BASE_TRAP && b->base >= BASE_CFA &&", "a->base <= BASE_TRAP || b->base >= BASE_CFA &&"),
    )],
    "aarch64": [("aarch64.c", a, b) for a, b in (
        ("(word & 1u << 22) != 0 ? 12 : 0", "0"),
        ("subtracts ? -imm : imm", "imm"),
        ("code_add(fact, CODE_ALIGN, SP, 0, 0, 0)", "(void)0"),
        ("imm = (uint64_t)field(word, 5, 16) << shift;", "imm = field(word, 5, 16);"),
        ("code_add(fact, CODE_INSERT,", "(void)("),
        ("        code_replace(fact, rd(word));\\n    }\\n}\\n\\n/* and, orr", "    }\\n}\\n\\n/* and, orr"),
        ("(word & 0xffe0ffe0) == 0xaa0003e0 &&", "0 &&"),
        ("(word & 1u << 30) != 0 ? -1 : 1", "1"),
        ("(word & 0xbfe0fc00) == 0x8b206000 &&", "0 &&"),
        ("(word & 0x3fe00000) == 0x0b200000 ||", ""),
        ("|| (word & 0x7fe0fc00) == 0x1ac01000", ""),
        ("(word & 0xfffffbe0) == 0xdac103e0", "0"),
        ("(word & 0xfffffbe0) == 0xdac113e0", "0"),
        ("(word & 0x5f20fc00) == 0x1e200000 ||", ""),
        ("(word & 0x5f200000) == 0x1e000000 ||", ""),
        ("(word & 0xbfe08400) == 0x0e000400", "0"),
        ("(word & 0xffa0f000) == 0x04205000", "0"),
        ("    else\\n        forget(fact, rd(word));\\n}\\n\\n/* ---- Branches", "}\\n\\n/* ---- Branches"),
        ("case 0x19:\\n", ""),
        ("case 0x1d:\\n", ""),
        ("(word & 0xfffff0ff) == 0xd50040bf", "0"),
        ("word & 1u << 21) /* mrs, sysl */\\n        replace(fact, rd(word));", "0)\\n        ;"),
        ("code_add(fact, CODE_FORGET, 0, X17, 0, 0);", ";"),
        ("code_add(fact, CODE_LOAD, reg, reg, rn(word), k)", "(void)0"),
        ("code_add(fact, CODE_STORE, reg, reg, rn(word), k)", "(void)0"),
        ("mode == 1 ? 0 : k;", "k;"),
        ("mode == 1 ? 0 : k,\\n", "k,\\n"),
        ("code_add(fact, CODE_SET, rn(word), 0, rn(word), k)", "(void)0"),
        ("replace(fact, rd(word));\\n        replace(fact, field(word, 10, 5));\\n    } else if", ";\\n    } else if"),
        ("access(fact, word, loads, second, at + bytes, bytes)", "(void)second"),
        ("if (field(word, 10, 1))\\n        code_forget(fact, rn(word));", ""),
        ("if (field(word, 23, 1))\\n        code_forget(fact, rn(word));", ""),
        ("[4] = 3, [6] = 3", "[4] = 2, [6] = 2"),
        ("[7] = 1, [8] = 2", "[7] = 2, [8] = 2"),
        ("field(word, 30, 1) ? 16u : 8u", "16u"),
        ("field(word, 30, 1) ? 16u : 8u", "8u"),
        ("((opcode & 2) + field(word, 21, 1) + 1)", "((opcode & 2) + 1)"),
        ("(eight ? 8u : 1u << scale)", "(1u << scale)"),
        ("op == 3 ? 32 : 16", "16"),
        ("op == 3 ? 32 : 16", "32"),
        ("else if (mode != 0 && op & 1)", "else if (mode != 0)"),
        ("16 * offset_of(word, 12, 9)", "offset_of(word, 12, 9)"),
        ("code_write(fact, rd(word), 0, 1);", ";"),
        ("code_repeat(fact, rn(word));", ";"),
        ("code_overwrite(fact, rn(word), 0, 64);", "code_overwrite(fact, rn(word), 0, 16);"),
        ("loads ? (int64_t)two : -(int64_t)two", "-(int64_t)two"),
        ("rn(word), -(int64_t)bytes);\\n    } else", "rn(word), 0);\\n    } else"),
        ("exclusive || field(word, 21, 1) ? 0", "exclusive ? 0"),
        ("code_write(fact, rn(word), 0, predicate ? 2 : 16);", ";"),
        ("tags ? 8 : 1u << shift", "1u << shift"),
        ("if (!is_vector)\\n        forget(fact, rd(word));\\n    if (exclusive) {", "if (exclusive) {"),
        ("forget(fact, field(word, 10, 5));\\n        forget(fact, rd(word) | 1u);", "forget(fact, rd(word) | 1u);"),
        ("    forget(fact, field(word, 16, 5));\\n    if (!exclusive", "    if (!exclusive"),
        ("0x3ffff | 1ull << X30", "0x1ff | 1ull << X30"),
        ("    X18,\\n", "    0,\\n"),
    )] + [("state.c", "(value->k >= MIN_ADDRESS || value->k < -MIN_ADDRESS) && ", "false && ")],
    "s390x": [("s390x.c", a, b) for a, b in (
        ("if (*q == 0x07 && high(p[1]) == 0) {", "if (0) {"),
        ("4096 * (int64_t)(int8_t)p[2]", "4096 * (int64_t)p[2]"),
        ("return reg == 0 ? (uint8_t)CODE_ZERO", "return reg == 16 ? (uint8_t)CODE_ZERO"),
        ("{16, 20, 17,", "{16, 17, 20,"),
        ("p[0] == 0xa7 && op == 0xb)\\n        code_add(fact, CODE_SET, reg, 0, reg, imm);",
         "p[0] == 0xa7 && op == 0xb)\\n        ;"),
        ("p[0] == 0xa7 && op == 0x9)\\n        code_add(fact, CODE_NUMBER, reg, 0, 0, imm);",
         "p[0] == 0xa7 && op == 0x9)\\n        ;"),
        ("16 * (0xf - op)", "16 * (0xe - op)"),
        ("code_add(fact, CODE_ALIGN, reg, 0, 0, 0);", ";"),
        ("code_add(fact, CODE_SET, float_number(reg), 0, from, 0);", ";"),
        ("code_add(fact, CODE_SET, reg, 0, float_number(from), 0);", ";"),
        ("code_add(fact, CODE_SET, reg, 0, from, 0);\\n        return true;\\n    case 0xb908:",
         "return true;\\n    case 0xb908:"),
        ("code_add(fact, CODE_SUM, reg, from, reg, 1);", ";"),
        ("code_add(fact, CODE_SUM, reg, from, reg, -1);", "code_add(fact, CODE_SUM, reg, from, reg, 1);"),
        ("code_add(fact, CODE_SUM, reg, third, from, 1);", ";"),
        ("code_add(fact, CODE_SUM, reg, third, from, -1);", "code_add(fact, CODE_SUM, reg, third, from, 1);"),
        ("(int64_t)(pc + (uint64_t)(2 * imm))", "(int64_t)(pc + (uint64_t)imm)"),
        ("code_add(fact, CODE_NUMBER, reg, 0, 0, imm);\\n        return true;\\n    case 0xc0e:",
         "return true;\\n    case 0xc0e:"),
        ("code_add(fact, CODE_NUMBER, reg, 0, 0, bits);", ";"),
        ("-(int64_t)bits", "(int64_t)bits"),
        ("code_add(fact, CODE_SET, reg, 0, reg, imm);\\n        return true;\\n    case 0xc2a:",
         "return true;\\n    case 0xc2a:"),
        ("code_add(fact, CODE_SET, reg, 0, reg, bits);", ";"),
        ("code_add(fact, CODE_SUM, reg, based(base), R15, 1);", ";"),
        ("code_add(fact, CODE_SET, reg, 0, reg, k);\\n    } else", "} else"),
        ("code_add(fact, CODE_SET, reg, 0, based(index | base), k);", ";"),
        ("        code_add(fact, what, reg, reg, based(index | base), long_displacement(p + 2));", "        ;"),
        ("code_table(fact, reg, 8, based(base), based(index), CODE_NONE, long_displacement(p + 2));", ";"),
        ("displacement(p + 4), p[1] + 1u);", "displacement(p + 4), p[1]);"),
        ("many(fact, p[5] == 0x04 ? CODE_LOAD", "many(fact, p[5] == 0x24 ? CODE_LOAD"),
        ("k + 8 * (int64_t)part", "k"),
        ("(uint8_t)low(p[1]), half(p + 2));", "(uint8_t)high(p[1]), half(p + 2));"),
        ("mask == 15 ? CODE_JUMP : CODE_BRANCH", "CODE_JUMP"),
        ("mask == 15 ? CODE_JUMP : CODE_BRANCH", "CODE_BRANCH"),
        ("if (reg != R14)\\n        code_forget(fact, (uint8_t)reg);", ""),
        ("code_add(fact, CODE_SET, CODE_TARGET, 0, (uint8_t)reg, 0);", ";"),
        ("code_forget(fact, (uint8_t)high(p[1]));\\n    branch(fact, 1, target);", "branch(fact, 1, target);"),
        ("if (first == 15 && second != 0)", "if (second != 0)"),
        ("code_add(fact, CODE_FORGET, R0, R5, 0, 0);", ";"),
        ("code_write(fact, based(high(q[2])), displacement(q + 2), 1);", ";"),
        ("bytes *= count(p[1]);", "bytes *= 16;"),
        ("bytes *= count(p[1]);", ";"),
        ("if (*q < 0xd1 || *q > 0xdc || *q == 0xd8) {", "if (0) {"),
        ("if (high(p[1]) == R14) {\\n            call(fact, R14, target);",
         "if (0) {\\n            call(fact, R14, target);"),
        ("call(fact, high(p[1]), target);\\n        return true;\\n    case 0xcc6:",
         "call(fact, 14, target);\\n        return true;\\n    case 0xcc6:"),
        ("case 0xff:\n        fact->may_leave = true;", "case 0xff:\n        fact->flow = CODE_STOP;"),
        ("    0xff403f,", "    0xff4000,"),
        ("    -160,\n    0,\n    true,", "    -168,\n    0,\n    true,"),
    )] + [("code.c", "    jump_through(r, state, fact);\\n", "")],
    "riscv64": [("riscv.c", a, b) for a, b in (
        ("code_add(fact, CODE_SET, to, 0, read(from), imm);", ";"),
        ("read(from), imm);", "read(from), imm + 8);"),
        ("code_add(fact, CODE_SHIFT, to, 0, 0, imm);", ";"),
        ("code_add(fact, CODE_ALIGN, to, 0, 0, 0)", "(void)0"),
        ("    } else {\\n        code_replace(fact, to);\\n    }\\n}\\n\\n/* Of 32",
         "    }\\n}\\n\\n/* Of 32"),
        ("code_add(fact, CODE_WORD, rd(i->word), 0, 0, 0);", ";"),
        ("    } else {\\n        replace(fact, rd(i->word));", "    } else {"),
        ("read(first == ZERO ? second : first), 0)", "read(second), 0)"),
        ("read(second), read(first), -1)", "read(second), read(first), 1)"),
        ("case 0x84:", "case 0x85:"),
        ("    default:\\n        code_replace(fact, to);", "    default:"),
        ("code_add(fact, CODE_LOAD, to, to, base, imm_i(i->word));", ";"),
        ("code_table(fact, to, 1u << size", "(void)(1u << size"),
        ("code_add(fact, CODE_STORE, from, from, base, imm_s(i->word))", "(void)from"),
        ("code_overwrite(fact, base, imm_s(i->word), 1u << function);", ";"),
        ("code_overwrite(fact, read(rs1(i->word)), imm_s(i->word), 1u << function);", ";"),
        ("code_write(fact, read(rs1(i->word)), 0, 1)", "(void)0"),
        ("replace(fact, rd(i->word));\\n    if (which == CAS)", "if (which == CAS)"),
        ("code_write(fact, read(rs1(i->word)), 0, 16)", "(void)0"),
        ("code_add(fact, CODE_NUMBER, csr, 0, 0, from)", "(void)0"),
        ("    else if (from != ZERO)\\n        code_forget(fact, csr);", ""),
        ("    if (csr == CODE_NONE) {\\n        replace(fact, to);", "    if (csr == CODE_NONE) {"),
        ("code_add(fact, CODE_SET, to, 0, CODE_TARGET, 0)", "(void)0"),
        ("is_behind(text, i->pc, 0x01f01013)", "false"),
        ("code_add(fact, CODE_FORGET, A0, A7, 0, 0);", ""),
        ("fact->link = link == RA ? 0 : link;", ""),
        ("number(fact, i, link, i->pc + i->size);", ""),
        ("code_add(fact, CODE_SET, CODE_TARGET, 0, read(base), imm_i(i->word));", ""),
        ("rd(before) == base", "rd(before) != base"),
        ("(uint64_t)(int64_t)imm_i(i->word);", "0;"),
        ("funct5 == COMPARES ||", ""),
        ("|| funct5 == CONVERTS", ""),
        ("|| funct5 == MOVES", ""),
        ("function == 7 || (function == 2", "(function == 2"),
        ("(function == 2 && i->word >> 26 == 0x10)", "false"),
        ("function == 2 && i->word >> 20 == 4", "false"),
        ("    default:\\n        forget_all(fact);", "    default:"),
        ("(uint64_t)(int64_t)(int32_t)upper);\\n        break;\\n    case AUIPC",
         "0);\\n        break;\\n    case AUIPC"),
        ("return (uint32_t)LUI | to << 7 | (uint32_t)imm << 12;",
         "return (uint32_t)LUI | to << 7;"),
        ("0xffull << A0", "0x7full << A0"),
        ("| 15ull << T3", ""),
        ("| 1ull << CODE_OTHER_SP)", ")"),
        ("SP, FP,    RA,    S2,", "SP, FP,    RA,    0,"),
        ("NULL, 8,  4 | 8", "NULL, 4,  4 | 8"),
        ("code_add(fact, CODE_BOUND,", "(void)("),
        ("CODE_ENTRY_SHIFT);", "0);"),
    )] + [("state.c", a, b) for a, b in (
        ("        forget_struct(state);\\n        return;\\n    }\\n    forget_other_name(state, at);",
         "        return;\\n    }\\n    forget_other_name(state, at);"),
        ("INT64_MAX); /* another interrupt may have come */\\n    forget_struct(state);", "INT64_MAX);"),
        ("    name_struct(cpu, state, op);\n    at", "    at"),
        # Two names of the CFA, at an interrupt that has left SP alone.
        ("value->k != theirs->k ||", ""),
        ("mine != other_name(theirs->base) || !(state->trap_is_cfa || other->trap_is_cfa)",
         "mine != other_name(theirs->base)"),
        ("        value->base = other->trap_is_cfa ? (uint8_t)BASE_CFA : theirs->base;", ""),
        ("    if (theirs == NULL || !(state->trap_is_cfa || other->trap_is_cfa))",
         "    if (theirs == NULL)"),
        ("        if (theirs == NULL)\n            theirs = find_renamed(state, other, mine, &less);", ""),
        ("    mine->base = name;", ""),
        ("    less |= join_both(&state->trap_is_cfa, other->trap_is_cfa);\n", ""),
    )],
    "thumb": [("arm.c", a, b) for a, b in (
        ("state = half & 0xff;", ";"),
        ("(state & 0xe0) | (state << 1 & 0x1f)", "0"),
        ("state != 0 && condition < 14", "0"),
        ("return below > 0 && d->conditionals[below - 1].pc == pc ?", "return 0 ?"),
        ("fact->flow = CODE_AWAY;\n    return CODE_TARGET;", "return CODE_TARGET;"),
        ("forget_range(fact, R0, R3);", ";"),
        ("    code_forget(fact, R12);\n}\n\n/* ---- Data", "}\n\n/* ---- Data"),
        ("number(fact, rd, ~value);", "number(fact, rd, value);"),
        ("op == ADD ? k : -k", "k"),
        ("code_add(fact, CODE_SUM, rd, rn, CODE_ZERO, -1);\n    } else if ((op == AND", ";\n    } else if ((op == AND"),
        ("code_add(fact, CODE_ALIGN, rd, 0, 0, 0);\n    } else {\n        code_replace(fact, rd);",
         ";\n    } else {\n        code_replace(fact, rd);"),
        ("        code_replace(fact, rd);\n    }\n}\n\nstatic void with_register",
         "    }\n}\n\nstatic void with_register"),
        ("code_add(fact, CODE_SHIFT, rd, 0, 0, o->by);", ";"),
        ("code_add(fact, CODE_SUM, rd, o->reg, rn, -1);", "code_add(fact, CODE_SUM, rd, o->reg, rn, 1);"),
        ("        code_replace(fact, rd);\n    }\n}\n\n/* RD = RN OP", "    }\n}\n\n/* RD = RN OP"),
        ("code_scaled(fact, rd, rn, o->reg, o->by * CODE_ENTRY_SHIFT);", ";"),
        ("code_table(fact, reg, width, a->rn, a->by == 0", "(void)(fact, reg, width, a->rn, a->by == 0"),
        ("    else if (a->rn == PC && a->bytes == 4 && literal(", "    else if (0 && literal("),
        ("code_add(fact, CODE_LOAD, reg, reg, a->rn, k);", ";"),
        ("        code_table(fact, reg, width, a->rn, CODE_NONE, CODE_NONE, k);", ";"),
        ("code_add(fact, CODE_STORE, rt, rt, a->rn, a->by_index ? 0 : k);", ";"),
        ("code_overwrite(fact, a->rn, a->by_index ? 0 : k, a->bytes);", ";"),
        ("set(fact, a->rn, a->rn, a->k);", ";"),
        ("second.k = first.k + 4;", "second.k = first.k;"),
        ("loads ? CODE_LOADS : CODE_STORES", "CODE_LOADS"),
        ("loads ? CODE_LOADS : CODE_STORES", "CODE_STORES"),
        ("        fact->flow = CODE_AWAY;\n    if (writes && loads", "    ;\n    if (writes && loads"),
        ("set(fact, rn, rn, up ? bytes : -bytes);", ";"),
        ("code_write(fact, rn, before ? k : 0, size);", ";"),
        ("set(fact, rn, rn, k);\n}", ";\n}"),
        ("        if (loads) {\n            result_in(fact, reg_at(word, 12));", "        if (loads) {"),
        ("            result_in(fact, reg_at(word, 16));\n        }", "        }"),
        ("{ /* mcr, mrc, vmov, vmrs */\n        if (loads", "{\n        if (0"),
        ("        set(fact, SP, SP, field(half, 7, 1) ? -by : by);", "        set(fact, SP, SP, by);"),
        ("set(fact, CODE_TARGET, rm, 0);", ";"),
        ("next == (by << 6 | (uint32_t)rd << 3 | rd)", "0"),
        ("    } else {\n        code_replace(fact, rd);\n    }\n}\n\nstatic void arithmetic_half",
         "    }\n}\n\nstatic void arithmetic_half"),
        ("case 9: /* at SP */", "case 19:"),
        ("code_forget(fact, (uint8_t)(half & 7));", ";"),
        ("half >> 12 == 4 ? PC : SP", "SP"),
        ("{ /* svc */\n            leave(fact);", "{"),
        ("leave(fact);\n    else if ((half & 0xffe8)", ";\n    else if ((half & 0xffe8)"),
        ("fact->condition = (uint8_t)(field(half, 8, 4) + 1);\n", "\n"),
        ("if ((op == 2 || op == 3) && rn != PC)", "if (0)"),
        ("code_add(fact, CODE_INSERT, rd, 16, 0, (uint32_t)rn << 12 | imm);", ";"),
        ("number(fact, rd, (uint32_t)rn << 12 | imm);", ";"),
        ("    else\n        code_replace(fact, rd);\n}\n\n/* A part of what libgcc", "}\n\n/* A part of what libgcc"),
        ("{\"uqi\", 1, CODE_ENTRY_SHIFT}", "{\"uqi\", 1, 0}"),
        ("strncmp(symbol->name, before, sizeof before - 1) != 0", "true"),
        ("(uint32_t)(j1 == s) << 23", "(uint32_t)j1 << 23"),
        ("special == 8)", "false)"), ("special == 9 || special == 0x14 || special == 0x18", "false"),
        ("code_replace(fact, reg_at(word, 8));\n    } else if ((word & 0xfff0f000) == 0xf7f0a000)",
         ";\n    } else if ((word & 0xfff0f000) == 0xf7f0a000)"),
        ("code_scaled(fact, CODE_TARGET, PC, CODE_TARGET, CODE_ENTRY_SHIFT);", ";"),
        ("number(fact, PC, i->here);\n    code_table(fact, CODE_TARGET, size", "code_table(fact, CODE_TARGET, size"),
        ("field(i->word, 4, 1) ? 2 : 1", "1"),
        ("code_forget(fact, loads ? rt : other);", ";"),
        ("code_write(fact, rn, k, 4);", ";"),
        ("            code_replace(fact, rt);\n        if (loads && (kind",
         "            ;\n        if (loads && (kind"),
        ("code_forget(fact, reg_at(word, 0));", ";"),
        ("code_write(fact, rn, 0, 8);\n    }\n    if (loads && rt", ";\n    }\n    if (loads && rt"),
        ("    code_replace(fact, reg_at(word, 8));\n    if (is_long)", "    if (is_long)"),
        ("    if (is_long)\n        code_replace(fact, reg_at(word, 12));", ""),
        ("#define CHANGED (15ull", "#define CHANGED (7ull"),
        ("(15ull | 1ull << R12", "(15ull"),
        ("SP, R7,   LR", "SP, R11, LR"),
    )] + [("arm.c", "decode_thumb, open_decoder,\\n    close_decoder, 4, 4,  NULL, 1,  data_end",
           "decode_thumb, open_decoder, close_decoder, " + new) for new in (
        "8, 4, NULL, 1, data_end", "4, 8, NULL, 1, data_end", "4, 4, NULL, 0, data_end", "4, 4, NULL, 1, NULL")],
    "arm": [("arm.c", a, b) for a, b in (
        ("(up == before ? 4 : 0)", "0"),
        ("code_overwrite(fact, rn, 0, bytes);", ";"),
        ("code_add(fact, rn == SP ? CODE_ALIGN : CODE_FORGET, rn, rn, 0, 0);", ";"),
        ("        code_forget(fact, a->rn);\n}", "        ;\n}"),
        ("code_replace(fact, high);\n        if (is_long)", "if (is_long)"),
        ("            code_replace(fact, low);\n        if (high", "            ;\n        if (high"),
        ("code_replace(fact, low); /* swp", ";/* swp"),
        ("code_write(fact, high, 0, 8);", ";"),
        ("a.loads = kind == 2;", "a.loads = false;"),
        ("result_in(fact, reg_at(word, 12));\n    else if (field(word, 9, 1)", ";\n    else if (field(word, 9, 1)"),
        ("if (which == 1 && field(word, 16, 1)) /* cpsr_c */", "if (0)"),
        ("            result_in(fact, reg_at(word, 12));\n        else\n", "            ;\n        else\n"),
        ("exchange(fact, i, reg_at(word, 0), true);", ";"),
        ("case 5: /* qadd and so on */\n        result_in(fact, reg_at(word, 12));", "case 5:"),
        ("    code_replace(fact, reg_at(word, 16));\n    if (field(word, 21, 2) == 2)\n",
         "    if (field(word, 21, 2) == 2)\n"),
        ("        code_replace(fact, reg_at(word, 12));\n    if (reg_at(word, 16) == PC",
         "        ;\n    if (reg_at(word, 16) == PC"),
        ("CMN, ORR, MOV", "CMN, TST, MOV"),
        ("RSB, ADD, OTHER, OTHER, OTHER,", "RSB, ADD, TST, OTHER, TST,"),
        ("            o.type = 1;", "            ;"),
        ("        else if (op == 16)\n            number(fact, rd, imm);", ""),
        ("code_add(fact, CODE_INSERT, rd, 16, 0, imm);", ";"),
        ("if (op == 18 && field(word, 16, 1)) /* msr cpsr_c */", "if (0)"),
        ("        code_replace(fact, high);\n    if (writes_rd)", "        ;\n    if (writes_rd)"),
        ("writes_rd = !products || op == 20", "writes_rd = op == 20"),
        ("writes_rd = !products || op == 20", "writes_rd = !products"),
        ("        if (field(word, 17, 1))\n", "        if (0)\n"),
        ("(uint8_t)(word >> 28 == 14 ? 0 : (word >> 28) + 1)", "0"),
        ("fact->flags = field(word, 24, 1);\n        go_to(fact, field(word, 24, 1) ? CODE_CALL",
         "go_to(fact, 0 ? CODE_CALL"),
        ("pc, pc + 8, d}", "pc, pc + 4, d}"),
    )],
    "riscv32": [("riscv.c", a, b) for a, b in (
        ("NULL, 4,  4, ", "NULL, 8,  4, "),
        ("replace(fact, to | 1u);", ";"),
    )],
}


def assembled(cpu, name, functions):
    lines = [".text", ".globl _start", "_start:"]
    for function, text in functions.items():
        lines += [".balign 16", ".globl %s" % function, ".type %s, %%function" % function, function + ":",
                  ".cfi_startproc",
                  text, ".cfi_endproc", ".size %s, . - %s" % (function, function)]
    return build(cpu, "%s/%s-%s" % (WORK, name, cpu), lines)


def as_report(lines):
    return {line.split()[0]: dict(zip(*[iter(line.split()[1:])] * 2)) for line in lines}


def report(program, image, *options):
    """What PROGRAM says of IMAGE: of each function, all and the sum, the numbers by their names."""
    return as_report(run(program, *options, image)[0].splitlines())


def reports(program, images):
    """The same of each of IMAGES."""
    pieces = run(program, *images)[0].split("\nsum ")
    lines = [piece.splitlines() for piece in pieces]
    must(len(lines) == len(images) + 1, "%d reports of %d images" % (len(lines) - 1, len(images)))
    return [as_report(mine[i > 0:] + ["sum " + behind[0]]) for i, (mine, behind) in enumerate(zip(lines, lines[1:]))]


@functools.lru_cache(None)
def images_of(cpu):
    true = assembled(cpu, "true", TRUE[cpu])
    # A frame of 64 bytes, the instruction, and an epilogue.
    begin = {"x86_64": "sub $56, %rsp\n.cfi_adjust_cfa_offset 56\n",
             "aarch64": "sub sp, sp, #64\n.cfi_def_cfa_offset 64\n",
             "s390x": "aghi %r15, -64\n.cfi_def_cfa_offset 224\n",
             "arm": "sub sp, sp, #64\n.cfi_def_cfa_offset 64\n",
             "thumb": "sub sp, sp, #64\n.cfi_def_cfa_offset 64\n"}.get(
                 cpu, "addi sp, sp, -64\n.cfi_def_cfa_offset 64\n")
    end = {"x86_64": "\ntest %eax, %eax\nud2", "aarch64": "\ncmp x0, x1\nbrk #1",
           "s390x": "\ncgr %r0, %r1\n.short 0", "arm": "\ncmp r0, r1\nudf #0",
           "thumb": "\ncmp r0, r1\nudf #0"}.get(cpu, "\nsltu a0, a0, a1\nunimp")
    ret = "br %r14" if cpu == "s390x" else "bx lr" if cpu in ARM else "ret"
    lost = [assembled(cpu, "lost-%d" % i, {"frame": "nop\n%s" % ret, "lost": begin + text.replace(";", "\n") + end})
            for i, text in enumerate(LOST[cpu])]
    derived = [frames_image(), *syscall_images()] if cpu == "x86_64" else [thunk_image()] if cpu == "s390x" else []
    if cpu.startswith("riscv"):
        derived = [trap_image(cpu, kind) for kind in TRAPS]
    return true, lost, without_cfi(cpu, "jumps", JUMPS[cpu]) if cpu in JUMPS else None, derived


def without_cfi(cpu, name, functions, called=None):
    """FUNCTIONS without CFI, called by one that has it: all, or those that are in CALLED."""
    names = {function: function.replace(" ", "_") for function in functions}
    lines = [".equ T, %d" % (cpu == "thumb"), ".text", ".globl _start", "_start:",
             callers(cpu, called or names.values())]
    for function, text in functions.items():
        lines += [".balign 16", ".globl " + names[function], ".type %s, %%function" % names[function],
                  names[function] + ":", text, ".size %s, . - %s" % (names[function], names[function])]
    return build(cpu, "%s/%s-%s" % (WORK, name, cpu), lines)


def data_bytes(cpu):
    """The bytes of data in JUMPS."""
    return sum(int(size) + (2 if more and cpu == "thumb" else 0)
               for size, more in re.findall(r"@ data (\d+)( \+ 2 \* T)?", str(JUMPS[cpu])))


def thunk_image():
    """gcc's thunks of s390x: the cases of a switch are found through one. What stands behind its first instruction
    nobody comes to."""
    cases = """clgijh %r2, 2, 5f\nsllg %r2, %r2, 3\nlarl %r1, 9f\nlg %r1, 0(%r2, %r1)\njg away\n2: lghi %r2, 1\nj 5f
        3: lghi %r2, 2\nj 5f\n4: lghi %r2, 3\n5: jg back\n.section .rodata\n.balign 8\n9: .quad 2b, 3b, 4b\n.text"""
    image = without_cfi("s390x", "thunk", {
        "cases": cases, "others": cases, "away": "exrl %r0, 1f\n2: j 2b\n1: br %r1",
        "back": "exrl %r0, 1f\n2: j 2b\n1: br %r14"}, ["cases", "others"])
    return image, None, 2 * (4 * 6 + 6 + 4 + 4 + 4 + 4 + 4 + 6) + 6 + 6, "thunk"


def frames_image():
    """Where ways with two SPs of one stack meet, the frame is found by FP."""
    image = without_cfi("x86_64", "frames", {
        "frames": "push %rbp\nmov %rsp, %rbp\ntest %eax, %eax\nje 1f\npush %rbx\n1: nop\nleave\nret"})
    return image, None, 1 + 3 + 2 + 2 + 1 + 1 + 1 + 1, "two frames"


# Entries of x86_64's system calls: `known` is where the interrupted SP is known again, behind `apart`, or where the
# entry ends. In the place of BETWEEN is what keeps it from being known, but for SAFE.
SYSCALL = """entry: mov %rsp, {0}\nmov kernel(%rip), %rsp\napart: {2}\n push {1}\nknown: push %r11\npush %rcx\npop %rcx
    pop %r11\npop %rsp\nsysretq"""
FRAME = """entry: mov %rsp, %r10\nmov kernel(%rip), %rsp\napart: push $0x2b\npush {0}\npush %r11\npush $0x33\npush {1}
    iretq\nknown:"""
BY_GS, BY_ADDRESS = ("%gs:16", "%gs:16"), ("saved(%rip)", "saved")
BETWEEN = {BY_GS: ("swapgs", "wrgsbase %rax", "wrmsr", "mov %ax, %gs", "push %rax\npop %gs",
                   "mov %rax, (%rdx)", "mov %rax, 8(,%rdx,8)", "mov %rax, %fs:0",
                   "movl $0, %gs:20", "mov %rax, %gs:8(%rdx)", "mov %rax, saved(%rip)", "movl $0, saved"),
           BY_ADDRESS: ("mov %rax, %gs:0", "movl $0, %gs:0", "movl $0, saved+4", "mov %rax, saved(,%rdx,8)",
                        "push %rax\npop (%rdx)"),
           ("%gs:saved", "saved"): ("",), ("%fs:16", "%fs:16"): ("",), ("%gs:16(%rdx)", "%gs:16"): ("",),
           ("%gs:16", "%gs:24"): ("",)}
SAFE = {BY_GS: ("", "mov %rax, %gs:8", "movl $0, %gs:24", "mov (%rdx), %rax"),
        BY_ADDRESS: ("", "mov %rax, saved+8", "mov (%rdx), %rax"), ("%gs:saved(%rip)", "%gs:saved"): ("",)}


def syscall_image(text, number, how):
    """An image with such an entry; where its symbols are; how many bytes from there on have rows; and what it is."""
    image = build("x86_64", "%s/syscall-%d" % (WORK, number),
                  [".text", ".globl _start", "_start: jmp _start", text, "end: nop", ".data", ".balign 8",
                   "saved: .quad 0, 0", "kernel: .quad 0"])
    where = {name: int(addr, 16) for addr, name in re.findall(r"([0-9a-f]+) [a-zA-Z] (\w+)", run(NM, image)[0])}
    first, last = how
    return image, where, where[first] - where["entry"] + where["end"] - where[last], "syscall: " + text


def syscall_images():
    texts = [(SYSCALL.format(*way, what), ("apart", "known" if safe else "end"))
             for safe, lists in ((True, SAFE), (False, BETWEEN)) for way, list_ in lists.items() for what in list_]
    # The frame of iretq is that of the call, and is not: then nothing is known of the other stack.
    texts += [("entry: lea %gs:16, %rax\nmov %rsp, (%rax)\nmov kernel(%rip), %rsp\napart: push %gs:16\nud2",
               ("apart", "end")),
              (FRAME.format("%r10", "%rcx"), ("known", "end")), (FRAME.format("%r10", "%rax"), ("apart", "end")),
              (FRAME.format("%rax", "%rcx"), ("apart", "end"))]
    return [syscall_image(text, i, how) for i, (text, how) in enumerate(texts)]


def trap_image(cpu, kind):
    """An image with such an entry; where its symbols are; how many bytes behind its entry have rows; and KIND."""
    image = build(cpu, "%s/entry-%s-%s" % (WORK, cpu, kind.replace(", ", "-").replace(" ", "-")),
                  [".text", ".globl _start", "_start: j _start", TRAPS[kind], "handler: addi sp, sp, -16",
                   "STORE ra, 8(sp)", "LOAD ra, 8(sp)", "addi sp, sp, 16", "ret", "end: nop",
                   ".type handler, %function"])
    where = {name: int(addr, 16) for addr, name in re.findall(r"([0-9a-f]+) [tT] (\w+)", run(NM, image)[0])}
    if kind in ("scratch, two slots", "scratch, two frames"):
        return image, where, where["after"] - where["taken"], kind
    if "," in kind: # the handler alone, which is called
        return image, where, where["end"] - where["handler"] if "jal handler" in TRAPS[kind] else 0, kind
    return image, where, where["after"] - where["taken"] + where["end"] - where["handler"], kind


def judged(program, cpu, true, lost, jumps, traps):
    """What is wrong with PROGRAM, or None."""
    done = report(program, true)
    if len(done) > 2 or done["sum"]["confirmed"] != done["all"]["bytes"]:
        return "true: %s" % done
    for done, text in zip(reports(program, lost), LOST[cpu]):
        if done["sum"]["reached"] == done["sum"]["confirmed"] or int(done["sum"]["corrected"]) > 0:
            return "%s: %s" % (text.strip(), done)
    try:
        if jumps is not None:
            all_derived(program, jumps, data_bytes(cpu))
    except Wrong as wrong:
        return str(wrong)
    for image, where, wanted, kind in traps:
        if where is None:
            done = int(report(program, image, "-d")["derived"]["bytes"])
        else:
            option = {"scratch": "-s", "syscall": "-c"}.get(re.match("[a-z]*", kind)[0], "-t")
            done = int(report(program, image, option, "%x" % where["entry"])
                       ["derived"]["bytes"]) - (where["entry"] - where["_start"])
        if done != wanted:
            return "%s: %d bytes instead of %d" % (kind, done, wanted)
    return None


def all_derived(program, image, data=0):
    """Each byte of the functions without CFI has a row, but for those of DATA, as the assembler has marked them."""
    symbols = run(NM, "-S", "-n", "--special-syms", image)[0]
    # A call of libgcc's helper is a jump by a table.
    sizes = re.findall(r"(?m)^([0-9a-f]+) ([0-9a-f]+) T (?!main|__gnu_thumb1)", symbols)
    starts = [(int(start, 16) & ~1, int(size, 16)) for start, size in sizes] # bit 0: T32 code
    code = {pc for start, size in starts for pc in range(start, start + size)}
    wanted = len(code) - data
    marks = [(int(addr, 16), kind) for addr, kind in re.findall(r"(?m)^([0-9a-f]+) \w \$([adtx])", symbols)]
    for (start, kind), (end, _) in zip(marks, marks[1:]):
        code -= set(range(start, end)) if kind == "d" else set()
    done = report(program, image, "-d")
    rows = {pc for start, piece in done.items() if "rows" in piece
            for pc in range(int(start, 16), int(start, 16) + int(piece["rows"]))}
    must(sizes and len(code) == wanted and len(rows) == int(done["derived"]["bytes"]),
         "%d bytes of code instead of %d, %s have rows" % (len(code), wanted, done["derived"]))
    must(rows == code, "without rows: %s, with: %s" % (
        " ".join("%x" % pc for pc in sorted(code - rows)), " ".join("%x" % pc for pc in sorted(rows - code))))
    return "%d bytes" % len(rows)


def facts(cpu):
    wrong = judged(CODE, cpu, *images_of(cpu))
    must(wrong is None, wrong)


def planted(cpu, file, old, new):
    """A fault in what is known of an instruction changes what is said of those functions."""
    text = read("port/host/code/" + file).decode()
    old, new = old.replace("\\n", "\n"), new.replace("\\n", "\n")
    must(old in text, "%s has no %s" % (file, old))
    write(WORK + "/" + file, text.replace(old, new, 1).encode())
    flags = read(CODE + ".flags").decode().split()
    objects = [o for o in read(CODE + ".objects").decode().split() if os.path.basename(o) != file[:-2] + ".o"]
    # It compiles in half of the time that gcc takes.
    run("clang", "-std=c99", "-D_GNU_SOURCE", "-w", "-I.", "-Iport/host", "-Iport/host/code", *flags, WORK + "/" + file,
        *objects, *read(CODE + ".libraries").decode().split(), "-o", WORK + "/planted")
    must(judged(WORK + "/planted", cpu, *images_of(cpu)) is not None, "nobody notices")


def s390x_table():
    """What facts_s390x says: the instructions that are read otherwise than their lines say, and for each entry of the
    table, what became of its faults."""
    text = read("port/host/code/s390x.c").decode()
    must("static const struct facts facts[]" in text, "s390x.c has no table")
    write(WORK + "/s390x_writable.c", text.replace("static const struct facts facts[]", "static struct facts facts[]")
          .encode())
    objects = [o for o in read(CODE + ".objects").decode().split() if os.path.basename(o) not in ("reads.o", "s390x.o")]
    run("gcc", "-std=c99", "-D_GNU_SOURCE", "-O2", "-w", "-I.", "-Iport/host", "-Iport/host/code", "-I" + WORK,
        "port/host/test/facts_s390x.c", *objects, *read(CODE + ".libraries").decode().split(), "-o", WORK + "/table")
    lines = run("sh", "-c", WORK + "/table <port/host/test/facts_s390x.txt")[0].splitlines()
    entries = {}
    said = re.findall(r"(?m)^entry (\d+) (\S+) (\S+) (.*) (\S+)$", "\n".join(lines))
    for number, group, codes, fault, became in said:
        entries.setdefault("%s, %s %s" % (number, group, codes), {})[fault] = became
    return [line.split()[1] for line in lines if line.startswith("wrong")], entries


def s390x_faults(faults):
    """Each fault of an entry is noticed, or none of the instructions is read otherwise with it."""
    missed = [fault for fault, became in faults.items() if became == "missed"]
    must(not missed, "nobody notices: " + ", ".join(missed))
    must(faults["gone"] == "noticed", "no instruction needs it")


def test_table():
    wrong, entries = s390x_table()
    test("s390x table", must, not wrong and len(entries) > 400,
         "wrong: %s; %d entries" % (" ".join(wrong), len(entries)))
    for entry, faults in entries.items():
        test("s390x entry " + entry, s390x_faults, faults)


def faulty_places(cpu):
    """What test_planted changes is still there."""
    for file, old, _ in FAULTS.get(cpu, ()):
        must(old.replace("\\n", "\n") in read("port/host/code/" + file).decode(), "%s has no %s" % (file, old))


def names_of(objects):
    """{object: (names that it has, names that it needs)}"""
    has = {}
    for line in run(NM, "-A", *objects)[0].splitlines():
        file, rest = line.split(":", 1)
        kind, name = rest.split()[-2:]
        if kind in "UTDRB":
            has.setdefault(file, (set(), set()))[kind == "U"].add(name)
    return has


def fails(function, *arguments):
    try:
        function(*arguments)
    except Wrong:
        return
    raise Wrong("it passes")


def arrows(objects):
    """Each file of port/host/code uses those in front of it alone, in the order of rules.mk; code.h lists them."""
    objects = [o for o in objects if "/port/host/code/" in o]
    names, later = names_of(objects), set()
    listed = read("port/host/code/code.h").decode()
    for o in reversed(objects):
        has, needs = names[o]
        must(not needs & later, "%s uses %s" % (o, " ".join(sorted(needs & later))))
        later |= has
        must(os.path.basename(o)[:-2] + ".c" in listed, "code.h does not list %s" % o)
    must(len(objects) > 10, "only %d objects" % len(objects))


def test_facts():
    os.makedirs(WORK, exist_ok=True)
    objects = read(CODE + ".objects").decode().split()
    test("each file uses those in front of it alone", arrows, objects)
    test("a file that uses one behind it is noticed", fails, arrows, [*objects[:2], *reversed(objects[2:])])
    for cpu in TRUE:
        test("%s facts" % cpu, facts, cpu)
        test("%s faults are of code that is there" % cpu, faulty_places, cpu)
    test_table()


def test_planted():
    os.makedirs(WORK, exist_ok=True)
    for cpu in TRUE:
        test("%s facts" % cpu, facts, cpu)
        for i, fault in enumerate(FAULTS.get(cpu, ())):
            test("%s fault %d: %s" % (cpu, i, fault[1].split("\\n")[0].strip()), planted, cpu, *fault)


# ---- trust ----

def interrupts(compiler, *flags):
    """At each instruction the handler's caller is what it interrupted (FAULTS.md: interrupt-attribute)."""
    name = "%s/interrupts-%s%s" % (WORK, os.path.basename(compiler), "".join(flags))
    run(compiler, *flags, "-mno-red-zone", "-fno-stack-protector", "-fno-pie", "-w", "-fasynchronous-unwind-tables",
        "-c", "port/host/test/handlers.c", "-o", name + ".o")
    walker = WORK + "/walker.o"
    if not os.path.exists(walker) or os.path.getmtime(walker) < BEGUN:
        run("gcc", "-O1", "-fno-pie", "-w", "-I.", "-r", "-nostdlib", "port/host/test/interrupts.c", "sfu.c", "-o",
            walker)
    run("gcc", "-no-pie", walker, name + ".o", "-o", name)
    gen("-q", "--address=0x10000000", "-o", name + ".tables", name)
    result = run(name, name + ".tables")[0].strip()
    gen("-q", "--cfi=keep", "--address=0x10000000", "-o", name + ".kept", name)
    kept = run(name, name + ".kept", status=1)[0].split()
    must(int(kept[2]) > int(kept[0]) // 2, "by the CFI alone only %s of %s are wrong" % (kept[2], kept[0]))
    return result


def syscalls(level):
    """At each instruction of a system call's entry its caller is the program, but where SP is in a variable alone."""
    name = WORK + "/syscalls" + level
    run("gcc", level, "-fno-pie", "-no-pie", "-I.", "port/host/test/syscalls.S", "port/host/test/syscalls.c", "sfu.c",
        "-o", name)
    said = gen("--json", "--address=0x10000000", "-o", name + ".tables",
               *["--entry=%s:syscall" % entry for entry in ("per_cpu", "global", "by_register")], name)[0]
    lost = [(entry["bytes"], entry["reason"]) for entry in json.loads(said)["entries"]]
    sizes = [int(end, 16) - int(start, 16) for start, end in
             (re.search(r"([0-9a-f]+) T %s_apart\n(?:.*\n)*?([0-9a-f]+) T %s_found" % (entry, entry),
                        run(NM, "-n", name)[0]).groups() for entry in ("per_cpu", "global"))]
    must(lost == [(size, "the code does not show where a row could find the interrupted SP") for size in sizes],
         "%s instead of %s" % (lost, sizes))
    return run(name, name + ".tables")[0].strip()


def library(cpu, name, most):
    """Compilers tell the truth: in a library of theirs all that code and CFI say is the same, but for MOST bytes."""
    root = "/usr/lib/x86_64-linux-gnu/" if cpu == "x86_64" else "/usr/%s-linux-gnu/lib/" % cpu
    done = report(CODE, root + name)["sum"]
    must(int(done["corrected"]) <= most, "%s bytes differ" % done["corrected"])
    must(int(done["confirmed"]) > 20 * int(done["silent"]), "%s bytes are confirmed, %s silent"
         % (done["confirmed"], done["silent"]))
    return "%(reached)s bytes, %(confirmed)s confirmed, %(corrected)s corrected" % done


def keeps():
    """--cfi=keep leaves the CFI's rows; without it the function is named, and the code's rows stand there."""
    image = assembled("x86_64", "keep", {"lies": "push $1\npop %rdi\nret"})
    for options, rows, named in ((("-v",), 3, True), (("-v", "--cfi=keep"), 1, False)):
        done = gen(*options, "-o", "/dev/null", "--address=0", image)[1]
        must((", %d rows" % rows) in done and ("lies (" in done) == named, done)
    said = gen("--json", "-q", "--size", image)[0]
    must('"corrected": 1' in said and '"function": "lies"' in said, said)


# A table of jumps that no comparison bounds. Behind it stands another one, whose entries lead elsewhere: into the
# middle of the instruction at 1, to 2, where only an unwinder comes, with another frame, and into the middle of 3,
# where only an unwinder comes, with the same frame.
UNBOUNDED = """f: .cfi_startproc
sub $8, %rsp
.cfi_def_cfa_offset 16
movzbl (%rdi), %eax
lea table(%rip), %rdx
movslq (%rdx,%rax,4), %rax
add %rdx, %rax
jmp *%rax
0: movabs $1, %rax
add $8, %rsp
.cfi_def_cfa_offset 8
ret
.cfi_def_cfa_offset 16
1: movabs $0x1f0f909090909050, %rax
mov %rax, %rax
add $8, %rsp
.cfi_def_cfa_offset 8
ret
.cfi_def_cfa_offset 16
nop
.cfi_def_cfa_offset 48
2: call f
nop
.cfi_def_cfa_offset 16
3: movabs $0x9090909090909050, %rax
nop
hlt
.cfi_endproc
.section .rodata
table: .long 0b - table, 1b - table"""


def unbounded(entry):
    """What only the entry behind a table's end leads to is not believed: the tables are those of CFI."""
    image = build("x86_64", WORK + "/unbounded", [".text", ".globl _start", "_start:", UNBOUNDED, ".long " + entry])
    both = [read(made(image, option)) for option in ("--cfi=check", "--cfi=keep")]
    must(both[0] == both[1], "CFI that is right is not believed")


def made(image, option):
    file = image + option
    gen("-q", option, "--address=0x10000000", "-o", file, image)
    return file


def flags():
    """What clang 14 leaves out between the add and the pop is taken from the code (FAULTS.md: clang-flags)."""
    text = """push %rbx\n.cfi_adjust_cfa_offset 8\nsub $8, %rsp\n.cfi_adjust_cfa_offset 8\nadd $8, %rsp\ntest %rbx, %rbx
        je 1f\n.cfi_adjust_cfa_offset -8\n1: pop %rbx\n.cfi_adjust_cfa_offset -8\nret"""
    done = report(CODE, assembled("x86_64", "flags", {"flags": text}))["sum"]
    must(done["corrected"] == "5", str(done))


# gcc's -mfunction-return=thunk, and two functions that return by it. Of the first one nobody knows SP at its end.
RETURNS = """f: call *%rax
mov %rdi, %rbp
lea (%rsp,%rax), %rsp
jmp thunk
g: push %rbx
call f
pop %rbx
jmp thunk
thunk: call 2f
1: pause
lfence
jmp 1b
2: lea 8(%rsp), %rsp
ret
_start: call f
call g
hlt"""


def returns():
    """A thunk that returns in place of functions has rows, whatever is known of one of them where it jumps there."""
    image = build("x86_64", WORK + "/returns", [".text", ".globl _start"] +
                  [".type %s, @function" % name for name in ("f", "g", "thunk", "_start")] + RETURNS.split("\n"))
    where = addresses("x86_64", image)
    rows = table("x86_64", image, "--derive")
    must(rows.get(where["thunk"], ("", ""))[0] == "sp+8", str(rows))


def addresses(cpu, image):
    return {name: int(at, 16) for at, name in
            re.findall(r"(?m)^([0-9a-f]+) \S (\S+)$", run("%s/%s/nm" % (TC, cpu), image)[0])}


def doubtful():
    """CFI that is right and then is not, where code has done nothing to it, says that the way is not what it seems."""
    text = "nop\n.cfi_def_cfa_offset 48\nadd $40, %rsp\n.cfi_def_cfa_offset 8\nret"
    image = assembled("x86_64", "doubtful", {"cold": text})
    must("corrected 0" in run(CODE, image)[0].splitlines()[-1], run(CODE, image)[0])


# In a frame of 64 bytes: what does not come back is the last instruction of a function. Some of them the CPU goes on
# behind, and some it never reaches the end of.
LASTS = {"x86_64": ("syscall", "nop", "int $0x80", "mov %rax, %rbx"), "aarch64": ("svc #0", "hvc #0", "nop"),
         "s390x": ("svc 1", "nopr", "diag %r1, %r2, 0x308"), "riscv64": ("ecall", "nop"), "riscv32": ("ecall", "nop"),
         "arm": ("svc #0", "nop"), "thumb": ("svc #0", "nop")}
FRAME_OF_64 = {"x86_64": "sub $64, %rsp\n.cfi_adjust_cfa_offset 64",
               "s390x": "aghi %r15, -64\n.cfi_adjust_cfa_offset 64",
               "aarch64": "sub sp, sp, #64\n.cfi_adjust_cfa_offset 64"}
FRAME_OF_ARM, FRAME_OF_RISCV = ("%s\n.cfi_adjust_cfa_offset 64" % text for text in
                                ("sub sp, sp, #64", "addi sp, sp, -64"))
RETURN = {"s390x": "br %r14", "arm": "bx lr", "thumb": "bx lr"}


def falls(cpu):
    """What a function seems to fall into has the rows of its CFI: a landing pad of another one, and a function that is
    only called through a pointer and has no symbol."""
    ret = RETURN.get(cpu, "ret")
    frame = FRAME_OF_64.get(cpu, FRAME_OF_RISCV if cpu.startswith("riscv") else FRAME_OF_ARM)
    for last in LASTS[cpu]:
        for behind in (".cfi_adjust_cfa_offset 32\nnop\n%s" % ret, ret):
            lines = [".text", ".globl _start, falls", "_start:", ".type falls, %function", "falls:", ".cfi_startproc",
                     frame, last, ".cfi_endproc", ".cfi_startproc", behind, ".cfi_endproc"]
            image = build(cpu, "%s/falls-%s" % (WORK, cpu), lines)
            done = report(CODE, image)["sum"]
            must(done["corrected"] == "0", "behind %s: %s" % (last, done))


def falls_without_cfi(cpu):
    """The same without CFI: a function that only another one seems to fall into has no rows. Labels of one text go on
    in one another."""
    frame = FRAME_OF_64.get(cpu, FRAME_OF_RISCV if cpu.startswith("riscv") else FRAME_OF_ARM).split("\n")[0]
    for last in LASTS[cpu]:
        done = []
        for kind in ("function", "notype"):
            lines = [".text", ".globl _start, falls, behind", "_start: %s" % ("nopr" if cpu == "s390x" else "nop"),
                     callers(cpu, ["falls"]), ".balign 16", ".type falls, %function", "falls:", frame, last,
                     ".type behind, %" + kind, "behind:", frame, RETURN.get(cpu, "ret")]
            image = build(cpu, "%s/falls-%s-%s" % (WORK, kind, cpu), lines)
            done.append(int(report(CODE, image, "-d")["derived"]["bytes"]))
        must(0 < done[0] < done[1] or (done[0] == done[1] and "nop" not in last), "behind %s: %s" % (last, done))


# Entries as functions in C whose attribute is `naked`: some share an end, which is one of these, too. By the manuals of
# the CPUs; and what must be found of each function.
NAKED = {
    "x86_64": ({"handler": "ret", "common": "push %rax\npush %rbp\nmov %rsp, %rdi\ncall handler\npop %rbp\npop %rax\n"
                "add $16, %rsp\niretq", "plain": "push $0\npush $3\njmp common", "failed": "push $13\njmp common",
                "stacked": "call handler\npush $0\npush $4\njmp common",
                "enter": "push $0x23\npush %rsi\npushf\npush $0x2b\npush %rdi\niretq"},
               {"plain": "trap", "failed": "error", "stacked": "trap"}),
    "i386": ({"handler": "ret", "common": "pusha\npush %ds\nmov %eax, %ds\npush %esp\ncall handler\nadd $4, %esp\n"
              "pop %ds\npopa\nadd $8, %esp\niret", "plain": "push $0\npush $3\njmp common",
              "failed": "push $13\njmp common", "stacked": "call handler\npush $0\npush $4\njmp common",
              "enter": "push %esi\npushf\npush $0x1b\npush %edi\niret"},
             {"plain": "trap", "failed": "error", "stacked": "trap"}),
    "s390x": ({"handler": "br %r14", "common": "mvc 640(16), 288(%r15)\nlmg %r0, %r15, 160(%r15)\nlpswe 640",
               "plain": "stmg %r0, %r15, 512\naghi %r15, -304\nmvc 288(16, %r15), 0x150\nmvc 160(128, %r15), 512\n"
               "brasl %r14, handler\nj common"}, {"plain": "trap"}),
    "riscv64": ({"handler": "ret", "common": "LOAD ra, 0(sp)\nLOAD a0, W(sp)\naddi sp, sp, 4*W\nmret",
                 "plain": "addi sp, sp, -4*W\nSTORE ra, 0(sp)\nSTORE a0, W(sp)\ncall handler\nj common",
                 "swaps": "csrrw sp, mscratch, sp\naddi sp, sp, -4*W\nSTORE ra, 0(sp)\nSTORE a0, W(sp)\ncall handler\n"
                 "LOAD ra, 0(sp)\nLOAD a0, W(sp)\naddi sp, sp, 4*W\ncsrrw sp, mscratch, sp\nmret",
                 "enter": "csrw mepc, a0\nmret"}, {"plain": "trap", "swaps": "scratch"}),
}
NAKED["riscv32"] = NAKED["riscv64"]
# Here the kind is not found, because it is not in the code, or there is none; but nobody is a caller.
UNCALLED = {
    "aarch64": {"handler": "ret", "common": "ldp x0, x30, [sp], #16\neret",
                "plain": "stp x0, x30, [sp, #-16]!\nbl handler\nb common"},
    "arm": {"handler": "bx lr", "common": "pop {r0, r1}\nrfeia sp!", "plain": "push {r0, r1}\nbl handler\nb common",
            "returns": "push {r0, lr}\nbl handler\npop {r0, lr}\nsubs pc, lr, #4",
            "irq": "sub lr, lr, #4\npush {r0-r3, r12, lr}\nbl handler\nldm sp!, {r0-r3, r12, pc}^",
            "abort": "sub lr, lr, #8\npush {r0-r3, r12, lr}\nbl handler\npop {r0-r3, r12, lr}\nmovs pc, lr",
            "svc": "push {r0-r3, r12, lr}\nbl handler\nldm sp!, {r0-r3, r12, pc}^",
            "stays": "push {r0, r1}\nbl handler\npop {r0, r1}\nrfeia sp",
            "chain": "push {r4, r5}\nbl handler\npop {r4, r5}\nldm sp!, {r0-r3, r12, pc}^",
            "saved": "srsdb sp!, #0x13\npush {r0, r1}\nbl handler\npop {r0, r1}\nrfeia sp!",
            "modes": "msr cpsr_c, r5\nmov r5, sp\nmsr cpsr_c, r7\nbl handler\n1: b 1b"},
}


def naked_image(cpu, functions, described):
    around = ".cfi_startproc\n%s\n.cfi_endproc" if described else "%s"
    lines = [".text", ".globl _start", "_start:", callers(cpu, ["handler"])]
    for name, text in functions.items():
        lines += [".balign 16", ".globl " + name, ".type %s, %%function" % name, name + ":", around % text,
                  ".size %s, . - %s" % (name, name)]
    return build(cpu, "%s/naked-%s-%d" % (WORK, cpu, described), lines)


def not_as_called(image, names, *options):
    """ARM: none of NAMES has the rows of what is called."""
    gen("-q", "--address=0", "-o", image + ".tables", *options, image)
    for name in names:
        at = addresses_of(image)[name]
        rows = run(OUT + "/rows", image + ".tables", hex(at), hex(at + 4))[0].split()[2:]
        must(not rows, "%s: %s" % (name, rows))


def naked(cpu):
    """CFI that says nothing is not believed where the code returns from an interrupt; --find needs none."""
    functions, wanted = NAKED.get(cpu) or (UNCALLED[cpu], {})
    for described, options in ((True, ()), (False, ("--find",))):
        image = naked_image(cpu, functions, described)
        said = gen("-v", "--size", *options, image)[1]
        found = dict(re.findall(r": (\w+) \(0x\w+\): entered as by --entry=\w+:(\w+)", said))
        must({name: kind for name, kind in found.items() if kind not in ("call", "start")} == wanted, said)
        must({name for name in found if found[name] in ("call", "start")} <= {"handler"}, said)
        if not cpu.startswith("riscv") and cpu not in ("arm", "i386"): # objdump knows no tables of these
            rows, where = table(cpu, image, *options), addresses(cpu, image)
            for name in set(functions) - {"handler"}: # the row of a call is nowhere
                must(rows.get(where[name], ("none",))[0] not in ("sp+0", "sp+8", "sp+160"), "%s: %s" % (name, rows))
        elif cpu == "arm":
            not_as_called(image, set(functions) - {"handler", "modes"}, *options)
    for name in wanted: # and so it is where it is named
        said = gen("--size", "--entry=%s:%s" % (name, wanted[name]), naked_image(cpu, functions, True))[1]
        must("is not used" not in said, said)


# Both go on in a program; the second one is called.
SYSTEM = {"system": """swapgs\nmov %rsp, %gs:16\nmov %gs:8, %rsp\npush %rcx\npush %r11\npush %rbp\ncall handler
              pop %rbp\npop %r11\npop %rcx\nmov %gs:16, %rsp\nswapgs\nsysretq""",
          "enters": "mov %rdi, %rcx\nmov %rsi, %rsp\nmov $0x202, %r11\nsysretq",
          "handler": "ret", "caller": "call enters\nret"}


def naked_system():
    """CFI that says nothing is not believed of an entry of `syscall`, also where nothing shows that it is one."""
    image = naked_image("x86_64", SYSTEM, True)
    said, rows, where = gen("-v", "--size", image)[1], table("x86_64", image), addresses("x86_64", image)
    must(re.findall(r"(\w+) \(0x\w+\) has no rows: its CFI says that it is called", said) == ["system"], said)
    must(rows.get(where["system"], ("none",))[0] == "none" and rows[where["enters"]][0] == "sp+8", str(rows))


# CFI that describes the entries' frames, as of functions that are called.
PROLOGUES = {"x86_64": {"plain": 8, "failed": 8, "common": 8, "enter": 8},
             "i386": {"plain": 4, "failed": 4, "common": 32, "enter": 4},
             "aarch64": {"plain": 16, "common": -16}, "s390x": {"plain": 304, "common": -304},
             "riscv64": {"plain": 32, "swaps": 32, "common": -32},
             "arm": {"plain": 8, "common": -8, "returns": 8, "svc": 24, "stays": 8, "chain": 8, "saved": 8}}
PROLOGUES["riscv32"] = {name: k // 2 for name, k in PROLOGUES["riscv64"].items()}


def naked_with_prologue(cpu):
    """CFI that says how an entry's frame grows is not believed either, where its code returns from an interrupt. What
    enters another program may have been called."""
    functions, wanted = NAKED.get(cpu) or (UNCALLED[cpu], {})
    texts = {}
    for name, text in functions.items():
        first, *rest = text.split("\n")
        if name in PROLOGUES[cpu]:
            first += "\n.cfi_adjust_cfa_offset %d" % PROLOGUES[cpu][name]
        texts[name] = "\n".join([first, *rest])
    for common in ("", ".cfi_signal_frame\n"):
        image = naked_image(cpu, dict(texts, common=common + texts["common"]), True)
        said = gen("-v", "--size", image)[1]
        found = dict(re.findall(r": (\w+) \(0x\w+\): entered as by --entry=\w+:(\w+)", said))
        must(found == wanted, "%s: %s" % (found, said))
        if not cpu.startswith("riscv") and cpu not in ("arm", "i386"): # objdump knows no tables of these
            rows, where = table(cpu, image), addresses(cpu, image)
            for name in set(PROLOGUES[cpu]) - {"common", "enter"}: # the row of a call is nowhere
                must(rows.get(where[name], ("none",))[0] not in ("sp+0", "sp+8", "sp+160"), "%s: %s" % (name, rows))
        elif cpu == "arm":
            not_as_called(image, {"plain", "returns", "svc", "stays", "chain", "saved"})
    image = naked_image(cpu, texts, True)
    for name, kind in wanted.items(): # who names them is heard
        said = gen("--size", "--entry=%s:%s" % (name, kind), image)[1]
        must("is not used" not in said, said)
    if cpu == "aarch64":
        must("say it by --entry=plain:KIND" in gen("--size", image)[1], "it is not named")
        said = gen("--size", "--entry=plain:trap", image)[1]
        must("is not used" not in said and "say it by" not in said, said)
    if cpu == "x86_64":
        said = gen("--size", "--entry=enter:trap", image)[1]
        must("--entry=enter:trap is not used" in said, said)


# The beginnings of code that calls and never returns: with a store of what a register has that no caller has left there
# for it; with none. By how much SP moves, at once.
LASTING = {"x86_64": ("sub $24, %rsp{}\nmov %r11, 8(%rsp)", "sub $24, %rsp{}\nmov %rbx, 8(%rsp)", 24),
           "aarch64": ("sub sp, sp, #32{}\nstp x9, x10, [sp]", "sub sp, sp, #32{}\nstp x19, x20, [sp]", 32),
           "s390x": ("aghi %r15, -160{}\nstmg %r0, %r15, 512", "aghi %r15, -160{}\nstmg %r6, %r15, 512", 160),
           "riscv64": ("addi sp, sp, -32{}\nSTORE t3, 0(sp)", "addi sp, sp, -32{}\nSTORE s1, 0(sp)", 32),
           "arm": ("push {r0-r3, r12, lr}{}", "push {r4, lr}{}", 0), "thumb": ("push {r4, lr}{}", "push {r4, lr}{}", 0)}
LASTING["riscv32"] = LASTING["riscv64"]


def lasting(cpu):
    """An exception's entry that never returns looks like a function that is only called through a pointer. It is not
    taken for one if it saves what a called function has no use for or if, unlike a compiler's, its CFI does not say
    that it moves SP. Who calls it is heard, and who names it."""
    call = {"x86_64": "call ", "s390x": "brasl %r14, "}.get(cpu, "call " if cpu.startswith("riscv") else "bl ")
    jump = {"x86_64": "jmp", "s390x": "j"}.get(cpu, "j" if cpu.startswith("riscv") else "b")
    end = "\n%shandler\n1: nop%s\n%s 1b" % (call, "r" if cpu == "s390x" else "", jump)
    saves, moves, moved = LASTING[cpu]
    handler = {"x86_64": "ret", "aarch64": "ret", "s390x": "br %r14"}.get(cpu, "ret" if cpu.startswith("riscv") else
                                                                         "bx lr")

    def unknown(described, adjust, *options, called=()):
        """Those that have no rows, because it is not known who enters them."""
        around = ".cfi_startproc\n%s\n.cfi_endproc" if described else "%s"
        lines = [".text", ".globl _start", "_start:", callers(cpu, ["handler", *called])]
        for name, text in (("handler", handler), ("saves", saves.replace("{}", adjust) + end),
                           ("moves", moves.replace("{}", adjust) + end), ("stub", jump + " common")):
            lines += [".balign 16", ".globl " + name, ".type %s, %%function" % name, name + ":", around % text,
                      ".size %s, . - %s" % (name, name)]
        lines.append("common: " + saves.replace("{}", "") + end)
        image = build(cpu, "%s/lasting-%s" % (WORK, cpu), lines)
        said = gen("-v", "--size", *options, image)[1]
        return re.findall(r"(\w+) \(0x\w+\) has no rows: (?:its CFI says|nothing shows)", said)
    adjust = "\n.cfi_adjust_cfa_offset %d" % moved
    every = [] if cpu == "thumb" else ["saves", "moves", "stub"] # Cortex-M: exceptions enter as calls do
    saving = [name for name in every if name != "moves"]
    must(unknown(True, "") == every, unknown(True, ""))
    must(unknown(True, "", called=every) == [], unknown(True, "", called=every))
    if moved:
        must(unknown(True, adjust) == saving, unknown(True, adjust))
    leaving = every if cpu in ("aarch64", "s390x", "riscv64", "riscv32") else saving # their call overwrites RA
    must(unknown(False, "", "--find") == leaving + ["common"] * bool(saving), unknown(False, "", "--find"))
    kind = "sp0" if cpu == "aarch64" else "trap"
    named = ["--entry=%s:%s" % (name, kind) for name in every] if cpu != "arm" else None # it has no such kinds
    must(named is None or unknown(True, "", *named) == [], "what is named is not heard")


# Code that never returns, and that is only reached through its address. NEVER: no compiler's function begins so: it
# hands on where a function's return address is, or a number that was pushed first, or clears the direction flag, or its
# call finds no SP that the ABI allows. MAYBE: a compiler may have written it, with CFI that says as much.
NEVER = {
    "x86_64": """cli\nmov %rsp, %rdi\ncall handler; push $8{8}\nmov %rsp, %rdi\ncall handler
        mov %rsp, %rdi\nand $-16, %rsp\ncall handler; push $1024{8}\nmov %rsp, %rsi\nand $-16, %rsp\ncall handler
        push %rbp{8}\nmov %rsp, %rbp\nlea 8(%rbp), %rdi\nand $-16, %rsp\ncall handler
        push %rdi{8}\nmov 8(%rsp), %edi\ncld\ncall handler; cld\n2: cli\nhlt\njmp 2b
        push $8{8}\njmp common""",
    "i386": """cli\nmov %esp, %eax\ncall handler; push %esp{4}\ncall handler
        push $8{4}\npusha{32}\nmov %ds, %eax\npush %eax{4}\ncall handler; pusha{32}\n2: cli\nhlt\njmp 2b
        push %ebp{4}\nmov %esp, %ebp\nlea 4(%ebp), %eax\npush %eax{4}\ncall handler
        push %eax{4}\nmov 4(%esp), %eax\ncld\ncall handler; push $8{4}\njmp common""",
    "arm": """push {r11, lr}{8}\nmov r11, sp\n.inst 0xe7c2d01f\nmov r0, #1\nbl handler
        .inst 0xf96d0513\nbl handler""",
}
MAYBE = {
    "x86_64": """sub $24, %rsp{24}\nmov %r10, 8(%rsp)\ncall handler; push $7{8}\ncall handler
        push $3\npop %rax\nsub $24, %rsp{24}\nlea 8(%rsp), %rdi\ncall handler
        sub $8, %rsp{8}\ncld\nrep stosb\ncall handler; push %rdi{8}\nlea 16(%rsp), %rdi\ncall handler
        xor %eax, %eax\njmp .Lthunk; sub $104, %rsp{104}\nlea 8(%rsp), %rax\nmov %r11, 88(%rax)\ncall handler""",
    "i386": """push $7{4}\npush %esp{4}\ncall handler; push $7{4}\nmov %esp, %eax\ncall handler
        sub $8, %esp{8}\ncld\nrep stosb\ncall handler; push %edi{4}\nlea 8(%esp), %eax\npush %eax{4}\ncall handler
        sub $28, %esp{28}\nmov %eax, 12(%esp)\nmov %edx, 8(%esp)\nmov %ecx, 4(%esp)\ncall handler
        xor %eax, %eax\njmp .Lthunk; sub $20, %esp{20}\ncall handler""",
    "aarch64": """stp x29, x30, [sp, #-32]!{32}\nstr x15, [sp, #16]\nbl handler
        stp x29, x30, [sp, #-192]!{192}\nadd x0, sp, #16\nstp x16, x17, [x0, #128]\nbl handler""",
    "s390x": """stmg %r14, %r15, 112(%r15)\naghi %r15, -176{176}\nstg %r0, 160(%r15)\nbrasl %r14, handler
        stmg %r14, %r15, 112(%r15)\naghi %r15, -320{320}\nla %r2, 160(%r15)\nstmg %r0, %r15, 0(%r2)\n"""
        "brasl %r14, handler",
    "riscv64": """addi sp, sp, -32{32}\nSTORE ra, 24(sp)\nSTORE t2, 8(sp)\ncall handler
        addi sp, sp, -144{144}\nSTORE ra, 136(sp)\nmv a0, sp\nSTORE t0, 40(a0)\ncall handler""",
    "arm": """push {r11, lr}{8}\nsub sp, sp, #8{8}\nstr r12, [sp]\nbl handler
        push {r11, lr}{8}\nsub sp, sp, #64{64}\nmov r0, sp\nstmia r0, {r0-r12}\nbl handler""",
}
MAYBE["riscv32"] = MAYBE["riscv64"]


def addressed(cpu):
    """Code that never returns, by its own instructions: an exception's entry has no rows, a function keeps them."""
    handler = {"s390x": "br %r14", "arm": "bx lr"}.get(cpu, "ret")
    jump = {"x86_64": "jmp", "i386": "jmp", "aarch64": "b", "arm": "b"}.get(cpu, "j")

    def unknown(codes, kind, *options):
        """Those that have no rows. KIND: CFI that follows SP, that says nothing, or none."""
        lines = [".text", ".globl _start", "_start:", callers(cpu, ["handler"])]
        for name, text in [("handler", handler)] + [("f%d" % i, code + "\n1: %s 1b" % jump)
                                                    for i, code in enumerate(codes)]:
            text = re.sub(r"\{(\d+)\}", r"\n.cfi_adjust_cfa_offset \1" if kind == "follows" else "", text)
            around = "%s" if kind == "none" else ".cfi_startproc\n%s\n.cfi_endproc"
            lines += [".balign 16", ".globl " + name, ".type %s, %%function" % name, name + ":", around % text,
                      ".size %s, . - %s" % (name, name)]
        if jump == "jmp": # and a return by a thunk
            lines += ["common: mov %rsp, %rdi" if cpu == "x86_64" else "common: pusha", "call handler", "1: jmp 1b",
                      ".balign 16", ".Lthunk: call 2f", "1: pause", "lfence", "jmp 1b",
                      "2: lea 8(%rsp), %rsp" if cpu == "x86_64" else "2: lea 4(%esp), %esp", "ret"]
        image = build(cpu, "%s/addressed-%s" % (WORK, cpu), lines)
        return re.findall(r"(f\d+) \(0x\w+\) has no rows: (?:its CFI says|nothing shows)",
                          gen("-v", "--size", *options, image)[1])
    never, maybe = (re.split(r"; |\n +", code[cpu]) if cpu in code else [] for code in (NEVER, MAYBE))
    for kind, options in (("follows", ()), ("nothing", ()), ("none", ("--find",))):
        every = ["f%d" % i for i in range(len(never))]
        must(unknown(never, kind, *options) == every, (kind, unknown(never, kind, *options)))
        must(kind == "nothing" or unknown(maybe, kind, *options) == [], (kind, unknown(maybe, kind, *options)))


# gcc's interrupt functions with an error code that never return: their CFI says that it lies below the PC. The code has
# bytes as of iretq and iret. What the CFA is of such a function, and of a piece of a function that begins so.
BELOW = {
    "x86_64": (""".cfi_def_cfa_offset 16
push %rdi
.cfi_adjust_cfa_offset 8
mov $0xcf48, %edx
mov 16(%rsp), %rdi
cld
call handler""", "(sp+32)", "sp+16"),
    "i386": (""".cfi_def_cfa_offset 8
push %eax
.cfi_adjust_cfa_offset 4
mov $0xcf, %edx
mov 8(%esp), %eax
cld
call handler""", "r4+16 [cfa-12]", "r4+8 [cfa-4]"),
}


def below(cpu):
    """An interrupt function whose CFI begins with an error code is one, though it never returns: the CFA is the SP of
    what was interrupted, behind the error code, PC, CS and flags. A piece of a function that begins so is none."""
    text, interrupted, piece = BELOW[cpu]
    for name, wanted in (("f", interrupted), ("g.cold", piece)):
        image = build(cpu, "%s/below-%s" % (WORK, cpu), [
            ".text", ".globl _start", "_start: nop", callers(cpu, ["handler"]), ".type handler, %function",
            "handler: .cfi_startproc", "ret", ".cfi_endproc", ".balign 16", ".globl " + name,
            ".type %s, %%function" % name, name + ": .cfi_startproc", text, ".cfi_endproc",
            ".size %s, . - %s" % (name, name)])
        addr = int(re.search(r"(\w+) T %s\n" % re.escape(name), run(NM, image)[0])[1], 16)
        if cpu == "x86_64":
            row = table(cpu, image)[addr][0]
        else: # objdump knows no tables of it
            gen("--quiet", "-o", image + ".tables", "--address=0", image)
            row = " ".join(run(OUT + "/rows", image + ".tables", hex(addr), hex(addr + 1))[0].split()[2:4])
        must(row == wanted, (name, row))


# An entry that a register of the CPU names, whose CFI says that it is called, and which jumps to a function; what sets
# the register; the kind; RA.
VECTORED = {
    "riscv64": ("la t0, entry\ncsrw stvec, t0", "csrrw a0, sscratch, a0\nSTORE ra, 5*W(a0)\nSTORE sp, 6*W(a0)\n"
                "LOAD sp, W(a0)\nj taken", "trap", "ra"),
    "aarch64": ("adr x0, entry\nmsr vbar_el1, x0", "stp x29, x30, [sp, #-16]!\nb taken", "sp0", "x30"),
    "s390x": ("larl %r1, entry\nstg %r1, 0x1d8", "stmg %r0, %r15, 512\nlg %r15, 768\naghi %r15, -160\nj taken",
              "trap", "%r14"),
    "x86_64": ("mov $0xc0000082, %ecx\nmov $entry, %rax\nmov %rax, %rdx\nshr $32, %rdx\nwrmsr",
               "mov %rsp, %r10\nmov saved(%rip), %rsp\npush %rcx\njmp taken", "syscall", "rip"),
}
VECTORED["riscv32"] = VECTORED["riscv64"]
# What jumps to 1, or goes on. Where kernels are linked to, whose addresses are negative numbers.
UNLESS = {"x86_64": "test %eax, %eax\njz 1f\n", "aarch64": "cbz x0, 1f\n", "s390x": "ltgr %r2, %r2\nje 1f\n"}
UPPER = {"x86_64": 0xffffffff80000000, "riscv64": 0xffffffff80000000, "riscv32": 0x80000000}


def vectored(cpu):
    """CFI is not believed of such an entry, nor of the function, even if somebody calls it, too, unless that says that
    nobody has called it, or the entry leaves an address to return to: one or, on each way that leads there, another
    one."""
    sets, entry, kind, ra = VECTORED[cpu]
    at = entry.rindex("\n") + 1
    jump, unless = entry[at:] + "\n", UNLESS.get(cpu, "beqz a0, 1f\n")
    begin = PIECES[cpu][0][0]
    call, stop = {"x86_64": ("call ", "jmp ."), "s390x": ("brasl %r14, ", "j ."), "aarch64": ("bl ", "b .")}.get(
        cpu, ("jal ", "j ."))
    leaves = {"x86_64": "push $back\n", "s390x": "larl %r14, back\n", "aarch64": "adr x30, back\n"}.get(
        cpu, "lla ra, back\n")
    other = leaves.replace("back", "again")
    for says, called, goes, known in (
            ("", "", jump, False), (".cfi_undefined %s\n" % ra, "", jump, True), ("", call + "taken\n", jump, False),
            ("", "", leaves + jump, True), ("", "", unless + leaves + jump + "1: " + other + jump, True),
            ("", "", unless + leaves + jump + "1: " + jump, False)):
        functions = {"back": stop, "again": stop, "handler": RETURN.get(cpu, "ret"),
                     "first": called + sets + "\n" + stop,
                     "taken": "%s\n.cfi_adjust_cfa_offset %d\n%s1: %shandler\n%s" % (
                         begin, 160 if cpu == "s390x" else 8 if cpu == "x86_64" else 16, says, call,
                         stop.replace(".", "1b"))}
        lines = [".text", ".globl _start", "_start:", callers(cpu, ["first"])]
        for name, text in (*functions.items(), ("entry", entry[:at] + goes)):
            lines += [".balign 2048" if name == "entry" else ".balign 16", ".type %s, %%function" % name, name + ":",
                      ".cfi_startproc", text, ".cfi_endproc", ".size %s, . - %s" % (name, name)]
        if cpu == "aarch64":
            lines += [".balign 2048"]
        for base, options in ((0, ()), (0, ("--find",)), (UPPER.get(cpu, 0), ())):
            image = build(cpu, "%s/vectored-%s" % (WORK, cpu), [*lines, ".bss", "saved: .skip 8"],
                          "-Ttext=%#x" % (base + 0x10000))
            said = gen("-v", "--size", *options, image)[1]
            must("entry (%#x): entered as by --entry=entry:%s:" % (base + 0x10800, kind) in said or not known and
                 "--entry=entry:%s:" % kind in said, said)
            file = image + ".tables"
            gen("-q", "--address=0", "-o", file, *options, image)
            where = addresses_of(image)
            rows = run(OUT + "/rows", file, hex(where["taken"]), hex(where["taken"] + 1))[0].split()
            by_cfi = {"x86_64": "r7+8", "aarch64": "r31+0", "s390x": "r15+160"}.get(cpu, "r2+0")
            must((rows[2:3] in ([by_cfi], ["outermost"])) == known, "%s%s%s: %s" % (says, called, goes, rows))


# Functions that only pointers lead to, and that return by what returns from an interrupt: they go on themselves, or go
# back to their caller. The CFA and RA at their start.
GOES_BACK = {
    "x86_64": ("""mov %ss, %eax\npush %rax\npush %rsp\naddq $8, (%rsp)\npushfq\nmov %cs, %eax\npush %rax\npush $1f
        iretq\n1: ret""", """lea 8(%rsp), %rdx\nmov (%rsp), %rcx\nmov %ss, %eax\npush %rax\npush %rdx\npushfq
        mov %cs, %eax\npush %rax\npush %rcx\niretq""", """pop %rcx\n.cfi_def_cfa_offset 0\n.cfi_register 16, 2
        mov %rsp, %rdx\nmov %ss, %eax\npush %rax\npush %rdx\npushfq\nmov %cs, %eax\npush %rax\npush %rcx\niretq"""),
    "aarch64": ("msr elr_el2, x30\nmov x1, #0x3c5\nmsr spsr_el2, x1\neret",
                "adr x1, 1f\nmsr elr_el1, x1\neret\n1: ret", "msr elr_el1, x30\neret"),
    "riscv64": ("csrw mepc, ra\nmret", "csrw sepc, ra\nli a0, 0\nsret", "lla a0, 1f\ncsrw mepc, a0\nmret\n1: ret"),
}
GOES_BACK["riscv32"] = GOES_BACK["riscv64"]


def goes_back(cpu):
    """CFI is believed of these."""
    by_cfi = {"x86_64": "r7+8 [cfa-8]", "aarch64": "r31+0 r30+0"}.get(cpu, "r2+0 r1+0")
    for text in GOES_BACK[cpu]:
        for base in {0, UPPER.get(cpu, 0)}:
            image = build(cpu, "%s/back-%s" % (WORK, cpu), [
                ".text", ".globl _start", "_start: nop", ".balign 16", ".type f, %function", "f: .cfi_startproc", text,
                ".cfi_endproc", ".size f, . - f"], "-Ttext=%#x" % (base + 0x10000))
            file = image + ".tables"
            said = gen("-v", "--address=0", "-o", file, image)[1]
            at = addresses_of(image)["f"]
            rows = " ".join(run(OUT + "/rows", file, hex(at), hex(at + 1))[0].split()[2:4])
            must(rows == by_cfi and "interrupt" not in said, "%s: %s: %s" % (text, rows, said))


# A function, and a helper that does a part of its prologue or epilogue and so moves its SP. The CFI does not follow: it
# has RA below SP, or counts from FP, which is the caller's again. At `at` it is wrong.
MOVED = {
    "x86_64": [("push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\nmov %rsp, %rbp\n.cfi_def_cfa 6, 16\n"
                "call helper\nat: ret", "pop %rcx\npop %rbp\njmp *%rcx")],
    "i386": [("push %ebp\n.cfi_def_cfa_offset 8\n.cfi_offset 5, -8\nmov %esp, %ebp\n.cfi_def_cfa 5, 8\n"
              "call helper\nat: ret", "pop %ecx\npop %ebp\njmp *%ecx")],
    "aarch64": [("paciasp\n.cfi_negate_ra_state\nstp x29, x30, [sp, #-32]!\nmov x29, sp\n.cfi_def_cfa 29, 32\n"
                 ".cfi_offset 29, -32\n.cfi_offset 30, -24\nbl OUTLINED_FUNCTION_EPILOG\nat: autiasp\nret",
                 "mov x16, x30\nldp x29, x30, [sp], #32\nret x16"),
                ("stp x29, x30, [sp, #-32]!\nbl helper\n.cfi_offset 30, -24\n.cfi_offset 29, -32\nat: nop\n"
                 "b OUTLINED_FUNCTION_EPILOG", "stp d9, d8, [sp, #-16]!\nret")],
    "riscv64": [("addi sp, sp, -32\nsd ra, 24(sp)\nsd s0, 16(sp)\naddi s0, sp, 32\n.cfi_def_cfa 8, 0\n"
                 ".cfi_offset 1, -8\n.cfi_offset 8, -16\njal helper\nat: ret",
                 "mv a5, ra\nld ra, 24(sp)\nld s0, 16(sp)\naddi sp, sp, 32\njr a5"),
                ("addi sp, sp, -32\nsd ra, 24(sp)\njal helper\n.cfi_offset 1, -8\nat: nop\nld ra, 40(sp)\n"
                 "addi sp, sp, 48\nret", "addi sp, sp, -16\nsd s1, 0(sp)\nret")],
}


def moved_by_callee(cpu, text, helper):
    """A callee moves SP and may have loaded FP and RA: what the CFI says behind its call is not believed."""
    image = build(cpu, "%s/moved-%s" % (WORK, cpu), [".text", ".globl _start", "_start: " + callers(cpu, ["f"])] + [
        "\n".join([".balign 16", ".type %s, %%function" % name, name + ": .cfi_startproc", code, ".cfi_endproc",
                   ".size %s, . - %s" % (name, name)]) for name, code in (
                       ("f", text), ("helper", helper), ("OUTLINED_FUNCTION_EPILOG", helper))])
    file = image + ".tables"
    said = gen("-v", "--address=0", "-o", file, image)[1]
    at = addresses_of(image)["at"]
    rows = run(OUT + "/rows", file, hex(at), hex(at + 1))[0].split()[2:]
    must(not rows, "%s: %s" % (" ".join(rows), said))


# i386: `pusha; handler(); popa; leave; iret` as statements in C, where the compiler has left the arguments of the call
# on the stack, so that `popa` takes a wrong FP: nothing tells where `iret` finds what the CPU has pushed.
TAKES_WRONG = "sub $12, %esp\n.cfi_adjust_cfa_offset 12\npusha" + "\npush $0\n.cfi_adjust_cfa_offset 4" * 4 + """
call handler\npopa\nleave\niret\nadd $28, %esp\n.cfi_adjust_cfa_offset -28\nret"""


def takes_wrong(cpu):
    """A function that begins as no compiler's does, and that returns from an interrupt somewhere, was not called,
    unless a call of it is seen. One without such a beginning may go on in a program, and keeps its CFI."""
    for text, called, known in ((TAKES_WRONG, False, False), (TAKES_WRONG, True, True),
                                (TAKES_WRONG.replace("pusha", "sub $32, %esp"), False, True)):
        image = build(cpu, "%s/wrong-%s" % (WORK, cpu), [
            ".text", ".globl _start", "_start: " + callers(cpu, ["handler"] + ["f"] * called), ".balign 16",
            ".type handler, %function", "handler: .cfi_startproc", "ret", ".cfi_endproc", ".size handler, . - handler",
            ".balign 16", ".type f, %function", "f: .cfi_startproc", text, ".cfi_endproc", ".size f, . - f"])
        file = image + ".tables"
        said = gen("-v", "--find", "--address=0", "-o", file, image)[1]
        at = addresses_of(image)["f"]
        rows = " ".join(run(OUT + "/rows", file, hex(at), hex(at + 1))[0].split()[2:4])
        must((rows == "r4+4 [cfa-4]") == known, "%s, called: %s: %s: %s" % (text, called, rows, said))
        must(known == ("f (0x%x) has no rows: its CFI says that it is called, but it returns from an interrupt" % at
                       not in said), said)


def named_by_gate(cpu):
    """A gate may have the address of a function in C that never returns, which nothing shows. Its CFI does not count
    where the user names it, unless it returns or is called."""
    push, pop = ("sub $24, %rsp\n.cfi_adjust_cfa_offset 24", "add $24, %rsp") if cpu == "x86_64" else (
        "sub $12, %esp\n.cfi_adjust_cfa_offset 12", "add $12, %esp")
    for calls, stops, used in ((["stops"], True, True), (["stops", "f"], True, False), (["stops"], False, False)):
        image = build(cpu, "%s/gate-%s" % (WORK, cpu), [
            ".text", ".globl _start", "_start: " + callers(cpu, calls), ".balign 16", ".type stops, %function",
            "stops: .cfi_startproc", "1: hlt\njmp 1b" if stops else "ret", ".cfi_endproc", ".size stops, . - stops",
            ".balign 16", ".type f, %function", "f: .cfi_startproc", push, "call stops", "2: " + pop, "ret",
            ".cfi_endproc", ".size f, . - f", ".data", ".long f" if cpu == "i386" else ".quad f"])
        for kind, row in (("trap", "r4+24 [cfa-12]"), ("error", "r4+28 [cfa-12]")):
            file = image + ".tables"
            said = gen("--address=0", "-o", file, "--entry=f:" + kind, image)[1]
            must(used == ("is not used" not in said and "it cannot be that" not in said), said)
            if used and cpu == "i386":
                at = addresses_of(image)["f"] + 7
                rows = " ".join(run(OUT + "/rows", file, hex(at), hex(at + 1))[0].split()[2:4])
                must(rows == row, "%s: %s" % (kind, rows))


GATES = r"""
struct gate {
    unsigned short low, selector; unsigned char ist, type; unsigned short middle; HIGH
} __attribute__((packed));
static struct gate idt[256];
volatile int out;
FILL void set_gate(int n, void (*f)(void), unsigned char type) {
    unsigned long addr = (unsigned long)f;
    idt[n].low = addr & 0xffff; idt[n].selector = 8; idt[n].type = type; idt[n].middle = (addr >> 16) & 0xffff;
    REST
}
void endless(void) { out = 1; for (;;) __asm__ volatile("hlt"); }
void jumped_to(void) { out = 2; for (;;) __asm__ volatile("hlt"); }
void thread(void) { out = 3; for (;;) __asm__ volatile("hlt"); }
void called(void) { out = 4; for (;;) __asm__ volatile("hlt"); }
void returns(void);
void stub(void);
__asm__(".globl stub\nstub: cli\njmp jumped_to\n.globl returns\nreturns: push %eax_\ncall work\npop %eax_\niret_");
void work(void) { out = 5; }
void (*volatile start)(void);
void _start(void) {
    struct { unsigned short limit; void *base; } __attribute__((packed)) idtr = {sizeof idt - 1, idt};
    set_gate(13, endless, 0x8e); set_gate(3, stub, 0x8e); set_gate(32, returns, 0x8e);
    __asm__ volatile("lidt %0" : : "m"(idtr));
    start = thread; start(); called();
}
"""


def gates(cpu, level, fills):
    """Code that fills a gate shows that the CPU enters there: a function in C, which then never returns, has no rows,
    and is named; nor has a function that such code jumps to. A thread's function is not put into a gate."""
    wide = cpu == "x86_64"
    text = GATES.replace("FILL", "__attribute__((noinline))" if fills == "a function" else "static inline")
    text = text.replace("HIGH", "unsigned high, zero;" if wide else "").replace(
        "REST", "idt[n].high = addr >> 32;" if wide else "").replace("%eax_", "%rax" if wide else "%eax").replace(
            "iret_", "iretq" if wide else "iret")
    image = "%s/gates-%s-%s" % (WORK, cpu, level)
    write(image + ".c", text.encode())
    run("gcc", "-m64" if wide else "-m32", "-" + level, "-ffreestanding", "-mno-red-zone", "-fcf-protection=none",
        "-fno-pic", "-fno-stack-protector", "-fasynchronous-unwind-tables", "-nostdlib", "-static", "-no-pie",
        "-Wl,-Ttext=0x100000", image + ".c", "-o", image)
    at = addresses_of(image)
    for how in ([], ["--small"]):
        said = gen("--address=0", "-o", image + ".tables", "--find", *how, image)[1]
        must("endless (0x%x) has no rows: its address is put into a gate" % at["endless"] in said, said)
        for name, has in (("endless", False), ("jumped_to", False), ("thread", True), ("called", True),
                          ("returns", True)):
            row = run(OUT + "/rows", image + ".tables", hex(at[name]), hex(at[name] + 1))[0].split()[2:]
            must((row != []) == has, "%s: %s: %s" % (name, row, said))
    said = gen("--address=0", "-o", image + ".tables", "--find", "--entry=endless:error", image)[1]
    row = run(OUT + "/rows", image + ".tables", hex(at["endless"]), hex(at["endless"] + 1))[0].split()[2:]
    must(row != [] and "into a gate" not in said, said)


GATE_TABLES = r"""
struct gate {
    unsigned short low, selector; unsigned char ist, type; unsigned short middle; HIGH
} __attribute__((packed));
static struct gate idt[256];
volatile int out;
FILL void set_gate(int n, unsigned long addr, unsigned char type) {
    idt[n].low = addr & 0xffff; idt[n].selector = 8; idt[n].type = type; idt[n].middle = (addr >> 16) & 0xffff;
    REST
}
#define ENDLESS(name, n) void name(void) { out = n; for (;;) __asm__ volatile("hlt"); }
ENDLESS(divide, 1) ENDLESS(debug, 2) ENDLESS(page_fault, 3) ENDLESS(double_fault, 4) ENDLESS(by_stub, 5)
ENDLESS(by_stub_too, 6) ENDLESS(thread, 7) ENDLESS(idle, 8)
void stub(void);
void stub_too(void);
__asm__(".globl stub\nstub: cli\njmp by_stub\n.globl stub_too\nstub_too: cli\njmp by_stub_too");
void (*const table[])(void) = {divide, debug, stub};
struct exception { unsigned char n, type; void (*f)(void); };
static const struct exception exceptions[] = {
    {14, 0x8e, page_fault}, {8, 0x8e, double_fault}, {9, 0x8e, stub_too}};
void (*threads[])(void) = {thread, idle};
void (*volatile created)(void);
__attribute__((noinline)) void create(void (*f)(void)) { created = f; }
void fill(void) {
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) set_gate(i, (unsigned long)table[i], 0x8e);
}
void fill_from(const struct exception *e, int num) {
    for (; num > 0; e++, num--) set_gate(e->n, (unsigned long)e->f, e->type);
}
void _start(void) {
    struct { unsigned short limit; void *base; } __attribute__((packed)) idtr = {sizeof idt - 1, idt};
    for (unsigned i = 0; i < 2; i++) create(threads[i]);
    fill(); fill_from(exceptions, sizeof exceptions / sizeof *exceptions);
    __asm__ volatile("lidt %0" : : "m"(idtr));
    for (unsigned i = 0; ; i++) threads[i & 1]();
}
"""


def gate_tables(cpu, compiler, level, fills):
    """The same if a loop fills gates from a table of addresses, or of structures that have them. Functions in another
    table have rows. Without symbols a label of assembly is no code that is known, and one table may seem to go on in
    the next one."""
    wide = cpu == "x86_64"
    text = GATE_TABLES.replace("FILL", "__attribute__((noinline))" if fills == "a function" else "static inline")
    text = text.replace("HIGH", "unsigned high, zero;" if wide else "").replace(
        "REST", "idt[n].high = addr >> 32;" if wide else "")
    image = "%s/gate-tables-%s-%s-%s" % (WORK, cpu, compiler, level)
    write(image + ".c", text.encode())
    run(compiler, "-m64" if wide else "-m32", "-" + level, "-ffreestanding", "-mno-red-zone", "-fcf-protection=none",
        "-fno-pic", "-fno-stack-protector", "-fasynchronous-unwind-tables", "-nostdlib", "-static", "-no-pie",
        "-Wl,-Ttext=0x100000", image + ".c", "-o", image)
    at = addresses_of(image)
    run("strip", image, "-o", image + ".stripped")
    for form in (image, image + ".stripped"):
        said = gen("--address=0", "-o", image + ".tables", "--find", "-v", form)[1]
        others = (("by_stub", False), ("by_stub_too", False), ("thread", True), ("idle", True))
        for name, has in (("divide", False), ("debug", False), ("page_fault", False), ("double_fault", False),
                          *(others if form == image else ())):
            row = run(OUT + "/rows", image + ".tables", hex(at[name]), hex(at[name] + 1))[0].split()[2:]
            must((row != []) == has, "%s: %s: %s" % (name, row, said))
            must(has or "0x%x" % at[name] in said, "%s is not named: %s" % (name, said))


# `blx` in the place of `bx`: a function that returns so, and one that calls what LR has.
CALLS_BACK = """.syntax unified
.%s
.globl _start, leaf, frame, other, calls
.type _start, %%function\n_start: bl leaf\nbl frame\nbl other\nbl calls\nb .\n.size _start, . - _start
.type leaf, %%function\nleaf: adds r0, r0, #1\nblx lr\n.size leaf, . - leaf
.type frame, %%function\nframe: push {r4, lr}\nbl leaf\npop {r4, lr}\nblx lr\n.size frame, . - frame
.type other, %%function\nother: push {r4, lr}\nbl leaf\npop {r4, r12}\nblx r12\n.size other, . - other
.type calls, %%function\ncalls: push {r4, lr}\nmov lr, r0\nblx lr\npop {r4, pc}\n.size calls, . - calls
"""
CALLED_BACK = { # by lines: SP's distance from the CFA, and where RA is, or nothing
    "leaf": (("r13+0", "r14+0"),) * 2,
    "frame": (("r13+0", "r14+0"), ("r13+8", "[cfa-4]"), ("r13+8", "[cfa-4]"), ("r13+0", "r14+0")),
    # So clone's child calls a function, with a word of its own stack.
    "other": (("r13+0", "r14+0"), ("r13+8", "[cfa-4]"), ("r13+8", "[cfa-4]"), ()),
    "calls": (("r13+0", "r14+0"), ("r13+8", "[cfa-4]"), ("r13+8", "[cfa-4]"), ("r13+8", "[cfa-4]")),
}


def calls_back(code):
    """A call of where the function returns to is a return, if LR has it; one of what LR has got otherwise is a call."""
    image = "%s/calls-back-%s" % (WORK, code)
    write(image + ".S", (CALLS_BACK % code).encode())
    run("arm-none-eabi-gcc", "-march=armv7-a", "-nostdlib", "-Wl,-Ttext=0x8000", image + ".S", "-o", image)
    at = addresses_of(image)
    said = gen("--address=0", "-o", image + ".tables", "--find", image)[1]
    for name, lines in CALLED_BACK.items():
        start = at[name] & ~1
        places = [int(pc, 16) for pc in re.findall(
            r"(?m)^ *([0-9a-f]+):\t", run("arm-none-eabi-objdump", "-d", image)[0]) if int(pc, 16) >= start]
        for pc, expected in zip(places, lines):
            row = run(OUT + "/rows", image + ".tables", hex(pc), hex(pc + 1))[0].split()[2:]
            must(row[:2] == list(expected), "%s at 0x%x: %s: %s" % (name, pc, row, said))


ARM_VECTORS = r"""
volatile int out;
__attribute__((noinline)) int print(int a) { return a + out; }
#define ENDLESS(name, n) void name(void) { print(n); for (;;) out++; }
ENDLESS(undefined, 1) ENDLESS(supervisor, 2) ENDLESS(prefetch_abort, 3) ENDLESS(thread, 4)
__attribute__((interrupt("ABORT"))) ENDLESS(data_abort, 5)
__attribute__((interrupt("FIQ"))) ENDLESS(fast, 6)
__attribute__((interrupt("IRQ"))) void irq(void) { print(7); }
__attribute__((noinline, noreturn)) ENDLESS(panic, 8)
void (*volatile start)(void) = thread;
int main(void) { start(); if (out) panic(); return print(9); }
__asm__(".section .vectors,\"ax\"\n.syntax unified\n" MODE "\n.globl vectors\nvectors: b" WIDE " reset\nb" WIDE
        " undefined\nldr" WIDE " pc, 1f\nldr" WIDE " pc, =prefetch_abort\nb" WIDE " data_abort\nb" WIDE
        " panic\nb" WIDE " irq\nb" WIDE " fast\n1: .word supervisor\n.ltorg\n.globl reset\n.type reset, %function\n"
        "reset: ldr r0, =0x90000\nmov sp, r0\nbl main\nb .\n.text\n");
"""


def arm_vectors(code, vectors, level):
    """What ARM's vectors lead to was not called: a function in C, or one that is entered by an interrupt, which then
    never return, have no rows, and are named. One that is called, too, has none: nothing tells which has been. A
    thread's function is called."""
    image = "%s/vectors-%s-%s-%s" % (WORK, code, vectors, level)
    write(image + ".c", ARM_VECTORS.encode())
    run("arm-none-eabi-gcc", "-march=armv7-a", "-m" + code, "-" + level, "-g", "-ffreestanding", "-nostdlib",
        "-DMODE=\".%s\"" % vectors, "-DWIDE=\"%s\"" % (".w" if vectors == "thumb" else ""),
        "-Wl,--section-start=.vectors=0x8000,-Ttext=0x8100,-e,reset", image + ".c", "-o", image)
    at = addresses_of(image)
    for how in ([], ["--find"]):
        said = gen("--address=0", "-o", image + ".tables", "-v", *how, image)[1]
        for name in ("undefined", "supervisor", "prefetch_abort", "data_abort", "fast", "irq", "panic", "thread"):
            row = run(OUT + "/rows", image + ".tables", hex(at[name] & ~1), hex((at[name] & ~1) + 1))[0].split()[2:]
            must((row != []) == (name == "thread"), "%s: %s: %s" % (name, row, said))
            must(row != [] or " %s (0x" % name in said or " %s+0x0 (0x" % name in said, "%s: %s" % (name, said))


# A call by a register that has an address, and what never comes back: it goes on where a frame of an interrupt says.
FAR_CALLS = {
    "x86_64": ("movabs $leave, %rax\ncall *%rax", "mov %rdi, %rsp\npop %rax\niretq"),
    "i386": ("mov $leave, %eax\ncall *%eax", "mov 4(%esp), %esp\npop %eax\niret"),
    "aarch64": ("adr x1, leave\nblr x1", "ldp x1, x2, [x0]\nmsr elr_el1, x1\nmov sp, x2\neret"),
    "riscv64": ("lla t1, leave\njalr t1", "ld t0, 0(a0)\ncsrw sepc, t0\nld sp, 8(a0)\nsret"),
    "riscv32": ("lla t1, leave\njalr t1", "lw t0, 0(a0)\ncsrw sepc, t0\nlw sp, 8(a0)\nsret"),
    "arm": ("ldr r3, =leave\nblx r3", "mov sp, r0\npop {r0}\nrfeia sp!"),
    "thumb": ("ldr r3, =leave + 1\nblx r3", "mov sp, r0\n1: b 1b"),
    "s390x": ("larl %r1, leave\nbasr %r14, %r1", "lgr %r15, %r2\nlpswe 0(%r15)")}


def far_calls(cpu):
    """What a register calls whose number is known is called, as it is where code may be far away (-mcmodel=large)."""
    call, text = FAR_CALLS[cpu]
    ra, row = {"x86_64": ("rip", "r7+8 [cfa-8]"), "i386": ("eip", "r4+4 [cfa-4]"), "aarch64": ("x30", "r31+0 r30+0"),
               "arm": ("lr", "r13+0 r14+0"), "thumb": ("lr", "r13+0 r14+0"), "s390x": ("r14", "r15+160 r14+0")}.get(
                   cpu, ("ra", "r2+0 r1+0"))
    image = build(cpu, "%s/far-calls-%s" % (WORK, cpu), [
        ".text", ".globl _start", "_start: .cfi_startproc", ".cfi_undefined " + ra, call, "1: %s 1b" % (
            {"x86_64": "jmp", "i386": "jmp"}.get(cpu, "b" if cpu == "aarch64" or cpu in ARM else "j")), ".cfi_endproc",
        ".ltorg" if cpu in ("aarch64", *ARM) else "", ".balign 16", "leave: " + text], "-Ttext=0xc0100000")
    said = gen("-v", "--find", "--address=0", "-o", image + ".tables", image)[1]
    at = addresses_of(image)["leave"]
    rows = run(OUT + "/rows", image + ".tables", hex(at), hex(at + 1))[0].split()[2:4]
    must(" ".join(rows) == row and "leave (" not in said, "%s: %s" % (rows, said))


# What a register has that is called by it: one of two addresses; one in the middle of the function, which nothing else
# leads to; one that is not in the image. What is behind the call has the function's frame.
UNSURE_CALLS = {
    "of two": "lea leave(%rip), %rax\ntest %edi, %edi\nje .Lcall\nlea stays(%rip), %rax\n.Lcall: ",
    "its own": "lea .Linner(%rip), %rax\n",
    "far away": "movabs $0x7fff00001000, %rax\n"}


def unsure_calls(text):
    """A call by a register that has no address of a function, or several of them, is a call of any function."""
    image = build("x86_64", "%s/unsure-calls-%s" % (WORK, text.split()[-1]), [
        ".text", ".globl _start", "_start: .cfi_startproc", ".cfi_undefined rip", "call caller", "1: jmp 1b",
        ".cfi_endproc", ".type caller, @function", "caller: push %rbx", UNSURE_CALLS[text] + "call *%rax",
        "mov %eax, %edi", ".set length, . - caller", "pop %rbx", "ret", ".Linner: mov $3, %eax", "cmp %edi, %eax",
        "je .Lback", "inc %eax", ".Lback: ret", ".size caller, . - caller", ".balign 16", "leave: mov %rdi, %rsp",
        "pop %rax", "iretq", ".type stays, @function", "stays: mov %edi, %eax", "ret", ".size stays, . - stays"])
    said = gen("-v", "--find", "--address=0", "-o", image + ".tables", image)[1]
    at = addresses_of(image)
    rows = run(OUT + "/rows", image + ".tables", hex(at["caller"] + 1), hex(at["caller"] + at["length"]))[0]
    must([row.split()[2:4] for row in rows.splitlines()] == [["r7+16", "[cfa-8]"]] and "caller+" not in said,
         "%s: %s" % (rows, said))


def short_vectors():
    """Functions have taken the place of the last of aarch64's vectors: they are none, whatever their addresses."""
    text = "sub sp, sp, #16\n.cfi_def_cfa_offset 16\n%sadd sp, sp, #16\n.cfi_def_cfa_offset 0\nret" % ("nop\n" * 32)
    lines = [".text", ".globl _start", "_start:", callers("aarch64", ["first"])]
    for align, name, body in ((16, "first", "adr x0, vectors\nmsr vbar_el1, x0\nb ."), (2048, "vectors", "b ."),
                              (128, "irq", "b ."), (128, "long", text), (128, "short", "ret")):
        lines += [".balign %d" % align, ".type %s, %%function" % name, name + ":", ".cfi_startproc", body,
                  ".cfi_endproc", ".size %s, . - %s" % (name, name)]
    image = build("aarch64", WORK + "/short-vectors", lines, "-Ttext=0x8000")
    file, where = image + ".tables", addresses_of(image)
    gen("-q", "--address=0", "-o", file, image)
    for name, known in (("vectors", False), ("irq", False), ("long", True), ("short", True)):
        rows = run(OUT + "/rows", file, hex(where[name]), hex(where[name] + 1))[0].split()[2:3]
        must((rows == ["r31+0"]) == known, "%s: %s" % (name, rows))


# What a function with a frame pointer does, and the rules of CFA, RA and FP behind it.
JUDGED = {
    "SP is from elsewhere, and RA's slot is overwritten": ("mov %rsp, %rbp\n.cfi_def_cfa_register 6\nmov (%rdi), %rsp\n"
                                                          "movq $0, 8(%rbp)", []),
    "FP's slot, at SP, is overwritten, and FP still has it": ("movq $0, (%rsp)", ["r7+16", "[cfa-8]", "r6+0"]),
    "FP's slot is below SP, and FP has it again": ("pop %rbp\n.cfi_def_cfa_offset 8\nmovq $0, -8(%rsp)",
                                                  ["r7+8", "[cfa-8]", "r6+0"]),
    "another slot below SP": ("pop %rbp\n.cfi_def_cfa_offset 8\n.cfi_offset 6, -24", ["r7+8", "[cfa-8]", "r6+0"])}


def judged_by_code(how):
    text, wanted = JUDGED[how]
    image = build("x86_64", WORK + "/judged", [
        ".text", ".globl _start", "_start: call f", ".type f, @function", "f: .cfi_startproc", "push %rbp",
        ".cfi_def_cfa_offset 16", ".cfi_offset 6, -16", text, "here: nop", "1: jmp 1b", ".cfi_endproc",
        ".size f, . - f"])
    gen("-q", "--address=0", "-o", image + ".tables", image)
    at = addresses_of(image)["here"]
    row = run(OUT + "/rows", image + ".tables", hex(at), hex(at + 1))[0].split()[2:]
    must(row == wanted, str(row))


def structure_is_no_stack():
    """RISC-V: an entry stores the PC in a structure that a register points to, and has the PC in another register, too.
    Rows do not read the structure, because it lies on no stack."""
    image = build("riscv64", WORK + "/structure", [
        ".text", ".globl _start", "_start: la t0, entry", "csrw stvec, t0", "1: j 1b", ".balign 4",
        "entry: csrrw a0, sscratch, a0", "sd ra, 40(a0)", "sd sp, 48(a0)", "sd t0, 72(a0)", "csrr t0, sepc",
        "sd t0, 24(a0)", "stored: nop", "lost: li t0, 0", "li t1, 0", "csrrw a0, sscratch, a0", "sret"])
    gen("-q", "--find", "--address=0", "-o", image + ".tables", image)
    where = addresses_of(image)
    for name, wanted in ("stored", ["r2+0", "r5+0", "r8+0"]), ("lost", ["r2+0", "r5+0", "r8+0"]):
        row = run(OUT + "/rows", image + ".tables", hex(where[name]), hex(where[name] + 1))[0].split()[2:]
        must(row == wanted, "%s: %s" % (name, row))
    row = run(OUT + "/rows", image + ".tables", hex(where["lost"] + 4), hex(where["lost"] + 5))[0].split()[2:]
    must(row == [], str(row))


def pieces_of_functions(name):
    """--entry=*:call names no piece that compilers put elsewhere: its function jumps there, in its frame."""
    image = build("x86_64", "%s/piece-%s" % (WORK, name), [
        ".text", ".globl _start", "_start: call f", "1: jmp 1b", ".type f, @function", "f: push %rbx",
        "test %edi, %edi", "je " + name, "2: pop %rbx", "ret", ".size f, . - f", '.section .text.other, "ax"',
        ".type %s, @function" % name, name + ": call g", "jmp 2b", ".size %s, . - %s" % (name, name),
        ".type g, @function", "g: ret", ".size g, . - g"])
    gen("-q", "--derive", "--entry=*:call", "--address=0", "-o", image + ".tables", image)
    at = addresses_of(image)[name]
    row = run(OUT + "/rows", image + ".tables", hex(at), hex(at + 1))[0]
    must(row.split()[2:4] == ["r7+16", "[cfa-8]"], row)


SLOT = ("sub sp, sp, #16\nmrs x0, elr_el1\nstr x0, [sp]\nbl f\n"
        "%sldr x0, [sp]\nmsr elr_el1, x0\nadd sp, sp, #16\neret")


def last_vector(behind, sets="adr x0, vectors"):
    """The last of aarch64's vectors may end where the section does, and other code may begin behind its own."""
    lines = [".text", ".globl _start", "_start: " + sets, "msr vbar_el1, x0", "b .", ".balign 2048", "vectors:",
             ".rept 15", ".balign 128", SLOT % "", ".endr", ".balign 128", "last: " + SLOT % behind,
             '.section .text.f, "ax"', ".type f, %function", "f: .cfi_startproc", "ret", ".cfi_endproc",
             ".size f, . - f"]
    image = build("aarch64", WORK + "/last-vector", lines)
    said = gen("-v", "--find", "--size", image)[1]
    for at in 0, 0x80, 0x700, 0x780:
        must(re.search(r" \(0x%x\): entered as .*VBAR is set" % (addresses_of(image)["vectors"] + at), said), said)


# What a hypervisor does when a guest is interrupted: it takes a stack of its own, and leaves the guest's PC in ELR_EL2.
LEAVES = "mrs x0, tpidr_el2\nmov sp, x0\nbl f\nb ."
# aarch64's vectors by their offset: the code there, and what a row at its call of f says ("Arm Architecture Reference
# Manual", "Exception vectors": from 0x400 on a lower exception level was interrupted).
LEVELS = {0x000: (LEAVES, []), 0x200: (LEAVES, []), 0x280: ("b shared", None), 0x400: (LEAVES, ["outermost"]),
          0x480: ("b shared", None), 0x600: (LEAVES, ["outermost"]),
          0x680: ("sub sp, sp, #16\nmrs x0, elr_el2\nmrs x1, sp_el0\nstp x0, x1, [sp]\nbl f\nb .",
                  ["[r31+8]", "[r31+0]"])}


def lower_levels():
    """Where no row can say what a lower exception level did, the trace ends at its entry, complete. An entry of the
    same level has no row there, nor code that both share."""
    lines = [".text", ".globl _start", "_start: adr x0, vectors", "msr vbar_el2, x0", "b ."]
    for at in range(0, 0x800, 128):
        text = LEVELS[at][0] if at in LEVELS else "b ."
        lines += [".balign 2048\nvectors:" if at == 0 else ".balign 128",
                  text.replace("bl f", "call_%x: bl f" % at)]
    image = build("aarch64", WORK + "/lower-levels", lines + [
        "shared: " + LEAVES.replace("bl f", "call_shared: bl f"), ".type f, %function", "f: .cfi_startproc", "ret",
        ".cfi_endproc", ".size f, . - f"])
    gen("-q", "--find", "--address=0", "-o", image + ".tables", image)
    where = addresses_of(image)
    for name, wanted in [("%x" % at, row) for at, (_, row) in LEVELS.items() if row is not None] + [("shared", [])]:
        at = where["call_" + name]
        row = run(OUT + "/rows", image + ".tables", hex(at), hex(at + 1))[0].split()[2:4]
        must(row == wanted or (row[:1] == wanted == ["outermost"]), "%s: %s" % (name, row))


# Entries that call, and have where they came from in a register of the CPU or in the low core alone; and what to do.
BARE_CALLS = {
    "aarch64": ("sub sp, sp, #16\nbl f\nadd sp, sp, #16\neret", "stack in front of the call"),
    "riscv64": ("addi sp, sp, -16\ncall f\naddi sp, sp, 16\nmret", "stack in front of the call"),
    "s390x": ("stmg %r0, %r15, 0x200\nlarl %r15, area\nbrasl %r14, f\nlmg %r0, %r15, 0x200\nlpswe 0x150",
              "copy it, and the SP that was stored there, to the stack in front of the call")}


def bare_call(cpu):
    """sfu-gen says of the call what the entry has to do for a row, and of the rest why it has none."""
    text, remedy = BARE_CALLS[cpu]
    image = build(cpu, "%s/bare-call-%s" % (WORK, cpu), [
        ".text", ".globl _start", "_start:", callers(cpu, ["f"]), ".balign 16", "entry: " + text,
        ".type f, %function", "f: .cfi_startproc", RETURN.get(cpu, "ret"), ".cfi_endproc", ".size f, . - f",
        ".comm area, 512"])
    said = gen("--derive", "--entry=entry", "--size", image)[1]
    lines = [line for line in said.splitlines() if "entry+" in line]
    must(len(lines) > 1 and remedy not in lines[0] and sum(remedy in line for line in lines) == 1, said)


def started(cpu):
    """--entry=F:start ends traces in all of a function with CFI, and in its cold part; not if a call leads there. F may
    be a pattern."""
    frame, bytes_ = {"x86_64": ("push %rbx", 8), "i386": ("push %ebx", 4), "s390x": ("aghi %r15, -160", 160)}.get(
        cpu, ("addi sp, sp, -32" if cpu.startswith("riscv") else "sub sp, sp, #32", 32))
    call, jump = {"x86_64": ("call f", "jmp"), "i386": ("call f", "jmp"), "s390x": ("brasl %r14, f", "j")}.get(
        cpu, ("jal f", "j") if cpu.startswith("riscv") else ("bl f", "b"))
    texts = (("f", RETURN.get(cpu, "ret")),
             ("thread", "%s\n.cfi_adjust_cfa_offset %d\n%s\n%s thread.cold" % (frame, bytes_, call, jump)),
             ("thread.cold", ".cfi_adjust_cfa_offset %d\n%s\n1: %s 1b" % (bytes_, call, jump)))
    lines = [".type {0}, %function\n{0}: .cfi_startproc\n{1}\n.cfi_endproc\n.size {0}, . - {0}".format(name, text)
             for name, text in texts]
    for called, entry in ((False, "thread:start"), (False, "thr*:start"), (False, "th*d:start"), (True, "thread:start"),
                          (True, "thr*:start")):
        image = build(cpu, "%s/started-%s" % (WORK, cpu), [
            ".text", ".globl _start", "_start:", callers(cpu, ["f", "thread"] if called else ["f"]), ".balign 16",
            *lines, "end:", '.section .sfu_sframe, "a", %progbits\n.skip 512'])
        file, where = image + ".tables", addresses_of(image)
        where = {name: at & ~1 if cpu == "thumb" else at for name, at in where.items()}
        said = gen("--address=0", "-o", file, "--entry=" + entry, image, status=int(called))[1]
        if called:
            must("--entry=thread:start: it cannot be that, but :call: a call leads there" in said, said)
            continue
        for name, end, kind in (("f", "f", False), ("thread", "thread.cold", True), ("thread.cold", "end", True)):
            rows = run(OUT + "/rows", file, hex(where[name]), hex(max(where[end], where[name] + 1)))[0].splitlines()
            must(all((row.split()[2:3] == ["outermost"]) == kind for row in rows), "%s: %s" % (name, rows))
        must("is not used" not in said, said)
        gen("-q", "--derive", "--entry=" + entry, image)
        said = run("build/tools/sfu-lint", image)[0]
        must("wrong-" not in said and " better" in said, said)


# Start-up code: it takes a stack of its own, leaves an address to return to, and jumps.
BOOTS = {
    "x86_64": ("lea stack(%rip), %rsp", "lea hang(%rip), %rax\npush %rax", "jmp", "jmp"),
    "i386": ("mov $stack, %esp", "push $hang", "jmp", "jmp"),
    "aarch64": ("adr x0, stack\nmov sp, x0", "adr x30, hang", "b", "b"),
    "s390x": ("larl %r15, stack", "larl %r14, hang", "j", "j"),
    "riscv64": ("lla sp, stack", "lla ra, hang", "j", "j"),
    "riscv32": ("lla sp, stack", "lla ra, hang", "j", "j"),
    "arm": ("ldr r0, =stack\nmov sp, r0", "ldr lr, =hang", "b", "b"),
    "thumb": ("ldr r0, =stack\nmov sp, r0", "ldr r0, =hang\nmov lr, r0", "b.w", "b"),
}


def booted(cpu):
    """What start-up code with a stack of its own jumps to is outermost, whatever its CFI says; not if somebody calls
    it, or may do so by its address, or may have called the start-up code, or if that leaves an address to return to."""
    stack, address, jump, again = BOOTS[cpu]
    call = {"x86_64": "call", "i386": "call", "s390x": "brasl %r14,"}.get(
        cpu, "jal" if cpu.startswith("riscv") else "bl")
    ret, word = RETURN.get(cpu, "ret"), "quad" if cpu in ("x86_64", "aarch64", "s390x", "riscv64") else "long"
    for name, boot, calls, kind in (("jumps", stack, "g", True), ("as it was", "", "g", False),
                                    ("leaves", stack + "\n" + address, "g", False), ("called", stack, "main", False),
                                    ("addressed", stack, "g", False)):
        image = build(cpu, "%s/boots-%s" % (WORK, cpu), [
            ".text", ".globl _start", ".type _start, %function", "_start:", boot, jump + " main",
            ".size _start, . - _start", "hang: %s hang" % again, ".ltorg" if cpu in ("arm", "thumb") else "",
            *(".balign 8\n.type {0}, %function\n{0}: .cfi_startproc\n{1}\n.cfi_endproc\n.size {0}, . - {0}".format(*f)
              for f in (("main", "1: %s g\n%s 1b" % (call, again)), ("g", ret),
                        ("h", "%s %s\n%s" % (call, calls, ret)))),
            ".balign 16\n.skip 64\nstack:", '.section .sfu_sframe, "a", %progbits\n.skip 512',
            ".data\n.balign 8\n.%s main" % word if name == "addressed" else ""])
        file, where = image + ".tables", addresses_of(image)
        at = where["main"] & ~1 if cpu == "thumb" else where["main"]
        gen("-q", "--find", "--address=0", "-o", file, image)
        row = run(OUT + "/rows", file, hex(at), hex(at + 1))[0].split()[2:]
        must(row and (row == ["outermost"]) == kind, "%s: %s" % (name, row))
        gen("-q", "--find", image)
        said = run("build/tools/sfu-lint", image)[0]
        must("wrong-" not in said, "%s: %s" % (name, said))


def not_before(cpu):
    """A thread's first return address can be that of its own function. What is looked up then is the byte in front of
    it, the padding behind a function that nobody has called, and the trace must not end there as a complete one: there
    is no row, or one with RA in its register, that of the function's own start."""
    jump = {"x86_64": "jmp", "i386": "jmp", "s390x": "j"}.get(cpu, "j" if cpu.startswith("riscv") else "b")
    image = build(cpu, "%s/before-%s" % (WORK, cpu), [
        ".text", ".globl _start", ".type _start, %function", "_start: .cfi_startproc",
        ".cfi_undefined " + {"x86_64": "rip", "i386": "eip", "arm": "lr", "thumb": "lr", "s390x": "r14",
                             "aarch64": "x30"}.get(cpu, "ra"),
        "1: %s 1b" % jump, ".cfi_endproc", ".size _start, . - _start", ".balign 64",
        ".type thread, %%function\nthread: .cfi_startproc\n%s\n.cfi_endproc\n.size thread, . - thread" % RETURN.get(
            cpu, "ret"), '.section .sfu_sframe, "a", %progbits\n.skip 512'])
    file, where = image + ".tables", addresses_of(image)
    thread = where["thread"] & ~1 if cpu == "thumb" else where["thread"]
    gen("-q", "--small", "--address=0", "-o", file, image)
    first, padding, row = (run(OUT + "/rows", file, hex(at), hex(at + 1))[0].split()[2:]
                           for at in (where["_start"] & ~1, thread - 1, thread))
    must(first == ["outermost"] and row and (not padding or (cpu not in ("x86_64", "i386") and padding == row)),
         "%s, %s, %s" % (first, padding, row))


def addresses_of(image):
    return {name: int(at, 16) for at, name in re.findall(r"(?m)^([0-9a-f]+) \S (\S+)$", run(NM, image)[0])}


# Who is found to enter code without CFI, and what cannot be told: by names.
FOUND = {
    "x86_64": ("""first: mov $1, %edi\nlea boot_stack(%rip), %rsp
        mov $0xc0000082, %ecx\nlea fast(%rip), %rax\nmov %rax, %rdx\nshr $32, %rdx\nwrmsr
        mov $0x176, %ecx\nlea quick(%rip), %rax\nxor %edx, %edx\nwrmsr\ncall called\nhlt
        .type called, %function\ncalled: ret
        lone: push %rbp\nmov %rsp, %rbp\ncall called\npop %rbp\nret
        resumed: pop %rbx\npop %rbp\nret
        .type thread, %function\nthread: mov %rbp, %rdi\ncall *%rbx\nud2
        .type shifted, %function\nshifted: call needs\nud2
        .type needs, %function\nneeds: sub $8, %rsp\ncall called\nadd $8, %rsp\nret
        .type idles, %function\nidles: call called\njmp idles
        .type worker, %function\nworker: push %rbx\n1: call called\njmp 1b
        halted: cli\ncall called\nhlt
        second: mov kernel_stack(%rip), %rsp\ncall called\nhlt
        fatal: push $8\ncall called\n1: jmp 1b
        system: swapgs\nmov %rsp, %r10\nmov kernel_stack(%rip), %rsp\npush %r10\npush %rcx\npush %r11\ncall called
        pop %r11\npop %rcx\npop %rsp\nswapgs\nsysretq
        both: mov %rsp, saved(%rip)\nmov kernel_stack(%rip), %rsp\npush $0x23\npush saved(%rip)\npush %r11\npush $0x2b
        push %rcx\ncall called\ntest %eax, %eax\njz 1f\nmov (%rsp), %rcx\nmov 16(%rsp), %r11\nmov 24(%rsp), %rsp
        sysretq\n1: iretq
        fast: mov %rsp, saved(%rip)\nmov kernel_stack(%rip), %rsp\npush saved(%rip)\npush %rcx\ncall called\n1: jmp 1b
        quick: push %rcx\npush %rdx\ncall called\npop %rdx\npop %rcx\nsysexitq
        enters: mov %rdi, %rcx\nmov %rsi, %rsp\nmov $0x202, %r11\nsysretq
        goes: call called\npop %rcx\nsysretq
        forked: call called\ntest %rbx, %rbx\njz 1f\nmov %rbp, %rdi\ncall *%rbx\n1: pop %rax\npop %rbp\niretq
        begun: call called\nmov %rbp, %rdi\ncall *%rbx\npop %rcx\npop %r11\npop %rsp\nsysretq
        .data\nsaved: .quad 0\nkernel_stack: .quad 0\nboot_stack:""",
               {"lone": "call", "thread": "start", "worker": "call", "idles": "call", "needs": "call",
                "second": "start", "system": "syscall", "both": "syscall", "fast": "syscall", "quick": "start",
                "forked": "start", "begun": "start"},
               ("fatal", "shifted", "resumed", "goes", "halted")),
    "i386": ("""first: mov $1, %edi\nmov $boot_stack, %esp\nlgdt 0x1000\nljmp $8, $1f
        1: mov $0x176, %ecx\nmov $quick, %eax\nxor %edx, %edx\nwrmsr\ncall called\npush $3\ncall pops\nhlt
        quick: push %ecx\npush %edx\nsti\ncall called\npop %edx\npop %ecx\nsysexit
        .type called, %function\ncalled: ret
        .type pops, %function\npops: mov 4(%esp), %eax\nret $4
        lone: push %ebp\nmov %esp, %ebp\ncall called\npop %ebp\nret
        resumed: pop %ebx\npop %ebp\nret
        .type thread, %function\nthread: push %ebp\ncall *%ebx\nud2
        .type shifted, %function\nshifted: call called\nud2
        .type worker, %function\nworker: push %ebx\n1: call called\njmp 1b
        halted: cli\ncall called\nhlt
        second: mov kernel_stack, %esp\npush $8\npush $1f\nlret\n1: call called\nhlt
        fatal: push $8\ncall called\n1: jmp 1b
        halts: cli\ncall called\nhlt
        failed: pusha\ncall called\npopa\nadd $4, %esp\niret
        tick: pusha\npush %es\ncall called\npop %es\npopa\niret
        system: mov %esp, saved\nmov kernel_stack, %esp\npush saved\npush %ebp\ncall called\npop %ebp\npop %esp\niret
        enters: pushl $0x23\npush 8(%esp)\npushf\npush $0x1b\npush 20(%esp)\niret
        forked: call called\ntest %ebx, %ebx\njz 1f\npush %ebp\ncall *%ebx\n1: pop %eax\npop %ebp\niret
        .data\nsaved: .long 0\nkernel_stack: .long 0\nboot_stack:""",
             {"lone": "call", "thread": "start", "worker": "call", "second": "start", "failed": "error", "tick": "trap",
              "quick": "start", "forked": "start", "shifted": "call"},
             ("fatal", "resumed", "system", "enters", "halted", "halts")),
    "aarch64": ("""first: adr x0, vectors\nmsr vbar_el1, x0\nmov sp, x1\nbl called\nb .
        .type called, %function\ncalled: ret
        .type thread, %function\nthread: mov x0, x20\nblr x19\nb .
        forked: bl called\ncbz x19, 1f\nmov x0, x20\nblr x19\n1: ldp x0, x30, [sp], #16\neret
        boot: adr x0, booted\nmsr elr_el3, x0\neret
        booted: mov x1, #0x80000\nmov sp, x1\nbl called\nldr x2, [x3]\nbr x2
        goes: mov sp, x1\nbr x0
        keeps: mov x9, sp\nmov x1, #0x80000\nmov sp, x1\nbr x0
        lone: stp x29, x30, [sp, #-16]!\nbl called\nldp x29, x30, [sp], #16\nret
        resumed: ldp x29, x30, [sp], #16\nret
        .balign 2048\nvectors: b same\n.balign 128\n.skip 384\nb same\n.balign 128\n.skip 384\nb same\n.balign 2048
        same: stp x0, x30, [sp, #-16]!\nbl called\nldp x0, x30, [sp], #16\neret""",
                {"lone": "call", "thread": "start", "forked": "start", "boot": "start", "vectors": "sp0",
                 "vectors+0x200": "trap", "vectors+0x400": "lower"}, ("resumed",)),
    "riscv64": ("""first: lla t0, vectors + 1\ncsrw mtvec, t0\nlla sp, first\ncall called\nj .
        .type called, %function\ncalled: ret
        .type thread, %function\nthread: mv a0, s1\njalr s0\nj .
        lone: addi sp, sp, -16\nSTORE ra, 0(sp)\ncall called\nLOAD ra, 0(sp)\naddi sp, sp, 16\nret
        resumed: LOAD ra, 0(sp)\naddi sp, sp, 16\nret
        .option norvc\n.balign 64\nvectors: j fault\nj tick\n.option rvc
        fault: addi sp, sp, -16\nSTORE a0, 0(sp)\n1: j 1b
        tick: csrrw sp, mscratch, sp\ncall called\n1: j 1b
        forked: call called\nbeqz s0, 1f\nmv a0, s1\njalr s0\n1: LOAD ra, 0(sp)\naddi sp, sp, 16\nmret
        above: auipc sp, 1\naddi sp, sp, 64\ncall called\nj .
        below: auipc sp, 1\naddi sp, sp, -64\ncall called\nj .
        loaded: auipc sp, 1\nLOAD sp, 64(sp)\ncall called\nj .""",
                {"lone": "call", "thread": "start", "forked": "start", "vectors": "trap", "vectors+0x4": "scratch",
                 "above": "start", "below": "start", "loaded": "start"},
                ("resumed",)),
    "s390x": (""".data\n.balign 8\npsws: .quad 0x180000000, external, 0x2000180000000, waits
        .quad 0x80000000, narrow\n.text
        first: larl %r1, program\nstg %r1, 0x1d8\nlarl %r1, psws\nmvc 0x1b0(48), 0(%r1)
        larl %r15, first\nbrasl %r14, called\nj .
        .type called, %function\ncalled: br %r14
        .type thread, %function\nthread: lgr %r2, %r7\nbasr %r14, %r6\nj .
        forked: brasl %r14, called\nltgr %r6, %r6\nje 1f\nlgr %r2, %r7\nbasr %r14, %r6\n1: lmg %r0, %r15, 160(%r15)
        lpswe 640
        lone: stmg %r14, %r15, 112(%r15)\naghi %r15, -160\nbrasl %r14, called\nlmg %r14, %r15, 272(%r15)\nbr %r14
        resumed: lmg %r6, %r15, 48(%r15)\nbr %r14
        program: stmg %r0, %r15, 512\naghi %r15, -304\nbrasl %r14, called\nj .
        external: stmg %r0, %r15, 512\naghi %r15, -304\nbrasl %r14, called\nj .
        above: larl %r15, first\naghi %r15, 96\nbrasl %r14, called\nj .
        waits: stmg %r0, %r15, 512\naghi %r15, -304\nbrasl %r14, called\nj .
        narrow: stmg %r0, %r15, 512\naghi %r15, -304\nbrasl %r14, called\nj .""",
              {"lone": "call", "thread": "start", "forked": "start", "program": "trap", "external": "trap",
               "above": "start"}, ("resumed", "waits", "narrow")),
}
FOUND["riscv32"] = FOUND["riscv64"]


# Between an entry's pushes and its pops: SP is stored or handed to a function, which gives back that of another
# thread, and what is pushed for that call stays there.
SCHEDULED = {
    "x86_64": ("mov %rsp, %rdi\ncall next\nmov %rax, %rsp", "mov %rsp, kept(%rip)\ncall next\nmov kept(%rip), %rsp",
               "mov %rsp, kept(%rip)\npush $7\ncall next\nmov kept(%rip), %rsp",
               "mov %rsp, %rdi\nsub $8, %rsp\ncall next\nmov %rax, %rsp",
               "mov %rsp, %rdi\npush $7\ncall next\nmov %rax, %rsp",
               "mov %rsp, %rdi\nlea 16(%rsp), %rsi\ncall next\nmov %rax, %rsp",
               "mov kept(%rip), %rbx\nmov %rsp, 16(%rbx)\nsub $8, %rsp\ncall next\nmov kept(%rip), %rbx\n"
               "mov 16(%rbx), %rsp"),
    "i386": ("mov %esp, %eax\ncall next\nmov %eax, %esp", "push %esp\ncall next\nmov %eax, %esp",
             "push %esp\npush kept\ncall next\nmov %eax, %esp", "mov %esp, %eax\npush %eax\ncall next\nmov %eax, %esp",
             "mov %esp, %ebx\nsub $12, %esp\nmov %ebx, (%esp)\ncall next\nmov %eax, %esp",
             "mov %esp, kept\npush $7\ncall next\nmov kept, %esp",
             "mov %esp, %eax\npush $7\ncall next\nmov %eax, %esp",
             "mov kept, %eax\nmov %esp, 8(%eax)\npush $7\npush $8\ncall next\nmov kept, %eax\nmov 8(%eax), %esp"),
}


def scheduled(cpu):
    """Whether the CPU has pushed an error code is found where the entry goes on in another thread, too."""
    push, pop, resume, word = (("push %rax\npush %rbx", "pop %rbx\npop %rax", "iretq", 8) if cpu == "x86_64"
                               else ("pusha", "popa", "iret", 4))
    sp = "rsp" if cpu == "x86_64" else "esp"
    text, wanted = ".type next, %function\nnext: ret\n.size next, . - next\n", {}
    for i, switch in enumerate(SCHEDULED[cpu]):
        for kind, dropped in (("trap", ""), ("error", "add $%d, %%%s\n" % (word, sp))):
            text += "%s%d: %s\n%s\n%s\n%s%s\n" % (kind, i, push, switch, pop, dropped, resume)
            wanted["%s%d" % (kind, i)] = kind
    image = build(cpu, "%s/scheduled-%s" % (WORK, cpu),
                  [".text", ".globl _start", "_start: hlt", text, ".data", "kept: .skip 8"], "-z", "norelro")
    said = gen("-v", "--size", "--find", image)[1]
    found = dict(re.findall(r"entered as by --entry=([\w+]+):(\w+)", said))
    found.pop("next", None)
    must(found == wanted, said)


# Entries by the handler that they call, and the kind that shows: what stands behind a handler that never returns shows
# one where it takes off an error code, or the number in place of one.
UNSEEN = (("returns", "", "", "trap"), ("returns", "", "drop", "error"), ("hangs", "", "", None),
          ("hangs", "", "drop", "error"), ("hangs", "push $0\n", "drop", "trap"),
          ("returns", "push $0\n", "drop", "trap"))


def unseen(cpu):
    """`iret` behind a handler that never returns does not show that the CPU has pushed no error code."""
    push, pop, resume, drop = (("push %rax\n", "pop %rax\n", "iretq\n", "add $8, %rsp\n") if cpu == "x86_64"
                               else ("pusha\n", "popa\n", "iret\n", "add $4, %esp\n"))
    text = ".type returns, %function\nreturns: ret\n.type hangs, %function\nhangs: cli\n1: hlt\njmp 1b\n"
    wanted = {}
    for i, (handler, number, dropped, kind) in enumerate(UNSEEN):
        text += "e%d: %s%scall %s\n%s%s%s" % (i, number, push, handler, pop, drop if dropped else "", resume)
        wanted["e%d" % i] = kind
    text += "both: test $1, %%al\n%sjz 1f\ncall hangs\n1: %s%s" % (push, pop, resume)
    wanted["both"] = "trap"
    if cpu == "x86_64":
        text += "bare: call hangs\niretq\n"
        wanted["bare"] = None
    image = build(cpu, "%s/unseen-%s" % (WORK, cpu), [".text", ".globl _start", "_start: hlt", text])
    said = gen("-v", "--size", "--find", image)[1]
    found = dict(re.findall(r"entered as by --entry=([\w+]+):(\w+)", said))
    must({name: found.get(name) for name in wanted} == wanted, said)
    for name in (name for name in wanted if wanted[name] is None):
        must(re.search(r"%s \(0x\w+\) has no rows: .* never returns.* --entry=%s:KIND" % (name, name), said), said)
        for kind in ("trap", "error"):
            must(name not in gen("--size", "--find", "--entry=%s:%s" % (name, kind), image)[1], kind)


def finds(cpu):
    """Each entry is found as what it is; what nothing decides has no rows, and is named."""
    text, wanted, unknown_ = FOUND[cpu]
    image = build(cpu, "%s/found-%s" % (WORK, cpu), [".text", ".globl _start", "_start:", text], "-z", "norelro")
    said = gen("-v", "--size", "--find", image)[1]
    found = dict(re.findall(r"entered as by --entry=([\w+]+):(\w+)", said))
    must({name: found.get(name) for name in wanted} == wanted, said)
    for name in unknown_:
        must(not {"enters", "goes", "keeps", name} & set(found), said)
        must(name == "resumed" or "--entry=%s:KIND" % name in said, said)
    must("entered as" not in gen("--size", "--find", image)[1], "without -v")
    said = gen("-v", "--size", "--find", *("--entry=%s:start" % name for name in unknown_), image)[1]
    must("KIND" not in said, said)


def low_core():
    """An image has new PSWs where the CPU reads them: whose code runs, with addresses of 64 bits, is an entry."""
    entry = "stmg %r0, %r15, 512\naghi %r15, -304\nbrasl %r14, called\nj ."
    image = build("s390x", WORK + "/low", [
        ".text", ".org 0x1a0", ".quad 0x2000180000000, waits, 0x180000000, external, 0, 0, 0x180000000, program",
        ".org 0x200", ".globl _start", "_start: larl %r15, _start\nbrasl %r14, called\nj .",
        ".type called, %function\ncalled: br %r14",
        *(name + ": " + entry for name in ("waits", "external", "program"))], "-Ttext=0")
    said = gen("-v", "--size", "--find", image)[1]
    found = dict(re.findall(r"entered as by --entry=([\w+]+):(\w+)", said))
    must(found == {"external": "trap", "program": "trap"}, said)
    must("--entry=waits:KIND" in said, said)


# Code that all has rows, with data in front of it and in it, of which the sum is no code.
CODE_ALONE = {
    "x86_64": ".balign 8\n.long 0xe85250d6, 0, 24, -(0xe85250d6 + 24)\n.short 0, 0\n.long 8\n"
              "_start: lea stack(%rip), %rsp\ncall called\nhlt\n.type called, %function\ncalled: ret",
    "i386": ".balign 4\n.long 0x1badb002, 0x10003, -(0x1badb002 + 0x10003), 1, 2, 3, 4, 5\n"
            "_start: mov $stack, %esp\ncall called\nhlt\n.type called, %function\ncalled: ret",
    "arm": "_start: ldr sp, =stack\nbl called\nb .\n.type called, %function\n"
           "called: ldr r0, =0x12345678\nbx lr\nnop\n.ltorg",
    "thumb": ".type _start, %function\n_start: ldr r0, =stack\nmov sp, r0\nbl called\nb .\n.type called, %function\n"
             "called: ldr r0, =0x12345678\nbx lr\nnop\n.balign 4\n.ltorg",
    "aarch64": "_start: ldr x0, =stack\nmov sp, x0\nbl called\nb .\n.type called, %function\n"
               "called: ldr x0, =0x123456789abcdef\nret\nnop\n.balign 8\n.ltorg"}


def code_alone(cpu):
    """Headers of boot loaders are no code, nor is padding in front of a literal pool; but a header whose sum is not 0
    may be code."""
    for wrong in (False, True) if cpu in ("x86_64", "i386") else (False,):
        text = CODE_ALONE[cpu].replace("-(", "1-(") if wrong else CODE_ALONE[cpu]
        image = build(cpu, WORK + "/alone-" + cpu, [".text", ".globl _start", text, ".bss", ".skip 64", "stack:"])
        numbers = json.loads(gen("--json", "--size", "--find", image)[0])
        must((numbers["code_bytes"] > numbers["described_bytes"]) == wrong, str(numbers))


# A function's body, and what lld and mold put between functions of ARM and aarch64, or any linker.
AT_ZERO = {"arm": ("push {r4, lr}\npop {r4, pc}", ".inst 0xd4d4d4d4"),
           "thumb": ("push {r4, lr}\npop {r4, pc}", ".inst.n 0xd4d4"),
           "aarch64": ("mov x0, #1\nret", ".inst 0xd4207d00"),
           "riscv64": ("li a0, 1\nret", "unimp"),
           "riscv32": ("li a0, 1\nret", "unimp")}


def at_zero(cpu):
    """In an image whose code begins at 0, mapping symbols of debug sections say nothing of the code, and what the
    linker fills up with between two functions is none."""
    body, fill = AT_ZERO[cpu]
    function = ".type %s, %%function\n%s: .cfi_startproc\n" + body + "\n.cfi_endproc\n.size %s, . - %s"
    for at in range(0, 16, 2):
        image = build(cpu, WORK + "/zero-" + cpu, [
            ".cfi_sections .debug_frame", ".text", body, ".globl _start", function % (("_start",) * 4), fill,
            function % (("other",) * 4), '.section .debug_x, "", %progbits', ".skip %d" % at, '"$d": .skip 64'],
            "-Ttext=0")
        numbers = json.loads(gen("--json", "--size", image)[0])
        must(numbers["described_bytes"] == numbers["covered"] > 0, str(numbers))
        must(numbers["code_bytes"] * 2 == numbers["covered"] * 3, "at %d: %s" % (at, numbers))


# What takes a stack, calls, jumps, makes a frame, takes it off and returns, branches; the row of a function's start.
BACK = {"x86_64": ("lea stack(%rip), %rsp", "call", "jmp", "sub $24, %rsp", "add $24, %rsp\nret",
                   "test %edi, %edi\njnz 1f", "r7+8 [cfa-8]"),
        "i386": ("mov $stack, %esp", "call", "jmp", "sub $12, %esp", "add $12, %esp\nret", "test %eax, %eax\njnz 1f",
                 "r4+4 [cfa-4]"),
        "aarch64": ("ldr x0, =stack\nmov sp, x0", "bl", "b", "stp x29, x30, [sp, #-32]!",
                    "ldp x29, x30, [sp], #32\nret", "cbnz x0, 1f", "r31+0 r30+0"),
        "s390x": ("larl %r15, stack", "brasl %r14,", "j", "stmg %r11, %r15, 88(%r15)\naghi %r15, -176",
                  "lmg %r11, %r15, 264(%r15)\nbr %r14", "ltgr %r2, %r2\njne 1f", "r15+160 r14+0"),
        "riscv64": ("lla sp, stack", "jal", "j", "addi sp, sp, -32\nsd ra, 24(sp)",
                    "ld ra, 24(sp)\naddi sp, sp, 32\nret", "bnez a0, 1f", "r2+0 r1+0"),
        "riscv32": ("lla sp, stack", "jal", "j", "addi sp, sp, -32\nsw ra, 28(sp)",
                    "lw ra, 28(sp)\naddi sp, sp, 32\nret", "bnez a0, 1f", "r2+0 r1+0"),
        "arm": ("ldr sp, =stack", "bl", "b", "push {r4, lr}", "pop {r4, pc}", "cmp r0, #0\nbne 1f", "r13+0 r14+0"),
        "thumb": ("ldr r0, =stack\nmov sp, r0", "bl", "b", "push {r4, lr}", "pop {r4, pc}", "cmp r0, #0\nbne 1f",
                  "r13+0 r14+0")}


def never_back(cpu):
    """In code without symbols a call that never comes back leads into no function behind it: it ends in a loop, or in
    a call or a jump to what never comes back. What comes back on one way does."""
    stack, call, jump, begin, end, branch, row = BACK[cpu]
    functions = {"loops": "nop\n1: %s 1b" % jump, "calls": "%s\n%s loops" % (begin, call), "f": begin + "\n" + end,
                 "jumps": "nop\n%s calls" % jump, "behind": "%s\n%s jumps" % (begin, call), "g": begin + "\n" + end,
                 "maybe": "%s\n%s\n%s\n1: %s calls" % (begin, branch, end, call),
                 "h": "%s\n%s maybe\nbehind_h: nop\n%s" % (begin, call, end)}
    lines = [".text", ".globl _start", "_start: " + stack]
    lines += [call + " " + name for name in ("f", "g", "h", "maybe", "behind")]
    lines += [".ltorg"] if "=" in stack else []
    for name, text in functions.items():
        lines += [".type %s, %%function" % name, name + ": " + text]
    lines += [".bss", ".skip 4096", "stack:"]
    where = {name: at & ~1 if cpu == "thumb" else at
             for name, at in addresses_of(build(cpu, WORK + "/named-" + cpu, lines)).items()}
    image = build(cpu, WORK + "/back-" + cpu, lines, *(() if cpu in ARM else ("-s",)))
    gen("-q", "--find", "--address=0", "-o", image + ".tables", image)
    rows = {name: run(OUT + "/rows", image + ".tables", hex(where[name]), hex(where[name] + 1))[0].split()[2:4]
            for name in ("f", "g", "h", "behind_h", "maybe")}
    must(all(" ".join(rows[name]) == row for name in ("f", "g", "h", "maybe")) and rows["behind_h"], str(rows))


# What returns on a condition, or may go to a place that a register has.
RETURNS_IF = {"arm": ("cmp r0, #0\nbxeq lr", "cmp r0, #0\nmoveq pc, lr"), "thumb": ("cmp r0, #0\nit eq\nbxeq lr",),
              "s390x": ("ltgr %r2, %r2\nber %r14", "bctr %r2, %r14", "bctgr %r2, %r14", "ltgr %r2, %r2\nbne 0(%r14)",
                        "bct %r2, 0(%r14)", "bctg %r2, 0(%r14)", "bxh %r2, %r4, 0(%r14)", "bxle %r2, %r4, 0(%r14)",
                        "bxhg %r2, %r4, 0(%r14)", "bxleg %r2, %r4, 0(%r14)", "cgrb %r2, %r3, 8, 0(%r14)",
                        "clgrb %r2, %r3, 8, 0(%r14)", "crb %r2, %r3, 8, 0(%r14)", "clrb %r2, %r3, 8, 0(%r14)",
                        "cgib %r2, 0, 8, 0(%r14)", "clgib %r2, 0, 8, 0(%r14)", "cib %r2, 0, 8, 0(%r14)",
                        "clib %r2, 0, 8, 0(%r14)")}


def returns_if(cpu, text):
    """A function that returns on a condition, and else loops, comes back."""
    stack, call, jump, begin, end, _, _ = BACK[cpu]
    lines = [".text", ".globl _start", "_start: " + stack, call + " f", "1: %s 1b" % jump, ".ltorg",
             ".type c, %function", "c: " + text, "1: %s 1b" % jump, ".type f, %function", "f: " + begin, call + " c",
             "behind: nop", end, ".bss", ".skip 4096", "stack:"]
    at = addresses_of(build(cpu, WORK + "/named-if-" + cpu, lines))["behind"]
    image = build(cpu, WORK + "/if-" + cpu, lines, *(() if cpu in ARM else ("-s",)))
    gen("-q", "--find", "--address=0", "-o", image + ".tables", image)
    must(run(OUT + "/rows", image + ".tables", hex(at), hex(at + 1))[0].split()[2:], text)


def unread_entry():
    """An entry in a section that is no code is named; in one that is, it is not."""
    for flags, known in ((', "a"', False), (', "ax"', True), (', "aw"', False)):
        lines = [".section .boot" + flags, ".globl _start", "_start: call f", "hlt", ".text", ".type f, %function",
                 "f: push %rbx", "pop %rbx", "ret"]
        image = build("x86_64", WORK + "/entry", lines, "--section-start=.boot=0x300000")
        said = gen("--find", "--address=0x500000", "-o", image + ".tables", image)[1]
        must(("0x300000, is in section .boot, which does not count as code" in said) != known, flags + ": " + said)


# The last instructions of 32-bit code, and what they lead to, whose label is no symbol.
FAR = {
    "ljmp": ("ljmp $8, $.Lfar", "call called\nhlt", True),
    "pointer": (".byte 0xff, 0x2d\n.long pointer", "call called\nhlt", True),
    "lret": ("push $0x10\npush $.Lfar\nlret", "call called\nhlt", True),
    "pops": ("ljmp $8, $.Lfar", "pop %rdi\npop %rsi\ncall called\n1: jmp 1b", True),
    "away": ("ljmp $8, $.Lfar", "mov $never, %rax\njmp *%rax", True),
    "other code behind": ("ljmp $8, $.Lfar", "call never\nhlt\nnop\nback: pop %rbx\nret", True),
    "thunk": ("ljmp $8, $.Lfar", "pop %rbx\ncall called\nret", False),
    "nowhere": ("ljmp $8, $.Lfar", "call called\njmp *%rax", False),
    "selector": ("ljmp $7, $.Lfar", "call called\nhlt", False),
    "elsewhere": ("ljmp $8, $pointer", "call called\nhlt", False)}
FAR_SCRIPT = """ENTRY(_start)
SECTIONS { . = 0x%x; .text : AT(0x100000) { *(.text) } . = ALIGN(4096); .data : { *(.data) } }
"""


# Code in modes of which the image has none, with the bits of what begins at each label; 0: the image's own mode, and
# that code has rows. CFI counts words of the image's size. What sets PE here, with operands of 32 bits, is in no 32-bit
# code; PG is, and far jumps are, too.
BOOT_HEADER = ".balign 8\n.long 0xe85250d6, 0, 16, -(0xe85250d6 + 16)\n"
SECOND_16 = """second: cli\nmov $0x7000, %%sp\npush %%bp\ncall put\nlgdtl 0x8080\nmov %%cr0, %%eax\n%s
mov %%eax, %%cr0\n%s
put: push %%ax\nint $0x10\npop %%ax\nret
uncalled: push %%bp\nmov %%sp, %%bp\nsub $0x1234, %%sp\ncall put\nleave\nret
"""
SECOND_32 = "second32: mov $16, %%ax\nmov %%ax, %%ds\nmov $stack, %%esp\ncall %s\n%s"
ENABLE_16 = ("or $1, %eax", "or $1, %al", "inc %eax", "mov $0x80010001, %eax", "or $0x80000001, %eax")
OTHER_MODES = {
    "started in 32 bits": ("x86_64", BOOT_HEADER + """.code32
_start: mov $stack, %esp\ncall check\ncall enable\nlgdt 0x1000\nljmp $8, $long
check: push %ebx\nmov $9, %ecx\n1: dec %ecx\njnz 1b\npop %ebx\ncmp $1, %eax\nje bad\nret
bad: hlt
long: .code64\nlea stack(%rip), %rsp\ncall called\n1: hlt\njmp 1b
.code32\nenable: .cfi_startproc\npush %ebx\n.cfi_adjust_cfa_offset 8\nmov %cr0, %eax\nor $0x80000001, %eax
mov %eax, %cr0\npop %ebx\n.cfi_adjust_cfa_offset -8\nret\n.cfi_endproc\n.code64""",
                           {"_start": 32, "check": 32, "bad": 32, "enable": 32, "long": 0, "called": 0}),
    "in long mode already": ("x86_64", BOOT_HEADER + """.code32
_start: mov $stack, %esp\nmov %cr0, %eax\ntest $0x80000000, %eax\njnz 1f\nor $0x80000001, %eax\nmov %eax, %cr0
ljmp $8, $long
.code64\nlong: cli\nmov $16, %ax\nmov %ax, %ds\n1: cli\npop %rdi\ncall framed\n2: hlt\njmp 2b
.type framed, %function\nframed: push %rbp\nmov %rsp, %rbp\npush %r12\ncall called\npop %r12\npop %rbp\nret""",
                             {"_start": 32, "long": 0, "framed": 0, "called": 0}),
    "paging": ("i386", """_start: mov $stack, %esp\nmov %cr0, %eax\nor $0x80000001, %eax\nmov %eax, %cr0
ljmp $8, $1f\n1: call called\nhlt""", {"_start": 0, "called": 0}),
    "long mode": ("i386", """_start: mov $stack, %esp\ncall called\nmov $0xc0000080, %ecx\nrdmsr\nor $256, %eax\nwrmsr
ljmp $8, $long\n.code64\nlong: mov %rax, %rbx\npush $5\ncall inner\nhlt
inner: push %r8\nmov %rsp, %rbx\npop %r8\nret\n.code32""", {"_start": 0, "called": 0, "long": 64, "inner": 64}),
    "real mode": ("i386", """_start: mov $stack, %esp\ncall bios\nhlt
bios: pusha\nmov %esp, 0x1000\nljmp $0x18, $1f
.code16\n1: mov %cr0, %eax\nand $0xfffffffe, %eax\nmov %eax, %cr0\nljmp $0, $real
real: mov $0x7c00, %sp\ncall interrupt\nmov %cr0, %eax\nor $1, %al\nmov %eax, %cr0\nljmpl $8, $back
interrupt: push %bp\nint $0x13\npop %bp\nret
.code32\nback: mov $16, %ax\nmov %ax, %ds\nmov 0x1000, %esp\npopa\nret""",
                  {"_start": 0, "called": 0, "real": 16, "interrupt": 16}),
    "pushes of 32 bits": ("i386", "_start: mov $stack, %esp\ncall called\nhlt\n.code16gcc\n" +
                          """main16: .cfi_startproc\npush %ebx\n.cfi_adjust_cfa_offset 4\nmov %cr0, %eax\nor $1, %eax
mov %eax, %cr0\npop %ebx\n.cfi_adjust_cfa_offset -4\nret\n.cfi_endproc\n.code32""", {"main16": 0, "called": 0})}
OTHER_MODES.update({"boot sector, %s, %s" % (enable, far): (
    "i386", """.code16\n_start: jmp real\n.org 20\nsize: .long 0x25424\nreal: mov $0, %%ah\nint $0x13\njc failed
mov %%bx, 0x2e8\nmov $0x7c00, %%sp\ncall put\nlgdt 0x270\nmov %%cr0, %%eax\n%s\nmov %%eax, %%cr0\nmov $16, %%ax
mov %%ax, %%ds\n%s\nfailed: call put\njmp hang\nhang: hlt\njmp hang\nput: push %%ax\nint $0x10\npop %%ax\nret
.code32\nmain: mov $stack, %%esp\ncall called\n1: hlt\njmp 1b""" % (enable, far),
    {"_start": 16, "real": 16, "failed": 16, "hang": 16, "put": 16, "main": 0, "called": 0})
    for enable in ENABLE_16 for far in ("ljmpl $8, $main", "ljmp $8, $main")})
OTHER_MODES.update({"in protected mode, %s, %s" % (enable, far): (
    "i386", "_start: mov %%cr0, %%eax\n%s\nmov %%eax, %%cr0\n%s\n1: mov $stack, %%esp\ncall called\nhlt" % (
        enable, far), {"_start": 0, "called": 0})
    for enable in ("or $1, %eax", "or $1, %al", "mov $1, %eax", "inc %eax")
    for far in ("ljmp $8, $1f", "ljmp $16, $1f", "call called")})
OTHER_MODES.update({"second CPU, %s, %s" % (cpu, enable): (
    cpu, "_start: mov $stack, %%%s\ncall called\nhlt\n.code16\n" % sp +
    SECOND_16 % (enable, "ljmpl $8, $second32 - second + 0x8000" if cpu == "i386" else "ljmpl $8, $second32") +
    ".code32\n" + SECOND_32 % (("called", "hlt") if cpu == "i386" else ("help", "ljmp $24, $second64")) + more,
    dict({"_start": 0, "called": 0, "second": 16, "put": 16, "uncalled": 16, "second32": 0}, **others))
    for cpu, sp, more, others in (
        ("i386", "esp", "", {}),
        ("x86_64", "rsp", "\nhelp: push %ebx\npop %ebx\nret\n.code64\n"
         "second64: lea stack(%rip), %rsp\ncall called\nhlt",
         {"second32": 32, "help": 32, "second64": 0})) for enable in ENABLE_16})


def other_modes(name):
    """Code that does not run in the image's mode has no rows, and is named with its bits; all else has its rows."""
    cpu, text, bits = OTHER_MODES[name]
    image = build(cpu, WORK + "/modes", [
        ".text", ".globl _start", text, ".balign 16", ".type called, %function", "called: ret", ".bss", ".skip 64",
        "stack:"], "-Ttext=0x8000", "-e", "_start", "-z", "noexecstack")
    said = gen("--find", "--address=0", "-o", image + ".tables", image)[1]
    where = {name: int(at, 16) for at, name in re.findall(r"(?m)^(\w+) \w (\w+)$", run(NM, image)[0])}
    regions = [(int(at, 16), int(size), int(of)) for at, size, of in re.findall(
        r"\b0x([0-9a-f]{4,})[^\n]*: (\d+) bytes have no rows: they are (\d+)-bit code", said)]
    for label, wanted in bits.items():
        at = where[label]
        found = [of for start, size, of in regions if start <= at < start + size]
        row = run(OUT + "/rows", image + ".tables", hex(at), hex(at + 1))[0].split()[2:]
        must(found == ([wanted] if wanted else []) and (row != []) == (wanted == 0),
             "%s: %s, %s\n%s" % (label, found, row, said))


def far_jumps():
    """32-bit code leads to the first 64-bit code, which needs no symbol and no stack of its own; also in an image that
    is linked to other addresses than it is loaded to. What leads back may be a thunk that 64-bit code has called."""
    for base in (0x100000, 0xffffffff80100000):
        write(WORK + "/far.ld", (FAR_SCRIPT % base).encode())
        for name, (jump, text, found) in FAR.items():
            def low(of):
                return re.sub(r"(?<=[$ ])(\.Lfar|pointer)", r"\1 - 0x%x" % (base - 0x100000), of)

            image = build("x86_64", WORK + "/far", [
                ".text", ".globl _start", "_start: nop", ".code32", "inc %ecx", low(jump), ".code64", ".Lfar: " + text,
                ".balign 16", ".type called, %function", "called: ret", ".type never, %function",
                "never: call called", "1: jmp 1b", ".data", "pointer:", low(".long .Lfar"), ".word 8"],
                "-T", WORK + "/far.ld", "-z", "noexecstack")
            said = gen("-v", "--size", "--find", image)[1]
            must(("a far jump of 32-bit code leads there" in said) == found, "%s 0x%x: %s" % (name, base, said))


def programs():
    """i386: the interrupted SP lies behind what the CPU has pushed, in assembly and in gcc's interrupt functions. Where
    a task register is loaded, programs may have been interrupted, whose SP is another one: entries have no rows. Nor
    have they where `iret` stands behind a call that never returns, because it does not show whether there was an error
    code."""
    functions = dict(NAKED["i386"][0], gcc="push %eax\n.cfi_def_cfa_offset 8\npush %ecx\n.cfi_def_cfa_offset 12\n"
                     "call handler\npop %ecx\n.cfi_def_cfa_offset 8\npop %eax\n.cfi_def_cfa_offset 4\niret",
                     loads="mov %ax, %ss\nret")
    never = "call hangs\niret\nhangs: hlt\njmp hangs"
    for described, loads, text in ((True, False, "str %ax\nret"), (False, False, "str %ax\nret"),
                                   (True, True, "ltr %ax\nret"), (False, True, "ltr %ax\nret"),
                                   (True, True, never), (False, True, never),
                                   (False, False, never.replace("hangs\niret", "handler\niret"))):
        functions["loads"] = "nop\n" * 300 + text
        if not described:
            functions = {name: re.sub(r"\n\.cfi_[^\n]*", "", text) for name, text in functions.items()}
        image = naked_image("i386", functions, described)
        where = addresses_of(image)
        said = gen("-v", "-o", image + ".tables", "--address=0", "--find", image)[1]
        must(loads == ("no row can tell" in said), said)
        wanted = {"plain": "r4+12 [cfa-12] r5+0", "failed": "r4+16 [cfa-12] r5+0", "gcc": "r4+12 [cfa-12] r5+0",
                  "common": "r4+20 [cfa-12] r5+0", "handler": "r4+4 [cfa-4] r5+0"}
        for name, rules in wanted.items():
            said = run(OUT + "/rows", image + ".tables", hex(where[name]), hex(where[name] + 1))[0].split(None, 2)[2:]
            rules = "none" if loads and name != "handler" else rules
            must(" ".join(said).strip() in (rules, "" if rules == "none" else rules), "%s: %s instead of %s" % (
                name, said, rules))


def kept_at_entry(cpu):
    """Where an interrupt's entry keeps the return address of what it has interrupted."""
    wrong = check_saved("build/tools/sfu-gen", cpu, WORK)
    must(not wrong, "\n".join(wrong))


def calls_behind():
    """A call of what lies behind it is one, unless that is a label whose code takes the address off the stack."""
    for kind, text, is_call in (("function", "push %rbx\n1: jmp 1b", True), ("notype", "push %rbx\n1: jmp 1b", True),
                                ("notype", "pop %rax\n1: jmp 1b", False), ("function", "pop %rax\npush %rax", True)):
        image = build("x86_64", WORK + "/behind", [
            ".text", ".globl _start", "_start: nop", callers("x86_64", ["outer"]), ".balign 16",
            ".type outer, %function\nouter: push %rbx\nsub $64, %rsp\ncall inner", ".type inner, %" + kind,
            "inner: " + text, "end: nop"])
        rows = table("x86_64", image, "--find")
        first = rows.get(addresses("x86_64", image)["inner"], ("none",))[0]
        must(first == ("sp+8" if is_call else "sp+88"), "%s: %s: %s" % (kind, text, rows))


# What is named, as what, and what the code says that it is.
CONFLICTS = {
    "x86_64": ("plain error trap", "failed trap error", "plain call trap", "plain syscall trap", "handler trap call"),
    "i386": ("plain error trap", "failed trap error", "plain call trap", "handler trap call"),
    "s390x": ("plain call trap", "handler trap call"),
    "riscv64": ("plain call trap", "handler trap call"),
    "aarch64": ("lone trap call", "vectors trap sp0", "vectors+0x200 sp0 trap", "vectors+0x400 trap lower"),
}
CONFLICTS["riscv32"] = CONFLICTS["riscv64"]


def conflicts(cpu):
    """What is named as what its code cannot be is an error that says both; as what it is, it is none."""
    if cpu == "aarch64":
        image = build(cpu, WORK + "/conflicts-" + cpu, [".text", ".globl _start", "_start:", FOUND[cpu][0]])
    else:
        image = naked_image(cpu, NAKED[cpu][0], False)
    for line in CONFLICTS[cpu]:
        name, kind, true = line.split()
        said = gen("--size", "--find", "--entry=%s:%s" % (name, kind), image, status=1)[1]
        must("--entry=%s:%s: it cannot be that, but :%s: " % (name, kind, true) in said, said)
        gen("-q", "--size", "--find", "--entry=%s:%s" % (name, true), image)


# Of a function and of an interrupt's entry (arm: none): what makes a frame, and what takes it off again and returns.
PIECES = {
    "x86_64": (("push %rbx", "pop %rbx\nret"), ("push %rax\npush %rbp", "pop %rbp\npop %rax\niretq")),
    "i386": (("push %ebx", "pop %ebx\nret"), ("push %eax\npush %ebp", "pop %ebp\npop %eax\niret")),
    "aarch64": (("stp x29, x30, [sp, #-16]!", "ldp x29, x30, [sp], #16\nret"), (
        "sub sp, sp, #32\nstp x0, x30, [sp]\nmrs x0, elr_el1\nstr x0, [sp, #16]",
        "ldr x0, [sp, #16]\nmsr elr_el1, x0\nldp x0, x30, [sp]\nadd sp, sp, #32\neret")),
    "s390x": (("stmg %r14, %r15, 112(%r15)\naghi %r15, -160", "lmg %r14, %r15, 272(%r15)\nbr %r14"), (
        "stmg %r0, %r15, 512\naghi %r15, -304\nmvc 288(16, %r15), 0x150\nmvc 160(128, %r15), 512",
        "mvc 640(16), 288(%r15)\nlmg %r0, %r15, 160(%r15)\nlpswe 640")),
    "riscv64": (("addi sp, sp, -16\nSTORE ra, 0(sp)", "LOAD ra, 0(sp)\naddi sp, sp, 16\nret"), (
        "addi sp, sp, -4*W\nSTORE ra, 0(sp)\nSTORE t0, W(sp)\ncsrr t0, mepc\nSTORE t0, 2*W(sp)",
        "LOAD t0, 2*W(sp)\ncsrw mepc, t0\nLOAD t0, W(sp)\nLOAD ra, 0(sp)\naddi sp, sp, 4*W\nmret")),
    "thumb": (("push {r4, lr}", "pop {r4, pc}"), None),
}
PIECES.update(riscv32=PIECES["riscv64"], arm=PIECES["thumb"])


def pieces(cpu):
    """A label behind a call is a piece of the text in front of it if it takes off the frame there; else nothing leads
    to it: not if it takes off another one, if it does not end, nor if it is a function."""
    call = {"x86_64": "call f", "i386": "call f", "s390x": "brasl %r14, f"}.get(
        cpu, "jal f" if cpu.startswith("riscv") else "bl f")
    nop, jump = {"x86_64": ("nop", "jmp"), "i386": ("nop", "jmp"), "s390x": ("nopr", "j")}.get(
        cpu, ("nop", "j" if cpu.startswith("riscv") else "b"))
    for (begin, end), called in ((texts, i == 0) for i, texts in enumerate(PIECES[cpu]) if texts is not None):
        for kind, text, known in (
                ("notype", end, True), ("notype", call + "\n" + end, True), ("notype", begin + "\n" + end, False),
                ("notype", "1: %s\n%s 1b" % (nop, jump), False), ("function", end, False)):
            image = build(cpu, "%s/piece-%s" % (WORK, cpu), [
                ".text", ".globl _start", "_start: " + nop, callers(cpu, ["f", "entry"] if called else ["f"]),
                ".balign 16", ".type f, %function", "f: " + RETURN.get(cpu, "ret"),
                ".balign 16", ".type entry, %function", "entry: " + begin, call,
                ".type label, %" + kind, "label: " + text])
            where = addresses_of(image)
            done = report(CODE, image, *(["-d"] if called else ["-t", "%x" % where["entry"]]))
            rows = {pc for start, piece in done.items() if "rows" in piece
                    for pc in range(int(start, 16), int(start, 16) + int(piece["rows"]))}
            must(where["label"] - 2 in rows and (where["label"] in rows) == known, "%s: %s: %s" % (kind, text, done))


def is_outermost(image, start, *options):
    """Whether the function at START has the one row that nobody called it: objdump prints a function without rows."""
    rows = table("x86_64", image, *options)
    text = run(TC + "/x86_64/objdump", "--sframe", image + ".side")[0]
    return "pc = 0x%x," % start in text and start not in rows


def firmware():
    """The image's entry was called if it returns; --entry overrules it; what says that nobody called it is believed."""
    code = "first: sub $8, %rsp\ncall f\nadd $8, %rsp\nret\nf: push %rbx\npop %rbx\nret"
    image = build("x86_64", WORK + "/firmware", [".text", ".globl _start", "_start:", code])
    start = addresses("x86_64", image)["first"]
    for option in ("--derive", "--entry=_start:call"):
        must(table("x86_64", image, option)[start][0] == "sp+8", option)
    must(is_outermost(image, start, "--entry=_start:start"), "--entry=_start:start")
    image = build("x86_64", WORK + "/boot", [".text", ".globl _start", "_start:", code.replace("ret", "hlt", 1)])
    must(is_outermost(image, start, "--derive"), "an entry that does not return")
    must(table("x86_64", image, "--entry=_start:call")[start][0] == "sp+8", "it is named")
    image = build("x86_64", WORK + "/undefined", [
        ".text", ".globl _start", "_start:", ".cfi_startproc\nsub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
        ".cfi_undefined rip\ncall f\nhlt\n.cfi_endproc\n.balign 16\nf: push %rbx\npop %rbx\nret"])
    must(is_outermost(image, addresses("x86_64", image)["_start"]), "from its first byte on")
    image = build("x86_64", WORK + "/undefined-first", [
        ".text", ".globl _start", "_start:", ".cfi_startproc\n.cfi_undefined rip\ncall f\nhlt\n.cfi_endproc\n"
        ".balign 16\nf: push %rbx\npop %rbx\nret"])
    must(table("x86_64", image, "--derive")[addresses("x86_64", image)["f"]][0] == "sp+8", "what it calls")
    image = build("x86_64", WORK + "/both", [".text", ".globl _start", "_start: nop", callers("x86_64", ["both"]),
                                             ".balign 16", "both: push %rbx\npop %rbx\nret"])
    said = gen("--size", "--entry=both:start", image)[1]
    must(re.search(r"both\+0x0 .*have no row: .* entered in another way: .* a call, or at a start", said), said)


def table(cpu, image, *options):
    """What objdump says of the tables that are made of IMAGE: for each row's PC where its CFA and its RA are."""
    # libsframe cannot read shared rows in a foreign byte order.
    gen("-q", "--no-share", *options, "--side=" + image + ".side", image)
    text = run("%s/%s/objdump" % (TC, cpu), "--sframe", image + ".side")[0]
    rows, size = {}, {}
    for line in text.splitlines():
        head = re.search(r"pc = (0x[0-9a-f]+), size = (\d+)", line)
        if head:
            end = int(head[1], 16) + int(head[2])
        row = re.match(r" +([0-9a-f]{16}) +(\S+) +\S+ +(\S+)", line)
        if row or " RA undefined" in line or "<outermost>" in line:
            rows[int((row or re.match(r" +([0-9a-f]{16})", line))[1], 16)] = (row[2], row[3]) if row else "outermost"
    return rows


def callers(cpu, functions):
    """A caller of each of FUNCTIONS, with CFI of its own."""
    call = {"x86_64": "call ", "i386": "call ", "s390x": "brasl %r14, "}.get(
        cpu, "call " if cpu.startswith("riscv") else "bl ")
    stop = {"x86_64": "ud2", "i386": "ud2", "aarch64": "brk #1", "s390x": ".short 0", "arm": "udf #0",
            "thumb": "udf #0"}.get(cpu, "unimp")
    aligns = ["sub $8, %rsp", ".cfi_adjust_cfa_offset 8"] if cpu == "x86_64" else [] # as the ABI says
    return "\n".join([".globl main", ".type main, %function", "main:", ".cfi_startproc"] + aligns +
                     [call + name for name in functions] +
                     [stop, ".cfi_endproc", ".size main, . - main"])


def derived(cpu):
    """Without CFI the rows are those of the same code with CFI, and nearly everywhere there is one."""
    both = []
    for described in (True, False):
        functions = {name: text if described else re.sub(r"\.cfi_[^\n]*", "", text) for name, text in TRUE[cpu].items()}
        lines = [".text", ".globl _start", "_start: nop", callers(cpu, functions)]
        for name, text in functions.items():
            body = [".cfi_startproc", text, ".cfi_endproc"] if described else [text]
            lines += [".balign 16", ".globl " + name, ".type %s, %%function" % name, name + ":"]
            lines += body + [".size %s, . - %s" % (name, name)]
        file = "%s/derived-%s-%d" % (WORK, cpu, described)
        write(file + ".s", ("\n".join(lines) + "\n").encode())
        arch = {"aarch64": ["-march=armv9.2-a+memtag"], "s390x": ["-march=arch13"]}.get(cpu, [])
        run("%s/%s/as" % (TC, cpu), *arch, file + ".s", "-o", file + ".o")
        run("%s/%s/ld" % (TC, cpu), "--no-eh-frame-hdr", file + ".o", "-o", file)
        both.append(table(cpu, file, *(["--cfi=keep"] if described else ["--derive"])))
    same = sum(both[0].get(pc) == row for pc, row in both[1].items())
    other = {hex(pc): (both[0][pc], row) for pc, row in both[1].items() if pc in both[0] and both[0][pc] != row}
    must(same > 0.6 * len(both[0]), "%d rows of %d: %s %s" % (same, len(both[0]), other, both))
    return "%d rows, %d said in another way: %s" % (same, len(other), other)


def derived_as_pieces(cpu):
    """Each byte of the same code without CFI has a row, what saves and restores registers for others as well."""
    functions = {name: re.sub(r"\.cfi_[^\n]*", "", text) for name, text in TRUE[cpu].items() if "endproc" not in text}
    image = without_cfi(cpu, "derived", functions, [name for name in functions if name not in ("save", "restore")])
    return all_derived(CODE, image)


# Assembly without CFI of which the code does not say where the caller is; and what there is to be seen of it in spite
# of that: the number of rows.
UNKNOWN = {
    "nobody calls it": ("f: push %rbx\npop %rbx\nret", "nop", 0),
    # What is popped behind it is the return address, in RBX then.
    "a callee pops": ("f: push %rbx\ncall g\nnop\npop %rbx\nret\ng: ret $8", "call f", 5),
    "a callee pops now and then": ("f: push %rbx\ncall g\nnop\nret\ng: jz 1f\nret $8\n1: ret", "call f", 3),
    "data in text": ("f: jmp 1f\n.byte 0xe8, 0x55, 0x5d\n1: ret", "call f", 2),
    "a jump to what a register has": ("f: jmp *%rax\n1: push %rbx\nret", "call f", 1),
    "two ways with another SP": ("f: test %eax, %eax\nje 1f\npush %rbx\n1: nop\nret", "call f", 1),
    "another stack": ("f: mov %rsp, (%rdi)\nmov %rsi, %rsp\npop %rbx\nret", "call f", 1),
    "entered in the middle": ("f: push %rbx\n.globl g\ng: nop\npop %rbx\nret", "call f\ncall g", 1),
    "calls that fill a predictor": ("f: push %rbx\nmov %rsp, %rax\ncall 1f\nint3\n1: call 2f\nint3\n"
                                    "2: mov %rax, %rsp\npop %rbx\nret", "call f", 6),
    "a stack for a while": ("f: push %rbx\nmov %rsp, %rbx\nmov %rsi, %rsp\ncall g\nmov %rbx, %rsp\npop %rbx\nret\n"
                            "g: ret", "call f", 5),
    "a switch that ends nowhere": ("f: push %rbp\nmov %rsp, (%rdi)\nmov %rsi, %rsp\n1: hlt\njmp 1b", "call f", 2),
    "a switch that forgets FP": ("f: push %rbp\nmov %rsp, (%rdi)\nmov %rsi, %rsp\nadd $8, %rsp\nret", "call f", 2),
    "a switch that ends in two ways": ("f: push %rbp\nmov %rsp, (%rdi)\nmov %rsi, %rsp\ntest %eax, %eax\njz 1f\n"
                                       "pop %rbp\nret\n1: ret", "call f", 2),
    "an interrupt that returns elsewhere": ("f: push %rbx\nmov %rsp, %rbx\nmov (%rdi), %rsp\nnop\npop %rbx\niretq",
                                            "nop", 2, "--entry=f"),
}


def unknown(code, calls, wanted, option="--derive"):
    image = WORK + "/unknown"
    write(image + ".s", (".text\n.globl _start\n_start: nop\n.globl main\nmain: .cfi_startproc\nsub $8, %%rsp\n"
                         ".cfi_adjust_cfa_offset 8\n%s\nud2\n.cfi_endproc\n.balign 16\n.globl f\n%s\n" %
                         (calls, code)).encode())
    run(TC + "/x86_64/as", image + ".s", "-o", image + ".o")
    run(TC + "/x86_64/ld", image + ".o", "-o", image)
    symbols = run(NM, image)[0]
    start = int(re.search(r"([0-9a-f]+) T f\b", symbols)[1], 16)
    rows = {pc: row for pc, row in table("x86_64", image, option).items() if pc >= start}
    must(len(rows) == wanted, "%d rows: %s" % (len(rows), rows))


# An entry of s390x on the stack of what it interrupts: the way in up to where the PC is on the stack, and the last
# instruction, can have no row. The rows are those of the frame: 160 bytes, 16 registers, the PSW.
ENTRY = """entry: stmg %r0, %r15, 512
    aghi %r15, -304
    mvc 288(16, %r15), 0x150
saved: mvc 160(128, %r15), 512
    lgr %r2, %r15
    brasl %r14, handler
    mvc 640(16), 288(%r15)
    lmg %r0, %r15, 160(%r15)
back: lpswe 640
handler: stmg %r14, %r15, 112(%r15)
    aghi %r15, -160
    lmg %r14, %r15, 272(%r15)
    br %r14
end: nopr"""


def interrupted():
    image = WORK + "/entry"
    write(image + ".s", (".text\n.globl _start\n_start: j _start\n.balign 16\n.globl entry, saved, back, handler\n" +
                         ".globl end\n.type handler, %function\n" + ENTRY + "\n").encode())
    run(TC + "/s390x/as", image + ".s", "-o", image + ".o")
    run(TC + "/s390x/ld", image + ".o", "-o", image)
    where = {name: int(addr, 16) for addr, name in re.findall(r"([0-9a-f]+) [tT] (\w+)", run(NM, image)[0])}
    rows = {pc: row for pc, row in table("s390x", image, "--entry=entry").items() if pc >= where["entry"]}
    own = [row for pc, row in sorted(rows.items()) if pc < where["handler"]]
    must(min(rows) == where["saved"] and where["back"] not in rows, str(rows))
    must(own and all(cfa == "sp+464" and "c-168" in ra for cfa, ra in own), str(own))
    must(rows[where["handler"]][0] == "sp+160", str(rows))


def riscv_trap(cpu, kind):
    image, where, wanted, _ = trap_image(cpu, kind)
    # What the entry does with the scratch register says that it is another stack.
    for said in {"trap" if kind.startswith("tp") else kind, "trap"}:
        out, errors = gen("--size", "--json", "--entry=entry:" + said, image)
        done = int(re.search(r'"derived": (\d+)', out)[1]) - (where["entry"] - where["_start"])
        must(done == wanted, "%s: %d bytes instead of %d: %s" % (said, done, wanted, errors))
    return "%d bytes" % wanted


def riscv_two_ways(cpu):
    """An entry that is found has two ways, one of which jumps over the other one: this is no entry of its own."""
    image = build(cpu, WORK + "/ways-" + cpu, [
        ".text", ".globl _start", "_start: j .", ".type handler, %function", "handler: ret",
        ".balign 4", """entry: csrrw sp, sscratch, sp\nbnez sp, 1f\ncsrrw sp, sscratch, sp
        addi sp, sp, -36*W\nSTORE t0, 5*W(sp)\naddi t0, sp, 36*W\nSTORE t0, 2*W(sp)\nj 2f
        1: addi sp, sp, -36*W\nSTORE t0, 5*W(sp)\ncsrrw t0, sscratch, zero\nSTORE t0, 2*W(sp)
        2: STORE ra, W(sp)\ncsrr t0, sepc\nSTORE t0, 32*W(sp)\nsaved: call handler\nLOAD t0, 32*W(sp)
        csrw sepc, t0\nLOAD ra, W(sp)\nLOAD t0, 5*W(sp)\nLOAD sp, 2*W(sp)\nafter: sret"""])
    said = gen("-v", "--find", "-o", image + ".tables", "--address=0", image)[1]
    found = re.findall(r" (entry\S*) \(0x\w+\): entered as by", said)
    must(found == ["entry"], said)
    where = {name: addr for addr, name in re.findall(r"([0-9a-f]+) [tT] (\w+)", run(NM, image)[0])}
    rows = run(OUT + "/rows", image + ".tables", "0x" + where["saved"], "0x" + where["after"])[0].splitlines()
    word = 8 if cpu == "riscv64" else 4
    must(rows[0].split()[1:4] == [where["after"].lstrip("0"), "[r2+%d]" % (2 * word), "[r2+%d]" % (32 * word)],
         "\n".join(rows))


# Begins, runs user_outer on another stack, and then kernel_outer.
BY_TP = """.text\n.globl _start\n_start: la sp, other_stack+512*W+4096\nla tp, cpu0\nla t0, entry\ncsrw mtvec, t0
STORE sp, W(tp)\ncsrw mscratch, tp\nla sp, other_stack+512*W\nmv tp, zero
.globl user_begin\nuser_begin: jal user_outer\ncsrrw tp, mscratch, zero\nLOAD sp, W(tp)
.globl kernel_begin\nkernel_begin: jal kernel_outer\nli t0, 0x5555\nli t1, 0x100000\nsw t0, (t1)\n1: j 1b
.balign 4\n.globl entry\n"""
BY_TP_LD = """SECTIONS { . = 0x80000000; .text : { *(.text*) } .rodata : { *(.rodata* .srodata*) }
.sfu_sframe : { tables_start = .; QUAD(0) . += 16384; tables_end = .; } .data : { *(.data* .sdata*) }
.bss : { *(.bss* .sbss* COMMON) . = ALIGN(16); . += 8192; } .eh_frame (INFO) : { KEEP(*(.eh_frame)) } }"""


def riscv_by_tp(cpu, level):
    """A machine walks by the rows of an entry like Linux's: from its handler, of a program and of the kernel itself."""
    bits, image = cpu[5:], "%s/by-tp-%s%s" % (WORK, cpu, level)
    machine = (("W", "8"), ("LOAD", "ld"), ("STORE", "sd")) if bits == "64" else \
        (("W", "4"), ("LOAD", "lw"), ("STORE", "sw"))
    text = BY_TP + TP % ("mv a0, sp", "csrr t0, sepc")
    text = text.replace("sscratch", "mscratch").replace("sepc", "mepc").replace("sret", "mret")
    for name, value in machine:
        text = re.sub(r"\b%s\b" % name, value, text)
    write(image + ".s", text.encode() + b"\n")
    write(image + ".ld", BY_TP_LD.encode())
    flags = ["-march=rv%simac_zicsr" % bits, "-mabi=" + ("lp64" if bits == "64" else "ilp32"), "-mcmodel=medany"]
    run("riscv64-linux-gnu-gcc", *flags, level, "-std=c99", "-Wall", "-Wextra", "-fno-pic", "-ffreestanding", "-I.",
        "-fasynchronous-unwind-tables", "-nostdlib", "-static", "-Wl,--build-id=none,-T," + image + ".ld", image + ".s",
        "port/host/test/riscv/by_tp.c", "sfu.c",
        run("riscv64-unknown-elf-gcc", "-march=rv%simac" % bits, flags[1], "-print-libgcc-file-name")[0].strip(), "-o",
        image)
    gen("-q", "--entry=entry", "--entry=user_begin:start", "--entry=kernel_begin:start", image)
    out = run("qemu-system-riscv" + bits, "-M", "virt", "-bios", "none", "-m", "32M", "-display", "none", "-serial",
              "stdio", "-monitor", "none", "-kernel", image)[0]
    symbols = sorted((int(addr, 16), name) for addr, name in
                     re.findall(r"(?m)^([0-9a-f]+) [tT] (\w+)$", run("riscv64-linux-gnu-nm", image)[0]))
    lines = []
    for line in out.splitlines():
        words = [int(word, 16) for word in line.split()]
        names = [[name for addr, name in symbols if addr <= pc - (i != 3)][-1] for i, pc in enumerate(words[1:-2], 1)]
        lines.append([words[0], *names, *words[-2:]])
    must(lines == [[0, "handler", "taken", "%s_inner" % who, "%s_outer" % who, "%s_begin" % who, 1, 1]
                   for who in ("user", "kernel")], str(lines))


def riscv_handler(level):
    """A compiler's interrupt function has CFI as if it were called; the PC is in no register that a row can name."""
    image = "%s/handler%s" % (WORK, level)
    write(image + ".c", b"void g(long); __attribute__((interrupt)) void h(void) { g(1); }\n"
                        b"long out; void g(long x) { out = x; }\nvoid _start(void) { g(2); }\n")
    run("riscv64-linux-gnu-gcc", level, "-march=rv64imac", "-mabi=lp64", "-fasynchronous-unwind-tables",
        "-ffreestanding", "-nostdlib", "-static", "-no-pie", image + ".c", "-o", image)
    kept = json.loads(gen("--size", "--json", "--cfi=keep", image)[0])
    done = json.loads(gen("--size", "--json", image)[0])
    size = int(re.search(r"(?m)^[0-9a-f]+ ([0-9a-f]+) T h$", run(NM, "-S", image)[0])[1], 16)
    must(not kept["findings"] and [f["function"] for f in done["findings"]] == ["h"] and
         done["findings"][0]["bytes"] == size, "%s: %s" % (size, done["findings"]))
    return "%d bytes have no row" % size


def riscv_storing_handler(cpu, compiler, level):
    """One that stores the PC has rows from there on, up to where SP is as it was, and --strict lets it pass. Kernels of
    port/baremetal/test walk by them (handler.c)."""
    image = "%s/storing-%s-%s%s" % (WORK, cpu, os.path.basename(compiler[0]), level)
    write(image + ".c", b"void g(long); __attribute__((interrupt)) void h(void) {\n"
                        b"volatile unsigned long pc, t;\n"
                        b"__asm__ volatile(\"csrr %0, mepc\" : \"=r\"(t)); pc = t; g(1); (void)pc; }\n"
                        b"long out; void g(long x) { out = x; }\nvoid _start(void) { g(2); }\n")
    arch = "-march=rv%simac%s" % (cpu[5:], "" if "clang" in compiler[0] else "_zicsr")
    run(*compiler, level, arch, "-mabi=" + {"riscv64": "lp64", "riscv32": "ilp32"}[cpu],
        "-fasynchronous-unwind-tables", "-ffreestanding", "-nostdlib", "-fno-pic", "-w", "-mno-relax", "-c",
        image + ".c", "-o", image + ".o")
    run("riscv64-linux-gnu-ld", "-m", "elf%slriscv" % cpu[5:], image + ".o", "-o", image)
    done = json.loads(gen("--size", "--json", "--strict", image)[0])
    start, size = (int(word, 16) for word in re.search(r"(?m)^([0-9a-f]+) ([0-9a-f]+) T h$",
                                                       run(NM, "-S", image)[0]).groups())
    code = run("riscv64-linux-gnu-objdump", "-d", "--no-show-raw-insn", image)[0]
    stored = [int(pc, 16) for pc in re.findall(r"(?m)^ *([0-9a-f]+):\s+csrr", code) if start <= int(pc, 16)][0]
    lost = done["covered"] - done["expressed"]
    must(not done["findings"] and 0 < lost <= stored + 24 - start < size, "%s of %d" % (done, size))
    return "%d of %d bytes have no row" % (lost, size)


def riscv_lasting_handler():
    """One that never returns has no mret that tells what it is: --entry does."""
    image = WORK + "/lasting"
    write(image + ".c", b"__attribute__((noreturn)) void g(long); __attribute__((interrupt)) void h(void) {\n"
                        b"volatile unsigned long pc, t;\n"
                        b"__asm__ volatile(\"csrr %0, mepc\" : \"=r\"(t)); pc = t; g(1); }\n"
                        b"void g(long x) { for (;;); }\nvoid _start(void) { g(2); }\n")
    run("riscv64-linux-gnu-gcc", "-O2", "-march=rv64imac_zicsr", "-mabi=lp64", "-fasynchronous-unwind-tables",
        "-ffreestanding", "-nostdlib", "-static", "-no-pie", "-w", image + ".c", "-o", image)
    kept, done = (json.loads(gen("--size", "--json", "--strict", *option, image)[0])
                  for option in ((), ("--entry=h",)))
    lost = done["covered"] - done["expressed"]
    must(kept["covered"] == kept["expressed"] and lost > 0, "%s, %s" % (kept, done))
    return "%d bytes have no row" % lost


# Zcmp, by the newest assembler and compiler: the registers of each list from the highest address down, as the manual's
# pseudocode stores them.
ZCMP = {"riscv64": ("rv64imac_zcmp", "lp64"), "riscv32": ("rv32imac_zcmp", "ilp32")}
ZCMP_SAVED = ["ra"] + ["s%d" % n for n in range(12)]


def zcmp(cpu):
    """cm.push, cm.pop, cm.popret, cm.popretz of each list and each size; what a compiler makes of functions."""
    arch, abi = ZCMP[cpu]
    word = int(cpu[5:]) // 8
    lines = [".text", ".globl _start", "_start: j _start"]
    for last in [*range(11), 12]:
        saved = ZCMP_SAVED[:last + 1]
        names = ", ".join(["ra"] + (["s0" if last == 1 else "s0-s%d" % (last - 1)] if last else []))
        least = -(-len(saved) * word // 16) * 16
        for size in range(least, least + 64, 16):
            for end in ("cm.pop {%s}, %d\n.cfi_def_cfa_offset 0\n%s\nret", "cm.popret {%s}, %d%.0s",
                        "cm.popretz {%s}, %d%.0s"):
                lines += [".type f%d, %%function" % len(lines), "f%d: .cfi_startproc" % len(lines),
                          "cm.push {%s}, -%d" % (names, size), ".cfi_def_cfa_offset %d" % size]
                lines += [".cfi_offset %s, -%d" % (reg, word * n) for n, reg in enumerate(reversed(saved), 1)]
                lines += ["nop", end % (names, size, "\n".join(".cfi_restore " + reg for reg in saved)), ".cfi_endproc"]
    image = "%s/zcmp-%s" % (WORK, cpu)
    tool = TC + "/riscv/riscv64/%s"
    write(image + ".s", ("\n".join(lines) + "\n").encode())
    run(tool % "as", "-march=" + arch, "-mabi=" + abi, image + ".s", "-o", image + ".o")
    run(tool % "ld", "-m", "elf%slriscv" % cpu[5:], image + ".o", "-o", image)
    compiled = image + "-gcc"
    write(compiled + ".c", b"""volatile int v; int f(int a) { v = a; return a * 3; }
        int two(int a, int b) { int x = f(a); return f(b) + x; }
        int many(int a, int b, int c) { int t[40], i, x = 0; for (i = 0; i < 40; i++) t[i] = f(i + a) + f(b);
            for (i = 0; i < 40; i++) x += f(t[i] * b + c); return x + a + b + c + f(c); }
        int zero(int a) { f(a); f(a + 1); return 0; }
        void _start(void) { many(1, two(1, 2), zero(3)); for (;;); }""")
    run(tool % "gcc", "-Os", "-march=" + arch, "-mabi=" + abi, "-fno-inline", "-ffreestanding", "-nostdlib", "-static",
        "-fno-pic", "-no-pie", "-fasynchronous-unwind-tables", compiled + ".c", "-o", compiled)
    must(run(tool % "objdump", "-d", compiled)[0].count("cm.pop") > 2, "gcc has not made use of Zcmp")
    for name in (image, compiled):
        done = report(CODE, name)["sum"]
        must(int(done["confirmed"]) == int(done["reached"]) > 0, "%s: %s" % (name, done))
    return "%s bytes are confirmed" % done["confirmed"]


RISCV_SWITCH = """addi sp, sp, -16\n.cfi_def_cfa_offset 16\nSTORE ra, 8(sp)\n.cfi_offset 1, -8\nSTORE sp, 0(a0)
        mv t1, sp\nmv sp, a1\nLOAD ra, 8(sp)\n.cfi_restore 1\naddi sp, sp, 16\n.cfi_def_cfa_offset 0\nret"""
# Code that --entry names: stubs of vectors, with symbols of their own; vectors of aarch64, with two slots unused, and a
# function in the place of the last ones.
WITH_ERROR = (8, 10, 11, 12, 13, 14, 17, 21, 30)
NAMED = {
    "x86_64": ".balign 16\nstubs:\n" + "".join(
        ".balign 16\nv%d: %spush $%d\njmp handle\n" % (n, "" if n in WITH_ERROR else "push $0\n", n)
        for n in range(32)) + """.size stubs, . - stubs\nhandle: push %rbp\ncall handler\npop %rbp\nadd $16, %rsp\niretq
        handler: ret""",
    "aarch64": ".balign 2048\nvectors:\n" + "".join(
        ".balign 128\nsub sp, sp, #32\nstp x0, x30, [sp]\n%s\nstr x0, [sp, #16]\nb handle%d\n" %
        ("mrs x0, sp_el0" if n < 4 or n > 7 else "add x0, sp, #32", n // 4) if n % 4 < 2 else ".balign 128\n.skip 4\n"
        for n in range(12)) + ".balign 128\n.type handle0, %function\n" + "".join(
        """handle%d: mrs x0, elr_el1\nstr x0, [sp, #24]\nbl handler\nldr x0, [sp, #24]\nmsr elr_el1, x0
        ldp x0, x30, [sp], #32\neret\n""" % n for n in range(3)) +
               ".skip 256\n.size handle0, . - handle0\nhandler: ret",
}
# The same, said in two ways.
SAME = {
    "x86_64": [(["stubs:vectors/16"], ["v%d%s" % (n, ":error" if n in WITH_ERROR else "") for n in range(32)]),
               (["stubs:vectors/16"], ["v*:vectors"]),
               (["stubs:vectors/16"], ["v*", "v8:error", "v1[0-4]:error", "v17:error", "v21:error", "v30:error"]),
               (["v1", "v3"], ["v1:error", "v3", "v1:trap"])],
    "aarch64": [(["vectors:vectors"], ["vectors:sp0", "vectors+0x80:sp0", "vectors+0x200", "vectors+640",
                                       "vectors+1024:lower", "vectors+0x480:lower"])],
}
# What is wrong is said.
REFUSED = {
    "nothing": "no code has this symbol", "": "no code has this symbol", "v1:": "there is no kind ''",
    "v1:trapp": "there is no kind 'trapp'; there are trap, trap4, trap8, error, sp0, lower, ",
    "v1:sp0": "sp0 is for aarch64 alone", "v1:lower": "lower is for aarch64 alone",
    "v1:scratch": "scratch is for RISC-V alone",
    "v1:syscall/8": "only vectors of x86_64 and i386 take a number",
    "v1:error/4": "only vectors of x86_64 and i386 take a number",
    "stubs:vectors": "a number of bytes must follow", "stubs:vectors/0": "'0' is no number of bytes from 1 to 4096",
    "stubs:vectors/x": "'x' is no number of bytes", "v1:vectors/16": "the symbol has no size",
    "v1+": "'' is no number", "v1+x": "'x' is no number", "v1+-1": "'-1' is no number",
    "v1+0x100000": "is not in a section of code", "w*": "no code has a name like this", "v*:call": "no function has",
    "hand*:vectors": "no code has a name like this with a number", "@/nowhere": "No such file or directory",
}


def named(cpu):
    jump = "jmp" if cpu == "x86_64" else "b"
    return build(cpu, "%s/named-%s" % (WORK, cpu), [".text", ".globl _start", "_start: %s _start" % jump, NAMED[cpu],
                                                    """.balign 16
        .type described, %function\ndescribed: .cfi_startproc\n.cfi_remember_state\nnop\n.cfi_adjust_cfa_offset 0x40
        nop\n.cfi_restore_state\nnop\n.cfi_endproc\n.size described, . - described
        .type plain, %function\nplain: .cfi_startproc\nnop\n.cfi_endproc\n.size plain, . - plain"""])


def entries_same(cpu):
    image, file = named(cpu), WORK + "/entries"
    for ways in SAME[cpu]:
        write(file, ("# how this kernel is entered\n\n" + "".join("  %s # this\n" % way for way in ways[1])).encode())
        made = []
        for way in (["--entry=" + way for way in ways[0]], ["--entry=" + way for way in ways[1]], ["--entry=@" + file]):
            gen("-q", "--address=0", *way, "-o", file + ".out", image)
            made.append(read(file + ".out"))
        must(made[0] == made[1] == made[2] and len(made[0]) > 100, "%s: %s" % (ways, [len(m) for m in made]))


def entries_refused():
    image = named("x86_64")
    for text, wanted in REFUSED.items():
        said = gen("--size", "--entry=" + text, image, status=2 if text.startswith("@") else 1)[1]
        must(said.count("\n") == 1 and "--entry=%s: " % text in said and wanted in said, said)
    said = gen("--size", "--entry=described", image)[1]
    must("--entry=described is not used: this code has call frame information" in said, said)
    must("cfi_undefined" not in said, said)
    said = gen("--size", "--entry=described+1:start", image)[1]
    must("--entry=described+1:start is not used" in said and '__asm__(".cfi_undefined rip")' in said, said)
    must(gen("-q", "--size", "--entry=described+1:start", image)[1] == "", "-q")
    for kind in ("trap", "error", "start"): # its CFI says no more than any function's
        said = gen("--size", "--entry=plain:" + kind, image)[1]
        must("is not used" not in said, said)
    for entry, proven in (("v1:error", "trap"), ("v8", "error"), ("v8:trap", "error")):
        said = gen("--size", "--entry=" + entry, image, status=1)[1]
        name, kind = entry[:2], entry[3:] or "trap"
        must("--entry=%s:%s: it cannot be that, but :%s: iretq" % (name, kind, proven) in said, said)
    said = gen("--size", "--entry=vectors+2", named("aarch64"), status=1)[1]
    must("no instruction begins at" in said, said)


def entries_without_rows():
    """What has no row is named, with the reason."""
    said, log = gen("--size", "--json", "--entry=vectors:vectors", named("aarch64"))
    for entry in json.loads(said)["entries"]:
        must(entry["bytes"] > 0 and re.search("ELR_EL1", entry["reason"]), str(entry))
    log = gen("--size", "--entry=vectors:vectors", named("aarch64"))[1]
    must(re.search(r"vectors\+0x80 \(0x\w+\): 20 bytes have no row: the interrupted PC is in ELR_EL1", log) and
         "handle1+0x0 " in log and "handle1+0x18 " in log, log)
    image = build("x86_64", WORK + "/unreturned", [".text", ".globl _start", "_start: jmp _start",
                                                   NAMED["x86_64"].replace("iretq", "hlt")])
    log = gen("--size", "--entry=v*", image)[1]
    must(re.search(r"handle\+0x0 .*: \d+ bytes have no row: entries meet here that differ in how far SP is", log), log)


UNNAMED = """.text\n.globl _start\n.type _start, @function\n_start: call f\n1: jmp 1b\n.size _start, . - _start
    .type f, @function\nf: push %rbx\ncall g\npop %rbx\nret\n.size f, . - f
    .balign 16 # an entry without a symbol, of which nothing shows how the CPU enters it
.Lunnamed: push %rax\nmov %rsp, %rdi\ncall g\n1: hlt\njmp 1b
    .balign 16\n.type g, @function\ng: ret\n.size g, . - g
    .section .text.other, "ax"\npush %rax\ncall g\n1: hlt\njmp 1b
    .section .text.twins, "ax"\ntwin: push $1\ncld\ncall g\n1: hlt\njmp 1b"""
TWIN = ".section .text.twins, \"ax\"\ntwin: push $0\ncld\ncall g\n1: hlt\njmp 1b\n"


def entries_alike():
    """What a macro makes hundreds of is named four times for each reason, then counted; -v names all of it."""
    image = WORK + "/alike"
    write(image + ".s", (".globl _start\n_start: call g\n1: hlt\njmp 1b\n" + "".join(
        "entry_%d: push $%d\ncld\ncall g\n1: hlt\njmp 1b\n" % (i, i) for i in range(9)) +
        ".type g, @function\ng: ret\n.size g, . - g\n").encode())
    run("as", image + ".s", "-o", image + ".o")
    run("ld", image + ".o", "-o", image)
    said = gen("--size", "--find", image)[1]
    must(re.findall(r"(?m)^sfu-gen: .*: entry_(\d) \(.*; say it by --entry=entry_\1:KIND$", said) == list("0123"), said)
    must(": 5 more have no rows: nothing shows how it is entered; -v lists them\n" in said, said)
    said = gen("-v", "--size", "--find", image)[1]
    must(re.findall(r"say it by --entry=entry_(\d):KIND", said) == list("012345678"), said)
    must("-v lists them" not in said, said)
    must("entry_" not in gen("-q", "--size", "--find", image)[1], "-q")


MEETS = """.globl _start\n_start: call panic\n1: hlt\njmp 1b\nentry: push %%rax\ncld\nmov %%rsp, %%rdi\n%s
.type panic, @function\npanic: sub $8, %%rsp\ncall g\n1: hlt\njmp 1b\n.size panic, . - panic
.type g, @function\ng: ret\n.size g, . - g\n"""


def entry_jumps_to_called():
    """What an interrupt's entry jumps to, and others call, has no rows, and what helps is said: it helps."""
    image = WORK + "/meets"
    for way, lost in (("jmp panic", True), ("call panic\n1: hlt\njmp 1b", False)):
        write(image + ".s", (MEETS % way).encode())
        run("as", image + ".s", "-o", image + ".o")
        run("ld", image + ".o", "-o", image)
        said = gen("--size", "--find", "--entry=entry:trap", image)[1]
        must(bool(re.search(r"panic\+0x0 .*: 12 bytes have no row: ways meet here .* at a start; a call instead of a "
                            r"jump to here helps \(in C: -fno-optimize-sibling-calls\)$", said, re.M)) == lost, said)
        must(("panic" in said) == lost, said)


def entries_unnamed():
    """Code without a symbol has its address, and its distance from the symbol before it; --entry takes both. So is it
    with symbols that two pieces of code have."""
    image = WORK + "/unnamed"
    write(image + ".ld", b"SECTIONS { . = 0x401000; .text : { *(.text) } .other : { *(.text.other) } "
                         b".twins : { *(.text.twins) } }")
    for name, lines in (("a", UNNAMED + "\n.globl g"), ("b", TWIN)):
        write(image + name + ".s", (lines + "\n").encode())
        run("as", image + name + ".s", "-o", image + name + ".o")
    run("ld", "-T", image + ".ld", image + "a.o", image + "b.o", "-o", image)
    twins = [int(at, 16) for at in re.findall(r"(?m)^(\w+) t twin$", run(NM, "-n", image)[0])]
    where = addresses_of(image)
    entry, other = (where["f"] + 15) // 16 * 16, where["g"] + 1
    called = "%#x (f+%#x)" % (entry, entry - where["f"])
    out, said = gen("--size", "--json", "--find", image)
    pieces = {piece["function"]: int(piece["pc"], 16) for piece in json.loads(out)["without"]}
    must(pieces.pop("twin") == twins[0] and pieces == {called: entry, "%#x" % other: other}, out)
    for twin in twins:
        must("twin (%#x) has no rows: " % twin in said and "; say it by --entry=%#x:KIND" % twin in said, said)
    said = gen("--size", "--find", "--entry=twin", image, status=1)[1]
    must("--entry=twin: code at several addresses has this symbol: name the code by its address, as in %#x" % twins[0]
         in said, said)
    made = {}
    for text in ("f+%#x" % (entry - where["f"]), "f+%d" % (entry - where["f"]), "%#x" % entry, "%d" % entry):
        for kind in ("trap", "error"):
            gen("-q", "--address=0", "--find", "--entry=%s:%s" % (text, kind), "-o", image + ".out", image)
            made.setdefault(kind, set()).add(read(image + ".out"))
        must("vectors begin at a symbol" in gen("--size", "--entry=%s:vectors/16" % text, image, status=1)[1], text)
    must(len(made["trap"]) == len(made["error"]) == 1 and made["trap"] != made["error"], "they differ")
    said = gen("-v", "--size", "--entry=%#x:error" % entry, image)[1]
    must("%s: 1 bytes have no row: " % called not in said, said)


def data_before_code():
    """RISC-V: code behind data, marked by a symbol that names its instruction set, is code."""
    image = build("riscv64", WORK + "/marked", [
        ".text", ".globl _start", "_start: j _start", "table: .skip 64, 0x5a", ".option arch, rv64gc_zicsr",
        "unknown: csrr a0, scause", "addi sp, sp, -16\nsd a0, 0(sp)\nebreak"])
    marks = re.findall(r"(?m) (\$x\S+)$", run("riscv64-linux-gnu-nm", "--special-syms", image)[0])
    must(any(mark.startswith("$xrv64") for mark in marks), "no such mark: %s" % marks)
    without = json.loads(gen("--size", "--json", "--find", image)[0])["without"]
    must([piece["function"] for piece in without] == ["unknown"] and without[0]["bytes"] >= 10, str(without))


ARM_SWITCH = """push {r4, BP, lr}\n.cfi_def_cfa_offset 12\n.cfi_offset FPN, -8\n.cfi_offset 14, -4\nmov r2, sp
        str r2, [r0]\nmov sp, r1\npop {r4, BP, pc}"""
SWITCH = {
    "thumb": ARM_SWITCH.replace("FPN", "7"), "arm": ARM_SWITCH.replace("FPN", "11"),
    "riscv64": RISCV_SWITCH, "riscv32": RISCV_SWITCH,
    "x86_64": """push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset 6, -16\nmov %rsp, %rdx\nmov %rdx, (%rdi)
        mov %rsi, %rsp\npop %rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore 6\nret""",
    "s390x": """stmg %r11, %r15, 88(%r15)\n.cfi_offset 11, -72\n.cfi_offset 14, -48\nlgr %r4, %r15\nstg %r4, 0(%r2)
        lgr %r15, %r3\nlmg %r11, %r15, 88(%r15)\n.cfi_restore 11\n.cfi_restore 14\nbr %r14""",
    "aarch64": """stp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 29, -16\n.cfi_offset 30, -8\nmov x2, sp
        str x2, [x0]\nmov sp, x1\nldp x29, x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 29
        .cfi_restore 30\nret""",
}


START = """f: mov (%rdi), %rsp\npush $8\nlea 1f(%rip), %rax\npush %rax\nlretq\n1: nop\npush $0\npush %rsp\npushf
    push $8\nlea 2f(%rip), %rax\npush %rax\niretq\n.skip 3\n2: nop\n3: jmp 3b\nend: nop"""


def starts():
    """Start-up code goes on where it returns to by lretq and iretq: all but the three bytes in between has rows."""
    image = build("x86_64", WORK + "/starts", [".text", ".globl _start", "_start: jmp _start", START])
    where = {name: int(addr, 16) for addr, name in re.findall(r"([0-9a-f]+) [tT] (\w+)", run(NM, image)[0])}
    done = json.loads(gen("--size", "--json", "--entry=f:start", image)[0])["code"]["derived"]
    must(done == where["end"] - where["_start"] - 3, "%d bytes" % done)


def switched(cpu):
    """Behind a switch to another stack the old frame, which a register still knows, is not the one that returns."""
    done = report(CODE, assembled(cpu, "switch", {"switch": SWITCH[cpu]}))["sum"]
    must(done["corrected"] == "0" and int(done["silent"]) > 0, str(done))


def switched_without_cfi(cpu):
    """The way behind the switch ends in a return, by words of the new stack: where they are says who is returned to."""
    bare = re.sub(r"\.cfi_[^\n]*", "", SWITCH[cpu])
    image = without_cfi(cpu, "switch", {"switch": bare})
    all_derived(CODE, image)
    if not cpu.startswith("riscv") and cpu not in ARM: # objdump knows no tables of these
        described = without_cfi(cpu, "switch-cfi", {"switch": ".cfi_startproc\n%s\n.cfi_endproc" % SWITCH[cpu]})
        wanted, found = table(cpu, described, "--cfi=keep"), table(cpu, image, "--derive")
        for pc, row in found.items(): # more of them, for FP; RA may be in its register again, too
            other = wanted[max(at for at in wanted if at <= pc)]
            must(row[0] == other[0] and other[1] in (row[1], "u"), "0x%x: %s instead of %s" % (pc, row, other))


def test_trust():
    os.makedirs(WORK, exist_ok=True)
    if os.uname().machine == "x86_64":
        own = "-mgeneral-regs-only"
        for how in (("-O0",), ("-O1",), ("-O2",), ("-O3",), ("-Os",), ("-Oz",), ("-O2", "-fno-omit-frame-pointer"),
                      ("-O2", "-fcf-protection=full")):
            for compiler in ("gcc", "clang-16") + (("clang",) if how[0] in ("-O0", "-O2", "-Oz") else ()):
                test("interrupts %s %s" % (compiler, " ".join(how)), interrupts, compiler, *how, own)
        # gcc refuses handlers that may use vector registers; clang saves them.
        test("interrupts clang-16 with vector registers", interrupts, "clang-16", "-O2")
        for level in ("-O0", "-O2"):
            test("x86_64 system calls " + level, syscalls, level)
    for cpu in LASTS:
        test("%s falls off a function's end" % cpu, falls, cpu)
        test("%s falls off a function's end without CFI" % cpu, falls_without_cfi, cpu)
    for cpu in (*NAKED, *UNCALLED):
        test("%s naked functions" % cpu, naked, cpu)
        test("%s naked functions with the CFI of a prologue" % cpu, naked_with_prologue, cpu)
    for cpu in LASTING:
        test("%s entries that never return" % cpu, lasting, cpu)
    for cpu in MAYBE:
        test("%s code that never returns, by its instructions" % cpu, addressed, cpu)
    for cpu in BELOW:
        test("%s interrupt functions that never return, with an error code" % cpu, below, cpu)
    for cpu in VECTORED:
        test("%s an entry with CFI that jumps to a function" % cpu, vectored, cpu)
    for cpu in GOES_BACK:
        test("%s functions that return as from an interrupt" % cpu, goes_back, cpu)
    for cpu, shapes in MOVED.items():
        for i, shape in enumerate(shapes):
            test("%s a callee moves SP, and the CFI does not follow: %u" % (cpu, i), moved_by_callee, cpu, *shape)
    test("i386 a function in C that returns from an interrupt, with what it pushed still there", takes_wrong, "i386")
    for cpu in ("x86_64", "i386"):
        test("%s a function in C whose address a gate has" % cpu, named_by_gate, cpu)
        for level in ("O0", "O1", "O2", "Os"):
            for fills in ("a function", "an inline one"):
                test("%s -%s: %s fills gates" % (cpu, level, fills), gates, cpu, level, fills)
        for compiler, level in (("gcc", "O0"), ("gcc", "O1"), ("gcc", "O2"), ("gcc", "Os"), ("clang-16", "O1"),
                                ("clang-16", "O2"), ("clang-16", "Oz")):
            for fills in ("a function", "an inline one"):
                test("%s %s -%s: %s fills gates from tables" % (cpu, compiler, level, fills), gate_tables, cpu,
                     compiler, level, fills)
    for code in ("arm", "thumb"):
        test("arm %s: blx in the place of a return" % code, calls_back, code)
        for vectors in ("arm", "thumb"):
            for level in ("O1", "O2", "Os"):
                test("arm %s -%s: functions that vectors of %s code lead to" % (code, level, vectors), arm_vectors,
                     code, vectors, level)
    for cpu in FAR_CALLS:
        test("%s a call by a register whose number is known" % cpu, far_calls, cpu)
    for text in UNSURE_CALLS:
        test("a call by a register whose number is no function: %s" % text, unsure_calls, text)
    test("aarch64 functions behind short vectors", short_vectors)
    for behind in "", "b common\n.type common, %function\ncommon: ":
        test("aarch64 the last vector: " + behind.split("\n", maxsplit=1)[0], last_vector, behind)
    test("aarch64 vectors by a constant beside the code", last_vector, "", "b 8f\n9: .quad vectors\n8: ldr x0, 9b")
    for name in "f.cold", "f.__part.1", "OUTLINED_FUNCTION_0":
        test("a pattern of calls names no piece: " + name, pieces_of_functions, name)
    test("riscv64 a structure of an entry is no stack", structure_is_no_stack)
    for how in JUDGED:
        test("judged by code: " + how, judged_by_code, how)
    for cpu in BARE_CALLS:
        test("%s what an entry has to do for a row at its call" % cpu, bare_call, cpu)
    for cpu in FOUND:
        test("%s entries found" % cpu, finds, cpu)
        if cpu in SCHEDULED:
            test("%s entries that go on in another thread" % cpu, scheduled, cpu)
            test("%s return from an interrupt behind a handler that never returns" % cpu, unseen, cpu)
        test("%s entries named as what they are not" % cpu, conflicts, cpu)
    test("aarch64 entries from a lower exception level", lower_levels)
    test("s390x new PSWs that the image has", low_core)
    for cpu in CODE_ALONE:
        test("%s headers and padding are no code" % cpu, code_alone, cpu)
    for cpu in AT_ZERO:
        test("%s code at 0 beside debug sections" % cpu, at_zero, cpu)
    test("x86_64 sysretq, and CFI that says nothing", naked_system)
    for cpu in BACK:
        test("%s calls that never come back" % cpu, never_back, cpu)
    for cpu, texts in RETURNS_IF.items():
        for text in texts:
            test("%s calls that come back on a condition: %s" % (cpu, text.split("\n")[-1]), returns_if, cpu, text)
    test("an entry in a section that is no code", unread_entry)
    test("x86_64 far jumps of 32-bit code", far_jumps)
    for name in OTHER_MODES:
        test("code of other modes: " + name, other_modes, name)
    test("i386 what has been interrupted", programs)
    for cpu in "aarch64", "riscv64", "s390x":
        test(cpu + " what an entry keeps", kept_at_entry, cpu)
    test("x86_64 a call of what lies behind it", calls_behind)
    for cpu in PIECES:
        test("%s entries found: a label behind a call" % cpu, pieces, cpu)
    test("who has called the image's entry", firmware)
    test("--cfi=keep", keeps)
    test("a cold part", doubtful)
    test("flags behind an add", flags)
    test("a thunk that returns", returns)
    test("a table that ends somewhere: within an instruction", unbounded, "1b - table + 2")
    test("a table that ends somewhere: within one that no way leads to", unbounded, "3b - table + 2")
    test("a table that ends somewhere: at one that no way leads to", unbounded, "2b - table")
    for cpu in TRUE:
        test("%s without CFI" % cpu, derived_as_pieces if cpu.startswith("riscv") or cpu in ARM else derived, cpu)
        test("%s another stack" % cpu, switched, cpu)
        test("%s another stack without CFI" % cpu, switched_without_cfi, cpu)
    test("x86_64 start-up code", starts)
    test("s390x interrupt", interrupted)
    for cpu in NAMED:
        test("%s entries said in two ways" % cpu, entries_same, cpu)
    test("entries that are refused", entries_refused)
    for cpu in TRUE:
        test("%s functions with CFI that nobody has called" % cpu, started, cpu)
        test("%s no trace ends in padding" % cpu, not_before, cpu)
    for cpu in BOOTS:
        test("%s start-up code that jumps" % cpu, booted, cpu)
    test("entries without rows", entries_without_rows)
    test("entries without a symbol of their own", entries_unnamed)
    test("entries that are alike", entries_alike)
    test("entries: one jumps to what is called", entry_jumps_to_called)
    test("riscv64 code behind data", data_before_code)
    for cpu in ("riscv64", "riscv32"):
        for kind in ("trap", "scratch", "tp"):
            test("%s interrupt, %s" % (cpu, kind), riscv_trap, cpu, kind)
        test("%s entry of two ways" % cpu, riscv_two_ways, cpu)
        for level in ("-O0", "-O2"):
            test("%s interrupt, tp, walked %s" % (cpu, level), riscv_by_tp, cpu, level)
    for level in ("-O0", "-O2"):
        test("riscv64 interrupt function " + level, riscv_handler, level)
        for cpu in ("riscv64", "riscv32"):
            for compiler in (["riscv64-linux-gnu-gcc"], ["clang-16", "--target=%s-linux-gnu" % cpu]):
                test("%s interrupt function that stores the PC, %s %s" % (cpu, compiler[0], level),
                     riscv_storing_handler, cpu, compiler, level)
    test("riscv64 interrupt function that does not return", riscv_lasting_handler)
    for cpu in ZCMP:
        test("%s Zcmp" % cpu, zcmp, cpu)
    for name, what in UNKNOWN.items():
        test("without CFI: " + name, unknown, *what)
    # gcc takes the frame off too early in front of `lgdr %r15, %f1`.
    test("s390x libm", library, "s390x", "libm.so.6", 246)
    test("s390x libc", library, "s390x", "libc.so.6", 36)
    for name in ("libstdc++.so.6", "libasan.so.8", "libc.so.6"):
        test("riscv64 " + name, library, "riscv64", name, 0)
    test("aarch64 libm", library, "aarch64", "libm.so.6", 0)
    test("aarch64 libstdc++", library, "aarch64", "libstdc++.so.6", 0)
    test("aarch64 libc", library, "aarch64", "libc.so.6", 40)
    if os.uname().machine == "x86_64":
        test("x86_64 libm", library, "x86_64", "libm.so.6", 0)


# ---- hostile ----

# How far the CFA is above the SP of who calls.
AT_ENTRY = {"s390x": 160}


def noise(cpu, seed):
    """Random bytes as code, or code with random bytes in it, whose functions have CFI: nothing but an answer comes."""
    chance = random.Random(seed)
    lines = [".text"]
    for i in range(40):
        size = chance.choice((1, 4, 16, 64, 400))
        if chance.random() < 0.5:
            body = [chance.randrange(256) for _ in range(4 * size)]
        else: # branches, calls, pushes and pops near each other
            likely = (0xeb, 0x75, 0xe8, 0x50, 0x58, 0xc9, 0x5d, 0xff, 0x41, 0x48, 0x83, 0xc4, 0, 0x10, 0xf0, 0x14, 0x17,
                      0x54, 0xa9, 0xfd, 0x7b, 0xc3)
            if cpu.startswith("riscv"):
                likely = (0x13, 0x01, 0x6f, 0xef, 0x63, 0x67, 0x82, 0x80, 0x41, 0x11, 0x22, 0xe4, 0x06, 0x17, 0x73, 0,
                          0xf0, 0x83, 0x23, 0x34, 0xa0, 0xd1, 0xcc)
            body = [chance.choice(likely) for _ in range(4 * size)]
        lines += [".cfi_startproc", ".cfi_def_cfa_offset %d" % (AT_ENTRY.get(cpu, 0) + chance.choice((8, 0, 16))),
                  "f%d: .byte %s" % (i, ",".join(map(str, body))), ".cfi_endproc"]
    file = "%s/noise-%s-%d" % (WORK, cpu, seed)
    build(cpu, file, lines, "-e", "0")
    run(OUT + "/sfu-gen-sanitized", "-q", "-o", "/dev/null", "--address=0", file)


# Numbers at the ends of what a register holds, and what is computed from R and S with them: addresses, SP, FP, bounds.
EXTREMES = {
    "x86_64": ("""movabs $0x8000000000000000, R|movabs $0x7fffffffffffffff, R|mov $-1, R|mov $-0x80000000, R|neg R
        add $0x7fffffff, R|sub $0x7fffffff, R|lea -8(R), S|lea 8(R,S,8), R|mov R, S|add R, S|sub R, S""",
               """mov S, -8(R)|mov 8(R), S|mov R, %rsp|mov %rsp, R|add R, %rsp|sub R, %rsp|push R|pop R|push 8(R)
        mov R, %rbp|mov %rbp, R|and $-16, %rsp|leave|enter $65535, $31|std|rep stosq|rep movsb|mov R, %rcx
        mov R, %rdi|movups %xmm0, -8(R)|cmp $0x7fffffff, R|ja 1f|jmp *(,R,8)|jmp *R|call *R|movslq (R,S,4), R
        lea 0x7fffffff(R), %rsp|mov R, -8(%rsp)|call leaf|call 1f|1:|lea -8(%rbp), %rsp|mov %gs:8, R""",
               "%rax %rbx %rcx %rdi %r12 %rbp", "ret"),
    "s390x": ("""llihh R, 0x8000|llihf R, 0x7fffffff|oilf R, 0xffffffff|lghi R, -1|agfi R, -0x80000000|slgr R, S
        agr R, S|lgr R, S|la R, 4095(S)|lay R, -524288(S)|lay R, 524287(S)|sllg R, S, 12|lcgr R, S""",
              """stg S, -524288(R)|stg S, 524287(R)|lg S, -8(R)|stmg %r6, %r15, 524280(R)|lmg %r6, %r15, -8(R)
        mvc 4095(256,R), 0(S)|mvc 0(16,R), 4080(S)|mvc 416(256), 0(R)|lgr %r15, R|lgr R, %r15|aghi %r15, -160
        la %r15, 4095(R)|xc 0(256,R), 0(R)|lpswe 4088(R)|br R|basr %r14, R|vstm %v0, %v31, 4080(R)|clgfi R, 9|jh 1f
        1:|lg R, 0(R,S)|mvi 4095(R), 1|agr %r15, R|lgr %r11, R|lgr %r15, %r11|brasl %r14, leaf""",
              "%r1 %r2 %r4 %r11 %r12", "br %r14"),
    "aarch64": ("""mov R, #0x8000000000000000|mov R, #0x7fffffffffffffff|movn R, #0|add R, S, #4095
        sub R, S, #4095, lsl #12|add R, S, R|sub R, R, S|mov R, S|lsl R, S, #3|add R, S, R, lsl #3""",
                """str S, [R, #32760]|str S, [R, #-256]!|stp R, S, [R], #504|ldp R, S, [sp], #504|mov sp, R|mov R, sp
        sub sp, sp, #4095, lsl #12|sub sp, sp, R|msr vbar_el1, R|msr sp_el0, R|dc zva, R|stlr S, [R]|cmp R, #4095
        st1 {v0.16b-v3.16b}, [R], #64|b.hi 1f|ldr R, [R, S, lsl #3]|br R|blr R|bl leaf|1:|mov x29, R|mov sp, x29
        add x29, R, #4095|str S, [sp, R]|sub x30, x30, #4|mov x30, R""", "x0 x1 x9 x16 x19 x29", "ret"),
    "riscv64": ("""li R, -1|li R, 1|slli R, R, 63|addi R, S, -1|addi R, S, 2047|lui R, 0x80000|add R, R, S|sub R, R, S
        mv R, S|neg R, S|slli R, S, 4""",
                """sd S, 2047(R)|sd S, -2048(R)|ld S, 2047(R)|mv sp, R|mv R, sp|addi sp, sp, -2048|add sp, sp, R
        sub sp, sp, R|csrw stvec, R|csrw mscratch, R|csrrw sp, mscratch, sp|mv s0, R|addi s0, sp, 2032
        addi sp, s0, -2048|ld ra, 2040(sp)|sd ra, 2040(sp)|bltu R, S, 1f|lw R, 0(R)|jr R|jalr R|call leaf|1:""",
                "a0 a1 t0 t1 s0 s1", "ret"),
    "arm": ("""mvn R, #0|mov R, #0x80000000|mvn R, #0x80000000|add R, S, #255|sub R, S, #255|add R, R, S|rsb R, S, #0
        mov R, S|lsl R, S, #4|add R, S, R, lsl #2""",
            """str S, [R, #4095]|str S, [R, #-4095]|ldr S, [R], #-4095|stm R, {r4-r11, lr}|mov sp, R|mov R, sp
        sub sp, sp, #0xff000000|sub sp, sp, R|add sp, sp, R, lsl #4|push {r4-r11, lr}|cmp R, #255|bhi 1f
        ldrls pc, [pc, R, lsl #2]|ldr R, [R, S, lsl #2]|bx R|blx R|bl leaf|1:|mov r11, R|sub r11, r11, #255
        mov sp, r11|cps #0x13|srsdb sp!, #0x13|mov pc, R""", "r0 r1 r4 r7 r12", "bx lr")}


def extremes(cpu, seed):
    """Random functions of these, the half of which has CFI: what is computed of them never leaves a number's range."""
    numbers, uses, registers, end = EXTREMES[cpu]
    chance = random.Random(seed)
    lines = [".text", ".globl _start", "_start:", ".type leaf, %function", "leaf: " + end]
    for i in range(40):
        lines += [".type f%d, %%function" % i, "f%d:" % i] + [".cfi_startproc"] * (i % 2)
        for _ in range(chance.choice((5, 12, 30, 60))):
            text = chance.choice(chance.choice((numbers, uses)).replace("\n", "|").split("|")).strip()
            lines.append(re.sub(r"\b[RS]\b", lambda _: chance.choice(registers.split()), text))
        lines += ["1: " + end] + [".cfi_endproc"] * (i % 2)
    image = build(cpu, "%s/extremes-%s-%d" % (WORK, cpu, seed), lines)
    for option in ("--find", "--derive"):
        run(OUT + "/sfu-gen-sanitized", "-q", "-o", "/dev/null", "--address=0x10000000", option, image)


# What could make the reader slow, in N parts: text, and what stands in .rodata.
def function(name, text, count=""):
    return ".globl %s\n.type %s, @function\n%s: .cfi_startproc\n%s\n.cfi_endproc\n.size %s, %s\n" % (
        name, name, name, text, name, count or ". - " + name)


PUSH, POP = "push %rbx\n.cfi_adjust_cfa_offset 8\n", "pop %rbx\n.cfi_adjust_cfa_offset -8\n"
SHAPES = {
    "jumps from many functions to one place": (250, lambda n: (
        function("f", PUSH + "nop\n1: nop\n" + POP + "ret") + "".join(function("g%d" % i, PUSH + (
            "sub $%d, %%rsp\n.cfi_adjust_cfa_offset %d\njmp f + 2" % (8 * (i % 9), 8 * (i % 9)))) for i in range(n)),
        "")),
    "calls of each function by the one before": (250, lambda n: (
        "".join(function("f%d" % i, PUSH + "call f%d\n" % (i + 1) + POP + "ret") for i in range(n)) +
        function("f%d" % n, "ret"), "")),
    "calls of each function by the one behind": (250, lambda n: (
        function("f0", "ret") + "".join(function("f%d" % (i + 1), PUSH + "call f%d\n" % i + POP + "ret")
                                        for i in range(n)), "")),
    "branches to one place": (500, lambda n: (function("f", PUSH + "".join(
        "test %%eax, %%eax\nje 1f\nmov %%rdi, %d(%%rsp)\n" % (-8 * (i % 40)) for i in range(n)) + "1: " + POP + "ret"),
        "")),
    "branches back": (500, lambda n: (function("f", PUSH + "1: nop\n" + "".join(
        "test %%eax, %%eax\nje 1b\nmov %%rbx, %d(%%rsp)\n" % (-8 * (i % 40)) for i in range(n)) + POP + "ret"), "")),
    "loops in loops": (250, lambda n: (function("f", PUSH + "".join(
        "%d: mov %%rbx, %d(%%rsp)\n" % (i + 10, -8 * (i % 40)) for i in range(n)) + "".join(
            "test %%eax, %%eax\njne %db\nmov %%rax, %d(%%rsp)\n" % (n - 1 - i + 10, -8 * (i % 40)) for i in range(n)) +
        POP + "ret"), "")),
    "loops in loops that push": (250, lambda n: (function("f", "".join(
        "%d: push %%rbx\ntest %%eax, %%eax\n" % (i + 10) for i in range(n)) + "".join(
            "jne %db\n" % (n - 1 - i + 10) for i in range(n)) + "ret"), "")),
    "one long function": (5000, lambda n: (function("f", PUSH + ".rept %d\nmov %%rbx, -8(%%rsp)\n.endr\n" % n + POP +
                                                    "ret"), "")),
    "a long table": (1000, lambda n: (function("f", (
        "cmp $%d, %%eax\nja 9f\njmp *t(, %%rax, 8)\n1: .rept %d\nnop\n.endr\n9: ret" % (n - 1, n))),
        "t: .set i, 0\n.rept %d\n.quad f + 14 + i\n.set i, i + 1\n.endr\n" % n)),
    "many tables to the same places": (8, lambda n: (function("f", "".join(
        "cmp $499, %%eax\nja 9f\njmp *t%d(, %%rax, 8)\n" % i for i in range(n)) + ".rept 600\nnop\n.endr\n9: ret"),
        "".join("t%d: .set i, 0\n.rept 500\n.quad f + %d + i\n.set i, i + 1\n.endr\n" % (i, 14 * n)
                for i in range(n)))),
    "symbols in each other": (250, lambda n: (function("main", "call s0\nud2") + "".join(
        ".globl s%d\n.type s%d, @function\ns%d: push %%rbx\n.size s%d, 5000\n" % (i, i, i, i) for i in range(n)) +
        ".skip 5000, 0x90\nret\n", "")),
    "CFI in each other": (250, lambda n: ("".join(
        "f%d: push %%rbx\n" % i for i in range(n)) + ".skip 5000, 0x90\nret\n", "", n)),
}


def scale_image(name, shape, n):
    made = shape(n)
    lines = [".text", ".globl _start", "_start: nop", made[0], ".section .rodata", made[1]]
    if len(made) > 2: # CFI by hand: each function has the next 5000 bytes
        lines += [".section .eh_frame, \"a\", @progbits", "c: .long 2f - 1f\n1: .long 0\n.byte 1\n.asciz \"zR\"",
                  ".uleb128 1\n.sleb128 -8\n.byte 16, 1, 0x1b, 12, 7, 8, 0x90, 1\n.balign 8\n2:"]
        lines += ["3: .long 5f - 4f\n4: .long 4b - c\n.long f%d - .\n.long 5000\n.byte 0\n.balign 4\n5:" % i
                  for i in range(n)] + [".long 0"]
    return build("x86_64", "%s/%s-%d" % (WORK, re.sub(r"\W+", "-", name), n), lines)


def instructions(image):
    """How many sfu-gen executes for the code of IMAGE."""
    return host.instructions("build/tools/sfu-gen", "-q", "--derive", "--size", image)


def random_image(cpu, n):
    """N functions of random bytes."""
    chance = random.Random(cpu)
    lines = [".text"]
    for i in range(n):
        lines += [".cfi_startproc", ".cfi_def_cfa_offset %d" % (AT_ENTRY.get(cpu, 0) + 16), "f%d: .byte %s" % (
            i, ",".join(str(chance.randrange(256)) for _ in range(64))), ".cfi_endproc"]
    return build(cpu, "%s/random-%s-%d" % (WORK, cpu, n), lines, "-e", "0")


def scales(least, image):
    """Twice as many parts take about twice as many instructions: what the second doubling adds is at most 2.5 times
    what the first adds, and so nothing is the square of the size."""
    counts = [instructions(image(n)) for n in (least, 2 * least, 4 * least)]
    first, second = counts[1] - counts[0], counts[2] - counts[1]
    must(0 < second <= 2.5 * first, "%d, %d and %d instructions for %d, %d and %d parts"
         % (*counts, least, 2 * least, 4 * least))
    return "%.2f times" % (second / first)


def test_hostile():
    os.makedirs(WORK, exist_ok=True)
    for cpu in TRUE:
        for seed in range(12):
            test("%s noise %d" % (cpu, seed), noise, cpu, seed)
    for cpu in EXTREMES:
        for seed in range(4):
            test("%s numbers at their ends %d" % (cpu, seed), extremes, cpu, seed)
    for name, (least, shape) in SHAPES.items():
        test("twice: " + name, scales, least, functools.partial(scale_image, name, shape))
    for cpu in TRUE:
        test("twice: random bytes, " + cpu, scales, 400, functools.partial(random_image, cpu))


if __name__ == "__main__":
    {"facts": test_facts, "planted": test_planted, "trust": test_trust, "hostile": test_hostile}[sys.argv[1]]()
    finish()
