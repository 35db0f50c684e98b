# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""peers.py PREFIX DIRECTORY SFU_TRACE [STEPS]: ways to a trace on a Cortex-M4, side by side.

Steps work() of peers.c by QEMU's stub, instruction by instruction, and keeps a shadow stack: a call pushes, and
what comes to the return address with the SP of the call pops. At each instruction PendSV is entered, and each
walker says what it thinks. Of the frames that there are, right are those that come in the same order; the others
are lost, and what a walker gives besides is wrong. A dump is printed into memory, and what sfu-trace makes of it
counts. Sizes are those of images with one walker, less that of an image with none."""
import difflib
import functools
import os
import re
import socket
import subprocess
import sys
import time

WALKERS = {"scan": "by_scan", "EHABI": "by_ehabi", "frame pointers": "by_fp", "sfu": "by_sfu"}
IMAGES = {"scan": "scan", "EHABI": "ehabi", "frame pointers": "fp", "sfu": "sfu", "sfu, by dump": "dump"}
# A line of objdump that calls: its address, its bytes.
CALL = r"^ *([0-9a-f]+):\t([0-9a-f ]+?) *\tblx?(?:eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?\t"


class Stub:
    """GDB's protocol."""

    def __init__(self, image, socket_path, board="mps2-an386", line=""):
        self.qemu = subprocess.Popen(["qemu-system-arm", "-M", board, "-display", "none", "-S", "-gdb",
                                      f"unix:{socket_path},server=on", "-semihosting-config",
                                      f"enable=on,target=native,arg={line}", "-kernel", image],
                                     stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = socket.socket(socket.AF_UNIX)
        for _ in range(200):
            try:
                self.socket.connect(socket_path)
                break
            except OSError:
                time.sleep(0.05)
        self.buffer = b""

    def ask(self, text):
        data = text.encode()
        self.socket.sendall(b"$%s#%02x" % (data, sum(data) & 255))
        while True:
            m = re.search(rb"\$([^#]*)#..", self.buffer)
            if m:
                self.buffer = self.buffer[m.end():]
                self.socket.sendall(b"+")
                return m[1].decode()
            more = self.socket.recv(65536)
            if not more:
                raise OSError("QEMU has ended")
            self.buffer += more

    def registers(self):
        raw = bytes.fromhex(self.ask("g")[:16 * 8])
        return [int.from_bytes(raw[i:i + 4], "little") for i in range(0, 64, 4)]

    def words(self, address, count):
        raw = bytes.fromhex(self.ask(f"m{address:x},{4 * count:x}"))
        return [int.from_bytes(raw[i:i + 4], "little") for i in range(0, len(raw), 4)]

    def run_to(self, address):
        self.ask(f"Z1,{address:x},2")
        self.ask("c")
        self.ask(f"z1,{address:x},2")


@functools.lru_cache(maxsize=None)
def symbols(prefix, image):
    found = {}
    text = subprocess.run([prefix + "nm", image], text=True, stdout=subprocess.PIPE, check=True).stdout
    for line in text.splitlines():
        word = line.split()
        if len(word) == 3:
            found[word[2]] = int(word[0], 16)
    return found


def calls(prefix, image):
    """address of each instruction that calls: where it returns to"""
    text = subprocess.run([prefix + "objdump", "-d", image], text=True, stdout=subprocess.PIPE, check=True).stdout
    found = {}
    for m in re.finditer(CALL, text, re.M):
        found[int(m[1], 16)] = int(m[1], 16) + len(m[2].replace(" ", "")) // 2
    return found


THUMB = 1 << 24  # in xPSR, which this stub has in another place of its answer


def sample(stub, places, pc, read):
    """What each walker says: what READ finds. The stub does what the CPU does at an exception (its writes do not reach
    the interrupt controller), and puts all registers back afterwards. The walkers use none of the FPU's."""
    before = stub.ask("g")
    r = [int.from_bytes(bytes.fromhex(before[i:i + 8]), "little") for i in range(0, 17 * 8, 8)]
    padding = r[13] & 4
    frame = r[13] - padding - 32
    pushed = [*r[0:4], r[12], r[14], pc, THUMB | padding << 7]
    stub.ask(f"M{frame:x},20:" + b"".join(word.to_bytes(4, "little") for word in pushed).hex())
    r[13], r[14], r[15] = frame, 0xfffffff9, places["PendSV_Handler"] & ~1
    r[16] = THUMB
    stub.ask("G" + b"".join(word.to_bytes(4, "little") for word in r).hex() + before[17 * 8:])
    stub.run_to(places["measured"] & ~1)
    said = read(stub, places)
    stub.ask("G" + before)
    return said


def results(stub, places):
    """What each walker on board has found."""
    said = {}
    for name, symbol in WALKERS.items():
        count, *pcs = stub.words(places[symbol], 25)
        said[name] = pcs[:count]
    return said


def dumped(trace, image):
    """The same for a dump that is in memory: what TRACE, the program sfu-trace, finds in it."""
    def read(stub, places):
        size = stub.words(places["num_kept"], 1)[0]
        words = [word for at in range(0, size, 512) for word in stub.words(places["kept"] + at, 128)]
        text = b"".join(word.to_bytes(4, "little") for word in words)[:size]
        found = subprocess.run([trace, image], input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               check=False)
        return {"sfu, by dump": [int(pc, 16) for pc in re.findall(rb"^ *#\d+ +0x([0-9a-f]+)", found.stdout, re.M)]}
    return read


def add(scores, name, truth, said):
    blocks = difflib.SequenceMatcher(None, truth, said, autojunk=False).get_matching_blocks()
    right = sum(block.size for block in blocks)
    scores[name][0] += right
    scores[name][1] += len(said) - right
    scores[name][2] += len(truth) - right


def step(prefix, image, socket_path, steps, read, names):
    places, returns = symbols(prefix, image), calls(prefix, image)
    stub = Stub(image, socket_path)
    scores = {name: [0, 0, 0] for name in names}
    try:
        stub.run_to(places["board_main"] & ~1)
        base = [stub.registers()[14] & ~1]
        stub.run_to(places["work"] & ~1)
        r = stub.registers()
        base = [r[14] & ~1] + base
        shadow = []
        for _ in range(steps):
            pc, sp = r[15], r[13]
            truth = [pc] + [ret for ret, _ in reversed(shadow)] + base
            for name, said in sample(stub, places, pc, read).items():
                add(scores, name, truth, said)
            called = returns.get(pc)
            stub.ask("s")
            r = stub.registers()
            if called is not None and r[15] != called:
                shadow.append((called, sp))
            while shadow and r[15] == shadow[-1][0] and r[13] == shadow[-1][1]:
                shadow.pop()
            if not shadow and r[15] == base[0]:
                break
    finally:
        stub.qemu.kill()
        stub.qemu.wait()
    return scores


def sizes(prefix, image):
    text = subprocess.run([prefix + "size", "-A", image], text=True, stdout=subprocess.PIPE, check=True).stdout
    return {m[1]: int(m[2]) for m in re.finditer(r"^(\.\S+) +(\d+)", text, re.M)}


def tables(name, image, mine):
    """Bytes of tables that are loaded: what sfu-gen has said, or the index of EHABI."""
    if name == "sfu":
        with open(image + ".tables", encoding="utf-8") as file:
            return int(re.search(r": (\d+) bytes,", file.read())[1])
    return mine.get(".ARM.exidx", 0) + mine.get(".ARM.extab", 0) if name == "EHABI" else 0


def main():
    prefix, directory, trace, *steps = sys.argv[1:]
    most = int(steps[0]) if steps else 4000
    scores = step(prefix, f"{directory}/peers.elf", os.path.abspath(f"{directory}/stub"), most, results, WALKERS)
    image = f"{directory}/peers-dump-kept.elf"
    os.unlink(f"{directory}/stub")
    scores.update(step(prefix, image, os.path.abspath(f"{directory}/stub"), most, dumped(trace, image),
                       ["sfu, by dump"]))
    none = sizes(prefix, f"{directory}/peers-none.elf")
    print("| walker | code | tables | RAM | right | wrong | lost |\n|---|---|---|---|---|---|---|")
    for name, (right, wrong, lost) in scores.items():
        image = f"{directory}/peers-{IMAGES[name]}.elf"
        mine = sizes(prefix, image)
        ram = sum(mine.get(part, 0) - none.get(part, 0) for part in (".data", ".bss"))
        code = mine[".text"] - none[".text"]
        print(f"| {name} | {code} | {tables(name, image, mine)} | {ram} | {right} | {wrong} | {lost} |")
    print(f"# {none['.text']} bytes of code in the image without a walker")
    large = sizes(prefix, f"{directory}/sqlite.elf")
    mine = tables("sfu", f"{directory}/sqlite.elf", large)
    print(f"# sqlite: {large['.text']} bytes of code; tables of sfu: {mine}, of EHABI: {tables('EHABI', '', large)}")
    # EHABI is a second witness: it may lose frames, but those that it has are the shadow stack's.
    ours = ("sfu", "sfu, by dump")
    return any(scores[name][1] + scores[name][2] for name in ours) or scores["EHABI"][1] != 0


if __name__ == "__main__":
    sys.exit(main())
