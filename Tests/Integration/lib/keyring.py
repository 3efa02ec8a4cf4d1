"""A separate session bus, with Debian's GNOME Keyring on it."""

import os
import select
import signal
import subprocess
import time
from pathlib import Path

from harness import PATIENCE, Failure
from jeepney import DBusAddress, MatchRule, message_bus, new_method_call
from jeepney.io.blocking import Proxy, open_dbus_connection

SECRETS = "/org/freedesktop/secrets"
LOGIN = f"{SECRETS}/collection/login"
PASSWORD = b"a password"


class Bus:
    """A dbus-daemon with a socket in `folder`, and a connection to it."""

    def __init__(self, folder):
        self.address = f"unix:path={folder}/bus"
        configuration = Path(folder) / "bus.conf"
        configuration.write_text(
            f'<busconfig><type>session</type><listen>{self.address}</listen><auth>EXTERNAL</auth>'
            '<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>'
            '<allow own="*"/></policy></busconfig>',
            encoding="ascii",
        )
        self.process = subprocess.Popen(
            ["dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile", "--print-address=1"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        # dbus-daemon prints the address once it listens.
        if not self.process.stdout.readline().startswith("unix:"):
            raise Failure("dbus-daemon did not start")
        self.connection = open_dbus_connection(self.address)
        rule = MatchRule(type="signal", sender="org.freedesktop.DBus", member="NameOwnerChanged")
        Proxy(message_bus, self.connection, timeout=PATIENCE).AddMatch(rule)
        self.rule = rule

    def call(self, path, interface, method, signature=None, body=(), name="org.freedesktop.secrets"):
        address = DBusAddress(path, name, interface)
        reply = self.connection.send_and_get_reply(
            new_method_call(address, method, signature, body), timeout=PATIENCE
        )
        if reply.header.message_type.name == "error":
            raise Failure(f"{interface}.{method}: {reply.header.fields} {reply.body}")
        return reply.body

    def close(self):
        self.connection.close()
        self.process.kill()
        self.process.wait()


class Keyring:
    """gnome-keyring-daemon on `bus`. Its keyrings are below `home`; `secrets` has the items in its login keyring."""

    def __init__(self, bus, home, unlocked):
        self.bus = bus
        self.runtime = Path(home) / f"keyring-{os.urandom(4).hex()}"
        self.runtime.mkdir(mode=0o700)
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(self.runtime),
            "DBUS_SESSION_BUS_ADDRESS": bus.address,
        }  # fmt: skip
        command = ["gnome-keyring-daemon", "--foreground", "--components=secrets"] + ["--unlock"] * unlocked
        with bus.connection.filter(bus.rule) as owners:
            self.process = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            self.process.stdin.write(PASSWORD if unlocked else b"")
            self.process.stdin.close()
            while True:
                owner = bus.connection.recv_until_filtered(owners, timeout=PATIENCE).body
                if owner[0] == "org.freedesktop.secrets" and owner[2]:
                    return

    def service(self, method, signature=None, body=()):
        return self.bus.call(SECRETS, "org.freedesktop.Secret.Service", method, signature, body)

    def items(self):
        """The label and attributes of all our items."""
        unlocked, locked = self.service("SearchItems", "a{ss}", ({"xdg:schema": "io.authrefresh.StoreKey"},))
        return [self.item(path) for path in unlocked + locked]

    def item(self, path):
        (values,) = self.bus.call(
            path, "org.freedesktop.DBus.Properties", "GetAll", "s", ("org.freedesktop.Secret.Item",)
        )
        return {name: value for name, (_, value) in values.items()}

    def secret(self):
        """The contents of our one item."""
        unlocked, _ = self.service("SearchItems", "a{ss}", ({"xdg:schema": "io.authrefresh.StoreKey"},))
        _, session = self.service("OpenSession", "sv", ("plain", ("s", "")))
        (secrets,) = self.service("GetSecrets", "aoo", (unlocked, session))
        return bytes(secrets[unlocked[0]][2])

    def lock(self):
        self.service("Lock", "ao", ([LOGIN],))

    def unlock(self):
        """Unlocks the keyring without a prompt, as a login does."""
        _, session = self.service("OpenSession", "sv", ("plain", ("s", "")))
        self.bus.call(
            SECRETS, "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface", "UnlockWithMasterPassword",
            "o(oayays)", (LOGIN, (session, b"", PASSWORD, "text/plain")),
        )  # fmt: skip

    def stop(self):
        self.process.kill()
        self.process.wait()
