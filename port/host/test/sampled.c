/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * sampled N: a program that works in its libc while a timer interrupts it, N times. Each time the handler walks the
 * stack twice from the interrupted instruction: by sfu with the tables that `sfu-gen --append` has given to the program
 * and all of its libraries, and by libgcc with their .eh_frame. Both have to find the same. For x86_64.
 */
#define _GNU_SOURCE
#include "sfu.h"

#include <link.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unwind.h>

#define PT_SFRAME 0x6474e554
enum { MAX = 256, SECTIONS = 16 };

static struct sfu_section sections[SECTIONS];
static struct sfu_target target;
static unsigned num_sections;
static volatile sig_atomic_t wanted, done, wrong;
static char first[200];

struct trace {
    uint64_t interrupted;
    uint64_t pc[MAX];
    unsigned num;
};

static int open_tables(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    for (int i = 0; i < info->dlpi_phnum && num_sections < SECTIONS; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        const void *bytes = (const void *)(info->dlpi_addr + ph->p_vaddr);

        if (ph->p_type != PT_SFRAME)
            continue;
        if (sfu_add(&target.sections, &sections[num_sections], 1, bytes, ph->p_memsz,
                    info->dlpi_addr + ph->p_vaddr) != SFU_OK ||
            sfu_check(&sections[num_sections++], NULL) != SFU_OK)
            exit(2);
    }
    return 0;
}

static int read_memory(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    (void)ctx;
    memcpy(buffer, (const void *)(uintptr_t)addr, len);
    return 0;
}

/* DWARF numbers of x86_64 to those of a signal's context. */
static int read_register(void *ctx, const struct sfu_frame *frame, uint32_t number, uint64_t *value)
{
    static const int names[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    const ucontext_t *context = ctx;

    if (frame->depth != 0 || number >= sizeof names / sizeof names[0])
        return -1;
    *value = (uint64_t)context->uc_mcontext.gregs[names[number]];
    return 0;
}

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *ctx)
{
    struct trace *trace = ctx;
    uint64_t pc = _Unwind_GetIP(context);

    if ((trace->num > 0 || pc == trace->interrupted) && pc != 0 && trace->num < MAX)
        trace->pc[trace->num++] = pc;
    return _URC_NO_REASON;
}

static int walk(const ucontext_t *context, struct trace *trace)
{
    struct sfu_registers top = {0};
    struct sfu_walk walk;
    int code;

    top.pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    top.sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    top.fp = (uint64_t)context->uc_mcontext.gregs[REG_RBP];
    target.ctx = (void *)context;
    sfu_walk_start(&walk, &target, &top);
    do {
        trace->pc[trace->num++] = walk.frame.regs.pc;
        code = sfu_walk_step(&walk);
    } while (code == SFU_OK && trace->num < MAX);
    return code;
}

static void sample(int signal, siginfo_t *info, void *context)
{
    struct trace mine = {0}, theirs = {0};
    int code;

    (void)signal;
    (void)info;
    if (done >= wanted)
        return;
    code = walk(context, &mine);
    theirs.interrupted = mine.pc[0];
    (void)_Unwind_Backtrace(note, &theirs);
    done++;
    if (code == SFU_END && mine.num == theirs.num && memcmp(mine.pc, theirs.pc, mine.num * sizeof mine.pc[0]) == 0)
        return;
    if (wrong++ == 0)
        snprintf(first, sizeof first, "PC 0x%llx: %u frames, %s; libgcc %u", (unsigned long long)mine.pc[0],
                 mine.num, sfu_string(code), theirs.num);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Work in many parts of a libc. */
static void work(unsigned round)
{
    char *lines[200], text[64];
    regex_t expression;

    for (unsigned i = 0; i < 200; i++) {
        snprintf(text, sizeof text, "%08.3f %x line %u", (double)(i * 7919 % 1000) / 3, i * round, i);
        lines[i] = strdup(text);
    }
    qsort(lines, 200, sizeof lines[0], compare);
    if (regcomp(&expression, "([0-9]+)\\.[0-9]* .*line (1|2)+", REG_EXTENDED) == 0) {
        for (unsigned i = 0; i < 200; i += 10)
            (void)regexec(&expression, lines[i], 0, NULL, 0);
        regfree(&expression);
    }
    for (unsigned i = 0; i < 200; i++) {
        if (strtod(lines[i], NULL) > 1e6 || strstr(lines[i], "never") != NULL)
            abort();
        free(lines[i]);
    }
}

int main(int argc, char **argv)
{
    struct sigaction action = {0};
    struct itimerval timer = {{0, 300}, {0, 300}};
    struct trace warm = {0};

    wanted = argc > 1 ? atoi(argv[1]) : 1000;
    target.stack.high = UINT64_MAX;
    target.read = read_memory;
    target.reg = read_register;
    target.red_zone = 128;
    (void)dl_iterate_phdr(open_tables, NULL);
    (void)_Unwind_Backtrace(note, &warm);
    action.sa_sigaction = sample;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    (void)sigaction(SIGALRM, &action, NULL);
    (void)setitimer(ITIMER_REAL, &timer, NULL);
    for (unsigned round = 1; done < wanted; round++)
        work(round);
    timer.it_value.tv_usec = timer.it_interval.tv_usec = 0;
    (void)setitimer(ITIMER_REAL, &timer, NULL);
    printf("%d samples, %d differ from libgcc's; %u tables. %s\n", (int)done, (int)wrong, num_sections, first);
    return wrong > 0 || num_sections < 3;
}
