/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * changing SEED...: tables that somebody else writes to while sfu reads them. The pages of a section cannot be read:
 * each access faults, is let through alone by a step of the CPU, and then the bytes that it may have read change.
 *
 *   once      sfu_open reads each byte of the header once, and no other
 *   outside   sfu_open, sfu_check and sfu_find read nothing outside of the section, whatever the bytes become; a
 *             section that was opened has a version and an ABI that there are
 *
 * It runs on x86_64 with Linux, and is compiled with and without optimization: a compiler may read a byte again where
 * the source does not.
 */
#define _GNU_SOURCE
#include "sfu.h"
#include "test/lib/check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, ROOM = 512, HEADER = 28, ROUNDS = 60, PCS = 8, STEP = 0x100, AT_ONCE = 8 };

static const uint64_t section_addr = 0x2000;

static uint8_t original[ROOM];
static uint8_t *page;    /* the section ends where it does; no page in front of it and behind it can be read */
static uint8_t *section; /* of SIZE bytes */
static size_t size;

static unsigned reads[ROOM]; /* of each byte, from there on */
static size_t last;          /* the byte that is being read */
static bool changes;         /* what was read changes */
static uint32_t random_state;
static struct sigaction of_check; /* says which test has crashed */

static uint32_t next_random(void)
{
    random_state = random_state * 1664525 + 1013904223;
    return random_state >> 8;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    const uint8_t *addr = info->si_addr;
    ucontext_t *c = context;

    (void)signal;
    if (addr < section || addr >= section + size) { /* it crashes when it goes on */
        char line[80];
        int length = snprintf(line, sizeof line, "# byte %ld of the section is touched\n", (long)(addr - section));

        (void)!write(STDOUT_FILENO, line, (size_t)length);
        sigaction(SIGSEGV, &of_check, NULL);
        return;
    }
    last = (size_t)(addr - section);
    reads[last]++;
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
    c->uc_mcontext.gregs[REG_EFL] |= STEP;
}

static void on_step(int signal, siginfo_t *info, void *context)
{
    ucontext_t *c = context;

    (void)signal;
    (void)info;
    if (changes) {
        size_t at = last + next_random() % AT_ONCE;

        if (at < size)
            section[at] = next_random() % 2 ? original[at] : (uint8_t)next_random();
    }
    mprotect(page, PAGE, PROT_NONE);
    c->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)STEP;
}

static void watch(void)
{
    const struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    const struct sigaction step = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

    sigaction(SIGSEGV, &fault, &of_check);
    sigaction(SIGTRAP, &step, NULL);
}

static void hide(void)
{
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
    memcpy(section, original, size);
    mprotect(page, PAGE, PROT_NONE);
}

static void once(void *unused)
{
    struct sfu_section s;

    (void)unused;
    watch();
    hide();
    changes = false;
    memset(reads, 0, sizeof reads);
    assert_int_equal(sfu_open(&s, section, size, section_addr), SFU_OK);
    for (size_t i = 0; i < size; i++)
        if (reads[i] != (i < HEADER ? 1 : 0))
            check_fail(__FILE__, __LINE__, "byte %zu is read %u times", i, reads[i]);
}

static void outside(void *unused)
{
    unsigned opened = 0;

    (void)unused;
    watch();
    changes = true;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct sfu_section s;
        struct sfu_place place;
        struct sfu_row row;

        hide();
        random_state = round;
        changes = round % 2 == 0; /* else only what comes behind the opening meets changes */
        if (sfu_open(&s, section, size, section_addr) != SFU_OK)
            continue;
        opened++;
        assert_true(s.version >= 1 && s.version <= 3);
        assert_true(s.abi >= SFU_AARCH64_BIG && s.abi <= SFU_S390X);
        changes = true;
        (void)sfu_check(&s, &place);
        for (unsigned i = 0; i < PCS; i++)
            (void)sfu_find(&s, section_addr + next_random() % 4096 - 2048, &row);
    }
    assert_true(opened >= ROUNDS / 2);
    check_say("opened %u times", opened);
}

static void load(const char *path)
{
    FILE *file = fopen(path, "rb");

    size = file != NULL ? fread(original, 1, ROOM, file) : 0;
    if (file != NULL)
        fclose(file);
    assert_that(size >= HEADER, path);
    section = page + PAGE - size;
}

int main(int argc, char **argv)
{
    uint8_t *memory = mmap(NULL, (size_t)3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int failed = 0;

    assert_true(memory != MAP_FAILED);
    page = memory + PAGE;
    for (int i = 2; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/');
        char name[200];

        load(argv[i]);
        snprintf(name, sizeof name, "once %s %s", argv[1], slash != NULL ? slash + 1 : argv[i]);
        failed += check_case(name, once, NULL);
        snprintf(name, sizeof name, "outside %s %s", argv[1], slash != NULL ? slash + 1 : argv[i]);
        failed += check_case(name, outside, NULL);
    }
    return failed != 0;
}
