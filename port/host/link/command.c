/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "command.h"
#include "common/image.h"
#include "common/report.h"
#include "run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Words ----------------------------------------------------------------------------------------------------- */

static void add_text(struct words *words, const char *text, size_t size)
{
    char *added = zeroed(size + 1, 1);

    memcpy(added, text, size);
    words->list = grow(words->list, words->num, sizeof *words->list);
    words->list[words->num++] = added;
    words->list = grow(words->list, words->num, sizeof *words->list);
    words->list[words->num] = NULL;
}

void words_add(struct words *words, const char *text)
{
    add_text(words, text, strlen(text));
}

static void see(struct command *command, const char *word, unsigned depth);

/* The next word of a response file at *TEXT, without its quotes, into WORD. Returns false at the end. */
static bool next_word(const char **text, char *word)
{
    const char *p = *text + strspn(*text, " \t\r\n\f\v");
    char quote = '\0';

    if (*p == '\0')
        return false;
    for (; *p != '\0' && (quote != '\0' || strchr(" \t\r\n\f\v", *p) == NULL); p++)
        if (*p == '\\' && p[1] != '\0' && quote != '\'')
            *word++ = *++p;
        else if (quote == '\0' && (*p == '"' || *p == '\''))
            quote = *p;
        else if (*p == quote)
            quote = '\0';
        else
            *word++ = *p;
    *word = '\0';
    *text = p;
    return true;
}

/* The words of the response file NAME. Returns false if there is no such file: the word is taken as it is. */
static bool see_file(struct command *command, const char *name, unsigned depth)
{
    char *text = read_text(name), *word;
    const char *p = text;

    if (text == NULL)
        return false;
    word = zeroed(strlen(text) + 1, 1);
    while (next_word(&p, word))
        see(command, word, depth + 1);
    free(word);
    free(text);
    return true;
}

enum { MAX_DEPTH = 16 }; /* of response files that name response files */

/* Adds WORD, and what is in it. */
static void see(struct command *command, const char *word, unsigned depth)
{
    struct words *seen = &command->seen;

    if (word[0] == '@' && depth < MAX_DEPTH && see_file(command, word + 1, depth))
        return;
    if (strncmp(word, "-Wl,", 4) != 0) {
        words_add(seen, word);
        words_add(&command->whole, word);
        return;
    }
    for (word += 4; *word != '\0'; word += word[0] == ',') {
        size_t size = strcspn(word, ",");

        add_text(seen, word, size);
        word += size;
    }
}

/* ---- What a command is ----------------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Whether one of the NUM texts at LIST is TEXT. */
static bool is_one_of(const char *text, const char *const *list, size_t num)
{
    size_t i;

    for (i = 0; i < num; i++)
        if (strcmp(text, list[i]) == 0)
            return true;
    return false;
}

#define IS_ONE_OF(text, list) is_one_of(text, list, sizeof(list) / sizeof((list)[0]))

/* Whether a part of the name of the file at PATH, between dashes and dots, is one of the NUM texts at LIST. */
static bool has_part(const char *path, const char *const *list, size_t num)
{
    const char *name = base_name(path);
    char part[16];

    while (*name != '\0') {
        size_t size = strcspn(name, "-.");

        if (size < sizeof part) {
            memcpy(part, name, size);
            part[size] = '\0';
            if (is_one_of(part, list, num))
                return true;
        }
        name += size + (name[size] != '\0');
    }
    return false;
}

/* Whether the program at PATH is a linker, such as aarch64-linux-gnu-ld.bfd, ld.lld-14 and rust-lld. Files that are
 * linked, and linker scripts (kernel.ld), have other endings. */
static bool is_linker(const char *path)
{
    static const char *const linkers[] = {"ld", "ld64", "lld", "gold", "mold", "wild", "bfd"};
    const char *end = strrchr(base_name(path), '.');

    if (end != NULL && end != base_name(path) && (strcmp(end, ".ld") == 0 || strcmp(end, ".o") == 0))
        return false;
    return has_part(path, linkers, sizeof linkers / sizeof linkers[0]);
}

/* Whether the program at PATH is a compiler that links. */
static bool is_compiler(const char *path)
{
    static const char *const compilers[] = {"cc", "c++", "gcc", "g++", "clang", "clang++", "tcc", "rustc"};

    return has_part(path, compilers, sizeof compilers / sizeof compilers[0]);
}

/* Whether the program at PATH is one beside those, such as gcc-ar: a makefile may write the same words before each. */
static bool is_other_tool(const char *path)
{
    static const char *const others[] = {"ar",    "as",      "ranlib", "nm",      "objcopy",   "objdump",
                                         "strip", "strings", "size",   "readelf", "addr2line", "cpp"};

    return has_part(path, others, sizeof others / sizeof others[0]);
}

/* Whether the command in LIST, whose first word is the name of no tool, is a script that runs a linker: by what it says
 * of itself. A command without the name of an output, or with -c, is not asked. */
static bool says_linker(const struct words *list)
{
    static const char *const linkers[] = {"GNU ld", "GNU gold", "LLD ", "mold "};
    struct words words = {NULL, 0};
    struct said said = {0};
    bool names_output = false, says = false;
    size_t i;

    for (i = 1; i < list->num && strcmp(list->list[i], "-c") != 0; i++)
        names_output |= strcmp(list->list[i], "-o") == 0;
    if (i < list->num || !names_output)
        return false;
    words_add(&words, list->list[0]);
    words_add(&words, "--version");
    if (run_command(words.list, &said) == 0)
        for (i = 0; said.out != NULL && i < sizeof linkers / sizeof linkers[0]; i++)
            says |= strstr(said.out, linkers[i]) != NULL;
    said_free(&said);
    return says;
}

/* How many words in front of the compiler or linker name programs that run it: ccache, env NAME=VALUE, a script. */
static size_t skip_launchers(const struct words *words)
{
    size_t i;

    for (i = 0; i < words->num && words->list[i][0] != '-'; i++)
        if (is_linker(words->list[i]) || is_compiler(words->list[i]))
            return i;
    return 0;
}

/* Options whose next word is no file that is linked. */
static bool takes_word(const char *word)
{
    static const char *const options[] = {"-o",
                                          "--output",
                                          "-T",
                                          "--script",
                                          "-e",
                                          "--entry",
                                          "-m",
                                          "-z",
                                          "-L",
                                          "-u",
                                          "-Map",
                                          "-soname",
                                          "-h",
                                          "-MF",
                                          "-MT",
                                          "-MQ",
                                          "-I",
                                          "-isystem",
                                          "-include",
                                          "-flavor",
                                          "-target",
                                          "-arch",
                                          "-D",
                                          "-U",
                                          "-x",
                                          "--param",
                                          "-mllvm",
                                          "-plugin",
                                          "--sysroot",
                                          "-R",
                                          "--just-symbols",
                                          "-b",
                                          "--format",
                                          "-A",
                                          "--defsym",
                                          "-dT"};

    return IS_ONE_OF(word, options);
}

/* Whether a compiler is told to stop before it links. A linker's -E, -S and -M are other options. */
static bool stops_before(const struct command *command)
{
    static const char *const stops[] = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-###"};
    size_t i;

    for (i = 0; command->driver && i < command->whole.num; i++)
        if (strcmp(command->whole.list[i], "-Xlinker") == 0)
            i++;
        else if (IS_ONE_OF(command->whole.list[i], stops))
            return true;
    return false;
}

/* What the words say of the output: its name, and whether there is an image. */
static void read_words(struct command *command, size_t first)
{
    static const char *const others[] = {"-r", "-i", "-Ur", "--relocatable", "--version", "--help"};
    const struct words *seen = &command->seen;
    bool inputs = false;
    size_t i;

    command->output = "a.out";
    for (i = first; i < seen->num; i++) {
        const char *word = seen->list[i];

        if (IS_ONE_OF(word, others))
            return;
        if (strncmp(word, "--output=", 9) == 0)
            command->output = word + 9;
        else if ((strcmp(word, "-o") == 0 || strcmp(word, "--output") == 0) && i + 1 < seen->num)
            command->output = seen->list[i + 1];
        else if (strncmp(word, "-o", 2) == 0 && word[2] != '\0')
            command->output = word + 2;
        if (takes_word(word))
            i++;
        else
            inputs |= word[0] != '-' || word[1] == '\0' || strncmp(word, "-l", 2) == 0;
    }
    command->links = inputs && !stops_before(command) && strcmp(command->output, "/dev/null") != 0;
}

/* Whether the script NAME asks for sfu_room, or includes another one, which may. */
static bool script_has_room(const char *name)
{
    char *text = read_text(name);
    bool found = text != NULL && (strstr(text, "sfu_room") != NULL || strstr(text, "INCLUDE") != NULL);

    free(text);
    return found;
}

static void read_scripts(struct command *command)
{
    const struct words *seen = &command->seen;
    size_t i;

    for (i = 0; i < seen->num && !command->has_room; i++) {
        const char *word = seen->list[i];

        if ((strcmp(word, "-T") == 0 || strcmp(word, "--script") == 0 || strcmp(word, "-dT") == 0) &&
            i + 1 < seen->num)
            word = strcmp(seen->list[i + 1], "-Xlinker") == 0 && i + 2 < seen->num ? seen->list[i + 2]
                                                                                   : seen->list[i + 1];
        else if (strncmp(word, "--script=", 9) == 0)
            word += 9;
        else if (strncmp(word, "-T", 2) == 0)
            word += 2;
        else if (word[0] == '-')
            continue;
        command->has_room = script_has_room(word);
    }
}

/* cargo hands over the arguments alone, and expects that its linker is one. */
static const char *default_program(const struct words *words)
{
    const char *program = getenv("SFU_LINKER");
    size_t i;

    for (i = 0; program == NULL && i < words->num; i++)
        if (strncmp(words->list[i], "-Wl,", 4) == 0 || strcmp(words->list[i], "-nodefaultlibs") == 0)
            program = "cc";
    if (program != NULL)
        return program;
    return find_program("ld.lld") ? "ld.lld" : find_program("rust-lld") ? "rust-lld" : "ld";
}

bool command_is_argument(const char *word)
{
    const char *end = strrchr(word, '.');

    return word[0] == '-' || word[0] == '@' ||
           (end != NULL && (strcmp(end, ".o") == 0 || strcmp(end, ".a") == 0 || strcmp(end, ".rlib") == 0));
}

void command_read(struct command *command, char **list, size_t num)
{
    size_t i, first = 0;
    const char *program;

    memset(command, 0, sizeof *command);
    for (i = 0; i < num; i++)
        words_add(&command->words, list[i]);
    if (num > 0 && command_is_argument(list[0])) {
        program = default_program(&command->words);
        memset(&command->words, 0, sizeof command->words);
        words_add(&command->words, program);
        if (strcmp(program, "rust-lld") == 0) {
            words_add(&command->words, "-flavor");
            words_add(&command->words, "gnu");
        }
        if (strcmp(list[0], "-flavor") == 0 && num > 1)
            first = 2;
        for (i = first; i < num; i++)
            words_add(&command->words, list[i]);
    }
    first = skip_launchers(&command->words);
    program = command->words.list[first];
    command->unknown =
        !is_linker(program) && !is_compiler(program) && !is_other_tool(program) && !says_linker(&command->words);
    command->driver = command->unknown || is_compiler(program) || is_other_tool(program);
    for (i = first + 1; i < command->words.num; i++)
        see(command, command->words.list[i], 0);
    if (!is_other_tool(command->words.list[0]))
        read_words(command, 0);
    read_scripts(command);
}

/* ---- For which CPU --------------------------------------------------------------------------------------------- */

static void read_property(Elf_Scn *scn, struct target *target)
{
    Elf_Data *data = elf_rawdata(scn, NULL);

    if (target->property != NULL || data == NULL || data->d_size == 0 || data->d_buf == NULL)
        return;
    target->property = zeroed(data->d_size, 1);
    memcpy(target->property, data->d_buf, data->d_size);
    target->property_size = data->d_size;
}

static void read_notes(Elf *elf, struct target *target)
{
    Elf_Scn *scn = NULL;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) != 0)
        return;
    while ((scn = elf_nextscn(elf, scn)) != NULL) {
        GElf_Shdr sh;
        const char *name = gelf_getshdr(scn, &sh) != NULL ? elf_strptr(elf, names, sh.sh_name) : NULL;

        if (name != NULL && strcmp(name, ".note.gnu.property") == 0)
            read_property(scn, target);
        target->stack_note |= name != NULL && strcmp(name, ".note.GNU-stack") == 0;
    }
}

static bool read_target(Elf *elf, struct target *target)
{
    GElf_Ehdr header;

    if (elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == NULL || header.e_type == ET_EXEC)
        return false;
    target->class = header.e_ident[EI_CLASS];
    target->data = header.e_ident[EI_DATA];
    target->machine = header.e_machine;
    target->flags = header.e_flags;
    read_notes(elf, target);
    return true;
}

/* An object, or the first one in an archive that has its objects in it. */
static bool read_whole(const char *name, struct target *target)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
    bool found = false;

    if (elf != NULL && elf_kind(elf) == ELF_K_AR) {
        Elf_Cmd cmd = ELF_C_READ;
        Elf *member;

        while (!found && (member = elf_begin(fd, cmd, elf)) != NULL) {
            found = read_target(member, target);
            cmd = elf_next(member);
            elf_end(member);
        }
    } else if (elf != NULL) {
        found = read_target(elf, target);
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return found;
}

/* A thin archive has names of objects, but not the objects, and libelf does not read it. Headers are those of any
 * archive: the name from byte 0 on, "/", "//" or "/N" with spaces behind; the size in decimal from byte 48 on; and two
 * last bytes that never change. */
enum { AR_MAGIC = 8, AR_HEADER = 60, AR_SIZE = 48, AR_END = 58, AR_NAMES_MAX = 1 << 24 };

/* The next header at *AT of the archive FD, as a string, whose AR_END bytes are those before its last two. */
static bool next_header(int fd, off_t *at, char *header)
{
    if (pread(fd, header, AR_HEADER, *at) != AR_HEADER || memcmp(header + AR_END, "`\n", 2) != 0)
        return false;
    header[AR_END] = '\0';
    *at += AR_HEADER;
    return true;
}

/* SIZE bytes at AT, as a string; or NULL. */
static char *read_names(int fd, off_t at, size_t size)
{
    char *names = size <= AR_NAMES_MAX ? zeroed(size + 1, 1) : NULL;

    if (names != NULL && pread(fd, names, size, at) == (ssize_t)size)
        return names;
    free(names);
    return NULL;
}

/* The object NAME, which is SIZE long, of the archive ARCHIVE: a path from the folder of the archive. */
static bool read_member(const char *archive, const char *name, size_t size, struct target *target)
{
    const char *slash = strrchr(archive, '/');
    const size_t folder = name[0] == '/' || slash == NULL ? 0 : (size_t)(slash + 1 - archive);
    char *path = zeroed(folder + size + 1, 1);
    bool found;

    memcpy(path, archive, folder);
    memcpy(path + folder, name, size);
    found = read_whole(path, target);
    free(path);
    return found;
}

/* The first object of the thin archive NAME. Names of objects end with a slash and the end of a line. */
static bool read_thin(const char *name, struct target *target)
{
    char header[AR_HEADER] = "", *names = NULL;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    off_t at = AR_MAGIC;
    bool found = false;

    if (fd < 0)
        return false;
    if (pread(fd, header, AR_MAGIC, 0) != AR_MAGIC || memcmp(header, "!<thin>\n", AR_MAGIC) != 0)
        at = -1;
    while (!found && at > 0 && next_header(fd, &at, header)) {
        const size_t size = strtoul(header + AR_SIZE, NULL, 10), from = strtoul(header + 1, NULL, 10);
        const bool in_file = header[0] == '/' && (header[1] < '0' || header[1] > '9');

        if (in_file && header[1] == '/' && names == NULL)
            names = read_names(fd, at, size);
        if (in_file)
            at += (off_t)(size + size % 2);
        else if (header[0] != '/')
            found = read_member(name, header, strcspn(header, "/"), target);
        else if (names != NULL && from < strlen(names) && strcspn(names + from, "\n") > 1)
            found = read_member(name, names + from, strcspn(names + from, "\n") - 1, target);
    }
    free(names);
    close(fd);
    return found;
}

static bool read_file(const char *name, struct target *target)
{
    return read_whole(name, target) || read_thin(name, target);
}

/* Compiles an empty source with the options of the command, to SCRATCH. KEPT: those whose next word belongs to them. */
static bool compile_nothing(const struct command *command, const char *scratch)
{
    static const char *const dropped[] = {"-o", "-T",  "-L",       "-l",  "-u",  "-z",  "-e",
                                          "-x", "-Wl", "-Xlinker", "-MF", "-MT", "-MQ", "-include"};
    static const char *const kept[] = {
        "-D",        "-U",       "-I",         "-B",      "-A",       "-G",          "-target", "--sysroot",
        "-isysroot", "-isystem", "-idirafter", "-iquote", "-imacros", "-Xassembler", "-Xclang", "-Xpreprocessor",
        "-mllvm",    "--param"};
    static const char *const added[] = {"-fno-lto", "-w", "-x", "c", "/dev/null", "-c", "-o"};
    size_t i, k, first = skip_launchers(&command->words);
    struct words words = {NULL, 0};

    for (i = 0; i <= first; i++)
        words_add(&words, command->words.list[i]);
    for (; i < command->words.num; i++) {
        const char *word = command->words.list[i];

        if (IS_ONE_OF(word, dropped)) {
            i++;
        } else if (IS_ONE_OF(word, kept) && i + 1 < command->words.num) {
            words_add(&words, word);
            words_add(&words, command->words.list[++i]);
        } else if (word[0] == '-' && strncmp(word, "-Wl,", 4) != 0 && strncmp(word, "-l", 2) != 0 &&
                   strncmp(word, "-M", 2) != 0 && strncmp(word, "-T", 2) != 0 && strncmp(word, "-o", 2) != 0) {
            words_add(&words, word);
        }
    }
    for (k = 0; k < sizeof added / sizeof added[0]; k++)
        words_add(&words, added[k]);
    words_add(&words, scratch);
    return run_silently(words.list);
}

/* Whether the file NAME has LLVM's bitcode, which says nothing of its CPU that could be read here. */
static bool is_bitcode(const char *name)
{
    unsigned char head[4] = {0};
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    const bool is = fd >= 0 && pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
                    memcmp(head, "BC\xc0\xde", sizeof head) == 0;

    if (fd >= 0)
        close(fd);
    return is;
}

/* Has the linker make code of the first input that is bitcode, in SCRATCH. */
static bool link_bitcode(const struct command *command, const char *scratch)
{
    const char *const added[] = {"-r", "-o", scratch};
    const size_t first = skip_launchers(&command->words);
    struct words words = {NULL, 0};
    size_t i = 0, k;

    while (i < command->seen.num && (command->seen.list[i][0] == '-' || !is_bitcode(command->seen.list[i])))
        i++;
    if (i == command->seen.num)
        return false;
    for (k = 0; k <= first; k++)
        words_add(&words, command->words.list[k]);
    for (k = 0; k < sizeof added / sizeof added[0]; k++)
        words_add(&words, added[k]);
    words_add(&words, command->seen.list[i]);
    return run_silently(words.list);
}

/* Whether the file NAME is an input with .note.GNU-stack. */
static bool has_stack_note(const char *name)
{
    struct target target = {0};
    const bool has = read_file(name, &target) && target.stack_note;

    free(target.property);
    return has;
}

bool command_target(const struct command *command, const char *scratch, struct target *target)
{
    const struct words *seen = &command->seen;
    bool found = false;
    size_t i;

    memset(target, 0, sizeof *target);
    (void)elf_version(EV_CURRENT);
    for (i = 0; i < seen->num && !(found && target->stack_note); i++)
        if (takes_word(seen->list[i]))
            i++;
        else if (seen->list[i][0] != '-' && !found)
            found = read_file(seen->list[i], target);
        else if (seen->list[i][0] != '-')
            target->stack_note = has_stack_note(seen->list[i]);
    if (!found) {
        found = (command->driver ? compile_nothing(command, scratch) : link_bitcode(command, scratch)) &&
                read_file(scratch, target);
        unlink(scratch);
    }
    return found &&
           abi_of_machine(target->machine, target->data == ELFDATA2MSB, target->class == ELFCLASS64 ? 8 : 4);
}
