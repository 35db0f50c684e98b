/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "report.h"
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- What a file says ------------------------------------------------------------------------------------------- */

/* How many bytes the character at P has, if it is harmless in UTF-8; or 0. Harmful are the two ranges of control
 * characters (below U+0020, and from U+007F to U+009F), what ends lines or turns the direction of writing (U+2028 to
 * U+202E, U+2066 to U+2069), surrogates, and longer forms than a character needs. */
static unsigned harmless_size(const unsigned char *p)
{
    unsigned size = p[0] < 0xc2 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4, i;
    uint32_t c = size == 1 ? p[0] : p[0] & (0xffu >> (size + 1));

    if (size == 1)
        return p[0] >= 0x20 && p[0] < 0x7f;
    for (i = 1; i < size; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < 0xa0 || (size == 3 && c < 0x800) || (size == 4 && c < 0x10000) || c > 0x10ffff ||
        (c >= 0xd800 && c < 0xe000) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
        return 0;
    return size;
}

static bool is_harmless(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    unsigned size;

    for (; *p != '\0'; p += size)
        if ((size = harmless_size(p)) == 0)
            return false;
    return true;
}

const char *printable(const char *text)
{
    enum { COPIES = 8, ROOM = 400, ESCAPE = 4 };
    static char copies[COPIES][ROOM];
    static unsigned next;
    const unsigned char *p = (const unsigned char *)text;
    char *to, *copy;

    if (is_harmless(text))
        return text;
    copy = to = copies[next++ % COPIES];
    while (*p != '\0' && to + ESCAPE + 1 < copy + ROOM) {
        const unsigned size = harmless_size(p);

        if (size == 0) {
            to += snprintf(to, ESCAPE + 1, "\\x%02x", *p++);
            continue;
        }
        memcpy(to, p, size);
        to += size;
        p += size;
    }
    *to = '\0';
    return copy;
}

/* ---- Messages -------------------------------------------------------------------------------------------------- */

static bool quiet;

/* Messages name files, symbols and what libraries say of them. */
static void say(const char *format, va_list args, const char *end)
{
    char line[2048];

    fflush(stdout);
    (void)vsnprintf(line, sizeof line, format, args);
    fprintf(stderr, "%s: %s%s", tool_name, printable(line), end);
}

void usage(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args, "");
    va_end(args);
    fprintf(stderr, " (%s --help)\n", tool_name);
    exit(2);
}

bool is_whole_number(const char *text, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 0);
    return errno == 0 && end != text && *end == '\0' && *text >= '0' && *text <= '9';
}

double parse_percent(const char *option, const char *text)
{
    char *end;
    double value;

    errno = 0;
    value = strtod(text, &end);
    if (errno != 0 || end == text || *end != '\0' || !(value >= 0 && value <= 100))
        usage("%s: not a number from 0 to 100: %s", option, text);
    return value;
}

void report_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args, "\n");
    va_end(args);
    exit(1);
}

void report_be_quiet(void)
{
    quiet = true;
}

void report_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (!quiet)
        say(format, args, "\n");
    va_end(args);
}

void report_warn(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args, "\n");
    va_end(args);
}

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

void print_lines(const char *const *lines, size_t num)
{
    size_t i;

    for (i = 0; i < num; i++)
        puts(lines[i]);
}

void put_json(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c >= 0x7f)
            printf("\\u%04x", c);
        else
            printf(c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    putchar('"');
}

double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 100.0;
}

/* ---- Files ----------------------------------------------------------------------------------------------------- */

static int open_temporary(struct written_file *f)
{
    size_t room = strlen(f->name) + sizeof ".XXXXXX";

    f->temporary = zeroed(room, 1);
    (void)snprintf(f->temporary, room, "%s.XXXXXX", f->name);
    return mkstemp(f->temporary);
}

bool written_open(struct written_file *f, const char *name)
{
    struct stat status;
    int fd;

    *f = (struct written_file){stdout, name, NULL};
    if (strcmp(name, "-") == 0)
        return true;
    if (stat(name, &status) == 0 && !S_ISREG(status.st_mode))
        fd = open(name, O_WRONLY | O_CLOEXEC);
    else
        fd = open_temporary(f);
    f->stream = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (f->stream == NULL)
        free(f->temporary);
    return f->stream != NULL;
}

bool written_close(struct written_file *f, bool good, mode_t mode)
{
    mode_t mask = umask(0);
    int error;

    umask(mask);
    good = good && !ferror(f->stream) && fflush(f->stream) == 0;
    good = good && (f->temporary == NULL || fchmod(fileno(f->stream), mode & ~mask) == 0);
    error = errno;
    if (f->stream != stdout && fclose(f->stream) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good && f->temporary != NULL && rename(f->temporary, f->name) != 0) {
        good = false;
        error = errno;
    }
    if (!good && f->temporary != NULL)
        unlink(f->temporary);
    free(f->temporary);
    errno = error;
    return good;
}

/* ---- What is known --------------------------------------------------------------------------------------------- */

void known_add(struct known *known, const char *name, size_t size)
{
    struct known_name *added;

    known->list = grow(known->list, known->num, sizeof *known->list);
    added = &known->list[known->num++];
    added->name = zeroed(size + 1, 1);
    added->used = false;
    memcpy(added->name, name, size);
}

bool known_read(struct known *known, const char *file)
{
    FILE *f = fopen(file, "r");
    char line[4096];
    bool good;

    if (f == NULL)
        return false;
    while (fgets(line, sizeof line, f) != NULL) {
        size_t start = strspn(line, " \t"), size;

        line[strcspn(line, "#\n")] = '\0';
        size = start < strlen(line) ? strcspn(line + start, " \t\r") : 0;
        if (size > 0)
            known_add(known, line + start, size);
    }
    good = !ferror(f);
    if (fclose(f) != 0 || !good) {
        errno = EIO;
        return false;
    }
    return true;
}

bool known_use(struct known *known, const char *name)
{
    bool found = false;
    size_t i;

    for (i = 0; i < known->num; i++)
        if (strcmp(known->list[i].name, name) == 0)
            known->list[i].used = found = true;
    return found;
}
