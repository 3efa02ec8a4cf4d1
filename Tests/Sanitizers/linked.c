// What every program of a build with a sanitizer is linked with: its options, which tests that give a program an environment of its
// own would keep from it; and, for the one of threads, what it cannot see of Swift's Mutex.
//
// REPORTS    the folder of the reports, each a file PROGRAM.PID
// SYMBOLIZER the program that names functions and lines; PATH has none in most tests

#define COMMON "log_path=" REPORTS "/report:log_exe_name=1:external_symbolizer_path=" SYMBOLIZER

#if __has_feature(thread_sanitizer)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include <stdint.h>

const char *__tsan_default_options(void) {
    // The programs go on, and end as they would: what they did is judged by the tests, and what was reported by who called them.
    // A race whose other side has left the history is not reported: it is to be as long as can be.
    return COMMON ":history_size=7:halt_on_error=0:exitcode=0:second_deadlock_stack=1";
}

// A Mutex that is free is taken and given back by compare-and-exchange in the caller's own code, which is compiled for the
// sanitizer. One that another thread holds is waited for, and given to who waits, by these two in libswiftSynchronization, which is
// not: to the sanitizer nothing had happened between two threads that took turns, and all that a Mutex holds was a race (Swift
// 6.3.1; an array that four tasks append to is enough). They are called by their names in the dynamic linker's table, where ours
// come first.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define swiftself __attribute__((swift_context))
typedef __attribute__((swiftcall)) void lock_function(uint32_t thread, swiftself void *mutex);
typedef __attribute__((swiftcall)) void unlock_function(swiftself void *mutex);

static lock_function *swift_lock;
static unlock_function *swift_unlock;

// Before there is a second thread. A program that knows no Mutex has not got them, and calls neither.
__attribute__((constructor)) static void find_originals(void) {
    swift_lock = (lock_function *)dlsym(RTLD_NEXT, LOCK);
    swift_unlock = (unlock_function *)dlsym(RTLD_NEXT, UNLOCK);
}

lock_function lock_seen __asm__(LOCK);
unlock_function unlock_seen __asm__(UNLOCK);

__attribute__((swiftcall)) void lock_seen(uint32_t thread, swiftself void *mutex) {
    swift_lock(thread, mutex);
    __tsan_acquire(mutex);
}

__attribute__((swiftcall)) void unlock_seen(swiftself void *mutex) {
    __tsan_release(mutex);
    swift_unlock(mutex);
}

#elif __has_feature(address_sanitizer)

const char *__asan_default_options(void) {
    // What Swift and GRDB keep for ever is no leak; and a leak of ours shows in the soak.
    return COMMON ":detect_leaks=0:detect_stack_use_after_return=1:strict_string_checks=1";
}

const char *__ubsan_default_options(void) {
    return "print_stacktrace=1";
}

#endif
