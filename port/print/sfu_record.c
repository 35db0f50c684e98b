/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_record.h"

/*
 * A word is five bits and, above them, a number:
 *   marks, PC - start of the image      a frame
 *   marks, ELSEWHERE                    a frame; two words with its PC follow, the low one first
 *   length of the cycle - 1, REPEATED   the frames before come again; a word with the number of times follows
 */
enum { RECORD_MAGIC = 0x32756673, ELSEWHERE = 0x7ffffff, REPEATED = 0x7fffffe, BITS = 5 };
enum { RELIABLE = 1, BEGINS_EXACT = 2 }; /* flags */

static uint32_t checksum(const struct sfu_record *record)
{
    const uint8_t *bytes = (const uint8_t *)record, *p; /* without offsetof, which not each kernel's stddef.h has */
    uint32_t sum = 0xffffffff;
    unsigned bit;

    for (p = (const uint8_t *)&record->code; p < bytes + sizeof *record; p++) {
        sum ^= *p;
        for (bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xedb88320 : 0);
    }
    return ~sum;
}

/* Volatile: the compiler must neither drop nor reorder accesses to the memory of a record. */
static void copy(volatile void *to, const volatile void *from)
{
    volatile uint8_t *t = (volatile uint8_t *)to;
    const volatile uint8_t *f = (const volatile uint8_t *)from;
    unsigned i;

    for (i = 0; i < sizeof(struct sfu_record); i++)
        t[i] = f[i];
}

/* Volatile: the compiler must not call memset. */
static void clear(struct sfu_record *record)
{
    volatile uint8_t *bytes = (volatile uint8_t *)record;
    unsigned i;

    for (i = 0; i < sizeof *record; i++)
        bytes[i] = 0;
}

/* ---- Writing --------------------------------------------------------------------------------------------------- */

struct writer {
    struct sfu_record record;
    sfu_addr start;
    bool full;
};

static uint32_t packed(uint32_t number, uint32_t bits)
{
    return number << BITS | bits;
}

static void add(void *ctx, const struct sfu_print_item *item)
{
    struct writer *w = (struct writer *)ctx;
    struct sfu_record *record = &w->record;
    uint32_t words[3] = {packed(ELSEWHERE, item->marks), (uint32_t)item->pc, (uint32_t)((uint64_t)item->pc >> 32)};
    unsigned num = 3, i;

    if (record->total == 0)
        record->first = item->number;
    record->total = item->number + 1;
    if (item->times != 0) {
        words[0] = packed(REPEATED, item->length - 1);
        words[1] = item->times;
        num = 2;
        record->total = item->number + item->length * item->times;
    } else if (item->pc >= w->start && item->pc - w->start < REPEATED) {
        words[0] = packed((uint32_t)(item->pc - w->start), item->marks);
        num = 1;
    }
    w->full = w->full || num > SFU_RECORD_WORDS - (unsigned)record->num;
    for (i = 0; i < num && !w->full; i++)
        record->words[record->num++] = words[i];
}

int sfu_record_write(volatile struct sfu_record *record, struct sfu_panic *panic, sfu_addr image_start,
                     const struct sfu_registers *top)
{
    struct writer writer;

    if (panic->busy != 0)
        return SFU_E_STACK;
    panic->busy = 1;
    writer.start = image_start;
    writer.full = false;
    clear(&writer.record);
    writer.record.registers[0] = top->pc;
    writer.record.registers[1] = top->sp;
    writer.record.registers[2] = top->fp;
    writer.record.registers[3] = top->has_ra ? top->ra : 0;
    writer.record.code = sfu_print_walk(panic, top, add, &writer);
    writer.record.flags =
        (uint16_t)((panic->walk.frame.reliable ? RELIABLE : 0) | (top->pc_kind == SFU_PC_EXACT ? BEGINS_EXACT : 0));
    writer.record.check = checksum(&writer.record);
    copy(record, &writer.record);
    record->magic = RECORD_MAGIC;
    panic->busy = 0;
    return writer.record.code;
}

/* ---- Reading --------------------------------------------------------------------------------------------------- */

static enum sfu_record_state state_of(const struct sfu_record *record)
{
    if (record->magic != RECORD_MAGIC)
        return SFU_RECORD_NONE;
    return record->check == checksum(record) && record->num <= SFU_RECORD_WORDS ? SFU_RECORD_GOOD
                                                                                : SFU_RECORD_CORRUPT;
}

enum sfu_record_state sfu_record_check(const volatile struct sfu_record *record)
{
    struct sfu_record own;

    copy(&own, record);
    return state_of(&own);
}

/* Word I of RECORD. Zeros follow an item that is cut. */
static uint32_t word_of(const struct sfu_record *record, unsigned i)
{
    return i < record->num ? record->words[i] : 0;
}

static void print_items(const struct sfu_record *record, const struct sfu_panic *panic, sfu_addr start)
{
    struct sfu_print_item item;
    unsigned i;

    item.number = record->first;
    item.size = 0;
    for (i = 0; i < record->num; i++) {
        uint32_t word = record->words[i];
        uint32_t number = word >> BITS;

        item.marks = word & ((1u << BITS) - 1);
        item.length = item.marks + 1;
        item.times = number == REPEATED ? word_of(record, ++i) : 0;
        item.pc = start + number;
        if (number == ELSEWHERE) {
            item.pc = (sfu_addr)(word_of(record, i + 1) | (uint64_t)word_of(record, i + 2) << 32);
            i += 2;
        }
        item.lookup = item.pc;
        if ((item.marks & SFU_PRINT_INTERRUPTED) == 0 && (item.number != 0 || (record->flags & BEGINS_EXACT) == 0))
            item.lookup--;
        sfu_print_line(panic, &item);
        item.number += item.times != 0 ? item.length * item.times : 1;
    }
    if (item.number < record->total) {
        sfu_print_number(panic, "    ... ", record->total - item.number, 10, 1);
        sfu_print_text(panic, " more frames, not recorded\n");
    }
}

enum sfu_record_state sfu_record_print(const volatile struct sfu_record *record, const struct sfu_panic *panic,
                                       sfu_addr image_start)
{
    static const char names[4][8] = {": pc 0x", " sp 0x", " fp 0x", " ra 0x"};
    struct sfu_record own;
    enum sfu_record_state state;
    unsigned i;

    copy(&own, record);
    state = state_of(&own);
    if (state == SFU_RECORD_CORRUPT)
        sfu_print_text(panic, "crash record: corrupt\n");
    if (state != SFU_RECORD_GOOD)
        return state;
    sfu_print_text(panic, "crash record");
    for (i = 0; i < 4; i++)
        sfu_print_number(panic, names[i], own.registers[i], 16, SFU_PRINT_DIGITS);
    sfu_print_text(panic, "\n");
    sfu_print_slide(panic);
    print_items(&own, panic, image_start);
    sfu_print_end(panic, own.code, (own.flags & RELIABLE) != 0);
    return state;
}

void sfu_record_clear(volatile struct sfu_record *record)
{
    record->magic = 0;
}
