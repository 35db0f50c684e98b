/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What the parts of sfu-trace share: images and where they lie, what is known of a stack, and how a trace of it is
 * printed.
 */
#ifndef SFU_HOST_TRACE_H
#define SFU_HOST_TRACE_H

#include "common/image.h"
#include "common/report.h"
#include "sfu.h"
#include "trace_text.h"

#include <stdio.h>

/* ---- Images ---------------------------------------------------------------------------------------------------- */

/* One section of tables, opened where the image lies. */
struct tables_of {
    struct sfu_section section;
    struct sfu_range text; /* of section, between steps of a walk */
    uint8_t *bytes;
    size_t size;
    uint64_t addr; /* before the slide */
    bool tried, good;
    bool added; /* to the list of the walk */
};

struct trace_image {
    struct image image;
    char *file;
    const char *name; /* of the file, without its folder */
    uint64_t slide;   /* run-time minus link-time address; of a relocatable object: of its .text */
    bool placed;      /* slide is known */
    bool user;        /* it runs in user mode, the others in the kernel's */
    uint64_t text;    /* of a relocatable object that is placed: where trace_symbols.c has its .text */
    const void *build_id;
    size_t build_id_size;       /* 0: none */
    struct tables_of own;       /* its .sframe */
    struct tables_of cfi;       /* made of its CFI */
    struct tables_of debug_cfi; /* made of the .debug_frame of a separate file */
    struct symbols *symbols;
};

/* A map of the command line. */
struct trace_map {
    struct map map;
    bool placed; /* its addresses are SLIDE below those of the program; else they move with the first image */
    uint64_t slide;
};

struct trace_images {
    struct trace_image **list;
    size_t num;
    struct trace_map *maps;
    size_t num_maps;
    uint64_t slide; /* of maps, where there is no image */
    uint8_t abi;    /* of all of them; 0: not known yet */
    bool wrong;     /* one was not the image of what is traced */
};

/* Opens FILE and adds it. Returns NULL, and a line in ERROR of SIZE bytes, if that fails. */
struct trace_image *images_add(struct trace_images *images, const char *file, char *error, size_t size);
void images_free(struct trace_images *images);

/* Adds the map FILE, which is SLIDE above its addresses if PLACED. Ends the program if it has no symbols. */
void images_add_map(struct trace_images *images, const char *file, bool placed, uint64_t slide);

/* The image whose code is at ADDR, or NULL. */
struct trace_image *images_at(const struct trace_images *images, uint64_t addr);

/* The image with the SIZE bytes of build ID at ID, or NULL. */
struct trace_image *images_by_id(const struct trace_images *images, const void *id, size_t size);

/* The image whose file's name is NAME, without folders, or NULL. */
struct trace_image *images_by_name(const struct trace_images *images, const char *name);

/* Sets where IMAGE lies. Of a relocatable object only .text is placed. */
void image_place(struct trace_image *image, uint64_t slide);

/* Sets where those lie that have not been placed: the first one by SLIDE, others where they were linked to. */
void images_place(struct trace_images *images, uint64_t slide);

/* The link-time address of the symbol or section NAME in IMAGE. Returns false if it has none. */
bool image_find(struct trace_image *image, const char *name, uint64_t *addr);

/* The same in IMAGE, the first of IMAGES, or by its maps. */
bool images_find(const struct trace_images *images, struct trace_image *image, const char *name, uint64_t *addr);

/* Whether it is a relocatable object. trace_symbols.c gives it addresses. */
bool image_is_object(const struct trace_image *image);

/* Opens the image's own tables, those made of its CFI, or of that of its separate file. Says why, and returns false, if
 * there are none. */
bool image_open_own(struct trace_image *image);
bool image_open_cfi(struct trace_image *image);
bool image_open_debug_cfi(struct trace_image *image);

/* ---- Symbols and lines ----------------------------------------------------------------------------------------- */

/* A function at an address: the innermost first, then each that it has been inlined into. FILE is NULL, or the line
 * where the address, or the call that was inlined, is. */
typedef void (*symbols_fn)(void *ctx, const char *function, const char *file, int line, bool inlined);

/* Where files with debug information are, beside the usual places. Before the first image is asked. */
void symbols_set_folder(const char *folder);

/* The separate file with IMAGE's debug information, which stays until the image is closed, or NULL. */
const char *symbols_file(struct trace_image *image);

/* Finds what there is at link-time address ADDR of IMAGE. Returns how many functions it has given. */
unsigned symbols_find(struct trace_image *image, uint64_t addr, symbols_fn found, void *ctx);

/* The name of the function at ADDR from IMAGE's symbols and how far in it is, or NULL. */
const char *symbols_name(struct trace_image *image, uint64_t addr, uint64_t *offset);

/* A function that is known by its name alone. */
struct function_name {
    const char *name, *module; /* module: of Linux, that a map names, or NULL */
    uint64_t offset;           /* of the address, from its start */
};

enum { NULL_PAGE = 4096 }; /* the addresses that a call of a null pointer, or of a member of one, leads to */

/* The name at link-time address ADDR of IMAGE or, if that is NULL, at run-time address ADDR, which then is none of a
 * null pointer: the nearest one of the image's symbols and of the maps. */
bool images_name(const struct trace_images *images, struct trace_image *image, uint64_t addr,
                 struct function_name *found);

/* The address of the function NAME, which has SIZE characters, or of a section of a relocatable object. */
bool symbols_address(struct trace_image *image, const char *name, size_t size, uint64_t *addr);

/* The functions that the one at link-time address ADDR leaves by a tail call, as debug information has its call sites:
 * at most ROOM addresses at TARGETS. Returns how many. ALL: there are no others. */
unsigned symbols_tail_calls(struct trace_image *image, uint64_t addr, uint64_t *targets, unsigned room, bool *all);

void symbols_free(struct trace_image *image);

/* ---- Output ---------------------------------------------------------------------------------------------------- */

/* Lines for people: INDENT, the text, and EOL. Empty lines before it are those that FORMAT begins with. What names of
 * an image or a target could do to a terminal is printed as printable() says. */
struct trace_out {
    FILE *file;
    const char *indent, *eol;
};

void out_line(const struct trace_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints functions, files and lines at run-time address LOOKUP, or at link-time address ADDR of IMAGE. */
void out_place(const struct trace_out *out, const struct trace_images *images, uint64_t lookup);
void out_place_in(const struct trace_out *out, const struct trace_images *images, struct trace_image *image,
                  uint64_t addr);

/* Registers of a frame that a log has. */
struct log_registers {
    uint64_t sp, fp;
};

/* Prints the bytes of stack of the frame at run-time address LOOKUP as its row has them, or why they are not known:
 * nothing of the outermost frame, and of code in no image. KNOWN is NULL if the log does not have these registers. */
void out_size(const struct trace_out *out, const struct trace_images *images, uint64_t lookup,
              const struct log_registers *known);

/* Says that run-time address LOOKUP lies in no image. No slide makes another address of a null pointer. */
void out_nowhere(const struct trace_out *out, uint64_t lookup);

/* ---- Walk ------------------------------------------------------------------------------------------------------ */

/* Registers of a stopped thread by DWARF number. */
struct thread_registers {
    uint64_t value[NUM_REGISTERS];
    bool known[NUM_REGISTERS];
    uint64_t psp; /* Cortex-M: the process stack pointer, which has no DWARF number */
    bool has_psp;
};

/* Reads LEN bytes at ADDR. Returns false if not all of them are there. */
typedef bool (*space_read_fn)(void *ctx, uint64_t addr, void *buffer, size_t len);

struct trace_space;

/* Compares the build IDs of placed images with those in memory, as far as it has them. An image that differs is no
 * longer placed, and a message says so. */
void images_verify(struct trace_images *images, const struct trace_space *space);

/* Where the registers of an interrupted frame are saved. */
enum saved { SAVED_NOWHERE, SAVED_LINUX, SAVED_ARRAY, SAVED_CORTEXM };

/* What is unwound. */
/* Frames of several traces. */
struct trace_frames {
    struct trace_frame {
        uint64_t pc, sp;
    } * list; /* to be freed */
    size_t num;
};

struct trace_space {
    struct trace_images *images;
    uint8_t abi; /* enum sfu_abi */
    space_read_fn read;
    void *ctx;
    struct thread_registers regs; /* of the thread that is walked */
    uint64_t pac_mask;
    uint32_t max_frames;
    uint16_t red_zone;
    bool frame_pointers;
    bool sizes;                /* print the bytes of stack of each frame */
    bool machine;              /* there may be a user mode */
    bool halted;               /* a Cortex-M may have stopped in the handler of a fault */
    bool *in_user;             /* set while the walk is in it: its addresses may be others; or NULL */
    struct trace_frames *seen; /* gets each frame that walk_print prints; or NULL */
    /* The walk's own: of the last trap. LINUX: the SP of a signal frame. ARRAY: the address of register 0, by DWARF
     * numbers. CORTEXM: the address of an exception frame. */
    enum saved saved;
    uint64_t saved_at;
    const struct sfu_target *target;
    uint64_t last_ra;  /* that the walk has read, as it was */
    bool lacks_psp;    /* the walk has ended where the process stack pointer had to be known */
    bool in_exception; /* the walk has come to the frame of an exception of a Cortex-M */
};

/* Reads memory, or code from an image's file: kernels leave unchanged code out of cores. */
bool space_read(const struct trace_space *space, uint64_t addr, void *buffer, size_t len);
/* The saved register at ADDR: 8 bytes, of ABIs of 32 bits 4. */
bool space_word(const struct trace_space *space, uint64_t addr, uint64_t *value);

/* Which of s390x's floating-point registers has DWARF number REG, from 16 to 31. */
unsigned s390x_float(unsigned reg);

/* Sets the register NAME, which a user has written, to TEXT, or *PC_KIND. Returns false if there is none, or TEXT is no
 * number. */
bool registers_set(uint8_t abi, struct thread_registers *regs, uint8_t *pc_kind, const char *name,
                   const char *text);

/* Sets PC, SP, FP and, if it is not 0, RA to what VALUES has, in this order. */
void registers_fill(uint8_t abi, struct thread_registers *regs, const uint64_t *values);

/* Whether the frame with this PC is Linux's signal frame. *OLD: s390x's for a handler without SA_SIGINFO. */
bool linux_is_signal(const struct trace_space *space, uint64_t pc, bool *old);

/* Whether SIGNAL is one that leaves the PC behind the instruction that made it: of s390x. */
bool linux_is_behind(uint8_t abi, uint64_t signal);

/* How far behind a byte of the instruction that made a signal PC lies, by the first 24 bytes of the struct siginfo at
 * INFO and the number of the exception (x86_64). 0: PC is at it, or at the next one to run. */
uint64_t linux_passed(uint8_t abi, const uint8_t *info, uint64_t vector, uint64_t pc);

/* The same where nothing but the number of the signal is known: of s390x, a guess, unless there was a system call. */
uint64_t linux_passed_unsure(const struct trace_space *space, uint64_t signal, uint64_t pc);

/* The trap hook for such frames, and the registers that are saved there. */
int linux_trap(const struct trace_space *space, const struct sfu_frame *frame, int code,
               struct sfu_interrupted *interrupted);
bool linux_saved(const struct trace_space *space, uint64_t trap, unsigned reg, uint64_t *value);

/* Whether PC, a return address, is EXC_RETURN: what exception handlers of a Cortex-M return to. */
bool cortexm_is_return(uint8_t abi, uint64_t pc);

/* The trap hook for it, and the registers that the CPU has pushed at FRAME. */
int cortexm_trap(struct trace_space *space, const struct sfu_frame *frame, struct sfu_interrupted *interrupted);
bool cortexm_saved(const struct trace_space *space, uint64_t frame, unsigned reg, uint64_t *value);

/* Prints the trace of a thread. PC_KIND: enum sfu_pc_kind. Returns false if there are no PC and SP. */
bool walk_print(const struct trace_out *out, struct trace_space *space, uint8_t pc_kind);

/* Whether a caller in the trace of a thread is one of FRAMES: then another trace began on the same stack. */
bool walk_meets(struct trace_space *space, uint8_t pc_kind, const struct trace_frames *frames);

/* ---- Calls, and where a moved program lies --------------------------------------------------------------------- */

struct trace_call {
    bool direct; /* TARGET is where it leads, a link-time address */
    uint64_t target;
};

/* Whether an instruction that ends at link-time address RA of IMAGE may be a call. Bytes of another instruction can
 * look like one on x86_64, s390x and ARM. */
bool call_before(struct trace_image *image, uint64_t ra, struct trace_call *call);

/* What the instruction at PC says of its reason if it is one that only traps, or NULL. */
const char *trap_reason(const struct trace_space *space, uint64_t pc);

/* Prints the functions that were called at return address RA, and have left by tail calls before the function at PC was
 * entered, if there are any: link-time addresses of IMAGE. */
void out_tail_calls(const struct trace_out *out, struct trace_image *image, uint64_t ra, uint64_t pc);

/* Finds how far IMAGE is above its addresses, by the NUM words, of which the first ones are most likely code: more of
 * them than by any other distance are return addresses. PROVEN: memory of SPACE, which may be NULL, has the build ID or
 * the code there. */
bool slide_find(struct trace_image *image, const struct trace_space *space, const uint64_t *words, size_t num,
                uint64_t *slide, bool *proven);

/* The same for the first image if nobody has GIVEN its slide (0) and the PC of SPACE is in no image: places it, or says
 * what the user may do. */
void slide_set(struct trace_space *space, uint64_t given);

/* ---- What can be traced ---------------------------------------------------------------------------------------- */

struct formats;

struct trace_options {
    struct trace_images images;
    const char *sysroot; /* before the names that a core has */
    uint64_t slide;
    uint64_t pac_mask;
    uint32_t max_frames;
    int red_zone; /* -1: what the program has */
    bool frame_pointers;
    bool sizes;              /* print the bytes of stack of each frame */
    const char *written;     /* the core to be written, or NULL */
    struct formats *formats; /* of others' dumps in logs (trace_formats.h) */
    const char *threads;     /* where a kernel has its threads (trace_threads.h), or NULL */
    bool has_page_table;     /* of the core of a machine: */
    uint64_t page_table;
    unsigned address_bits, page_bits; /* 0: to be found out */
    bool has_user_table;              /* of the user program: */
    uint64_t user_table;
};

/* Passes the lines of the file descriptor IN on, and adds to them. */
void trace_filter(struct trace_options *options, int in);

/* Prints every thread of the core FILE. */
void trace_core(struct trace_options *options, const char *file);

/* Prints the trace of a thread with REGISTERS or, if that is NULL, those of the crash record RECORD, as below. FILES
 * have its memory. */
void trace_memory(struct trace_options *options, const char *files, const char *registers, const char *record);

/* Prints the crash records in RECORD, which is FILE, or FILE@START: what PCs in it are relative to. */
void trace_record(struct trace_options *options, const char *record);

/* Prints every thread behind HOST:PORT. */
void trace_gdb(struct trace_options *options, const char *address);

/* Fills in a space, except for how it is read and its registers. */
void trace_space_init(struct trace_space *space, struct trace_options *options, uint8_t abi);

#endif
