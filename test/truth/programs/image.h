/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What is loaded a second time, or at another place: three functions, without any data. */
#ifndef IMAGE_H
#define IMAGE_H

#include "shadow.h"

/* What to do at the innermost function: call next(next_chain), or inside() if next is NULL. */
struct chain {
    struct shadow *list;
    unsigned (*next)(struct chain *);
    struct chain *next_chain;
    unsigned (*inside)(void);
};

unsigned p_image_outer(struct chain *chain);
unsigned p_image_middle(struct chain *chain, unsigned n);
unsigned p_image_inner(struct chain *chain);

/* Where the ELF header of the image is, if it is a shared library. */
const void *image_header(void);

#endif
