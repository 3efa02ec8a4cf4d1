// Loaded by LD_PRELOAD. Gives one process its own clocks, which a test moves while the process runs.
//
// It treats the process's timers as the kernel does when the clocks are set or the machine sleeps. Timers for a time of a shifted
// clock are armed again. Timers with TFD_TIMER_CANCEL_ON_SET are cancelled if the wall clock has moved relative to the monotonic clock
// (timerfd_clock_was_set() in fs/timerfd.c). libfaketime does neither: it shifts a timer only when it is armed.
//
// SHIFTED_CLOCK          path of a socket that accepts lines of three numbers, and answers each with an empty line. The numbers say how
//                        far the wall, the boot-time and the monotonic clock are ahead of the machine's from now on, in ns
// SHIFTED_CLOCK_START    such a line, in force from the start
// SHIFTED_CLOCK_BOOT_ID  a file that is read in place of the kernel's boot_id
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
// A program under test has few timers, and makes them before its connections, so their descriptors are small.
#define DESCRIPTORS 256
// A time in 2200 or later: a timer that is not meant to fire.
#define NEVER 7258118400LL

enum { WALL, BOOT, MONOTONIC, CLOCKS };

struct timer {
    int clock;  // -1 for none
    int is_cancelled_by_steps;
    int is_cancelled;
    struct itimerspec armed;  // as it was asked for, in the process's own time
};

static _Atomic int64_t ahead[CLOCKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timer timers[DESCRIPTORS];

static int place(clockid_t clock) {
    switch (clock) {
    case CLOCK_REALTIME: case CLOCK_REALTIME_COARSE: case CLOCK_REALTIME_ALARM: case CLOCK_TAI: return WALL;
    case CLOCK_BOOTTIME: case CLOCK_BOOTTIME_ALARM: return BOOT;
    case CLOCK_MONOTONIC: case CLOCK_MONOTONIC_COARSE: case CLOCK_MONOTONIC_RAW: return MONOTONIC;
    default: return -1;
    }
}

static int64_t nanoseconds(struct timespec time) { return (int64_t)time.tv_sec * SECOND + time.tv_nsec; }

static struct timespec timespec_of(int64_t ns) {
    int64_t rest = ns % SECOND;
    if (rest < 0) rest += SECOND;
    return (struct timespec){(ns - rest) / SECOND, rest};
}

// -- Reading ----------------------------------------------------------------------------------------------------------

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (syscall(SYS_clock_gettime, clock, time) != 0) return -1;
    int number = place(clock);
    if (number >= 0) *time = timespec_of(nanoseconds(*time) + atomic_load(&ahead[number]));
    return 0;
}

int gettimeofday(struct timeval *time, void *zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *place_for_it) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place_for_it) *place_for_it = now.tv_sec;
    return now.tv_sec;
}

// -- Timers -----------------------------------------------------------------------------------------------------------

int timerfd_create(int clock, int flags) {
    int descriptor = syscall(SYS_timerfd_create, clock, flags);
    if (descriptor < 0 || descriptor >= DESCRIPTORS) return descriptor;
    pthread_mutex_lock(&lock);
    timers[descriptor] = (struct timer){.clock = place(clock)};
    pthread_mutex_unlock(&lock);
    return descriptor;
}

// Arms the kernel's timer according to the process's request. Call it with the lock held.
static int arm(int descriptor, struct itimerspec *old) {
    struct timer *timer = &timers[descriptor];
    struct itimerspec kernel = timer->armed;
    int64_t wanted = nanoseconds(kernel.it_value);
    if (wanted != 0 && kernel.it_value.tv_sec < NEVER) {
        int64_t at = wanted - atomic_load(&ahead[timer->clock]);
        kernel.it_value = timespec_of(at > 0 ? at : 1);
    }
    return syscall(SYS_timerfd_settime, descriptor, TFD_TIMER_ABSTIME, &kernel, old);
}

int timerfd_settime(int descriptor, int flags, const struct itimerspec *new, struct itimerspec *old) {
    if (descriptor < 0 || descriptor >= DESCRIPTORS || timers[descriptor].clock < 0) {
        return syscall(SYS_timerfd_settime, descriptor, flags, new, old);
    }
    pthread_mutex_lock(&lock);
    struct timer *timer = &timers[descriptor];
    static const clockid_t clocks[CLOCKS] = {CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_MONOTONIC};
    timer->armed = *new;
    timer->is_cancelled = 0;
    timer->is_cancelled_by_steps = (flags & TFD_TIMER_CANCEL_ON_SET) != 0;
    if (!(flags & TFD_TIMER_ABSTIME) && nanoseconds(new->it_value) != 0) {
        struct timespec now;
        clock_gettime(clocks[timer->clock], &now);
        timer->armed.it_value = timespec_of(nanoseconds(now) + nanoseconds(new->it_value));
    }
    int result = arm(descriptor, old);
    pthread_mutex_unlock(&lock);
    return result;
}

ssize_t read(int descriptor, void *bytes, size_t count) {
    ssize_t result = syscall(SYS_read, descriptor, bytes, count);
    if (descriptor < 0 || descriptor >= DESCRIPTORS) return result;
    pthread_mutex_lock(&lock);
    int is_cancelled = timers[descriptor].is_cancelled;
    timers[descriptor].is_cancelled = 0;
    pthread_mutex_unlock(&lock);
    if (!is_cancelled) return result;
    errno = ECANCELED;
    return -1;
}

int close(int descriptor) {
    if (descriptor >= 0 && descriptor < DESCRIPTORS) {
        pthread_mutex_lock(&lock);
        timers[descriptor] = (struct timer){.clock = -1};
        pthread_mutex_unlock(&lock);
    }
    return syscall(SYS_close, descriptor);
}

// -- Another boot -----------------------------------------------------------------------------------------------------

int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    const char *other = getenv("SHIFTED_CLOCK_BOOT_ID");
    if (other && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0) path = other;
    return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

// -- Moving the clocks ------------------------------------------------------------------------------------------------

static void move(const char *line) {
    long long wanted[CLOCKS];
    if (sscanf(line, "%lld %lld %lld", &wanted[WALL], &wanted[BOOT], &wanted[MONOTONIC]) != CLOCKS) {
        fprintf(stderr, "shifted_clock: this is no line of three numbers: %s\n", line);
        abort();
    }
    pthread_mutex_lock(&lock);
    int is_step = wanted[WALL] - wanted[MONOTONIC] != atomic_load(&ahead[WALL]) - atomic_load(&ahead[MONOTONIC]);
    for (int number = 0; number < CLOCKS; number++) atomic_store(&ahead[number], wanted[number]);
    for (int descriptor = 0; descriptor < DESCRIPTORS; descriptor++) {
        struct timer *timer = &timers[descriptor];
        if (timer->clock < 0 || nanoseconds(timer->armed.it_value) == 0) continue;
        if (is_step && timer->is_cancelled_by_steps) {
            // Makes the timer readable at once. Reading it then reports the cancellation.
            timer->is_cancelled = 1;
            struct itimerspec soon = {.it_value = {0, 1}};
            syscall(SYS_timerfd_settime, descriptor, 0, &soon, NULL);
        } else {
            arm(descriptor, NULL);
        }
    }
    pthread_mutex_unlock(&lock);
}

static void *serve(void *argument) {
    int listener = (int)(intptr_t)argument;
    for (;;) {
        int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (peer < 0) continue;
        char line[128];
        ssize_t count;
        while ((count = recv(peer, line, sizeof line - 1, 0)) > 0) {
            line[count] = 0;
            move(line);
            send(peer, "\n", 1, MSG_NOSIGNAL);
        }
        syscall(SYS_close, peer);
    }
    return NULL;
}

__attribute__((constructor)) static void begin(void) {
    for (int descriptor = 0; descriptor < DESCRIPTORS; descriptor++) timers[descriptor].clock = -1;
    const char *start = getenv("SHIFTED_CLOCK_START");
    if (start) move(start);
    const char *path = getenv("SHIFTED_CLOCK");
    if (!path) return;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    unlink(path);
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4) != 0) {
        perror("shifted_clock: no socket");
        abort();
    }
    // Signals of the process must reach its own threads, not this one.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)listener) != 0) abort();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
