"""Runs commands as root while the test user waits. Tests/Integration/systemd has set this up."""

import shlex
from pathlib import Path

from harness import PATIENCE, Failure
from survival import wait_until

FOLDER = Path("/tmp/as-root")


def as_root(*words, check=True, limit=PATIENCE * 4):
    """Runs a command as root, and returns its exit status and its output."""
    FOLDER.mkdir(exist_ok=True)
    ended = FOLDER / "status"
    ended.unlink(missing_ok=True)
    script = FOLDER / "script.new"
    script.write_text(shlex.join(words) + "\n", encoding="utf-8")
    script.rename(FOLDER / "script")
    wait_until("no answer of root's", lambda: ended.exists() and ended.stat().st_size > 0, limit)
    status = int(ended.read_text(encoding="ascii"))
    output = (FOLDER / "output").read_text(encoding="utf-8")
    if check and status != 0:
        raise Failure(f"{' '.join(words[:4])} of root's ended with {status}: {output.strip()[-2000:]}")
    return status, output
