/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEADER = 12,
    PR_SIGNAL = 12, /* struct elf_prstatus */
    FP_FPRS = 8,    /* s390x's floating-point registers, behind their control word */
    PAC_CODE = 8,   /* user_pac_mask: for data, for code */
    ARM_PAC_MASK = 0x406,
    S390X_CONTROL = 0x304,
    S390X_PREFIX = 0x305,
    QEMU_CR = 392, /* QEMU's struct of x86, of 64 and 32 bits: CR0 to CR4 */
    MAX_THREADS = 65536,
    SIGINFO = 0x53494749,
    SIGINFO_LEAST = 24,
    INT3 = 3
};

/* One note. */
struct note {
    uint32_t type;
    const char *name;
    uint32_t name_size;
    const uint8_t *desc;
    uint32_t size;
    bool big;
    uint8_t word; /* bytes of an address */
};

/* The number of 8 bytes at AT. */
static uint64_t note_word(const struct note *n, uint64_t at)
{
    return load_number(n->desc + at, 8, n->big);
}

/* The address, or another long, at AT. */
static uint64_t note_address(const struct note *n, uint64_t at)
{
    return load_number(n->desc + at, n->word, n->big);
}

static const struct registers *notes_registers(const struct core_notes *notes)
{
    return abi_registers(notes->abi);
}

static bool is_note_named(const struct note *n, const char *name)
{
    return n->name_size == strlen(name) + 1 && memcmp(n->name, name, n->name_size) == 0;
}

/* ---- struct elf_prstatus --------------------------------------------------------------------------------------- */

/* Three ints, a short; two longs, four ints; four pairs of longs; the registers; an int. */
uint32_t status_pid(unsigned word)
{
    return word == 8 ? 32 : 24;
}

uint32_t status_registers(unsigned word)
{
    return status_pid(word) + 16 + 8 * word;
}

uint32_t status_size(const struct registers *registers)
{
    return status_registers(registers->word) + registers->word * (registers->status_words + 1u);
}

/* ---- Kinds ----------------------------------------------------------------------------------------------------- */

static bool read_status(struct core_notes *notes, const struct note *n)
{
    const struct registers *r = notes_registers(notes);
    uint32_t pr_reg = status_registers(r->word);
    struct core_thread *thread;
    unsigned reg;

    if (n->size < pr_reg || notes->num_threads == MAX_THREADS)
        return false;
    notes->threads = grow(notes->threads, notes->num_threads, sizeof *notes->threads);
    thread = &notes->threads[notes->num_threads++];
    memset(thread, 0, sizeof *thread);
    thread->id = (uint32_t)load_number(n->desc + status_pid(r->word), 4, n->big);
    thread->signal = (uint16_t)load_number(n->desc + PR_SIGNAL, 2, n->big);
    for (reg = 0; reg < NUM_REGISTERS; reg++) {
        int at = r->status[reg];

        if (at < 0 || n->size < pr_reg + r->word * ((uint64_t)at + 1))
            continue;
        thread->regs.value[reg] = note_address(n, pr_reg + r->word * (uint64_t)at);
        thread->regs.known[reg] = true;
    }
    /* gdb cuts some of RISC-V's off (test/truth/FAULTS.md: gdb-cores). */
    if (!thread->regs.known[REGISTER_PC] || !thread->regs.known[r->sp])
        return false;
    if (notes->abi == SFU_S390X)
        thread->control.psw_mask = note_word(n, pr_reg);
    return true;
}

/* Of the thread before it. A core does not say which exception it was; but int3 alone makes such a SIGTRAP. */
static bool read_siginfo(struct core_notes *notes, const struct note *n)
{
    struct core_thread *thread;

    if (notes->num_threads == 0 || n->size < SIGINFO_LEAST)
        return true;
    thread = &notes->threads[notes->num_threads - 1];
    thread->passed = (uint8_t)linux_passed(notes->abi, n->desc, INT3, thread->regs.value[REGISTER_PC]);
    thread->signal = 0;
    return true;
}

/* Those of the thread before it. */
static bool read_note_floats(struct core_notes *notes, const struct note *n)
{
    struct thread_registers *regs;
    unsigned reg;

    if (notes->abi != SFU_S390X || notes->num_threads == 0)
        return true;
    if (n->size < FP_FPRS + 16 * 8)
        return false;
    regs = &notes->threads[notes->num_threads - 1].regs;
    for (reg = 16; reg < 32; reg++) {
        regs->value[reg] = note_word(n, FP_FPRS + 8 * (uint64_t)s390x_float(reg));
        regs->known[reg] = true;
    }
    return true;
}

void notes_read_auxv(struct core_notes *notes, const uint8_t *bytes, size_t size)
{
    enum { AUX_PHDR = 3, AUX_BASE = 7, AUX_VDSO = 33 };
    const struct registers *r = notes_registers(notes);
    size_t at, w = r->word;

    for (at = 0; size - at >= 2 * w; at += 2 * w) {
        uint64_t type = load_number(bytes + at, r->word, r->big),
                 value = load_number(bytes + at + w, r->word, r->big);

        if (type == AUX_PHDR)
            notes->phdr = value;
        if (type == AUX_BASE)
            notes->base = value;
        if (type == AUX_VDSO)
            notes->vdso = value;
    }
    notes->auxv = (struct note_bytes){bytes, size};
}

/* Count, page size, start, end and page of each file, then all names. */
static bool read_files(struct core_notes *notes, const struct note *n)
{
    const char *name, *end = (const char *)n->desc + n->size;
    uint64_t count, page, i, w = n->word;

    if (n->size < 2 * w)
        return false;
    count = note_address(n, 0);
    page = note_address(n, w);
    if (count > (n->size - 2 * w) / (3 * w))
        return false;
    name = (const char *)n->desc + 2 * w + 3 * w * count;
    for (i = 0; i < count; i++) {
        const char *next = memchr(name, 0, (size_t)(end - name));
        uint64_t at = 2 * w + 3 * w * i, first = note_address(n, at + 2 * w);

        if (next == NULL || (page != 0 && first > UINT64_MAX / page))
            return false;
        notes->files = grow(notes->files, notes->num_files, sizeof *notes->files);
        notes->files[notes->num_files++] =
            (struct core_file){note_address(n, at), note_address(n, at + w), first * page, name};
        name = next + 1;
    }
    notes->file_list = (struct note_bytes){n->desc, n->size};
    return true;
}

static bool read_pac(struct core_notes *notes, const struct note *n)
{
    if (n->size < PAC_CODE + 8)
        return false;
    notes->pac_mask = note_word(n, PAC_CODE);
    return true;
}

/* Those of the thread before it. */
static bool read_s390x(struct core_notes *notes, const struct note *n)
{
    struct paging_registers *control;
    unsigned i;

    if (notes->abi != SFU_S390X || notes->num_threads == 0)
        return true;
    control = &notes->threads[notes->num_threads - 1].control;
    if (n->size < (n->type == S390X_CONTROL ? sizeof control->control : 4))
        return false;
    if (n->type == S390X_PREFIX) {
        control->prefix = load_number(n->desc, 4, n->big);
        return true;
    }
    for (i = 0; i < 16; i++)
        control->control[i] = note_word(n, 8 * i);
    control->has_s390x = true;
    return true;
}

/* Those of x86 come in the order of the threads, behind all of them. */
static bool read_qemu(struct core_notes *notes, const struct note *n)
{
    const bool i386 = notes->abi == SFU_I386;
    struct paging_registers *control;

    if ((notes->abi != SFU_AMD64 && !i386) || notes->num_qemu == notes->num_threads || n->size < QEMU_CR + 5 * 8)
        return true;
    control = &notes->threads[notes->num_qemu++].control;
    control->cr0 = note_word(n, QEMU_CR);
    control->cr3 = note_word(n, QEMU_CR + 24);
    control->cr4 = note_word(n, QEMU_CR + 32);
    control->has_x86_64 = !i386;
    control->has_i386 = i386;
    return true;
}

static bool read_note(struct core_notes *notes, const struct note *n)
{
    bool core = is_note_named(n, "CORE");

    if (core && n->type == NT_PRSTATUS)
        return read_status(notes, n);
    if (core && n->type == NT_PRPSINFO && notes->num_threads == 0)
        notes->by_debugger = true;
    if (core && n->type == NT_FPREGSET)
        return read_note_floats(notes, n);
    if (core && n->type == SIGINFO)
        return read_siginfo(notes, n);
    if (core && n->type == NT_AUXV)
        notes_read_auxv(notes, n->desc, n->size);
    if (core && n->type == NT_FILE)
        return read_files(notes, n);
    if (is_note_named(n, "LINUX") && n->type == ARM_PAC_MASK)
        return read_pac(notes, n);
    if (is_note_named(n, "LINUX") && (n->type == S390X_CONTROL || n->type == S390X_PREFIX))
        return read_s390x(notes, n);
    if (is_note_named(n, "QEMU") && n->type == 0)
        return read_qemu(notes, n);
    if (is_note_named(n, "VMCOREINFO")) {
        notes->vmcoreinfo = (const char *)n->desc;
        notes->vmcoreinfo_size = n->size;
    }
    return true;
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

/* Up to the next multiple of 4, also in cores of 64 bits, because Linux and QEMU write them so. */
static uint64_t note_padded(uint32_t size)
{
    return ((uint64_t)size + 3) & ~(uint64_t)3;
}

bool notes_read(struct core_notes *notes, const uint8_t *bytes, uint64_t size)
{
    bool big = abi_is_big(notes->abi);
    uint64_t at = 0;

    while (size - at >= HEADER) {
        const uint8_t *p = bytes + at;
        struct note n;

        n.big = big;
        n.word = notes_registers(notes)->word;
        n.name_size = (uint32_t)load_number(p, 4, big);
        n.size = (uint32_t)load_number(p + 4, 4, big);
        n.type = (uint32_t)load_number(p + 8, 4, big);
        if (note_padded(n.name_size) > size - at - HEADER || n.size > size - at - HEADER - note_padded(n.name_size))
            return false;
        n.name = (const char *)p + HEADER;
        n.desc = p + HEADER + note_padded(n.name_size);
        if (!read_note(notes, &n))
            return false;
        at += HEADER + note_padded(n.name_size) + note_padded(n.size);
        if (at > size)
            return true; /* the last one need not be padded */
    }
    return true;
}

void notes_free(struct core_notes *notes)
{
    free(notes->threads);
    free(notes->files);
}
