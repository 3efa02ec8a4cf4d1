// Before `main`, libdispatch asks for the number of processors. For that, glibc reads a file below /sys twice, which takes 30 µs of the
// 600 that `authctl token` takes. One system call gives the number of processors that this process may use, which is the better number
// for a thread pool. `--wrap=sysconf` leads all callers here (Package.swift).
#ifdef AUTHREFRESH_STATIC
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

// This is weak because the fuzzers link this file without `--wrap`.
__attribute__((weak)) long __real_sysconf(int name);

long __wrap_sysconf(int name) {
    cpu_set_t usable;
    if ((name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN) && sched_getaffinity(0, sizeof usable, &usable) == 0)
        return CPU_COUNT(&usable);
    return __real_sysconf(name);
}
#endif
