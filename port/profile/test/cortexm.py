# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""cortexm.py IMAGE SFU-TRACE: the firmware of cortexm.c profiles itself on QEMU's mps2-an386. The shares are those that
its loops have: 1 of work_one and of PendSV, 3 of work_three; every trace is whole, also across PendSV."""
import re
import subprocess
import sys


def main():
    image, trace = sys.argv[1:]
    # Time is that of instructions, so that the machine's load does not count.
    log = subprocess.run(["qemu-system-arm", "-M", "mps2-an386", "-icount", "shift=3", "-display", "none",
                          "-semihosting-config", "enable=on,target=native", "-kernel", image],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240).stdout
    folded = subprocess.run([trace, "--folded", image], input=log, stdout=subprocess.PIPE, check=True).stdout.decode()
    weights = {}
    wrong = []
    for stack, weight in re.findall(r"^(\S+) (\d+)$", folded, re.M):
        names = stack.split(";")
        if names[0] != "task":
            wrong.append(stack)
        weights[names[-1]] = weights.get(names[-1], 0) + int(weight)
    one, three, pendsv = (weights.get(name, 0) for name in ("work_one", "work_three", "PendSV_Handler"))
    results = [("traces", not wrong and len(weights) > 3, f"{wrong[:3]}, {log[-200:]}"),
               ("across-PendSV", re.search(r"^task;both;0xff\w+;PendSV_Handler \d+$", folded, re.M), folded[:300]),
               ("shares", one > 30 and 2 * one < three < 4 * one and one < 2 * pendsv < 4 * one,
                f"{one} {three} {pendsv}"),
               ("samples", 400 <= sum(weights.values()) < 440, str(sum(weights.values())))]
    for name, good, why in results:
        print(f"ok {name}" if good else f"not ok {name}: {why}")
    return not all(good for _, good, _ in results)


if __name__ == "__main__":
    sys.exit(main())
