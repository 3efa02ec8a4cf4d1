#pragma once

// What the Glibc module leaves out. Types that both have, such as sigset_t, belong to the module that the compiler loads first. So this one
// loads Glibc's before its own headers; otherwise a build would depend on which files the compiler reads together.
#pragma clang module import SwiftGlibc

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

// Declared by the C library only to those who define _GNU_SOURCE before its first header, which a module cannot do.
extern int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);
