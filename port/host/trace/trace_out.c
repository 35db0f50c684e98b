/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* How sfu-trace prints lines and places in the code. */
#include "trace_out.h"
#include "common/report.h"
#include "images/symbols.h"
#include "machine/space.h"

#include <inttypes.h>
#include <stdarg.h>

void out_line(const struct trace_out *out, const char *format, ...)
{
    char line[2048];
    const char *text = line;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (out->midline != NULL && *out->midline) {
        putc('\n', out->file);
        *out->midline = false;
    }
    for (; *text == '\n'; text++)
        putc('\n', out->file);
    fprintf(out->file, "%s%s%s", out->indent, printable(text), out->eol);
    if (out->said != NULL)
        *out->said = true;
}

/* A place while it is printed. */
struct place {
    const struct trace_out *out;
    const char *symbol; /* what the symbols say, for code whose function debug information does not name */
    char image[128];    /* " [module.ko]", but of the first one */
};

static void print_function(void *ctx, const char *function, const char *file, int line, bool inlined)
{
    const struct place *p = ctx;
    const char *name = function != NULL ? function : p->symbol != NULL ? p->symbol : "??";

    if (file != NULL && line > 0)
        out_line(p->out, "        %s%s at %s:%d%s", inlined ? "(inlined by) " : "", name, file, line, p->image);
    else
        out_line(p->out, "        %s%s at %s:?%s", inlined ? "(inlined by) " : "", name, file != NULL ? file : "??",
                 p->image);
}

void out_place_in(const struct trace_out *out, const struct trace_images *images, struct trace_image *image,
                  uint64_t addr)
{
    struct place place = {out, NULL, ""};
    struct function_name symbol;

    (void)images_name(images, image, addr, &symbol);
    place.symbol = symbol.name;
    if (image != images->list[0])
        snprintf(place.image, sizeof place.image, " [%.100s]", image->name);
    if (symbols_find(image, addr, print_function, &place) > 0)
        return;
    if (symbol.name != NULL)
        out_line(out, "        %s+0x%" PRIx64 " (no line)%s", symbol.name, symbol.offset, place.image);
    else
        out_line(out, "        no symbol at 0x%" PRIx64 "%s", addr, place.image);
}

/* Says that run-time address LOOKUP lies in no image. No slide makes another address of a null pointer. */
static void out_nowhere(const struct trace_out *out, uint64_t lookup)
{
    if (lookup < NULL_PAGE)
        out_line(out, "        no code: a null pointer has been called");
    else
        out_line(out, "        in no image");
}

bool is_exception_return(const struct trace_images *images, uint64_t pc)
{
    struct function_name symbol;

    return images->num > 0 && cortexm_is_return(images->list[0]->image.abi, pc) && (pc & 2) == 0 &&
           images_at(images, pc) == NULL && !images_name(images, NULL, pc, &symbol);
}

bool out_exception_return(const struct trace_out *out, const struct trace_images *images, uint64_t pc)
{
    const bool is = is_exception_return(images, pc);

    if (is)
        out_line(out, "        %s", EXCEPTION_RETURN);
    return is;
}

void out_place(const struct trace_out *out, const struct trace_images *images, uint64_t lookup)
{
    struct trace_image *image = images_at(images, lookup);
    struct function_name symbol;

    if (image != NULL)
        out_place_in(out, images, image, lookup - image->slide);
    else if (images_name(images, NULL, lookup, &symbol))
        out_line(out, "        %s+0x%" PRIx64 " (no line)%s%s%s", symbol.name, symbol.offset,
                 symbol.module != NULL ? " [" : "", symbol.module != NULL ? symbol.module : "",
                 symbol.module != NULL ? "]" : "");
    else
        out_nowhere(out, lookup);
}
