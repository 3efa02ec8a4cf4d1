"""A real sshd on loopback, with a key only for one test."""

import os
import socket
import subprocess
from pathlib import Path

from harness import PATIENCE
from survival import wait_until

PROGRAM = "/usr/sbin/sshd"
SEPARATION = Path("/run/sshd")


class Sshd:
    """An sshd of this user, on a free port. `settings` win over its own."""

    def __init__(self, folder, *settings):
        self.folder = folder
        for name in ("host", "user"):
            key = folder / f"{name}-key"
            if not key.exists():
                subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True, timeout=PATIENCE)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        # The first value of a setting holds.
        lines = [
            *settings, f"ListenAddress 127.0.0.1:{self.port}", f"HostKey {folder}/host-key", "PidFile none", "UsePAM no",
            f"AuthorizedKeysFile {folder}/user-key.pub", "StrictModes no", "PermitRootLogin prohibit-password",
            "PasswordAuthentication no", "KbdInteractiveAuthentication no",
        ]  # fmt: skip
        (folder / "sshd_config").write_text("\n".join(lines) + "\n", encoding="utf-8")
        public = (folder / "host-key.pub").read_text(encoding="ascii").split()[:2]
        (folder / "known").write_text(f"[127.0.0.1]:{self.port} {' '.join(public)}\n", encoding="ascii")
        # systemd creates this folder for the packaged sshd.
        self.made_separation = os.geteuid() == 0 and not SEPARATION.exists()
        if self.made_separation:
            SEPARATION.mkdir(mode=0o755)
        self.log = open(folder / "sshd.log", "wb")
        self.process = subprocess.Popen([PROGRAM, "-D", "-e", "-f", folder / "sshd_config"], stderr=self.log)
        wait_until("sshd does not listen", self.listens, PATIENCE)

    def listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    @property
    def settings(self):
        """What a client needs, as values of `ssh -o`."""
        return [
            f"Port={self.port}", f"UserKnownHostsFile={self.folder}/known", f"IdentityFile={self.folder}/user-key",
            "StrictHostKeyChecking=yes", "IdentitiesOnly=yes", "IdentityAgent=none",
        ]  # fmt: skip

    def close(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.log.close()
        if self.made_separation:
            SEPARATION.rmdir()
