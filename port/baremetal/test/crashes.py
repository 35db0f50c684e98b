#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""crashes.py CPU TOOLS DIRECTORY...: boots the kernels of DIRECTORYs and compares every line that they print.

The functions of each trace are written from scenarios.c and port/baremetal by hand. Names, offsets and addresses
are compared with nm's, and the addr2line line is run as it was printed. TOOLS has the CPU's nm, readelf, addr2line.
"""
import copy
import os
import re
import subprocess
import sys

sys.path.insert(0, "test/lib")
from check import Wrong, finish, must, tests_at_once  # noqa: E402
from machines import (FRAME, OUTERMOST, QEMU, START, STATUS, TIME_LIMIT, Trace, boot, check_trace,  # noqa: E402
                      image_of)

# ---- what each scenario must print: machines.py says how ----

GARBAGE = dict.fromkeys(("aarch64-pac", "riscv32", "riscv32-s", "arm", "i386"), "0x000000005a5a5a5a")
NO_FDE, BAD_FDE, BAD_STACK, BAD_ADDRESS, TOO_MANY, NOT_CODE, NO_SECTION = -13, -15, -17, -18, -24, -26, -28
MAX_FRAMES = 64  # kernel_target
NOWHERE = dict.fromkeys(("riscv32", "riscv32-s", "arm", "i386"), "0x0000000018000000")  # of others that of scenarios.h
X86 = ("x86_64", "i386")
OWN = ("riscv64", "riscv32", "arm", "i386")  # whose tables sfu-gen makes behind the link
DISTANCE = 16 << 20  # scenario_slide


class Places:
    """What scenario_entry says of WHAT: how often the CPU has stopped, and how many traces say that they do not know
    what has been interrupted. Each of them is all instructions from a symbol (with an offset) to another, so often."""

    def __init__(self, what, stops, unknown):
        self.what, self.stops, self.unknown = what, stops, unknown

    def line(self, image):
        stops, unknown = (sum(times * image.instructions(start, end) for times, start, end in ranges)
                          for ranges in (self.stops, self.unknown))
        return f"{self.what} 0x{stops:016x} 0x{unknown:016x}"


class Deep:
    """The number of frames of recurse_all is how deep it says that it was, or one more: that has only just begun."""

    def __init__(self, cause, trace):
        self.cause, self.trace = cause, trace

    def check(self, image, lines):
        deep = re.fullmatch("deep (0x[0-9a-f]{16})", lines.pop(0))
        must(deep and re.fullmatch(self.cause, lines[0]), f"'{lines[0]}'")
        lines.pop(0)
        more = check_trace(image, self.trace, lines)[2]
        frames = 2 + int(re.search(r"(\d+) times", more)[1])
        must(100 < frames and frames - int(deep[1], 16) in (0, 1), f"'{more}', but it was {deep[1]} deep")


class Record:
    """What the boot after a reset prints: the lines of the trace before."""


def main_trace(cpu, frames, **how):
    return Trace(frames + ["kernel_main", "kernel_start", START[cpu]], **how)


def asserted(frames):
    return ["panic", "assert_3", "assert_2", "assert_1", "scenario_assert"] + frames


def entry_places(cpu, kind):
    """What scenario_entry stops at. Without tables, x86's hook knows what it needs for IRETQ only. Without a hook
    there is no row for the instructions that have no PC or SP in memory."""
    derived = kind.endswith(("-derive", "-find"))
    if cpu in X86:
        vectors = [(1, f"vectors+{16 * n}", f"vectors+{16 * n + 16}") for n in (6, 13, 32)]
        entry = [(3, "exception_entry", "exception_entry_end")]
        known = [(-3, "exception_saved", "exception_restored"), (-3, "exception_return", "exception_entry_end")]
        hook = kind.endswith("-hook")
        return [Places("entry", entry, entry + known if hook else []),
                Places("vectors", vectors, vectors if hook else [])]
    if cpu == "s390x":
        # On the way in %r1 has the interrupted SP in front of the last two instructions (boot.S: save).
        lost = [(1, "program_restored", "external_switched+36"), (1, "external_restored", "exception_entry_end")]
        return [Places("entry", [(1, "program_saved+6", "exception_entry_end")], lost if derived else [])]
    if cpu.startswith("riscv"):
        lost = "exception_saved" if kind == "riscv64-hook" else "exception_known"
        return [Places("without breakpoints",
                       [(1, "exception_entry", "exception_saved"), (1, "exception_left", "exception_restored")],
                       [(1, "exception_entry", lost)]),
                Places("entry", [(2, "exception_handled", "exception_entry_end")],
                       [(2, "exception_left", "exception_entry_end")])]
    if cpu == "arm":
        lost = "exception_saved" if kind == "arm-hook" else "exception_known"
        vectors = [(1, "vector_undefined", "vector_undefined+32"), (1, "vector_interrupt", "vector_interrupt+32")]
        return [Places("entry", [(2, "exception_entry", "exception_entry_end")],
                       [(2, "exception_entry", lost), (2, "exception_restored", "exception_entry_end")]),
                Places("vectors", vectors, vectors)]
    # Of it only ELR_EL1 had the PC; X2, too, behind the first MRS, which a row of the topmost frame can say.
    by_kind = dict.fromkeys(("aarch64-derive", "aarch64-find"), "exception_entry+0x40")
    lost = {"aarch64-hook": "exception_saved", **by_kind}.get(kind, "exception_known")
    return [Places("way in", [(1, "exception_entry", "exception_saved")], [(1, "exception_entry", lost)]),
            Places("entry", [(2, "exception_saved+4", "exception_entry_end")],
                   [(2, "exception_restored", "exception_entry_end")] if derived else [])]


CHECKED = (*X86, "aarch64", "aarch64-pac")  # clang's instruction has the number of the check
TRAP = r"trap: __builtin_trap\(\), or a check that gives no reason"
ILLEGAL = "fault: illegal instruction, address 0x0000000000000000"


def in_interrupt(cpu, frames):
    """Of what an interrupt has interrupted, whose handler then fails. On i386 it stays on that stack."""
    return ["illegal+0", "tick_2", "tick_1", "kernel_handle", "kernel_trap", "exception_entry",
            frames[0] + ("~" if cpu == "i386" else "~!"), *frames[1:]]


def wild_scenarios(cpu):
    """Where the CPU is where no code is. Only a call leaves behind what is needed to find the caller."""
    fetch = {"x86_64": "page fault", "i386": "page fault", "s390x": "translation exception",
             "riscv64": "instruction access", "riscv32": "instruction access", "riscv64-s": "instruction page fault",
             "riscv32-s": "instruction page fault"}.get(cpu, "instruction abort")
    nowhere = NOWHERE.get(cpu, "0x0000300000000000")
    wild = f"fault: {fetch}, address {nowhere}"
    # On s390x something is at 0: the PSW to restart with, no valid instruction. On RISC-V it is mapped, but is nothing.
    at_null = "instruction access" if cpu.startswith("riscv") else fetch
    null = ILLEGAL if cpu == "s390x" else f"fault: {at_null}, address 0x0000000000000000"
    # A bad signature's pointer has 1 in bits 62 and 61, and none of the others above the address's 32.
    smashed = {"aarch64-pac": "0x200000005a5a5a50", "riscv32": "0x0000000018181810",
               "riscv32-s": "0x0000000018181810", "arm": "0x0000000018181810",
               "i386": "0x0000000018181810"}.get(cpu, "0x00005a5a5a5a5a50")
    # A function that returns by `pop {pc}` leaves LR as its last call has set it: that is taken for a wild call's.
    after_smash = ["smash^", smashed] if cpu == "arm" else []
    result = {
        "call-null": [null, main_trace(cpu, ["0x0000000000000000", "call^", "scenario_call_null"])],
        "call-wild": [wild, main_trace(cpu, [nowhere, "call^", "scenario_call_wild"])],
        "call-data": [ILLEGAL, main_trace(cpu, ["&illegal_data", "call^", "scenario_call_data"])],
        "last": ["fault: .*, address .*", main_trace(cpu, ["last", "scenario_last"])],
        "jump-null": [null, main_trace(cpu, ["0x0000000000000000", "scenario_jump_null^"])],
        "return-wild": [wild, Trace([nowhere], NOT_CODE)],
        "smashed": [f"fault: {fetch}, address .*", Trace([smashed, *after_smash], NOT_CODE)],
        "module-null": [null, main_trace(cpu, ["0x0000000000000000", "module:module_middle^", "module:module_entry",
                                               "scenario_module_null"])],
    }
    if cpu in X86:
        result["last-debug"] = ["fault: exception, address .*", main_trace(cpu, ["last_debug", "scenario_last_debug"])]
        result["stepped"] = ["fault: exception, address .*", main_trace(cpu, ["stepped_to+0", "scenario_stepped"])]
        result["middle"] = [ILLEGAL, main_trace(cpu, ["middle+2", "call", "scenario_middle"])]
    if cpu == "arm":  # scenarios.c
        del result["module-null"]
    return {name: (lines, False) for name, lines in result.items()}


def place_scenarios(cpu, kind):
    """Faults and interrupts at known places, and with stack pointers that point nowhere."""
    result = {}
    for place in ("leaf", "prologue", "epilogue"):
        result[place] = [ILLEGAL, main_trace(cpu, [f"in_{place}", f"scenario_{place}"])]
        result[f"{place}-irq"] = [ILLEGAL, main_trace(cpu, in_interrupt(cpu, [f"in_{place}", f"scenario_{place}_irq"]))]
    garbage = GARBAGE.get(cpu, "0x5a5a5a5a5a5a5a5a")
    if kind.endswith(("-derive", "-find")):  # on_stack gives SP a value that nobody knows
        return {name: (lines, False) for name, lines in result.items()}
    has_no_row = cpu.startswith(OWN)  # their tables are sfu-gen's: no row where SP is lost
    # A leaf function's caller is lost where a call keeps it on the stack, and s390x's CFA lies above SP.
    for sp, end in ("zero", BAD_STACK), ("ones", BAD_ADDRESS), ("misaligned", NOT_CODE):
        for suffix in "", "_irq":
            name = f"sp_{sp}{suffix}"
            frames = ["on_stack"]
            if cpu != "x86_64" and (cpu, sp) != ("s390x", "ones"):
                frames.append(f"scenario_{name}")
            if sp == "misaligned":
                frames.append(garbage)
            if has_no_row:
                frames = ["on_stack"]
            # x86 has nowhere to report the fault, and i386 nowhere to handle an interrupt.
            alone = cpu == "i386" and sp != "misaligned"
            no_stack = alone or (cpu == "x86_64" and sp != "misaligned" and not suffix)
            cause = "fault: double fault, .*" if no_stack else ILLEGAL
            frames = in_interrupt(cpu, frames) if suffix and not alone else frames
            if (kind, sp, suffix) == ("s390x", "ones", "_irq"):
                frames.pop()  # the table says the CFA, SP + 160, of which there is none
            result[name.replace("_", "-")] = [cause, Trace(frames, NO_FDE if has_no_row else end)]
    return {name: (lines, False) for name, lines in result.items()}


def entry_scenarios(cpu, kind):
    """Exceptions in exception_entry, and the way out of it."""
    result = {"entry": (entry_places(cpu, kind), True)}
    stopped = "general protection fault" if cpu in X86 else "program check" if cpu == "s390x" else \
        "(exception|breakpoint)"
    back = main_trace(cpu, ["exception_entry", "probe~!" if cpu.startswith("aarch64") else "probe~", "probe_caller",
                            "scenario_return"])
    # Where it goes on is in no memory: on RISC-V in a register that the breakpoint has written over, and on ARM its SP
    # is in one of another mode.
    if cpu not in X86 and (cpu.startswith(OWN) or kind.endswith(("-derive", "-find"))):
        back = Trace(["exception_entry"], NO_FDE)
    result["return"] = [f"fault: {stopped}, address .*", back], False
    if cpu.startswith("aarch64"):
        result["return-illegal"] = ["fault: illegal state, address .*",
                                    main_trace(cpu, ["probe", "probe_caller", "scenario_return_illegal"])], False
    return result


# What goes through assembly, of kernels whose assembly has no rows of its own (port/host/test/gen.py).
DERIVED = ("assert", "irq", "tick", "nested", "thread", "thread-panic", "threads", "second", "slide", "slide-irq")


def scenarios(cpu, kind):
    """name: (lines and traces in order, whether it ends well)"""
    # A fault in a fault: only x86 goes on on the stack that it is on.
    reading = "read_at" if cpu == "i386" else "read_at+0"  # its argument is on the stack
    nested = reading + ("~" if cpu in X86 else "~!")
    interrupted = in_interrupt(cpu, ["spin", "scenario_irq"])
    illegal = ILLEGAL
    cause = {"x86_64": "page fault", "aarch64": "data abort", "aarch64-pac": "data abort",
             "s390x": "translation exception", "riscv64": "(load|store) access", "riscv32": "(load|store) access",
             "arm": "data abort"}.get(cpu, "page fault")
    memory = f"fault: {cause}, address {NOWHERE.get(cpu, '0x0000300000000000')[:-1]}[04]"  # RV32 reads it by halves
    # x86's kernel has no stack left to report a page fault on.
    overflow = f"fault: {'double fault' if cpu in X86 else cause}, .*"
    # Garbage in the place of a signed return address: what lies above the 32 bits of an address is no part of it.
    garbage = GARBAGE.get(cpu, "0x5a5a5a5a5a5a5a5a")
    module = ["kernel_trace", "called_back", "module:module_middle", "module:module_entry", "scenario_module"]
    order = "sorted" if kind.endswith("-gen") or cpu.startswith(OWN) else "not sorted"  # sfu-gen's are
    panic = "panic: value == 1"
    thread = ["work", "thread_entry", "thread_start"]
    result = {
        "boot": (["running"], True),
        "assert": ([panic, main_trace(cpu, asserted([]))], False),
        "memory": ([memory, main_trace(cpu, [reading, "scenario_memory"])], False),
        "illegal": ([illegal, main_trace(cpu, ["illegal+0", "scenario_illegal"])], False),
        "trap": (["fault: .*", "build ID .*", TRAP, main_trace(cpu, ["trapped", "scenario_trap"], own=True)], False),
        "trap-bounds": (["fault: .*", "build ID .*", TRAP if cpu not in CHECKED else "trap: index out of bounds",
                         main_trace(cpu, ["scenario_trap_bounds"], own=True)], False),
        "irq": ([illegal, main_trace(cpu, interrupted)], False),
        "tick": (["ticked", panic, main_trace(cpu, asserted(["scenario_tick"]))], False),
        "nested": ([illegal, main_trace(cpu, ["illegal+0", "fault_again", "kernel_handle", "kernel_trap",
                                              "exception_entry", nested, "scenario_nested"])], False),
        "printer": ([panic, "build ID .*", "#0  .*", ".*", ".*", illegal, "",
                     "second fault while printing the trace: stopped"], False),
        "overflow": ([overflow, Trace(["recurse", "recurse", (1, MAX_FRAMES - 2)], TOO_MANY)], False),
        "overflow-big": ([overflow, main_trace(cpu, ["recurse_big", "recurse_big", (1, None),
                                                     "scenario_overflow_big"])], False),
        "garbage": ([illegal, Trace(["illegal+0", "overwrite", garbage], NOT_CODE)], False),
        "zero": ([illegal, Trace(["illegal+0", "return_to", "0x0000000000000000?"], NOT_CODE)], False),
        "data": ([illegal, Trace(["illegal+0", "return_to", "&some_data"], NOT_CODE)], False),
        "corrupt": (["panic: .*", Trace(["panic", "corrupt_2", "corrupt_1"], BAD_FDE)], False),
        "corrupt-all": (["panic: .*", Trace(["panic"], BAD_FDE)], False),
        "thread": ([Trace(["thread_switch", "yield"] + thread)], True),
        "thread-panic": ([panic, Trace(asserted(thread))], False),
        "second": ([main_trace(cpu, ["kernel_trace", "stop_second", "scenario_second"]), "CPU 1:",
                    Trace(["run_on", "second_work", "second_main", "machine_second", "boot_second"])], True),
        "second-deaf": ([main_trace(cpu, ["kernel_trace", "stop_second", "scenario_second_deaf"]),
                         *(["CPU 1:", Trace(["run_on", "second_work", "machine_second", "boot_second"])]
                           if cpu in X86 else ["CPU 1 has not stopped"])], True),
        "walks": (["kept"], True),
        "recursion": (["panic: deep enough", main_trace(cpu, [
            "panic", "down", "down", (1, 19), "even", "odd", "even", (2, 9), "scenario_recursion"])], False),
        "skip": ([main_trace(cpu, ["scenario_skip"], first=2, own=True),
                  main_trace(cpu, ["die_2", "die", "scenario_skip"], own=True),
                  main_trace(cpu, ["die", "scenario_skip"], first=1, own=True)], True),
        "threads": (["trace of 1 waiting:", Trace(["thread_switch", "yield"] + thread, own=True),
                     "trace of 2 new:", Trace(["thread_start+0"], own=True),
                     "trace of 3 lost:", Trace(["thread_switch"], BAD_STACK, own=True),
                     "trace of 4 running:", main_trace(cpu, ["next_thread", "sfu_print_all", "scenario_threads"],
                                                       own=True), "four"], True),
        "record": ([panic, main_trace(cpu, asserted(["scenario_record"])), Record()], True),
        "record-irq": ([illegal, main_trace(cpu, interrupted + ["scenario_record_irq"]), Record()], True),
        "record-overflow": ([overflow, Trace(["recurse", "recurse", (1, MAX_FRAMES - 2)], TOO_MANY), Record()], True),
        "record-corrupt": ([panic, main_trace(cpu, asserted(["scenario_record_corrupt"])),
                            "crash record: corrupt"], True),
        "stack": (["stack 0x[0-9a-f]{16}"], True),
        "lost": ([Trace(["thread_switch"], BAD_STACK)], True),
        "module": ([order, main_trace(cpu, module), "removed", Trace(module[:3], NOT_CODE), "sorted and added",
                    main_trace(cpu, module)], True),
        "traced": (["compared", memory, main_trace(cpu, ["traced_leaf", "traced@", "scenario_traced@"])], False),
        "slide": ([panic, Trace(asserted(["moved", "kernel_restart", "boot_again"]), OUTERMOST, DISTANCE)], False),
        "slide-irq": ([illegal, Trace(interrupted + ["moved_irq", "kernel_restart", "boot_again"], OUTERMOST,
                                      DISTANCE)], False),
    }
    if cpu.startswith("riscv"):
        result["handler"] = ["panic: handled", main_trace(cpu, ["panic", "handled", "handler", "stopped~",
                                                                "scenario_handler"])], False
    result.update(wild_scenarios(cpu))
    if cpu == "arm":  # scenarios.c
        del result["module"]
        result["call"] = [illegal, main_trace(cpu, ["illegal+0", "on_call", "kernel_handle", "kernel_trap",
                                                    "exception_entry", "call_kernel~!", "scenario_call"])], False
    if cpu in ("arm", "i386"):  # scenarios.h
        del result["traced"]
    if kind.endswith(("-derive", "-find")):
        result = {name: result[name] for name in DERIVED}
    if kind in (cpu, f"{cpu}-hook", f"{cpu}-derive", f"{cpu}-find"):  # the same assembly in each of the others
        result.update(place_scenarios(cpu, kind))
        result.update(entry_scenarios(cpu, kind))
    if kind.endswith(("-derive", "-find")):
        return result
    result["overflow-all"] = [Deep(overflow, main_trace(cpu, ["recurse_all", "recurse_all", (1, None),
                                                              "scenario_overflow_all"]))], False
    result["overflow-thread"] = [Deep(overflow, Trace(["recurse_all", "recurse_all", (1, None), "run_over",
                                                       "thread_start"]))], False
    if cpu in X86:  # the others take faults on a stack of their own
        result["popped"] = [illegal, main_trace(cpu, ["popped", "with_array", "scenario_popped"])], False
    return result


# Sections that are broken at boot: how the image is changed or was linked, and what the one line must say.
BROKEN = {
    "version": (lambda s: s[:2] + b"\x04" + s[3:], "assemble and link with binutils 2.46 or newer"),
    "magic": (lambda s: b"\0\0" + s[2:], "sframe_start of the linker script must be the start of .sframe"),
    "flags": (lambda s: s[:3] + b"\x80" + s[4:], "this sfu is older than the linker that wrote the section"),
    "no-functions": (lambda s: s[:8] + bytes(12) + s[20:], "compile with -fasynchronous-unwind-tables"),
    "half-zero": (lambda s: s[:len(s.rstrip(b"\0")) // 2].ljust(len(s), b"\0"), "something changed the section after"),
    "cut": ("kernel-cut.elf", "the section was cut: sframe_end must be its end"),
    "missing": ("kernel-missing.elf", "compile with -fasynchronous-unwind-tables"),
}

# How a trace then ends behind its first frame, where nothing of the section can be used.
NO_TRACE = {"version": NO_SECTION, "magic": NO_SECTION, "flags": NO_SECTION, "cut": NO_SECTION,
            "missing": NO_SECTION, "no-functions": NO_FDE}


# ---- the image, as binutils see it ----


# ---- comparing ----


def check_record(image, printed, lines):
    """Takes the lines of a crash record away from LINES. They are those that have been PRINTED before the reset."""
    m = re.fullmatch(r"crash record: pc 0x(\w+) sp 0x(\w+) fp 0x\w+ ra 0x\w+", lines[0])
    must(m and FRAME.match(printed[0])[2] == m[1], f"'{lines[0]}' is not the record")
    must(image.objects["image_start"] < int(m[2], 16) <= image.objects["kernel_crash"], f"'{lines[0]}': SP")
    lines.pop(0)
    for line in printed:
        must(line == lines[0], f"'{lines[0]}' instead of '{line}'")
        lines.pop(0)


def check_scenario(cpu, image, name, first=(), wanted=None):
    """FIRST: what is printed before; WANTED: instead of what the scenario prints otherwise."""
    usual, good = scenarios(cpu, os.path.basename(image.directory))[name]
    wanted = wanted or usual
    lines, status = boot(cpu, image.path, name, name.startswith("record"))
    lines = [line for line in lines if not line.startswith(("SeaBIOS", "Booting from", "iPXE"))]
    for item in [*first, *wanted]:
        try:
            if isinstance(item, Trace):
                printed = check_trace(image, item, lines)
            elif isinstance(item, Deep):
                item.check(image, lines)
            elif isinstance(item, Places):
                must(lines[0] == item.line(image), f"'{lines[0]}' instead of '{item.line(image)}'")
                lines.pop(0)
            elif isinstance(item, Record):
                check_record(image, printed, lines)
            else:
                must(re.fullmatch(item, lines[0]), f"'{lines[0]}' instead of '{item}'")
                lines.pop(0)
        except IndexError:
            raise Wrong("it ended early") from None
    must(not lines, f"'{lines[:1]}' is too much")
    must(status == STATUS[cpu][0 if good else 1], f"exit status {status}")


def check_joined(cpu, image):
    """Without a word about the tables, of which there are many, whole traces through the functions of several."""
    _, offset, size = image.section(".sframe")
    with open(image.path, "rb") as file:
        headers = file.read()[offset:offset + size].count(b"\xe2\xde\x03")
    must(headers > 9, f"{headers} tables: they have been merged")
    for name in ("boot", "irq", "traced"):
        check_scenario(cpu, image, name)


def check_broken(cpu, image, name):
    """One line, and the kernel boots on."""
    change, line = BROKEN[name]
    if isinstance(change, str):
        image = image_of(image.tools, image.directory, change)
    else:
        with open(image.path, "rb") as file:
            data = file.read()
        _, offset, size = image.section(".sfu_sframe" if cpu in OWN else ".sframe")
        data = data[:offset] + change(data[offset:offset + size]) + data[offset + size:]
        image = copy.copy(image)
        image.path = os.path.join(image.directory, f"kernel-{name}.elf")
        with open(image.path, "wb") as file:
            file.write(data)
    message = r"sframe: .*\w.*: " + re.escape(line) + ".*"
    check_scenario(cpu, image, "boot", [message])
    if name in NO_TRACE:
        panic = Trace(["panic"], NO_TRACE[name])
        check_scenario(cpu, image, "assert", [message], ["panic: value == 1", panic])


def check_reset(cpu, image):
    """What the record outlives is a reset of the machine: where QEMU ends at one, nothing is printed behind it."""
    lines, status = boot(cpu, image.path, "record", False)
    must(any(line.startswith("trace ends") for line in lines) and not any("crash record" in line for line in lines),
         f"printed {lines[-3:]}")
    must(status == 0, f"exit status {status}")


def check_readme(cpu):
    """The command of docs/baremetal.md boots the machine, and prints the trace at the head of README.md."""
    with open("docs/baremetal.md", encoding="utf-8") as file:
        command = re.search(rf"<!-- boot: {cpu} -->\n```sh\n(.*?)```", file.read(), re.S)[1]
    done = subprocess.run(["sh", "-c", "exec " + command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          timeout=TIME_LIMIT)
    printed = done.stdout.decode(errors="replace").replace("\r", "")
    must("[interrupted]" in printed and "trace ends (1)" in printed, f"printed {printed}")
    if cpu == "x86_64":
        with open("README.md", encoding="utf-8") as file:
            shown = re.search(r"(?m)(?:^    #\d.*\n)+", file.read())[0]
        frames = [re.findall(r"^ *#(\d+) +0x\w+  ([\w.]+)\+0x\w+(.*)$", text, re.M) for text in (shown, printed)]
        must(len(frames[0]) > 8 and frames[0] == frames[1], f"README.md shows {frames[0]}, and this is {frames[1]}")


# ---- limits, of the images that are made small ----

# An instruction has 4 bytes on aarch64, and 4 or 6 on s390x.
TEXT = {"x86_64": 105 << 6, "aarch64": 31 << 8, "s390x": 18 << 9, "riscv32": 14 << 9, "i386": 14 << 9}
CONSTANTS, STACK = 3 << 9, 512  # constants: most of them are the sentences of sfu_string


def check_text(cpu, image):
    """What the printer and the core need in a kernel: one call to print, sections that are added."""
    objects = [os.path.join(image.directory, name) for name in ("sfu.o", "port/print/sfu_print.o")]
    path = os.path.join(image.directory, "limits.elf")
    emulation = {"riscv32": ["-m", "elf32lriscv"], "i386": ["-m", "elf_i386"]}.get(cpu, [])
    image.tool("ld", *emulation, "--gc-sections", "-e", "sfu_panic_print", "-u", "sfu_add",
               "--unresolved-symbols=ignore-all", *objects, "-o", path)
    sizes = image.tool("size", "-A", path)
    code, constants = (sum(int(m[1]) for m in re.finditer(rf"^\.{name}\S* +(\d+)", sizes, re.M))
                       for name in ("text", "rodata"))
    print(f"# {image.directory}: {code} bytes of code, {constants} of constants")
    must(0 < code < TEXT[cpu], f"{code} bytes of code, not under {TEXT[cpu]}")
    must(0 < constants < CONSTANTS, f"{constants} bytes of constants, not under {CONSTANTS}")


def check_stack(cpu, image):
    lines, _ = boot(cpu, image.path, "stack", False)
    used = int(lines[-1].split()[1], 16)
    print(f"# {image.directory}: {used} bytes of stack")
    must(0 < used < STACK, f"{used} bytes of stack, not under {STACK}")


# ---- running ----

def tests(cpu, tools, directory):
    """(name, function) for each test of the images in DIRECTORY"""
    short = os.path.basename(directory)
    machine = short if short in QEMU else cpu
    for name in scenarios(machine, short):
        if name == "traced" and short.endswith(("-clang", "-gen")):
            continue  # clang's: its functions have no room
        if name == "corrupt" and short in ("riscv64-clang", "arm-clang", "i386-clang"):
            continue  # sfu-gen lets functions share attributes whose rows are the same
        yield f"{short}/{name}", lambda name=name: check_scenario(machine, image_of(tools, directory), name)
    if short == cpu:
        yield f"{short}/readme", lambda: check_readme(cpu)
        yield f"{short}/record-reset", lambda: check_reset(cpu, image_of(tools, directory))
        if cpu in ("x86_64", "aarch64"):  # rules.mk
            yield f"{short}/joined", lambda: check_joined(cpu, image_of(tools, os.path.join(directory, "joined")))
        for name in BROKEN:
            if cpu in OWN and name in ("cut", "missing"):
                continue  # sfu-gen makes the tables of images that are linked
            yield f"{short}/broken-{name}", lambda name=name: check_broken(cpu, image_of(tools, directory), name)
    if short.endswith("-small"):
        yield f"{short}/text", lambda: check_text(cpu, image_of(tools, directory))
        yield f"{short}/stack-limit", lambda: check_stack(cpu, image_of(tools, directory))


def main():
    cpu, tools, *directories = sys.argv[1:]
    tests_at_once(test for directory in directories for test in tests(cpu, tools, directory))
    finish()


if __name__ == "__main__":
    main()
