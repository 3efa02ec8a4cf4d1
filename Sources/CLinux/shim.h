#pragma once

// Headers that the Glibc module leaves out. If two modules have the same type, such as sigset_t, it belongs to the one that the compiler
// loads first. So this module loads Glibc's before its own headers. Otherwise, a build would depend on which files the compiler reads
// together.
#pragma clang module import SwiftGlibc

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

// The C library declares these only if _GNU_SOURCE is defined before its first header, and a module cannot do that.
extern int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);
extern int ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout, const sigset_t *mask);
