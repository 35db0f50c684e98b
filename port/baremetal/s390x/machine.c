/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* s390x, QEMU's s390-ccw-virtio: ASCII console of the SCLP, clock comparator, the end by a disabled wait. */
#include "kernel.h"

enum { STACK_SIZE = 16384, MAPPED = 32, INVALID = 0x20 };
#define PSW_DAT   0x0400000000000000u
#define PSW_WAIT  0x0002000000000000u
#define PSW_64BIT 0x0000000180000000u
#define CR0_CLOCK 0x0000000000000800u
#define CR0_CALL  0x0000000000002000u

extern const char program_entry[], program_saved[], program_restored[];
extern const char external_entry[], external_switched[], external_saved[], external_restored[];
extern const char parameters[], exception_stack[], interrupt_stack[];

static uint64_t segments[512] __attribute__((aligned(4096)));
static uint64_t pages[MAPPED][256] __attribute__((aligned(2048)));

struct psw {
    uint64_t mask, address;
};

/* The low core, which is at 0. The compiler must not take that for NULL. */
static void *low(uintptr_t at)
{
    __asm__("" : "+r"(at));
    return (void *)at;
}

static void service_call(uint32_t command, void *block)
{
    __asm__ volatile(".insn rre, 0xb2200000, %0, %1" : : "d"((uint64_t)command), "a"(block) : "cc", "memory");
}

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

static void open_console(void)
{
    block.length = 8 + sizeof block.u.mask;
    block.u.mask.mask_length = 4;
    block.u.mask.send = 0x40; /* events of type 0x1a */
    service_call(0x00780005, &block);
}

void machine_putc(char c)
{
    block.length = 8 + 7;
    block.response = 0;
    block.u.event.length = 7;
    block.u.event.type = 0x1a;
    block.u.event.flags = 0;
    block.u.event.reserved = 0;
    block.u.event.text[0] = c;
    service_call(0x00760005, &block);
}

enum { CALL = 2, STOP = 5, RESTART = 6, SET_PREFIX = 13 };
static volatile bool second_runs;

/* Orders CPU TO, if there is one. It may be busy. */
static void signal(unsigned to, uint64_t order, uint64_t parameter)
{
    register uint64_t r1 __asm__("1") = parameter;
    register uint64_t cpu __asm__("4") = to;
    int code;

    do {
        __asm__ volatile("sigp %1, %2, 0(%3); ipm %0; srl %0, 28"
                         : "=d"(code), "+d"(r1)
                         : "d"(cpu), "a"(order)
                         : "cc", "memory");
    } while (code == 2);
}

/* Once no other CPU runs, QEMU takes a disabled wait at 0xfff for the end, any other for a crash. */
_Noreturn void machine_exit(bool good)
{
    const struct psw end = {PSW_WAIT | PSW_64BIT, good ? 0xfff : 0xbad};

    if (second_runs)
        signal(1, STOP, 0);
    __asm__ volatile("lpswe %0" : : "Q"(end));
    __builtin_unreachable();
}

/* Diagnose 0x308, subcode 3: loads again. */
_Noreturn void machine_reset(void)
{
    register uint64_t subcode __asm__("3") = 3;

    __asm__ volatile("diag %%r0, %0, 0x308" : : "d"(subcode) : "0", "1", "memory");
    machine_exit(false);
}

static void change_control0(uint64_t clear, uint64_t set)
{
    uint64_t value;

    __asm__ volatile("stctg 0, 0, %0" : "=S"(value));
    value = (value & ~clear) | set;
    __asm__ volatile("lctlg 0, 0, %0" : : "S"(value));
}

/* The first MAPPED segments of 1 MiB as they are. Page tables, because not every machine has larger pages. */
static void set_memory_map(void)
{
    uint64_t i;

    for (i = 0; i < 512; i++)
        segments[i] = i < MAPPED ? (uintptr_t)pages[i] : INVALID;
    for (i = 0; i < (uint64_t)MAPPED * 256; i++)
        pages[i / 256][i % 256] = i << 12;
}

static void use_memory_map(void)
{
    uint64_t table = (uintptr_t)segments;
    uint8_t mask;

    __asm__ volatile("lctlg 1, 1, %0" : : "S"(table));
    __asm__ volatile("ptlb; stosm %0, 4" : "=Q"(mask) : : "memory"); /* DAT on */
}

/* BOOT is not used. */
void machine_init(uintptr_t boot)
{
    struct psw *program = low(0x1d0), *external = low(0x1b0);

    (void)boot;
    open_console();
    program->mask = external->mask = PSW_DAT | PSW_64BIT;
    program->address = (uintptr_t)program_entry;
    external->address = (uintptr_t)external_entry;
    put64(low(EXTERNAL_STACK), (uintptr_t)interrupt_stack + STACK_SIZE);
    set_memory_map();
    use_memory_map();
    kernel_add_stack(exception_stack, STACK_SIZE, 0);
    kernel_add_stack(interrupt_stack, STACK_SIZE, 0);
}

const char *machine_command_line(void)
{
    return parameters;
}

void machine_protect(uintptr_t start)
{
    segments[start >> 20] = INVALID;
    __asm__ volatile("ptlb" : : : "memory");
}

void machine_start_timer(void)
{
    uint64_t clock;

    __asm__ volatile("stck %0" : "=Q"(clock) : : "cc");
    clock += (uint64_t)1000 << 12; /* 1 ms */
    __asm__ volatile("sckc %0" : : "Q"(clock));
    change_control0(0, CR0_CLOCK);
}

/* ---- the second CPU ---- */

extern const char boot_second[];
static uint8_t second_low[8192] __attribute__((aligned(8192)));
static uint8_t second_interrupt_stack[STACK_SIZE] __attribute__((aligned(16)));
static void (*second_entry)(void);

/* Called by boot_second. */
void machine_second(void);
void machine_second(void)
{
    use_memory_map();
    change_control0(0, CR0_CALL);
    second_runs = true;
    second_entry();
}

/* It has a low core of its own, like this one's. */
void machine_start_second(uint64_t top, void (*entry)(void))
{
    struct psw *restart = (struct psw *)(void *)(second_low + 0x1a0);

    __builtin_memcpy(second_low, low(0), sizeof second_low);
    restart->mask = PSW_64BIT;
    restart->address = (uintptr_t)boot_second;
    put64(second_low + SECOND_STACK, top);
    put64(second_low + EXTERNAL_STACK, (uintptr_t)second_interrupt_stack + STACK_SIZE);
    kernel_add_stack(second_interrupt_stack, STACK_SIZE, 0);
    second_entry = entry;
    signal(1, SET_PREFIX, (uintptr_t)second_low);
    signal(1, RESTART, 0);
    while (!second_runs) {
    }
}

/* An external call for each: no order is for all. */
void machine_stop_others(void)
{
    unsigned cpu;

    for (cpu = 0; cpu < CPUS; cpu++)
        if (cpu != machine_cpu())
            signal(cpu, CALL, 0);
}

/* Codes 0x10, 0x11 and 0x38 to 0x3b leave the PSW at the instruction, the others behind it. So does 0x80, an event that
 * was to come before the instruction. */
static bool is_translation(uint32_t code)
{
    return code == 0x10 || code == 0x11 || (code >= 0x38 && code <= 0x3b);
}

/* Other codes of which the CPU nullifies the instruction: the PSW is at it, too. */
static bool is_nullified(uint32_t code)
{
    return code == 0x16 || (code >= 0x20 && code <= 0x34 && code != 0x28) || (code >= 0x3d && code <= 0x3f);
}

bool machine_trap(struct trap *trap)
{
    if (trap->irq != 0) {
        change_control0(CR0_CLOCK, 0);
        return true;
    }
    if (!is_translation(trap->code & 0x7f) && !is_nullified(trap->code & 0x7f) && (trap->code & 0xff) != 0x80)
        trap->pc -= trap->code >> 16 & 7;
    return false;
}

const char *machine_cause(const struct trap *trap)
{
    uint32_t code = trap->code & 0x7f;

    if (is_translation(code))
        return "translation exception";
    return code == 1 ? "illegal instruction" : code == 5 ? "addressing exception" : "program check";
}

uint64_t machine_fault_address(const struct trap *trap)
{
    return is_translation(trap->code & 0x7f) ? trap->address & ~(uint64_t)0xfff : 0;
}

const struct trap *machine_trap_at(uint64_t sp)
{
    return (const struct trap *)(sp + TRAP_GPRS);
}

bool machine_saved(uint64_t pc)
{
    return (pc >= (uintptr_t)program_saved && pc < (uintptr_t)program_restored) ||
           (pc >= (uintptr_t)external_saved && pc < (uintptr_t)external_restored);
}

/* Known at the LPSWEs, and on the way in of external interruptions. Not known on that of program interruptions: TRAP,
 * which is one too, has written over the old PSW. */
bool machine_crossed(const struct trap *trap, struct sfu_registers *regs)
{
    const struct psw *psw = low(EXTERNAL_OLD);

    if (trap->pc == (uintptr_t)program_restored)
        psw = low(PROGRAM_RETURN);
    else if (trap->pc == (uintptr_t)external_restored)
        psw = low(EXTERNAL_RETURN);
    else if (trap->pc < (uintptr_t)external_entry || trap->pc >= (uintptr_t)external_saved)
        return false;
    else if (trap->pc >= (uintptr_t)external_switched)
        regs->sp = *(const uint64_t *)low(EXTERNAL_SAVED + 8 * SFU_REG_SP);
    regs->pc = psw->address;
    return true;
}

uint64_t machine_new_thread(uint64_t top, void (*entry)(void))
{
    uint64_t sp = top - 320, *saved = (uint64_t *)(sp + 48); /* r6 ... r15 */

    saved[0] = (uintptr_t)entry;
    saved[8] = (uintptr_t)thread_start;
    saved[9] = top - 160;
    return sp;
}

bool machine_relocate(uint32_t type, uint8_t *place, uintptr_t target)
{
    uint64_t distance = target - (uintptr_t)place;

    switch (type) {
    case 22: /* R_390_64 */
        put64(place, target);
        return true;
    case 23: /* R_390_PC64 */
        put64(place, distance);
        return true;
    case 5: /* R_390_PC32 */
        put32(place, (uint32_t)distance);
        return true;
    case 19: /* R_390_PC32DBL */
    case 20: /* R_390_PLT32DBL */
        put32(place, (uint32_t)((int64_t)distance >> 1));
        return true;
    default:
        return false;
    }
}
