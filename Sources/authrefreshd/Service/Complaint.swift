internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore
internal import Varlink

/// Why the daemon refuses a call: what the person at the other end reads, and the error of the interface that brings it.
///
/// `authctl` puts words before the reason: "error: the client id cannot be used: REASON", "error: not permitted:
/// REASON". So it begins in lower case, and has no full stop.
struct Complaint: Hashable, Sendable {
    /// The error of the interface.
    enum Kind: Hashable {
        /// `InvalidSettings`: a setting or an argument cannot be used. `field` is its name on the wire.
        case invalid(field: String)
        /// `PermissionDenied`: the caller may not do this.
        case denied
        /// `StoreUnavailable`: work on the whole store was not done.
        case storeUnavailable
        /// `TemporarilyUnavailable`: no attempt is made for `account` now.
        case noTokenNow(of: String, retryAt: Timestamp? = nil)
        /// `WebSessionNotStarted`: no program waits at `callback` now.
        case noWebSession(callback: String, kind: String)
    }

    let kind: Kind
    let reason: String
    /// What to do, or what to give instead: an option, a command, an example of the value. Nil where the reason says
    /// it, or where the caller can do nothing.
    let hint: Hint?

    init(_ kind: Kind, _ reason: String, hint: Hint? = nil) {
        self.kind = kind
        self.reason = reason
        self.hint = hint
    }

    /// A setting or an argument that cannot be used.
    init(field: String, _ reason: String, hint: Hint? = nil) {
        self.init(.invalid(field: field), reason, hint: hint)
    }

    /// The reply to the call.
    var error: VarlinkError {
        // These errors always have one.
        let usualHint = Hint(Command("status"))
        return switch kind {
        case .invalid(let field): VarlinkError(InvalidSettingsError(field: field, reason: reason, hint: hint))
        case .denied: VarlinkError(PermissionDeniedError(reason: reason, hint: hint))
        case .storeUnavailable: VarlinkError(StoreUnavailableError(reason: reason, hint: hint ?? usualHint))
        case .noTokenNow(let account, let time):
            VarlinkError(
                TemporarilyUnavailableError(account: account, retryAtUSec: time?.microseconds, reason: reason)
            )
        case .noWebSession(let callback, let kind):
            VarlinkError(
                WebSessionNotStartedError(callback: callback, kind: kind, reason: reason, hint: hint ?? usualHint)
            )
        }
    }
}

extension VarlinkError {
    /// Creates an error of our interface.
    init(_ error: some InterfaceError) {
        self.init(type(of: error).name, parameters: error)
    }
}
