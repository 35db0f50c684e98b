/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Functions of other images that never return. Code that calls one ends there, and what lies behind the call may be
 * another function. Nothing in the image says so but the name: the dynamic linker puts the address of what has that
 * name into a word of the GOT, and calls go there by that word, or by an entry of a PLT.
 */
#include "imports.h"
#include "state.h"
#include "units.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names ----------------------------------------------------------------------------------------------------- */

/* Functions of which a standard, or the manual of the library that has them, says that they do not return to their
 * caller. Where an image has one of these names itself, its code counts first. */
static const char *const endless[] = {
    /* C, POSIX and the BSDs: C11 7.22.4, 7.13.2, 7.26.5.5; err(3) */
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "thrd_exit",
    "pthread_exit",
    "err",
    "errx",
    "verr",
    "verrx",
    /* C libraries: what assert and checks of the stack and of sizes call, and what longjmp is with such a check */
    "__assert_fail",
    "__assert_perror_fail",
    "__assert",
    "__assert_func",
    "__assert2",
    "__stack_chk_fail",
    "__stack_smash_handler",
    "__fortify_fail",
    "__chk_fail",
    "__longjmp_chk",
    "__libc_start_main",
    "__libc_fatal",
    /* C++: the Itanium ABI and the ARM EHABI; std::terminate, std::unexpected, std::rethrow_exception */
    "__cxa_throw",
    "__cxa_rethrow",
    "__cxa_bad_cast",
    "__cxa_bad_typeid",
    "__cxa_throw_bad_array_length",
    "__cxa_throw_bad_array_new_length",
    "__cxa_pure_virtual",
    "__cxa_deleted_virtual",
    "__cxa_call_unexpected",
    "__cxa_call_terminate",
    "__cxa_end_cleanup",
    "_Unwind_Resume",
    "_Unwind_SjLj_Resume",
    "_ZSt9terminatev",
    "_ZSt10unexpectedv",
    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
    "_ZSt17rethrow_exceptionSt13exception_ptr",
    "_ZSt21__glibcxx_assert_failPKciS0_S0_",
    /* Fortran, Ada and GLib, by what gcc and the headers declare */
    "_gfortran_stop_string",
    "_gfortran_stop_numeric",
    "_gfortran_error_stop_string",
    "_gfortran_error_stop_numeric",
    "_gfortran_runtime_error",
    "_gfortran_runtime_error_at",
    "_gfortran_os_error",
    "_gfortran_os_error_at",
    "__gnat_raise_exception",
    "__gnat_last_chance_handler",
    /* Go, by gccgo: what panic, and checks of the language, call */
    "runtime.gopanic",
    "runtime.panicdivide",
    "runtime.panicdottype",
    "runtime.panicgonil",
    "runtime.panicmakeslicecap",
    "runtime.panicmakeslicelen",
    "runtime.panicmem",
    "runtime.panicshift",
    "runtime.panicunsafeslicelen",
    "runtime.throw",
    "runtime.Goexit",
    "g_assertion_message",
    "g_assertion_message_expr",
    /* MemorySanitizer */
    "__msan_warning_noreturn",
    "__msan_warning_with_origin_noreturn",
};

/* What a name begins with, behind the length that mangling puts in front of it, and the namespace that it is in. */
static const struct {
    const char *space, *begins;
} mangled[] = {
    {"_ZSt", "__throw_"},      /* libstdc++: std::__throw_length_error */
    {"_ZNSt3__1", "__throw_"}, /* libc++ */
    {"_ZNSt3__1", "__libcpp_verbose_abort"},
    {"_ZN4core9panicking", "panic"}, /* Rust */
    {"_ZN4core9panicking", "assert_failed"},
    {"_ZN4core6option", "unwrap_failed"},
    {"_ZN4core6option", "expect_failed"},
    {"_ZN4core6result", "unwrap_failed"},
    {"_ZN5alloc5alloc", "handle_alloc_error"},
    {"_ZN5alloc7raw_vec", "capacity_overflow"},
    {"_ZN3std9panicking", "begin_panic"},
    {"_ZN3std7process", "exit"},
    {"_ZN3std7process", "abort"},
    {"__gnat_rcheck_", ""}, /* Ada, Go: a check of the language failed */
    {"runtime.goPanic", ""},
};

static bool begins_with(const char *name, const char *begins)
{
    return strncmp(name, begins, strlen(begins)) == 0;
}

/* Whether NAME, in which a number stands in front of what it begins with, is of one of them. */
static bool is_mangled(const char *name)
{
    enum { MOST_DIGITS = 3 };
    size_t i, k;

    for (i = 0; i < sizeof mangled / sizeof mangled[0]; i++) {
        const char *rest = name + strlen(mangled[i].space);

        if (!begins_with(name, mangled[i].space))
            continue;
        for (k = 0; k < MOST_DIGITS && *rest >= '0' && *rest <= '9'; k++)
            rest++;
        if (begins_with(rest, mangled[i].begins))
            return true;
    }
    return false;
}

/* Whether NAME is what AddressSanitizer or UBSan calls when a check has failed and the program is not to go on. */
static bool is_failed_check(const char *name)
{
    const char *end = strrchr(name, '_');

    if (begins_with(name, "__asan_report_load") || begins_with(name, "__asan_report_store"))
        return strcmp(end, "_noabort") != 0;
    return begins_with(name, "__ubsan_handle_") && strcmp(end, "_abort") == 0;
}

static bool is_endless(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof endless / sizeof endless[0]; i++)
        if (strcmp(name, endless[i]) == 0)
            return true;
    return is_mangled(name) || is_failed_check(name);
}

/* ---- Words of the GOT ------------------------------------------------------------------------------------------ */

static int by_word(const void *a, const void *b)
{
    const struct code_import *x = a, *y = b;

    return (x->word > y->word) - (x->word < y->word);
}

/* What the first NUM of LIST, in order, say of the word at ADDR; or NULL. */
static const struct code_import *find_word(const struct code_import *list, size_t num, uint64_t addr)
{
    const size_t below = count_up_to(list, num, sizeof *list, offsetof(struct code_import, word), addr);

    return below > 0 && list[below - 1].word == addr ? &list[below - 1] : NULL;
}

/* The GOT, to which nobody but the dynamic linker writes: a section or two. */
struct got {
    const struct section *parts[2];
};

static bool is_in_got(const struct got *got, uint64_t addr)
{
    unsigned i;

    for (i = 0; i < 2; i++)
        if (got->parts[i] != NULL && addr - got->parts[i]->addr < got->parts[i]->size)
            return true;
    return false;
}

/* What relocations refer to, by the numbers of symbols: without words. */
struct symbols {
    struct code_import *list;
    size_t num;
};

/* Whether relocations of TYPE put into a word what it has in the file, or an addend, + where the image lies. */
static bool is_relative(unsigned machine, uint64_t type)
{
    switch (machine) {
    case EM_X86_64:
        return type == R_X86_64_RELATIVE;
    case EM_386:
        return type == R_386_RELATIVE;
    case EM_AARCH64:
        return type == R_AARCH64_RELATIVE;
    case EM_ARM:
        return type == R_ARM_RELATIVE;
    case EM_RISCV:
        return type == R_RISCV_RELATIVE;
    default:
        return machine == EM_S390 && type == R_390_RELATIVE;
    }
}

/* Notes the words of GOT that the relocations of DATA change: to the addresses of SYMBOLS, of the image's own functions
 * or, without a target, to something else. */
static void note_words(struct code *code, const struct got *got, Elf_Data *data, bool is_rela,
                       const struct symbols *symbols)
{
    const unsigned machine = code->image->header.e_machine;
    struct code_imports *imports = &code->imports;
    GElf_Rela rela;
    GElf_Rel rel;
    int i;

    for (i = 0;; i++) {
        struct code_import import;
        uint64_t info;

        if (is_rela ? gelf_getrela(data, i, &rela) == NULL : gelf_getrel(data, i, &rel) == NULL)
            return;
        info = is_rela ? rela.r_info : rel.r_info;
        import = (struct code_import){0, 0, false};
        if (GELF_R_SYM(info) == 0 && is_relative(machine, GELF_R_TYPE(info))) {
            if (!is_rela)
                continue;
            import.target = (uint64_t)rela.r_addend & ~(uint64_t)code->cpu->mode;
        } else if (GELF_R_SYM(info) > 0 && GELF_R_SYM(info) < symbols->num && !(is_rela && rela.r_addend != 0)) {
            import = symbols->list[GELF_R_SYM(info)];
        }
        import.word = is_rela ? rela.r_offset : rel.r_offset;
        if (!is_in_got(got, import.word))
            continue;
        imports->list = grow(imports->list, imports->num, sizeof *imports->list);
        imports->list[imports->num++] = import;
    }
}

/* Reads the table of symbols that is section INDEX. */
static void read_symbols(const struct code *code, uint32_t index, struct symbols *symbols)
{
    Elf *elf = code->image->elf;
    Elf_Scn *scn = elf_getscn(elf, index);
    Elf_Data *data = scn != NULL ? elf_getdata(scn, NULL) : NULL;
    GElf_Shdr sh;
    GElf_Sym sym;
    size_t i;

    if (data == NULL || gelf_getshdr(scn, &sh) == NULL || sh.sh_type != SHT_DYNSYM)
        return;
    symbols->num = data->d_size / gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
    symbols->list = zeroed(symbols->num, sizeof *symbols->list);
    for (i = 0; i < symbols->num && gelf_getsym(data, (int)i, &sym) != NULL; i++) {
        const char *name = elf_strptr(elf, sh.sh_link, sym.st_name);

        symbols->list[i].never = name != NULL && is_endless(name);
        if (sym.st_shndx != SHN_UNDEF && GELF_ST_TYPE(sym.st_info) == STT_FUNC)
            symbols->list[i].target = sym.st_value & ~(uint64_t)code->cpu->mode;
    }
}

/* Words of GOT that no relocation changes, or one that leaves no other trace (SHT_RELR), have in the file where the
 * image's own functions are. */
static void note_constant_words(struct code *code, const struct got *got)
{
    struct image *image = code->image;
    struct code_imports *imports = &code->imports;
    const size_t num = imports->num;
    uint64_t k;
    unsigned i;

    for (i = 0; i < 2; i++)
        for (k = 0; got->parts[i] != NULL && k + code->cpu->word <= got->parts[i]->size; k += code->cpu->word) {
            const uint64_t word = got->parts[i]->addr + k;
            const uint8_t *p = image_bytes(image, word, code->cpu->word);
            const uint64_t to = p != NULL ? load_number(p, code->cpu->word, image->big) : 0;
            const uint64_t target = to & ~(uint64_t)code->cpu->mode;

            if (target == 0 || image_code(image, target) == NULL || find_word(imports->list, num, word) != NULL)
                continue;
            imports->list = grow(imports->list, imports->num, sizeof *imports->list);
            imports->list[imports->num++] = (struct code_import){word, target, false};
        }
    put_in_order(imports->list, imports->num, sizeof *imports->list, by_word);
}

/* Dynamic relocations belong to one table of symbols, which is read once. There are those of data, of a PLT, and of
 * functions that choose among several. */
static void find_words(struct code *code)
{
    enum { MOST = 4 };
    const struct image *image = code->image;
    const struct got got = {{image_section(image, ".got"), image_section(image, ".got.plt")}};
    struct symbols symbols = {NULL, 0};
    uint32_t table = 0;
    size_t i, num = 0;
    GElf_Shdr sh;

    code->imports.is_known = true;
    for (i = 0; i < image->num_sections && image->pe == NULL && num < MOST; i++) {
        const struct section *s = &image->sections[i];
        Elf_Scn *scn = s->index != 0 ? elf_getscn(image->elf, s->index) : NULL;
        Elf_Data *data;

        if ((s->type != SHT_RELA && s->type != SHT_REL) || !(s->flags & SHF_ALLOC) || scn == NULL ||
            gelf_getshdr(scn, &sh) == NULL || sh.sh_link == 0 || (table != 0 && sh.sh_link != table))
            continue;
        if (table == 0)
            read_symbols(code, sh.sh_link, &symbols);
        table = sh.sh_link;
        num++;
        data = elf_getdata(scn, NULL);
        if (data != NULL)
            note_words(code, &got, data, s->type == SHT_RELA, &symbols);
    }
    free(symbols.list);
    put_in_order(code->imports.list, code->imports.num, sizeof *code->imports.list, by_word);
    if (image->pe == NULL)
        note_constant_words(code, &got);
}

static const struct code_import *import_of(struct code *code, uint64_t word)
{
    if (!code->imports.is_known)
        find_words(code);
    return find_word(code->imports.list, code->imports.num, word);
}

/* ---- Code ------------------------------------------------------------------------------------------------------ */

/* Whether FACT, behind which STATE holds, goes where a register says that has got the address in a word of the GOT. */
static bool goes_by_loaded(const struct code_fact *fact, const struct code_state *state)
{
    const struct code_op *op = fact->num == 1 ? &fact->op[0] : NULL;

    return (fact->flow == CODE_CALL || fact->flow == CODE_AWAY) && fact->target == 0 && op != NULL &&
           (op->what == CODE_SET || op->what == CODE_LOAD) && op->reg == CODE_TARGET && state != NULL &&
           state->reg[CODE_TARGET].base == BASE_WORD;
}

const struct code_import *import_by_word(struct code *code, const struct code_fact *fact,
                                         const struct code_state *state)
{
    struct code_value at = {0, BASE_NUMBER, false, 0, 0};

    if (goes_by_loaded(fact, state))
        return import_of(code, unit_address_of(code->cpu, &state->reg[CODE_TARGET]));
    if (!fact->by_word)
        return NULL;
    if (fact->word_base != CODE_ZERO && (state == NULL || state->reg[fact->word_base].base != BASE_NUMBER))
        return NULL;
    if (fact->word_base != CODE_ZERO)
        at = state->reg[fact->word_base];
    code_move(&at, fact->word);
    return import_of(code, unit_address_of(code->cpu, &at));
}

/* Where OP, in front of which STATE holds, loads one register from, if that is a number; or 0. Of a sum of two
 * registers both are: the address of the GOT, and how far from that the word is (ARM). */
static uint64_t loaded_from(const struct code_cpu *cpu, const struct code_state *state, const struct code_op *op)
{
    const uint8_t other = (uint8_t)(op->from & UINT8_MAX);
    const bool is_sum = op->what == CODE_TABLE && op->last == cpu->word && op->from >> 8 == CODE_NONE &&
                        other < CODE_REGISTERS && state->reg[other].base == BASE_NUMBER;
    struct code_value at;

    if ((!is_sum && (op->what != CODE_LOAD || op->reg != op->last)) || state->reg[op->base].base != BASE_NUMBER)
        return 0;
    at = state->reg[op->base];
    code_move(&at, op->k);
    if (is_sum)
        code_move(&at, state->reg[other].k);
    return unit_address_of(cpu, &at);
}

void import_step(struct code *code, struct code_state *state, const struct code_fact *fact)
{
    const struct code_op *op = &fact->op[0];
    const struct code_cpu *cpu = code->cpu;
    const uint64_t from = fact->num == 1 ? loaded_from(cpu, state, op) : 0;
    const struct code_import *import = from != 0 ? import_of(code, from) : NULL;

    code_step(cpu, state, fact);
    if (import != NULL && (import->never || import->target != 0) && op->reg != cpu->sp)
        state->reg[op->reg] = (struct code_value){state_wrapped(cpu, (int64_t)from), BASE_WORD, false, 0, 0};
}

/* Does what FACT does with STATE, and leaves in WORD where the last word was that it has read. */
static void step_to_word(const struct code_cpu *cpu, struct code_state *state, const struct code_fact *fact,
                         uint64_t *word)
{
    unsigned i;

    for (i = 0; i < fact->num; i++) {
        const struct code_op *op = &fact->op[i];
        struct code_fact one = *fact;
        struct code_value at;

        if ((op->what == CODE_LOAD || op->what == CODE_LOADS) && state->reg[op->base].base == BASE_NUMBER) {
            at = state->reg[op->base];
            code_move(&at, op->k);
            *word = unit_address_of(cpu, &at);
        }
        one.op[0] = *op;
        one.num = 1;
        code_step(cpu, state, &one);
    }
}

/* PLT of i386, position-independent, counts from the address of the GOT, which its callers have put into EBX. That is
 * where .got.plt begins but by mold, whose first entry (plt.c) says how far from there it is. */
static void give_got(const struct code *code, const struct section *plt, struct code_state *state)
{
    enum { EBX = 3 };
    static const uint8_t mold[] = {0xf3, 0x0f, 0x1e, 0xfb, 0x51, 0x8d, 0x8b};
    const struct section *got = image_section(code->image, ".got.plt");
    uint64_t addr;

    if (got == NULL)
        got = image_section(code->image, ".got");
    if (code->image->header.e_machine != EM_386 || got == NULL)
        return;
    addr = got->addr;
    if (plt->bytes != NULL && plt->size >= sizeof mold + 4 && memcmp(plt->bytes, mold, sizeof mold) == 0)
        addr = (uint32_t)(addr + 4 - load_number(plt->bytes + sizeof mold, 4, false));
    state->reg[EBX] = (struct code_value){(int64_t)addr, BASE_NUMBER, false, 0, 0};
}

const struct code_import *import_by_plt(struct code *code, uint64_t addr)
{
    enum { MOST = 8 }; /* instructions of an entry */
    const struct section *plt = image_code(code->image, addr);
    const struct code_text text = unit_text_at(code, addr);
    struct code_state state;
    uint64_t word = 0;
    unsigned i;

    if (plt == NULL || !plt_is(plt) || text.bytes == NULL || addr % code->cpu->align != 0)
        return NULL;
    code_entry(code->cpu, &state);
    give_got(code, plt, &state);
    for (i = 0; i < MOST && addr < text.end; i++) {
        struct code_fact fact;

        memset(&fact, 0, sizeof fact);
        code->cpu->decode(code->decoder, &text, addr, &fact);
        if (fact.size == 0 || fact.condition != 0)
            return NULL;
        if (fact.by_word)
            return import_by_word(code, &fact, &state);
        step_to_word(code->cpu, &state, &fact, &word);
        if (fact.flow == CODE_AWAY || fact.flow == CODE_CALL) /* RISC-V: jalr t1, t3; x86: to a thunk */
            return word != 0 ? import_of(code, word) : NULL;
        if (fact.flow != CODE_NEXT)
            return NULL;
        addr += fact.size;
    }
    return NULL;
}
