/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Zephyr's core dump in a log, of the CPUs that sfu unwinds. Nothing in it is believed. */
#ifndef SFU_HOST_LOG_FOREIGN_H
#define SFU_HOST_LOG_FOREIGN_H

#include "log.h"

enum foreign_kind { FOREIGN_OTHER, FOREIGN_ZEPHYR };

struct foreign {
    enum foreign_kind open; /* of whose dump lines have come */
    bool took;              /* the last line was one of it */
    uint8_t *bytes;
    size_t size;
    const char *wrong; /* of a dump that is complete: why it cannot be used; or NULL */
};

/* Takes the SIZE characters at TEXT, a line without its end. ABI: enum sfu_abi of the program. Returns true if that
 * line ends a dump, or stands behind one that has no end: *DUMP is then what it has, to be cleared. */
bool foreign_line(struct foreign *foreign, uint8_t abi, const char *text, size_t size, struct log_dump *dump);

/* The same for the end of the log. */
bool foreign_end(struct foreign *foreign, uint8_t abi, struct log_dump *dump);

void foreign_clear(struct foreign *foreign);

#endif
