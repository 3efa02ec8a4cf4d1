// Loaded by LD_PRELOAD. Makes the calls fail with which one process changes files, or kills the process at one of these calls.
//
// It counts the calls that change files below a folder, or make changes durable, in all threads together. A debugger that
// can do something similar (strace -e inject) counts the calls of each thread separately.
//
// FAULTY_FILES        the folder, without symbolic links
// FAULTY_FILES_ORDER  path of a file that is read before each such call. The file may be missing. With "errno N", the call fails with
//                     this number. With "kill N", the process is killed before the N-th call since the order was given. All calls in
//                     that time are listed in a file with the same name and ".calls" at its end, one line each
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic long count;

// Whether a path is the folder itself or is below it.
static int is_below(const char *path) {
    const char *folder = getenv("FAULTY_FILES");
    size_t length = folder ? strlen(folder) : 0;
    return length > 0 && strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static int is_below_at(int descriptor, const char *path) {
    char link[32], folder[PATH_MAX];
    if (path && path[0] == '/') return is_below(path);
    if (descriptor < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, folder, sizeof folder - 1);
    if (length <= 0) return 0;
    folder[length] = 0;
    return is_below(folder);
}

static void list(const char *order, const char *call) {
    char path[PATH_MAX], line[64];
    snprintf(path, sizeof path, "%s.calls", order);
    int file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return;
    int length = snprintf(line, sizeof line, "%s\n", call);
    syscall(SYS_write, file, line, length);
    syscall(SYS_close, file);
}

// Whether the call must fail. `errno` is then the error number.
static int is_refused(const char *call) {
    const char *order = getenv("FAULTY_FILES_ORDER");
    char text[32] = "";
    int error = errno, refusal = 0;
    int file = order ? syscall(SYS_openat, AT_FDCWD, order, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        syscall(SYS_read, file, text, sizeof text - 1);
        syscall(SYS_close, file);
        list(order, call);
    }
    if (strncmp(text, "errno ", 6) == 0) refusal = atoi(text + 6);
    if (strncmp(text, "kill ", 5) != 0) {
        count = 0;
    } else if (atomic_fetch_add(&count, 1) + 1 == atol(text + 5)) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    errno = refusal ? refusal : error;
    return refusal != 0;
}

#define CALL(is_ours, name, ...) \
    if ((is_ours) && is_refused(#name)) return -1; \
    return syscall(SYS_##name, __VA_ARGS__)

ssize_t write(int file, const void *bytes, size_t size) { CALL(is_below_at(file, NULL), write, file, bytes, size); }
ssize_t writev(int file, const struct iovec *parts, int n) { CALL(is_below_at(file, NULL), writev, file, parts, n); }
ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t at) {
    CALL(is_below_at(file, NULL), pwrite64, file, bytes, size, at);
}
ssize_t pwrite(int file, const void *bytes, size_t size, off_t at) { return pwrite64(file, bytes, size, at); }
int ftruncate64(int file, off64_t size) { CALL(is_below_at(file, NULL), ftruncate, file, size); }
int ftruncate(int file, off_t size) { return ftruncate64(file, size); }
int fsync(int file) { CALL(is_below_at(file, NULL), fsync, file); }
int fdatasync(int file) { CALL(is_below_at(file, NULL), fdatasync, file); }
int fchmod(int file, mode_t mode) { CALL(is_below_at(file, NULL), fchmod, file, mode); }

int renameat2(int from, const char *old, int to, const char *new, unsigned int flags) {
    CALL(is_below_at(from, old) || is_below_at(to, new), renameat2, from, old, to, new, flags);
}
int renameat(int from, const char *old, int to, const char *new) { return renameat2(from, old, to, new, 0); }
int rename(const char *old, const char *new) { return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0); }

int linkat(int from, const char *old, int to, const char *new, int flags) {
    CALL(is_below_at(from, old) || is_below_at(to, new), linkat, from, old, to, new, flags);
}
int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

int unlinkat(int folder, const char *path, int flags) { CALL(is_below_at(folder, path), unlinkat, folder, path, flags); }
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

static int open_at(int folder, const char *path, int flags, mode_t mode) {
    int is_changing = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
    CALL(is_changing && is_below_at(folder, path), openat, folder, path, flags, mode);
}

#define OPEN(folder) \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0; \
    va_end(rest); \
    return open_at(folder, path, flags, mode)

int open(const char *path, int flags, ...) { OPEN(AT_FDCWD); }
int open64(const char *path, int flags, ...) { OPEN(AT_FDCWD); }
int openat(int folder, const char *path, int flags, ...) { OPEN(folder); }
int openat64(int folder, const char *path, int flags, ...) { OPEN(folder); }
