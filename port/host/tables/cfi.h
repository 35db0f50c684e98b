/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Call frame information: reads .eh_frame and .debug_frame (DWARF 6.4), and interprets what SFrame can say of it. The
 * rules have the form of sfu's, so the two can be compared.
 */
#ifndef SFU_HOST_CFI_H
#define SFU_HOST_CFI_H

#include "common/image.h"
#include "sfu.h"

/* What a rule is made of: sfu.h, struct sfu_rule. */
enum { RULE_REGISTER = 1, RULE_DEREFERENCE = 2, RULE_NUMBER = 3 };

enum cfi_kind {
    CFI_RULES,
    CFI_OUTERMOST, /* the return address is undefined */
    CFI_LOST       /* SFrame cannot say it */
};

enum { CFI_OF_FP = 1, CFI_OF_RA = 2 };

bool rule_is_same(const struct sfu_rule *a, const struct sfu_rule *b);

/* What holds for the PCs from start up to end. */
struct cfi_row {
    uint64_t start, end;
    struct sfu_rule cfa, ra, fp;
    enum cfi_kind kind;
    bool signed_ra;
    bool by_pc; /* an expression has asked for the PC: in a PLT rules depend on its last bits */
    uint8_t
        doubtful;  /* which of FP and a link register, CFI_OF_..., has been restored to a slot that the CIE names */
    bool restored; /* one has been restored, for which the entry itself began with a slot */
    bool trap;     /* by_code: the function is an interrupt's entry */
    bool by_code;  /* it is what machine code says, against CFI */
    bool shadowed; /* aarch64: x18, the shadow call stack's register, has a rule */
    const char *why; /* CFI_LOST: the reason; NULL: other rows of this interrupt function are what there is */
};

/* Instructions of an entry. */
struct cfi_program {
    const uint8_t *start, *end;
};

struct cfi_fde {
    uint64_t start, size;
    struct cfi_program program;
    const struct cfi_cie *cie;
    struct cfi_row
        *rows; /* what is given in place of the program's, if not NULL: machine code has shown it wrong */
    size_t num_rows;
    bool trap;      /* it has turned out to be that of an interrupt */
    bool outermost; /* whoever knows says that nobody has called it: that is its one row */
    bool dropped;   /* it has no code any more, although it said more than that the code is called */
};

struct cfi {
    struct image *image;
    struct cfi_cie *cies;
    size_t num_cies;
    struct cfi_cie *made; /* of entries that cfi_add_code has added, or NULL */
    struct cfi_fde *fdes; /* by section, then in the file's order */
    size_t num_fdes;
    uint64_t *free_starts; /* starts to which a thread may be told to return; by address (trust.c) */
    size_t num_free_starts;
    uint64_t *returns; /* starts of code to which code returns that was called elsewhere; by address (trust.c) */
    size_t num_returns;
};

/* Whether a thread may be told to return to ADDR, and no instruction begins at the byte in front. */
bool cfi_is_free_start(const struct cfi *cfi, uint64_t addr);
/* Code returns to ADDR that was not called in front of it. */
bool cfi_is_return(const struct cfi *cfi, uint64_t addr);

/* Where CFI is read from. */
enum { CFI_EH = 1, CFI_DEBUG = 2 };

/* Reads the entries of the sections that SOURCES names, as far as the image has them. Fails if the entries of a section
 * are broken. Broken instructions of an entry only make its rows CFI_LOST. */
bool cfi_read(struct cfi *cfi, struct image *image, unsigned sources);
void cfi_free(struct cfi *cfi);

/* The section that a linker script has put .eh_frame into, or NULL. */
const struct section *cfi_misplaced(struct image *image);

/* Why no row can be made of the entries, which are at least one. */
const char *cfi_why_nothing(const struct cfi *cfi);

/* Adds an entry whose NUM rows somebody else has found, without a gap between them. Spans have to be found anew. */
void cfi_add_code(struct cfi *cfi, const struct cfi_row *rows, size_t num);

/* What the entry's augmentation says. */
bool cfi_is_signal(const struct cfi_fde *fde);
bool cfi_is_key_b(const struct cfi_fde *fde);
uint64_t cfi_ra_register(const struct cfi_fde *fde);

/* Whether the entry is of .debug_frame, and whether its start is written as a distance from there. */
bool cfi_is_debug(const struct cfi_fde *fde);
bool cfi_is_relative(const struct cfi_fde *fde);

/* Whether both entries say the same of the same code. */
bool cfi_is_same(const struct cfi_fde *a, const struct cfi_fde *b);

/* Interprets FDE and calls ROW for each row in turn, without gaps from its start to its end. */
typedef void (*cfi_row_fn)(void *ctx, const struct cfi_row *row);
void cfi_rows(const struct cfi *cfi, const struct cfi_fde *fde, cfi_row_fn row, void *ctx);

/* Why ROW, of a function that is called, is none that a trace can go on by, or NULL. SP does not go down from a
 * function to its caller: CFI says so where it is wrong, and of code that takes its arguments off the stack before it
 * returns. No function of which CFI speaks keeps FP or where it returns to above its own frame: so CFI says where the
 * context leads that longjmp or setcontext is about to take. */
const char *cfi_leads_nowhere(const struct image *image, const struct cfi_row *row);
/* What it says: SP would go down; FP or where it returns to would be above. */
extern const char cfi_goes_down[], cfi_is_above[];

/* Code that an entry covers, or a part of it. Where entries contradict each other FDE is NULL, and WHY says so. */
struct cfi_span {
    uint64_t start, end;
    const struct cfi_fde *fde; /* or NULL */
    const char *why;
};

struct cfi_spans {
    struct cfi_span *list; /* by address, no two of them overlap; to be freed */
    size_t num;
    size_t dropped; /* entries of functions that the linker has dropped */
};

/* Finds the code that CFI describes (spans.c). .eh_frame counts before .debug_frame. */
bool cfi_find_spans(const struct cfi *cfi, struct cfi_spans *spans);

/* The span that ADDR is in, or NULL. */
const struct cfi_span *cfi_span_at(const struct cfi_spans *spans, uint64_t addr);

/* ---- Code that CFI says nothing of ----------------------------------------------------------------------------- */

/* PLTs for which the linker has written none (plt.c). Whether SECTION is one, by its name. */
bool plt_is(const struct section *section);

/* Gives the rows of a PLT without CFI, as its instructions say. Returns false, and gives none, if they are not
 * known. */
bool plt_rows(struct image *image, const struct section *plt, cfi_row_fn row, void *ctx);

/* Epilogues of RISC-V without CFI (epilogue_riscv.c). The row of the body goes on behind the instructions that have put
 * SP and FP back. What is right there can be read off those instructions. */

/* An instruction of such an epilogue, from START up to END, and what is right there. */
struct epilogue {
    uint64_t start, end;
    struct sfu_rule cfa, ra, fp;
};

/* Those of the row that was asked for last. Zeroed before the first question. */
struct epilogues {
    struct cfi_row row;
    struct epilogue *list; /* in order */
    size_t num;
};

/* The first one at or behind PC, an instruction, that lies in ROW; or NULL. There is none on other CPUs. All questions
 * for one row, one after the other, read its instructions once. */
const struct epilogue *epilogue_find(struct epilogues *known, struct image *image, const struct cfi_row *row,
                                     uint64_t pc);
void epilogues_free(struct epilogues *known);

#endif
