/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu-trace's walk of a stopped thread, and how its frames are printed. */
#include "common/calls.h"
#include "tables/cfi.h"
#include "trace.h"

#include <inttypes.h>
#include <string.h>

/* ---- Callbacks ------------------------------------------------------------------------------------------------- */

static int read_stack(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    return space_read(ctx, addr, buffer, len) ? 0 : -1;
}

static int read_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *value)
{
    const struct trace_space *space = ctx;
    const uint64_t at = (uint64_t)reg * abi_registers(space->abi)->word;
    bool known = false;

    if (reg >= REGISTER_PC)
        return -1;
    if (frame->interrupted && space->saved == SAVED_LINUX)
        known = linux_saved(space, space->saved_at, reg, value);
    else if (frame->interrupted && space->saved == SAVED_CORTEXM)
        known = cortexm_saved(space, space->saved_at, reg, value);
    else if (frame->interrupted && space->saved == SAVED_ARRAY)
        known = space->saved_at <= UINT64_MAX - at && space_word(space, space->saved_at + at, value);
    else if (frame->depth == 0)
        known = space->regs.known[reg];
    if (frame->depth == 0 && known)
        *value = space->regs.value[reg];
    return known ? 0 : -1;
}

static int cross_trap(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    struct trace_space *space = ctx;

    if (frame->regs.pc_kind == SFU_PC_RETURN && cortexm_is_return(space->abi, frame->regs.pc))
        return cortexm_trap(space, frame, interrupted);
    return linux_trap(ctx, frame, code, interrupted);
}

/* Notes RA, bit 0 of which the core takes away. Replaces nothing. */
static bool note_ra(void *ctx, const struct sfu_frame *frame, uint64_t slot, uint64_t *ra)
{
    struct trace_space *space = ctx;

    (void)frame;
    space->last_ra = *ra;
    space->ra_on_stack = slot != 0;
    return false;
}

/* ---- Walk ------------------------------------------------------------------------------------------------------ */

struct trace_walk {
    const struct trace_out *out;
    struct trace_space *space;
    struct sfu_target target;
    struct sfu_walk walk;
    const char *how; /* the frame was found */
    bool user;       /* the frame is a user program's */
    bool jumped; /* a jump has led to the first frame's PC, in a function whose rows say nothing of who jumped */
};

void trace_space_init(struct trace_space *space, struct trace_options *options, uint8_t abi)
{
    memset(space, 0, sizeof *space);
    space->images = &options->images;
    space->abi = abi;
    space->pac_mask = options->pac_mask;
    space->max_frames = options->max_frames;
    space->red_zone = options->red_zone > 0 ? (uint16_t)options->red_zone : 0;
    space->frame_pointers = options->frame_pointers;
    space->sizes = options->sizes;
    space->halted = true;
}

/* Finds out whether the frame is a user program's. A walk that has come to user mode stays there, because no kernel
 * calls a user program. */
static void set_mode(struct trace_walk *w)
{
    const struct trace_image *image = images_at(w->space->images, sfu_lookup_pc(&w->walk.frame.regs));

    w->user = image != NULL ? image->user : w->user && w->walk.frame.depth > 0;
    if (w->space->in_user != NULL)
        *w->space->in_user = w->user;
}

/* Whether a jump has led into a function, behind its start: a row there holds for who has come through the code in
 * front of it. */
static bool is_jumped_into(const struct trace_space *space, uint64_t pc)
{
    struct trace_image *image = images_at(space->images, pc);
    struct function_name found;

    return space->jumped && image != NULL &&
           !(images_name(space->images, image, pc - image->slide, &found) && found.offset == 0);
}

static void start(struct trace_walk *w, uint8_t pc_kind)
{
    const struct trace_space *space = w->space;
    const struct registers *r = abi_registers(space->abi);
    struct sfu_registers top = {
        space->regs.value[REGISTER_PC], space->regs.value[r->sp], space->regs.value[r->fp], 0, pc_kind, false};
    size_t i;

    if (r->link) {
        top.ra = space->regs.value[r->ra];
        top.has_ra = space->regs.known[r->ra];
    }
    /* What an earlier walk has added is in the list of its own target. */
    for (i = 0; i < space->images->num; i++)
        space->images->list[i]->own.added = space->images->list[i]->cfi.added =
            space->images->list[i]->debug_cfi.added = space->images->list[i]->code.added = false;
    memset(&w->target, 0, sizeof w->target);
    w->target.read = read_stack;
    w->target.reg = read_register;
    w->target.trap_hook = cross_trap;
    w->target.original_ra = note_ra;
    w->target.stack.high = UINT64_MAX; /* because nobody has said where stacks are; a read of no memory fails */
    w->target.ctx = w->space;
    w->target.pac_mask = space->pac_mask;
    w->target.max_frames = space->max_frames;
    w->target.red_zone = space->red_zone;
    w->target.frame_pointers = space->frame_pointers;
    sfu_walk_start(&w->walk, &w->target, &top);
    w->how = "first";
    w->jumped = is_jumped_into(space, top.pc);
    set_mode(w);
    w->space->saved = SAVED_NOWHERE;
    w->space->target = &w->target;
    w->space->lacks_psp = w->space->in_exception = w->space->in_thread = false;
}

static bool is_described(const struct trace_walk *w)
{
    struct sfu_row row;

    return sfu_find_frame(&w->target, &w->walk.frame, &row) == SFU_OK;
}

/* Adds tables, which are opened, checked and sorted. Their text is put back, because sfu_add forgets it. */
static bool add_section_of(struct trace_walk *w, struct tables_of *tables)
{
    struct sfu_section *s = &tables->section;
    struct sfu_range text = s->text;

    if (sfu_add(&w->target.sections, s, 1, tables->bytes, tables->size, s->addr) != SFU_OK)
        return false;
    s->text = text;
    return true;
}

/* Adds TABLES, which are asked after the image's own, and after those made of its CFI. sfu_add puts a section in front
 * of all others, so these are taken out meanwhile. */
static void add_behind(struct trace_walk *w, struct trace_image *image, struct tables_of *tables)
{
    struct tables_of *const before[] = {&image->debug_cfi, &image->cfi, &image->own};
    size_t i;

    for (i = 0; i < 3; i++)
        if (before[i]->added)
            (void)sfu_remove(&w->target.sections, &before[i]->section, 1);
    tables->added = add_section_of(w, tables);
    for (i = 0; i < 3; i++)
        if (before[i] != tables && before[i]->added)
            (void)add_section_of(w, before[i]);
}

/* The return address that a call through a wild pointer has left, if the frame's PC is where that led to: in the link
 * register, or in the word at SP. Returns false if there is none. */
static bool ra_of_wild(const struct trace_walk *w, uint64_t *ra)
{
    const struct sfu_registers *regs = &w->walk.frame.regs;

    *ra = regs->ra;
    if (regs->pc_kind != SFU_PC_EXACT)
        return false;
    return abi_registers(w->space->abi)->link ? regs->has_ra : space_word(w->space, regs->sp, ra);
}

/* Adds the best tables that IMAGE has, if it has no table in the list. */
static void add_one(struct trace_walk *w, struct trace_image *image)
{
    if (!image->placed || image->own.added || image->cfi.added || image->debug_cfi.added || image->code.added)
        return;
    if (image_open_own(image))
        image->own.added = add_section_of(w, &image->own);
    else if (image_open_cfi(image))
        add_behind(w, image, &image->cfi);
    else if (image_open_debug_cfi(image))
        add_behind(w, image, &image->debug_cfi);
    else if (image_open_code(image))
        add_behind(w, image, &image->code);
}

/* The text of TABLES is one range, from the first code of IMAGE to the last; that of a relocatable object is
 * everything.
 * What lies between code and is none, such as data, is left out of it while the walk is at PC: of the two parts, the
 * one with the return address RA stays. */
static void leave_out_data(const struct trace_image *image, struct tables_of *tables, uint64_t pc, uint64_t ra)
{
    const struct section *code = image_is_object(image) ? image_section(&image->image, ".text") : NULL;
    struct sfu_range *text = &tables->section.text;

    if (!tables->added)
        return;
    if (code != NULL) {
        text->low = code->addr + image->slide;
        text->high = text->low + code->size;
    }
    if (pc < text->low || pc >= text->high)
        return;
    if (ra > pc)
        text->low = pc + 1;
    else
        text->high = pc;
}

/* Adds tables for a frame that is in no image. The core asks the trap hook, guesses who called through a wild pointer,
 * and believes a frame record, only if some table says which ABI this is; and a wild call only if it knows the text of
 * the caller, and PC is in no text. */
static void add_for_wild(struct trace_walk *w)
{
    const struct trace_images *images = w->space->images;
    uint64_t pc = sfu_lookup_pc(&w->walk.frame.regs), ra;
    bool called = ra_of_wild(w, &ra);
    struct trace_image *caller = called ? images_at(images, ra - SFU_PC_RETURN) : NULL;
    size_t i;

    if (caller != NULL)
        add_one(w, caller);
    for (i = 0; i < images->num && w->target.sections == NULL; i++)
        add_one(w, images->list[i]);
    for (i = 0; i < images->num && caller != NULL; i++) {
        leave_out_data(images->list[i], &images->list[i]->own, pc, ra);
        leave_out_data(images->list[i], &images->list[i]->cfi, pc, ra);
        leave_out_data(images->list[i], &images->list[i]->debug_cfi, pc, ra);
        leave_out_data(images->list[i], &images->list[i]->code, pc, ra);
    }
}

/* Undoes leave_out. */
static void restore_text(struct trace_walk *w)
{
    const struct trace_images *images = w->space->images;
    size_t i;

    for (i = 0; i < images->num; i++) {
        struct trace_image *image = images->list[i];

        image->own.section.text = image->own.text;
        image->cfi.section.text = image->cfi.text;
        image->debug_cfi.section.text = image->debug_cfi.text;
        image->code.section.text = image->code.text;
    }
}

/* Adds the tables of the image that the frame is in, as far as they are needed, because making tables of CFI takes much
 * longer than a walk. Its own are asked before what its CFI says. */
static void add_tables(struct trace_walk *w)
{
    struct trace_image *image = images_at(w->space->images, sfu_lookup_pc(&w->walk.frame.regs));

    if (image == NULL || (w->jumped && w->walk.frame.depth == 0)) {
        add_for_wild(w);
        return;
    }
    if (!image->own.added && image_open_own(image))
        image->own.added = add_section_of(w, &image->own);
    if (!image->cfi.added && !is_described(w) && image_open_cfi(image))
        add_behind(w, image, &image->cfi);
    if (!image->debug_cfi.added && !is_described(w) && image_open_debug_cfi(image))
        add_behind(w, image, &image->debug_cfi);
    if (!image->code.added && !is_described(w) && image_open_code(image))
        add_behind(w, image, &image->code);
}

/* Whose row the frame's is: by name, and where the row is that of a trap, or of a leaf. */
static const struct source {
    const char *row, *trap, *leaf;
} sources[] = {{".sframe", "trap by .sframe", "leaf by .sframe"},
               {"CFI", "trap by CFI", "leaf by CFI"},
               {"code", "trap by code", "leaf by code"}};

static bool has_row(const struct tables_of *tables, uint64_t pc)
{
    struct sfu_row row;

    return tables->added && sfu_find(&tables->section, pc, &row) == SFU_OK;
}

static const struct source *source_of(const struct trace_image *image, uint64_t pc)
{
    if (image != NULL && has_row(&image->own, pc))
        return &sources[0];
    return image != NULL && !has_row(&image->cfi, pc) && !has_row(&image->debug_cfi, pc) &&
                   has_row(&image->code, pc)
               ? &sources[2]
               : &sources[1];
}

/* What the caller of the frame is found by, if it is found by a row. */
static const char *name_of_row(const struct trace_walk *w)
{
    uint64_t pc = sfu_lookup_pc(&w->walk.frame.regs);
    const struct source *source = source_of(images_at(w->space->images, pc), pc);
    const struct registers *r = abi_registers(w->space->abi);
    struct sfu_row row;

    if (sfu_find_frame(&w->target, &w->walk.frame, &row) != SFU_OK || row.kind != SFU_ROW_RULES)
        return cortexm_is_return(w->space->abi, w->walk.frame.regs.pc) ? "exception frame" : "signal frame";
    if (row.trap_frame)
        return source->trap;
    if (r->link && row.ra.control == (r->ra << RULE_NUMBER | RULE_REGISTER))
        return source->leaf;
    return source->row;
}

/* Finds out where the registers are that the frame FROM, by ROW if it is not NULL, has saved of the one that the
 * walk has now come to. An exception entry may have saved them by their DWARF numbers (arch/sfu_arch.h): FP's slot,
 * which the row names, and SP's must be where they belong; otherwise these words are something else. */
static void find_saved(struct trace_walk *w, const struct sfu_frame *from, const struct sfu_row *row)
{
    const struct registers *r = abi_registers(w->space->abi);
    struct trace_space *space = w->space;
    uint64_t slot, array, sp;

    space->saved = SAVED_NOWHERE;
    if (!w->walk.frame.interrupted)
        return;
    if (linux_crossed(space, from, row != NULL, &w->walk.frame, &space->saved_at)) {
        space->saved = SAVED_LINUX;
        return;
    }
    if (cortexm_is_return(space->abi, from->regs.pc)) {
        space->saved = SAVED_CORTEXM;
        space->saved_at = w->walk.frame.saved;
        return;
    }
    if (row == NULL || row->fp.control != (r->sp << RULE_NUMBER | RULE_REGISTER | RULE_DEREFERENCE) ||
        row->fp.offset < 0 || (uint64_t)row->fp.offset > UINT64_MAX - from->regs.sp)
        return;
    slot = from->regs.sp + (uint64_t)row->fp.offset;
    if (slot < (uint64_t)r->word * r->fp)
        return;
    array = slot - (uint64_t)r->word * r->fp;
    if (!space_word(space, array + (uint64_t)r->word * r->sp, &sp) || sp != w->walk.frame.regs.sp)
        return;
    space->saved = SAVED_ARRAY;
    space->saved_at = array;
}

static int step_walk(struct trace_walk *w)
{
    struct sfu_frame from = w->walk.frame;
    struct sfu_row row;
    const char *how;
    bool found;
    int code;

    add_tables(w);
    how = name_of_row(w);
    found = sfu_find_frame(&w->target, &from, &row) == SFU_OK && row.kind == SFU_ROW_RULES;
    w->space->ra_on_stack = false;
    code = sfu_walk_step(&w->walk);
    restore_text(w);
    if (code != SFU_OK)
        return code;
    if (w->walk.frame.guess == SFU_GUESS_CALL)
        how = "wild call";
    else if (w->walk.frame.guess != SFU_GUESS_NONE && !cortexm_is_return(w->space->abi, from.regs.pc))
        how = "frame pointer";
    w->how = how;
    set_mode(w);
    find_saved(w, &from, found ? &row : NULL);
    return SFU_OK;
}

/* Whether a frame without an image may be a user program's: it was interrupted, and lies in the other half than the
 * kernel. Of s390x nothing is known of that. */
static bool may_be_user(const struct trace_walk *w)
{
    const struct trace_images *images = w->space->images;
    const struct sfu_frame *f = &w->walk.frame;
    const struct trace_image *kernel = images->num > 0 ? images->list[0] : NULL;
    const struct section *last;

    if (!w->space->machine || !f->interrupted || f->regs.pc < NULL_PAGE || kernel == NULL ||
        kernel->image.num_code == 0)
        return false;
    last = kernel->image.code[kernel->image.num_code - 1]; /* because code of the boot lies lower */
    return w->space->abi == SFU_S390X || (f->regs.pc >> 63 == 0 && (last->addr + kernel->slide) >> 63 == 1);
}

static void print_frame(const struct trace_walk *w)
{
    const struct sfu_frame *f = &w->walk.frame;
    uint64_t lookup = f->regs.pc_kind == SFU_PC_RETURN && f->regs.pc != 0
                          ? images_before(w->space->images, f->regs.pc)
                          : sfu_lookup_pc(&f->regs);
    struct trace_image *image = images_at(w->space->images, lookup);
    struct function_name found;
    const char *reason;
    char symbol[300] = "";

    if (images_name(w->space->images, image, lookup - (image != NULL ? image->slide : 0), &found))
        snprintf(symbol, sizeof symbol, "  %.256s+0x%" PRIx64, found.name, found.offset + (f->regs.pc - lookup));
    out_line(w->out, "#%-2u 0x%016" PRIx64 "%s%s%s%s  (%s)", f->depth, f->regs.pc, symbol,
             f->interrupted ? "  [interrupted]" : "", f->switched ? "  [stack switch]" : "",
             f->guess != SFU_GUESS_NONE ? "  [guessed]" : "", w->how);
    if (image == NULL && found.name == NULL && may_be_user(w))
        out_line(w->out, "        in no image%s: --user=FILE@ADDR names the program there",
                 w->space->abi == SFU_S390X ? ", of user mode perhaps" : " of the kernel, but in user mode");
    else if (image == NULL && found.name == NULL && f->regs.pc_kind == SFU_PC_RETURN && lookup < NULL_PAGE)
        out_line(w->out, "        no code"); /* what lies where the caller's address should: nobody has called it */
    else if (!out_exception_return(w->out, w->space->images, f->regs.pc))
        out_place(w->out, w->space->images, lookup);
    if (w->space->jumped && f->depth == 0 && image != NULL)
        reason = "a jump to an even address has led here, as xPSR says, whose bit T is 0: nothing has run here";
    else
        reason = image != NULL && f->regs.pc_kind == SFU_PC_EXACT ? trap_reason(w->space, f->regs.pc) : NULL;
    if (reason == NULL)
        reason = failure_reason(found.name);
    if (reason != NULL)
        out_line(w->out, "        trap: %s", reason);
}

/* Those between the frame and the one before it, at PC. What is GUESSED says nothing of who was called. */
static void print_tail_calls(const struct trace_walk *w, uint64_t pc, bool guessed)
{
    const struct sfu_frame *f = &w->walk.frame;
    struct trace_image *image = images_at(w->space->images, sfu_lookup_pc(&f->regs));

    if (!guessed && f->guess == SFU_GUESS_NONE && !f->interrupted && f->regs.pc_kind == SFU_PC_RETURN &&
        image != NULL && images_at(w->space->images, pc) == image)
        out_tail_calls(w->out, image, f->regs.pc - image->slide, pc - image->slide);
}

/* The size of a frame is known once its caller is, on the same stack. */
static int print_and_step(struct trace_walk *w)
{
    const uint64_t sp = w->walk.frame.regs.sp, pc = sfu_lookup_pc(&w->walk.frame.regs);
    const bool guessed = w->walk.frame.guess != SFU_GUESS_NONE;
    int code;

    print_frame(w);
    code = step_walk(w);
    if (code == SFU_OK)
        print_tail_calls(w, pc, guessed);
    if (w->space->sizes && code == SFU_OK && !w->walk.frame.switched)
        out_line(w->out, "        %" PRIu64 " bytes of stack", w->walk.frame.regs.sp - sp);
    return code;
}

static bool has_start(const struct trace_space *space)
{
    return space->regs.known[REGISTER_PC] && space->regs.known[abi_registers(space->abi)->sp];
}

static void note_seen(struct trace_frames *seen, const struct sfu_frame *frame)
{
    if (seen == NULL)
        return;
    seen->list = grow(seen->list, seen->num, sizeof *seen->list);
    seen->list[seen->num++] = (struct trace_frame){frame->regs.pc, frame->regs.sp};
}

/* Kernels clear the stack of a new thread, or what start-up code pushes. */
static bool is_return_to_null(const struct trace_walk *w)
{
    return w->walk.frame.regs.pc_kind == SFU_PC_RETURN && w->walk.frame.regs.pc == 0;
}

/* Whether a word of the stack that has no address in the log has given the frame's PC, and cannot be the return address
 * of the function at CALLEE: no call of that ends there; or it is 0, as in the outermost frame, and the function is
 * called. */
static bool is_misplaced(const struct trace_walk *w, uint64_t callee)
{
    const struct trace_images *images = w->space->images;
    const struct sfu_frame *f = &w->walk.frame;
    const uint64_t lookup = images_before(images, f->regs.pc);
    struct trace_image *image = images_at(images, callee);
    struct function_name found;

    if (!w->space->unplaced || !w->space->ra_on_stack || f->guess != SFU_GUESS_NONE ||
        f->regs.pc_kind != SFU_PC_RETURN || cortexm_is_return(w->space->abi, f->regs.pc))
        return false;
    if (f->regs.pc == 0)
        return image != NULL && images_name(images, image, callee - image->slide, &found) &&
               call_leads_to(&image->image, callee - image->slide - found.offset);
    return !images_is_return(images, f->regs.pc) ||
           (image != NULL && images_at(images, lookup) == image &&
            tail_cannot_lead(image, f->regs.pc - image->slide, callee - image->slide));
}

/* Whether the frame's PC is a return address at which no call ends, in code that has rows. A trap's own frame returns
 * to where none does. */
static bool lacks_call(struct trace_walk *w)
{
    const struct sfu_frame *f = &w->walk.frame;
    struct trace_image *image = images_at(w->space->images, sfu_lookup_pc(&f->regs));
    struct call call;
    struct sfu_row row;
    bool found;

    if (f->guess != SFU_GUESS_NONE || f->regs.pc_kind != SFU_PC_RETURN || image == NULL || image->image.abi == 0 ||
        image_is_object(image) || image_instructions(&image->image, f->regs.pc - image->slide - 2, 2) == NULL ||
        call_before(&image->image, f->regs.pc - image->slide, &call))
        return false;
    add_tables(w);
    found = sfu_find_frame(&w->target, f, &row) == SFU_OK;
    restore_text(w);
    return found && !(row.trap_frame && f->regs.pc - row.start < row.length);
}

/* Marks such a frame. What a return to there leaves is that address, whose own row finds the caller. */
static void doubt_return(struct trace_walk *w)
{
    struct sfu_frame *f = &w->walk.frame;

    if (!lacks_call(w))
        return;
    f->regs.pc_kind = SFU_PC_EXACT;
    f->guess = SFU_GUESS_HOOK;
    f->reliable = false;
    w->how = "no call ends there";
}

static void say_misplaced(const struct trace_out *out, uint64_t ra)
{
    out_line(
        out,
        "trace ends: 0x%" PRIx64 " stands where the return address should be, and no call of this function "
        "returns there: the words without addresses do not begin at SP, or some are missing: print the address "
        "of each",
        ra);
}

/* Goes on behind a null pointer that was called, or that a guess has given as PC, if nothing says who has called: with
 * the first return address on the stack, which is a guess. Returns false if there is none. */
static bool guess_first_return(struct trace_walk *w)
{
    enum { WORDS = 64 };
    struct sfu_frame *f = &w->walk.frame;
    const struct trace_space *space = w->space;
    const unsigned word = abi_registers(space->abi)->word;
    uint64_t at = f->regs.sp, value;
    unsigned i;

    if (f->regs.pc != 0 || f->regs.pc_kind != SFU_PC_EXACT || (f->depth > 0 && f->guess == SFU_GUESS_NONE) ||
        (f->depth == 0 && abi_registers(space->abi)->link && !f->regs.has_ra)) /* the log lacks who has called */
        return false;
    for (i = 0; i < WORDS; i++, at += word) {
        uint64_t ra;

        if (!space_word(space, at, &value))
            continue;
        ra = abi_is_arm(space->abi) ? value & ~UINT64_C(1) : value & ~space->pac_mask;
        if (!images_is_return(space->images, ra))
            continue;
        f->regs = (struct sfu_registers){ra, at + word, f->regs.fp, 0, SFU_PC_RETURN, false};
        f->guess = SFU_GUESS_HOOK;
        f->reliable = f->interrupted = false;
        f->depth++;
        w->how = "first return address on the stack";
        set_mode(w);
        return true;
    }
    return false;
}

bool walk_print(const struct trace_out *out, struct trace_space *space, uint8_t pc_kind)
{
    struct trace_walk w = {.out = out, .space = space};
    const char *how = "";
    bool was_user = false;
    uint64_t pc;
    int code;

    if (!has_start(space))
        return false;
    start(&w, pc_kind);
    do {
        if (w.user && !was_user)
            out_line(out, "    user mode:");
        was_user = w.user;
        note_seen(space->seen, &w.walk.frame);
        pc = sfu_lookup_pc(&w.walk.frame.regs);
        code = print_and_step(&w);
        if (code == SFU_OK && is_misplaced(&w, pc)) {
            say_misplaced(out, w.walk.frame.regs.pc);
            return true;
        }
        if (code == SFU_OK && is_return_to_null(&w)) {
            code = SFU_END;
            how = ", the return address is 0";
        }
        if (code < 0 && guess_first_return(&w))
            code = SFU_OK;
        if (code == SFU_OK)
            doubt_return(&w);
    } while (code == SFU_OK);
    out_line(out, "trace ends (%d): %s%s%s", code, sfu_string(code), how,
             w.walk.frame.reliable ? "" : "; guessed frames are not proven");
    if (space->lacks_psp)
        out_line(out,
                 "    the rest is on the process stack, and psp is not known: give --regs=...,psp=N, or print it "
                 "in the dump");
    return true;
}

bool walk_meets(struct trace_space *space, uint8_t pc_kind, const struct trace_frames *frames)
{
    struct trace_walk w = {.space = space};
    size_t i;

    if (!has_start(space))
        return false;
    start(&w, pc_kind);
    while (step_walk(&w) == SFU_OK)
        for (i = 0; i < frames->num; i++)
            if (w.walk.frame.regs.pc == frames->list[i].pc && w.walk.frame.regs.sp == frames->list[i].sp)
                return true;
    return false;
}
