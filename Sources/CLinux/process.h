#pragma once

// A module of its own, for modules that others import: it shares no type with Glibc, so the order of imports does not matter.
#include <sys/prctl.h>

// prctl is variadic in glibc, and Swift imports no variadic function.
static inline int authrefresh_set_dumpable(int dumpable) {
    return prctl(PR_SET_DUMPABLE, (unsigned long)dumpable, 0UL, 0UL, 0UL);
}

static inline int authrefresh_get_dumpable(void) {
    return prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL);
}
