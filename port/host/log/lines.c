/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "lines.h"
#include "common/image.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_NAME = 16 };

/* A piece of a line. */
struct piece {
    const char *p;
    size_t size;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Whether the whole piece is a hexadecimal number. */
static bool is_number(struct piece w)
{
    enum { LEAST = 8 };
    const size_t from = w.size > 2 && w.p[0] == '0' && (w.p[1] == 'x' || w.p[1] == 'X') ? 2 : 0;
    size_t i;

    for (i = from; i < w.size && is_hex(w.p[i]);)
        i++;
    i += i >= LEAST && i + 1 == w.size && (w.p[i] == 'h' || w.p[i] == 'H'); /* "42000004h" */
    return i == w.size && i > from;
}

static bool has_prefix(struct piece w)
{
    return w.size > 2 && w.p[0] == '0' && (w.p[1] == 'x' || w.p[1] == 'X');
}

const struct format_name *lines_register(const struct lines_names *names, const char *text, size_t size)
{
    char name[LONGEST_NAME];
    size_t i;

    if (size == 0 || size >= sizeof name)
        return NULL;
    for (i = 0; i < size; i++)
        name[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 'a' - 'A') : text[i];
    name[size] = '\0';
    return formats_find(names->formats, name, size, names->cpu, name);
}

static const struct format_name *register_of(const struct lines_names *names, struct piece w)
{
    return lines_register(names, w.p, w.size);
}

/* ---- Lines in a string ----------------------------------------------------------------------------------------- */

/* The size of what stands for the end of a line at P; 0: none does. */
static size_t break_size(const char *p, const char *end)
{
    struct text t = {p, end};

    if (text_take(&t, "\\r\\n") || text_take(&t, "\\n") || text_take(&t, "#015#012") ||
        (text_take(&t, "#012") && (t.p == end || !is_digit(*t.p))))
        return (size_t)(t.p - p);
    return 0;
}

static size_t count_breaks(const char *p, const char *end)
{
    size_t num = 0;

    for (; p < end; p++)
        num += break_size(p, end) > 0;
    return num;
}

/* Whether a string begins at P, in the text that begins at TEXT. An apostrophe behind a letter is none. */
static bool opens_string(const char *text, const char *p)
{
    return *p == '"' || (*p == '\'' && (p == text || !text_is_of_a_word(p[-1]) ||
                                        (p[-1] == 'b' && (p - 1 == text || !text_is_of_a_word(p[-2])))));
}

/* Where the string behind the quote at P ends, or END. */
static const char *end_of_string(const char *p, const char *end)
{
    const char quote = *p++;

    while (p < end && *p != quote)
        p += *p == '\\' && end - p > 1 ? 2 : 1;
    return p;
}

/* Gives the lines of a string. */
static void give_string(const char *p, const char *end, void (*take)(void *ctx, const char *line, size_t size),
                        void *ctx)
{
    char *line = zeroed((size_t)(end - p) + 1, 1);
    size_t size = 0, gap;

    while (p < end) {
        gap = break_size(p, end);
        if (gap > 0) {
            take(ctx, line, size);
            size = 0;
        } else if (end - p >= 6 && strncasecmp(p, "\\u001b", 6) == 0) {
            gap = 6;
            line[size++] = '\033';
        } else if (*p == '\\' && end - p > 1) {
            gap = 2;
            if (p[1] != 'r')
                line[size++] = p[1] == 't' ? ' ' : p[1];
        } else {
            gap = 1;
            line[size++] = *p;
        }
        p += gap;
    }
    if (size > 0)
        take(ctx, line, size);
    free(line);
}

/* Gives what stands outside of a string, if it has a register: of a time nothing is needed. */
static void give_rest(const char *p, const char *end, const struct lines_names *names,
                      void (*take)(void *ctx, const char *line, size_t size), void *ctx)
{
    const char *at = p, *word;

    while (at < end) {
        for (word = at; at < end && text_is_of_a_word(*at);)
            at++;
        if (register_of(names, (struct piece){word, (size_t)(at - word)}) != NULL) {
            take(ctx, p, (size_t)(end - p));
            return;
        }
        at += at == word;
    }
}

/* Whether the line has objects of JSON side by side: "[{"a": 1}, {"a": 2}]". Those of a value each are numbers. */
static bool has_objects(const char *p, const char *end)
{
    struct text t = {p, end};

    for (; t.p < end; t.p++)
        if ((text_take(&t, "},{\"") || text_take(&t, "}, {\"")) && !text_take(&t, "value\""))
            return true;
    return false;
}

/* Gives what stands between the braces of such a line. */
static void give_objects(const char *p, const char *end, void (*take)(void *ctx, const char *line, size_t size),
                         void *ctx)
{
    const char *from = p;

    for (; p < end; p++) {
        if (*p == '"')
            p = end_of_string(p, end);
        if (p == end || (*p != '{' && *p != '}'))
            continue;
        take(ctx, from, (size_t)(p - from));
        from = p + 1;
    }
    if (from < end)
        take(ctx, from, (size_t)(end - from));
}

/* Whether what stands from P to END has a number with "0x" before it, or of eight hexadecimal digits. */
static bool has_number(const char *p, const char *end)
{
    enum { LEAST = 8 };
    const char *from;

    for (; p < end; p += p == from) {
        for (from = p; p < end && text_is_of_a_word(*p);)
            p++;
        if (has_prefix((struct piece){from, (size_t)(p - from)}) ||
            (p - from >= LEAST && strspn(from, "0123456789abcdefABCDEF") == (size_t)(p - from)))
            return true;
    }
    return false;
}

/* Whether the string that opens at P is what a logger calls the message: "msg": "..." of JSON, msg="..." of others. */
static bool is_message(const char *text, const char *p)
{
    static const char *const keys[] = {"msg",  "message",     "log",          "text",        "short_message",
                                       "_raw", "textPayload", "full_message", "stringValue", "body"};
    const char *from;
    size_t i;

    while (p > text && (p[-1] == ' ' || p[-1] == ':'))
        p--;
    p -= p > text && (p[-1] == '=' || p[-1] == '"' || p[-1] == '\'');
    for (from = p; from > text && text_is_of_a_word(from[-1]);)
        from--;
    for (i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if ((size_t)(p - from) == strlen(keys[i]) && strncasecmp(from, keys[i], strlen(keys[i])) == 0)
            return true;
    return false;
}

/* Whether a member between P and END is an array, or a string of words: "stack": [. */
static bool has_array(const char *p, const char *end)
{
    char before = '\0';

    for (; p < end; p++) {
        if (before == ':' && (*p == '[' || text_quoted_words(p, (size_t)(end - p), 0) > 0))
            return true;
        before = *p != ' ' ? *p : before;
    }
    return false;
}

/* Gives a line that has members around a message: the message, and of the rest what has registers. Returns false if it
 * is no such line, or if a member is an array, which may be the stack. */
static bool give_message(const char *text, const char *end, const struct lines_names *names,
                         void (*take)(void *ctx, const char *line, size_t size), void *ctx)
{
    const char *p = text, *close;

    for (; p < end; p = close + (close < end)) {
        close = opens_string(text, p) ? end_of_string(p, end) : p;
        if (close == p || close == end || !is_message(text, p) || !has_number(p + 1, close))
            continue;
        if (has_array(text, p) || has_array(close, end))
            return false;
        give_rest(text, p, names, take, ctx);
        give_string(p + 1, close, take, ctx);
        give_rest(close + 1, end, names, take, ctx);
        return true;
    }
    return false;
}

/* Whether the array behind a bracket, from P on, has nothing but strings, of which two at least are lines: they have
 * spaces, and something else than words in them; and one has a number. */
static bool is_array_of_lines(const char *text, const char *p, const char *end)
{
    const char *close;
    unsigned lines = 0;
    bool number = false;

    for (; p < end && *p != ']'; p = close + 1) {
        while (p < end && (*p == ' ' || *p == ','))
            p++;
        close = p < end && opens_string(text, p) ? end_of_string(p, end) : end;
        if (close == end)
            return false;
        lines += memchr(p, ' ', (size_t)(close - p)) != NULL && text_quoted_words(p, (size_t)(end - p), 0) == 0;
        number = number || has_number(p, close);
    }
    return p < end && number && lines > 1;
}

/* Where such an array begins; or NULL. */
static const char *array_of_lines(const char *text, const char *end)
{
    const char *p = text;

    while (p < end) {
        if (*p == '[' && end - p > 1 && opens_string(text, p + 1))
            return is_array_of_lines(text, p + 1, end) ? p + 1 : NULL;
        p = opens_string(text, p) ? end_of_string(p, end) : p;
        p += p < end;
    }
    return NULL;
}

/* Gives each string of an array from P on; and what stands before and behind the array, if it has registers. */
static void give_array(const char *text, const char *p, const char *end, const struct lines_names *names,
                       void (*take)(void *ctx, const char *line, size_t size), void *ctx)
{
    const char *close;

    give_rest(text, p, names, take, ctx);
    while (p < end && *p != ']') {
        close = opens_string(text, p) ? end_of_string(p, end) : p;
        if (close > p)
            give_string(p + 1, close, take, ctx);
        p = close + (close < end);
    }
    give_rest(p, end, names, take, ctx);
}

void lines_split(const char *text, size_t size, const struct lines_names *names,
                 void (*take)(void *ctx, const char *line, size_t size), void *ctx)
{
    const char *const end = text + size;
    const char *p = text, *rest = text, *close, *array;

    if (count_breaks(text, end) == 0) {
        array = array_of_lines(text, end);
        if (array != NULL)
            give_array(text, array, end, names, take, ctx);
        else if (has_objects(text, end))
            give_objects(text, end, take, ctx);
        else if (!give_message(text, end, names, take, ctx))
            take(ctx, text, size);
        return;
    }
    while (p < end) {
        if (!opens_string(text, p)) {
            p++;
            continue;
        }
        close = end_of_string(p, end);
        if (count_breaks(p, close) > 0) {
            give_rest(rest, p, names, take, ctx);
            give_string(p + 1, close, take, ctx);
            rest = close < end ? close + 1 : end;
        }
        p = close < end ? close + 1 : end;
    }
    if (rest == text && count_breaks(text, end) > 1)
        give_string(text, end, take, ctx);
    else if (rest == text)
        take(ctx, text, size);
    else
        give_rest(rest, end, names, take, ctx);
}

/* ---- Lines that a terminal has cut ----------------------------------------------------------------------------- */

static struct piece last_word(const char *text, size_t size)
{
    size_t from = size;

    while (from > 0 && text_is_of_a_word(text[from - 1]))
        from--;
    return (struct piece){text + from, size - from};
}

static struct piece first_word(const char *text, size_t size)
{
    size_t n = 0;

    while (n < size && text_is_of_a_word(text[n]))
        n++;
    return (struct piece){text, n};
}

/* The last number before SIZE that is as long as half a word, or nothing. */
static struct piece number_before(const char *text, size_t size)
{
    enum { LEAST = 8 };
    struct piece w;

    for (;;) {
        while (size > 0 && !text_is_of_a_word(text[size - 1]))
            size--;
        w = last_word(text, size);
        if (w.size == 0 || (w.size >= LEAST && is_number(w)))
            return w;
        size -= w.size;
    }
}

/* Whether the end of TEXT and the beginning of NEXT are a number as long as the one before it. */
static bool is_cut_number(struct piece end, struct piece begin, struct piece before)
{
    char whole[2 * LONGEST_NAME];
    const size_t size = end.size + begin.size;

    if (size >= sizeof whole || end.size == 0 || begin.size == 0 || size != before.size)
        return false;
    memcpy(whole, end.p, end.size);
    memcpy(whole + end.size, begin.p, begin.size);
    return is_number((struct piece){whole, size}) && has_prefix((struct piece){whole, size}) == has_prefix(before);
}

/* Whether they are the name of a register, and the second is none. */
static bool is_cut_name(const struct lines_names *names, struct piece end, struct piece begin)
{
    char whole[LONGEST_NAME];
    const size_t size = end.size + begin.size;

    if (size >= sizeof whole || end.size == 0 || begin.size == 0)
        return false;
    memcpy(whole, end.p, end.size);
    memcpy(whole + end.size, begin.p, begin.size);
    return register_of(names, (struct piece){whole, size}) != NULL && register_of(names, begin) == NULL;
}

/* Whether a line of SIZE characters is as long as terminals are wide, or one shorter, because a space was its last
 * character. */
static bool is_whole_width(size_t size)
{
    return size == 79 || size == 80 || size == 99 || size == 100 || size == 119 || size == 120 || size == 131 ||
           size == 132;
}

/* Whether a program for mail may have wrapped the line, which begins with an address and a colon, before a word of so
 * many characters. */
static bool is_wrapped_by_mail(const char *text, size_t size, size_t word)
{
    static const unsigned short widths[] = {70, 72, 76, 78};
    const struct piece first = first_word(text, size);
    size_t i;

    if (first.size == size || text[first.size] != ':' || !is_number(first))
        return false;
    for (i = 0; i < sizeof widths / sizeof widths[0]; i++)
        if (size <= widths[i] && size + 1 + word > widths[i])
            return true;
    return false;
}

/* Whether NEXT begins as TEXT does: with a time, or with a number as long. */
static bool begin_alike(const char *text, size_t size, const char *next, size_t next_size)
{
    const struct piece a = first_word(text, size), b = first_word(next, next_size);

    return a.size == 0 ? next_size > 0 && size > 0 && text[0] == next[0] : a.size == b.size;
}

/* Whether the line has another register, and ends with the name of one and a sign behind it: its number has been
 * wrapped into the next line. */
static bool ends_with_name(const char *text, size_t size, const struct lines_names *names)
{
    struct piece w;

    if (size == 0 || (text[size - 1] != ':' && text[size - 1] != '='))
        return false;
    for (size--; size > 0 && text[size - 1] == ' ';)
        size--;
    w = last_word(text, size);
    return register_of(names, w) != NULL && number_before(text, size - w.size).size > 0;
}

/* Whether a line begins with the number of a register: other registers follow, or nothing. */
static bool begins_with_number(const char *text, size_t size, const struct lines_names *names)
{
    struct piece w = first_word(text, size), next;
    size_t at = w.size;

    if (!is_number(w) || (w.size < 8 && !has_prefix(w)))
        return false;
    while (at < size && text[at] == ' ')
        at++;
    next = first_word(text + at, size - at);
    return at == size || (at > w.size && register_of(names, next) != NULL);
}

bool lines_may_go_on(const char *text, size_t size, const struct lines_names *names)
{
    enum { LEAST = 60 };
    const struct piece end = last_word(text, size), before = number_before(text, size - end.size);
    const bool begun = end.size > 0 && end.size < before.size && end.p[0] == '0' && has_prefix(before) &&
                       (end.size == 1 || end.p[1] == 'x') && end.p > text && end.p[-1] == ' ';

    return (size >= LEAST && before.size > 0 &&
            (begun || is_whole_width(size) || is_wrapped_by_mail(text, size, before.size))) ||
           ends_with_name(text, size, names);
}

bool lines_go_on(const char *text, size_t size, const char *next, size_t next_size, const struct lines_names *names,
                 bool *space)
{
    const struct piece end = last_word(text, size), begin = first_word(next, next_size);
    const struct piece before = number_before(text, size - end.size);
    size_t sign = 0;

    *space = false;
    while (sign < next_size && next[sign] == ' ')
        sign++;
    if (is_cut_number(end, begin, before) || is_cut_name(names, end, begin) ||
        (sign < next_size && (next[sign] == ':' || next[sign] == '=') && register_of(names, end) != NULL))
        return true;
    *space = true;
    if (ends_with_name(text, size, names))
        return begins_with_number(next, next_size, names);
    return (is_whole_width(size) || is_wrapped_by_mail(text, size, begin.size)) && is_number(begin) &&
           begin.size >= 8 && begin.size == before.size && (begin.size == next_size || next[begin.size] == ' ') &&
           !begin_alike(text, size, next, next_size);
}

/* ---- Tables ---------------------------------------------------------------------------------------------------- */

/* The last word of a cell: loggers put a time before the first one. */
static struct piece trimmed(const char *from, const char *to)
{
    const char *p;

    while (to > from && strchr(" \"'|\r", to[-1]) != NULL)
        to--;
    for (p = to; p > from && strchr(" \"'|", p[-1]) == NULL;)
        p--;
    return (struct piece){p, (size_t)(to - p)};
}

/* The cells of a line; spaces in a row are one separator. */
static size_t split_cells(const char *text, size_t size, char separator, struct piece *cells)
{
    const char *p = text, *from = text, *const end = text + size;
    size_t num = 0;

    for (; p <= end && num < LINES_CELLS; p++) {
        if (p < end && *p != separator)
            continue;
        if (separator != ' ' || p > from)
            cells[num++] = trimmed(from, p);
        from = p + 1;
    }
    return num;
}

/* Whether the line names the columns of a table with registers: the PC and others, or nothing but registers. */
static bool is_heading(const char *text, size_t size, char separator, const struct lines_names *names)
{
    struct piece cells[LINES_CELLS];
    const size_t num = split_cells(text, size, separator, cells);
    const struct format_name *found;
    size_t i, known = 0, filled = 0;
    bool pc = false;

    for (i = 0; i < num; i++) {
        if (cells[i].size >= 8 && is_number(cells[i]))
            return false;
        filled += cells[i].size > 0;
        found = register_of(names, cells[i]);
        known += found != NULL;
        pc = pc || (found != NULL && (found->reg == REGISTER_PC || found->reg == FORMAT_EPC));
    }
    return (pc || known == filled) && known > 1;
}

/* Whether W is one of the words in LIST, which ends with NULL. */
static bool is_word_of(struct piece w, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strlen(*list) == w.size && strncasecmp(*list, w.p, w.size) == 0)
            return true;
    return false;
}

/* Finds the next column of names among NUM cells from *NAME on, and the next one of values from *VALUE on. */
static bool find_list(const struct piece *cells, size_t num, size_t *name, size_t *value)
{
    static const char *const names[] = {"reg", "register", "name", NULL};
    static const char *const values[] = {"value", "val", "hex", "data", "content", NULL};

    while (*name < num && !is_word_of(cells[*name], names))
        ++*name;
    while (*value < num && !is_word_of(cells[*value], values))
        ++*value;
    return *name < num && *value < num;
}

/* Whether the line names columns of names and of values. */
static bool is_list_heading(const char *text, size_t size, char separator)
{
    struct piece cells[LINES_CELLS];
    size_t name = 0, value = 0;

    return find_list(cells, split_cells(text, size, separator, cells), &name, &value);
}

/* Whether the line is a rule below a heading. */
static bool is_ruler(const char *text, size_t size)
{
    size_t i, run = 0;

    for (i = 0; i < size && run < 3; i++)
        run = text[i] == '-' || text[i] == '=' ? run + 1 : 0;
    return run == 3;
}

static size_t put(char *to, size_t room, size_t at, struct piece w, const char *behind)
{
    const size_t more = strlen(behind);

    if (at + w.size + more >= room)
        return at;
    memcpy(to + at, w.p, w.size);
    memcpy(to + at + w.size, behind, more);
    return at + w.size + more;
}

/* The registers of a row. Returns 0 if one is no number. */
static size_t put_row(const struct lines_table *table, const char *text, size_t size,
                      const struct lines_names *names, char *to, size_t room)
{
    enum { LEAST_LONG = 4 /* digits that one of the numbers has, or they are values of something else */ };
    struct piece columns[LINES_CELLS], cells[LINES_CELLS];
    const size_t num = split_cells(table->heading, table->size, table->separator, columns);
    size_t at = 0, i, name = 0, value = 0, longest = 0;

    if (split_cells(text, size, table->separator, cells) != num)
        return 0;
    if (is_list_heading(table->heading, table->size, table->separator)) {
        for (; find_list(columns, num, &name, &value); name++, value++)
            if (is_number(cells[value]) && !is_number(cells[name]))
                at = put(to, room, put(to, room, at, cells[name], ": "), cells[value], " ");
        return at;
    }
    for (i = 0; i < num; i++) {
        if (register_of(names, columns[i]) == NULL)
            continue;
        if (!is_number(cells[i]))
            return 0;
        longest = cells[i].size > longest ? cells[i].size : longest;
        at = put(to, room, put(to, room, at, columns[i], ": "), cells[i], " ");
    }
    return longest >= LEAST_LONG ? at : 0;
}

size_t lines_row(struct lines_table *table, const char *text, size_t size, const struct lines_names *names,
                 char *to, size_t room)
{
    static const char separators[] = ",;| ";
    size_t found = 0, i;

    if (table->heading != NULL && is_ruler(text, size))
        return 0;
    if (table->heading != NULL)
        found = put_row(table, text, size, names, to, room);
    if (found > 0)
        return found;
    lines_free(table);
    for (i = 0; separators[i] != '\0' && !is_heading(text, size, separators[i], names) &&
                !is_list_heading(text, size, separators[i]);)
        i++;
    if (separators[i] == '\0')
        return 0;
    table->heading = zeroed(size + 1, 1);
    memcpy(table->heading, text, size);
    table->size = size;
    table->separator = separators[i];
    return 0;
}

void lines_free(struct lines_table *table)
{
    free(table->heading);
    memset(table, 0, sizeof *table);
}

/* ---- CPUs ------------------------------------------------------------------------------------------------------ */

/* "CPU1", "core 1", "hart#1" at P: its number, and where it ends; or NULL. */
static const char *take_cpu(const char *p, const char *end, unsigned *cpu)
{
    static const char *const words[] = {"cpu", "core", "hart"};
    struct text t = {p, end};
    uint64_t number;
    size_t i, size;

    for (i = 0; i < sizeof words / sizeof words[0]; i++) {
        size = strlen(words[i]);
        if ((size_t)(end - p) <= size || strncasecmp(p, words[i], size) != 0)
            continue;
        t.p = p + size;
        while (t.p < end && (*t.p == ' ' || *t.p == '#'))
            t.p++;
        if (!text_number(&t, 10, 1, 4, &number))
            return NULL;
        *cpu = (unsigned)number;
        return t.p;
    }
    return NULL;
}

/* "[    C1]" or "[  T123]" of Linux, behind a time in brackets. */
static const char *take_caller(const char *text, const char *p, const char *end, unsigned *cpu)
{
    struct text t = {p, end};
    uint64_t number;

    if (p == text || p[-1] != ']' || !text_take(&t, "["))
        return NULL;
    while (t.p < end && *t.p == ' ')
        t.p++;
    if (end - t.p < 2 || (*t.p != 'C' && *t.p != 'T'))
        return NULL;
    *cpu = *t.p++ == 'T' ? LINES_TASK : 0;
    if (!text_number(&t, 10, 1, 9, &number) || t.p == end || *t.p != ']')
        return NULL;
    *cpu += (unsigned)number;
    return t.p;
}

bool lines_cpu(const char *text, size_t size, unsigned *cpu)
{
    enum { FRONT = 64 };
    const char *const end = text + size;
    const char *p, *behind;

    for (p = text; p < end && p < text + FRONT; p++) {
        if (take_caller(text, p, end, cpu) != NULL)
            return true;
        if (p > text && text_is_of_a_word(p[-1]))
            continue;
        behind = take_cpu(p, end, cpu);
        if (behind != NULL && behind < end && *behind == (p > text && p[-1] == '[' ? ']' : ':'))
            return true;
    }
    return false;
}
