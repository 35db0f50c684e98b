/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A program's traces of itself, which stepping from outside (../step) does not have: mapped tables, a ucontext,
 * handlers on the stack that they trace. Runs each pattern and compares the traces from inside of it: from a function,
 * from signal handlers, and from each instruction of its functions. argv[1] is what the results are labelled with.
 */
#include "parts.h"
#include "trace.h"
#include "tracer.h"

/* ---- the innermost function of each pattern ---- */

static NOIPA unsigned raise_inside(void)
{
    ENTER(&list);
    (void)CALL(&list, (os_raise(OS_SIGUSR1), 0));
    LEAVE(&list);
    return 1;
}

static NOIPA unsigned fault_inside(void)
{
    ENTER(&list);
    interrupt_fault();
    LEAVE(&list);
    return 1;
}

/* ---- the ways to look at a pattern ---- */

static NOIPA void run(const struct pattern *pattern, unsigned (*inside)(void))
{
    ENTER(&list);
    patterns_inside = inside;
    (void)CALL(&list, (pattern->run(), 0));
    LEAVE(&list);
}

static const char *named(const char *way, const char *name)
{
    static char both[64];
    char *p = both;

    while (*way != 0)
        *p++ = *way++;
    while (*name != 0 && p < both + sizeof(both) - 1)
        *p++ = *name++;
    *p = 0;
    return both;
}

static NOIPA void test_patterns(const char *way, unsigned (*inside)(void))
{
    ENTER(&list);
    for (unsigned i = 0; patterns[i].name != NULL; i++) {
        trace_begin();
        (void)CALL(&list, (run(&patterns[i], inside), 0));
        trace_end(named(way, patterns[i].name), trace_verdict.walks >= 1 && trace_verdict.longest >= 6, "no trace");
    }
    LEAVE(&list);
}

/* Whether the compiler has made of a pattern what it is there for. */
static bool has_been_tested(const char *name)
{
#if defined(__s390x__) && defined(__OPTIMIZE__) && !defined(__clang__)
    if (same_text(name, "leaf") && trace_verdict.registers == 0)
        return false;
#elif defined(__x86_64__) && !defined(__clang__) && !defined(MADE)
    /* without wrong tables, which were better than expected, trace.c need not know of them */
    if (same_text(name, "realigned") && (trace_verdict.registers == 0 || trace_verdict.wrong_tables == 0))
        return false;
#endif
#ifdef TRACED
    if (trace_verdict.replaced == 0 || (IS_X86 && trace_verdict.in_tracer == 0))
        return false;
#endif
    return name != NULL && trace_verdict.walks > 30;
}

/* The first time, which is not interrupted, leaves in the list what is true of functions that have not got to ENTER
 * yet: both are called from one place. */
static NOIPA void test_each_instruction(void)
{
    ENTER(&list);
    for (unsigned i = 0; patterns[i].name != NULL; i++) {
        trace_begin();
        for (volatile unsigned time = 0; time < 2; time++) { /* volatile: not unrolled */
            if (time == 1)
                (void)CALL(&list, (interrupt_each_begin(), 0));
            (void)CALL(&list, (run(&patterns[i], trace_nothing), 0));
        }
        (void)CALL(&list, (interrupt_each_end(), 0));
        trace_end(named("each instruction of ", patterns[i].name), has_been_tested(patterns[i].name),
                  "not interrupted where it was to be");
    }
    LEAVE(&list);
}

/* One signal at a time, after 100 to 500 microseconds. */
static NOIPA void test_timer(void)
{
    ENTER(&list);
    trace_begin();
    for (unsigned n = 0; n < 200; n++) {
        os_timer(100 + (long)(n * 67 % 401));
        while (trace_verdict.walks <= n)
            for (unsigned i = 0; patterns[i].name != NULL; i++)
                (void)CALL(&list, (run(&patterns[i], trace_nothing), 0));
    }
    trace_end("timer", trace_verdict.longest >= 7, "never inside of a pattern");
    LEAVE(&list);
}

static NOIPA void test_recursion(void)
{
    ENTER(&list);
    patterns_inside = trace_inside;
    trace_begin();
    (void)CALL(&list, p_recursive(1000));
    trace_end("1000 deep", trace_verdict.longest > 1000, "too short");
    LEAVE(&list);
}

/* ---- tables that were joined ---- */

#ifdef JOINED
enum { TABLES = 16 };

/* The linker script makes no segment that CODE could be of. All tables between its symbols. */
static void open_tables(int code)
{
    extern const uint8_t sframe_start[], sframe_end[];
    static struct sfu_section tables[TABLES];
    uint64_t size = (uint64_t)(sframe_end - sframe_start);
    unsigned n = 0;
    bool joined = code == SFU_E_NO_SECTION;

    code = sfu_open(&tables[0], sframe_start, size, (uintptr_t)sframe_start);
    joined = joined && code == SFU_OK && sfu_check(&tables[0], NULL) == SFU_E_CONCATENATED;
    code = sfu_add(&self.target.sections, tables, TABLES, sframe_start, size, (uintptr_t)sframe_start);
    for (const struct sfu_section *s = self.target.sections; s != NULL; s = s->next, n++)
        if (sfu_check(s, NULL) != SFU_OK)
            code = SFU_E_BOUNDS;
    trace_begin();
    trace_verdict.frames = n;
    trace_end("tables", joined && n >= 8 && code == SFU_OK, "are not what was linked");
}
#else
static void open_tables(int code)
{
#if defined(__riscv) || defined(MADE) /* no linker makes a segment of tables that sfu-gen makes */
    extern const uint8_t sframe_start[], sframe_end[];

    if (code == SFU_E_NO_SECTION)
        code = sfu_add(&self.target.sections, &self.section, 1, sframe_start, (uint64_t)(sframe_end - sframe_start),
                       (uintptr_t)sframe_start);
#endif
    if (code != SFU_OK || sfu_check(&self.section, NULL) != SFU_OK)
        os_print("not ok ", trace_label, " section: ", sfu_string(code), "\n", NULL);
}
#endif

/* ---- a function tracer ---- */

#ifdef TRACED

static void start_tracer(void)
{
    if (tracer_bend(tracer_rooms, tracer_rooms_end, os_unlock_code) < 30)
        os_print("not ok ", trace_label, " tracer: not all functions have been bent\n", NULL);
    self.target.original_ra = tracer_original;
    trace_original = tracer_truth;
}

/* The target does not say what the return addresses were: a trace ends at the first, and is not proven. */
static NOIPA int walk_without_callback(struct sfu_walk *walk)
{
    struct sfu_registers here = sfu_here(&self.cpu);
    int code;

    self.target.original_ra = NULL;
    sfu_walk_start(walk, &self.target, &here);
    while ((code = sfu_walk_step(walk)) == SFU_OK)
        ;
    self.target.original_ra = tracer_original;
    return code;
}

static NOIPA void test_without_callback(void)
{
    struct sfu_walk walk;

    trace_begin();
    trace_verdict.walks = 1;
    trace_end("without the callback",
              walk_without_callback(&walk) == SFU_E_NO_FDE && walk.frame.depth == 1 && !walk.frame.replaced &&
                  walk.frame.regs.pc == (uint64_t)(uintptr_t)tracer_return,
              "does not end at the trampoline");
}

/* What the core has asked for in all tests. */
static void test_asked(void)
{
    trace_begin();
    trace_verdict.frames = tracer_counts.in_slot;
    trace_end("asked on the stack", tracer_counts.in_slot > 5000, "too rarely");
    trace_verdict.frames = tracer_counts.in_register;
    trace_end("asked in a register", (tracer_counts.in_register > 50) == !IS_X86, "too rarely or too often");
    trace_verdict.frames = tracer_counts.wrong_slot;
    trace_end("asked with its slot", tracer_counts.wrong_slot == 0, "not where the return address is");
}

#endif

/* ---- the calls that never return: the end of the program ---- */

static NOIPA void never(void)
{
    ENTER(&list);
    TRACE_HERE();
    trace_end("noreturn", trace_verdict.after_end >= 2, "no return address lies behind its function");
    sfu_linux_exit(trace_failures != 0);
}

NOIPA int sfu_linux_main(int argc, char **argv, const uintptr_t *auxv)
{
    const void *file = os_map_file("/proc/self/exe");

    ENTER(&list);
    trace_label = argc > 1 ? argv[1] : "program";
    open_tables(sfu_linux_init(&self, auxv));
    trace_add_image(file, self.slide);
    interrupt_init(NULL);
#ifdef TRACED
    start_tracer();
    test_without_callback();
#endif
    (void)CALL(&list, (test_patterns("call of ", trace_inside), 0));
    (void)CALL(&list, (test_recursion(), 0));
    (void)CALL(&list, (test_patterns("two signals in ", raise_inside), 0));
    (void)CALL(&list, (test_patterns("fault in ", fault_inside), 0));
#if !defined(__s390x__) && !defined(__riscv) && !defined(MADE)
    interrupt_init(sfu_linux_restorer_table);
    (void)CALL(&list, (test_patterns("by table, two signals in ", raise_inside), 0));
    interrupt_init(NULL);
#endif
    (void)CALL(&list, (test_each_instruction(), 0));
    /* Neither a bent function nor all of its tables can be copied like that, nor one that calls to find its address. */
#if !defined(TRACED) && !defined(JOINED) && !(defined(__i386__) && defined(__PIC__))
    (void)CALL(&list, (copied_test(file), 0));
#endif
    (void)CALL(&list, (test_timer(), 0));
#ifdef TRACED
    test_asked();
#endif
    trace_begin();
    patterns_never = never;
    (void)CALL(&list, (p_never(), 0));
    return 1;
}
