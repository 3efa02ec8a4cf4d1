#include <sys/resource.h>

// libdispatch on Linux gives each thread that it starts a nice value (`_dispatch_worker_thread` in its `queue.c`), and has no
// setting for it: 0 for those that run our queues, −4 for the one that waits for timers and descriptors. Both are wrong here.
// 0 takes back the `Nice=` that an administrator gave the service. And what is below the value that a thread has already needs a
// privilege: the call fails in every user's service, and libdispatch logs that at each start ("Failed to set thread priority for
// worker thread … errno=13").
//
// So this stands in for the C library's setpriority(2): every thread keeps the priority that the daemon was started with. Nothing
// else in the daemon sets one.
int setpriority(__priority_which_t which, id_t who, int value) {
    (void)which;
    (void)who;
    (void)value;
    return 0;
}
