#pragma once

// What the Glibc module leaves out. Import it after Glibc: both have sigset_t and SOCK_STREAM, and they belong to the module that is loaded
// first. Other files that the compiler reads together would else miss them in Glibc.
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

// Declared by the C library only to those who define _GNU_SOURCE before its first header, which a module cannot do.
extern int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);

// prctl is variadic in glibc, and Swift imports no variadic function.
static inline int authrefresh_set_dumpable(int dumpable) {
    return prctl(PR_SET_DUMPABLE, (unsigned long)dumpable, 0UL, 0UL, 0UL);
}

static inline int authrefresh_get_dumpable(void) {
    return prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL);
}
