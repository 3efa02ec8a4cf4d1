internal import CProcess
internal import CSystemd
internal import Glibc

/// Protects the memory of this process, which contains plain tokens, from other processes and from the disk.
package enum ProcessHardening {
    /// Forbids core dumps and debuggers. Call it before the first secret is read.
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
    package static func apply() throws(SystemdError) {
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
}

extension SystemdError {
    fileprivate static func hardeningRefused(errno: Int32) -> SystemdError {
        SystemdError("cannot keep this process out of core dumps", errno: errno)
    }
}

/// The limit on open descriptors of this process.
package enum DescriptorLimit {
    /// Raises the soft limit (RLIMIT_NOFILE) to `count`, or as near as the hard limit allows. It never lowers the
    /// limit.
    ///
    /// Shells and service managers start programs with 1024 because of select(2), which nothing here calls.
    ///
    /// - Returns: how many of `count` may be open now; `count` itself if the limit cannot be read.
    @discardableResult
    package static func raise(to count: Int) -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0, limit.rlim_cur < rlim_t(count) else { return count }
        let before = limit.rlim_cur
        limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
        return Int(unsafe setrlimit(resource, &limit) == 0 ? limit.rlim_cur : before)
    }
}
