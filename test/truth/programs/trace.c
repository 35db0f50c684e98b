/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "trace.h"

#include "elf_types.h"
#include "os.h"

struct sfu_linux self;
struct shadow list;
struct verdict trace_verdict;
uint64_t (*trace_original)(uint64_t ra, uint64_t sp);
const char *trace_label = "";
unsigned trace_failures;

/* ---- functions by name ---- */

#define MAX_IMAGES 6
static struct image images[MAX_IMAGES];
static unsigned num_images;

static const Elf_Shdr *section_headers(const struct image *image)
{
    const Elf_Ehdr *e = image->file;
    return (const Elf_Shdr *)((uintptr_t)e + e->e_shoff);
}

void trace_add_image(const void *file, uint64_t slide)
{
    trace_add_copy(file, slide, 0, UINT64_MAX);
}

void trace_add_copy(const void *file, uint64_t slide, uint64_t first, uint64_t last)
{
    struct image *image = &images[num_images++];
    const Elf_Ehdr *e = file;

    image->file = file;
    image->slide = slide;
    image->first = first;
    image->last = last;
    for (unsigned i = 0; i < e->e_shnum; i++) {
        const Elf_Shdr *s = &section_headers(image)[i];
        if (s->sh_type != SHT_SYMTAB)
            continue;
        image->symbols = (const void *)((uintptr_t)file + s->sh_offset);
        image->count = s->sh_size / sizeof(Elf_Sym);
        image->names = (const char *)file + section_headers(image)[s->sh_link].sh_offset;
    }
}

/* Functions of 32-bit x86 that gcc makes, mov (%esp), %reg; ret, and whose size it does not say. */
static bool is_own_address(const char *name)
{
    static const char prefix[] = "__x86.get_pc_thunk.";

    for (unsigned i = 0; i < sizeof(prefix) - 1; i++)
        if (name[i] != prefix[i])
            return false;
    return true;
}

/* Symbol N; behind the symbols come the sections. The PLT has no symbols: each of its sections is one function. */
static struct function any_function(const struct image *image, uint64_t n)
{
    const Elf_Ehdr *e = image->file;
    const Elf_Sym *symbol = (const Elf_Sym *)image->symbols + n;
    const Elf_Shdr *s = section_headers(image);
    struct function f = {0, 0, ""};

    if (n < image->count) {
        f.name = image->names + symbol->st_name;
        f.start = symbol->st_value + image->slide;
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF)
            f.end = f.start + symbol->st_size;
        if (f.end == f.start && is_own_address(f.name))
            f.end = f.start + 4;
        return f;
    }
    f.name = (const char *)e + s[e->e_shstrndx].sh_offset + s[n - image->count].sh_name;
    f.start = s[n - image->count].sh_addr + image->slide;
    if (f.name[0] == '.' && f.name[1] == 'p' && f.name[2] == 'l')
        f.end = f.start + s[n - image->count].sh_size;
    return f;
}

static struct function image_function(const struct image *image, uint64_t n)
{
    struct function f = any_function(image, n);

    if (f.start < image->first || f.start > image->last)
        f.end = f.start;
    return f;
}

struct function trace_nth_function(uint64_t n)
{
    struct function none = {0, 0, NULL};

    for (unsigned i = 0; i < num_images; i++) {
        uint64_t count = images[i].count + ((const Elf_Ehdr *)images[i].file)->e_shnum;
        if (n < count)
            return image_function(&images[i], n);
        n -= count;
    }
    return none;
}

struct function trace_function(uint64_t pc)
{
    static struct function last;
    struct function f;

    if (pc >= last.start && pc < last.end)
        return last;
    for (uint64_t i = 0; (f = trace_nth_function(i)).name != NULL; i++)
        if (pc >= f.start && pc < f.end)
            return last = f;
    return f;
}

/* Compilers split functions: f.cold, f.part.0 are parts of f. */
static int same_function(struct function a, struct function b)
{
    const char *s = a.name, *t = b.name;

    if (s == NULL || t == NULL)
        return 0;
    while (*s != 0 && *s != '.' && *s == *t)
        s++, t++;
    return (*s == 0 || *s == '.') && (*t == 0 || *t == '.') && (s != a.name);
}

/* ---- verdicts ---- */

void trace_begin(void)
{
    struct verdict clean = {NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    trace_verdict = clean;
    for (uint32_t i = list.count; i < SHADOW_MAX; i++)
        list.entry[i].pc = 0;
}

void trace_end(const char *name, int enough, const char *why)
{
    if (trace_verdict.fault == NULL && enough) {
        os_print("ok ", trace_label, " ", name, " (", os_decimal(trace_verdict.walks), " walks, ",
                 os_decimal(trace_verdict.frames), " frames)\n", NULL);
        return;
    }
    trace_failures++;
    os_print("not ok ", trace_label, " ", name, ": ", trace_verdict.fault != NULL ? trace_verdict.fault : why, " (",
             os_decimal(trace_verdict.walks), " walks)\n", NULL);
}

/* ---- the comparison ---- */

/* What the next frame has to be. */
struct expected {
    uint32_t index;         /* records of the list below this one are the callers yet to come */
    bool exact, trampoline; /* else a return address */
    bool known;             /* pc, sp and replaced are */
    bool pushed;            /* sp is what it was before arguments were pushed */
    bool helped;            /* the frame before has no record, and is called before ENTER, too; FP is fp */
    uint32_t helped_depth;  /* of the last such frame */
    bool replaced;          /* the return address that leads there was replaced */
    bool entering;          /* the frame before is the hook at the entry of a function */
    uint64_t pc, sp;
    uint64_t ra;         /* what the return address has been found to be, replaced or not */
    uint64_t exact_pc;   /* of the last exact frame */
    const void *context; /* of an exact frame that a signal interrupted, or that comes behind the trampoline */
    bool wrong_fp, stop; /* the FP is wrong, and is FP; the frames behind it cannot be compared */
    uint64_t fp;
};

static bool wrong(const struct sfu_walk *walk, const struct expected *want, const char *what)
{
    const struct sfu_frame *f = &walk->frame;
    const char *name = trace_function(f->regs.pc).name;
    const char *caller = want->index > 0 ? trace_function(list.entry[want->index - 1].pc).name : "(none)";

    if (trace_verdict.fault != NULL)
        return false;
    trace_verdict.fault = what;
    os_print("# ", trace_label, ": ", what, ": frame ", os_decimal(f->depth), " pc ", os_hex(f->regs.pc), " sp ",
             os_hex(f->regs.sp), " fp ", os_hex(f->regs.fp), " in ", name != NULL ? name : "?",
             f->regs.pc_kind ? "" : " exact", "; want ", want->known ? "" : "(unknown) ", "pc ", os_hex(want->pc),
             " sp ", os_hex(want->sp), " next record ", caller, NULL);
    name = trace_function(want->exact_pc).name;
    os_print("; last exact pc ", os_hex(want->exact_pc), " in ", name != NULL ? name : "?", "\n", NULL);
    return false;
}

/* What comes after a function that RECORD describes; the records of its callers are those below want->index. */
static void expect_caller(struct expected *want, const volatile struct record *record)
{
    want->exact = false;
    want->known = true;
    want->pc = want->ra = record->ra;
    want->context = (const void *)(uintptr_t)record->context;
    want->pushed = SFU_NUM_REGS == 8 && record->cfa == 0; /* 32-bit x86 */
    if (record->cfa != 0)
        want->sp = record->cfa - (SFU_REG_SP == 15 ? 160 : 0); /* s390x */
    else
        want->sp = list.entry[want->index - 1].sp;
    if (trace_original != NULL) {
        want->pc = trace_original(record->ra, want->sp);
        want->known = want->pc != 0;
    }
    want->replaced = want->pc != record->ra;
    want->trampoline = want->context != NULL;
    if (want->trampoline)
        want->index--; /* the record that the handler left alone */
}

/* The one known fault in a table. gcc (12 and 16) on x86_64, functions that align their frame: behind the `leave`
 * or `pop %rbp` of the epilogue, that is at its last two instructions, `lea -8(%r10), %rsp` and `ret`, the table
 * still says that the caller's FP is *(FP + 0), though FP has been restored. */
static bool has_wrong_fp(struct function here, const void *context)
{
#if defined(__x86_64__) && !defined(MADE) /* sfu-gen's rows are right there */
    static const char *const realigned[] = {"p_aligned", "p_aligned_dynamic", "p_vectors"};
    static const unsigned char end[] = {0x49, 0x8d, 0x62, 0xf8, 0xc3};
    const unsigned char *pc = (const unsigned char *)(uintptr_t)*os_pc(context);

    if (pc[0] == end[4])
        pc -= 4;
    for (unsigned i = 0; i < sizeof(end); i++)
        if (pc[i] != end[i])
            return false;
    for (unsigned i = 0; i < 3; i++)
        if (same_text(here.name, realigned[i]))
            return pc[-1] == 0xc9 || pc[-1] == 0x5d;
#else
    (void)here, (void)context;
#endif
    return false;
}

/* Whether HERE is a function of the tracer: nothing is known of the frame behind it but its function. */
static bool is_tracer(struct function here, struct expected *want)
{
    static const char prefix[] = "tracer_";

    for (unsigned i = 0; i < sizeof(prefix) - 1; i++)
        if (here.name[i] != prefix[i])
            return false;
    want->exact = want->known = false;
    want->entering = IS_X86 && same_text(here.name, "tracer_hook"); /* it is called */
    trace_verdict.in_tracer++;
    return true;
}

/* HERE can be a function that is not in the list, because it has not yet got there, is about to leave or keeps no
 * record. What it left in the list the last time at the same depth is still true. */
static void expect_after(struct expected *want, struct function here)
{
    uint32_t i = want->index;

    if (i > 0 && same_function(here, trace_function(list.entry[i - 1].pc)))
        expect_caller(want, &list.entry[--want->index]);
    else if (list.entry[i].pc != 0 && same_function(here, trace_function(list.entry[i].pc)))
        expect_caller(want, &list.entry[i]);
    else
        want->exact = want->known = false;
}

/* The RA of such a function is where SP leads, at both of its instructions. */
static void expect_after_own_address(struct expected *want, const struct sfu_frame *frame)
{
    want->exact = want->replaced = want->pushed = false;
    want->known = want->helped = true;
    want->pc = *(const uintptr_t *)(uintptr_t)frame->regs.sp;
    want->sp = frame->regs.sp + sizeof(uintptr_t);
    want->fp = frame->regs.fp;
}

static bool check_exact(struct sfu_walk *walk, struct expected *want)
{
    const struct sfu_frame *f = &walk->frame;
    struct function here = trace_function(f->regs.pc);

    if (f->regs.pc_kind != SFU_PC_EXACT || f->regs.pc != want->pc || f->regs.sp != want->sp)
        return wrong(walk, want, "not the exact frame");
    if (want->context != NULL && (f->regs.fp != *os_fp(want->context) || f->saved == 0))
        return wrong(walk, want, "not the interrupted FP");
    want->exact_pc = f->regs.pc;
    trace_verdict.in_plt += here.name[0] == '.';
    if (want->context != NULL && has_wrong_fp(here, want->context)) {
        want->wrong_fp = true;
        want->fp = *(const uintptr_t *)(uintptr_t)f->regs.fp;
    }
    if (is_tracer(here, want))
        return true;
    if (is_own_address(here.name))
        expect_after_own_address(want, f);
    else
        expect_after(want, here);
    return true;
}

/* gcc -Os of RISC-V: behind CALL it puts an argument into FP, which is any callee-saved register to it. */
static bool uses_fp_otherwise(struct function here)
{
#ifdef __riscv
    return same_text(here.name, "p_many");
#else
    (void)here;
    return false;
#endif
}

/* Whether SP is that of the expected frame. The RA is right below it. */
static bool is_sp(uint64_t sp, const struct expected *want)
{
    if (!want->pushed)
        return sp == want->sp;
    return want->sp - sp <= 64 && *(const uintptr_t *)(uintptr_t)(sp - sizeof(uintptr_t)) == want->ra;
}

static bool check_return(struct sfu_walk *walk, struct expected *want)
{
    const struct sfu_frame *f = &walk->frame;
    struct function here = trace_function(f->regs.pc - 1);
    const volatile struct record *r;

    if (f->regs.pc_kind != SFU_PC_RETURN || (want->known && (f->regs.pc != want->pc || !is_sp(f->regs.sp, want))))
        return wrong(walk, want, "not the caller's frame");
    if (want->known && f->replaced != want->replaced)
        return wrong(walk, want, f->replaced ? "replaced" : "not replaced");
    trace_verdict.replaced += f->replaced;
    if (want->helped) {
        want->helped = false;
        want->helped_depth = f->depth;
        expect_after(want, here);
        return f->regs.fp == want->fp || wrong(walk, want, "not the FP");
    }
    if (want->entering) { /* it has not got to ENTER */
        want->entering = want->known = false;
        return f->regs.pc - here.start <= 9 || wrong(walk, want, "not entered");
    }
    if (is_tracer(here, want))
        return true;
    if (want->index == 0) { /* start-up code */
        want->known = false;
        return true;
    }
    r = &list.entry[--want->index];
    if (!same_function(here, trace_function(r->pc)))
        return wrong(walk, want, "not the caller");
    /* other functions may use FP for something else between CALL and the call itself */
    if (here.name[0] == 'p' && !uses_fp_otherwise(here) && f->regs.fp != (want->wrong_fp ? want->fp : r->fp))
        return wrong(walk, want, "not the caller's FP");
    want->stop = want->wrong_fp;
    trace_verdict.after_end += f->regs.pc == here.end;
    expect_caller(want, r);
    return true;
}

/* The code that the handler returns to: nobody's function. */
static bool check_trampoline(struct sfu_walk *walk, struct expected *want)
{
    const struct sfu_frame *f = &walk->frame;

    if (f->regs.pc != want->pc || f->regs.sp != want->sp)
        return wrong(walk, want, "not the trampoline");
    want->trampoline = false;
    want->exact = true;
    want->pc = *os_pc(want->context);
    want->sp = *os_sp(want->context);
    return true;
}

/* 32-bit x86, FAULTS.md: gcc-thunk: at the end of the function that puts its address into FP, FP is not known. */
static bool has_lost_fp(const struct sfu_walk *walk, const struct sfu_row *row)
{
    const struct sfu_registers *regs = &walk->frame.regs;

    return regs->pc_kind == SFU_PC_EXACT && row->function == 0 &&
           same_text(trace_function(regs->pc).name, "__x86.get_pc_thunk.bp") &&
           *(const uint8_t *)(uintptr_t)regs->pc == 0xc3;
}

static bool check_frame(struct sfu_walk *walk, const struct sfu_row *row, struct expected *want)
{
    const struct sfu_frame *f = &walk->frame;
    struct function here = trace_function(f->regs.pc_kind == SFU_PC_EXACT ? f->regs.pc : f->regs.pc - 1);

    if (want->trampoline)
        return check_trampoline(walk, want);
    if (here.name == NULL || (here.name[0] != '.' && row->function != here.start && !has_lost_fp(walk, row)))
        return wrong(walk, want, "not the function's start");
    return want->exact ? check_exact(walk, want) : check_return(walk, want);
}

/* What the tables say of the walk's frame, which is what its next step goes by. If that is nothing, the function is
 * 0. */
static void look_up(const struct sfu_walk *walk, struct sfu_row *row)
{
    row->function = 0;
    row->kind = SFU_ROW_OUTERMOST;
    (void)sfu_find_frame(&self.target, &walk->frame, row);
}

static void count(const struct sfu_walk *walk, const struct sfu_row *row)
{
    uint32_t cfa = row->cfa.control >> 3;

    trace_verdict.frames++;
    if (walk->frame.depth + 1u > trace_verdict.longest)
        trace_verdict.longest = walk->frame.depth + 1;
    if (row->kind == SFU_ROW_RULES)
        trace_verdict.registers +=
            (row->ra.control & 1) || (row->fp.control & 1) || (cfa != SFU_REG_SP && cfa != SFU_REG_FP);
}

/* ld makes no FDE for the PLT of aarch64, so that is where a trace ends that begins there. */
static bool is_undescribed_plt(const struct sfu_walk *walk, const struct sfu_row *row, int code)
{
    const char *name = trace_function(walk->frame.regs.pc).name;

    return SFU_REG_SP == 31 && code == SFU_E_NO_FDE && walk->frame.regs.pc_kind == SFU_PC_EXACT &&
           same_text(name, ".plt") && row->function == 0;
}

/* 32-bit x86 has no red zone: at the trampoline's first instruction the word below SP is not believed. */
static bool is_below_sp(const struct sfu_walk *walk, int code)
{
    return SFU_NUM_REGS == 8 && code == SFU_E_DEAD_SLOT && walk->frame.regs.pc_kind == SFU_PC_EXACT &&
           same_text(trace_function(walk->frame.regs.pc).name, "tracer_return");
}

void trace_check(const struct sfu_registers *top)
{
    struct expected want = {.index = list.count, .exact = true, .known = true, .pc = top->pc, .sp = top->sp};
    struct sfu_walk walk;
    struct sfu_row row;
    int code;

    trace_verdict.walks++;
    sfu_walk_start(&walk, &self.target, top);
    do {
        look_up(&walk, &row);
        count(&walk, &row);
        if (!check_frame(&walk, &row, &want))
            return;
        code = sfu_walk_step(&walk);
    } while (code == SFU_OK && !want.stop);
    trace_verdict.wrong_tables += want.stop;
    if (want.stop)
        return;
    if (code != SFU_END &&
        (is_undescribed_plt(&walk, &row, code) || has_lost_fp(&walk, &row) || is_below_sp(&walk, code)))
        return;
    if (code == SFU_E_UNSAFE && walk.frame.depth == want.helped_depth) /* FAULTS.md: gcc-thunk */
        return;
    if (code != SFU_END)
        wrong(&walk, &want, sfu_string(code));
    else if (want.index != 0 || want.exact || !walk.frame.reliable)
        wrong(&walk, &want, "the trace ends too early");
    else if (!same_function(trace_function(row.function), trace_function((uint64_t)(uintptr_t)_start)))
        wrong(&walk, &want, "the trace does not end at the start");
}

NOIPA unsigned trace_inside(void)
{
    ENTER(&list);
    TRACE_HERE();
    LEAVE(&list);
    return 1;
}

NOIPA unsigned trace_nothing(void)
{
    return 1;
}
