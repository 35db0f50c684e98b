/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The command that sfu-link runs: what it links, by what, and for which CPU.
 */
#ifndef SFU_HOST_COMMAND_H
#define SFU_HOST_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct words {
    char **list; /* NULL behind the last */
    size_t num;
};

struct command {
    struct words words; /* as the command is run */
    struct words seen;  /* the same, with what is in @files and between the commas of -Wl */
    struct words whole; /* what is in @files, too, but not the words with -Wl */
    bool driver;        /* a compiler, which hands options on to its linker */
    bool unknown;       /* its program has no name of a compiler or linker, and does not say that it is one */
    bool links;         /* it links an image; else it compiles, joins objects (-r) or prints something */
    bool has_room;      /* its linker script may ask for sfu_room */
    const char *output;
};

/* Reads the command in NUM words at LIST. */
void command_read(struct command *command, char **list, size_t num);

/* Whether WORD is no program, but what is handed to one: an option, a response file, an object. */
bool command_is_argument(const char *word);

void words_add(struct words *words, const char *text);

/* Of ELF files that are linked together: what all of them must have in common. */
struct target {
    uint8_t class, data;
    uint16_t machine;
    uint32_t flags;
    uint8_t *property; /* .note.gnu.property, which the linker reduces to what all inputs have; or NULL */
    size_t property_size;
    bool stack_note; /* an input has .note.GNU-stack: linkers then warn of those that do not have it */
};

/* What is linked, by the first input that is an ELF file, or that the compiler makes of an empty source; stack_note, by
 * all inputs. Returns false if nothing says so. SCRATCH: a name for such a file. */
bool command_target(const struct command *command, const char *scratch, struct target *target);

#endif
