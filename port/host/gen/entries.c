/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "entries.h"
#include "code/units.h"

#include <elf.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is read now. */
struct reader {
    struct entries *entries;
    struct image *image;
    const struct cfi_spans *spans;
    const struct kept *kept;
    const struct cfi *cfi;
    void (*skipped)(const char *text, bool by_cfi);
    const char *text; /* as it was given */
    bool names_many;  /* a pattern, or vectors */
    bool cold;        /* a part of the function that TEXT names */
};

static bool refuse(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(struct reader *r, const char *format, ...)
{
    char *error = r->entries->error;
    const size_t size = sizeof r->entries->error;
    va_list args;
    int used = snprintf(error, size, "--entry=%.80s: ", r->text);

    va_start(args, format);
    if (used > 0 && (size_t)used < size)
        vsnprintf(error + used, size - (size_t)used, format, args);
    va_end(args);
    return false;
}

/* ---- Kinds ----------------------------------------------------------------------------------------------------- */

enum { VECTORS = CODE_KINDS, NO_NUMBER = 1000 };

static bool is_x86_64(const struct image *image)
{
    return image->abi == SFU_AMD64;
}

/* Of 64 bits, or i386. */
static bool is_x86(const struct image *image)
{
    return is_x86_64(image) || image->abi == SFU_I386;
}

static bool is_aarch64(const struct image *image)
{
    return image->abi == SFU_AARCH64 || image->abi == SFU_AARCH64_BIG;
}

static bool is_riscv(const struct image *image)
{
    return image->header.e_machine == EM_RISCV;
}

static bool is_arm(const struct image *image)
{
    return image->header.e_machine == EM_ARM;
}

static bool has_vectors(const struct image *image)
{
    return is_x86(image) || is_aarch64(image);
}

static const struct kind {
    const char *name;
    unsigned kind; /* enum code_kind, or VECTORS */
    bool (*fits)(const struct image *image);
    const char *of; /* which CPUs */
} kinds[] = {
    {"trap", CODE_TRAP, NULL, NULL},
    {"trap4", CODE_TRAP4, is_arm, "32-bit ARM"},
    {"trap8", CODE_TRAP8, is_arm, "32-bit ARM"},
    {"error", CODE_ERROR, is_x86, "x86_64 and i386"},
    {"sp0", CODE_SP0, is_aarch64, "aarch64"},
    {"lower", CODE_LOWER, is_aarch64, "aarch64"},
    {"scratch", CODE_SCRATCH, is_riscv, "RISC-V"},
    {"syscall", CODE_SYSCALL, is_x86_64, "x86_64"},
    {"vectors", VECTORS, has_vectors, "x86_64, i386 and aarch64"},
    {"start", CODE_START, NULL, NULL},
    {"call", CODE_CALLED, NULL, NULL},
};

const char *entries_kind(enum code_kind kind)
{
    size_t i;

    for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == kind && kind != CODE_KINDS)
            return kinds[i].name;
    return "?";
}

/* No kind has the name WORD. */
static bool refuse_kind(struct reader *r, const char *word)
{
    char names[160] = "";
    size_t i, used = 0;

    for (i = 0; i < sizeof kinds / sizeof *kinds && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", kinds[i].name);
    return refuse(r, "there is no kind '%s'; there are %s", word, names);
}

/* Takes ":KIND" off NAME. STEP: the number behind "vectors/", or 0. */
static bool take_kind(struct reader *r, char *name, unsigned *kind, uint64_t *step)
{
    char *word = strchr(name, ':'), *number, *end;
    size_t i;

    *kind = CODE_TRAP;
    *step = 0;
    if (word == NULL && is_arm(r->image))
        return refuse(
            r, "of 32-bit ARM say which kind: :trap, :trap4 or :trap8, as LR is 0, 4 or 8 bytes behind the PC "
               "there; :call, as for a handler of Cortex-M; or :start");
    if (word == NULL)
        return true;
    *word++ = '\0';
    number = strchr(word, '/');
    if (number != NULL)
        *number++ = '\0';
    for (i = 0; i < sizeof kinds / sizeof *kinds && strcmp(kinds[i].name, word) != 0; i++)
        continue;
    if (i == sizeof kinds / sizeof *kinds)
        return refuse_kind(r, word);
    if (kinds[i].fits != NULL && !kinds[i].fits(r->image))
        return refuse(r, "%s is for %s alone", word, kinds[i].of);
    *kind = kinds[i].kind;
    if (number == NULL)
        return true;
    if (*kind != VECTORS || !is_x86(r->image))
        return refuse(r, "only vectors of x86_64 and i386 take a number");
    errno = 0;
    *step = strtoull(number, &end, 0);
    if (end == number || *end != '\0' || errno != 0 || *step == 0 || *step > 4096)
        return refuse(r, "'%s' is no number of bytes from 1 to 4096", number);
    return true;
}

/* ---- Addresses ------------------------------------------------------------------------------------------------- */

static bool is_kept(const struct kept *kept, uint64_t addr)
{
    size_t below = count_up_to(kept->list, kept->num, sizeof *kept->list, offsetof(struct kept_span, start), addr);

    return below > 0 && addr < kept->list[below - 1].end;
}

struct row_count {
    size_t num;
    bool plain; /* the rows are those of a function that is called */
};

/* A cfi_row_fn. */
static void count_row(void *ctx, const struct cfi_row *row)
{
    struct row_count *count = ctx;

    count->num++;
    count->plain = row->kind == CFI_RULES;
}

/* Whether the CFI at FDE is no more than what holds for each function that is called, at its start: so compilers
 * describe functions whose attribute is `naked`. */
static bool says_nothing(const struct reader *r, const struct cfi_fde *fde, enum code_kind kind)
{
    struct row_count count = {0, false};

    cfi_rows(r->cfi, fde, count_row, &count);
    return kind != CODE_CALLED && count.num == 1 && count.plain && !cfi_is_signal(fde);
}

/* Whether CFI says how ADDR is entered. RISC-V's compilers describe an interrupt function as if it were called. */
static bool has_entry(const struct reader *r, const struct cfi_span *span, uint64_t addr, enum code_kind kind)
{
    return span != NULL && span->fde != NULL && !says_nothing(r, span->fde, kind) &&
           !(abi_is_riscv(r->image->abi) && kind == CODE_TRAP && addr == span->start && !cfi_is_signal(span->fde));
}

/* Whether an interrupt or a system call enters in this way, which code that is described may show to be true. */
static bool is_of_interrupt(enum code_kind kind)
{
    return kind != CODE_START && kind != CODE_CALLED;
}

/* Whether KIND may stand for what CFI says of the whole function at ADDR, which begins SPAN. */
static bool may_overrule(const struct cfi_span *span, uint64_t addr, enum code_kind kind)
{
    return kind == CODE_START && span != NULL && span->fde != NULL && span->start == addr &&
           span->fde->start == addr && span->end - span->start == span->fde->size && !cfi_is_signal(span->fde);
}

static void append(struct entries *e, const struct code_entry_point *entry)
{
    e->list = grow(e->list, e->num, sizeof *e->list);
    e->list[e->num] = *entry;
    e->list[e->num].order = e->num;
    e->num++;
}

/* Adds ADDR, unless its code is described already. Of several addresses that a text names nothing is said then. */
static bool add(struct reader *r, uint64_t addr, enum code_kind kind)
{
    const struct code_cpu *cpu = code_cpu(r->image);
    const struct cfi_span *span = cfi_span_at(r->spans, addr);
    const bool has = has_entry(r, span, addr, kind);
    const bool overrules = (has || r->cold) && may_overrule(span, addr, kind);
    const bool described = has && !overrules;

    if (cpu != NULL && addr % cpu->align != 0)
        return refuse(r, "no instruction begins at 0x%" PRIx64, addr);
    if (image_code(r->image, addr) == NULL)
        return refuse(r, "0x%" PRIx64 " is not in a section of code", addr);
    if ((described && (addr != span->start || !is_of_interrupt(kind))) || is_kept(r->kept, addr)) {
        if (!r->names_many)
            r->skipped(r->text, span != NULL && span->fde != NULL);
        return true;
    }
    append(r->entries, &(struct code_entry_point){.addr = addr,
                                                  .kind = kind,
                                                  .exact = !r->names_many,
                                                  .described = described,
                                                  .text = r->text,
                                                  .overrules = overrules});
    return true;
}

/* How many words the entry at ADDR pushes before it does anything else. Entries for which the CPU pushes an error code
 * push one less. */
static unsigned words_pushed(struct image *image, uint64_t addr)
{
    static const uint8_t endbr[4] = {0xf3, 0x0f, 0x1e, 0xfa};
    enum { CLD = 0xfc, CLI = 0xfa, PUSH_BYTE = 0x6a, PUSH_WORD = 0x68 };
    const uint8_t *bytes = image_instructions(image, addr, 16);
    unsigned words = 0, at = 0;

    while (bytes != NULL && at + 5 <= 16)
        if (memcmp(bytes + at, endbr, sizeof endbr) == 0) {
            at += sizeof endbr;
        } else if (bytes[at] == CLD || bytes[at] == CLI) {
            at++;
        } else if (bytes[at] == PUSH_BYTE || bytes[at] == PUSH_WORD) {
            at += bytes[at] == PUSH_BYTE ? 2 : 5;
            words++;
        } else {
            break;
        }
    return words;
}

/* The CPU pushes an error code for vector N, whose entry is at ADDR (Intel's manual, volume 3, 6.15; AMD's, volume 2,
 * 8.2). Of 21, 29 and 30, which older CPUs do not know, the entry says what it is made for: PLAIN is one without. */
static enum code_kind kind_of_vector(struct image *image, uint64_t n, uint64_t addr, uint64_t plain)
{
    static const uint64_t with_error = 1 << 8 | 0x1f << 10 | 1 << 17, newer = 1 << 21 | 3 << 29;

    if (n >= 32)
        return CODE_TRAP;
    if (newer >> n & 1)
        return words_pushed(image, addr) < words_pushed(image, plain) ? CODE_ERROR : CODE_TRAP;
    return with_error >> n & 1 ? CODE_ERROR : CODE_TRAP;
}

/* x86_64 and i386: entries of STEP bytes each, those of vectors 0, 1, ... */
static bool add_stubs(struct reader *r, const struct symbol *symbol, uint64_t step)
{
    uint64_t n;

    if (step == 0)
        return refuse(r, "a number of bytes must follow, as in vectors/16: how long one entry is");
    if (symbol->size == 0)
        return refuse(r, "the symbol has no size, which .size gives it; or name each entry");
    for (n = 0; n * step < symbol->size && n < 256; n++)
        if (!add(r, symbol->addr + n * step, kind_of_vector(r->image, n, symbol->addr + n * step, symbol->addr)))
            return false;
    return true;
}

enum { SLOTS = 16, SLOT = 128 };

/* Where the slots at SYMBOL end: a kernel without programs may have other code in the place of the last ones. */
static uint64_t end_of_slots(const struct image *image, const struct symbol *symbol)
{
    uint64_t end = symbol->addr + SLOTS * SLOT;
    size_t i;

    for (i = 0; i < image->num_symbols; i++) {
        const struct symbol *other = &image->symbols[i];

        if (other->function && other->addr > symbol->addr && other->addr < end &&
            (other->addr % SLOT != 0 || other->size > SLOT))
            end = other->addr;
    }
    return end;
}

/* aarch64: 16 slots of 128 bytes. At the first four the CPU has left SP_EL0 for another SP, and at the last eight the
 * interrupted SP, of a program, is in SP_EL0. Slots without instructions are left out: ways would lead through them. */
static bool add_slots(struct reader *r, const struct symbol *symbol)
{
    static const uint8_t nop[4] = {0x1f, 0x20, 0x03, 0xd5}, none[4];
    const uint64_t end = end_of_slots(r->image, symbol);
    unsigned n, i;

    if (symbol->addr % (SLOTS * SLOT) != 0)
        return refuse(r, "no vectors are at 0x%" PRIx64 ": their address is a multiple of 2048", symbol->addr);
    for (n = 0; n < SLOTS && symbol->addr + n * SLOT < end; n++) {
        const uint64_t addr = symbol->addr + n * SLOT;
        const uint8_t *bytes = image_instructions(r->image, addr, SLOT);

        for (i = 0; bytes != NULL && i < SLOT &&
                    (memcmp(bytes + i, nop, sizeof nop) == 0 || memcmp(bytes + i, none, sizeof none) == 0);
             i += 4)
            continue;
        if (bytes != NULL && i < SLOT && !add(r, addr, n < 4 ? CODE_SP0 : n < 8 ? CODE_TRAP : CODE_LOWER))
            return false;
    }
    return true;
}

/* Whether SYMBOL is that of a function which may be called. Parts of functions that compilers put elsewhere, or take
 * from libgcc, have names of their own, but are jumped to. */
static bool is_function(const struct symbol *symbol)
{
    return symbol->function && !unit_names_piece(symbol->name);
}

/* The number at the end of NAME, or NO_NUMBER. */
static uint64_t number_of(const char *name)
{
    size_t digits = strlen(name);

    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    return name[digits] != '\0' && strlen(name + digits) < 4 ? strtoull(name + digits, NULL, 10) : NO_NUMBER;
}

/* The stub of a vector without an error code: that of the lowest one of those that match PATTERN; or 0. */
static uint64_t plain_stub(const struct image *image, const char *pattern)
{
    const struct symbol *found = NULL;
    size_t i;

    for (i = 0; i < image->num_symbols; i++) {
        const struct symbol *symbol = &image->symbols[i];
        uint64_t n = number_of(symbol->name);

        if (fnmatch(pattern, symbol->name, 0) == 0 && (n < 8 || (n >= 32 && n < NO_NUMBER)) &&
            (found == NULL || n < number_of(found->name)))
            found = symbol;
    }
    return found != NULL ? found->addr : 0;
}

/* The first symbol that has the name NAME, or NULL. OTHERS: whether code at another address has that name, too. */
static const struct symbol *find_symbol(const struct image *image, const char *name, bool *others)
{
    const struct symbol *found = NULL, *symbol = image->symbols, *end = symbol + image->num_symbols;

    *others = false;
    for (; symbol < end; symbol++)
        if (strcmp(symbol->name, name) == 0) {
            found = found != NULL ? found : symbol;
            *others = *others || symbol->addr != found->addr;
        }
    return found;
}

/* What compilers have put elsewhere of the function NAME, which is a start in spite of its CFI, has CFI of its own.
 * Only that function jumps there. */
static bool add_cold_part(struct reader *r, const char *name)
{
    const size_t length = strlen(name);
    char *cold = zeroed(length + sizeof ".cold", 1);
    const struct symbol *symbol;
    bool others, good;

    memcpy(cold, name, length);
    memcpy(cold + length, ".cold", sizeof ".cold");
    symbol = find_symbol(r->image, cold, &others);
    free(cold);
    r->cold = true;
    good = symbol == NULL || others || add(r, symbol->addr, CODE_START);
    r->cold = false;
    return good;
}

/* Adds ADDR, of the symbol NAME, and the cold part of a function that is a start in spite of its CFI. */
static bool add_named(struct reader *r, const char *name, uint64_t addr, enum code_kind kind)
{
    const struct entries *e = r->entries;
    const size_t before = e->num;

    if (!add(r, addr, kind))
        return false;
    return e->num == before || !e->list[before].overrules || add_cold_part(r, name);
}

static bool is_cold(const char *name)
{
    const size_t length = strlen(name), cold = sizeof ".cold" - 1;

    return length > cold && strcmp(name + length - cold, ".cold") == 0;
}

/* All code whose symbol matches PATTERN, as a shell's do. Of vectors, the number at the end of the name says which. */
static bool add_matches(struct reader *r, const char *pattern, unsigned kind)
{
    const struct image *image = r->image;
    const uint64_t plain = kind == VECTORS ? plain_stub(image, pattern) : 0;
    bool found = false;
    size_t i;

    if (kind == VECTORS && !is_x86(image))
        return refuse(r, "vectors of this CPU have one symbol, at their start");
    for (i = 0; i < image->num_symbols; i++) {
        const struct symbol *symbol = &image->symbols[i];
        const uint64_t n = number_of(symbol->name);

        if (fnmatch(pattern, symbol->name, 0) != 0 || (kind == CODE_CALLED && !is_function(symbol)) ||
            (kind == VECTORS && n == NO_NUMBER) || (kind == CODE_START && is_cold(symbol->name)))
            continue;
        found = true;
        if (!add_named(r, symbol->name, symbol->addr,
                       kind == VECTORS ? kind_of_vector(r->image, n, symbol->addr, plain) : (enum code_kind)kind))
            return false;
    }
    return found || refuse(r, kind == CODE_CALLED ? "no function has a name like this"
                              : kind == VECTORS   ? "no code has a name like this with a number at its end"
                                                  : "no code has a name like this");
}

static bool add_symbol(struct reader *r, char *name, unsigned kind, uint64_t step)
{
    struct image *image = r->image;
    bool others;
    const struct symbol *symbol = find_symbol(image, name, &others);
    char *plus = strchr(name, '+');
    uint64_t offset = 0;

    if (symbol == NULL && is_whole_number(name, &offset))
        return kind == VECTORS ? refuse(r, "vectors begin at a symbol") : add(r, offset, (enum code_kind)kind);
    if (symbol == NULL && plus != NULL) { /* a name may have a + in it */
        *plus++ = '\0';
        if (!is_whole_number(plus, &offset))
            return refuse(r, "'%s' is no number", plus);
        symbol = find_symbol(image, name, &others);
    }
    if (symbol == NULL)
        return refuse(r, image->num_symbols == 0 ? "the file has no symbols of code"
                                                 : "no code has this symbol; labels that begin with .L have none");
    if (others)
        return refuse(r,
                      "code at several addresses has this symbol: name the code by its address, as in 0x%" PRIx64,
                      symbol->addr + offset);
    if (kind == VECTORS && offset != 0)
        return refuse(r, "vectors begin at a symbol");
    if (kind == VECTORS)
        return is_x86(image) ? add_stubs(r, symbol, step) : add_slots(r, symbol);
    return add_named(r, name, symbol->addr + offset, (enum code_kind)kind);
}

/* A vector table of Cortex-M has at most so many words. */
enum { ARM_VECTORS = 496 };

struct vector_table {
    uint64_t addr, size;
};

/* An image_symbol_fn: finds the size of the symbol of a table. */
static void measure_vectors(void *ctx, const GElf_Sym *sym, const char *name)
{
    struct vector_table *table = ctx;

    (void)name;
    if (sym->st_value == table->addr && sym->st_size > table->size && sym->st_shndx != SHN_UNDEF)
        table->size = sym->st_size;
}

/* Entries for the handlers of Cortex-M, which its vector table names. It is at the start of a section: its first word
 * is an SP, its second one the image's entry. Its size is the section's, if that has the name, or its symbol's. */
static void add_handlers(struct reader *r)
{
    struct image *image = r->image;
    size_t i;
    unsigned k;

    for (i = 0; i < image->num_sections; i++) {
        const struct section *s = &image->sections[i];
        struct vector_table table = {s->addr, strstr(s->name, "vector") != NULL ? s->size : 0};
        const uint8_t *p = s->flags & SHF_ALLOC && s->size >= 8 ? image_bytes(image, s->addr, 8) : NULL;

        if (p == NULL || load_number(p, 4, false) % 4 != 0 ||
            load_number(p + 4, 4, false) != (image->header.e_entry | 1))
            continue;
        (void)image_each_symbol(image, SHT_SYMTAB, measure_vectors, &table);
        for (k = 2; k < ARM_VECTORS && 4 * k < table.size; k++) {
            const uint8_t *word = image_bytes(image, s->addr + 4 * k, 4);
            const uint64_t handler = word != NULL ? load_number(word, 4, false) : 0;

            if (handler & 1 && image_code(image, handler - 1) != NULL)
                (void)add(r, handler - 1, CODE_CALLED);
        }
    }
}

static bool read_one(struct reader *r)
{
    char *name = copied(r->text);
    unsigned kind;
    uint64_t step;
    bool good;

    good = take_kind(r, name, &kind, &step);
    r->names_many = strpbrk(name, "*?[") != NULL || kind == VECTORS;
    if (good && strpbrk(name, "*?[") != NULL)
        good = add_matches(r, name, kind);
    else
        good = good && add_symbol(r, name, kind, step);
    free(name);
    return good;
}

static int by_addr(const void *a, const void *b)
{
    const struct code_entry_point *x = a, *y = b;

    return x->addr != y->addr ? (x->addr > y->addr) - (x->addr < y->addr)
                              : (x->order > y->order) - (x->order < y->order);
}

void entries_skip(const struct entries *entries, void (*skipped)(const char *text, bool by_cfi))
{
    size_t i;

    for (i = 0; i < entries->num; i++)
        if (entries->list[i].described && entries->list[i].exact && !entries->list[i].taken)
            skipped(entries->list[i].text, true);
}

/* Leaves the last one of each address. */
static void drop_twins(struct entries *e)
{
    size_t i, num = 0;

    put_in_order(e->list, e->num, sizeof *e->list, by_addr);
    for (i = 0; i < e->num; i++)
        if (i + 1 == e->num || e->list[i].addr != e->list[i + 1].addr)
            e->list[num++] = e->list[i];
    e->num = num;
}

bool entries_read(struct entries *entries, struct image *image, const struct known *texts, const struct cfi *cfi,
                  const struct cfi_spans *spans, const struct kept *kept,
                  void (*skipped)(const char *text, bool by_cfi))
{
    struct reader r = {entries, image, spans, kept, cfi, skipped, NULL, false, false};
    size_t i;

    memset(entries, 0, sizeof *entries);
    if (image->abi == SFU_THUMB) {
        r.text = "";
        r.names_many = true;
        add_handlers(&r);
    }
    for (i = 0; i < texts->num; i++) {
        r.text = texts->list[i].name;
        if (!read_one(&r))
            return false;
    }
    drop_twins(entries);
    return true;
}
