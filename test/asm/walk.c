/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Walks through the functions of functions.S: the functions that each trace must show are known by their addresses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sfu_linux.h"

enum { STACK = 65536, MOST = 8 };

void *leaf(void);
void pushed(void (*function)(void));
void thread_start(void);
void thread_start_register(void);
void thread_main(const char *name);
void begin_thread(void *sp, void (*entry)(void), const char *name, void (*in_register)(const char *));
int main(int argc, char **argv, char **envp);

static struct sfu_linux self;
static int failed;
static uint8_t stack[STACK] __attribute__((aligned(16)));

/* The functions of the trace from here on must be WANTED, and it must end with CODE, 0 for any error. */
static __attribute__((noinline)) void check(const char *name, const uintptr_t *wanted, size_t count, int code)
{
    struct sfu_registers here = sfu_here(&self.cpu);
    struct sfu_walk walk;
    struct sfu_row row;
    size_t i;
    int got;

    sfu_walk_start(&walk, &self.target, &here);
    got = sfu_walk_step(&walk);
    for (i = 0; i < count && got == SFU_OK; i++) {
        if (sfu_find_frame(&self.target, &walk.frame, &row) != SFU_OK || row.function != wanted[i])
            break;
        got = sfu_walk_step(&walk);
    }
    if (i == count && (got == code || (code == 0 && got < 0)) && walk.frame.reliable) {
        printf("ok %s\n", name);
        return;
    }
    printf("not ok %s: frame %u, pc 0x%llx: %d, %s\n", name, (unsigned)i, (unsigned long long)walk.frame.regs.pc,
           got, sfu_string(got));
    failed = 1;
}

static __attribute__((noinline)) void called(void)
{
    const uintptr_t wanted[] = {(uintptr_t)called, (uintptr_t)pushed, (uintptr_t)main};

    check("walk through sfu_push", wanted, 3, 0);
    __asm__ volatile("" : : : "memory"); /* no sibling call */
}

void thread_main(const char *name)
{
    int direct = strstr(name, "register") == NULL;
    const uintptr_t wanted[] = {(uintptr_t)thread_main,
                                direct ? (uintptr_t)thread_start : (uintptr_t)thread_start_register};

    check(name, wanted, 2, SFU_END);
    if (direct)
        begin_thread(stack + STACK - 160, thread_start_register, "walk to sfu_thread_entry, register", thread_main);
    fflush(stdout);
    exit(failed);
}

int main(int argc, char **argv, char **envp)
{
    (void)argc;
    (void)argv;
    while (*envp != NULL)
        envp++;
    if (sfu_linux_init(&self, (const uint64_t *)(envp + 1)) != SFU_OK) {
        puts("not ok walk: no section");
        return 1;
    }
    pushed(called);
    if ((uint8_t *)leaf() > (uint8_t *)&argc) {
        puts("not ok leaf: not below our own locals");
        failed = 1;
    }
    begin_thread(stack + STACK / 2 - 160, thread_start, "walk to sfu_thread_entry", NULL);
    return 1;
}
