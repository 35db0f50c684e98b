/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Steps a program of this machine's own CPU by ptrace. Only x86_64 so far: elsewhere it fails to start. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "machine.h"

#ifdef __x86_64__

static bool take_registers(struct machine *m)
{
    struct user_regs_struct u;
    struct regs *r = &m->regs;

    if (ptrace(PTRACE_GETREGS, m->pid, NULL, &u) != 0)
        return false;
    r->r[0] = u.rax;
    r->r[1] = u.rdx;
    r->r[2] = u.rcx;
    r->r[3] = u.rbx;
    r->r[4] = u.rsi;
    r->r[5] = u.rdi;
    r->r[6] = u.rbp;
    r->r[7] = u.rsp;
    r->r[8] = u.r8;
    r->r[9] = u.r9;
    r->r[10] = u.r10;
    r->r[11] = u.r11;
    r->r[12] = u.r12;
    r->r[13] = u.r13;
    r->r[14] = u.r14;
    r->r[15] = u.r15;
    r->pc = u.rip;
    return true;
}

/* After the program has been let go. */
static enum event take_stop(struct machine *m)
{
    int status;

    machine_forget(m);
    if (waitpid(m->pid, &status, 0) != m->pid)
        return FAILED;
    if (WIFEXITED(status)) {
        m->exit_code = WEXITSTATUS(status);
        m->pid = -1;
        return EXITED;
    }
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
        fprintf(stderr, "step: the program stopped with status %#x after %#llx\n", (unsigned)status,
                (unsigned long long)m->regs.pc);
        return FAILED;
    }
    return take_registers(m) ? STOPPED : FAILED;
}

static enum event native_step(struct machine *m)
{
    if (ptrace(PTRACE_SINGLESTEP, m->pid, NULL, NULL) != 0)
        return FAILED;
    return take_stop(m);
}

static bool native_read(struct machine *m, uint64_t addr, void *buffer, size_t len)
{
    struct iovec to = {buffer, len}, from;

    from.iov_base = (void *)(uintptr_t)addr;
    from.iov_len = len;
    return process_vm_readv(m->pid, &to, 1, &from, 1, 0) == (ssize_t)len;
}

static bool no_float(struct machine *m, unsigned number_of, uint64_t *value)
{
    (void)m;
    (void)number_of;
    (void)value;
    return false;
}

/* A breakpoint in the program's code, for one stop. A step that delivers a signal stops at the handler's first
 * instruction. */
static enum event native_run_to(struct machine *m, uint64_t addr, int sig)
{
    static const int signals[] = {0, SIGUSR1, SIGUSR2};
    struct user_regs_struct u;
    enum event event;
    long word;

    if (sig != 0) {
        if (ptrace(PTRACE_SINGLESTEP, m->pid, NULL, (void *)(long)signals[sig]) != 0)
            return FAILED;
        return take_stop(m);
    }
    word = ptrace(PTRACE_PEEKTEXT, m->pid, (void *)(uintptr_t)addr, NULL);
    if (ptrace(PTRACE_POKETEXT, m->pid, (void *)(uintptr_t)addr, (void *)((word & ~0xffL) | 0xcc)) != 0 ||
        ptrace(PTRACE_CONT, m->pid, NULL, NULL) != 0)
        return FAILED;
    event = take_stop(m);
    if (event != STOPPED)
        return event;
    ptrace(PTRACE_POKETEXT, m->pid, (void *)(uintptr_t)addr, (void *)word);
    ptrace(PTRACE_GETREGS, m->pid, NULL, &u);
    u.rip--;
    if (ptrace(PTRACE_SETREGS, m->pid, NULL, &u) != 0)
        return FAILED;
    m->regs.pc = u.rip;
    return STOPPED;
}

static bool native_start(struct machine *m, const char *emulator, const char *program)
{
    int status;

    (void)emulator;
    m->pid = fork();
    if (m->pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    return m->pid > 0 && waitpid(m->pid, &status, 0) == m->pid && WIFSTOPPED(status) &&
           ptrace(PTRACE_SETOPTIONS, m->pid, NULL, (void *)PTRACE_O_EXITKILL) == 0 && take_registers(m);
}

static void native_stop(struct machine *m)
{
    if (m->pid > 0) {
        kill(m->pid, SIGKILL);
        waitpid(m->pid, NULL, 0);
    }
}

const struct backend native_backend = {native_start, native_step, native_run_to,
                                       native_read,  no_float,    native_stop};

#else

static bool native_start(struct machine *m, const char *emulator, const char *program)
{
    (void)m;
    (void)emulator;
    fprintf(stderr, "step: no native stepping on this machine: %s\n", program);
    return false;
}

static void native_stop(struct machine *m)
{
    (void)m;
}

const struct backend native_backend = {native_start, NULL, NULL, NULL, NULL, native_stop};

#endif
