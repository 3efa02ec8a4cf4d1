internal import Glibc

/// Why the Secret Service did not do what was requested. Each reason is in lower case, without a full stop.
package enum SecretServiceError: Error, Hashable, Sendable {
    /// Somebody must unlock the keyring first.
    case locked
    /// Nobody answers.
    case unavailable(reason: String)
    /// The service does not do it.
    case refused(reason: String)
}

extension SecretServiceError {
    package static let noBus = SecretServiceError.unavailable(reason: "there is no session bus")
    static let unreadable = SecretServiceError.refused(reason: "its answer cannot be read")

    /// The call did not reach the service, or its answer did not reach us. `errno` is positive.
    static func noAnswer(errno: Int32) -> SecretServiceError {
        .unavailable(reason: "the session bus does not answer: \(text(errno))")
    }

    /// The session bus cannot be connected. `errno` is positive.
    static func busUnusable(errno: Int32) -> SecretServiceError {
        .unavailable(reason: "there is no session bus: \(text(errno))")
    }

    private static func text(_ errno: Int32) -> String {
        var text = [CChar](repeating: 0, count: 128)
        guard unsafe strerror_r(errno, &text, text.count) == 0 else { return "error \(errno)" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension SecretServiceError {
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
            self = .noAnswer(errno: errno)
            return
        }
        let last = String(name.split(separator: ".").last ?? "")
        if name == "org.freedesktop.Secret.Error.IsLocked" {
            self = .locked
        } else if Self.ofTheBus.contains(last) || Self.prefixesOfTheBus.contains(where: name.hasPrefix) {
            self = .unavailable(reason: "the session bus says '\(message ?? name)'")
        } else {
            self = .refused(reason: "it says '\(message ?? name)'")
        }
    }
}
