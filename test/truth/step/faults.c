/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "faults.h"

/* ---- Figures ---- */

void print_figures(const char *abi, const char *set, const struct figures *f)
{
    printf("%s%s%s instructions=%llu pcs=%llu frames=%llu wrong=%llu no-table=%llu known=%llu\n", abi,
           set[0] != '\0' ? " " : "", set, f->instructions, f->pcs, f->frames, f->wrong, f->no_table, f->known);
    fflush(stdout);
}

void add_figures(struct figures *sum, const struct figures *f)
{
    sum->instructions += f->instructions;
    sum->pcs += f->pcs;
    sum->frames += f->frames;
    sum->wrong += f->wrong;
    sum->no_table += f->no_table;
    sum->known += f->known;
}

/* ---- The list ---- */

/* Cuts the next field off *LINE, without blanks around it. False if it is missing or too long. */
static bool cut(char **line, char *field, size_t size)
{
    char *p = *line, *end;
    size_t n;

    if (p == NULL)
        return false;
    end = strchr(p, '|');
    *line = end != NULL ? end + 1 : NULL;
    if (end == NULL)
        end = p + strlen(p);
    while (isspace((unsigned char)*p))
        p++;
    while (end > p && isspace((unsigned char)end[-1]))
        end--;
    n = (size_t)(end - p);
    if (n == 0 || n >= size)
        return false;
    memcpy(field, p, n);
    field[n] = '\0';
    return true;
}

static bool read_fault(struct fault *f, char *line)
{
    memset(f, 0, sizeof *f);
    return cut(&line, f->name, sizeof f->name) && cut(&line, f->abi, sizeof f->abi) &&
           cut(&line, f->compiler, sizeof f->compiler) && cut(&line, f->function, sizeof f->function) &&
           cut(&line, f->instruction, sizeof f->instruction) && cut(&line, f->table, sizeof f->table) &&
           cut(&line, f->truth, sizeof f->truth) && line == NULL;
}

bool faults_read(struct faults *faults, const char *path, bool all)
{
    FILE *in = fopen(path, "r");
    char line[512];
    bool ok = in != NULL, listed = false;

    faults->list = NULL;
    faults->count = 0;
    while (ok && fgets(line, sizeof line, in) != NULL) {
        if (strncmp(line, "```", 3) == 0) {
            listed = strcmp(line, "```step\n") == 0 || (all && strcmp(line, "```step-all\n") == 0);
            continue;
        }
        if (!listed)
            continue;
        faults->list = realloc(faults->list, (faults->count + 1) * sizeof *faults->list);
        ok = faults->list != NULL && read_fault(&faults->list[faults->count++], line);
        if (!ok)
            fprintf(stderr, "step: %s: not a fault: %s", path, line);
    }
    if (in != NULL)
        fclose(in);
    return ok;
}

static bool concerns(const struct fault *f, const struct cpu *cpu, const struct binary *image)
{
    return fnmatch(f->abi, cpu->abi.name, 0) == 0 && strstr(image->compiler, f->compiler) != NULL;
}

void faults_use(struct faults *faults, const struct cpu *cpu, const struct binary *image)
{
    unsigned i;

    for (i = 0; i < faults->count; i++)
        if (concerns(&faults->list[i], cpu, image))
            faults->list[i].usable = true;
}

/* ---- A row and its code in words ---- */

static const struct sfu_rule *rule_of(const struct sfu_row *row, const char *field)
{
    return strcmp(field, "pc") == 0 ? &row->ra : strcmp(field, "fp") == 0 ? &row->fp : &row->cfa;
}

/* A value that stays in its own register has that register for a rule. */
void describe_rule(char *text, size_t size, const struct cpu *cpu, const struct sfu_row *row, const char *field)
{
    const struct sfu_rule *rule = rule_of(row, field);
    unsigned own = strcmp(field, "pc") == 0 ? cpu->abi.ra : cpu->abi.fp, reg = (unsigned)(rule->control >> 3);
    long long offset = rule->offset;
    char base[16] = "cfa";

    if (rule->control & 1)
        sprintf(base, "r%u", reg);
    if (rule != &row->cfa && (rule->control & 3) == 1 && reg == own && offset == 0)
        snprintf(text, size, "%s -", field);
    else
        snprintf(text, size, rule->control & 2 ? "%s *(%s%+lld)" : "%s %s%+lld", field, base, offset);
}

void describe_code(char *text, size_t size, const struct binary *image, uint64_t pc)
{
    const struct function *s = binary_function(image, pc);
    uint64_t from = s != NULL && pc - s->start < 12 ? s->start : pc - 12, at;
    size_t n = 0;

    text[0] = '\0';
    for (at = from; at < pc + 12 && n + 4 < size; at++) {
        if (at == pc)
            text[n++] = '.';
        if (at - image->code_start < image->code_size)
            n += (size_t)sprintf(text + n, "%02x", image->code[at - image->code_start]);
    }
    text[n] = '\0';
}

/* ---- Matching ---- */

/* Whether TEXT begins with PATTERN, in which '?' stands for any digit. */
static bool begins_with(const char *text, const char *pattern)
{
    while (*pattern != '\0' && *text != '\0' && (*pattern == *text || (*pattern == '?' && *text != '.')))
        pattern++, text++;
    return *pattern == '\0';
}

/* The bytes listed around the dot are those around the dot at PC. */
static bool code_matches(const struct fault *f, const struct binary *image, uint64_t pc)
{
    char text[64];
    const char *dot = strchr(f->instruction, '.'), *at;
    size_t before;

    describe_code(text, sizeof text, image, pc);
    at = strchr(text, '.');
    if (dot == NULL || at == NULL || dot[1] == '\0')
        return false;
    before = (size_t)(dot - f->instruction);
    return (size_t)(at - text) >= before && begins_with(at - before, f->instruction);
}

static bool base_value(struct tracer *t, const struct regs *regs, const struct mistake *mistake, const char *base,
                       uint64_t *value)
{
    const struct cpu *cpu = t->m->cpu;
    unsigned reg;

    if (base[0] != 'r')
        return false;
    reg = (unsigned)strtoul(base + 1, NULL, 10);
    if (mistake->topmost && reg < 32)
        *value = regs->r[reg];
    else if (reg == cpu->abi.sp)
        *value = mistake->frame->sp;
    else if (reg == cpu->abi.fp)
        *value = mistake->frame->fp;
    else
        return false;
    return true;
}

/* Whether the rule after the field's name in F->truth gives the caller's value. */
static bool truth_holds(const struct fault *f, struct tracer *t, const struct regs *regs,
                        const struct mistake *mistake)
{
    const char *rule = f->truth + 3;
    uint8_t bytes[8];
    uint64_t value;
    bool deref = strncmp(rule, "*(", 2) == 0;
    const char *base = deref ? rule + 2 : rule;
    const char *offset = strpbrk(base, "+-");

    if (strcmp(rule, "lost") == 0)
        return true;
    if (offset == NULL || !base_value(t, regs, mistake, base, &value))
        return false;
    value += (uint64_t)strtoll(offset, NULL, 10);
    if (deref) {
        if (!machine_read(t->m, value, bytes, t->m->cpu->abi.word))
            return false;
        value = bytes_get(bytes, t->m->cpu->abi.word, t->m->cpu->abi.big);
    }
    return value == (strncmp(f->truth, "pc ", 3) == 0   ? mistake->right.pc
                     : strncmp(f->truth, "fp ", 3) == 0 ? mistake->right.fp
                                                        : mistake->right.sp);
}

/* Whether the row says exactly what F lists, of a field that is wrong. */
static bool table_matches(const struct fault *f, const struct cpu *cpu, const struct sfu_row *row,
                          const struct mistake *mistake)
{
    char rule[64], field[3];

    memcpy(field, f->table, 2);
    field[2] = '\0';
    if (strncmp(f->truth, field, 2) != 0 || (mistake->field != NULL && strcmp(mistake->field, field) != 0))
        return false;
    describe_rule(rule, sizeof rule, cpu, row, field);
    return fnmatch(f->table, rule, 0) == 0;
}

bool faults_match(struct faults *faults, struct tracer *t, const struct binary *image, const struct regs *regs,
                  const struct mistake *mistake)
{
    const struct seen *frame = mistake->frame;
    const struct function *s = binary_function(image, frame->exact ? frame->pc : frame->pc - 1);
    struct sfu_row row;
    unsigned i;

    if (!tracer_row(t, frame, &row) || s == NULL)
        return false;
    for (i = 0; i < faults->count; i++) {
        struct fault *f = &faults->list[i];

        if (concerns(f, t->m->cpu, image) && fnmatch(f->function, s->name, 0) == 0 &&
            code_matches(f, image, frame->pc) && table_matches(f, t->m->cpu, &row, mistake) &&
            truth_holds(f, t, regs, mistake)) {
            f->matched++;
            return true;
        }
    }
    return false;
}

bool faults_no_table(struct faults *faults, const struct cpu *cpu, const struct binary *image, const char *function,
                     uint64_t pc)
{
    unsigned i;

    for (i = 0; i < faults->count; i++) {
        struct fault *f = &faults->list[i];

        if (concerns(f, cpu, image) && fnmatch(f->function, function, 0) == 0 && strcmp(f->table, "none") == 0 &&
            (strcmp(f->instruction, ".") == 0 || code_matches(f, image, pc))) {
            f->matched++;
            return true;
        }
    }
    return false;
}
