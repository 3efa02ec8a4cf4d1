"""Changes around a running daemon: its buses, its journal and its manager restart, its program is replaced, and its socket is
removed."""

import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

from harness import PATIENCE, Failure
from machine import UNIT, main_pid, run, show, systemctl

RUNTIME = Path(f"/run/user/{os.getuid()}")
SOCKET = RUNTIME / "authrefreshd/io.authrefresh"
# Tests/Integration/systemd made root watch for this file. While it exists, the journal is being restarted.
JOURNAL_RESTART = Path("/tmp/restart-journal")


def wait_until(what, holds, limit=PATIENCE):
    """Polls for a change for which there is no event."""
    deadline = time.monotonic() + limit
    while not holds():
        if time.monotonic() > deadline:
            raise Failure(f"{what} within {limit:g} s")
        time.sleep(0.05)


def watchdog_fed():
    """Returns when the manager has heard from the daemon once more."""
    before = show("WatchdogTimestampMonotonic")
    wait_until("the manager hears from the daemon", lambda: show("WatchdogTimestampMonotonic") != before)


class Survival:
    def __init__(self, session):
        self.session = session
        self.check = session.check
        self.journal = session.journal

    def unharmed(self, what, body):
        """Changes something around the daemon that must not affect it."""
        pid, restarts = main_pid(), show("NRestarts")
        body()
        watchdog_fed()
        self.check(f"{what}: the daemon runs on", (main_pid(), show("NRestarts"), show("ActiveState")) == (pid, restarts, "active"))
        systemctl("reload", UNIT)
        self.session.check_account_works(f"after {what}")
        generation = str(self.session.status()["generation"])
        self.journal.expect_message(self.session.TOKEN_REFRESHED, AUTHREFRESH_GENERATION=generation)
        self.check(f"{what}: the journal has what came after", True)

    def bus_restarted(self):
        self.unharmed("a restart of the user's bus", lambda: systemctl("restart", "dbus.service"))

    def journal_restarted(self):
        def restart():
            JOURNAL_RESTART.touch()
            wait_until("the journal is restarted", lambda: not JOURNAL_RESTART.exists())

        self.unharmed("a restart of the journal", restart)

    def manager_reexecuted(self):
        self.unharmed("a re-execution of the manager", lambda: systemctl("daemon-reexec"))

    def upgraded_under_callers(self, install, authctl, account):
        """The program is replaced twice while callers ask for tokens without a pause. Some of them ask for new tokens."""
        callers = [Caller([authctl, "token", account, *more]) for more in ([], [], [], ["--force"])]
        try:
            for caller in callers:
                caller.at_least(3)
            for _ in range(2):
                pid, program = main_pid(), os.stat(f"/proc/{main_pid()}/exe").st_ino
                install()
                self.check("an upgrade starts the new program", main_pid() != pid and os.stat(f"/proc/{main_pid()}/exe").st_ino != program)
                for caller in callers:
                    caller.at_least(3)
        finally:
            for caller in callers:
                caller.stop()
        failures = [failure for caller in callers for failure in caller.failures]
        calls = sum(caller.count for caller in callers)
        self.check(f"two upgrades under {calls} calls of authctl token: none failed", not failures, f"{len(failures)}: {failures[:3]}")
        self.session.check_account_works("after two upgrades under load")

    def socket_folder_removed(self):
        """systemd made the socket, and only systemd can make one that starts the daemon."""
        pid = main_pid()
        shutil.rmtree(SOCKET.parent)
        self.journal.expect_message(self.session.SOCKET_RETURNED)
        self.journal.expect_message(self.session.DAEMON_STARTED)
        self.check("a removed socket folder is back, with a new daemon", SOCKET.is_socket() and main_pid() not in (0, pid))
        self.session.check_account_works("after the removal of the socket's folder")
        systemctl("stop", UNIT)
        self.session.status()
        self.check("the new socket starts the daemon", show("ActiveState") == "active")


class Caller:
    """Runs a command again and again on a thread of its own."""

    def __init__(self, command):
        self.command = command
        self.count = 0
        self.failures = []
        self.isStopped = False
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.isStopped:
            answer = subprocess.run(self.command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
            with self.changed:
                self.count += 1
                if answer.returncode != 0 or not answer.stdout.strip():
                    self.failures.append((answer.returncode, answer.stderr))
                self.changed.notify_all()

    def at_least(self, more):
        """Returns after this many more calls."""
        with self.changed:
            goal = self.count + more
            if not self.changed.wait_for(lambda: self.count >= goal, PATIENCE * 2):
                raise Failure(f"{self.command} was run {self.count} times, not {goal}")

    def stop(self):
        self.isStopped = True
        self.thread.join(120)
