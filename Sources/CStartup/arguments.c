// Before `main`, the Swift runtime searches the stack for the program's arguments, and reads /proc/self/maps to know where the stack is:
// 40 µs of the 600 that `authctl token` takes. glibc passes the arguments to each constructor, so this keeps them instead. The linker
// takes these two functions before it looks into the Swift library, and then leaves out the library's file that defines them.
//
// Only in a release: there the Swift library is linked in. In a debug build it is shared, and brings its own.
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
