/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A plugin of QEMU's: prints how many instructions a program has executed, to standard error. Of one with bench.c it
 * also prints "within NUMBER" whenever it calls counted_end: those in counted(), and in what that calls, since the last
 * time. The interface is declared here because distributions do not ship its header; what is used of it has been the
 * same since its version 1. Versions 0 and 1 also count in the translated code itself, in a third of the time of calls.
 * VERSION is the interface's, by the command line: QEMU refuses one that it does not know.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_info;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*cb)(unsigned, void *), int flags,
                                          void *user);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t, void *), void *user);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t which);
const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *insn);

extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv);

int qemu_plugin_version = VERSION;
static uint64_t executed, within, before;
static bool counting;

#if VERSION < 2
enum { ADD = 0 };
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op, void *to, uint64_t value);

static void count_block(struct qemu_plugin_tb *tb)
{
    qemu_plugin_register_vcpu_tb_exec_inline(tb, ADD, &executed, qemu_plugin_tb_n_insns(tb));
}
#else
static void count(unsigned cpu, void *number)
{
    (void)cpu;
    executed += (uintptr_t)number;
}

static void count_block(struct qemu_plugin_tb *tb)
{
    qemu_plugin_register_vcpu_tb_exec_cb(tb, count, 0, (void *)(uintptr_t)qemu_plugin_tb_n_insns(tb));
}
#endif

static void begin(unsigned cpu, void *unused)
{
    (void)cpu;
    (void)unused;
    if (!counting)
        before = executed;
    counting = true;
}

static void end(unsigned cpu, void *unused)
{
    (void)cpu;
    (void)unused;
    if (counting)
        within += executed - before;
    counting = false;
}

static void print(unsigned cpu, void *unused)
{
    (void)cpu;
    (void)unused;
    fprintf(stderr, "within %llu\n", (unsigned long long)within);
    within = 0;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    const char *function = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(tb, 0));
    (void)id;
    if (function != NULL && strcmp(function, "counted") == 0)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, begin, 0, NULL);
    else if (function != NULL && strcmp(function, "take_count") == 0)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, end, 0, NULL);
    else if (function != NULL && strcmp(function, "counted_end") == 0)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, print, 0, NULL);
    count_block(tb);
}

static void finish(qemu_plugin_id_t id, void *unused)
{
    (void)id;
    (void)unused;
    fprintf(stderr, "instructions %llu\n", (unsigned long long)executed);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
    (void)info;
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, finish, NULL);
    return 0;
}
