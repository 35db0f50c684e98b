/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "table.h"
#include "abi.h"

#include <string.h>

enum { SORTED = 1, FRAME_POINTER = 2, FIELD = 4, MASK = 0x10, SIGNAL = 0x80 };

static int64_t get_signed(const uint8_t *p, unsigned size, bool big)
{
    uint64_t value = bytes_get(p, size, big);

    switch (size) {
    case 1:
        return (int8_t)value;
    case 2:
        return (int16_t)value;
    case 4:
        return (int32_t)value;
    default:
        return (int64_t)value;
    }
}

/* ---- Decoding -------------------------------------------------------------------------------------------------- */

static void read_header(struct table *t)
{
    const uint8_t *b = t->bytes;
    static const uint8_t sizes[] = {0, 17, 20, 16};

    t->big = b[0] == 0xde;
    t->version = b[2];
    t->abi = b[4];
    t->fdes = 28 + b[7] + (unsigned)bytes_get(b + 20, 4, t->big);
    t->fres = 28 + b[7] + (unsigned)bytes_get(b + 24, 4, t->big);
    t->end = t->fres + (unsigned)bytes_get(b + 16, 4, t->big);
    t->fde_size = sizes[t->version];
    t->address = t->version == 3 ? 8 : 4;
    t->num_fdes = (uint32_t)bytes_get(b + 8, 4, t->big);
}

static bool room(const struct table *t, unsigned at, unsigned size)
{
    return at <= t->end && size <= t->end - at;
}

/* The entry at F->at and, in V3, the attributes that it leads to. */
static bool read_fde(const struct table *t, struct table_fde *f)
{
    const uint8_t *p = t->bytes + f->at, *q = p + t->address;
    uint64_t rows = t->fres + bytes_get(q + 4, 4, t->big);

    f->start = t->addr + (uint64_t)get_signed(p, t->address, t->big) + (t->bytes[3] & FIELD ? f->at : 0);
    f->size = (uint32_t)bytes_get(q, 4, t->big);
    if (rows > t->end)
        return false;
    f->rows = (unsigned)rows;
    if (t->version < 3) {
        f->num_rows = (uint32_t)bytes_get(q + 8, 4, t->big);
        f->info = q[12] & 0x7f;
        f->type = 0;
        f->repeat = t->version == 1 ? 16 : q[13];
    } else {
        f->attributes = f->rows;
        f->rows += 5;
        if (!room(t, f->attributes, 5))
            return false;
        q = t->bytes + f->attributes;
        f->num_rows = (uint32_t)bytes_get(q, 2, t->big);
        f->info = q[2];
        f->type = q[3] & 31;
        f->repeat = q[4];
    }
    return (f->info & 15) <= 2 && f->type <= 1 && !(f->info & MASK && f->repeat == 0);
}

static int64_t word_of(const struct table *t, const struct table_row *r, unsigned i)
{
    return get_signed(t->bytes + r->words + i * r->size, r->size, t->big);
}

/* The offset from its base that word I of R gives the CFA. */
static int64_t cfa_offset(const struct table *t, const struct table_row *r, unsigned i)
{
    return t->abi == SFU_S390X ? 8 * word_of(t, r, i) + 160 : word_of(t, r, i);
}

/* Whether that of R in F, if it has one, fits a rule. In a flexible row it is behind the control word. */
static bool cfa_fits(const struct table *t, const struct table_fde *f, const struct table_row *r)
{
    int64_t offset;

    if (r->count <= f->type || (f->type == 1 && word_of(t, r, 0) == 0))
        return true;
    offset = cfa_offset(t, r, f->type);
    return offset >= INT32_MIN && offset <= INT32_MAX;
}

static bool read_rows(struct table *t, struct table_fde *f)
{
    unsigned at = f->rows, address = 1u << (f->info & 15);

    f->first = t->num_rows;
    for (f->decoded = 0; f->decoded < f->num_rows; f->decoded++) {
        struct table_row *r = &t->row[t->num_rows];

        if (t->num_rows == MAX_ROWS || !room(t, at, address + 1))
            return false;
        r->at = at;
        r->start = (uint32_t)bytes_get(t->bytes + at, address, t->big);
        r->info = t->bytes[at + address];
        r->count = r->info >> 1 & 15;
        r->size = 1u << (r->info >> 5 & 3);
        r->words = at + address + 1;
        if (r->size == 8 || !room(t, r->words, r->count * r->size))
            return false;
        at = r->words + r->count * r->size;
        t->num_rows++;
        if (!cfa_fits(t, f, r))
            return false;
    }
    return true;
}

void table_read(struct table *t, const uint8_t *bytes, size_t size, uint64_t addr)
{
    uint32_t number;

    t->bytes = bytes;
    t->size = size;
    t->addr = addr;
    read_header(t);
    number = t->num_fdes;
    t->complete = true;
    t->wraps = false;
    t->num_rows = 0;
    for (t->num_fdes = 0; t->num_fdes < number && t->num_fdes < MAX_FDES; t->num_fdes++) {
        struct table_fde *f = &t->fde[t->num_fdes];

        f->at = t->fdes + t->num_fdes * t->fde_size;
        f->num_rows = f->first = f->decoded = 0;
        if (!read_fde(t, f) || !read_rows(t, f))
            t->complete = false;
        if (f->size > 0 && f->start + (f->size - 1) < f->start)
            t->wraps = true;
    }
    if (t->num_fdes < number)
        t->complete = false;
}

bool table_overlaps(const struct table *t)
{
    for (unsigned i = 0; i < t->num_fdes; i++) {
        for (unsigned k = 0; k < t->num_fdes; k++)
            if (i != k && t->fde[i].size > 0 && t->fde[k].start - t->fde[i].start < t->fde[i].size &&
                t->fde[k].size > 0)
                return true;
    }
    return false;
}

unsigned table_empties(const struct table *t)
{
    unsigned n = 0;

    for (unsigned i = 0; i < t->num_fdes; i++)
        n += t->fde[i].size == 0;
    return n;
}

/* ---- Finding --------------------------------------------------------------------------------------------------- */

/* The rule for a value that is still in register REG, or saved at the header's FIXED offset. */
static struct sfu_rule unsaved(int8_t fixed, unsigned reg)
{
    struct sfu_rule in = {0, reg << 3 | 1}, at = {fixed, 2};

    return fixed != 0 ? at : in;
}

/* RA or FP of a default row, from word W. */
static struct sfu_rule saved(const struct table *t, int64_t w)
{
    struct sfu_rule at = {(int32_t)w, 2}, in = {0, 0};

    if (t->version == 2 && t->abi == SFU_S390X && w & 1) {
        in.control = (uint32_t)(w >> 1) << 3 | 1;
        return in;
    }
    return at;
}

static void default_rules(const struct table *t, const struct table_row *r, struct sfu_row *row)
{
    unsigned fp = t->abi == SFU_AMD64 ? 1 : 2;

    row->cfa.control = (r->info & 1 ? abis[t->abi].sp : abis[t->abi].fp) << 3 | 1;
    row->cfa.offset = (int32_t)cfa_offset(t, r, 0);
    if (fp == 2 && r->count > 1)
        row->ra = saved(t, word_of(t, r, 1));
    if (fp == 2 && r->count > 1 && t->abi == SFU_S390X && word_of(t, r, 1) == 0)
        row->ra = unsaved(0, abis[t->abi].ra);
    if (r->count > fp)
        row->fp = saved(t, word_of(t, r, fp));
}

static void flexible_rules(const struct table *t, const struct table_row *r, struct sfu_row *row)
{
    struct sfu_rule *rules[3] = {&row->cfa, &row->ra, &row->fp};
    unsigned i = 0;

    for (unsigned n = 0; n < 3 && i < r->count; n++) {
        uint32_t control = (uint32_t)bytes_get(t->bytes + r->words + i * r->size, r->size, t->big);

        if (control != 0 && i + 1 < r->count) {
            rules[n]->control = control;
            rules[n]->offset = (int32_t)(n == 0 ? cfa_offset(t, r, 1) : word_of(t, r, i + 1));
        }
        i += control != 0 ? 2 : 1;
    }
}

static void rules_of(const struct table *t, const struct table_fde *f, const struct table_row *r,
                     struct sfu_row *row)
{
    row->fp = unsaved((int8_t)t->bytes[5], abis[t->abi].fp);
    row->ra = unsaved((int8_t)t->bytes[6], abis[t->abi].ra);
    if (f->type == 0)
        default_rules(t, r, row);
    else
        flexible_rules(t, r, row);
}

/* The row of F for the PC at OFFSET in it, as an index, or -1. Every row is tried. */
static int row_index(const struct table *t, const struct table_fde *f, uint32_t offset)
{
    int found = -1;

    for (unsigned i = 0; i < f->decoded; i++)
        if (t->row[f->first + i].start <= offset)
            found = (int)i;
    return found;
}

static int find_in(const struct table *t, const struct table_fde *f, uint64_t pc, struct sfu_row *row)
{
    uint32_t offset = (uint32_t)(pc - f->start), block = 0, end = f->size;
    int i;

    if (f->info & MASK) {
        block = offset / f->repeat * f->repeat;
        offset -= block;
        end = f->size - block < f->repeat ? f->size - block : f->repeat;
    }
    memset(row, 0, sizeof *row);
    row->function = f->start;
    row->abi = (uint8_t)t->abi;
    row->trap_frame = (f->info & SIGNAL) != 0;
    row->start = f->start + block;
    row->length = end;
    if (f->num_rows == 0) {
        row->kind = row->trap_frame ? SFU_ROW_ASK : SFU_ROW_OUTERMOST;
        return t->version == 3 && (row->trap_frame || f->type == 0) ? SFU_OK : SFU_E_NO_ROW;
    }
    i = row_index(t, f, offset);
    if (i < 0)
        return SFU_E_NO_ROW;
    const struct table_row *r = &t->row[f->first + (unsigned)i];
    if ((unsigned)i + 1 < f->decoded && r[1].start < end)
        end = r[1].start;
    row->start += r->start;
    row->length = end - r->start;
    row->signed_ra = r->info & 0x80 && t->abi <= SFU_AARCH64;
    row->kind = r->count == 0 ? SFU_ROW_OUTERMOST : SFU_ROW_RULES;
    if (r->count > 0)
        rules_of(t, f, r, row);
    return SFU_OK;
}

int table_find(const struct table *t, uint64_t pc, struct sfu_row *row)
{
    for (unsigned i = 0; i < t->num_fdes; i++)
        if (pc - t->fde[i].start < t->fde[i].size)
            return find_in(t, &t->fde[i], pc, row);
    return SFU_E_NO_FDE;
}

/* ---- Sections that say the same -------------------------------------------------------------------------------- */

/* Which field each byte has been swapped in: its offset + 1; and that field's size. */
struct swapped {
    uint16_t by[MAX_SECTION];
    uint8_t size[MAX_SECTION];
};

static bool swap_field(uint8_t *bytes, struct swapped *done, unsigned at, unsigned size)
{
    if (done->by[at] == at + 1 && done->size[at] == size)
        return true;
    for (unsigned i = 0; i < size; i++) {
        if (done->by[at + i] != 0)
            return false;
        done->by[at + i] = (uint16_t)(at + 1);
        done->size[at + i] = (uint8_t)size;
    }
    for (unsigned i = 0; i < size / 2; i++) {
        uint8_t kept = bytes[at + i];

        bytes[at + i] = bytes[at + size - 1 - i];
        bytes[at + size - 1 - i] = kept;
    }
    return true;
}

static bool swap_rows(const struct table *t, const struct table_fde *f, uint8_t *bytes, struct swapped *done)
{
    unsigned address = 1u << (f->info & 15);

    for (unsigned i = 0; i < f->decoded; i++) {
        const struct table_row *r = &t->row[f->first + i];

        if (!swap_field(bytes, done, r->at, address) || !swap_field(bytes, done, r->at + address, 1))
            return false;
        for (unsigned w = 0; w < r->count; w++)
            if (!swap_field(bytes, done, r->words + w * r->size, r->size))
                return false;
    }
    return true;
}

static bool swap_fde(const struct table *t, const struct table_fde *f, uint8_t *bytes, struct swapped *done)
{
    unsigned at = f->at;
    bool ok = swap_field(bytes, done, at, t->address) && swap_field(bytes, done, at + t->address, 4) &&
              swap_field(bytes, done, at + t->address + 4, 4);

    if (t->version < 3)
        return ok && swap_field(bytes, done, at + 12, 4) && swap_field(bytes, done, at + 16, 1);
    return ok && swap_field(bytes, done, f->attributes, 2) && swap_field(bytes, done, f->attributes + 2, 1) &&
           swap_field(bytes, done, f->attributes + 3, 1) && swap_field(bytes, done, f->attributes + 4, 1);
}

bool table_swap_order(const struct table *t, uint8_t *bytes)
{
    static struct swapped done;

    for (unsigned at = t->end; at + 2 <= t->size; at++)
        if (bytes_get(bytes + at, 2, !t->big) == 0xdee2)
            return false;
    memset(done.by, 0, t->size * sizeof done.by[0]);
    swap_field(bytes, &done, 0, 2);
    for (unsigned at = 8; at < 28; at += 4)
        swap_field(bytes, &done, at, 4);
    for (unsigned i = 0; i < t->num_fdes; i++)
        if (!swap_fde(t, &t->fde[i], bytes, &done) || !swap_rows(t, &t->fde[i], bytes, &done))
            return false;
    return true;
}

bool table_relative(const struct table *t, uint8_t *bytes, bool field)
{
    for (unsigned i = 0; i < t->num_fdes; i++) {
        unsigned at = t->fde[i].at;
        int64_t start = (int64_t)(t->fde[i].start - t->addr - (field ? at : 0));

        if (t->version < 3 && (start < INT32_MIN || start > INT32_MAX))
            return false;
        bytes_put(bytes + at, t->address, t->big, (uint64_t)start);
    }
    bytes[3] = (uint8_t)((bytes[3] & ~FIELD) | (field ? FIELD : 0));
    return true;
}

void table_shuffle(const struct table *t, uint8_t *bytes, uint64_t how)
{
    uint8_t kept[20];

    for (unsigned i = t->num_fdes; i > 1; i--) {
        uint8_t *a = bytes + t->fde[i - 1].at;
        uint8_t *b = bytes + t->fde[how % i].at;

        memcpy(kept, a, t->fde_size);
        memmove(a, b, t->fde_size);
        memcpy(b, kept, t->fde_size);
        how = how * 6364136223846793005u + 1442695040888963407u;
    }
    bytes[3] &= (uint8_t)~SORTED;
}

/* ---- Sections from bytes --------------------------------------------------------------------------------------- */

void table_repair(uint8_t *b, size_t size, uint32_t how)
{
    static struct table t;
    bool big = how & 1;
    unsigned aux = how >> 1 & 7, version = 1 + (how >> 4) % 3, abi, fde_size, number, fres;

    if (size < 64)
        return;
    fde_size = version == 1 ? 17 : version == 2 ? 20 : 16;
    abi = 1 + (how >> 6) % (version == 1 ? 3 : 4);
    bytes_put(b, 2, big, 0xdee2);
    b[2] = (uint8_t)version;
    b[3] &= version == 1 ? SORTED : SORTED | FIELD;
    b[4] = (uint8_t)abi;
    b[7] = (uint8_t)aux;
    number = (unsigned)bytes_get(b + 8, 4, big) % (((unsigned)size - 28 - aux) / (fde_size + 4) + 1);
    fres = 28 + aux + number * fde_size;
    bytes_put(b + 8, 4, big, number);
    bytes_put(b + 16, 4, big, size - fres);
    bytes_put(b + 20, 4, big, 0);
    bytes_put(b + 24, 4, big, number * fde_size);
    for (unsigned i = 0; i < number; i++) {
        uint8_t *p = b + 28 + aux + i * fde_size + (version == 3 ? 12 : 8);

        bytes_put(p, 4, big, bytes_get(p, 4, big) % (size - fres + 1));
    }
    table_read(&t, b, size, 0);
    bytes_put(b + 12, 4, big, t.num_rows);
}

unsigned next_byte(struct source *in)
{
    if (in->size == 0)
        return 0;
    in->size--;
    return *in->p++;
}

struct sink {
    uint8_t *p;
    unsigned at, version, abi;
    bool big;
};

static void put(struct sink *out, unsigned size, uint64_t value)
{
    bytes_put(out->p + out->at, size, out->big, value);
    out->at += size;
}

static uint64_t any_word(struct source *in, unsigned size)
{
    uint64_t value = (uint64_t)(int64_t)(int8_t)next_byte(in);

    return size > 1 && value & 4 ? value * 113 : value;
}

/* Pairs for CFA, RA and FP, or fewer: by the bits of SHAPE. */
static unsigned put_flexible(struct source *in, struct sink *out, unsigned size, unsigned shape)
{
    unsigned count = 2;

    put(out, size, 1 | next_byte(in));
    put(out, size, any_word(in, size));
    if (shape & 1) {
        put(out, size, 1 | next_byte(in));
        put(out, size, any_word(in, size));
        count += 2;
    } else if (shape & 2) {
        put(out, size, 0);
        count++;
    }
    if (shape & 2) {
        put(out, size, 2 | next_byte(in));
        put(out, size, any_word(in, size));
        count += 2;
    }
    return count;
}

/* Rows for a function of LENGTH bytes (or repeated blocks of that many), at most 3. Returns how many. */
static unsigned put_rows(struct source *in, struct sink *out, unsigned address, uint32_t length, bool flexible)
{
    unsigned i, how = next_byte(in), number = how & 7;
    uint32_t start = how & 8 ? next_byte(in) % length : 0;

    for (i = 0; i < number && i < 3 && start < length; i++) {
        unsigned info = next_byte(in), size = 1u << (info >> 5) % 3, count, at;

        put(out, address, start);
        at = out->at;
        put(out, 1, 0);
        if ((info & 0x1e) == 0x1e && out->version > 1) {
            count = 0;
        } else if (flexible) {
            count = put_flexible(in, out, size, info >> 1);
        } else {
            count = 1 + (info >> 1) % (out->abi == SFU_AMD64 ? 2 : 3);
            for (unsigned w = 0; w < count; w++)
                put(out, size, any_word(in, size));
        }
        out->p[at] = (uint8_t)((info & 0x81) | count << 1 | (size >> 1) << 5);
        start += 1 + next_byte(in) % (length / 2 + 1);
    }
    return i;
}

/* One function: its FDE in ENTRY, its attributes and rows in OUT. Returns how many rows. */
static unsigned put_function(struct source *in, struct sink *out, struct sink *entry, unsigned fres, uint64_t start,
                             uint32_t size)
{
    unsigned how = next_byte(in), address = 1u << (how & 3) % 3, at = out->at, number;
    bool flexible = out->version == 3 && how & 4, masked = how & 8;
    unsigned repeat = out->version == 1 ? 16 : 1 + next_byte(in);
    unsigned info = ((how & 3) % 3) | (masked ? MASK : 0) | (how & 0x20);
    uint32_t length = masked && repeat < size ? repeat : size;

    if (out->version == 3)
        put(out, 5, 0);
    if (length == 0)
        length = 1;
    if (address == 1 && length > 256)
        length = 256;
    number = put_rows(in, out, address, length, flexible);
    put(entry, entry->version == 3 ? 8 : 4, start);
    put(entry, 4, size);
    put(entry, 4, at - fres);
    if (out->version == 3) {
        struct sink attributes = *out;

        attributes.at = at;
        put(&attributes, 2, number);
        put(&attributes, 1, info | (how & SIGNAL));
        put(&attributes, 1, flexible);
        put(&attributes, 1, repeat);
    } else {
        put(entry, 4, number);
        put(entry, 1, info);
        if (out->version == 2)
            put(entry, 3, (uint64_t)repeat << (out->big ? 16 : 0));
    }
    return number;
}

size_t table_generate(const uint8_t *input, size_t size, uint8_t *out)
{
    struct source in = {input, size};
    unsigned how = next_byte(&in), more = next_byte(&in), number = 1 + (more & 7), rows = 0, fde_size, fres;
    struct sink table = {out, 0, 1 + (how >> 1) % 3, 0, how & 1}, entry;
    uint64_t start = (uint64_t)(int64_t)(int8_t)next_byte(&in) << (how >> 3 & 3) * (table.version == 3 ? 8 : 7);

    table.abi = 1 + (how >> 5) % (table.version == 1 ? 3 : 4);
    fde_size = table.version == 1 ? 17 : table.version == 2 ? 20 : 16;
    memset(out, 0, MAX_SECTION);
    entry = table;
    entry.at = 28 + (more >> 3 & 3);
    fres = table.at = entry.at + number * fde_size;
    for (unsigned i = 0; i < number; i++) {
        unsigned gap = next_byte(&in);
        uint32_t length = next_byte(&in) * (gap & 1 ? 257 : 1);
        bool field = table.version > 1 && more & 0x20;

        start += gap >> 1;
        rows += put_function(&in, &table, &entry, fres, start - (field ? entry.at : 0), length);
        start += length;
    }
    fde_size = table.at;
    table.at = 0;
    put(&table, 2, 0xdee2);
    put(&table, 1, table.version);
    put(&table, 1, SORTED | (table.version > 1 && more & 0x20 ? FIELD : 0));
    put(&table, 1, table.abi);
    put(&table, 1, more & 0x40 ? 0xf0 : 0);
    put(&table, 1, table.abi == SFU_AMD64 ? 0xf8 : 0);
    put(&table, 1, more >> 3 & 3);
    put(&table, 4, number);
    put(&table, 4, rows);
    put(&table, 4, fde_size - fres);
    put(&table, 4, 0);
    put(&table, 4, fres - 28 - (more >> 3 & 3));
    return fde_size;
}
