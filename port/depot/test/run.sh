#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
# The depot's programs, one after the other.
test/lib/check.sh depot build/depot/test
test/lib/check.sh 'depot, narrow' build/depot/test-narrow 60
test/lib/check.sh print build/depot/print
test/lib/check.sh 'race, ThreadSanitizer' build/depot/race-tsan
test/lib/check.sh race build/depot/race
