#include <sys/resource.h>

// libdispatch on Linux sets a nice value for each thread that it starts (`_dispatch_worker_thread` in its `queue.c`): 0 for the threads
// that run our queues, −4 for the thread that waits for timers and descriptors. No setting changes this, and both values are wrong here.
// 0 overrides the `Nice=` that an administrator gave the service. A value below the present one needs a privilege, which a user's
// service lacks. So the call fails, and libdispatch logs this at each start ("Failed to set thread priority for worker thread …
// errno=13").
//
// So this replaces setpriority(2) of the C library, and every thread keeps the priority with which the daemon was started. Nothing
// else in the daemon sets a priority.
int setpriority(__priority_which_t which, id_t who, int value) {
    (void)which;
    (void)who;
    (void)value;
    return 0;
}
