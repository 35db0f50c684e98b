/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * sfu-trace --gdb: a live target behind a stub of the GDB remote protocol. It is stopped, read, and let go again.
 * Nothing that the stub says is believed.
 */
#include "machine/features.h"
#include "trace_process.h"
#include "trace_write.h"

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
    PACKET = 65536,
    BLOCK = 256, /* bytes of memory that are read at once, because each packet takes a round trip */
    BLOCKS = 64, /* that are kept */
    MAX_THREADS = 4096,
    WAIT = 10,       /* seconds for an answer, from the command to its last character */
    SESSION = 1200,  /* seconds for all, because each answer may be late and ask for another question */
    TRIES = 3,       /* of a packet that gets lost */
    EVENTS = 1000,   /* packets that are no answer, at most: otherwise a peer that goes on talking would hang us */
    GARBAGE = 65536, /* characters between answers, at most, for the same reason */
    STOP_WAIT = 2,   /* seconds, where no answer may come because the target runs */
    RISCV_REGISTERS = 33, /* in the answer to "g": x0 to x31, and the PC */
    S390X_FLOAT = 35,     /* the stub's number of s390x's f0 */
    NAME = 40,
    DESCRIPTION = 1 << 18, /* bytes of the description of a target, or of a part of it, at most */
    PARTS = 64             /* of it, at most */
};

struct block {
    uint64_t addr;
    uint8_t bytes[BLOCK];
    bool valid;
};

struct stub {
    const char *address;
    int fd;
    uint8_t abi;
    char input[4096];
    size_t have, used;
    int wait;             /* seconds for an answer */
    int64_t began, until; /* milliseconds: when the session began, and until when the answer must be there */
    bool stopped;         /* it must be let go again */
    char command[128];    /* the packet that was sent last */
    size_t command_size;
    bool received; /* the stub has said that it has it */
    unsigned lost; /* packets, either way, since then */
    char reply[PACKET];
    size_t reply_size;
    struct block blocks[BLOCKS];
    unsigned next;  /* block to be replaced */
    bool is_wide;   /* its registers have 64 bits, of an image of 32 */
    bool described; /* the stub has been asked which registers there are: */
    bool has_psp;
    uint64_t psp;
    unsigned parts;
    bool keep; /* what is read is for a core: */
    struct memory kept;
    struct core_thread *cores; /* to be freed */
    size_t num_cores;
    struct core_notes notes; /* of a process: what its auxiliary vector says */
    uint8_t auxv[4096];
};

/* ---- Packets --------------------------------------------------------------------------------------------------- */

/* What lets the target go without waiting for an answer. A second packet would stop QEMU's again. Static, because the
 * signal handler below sends it. */
static char detach[NAME + 8] = "$D#44";

static void fail_stub(const struct stub *s, const char *what) __attribute__((noreturn));
static void fail_stub(const struct stub *s, const char *what)
{
    if (s->stopped)
        (void)send(s->fd, detach, strlen(detach), MSG_NOSIGNAL);
    report_fail("%s: %s", s->address, what);
}

static int64_t milliseconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* An answer must be there as a whole in time: a stub that gives it byte by byte would hang us. */
static void expect_answer(struct stub *s)
{
    s->until = milliseconds() + INT64_C(1000) * s->wait;
    if (s->until - s->began > INT64_C(1000) * SESSION)
        fail_stub(s, "the stub has taken too long for all that it was asked");
}

static void send_bytes(const struct stub *s, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = send(s->fd, bytes, size, MSG_NOSIGNAL);

        if (n <= 0)
            fail_stub(s, "the stub has closed the connection");
        bytes += n;
        size -= (size_t)n;
    }
}

static void send_command(struct stub *s, const char *command)
{
    unsigned sum = 0;
    const char *c;
    int size;

    for (c = command; *c != '\0'; c++)
        sum += (unsigned char)*c;
    size = snprintf(s->command, sizeof s->command, "$%s#%02x", command, sum & 255);
    if (size < 0 || (size_t)size >= sizeof s->command)
        fail_stub(s, "too long a command");
    s->command_size = (size_t)size;
    s->received = false;
    s->lost = 0;
    expect_answer(s);
    send_bytes(s, s->command, s->command_size);
}

static void send_again(struct stub *s)
{
    if (++s->lost > TRIES)
        fail_stub(s, "packets get lost again and again");
    expect_answer(s);
    send_bytes(s, s->command, s->command_size);
}

static void set_wait(struct stub *s, int seconds)
{
    s->wait = seconds;
    expect_answer(s);
}

/* The next character, or -1 if none comes in time. */
static int next_char(struct stub *s)
{
    if (s->used == s->have) {
        const int64_t left = s->until - milliseconds();
        struct pollfd ready = {.fd = s->fd, .events = POLLIN};
        ssize_t n;

        if (left <= 0 || poll(&ready, 1, (int)left) <= 0)
            return -1;
        n = recv(s->fd, s->input, sizeof s->input, 0);
        if (n == 0)
            fail_stub(s, "the stub has closed the connection");
        if (n < 0)
            return -1;
        s->have = (size_t)n;
        s->used = 0;
    }
    return (unsigned char)s->input[s->used++];
}

/* Skips what stands before a packet. Returns false if none comes in time. "+" and "-" say whether the stub has got the
 * last command. A notification ("%Stop:...") is passed over, as it has no "$". */
static bool find_packet(struct stub *s)
{
    size_t skipped = 0;
    int c;

    while ((c = next_char(s)) != '$') {
        if (c < 0)
            return false;
        if (c == '+')
            s->received = true;
        if (c == '-')
            send_again(s);
        if (skipped++ > GARBAGE)
            fail_stub(s, "garbage: it is no stub of the GDB protocol");
    }
    return true;
}

/* Takes what stands between "$" and "#" into s->reply, without run-length encoding: "c*N" repeats c as often as the
 * character N says, less 29, so that N is printable. Returns whether the sum behind it is right. */
static bool take_packet(struct stub *s)
{
    size_t n = 0;
    unsigned sum = 0;
    char check[3] = "";
    int c;

    while ((c = next_char(s)) != '#') {
        if (c < 0)
            fail_stub(s, "half an answer");
        sum += (unsigned)c;
        if (c == '*' && n > 0) {
            int count = next_char(s);

            if (count < ' ' || n + (size_t)(count - 29) >= PACKET)
                fail_stub(s, "an answer that cannot be");
            sum += (unsigned)count;
            memset(s->reply + n, s->reply[n - 1], (size_t)(count - 29));
            n += (size_t)(count - 29);
            continue;
        }
        if (n >= PACKET - 1)
            fail_stub(s, "too long an answer");
        s->reply[n++] = (char)c;
    }
    s->reply[n] = '\0';
    s->reply_size = n;
    check[0] = (char)next_char(s);
    check[1] = (char)next_char(s);
    return strtoul(check, NULL, 16) == (sum & 255);
}

/* Takes a packet, again if it is broken. Returns false if none comes in time. */
static bool get_packet(struct stub *s)
{
    while (find_packet(s)) {
        if (take_packet(s)) {
            send_bytes(s, "+", 1);
            return true;
        }
        if (++s->lost > TRIES)
            fail_stub(s, "answers with wrong checksums: is it a stub of the GDB protocol?");
        send_bytes(s, "-", 1);
    }
    return false;
}

/* What a stub sends without being asked: that the target has stopped or ended, and what it prints. An answer "OK"
 * begins as the latter does. */
static bool is_event(const char *reply)
{
    return reply[0] != '\0' && strchr("TSWXNO", reply[0]) != NULL && strcmp(reply, "OK") != 0;
}

/* Asks, and takes the answer. A packet that comes before the stub has acknowledged the command is passed over, because
 * it answers an earlier one; so is an event. */
static const char *ask(struct stub *s, const char *command)
{
    unsigned packets = 0;

    send_command(s, command);
    for (;;)
        if (!get_packet(s))
            send_again(s);
        else if (s->received && !is_event(s->reply))
            return s->reply;
        else if (packets++ > EVENTS)
            fail_stub(s, "no answer: is it a stub of the GDB protocol?");
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* SIZE bytes in digits at HEX. Returns false if there are fewer, or if they are not known ("xx"). */
static bool from_hex(const char *hex, uint8_t *bytes, size_t size)
{
    size_t i;

    for (i = 0; i < size; i++) {
        int high = hex_digit(hex[2 * i]), low = high >= 0 ? hex_digit(hex[2 * i + 1]) : -1;

        if (low < 0)
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

/* Once, although CPUs may have other memory at the same address, because a core has one memory for all threads. */
static void keep_bytes(struct stub *s, uint64_t addr, const uint8_t *bytes, size_t size)
{
    uint8_t *copy;
    size_t i;

    for (i = 0; i < s->kept.num; i++)
        if (addr >= s->kept.segments[i].vaddr && addr - s->kept.segments[i].vaddr < s->kept.segments[i].size)
            return;
    copy = zeroed(size, 1);
    memcpy(copy, bytes, size);
    memory_add(&s->kept, addr, 0, copy, size);
}

static bool ask_memory(struct stub *s, uint64_t addr, uint8_t *bytes, size_t size)
{
    char command[64];

    snprintf(command, sizeof command, "m%" PRIx64 ",%zx", addr, size);
    if (ask(s, command)[0] == 'E' || strlen(s->reply) != 2 * size || !from_hex(s->reply, bytes, size))
        return false;
    if (s->keep)
        keep_bytes(s, addr, bytes, size);
    return true;
}

static const struct block *get_block(struct stub *s, uint64_t addr)
{
    struct block *b;
    unsigned i;

    for (i = 0; i < BLOCKS; i++)
        if (s->blocks[i].valid && s->blocks[i].addr == addr)
            return &s->blocks[i];
    b = &s->blocks[s->next++ % BLOCKS];
    b->addr = addr;
    b->valid = ask_memory(s, addr, b->bytes, BLOCK);
    return b->valid ? b : NULL;
}

/* By blocks, or just what is asked for if the block around it cannot be read, because memory may end inside of it. */
static bool read_memory(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    struct stub *s = ctx;
    uint64_t start = addr - addr % BLOCK;
    const struct block *b;

    if (addr - start + len > BLOCK)
        return len <= BLOCK && ask_memory(s, addr, buffer, len);
    b = get_block(s, start);
    if (b == NULL)
        return ask_memory(s, addr, buffer, len);
    memcpy(buffer, b->bytes + (addr - start), len);
    return true;
}

/* ---- Registers ------------------------------------------------------------------------------------------------- */

/* Those of s390x that are not in the g packet. The stub gives them only to those who have asked what there is. */
static void read_stub_floats(struct stub *s, struct thread_registers *regs)
{
    char command[16];
    uint8_t bytes[8];
    unsigned reg;

    (void)ask(s, "qXfer:features:read:target.xml:0,ffb");
    for (reg = 16; reg < 32; reg++) {
        snprintf(command, sizeof command, "p%x", S390X_FLOAT + s390x_float(reg));
        regs->known[reg] = ask(s, command)[0] != 'E' && strlen(s->reply) == 16 && from_hex(s->reply, bytes, 8);
        if (regs->known[reg])
            regs->value[reg] = load_number(bytes, 8, true);
    }
}

/* The part ANNEX of the target's description, to be freed; NULL: there is none. */
static char *read_annex(struct stub *s, const char *annex)
{
    char *text = zeroed(DESCRIPTION, 1), command[FEATURE_NAME + 64];
    size_t size = 0;

    do {
        snprintf(command, sizeof command, "qXfer:features:read:%s:%zx,ffb", annex, size);
        (void)ask(s, command);
        if ((s->reply[0] != 'm' && s->reply[0] != 'l') || size + s->reply_size >= DESCRIPTION ||
            (s->reply[0] == 'm' && s->reply_size < 2)) {
            free(text);
            return NULL;
        }
        memcpy(text + size, s->reply + 1, s->reply_size - 1);
        size += s->reply_size - 1;
    } while (s->reply[0] == 'm');
    return text;
}

/* Finds the process stack pointer of a Cortex-M in the description, of which ANNEX is a part. *NEXT: the number of the
 * next register that has none of its own. */
static void find_psp(struct stub *s, const char *annex, uint64_t *next)
{
    struct feature_tag tag;
    char *text;
    const char *at;

    if (s->parts == PARTS)
        return;
    s->parts++;
    text = read_annex(s, annex);
    for (at = text; at != NULL && !s->has_psp && features_next(&at, &tag);) {
        if (tag.include) {
            if (strspn(tag.name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
                strlen(tag.name))
                find_psp(s, tag.name, next);
            continue;
        }
        if (tag.numbered && (!text_is_number(tag.number, next) || *next > UINT16_MAX))
            break;
        s->has_psp = features_is(&tag, "psp");
        s->psp = (*next)++;
    }
    free(text);
}

/* It is not among the registers of the g packet, or not at a place that all stubs have. */
static void read_stub_psp(struct stub *s, struct thread_registers *regs)
{
    char command[32];
    uint8_t bytes[4];
    uint64_t next = 0;

    if (!s->described)
        find_psp(s, "target.xml", &next);
    s->described = true;
    if (!s->has_psp)
        return;
    snprintf(command, sizeof command, "p%" PRIx64, s->psp);
    regs->has_psp = ask(s, command)[0] != 'E' && strlen(s->reply) == 8 && from_hex(s->reply, bytes, 4);
    if (regs->has_psp)
        regs->psp = load_number(bytes, 4, false);
}

/* Whether the stub gives a program of 32-bit x86 the registers of 64 bits, as qemu-system-x86_64 does. */
static bool is_wide_x86(struct stub *s)
{
    char *text;

    if (s->abi != SFU_I386)
        return false;
    if (!s->described) {
        text = read_annex(s, "target.xml");
        s->is_wide = text != NULL && strstr(text, "<architecture>i386:x86-64</architecture>") != NULL;
        s->described = true;
        free(text);
    }
    return s->is_wide;
}

static void read_stub_registers(struct stub *s, struct thread_registers *regs)
{
    /* eax to edi, and eip, in the order of amd64's packet. */
    static const int8_t wide_x86[NUM_REGISTERS] = {0,  2,  3,  1,  7,  6,  4,  5,  -1, -1, -1,
                                                   -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                                   -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 16};
    const struct registers *r = abi_registers(s->abi);
    const bool wide = is_wide_x86(s);
    const unsigned word = wide ? 8 : r->word;
    size_t size;
    unsigned reg;

    memset(regs, 0, sizeof *regs);
    if (ask(s, "g")[0] == 'E')
        fail_stub(s, "the registers cannot be read");
    size = strlen(s->reply) / (2u * word);
    if (s->abi == SFU_RISCV32 && size == 2 * RISCV_REGISTERS)
        fail_stub(s, "registers of 64 bits, but the image is for riscv32");
    for (reg = 0; reg < NUM_REGISTERS; reg++) {
        int at = wide ? wide_x86[reg] : r->gdb[reg];
        uint8_t bytes[8];

        if (at < 0)
            continue;
        if ((size_t)at >= size)
            fail_stub(s, "fewer registers than the image's CPU has");
        regs->known[reg] = from_hex(s->reply + 2 * word * (size_t)at, bytes, word);
        if (regs->known[reg])
            regs->value[reg] = load_number(bytes, r->word, r->big);
    }
    if (s->abi == SFU_S390X)
        read_stub_floats(s, regs);
    if (s->abi == SFU_THUMB)
        read_stub_psp(s, regs);
}

/* ---- Core ------------------------------------------------------------------------------------------------------ */

/* The stack from SP up, as far as it can be read: a walk reads some of its words alone. */
static void keep_thread(struct stub *s, const struct thread_registers *regs)
{
    enum { STACK_BLOCKS = 64 };
    uint64_t addr = regs->value[abi_registers(s->abi)->sp];
    unsigned i;

    s->cores = grow(s->cores, s->num_cores, sizeof *s->cores);
    s->cores[s->num_cores++] = (struct core_thread){.regs = *regs};
    addr -= addr % BLOCK;
    for (i = 0; i < STACK_BLOCKS && addr <= UINT64_MAX - BLOCK && get_block(s, addr) != NULL; i++)
        addr += BLOCK;
}

/* The target has been let go. */
static void write_kept(struct stub *s, const struct trace_options *options)
{
    struct written w = {.abi = s->abi, .threads = s->cores, .num_threads = s->num_cores};
    size_t i;

    w.auxv = s->notes.auxv;
    w.blocks = s->kept.segments;
    w.num_blocks = s->kept.num;
    write_set_image(&w, &options->images);
    write_add_memory(&w, &s->kept);
    write_core(&w, options->written);
    free(w.pieces);
    for (i = 0; i < s->kept.num; i++)
        free((void *)s->kept.segments[i].bytes);
    free(s->kept.segments);
    free(s->cores);
}

/* ---- Threads --------------------------------------------------------------------------------------------------- */

struct thread_list {
    char (*names)[NAME];
    size_t num;
};

static bool is_listed(const struct thread_list *list, const char *name)
{
    size_t i;

    for (i = 0; i < list->num; i++)
        if (strcmp(list->names[i], name) == 0)
            return true;
    return false;
}

static void add_threads(struct stub *s, struct thread_list *list)
{
    char *save = NULL, *name;

    for (name = strtok_r(s->reply + 1, ",", &save); name != NULL; name = strtok_r(NULL, ",", &save)) {
        if (strlen(name) >= NAME - 2 || name[strspn(name, "0123456789abcdefABCDEF.p-")] != '\0' ||
            is_listed(list, name))
            fail_stub(s, "threads whose names make no sense");
        if (list->num == MAX_THREADS)
            fail_stub(s, "too many threads");
        list->names = grow(list->names, list->num, sizeof *list->names);
        snprintf(list->names[list->num++], NAME, "%s", name);
    }
}

static void list_threads(struct stub *s, struct thread_list *list)
{
    const char *reply = ask(s, "qfThreadInfo");
    size_t rounds;

    for (rounds = 0; reply[0] == 'm' && rounds < MAX_THREADS; rounds++) {
        add_threads(s, list);
        reply = ask(s, "qsThreadInfo");
    }
}

/* What the stub knows of the chosen thread, "CPU#0 [halted ]" for instance, as printable characters; or "". */
static void describe_thread(struct stub *s, const char *name, char *text, size_t room)
{
    char command[NAME + 20];
    size_t size, i;

    text[0] = '\0';
    snprintf(command, sizeof command, "qThreadExtraInfo,%s", name);
    size = strlen(ask(s, command)) / 2;
    if (size == 0 || size + 2 > room || !from_hex(s->reply, (uint8_t *)text + 1, size))
        return;
    text[0] = ' ';
    for (i = 0; i <= size; i++)
        if (text[i] < ' ' || text[i] > '~')
            text[i] = '?';
    text[i] = '\0';
}

/* Forgets what has been read, because each CPU of a machine has page tables of its own. */
static void choose_thread(struct stub *s, const char *name)
{
    char command[NAME + 2];

    snprintf(command, sizeof command, "Hg%s", name);
    if (strcmp(ask(s, command), "OK") != 0)
        fail_stub(s, "a thread that cannot be chosen");
    memset(s->blocks, 0, sizeof s->blocks);
}

static void print_thread(struct stub *s, const struct trace_out *out, struct trace_space *space, const char *name,
                         size_t number)
{
    struct thread_registers regs;
    char text[100] = "";

    if (name != NULL) {
        choose_thread(s, name);
        describe_thread(s, name, text, sizeof text);
    }
    read_stub_registers(s, &space->regs);
    regs = space->regs;
    out_line(out, "%sthread %zu (%s)%s", number > 1 ? "\n" : "", number, name != NULL ? name : "the only one",
             text);
    if (!walk_print(out, space, SFU_PC_EXACT))
        out_line(out, "its PC and SP are not known");
    else if (s->keep)
        keep_thread(s, &regs);
}

/* ---- A process ------------------------------------------------------------------------------------------------- */

/* The bytes of the reply behind its first, "l" or "m", in which "}" comes before a byte that would be mistaken. Returns
 * how many there are, at most ROOM. */
static size_t take_binary(const struct stub *s, uint8_t *bytes, size_t room)
{
    size_t i, n = 0;

    for (i = 1; i < s->reply_size && n < room; i++) {
        bool escaped = s->reply[i] == '}' && i + 1 < s->reply_size;

        i += escaped;
        bytes[n++] = (uint8_t)(escaped ? s->reply[i] ^ 0x20 : s->reply[i]);
    }
    return n;
}

/* Reads the auxiliary vector, which stubs of a machine do not have. Returns whether there is one: this is a process. */
static bool read_auxv(struct stub *s)
{
    char command[40];
    size_t size = 0, got = 1;
    bool more = true;

    while (more && got > 0 && size < sizeof s->auxv) {
        snprintf(command, sizeof command, "qXfer:auxv:read::%zx,%zx", size, sizeof s->auxv - size);
        more = ask(s, command)[0] == 'm';
        if (!more && s->reply[0] != 'l')
            break;
        got = take_binary(s, s->auxv + size, sizeof s->auxv - size);
        size += got;
    }
    s->notes.abi = s->abi;
    notes_read_auxv(&s->notes, s->auxv, size);
    return s->notes.phdr != 0;
}

/* Places the images of a process, or those of a machine. */
static void place_stub_images(struct stub *s, struct trace_options *options, struct trace_space *space)
{
    const struct trace_process process = {options, &s->notes, read_memory, s};

    space->machine = !read_auxv(s);
    if (!space->machine) {
        if (options->red_zone < 0)
            space->red_zone = abi_registers(s->abi)->red_zone;
        process_place(&process);
    }
    images_place(&options->images, options->slide);
}

/* ---- Session --------------------------------------------------------------------------------------------------- */

static void connect_stub(struct stub *s)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list, *a;
    const char *colon = strrchr(s->address, ':');
    char host[256];
    int error;

    if (colon == NULL || (size_t)(colon - s->address) >= sizeof host)
        report_fail("--gdb: not HOST:PORT: %s", s->address);
    snprintf(host, sizeof host, "%.*s", (int)(colon - s->address), s->address);
    error = getaddrinfo(host[0] != '\0' ? host : "localhost", colon + 1, &hints, &list);
    if (error != 0)
        report_fail("--gdb=%s: HOST:PORT is needed: %s", s->address, gai_strerror(error));
    s->fd = -1;
    for (a = list; a != NULL && s->fd < 0; a = a->ai_next) {
        s->fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (s->fd >= 0 && connect(s->fd, a->ai_addr, a->ai_addrlen) != 0) {
            close(s->fd);
            s->fd = -1;
        }
    }
    freeaddrinfo(list);
    if (s->fd < 0)
        report_fail("%s: %s: is a stub there? (QEMU: -gdb tcp:HOST:PORT)", s->address, strerror(errno));
    /* Otherwise each small packet waits until the one before it has been acknowledged. */
    (void)setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
}

/* Takes packets until one says that the target has stopped. Returns false if none comes in time. */
static bool wait_for_stop(struct stub *s)
{
    unsigned packets = 0;

    do {
        if (!get_packet(s))
            return false;
        if (s->reply[0] == 'W' || s->reply[0] == 'X')
            fail_stub(s, "the program has ended");
        s->stopped = s->reply[0] == 'T' || s->reply[0] == 'S';
        /* OK: it runs, in non-stop mode. */
        if (!s->stopped && s->reply[0] != 'O')
            fail_stub(s, "it does not say that it has stopped");
    } while (!s->stopped && strcmp(s->reply, "OK") != 0 && packets++ < EVENTS);
    return true;
}

/* Most stubs stop the target when somebody connects, and some say so. Others must be asked, and one that does not
 * answer is interrupted. A stub that another debugger has left in non-stop mode stops one thread alone before it is
 * in all-stop mode again. */
static void stop(struct stub *s)
{
    set_wait(s, STOP_WAIT);
    send_bytes(s, "+", 1); /* otherwise the stub repeats what it had sent to whoever was connected before */
    send_command(s, "?");
    if (!wait_for_stop(s)) {
        send_bytes(s, "\003", 1);
        set_wait(s, WAIT);
        if (!wait_for_stop(s))
            fail_stub(s, "it does not stop, or is no stub of the GDB protocol");
    }
    set_wait(s, WAIT);
    if (strcmp(ask(s, "QNonStop:0"), "OK") == 0) {
        s->stopped = false;
        send_command(s, "?");
        if (!wait_for_stop(s) || !s->stopped)
            fail_stub(s, "it does not stop");
    }
    if (!s->stopped)
        fail_stub(s, "it does not say that it has stopped");
}

/* "D", or to a stub that knows of several processes ("p1.2" is a thread of the first), as QEMU does once gdb has been
 * connected: "D;1". Returns whether there is such a name. */
static bool name_detach(const char *name, char *command, size_t room)
{
    if (name[0] != 'p')
        return false;
    snprintf(command, room, "D;%.*s", (int)strcspn(name + 1, "."), name + 1);
    return true;
}

static void set_detach(const struct thread_list *threads)
{
    char command[NAME + 2];
    unsigned sum = 0;
    const char *c;

    if (threads->num == 0 || !name_detach(threads->names[0], command, sizeof command))
        return;
    for (c = command; *c != '\0'; c++)
        sum += (unsigned char)*c;
    snprintf(detach, sizeof detach, "$%s#%02x", command, sum & 255);
}

/* Sends COMMAND and returns whether the answer, if any comes, is good. */
static bool try_detach(struct stub *s, const char *command)
{
    unsigned packets = 0;

    send_command(s, command);
    do {
        if (!get_packet(s))
            return true;
    } while ((!s->received || is_event(s->reply)) && packets++ < EVENTS);
    return strcmp(s->reply, "OK") == 0;
}

/* Lets the target go on, whatever it has done before: each process of it. */
static void let_go(struct stub *s, const struct thread_list *threads)
{
    char command[NAME + 2];
    size_t i;

    set_wait(s, STOP_WAIT);
    if (!try_detach(s, "D")) {
        for (i = 0; i < threads->num; i++) {
            const char *name = threads->names[i];
            bool again = i > 0 && strncmp(name, threads->names[i - 1], strcspn(name, ".") + 1) == 0;

            if (!again && name_detach(name, command, sizeof command))
                (void)try_detach(s, command);
        }
    }
    s->stopped = false;
}

/* ---- When the user has had enough ------------------------------------------------------------------------------ */

static volatile sig_atomic_t interrupted_fd = -1;

/* The target must not stay stopped. Does nothing that a signal handler may not do: it sends, and prints nothing. */
static void on_signal(int number)
{
    if (interrupted_fd >= 0)
        (void)send(interrupted_fd, detach, strlen(detach), MSG_NOSIGNAL);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void catch_signals(const struct stub *s)
{
    interrupted_fd = s->fd;
    (void)signal(SIGINT, on_signal);
    (void)signal(SIGTERM, on_signal);
    (void)signal(SIGHUP, on_signal);
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

/* Prints what the stub calls threads, of a machine its CPUs, and then the threads of the kernel. */
static void print_threads(struct stub *s, struct trace_options *options, struct trace_space *space,
                          const struct thread_list *threads)
{
    const struct trace_out out = {stdout, "", "\n", NULL, NULL};
    struct kernel_threads kernel;
    size_t i;

    for (i = 0; i < threads->num; i++)
        print_thread(s, &out, space, threads->names[i], i + 1);
    if (threads->num == 0)
        print_thread(s, &out, space, NULL, 1);
    else
        choose_thread(s, threads->names[0]);
    threads_print(&out, space, options->threads, 1, &kernel);
    for (i = 0; i < kernel.num && s->keep; i++)
        if (kernel.list[i].regs.known[REGISTER_PC])
            keep_thread(s, &kernel.list[i].regs);
    free(kernel.list);
}

void trace_gdb(struct trace_options *options, const char *address)
{
    struct stub *s = zeroed(1, sizeof *s);
    struct thread_list threads = {NULL, 0};
    struct trace_frames seen = {NULL, 0};
    struct trace_space space;

    s->address = address;
    s->keep = options->written != NULL;
    s->abi = options->images.list[0]->image.abi;
    trace_space_init(&space, options, s->abi);
    space.read = read_memory;
    space.ctx = s;
    space.seen = &seen;
    connect_stub(s);
    s->began = milliseconds();
    catch_signals(s);
    stop(s);
    list_threads(s, &threads);
    set_detach(&threads);
    place_stub_images(s, options, &space);
    if (space.machine) {
        if (threads.num > 0)
            choose_thread(s, threads.names[0]);
        read_stub_registers(s, &space.regs);
        slide_set(&space, options->slide);
    }
    images_verify(&options->images, &space);
    print_threads(s, options, &space, &threads);
    let_go(s, &threads);
    interrupted_fd = -1;
    close(s->fd);
    if (s->keep)
        write_kept(s, options);
    free(threads.names);
    free(seen.list);
    free(s);
}
