internal import Glibc

/// Why the Secret Service did not do what it was asked to.
package enum SecretServiceError: Error, Hashable, Sendable {
    /// Somebody has to unlock the keyring first.
    case locked
    /// There is no session bus, or nobody on it offers the service, or it gave no answer in time; `reason` says which.
    case unavailable(reason: String)
    /// It answered with an error; `reason` is its own word for it.
    case refused(reason: String)

    /// Names of errors that the bus gives in the service's place: it could not start it, or did not hear from it.
    private static let ofTheBus: Set = [
        "ServiceUnknown", "NameHasNoOwner", "NoReply", "Timeout", "TimedOut", "Disconnected", "NoServer",
    ]

    /// libsystemd names what fails on our own side, a lost connection above all, after its `errno`: `System.Error.ENOTCONN`.
    private static let prefixesOfTheBus = ["org.freedesktop.DBus.Error.Spawn", "System.Error."]

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
