/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "parts.h"
#include "trace.h"

struct job {
    struct shadow *list;
    unsigned (*inside)(void);
};

/* What is copied: it refers to nothing but its argument. */
NOIPA unsigned p_template(const struct job *job);
NOIPA unsigned p_template(const struct job *job)
{
    unsigned result;

    ENTER(job->list);
    result = CALL(job->list, job->inside());
    LEAVE(job->list);
    return result + 1;
}

typedef unsigned (*copied)(const struct job *);

static struct function template, copy;
static unsigned ends_in_copy;

/* Where a trace ends that does not know of the copy. */
static NOIPA unsigned walk_without_rows(void)
{
    struct sfu_registers here = sfu_here(&self.cpu);
    struct sfu_walk walk;
    int code;

    sfu_walk_start(&walk, &self.target, &here);
    while ((code = sfu_walk_step(&walk)) == SFU_OK)
        ;
    ends_in_copy +=
        code == SFU_E_NO_FDE && walk.frame.depth == 1 && walk.frame.regs.pc - copy.start < copy.end - copy.start;
    return 0;
}

static NOIPA unsigned run(unsigned (*inside)(void))
{
    const struct job job = {&list, inside};
    unsigned result;

    ENTER(&list);
    result = CALL(&list, ((copied)(uintptr_t)copy.start)(&job));
    LEAVE(&list);
    return result;
}

/* Copies the template. Returns how far it is from there to its copy. */
static uint64_t make_copy(void)
{
    uint64_t size;
    uint8_t *to;

    template = trace_function((uint64_t)(uintptr_t)p_template);
    size = template.end - template.start;
    to = os_map_code((size_t)size);
    for (uint64_t i = 0; i < size; i++)
        to[i] = ((const uint8_t *)(uintptr_t) template.start)[i];
    copy = template;
    copy.start = (uint64_t)(uintptr_t)to;
    copy.end = copy.start + size;
    os_sync_code(copy.start, copy.end);
    return copy.start - template.start;
}

/* The table of the whole program, as far away from where it is as the copy is from the template: it describes the copy,
 * and nothing else that is there. */
static int add_alias(struct sfu_section *alias, uint64_t distance)
{
    const struct sfu_section *own = &self.section;
    int code = sfu_add(&self.target.sections, alias, 1, own->bytes, own->size, own->addr + distance);

    alias->text.low = copy.start;
    alias->text.high = copy.end;
    return code;
}

NOIPA void copied_test(const void *file)
{
    static struct sfu_section alias;
    uint64_t distance = make_copy();

    ENTER(&list);
    trace_begin();
    (void)CALL(&list, run(walk_without_rows));
    trace_end("copy without rows", ends_in_copy == 1, "the trace does not end in it");

    trace_begin();
    if (add_alias(&alias, distance) != SFU_OK)
        os_print("not ok ", trace_label, " alias\n", NULL);
    trace_add_copy(file, self.slide + distance, copy.start, copy.end - 1);
    (void)CALL(&list, run(trace_inside));
    trace_end("call of copy", trace_verdict.walks == 1 && trace_verdict.longest >= 5, "no trace");

    trace_begin();
    for (volatile unsigned time = 0; time < 2; time++) { /* volatile: not unrolled */
        if (time == 1)
            (void)CALL(&list, (interrupt_each_begin(), 0));
        (void)CALL(&list, run(trace_nothing));
    }
    (void)CALL(&list, (interrupt_each_end(), 0));
    trace_end("each instruction of copy", trace_verdict.walks > 10, "not interrupted there");
    (void)sfu_remove(&self.target.sections, &alias, 1);
    LEAVE(&list);
}
