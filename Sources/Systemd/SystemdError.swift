internal import Glibc

/// Why a request to systemd or the kernel failed. Every `errno` is positive.
package enum SystemdError: Error, Hashable, Sendable {
    /// The variables of socket activation (`LISTEN_PID`, `LISTEN_FDS`, `LISTEN_FDNAMES`) contradict each other.
    case malformedListenEnvironment(errno: Int32)
    /// A passed socket is not a listening Unix stream socket. The `.socket` unit must be corrected.
    case notListeningUnixSocket(name: String, descriptor: Int32)
    /// The journal refused an entry.
    case journalRefused(errno: Int32)
    /// The kernel provides no timer that reports clock steps.
    case clockTimerUnavailable(errno: Int32)
    /// The routes cannot be read. Assume that the network is up.
    case routesUnavailable(errno: Int32)
    /// The user's service manager cannot be reached, or refuses to restart the unit.
    case managerRefused(unit: String, errno: Int32)
    /// There is no bus, or it went away.
    case busUnavailable(errno: Int32)
    /// `/proc/sys/kernel/random/boot_id` cannot be read.
    case bootIDUnreadable(errno: Int32)
    /// `/proc/sys/kernel/random/boot_id` does not contain a UUID.
    case malformedBootID
    /// The kernel refused to keep this process out of core dumps.
    case hardeningRefused(errno: Int32)
}

extension SystemdError: CustomStringConvertible {
    /// One line for a log: what failed, on what, and why.
    package var description: String {
        switch self {
        case .malformedListenEnvironment(let errno):
            "cannot read the sockets passed in LISTEN_FDS: \(Self.reason(errno))"
        case .notListeningUnixSocket(let name, let descriptor):
            "passed socket \"\(name)\" (descriptor \(descriptor)) is not a listening Unix stream socket"
        case .journalRefused(let errno):
            "cannot write to the journal: \(Self.reason(errno))"
        case .clockTimerUnavailable(let errno):
            "cannot watch the clock for steps: \(Self.reason(errno))"
        case .routesUnavailable(let errno):
            "cannot read the routing table: \(Self.reason(errno))"
        case .managerRefused(let unit, let errno):
            "the service manager does not restart \"\(unit)\": \(Self.reason(errno))"
        case .busUnavailable(let errno):
            "cannot use the bus: \(Self.reason(errno))"
        case .bootIDUnreadable(let errno):
            "cannot read \"\(BootClock.bootIDPath)\": \(Self.reason(errno))"
        case .malformedBootID:
            "\"\(BootClock.bootIDPath)\" is not a UUID"
        case .hardeningRefused(let errno):
            "cannot keep this process out of core dumps: \(Self.reason(errno))"
        }
    }

    private static func reason(_ errno: Int32) -> String {
        // strerror itself is not thread-safe.
        var text = [CChar](repeating: 0, count: 128)
        guard unsafe strerror_r(errno, &text, text.count) == 0 else { return "error \(errno)" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
