/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "parts.h"

/* As these functions are global, a shared library makes their calls through its PLT. */
NOIPA unsigned p_image_outer(struct chain *chain)
{
    unsigned result;

    ENTER(chain->list);
    result = CALL(chain->list, p_image_middle(chain, 5)) + 1;
    LEAVE(chain->list);
    return result;
}

NOIPA unsigned p_image_middle(struct chain *chain, unsigned n)
{
    char *bytes;
    unsigned result;

    ENTER(chain->list);
    bytes = __builtin_alloca(n * 40);
    __asm__ volatile("" : : "r"(bytes) : "memory");
    result = CALL(chain->list, p_image_inner(chain)) + n;
    LEAVE(chain->list);
    return result;
}

NOIPA unsigned p_image_inner(struct chain *chain)
{
    unsigned result;

    ENTER(chain->list);
    result = CALL(chain->list, chain->next != 0 ? chain->next(chain->next_chain) : chain->inside()) + 2;
    LEAVE(chain->list);
    return result;
}

#ifdef SHARED
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

const void *image_header(void)
{
    return __ehdr_start;
}
#endif
