internal import Basics
internal import RefreshCore

/// How a sign-in ended.
enum SignInEnd: Hashable, Sendable {
    /// The tokens are stored; or only an ID token was requested, and it is genuine.
    case completed
    /// The requested policy is done. No tokens were requested.
    case policyCompleted
    /// The person forgot the password. If `isResettable`, the account has a policy that resets it, and the person was
    /// already there.
    case passwordForgotten(isResettable: Bool)
    case cancelled(by: SignInCanceller)
    /// The person refused, or the server did so on their behalf.
    case denied(ErrorResponse)
    /// Nobody returned in time.
    case timedOut
    case failed(SignInFailure)
    /// Another person signed in than the account's. Both are given by name, or else by subject.
    case otherSubject(signedIn: String, owner: String)
}

/// What ended a sign-in early. The raw values are used on the wire.
enum SignInCanceller: String, Hashable, Sendable, CaseIterable {
    case user
    /// A new sign-in for the same account began.
    case superseded
    /// The account was removed.
    case removed
    /// A setting of the account was changed that the sign-in depends on.
    case changed
    /// The daemon is stopping.
    case stopping
}

/// Why a sign-in brought no tokens.
struct SignInFailure: Error, Hashable, Sendable {
    /// What may help. The raw values are used on the wire.
    enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Signing in again may help: the server refused the code, or its answer cannot be trusted.
        case refused
        /// Waiting may help.
        case unavailable
        /// Changing a setting may help, here or at the server.
        case misconfigured
    }

    var kind: Kind
    /// One phrase in lower case, without the server's text.
    private(set) var reason: String
    /// What the server said; nil if it was not asked, or if its answer could not be read.
    var detail: FailureDetail?
    /// What helps, for people; nil for the general advice for this kind.
    var hint: Hint?
    /// The port of this machine that another program has; nil if that is not the reason.
    var busyPort: Int?
    /// The provider profile's note about such failures; nil if there is none.
    var note: String?

    /// Creates the failure with the program's own text. `reason` is one phrase in lower case, without a full stop.
    init(_ kind: Kind, _ reason: String, hint: Hint? = nil) {
        self.init(kind, reason, detail: nil, hint: hint)
    }

    private init(_ kind: Kind, _ reason: String, detail: FailureDetail?, hint: Hint? = nil) {
        self.kind = kind
        self.reason = reason
        self.detail = detail
        self.hint = hint
    }

    /// Creates the failure of a request. A code is sent only once: after a lost answer, sending it again does not help
    /// (RFC 6749 §4.1.2). `invalid_grant` means that the code or the device code is refused (§5.2); the previous grant
    /// is still valid.
    init(_ failure: RefreshFailure) {
        let kind: Kind =
            switch failure.failureClass.subject {
            case .service: .unavailable
            case .settings: .misconfigured
            case .grant: .refused
            }
        let isCodeRefused = failure.failureClass == .grantEnded
        self.init(
            kind,
            isCodeRefused ? "the authorization server refuses the code" : failure.detail.summary,
            detail: failure.detail
        )
        // A provider's own code says more.
        if failure.detail.forbidsGrantType, failure.detail.providerCode == nil {
            reason = "the server does not let this client sign in this way"
        }
    }

    /// Creates the failure for an error that came through the browser.
    init(_ kind: Kind, _ refusal: ErrorResponse) {
        let summary = "the server sent the browser back with an error"
        let detail = FailureDetail(
            summary: summary,
            oauthError: refusal.error,
            oauthErrorDescription: refusal.description
        )
        self.init(kind, summary, detail: detail)
    }
}

extension SignInEnd {
    /// What names the policy in which people reset their password.
    static func passwordResetCommand(for account: AccountName) -> Command {
        Command("account", "edit", account.text, "--provider-setting", "password_reset_policy=POLICY")
    }

    /// Why there are no tokens, for the journal: constant text, none of it the server's.
    var reason: String {
        switch self {
        case .completed: "completed"
        case .policyCompleted: "the policy is complete"
        case .passwordForgotten: "the person has forgotten the password"
        case .cancelled(.user): "cancelled"
        case .cancelled(.superseded): "a newer sign-in has begun"
        case .cancelled(.removed): "the account was removed"
        case .cancelled(.changed): "the account was changed"
        case .cancelled(.stopping): "the daemon is stopping"
        case .denied: "declined at the server"
        case .timedOut: "nobody came back in time"
        case .failed(let failure): failure.reason
        case .otherSubject: "somebody other than the account's owner signed in"
        }
    }
}
