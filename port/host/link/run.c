/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "run.h"
#include "common/image.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_TEXT = 64 << 20 };

/* All of F, from its start. */
static char *read_stream(FILE *f, size_t *size)
{
    char *text;
    long end;

    if (fseek(f, 0, SEEK_END) != 0 || (end = ftell(f)) < 0 || end > MAX_TEXT || fseek(f, 0, SEEK_SET) != 0)
        return NULL;
    text = zeroed((size_t)end + 1, 1);
    *size = fread(text, 1, (size_t)end, f);
    return text;
}

bool may_be_file(const char *name)
{
    struct stat st;

    return stat(name, &st) != 0 || S_ISREG(st.st_mode);
}

char *read_text(const char *name)
{
    FILE *f = may_be_file(name) ? fopen(name, "rb") : NULL; /* the linker is to read what comes through a pipe */
    size_t size;
    char *text = f != NULL ? read_stream(f, &size) : NULL;

    if (f != NULL)
        (void)fclose(f);
    return text;
}

bool find_program(const char *name)
{
    const char *path = getenv("PATH");
    char file[4096];

    while (path != NULL && *path != '\0') {
        size_t size = strcspn(path, ":");

        if (snprintf(file, sizeof file, "%.*s/%s", (int)size, path, name) < (int)sizeof file &&
            access(file, X_OK) == 0)
            return true;
        path += size + (path[size] == ':');
    }
    return false;
}

/* ---- Signals --------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
    interrupted = number;
}

/* A signal ends the command, which gets it too or is sent it here; this program then removes what there is. */
static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    size_t i;

    memset(&action, 0, sizeof action);
    action.sa_handler = note_signal; /* without SA_RESTART: waitpid returns */
    for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        (void)sigaction(numbers[i], &action, NULL);
}

/* ---- Programs -------------------------------------------------------------------------------------------------- */

static int wait_for(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return 126;
        if (interrupted != 0)
            (void)kill(child, interrupted);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int run_command(char *const *argv, struct said *said)
{
    FILE *out = tmpfile(), *err = tmpfile();
    int status = 126;
    pid_t child;

    memset(said, 0, sizeof *said);
    catch_signals();
    fflush(NULL);
    child = out != NULL && err != NULL ? fork() : -1;
    if (child == 0) {
        if (dup2(fileno(out), STDOUT_FILENO) >= 0 && dup2(fileno(err), STDERR_FILENO) >= 0)
            execvp(argv[0], argv);
        fprintf(stderr, "sfu-link: %s: %s\n", argv[0], strerror(errno));
        fflush(stderr);
        _exit(127);
    }
    if (child > 0) {
        status = wait_for(child);
        said->out = read_stream(out, &said->out_size);
        said->err = read_stream(err, &said->err_size);
    }
    if (out != NULL)
        (void)fclose(out);
    if (err != NULL)
        (void)fclose(err);
    return interrupted != 0 ? 128 + interrupted : status;
}

void said_free(struct said *said)
{
    free(said->out);
    free(said->err);
    memset(said, 0, sizeof *said);
}

void said_print(struct said *said)
{
    if (said->out != NULL)
        (void)fwrite(said->out, 1, said->out_size, stdout);
    fflush(stdout);
    if (said->err != NULL)
        (void)fwrite(said->err, 1, said->err_size, stderr);
    said_free(said);
}

bool run_silently(char *const *argv)
{
    struct said said;
    int status = run_command(argv, &said);

    said_free(&said);
    return status == 0;
}
