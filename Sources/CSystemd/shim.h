#pragma once
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-login.h>

// sd_bus_call_method is variadic, and Swift imports no variadic function.
static inline int authrefresh_restart_unit(sd_bus *bus, const char *unit) {
    return sd_bus_call_method(bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
        "org.freedesktop.systemd1.Manager", "RestartUnit", NULL, NULL, "ss", unit, "replace");
}

// prctl is variadic in glibc, and Swift imports no variadic function.
static inline int authrefresh_set_dumpable(int dumpable) {
    return prctl(PR_SET_DUMPABLE, (unsigned long)dumpable, 0UL, 0UL, 0UL);
}

static inline int authrefresh_get_dumpable(void) {
    return prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL);
}
