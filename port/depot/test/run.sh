#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
# The depot's programs, one after the other; the first that fails ends it.
set -e
build/depot/test
build/depot/test-narrow 60 >build/depot/narrow.log || {
    cat build/depot/narrow.log
    exit 1
}
sed 's/^ok /&narrow, /' build/depot/narrow.log
build/depot/print
build/depot/race-tsan ', sanitized'
build/depot/race
