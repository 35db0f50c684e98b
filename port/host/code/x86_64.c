/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * x86_64: capstone decodes, and says which registers and operands an instruction writes. Here is what those do that
 * move SP and FP. Sections are those of the "Intel 64 and IA-32 Architectures Software Developer's Manual".
 */
#include "code.h"

#ifdef SFU_CAPSTONE
#include <capstone/capstone.h>
#include <stdlib.h>
#include <string.h>

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, RA = 16 };

/* A comparison with more is not that of a table's index. */
enum { MAX_BOUND = 65536 };

/* The fact of an instruction that says the same wherever it stands. KEY: its bytes, the first one lowest, and its size
 * in the highest byte; or 0. */
struct kept_fact {
    uint64_t key;
    struct code_fact fact;
};

/* How many facts are kept, and of how many bytes their instructions are at most. */
enum { KEPT_BITS = 15, KEPT_BYTES = 7 };

struct decoder {
    csh handle;
    cs_insn *insn;
    struct kept_fact *kept;         /* in the place that their KEY gives */
    uint8_t number[X86_REG_ENDING]; /* of a register's DWARF number + 1, or 0 */
    bool whole[X86_REG_ENDING];     /* it is one of 64 bits */
};

/* ---- Registers ------------------------------------------------------------------------------------------------- */

static void name_registers(struct decoder *d)
{
    static const struct {
        uint16_t reg[5];
        uint8_t number;
    } old[] = {
        {{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH}, RAX},
        {{X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH}, RDX},
        {{X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH}, RCX},
        {{X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH}, RBX},
        {{X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, X86_REG_SIL}, RSI},
        {{X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, X86_REG_DIL}, RDI},
        {{X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, X86_REG_BPL}, RBP},
        {{X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, X86_REG_SPL}, RSP},
    };
    static const uint16_t more[8][4] = {
        {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
        {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
        {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
        {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
        {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
        {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
        {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
        {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B},
    };
    unsigned i, k;

    for (i = 0; i < 8; i++) {
        for (k = 0; k < 5; k++)
            d->number[old[i].reg[k]] = (uint8_t)(old[i].number + 1);
        for (k = 0; k < 4; k++)
            d->number[more[i][k]] = (uint8_t)(R8 + i + 1);
        d->whole[old[i].reg[0]] = d->whole[more[i][0]] = true;
    }
}

/* The number of OPERAND, if it is a whole register, else CODE_NONE. */
static uint8_t whole(const struct decoder *d, const cs_x86_op *operand)
{
    return operand->type == X86_OP_REG && d->whole[operand->reg] ? (uint8_t)(d->number[operand->reg] - 1)
                                                                 : (uint8_t)CODE_NONE;
}

/* Whether the segment of MEM begins at 0: all do but FS and GS. With a prefix for DS, an indirect jump may go where no
 * endbr64 stands (notrack). */
static bool is_flat(const x86_op_mem *mem)
{
    return mem->segment != X86_REG_FS && mem->segment != X86_REG_GS;
}

/* A register that is never known: memory that counts from it may be anywhere. */
enum { ANYWHERE = CODE_PC, GS = CODE_OTHER_SP };

/* Where OPERAND, in memory, lies: *BASE, with GS and CODE_ZERO, or ANYWHERE where it is not a register and a number. */
static void address(const struct decoder *d, const cs_x86_op *operand, uint8_t *base, int64_t *k)
{
    const x86_op_mem *mem = &operand->mem;

    *base = ANYWHERE;
    *k = mem->disp;
    if (operand->type != X86_OP_MEM || mem->index != X86_REG_INVALID || mem->segment == X86_REG_FS)
        return;
    if (mem->base == X86_REG_INVALID || mem->base == X86_REG_RIP)
        *base = is_flat(mem) ? (uint8_t)CODE_ZERO : (uint8_t)GS;
    else if (is_flat(mem) && d->whole[mem->base])
        *base = (uint8_t)(d->number[mem->base] - 1);
    if (mem->base == X86_REG_RIP)
        *k += (int64_t)(d->insn->address + d->insn->size);
}

/* ---- Instructions ---------------------------------------------------------------------------------------------- */

static void forget(struct code_fact *fact, const struct decoder *d, unsigned reg)
{
    if (reg < X86_REG_ENDING && d->number[reg] != 0)
        code_forget(fact, (uint8_t)(d->number[reg] - 1));
}

static void forget_all(struct code_fact *fact)
{
    fact->num = 0;
    code_add(fact, CODE_FORGET, RAX, RA, 0, 0);
}

/* SIZE bytes at OPERAND become unknown, if it lies where slots are. */
static void write_to(struct code_fact *fact, const struct decoder *d, const cs_x86_op *operand)
{
    uint8_t base;
    int64_t k;

    address(d, operand, &base, &k);
    code_add(fact, CODE_WRITE, 0, operand->size, base, k);
}

/* What capstone says of an instruction that is not known here. Memory that it names may be written. */
static void other(struct decoder *d, struct code_fact *fact)
{
    const cs_x86 *x = &d->insn->detail->x86;
    cs_regs read, written;
    uint8_t num_read, num_written, i;

    if (cs_regs_access(d->handle, d->insn, read, &num_read, written, &num_written) != CS_ERR_OK) {
        forget_all(fact);
        return;
    }
    for (i = 0; i < num_written; i++)
        forget(fact, d, written[i]);
    for (i = 0; i < x->op_count; i++)
        if (x->operands[i].type == X86_OP_MEM && x->operands[i].access != CS_AC_READ)
            write_to(fact, d, &x->operands[i]);
    /* rdssp: capstone 4 takes it for a nop. */
    if (d->insn->id == X86_INS_NOP && x->opcode[0] == 0x0f && x->opcode[1] == 0x1e && x->op_count > 0 &&
        x->operands[0].type == X86_OP_REG)
        forget(fact, d, x->operands[0].reg);
}

/* OPERAND is an entry of a table, of WIDTH, that is read into REG. Returns false if it is not like that. */
static bool read_table(const struct decoder *d, struct code_fact *fact, uint8_t reg, const cs_x86_op *operand,
                       uint8_t width)
{
    const x86_op_mem *mem = &operand->mem;
    uint8_t base = mem->base == X86_REG_INVALID ? (uint8_t)CODE_ZERO : (uint8_t)(d->number[mem->base] - 1);

    if (operand->type != X86_OP_MEM || !is_flat(mem) || mem->index == X86_REG_INVALID ||
        mem->scale != (width & CODE_ENTRY_SIZE) || (mem->base != X86_REG_INVALID && !d->whole[mem->base]))
        return false;
    code_table(fact, reg, width, base, base, mem->disp);
    return true;
}

/* 64 bits move from B to A, or its address does (lea). */
static bool move(struct decoder *d, struct code_fact *fact, bool load_address)
{
    const cs_x86_op *a = &d->insn->detail->x86.operands[0], *b = a + 1;
    uint8_t to = whole(d, a), from = whole(d, b), base;
    int64_t k;

    if (a->type == X86_OP_REG && b->type == X86_OP_IMM && (to != CODE_NONE || a->size == 4)) {
        code_add(fact, CODE_NUMBER, (uint8_t)(d->number[a->reg] - 1), 0, 0,
                 to != CODE_NONE ? b->imm : (int64_t)(uint32_t)b->imm);
        return d->number[a->reg] != 0;
    }
    if (to != CODE_NONE && from != CODE_NONE) {
        code_add(fact, CODE_SET, to, 0, from, 0);
        return true;
    }
    if (to != CODE_NONE && b->type == X86_OP_MEM) {
        address(d, b, &base, &k);
        if (load_address && base == CODE_ZERO)
            code_add(fact, CODE_NUMBER, to, 0, 0, k);
        else if (load_address)
            code_add(fact, CODE_SET, to, to, base == GS ? (uint8_t)ANYWHERE : base, k);
        else if (base != ANYWHERE || !read_table(d, fact, to, b, 8))
            code_add(fact, CODE_LOAD, to, to, base, k);
        return true;
    }
    if (a->type == X86_OP_MEM && from != CODE_NONE) {
        address(d, a, &base, &k);
        code_add(fact, CODE_STORE, from, from, base, k);
        return true;
    }
    return false;
}

/* add, sub and and of a register: by a number, or of a number. */
static bool arithmetic(const struct decoder *d, struct code_fact *fact)
{
    const cs_x86_op *a = &d->insn->detail->x86.operands[0], *b = a + 1;
    uint8_t to = whole(d, a), from = whole(d, b);
    int64_t sign = d->insn->id == X86_INS_SUB ? -1 : 1;

    if (to == CODE_NONE)
        return false;
    if (d->insn->id == X86_INS_AND) {
        if (to != RSP || b->type != X86_OP_IMM || b->imm >= 0)
            return false;
        code_add(fact, CODE_ALIGN, to, 0, 0, 0);
    } else if (b->type == X86_OP_IMM) {
        code_add(fact, CODE_SET, to, 0, to, sign * b->imm);
    } else if (from != CODE_NONE) {
        code_add(fact, CODE_SUM, to, from, to, sign);
    } else {
        return false;
    }
    return true;
}

/* A word of a variable goes through CODE_TARGET: the interrupted SP, as the entry of a system call has stored it. */
static void push(struct decoder *d, struct code_fact *fact)
{
    const cs_x86 *x = &d->insn->detail->x86;
    uint8_t reg = x->op_count > 0 ? whole(d, &x->operands[0]) : (uint8_t)CODE_NONE, base = ANYWHERE;
    int64_t k;

    if (x->op_count > 0 && x->operands[0].type == X86_OP_MEM)
        address(d, &x->operands[0], &base, &k);
    if (base == CODE_ZERO || base == GS) {
        reg = CODE_TARGET;
        code_add(fact, CODE_LOAD, reg, reg, base, k);
    }
    if (reg != CODE_NONE)
        code_add(fact, CODE_STORE, reg, reg, RSP, -8);
    else
        code_add(fact, CODE_WRITE, 0, 8, RSP, -8);
    code_add(fact, CODE_SET, RSP, 0, RSP, -8);
}

static void pop(struct decoder *d, struct code_fact *fact)
{
    const cs_x86 *x = &d->insn->detail->x86;
    uint8_t reg = x->op_count > 0 ? whole(d, &x->operands[0]) : (uint8_t)CODE_NONE;

    if (reg != CODE_NONE)
        code_add(fact, CODE_LOAD, reg, reg, RSP, 0);
    if (reg != RSP)
        code_add(fact, CODE_SET, RSP, 0, RSP, 8);
    if (x->op_count > 0 && x->operands[0].type == X86_OP_MEM)
        write_to(fact, d, &x->operands[0]);
}

/* Whether ID pushes or pops, which is of 16 bits by a prefix. */
static bool is_stack(unsigned id)
{
    return id == X86_INS_PUSH || id == X86_INS_POP || id == X86_INS_PUSHF || id == X86_INS_POPF ||
           id == X86_INS_PUSHFQ || id == X86_INS_POPFQ;
}

/* Returns false if capstone is to be asked. */
static bool known(struct decoder *d, struct code_fact *fact)
{
    const cs_x86 *x = &d->insn->detail->x86;

    if (x->prefix[2] == 0x66 && is_stack(d->insn->id)) { /* SP moves by 2: no compiler does, so nothing is known */
        forget_all(fact);
        return true;
    }
    switch (d->insn->id) {
    case X86_INS_PUSH:
    case X86_INS_PUSHFQ:
    case X86_INS_PUSHF:
        push(d, fact);
        return true;
    case X86_INS_POP:
    case X86_INS_POPFQ:
    case X86_INS_POPF:
        pop(d, fact);
        return true;
    case X86_INS_LEAVE:
        code_add(fact, CODE_SET, RSP, 0, RBP, 0);
        code_add(fact, CODE_LOAD, RBP, RBP, RSP, 0);
        code_add(fact, CODE_SET, RSP, 0, RSP, 8);
        return true;
    case X86_INS_ENTER:
        code_forget(fact, RSP);
        code_forget(fact, RBP);
        return true;
    case X86_INS_LEA:
        return move(d, fact, true);
    case X86_INS_MOV:
    case X86_INS_MOVABS:
        return move(d, fact, false);
    case X86_INS_ADD:
    case X86_INS_SUB:
    case X86_INS_AND:
        return arithmetic(d, fact);
    case X86_INS_XOR:
        if (x->operands[0].type != X86_OP_REG || x->operands[1].type != X86_OP_REG ||
            x->operands[0].reg != x->operands[1].reg || x->operands[0].size < 4)
            return false;
        code_add(fact, CODE_NUMBER, (uint8_t)(d->number[x->operands[0].reg] - 1), 0, 0, 0);
        return true;
    case X86_INS_MOVSXD:
        return whole(d, &x->operands[0]) != CODE_NONE &&
               read_table(d, fact, whole(d, &x->operands[0]), &x->operands[1], 4 | CODE_ENTRY_SIGNED);
    case X86_INS_CMP:
        /* The index of a table is compared with its last entry, and `ja` leaves if it is greater. */
        if (x->operands[1].type == X86_OP_IMM && x->operands[1].imm >= 0 && x->operands[1].imm < MAX_BOUND)
            fact->bound = (uint32_t)x->operands[1].imm + 1;
        return true;
    case X86_INS_SWAPGS:
    case X86_INS_WRGSBASE:
    case X86_INS_WRMSR: /* GS begins elsewhere, or may do so */
        code_add(fact, CODE_WRITE, 0, 8, ANYWHERE, 0);
        return true;
    case X86_INS_TEST:
    case X86_INS_NOP:
        return x->opcode[1] != 0x1e;
    default:
        return false;
    }
}

/* A jump to what a register or memory has. */
static void jump_to(const struct decoder *d, struct code_fact *fact)
{
    const cs_x86_op *to = &d->insn->detail->x86.operands[0];

    if (whole(d, to) != CODE_NONE)
        code_add(fact, CODE_SET, CODE_TARGET, 0, whole(d, to), 0);
    else if (!read_table(d, fact, CODE_TARGET, to, 8))
        code_forget(fact, CODE_TARGET);
}

/* Where the PC goes, beside what registers have. Returns whether that is all. */
static bool flow(struct decoder *d, struct code_fact *fact)
{
    const cs_x86 *x = &d->insn->detail->x86;
    bool direct = x->op_count > 0 && x->operands[x->op_count - 1].type == X86_OP_IMM;

    switch (d->insn->id) {
    case X86_INS_CALL:
        fact->flow = CODE_CALL;
        fact->target = direct ? (uint64_t)x->operands[0].imm : 0;
        return true;
    case X86_INS_JMP:
        fact->flow = direct ? CODE_JUMP : CODE_AWAY;
        fact->target = direct ? (uint64_t)x->operands[0].imm : 0;
        if (!direct)
            jump_to(d, fact);
        return true;
    case X86_INS_RET:
        fact->flow = CODE_RETURN;
        fact->odd = x->op_count > 0;
        return true;
    case X86_INS_IRETQ:
        fact->flow = CODE_RESUME;
        return true;
    case X86_INS_LCALL:
        fact->flow = CODE_CALL;
        forget_all(fact);
        return true;
    case X86_INS_RETFQ: /* to an address that start-up code has pushed */
        fact->flow = CODE_AWAY;
        code_add(fact, CODE_LOAD, CODE_TARGET, CODE_TARGET, RSP, 0);
        code_add(fact, CODE_SET, RSP, 0, RSP, 16);
        return true;
    case X86_INS_RETF:
    case X86_INS_IRET:
    case X86_INS_IRETD:
    case X86_INS_LJMP:
    case X86_INS_SYSRET:
    case X86_INS_SYSEXIT:
    case X86_INS_UD2:
    case X86_INS_UD0:
    case X86_INS_UD2B:
    case X86_INS_RSM:
        fact->flow = CODE_STOP;
        return true;
    case X86_INS_HLT:
    case X86_INS_INT3:
        fact->odd = true; /* nothing comes behind it at the end of a function */
        return true;
    case X86_INS_INT:
    case X86_INS_SYSCALL:
    case X86_INS_SYSENTER:
    case X86_INS_VMCALL:
    case X86_INS_VMMCALL:
        code_add(fact, CODE_FORGET, RAX, RCX, 0, 0);
        code_add(fact, CODE_FORGET, R8, R8 + 3, 0, 0);
        return true;
    default:
        break;
    }
    if (!cs_insn_group(d->handle, d->insn, CS_GRP_JUMP))
        return false;
    fact->flow = direct ? CODE_BRANCH : CODE_STOP;
    fact->target = direct ? (uint64_t)x->operands[x->op_count - 1].imm : 0;
    if (d->insn->id == X86_INS_LOOP || d->insn->id == X86_INS_LOOPE || d->insn->id == X86_INS_LOOPNE)
        code_forget(fact, RCX);
    return true;
}

static void ask_capstone(struct decoder *d, const uint8_t *p, size_t size, uint64_t pc, struct code_fact *fact)
{
    memset(fact, 0, sizeof *fact);
    fact->flow = CODE_STOP;
    if (!cs_disasm_iter(d->handle, &p, &size, &pc, d->insn))
        return;
    fact->size = (uint8_t)d->insn->size;
    fact->flow = CODE_NEXT;
    if (!flow(d, fact) && !known(d, fact))
        other(d, fact);
}

/* Where a fact of the first SIZE bytes of BYTES is, if it is kept. *KEY: what it has then. */
static struct kept_fact *place_of(const struct decoder *d, uint64_t bytes, unsigned size, uint64_t *key)
{
    *key = (bytes & (((uint64_t)1 << 8 * size) - 1)) | (uint64_t)size << 56;
    return &d->kept[*key * 0x9e3779b97f4a7c15 >> (64 - KEPT_BITS)];
}

/* Whether FACT, of the instruction that was read last, is that of its bytes at any other PC, too. */
static bool is_same_anywhere(const struct decoder *d, const struct code_fact *fact)
{
    bool from_pc = (d->insn->detail->x86.modrm & 0xc7) == 5; /* "RIP-relative addressing", or a register's bits */

    return fact->size != 0 && fact->size <= KEPT_BYTES && fact->flow == CODE_NEXT && !from_pc;
}

/* Compilers write the same instructions again and again, and capstone is slow. No instruction is the beginning of
 * another, so at most one of the sizes is found. */
static void decode(void *decoder, const struct code_text *text, uint64_t pc, struct code_fact *fact)
{
    struct decoder *d = decoder;
    const uint8_t *p = text->bytes + (pc - text->start);
    size_t left = text->end - pc < 16 ? (size_t)(text->end - pc) : 16;
    uint64_t bytes = 0, key;
    struct kept_fact *kept;
    unsigned size;

    for (size = 1; size <= KEPT_BYTES && size <= left; size++) {
        bytes |= (uint64_t)p[size - 1] << 8 * (size - 1);
        kept = place_of(d, bytes, size, &key);
        if (kept->key == key) {
            *fact = kept->fact;
            return;
        }
    }
    ask_capstone(d, p, left, pc, fact);
    if (is_same_anywhere(d, fact)) {
        kept = place_of(d, bytes, fact->size, &key);
        kept->key = key;
        kept->fact = *fact;
    }
}

static void *open_decoder(struct image *image)
{
    struct decoder *d = zeroed(1, sizeof *d);

    (void)image;
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle) != CS_ERR_OK) {
        free(d);
        return NULL;
    }
    cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
    d->insn = cs_malloc(d->handle);
    d->kept = zeroed((size_t)1 << KEPT_BITS, sizeof *d->kept);
    name_registers(d);
    return d;
}

static void close_decoder(void *decoder)
{
    struct decoder *d = decoder;

    cs_free(d->insn, 1);
    cs_close(&d->handle);
    free(d->kept);
    free(d);
}

const struct code_cpu code_x86_64 = {
    0x10fff & ~(1ull << RBX | 1ull << RBP | 1ull << RSP),
    RSP,
    RBP,
    RA,
    0,
    -8,
    -8,
    false,
    1,
    0,
    decode,
    open_decoder,
    close_decoder,
    8,
    8,
    NULL,
    0,
    NULL,
};
#else
/* ISO C forbids an empty file. */
typedef int code_without_capstone;
#endif
