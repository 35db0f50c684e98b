#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""speedscope.py speedscope: opens what sfu-trace --folded makes of dumps in speedscope, in a browser without a screen.
Its table must have the functions of the traces that went into the dumps, each with the sum of the traces that it is in
and of those that end in it. build/speedscope has npm's package."""
import base64
import collections
import json
import os
import re
import select
import subprocess
import time

from depots import Code, Dump
import host
from host import finish, must, test, write
from traces import TRACE, kernel, run

PAGE = os.path.abspath("build/speedscope/package/dist/release/index.html")
WORK = os.path.abspath(host.WORK)
LIMIT = 120  # seconds
BROWSER = ["chromium", "--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
           "--user-data-dir=%s/browser" % WORK, "--remote-debugging-pipe"]
TABLE = """JSON.stringify([...document.querySelectorAll('table tr')].map(row =>
    [...row.querySelectorAll('td')].map(cell => cell.textContent)).filter(row => row.length == 3))"""


class Browser:
    """Asked by its debugger's protocol: messages that end with a zero byte, by descriptors 3 and 4."""

    def __init__(self):
        commands, self.write = os.pipe()
        self.read, answers = os.pipe()
        self.process = subprocess.Popen(
            ["sh", "-c", 'exec "$@" 3<&%d 4>&%d' % (commands, answers), "sh", *BROWSER], pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.number, self.buffer, self.end = 0, b"", time.monotonic() + LIMIT

    def message(self):
        while b"\0" not in self.buffer:
            ready = select.select([self.read], [], [], max(0, self.end - time.monotonic()))[0]
            more = os.read(self.read, 1 << 16) if ready else b""
            must(more, "the browser says nothing more")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, session=None, **parameters):
        self.number += 1
        question = {"id": self.number, "method": method, "params": parameters}
        question.update({"sessionId": session} if session else {})
        os.write(self.write, json.dumps(question).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                must("result" in answer, answer)
                return answer["result"]

    def close(self):
        os.close(self.write)
        self.process.terminate()
        self.process.wait(LIMIT)
        os.close(self.read)


def shown(text, rows):
    """{function: (sum of the stacks that it is in, sum of those that it ends)}, as the page has them. It shows as many
    of the ROWS as its window has room for, some time after it was opened."""
    script = "%s/load.js" % WORK
    write(script, ("speedscope.loadFileFromBase64('profile', %s)" %
                   json.dumps(base64.b64encode(text).decode())).encode())
    browser = Browser()
    try:
        target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.ask("Emulation.setDeviceMetricsOverride", session, width=1400, height=25 * rows + 500,
                    deviceScaleFactor=1, mobile=False)
        browser.ask("Page.navigate", session, url="file://%s#localProfilePath=%s&view=sandwich" % (PAGE, script))
        table = []
        while len(table) < rows and time.monotonic() < browser.end:
            time.sleep(0.2)
            result = browser.ask("Runtime.evaluate", session, expression=TABLE)["result"]
            table = json.loads(result.get("value", "[]"))
    finally:
        browser.close()
    numbers = [[int(re.match(r"[\d,]+", cell)[0].replace(",", "")) for cell in row[:2]] for row in table]
    return {row[2]: tuple(pair) for row, pair in zip(table, numbers)}


def sums(paths):
    """The same of {path: weight}."""
    total, own = collections.Counter(), collections.Counter()
    for path, weight in paths.items():
        names = path.split(";")
        own[names[-1]] += weight
        for name in set(names):
            total[name] += weight
    return {name: (total[name], own[name]) for name in total}


def same_sums(dumps):
    log = "".join(dump.text() for dump in dumps).encode()
    text = run(TRACE, "--folded", dumps[0].code.image, stdin=log)[0]
    wanted = sums(sum((dump.folded() for dump in dumps), collections.Counter()))
    found = shown(text, len(wanted))
    for name in sorted({*found, *wanted}):
        must(found.get(name) == wanted.get(name), "%s: %s instead of %s" % (name, found.get(name), wanted.get(name)))
    return "%d functions" % len(wanted)


os.makedirs(WORK, exist_ok=True)
code = Code("x86_64", kernel("x86_64") + "/kernel.elf")
test("samples", same_sums, [Dump(code, 1)])
test("two CPUs", same_sums, [Dump(code, 2, name="cpu0"), Dump(code, 3, name="cpu1")])
test("bytes", same_sums, [Dump(code, 4, exact=False, unit="bytes", rate=0)])
finish()
