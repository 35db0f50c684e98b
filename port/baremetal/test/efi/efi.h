/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What main.c needs of EFI: UEFI Specification 2.10 (its tables), Platform Initialization 1.8 (the CPU's protocol). */
#ifndef TEST_EFI_H
#define TEST_EFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#define EFIAPI __attribute__((ms_abi))
#else
#define EFIAPI
#endif

typedef uint64_t efi_status; /* 0: good */

struct efi_guid {
    uint32_t a;
    uint16_t b, c;
    uint8_t d[8];
};

/* Services by their place behind the header of 24 bytes. */
enum { HEADER = 24, CREATE_EVENT = 7, SET_TIMER = 8, LOCATE_PROTOCOL = 37, RESET_SYSTEM = 10 };
enum { TIMER_SIGNAL = (int)0x80000200, AT_CALLBACK = 8, RELATIVE = 2, SHUTDOWN = 2 };

struct efi_system {
    uint8_t header[HEADER];
    const void *vendor;
    uint64_t revision;
    const void *console[6];
    const uint8_t *runtime, *boot;
};

typedef EFIAPI void (*efi_notify)(void *event, void *ctx);
typedef EFIAPI efi_status (*efi_create_event)(uint32_t type, uint64_t level, efi_notify notify, void *ctx,
                                              void **event);
typedef EFIAPI efi_status (*efi_set_timer)(void *event, int type, uint64_t in);
typedef EFIAPI efi_status (*efi_locate)(const struct efi_guid *protocol, void *registration, void **found);
typedef EFIAPI void (*efi_reset)(int type, efi_status status, uint64_t size, const void *data);

struct trap;
typedef EFIAPI void (*efi_handler)(int64_t type, struct trap *trap);
typedef EFIAPI efi_status (*efi_register)(void *cpu, int64_t type, efi_handler handler);

/* EFI_CPU_ARCH_PROTOCOL */
struct efi_cpu {
    void *flush, *enable, *disable, *state, *init;
    efi_register register_handler;
};

/* EFI_SYSTEM_CONTEXT_X64 and _AARCH64, what the firmware's exception handler has saved; the type of the exception that
 * a read of no memory makes. */
#if defined(__x86_64__)
struct trap {
    uint64_t error;
    uint8_t fx[512];
    uint64_t debug[6], control[6], flags, ldtr, tr, gdtr[2], idtr[2];
    uint64_t pc, segments[6], rdi, rsi, fp, sp, rbx, rdx, rcx, rax, r8[8];
};
enum { EXCEPTION = 14 };
#define TRAP_LINK SFU_KERNEL_NOT_SAVED
#else
struct trap {
    uint64_t x[29], fp, lr, sp;
    uint64_t vectors[64], pc, spsr, fpsr, syndrome, address;
};
enum { EXCEPTION = 0 };
#define TRAP_LINK offsetof(struct trap, lr)
#endif

/* Where the tables lie of the image at BASE. */
struct efi_tables {
    const uint8_t *start, *end;
};

struct efi_tables efi_tables(const uint8_t *base);

#endif
