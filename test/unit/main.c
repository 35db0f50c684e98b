/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "test.h"

/* Every code of sfu.h was returned at least once by the tests before. */
static void test_every_code(void **state)
{
    char missing[1024] = "";
    (void)state;
    for (int c = LAST_CODE; c <= SFU_END; c++) {
        size_t length = strlen(missing);
        if (!was_seen(c))
            (void)snprintf(missing + length, sizeof missing - length, " %s", code_name(c));
    }
    if (missing[0] != '\0')
        check_fail(__FILE__, __LINE__, "no test made sfu return%s", missing);
}

/* If T, in the environment, chooses tests, not all codes are seen. */
int main(void)
{
    static const struct check_test last[] = {CHECK(test_every_code)};
    int failed = 0;
    (void)use_abi(SOME_ABI);
    failed += bytes_tests();
    failed += section_tests();
    failed += function_tests();
    failed += row_tests();
    failed += frame_tests();
    failed += walk_tests();
    failed += crash_tests();
    failed += stack_tests();
    failed += sort_tests();
    failed += check_tests();
    failed += hostile_tests();
    failed += limits_tests();
    failed += strings_tests();
    if (getenv("T") == NULL)
        failed += check_run("all", last);
    return failed == 0 ? 0 : 1;
}
