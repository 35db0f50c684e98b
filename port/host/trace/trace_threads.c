/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "trace_threads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 65536, MAX_TEXT = 1000 };

/* ---- Words of a text ------------------------------------------------------------------------------------------- */

/* A number at *TEXT, which is moved behind it. */
static bool take_number(const char **text, uint64_t *value)
{
    char *end;

    errno = 0;
    if (**text < '0' || **text > '9')
        return false;
    *value = strtoull(*text, &end, 0);
    *text = end;
    return errno == 0;
}

static bool is_threads_number(const char *text, uint64_t *value)
{
    return take_number(&text, value) && *text == '\0';
}

/* ---- What --threads says --------------------------------------------------------------------------------------- */

enum shape { NEXT, LINK, ARRAY, POINTERS };

/* Where a register is: a word of the thread, a word above the saved SP, or always the same. */
struct place {
    enum { IN_THREAD, ON_STACK, SYMBOL } kind;
    uint64_t offset;
    const char *symbol;
};

struct description {
    char text[MAX_TEXT]; /* has the names */
    const char *symbol, *running;
    uint64_t num_running; /* pointers at RUNNING, one for each CPU */
    bool has_shape, here, has_name, name_pointer, has_id;
    enum shape shape;
    uint64_t at, size; /* NEXT, LINK: the word's offset; else how many, and ARRAY: of how many bytes each */
    uint64_t sp, popped, name, id;
    struct place registers[NUM_REGISTERS];
    bool has_register[NUM_REGISTERS], has_sp;
    uint8_t pc_kind;
};

static bool set_shape(struct description *d, enum shape shape, const char *value)
{
    bool first = !d->has_shape;

    d->has_shape = true;
    d->shape = shape;
    return first && is_threads_number(value, &d->at) && (shape < ARRAY || (d->at > 0 && d->at <= MAX_THREADS));
}

/* "N" or "N+M": the SP is the word at N of the thread, plus M. */
static bool set_sp(struct description *d, const char *value)
{
    d->has_sp = take_number(&value, &d->sp);
    return d->has_sp && (*value == '\0' || (*value++ == '+' && is_threads_number(value, &d->popped)));
}

/* "N", "sp+N" or a symbol. */
static bool set_place(struct place *p, const char *value)
{
    if (is_threads_number(value, &p->offset)) {
        p->kind = IN_THREAD;
        return true;
    }
    p->kind = strncmp(value, "sp+", 3) == 0 ? ON_STACK : SYMBOL;
    p->symbol = value;
    return p->kind == ON_STACK ? is_threads_number(value + 3, &p->offset) : value[0] > '9';
}

/* Those of every CPU have the same names: a reader of the images says later which it has. */
static int register_number(const char *name, const struct registers *r)
{
    uint64_t number;

    if (strcmp(name, "pc") == 0)
        return REGISTER_PC;
    if (strcmp(name, "fp") == 0)
        return r != NULL ? (int)r->fp : 0;
    if (strcmp(name, "ra") == 0)
        return r == NULL ? 0 : r->link ? (int)r->ra : -1;
    return name[0] == 'r' && is_threads_number(name + 1, &number) && number < REGISTER_PC ? (int)number : -1;
}

static bool set_name(struct description *d, const char *value)
{
    d->has_name = true;
    d->name_pointer = value[0] == '*';
    return is_threads_number(value + d->name_pointer, &d->name);
}

/* "SYMBOL" or "SYMBOL/N". */
static bool set_running(struct description *d, char *value)
{
    char *number = strchr(value, '/');

    d->running = value;
    d->num_running = 1;
    if (number == NULL)
        return value[0] != '\0';
    if (number == value || !is_threads_number(number + 1, &d->num_running) || d->num_running == 0 ||
        d->num_running > MAX_THREADS)
        return false;
    *number = '\0';
    return true;
}

/* R: of the images' CPU; NULL: only what is written counts. */
static bool set_item(struct description *d, const char *key, char *value, const struct registers *r)
{
    static const char *const shapes[] = {"next", "link", "array", "pointers"};
    int reg = register_number(key, r);
    unsigned i;

    for (i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (strcmp(key, shapes[i]) == 0)
            return set_shape(d, (enum shape)i, value);
    if (strcmp(key, "size") == 0)
        return is_threads_number(value, &d->size) && d->size > 0;
    if (strcmp(key, "sp") == 0)
        return set_sp(d, value);
    if (strcmp(key, "name") == 0)
        return set_name(d, value);
    if (strcmp(key, "id") == 0)
        return d->has_id = is_threads_number(value, &d->id);
    if (strcmp(key, "kind") == 0) {
        d->pc_kind = strcmp(value, "return") == 0 ? SFU_PC_RETURN : SFU_PC_EXACT;
        return strcmp(value, "return") == 0 || strcmp(value, "exact") == 0;
    }
    if (strcmp(key, "running") == 0)
        return set_running(d, value);
    if (reg < 0)
        return false;
    d->has_register[reg] = true;
    return set_place(&d->registers[reg], value);
}

static bool describe(struct description *d, const char *text, const struct registers *r, char *error, size_t size)
{
    char *save = NULL, *item;

    memset(d, 0, sizeof *d);
    d->pc_kind = SFU_PC_EXACT;
    (void)snprintf(d->text, sizeof d->text, "%s", text);
    d->symbol = strtok_r(d->text, ",", &save);
    while (d->symbol != NULL && (item = strtok_r(NULL, ",", &save)) != NULL) {
        char *equals = strchr(item, '=');

        if (strcmp(item, "here") == 0) {
            d->here = true;
            continue;
        }
        if (equals != NULL)
            *equals++ = '\0';
        if (equals == NULL || !set_item(d, item, equals, r)) {
            (void)snprintf(error, size, "%.100s%s%.100s", item, equals != NULL ? "=" : "",
                           equals != NULL ? equals : "");
            return false;
        }
    }
    (void)snprintf(error, size, "%s",
                   d->symbol == NULL || strlen(text) >= sizeof d->text ? "a symbol is needed"
                   : !d->has_shape                                     ? "next, link, array or pointers is needed"
                   : d->shape == ARRAY && d->size == 0                 ? "array needs size"
                                                                       : "sp and pc are needed");
    return d->symbol != NULL && strlen(text) < sizeof d->text && d->has_shape &&
           (d->shape != ARRAY || d->size > 0) && d->has_sp && d->has_register[REGISTER_PC];
}

bool threads_check(const char *text, char *error, size_t size)
{
    struct description d;

    return text[0] == '@' || describe(&d, text, NULL, error, size);
}

/* What cannot be found makes the program's status 1. A machine that is stopped must be let go all the same. */
static void miss(const struct trace_space *space, const char *what, const char *name)
{
    report_warn("--threads: %s%s", what, name);
    space->images->wrong = true;
}

/* ---- Their registers ------------------------------------------------------------------------------------------- */

static bool read_thread_word(const struct trace_space *space, uint64_t base, uint64_t offset, uint64_t *value)
{
    return offset <= UINT64_MAX - base && space_word(space, base + offset, value);
}

/* The run-time address of a symbol of any image, or of a map. */
static bool find_symbol(const struct trace_space *space, const char *name, uint64_t *addr)
{
    const struct trace_images *images = space->images;
    size_t i;

    for (i = 0; i < images->num; i++) {
        struct trace_image *image = images->list[i];

        if (image->placed && images_find(images, image, name, addr)) {
            *addr += image->slide;
            return true;
        }
    }
    miss(space, "no symbol ", name);
    return false;
}

static bool read_place(const struct trace_space *space, const struct place *p, uint64_t thread, uint64_t sp,
                       uint64_t *value)
{
    if (p->kind == SYMBOL)
        return find_symbol(space, p->symbol, value);
    return read_thread_word(space, p->kind == IN_THREAD ? thread : sp, p->offset, value);
}

static bool read_thread_registers(const struct trace_space *space, const struct description *d,
                                  struct kernel_thread *t)
{
    unsigned sp = abi_registers(space->abi)->sp, reg;
    uint64_t saved;

    if (!read_thread_word(space, t->addr, d->sp, &saved))
        return false;
    for (reg = 0; reg < NUM_REGISTERS; reg++) {
        if (!d->has_register[reg])
            continue;
        if (!read_place(space, &d->registers[reg], t->addr, saved, &t->regs.value[reg]))
            return false;
        t->regs.known[reg] = true;
    }
    t->regs.value[sp] = saved + d->popped;
    t->regs.known[sp] = true;
    t->pc_kind = d->pc_kind;
    return saved <= UINT64_MAX - d->popped;
}

/* Up to a 0, as printable characters, because a terminal obeys others, and the name may be any bytes. */
static void read_thread_name(const struct trace_space *space, const struct description *d, struct kernel_thread *t)
{
    uint64_t at = t->addr;
    size_t i;

    if (!d->has_name || d->name > UINT64_MAX - at)
        return;
    at += d->name;
    if (d->name_pointer && !space_word(space, at, &at))
        return;
    for (i = 0; i + 1 < sizeof t->name; i++) {
        char *c = &t->name[i];

        if (at > UINT64_MAX - i || !space_read(space, at + i, c, 1) || *c == '\0')
            break;
        if (*c < ' ' || *c > '~')
            *c = '?';
    }
    t->name[i] = '\0';
}

/* ---- Threads that run ------------------------------------------------------------------------------------------ */

struct running {
    uint64_t *list;
    size_t num;
};

static bool is_running(const struct running *running, uint64_t thread)
{
    size_t i;

    for (i = 0; i < running->num; i++)
        if (running->list[i] == thread)
            return true;
    return false;
}

static void find_running(const struct trace_space *space, const struct description *d, struct running *running)
{
    const unsigned word = abi_registers(space->abi)->word;
    uint64_t at, thread, i;

    if (d->running == NULL || !find_symbol(space, d->running, &at))
        return;
    for (i = 0; i < d->num_running && at <= UINT64_MAX - word && space_word(space, at, &thread); i++) {
        running->list = grow(running->list, running->num, sizeof *running->list);
        running->list[running->num++] = thread;
        at += word;
    }
}

/* ---- Finding them ---------------------------------------------------------------------------------------------- */

static void add_thread(const struct trace_space *space, const struct description *d, uint64_t addr,
                       struct kernel_threads *threads)
{
    struct kernel_thread t = {.addr = addr};
    bool skipped = d->shape == ARRAY || d->shape == POINTERS;
    uint64_t saved;

    /* An element that is not in use: what waits has an SP. */
    if (skipped && read_thread_word(space, addr, d->sp, &saved) && saved == 0)
        return;
    if (!read_thread_registers(space, d, &t))
        memset(t.regs.known, 0, sizeof t.regs.known);
    read_thread_name(space, d, &t);
    t.has_id = d->has_id && read_thread_word(space, addr, d->id, &t.id);
    threads->list = grow(threads->list, threads->num, sizeof *threads->list);
    threads->list[threads->num++] = t;
}

/* The list ends at 0, where it has begun, or at its head. The words of LINK point to each other. Threads are counted,
 * because a list that was overwritten may have no end. */
static void follow_threads(const struct trace_space *space, const struct description *d, uint64_t head,
                           const struct running *running, struct kernel_threads *threads)
{
    uint64_t back = d->shape == LINK ? d->at : 0, link, first;
    size_t count;

    if (d->here ? back > UINT64_MAX - head : !space_word(space, head, &link)) {
        miss(space, "the memory cannot be read of ", d->symbol);
        return;
    }
    first = link = d->here ? head + back : link;
    for (count = 0; count < MAX_THREADS; count++) {
        uint64_t thread;

        if (link == 0 || (!d->here && link == head) || (count > 0 && link == first))
            return;
        if (link < back)
            break;
        thread = link - back;
        if (!read_thread_word(space, thread, d->at, &link))
            break;
        if (!is_running(running, thread))
            add_thread(space, d, thread, threads);
    }
    miss(space, count == MAX_THREADS ? "the list has no end: " : "the list leads to memory that cannot be read: ",
         d->symbol);
}

static void find_array(const struct trace_space *space, const struct description *d, uint64_t head,
                       const struct running *running, struct kernel_threads *threads)
{
    uint64_t step = d->shape == ARRAY ? d->size : abi_registers(space->abi)->word, i;

    for (i = 0; i < d->at && i <= (UINT64_MAX - head) / step; i++) {
        uint64_t addr = head + step * i;

        if (d->shape == POINTERS && !space_word(space, addr, &addr)) {
            miss(space, "the memory cannot be read of ", d->symbol);
            return;
        }
        if (addr != 0 && !is_running(running, addr))
            add_thread(space, d, addr, threads);
    }
}

/* One line of --regs, with name=WORD and id=N. Returns false at what is none of it, which *WRONG gets. */
static bool read_line(char *line, const struct trace_space *space, struct kernel_thread *t, const char **wrong)
{
    char *save = NULL, *item;

    line[strcspn(line, "\r\n#")] = '\0';
    for (item = strtok_r(line, ", \t", &save); item != NULL; item = strtok_r(NULL, ", \t", &save)) {
        char *equals = strchr(item, '=');
        bool good = equals != NULL;

        if (good)
            *equals++ = '\0';
        if (good && strcmp(item, "name") == 0)
            (void)snprintf(t->name, sizeof t->name, "%s", equals);
        else if (good && strcmp(item, "id") == 0)
            good = t->has_id = is_threads_number(equals, &t->id);
        else
            good = good && registers_set(space->abi, &t->regs, &t->pc_kind, item, equals);
        *wrong = item; /* of a line that is not empty */
        if (!good)
            return false;
    }
    return true;
}

/* A thread in each line. # begins a comment. */
static void read_threads_file(const char *name, const struct trace_space *space, struct kernel_threads *threads)
{
    FILE *file = fopen(name, "r");
    const char *wrong = "";
    char *line = NULL;
    size_t room = 0;

    if (file == NULL) {
        miss(space, "cannot be read: ", name);
        return;
    }
    while (getline(&line, &room, file) >= 0 && threads->num < MAX_THREADS) {
        struct kernel_thread t = {.pc_kind = SFU_PC_EXACT};

        if (!read_line(line, space, &t, &wrong)) {
            miss(space, "not a register and its value: ", wrong);
            break;
        }
        if (wrong[0] == '\0')
            continue;
        threads->list = grow(threads->list, threads->num, sizeof *threads->list);
        threads->list[threads->num++] = t;
        wrong = "";
    }
    free(line);
    fclose(file);
}

/* Finds the threads that TEXT describes in SPACE. Says what cannot be found, and goes on with those that have been. */
static void find_threads(const char *text, const struct trace_space *space, struct kernel_threads *threads)
{
    struct description d;
    struct running running = {NULL, 0};
    uint64_t head;
    char error[300];

    memset(threads, 0, sizeof *threads);
    if (text[0] == '@') {
        read_threads_file(text + 1, space, threads);
        return;
    }
    if (!describe(&d, text, abi_registers(space->abi), error, sizeof error)) {
        miss(space, "not what is needed: ", error);
        return;
    }
    if (!find_symbol(space, d.symbol, &head))
        return;
    find_running(space, &d, &running);
    if (d.shape == NEXT || d.shape == LINK)
        follow_threads(space, &d, head, &running, threads);
    else
        find_array(space, &d, head, &running, threads);
    free(running.list);
}

void threads_print(const struct trace_out *out, struct trace_space *space, const char *text, size_t number,
                   struct kernel_threads *threads)
{
    const struct trace_frames *seen = space->seen;
    size_t i;

    space->seen = NULL;
    memset(threads, 0, sizeof *threads);
    if (text != NULL)
        find_threads(text, space, threads);
    for (i = 0; i < threads->num; i++) {
        const struct kernel_thread *t = &threads->list[i];
        char at[32] = "", id[32] = "";

        if (t->addr != 0)
            (void)snprintf(at, sizeof at, " at 0x%016" PRIx64, t->addr);
        if (t->has_id)
            (void)snprintf(id, sizeof id, " (id %" PRIu64 ")", t->id);
        out_line(out, "%skernel thread %zu%s%s%s%s", number + i > 0 ? "\n" : "", i + 1, at,
                 t->name[0] != '\0' ? ": " : "", t->name, id);
        space->regs = t->regs;
        if (seen != NULL && walk_meets(space, t->pc_kind, seen))
            out_line(out, "        it runs, by a trace above: these are the registers that it had before");
        if (!walk_print(out, space, t->pc_kind))
            out_line(out, "        its saved registers cannot be read");
    }
}
