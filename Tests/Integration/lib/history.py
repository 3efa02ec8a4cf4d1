"""`authctl history` with a real journal, and `authctl watch` while the daemon is really restarted."""

import json
import re
import signal
import subprocess
import urllib.parse
import urllib.request

from harness import PATIENCE, Failure, Watch
from machine import UNIT, main_pid, run, show, systemctl
from root import as_root

# The name has characters that mean something to a shell or in a URL.
ACCOUNT = "joe+mail@example.org"
INTERACTION_REQUIRED = "1d3ab0a9135947a19bd31705c1a0d0ea"
# A request that ended with 503 may have spent the refresh token. The journal reports the outcome as unknown.
OUTCOME_UNKNOWN = "0d16282780aa480ba1fc44d3f3d3ff45"
SIGNED_IN = "8ad294b41cdd4d0aad676dc4ec90a464"
# Where journald keeps the journal, depending on its storage.
JOURNALS = "/var/log/journal /run/log/journal"


class History:
    def __init__(self, session):
        self.session = session
        self.check = session.check
        self.journal = session.journal
        self.issuer = session.issuer
        self.authctl = session.authctl

    def checks(self):
        self.filled()
        self.told()
        self.kept_from_reading()
        self.watched()
        run(self.authctl, "account", "remove", ACCOUNT, "--yes")

    def filled(self):
        """Refreshes, an outage, the end of the grant, a sign-in, and the end of the second grant."""
        grant = self.issuer.grant(self.session.grant_file)
        run(
            self.authctl, "account", "add", ACCOUNT, "--issuer", self.issuer.url, "--client-id", "demo",
            "--refresh-token-file", str(self.session.grant_file),
        )  # fmt: skip
        run(self.authctl, "refresh", ACCOUNT)
        # More than one request must fail, because the first might be that of the session's other account.
        self.issuer.ask("faults", {"fault": "answer", "status": "503", "times": "until-cleared"})
        run(self.authctl, "refresh", ACCOUNT, check=False)
        self.expect(OUTCOME_UNKNOWN)
        clear = urllib.request.Request(f"{self.issuer.url}/admin/faults", method="DELETE")
        urllib.request.urlopen(clear, timeout=PATIENCE).close()
        self.end(grant)
        plot, events = self.history()
        self.check("a grant that has ended shows in the plot of the journal", plot.endswith("!"), plot)
        self.check("an event of the journal is an entry", {"refresh-failed", "interaction-required"} <= set(events), events)
        self.sign_in()

    def expect(self, message_id):
        self.journal.expect_message(message_id, AUTHREFRESH_ACCOUNT=ACCOUNT)

    def end(self, grant):
        self.issuer.ask(f"grants/{grant}/revoke", {})
        run(self.authctl, "refresh", ACCOUNT, check=False)
        self.expect(INTERACTION_REQUIRED)

    def sign_in(self):
        """Opens the page that `authctl login` names, and consents."""
        command = [self.authctl, "login", ACCOUNT, "--flow", "browser", "--no-open"]
        login = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        said = ""
        for line in login.stdout:
            said += line
            if address := re.search(r"https?://\S+", line):
                break
        else:
            raise Failure(f"authctl login names no page: {said}")
        page = open_page(address[0])
        request = re.search(r'name="request" value="([^"]*)"', page)[1]
        origin = "/".join(address[0].split("/")[:3])
        # urlopen follows the redirect to the daemon.
        open_page(f"{origin}/authorize/decision", {"request": request, "subject": ACCOUNT.partition("@")[0], "decision": "allow"})
        said += login.communicate(timeout=PATIENCE)[0]
        self.check("a sign-in ends well", login.returncode == 0, said)
        self.expect(SIGNED_IN)

    def history(self):
        """The last line of the plot, without its time, and the events."""
        text = run(self.authctl, "history", ACCOUNT, "--hours", "1").stdout
        plot = next(line for line in text.splitlines()[1:] if re.match(r"\d{4}-\d\d-\d\d ", line))
        return plot, [event["event"] for event in self.answer()["events"]]

    def answer(self):
        return json.loads(run(self.authctl, "history", ACCOUNT, "--json").stdout)

    def told(self):
        """The history has every record of the account in the journal, with its time and cause, and no other."""
        # The token lives for twenty seconds and is refreshed while this runs. So only records that both have are compared.
        answer, records = self.answer()["events"], self.records()[: len(self.answer()["events"])]
        told = [(str(event["atUSec"]), event["event"]) for event in answer]
        recorded = [(record["__REALTIME_TIMESTAMP"], record["AUTHREFRESH_EVENT"]) for record in records]
        self.check(f"history tells the {len(told)} events of the journal", told == recorded[: len(told)] and told, f"{told} {recorded}")
        causes = {}
        for event in answer:
            causes.setdefault(event["event"], []).append(event.get("cause", ""))
        self.check("an outage has its cause", "503" in "".join(causes["refresh-failed"]), causes)
        self.check("a grant's end has its cause", "invalid_grant" in "".join(causes["interaction-required"]), causes)
        kinds = {"account-added", "token-refreshed", "refresh-failed", "interaction-required", "sign-in-started", "signed-in"}
        self.check("history has refreshes, the outage and the sign-in", kinds <= set(causes), f"{kinds - set(causes)}")
        shown = run(self.authctl, "history", ACCOUNT).stdout
        words = [f"{ACCOUNT}, a character for each", "signed in", "needs you: ", "refresh failed", "refreshed"]
        self.check("history shows them as words", all(word in shown for word in words), shown)

    def records(self):
        command = ["journalctl", "--user", "-u", UNIT, "-o", "json", "--all", f"AUTHREFRESH_ACCOUNT={ACCOUNT}"]
        records = [json.loads(line) for line in run(*command).stdout.splitlines()]
        return [record for record in records if "AUTHREFRESH_EVENT" in record]

    def kept_from_reading(self):
        listed = as_root("sh", "-c", f"for folder in {JOURNALS}; do [ ! -d $folder ] || find $folder -mindepth 1 -maxdepth 1 -printf '%m %p\\n'; done")[1]
        folders = [line.split(" ", 1) for line in listed.splitlines()]
        as_root("chmod", "0700", *(name for _, name in folders))
        try:
            refused = run(self.authctl, "history", ACCOUNT, check=False)
        finally:
            for mode, name in folders:
                as_root("chmod", mode, name)
        told = refused.returncode == 69 and "the journal cannot be read" in refused.stderr and not refused.stdout
        self.check("a journal that may not be read is said to be so", told, f"{refused}")
        run(self.authctl, "history", ACCOUNT)

    def watched(self):
        """`authctl watch` continues after a restart of the daemon, and misses no later change."""
        watch = Watch([self.authctl, "watch", ACCOUNT, "--json"], None)
        try:
            for count in (1, 2):
                pid = main_pid()
                systemctl("restart", UNIT)
                ready = watch.expect("ready", PATIENCE)
                self.check(f"restart {count}: watch shows the present state again", main_pid() not in (0, pid), f"{ready}")
                refreshed = [self.refreshed(watch) for _ in range(3)]
                in_order = refreshed == list(range(refreshed[0], refreshed[0] + 3))
                self.check(f"restart {count}: watch tells every change that follows", in_order, f"{refreshed}")
        finally:
            watch.process.send_signal(signal.SIGTERM)
            ended = watch.process.wait(PATIENCE)
        self.check("watch ends by SIGTERM as any program", ended == -signal.SIGTERM, f"{ended}")
        self.check("the daemon does not mind", show("ActiveState") == "active", show("ActiveState"))

    def refreshed(self, watch):
        """Asks for a refresh, and returns the generation in the change."""
        run(self.authctl, "refresh", ACCOUNT)
        return watch.expect("token-refreshed", PATIENCE)["accounts"][0]["generation"]


def open_page(address, form=None):
    body = None if form is None else urllib.parse.urlencode(form).encode()
    with urllib.request.urlopen(address, body, timeout=PATIENCE) as answer:
        return answer.read().decode()
