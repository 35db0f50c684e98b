/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Zephyr's arch_stack_walk, which says how the trace ended: sfu_zephyr.c. */
#ifndef SFU_ZEPHYR_H
#define SFU_ZEPHYR_H

#include "sfu.h"
#include <zephyr/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* arch_stack_walk. Returns SFU_END if the trace has come to the thread's beginning, SFU_OK if CALLBACK returned false,
 * SFU_E_DEPTH at CONFIG_ARCH_STACKWALK_MAX_FRAMES, or why it ended before. */
int sfu_zephyr_walk(stack_trace_callback_fn callback, void *cookie, const struct k_thread *thread,
                    const struct arch_esf *esf);

#ifdef __cplusplus
}
#endif

#endif
