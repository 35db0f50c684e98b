/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The smallest kernel: it says what the command line is, and panics. `make run` shows the trace. */
#include "kernel.h"

__attribute__((noinline)) void find(const char *name);
void find(const char *name)
{
    if (*name != '\0')
        panic("nobody has written that"); /* the last instruction: the return address is that of another function */
}

void kernel_main(const char *command_line)
{
    kernel_print("command line: ");
    kernel_print(command_line);
    kernel_print("\n");
    find(command_line);
    kernel_print("nothing to do\n");
}
