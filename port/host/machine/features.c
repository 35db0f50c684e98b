/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The description that a stub of the GDB protocol gives of its target: which number a register has ("GDB User Manual",
 * Target Description Format). No parser of XML: tags and their attributes are found as stubs write them.
 */
#include "features.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Copies the attribute NAME of the tag from AT to END. Returns false if it has none that fits. */
static bool take_attribute(const char *at, const char *end, const char *name, char *to, size_t room)
{
    const size_t size = strlen(name);

    for (; at + size + 2 < end; at++) {
        const char *value = at + size + 3, *quote;

        if (!is_space(at[0]) || memcmp(at + 1, name, size) != 0 || at[size + 1] != '=' ||
            (at[size + 2] != '"' && at[size + 2] != '\''))
            continue;
        quote = memchr(value, at[size + 2], (size_t)(end - value));
        if (quote == NULL || (size_t)(quote - value) >= room)
            return false;
        memcpy(to, value, (size_t)(quote - value));
        to[quote - value] = '\0';
        return true;
    }
    return false;
}

bool features_next(const char **text, struct feature_tag *tag)
{
    const char *at = *text, *end;

    for (; (at = strchr(at, '<')) != NULL; at = end + 1) {
        const bool comment = strncmp(at, "<!--", 4) == 0;

        end = comment ? strstr(at, "-->") : strchr(at, '>');
        if (end == NULL)
            return false;
        tag->include = strncmp(at, "<xi:include", 11) == 0;
        tag->numbered = false;
        if (comment || (!tag->include && (strncmp(at, "<reg", 4) != 0 || !is_space(at[4]))))
            continue;
        if (!take_attribute(at, end, tag->include ? "href" : "name", tag->name, sizeof tag->name))
            tag->name[0] = '\0';
        if (!tag->include && take_attribute(at, end, "regnum", tag->number, sizeof tag->number))
            tag->numbered = true;
        *text = end + 1;
        return true;
    }
    return false;
}

bool features_is(const struct feature_tag *tag, const char *name)
{
    return !tag->include && strcasecmp(tag->name, name) == 0;
}
