# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Many(PROGRAM, DIRECTORY, SECONDS): a tool under the sanitizers that is run many times (many.c). run(arguments...)
does what subprocess.run does, in text or, with text=False, in bytes, and raises TimeoutExpired after SECONDS.
"""
import atexit
import os
import signal
import subprocess


class Many:
    def __init__(self, program, directory, seconds):
        self.program, self.seconds, self.process = program, seconds, None
        self.files = ["%s/many.%s" % (directory, name) for name in ("in", "out", "err")]

    def ask(self, fields):
        if self.process is None:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                            errors="surrogateescape",
                                            env={**os.environ, "SFU_MANY": str(self.seconds)})
            atexit.register(self.end)
        self.process.stdin.write("\t".join(fields) + "\n")
        self.process.stdin.flush()
        status = int(self.process.stdout.readline())
        return status if status < 256 else 256 - status  # as subprocess says it

    def end(self):
        """Its CPU time counts as soon as it has ended."""
        self.process.stdin.close()
        self.process.wait()

    def run(self, *arguments, stdin=None, text=True):
        if stdin is not None:
            with open(self.files[0], "wb") as file:
                file.write(stdin.encode() if isinstance(stdin, str) else stdin)
        fields = [self.files[0] if stdin is not None else "/dev/null", *self.files[1:], *arguments]
        if any("\t" in field or "\n" in field for field in fields):
            raise ValueError("a tab or a newline in an argument: %r" % fields)
        status = self.ask(fields)
        if status == -signal.SIGALRM:
            raise subprocess.TimeoutExpired(arguments, self.seconds)
        said = []
        for name in self.files[1:]:
            with open(name, "rb") as file:
                said.append(file.read())
        if text:
            said = [part.decode(errors="replace") for part in said]
        return subprocess.CompletedProcess(arguments, status, *said)
