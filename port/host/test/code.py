#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""code.py facts | trust | hostile: tests of what reads machine code (port/host/code), in build/host.

facts    what each instruction does is known, and a fault in what is known of it is noticed
trust    code and CFI: agreement where compilers tell the truth, the code's rows where they do not, by the machine
hostile  random code, under the sanitizers
"""
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gen
from gen import GCC, OUT, TC, must, read, run, test, write

WORK = OUT + "/work/code-" + sys.argv[1]
CODE = OUT + "/reads"

# ---- facts ----

# Functions whose CFI is true at each instruction: all of their code is to be confirmed. By the manuals of the CPUs.
TRUE = {
    "x86_64": {
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
        "branches": "je 1f\nret\n1: je 1f\nret\n1: ret",
        "numbers": """mov $0x10, %eax\nsub %rax, %rsp\n.cfi_adjust_cfa_offset 0x10\nmov $0x110, %eax\nsub %rax, %rsp
            .cfi_adjust_cfa_offset 0x110\nadd %al, (%rax)\nadd $0x120, %rsp\n.cfi_adjust_cfa_offset -0x120\nret""",
    },
    "aarch64": {
        "frame": """stp x29, x30, [sp, #-48]!\n.cfi_def_cfa_offset 48\n.cfi_offset 29, -48\n.cfi_offset 30, -40
            mov x29, sp\n.cfi_def_cfa_register 29\nstr x19, [sp, #16]\nsub sp, sp, x0\nbl 1f\n1: mov x1, sp
            and sp, x1, #-64\nmov sp, x29\n.cfi_def_cfa_register 31\nldr x19, [sp, #16]\nldp x29, x30, [sp], #48
            .cfi_def_cfa_offset 0\n.cfi_restore 29\n.cfi_restore 30\nret""",
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
    },
}

# Behind these instructions nothing is known of SP or, with the mark of FP, of FP. What CFI says there stays.
LOST = {
    "x86_64": """and $-64, %rsp | push %ax | xchg %rax, %rsp | mov %eax, %esp | mov (%rdi), %rsp |
        add %rdi, %rsp | neg %rsp | xadd %rax, %rsp | bswap %rsp |
        cmovz %rax, %rsp | enter $8, $0 | sub $8, %esp | pop %sp | imul %rax, %rsp | movzbl (%rdi), %esp |
        lea (%rsp,%rax), %rsp
        | bsf %rax, %rsp | lcall *(%rdi) | or $1, %rsp | cmpxchg %rsp, %rsp""".split("|"),
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
        str x30, [sp, #8] ; .cfi_offset 30, -56 ; mov x9, sp ; bl frame ; mov sp, x9""".split("|"),
    "s390x": """lgr %r15, %r1 | agr %r15, %r1 | nill %r15, 0xfff0 | lay %r15, 0(%r1, %r15) | lmg %r14, %r15, 0(%r1) |
        lmg %r14, %r2, 0(%r1) | ngr %r15, %r1 | lgr %r9, %r15 ; brasl %r9, frame ; lgr %r15, %r9 | pr | diag 1, 2, 0 |
        lgr %r5, %r15 ; brasl %r14, frame ; lgr %r15, %r5 | lgr %r5, %r15 ; svc 0 ; lgr %r15, %r5 |
        ldgr %f0, %r15 ; ldr %f0, %f1 ; lgdr %r15, %f0 | ldgr %f3, %r15 ; vl %v3, 0(%r1) ; lgdr %r15, %f3 |
        ldgr %f2, %r15 ; axbr %f0, %f0 ; lgdr %r15, %f2 | exrl %r1, 1f ; 1: lgr %r15, %r0 | ex %r1, 0(%r2) |
        stg %r15, 160(%r15) ; mvi 163(%r15), 0 ; lg %r15, 160(%r15) |
        stg %r15, 168(%r15) ; mvc 160(16, %r15), 161(%r15) ; lg %r15, 168(%r15) |
        stg %r15, 160(%r15) ; st %r1, 164(%r15) ; lg %r15, 160(%r15) |
        lgr %r6, %r15 ; mvcle %r6, %r4, 0 ; lgr %r15, %r6 |
        lgr %r7, %r15 ; dlgr %r6, %r4 ; lgr %r15, %r7 | lgr %r6, %r15 ; brct %r6, 1f ; 1: lgr %r15, %r6""".split("|"),
}

# Faults in what is known: file, what stands there, and what is put in its place. Another text of WHAT counts once.
FAULTS = {
    "x86_64": [("x86_64.c", a, b) for a, b in (
        ("code_add(fact, CODE_STORE, reg, reg, RSP, -8);", ";"),
        ("code_add(fact, CODE_WRITE, 0, 8, RSP, -8);\\n    code_add(fact, CODE_SET, RSP, 0, RSP, -8)", ";"),
        ("code_add(fact, CODE_SET, RSP, 0, RSP, -8)", "code_add(fact, CODE_SET, RSP, 0, RSP, -16)"),
        ("code_add(fact, CODE_LOAD, reg, reg, RSP, 0)", "code_add(fact, CODE_LOAD, reg, reg, RSP, 8)"),
        ("if (reg != RSP)\\n        code_add(fact, CODE_SET, RSP, 0, RSP, 8);", ""),
        ("code_add(fact, CODE_SET, RSP, 0, RBP, 0)", "code_add(fact, CODE_SET, RSP, 0, RSP, 0)"),
        ("code_add(fact, CODE_LOAD, RBP, RBP, RSP, 0)", "code_forget(fact, RBX)"),
        ("code_forget(fact, RSP);\\n        code_forget(fact, RBP);", ";"),
        ("load_address ? CODE_SET : CODE_LOAD", "load_address ? CODE_LOAD : CODE_LOAD"),
        ("load_address ? CODE_SET : CODE_LOAD", "CODE_SET"),
        ("d->insn->id == X86_INS_SUB ? -1 : 1", "1"),
        ("code_add(fact, CODE_ALIGN, to, 0, 0, 0)", "(void)0"),
        ("code_add(fact, CODE_SUM, to, from, to, sign)", "(void)0"),
        ("code_add(fact, CODE_STORE, from, from, base, k)", "(void)0"),
        ("for (i = 0; i < num_written; i++)", "for (i = 1; i < num_written; i++)"),
        ("case X86_INS_LCALL:", "case X86_INS_AAA:"),
        ("if (x->prefix[2] == 0x66 &&", "if (0 &&"),
        ("{X86_REG_RSP, X86_REG_ESP,", "{X86_REG_RSP, X86_REG_RSP,"),
        ("{X86_REG_R10, X86_REG_R10D", "{X86_REG_R10D, X86_REG_R10D"),
        ("mem->index == X86_REG_INVALID", "mem->index != X86_REG_RIP"),
        ("fact->flow == CODE_NEXT && !from_pc", "(from_pc || fact->flow == CODE_NEXT)"),
        ("fact->size <= KEPT_BYTES && fact->flow == CODE_NEXT &&", "fact->size <= KEPT_BYTES &&"),
        (" | (uint64_t)size << 56", ""),
    )],
    "aarch64": [("aarch64.c", a, b) for a, b in (
        ("(word & 1u << 22) != 0 ? 12 : 0", "0"),
        ("(word & 1u << 30) != 0 ? -imm : imm", "imm"),
        ("code_add(fact, CODE_ALIGN, SP, 0, 0, 0)", "(void)0"),
        ("(uint64_t)field(word, 5, 16) << shift));", "(uint64_t)field(word, 5, 16)));"),
        ("code_add(fact, CODE_INSERT,", "(void)("),
        ("code_forget(fact, rd(word));\\n    } else {\\n        forget(fact, rd(word));\\n    }\\n}\\n\\n"
         "/* Whether an operand",
         "    } else {\\n        forget(fact, rd(word));\\n    }\\n}\\n\\n/* Whether an operand"),
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
        ("word & 1u << 21) /* mrs, sysl */\\n        forget(fact, rd(word));", "0)\\n        ;"),
        ("code_add(fact, CODE_FORGET, 0, X17, 0, 0);", ";"),
        ("code_add(fact, CODE_LOAD, reg, reg, rn(word), k)", "(void)0"),
        ("code_add(fact, CODE_STORE, reg, reg, rn(word), k)", "(void)0"),
        ("mode == 1 ? 0 : k;", "k;"),
        ("mode == 1 ? 0 : k, (uint8_t)", "k, (uint8_t)"),
        ("code_add(fact, CODE_SET, rn(word), 0, rn(word), k)", "(void)0"),
        ("forget(fact, rd(word));\\n        forget(fact, field(word, 10, 5));\\n    } else if", ";\\n    } else if"),
        ("access(fact, word, loads, second, at + bytes, bytes)", "(void)second"),
        ("if (mode & 1)\\n            code_forget(fact, rn(word));", ""),
        ("if (word & 1u << 23)\\n            code_forget(fact, rn(word));", ""),
        ("if (!is_vector)\\n        forget(fact, rd(word));\\n    if (ordered) {", "if (ordered) {"),
        ("forget(fact, field(word, 10, 5));\\n        forget(fact, rd(word) | 1u);", "forget(fact, rd(word) | 1u);"),
        ("    forget(fact, field(word, 16, 5));\\n    if (!ordered", "    if (!ordered"),
        ("0x3ffff | 1ull << X30", "0x1ff | 1ull << X30"),
        ("0x3ffff | 1ull << X30", "0x3ffff"),
        ("SP, X29, X30, X18", "SP, X29, X30, 0"),
    )],
}


def assembled(cpu, name, functions):
    lines = [".text", ".globl _start", "_start:"]
    for function, text in functions.items():
        lines += [".balign 16", ".globl %s" % function, ".type %s, %%function" % function, function + ":",
                  ".cfi_startproc",
                  text, ".cfi_endproc", ".size %s, . - %s" % (function, function)]
    file = "%s/%s-%s" % (WORK, name, cpu)
    arch = {"aarch64": ["-march=armv9.2-a+memtag+sve2"], "x86_64": [], "s390x": ["-march=arch13"]}[cpu]
    write(file + ".s", ("\n".join(lines) + "\n").encode())
    run("%s/%s/as" % (TC, cpu), *arch, file + ".s", "-o", file + ".o")
    run("%s/%s/ld" % (TC, cpu), file + ".o", "-o", file)
    return file


def report(program, image):
    """What PROGRAM says of IMAGE: of each function that is corrected, and of all."""
    lines = run(program, image)[0].splitlines()
    return {line.split()[0]: dict(zip(*[iter(line.split()[1:])] * 2)) for line in lines}


def images_of(cpu):
    true = assembled(cpu, "true", TRUE[cpu])
    # A frame of 64 bytes, the instruction, and an epilogue.
    begin = {"x86_64": "sub $56, %rsp\n.cfi_adjust_cfa_offset 56\n",
             "aarch64": "sub sp, sp, #64\n.cfi_def_cfa_offset 64\n",
             "s390x": "aghi %r15, -64\n.cfi_def_cfa_offset 224\n"}[cpu]
    end = {"x86_64": "\ntest %eax, %eax\nud2", "aarch64": "\ncmp x0, x1\nbrk #1",
           "s390x": "\ncgr %r0, %r1\n.short 0"}[cpu]
    ret = "br %r14" if cpu == "s390x" else "ret"
    lost = [assembled(cpu, "lost-%d" % i, {"frame": "nop\n%s" % ret, "lost": begin + text.replace(";", "\n") + end})
            for i, text in enumerate(LOST[cpu])]
    return true, lost


def judged(program, cpu, true, lost):
    """What is wrong with PROGRAM, or None."""
    done = report(program, true)
    if len(done) > 2 or done["sum"]["confirmed"] != done["all"]["bytes"]:
        return "true: %s" % done
    for image, text in zip(lost, LOST[cpu]):
        done = report(program, image)
        if int(done["sum"]["silent"]) == 0 or int(done["sum"]["corrected"]) > 0:
            return "%s: %s" % (text.strip(), done)
    return None


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
    objects = [o for o in read(CODE + ".objects").decode().split() if not o.endswith(file[:-2] + ".o")]
    run("gcc", "-std=c99", "-D_GNU_SOURCE", "-w", "-I.", "-Iport/host", "-Iport/host/code", *flags, WORK + "/" + file,
        *objects, *read(CODE + ".libraries").decode().split(), "-o", WORK + "/planted")
    must(judged(WORK + "/planted", cpu, *images_of(cpu)) is not None, "nobody notices")


def test_facts():
    os.makedirs(WORK, exist_ok=True)
    for cpu in TRUE:
        test("%s facts" % cpu, facts, cpu)
        for i, fault in enumerate(FAULTS.get(cpu, ())):
            test("%s fault %d: %s" % (cpu, i, fault[1].split("\\n")[0].strip()), planted, cpu, *fault)


# ---- trust ----

def interrupts(compiler, level):
    """At each instruction the handler's caller is what it interrupted (FAULTS.md: interrupt-attribute)."""
    name = "%s/interrupts-%s%s" % (WORK, os.path.basename(compiler), level)
    run(compiler, level, "-mgeneral-regs-only", "-mno-red-zone", "-fno-stack-protector", "-fno-pie", "-w",
        "-fasynchronous-unwind-tables", "-c", "port/host/test/handlers.c", "-o", name + ".o")
    run("gcc", "-O1", "-no-pie", "-w", "-I.", "port/host/test/interrupts.c", "sfu.c", name + ".o", "-o", name)
    gen.gen("-q", "--address=0x10000000", "-o", name + ".tables", name)
    result = run(name, name + ".tables")[0].strip()
    gen.gen("-q", "--cfi=keep", "--address=0x10000000", "-o", name + ".kept", name)
    kept = run(name, name + ".kept", status=1)[0].split()
    must(int(kept[2]) > int(kept[0]) // 2, "by the CFI alone only %s of %s are wrong" % (kept[2], kept[0]))
    return result


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
    for options, rows, named in (((), 3, True), (("--cfi=keep",), 1, False)):
        done = gen.gen(*options, "-o", "/dev/null", "--address=0", image)[1]
        must((", %d rows" % rows) in done and ("lies (" in done) == named, done)
    json = gen.gen("--json", "-q", "--size", image)[0]
    must('"corrected": 1' in json and '"function": "lies"' in json, json)


def flags():
    """What clang 14 leaves out between the add and the pop is taken from the code (FAULTS.md: clang-flags)."""
    text = """push %rbx\n.cfi_adjust_cfa_offset 8\nsub $8, %rsp\n.cfi_adjust_cfa_offset 8\nadd $8, %rsp\ntest %rbx, %rbx
        je 1f\n.cfi_adjust_cfa_offset -8\n1: pop %rbx\n.cfi_adjust_cfa_offset -8\nret"""
    done = report(CODE, assembled("x86_64", "flags", {"flags": text}))["sum"]
    must(done["corrected"] == "5", str(done))


def doubtful():
    """CFI that is right and then is not, where code has done nothing to it, says that the way is not what it seems."""
    text = "nop\n.cfi_def_cfa_offset 48\nadd $40, %rsp\n.cfi_def_cfa_offset 8\nret"
    image = assembled("x86_64", "doubtful", {"cold": text})
    must("corrected 0" in run(CODE, image)[0].splitlines()[-1], run(CODE, image)[0])


def table(cpu, image, *options):
    """What objdump says of the tables that are made of IMAGE: for each row's PC where its CFA and its RA are."""
    gen.gen("-q", *options, "--side=" + image + ".side", image)
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
    call = {"x86_64": "call ", "aarch64": "bl ", "s390x": "brasl %r14, "}[cpu]
    stop = {"x86_64": "ud2", "aarch64": "brk #1", "s390x": ".short 0"}[cpu]
    return "\n".join([".globl main", ".type main, %function", "main:", ".cfi_startproc"] +
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
        arch = {"aarch64": ["-march=armv9.2-a"], "s390x": ["-march=arch13"]}.get(cpu, [])
        run("%s/%s/as" % (TC, cpu), *arch, file + ".s", "-o", file + ".o")
        run("%s/%s/ld" % (TC, cpu), "--no-eh-frame-hdr", file + ".o", "-o", file)
        both.append(table(cpu, file, *(["--cfi=keep"] if described else ["--derive"])))
    same = sum(both[0].get(pc) == row for pc, row in both[1].items())
    other = {hex(pc): (both[0][pc], row) for pc, row in both[1].items() if pc in both[0] and both[0][pc] != row}
    must(same > 0.6 * len(both[0]), "%d rows of %d: %s %s" % (same, len(both[0]), other, both))
    return "%d rows, %d said in another way: %s" % (same, len(other), other)


# Assembly without CFI of which the code does not say where the caller is; and what there is to be seen of it in spite
# of that: the number of rows.
UNKNOWN = {
    "nobody calls it": ("f: push %rbx\npop %rbx\nret", "nop", 0),
    "a callee pops": ("f: push %rbx\ncall g\nnop\npop %rbx\nret\ng: ret $8", "call f", 3),
    "data in text": ("f: jmp 1f\n.byte 0xe8, 0x55, 0x5d\n1: ret", "call f", 2),
    "a jump to what a register has": ("f: jmp *%rax\n1: push %rbx\nret", "call f", 1),
    "two ways with another SP": ("f: test %eax, %eax\nje 1f\npush %rbx\n1: nop\nret", "call f", 1),
    "another stack": ("f: mov %rsp, (%rdi)\nmov %rsi, %rsp\npop %rbx\nret", "call f", 1),
    "entered in the middle": ("f: push %rbx\n.globl g\ng: nop\npop %rbx\nret", "call f\ncall g", 1),
    "an instruction within another": ("f: jmp 1f\n.byte 0x48\n1: push %rbx\npop %rbx\nret", "call f", 4),
}


def unknown(code, calls, wanted):
    image = WORK + "/unknown"
    write(image + ".s", (".text\n.globl _start\n_start: nop\n.globl main\nmain: .cfi_startproc\n%s\nud2\n.cfi_endproc\n"
                         ".balign 16\n.globl f\n%s\n" % (calls, code)).encode())
    run(TC + "/x86_64/as", image + ".s", "-o", image + ".o")
    run(TC + "/x86_64/ld", image + ".o", "-o", image)
    symbols = run("nm", image)[0]
    start = int(re.search(r"([0-9a-f]+) T f\b", symbols)[1], 16)
    rows = {pc: row for pc, row in table("x86_64", image, "--derive").items() if pc >= start}
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
    where = {name: int(addr, 16) for addr, name in re.findall(r"([0-9a-f]+) [tT] (\w+)", run("nm", image)[0])}
    rows = {pc: row for pc, row in table("s390x", image, "--entry=entry").items() if pc >= where["entry"]}
    own = [row for pc, row in sorted(rows.items()) if pc < where["handler"]]
    must(min(rows) == where["saved"] and where["back"] not in rows, str(rows))
    must(own and all(cfa == "sp+464" and "c-168" in ra for cfa, ra in own), str(own))
    must(rows[where["handler"]][0] == "sp+160", str(rows))


SWITCH = {
    "x86_64": """push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset 6, -16\nmov %rsp, %rdx\nmov %rdx, (%rdi)
        mov %rsi, %rsp\npop %rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore 6\nret""",
    "s390x": """stmg %r11, %r15, 88(%r15)\n.cfi_offset 11, -72\n.cfi_offset 14, -48\nlgr %r4, %r15\nstg %r4, 0(%r2)
        lgr %r15, %r3\nlmg %r11, %r15, 88(%r15)\n.cfi_restore 11\n.cfi_restore 14\nbr %r14""",
    "aarch64": """stp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 29, -16\n.cfi_offset 30, -8\nmov x2, sp
        str x2, [x0]\nmov sp, x1\nldp x29, x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 29
        .cfi_restore 30\nret""",
}


def switched(cpu):
    """Behind a switch to another stack the old frame, which a register still knows, is not the one that returns."""
    done = report(CODE, assembled(cpu, "switch", {"switch": SWITCH[cpu]}))["sum"]
    must(done["corrected"] == "0" and int(done["silent"]) > 0, str(done))


def test_trust():
    os.makedirs(WORK, exist_ok=True)
    if os.uname().machine == "x86_64":
        for compiler in ("gcc", "clang", "clang-16"):
            for level in ("-O0", "-O2", "-Oz"):
                test("interrupts %s %s" % (compiler, level), interrupts, compiler, level)
    test("--cfi=keep", keeps)
    test("a cold part", doubtful)
    test("flags behind an add", flags)
    for cpu in TRUE:
        test("%s without CFI" % cpu, derived, cpu)
        test("%s another stack" % cpu, switched, cpu)
    test("s390x interrupt", interrupted)
    for name, what in UNKNOWN.items():
        test("without CFI: " + name, unknown, *what)
    test("s390x libm", library, "s390x", "libm.so.6", 0)
    test("s390x libc", library, "s390x", "libc.so.6", 0)
    test("aarch64 libm", library, "aarch64", "libm.so.6", 0)
    test("aarch64 libstdc++", library, "aarch64", "libstdc++.so.6", 0)
    test("aarch64 libc", library, "aarch64", "libc.so.6", 40)
    if os.uname().machine == "x86_64":
        test("x86_64 libm", library, "x86_64", "libm.so.6", 0)


# ---- hostile ----

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
            body = [chance.choice(likely) for _ in range(4 * size)]
        lines += [".cfi_startproc", ".cfi_def_cfa_offset %d" % chance.choice((8, 0, 16)),
                  "f%d: .byte %s" % (i, ",".join(map(str, body))), ".cfi_endproc"]
    file = "%s/noise-%s-%d" % (WORK, cpu, seed)
    write(file + ".s", ("\n".join(lines) + "\n").encode())
    run("%s/%s/as" % (TC, cpu), file + ".s", "-o", file + ".o")
    run("%s/%s/ld" % (TC, cpu), "-e", "0", file + ".o", "-o", file)
    run(OUT + "/sfu-gen-sanitized", "-q", "-o", "/dev/null", "--address=0", file)


def test_hostile():
    os.makedirs(WORK, exist_ok=True)
    for cpu in TRUE:
        for seed in range(12):
            test("%s noise %d" % (cpu, seed), noise, cpu, seed)


if __name__ == "__main__":
    {"facts": test_facts, "trust": test_trust, "hostile": test_hostile}[sys.argv[1]]()
    sys.exit(gen.failed)
