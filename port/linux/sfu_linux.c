/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_linux.h"
#include "cpu.h"

/* ---- System calls -------------------------------------------------------------------------------------------- */

long sfu_linux_call(long number, long a, long b, long c, long d, long e, long f)
{
    return raw_call(number, a, b, c, d, e, f);
}

void sfu_linux_write(const char *bytes, size_t len)
{
    while (len > 0) {
        long n = sfu_linux_call(CALL_WRITE, 1, (long)bytes, (long)len, 0, 0, 0);

        if (n <= 0)
            return;
        bytes += n;
        len -= (size_t)n;
    }
}

void sfu_linux_put(void *ctx, char c)
{
    (void)ctx;
    sfu_linux_write(&c, 1);
}

void sfu_linux_exit(int status)
{
    for (;;)
        sfu_linux_call(CALL_EXIT_GROUP, status, 0, 0, 0, 0, 0);
}

/* ---- Reading the stack --------------------------------------------------------------------------------------- */

/* Whether the 8 bytes at ADDR, which is aligned, can be read. rt_sigprocmask copies a new mask from there: EFAULT if it
 * cannot. Then it refuses, because -1 is no operation: EINVAL. */
static bool readable(uint64_t addr)
{
    return sfu_linux_call(CALL_SIGPROCMASK, -1, (long)addr, 0, 8, 0, 0) == -22;
}

int sfu_linux_read(void *ctx, sfu_addr addr, void *buffer, size_t len)
{
    const volatile uint8_t *from = (const volatile uint8_t *)(uintptr_t)addr;
    uint8_t *to = (uint8_t *)buffer;
    uint64_t word = addr & ~(uint64_t)7, words = ((addr & 7) + len + 7) / 8;

    (void)ctx;
    for (; words > 0; words--, word += 8)
        if (!readable(word))
            return -1;
    while (len-- > 0)
        *to++ = *from++;
    return 0;
}

/* ---- Signal frames ------------------------------------------------------------------------------------------- */

static bool same(const uint8_t *a, const uint8_t *b, size_t len)
{
    while (len > 0 && *a == *b)
        a++, b++, len--;
    return len == 0;
}

/* Whether the instructions at PC call (rt_)sigreturn. *OLD: with the frame of a handler without SA_SIGINFO. */
static bool returns_from_signal(sfu_addr pc, bool *old)
{
#if defined(__x86_64__)
    static const uint8_t libc[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}; /* mov $15,%rax; syscall */
    static const uint8_t ours[] = {0xb8, 15, 0, 0, 0, 0x0f, 0x05};             /* mov $15,%eax; syscall */
    uint8_t code[sizeof libc];

    *old = false;
    if (sfu_linux_read(NULL, pc, code, sizeof ours) != 0)
        return false;
    if (same(code, ours, sizeof ours))
        return true;
    return sfu_linux_read(NULL, pc, code, sizeof libc) == 0 && same(code, libc, sizeof libc);
#elif defined(__aarch64__)
    static const uint8_t both[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}; /* mov x8, #139; svc #0 */
    uint8_t code[sizeof both];

    *old = false;
    return sfu_linux_read(NULL, pc, code, sizeof both) == 0 && same(code, both, sizeof both);
#elif defined(__riscv)
    static const uint8_t vdso[] = {0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0}; /* li a7, 139; ecall */
    uint8_t code[sizeof vdso];

    *old = false;
    return sfu_linux_read(NULL, pc, code, sizeof vdso) == 0 && same(code, vdso, sizeof vdso);
#elif defined(__i386__)
    static const uint8_t rt[] = {0xb8, 173, 0, 0, 0, 0xcd, 0x80};          /* mov $173, %eax; int $0x80 */
    static const uint8_t plain[] = {0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80}; /* pop %eax; mov $119, %eax; int $0x80 */
    uint8_t code[sizeof plain];

    *old = false;
    if (sfu_linux_read(NULL, pc, code, sizeof rt) != 0)
        return false;
    if (same(code, rt, sizeof rt))
        return true;
    *old = sfu_linux_read(NULL, pc, code, sizeof plain) == 0 && same(code, plain, sizeof plain);
    return *old;
#else
    static const uint8_t rt[] = {0x0a, 173}, plain[] = {0x0a, 119}; /* svc */
    uint8_t code[sizeof rt];

    if (sfu_linux_read(NULL, pc, code, sizeof rt) != 0)
        return false;
    *old = same(code, plain, sizeof plain);
    return *old || same(code, rt, sizeof rt);
#endif
}

/* A place in /proc/self/maps, whose lines begin "low-high rwxp". */
struct place {
    enum { LOW, HIGH, READ, WRITE, REST } part;
    uint64_t low, number; /* number: what was read last */
};

/* Goes on by the character C. Were it inlined, its caller would be a leaf function, in which clang for aarch64 uses x29
 * for other things: the assembler writes no table for a function that saves FP and no RA. */
static __attribute__((__noinline__)) void go_on(struct place *at, uint8_t c)
{
    if (at->part == LOW && c == '-') {
        at->low = at->number;
        at->number = 0;
        at->part = HIGH;
    } else if (at->part == HIGH && c == ' ') {
        at->part = READ;
    } else if (at->part == LOW || at->part == HIGH) {
        at->number = at->number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    } else if (at->part == READ) {
        at->part = WRITE;
    } else if (c == '\n') {
        at->number = 0;
        at->part = LOW;
    } else {
        at->part = REST;
    }
}

/* Whether the program cannot have written what is at ADDR, for all that /proc/self/maps says. */
static bool is_read_only(uint64_t addr)
{
    long fd = sfu_linux_call(CALL_OPENAT, AT_FDCWD, (long)"/proc/self/maps", O_CLOEXEC, 0, 0, 0), n, i;
    struct place at = {LOW, 0, 0};
    bool found = false, read_only = false;
    uint8_t buffer[256];

    while (!found && (n = sfu_linux_call(CALL_READ, fd, (long)buffer, sizeof buffer, 0, 0, 0)) > 0) {
        for (i = 0; i < n && !found; i++) {
            found = at.part == WRITE && addr >= at.low && addr < at.number;
            read_only = found && buffer[i] == '-';
            go_on(&at, buffer[i]);
        }
    }
    if (fd >= 0)
        sfu_linux_call(CALL_CLOSE, fd, 0, 0, 0, 0, 0);
    return read_only;
}

/* Reads register REG out of the signal frame at SP = TRAP. */
static int read_saved(sfu_addr trap, uint32_t reg, sfu_addr *value)
{
#ifdef ZERO_REGISTER
    if (reg == ZERO_REGISTER) {
        *value = 0;
        return 0;
    }
#endif
    *value = 0; /* of 32 bits Linux is little-endian */
    return sfu_linux_read(NULL, trap + UCONTEXT_OFFSET + (sfu_addr)saved_at(reg), value, sizeof(uintptr_t));
}

/* Moves *PC into the instruction that made the signal of the struct ucontext at UCONTEXT, if it lies behind that: there
 * another function may begin. */
static void fix_pc(sfu_addr ucontext, sfu_addr *pc)
{
#ifdef INFO_OFFSET
    struct siginfo info;
    uintptr_t vector;

    if (sfu_linux_read(NULL, ucontext + (sfu_addr)(int64_t)INFO_OFFSET, &info, sizeof info) == 0 &&
        sfu_linux_read(NULL, ucontext + VECTOR_OFFSET, &vector, sizeof vector) == 0)
        *pc -= passed(&info, vector, *pc);
#else
    (void)ucontext;
    (void)pc;
#endif
}

#ifdef __i386__
/* Whether FRAME was interrupted by the signal in a system call that the vDSO has made: behind its instruction it takes
 * three registers off the stack, EBP first, and returns. Reads what its caller goes on with. */
static bool leave_vsyscall(const struct sfu_frame *frame, struct sfu_registers *regs)
{
    static const uint8_t behind[] = {0x5d, 0x5a, 0x59, 0xc3}; /* pop %ebp; pop %edx; pop %ecx; ret */
    const sfu_addr pc = frame->regs.pc, sp = frame->regs.sp;
    uint8_t code[sizeof behind];
    uint32_t fp, ra;

    if (frame->regs.pc_kind != SFU_PC_EXACT || sfu_linux_read(NULL, pc, code, sizeof code) != 0 ||
        !same(code, behind, sizeof behind) || sfu_linux_read(NULL, sp, &fp, sizeof fp) != 0 ||
        sfu_linux_read(NULL, sp + 12, &ra, sizeof ra) != 0)
        return false;
    regs->pc = ra;
    regs->pc_kind = SFU_PC_RETURN;
    regs->sp = sp + 16;
    regs->fp = fp;
    return true;
}
#endif

int sfu_linux_trap(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    struct sfu_registers *regs = &interrupted->regs;
    sfu_addr trap = frame->regs.sp;
    bool old, known = true;

    (void)ctx;
#ifdef __i386__
    if (leave_vsyscall(frame, regs)) {
        if (!is_read_only(frame->regs.pc))
            interrupted->guess = SFU_GUESS_HOOK;
        return SFU_OK;
    }
#endif
    if (!returns_from_signal(frame->regs.pc, &old))
        return code;
#ifdef OLD_FRAME
    if (old && old_frame(&trap) != 0)
        return SFU_E_STACK;
#endif
    if (read_saved(trap, SFU_NUM_REGS, &regs->pc) != 0 || read_saved(trap, SFU_REG_SP, &regs->sp) != 0 ||
        read_saved(trap, SFU_REG_FP, &regs->fp) != 0)
        return SFU_E_STACK;
#ifdef SFU_REG_RA
    regs->has_ra = read_saved(trap, SFU_REG_RA, &regs->ra) == 0;
#endif
#ifdef OLD_FRAME
    if (old)
        known = fix_old_pc(trap, &regs->pc);
#endif
    if (!old)
        fix_pc(trap + UCONTEXT_OFFSET, &regs->pc);
    interrupted->saved = trap;
    if (!known || !is_read_only(frame->regs.pc))
        interrupted->guess = SFU_GUESS_HOOK;
    return SFU_OK;
}

int sfu_linux_reg(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value)
{
    const struct sfu_linux *self = (const struct sfu_linux *)ctx;

    if (!frame->interrupted)
        return frame->depth == 0 ? sfu_cpu_get(&self->cpu, reg, value) : -1;
    return reg < SFU_NUM_REGS ? read_saved(frame->saved, reg, value) : -1;
}

/* What lies OFFSET bytes from UCONTEXT. */
static const void *at(const void *ucontext, int offset)
{
    return (const uint8_t *)ucontext + offset;
}

struct sfu_registers sfu_linux_interrupted(const void *ucontext, struct sfu_cpu *cpu)
{
    uint32_t reg;

    for (reg = 0; reg <= SFU_NUM_REGS; reg++)
        cpu->r[reg] = *(const uintptr_t *)at(ucontext, (int)saved_at(reg));
#ifdef ZERO_REGISTER
    cpu->r[ZERO_REGISTER] = 0;
#endif
#ifdef INFO_OFFSET
    cpu->r[SFU_NUM_REGS] -= passed((const struct siginfo *)at(ucontext, INFO_OFFSET),
                                   *(const uintptr_t *)at(ucontext, VECTOR_OFFSET), cpu->r[SFU_NUM_REGS]);
#endif
    return sfu_cpu_registers(cpu);
}

/* Whether handlers with FLAGS have the frame that our own restorer returns from. */
static bool has_siginfo_frame(uint64_t flags)
{
#ifdef OLD_FRAME
    enum { WITH_SIGINFO = 4 };

    return (flags & WITH_SIGINFO) != 0;
#else
    (void)flags;
    return true;
#endif
}

int sfu_linux_sigaction(int signal, void (*handler)(int, void *, void *), uint64_t flags, void (*restorer)(void))
{
    extern void sfu_linux_restorer(void);
    uintptr_t action[5] = {0, 0, 0, 0, 0}; /* handler, flags, restorer, mask of 8 bytes; RISC-V has no restorer */

    if (SA_RESTORER_OURS && restorer == NULL && has_siginfo_frame(flags))
        restorer = sfu_linux_restorer;
    action[0] = (uintptr_t)handler;
    action[1] = (uintptr_t)flags | (restorer != NULL ? 0x04000000 : 0);
    action[2] = (uintptr_t)restorer;
    return (int)sfu_linux_call(CALL_SIGACTION, signal, (long)action, 0, 8, 0, 0);
}

int sfu_linux_sigaltstack(void *stack, size_t size)
{
    uintptr_t altstack[3]; /* address, flags, size */

    altstack[0] = (uintptr_t)stack;
    altstack[1] = 0;
    altstack[2] = size;
    return (int)sfu_linux_call(CALL_SIGALTSTACK, (long)altstack, 0, 0, 0, 0, 0);
}

/* ---- The section --------------------------------------------------------------------------------------------- */

enum { PT_LOAD = 1, PT_PHDR = 6, PT_GNU_SFRAME = 0x6474e554, AT_PHDR = 3, AT_PHNUM = 5 };
enum { EHDR_SIZE = sizeof(long) == 8 ? 64 : 52 };

/* Run-time minus link-time address. PT_PHDR says where the headers were linked to. A static-pie has none: there the
 * headers follow the ELF header, at the start of the first segment. */
static uint64_t find_slide(const struct phdr *phdrs, uint64_t num)
{
    uint64_t i, here = (uintptr_t)phdrs;

    for (i = 0; i < num; i++)
        if (phdrs[i].type == PT_PHDR)
            return here - phdrs[i].vaddr;
    for (i = 0; i < num; i++)
        if (phdrs[i].type == PT_LOAD && phdrs[i].offset == 0)
            return here - (phdrs[i].vaddr + EHDR_SIZE);
    return 0;
}

int sfu_linux_find(struct sfu_section *section, const void *phdrs, uint64_t num, sfu_addr *slide)
{
    const struct phdr *p = (const struct phdr *)phdrs;
    uint64_t i;

    *slide = (sfu_addr)find_slide(p, num);
    for (i = 0; i < num; i++) {
        sfu_addr addr = (sfu_addr)p[i].vaddr + *slide;

        if (p[i].type == PT_GNU_SFRAME)
            return sfu_open(section, (const void *)(uintptr_t)addr, (sfu_addr)p[i].memsz, addr);
    }
    return SFU_E_NO_SECTION;
}

int sfu_linux_init(struct sfu_linux *self, const uintptr_t *auxv)
{
    const void *phdrs = NULL;
    uint64_t num = 0;
    int code;

    for (; auxv[0] != 0; auxv += 2) {
        if (auxv[0] == AT_PHDR)
            phdrs = (const void *)auxv[1];
        if (auxv[0] == AT_PHNUM)
            num = auxv[1];
    }
    self->target.sections = NULL;
    self->target.stack.bytes = NULL;
    self->target.stack.low = 0;
    self->target.stack.high = SFU_ADDR_MAX;
    self->target.read = sfu_linux_read;
    self->target.reg = sfu_linux_reg;
    self->target.trap_hook = sfu_linux_trap;
    self->target.ctx = self;
    self->target.red_zone = RED_ZONE;
    code = sfu_linux_find(&self->section, phdrs, num, &self->slide);
    if (code == SFU_OK)
        code = sfu_add(&self->target.sections, &self->section, 1, self->section.bytes, self->section.size,
                       self->section.addr);
    return code;
}
