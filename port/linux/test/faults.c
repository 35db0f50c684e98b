/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Faults in the last instruction of a function, and signals that somebody sends. faults KIND HOW: the trace of KIND has
 * the function, its caller and the end, begun HOW: "ucontext", by the registers that a handler is given; "hook", across
 * the signal frame; "plain", across that of a handler without SA_SIGINFO.
 */
#include "bare.h"
#include "section.h"

/* FUNCTION(process, signal to send it) has a frame, and ends with CODE. What lies behind it has another frame, and is
 * never called. */
#if defined(__x86_64__)
enum { GETPID = 39 };
#define ENTER  "sub $24, %rsp\n\t.cfi_def_cfa_offset 32\n\t"
#define BEHIND "sub $56, %rsp\n\t.cfi_def_cfa_offset 64\n\tnop\n\t"
#elif defined(__aarch64__)
enum { GETPID = 172 };
#define ENTER                                                                                                      \
    "stp x29, x30, [sp, #-32]!\n\t.cfi_def_cfa_offset 32\n\t.cfi_offset 29, -32\n\t.cfi_offset 30, -24\n\t"
#define BEHIND "sub sp, sp, #64\n\t.cfi_def_cfa_offset 64\n\tnop\n\t"
#elif defined(__riscv)
enum { GETPID = 172 };
#if __riscv_xlen == 64
#define ENTER "addi sp, sp, -32\n\t.cfi_def_cfa_offset 32\n\tsd ra, 24(sp)\n\t.cfi_offset 1, -8\n\t"
#else
#define ENTER "addi sp, sp, -32\n\t.cfi_def_cfa_offset 32\n\tsw ra, 28(sp)\n\t.cfi_offset 1, -4\n\t"
#endif
#define BEHIND "addi sp, sp, -64\n\t.cfi_def_cfa_offset 64\n\tnop\n\t"
#elif defined(__i386__)
enum { GETPID = 20 };
#define ENTER  "sub $12, %esp\n\t.cfi_def_cfa_offset 16\n\t"
#define BEHIND "sub $28, %esp\n\t.cfi_def_cfa_offset 32\n\tnop\n\t"
#else
enum { GETPID = 20 };
#define ENTER                                                                                                      \
    "stmg %r14, %r15, 112(%r15)\n\t.cfi_offset %r14, -48\n\t.cfi_offset %r15, -40\n\t"                             \
    "aghi %r15, -192\n\t.cfi_def_cfa_offset 352\n\tbras %r14, 1f\n1:\t"
#define BEHIND "aghi %r15, -64\n\t.cfi_def_cfa_offset 224\n\tnopr\n\t"
#endif
#define FAULT(function, code)                                                                                      \
    void function(long process, long signal);                                                                      \
    extern const char function##_end[];                                                                            \
    __asm__(".text\n\t.globl " #function ", " #function "_end\n\t.type " #function ", %function\n" #function       \
            ":\n\t.cfi_startproc\n\t" ENTER code "\n" #function "_end:\n\t.cfi_endproc\n\t.size " #function        \
            ", . - " #function "\n\t.type behind_" #function ", %function\nbehind_" #function                      \
            ":\n\t.cfi_startproc\n\t" BEHIND ".cfi_endproc\n\t.size behind_" #function ", . - behind_" #function)

#if defined(__x86_64__)
FAULT(fault_int3, "int3");
FAULT(fault_int_3, ".byte 0xcd, 3");
FAULT(fault_int_4, ".byte 0xcd, 4");
FAULT(fault_icebp, ".byte 0xf1");
FAULT(fault_illegal, "ud2");
FAULT(fault_privileged, "hlt");
FAULT(fault_divide, "xor %ecx, %ecx\n\tdiv %ecx");
FAULT(fault_memory, "mov 8, %rax");
FAULT(fault_sent, "mov $62, %eax\n\tsyscall"); /* kill */
#elif defined(__aarch64__)
FAULT(fault_break, "brk #0");
FAULT(fault_illegal, ".inst 0");
FAULT(fault_memory, "mov x0, #8\n\tldr x0, [x0]");
FAULT(fault_sent, "mov x8, #129\n\tsvc #0");
#elif defined(__riscv)
FAULT(fault_break, ".option push\n\t.option norvc\n\tebreak\n\t.option pop");
FAULT(fault_short_break, "c.ebreak");
FAULT(fault_illegal, "unimp");
FAULT(fault_memory, "lw a0, 8(zero)");
FAULT(fault_sent, "li a7, 129\n\tecall");
#elif defined(__i386__)
FAULT(fault_int3, "int3");
FAULT(fault_int_3, ".byte 0xcd, 3");
FAULT(fault_int_4, ".byte 0xcd, 4");
FAULT(fault_into, "mov $0x7fffffff, %eax\n\tinc %eax\n\tinto");
FAULT(fault_bound, "movl $0, (%esp)\n\tmovl $0, 4(%esp)\n\tmov $5, %eax\n\t.byte 0x62, 0x04, 0x24");
FAULT(fault_icebp, ".byte 0xf1");
FAULT(fault_illegal, "ud2");
FAULT(fault_privileged, "hlt");
FAULT(fault_divide, "xor %ecx, %ecx\n\tdiv %ecx");
FAULT(fault_memory, "mov 8, %eax");
FAULT(fault_sent, "mov $37, %eax\n\tmov 16(%esp), %ebx\n\tmov 20(%esp), %ecx\n\tint $0x80"); /* kill */
#else
FAULT(fault_trap, "j .+2"); /* into its second half, 0001: as __builtin_trap */
FAULT(fault_illegal, ".short 0");
FAULT(fault_privileged, ".insn s, 0xb2020000, 0(%r15)"); /* STIDP */
FAULT(fault_divide, "lghi %r2, 0\n\tlghi %r3, 1\n\tlghi %r4, 0\n\tdlgr %r2, %r4");
FAULT(fault_divide_memory, "xc 168(8, %r15), 168(%r15)\n\tlghi %r2, 0\n\tlghi %r3, 1\n\tdlg %r2, 168(%r15)");
FAULT(fault_memory, "lghi %r2, 0\n\tlg %r2, 8(%r2)");
FAULT(fault_sent, "svc 37");
#endif

#define KIND(name)                                                                                                 \
    {                                                                                                              \
#name, fault_##name, fault_##name##_end                                                                    \
    }
static const struct kind {
    const char *name;
    void (*run)(long process, long signal);
    const char *end;
} kinds[] = {
#if defined(__x86_64__)
    KIND(int3),       KIND(int_3),  KIND(int_4),  KIND(icebp), KIND(illegal),
    KIND(privileged), KIND(divide), KIND(memory), KIND(sent),
#elif defined(__aarch64__)
    KIND(break),
    KIND(illegal),
    KIND(memory),
    KIND(sent),
#elif defined(__riscv)
    KIND(break), KIND(short_break), KIND(illegal), KIND(memory), KIND(sent),
#elif defined(__i386__)
    KIND(int3),    KIND(int_3),      KIND(int_4),  KIND(into),   KIND(bound), KIND(icebp),
    KIND(illegal), KIND(privileged), KIND(divide), KIND(memory), KIND(sent),
#else
    KIND(trap), KIND(illegal), KIND(privileged), KIND(divide), KIND(divide_memory), KIND(memory), KIND(sent),
#endif
};

static struct sfu_linux self;
static const struct kind *kind;
static const char *how;

/* The walk is at the interrupted frame. */
static void check(struct sfu_walk *walk)
{
    const struct sfu_frame *frame = &walk->frame;
    bool guessed = is(how, "plain") && frame->guess == SFU_GUESS_HOOK;
    struct sfu_row row;
    uint64_t low = (uintptr_t)kind->run, high = (uintptr_t)kind->end;
    int code;

    /* A system call has been made: what it returns to lies behind. */
    assert_true(is(kind->name, "sent") ? frame->regs.pc == high : frame->regs.pc >= low && frame->regs.pc < high);
    assert_true(frame->regs.pc_kind == SFU_PC_EXACT);
    if (is(kind->name, "sent"))
        return;
    assert_true(sfu_find_frame(&self.target, frame, &row) == SFU_OK && row.function == low);
    assert_true(frame->reliable || guessed || is(how, "hook"));
    assert_true(sfu_walk_step(walk) == SFU_OK);
    assert_true(sfu_find_frame(&self.target, &walk->frame, &row) == SFU_OK);
    assert_true(row.function == (uintptr_t)sfu_linux_main);
    while ((code = sfu_walk_step(walk)) == SFU_OK) {
    }
    assert_that(code == SFU_END, sfu_string(code));
}

static void handler(int signal, void *info, void *ucontext)
{
    struct sfu_registers at;
    struct sfu_walk walk;

    (void)signal;
    (void)info;
    at = is(how, "ucontext") ? sfu_linux_interrupted(ucontext, &self.cpu) : sfu_here(&self.cpu);
    sfu_walk_start(&walk, &self.target, &at);
    while (!is(how, "ucontext") && !walk.frame.interrupted)
        assert_true(sfu_walk_step(&walk) == SFU_OK);
    check(&walk);
    test_passed(kind->name);
}

int sfu_linux_main(int argc, char **argv, const uintptr_t *auxv)
{
    static const int signals[] = {4, 5, 7, 8, 11};
    size_t i;

    assert_that(argc == 3, "faults KIND HOW");
    assert_true(init_self(&self, auxv) == SFU_OK);
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (is(argv[1], kinds[i].name))
            kind = &kinds[i];
    how = argv[2];
    assert_that(kind != NULL, argv[1]);
    for (i = 0; i < sizeof signals / sizeof signals[0]; i++)
        assert_true(sfu_linux_sigaction(signals[i], handler, is(how, "plain") ? 0 : 4, NULL) == 0);
    kind->run(sfu_linux_call(GETPID, 0, 0, 0, 0, 0, 0), 5);
    assert_that(false, "no signal came");
    return 1;
}
