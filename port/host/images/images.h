/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Images and maps, and where they lie: images/images.c. */
#ifndef SFU_HOST_IMAGES_H
#define SFU_HOST_IMAGES_H

#include "common/image.h"
#include "common/map.h"
#include "sfu.h"
#include "log/text.h"

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
    uint64_t text;    /* of a relocatable object that is placed: where images/symbols.c has its .text */
    const void *build_id;
    size_t build_id_size;       /* 0: none */
    struct tables_of own;       /* its .sframe */
    struct tables_of cfi;       /* made of its CFI */
    struct tables_of debug_cfi; /* made of the .debug_frame of a separate file */
    struct tables_of code;      /* made of its machine code */
    struct symbols *symbols;
};

/* A map of the command line. */
struct trace_map {
    struct map map;
    char *file;
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

/* Once images and maps are there: a PE file, the first image, gets the symbols of maps that move with it. Says so if a
 * map does not fit, or lacks names. */
void images_use_maps(struct trace_images *images);

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

/* Whether it is a relocatable object. images/symbols.c gives it addresses. */
bool image_is_object(const struct trace_image *image);

/* Opens the image's own tables, those made of its CFI, or of that of its separate file. Says why, and returns false, if
 * there are none. */
bool image_open_own(struct trace_image *image);
bool image_open_cfi(struct trace_image *image);
bool image_open_debug_cfi(struct trace_image *image);
/* The same, made of machine code that nothing describes. */
bool image_open_code(struct trace_image *image);

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

/* The run-time address that names and lines of the return address RA belong to: the byte before, which the call has. It
 * is RA itself if a function of an image begins there and no call ends there: a thread was given that address. */
uint64_t images_before(const struct trace_images *images, uint64_t ra);

#endif
