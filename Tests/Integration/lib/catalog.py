"""The journal's catalog, as `journalctl -x` shows it."""

import re

from machine import run

TAG = "authrefreshd-catalog"
FIELD = re.compile(r"@(AUTHREFRESH_[A-Z_]+)@")


def value(field):
    return field.lower().replace("_", " ")


def entries(text):
    """The id and the text of each entry, with its fields filled in."""
    for entry in re.split(r"\n-- ", "\n" + FIELD.sub(lambda match: value(match[1]), text))[1:]:
        message_id, body = entry.split("\n", 1)
        yield message_id, body.strip()


def check(check, journal, path):
    """Writes a record with each id, and reads its explanation back."""
    text = path.read_text(encoding="utf-8")
    expected = dict(entries(text))
    values = {name: value(name) for name in FIELD.findall(text)}
    for message_id in expected:
        fields = {"MESSAGE": "a record", "MESSAGE_ID": message_id, "SYSLOG_IDENTIFIER": TAG, **values}
        record = "".join(f"{name}={content}\n" for name, content in fields.items())
        run("logger", "--journald", given=record)
    journal.expect_message(message_id, SYSLOG_IDENTIFIER=TAG)
    shown = run("journalctl", "--user", "--catalog", "--no-pager", "-t", TAG).stdout
    shown = "\n".join(line.removeprefix("░░").strip() for line in shown.splitlines())
    for message_id, body in expected.items():
        lines = [line.strip() for line in body.splitlines() if not line.startswith("Defined-By")]
        missing = [line for line in lines if line not in shown]
        check(f"journalctl -x explains {message_id}: {lines[0].removeprefix('Subject: ')}", not missing, f"{missing}")
