internal import CLinux
internal import CProcess
internal import CSystemd
internal import Glibc

/// What this process asks of the kernel and the C library for itself.
package enum OwnProcess {
    /// Forbids core dumps and debuggers, because the memory of this process contains plain tokens. Call it before the
    /// first secret is read.
    ///
    /// - `PR_SET_DUMPABLE` 0: no core dump, not even to a pipe (systemd-coredump, which `RLIMIT_CORE` 0 does not stop
    ///   in every setting), and no `ptrace` or `/proc/PID/mem` for processes of the same user. The price is that root
    ///   owns this process's files in `/proc`, so `/proc/self/environ` and similar files can no longer be opened.
    /// - `coredump_filter` 0 (core(5)): a dump that root makes with a debugger contains no memory, unless the debugger
    ///   is told to include what the filter excludes. MADV_DONTDUMP on the pages of secrets would still include the
    ///   copies in libraries and on stacks.
    /// - `RLIMIT_CORE` 0, soft and hard: it also applies to children, even after their `execve`, which resets the first
    ///   setting.
    ///
    /// - Throws: if the kernel refuses; the caller should refuse to start.
    package static func hideMemory() throws(SystemdError) {
        // Before the next line, after which the file belongs to root. If it cannot be written (no /proc), the other
        // settings remain.
        leaveMemoryOutOfCores()
        guard authrefresh_set_dumpable(0) == 0 else { throw .hardeningRefused(errno: errno) }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else {
            throw .hardeningRefused(errno: errno)
        }
    }

    private static func leaveMemoryOutOfCores() {
        let filter = unsafe open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC)
        guard filter >= 0 else { return }
        _ = unsafe write(filter, "0", 1)
        close(filter)
    }

    /// Gives the pages back to the kernel that the process has freed, and that the C library keeps for later. Call it
    /// after the start, and when no request is in progress.
    ///
    /// By itself, the C library gives back only the end of an arena, and a few lasting pieces keep a whole arena. This
    /// takes about a millisecond.
    package static func giveBackMemory() {
        _ = malloc_trim(0)
    }

    /// Raises the soft limit on open descriptors (RLIMIT_NOFILE) to `count`, or as near as the hard limit allows. It never lowers the
    /// limit.
    ///
    /// Shells and service managers start programs with 1024 because of select(2), which nothing here calls.
    ///
    /// - Returns: how many of `count` may be open now; `count` itself if the limit cannot be read.
    @discardableResult
    package static func raiseDescriptorLimit(to count: Int) -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0, limit.rlim_cur < rlim_t(count) else { return count }
        let before = limit.rlim_cur
        limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
        return Int(unsafe setrlimit(resource, &limit) == 0 ? limit.rlim_cur : before)
    }

    /// Whether root has a number in this process's user namespace (user_namespaces(7)). If not, root looks like every other unmapped user (uid 65534), as
    /// in a user's unit with `PrivateUsers=yes`.
    package static let mapsRoot = SmallFile.text("/proc/self/uid_map").map(mapsRoot) ?? true

    /// Reads a map.
    ///
    /// - Parameter map: the text of a `uid_map`. Each line has the first number inside, the first number outside, and
    ///   the count.
    static func mapsRoot(_ map: String) -> Bool {
        map.split(separator: "\n").contains { $0.split(separator: " ").dropFirst().first == "0" }
    }
}

extension SystemdError {
    fileprivate static func hardeningRefused(errno: Int32) -> SystemdError {
        SystemdError("cannot keep this process out of core dumps", errno: errno)
    }
}
