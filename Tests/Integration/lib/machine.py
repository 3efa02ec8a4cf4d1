"""The user manager and the journal, for tests that run inside with-user-systemd."""

import json
import os
import queue
import subprocess
import threading
import time
import urllib.parse
import urllib.request

from harness import PATIENCE, Failure

UNIT = "authrefreshd.service"
# systemd's own message ids: a unit has started; a restart is scheduled.
UNIT_STARTED = "39f53479d3a045ac8e11786248231fbf"
RESTART_SCHEDULED = "5eb03494b6584870a536b337290809b3"


def run(*command, check=True, given="", limit=PATIENCE * 2):
    """Runs a command that reads `given` from standard input."""
    result = subprocess.run(command, input=given, capture_output=True, text=True, timeout=limit)
    if check and result.returncode != 0:
        raise Failure(f"{' '.join(command[:4])} ended with {result.returncode}: {(result.stderr or result.stdout).strip()}")
    return result


def systemctl(*arguments, check=True):
    return run("systemctl", "--user", *arguments, check=check)


def show(name, unit=UNIT):
    return systemctl("show", "--value", "-p", name, unit).stdout.strip()


def main_pid():
    return int(show("MainPID"))


def systemd_version():
    return int(run("systemctl", "--version").stdout.split()[1])


class JournalFollower:
    """The records of the user's journal from now on, in order."""

    def __init__(self):
        # Waits for a first record, so that no later record is missed.
        command = ["journalctl", "--user", "--follow", "--all", "--output=json", "--lines=1"]
        run("logger", "-t", "authrefreshd-test", "the journal is followed")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.records = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.records.put(json.loads(line))

    def expect(self, what, fits, limit=PATIENCE):
        """Returns the next record that fits, and skips those before it."""
        deadline = time.monotonic() + limit
        passed = []
        while True:
            try:
                record = self.records.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise Failure(f"no {what} in the journal within {limit:g} s; the last was {passed[-4:]}") from None
            if fits(record):
                return record
            passed.append(record.get("MESSAGE"))

    def expect_message(self, message_id, limit=PATIENCE, **fields):
        """The next record with an id of ours or of systemd's, and these fields."""
        wanted = {"MESSAGE_ID": message_id, **fields}
        return self.expect(wanted, lambda record: wanted.items() <= record.items(), limit)

    def close(self):
        self.process.terminate()
        self.process.wait()


class Issuer:
    """`authdemo issuer`, and its administration interface."""

    def __init__(self, executable, lifetime):
        self.process = subprocess.Popen(
            [executable, "issuer", "--lifetime", lifetime], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise Failure("authdemo issuer did not start")

    def ask(self, path, form=None):
        body = None if form is None else urllib.parse.urlencode(form).encode()
        with urllib.request.urlopen(f"{self.url}/admin/{path}", body, timeout=PATIENCE) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def grant(self, path):
        """Issues a grant into a file that only its owner can read; returns the grant's number."""
        issued = self.ask("grants", {"client_id": "demo"})["grants"][0]
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            file.write(issued["refresh_token"])
        return issued["family"]

    def last_sequence(self):
        return max((entry["sequence"] for entry in self.ask("log?after=0")), default=0)

    def wait_for(self, outcome, after):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for entry in self.ask(f"log?after={after}&wait_ms=5000"):
                after = entry["sequence"]
                if entry["outcome"] == outcome:
                    return entry
        raise Failure(f"no request with the outcome {outcome} within {PATIENCE} s")
