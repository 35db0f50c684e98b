# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# How measured figures are written in all pages, for the scripts that write some: CONTRIBUTING.md, "Write a figure".

# N, a whole number, with a comma in front of each three digits
function thousands(n,    s)
{
    s = sprintf("%d", n)
    while (s ~ /[0-9][0-9][0-9][0-9]($|,)/)
        sub(/[0-9][0-9][0-9]($|,)/, ",&", s)
    return s
}

# X, instructions or nanoseconds: a digit behind the point where X is below 100, else none, because they say no more
function figure(x)
{
    if (x !~ /^[0-9]/) return x # "missing"
    return x < 99.95 ? sprintf("%.1f", x) : thousands(x + 0.5)
}
