/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A kernel that steps a program in its own mode, with the exceptions on the very stack that runs, and walks at each
 * instruction: from the handler through the port's exception entry and the interrupted function to the outermost one.
 * The truth is the shadow stack's (../shadow.h), which sees what the CPU did and no table.
 *
 * Command line: STEPS[/PHASES][:port]. With PHASES only so many of the program's are looked at, and it ends when the
 * steps are done. With "port" exceptions come on the stack that the port has for them, if it has one. It prints, for
 * the harness:
 *
 *   place ...   one for each place in which a walk was wrong: see print_place
 *   steps ...   the figures
 */
#include "stepper.h"
#include "../judge.h"
#include "port/fast/sfu_fast.h"

int strcmp(const char *a, const char *b);

enum {
    MIN_WINDOW = 5000,
    MAX_HELD = 16,
    MAX_FRAMES = 1024,
    MAX_PLACES = 512,
    CODE_SIZE = 4 << 20,
    MAX_HANDLER = 8
};

struct walked {
    struct seen frames[MAX_FRAMES];
    unsigned count;
    int code;
};

/* Where a walk was wrong: FRAME's caller. */
struct place {
    struct seen frame, right, seen;
    const char *field;  /* the first that is wrong; "end": the walk has no caller, or one too many;
                        * "entry", "fast": see walk_from_here */
    bool topmost, same; /* the right value of the field is FRAME's own */
    int code;
    uint64_t at; /* the PC that was stepped */
    uint64_t count;
};

static struct run {
    struct machine machine;
    struct shadow shadow;
    struct binary image;
    struct marks marks;
    struct regs before;
    enum kind kind;                          /* of the instruction at BEFORE */
    struct walked now, rest, held[MAX_HELD]; /* held: of a pending longjmp */
    struct place places[MAX_PLACES];
    unsigned num_held, num_places;
    bool stepping, began;
    uint64_t steps, phases, window_end, next_window, window_start;
    uint64_t instructions, pcs, no_table, wrong, lost;
    struct comparer comparer;
    const char *failure;
} run;
static uint8_t seen_code[CODE_SIZE / 8];

/* The fast walker, without a cache and with one. */
static struct fast {
    struct sfu_fast walker;
    struct sfu_fast_image image;
    struct sfu_section section;
} bare, cached;
static uint64_t cache[256], pcs[MAX_FRAMES];

/* The functions, by start, without names but for setjmp and those that have no table: build.sh. */
extern const struct function step_functions[], step_functions_end[];
extern const char image_start[], sframe_start[];

/* ---- printing ---- */

static void print_number(const char *name, uint64_t value)
{
    char text[21];
    unsigned at = sizeof text - 1;

    text[at] = '\0';
    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    kernel_print(name);
    kernel_print(text + at);
}

static void print_seen(const char *name, const struct seen *s)
{
    kernel_print(name);
    kernel_print(s->exact ? "exact " : "return ");
    kernel_print_hex(s->pc);
    kernel_print(" ");
    kernel_print_hex(s->sp);
    kernel_print(" ");
    kernel_print_hex(s->fp);
}

/* place COUNT FIELD TOPMOST CODE AT | frame | right | seen: a frame is its kind, PC, SP and FP. */
static void print_place(const struct place *p)
{
    print_number("place ", p->count);
    kernel_print(" ");
    kernel_print(p->field);
    kernel_print(p->topmost ? " topmost -" : " caller -");
    print_number("", p->code < 0 ? (uint64_t)-p->code : 0);
    kernel_print(" ");
    kernel_print_hex(p->at);
    print_seen(" frame ", &p->frame);
    print_seen(" right ", &p->right);
    print_seen(" seen ", &p->seen);
    kernel_print("\n");
}

static _Noreturn void report(uint64_t result)
{
    unsigned i;

    for (i = 0; i < run.num_places; i++)
        print_place(&run.places[i]);
    print_number("steps instructions=", run.instructions);
    print_number(" pcs=", run.pcs);
    print_number(" frames=", run.comparer.frames);
    print_number(" no-table=", run.no_table);
    print_number(" wrong=", run.wrong);
    print_number(" lost=", run.lost);
    print_number(" result=", result & 0xffffffff);
    kernel_print(" ");
    kernel_print(run.failure != NULL ? run.failure : "done");
    kernel_print("\n");
    machine_exit(run.failure == NULL && result == 0);
}

/* ---- the walk ---- */

static sfu_reg_fn port_register;

static int any_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *value)
{
    if (port_register(ctx, frame, reg, value) == 0)
        return 0;
    return frame->interrupted && step_register(reg, value) ? 0 : -1;
}

static int walk_on(struct sfu_walk *walk, struct walked *walked)
{
    walked->count = 0;
    do {
        struct seen *s = &walked->frames[walked->count++];

        s->pc = walk->frame.regs.pc;
        s->sp = walk->frame.regs.sp;
        s->fp = walk->frame.regs.fp;
        s->exact = walk->frame.regs.pc_kind == SFU_PC_EXACT;
        s->reliable = walk->frame.reliable;
        walked->code = sfu_walk_step(walk);
    } while (walked->code == SFU_OK && walked->count < MAX_FRAMES);
    return walked->code;
}

/* Whether the fast walker says what WALKED says, behind the first SKIP frames of a trace from HERE. */
static bool is_fast_same(const struct sfu_registers *here, size_t skip, const struct walked *walked)
{
    struct fast *fast = run.instructions % 2 == 0 ? &bare : &cached;
    struct sfu_target target = kernel_target;
    size_t count, i;

    target.sections = sfu_fast_sections(&fast->walker);
    if (sfu_fast_trace(&fast->walker, &target, here, skip, pcs, MAX_FRAMES, &count) != walked->code ||
        count != walked->count)
        return false;
    for (i = 0; i < count && pcs[i] == walked->frames[i].pc; i++) {
    }
    return i == count;
}

/* From the handler to the frame that TRAP interrupted, which is the first one of WALKED. Returns NULL, or what is
 * wrong: that frame has not been found or is not what TRAP says; or the fast walker differs. */
static const char *walk_from_here(const struct trap *trap, struct walked *walked)
{
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);
    struct sfu_walk walk;
    const struct sfu_frame *f = &walk.frame;
    bool found = false;
    size_t skip;

    walked->count = 0;
    sfu_walk_start(&walk, &kernel_target, &here);
    while (!found && f->depth < MAX_HANDLER && (walked->code = sfu_walk_step(&walk)) == SFU_OK)
        found = f->regs.pc_kind == SFU_PC_EXACT;
    if (!found)
        return "entry";
    skip = f->depth;
    found = f->saved != 0 && f->reliable && f->regs.pc == trap->pc && f->regs.sp == trap->r[SFU_REG_SP] &&
            f->regs.fp == trap->r[SFU_REG_FP];
    walk_on(&walk, walked);
    return !found ? "entry" : is_fast_same(&here, skip, walked) ? NULL : "fast";
}

/* From a caller of which only this is known. */
static void walk_from(const struct seen *from, struct walked *walked)
{
    struct sfu_registers top = {.pc = from->pc, .sp = from->sp, .fp = from->fp};
    struct sfu_walk walk;

    top.pc_kind = from->exact ? SFU_PC_EXACT : SFU_PC_RETURN;
    sfu_walk_start(&walk, &kernel_target, &top);
    walk_on(&walk, walked);
}

/* ---- comparing ---- */

static bool same_field(const struct place *p)
{
    return p->field[0] == 's' ? p->right.sp == p->frame.sp : p->field[0] == 'f' && p->right.fp == p->frame.fp;
}

static void note(struct place *p)
{
    unsigned i;

    p->same = same_field(p);
    p->at = run.machine.regs.pc;
    p->count = 1;
    for (i = 0; i < run.num_places; i++) {
        struct place *q = &run.places[i];

        if (q->frame.pc == p->frame.pc && q->field == p->field && q->topmost == p->topmost && q->same == p->same) {
            q->count++;
            return;
        }
    }
    if (run.num_places < MAX_PLACES)
        run.places[run.num_places++] = *p;
    else
        run.lost++;
}

/* Code that is assembled without CFI is "notable_" in the table; what lies outside of the image is a trampoline on the
 * stack. */
static bool has_no_table(void *ctx, uint64_t pc)
{
    const struct function *f = binary_function(&run.image, pc);

    (void)ctx;
    return f == NULL ? pc - run.image.code_start >= run.image.code_size : f->name[0] == 'n';
}

/* The judge looks at the place. */
static enum verdict note_wrong(void *ctx, const struct chain *chain, unsigned at, bool topmost,
                               const struct seen *right)
{
    struct place p = {.frame = chain->frames[at - 1], .topmost = topmost, .code = chain->code, .field = "end"};

    (void)ctx;
    if (right != NULL)
        p.right = *right;
    if (at < chain->count) {
        p.seen = chain->frames[at];
        if (right != NULL)
            p.field = seen_difference(&p.seen, &p.right);
    }
    note(&p);
    return WRONG;
}

static struct chain chain_of(const struct walked *w)
{
    return (struct chain){w->frames, w->count, w->code};
}

static struct chain resume(void *ctx, const struct seen *from)
{
    (void)ctx;
    walk_from(from, &run.rest);
    return chain_of(&run.rest);
}

static void count_verdict(enum verdict verdict)
{
    run.instructions++;
    run.no_table += verdict == NO_TABLE;
    run.wrong += verdict == WRONG;
}

/* The pending entry has just been filled in and popped; it is still there, above the top. */
static void compare_held(void)
{
    unsigned i;

    for (i = 0; i < run.num_held; i++)
        count_verdict(compare(&run.comparer, chain_of(&run.held[i]), run.shadow.count + 1));
    run.num_held = 0;
}

/* ---- one instruction ---- */

/* What walk_from_here found to be WRONG. */
static void note_entry(const struct trap *trap, const struct walked *walked, const char *wrong)
{
    struct place p = {.topmost = true, .code = walked->code, .field = wrong};

    p.right = (struct seen){.pc = trap->pc, .sp = trap->r[SFU_REG_SP], .fp = trap->r[SFU_REG_FP], .exact = true};
    p.frame.pc = trap->pc;
    if (walked->count > 0)
        p.seen = walked->frames[0];
    note(&p);
    count_verdict(WRONG);
}

static void check(const struct trap *trap)
{
    bool pending = shadow_is_pending(&run.shadow);
    struct walked *w = pending ? &run.held[run.num_held] : &run.now;
    const char *wrong;

    if (run.num_held == MAX_HELD) {
        run.failure = "a longjmp that does not jump";
        return;
    }
    run.pcs += binary_mark(&run.image, trap->pc);
    wrong = walk_from_here(trap, w);
    if (wrong != NULL)
        note_entry(trap, w, wrong);
    else if (pending)
        run.num_held++;
    else
        count_verdict(compare(&run.comparer, chain_of(w), run.shadow.count));
}

/* The instruction that was to be stepped has been carried out. */
static void advance(void)
{
    bool was_pending = shadow_is_pending(&run.shadow);

    shadow_step(&run.shadow, &run.machine, &run.image, &run.before, run.kind);
    if (was_pending && !shadow_is_pending(&run.shadow))
        compare_held();
}

static enum kind decode(const struct machine *m)
{
    uint8_t bytes[16];
    unsigned length;

    __builtin_memcpy(bytes, (const void *)(uintptr_t)m->regs.pc, sizeof bytes);
    return m->cpu->decode(bytes, &m->regs, &length);
}

/* ---- windows: as in ../step.c ---- */

static void begin_window(void)
{
    const unsigned long left = (unsigned long)(run.steps - run.instructions); /* i386 has no division of 64 bits */
    const uint64_t last = run.phases < run.marks.total ? run.phases : run.marks.total;
    const unsigned long phases = last > run.marks.now ? (unsigned long)(last - run.marks.now) : 0;
    unsigned long windows = left / MIN_WINDOW + 1;

    if (windows > phases)
        windows = phases > 0 ? phases : 1;
    run.stepping = true;
    run.num_held = 0;
    run.window_start = run.marks.now;
    run.window_end = run.instructions + (left + windows - 1) / windows;
    run.next_window = run.marks.now + phases / windows;
}

static void end_window(void)
{
    run.stepping = false;
    if (run.phases != UINT64_MAX && run.instructions >= run.steps)
        report(0);
    if (run.next_window <= run.marks.now)
        run.next_window = run.marks.now + 1;
}

static void at_mark(void)
{
    bool first = run.marks.depth == 0;

    if (!run.stepping)
        run.shadow.count = run.marks.depth + 1;
    shadow_mark(&run.shadow, &run.machine, &run.marks);
    if (first)
        run.stepping = false;
    if (!run.stepping && run.marks.now >= run.next_window && run.instructions < run.steps)
        begin_window();
}

/* ---- the handler ---- */

static void take_registers(const struct trap *trap)
{
    struct machine *m = &run.machine;
    unsigned i;

    for (i = 0; i < sizeof trap->r / sizeof trap->r[0]; i++)
        m->regs.r[i] = trap->r[i];
    m->regs.pc = trap->pc;
    m->num_blocks = 0; /* memory has changed */
}

static void at_breakpoint(const struct trap *trap)
{
    if (trap->pc == (uintptr_t)step_end)
        report(trap->r[step_result]);
    if (!run.began) {
        run.began = run.stepping = true;
        run.window_end = UINT64_MAX;
    } else {
        at_mark();
    }
}

static bool on_trap(struct trap *trap)
{
    enum cause cause = step_cause(trap);

    if (cause == OTHER)
        return false;
    take_registers(trap);
    if (run.stepping)
        advance();
    if (cause == BREAKPOINT)
        at_breakpoint(trap);
    if (run.stepping && !shadow_is_pending(&run.shadow) && run.instructions >= run.window_end)
        end_window();
    if (run.stepping)
        check(trap);
    if (run.shadow.fault != NULL)
        run.failure = run.shadow.fault;
    if (run.failure != NULL)
        report(1);
    run.before = run.machine.regs;
    run.kind = decode(&run.machine);
    step_set(trap, run.stepping);
    return true;
}

static bool begun; /* traps are the stepper's */

/* The port's kernel_trap calls it. */
bool kernel_handle(struct trap *trap, bool timer)
{
    return (begun && on_trap(trap)) || timer;
}

/* ---- start ---- */

static bool read_memory(struct machine *m, uint64_t addr, void *buffer, size_t len)
{
    (void)m;
    __builtin_memcpy(buffer, (const void *)(uintptr_t)addr, len);
    return true;
}

static const struct backend memory = {.read = read_memory};

static void open_fast(struct fast *fast, uint64_t *words, size_t size)
{
    const struct sfu_section *s = kernel_target.sections;
    struct sfu_section *list = NULL;

    sfu_fast_set_cache(&fast->walker, words, size);
    if (sfu_add(&list, &fast->section, 1, s->bytes, s->size, s->addr) != SFU_OK ||
        sfu_fast_add(&fast->walker, &fast->image, 1, list) != SFU_OK)
        run.failure = "the fast walker does not take the section";
}

static uint64_t take_number(const char **text)
{
    uint64_t value = 0;

    for (; **text >= '0' && **text <= '9'; (*text)++)
        value = 10 * value + (uint64_t)(**text - '0');
    return value;
}

/* Programs run code on their stacks. There is no table of it, which the judge knows; a guess would go on from there. */
static void forget_text(void)
{
    struct sfu_section *s;

    for (s = kernel_target.sections; s != NULL; s = s->next) {
        s->text.low = 0;
        s->text.high = 0;
    }
}

static void init(const char *command_line)
{
    static struct block blocks[MAX_BLOCKS];

    run.steps = take_number(&command_line);
    run.phases = UINT64_MAX;
    if (*command_line == '/') {
        command_line++;
        run.phases = take_number(&command_line);
    }
    run.comparer = (struct comparer){&run.shadow, has_no_table, note_wrong, resume, NULL, true, 0};
    run.machine.cpu = cpu_by_abi(step_abi);
    run.machine.backend = &memory;
    run.machine.blocks = blocks;
    run.image.functions = (struct function *)(uintptr_t)step_functions;
    run.image.num_functions = (size_t)(step_functions_end - step_functions);
    run.image.seen = seen_code;
    run.image.code_start = (uintptr_t)image_start;
    run.image.code_size = (uint64_t)(sframe_start - image_start);
    kernel_target.max_frames = 0;
    forget_text();
    open_fast(&bare, NULL, 0);
    open_fast(&cached, cache, sizeof cache);
    port_register = kernel_target.reg;
    kernel_target.reg = any_register;
    begun = true;
}

static bool is_port(const char *command_line)
{
    while (*command_line != '\0' && *command_line != ':')
        command_line++;
    return strcmp(command_line, ":port") == 0;
}

void kernel_main(const char *command_line)
{
    static struct thread boot, program;
    uint64_t size;
    uint8_t *stack;

    init(command_line);
    stack = step_init(!is_port(command_line), &size);
    kernel_new_thread(&program, stack, size, step_begin);
    thread_switch(&boot.sp, program.sp);
}

int strcmp(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b)
        a++, b++;
    return *a - *b;
}

#ifndef __i386__ /* whose programs have none, either: ../programs/start.S */
/* What the programs have for signals, of which a kernel has none. */
void step_signals(void);
void step_signals(void)
{
}
#endif

#if UINTPTR_MAX < UINT64_MAX
/* What the fast walker asks for where a CPU of 32 bits has no such instruction, or the compiler does not take it.
 * Nothing interrupts the handler. */
uint64_t load_8(const volatile uint64_t *at, int order) __asm__("__atomic_load_8");
uint64_t load_8(const volatile uint64_t *at, int order)
{
    (void)order;
    return *at;
}

void store_8(volatile uint64_t *at, uint64_t value, int order) __asm__("__atomic_store_8");
void store_8(volatile uint64_t *at, uint64_t value, int order)
{
    (void)order;
    *at = value;
}
#endif
