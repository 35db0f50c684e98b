/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Words and numbers of a line of text. Nothing in it is believed. */
#ifndef SFU_HOST_LOG_TEXT_H
#define SFU_HOST_LOG_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text that is read from the front. */
struct text {
    const char *p, *end;
};

/* Takes WORD away, if TEXT begins so. */
bool text_take(struct text *t, const char *word);

/* Takes a number of LEAST to MOST (16) digits in BASE (up to 16). One that does not fit is none. */
bool text_number(struct text *t, unsigned base, unsigned least, unsigned most, uint64_t *value);

/* Takes a hexadecimal number and the character BEHIND, which ends it. */
bool text_number_to(struct text *t, char behind, uint64_t *value);

/* Takes a decimal number that fits in 64 bits, with its sign. */
bool text_signed(struct text *t, int64_t *value);
bool text_decimal(struct text *t, uint64_t *value);

/* Takes an even number of hexadecimal digits, at most 2 * ROOM, to the end of the text. */
bool text_bytes(struct text *t, uint8_t *bytes, size_t *size, size_t room);

/* Takes characters up to the next space or the end. Returns how many. */
size_t text_word(struct text *t, const char **word);

/* Copies such a word, which must not be empty, to the ROOM bytes at TO, with a 0 behind it. */
bool text_name(struct text *t, char *to, size_t room);

/* Takes out of the SIZE characters at LINE what is no text: escape sequences of terminals, also where a copy of the
 * screen has lost their first byte, and control characters; a tab becomes a space, as do the backticks of Markdown.
 * Spaces at its end go, too. Returns how many characters there are. */
size_t text_clean(char *line, size_t size);

/* Puts a carriage return for each sequence in the SIZE characters at TEXT that moves a terminal's cursor to another
 * line, also for "<br>" and the like; a space for one that moves it to the right; and takes away what a backspace
 * does. Returns how many characters there are. */
size_t text_lay_out(char *text, size_t size);

/* Whether the line, behind which a 0 stands, is quoted-printable text (RFC 2045, 6.7), or tells that what follows is;
 * BEFORE: whether the one before it was. */
bool text_is_mail(const char *text, size_t size, bool before);

/* Puts characters for "=3D" and the like. Returns how many characters there are. */
size_t text_of_mail(char *text, size_t size);

/* Where the quote stands that ends a string of words with 8 hexadecimal digits or more, and spaces between them, that
 * begins at AT; or 0. */
size_t text_quoted_words(const char *line, size_t size, size_t at);

/* Whether C can stand in a name: a letter, a digit or "_". */
bool text_is_of_a_word(char c);

/* Whether TEXT, which ends in a 0, is a number from 0 to 2^64 - 1 as C writes it, and nothing else. */
bool text_is_number(const char *text, uint64_t *value);

/* What follows the last "/" of the file's name. */
const char *text_base_name(const char *file);

#endif
