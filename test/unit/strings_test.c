/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* A message for each code, and one for all other numbers. */
#include "test.h"

static void test_messages(void **state)
{
    (void)state;
    for (int c = LAST_CODE; c <= SFU_END; c++) {
        const char *s = sfu_string(c);
        assert_non_null(s);
#ifdef SFU_NO_STRINGS
        assert_string_equal(s, "");
#else
        note("%s: %s", code_name(c), s);
        holds(strlen(s) >= 4 && strlen(s) < 72);
        holds(strcmp(s, "unknown code") != 0);
        for (const char *p = s; *p != '\0'; p++)
            holds(*p >= ' ' && *p <= '~');
        for (int d = LAST_CODE; d < c; d++)
            holds(strcmp(s, sfu_string(d)) != 0);
#endif
        assert_ptr_equal(s, sfu_string(c)); /* static */
    }
}

/* Words that only the right message has. */
#ifndef SFU_NO_STRINGS
static void test_meaning(void **state)
{
    static const struct {
        int code;
        const char *word;
    } words[] = {
        {SFU_E_MAGIC, "magic"},
        {SFU_E_VERSION, "version"},
        {SFU_E_ABI, "ABI"},
        {SFU_E_FLAGS, "flags"},
        {SFU_E_CONCATENATED, "concatenated"},
        {SFU_E_UNSORTED, "sorted"},
        {SFU_E_OVERLAP, "overlap"},
        {SFU_E_COUNT, "number of rows"},
        {SFU_E_STACK, "stack"},
        {SFU_E_ADDRESS, "address"},
        {SFU_E_NO_RA, "return address"},
        {SFU_E_PROGRESS, "progress"},
        {SFU_E_SWITCHES, "switches"},
        {SFU_E_DEPTH, "frames"},
        {SFU_E_TRAP, "signal"},
        {SFU_E_NOT_CODE, "not code"},
        {SFU_E_NOT_FINAL, "final"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        note("%s: %s", words[i].word, sfu_string(words[i].code));
        assert_non_null(strstr(sfu_string(words[i].code), words[i].word));
    }
}
#endif

static void test_unknown(void **state)
{
    static const int codes[] = {2, 3, 100, INT32_MAX, LAST_CODE - 1, -100, INT32_MIN, INT32_MIN + 1};
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
#ifdef SFU_NO_STRINGS
        assert_string_equal(sfu_string(codes[i]), "");
#else
        assert_string_equal(sfu_string(codes[i]), "unknown code");
#endif
    }
}

/* The version macro is three numbers of at most two digits. */
static void test_version(void **state)
{
    (void)state;
    holds(SFU_VERSION > 0 && SFU_VERSION < 1000000);
}

int strings_tests(void)
{
    const struct check_test tests[] = {
        CHECK(test_messages),
#ifndef SFU_NO_STRINGS
        CHECK(test_meaning),
#endif
        CHECK(test_unknown),
        CHECK(test_version),
    };
    return check_run("strings", tests);
}
