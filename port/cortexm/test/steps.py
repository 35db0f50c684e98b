# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""steps.py PREFIX DIRECTORY...: a trace at every instruction of a task and of its handlers, on boards with a Cortex-M.
The name of a DIRECTORY is BOARD or BOARD-KIND; its steps.elf is steps.c.

First QEMU's stub steps work() instruction by instruction, which keeps a shadow stack: a call pushes, and so does an
exception; what comes to where it was called or interrupted, with the SP of then, pops. Then the same work runs at full
speed, with an interrupt after one tick more each time, and walks on board. By -icount an instruction takes longer than
a tick, so that every instruction is interrupted. Each walk has to be what the shadow stack has at that
instruction: not one frame may be wrong or lost. Where PendSV comes as soon as it is asked for, SysTick does not."""
import os
import re
import subprocess
import sys

sys.path.insert(0, "test/lib")
from check import finish, must, test  # noqa: E402

from peers import Stub, calls, symbols

SHIFTS = {"mps2-an386": 6, "microbit": 7, "mps3-an547": 6}  # an instruction takes 2 ** it ns: longer than a tick
HANDLERS = ("SVC_Handler", "PendSV_Handler")
EXC_RETURN = 0xffffff00
MOST = 60000
END = 1  # SFU_END


def svcs_of(prefix, image):
    """address of each svc: where it returns to"""
    text = subprocess.run([prefix + "objdump", "-d", image], text=True, stdout=subprocess.PIPE, check=True).stdout
    return {int(m[1], 16): int(m[1], 16) + 2 for m in re.finditer(r"^ *([0-9a-f]+):\t[0-9a-f ]+\tsvc\t", text, re.M)}


class Shadow:
    """(where it returns to, SP there, EXC_RETURN or None) of each frame but the innermost one."""

    def __init__(self, places, returns, svcs):
        self.frames, self.returns, self.svcs = [], returns, svcs
        self.handlers = {places[name] & ~1 for name in HANDLERS}

    def step(self, before, after):
        """What the instruction at BEFORE's PC did, both registers."""
        pc, sp = before[15], before[13]
        if after[15] in self.handlers and after[14] >= EXC_RETURN and after[14] != before[14]:
            self.frames.append((self.svcs.get(pc, pc), sp, after[14] & ~1))
            return
        called = self.returns.get(pc)
        if called is not None and after[15] != called:
            self.frames.append((called, sp, None))
        while self.frames and (after[15], after[13]) == self.frames[-1][:2]:
            self.frames.pop()

    def chain(self, pc, sp):
        """(PC, SP) of each frame that a trace has; of EXC_RETURN the PC, twice."""
        found = [(pc, sp)]
        for back, above, exc_return in reversed(self.frames):
            found += [(back, above)] if exc_return is None else [(exc_return, exc_return), (back, above)]
        return found


def stepped(prefix, image, board, path):
    """(PC, SP, all frames) at each instruction from work() to its end."""
    places = symbols(prefix, image)
    stub = Stub(image, path, board, "s")
    found = []
    try:
        stub.run_to(places["run"] & ~1)
        r = stub.registers()
        base = [(r[14] & ~1, r[13])]
        stub.run_to(places["work"] & ~1)
        stub.ask("Qqemu.sstep=1")  # exceptions come as they do otherwise
        r = stub.registers()
        base = [(r[14] & ~1, r[13])] + base
        shadow = Shadow(places, calls(prefix, image), svcs_of(prefix, image))
        while shadow.frames or r[15] != base[0][0]:
            must(len(found) < MOST, "work() does not end")
            found.append((r[15], r[13], shadow.chain(r[15], r[13]) + base))
            before = r
            stub.ask("s")
            r = stub.registers()
            shadow.step(before, r)
    finally:
        stub.qemu.kill()
        stub.qemu.wait()
    return found


def walked(image, board):
    """Of each walk: its frames, and the code at its end."""
    done = subprocess.run(["qemu-system-arm", "-M", board, "-display", "none", "-serial", "none", "-monitor", "none",
                           "-icount", f"shift={SHIFTS[board]},sleep=off", "-semihosting-config",
                           "enable=on,target=native,arg=t", "-kernel", image], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
    must(done.returncode == 0, f"status {done.returncode}: {done.stdout[-300:]}")
    for line in done.stdout.decode().splitlines():
        *frames, code = [int(word, 16) for word in line.split()]
        yield [(pc, pc if pc >= EXC_RETURN else sp) for pc, sp in zip(frames[::2], frames[1::2])], code


def shown(frames):
    return " ".join(f"{pc:#x}:{sp:#x}" for pc, sp in frames)


def compare(prefix, directory):
    image = f"{directory}/steps.elf"
    board = re.match(r"(mps\d-an\d+|\w+)", os.path.basename(directory))[1]
    path = os.path.abspath(f"{directory}/stub")
    if os.path.exists(path):
        os.remove(path)
    truth = stepped(prefix, image, board, path)
    pend_sv = symbols(prefix, image)["PendSV_Handler"] & ~1
    asked = [n for n, (pc, _, _) in enumerate(truth[1:]) if pc == pend_sv]
    at, reached, walks, count = 0, set(), 0, 0
    for frames, code in walked(image, board):
        where = f"at {frames[0][0]:#x}"
        later = next((n for n in range(at, len(truth)) if truth[n][:2] == frames[0]), None)
        if later is None:
            # Before work() begins, or behind its end.
            must(not reached or at >= len(truth) - 2, f"{where}, behind instruction {at}: no such place")
            continue
        at, where = later, f"{where}, instruction {later}"
        must(code == END, f"{where}: the walk ends with {code - (code >> 31 << 32)}")
        must(frames == truth[at][2], f"{where}: found {shown(frames)}, wanted {shown(truth[at][2])}")
        reached.add(at)
        walks += 1
        count += len(frames)
    left = [n for n in range(len(truth)) if n not in reached and n not in asked]
    must(not left, "not interrupted at " + " ".join(f"{truth[n][0]:#x}" for n in left))
    return f"{len(truth)} instructions, {len(reached)} interrupted, {walks} walks, {count} frames"


def main():
    prefix, *directories = sys.argv[1:]
    for directory in directories:
        test(os.path.basename(directory), compare, prefix, directory)
    finish()


main()
