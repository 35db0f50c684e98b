/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "trace_machine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- What Linux says of itself --------------------------------------------------------------------------------- */

/* The number behind "NAME=" at the beginning of a line of the note. Returns false if there is none. */
static bool find_note_line(const struct core *core, const char *name, int base, uint64_t *value)
{
    const char *p = core->notes.vmcoreinfo, *end = p != NULL ? p + core->notes.vmcoreinfo_size : NULL;
    size_t size = strlen(name);

    while (p != NULL && p < end) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        size_t length = (size_t)((eol != NULL ? eol : end) - p);
        char text[40], *rest;

        if (length > size && length - size < sizeof text && memcmp(p, name, size) == 0) {
            memcpy(text, p + size, length - size);
            text[length - size] = '\0';
            *value = strtoull(text, &rest, base);
            return rest != text;
        }
        p = eol != NULL ? eol + 1 : NULL;
    }
    return false;
}

/* RISC-V: the kind of satp or else the bits of an address say how many levels there are. TABLE: the virtual address of
 * the kernel's first one. */
static void set_by_riscv_linux(struct core *core, uint64_t table)
{
    struct paging *p = &core->tables;
    uint64_t base, width;

    if (find_note_line(core, "NUMBER(satp)=", 16, &base)) {
        paging_set_satp(p, base, core->image.registers->word);
    } else if (find_note_line(core, "NUMBER(va_kernel_pa_offset)=", 16, &base) &&
               find_note_line(core, "NUMBER(VA_BITS)=", 10, &width)) {
        p->kind = PAGING_RISCV;
        p->root = table - base;
        p->width = (unsigned)width;
    }
}

/* By the addresses that Linux exports for kdump. */
static void set_by_linux(struct core *core)
{
    struct paging *p = &core->tables;
    uint64_t table, base, size, width;

    if (!find_note_line(core, "SYMBOL(swapper_pg_dir)=", 16, &table))
        return;
    if (core->image.abi == SFU_AMD64 && find_note_line(core, "NUMBER(phys_base)=", 10, &base)) {
        p->kind = PAGING_X86_64;
        p->root = table - 0xffffffff80000000 + base;
        p->width = find_note_line(core, "NUMBER(pgtable_l5_enabled)=", 10, &width) && width == 1 ? 57 : 48;
    }
    if (abi_is_riscv(core->image.abi))
        set_by_riscv_linux(core, table);
    if (abi_is_aarch64(core->image.abi) && find_note_line(core, "NUMBER(kimage_voffset)=", 16, &base) &&
        find_note_line(core, "PAGESIZE=", 10, &size) && find_note_line(core, "NUMBER(VA_BITS)=", 10, &width) &&
        width >= 25 && width <= 52) {
        p->kind = PAGING_AARCH64;
        p->root = table - base;
        p->page = size == 65536 ? 16 : size == 16384 ? 14 : 12;
        p->width = (unsigned)width;
    }
}

void machine_place(struct core *core)
{
    uint64_t slide = core->options->slide;

    if (slide == 0)
        (void)find_note_line(core, "KERNELOFFSET=", 16, &slide);
    images_place(&core->options->images, slide);
}

/* ---- What the user says ---------------------------------------------------------------------------------------- */

/* Whether the page tables lead from the PC of a CPU to the code that an image has there. */
static bool leads_to_code(struct core *core)
{
    uint8_t bytes[4];
    size_t i;

    for (i = 0; i < core->notes.num_threads; i++) {
        uint64_t pc = core->notes.threads[i].regs.value[REGISTER_PC];
        struct trace_image *image = images_at(&core->options->images, pc);
        const uint8_t *code = image != NULL && !image_is_object(image)
                                  ? image_instructions(&image->image, pc - image->slide, sizeof bytes)
                                  : NULL;

        if (code != NULL && memory_read(&core->memory, pc, bytes, sizeof bytes) &&
            memcmp(bytes, code, sizeof bytes) == 0)
            return true;
    }
    return false;
}

/* Whether they lead to the top of the stack of a CPU. */
static bool leads_to_stack(struct core *core)
{
    uint8_t byte;
    size_t i;

    for (i = 0; i < core->notes.num_threads; i++) {
        uint64_t sp = core->notes.threads[i].regs.value[abi_registers(core->image.abi)->sp];

        if (memory_read(&core->memory, sp, &byte, 1))
            return true;
    }
    return false;
}

/* Sv32 is that of RV32 alone. */
static bool is_riscv_width(const struct core *core, unsigned width)
{
    return core->image.registers->word == 4 ? width == 32 : width == 39 || width == 48 || width == 57;
}

/* The sizes of pages and addresses that kernels have. Those fit that lead to the code of the image and to a stack, or
 * else to one of them. */
static bool guess_sizes(struct core *core)
{
    static const struct {
        uint8_t kind, page, width;
    } sizes[] = {{PAGING_X86_64, 12, 48},  {PAGING_X86_64, 12, 57},  {PAGING_AARCH64, 12, 48},
                 {PAGING_I386, 12, 32},    {PAGING_I386, 12, 36},    {PAGING_AARCH64, 12, 39},
                 {PAGING_AARCH64, 14, 47}, {PAGING_AARCH64, 14, 48}, {PAGING_AARCH64, 14, 36},
                 {PAGING_AARCH64, 16, 48}, {PAGING_AARCH64, 16, 42}, {PAGING_AARCH64, 16, 52},
                 {PAGING_S390X, 12, 64},   {PAGING_RISCV, 12, 32},   {PAGING_RISCV, 12, 39},
                 {PAGING_RISCV, 12, 48},   {PAGING_RISCV, 12, 57}};
    struct paging *p = &core->memory.paging;
    unsigned round;
    bool code, stack;
    size_t i;

    for (round = 0; round < 2; round++) {
        for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            if (sizes[i].kind != p->kind || (p->kind == PAGING_RISCV && !is_riscv_width(core, sizes[i].width)))
                continue;
            p->page = sizes[i].page;
            p->width = sizes[i].width;
            if (!paging_root_fits(p))
                continue;
            code = leads_to_code(core);
            stack = leads_to_stack(core);
            if ((code && stack) || (round == 1 && (code || stack)))
                return true;
        }
    }
    return false;
}

/* An address of x86_64 has 48 or 57 bits, and one half of those of aarch64 at most 52. On i386, 36 says that the tables
 * are those of PAE. */
static bool is_width(const struct core *core)
{
    const struct paging *p = &core->memory.paging;

    if (p->kind == PAGING_RISCV)
        return p->width == 0 || is_riscv_width(core, p->width);
    if (p->kind == PAGING_I386)
        return p->width == 32 || p->width == 36;
    return p->kind == PAGING_X86_64 ? p->width == 48 || p->width == 57 : p->width <= 52;
}

static void set_by_option(struct core *core)
{
    struct paging *p = &core->memory.paging;

    p->kind = core->image.abi == SFU_AMD64    ? PAGING_X86_64
              : core->image.abi == SFU_I386   ? PAGING_I386
              : core->image.abi == SFU_S390X  ? PAGING_S390X
              : abi_is_riscv(core->image.abi) ? PAGING_RISCV
                                              : PAGING_AARCH64;
    p->root = core->options->page_table;
    p->page = core->options->page_bits;
    p->width = core->options->address_bits;
    if (!is_width(core) && p->width != 0)
        report_fail("--page-table: addresses of %s do not have %u bits", abi_name(core->image.abi), p->width);
    if (p->width == 0 && !guess_sizes(core))
        report_fail(
            "--page-table: no table at 0x%" PRIx64 " leads to the code or the stack of a CPU: is it the physical "
            "address of %s? (--page-table=ADDR,BITS,PAGE: how many bits an address has, how many bytes a page)",
            p->root, core->image.registers->page_root);
    core->tables = *p;
}

void machine_set_paging(struct core *core)
{
    core->memory.paging.big = core->tables.big = core->image.big;
    core->memory.paging.read = core->tables.read = memory_read_physical;
    core->memory.paging.ctx = core->tables.ctx = &core->memory;
    if (core->options->has_page_table)
        set_by_option(core);
    else
        set_by_linux(core);
}

/* The user program's tables are of the kind of the kernel's. */
static void choose_user(struct core *core)
{
    struct paging *user = &core->memory.user;

    if (core->memory.paging.kind <= PAGING_OFF)
        report_fail("--user-table: the kernel's page tables are not known: give --page-table=ADDR as well");
    *user = core->memory.paging;
    user->root = core->options->user_table;
    user->lower = user->kind == PAGING_AARCH64;
}

void machine_choose(struct core *core, size_t number)
{
    core->memory.paging = core->tables;
    if (!core->options->has_page_table)
        paging_set(&core->memory.paging, &core->notes.threads[number].control);
    if (core->options->has_user_table)
        choose_user(core);
}

/* ---- What is missing ------------------------------------------------------------------------------------------- */

void machine_explain(const struct core *core, size_t number, const struct trace_out *out)
{
    const struct paging *p = &core->memory.paging;
    const char *root = core->image.registers->page_root;
    uint64_t sp = core->notes.threads[number].regs.value[abi_registers(core->image.abi)->sp], physical, left;
    uint8_t byte;

    if (memory_read((void *)&core->memory, sp, &byte, 1))
        return;
    if (memory_is_left_out(&core->memory, sp) ||
        (p->kind > PAGING_OFF && paging_translate(p, sp, &physical, &left) &&
         memory_is_left_out(&core->memory, physical)))
        out_line(out,
                 "SP 0x%016" PRIx64
                 " lies in memory that the dump describes, but does not have (FileSiz of its segment "
                 "is less than MemSiz): make a dump of all memory",
                 sp);
    else if (p->kind == PAGING_UNKNOWN)
        out_line(out,
                 "SP 0x%016" PRIx64
                 " is in no segment of the dump, whose addresses are physical; it does not say where "
                 "the page tables are: give --page-table=ADDR, the physical address in %s",
                 sp, root);
    else if (p->kind == PAGING_OFF || !paging_translate(p, sp, &physical, &left))
        out_line(out,
                 "SP 0x%016" PRIx64 " is %s: a damaged SP, or give --page-table=ADDR, the physical address in %s",
                 sp,
                 p->kind == PAGING_OFF ? "in no segment of the dump, and this CPU has its page tables off"
                                       : "not mapped by this CPU's page tables, as far as they are in the dump",
                 root);
    else
        out_line(out,
                 "SP 0x%016" PRIx64 " is at physical address 0x%" PRIx64
                 ", which is not in the dump: it must have all memory",
                 sp, physical);
}
