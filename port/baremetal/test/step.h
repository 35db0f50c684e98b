/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What functions of kernels that are traced have in common. */
#ifndef STEP_H
#define STEP_H

/* A function that is called as it stands: the compiler neither merges it nor knows what it does. */
#ifdef __clang__
#define step __attribute__((noinline))
#else
#define step __attribute__((noipa))
#endif

/* An instruction that no machine has. */
#if defined(__s390x__)
#define ILLEGAL_INSTRUCTION ".short 0"
#define ILLEGAL_SIZE        2
#elif defined(__aarch64__)
#define ILLEGAL_INSTRUCTION "udf #0"
#define ILLEGAL_SIZE        4
#elif defined(__arm__)
#define ILLEGAL_INSTRUCTION "udf #0"
#ifdef __thumb__
#define ILLEGAL_SIZE 2
#else
#define ILLEGAL_SIZE 4
#endif
#elif defined(__riscv)
#define ILLEGAL_INSTRUCTION ".4byte 0"
#define ILLEGAL_SIZE        4
#else
#define ILLEGAL_INSTRUCTION "ud2"
#define ILLEGAL_SIZE        2
#endif

#endif
