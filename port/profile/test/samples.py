#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""samples.py CPU DIRECTORY SFU-TRACE: boots the kernels in DIRECTORY, which profile themselves, and judges what
sfu-trace makes of what they print. Prints a line for each test."""
import collections
import re
import subprocess
import sys

sys.path.insert(0, "test/lib")
from check import finish, must, test  # noqa: E402

sys.path.insert(0, "port/baremetal/test")
import machines  # noqa: E402

CPU, DIRECTORY, TRACE = sys.argv[1:]
LIMIT = 120  # seconds for a boot: a hang is a failure
# Instructions are time: every run is the same.
COUNTED = ["-icount", "shift=4,sleep=off"]


def boot(kernel, command_line, *options):
    """What it prints."""
    command = [word.format(command_line) for word in machines.QEMU[CPU]]
    command += ["-m", "128M", "-nodefaults", "-display", "none", "-no-reboot", "-kernel", kernel, *options]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired as late:
        must(False, "no end after %d seconds: %s" % (LIMIT, (late.stdout or b"")[-300:].decode("latin-1")))
    return done.stdout.replace(b"\r", b"")


def folded(kernel, log, *options):
    """{tuple of functions: weight}"""
    done = subprocess.run([TRACE, "--folded", *options, kernel], input=log, capture_output=True, timeout=LIMIT,
                          check=False)
    must(done.returncode == 0, done.stderr.decode("latin-1") + log[-300:].decode("latin-1"))
    lines = [line.rsplit(" ", 1) for line in done.stdout.decode().splitlines()]
    return {tuple(path.split(";")): int(weight) for path, weight in lines}


def numbers(log, pattern):
    found = [tuple(map(int, match.groups())) for match in re.finditer(pattern.encode(), log)]
    must(found, "no '%s': %s" % (pattern, log[-300:]))
    return found


START = {"x86_64": "boot64", "aarch64": "boot", "s390x": "boot", "riscv64": "boot", "riscv32": "boot",
         "i386": "boot"}
# What each function may be called by, as shares.c has it.
CALLERS = {"kernel_start": [START[CPU]], "kernel_main": ["kernel_start"], "work": ["kernel_main"],
           "hot": ["run"], "warm": ["run"], "cold": ["run"], "deep": ["hot", "deep"], "calls": ["deep"],
           "loop_of_hot": ["deep"], "loop_of_warm": ["warm", "second_work"], "loop_of_cold": ["cold"],
           "short_two": ["calls"], "short_one": ["short_two"], "leaf": ["short_one"],
           "machine_enable": ["kernel_main", "cold", "second_main"],
           "cpu_disable": ["cold", "kernel_main", "second_main"], "second_parts": ["second_main"],
           "next_times": ["work", "second_parts"], "run": ["work", "second_parts"], "cpu_clock": ["run"],
           "wait": ["kernel_main"], "machine_second": ["boot_second"], "second_main": ["machine_second"],
           "second_work": ["second_main"]}


def check_paths(paths, cpu, first):
    """Each sample has gone all the way, along calls that there are."""
    for path in paths:
        if path[0] != cpu:
            continue
        must(path[1] == first, "%s begins in %s" % (path, path[1]))
        for caller, function in zip(path[1:], path[2:]):
            must(caller in CALLERS.get(function, ()), "%s: %s calls %s" % (path, caller, function))
        must(path.count("deep") <= 8, path)


def shares():
    kernel = DIRECTORY + "/shares.elf"
    log = boot(kernel, "one", *COUNTED)
    must(boot(kernel, "one", *COUNTED) == log, "two runs differ")
    (hot, warm, cold), = numbers(log, r"truth hot (\d+) warm (\d+) cold (\d+)")
    (samples, incomplete), = numbers(log, r"samples (\d+) incomplete (\d+)")
    (idle,), = numbers(log, r"sfut1 idle (\d+)")
    (lost,), = numbers(log, r"sfut1 lost (\d+)")
    paths = folded(kernel, log)
    total = sum(paths.values())
    must(incomplete == 0 and lost == 0 and idle == 25 and total == samples - idle >= 1500,
         "%d samples, %d idle, %d lost, %d incomplete, %d in the depot" % (samples, idle, lost, incomplete, total))
    check_paths(paths, "cpu0", START[CPU])
    for part, ticks, meant in (("hot", hot, 0.7), ("warm", warm, 0.2), ("cold", cold, 0.1)):
        share = ticks / (hot + warm + cold)
        must(abs(share - meant) < 0.01, "%s has %.4f of the instructions" % (part, share))
    return compare_shares(paths, {"hot": hot, "warm": warm, "cold": cold})


def compare_shares(paths, ticks):
    """Each part has as large a share of the samples of PATHS as it had of the TICKS."""
    total, report = sum(paths.values()), []
    for part, own in ticks.items():
        found = sum(weight for path, weight in paths.items() if part in path)
        share = own / sum(ticks.values())
        deviation = (share * (1 - share) / total) ** 0.5
        off = (found / total - share) / deviation
        must(abs(off) <= 3, "%s: %d of %d, %.1f standard deviations from %.4f" % (part, found, total, off, share))
        report.append("%s %.2f%% (%.2f%%, %+.1f)" % (part, 100 * found / total, 100 * share, off))
    return ", ".join(report)


def both_cpus():
    """CPU 1 is profiled by an NMI or another CPU's interrupt at the same time."""
    kernel = DIRECTORY + "/shares.elf"
    log = boot(kernel, "both", "-smp", "2")
    found = numbers(log, r"samples (\d+) incomplete (\d+)")
    must(len(found) == 2, "%d profiles" % len(found))
    paths = folded(kernel, log)
    idle = [count for count, in numbers(log, r"sfut1 idle (\d+)")]
    for cpu, first in ((0, START[CPU]), (1, "boot_second")):
        total = sum(weight for path, weight in paths.items() if path[0] == "cpu%d" % cpu)
        must(total == found[cpu][0] - idle[cpu] and found[cpu][1] == 0 and total >= 20, "%s: %d" % (found, total))
        check_paths(paths, "cpu%d" % cpu, first)
    must(idle[0] >= 25 and idle[1] == 0, idle)
    return "%d and %d samples" % (found[0][0], found[1][0])


def each_cpu(mode, *options):
    """Two CPUs that work, each with a timer of its own. Each sample that a CPU has counted is in the profiles, with its
    own path. Where instructions are time, each part has that share of a CPU's samples that it had of the CPU's time.
    Otherwise both CPUs really run at the same time, and the host takes time from them that their clocks count. On
    riscv32 and i386 the core makes the traces: a sample takes some ten times as many instructions, which count as time
    of what it interrupts. So there shares are compared only of one CPU alone, which has measured its parts before."""
    kernel, report = DIRECTORY + "/shares.elf", []
    log = boot(kernel, mode, "-smp", "2", *options)
    profiles = numbers(log, r"(?m)^samples (\d+) incomplete (\d+)")
    idle = [count for count, in numbers(log, r"sfut1 idle (\d+)")]
    lost = [count for count, in numbers(log, r"sfut1 lost (\d+)")]
    spent = numbers(log, r"CPU \d spent hot (\d+) warm (\d+) cold (\d+) samples (\d+)")
    must(len(profiles) == (1 if mode == "shared" else 2) and len(spent) == 2, profiles)
    must(not any(lost) and not any(incomplete for _, incomplete in profiles), "%s lost, %s" % (lost, profiles))
    must(sum(samples for samples, _ in profiles) == sum(idle) + sum(counts[3] for counts in spent),
         "%s, %s idle, %s" % (profiles, idle, spent))
    paths = folded(kernel, log)
    for cpu, first in ((0, START[CPU]), (1, "boot_second")):
        name = "all" if mode == "shared" else "cpu%d" % cpu
        own = {path: weight for path, weight in paths.items() if path[1] == first}
        check_paths(own, name, first)
        must(all(path[0] == name for path in own), "%s: a path of another profile" % name)
        *ticks, taken = spent[cpu]
        must(sum(own.values()) == taken >= 2000, "CPU %d: %d in the depot, of %d" % (cpu, sum(own.values()), taken))
        if options and CPU not in ("riscv32", "i386"):
            ticks = {part: number for part, number in zip(("hot", "warm", "cold"), ticks) if number}
            report.append(compare_shares(own, ticks))
        else:
            report.append("%d samples" % taken)
    must(all(path[1] in (START[CPU], "boot_second") for path in paths), "a path that begins elsewhere")
    return "; ".join(report)


def leak():
    """In a panic: what is still allocated, by call path, and the lock that is held."""
    kernel = DIRECTORY + "/memory.elf"
    log = boot(kernel, "leak")
    main = (START[CPU], "kernel_start", "kernel_main")
    # As memory.c has it: 25 headers of 48 bytes are lost, 3 blocks of 104 bytes are kept, all else is freed.
    must(folded(kernel, log, "--unit=bytes") == {(*main, "handle_request", "read_header"): 25 * 48,
                                                 (*main, "fill_cache", "read_body"): 3 * 104},
         folded(kernel, log, "--unit=bytes"))
    ticks = folded(kernel, log, "--unit=ticks")
    must(set(ticks) == {(*main, "update_table")}, ticks)
    must(log.count(b"is held by CPU 0 since") == 1 and b"lock table is held" in log, "the lock")
    named = subprocess.run([TRACE, kernel], input=log, capture_output=True, timeout=LIMIT, check=True).stdout
    behind = named[named.index(b"lock table is held"):].splitlines()
    must(behind[1].startswith(b"#1 ") and behind[2].strip().startswith(b"update_table at "), behind[:3])
    return "1200 bytes in read_header of handle_request"


# Ticks of cpu_clock in a nanosecond. By -icount shift=0 that is an instruction.
TICKS = {"x86_64": 1.0, "aarch64": 0.0625, "s390x": 4.096, "riscv64": 1.0, "riscv32": 1.0,
         "i386": 1.0}
# What each is in the table of docs/profiling.md: how many instructions it costs at most, with 12 frames.
COSTS = {"allocations": "an allocation and its free, with a handle", "without": "the same without",
         "samples": "a sample", "by-records": "the same by frame pointers"}


def costs():
    with open("docs/profiling.md", encoding="utf-8") as file:
        rows = {}
        for row, most, rest, *others in re.findall(r"^\| (.*?) \| less than ([\d,]+)(.*?) \| less than ([\d,]+) \| "
                                                   r"less than ([\d,]+) \| less than ([\d,]+) \|$", file.read(), re.M):
            limit = dict(zip(("riscv64", "riscv32", "i386"), others)).get(CPU, most)
            rows[row] = (int(limit.replace(",", "")), int(most.replace(",", "")), rest)
    must(sorted(rows) == sorted(COSTS.values()), sorted(rows))
    _, most, rest = rows["a sample"]
    must(re.findall(r"([\d.]+)%", rest) == ["%.2f" % (most * 1000 / 1e9 * 100)], rest) # of 10^9, 1,000 samples
    log = boot(DIRECTORY + "/memory.elf", "cost", "-icount", "shift=0,sleep=off")
    found = {name.decode(): int(ticks) / TICKS[CPU] / 1000
             for name, ticks in re.findall(rb"cost (\S+) (\d+)", log)}
    must(found.keys() == COSTS.keys(), log[-300:])
    for name, row in COSTS.items():
        must(found[name] < rows[row][0], "%s: %.0f instructions, not less than %d" % (name, found[name], rows[row][0]))
    return ", ".join("%s %.0f" % pair for pair in found.items())


def recipe():
    """What the lines of docs/profiling.md make; suite recipes compares them with recipe.c."""
    kernel = DIRECTORY + "/recipe.elf"
    paths = folded(kernel, boot(kernel, "x", *COUNTED))
    must(set(paths) == {(START[CPU], "kernel_start", "kernel_main")} and sum(paths.values()) >= 50, paths)
    return "10 lines"


test("%s recipe" % CPU, recipe)
test("%s shares" % CPU, shares)
test("%s both CPUs" % CPU, both_cpus)
test("%s smp shares" % CPU, each_cpu, "smp", *COUNTED)
test("%s shared shares" % CPU, each_cpu, "shared", *COUNTED)
test("%s shared at the same time" % CPU, each_cpu, "shared")
test("%s leak" % CPU, leak)
test("%s costs" % CPU, costs)
finish()
