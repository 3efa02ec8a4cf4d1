// Before `main`, libdispatch asks how many processors there are, and glibc reads a file below /sys for that, twice: 30 µs of the 600 that
// `authctl token` takes. The processors that this process may use are one system call away, and are what a thread pool should know.
// `--wrap=sysconf` leads all callers here (Package.swift).
#ifdef AUTHREFRESH_STATIC
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

// Weak for the fuzzers, which link this file without `--wrap`.
__attribute__((weak)) long __real_sysconf(int name);

long __wrap_sysconf(int name) {
    cpu_set_t usable;
    if ((name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN) && sched_getaffinity(0, sizeof usable, &usable) == 0)
        return CPU_COUNT(&usable);
    return __real_sysconf(name);
}
#endif
