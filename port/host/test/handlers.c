/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Interrupt functions in the shapes that compilers give them: with and without an error code, realigned, with calls. */
struct frame {
    unsigned long pc, cs, flags, sp, ss;
};

volatile unsigned long sum;

__attribute__((noinline)) unsigned long leaf(unsigned long x)
{
    __asm__ volatile("" ::: "memory");
    return x * 3 + sum;
}

__attribute__((noinline)) unsigned long deeper(unsigned long x)
{
    volatile char room[40];

    room[x % 40] = (char)x;
    return leaf(x) + leaf((unsigned long)room[x % 40]);
}

__attribute__((interrupt)) void plain(struct frame *frame)
{
    sum += frame->cs;
}

__attribute__((interrupt)) void error(struct frame *frame, unsigned long code)
{
    sum += leaf(frame->pc + code);
}

__attribute__((interrupt)) void aligned(struct frame *frame)
{
    char room[64] __attribute__((aligned(64)));

    __asm__ volatile("" : : "r"(room) : "memory");
    sum += leaf(frame->sp);
}

__attribute__((interrupt)) void busy(struct frame *frame, unsigned long code)
{
    unsigned long i;

    for (i = 0; i < code % 5; i++)
        if (frame->flags & 1)
            sum += deeper(i);
        else
            sum += leaf(i);
}
