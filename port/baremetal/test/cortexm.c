/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A firmware that crashes in each way that its command line names: "WHERE WHAT". cortexm.py knows which functions are
 * in the trace then, and where the labels at_* are.
 */
#include "board.h"
#include "sfu_arch.h"
#include "sfu_cortexm.h"
#include "sfu_sizes.h"
#include "sfu_trap.h"

#define NOINLINE    __attribute__((__noinline__))
#define LABEL(name) ".globl " #name "\n" #name ":\n\t"
#define BARRIER()   __asm__ volatile("dsb\n\tisb" : : : "memory")
#define MAINLINE    (__ARM_ARCH_ISA_THUMB == 2)

static void put(void *ctx, char c)
{
    (void)ctx;
    board_putc(c);
}

static uint8_t *measured; /* MSP when a fault came, with a pattern below it; NULL: that is not measured */
enum { PATTERN = 0xa5 };

/* Says how much of the main stack the report took. */
static void end(void);

static struct sfu_panic panic = {.put = put, .image = "firmware.elf"};
static struct sfu_cortexm cortexm;
SFU_CORTEXM_FAULTS(cortexm, end)

static void end(void)
{
    const uint8_t *lowest = main_stack;

    while (measured != NULL && *lowest == PATTERN)
        lowest++;
    if (measured != NULL)
        sfu_print_number(&panic, "bytes of main stack: ", (sfu_addr)(measured - lowest), 10, 1);
    if (measured != NULL)
        board_print("\n");
    board_exit(false);
}

enum { TASK_SIZE = 1024, GUARD = 256 };
static struct {
    uint8_t guard[GUARD], stack[TASK_SIZE];
} memory __attribute__((__aligned__(GUARD)));
static const struct sfu_cortexm_stack stacks[] = {
    {main_stack, main_stack_top, 1024},
    {memory.stack, memory.stack + TASK_SIZE, GUARD},
};

static bool equal(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* ---- what goes wrong ---- */

#if __ARM_ARCH >= 8
#define NOTHING_THERE 0x1f000000u
#else
#define NOTHING_THERE 0x60000000u
#endif

NOINLINE void fault_udf(void);
void fault_udf(void)
{
    __asm__ volatile(LABEL(at_udf) "udf #1");
}

NOINLINE void fault_data(const volatile uint32_t *address);
void fault_data(const volatile uint32_t *address)
{
    uint32_t value;

    __asm__ volatile(LABEL(at_data) "ldr %0, [%1]" : "=l"(value) : "l"(address));
}

NOINLINE void fault_bkpt(void);
void fault_bkpt(void)
{
    __asm__ volatile(LABEL(at_bkpt) "bkpt #1");
}

NOINLINE void fault_svc(void);
void fault_svc(void)
{
    __asm__ volatile("cpsid i\n\tsvc #1\n\t" LABEL(behind_svc) "cpsie i");
}

/* What compilers put behind a check: its reason is printed. */
NOINLINE void fault_trap(void);
void fault_trap(void)
{
    panic.before = sfu_print_trap;
    BARRIER(); /* or the compiler may leave the store out, because nothing follows the trap */
    __builtin_trap();
}

NOINLINE void fault_call(uintptr_t address);
void fault_call(uintptr_t address)
{
    void (*volatile function)(void) = (void (*)(void))address;

    function();
    BARRIER();
}

NOINLINE void victim(void) __attribute__((__aligned__(4)));
void victim(void)
{
    BARRIER();
}

#if MAINLINE
#define CCR board_register(0xe000ed14)

NOINLINE void fault_divide(void);
void fault_divide(void)
{
    uint32_t value;

    *CCR |= 1u << 4;
    BARRIER();
    __asm__ volatile(LABEL(at_divide) "udiv %0, %1, %2" : "=r"(value) : "r"(7), "r"(0));
}

NOINLINE void fault_unaligned(void);
void fault_unaligned(void)
{
    uint32_t value;

    *CCR |= 1u << 3;
    BARRIER();
    __asm__ volatile(LABEL(at_unaligned) "ldr %0, [%1]" : "=l"(value) : "l"(memory.stack + 1));
}

enum {
    NO_ACCESS = 0,
    KERNEL_READS = 5
}; /* AP of ARMv7-M. ARMv8-M can only keep writes away, from the kernel, too */

/* Little or no access to SIZE bytes, a power of two, at START, which is a multiple of it. */
static void protect_for(const void *start, uint32_t size, uint32_t access)
{
    uint32_t log = 31 - (uint32_t)__builtin_clz(size);

    *board_register(0xe000ed98) = 0; /* MPU_RNR */
#if __ARM_ARCH >= 8
    *board_register(0xe000ed9c) = (uint32_t)(uintptr_t)start | 2 << 1 | 1; /* RBAR: read only, never executed */
    *board_register(0xe000eda0) = ((uint32_t)(uintptr_t)start + size - 32) | 1;
    (void)log;
    (void)access;
#else
    *board_register(0xe000ed9c) = (uint32_t)(uintptr_t)start;
    *board_register(0xe000eda0) = access << 24 | (log - 1) << 1 | 1; /* RASR */
#endif
    *board_register(0xe000ed94) = 5; /* MPU_CTRL: on, the map as usual elsewhere; off in HardFault */
    BARRIER();
}

static void protect(const void *start, uint32_t size)
{
    protect_for(start, size, NO_ACCESS);
}

NOINLINE void fault_mpu(volatile uint32_t *address);
void fault_mpu(volatile uint32_t *address)
{
    __asm__ volatile(LABEL(at_mpu) "str %0, [%0]" : : "l"(address) : "memory");
}
#endif

#ifdef __ARM_FP
NOINLINE void fault_fpu(void);
void fault_fpu(void)
{
    *board_register(0xe000ed88) &= ~0xf00000u;
    BARRIER();
    __asm__ volatile(LABEL(at_fpu) "vmov s0, r0");
}

NOINLINE void fault_lazy(void);
void fault_lazy(void)
{
    __asm__ volatile(LABEL(at_lazy) "vmov s0, r0");
}
#endif

#if MAINLINE
/* No exception has it: bits 0 to 3 of those without TrustZone are 1, 9 or 13. */
#define WRONG_EXC_RETURN "0xfffffff0"

/* Where EXC_RETURN is used, the stack has what this function has pushed. */
void return_wrong(void);
__asm__(".syntax unified\n\t.text\n\t.thumb\n\t.balign 4\n\t.globl return_wrong\n\t.type return_wrong, "
        "%function\n\t.thumb_func\n"
        "return_wrong:\n\t.cfi_startproc\n\tpush {r4, lr}\n\t.cfi_def_cfa_offset 8\n\t.cfi_offset lr, -4\n\t"
        ".cfi_offset r4, -8\n\tldr r0, =" WRONG_EXC_RETURN "\n\tbx r0\n\t.cfi_endproc\n\t"
        ".size return_wrong, . - return_wrong\n\t.ltorg");

/* Its stack is as it was. */
void IRQ3_Handler(void) __attribute__((__naked__));
void IRQ3_Handler(void)
{
    __asm__ volatile("ldr r0, =" WRONG_EXC_RETURN "\n\tbx r0");
}
#endif

static const char *what;
static struct sfu_panic late_panic = {.put = put, .image = "firmware.elf"};

/* A walk that begins in here, and with no exception's entry. */
NOINLINE void print_here(void);
void print_here(void)
{
    struct sfu_registers here = sfu_registers_here();

    sfu_panic_print(&late_panic, &here);
    end();
}

/* Its label lies where its frame has two registers; nobody calls it. */
void pushes(void);
void pushes_inside(void);
__asm__(".syntax unified\n\t.text\n\t.thumb\n\t.balign 4\n\t.globl pushes\n\t.type pushes, %function\n\t"
        ".thumb_func\npushes:\n\t.cfi_startproc\n\tpush {r4, lr}\n\t.cfi_def_cfa_offset 8\n\t"
        ".cfi_offset lr, -4\n\tmovs r4, #3\n\t.globl pushes_inside\n\t.thumb_func\npushes_inside:\n\t"
        "adds r0, r4, #1\n\tpop {r4, pc}\n\t.cfi_endproc\n\t.size pushes, . - pushes");

NOINLINE void fail(void);
void fail(void)
{
    if (equal(what, "udf"))
        fault_udf();
    else if (equal(what, "data"))
        fault_data((const volatile uint32_t *)NOTHING_THERE);
    else if (equal(what, "bkpt"))
        fault_bkpt();
    else if (equal(what, "masked"))
        fault_svc();
    else if (equal(what, "here"))
        print_here();
    else if (equal(what, "trap"))
        fault_trap();
    else if (equal(what, "null"))
        fault_call(0);
    else if (equal(what, "wild"))
        fault_call(NOTHING_THERE | 1);
    else if (equal(what, "never"))
        fault_call(0x40000001);
    else if (equal(what, "even"))
        fault_call((uintptr_t)victim & ~(uintptr_t)1);
    else if (equal(what, "inside"))
        fault_call((uintptr_t)pushes_inside & ~(uintptr_t)1);
#if MAINLINE
    else if (equal(what, "divide"))
        fault_divide();
    else if (equal(what, "return"))
        return_wrong();
    else if (equal(what, "unaligned"))
        fault_unaligned();
    else if (equal(what, "mpu")) {
        protect(memory.guard, GUARD);
        fault_mpu((volatile uint32_t *)(void *)memory.guard);
    }
#endif
#ifdef __ARM_FP
    else if (equal(what, "fpu"))
        fault_fpu();
    else if (equal(what, "lazy"))
        fault_lazy();
#endif
    BARRIER();
}

/* ---- where: stacks and exceptions ---- */

NOINLINE void outer(void (*function)(void));
void outer(void (*function)(void))
{
    function();
    BARRIER();
}

/* Goes on at FUNCTION on the process stack, at its top. It never returns; RA is what it returns to. */
static void enter_task(void (*function)(void), uintptr_t ra, uint32_t top)
{
    __asm__ volatile("msr psp, %0\n\t"
                     "movs r0, #2\n\t"
                     "msr control, r0\n\t" BOARD_ON_NEW_STACK "isb\n\t"
                     "mov lr, %1\n\t"
                     "bx %2" BOARD_ON_OLD_STACK
                     :
                     : "l"(top), "l"(ra), "l"(function)
                     : "r0", "lr", "memory");
    __builtin_unreachable();
}

static void (*in_task)(void), (*in_tick)(void) = fail;

void task(void);
void task(void)
{
    SFU_CORTEXM_OUTERMOST();
    outer(in_task);
    BARRIER();
}

static void measure(void)
{
    uint8_t *p;

    __asm__ volatile("mrs %0, msp" : "=r"(measured));
    for (p = main_stack; p < measured; p++)
        *p = PATTERN;
    fail();
}

/* EXC_RETURN, which a context switch leaves in LR when it jumps to a task. */
#define LEFT_IN_LR 0xfffffffdu

/* A task that may return. */
void old_task(void);
void old_task(void)
{
    outer(in_task);
    BARRIER();
}

/* Calls old_task on the main stack, as if a context switch had jumped there. */
void begin_on_main(void);
__asm__(".syntax unified\n\t.text\n\t.thumb\n\t.balign 4\n\t.globl begin_on_main\n\t.type begin_on_main, "
        "%function\n\t.thumb_func\nbegin_on_main:\n\t.cfi_startproc\n\t.cfi_undefined lr\n\t"
        "movs r0, #6\n\tmvns r0, r0\n\tmov lr, r0\n\tldr r1, =old_task\n\tbx r1\n\t.cfi_endproc\n\t"
        ".size begin_on_main, . - begin_on_main\n\t.ltorg");

static void run_task(void (*function)(void))
{
    in_task = function;
    enter_task(task, 0, (uint32_t)(uintptr_t)memory.stack + TASK_SIZE);
}

#define PEND(n)      (*board_register(0xe000e200) = 1u << (n))
#define ENABLE(n)    (*board_register(0xe000e100) = 1u << (n))
#define PEND_SYSTICK (*ICSR = 1u << 26)

/* Of IRQ0 to IRQ3; the least number goes before the others. */
static void set_priorities(uint32_t word)
{
    *board_register(0xe000e400) = word;
    ENABLE(0);
    ENABLE(1);
    ENABLE(2);
}

NOINLINE void pend_systick(void);
void pend_systick(void)
{
    PEND_SYSTICK;
    BARRIER();
}

NOINLINE void pend_irq0(void);
void pend_irq0(void)
{
    PEND(0);
    BARRIER();
}

#if MAINLINE
NOINLINE void pend_irq3(void);
void pend_irq3(void)
{
    ENABLE(3);
    PEND(3);
    BARRIER();
}
#endif

/* A leaf: its RA is in LR. */
void pend_leaf(void);
__asm__(".syntax unified\n\t.text\n\t.thumb\n\t.balign 4\n\t.globl pend_leaf\n\t.type pend_leaf, "
        "%function\n\t.thumb_func\n"
        "pend_leaf:\n\t.cfi_startproc\n\t"
        "movs r0, #1\n\tlsls r0, r0, #26\n\tldr r1, =0xe000ed04\n\tstr r0, [r1]\n\t"
        "dsb\n\tisb\n\tbx lr\n\t.cfi_endproc\n\t.size pend_leaf, . - pend_leaf\n\t.ltorg");

/* Its RA is in r3, which the CPU pushes. */
void pend_r3(void);
__asm__(
    ".syntax unified\n\t.text\n\t.thumb\n\t.balign 4\n\t.globl pend_r3\n\t.type pend_r3, %function\n\t.thumb_func\n"
    "pend_r3:\n\t.cfi_startproc\n\tmov r3, lr\n\t.cfi_register lr, r3\n\t"
    "movs r0, #1\n\tmov lr, r0\n\tlsls r0, r0, #26\n\tldr r1, =0xe000ed04\n\tstr r0, [r1]\n\t"
    "dsb\n\tisb\n\tbx r3\n\t.cfi_endproc\n\t.size pend_r3, . - pend_r3\n\t.ltorg");

/* Its RA is in r12, which the CPU pushes, too, but not beside r3. */
void pend_r12(void);
__asm__(".syntax unified\n\t.text\n\t.thumb\n\t.balign 4\n\t.globl pend_r12\n\t.type pend_r12, "
        "%function\n\t.thumb_func\n"
        "pend_r12:\n\t.cfi_startproc\n\tmov r12, lr\n\t.cfi_register lr, r12\n\t"
        "movs r0, #1\n\tmov lr, r0\n\tlsls r0, r0, #26\n\tldr r1, =0xe000ed04\n\tstr r0, [r1]\n\t"
        "dsb\n\tisb\n\tbx r12\n\t.cfi_endproc\n\t.size pend_r12, . - pend_r12\n\t.ltorg");

/* Its RA is in r5, which only the entry of a fault pushes. */
void fault_r5(void);
__asm__(".syntax unified\n\t.text\n\t.thumb\n\t.balign 4\n\t.globl fault_r5\n\t.type fault_r5, "
        "%function\n\t.thumb_func\n"
        "fault_r5:\n\t.cfi_startproc\n\tpush {r5}\n\t.cfi_def_cfa_offset 4\n\t.cfi_offset r5, -4\n\t"
        "mov r5, lr\n\t.cfi_register lr, r5\n\t"
        "movs r0, #1\n\tmov lr, r0\n" LABEL(at_r5) "udf #2\n\t.cfi_endproc\n\t.size fault_r5, . - fault_r5");

/* SP is no multiple of 8 when the interrupt comes: the CPU leaves out 4 bytes. */
void pend_odd(void);
__asm__(".syntax unified\n\t.text\n\t.thumb\n\t.balign 4\n\t.globl pend_odd\n\t.type pend_odd, "
        "%function\n\t.thumb_func\n"
        "pend_odd:\n\t.cfi_startproc\n\tpush {lr}\n\t.cfi_def_cfa_offset 4\n\t.cfi_offset lr, -4\n\t"
        "movs r0, #1\n\tmov lr, r0\n\tlsls r0, r0, #26\n\tldr r1, =0xe000ed04\n\tstr r0, [r1]\n\t"
        "dsb\n\tisb\n\tpop {pc}\n\t.cfi_endproc\n\t.size pend_odd, . - pend_odd\n\t.ltorg");

/* A frame whose FP is r7. */
NOINLINE void pend_framed(unsigned n);
void pend_framed(unsigned n)
{
    volatile uint8_t bytes[n];

    bytes[0] = (uint8_t)n;
    PEND_SYSTICK;
    BARRIER();
    bytes[n - 1] = bytes[0];
}

static void pend_framed_8(void)
{
    pend_framed(24);
    BARRIER();
}

void SysTick_Handler(void);
void SysTick_Handler(void)
{
    outer(in_tick);
    BARRIER();
}

static unsigned next; /* the interrupt that IRQ0 asks for */

NOINLINE void pend_next(void);
void pend_next(void)
{
    PEND(next);
    BARRIER();
}

#ifdef __ARM_FP
static volatile float one = 1;

/* Keeps a value in a register of the FPU over a call. */
NOINLINE float half(float value, void (*function)(void));
float half(float value, void (*function)(void))
{
    float more = value * 1.5f;

    function();
    return value + more;
}
#endif

void IRQ0_Handler(void);
void IRQ0_Handler(void)
{
#ifdef __ARM_FP
    one = half(one, pend_next);
#else
    pend_next();
#endif
    BARRIER();
}

void IRQ1_Handler(void);
void IRQ1_Handler(void)
{
    outer(fail);
    __asm__ volatile("nop"); /* equal functions would become one */
    BARRIER();
}

void IRQ2_Handler(void);
void IRQ2_Handler(void)
{
    fail();
    BARRIER();
}

void SVC_Handler(void);
void SVC_Handler(void)
{
    outer(fail);
    __asm__ volatile("nop\n\tnop");
    BARRIER();
}

NOINLINE void call_svc(void);
void call_svc(void)
{
    __asm__ volatile("svc #0\n" LABEL(at_svc_next) "nop");
}

/* ---- the FPU ---- */

#ifdef __ARM_FP
NOINLINE void use_floats(void);
void use_floats(void)
{
    one = half(one, pend_irq0);
}

static void use_fpu(bool lazy)
{
    uint32_t control;

    *board_register(0xe000ef34) = lazy ? 0xc0000000 : 0x80000000; /* FPCCR: ASPEN, LSPEN */
    one = one * 2;
    __asm__ volatile("mrs %0, control" : "=r"(control));
    board_print((control & 4) != 0 ? "FPU in use\n" : "FPU not in use\n");
}

#endif

#if MAINLINE
/* ---- stack overflow ---- */

static volatile unsigned deepest = 100000;

NOINLINE unsigned recurse(unsigned n);
unsigned recurse(unsigned n)
{
    volatile uint8_t bytes[40];

    bytes[0] = (uint8_t)n;
    return n < deepest ? recurse(n + 1) + bytes[0] : 0;
}

static void overflow(void)
{
    recurse(0);
    BARRIER();
}

NOINLINE void deep(void);
void deep(void)
{
    volatile uint8_t bytes[380];

    bytes[0] = 1;
    __asm__ volatile("" : : "r"(bytes) : "memory"); /* clang would leave most of it out */
    victim();
    bytes[1] = bytes[0];
}

/* Overflows the task's stack without recursion: most of it is the frame of one function. */
NOINLINE void large(void);
void large(void)
{
    volatile uint8_t bytes[680];

    bytes[0] = 2;
    __asm__ volatile("" : : "r"(bytes) : "memory");
    deep();
    bytes[1] = bytes[0];
}

/* The same, but it has not saved its return address. */
NOINLINE void large_leaf(void);
void large_leaf(void)
{
    volatile uint8_t bytes[1060];

    bytes[0] = 3;
    __asm__ volatile("" : : "r"(bytes) : "memory");
}

NOINLINE void call_leaf(void);
void call_leaf(void)
{
    large_leaf();
    BARRIER();
}

static void set_sizes(void)
{
    panic.sizes = sfu_print_size;
    panic.before = sfu_print_overflow;
}

/* Pushes more than the exception frame needs, with little room: the push faults, and the frame is saved. */
void push_much(void);
__asm__(".syntax unified\n\t.text\n\t.thumb\n\t.balign 4\n\t.globl push_much\n\t.type push_much, %function\n\t"
        ".thumb_func\n"
        "push_much:\n\t.cfi_startproc\n\tpush {r7, lr}\n\t.cfi_def_cfa_offset 8\n\t.cfi_offset lr, -4\n\t"
        ".cfi_offset r7, -8\n\tmov r7, sp\n\t.cfi_def_cfa_register r7\n\tldr r0, =little_room\n\tldr r0, [r0]\n\t"
        "mov sp, r0\n" LABEL(at_push) "push.w {r0-r12, lr}\n\tudf #3\n\t.cfi_endproc\n\t"
                                      ".size push_much, . - push_much\n\t.ltorg");
__attribute__((used)) const uint8_t *const little_room = memory.stack + 40;
#endif

/* ---- handlers that run before that of the fault by which the CPU could not push their frame ---- */

static struct {
    uint32_t
        fake[256]; /* only the kernel may read it, or nobody writes; what is there looks like an exception frame */
} late __attribute__((__aligned__(1024)));
static struct sfu_cortexm late_cortexm;
static void (*on_late)(const struct sfu_cortexm_entry *entry);

static void late_print(const struct sfu_cortexm_entry *entry)
{
    sfu_cortexm_print(&late_cortexm, entry);
    end();
}

/* A second NMI waits, which hides from VECTPENDING what waits behind it. */
static void late_again(const struct sfu_cortexm_entry *entry)
{
    *ICSR = 1u << 31;
    BARRIER();
    late_print(entry);
}

static void late_here(const struct sfu_cortexm_entry *entry)
{
    (void)entry;
    print_here();
}

#if MAINLINE
/* Interrupts the report of a fault. */
static void put_and_interrupt(void *ctx, char c)
{
    static unsigned characters;

    put(ctx, c);
    if (++characters == 4) {
        *ICSR = 1u << 31;
        BARRIER();
    }
}
#endif

SFU_CORTEXM_ENTRY(NMI_Handler, on_nmi)
void on_nmi(const struct sfu_cortexm_entry *entry)
{
    on_late(entry);
    BARRIER();
}

/* Goes on with SP, pends the exceptions of the BITS of ICSR, and is interrupted. */
void late_spin(void *sp, uint32_t bits);
__asm__(".syntax unified\n\t.text\n\t.thumb\n\t.balign 4\n\t.globl late_spin\n\t.type late_spin, "
        "%function\n\t.thumb_func\n"
        "late_spin:\n\t.cfi_startproc\n\t.cfi_undefined lr\n\tldr r2, =0xe000ed04\n\tmov sp, r0\n\tstr r1, [r2]\n\t"
        "dsb\n1:\tb 1b\n\t.cfi_endproc\n\t.size late_spin, . - late_spin\n\t.ltorg");

enum { FAKE_AT = 128 };
static uint8_t *late_sp = (uint8_t *)&late.fake[FAKE_AT];
static uint32_t late_bits = 1u << 31;

static void late_task(void)
{
    late_spin(late_sp, late_bits);
}

static void late_start(void)
{
    uint32_t *frame = &late.fake[FAKE_AT - 8];

    frame[5] = 0xffffffff;
    frame[6] = (uint32_t)(uintptr_t)victim & ~1u;
    frame[7] = 1u << 24;
    on_late = late_print;
    sfu_cortexm_init(&late_cortexm, &late_panic, sframe_start, sframe_end, ram_start, ram_end);
    if (equal(what, "here"))
        on_late = late_here;
    if (equal(what, "again"))
        on_late = late_again;
#if MAINLINE
    if (equal(what, "over") || equal(what, "over-enabled")) { /* the NMI comes into the handler of the fault */
        panic.put = put_and_interrupt;
        if (equal(what, "over-enabled"))
            *SHCSR |= 7u << 16;
        protect(memory.guard, GUARD);
        run_task(overflow);
    }
    if (equal(what, "enabled") || equal(what, "tick") || equal(what, "fault"))
        *SHCSR |= 7u << 16;
    if (equal(what, "tick") || equal(what, "fault")) {
        *board_register(0xe000ed18) = 0x80;       /* MemManage */
        *board_register(0xe000ed20) = 0x40000000; /* SysTick */
        late_bits = 1u << 26;
        what = equal(what, "tick") ? "here" : "divide";
    }
    protect_for(late.fake, sizeof late.fake, KERNEL_READS);
#endif
    if (equal(what, "bus"))
        late_sp = (uint8_t *)(uintptr_t)NOTHING_THERE + 256;
#if __ARM_ARCH >= 8
    if (equal(what, "limit")) {
        *board_register(0xe000ed94) = 0;
        __asm__ volatile("msr psplim, %0" : : "r"(late_sp - 16));
    }
#endif
    run_task(late_task);
}

#ifdef __ARM_FP
static void lazy_task(void)
{
    one = one * 2;
    late_task();
}

/* The registers of the FPU, which the CPU would save late, lie where it may not write; the rest of the exception frame
 * does not. */
static void lazy_start(void)
{
    late_sp = (uint8_t *)late.fake + 72; /* s0 to s15 and FPSCR; what it pushes at once lies below */
    late_bits = 1u << 26;
    *SHCSR |= 7u << 16;
    *board_register(0xe000ed20) = 0x40000000; /* SysTick */
    protect(late.fake, sizeof late.fake);
    run_task(lazy_task);
}
#endif

/* ---- tasks as operating systems leave them ---- */

/* What the context switch of each saves, from the word next to the exception frame down, as its source says: s: s16 to
 * s31 if the task has used the FPU; S: those, or room for them; l, h, a: r4 to r7, r8 to r11, all of them; e:
 * EXC_RETURN; g: 1 if the task has used the FPU, else 0; o: another register, such as PSPLIM or CONTROL. b: from the
 * end of a control block down; p: PSP; f: a copy of the exception frame. z: all registers in place of the exception
 * frame; Z: the same in a build with an FPU, and PSPLIM. */
static const struct {
    const char *name;
    struct sfu_cortexm_order order;
    const char *saves; /* or NULL: into a control block that has them in its middle */
} systems[] = {
    {"cm3", SFU_TASK_FREERTOS_CM3, "a"},
    {"cm0-11.1", SFU_TASK_FREERTOS_11_1_CM0, "ae"},
    {"cm0-mpu", SFU_TASK_FREERTOS_CM0_MPU, "beopfa"},
    {"cm4f", SFU_TASK_FREERTOS_CM4F, "sea"},
    {"cm33", SFU_TASK_FREERTOS_CM33_NTZ, "saeo"},
    {"cm33-secure", SFU_TASK_FREERTOS_CM33, "saeoo"},
    {"cm4-mpu", SFU_TASK_FREERTOS_CM4_MPU, "bfpeao"},
    {"cm33-mpu", SFU_TASK_FREERTOS_CM33_NTZ_MPU, "beoopfa"},
    {"cm33-secure-mpu", SFU_TASK_FREERTOS_CM33_MPU, "beoopofa"},
    {"riot-m0", SFU_TASK_RIOT_CM0, "elh"},
    {"riot", SFU_TASK_RIOT_CM4F, "sea"},
    {"threadx-m0", SFU_TASK_THREADX_CM0, "lhe"},
    {"threadx", SFU_TASK_THREADX_CM4, "ase"},
    {"rtthread", SFU_TASK_RTTHREAD_CM3, "a"},
    {"rtthread-m4f", SFU_TASK_RTTHREAD_CM4F, "sag"},
    {"rtthread-m33", SFU_TASK_RTTHREAD_CM33, "saooeo"},
    {"nuttx", SFU_TASK_NUTTX_CM3, "eoaoo"},
    {"nuttx-m4f", SFU_TASK_NUTTX_CM4F, "Seoaoo"},
    {"zephyr", SFU_TASK_ZEPHYR, NULL},
    {"zephyr-fpu", SFU_TASK_ZEPHYR_FPU(9 * 4 + 8 + 1), NULL},
    {"zephyr-switch", SFU_TASK_ZEPHYR_SWITCH(0), "z"},
    {"zephyr-switch-fpu", SFU_TASK_ZEPHYR_SWITCH_FPU(1), "Z"},
};

/* Saves WORDS words of FROM, the last one highest, below *TO. */
static void save(uint32_t **to, const uint32_t *from, unsigned words)
{
    while (words > 0)
        *--*to = from[--words];
}

static uint32_t *save_on_stack(const char *saves, const struct sfu_cortexm_entry *entry, uint32_t *to)
{
    static const uint32_t floats[16] = {0xf0, 0xf1}, other = 0x5ec;
    static uint32_t in_block[32];
    const uint32_t has_fpu = (entry->exc_return & 0x10) == 0, *const frame = to, psp = (uint32_t)(uintptr_t)to;

    for (; *saves != '\0'; saves++) {
        if (*saves == 'b')
            to = in_block + 32;
        if (*saves == 'f')
            save(&to, frame, 8);
        if (*saves == 'p')
            save(&to, &psp, 1);
        if (*saves == 'S' || (*saves == 's' && has_fpu))
            save(&to, floats, 16);
        if (*saves == 'l' || *saves == 'a')
            save(&to, entry->r4_to_r11 + (*saves == 'a' ? 4 : 0), 4);
        if (*saves == 'h')
            save(&to, entry->r4_to_r11 + 4, 4);
        if (*saves == 'a')
            save(&to, entry->r4_to_r11, 4);
        if (*saves == 'e')
            save(&to, &entry->exc_return, 1);
        if (*saves == 'g')
            save(&to, &has_fpu, 1);
        if (*saves == 'o')
            save(&to, &other, 1);
    }
    return to;
}

/* From where the CPU has pushed an exception frame down: the PC, LR, r12 to r0, xPSR; PSPLIM; FPSCR, s31 to s0, if the
 * task has used the FPU, and whether it has. */
static uint32_t *save_all(const struct sfu_cortexm_entry *entry, const uint32_t *psp, bool fpu_and_limit)
{
    static const uint32_t floats[33] = {0xf0, 0xf1}, limit = 0x5ec;
    const uint32_t has_fpu = (entry->exc_return & 0x10) == 0;
    uint32_t hardware[8], *to = (uint32_t *)(uintptr_t)psp + 8 + (has_fpu ? 18 : 0) + (psp[7] >> 9 & 1);
    unsigned i;

    for (i = 0; i < 8; i++)
        hardware[i] = psp[i];
    hardware[6] |= 1;
    save(&to, hardware + 6, 1);
    save(&to, hardware + 5, 1);
    save(&to, hardware + 4, 1);
    save(&to, entry->r4_to_r11, 8);
    save(&to, hardware, 4);
    save(&to, hardware + 7, 1);
    if (fpu_and_limit) {
        save(&to, &limit, 1);
        if (has_fpu)
            save(&to, floats, 33);
        save(&to, &has_fpu, 1);
    }
    to[-1] = 0;
    return to;
}

/* A control block in whose middle r4 to r11, PSP and, some words above, the low byte of EXC_RETURN are saved. */
static struct {
    uint32_t others[3], r4_to_r11[8], psp, more[2];
    uint8_t mode, exc_return, unused[2];
} block;

static uint32_t *save_in_block(const struct sfu_cortexm_entry *entry, uint32_t *psp)
{
    unsigned i;

    for (i = 0; i < 8; i++)
        block.r4_to_r11[i] = entry->r4_to_r11[i];
    block.psp = (uint32_t)(uintptr_t)psp;
    block.mode = 0xa5;
    block.exc_return = (uint8_t)entry->exc_return;
    return block.r4_to_r11;
}

static uint32_t *save_as(const char *saves, const struct sfu_cortexm_entry *entry, uint32_t *psp)
{
    if (saves == NULL)
        return save_in_block(entry, psp);
    return *saves == 'z' || *saves == 'Z' ? save_all(entry, psp, *saves == 'Z') : save_on_stack(saves, entry, psp);
}

static void print_waiting(const struct sfu_cortexm_entry *entry)
{
    uint32_t *psp, *saved, i;

    __asm__ volatile("mrs %0, psp" : "=r"(psp));
    for (i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        if (!equal(what, systems[i].name))
            continue;
        saved = save_as(systems[i].saves, entry, psp);
        sfu_cortexm_print_task(&cortexm, &systems[i].order, saved);
        sfu_cortexm_print_task(&cortexm, &systems[i].order, saved - 1);
        sfu_cortexm_print_task(&cortexm, &systems[i].order, (void *)(uintptr_t)NOTHING_THERE);
    }
    end();
}

/* A task that has called the scheduler saves the same itself; but it has saved what a called function must keep before
 * that, and leaves out r4 to r11. */
void switch_away(void (*print)(void *saved));
__asm__(
    ".syntax unified\n\t.text\n\t.thumb\n\t.balign 4\n\t.globl switch_away\n\t.type switch_away, %function\n\t"
    ".thumb_func\nswitch_away:\n\t.cfi_startproc\n\tpush {r4-r7, lr}\n\t.cfi_def_cfa_offset 20\n\t"
    ".cfi_offset lr, -4\n\t.cfi_offset r7, -8\n\tadr r1, 1f\n\tadds r1, #1\n\tmov r2, r12\n\tmov r3, lr\n\t"
    "push {r1}\n\tpush {r3}\n\tpush {r2}\n\tsub sp, #48\n\tmovs r2, #1\n\tlsls r2, r2, #24\n\tpush {r2}\n\t"
    "mov r1, r0\n\tmov r0, sp\n\tblx r1\n\tpop {pc}\n\t.balign 4\n1:\tnop\n\tpop {r4-r7, pc}\n\t.cfi_endproc\n\t"
    ".size switch_away, . - switch_away");

static void print_switched(void *saved)
{
    static const struct sfu_cortexm_order order = SFU_TASK_ZEPHYR_SWITCH(0);

    sfu_cortexm_print_task(&cortexm, &order, saved);
    end();
}

NOINLINE void call_scheduler(void);
void call_scheduler(void)
{
    switch_away(print_switched);
    BARRIER();
}

static void (*on_pend)(const struct sfu_cortexm_entry *entry);

/* Its RA is in r5 or r9, which the context switch saves. */
#define WAITS(name, reg)                                                                                           \
    void name(void);                                                                                               \
    __asm__(                                                                                                       \
        ".syntax unified\n\t.text\n\t.thumb\n\t.balign 4\n\t.globl " #name "\n\t.type " #name ", "                 \
        "%function\n\t.thumb_func\n" #name ":\n\t.cfi_startproc\n\tmov " #reg ", lr\n\t.cfi_register lr, " #reg    \
        "\n\tmovs r0, #1\n\tmov lr, r0\n\tlsls r0, r0, #28\n\tldr r1, =0xe000ed04\n\tstr r0, [r1]\n\tdsb\n\tisb\n" \
        "\tnop\n\t.cfi_endproc\n\t.size " #name ", . - " #name "\n\t.ltorg");
WAITS(waits_r5, r5)
WAITS(waits_r9, r9)

#ifdef __ARM_FP
NOINLINE void use_and_wait(void);
void use_and_wait(void)
{
    one = one * 2;
    waits_r5();
    BARRIER();
}
#endif

/* ---- entries that return ---- */

static unsigned traces;

/* Prints what it has interrupted, and goes on. */
static void on_irq(const struct sfu_cortexm_entry *entry)
{
    struct sfu_registers top;

    if (sfu_cortexm_registers(&cortexm, entry, &top) == SFU_OK)
        traces++;
    sfu_panic_print(&panic, &top);
}

void on_pendsv(const struct sfu_cortexm_entry *entry);
SFU_CORTEXM_ENTRY(PendSV_Handler, on_pendsv)
void on_pendsv(const struct sfu_cortexm_entry *entry)
{
    if (on_pend != NULL)
        on_pend(entry);
    on_irq(entry);
}

/* Whether r4 to r11 are after PendSV what they were. */
bool keep_registers(void);
__asm__(".syntax unified\n\t.text\n\t.thumb\n\t.balign 4\n\t.globl keep_registers\n\t.type keep_registers, "
        "%function\n\t.thumb_func\n"
        "keep_registers:\n\t.cfi_startproc\n\t"
        "push {r4-r7, lr}\n\t.cfi_def_cfa_offset 20\n\t.cfi_offset lr, -4\n\t.cfi_offset r7, -8\n\t"
        "mov r4, r8\n\tmov r5, r9\n\tmov r6, r10\n\tmov r7, r11\n\tpush {r4-r7}\n\t.cfi_def_cfa_offset 36\n\t"
        "movs r4, #4\n\tmov r8, r4\n\tmovs r5, #5\n\tmov r9, r5\n\tmovs r6, #6\n\tmov r10, r6\n\t"
        "movs r7, #7\n\tmov r11, r7\n\t"
        "movs r0, #1\n\tlsls r0, r0, #28\n\tldr r1, =0xe000ed04\n\tstr r0, [r1]\n\tdsb\n\tisb\n\t"
        "movs r0, #0\n\tcmp r4, #4\n\tbne 1f\n\tcmp r5, #5\n\tbne 1f\n\tcmp r6, #6\n\tbne 1f\n\tcmp r7, #7\n\t"
        "bne 1f\n\tcmp r4, r8\n\tbne 1f\n\tcmp r5, r9\n\tbne 1f\n\tcmp r6, r10\n\tbne 1f\n\tcmp r7, r11\n\t"
        "bne 1f\n\tmovs r0, #1\n1:\n\t"
        "pop {r4-r7}\n\t.cfi_def_cfa_offset 20\n\tmov r8, r4\n\tmov r9, r5\n\tmov r10, r6\n\tmov r11, r7\n\t"
        "pop {r4-r7, pc}\n\t.cfi_endproc\n\t.size keep_registers, . - keep_registers\n\t.ltorg");

static void check_registers(void)
{
    board_print(keep_registers() && traces == 1 ? "registers kept\n" : "registers lost\n");
    board_exit(true);
}

/* ---- main ---- */

static bool is_where(const char *line, const char *where)
{
    while (*where != '\0' && *line == *where) {
        line++;
        where++;
    }
    return *where == '\0' && *line == ' ';
}

/* Where a task's stack begins, which may lie above the main stack. */
static uint32_t task_top(bool above)
{
    return (uint32_t)(uintptr_t)(above ? main_stack_top : memory.stack) + TASK_SIZE;
}

NOINLINE void choose(const char *line);
void choose(const char *line)
{
    next = is_where(line, "tail") ? 2 : 1;
    set_priorities(0x80804080); /* IRQ1 interrupts IRQ0; IRQ2 does not */
    if (is_where(line, "main"))
        outer(fail);
    else if (is_where(line, "r5"))
        outer(fault_r5);
    else if (is_where(line, "task"))
        run_task(fail);
    else if (is_where(line, "measured"))
        run_task(measure);
    else if (is_where(line, "measured-irq")) {
        in_tick = measure;
        run_task(pend_systick);
    } else if (is_where(line, "irq"))
        run_task(pend_systick);
    else if (is_where(line, "irq-main"))
        outer(pend_systick);
    else if (is_where(line, "leaf"))
        run_task(pend_leaf);
    else if (is_where(line, "r3"))
        run_task(pend_r3);
    else if (is_where(line, "r12"))
        run_task(pend_r12);
    else if (is_where(line, "odd"))
        run_task(pend_odd);
    else if (is_where(line, "framed"))
        run_task(pend_framed_8);
    else if (is_where(line, "nested") || is_where(line, "tail"))
        run_task(pend_irq0);
    else if (is_where(line, "svc"))
        run_task(call_svc);
    else if (is_where(line, "entry"))
        run_task(check_registers);
    else if (is_where(line, "entry-main"))
        outer(check_registers);
    else if (is_where(line, "late"))
        late_start();
    else if (is_where(line, "waits") || is_where(line, "waits-r9")) {
        on_pend = print_waiting;
        run_task(is_where(line, "waits") ? waits_r5 : waits_r9);
    } else if (is_where(line, "waits-left") || is_where(line, "waits-left-above")) {
        on_pend = print_waiting;
        in_task = waits_r5;
        enter_task(old_task, LEFT_IN_LR, task_top(is_where(line, "waits-left-above")));
    } else if (is_where(line, "switched")) {
        run_task(call_scheduler);
    } else if (is_where(line, "returns")) {
        in_task = fail;
        enter_task(old_task, (uintptr_t)sfu_cortexm_task_end, (uint32_t)(uintptr_t)memory.stack + TASK_SIZE);
    } else if (is_where(line, "left") || is_where(line, "left-irq") || is_where(line, "left-above")) {
        in_task = is_where(line, "left-irq") ? pend_systick : fail;
        enter_task(old_task, LEFT_IN_LR, task_top(is_where(line, "left-above")));
    } else if (is_where(line, "left-main") || is_where(line, "left-main-irq")) {
        in_task = is_where(line, "left-main") ? fail : pend_systick;
        begin_on_main();
    }
#if MAINLINE
    else if (is_where(line, "wrong-return"))
        outer(pend_irq3);
    else if (is_where(line, "enabled")) {
        *SHCSR |= 7u << 16;
        run_task(fail);
    } else if (is_where(line, "overflow") || is_where(line, "overflow-enabled")) {
        if (is_where(line, "overflow-enabled"))
            *SHCSR |= 7u << 16;
        protect(memory.guard, GUARD);
        run_task(overflow);
    } else if (is_where(line, "overflow-main")) {
        protect(main_guard, 1024);
        outer(overflow);
    } else if (is_where(line, "overflow-large")) {
        set_sizes();
        protect(memory.guard, GUARD);
        run_task(large);
    } else if (is_where(line, "overflow-leaf")) {
        set_sizes();
        protect(memory.guard, GUARD);
        run_task(call_leaf);
    } else if (is_where(line, "overflow-push")) {
        protect(memory.guard, GUARD);
        run_task(push_much);
    }
#endif
#if MAINLINE && __ARM_ARCH >= 8
    else if (is_where(line, "limit")) {
        __asm__ volatile("msr psplim, %0" : : "r"(memory.stack));
        run_task(overflow);
    } else if (is_where(line, "limit-large")) {
        set_sizes();
        __asm__ volatile("msr psplim, %0" : : "r"(memory.stack));
        run_task(large);
    }
#endif
#ifdef __ARM_FP
    else if (is_where(line, "late-lazy"))
        lazy_start();
    else if (is_where(line, "waits-fpu")) {
        on_pend = print_waiting;
        run_task(use_and_wait);
    } else if (is_where(line, "lazy") || is_where(line, "eager")) {
        use_fpu(is_where(line, "lazy"));
        run_task(use_floats);
    }
#endif
    BARRIER();
}

NOINLINE void board_main(const char *line)
{
    const char *c;

    for (c = line; *c != '\0' && *c != ' '; c++) {
    }
    what = *c == ' ' ? c + 1 : c;
    if (what[0] == '+') { /* stacks that are known by themselves */
        what++;
        cortexm.stacks = stacks;
        cortexm.num_stacks = sizeof stacks / sizeof stacks[0];
    }
    if (sfu_cortexm_init(&cortexm, &panic, sframe_start, sframe_end, ram_start, ram_end) != SFU_OK)
        board_print("tables\n");
    choose(line);
    board_print("nothing happened\n");
}
