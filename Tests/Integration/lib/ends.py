"""Sign-ins that end without tokens, and sign-outs."""

import json
import os
import select
import shlex
import shutil
import signal
import socket
import time
from contextlib import contextmanager, suppress

from chromium import WebDriverError, flags
from harness import PATIENCE, Failure
from servers import ENCODED_SECRET, SECRET, free_port
from signing import ACCOUNT, Display


def denied(case):
    case.start()
    case.add_django()
    login = case.login()
    case.open()
    case.pages(case.django).log_in()
    case.pages(case.django).deny()
    case.expect_page("The sign-in was declined", ACCOUNT, "access_denied", f"authctl login {ACCOUNT}")
    case.check("authctl login ends with 3, and says who declined", login.end() == 3, login.text)
    case.check("it names the server's word", "access_denied" in login.text, login.text)
    case.check("the account stands as it did", case.daemon.status(ACCOUNT)["state"] == "signed-out")


def windows(case):
    """Two terminals, and the window of a sign-in that another sign-in has replaced."""
    case.start()
    case.add_glewlwyd()
    first = case.login()
    case.open()
    first.expect("  http")
    pages = case.pages(case.glewlwyd)
    pages.log_in()
    second = case.login()
    second.expect("  http")
    case.check("a second authctl login leads to the same address", second.address() == first.address())
    case.opener.url()
    third = case.login("--restart")
    new = case.opener.url()
    case.check("--restart ends both with 75", (first.end(), second.end()) == (75, 75), first.text + second.text)
    pages.allow()
    case.expect_page("This is not the expected answer", ACCOUNT, "--restart")
    case.chromium.new_tab()
    case.chromium.open(new)
    pages.go_on()
    case.expect_page("Signed in", ACCOUNT)
    case.check("the window of the new one signs in", third.end() == 0, third.text)
    case.token_is_taken(case.glewlwyd, f"authrefreshd:{SECRET}")


def window_closed_chromium(case):
    """The person closes a browser window that has a separate profile."""
    port = free_port()
    window = open_window(case, "chromium", *flags(), f"--remote-debugging-port={port}")
    case.browse(running=port)
    case.chromium.find("#username")
    case.chromium.close_window()
    window.expect_cancelled()


def window_dismissed(case):
    """The same window after a sign-in: it closes by itself."""
    port = free_port()
    window = open_window(case, "chromium", *flags(), f"--remote-debugging-port={port}")
    case.browse(running=port)
    pages = case.pages(case.glewlwyd)
    pages.log_in()
    # The window may be gone before the click has been answered.
    with suppress(WebDriverError):
        pages.allow()
    case.check("authctl login ends with 0", window.login.end() == 0, window.login.text)
    case.chromium.session = None
    window.expect_gone()
    case.token_is_taken(case.glewlwyd, f"authrefreshd:{SECRET}")


def window_closed_firefox(case):
    """The person quits Firefox by its menu."""
    port = free_port()
    # authctl passes the profile to the browser as the second argument; in this script, it is $3.
    preferences = f"""printf '%s\\n' 'user_pref("marionette.port", {port});' > "$3/user.js"\n"""
    window = open_window(case, "firefox-esr", "--marionette", before=preferences)
    with marionette(port) as firefox:
        firefox(1, "WebDriver:NewSession", {})
        firefox(2, "Marionette:Quit", {"flags": ["eAttemptQuit"]})
    window.expect_cancelled()


@contextmanager
def marionette(port):
    """Sends commands to the Firefox at `port`, and waits for it first. Each message is a length, a colon and JSON."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port))
            break
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise Failure("Firefox does not listen") from None
            time.sleep(0.05)

    def receive():
        length = b""
        while not length.endswith(b":"):
            length += answers.read(1)
        return json.loads(answers.read(int(length[:-1])))

    def ask(number, command, parameters):
        text = json.dumps([0, number, command, parameters])
        connection.sendall(f"{len(text)}:{text}".encode())
        _, _, error, _ = receive()
        if error:
            raise Failure(f"{command}: {error['message']}")

    with connection, connection.makefile("rb") as answers:
        # Who it is.
        receive()
        yield ask


def open_window(case, name, *options, before=""):
    """A sign-in in a separate window on a screen. `before`: shell commands that run before the shell becomes the browser."""
    display = Display()
    case.ends.callback(display.close)
    case.daemon.start()
    case.add_glewlwyd()
    called = case.folder / "called"
    os.mkfifo(called)
    program = case.folder / "bin" / name
    program.parent.mkdir()
    program.write_text(
        f"#!/bin/sh\n{before}printf '%s\\n' $$ \"$@\" > '{called}'\n"
        f'exec {shutil.which(name)} {shlex.join(options)} "$@" > /dev/null 2>&1\n'
    )
    program.chmod(0o700)
    login = case.login("--temporary-profile", BROWSER=str(program), HOME=str(case.folder), DISPLAY=display.name)
    pid, *arguments = called.read_text().splitlines()
    return Window(case, login, int(pid), arguments)


class Window:
    """A browser that authctl has started for one sign-in."""

    def __init__(self, case, login, pid, arguments):
        self.case, self.login, self.pid = case, login, pid
        self.descriptor = os.pidfd_open(pid)
        case.ends.callback(os.close, self.descriptor)
        marks = ("--user-data-dir=", str(case.folder))
        self.profile = next(word.removeprefix(marks[0]) for word in arguments if word.startswith(marks))

    def expect_cancelled(self):
        login, case = self.login, self.case
        case.check("a window that is closed cancels the sign-in", login.end() == 130, login.text)
        self.expect_gone()
        case.check("and nothing is under way", case.daemon.status(ACCOUNT)["state"] == "signed-out")

    def expect_gone(self):
        self.case.check("its browser has ended", bool(select.select([self.descriptor], [], [], PATIENCE)[0]))
        self.case.check("its profile is gone", not os.path.exists(self.profile), self.profile)


def interrupted(case):
    case.start()
    case.add_django()
    login = case.login()
    case.open()
    case.pages(case.django).log_in()
    login.interrupt()
    case.check("Ctrl-C ends authctl login with 130", login.end() == 130, login.text)
    again = case.login()
    case.opener.url()
    case.pages(case.django).allow()
    address = case.chromium.url()
    case.check("a new sign-in has nothing of it", ACCOUNT not in address and "127.0.0.1" in address, address)
    again.interrupt()
    case.check("nobody was signed in", again.end() == 130 and case.daemon.status(ACCOUNT)["state"] == "signed-out")


def signs_out(case, server, client):
    case.sign_in(server)
    token = case.token()
    grant = json.loads(case.daemon.authctl("account", "export", ACCOUNT).stdout)["refreshToken"]
    case.check("the token is good before", server.introspect(token, client).get("active") is True)
    case.daemon.authctl("logout", ACCOUNT, "--revoke")
    for name, secret in (("access", token), ("refresh", grant)):
        answer = server.introspect(secret, client)
        case.check(
            f"after authctl logout --revoke the {name} token is dead", answer.get("active") is False, f"{answer}"
        )
    before = len(server.refreshes())
    case.daemon.authctl(
        "account", "import", ACCOUNT, "--refresh-token-file", private_file(case.folder / "old", grant), check=False
    )
    answers = {line["status"] for line in server.refreshes()[before:]}
    case.check("and the server refuses to refresh by it", answers and answers <= {400, 403}, f"{answers}")


def logout_glewlwyd(case):
    case.start()
    case.add_glewlwyd()
    signs_out(case, case.glewlwyd, f"authrefreshd:{SECRET}")


def logout_django(case):
    case.start()
    case.add_django()
    signs_out(case, case.django, f"browser:{ENCODED_SECRET}")


def end_session(case):
    """Signs out at the server as well, in the browser."""
    case.start()
    case.add_django()
    case.sign_in(case.django)
    logout = case.run("logout", ACCOUNT, "--revoke", "--end-session")
    url = case.open()
    case.check("authctl logout ends with 0", logout.end() == 0, logout.text)
    case.check(
        "the address that it opened says nothing of whom", url.startswith("http://127.0.0.1:") and "?" not in url, url
    )
    case.check("and leads to the server", case.chromium.url().startswith(case.django.issuer), case.chromium.url())
    login = case.login()
    case.open()
    case.pages(case.django).log_in()
    case.pages(case.django).allow()
    case.expect_page("Signed in", ACCOUNT)
    case.check("the server asks who it is before it signs in again", login.end() == 0, login.text)


def end_session_glewlwyd(case):
    """The same at a server that asks whether to end the session."""
    case.start()
    case.add_glewlwyd(issuer=case.glewlwyd.issuer.replace("/oidc", "/open"))
    case.sign_in(case.glewlwyd)
    logout = case.run("logout", ACCOUNT, "--revoke", "--end-session")
    case.open()
    case.check("authctl logout ends with 0", logout.end() == 0, logout.text)
    case.pages(case.glewlwyd).end_session()
    login = case.login()
    case.open()
    pages = case.pages(case.glewlwyd)
    pages.log_in()
    pages.go_on()
    case.expect_page("Signed in", ACCOUNT)
    case.check("the server asks who it is before it signs in again", login.end() == 0, login.text)


def private_file(path, text):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    return str(path)
