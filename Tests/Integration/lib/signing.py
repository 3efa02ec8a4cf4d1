"""What every case of `sign-in` has: servers that are shared, and a daemon, an opener and a Chromium of its own."""

import base64
import hashlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import looks
from chromium import Chromium
from foreign import ForeignServer
from harness import PATIENCE, Daemon, Report
from login import PASSWORD, USER, DjangoPages, GlewlwydPages, Login, Opener

ACCOUNT = "work"
SCHEME_REDIRECT = "com.example.authrefreshd:/callback"
# Seconds an access token lives: half of it is what a silent refresh is waited for.
LIFETIME = 10
SECRET = "s3cret-%:&+/x"
ENCODED_SECRET = "s3cret-%25%3A%26%2B%2Fx"
GLEWLWYD, DJANGO = "glewlwyd", "django-oauth-toolkit"


class Servers:
    """glewlwyd, which takes only the addresses that it knows; and django-oauth-toolkit, which takes any loopback port."""

    def __init__(self, installed, folder):
        self.port = free_port()
        self.loopback = f"http://127.0.0.1:{self.port}/callback"
        lifetime = {"AT_TTL": str(LIFETIME)}
        redirects = {GLEWLWYD: self.loopback, DJANGO: "http://127.0.0.1/"}
        self.running = {
            name: ForeignServer(
                name, installed, folder, {**lifetime, "REDIRECTS": f"{redirect} {SCHEME_REDIRECT}"}
            )
            for name, redirect in redirects.items()
        }

    def __getitem__(self, name):
        return self.running[name]

    def start(self):
        with ThreadPoolExecutor() as pool:
            list(pool.map(ForeignServer.start, self.running.values()))

    def forget_consent(self, client):
        """Has glewlwyd ask alice again; django-oauth-toolkit asks each time."""
        root = self[GLEWLWYD].issuer.rsplit("/", 1)[0]
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        for method, path, body in (
            ("POST", "/auth/", {"username": USER, "password": PASSWORD}),
            ("PUT", f"/auth/grant/{client}", {"scope": ""}),
        ):
            headers = {"Content-Type": "application/json"}
            request = urllib.request.Request(root + path, json.dumps(body).encode(), headers, method=method)
            opener.open(request, timeout=10).close()

    def stop(self):
        for server in self.running.values():
            server.script("stop")


class Case:
    """One way to sign in, in a folder of its own; `close` ends what it began."""

    def __init__(self, name, options, servers, folder):
        self.report = Report(name)
        self.check = self.report.check
        self.folder = Path(folder)
        self.folder.mkdir(mode=0o700)
        self.screenshots = options.screenshots
        self.servers = servers
        self.glewlwyd, self.django = servers[GLEWLWYD], servers[DJANGO]
        self.daemon = Daemon(options.binaries, self.folder)
        self.profile("glewlwyd", f"redirect_uri: {servers.loopback}")
        self.opener = Opener(self.folder)
        self.logins, self.chromium = [], None
        # What else is to be ended, the last first.
        self.ends = ExitStack()

    def profile(self, name, *lines):
        """A provider profile of the user's own."""
        path = self.folder / "config/authrefreshd/providers.d" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([f"name: {name}", *lines, ""]), encoding="utf-8")

    def start(self):
        self.daemon.start()
        return self.browse()

    def browse(self, **options):
        self.chromium = Chromium(self.folder, **options)
        return self.chromium

    # -- Accounts

    def add(self, *arguments, account=ACCOUNT):
        self.daemon.authctl("account", "add", account, *arguments)

    def add_glewlwyd(self, *arguments, account=ACCOUNT, issuer=None, client="authrefreshd"):
        """A confidential client, unless another one is named."""
        self.servers.forget_consent(client)
        issuer = issuer or self.glewlwyd.issuer
        secret = ["--client-secret-file", self.glewlwyd.client_secret_file] if client == "authrefreshd" else []
        provider = [] if "--provider" in arguments else ["--provider", "glewlwyd"]
        self.add("--issuer", issuer, *provider, "--client-id", client, *secret, "--scope", "openid api", *arguments,
                 account=account)  # fmt: skip

    def add_django(self, *arguments, account=ACCOUNT):
        self.add("--issuer", self.django.issuer, "--client-id", "browser", "--client-secret-file",
                 self.django.client_secret_file, "--scope", "openid read", *arguments, account=account)  # fmt: skip

    # -- Signing in

    def login(self, *arguments, account=ACCOUNT, **environment):
        login = Login(
            self.daemon, account, *arguments, environment={"BROWSER": str(self.opener.program), **environment}
        )
        self.logins.append(login)
        return login

    def open(self):
        """Has Chromium open what `authctl login` opened; the address."""
        url = self.opener.url()
        self.chromium.open(url)
        return url

    def pages(self, server):
        return (GlewlwydPages if server is self.glewlwyd else DjangoPages)(self.chromium)

    def sign_in(self, server, *arguments, account=ACCOUNT):
        """The whole of it, by the browser; the address that was opened."""
        login = self.login(*arguments, account=account)
        url = self.open()
        pages = self.pages(server)
        pages.log_in()
        pages.allow()
        self.expect_page("Signed in", account)
        status = login.end()
        self.check("authctl login ends with 0", status == 0, login.text)
        return url

    def expect_page(self, title, *words):
        """Our own page, in the browser."""
        self.chromium.find(f"//h1[text()='{title}']")
        text = self.chromium.text("main")
        self.check(f"the browser shows '{title}'", all(word in text for word in words), text)
        found = looks.faults(self.chromium, self.screenshots, title.lower().replace(" ", "-"))
        self.check("which can be read on any screen", not found, "; ".join(found))

    # -- What came of it

    def token(self, account=ACCOUNT):
        return self.daemon.authctl("token", account).stdout.strip()

    def token_is_taken(self, server, client=None, account=ACCOUNT):
        verdict = server.accepts(self.token(account), client)
        self.check(f"the token is good at the server ({verdict[0]})", verdict[1])

    def refreshes(self, account=ACCOUNT):
        """Refreshes on request, and by itself."""
        watch = self.daemon.watch(account)
        before = self.token(account)
        self.daemon.authctl("refresh", account)
        self.check("authctl refresh brings another token", self.token(account) != before)
        watch.expect("token-refreshed", LIFETIME)
        watch.expect("token-refreshed", LIFETIME)
        watch.close()
        self.check("and it is refreshed silently, too", self.daemon.status(account)["state"] in ("fresh", "refreshing"))

    def close(self):
        for login in self.logins:
            login.close()
        if self.chromium is not None:
            self.chromium.quit()
        self.opener.close()
        self.daemon.stop()
        self.ends.close()


class Display:
    """A screen that nobody sees, for a Chromium that has windows."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        # It says its number once it takes clients.
        self.name = f":{self.process.stdout.readline().strip()}"

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


# -- Small things


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def end(pid):
    """Ends a process that was not started here, and waits until it has ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    os.kill(pid, signal.SIGTERM)
    select.select([descriptor], [], [], PATIENCE)
    os.close(descriptor)


def private_file(path, text):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    return str(path)


def claims(token):
    """The claims of a JWT; nobody here doubts its signature."""
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def challenge(verifier):
    """RFC 7636 §4.2."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def verifiers(text, wanted):
    """The words of `text` that are the code verifier of the challenge `wanted`."""
    return [word for word in set(re.findall(r"[A-Za-z0-9_-]{43}", text)) if challenge(word) == wanted]


def processes(mark):
    """Arguments and environment of every process that has `mark` in either."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes() + b"\0" + (folder / "environ").read_bytes()
        except OSError:
            continue
        text = os.fsdecode(words)
        if mark in text:
            yield text
