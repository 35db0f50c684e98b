/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What sfu-trace reads that anybody may have written: lines of a log, raw dumps in them, dumps of other systems, maps,
 * crash records, the notes of a core, and page tables. The first byte chooses: an ABI for notes; a log; the log of
 * another system, and its CPU; a crash record, which gets its magic and its check; a map; or page tables, which begin
 * with the address that is looked up and their root, and are all of the physical memory.
 */
#include "common/abi.h"
#include "common/image.h"
#include "harness.h"
#include "log/dumps.h"
#include "log/json.h"
#include "log/log.h"
#include "log/mi.h"
#include "trace/trace_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What has been found in a line lies in it, and has the ranges that its users rely on. */
static void check_line(const struct log_line *line, const char *text, size_t size)
{
    if (line->kind == LOG_FRAME && line->name != NULL)
        MUST(line->name >= text && line->name_size >= 1 && line->name_size <= size - (size_t)(line->name - text));
    if (line->kind == LOG_ID)
        MUST(line->id_size >= 1 && line->id_size <= LOG_BUILD_ID);
    if (line->kind == LOG_DUMP)
        MUST(size - line->dump >= 5 && memcmp(text + line->dump, "sfu", 3) == 0);
}

/* The words are in order. Each is read as it stands there, or some of many: few characters may stand for a million.
 * Nothing is read around them. */
static void check_dump(struct log_dump *dump)
{
    uint8_t bytes[8], other;
    size_t i, every = 1 + dump->num_words / 4096;

    MUST(dump->abi >= SFU_AARCH64_BIG && dump->abi <= SFU_S390X);
    MUST(dump->num_places <= LOG_PLACES && dump->id_size <= LOG_BUILD_ID);
    log_dump_sort(dump);
    for (i = 0; i < dump->num_words; i++) {
        const struct log_word *w = &dump->words[i];
        bool last = i + 1 == dump->num_words;

        MUST(last || w->addr <= w[1].addr);
        if (i % every != 0 && !last)
            continue;
        MUST(log_dump_read(dump, w->addr, bytes, 1));
        if (last || w[1].addr - w->addr >= 8)
            MUST(log_dump_read(dump, w->addr, bytes, 8) && memcmp(bytes, w->bytes, 8) == 0);
        if (last)
            MUST(!log_dump_read(dump, w->addr + 8, &other, 1));
    }
    MUST(dump->num_words > 0 || !log_dump_read(dump, dump->sp, bytes, 8));
}

/* Gives LINE to DUMP. It gets the number that follows, unless it has "!" in front of its words, and the
 * check that it must have. */
static enum log_dump_event give_line(struct log_dump *dump, const char *line, size_t size)
{
    char text[1100];
    unsigned check = 0xffff, bit, number = dump->open ? (unsigned)dump->line + 1 : 0;
    size_t used = 5, i;

    if (memcmp(line, "sfu2 ", 5) != 0 || size > 1000 || (size > 5 && line[5] == '!'))
        return log_dump_line(dump, line, size);
    used += (size_t)snprintf(text, sizeof text, "sfu2 %02x ", number) - 5;
    memcpy(text + used, line + 5, size - 5);
    used += size - 5;
    for (i = 5; i < used; i++) {
        check ^= (unsigned)(unsigned char)text[i] << 8;
        for (bit = 0; bit < 8; bit++)
            check = (check << 1 ^ (check & 0x8000 ? 0x1021u : 0)) & 0xffff;
    }
    used += (size_t)snprintf(text + used, sizeof text - used, " %04x", check);
    return log_dump_line(dump, text, used);
}

/* Whether a word of the line comes so often ("*" and four digits) that reading it takes long. */
static bool is_bomb(const char *line, size_t size)
{
    size_t i, digits = 0;
    bool counts = false;

    for (i = 0; i < size && digits < 4; i++) {
        bool digit = (line[i] >= '0' && line[i] <= '9') || (line[i] >= 'a' && line[i] <= 'f');

        counts = line[i] == '*' || (counts && digit);
        digits = counts && digit ? digits + 1 : 0;
    }
    return digits == 4;
}

/* One of 64 logs may have such lines. */
static void read_log(const char *text, size_t size)
{
    struct log_dump dump;
    size_t at = 0;

    memset(&dump, 0, sizeof dump);
    while (at < size) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
        enum log_dump_event event = DUMP_MORE;
        struct log_line line;

        log_parse(text + at, length, &line);
        check_line(&line, text + at, length);
        if (line.kind == LOG_DUMP && (size % 64 == 0 || !is_bomb(text + at, length)))
            event = give_line(&dump, text + at + line.dump, length - line.dump);
        if (event == DUMP_DONE || event == DUMP_CUT)
            check_dump(&dump);
        if (event == DUMP_CUT)
            MUST(give_line(&dump, text + at + line.dump, length - line.dump) != DUMP_CUT);
        MUST(line.kind != LOG_DUMP || event != DUMP_DONE || !dump.open);
        at += length + 1;
    }
    log_dump_clear(&dump);
}

/* ---- Logs of other systems ------------------------------------------------------------------------------------- */

enum { MOST_LINE = 4095 };

/* A dump has ended: its words are in order once they are sorted, as its user does. */
static void end_foreign(struct dumps *d)
{
    size_t i;

    if (dumps_finish(d)) {
        log_dump_sort(&d->dump);
        for (i = 0; i + 1 < d->dump.num_words; i++)
            MUST(d->dump.words[i].addr <= d->dump.words[i + 1].addr);
    }
    dumps_clear(d);
}

static void take_foreign(void *ctx, const char *line, size_t size)
{
    struct dumps *d = ctx;
    struct named_address list[DUMPS_NAMED];
    bool first;

    if (size > MOST_LINE)
        return;
    if (dumps_ends(d, line, size))
        end_foreign(d);
    MUST(dumps_take(d, line, size, list) <= DUMPS_NAMED);
    MUST(dumps_addresses(d, line, size, list, &first) <= DUMPS_NAMED);
}

/* Some of port/host/log/formats.txt: one of each kind. */
static void add_formats(struct formats *formats)
{
    static const char *const lines[] = {
        "cpu any",
        "register pc pc rip mepc elr",
        "register sp sp rsp sp_el0",
        "register fp rbp",
        "register ra lr ra",
        "register psp psp",
        "register msp msp",
        "register exc_return exc_ret",
        "register xpsr xpsr",
        "register 3 r3",
        "register pc \"fault * at\"",
        "other cpsr",
        "stack stack:",
        "stack p/*)$*sp",
        "from Stack: (",
        "top = stack =",
        "list Call Trace",
        "calls Backtrace:",
        "returns called:",
        "frames AddrPC",
        "base ImageBase=",
        "moved Offset:",
        "linked (reloc)",
        "begin Oops",
        "row 0 R0:",
        "gdb 0 r0 r1 r2 r3 r4 sp lr pc",
        "between before fault",
    };
    size_t i;

    for (i = 0; i < sizeof lines / sizeof lines[0]; i++)
        MUST(formats_add_line(formats, lines[i]) == NULL);
    formats_sort(formats);
}

static void read_foreign(unsigned cpu, const char *text, size_t size)
{
    static const uint8_t abis[] = {SFU_AMD64,   SFU_AARCH64, SFU_S390X, SFU_RISCV64,
                                   SFU_RISCV32, SFU_THUMB,   SFU_I386};
    const uint8_t abi = abis[cpu % sizeof abis];
    const unsigned word = abi == SFU_RISCV32 || abi == SFU_THUMB || abi == SFU_I386 ? 4 : 8;
    struct formats formats;
    struct lines_names names;
    struct dumps d;
    size_t at, length;

    memset(&formats, 0, sizeof formats);
    add_formats(&formats);
    dumps_start(&d, &formats, abi, word, abi == SFU_S390X);
    names = (struct lines_names){&formats, d.cpu, word, false, 0};
    for (at = 0; at < size; at += length + 1) {
        const char *end = memchr(text + at, '\n', size - at);

        length = end != NULL ? (size_t)(end - text) - at : size - at;
        if (!mi_split(text + at, length, &names, take_foreign, &d) &&
            !json_split(text + at, length, &names, &d.unplaced, take_foreign, &d))
            lines_split(text + at, length, &names, take_foreign, &d);
    }
    end_foreign(&d);
    dumps_free(&d);
    formats_free(&formats);
}

/* Names lie in the text. What is found begins at or below the address, and nothing is found below the first one. */
static void read_map(const char *bytes, size_t size)
{
    char *text = malloc(size + 1);
    struct map map;
    size_t i;

    if (text == NULL)
        return;
    memcpy(text, bytes, size);
    MUST(map_parse(&map, text, size) == map.num && map.num <= size / 5 + 1);
    for (i = 0; i < map.num; i++) {
        const struct map_symbol *s = &map.list[i], *found = map_at(&map, s->addr);
        uint64_t addr;

        MUST(i == 0 || map.list[i - 1].addr <= s->addr);
        MUST(s->name >= text && s->name + strlen(s->name) <= text + size && s->name[0] != '\0');
        MUST(s->module == NULL || (s->module > s->name && s->module + strlen(s->module) <= text + size));
        MUST(found == NULL || (found->code && found->addr == s->addr));
        MUST(s->module != NULL || map_find(&map, s->name, &addr));
    }
    MUST(map.num == 0 || map.list[0].addr == 0 || map_at(&map, map.list[0].addr - 1) == NULL);
    map_free(&map);
}

/* ---- Crash records --------------------------------------------------------------------------------------------- */

/* The frames are in order, and those that are missing lie behind them. A record is found where it is, with its check
 * alone, and nothing is found in what does not hold one. */
static void check_record(const struct log_record *r)
{
    unsigned i;

    MUST(r->num_items <= LOG_RECORD_WORDS);
    for (i = 0; i < r->num_items; i++) {
        const struct log_item *item = &r->items[i];

        MUST(item->marks < 32 && item->length <= 32 && (item->times == 0 || item->length > 0));
        MUST(i == 0 || item->number >= r->items[i - 1].number);
        MUST(!item->relative || item->pc < 0x7fffffe);
    }
    MUST(r->missing <= UINT32_MAX);
}

static void read_records(uint8_t how, uint8_t *bytes, size_t size)
{
    static const uint8_t magic[] = {'s', 'f', 'u', '2'};
    bool big = how % 2 != 0;
    struct log_record record;
    size_t at, broken = 0, i;

    for (at = 0; log_record_find(bytes, size, big, &at, &record, &broken); at++)
        check_record(&record);
    if (size < LOG_RECORD_SIZE)
        return;
    at = (size - LOG_RECORD_SIZE) / 2;
    for (i = 0; i < 4; i++)
        bytes[at + i] = magic[big ? 3 - i : i];
    bytes[at + (big ? 14 : 15)] = 0; /* num, of 16 bits */
    bytes[at + (big ? 15 : 14)] %= LOG_RECORD_WORDS + 1;
    store_number(bytes + at + 4, 4, big, log_crc32(bytes + at + 8, LOG_RECORD_SIZE - 8));
    i = at;
    broken = 0;
    MUST(log_record_find(bytes, size, big, &i, &record, &broken) && i == at && broken == 0);
    check_record(&record);
    MUST(record.registers[0] == load_number(bytes + at + 72, 8, big));
    bytes[at + 50] ^= 1;
    i = at;
    MUST(!log_record_find(bytes, size, big, &i, &record, &broken) || i > at);
    MUST(broken > 0);
}

static void read_notes(uint8_t abi, const uint8_t *bytes, size_t size)
{
    struct core_notes notes;
    size_t i;

    memset(&notes, 0, sizeof notes);
    notes.abi = abi;
    (void)notes_read(&notes, bytes, size);
    for (i = 0; i < notes.num_files; i++) {
        const char *name = notes.files[i].name;

        MUST((const uint8_t *)name >= bytes && (const uint8_t *)name + strlen(name) < bytes + size);
    }
    MUST(notes.num_threads <= size / 12 && notes.num_files <= size / 24);
    notes_free(&notes);
}

/* ---- Page tables ----------------------------------------------------------------------------------------------- */

struct tables {
    const uint8_t *bytes;
    size_t size;
    unsigned reads;
};

static bool read_table(void *ctx, uint64_t physical, void *buffer, size_t len)
{
    struct tables *t = ctx;

    t->reads++;
    if (physical > t->size || t->size - physical < len)
        return false;
    memcpy(buffer, t->bytes + physical, len);
    return true;
}

/* A walk ends after an entry of each level. All bytes of the answer have the same one. */
static void walk_tables(uint8_t how, const uint8_t *bytes, size_t size)
{
    static const uint8_t pages[] = {12, 14, 16, 12}, widths[] = {48, 47, 42, 39};
    struct tables t = {bytes, size, 0};
    struct paging p = {.kind = PAGING_OFF + how % 4,
                       .lower = how / 16 % 2 != 0,
                       .big = how % 4 == 3,
                       .read = read_table,
                       .ctx = &t};
    uint64_t addr, physical = 0, other = 0, left, rest;
    bool found;

    if (size < 16)
        return;
    p.page = pages[how / 4 % 4];
    p.width = p.kind == PAGING_X86_64 ? (how & 4 ? 57 : 48) : widths[how / 4 % 4];
    addr = load_number(bytes, 8, false);
    p.root = load_number(bytes + 8, 8, false);
    found = paging_translate(&p, addr, &physical, &left);
    MUST(t.reads <= 5 && left >= 1 && left - 1 <= UINT64_MAX - addr);
    t.reads = 0;
    MUST(paging_translate(&p, addr + (left - 1), &other, &rest) == found && rest == 1 && t.reads <= 5);
    MUST(!found || other == physical + (left - 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy;

    if (size < 1)
        return 0;
    copy = malloc(size);
    if (copy == NULL)
        return 0;
    memcpy(copy, data + 1, size - 1);
    if (data[0] % 8 == 7)
        walk_tables(data[0] / 8, copy, size - 1);
    else if (data[0] % 8 == 6)
        read_map((const char *)copy, size - 1);
    else if (data[0] % 8 == 5)
        read_records(data[0] / 8, copy, size - 1);
    else if (data[0] % 8 == 0 && data[0] / 8 > 0)
        read_foreign(data[0] / 8u - 1, (const char *)copy, size - 1);
    else if (data[0] % 8 < SFU_AARCH64_BIG || data[0] % 8 > SFU_S390X)
        read_log((const char *)copy, size - 1);
    else
        read_notes(data[0] % 8, copy, size - 1);
    free(copy);
    return 0;
}
