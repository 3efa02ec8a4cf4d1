"""The authorization servers of Tests/Integration/AuthorizationServers, and the requests that their proxy recorded."""

import base64
import json
import os
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from harness import PATIENCE, Failure

SCRIPTS = Path(__file__).resolve().parents[1] / "AuthorizationServers"
# Discovery documents in the order in which a client tries them (OpenID Connect Discovery 1.0 §4, RFC 8414 §3).
DISCOVERY = ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server")
# Starting a server includes making its database.
START_LIMIT = 300


class ForeignServer:
    """One run of one server. It has its own state, so that two runs of the same program do not affect each other."""

    def __init__(self, name, installed, state, environment):
        self.name = name
        folder = Path(state) / name
        folder.mkdir(parents=True)
        venv = Path(installed) / name / "venv"
        if venv.exists():
            (folder / "venv").symlink_to(venv)
        self.environment = {**os.environ, **environment, "STATE": str(state)}
        self.environment.pop("PORT", None)

    def script(self, name):
        result = subprocess.run(
            [SCRIPTS / self.name / name],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=START_LIMIT,
        )
        if result.returncode != 0:
            raise Failure(f"{self.name}/{name} ended with {result.returncode}: {result.stderr.strip()[-2000:]}")
        return result.stdout

    def start(self):
        told = dict(line.split("=", 1) for line in self.script("start").splitlines())
        self.issuer = told["issuer"]
        self.client_id = told["client_id"]
        self.client_secret_file = told["client_secret_file"]
        self.requests_file = told["requests_file"]
        self.metadata = {}
        for path in reversed(DISCOVERY):
            self.metadata |= self.discover(path)

    def discover(self, path):
        try:
            with urllib.request.urlopen(self.issuer + path, timeout=PATIENCE) as answer:
                return json.load(answer)
        except (urllib.error.HTTPError, ValueError):
            return {}

    def grant_file(self, path):
        """A fresh refresh token, in a file that only its owner can read."""
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            file.write(self.script("grant"))
        return str(path)

    def requests(self):
        """The recorded requests, oldest first."""
        with open(self.requests_file, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def refreshes(self):
        return [line for line in self.requests() if line["grant_type"] == "refresh_token"]

    def spent_tokens(self):
        """The output of `lib/spent-tokens`; empty if every refresh token was sent only while it was the newest."""
        result = subprocess.run(
            [SCRIPTS / "lib" / "spent-tokens", self.requests_file], capture_output=True, text=True, timeout=PATIENCE
        )
        if result.returncode not in (0, 1):
            raise Failure(f"spent-tokens ended with {result.returncode}: {result.stderr}")
        return result.stdout.strip()

    def overlaps(self):
        """Pairs of refresh requests that overlapped. There must be none, because there is one grant at a time."""
        refreshes = sorted(self.refreshes(), key=lambda line: line["t"])
        return [(one, other) for one, other in zip(refreshes, refreshes[1:]) if other["t"] < one["done"]]

    def accepts(self, access_token, basic_user=None):
        """Whether the server's introspection or userinfo endpoint accepts the token; None if it has neither endpoint."""
        if "introspection_endpoint" in self.metadata and basic_user:
            return "introspection", self.introspect(access_token, basic_user).get("active") is True
        if "userinfo_endpoint" in self.metadata:
            answer = ask(self.metadata["userinfo_endpoint"], None, f"Bearer {access_token}")
            return "userinfo", "sub" in answer
        return None

    def introspect(self, token, basic_user):
        """The server's answer about a token (RFC 7662)."""
        form = urllib.parse.urlencode({"token": token}).encode()
        basic = base64.b64encode(basic_user.encode()).decode()
        return ask(self.metadata["introspection_endpoint"], form, f"Basic {basic}")


def ask(url, form, authorization, headers=None):
    request = urllib.request.Request(url, form, {"Authorization": authorization, **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return {"status": error.code, "nonce": error.headers["DPoP-Nonce"]}
