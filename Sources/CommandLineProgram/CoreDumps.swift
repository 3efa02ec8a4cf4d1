internal import Glibc

internal import CLinux

/// What a crash, or a debugger, could take from this process: tokens pass through its memory.
package enum CoreDumps {
    /// Lets no crash write one (`RLIMIT_CORE` 0); one system call.
    ///
    /// `authctl` does no more: the daemon looks at the executable of who asks for a token (allow lists, confirmations), and cannot see
    /// that of a process which is not dumpable.
    package static func forbid() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }

    /// Also lets no process of the same user read the memory (`PR_SET_DUMPABLE` 0): for a program that asks for no tokens. The programs
    /// that it starts are not held to it, because execve(2) resets it.
    package static func hideMemory() {
        forbid()
        _ = authrefresh_set_dumpable(0)
    }
}
