/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_linux.h"
#include "cpu.h"

enum { THREAD_CPUTIME = 3, TO_THREAD = 4, SECOND = 1000000000 }; /* of a clock; a notification; nanoseconds */

struct event { /* struct sigevent */
    uintptr_t value;
    int32_t signal, how, thread, rest[sizeof(uintptr_t) == 8 ? 11 : 12];
};
struct times { /* struct itimerspec */
    uint64_t interval, interval_ns, first, first_ns;
};

int sfu_linux_timer(int signal, uint64_t nanoseconds)
{
    const uint64_t s = nanoseconds / SECOND, ns = nanoseconds % SECOND;
    const struct times times = {s, ns, s, ns};
    struct event event = {0, signal, TO_THREAD, 0, {0}};
    int32_t timer;
    long code;

    event.thread = (int32_t)sfu_linux_call(CALL_GETTID, 0, 0, 0, 0, 0, 0);
    code = sfu_linux_call(CALL_TIMER_CREATE, THREAD_CPUTIME, (long)&event, (long)&timer, 0, 0, 0);
    if (code == 0)
        code = sfu_linux_call(CALL_TIMER_SETTIME, timer, 0, (long)&times, 0, 0, 0);
    return code == 0 ? timer : (int)code;
}

int sfu_linux_timer_end(int timer)
{
    return (int)sfu_linux_call(CALL_TIMER_DELETE, timer, 0, 0, 0, 0, 0);
}
