/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "report.h"
#include "image.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void usage(const char *format, ...)
{
    va_list args;

    fprintf(stderr, "%s: ", tool_name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, " (%s --help)\n", tool_name);
    exit(2);
}

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
