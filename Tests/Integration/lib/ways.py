"""The ways to sign in. Each case completes the sign-in, and refreshes afterwards."""

import base64
import hashlib
import json
import os
import re
import shutil
import ssl
import subprocess
import textwrap
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from foreign import ask
from servers import ENCODED_SECRET, SCHEME_REDIRECT, SECRET
from signing import ACCOUNT, Display

REPOSITORY = Path(__file__).resolve().parents[3]


def glewlwyd(case):
    case.start()
    case.add_glewlwyd()
    url = case.sign_in(case.glewlwyd)
    case.check(
        "nothing but the authorization endpoint was opened", url.startswith(case.glewlwyd.issuer + "/auth?"), url
    )
    case.token_is_taken(case.glewlwyd, f"authrefreshd:{SECRET}")
    case.refreshes()


def django(case):
    case.start()
    case.add_django()
    case.sign_in(case.django)
    case.token_is_taken(case.django, f"browser:{ENCODED_SECRET}")
    case.refreshes()


def over_ssh(host, address, code):
    """The output of authctl over SSH as the page shows it, with this host, address and code instead of the page's."""
    page = REPOSITORY / "Sources/authrefreshd/Documentation.docc/Accounts-and-signing-in.md"
    session = page.read_text(encoding="utf-8").split("    $ ssh server\n    $ authctl login work\n")[1]
    text = textwrap.dedent(session.split("Ctrl-C cancels.")[0]) + "Ctrl-C cancels."
    text = re.sub(r"sign in at \S+:", f"sign in at {host}:", text)
    return re.sub(r"code: \S+", f"code: {code}", re.sub(r"https://\S+", address, text))


def device_glewlwyd(case):
    """Over SSH, where authctl chooses device codes by itself."""
    case.start()
    case.add_glewlwyd()
    login = case.login(SSH_CONNECTION="192.0.2.1 50000 192.0.2.2 22", BROWSER="", DISPLAY=":10")
    code = login.expect("  code: ").split()[-1]
    login.expect("Ctrl-C cancels.")
    address = login.address()
    told = over_ssh(urlsplit(address).netloc, address, code)
    case.check("it says what the page says", login.text == told, f"{login.text!r}, not {told!r}")
    case.chromium.open(address)
    pages = case.pages(case.glewlwyd)
    pages.type_code(code)
    pages.log_in()
    pages.allow()
    case.chromium.find("//h4[contains(., 'Authorization complete')]")
    case.check("authctl login ends with 0", login.end() == 0, login.text)
    case.token_is_taken(case.glewlwyd, f"authrefreshd:{SECRET}")
    case.refreshes()


def device_django(case):
    # Neither of the server's metadata documents names the device authorization endpoint.
    endpoint = f"device_authorization_endpoint: {case.django.issuer}/device-authorization/"
    case.profile("with-device", endpoint)
    case.start()
    case.add(
        "--issuer", case.django.issuer, "--provider", "with-device", "--client-id", "device", "--scope", "openid read"
    )
    login = case.login("--flow", "device")
    code = login.expect("  code: ").split()[-1]
    case.chromium.open(login.address())
    pages = case.pages(case.django)
    pages.log_in()
    pages.type_code(code)
    pages.accept()
    case.chromium.find("//h1[contains(., 'Device Authorized')]")
    case.check("authctl login ends with 0", login.end() == 0, login.text)
    case.token_is_taken(case.django, f"browser:{ENCODED_SECRET}")
    case.refreshes()


def pushed(case):
    """A server that accepts only pushed requests (RFC 9126). The browser's address has a reference, the parameters that OpenID
    Connect requires, and the redirect URI, which some servers want there, too."""
    case.start()
    case.add_glewlwyd(issuer=case.glewlwyd.issuer.replace("/oidc", "/par"))
    url = case.sign_in(case.glewlwyd)
    sent = parse_qs(urlsplit(url).query)
    case.check("the address has the client and a reference, and nothing that is to be kept", set(sent) == {"client_id", "redirect_uri", "request_uri", "response_type", "scope"}, url)
    requests = [line["status"] for line in case.glewlwyd.requests() if line["path"] == "/api/par/par"]
    case.check(
        "the request was pushed, the first time to find out the form of the secret",
        requests == [403, 201],
        f"{requests}",
    )
    case.refreshes()


def bound(case):
    """Tokens that are bound to a key (RFC 9449), at a server that requires its nonce in each proof."""
    case.start()
    case.add_glewlwyd("--dpop", issuer=case.glewlwyd.issuer.replace("/oidc", "/dpop"), client="bound")
    case.sign_in(case.glewlwyd)
    first = claims(case.token())["cnf"]["jkt"]
    case.check("the token is bound to a key", len(first) == 43, first)
    case.refreshes()
    case.check("and so is its successor, to the same", claims(case.token())["cnf"]["jkt"] == first)
    endpoint = case.glewlwyd.metadata["userinfo_endpoint"].replace("/oidc", "/dpop")
    answer = ask_with_proof(case, endpoint)
    case.check("the server wants its nonce in a proof", answer.get("status") == 401 and answer["nonce"], f"{answer}")
    answer = ask_with_proof(case, endpoint, "--dpop-nonce", answer["nonce"])
    case.check("with such a proof the token is good at the server (userinfo)", "sub" in answer, f"{answer}")
    requests = [line for line in case.glewlwyd.requests() if line["path"] == "/api/dpop/token"]
    case.check("every request had a proof", all(line["proof"] for line in requests), f"{requests}")
    refusals = [line for line in requests if line["status"] != 200]
    case.check("one was refused, for the server to name its nonce", len(refusals) == 1, f"{refusals}")


def ask_with_proof(case, endpoint, *arguments):
    """The server's answer to the token and the proof that `authctl token --dpop` prints."""
    words = ("token", ACCOUNT, "--json", "--dpop", "GET", endpoint, *arguments)
    told = json.loads(case.daemon.authctl(*words).stdout)
    return ask(endpoint, None, f"DPoP {told['accessToken']}", {"DPoP": told["dpopProof"]})


def signed(case):
    """A client that authenticates with a key (RFC 7523)."""
    case.start()
    key = case.glewlwyd.client_secret_file.replace("client-secret", "client-key")
    case.add_glewlwyd("--client-auth", "private_key_jwt", "--client-key-file", key, client="signed")
    case.sign_in(case.glewlwyd)
    case.refreshes()
    before = len(case.glewlwyd.requests())
    case.daemon.authctl("refresh", ACCOUNT)
    requests = [line for line in case.glewlwyd.requests()[before:] if line["grant_type"]]
    proved = [(line["status"], line["assertion"]) for line in requests]
    case.check("refreshing takes one request, with an assertion", set(proved) == {(200, True)}, f"{requests}")
    # The daemon has to find out again which audience its assertions must name.
    case.daemon.stop()
    case.daemon.start()
    case.refreshes()


def registered(case):
    """A client that registers itself (RFC 7591), and is deleted when no account needs it any more."""
    case.start()
    issuer = case.glewlwyd.issuer.replace("/oidc", "/open")
    case.add("--issuer", issuer, "--register", "--redirect-uri", case.servers.loopback, "--scope", "openid api")
    shown = json.loads(case.daemon.authctl("account", "show", ACCOUNT, "--json").stdout)
    client = shown["settings"]["clientId"]
    case.check("the server gave out a client id", len(client) > 8, client)
    url = case.sign_in(case.glewlwyd)
    case.check("which the browser shows the server", f"client_id={client}" in url, url)
    case.refreshes()
    logout = case.daemon.authctl("logout", ACCOUNT, "--forget")
    case.check("--forget has it deleted again", "the client is deregistered" in logout.stdout, logout.stdout)
    seen = [line["status"] for line in case.glewlwyd.requests() if line["path"].startswith("/api/open/register/")]
    # Before the first sign-in, the daemon has read the client's registration.
    case.check("as the server has seen", seen == [200, 200], f"{seen}")
    case.check("and the account is gone", case.daemon.authctl("status", ACCOUNT, check=False).returncode == 4)


def form_post(case):
    """The answer comes as a form that the server's page sends."""
    case.profile("by-form", f"redirect_uri: {case.servers.loopback}", "response_mode: form_post")
    case.start()
    # This issuer of glewlwyd puts no `iss` into its answers. In forms, glewlwyd would encode `iss` twice.
    case.add_glewlwyd("--provider", "by-form", issuer=case.glewlwyd.issuer.replace("/oidc", "/dpop"))
    case.sign_in(case.glewlwyd)
    shown = case.chromium.url()
    case.check("the address has neither code nor state", shown == case.servers.loopback, shown)


class StaticHost(ThreadingHTTPServer):
    """A host that serves files and accepts no uploads. `requests` has the first line of each request."""

    def __init__(self, port, folder, certificate=None):
        """`certificate`: a PEM file with its key, for https."""
        self.requests = requests = []

        class Handler(SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=folder)

            def log_request(self, *_):
                requests.append(self.requestline)

            def log_message(self, *_):
                """Does nothing, because the list `requests` is the log."""

        super().__init__(("127.0.0.1", port), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            # Each connection does the handshake in its own thread: browsers connect in advance, and may refuse the certificate.
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """Ignores a connection that the browser gives up."""

    def close(self):
        self.shutdown()
        self.server_close()


def relay_host(case, port, certificate=None):
    """A host that serves the page of etc/relay at /back/ until the case ends."""
    host = StaticHost(port, case.folder / "host", certificate)
    case.ends.callback(host.close)
    shutil.copytree(REPOSITORY / "etc/relay", case.folder / "host/back")
    return host


def relay(case):
    """The server answers with a form to the user's own page (etc/relay). The user pastes the address of that page."""
    host = relay_host(case, case.servers.relay_port)
    case.profile("by-relay", f"redirect_uri: {case.servers.relay}", "response_mode: form_post")
    case.start()
    case.add_glewlwyd("--provider", "by-relay", issuer=case.glewlwyd.issuer.replace("/oidc", "/dpop"))
    case.chromium.open(case.servers.relay)
    case.expect_page("Ready", "--flow paste")
    login = case.login("--flow", "paste")
    case.open()
    pages = case.pages(case.glewlwyd)
    pages.log_in()
    pages.allow()
    case.expect_page("Back from the sign-in", "paste it")
    shown = case.chromium.text("#address")
    case.check(
        "the page shows the whole address", shown.startswith(f"{case.servers.relay}?") and "code=" in shown, shown
    )
    case.check("and keeps it out of its own", case.chromium.url() == case.servers.relay, case.chromium.url())
    code = parse_qs(shown.split("?")[1])["code"][0]
    seen = "\n".join(host.requests)
    case.check("the host has seen no form, and no code", "POST" not in seen and code not in seen, seen)
    login.paste(shown)
    case.check("authctl login ends with 0", login.end() == 0, login.text)
    case.chromium.quit()
    case.check("the browser's history has none either", not any(code in address for address in case.chromium.history()))
    case.refreshes()


def desktop(case):
    """The environment of a desktop that has `authctl-callback.desktop` among its applications."""
    prefix = case.folder / "prefix"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin/authctl").symlink_to(case.daemon.binaries / "authctl")
    data = {"XDG_DATA_HOME": str(case.folder / "data"), "XDG_DATA_DIRS": "/usr/share"}
    script = 'source "$0/systemd/common.bash" && set_prefix "$1" && install_desktop_entry "$0/systemd/authctl-callback.desktop"'
    subprocess.run(
        ["bash", "-c", script, REPOSITORY, prefix], env={**os.environ, **data}, check=True, stdout=subprocess.DEVNULL
    )
    display = Display()
    case.ends.callback(display.close)
    return {**data, "DISPLAY": display.name}


def browse_opening(case, address, scheme, desktop, **options):
    """A Chromium whose user has ticked "always open these links" for the site of this address."""
    site = "/".join(address.split("/")[:3])
    case.browse(
        environment={**case.daemon.environment, **desktop},
        headless=False,
        preferences={"protocol_handler": {"allowed_origin_protocol_pairs": {site: {scheme: True}}}},
        **options,
    )


def page(case):
    """The answer goes to the user's own page on https. The page passes it to authctl through xdg-open, so nothing is pasted."""
    host = relay_host(case, case.servers.page_port, certificate(case))
    case.profile("by-page", f"redirect_uri: {case.servers.page}")
    surroundings = desktop(case)
    case.daemon.start()
    case.add_glewlwyd("--provider", "by-page")
    browse_opening(case, case.servers.page, "io.authrefresh", surroundings, trusting=True)
    login = case.login(**surroundings)
    case.open()
    pages = case.pages(case.glewlwyd)
    pages.log_in()
    pages.allow()
    case.expect_page("Back from the sign-in", "Hand this address to authctl", "paste it")
    case.check("the address says nothing any more", case.chromium.url() == case.servers.page, case.chromium.url())
    case.chromium.click("#open")
    case.check("authctl login ends with 0", login.end() == 0, login.text)
    case.token_is_taken(case.glewlwyd, f"authrefreshd:{SECRET}")


def hybrid(case):
    """A code and an ID token come together in a form to loopback. Then an ID token comes alone, after the "#" in the address of the
    user's own page."""
    host = relay_host(case, case.servers.page_port, certificate(case))
    case.profile("by-page", f"redirect_uri: {case.servers.page}")
    surroundings = desktop(case)
    case.daemon.start()
    browse_opening(case, case.servers.page, "io.authrefresh", surroundings, trusting=True)
    # This issuer of glewlwyd puts no `iss` into its answers. In forms, glewlwyd would encode `iss` twice.
    case.add_glewlwyd(issuer=case.glewlwyd.issuer.replace("/oidc", "/dpop"))
    url = case.sign_in(case.glewlwyd, "--response-type", "code id_token", "--nonce", "of-a-back-end")
    case.check("both were asked for, by a form", "code%20id_token" in url and "response_mode=form_post" in url, url)
    nonce = claims(case.daemon.authctl("token", ACCOUNT, "--id-token").stdout)["nonce"]
    case.check("the ID token has the nonce of the back end", nonce == "of-a-back-end", nonce)
    before = case.token()
    case.daemon.authctl("refresh", ACCOUNT)
    case.check("authctl refresh brings another token", case.token() != before)

    case.add_glewlwyd("--provider", "by-page", account="alone")
    login = case.login("--response-type", "id_token", "--nonce", "of-a-back-end", account="alone", **surroundings)
    case.open()
    pages = case.pages(case.glewlwyd)
    pages.allow()
    case.expect_page("Back from the sign-in", "/back/#", "id_token=", "Hand this address to authctl")
    case.chromium.click("#open")
    case.check("authctl login ends with 0", login.end() == 0, login.text)
    told = claims(login.lines[-1])
    case.check("and prints an ID token with that nonce", told["nonce"] == "of-a-back-end", f"{told}")
    case.check("the account has no grant", case.daemon.status("alone")["state"] == "signed-out")
    seen = "\n".join(host.requests)
    case.check("the page's host has not seen it", "id_token" not in seen, seen)


def web_session(case):
    """The same page, for another program: `authctl web-session` gives it the whole address."""
    host = relay_host(case, case.servers.page_port, certificate(case))
    surroundings = desktop(case)
    case.daemon.start()
    browse_opening(case, case.servers.page, "io.authrefresh", surroundings, trusting=True)
    answer = f"{case.servers.page}?token=sesame#more"
    session = case.run("web-session", answer, "--callback", case.servers.page, **surroundings)
    case.open()
    case.expect_page("Back from the sign-in", answer)
    case.chromium.click("#open")
    case.check("authctl web-session ends with 0", session.end() == 0, session.text)
    case.check("and prints the whole address", session.lines[-1] == answer, session.text)


def web_session_loopback(case):
    """A program signs in for itself. It gets the server's answer, and the daemon has no account for it."""
    case.start()
    verifier = base64.urlsafe_b64encode(os.urandom(32)).rstrip(b"=")
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier).digest()).rstrip(b"=").decode()
    query = {
        "response_type": "code",
        "client_id": "authrefreshd",
        "redirect_uri": case.servers.loopback,
        "scope": "openid api",
        "state": "of-its-own",
        "nonce": "too",
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    case.servers.forget_consent("authrefreshd")
    address = f"{case.glewlwyd.metadata['authorization_endpoint']}?{urlencode(query)}"
    session = case.run("web-session", address, "--callback", case.servers.loopback)
    case.open()
    pages = case.pages(case.glewlwyd)
    pages.log_in()
    pages.allow()
    case.expect_page("Done here", "handed the answer")
    case.check("authctl web-session ends with 0", session.end() == 0, session.text)
    answer = session.lines[-1]
    told = parse_qs(urlsplit(answer).query)
    case.check("the address is at the callback", answer.startswith(f"{case.servers.loopback}?"), answer)
    case.check("and has the code, and the program's state", "code" in told and told["state"] == ["of-its-own"], answer)


def certificate(case):
    """Makes a self-signed certificate for localhost, with its key in the same file."""
    path = case.folder / "page.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", path, "-out", f"{path}.crt"],
        check=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with open(path, "a", encoding="utf-8") as file:
        file.write(Path(f"{path}.crt").read_text(encoding="utf-8"))
    return path


def scheme(case):
    """The answer comes by a URI scheme. Chromium passes the address to xdg-open, which passes it to the program in the desktop entry."""
    case.profile("by-scheme", f"redirect_uri: {SCHEME_REDIRECT}")
    surroundings = desktop(case)
    case.daemon.start()
    case.add_glewlwyd("--provider", "by-scheme")
    browse_opening(case, case.glewlwyd.issuer, SCHEME_REDIRECT.split(":")[0], surroundings)
    login = case.login("--flow", "scheme", **surroundings)
    case.open()
    login.expect("the desktop now hands addresses like")
    pages = case.pages(case.glewlwyd)
    pages.log_in()
    pages.allow(leaves=False)
    case.check("authctl login ends with 0", login.end() == 0, login.text)
    case.token_is_taken(case.glewlwyd, f"authrefreshd:{SECRET}")


def claims(token):
    """The claims of a JWT. The signature is not checked."""
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
