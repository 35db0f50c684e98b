# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Exception entries, and where each keeps the return address of what it has interrupted at its call of handle: from SP,
from the interrupted SP, or nowhere for sure. The text says where; it is the truth."""
import json
import subprocess

AARCH64_END = """
    mrs x1, elr_el1
    str x1, [sp, #248]
    mov x0, sp
    bl handle
    ldr x1, [sp, #248]
    msr elr_el1, x1
    ldp x29, x30, [sp, #232]
    ldp x0, x1, [sp]
    add sp, sp, #272
    eret
"""
RISCV_END = """
    csrr t0, mepc
    sd t0, 16(sp)
    call handle
    ld t0, 16(sp)
    csrw mepc, t0
    ld t0, 24(sp)
    ld ra, 8(sp)
    addi sp, sp, 64
    mret
"""
S390X_END = """
    la %r2, 160(%r15)
    brasl %r14, handle
    mvc 0x280(16), 288(%r15)
    lmg %r0, %r15, 160(%r15)
    lpswe 0x280
"""

BEGIN = {
    "aarch64": "sub sp, sp, #272; stp x0, x1, [sp]; ",
    "riscv64": "addi sp, sp, -64; sd t0, 24(sp); ",
    "s390x": "stmg %r0, %r15, 0x200; aghi %r15, -304; mvc 288(16, %r15), 0x150; "
}
END = {"aarch64": AARCH64_END, "riscv64": RISCV_END, "s390x": S390X_END}
RA = {"aarch64": 30, "riscv64": 1, "s390x": 14}
RETURN = {"aarch64": "ret", "riscv64": "ret", "s390x": "br %r14"}
SAVE = {
    "aarch64": "stp x29, x30, [sp, #232]",
    "riscv64": "sd ra, 8(sp)",
    "s390x": "mvc 160(128, %r15), 0x200"
}
PLACE = {"aarch64": 240, "riscv64": 8, "s390x": 160 + 8 * 14}
# What stands behind SAVE, or in its place, and makes the word another one, or perhaps.
SPOILED = {
    "aarch64": [
        "adr x30, e; stp x29, x30, [sp, #232]", "bl handle; stp x29, x30, [sp, #232]",
        SAVE["aarch64"] + "; str x1, [sp, #240]", SAVE["aarch64"] + "; str w1, [sp, #244]",
        SAVE["aarch64"] + "; add x2, sp, #240; str x1, [x2]",
        "str x29, [sp, #232]; str w30, [sp, #240]", "str x29, [sp, #232]; cbz x0, 1f; str x30, [sp, #240]; 1:"
    ],
    "riscv64": [
        "la ra, e; sd ra, 8(sp)", "call handle; sd ra, 8(sp)", "sd ra, 8(sp); sd t0, 8(sp)",
        "sd ra, 8(sp); sw t0, 12(sp)", "sw ra, 8(sp)", "beqz a0, 1f; sd ra, 8(sp); 1:",
        "sd ra, 8(sp); addi t0, sp, 8; sd a0, 0(t0)"
    ],
    "s390x": [
        "larl %r14, e; stg %r14, 0x270; mvc 160(128, %r15), 0x200", "mvc 160(128, %r15), 0x200; stg %r1, 272(%r15)",
        "mvc 160(128, %r15), 0x200; st %r1, 276(%r15)", "mvc 160(112, %r15), 0x200; mvc 272(4, %r15), 0x270",
        "xc 0x270(8), 0x270; mvc 160(128, %r15), 0x200", "brasl %r14, handle; mvc 160(128, %r15), 0x200"
    ]
}
# An entry of aarch64 with a frame of so many bytes, on another stack.
LARGE = """e: sub sp, sp, {0}
    stp x0, x1, [sp]
    stp x29, x30, [sp, #232]
    mrs x1, elr_el1
    str x1, [sp, #248]
    mov x29, sp
    ldr x1, =irq_stack
    mov sp, x1
    bl handle
    mov sp, x29
    ldr x1, [sp, #248]
    msr elr_el1, x1
    ldp x29, x30, [sp, #232]
    ldp x0, x1, [sp]
    add sp, sp, {0}
    eret
    .bss
    .skip 4096
irq_stack:"""
# Entries of another shape, as whole texts, with the place: from SP or, "interrupted", from the interrupted SP.
OTHERS = {
    "aarch64": [("""e: stp x29, x30, [sp, #-16]!
    stp x0, x1, [sp, #-16]!
    mrs x1, elr_el1
    str x1, [sp, #-16]!
    bl handle
    ldr x1, [sp], #16
    msr elr_el1, x1
    ldp x0, x1, [sp], #16
    ldp x29, x30, [sp], #16
    eret""", "sp", 40),
                (LARGE.format("#272"), "interrupted", 240 - 272),
                (LARGE.format("#10, lsl #12"), "interrupted", 240 - 40960)],
    "riscv64": [("""e: addi sp, sp, -64
    sd ra, 0(sp)
    sd s0, 8(sp)
    csrr s0, mepc
    sd s0, 16(sp)
    mv s0, sp
    lla sp, irq_stack
    call handle
    mv sp, s0
    ld s0, 16(sp)
    csrw mepc, s0
    ld ra, 0(sp)
    ld s0, 8(sp)
    addi sp, sp, 64
    mret
    .bss
    .skip 4096
irq_stack:""", "interrupted", -64)],
    "s390x": []
}

# 32-bit ARM: entries from e on, and what is known of the mode that was interrupted at the call of handle: numbers of
# registers with offsets from SP; and from which instruction on, up to which. An empty set: nothing for sure.
SVC, SYS = {(164, 64), (165, 52), (15, 56), (128, 60)}, {(149, 64), (150, 52), (15, 56), (128, 60)}
ALL = "push {{r0-r12, lr}}; bl handle; pop {{r0-r12, lr}}; rfeia sp!"
OF_MODES = [(text.format(*modes), facts, (4, 6) if "sub lr" in text else (3, 5)) for text in (
    "sub lr, lr, #4; srsdb sp!, #{0}; cps #{1}; " + ALL, "sub lr, lr, #8; srsdb sp!, #{0}; cpsid i, #{1}; " + ALL,
    "srsdb sp!, #{0}; cpsid if, #{1}; " + ALL
) for modes, facts in (((19, 19), SVC), ((31, 31), SYS), ((31, 19), set()), ((19, 31), set()), ((23, 23), set()),
                       ((16, 16), set()))] + [
    # FP stays in its register; LR is not kept.
    ("sub lr, lr, #4; srsdb sp!, #19; cps #19; push {r0-r3, r12, lr}; bl handle; pop {r0-r3, r12, lr}; rfeia sp!",
     {(164, 32), (165, 20), (15, 24), (128, 28)}, (4, 6)),
    ("sub lr, lr, #4; srsdb sp!, #31; cps #31; push {r0-r3}; bl handle; pop {r0-r3}; rfeia sp!",
     {(149, 24), (15, 16), (128, 20)}, (4, 6)),
    ("srsdb sp!, #31; cps #31; push {r0-r12, lr}; mov r11, #0; bl handle; pop {r0-r12, lr}; rfeia sp!",
     {(149, 64), (150, 52), (15, 56), (128, 60), (11, 44)}, (4, 6)),
    # The jump goes to code that entries share.
    ("sub lr, lr, #4; srsdb sp!, #19; cps #19; push {r0-r12, lr}; b 1f; nop; 1: bl handle; pop {r0-r12, lr}; rfeia sp!",
     SVC, (6, 8)),
    # A number that msr takes is a mode, as that of cps is.
    ("srsdb sp!, #19; msr cpsr_c, #0x93; cps #19; push {r0-r12, lr}; bl handle; pop {r0-r12, lr}; rfeia sp!",
     SVC, (4, 6)),
    ("srsdb sp!, #31; msr cpsr_c, #0x9f; push {r0-r12, lr}; bl handle; pop {r0-r12, lr}; rfeia sp!", SYS, (3, 5)),
    ("srsdb sp!, #19; msr cpsr_c, #0x9f; push {r0-r12, lr}; bl handle; pop {r0-r12, lr}; rfeia sp!", set(), None)
] + [(text, set(), None) for text in (
    # LR is not where the PC is; the word that rfe takes is another one; so are SPSR, SP, FP.
    "add lr, lr, #4; srsdb sp!, #19; cps #19; push {r0-r12, lr}; bl handle; pop {r0-r12, lr}; rfeia sp!",
    "srsdb sp!, #19; cps #19; push {r0-r12, lr}; bl handle; pop {r0-r12, lr}; sub sp, sp, #4; rfeia sp!",
    "srsdb sp!, #19; cps #19; push {r0-r12, lr}; bl handle; str r0, [sp, #56]; pop {r0-r12, lr}; rfeia sp!",
    "srsdb sp!, #19; cps #19; push {r0-r12, lr}; str r0, [sp, #60]; bl handle; pop {r0-r12, lr}; rfeia sp!",
    "msr spsr_c, r0; srsdb sp!, #19; cps #19; push {r0-r12, lr}; bl handle; pop {r0-r12, lr}; rfeia sp!",
    "msr spsr_c, #0x13; srsdb sp!, #19; cps #19; push {r0-r12, lr}; bl handle; pop {r0-r12, lr}; rfeia sp!",
    "srsdb sp!, #19; push {r0}; cps #19; push {r0-r12, lr}; bl handle; pop {r0-r12, lr}; rfeia sp!",
    "push {r0}; srsdb sp!, #19; cps #19; push {r0-r12, lr}; bl handle; pop {r0-r12, lr}; rfeia sp!",
    "srsdb sp!, #19; msr cpsr_c, r0; cps #19; push {r0-r12, lr}; bl handle; pop {r0-r12, lr}; rfeia sp!",
    "srsdb sp!, #19; cps #19; push {r0-r12, lr}; cps #31; bl handle; cps #19; pop {r0-r12, lr}; rfeia sp!",
    "srsdb sp!, #19; cps #19; push {r0-r10, lr}; mov r11, #0; bl handle; pop {r0-r10, lr}; rfeia sp!",
    # FIQ mode has an r11 of its own.
    "mov r4, r11; srsdb sp!, #19; cps #19; push {r4, lr}; mov r11, #0; bl handle; pop {r4, lr}; mov r11, r4; rfeia sp!",
    "bl handle; srsdb sp!, #19; cps #19; push {r0-r12, lr}; bl handle; pop {r0-r12, lr}; rfeia sp!",
    "srsdb sp!, #19; cps #19; push {r0-r12, lr}; bic sp, sp, #7; bl handle; pop {r0-r12, lr}; rfeia sp!")]


def check_modes(gen, folder):
    """The same as check_saved, for 32-bit ARM: A32 code, and T32 code, whose instructions have two sizes, without those
    that T32 has not and those for A32's FP."""
    wrong = []
    for i, (text, facts, place, code) in enumerate([(*of_mode, "arm") for of_mode in OF_MODES] + [
            (text, facts, None, "thumb") for text, facts, _ in OF_MODES
            if not any(word in text for word in ("r11", "_c, #", "bic sp", "r0-r10"))]):
        name = "%s/modes%d" % (folder, i)
        with open(name + ".S", "w", encoding="ascii") as f:
            f.write(".syntax unified\n.text\n." + code + "\n.globl _start, handle, e\n.type handle, %function\n"
                    "_start: b _start\nhandle: bx lr\ne: " + text + "\n")
        subprocess.run(["arm-none-eabi-gcc", "-mcpu=cortex-a15", "-nostdlib", "-static", name + ".S", "-o", name],
                       check=True)
        said = subprocess.run([gen, "-q", "--small", "--find", "--size", "--json", name], check=True,
                              stdout=subprocess.PIPE).stdout
        saved = json.loads(said)["saved"]
        start = int(subprocess.run(["arm-none-eabi-nm", name], check=True, stdout=subprocess.PIPE,
                                   text=True).stdout.split(" t e")[0].split(" T e")[0].split()[-1], 16)
        found = {(s["register"], s["offset"]) for s in saved}
        places = {((int(s["pc"], 16) - start) // 4, (int(s["pc"], 16) - start + s["bytes"]) // 4) for s in saved}
        if found != facts or (place and facts and places != {place}):
            wrong.append("%s at %s, not %s at %s, of\n%s" % (found, places, facts, place, text))
    return wrong


# 32-bit x86, a kernel with programs: entries, and what is known at the call of handle: the PC (8) and, if it is not in
# its register, FP (5), with offsets from SP. An empty set: nothing for sure.
CALL = "call handle; popa; iret"
PUSHED = [
    ("pusha; " + CALL, {(8, 32)}), ("push $0; pusha; call handle; popa; add $4, %esp; iret", {(8, 36)}),
    ("pusha; xor %ebp, %ebp; " + CALL, {(8, 32), (5, 8)}),
    ("pusha; push %esp; call handle; add $4, %esp; popa; iret", {(8, 36)}),
    ("push %eax; push %ebp; mov %esp, %ebp; and $-16, %esp; call handle; mov %ebp, %esp; pop %ebp; pop %eax; iret",
     set())
] + [(text, set()) for text in (
    # The PC, CS or the flags are other ones, or perhaps; FP is lost, or perhaps; SP is another one.
    "pusha; mov %eax, 32(%esp); " + CALL, "pusha; mov %eax, 36(%esp); " + CALL, "pusha; movb $8, 36(%esp); " + CALL,
    "pusha; mov %ax, 38(%esp); " + CALL, "pusha; mov %eax, 40(%esp); " + CALL,
    "pusha; test %eax, %eax; jz 1f; mov %eax, 36(%esp); 1: " + CALL,
    "push %eax; xor %ebp, %ebp; call handle; pop %eax; iret",
    "pusha; test %eax, %eax; jz 1f; mov %eax, 8(%esp); 1: xor %ebp, %ebp; " + CALL,
    "push %eax; mov %esp, %ebx; mov $0x9000, %esp; call handle; mov %ebx, %esp; pop %eax; iret")]


def check_pushed(gen, compiler, folder):
    """The same for 32-bit x86, by COMPILER, a list of words."""
    wrong = []
    for i, (text, facts) in enumerate(PUSHED):
        name = "%s/pushed%d" % (folder, i)
        with open(name + ".S", "w", encoding="ascii") as f:
            f.write(".text\n.globl _start, handle, e\n.type handle, @function\n_start: jmp _start\n"
                    "handle: ret\nltr %ax\ne: " + text + "\n")
        subprocess.run([*compiler, "-nostdlib", "-static", name + ".S", "-o", name], check=True)
        said = subprocess.run([gen, "-q", "--small", "--find", "--size", "--json", name], check=True,
                              stdout=subprocess.PIPE).stdout
        found = {(s["register"], s["offset"]) for s in json.loads(said)["saved"]}
        if found != facts:
            wrong.append("%s, not %s, of\n%s" % (found, facts, text))
    return wrong


def entries_of(cpu):
    """Triples of a text, its entries, and where the return address is; None: nowhere for sure."""
    begin, end, save, place = BEGIN[cpu], END[cpu], SAVE[cpu], ("sp", PLACE[cpu])
    jump = {"aarch64": "b", "riscv64": "j", "s390x": "j"}[cpu]
    stubs = "e: " + begin + save + "\n" + jump + " common\nf: " + begin
    yield "e: " + begin + save + end, ["e"], place
    yield stubs + save + "\ncommon: " + end, ["e", "f"], place
    for spoiled in SPOILED[cpu]:
        yield "e: " + begin + spoiled + end, ["e"], None
        yield stubs + spoiled + "\ncommon: " + end, ["e", "f"], None
    for text, *where in OTHERS[cpu]:
        yield text, ["e"], tuple(where)


def check_saved(gen, cpu, folder):
    """What is wrong with what sfu-gen says of each text; a list."""
    wrong = []
    for i, (text, entries, place) in enumerate(entries_of(cpu)):
        name = "%s/saved%d" % (folder, i)
        with open(name + ".S", "w", encoding="ascii") as f:
            f.write(".text\n.globl _start, handle, e, f\n.type handle, %function\n_start: nop\nhandle: " + RETURN[cpu] +
                    "\n" + text + "\n")
        subprocess.run([cpu + "-linux-gnu-gcc", "-nostdlib", "-static", "-no-pie", name + ".S", "-o", name], check=True)
        named = ["--entry=" + e for e in entries]
        said = subprocess.run([gen, "-q", "--small", "--find", "--size", "--json", *named, name], check=True,
                              stdout=subprocess.PIPE).stdout
        found = {(s["from"], s["offset"]) for s in json.loads(said)["saved"] if s["register"] == RA[cpu]}
        if found != ({place} if place else set()):
            wrong.append("%s, not %s, of\n%s" % (found, place, text))
    return wrong


# RISC-V: entries that keep registers in a structure of which the scratch register has the address.
TAKE = "csrrw t6, mscratch, t6; "
PUT = "sd ra, 8(t6); sd sp, 16(t6); sd s0, 64(t6); "
REST = "mv t5, t6; csrr t6, mscratch; sd t6, 248(t5); csrw mscratch, t5; "
PC = "csrr t0, mepc; sd t0, 256(t5); "
OWN = "la sp, stack; "
BACK = """call handle; csrr t6, mscratch; ld t0, 256(t6); csrw mepc, t0; ld ra, 8(t6); ld sp, 16(t6); ld s0, 64(t6)
    csrrw t6, mscratch, t6; csrrw t6, mscratch, t6; ld t6, 248(t6); mret
"""
ALL = TAKE + PUT + REST + PC
KEPT = {(1, 8), (2, 16), (8, 64), (64, 256)}
# What an entry says that goes on on the stack that it has interrupted.
IN_PLACE = KEPT | {(66, 0)}
HANDLE = "handle: ret\n"
# A text, and what the entry keeps for sure; what it may keep where the text of what it calls is another one.
STRUCTURES = [
    (ALL + OWN + BACK, KEPT),
    (ALL + BACK, IN_PLACE),
    (ALL + "addi sp, sp, -32; " + BACK, KEPT | {(66, 32)}),
    (TAKE + PUT + REST + OWN + BACK, KEPT - {(64, 256)} | {(65, 0)}),
    (ALL + "sd a0, 256(t5); " + OWN + BACK, KEPT - {(64, 256)} | {(65, 0)}),
    (ALL + "sd a0, 8(t5); " + OWN + BACK, KEPT - {(1, 8)}),
    (ALL + "sw a0, 12(t5); " + OWN + BACK, KEPT - {(1, 8)}),
    (ALL + "beqz a0, 1f; sd a0, 8(t5); 1: " + OWN + BACK, KEPT - {(1, 8)}),
    # FP is still in its register.
    (ALL + "sd a0, 64(t5); " + OWN + BACK, KEPT - {(8, 64)}),
    # SP is gone; it is another one; FP is gone; the structure is elsewhere, or perhaps; something is written somewhere.
    *((ALL + spoiled + OWN + BACK, set()) for spoiled in (
        "sd a0, 16(t5); ", "sw a0, 20(t5); ", "beqz a0, 1f; sd a0, 16(t5); 1: ", "sd a0, 64(t5); li s0, 0; ",
        "csrw mscratch, a0; ", "csrw mscratch, zero; ", "addi t5, t5, 8; csrw mscratch, t5; ",
        "beqz a0, 1f; csrw mscratch, a0; 1: ", "csrwi mscratch, 1; ", "csrs mscratch, a0; ", "sd a0, 0(a1); ",
        "amoadd.d a0, a1, (a2); ", "csrr a0, sscratch; ", "csrw sscratch, t5; ")),
    # What is called first finds it, and may have changed it.
    (ALL + "call handle; " + OWN + BACK, IN_PLACE),
    (TAKE + PUT + PC.replace("t5", "t6") + OWN + BACK, set()),  # t6 is in the scratch register
    (TAKE + "addi sp, sp, -16; " + PUT + REST + PC + OWN + BACK, set()),
    (TAKE + "li s0, 0; li ra, 0; " + PUT + REST + PC + OWN + BACK, set()),
    (TAKE + PUT + REST + "csrr t0, sepc; sd t0, 256(t5); " + OWN + BACK, set()),
    # The PC where the CPU has put it is another one.
    (ALL + "csrw mepc, a0; " + OWN + BACK, KEPT),
    (TAKE + PUT + REST + "csrw mepc, a0; " + OWN + BACK, set()),
]
# What may change the scratch register, or go on with another thread, while the entry waits for it; and what does not.
AWAY = "jalr zero, 8(a0)"
CHANGES = ["csrw mscratch, a0; ret", "csrrw a0, sscratch, a0; ret", "csrci mscratch, 1; ret", "ld sp, 8(a0); ret",
           "mv sp, a0; ret", "lui sp, 8; ret", "mret", "j other", AWAY, "tail g", "call g; ret",
           "beqz a0, other; ret"]
KEEPS = ["csrr a0, mscratch; ret", "addi sp, sp, -16; mv s0, sp; addi sp, s0, 16; ret", "jr t2",
         "call g; ret\n.globl g\n.type g, %function\ng: ebreak"]
OTHER = """
.globl other, g
.type other, %function
other: csrw mscratch, a0
    ret
"""
BY_CODE = "\n.globl far\n.type far, %function\nfar: lla a0, other; jr a0\n"
ADDRESSED = "\n.data\n.dword other\n.text"


# What no function would save shows that a text is an entry, if nothing names it.
IDLE = "sd t0, 40(t6); sd t1, 48(t6); "
UNNAMED = [(TAKE + IDLE + PUT + REST + PC + OWN + BACK, KEPT),
           *((text + PUT + REST + PC + OWN + BACK, set()) for text in (
               TAKE, "nop; " + TAKE + IDLE, TAKE + "li t0, 1; " + IDLE, TAKE + "li t6, 1; " + IDLE,
               "csrrw t6, mscratch, t5; " + IDLE, "csrrs t6, mscratch, t6; " + IDLE, TAKE + "beqz a0, 1f; 1: " + IDLE,
               TAKE + IDLE.replace("t6", "a0"))),
           (TAKE + IDLE + PUT + REST + PC + OWN + BACK.replace("mret", "ret"), set())]


def structures():
    """Each text of an entry, what else there is, what is kept, and whether nothing changes it."""
    for text, kept in STRUCTURES:
        yield text, HANDLE, kept, True
    yield ALL + OWN + BACK, "handle: jr a5" + OTHER + BY_CODE, KEPT, False
    for change in CHANGES:
        here = "handle: addi a0, a0, 1; " + change + OTHER + ("g: j other\n" if "g" in change else "")
        yield ALL + OWN + BACK, here + (ADDRESSED if change == AWAY else ""), KEPT, False
    for keep in KEEPS:
        yield ALL + OWN + BACK, "handle: addi a0, a0, 1; " + keep + OTHER, KEPT, True


def check_structure(gen, folder):
    """The same of those."""
    wrong = []
    tried = [(*one, ["--entry=e"]) for one in structures()]
    tried += [(text, HANDLE, kept, True, []) for text, kept in UNNAMED]
    for i, (text, rest, kept, sure, named) in enumerate(tried):
        name = "%s/structure%d" % (folder, i)
        with open(name + ".S", "w", encoding="ascii") as f:
            f.write(".text\n.globl _start, handle, e\n.type handle, %function\n_start: nop\n    j _start\n" + rest +
                    "\n.balign 4\ne: " + text + "\n.bss\n.skip 4096\nstack:\n")
        subprocess.run(["riscv64-linux-gnu-gcc", "-march=rv64imac_zicsr", "-mabi=lp64", "-nostdlib", "-static",
                        "-no-pie", name + ".S", "-o", name], check=True)
        said = json.loads(subprocess.run([gen, "-q", "--small", "--find", "--size", "--json", *named, name],
                                         check=True, stdout=subprocess.PIPE).stdout)["saved"]
        found = {(s["register"], s["offset"]) for s in said}
        if found != kept or any(s["sure"] != sure for s in said if s["from"] != "sp"):
            wrong.append("%s, not %s, %s, of\n%s\n%s" % (said, kept, sure, rest, text))
    return wrong
