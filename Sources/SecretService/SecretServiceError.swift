internal import Glibc

/// Why the Secret Service did not do what was requested.
package enum SecretServiceError: Error, Hashable, Sendable {
    /// Somebody must unlock the keyring first.
    case locked
    /// There is no session bus, or nobody on it offers the service, or it did not answer in time; `reason` says which.
    case unavailable(reason: String)
    /// It answered with an error; `reason` is its own text.
    case refused(reason: String)

    /// The session bus has no address.
    package static let noBus = SecretServiceError.unavailable(reason: "there is no session bus")
    static let noKeyring = SecretServiceError.unavailable(reason: "there is no default keyring")
    static let unreadable = SecretServiceError.refused(reason: "its answer cannot be read")

    /// The session bus cannot be connected.
    static func noBus(errno: Int32) -> SecretServiceError {
        .unavailable(reason: "there is no session bus: \(text(errno))")
    }

    /// Names of errors that come from the bus instead of the service: it could not start the service, or got no answer
    /// from it.
    private static let ofTheBus: Set = [
        "ServiceUnknown", "NameHasNoOwner", "NoReply", "Timeout", "TimedOut", "Disconnected", "NoServer",
    ]

    /// libsystemd names local errors, mostly a lost connection, after their `errno`: `System.Error.ENOTCONN`.
    private static let prefixesOfTheBus = ["org.freedesktop.DBus.Error.Spawn", "System.Error."]

    /// Classifies a failed call.
    ///
    /// - Parameters:
    ///   - errno: positive.
    ///   - name: the D-Bus error's name; nil if there was no answer.
    init(errno: Int32, name: String?, message: String?) {
        guard let name else {
            self = .unavailable(reason: Self.text(errno))
            return
        }
        let last = String(name.split(separator: ".").last ?? "")
        if name == "org.freedesktop.Secret.Error.IsLocked" {
            self = .locked
        } else if Self.ofTheBus.contains(last) || Self.prefixesOfTheBus.contains(where: name.hasPrefix) {
            self = .unavailable(reason: message ?? name)
        } else {
            self = .refused(reason: message ?? name)
        }
    }

    static func text(_ errno: Int32) -> String {
        var text = [CChar](repeating: 0, count: 128)
        guard unsafe strerror_r(errno, &text, text.count) == 0 else { return "error \(errno)" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
