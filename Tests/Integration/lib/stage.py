"""A daemon with one account, and an HTTPS service that accepts its tokens, for the tests of tools."""

import base64
import http.client
import http.server
import json
import os
import shutil
import ssl
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request
from pathlib import Path

from harness import PATIENCE, Daemon, Report
from machine import Issuer

MANIFEST = json.dumps({
    "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "layers": [],
    "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "size": 2, "digest": "sha256:" + "0" * 64},
}).encode()  # fmt: skip


def is_valid(issuer, token):
    """Whether the issuer takes the access token now."""
    request = urllib.request.Request(f"{issuer}/userinfo", headers={"Authorization": f"Bearer {token}"})
    try:
        urllib.request.urlopen(request, timeout=PATIENCE).close()
    except urllib.error.HTTPError:
        return False
    return True


class Handler(http.server.BaseHTTPRequestHandler):
    """An HTTPS service behind a token check. The path decides what it serves."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def credentials(self):
        """Scheme, user name and token of the request."""
        scheme, _, value = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return scheme, None, value
        user, _, token = base64.b64decode(value).decode().partition(":")
        return scheme, user, token

    def admits(self):
        scheme, user, token = self.credentials()
        if not scheme:
            return False
        if not is_valid(self.server.issuer, token):
            self.server.refused.append((scheme, user, token))
            return False
        self.server.admitted.append((scheme, user, token))
        return True

    def body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def do_GET(self):
        body = self.body()
        if not self.admits():
            self.send_response(401)
            for challenge in self.server.challenges:
                self.send_header("WWW-Authenticate", challenge)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path.startswith("/team/"):
            self.git(body)
        elif self.path.startswith("/v2/"):
            self.answer(200, MANIFEST if "manifests" in self.path else b"{}", Content_Type=json.loads(MANIFEST)["mediaType"])
        else:
            self.answer(200, b'{"major":"1","minor":"30","gitVersion":"v1.30.0"}', Content_Type="application/json")

    do_POST = do_GET

    def git(self, body):
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(self.server.repositories), "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command, "PATH_INFO": path, "QUERY_STRING": query, "REMOTE_USER": "work",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""), "HOME": str(self.server.repositories),
        }  # fmt: skip
        answer = subprocess.run(["git", "http-backend"], env=environment, input=body, capture_output=True, timeout=PATIENCE)
        head, _, content = answer.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        status = int(headers.pop("Status", "200").split()[0])
        self.answer(status, content, **headers)


class Gate(Handler):
    """A server of others, at the port `behind`, behind a token check. A request that passes is forwarded with the user's name, without the token."""

    def do_GET(self):
        body = self.body()
        if not self.admits():
            return self.answer(401, WWW_Authenticate='Basic realm="tools"')
        connection = http.client.HTTPConnection("127.0.0.1", self.server.behind, timeout=PATIENCE)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in ("authorization", "content-length", "transfer-encoding"):
                connection.putheader(name, value)
        connection.putheader("X-Remote-User", "you")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(name, value)
        self.send_header("Content-Length", answer.getheader("Content-Length") or str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        connection.close()

    do_POST = do_PUT = do_PATCH = do_HEAD = do_DELETE = do_OPTIONS = do_PROPFIND = do_REPORT = do_MKCOL = do_MOVE = do_GET


class Service:
    def __init__(self, issuer, folder, handler=Handler):
        self.certificate, self.key = folder / "ca.crt", folder / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost", "-keyout", self.key, "-out", self.certificate],
            check=True, capture_output=True,
        )  # fmt: skip
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.server.issuer = issuer
        self.server.repositories = folder / "repositories"
        self.server.challenges = ['Basic realm="tools"']
        self.forget()
        self.host = f"localhost:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def forget(self):
        self.server.admitted, self.server.refused = [], []

    def schemes(self):
        return {(scheme, user) for scheme, user, _ in self.server.admitted}


class Stage:
    """A daemon with the account `work`, a service that accepts its tokens, and the links by which tools find their helpers."""

    def __init__(self, name, options, subject="alice", handler=Handler):
        self.report = Report(name)
        self.check = self.report.check
        self.options = options
        self.folder = Path(tempfile.mkdtemp(prefix="authrefresh-"))
        self.issuer = Issuer(str(options.binaries / "authdemo"), "600s")
        self.issuer.ask("policy", {"id_tokens": "on"})
        self.daemon = Daemon(options.binaries, self.folder)
        self.subject = subject
        self.service = Service(self.issuer.url, self.folder, handler)
        links = self.folder / "bin"
        links.mkdir()
        for link in ("authctl", "git-credential-authctl", "docker-credential-authctl", "bazel-credential-authctl"):
            (links / link).symlink_to(options.binaries / "authctl")
        # Not in PATH, because it is nobody's usual keyring.
        self.keyring = self.folder / "keyring"
        self.keyring.mkdir()
        (self.keyring / "keyring").symlink_to(options.binaries / "authctl")
        self.environment = {**self.daemon.environment, "PATH": f"{links}:{os.environ['PATH']}", "LC_ALL": "C"}

    def start(self):
        self.daemon.start()
        self.daemon.authctl(
            "account", "add", "work", "--issuer", self.issuer.url, "--client-id", "demo", "--scope", "openid",
            "--refresh-token-file", self.grant(),
        )  # fmt: skip

    def grant(self):
        """A file with a new grant's refresh token."""
        grant = self.issuer.ask("grants", {"client_id": "demo", "scope": "openid", "subject": self.subject})["grants"][0]
        self.family = grant["family"]
        file = self.folder / "grant"
        file.touch(mode=0o600)
        file.write_text(grant["refresh_token"])
        return str(file)

    def token(self):
        return self.daemon.authctl("token", "work").stdout.strip()

    def revoke(self):
        self.issuer.ask(f"grants/{self.family}/revoke-access-tokens", {})

    def run(self, *words, input="", **environment):
        # In a session of its own, the program has no terminal for questions.
        return subprocess.run(
            words, env={**self.environment, **environment}, input=input, capture_output=True, text=True, timeout=PATIENCE * 2,
            start_new_session=True,
        )  # fmt: skip

    def succeeds(self, text, *words, **environment):
        answer = self.run(*words, **environment)
        self.check(text, answer.returncode == 0, answer.stderr.strip() or answer.stdout.strip())
        return answer

    def has(self, program):
        if shutil.which(program) is None:
            self.report.line("skip", f"no {program}")
        return shutil.which(program) is not None

    def close(self):
        try:
            self.daemon.stop()
        finally:
            self.service.server.shutdown()
            self.issuer.process.terminate()
            self.issuer.process.wait()
            shutil.rmtree(self.folder, ignore_errors=True)
