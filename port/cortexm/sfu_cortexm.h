/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Exceptions of Cortex-M (ARMv6-M, ARMv7-M, ARMv8-M): a trace goes on behind them, and a fault says in words what its
 * registers say. Needs sfu.c and sfu_print.c; -DSFU_ABI=SFU_THUMB makes both smaller. All of a program:
 *
 *     static struct sfu_panic panic = {.put = console_put, .image = "firmware.elf"};
 *     static struct sfu_cortexm cortexm;
 *     SFU_CORTEXM_FAULTS(cortexm, reset) // defines HardFault_Handler and the handlers of the other faults
 *
 *     // in main: the tables, and the memory that all stacks lie in
 *     sfu_cortexm_init(&cortexm, &panic, sframe_start, sframe_end, ram_start, ram_end);
 *
 * A fault then prints, for instance:
 *
 *     fault: HardFault, thread mode, process stack
 *       BusFault: data access, precise; address 0x60000000
 *     CFSR 0x00008200 HFSR 0x40000000 MMFAR 0x60000000 BFAR 0x60000000
 *     #0  0x<A>  read_sensor+0x4
 *     #1  0x<B>  task+0x1c
 *     ...
 *
 * How a Cortex-M enters an exception. It pushes r0 to r3, r12, LR, PC and xPSR on the stack that was in use: the main
 * stack (MSP), or the process stack (PSP) that most systems give to tasks. Then it calls the handler, an ordinary
 * function, on the main stack, with a return address that is no code: EXC_RETURN. So a trace comes to a frame whose PC
 * is EXC_RETURN. sfu_cortexm_hook reads there what was pushed. The interrupted frame is exact, and its LR is known.
 * That holds in every handler in C, however deep they are nested, and costs the handlers nothing.
 *
 *     EXC_RETURN bit 2   1: pushed on the process stack
 *                bit 4   0: registers of the FPU have been pushed as well, or room was left for them (lazy stacking)
 *                bit 5   0: r4 to r11 have been pushed as well (ARMv8-M, another exception from the secure state)
 *                bit 6   which state's stack (ARMv8-M with TrustZone): 1: the secure state's
 *     xPSR       bit 9   1: 4 bytes have been left out, so that SP was a multiple of 8
 *
 * TrustZone. The stacks of the other state are not read. A trace ends there with SFU_E_TRAP, and a line says so.
 */
#ifndef SFU_CORTEXM_H
#define SFU_CORTEXM_H

#include "sfu_print.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What SFU_CORTEXM_ENTRY has found, in this order. The exception frame has the other registers. */
struct sfu_cortexm_entry {
    uint32_t r4_to_r11[8];
    uint32_t msp;        /* before the entry has pushed these */
    uint32_t exc_return; /* LR */
};

/* A stack. GUARD bytes below low count as this stack's when SP lies there, but are not read. (Nor is anything else that
 * the MPU keeps this code from reading.) */
struct sfu_cortexm_stack {
    const void *low, *high;
    uint32_t guard;
};

/* Zero it at first. One context serves one walk at a time. What samples in interrupts has copies of its own of the
 * context and of the target, whose ctx is that context. */
struct sfu_cortexm {
    /* Each stack by itself, before sfu_cortexm_init; or NULL, 0: all lie in the memory that it is given. Only stacks
     * that are known by themselves can be said to have overflowed. */
    const struct sfu_cortexm_stack *stacks;
    unsigned num_stacks;
    /* sfu_cortexm_init fills these in. */
    struct sfu_panic *panic;
    const struct sfu_target *target; /* panic->own: limits may be set behind sfu_cortexm_init */
    /* Its own. */
    const struct sfu_cortexm_entry
        *entry;     /* of the exception whose interrupted frame a walk begins with; or NULL */
    uint32_t frame; /* address of its exception frame */
    bool lost;      /* the CPU has not pushed that, or not all of it, or may not have */
    bool in_task;   /* a walk is one of a task that waits, whatever handler runs */
    /* Where the last walk, or the one that begins, has left the outermost handler: its depth, and the least SP behind
     * it; 0: nowhere. */
    uint32_t thread_depth, thread_sp;
};

/* What the CPU says of a fault. Registers that a CPU lacks are 0. */
struct sfu_cortexm_fault {
    uint32_t exception;  /* IPSR: 3 HardFault, 4 MemManage, 5 BusFault, 6 UsageFault, 7 SecureFault */
    uint32_t exc_return; /* of its handler */
    uint32_t cfsr, hfsr, mmfar, bfar;
    uint32_t sfsr, sfar;  /* ARMv8-M, secure state */
    uint32_t sp, limit;   /* where the exception frame is; ARMv8-M: PSPLIM or MSPLIM, else 0 */
    bool has_reasons;     /* the CPU has these registers: not ARMv6-M and the baseline of ARMv8-M */
    bool has_xpsr, thumb; /* the exception frame could be read; bit 24 of its xPSR */
};

/* Prints FAULT in words by PANIC's put. */
void sfu_cortexm_explain(const struct sfu_panic *panic, const struct sfu_cortexm_fault *fault);

/* Sets *INTERRUPTED to what the exception frame at ADDR on a stack of TARGET says; regs.fp, which the CPU does not
 * push, becomes FP. Returns SFU_OK, or SFU_E_STACK. For programs on any machine. */
int sfu_cortexm_unstack(const struct sfu_target *target, uint32_t exc_return, uint32_t addr, uint32_t fp,
                        struct sfu_interrupted *interrupted);

#if defined(__arm__) && __ARM_ARCH_PROFILE == 'M'

/* Opens the tables from SFRAME to SFRAME_END as sfu_panic_init does for PANIC, and returns what that returns. From then
 * on PANIC's target is that of CORTEXM. A trace reads the memory from LOW up to HIGH, and no other. */
int sfu_cortexm_init(struct sfu_cortexm *cortexm, struct sfu_panic *panic, const void *sframe,
                     const void *sframe_end, const void *low, const void *high);

/* Makes traces of PANIC, another printer than that of CORTEXM, cross exceptions and read memory as those of CORTEXM do.
 * Call it behind sfu_cortexm_init. Both walk by CORTEXM: one at a time. */
void sfu_cortexm_share(struct sfu_cortexm *cortexm, struct sfu_panic *panic);

#ifdef SFU_START_H
/* The same as sfu_cortexm_init by the tables that sfu-link has made; PANIC gets what sfu_panic_share (sfu_start.h)
 * gives: traces have names. From then on sfu_panic_here prints the trace that begins there, in a function or in a
 * handler. */
static inline int sfu_cortexm_start(struct sfu_cortexm *cortexm, struct sfu_panic *panic, const void *low,
                                    const void *high)
{
    int code;
    const struct sfu_section *made = sfu_panic_share(panic, &code);

    if (made->bytes == NULL)
        return code;
    code = sfu_cortexm_init(cortexm, panic, made->bytes, made->bytes + (size_t)made->size, low, high);
    sfu_cortexm_share(cortexm, sfu_panic_printer());
    return code;
}
#endif

/* The same for firmware without tables, which prints dumps (sfu_dump.h) and no traces: its image then has none of the
 * code that reads tables. */
void sfu_cortexm_init_dump(struct sfu_cortexm *cortexm, struct sfu_panic *panic, const void *low, const void *high);

/* Sets *TOP to what the exception of ENTRY has interrupted, which a walk of CORTEXM's target can then begin with.
 * Rows that need other registers find them in *ENTRY, until the next call. Returns SFU_OK; SFU_E_STACK if the
 * exception frame lies in no memory that may be read, or if the CPU has not pushed one, or not all of it, or,
 * without fault registers, may not have, or if code has jumped to an even address but 0; SFU_E_TRAP if it is the
 * other TrustZone state's. Then *TOP has no more than EXC_RETURN as its PC, and a trace from there guesses where it
 * is not sure, or says why it ends. The CPU has not pushed one in the handler of a fault that says so; and in a
 * handler whose priority is higher, which the CPU runs before the handler of that fault. After
 * sfu_cortexm_init_dump, the same if an exception has come into the handler of such a fault, because who reads the
 * dump cannot know that a frame further down is lost. */
int sfu_cortexm_registers(struct sfu_cortexm *cortexm, const struct sfu_cortexm_entry *entry,
                          struct sfu_registers *top);

/* Prints what the fault of ENTRY is in words, then the trace of what it has interrupted. If the CPU could not save that
 * (a stack overflow), or if an exception could not return, it is said, and the trace begins with a guess: what looks
 * like an exception frame, or else the first return address on the stack. If code has jumped to an even address where
 * no function begins, LR is the guess. Returns the code that ended the walk. */
int sfu_cortexm_print(struct sfu_cortexm *cortexm, const struct sfu_cortexm_entry *entry);

/* Where the context switch of an operating system has put what it saves of a task: in words, counted from the SP that
 * it has saved for the task, or from what it has saved in the task's control block. */
struct sfu_cortexm_order {
    uint8_t r4, r8;     /* where r4 to r7 begin, and r8 to r11 */
    uint8_t exc_return; /* where EXC_RETURN is, or SFU_CORTEXM_FLAG; SFU_CORTEXM_NOT_SAVED: nowhere, see exc_byte */
    uint8_t words;      /* how many words there are, without s16 to s31: the exception frame follows */
    /* Where s16 to s31 are pushed if the task has used the FPU: what follows lies 16 words higher.
     * SFU_CORTEXM_NOT_SAVED: they move nothing, because they lie elsewhere, or their place is always kept. */
    uint8_t fpu;
    uint8_t psp; /* where PSP is, which leads to the exception frame; 0: the exception frame follows the words */
    /* Where a byte with the low 8 bits of EXC_RETURN is, in bytes; used if exc_return is SFU_CORTEXM_NOT_SAVED. 0:
     * nowhere, and no task uses the FPU. */
    uint16_t exc_byte;
    /* There is no exception frame: the words end with xPSR, r0 to r12, LR and the PC, and SP lies behind them. If the
     * task has used the FPU, s0 to s31 and FPSCR are pushed at fpu: what follows lies 33 words higher. */
    bool pc_last;
};
#define SFU_CORTEXM_NOT_SAVED 255
/* In place of EXC_RETURN, a word: 1 (or 4, if pc_last is set) if the task has used the FPU, else 0. */
#define SFU_CORTEXM_FLAG(place) ((place) | 128)

/* A struct sfu_cortexm_order as it is initialised: of what lies on the task's stack, and in its control block. */
#define SFU_CORTEXM_ORDER(r4, r8, exc_return, words, fpu)                                                          \
    {                                                                                                              \
        r4, r8, exc_return, words, fpu, 0, 0, false                                                                \
    }
#define SFU_CORTEXM_BLOCK(r4, r8, psp, exc_byte)                                                                   \
    {                                                                                                              \
        r4, r8, SFU_CORTEXM_NOT_SAVED, (psp) + 1, SFU_CORTEXM_NOT_SAVED, psp, exc_byte, false                      \
    }
/* In the control block, too, with EXC_RETURN as a word. */
#define SFU_CORTEXM_COPIED(r4, r8, exc_return, psp)                                                                \
    {                                                                                                              \
        r4, r8, exc_return, (psp) + 1, SFU_CORTEXM_NOT_SAVED, psp, 0, false                                        \
    }

/* ABOVE words, then xPSR, r0 to r12, LR and the PC. */
#define SFU_CORTEXM_PC_LAST(flag, above, fpu)                                                                      \
    {                                                                                                              \
        (above) + 5, (above) + 9, flag, (above) + 16, fpu, 0, 0, true                                              \
    }

/* The orders of some systems, by the names of their ports: static const struct sfu_cortexm_order order =
 * SFU_TASK_FREERTOS_CM33; docs/cortexm.md says which versions, and what the saved SP is called. FreeRTOS: MPU is a port
 * with configENABLE_MPU, and SAVED lies below pxTopOfStack; NTZ: without TrustZone. RT-Thread, NuttX: CM0 and CM3 are
 * builds without an FPU, CM4F is one with it, of each CPU. Zephyr: SAVED is &thread->callee_saved; MODE: how many bytes
 * arch.mode_exc_return lies above it. SWITCH: with CONFIG_USE_SWITCH, and SAVED is thread->switch_handle; GUARD: 1 with
 * CONFIG_BUILTIN_STACK_GUARD, else 0; FPU: a build with CONFIG_FPU. */
#define SFU_TASK_FREERTOS_CM0             SFU_CORTEXM_ORDER(0, 4, SFU_CORTEXM_NOT_SAVED, 8, 8)
#define SFU_TASK_FREERTOS_11_1_CM0        SFU_CORTEXM_ORDER(1, 5, 0, 9, 9)
#define SFU_TASK_FREERTOS_CM3             SFU_TASK_FREERTOS_CM0
#define SFU_TASK_FREERTOS_CM4F            SFU_CORTEXM_ORDER(0, 4, 8, 9, 9)
#define SFU_TASK_FREERTOS_CM7             SFU_TASK_FREERTOS_CM4F
#define SFU_TASK_FREERTOS_CM33_NTZ        SFU_CORTEXM_ORDER(2, 6, 1, 10, 10)
#define SFU_TASK_FREERTOS_CM33            SFU_CORTEXM_ORDER(3, 7, 2, 11, 11)
#define SFU_TASK_FREERTOS_CM0_MPU         SFU_CORTEXM_COPIED(0, 4, 18, 16)
#define SFU_TASK_FREERTOS_CM3_MPU         SFU_CORTEXM_COPIED(1, 5, 9, 10)
#define SFU_TASK_FREERTOS_CM4_MPU         SFU_TASK_FREERTOS_CM3_MPU
#define SFU_TASK_FREERTOS_CM33_NTZ_MPU    SFU_CORTEXM_COPIED(0, 4, 19, 16)
#define SFU_TASK_FREERTOS_CM33_MPU        SFU_CORTEXM_COPIED(0, 4, 20, 17)
#define SFU_TASK_RIOT_CM0                 SFU_CORTEXM_ORDER(4, 0, 8, 9, 9)
#define SFU_TASK_RIOT_CM3                 SFU_CORTEXM_ORDER(0, 4, 8, 9, 9)
#define SFU_TASK_RIOT_CM4F                SFU_TASK_RIOT_CM3
#define SFU_TASK_THREADX_CM0              SFU_CORTEXM_ORDER(5, 1, 0, 9, 9)
#define SFU_TASK_THREADX_CM3              SFU_CORTEXM_ORDER(1, 5, 0, 9, 1)
#define SFU_TASK_THREADX_CM4              SFU_TASK_THREADX_CM3
#define SFU_TASK_THREADX_CM33             SFU_TASK_THREADX_CM3
#define SFU_TASK_RTTHREAD_CM0             SFU_TASK_FREERTOS_CM0
#define SFU_TASK_RTTHREAD_CM3             SFU_TASK_FREERTOS_CM0
#define SFU_TASK_RTTHREAD_CM4F            SFU_CORTEXM_ORDER(1, 5, SFU_CORTEXM_FLAG(0), 9, 9)
#define SFU_TASK_RTTHREAD_CM33            SFU_CORTEXM_ORDER(4, 8, 1, 12, 12)
#define SFU_TASK_NUTTX_CM3                SFU_CORTEXM_ORDER(2, 6, 11, 12, 12)
#define SFU_TASK_NUTTX_CM4F               SFU_CORTEXM_ORDER(2, 6, 11, 28, SFU_CORTEXM_NOT_SAVED)
#define SFU_TASK_ZEPHYR                   SFU_CORTEXM_BLOCK(0, 4, 8, 0)
#define SFU_TASK_ZEPHYR_FPU(mode)         SFU_CORTEXM_BLOCK(0, 4, 8, mode)
#define SFU_TASK_ZEPHYR_SWITCH(guard)     SFU_CORTEXM_PC_LAST(SFU_CORTEXM_NOT_SAVED, guard, SFU_CORTEXM_NOT_SAVED)
#define SFU_TASK_ZEPHYR_SWITCH_FPU(guard) SFU_CORTEXM_PC_LAST(SFU_CORTEXM_FLAG(0), 1 + (guard), 1)

/* Prints the trace of a task that does not run and whose saved SP is SAVED, in a fault's handler or anywhere else.
 * Nothing is printed but a line if SAVED cannot be read, or does not lead to an exception frame of a task: the order is
 * another one, or SAVED is damaged. Returns the code that ended the walk, or SFU_E_STACK. */
int sfu_cortexm_print_task(struct sfu_cortexm *cortexm, const struct sfu_cortexm_order *order, const void *saved);

/* A sfu_trap_hook_fn. CTX: a struct sfu_cortexm. */
int sfu_cortexm_hook(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted);

/* The first line of a function in C that nobody called, Reset_Handler for instance: a trace ends there, and is
 * complete. Where the compiler writes no CFI, it does nothing: then sfu-link --entry=Reset_Handler:start says it. */
#define SFU_CORTEXM_OUTERMOST() __asm__ volatile("" SFU_CORTEXM_CFI(".cfi_undefined lr"))

/* The return address of a task: a trace ends there, and is complete. Of FreeRTOS, for instance:
 *     #define configTASK_RETURN_ADDRESS sfu_cortexm_task_end */
void sfu_cortexm_task_end(void);

/* Defines NAME(), which a vector may point at: it calls HANDLER(const struct sfu_cortexm_entry *) on the main stack,
 * and returns from the exception. HANDLER must not be static. */
/* clang-format off */
#define SFU_CORTEXM_ENTRY(name, handler)                                    \
    void handler(const struct sfu_cortexm_entry *entry)                     \
        __attribute__((__used__));                                          \
    void name(void) __attribute__((__naked__, __used__));                   \
    void name(void)                                                         \
    {                                                                       \
        __asm__ volatile("mov r0, sp\n\t"                                   \
                         "mov r1, lr\n\t"                                   \
                         "push {r0, r1}\n\t"                                \
                         SFU_CORTEXM_CFI(".cfi_def_cfa_offset 8\n\t")       \
                         SFU_CORTEXM_CFI(".cfi_offset lr, -4\n\t")          \
                         "mov r0, r8\n\t"                                   \
                         "mov r1, r9\n\t"                                   \
                         "mov r2, r10\n\t"                                  \
                         "mov r3, r11\n\t"                                  \
                         "push {r0-r3}\n\t"                                 \
                         SFU_CORTEXM_CFI(".cfi_def_cfa_offset 24\n\t")      \
                         "push {r4-r7}\n\t"                                 \
                         SFU_CORTEXM_CFI(".cfi_def_cfa_offset 40\n\t")      \
                         "mov r0, sp\n\t"                                   \
                         "bl " #handler "\n\t"                              \
                         "add sp, #32\n\t"                                  \
                         SFU_CORTEXM_CFI(".cfi_def_cfa_offset 8\n\t")       \
                         "pop {r0, pc}");                                   \
    }
/* clang-format on */

/* Defines the handlers of faults, by the names that CMSIS gives them: each prints, and calls AFTER(), which resets the
 * CPU, for instance, and need not return. */
#define SFU_CORTEXM_FAULTS(cortexm, after)                                                                         \
    SFU_CORTEXM_ENTRY(HardFault_Handler, sfu_cortexm_fault)                                                        \
    void sfu_cortexm_fault(const struct sfu_cortexm_entry *entry)                                                  \
    {                                                                                                              \
        (void)sfu_cortexm_print(&(cortexm), entry);                                                                \
        after();                                                                                                   \
        for (;;) {                                                                                                 \
        }                                                                                                          \
    }                                                                                                              \
    SFU_CORTEXM_SAME(MemManage_Handler)                                                                            \
    SFU_CORTEXM_SAME(BusFault_Handler)                                                                             \
    SFU_CORTEXM_SAME(UsageFault_Handler)                                                                           \
    SFU_CORTEXM_SAME(SecureFault_Handler)

#define SFU_CORTEXM_SAME(name) void name(void) __attribute__((__alias__("HardFault_Handler")));

/* The compiler opens the function's CFI only if it writes any. */
#ifdef __GCC_HAVE_DWARF2_CFI_ASM
#define SFU_CORTEXM_CFI(lines) lines
#else
#define SFU_CORTEXM_CFI(lines)
#endif

#endif

#ifdef __cplusplus
}
#endif

#endif
