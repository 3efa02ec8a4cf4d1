internal import CSystemd
internal import Glibc

internal import CLinux

/// Keeps the memory of this process, where tokens lie open, away from other processes and from the disk.
package enum ProcessHardening {
    /// Forbids core dumps and attaching debuggers; to be called before the first secret is read.
    ///
    /// - `PR_SET_DUMPABLE` 0: no core dump even to a pipe (systemd-coredump, which `RLIMIT_CORE` 0 does not stop in every
    ///   setting), no `ptrace` and no `/proc/PID/mem` for processes of the same user. Its price: root owns this
    ///   process's files in `/proc`, so `/proc/self/environ` and the like can no longer be opened.
    /// - `coredump_filter` 0 (core(5)): what root dumps all the same, with a debugger, holds no memory, unless it is told to take what was
    ///   left out. MADV_DONTDUMP on the pages of secrets would leave in what libraries and stacks hold of them.
    /// - `RLIMIT_CORE` 0, soft and hard: holds for children too, and survives their `execve`, which resets the first.
    ///
    /// - Throws: `hardeningRefused`; the caller should refuse to start.
    package static func apply() throws(SystemdError) {
        // Before the next line, which makes the file root's. Where it cannot be written (no /proc), the others hold.
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

/// How many descriptors this process may have open.
package enum DescriptorLimit {
    /// Raises the soft limit (RLIMIT_NOFILE) to `count`, or as near as the hard limit lets it; never lowers it.
    ///
    /// Shells and service managers start programs with 1024, for the sake of select(2), which nobody here calls.
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
