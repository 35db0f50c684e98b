/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Calls in machine code. */
#ifndef SFU_HOST_CALLS_H
#define SFU_HOST_CALLS_H

#include "image.h"

struct call {
    bool direct; /* TARGET is where it leads, a link-time address */
    uint64_t target;
};

/* Whether an instruction that ends at link-time address RA of IMAGE may be a call. Bytes of another instruction can
 * look like one on x86_64, s390x and ARM. */
bool call_before(struct image *image, uint64_t ra, struct call *call);

/* Whether a call of IMAGE may lead to link-time address TARGET, and says so itself. */
bool call_leads_to(struct image *image, uint64_t target);

#endif
