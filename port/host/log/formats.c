/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "formats.h"
#include "common/image.h"
#include "sfu.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint8_t abi;
} cpus[] = {{"x86_64", SFU_AMD64}, {"aarch64", SFU_AARCH64}, {"aarch64_be", SFU_AARCH64_BIG},
            {"s390x", SFU_S390X},  {"riscv64", SFU_RISCV64}, {"riscv32", SFU_RISCV32},
            {"arm", SFU_ARM},      {"thumb", SFU_THUMB},     {"i386", SFU_I386},
            {"other", 0}};
enum { NUM_CPUS = sizeof cpus / sizeof cpus[0], MOST = 200 /* characters of a line */ };

uint32_t formats_cpu(uint8_t abi)
{
    unsigned i;

    for (i = 0; i < NUM_CPUS && cpus[i].abi != abi; i++)
        continue;
    return UINT32_C(1) << (i < NUM_CPUS ? i : NUM_CPUS - 1u);
}

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

static const char *take_cpus(struct formats *f, char *rest)
{
    char *save = NULL, *word;
    unsigned i;

    f->cpus = 0;
    for (word = strtok_r(rest, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
        for (i = 0; i < NUM_CPUS && strcmp(word, cpus[i].name) != 0; i++)
            continue;
        if (strcmp(word, "any") == 0)
            f->cpus = (UINT32_C(1) << NUM_CPUS) - 1;
        else if (i == NUM_CPUS)
            return "no CPU of that name";
        else
            f->cpus |= UINT32_C(1) << i;
    }
    return f->cpus != 0 ? NULL : "no CPU is named";
}

static void add_name(struct formats *f, const char *name, uint8_t reg)
{
    struct format_name *added;
    char *copy = copied(name), *colon = strchr(copy, ':');

    if (colon != NULL)
        *colon = '\0';
    f->names = grow(f->names, f->num_names, sizeof *f->names);
    added = &f->names[f->num_names++];
    *added = (struct format_name){copy, colon != NULL ? colon + 1 : NULL, f->cpus, reg};
}

static struct format_text *add_text(struct formats *f, enum format_kind kind, const char *text, uint8_t reg)
{
    f->texts = grow(f->texts, f->num_texts, sizeof *f->texts);
    f->texts[f->num_texts] = (struct format_text){kind, copied(text), NULL, f->cpus, reg};
    return &f->texts[f->num_texts++];
}

/* "TEXT" WORDS: REST is in small letters, and LINE, which ends in the same way, as it was written. */
static const char *take_unread(struct formats *f, char *rest, const char *line)
{
    char *end = rest[0] == '"' ? strchr(rest + 1, '"') : NULL, *said;

    if (end == NULL || end == rest + 1 || end[1] != ' ' || end[2] == '\0')
        return "a text in quotes and what to say of it are needed";
    *end = '\0';
    said = copied(line + (end + 2 - rest));
    said[strcspn(said, "\r\n")] = '\0';
    add_text(f, FORMAT_UNREAD, rest + 1, 0)->said = said;
    return NULL;
}

static bool is_name(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_:")] == '\0';
}

static const char *take_names(struct formats *f, char *rest, uint8_t reg)
{
    char *save = NULL, *word;

    if (rest[strspn(rest, "abcdefghijklmnopqrstuvwxyz0123456789_: ")] != '\0') {
        const size_t size = strlen(rest);

        if (rest[0] == '"' && size > 2 && rest[size - 1] == '"') {
            rest[size - 1] = '\0';
            rest++;
        }
        add_text(f, FORMAT_REGISTER, rest, reg);
        return NULL;
    }
    for (word = strtok_r(rest, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save))
        if (is_name(word))
            add_name(f, word, reg);
    return NULL;
}

/* "N NAME...". ROW: "N TEXT". */
static const char *take_register(struct formats *f, char *rest, bool row)
{
    static const struct {
        const char *name;
        uint8_t reg;
    } names[] = {{"pc", REGISTER_PC},
                 {"sp", FORMAT_SP},
                 {"fp", FORMAT_FP},
                 {"ra", FORMAT_RA},
                 {"psp", FORMAT_PSP},
                 {"msp", FORMAT_MSP},
                 {"exc_return", FORMAT_EXC_RETURN},
                 {"xpsr", FORMAT_XPSR},
                 {"epc", FORMAT_EPC},
                 {"elr_el1", FORMAT_ELR_EL1},
                 {"elr_el2", FORMAT_ELR_EL2},
                 {"elr_el3", FORMAT_ELR_EL3},
                 {"sp_el0", FORMAT_SP_EL0},
                 {"sp_el1", FORMAT_SP_EL1},
                 {"sp_el2", FORMAT_SP_EL2},
                 {"sp_el3", FORMAT_SP_EL3},
                 {"spsr", FORMAT_SPSR},
                 {"spsr_el1", FORMAT_SPSR_EL1},
                 {"spsr_el2", FORMAT_SPSR_EL2},
                 {"spsr_el3", FORMAT_SPSR_EL3},
                 {"cause", FORMAT_CAUSE}};
    char *space = strchr(rest, ' '), *end;
    unsigned long number;
    size_t i;

    if (space == NULL)
        return "a register and its names are needed";
    *space = '\0';
    for (i = 0; i < sizeof names / sizeof names[0] && !row; i++)
        if (strcmp(rest, names[i].name) == 0)
            return take_names(f, space + 1, names[i].reg);
    number = strtoul(rest, &end, 10);
    if (end == rest || *end != '\0' || number >= REGISTER_PC)
        return "no number of a register";
    if (!row)
        return take_names(f, space + 1, (uint8_t)number);
    add_text(f, FORMAT_ROW, space + 1, (uint8_t)number);
    return NULL;
}

/* "N NAME...": registers from the number N of GDB on. */
static const char *take_gdb(struct formats *f, char *rest)
{
    char *save = NULL, *word, *end;
    unsigned long number = strtoul(rest, &end, 10);

    if (end == rest || *end != ' ')
        return "a number and names are needed";
    for (word = strtok_r(end, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save), number++) {
        if (number > UINT8_MAX)
            return "no number of a register";
        add_text(f, FORMAT_GDB, word, (uint8_t)number);
    }
    return NULL;
}

const char *formats_add_line(struct formats *f, const char *line)
{
    static const struct {
        const char *word;
        enum format_kind kind;
    } kinds[] = {{"begin ", FORMAT_BEGIN}, {"from ", FORMAT_FROM},       {"stack ", FORMAT_STACK},
                 {"calls ", FORMAT_CALLS}, {"returns ", FORMAT_RETURNS}, {"list ", FORMAT_LIST},
                 {"base ", FORMAT_BASE},   {"linked ", FORMAT_LINKED},   {"top ", FORMAT_TOP},
                 {"moved ", FORMAT_MOVED}, {"frames ", FORMAT_FRAMES},   {"between ", FORMAT_BETWEEN}};
    char text[MOST];
    size_t i, size = strcspn(line, "\r\n");

    f->number++;
    while (size > 0 && line[size - 1] == ' ')
        size--;
    if (size >= sizeof text)
        return "too long a line";
    if (size == 0 || line[0] == '#')
        return NULL;
    for (i = 0; i < size; i++)
        text[i] = line[i] >= 'A' && line[i] <= 'Z' ? (char)(line[i] + 'a' - 'A') : line[i];
    text[size] = '\0';
    if (strncmp(text, "cpu ", 4) == 0)
        return take_cpus(f, text + 4);
    if (f->cpus == 0)
        f->cpus = (UINT32_C(1) << NUM_CPUS) - 1;
    if (strncmp(text, "register ", 9) == 0)
        return take_register(f, text + 9, false);
    if (strncmp(text, "row ", 4) == 0)
        return take_register(f, text + 4, true);
    if (strncmp(text, "other ", 6) == 0)
        return take_names(f, text + 6, FORMAT_OTHER);
    if (strncmp(text, "gdb ", 4) == 0)
        return take_gdb(f, text + 4);
    if (strncmp(text, "unread ", 7) == 0)
        return take_unread(f, text + 7, line + 7);
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const size_t word = strlen(kinds[i].word);

        if (strncmp(text, kinds[i].word, word) == 0 && text[word] != '\0') {
            add_text(f, kinds[i].kind, text + word, 0);
            return NULL;
        }
    }
    return "not a word that formats have";
}

/* ---- Names ----------------------------------------------------------------------------------------------------- */

static int by_format_name(const void *a, const void *b)
{
    const struct format_name *x = a, *y = b;
    const int order = strcmp(x->name, y->name);

    /* What needs another word of the line is asked first. */
    return order != 0 ? order : (y->with != NULL) - (x->with != NULL);
}

void formats_sort(struct formats *f)
{
    if (f->num_names > 0)
        qsort(f->names, f->num_names, sizeof *f->names, by_format_name);
}

/* Whether LINE has the word WITH. */
static bool has_word(const char *line, const char *with)
{
    const size_t size = strlen(with);
    const char *at;

    for (at = strstr(line, with); at != NULL; at = strstr(at + 1, with))
        if ((at == line || at[-1] == ' ') && strchr(" :=/", at[size]) != NULL)
            return true;
    return false;
}

const struct format_name *formats_find(const struct formats *f, const char *name, size_t size, uint32_t of,
                                       const char *line)
{
    size_t low = 0, high = f->num_names;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strncmp(f->names[middle].name, name, size);

        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < f->num_names && strncmp(f->names[low].name, name, size) == 0; low++)
        if (f->names[low].name[size] == '\0' && (f->names[low].cpus & of) != 0 &&
            (f->names[low].with == NULL || has_word(line, f->names[low].with)))
            return &f->names[low];
    return NULL;
}

void formats_free(struct formats *f)
{
    size_t i;

    for (i = 0; i < f->num_names; i++)
        free((void *)f->names[i].name);
    for (i = 0; i < f->num_texts; i++) {
        free((void *)f->texts[i].text);
        free((void *)f->texts[i].said);
    }
    free(f->names);
    free(f->texts);
    memset(f, 0, sizeof *f);
}
