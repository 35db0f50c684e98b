/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Where ways begin before any code has been read. */
#ifndef SFU_HOST_CODE_BEGIN_H
#define SFU_HOST_CODE_BEGIN_H

#include "code.h"

/* Ways begin where HOW says, and where the image does: nobody has called that, unless it returns. */
void code_begin_entries(struct code *code, const struct code_how *how);

#endif
