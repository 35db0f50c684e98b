/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include <stdint.h>

struct frame {
    uint64_t r[16], mask, pc;
};
#define FRAME_PC(f) ((f)->pc)
#define FRAME_SP(f) ((f)->r[15])
#define FRAME_FP(f) ((f)->r[11])
#define FRAME_RA(f) ((f)->r[14])
#define FAULT                                                                                                      \
    __asm__ volatile("lghi %%r1, 0\n\tlghi %%r4, 0\n\tlghi %%r5, 1\n\tdlgr %%r4, %%r1" : : : "1", "4", "5", "cc")
#define FAULT_SIZE 0 /* the old PSW is behind it */

#define FAR_STACK                                                                                                  \
    __asm__ volatile("lgr %%r15, %0\n\tlghi %%r1, 0\n\tlghi %%r4, 0\n\tlghi %%r5, 1\n\tdlgr %%r4, %%r1"            \
                     :                                                                                             \
                     : "d"(0x8000000000)                                                                           \
                     : "1", "4", "5")

#ifdef UNHANDLED
#define FIRST_ENTRY trace_fault
void FIRST_ENTRY(void);
#else
#define FIRST_ENTRY program_entry
extern const char program_entry[];
#endif

static struct {
    uint16_t length;
    uint8_t function, control[3];
    uint16_t response;
    union {
        struct {
            uint16_t reserved, mask_length;
            uint32_t receive, send, their_send, their_receive;
        } mask;
        struct {
            uint16_t length;
            uint8_t type, flags;
            uint16_t reserved;
            char text[2];
        } event;
    } u;
} block __attribute__((aligned(4096)));

static __attribute__((noinline)) void service_call(uint32_t command)
{
    __asm__ volatile(".insn rre, 0xb2200000, %0, %1"
                     :
                     : "d"((uint64_t)command), "a"((void *)&block)
                     : "cc", "memory");
}

static void machine_putc(char c)
{
    block.length = 8 + 7;
    block.response = 0;
    block.u.event.length = 7;
    block.u.event.type = 0x1a;
    block.u.event.flags = 0;
    block.u.event.reserved = 0;
    block.u.event.text[0] = c;
    service_call(0x00760005);
}

/* The low core, which is at 0. The compiler must not take that for NULL. */
static void machine_init(void)
{
#ifdef LAST_FAULT
    static const uint64_t constant[2] = {0x0000000180000000, (uint64_t)program_entry};

    __asm__ volatile("mvc 0x1d0(16), %0" : : "Q"(constant) : "memory");
#else
    uintptr_t at = 0x1d0;
    uint64_t *program_new;

    __asm__("" : "+r"(at));
    program_new = (uint64_t *)at;
    program_new[0] = 0x0000000180000000;
    program_new[1] = (uint64_t)FIRST_ENTRY;
#endif
    block.length = 8 + sizeof block.u.mask;
    block.u.mask.mask_length = 4;
    block.u.mask.send = 0x40;
    service_call(0x00780005);
}
