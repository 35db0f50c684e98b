/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Boots kernels that step themselves (stepper.c), and says of each place in which a walk was wrong whether it is a
 * listed fault of the compiler's table.
 *
 *   judge [-n STEPS] [-f KNOWN-FAULTS] [-w WAY] ABI [+]KERNEL...
 *
 * Kernels with a + share what the others leave of STEPS. WAY: words for the stepper, as "/30:port". The figures are
 * those of ../step.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../faults.h"

struct options {
    const struct cpu *cpu;
    const char *way;
    struct faults faults;
    unsigned long long steps;
};

/* A kernel: its file stands in for the machine, of which only the tables are read. */
struct kernel {
    const char *path;
    struct machine machine;
    struct binary image;
    struct tracer tracer;
    struct figures figures;
    unsigned long long faulty; /* instructions at which a walk was wrong or a listed fault was met */
    int exit_code;
    char end[128]; /* what it said at the end; "": nothing */
};

/* How each machine is booted, and the exit status of a kernel that found nothing to be wrong with its program. */
static const struct boot {
    const char *abi, *name, *emulator, *arguments; /* name: a part of the kernel's */
    int good;
} boots[] = {
    {"x86_64", "", "qemu-system-x86_64",
     "-M pc -serial stdio -monitor none -device isa-debug-exit,iobase=0xf4,iosize=4 -append %llu%s", 33},
    {"i386", "", "qemu-system-i386",
     "-M pc -serial stdio -monitor none -device isa-debug-exit,iobase=0xf4,iosize=4 -append %llu%s", 33},
    {"aarch64", "+pac", "qemu-system-aarch64",
     "-M virt -cpu max,pauth-impdef=on -serial stdio -monitor none "
     "-semihosting-config enable=on,target=native,arg=%llu%s",
     0},
    {"aarch64", "", "qemu-system-aarch64",
     "-M virt -cpu cortex-a57 -serial stdio -monitor none -semihosting-config enable=on,target=native,arg=%llu%s",
     0},
    {"s390x", "", "qemu-system-s390x",
     "-singlestep -M s390-ccw-virtio -chardev stdio,id=c -device sclpconsole,chardev=c -action panic=exit-failure "
     "-append %llu%s",
     0},
    {"riscv64", "", "qemu-system-riscv64",
     "-M virt,aclint=on -bios none -serial stdio -monitor none "
     "-semihosting-config enable=on,target=native,arg=%llu%s",
     0},
    {"riscv32", "", "qemu-system-riscv32",
     "-M virt,aclint=on -bios none -serial stdio -monitor none "
     "-semihosting-config enable=on,target=native,arg=%llu%s",
     0},
};

static const struct boot *boot_of(const char *abi, const char *kernel)
{
    size_t i;

    for (i = 0; i < sizeof boots / sizeof *boots; i++)
        if (strcmp(boots[i].abi, abi) == 0 && strstr(kernel, boots[i].name) != NULL)
            return &boots[i];
    return NULL;
}

/* ---- One place ---- */

static bool read_file(struct machine *m, uint64_t addr, void *buffer, size_t len)
{
    const struct kernel *k =
        (const struct kernel *)(const void *)((const char *)m - offsetof(struct kernel, machine));
    uint64_t at = addr - k->image.code_start;

    if (at >= k->image.code_size || len > k->image.code_size - at)
        return false;
    memcpy(buffer, k->image.code + at, len);
    return true;
}

static const struct backend file_backend = {NULL, NULL, NULL, read_file, NULL, NULL};

/* Takes " NAME exact|return PC SP FP" off *TEXT. */
static bool parse_seen(const char **text, const char *name, struct seen *s)
{
    char format[64], kind[8];
    int length = 0;

    snprintf(format, sizeof format, " %s %%7s %%" SCNx64 " %%" SCNx64 " %%" SCNx64 "%%n", name);
    if (sscanf(*text, format, kind, &s->pc, &s->sp, &s->fp, &length) != 4 || length == 0)
        return false;
    s->exact = strcmp(kind, "exact") == 0;
    s->reliable = true;
    *text += length;
    return true;
}

/* Whether a mistake in FIELD is a listed fault. */
static bool is_known(struct options *options, struct kernel *k, const struct mistake *mistake, const char *field,
                     int code)
{
    const struct seen *frame = mistake->frame;
    const struct function *s = binary_function(&k->image, frame->exact ? frame->pc : frame->pc - 1);
    struct regs regs;

    memset(&regs, 0, sizeof regs);
    regs.pc = frame->pc;
    regs.r[options->cpu->abi.sp] = frame->sp;
    regs.r[options->cpu->abi.fp] = frame->fp;
    if (strcmp(field, "entry") == 0 || strcmp(field, "fast") == 0)
        return false;
    if (faults_match(&options->faults, &k->tracer, &k->image, &regs, mistake))
        return true;
    return code == SFU_E_NO_FDE && s != NULL &&
           faults_no_table(&options->faults, options->cpu, &k->image, s->name, frame->pc);
}

/* A line "place ...": see print_place of stepper.c. Returns false if it is malformed. */
static bool judge_place(struct options *options, struct kernel *k, const char *line)
{
    struct seen frame, seen;
    struct mistake mistake;
    char field[8], topmost[8];
    unsigned long long count;
    const char *rest = line;
    const struct function *s;
    uint64_t at;
    int code, length = 0;

    memset(&mistake, 0, sizeof mistake);
    if (sscanf(line, "place %llu %7s %7s %d %" SCNx64 "%n", &count, field, topmost, &code, &at, &length) != 5)
        return false;
    rest += length;
    if (!parse_seen(&rest, "frame", &frame) || !parse_seen(&rest, "right", &mistake.right) ||
        !parse_seen(&rest, "seen", &seen))
        return false;
    mistake.frame = &frame;
    mistake.topmost = strcmp(topmost, "topmost") == 0;
    mistake.field = strcmp(field, "end") == 0 ? NULL : field;
    if (is_known(options, k, &mistake, field, code)) {
        k->figures.known += count;
        return true;
    }
    k->figures.wrong += count;
    s = binary_function(&k->image, frame.exact ? frame.pc : frame.pc - 1);
    printf("# %s: %s+%#" PRIx64 ": %s", k->path, s != NULL ? s->name : "?",
           s != NULL ? frame.pc - s->start : frame.pc, line);
    return true;
}

/* ---- One kernel ---- */

static bool judge_end(struct kernel *k, const char *line)
{
    struct figures *f = &k->figures;
    unsigned long long lost, result;
    int length = 0;

    if (sscanf(line,
               "steps instructions=%llu pcs=%llu frames=%llu no-table=%llu wrong=%llu lost=%llu result=%llu%n",
               &f->instructions, &f->pcs, &f->frames, &f->no_table, &k->faulty, &lost, &result, &length) != 7)
        return false;
    f->wrong += lost;
    snprintf(k->end, sizeof k->end, "%.*s", (int)strcspn(line + length + 1, "\r\n"), line + length + 1);
    return true;
}

/* Every line that the kernel prints has to be known. */
static bool run_kernel(struct options *options, struct kernel *k, unsigned long long steps)
{
    const struct boot *boot = boot_of(options->cpu->abi.name, k->path);
    char format[512], command[2048], line[1024];
    unsigned long long limit = 300 + steps / 500; /* seconds: a hang is a failure */
    bool good = true;
    FILE *f;

    snprintf(format, sizeof format,
             "timeout %%llu %s -m 128M -nodefaults -display none -no-reboot -kernel %%s %s </dev/null",
             boot->emulator, boot->arguments);
    snprintf(command, sizeof command, format, limit, k->path, steps, options->way);
    f = popen(command, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, "place ", 6) == 0 ? judge_place(options, k, line)
                                            : strncmp(line, "steps ", 6) == 0 && judge_end(k, line))
            continue;
        printf("# %s: %s", k->path, line);
        good = false;
    }
    k->exit_code = f != NULL ? pclose(f) : -1;
    return good && k->exit_code != -1 && WIFEXITED(k->exit_code) && WEXITSTATUS(k->exit_code) == boot->good;
}

static bool open_kernel(struct options *options, struct kernel *k)
{
    k->machine.cpu = options->cpu;
    k->machine.backend = &file_backend;
    k->machine.blocks = calloc(MAX_BLOCKS, sizeof *k->machine.blocks);
    return binary_open(&k->image, k->path) && tracer_open(&k->tracer, &k->machine, &k->image) == SFU_OK;
}

static bool judge(struct options *options, const char *path, unsigned long long steps, struct figures *sum)
{
    struct kernel *k = calloc(1, sizeof *k);
    const char *name = strrchr(path, '/');
    bool ok;

    k->path = path;
    ok = open_kernel(options, k) && run_kernel(options, k, steps) && k->figures.wrong == 0 &&
         k->figures.instructions > 0 && strcmp(k->end, "done") == 0;
    if (k->end[0] != '\0' && strcmp(k->end, "done") != 0)
        printf("# %s: %s\n", path, k->end);
    print_figures(options->cpu->abi.name, name != NULL ? name + 1 : path, &k->figures);
    printf("%s %s %s\n", ok ? "ok" : "not ok", options->cpu->abi.name, path);
    add_figures(sum, &k->figures);
    tracer_close(&k->tracer);
    binary_close(&k->image);
    free(k->machine.blocks);
    free(k);
    return ok;
}

/* The kernels without a +, or those with one. */
static bool judge_all(struct options *options, char **kernels, bool shared, struct figures *sum)
{
    unsigned left = 0;
    bool ok = true;
    char **k;

    for (k = kernels; *k != NULL; k++)
        left += (*k)[0] == '+';
    for (k = kernels; *k != NULL; k++) {
        unsigned long long steps = options->steps > sum->instructions ? options->steps - sum->instructions : 1;

        if (shared != ((*k)[0] == '+'))
            continue;
        ok = judge(options, *k + shared, shared ? (steps + left - 1) / left : steps, sum) && ok;
        left -= shared;
    }
    return ok;
}

int main(int argc, char **argv)
{
    struct options options = {NULL, "", {NULL, 0}, 1};
    struct figures sum = {0, 0, 0, 0, 0, 0};
    const char *list = "/dev/null";
    int option;
    bool ok;

    while ((option = getopt(argc, argv, "n:f:w:")) != -1)
        if (option == 'n')
            options.steps = strtoull(optarg, NULL, 10);
        else if (option == 'f')
            list = optarg;
        else if (option == 'w')
            options.way = optarg;
        else
            return 2;
    if (optind == argc || (options.cpu = cpu_by_abi(argv[optind])) == NULL || boot_of(argv[optind], "") == NULL ||
        !faults_read(&options.faults, list, false)) {
        fprintf(stderr, "usage: judge [-n STEPS] [-f KNOWN-FAULTS] [-w WAY] ABI [+]KERNEL...\n");
        return 2;
    }
    ok = judge_all(&options, argv + optind + 1, false, &sum);
    ok = judge_all(&options, argv + optind + 1, true, &sum) && ok;
    print_figures(options.cpu->abi.name, "kernels", &sum);
    if (sum.instructions < options.steps) {
        printf("not ok %s steps: only %llu of %llu instructions\n", options.cpu->abi.name, sum.instructions,
               options.steps);
        ok = false;
    }
    free(options.faults.list);
    return ok ? 0 : 1;
}
