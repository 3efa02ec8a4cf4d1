"""A person who signs in: the terminal with `authctl login`, the browser that it opens, and the pages of the server."""

import os
import queue
import select
import signal
import subprocess
import threading
import time

from harness import PATIENCE, Failure

USER, PASSWORD = "alice", "correct-horse"


class Opener:
    """A program in place of the user's browser. It reports the address that it was asked to open."""

    def __init__(self, folder):
        self.fifo = folder / "opened"
        os.mkfifo(self.fifo, 0o600)
        # Opened for reading and writing, so that neither side waits for the other to open the pipe.
        self.reader = os.open(self.fifo, os.O_RDWR)
        self.program = folder / "browser"
        self.program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$1\" > '{self.fifo}'\n", encoding="utf-8")
        self.program.chmod(0o700)

    def url(self):
        """Waits until an address was opened, and returns it."""
        ready, _, _ = select.select([self.reader], [], [], PATIENCE)
        if not ready:
            raise Failure("no browser was opened")
        return os.read(self.reader, 65536).decode().strip()

    def nothing(self):
        ready, _, _ = select.select([self.reader], [], [], 0)
        return not ready

    def close(self):
        os.close(self.reader)


class Terminal:
    """One authctl command. `lines` has its output, even after it has ended."""

    def __init__(self, daemon, *arguments, environment):
        self.process = subprocess.Popen(
            [daemon.binaries / "authctl", *arguments],
            env={**daemon.environment, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines = []
        self.news = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            self.news.put(line)
        self.news.put(None)

    @property
    def text(self):
        return "\n".join(self.lines)

    def expect(self, words):
        """Waits for a line that contains `words`, and returns it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                line = self.news.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                raise Failure(f"'{words}' was not said, but: {self.text}")
            if words in line:
                return line.rstrip("\n")

    def address(self):
        """The address that the command shows. It stands before the code."""
        return next(line.strip() for line in self.lines if line.startswith("  http"))

    def paste(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def end(self):
        """Waits for the exit status. The whole output is in `lines` then."""
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failure(f"authctl does not end; it said: {self.text}") from None
        while self.news.get(timeout=PATIENCE) is not None:
            pass
        self.news.put(None)
        return status

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()


class GlewlwydPages:
    """What a person does on glewlwyd's own pages."""

    def __init__(self, chromium):
        self.chromium = chromium

    def log_in(self):
        self.chromium.type("#username", USER)
        self.chromium.type("#password", PASSWORD)
        self.chromium.click("#loginbut")

    def allow(self, leaves=True):
        """Consents. The server asks once for each client. An address for another program does not `leave` the page."""
        self.chromium.click("#grant-api")
        self.chromium.click("//button[text()='Grant access']")
        self.go_on(leaves)

    def go_on(self, leaves=True):
        act = self.chromium.leave if leaves else self.chromium.click
        act("//button[contains(@class, 'btn-success')][contains(., 'Continue')]")

    def end_session(self):
        self.chromium.click("//div[@role='group']/button[contains(@class, 'btn-danger')][contains(., 'Logout')]")
        self.chromium.find("//h3[text()='Session closed']")

    def type_code(self, code):
        self.chromium.type(".card-body input", code)
        self.chromium.click("//div[contains(@class, 'card-body')]//button[contains(., 'OK')]")


class DjangoPages:
    """What a person does on the pages of django-oauth-toolkit, and of Django."""

    def __init__(self, chromium):
        self.chromium = chromium

    def log_in(self):
        self.chromium.type("#id_username", USER)
        self.chromium.type("#id_password", PASSWORD)
        self.chromium.click("//button[text()='Log in']")

    def allow(self):
        self.chromium.leave("[name=allow]")

    def deny(self):
        self.chromium.leave("//form[.//*[@name='allow']]//*[@type='submit'][not(@name='allow')]")

    def type_code(self, code):
        self.chromium.type("#id_user_code", code)
        self.chromium.click("//button[text()='Verify']")

    def accept(self):
        self.chromium.click("[name=action][value=accept]")
