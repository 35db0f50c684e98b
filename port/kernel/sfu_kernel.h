/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What every kernel writes around the panic printer: stacks, threads, trap frames, CPUs that stop and print. Needs
 * sfu.c and sfu_print.c, or sfu_panic.c. You describe everything in one structure, and each member is optional:
 *
 *     static const struct sfu_kernel_stack stacks[] = {
 *         {boot_stack_low, boot_stack_high, 4096, 0},      // a guard page below it
 *         {irq_stacks, irq_stacks_end, 0, IRQ_STACK_SIZE}, // one for each CPU
 *     };
 *     SFU_KERNEL(sfu, console_putc(c), MAX_CPUS, cpu_number(), send_nmi(),
 *         .stacks = stacks, .num_stacks = 2,
 *         .threads = {SFU_KERNEL_THREADS(struct task, stack, sp, name, id), .stack_size = 8192, .array = tasks,
 *                     .num = MAX_TASKS, .state = state_of},
 *         .switched = SFU_KERNEL_SWITCHED(struct switch_frame, ra, rbp),
 *         .trap = SFU_KERNEL_TRAP(struct trap, rip, rsp, rbp)); // and the link register, on other CPUs than x86
 *
 *     sfu_kernel_start(&sfu); // at boot, if sfu-link has linked the kernel; else sfu_kernel_init
 *
 *     sfu_kernel_crash(&sfu, NULL, 0);   // in panic()
 *     sfu_kernel_crash(&sfu, trap, cr2); // in the handler of a fault
 *     sfu_kernel_stop(&sfu, trap);       // in the handler of the NMI that send_nmi sends
 *
 * prints the trace of this CPU, then those of the other CPUs, each after a line:
 *
 *     CPU 1:
 *     #0  0x<A>  spin_lock+0x8  [interrupted]
 *     ...
 *     CPU 2 has not stopped
 *     trace of 7 shell:
 *     #0  0x<B>  wait+0x40
 *     ...
 */
#ifndef SFU_KERNEL_H
#define SFU_KERNEL_H

#include "sfu_arch.h"
#include "sfu_print.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A stack that is always there: of the boot, of interrupts, of a CPU's idle loop. Or several that lie side by side. */
struct sfu_kernel_stack {
    const void *low, *high;
    /* Bytes below low that a stack pointer lies in when this stack has overflowed, a guard page for instance. They are
     * not read, unless sfu_kernel.guard_is_memory is set. If there is no guard page, give the size of a large frame: an
     * address that lies on another stack, too, counts as that stack's. */
    sfu_addr guard;
    uint32_t each; /* low to high are stacks of so many bytes each, such as one for each CPU; 0: it is one stack */
};

/* Where a frame of saved registers has them: offsets in bytes from its start, as offsetof() of the kernel's own
 * structure gives them. */
struct sfu_kernel_frame {
    int16_t pc;
    int16_t sp;    /* SFU_KERNEL_NOT_SAVED: the frame lies on the stack that it describes, and SP is start + size */
    int16_t fp;    /* SFU_KERNEL_NOT_SAVED: FP is not known, and counts as 0 */
    int16_t ra;    /* the link register, or SFU_KERNEL_NOT_SAVED. Not used on x86 */
    uint16_t size; /* in bytes; used where sp is not saved */
};
#define SFU_KERNEL_NOT_SAVED (-1)
#define SFU_KERNEL_FIRST     (-2) /* of a name or a number: the first member of the structure */

/* offsetof(TYPE, MEMBER), for frames and threads. It does not compile if that is more than an int16_t has. */
#define SFU_KERNEL_AT(type, member)                                                                                \
    ((int16_t)(__builtin_offsetof(type, member) +                                                                  \
               0 * sizeof(char[__builtin_offsetof(type, member) <= 32767 ? 1 : -1])))

/* sfu_kernel.trap of a trap frame that is a structure of TYPE, by the names of its members: PC, SP, FP, link register.
 * x86 has no link register: three names are enough there, and the fourth is not looked at. On 32-bit x86 the second one
 * is not looked at either: the CPU saves no SP when it interrupts the kernel. SP is the address behind the PC, the code
 * segment and the flags, which the CPU has pushed. (A trace of what has interrupted a program ends there.) */
#ifdef SFU_REG_RA
#define SFU_KERNEL_TRAP(type, pc, sp, fp, ra)                                                                      \
    {                                                                                                              \
        SFU_KERNEL_AT(type, pc), SFU_KERNEL_AT(type, sp), SFU_KERNEL_AT(type, fp), SFU_KERNEL_AT(type, ra),        \
            sizeof(type)                                                                                           \
    }
#elif defined(__i386__)
#define SFU_KERNEL_TRAP(type, pc, sp, ...)                                                                         \
    {                                                                                                              \
        SFU_KERNEL_AT(type, pc), SFU_KERNEL_NOT_SAVED, SFU_KERNEL_TRAP_FP(type, __VA_ARGS__, ),                    \
            SFU_KERNEL_NOT_SAVED, offsetof(type, pc) + 12                                                          \
    }
#else
#define SFU_KERNEL_TRAP(type, pc, sp, ...)                                                                         \
    {                                                                                                              \
        SFU_KERNEL_AT(type, pc), SFU_KERNEL_AT(type, sp), SFU_KERNEL_TRAP_FP(type, __VA_ARGS__, ),                 \
            SFU_KERNEL_NOT_SAVED, sizeof(type)                                                                     \
    }
#endif
#define SFU_KERNEL_TRAP_FP(type, fp, ...) SFU_KERNEL_AT(type, fp)

/* sfu_kernel.switched, if the context switch saves a structure of TYPE on the stack of the thread that it leaves, and
 * pops all of it again. PC: its return address. */
#define SFU_KERNEL_SWITCHED(type, pc, fp)                                                                          \
    {                                                                                                              \
        SFU_KERNEL_AT(type, pc), SFU_KERNEL_NOT_SAVED, SFU_KERNEL_AT(type, fp), SFU_KERNEL_NOT_SAVED, sizeof(type) \
    }

/* The same, if it saves SP in the structure, too: where that lies in the thread's own structure, for instance. */
#define SFU_KERNEL_CONTEXT(type, pc, sp, fp)                                                                       \
    {                                                                                                              \
        SFU_KERNEL_AT(type, pc), SFU_KERNEL_AT(type, sp), SFU_KERNEL_AT(type, fp), SFU_KERNEL_NOT_SAVED,           \
            sizeof(type)                                                                                           \
    }

/* sfu_kernel.switched of some systems, for the CPU that this is compiled for; docs/kernel.md says which versions, and
 * what .sp of the threads is. FPU, VECTOR: bytes of each floating-point or vector register that the build has. */
#if defined(__riscv)
#define SFU_TASK_AT(word) ((word) * (__riscv_xlen / 8))
#elif defined(__aarch64__) || defined(__x86_64__)
#define SFU_TASK_AT(word) ((word)*8)
#elif defined(__arm__) && (!defined(__ARM_ARCH_PROFILE) || __ARM_ARCH_PROFILE != 'M')
#define SFU_TASK_AT(word) ((word)*4)
#endif
#ifdef SFU_TASK_AT
#define SFU_TASK_SAVED(pc, sp, fp, ra, words)                                                                      \
    {                                                                                                              \
        SFU_TASK_AT(pc), sp, SFU_TASK_AT(fp), ra, SFU_TASK_AT(words)                                               \
    }
/* Two frames: OTHER, if word number WORD of what was saved has VALUE in the bits of MASK; else FRAME. These are members
 * of struct sfu_kernel, to be written without ".switched =". */
/* NOLINTBEGIN(bugprone-macro-parentheses): an initialiser in braces cannot stand in parentheses */
#define SFU_TASK_EITHER(frame, other, word, mask, value)                                                           \
    .switched = frame, .other_switched = other, .kind = SFU_TASK_AT(word), .kind_mask = (mask),                    \
    .kind_other = (value)
/* NOLINTEND(bugprone-macro-parentheses) */
#endif
#ifdef __riscv
/* __riscv_32e: a build for half of the registers */
#ifdef __riscv_32e
#define SFU_TASK_FREERTOS_RISCV      SFU_TASK_FREERTOS_RV32E
#define SFU_TASK_FREERTOS_11_3_RISCV SFU_TASK_FREERTOS_11_3_RV32E
#else
#define SFU_TASK_FREERTOS_RISCV      SFU_TASK_SAVED(0, SFU_KERNEL_NOT_SAVED, 5, SFU_TASK_AT(1), 31)
#define SFU_TASK_FREERTOS_11_3_RISCV SFU_TASK_FREERTOS_11_3_ABOVE(0)
#endif
#define SFU_TASK_FREERTOS_RV32E      SFU_TASK_SAVED(0, SFU_KERNEL_NOT_SAVED, 5, SFU_TASK_AT(1), 15)
#define SFU_TASK_FREERTOS_11_3_RV32E SFU_TASK_SAVED(0, SFU_KERNEL_NOT_SAVED, 6, SFU_TASK_AT(2), 15)
/* mstatus says whether the registers of the FPU, or the vectors, lie between it and x1. */
#define SFU_TASK_FREERTOS_11_3_RISCV_FPU(fpu)    SFU_TASK_FREERTOS_11_3_DIRTY(0x6000, 33 * (fpu))
#define SFU_TASK_FREERTOS_11_3_RISCV_VPU(vector) SFU_TASK_FREERTOS_11_3_DIRTY(0x600, SFU_TASK_AT(4) + 32 * (vector))
#define SFU_TASK_FREERTOS_11_3_DIRTY(bits, bytes)                                                                  \
    SFU_TASK_EITHER(SFU_TASK_FREERTOS_11_3_ABOVE(0), SFU_TASK_FREERTOS_11_3_ABOVE(bytes), 1, bits, bits)
#define SFU_TASK_FREERTOS_11_3_ABOVE(bytes)                                                                        \
    {                                                                                                              \
        0, SFU_KERNEL_NOT_SAVED, SFU_TASK_AT(6) + (bytes), SFU_TASK_AT(2) + (bytes), SFU_TASK_AT(31) + (bytes)     \
    }
#define SFU_TASK_RIOT_RISCV     SFU_TASK_SAVED(28, SFU_KERNEL_NOT_SAVED, 0, SFU_TASK_AT(12), 32)
#define SFU_TASK_RTTHREAD_RISCV SFU_TASK_SAVED(0, SFU_KERNEL_NOT_SAVED, 8, SFU_TASK_AT(1), 32)
#define SFU_TASK_RTTHREAD_RISCV_FPU(fpu)                                                                           \
    SFU_TASK_SAVED(0, SFU_KERNEL_NOT_SAVED, 8, SFU_TASK_AT(1), 32 + 32 * (fpu) / (__riscv_xlen / 8))
/* It has called the scheduler; or an interrupt has stopped it. */
#define SFU_TASK_THREADX_RISCV     SFU_TASK_THREADX_RISCV_BOTH(16, 32)
#define SFU_TASK_THREADX_RISCV_FPU SFU_TASK_THREADX_RISCV_BOTH(29, 65)
#define SFU_TASK_THREADX_RISCV_BOTH(called, stopped)                                                               \
    SFU_TASK_EITHER(SFU_TASK_SAVED(30, SFU_KERNEL_NOT_SAVED, 12, SFU_TASK_AT(28), stopped),                        \
                    SFU_TASK_SAVED(13, SFU_KERNEL_NOT_SAVED, 12, SFU_KERNEL_NOT_SAVED, called), 0, ~(sfu_addr)0,   \
                    0)
#define SFU_TASK_NUTTX_RISCV  SFU_TASK_SAVED(0, SFU_TASK_AT(2), 8, SFU_TASK_AT(1), 33)
#define SFU_TASK_ZEPHYR_RISCV SFU_TASK_SAVED(1, 0, 2, SFU_KERNEL_NOT_SAVED, 14)
#elif defined(__aarch64__)
/* The first word says whether the registers of the FPU, so many words, lie behind the second one. */
#define SFU_TASK_FREERTOS_AARCH64          SFU_TASK_FREERTOS_AARCH64_BOTH(64)
#define SFU_TASK_FREERTOS_11_2_AARCH64_SRE SFU_TASK_FREERTOS_AARCH64_BOTH(66)
#define SFU_TASK_FREERTOS_AARCH64_BOTH(more)                                                                       \
    SFU_TASK_EITHER(                                                                                               \
        SFU_TASK_SAVED(2 + (more), SFU_KERNEL_NOT_SAVED, 7 + (more), SFU_TASK_AT(4 + (more)), 36 + (more)),        \
        SFU_TASK_SAVED(2, SFU_KERNEL_NOT_SAVED, 7, SFU_TASK_AT(4), 36), 0, ~(sfu_addr)0, 0)
/* Q: how many of q0 to q31 it saves */
#define SFU_TASK_RTTHREAD_AARCH64(q) SFU_TASK_SAVED(0, SFU_KERNEL_NOT_SAVED, 7, SFU_TASK_AT(3), 36 + 2 * (q))
#define SFU_TASK_THREADX_AARCH64                                                                                   \
    SFU_TASK_EITHER(SFU_TASK_SAVED(1, SFU_KERNEL_NOT_SAVED, 3, SFU_TASK_AT(33), 34),                               \
                    SFU_TASK_SAVED(13, SFU_KERNEL_NOT_SAVED, 12, SFU_KERNEL_NOT_SAVED, 14), 1, ~(sfu_addr)0, 0)
#define SFU_TASK_NUTTX_AARCH64  SFU_TASK_SAVED(32, SFU_TASK_AT(31), 29, SFU_TASK_AT(30), 38)
#define SFU_TASK_ZEPHYR_AARCH64 SFU_TASK_SAVED(13, SFU_TASK_AT(12), 10, SFU_KERNEL_NOT_SAVED, 14)
#elif defined(__x86_64__)
#define SFU_TASK_ZEPHYR_X86_64 SFU_TASK_SAVED(7, 0, 2, SFU_KERNEL_NOT_SAVED, 9)
#elif defined(SFU_TASK_AT) /* 32-bit ARM of the A and R profiles */
/* The first word says whether the registers of the FPU, so many words, lie behind it. */
#define SFU_TASK_FREERTOS_CA9 SFU_TASK_FREERTOS_ARM_BOTH(65)
#define SFU_TASK_FREERTOS_CR5 SFU_TASK_FREERTOS_ARM_BOTH(33)
#define SFU_TASK_FREERTOS_ARM_BOTH(more)                                                                           \
    SFU_TASK_EITHER(SFU_TASK_ARM_SAVED(2 + (more)), SFU_TASK_ARM_SAVED(2), 0, ~(sfu_addr)0, 0)
/* r0 to r12, r14, the PC and CPSR from word number AT on */
#define SFU_TASK_ARM_SAVED(at)                                                                                     \
    SFU_TASK_SAVED((at) + 14, SFU_KERNEL_NOT_SAVED, (at) + (int16_t)SFU_REG_FP, SFU_TASK_AT((at) + 13), (at) + 16)
#define SFU_TASK_RTTHREAD_ARM SFU_TASK_RTTHREAD_ARM_BEHIND(1)
#define SFU_TASK_RTTHREAD_ARM_FPU                                                                                  \
    SFU_TASK_EITHER(SFU_TASK_RTTHREAD_ARM_BEHIND(2), SFU_TASK_RTTHREAD_ARM_BEHIND(67), 0, 1u << 30, 1u << 30)
#define SFU_TASK_RTTHREAD_ARM_BEHIND(at)                                                                           \
    SFU_TASK_SAVED((at) + 14, SFU_KERNEL_NOT_SAVED, (at) + (int16_t)SFU_REG_FP, SFU_TASK_AT((at) + 13), (at) + 15)
#define SFU_TASK_THREADX_ARM                                                                                       \
    SFU_TASK_EITHER(SFU_TASK_RTTHREAD_ARM_BEHIND(2),                                                               \
                    SFU_TASK_SAVED(10, SFU_KERNEL_NOT_SAVED, (int16_t)SFU_REG_FP - 2, SFU_KERNEL_NOT_SAVED, 11),   \
                    0, ~(sfu_addr)0, 0)
#define SFU_TASK_ZEPHYR_ARM SFU_TASK_SAVED(9, SFU_TASK_AT(8), (int16_t)SFU_REG_FP - 4, SFU_KERNEL_NOT_SAVED, 10)
#endif

/* A thread as the kernel's list has it. All is 0 before the first one, and is kept from one call to the next. */
struct sfu_kernel_thread {
    void *cursor;     /* yours: which thread it is */
    const char *name; /* or NULL. It is printed up to the first space, and at most 32 characters */
    sfu_addr number;
    const void *stack_low, *stack_high; /* NULL, NULL: it has no stack of its own, or one of sfu_kernel.stacks */
    sfu_addr guard;                     /* as in struct sfu_kernel_stack */
    sfu_addr sp;                        /* SP as the context switch saved it; unused if saved is set */
    const void *saved; /* where the registers of sfu_kernel.switched lie, if they are on no stack; or NULL */
    bool running;      /* it runs on a CPU: sp is stale, and the CPU's trace is its trace */
    bool is_new;       /* it has never run: it is named, and has no trace */
    /* sfu_kernel's own: how many places it has passed, and one of them */
    uint32_t passed;
    const void *remembered;
};

/* Fills in the next THREAD, beginning with the first one. CTX is sfu_kernel.panic.ctx. Returns false if there is none.
 * It is called in a panic: it takes no lock, and must expect that the list is damaged. */
typedef bool (*sfu_kernel_thread_fn)(void *ctx, struct sfu_kernel_thread *thread);

/* What a thread does. */
enum sfu_kernel_state {
    SFU_KERNEL_NO_THREAD = 0, /* nothing: this place of an array is free, or the thread has ended */
    /* The context switch has saved its registers; or it has never run, and what is saved looks the same */
    SFU_KERNEL_WAITS = 1,
    SFU_KERNEL_RUNS = 2, /* it runs on a CPU */
    SFU_KERNEL_NEW = 3   /* it has never run, and what is saved is not what the context switch saves */
};

/* Which values an integer of a thread's structure has while the thread waits, while it runs, and before it has run: bit
 * N of a set stands for the value N. A value in none of the sets, or above 31, is that of no thread. */
struct sfu_kernel_states {
    uint16_t at;  /* offset in bytes of the integer */
    uint8_t size; /* of the integer: 1, 2, 4 or 8 bytes */
    uint32_t waits, runs, is_new;
};

/* .states = SFU_KERNEL_STATES(struct task, state, 1u << SLEEPS | 1u << READY, 1u << RUNS) */
#define SFU_KERNEL_STATES(type, member, waits, runs)                                                               \
    {                                                                                                              \
        offsetof(type, member), sizeof(((type *)0)->member), waits, runs, 0                                        \
    }

/* Threads that lie in an array, or are linked to a list: instead of a sfu_kernel_thread_fn. Offsets are in bytes from
 * the start of a thread's structure, as offsetof() gives them. Set stack_low, sp and, for a list, next, because 0 is an
 * offset: SFU_KERNEL_THREADS sets all but next. SFU_KERNEL_NOT_SAVED says that there is no such member. The pointers
 * of a list are followed in a panic: if one of them was overwritten, that may fault. */
struct sfu_kernel_threads {
    uint32_t size;     /* of a thread's structure */
    int16_t stack_low; /* of the pointer to the lowest byte of the stack: SFU_KERNEL_POINTER */
    int16_t sp;        /* of the SP as the context switch saved it */
    /* Not set: a thread has no name, or no number, and threads are counted. SFU_KERNEL_FIRST: the offset is 0. */
    int16_t name;        /* of the name, which is a text in the structure */
    int16_t number;      /* of an int that is not negative: the thread's number */
    uint32_t stack_size; /* of each stack, in bytes */
    /* The stack is a part of the thread's structure, or the structure lies at the low end of the stack. Then stack_low
     * is the offset of the stack's lowest byte, or 0. */
    bool stack_inside;
    uint32_t guard;    /* bytes below each stack, as in struct sfu_kernel_stack */
    const void *array; /* the first thread of an array, or the first pointer to one; or NULL */
    uint32_t num;      /* of threads or pointers in it */
    bool pointers;     /* the array has pointers to threads; NULL: no thread */
    /* Where the pointer to the first thread of a list is; or NULL. A list ends with NULL, or leads back to the first
     * thread or to the list's head, where this pointer is. */
    void *const *list;
    int16_t next; /* of the pointer to the next thread of a list */
    /* Offset of the list node in a thread's structure: what the pointers of the list point to. 0: they point to the
     * start of the structure. */
    uint16_t node;
    uint16_t stack_size_at; /* of a size_t with the size of the thread's stack, if sizes differ; or 0 */
    /* The context switch saves registers in the thread's structure, not on its stack. Then sp above is the offset of
     * the first saved register, and sfu_kernel.switched counts from there. */
    bool registers_inside;
    bool name_is_pointer; /* name is the offset of a pointer to a text */
    /* A function that returns what THREAD does. If the pointer is NULL, states says it. */
    enum sfu_kernel_state (*state)(const void *thread);
    struct sfu_kernel_states states; /* its size is 0: all threads wait */
};

/* offsetof(TYPE, MEMBER) of a member that is a pointer, for stack_low. It does not compile if MEMBER is an array: for a
 * stack that lies in the thread's structure itself, use SFU_KERNEL_THREADS_INSIDE. */
#define SFU_KERNEL_POINTER(type, member)                                                                           \
    (offsetof(type, member) + 0 * sizeof(char[sizeof(((type *)0)->member) == sizeof(void *) ? 1 : -1]))
/* The offset of an array that is a stack. It does not compile if MEMBER is a pointer. */
#define SFU_KERNEL_ARRAY(type, member)                                                                             \
    ((int16_t)(SFU_KERNEL_AT(type, member) +                                                                       \
               0 * (int)sizeof(char[sizeof(((type *)0)->member) > sizeof(void *) ? 1 : -1])))

/* The members of struct sfu_kernel_threads that name members of a thread's structure, which is of TYPE: pointer to the
 * stack, saved SP, name (a text in the structure), number. If threads have no number, leave it out. C++ wants the
 * members in their order, so that these come first:
 *     .threads = {SFU_KERNEL_THREADS(struct task, stack, sp, name, id), .stack_size = 8192, .array = tasks, .num = 8}
 */
#define SFU_KERNEL_THREADS(type, stack, saved_sp, ...)                                                             \
    .size = sizeof(type), .stack_low = SFU_KERNEL_POINTER(type, stack), .sp = SFU_KERNEL_AT(type, saved_sp),       \
    SFU_KERNEL_CALLED(__VA_ARGS__, SFU_KERNEL_NAME_AND_NUMBER, SFU_KERNEL_NAME, )(type, __VA_ARGS__)
/* The same if the stack is an array in the structure: STACK, which says how large it is. */
#define SFU_KERNEL_THREADS_INSIDE(type, stack, saved_sp, ...)                                                      \
    .size = sizeof(type), .stack_low = SFU_KERNEL_ARRAY(type, stack), .sp = SFU_KERNEL_AT(type, saved_sp),         \
    SFU_KERNEL_CALLED(__VA_ARGS__, SFU_KERNEL_NAME_AND_NUMBER, SFU_KERNEL_NAME, )(type, __VA_ARGS__),              \
    .stack_size = sizeof(((type *)0)->stack), .stack_inside = true
#define SFU_KERNEL_CALLED(text, id, chosen, ...) chosen
#define SFU_KERNEL_NAME(type, text)              .name = SFU_KERNEL_NAMED(type, text)
#define SFU_KERNEL_NAME_AND_NUMBER(type, text, id)                                                                 \
    .name = SFU_KERNEL_NAMED(type, text), .number = SFU_KERNEL_NAMED(type, id)
#define SFU_KERNEL_NAMED(type, member)                                                                             \
    (offsetof(type, member) != 0 ? SFU_KERNEL_AT(type, member) : SFU_KERNEL_FIRST)

/* What a CPU that has stopped leaves for the one that prints. Zero it at first. */
struct sfu_kernel_cpu {
    struct sfu_registers top;
    const void *trap;
    uint32_t stopped; /* 1: top and trap are valid */
    sfu_addr last;    /* the CPU's that prints: SP where this CPU's trace has ended, or 0 */
};

/* Zero what is not used. */
struct sfu_kernel {
    struct sfu_panic panic; /* its put, image, symbol, ctx and so on are yours; its target is sfu_kernel_init's */
    const struct sfu_kernel_stack *stacks;
    unsigned num_stacks;
    /* There are no guard pages: what lies below a stack is memory, which overflows write to, and which may be read: the
     * next stack, for instance. An overflow has frames there, and so has the handler of the fault if it has no stack of
     * its own. Frames on the stack of a thread that does not run count as those of a thread that runs, if its guard
     * reaches there; but not in the trace of the thread that does not run. */
    bool guard_is_memory;
    /* Memory that holds stacks of unknown bounds, such as the boot loader's or an idle thread's. It is looked at last,
     * and counts as one stack. All of it is mapped. Not set: there is none. */
    struct sfu_kernel_stack rest;
    /* For what does not lie in rest: a function that finds the part of the image's memory that an address lies in,
     * which counts as rest. Its CTX is NULL. sfu_kernel_start sets it; NULL: there is none. */
    sfu_find_stack_fn image_memory;
    /* For what no trap frame has: a function that finds a register that an exception entry has saved. Its CTX is NULL.
     * sfu_kernel_start sets it; NULL: there is none. */
    sfu_reg_fn image_register;
    /* What is mapped of the image, if the end of the tables may be wrong: in EFI applications the linker sets it, and
     * objcopy may leave the tables out. Outside of it sfu_kernel_init reads nothing, and returns SFU_E_EMPTY. Not set:
     * the tables are where the linker has put them. */
    struct sfu_range mapped;

    struct sfu_kernel_threads threads; /* if its array or list is set */
    sfu_kernel_thread_fn next_thread;  /* where that does not fit: a function instead; or NULL */
    uint32_t max_threads;              /* of a list that may be damaged; 0: 4,096 */
    /* The frame that the context switch saves at a thread's sp, or in its structure. pc is where the return address of
     * the context switch lies. */
    struct sfu_kernel_frame switched;
    /* A second layout, if the context switch saves more of some threads than of others. It is used where (word at the
     * frame's start + kind) & kind_mask == kind_other. kind_mask 0: there is none. */
    struct sfu_kernel_frame other_switched;
    int16_t kind;
    sfu_addr kind_mask, kind_other;

    struct sfu_kernel_frame trap; /* the trap frame that exception entries save */
    /* A second layout, if interrupts save fewer registers than faults do: its size is set then. It is used where a
     * table crosses the entry, and the trap frame has the interrupted PC and SP at these places. Functions that get a
     * trap frame expect the first layout. */
    struct sfu_kernel_frame other_trap;
    uint16_t trap_at; /* of entries, which follow */
    /* Exception entries without tables: the text that calls C with SP at the trap frame, or trap_at bytes below it. At
     * each call in this range, the trap frame must be complete. Not set: tables describe the entries. */
    struct sfu_range entries;
    /* Where such entries leave the stack that has the trap frame, and SP does not lead to it: a function that returns
     * the trap frame of the exception that this CPU handles, the innermost one; or NULL, if it handles none. The trap
     * frame lies on one of the stacks. Traces of other CPUs and of threads do not cross such entries. CTX is
     * panic.ctx. */
    const void *(*current_trap)(void *ctx);
    /* Which traps have interrupted user mode, where a trace ends: (word at trap + mode) & mode_mask == mode_user. For
     * instance cs, 3, 3 on x86_64, and spsr, 0xf, 0 on aarch64. mode_mask 0: none. */
    int16_t mode, other_mode; /* other_mode: in a frame of other_trap */
    sfu_addr mode_mask, mode_user;
    /* Offsets in a trap frame of all registers by DWARF number, for rows that need others than SP, FP and RA; or
     * NULL, 0. SFU_KERNEL_NOT_SAVED: not saved. */
    const int16_t *registers;
    unsigned num_registers;
    /* A return address of 0 ends a trace. Set this if your kernel clears the stack of a new thread. */
    bool zero_ends;

    struct sfu_kernel_cpu *cpus; /* num_cpus of them; or NULL: there is one CPU */
    unsigned num_cpus;
    unsigned (*cpu_number)(void *ctx); /* number of the CPU that calls it, below num_cpus. CTX: panic.ctx */
    void (*stop_others)(void *ctx);    /* sends all other CPUs an NMI or an interrupt; or NULL: they go on */
    uint32_t patience;                 /* how many times to look whether a CPU has stopped; 0: 10,000,000 */

    /* sfu_kernel's own */
    uint32_t owner;     /* number of the CPU that prints, plus 1; 0: none */
    sfu_addr top;       /* the SP where the trace being printed begins; 0: none is */
    const void *from;   /* trap frame that the trace being printed begins at, by its address; NULL: none */
    sfu_addr saved;     /* frame.saved of the frame that it begins at, if that is known; else 0 */
    const void *thread; /* cursor of the thread whose trace is being printed; NULL: it is a CPU's */
    const struct sfu_kernel_walked *walked; /* and what is known of it */
    struct {
        sfu_addr first, last; /* SP where this CPU's own trace began and ended; 0: there was none */
    } stood;
    bool masking; /* a CPU is about to keep interrupts away */
};

#ifdef SFU_NO_CYCLES
#define SFU_KERNEL_CYCLES NULL
#else
#define SFU_KERNEL_CYCLES sfu_print_cycles /* sfu_cycles.h */
#endif

/* Defines struct sfu_kernel NAME, and the callbacks that it needs, in a file that includes sfu_sizes.h and sfu_cycles.h
 * as well (sfu_panic.h and `make dist`'s sfu_kernel.h have both). PUT prints the character c and must not take a lock;
 * NUMBER is the number of the CPU that executes it, below MAX_CPUS; STOP sends all other CPUs an NMI or an interrupt.
 * The rest are members of struct sfu_kernel with their values, at least one, in C++ in the order of the structure; no
 * member of those that NAME gets here: panic, cpus, num_cpus, cpu_number and stop_others. Traces have sizes of frames,
 * name a stack that has overflowed, and show recursion in one line. */
#define SFU_KERNEL(name, put_c, max_cpus, number, stop, ...)                                                       \
    static void name##_put(void *ctx, char c)                                                                      \
    {                                                                                                              \
        (void)ctx;                                                                                                 \
        put_c;                                                                                                     \
    }                                                                                                              \
    static unsigned name##_number(void *ctx)                                                                       \
    {                                                                                                              \
        (void)ctx;                                                                                                 \
        return (unsigned)(number);                                                                                 \
    }                                                                                                              \
    static void name##_stop(void *ctx)                                                                             \
    {                                                                                                              \
        (void)ctx;                                                                                                 \
        stop;                                                                                                      \
    }                                                                                                              \
    static struct sfu_kernel_cpu name##_cpus[max_cpus];                                                            \
    struct sfu_kernel name = {.panic = {.put = name##_put,                                                         \
                                        .cycles = SFU_KERNEL_CYCLES,                                               \
                                        .sizes = sfu_print_size,                                                   \
                                        .before = sfu_print_overflow},                                             \
                              __VA_ARGS__,                                                                         \
                              .cpus = name##_cpus,                                                                 \
                              .num_cpus = (max_cpus),                                                              \
                              .cpu_number = name##_number,                                                         \
                              .stop_others = name##_stop}

/* Opens the tables from SFRAME to SFRAME_END as sfu_panic_init does, and returns what that returns. The target is
 * KERNEL->panic.own: limits, pac_mask, final, original_ra and more sections may be set after this call. */
int sfu_kernel_init(struct sfu_kernel *kernel, const void *sframe, const void *sframe_end);

#ifdef SFU_START_H
/* The same by the tables that sfu-link has made; KERNEL->panic gets what sfu_panic_share (sfu_start.h) gives: traces
 * have names. A stack that is not described may lie in the image's memory: KERNEL->image_memory. If the image moves
 * itself later, call it again. */
static inline int sfu_kernel_start(struct sfu_kernel *kernel)
{
    int code;
    const struct sfu_section *made = sfu_panic_share(&kernel->panic, &code);

    kernel->image_memory = sfu_panic_printer()->own.find_stack;
    kernel->image_register = sfu_panic_printer()->own.reg;
    return made->bytes == NULL ? code : sfu_kernel_init(kernel, made->bytes, made->bytes + (size_t)made->size);
}
#endif

/* Sets *REGS to what TRAP has interrupted: the address of a trap frame, aligned to a register's size. */
void sfu_kernel_registers(const struct sfu_kernel *kernel, const void *trap, struct sfu_registers *regs);

/* Prints the trace from TOP on, stops the other CPUs and prints theirs. Interrupts are kept away from this CPU
 * meanwhile (sfu_mask.h), so put must not wait for one. If TOP is NULL, the trace begins here, and its
 * first frame is that of sfu_kernel_panic. If another CPU already prints, this CPU stops
 * as in sfu_kernel_stop, and the function does not return. Returns the code that ended the trace of this CPU; or
 * SFU_E_STACK if printing itself has faulted and the fault has called this function again. */
int sfu_kernel_panic(struct sfu_kernel *kernel, const struct sfu_registers *top);

/* The same from a trap frame. ADDRESS: what the fault was about, for sfu_print_overflow, or 0. If this handler runs on
 * the stack that it has interrupted, above what ran there, it has overwritten a part of that: a line behind the trace
 * says that its frames are not proven. */
int sfu_kernel_fault(struct sfu_kernel *kernel, const void *trap, sfu_addr address);

/* The same from the frame whose PC is PC, for a kernel whose panic path passes on only a return address. TOP:
 * registers of a function that the frame has called, or of that frame. If no frame has that PC, it begins at TOP. */
int sfu_kernel_panic_at(struct sfu_kernel *kernel, const struct sfu_registers *top, sfu_addr pc);

/* In the handler of what stop_others sends: leaves what TRAP has interrupted to the CPU that prints, and waits for
 * ever. If TRAP is NULL, because the handler does not get the trap frame, the trace begins here and crosses the
 * exception entry. If this CPU has stopped already, what it left then stays. Returns at once, and only then, if this
 * CPU is the one that prints: a timer's interrupt may have come to it that was to stop the others. As long as no CPU
 * prints, each CPU that calls it waits: if your own flag makes handlers call it, set the flag with interrupts off, or a
 * tick that comes before sfu_kernel_panic stops the CPU that was about to print. */
void sfu_kernel_stop(struct sfu_kernel *kernel, const void *trap);

/* All of it in one call: sfu_kernel_fault if TRAP is not NULL, else sfu_kernel_panic from here on, whose first frame is
 * that of sfu_kernel_crash; and then sfu_kernel_print_threads. ADDRESS: as in sfu_kernel_fault. */
int sfu_kernel_crash(struct sfu_kernel *kernel, const void *trap, sfu_addr address);

/* Prints the traces of all threads that do not run, and the names of those that have never run. Returns how many traces
 * those were. Interrupts are kept away from this CPU meanwhile. A thread whose state says that it does not run has no
 * trace if this CPU, or one that has stopped, runs on its stack or has interrupted it there: it is in the context
 * switch, or about to enter it. A CPU that has not stopped may run each thread meanwhile: then no trace of a thread is
 * reliable, and a line in each of them says so. The trace of a thread that does not wait any more where it did ends
 * with SFU_E_STACK. */
unsigned sfu_kernel_print_threads(struct sfu_kernel *kernel);

/* For a kernel's own backtrace(), its leak finder or its lock checker: puts the trace of THREAD, a structure that
 * sfu_kernel.threads describes, into PCS, without its first SKIP frames, at most NUM of them. If THREAD is NULL, the
 * trace begins at TOP. A PC is that of the call, as addr2line wants it; a return address of 0 is left out. THREAD must
 * not run: if its state does not say that it waits, TOP lies on its stack, or it has run meanwhile as far as that can
 * be seen, there are 0 PCs. Prints nothing, writes nothing but PCS, and may be
 * called at any time and on all CPUs at once. Returns how many PCs there are now: 0 before sfu_kernel_init. */
unsigned sfu_kernel_backtrace_from(const struct sfu_kernel *kernel, const struct sfu_registers *top,
                                   const void *thread, void **pcs, unsigned num, unsigned skip);

/* The same. If THREAD is NULL, the trace is that of the function that calls this one, which is its first frame, even if
 * this is the last thing that the function does: no compiler makes a jump of a call that has the address of a local
 * variable. */
static inline __attribute__((__always_inline__)) unsigned
sfu_kernel_backtrace(const struct sfu_kernel *kernel, const void *thread, void **pcs, unsigned num, unsigned skip)
{
    struct sfu_registers here = sfu_registers_here();

    return sfu_kernel_backtrace_from(kernel, &here, thread, pcs, num, skip);
}

#ifdef __cplusplus
}
#endif

#endif
