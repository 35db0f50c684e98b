/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "test.h"

#include <stdlib.h>

/* Every code of sfu.h was returned at least once by the tests before. */
static void test_every_code(void **state)
{
    bool all = true;
    (void)state;
    for (int c = LAST_CODE; c <= SFU_END; c++) {
        if (!was_seen(c)) {
            print_error("no test made sfu return %s\n", code_name(c));
            all = false;
        }
    }
    assert_true(all);
}

static const char *pattern;
static char filter[256];

/* Says which file's tests follow, and runs them: all, if the pattern names the file. */
#define RUN(file)                                                                                                  \
    (printf("# file %s\n", #file),                                                                                 \
     cmocka_set_test_filter(pattern == NULL || strstr(pattern, #file) != NULL ? NULL : filter),                    \
     failed += file##_tests())

/* Runs all tests or, if T is in the environment, those whose names have it or match it as a pattern: T=pac. Names are
 * told as "variant: file: name". Too many may run: run.sh tells those that count. */
int main(void)
{
    const struct CMUnitTest last[] = {cmocka_unit_test(test_every_code)};
    const char *name = getenv("T");
    int failed = 0;
    (void)use_abi(SOME_ABI);
    pattern = name;
    if (pattern != NULL) {
        for (const char *p = pattern; *p != '\0'; p++)
            name = *p == ' ' ? p + 1 : name;
        (void)snprintf(filter, sizeof filter, "*%s*", name);
    }
    RUN(bytes);
    RUN(section);
    RUN(function);
    RUN(row);
    RUN(frame);
    RUN(walk);
    RUN(crash);
    RUN(stack);
    RUN(sort);
    RUN(check);
    RUN(hostile);
    RUN(limits);
    RUN(strings);
    if (pattern == NULL) {
        printf("# file all\n");
        failed += cmocka_run_group_tests_name("codes", last, NULL, NULL);
    }
    return failed == 0 ? 0 : 1;
}
