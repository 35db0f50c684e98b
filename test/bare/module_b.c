/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
void module_middle(void (*callback)(void));
void module_unused(void);

__attribute__((noipa)) void module_middle(void (*callback)(void))
{
    volatile int room[5] = {1, 2, 3, 4, 5};

    callback();
    room[0] = room[1];
}

__attribute__((noipa)) void module_unused(void)
{
}
