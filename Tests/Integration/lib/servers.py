"""The servers of all sign-ins."""

import json
import socket
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from foreign import ForeignServer
from harness import PATIENCE
from person import PASSWORD, USER

SCHEME_REDIRECT = "com.example.authrefreshd:/callback"
# The lifetime of an access token in seconds. A test waits half of it for a silent refresh. The other half is longer than what a busy
# machine needs to use a token that it was just given.
LIFETIME = 16
SECRET = "s3cret-%:&+/x"
ENCODED_SECRET = "s3cret-%25%3A%26%2B%2Fx"
GLEWLWYD, DJANGO = "glewlwyd", "django-oauth-toolkit"


class Servers:
    """glewlwyd, which accepts only registered addresses, and django-oauth-toolkit, which accepts any loopback port."""

    def __init__(self, installed, folder):
        self.port = free_port()
        self.loopback = f"http://127.0.0.1:{self.port}/callback"
        # The address of a user's own page, for a server that answers with a form.
        self.relay_port = free_port()
        self.relay = f"http://127.0.0.1:{self.relay_port}/back/"
        # The address of such a page on a host with TLS.
        self.page_port = free_port()
        self.page = f"https://localhost:{self.page_port}/back/"
        lifetime = {"AT_TTL": str(LIFETIME)}
        redirects = {GLEWLWYD: f"{self.loopback} {self.relay} {self.page}", DJANGO: "http://127.0.0.1/"}
        self.running = {
            name: ForeignServer(name, installed, folder, {**lifetime, "REDIRECTS": f"{redirect} {SCHEME_REDIRECT}"})
            for name, redirect in redirects.items()
        }

    def __getitem__(self, name):
        return self.running[name]

    def start(self):
        with ThreadPoolExecutor() as pool:
            list(pool.map(ForeignServer.start, self.running.values()))

    def forget_consent(self, client):
        """Makes glewlwyd ask alice again. django-oauth-toolkit asks each time."""
        root = self[GLEWLWYD].issuer.rsplit("/", 1)[0]
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        for method, path, body in (
            ("POST", "/auth/", {"username": USER, "password": PASSWORD}),
            ("PUT", f"/auth/grant/{client}", {"scope": ""}),
        ):
            headers = {"Content-Type": "application/json"}
            request = urllib.request.Request(root + path, json.dumps(body).encode(), headers, method=method)
            opener.open(request, timeout=PATIENCE).close()

    def stop(self):
        for server in self.running.values():
            server.script("stop")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
