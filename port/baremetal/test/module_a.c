/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Half of the module; the other half is linked in front of it, so that its functions are not in order. */
void module_middle(void (*callback)(void));
void module_entry(void (*callback)(void));

void module_entry(void (*callback)(void))
{
    module_middle(callback);
}
