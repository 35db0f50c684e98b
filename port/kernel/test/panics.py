#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""panics.py CPU TOOLS DIRECTORY...: boots the kernels of main.c in each scenario and compares every line they print.

The functions of each trace are written from main.c and port/baremetal by hand; names, addresses and the addr2line line
are judged as port/baremetal/test/machines.py does. Sizes are those that the functions' own stack pointers give.
"""
import os
import re
import sys

sys.path[:0] = ["test/lib", "port/baremetal/test"]
import machines  # noqa: E402
from check import finish, must, test  # noqa: E402
from machines import Trace  # noqa: E402

CPU, TOOLS, *DIRECTORIES = sys.argv[1:]
MAIN = ["kernel_main", "kernel_start", machines.START[CPU]]
SECOND = ["machine_second", "boot_second"]
STACK_SIZE = {"overflow": 0x10000, "overflow-thread": 0x8000, "overflow-neighbour": 0x8000}
TOP = {"overflow": lambda objects: objects["boot_stack_top"],
       "overflow-thread": lambda objects: objects["guarded_top"],
       "overflow-neighbour": lambda objects: objects["pair"] + 0x10000}
# Of tasks that an interrupt has stopped.
SYSTEMS = {
    "riscv": ["freertos", "freertos-11.3", "freertos-11.3-fpu", "freertos-11.3-fpu-unused", "freertos-11.3-vpu",
              "freertos-11.3-vpu-unused", "freertos-e", "freertos-11.3-e", "riot", "rtthread", "rtthread-fpu", "nuttx",
              "threadx-stopped", "threadx-stopped-fpu"],
    "aarch64": ["freertos", "freertos-fpu", "freertos-11.2-sre", "nuttx", "rtthread", "threadx-stopped"],
    "arm": ["freertos", "freertos-fpu", "freertos-cr5-fpu", "rtthread", "rtthread-fpu-unused", "rtthread-fpu",
            "threadx-stopped"],
}
SIZE = re.compile(r"  \[(\d+) bytes\]$")


def trace(*frames, end=1):
    return Trace(list(frames), own=True, end=end)


def interrupted(*frames):
    """What an interrupt has interrupted."""
    switch = "" if CPU == "i386" else "!"  # there interrupts stay on the stack
    return ["kernel_handle", "kernel_trap", "exception_entry", frames[0] + "~" + switch, *frames[1:]]


def scenarios(hook):
    die = "die"
    irq = interrupted("spin", "scenario_irq", *MAIN)
    user = trace(die, "tick", "kernel_handle", "kernel_trap", "exception_entry") if hook else \
        trace(die, "tick", *interrupted("spin", "scenario_irq", "scenario_user", *MAIN))
    worker = trace("worker_waits", "worker", "thread_start")
    listed = ["trace of 2 worker:", worker, "trace of 3 new:", trace("thread_start"),
              "trace of 4 lost: SP 0x30 lies on no stack"]
    deaf = ["CPU 1 has not stopped"]
    if CPU in ("x86_64", "i386"):  # nothing keeps an NMI away, but one CPU does not wait for ever for it
        deaf = ["CPU 1:", trace("second_spin", *SECOND)]
    crossing = {} if hook else {  # the hook knows one layout
        "other": [trace(die, "tick", *interrupted("spin", "scenario_irq", "scenario_other", *MAIN))]}
    stopped = interrupted("second_spin", "second_main", *SECOND)
    if CPU == "x86_64":  # the second CPU's NMI has no stack of its own
        stopped = [frame.replace("!", "") for frame in stopped]
    stopped = trace("sfu_kernel_stop", *stopped)
    systems = {"task-" + name: ["trace of 2 worker:", trace("spin", "task_spins", "thread_start")]
               for cpu, names in SYSTEMS.items() if CPU.startswith(cpu) for name in names}
    if CPU.startswith(("riscv", "aarch64", "arm")):
        systems["task-threadx"] = ["trace of 2 worker:", trace("threadx_waits", "threadx_task", "thread_start")]
    if CPU.startswith(("riscv", "aarch64", "arm", "x86_64")):
        systems["task-zephyr"] = ["trace of 1:", trace("zephyr_waits", "zephyr_task", "thread_start")]
    if CPU == "x86_64":
        systems["task-zephyr-stopped"] = ["trace of 1:", trace("spin", "zephyr_spins", "thread_start")]
    return {
        **systems,
        **crossing,
        "handler": [trace(die, "scenario_handler", *MAIN), "CPU 1:", stopped],
        "panic": [trace(die, "scenario_panic", *MAIN)],
        "fault": [trace("read_at", "scenario_fault", *MAIN)],
        "irq": [trace(die, "tick", *irq)],
        "user": [user],
        "cpus": [trace(die, "scenario_cpus", *MAIN), "CPU 1:", trace("second_spin", "second_main", *SECOND)],
        "counted-late": [trace(die, "scenario_counted_late", *MAIN), "CPU 1:",
                         trace("second_spin", "second_main", *SECOND)],
        "deaf": [trace(die, "scenario_deaf", *MAIN), *deaf],
        "both": [trace(die, "scenario_both", *MAIN), "CPU 1:", trace(die, "second_dies", *SECOND)],
        "unsaved": [trace(die, "unsaved", "thread_start"), "CPU 1:", trace("second_spin", "second_main", *SECOND),
                    "trace of 1 worker: a CPU runs on its stack", "trace of 2 new: a CPU runs on its stack"],
        "unsaved-irq": [trace(die, "tick", *interrupted("spin", "unsaved_interrupted", "thread_start")),
                        "trace of 1 worker: a CPU runs on its stack"],
        "threads": [trace(die, "scenario_threads", *MAIN), *listed],
        "described": [trace(die, "scenario_described", *MAIN), *listed],
        "new": [trace(die, "scenario_new", *MAIN), *listed[:2], "trace of 3 new: has not run yet", listed[-1]],
        "unmarked": [trace(die, "scenario_unmarked", *MAIN), "trace of 1 new:", trace("worker")],
        "current": [trace(die, "tick_current", *interrupted("spin", "scenario_current", *MAIN))],
        "null": [trace("sfu_kernel_panic", "scenario_null", *MAIN)],
        "ring": [trace(die, "scenario_ring", *MAIN), *listed, "trace of 6 worker:", worker],
        "at-nowhere": [trace("die_at", "scenario_at_nowhere", *MAIN)],
        "at-irq": [trace("spin", "scenario_at_irq", *MAIN)],
    }


def image_kind(image):
    """Its machine: that of the CPU, but of RISC-V's S mode another."""
    return CPU + "-s" * image.directory.endswith("-s")


def boot(image, name):
    kind = image_kind(image)
    command = machines.QEMU[kind][:1] + ["-m", "128M", "-nodefaults", "-display", "none", "-kernel", image.path,
                                        "-no-reboot"]
    two_cpus = name in ("cpus", "counted-late", "handler", "deaf", "both", "race", "race-stopped", "unsaved")
    command += ["-smp", "2"] if two_cpus else []
    command += [word.format(name) for word in machines.QEMU[kind][1:]]
    done = machines.machine(command)
    must(done.returncode == machines.STATUS[CPU][0 if two_cpus else 1], f"exit status {done.returncode}")
    lines = done.stdout.decode("latin-1").replace("\r", "").splitlines()
    return [line for line in lines if not line.startswith(("SeaBIOS", "Booting from", "iPXE"))]


def scenario(image, name, wanted):
    lines = boot(image, name)
    for item in wanted:
        if isinstance(item, Trace):
            machines.check_trace(image, item, lines)
        else:
            must(lines and lines.pop(0) == item, f"no line '{item}'")
    must(not lines, f"'{lines[:1]}' is too much")


def printer(image):
    """A fault in the middle of a line: that is said once, and the machine ends."""
    lines = boot(image, "printer")
    must(lines[-1] == "second fault while printing the trace: stopped" and len(lines) <= 6, lines)


def moving(image):
    """A tick runs the worker, at other depths each time: not while its trace is printed, and again behind that."""
    lines = boot(image, "moving")
    machines.check_trace(image, trace("sfu_kernel_panic", "scenario_moving", *MAIN), lines)
    must(lines and lines.pop(0) == "trace of 1 worker:", lines)
    deep = sum(image.function(int(line.split()[1], 16) - 1)[0] == "worker_deep" for line in lines
               if line.startswith("#"))
    must(deep in (2, 4, 7), f"{deep} frames of worker_deep: {lines}")
    machines.check_trace(image, trace(*["worker_deep"] * deep, "worker_moves", "thread_start"), lines)
    must(lines == ["goes on"], lines)


def race(image):
    """A CPU that has not stopped runs both threads: no trace of them counts as proven, and each says why."""
    said = "\n".join(boot(image, "race"))
    traces = re.split(r"^trace of \d \w+", said, flags=re.M)[1:]
    walked = [found for found in traces if found.startswith(":\n#")]
    must(len(walked) > 20, f"{len(walked)} traces")
    for found in walked:
        must(re.search(r"^(this thread has run meanwhile|a CPU that has not stopped may have run this thread): these "
                       r"frames are not proven\ntrace ends .*not proven$", found, re.M), found)


def race_stopped(image):
    """The CPU that runs both threads stops, wherever it is: each trace is proven, and that of one way."""
    said = "\n".join(boot(image, "race-stopped"))
    for found in re.split(r"^trace of \d \w+", said, flags=re.M)[1:]:
        if not found.startswith(": "):
            names = re.findall(r"^#\d+ +0x[0-9a-f]+  (\w+)", found, re.M)
            ways = {name.split("_")[0] for name in names[1:4]}
            must(names[0] == "race_waits" and len(ways) == 1 and "trace ends (1): " in found and
                 "not proven" not in found, found)


def at(image):
    """It begins with a return address, which is looked up one lower: in the caller of at_2."""
    lines = boot(image, "at")
    names = [re.match(r"#\d+ +0x[0-9a-f]+  (\w+)\+0x", line)[1] for line in lines if line.startswith("#")]
    must(names == ["at_1", "scenario_at", *MAIN] and lines[-2].startswith("trace ends (1)"), lines)
    pc, first = int(lines[0].split()[1], 16), int(lines[-1].split()[3], 16)
    must(first == pc - 1 and image.function(first)[0] == "at_1", lines)


def array(image):
    """sfu_kernel_backtrace: from here, without two frames, three of them, a thread, from an interrupt."""
    lines = boot(image, "array")
    mine = ["print_pcs", "print_mine"]
    interrupt = [name.rstrip("~!") for name in interrupted("spin", "scenario_array", *MAIN)]
    wanted = [mine + ["scenario_array"] + MAIN, ["scenario_array"] + MAIN, mine + ["scenario_array"],
              ["worker_waits", "worker", "thread_start"], mine + ["tick_array"] + interrupt]
    found = [[image.function(int(pc, 16))[0] for pc in line.split()] for line in lines]
    must(found == wanted, f"{found} instead of {wanted}")


def take_sizes(lines):
    """The sizes of the frames in LINES, which lose them."""
    sizes = []
    for i, line in enumerate(lines):
        if line.startswith("#"):
            found = SIZE.search(line)
            sizes.append(int(found[1]) if found else None)
            lines[i] = SIZE.sub("", line)
    return sizes


def said(lines, name):
    """The stack pointer that a line has said."""
    must(lines[0].startswith(name + " 0x"), f"'{lines[0]}' instead of {name}")
    return int(lines.pop(0).split()[1], 16)


def sizes(image):
    lines = boot(image, "sizes")
    scenario_sp, small, large = (said(lines, name) for name in ("scenario", "small", "large"))
    found = take_sizes(lines)
    machines.check_trace(image, trace("die", "scenario_panic", "large", "small", "scenario_sizes", *MAIN), lines)
    must(found[3] == scenario_sp - small and found[2] == small - large, f"{found}: small takes "
         f"{scenario_sp - small}, large {small - large} bytes")
    must(all(found[:-1]) and found[-1] is None, f"{found}: only the outermost frame has no size")


def overflow(image, name, culprit, behind):
    lines = boot(image, name)
    small = said(lines, "small")
    large = None if lines[0].startswith("at ") else said(lines, "large")
    sp = said(lines, "at") if lines[0].startswith("at ") else None
    m = re.fullmatch(r"stack overflow: (\d+) frames use (\d+) of (\d+) bytes; the largest is frame (\d+), (\d+) bytes: "
                     r"(\w+)\+0x[0-9a-f]+", lines.pop(0))
    must(m, "no line about the overflow")
    frames, used, room, number, size = (int(m[i]) for i in range(1, 6))
    found = take_sizes(lines)
    machines.check_trace(image, trace(*behind), lines)
    must(frames == len(behind) and room == STACK_SIZE[name], f"{frames} frames, {room} bytes of room")
    top = TOP[name](image.objects)
    lowest = top - used
    must(lowest < top - room and lowest <= (sp or large), f"{used} bytes used, SP was {sp or large:#x}")
    must(behind[number] == culprit == m[6] and found[number] == size == max(
        filter(None, found)), f"the largest is {behind[number]}, {size} bytes: {found}")
    if name == "overflow-neighbour":
        must(found[1] == small - large, f"{found}: large takes {small - large} bytes")
        take_sizes(lines)
        must(lines.pop(0) == "trace of 2 worker:", "the neighbour's trace is missing")
        machines.check_trace(image, trace("worker_waits", "worker", "thread_start"), lines)
    elif large is not None:
        must(found[0] == large - sp and found[1] == small - large, f"{found}: too_large takes {large - sp} bytes")


def tests(directory):
    image = machines.Image(TOOLS, directory)
    short = os.path.basename(directory)
    for name, wanted in scenarios(short.endswith("-hook")).items():
        yield f"{short}/{name}", scenario, (image, name, wanted)
    yield f"{short}/printer", printer, (image,)
    yield f"{short}/moving", moving, (image,)
    yield f"{short}/race", race, (image,)
    yield f"{short}/race-stopped", race_stopped, (image,)
    yield f"{short}/at", at, (image,)
    yield f"{short}/array", array, (image,)
    yield f"{short}/sizes", sizes, (image,)
    chain = ["too_large", "large", "small", "scenario_overflow", *MAIN]
    yield f"{short}/overflow", overflow, (image, "overflow", "too_large", chain)
    chain = ["large", "small", "overflow_in_task", "thread_start"]
    yield f"{short}/overflow-thread", overflow, (image, "overflow-thread", "overflow_in_task", chain)
    chain = ["die", "large", "small", "overflow_into_neighbour", "thread_start"]
    yield f"{short}/overflow-neighbour", overflow, (image, "overflow-neighbour", "overflow_into_neighbour", chain)


for directory in DIRECTORIES:
    for name, function, arguments in tests(directory):
        test(name, function, *arguments)
finish()
