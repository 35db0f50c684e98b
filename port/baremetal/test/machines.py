# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Machines of QEMU, images of kernels as binutils see them, and what a printed trace must be: of the suites that boot
kernels. It has no tests."""
import bisect
import functools
import os
import re
import subprocess
import sys

sys.path.insert(0, "test/lib")
from check import Wrong, must  # noqa: E402

TIME_LIMIT = 120  # seconds for a boot, which takes a tenth of one where nothing else runs: a hang is a failure

# By machine; aarch64-pac is one with signed return addresses. qboot, which QEMU has, too, takes
# half of SeaBIOS's time.
QEMU = {
    "x86_64": ["qemu-system-x86_64", "-M", "pc", "-bios", "qboot.rom", "-serial", "stdio", "-monitor", "none",
               "-device", "isa-debug-exit,iobase=0xf4,iosize=4", "-append", "{}"],
    "aarch64": ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a57", "-serial", "stdio", "-monitor", "none",
                "-semihosting-config", "enable=on,target=native,arg={}"],
    "s390x": ["qemu-system-s390x", "-M", "s390-ccw-virtio", "-chardev", "stdio,id=c",
              "-device", "sclpconsole,chardev=c", "-action", "panic=exit-failure", "-append", "{}"],
}
QEMU["aarch64-pac"] = [word.replace("cortex-a57", "max") for word in QEMU["aarch64"]]
for bits in "64", "32":
    QEMU["riscv" + bits] = [f"qemu-system-riscv{bits}", "-M", "virt", "-bios", "none", "-serial", "stdio",
                            "-monitor", "none", "-semihosting-config", "enable=on,target=native,arg={}"]
    QEMU[f"riscv{bits}-s"] = [word.replace("virt", "virt,aclint=on") for word in QEMU["riscv" + bits]]
QEMU["arm"] = ["qemu-system-arm", "-M", "virt", "-cpu", "cortex-a15", *QEMU["aarch64"][5:]]
QEMU["i386"] = ["qemu-system-i386", *QEMU["x86_64"][1:]]
# QEMU's exit status after machine_exit(true) and (false).
STATUS = {"x86_64": (33, 35), "aarch64": (0, 1), "aarch64-pac": (0, 1), "s390x": (0, 1), "riscv64": (0, 1),
          "riscv64-s": (0, 1), "riscv32": (0, 1), "riscv32-s": (0, 1), "arm": (0, 1), "i386": (33, 35)}
START = {"x86_64": "boot64", "aarch64": "boot", "aarch64-pac": "boot", "s390x": "boot", "riscv64": "boot",
         "riscv64-s": "boot", "riscv32": "boot", "riscv32-s": "boot", "arm": "boot", "i386": "boot"}
OUTERMOST = 1  # how a trace ends


# ---- the image, as binutils see it ----

class Image:
    def __init__(self, tools, directory, name="kernel.elf"):
        self.tools, self.directory, self.path = tools, directory, os.path.join(directory, name)
        self.functions, self.objects = [], {}
        for line in self.tool("nm", "-S", self.path).splitlines():
            word = line.split()
            if len(word) == 4 and word[2] in "tT":
                self.functions.append((int(word[0], 16), int(word[1], 16), word[3]))
            self.objects[word[-1]] = int(word[0], 16)
        self.functions.sort()
        self.build_id = re.search(r"Build ID: ([0-9a-f]+)", self.tool("readelf", "-n", self.path))[1]

    def tool(self, name, *arguments):
        path = self.tools + name if self.tools.endswith("-") else os.path.join(self.tools, name)
        return subprocess.run([path, *arguments], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def function(self, addr):
        """(name, start) of the function at ADDR, or None"""
        i = bisect.bisect_right(self.functions, (addr, 1 << 64, "")) - 1
        if i >= 0 and addr - self.functions[i][0] < self.functions[i][1]:
            return self.functions[i][2], self.functions[i][0]
        return None

    def section(self, name, path=None):
        """(address, offset in the file, size)"""
        for line in self.tool("readelf", "-SW", path or self.path).splitlines():
            m = re.match(r" *\[ *\d+\] (\S+) +\S+ +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+) ", line)
            if m and m[1] == name:
                return int(m[2], 16), int(m[3], 16), int(m[4], 16)
        raise LookupError(name)

    def instructions(self, start, end):
        """how many there are from START to END, "symbol+offset" both; none behind a jump"""
        def address(text):
            name, _, offset = text.partition("+")
            return self.objects[name] + int(offset or "0", 0)
        listing = self.tool("objdump", "-d", "--no-show-raw-insn", "-j.text", f"--start-address={address(start)}",
                            f"--stop-address={address(end)}", self.path)
        found = re.findall(r"^ *[0-9a-f]+:\s+(\w+)", listing, re.M)
        return found.index("jmp") + 1 if "jmp" in found else len(found)

    @functools.cached_property
    def module_functions(self):
        """{name: (start, size)} of the functions of the module, which is relocated where it lies"""
        path = os.path.join(self.directory, "module.ko")
        text = self.section(".text", path)[1]
        words = [line.split() for line in self.tool("nm", "-S", path).splitlines()]
        return {word[3]: (self.objects["module_image"] + text + int(word[0], 16), int(word[1], 16))
                for word in words if len(word) == 4}


@functools.lru_cache(maxsize=None)
def image_of(tools, directory, name="kernel.elf"):
    """The image that many tests boot: nm takes as long as a boot. Nobody changes it."""
    return Image(tools, directory, name)


# ---- traces ----

# A frame: function, "+0" if the PC must be its first instruction (or another number), "~" if it was interrupted, "!"
# after a stack switch, "^" if it has called through a wild pointer, behind which nothing is proven, "@" if its address
# had been replaced by a tracer's, "?" if it is guessed; "0x..." a PC in no function, "&name" that object's address,
# "module:name" a function of the module.
# (2, 9): the two frames before, nine times more; (1, None): any number of times.
class Trace:
    """FIRST: number of its first frame. OWN: by a printer of the scenario, without the build ID."""

    def __init__(self, frames, end=OUTERMOST, slide=0, first=0, own=False):
        self.frames, self.end, self.slide, self.first, self.own = frames, end, slide, first, own


FRAME = re.compile(r"#(\d+) +0x((?:[0-9a-f]{8}){1,2})(?:  ([\w.]+)\+0x([0-9a-f]+))?((?:  \[[a-z ]+\])*)$")


def check_marks(wanted, marks, line):
    must(("[interrupted]" in marks) == ("~" in wanted), f"'{line}': interrupted?")
    must(("[stack switch]" in marks) == ("!" in wanted), f"'{line}': stack switch?")
    must(("[wild call]" in marks) == ("^" in wanted), f"'{line}': wild call?")
    must(("[replaced]" in marks) == ("@" in wanted), f"'{line}': replaced?")
    must(("[guessed]" in marks) == ("?" in wanted), f"'{line}': guessed?")


def check_frame(image, trace, n, wanted, line):
    """LINE is frame N of a walk; a return address unless it is the first or was interrupted."""
    m = FRAME.match(line)
    must(m, f"'{line}' is not a frame")
    must(int(m[1]) == n, f"'{line}': not number {n}")
    check_marks(wanted, m[5], line)
    pc = int(m[2], 16)
    lookup = pc if n == 0 or "~" in wanted else pc - 1
    name = re.sub(r"[~!@^?]|\+\d+", "", wanted)
    if name.startswith("0x"):
        must(int(m[2], 16) == int(name, 16) and m[3] is None, f"'{line}' is not {name}")
    elif name.startswith("&"):
        start = image.objects[name[1:]]
        must(start < pc < start + 64 and m[3] is None, f"'{line}' is not in {name[1:]}")
    elif name.startswith("module:"):
        start, size = image.module_functions[name[7:]]
        must(start <= lookup < start + size, f"'{line}' is not in {name[7:]}")
    else:
        must(m[3] == name, f"'{line}' is not {name}")
        must(image.function(lookup - trace.slide) == (name, pc - trace.slide - int(m[4], 16)), f"'{line}': nm says "
             f"{image.function(lookup - trace.slide)}")
        must("+" not in wanted or int(m[4], 16) == int(re.search(r"\+(\d+)", wanted)[1]), f"'{line}' is not {wanted}")
    return lookup - trace.slide if pc != 0 or lookup == 0 else 0, name  # no call lies in front of a thread's end


def check_addr2line(image, line, frames):
    """The printed command, run as it is."""
    words = line.split()
    must(words[:3] == ["addr2line", "-Cfipe", "kernel.elf"], f"'{line}'")
    must([int(w, 16) for w in words[3:]] == [addr & (1 << 64) - 1 for addr, _ in frames], f"'{line}': addresses")
    path = os.path.abspath(image.tools)
    if image.tools.endswith("-"):  # the tools' names begin so
        line, path = image.tools + line, os.environ["PATH"]
    out = subprocess.run(["sh", "-c", line], cwd=image.directory, text=True, stdout=subprocess.PIPE, check=True,
                         env={"PATH": path}, executable="/bin/sh").stdout
    names = []
    for found in out.splitlines():  # the function that others were inlined into is the last one of its group
        inlined = found.startswith(" (inlined by) ")
        names[len(names) - inlined:] = [found.removeprefix(" (inlined by) ").split(" at ")[0]]
    for (addr, name), found in zip(frames, names):
        if image.directory.endswith("-thumb") and addr in (start for start, _, _ in image.functions):
            continue  # addr2line has the symbols of T32 code one byte too high, which assembly has nothing but
        if re.match(r"\w+$", name) and not name.startswith("0x"):
            must(found == name, f"addr2line says {found}, not {name}")


def check_repeated(wanted, line):
    """Returns how many frames LINE stands for."""
    m = re.fullmatch(r"    \.\.\. (\d+) times more: the (\d+) above", line)
    must(m and int(m[2]) == wanted[0] and wanted[1] in (None, int(m[1])), f"'{line}' is not {wanted}")
    return int(m[1]) * int(m[2])


def check_trace(image, trace, lines):
    """Takes the lines of TRACE away from LINES. Returns those that a crash record has, too."""
    frames, number = [], trace.first
    if not trace.own:
        line = lines.pop(0)
        must(line == "build ID " + image.build_id, f"'{line}': readelf says {image.build_id}")
    if trace.slide:
        must(lines.pop(0) == f"slide 0x{trace.slide:x}", "no slide")
    kept = []
    for wanted in trace.frames:
        kept.append(lines.pop(0))
        if isinstance(wanted, tuple):
            number += check_repeated(wanted, kept[-1])
        else:
            frames.append(check_frame(image, trace, number, wanted, kept[-1]))
            number += 1
    kept.append(lines.pop(0))
    must(re.match(rf"trace ends \({trace.end}\): \w.*[a-zA-Z]", kept[-1]),
         f"'{kept[-1]}' instead of the end ({trace.end})")
    doubted = any("^" in wanted or "?" in wanted for wanted in trace.frames)
    must(kept[-1].endswith("not proven") == doubted, f"'{kept[-1]}': proven?")
    check_addr2line(image, lines.pop(0), frames)
    return kept


# ---- running ----

def machine(command):
    """Runs COMMAND, which boots a machine. One that does not end has failed, and says how far it has printed."""
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TIME_LIMIT, check=False)
    except subprocess.TimeoutExpired as late:
        raise Wrong(f"still running after {TIME_LIMIT} s; printed {late.stdout or 'nothing'}") from None


def boot(cpu, path, scenario, reboot):
    command = QEMU[cpu][:1] + ["-m", "128M", "-nodefaults", "-display", "none", "-kernel", path]
    command += [] if reboot else ["-no-reboot"]
    command += ["-smp", "2"] if scenario in ("second", "second-deaf", "walks") else []
    command += [word.format(scenario) for word in QEMU[cpu][1:]]
    done = machine(command)
    return done.stdout.decode("latin-1").replace("\r", "").splitlines(), done.returncode
