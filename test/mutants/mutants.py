#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""mutants.py OUT EQUIVALENT NUMBER [PATTERN]: breaks sfu.c in NUMBER small ways (0: all), each of which a unit test has to
notice.

A mutant is one change of one token, or one check that is dropped. Its name is the function, the statement with the
token in brackets, and what the token becomes; so it keeps its name when the file is laid out anew, or when something
else changes. Which ones are taken is decided by their names, too. Those that compile to the same code are none.

EQUIVALENT lists mutants that behave as the original does, a line each: the name, a tab, the reason. One of them that a
test notices is an error: its reason is wrong. PATTERN: those mutants alone whose name has it.
"""
import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys

OUT, EQUIVALENT, NUMBER = sys.argv[1], sys.argv[2], int(sys.argv[3])
PATTERN = sys.argv[4] if len(sys.argv) > 4 else ""
SOURCE = "sfu.c"
TESTS = sorted("test/unit/" + name for name in os.listdir("test/unit") if name.endswith(".c"))
FLAGS = ["-std=gnu99", "-O1", "-I.", "-Itest/unit"]
TIME_LIMIT = 300  # seconds for the unit tests, which take four; a mutant that never ends is noticed by this

TOKEN = re.compile(r"""(?P<skip>/\*.*?\*/|//[^\n]*|\#(?:[^\n\\]|\\.)*|\s+)|(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|
    (?P<name>[A-Za-z_]\w*)|(?P<number>\d\w*)|(?P<sign><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
                   re.S | re.X)
OTHERS = {
    "<": ["<=", ">"], "<=": ["<", "=="], ">": [">=", "<"], ">=": [">", "=="], "==": ["!="], "!=": ["=="],
    "&&": ["||"], "||": ["&&"], "<<": [">>"], ">>": ["<<"], "|": ["&"], "+=": ["-="], "-=": ["+="], "%": ["/"], "/": ["*"],
    "<<=": [">>="], ">>=": ["<<="], "|=": ["="], "++": ["--"], "--": ["++"], "!": [""], "~": [""],
    "true": ["false"], "false": ["true"],
    "uint64_t": ["uint32_t"], "uint32_t": ["uint16_t"], "int64_t": ["int32_t"], "int32_t": ["int16_t"],
}
# Signs with one operand, too, and in declarations: changed only between two operands.
BETWEEN = {"+": ["-"], "-": ["+"], "*": ["+"], "&": ["|"]}
TYPES = {"uint64_t", "uint32_t", "int64_t", "int32_t"}


class Token:
    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)


def tokens_of(text):
    return [Token(m.lastgroup, m[0], m.start()) for m in TOKEN.finditer(text) if m.lastgroup != "skip"]


def functions_of(tokens):
    """(name, tokens of its body) of each function"""
    depth = begin = 0
    name = ""
    for i, token in enumerate(tokens):
        if token.text == "(" and depth == 0 and tokens[i - 1].kind == "name":
            name = tokens[i - 1].text
        elif token.text == "{":
            if depth == 0:
                begin = i if tokens[i - 1].text == ")" else 0
            depth += 1
        elif token.text == "}":
            depth -= 1
            if depth == 0 and begin:
                yield name, tokens[begin:i + 1]
                begin = 0


def statement_around(body, i):
    """The tokens from behind the last ; { } or : to the next, with the one at I in brackets."""
    first = last = i
    while body[first - 1].text not in "{};:":
        first -= 1
    while last + 1 < len(body) and body[last].text not in "{};":
        last += 1
    return " ".join("[%s]" % t.text if j == i else t.text for j, t in enumerate(body[first:last + 1], first))


def operand(token):
    return token.kind in ("name", "number") and token.text not in ("return", "case", "sizeof") and \
        token.text not in TYPES or token.text in (")", "]")


def changes(body, i):
    """What the token at I becomes."""
    token = body[i]
    if token.text in TYPES and body[i - 1].text == "(" and body[i + 1].text == ")":
        return OTHERS[token.text]
    if token.text in OTHERS and token.text not in TYPES:
        return OTHERS[token.text]
    if token.text in TYPES and body[i - 1].text in "{;}" and body[i + 1].text != "*":
        return OTHERS[token.text]
    if token.text in BETWEEN and operand(body[i - 1]) and (operand(body[i + 1]) or body[i + 1].text == "("):
        return BETWEEN[token.text]
    if token.kind == "number":
        value = int(re.sub("[uUlL]+$", "", token.text), 0)
        return ["%d" % (value + 1)] + (["%d" % (value - 1)] if value > 0 else [])
    return []


def closing(body, i):
    depth = 0
    for j in range(i, len(body)):
        depth += {"(": 1, ")": -1}.get(body[j].text, 0)
        if depth == 0:
            return j
    raise ValueError("no )")


def mutants_of(text):
    """(name, text) of each mutant"""
    for name, body in functions_of(tokens_of(text)):
        count = {}
        for i, token in enumerate(body):
            made = [(token.start, token.end, other, other or "nothing") for other in changes(body, i)]
            if token.text == "if":
                end = body[closing(body, i + 1)].end
                made.append((body[i + 1].start, end, "(0)", "never"))
            for start, stop, other, what in made:
                title = "%s: %s -> %s" % (name, statement_around(body, i), what)
                count[title] = count.get(title, 0) + 1
                if count[title] > 1:
                    title += " (%d)" % count[title]
                yield title, text[:start] + other + text[stop:]


def run(*command):
    return subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)


def code_of(source, to):
    """Compiles SOURCE; its code, or None."""
    if run("gcc", *FLAGS, "-w", "-c", source, "-o", to).returncode != 0:
        return None
    return run("objdump", "-dr", "--no-show-raw-insn", "-j", ".text", "-s", "-j", ".rodata", to).stdout.split(b"\n", 2)[2]


def judge(number, text, original, objects):
    """same: no other code; invalid: does not compile; noticed; or unnoticed"""
    directory = "%s/%d" % (OUT, number)
    os.makedirs(directory, exist_ok=True)
    with open(directory + "/sfu.c", "w", encoding="utf-8") as file:
        file.write(text)
    code = code_of(directory + "/sfu.c", directory + "/sfu.o")
    if code is None or code == original:
        return "invalid" if code is None else "same"
    program = directory + "/unit"
    if run("gcc", directory + "/sfu.o", *objects, "-lcmocka", "-o", program).returncode != 0:
        return "invalid"
    try:
        done = subprocess.run([program], capture_output=True, check=False, timeout=TIME_LIMIT)
        verdict = "noticed" if done.returncode != 0 else "unnoticed"
    except subprocess.TimeoutExpired:
        verdict = "noticed"
    os.remove(program)
    return verdict


def read_equivalent():
    with open(EQUIVALENT, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    wrong = [line for line in lines if len(line) != 2]
    if wrong:
        sys.exit("%s: not a name, a tab and a reason: %s" % (EQUIVALENT, wrong[0]))
    return dict(lines)


def prepare():
    os.makedirs(OUT, exist_ok=True)
    objects = []
    for source in TESTS:
        objects.append("%s/%s.o" % (OUT, os.path.basename(source)))
        if run("gcc", *FLAGS, "-c", source, "-o", objects[-1]).returncode != 0:
            sys.exit("cannot compile " + source)
    with open(SOURCE, encoding="utf-8") as file:
        text = file.read()
    original = code_of(SOURCE, OUT + "/original.o")
    if judge(0, text.replace("SFU_OK;", "SFU_OK ;"), b"", objects) != "unnoticed":
        sys.exit("the unit tests fail without a mutant")
    return text, original, objects


def main():
    equivalent = read_equivalent()
    text, original, objects = prepare()
    mutants = [m for m in mutants_of(text) if PATTERN in m[0]]
    mutants.sort(key=lambda m: hashlib.sha256(m[0].encode()).digest())
    chosen = mutants[:NUMBER] if NUMBER else mutants
    count = {"same": 0, "invalid": 0, "noticed": 0, "unnoticed": 0}
    known = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        jobs = [pool.submit(judge, i + 1, m[1], original, objects) for i, m in enumerate(chosen)]
        for (title, _), job in zip(chosen, jobs):
            verdict = job.result()
            count[verdict] += 1
            if verdict == "unnoticed" and title in equivalent:
                known += 1
            elif verdict == "unnoticed":
                print("not ok " + title, flush=True)
            elif verdict == "noticed" and title in equivalent:
                print("not ok %s: it was noticed, though it is listed as equivalent" % title, flush=True)
    for title in sorted(set(equivalent) - {m[0] for m in mutants}):
        if not PATTERN:
            print("not ok %s: no such mutant any more" % title)
    print("# %d of %d mutants: %d noticed, %d not, %d of which are equivalent; %d compile to the same code, %d not at all"
          % (len(chosen), len(mutants), count["noticed"], count["unnoticed"], known, count["same"], count["invalid"]))
    if count["noticed"] > 0:
        print("ok %d mutants noticed" % count["noticed"])


main()
