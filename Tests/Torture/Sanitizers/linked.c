// Linked into every program of a build with a sanitizer. It sets the sanitizer's options here and not in the environment, because
// some tests give a program another environment. For ThreadSanitizer, it also reports what Swift's Mutex does.
//
// REPORTS    the folder of the reports; each is a file PROGRAM.PID
// SYMBOLIZER the program that names functions and lines; in most tests, PATH does not contain one

#define COMMON "log_path=" REPORTS "/report:log_exe_name=1:external_symbolizer_path=" SYMBOLIZER

#if __has_feature(thread_sanitizer)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include <stdint.h>

const char *__tsan_default_options(void) {
    // The programs continue after a report, and end with their usual status: the tests judge that status, and
    // Tests/Torture/Parts/sanitizers counts the reports. The history has its greatest length, because a race is reported only
    // while both of its accesses are in the history.
    return COMMON ":history_size=7:halt_on_error=0:exitcode=0:second_deadlock_stack=1";
}

// ThreadSanitizer sees a Mutex only while it is uncontended. Then the caller's own code locks and unlocks it by
// compare-and-exchange, and that code is compiled for the sanitizer. If another thread holds the Mutex, the caller calls the two
// functions below in libswiftSynchronization, which is not compiled for the sanitizer. The sanitizer then sees no order between the
// two threads, and reports a race on whatever the Mutex protects (Swift 6.3.1; four tasks that append to one array are enough).
// The dynamic linker finds functions by name, and finds ours first.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define swiftself __attribute__((swift_context))
typedef __attribute__((swiftcall)) void lock_function(uint32_t thread, swiftself void *mutex);
typedef __attribute__((swiftcall)) void unlock_function(swiftself void *mutex);

static lock_function *swift_lock;
static unlock_function *swift_unlock;

// Runs before there is a second thread. In a program without a Mutex, dlsym finds neither function, and nothing calls them.
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
    // Leaks are not detected, because Swift and GRDB keep some memory on purpose. The soak detects leaks of ours.
    return COMMON ":detect_leaks=0:detect_stack_use_after_return=1:strict_string_checks=1";
}

const char *__ubsan_default_options(void) {
    return "print_stacktrace=1";
}

#endif
