#pragma once

// What the Glibc module leaves out. These headers bring sigset_t with them: the compiler then takes it for a part of this module or of Glibc,
// depending on which files it reads together. So who uses it in a target that imports this module imports both.
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

// Declared by the C library only to those who define _GNU_SOURCE before its first header, which a module cannot do.
extern int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);
