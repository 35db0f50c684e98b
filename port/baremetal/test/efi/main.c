/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * An EFI application that prints three traces, each behind a line with its name: of a call path; of a timer's callback,
 * which ends in the firmware, where no table is; and of a fault, by what the firmware's handler has saved. Then it
 * shuts the machine down. It writes to the serial port itself, because in a fault the firmware's console may be in the
 * middle of something.
 */
#include "efi.h"
#include "sfu_arch.h"
#include "sfu_kernel.h"

#define PART __attribute__((noipa)) static

static const struct efi_system *efi;
static volatile int sink;

static void put(void *ctx, char c)
{
    (void)ctx;
#if defined(__x86_64__)
    uint8_t state;

    do
        __asm__ volatile("inb %1, %0" : "=a"(state) : "Nd"((uint16_t)(0x3f8 + 5)));
    while ((state & 0x20) == 0);
    __asm__ volatile("outb %0, %1" : : "a"(c), "Nd"((uint16_t)0x3f8));
#else
    *(volatile uint32_t *)0x9000000 = (uint8_t)c;
#endif
}

static struct sfu_kernel sfu = {
    .panic = {.put = put, .image = "app.so"},
    .trap = {offsetof(struct trap, pc), offsetof(struct trap, sp), offsetof(struct trap, fp), TRAP_LINK, 0},
};

static void print(const char *text)
{
    sfu_print_text(&sfu.panic, text);
}

static _Noreturn void shut_down(void)
{
    const efi_reset *runtime = (const void *)(efi->runtime + HEADER);

    runtime[RESET_SYSTEM](SHUTDOWN, 0, 0, NULL);
    for (;;)
        sink = 0;
}

/* ---- a call path ---- */

PART int give_up(int n)
{
    struct sfu_registers here = sfu_registers_here();

    print("call path\n");
    sfu_kernel_panic(&sfu, &here);
    return n + sink;
}

PART int check(int n)
{
    return give_up(n + 1) + 1;
}

/* ---- a timer ---- */

static volatile bool ticked;

static EFIAPI void tick(void *event, void *ctx)
{
    struct sfu_registers here = sfu_registers_here();

    (void)event;
    (void)ctx;
    print("callback\n");
    sfu_kernel_panic(&sfu, &here);
    ticked = true;
}

PART void wait_for_tick(void)
{
    const uint8_t *boot = efi->boot + HEADER;
    efi_create_event create = *(const efi_create_event *)(const void *)(boot + 8 * CREATE_EVENT);
    efi_set_timer set = *(const efi_set_timer *)(const void *)(boot + 8 * SET_TIMER);
    void *event;

    if (create((uint32_t)TIMER_SIGNAL, AT_CALLBACK, tick, NULL, &event) != 0 || set(event, RELATIVE, 100000) != 0)
        print("no timer\n");
    else
        while (!ticked)
            sink = 1;
}

/* ---- a fault ---- */

static EFIAPI void faulted(int64_t type, struct trap *trap)
{
    (void)type;
    print("fault\n");
    sfu_kernel_fault(&sfu, trap, 0);
    shut_down();
}

PART int read_at(const volatile int *at)
{
    return *at;
}

PART int sum_of(const volatile int *at, int n)
{
    return n == 0 ? read_at(at) : sum_of(at, n - 1) + n;
}

static void handle_faults(void)
{
    static const struct efi_guid protocol = {
        0x26baccb1, 0x6f42, 0x11d4, {0xbc, 0xe7, 0, 0x80, 0xc7, 0x3c, 0x88, 0x81}};
    const uint8_t *boot = efi->boot + HEADER;
    efi_locate locate = *(const efi_locate *)(const void *)(boot + 8 * LOCATE_PROTOCOL);
    void *found = NULL;
    struct efi_cpu *cpu;

    if (locate(&protocol, NULL, &found) == 0) {
        cpu = found;
        if (cpu->register_handler(cpu, EXCEPTION, faulted) == 0)
            return;
    }
    print("no handler\n");
}

/* ---- the application ---- */

/* Adds BASE to each word that has an address: all relocations are of this kind. */
static void relocate(uint8_t *base, const uint64_t *dynamic)
{
    enum { RELA = 7, RELA_SIZE = 8 };
    const uint64_t *rela = NULL;
    uint64_t size = 0;

    for (; dynamic[0] != 0; dynamic += 2) {
        if (dynamic[0] == RELA)
            rela = (const void *)(base + dynamic[1]);
        if (dynamic[0] == RELA_SIZE)
            size = dynamic[1];
    }
    for (; size != 0; size -= 24, rela += 3)
        *(uint64_t *)(void *)(base + rela[0]) = (uintptr_t)base + rela[2];
}

_Noreturn void efi_main(const struct efi_system *system, uint8_t *base, const uint64_t *dynamic);
_Noreturn void efi_main(const struct efi_system *system, uint8_t *base, const uint64_t *dynamic)
{
    char *here = __builtin_frame_address(0);
    struct efi_tables tables;

    relocate(base, dynamic);
    efi = system;
    /* The specification promises 128 KiB, most of them free at the entry: 96 KiB below this frame and 4 KiB above. */
    sfu.rest.low = here - 98304;
    sfu.rest.high = here + 4096;
    sfu.panic.slide = (uintptr_t)base;
    /* SizeOfImage, of the PE header that the firmware has loaded with the image. */
    sfu.mapped.low = (uintptr_t)base;
    sfu.mapped.high = (uintptr_t)base +
                      *(const uint32_t *)(const void *)(base + *(const uint32_t *)(const void *)(base + 0x3c) + 80);
    tables = efi_tables(base);
    if (sfu_kernel_init(&sfu, tables.start, tables.end) != SFU_OK)
        print("no tables\n");
    sink = check(1);
    wait_for_tick();
    handle_faults();
    sink = sum_of((const volatile int *)(uintptr_t)0xfffffffffffffff0, 2);
    print("no fault\n");
    shut_down();
}
