"""What the service's sandbox allows. One probe runs with the settings of the installed unit, another one without them.

Only a difference between the two is the work of the sandbox. This finds directives that have no effect in a user manager.
"""

import json
import os
import re

from machine import UNIT, run, show, systemctl

PROBE = "authrefreshd-probe.service"
# The unit's settings that do not confine it, and need the daemon.
NOT_CONFINEMENT = re.compile(
    r"^(Type|NotifyAccess|ExecStart|ExecStartPre|ExecReload|WatchdogSec|Restart|RestartSec|RestartPreventExitStatus|Requires|After)="
)

# Each attempt prints the name of the errno, or "ok". The service manager replaces the specifiers in the paths.
SCRIPT = r'''
import ctypes, errno, json, mmap, os, resource, socket, sys
home, runtime = sys.argv[1], sys.argv[2]
libc = ctypes.CDLL(None, use_errno=True)

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

def call(name, *arguments):
    def action():
        if getattr(libc, name)(*arguments) == -1:
            raise OSError(ctypes.get_errno(), name)
    return attempt(action)

def map_writable_code():
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC).close()

def set_user_id():
    path = home + "/.local/state/authrefreshd/probe"
    open(path, "w").close()
    try:
        os.chmod(path, 0o4700)
    finally:
        os.unlink(path)

def mounted(path):
    return "read-only" if os.statvfs(path).f_flag & os.ST_RDONLY else "writable"

with open("/proc/self/status") as status:
    fields = dict(line.rstrip().split(":\t") for line in status if ":\t" in line)
found = {
    "state folder": write(home + "/.local/state/authrefreshd/probe"),
    "socket folder": write(runtime + "/authrefreshd/probe"),
    "home": write(home + "/probe"),
    "configuration": write(home + "/.config/authrefreshd/probe"),
    "programs": write(home + "/.local/bin/probe"),
    "units": write(home + "/.config/systemd/user/probe"),
    "runtime folder": write(runtime + "/probe"),
    "/var/tmp": write("/var/tmp/probe"),
    "/": mounted("/"),
    "/usr": mounted("/usr"),
    "/etc": mounted("/etc"),
    "/proc/sys": mounted("/proc/sys"),
    "control groups": mounted("/sys/fs/cgroup"),
    "packet socket": attempt(lambda: socket.socket(17, socket.SOCK_RAW).close()),
    "internet socket": attempt(lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM).close()),
    "netlink socket": attempt(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close()),
    "writable code": attempt(map_writable_code),
    "set-user-ID file": attempt(set_user_id),
    # If the call reaches the kernel, it refuses these arguments with an errno other than EPERM.
    "real-time scheduling": call("sched_setscheduler", -1, 1, None),
    "another personality": call("personality", 8),
    "being traced": call("ptrace", 0, 0, None, None),
    "setting the clock": call("adjtimex", None),
    "kernel log": oct(os.stat("/proc/kmsg").st_mode & 0o777),
    "user, mount and host name": [os.readlink("/proc/self/ns/" + name) for name in ("user", "mnt", "uts")],
    "umask": oct(os.umask(0)),
    "NoNewPrivs": fields["NoNewPrivs"],
    "Seccomp": fields["Seccomp"],
    "capabilities": int(fields["CapEff"], 16),
    "capabilities to be had": int(fields["CapBnd"], 16),
    "core dumps": resource.getrlimit(resource.RLIMIT_CORE),
    "descriptors": resource.getrlimit(resource.RLIMIT_NOFILE),
    "devices": sorted(set(os.listdir("/dev")) & {"kvm", "fuse", "mem", "kmsg", "sda", "vda", "loop0"}),
}
# This comes last. If it is allowed, later attempts would run in the new namespace.
found["user namespace"] = call("unshare", 0x10000000)
print(json.dumps(found))
open("/tmp/authrefreshd-probe", "w").close()
'''

ALLOWED = ("state folder", "socket folder", "/var/tmp", "internet socket", "netlink socket")
# What is refused, and with which errno. systemd 252 refuses writable code with EPERM by a filter. Newer versions refuse it with
# EACCES by a switch of the kernel.
REFUSED = {
    "home": {"EROFS"},
    "configuration": {"EROFS"},
    "programs": {"EROFS"},
    "units": {"EROFS"},
    "runtime folder": {"EROFS"},
    "/": {"read-only"},
    "/usr": {"read-only"},
    "/etc": {"read-only"},
    "/proc/sys": {"read-only"},
    "control groups": {"read-only"},
    "packet socket": {"EAFNOSUPPORT"},
    "user namespace": {"EPERM"},
    "writable code": {"EPERM", "EACCES"},
    "set-user-ID file": {"EPERM"},
    "real-time scheduling": {"EPERM"},
    "another personality": {"EPERM"},
    "being traced": {"EPERM"},
    "setting the clock": {"EPERM"},
    # systemd puts a file that nobody may read in its place; the system call is refused to all users where dmesg_restrict is set.
    "kernel log": {"0o0"},
}
STATE_OF_PROBE = {
    "umask": "0o77",
    "NoNewPrivs": "1",
    "Seccomp": "2",
    "capabilities": 0,
    "capabilities to be had": 0,
    "core dumps": [0, 0],
    "descriptors": [8192, 8192],
    "devices": [],
}


def confinement(unit_file):
    lines = unit_file.read_text(encoding="utf-8").split("[Install]")[0].split("[Service]")[1].splitlines()
    return [line for line in lines if line and not line.startswith("#") and not NOT_CONFINEMENT.match(line)]


class Probe:
    """Starts the script as a separate service."""

    def __init__(self, journal, unit_file, state):
        self.journal = journal
        self.unit_file = unit_file.with_name(PROBE)
        self.script = state / "probe.py"
        self.script.write_text(SCRIPT, encoding="ascii")

    def found(self, directives):
        lines = ["[Service]", "Type=oneshot", f"ExecStart=/usr/bin/python3 {self.script} %h %t", *directives]
        self.unit_file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        systemctl("daemon-reload")
        systemctl("start", PROBE)
        record = self.journal.expect(
            "result of the probe",
            lambda record: record.get("_SYSTEMD_USER_UNIT") == PROBE and record["MESSAGE"].startswith("{"),
        )
        return json.loads(record["MESSAGE"])

    def remove(self):
        self.script.unlink()
        self.unit_file.unlink()
        systemctl("daemon-reload")


def check(check, journal, unit_file, state):
    """Compares what a probe can do in the sandbox with what it should be able to do, and with what it can do without it."""
    probe = Probe(journal, unit_file, state)
    found = probe.found(confinement(unit_file))
    own_tmp = run("test", "-e", "/tmp/authrefreshd-probe", check=False).returncode == 1
    free = probe.found([])
    shared_tmp = os.path.exists("/tmp/authrefreshd-probe")
    probe.remove()
    for what in ALLOWED:
        check(f"the sandbox allows: {what}", found[what] == "ok", found[what])
    for what, answers in REFUSED.items():
        check(f"the sandbox refuses: {what} ({found[what]}; without it {free[what]})", found[what] in answers, found[what])
        check(f"it is the sandbox that refuses it: {what}", free[what] not in answers, free[what])
    confined = {name: found[name] for name in STATE_OF_PROBE}
    check("no capabilities, devices, core dumps or new privileges; a filter; umask 077", confined == STATE_OF_PROBE, f"{confined}")
    spaces = "user, mount and host name"
    check(f"it has its own: {spaces}", not set(found[spaces]) & set(free[spaces]), f"{found[spaces]} {free[spaces]}")
    check("the service's /tmp is its own", own_tmp and shared_tmp)
    with open(f"/proc/{show('MainPID', UNIT)}/status", encoding="ascii") as status:
        fields = dict(line.rstrip().split(":\t") for line in status if ":\t" in line)
    check("the daemon itself is filtered", (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2"), f"{fields}")


# These restrictions need neither mounts nor capabilities. So they hold without a user namespace, too.
FILTERED = (
    "packet socket", "user namespace", "writable code", "set-user-ID file", "real-time scheduling", "another personality", "being traced",
    "setting the clock",
)  # fmt: skip


def check_open(check, journal, unit_file, drop_in, state):
    """Checks which parts of the sandbox still hold with a drop-in that takes the daemon out of its user namespace."""
    probe = Probe(journal, unit_file, state)
    found = probe.found(confinement(unit_file) + confinement(drop_in))
    probe.remove()
    # Here, the service uses the shared /tmp. The file must be gone before the next probe.
    os.unlink("/tmp/authrefreshd-probe")
    for what in FILTERED:
        check(f"without a user namespace the service is still refused: {what} ({found[what]})", found[what] in REFUSED[what], found[what])
    for what in ("home", *ALLOWED):
        check(f"without a user namespace the service may use: {what}", found[what] == "ok", found[what])
    kept = {name: found[name] for name in ("umask", "NoNewPrivs", "Seccomp", "capabilities", "core dumps", "descriptors")}
    wanted = {name: STATE_OF_PROBE[name] for name in kept}
    check("without a user namespace: no capabilities, core dumps or new privileges; a filter; umask 077", kept == wanted, f"{kept}")


def exposure():
    """The exposure that `systemd-analyze security` reports for the installed unit, from 0 (confined) to 10 (open)."""
    text = run("systemd-analyze", "--user", "--no-pager", "security", UNIT).stdout
    return float(re.search(r"Overall exposure level for .*: ([0-9.]+)", text).group(1))
