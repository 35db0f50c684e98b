/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_start.h"

#include "sfu_calls.h"
#include "sfu_cycles.h"
#include "sfu_symbols.h"

enum { MORE_MEMORY = 4 };

/* A frame of the trace that is being printed. */
struct seen {
    uint32_t number; /* of the frame, + 1; 0: there is none */
    sfu_addr lookup; /* its lookup PC */
};

static struct {
    const struct sfu_link *data;          /* NULL: sfu_panic_start has not been called */
    struct sfu_range memory[MORE_MEMORY]; /* of sfu_panic_memory */
    unsigned next_memory;                 /* where the next call goes */
    sfu_addr top;                         /* the SP where the last trace begins */
    sfu_addr own;                         /* an address in the frame of what prints it, if that is higher; or 0 */
    sfu_reg_fn reg;                       /* what open_data has set, before the image moved */
    bool masking;                         /* interrupts are being masked, or that has faulted */
    volatile uint32_t claim;              /* a CPU prints */
    volatile uint32_t told;               /* and another one, or a fault, has been told so */
    struct seen last, before;             /* the last frame, and the one in front of it */
    struct sfu_panic *shared;             /* another printer that has what sfu-link has made; or NULL */
    struct sfu_panic panic;
#ifndef SFU_NO_SYMBOLS
    struct sfu_symbols symbols;
#endif
} started;

/* The address OFFSET bytes from DATA. */
static sfu_addr address_at(const struct sfu_link *data, uint64_t offset)
{
    return (sfu_addr)((uintptr_t)data + (uintptr_t)offset);
}

static const uint8_t *bytes_at(const struct sfu_link *data, uint64_t offset)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): offsets may lead below DATA, out of the object that it is */
    return (const uint8_t *)(uintptr_t)address_at(data, offset);
}

static const struct sfu_link_memory *memory_of(const struct sfu_link *data)
{
    return (const struct sfu_link_memory *)(const void *)bytes_at(data, sizeof *data);
}

static bool is_in_part(const struct sfu_range *part, sfu_addr addr)
{
    return part->low <= addr && addr <= part->high;
}

/* Sets *FOUND to PART, if ADDR lies in that. The SP where one part ends and the next one begins is that of an empty
 * stack. */
static void look_at_part(struct sfu_range *found, const struct sfu_range *part, sfu_addr addr)
{
    if (!is_in_part(part, addr) || (found->high != 0 && addr == part->low))
        return;
    found->low = part->low; /* an assignment of both might become a call of memcpy */
    found->high = part->high;
}

/* Sets *FOUND to the part of the memory that ADDR lies in; high is 0: in none. */
static void part_at(sfu_addr addr, struct sfu_range *found)
{
    const struct sfu_link *data = started.data;
    const struct sfu_link_memory *memory = memory_of(data);
    struct sfu_range part;
    bool in_image;
    uint64_t i;

    found->low = found->high = 0;
    for (i = 0; i < data->num_memory; i++, memory++) {
        part.low = address_at(data, memory->start);
        part.high = part.low + (sfu_addr)memory->size;
        look_at_part(found, &part, addr);
    }
    in_image = found->high != 0;
    for (i = 0; !in_image && i < MORE_MEMORY; i++)
        look_at_part(found, &started.memory[i], addr);
}

/* Ends PART, in which ADDR lies, below SP, if that lies there above ADDR. */
static void end_below(struct sfu_range *part, sfu_addr addr, sfu_addr sp)
{
    if (addr < sp && sp <= part->high)
        part->high = sp - 1;
}

/* A sfu_find_stack_fn. Several stacks may lie in one part, and nobody knows where each one ends. For instance, the
 * trace begins on the stack of an exception, and leads to the stack of the interrupted code, which lies below: that one
 * ends before the trace begins. If the trace begins at the interrupted code, it ends before what prints it. */
static bool find_part(void *ctx, sfu_addr addr, struct sfu_stack *stack)
{
    struct sfu_range part;

    (void)ctx;
    part_at(addr, &part);
    if (part.high == 0)
        return false;
    end_below(&part, addr, started.top);
    end_below(&part, addr, started.own);
    stack->low = part.low;
    stack->high = part.high;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): no object is known there */
    stack->bytes = (const void *)(uintptr_t)part.low;
    return true;
}

/* Marks the frame of PANIC's walk where sfu_print_calls does; and where a call, not an exception, leads to it from
 * below what prints the trace. If an entry that sets SP to the top of a stack each time has interrupted code on that
 * stack, the handler has overwritten what was there. */
static void doubt_frame(struct sfu_panic *panic)
{
    struct sfu_frame *f = &panic->walk.frame;
    struct sfu_range part;

    part_at(f->regs.sp, &part);
#ifndef SFU_NO_CALLS
    sfu_print_calls(panic);
#endif
    if (panic == &started.panic && started.own != 0 && f->switched && !f->interrupted &&
        f->regs.sp >= started.own && is_in_part(&part, started.own)) {
        f->guess = SFU_GUESS_HOOK;
        f->reliable = false;
    }
}

/* A sfu_print_filter_fn: notes the frames, and passes them on. */
static void note_frame(struct sfu_print_cycle *cycle, const struct sfu_print_item *item)
{
    started.before.number = item != NULL ? started.last.number : 0;
    started.before.lookup = started.last.lookup;
    started.last.number = item != NULL ? item->number + 1 : 0;
    started.last.lookup = item != NULL ? item->lookup : 0;
#ifndef SFU_NO_CYCLES
    sfu_print_cycles(cycle, item);
#else
    if (item != NULL)
        cycle->each(cycle->ctx, item);
#endif
}

/* The lookup PC of the frame that the walk has come from to FRAME, the walk's own; or 0. FRAME may be noted already. */
static sfu_addr inner_lookup(const struct sfu_frame *frame)
{
    const struct seen *inner = started.last.number == frame->depth ? &started.last : &started.before;

    return inner->number == frame->depth ? inner->lookup : 0;
}

/* Of struct sfu_link_saved. */
enum { FROM_SP, FROM_INTERRUPTED, FROM_SSCRATCH, FROM_MSCRATCH, FROM_SURE };

/* What sfu-link says of where the entry that has the lookup PC keeps REG; or NULL. */
static const struct sfu_link_saved *find_saved(sfu_addr lookup, uint32_t reg)
{
    const struct sfu_link *data = started.data;
    const struct sfu_link_memory *memory = memory_of(data);
    const struct sfu_link_saved *saved =
        (const struct sfu_link_saved *)(const void *)(memory + (size_t)data->num_memory);
    uint64_t i;

    for (i = 0; i < data->num_saved; i++, saved++) {
        const sfu_addr start = address_at(data, saved->start);

        if (saved->reg == reg && lookup >= start && lookup - start < saved->size)
            return saved;
    }
    return NULL;
}

/* The printer whose walk FRAME is in, or NULL. */
static struct sfu_panic *printer_of(const struct sfu_frame *frame)
{
    if (frame == &started.panic.walk.frame)
        return &started.panic;
    return started.shared != NULL && frame == &started.shared->walk.frame ? started.shared : NULL;
}

/* A sfu_reg_fn, for the frames that a printer's walk finds behind exception entries. */
static int saved_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value)
{
    static const bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    const struct sfu_panic *panic = printer_of(frame);
    const struct sfu_link_saved *saved;
    sfu_addr base;

    (void)ctx;
    if (panic == NULL || !frame->interrupted)
        return -1;
    saved = find_saved(inner_lookup(frame), reg);
    if (saved == NULL || saved->from > FROM_INTERRUPTED)
        return -1;
    base = saved->from == FROM_INTERRUPTED ? frame->regs.sp : frame->saved;
    return sfu_read_word(&panic->own, base + (sfu_addr)saved->offset, big, value);
}

#if defined __arm__ && (!defined __ARM_ARCH_PROFILE || __ARM_ARCH_PROFILE != 'M')
#define BANKED_SP /* by modes of the CPU */
#endif

#if defined BANKED_SP || defined __i386__ || defined __riscv
#define SAVED_FRAMES /* no row describes what exceptions leave on the stack */

#ifndef __riscv
/* Sets *VALUE to the word that the entry at LOOKUP, whose SP is SP, keeps as REG. */
static bool read_saved(sfu_addr lookup, sfu_addr sp, uint32_t reg, sfu_addr *value)
{
    const struct sfu_link_saved *saved = find_saved(lookup, reg);

    return saved != NULL && saved->from == FROM_SP &&
           sfu_read_word(&started.panic.own, sp + (sfu_addr)saved->offset, false, value) == SFU_OK;
}

/* Sets FP in REGS to what the entry at LOOKUP keeps. It is in its register where no word has it. */
static bool find_fp(const struct sfu_frame *frame, sfu_addr lookup, struct sfu_registers *regs)
{
    regs->fp = frame->regs.fp;
    return find_saved(lookup, SFU_REG_FP) == NULL || read_saved(lookup, frame->regs.sp, SFU_REG_FP, &regs->fp);
}
#endif
#endif

#ifdef __riscv
enum { SAVED_PC = 64, SAVED_PC_ALONE = 65, SAVED_SP_IN_PLACE = 66, SPP = 1 << 8, MPP = 3 << 11 };
enum { SKIPPED = 4 }; /* bytes: a handler goes on behind an instruction that it has emulated */

/* csrr, as a number, which assemblers take without the extension zicsr, too. */
#define READ_CSR(csr, value) __asm__ __volatile__(".insn i 0x73, 2, %0, x0, " #csr : "=r"(value))

/* What the CPU had at the last exception, in S mode or, MACHINE, in M mode, and what its scratch register has now. */
struct last_exception {
    uintptr_t scratch, pc;
    bool from_program;
};

static struct last_exception last_exception(bool machine)
{
    struct last_exception last = {0, 0, false};
    uintptr_t status = 0;

    if (machine) {
        READ_CSR(0x340, last.scratch);
        READ_CSR(0x341, last.pc);
        READ_CSR(0x300, status);
        last.from_program = (status & MPP) == 0;
    } else {
        READ_CSR(0x140, last.scratch);
        READ_CSR(0x141, last.pc);
        READ_CSR(0x100, status);
        last.from_program = (status & SPP) == 0;
    }
    return last;
}

/* Sets *VALUE to what the entry at LOOKUP keeps as REG in the structure at BASE. */
static bool read_context(sfu_addr lookup, sfu_addr base, uint32_t reg, sfu_addr *value)
{
    const struct sfu_link_saved *saved = find_saved(lookup, reg);

    return saved != NULL && (saved->from == FROM_SP || saved->from >= FROM_SSCRATCH) &&
           sfu_read_word(&started.panic.own, base + (sfu_addr)saved->offset, false, value) == SFU_OK;
}

/* Whether SP, where the entry whose SP is OWN has been entered, may be below OWN on its stack: then the entry has begun
 * there once more, and has overwritten what it had. */
static bool may_be_nested(sfu_addr sp, sfu_addr own)
{
    struct sfu_range part;

    part_at(own, &part);
    return sp <= own && part.high != 0 && is_in_part(&part, sp);
}

/* Finds out what the entry at LOOKUP, whose SP is SP, has interrupted. */
static int read_structure(const struct sfu_link_saved *pc, sfu_addr lookup, sfu_addr sp,
                          struct sfu_interrupted *interrupted)
{
    struct sfu_registers *regs = &interrupted->regs;
    const struct last_exception last = last_exception((pc->from & FROM_MSCRATCH) == FROM_MSCRATCH);
    const struct sfu_link_saved *in_place = find_saved(lookup, SAVED_SP_IN_PLACE);
    bool sure = pc->from >= FROM_SURE && pc->reg == SAVED_PC, is_last;

    regs->pc = last.pc;
    if ((pc->reg == SAVED_PC && !read_context(lookup, last.scratch, SAVED_PC, &regs->pc)) ||
        !read_context(lookup, last.scratch, SFU_REG_SP, &regs->sp))
        return SFU_E_TRAP;
    if (in_place != NULL && regs->sp != sp + (sfu_addr)in_place->offset)
        return SFU_E_TRAP;
    is_last = regs->pc >= last.pc && regs->pc - last.pc <= SKIPPED;
    sure = sure && is_last && (in_place != NULL || !may_be_nested(regs->sp, sp));
    interrupted->guess = sure ? SFU_GUESS_NONE : SFU_GUESS_HOOK;
    if (is_last && last.from_program)
        return SFU_END;
    if (find_saved(lookup, SFU_REG_FP) != NULL && !read_context(lookup, last.scratch, SFU_REG_FP, &regs->fp))
        return SFU_E_TRAP;
    regs->has_ra = read_context(lookup, last.scratch, SFU_REG_RA, &regs->ra);
    return SFU_OK;
}

/* A sfu_trap_hook_fn, for exception entries that keep registers in a structure of which the scratch register has the
 * address. It has it as long as the entry's own call goes on: a trace of another thread, or through an instruction of
 * the entry that was interrupted itself, would find what a later exception has put there. */
static int cross_frame(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    const sfu_addr lookup = frame->regs.pc - 1;
    const struct sfu_link_saved *pc = find_saved(lookup, SAVED_PC);
    int found;

    (void)ctx;
    if (pc == NULL)
        pc = find_saved(lookup, SAVED_PC_ALONE);
    if (pc == NULL || frame != &started.panic.walk.frame || frame->regs.pc_kind != SFU_PC_RETURN)
        return code;
    interrupted->regs.fp = frame->regs.fp;
    found = read_structure(pc, lookup, frame->regs.sp, interrupted);
    /* The entry has pushed nothing, in spite of its call. So its frame is one that SP may stay in. */
    if (found == SFU_OK && interrupted->regs.sp == frame->regs.sp)
        started.panic.walk.frame.regs.pc_kind = SFU_PC_EXACT;
    return found == SFU_E_TRAP ? code : found;
}
#endif

#ifdef __i386__
enum { SAVED_PC = 8, LEVEL = 3, VIRTUAL_8086 = 1 << 17 };

/* The selector of the kernel's code. */
static uint32_t own_segment(void)
{
    uint32_t segment;

    __asm__("movl %%cs, %0" : "=r"(segment));
    return segment & 0xffffu;
}

/* What the CPU has pushed. */
struct pushed {
    sfu_addr at, pc, segment, flags;
};

/* Reads what the CPU has pushed at AT. Of the flags, bit 1 is set, and bits 3, 5, 15 and those from 22 on never are. */
static bool read_pushed(sfu_addr at, struct pushed *pushed)
{
    pushed->at = at;
    return sfu_read_word(&started.panic.own, at, false, &pushed->pc) == SFU_OK &&
           sfu_read_word(&started.panic.own, at + 4, false, &pushed->segment) == SFU_OK &&
           sfu_read_word(&started.panic.own, at + 8, false, &pushed->flags) == SFU_OK &&
           (pushed->flags & 0xffc0802au) == 2;
}

/* A sfu_trap_hook_fn, for exception entries of a kernel of which no row tells what the CPU has pushed: PC, CS and the
 * flags, and an error code in front, which an entry may not know of whose handler never returns. Behind them SP was if
 * CS says that the kernel was interrupted. A program has entered the kernel otherwise. Another segment of the kernel
 * may be code of 16 bits; and a task that a gate has entered has none of the three on its stack. */
static int cross_frame(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    struct sfu_registers *regs = &interrupted->regs;
    const sfu_addr sp = frame->regs.sp, lookup = frame->regs.pc - (frame->regs.pc_kind == SFU_PC_RETURN);
    const struct sfu_link_saved *saved = find_saved(lookup, SAVED_PC);
    const sfu_addr at = saved != NULL ? sp + (sfu_addr)saved->offset : 0;
    struct pushed pushed;

    (void)ctx;
    if (saved == NULL || saved->from != FROM_SP || (!read_pushed(at, &pushed) && !read_pushed(at + 4, &pushed)))
        return code;
    if ((pushed.segment & LEVEL) != 0 || (pushed.flags & VIRTUAL_8086) != 0)
        return SFU_END;
    if ((pushed.segment & 0xffffu) != own_segment())
        return code;
    regs->pc = pushed.pc;
    regs->sp = pushed.at + 12;
    regs->has_ra = false;
    return find_fp(frame, lookup, regs) ? SFU_OK : code;
}
#endif

#ifdef BANKED_SP
enum { MODE_USR = 0x10, MODE_SVC = 0x13, MODE_SYS = 0x1f, MODE = 0x1f };
/* Of struct sfu_link_saved. LR follows on SP. */
enum { SAVED_PC = 15, SAVED_STATUS = 128, SAVED_SP_SYS = 149, SAVED_SP_SVC = 164 };

/* Whether the LR in REGS is that of the code at its PC. The instruction svc, in SVC mode, overwrites LR with the
 * address behind it. */
static bool is_own_ra(const struct sfu_registers *regs, bool svc)
{
    const sfu_addr distance = regs->ra > regs->pc ? regs->ra - regs->pc : regs->pc - regs->ra;

    return !svc || distance > 8;
}

/* A sfu_trap_hook_fn, for exception entries. SP and LR are those of a mode of the CPU: an entry that goes on on the
 * stack of SVC or System mode shows those of that mode, and which one was interrupted is in the saved status. */
static int cross_frame(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    struct sfu_registers *regs = &interrupted->regs;
    const sfu_addr sp = frame->regs.sp, lookup = frame->regs.pc - (frame->regs.pc_kind == SFU_PC_RETURN);
    const struct sfu_link_saved *saved = find_saved(lookup, SAVED_SP_SVC);
    const bool svc = saved != NULL;
    sfu_addr status, mode;

    (void)ctx;
    if (saved == NULL)
        saved = find_saved(lookup, SAVED_SP_SYS);
    if (saved == NULL || !read_saved(lookup, sp, SAVED_STATUS, &status) ||
        !read_saved(lookup, sp, SAVED_PC, &regs->pc))
        return code;
    mode = status & MODE;
    if (svc && mode == MODE_USR)
        return SFU_END;
    if (svc ? mode != MODE_SVC : mode != MODE_USR && mode != MODE_SYS)
        return code;
    regs->sp = sp + (sfu_addr)saved->offset;
    if (!find_fp(frame, lookup, regs))
        return code;
    regs->has_ra =
        read_saved(lookup, sp, (svc ? SAVED_SP_SVC : SAVED_SP_SYS) + 1, &regs->ra) && is_own_ra(regs, svc);
    return SFU_OK;
}
#endif

#ifndef SFU_NO_SYMBOLS
static const char *name_of(void *ctx, sfu_addr addr, sfu_addr *offset)
{
    (void)ctx;
    return sfu_symbols_find(&started.symbols, addr, offset);
}

static void open_names(const struct sfu_link *data)
{
    started.symbols.bytes = bytes_at(data, data->names);
    started.symbols.end = started.symbols.bytes + (size_t)data->names_size;
    started.symbols.base = address_at(data, data->base);
    started.panic.symbol = name_of;
}
#endif

static bool is_filled_in(const struct sfu_link *data)
{
    static const char magic[sizeof data->magic] = {'s', 'f', 'u', 'l', 'i', 'n', 'k', '1'};
    unsigned i = 0;

    while (i < sizeof magic && data->magic[i] == magic[i])
        i++;
    return i == sizeof magic;
}

/* Opens what sfu-link has written. An image that has moved itself has moved DATA. */
static int open_data(const struct sfu_link *data)
{
    struct sfu_panic *panic = &started.panic;
    const bool good = is_filled_in(data);
    const uint8_t *tables = bytes_at(data, good ? data->tables : 0);
    const int code = sfu_panic_init(panic, tables, tables + (size_t)(good ? data->tables_size : 0), NULL, NULL);

    started.data = data;
    if (!good)
        return code;
    panic->own.find_stack = find_part;
    if (panic->own.reg == started.reg) { /* not the caller's own */
        started.reg = saved_register;
        panic->own.reg = started.reg;
    }
#ifdef SAVED_FRAMES
    if (panic->own.trap_hook == NULL)
        panic->own.trap_hook = cross_frame;
#endif
    panic->slide = (sfu_addr)((uintptr_t)data - (uintptr_t)data->address);
    panic->image = (const char *)bytes_at(data, data->image);
#ifndef SFU_NO_SYMBOLS
    open_names(data);
#endif
    panic->cycles = note_frame;
    panic->calls = doubt_frame;
    return code;
}

int sfu_link_start(const void *data, void (*put)(void *ctx, char c))
{
    started.panic.put = put;
    return open_data((const struct sfu_link *)data);
}

/* Keeps interrupts away, where sfu_arch.h knows the CPU, and returns whether it did. On RISC-V this faults if the CPU
 * is in another mode than SFU_RISCV_MODE says: the trace of that fault does not try it. */
static bool mask(uintptr_t *before)
{
#ifdef SFU_NUM_REGS
    if (started.masking)
        return false;
    started.masking = true;
    *before = sfu_mask_interrupts();
    started.masking = false;
    return true;
#else
    (void)before;
    return false;
#endif
}

static void unmask(uintptr_t before)
{
#ifdef SFU_NUM_REGS
    sfu_unmask_interrupts(before);
#else
    (void)before;
#endif
}

/* Whether WORD was free: then it is taken, up to leave(). */
static bool take(volatile uint32_t *word)
{
#ifdef SFU_NUM_REGS
    return sfu_claim(word);
#else
    const bool is_free = *word == 0;

    *word = 1;
    return is_free;
#endif
}

static void leave(volatile uint32_t *word)
{
#ifdef SFU_NUM_REGS
    sfu_release(word);
#else
    *word = 0;
#endif
}

/* Says what to do about a trace that ends at SP, if no memory is known there. A fault in it is one while printing. */
static void say_memory(sfu_addr sp)
{
    struct sfu_panic *panic = &started.panic;
    struct sfu_stack part;

    if (panic->own.find_stack != find_part || find_part(NULL, sp, &part))
        return;
    panic->busy = 1;
    sfu_print_number(panic, "no stack is known at 0x", sp, 16, SFU_PRINT_DIGITS);
    sfu_print_text(panic, ": if one is there, call sfu_panic_memory\n");
    panic->busy = 0;
}

/* A fault while printing, or a panic of another CPU meanwhile: it has no trace, and changes nothing of the one that is
 * being printed, which may end at any moment. */
static int refuse(void)
{
    if (started.panic.put != NULL && take(&started.told))
        sfu_print_text(&started.panic, SFU_PRINT_SECOND);
    return SFU_E_STACK;
}

static int print_alone(const void *data, const struct sfu_registers *top)
{
    const sfu_addr here = (sfu_addr)(uintptr_t)&top; /* in this function's frame */
    int code;

    leave(&started.told);
    if (started.data != data && started.data != NULL)
        (void)open_data((const struct sfu_link *)data);
    started.top = top->sp;
    started.own = here > top->sp ? here : 0;
    code = sfu_panic_print(&started.panic, top);
    if (code == SFU_E_STACK)
        say_memory(started.panic.walk.frame.regs.sp);
    return code;
}

int sfu_link_print(const void *data, const struct sfu_registers *top)
{
    uintptr_t before = 0;
    const bool masked = mask(&before);
    int code;

    if (take(&started.claim)) {
        code = print_alone(data, top);
        leave(&started.claim);
    } else {
        code = refuse();
    }
    if (masked)
        unmask(before);
    return code;
}

void sfu_link_share(struct sfu_panic *panic)
{
    started.shared = panic;
}

void sfu_panic_memory(const void *low, const void *high)
{
    struct sfu_range *memory = &started.memory[started.next_memory];

    memory->low = (sfu_addr)(uintptr_t)low;
    memory->high = (sfu_addr)(uintptr_t)high;
    started.next_memory = (started.next_memory + 1) % MORE_MEMORY;
}

struct sfu_panic *sfu_panic_printer(void)
{
    return &started.panic;
}
