"""systemd's own Varlink client against the daemon."""

import json
import queue
import subprocess
import threading

from harness import PATIENCE, Failure
from machine import run

INTERFACE = "io.authrefresh"


def call(socket, method, parameters, check=True):
    answer = run("varlinkctl", "--json=short", "call", str(socket), f"{INTERFACE}.{method}", json.dumps(parameters), check=check)
    return json.loads(answer.stdout) if check else answer


def check(check, socket, description, account):
    """Tries every command of varlinkctl. `description` is the path of the interface's .varlink file."""
    run("varlinkctl", "validate-idl", str(description))
    check("varlinkctl validates the interface description", True)
    info = run("varlinkctl", "info", str(socket)).stdout
    check("varlinkctl info names the product", "authrefreshd" in info and INTERFACE in info, info)
    interfaces = run("varlinkctl", "list-interfaces", str(socket)).stdout.split()
    check("varlinkctl list-interfaces", interfaces == [INTERFACE, "org.varlink.service"], f"{interfaces}")
    told = run("varlinkctl", "introspect", str(socket), INTERFACE).stdout
    missing = [line for line in description.read_text(encoding="utf-8").splitlines() if line.startswith("method") and line.split("(")[0] not in told]
    check("varlinkctl introspect shows every method", not missing, f"{missing}")
    methods = run("varlinkctl", "list-methods", str(socket), INTERFACE).stdout
    check("varlinkctl list-methods", f"{INTERFACE}.AcquireToken" in methods, methods)
    token = call(socket, "AcquireToken", {"account": account})
    check("varlinkctl call gets a token", token["tokenType"] == "Bearer" and token["accessToken"])
    refused = call(socket, "AcquireToken", {"account": "nobody"}, check=False)
    check("varlinkctl shows an error by its name", refused.returncode != 0 and "NoSuchAccount" in refused.stderr, refused.stderr)
    subscribe(check, socket, account)


def subscribe(check, socket, account):
    process = subprocess.Popen(
        ["varlinkctl", "--json=short", "--more", "call", str(socket), f"{INTERFACE}.Subscribe", "{}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    changes = queue.Queue()

    def read():
        for line in process.stdout:
            # The output is a JSON text sequence (RFC 7464): a record separator stands before each text.
            if line.strip("\x1e\n"):
                changes.put(json.loads(line.strip("\x1e\n")))

    threading.Thread(target=read, daemon=True).start()
    try:
        events = [changes.get(timeout=PATIENCE)["event"] for _ in range(2)]
        check("varlinkctl call --more shows the present state", events == ["present", "ready"], f"{events}")
        call(socket, "AcquireToken", {"account": account, "force": True})
        events = [changes.get(timeout=PATIENCE)["event"] for _ in range(2)]
        check("and every change after it", events == ["refresh-started", "token-refreshed"], f"{events}")
    except queue.Empty:
        raise Failure("varlinkctl call --more shows nothing") from None
    finally:
        process.kill()
        process.wait()
