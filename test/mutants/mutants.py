#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""mutants.py LIST [NUMBER]: breaks a copy of sfu.c, or of another source, in one way after the other; a test has to
notice each.
mutants.py --places LIST...: runs nothing, and says which mutants are of code that is not there.

A LIST says how its tests are run, and lists the mutants that somebody chose. Lines that begin with @:
    @flags NAME=VALUE   for the commands below, which sh runs. They have $OUT, a directory for all mutants, too
    @prepare COMMAND    is run once
    @unchanged TEST     has to pass with the sources as they are
    @build COMMAND      has to succeed; $DIR has sfu.c, port/fast/, port/depot/ and the files of @source, broken; $1,
                        $2, $3 are TEST's words
    @try COMMAND        is a test; of several each is tried until one fails
    @says PATTERN       what the test prints when it fails because of the mutant: a regular expression, with $1, $2, $3
    @limit SECONDS      how long a command may take. What takes longer has noticed the mutant, if there is no @says
    @source FILE...     where functions are looked for first: sfu.c, if nothing is said
    @header FILE...     what they include, as far as mutants by rule take fields and constants from it
    @generate FUNCTIONS makes mutants by rule, in the functions of these files whose names match: a shell pattern
    @generated TEST     is a test of those; of several each is tried until one fails, the first for those that are alike
    @compile COMMAND    makes the code of a mutant: of $1, as $2. Several are of several machines. Not with -w, which
                        would let integers and pointers become each other
    @reached COMMAND    prints the lines of $SOURCES that each test of each @try reaches, as reached.py does. Of a
                        mutant by rule only those tests are run that reach the statement, or are new; if one fails that
                        relies on others, all are
Other lines are mutants:   NAME | TEST | FUNCTION: EXPRESSION => REPLACEMENT ;; FUNCTION: ...
Lines that begin with a space go on with the one before.
EXPRESSION has to be in FUNCTION exactly once, however it is laid out: in one source or, if it is not there, in
another. FUNCTION "-" is the whole file. A path of @source instead of FUNCTION is that of a file which is not C, as
macros: EXPRESSION is in it character by character, // ends a line.

A generated mutant is one change of one token, a check or a statement that is dropped, or a narrower type; or it takes
the next of its kind: another constant of the same enum or block of #define, another variable in scope or field of the
same type; or two arguments of a call, or two statements, change places. Its name is the function, the statement with
the token in brackets, and what the token becomes; the file stands in front of it, if there are several. NUMBER of them
are taken, half of them boundaries and types, by a hash of their names. Those that compile to the same code for each
machine are none, and so are those that do not compile: integers and pointers do not become each other. Statements
change places if one has a name that the other may change. LIST.equivalent has
those that behave as the original does, a line each: the name, a tab, the reason. They are tried by the first test only.

Prints "ok NAME: noticed by WHAT": WHAT is what the test said first that failed, or what it said last.

T: only those mutants whose name has it, or matches it. JOBS: how many at a time.
"""
import bisect
import concurrent.futures
import fnmatch
import functools
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading

SOURCES = ["sfu.c", "port/fast/sfu_fast.c", "port/depot/sfu_depot.c"]  # and those of @source
HEADERS = ["sfu.h", "port/fast/sfu_fast.h", "port/depot/sfu_depot.h"]

TOKEN = re.compile(r"""
    (?P<skip>/\*.*?\*/|//[^\n]*|\#(?:[^\n\\]|\\.)*|\s+)|(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|
    (?P<name>[A-Za-z_]\w*)|(?P<number>\d\w*)|(?P<sign><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
                   re.S | re.X)
EDGES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
NARROWER = {"sfu_addr": "uint32_t", "uint64_t": "uint32_t", "uint32_t": "uint16_t", "int64_t": "int32_t",
            "int32_t": "int16_t", "size_t": "uint8_t", "unsigned": "uint8_t"}
OTHERS = {
    "<": [">"], "<=": ["=="], ">": ["<"], ">=": ["=="], "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
    "<<": [">>"], ">>": ["<<"], "|": ["&"], "+=": ["-="], "-=": ["+="], "%": ["/"], "/": ["*"], "<<=": [">>="],
    ">>=": ["<<="], "|=": ["="], "++": ["--"], "--": ["++"], "!": [""], "~": [""], "true": ["false"], "false": ["true"],
}
# Signs with one operand, too, and in declarations: changed only between two operands.
BETWEEN = {"+": "-", "-": "+", "*": "+", "&": "|"}
PASSES = "its test passes all the same"
KEYWORDS = {"return", "case", "sizeof", "if", "for", "while", "else", "break", "continue", "default", "const", "static"}


class Token:
    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)


@functools.lru_cache(maxsize=1000)  # places_of asks again and again for the same sources; nobody changes the list
def tokens_of(text):
    return [Token(m.lastgroup, m[0], m.start()) for m in TOKEN.finditer(text) if m.lastgroup != "skip"]


def functions_of(tokens):
    """(name, tokens from its parameters to its end, index of its body in them) of each function"""
    depth = begin = 0
    name = ""
    for i, token in enumerate(tokens):
        if token.text == "(" and depth == 0 and tokens[i - 1].kind == "name":
            name, first = tokens[i - 1].text, i
        elif token.text == "{":
            if depth == 0:
                begin = i if tokens[i - 1].text == ")" else 0
            depth += 1
        elif token.text == "}":
            depth -= 1
            if depth == 0 and begin:
                yield name, tokens[first:i + 1], begin - first
                begin = 0


# ---- Mutants that somebody chose ----

def places_of(text, function, expression):
    """Where EXPRESSION is in FUNCTION: (start, end) in TEXT"""
    words = [t.text for t in tokens_of(expression)]
    everything = tokens_of(text)
    functions = [tokens for name, tokens, _ in functions_of(everything) if name == function]
    for tokens in [everything] if function == "-" else functions:
        for i in range(len(tokens) - len(words) + 1):
            if [t.text for t in tokens[i:i + len(words)]] == words:
                yield tokens[i].start, tokens[i + len(words) - 1].end


def found_in(sources, where, expression):
    """path: (start, end) of each place that has EXPRESSION, in the function or the file WHERE"""
    if where in SOURCES:
        text = sources[where]
        begins = [i for i in range(len(text)) if text.startswith(expression, i)]
        return {where: [(i, i + len(expression)) for i in begins]}
    return {path: list(places_of(sources[path], where, expression)) for path in SOURCES}


def broken(sources, changes, first):
    """SOURCES with CHANGES made; or what is wrong with them"""
    edits = []
    for change in changes.split(" ;; "):
        function, rest = change.strip().split(": ", 1)
        expression, replacement = rest.split(" =>", 1)
        if function in SOURCES:
            expression, replacement = (part.replace("//", "\n") for part in (expression, replacement.removeprefix(" ")))
        else:
            replacement = replacement.strip()
        found = found_in(sources, function, expression)
        path = next((path for path in first + SOURCES if found.get(path)), first[0])
        if len(found.get(path, [])) != 1:
            return "'%s' is in %s %d times" % (expression, function, len(found.get(path, [])))
        edits.append((*found[path][0], path, replacement))
    result = dict(sources)
    for start, end, path, replacement in sorted(edits, reverse=True):
        result[path] = result[path][:start] + replacement + result[path][end:]
    return result


# ---- Mutants by rule ----

def statement_ends(body, i):
    """Its first and its last token: from behind the last ; { } or : to the next"""
    first = last = i
    while first > 0 and body[first - 1].text not in "{};:":
        first -= 1
    while last + 1 < len(body) and body[last].text not in "{};":
        last += 1
    return first, last


def statement_around(body, i):
    """The tokens of a statement, with the one at I in brackets."""
    first, last = statement_ends(body, i)
    return " ".join("[%s]" % t.text if j == i else t.text for j, t in enumerate(body[first:last + 1], first))


def operand(token):
    return token.kind in ("name", "number") and token.text not in KEYWORDS and token.text not in NARROWER or \
        token.text in (")", "]")


def edges(tokens, i, body):
    """What the token at I becomes at a boundary: the comparison with or without equality, a narrower type"""
    text = tokens[i].text
    if text in EDGES:
        return [EDGES[text]]
    if text not in NARROWER or tokens[i + 1].text == "*":
        return []
    cast = tokens[i - 1].text == "(" and tokens[i + 1].text == ")"
    declared = tokens[i - 1].text in "{;}" if i > body else tokens[i - 1].text in "(,"
    return [NARROWER[text]] if cast or declared else []


def others(tokens, i, body):
    token = tokens[i]
    if i < body:
        return []
    if token.text in OTHERS:
        return OTHERS[token.text]
    if token.text in BETWEEN and operand(tokens[i - 1]) and (operand(tokens[i + 1]) or tokens[i + 1].text == "("):
        return [BETWEEN[token.text]]
    if token.kind == "number":
        digits = re.sub("[uUlL]+$", "", token.text)
        value = int(digits, 8 if re.fullmatch("0[0-7]+", digits) else 0)
        return ["%d" % (value + 1)] + (["%d" % (value - 1)] if value > 0 else [])
    if token.kind == "name" and token.text.isupper() and token.text != "NULL" and tokens[i + 1].text != "(":
        return ["(%s + 1)" % token.text]
    return []


def closing(body, i):
    depth = 0
    for j in range(i, len(body)):
        depth += {"(": 1, ")": -1}.get(body[j].text, 0)
        if depth == 0:
            return j
    raise ValueError("no )")


def dropped(tokens, body):
    """index: (last token, replacement, what) of each check or statement that can be left out"""
    result = {}
    starts = [i for i in range(body + 1, len(tokens)) if tokens[i - 1].text in "{};" or tokens[i - 1].text == "else"]
    for i in range(body, len(tokens)):
        if tokens[i].text in ("if", "while", "for"):
            end = closing(tokens, i + 1)
            starts = [j for j in starts if not i < j <= end] + [end + 1]
            if tokens[i].text == "if":
                result[i] = [(end, "if (0)", "never"), (end, "if (1)", "always")]
    for i in starts:
        last = next((j for j in range(i, len(tokens)) if tokens[j].text == ";"), i)
        if tokens[i].kind == "name" and tokens[i].text not in KEYWORDS and last > i and \
                tokens[i + 1].text in ("->", ".", "=", "++", "--", "[", "(", "+=", "-=", "<<=", ">>="):
            result[i] = [(last - 1, "", "nothing at all")]
    return result


# ---- The next of its kind ----

MODIFIERS = {"const", "static", "volatile", "register", "extern", "inline"}


def plain_of(text):
    return " ".join(t.text for t in tokens_of(text))


def constants_of(texts):
    """name: the next one of its enum, or of its lines of #define"""
    groups = [re.findall(r"(?:^|, )([A-Z]\w+)(?= =|$|, )", re.sub(r"\([^()]*\)", "", body).strip())
              for text in texts for body in re.findall(r"\benum (?:\w+ )?\{ ([^}]*)\}", plain_of(text))]
    for text in texts:
        for lines in re.findall(r"(?:^#define \w+ +[^\n(]*\n)+", text, re.M):
            groups.append(re.findall(r"^#define (\w+)", lines, re.M))
    return {name: group[(i + 1) % len(group)] for group in groups if len(group) > 1 for i, name in enumerate(group)}


def declared(tokens):
    """(index, name, type, whether a list of declarators ends) of what TOKENS declare, as far as that is simple"""
    i = 0
    while i < len(tokens):
        begin, words = i, []
        if i > 0 and tokens[i - 1].text not in ("(", ",", ";", "{", "}") or tokens[i].kind != "name":
            i += 1
            continue
        while i < len(tokens) and tokens[i].kind == "name":
            words.append(tokens[i].text)
            i += 1
        stars = 0
        while i < len(tokens) and tokens[i].text in ("*", "const"):
            stars += tokens[i].text == "*"
            i += 1
        if i < len(tokens) and stars and tokens[i].kind == "name":
            words.append(tokens[i].text)
            i += 1
        if len(words) < 2 or words[0] in ("return", "else", "goto", "case") or i >= len(tokens) or \
                tokens[i].text not in ("=", ",", ";", ")", "["):
            i = max(begin + 1, i)
            continue
        base = " ".join(w for w in words[:-1] if w not in MODIFIERS)
        yield i - 1, words[-1], base + "*" * stars
        depth, list_of = 0, tokens[begin - 1].text in (";", "{", "}") if begin > 0 else False
        while list_of and i < len(tokens) and not (depth == 0 and tokens[i].text == ";"):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(tokens[i].text, 0)
            if depth == 0 and tokens[i].text == ",":
                stars, i = 0, i + 1
                while tokens[i].text == "*":
                    stars, i = stars + 1, i + 1
                yield i, tokens[i].text, base + "*" * stars
            i += 1


def fields_of(texts):
    """name: fields of the same type, that come next in a structure that has the name"""
    result = {}
    for text in texts:
        tokens = tokens_of(text)
        for i, token in enumerate(tokens):
            if token.text != "struct" or i + 2 >= len(tokens) or tokens[i + 2].text != "{":
                continue
            end = next(j for j in range(i, len(tokens)) if tokens[j].text == "}")
            fields = [(name, kind) for _, name, kind in declared(tokens[i + 2:end])]
            for name, kind in fields:
                same = [other for other, its in fields if its == kind]
                other = same[(same.index(name) + 1) % len(same)]
                if other != name and other not in result.setdefault(name, []):
                    result[name].append(other)
    return result


def siblings(tokens, i, body, names):
    """What else of the same kind could stand for the token at I"""
    token = tokens[i]
    if i <= body or token.kind != "name" or tokens[i + 1].text == "(":
        return []
    if tokens[i - 1].text in (".", "->"):
        return names["fields"].get(token.text, [])
    if token.text in names["constants"]:
        return [names["constants"][token.text]]
    known = [(at, name, kind) for at, name, kind in names["variables"] if at < i]
    kinds = [kind for at, name, kind in known if name == token.text]
    if not kinds or any(at == i for at, _, _ in names["variables"]):
        return []
    same = list(dict.fromkeys(name for _, name, kind in known if kind == kinds[-1]))
    other = same[(same.index(token.text) + 1) % len(same)]
    return [other] if other != token.text else []


def changed_by(statement):
    """The names that the tokens of a statement may change: the last one of each that is assigned to or passed"""
    call = statement[1].text == "("
    ends = [i for i, t in enumerate(statement) if (t.text in (",", ")") if call else
            t.text in ("++", "--") or t.text.endswith("=") and t.text not in ("==", "!=", "<=", ">="))]
    result = set()
    for end in ends:
        depth = 0
        for token in reversed(statement[:end]):
            depth += {"]": 1, "[": -1}.get(token.text, 0)
            if depth == 0 and token.kind == "name":
                result.add(token.text)
                break
    return result


def swapped(tokens, body, text):
    """index: (last token, replacement, what) of each two arguments, or statements, that can change places"""
    result = {}

    def words(first, last):
        return text[tokens[first].start:tokens[last].end]

    def add(first, middle, last, between):
        # FIRST up to in front of MIDDLE, a sign or the next statement; up to LAST
        one, two = words(first, middle - 1), words(middle + between, last)
        if [t.text for t in tokens_of(one)] != [t.text for t in tokens_of(two)]:
            gap = text[tokens[middle - 1].end:tokens[middle + between].start]
            result.setdefault(first, []).append((last, two + gap + one, "changes places with " + " ".join(
                t.text for t in tokens_of(two))))

    for i in range(body, len(tokens) - 1):
        if tokens[i].kind != "name" or tokens[i + 1].text != "(" or tokens[i].text in KEYWORDS:
            continue
        end, depth, starts = closing(tokens, i + 1), 0, [i + 2]
        for j in range(i + 1, end):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(tokens[j].text, 0)
            if depth == 1 and tokens[j].text == ",":
                starts.append(j + 1)
        for first, middle, last in zip(starts, starts[1:], [start - 2 for start in starts[2:]] + [end - 1]):
            add(first, middle - 1, last, 1)
    statements = {i: last + 1 for i, cases in dropped(tokens, body).items() for last, _, what in cases
                  if what == "nothing at all" and tokens[i - 1].text in "{};"}
    for i, semicolon in statements.items():
        if semicolon + 1 not in statements:
            continue
        one, two = tokens[i:semicolon], tokens[semicolon + 1:statements[semicolon + 1]]
        if changed_by(one) & {t.text for t in two} or changed_by(two) & {t.text for t in one}:
            add(i, semicolon + 1, statements[semicolon + 1], 0)
    return result


def mutants_of(text, functions, headers):
    """(name, (start, end, what stands there instead), whether it is a boundary, its lines) of each mutant; TEXT and
    HEADERS have what it names"""
    count = {}
    newlines = [m.start() for m in re.finditer("\n", text)]
    names = {"constants": constants_of([text] + headers), "fields": fields_of([text] + headers)}
    for name, tokens, body in functions_of(tokens_of(text)):
        if not fnmatch.fnmatchcase(name, functions):
            continue
        drops = dropped(tokens, body)
        swaps = swapped(tokens, body, text)
        names["variables"] = list(declared(tokens))
        for i, token in enumerate(tokens):
            made = [(i, other, other, True) for other in edges(tokens, i, body)]
            made += [(i, other, other or "nothing", False) for other in others(tokens, i, body)]
            made += [(last, other, what, False) for last, other, what in drops.get(i, []) + swaps.get(i, [])]
            made += [(i, other, other, False) for other in siblings(tokens, i, body, names)]
            for last, other, what, edge in made:
                title = "%s: %s -> %s" % (name, statement_around(tokens, i), what)
                count[title] = count.get(title, 0) + 1
                if count[title] > 1:
                    title += " (%d)" % count[title]
                # of what is declared, which may be no code, and of the head: all of the function
                whole = i <= body or token.text in NARROWER and tokens[i - 1].text in "{;}"
                begin = 0 if whole else statement_ends(tokens, i)[0]
                end = len(tokens) - 1 if whole else max(last, statement_ends(tokens, last)[1])
                lines = tuple(bisect.bisect_left(newlines, tokens[at].start) + 1 for at in (begin, end))
                yield title, (token.start, tokens[last].end, other), edge, lines


def code_of(compilers, source, to):
    """Compiles SOURCE by each of COMPILERS; the contents of what they make that matter, or None"""
    result = []
    for command in compilers:
        if subprocess.run(["sh", "-c", command, "sh", source, to], capture_output=True, check=False).returncode != 0:
            return None
        dump = ["readelf", "-r", "-x", ".text", "-x", ".rodata", "-x", ".data", to]
        result.append(subprocess.run(dump, capture_output=True, check=True).stdout)
    return result


# ---- Trying them ----

running = set()  # a group of processes for each command


def end_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def end_all(*_):
    for group in list(running):
        end_group(group)
    os._exit(1)


def noticed_by(status, printed):
    """What noticed a mutant, by what a test that failed has printed: the first that failed or, if the program ended
    before it could say so, the last that began"""
    failed = re.search(r"^not ok (.*)", printed, re.M)
    began = re.findall(r"^\[ RUN +\] (.*)", printed, re.M)
    said = failed[1] if failed else began[-1] if began else (printed.strip().splitlines() or [""])[-1]
    return said[:100].strip() + ("" if status is not None else " (it takes too long)")


class Tests:
    """What a list says of its tests, and its mutants"""
    def __init__(self, path):
        self.steps, self.prepare, self.unchanged, self.chosen = [], [], [], []
        self.says, self.limit, self.functions, self.sources = None, 300, None, SOURCES[:1]
        self.generated, self.compilers, self.reached = [], [], {}
        self.alone, self.alone_lock = {}, threading.Lock()
        self.out = "build/mutants/" + os.path.basename(path)
        self.environment = {name: value for name, value in os.environ.items() if name not in ("T", "MAKEFLAGS")}
        self.environment["OUT"] = self.out
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"\n +", " ", file.read())
        for line in text.splitlines():
            if line.startswith("@"):
                self.set(*line.split(None, 1))
            elif line and not line.startswith("#"):
                self.chosen.append([part.strip() for part in line.split(" | ", 2)])

    def set(self, key, value):
        if key in ("@build", "@try"):
            self.steps.append((key, value))
        elif key == "@flags":
            name, value = value.split("=", 1)
            self.environment[name] = value
        elif key == "@prepare":
            self.prepare.append(value)
        elif key == "@unchanged":
            self.unchanged.append(value)
        elif key == "@source":
            self.sources = value.split()
            SOURCES.extend(path for path in self.sources if path not in SOURCES)
        elif key == "@header":
            HEADERS.extend(value.split())
        elif key == "@says":
            self.says = value
        elif key == "@limit":
            self.limit = int(value)
        elif key == "@generated":
            self.generated.append(value)
        elif key == "@reached":
            self.reached = value
        elif key == "@compile":
            self.compilers.append(value + " -Werror=int-conversion -Werror=incompatible-pointer-types")
        elif key == "@generate":
            self.functions = value
        else:
            sys.exit("what is %s?" % key)

    def begin(self):
        shutil.rmtree(self.out, ignore_errors=True)
        os.makedirs(self.out)
        for command in self.prepare:
            status, printed = self.run(command, [], self.out)
            if status != 0:
                sys.exit("%s: %s" % (command, printed))
        if self.reached:
            print("# which tests reach which lines", flush=True)
            self.reached = self.read_reached()

    def read_reached(self):
        """What @reached prints, with sets of lines"""
        done = subprocess.run(["sh", "-c", self.reached, "sh", *[c for kind, c in self.steps if kind != "@build"]],
                              env={**self.environment, "SOURCES": " ".join(self.sources)}, text=True, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode != 0:
            sys.exit("%s: %s" % (self.reached, done.stderr))
        return {command: {test: {path: set(lines) for path, lines in of.items()} for test, of in tests.items()}
                for command, tests in json.loads(done.stdout).items()}

    def passed_by(self, command, path, lines):
        """Tests of COMMAND that do not reach the LINES of PATH; and whether there are no others"""
        tests = self.reached.get(command, {})
        passed = [test for test, of in tests.items() if not lines & of.get(path, set())]
        return passed, bool(tests) and len(passed) == len(tests)

    def relies(self, command, printed):
        """Whether the test of COMMAND that has failed, as PRINTED, does so on its own in the sources as they are, too,
        because it relies on another one"""
        failed = re.search(r"^not ok (.*)", printed, re.M)
        names = [name for name in self.reached.get(command, {}) if failed and failed[1].startswith(name)]
        if not names:
            return True
        key = command, max(names, key=len)
        with self.alone_lock:
            if key not in self.alone:
                directory = self.out + "/alone"
                shutil.rmtree(directory, ignore_errors=True)
                for kind, build in self.steps:
                    if kind == "@build":
                        self.run(build, [], directory)
                self.alone[key] = self.run(command, [], directory, {"T": key[1]})[0] != 0
            return self.alone[key]

    def run(self, command, words, directory, more=None):
        """(exit status or None after the limit, what it printed); nothing that it started is left"""
        with subprocess.Popen(["sh", "-c", command, "sh", *words],
                              env={**self.environment, "DIR": directory, **(more or {})},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              start_new_session=True) as process:
            running.add(process.pid)
            try:
                printed = process.communicate(timeout=self.limit)[0]
                status = process.returncode
            except subprocess.TimeoutExpired:
                printed, status = b"", None
            finally:
                end_group(process.pid)
                running.discard(process.pid)
        return status, printed.decode(errors="replace")

    def judge(self, sources, test, directory, first=False, place=None):
        """(None, what noticed it) if a test did. Otherwise (what happened, None). FIRST: only the first test is
        tried. PLACE: its path and lines."""
        shutil.rmtree(directory, ignore_errors=True)
        for path in SOURCES + HEADERS:
            os.makedirs(os.path.dirname(directory + "/" + path), exist_ok=True)
            with open(directory + "/" + path, "w", encoding="utf-8") as file:
                file.write(sources[path])
        words = test.split(None, 2)
        for kind, command in self.steps:
            more = {}
            if kind == "@try" and place:
                passed, none = self.passed_by(command, *place)
                if none:
                    continue
                more["CHECK_WITHOUT"] = "\n".join(passed + [self.environment.get("CHECK_WITHOUT", "")])
            status, printed = self.run(command, words, directory, more)
            if kind == "@try" and place and status not in (0, None) and self.relies(command, printed):
                status, printed = self.run(command, words, directory)
            end = printed[-300:].replace("\n", " ")
            if kind == "@build" and status != 0:
                return "cannot be built: " + end, None
            if kind != "@build" and status == 0 and first:
                break
            if kind == "@build" or status == 0:
                continue
            says = re.sub(r"\$(\d)", lambda m: re.escape(words[int(m[1]) - 1]), self.says or "")
            if status is None and self.says or not re.search(says, printed, re.M):
                return "%s fails without saying so: %s" % (test, end), None
            shutil.rmtree(directory)
            return None, test if self.says else noticed_by(status, printed)
        shutil.rmtree(directory)
        return PASSES, None


def read_sources():
    result = {}
    for path in SOURCES + HEADERS:
        with open(path, encoding="utf-8") as file:
            result[path] = file.read()
    return result


def read_equivalent(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    wrong = [line for line in lines if len(line) != 2]
    if wrong:
        sys.exit("%s: not a name, a tab and a reason: %s" % (path, wrong[0]))
    return dict(lines)


def wanted(name):
    pattern = os.environ.get("T", "")
    return pattern in name or fnmatch.fnmatchcase(name, "*%s*" % pattern)


def choose(mutants, number):
    """NUMBER of the mutants, or all, half of them boundaries"""
    mutants = sorted((m for m in mutants if wanted(m[0])), key=lambda m: hashlib.sha256(m[0].encode()).digest())
    if number == 0:
        return mutants
    at_edges = [m for m in mutants if m[2]][:number // 2]
    return at_edges + [m for m in mutants if not m[2]][:number - len(at_edges)]


def try_chosen(pool, tests, sources):
    def one(name, test, changes):
        made = broken(sources, changes, tests.sources)
        return (made, None) if isinstance(made, str) else tests.judge(made, test, "%s/%s" % (tests.out, name))
    for test in [test for test in tests.unchanged if wanted("unchanged " + test)]:
        reason, _ = tests.judge(sources, test, tests.out + "/unchanged")
        if reason == PASSES:
            print("ok unchanged " + test, flush=True)
        else:
            print("not ok unchanged %s: %s" % (test, reason or "it fails with sfu as it is"), flush=True)
    jobs = [(m[0], pool.submit(one, *m)) for m in tests.chosen if wanted(m[0])]
    for name, job in jobs:
        reason, noticed = job.result()
        print("not ok %s: %s" % (name, reason) if reason else "ok %s: noticed by %s" % (name, noticed), flush=True)


def all_mutants_of(tests, sources):
    """Those of each source: (name, change of its text, whether it is a boundary, the source, its lines)"""
    headers = [sources[path] for path in HEADERS]
    begins = {path: os.path.basename(path) + ": " if len(tests.sources) > 1 else "" for path in tests.sources}
    return [(begins[path] + name, change, edge, path, lines) for path in tests.sources
            for name, change, edge, lines in mutants_of(sources[path], tests.functions, headers)]


def try_generated(pool, tests, sources, number, equivalent):
    original = {path: code_of(tests.compilers, path, tests.out + "/original.o") for path in tests.sources}
    everything = all_mutants_of(tests, sources)
    mutants = choose(everything, number)

    def one(i, name, change, path, lines):
        text = sources[path][:change[0]] + change[2] + sources[path][change[1]:]
        directory, made = "%s/%d" % (tests.out, i), "%s/%d.o" % (tests.out, i)
        os.makedirs(directory, exist_ok=True)
        source = directory + "/" + os.path.basename(path)
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        code = code_of(tests.compilers, source, made)
        result = None, None
        if code is None or code == original[path]:
            shutil.rmtree(directory)
            result = "none", None
        for test in tests.generated or [""] if result[0] is None else []:
            result = tests.judge({**sources, path: text}, test, directory, name in equivalent,
                                 (path, set(range(lines[0], lines[1] + 1))))
            if result[0] is None or name in equivalent:
                break
        if os.path.exists(made):
            os.remove(made)
        return result
    jobs = [(m[0], pool.submit(one, i, m[0], m[1], *m[3:])) for i, m in enumerate(mutants)]
    count = {"noticed": 0, "equivalent": 0, "unnoticed": 0, "none": 0}
    for name, job in jobs:
        result, noticed = job.result()
        verdict = "noticed" if result is None else "none" if result == "none" else \
            "equivalent" if name in equivalent else "unnoticed"
        count[verdict] += 1
        if verdict == "unnoticed":
            print("not ok %s: %s" % (name, result), flush=True)
        elif verdict == "noticed" and name in equivalent:
            print("not ok %s: a test notices it, though it is listed as equivalent" % name, flush=True)
        elif verdict != "none":
            print("ok %s: %s" % (name, "noticed by " + noticed if noticed else "equivalent"), flush=True)
    for name in sorted(set(equivalent) - {m[0] for m in everything}):
        if wanted(name):
            print("not ok %s: no such mutant any more" % name)
    print("# %d of %d:" % (len(mutants), len(everything)), ", ".join("%d %s" % (n, what) for what, n in count.items()))


def say_places(lists):
    for path in lists:
        tests = Tests(path)
        sources = read_sources()
        for name, _, changes in tests.chosen:
            made = broken(sources, changes, tests.sources)
            if isinstance(made, str):
                print("%s: %s: %s" % (path, name, made))
        if tests.functions:
            names = {mutant[0] for mutant in all_mutants_of(tests, sources)}
            for name in read_equivalent(path + ".equivalent"):
                if name not in names:
                    print("%s.equivalent: %s: no rule makes it" % (path, name))


def main():
    if sys.argv[1] == "--places":
        say_places(sys.argv[2:])
        return
    signal.signal(signal.SIGTERM, end_all)
    signal.signal(signal.SIGINT, end_all)
    tests = Tests(sys.argv[1])
    sources = read_sources()
    tests.begin()
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count())) as pool:
        try_chosen(pool, tests, sources)
        if tests.functions:
            equivalent = read_equivalent(sys.argv[1] + ".equivalent")
            try_generated(pool, tests, sources, int(sys.argv[2]), equivalent)


main()
