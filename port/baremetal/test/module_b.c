/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
void module_middle(void (*callback)(void));
void module_unused(void);

void module_middle(void (*callback)(void))
{
    volatile int room[5];

    room[0] = 1;
    callback();
    room[1] = room[0];
}

void module_unused(void)
{
}
