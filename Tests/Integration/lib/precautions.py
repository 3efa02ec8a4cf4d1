"""Other users of the machine can see no secret of a sign-in."""

import base64
import hashlib
import json
import os
import re
import select
import shlex
import shutil
import signal
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from chromium import flags
from harness import PATIENCE
from servers import SECRET, free_port
from signing import ACCOUNT
from ways import StaticHost


def secrets(case):
    """No secret is where other users can see it: arguments, environments, the log, the browser's history."""
    case.start()
    case.add_glewlwyd()
    login = case.login()
    case.open()
    pages = case.pages(case.glewlwyd)
    pages.log_in()
    seen = [*processes(str(case.folder))]
    pages.allow()
    case.expect_page("Signed in", ACCOUNT)
    login.end()
    seen += processes(str(case.folder))
    case.check("the processes were looked at", any("authctl\0login" in text for text in seen) and len(seen) > 5)
    grant = json.loads(case.daemon.authctl("account", "export", ACCOUNT).stdout)
    token = case.token()
    case.daemon.stop()
    case.chromium.quit()
    history = case.chromium.history()
    back = [address for address in history if address.startswith(case.servers.loopback)]
    case.check("the browser's history has one address of ours", len(back) == 1, f"{back}")
    parameters = parse_qs(urlsplit(back[0]).query)
    case.check(
        "which has the code, and nothing else that counts", set(parameters) == {"code", "state", "iss"}, f"{back}"
    )
    everywhere = "\n".join([*seen, case.daemon.log.read_text(), login.text, *history])
    for name, secret in (("access token", token), ("refresh token", grant["refreshToken"]), ("client secret", SECRET)):
        case.check(f"the {name} is nowhere to be seen", secret not in everywhere)
    without_history = "\n".join([*seen, case.daemon.log.read_text(), login.text])
    case.check("the code is in the history alone", parameters["code"][0] not in without_history)
    asked = parse_qs(urlsplit(login.address()).query)
    case.check("no program was started with the state", not any(asked["state"][0] in text for text in seen))
    wanted = asked["code_challenge"][0]
    case.check("the challenge was seen", wanted in everywhere)
    case.check("what it is the challenge of was not", not verifiers(everywhere, wanted))


# A page of another site that tries to reach the listener in every way that a page has. To a browser, "localhost" and 127.0.0.1 are
# different sites.
FOREIGN = """<!doctype html>
<title>Foreign</title>
<form method="post" action="LISTENER"><input name="code" value="stolen"><input name="state" value="guess"></form>
<script>
const [listener, outcomes] = ["LISTENER", {}];
const forged = listener + "?code=stolen&state=guess";
for (const kind of ["img", "script", "iframe"]) {
  const element = document.createElement(kind);
  element.onload = () => { outcomes[kind] = "loaded"; };
  element.onerror = () => { outcomes[kind] = "refused"; };
  element.src = forged;
  document.body.append(element);
}
const body = new URLSearchParams("code=stolen&state=guess");
const requests = { get: [forged, {}], simple: [forged, { mode: "no-cors" }],
  post: [listener, { mode: "no-cors", method: "POST", body }] };
for (const [name, [url, options]] of Object.entries(requests)) {
  fetch(url, options).then((answer) => { outcomes[name] = answer.type; }, () => { outcomes[name] = "refused"; });
}
</script>
"""


def foreign_page(case):
    """A page of another site can neither end a sign-in nor give it an answer. The person's own window can still do both."""
    folder = case.folder / "foreign"
    folder.mkdir()
    (folder / "index.html").write_text(FOREIGN.replace("LISTENER", case.servers.loopback), encoding="utf-8")
    host = StaticHost(free_port(), folder)
    case.ends.callback(host.close)
    case.start()
    case.add_glewlwyd()
    login = case.login()
    url = case.opener.url()
    case.chromium.open(f"http://localhost:{host.server_address[1]}/")
    outcomes = case.chromium.settled("return outcomes", 6)
    case.check("it reads no answer, and loads nothing", outcomes["get"] == outcomes["img"] == outcomes["script"] == "refused",
               f"{outcomes}")  # fmt: skip
    case.check("the sign-in goes on", login.process.poll() is None, login.text)
    case.chromium.run("document.forms[0].submit()")
    case.expect_page("This is not the expected answer", ACCOUNT)
    case.check("and on", login.process.poll() is None, login.text)
    case.chromium.open(url)
    pages = case.pages(case.glewlwyd)
    pages.log_in()
    pages.allow()
    case.expect_page("Signed in", ACCOUNT)
    case.check("the person's own window ends it", login.end() == 0, login.text)


def private(case):
    """`--private` opens a private window of the installed Chromium. Without a browser that has private windows, it opens nothing."""
    case.daemon.start()
    case.add_glewlwyd()
    called, port, profile = case.folder / "called", free_port(), case.folder / "chromium"
    os.mkfifo(called)
    program = case.folder / "bin/chromium"
    program.parent.mkdir()
    options = [*flags(), "--headless=new", f"--remote-debugging-port={port}", f"--user-data-dir={profile}"]
    program.write_text(
        f"#!/bin/sh\nprintf '%s\\n' $$ \"$@\" > '{called}'\n"
        f'exec {shutil.which("chromium")} {shlex.join(options)} "$@" > /dev/null 2>&1\n'
    )
    program.chmod(0o700)
    login = case.login("--private", BROWSER=str(program), HOME=str(case.folder))
    pid, *arguments = called.read_text().splitlines()
    case.ends.callback(end, int(pid))
    case.check("it is told to open a private window", arguments[0] == "--incognito", f"{arguments}")
    url = next(line.strip() for line in login.lines if line.startswith("  http"))
    way = arguments[1:]
    case.check("with a way there, and nothing else", len(way) == 1 and way[0].startswith("http://127.0.0.1:"), f"{way}")
    case.check("which does not show the address", urlsplit(url).query not in way[0], f"{way}")
    case.browse(running=port)
    pages = case.pages(case.glewlwyd)
    pages.log_in()
    pages.allow()
    case.expect_page("Signed in", ACCOUNT)
    case.check("authctl login ends with 0", login.end() == 0, login.text)
    case.chromium.quit()
    end(int(pid))
    case.check("its history is empty", not case.chromium.history())

    other = case.login("--private")
    case.check(
        "a browser that has no private window is not opened",
        (other.end(), case.opener.nothing()) == (78, True),
        other.text,
    )
    none = case.login("--private", BROWSER="", DISPLAY=":9", PATH=str(case.folder / "nothing"))
    case.check("without one it refuses, and says so", none.end() == 78 and "cannot open a private window" in none.text, none.text)
    case.check("and nothing is under way", case.daemon.status(ACCOUNT)["state"] in ("fresh", "refreshing"))


def end(pid):
    """Ends a process that is not our child, and waits until it has ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    os.kill(pid, signal.SIGTERM)
    select.select([descriptor], [], [], PATIENCE)
    os.close(descriptor)


def challenge(verifier):
    """RFC 7636 §4.2."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def verifiers(text, wanted):
    """The words of `text` that are the code verifier for the challenge `wanted`."""
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
