# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Runs cortexm.c on a board of QEMU with each of its command lines, and compares each frame with what was called:
cortexm.py PREFIX DIRECTORY... (PREFIX of the tools; the name of a DIRECTORY is BOARD or BOARD-KIND)

Frames of a wanted trace are names of functions. nm says whose the PC is, and objdump that a call stands in front of
each return address. Behind a name: @label the PC is that of the label, ~ interrupted, ! stack switch, ^ wild call,
? guessed, * one frame or more. "exc" is EXC_RETURN; a number is the PC of no function."""
import os
import re
import subprocess
import sys

sys.path.insert(0, "test/lib")
from check import Wrong, finish, must, tests_at_once  # noqa: E402

BOARDS = {"mps2-an385": "m3", "mps2-an386": "m4", "microbit": "m0", "mps3-an547": "m55"}
FPU = ("mps2-an386", "mps3-an547")
TIME_LIMIT = 120

TASK = ["outer", "task"]
MAIN = ["outer", "choose", "board_main", "Reset_Handler"]
SYSTICK = ["outer", "SysTick_Handler", "exc"]

# What the fault is called, and the frames that it adds.
FAULTS = {
    "udf": ("UsageFault: undefined instruction", ["fault_udf@at_udf", "fail"]),
    "trap": ("UsageFault: undefined instruction", ["fault_trap", "fail"]),
    "data": ("BusFault: data access, precise; address {nothing}", ["fault_data@at_data", "fail"]),
    # QEMU does not set HFSR.DEBUGEVT, and says what it says of SVC.
    "bkpt": ("HardFault: SVC or BKPT, but its handler may not run here", ["fault_bkpt@at_bkpt", "fail"]),
    "masked": ("HardFault: SVC or BKPT, but its handler may not run here", ["fault_svc@behind_svc", "fail"]),
    "null": ("UsageFault: jump to an even address: not Thumb", ["0x0", "fault_call^", "fail"]),
    "wild": ("BusFault: instruction fetch", ["{nothing}", "fault_call^", "fail"]),
    "never": ("MemManage: no right to execute here", ["0x40000000", "fault_call^", "fail"]),
    "even": ("UsageFault: jump to an even address: not Thumb", ["victim@victim", "fault_call", "fail"]),
    "inside": ("UsageFault: jump to an even address: not Thumb", ["exc", "fault_call!?", "fail"]),
    "divide": ("UsageFault: division by zero", ["fault_divide@at_divide", "fail"]),
    "unaligned": ("UsageFault: unaligned access", ["fault_unaligned@at_unaligned", "fail"]),
    "mpu": ("MemManage: no right to this data; address {guard}", ["fault_mpu@at_mpu", "fail"]),
    "fpu": ("UsageFault: the FPU or coprocessor is off", ["fault_fpu@at_fpu", "fail"]),
}

# Where it happens: the mode in words, and the frames behind the fault's.
THREAD, HANDLER = "thread mode, {} stack", "in an exception, main stack"
WHERE = {
    "main": (THREAD.format("main"), MAIN),
    "task": (THREAD.format("process"), TASK),
    "returns": (THREAD.format("process"), ["outer", "old_task", "sfu_cortexm_task_end@sfu_cortexm_task_end"]),
    "left": (THREAD.format("process"), ["outer", "old_task", "exc"]),
    "left-irq": (HANDLER, SYSTICK + ["pend_systick~!", "outer", "old_task", "exc"]),
    "left-main": (THREAD.format("main"), ["outer", "old_task", "exc"]),
    "left-main-irq": (HANDLER, SYSTICK + ["pend_systick~", "outer", "old_task", "exc"]),
    "irq": (HANDLER, SYSTICK + ["pend_systick~!"] + TASK),
    "irq-main": (HANDLER, SYSTICK + ["pend_systick~"] + MAIN),
    "leaf": (HANDLER, SYSTICK + ["pend_leaf~!"] + TASK),
    "r3": (HANDLER, SYSTICK + ["pend_r3~!"] + TASK),
    "r12": (HANDLER, SYSTICK + ["pend_r12~!"] + TASK),
    "odd": (HANDLER, SYSTICK + ["pend_odd~!"] + TASK),
    "framed": (HANDLER, SYSTICK + ["pend_framed~!", "pend_framed_8"] + TASK),
    "svc": (HANDLER, ["outer", "SVC_Handler", "exc", "call_svc@at_svc_next~!"] + TASK),
    "tail": (HANDLER, ["IRQ2_Handler", "exc", "pend_irq0~!"] + TASK),
}
HALF = ["half"]


def nested(board):
    """IRQ1 interrupts IRQ0, which uses the FPU if there is one."""
    return ["outer", "IRQ1_Handler", "exc", "pend_next~", *(HALF if board in FPU else []), "IRQ0_Handler", "exc",
            "pend_irq0~!"]

# Orders of what context switches save; those that do not save EXC_RETURN, or are not for an FPU.
SYSTEMS = ("cm3", "cm0-11.1", "cm0-mpu", "cm4f", "cm33", "cm33-secure", "cm4-mpu", "cm33-mpu",
           "cm33-secure-mpu", "riot-m0", "riot", "threadx-m0", "threadx", "rtthread", "rtthread-m4f",
           "rtthread-m33", "nuttx", "nuttx-m4f", "zephyr", "zephyr-fpu", "zephyr-switch",
           "zephyr-switch-fpu", "+zephyr", "+zephyr-fpu")
NO_FPU = ("cm3", "cm0-11.1", "cm0-mpu", "riot-m0", "threadx-m0", "rtthread", "nuttx", "zephyr", "zephyr-switch",
          "+zephyr")
# A line of objdump that calls: its address, its bytes.
CALL = r"^ *([0-9a-f]+):\t([0-9a-f ]+?) *\tblx?(?:eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?\t"


class Image:
    def __init__(self, prefix, directory):
        self.path = os.path.join(directory, "test.elf")
        self.silent = directory.endswith(("microbit", "-unsaid"))  # it reads no fault registers
        self.tools = prefix
        self.symbols, self.functions = {}, []
        for line in self.tool("readelf", "-sW", self.path).splitlines():
            word = line.split()
            if len(word) == 8 and word[0][:-1].isdigit() and word[3] != "FILE":
                address = int(word[1], 16)
                self.symbols[word[7]] = address & ~1 if word[3] == "FUNC" else address
                if word[3] == "FUNC":  # a compiler's copy, as in recurse.isra.0, is the same function
                    self.functions.append((address & ~1, int(word[2], 0), word[7].split(".")[0]))
        text = self.tool("objdump", "-d", "-j.text", self.path)
        self.behind_calls = set()
        for m in re.finditer(CALL, text, re.M):
            self.behind_calls.add(int(m[1], 16) + len(m[2].replace(" ", "")) // 2)

    def tool(self, name, *words):
        return subprocess.run([self.tools + name, *words], text=True, stdout=subprocess.PIPE, check=True).stdout

    def names(self, address):
        return {name for start, size, name in self.functions if start <= address < start + size}


def boot(board, path, line):
    command = ["qemu-system-arm", "-M", board, "-display", "none", "-serial", "none", "-monitor", "none", "-kernel",
               path, "-semihosting-config", f"enable=on,target=native,arg={line}"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired as late:
        raise Wrong(f"still running after {TIME_LIMIT} s; printed {late.stdout[-300:]}") from None
    return done.stdout.decode("latin-1").splitlines(), done.returncode


def check_frame(image, number, wanted, line):
    m = re.fullmatch(r"#(\d+) +0x([0-9a-f]{8})((?:  \[[a-z ]+\])*)", line)
    must(m, f"'{line}' is not a frame")
    must(int(m[1]) == number, f"'{line}' is not number {number}")
    for sign, mark in (("~", "interrupted"), ("!", "stack switch"), ("^", "wild call"), ("?", "guessed")):
        must((sign in wanted) == (f"[{mark}]" in m[3]), f"'{line}': {mark}? {wanted}")
    pc = int(m[2], 16)
    name, label = re.fullmatch(r"(\w+)(?:@(\w+))?[~!^?*]*", wanted).groups()
    if name == "exc":
        must(pc >> 8 == 0xffffff, f"'{line}' is not EXC_RETURN")
    elif name.startswith("0x"):
        must(pc == int(name, 16), f"'{line}' is not {name}")
    else:
        exact = number == 0 or "~" in wanted
        must(label or name in image.names(pc if exact else pc - 1), f"'{line}' is {image.names(pc - 1)}, not {name}")
        must(label or exact or pc in image.behind_calls, f"'{line}': no call stands in front of it")
    must(label is None or pc == image.symbols[label], f"'{line}' is not {wanted}")


def check_trace(image, frames, lines):
    """Takes a trace away from LINES."""
    number = 0
    for i, wanted in enumerate(frames):
        check_frame(image, number, wanted, lines.pop(0))
        number += 1
        while "*" in wanted and "*" not in (frames[i + 1:] + [""])[0]:
            try:
                check_frame(image, number, wanted.replace("?", "").replace("!", "").replace("~", ""), lines[0])
            except Wrong:
                break
            lines.pop(0)
            number += 1
    guessed = any(sign in wanted for wanted in frames for sign in "^?")
    must(lines[0] == "trace ends (1): end of the stack: the outermost frame" +
         ("; guessed frames are not proven" if guessed else ""), f"'{lines[0]}' instead of the end")
    lines.pop(0)
    must(lines.pop(0).startswith("addr2line -Cfipe firmware.elf 0x"), "no addr2line")


def check_words(lines, exception, where, words):
    """Takes away what is said of a fault. WORDS: patterns; None: this CPU says nothing."""
    must(lines[0] == f"fault: {exception}, {where}", f"'{lines[0]}' instead of {exception}, {where}")
    lines.pop(0)
    for pattern in words or []:
        must(re.fullmatch("  " + pattern, lines[0]), f"'{lines[0]}' instead of '{pattern}'")
        lines.pop(0)
    if words is not None:
        must(re.fullmatch(r"CFSR 0x\w{8} HFSR 0x\w{8} MMFAR 0x\w{8} BFAR 0x\w{8}", lines[0]), f"'{lines[0]}'")
        lines.pop(0)


def places(board, image):
    return {"nothing": "0x1f000000" if board == "mps3-an547" else "0x60000000",
            "guard": f"0x{image.symbols['memory']:08x}"}


def check_fault(board, image, where, what, exception="HardFault", before=()):
    mode, behind = WHERE.get(where, WHERE["task"])
    if where in ("nested", "lazy", "eager"):
        mode, behind = HANDLER, nested(board) + (["half", "use_floats"] if where != "nested" else []) + TASK
    word, frames = FAULTS[what.lstrip("+")]
    known = places(board, image)
    words = [re.escape(word.format(**known))] if word else []
    if image.silent:
        words = None
    lines, status = boot(board, image.path, f"{where} {what}")
    for line in before:
        must(lines[0] == line, f"'{lines[0]}' instead of '{line}'")
        lines.pop(0)
    if image.silent and what.lstrip("+") in ("null", "even", "inside"):
        must(lines.pop(1) == "  jump to an even address: not Thumb", "not Thumb")
    check_words(lines, exception, mode, words)
    if board == "mps3-an547" and lines[0].startswith("SP 0x"):
        lines.pop(0)
    if what == "inside":
        must(lines.pop(0) == f"a jump led to 0x{image.symbols['pushes_inside']:08x}; who jumped is guessed:", "no jump")
    if what == "trap":
        must(lines[0] == "trap: __builtin_trap(), or a check that gives no reason", f"'{lines[0]}' is no reason")
        lines.pop(0)
    check_trace(image, [frame.format(**known) for frame in frames] + behind, lines)
    must(not lines, f"'{lines[:1]}' is too much")
    must(status == 1, f"exit status {status}")


LOST = "what was interrupted could not be saved as a whole; the next frame is guessed:"
UNSAID = "this CPU does not say whether it could save what was interrupted; the next frame is guessed:"


def take_lost(image, lines):
    """Takes away the line that says that a guess follows, and what is in front of it."""
    lost = UNSAID if image.silent else LOST
    must(lost in lines, f"no line '{lost}'")
    del lines[:lines.index(lost) + 1]


def check_overflow(board, image, where, what, exception="HardFault"):
    """The registers could not be pushed, so that the first frame is guessed; it is right all the same."""
    lines, status = boot(board, image.path, f"{where} {what}")
    must(re.fullmatch(f"fault: {exception}, thread mode, (main|process) stack", lines[0]), f"'{lines[0]}'")
    said = [line for line in lines if line.startswith("  ")]
    limit = where == "limit"
    reason = "  UsageFault: stack limit passed" if limit else "  MemManage: exception entry could not push"
    must(said == [] if image.silent else reason in said, str(said))
    must(not limit or any(re.fullmatch(r"SP 0x(\w{8}) limit 0x\1", line) for line in lines), "no limit")
    take_lost(image, lines)
    marks = "?" if where == "overflow-main" else "!?"
    behind = ["overflow", *(MAIN if where == "overflow-main" else TASK)]
    for first in ("recurse~" + marks, "recurse" + marks):  # its own frame, or its caller's
        if "[interrupted]" in lines[1] or "~" not in first:
            check_trace(image, ["exc", first, "recurse*", *behind], lines)
            break
    must(not lines and status == 1, f"'{lines[:1]}', status {status}")


SIZE = re.compile(r"  \[(\d+) bytes\]$")


def check_large(board, image, where):
    """The line in front of the trace names the function whose frame is most of the stack. Where the limit of the stack
    has kept SP, what has faulted is exact."""
    lines, status = boot(board, image.path, f"{where} +x")
    while lines and not lines[0].startswith("stack overflow"):
        lines.pop(0)
    must(lines, "no line about the overflow")
    m = re.fullmatch(r"stack overflow: (\d+) frames use (\d+) of 1024 bytes; the largest is frame 1, (\d+) bytes: "
                     r"0x([0-9a-f]+)", lines[0])
    must(m, f"'{lines[0]}' does not name the largest frame")
    sizes = [int(SIZE.search(line)[1]) for line in lines[1:] if SIZE.search(line)]
    must(int(m[1]) == (3 if where == "overflow-large" else 4), f"{lines[0]}")
    must(int(m[2]) > 1024 and int(m[3]) in sizes, f"{lines[0]}, sizes {sizes}")
    must(image.names(int(m[4], 16)) == {"large"} and 680 <= int(m[3]) < 680 + 64, f"'{lines[0]}'")
    lines = [SIZE.sub("", line) for line in lines[1:]]
    guessed = "[guessed]" in lines[1]
    must(guessed == (where == "overflow-large"), f"'{lines[1]}': guessed?")
    check_trace(image, ["exc", "large!?", *TASK] if guessed else ["deep", "large", *TASK], lines)
    must(not lines and status == 1, f"'{lines[:1]}', status {status}")


def check_leaf(board, image):
    """If it had not saved its return address, its caller is missing, and the line does not name another function."""
    lines, _ = boot(board, image.path, "overflow-leaf +x")
    take_lost(image, lines)
    m = re.fullmatch(r"stack overflow: 2 frames use (\d+) of 1024 bytes; (\d+) of them lie below frame 1", lines[0])
    must(m and 1060 < int(m[2]) < int(m[1]), f"'{lines[0]}' does not say where the stack went")
    check_trace(image, ["exc", "outer!?", "task"], [SIZE.sub("", line) for line in lines[1:]])


def check_push(board, image):
    """What was interrupted is exact where the exception frame has room."""
    lines, status = boot(board, image.path, "overflow-push x")
    check_words(lines, "HardFault", THREAD.format("process"), [r"MemManage: no right to this data; address 0x\w{8}"])
    if lines[0].startswith("SP 0x"):
        lines.pop(0)
    check_trace(image, ["push_much@at_push", *TASK], lines)
    must(not lines and status == 1, f"'{lines[:1]}', status {status}")


def check_return(board, image, where, frames):
    """What is below an exception that could not return is a guess, even where it looks like an exception frame."""
    lines, status = boot(board, image.path, where)
    check_words(lines, "HardFault", HANDLER, None if image.silent else ["UsageFault: wrong EXC_RETURN"])
    if lines[0].startswith("SP 0x"):
        lines.pop(0)
    wanted = UNSAID if image.silent else "an exception could not return; the next frame is guessed:"
    must(lines.pop(0) == wanted, "nothing says that it is a guess")
    check_trace(image, ["exc", *frames], lines)
    must(not lines and status == 1, f"'{lines[:1]}', status {status}")


def check_left_above(board, image):
    """A task above the main stack, whose first function has EXC_RETURN in LR: frames of a handler may have overwritten
    it, so the trace does not count as complete."""
    lines, status = boot(board, image.path, "left-above udf")
    check_words(lines, "HardFault", THREAD.format("process"), ["UsageFault: undefined instruction"])
    for number, wanted in enumerate(["fault_udf@at_udf", "fail", "outer", "old_task", "exc"]):
        check_frame(image, number, wanted, lines.pop(0))
    must(lines[0].startswith("trace ends (-22)") and len(lines) == 2 and status == 1, lines)


def check_unsaid(board, image):
    """The MPU is on, and where the stack ends is not known: the exception frame, which is there, is a guess."""
    lines, status = boot(board, image.path, "task mpu")
    take_lost(image, lines)
    check_trace(image, ["exc", "fault_mpu@at_mpu~!?", "fail", *TASK], lines)
    must(not lines and status == 1, f"'{lines[:1]}', status {status}")


def check_entry(board, image, where):
    lines, status = boot(board, image.path, f"{where} x")
    check_trace(image, ["keep_registers", "check_registers", *(TASK if where == "entry" else MAIN)], lines)
    must(lines == ["registers kept"] and status == 0, f"{lines}, status {status}")


def check_r5(board, image):
    lines, _ = boot(board, image.path, "r5 x")
    check_words(lines, "HardFault", THREAD.format("main"),
                None if image.silent else ["UsageFault: undefined instruction"])
    check_trace(image, ["fault_r5@at_r5", *MAIN], lines)


VICTIM = ["victim@victim~!?", "0xfffffffe"]


def check_late(board, image, what, mode, reasons, frames):
    """A handler that runs before that of the fault by which the CPU could not push its frame: what stands there, which
    never ran, is a guess."""
    lines, status = boot(board, image.path, "late " + what)
    if mode:
        check_words(lines, *mode, None if image.silent else reasons)
        if lines[0].startswith("SP 0x"):
            lines.pop(0)
        take_lost(image, lines)
    if frames:
        check_trace(image, frames, lines)
    else:  # nothing can be read there
        check_frame(image, 0, "exc", lines.pop(0))
        must(lines.pop(0).startswith("trace ends (-17)") and lines.pop(0).startswith("addr2line"), "another end")
    must(not lines and status == 1, f"'{lines[:1]}', status {status}")


def check_over(board, image, what):
    """The NMI comes into the report of a fault whose frame is lost. Its own is not."""
    lines, status = boot(board, image.path, "late " + what)
    must("fault: NMI, in an exception, main stack" in lines[0], lines[0])
    frames = [line for line in lines if line.startswith("#")]
    lost = next(i for i, line in enumerate(frames) if re.search(r"0xffffff\w\w$", line))
    must(not any("[" in line for line in frames[:lost]) and "[guessed]" in frames[lost + 1], frames)
    names = [image.names(int(line.split()[1], 16) - 1) for line in frames]
    must({"sfu_cortexm_print"} in names[:lost] and {"recurse"} in names[lost:], names)
    must(lines[-2].endswith("; guessed frames are not proven") and status == 1, lines[-2])


def check_lazy(board, image):
    """What is saved late is no part of what a trace needs."""
    lines, status = boot(board, image.path, "late-lazy lazy")
    check_words(lines, "MemManage", HANDLER, ["MemManage: lazy saving of the FPU's registers"])
    check_trace(image, ["fault_lazy@at_lazy", "fail", *SYSTICK, "late_spin~!"], lines)
    must(not lines and status == 1, f"'{lines[:1]}', status {status}")


REPORT_STACK = {"measured": 520, "measured-irq": 704}  # bytes: docs/cortexm.md


def check_measured(board, image, where):
    """How much of the main stack a report takes, of a fault in a task, or in an interrupt."""
    lines, status = boot(board, image.path, f"{where} udf")
    m = re.fullmatch(r"bytes of main stack: (\d+)", lines[-1])
    limit = REPORT_STACK[where]
    must(m and 100 < int(m[1]) <= limit and status == 1, f"'{lines[-1]}': not up to {limit}")
    return f"{m[1]} bytes"


def check_waits(board, image, where, system):
    """A task that an operating system has switched away from; then one word away from that, and where nothing is."""
    lines, status = boot(board, image.path, f"{where} {system}")
    first = ["waits_r9"] if where == "waits-r9" else ["waits_r5"]
    check_trace(image, first + ["use_and_wait"] * (where == "waits-fpu") + TASK, lines)
    must(len(lines) == 2 and status == 1 and all(
        re.fullmatch(r"SP 0x\w{8} does not lead to what a task has saved", line) for line in lines), str(lines))


def check_waits_left(board, image, where):
    """A task that waits, whose first function has EXC_RETURN in LR, on a stack below or above the main stack."""
    lines, status = boot(board, image.path, f"{where} cm3")
    check_trace(image, ["waits_r5", "outer", "old_task", "exc"], lines)
    must(len(lines) == 2 and status == 1, lines)


def check_switched(board, image):
    """A task that has called Zephyr's scheduler, with CONFIG_USE_SWITCH."""
    lines, status = boot(board, image.path, "switched x")
    check_trace(image, ["switch_away", "call_scheduler", *TASK], lines)
    must(not lines and status == 1, f"'{lines[:1]}', status {status}")


def tests(prefix, directory):
    board = re.sub(r"-(clang|lto|unsaid|O0|O2)$", "", os.path.basename(directory))
    image = Image(prefix, directory)
    mainline = board != "microbit"
    cases = {}

    def fault(where, what, **more):
        cases[f"{where}-{what}"] = lambda: check_fault(board, image, where, what, **more)
    plain = ["udf", "trap", "data", "bkpt", "masked", "null", "even", "inside"]
    if mainline:
        plain += ["wild", "never", "divide", *(["+mpu"] if image.silent else ["unaligned", "mpu"])]
    for what in plain + (["fpu"] if board in FPU else []):
        fault("task", what)
    for where in WHERE:
        fault(where, "udf")
    for what in ("data", "null", "+udf", "+null", "trap"):
        fault("irq", what)
    for where in ("left", "left-irq"):
        fault(where, "+udf")
    fault("nested", "udf")
    fault("nested", "+null")
    for where in ("entry", "entry-main"):
        cases[where] = lambda where=where: check_entry(board, image, where)
    cases["r5"] = lambda: check_r5(board, image)
    if not directory.endswith("-O0"):
        for where in REPORT_STACK:
            cases[where] = lambda where=where: check_measured(board, image, where)

    def late(what, mode, reasons, frames):
        cases[f"late-{what}"] = lambda: check_late(board, image, what, mode, reasons, frames)
    nmi, push = ("NMI", THREAD.format("process")), ["MemManage: exception entry could not push"]
    late("bus", nmi, ["BusFault: exception entry could not push"], [])
    if mainline:
        late("nmi", nmi, push, ["exc", *VICTIM])
        late("again", nmi, push, ["exc", *VICTIM])
        late("here", None, None, ["print_here", "late_here", "on_nmi", "NMI_Handler", "exc", *VICTIM])
        cases["late-over"] = lambda: check_over(board, image, "over")
    if mainline and not image.silent:
        cases["late-over-enabled"] = lambda: check_over(board, image, "over-enabled")
        cases["overflow-enabled"] = lambda: check_overflow(board, image, "overflow-enabled", "x", "MemManage")
        late("enabled", nmi, push, ["exc", *VICTIM])
        late("tick", None, None, ["print_here", "fail", *SYSTICK, *VICTIM])
        late("fault", ("UsageFault", HANDLER), push + ["UsageFault: division by zero"],
             ["exc", "fault_divide@at_divide~?", "fail", *SYSTICK, *VICTIM])
    if board == "mps3-an547":
        late("limit", nmi, ["UsageFault: stack limit passed"], [])
    if board in FPU:
        cases["late-lazy"] = lambda: check_lazy(board, image)

    for where in ("waits-left", *(["waits-left-above"] if mainline and not image.silent else [])):
        cases[where] = lambda where=where: check_waits_left(board, image, where)
    cases["switched"] = lambda: check_switched(board, image)
    for system in SYSTEMS:
        for where in ("waits", "waits-r9", *(["waits-fpu"] if board in FPU and system not in NO_FPU else [])):
            cases[f"{where}-{system}"] = lambda where=where, system=system: check_waits(board, image, where, system)
    if image.silent and mainline:
        cases["task-mpu"] = lambda: check_unsaid(board, image)
    elif mainline:
        cases["left-above"] = lambda: check_left_above(board, image)
        fault("enabled", "mpu", exception="MemManage")
        fault("enabled", "data", exception="BusFault")
        fault("enabled", "divide", exception="UsageFault")
        cases["wrong-return-deep"] = lambda: check_return(board, image, "irq return",
                                                          ["fail?", *SYSTICK, "pend_systick~!", *TASK])
        cases["overflow-push"] = lambda: check_push(board, image)
    if mainline:
        for where, what in (("overflow", "x"), ("overflow", "+x"), ("overflow-main", "x")):
            cases[f"{where}-{what}"] = lambda where=where, what=what: check_overflow(board, image, where, what)
        cases["wrong-return"] = lambda: check_return(board, image, "wrong-return x", ["pend_irq3~?", *MAIN])
        if not directory.endswith(("-clang", "-O0")):  # these save it
            cases["overflow-leaf"] = lambda: check_leaf(board, image)
        cases["overflow-large"] = lambda: check_large(board, image, "overflow-large")
    if board == "mps3-an547":
        cases["limit"] = lambda: check_overflow(board, image, "limit", "x")
        cases["limit-large"] = lambda: check_large(board, image, "limit-large")
    if board in FPU:
        for where in ("lazy", "eager"):
            fault(where, "udf", before=["FPU in use"])
    for name, function in cases.items():
        yield f"{os.path.basename(directory)}/{name}", function


def main():
    prefix, *directories = sys.argv[1:]
    tests_at_once(test for directory in directories for test in tests(prefix, directory))
    finish()


if __name__ == "__main__":
    main()
