/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The smallest honest kernel: what the machines bring to the common part, and what the common part offers.
 * Each machine's own part is its folder: boot.S (start, exception entries, thread switch), machine.c (console,
 * vectors, memory map, timer) and machine.ld (where it lies).
 */
#ifndef KERNEL_H
#define KERNEL_H

#include "machine.h"
#include "sfu_arch.h"
#include "sfu_record.h"

/* All is one image: what is declared from here on needs no global offset table. */
#pragma GCC visibility push(hidden)

/* ---- what each machine brings ---- */

/* struct trap, in machine.h: what exception_entry (boot.S) saves. It has the registers by DWARF numbers, r[], as
 * they are once machine_trap has seen it, and the PC of the next instruction, or of the one that failed, pc. */

/* Sets up vectors, the memory map and stacks of its own. BOOT is what the loader left in a register. */
void machine_init(uintptr_t boot);
/* The command line, in memory that stays. Valid after machine_init. */
const char *machine_command_line(void);
void machine_putc(char c);
/* Ends QEMU: GOOD, or as a machine that crashed. */
_Noreturn void machine_exit(bool good);
/* Resets the machine, which keeps its memory and boots again. */
_Noreturn void machine_reset(void);
/* One interrupt of this CPU soon, on a stack of its own; not before machine_enable, in machine.h, which is inlined. */
void machine_start_timer(void);
/* The guard below the boot stack becomes memory that cannot be accessed. */
void machine_protect(uintptr_t start);
/* Starts the second CPU, which calls ENTRY on the stack that ends at TOP. Returns when it runs. */
void machine_start_second(uint64_t top, void (*entry)(void));
/* Interrupts all other CPUs, which then get to kernel_trap: by an NMI on x86_64, else once they have called
 * machine_enable. */
void machine_stop_others(void);
/* Sees to TRAP as far as that is the machine's business. Returns whether it was the timer. */
bool machine_trap(struct trap *trap);
/* What happened, in words, for a trap that is not the timer; and the address that it is about. */
const char *machine_cause(const struct trap *trap);
uint64_t machine_fault_address(const struct trap *trap);
/* The SP of exception_entry while it calls the kernel: at *TRAP or below. */
const struct trap *machine_trap_at(uint64_t sp);
/* Whether the struct trap is complete at PC, in exception_entry. */
bool machine_saved(uint64_t pc);
/* TRAP has interrupted exception_entry where no table can describe it, on the way in or out. Sets PC and SP of what
 * exception_entry has interrupted; FP and RA are those of TRAP. Returns false if nobody knows them. */
bool machine_crossed(const struct trap *trap, struct sfu_registers *regs);
/* Relocates PLACE of a loaded module: TARGET is symbol plus addend. Returns false for an unknown TYPE. */
bool machine_relocate(uint32_t type, uint8_t *place, uintptr_t target);

/* boot.S: saves the registers that a function must keep and SP in *FROM, and goes on with those of TO. */
void thread_switch(uint64_t *from, uint64_t to);
/* boot.S: the PC of a thread that thread_switch has left, and the first PC of a new one. */
extern const char thread_left[], thread_start[];
/* What thread_switch finds on the stack of a new thread, so that it begins at thread_start, which calls ENTRY. */
uint64_t machine_new_thread(uint64_t top, void (*entry)(void));

/* ---- the common part ---- */

/* machine_cpu, in machine.h, inlined: the number of this CPU, below CPUS. */
#define CPUS 4

/* A stack that the unwinder may read: there is no other way into memory for it. GUARD bytes below LOW are the
 * stack's too, when it has run over, but cannot be read. */
#define STACKS 8
void kernel_add_stack(const void *low, uint64_t size, uint64_t guard);
/* The stack that was added as the I-th, from 0; NULL: there are not so many. */
const struct sfu_stack *kernel_stack(unsigned i);

/* Reads a word from a stack. Returns false if it is in none. */
bool kernel_read(sfu_addr addr, sfu_addr *value);

struct thread {
    uint64_t sp;
};

/* The kernel as sfu sees it: its tables and the callbacks into its stacks and trap frames. */
extern struct sfu_target kernel_target;

void kernel_print(const char *text);
void kernel_print_hex(uint64_t value);
/* The name of the function at ADDR and how far in ADDR is; NULL: unknown. symbols.c has it for a kernel that is linked
 * with its symbols. That of kernel.c is weak, and knows none. */
const char *kernel_symbol(void *ctx, sfu_addr addr, sfu_addr *offset);
/* Prints a trace, beginning in here. */
void kernel_trace(void);
/* The same, and ends the machine. */
_Noreturn void panic(const char *why);
/* Prints the trace of what TRAP has interrupted on another CPU, or that it has not stopped if TRAP is NULL. Of this CPU
 * nothing. */
void kernel_trace_cpu(unsigned cpu, const struct trap *trap);
/* Prints the trace of a thread that thread_switch has left. */
void kernel_trace_thread(const struct thread *thread);
void kernel_new_thread(struct thread *thread, void *stack, uint64_t size, void (*entry)(void));

/* The registers that TRAP has interrupted, for a walk on this CPU that begins there. The walk takes other registers of
 * that frame from TRAP until this is called again, or until the kernel_handle returns that called it. */
struct sfu_registers kernel_interrupted(const struct trap *trap);

/* The printer of all that. */
extern struct sfu_panic kernel_printer;

/* What the kernel does about TRAP; TIMER: as machine_trap says. Returns false for a fault, which is reported then. That
 * of kernel.c is weak, and does nothing about the timer: a kernel has its own. */
bool kernel_handle(struct trap *trap, bool timer);

/* The record of a panic, which a reset does not touch (kernel.ld). It is printed at the next boot. */
extern struct sfu_record kernel_crash;
/* Whether there was one when this boot began. */
extern bool kernel_crashed;

/* Checks and adds the kernel's own section. Says in one line what is wrong with it, if anything. */
void kernel_open_tables(void);

/* Moves the whole kernel by DISTANCE bytes and goes on at ENTRY there, on a new boot stack. Nothing returns. */
_Noreturn void kernel_move(uint64_t distance, void (*entry)(void));

/* A relocatable ELF object, loaded where it lies. */
struct module {
    struct sfu_section section;
    void (*entry)(void (*callback)(void));
};
/* Relocates the object at IMAGE, which stays its memory, and adds its section to the kernel's. */
bool module_load(struct module *module, uint8_t *image);
void module_remove(struct module *module);

/* Any alignment. */
static inline void put32(uint8_t *place, uint32_t value)
{
    __builtin_memcpy(place, &value, sizeof value);
}

static inline void put64(uint8_t *place, uint64_t value)
{
    __builtin_memcpy(place, &value, sizeof value);
}

/* What the kernel is for, on the boot stack: main.c, or whatever else is linked. */
void kernel_main(const char *command_line);

#endif
