// Before `main`, the Swift runtime searches the stack for the program's arguments. It reads /proc/self/maps to find the stack, which
// takes 40 µs of the 600 that `authctl token` takes. glibc passes the arguments to each constructor, so this constructor keeps them. The
// linker finds these two functions before those in the Swift library, and then leaves out the library's file that defines them.
//
// This is for release builds only, which link the Swift library statically. In a debug build, the library is shared and has its own.
#ifdef AUTHREFRESH_STATIC
#include <stddef.h>

static char **arguments;
static int argument_count;

__attribute__((constructor)) static void keep_arguments(int count, char **vector) {
    arguments = vector;
    argument_count = count;
}

__attribute__((swiftcall)) char **_swift_stdlib_getUnsafeArgvArgc(int *count) {
    *count = argument_count;
    return arguments;
}

__attribute__((swiftcall)) void _swift_stdlib_overrideUnsafeArgvArgc(char **vector, int count) {
    arguments = vector;
    argument_count = count;
}
#endif
