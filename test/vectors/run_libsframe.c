/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * run_libsframe FILE...: runs libsframe on the vectors of each FILE, in the byte order of their ABI, and prints where
 * it differs, a line for each vector: the name, a tab, what it says. What the library has no function for is left out:
 * the check of a whole section, joined sections, steps. Any error is as good as any other. It is given a process of
 * its own for each section, since some make it crash.
 */
#include "vector.h"

#include <sframe-api.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool failed; /* this vector, with any value or size */
static unsigned long num;

static void differ(const struct vector *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* In the process of one section. */
static void differ(const struct vector *v, const char *format, ...)
{
    va_list args;

    printf("%s\t", v->name);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    _exit(1);
}

/* ---- What libsframe says of a PC ------------------------------------------------------------------------------- */

struct answer {
    char reason[VECTOR_REASON]; /* "ok", "outermost" or "error" */
    struct rule cfa, ra, fp;
    bool signal, signed_ra;
};

/* What libsframe says of the function at OFFSET from the section: its information bytes, and its number of rows. It
 * gives starts as they are in the field. */
static bool describe(const sframe_decoder_ctx *d, int64_t offset, unsigned char info[2], uint32_t *rows)
{
    bool from_field = sframe_decoder_get_flags(d) & SFRAME_F_FDE_FUNC_START_PCREL;

    for (uint32_t i = 0; i < sframe_decoder_get_num_fidx(d); i++) {
        uint32_t size;
        int64_t start;
        uint8_t repeat;
        int error = 0;

        if (sframe_decoder_get_funcdesc_v3(d, i, rows, &size, &start, &info[0], &info[1], &repeat) != 0)
            continue;
        if (from_field)
            start += sframe_decoder_get_offsetof_fde_start_addr(d, i, &error);
        if (offset >= start && (uint64_t)(offset - start) < size)
            return true;
    }
    return false;
}

static struct rule rule_of(uint32_t control, int32_t offset)
{
    struct rule rule = {control, offset};

    return rule;
}

static uint32_t register_of(uint32_t reg)
{
    return reg << 3 | 1;
}

static void default_rules(const struct vector *v, const sframe_decoder_ctx *d, const sframe_frame_row_entry *row,
                          struct answer *a)
{
    const struct abi *abi = vector_abi(v);
    bool in_registers = v->bytes[4] == 4 && v->bytes[2] == 2;
    int error = 0;
    bool sp = sframe_fre_get_base_reg_id(row, &error) == SFRAME_BASE_REG_SP;
    int32_t offset = sframe_fre_get_cfa_offset(d, row, SFRAME_FDE_TYPE_DEFAULT, &error);

    a->cfa = rule_of(register_of(sp ? abi->sp : abi->fp), offset);
    if (error != 0)
        strcpy(a->reason, "error");
    offset = sframe_fre_get_ra_offset(d, row, SFRAME_FDE_TYPE_DEFAULT, &error);
    if (error != 0 || (offset == SFRAME_FRE_RA_OFFSET_INVALID && v->bytes[4] == 4))
        a->ra = rule_of(register_of(abi->ra), 0);
    else
        a->ra = in_registers && offset & 1 ? rule_of(register_of((uint32_t)(offset >> 1)), 0) : rule_of(2, offset);
    error = 0;
    offset = sframe_fre_get_fp_offset(d, row, SFRAME_FDE_TYPE_DEFAULT, &error);
    if (error != 0)
        a->fp = rule_of(register_of(abi->fp), 0);
    else
        a->fp = in_registers && offset & 1 ? rule_of(register_of((uint32_t)(offset >> 1)), 0) : rule_of(2, offset);
}

static void flexible_rules(const struct vector *v, const sframe_decoder_ctx *d, const sframe_frame_row_entry *row,
                           struct answer *a)
{
    const struct abi *abi = vector_abi(v);
    int8_t fixed = sframe_decoder_get_fixed_ra_offset(d);
    int error = 0;
    uint32_t control = sframe_get_fre_udata(row, 0, &error);
    int32_t offset = sframe_fre_get_cfa_offset(d, row, SFRAME_FDE_TYPE_FLEX, &error);

    a->cfa = rule_of(control, offset);
    if (error != 0)
        strcpy(a->reason, "error");
    control = sframe_get_fre_udata(row, 2, &error);
    if (error != 0 || control == 0)
        a->ra = fixed != 0 ? rule_of(2, fixed) : rule_of(register_of(abi->ra), 0);
    else
        a->ra = rule_of(control, sframe_fre_get_ra_offset(d, row, SFRAME_FDE_TYPE_FLEX, &error));
    error = 0;
    control = sframe_get_fre_udata(row, control == 0 ? 3 : 4, &error);
    fixed = sframe_decoder_get_fixed_fp_offset(d);
    if (error != 0 || control == 0)
        a->fp = fixed != 0 ? rule_of(2, fixed) : rule_of(register_of(abi->fp), 0);
    else
        a->fp = rule_of(control, sframe_fre_get_fp_offset(d, row, SFRAME_FDE_TYPE_FLEX, &error));
}

static void ask(const struct vector *v, const sframe_decoder_ctx *d, uint64_t pc, struct answer *a)
{
    int64_t offset = (int64_t)(pc - v->at);
    sframe_frame_row_entry row;
    unsigned char info[2] = {0, 0};
    uint32_t rows = 0;
    int error = 0;
    bool described = describe(d, offset, info, &rows);

    memset(a, 0, sizeof *a);
    strcpy(a->reason, "error");
    a->signal = v->bytes[2] == 3 && info[0] & 0x80;
    if (described && rows == 0 && v->bytes[2] == 3 && (a->signal || (info[1] & 0x1f) == 0))
        strcpy(a->reason, a->signal ? "ask" : "outermost");
    if (sframe_find_fre(d, offset, &row) != 0)
        return;
    strcpy(a->reason, "ok");
    if (sframe_fre_get_ra_undefined_p(d, &row, &error))
        strcpy(a->reason, "outermost");
    else if ((info[1] & 0x1f) == SFRAME_FDE_TYPE_FLEX)
        flexible_rules(v, d, &row, a);
    else
        default_rules(v, d, &row, a);
    a->signed_ra = sframe_fre_get_ra_mangled_p(d, &row, &error);
}

/* ---- Vectors --------------------------------------------------------------------------------------------------- */

static bool same_rule(struct rule a, struct rule b)
{
    return a.control == b.control && a.offset == b.offset;
}

static void compare(const struct vector *v, const sframe_decoder_ctx *d, const struct expect *e, uint64_t pc)
{
    bool found =
        strcmp(e->reason, "ok") == 0 || strcmp(e->reason, "outermost") == 0 || strcmp(e->reason, "ask") == 0;
    struct answer a;

    ask(v, d, pc, &a);
    if (strcmp(a.reason, found ? e->reason : "error") != 0)
        differ(v, "%" PRIx64 ": %s, not %s", pc, a.reason, e->reason);
    if (!found)
        return;
    if (a.signal != e->signal)
        differ(v, "%" PRIx64 ": signal", pc);
    if (strcmp(e->reason, "ok") != 0)
        return;
    if (a.signed_ra != e->signed_ra)
        differ(v, "%" PRIx64 ": signature", pc);
    if (!same_rule(a.cfa, e->cfa))
        differ(v, "%" PRIx64 ": CFA %" PRIx32 " %" PRId32, pc, a.cfa.control, a.cfa.offset);
    if (!same_rule(a.ra, e->ra))
        differ(v, "%" PRIx64 ": RA %" PRIx32 " %" PRId32, pc, a.ra.control, a.ra.offset);
    if (!same_rule(a.fp, e->fp))
        differ(v, "%" PRIx64 ": FP %" PRIx32 " %" PRId32, pc, a.fp.control, a.fp.offset);
}

/* Whether E is of what libsframe is asked. */
static bool is_good(const struct expect *e)
{
    return e->kind == EXPECT_PCS &&
           (strcmp(e->reason, "ok") == 0 || strcmp(e->reason, "outermost") == 0 || strcmp(e->reason, "ask") == 0);
}

/* Where another section follows, all lines behind that are its. */
static void run_lines(const struct vector *v)
{
    int error = 0;
    sframe_decoder_ctx *d = sframe_decode((const char *)v->bytes, v->size, &error);
    struct expect e;

    for (unsigned i = 0; i < v->num_lines; i++) {
        vector_expect(v, i, &e);
        if (e.kind == EXPECT_NEXT)
            return;
        if (e.kind == EXPECT_OPEN && d != NULL)
            differ(v, "opens it");
        if (is_good(&e) && d == NULL)
            differ(v, "does not open it: %s", sframe_errmsg(error));
        if (e.kind != EXPECT_PCS || d == NULL)
            continue;
        compare(v, d, &e, e.first);
        compare(v, d, &e, e.first + (e.last - e.first) / 2);
        compare(v, d, &e, e.last);
    }
}

static void begin(const struct vector *v)
{
    (void)v;
    num++;
    failed = false;
}

static void run(const struct vector *v)
{
    int status;
    pid_t pid;

    if (!v->own || failed)
        return;
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        alarm(5);
        run_lines(v);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        exit(2);
    failed = status != 0;
    if (WIFSIGNALED(status))
        printf("%s\tsignal %d\n", v->name, WTERMSIG(status));
}

static void end(const struct vector *v)
{
    (void)v;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        vectors_read(argv[i], getenv("T"), begin, run, end);
    fprintf(stderr, "# %lu vectors\n", num);
    return num == 0;
}
