/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Steps programs and compares, before each instruction, sfu's walk of the whole stack with the chain of calls that
 * the machine made.
 *
 *   step -q EMULATOR [-n STEPS] [-f KNOWN-FAULTS [-a] [-s]] [-c COMPLAINTS] [-g PERMILLE] ABI SET[:WEIGHT]=PROGRAM...
 *
 * -g: code may have no table; more than so many walks of a thousand that meet such code fail the run.
 * -a: with the faults of blocks "step-all", which are met by more compilers' flags than make check-all has.
 * -s: a known fault that is not met fails the run. -c: how many mistakes of one program are told, 10 by default.
 * EMULATOR: a user-mode QEMU, or "native" for programs of this machine. A program without WEIGHT is stepped from its
 * first instruction to its last; in the set "signals" a signal is delivered again and again once it has called
 * step_ready. Those with one share what is left of STEPS, in windows spread over their run: such a program calls
 * step_mark(i, n) from one place before its phase i of n, and a window begins at such a call, to which the program runs
 * freely.
 *
 * For each set and for all of them, one line of figures:
 *   instructions  how many times a walk was compared
 *   pcs           at how many different instructions
 *   frames        callers that were compared and right
 *   wrong         instructions at which the walk was wrong: the run fails. So it is where another way to walk differs:
 *                 on this machine's own CPU the fast walker's, without a cache and with one; now and then by the
 *                 section as mapped memory, and with half of the stack
 *   no-table      instructions at which sfu said that there is no table, where there is none, after right frames
 *   known         instructions at which exactly a listed fault of the compiler's table was met
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "judge.h"
#include "faults.h"
#include "binary.h"
#include "machine.h"
#include "shadow.h"
#include "trace.h"

enum { MIN_WINDOW = 5000, MAX_HELD = 16, MAX_SETS = 16, SIGNAL_EVERY = 29, VARY_EVERY = 16 };
static unsigned max_complaints = 10; /* of one program */

struct set {
    char name[32];
    struct figures figures;
};

struct run {
    struct machine machine;
    struct binary image;
    struct tracer tracer;
    struct shadow shadow;
    struct figures figures;
    struct faults *faults;
    const char *program;
    struct trace *held[MAX_HELD]; /* walks of a pending longjmp */
    unsigned num_held;
    struct trace trace, rest;
    const struct trace *compared;
    struct comparer comparer;
    uint64_t handler, mark, ready;
    bool signals, armed;          /* signals are to be delivered; there is a handler */
    bool gaps;                    /* any code may have no table */
    unsigned since_signal, depth; /* instructions since the last signal or its return; handlers running */
    int last_signal;
    const char *failure; /* why the program cannot be stepped further */
};

/* ---- Comparing ---- */

/* Code that is assembled without CFI has such names; what lies outside of the program's code is a trampoline that
 * the program wrote. Anything else has to be listed. */
static bool has_no_table(void *ctx, uint64_t pc)
{
    struct run *run = ctx;
    const struct function *s = binary_function(&run->image, pc);

    if (run->gaps || pc - run->image.code_start >= run->image.code_size)
        return true;
    return s != NULL && (strncmp(s->name, "notable_", 8) == 0 ||
                         faults_no_table(run->faults, run->machine.cpu, &run->image, s->name, pc));
}

/* Everything that a line of FAULTS.md would need. SEEN: the caller as the walk has it, NULL if it has none. */
static void complain(struct run *run, const struct trace *trace, const struct mistake *mistake,
                     const struct seen *seen)
{
    const struct seen *f = mistake->frame, *right = &mistake->right;
    const struct function *s = binary_function(&run->image, f->exact ? f->pc : f->pc - 1);
    char rules[3][64] = {"no row", "", ""}, code[64];
    struct sfu_row row;
    bool found = tracer_row(&run->tracer, f, &row);
    int i;

    if (run->figures.wrong >= max_complaints)
        return;
    for (i = 0; i < 3 && found; i++)
        describe_rule(rules[i], sizeof rules[i], run->machine.cpu, &row, &"sp\0pc\0fp"[3 * i]);
    describe_code(code, sizeof code, &run->image, f->pc);
    printf("# %s: at %#" PRIx64 ", frame %td of %u, %s: %s+%#" PRIx64 " | %s | %s, %s, %s | true: sp %#" PRIx64
           " pc %#" PRIx64 " fp %#" PRIx64,
           run->program, trace->regs.pc, f - trace->frames, trace->count, sfu_string(trace->code),
           s != NULL ? s->name : "?", s != NULL ? f->pc - s->start : f->pc, code, rules[0], rules[1], rules[2],
           right->sp, right->pc, right->fp);
    if (seen != NULL)
        printf(" | seen: sp %#" PRIx64 " pc %#" PRIx64 " fp %#" PRIx64, seen->sp, seen->pc, seen->fp);
    printf("\n");
}

/* A listed fault is met, or there is something to tell. */
static enum verdict judge(void *ctx, const struct chain *chain, unsigned at, bool topmost, const struct seen *right)
{
    struct run *run = ctx;
    const struct seen *seen = at < chain->count ? &chain->frames[at] : NULL;
    struct mistake mistake;

    memset(&mistake, 0, sizeof mistake);
    mistake.frame = &chain->frames[at - 1];
    if (right != NULL) {
        mistake.topmost = topmost;
        mistake.right = *right;
        mistake.field = seen != NULL ? seen_difference(seen, right) : NULL;
        if (faults_match(run->faults, &run->tracer, &run->image, &run->compared->regs, &mistake))
            return KNOWN;
    }
    complain(run, run->compared, &mistake, seen);
    return WRONG;
}

static struct chain chain_of(struct run *run, const struct trace *trace)
{
    run->compared = trace;
    return (struct chain){trace->frames, trace->count, trace->code};
}

static struct chain resume(void *ctx, const struct seen *from)
{
    struct run *run = ctx;

    tracer_resume(&run->tracer, &run->rest, from);
    return chain_of(run, &run->rest);
}

static void count_verdict(struct run *run, enum verdict verdict)
{
    run->figures.instructions++;
    run->figures.frames = run->comparer.frames;
    run->figures.no_table += verdict == NO_TABLE;
    run->figures.known += verdict == KNOWN;
    run->figures.wrong += verdict == WRONG;
    if (run->figures.instructions % 500000 == 0) {
        printf("# ");
        print_figures(run->machine.cpu->abi.name, run->program, &run->figures);
    }
}

/* ---- One instruction ---- */

static void hold(struct run *run)
{
    if (run->num_held == MAX_HELD) {
        run->failure = "a longjmp that does not jump";
        return;
    }
    if (run->held[run->num_held] == NULL)
        run->held[run->num_held] = malloc(sizeof run->trace);
    tracer_walk(&run->tracer, run->held[run->num_held++], false);
}

/* The pending entry has just been filled in and popped; it is still there, above the top. */
static void compare_held(struct run *run)
{
    unsigned i;

    for (i = 0; i < run->num_held; i++)
        count_verdict(run, compare(&run->comparer, chain_of(run, run->held[i]), run->shadow.count + 1));
    run->num_held = 0;
}

static void check(struct run *run)
{
    enum verdict verdict;
    bool agrees;

    run->figures.pcs += binary_mark(&run->image, run->machine.regs.pc);
    if (shadow_is_pending(&run->shadow)) {
        hold(run);
        return;
    }
    tracer_walk(&run->tracer, &run->trace, run->figures.instructions % 2 != 0);
    agrees = !tracer_is_fast(&run->tracer) || tracer_agrees(&run->tracer, &run->trace);
    if (run->figures.instructions % VARY_EVERY == 0)
        agrees = tracer_varies(&run->tracer, &run->rest, &run->trace) && agrees;
    verdict = compare(&run->comparer, chain_of(run, &run->trace), run->shadow.count);
    if (!agrees && run->figures.wrong < max_complaints)
        printf("# %s: at %#" PRIx64 " another way to walk gives something else: see trace.h\n", run->program,
               run->machine.regs.pc);
    if (!agrees)
        verdict = WRONG;
    count_verdict(run, verdict);
}

static enum kind decode(struct run *run)
{
    struct machine *m = &run->machine;
    uint8_t bytes[16] = {0};
    uint64_t at = m->regs.pc - run->image.code_start;
    unsigned length;

    if (at < run->image.code_size && run->image.code_size - at >= m->cpu->longest)
        memcpy(bytes, run->image.code + at, m->cpu->longest);
    else if (!machine_read(m, m->regs.pc, bytes, m->cpu->longest))
        run->failure = "code that cannot be read";
    return m->cpu->decode(bytes, &m->regs, &length);
}

static enum event step_instruction(struct run *run)
{
    struct machine *m = &run->machine;
    struct shadow *shadow = &run->shadow;
    struct regs before = m->regs;
    enum kind kind = decode(run);
    bool was_pending = shadow_is_pending(&run->shadow);
    enum event event;

    if (kind == SIGRETURN && shadow->count > 0)
        event = m->backend->run_to(m, shadow->entries[shadow->count - 1].pc, 0);
    else
        event = m->backend->step(m);
    if (event != STOPPED)
        return event;
    shadow_step(shadow, m, &run->image, &before, kind);
    if (was_pending && !shadow_is_pending(&run->shadow))
        compare_held(run);
    if (shadow->fault != NULL)
        run->failure = shadow->fault;
    return STOPPED;
}

/* ---- Signals ---- */

static unsigned signal_depth(const struct run *run)
{
    unsigned i, depth = 0;

    for (i = 0; i < run->shadow.count; i++)
        depth += run->shadow.entries[i].interrupted;
    return depth;
}

/* Delivers a signal if it is time to: SIGUSR1 and SIGUSR2 in turn, and now and then the other one to a handler. */
static enum event maybe_signal(struct run *run)
{
    struct machine *m = &run->machine;
    struct regs before = m->regs;
    unsigned depth = signal_depth(run);
    enum event event;

    if (depth < run->depth)
        run->since_signal = 0;
    run->depth = depth;
    if (m->regs.pc == run->ready)
        run->armed = true;
    if (!run->armed || ++run->since_signal < SIGNAL_EVERY || depth > 1 || shadow_is_pending(&run->shadow) ||
        (run->shadow.count > 0 && run->shadow.entries[run->shadow.count - 1].interrupted))
        return STOPPED;
    if (depth == 1 && run->since_signal < 3 * SIGNAL_EVERY)
        return STOPPED;
    run->since_signal = 0;
    if (depth == 0)
        run->last_signal = run->last_signal == 1 ? 2 : 1;
    event = m->backend->run_to(m, run->handler, depth == 0 ? run->last_signal : 3 - run->last_signal);
    if (event != STOPPED)
        return event;
    if (m->regs.pc != run->handler)
        run->failure = "a signal did not reach its handler";
    shadow_signal(&run->shadow, m, &before);
    check(run);
    return STOPPED;
}

/* ---- A whole program ---- */

static void step_whole(struct run *run)
{
    enum event event = STOPPED;

    while (event == STOPPED && run->failure == NULL) {
        check(run);
        event = step_instruction(run);
        if (event == STOPPED && run->signals && run->handler != 0)
            event = maybe_signal(run);
    }
    if (event == FAILED && run->failure == NULL)
        run->failure = "the program or its emulator stopped";
}

/* ---- Windows ---- */

static void at_mark(struct run *run, struct marks *marks)
{
    shadow_mark(&run->shadow, &run->machine, marks);
    if (run->shadow.fault != NULL)
        run->failure = run->shadow.fault;
}

/* Steps N instructions, from a mark or the start of the program. */
static enum event step_window(struct run *run, struct marks *marks, unsigned long long n)
{
    unsigned long long end = run->figures.instructions + n;
    enum event event = STOPPED;

    while (event == STOPPED && run->failure == NULL && run->figures.instructions < end) {
        if (run->machine.regs.pc == run->mark)
            at_mark(run, marks);
        check(run);
        event = step_instruction(run);
    }
    return event;
}

/* Runs freely over COUNT marks, to the last of them. The frames that a window left are gone by then. */
static enum event skip_marks(struct run *run, struct marks *marks, uint64_t count)
{
    enum event event = STOPPED;

    run->num_held = 0;
    while (event == STOPPED && count > 0 && run->failure == NULL) {
        if (run->machine.regs.pc == run->mark)
            event = run->machine.backend->step(&run->machine);
        if (event == STOPPED)
            event = run->machine.backend->run_to(&run->machine, run->mark, 0);
        count--;
    }
    run->shadow.count = marks->depth + 1;
    if (event == STOPPED)
        at_mark(run, marks);
    return event;
}

/* Steps up to the first mark, then windows from marks as far apart as STEPS allows; then lets the program end. */
static void step_windows(struct run *run, unsigned long long steps)
{
    struct marks marks = {0, 0, 0, 0};
    enum event event = STOPPED;

    while (event == STOPPED && run->failure == NULL && marks.depth == 0)
        event = step_window(run, &marks, 1);
    while (event == STOPPED && run->failure == NULL && run->figures.instructions < steps) {
        unsigned long long left = steps - run->figures.instructions, phases = marks.total - marks.now;
        unsigned long long windows = left / MIN_WINDOW + 1;
        uint64_t start = marks.now;

        if (windows > phases)
            windows = phases > 0 ? phases : 1;
        event = step_window(run, &marks, (left + windows - 1) / windows);
        if (event == STOPPED && run->figures.instructions < steps && run->failure == NULL) {
            uint64_t passed = marks.now - start, wanted = phases / windows;

            event = skip_marks(run, &marks, wanted > passed ? wanted - passed : 1);
        }
    }
    if (event == STOPPED && run->failure == NULL)
        event = run->machine.backend->run_to(&run->machine, run->handler, 0);
    if (event != EXITED && run->failure == NULL)
        run->failure = "the program or its emulator stopped";
}

/* ---- Programs and sets ---- */

struct options {
    const struct cpu *cpu;
    const char *emulator;
    struct faults faults;
    unsigned long long steps;
    bool stale; /* listed faults that are not met fail the run */
    unsigned
        gaps; /* how many walks of a thousand may come to code without a table that is not known to have none */
};

/* Whether CPU is that of this machine, so that the fast walker has a short way. Only x86_64 so far. */
static bool own_cpu(const struct cpu *cpu)
{
#if defined(__x86_64__)
    return cpu->abi.id == SFU_AMD64;
#else
    (void)cpu;
    return false;
#endif
}

/* Lets the machine that OPTIONS name begin with PROGRAM: QEMU with one of 32 bits if this one's kernel runs none. */
static bool start_machine(struct machine *m, const struct options *options, const char *program)
{
    m->backend = strcmp(options->emulator, "native") == 0 ? &native_backend : &rsp_backend;
    if (m->backend->start(m, options->emulator, program))
        return true;
    if (m->backend != &native_backend || m->cpu->abi.id != SFU_I386)
        return false;
    m->backend = &rsp_backend;
    return m->backend->start(m, "qemu-i386", program);
}

static bool open_run(struct run *run, const struct options *options, const char *program)
{
    struct machine *m = &run->machine;
    int code;

    run->program = program;
    if (!binary_open(&run->image, program)) {
        run->failure = "not an ELF file with symbols, code and .sframe";
        return false;
    }
    m->cpu = options->cpu;
    m->fd = m->pid = -1;
    m->blocks = calloc(MAX_BLOCKS, sizeof *m->blocks);
    if (!start_machine(m, options, program)) {
        run->failure = "cannot be started";
        return false;
    }
    binary_move(&run->image, m->regs.pc);
    code = tracer_open(&run->tracer, m, &run->image);
    if (code != SFU_OK || run->tracer.section.abi != m->cpu->abi.id)
        run->failure = code != SFU_OK ? sfu_string(code) : "the section is of another ABI";
    else if (own_cpu(m->cpu) && !tracer_is_fast(&run->tracer))
        run->failure = "the section is not one for the fast walker";
    run->handler = binary_symbol(&run->image, "step_handler");
    run->ready = binary_symbol(&run->image, "step_ready");
    run->mark = binary_symbol(&run->image, "step_mark");
    return run->failure == NULL;
}

static void close_run(struct run *run)
{
    unsigned i;

    if (run->machine.backend != NULL)
        run->machine.backend->stop(&run->machine);
    for (i = 0; i < MAX_HELD; i++)
        free(run->held[i]);
    free(run->machine.blocks);
    tracer_close(&run->tracer);
    binary_close(&run->image);
}

/* Steps PROGRAM, all of it if STEPS is 0. Prints what is wrong; returns whether nothing is. */
static bool step_program(struct options *options, struct set *set, const char *program, unsigned long long steps)
{
    struct run *run = calloc(1, sizeof *run);
    bool ok;

    run->faults = &options->faults;
    run->comparer = (struct comparer){&run->shadow, has_no_table, judge, resume, run, false, 0};
    run->signals = strcmp(set->name, "signals") == 0;
    run->gaps = options->gaps > 0;
    if (open_run(run, options, program)) {
        faults_use(&options->faults, options->cpu, &run->image);
        if (steps == 0)
            step_whole(run);
        else
            step_windows(run, steps);
    }
    if (run->failure == NULL && run->machine.exit_code != 0)
        run->failure = "the program found itself to be wrong";
    if (run->failure == NULL && options->gaps > 0 &&
        run->figures.no_table * 1000 > run->figures.instructions * options->gaps)
        run->failure = "too many walks come to code without a table";
    if (run->failure != NULL)
        printf("# %s: %s\n", program, run->failure);
    ok = run->failure == NULL && run->figures.wrong == 0 && run->figures.instructions > 0;
    printf("%s %s %s\n", ok ? "ok" : "not ok", options->cpu->abi.name, program);
    add_figures(&set->figures, &run->figures);
    close_run(run);
    free(run);
    return ok;
}

/* The set that ARGUMENT, SET[:WEIGHT]=PROGRAM, belongs to; NULL if it is malformed. */
static struct set *parse(struct set *sets, const char *argument, unsigned *weight, const char **program)
{
    const char *equals = strchr(argument, '='), *colon = strchr(argument, ':');
    size_t n;
    int i;

    if (equals == NULL)
        return NULL;
    *program = equals + 1;
    *weight = colon != NULL && colon < equals ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
    n = (size_t)((*weight != 0 ? colon : equals) - argument);
    if (n == 0 || n >= sizeof sets->name)
        return NULL;
    for (i = 0; i < MAX_SETS; i++) {
        if (sets[i].name[0] == '\0')
            memcpy(sets[i].name, argument, n);
        if (strlen(sets[i].name) == n && memcmp(sets[i].name, argument, n) == 0)
            return &sets[i];
    }
    return NULL;
}

static unsigned long long instructions_of(const struct set *sets)
{
    unsigned long long sum = 0;
    int i;

    for (i = 0; i < MAX_SETS; i++)
        sum += sets[i].figures.instructions;
    return sum;
}

/* Steps the programs without weight, or those with one. */
static bool step_programs(struct options *options, struct set *sets, char **arguments, bool weighted)
{
    unsigned weight, total = 0;
    const char *program;
    bool ok = true;
    char **a;

    for (a = arguments; *a != NULL; a++)
        if (parse(sets, *a, &weight, &program) != NULL)
            total += weight;
    for (a = arguments; *a != NULL; a++) {
        struct set *set = parse(sets, *a, &weight, &program);
        unsigned long long done = instructions_of(sets), left = options->steps > done ? options->steps - done : 1;

        if (set == NULL) {
            printf("not ok %s: not SET[:WEIGHT]=PROGRAM\n", *a);
            return false;
        }
        if (weighted == (weight != 0)) {
            ok = step_program(options, set, program, weight * left / (total > 0 ? total : 1)) && ok;
            total -= weight;
        }
    }
    return ok;
}

static bool report_stale(const struct options *options)
{
    bool ok = true;
    unsigned i;

    for (i = 0; i < options->faults.count; i++) {
        const struct fault *f = &options->faults.list[i];

        if (options->stale && f->usable && f->matched == 0) {
            printf("not ok %s FAULTS.md: %s was not met: remove it\n", f->abi, f->name);
            ok = false;
        }
    }
    return ok;
}

static bool report(const struct options *options, const struct set *sets)
{
    struct figures total = {0, 0, 0, 0, 0, 0};
    bool ok;
    int i;

    for (i = 0; i < MAX_SETS && sets[i].name[0] != '\0'; i++) {
        print_figures(options->cpu->abi.name, sets[i].name, &sets[i].figures);
        add_figures(&total, &sets[i].figures);
    }
    print_figures(options->cpu->abi.name, "", &total);
    ok = total.instructions >= options->steps;
    if (!ok)
        printf("not ok %s steps: only %llu of %llu instructions\n", options->cpu->abi.name, total.instructions,
               options->steps);
    return report_stale(options) && ok;
}

int main(int argc, char **argv)
{
    static struct set sets[MAX_SETS];
    struct options options = {NULL, NULL, {NULL, 0}, 0, false, 0};
    const char *list = "/dev/null";
    int option;
    bool ok, all = false;

    while ((option = getopt(argc, argv, "q:n:f:c:g:as")) != -1)
        if (option == 'q')
            options.emulator = optarg;
        else if (option == 'n')
            options.steps = strtoull(optarg, NULL, 10);
        else if (option == 'f')
            list = optarg;
        else if (option == 'a')
            all = true;
        else if (option == 's')
            options.stale = true;
        else if (option == 'g')
            options.gaps = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'c')
            max_complaints = (unsigned)strtoul(optarg, NULL, 10);
        else
            return 2;
    if (optind == argc || options.emulator == NULL || (options.cpu = cpu_by_abi(argv[optind])) == NULL ||
        !faults_read(&options.faults, list, all)) {
        fprintf(stderr,
                "usage: step -q EMULATOR [-n STEPS] [-f KNOWN-FAULTS [-a] [-s]] [-c COMPLAINTS] [-g PERMILLE] ABI "
                "SET[:WEIGHT]=PROGRAM...\n");
        return 2;
    }
    ok = step_programs(&options, sets, argv + optind + 1, false);
    ok = step_programs(&options, sets, argv + optind + 1, true) && ok;
    ok = report(&options, sets) && ok;
    free(options.faults.list);
    return ok ? 0 : 1;
}
