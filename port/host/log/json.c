/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "json.h"
#include "common/image.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    LEAST_ADDRESS = 5, /* digits of an address with 0x */
    LEAST_DECIMAL = 6, /* of one in decimal */
    WORD_DIGITS = 16,
    LEAST_BASE64 = 24, /* characters */
    LINE_BYTES = 16,   /* in a line that is given */
    DEPTH = 32,        /* of objects */
    ROOM = 128
};

/* Characters of the line: those between two quotes, or a number. */
struct span {
    const char *p, *end;
};

/* A value: a string, a number, or an array from its bracket on. */
struct value {
    struct span span;
    bool quoted, array;
    const char *behind; /* what follows it */
};

/* Where lines go, and what is left of the line. */
struct json {
    const struct lines_names *names;
    void (*take)(void *ctx, const char *line, size_t size);
    void *ctx;
    char *rest; /* NULL: lines are given */
    size_t rest_size;
    const char *copied; /* what stands before it is in REST, or was given */
    unsigned pairs, arrays;
    bool alone;  /* a single pair counts */
    uint64_t sp; /* of the line, or of lines before it */
    bool has_sp;
    /* Of the object that is open: */
    uint64_t base;
    struct value data;
    bool has_base, has_data;
    bool vague;       /* BASE may be where the stack ends, and not where DATA lies */
    bool unplaced;    /* that was so, or a map of another name has SP among its addresses */
    size_t rest_mark; /* what REST had before the first of the two */
    /* Whether the name of each object that is open says that it may be memory. */
    unsigned depth;
    bool memory[DEPTH];
};

static size_t length(struct span s)
{
    return (size_t)(s.end - s.p);
}

static const char *skip_spaces(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

static const char *end_of_string(const char *p, const char *end)
{
    while (p < end && *p != '"')
        p += *p == '\\' && end - p > 1 ? 2 : 1;
    return p;
}

/* ---- Numbers --------------------------------------------------------------------------------------------------- */

static bool has_prefix(struct span s)
{
    return length(s) > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'X');
}

static bool is_all(struct span s, const char *digits)
{
    for (; s.p < s.end; s.p++)
        if (*s.p == '\0' || strchr(digits, *s.p) == NULL)
            return false;
    return true;
}

static bool is_hex(struct span s)
{
    return length(s) > 0 && is_all(s, "0123456789abcdefABCDEF");
}

static bool is_decimal(struct span s)
{
    return length(s) > 0 && is_all(s, "0123456789");
}

/* Reads a number of at most 64 bits. */
static bool number_in(struct span s, unsigned base, uint64_t *value)
{
    *value = 0;
    for (; s.p < s.end; s.p++) {
        const unsigned digit = (unsigned)(*s.p <= '9' ? *s.p - '0' : (*s.p | 0x20) - 'a' + 10);

        if (*value > (UINT64_MAX - digit) / base)
            return false;
        *value = *value * base + digit;
    }
    return true;
}

/* A number with 0x, in decimal without quotes, or, in quotes, of 8 or 16 hexadecimal digits. */
static bool read_number(struct span s, bool quoted, uint64_t *value)
{
    if (has_prefix(s)) {
        s.p += 2;
        return is_hex(s) && length(s) <= WORD_DIGITS && number_in(s, 16, value);
    }
    if (quoted && is_hex(s) && (length(s) == 8 || length(s) == WORD_DIGITS))
        return number_in(s, 16, value);
    return is_decimal(s) && number_in(s, 10, value);
}

/* Whether a key is an address. */
static bool read_address(struct span s, uint64_t *value)
{
    const bool prefixed = has_prefix(s);

    return read_number(s, true, value) && length(s) >= (prefixed ? LEAST_ADDRESS + 2 : LEAST_DECIMAL);
}

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

static void give(const struct json *j, const char *line, int size)
{
    if (j->rest == NULL && size > 0 && size < ROOM)
        j->take(j->ctx, line, (size_t)size);
}

/* Gives SIZE bytes that lie at ADDR, or, if that is not known, follow those before them. */
static void give_bytes(const struct json *j, const uint64_t *addr, const uint8_t *bytes, size_t size)
{
    char line[ROOM];
    size_t at, i;
    int used;

    for (at = 0; at < size; at += LINE_BYTES) {
        used = addr != NULL ? snprintf(line, sizeof line, "0x%" PRIx64 ":", *addr + at) : 0;
        for (i = at; i < size && i < at + LINE_BYTES; i++)
            used += snprintf(line + used, sizeof line - (size_t)used, &" %02x"[used == 0], bytes[i]);
        give(j, line, used);
    }
}

/* Takes the characters from FROM to END out of the line. */
static void cut(struct json *j, const char *from, const char *end)
{
    if (j->rest != NULL && from > j->copied) {
        memcpy(j->rest + j->rest_size, j->copied, (size_t)(from - j->copied));
        j->rest_size += (size_t)(from - j->copied);
    }
    j->copied = end > j->copied ? end : j->copied;
}

/* ---- Bytes in a string ----------------------------------------------------------------------------------------- */

static uint8_t *hex_bytes(struct span s, size_t *size)
{
    uint8_t *bytes;
    uint64_t value;
    size_t i;

    *size = length(s) / 2;
    if (!is_hex(s) || length(s) % 2 != 0 || length(s) <= WORD_DIGITS)
        return NULL;
    bytes = zeroed(*size, 1);
    for (i = 0; i < *size; i++) {
        (void)number_in((struct span){s.p + 2 * i, s.p + 2 * i + 2}, 16, &value);
        bytes[i] = (uint8_t)value;
    }
    return bytes;
}

static uint8_t *base64_bytes(struct span s, size_t *size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t *bytes;
    uint32_t group = 0;
    size_t i;

    *size = 0;
    if (length(s) < LEAST_BASE64)
        return NULL;
    for (i = 0; i < 2 && s.end[-1] == '='; i++)
        s.end--;
    if (!is_all(s, digits) || length(s) % 4 == 1)
        return NULL;
    bytes = zeroed(length(s), 1);
    for (i = 0; i < length(s); i++) {
        group = group << 6 | (uint32_t)(strchr(digits, s.p[i]) - digits);
        if (i % 4 != 0)
            bytes[(*size)++] = (uint8_t)(group >> (6 - 2 * (i % 4)));
    }
    return bytes;
}

/* ---- Members --------------------------------------------------------------------------------------------------- */

static bool is_one_of(struct span s, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strlen(*list) == length(s) && strncasecmp(*list, s.p, length(s)) == 0)
            return true;
    return false;
}

/* The value that begins at P. */
static bool read_value(const char *p, const char *end, struct value *v)
{
    memset(v, 0, sizeof *v);
    p = skip_spaces(p, end);
    if (p == end)
        return false;
    v->quoted = *p == '"';
    v->array = *p == '[';
    v->span.p = p + (v->quoted || v->array);
    if (v->quoted)
        v->span.end = end_of_string(v->span.p, end);
    else
        for (v->span.end = v->span.p;
             v->span.end < end && strchr(v->array ? "]{}[" : ",]} \"", *v->span.end) == NULL;)
            v->span.end++;
    v->behind = v->span.end + ((v->quoted || v->array) && v->span.end < end);
    return v->span.end < end || (!v->quoted && !v->array);
}

/* The next element of an array at *P, up to END. */
static bool next_element(const char **p, const char *end, struct value *v)
{
    while (*p < end && (*(*p) == ' ' || *(*p) == ','))
        ++*p;
    if (*p == end || !read_value(*p, end, v) || v->array)
        return false;
    *p = v->behind;
    return true;
}

/* What the elements of an array are: how large each is; 0: this is not known, or one of them is no number. */
static unsigned element_size(struct span array, unsigned word, size_t *num)
{
    uint64_t value, most = 0, of[2] = {0, 0};
    struct value v;
    bool padded = true;

    for (*num = 0; next_element(&array.p, array.end, &v); ++*num) {
        if (!read_number(v.span, v.quoted, &value))
            return 0;
        most = value > most ? value : most;
        of[*num % 2] = value > of[*num % 2] ? value : of[*num % 2];
        padded = padded && v.quoted && length(v.span) - (has_prefix(v.span) ? 2 : 0) == 8;
    }
    if (*num < 2 || skip_spaces(array.p, array.end) != array.end)
        return 0;
    if (most <= UINT8_MAX)
        return 1;
    if (word == 4 || padded)
        return most <= UINT32_MAX ? 4 : 0;
    /* Halves of addresses below 4 GiB: each second one is 0. */
    return most > UINT32_MAX || (of[0] > UINT16_MAX && of[1] > UINT16_MAX) ? 8 : 0;
}

/* Gives the elements of the array, the bytes of the string, or the word. */
static bool give_data(const struct json *j, const struct value *data, uint64_t base)
{
    struct span s = data->span;
    size_t num = 0, i;
    const unsigned size = data->array ? element_size(s, j->names->word, &num) : 0;
    uint8_t *bytes = data->array ? NULL : hex_bytes(s, &num);
    uint64_t value;
    const bool word = !data->array && bytes == NULL && read_number(s, data->quoted, &value);
    struct value v;
    char line[ROOM];

    if (word)
        give(j, line, snprintf(line, sizeof line, "0x%" PRIx64 ": 0x%" PRIx64, base, value));
    else if (!data->array && bytes == NULL)
        bytes = base64_bytes(s, &num);
    if (size == 1)
        bytes = zeroed(num, 1);
    for (i = 0; size > 0 && next_element(&s.p, s.end, &v); i++) {
        (void)read_number(v.span, v.quoted, &value);
        if (size == 1)
            bytes[i] = (uint8_t)value;
        else
            give(j, line,
                 snprintf(line, sizeof line, "0x%" PRIx64 ": 0x%0*" PRIx64, base + size * i, 2 * (int)size, value));
    }
    if (bytes != NULL)
        give_bytes(j, &base, bytes, num);
    free(bytes);
    return word || size > 0 || bytes != NULL;
}

/* {"base": "0x2000", "words": [...]}: both have come, the last one up to END, and are taken out of the line. */
static void take_data(struct json *j, const char *end)
{
    if (!j->has_base || !j->has_data)
        return;
    j->has_data = false;
    if (j->vague && j->has_sp && j->sp != j->base) {
        j->unplaced = true;
        return;
    }
    if (!give_data(j, &j->data, j->base))
        return;
    j->arrays += j->data.array || length(j->data.span) > WORD_DIGITS + 2;
    j->pairs++;
    j->rest_size = j->rest_mark;
    j->copied = end;
}

/* Whether the key is a register that is SP. */
static bool is_sp(const struct json *j, struct span key)
{
    const struct format_name *found = lines_register(j->names, key.p, length(key));

    return found != NULL && found->reg == FORMAT_SP;
}

/* A member that may be the address of memory, or the memory, whose name opens at FROM. */
static void take_part(struct json *j, const char *from, struct span key, const struct value *v)
{
    static const char *const vague[] = {"base", "base_address", "start", "begin", "start_address", NULL};
    static const char *const addresses[] = {"address", "addr", NULL};
    static const char *const data[] = {"words", "data",  "values", "memory", "contents", "content",
                                       "bytes", "value", "val",    "word",   NULL};
    const bool is_vague = is_one_of(key, vague), is_base = is_vague || is_one_of(key, addresses);

    if (!is_base && !is_one_of(key, data))
        return;
    if (!j->has_base && !j->has_data) {
        cut(j, from, from);
        j->rest_mark = j->rest_size;
    }
    if (is_base) {
        j->has_base = !v->array && read_number(v->span, v->quoted, &j->base);
        j->vague = is_vague;
    } else {
        j->has_data = true;
        j->data = *v;
    }
    take_data(j, v->behind);
}

static bool is_near_sp(const struct json *j, uint64_t addr)
{
    enum { NEAR = 65536 };

    return j->has_sp && addr - j->sp < NEAR;
}

/* "0x2000": "0x80001234", or bytes as one number. In an object of a name that does not say that it is memory, the
 * member is taken out of the line. */
static bool take_pair(struct json *j, const char *from, struct span key, const struct value *v)
{
    uint64_t addr, value;
    char line[ROOM];
    uint8_t *bytes;
    size_t size;

    if (v->array || !read_address(key, &addr))
        return false;
    if (!j->memory[j->depth] && is_near_sp(j, addr)) {
        j->unplaced = true;
        cut(j, from, v->behind);
        return true;
    }
    bytes = v->quoted ? hex_bytes(v->span, &size) : NULL;
    if (bytes == NULL && !read_number(v->span, v->quoted, &value))
        return false;
    j->alone = j->alone || bytes != NULL || !has_prefix(key) || !has_prefix(v->span);
    if (bytes != NULL)
        give_bytes(j, &addr, bytes, size);
    else if (v->quoted && !has_prefix(v->span))
        give(j, line, snprintf(line, sizeof line, "0x%" PRIx64 ": %.*s", addr, (int)length(v->span), v->span.p));
    else
        give(j, line, snprintf(line, sizeof line, "0x%" PRIx64 ": 0x%" PRIx64, addr, value));
    free(bytes);
    j->pairs++;
    cut(j, from, v->behind);
    return true;
}

/* "stack_base64": "AAECAw==": bytes of the stack, from SP on unless the key names another stack. */
static bool take_stack(struct json *j, struct span key, const struct value *v)
{
    char line[ROOM];
    size_t at = 0, size;
    uint8_t *bytes;

    while (at + 5 <= length(key) && strncasecmp(key.p + at, "stack", 5) != 0)
        at++;
    if (!v->quoted || at + 5 > length(key) || is_hex(v->span))
        return false;
    bytes = base64_bytes(v->span, &size);
    if (bytes == NULL)
        return false;
    give(j, line, snprintf(line, sizeof line, "%.*sstack:", (int)(at < ROOM / 2 ? at : 0), key.p));
    give_bytes(j, NULL, bytes, size);
    free(bytes);
    j->arrays++;
    cut(j, v->span.p, v->span.end);
    return true;
}

/* A member whose name opens at FROM. */
static void take_member(struct json *j, const char *from, struct span key, const struct value *v)
{
    if (is_sp(j, key))
        j->has_sp = !v->array && read_number(v->span, v->quoted, &j->sp);
    if (!take_pair(j, from, key, v) && !take_stack(j, key, v))
        take_part(j, from, key, v);
}

/* Whether an object of the NAME may be a map of memory: "frames", for instance, has an SP and a PC in each member. */
static bool names_memory(struct span name)
{
    static const char *const words[] = {"mem", "stack", "dump", "word", "data", "content", "byte", "raw"};
    size_t i;
    const char *p;

    if (length(name) >= 3 && strncasecmp(name.end - 3, "ram", 3) == 0)
        return true;

    for (i = 0; i < sizeof words / sizeof words[0]; i++)
        for (p = name.p; p + strlen(words[i]) <= name.end; p++)
            if (strncasecmp(p, words[i], strlen(words[i])) == 0)
                return true;
    return false;
}

/* An object begins, behind NAME if that is not empty; or one ends. */
static void enter_object(struct json *j, char bracket, struct span name)
{
    j->has_base = j->has_data = false;
    if (bracket == '}')
        j->depth -= j->depth > 0;
    else if (j->depth + 1 < DEPTH) {
        j->memory[j->depth + 1] = length(name) > 0 ? names_memory(name) : j->memory[j->depth];
        j->depth++;
    }
}

/* Goes through the line. */
static void take_members(struct json *j, const char *p, const char *end)
{
    struct span name = {p, p};
    struct value v;
    struct span key;
    const char *next;

    for (; p < end; p++) {
        if (*p == '{' || *p == '}') {
            enter_object(j, *p, name);
            name.end = name.p;
        }
        if (*p != '"')
            continue;
        key = (struct span){p + 1, end_of_string(p + 1, end)};
        next = skip_spaces(key.end + (key.end < end), end);
        if (next == end || *next != ':' || !read_value(next + 1, end, &v)) {
            p = key.end;
            continue;
        }
        take_member(j, p, key, &v);
        name = skip_spaces(next + 1, end) < end && *skip_spaces(next + 1, end) == '{' ? key : (struct span){p, p};
        p = v.array || v.quoted ? v.behind - 1 : next;
    }
}

/* Whether what is left of the line has no other member: signs, and what a logger has put in front of them. */
static bool is_alone(const char *p, size_t size)
{
    enum { LONGEST = 64 };

    return size <= LONGEST && memchr(p, '"', size) == NULL;
}

static void begin_again(struct json *j, const char *text)
{
    j->rest_size = 0;
    j->copied = text;
    j->pairs = j->arrays = 0;
    j->alone = j->has_base = j->has_data = j->unplaced = false;
    j->depth = 0;
    j->memory[0] = true;
}

bool json_split(const char *text, size_t size, const struct lines_names *names, bool *unplaced,
                void (*take)(void *ctx, const char *line, size_t size), void *ctx)
{
    const char *const end = text + size;
    struct json j = {.names = names, .take = take, .ctx = ctx, .sp = names->sp, .has_sp = names->has_sp};
    bool has_memory;

    *unplaced = false;
    if (memchr(text, '"', size) == NULL)
        return false;
    j.rest = zeroed(size + 1, 1);
    begin_again(&j, text);
    take_members(&j, text, end); /* for SP */
    begin_again(&j, text);
    take_members(&j, text, end);
    cut(&j, end, end);
    *unplaced = j.unplaced;
    has_memory =
        j.arrays > 0 || j.pairs > 1 || j.unplaced || (j.pairs == 1 && j.alone && is_alone(j.rest, j.rest_size));
    if (has_memory)
        lines_split(j.rest, j.rest_size, names, take, ctx);
    free(j.rest);
    j.rest = NULL;
    begin_again(&j, text);
    if (has_memory)
        take_members(&j, text, end);
    return has_memory;
}
