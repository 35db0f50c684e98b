/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool text_take(struct text *t, const char *word)
{
    size_t size = strlen(word);

    if ((size_t)(t->end - t->p) < size || memcmp(t->p, word, size) != 0)
        return false;
    t->p += size;
    return true;
}

bool text_number(struct text *t, unsigned base, unsigned least, unsigned most, uint64_t *value)
{
    uint64_t sum = 0;
    unsigned n = 0;

    for (; n < most && t->p < t->end && digit(*t->p) >= 0 && (unsigned)digit(*t->p) < base; n++, t->p++)
        sum = sum * base + (unsigned)digit(*t->p);
    *value = sum;
    return n >= least && (t->p == t->end || digit(*t->p) < 0);
}

bool text_number_to(struct text *t, char behind, uint64_t *value)
{
    if (!text_number(t, 16, 1, 16, value) || t->p == t->end || *t->p != behind)
        return false;
    t->p++;
    return true;
}

bool text_decimal(struct text *t, uint64_t *value)
{
    uint64_t sum = 0;
    const char *first = t->p;

    for (; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++) {
        unsigned d = (unsigned)digit(*t->p);

        if (sum > (UINT64_MAX - d) / 10)
            return false;
        sum = sum * 10 + d;
    }
    *value = sum;
    return t->p > first && (t->p == t->end || *t->p == ' ');
}

bool text_signed(struct text *t, int64_t *value)
{
    bool negative = text_take(t, "-");
    uint64_t size;

    if (!text_decimal(t, &size) || size > (uint64_t)INT64_MAX + negative)
        return false;
    *value = !negative ? (int64_t)size : size > INT64_MAX ? INT64_MIN : -(int64_t)size;
    return true;
}

bool text_bytes(struct text *t, uint8_t *bytes, size_t *size, size_t room)
{
    *size = 0;
    for (; t->end - t->p >= 2 && *size < room && digit(t->p[0]) >= 0 && digit(t->p[1]) >= 0; t->p += 2)
        bytes[(*size)++] = (uint8_t)(digit(t->p[0]) << 4 | digit(t->p[1]));
    return *size > 0 && t->p == t->end;
}

size_t text_word(struct text *t, const char **word)
{
    *word = t->p;
    while (t->p < t->end && *t->p != ' ')
        t->p++;
    return (size_t)(t->p - *word);
}

bool text_name(struct text *t, char *to, size_t room)
{
    const char *word;
    size_t size = text_word(t, &word);

    if (size == 0 || size >= room)
        return false;
    memcpy(to, word, size);
    to[size] = '\0';
    return true;
}

/* The size of a sequence that sets colours, "[0;31m", at P; or 0. "[m" may be the beginning of a name. */
static size_t colour_size(const char *p, const char *end)
{
    const char *q = p;

    if (q == end || *q++ != '[')
        return 0;
    while (q < end && ((*q >= '0' && *q <= '9') || *q == ';'))
        q++;
    return q < end && *q == 'm' && q > p + 1 ? (size_t)(q - p) + 1 : 0;
}

/* The size of what follows an ESC, at P: "[", parameters and a letter; "]" up to BEL or ESC and a backslash; or one
 * character, with those from 0x20 to 0x2f before it (ECMA-48, 5.3 to 5.6). */
static size_t escape_size(const char *p, const char *end)
{
    const char *q = p;

    if (q < end && *q == '[') {
        for (q++; q < end && *q >= 0x20 && *q < 0x40;)
            q++;
    } else if (q < end && *q == ']') {
        while (q < end && *q != '\a' && *q != '\033')
            q++;
        if (end - q >= 2 && *q == '\033')
            q++;
    } else {
        while (q < end && *q >= 0x20 && *q < 0x30)
            q++;
    }
    return (size_t)(q - p) + (q < end);
}

/* Whether "[K" at P erases the rest of a line, and has lost its ESC: a number follows, and no bracket that closes. */
static bool is_bare_erase(const char *p, const char *end)
{
    struct text t = {p, end};

    if (!text_take(&t, "[K") || t.p == end || digit(*t.p) < 0 || digit(*t.p) > 9)
        return false;
    while (t.p < end && *t.p != ' ' && *t.p != ']')
        t.p++;
    return t.p == end || *t.p == ' ';
}

/* The size of what is no text at P; or 0. "^[", "\\033", "#033", "\\x1b", "\\u001b" and "\\e" are how people and tools
 * write an ESC. */
static size_t noise_size(const char *p, const char *end)
{
    static const char *const written[] = {"^[",      "\\033",   "#033", "\\x1b",       "\\x1B",
                                          "\\u001b", "\\u001B", "\\e",  "\342\220\233"};
    struct text t = {p, end};
    size_t i, size;

    if (*p == '\033')
        return 1 + escape_size(p + 1, end);
    for (i = 0; i < sizeof written / sizeof written[0]; i++) {
        t.p = p;
        size = text_take(&t, written[i]) ? colour_size(t.p, end) : 0;
        if (size > 0)
            return (size_t)(t.p - p) + size;
    }
    return is_bare_erase(p, end) ? 2 : colour_size(p, end);
}

static bool is_hex_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Puts spaces for the backticks of Markdown, which stand in pairs: "| `pc` | `0x8000` |". One in a number stays. */
static void clear_backticks(char *line, size_t size)
{
    size_t open = size, i;

    for (i = 0; i < size; i++) {
        if (line[i] == '\'')
            open = size;
        if (line[i] != '`' || (i > 0 && i + 1 < size && is_hex_digit(line[i - 1]) && is_hex_digit(line[i + 1])))
            continue;
        if (open < size)
            line[open] = line[i] = ' ';
        open = open < size ? size : i;
    }
}

/* Where the quote stands that ends a number with "0x", which is in quotes from AT on; or 0. */
static size_t end_of_quoted(const char *line, size_t size, size_t at)
{
    size_t i = at + 3;

    if (size - at < 5 || line[at] != '"' || line[at + 1] != '0' || (line[at + 2] != 'x' && line[at + 2] != 'X'))
        return 0;
    while (i < size && is_hex_digit(line[i]))
        i++;
    return i < size && line[i] == '"' ? i : 0;
}

size_t text_quoted_words(const char *line, size_t size, size_t at)
{
    enum { LEAST_DIGITS = 8, LEAST_WORDS = 2 };
    size_t i = at + 1, from, words = 0;

    if (line[at] != '"')
        return 0;
    while (i < size && line[i] != '"') {
        i += size - i > 2 && line[i] == '0' && line[i + 1] == 'x' ? 2 : 0;
        for (from = i; i < size && is_hex_digit(line[i]);)
            i++;
        if (i - from < LEAST_DIGITS)
            return 0;
        words++;
        while (i < size && line[i] == ' ')
            i++;
    }
    return i < size && words >= LEAST_WORDS ? i : 0;
}

/* Puts spaces for the quotes of numbers in an array of JSON, ["0x8000", "0x1"], and brackets for those of words, which
 * then are an array: "00008000 00000001". */
static void clear_array_quotes(char *line, size_t size)
{
    bool array = false; /* nothing but such numbers has come since a bracket */
    size_t i, close, words;

    for (i = 0; i < size; i++) {
        close = array ? end_of_quoted(line, size, i) : 0;
        words = close == 0 ? text_quoted_words(line, size, i) : 0;
        if (words > 0) {
            line[i] = '[';
            line[words] = ']';
            i = words;
        } else if (close > 0) {
            line[i] = line[close] = ' ';
            i = close;
        } else {
            array = line[i] == '[' || (array && (line[i] == ' ' || line[i] == ','));
        }
    }
}

/* The character of ASCII that "&#61;" or "&#x3D;" stands for at P. 0: none does. */
static char numbered_entity(const char *p, const char *end, size_t *width)
{
    struct text t = {p, end};
    const char *from;
    uint64_t code = 0;
    bool hex;

    if (!text_take(&t, "&#"))
        return '\0';
    hex = text_take(&t, "x") || text_take(&t, "X");
    for (from = t.p; t.p < end && t.p - from < 4 && (hex ? is_hex_digit(*t.p) : *t.p >= '0' && *t.p <= '9'); t.p++)
        code =
            code * (hex ? 16 : 10) + (unsigned)digit(*t.p >= 'A' && *t.p <= 'F' ? (char)(*t.p + 'a' - 'A') : *t.p);
    if (t.p == from || !text_take(&t, ";") || code < ' ' || code >= 0x7f)
        return '\0';
    *width = (size_t)(t.p - p);
    return (char)code;
}

/* The character that "&lt;" and the like stand for, as pages write it, at P, or that a sign of Unicode looks like: a
 * vertical line of a frame, a space that does not break, the mark at the beginning of a file, a wide colon. *WIDTH: of
 * how many bytes. 0: none does. */
static char entity_at(const char *p, const char *end, size_t *width)
{
    static const struct {
        const char *text;
        char character;
    } known[] = {{"&lt;", '<'},         {"&gt;", '>'},         {"&amp;", '&'},        {"&quot;", '"'},
                 {"&#39;", '\''},       {"&nbsp;", ' '},       {"\342\224\202", '|'}, {"\342\224\203", '|'},
                 {"\342\224\206", '|'}, {"\342\224\212", '|'}, {"\342\225\221", '|'}, {"\302\240", ' '},
                 {"\357\273\277", ' '}, {"\357\274\232", ':'}, {"\357\274\235", '='}, {"\357\274\214", ','},
                 {"\343\200\200", ' '}, {"\342\200\257", ' '}, {"\342\200\213", ' '}};
    struct text t = {p, end};
    size_t i;

    for (i = 0; !text_is_of_a_word(*p) && i < sizeof known / sizeof known[0]; i++)
        if (text_take(&t, known[i].text)) {
            *width = strlen(known[i].text);
            return known[i].character;
        }
    return numbered_entity(p, end, width);
}

/* Puts characters for the entities of HTML and for such signs. Returns the size. */
static size_t replace_entities(char *line, size_t size)
{
    size_t from, to = 0, width;

    for (from = 0; from < size; from += width) {
        const char c = entity_at(line + from, line + size, &width);

        if (c == '\0')
            width = 1;
        line[to++] = c != '\0' ? c : line[from];
    }
    return to;
}

/* The size of a line without "^M" or "#015" at its end, which is how tools write the CR of its end. */
static size_t without_carriage_return(const char *line, size_t size)
{
    if (size >= 2 && memcmp(line + size - 2, "^M", 2) == 0)
        return size - 2;
    return size >= 4 && memcmp(line + size - 4, "#015", 4) == 0 ? size - 4 : size;
}

/* ---- What a terminal and a mail do to lines --------------------------------------------------------------------- */

/* Where a sequence that moves a terminal's cursor puts what follows. */
enum move { MOVES_NOT, MOVES_RIGHT, MOVES_AWAY };

struct cursor {
    unsigned row; /* of the line that is being written; 0: not known */
};

/* What the sequence of so many parameters that ends with FINAL does (ECMA-48, 8.3). */
static enum move move_of(struct cursor *c, char final, const uint64_t *number, unsigned numbers)
{
    const unsigned row = numbers > 0 && number[0] > 0 ? (unsigned)number[0] : 1;

    switch (final) {
    case 'H':
    case 'f':
    case 'd':
        if (c->row == row)
            return MOVES_RIGHT;
        c->row = row;
        return MOVES_AWAY;
    case 'A':
    case 'B':
    case 'E':
    case 'F':
        c->row = 0;
        return MOVES_AWAY;
    case 'C':
    case 'a':
        return MOVES_RIGHT;
    case 'G':
    case '`':
        return row > 1 ? MOVES_RIGHT : MOVES_AWAY;
    default:
        return MOVES_NOT;
    }
}

/* A sequence at P that moves the cursor, also one that has lost its ESC, if it is "[5;1H". *SIZE: of it. */
static enum move take_move(struct cursor *c, const char *p, const char *end, size_t *size)
{
    struct text t = {p, end};
    const bool escape = text_take(&t, "\033");
    uint64_t number[2] = {0, 0};
    unsigned numbers = 0;
    enum move move;

    if (escape && (text_take(&t, "E") || text_take(&t, "D") || text_take(&t, "M"))) {
        *size = (size_t)(t.p - p);
        c->row = 0;
        return MOVES_AWAY;
    }
    if (!text_take(&t, "["))
        return MOVES_NOT;
    for (; numbers < 2 && t.p < end && *t.p >= '0' && *t.p <= '9'; numbers++) {
        (void)text_number(&t, 10, 1, 4, &number[numbers]);
        if (!text_take(&t, ";"))
            break;
    }
    numbers += numbers < 2 && t.p > p && t.p[-1] != ';' && t.p[-1] != '[';
    if (t.p == end || (!escape && (numbers < 2 || (*t.p != 'H' && *t.p != 'f'))))
        return MOVES_NOT;
    move = move_of(c, *t.p, number, numbers);
    *size = (size_t)(t.p - p) + 1;
    return move;
}

/* The size of what a page ends a line with, at P: "<br>", "</p>" and the like; or 0. */
static size_t page_break_size(const char *p, const char *end)
{
    static const char *const tags[] = {"<br>", "<br/>", "<br />", "</p>", "</div>", "</li>", "</tr>"};
    struct text t = {p, end};
    size_t i;

    for (i = 0; *p == '<' && i < sizeof tags / sizeof tags[0]; i++)
        if (text_take(&t, tags[i]))
            return strlen(tags[i]);
    return 0;
}

size_t text_lay_out(char *text, size_t size)
{
    const char *const end = text + size;
    struct cursor cursor = {0};
    size_t from = 0, to = 0, width;
    enum move move;

    while (from < size) {
        width = page_break_size(text + from, end);
        move = width > 0 ? MOVES_AWAY : take_move(&cursor, text + from, end, &width);
        if (move == MOVES_AWAY && to > 0 && text[to - 1] != '\r')
            text[to++] = '\r';
        else if (move == MOVES_RIGHT)
            text[to++] = ' ';
        else if (move == MOVES_NOT && text[from] == '\b')
            to -= to > 0 && text[to - 1] != '\r';
        else if (move == MOVES_NOT)
            text[to++] = text[from];
        from += move == MOVES_NOT ? 1 : width;
    }
    return to;
}

/* Whether "=3D" at P, an equals sign, is followed by a number: one with "0x", or of 8 or 16 digits, with which a number
 * 3D... would be too long for an address. */
static bool is_quoted_sign(const char *p, const char *end)
{
    struct text t = {p, end};
    size_t digits = 0;

    if (!text_take(&t, "=3D"))
        return false;
    while (text_take(&t, " "))
        continue;
    if (text_take(&t, "0x"))
        return true;
    while (t.p + digits < end && is_hex_digit(t.p[digits]))
        digits++;
    return digits == 8 || digits == 16;
}

/* Whether the line, of so many characters as a mail has at most, ends with a number and "=". */
static bool is_cut_by_mail(const char *text, size_t size)
{
    enum { LEAST = 70, MOST = 76, DIGITS = 4 };
    size_t digits = 0;

    if (size < LEAST || size > MOST || text[size - 1] != '=')
        return false;
    for (size--; text[size - 1] == ' ' && size > 1;)
        size--;
    while (digits < size && (is_hex_digit(text[size - 1 - digits]) || text[size - 1 - digits] == 'x'))
        digits++;
    return digits >= DIGITS;
}

bool text_is_mail(const char *text, size_t size, bool before)
{
    static const char kind[] = "quoted-printable";
    const char *p, *const end = text + size;

    for (p = text; p < end; p++)
        if (is_quoted_sign(p, end) || ((*p == 'q' || *p == 'Q') && strncasecmp(p, kind, sizeof kind - 1) == 0))
            return true;
    return is_cut_by_mail(text, size) || (before && strncasecmp(text, "content-transfer-encoding:", 26) != 0);
}

size_t text_of_mail(char *text, size_t size)
{
    size_t from, to = 0;

    for (from = 0; from < size; from++) {
        const int high = size - from > 2 ? digit(text[from + 1]) : -1;
        const char c = high >= 2 && high <= 7 ? text[from + 2] : '\0';

        if (text[from] == '=' && is_hex_digit(c) && !(c >= 'a' && c <= 'f')) {
            text[to++] = (char)(high << 4 | digit(c >= 'A' ? (char)(c + 'a' - 'A') : c));
            from += 2;
        } else {
            text[to++] = text[from];
        }
    }
    return to;
}

/* Takes off the marks that a mail puts in front of a line that it quotes: "> > ". */
static size_t without_quote_marks(char *line, size_t size)
{
    size_t from = 0;

    if (size < 2 || line[0] != '>' || (line[1] != ' ' && line[1] != '>'))
        return size;
    while (from < size && line[from] == '>')
        from += from + 1 < size && line[from + 1] == ' ' ? 2 : 1;
    memmove(line, line + from, size - from);
    return size - from;
}

/* Whether C can stand in the path of a file. */
static bool is_of_a_path(char c)
{
    return text_is_of_a_word(c) || c == '.' || c == '/' || c == '-' || c == ':' || c == ' ';
}

/* The size of a line without "(crate src/main.rs:12)" at its end, which is where the program has printed it. */
static size_t without_place(const char *line, size_t size)
{
    size_t from = size, digits = 0;

    if (size < 2 || line[size - 1] != ')')
        return size;
    for (from--; from > 0 && line[from - 1] >= '0' && line[from - 1] <= '9'; from--)
        digits++;
    if (digits == 0 || from < 4 || line[from - 1] != ':' || memcmp(line + from - 4, ".rs", 3) != 0)
        return size;
    while (from > 0 && is_of_a_path(line[from - 1]))
        from--;
    if (from == 0 || line[from - 1] != '(')
        return size;
    for (from--; from > 0 && line[from - 1] == ' ';)
        from--;
    return from;
}

size_t text_clean(char *line, size_t size)
{
    size_t from, to = 0, noise;

    size = replace_entities(line, without_carriage_return(line, size));
    for (from = 0; from<size; from += noise> 0 ? noise : 1) {
        noise = noise_size(line + from, line + size);
        if (noise > 0)
            continue;
        if (line[from] == '\t')
            line[to++] = ' ';
        else if ((unsigned char)line[from] >= ' ' && line[from] != 0x7f)
            line[to++] = line[from];
    }
    clear_backticks(line, to);
    clear_array_quotes(line, to);
    while (to > 0 && (line[to - 1] == ' ' || (to > 1 && memcmp(line + to - 2, "[K", 2) == 0)))
        to -= line[to - 1] == ' ' ? 1 : 2;
    return without_quote_marks(line, without_place(line, to));
}

bool text_is_of_a_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool text_is_number(const char *text, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 0);
    return errno == 0 && end != text && *end == '\0' && text[0] != '-' && text[0] != ' ';
}

const char *text_base_name(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash != NULL ? slash + 1 : file;
}
