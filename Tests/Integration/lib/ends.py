"""How sign-ins end that bring nothing, and how one is signed out."""

import json
import os
import select
import shlex
import shutil
import signal

from chromium import flags
from harness import PATIENCE
from servers import ENCODED_SECRET, SECRET
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
    """Two terminals, and the window of a sign-in that another one has taken the place of."""
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
    case.expect_page("This is not the answer that is waited for", ACCOUNT, "--restart")
    case.chromium.new_tab()
    case.chromium.open(new)
    pages.go_on()
    case.expect_page("Signed in", ACCOUNT)
    case.check("the window of the new one signs in", third.end() == 0, third.text)
    case.token_is_taken(case.glewlwyd, f"authrefreshd:{SECRET}")


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
    """Signed out at the server as well, in the browser."""
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
    """The same at a server that asks whether it is to end the session."""
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
