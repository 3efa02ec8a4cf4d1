"""What every case of `sign-in` has: its own daemon, terminal and Chromium, and the program that opens Chromium."""

import subprocess
from contextlib import ExitStack
from pathlib import Path

import looks
from chromium import Chromium
from harness import PATIENCE, Daemon, Report
from person import DjangoPages, GlewlwydPages, Opener, Terminal
from servers import DJANGO, GLEWLWYD

ACCOUNT = "work"


class Case:
    """One way to sign in, in a separate folder. `close` ends what it started."""

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
        self.terminals, self.chromium = [], None
        # Other things to end. The last one is ended first.
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
        # Its client is registered with this one.
        redirect = [] if "--provider" in arguments else ["--redirect-uri", "http://127.0.0.1/"]
        self.add("--issuer", self.django.issuer, "--client-id", "browser", "--client-secret-file",
                 self.django.client_secret_file, "--scope", "openid read", *redirect, *arguments, account=account)  # fmt: skip

    # -- Signing in

    def login(self, *arguments, account=ACCOUNT, **environment):
        return self.run("login", account, *arguments, **environment)

    def run(self, *arguments, **environment):
        """An authctl command that may open a browser, and keeps running."""
        terminal = Terminal(self.daemon, *arguments, environment={"BROWSER": str(self.opener.program), **environment})
        self.terminals.append(terminal)
        return terminal

    def open(self):
        """Opens in Chromium the address that authctl opened. It leads to the server once, and reveals nothing about it."""
        url = self.opener.url()
        self.chromium.open(url)
        return url

    def pages(self, server):
        return (GlewlwydPages if server is self.glewlwyd else DjangoPages)(self.chromium)

    def sign_in(self, server, *arguments, account=ACCOUNT):
        """Signs in with the browser, and returns the address that authctl showed."""
        login = self.login(*arguments, account=account)
        self.open()
        pages = self.pages(server)
        pages.log_in()
        pages.allow()
        self.expect_page("Signed in", account)
        status = login.end()
        self.check("authctl login ends with 0", status == 0, login.text)
        return login.address()

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
        watch.expect("token-refreshed", PATIENCE)
        watch.expect("token-refreshed", PATIENCE)
        watch.close()
        self.check("and it is refreshed silently, too", self.daemon.status(account)["state"] in ("fresh", "refreshing"))

    def close(self):
        for terminal in self.terminals:
            terminal.close()
        if self.chromium is not None:
            self.chromium.quit()
        self.opener.close()
        self.daemon.stop()
        self.ends.close()


class Display:
    """A virtual screen, for a Chromium with windows."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        # Xvfb prints the number of its display once it accepts clients.
        self.name = f":{self.process.stdout.readline().strip()}"

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
