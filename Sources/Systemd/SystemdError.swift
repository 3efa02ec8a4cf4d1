internal import Glibc

/// Why a request to systemd or the kernel failed.
package struct SystemdError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line for a log: what failed, on what, and why.
    package let description: String
    /// The kernel's or systemd's reason, positive; nil if `description` says everything.
    package let errno: Int32?

    init(_ message: String) {
        description = message
        errno = nil
    }

    /// - Parameter message: what failed, on what. The reason follows it.
    init(_ message: String, errno: Int32) {
        description = "\(message): \(Self.reason(errno))"
        self.errno = errno
    }

    /// There is no bus, or it went away.
    package static func busUnavailable(errno: Int32) -> SystemdError {
        SystemdError("cannot use the bus", errno: errno)
    }

    private static func reason(_ errno: Int32) -> String {
        // strerror itself is not thread-safe.
        var text = [CChar](repeating: 0, count: 128)
        guard unsafe strerror_r(errno, &text, text.count) == 0 else { return "error \(errno)" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
