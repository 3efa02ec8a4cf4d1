"""What the service's sandbox allows, tried by a probe that runs under the installed unit's own settings."""

import json
import re

from machine import UNIT, run, show, systemctl

PROBE = "authrefreshd-probe.service"
# Everything of the unit that does not confine it, and needs the daemon.
NOT_CONFINEMENT = re.compile(
    r"^(Type|NotifyAccess|ExecStart|ExecReload|WatchdogSec|Restart|RestartSec|RestartPreventExitStatus|Requires|After)="
)

# Each attempt prints the errno's name, or "ok". The paths are the service manager's specifiers, filled in by it.
SCRIPT = r'''
import ctypes, errno, json, mmap, os, socket, sys
home, runtime = sys.argv[1], sys.argv[2]

def attempt(action):
    try:
        action()
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]

def write(path):
    def action():
        with open(path, "w") as file:
            file.write("probe")
        os.unlink(path)
    return attempt(action)

def unshare_user():
    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000) != 0:
        raise OSError(ctypes.get_errno(), "unshare")

def map_writable_code():
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC).close()

with open("/proc/self/status") as status:
    fields = dict(line.rstrip().split(":\t") for line in status if ":\t" in line)
print(json.dumps({
    "state folder": write(home + "/.local/state/authrefreshd/probe"),
    "socket folder": write(runtime + "/authrefreshd/probe"),
    "home": write(home + "/probe"),
    "configuration": write(home + "/.config/authrefreshd/probe"),
    "programs": write(home + "/.local/bin/probe"),
    "units": write(home + "/.config/systemd/user/probe"),
    "runtime folder": write(runtime + "/probe"),
    "/etc": write("/etc/probe"),
    "/var/tmp": write("/var/tmp/probe"),
    "packet socket": attempt(lambda: socket.socket(17, socket.SOCK_RAW).close()),
    "internet socket": attempt(lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM).close()),
    "netlink socket": attempt(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close()),
    "user namespace": attempt(unshare_user),
    "writable code": attempt(map_writable_code),
    "umask": oct(os.umask(0)),
    "NoNewPrivs": fields["NoNewPrivs"],
    "Seccomp": fields["Seccomp"],
    "CapEff": int(fields["CapEff"], 16),
    "devices": sorted(set(os.listdir("/dev")) & {"kvm", "fuse", "mem", "sda", "vda", "loop0"}),
}))
open("/tmp/authrefreshd-probe", "w").close()
'''

ALLOWED = ("state folder", "socket folder", "internet socket", "netlink socket")
# systemd 252 refuses such memory with EPERM by a filter, newer ones with EACCES by the kernel's own switch.
REFUSED = {
    "home": {"EROFS"},
    "configuration": {"EROFS"},
    "programs": {"EROFS"},
    "units": {"EROFS"},
    "runtime folder": {"EROFS"},
    "/etc": {"EROFS", "EACCES"},
    "packet socket": {"EAFNOSUPPORT"},
    "user namespace": {"EPERM"},
    "writable code": {"EPERM", "EACCES"},
}


def probe_unit(unit_file, script):
    lines = unit_file.read_text(encoding="utf-8").split("[Install]")[0].splitlines()
    kept = [line for line in lines if not NOT_CONFINEMENT.match(line)]
    start = kept.index("[Service]") + 1
    kept[start:start] = ["Type=oneshot", f"ExecStart=/usr/bin/python3 {script} %h %t"]
    return "\n".join(kept) + "\n"


def check(check, journal, unit_file, state):
    """Runs the probe beside the daemon and compares what it could do with what it should."""
    script = state / "probe.py"
    script.write_text(SCRIPT, encoding="ascii")
    unit_file.with_name(PROBE).write_text(probe_unit(unit_file, script), encoding="utf-8")
    systemctl("daemon-reload")
    systemctl("start", PROBE)
    record = journal.expect(
        "result of the probe",
        lambda record: record.get("_SYSTEMD_USER_UNIT") == PROBE and record["MESSAGE"].startswith("{"),
    )
    found = json.loads(record["MESSAGE"])
    for what in ALLOWED:
        check(f"the sandbox allows: {what}", found[what] == "ok", found[what])
    for what, errors in REFUSED.items():
        check(f"the sandbox refuses: {what} ({found[what]})", found[what] in errors, found[what])
    confined = {name: found[name] for name in ("umask", "NoNewPrivs", "Seccomp", "CapEff", "devices")}
    expected = {"umask": "0o77", "NoNewPrivs": "1", "Seccomp": "2", "CapEff": 0, "devices": []}
    check("no capabilities, devices or new privileges; a filter; umask 077", confined == expected, f"{confined}")
    check("the service's /tmp is its own", run("test", "-e", "/tmp/authrefreshd-probe", check=False).returncode == 1)
    with open(f"/proc/{show('MainPID', UNIT)}/status", encoding="ascii") as status:
        fields = dict(line.rstrip().split(":\t") for line in status if ":\t" in line)
    check("the daemon itself is filtered", (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2"), f"{fields}")
    script.unlink()
    unit_file.with_name(PROBE).unlink()
    systemctl("daemon-reload")
