/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* facts_run < facts_in ... > facts_out ...: executes each instruction alone, by signals: one handler gives it its
 * registers, and the one of the signal that ends it takes them. */
#include "facts.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static struct facts_in in;
static struct facts_out out;
static volatile int running;
static unsigned rounds;

#if defined(__x86_64__)
enum { NUM_REGS = 16 };
static const int order[NUM_REGS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
#define REGISTER(uc, i) ((uc)->uc_mcontext.gregs[order[i]])
#define PC(uc) ((uc)->uc_mcontext.gregs[REG_RIP])
typedef gregset_t kept_t;
#define KEPT(uc) ((uc)->uc_mcontext.gregs)
/* Single steps, up to the next instruction. */
#define PREPARE(uc) ((uc)->uc_mcontext.gregs[REG_EFL] = 0x302)
static const uint8_t trap[] = {0xcc};
#elif defined(__aarch64__)
enum { NUM_REGS = 32 };
#define REGISTER(uc, i) (*((i) == 31 ? &(uc)->uc_mcontext.sp : &(uc)->uc_mcontext.regs[i]))
#define PC(uc) ((uc)->uc_mcontext.pc)
typedef struct {
    unsigned long long regs[34];
} kept_t;
#define KEPT(uc) (*(kept_t *)&(uc)->uc_mcontext.regs)
#define PREPARE(uc) ((void)0)
static const uint8_t trap[] = {0, 0, 0x20, 0xd4};
#elif defined(__s390x__)
enum { NUM_REGS = 16 };
#define REGISTER(uc, i) ((uc)->uc_mcontext.gregs[i])
#define PC(uc) ((uc)->uc_mcontext.psw.addr)
typedef struct {
    unsigned long words[18];
} kept_t;
#define KEPT(uc) (*(kept_t *)&(uc)->uc_mcontext)
#define PREPARE(uc) ((void)0)
static const uint8_t trap[] = {0, 1};
#elif defined(__riscv)
enum { NUM_REGS = 32 };
#define REGISTER(uc, i) (*((i) == 0 ? &zero : &(uc)->uc_mcontext.__gregs[i]))
static unsigned long zero;
#define PC(uc) ((uc)->uc_mcontext.__gregs[0])
typedef struct {
    unsigned long words[32];
} kept_t;
#define KEPT(uc) (*(kept_t *)&(uc)->uc_mcontext.__gregs)
#define PREPARE(uc) ((void)0)
static const uint8_t trap[] = {0x02, 0x90};
#endif
static kept_t kept;

static void handle(int signal, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    unsigned i;

    (void)info;
    if (!running) {
        memcpy(&kept, &KEPT(uc), sizeof kept);
        for (i = 0; i < NUM_REGS; i++)
            REGISTER(uc, i) = in.reg[i];
        PC(uc) = FACTS_CODE;
        PREPARE(uc);
        running = 1;
        rounds = 0;
        return;
    }
    if (signal == SIGTRAP && (uint64_t)PC(uc) == FACTS_CODE && ++rounds < 1000) /* a round of rep */
        return;
    out.signal = (uint64_t)signal;
    out.pc = (uint64_t)PC(uc);
    for (i = 0; i < NUM_REGS; i++)
        out.reg[i] = (uint64_t)REGISTER(uc, i);
    memcpy(&KEPT(uc), &kept, sizeof kept);
    running = 0;
}

static void *map(uint64_t at, size_t size, int protection)
{
    return mmap((void *)(uintptr_t)at, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

int main(void)
{
    static char stack[65536];
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    static const int signals[] = {SIGUSR1, SIGTRAP, SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGALRM};
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    uint8_t *code = map(FACTS_CODE, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    uint8_t *window = (uint8_t *)map(FACTS_STACK, FACTS_STACK_SIZE, PROT_READ | PROT_WRITE) + FACTS_LOW - FACTS_STACK;
    unsigned i;

    map(FACTS_OTHER, FACTS_OTHER_SIZE, PROT_READ | PROT_WRITE);
    sigaltstack(&other, NULL);
    for (i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
    while (fread(&in, sizeof in, 1, stdin) == 1) {
        for (i = 0; i < 4096; i++)
            code[i] = trap[i % sizeof trap];
        memcpy(code, in.code, sizeof in.code);
        __builtin___clear_cache((char *)code, (char *)code + 64);
        for (i = 0; i < FACTS_WINDOW; i++)
            window[i] = facts_byte(i);
        alarm(2); /* it may never end */
        kill(getpid(), SIGUSR1);
        alarm(0);
        memcpy(out.window, window, FACTS_WINDOW);
        fwrite(&out, sizeof out, 1, stdout);
        fflush(stdout);
    }
    return 0;
}
