"""Examples of the pages, run as a reader types them."""

import json
import subprocess
import threading
from pathlib import Path

from harness import PATIENCE
from machine import run, systemctl

METRICS = "authrefresh-metrics.service"


def block(page, first):
    """The lines of the page from this one to the next blank line, without their indentation."""
    lines = page.read_text(encoding="utf-8").splitlines()
    begin = lines.index(f"    {first}")
    return "".join(f"{line[4:]}\n" for line in lines[begin : lines.index("", begin)])


def call_by_varlinkctl(check, page, account):
    """The calls of the page Protocol. They name the account `work`."""
    lines = page.read_text(encoding="utf-8").splitlines()
    begin = lines.index("```shell") + 1
    introspect, status, subscribe = lines[begin : lines.index("```", begin)]
    told = run("sh", "-c", introspect).stdout
    check("the page's varlinkctl introspect shows the interface", "method AcquireToken" in told, told)
    told = json.loads(run("sh", "-c", status).stdout)
    check("the page's varlinkctl call shows the account", [entry["account"] for entry in told["accounts"]] == [account], told)
    with subprocess.Popen(["sh", "-c", f"exec {subscribe}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as follower:
        limit = threading.Timer(PATIENCE, follower.kill)
        limit.start()
        shown = any('"present"' in line for line in follower.stdout)
        limit.cancel()
        follower.kill()
    check("the page's varlinkctl call --more shows the present state", shown)


def call_by_python(check, page, token):
    """The program of the page Protocol, for machines without varlinkctl."""
    told = run("sh", "-c", block(page, "python3 -c '")).stdout.strip()
    check("the page's program in Python gets the token", told == token, told)


def start_metrics(page, authctl):
    """Starts the unit of the page about figures, with `authctl` as its program; returns the figures that it has written, if any."""
    figures = Path.home() / "authrefresh.prom"
    figures.unlink(missing_ok=True)
    unit = block(page, f"# ~/.config/systemd/user/{METRICS}")
    unit = unit.replace("ExecStart=authctl ", f"ExecStart={authctl} ").replace("/var/lib/prometheus/node-exporter", "%h")
    file = Path.home() / ".config/systemd/user" / METRICS
    file.write_text(unit, encoding="utf-8")
    systemctl("daemon-reload")
    systemctl("start", METRICS, check=False)
    file.unlink()
    systemctl("daemon-reload")
    return figures.read_text(encoding="utf-8") if figures.exists() else ""
