/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * s390x: the first byte of an instruction says its size, and where the rest of its code stands. What moves SP, FP and
 * RA is known here one by one; of all others a table says which registers and how many bytes of memory they write. What
 * is not in the table could write everything. Names and formats are those of "z/Architecture Principles of Operation".
 */
#include "fact.h"

#include <string.h>

enum { R0, R1, R2, R5 = 5, R11 = 11, R14 = 14, R15, F0, F7 = 23 };
/* A register that no store knows: memory that counts from it may be anywhere. */
enum { ANYWHERE = CODE_TARGET };

/* ---- Fields ---------------------------------------------------------------------------------------------------- */

static unsigned high(uint8_t byte)
{
    return byte >> 4;
}

static unsigned low(uint8_t byte)
{
    return byte & 15;
}

static int64_t half(const uint8_t *p)
{
    return (int16_t)load_number(p, 2, true);
}

static int64_t word(const uint8_t *p)
{
    return (int32_t)load_number(p, 4, true);
}

/* A displacement of 12 bits at P, behind its base; with 8 more, which come last, one of 20 bits with a sign. */
static int64_t displacement(const uint8_t *p)
{
    return (int64_t)(load_number(p, 2, true) & 0xfff);
}

static int64_t long_displacement(const uint8_t *p)
{
    return displacement(p) + 4096 * (int64_t)(int8_t)p[2];
}

/* The DWARF number of the floating-point register N. */
static uint8_t float_number(unsigned n)
{
    static const uint8_t number[] = {16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31};

    return number[n & 15];
}

/* REG as a base or an index: 0 stands for no register. */
static uint8_t based(unsigned reg)
{
    return reg == 0 ? (uint8_t)CODE_ZERO : (uint8_t)reg;
}

/* ---- What other instructions write ----------------------------------------------------------------------------- */

/* Where a register stands that is written. LOAD_MANY: from the first of byte 1 up to the second. */
enum {
    NOTHING = 0,
    BYTE1 = 1 << 0,     /* in the high half of byte 1 */
    BYTE1_LOW = 1 << 1, /* in its low half */
    BYTE3 = 1 << 2,     /* the same of byte 3 */
    BYTE3_LOW = 1 << 3, /* */
    BYTE2 = 1 << 4,     /* in the high half of byte 2 */
    BYTE4 = 1 << 5,     /* in the high half of byte 4 */
    PAIRS = 1 << 6,     /* each with the odd one that follows an even one; of floating point, the second next */
    FLOATS = 1 << 7,    /* those are registers of floating point */
    VECTOR = 1 << 8,    /* that in byte 1 is one of vectors, of which the first 16 have those in them */
    LOAD_MANY = 1 << 9,
    R0_TO_R2 = 1 << 10,   /* these without being named */
    AT_12 = 1 << 11,      /* bytes of memory, at base and displacement in bytes 2 and 3 */
    AT_20 = 1 << 12,      /* the same with byte 4 */
    INDEXED = 1 << 13,    /* an index is in the low half of byte 1 */
    STORE_MANY = 1 << 14, /* as many times as LOAD_MANY has registers */
    STRING = 1 << 15,     /* as many bytes as byte 1 says, and one more */
    DIGITS = 1 << 16      /* as many as its high half says, and one more */
};

/* Bytes of memory: 256. */
enum { MANY = UINT8_MAX };
enum { RX = AT_12 | INDEXED, RXY = AT_20 | INDEXED, RRE_PAIRS = BYTE3 | BYTE3_LOW | PAIRS };

/* Instructions whose code begins with BYTE and goes on with FIRST to LAST, where CODE has it; those of one byte are in
 * the group 0. */
struct facts {
    uint8_t group, first, last, bytes;
    uint32_t writes;
};

static const struct facts facts[] = {
    /* RR: 04 spm; 0e mvcl, 0f clcl; 10 lpr ... 15 clr ... 19 cr ... 1c mr, 1d dr ... 1f slr; floating point */
    {0, 0x04, 0x04, 0, NOTHING},
    {0, 0x0e, 0x0f, 0, BYTE1 | BYTE1_LOW | PAIRS},
    {0, 0x10, 0x14, 0, BYTE1},
    {0, 0x15, 0x15, 0, NOTHING},
    {0, 0x16, 0x18, 0, BYTE1},
    {0, 0x19, 0x19, 0, NOTHING},
    {0, 0x1a, 0x1b, 0, BYTE1},
    {0, 0x1c, 0x1d, 0, BYTE1 | PAIRS},
    {0, 0x1e, 0x1f, 0, BYTE1},
    {0, 0x20, 0x25, 0, BYTE1 | FLOATS},
    {0, 0x26, 0x27, 0, BYTE1 | FLOATS | PAIRS},
    {0, 0x28, 0x28, 0, BYTE1 | FLOATS},
    {0, 0x29, 0x29, 0, NOTHING},
    {0, 0x2a, 0x35, 0, BYTE1 | FLOATS},
    {0, 0x36, 0x37, 0, BYTE1 | FLOATS | PAIRS},
    {0, 0x38, 0x38, 0, BYTE1 | FLOATS},
    {0, 0x39, 0x39, 0, NOTHING},
    {0, 0x3a, 0x3f, 0, BYTE1 | FLOATS},
    /* RX: sth, stc, ic; lh, ch, ah, sh, mh, cvd, cvb; st, lae; n, cl, o, x, l, c, a, s, m, d, al, sl */
    {0, 0x40, 0x40, 2, RX},
    {0, 0x42, 0x42, 1, RX},
    {0, 0x43, 0x43, 0, BYTE1},
    {0, 0x48, 0x48, 0, BYTE1},
    {0, 0x49, 0x49, 0, NOTHING},
    {0, 0x4a, 0x4c, 0, BYTE1},
    {0, 0x4e, 0x4e, 8, RX},
    {0, 0x4f, 0x4f, 0, BYTE1},
    {0, 0x50, 0x50, 4, RX},
    {0, 0x51, 0x51, 0, BYTE1},
    {0, 0x54, 0x54, 0, BYTE1},
    {0, 0x55, 0x55, 0, NOTHING},
    {0, 0x56, 0x58, 0, BYTE1},
    {0, 0x59, 0x59, 0, NOTHING},
    {0, 0x5a, 0x5b, 0, BYTE1},
    {0, 0x5c, 0x5d, 0, BYTE1 | PAIRS},
    {0, 0x5e, 0x5f, 0, BYTE1},
    /* std, ld and others of floating point; ste; ms; le and others */
    {0, 0x60, 0x60, 8, RX},
    {0, 0x67, 0x67, 0, BYTE1 | FLOATS | PAIRS},
    {0, 0x68, 0x68, 0, BYTE1 | FLOATS},
    {0, 0x69, 0x69, 0, NOTHING},
    {0, 0x6a, 0x6f, 0, BYTE1 | FLOATS},
    {0, 0x70, 0x70, 4, RX},
    {0, 0x71, 0x71, 0, BYTE1},
    {0, 0x78, 0x78, 0, BYTE1 | FLOATS},
    {0, 0x79, 0x79, 0, NOTHING},
    {0, 0x7a, 0x7f, 0, BYTE1 | FLOATS},
    /* RS, SI: ssm; shifts; stm, tm, mvi, ts, ni, cli, oi, xi, lm, lam, stam; mvcle, clcle; stnsm, stosm, sigp, mc */
    {0, 0x80, 0x80, 0, NOTHING},
    {0, 0x88, 0x8b, 0, BYTE1},
    {0, 0x8c, 0x8f, 0, BYTE1 | PAIRS},
    {0, 0x90, 0x90, 4, AT_12 | STORE_MANY},
    {0, 0x91, 0x91, 0, NOTHING},
    {0, 0x92, 0x94, 1, AT_12},
    {0, 0x96, 0x97, 1, AT_12},
    {0, 0x98, 0x98, 0, LOAD_MANY},
    {0, 0x9a, 0x9a, 0, NOTHING},
    {0, 0x9b, 0x9b, 4, AT_12 | STORE_MANY},
    {0, 0xa8, 0xa9, 0, BYTE1 | BYTE1_LOW | PAIRS},
    {0, 0xac, 0xad, 1, AT_12},
    {0, 0xae, 0xae, 0, BYTE1},
    {0, 0xaf, 0xaf, 0, NOTHING},
    /* lra; stctl, lctl; cs, cds; clm, stcm, icm */
    {0, 0xb1, 0xb1, 0, BYTE1},
    {0, 0xb6, 0xb6, 4, AT_12 | STORE_MANY},
    {0, 0xb7, 0xb7, 0, NOTHING},
    {0, 0xba, 0xba, 4, AT_12 | BYTE1},
    {0, 0xbb, 0xbb, 8, AT_12 | BYTE1 | PAIRS},
    {0, 0xbd, 0xbd, 0, NOTHING},
    {0, 0xbe, 0xbe, 4, AT_12},
    {0, 0xbf, 0xbf, 0, BYTE1},
    /* SMI, MII: bpp, bprp; SS: trtr, mvn, mvc, mvz, nc, clc, oc, xc, tr, trt, ed, edmk; pku, unpku; mvcin, pka, unpka;
     * lmd; with two lengths */
    {0, 0xc5, 0xc5, 0, NOTHING},
    {0, 0xc7, 0xc7, 0, NOTHING},
    {0, 0xd0, 0xd0, 0, R0_TO_R2},
    {0, 0xd1, 0xd4, 0, AT_12 | STRING},
    {0, 0xd5, 0xd5, 0, NOTHING},
    {0, 0xd6, 0xd7, 0, AT_12 | STRING},
    {0, 0xdc, 0xdc, 0, AT_12 | STRING},
    {0, 0xdd, 0xdd, 0, R0_TO_R2},
    {0, 0xde, 0xde, 0, AT_12 | STRING},
    {0, 0xdf, 0xdf, 0, AT_12 | STRING | R0_TO_R2},
    {0, 0xe1, 0xe1, 16, AT_12},
    {0, 0xe2, 0xe2, 0, AT_12 | STRING},
    {0, 0xe8, 0xe8, 0, AT_12 | STRING},
    {0, 0xe9, 0xe9, 16, AT_12},
    {0, 0xea, 0xea, 0, AT_12 | STRING},
    {0, 0xef, 0xef, 0, LOAD_MANY},
    {0, 0xf0, 0xf3, 0, AT_12 | DIGITS},
    {0, 0xf8, 0xf8, 0, AT_12 | DIGITS},
    {0, 0xf9, 0xf9, 0, NOTHING},
    {0, 0xfa, 0xfd, 0, AT_12 | DIGITS},
    /* E: sam24, sam31, sam64 */
    {0x01, 0x0c, 0x0e, 0, NOTHING},
    /* RI: iihh ... llill; tmlh ... tmhl; lhi, lghi, ahi, aghi, mhi, mghi; chi, cghi */
    {0xa5, 0x0, 0xf, 0, BYTE1},
    {0xa7, 0x0, 0x3, 0, NOTHING},
    {0xa7, 0x8, 0xd, 0, BYTE1},
    {0xa7, 0xe, 0xf, 0, NOTHING},
    /* S, RRE: stidp; sck, stck, sckc, stckc, spt, stpt, spka; ipk; ptlb; spx, stpx, stap; sac; servc; ipm, ivsk, iac;
     * epar, esar; cksm; sar, ear; msr; mvst; clst, srst; stcke, sacf, stckf; srnm; stfpc, lfpc; tre, cu21, cu12; stfle,
     * stfl; etnd; tend, niai, tabort */
    {0xb2, 0x02, 0x02, 8, AT_12},
    {0xb2, 0x04, 0x04, 0, NOTHING},
    {0xb2, 0x05, 0x05, 8, AT_12},
    {0xb2, 0x06, 0x06, 0, NOTHING},
    {0xb2, 0x07, 0x07, 8, AT_12},
    {0xb2, 0x08, 0x08, 0, NOTHING},
    {0xb2, 0x09, 0x09, 8, AT_12},
    {0xb2, 0x0a, 0x0a, 0, NOTHING},
    {0xb2, 0x0b, 0x0b, 0, R0_TO_R2},
    {0xb2, 0x0d, 0x0d, 0, NOTHING},
    {0xb2, 0x10, 0x10, 0, NOTHING},
    {0xb2, 0x11, 0x12, 4, AT_12},
    {0xb2, 0x19, 0x19, 0, NOTHING},
    {0xb2, 0x20, 0x20, 0, NOTHING},
    {0xb2, 0x22, 0x24, 0, BYTE3},
    {0xb2, 0x26, 0x27, 0, BYTE3},
    {0xb2, 0x41, 0x41, 0, RRE_PAIRS},
    {0xb2, 0x4e, 0x4e, 0, NOTHING},
    {0xb2, 0x4f, 0x4f, 0, BYTE3},
    {0xb2, 0x52, 0x52, 0, BYTE3},
    {0xb2, 0x55, 0x55, 0, BYTE3 | BYTE3_LOW},
    {0xb2, 0x5d, 0x5e, 0, BYTE3 | BYTE3_LOW},
    {0xb2, 0x78, 0x78, 16, AT_12},
    {0xb2, 0x79, 0x79, 0, NOTHING},
    {0xb2, 0x7c, 0x7c, 8, AT_12},
    {0xb2, 0x99, 0x99, 0, NOTHING},
    {0xb2, 0x9c, 0x9c, 4, AT_12},
    {0xb2, 0x9d, 0x9d, 0, NOTHING},
    {0xb2, 0xa5, 0xa5, 0, BYTE3 | PAIRS},
    {0xb2, 0xa6, 0xa7, 0, RRE_PAIRS},
    {0xb2, 0xb0, 0xb0, MANY, AT_12 | R0_TO_R2},
    {0xb2, 0xb1, 0xb1, 0, NOTHING},
    {0xb2, 0xec, 0xec, 0, BYTE3},
    {0xb2, 0xf8, 0xf8, 0, NOTHING},
    {0xb2, 0xfa, 0xfa, 0, NOTHING},
    {0xb2, 0xfc, 0xfc, 0, NOTHING},
    /* RRE, RRF, RRD, of floating point; maebr ... and their like have R1 in byte 2; sfpc, efpc; to general registers:
     * cfebr ..., cgebr ..., cgdtr, cudtr, csdtr, eedtr, esdtr, cgxtr, cuxtr, csxtr, eextr, esxtr */
    {0xb3, 0x00, 0x04, 0, BYTE3 | FLOATS},
    {0xb3, 0x05, 0x07, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0x08, 0x09, 0, NOTHING},
    {0xb3, 0x0a, 0x0d, 0, BYTE3 | FLOATS},
    {0xb3, 0x0e, 0x0f, 0, BYTE2 | FLOATS},
    {0xb3, 0x10, 0x15, 0, BYTE3 | FLOATS},
    {0xb3, 0x16, 0x16, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0x17, 0x17, 0, BYTE3 | FLOATS},
    {0xb3, 0x18, 0x19, 0, NOTHING},
    {0xb3, 0x1a, 0x1d, 0, BYTE3 | FLOATS},
    {0xb3, 0x1e, 0x1f, 0, BYTE2 | FLOATS},
    {0xb3, 0x24, 0x24, 0, BYTE3 | FLOATS},
    {0xb3, 0x25, 0x26, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0x2e, 0x2f, 0, BYTE2 | FLOATS},
    {0xb3, 0x36, 0x36, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0x37, 0x37, 0, BYTE3 | FLOATS},
    {0xb3, 0x38, 0x39, 0, BYTE2 | FLOATS},
    {0xb3, 0x3a, 0x3b, 0, BYTE2 | FLOATS | PAIRS},
    {0xb3, 0x3c, 0x3d, 0, BYTE2 | FLOATS},
    {0xb3, 0x3e, 0x3f, 0, BYTE2 | FLOATS},
    {0xb3, 0x40, 0x43, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0x44, 0x46, 0, BYTE3 | FLOATS},
    {0xb3, 0x47, 0x47, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0x48, 0x49, 0, NOTHING},
    {0xb3, 0x4a, 0x4d, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0x50, 0x51, 0, BYTE3 | FLOATS},
    {0xb3, 0x53, 0x53, 0, BYTE2 | BYTE3 | FLOATS},
    {0xb3, 0x57, 0x59, 0, BYTE3 | FLOATS},
    {0xb3, 0x5b, 0x5b, 0, BYTE2 | BYTE3 | FLOATS},
    {0xb3, 0x5f, 0x5f, 0, BYTE3 | FLOATS},
    {0xb3, 0x60, 0x63, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0x65, 0x65, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0x66, 0x66, 0, BYTE3 | FLOATS},
    {0xb3, 0x67, 0x67, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0x70, 0x75, 0, BYTE3 | FLOATS},
    {0xb3, 0x76, 0x76, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0x77, 0x77, 0, BYTE3 | FLOATS},
    {0xb3, 0x7f, 0x7f, 0, BYTE3 | FLOATS},
    {0xb3, 0x84, 0x84, 0, NOTHING},
    {0xb3, 0x8c, 0x8c, 0, BYTE3},
    {0xb3, 0x90, 0x91, 0, BYTE3 | FLOATS},
    {0xb3, 0x92, 0x92, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0x94, 0x95, 0, BYTE3 | FLOATS},
    {0xb3, 0x96, 0x96, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0x98, 0x9a, 0, BYTE3},
    {0xb3, 0x9c, 0x9e, 0, BYTE3},
    {0xb3, 0xa0, 0xa1, 0, BYTE3 | FLOATS},
    {0xb3, 0xa2, 0xa2, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0xa4, 0xa5, 0, BYTE3 | FLOATS},
    {0xb3, 0xa6, 0xa6, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0xa8, 0xaa, 0, BYTE3},
    {0xb3, 0xac, 0xae, 0, BYTE3},
    {0xb3, 0xb4, 0xb5, 0, BYTE3 | FLOATS},
    {0xb3, 0xb6, 0xb6, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0xb8, 0xba, 0, BYTE3},
    {0xb3, 0xc4, 0xc5, 0, BYTE3 | FLOATS},
    {0xb3, 0xc6, 0xc6, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0xc8, 0xca, 0, BYTE3},
    {0xb3, 0xd0, 0xd7, 0, BYTE3 | FLOATS},
    {0xb3, 0xd8, 0xdc, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0xdd, 0xdd, 0, BYTE3 | FLOATS},
    {0xb3, 0xde, 0xdf, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0xe0, 0xe0, 0, NOTHING},
    {0xb3, 0xe1, 0xe3, 0, BYTE3},
    {0xb3, 0xe4, 0xe4, 0, NOTHING},
    {0xb3, 0xe5, 0xe5, 0, BYTE3},
    {0xb3, 0xe7, 0xe7, 0, BYTE3},
    {0xb3, 0xe8, 0xe8, 0, NOTHING},
    {0xb3, 0xe9, 0xe9, 0, BYTE3},
    {0xb3, 0xea, 0xeb, 0, BYTE3 | PAIRS},
    {0xb3, 0xec, 0xec, 0, NOTHING},
    {0xb3, 0xed, 0xed, 0, BYTE3},
    {0xb3, 0xef, 0xef, 0, BYTE3},
    {0xb3, 0xf1, 0xf3, 0, BYTE3 | FLOATS},
    {0xb3, 0xf4, 0xf4, 0, NOTHING},
    {0xb3, 0xf5, 0xf7, 0, BYTE3 | FLOATS},
    {0xb3, 0xf9, 0xfb, 0, BYTE3 | FLOATS | PAIRS},
    {0xb3, 0xfc, 0xfc, 0, NOTHING},
    {0xb3, 0xfd, 0xfe, 0, BYTE3 | FLOATS | PAIRS},
    /* RRE, RRF: lpgr ... lgr, lgbr ... msgr, dsgr, lrvgr, lpgfr ... msgfr, dsgfr, lrvr; cgr, clgr; lbr, lhr; cgfr,
     * clgfr; nngrk ...; crt ...; nnrk ...; ngr, ogr, xgr, flogr, llgcr, llghr, mlgr, dlgr, alcgr, slbgr, epsw; trtt
     * ... troo; llcr, llhr, mlr, dlr, alcr, slbr; cu14 ...; trtre, srstu, trte; selfhr, of high words; chhr ...;
     * locfhr, popcnt, locgr, selgr, ngrk ... slgrk, mgrk, msgrkc, selr, locr, nrk ... slrk, msrkc */
    {0xb9, 0x00, 0x04, 0, BYTE3},
    {0xb9, 0x06, 0x0c, 0, BYTE3},
    {0xb9, 0x0d, 0x0d, 0, BYTE3 | PAIRS},
    {0xb9, 0x0f, 0x14, 0, BYTE3},
    {0xb9, 0x16, 0x1c, 0, BYTE3},
    {0xb9, 0x1d, 0x1d, 0, BYTE3 | PAIRS},
    {0xb9, 0x1e, 0x1e, 0, BYTE3_LOW | PAIRS},
    {0xb9, 0x1f, 0x1f, 0, BYTE3},
    {0xb9, 0x20, 0x21, 0, NOTHING},
    {0xb9, 0x26, 0x27, 0, BYTE3},
    {0xb9, 0x2e, 0x2f, 0, RRE_PAIRS},
    {0xb9, 0x30, 0x31, 0, NOTHING},
    {0xb9, 0x3c, 0x3c, 0, RRE_PAIRS},
    {0xb9, 0x3e, 0x3f, 0, RRE_PAIRS},
    {0xb9, 0x60, 0x61, 0, NOTHING},
    {0xb9, 0x64, 0x67, 0, BYTE3},
    {0xb9, 0x72, 0x73, 0, NOTHING},
    {0xb9, 0x74, 0x77, 0, BYTE3},
    {0xb9, 0x80, 0x82, 0, BYTE3},
    {0xb9, 0x83, 0x83, 0, BYTE3 | PAIRS},
    {0xb9, 0x86, 0x87, 0, BYTE3 | PAIRS},
    {0xb9, 0x88, 0x89, 0, BYTE3},
    {0xb9, 0x8d, 0x8d, 0, BYTE3 | BYTE3_LOW},
    {0xb9, 0x90, 0x93, 0, RRE_PAIRS},
    {0xb9, 0x96, 0x97, 0, BYTE3 | PAIRS},
    {0xb9, 0x98, 0x99, 0, BYTE3},
    {0xb9, 0xb0, 0xb3, 0, RRE_PAIRS},
    {0xb9, 0xbd, 0xbf, 0, RRE_PAIRS},
    {0xb9, 0xc0, 0xc0, 0, BYTE3},
    {0xb9, 0xc8, 0xcb, 0, BYTE3},
    {0xb9, 0xcd, 0xcd, 0, NOTHING},
    {0xb9, 0xcf, 0xcf, 0, NOTHING},
    {0xb9, 0xd8, 0xdb, 0, BYTE3},
    {0xb9, 0xdd, 0xdd, 0, NOTHING},
    {0xb9, 0xdf, 0xdf, 0, NOTHING},
    {0xb9, 0xe0, 0xeb, 0, BYTE3},
    {0xb9, 0xec, 0xec, 0, BYTE3 | PAIRS},
    {0xb9, 0xed, 0xed, 0, BYTE3},
    {0xb9, 0xf0, 0xf0, 0, BYTE3},
    {0xb9, 0xf2, 0xf2, 0, BYTE3},
    {0xb9, 0xf4, 0xfb, 0, BYTE3},
    {0xb9, 0xfd, 0xfd, 0, BYTE3},
    /* RIL: larl, lgfi, xihf ... llilf; msgfi ... alfi; cgfi ...; llhrl ... llghrl, sthrl, stgrl, lgfrl, lrl,
     * llgfrl, strl; pfdrl, cghrl ...; SSF: mvcos, ectg, lpd, lpdg; aih, alsih, alsihn; cih, clih */
    {0xc0, 0x6, 0xf, 0, BYTE1},
    {0xc2, 0x0, 0x1, 0, BYTE1},
    {0xc2, 0x4, 0x5, 0, BYTE1},
    {0xc2, 0x8, 0xb, 0, BYTE1},
    {0xc2, 0xc, 0xf, 0, NOTHING},
    {0xc4, 0x2, 0x2, 0, BYTE1},
    {0xc4, 0x4, 0x6, 0, BYTE1},
    {0xc4, 0x7, 0x7, 0, NOTHING},
    {0xc4, 0xb, 0xb, 0, NOTHING},
    {0xc4, 0xc, 0xe, 0, BYTE1},
    {0xc4, 0xf, 0xf, 0, NOTHING},
    {0xc6, 0x2, 0x2, 0, NOTHING},
    {0xc6, 0x4, 0x8, 0, NOTHING},
    {0xc6, 0xa, 0xa, 0, NOTHING},
    {0xc6, 0xc, 0xf, 0, NOTHING},
    {0xc8, 0x1, 0x1, 0, BYTE1 | R0_TO_R2},
    {0xc8, 0x4, 0x5, 0, BYTE1 | PAIRS},
    {0xcc, 0x8, 0x8, 0, BYTE1},
    {0xcc, 0xa, 0xb, 0, BYTE1},
    {0xcc, 0xd, 0xd, 0, NOTHING},
    {0xcc, 0xf, 0xf, 0, NOTHING},
    /* RXY: ltg, lrag, lg; cvby, ag ... msg, dsg, cvbg, lrvg; lt ... lgh, llgf ... msgf, dsgf, lrv, lrvh; cg, clg; stg,
     * ntstg, cvdy; lzrg; cvdg, strvg; cgf, clgf, ltgf, cgh; pfd; agh ... mgh; strv, strvh; sty, msy, msc, ny, cly, oy,
     * xy, ly, cy, ay, sy, mfy, aly, sly; sthy, lay, stcy, icy, laey, lb ... lhy, chy, ahy, shy, mhy; ng, og, xg, msgc,
     * mg, lgat, mlg, dlg, alcg, slbg; stpq, lpq; llgc, llgh, llc, llh, ml, dl, alc, slb, llgtat, llgfat, lat; lbh */
    {0xe3, 0x02, 0x04, 0, BYTE1},
    {0xe3, 0x06, 0x06, 0, BYTE1},
    {0xe3, 0x08, 0x0c, 0, BYTE1},
    {0xe3, 0x0d, 0x0d, 0, BYTE1 | PAIRS},
    {0xe3, 0x0e, 0x0f, 0, BYTE1},
    {0xe3, 0x12, 0x1c, 0, BYTE1},
    {0xe3, 0x1d, 0x1d, 0, BYTE1 | PAIRS},
    {0xe3, 0x1e, 0x1f, 0, BYTE1},
    {0xe3, 0x20, 0x21, 0, NOTHING},
    {0xe3, 0x24, 0x26, 8, RXY},
    {0xe3, 0x2a, 0x2a, 0, BYTE1},
    {0xe3, 0x2e, 0x2e, 16, RXY},
    {0xe3, 0x2f, 0x2f, 8, RXY},
    {0xe3, 0x30, 0x31, 0, NOTHING},
    {0xe3, 0x32, 0x32, 0, BYTE1},
    {0xe3, 0x34, 0x34, 0, NOTHING},
    {0xe3, 0x36, 0x36, 0, NOTHING},
    {0xe3, 0x38, 0x3c, 0, BYTE1},
    {0xe3, 0x3e, 0x3e, 4, RXY},
    {0xe3, 0x3f, 0x3f, 2, RXY},
    {0xe3, 0x50, 0x50, 4, RXY},
    {0xe3, 0x51, 0x51, 0, BYTE1},
    {0xe3, 0x53, 0x54, 0, BYTE1},
    {0xe3, 0x55, 0x55, 0, NOTHING},
    {0xe3, 0x56, 0x58, 0, BYTE1},
    {0xe3, 0x59, 0x59, 0, NOTHING},
    {0xe3, 0x5a, 0x5b, 0, BYTE1},
    {0xe3, 0x5c, 0x5c, 0, BYTE1 | PAIRS},
    {0xe3, 0x5e, 0x5f, 0, BYTE1},
    {0xe3, 0x70, 0x70, 2, RXY},
    {0xe3, 0x72, 0x72, 1, RXY},
    {0xe3, 0x73, 0x73, 0, BYTE1},
    {0xe3, 0x75, 0x78, 0, BYTE1},
    {0xe3, 0x79, 0x79, 0, NOTHING},
    {0xe3, 0x7a, 0x7c, 0, BYTE1},
    {0xe3, 0x80, 0x83, 0, BYTE1},
    {0xe3, 0x84, 0x84, 0, BYTE1 | PAIRS},
    {0xe3, 0x85, 0x85, 0, BYTE1},
    {0xe3, 0x86, 0x87, 0, BYTE1 | PAIRS},
    {0xe3, 0x88, 0x89, 0, BYTE1},
    {0xe3, 0x8e, 0x8e, 16, RXY},
    {0xe3, 0x8f, 0x8f, 0, BYTE1 | PAIRS},
    {0xe3, 0x90, 0x91, 0, BYTE1},
    {0xe3, 0x94, 0x95, 0, BYTE1},
    {0xe3, 0x96, 0x97, 0, BYTE1 | PAIRS},
    {0xe3, 0x98, 0x99, 0, BYTE1},
    {0xe3, 0x9c, 0x9d, 0, BYTE1},
    {0xe3, 0x9f, 0x9f, 0, BYTE1},
    {0xe3, 0xc0, 0xc0, 0, BYTE1},
    {0xe3, 0xc2, 0xc2, 0, BYTE1},
    {0xe3, 0xc3, 0xc3, 1, RXY},
    {0xe3, 0xc4, 0xc4, 0, BYTE1},
    {0xe3, 0xc6, 0xc6, 0, BYTE1},
    {0xe3, 0xc7, 0xc7, 2, RXY},
    {0xe3, 0xc8, 0xc8, 0, BYTE1},
    {0xe3, 0xca, 0xca, 0, BYTE1},
    {0xe3, 0xcb, 0xcb, 4, RXY},
    {0xe3, 0xcd, 0xcd, 0, NOTHING},
    {0xe3, 0xcf, 0xcf, 0, NOTHING},
    /* SIL: mvhhi, mvghi, mvhi; chhsi ... clfhsi; tbegin, tbeginc */
    {0xe5, 0x44, 0x44, 2, AT_12},
    {0xe5, 0x48, 0x48, 8, AT_12},
    {0xe5, 0x4c, 0x4c, 4, AT_12},
    {0xe5, 0x54, 0x55, 0, NOTHING},
    {0xe5, 0x58, 0x59, 0, NOTHING},
    {0xe5, 0x5c, 0x5d, 0, NOTHING},
    {0xe5, 0x60, 0x60, MANY, AT_12},
    {0xe5, 0x61, 0x61, 0, NOTHING},
    /* Vectors: vlebrh ... vler; vstebrh, vstebrg, vstebrf; vstbr, vster; vlrl, vlrlr; vupkz, vstrl, vstrlr */
    {0xe6, 0x01, 0x07, 0, VECTOR},
    {0xe6, 0x09, 0x09, 2, RX},
    {0xe6, 0x0a, 0x0a, 8, RX},
    {0xe6, 0x0b, 0x0b, 4, RX},
    {0xe6, 0x0e, 0x0f, 16, RX},
    {0xe6, 0x35, 0x35, 0, BYTE4 | FLOATS},
    {0xe6, 0x37, 0x37, 0, BYTE4 | FLOATS},
    {0xe6, 0x3c, 0x3d, 0, AT_12 | STRING},
    {0xe6, 0x3f, 0x3f, 16, AT_12},
    /* vleb ... vlbb; vsteb, vsteh, vsteg, vstef; vst; vgeg, vgef; vsceg, vscef; vlgv; vlvg; vll; vlm, vstm: 16
     * bytes each; vstl; all others write the first register */
    {0xe7, 0x00, 0x07, 0, VECTOR},
    {0xe7, 0x08, 0x08, 1, RX},
    {0xe7, 0x09, 0x09, 2, RX},
    {0xe7, 0x0a, 0x0a, 8, RX},
    {0xe7, 0x0b, 0x0b, 4, RX},
    {0xe7, 0x0e, 0x0e, 16, RX},
    {0xe7, 0x12, 0x13, 0, VECTOR},
    {0xe7, 0x1a, 0x1b, 0, NOTHING},
    {0xe7, 0x21, 0x21, 0, BYTE1},
    {0xe7, 0x22, 0x22, 0, VECTOR},
    {0xe7, 0x27, 0x27, 0, BYTE1},
    {0xe7, 0x30, 0x30, 0, VECTOR},
    {0xe7, 0x33, 0x33, 0, VECTOR},
    {0xe7, 0x36, 0x36, 0, LOAD_MANY | VECTOR},
    {0xe7, 0x37, 0x37, 0, VECTOR},
    {0xe7, 0x3e, 0x3e, 16, AT_12 | STORE_MANY},
    {0xe7, 0x3f, 0x3f, 16, AT_12},
    {0xe7, 0x40, 0x46, 0, VECTOR},
    {0xe7, 0x4a, 0x4a, 0, VECTOR},
    {0xe7, 0x4d, 0x4d, 0, VECTOR},
    {0xe7, 0x50, 0x50, 0, VECTOR},
    {0xe7, 0x52, 0x53, 0, VECTOR},
    {0xe7, 0x56, 0x56, 0, VECTOR},
    {0xe7, 0x5c, 0x5c, 0, VECTOR},
    {0xe7, 0x5f, 0x62, 0, VECTOR},
    {0xe7, 0x64, 0x70, 0, VECTOR},
    {0xe7, 0x72, 0x75, 0, VECTOR},
    {0xe7, 0x77, 0x78, 0, VECTOR},
    {0xe7, 0x7a, 0x7a, 0, VECTOR},
    {0xe7, 0x7c, 0x82, 0, VECTOR},
    {0xe7, 0x84, 0x87, 0, VECTOR},
    {0xe7, 0x8a, 0x8f, 0, VECTOR},
    {0xe7, 0x94, 0x95, 0, VECTOR},
    {0xe7, 0x97, 0x97, 0, VECTOR},
    {0xe7, 0x9e, 0x9f, 0, VECTOR},
    {0xe7, 0xa1, 0xa7, 0, VECTOR},
    {0xe7, 0xa9, 0xaf, 0, VECTOR},
    {0xe7, 0xb4, 0xb4, 0, VECTOR},
    {0xe7, 0xb8, 0xb9, 0, VECTOR},
    {0xe7, 0xbb, 0xbd, 0, VECTOR},
    {0xe7, 0xbf, 0xc5, 0, VECTOR},
    {0xe7, 0xc7, 0xc7, 0, VECTOR},
    {0xe7, 0xca, 0xcb, 0, NOTHING},
    {0xe7, 0xcc, 0xcc, 0, VECTOR},
    {0xe7, 0xce, 0xce, 0, VECTOR},
    {0xe7, 0xd4, 0xd7, 0, VECTOR},
    {0xe7, 0xd8, 0xd9, 0, NOTHING},
    {0xe7, 0xdb, 0xdb, 0, NOTHING},
    {0xe7, 0xde, 0xdf, 0, VECTOR},
    {0xe7, 0xe2, 0xe3, 0, VECTOR},
    {0xe7, 0xe5, 0xe5, 0, VECTOR},
    {0xe7, 0xe7, 0xe8, 0, VECTOR},
    {0xe7, 0xea, 0xeb, 0, VECTOR},
    {0xe7, 0xee, 0xf3, 0, VECTOR},
    {0xe7, 0xf5, 0xf5, 0, VECTOR},
    {0xe7, 0xf7, 0xf9, 0, VECTOR},
    {0xe7, 0xfb, 0xff, 0, VECTOR},
    /* RSY, SIY: srag, slag, srlg, sllg; csy; rllg, rll; clmh, clmy, clt; stctg, stmh, clgt, stcmh, stcmy, lctlg; csg,
     * cdsy, cdsg; ecag; tmy, mviy, niy, cliy, oiy, xiy; asi, alsi, agsi, algsi; icmh, icmy; mvclu, clclu; stmy, lmh,
     * lmy, lamy, stamy; srak ... sllk; locfh, stocfh, locg, stocg, lang ... laalg, loc, stoc, lan ... laal */
    {0xeb, 0x0a, 0x0d, 0, BYTE1},
    {0xeb, 0x14, 0x14, 4, AT_20 | BYTE1},
    {0xeb, 0x1c, 0x1d, 0, BYTE1},
    {0xeb, 0x20, 0x21, 0, NOTHING},
    {0xeb, 0x23, 0x23, 0, NOTHING},
    {0xeb, 0x25, 0x25, 8, AT_20 | STORE_MANY},
    {0xeb, 0x26, 0x26, 4, AT_20 | STORE_MANY},
    {0xeb, 0x2b, 0x2b, 0, NOTHING},
    {0xeb, 0x2c, 0x2d, 4, AT_20},
    {0xeb, 0x2f, 0x2f, 0, NOTHING},
    {0xeb, 0x30, 0x30, 8, AT_20 | BYTE1},
    {0xeb, 0x31, 0x31, 8, AT_20 | BYTE1 | PAIRS},
    {0xeb, 0x3e, 0x3e, 16, AT_20 | BYTE1 | PAIRS},
    {0xeb, 0x4c, 0x4c, 0, BYTE1},
    {0xeb, 0x51, 0x51, 0, NOTHING},
    {0xeb, 0x52, 0x52, 1, AT_20},
    {0xeb, 0x54, 0x54, 1, AT_20},
    {0xeb, 0x55, 0x55, 0, NOTHING},
    {0xeb, 0x56, 0x57, 1, AT_20},
    {0xeb, 0x6a, 0x6a, 4, AT_20},
    {0xeb, 0x6e, 0x6e, 4, AT_20},
    {0xeb, 0x7a, 0x7a, 8, AT_20},
    {0xeb, 0x7e, 0x7e, 8, AT_20},
    {0xeb, 0x80, 0x81, 0, BYTE1},
    {0xeb, 0x8e, 0x8f, 0, BYTE1 | BYTE1_LOW | PAIRS},
    {0xeb, 0x90, 0x90, 4, AT_20 | STORE_MANY},
    {0xeb, 0x96, 0x96, 0, LOAD_MANY},
    {0xeb, 0x98, 0x98, 0, LOAD_MANY},
    {0xeb, 0x9a, 0x9a, 0, NOTHING},
    {0xeb, 0x9b, 0x9b, 4, AT_20 | STORE_MANY},
    {0xeb, 0xdc, 0xdf, 0, BYTE1},
    {0xeb, 0xe0, 0xe0, 0, BYTE1},
    {0xeb, 0xe1, 0xe1, 4, AT_20},
    {0xeb, 0xe2, 0xe2, 0, BYTE1},
    {0xeb, 0xe3, 0xe3, 8, AT_20},
    {0xeb, 0xe4, 0xe4, 8, AT_20 | BYTE1},
    {0xeb, 0xe6, 0xe8, 8, AT_20 | BYTE1},
    {0xeb, 0xea, 0xea, 8, AT_20 | BYTE1},
    {0xeb, 0xf2, 0xf2, 0, BYTE1},
    {0xeb, 0xf3, 0xf3, 4, AT_20},
    {0xeb, 0xf4, 0xf4, 4, AT_20 | BYTE1},
    {0xeb, 0xf6, 0xf8, 4, AT_20 | BYTE1},
    {0xeb, 0xfa, 0xfa, 4, AT_20 | BYTE1},
    /* RIE: lochi, locghi, lochhi; risblg, rnsbg, risbg, rosbg, rxsbg, risbgn, risbhg; cgit ...; ahik ... */
    {0xec, 0x42, 0x42, 0, BYTE1},
    {0xec, 0x46, 0x46, 0, BYTE1},
    {0xec, 0x4e, 0x4e, 0, BYTE1},
    {0xec, 0x51, 0x51, 0, BYTE1},
    {0xec, 0x54, 0x57, 0, BYTE1},
    {0xec, 0x59, 0x59, 0, BYTE1},
    {0xec, 0x5d, 0x5d, 0, BYTE1},
    {0xec, 0x70, 0x73, 0, NOTHING},
    {0xec, 0xd8, 0xdb, 0, BYTE1},
    /* RXE, RXF, RXY of floating point; maeb ... have R1 in byte 4; tceb ... only look; ley, ldy, stey, stdy */
    {0xed, 0x04, 0x04, 0, BYTE1 | FLOATS},
    {0xed, 0x05, 0x07, 0, BYTE1 | FLOATS | PAIRS},
    {0xed, 0x08, 0x09, 0, NOTHING},
    {0xed, 0x0a, 0x0d, 0, BYTE1 | FLOATS},
    {0xed, 0x0e, 0x0f, 0, BYTE4 | FLOATS},
    {0xed, 0x10, 0x12, 0, NOTHING},
    {0xed, 0x14, 0x15, 0, BYTE1 | FLOATS},
    {0xed, 0x17, 0x17, 0, BYTE1 | FLOATS},
    {0xed, 0x18, 0x19, 0, NOTHING},
    {0xed, 0x1a, 0x1d, 0, BYTE1 | FLOATS},
    {0xed, 0x1e, 0x1f, 0, BYTE4 | FLOATS},
    {0xed, 0x24, 0x24, 0, BYTE1 | FLOATS},
    {0xed, 0x25, 0x26, 0, BYTE1 | FLOATS | PAIRS},
    {0xed, 0x2e, 0x2f, 0, BYTE4 | FLOATS},
    {0xed, 0x34, 0x35, 0, BYTE1 | FLOATS},
    {0xed, 0x37, 0x37, 0, BYTE1 | FLOATS},
    {0xed, 0x38, 0x39, 0, BYTE4 | FLOATS},
    {0xed, 0x3a, 0x3b, 0, BYTE4 | FLOATS | PAIRS},
    {0xed, 0x3c, 0x3d, 0, BYTE4 | FLOATS},
    {0xed, 0x3e, 0x3f, 0, BYTE4 | FLOATS},
    {0xed, 0x50, 0x51, 0, NOTHING},
    {0xed, 0x54, 0x55, 0, NOTHING},
    {0xed, 0x58, 0x59, 0, NOTHING},
    {0xed, 0x64, 0x65, 0, BYTE1 | FLOATS},
    {0xed, 0x66, 0x66, 4, RXY},
    {0xed, 0x67, 0x67, 8, RXY},
};

/* The part of an instruction's code that follows its first byte, GROUP; that is 0 where there is none. */
static unsigned rest_of(const uint8_t *p, uint8_t *group)
{
    *group = p[0];
    switch (p[0]) {
    case 0x01:
    case 0xb2:
    case 0xb3:
    case 0xb9:
    case 0xe5:
        return p[1];
    case 0xa5:
    case 0xa7:
    case 0xc0:
    case 0xc2:
    case 0xc4:
    case 0xc6:
    case 0xc8:
    case 0xcc:
        return low(p[1]);
    case 0xe3:
    case 0xe6:
    case 0xe7:
    case 0xeb:
    case 0xec:
    case 0xed:
        return p[5];
    default:
        *group = 0;
        return p[0];
    }
}

static const struct facts *find(const uint8_t *p)
{
    uint8_t group;
    unsigned rest = rest_of(p, &group);
    size_t i;

    for (i = 0; i < sizeof facts / sizeof facts[0]; i++)
        if (facts[i].group == group && rest >= facts[i].first && rest <= facts[i].last)
            return &facts[i];
    return NULL;
}

/* REG is written, and by WRITES others. */
static void forget(struct code_fact *fact, unsigned reg, unsigned writes)
{
    if (writes & FLOATS) {
        code_forget(fact, float_number(reg));
        if (writes & PAIRS)
            code_forget(fact, float_number(reg ^ 2));
    } else {
        code_add(fact, CODE_FORGET, (uint8_t)reg, (uint8_t)(writes & PAIRS ? reg | 1 : reg), 0, 1);
    }
}

/* How many registers there are from that in the high half of BYTE up to that in the low half. */
static unsigned count(uint8_t byte)
{
    return (low(byte) - high(byte)) % 16 + 1;
}

/* The registers from FIRST on, COUNT of them, behind R15 comes R0. */
static void many(struct code_fact *fact, enum code_do what, unsigned first, unsigned num, uint8_t base, int64_t k)
{
    unsigned part = first + num > 16 ? 16 - first : num;

    code_add(fact, what, (uint8_t)first, (uint8_t)(first + part - 1), base, k);
    if (part < num)
        code_add(fact, what, R0, (uint8_t)(num - part - 1), base, k + 8 * (int64_t)part);
}

static void forget_all(struct code_fact *fact)
{
    fact->num = 0;
    code_write(fact, ANYWHERE, 0, 1);
    code_add(fact, CODE_FORGET, R0, F7 + 8, 0, 0);
}

/* Whether P is xc of a field with itself, which gcc makes zero so: not pieces of 256 bytes, nor of 255, as state.c says
 * of copies. */
static bool is_clear(const uint8_t *p)
{
    return p[0] == 0xd7 && p[1] + 1 < UINT8_MAX && memcmp(p + 2, p + 4, 2) == 0;
}

/* Whether P stores those bytes of a register that its mask says: stcm, stcmh, stcmy. */
static bool is_masked(const uint8_t *p)
{
    return p[0] == 0xbe || (p[0] == 0xeb && (p[5] == 0x2c || p[5] == 0x2d));
}

/* How many bits of the low half of BYTE are not set. */
static unsigned zeros(uint8_t byte)
{
    return 4 - (byte & 1u) - (byte >> 1 & 1u) - (byte >> 2 & 1u) - (byte >> 3 & 1u);
}

/* Whether what P writes does not depend on what was there, and is always as much: st, mvghi, stm, stck and so on; mvi,
 * ts, stnsm, stosm; pku, unpku, mvcin, pka, unpka, mvo, pack, unpk, zap, vupkz, vstrl. stfle stores as many as the CPU
 * has. */
static bool is_store(const uint8_t *p, const struct facts *f)
{
    return (f->writes & (INDEXED | STORE_MANY)) || (p[0] == 0xb2 && f->bytes != MANY) || is_clear(p) ||
           memchr("\x92\x93\xac\xad\xe1\xe2\xe8\xe9\xea\xf1\xf2\xf3\xf8", p[0], 13) != NULL ||
           (is_masked(p) && low(p[1]) != 0) || (p[0] == 0xeb && p[5] == 0x52) ||
           (p[0] == 0xe5 && p[1] >= 0x44 && p[1] <= 0x4c) || (p[0] == 0xe6 && p[5] <= 0x3d);
}

/* Whether P stores the bytes of a vector up to that which a register says: vstl, vstrlr. */
static bool is_counted(const uint8_t *p)
{
    return (p[0] == 0xe6 || p[0] == 0xe7) && p[5] == 0x3f;
}

/* REG = base, index and displacement K of P. */
static void load_address(struct code_fact *fact, uint8_t reg, const uint8_t *p, int64_t k)
{
    unsigned index = low(p[1]), base = high(p[2]);

    if (index != 0 && base != 0) {
        if (index == R15)
            code_add(fact, CODE_SUM, reg, based(base), R15, 1);
        else
            code_add(fact, CODE_SUM, reg, based(index), based(base), 1);
        code_add(fact, CODE_SET, reg, 0, reg, k);
    } else {
        code_add(fact, CODE_SET, reg, 0, based(index | base), k);
    }
}

/* LEAST bytes at BASE + K and, if REG is known, as many as those of its bits say that MASK has, and one more. */
static void overwrite_counted(struct code_fact *fact, uint8_t base, int64_t k, unsigned least, unsigned reg,
                              uint32_t mask)
{
    code_overwrite(fact, base, k, least);
    code_add(fact, CODE_BITS, CODE_TARGET, CODE_NONE, (uint8_t)reg, mask);
    code_add(fact, CODE_SET, CODE_TARGET, 0, CODE_TARGET, 1);
    code_overwrite(fact, base, k, 1);
    code_repeat(fact, CODE_TARGET);
    code_forget(fact, CODE_TARGET);
}

static void write_memory(struct code_fact *fact, const uint8_t *p, const struct facts *f)
{
    int64_t k = f->writes & AT_20 ? long_displacement(p + 2) : displacement(p + 2);
    unsigned bytes = f->bytes == MANY ? 256 : f->bytes;
    const bool by_index = f->writes & INDEXED && low(p[1]) != 0;

    if (f->writes & STRING)
        bytes = (p[0] == 0xe6 ? p[1] & 31u : p[1]) + 1u;
    else if (f->writes & DIGITS)
        bytes = high(p[1]) + 1u;
    if (f->writes & STORE_MANY)
        bytes *= count(p[1]);
    else if (is_masked(p))
        bytes -= zeros(p[1]);
    if (by_index)
        load_address(fact, CODE_TARGET, p, k);
    if (p[0] == 0xb2 && p[1] == 0xb0) /* stfle */
        code_overwrite(fact, based(high(p[2])), k, 8);
    else if (is_counted(p))
        overwrite_counted(fact, based(high(p[2])), k, 1, low(p[1]), UINT32_MAX);
    code_write(fact, by_index ? (uint8_t)CODE_TARGET : based(high(p[2])), by_index ? 0 : k, bytes);
    if (is_store(p, f))
        code_replace_bytes(fact);
    if (by_index)
        code_forget(fact, CODE_TARGET);
}

/* Memory at REG, as many bytes as the next register says or, if it is not known, one. */
static void write_at(struct code_fact *fact, unsigned reg)
{
    code_write(fact, (uint8_t)reg, 0, 1);
    code_repeat(fact, (uint8_t)(reg | 1));
}

/* mvcl, of whose length a register has 24 bits; mvcle and mvclu, which do a part where code has them in a loop. */
static void move_at(struct code_fact *fact, const uint8_t *p)
{
    const unsigned reg = high(p[1]);
    const bool is_short = p[0] == 0x0e;

    if (is_short)
        code_add(fact, CODE_BITS, CODE_TARGET, CODE_NONE, (uint8_t)(reg | 1), 0xffffff);
    code_overwrite(fact, (uint8_t)reg, 0, 1);
    code_repeat(fact, is_short ? (uint8_t)CODE_TARGET : (uint8_t)(reg | 1));
    if (is_short)
        code_forget(fact, CODE_TARGET);
}

/* Memory where a register says: mvcl, mvcle, mvclu; mvst, whose end a byte says; tre, cu21, cu12, trtt ... troo,
 * cu14 ... cu42. Ciphers and their like write what R1 points to besides, whose length depends on R0. */
static void write_by_register(struct code_fact *fact, const uint8_t *p)
{
    switch (p[0] << 8 | p[1]) {
    case 0xb220: /* servc, whose block begins with 8 bytes that it may change */
        code_write(fact, (uint8_t)low(p[3]), 0, 8);
        return;
    case 0xb255:
        code_overwrite(fact, (uint8_t)high(p[3]), 0, 1);
        return;
    case 0xb2a5:
    case 0xb2a6:
    case 0xb2a7:
    case 0xb990:
    case 0xb991:
    case 0xb992:
    case 0xb993:
    case 0xb9b0:
    case 0xb9b1:
    case 0xb9b2:
    case 0xb9b3:
        write_at(fact, high(p[3]));
        return;
    case 0xb92e: /* km, kmc, prno; kmac, kimd, klmd */
    case 0xb92f:
    case 0xb93c:
        write_at(fact, high(p[3]));
        code_write(fact, R1, 0, 1);
        return;
    case 0xb91e:
    case 0xb93e:
    case 0xb93f:
        code_write(fact, R1, 0, 1);
        return;
    default:
        break;
    }
    if (p[0] == 0xe7 && (p[5] == 0x1a || p[5] == 0x1b)) /* vsceg, vscef: an element of a vector is the index */
        code_write(fact, ANYWHERE, 0, 8);
    if (p[0] == 0x0e || p[0] == 0xa8 || (p[0] == 0xeb && p[5] == 0x8e))
        move_at(fact, p);
}

/* Whether vector register 0 to 15 is the one of byte 1: bit 0 of the last but one byte says so. */
static void forget_vector(struct code_fact *fact, const uint8_t *p, unsigned writes)
{
    if (writes & LOAD_MANY)
        code_add(fact, CODE_FORGET, F0, F7 + 8, 0, 0);
    else if (!(p[4] & 8))
        code_forget(fact, float_number(high(p[1])));
}

static void other(struct code_fact *fact, const uint8_t *p)
{
    const struct facts *f = find(p);

    if (f == NULL) {
        forget_all(fact);
        return;
    }
    if (f->writes & (AT_12 | AT_20))
        write_memory(fact, p, f);
    else
        write_by_register(fact, p);
    if (f->writes & VECTOR)
        forget_vector(fact, p, f->writes);
    else if (f->writes & LOAD_MANY)
        many(fact, CODE_FORGET, high(p[1]), count(p[1]), 0, 0);
    if (f->writes & R0_TO_R2)
        code_add(fact, CODE_FORGET, R0, R2, 0, 0);
    if (f->writes & BYTE1)
        forget(fact, high(p[1]), f->writes);
    if (f->writes & BYTE1_LOW)
        forget(fact, low(p[1]), f->writes);
    if (f->writes & BYTE2)
        forget(fact, high(p[2]), f->writes);
    if (f->writes & BYTE3)
        forget(fact, high(p[3]), f->writes);
    if (f->writes & BYTE3_LOW)
        forget(fact, low(p[3]), f->writes);
    if (f->writes & BYTE4)
        forget(fact, high(p[4]), f->writes);
}

/* ---- What moves SP, FP and RA ---------------------------------------------------------------------------------- */

/* lg, stg, whose address may have an index. */
static void move(struct code_fact *fact, const uint8_t *p, enum code_do what)
{
    unsigned index = low(p[1]), base = high(p[2]);
    uint8_t reg = (uint8_t)high(p[1]);

    if (index == 0 || base == 0)
        code_add(fact, what, reg, reg, based(index | base), long_displacement(p + 2));
    else if (what == CODE_LOAD) /* maybe of a table */
        code_table(fact, reg, 8, based(base), based(index), CODE_NONE, long_displacement(p + 2));
    else {
        load_address(fact, CODE_TARGET, p, long_displacement(p + 2));
        code_add(fact, CODE_STORE, reg, reg, CODE_TARGET, 0);
        code_forget(fact, CODE_TARGET);
    }
}

/* lgf, agf with an index: maybe of a table whose entries have 32 bits. */
static bool table_of_32(struct code_fact *fact, const uint8_t *p)
{
    const uint8_t reg = (uint8_t)high(p[1]), to = p[5] == 0x18 ? (uint8_t)CODE_TARGET : reg;
    const unsigned index = low(p[1]), base = high(p[2]);

    if (index == 0 && base == 0)
        return false;
    if (index == 0 || base == 0)
        code_table(fact, to, 4 | CODE_ENTRY_SIGNED, based(index | base), CODE_NONE, CODE_NONE,
                   long_displacement(p + 2));
    else
        code_table(fact, to, 4 | CODE_ENTRY_SIGNED, based(base), based(index), CODE_NONE, long_displacement(p + 2));
    if (p[5] == 0x18)
        code_add(fact, CODE_SUM, reg, CODE_TARGET, reg, 1);
    return true;
}

/* RIL: larl, lgfi, llihf, llilf; lgrl; slgfi, agfi, algfi. Returns false if it is another one. */
static bool immediate_of_32(struct code_fact *fact, const uint8_t *p, uint64_t pc)
{
    uint8_t reg = (uint8_t)high(p[1]);
    int64_t imm = word(p + 2);
    uint32_t bits = (uint32_t)imm;

    switch ((unsigned)p[0] << 4 | low(p[1])) {
    case 0xc00:
        code_add(fact, CODE_NUMBER, reg, 0, 0, (int64_t)(pc + (uint64_t)(2 * imm)));
        return true;
    case 0xc01:
        code_add(fact, CODE_NUMBER, reg, 0, 0, imm);
        return true;
    case 0xc0e:
        code_add(fact, CODE_NUMBER, reg, 0, 0, (int64_t)((uint64_t)bits << 32));
        return true;
    case 0xc0f:
        code_add(fact, CODE_NUMBER, reg, 0, 0, bits);
        return true;
    case 0xc48: /* lgrl */
        code_add(fact, CODE_LOAD, reg, reg, CODE_ZERO, (int64_t)(pc + (uint64_t)(2 * imm)));
        return true;
    case 0xc24:
        code_add(fact, CODE_SET, reg, 0, reg, -(int64_t)bits);
        return true;
    case 0xc2e: /* clgfi, clfi */
    case 0xc2f:
        code_add(fact, CODE_BOUND, reg, CODE_NONE, 0, bits);
        return true;
    case 0xc28:
        code_add(fact, CODE_SET, reg, 0, reg, imm);
        return true;
    case 0xc2a:
        code_add(fact, CODE_SET, reg, 0, reg, bits);
        return true;
    default:
        return false;
    }
}

/* RI: nill of SP; llihh ... llill; lghi, aghi. */
static bool immediate_of_16(struct code_fact *fact, const uint8_t *p)
{
    uint8_t reg = (uint8_t)high(p[1]);
    unsigned op = low(p[1]);
    int64_t imm = half(p + 2);

    if (p[0] == 0xa7 && op == 0x9)
        code_add(fact, CODE_NUMBER, reg, 0, 0, imm);
    else if (p[0] == 0xa7 && op == 0xb)
        code_add(fact, CODE_SET, reg, 0, reg, imm);
    else if (p[0] == 0xa5 && op >= 0xc)
        code_add(fact, CODE_NUMBER, reg, 0, 0, (int64_t)((uint64_t)(uint16_t)imm << 16 * (0xf - op)));
    else if (p[0] == 0xa5 && op == 0x7 && reg == R15 && imm < 0)
        code_add(fact, CODE_ALIGN, reg, 0, 0, 0);
    else
        return false;
    return true;
}

/* b3: ldgr, lgdr, which move words to and from registers of floating point; b9: ltgr, lgr, agr ... slgr, agrk ... */
static bool by_register(struct code_fact *fact, const uint8_t *p)
{
    uint8_t reg = (uint8_t)high(p[3]), from = (uint8_t)low(p[3]), third = (uint8_t)high(p[2]);

    switch (p[0] << 8 | p[1]) {
    case 0xb3c1:
        code_add(fact, CODE_SET, float_number(reg), 0, from, 0);
        return true;
    case 0xb3cd:
        code_add(fact, CODE_SET, reg, 0, float_number(from), 0);
        return true;
    case 0xb902:
    case 0xb904:
        code_add(fact, CODE_SET, reg, 0, from, 0);
        return true;
    case 0xb908:
    case 0xb90a:
        code_add(fact, CODE_SUM, reg, from, reg, 1);
        return true;
    case 0xb909:
    case 0xb90b:
        code_add(fact, CODE_SUM, reg, from, reg, -1);
        return true;
    case 0xb9e8:
    case 0xb9ea:
        code_add(fact, CODE_SUM, reg, third, from, 1);
        return true;
    case 0xb9e9:
    case 0xb9eb:
        code_add(fact, CODE_SUM, reg, third, from, -1);
        return true;
    default:
        return false;
    }
}

/* REG = the lower bits of FROM, to the left by UP. */
static bool take_index(struct code_fact *fact, unsigned reg, unsigned from, int64_t mask, unsigned up)
{
    code_add(fact, CODE_INDEX, (uint8_t)reg, (uint8_t)up, (uint8_t)from, mask);
    return true;
}

/* REG = BYTES at an address of P + K, if that is without an index. */
static bool fetch(struct code_fact *fact, const uint8_t *p, unsigned bytes, int64_t k)
{
    const unsigned index = low(p[1]), base = high(p[2]);

    if (index != 0 && base != 0)
        return false;
    code_add(fact, CODE_FETCH, (uint8_t)high(p[1]), (uint8_t)bytes, based(index | base), k);
    return true;
}

/* BYTES at an address of P are compared with NUMBER. */
static bool compare_memory(struct code_fact *fact, const uint8_t *p, unsigned bytes, unsigned number)
{
    code_add(fact, CODE_FETCH, CODE_TARGET, (uint8_t)bytes, based(high(p[2])), displacement(p + 2));
    code_add(fact, CODE_BOUND, CODE_TARGET, CODE_NONE, 0, number);
    return true;
}

/* risbg, risbgn: bits of a register, to the left. Returns false if others are left, or higher ones come to the lower
 * end. */
static bool take_bits(struct code_fact *fact, const uint8_t *p)
{
    const unsigned first = p[2] & 63, last = p[3] & 63, up = p[4] & 63;

    if (p[3] < 128 || last + up != 63 || first > last || first == 0)
        return false;
    return take_index(fact, high(p[1]), low(p[1]), (int64_t)(((uint64_t)1 << (last - first + 1)) - 1), up);
}

/* Whether P does nothing but what the index of a table may come from, or compares one in memory: lr, lgfr, llgfr,
 * llgcr, llghr, llcr, llhr; l, ly, llgf, llgc, llc, llgh, llh; sll, sllg; risbg, risbgn; cli; clhhsi, clghsi,
 * clfhsi. */
static bool takes_index(struct code_fact *fact, const uint8_t *p)
{
    switch (p[0]) {
    case 0x18:
        return take_index(fact, high(p[1]), low(p[1]), UINT32_MAX, 0);
    case 0x58:
        return fetch(fact, p, 4, displacement(p + 2));
    case 0x89:
        return high(p[2]) == 0 && take_index(fact, high(p[1]), high(p[1]), -1, displacement(p + 2) & 63);
    case 0x95:
        return compare_memory(fact, p, 1, p[1]);
    case 0xb9:
        if (p[1] == 0x14 || p[1] == 0x16)
            return take_index(fact, high(p[3]), low(p[3]), UINT32_MAX, 0);
        if (p[1] == 0x84 || p[1] == 0x94)
            return take_index(fact, high(p[3]), low(p[3]), UINT8_MAX, 0);
        return (p[1] == 0x85 || p[1] == 0x95) && take_index(fact, high(p[3]), low(p[3]), UINT16_MAX, 0);
    case 0xe3:
        if (p[5] == 0x58 || p[5] == 0x16)
            return fetch(fact, p, 4, long_displacement(p + 2));
        if (p[5] == 0x90 || p[5] == 0x94)
            return fetch(fact, p, 1, long_displacement(p + 2));
        return (p[5] == 0x91 || p[5] == 0x95) && fetch(fact, p, 2, long_displacement(p + 2));
    case 0xe5:
        return (p[1] == 0x55 || p[1] == 0x59 || p[1] == 0x5d) &&
               compare_memory(fact, p,
                              p[1] == 0x55   ? 2
                              : p[1] == 0x59 ? 8
                                             : 4,
                              (unsigned)load_number(p + 4, 2, true));
    case 0xeb:
        return p[5] == 0x0d && high(p[2]) == 0 &&
               take_index(fact, high(p[1]), low(p[1]), -1, long_displacement(p + 2) & 63);
    case 0xec:
        return (p[5] == 0x55 || p[5] == 0x59) && take_bits(fact, p);
    default:
        return false;
    }
}

/* Whether P is known to leave the condition code alone: what compilers put between a comparison and its branch. lr, st,
 * stc, ic, la, lh, l, std, ld, sll, srl, mvi; brc, lhi, lghi; lgr, lgfr, llgfr, llgcr, llghr, llcr, llhr; larl, lgfi,
 * llilf, brcl; lg, lgf, llgf, stg, ly, sty, lay, stcy, llgc, llgh, llc, llh; srlg, sllg, lmg, stmg; risbgn. */
static bool keeps_condition(const uint8_t *p)
{
    switch (p[0]) {
    case 0x07:
    case 0x18:
    case 0x41:
    case 0x42:
    case 0x43:
    case 0x48:
    case 0x50:
    case 0x58:
    case 0x60:
    case 0x68:
    case 0x88:
    case 0x89:
    case 0x92:
        return true;
    case 0xa7:
        return low(p[1]) == 4 || low(p[1]) == 8 || low(p[1]) == 9;
    case 0xb9:
        return p[1] == 0x04 || p[1] == 0x14 || p[1] == 0x16 || p[1] == 0x84 || p[1] == 0x85 || p[1] == 0x94 ||
               p[1] == 0x95;
    case 0xc0:
        return low(p[1]) == 0 || low(p[1]) == 1 || low(p[1]) == 4 || low(p[1]) == 15;
    case 0xe3:
        return memchr("\x04\x14\x16\x24\x58\x50\x71\x72\x90\x91\x94\x95", p[5], 12) != NULL;
    case 0xeb:
        return p[5] == 0x0c || p[5] == 0x0d || p[5] == 0x04 || p[5] == 0x24;
    case 0xec:
        return p[5] == 0x59;
    default:
        return false;
    }
}

/* Whether what P does is known here. */
static bool known(struct code_fact *fact, const uint8_t *p, uint64_t pc)
{
    switch (p[0]) {
    case 0x41:
        load_address(fact, (uint8_t)high(p[1]), p, displacement(p + 2));
        return true;
    case 0xa5:
    case 0xa7:
        return immediate_of_16(fact, p);
    case 0xb3:
    case 0xb9:
        return by_register(fact, p);
    case 0xc0:
    case 0xc2:
    case 0xc4:
        return immediate_of_32(fact, p, pc);
    case 0xd2: /* mvc */
        code_copy(fact, based(high(p[2])), displacement(p + 2), based(high(p[4])), displacement(p + 4), p[1] + 1u);
        return true;
    case 0xe3:
        if (p[5] == 0x14 || p[5] == 0x18)
            return table_of_32(fact, p);
        if (p[5] != 0x04 && p[5] != 0x24 && p[5] != 0x71)
            return false;
        if (p[5] == 0x71) /* lay */
            load_address(fact, (uint8_t)high(p[1]), p, long_displacement(p + 2));
        else
            move(fact, p, p[5] == 0x04 ? CODE_LOAD : CODE_STORE);
        return true;
    case 0xeb: /* lmg, stmg */
        if (p[5] != 0x04 && p[5] != 0x24)
            return false;
        many(fact, p[5] == 0x04 ? CODE_LOAD : CODE_STORE, high(p[1]), count(p[1]), based(high(p[2])),
             long_displacement(p + 2));
        return true;
    case 0xec: /* aghik */
        if (p[5] != 0xd9)
            return false;
        code_add(fact, CODE_SET, (uint8_t)high(p[1]), 0, (uint8_t)low(p[1]), half(p + 2));
        return true;
    default:
        return false;
    }
}

/* ---- Where the PC goes ----------------------------------------------------------------------------------------- */

/* What a branch by MASK says of numbers without a sign: 8, 4 and 2 stand for equal, lower and higher. */
static uint8_t checks(unsigned mask)
{
    if (mask == 0 || mask == 15)
        return 0;
    if (mask & 2)
        return mask & 8 ? CODE_CHECKS | CODE_CHECKS_LESS : CODE_CHECKS;
    return mask & 8 ? CODE_CHECKS | CODE_CHECKS_THERE : CODE_CHECKS | CODE_CHECKS_THERE | CODE_CHECKS_LESS;
}

/* A branch by MASK. */
static void branch(struct code_fact *fact, unsigned mask, uint64_t target)
{
    fact->flow = mask == 0 ? CODE_NEXT : mask == 15 ? CODE_JUMP : CODE_BRANCH;
    fact->target = mask == 0 ? 0 : target;
}

/* A call that leaves its return address in REG: only that in R14 is one by the ABI. */
static void call(struct code_fact *fact, unsigned reg, uint64_t target)
{
    fact->flow = CODE_CALL;
    fact->target = reg == R14 ? target : 0;
    if (reg != R14)
        code_forget(fact, (uint8_t)reg);
}

/* To what REG has. */
static void away(struct code_fact *fact, unsigned reg)
{
    fact->flow = reg == R14 ? CODE_RETURN : CODE_AWAY;
    if (reg != 0 && reg != R14)
        code_add(fact, CODE_SET, CODE_TARGET, 0, (uint8_t)reg, 0);
}

/* bic: to what the word at an address has, maybe one of a table, unless it depends on a condition. */
static void away_by_word(struct code_fact *fact, const uint8_t *p)
{
    const unsigned index = low(p[1]), base = high(p[2]);

    fact->may_leave = high(p[1]) != 0;
    if (high(p[1]) != 15)
        return;
    fact->flow = CODE_AWAY;
    if (index == 0 || base == 0)
        code_add(fact, CODE_LOAD, CODE_TARGET, CODE_TARGET, based(index | base), long_displacement(p + 2));
    else
        code_table(fact, CODE_TARGET, 8, based(base), based(index), CODE_NONE, long_displacement(p + 2));
}

/* A loop's end. */
static void count_down(struct code_fact *fact, const uint8_t *p, uint64_t target)
{
    code_forget(fact, (uint8_t)high(p[1]));
    branch(fact, 1, target);
}

/* RR: bcr, bctr, bsm, bassm, basr, balr; without a second register there is no branch. Of a branch by condition to what
 * a register has, a return or not, only what follows is to be seen, here and below: it may leave. */
static bool flow_of_2(struct code_fact *fact, const uint8_t *p, uint64_t pc)
{
    unsigned first = high(p[1]), second = low(p[1]);

    switch (p[0]) {
    case 0x07:
        if (first == 15 && second != 0)
            away(fact, second);
        fact->may_leave = first != 0 && second != 0;
        return true;
    case 0x06:
        code_forget(fact, (uint8_t)first);
        fact->may_leave = second != 0;
        return true;
    case 0x0b:
        code_forget(fact, (uint8_t)first);
        fact->flow = second == 0 ? CODE_NEXT : CODE_AWAY;
        return true;
    case 0x05:
    case 0x0c:
    case 0x0d:
        if (second != 0) {
            if (p[0] != 0x0c)
                code_add(fact, CODE_SET, CODE_TARGET, 0, (uint8_t)second, 0);
            call(fact, first, 0);
        } else
            code_add(fact, CODE_NUMBER, (uint8_t)first, 0, 0, (int64_t)pc + 2);
        return true;
    case 0x0a: /* svc */
        code_add(fact, CODE_FORGET, R0, R5, 0, 0);
        return true;
    case 0x01: /* trap2 */
        fact->flow = p[1] == 0xff ? CODE_STOP : CODE_NEXT;
        return p[1] == 0xff;
    default:
        return false;
    }
}

/* Of those whose first byte is 0xa7, which have the distance in their last two. */
static bool flow_of_a7(struct code_fact *fact, const uint8_t *p, uint64_t pc, uint64_t target)
{
    switch (low(p[1])) {
    case 0x4: /* brc */
        branch(fact, high(p[1]), target);
        fact->checks = checks(high(p[1]));
        return true;
    case 0x5: /* bras: with another register than RA it jumps over data, whose address that has then */
        if (high(p[1]) == R14) {
            call(fact, R14, target);
        } else {
            code_add(fact, CODE_NUMBER, (uint8_t)high(p[1]), 0, 0, (int64_t)pc + 4);
            branch(fact, 15, target);
        }
        return true;
    case 0x6: /* brct, brctg */
    case 0x7:
        count_down(fact, p, target);
        return true;
    default:
        return false;
    }
}

static bool flow_of_4(struct code_fact *fact, const uint8_t *p, uint64_t pc)
{
    uint64_t target = pc + (uint64_t)(2 * half(p + 2));

    switch (p[0]) {
    case 0x47: /* bc */
        if (high(p[1]) == 15) {
            away(fact, 0);
            load_address(fact, CODE_TARGET, p, displacement(p + 2));
        }
        fact->may_leave = high(p[1]) != 0;
        return true;
    case 0x45: /* bal, bas */
    case 0x4d:
        call(fact, high(p[1]), 0);
        return true;
    case 0x46: /* bct, bxh, bxle */
    case 0x86:
    case 0x87:
        code_forget(fact, (uint8_t)high(p[1]));
        fact->may_leave = true;
        return true;
    case 0x82: /* lpsw */
        fact->flow = CODE_RESUME;
        return true;
    case 0x84: /* brxh, brxle */
    case 0x85:
        count_down(fact, p, target);
        return true;
    case 0xb2:
        fact->flow = p[1] == 0xb2 ? CODE_RESUME : CODE_NEXT; /* lpswe */
        return p[1] == 0xb2;
    case 0xb9:
        if (p[1] != 0x46) /* bctgr */
            return false;
        code_forget(fact, (uint8_t)high(p[3]));
        fact->may_leave = low(p[3]) != 0;
        return true;
    case 0xa7:
        return flow_of_a7(fact, p, pc, target);
    default:
        return false;
    }
}

/* clgrj, clrj, clgij, clij; others compare numbers with a sign. */
static void compare_and_branch(struct code_fact *fact, const uint8_t *p)
{
    if (p[5] == 0x7d || p[5] == 0x7f) {
        code_add(fact, CODE_BOUND, (uint8_t)high(p[1]), CODE_NONE, 0, p[4]);
        fact->checks = checks(low(p[1]));
    } else if (p[5] == 0x65 || p[5] == 0x77) {
        code_add(fact, CODE_BOUND, (uint8_t)high(p[1]), (uint8_t)low(p[1]), 0, 0);
        fact->checks = checks(high(p[4]));
    }
}

/* Compares and branches, and loops. */
static bool flow_of_compare(struct code_fact *fact, const uint8_t *p, uint64_t target)
{
    switch (p[5]) {
    case 0x44: /* brxhg, brxlg */
    case 0x45:
        count_down(fact, p, target);
        return true;
    case 0x64: /* cgrj, clgrj, crj, clrj, cgij, clgij, cij, clij */
    case 0x65:
    case 0x76:
    case 0x77:
    case 0x7c:
    case 0x7d:
    case 0x7e:
    case 0x7f:
        compare_and_branch(fact, p);
        branch(fact, 1, target);
        return true;
    case 0xe4: /* cgrb and so on: to where a register says */
    case 0xe5:
    case 0xf6:
    case 0xf7:
    case 0xfc:
    case 0xfd:
    case 0xfe:
    case 0xff:
        fact->may_leave = true;
        return true;
    default:
        return false;
    }
}

static bool flow_of_6(struct code_fact *fact, const uint8_t *p, uint64_t pc)
{
    uint64_t target = pc + (uint64_t)(2 * word(p + 2));

    switch ((unsigned)p[0] << 4 | low(p[1])) {
    case 0xc04: /* brcl */
        branch(fact, high(p[1]), target);
        fact->checks = checks(high(p[1]));
        return true;
    case 0xc05: /* brasl */
        call(fact, high(p[1]), target);
        return true;
    case 0xcc6: /* brcth */
        count_down(fact, p, target);
        return true;
    default:
        break;
    }
    if (p[0] == 0xec)
        return flow_of_compare(fact, p, pc + (uint64_t)(2 * half(p + 2)));
    fact->may_leave = (p[0] == 0xeb && (p[5] == 0x44 || p[5] == 0x45)) || (p[0] == 0xe3 && p[5] == 0x46);
    if (fact->may_leave) /* bxhg, bxleg, bctg */
        code_forget(fact, (uint8_t)high(p[1]));
    else if (p[0] == 0xe3 && p[5] == 0x47) /* bic */
        away_by_word(fact, p);
    else if (p[0] == 0xeb && p[5] == 0x71) /* lpswey */
        fact->flow = CODE_RESUME;
    else
        return false;
    return true;
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

/* The two highest bits of an instruction are its size. */
static unsigned size_of(const uint8_t *p)
{
    return *p < 0x40 ? 2 : *p < 0xc0 ? 4 : 6;
}

/* Whether the instruction at Q is a store of registers, or of what stands in it. */
static bool is_plain_store(const uint8_t *q)
{
    switch (*q) {
    case 0x40: /* sth, stc, st, std, ste, stm, mvi */
    case 0x42:
    case 0x50:
    case 0x60:
    case 0x70:
    case 0x90:
    case 0x92:
        return true;
    case 0xe3: /* stg */
        return q[5] == 0x24;
    case 0xe5: /* mvhhi, mvghi, mvhi */
        return q[1] == 0x44 || q[1] == 0x48 || q[1] == 0x4c;
    case 0xeb: /* stmg, stmh, stmy */
        return q[5] == 0x24 || q[5] == 0x26 || q[5] == 0x90;
    default:
        return false;
    }
}

/* A store at Q, of which a register may set bits of the second byte: of mvi, the number that it stores; of stm, stmg,
 * stmh and stmy, which registers: at least one. Returns false if it is another one. */
static bool store_changed(struct code_fact *fact, const uint8_t *q)
{
    const bool is_long = *q == 0xeb;
    const unsigned size = is_long && q[5] == 0x24 ? 8 : 4;
    const int64_t k = is_long ? long_displacement(q + 2) : displacement(q + 2);

    if (*q == 0x92) {
        code_overwrite(fact, based(high(q[2])), k, 1);
        return true;
    }
    if (*q != 0x90 && !(is_long && is_plain_store(q)))
        return false;
    code_write(fact, based(high(q[2])), k, 16 * size);
    code_overwrite(fact, based(high(q[2])), k, size);
    return true;
}

/* Where the instruction stands that the one at PC of TEXT executes: that of exrl; that of ex, if larl has its address
 * directly in front. UINT64_MAX: nobody knows. */
static uint64_t executed_by(const struct code_text *text, uint64_t pc)
{
    const uint8_t *p = text->bytes + (pc - text->start), *larl = p - 6;

    if (*p == 0xc6)
        return pc + (uint64_t)(2 * word(p + 2));
    if (pc - text->start < 6 || larl[0] != 0xc0 || low(larl[1]) != 0 || low(p[1]) != 0 || high(p[2]) == 0 ||
        high(larl[1]) != high(p[2]) || displacement(p + 2) != 0)
        return UINT64_MAX;
    return pc - 6 + (uint64_t)(2 * word(larl + 2));
}

/* exrl and ex: the instruction at another place of TEXT, whose length comes from a register. It must be one that writes
 * memory alone, a byte at least, as mvc and xc of a field with itself do for certain, or a store; or, without a
 * register, a branch to what another one has, as in gcc's thunks (-mindirect-branch=thunk, -mfunction-return=thunk). */
static void execute(struct code_fact *fact, const struct code_text *text, uint64_t pc)
{
    const uint8_t *p = text->bytes + (pc - text->start), *q;
    const uint64_t target = executed_by(text, pc);

    q = target >= text->start && target < text->end ? text->bytes + (target - text->start) : NULL;
    if (q == NULL || text->end - target < 2 || text->end - target < size_of(q)) {
        forget_all(fact);
        return;
    }
    fact->executes = target;
    if (*q == 0x07 && high(p[1]) == 0) {
        (void)flow_of_2(fact, q, target);
        return;
    }
    if (*q == 0xd5) /* clc */
        return;
    if (high(p[1]) == 0 && is_plain_store(q)) {
        if (!takes_index(fact, q) && !known(fact, q, target))
            other(fact, q);
        return;
    }
    if (store_changed(fact, q))
        return;
    if (*q < 0xd1 || *q > 0xdc || *q == 0xd8) {
        forget_all(fact);
        return;
    }
    if (*q == 0xd2 || (*q == 0xd7 && memcmp(q + 2, q + 4, 2) == 0))
        overwrite_counted(fact, based(high(q[2])), displacement(q + 2), q[1] + 1u, based(high(p[1])), UINT8_MAX);
    else
        code_write(fact, based(high(q[2])), displacement(q + 2), 1);
}

static void decode(void *decoder, const struct code_text *text, uint64_t pc, struct code_fact *fact)
{
    const uint8_t *p = text->bytes + (pc - text->start);
    bool done;

    (void)decoder;
    memset(fact, 0, sizeof *fact);
    fact->flow = CODE_STOP;
    if (text->end - pc < 2 || text->end - pc < size_of(p))
        return;
    fact->size = (uint8_t)size_of(p);
    if (p[0] == 0) /* no operation code: how code traps, and what lies between functions */
        return;
    fact->flow = CODE_NEXT;
    if ((p[0] == 0xc6 && low(p[1]) == 0) || p[0] == 0x44) {
        execute(fact, text, pc);
        return;
    }
    done = fact->size == 2   ? flow_of_2(fact, p, pc)
           : fact->size == 4 ? flow_of_4(fact, p, pc)
                             : flow_of_6(fact, p, pc);
    fact->compares = !keeps_condition(p);
    if (!done && !takes_index(fact, p) && !known(fact, p, pc))
        other(fact, p);
}

/* A callee may change r0 to r5, r14, and the registers of floating point from f0 to f7. */
const struct code_cpu code_s390x = {
    0xff403f,
    1u << R1,
    R15,
    R11,
    R14,
    0,
    -160,
    0,
    true,
    2,
    0x120,
    decode,
    NULL,
    NULL,
    8,
    8,
    "the PSW of what was interrupted is in the low core alone, at which no row can point",
    0,
    NULL,
    0,
    false,
    false,
    0,
    NULL,
};
