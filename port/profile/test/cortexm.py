# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""cortexm.py SFU-TRACE IMAGE...: the firmware of cortexm.c profiles itself, twice, on the board of QEMU that the
directory of each IMAGE is named after. The shares are those that its loops have: 1 of work_one, of PendSV and idle, 3
of work_three; every trace is whole, also across PendSV."""
import re
import subprocess
import sys

sys.path.insert(0, "test/lib")
from check import finish, must, test  # noqa: E402


def folded_stacks(trace, image, log):
    """What sfu-trace makes of the profile in LOG, and how much each function at the top has of it."""
    folded = subprocess.run([trace, "--folded", image], input=log, stdout=subprocess.PIPE, check=True).stdout.decode()
    weights = {}
    wrong = []
    for stack, weight in re.findall(r"^(\S+) (\d+)$", folded, re.M):
        names = stack.split(";")
        if names[0] != "task":
            wrong.append(stack)
        weights[names[-1]] = weights.get(names[-1], 0) + int(weight)
    return folded, weights, wrong


def profile(trace, image):
    board = image.split("/")[-2]
    # Time is that of instructions, so that the machine's load does not count.
    run = subprocess.run(["qemu-system-arm", "-M", board, "-icount", "shift=3", "-display", "none",
                          "-semihosting-config", "enable=on,target=native", "-kernel", image], check=False,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240)
    log = run.stdout
    first, _, anew = log.rpartition(b"sfut1 begin ")
    folded, weights, wrong = folded_stacks(trace, image, first)
    again, again_weights, again_wrong = folded_stacks(trace, image, b"sfut1 begin " + anew)
    one, three, pendsv = (weights.get(name, 0) for name in ("work_one", "work_three", "PendSV_Handler"))
    idle = sum(int(weight) for weight in re.findall(rb"(?m)^sfut1 idle (\d+)$", first))
    results = [("traces", not wrong and len(weights) >= 3, f"{wrong[:3]}, {log[-200:]}"),
               ("across-PendSV", re.search(r"^task;both;0xff\w+;PendSV_Handler \d+$", folded, re.M), folded[:300]),
               ("shares", one > 30 and 2 * one < three < 4 * one and one < 2 * pendsv < 4 * one and
                one < 2 * idle < 4 * one, f"{one} {three} {pendsv} {idle}"),
               ("samples", 400 <= sum(weights.values()) + idle < 440, f"{weights} {idle}"),
               ("anew", not again_wrong and 20 <= sum(again_weights.values()) < 30 and
                again_weights.get("work_three", 0) >= 10 and set(again_weights) <= {"work_three", "task"}, again),
               ("ends", run.returncode == 0, f"status {run.returncode}: {log[-200:]}")]
    for name, good, why in results:
        test(f"{board} {name}", must, good, why)


def main():
    trace, *images = sys.argv[1:]
    for image in images:
        profile(trace, image)
    finish()


if __name__ == "__main__":
    main()
