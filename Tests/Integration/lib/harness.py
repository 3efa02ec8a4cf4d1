"""Shared by the integration tests: a real daemon in a separate folder, its changes as they happen, and a report."""

import faulthandler
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

# Tests/Tools/suites sends this signal to a script that hangs, and finds its stacks in the log.
faulthandler.register(signal.SIGUSR2, all_threads=True)

# A limit in seconds for whatever is awaited. It only ends a hang: on the busiest machine, what is awaited comes earlier.
PATIENCE = 120


class Failure(Exception):
    """A failed check. The rest of the same case does not run."""


class Report:
    """Collects the results of checks, one line each: `ok`, `FAIL` or `skip`, after the name of the case."""

    lock = threading.Lock()
    failures = 0

    def __init__(self, case):
        self.case = case

    def line(self, verdict, text):
        with Report.lock:
            Report.failures += verdict == "FAIL"
            print(f"{verdict:4} {self.case}: {text}", flush=True)

    def check(self, text, holds, otherwise=""):
        if not holds:
            raise Failure(f"{text} -- {otherwise}" if otherwise else text)
        self.line("ok", text)

    def run(self, body):
        """Runs a case's body. An exception counts as a failed check, and ends only this case."""
        try:
            body()
        except Failure as failure:
            self.line("FAIL", str(failure))
        except Exception as error:  # a case must not take the others with it
            self.line("FAIL", f"{type(error).__name__}: {error}")


class Daemon:
    """An `authrefreshd` with its own state, socket and configuration below `folder`."""

    def __init__(self, binaries, folder, has_own_clock=False):
        """`has_own_clock`: whether time can pass for the daemon alone, by `pass_until`. Its binaries are those of the tests."""
        self.binaries = Path(binaries)
        self.folder = Path(folder)
        for name in ("run", "state", "config", "home"):
            (self.folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        self.log = self.folder / "daemon.log"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "XDG_RUNTIME_DIR": str(self.folder / "run"),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
        }
        self.process = None
        self.has_own_clock = has_own_clock
        # How far the daemon's clocks are ahead, in µs.
        self.ahead = 0

    def start(self):
        environment = dict(self.environment)
        if self.has_own_clock:
            environment |= {
                "LD_PRELOAD": str(self.binaries / "libShiftedClock.so"),
                "SHIFTED_CLOCK": str(self.folder / "clock"),
                "SHIFTED_CLOCK_START": self.shift(),
            }
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.binaries / "authrefreshd"], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self.wait_for_socket()

    def shift(self):
        """All clocks are moved together, as if time passed (Tests/CShiftedClock)."""
        return " ".join([str(self.ahead * 1000)] * 3)

    def pass_until(self, moment):
        """Lets time pass until just after `moment`, in µs since 1970. When it returns, the timers that are due have fired."""
        now = time.time_ns() // 1000 + self.ahead
        self.ahead += max(0, moment - now) + 1000
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as clock:
            clock.settimeout(PATIENCE)
            clock.connect(str(self.folder / "clock"))
            clock.send(self.shift().encode())
            clock.recv(1)

    def wait_for_socket(self):
        # Without a service manager, nothing announces the start. So this waits for the first answer on the socket.
        deadline = time.monotonic() + PATIENCE
        while self.authctl("status", check=False).returncode == 69:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failure(f"the daemon did not start: {self.log.read_text()[-2000:]}")
            time.sleep(0.05)

    def stop(self):
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failure("the daemon did not end within its time") from None

    def authctl(self, *arguments, check=True):
        answer = subprocess.run(
            [self.binaries / "authctl", *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE * 2,
        )
        if check and answer.returncode != 0:
            raise Failure(f"authctl {arguments[0]} ended with {answer.returncode}: {answer.stderr.strip()}")
        return answer

    def status(self, account):
        """The account's `AccountStatus`. The exit status says the same, so it is ignored."""
        return json.loads(self.authctl("status", account, "--json", check=False).stdout)["accounts"][0]

    def watch(self, account):
        return Watch([self.binaries / "authctl", "watch", account, "--json"], self.environment)


class Watch:
    """The changes of one account, in order, from `authctl watch --json`."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        self.lines = queue.Queue()
        self.seen = []
        threading.Thread(target=self.read, daemon=True).start()
        self.expect("ready", PATIENCE)

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def expect(self, event, limit, fits=lambda change: True):
        """Waits at most `limit` seconds for the next change `event`, and returns it. Earlier changes stay in `seen`."""
        return self.expect_one_of((event,), limit, fits)

    def expect_one_of(self, events, limit, fits=lambda change: True):
        deadline = time.monotonic() + limit
        while True:
            try:
                change = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                last = [change["event"] for change in self.seen[-6:]]
                raise Failure(f"no {' or '.join(events)} within {limit:g} s; the last changes were {last}") from None
            if change is None:
                raise Failure(f"authctl watch ended while {' or '.join(events)} was awaited")
            self.seen.append(change)
            if change["event"] in events and fits(change):
                return change

    def close(self):
        self.process.terminate()
        self.process.wait()


def chosen(parser, names):
    """The options, and those of the cases `names` that the arguments name (default: all). A failed check names its case in the same way."""
    parser.add_argument("cases", nargs="*", metavar="CASE", help="which cases to run (default: all)")
    options = parser.parse_args()
    if unknown := set(options.cases).difference(names):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    return options, [name for name in names if not options.cases or name in options.cases]


def finish():
    sys.exit(1 if Report.failures else 0)
