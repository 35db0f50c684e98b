/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The kernel is bent from outside: its kernel_handle is weak, and it is linked with --wrap=machine_exit. */
#include "scenarios.h"

struct hooks hooks;

bool kernel_handle(struct trap *trap, bool timer)
{
    void (*fault)(void) = hooks.fault;

    if (hooks.trap != NULL && hooks.trap(trap))
        return true;
    if (timer) {
        if (hooks.timer != NULL)
            hooks.timer();
        return true;
    }
    hooks.fault = NULL;
    if (fault != NULL)
        fault();
    return false;
}

_Noreturn void __real_machine_exit(bool good);
_Noreturn void __wrap_machine_exit(bool good);

_Noreturn void __wrap_machine_exit(bool good)
{
    if (!good && hooks.crashed != NULL)
        hooks.crashed();
    __real_machine_exit(good);
}
