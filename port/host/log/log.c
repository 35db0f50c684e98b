/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "log.h"
#include "common/image.h"
#include "sfu.h"
#include "port/print/sfu_print.h"
#include "text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Traces ---------------------------------------------------------------------------------------------------- */

/* "name+0x" and digits, and the spaces before marks. */
static bool parse_name(struct text *t, struct log_line *line)
{
    const char *word;
    size_t size = text_word(t, &word), i;
    struct text offset = {word, t->p};

    for (i = size; i > 0 && word[i - 1] != '+'; i--)
        continue;
    if (i < 2)
        return false;
    offset.p = word + i - 1;
    line->name = word;
    line->name_size = i - 1;
    (void)text_take(t, "  ");
    return text_take(&offset, "+0x") && text_number(&offset, 16, 1, 16, &line->offset) && offset.p == offset.end;
}

static bool has_mark(const struct text *t, const char *mark)
{
    const size_t size = strlen(mark);
    const char *p;

    for (p = t->p; (size_t)(t->end - p) >= size; p++)
        if (memcmp(p, mark, size) == 0)
            return true;
    return false;
}

/* Takes an address as the printer writes it: 16 digits, or 8 where addresses have 32 bits. */
static bool take_address(struct text *t, uint64_t *value)
{
    struct text longer = *t;

    if (!text_number(&longer, 16, 16, 16, value))
        return text_number(t, 16, 8, 8, value);
    *t = longer;
    return true;
}

/* "0  0x", an address, "  name+0x" and digits, marks. */
static bool parse_frame(struct text t, struct log_line *line)
{

    if (!text_number(&t, 10, 1, 9, &line->number) || !text_take(&t, " "))
        return false;
    (void)text_take(&t, " ");
    if (!text_take(&t, "0x") || !take_address(&t, &line->pc) || (t.p < t.end && !text_take(&t, "  ")))
        return false;
    line->exact = line->number == 0;
    line->name = NULL;
    if (t.p < t.end && *t.p != '[' && !parse_name(&t, line))
        return false;
    line->exact = line->exact || has_mark(&t, "[interrupted]");
    line->sized = has_mark(&t, " bytes]");
    line->kind = LOG_FRAME;
    return true;
}

static bool parse_slide(struct text t, struct log_line *line)
{
    if (!text_number(&t, 16, 1, 16, &line->number) || t.p < t.end)
        return false;
    line->kind = LOG_SLIDE;
    return true;
}

static bool parse_id(struct text t, struct log_line *line)
{
    if (!text_bytes(&t, line->id, &line->id_size, LOG_BUILD_ID))
        return false;
    line->kind = LOG_ID;
    return true;
}

static bool parse_end(struct text t, struct log_line *line)
{
    uint64_t code;

    (void)text_take(&t, "-");
    if (!text_number(&t, 10, 1, 3, &code) || !text_take(&t, "): "))
        return false;
    line->kind = LOG_END;
    return true;
}

static bool parse_record(struct text t, struct log_line *line)
{
    static const char *const names[] = {"pc 0x", " sp 0x", " fp 0x", " ra 0x"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!text_take(&t, names[i]) || !take_address(&t, &line->registers[i]))
            return false;
    line->kind = LOG_RECORD;
    return t.p == t.end;
}

static const struct {
    const char *begin;
    bool (*parse)(struct text t, struct log_line *line);
} kinds[] = {{"#", parse_frame},
             {"slide 0x", parse_slide},
             {"build ID ", parse_id},
             {"trace ends (", parse_end},
             {"crash record: ", parse_record}};

void log_parse(const char *text, size_t size, struct log_line *line)
{
    const char *end = text + size;
    size_t i, k;

    memset(line, 0, sizeof *line);
    for (i = 0; i < size; i++) {
        struct text dump = {text + i, end};

        /* Each word is tried, because a console may print a time or a CPU in front of the line. */
        if (i > 0 && text_is_of_a_word(text[i - 1]))
            continue;
        if (text_take(&dump, "sfu2 ")) {
            line->kind = LOG_DUMP;
            line->dump = i;
            return;
        }
        for (k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            struct text t = {text + i, end};

            if (text_take(&t, kinds[k].begin) && kinds[k].parse(t, line))
                return;
        }
    }
}

/* ---- Crash records --------------------------------------------------------------------------------------------- */

enum {
    RECORD_MAGIC = 0x32756673,
    RECORD_CODE = 8, /* where the check begins, and what it is of */
    RECORD_FLAGS = 12,
    RECORD_NUM = 14,
    RECORD_FIRST = 16,
    RECORD_TOTAL = 20,
    RECORD_DATA = 24,
    RECORD_REGISTERS = RECORD_DATA + 4 * LOG_RECORD_WORDS,
    RELIABLE = 1,
    BEGINS_EXACT = 2,
    MARKS = 5, /* bits of a word; its other ones are a number: */
    ELSEWHERE = 0x7ffffff,
    REPEATED = 0x7fffffe
};

uint32_t log_crc32(const uint8_t *bytes, size_t size)
{
    uint32_t sum = 0xffffffff;
    size_t i;
    unsigned bit;

    for (i = 0; i < size; i++) {
        sum ^= bytes[i];
        for (bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xedb88320 : 0);
    }
    return ~sum;
}

/* The item in the NUM words at WORDS. Returns how many words it takes, or 0 if it is cut. */
static unsigned take_item(const uint32_t *words, unsigned num, struct log_item *item)
{
    uint32_t number = words[0] >> MARKS;
    unsigned need = number == ELSEWHERE ? 3 : number == REPEATED ? 2 : 1;

    if (num < need)
        return 0;
    item->marks = words[0] & ((1u << MARKS) - 1);
    item->relative = need == 1;
    item->pc = need == 3 ? words[1] | (uint64_t)words[2] << 32 : number;
    item->times = need == 2 ? words[1] : 0;
    item->length = need == 2 ? item->marks + 1 : 0;
    return need;
}

static void take_items(struct log_record *record, const uint32_t *words, unsigned num, uint64_t first)
{
    uint64_t number = first;
    unsigned at, taken;

    for (at = 0; at < num; at += taken) {
        struct log_item *item = &record->items[record->num_items];

        item->number = number;
        taken = take_item(words + at, num - at, item);
        if (taken == 0)
            break;
        item->exact = (item->marks & SFU_PRINT_INTERRUPTED) != 0 || (number == 0 && record->exact);
        number += item->times != 0 ? (uint64_t)item->length * item->times : 1;
        record->num_items++;
    }
    record->missing = number;
}

static bool read_record(const uint8_t *bytes, bool big, struct log_record *record)
{
    unsigned num = (unsigned)load_number(bytes + RECORD_NUM, 2, big), i;
    unsigned flags = (unsigned)load_number(bytes + RECORD_FLAGS, 2, big);
    uint64_t total = load_number(bytes + RECORD_TOTAL, 4, big);
    uint32_t words[LOG_RECORD_WORDS];

    /* A reset, firmware or the next boot may have changed it. */
    if (load_number(bytes + 4, 4, big) != log_crc32(bytes + RECORD_CODE, LOG_RECORD_SIZE - RECORD_CODE) ||
        num > LOG_RECORD_WORDS)
        return false;
    memset(record, 0, sizeof *record);
    record->code = (int32_t)load_number(bytes + RECORD_CODE, 4, big);
    record->reliable = (flags & RELIABLE) != 0;
    record->exact = (flags & BEGINS_EXACT) != 0;
    for (i = 0; i < 4; i++)
        record->registers[i] = load_number(bytes + RECORD_REGISTERS + 8 * i, 8, big);
    for (i = 0; i < LOG_RECORD_WORDS; i++)
        words[i] = (uint32_t)load_number(bytes + RECORD_DATA + 4 * i, 4, big);
    take_items(record, words, num, load_number(bytes + RECORD_FIRST, 4, big));
    record->missing = total > record->missing ? total - record->missing : 0;
    return true;
}

bool log_record_find(const uint8_t *bytes, size_t size, bool big, size_t *at, struct log_record *record,
                     size_t *broken)
{
    uint8_t magic[4];

    store_number(magic, sizeof magic, big, RECORD_MAGIC);
    while (*at < size) {
        const uint8_t *found = memchr(bytes + *at, magic[0], size - *at);

        *at = found != NULL ? (size_t)(found - bytes) : size;
        if (size - *at < LOG_RECORD_SIZE)
            return false;
        if (memcmp(found, magic, sizeof magic) == 0) {
            if (read_record(found, big, record))
                return true;
            ++*broken;
        }
        ++*at;
    }
    return false;
}

/* ---- Raw dumps ------------------------------------------------------------------------------------------------- */

void log_dump_clear(struct log_dump *dump)
{
    free(dump->words);
    memset(dump, 0, sizeof *dump);
}

static bool is_big(const struct log_dump *dump)
{
    return abi_is_big(dump->abi);
}

/* Words are counted, because " *ffffffff" in a log asks for four thousand million. */
static bool add_dumped_word(struct log_dump *dump, uint64_t addr, uint64_t word)
{
    if (addr > UINT64_MAX - 8 || dump->num_words == LOG_WORDS)
        return false;
    dump->words = grow(dump->words, dump->num_words, sizeof *dump->words);
    dump->words[dump->num_words].addr = addr;
    store_number(dump->words[dump->num_words].bytes, 8, is_big(dump), word);
    dump->num_words++;
    return true;
}

/* What a word stands for. WORD is the one before, FAR the last one without a sign and of many digits. */
static bool take_packed(struct text *t, uint64_t addr, uint64_t *word, uint64_t *far)
{
    enum { FAR_DIGITS = 8 };
    const char *sign = t->p;
    uint64_t value;

    if (!text_take(t, "+") && !text_take(t, "-") && !text_take(t, ">"))
        (void)text_take(t, "<");
    if (!text_number(t, 16, 1, 16, &value))
        return false;
    switch (*sign) {
    case '+':
        *word = addr + value;
        return value <= UINT64_MAX - addr;
    case '-':
        *word = addr - value;
        return value <= addr;
    case '>':
        *word = *far + value;
        return value <= UINT64_MAX - *far;
    case '<':
        *word = *far - value;
        return value <= *far;
    default:
        *word = value;
        if (t->p - sign > FAR_DIGITS)
            *far = value;
        return true;
    }
}

/* Words from ADDR up. */
static bool take_words(struct text t, struct log_dump *dump, uint64_t addr)
{
    uint64_t word = 0, far = 0, times;
    bool first = true;

    for (; text_take(&t, " "); first = false) {
        if (text_take(&t, "*")) {
            if (first || !text_number(&t, 16, 1, 8, &times))
                return false;
        } else {
            if (!take_packed(&t, addr, &word, &far))
                return false;
            times = 1;
        }
        for (; times > 0; times--, addr += 8)
            if (!add_dumped_word(dump, addr, word))
                return false;
    }
    return t.p == t.end;
}

static bool take_memory(struct text t, struct log_dump *dump)
{
    uint64_t addr;

    return text_number(&t, 16, 1, 16, &addr) && take_words(t, dump, addr);
}

static bool take_register(struct text *t, struct log_dump *dump)
{
    static const char *const names[] = {"pc ", "sp ", "fp ", "ra ", "pac ", "psp "};
    uint64_t *const values[] = {&dump->pc, &dump->sp, &dump->fp, &dump->ra, &dump->pac, &dump->psp};
    bool unused = false, *const known[] = {&dump->has_pc, &dump->has_sp, &dump->has_fp,
                                           &dump->has_ra, &unused,       &dump->has_psp};
    uint64_t reg;
    size_t i;

    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (text_take(t, names[i])) {
            *known[i] = true;
            return text_number(t, 16, 1, 16, values[i]);
        }
    }
    if (!text_number(t, 16, 2, 2, &reg) || reg >= LOG_REGISTERS || !text_take(t, " "))
        return false;
    dump->known[reg] = true;
    return text_number(t, 16, 1, 16, &dump->value[reg]);
}

static bool take_registers(struct text t, struct log_dump *dump)
{
    do {
        if (!take_register(&t, dump))
            return false;
    } while (text_take(&t, " "));
    return t.p == t.end;
}

static bool take_dump_place(struct text t, struct log_dump *dump)
{
    struct log_place place;

    memset(&place, 0, sizeof place);
    if (!text_number(&t, 16, 1, 16, &place.addr) || !text_take(&t, " ") ||
        !text_name(&t, place.name, sizeof place.name))
        return false;
    if (text_take(&t, " ") && !text_name(&t, place.image, sizeof place.image))
        return false;
    if (t.p < t.end || dump->num_places == LOG_PLACES)
        return false;
    dump->places[dump->num_places++] = place;
    return true;
}

static bool take_dump_begin(struct text t, struct log_dump *dump)
{
    uint64_t abi;

    log_dump_clear(dump);
    if (!text_number(&t, 16, 1, 2, &abi) || abi_registers((uint8_t)abi) == NULL || !text_take(&t, " "))
        return false;
    dump->exact = text_take(&t, "exact");
    if (!dump->exact && !text_take(&t, "return"))
        return false;
    dump->abi = (uint8_t)abi;
    dump->open = t.p == t.end;
    return dump->open;
}

static bool take_dump_end(struct text t, struct log_dump *dump)
{
    uint64_t count;

    if (!text_number(&t, 16, 1, 16, &count) || t.p < t.end || count > LOG_WORDS)
        return false;
    dump->missing = count > dump->num_words ? (size_t)count - dump->num_words : 0;
    dump->open = false;
    dump->ended = true;
    return true;
}

static enum log_dump_event take_dump_line(struct text t, struct log_dump *dump)
{
    bool good = false;

    if (text_take(&t, "begin ")) {
        if (dump->open) {
            dump->open = false;
            return DUMP_CUT;
        }
        return take_dump_begin(t, dump) ? DUMP_MORE : DUMP_BAD;
    }
    if (!dump->open)
        return DUMP_BAD;
    if (text_take(&t, "build "))
        good = text_bytes(&t, dump->id, &dump->id_size, LOG_BUILD_ID);
    else if (text_take(&t, "at "))
        good = take_dump_place(t, dump);
    else if (text_take(&t, "r "))
        good = take_registers(t, dump);
    else if (text_take(&t, "m "))
        good = take_memory(t, dump);
    else if (text_take(&t, "end "))
        return take_dump_end(t, dump) ? DUMP_DONE : DUMP_BAD;
    return good ? DUMP_MORE : DUMP_BAD;
}

/* CRC-16 (CCITT), from 0xffff. */
static unsigned check_of(const struct text *t)
{
    unsigned check = 0xffff, bit;
    const char *p;

    for (p = t->p; p < t->end; p++) {
        check ^= (unsigned)(unsigned char)*p << 8;
        for (bit = 0; bit < 8; bit++)
            check = (check << 1 ^ (check & 0x8000 ? 0x1021u : 0)) & 0xffff;
    }
    return check;
}

/* Takes the check away from the end, and the number from the front. Returns whether the check is right. */
static bool take_check(struct text *t, uint64_t *number)
{
    enum { CHECK = 5 };
    struct text check = {t->end - CHECK, t->end};
    uint64_t wanted;

    if (t->end - t->p <= CHECK)
        return false;
    t->end -= CHECK;
    return text_take(&check, " ") && text_number(&check, 16, 4, 4, &wanted) && check_of(t) == wanted &&
           text_number(t, 16, 2, 8, number) && text_take(t, " ");
}

/* The number of a line says whether others are missing, or whether it has been there, because consoles lose lines, and
 * those that keep a log print it again. */
enum log_dump_event log_dump_line(struct log_dump *dump, const char *text, size_t size)
{
    struct text t = {text, text + size};
    enum log_dump_event event;
    uint64_t number, before;
    bool begins;

    (void)text_take(&t, "sfu2 ");
    if (!take_check(&t, &number))
        return DUMP_BAD;
    begins = number == 0;
    if ((dump->open || dump->ended) && (begins ? dump->open && dump->line == 0 : number <= dump->line))
        return DUMP_MORE;
    before = dump->line;
    event = take_dump_line(t, dump);
    if (event == DUMP_CUT || event == DUMP_BAD)
        return event;
    if (!begins && number > before + 1)
        dump->lost += (size_t)(number - before - 1);
    dump->line = number;
    return event;
}

static int by_word_address(const void *a, const void *b)
{
    const struct log_word *x = a, *y = b;

    return x->addr != y->addr ? (x->addr < y->addr ? -1 : 1) : memcmp(x->bytes, y->bytes, sizeof x->bytes);
}

void log_dump_sort(struct log_dump *dump)
{
    if (dump->num_words > 0)
        qsort(dump->words, dump->num_words, sizeof *dump->words, by_word_address);
}

/* The word that the byte at ADDR is in, or NULL. */
static const struct log_word *find_word(const struct log_dump *dump, uint64_t addr)
{
    size_t below =
        count_up_to(dump->words, dump->num_words, sizeof *dump->words, offsetof(struct log_word, addr), addr);

    return below > 0 && addr - dump->words[below - 1].addr < 8 ? &dump->words[below - 1] : NULL;
}

bool log_dump_read(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    uint8_t *to = buffer;
    size_t i;

    for (i = 0; i < len; i++) {
        const struct log_word *word = find_word(ctx, addr + i);

        if (word == NULL)
            return false;
        to[i] = word->bytes[addr + i - word->addr];
    }
    return true;
}
