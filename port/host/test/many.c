/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A tool under the sanitizers, whose main() is tool_main() here, as often as it is asked: to begin costs such a program
 * more than what it does with a small file. With SFU_MANY=SECONDS in the environment it reads lines, each of which has
 * the files for standard input, output and errors, and arguments, between tabs. Each is a process of its own, which
 * SECONDS end. What became of it is printed: its status, or 256 and the number of the signal. many.py asks.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int tool_main(int argc, char **argv);

enum { MOST = 64 /* fields */, FILES = 3 };

/* How much freed memory the address sanitizer keeps from use. With its own 256 MiB nothing that a run frees is used
 * again, and touching new memory takes a fifth of the time; one function of an image frees a quarter of one MiB. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=4";
}

static void open_as(int number, const char *file)
{
    int fd = open(file, number == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (fd < 0 || dup2(fd, number) < 0) {
        perror(file);
        _exit(255);
    }
    close(fd);
}

/* Does what FIELD says, NUM of them, of which the last one is NULL. */
static __attribute__((noreturn)) void run_one(char **field, int num, const char *name, unsigned seconds)
{
    char *argv[MOST + 1];
    int argc = 0, i;

    argv[argc++] = (char *)name;
    for (i = FILES; i <= num; i++)
        argv[argc++] = field[i];
    for (i = 0; i < FILES; i++)
        open_as(i, field[i]);
    alarm(seconds);
    exit(tool_main(argc - 1, argv));
}

/* The fields of LINE, and NULL behind them. Returns how many there are. */
static int split(char *line, char **field)
{
    int num = 0;

    line[strcspn(line, "\n")] = '\0';
    for (char *rest = line; rest != NULL && num < MOST - 1; num++) {
        field[num] = rest;
        rest = strchr(rest, '\t');
        if (rest != NULL)
            *rest++ = '\0';
    }
    field[num] = NULL;
    return num;
}

int main(int argc, char **argv)
{
    const char *many = getenv("SFU_MANY");
    static char line[16384];
    char *field[MOST];

    if (many == NULL)
        return tool_main(argc, argv);
    while (fgets(line, sizeof line, stdin) != NULL) {
        const int num = split(line, field);
        int status = 0;
        pid_t pid = num < FILES ? -1 : fork();

        if (pid == 0)
            run_one(field, num, argv[0], (unsigned)atoi(many));
        if (pid < 0 || waitpid(pid, &status, 0) != pid)
            return 255;
        printf("%d\n", WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status));
        fflush(stdout);
    }
    return 0;
}
