/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Compresses text of several kinds at every level and strategy, and takes it apart again, piece by piece. */
#include <string.h>
#include <zlib.h>
#include "step.h"

enum { PHASES = 3000, SIZE = 24000 };

void step_signals(void);

static unsigned char text[SIZE], packed[2 * SIZE], again[SIZE];
static unsigned seed = 1;

static unsigned chance(unsigned n)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % n;
}

static void make_text(unsigned kind, unsigned size)
{
    static const char *const words[] = {"section ", "function ", "row ", "rule ",
                                        "frame ",   "caller\n",  "a ",   "the "};
    unsigned i = 0;

    while (i < size) {
        const char *w = words[chance(8)];

        if (kind % 4 == 0)
            text[i++] = (unsigned char)chance(256);
        else if (kind % 4 == 1)
            text[i++] = (unsigned char)('a' + (i / 100) % 3);
        else
            while (*w != '\0' && i < size)
                text[i++] = (unsigned char)*w++;
    }
}

/* One stream after the other; one piece of it is a phase. */
enum stage { FRESH, PACK, UNPACK, COMPARE };

struct state {
    z_stream z;
    enum stage stage;
    unsigned streams, size, piece;
};

static int begin(struct state *s)
{
    unsigned i = s->streams++;

    s->size = 500 + i * 37 % 8000;
    s->piece = 100 + i * 131 % 1500;
    make_text(i, s->size);
    memset(&s->z, 0, sizeof s->z);
    s->z.next_in = text;
    s->z.next_out = packed;
    s->z.avail_out = sizeof packed;
    s->stage = PACK;
    return deflateInit2(&s->z, (int)(i % 10), Z_DEFLATED, 10 + (int)(i % 4), 1 + (int)(i % 3), (int)(i / 10 % 5)) !=
           Z_OK;
}

static int pack(struct state *s)
{
    unsigned left = (unsigned)(text + s->size - s->z.next_in), packed_size;
    int code;

    s->z.avail_in = left < s->piece ? left : s->piece;
    code = deflate(&s->z, left <= s->piece ? Z_FINISH : chance(4) == 0 ? Z_SYNC_FLUSH : Z_NO_FLUSH);
    if (code == Z_OK)
        return 0;
    packed_size = (unsigned)s->z.total_out;
    if (code != Z_STREAM_END || deflateEnd(&s->z) != Z_OK)
        return 1;
    s->z.next_in = packed;
    s->z.avail_in = packed_size;
    s->z.next_out = again;
    s->stage = UNPACK;
    return inflateInit2(&s->z, 15) != Z_OK;
}

static int unpack(struct state *s)
{
    unsigned left = (unsigned)(again + s->size - s->z.next_out);
    int code;

    s->z.avail_out = left < s->piece ? left : s->piece;
    code = inflate(&s->z, Z_NO_FLUSH);
    if (code == Z_OK)
        return 0;
    s->stage = COMPARE;
    return code != Z_STREAM_END || s->z.total_out != s->size || inflateEnd(&s->z) != Z_OK;
}

static int compare(struct state *s)
{
    s->stage = FRESH;
    return memcmp(text, again, s->size) != 0 || crc32(0, text, s->size) != crc32(0, again, s->size);
}

int step_main(void)
{
    static int (*const stages[])(struct state *) = {begin, pack, unpack, compare};
    static struct state state;
    int failures = 0;
    unsigned i;

    for (i = 0; i < PHASES; i++) {
        step_mark(i, PHASES);
        failures += stages[state.stage](&state);
    }
    return failures;
}
