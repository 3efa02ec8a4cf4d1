internal import Glibc

/// Why the Secret Service did not do what was requested.
package enum SecretServiceError: Error, Hashable, Sendable {
    /// Somebody must unlock the keyring first.
    case locked
    case unavailable(Absence)
    case refused(Refusal)

    /// Why nobody answers.
    package enum Absence: Hashable, Sendable {
        /// The session bus has no address.
        case noBus
        /// The session bus cannot be connected.
        case busUnusable(errno: Int32)
        /// The call did not reach the service, or its answer did not reach us.
        case noAnswer(errno: Int32)
        /// The bus could not start the service, or got no answer from it. The words are the bus's own, or the name of
        /// its error.
        case reportedByBus(words: String)
        case noKeyring
    }

    /// Why the service does not do it.
    package enum Refusal: Hashable, Sendable {
        /// The words are the service's own, or the name of its error.
        case reported(words: String)
        case unreadableAnswer
    }
}

extension SecretServiceError.Absence {
    /// Lower case, no full stop.
    package var text: String {
        switch self {
        case .noBus: "there is no session bus"
        case .busUnusable(let errno): "there is no session bus: \(Self.text(errno))"
        case .noAnswer(let errno): "the session bus does not answer: \(Self.text(errno))"
        case .reportedByBus(let words): "the session bus says '\(words)'"
        case .noKeyring: "there is no default keyring"
        }
    }

    private static func text(_ errno: Int32) -> String {
        var text = [CChar](repeating: 0, count: 128)
        guard unsafe strerror_r(errno, &text, text.count) == 0 else { return "error \(errno)" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension SecretServiceError.Refusal {
    /// Lower case, no full stop.
    package var text: String {
        switch self {
        case .reported(let words): "it says '\(words)'"
        case .unreadableAnswer: "its answer cannot be read"
        }
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
            self = .unavailable(.noAnswer(errno: errno))
            return
        }
        let last = String(name.split(separator: ".").last ?? "")
        if name == "org.freedesktop.Secret.Error.IsLocked" {
            self = .locked
        } else if Self.ofTheBus.contains(last) || Self.prefixesOfTheBus.contains(where: name.hasPrefix) {
            self = .unavailable(.reportedByBus(words: message ?? name))
        } else {
            self = .refused(.reported(words: message ?? name))
        }
    }
}
