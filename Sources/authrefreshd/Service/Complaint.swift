internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore
internal import Varlink

/// Why the daemon refuses a setting or an argument: what the person at the other end reads.
///
/// `authctl` puts words before the reason: "error: the client id cannot be used: REASON", "error: not permitted:
/// REASON". So it begins in lower case, and has no full stop. The same holds for the reasons of all other errors.
typealias Complaint = InvalidSettingsError

extension Complaint {
    /// - Parameters:
    ///   - field: its name on the wire.
    ///   - hint: what to do, or what to give instead: an option, a command, an example of the value. Nil where the
    ///     reason says it, or where the caller can do nothing.
    init(field: String, _ reason: String, hint: Hint? = nil) {
        self.init(field: field, reason: reason, hint: hint)
    }
}

extension InterfaceError {
    /// The reply to the call.
    var error: VarlinkError { VarlinkError(Self.name, parameters: self) }
}

extension Limit {
    /// - Throws: `LimitExceeded` if `amount` is more than `maximum`.
    func check(_ amount: Int, atMost maximum: Int) throws(VarlinkError) {
        guard amount <= maximum else { throw LimitExceededError(self, maximum: maximum).error }
    }
}
