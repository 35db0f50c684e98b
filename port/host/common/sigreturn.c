/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sigreturn.h"
#include "sfu.h"

#include <string.h>

static const struct sigreturn codes[] = {
    {SFU_AMD64, 9, false, {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}}, /* mov $15, %rax; syscall */
    {SFU_AMD64, 7, false, {0xb8, 15, 0, 0, 0, 0x0f, 0x05}},             /* mov $15, %eax; syscall */
    {SFU_AMD64, 5, false, {0x6a, 15, 0x58, 0x0f, 0x05}},                /* push $15; pop %rax; syscall */
    {SFU_I386, 7, false, {0xb8, 173, 0, 0, 0, 0xcd, 0x80}},             /* mov $173, %eax; int $0x80 */
    {SFU_I386, 8, true, {0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80}},        /* pop %eax; mov $119, %eax; int $0x80 */
    /* mov $173, %eax; call *%gs:16 */
    {SFU_I386, 12, false, {0xb8, 173, 0, 0, 0, 0x65, 0xff, 0x15, 16, 0, 0, 0}},
    /* pop %eax; mov $119, %eax; call *%gs:16 */
    {SFU_I386, 13, true, {0x58, 0xb8, 119, 0, 0, 0, 0x65, 0xff, 0x15, 16, 0, 0, 0}},
    {SFU_AARCH64, 8, false, {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}}, /* mov x8, #139; svc #0 */
    {SFU_AARCH64, 8, false, {0x68, 0x11, 0x80, 0x52, 0x01, 0, 0, 0xd4}}, /* mov w8, #139; svc #0 */
    {SFU_RISCV64, 8, false, {0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0}},    /* li a7, 139; ecall */
    {SFU_S390X, 2, false, {0x0a, 173}},                                  /* svc 173 */
    {SFU_S390X, 2, true, {0x0a, 119}},                                   /* svc 119 */
    {SFU_S390X, 6, false, {0xa7, 0x18, 0, 173, 0x0a, 0}},                /* lhi %r1, 173; svc 0 */
    {SFU_S390X, 6, false, {0xa7, 0x19, 0, 173, 0x0a, 0}},                /* lghi %r1, 173; svc 0 */
    {SFU_S390X, 6, true, {0xa7, 0x18, 0, 119, 0x0a, 0}},                 /* lhi %r1, 119; svc 0 */
    {SFU_S390X, 6, true, {0xa7, 0x19, 0, 119, 0x0a, 0}},                 /* lghi %r1, 119; svc 0 */
    {SFU_ARM, 4, false, {0xad, 0, 0x90, 0xef}},                          /* svc 0x9000ad: the old ABI's numbers */
    {SFU_ARM, 4, true, {0x77, 0, 0x90, 0xef}},                           /* svc 0x900077 */
    {SFU_ARM, 8, false, {0xad, 0x70, 0xa0, 0xe3, 0xad, 0, 0x90, 0xef}}, /* mov r7, #173; svc 0x9000ad: for either */
    {SFU_ARM, 8, true, {0x77, 0x70, 0xa0, 0xe3, 0x77, 0, 0x90, 0xef}},  /* mov r7, #119; svc 0x900077 */
    {SFU_ARM, 8, false, {0xad, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef}},       /* mov r7, #173; svc #0 */
    {SFU_ARM, 8, true, {0x77, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef}},        /* mov r7, #119; svc #0 */
    {SFU_THUMB, 4, false, {0xad, 0x27, 0, 0xdf}},                       /* movs r7, #173; svc #0 */
    {SFU_THUMB, 4, true, {0x77, 0x27, 0, 0xdf}},                        /* movs r7, #119; svc #0 */
};

const struct sigreturn *sigreturn_find(int abi, const uint8_t *bytes, size_t size)
{
    size_t i;

    if (abi == SFU_AARCH64_BIG)
        abi = SFU_AARCH64;
    if (abi == SFU_RISCV32)
        abi = SFU_RISCV64;
    for (i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].abi == abi && codes[i].size <= size && memcmp(bytes, codes[i].bytes, codes[i].size) == 0)
            return &codes[i];
    return NULL;
}
