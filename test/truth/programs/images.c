/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Traces through several images, each with a section of its own. argv[1] is what the results are labelled with.
 *
 *     images LABEL LIBRARY OBJECT     LIBRARY loaded twice by load.c, OBJECT unsorted (not on 32-bit x86)
 *     images LABEL                    (built with DYNAMIC) the library has been loaded by ld.so, PLT bound lazily
 */
#include "elf_types.h"
#include "parts.h"
#include "trace.h"

typedef unsigned (*entry)(struct chain *);

static struct chain chains[2];

static void fail(const char *what)
{
    os_print("not ok ", trace_label, " ", what, "\n", NULL);
    trace_failures++;
}

/* Through A, then through B unless it is NULL. */
static NOIPA void run(entry a, entry b, unsigned (*inside)(void))
{
    ENTER(&list);
    chains[0].list = chains[1].list = &list;
    chains[0].inside = chains[1].inside = inside;
    chains[0].next = b;
    chains[0].next_chain = &chains[1];
    (void)CALL(&list, a(&chains[0]));
    LEAVE(&list);
}

static NOIPA void test_call(const char *name, entry a, entry b)
{
    ENTER(&list);
    trace_begin();
    (void)CALL(&list, (run(a, b, trace_inside), 0));
    trace_end(name, trace_verdict.longest >= (b != NULL ? 11 : 8), "the trace is too short");
    LEAVE(&list);
}

static NOIPA void test_each_instruction(const char *name, entry a, entry b, uint64_t in_plt)
{
    ENTER(&list);
    trace_begin();
    for (volatile unsigned time = 0; time < 2; time++) { /* volatile: not unrolled */
        if (time == 1)
            (void)CALL(&list, (interrupt_each_begin(), 0));
        (void)CALL(&list, (run(a, b, trace_nothing), 0));
    }
    (void)CALL(&list, (interrupt_each_end(), 0));
    trace_end(name, trace_verdict.in_plt >= in_plt, "not interrupted in the PLT");
    LEAVE(&list);
}

static int add(struct sfu_section *section)
{
    return sfu_add(&self.target.sections, section, 1, section->bytes, section->size, section->addr);
}

/* Adds what has been opened with CODE. */
static bool add_section(struct sfu_section *section, int code)
{
    if (code == SFU_OK)
        code = sfu_check(section, NULL);
    if (code == SFU_OK)
        code = add(section);
    if (code != SFU_OK)
        fail(sfu_string(code));
    return code == SFU_OK;
}

/* CODE says whether the program headers have led to the tables of an image, FILE in memory, which is moved by SLIDE: no
 * segment says where they are that sfu-gen makes for a CPU that SFrame does not have. */
static int find_tables(struct sfu_section *section, const void *file, uint64_t slide, int code)
{
    const Elf_Ehdr *e = file;
    const Elf_Shdr *s = (const Elf_Shdr *)((uintptr_t)file + e->e_shoff);
    const char *names = (const char *)file + s[e->e_shstrndx].sh_offset;

    for (unsigned i = 0; i < e->e_shnum && code == SFU_E_NO_SECTION; i++)
        if (same_text(names + s[i].sh_name, ".sfu_sframe"))
            code = sfu_open(section, (const void *)(uintptr_t)(s[i].sh_addr + slide), s[i].sh_size,
                            s[i].sh_addr + slide);
    return code;
}

#ifdef DYNAMIC

static NOIPA void test_all(char **files)
{
    static struct sfu_section section;
    const Elf_Ehdr *e = image_header();
    const void *file = os_map_file(files[0]);
    uint64_t slide;
    int code;

    ENTER(&list);
    (void)CALL(&list, 0);
    code = sfu_linux_find(&section, (const char *)e + e->e_phoff, e->e_phnum, &slide);
    if (add_section(&section, find_tables(&section, file, slide, code))) {
        trace_add_image(file, slide);
        (void)CALL(&list, (test_call("PLT bound by ld.so, first call", p_image_outer, NULL), 0));
        (void)CALL(&list, (test_call("PLT bound by ld.so", p_image_outer, p_image_outer), 0));
        (void)CALL(&list, (test_each_instruction("each instruction, with PLT", p_image_outer, NULL, 2), 0));
        if (slide == self.slide)
            fail("both images at the same place");
    }
    LEAVE(&list);
}

#else

/* At least how many instructions of the PLT run when each of two libraries makes two calls. */
#if defined(__x86_64__) || defined(__i386__)
enum { IN_PLT = 4 * 5 };
#else
enum { IN_PLT = 4 };
#endif

static struct loaded libraries[2];
static entry entries[2];

static NOIPA void test_libraries(const char *path)
{
    static struct sfu_section section[2];
    uint64_t slide;
    int code;

    ENTER(&list);
    for (unsigned i = 0; i < 2; i++) {
        if (load_library(&libraries[i], path) != 0)
            fail("library cannot be loaded");
        code = sfu_linux_find(&section[i], libraries[i].phdrs, libraries[i].num_phdrs, &slide);
        if (trace_failures == 0 &&
            add_section(&section[i], find_tables(&section[i], libraries[i].file, slide, code)))
            trace_add_image(libraries[i].file, slide);
        entries[i] = (entry)(uintptr_t)load_symbol(&libraries[i], "p_image_outer");
    }
    if (entries[0] != NULL && entries[1] != NULL && trace_failures == 0) {
        (void)CALL(&list, (test_call("two images", entries[0], entries[1]), 0));
        (void)CALL(&list, (test_call("two images, other order", entries[1], entries[0]), 0));
        (void)CALL(&list, (test_each_instruction("each instruction, with PLT", entries[0], entries[1], IN_PLT), 0));
        if (!sfu_remove(&self.target.sections, &section[0], 1))
            fail("section cannot be removed");
        (void)CALL(&list, (test_call("the image that is left", entries[1], NULL), 0));
        if (add(&section[0]) != SFU_OK)
            fail("section cannot be added again");
    }
    LEAVE(&list);
}

#ifndef __i386__
static struct loaded object;

static NOIPA void test_object(const char *path)
{
    static struct sfu_section section;
    static entry first, second;

    ENTER(&list);
    if (load_object(&object, path) != 0) {
        fail("object cannot be loaded");
    } else if (add_section(&section,
                           sfu_open(&section, object.sframe, object.sframe_size, (uintptr_t)object.sframe))) {
        trace_add_image(object.file, 0);
        first = (entry)(uintptr_t)load_symbol(&object, "p_image_outer");
        second = (entry)(uintptr_t)load_symbol(&object, "p_second_outer");
        if (section.flags & 1)
            fail("the object is sorted");
        (void)CALL(&list, (test_call("unsorted object", first, second), 0));
        (void)CALL(&list, (test_each_instruction("each instruction, unsorted", second, first, 0), 0));
        if (sfu_sort(&section, object.sframe) != SFU_OK || !(section.flags & 1) ||
            sfu_check(&section, NULL) != SFU_OK)
            fail("the object cannot be sorted");
        (void)CALL(&list, (test_call("object after sorting", first, second), 0));
        (void)CALL(&list, (test_each_instruction("each instruction, sorted", second, first, 0), 0));
    }
    LEAVE(&list);
}
#endif

static NOIPA void test_all(char **files)
{
    ENTER(&list);
    (void)CALL(&list, (test_libraries(files[0]), 0));
#ifndef __i386__ /* no assembler makes tables of an object */
    (void)CALL(&list, (test_object(files[1]), 0));
#endif
    LEAVE(&list);
}

#endif

NOIPA int sfu_linux_main(int argc, char **argv, const uintptr_t *auxv)
{
    const void *file = os_map_file("/proc/self/exe");
    int code = sfu_linux_init(&self, auxv);

    ENTER(&list);
    trace_label = argc > 1 ? argv[1] : "images";
    if (code == SFU_E_NO_SECTION)
        code = find_tables(&self.section, file, self.slide, code) != SFU_OK ? code : add(&self.section);
    if (code != SFU_OK)
        fail(sfu_string(code));
    trace_add_image(file, self.slide);
    interrupt_init(NULL);
    (void)CALL(&list, (test_all(argv + 2), 0));
    return trace_failures != 0;
}
