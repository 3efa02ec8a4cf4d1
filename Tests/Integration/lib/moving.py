"""A home directory with other programs, the authorization server where they are signed in, and a daemon that takes them over."""

import contextlib
import json
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from harness import PATIENCE, Daemon, Failure, Report
from machine import Issuer
from stage import is_valid

SCOPE = "openid offline_access"


class StayingHere(urllib.request.HTTPRedirectHandler):
    """Does not follow redirects. Nothing listens at the target, and the test reads the code from the address."""

    def redirect_request(self, *_):
        return None


class OtherStage:
    """The demonstration's authorization server with the clients of the other programs, and a daemon without accounts."""

    def __init__(self, name, options):
        self.report = Report(name)
        self.check = self.report.check
        self.options = options
        self.folder = Path(tempfile.mkdtemp(prefix="moving-"))
        self.home = self.folder / "home"
        self.issuer = Issuer(str(options.binaries / "authdemo"), "600s")
        self.issuer.ask("policy", {"id_tokens": "on"})
        self.daemon = Daemon(options.binaries, self.folder)
        links = self.folder / "bin"
        links.mkdir()
        (links / "authctl").symlink_to(options.binaries / "authctl")
        self.environment = self.daemon.environment
        self.environment |= {
            "PATH": f"{links}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": str(self.home / ".config"),
            "TMPDIR": str(self.folder), "TERM": "xterm",
        }  # fmt: skip

    def close(self):
        try:
            self.daemon.stop()
        finally:
            self.issuer.process.terminate()
            self.issuer.process.wait()
            shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name, text):
        """Writes a file in the home directory that only its owner can read."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(text)
        return path

    # -- The authorization server ------------------------------------------------------------------------------------

    def client(self, method="client_secret_basic", redirect="http://localhost:4242"):
        """Registers a client, as a person does once for such a program. Returns its id and secret."""
        form = {
            "client_name": "another program", "application_type": "native", "redirect_uris": [redirect],
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"], "token_endpoint_auth_method": method,
        }  # fmt: skip
        request = urllib.request.Request(f"{self.issuer.url}/register", json.dumps(form).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            told = json.load(answer)
        return told["client_id"], told.get("client_secret", "")

    def grant(self, client, scope=SCOPE):
        """A new grant's refresh token."""
        form = {"client_id": client, "scope": scope, "subject": "alice"}
        return self.issuer.ask("grants", form)["grants"][0]["refresh_token"]

    def refreshed(self, refresh_token, client, secret):
        """The server's answer to a refresh by the client."""
        form = {"grant_type": "refresh_token", "refresh_token": refresh_token, "client_id": client, "client_secret": secret}
        body = urllib.parse.urlencode(form).encode()
        with urllib.request.urlopen(f"{self.issuer.url}/token", body, timeout=PATIENCE) as answer:
            return json.load(answer)

    def code(self, page):
        """Consents as alice does in her browser, and returns the code from the last address."""
        with urllib.request.urlopen(page, timeout=PATIENCE) as answer:
            request = re.search(r'name="request" value="([^"]*)"', answer.read().decode())[1]
        form = urllib.parse.urlencode({"request": request, "subject": "alice", "decision": "allow"}).encode()
        opener = urllib.request.build_opener(StayingHere)
        try:
            opener.open(f"{self.issuer.url}/authorize/decision", form, timeout=PATIENCE).close()
        except urllib.error.HTTPError as sent:
            return urllib.parse.parse_qs(urllib.parse.urlsplit(sent.headers["Location"]).query)["code"][0]
        raise Failure("the server sends the browser nowhere")

    def allow_device(self, user_code):
        form = urllib.parse.urlencode({"user_code": user_code, "subject": "alice", "decision": "allow"}).encode()
        urllib.request.urlopen(f"{self.issuer.url}/device", form, timeout=PATIENCE).close()

    # -- Programs ----------------------------------------------------------------------------------------------------

    def run(self, *words, given="", **environment):
        # In a session of its own, the program has no terminal for questions.
        return subprocess.run(
            words, env={**self.environment, **environment}, input=given, capture_output=True, text=True, timeout=PATIENCE * 2,
            start_new_session=True, cwd=self.folder,
        )  # fmt: skip

    def succeeds(self, text, *words, **more):
        answer = self.run(*words, **more)
        self.check(text, answer.returncode == 0, f"{answer.stdout.strip()} {answer.stderr.strip()}")
        return answer

    def refreshes_itself(self, before):
        """Checks that the program has spent its first refresh token and keeps the second."""
        after = self.counters()
        rotated = after["refreshes"] > before["refreshes"] and after["spent_token_uses"] == before["spent_token_uses"]
        self.check("the program refreshes its token itself", rotated, f"{before} {after}")

    @contextlib.contextmanager
    def running(self, *words):
        """Starts a program that runs during the import. Its output is a pipe."""
        process = subprocess.Popen(
            words, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.folder
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(PATIENCE)
            process.stdin.close()
            process.stdout.close()

    # -- authctl import ----------------------------------------------------------------------------------------------

    def counters(self):
        return self.issuer.ask("counters")

    def shows(self, program, name, server, takes):
        """Checks that the table has this row for the account, and that no request was sent for it."""
        before = self.counters()
        shown = self.run("authctl", "import", "--dry-run", "--from", program)
        rows = [line.split(maxsplit=3) for line in shown.stdout.splitlines()]
        self.check(f"the table shows '{name}'", [name, program, server, takes] in rows, f"{shown.stdout} {shown.stderr}")
        self.check("no request was made for it", self.counters()["refreshes"] == before["refreshes"])

    def refuses(self, program, name, process, hint):
        """Checks that the account is refused while `process` runs, and that no request is sent."""
        before = self.counters()
        answer = self.run("authctl", "import", "--from", program, name)
        self.check(f"it is refused while {process} runs", answer.returncode == 75 and f"({process}, process " in answer.stderr, f"{answer}")
        self.check("and the hint says how to stop it", f"authctl: hint: {hint}" in answer.stderr, answer.stderr)
        self.check("no request was made", self.counters()["refreshes"] == before["refreshes"])
        self.check("no account was added", name not in self.daemon.authctl("account", "list").stdout)

    def takes(self, program, title, name, *options, **more):
        """Takes the grant over, with one refresh by an unspent token. Returns the advice, in order."""
        before = self.counters()
        answer = self.run("authctl", "import", "--from", program, name, *options, **more)
        said = answer.stdout.splitlines()[:1]
        self.check("it is taken over", answer.returncode == 0 and said == [f"{name}: taken over from {title}, and refreshed once"], f"{answer}")
        self.works(name, before)
        return re.findall("(?m)^  to retire it there: (.*)$", answer.stdout)

    def works(self, name, before):
        after = self.counters()
        self.check("it was refreshed once", after["refreshes"] == before["refreshes"] + 1, f"{before} {after}")
        self.check("by a refresh token that nobody had spent", after["spent_token_uses"] == before["spent_token_uses"], f"{after}")
        token = self.daemon.authctl("token", name).stdout.strip()
        self.check("the server takes the account's token", is_valid(self.issuer.url, token))
        state = self.daemon.authctl("refresh", name)
        self.check("and the account's next refresh token, too", state.returncode == 0, state.stderr)

    def retires(self, program, name, advice):
        """Types the advised command as it stands. Then the program no longer has the account, but the grant is still valid."""
        for command in advice:
            self.succeeds(f"'{command}' works", "sh", "-ec", command.split(" ('")[0])
        shown = self.run("authctl", "import", "--dry-run", "--from", program)
        self.check("then the account is here only", name not in shown.stdout, shown.stdout)
        self.check("and still works", self.daemon.authctl("refresh", name, check=False).returncode == 0)


class Screen:
    """A command on a terminal of its own."""

    def __init__(self, stage, *words):
        self.master, slave = pty.openpty()
        command = ["setsid", "--ctty", "--wait", *words]
        self.words = shlex.join(words)
        self.process = subprocess.Popen(command, env=stage.environment, stdin=slave, stdout=slave, stderr=slave, cwd=stage.folder)
        os.close(slave)
        self.shown = ""

    def answers(self, prompt, keys):
        """Types `keys` once the prompt is there."""
        deadline = time.monotonic() + PATIENCE
        while prompt not in self.shown:
            if not self.read(deadline - time.monotonic()):
                raise Failure(f"'{self.words}' does not ask '{prompt}': {self.shown}")
        self.shown = self.shown.split(prompt, 1)[1]
        os.write(self.master, keys.encode())

    def end(self):
        """The output since the last answer, and the exit status."""
        while self.read(PATIENCE):
            pass
        os.close(self.master)
        return self.shown.replace("\r\n", "\n"), self.process.wait(PATIENCE)

    def read(self, limit):
        ready, _, _ = select.select([self.master], [], [], max(0.0, limit))
        # Reading from a terminal fails once no process has it open.
        with contextlib.suppress(OSError):
            more = os.read(self.master, 65536) if ready else b""
            self.shown += more.decode(errors="replace")
            return bool(more)
        return False
