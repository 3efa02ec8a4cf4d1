#pragma once

// What the Glibc module leaves out. Import it after Glibc: both have sigset_t and SOCK_STREAM, and they belong to the module that is loaded
// first. Other files that the compiler reads together would else miss them in Glibc.
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

// Declared by the C library only to those who define _GNU_SOURCE before its first header, which a module cannot do.
extern int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);
