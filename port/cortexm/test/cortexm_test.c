/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Exception frames that QEMU's boards do not make, and what fault registers say, on any machine. Offsets and bits are
 * those of the Arm Architecture Reference Manuals: DDI 0403 B1.5.7, DDI 0553 B3.19 and B3.22, D1.2.
 */
#include "sfu_cortexm.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "test/lib/check.h"

enum { BASE = 0x20000000 };

static uint8_t memory[512];
static struct sfu_section section;
static struct sfu_target target;

static void put_word(uint32_t offset, uint32_t value)
{
    unsigned i;

    for (i = 0; i < 4; i++)
        memory[offset + i] = (uint8_t)(value >> 8 * i);
}

/* The basic frame at OFFSET: r0 ... r3, r12, LR, PC, xPSR. */
static void put_frame(uint32_t offset, uint32_t lr, uint32_t pc, uint32_t xpsr)
{
    uint32_t i;

    for (i = 0; i < sizeof memory; i += 4)
        put_word(i, 0xdead0000 + i);
    put_word(offset + 20, lr);
    put_word(offset + 24, pc);
    put_word(offset + 28, xpsr);
}

static int setup(void **state)
{
    (void)state;
    section.abi = SFU_THUMB; /* words of 4 bytes */
    memset(&target, 0, sizeof target);
    target.sections = &section;
    target.stack.bytes = memory;
    target.stack.low = BASE;
    target.stack.high = BASE + sizeof memory;
    return 0;
}

static void check(uint32_t exc_return, uint32_t offset, uint64_t sp, uint64_t fp, uint64_t saved)
{
    struct sfu_interrupted i;

    assert_int_equal(sfu_cortexm_unstack(&target, exc_return, BASE + offset, 0x1234, &i), SFU_OK);
    assert_int_equal(i.regs.pc, 0x8000);
    assert_int_equal(i.regs.ra, 0x9001);
    assert_true(i.regs.has_ra);
    assert_int_equal(i.regs.pc_kind, SFU_PC_EXACT);
    assert_int_equal(i.regs.sp, sp);
    assert_int_equal(i.regs.fp, fp);
    assert_int_equal(i.saved, saved);
    assert_int_equal(i.guess, SFU_GUESS_NONE);
}

static void test_basic(void **state)
{
    (void)state;
    put_frame(64, 0x9001, 0x8000, 1u << 24);
    check(0xfffffff9, 64, BASE + 64 + 32, 0x1234, BASE + 64);
    check(0xfffffffd, 64, BASE + 64 + 32, 0x1234, BASE + 64);
    check(0xffffffbc, 64, BASE + 64 + 32, 0x1234, BASE + 64); /* not secure */
}

/* Memory outside the chip lies up to 0x9fffffff. */
static void test_external_memory(void **state)
{
    struct sfu_interrupted i;

    (void)state;
    put_frame(64, 0x9001, 0x8000, 1u << 24);
    target.stack.low = 0x90000000;
    target.stack.high = 0x90000000 + sizeof memory;
    assert_int_equal(sfu_cortexm_unstack(&target, 0xfffffffd, 0x90000000 + 64, 0x1234, &i), SFU_OK);
    assert_true(i.regs.pc == 0x8000 && i.regs.ra == 0x9001 && i.regs.sp == 0x90000000 + 64 + 32);
}

/* xPSR bit 9: SP was a multiple of 4 alone. */
static void test_padding(void **state)
{
    (void)state;
    put_frame(64, 0x9001, 0x8000, 1u << 24 | 1u << 9);
    check(0xfffffff9, 64, BASE + 64 + 36, 0x1234, BASE + 64);
    check(0xffffffe9, 64, BASE + 64 + 108, 0x1234, BASE + 64);
    put_frame(64, 0x9001, 0x8000, 1u << 24 | 0x1ff); /* all bits of an exception's number */
    check(0xfffffff1, 64, BASE + 64 + 32, 0x1234, BASE + 64);
}

/* EXC_RETURN bit 4 clear: s0 to s15, FPSCR and a word more. */
static void test_fpu(void **state)
{
    (void)state;
    put_frame(64, 0x9001, 0x8000, 1u << 24);
    check(0xffffffe9, 64, BASE + 64 + 104, 0x1234, BASE + 64);
    check(0xffffffed, 64, BASE + 64 + 104, 0x1234, BASE + 64);
}

/* EXC_RETURN bit 5 clear: a signature, a word and r4 to r11 lie below; r7 is the sixth. */
static void test_callees(void **state)
{
    (void)state;
    put_frame(64 + 40, 0x9001, 0x8000, 1u << 24);
    put_word(64, 0xfefa125a);
    put_word(64 + 8 + 12, 0x20000180);
    check(0xffffffd9, 64, BASE + 64 + 40 + 32, 0x20000180, BASE + 64 + 40);
    check(0xffffffc9, 64, BASE + 64 + 40 + 104, 0x20000180, BASE + 64 + 40);
}

/* Software may have set bit 0 of the PC. */
static void test_odd_pc(void **state)
{
    (void)state;
    put_frame(64, 0x9001, 0x8001, 1u << 24);
    check(0xfffffff9, 64, BASE + 64 + 32, 0x1234, BASE + 64);
}

/* Nothing is read outside of the stack, and nothing is changed. */
static void test_outside(void **state)
{
    const uint32_t at[] = {BASE - 32, BASE + sizeof memory - 28, BASE + sizeof memory, 0, 0xfffffff0};
    struct sfu_interrupted i, before;
    size_t n;

    (void)state;
    memset(&i, 0x5a, sizeof i);
    before = i;
    for (n = 0; n < sizeof at / sizeof at[0]; n++) {
        assert_int_equal(sfu_cortexm_unstack(&target, 0xfffffff9, at[n], 0, &i), SFU_E_STACK);
        assert_memory_equal(&i, &before, sizeof i);
    }
    assert_int_equal(sfu_cortexm_unstack(&target, 0xffffffd9, BASE + sizeof memory - 40, 0, &i), SFU_E_STACK);
}

/* ---- words ---- */

static char printed[2048];
static size_t length;

static void put(void *ctx, char c)
{
    (void)ctx;
    if (length + 1 < sizeof printed)
        printed[length++] = c;
}

static const char *explain(const struct sfu_cortexm_fault *fault)
{
    static const struct sfu_panic panic = {.put = put};

    length = 0;
    memset(printed, 0, sizeof printed);
    sfu_cortexm_explain(&panic, fault);
    return printed;
}

static void test_addresses(void **state)
{
    struct sfu_cortexm_fault f = {.exception = 5, .exc_return = 0xfffffff1, .has_reasons = true};

    (void)state;
    f.bfar = 0x40001234;
    f.cfsr = 1u << 9 | 1u << 15;
    assert_string_equal(explain(&f), "fault: BusFault, in an exception, main stack\n"
                                     "  BusFault: data access, precise; address 0x40001234\n"
                                     "CFSR 0x00008200 HFSR 0x00000000 MMFAR 0x00000000 BFAR 0x40001234\n");
    f.cfsr = 1u << 9; /* BFAR is not valid */
    assert_null(strstr(explain(&f), "address"));
    f.cfsr = 1u << 9 | 1u << 7; /* but MMFAR is */
    assert_null(strstr(explain(&f), "address"));
    f.cfsr = 1u << 1 | 1u << 15;
    assert_null(strstr(explain(&f), "address"));
    f.cfsr = 1u << 10;
    assert_non_null(strstr(explain(&f), "data access, not precise: before PC\n"));
    f.exception = 4;
    f.exc_return = 0xfffffffd;
    f.mmfar = 0x20000010;
    f.cfsr = 1u << 1 | 1u << 7;
    assert_non_null(strstr(explain(&f), "fault: MemManage, thread mode, process stack\n"
                                        "  MemManage: no right to this data; address 0x20000010\n"));
}

/* Each bit that the manuals name has a line, the others have none. */
static void test_bits(void **state)
{
    const uint32_t named = 0x3u | 1u << 3 | 1u << 4 | 1u << 5 | 0x3f00u | 0x1f0000u | 3u << 24;
    struct sfu_cortexm_fault f = {.exception = 3, .exc_return = 0xfffffff9, .has_reasons = true};
    unsigned bit;

    (void)state;
    for (bit = 0; bit < 32; bit++) {
        f.cfsr = 1u << bit;
        assert_int_equal(strstr(explain(&f), "\n  ") != NULL, named >> bit & 1);
        if ((named >> bit & 1) != 0)
            assert_non_null(strstr(printed, bit < 8    ? "\n  MemManage: "
                                            : bit < 16 ? "\n  BusFault: "
                                                       : "\n  UsageFault: "));
    }
    f.cfsr = 0;
    f.hfsr = 1u << 31;
    assert_non_null(strstr(explain(&f), "  HardFault: BKPT without a debugger\n"));
    f.hfsr = 1u << 1;
    assert_non_null(strstr(explain(&f), "  HardFault: the vector table could not be read\n"));
    f.hfsr = 1u << 30;
    assert_non_null(strstr(explain(&f), "  HardFault: SVC or BKPT, but its handler may not run here\n"));
    f.sfsr = 1;
    assert_null(strstr(explain(&f), "\n  "));
    f.sfsr = 0;
    f.cfsr = 1u << 7;
    assert_null(strstr(explain(&f), "\n  "));
}

/* The numbers of exceptions, and of those around them. */
static void test_names(void **state)
{
    static const char *const names[] = {"exception", "exception",  "NMI",         "HardFault", "MemManage",
                                        "BusFault",  "UsageFault", "SecureFault", "exception", "exception"};
    struct sfu_cortexm_fault f = {.exc_return = 0xfffffff1};
    char expected[32];

    (void)state;
    for (f.exception = 0; f.exception < sizeof names / sizeof names[0]; f.exception++) {
        assert_true(strlen(names[f.exception]) < 16);
        strcpy(expected, "fault: ");
        strcat(expected, names[f.exception]);
        strcat(expected, ", in");
        assert_ptr_equal(strstr(explain(&f), expected), printed);
    }
}

/* Each register is printed as what it is, those of the secure state only if they say something. */
static void test_registers(void **state)
{
    struct sfu_cortexm_fault f = {.exception = 7, .exc_return = 0xfffffffd, .has_reasons = true};

    (void)state;
    f.cfsr = 0x10;
    f.hfsr = 0x40000000;
    f.mmfar = 0x20000001;
    f.bfar = 0x20000002;
    f.sfar = 0x20000003;
    assert_non_null(strstr(explain(&f), "\nCFSR 0x00000010 HFSR 0x40000000 MMFAR 0x20000001 BFAR 0x20000002\n"));
    f.sfsr = 0x48;
    assert_non_null(strstr(explain(&f), " BFAR 0x20000002 SFSR 0x00000048 SFAR 0x20000003\n"));
}

static void test_no_reasons(void **state)
{
    struct sfu_cortexm_fault f = {.exception = 3, .exc_return = 0xfffffff9, .has_xpsr = true, .thumb = true};

    (void)state;
    assert_string_equal(explain(&f), "fault: HardFault, thread mode, main stack\n");
    f.thumb = false;
    assert_string_equal(explain(&f), "fault: HardFault, thread mode, main stack\n"
                                     "  jump to an even address: not Thumb\n");
}

static void test_limit(void **state)
{
    struct sfu_cortexm_fault f = {.exception = 7, .exc_return = 0xfffffffd, .sp = 0x20000400, .limit = 0x20000400};

    (void)state;
    assert_string_equal(explain(&f), "fault: SecureFault, thread mode, process stack\n"
                                     "SP 0x20000400 limit 0x20000400\n");
    for (f.exception = 8; f.exception <= 11; f.exception++)
        assert_non_null(strstr(explain(&f), "fault: exception, "));
}

int main(void)
{
    const struct check_test tests[] = {
        CHECK_SETUP(test_basic, setup),
        CHECK_SETUP(test_padding, setup),
        CHECK_SETUP(test_fpu, setup),
        CHECK_SETUP(test_callees, setup),
        CHECK_SETUP(test_odd_pc, setup),
        CHECK_SETUP(test_outside, setup),
        CHECK_SETUP(test_addresses, setup),
        CHECK_SETUP(test_bits, setup),
        CHECK_SETUP(test_names, setup),
        CHECK_SETUP(test_registers, setup),
        CHECK_SETUP(test_no_reasons, setup),
        CHECK_SETUP(test_limit, setup),
        CHECK_SETUP(test_external_memory, setup),
    };

    return check_run(NULL, tests);
}
