/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "judge.h"
#include "sfu.h"

/* Whether the walk ended in code that has no table, and said so. */
static bool ends_without_table(const struct comparer *c, const struct chain *chain)
{
    const struct seen *last = &chain->frames[chain->count - 1];

    return chain->code == SFU_E_NO_FDE && c->has_no_table(c->ctx, last->exact ? last->pc : last->pc - 1);
}

static enum verdict worse(enum verdict a, enum verdict b)
{
    return a > b ? a : b;
}

enum verdict compare(struct comparer *c, struct chain chain, unsigned count)
{
    enum verdict verdict = RIGHT, here;
    bool topmost = true;
    unsigned i = 1;

    while (i <= count) {
        struct seen right = shadow_caller(c->shadow, count, i - 1);

        if (i >= chain.count && ends_without_table(c, &chain))
            return worse(verdict, NO_TABLE);
        if (i < chain.count && seen_difference(&chain.frames[i], &right) == NULL) {
            c->frames++;
            i++;
            continue;
        }
        here = c->wrong(c->ctx, &chain, i, topmost && i == 1, &right);
        if (here == WRONG && !c->goes_on)
            return WRONG;
        verdict = worse(verdict, here);
        right.exact |= c->shadow->entries[count - i].jump;
        chain = c->resume(c->ctx, &right);
        topmost = false;
        count -= i;
        i = 1;
    }
    if (chain.count == count + 1 && chain.code == SFU_END)
        return verdict;
    if (chain.count == count + 1 && ends_without_table(c, &chain))
        return worse(verdict, NO_TABLE);
    (void)c->wrong(c->ctx, &chain, count + 1, topmost && count == 0, NULL);
    return WRONG;
}
