/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * run_sfu FILE...: runs sfu on the vectors of each FILE, or on those whose names have T of the environment or match it
 * as a pattern: mapped and through the callback, in both byte orders. Prints "ok" or "not ok" for each, with the name
 * of the program in front: "default: v3 amd64 RA" in the program run-default. T may have the program's name in front,
 * too. Exits 1 if sfu differs from one of the vectors, or if there is none.
 */
#include "vector.h"
#include "sfu.h"
#include "test/lib/bytes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SFU_OLDEST_VERSION
#define OLDEST SFU_OLDEST_VERSION
#else
#define OLDEST 1
#endif

/* What the vectors call sfu's codes. */
static const struct {
    int code;
    const char *reason;
} reasons[] = {{SFU_OK, "ok"},
               {SFU_END, "outermost"},
               {SFU_E_EMPTY, "empty"},
               {SFU_E_MAGIC, "magic"},
               {SFU_E_VERSION, "version"},
               {SFU_E_ABI, "abi"},
               {SFU_E_FLAGS, "flags"},
               {SFU_E_BOUNDS, "bounds"},
               {SFU_E_CONCATENATED, "another"},
               {SFU_E_UNSORTED, "unsorted"},
               {SFU_E_OVERLAP, "overlap"},
               {SFU_E_COUNT, "count"},
               {SFU_E_NO_FDE, "no-function"},
               {SFU_E_NO_ROW, "no-row"},
               {SFU_E_FDE, "bad-function"},
               {SFU_E_ROW, "bad-row"},
               {SFU_E_STACK, "unreadable"},
               {SFU_E_ADDRESS, "address"},
               {SFU_E_UNSAFE, "unsafe"},
               {SFU_E_REGISTER, "register"},
               {SFU_E_NO_RA, "no-ra"},
               {SFU_E_TRAP, "ask"}};

static const struct vector *vector; /* the one that runs */
static int line;                    /* of it */
static bool remote, failed;         /* failed: this vector, with any value or size */
static unsigned long num, num_failed;
static const char *program; /* its name, which says how it was built */

static void differ(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void differ(const char *format, ...)
{
    va_list args;

    if (failed)
        return;
    failed = true;
    num_failed++;
    printf("not ok %s: %s: %s:%d, %s-endian, %zu bytes, %s: ", program, vector->name, vector->file, line,
           vector->big ? "big" : "little", vector->size, remote ? "by the callback" : "mapped");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

static const char *reason_of(int code)
{
    for (unsigned i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].code == code)
            return reasons[i].reason;
    return sfu_string(code);
}

/* Whether CODE is what E says; if not, reports it. */
static bool same_code(const char *what, int code, const struct expect *e)
{
    if (strcmp(reason_of(code), e->reason) != 0)
        differ("%s: %s, not %s", what, reason_of(code), e->reason);
    return strcmp(reason_of(code), e->reason) == 0;
}

/* ---- Sections -------------------------------------------------------------------------------------------------- */

static int read_section(void *ctx, sfu_addr addr, void *buffer, size_t len)
{
    const struct vector *v = ctx;

    if (addr - v->at > v->size || len > v->size - (addr - v->at) || len < 1 || len > 28) {
        differ("%zu bytes are read at %" PRIx64 ": outside of the section, or not what sfu.h says", len,
               (uint64_t)addr);
        return -1;
    }
    memcpy(buffer, v->bytes + (addr - v->at), len);
    return 0;
}

/* Whether this build has ADDR, an address or a register: it may have 32 bits. */
static bool fits(uint64_t addr)
{
    return addr <= SFU_ADDR_MAX;
}

/* Whether this build reads the tables at AT of the section at all. */
static bool is_built(const struct vector *v, uint64_t at)
{
    const uint8_t *h = v->bytes + at;
    bool built = h[2] == 0 || h[2] >= OLDEST;

#ifdef SFU_ABI
    built = built && h[4] == SFU_ABI && (h[0] == 0xde || h[0] == 0x5f) == vector_abi(v)->big &&
            ((h[0] == 0x5f || h[0] == 0x75) == (SFU_ABI > 0x80));
#endif
    return built || v->size < 5;
}

static int open_section(struct sfu_section *s, const struct vector *v, const uint8_t *block)
{
    if (remote)
        return sfu_open_remote(s, read_section, (void *)(uintptr_t)v, (sfu_addr)v->size, (sfu_addr)v->at);
    return sfu_open(s, block, (sfu_addr)v->size, (sfu_addr)v->at);
}

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

static bool same_rule(const struct sfu_rule *got, const struct rule *rule)
{
    return got->control == rule->control && got->offset == rule->offset;
}

static void compare_row(const struct sfu_section *s, const struct expect *e, uint64_t function,
                        const struct sfu_row *row, uint64_t pc)
{
    const char *what = NULL;
    bool rules = strcmp(e->reason, "ok") == 0;

    if (row->start != e->first || row->length != (uint32_t)(e->last - e->first) + 1)
        what = "range";
    else if (row->function != function)
        what = "function";
    else if (row->kind != (rules ? SFU_ROW_RULES : e->reason[0] == 'o' ? SFU_ROW_OUTERMOST : SFU_ROW_ASK))
        what = "kind";
    else if (row->trap_frame != e->signal || row->abi != s->abi || (rules && row->signed_ra != e->signed_ra))
        what = "signal, ABI or signature";
    else if (rules && !same_rule(&row->cfa, &e->cfa))
        what = "CFA";
    else if (rules && !same_rule(&row->ra, &e->ra))
        what = "RA";
    else if (rules && !same_rule(&row->fp, &e->fp))
        what = "FP";
    if (what != NULL)
        differ("PC %" PRIx64 ": %s: start %" PRIx64 ", length %" PRIx32 ", CFA %" PRIx32 " %" PRId32 ", RA %" PRIx32
               " %" PRId32 ", FP %" PRIx32 " %" PRId32,
               pc, what, (uint64_t)row->start, row->length, row->cfa.control, row->cfa.offset, row->ra.control,
               row->ra.offset, row->fp.control, row->fp.offset);
}

static void look_up(const struct sfu_section *s, const struct expect *e, uint64_t function, uint64_t pc)
{
    bool found =
        strcmp(e->reason, "ok") == 0 || strcmp(e->reason, "outermost") == 0 || strcmp(e->reason, "ask") == 0;
    struct sfu_row row;
    int code = sfu_find(s, (sfu_addr)pc, &row);

    if ((code == SFU_OK) != found || (!found && strcmp(reason_of(code), e->reason) != 0))
        differ("PC %" PRIx64 ": %s, not %s", pc, reason_of(code), e->reason);
    else if (found)
        compare_row(s, e, function, &row, pc);
}

/* Each of up to 96 PCs. Of more, SOME at the start, in the middle and at the end. */
static void look_up_all(const struct sfu_section *s, const struct expect *e, uint64_t function)
{
    enum { SOME = 32 };
    uint64_t last = e->last - e->first;
    bool all = last < 3 * SOME;

    for (uint64_t i = 0; i < (all ? last + 1 : SOME); i++)
        look_up(s, e, function, e->first + i);
    for (uint64_t i = 0; i < SOME && !all; i++) {
        look_up(s, e, function, e->first + last / 2 + i);
        look_up(s, e, function, e->last - i);
    }
}

static void check_whole(const struct sfu_section *s, const struct expect *e)
{
    struct sfu_place place = {0, 0};
    int code = sfu_check(s, &place);

    if (same_code("the whole section", code, e) && (place.fde != e->first || place.row != e->last))
        differ("function %" PRIx32 ", row %" PRIx32 ": %s", place.fde, place.row, reason_of(code));
}

/* ---- Steps ----------------------------------------------------------------------------------------------------- */

static int read_stack(void *ctx, sfu_addr addr, void *buffer, size_t len)
{
    const struct step *step = ctx;

    for (unsigned i = 0; i < step->words; i++) {
        if (step->addresses[i] == addr && len == vector_abi(vector)->word) {
            bytes_put(buffer, (unsigned)len, vector_abi(vector)->big, step->values[i]);
            return 0;
        }
    }
    return -1;
}

static int read_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value)
{
    const struct step *step = ctx;

    (void)frame;
    if (reg >= VECTOR_REGISTERS || !(step->known >> reg & 1))
        return -1;
    *value = (sfu_addr)step->registers[reg];
    return 0;
}

/* Whether this build has the registers of STEP. */
static bool has_registers(const struct step *step)
{
    const struct frame *before = &step->before;
    bool all = fits(before->pc) && fits(before->sp) && fits(before->fp) && fits(before->ra);

    for (unsigned i = 0; i < VECTOR_REGISTERS; i++)
        all = all && (!(step->known >> i & 1) || fits(step->registers[i]));
    return all;
}

static void take_step(struct sfu_section *s, const struct expect *e)
{
    const struct frame *before = &e->step.before, *after = &e->step.after;
    struct sfu_target target;
    struct sfu_registers top;
    struct sfu_walk walk;
    int code;

    memset(&target, 0, sizeof target);
    memset(&top, 0, sizeof top);
    target.sections = s;
    target.stack.high = SFU_ADDR_MAX;
    target.red_zone = UINT16_MAX; /* the words are what a step names, wherever SP is */
    target.read = read_stack;
    target.reg = read_register;
    target.ctx = (void *)(uintptr_t)&e->step;
    top.pc = (sfu_addr)before->pc;
    top.sp = (sfu_addr)before->sp;
    top.fp = (sfu_addr)before->fp;
    top.ra = (sfu_addr)before->ra;
    top.has_ra = before->has_ra;
    top.pc_kind = before->exact ? SFU_PC_EXACT : SFU_PC_RETURN;
    sfu_walk_start(&walk, &target, &top);
    code = sfu_walk_step(&walk);
    if (!same_code("step", code, e) || code != SFU_OK)
        return;
    if (walk.frame.regs.pc != after->pc || walk.frame.regs.sp != after->sp || walk.frame.regs.fp != after->fp ||
        walk.frame.regs.pc_kind != (after->exact ? SFU_PC_EXACT : SFU_PC_RETURN))
        differ("step: PC %" PRIx64 ", SP %" PRIx64 ", FP %" PRIx64 ", kind %u", (uint64_t)walk.frame.regs.pc,
               (uint64_t)walk.frame.regs.sp, (uint64_t)walk.frame.regs.fp, walk.frame.regs.pc_kind);
}

/* ---- Vectors --------------------------------------------------------------------------------------------------- */

/* Goes on with the tables behind those of *S, by adding both. They are opened once more in *S. */
static bool go_on(struct sfu_section *s, const struct expect *e)
{
    struct sfu_section both[2], *list = NULL;
    int code = remote ? sfu_add_remote(&list, both, 2, s->read, s->ctx, s->size, s->addr)
                      : sfu_add(&list, both, 2, s->bytes, s->size, s->addr);
    bool none = strcmp(e->reason, "none") == 0, opened = list == &both[1];
    struct sfu_place place;

    if (opened && code == SFU_E_CONCATENATED) /* there is a third one, for which there was no room */
        code = SFU_OK;
    if (!is_built(vector, e->first) && !opened)
        return false;
    if (none ? code != SFU_OK || opened : strcmp(reason_of(code), e->reason) != 0)
        differ("next: %s, not %s", none && opened ? "there is one" : reason_of(code), e->reason);
    if (failed || !opened)
        return false;
    if (both[1].addr - vector->at != e->first)
        differ("next: at %" PRIx64 ", not %" PRIx64, both[1].addr - vector->at, e->first);
    code = sfu_check(&both[0], &place);
    if (code == SFU_E_CONCATENATED)
        differ("the tables in front of the next ones still have them behind them");
    *s = both[1];
    s->next = NULL;
    return true;
}

static void run_lines(const struct vector *v, const uint8_t *block)
{
    struct sfu_section s;
    struct expect e;
    uint64_t function = 0;
    int code;

    if (!fits(v->at))
        return;
    code = open_section(&s, v, block);
    line = v->lines[0].number;
    vector_expect(v, 0, &e);
    if (e.kind == EXPECT_OPEN || code != SFU_OK || !is_built(v, 0)) {
        if (!is_built(v, 0) ? code == SFU_OK : e.kind != EXPECT_OPEN || strcmp(reason_of(code), e.reason) != 0)
            differ("open: %s", reason_of(code));
        return;
    }
    for (unsigned i = 0; i < v->num_lines && !failed; i++) {
        line = v->lines[i].number;
        vector_expect(v, i, &e);
        if (e.kind == EXPECT_WHOLE)
            check_whole(&s, &e);
        else if (e.kind == EXPECT_FUNCTION)
            function = e.first;
        else if (e.kind == EXPECT_PCS)
            look_up_all(&s, &e, function);
        else if (e.kind == EXPECT_STEP && has_registers(&e.step))
            take_step(&s, &e);
        else if (e.kind == EXPECT_STEP)
            continue;
        else if (!go_on(&s, &e))
            return;
    }
}

static void begin(const struct vector *v)
{
    vector = v;
    num++;
    failed = false;
}

static void end(const struct vector *v)
{
    if (!failed)
        printf("ok %s: %s\n", program, v->name);
}

/* The block ends where the section does, so that the address sanitizer sees what is read behind it. Nothing in it is
 * aligned. */
static void run(const struct vector *v)
{
    uint8_t *block = malloc(v->size + 1);

    if (block == NULL)
        exit(2);
    memcpy(block + 1, v->bytes, v->size);
    remote = false;
    run_lines(v, block + 1);
#ifndef SFU_NO_REMOTE
    remote = true;
    run_lines(v, block + 1);
#endif
    free(block);
}

/* T, without the name of a program in front: run.sh drops the results of the other programs. */
static const char *wanted_vectors(void)
{
    const char *pattern = getenv("T");
    const char *colon = pattern != NULL ? strstr(pattern, ": ") : NULL;

    return colon != NULL && strcspn(pattern, " ") > (size_t)(colon - pattern) ? colon + 2 : pattern;
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');

    program = slash != NULL ? slash + 1 : argv[0];
    if (strncmp(program, "run-", 4) == 0)
        program += 4;
    for (int i = 1; i < argc; i++)
        vectors_read(argv[i], wanted_vectors(), begin, run, end);
    printf("# %s: %lu vectors, %lu of them differ\n", program, num, num_failed);
    return num == 0 || num_failed > 0;
}
