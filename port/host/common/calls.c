/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Calls in machine code: whether an instruction that ends at an address is one, and where it leads. */
#include "calls.h"
#include "filled.h"
#include "sfu.h"

#include <string.h>

enum {
    MOST = 7,    /* bytes of a call */
    FAR_CALL = 7 /* bytes of a far call whose address is in the instruction */
};

/* The number of BITS bits of WORD from bit AT on, with its sign. */
static int64_t signed_bits(uint64_t word, unsigned at, unsigned bits)
{
    const uint64_t sign = UINT64_C(1) << (bits - 1), value = word >> at & (2 * sign - 1);

    return (int64_t)(value ^ sign) - (int64_t)sign;
}

static uint64_t number_before(const uint8_t *end, unsigned size, bool big)
{
    return load_number(end - size, size, big);
}

/* call rel32; or call of a register or of memory, ff /2, or far of memory, ff /3, with its ModRM byte, SIB byte and
 * displacement; i386: far with the address in the instruction. */
static bool x86_call(uint8_t abi, const uint8_t *end, uint64_t ra, struct call *call)
{
    unsigned size;

    if (end[-5] == 0xe8) {
        call->direct = true;
        call->target = ra + (uint64_t)signed_bits(number_before(end, 4, false), 0, 32);
        return true;
    }
    for (size = 2; size <= MOST; size++) {
        const unsigned modrm = end[-(int)size + 1], mod = modrm >> 6, rm = modrm & 7;
        const bool sib = mod != 3 && rm == 4;
        unsigned needed = 2 + sib + (mod == 1 ? 1u : mod == 2 || (mod == 0 && rm == 5) ? 4u : 0u);

        if (sib && mod == 0 && size >= 3 && (end[-(int)size + 2] & 7) == 5)
            needed += 4;
        if (end[-(int)size] == 0xff && needed == size &&
            ((modrm >> 3 & 7) == 2 || ((modrm >> 3 & 7) == 3 && mod != 3)))
            return true;
    }
    return abi == SFU_I386 && end[-FAR_CALL] == 0x9a;
}

/* bl; blr and its forms with pointer authentication. */
static bool aarch64_call(const uint8_t *end, uint64_t ra, struct call *call)
{
    const uint64_t word = number_before(end, 4, false); /* also where data is big-endian */

    if (word >> 26 == 0x25) {
        call->direct = true;
        call->target = ra - 4 + 4 * (uint64_t)signed_bits(word, 0, 26);
        return true;
    }
    return (word & 0xfffffc1f) == 0xd63f0000 || (word & 0xfefff800) == 0xd63f0800;
}

/* brasl, basr and bras with a link register that is not 0. */
static bool s390x_call(const uint8_t *end, uint64_t ra, struct call *call)
{
    if (end[-6] == 0xc0 && (end[-5] & 15) == 5 && end[-5] >> 4 != 0) {
        call->direct = true;
        call->target = ra - 6 + 2 * (uint64_t)signed_bits(number_before(end, 4, true), 0, 32);
        return true;
    }
    if (end[-4] == 0xa7 && (end[-3] & 15) == 5 && end[-3] >> 4 != 0) {
        call->direct = true;
        call->target = ra - 4 + 2 * (uint64_t)signed_bits(number_before(end, 2, true), 0, 16);
        return true;
    }
    return end[-2] == 0x0d && end[-1] >> 4 != 0 && (end[-1] & 15) != 0;
}

/* The immediate of jal, in units of bytes. */
static uint64_t jal_distance(uint64_t word)
{
    return (uint64_t)(signed_bits(word, 31, 1) * (1 << 20)) | (word >> 12 & 0xff) << 12 | (word >> 20 & 1) << 11 |
           (word >> 21 & 0x3ff) << 1;
}

/* The immediate of c.jal: bits 11, 4, 9, 8, 10, 6, 7, 3 to 1 and 5, from bit 12 of the instruction down. */
static uint64_t c_jal_distance(uint64_t half)
{
    return (uint64_t)(signed_bits(half, 12, 1) * (1 << 11)) | (half >> 11 & 1) << 4 | (half >> 9 & 3) << 8 |
           (half >> 8 & 1) << 10 | (half >> 7 & 1) << 6 | (half >> 6 & 1) << 7 | (half >> 3 & 7) << 1 |
           (half >> 2 & 1) << 5;
}

/* cm.jalt: by an entry of a table, from number 32 on. */
static bool is_table_call(const uint8_t *end)
{
    const uint64_t half = number_before(end, 2, false);

    return (half & 0xfc03) == 0xa002 && (half >> 2 & 0xff) >= 32;
}

/* jal and jalr with ra or t0, auipc with such a jalr; c.jalr; of 32 bits c.jal. */
static bool riscv_call(uint8_t abi, const uint8_t *end, uint64_t ra, struct call *call)
{
    const uint64_t word = number_before(end, 4, false), half = number_before(end, 2, false);
    const unsigned link = word >> 7 & 31;

    if ((word & 0x7f) == 0x6f && (link == 1 || link == 5)) {
        call->direct = true;
        call->target = ra - 4 + jal_distance(word);
        return true;
    }
    if ((word & 0x707f) == 0x67 && (link == 1 || link == 5)) {
        const uint64_t before = number_before(end - 4, 4, false);

        call->direct = (before & 0x7f) == 0x17 && (before >> 7 & 31) == (word >> 15 & 31);
        if (call->direct)
            call->target = ra - 8 + (uint64_t)(signed_bits(before, 12, 20) * 4096 + signed_bits(word, 20, 12));
        return true;
    }
    if ((half & 0xf07f) == 0x9002 && (half >> 7 & 31) != 0)
        return true;
    if (abi != SFU_RISCV32 || (half & 0xe003) != 0x2001)
        return false;
    call->direct = true;
    call->target = (ra - 2 + c_jal_distance(half)) & UINT32_MAX;
    return true;
}

/* bl, blx and blx of a register: A32 with each condition. Without blx: a jump behind `mov lr, pc`. */
static bool a32_call(const uint8_t *end, uint64_t ra, struct call *call)
{
    const uint64_t word = number_before(end, 4, false);

    if ((word >> 24 & 15) == 11 && word >> 28 != 15) {
        call->direct = true;
        call->target = (ra + 4 + 4 * (uint64_t)signed_bits(word, 0, 24)) & UINT32_MAX;
        return true;
    }
    return (word & 0xfe000000) == 0xfa000000 || (word & 0x0ffffff0) == 0x012fff30 ||
           (number_before(end - 4, 4, false) & 0x0fffffff) == 0x01a0e00f;
}

/* The same in T32 code, and blxns. RA is without the bit that says so. */
static bool t32_call(const uint8_t *end, uint64_t ra, struct call *call)
{
    const uint64_t high = number_before(end - 2, 2, false), low = number_before(end, 2, false);

    if ((high & 0xf800) == 0xf000 && (low & 0xd000) == 0xd000) {
        const uint64_t s = high >> 10 & 1, i1 = !((low >> 13 & 1) ^ s), i2 = !((low >> 11 & 1) ^ s);
        const uint64_t bits = s << 24 | i1 << 23 | i2 << 22 | (high & 0x3ff) << 12 | (low & 0x7ff) << 1;

        call->direct = true;
        call->target = (ra + (uint64_t)signed_bits(bits, 0, 25)) & UINT32_MAX;
        return true;
    }
    if ((high & 0xf800) == 0xf000 && (low & 0xd001) == 0xc000)
        return true;
    return (low & 0xff83) == 0x4780;
}

/* A32 code calls at multiples of 4; which of both it is, the symbols do not say of every function. */
static bool arm_call(const struct image *image, const uint8_t *end, uint64_t ra, struct call *call)
{
    return t32_call(end, ra, call) || ((ra & 3) == 0 && !image->m_profile && a32_call(end, ra, call));
}

/* Whether symbols mark data at ADDR. If the symbols are broken, nothing is marked. */
static bool is_data(struct image *image, uint64_t addr)
{
    struct filled filled;

    if (!image->has_marked) {
        image->has_marked = true;
        if (filled_read(&filled, image)) {
            image->marked = filled.data;
            image->num_marked = filled.num_data;
        }
    }
    filled = (struct filled){image, image->marked, image->num_marked};
    return filled_is_data(&filled, addr);
}

bool call_before(struct image *image, uint64_t ra, struct call *call)
{
    const uint8_t abi = image->abi;
    const uint8_t *code;
    uint8_t bytes[8] = {0};
    unsigned have = 8;

    memset(call, 0, sizeof *call);
    if (ra % abi_registers(abi)->code_unit != 0)
        return false;
    for (code = NULL; have >= 2 && code == NULL; have -= code == NULL)
        code = ra >= have ? image_instructions(image, ra - have, have) : NULL;
    if (code == NULL || (abi_registers(abi)->link && is_data(image, ra - 1)))
        return false;
    memcpy(bytes + 8 - have, code, have);
    if (abi == SFU_AMD64 || abi == SFU_I386) {
        const bool is_call = x86_call(abi, bytes + 8, ra, call);

        call->target &= abi == SFU_I386 ? UINT32_MAX : UINT64_MAX;
        return is_call;
    }
    if (abi_is_aarch64(abi))
        return aarch64_call(bytes + 8, ra, call);
    if (abi == SFU_S390X)
        return s390x_call(bytes + 8, ra, call);
    if (abi_is_riscv(abi))
        return riscv_call(abi, bytes + 8, ra, call) || (image->zcmp && is_table_call(bytes + 8));
    return arm_call(image, bytes + 8, ra, call);
}

bool call_leads_to(struct image *image, uint64_t target)
{
    const unsigned unit = abi_registers(image->abi)->code_unit;
    struct call call;
    size_t i;
    uint64_t at;

    for (i = 0; i < image->num_code; i++)
        for (at = unit; at <= image->code[i]->size; at += unit)
            if (call_before(image, image->code[i]->addr + at, &call) && call.direct && call.target == target)
                return true;
    return false;
}
