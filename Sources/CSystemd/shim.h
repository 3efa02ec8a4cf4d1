#pragma once
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-login.h>

// sd_bus_call_method is variadic, and Swift cannot import variadic functions.
static inline int authrefresh_restart_unit(sd_bus *bus, const char *unit) {
    return sd_bus_call_method(bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
        "org.freedesktop.systemd1.Manager", "RestartUnit", NULL, NULL, "ss", unit, "replace");
}

// Tells which file `path` leads to, and its type and permissions. If the kernel already knows the file, this does not ask the server of a network or FUSE file system
// (AT_STATX_DONT_SYNC, 0x4000). This function is in C because syscall(2) is variadic, and because glibc declares statx(2) only with
// GNU's extensions.
static inline int authrefresh_file_identity(const char *path, unsigned long long *device, unsigned long long *inode, unsigned int *mode) {
    struct statx status;
    if (syscall(SYS_statx, -100 /* AT_FDCWD */, path, 0x4000, STATX_INO | STATX_TYPE | STATX_MODE, &status) != 0) return -1;
    *device = (unsigned long long)status.stx_dev_major << 32 | status.stx_dev_minor;
    *inode = status.stx_ino;
    *mode = status.stx_mode;
    return 0;
}
