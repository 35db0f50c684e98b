/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "image.h"
#include "pe.h"
#include "sfu.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool image_fail(struct image *image, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(image->error, sizeof image->error, format, args);
    va_end(args);
    return false;
}

/* ---- File ------------------------------------------------------------------------------------------------------ */

static bool set_abi(struct image *image, const struct registers *registers)
{
    image->registers = registers;
    image->abi = registers->abi;
    image->big = registers->big;
    return true;
}

/* Of CPUs that are not unwound: the size of an address. */
static const struct registers other_32 = {.name = "another CPU", .word = 4, .code_unit = 1},
                              other_64 = {.name = "another CPU", .word = 8, .code_unit = 1};

/* Which of sfu's ABIs the header names, if any. QEMU's dump of a 32-bit machine whose memory reaches up to 4 GiB is a
 * file of 64 bits: its addresses have 32 all the same. */
static bool find_abi(struct image *image)
{
    const GElf_Ehdr *header = &image->header;
    const bool small = header->e_type == ET_CORE && header->e_machine == EM_386;
    unsigned word = gelf_getclass(image->elf) == ELFCLASS64 && !small ? 8 : 4;
    const struct registers *registers =
        abi_of_machine(header->e_machine, header->e_ident[EI_DATA] == ELFDATA2MSB, word);

    if (registers != NULL)
        return set_abi(image, registers);
    if (image->names_only) {
        image->big = header->e_ident[EI_DATA] == ELFDATA2MSB;
        image->registers = word == 8 ? &other_64 : &other_32;
        return true;
    }
    if (word == 4 && abi_of_machine(header->e_machine, false, 8) != NULL)
        return image_fail(image, "an ELF file of 32 bits");
    return image_fail(image, "machine %u is none of x86_64, i386, aarch64, s390x, riscv and arm",
                      header->e_machine);
}

/* What is at OFFSET of the file, SIZE bytes, or NULL. */
static const uint8_t *raw_bytes(const struct image *image, uint64_t offset, uint64_t size)
{
    size_t file_size = 0;
    const char *p = elf_rawfile(image->elf, &file_size);

    if (p == NULL || offset > file_size || size > file_size - offset)
        return NULL;
    return (const uint8_t *)p + offset;
}

/* A PE file is read as the ELF file that pe.h makes of it. */
static bool open_pe(struct image *image)
{
    size_t size = 0;
    const uint8_t *p = (const uint8_t *)elf_rawfile(image->elf, &size);
    const char *error = NULL;

    if (p == NULL || !pe_is(p, size))
        return image_fail(image, "not an ELF file");
    image->pe = pe_as_elf(p, size, &size, &error);
    if (image->pe == NULL)
        return image_fail(image, "%s", error);
    elf_end(image->elf);
    image->elf = elf_memory((char *)image->pe, size);
    return image->elf != NULL || image_fail(image, "%s", elf_errmsg(-1));
}

static bool open_file(struct image *image)
{
    struct stat status;

    /* Not to wait for a writer, if it is a pipe: what is no file is refused. */
    image->fd = open(image->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (image->fd < 0 || fstat(image->fd, &status) != 0)
        return image_fail(image, "%s", strerror(errno));
    if (!S_ISREG(status.st_mode))
        return image_fail(image, "not a file");
    if (status.st_size == 0)
        return image_fail(image, "empty");
    elf_version(EV_CURRENT);
    image->elf = elf_begin(image->fd, ELF_C_READ_MMAP, NULL);
    if (image->elf != NULL && elf_kind(image->elf) == ELF_K_NONE && !open_pe(image))
        return false;
    if (image->elf == NULL || elf_kind(image->elf) != ELF_K_ELF)
        return image_fail(image, "not an ELF file");
    if (gelf_getehdr(image->elf, &image->header) == NULL)
        return image_fail(image, "truncated ELF header");
    return find_abi(image);
}

/* ---- Sections -------------------------------------------------------------------------------------------------- */

static int by_section_address(const void *a, const void *b)
{
    const struct section *x = *(struct section *const *)a, *y = *(struct section *const *)b;

    return x->addr != y->addr ? (x->addr < y->addr ? -1 : 1) : (x->index > y->index) - (x->index < y->index);
}

/* Lists the sections that are loaded from the file, by address. */
static void find_data(struct image *image)
{
    size_t i;

    for (i = 0; i < image->num_sections; i++) {
        struct section *s = &image->sections[i];

        if (!(s->flags & SHF_ALLOC) || s->type == SHT_NOBITS || s->size == 0)
            continue;
        image->data = grow(image->data, image->num_data, sizeof *image->data);
        image->data[image->num_data++] = s;
    }
    if (image->num_data > 0)
        qsort(image->data, image->num_data, sizeof *image->data, by_section_address);
}

/* Lists the sections of instructions. One that is larger than the file is refused, because work is in proportion to its
 * size, and a few bytes could ask for hours. */
static bool find_code(struct image *image)
{
    size_t i, file_size = 0;

    find_data(image);
    (void)elf_rawfile(image->elf, &file_size);
    for (i = 0; i < image->num_sections; i++) {
        struct section *s = &image->sections[i];

        if (!(s->flags & SHF_ALLOC) || !(s->flags & SHF_EXECINSTR) || s->size == 0)
            continue;
        if (s->addr > UINT64_MAX - s->size)
            return image_fail(image, "section %s does not fit into the address space", s->name);
        if (s->type != SHT_NOBITS && (s->offset > file_size || s->size > file_size - s->offset))
            return image_fail(image, "section %s is not all in the file", s->name);
        image->code = grow(image->code, image->num_code, sizeof *image->code);
        image->code[image->num_code++] = s;
    }
    if (image->num_code > 0)
        qsort(image->code, image->num_code, sizeof *image->code, by_section_address);
    return true;
}

/* Each section is read as a whole, some several times: work is in proportion to the sum of their sizes and of the
 * lengths of their names, which no linker makes larger than the file. Of compressed sections the sum of the sizes that
 * they are to have is bounded, too. */
enum { MOST_OVERLAP = 4, MOST_COMPRESSED = 64 };

/* How many bytes SECTION has when it is read, or 0: none that the file has. */
static uint64_t read_size(const struct image *image, const struct section *section)
{
    const uint8_t *p = raw_bytes(image, section->offset, section->size);
    uint64_t size = section->size;
    GElf_Chdr header;

    if (section->type == SHT_NOBITS || section->type == SHT_NULL || p == NULL)
        return 0;
    if (section->flags & SHF_COMPRESSED)
        return gelf_getchdr(elf_getscn(image->elf, section->index), &header) != NULL ? header.ch_size : 0;
    /* The older form, which libdw reads: a word, and the size in big-endian order. */
    if (strncmp(section->name, ".zdebug", 7) == 0 && size >= 12 && memcmp(p, "ZLIB", 4) == 0)
        return load_number(p + 4, 8, true);
    return size;
}

static bool is_in_proportion(struct image *image)
{
    uint64_t sum = 0, names = 0, unpacked = 0;
    size_t i, file_size = 0;

    (void)elf_rawfile(image->elf, &file_size);
    for (i = 0; i < image->num_sections; i++) {
        const struct section *s = &image->sections[i];
        uint64_t size = read_size(image, s);

        *(size > s->size ? &unpacked : &sum) += size > UINT32_MAX ? UINT32_MAX : size;
        if (unpacked > MOST_COMPRESSED * (uint64_t)file_size)
            return image_fail(image, "section %s says that it has %" PRIu64 " bytes uncompressed, in a file of %zu",
                              s->name, size, file_size);
        names += strlen(s->name);
        if (sum > MOST_OVERLAP * (uint64_t)file_size || names > MOST_OVERLAP * (uint64_t)file_size)
            return image_fail(image, "its sections are larger than the file: they overlap there");
    }
    return true;
}

/* Whether the file ends before its section headers do: libelf takes it for one without any. */
static bool is_truncated(const struct image *image)
{
    uint64_t at = image->header.e_shoff, needed = (uint64_t)image->header.e_shnum * image->header.e_shentsize;
    size_t size = 0;

    (void)elf_rawfile(image->elf, &size);
    return at > size || needed > size - at;
}

static void add_section(struct image *image, const struct section *section)
{
    image->sections = grow(image->sections, image->num_sections, sizeof *image->sections);
    image->sections[image->num_sections++] = *section;
}

bool image_segment(const struct image *image, uint32_t type, bool any, uint64_t addr, GElf_Phdr *segment)
{
    size_t i, num = 0;

    if (elf_getphdrnum(image->elf, &num) != 0)
        return false;
    for (i = 0; i < num && gelf_getphdr(image->elf, (int)i, segment) != NULL; i++)
        if (segment->p_type == type && (any || addr - segment->p_vaddr < segment->p_filesz))
            return true;
    return false;
}

/* A program that a dynamic linker starts names that, and one that relocates itself asks for no other image. */
bool image_is_library(const struct image *image)
{
    const struct section *text = image_section(image, ".text");
    Elf_Scn *scn = NULL;
    Elf_Data *data;
    bool asks = false, is_program = false;
    GElf_Phdr segment;
    GElf_Shdr sh;
    GElf_Dyn dyn;
    int i;

    if (image->header.e_type != ET_DYN || text == NULL || image->header.e_entry != text->addr ||
        image_segment(image, PT_INTERP, true, 0, &segment))
        return false;
    while ((scn = elf_nextscn(image->elf, scn)) != NULL)
        if (gelf_getshdr(scn, &sh) != NULL && sh.sh_type == SHT_DYNAMIC)
            break;
    data = scn != NULL ? elf_getdata(scn, NULL) : NULL;
    for (i = 0; data != NULL && gelf_getdyn(data, i, &dyn) != NULL && dyn.d_tag != DT_NULL; i++) {
        asks |= dyn.d_tag == DT_NEEDED || dyn.d_tag == DT_SONAME;
        is_program |= dyn.d_tag == DT_FLAGS_1 && (dyn.d_un.d_val & DF_1_PIE) != 0;
    }
    return asks && !is_program;
}

/* A section at ADDR, of SIZE bytes, or as many as the segment LOAD, which it begins in, has from there on. */
static void add_bare(struct image *image, const char *name, uint32_t type, uint64_t flags, uint64_t addr,
                     uint64_t size, const GElf_Phdr *load)
{
    struct section s = {name, addr, size, 0, flags, NULL, NULL, type, 0};
    uint64_t left = load->p_filesz - (addr - load->p_vaddr);

    s.size = size < left ? size : left;
    s.offset = load->p_offset + (addr - load->p_vaddr);
    s.bytes = raw_bytes(image, s.offset, s.size);
    if (s.bytes != NULL)
        add_section(image, &s);
}

/* Where the entry of .eh_frame at ADDR, in the segment LOAD, ends, or 0. */
static uint64_t entry_end(const struct image *image, uint64_t addr, const GElf_Phdr *load)
{
    const uint8_t *p =
        addr - load->p_vaddr < load->p_filesz ? raw_bytes(image, load->p_offset + (addr - load->p_vaddr), 4) : NULL;

    return p != NULL ? addr + 4 + load_number(p, 4, image->big) : 0;
}

/* Finds .eh_frame by the header that libgcc searches: from where it says up to the end of the last entry that it lists.
 * Linkers write no other form of it (Linux Standard Base, 10.6.2). */
static void add_bare_cfi(struct image *image)
{
    uint64_t start, end = 0, i, count;
    const uint8_t *p, *list;
    GElf_Phdr ph, load;

    if (!image_segment(image, PT_GNU_EH_FRAME, true, 0, &ph))
        return;
    p = raw_bytes(image, ph.p_offset, 12);
    if (p == NULL || memcmp(p, "\x01\x1b\x03\x3b", 4) != 0)
        return;
    start = ph.p_vaddr + 4 + (uint64_t)(int64_t)(int32_t)load_number(p + 4, 4, image->big);
    if (!image_segment(image, PT_LOAD, false, start, &load))
        return;
    count = load_number(p + 8, 4, image->big);
    list = raw_bytes(image, ph.p_offset + 12, 8 * count);
    for (i = 0; list != NULL && i < count; i++) {
        int64_t offset = (int32_t)load_number(list + 8 * i + 4, 4, image->big);
        uint64_t last = entry_end(image, ph.p_vaddr + (uint64_t)offset, &load);

        end = last > end ? last : end;
    }
    if (end > start)
        add_bare(image, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, start, end - start, &load);
}

/* Sections of an image whose section headers somebody has removed (strip --strip-section-headers). */
static void read_bare(struct image *image)
{
    size_t i, num = 0;
    GElf_Phdr ph, load;

    image->bare = true;
    (void)elf_getphdrnum(image->elf, &num);
    for (i = 0; i < num && gelf_getphdr(image->elf, (int)i, &ph) != NULL; i++)
        if (ph.p_type == PT_LOAD && ph.p_flags & PF_X)
            add_bare(image, "PT_LOAD", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, ph.p_vaddr, ph.p_filesz, &ph);
    if (image_segment(image, PT_GNU_SFRAME, true, 0, &ph) && !abi_is_own(image->abi) &&
        image_segment(image, PT_LOAD, false, ph.p_vaddr, &load))
        add_bare(image, ".sframe", SHT_SFRAME, SHF_ALLOC, ph.p_vaddr, ph.p_memsz, &load);
    add_bare_cfi(image);
}

/* The strings of section INDEX, as long as they are, if the last one has an end; else none. libelf looks for the end of
 * each name anew. */
struct names {
    const char *list;
    uint64_t size;
};

static struct names find_names(const struct image *image, size_t index)
{
    struct names none = {NULL, 0};
    const uint8_t *p;
    GElf_Shdr sh;

    if (index == SHN_UNDEF || gelf_getshdr(elf_getscn(image->elf, index), &sh) == NULL ||
        sh.sh_type != SHT_STRTAB || sh.sh_flags & SHF_COMPRESSED || sh.sh_size == 0)
        return none;
    p = raw_bytes(image, sh.sh_offset, sh.sh_size);
    return p != NULL && p[sh.sh_size - 1] == 0 ? (struct names){(const char *)p, sh.sh_size} : none;
}

static const char *name_at(const struct names *names, uint64_t offset)
{
    return offset < names->size ? names->list + offset : "";
}

static bool read_sections(struct image *image)
{
    Elf_Scn *scn = NULL;
    struct names names;
    size_t index;
    GElf_Shdr sh;

    if (is_truncated(image))
        return image_fail(image, "truncated: its section headers are not in the file");
    if (image->header.e_shoff == 0) {
        read_bare(image);
        return true;
    }
    if (elf_getshdrstrndx(image->elf, &index) != 0)
        return image_fail(image, "bad section headers: %s", elf_errmsg(-1));
    names = find_names(image, index);
    while ((scn = elf_nextscn(image->elf, scn)) != NULL) {
        struct section s = {NULL, 0, 0, 0, 0, NULL, NULL, 0, (uint32_t)elf_ndxscn(scn)};

        if (gelf_getshdr(scn, &sh) == NULL)
            return image_fail(image, "bad section headers: %s", elf_errmsg(-1));
        s.name = name_at(&names, sh.sh_name);
        s.addr = sh.sh_addr;
        s.size = sh.sh_size;
        s.offset = sh.sh_offset;
        s.flags = sh.sh_flags;
        s.type = sh.sh_type;
        add_section(image, &s);
    }
    return true;
}

/* ---- Relocatable objects --------------------------------------------------------------------------------------- */

enum { OBJECT_START = 0x10000, OBJECT_ALIGN = 64 };

/* Gives each section of code or data an address. Between two of them there is a gap, so that the end of one is not the
 * start of another. They lie below 2 GiB, because tables of versions 1 and 2 have starts of 32 bits. */
static bool lay_out(struct image *image)
{
    uint64_t at = OBJECT_START;
    size_t i;

    image->object = true;
    for (i = 0; i < image->num_sections; i++) {
        struct section *s = &image->sections[i];

        if (!(s->flags & SHF_ALLOC))
            continue;
        if (s->size > INT32_MAX - at)
            return image_fail(image, "section %s is too large for an object", s->name);
        s->addr = at;
        at = (at + s->size + 2 * OBJECT_ALIGN - 1) / OBJECT_ALIGN * OBJECT_ALIGN;
    }
    return true;
}

/* The relocation of TYPE, or NULL: it is none that tables have. */
static const struct relocation *find_relocation(const struct image *image, uint64_t type)
{
    const struct relocation *r = image->registers->relocations;

    while (r->size != 0 && r->type != type)
        r++;
    return r->size != 0 ? r : NULL;
}

/* What relocation R for VALUE, at address AT, makes of the number OLD. */
static uint64_t relocated(const struct relocation *r, uint64_t old, uint64_t value, uint64_t at)
{
    switch (r->how) {
    case RELOCATION_RELATIVE:
        return value - at;
    case RELOCATION_ADD:
        return old + value;
    case RELOCATION_SUB:
        return old - value;
    case RELOCATION_SET_6:
        return (old & 0xc0) | (value & 0x3f);
    case RELOCATION_SUB_6:
        return (old & 0xc0) | ((old - value) & 0x3f);
    case RELOCATION_SET:
    default:
        return value;
    }
}

/* The address of symbol SYM, if it lies in the object. An object has all its sections in the list, in their order. */
static bool symbol_address(const struct image *image, const GElf_Sym *sym, uint64_t *addr)
{
    if (sym->st_shndx == SHN_UNDEF || sym->st_shndx > image->num_sections)
        return false;
    *addr = image->sections[sym->st_shndx - 1].addr + sym->st_value;
    return true;
}

/* Relocation I of DATA. One of type SHT_REL has its addend where it is applied, which is 4 bytes on CPUs that have such
 * relocations. */
static bool take_relocation(Elf_Data *data, int i, const struct section *section, bool big, GElf_Rela *rela)
{
    GElf_Rel rel;

    if (data->d_type != ELF_T_REL)
        return gelf_getrela(data, i, rela) != NULL;
    if (gelf_getrel(data, i, &rel) == NULL)
        return false;
    rela->r_offset = rel.r_offset;
    rela->r_info = rel.r_info;
    rela->r_addend = 0;
    if (section->size >= 4 && rel.r_offset <= section->size - 4)
        rela->r_addend = (int32_t)load_number(section->bytes + rel.r_offset, 4, big);
    return true;
}

/* Applies the relocations of DATA, which SYMBOLS belong to, to SECTION. Those that lead out of the object are left. */
static void relocate(struct image *image, struct section *section, Elf_Data *data, Elf_Data *symbols)
{
    GElf_Rela rela;
    GElf_Sym sym;
    uint64_t addr;
    int i;

    for (i = 0; take_relocation(data, i, section, image->big, &rela); i++) {
        const struct relocation *r = find_relocation(image, GELF_R_TYPE(rela.r_info));
        uint8_t *p;

        if (r == NULL || rela.r_offset > section->size || r->size > section->size - rela.r_offset ||
            GELF_R_SYM(rela.r_info) > INT32_MAX ||
            gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &sym) == NULL || !symbol_address(image, &sym, &addr))
            continue;
        p = section->own + rela.r_offset;
        store_number(p, r->size, image->big,
                     relocated(r, load_number(p, r->size, image->big), addr + (uint64_t)rela.r_addend,
                               section->addr + rela.r_offset));
    }
}

/* Replaces the bytes of SECTION by relocated ones. */
static void relocate_section(struct image *image, struct section *section)
{
    size_t i;

    section->own = zeroed((size_t)section->size, 1);
    memcpy(section->own, section->bytes, (size_t)section->size);
    section->bytes = section->own;
    for (i = 0; i < image->num_sections; i++) {
        const struct section *s = &image->sections[i];
        Elf_Scn *scn = elf_getscn(image->elf, s->index);
        GElf_Shdr sh;

        if ((s->type == SHT_RELA || s->type == SHT_REL) && gelf_getshdr(scn, &sh) != NULL &&
            sh.sh_info == section->index) {
            Elf_Data *data = elf_getdata(scn, NULL);
            Elf_Data *symbols = elf_getdata(elf_getscn(image->elf, sh.sh_link), NULL);

            if (data != NULL && symbols != NULL)
                relocate(image, section, data, symbols);
        }
    }
}

/* ---- Symbols, as they are -------------------------------------------------------------------------------------- */

/* Whether SYM lies in a section that is not loaded. Such begin at 0; compilers put mapping symbols into .debug_*. */
static bool is_nowhere(const struct image *image, const GElf_Sym *sym)
{
    GElf_Shdr sh;

    return sym->st_shndx != SHN_UNDEF && sym->st_shndx < SHN_LORESERVE &&
           gelf_getshdr(elf_getscn(image->elf, sym->st_shndx), &sh) != NULL && !(sh.sh_flags & SHF_ALLOC);
}

/* Gives each symbol of the tables of TYPE that is somewhere. ADDRESSES: of a function of Thumb code, without bit 0,
 * which says so. */
static bool each_symbol(struct image *image, uint32_t type, image_symbol_fn give, void *ctx, bool addresses)
{
    Elf_Scn *scn = NULL;
    GElf_Shdr sh;
    GElf_Sym sym;
    int i;

    while ((scn = elf_nextscn(image->elf, scn)) != NULL) {
        struct names names;
        Elf_Data *data;

        if (gelf_getshdr(scn, &sh) == NULL || sh.sh_type != type)
            continue;
        data = elf_getdata(scn, NULL);
        if (data == NULL)
            return image_fail(image, "symbols cannot be read: %s", elf_errmsg(-1));
        names = find_names(image, sh.sh_link);
        for (i = 0; gelf_getsym(data, i, &sym) != NULL; i++) {
            if (is_nowhere(image, &sym))
                continue;
            if (image->object)
                (void)symbol_address(image, &sym, &sym.st_value);
            if (addresses && abi_is_arm(image->abi) && GELF_ST_TYPE(sym.st_info) == STT_FUNC)
                sym.st_value &= ~(GElf_Addr)1;
            give(ctx, &sym, name_at(&names, sym.st_name));
        }
    }
    return true;
}

/* ---- ARM ------------------------------------------------------------------------------------------------------- */

/* An image_symbol_fn: counts functions of Thumb code up, others down. */
static void count_thumb(void *ctx, const GElf_Sym *sym, const char *name)
{
    int64_t *balance = ctx;

    (void)name;
    if (GELF_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_shndx != SHN_UNDEF)
        *balance += sym->st_value & 1 ? 1 : -1;
}

/* Which of ARM's ABIs the image has, which is which register its FP is: what tables say that it has already, or what
 * most of its functions are. */
static bool choose_arm(struct image *image)
{
    const bool entry = image->header.e_entry & 1;
    struct section *tables = image_tables(image);
    int64_t balance = 0;

    if (!abi_is_arm(image->abi))
        return true;
    image->header.e_entry -= entry;
    if (tables != NULL && tables->type != SHT_NOBITS && image_load(image, tables) && tables->size > 4 &&
        load_number(tables->bytes, 2, false) == abi_tables_magic(image->abi) && abi_is_arm(tables->bytes[4]))
        return set_abi(image, abi_registers(tables->bytes[4]));
    if (!each_symbol(image, SHT_SYMTAB, count_thumb, &balance, false))
        return false;
    if (balance == 0)
        balance = entry ? 1 : -1;
    return set_abi(image, abi_registers(balance > 0 ? SFU_THUMB : SFU_ARM));
}

/* Whether the attributes of a RISC-V image have NAME, a part of that of an extension. */
static bool has_extension(struct image *image, const char *name)
{
    const size_t size = strlen(name);
    struct section *section = image_section(image, ".riscv.attributes");
    uint64_t i;

    if (!abi_is_riscv(image->abi) || section == NULL || section->type == SHT_NOBITS || !image_load(image, section))
        return false;
    for (i = 0; section->size >= size && i <= section->size - size; i++)
        if (memcmp(section->bytes + i, name, size) == 0)
            return true;
    return false;
}

/* The ULEB128 at *P, which ends before END. */
static uint64_t read_leb(const uint8_t **p, const uint8_t *end)
{
    uint64_t value = 0;
    unsigned shift = 0;

    while (*p < end) {
        const uint8_t byte = *(*p)++;

        value |= shift < 64 ? (uint64_t)(byte & 127) << shift : 0;
        shift += 7;
        if (byte < 128)
            break;
    }
    return value;
}

/* Sets *VALUE to that of the attribute TAG, a number, of a file whose attributes lie from P up to END; 0: there is
 * none. Returns false if they are broken. */
static bool find_attribute(const uint8_t *p, const uint8_t *end, uint64_t tag, uint64_t *value)
{
    enum { RAW_NAME = 4, NAME = 5, COMPATIBLE = 32 };

    *value = 0;
    while (p < end) {
        const uint64_t found = read_leb(&p, end);
        const bool text = found == RAW_NAME || found == NAME || (found > COMPATIBLE && found % 2 == 1);
        const uint64_t number = text ? 0 : read_leb(&p, end);

        if (!text && found == tag)
            *value = number;
        if (text || found == COMPATIBLE) {
            const uint8_t *zero = memchr(p, 0, (size_t)(end - p));

            if (zero == NULL)
                return false;
            p = zero + 1;
        }
    }
    return true;
}

bool image_attribute(struct image *image, uint64_t tag, uint64_t *value)
{
    static const char name[] = "aeabi";
    enum { HEAD = 1 + 4 + sizeof name + 1 + 4 }; /* 'A', a size, a name, Tag_File, a size */
    struct section *section = image_section(image, ".ARM.attributes");

    if (section == NULL || section->type == SHT_NOBITS || !image_load(image, section) || section->size < HEAD ||
        memcmp(section->bytes + 5, name, sizeof name) != 0 || section->bytes[5 + sizeof name] != 1)
        return false;
    return find_attribute(section->bytes + HEAD, section->bytes + section->size, tag, value);
}

/* Whether the CPU of an image for ARM is of the M profile. */
static bool is_m_profile(struct image *image)
{
    enum { PROFILE = 7 };
    uint64_t value;

    return abi_is_arm(image->abi) && image_attribute(image, PROFILE, &value) && value == 'M';
}

static bool open_image(struct image *image, const char *file, bool any, bool names_only)
{
    memset(image, 0, sizeof *image);
    image->names_only = names_only;
    image->fd = -1;
    image->file = file;
    if (!open_file(image))
        return false;
    if (!read_sections(image) || !is_in_proportion(image) ||
        (any && image->header.e_type == ET_REL && !lay_out(image)) || !find_code(image))
        return false;
    image->zcmp = has_extension(image, "zcmp") || has_extension(image, "zcmt");
    image->thead = has_extension(image, "xthead");
    image->m_profile = is_m_profile(image);
    image->error[0] = '\0';
    return choose_arm(image);
}

bool image_open(struct image *image, const char *file)
{
    return open_image(image, file, false, false);
}

bool image_open_names(struct image *image, const char *file)
{
    return open_image(image, file, false, true);
}

bool image_open_any(struct image *image, const char *file)
{
    return open_image(image, file, true, false);
}

void image_close(struct image *image)
{
    size_t i;

    for (i = 0; i < image->num_sections; i++)
        free(image->sections[i].own);
    if (image->elf != NULL)
        elf_end(image->elf);
    free(image->pe);
    if (image->fd >= 0)
        close(image->fd);
    free(image->sections);
    free(image->code);
    free(image->data);
    free(image->symbols);
    free(image->marked);
    image->elf = NULL;
    image->pe = NULL;
    image->fd = -1;
    image->sections = NULL;
    image->code = NULL;
    image->data = NULL;
    image->symbols = NULL;
    image->marked = NULL;
    image->has_marked = false;
    image->num_marked = 0;
    image->num_sections = image->num_code = image->num_data = image->num_symbols = 0;
}

struct section *image_section(const struct image *image, const char *name)
{
    size_t i;

    for (i = 0; i < image->num_sections; i++)
        if (strcmp(image->sections[i].name, name) == 0)
            return &image->sections[i];
    return NULL;
}

struct section *image_tables(const struct image *image)
{
    struct section *section = image_section(image, IMAGE_TABLES);

    return section != NULL || abi_is_own(image->abi) ? section : image_section(image, ".sframe");
}

struct section *image_input(const struct image *image)
{
    size_t i;

    if (!abi_is_own(image->abi))
        return image_section(image, ".sframe");
    for (i = 0; i < image->num_sections; i++)
        if (strncmp(image->sections[i].name, IMAGE_TABLES ".", sizeof IMAGE_TABLES) == 0)
            return &image->sections[i];
    return NULL;
}

const char *image_tables_name(const struct image *image)
{
    return abi_is_own(image->abi) ? IMAGE_TABLES : ".sframe";
}

uint32_t image_tables_type(const struct image *image)
{
    return abi_is_own(image->abi) ? SHT_PROGBITS : SHT_SFRAME;
}

bool image_load(struct image *image, struct section *section)
{
    Elf_Scn *scn;
    Elf_Data *data;

    if (section->bytes != NULL)
        return true;
    scn = elf_getscn(image->elf, section->index);
    if (section->type == SHT_NOBITS)
        return image_fail(image, "section %s has no bytes in the file", section->name);
    if (section->flags & SHF_COMPRESSED && elf_compress(scn, 0, 0) < 0)
        return image_fail(image, "section %s cannot be decompressed: %s", section->name, elf_errmsg(-1));
    /* Raw, because libelf turns the bytes of types that it knows into this machine's order. */
    data = section->flags & SHF_COMPRESSED ? elf_getdata(scn, NULL) : elf_rawdata(scn, NULL);
    if (data == NULL || (data->d_buf == NULL && section->size > 0))
        return image_fail(image, "section %s is not all in the file", section->name);
    if (section->flags & SHF_COMPRESSED)
        section->size = data->d_size;
    else if (data->d_size != section->size)
        return image_fail(image, "section %s is not all in the file", section->name);
    section->bytes = data->d_buf != NULL ? data->d_buf : (const uint8_t *)"";
    if (image->object && (strcmp(section->name, ".eh_frame") == 0 || strcmp(section->name, ".debug_frame") == 0 ||
                          strcmp(section->name, ".sframe") == 0))
        relocate_section(image, section);
    return true;
}

/* ---- Code ------------------------------------------------------------------------------------------------------ */

/* The one of the NUM sections at LIST, by address, that ADDR lies in, or NULL. */
static struct section *section_at(struct section *const *list, size_t num, uint64_t addr)
{
    size_t low = 0, high = num;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list[middle]->addr <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && addr - list[low - 1]->addr < list[low - 1]->size ? list[low - 1] : NULL;
}

struct section *image_code(const struct image *image, uint64_t addr)
{
    return section_at(image->code, image->num_code, addr);
}

const uint8_t *image_instructions(struct image *image, uint64_t addr, uint64_t size)
{
    struct section *s = image_code(image, addr);

    if (s == NULL || size > s->size - (addr - s->addr) || !image_load(image, s))
        return NULL;
    return s->bytes + (addr - s->addr);
}

const uint8_t *image_bytes(struct image *image, uint64_t addr, uint64_t size)
{
    struct section *s = section_at(image->data, image->num_data, addr);

    return s != NULL && size <= s->size - (addr - s->addr) && image_load(image, s) ? s->bytes + (addr - s->addr)
                                                                                   : NULL;
}

/* Whether the SIZE bytes at P are nops and zeros of RISC-V, of 2 and 4 bytes. */
static bool are_riscv_nops(const uint8_t *p, size_t size)
{
    size_t i = 0;

    while (i + 2 <= size) {
        uint64_t half = load_number(p + i, 2, false);

        if (half == 0 || half == 0x0001)
            i += 2;
        else if (i + 4 <= size && load_number(p + i, 4, false) == 0x13)
            i += 4;
        else
            break;
    }
    return i == size;
}

/* Whether the SIZE bytes at P are nops and zeros of ARM: of T32 with 2 and 4 bytes, of A32; or 0xd4d4d4d4, with which
 * lld fills. */
static bool are_arm_nops(const uint8_t *p, size_t size)
{
    size_t i = 0;

    while (i + 2 <= size) {
        const uint64_t half = load_number(p + i, 2, false);
        const uint64_t word = i + 4 <= size ? load_number(p + i, 4, false) : 0;

        if (word == 0xe320f000 || word == 0xe1a00000 || word == 0x8000f3af)
            i += 4;
        else if (half == 0 || half == 0xbf00 || half == 0x46c0 || half == 0xd4d4)
            i += 2;
        else
            break;
    }
    return i == size;
}

/* The same for i386: behind prefixes nop, `nopl n(%eax,%eax)`, and a register of %esi and %edi that is set to what it
 * is (mov, lea). */
static bool are_i386_nops(const uint8_t *p, size_t size)
{
    static const struct {
        uint8_t bytes[3], known, size;
    } nops[] = {{{0x90}, 1, 1},
                {{0xcc}, 1, 1},
                {{0}, 1, 1},
                {{0x66}, 1, 1},
                {{0x2e}, 1, 1},
                {{0x0f, 0x1f, 0}, 3, 3},
                {{0x0f, 0x1f, 0x40}, 3, 4},
                {{0x0f, 0x1f, 0x44}, 3, 5},
                {{0x0f, 0x1f, 0x80}, 3, 7},
                {{0x0f, 0x1f, 0x84}, 3, 8},
                {{0x89, 0xf6}, 2, 2},
                {{0x8d, 0x76, 0}, 3, 3},
                {{0x8d, 0x74, 0x26}, 3, 4},
                {{0x8d, 0xb6, 0}, 3, 6},
                {{0x8d, 0xb4, 0x26}, 3, 7},
                {{0x8d, 0xbf, 0}, 3, 6},
                {{0x8d, 0xbc, 0x27}, 3, 7}};
    const size_t num = sizeof nops / sizeof nops[0];
    size_t i = 0, k = 0;

    while (i < size && k < num) {
        for (k = 0; k < num && (nops[k].size > size - i || memcmp(p + i, nops[k].bytes, nops[k].known) != 0); k++)
            continue;
        i += k < num ? nops[k].size : 0;
    }
    return i == size;
}

/* Whether the SIZE bytes at P are nops, traps and zeros. Of x86_64's nops, which have many forms, the bytes are
 * known. */
static bool are_nops(uint8_t abi, const uint8_t *p, size_t size)
{
    const char *bytes = abi == SFU_AMD64 ? "\x90\xcc\x66\x2e\x0f\x1f\x40\x44\x80\x84" : "\x07";
    size_t i;

    if (abi_is_riscv(abi))
        return are_riscv_nops(p, size);
    if (abi_is_arm(abi))
        return are_arm_nops(p, size);
    if (abi == SFU_I386)
        return are_i386_nops(p, size);
    if (abi == SFU_AMD64 || abi == SFU_S390X) {
        for (i = 0; i < size && (p[i] == 0 || strchr(bytes, p[i]) != NULL); i++)
            continue;
    } else {
        for (i = 0; i + 4 <= size; i += 4) {
            uint32_t word = (uint32_t)load_number(p + i, 4, false);

            if (word != 0xd503201f && word != 0xd4207d00 && word != 0)
                break;
        }
    }
    return i == size;
}

bool image_is_padding(struct image *image, uint64_t start, uint64_t end)
{
    const uint8_t *p = start < end ? image_instructions(image, start, end - start) : NULL;

    return start == end || (p != NULL && are_nops(image->abi, p, (size_t)(end - start)));
}

/* ---- Symbols --------------------------------------------------------------------------------------------------- */

/* The linker's own, such as ___crt_xc_end__ of MinGW: no compiler's function, and a name that C reserves. */
static bool is_mark(const struct symbol *symbol)
{
    return !symbol->function && strncmp(symbol->name, "__", 2) == 0;
}

/* Of the symbols at one address the first by name counts, so that the file's order does not matter, which differs from
 * one linker to the next; marks of the linker come last. */
static int by_symbol(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;

    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    if (is_mark(x) != is_mark(y))
        return is_mark(x) ? -1 : 1;
    return compare_names(y->name, x->name);
}

/* An image_symbol_fn. Mapping symbols ($d, $x) and local labels are left out, because they name no function. */
static void add_symbol(void *ctx, const GElf_Sym *sym, const char *name)
{
    struct image *image = ctx;

    if (GELF_ST_TYPE(sym->st_info) > STT_FUNC || GELF_ST_TYPE(sym->st_info) == STT_OBJECT)
        return;
    if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || name[0] == '\0' || name[0] == '$' ||
        strncmp(name, ".L", 2) == 0)
        return;
    if (image_code(image, sym->st_value) == NULL)
        return;
    image->symbols = grow(image->symbols, image->num_symbols, sizeof *image->symbols);
    image->symbols[image->num_symbols++] =
        (struct symbol){sym->st_value, sym->st_size, name, GELF_ST_TYPE(sym->st_info) == STT_FUNC};
}

bool image_each_symbol(struct image *image, uint32_t type, image_symbol_fn give, void *ctx)
{
    return each_symbol(image, type, give, ctx, true);
}

bool image_symbols(struct image *image)
{
    if (image->num_symbols > 0)
        return true;
    if (!image_each_symbol(image, SHT_SYMTAB, add_symbol, image) ||
        !image_each_symbol(image, SHT_DYNSYM, add_symbol, image))
        return false;
    image_sort_symbols(image);
    return true;
}

void image_sort_symbols(struct image *image)
{
    if (image->num_symbols > 0)
        qsort(image->symbols, image->num_symbols, sizeof *image->symbols, by_symbol);
}

/* The last symbol at or before ADDR, or NULL. */
static const struct symbol *last_symbol(const struct image *image, uint64_t addr)
{
    size_t below = count_up_to(image->symbols, image->num_symbols, sizeof *image->symbols,
                               offsetof(struct symbol, addr), addr);

    return below > 0 ? &image->symbols[below - 1] : NULL;
}

const struct symbol *image_symbol_before(const struct image *image, uint64_t addr)
{
    const struct symbol *symbol = last_symbol(image, addr);

    return symbol != NULL && image_code(image, addr) == image_code(image, symbol->addr) ? symbol : NULL;
}

const struct symbol *image_symbol(const struct image *image, uint64_t addr)
{
    const struct symbol *symbol = last_symbol(image, addr);

    if (symbol == NULL || symbol->size == 0)
        return image_symbol_before(image, addr);
    return addr - symbol->addr < symbol->size ? symbol : NULL;
}

const char *image_name_place(const struct image *image, uint64_t addr, char text[IMAGE_PLACE])
{
    const struct symbol *before = image_symbol_before(image, addr);

    if (before != NULL)
        (void)snprintf(text, IMAGE_PLACE, "0x%" PRIx64 " (%.256s+0x%" PRIx64 ")", addr, before->name,
                       addr - before->addr);
    else
        (void)snprintf(text, IMAGE_PLACE, "0x%" PRIx64, addr);
    return text;
}

bool overwrite_file(int fd, const void *bytes, size_t size, uint64_t offset)
{
    const uint8_t *from = bytes;

    while (size > 0) {
        ssize_t n = pwrite(fd, from, size, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        from += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return true;
}
