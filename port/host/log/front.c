/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "front.h"
#include "text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool take_char(struct text *t, const char *list)
{
    const bool takes = t->p < t->end && *t->p != '\0' && strchr(list, *t->p) != NULL;

    t->p += takes;
    return takes;
}

static void take_spaces(struct text *t)
{
    while (take_char(t, " "))
        continue;
}

/* Takes from LEAST to MOST digits, and no more stand there. */
static bool take_digits(struct text *t, unsigned least, unsigned most)
{
    uint64_t value;

    return text_number(t, 10, least, most, &value);
}

/* ---- Times ----------------------------------------------------------------------------------------------------- */

/* The name of a day or a month, in three letters and a space. */
static bool take_name(struct text *t, const char *names)
{
    for (; *names != '\0'; names += 3)
        if (t->end - t->p > 4 && strncasecmp(t->p, names, 3) == 0 && t->p[3] == ' ') {
            t->p += 4;
            take_spaces(t);
            return true;
        }
    return false;
}

/* "Nov 30", "Mon Nov 30" or "2026-11-30", before a time. */
static bool take_date(struct text *t)
{
    struct text at = *t;
    bool takes;

    (void)take_name(&at, "montuewedthufrisatsun");
    if (take_name(&at, "janfebmaraprmayjunjulaugsepoctnovdec"))
        takes = take_digits(&at, 1, 2);
    else
        takes = take_digits(&at, 2, 4) && take_char(&at, "-/.") && take_digits(&at, 1, 2) &&
                take_char(&at, "-/.") && take_digits(&at, 2, 4);
    (void)take_char(&at, ",");
    if (!takes || !take_char(&at, " T_"))
        return false;
    take_spaces(&at);
    *t = at;
    return true;
}

/* "12:34:56.789,012", and perhaps "Z" or "+01:00". */
static bool take_clock(struct text *t)
{
    struct text at = *t, zone;

    if (!take_digits(&at, 1, 2) || !take_char(&at, ":") || !take_digits(&at, 2, 2) || !take_char(&at, ":") ||
        !take_digits(&at, 2, 2))
        return false;
    while (at.end - at.p > 1 && is_digit(at.p[1]) && take_char(&at, ".,"))
        if (!take_digits(&at, 1, 9))
            return false;
    zone = at;
    if (take_char(&zone, "Z"))
        at = zone;
    else if (take_char(&zone, "+-") && take_digits(&zone, 2, 4) &&
             (!take_char(&zone, ":") || take_digits(&zone, 2, 2)))
        at = zone;
    *t = at;
    return true;
}

/* Seconds since the machine began: "   12.345678". */
static bool take_seconds(struct text *t)
{
    struct text at = *t;

    take_spaces(&at);
    if (!take_digits(&at, 1, 10) || !take_char(&at, ".") || !take_digits(&at, 2, 9))
        return false;
    *t = at;
    return true;
}

/* "ts=1700000000.123 ", the time of a log of members. */
static bool take_stamp(struct text *t)
{
    struct text at = *t;

    if (!(text_take(&at, "ts=") || text_take(&at, "time=")) || !take_digits(&at, 1, 16))
        return false;
    if (take_char(&at, ".") && !take_digits(&at, 1, 9))
        return false;
    if (!take_char(&at, " "))
        return false;
    *t = at;
    return true;
}

/* "host program[123]: " behind a date and a time. */
static void take_program(struct text *t)
{
    struct text at = *t;
    unsigned words;

    for (words = 0; words < 2; words++) {
        const char *const from = at.p;

        while (at.p < at.end && (text_is_of_a_word(*at.p) || strchr("-./@", *at.p) != NULL))
            at.p++;
        if (at.p == from || (words == 0 && !take_char(&at, " ")))
            return;
    }
    if (take_char(&at, "[") && !(take_digits(&at, 1, 9) && take_char(&at, "]")))
        return;
    if (take_char(&at, ":") && take_char(&at, " "))
        *t = at;
}

/* "E: ", the level of a message behind its time. */
static void take_level(struct text *t)
{
    struct text at = *t;

    if (take_char(&at, "VDIWEFA") && take_char(&at, ":") && (at.p == at.end || take_char(&at, " ")))
        *t = at;
}

/* "01O ", "00E+": the number of a stream, and whether it is that of errors, as GitLab writes them behind a time. */
static void take_stream(struct text *t)
{
    struct text at = *t;
    uint64_t value;

    if (text_number(&at, 16, 2, 2, &value) && take_char(&at, "OE") && take_char(&at, " +"))
        *t = at;
}

/* A time in front of a line, perhaps in brackets, and what follows it. */
static bool take_time(struct text *t)
{
    struct text at = *t;
    const bool bracket = take_char(&at, "["), dated = take_date(&at), timed = take_clock(&at);

    if ((dated && !timed) || (!timed && !(bracket && take_seconds(&at))) || (bracket && !take_char(&at, "]")) ||
        !(take_char(&at, " ") || (take_char(&at, ":") && take_char(&at, " "))))
        return false;
    (void)(text_take(&at, "-> ") || text_take(&at, "- ") || text_take(&at, "| "));
    if (dated) {
        take_stream(&at);
        take_program(&at);
    }
    take_level(&at);
    *t = at;
    return true;
}

/* "3,1000,51234567,-;" of Linux's /dev/kmsg and netconsole: level, number, time, flags. */
static bool take_kmsg(struct text *t)
{
    struct text at = *t;

    if (!take_digits(&at, 1, 4) || !take_char(&at, ",") || !take_digits(&at, 1, 16) || !take_char(&at, ",") ||
        !take_digits(&at, 1, 16) || !take_char(&at, ",") || !take_char(&at, "-c+") || !take_char(&at, ";"))
        return false;
    *t = at;
    return true;
}

/* "E1130 19:22:00.123456  1234 file.cc:12] " of glog, whose date may have a year before it. */
static bool take_glog(struct text *t)
{
    struct text at = *t;

    if (!take_char(&at, "IWEF") || !take_digits(&at, 4, 8) || !take_char(&at, " ") || !take_clock(&at))
        return false;
    while (at.p < at.end && *at.p != ']' && *at.p != '[' && *at.p != '=')
        at.p++;
    if (!text_take(&at, "] "))
        return false;
    *t = at;
    return true;
}

/* "[ERROR] [1764530000.123456789] [node]: " of ROS. */
static bool take_ros(struct text *t)
{
    struct text at = *t;

    if (!take_char(&at, "["))
        return false;
    while (at.p < at.end && isupper((unsigned char)*at.p))
        at.p++;
    if (!text_take(&at, "] [") || !take_digits(&at, 8, 10) || !take_char(&at, ".") || !take_digits(&at, 1, 9) ||
        !text_take(&at, "] ["))
        return false;
    while (at.p < at.end && (text_is_of_a_word(*at.p) || *at.p == '.' || *at.p == '/' || *at.p == '-'))
        at.p++;
    if (!text_take(&at, "]: "))
        return false;
    *t = at;
    return true;
}

/* "+", if the line before began with it, too, and this one or one of those with something else than a number behind it:
 * "+0x10" may be a distance. */
static void take_plus(struct front *front, struct text *t)
{
    const bool plus = t->p < t->end && *t->p == '+';
    const bool word = plus && (t->end - t->p == 1 || !isxdigit((unsigned char)t->p[1]));

    t->p += plus && (front->plus || word);
    front->plus = plus && (front->plus || word);
}

/* ---- Numbers that count ---------------------------------------------------------------------------------------- */

/* Whether "0x" or eight hexadecimal digits stand there. */
static bool is_word(struct text t)
{
    enum { LEAST = 8 };
    size_t digits = 0;

    if (text_take(&t, "0x"))
        return true;
    while (t.p + digits < t.end && isxdigit((unsigned char)t.p[digits]))
        digits++;
    return digits >= LEAST;
}

/* Whether the text begins with a word that is no number, and has a register with a number. */
static bool has_register(struct text t, const struct lines_names *names)
{
    const char *word = t.p;
    bool first = true;

    while (t.p < t.end) {
        for (word = t.p; t.p < t.end && text_is_of_a_word(*t.p);)
            t.p++;
        if (first && t.p > word && is_digit(*word))
            return false;
        first = first && t.p == word;
        if (lines_register(names, word, (size_t)(t.p - word)) != NULL) {
            struct text behind = t;

            (void)take_char(&behind, "\"'");
            take_spaces(&behind);
            if (take_char(&behind, ":=") || is_word(behind))
                return true;
        }
        t.p += t.p == word;
    }
    return false;
}

/* A number in front of a line, and what separates it. */
static bool take_counter(struct text *t, uint64_t *number, size_t *digits)
{
    struct text at = *t;
    const char *from;

    take_spaces(&at);
    from = at.p;
    if (!text_number(&at, 10, 1, 13, number))
        return false;
    *digits = (size_t)(at.p - from);
    take_char(&at, ":|)");
    if (at.p < at.end && !take_char(&at, " "))
        return false;
    *t = at;
    return true;
}

/* Whether NUMBER, of so many DIGITS, goes on with the last one: a time, or by 1. */
static bool goes_on(const struct front *f, uint64_t number, size_t digits)
{
    enum { LEAST_DIGITS = 6, MOST_STEP = 1 << 20 };

    return f->digits > 0 && number >= f->number &&
           (digits < LEAST_DIGITS ? number == f->number + 1
                                  : digits - f->digits < 2 && number - f->number < MOST_STEP);
}

/* Takes a counter, if registers stood behind it, or behind those that it goes on with. */
static void take_counting(struct front *front, struct text *t, const struct lines_names *names)
{
    struct text at = *t;
    uint64_t number;
    size_t digits;
    bool goes;

    if (!take_counter(&at, &number, &digits)) {
        front->digits = 0;
        return;
    }
    while (take_time(&at))
        continue;
    goes = goes_on(front, number, digits);
    front->registers = has_register(at, names) || (goes && front->registers);
    front->number = number;
    front->digits = digits;
    if (goes && front->registers)
        *t = at;
}

size_t front_size(struct front *front, const char *text, size_t size, const struct lines_names *names)
{
    struct text t = {text, text + size};

    take_plus(front, &t);
    while (take_time(&t) || take_stamp(&t) || take_kmsg(&t) || take_glog(&t) || take_ros(&t))
        continue;
    if (t.p < t.end)
        take_counting(front, &t, names);
    return (size_t)(t.p - text);
}
