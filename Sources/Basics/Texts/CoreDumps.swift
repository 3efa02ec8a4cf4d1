internal import CProcess
internal import Glibc

/// Protects the memory of this process. It contains tokens, which a crash or a debugger could expose.
package enum CoreDumps {
    /// Disables core dumps (`RLIMIT_CORE` 0), by one system call.
    ///
    /// `authctl` does no more than this. For allow lists and confirmations, the daemon reads which executable the caller runs, and the
    /// kernel hides that of a process that is not dumpable.
    package static func forbid() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }

    /// Also keeps other processes of the same user from reading the memory (`PR_SET_DUMPABLE` 0). Use it only in
    /// programs whose executable the daemon need not see. Programs that they start are not affected, because execve(2)
    /// resets the flag.
    package static func hideMemory() {
        forbid()
        _ = authrefresh_set_dumpable(0)
    }
}
