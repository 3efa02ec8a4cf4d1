"""Mail servers: a Dovecot that asks the issuer about tokens, and a submission server that checks the bytes of SASL."""

import base64
import http.server
import os
import pwd
import re
import shutil
import signal
import socketserver
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

from harness import PATIENCE, Failure
from servers import free_port

USER = "you@example.org"
DOVECOT = """
protocols = imap
listen = 127.0.0.1
base_dir = {folder}/run
state_dir = {folder}/run
log_path = {folder}/log
mail_location = maildir:{folder}/mail
first_valid_uid = 1
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
ssl = required
ssl_cert = <{folder}/ca.crt
ssl_key = <{folder}/key.pem
auth_mechanisms = oauthbearer xoauth2
auth_failure_delay = 0
namespace inbox {{
  inbox = yes
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = 0
  }}
  inet_listener imaps {{
    port = {port}
    ssl = yes
  }}
}}
service anvil {{
  chroot =
}}
service stats {{
  chroot =
}}
passdb {{
  driver = oauth2
  mechanisms = oauthbearer xoauth2
  args = {folder}/oauth2.conf
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={folder}/mail
}}
"""
INTROSPECTION = """
introspection_mode = post
introspection_url = {url}
username_attribute = sub
active_attribute = active
active_value = true
"""


class Dovecot:
    """A Dovecot on a free port, with one message in its inbox. Root starts it as the user nobody."""

    def __init__(self, introspection, certificate, key):
        self.folder = Path(tempfile.mkdtemp(prefix="authrefresh-mail-"))
        self.port = free_port()
        nobody = pwd.getpwnam("nobody")
        user = nobody if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
        group = subprocess.run(["id", "-gn", user.pw_name], capture_output=True, text=True, check=True).stdout.strip()
        shutil.copy(certificate, self.folder / "ca.crt")
        shutil.copy(key, self.folder / "key.pem")
        known = {"folder": self.folder, "port": self.port, "user": user.pw_name, "group": group}
        (self.folder / "dovecot.conf").write_text(DOVECOT.format(**known))
        (self.folder / "oauth2.conf").write_text(INTROSPECTION.format(url=introspection))
        (self.folder / "run").mkdir()
        for name in ("cur", "new", "tmp"):
            (self.folder / "mail" / name).mkdir(parents=True)
        self.deliver("first")
        words = ["dovecot", "-F", "-c", str(self.folder / "dovecot.conf")]
        if os.geteuid() == 0:
            for path in [self.folder, *self.folder.rglob("*")]:
                os.chown(path, user.pw_uid, user.pw_gid)
            words = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", *words]
        environment = {"PATH": f"{os.environ['PATH']}:/usr/sbin"}
        self.process = subprocess.Popen(
            words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        self.wait_for_log("starting up")

    def deliver(self, subject):
        path = self.folder / "mail/new" / f"{time.time_ns()}.test.localhost"
        path.write_text(f"From: a@example.org\nTo: {USER}\nSubject: {subject}\nMessage-ID: <{subject}@example.org>\n\n{subject}\n")
        path.chmod(0o666)

    def log(self):
        path = self.folder / "log"
        return path.read_text() if path.exists() else ""

    def logins(self):
        return self.log().count("Login: user=<")

    def methods(self):
        return set(re.findall(r"Login: user=<[^>]*>, method=([A-Z0-9-]+)", self.log()))

    def wait_for_log(self, words, count=1):
        # Dovecot reports only through its log.
        deadline = time.monotonic() + PATIENCE
        while self.log().count(words) < count:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failure(f"Dovecot did not say \"{words}\": {self.log()[-1500:]}")
            time.sleep(0.05)

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)


class Introspection(http.server.BaseHTTPRequestHandler):
    """Forwards Dovecot's questions to the issuer as a public client. Dovecot would send a password, which that client lacks."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        asked = urllib.parse.urlencode({"token": form["token"], "client_id": "demo"}).encode()
        with urllib.request.urlopen(f"{self.server.issuer}/introspect", asked, timeout=PATIENCE) as answer:
            told = answer.read()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)


def introspection(issuer):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Introspection)
    server.issuer = issuer
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def token_of(mechanism, response, port):
    """The token in a response that is exactly right (RFC 7628 §3.1, and Google's XOAUTH2); None for any other response."""
    headers = f"host=localhost\x01port={port}\x01"
    forms = {
        "OAUTHBEARER": rf"n,a={re.escape(USER)},\x01(?:{re.escape(headers)})?auth=Bearer ([!-~]+)\x01\x01",
        "XOAUTH2": rf"user={re.escape(USER)}\x01auth=Bearer ([!-~]+)\x01\x01",
    }
    found = re.fullmatch(forms[mechanism], response) if mechanism in forms else None
    return found and found[1]


class Session(socketserver.StreamRequestHandler):
    timeout = PATIENCE

    def say(self, line):
        self.wfile.write(line.encode() + b"\r\n")

    def hear(self):
        return self.rfile.readline().decode().rstrip("\r\n")

    def handle(self):
        self.user = False
        self.say("220 localhost")
        while line := self.hear():
            verb, _, rest = line.partition(" ")
            match verb.upper():
                case "EHLO":
                    self.say("250-localhost")
                    self.say(f"250 AUTH {' '.join(self.server.mechanisms)}")
                case "AUTH":
                    self.authenticate(*rest.partition(" ")[::2])
                case "DATA" if self.user:
                    self.say("354 go on")
                    lines = []
                    while (text := self.hear()) != ".":
                        lines.append(text)
                    self.server.messages.append("\n".join(lines))
                    self.say("250 ok")
                case "QUIT":
                    return self.say("221 bye")
                case "MAIL" | "RCPT" if not self.user:
                    self.say("530 authenticate first")
                case _:
                    self.say("250 ok")

    def authenticate(self, mechanism, initial):
        if not initial:
            self.say("334 ")
            initial = self.hear()
        token = token_of(mechanism.upper(), base64.b64decode(initial, validate=True).decode(), self.server.server_address[1])
        self.server.attempts.append((mechanism.upper(), token))
        if token is not None and self.server.admits(token):
            self.user = True
            return self.say("235 welcome")
        self.say("334 " + base64.b64encode(b'{"status":"invalid_token"}').decode())
        self.hear()
        self.say("535 5.7.8 not admitted")


class Submission(socketserver.ThreadingTCPServer):
    """Accepts mail over TLS with a valid token. `attempts` lists mechanism and token; the token is None if the bytes were wrong."""

    daemon_threads = True

    def __init__(self, admits, certificate, key):
        super().__init__(("127.0.0.1", 0), Session)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.port = self.server_address[1]
        self.admits = admits
        self.attempts, self.messages, self.mechanisms = [], [], ["OAUTHBEARER", "XOAUTH2"]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass
