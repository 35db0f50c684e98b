/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* A walk by unw_step, of either library that has it. libunwind.h comes before. */
static unsigned step(uint64_t *pcs, unsigned max)
{
    unw_context_t context;
    unw_cursor_t cursor;
    unsigned n = 0;
    if (unw_getcontext(&context) != 0 || unw_init_local(&cursor, &context) != 0)
        return 0;
    while (n < max && unw_step(&cursor) > 0) {
        unw_word_t pc;
        unw_get_reg(&cursor, UNW_REG_IP, &pc);
        pcs[n++] = pc;
    }
    return n;
}
