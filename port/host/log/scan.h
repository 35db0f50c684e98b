/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What a line of a log is made of, for the files that search it: numbers, signs, and what may be a word. */
#ifndef SFU_HOST_LOG_SCAN_H
#define SFU_HOST_LOG_SCAN_H

#include "dumps.h"

#include <string.h>

enum {
    MOST_LINE = 4096,
    MOST_NUMBERS = 40,  /* of a line */
    IDLE_BEHIND = 4,    /* lines behind the last words of a stack that end a dump */
    NEAR_BELOW = 65536, /* bytes below SP, and above it, that a line without any other sign has */
    NEAR_ABOVE = 1 << 20
};

/* A line while it is taken: in small letters, and 0 at its end. */
struct scan {
    struct dumps *d;
    char text[MOST_LINE + 1];
    size_t size;
    bool linked, took;
    bool pc;           /* the line has the PC */
    bool words;        /* it has words of the stack behind the text that names the stack */
    bool set, ignored; /* a register was set by it, one was not */
    bool decimal;      /* numbers without 0x are decimal */
    unsigned looked;   /* how many registers it has */
};

/* A number of a line. */
struct number {
    uint64_t value;
    size_t at, end; /* in the line, with its 0x */
    unsigned digits;
    bool prefixed;
};

static inline int hex_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static inline bool is_space(char c)
{
    return c == ' ';
}

static inline bool is_one_of(char c, const char *list)
{
    return c != '\0' && strchr(list, c) != NULL;
}

/* Takes a hexadecimal number at AT, of which "0x" may be followed by spaces. It ends where no word goes on. */
bool scan_hex(const struct scan *s, size_t at, struct number *n);

/* All numbers from FROM on that are as long as words or addresses are, or have 0x. */
unsigned scan_numbers(const struct scan *s, size_t from, struct number *list, unsigned least);

/* Whether VALUE is no larger than an address. */
bool scan_fits(const struct dumps *d, uint64_t value);

/* Behind the spaces at AT. */
size_t scan_spaces(const struct scan *s, size_t at);

/* Whether the NUM numbers at LIST, one at least, are as long as words, or have 0x. */
bool scan_are_words(const struct number *list, unsigned num);

/* Whether nothing but numbers follows AT, and perhaps the same bytes as characters. */
bool scan_only_numbers(const struct scan *s, size_t at, const struct number *list, unsigned num);

/* Only spaces, signs, and the words that lines of a stack have stand between FROM and TO. */
bool scan_is_blank(const struct scan *s, size_t from, size_t to);

/* Whether what stands from AT on, to the end of the line, is no more than a character for each of SIZE bytes, behind
 * two spaces or in bars. */
bool scan_are_characters(const struct scan *s, size_t at, size_t size);

/* Whether ADDR may be one of the stack that SP, or a Cortex-M's PSP or MSP, lies on. */
bool scan_is_near_sp(const struct dumps *d, uint64_t addr);

/* Whether AT, where an address ends, says that words follow. */
bool scan_is_behind_address(const struct scan *s, size_t at);

/* The end of the word at AT. */
size_t scan_end_of_name(const struct scan *s, size_t at);

/* Whether the digits of N are VALUE in octal. */
bool scan_is_octal(const struct scan *s, const struct number *n, uint64_t value);

/* Whether N is VALUE, or is it in octal, as od counts bytes. */
bool scan_is_offset(const struct scan *s, const struct number *n, uint64_t value);

/* Adds SIZE bytes of the stack that lie at ADDR to the dump that is open. */
void dumps_add_bytes(struct dumps *d, uint64_t addr, const uint8_t *bytes, size_t size);

#endif
