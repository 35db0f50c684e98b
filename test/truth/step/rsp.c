/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Steps a program under QEMU user mode by the GDB remote protocol, over a socket; or, if it is for this machine's own
 * CPU and that is x86_64, by Linux's ptrace, in a fifth of the time.
 *
 * The stub answers a step and the registers in one exchange. QEMU's user-mode stub takes 256 bytes at a time and then
 * waits for the acknowledgement of its answer at the socket itself; so each command is filled up to 256 bytes with
 * acknowledgements, which it skips between packets, and one more follows. The answers come in many small pieces: under
 * SCHED_BATCH a piece does not interrupt the stub to wake up who reads it, which takes a third of the CPU's time away.
 *
 * The program's memory is QEMU's, at GUEST_BASE, and is read there.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "machine.h"

enum { CHUNK = 257, MAX_COMMANDS = 2 };

/* QEMU's -B: where it has address 0 of the program. Nothing of its own is within 80 TiB behind it. */
#define GUEST_BASE UINT64_C(0x10000000000)

/* ---- Packets ---- */

struct exchange {
    char bytes[MAX_COMMANDS * CHUNK];
    size_t len;
};

/* COMMAND is shorter than 200 characters, and no more than MAX_COMMANDS are sent at once. */
static void add_command(struct exchange *x, const char *command)
{
    char *p = x->bytes + x->len;
    unsigned sum = 0;
    const char *c;
    int n;

    for (c = command; *c != '\0'; c++)
        sum += (unsigned char)*c;
    n = sprintf(p, "$%s#%02x", command, sum & 255);
    memset(p + n, '+', CHUNK - (size_t)n);
    x->len += CHUNK;
}

static bool send_all(struct machine *m, const struct exchange *x)
{
    size_t done = 0;

    while (done < x->len) {
        ssize_t n = send(m->fd, x->bytes + done, x->len - done, MSG_NOSIGNAL);

        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static int next_char(struct machine *m)
{
    if (m->used == m->have) {
        ssize_t n = recv(m->fd, m->input, sizeof m->input, 0);

        if (n <= 0)
            return -1;
        m->have = (size_t)n;
        m->used = 0;
    }
    return (unsigned char)m->input[m->used++];
}

/* The stub's next answer, in m->reply. Its checksum guards nothing on a local socket. */
static bool get_reply(struct machine *m)
{
    size_t n = 0;
    int c;

    do
        c = next_char(m);
    while (c == '+');
    if (c != '$')
        return false;
    while ((c = next_char(m)) >= 0 && c != '#' && n < sizeof m->reply - 1)
        m->reply[n++] = (char)c;
    m->reply[n] = '\0';
    return c == '#' && next_char(m) >= 0 && next_char(m) >= 0;
}

static bool ask(struct machine *m, const char *command)
{
    struct exchange x;

    x.len = 0;
    add_command(&x, command);
    return send_all(m, &x) && get_reply(m);
}

static unsigned nibble(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10) & 15;
}

/* LEN bytes in hexadecimal digits; false if there are fewer. */
static bool from_hex(const char *hex, uint8_t *bytes, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++, hex += 2) {
        if (hex[0] == '\0' || hex[1] == '\0')
            return false;
        bytes[i] = (uint8_t)(nibble(hex[0]) << 4 | nibble(hex[1]));
    }
    return true;
}

/* ---- What the harness asks for ---- */

static bool take_registers(struct machine *m)
{
    const unsigned word = m->cpu->abi.word, digits = 2 * word;
    size_t length = strlen(m->reply);
    uint8_t bytes[8];
    unsigned i;

    for (i = 0; i < m->cpu->gdb_count; i++) {
        int reg = m->cpu->gdb_order[i];

        if (length < digits * (size_t)(i + 1) || !from_hex(m->reply + digits * i, bytes, word))
            return false;
        if (reg == 32)
            m->regs.pc = bytes_get(bytes, word, m->cpu->abi.big);
        else if (reg >= 0)
            m->regs.r[reg] = bytes_get(bytes, word, m->cpu->abi.big);
    }
    return true;
}

/* Of the process that is stepped, at ADDR of it. */
static bool read_process(const struct machine *m, uint64_t addr, void *buffer, size_t len)
{
    struct iovec to = {buffer, len}, from = {(void *)(uintptr_t)addr, len};

    return process_vm_readv(m->pid, &to, 1, &from, 1, 0) == (ssize_t)len;
}

/* Reads the blocks that were wanted before the last instruction, of the process, BASE bytes behind their addresses. */
static void read_blocks(struct machine *m, uint64_t base)
{
    unsigned i;

    for (i = 0; i < m->num_blocks; i++)
        m->blocks[i].valid = read_process(m, base + m->blocks[i].addr, m->blocks[i].bytes, BLOCK);
}

static bool rsp_read(struct machine *m, uint64_t addr, void *buffer, size_t len)
{
    return read_process(m, GUEST_BASE + addr, buffer, len);
}

static bool rsp_read_float(struct machine *m, unsigned number_of, uint64_t *value)
{
    char command[64];
    uint8_t bytes[8];

    sprintf(command, "p%x", m->cpu->gdb_float + number_of);
    if (!ask(m, command) || m->reply[0] == 'E' || !from_hex(m->reply, bytes, 8))
        return false;
    *value = bytes_get(bytes, 8, m->cpu->abi.big);
    return true;
}

/* The answer to a step or continue command, and to 'g'. */
static enum event take_stop(struct machine *m)
{
    if (!get_reply(m)) {
        fprintf(stderr, "step: the stub does not answer after %#llx\n", (unsigned long long)m->regs.pc);
        return FAILED;
    }
    if (m->reply[0] == 'W') {
        m->exit_code = (int)strtol(m->reply + 1, NULL, 16);
        return EXITED;
    }
    if (strncmp(m->reply, "T05", 3) != 0) {
        fprintf(stderr, "step: the program stopped with %s at or after %#llx\n", m->reply,
                (unsigned long long)m->regs.pc);
        return FAILED;
    }
    if (!get_reply(m) || !take_registers(m))
        return FAILED;
    read_blocks(m, GUEST_BASE);
    return STOPPED;
}

static enum event run(struct machine *m, const char *command)
{
    struct exchange x;

    x.len = 0;
    machine_forget(m);
    add_command(&x, command);
    add_command(&x, "g");
    return send_all(m, &x) ? take_stop(m) : FAILED;
}

static enum event rsp_step(struct machine *m)
{
    return run(m, "vCont;s");
}

static bool breakpoint(struct machine *m, char set, uint64_t addr)
{
    char command[64];

    sprintf(command, "%c0,%llx,%x", set, (unsigned long long)addr, m->cpu->longest < 4 ? 4 : 2);
    return ask(m, command) && strcmp(m->reply, "OK") == 0;
}

static enum event rsp_run_to(struct machine *m, uint64_t addr, int signal)
{
    char command[32] = "vCont;c";
    enum event event;

    if (signal != 0)
        sprintf(command, "vCont;C%02x", m->cpu->gdb_usr1 + (unsigned)signal - 1);
    if (!breakpoint(m, 'Z', addr))
        return FAILED;
    event = run(m, command);
    return event != STOPPED || breakpoint(m, 'z', addr) ? event : FAILED;
}

/* ---- Start and end ---- */

static void run_emulator(const struct machine *m, const char *emulator, const char *program)
{
    char base[32];

    sprintf(base, "%#llx", (unsigned long long)GUEST_BASE);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execlp(emulator, emulator, "-B", base, "-s", "1048576", "-g", m->path, program, (char *)NULL);
    _exit(127);
}

static bool connect_stub(struct machine *m)
{
    struct sockaddr_un name;
    struct timeval limit = {60, 0};
    int tries;

    memset(&name, 0, sizeof name);
    name.sun_family = AF_UNIX;
    memcpy(name.sun_path, m->path, sizeof name.sun_path);
    for (tries = 0; tries < 3000; tries++) {
        m->fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(m->fd, (struct sockaddr *)&name, sizeof name) == 0)
            return setsockopt(m->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0;
        close(m->fd);
        m->fd = -1;
        usleep(10000);
    }
    return false;
}

/* The stub reads out single registers only to those who have asked for their description. */
static bool rsp_start(struct machine *m, const char *emulator, const char *program)
{
    const struct sched_param none = {0};
    bool ok;

    sched_setscheduler(0, SCHED_BATCH, &none);
    snprintf(m->path, sizeof m->path, "/tmp/sfu-step.%d", (int)getpid());
    unlink(m->path);
    m->have = m->used = 0;
    m->pid = fork();
    if (m->pid == 0)
        run_emulator(m, emulator, program);
    ok = m->pid > 0 && connect_stub(m);
    unlink(m->path);
    return ok && ask(m, "?") && ask(m, "qXfer:features:read:target.xml:0,400") && ask(m, "g") && take_registers(m);
}

static void rsp_stop(struct machine *m)
{
    if (m->fd >= 0)
        close(m->fd);
    if (m->pid > 0) {
        kill(m->pid, SIGKILL);
        waitpid(m->pid, NULL, 0);
    }
}

const struct backend rsp_backend = {rsp_start, rsp_step, rsp_run_to, rsp_read, rsp_read_float, rsp_stop};

/* ---- The same without an emulator ---- */

#if defined(__x86_64__)

/* The kernel's registers have names, ours are by DWARF number. */
static bool native_registers(struct machine *m)
{
    struct user_regs_struct r;
    uint64_t *to = m->regs.r;

    if (ptrace(PTRACE_GETREGS, m->pid, NULL, &r) != 0)
        return false;
    m->regs.pc = r.rip;
    if (m->cpu->abi.id == SFU_I386) {
        to[0] = r.rax, to[1] = r.rcx, to[2] = r.rdx, to[3] = r.rbx;
        to[4] = r.rsp, to[5] = r.rbp, to[6] = r.rsi, to[7] = r.rdi;
        return true;
    }
    to[0] = r.rax, to[1] = r.rdx, to[2] = r.rcx, to[3] = r.rbx;
    to[4] = r.rsi, to[5] = r.rdi, to[6] = r.rbp, to[7] = r.rsp;
    to[8] = r.r8, to[9] = r.r9, to[10] = r.r10, to[11] = r.r11;
    to[12] = r.r12, to[13] = r.r13, to[14] = r.r14, to[15] = r.r15;
    return true;
}

static bool native_read(struct machine *m, uint64_t addr, void *buffer, size_t len)
{
    return read_process(m, addr, buffer, len);
}

/* Lets it run as REQUEST says, with SIGNAL delivered first, until it stops. */
static enum event resume(struct machine *m, enum __ptrace_request request, int signal)
{
    int status;

    machine_forget(m);
    if (ptrace(request, m->pid, NULL, (long)signal) != 0 || waitpid(m->pid, &status, 0) != m->pid)
        return FAILED;
    if (WIFEXITED(status)) {
        m->exit_code = WEXITSTATUS(status);
        return EXITED;
    }
    if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP && native_registers(m))
        return STOPPED;
    fprintf(stderr, "step: the program stopped with status %#x at or after %#llx\n", (unsigned)status,
            (unsigned long long)m->regs.pc);
    return FAILED;
}

/* As QEMU does, it takes a system call and the instruction behind it in one step. */
static enum event native_step(struct machine *m)
{
    uint8_t code[2] = {0, 0};
    bool call = native_read(m, m->regs.pc, code, sizeof code) &&
                (code[0] == 0x0f ? code[1] == 0x05 : code[0] == 0xcd && code[1] == 0x80);
    enum event event = resume(m, PTRACE_SINGLESTEP, 0);

    if (call && event == STOPPED)
        event = resume(m, PTRACE_SINGLESTEP, 0);
    if (event == STOPPED)
        read_blocks(m, 0);
    return event;
}

/* With a breakpoint, which traps behind its one byte. */
static enum event native_run_to(struct machine *m, uint64_t addr, int signal)
{
    struct user_regs_struct r;
    enum event event;
    long word;

    word = ptrace(PTRACE_PEEKTEXT, m->pid, addr, NULL);
    if (ptrace(PTRACE_POKETEXT, m->pid, addr, (word & ~0xffL) | 0xcc) != 0)
        return FAILED;
    event = resume(m, PTRACE_CONT, signal == 0 ? 0 : signal == 1 ? SIGUSR1 : SIGUSR2);
    if (event != STOPPED)
        return event;
    if (m->regs.pc != addr + 1 || ptrace(PTRACE_POKETEXT, m->pid, addr, word) != 0 ||
        ptrace(PTRACE_GETREGS, m->pid, NULL, &r) != 0)
        return FAILED;
    m->regs.pc = r.rip = addr;
    if (ptrace(PTRACE_SETREGS, m->pid, NULL, &r) != 0)
        return FAILED;
    read_blocks(m, 0);
    return STOPPED;
}

static bool native_read_float(struct machine *m, unsigned number, uint64_t *value)
{
    (void)m, (void)number, (void)value;
    return false;
}

static void run_traced(const char *program)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    personality(ADDR_NO_RANDOMIZE);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
        execl(program, program, (char *)NULL);
    _exit(127);
}

static bool native_start(struct machine *m, const char *emulator, const char *program)
{
    int status;

    (void)emulator;
    m->pid = fork();
    if (m->pid == 0)
        run_traced(program);
    return m->pid > 0 && waitpid(m->pid, &status, 0) == m->pid && WIFSTOPPED(status) && native_registers(m);
}

const struct backend native_backend = {native_start, native_step,       native_run_to,
                                       native_read,  native_read_float, rsp_stop};

#else

static bool native_start(struct machine *m, const char *emulator, const char *program)
{
    (void)m, (void)emulator, (void)program;
    return false;
}

const struct backend native_backend = {native_start, NULL, NULL, NULL, NULL, rsp_stop};

#endif
