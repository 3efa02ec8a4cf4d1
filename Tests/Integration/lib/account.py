"""Shared by the sessions in a systemd user manager: a report, the journal, and an account at a loopback issuer."""

import json
from pathlib import Path

from harness import Report
from machine import Issuer, JournalFollower, run, systemd_version

ACCOUNT = "work"
DAEMON_STARTED = "d83f969f38e3482b8e7b49e91c468b65"
TOKEN_REFRESHED = "cee02e56448741868e4a14d08b21f5d0"
SOCKET_RETURNED = "4c75dde24858437fb53f43f86a094d9c"


class AccountSession:
    DAEMON_STARTED = DAEMON_STARTED
    TOKEN_REFRESHED = TOKEN_REFRESHED
    SOCKET_RETURNED = SOCKET_RETURNED

    def __init__(self, name, authctl, authdemo):
        self.version = systemd_version()
        self.report = Report(f"{name}-{self.version}")
        self.check = self.report.check
        self.journal = JournalFollower()
        self.authctl = authctl
        self.authdemo = authdemo
        self.grant_file = Path.home() / "grant"

    def status(self):
        return json.loads(run(self.authctl, "status", ACCOUNT, "--json", check=False).stdout)["accounts"][0]

    def add_account(self):
        self.issuer = Issuer(str(self.authdemo), "20s")
        self.grant = self.issuer.grant(self.grant_file)
        run(
            self.authctl, "account", "add", ACCOUNT, "--issuer", self.issuer.url, "--client-id", "demo",
            "--refresh-token-file", str(self.grant_file),
        )  # fmt: skip
        record = self.journal.expect_message(TOKEN_REFRESHED, AUTHREFRESH_ACCOUNT=ACCOUNT)
        self.check("the first refresh is told to the journal", record["AUTHREFRESH_ISSUER"] == self.issuer.url, record)

    def check_account_works(self, when):
        run(self.authctl, "refresh", ACCOUNT)
        token = run(self.authctl, "token", ACCOUNT).stdout.strip()
        self.check(f"{when} the account is fresh", self.status()["state"] == "fresh" and token, f"{self.status()}")
        ledger, counters = self.issuer.ask(f"grants/{self.grant}"), self.issuer.ask("counters")
        self.check(
            f"{when} the grant stands, and no spent token was sent",
            ledger.get("revoked_by") is None and counters["spent_token_uses"] == 0 and counters["overlaps"] == 0,
            f"{ledger} {counters}",
        )
