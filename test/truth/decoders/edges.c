/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What ordinary programs have little of: functions of no size, and call frame information that only assembly has.
 * A gas that cannot say something in SFrame leaves the function out, with a warning.
 */
#if defined(__x86_64__)
#define FP    "%rbp"
#define RA    "%rip"
#define OTHER "%r10"
#elif defined(__aarch64__)
#define FP    "x29"
#define RA    "x30"
#define OTHER "x10"
#else
#define FP    "%r11"
#define RA    "%r14"
#define OTHER "%r5"
#endif

#define NOP           ".skip 4\n"
#define OFFSET(n)     ".cfi_def_cfa_offset " n "\n"
#define SAVED(reg, n) ".cfi_offset " reg ", " n "\n"
#define SIGNAL        ".cfi_signal_frame\n"
#define BODY(name, body)                                                                                           \
    ".globl " name "\n.type " name ", %function\n" name ": .cfi_startproc\n" body ".cfi_endproc\n.size " name      \
    ", .-" name "\n"
#define FUNCTION(name, body) __asm__(".text\n" BODY(name, body))

FUNCTION("outermost", ".cfi_undefined " RA "\n" NOP);
FUNCTION("outermost_later", NOP ".cfi_undefined " RA "\n" NOP OFFSET("32") NOP);
FUNCTION("signal_rows", SIGNAL NOP OFFSET("64") NOP);
/* CFA by an expression, which gas does not say in SFrame */
FUNCTION("signal_without_rows", SIGNAL ".cfi_escape 0x0f, 3, 0x75, 0x08, 0x06\n" NOP NOP);
FUNCTION("fp_alone", NOP OFFSET("176") SAVED(FP, "-16") NOP);
FUNCTION("ra_alone", NOP OFFSET("176") SAVED(RA, "-8") NOP);
FUNCTION("cfa_elsewhere", NOP ".cfi_def_cfa " OTHER ", 16\n" NOP SAVED(FP, "-16") SAVED(RA, "-8") NOP);
FUNCTION("fp_elsewhere", NOP ".cfi_register " FP ", " OTHER "\n" NOP);
FUNCTION("fp_base", NOP ".cfi_def_cfa " FP ", 160\n" SAVED(FP, "-16") SAVED(RA, "-8") NOP);
FUNCTION("words_of_2", NOP OFFSET("1200") NOP SAVED(RA, "-1000") SAVED(FP, "-1008") NOP OFFSET("32000") NOP);
FUNCTION("words_of_4", NOP OFFSET("1000000") NOP SAVED(RA, "-999992") SAVED(FP, "-1000000") NOP);
FUNCTION("most", NOP OFFSET("0x7ffffff8") NOP SAVED(FP, "-0x7ffffff8") SAVED(RA, "-0x7ffffff0") NOP);
FUNCTION("address_255", ".skip 254\n" OFFSET("168") ".skip 1\n" OFFSET("176") ".skip 1\n");
FUNCTION("address_256", ".skip 256\n" OFFSET("168") ".skip 1\n");
FUNCTION("address_65535", ".skip 65535\n" OFFSET("168") ".skip 1\n");
FUNCTION("address_65536", ".skip 65536\n" OFFSET("168") ".skip 1\n" OFFSET("176") ".skip 1\n");
FUNCTION("one_byte", ".skip 1\n");

#if defined(__aarch64__)
#define SIGN ".cfi_negate_ra_state\n"
FUNCTION("key_a", SIGN NOP OFFSET("16") SAVED(RA, "-8") SAVED(FP, "-16") NOP SIGN NOP);
FUNCTION("key_b", ".cfi_b_key_frame\n" SIGN NOP OFFSET("32") SAVED(RA, "-24") SAVED(FP, "-32") NOP SIGN NOP);
#elif defined(__s390x__)
/* Here only: FAULTS.md: ld-row-at-end. */
FUNCTION("row_at_end", NOP OFFSET("176"));
FUNCTION("registers", NOP ".cfi_register %r14, %f0\n" NOP ".cfi_register %r11, %f2\n" NOP);
#endif

__asm__(".text\n.irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12\n" BODY("empty_\\n", "") ".endr\n");
FUNCTION("after_empty", NOP OFFSET("200") NOP);

void nothing(void);
void nothing(void)
{
    __builtin_unreachable();
}

int before(int n);
int before(int n)
{
    return n + 1;
}

__attribute__((section(".text.unlikely"))) void nothing_first(void);
void nothing_first(void)
{
    __builtin_unreachable();
}
