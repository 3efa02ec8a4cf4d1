#pragma once

// This is a separate module because it shares no type with Glibc. So modules that import it do not depend on the order of imports.
#include <sys/prctl.h>

// prctl is variadic in glibc, and Swift cannot import variadic functions.
static inline int authrefresh_set_dumpable(int dumpable) {
    return prctl(PR_SET_DUMPABLE, (unsigned long)dumpable, 0UL, 0UL, 0UL);
}

static inline int authrefresh_get_dumpable(void) {
    return prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL);
}
