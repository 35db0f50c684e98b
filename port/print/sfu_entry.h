/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Traces of exceptions for which a program has no handler in C: no line of assembly. Included by sfu_start.h, for
 * aarch64 and s390x.
 *
 *     SFU_PANIC_ENTRY(trace_fault, put, stop);
 *
 * at file scope defines trace_fault, which the CPU or an exception entry enters by a jump while all registers are
 * still those that were interrupted. It prints the trace of what was interrupted, on the stack of that, and goes on at
 * stop, a label or a function, with all general registers but the condition code as they were: stop may be the code
 * that was entered before. A trace from a handler that stop calls ends at stop, which has no rows then. PUT is as for
 * sfu_panic_start. If a program of a lower privilege was interrupted, or a second exception comes while the trace is
 * printed, trace_fault prints nothing and goes on at stop.
 *
 * s390x: trace_fault can be the address in the new PSW of program interruptions. aarch64: vectors branch to it. Keeps
 * two registers in TPIDR_EL0 and TPIDRRO_EL0 meanwhile, so a program that was interrupted cannot go on.
 */
#ifndef SFU_ENTRY_H
#define SFU_ENTRY_H

#if defined(__aarch64__) && !defined(__ILP32__)
#define SFU_PANIC_ENTRY_CODE(name, print, busy, next)                                                              \
    __asm__(".pushsection .text." #name ", \"ax\"\n"                                                               \
            ".balign 4\n"                                                                                          \
            ".globl " #name "\n" #name ":\n"                                                                       \
            "msr tpidrro_el0, x0\n"                                                                                \
            "msr tpidr_el0, x1\n"                                                                                  \
            "mrs x0, CurrentEL\n"                                                                                  \
            "tbz x0, #3, 1f\n"                                                                                     \
            "tbz x0, #2, 2f\n"                                                                                     \
            "mrs x1, elr_el3\n"                                                                                    \
            "mrs x0, spsr_el3\n"                                                                                   \
            "eor x0, x0, #12\n"                                                                                    \
            "b 3f\n"                                                                                               \
            "1: mrs x1, elr_el1\n"                                                                                 \
            "mrs x0, spsr_el1\n"                                                                                   \
            "eor x0, x0, #4\n"                                                                                     \
            "b 3f\n"                                                                                               \
            "2: mrs x1, elr_el2\n"                                                                                 \
            "mrs x0, spsr_el2\n"                                                                                   \
            "eor x0, x0, #8\n"                                                                                     \
            "3: tst x0, #28\n" /* the level that was interrupted is this one, and has 64 bits */                   \
            "b.ne 9f\n"                                                                                            \
            "tbnz x0, #0, 4f\n"                                                                                    \
            "msr spsel, #0\n"                                                                                      \
            "4: adrp x0, " #busy "\n"                                                                              \
            "ldr x0, [x0, #:lo12:" #busy "]\n"                                                                     \
            "cbnz x0, 8f\n"                                                                                        \
            "adrp x0, " #busy "\n"                                                                                 \
            "add x0, x0, #:lo12:" #busy "\n"                                                                       \
            "str x0, [x0]\n" /* before the stack is used, which may be the reason of the exception */              \
            "sub sp, sp, #144\n"                                                                                   \
            "stp x2, x3, [sp]\n"                                                                                   \
            "stp x4, x5, [sp, #16]\n"                                                                              \
            "stp x6, x7, [sp, #32]\n"                                                                              \
            "stp x8, x9, [sp, #48]\n"                                                                              \
            "stp x10, x11, [sp, #64]\n"                                                                            \
            "stp x12, x13, [sp, #80]\n"                                                                            \
            "stp x14, x15, [sp, #96]\n"                                                                            \
            "stp x16, x17, [sp, #112]\n"                                                                           \
            "stp x18, x30, [sp, #128]\n"                                                                           \
            "mov x0, x1\n"                                                                                         \
            "add x1, sp, #144\n"                                                                                   \
            "mov x2, x29\n"                                                                                        \
            "mov x3, x30\n"                                                                                        \
            "bl " #print "\n"                                                                                      \
            "ldp x2, x3, [sp]\n"                                                                                   \
            "ldp x4, x5, [sp, #16]\n"                                                                              \
            "ldp x6, x7, [sp, #32]\n"                                                                              \
            "ldp x8, x9, [sp, #48]\n"                                                                              \
            "ldp x10, x11, [sp, #64]\n"                                                                            \
            "ldp x12, x13, [sp, #80]\n"                                                                            \
            "ldp x14, x15, [sp, #96]\n"                                                                            \
            "ldp x16, x17, [sp, #112]\n"                                                                           \
            "ldp x18, x30, [sp, #128]\n"                                                                           \
            "add sp, sp, #144\n"                                                                                   \
            "adrp x0, " #busy "\n"                                                                                 \
            "str xzr, [x0, #:lo12:" #busy "]\n"                                                                    \
            "8: msr spsel, #1\n"                                                                                   \
            "9: mrs x1, tpidr_el0\n"                                                                               \
            "mrs x0, tpidrro_el0\n"                                                                                \
            "b " #next "\n"                                                                                        \
            ".popsection\n")

#elif defined(__s390x__)
#ifdef __clang__ /* generates code for z10, at least, and knows no such directive */
#define SFU_PANIC_ENTRY_Z10  ""
#define SFU_PANIC_ENTRY_BACK ""
#else
#define SFU_PANIC_ENTRY_Z10  ".machine push\n.machine z10\n"
#define SFU_PANIC_ENTRY_BACK ".machine pop\n"
#endif
/* The old PSW of program interruptions is at 336. */
#define SFU_PANIC_ENTRY_CODE(name, print, busy, next)                                                              \
    __asm__(".pushsection .text." #name ", \"ax\"\n" SFU_PANIC_ENTRY_Z10 ".balign 2\n"                             \
            ".globl " #name "\n" #name ":\n"                                                                       \
            "tm 337, 1\n"                                                                                          \
            "jgo " #next "\n"                                                                                      \
            "stgrl %r1, " #busy "+8\n"                                                                             \
            "lgrl %r1, " #busy "\n"                                                                                \
            "ltgr %r1, %r1\n"                                                                                      \
            "lgrl %r1, " #busy "+8\n"                                                                              \
            "jgnz " #next "\n"                                                                                     \
            "larl %r1, " #busy "\n"                                                                                \
            "stgrl %r1, " #busy "\n" /* before the stack is used, which may be the reason of the interruption */   \
            "lgrl %r1, " #busy "+8\n"                                                                              \
            "stmg %r0, %r15, -128(%r15)\n"                                                                         \
            "lg %r2, 344\n"                                                                                        \
            "lgr %r3, %r15\n"                                                                                      \
            "lgr %r4, %r11\n"                                                                                      \
            "lgr %r5, %r14\n"                                                                                      \
            "aghi %r15, -288\n"                                                                                    \
            "brasl %r14, " #print "\n"                                                                             \
            "lghi %r1, 0\n"                                                                                        \
            "stgrl %r1, " #busy "\n"                                                                               \
            "lmg %r0, %r15, 160(%r15)\n"                                                                           \
            "jg " #next "\n" SFU_PANIC_ENTRY_BACK ".popsection\n")
#endif

#ifdef SFU_PANIC_ENTRY_CODE
#define SFU_PANIC_ENTRY(name, put, next)                                                                           \
    void name(void);                                                                                               \
    static unsigned long name##_busy[2] __attribute__((__used__)); /* 64 bits each */                              \
    static __attribute__((__used__)) void name##_print(sfu_addr pc, sfu_addr sp, sfu_addr fp, sfu_addr ra)         \
    {                                                                                                              \
        if (sfu_panic_start(put) == SFU_OK)                                                                        \
            (void)sfu_panic_trap(pc, sp, fp, ra);                                                                  \
    }                                                                                                              \
    SFU_PANIC_ENTRY_CODE(name, name##_print, name##_busy, next)
#endif

#endif
