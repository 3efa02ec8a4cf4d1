package import CommandLineProgram

/// An error of the interface. Its parameters are one of the types below.
package protocol InterfaceError: Codable, Hashable, Sendable {
    /// The error's full name on the wire.
    static var name: String { get }
}

/// Parameters of `io.authrefresh.NoSuchAccount`.
package struct NoSuchAccountError: InterfaceError {
    package static let name = "io.authrefresh.NoSuchAccount"

    package var account: String
    package var nearest: String?

    package init(account: String, nearest: String? = nil) {
        self.account = account
        self.nearest = nearest
    }
}

/// Parameters of `io.authrefresh.AccountExists`.
package struct AccountExistsError: InterfaceError {
    package static let name = "io.authrefresh.AccountExists"

    package var account: String

    package init(account: String) {
        self.account = account
    }
}

/// Parameters of `io.authrefresh.InvalidSettings`.
package struct InvalidSettingsError: InterfaceError {
    package static let name = "io.authrefresh.InvalidSettings"

    package var field: String
    package var reason: String
    package var hint: String?
    package var command: String?

    package init(field: String, reason: String, hint: Hint? = nil) {
        self.field = field
        self.reason = reason
        self.hint = hint?.text
        self.command = hint?.command
    }
}

/// Parameters of `io.authrefresh.InteractionRequired`.
package struct InteractionRequiredError: InterfaceError {
    package static let name = "io.authrefresh.InteractionRequired"

    package var account: String
    package var reason: String
    package var summary: String?
    package var oauthError: String?
    package var oauthErrorDescription: String?
    package var subError: String?
    package var providerCode: String?
    package var correlationId: String?
    package var sinceUSec: Int64
    package var hint: String
    package var command: String?

    package init(
        account: String,
        reason: String,
        summary: String? = nil,
        oauthError: String? = nil,
        oauthErrorDescription: String? = nil,
        subError: String? = nil,
        providerCode: String? = nil,
        correlationId: String? = nil,
        sinceUSec: Int64,
        hint: Hint
    ) {
        self.account = account
        self.reason = reason
        self.summary = summary
        self.oauthError = oauthError
        self.oauthErrorDescription = oauthErrorDescription
        self.subError = subError
        self.providerCode = providerCode
        self.correlationId = correlationId
        self.sinceUSec = sinceUSec
        self.hint = hint.text
        self.command = hint.command
    }
}

/// Parameters of `io.authrefresh.SignedOut`.
package struct SignedOutError: InterfaceError {
    package static let name = "io.authrefresh.SignedOut"

    package var account: String
    package var hint: String
    package var command: String?

    package init(account: String, hint: Hint) {
        self.account = account
        self.hint = hint.text
        self.command = hint.command
    }
}

/// Parameters of `io.authrefresh.TemporarilyUnavailable`.
package struct TemporarilyUnavailableError: InterfaceError {
    package static let name = "io.authrefresh.TemporarilyUnavailable"

    package var account: String
    package var retryAtUSec: Int64?
    package var reason: String
    package var failure: FailureReport?

    package init(account: String, retryAtUSec: Int64? = nil, reason: String, failure: FailureReport? = nil) {
        self.account = account
        self.retryAtUSec = retryAtUSec
        self.reason = reason
        self.failure = failure
    }
}

/// Parameters of `io.authrefresh.Misconfigured`.
package struct MisconfiguredError: InterfaceError {
    package static let name = "io.authrefresh.Misconfigured"

    package var account: String
    package var reason: String
    package var failure: FailureReport?
    package var hint: String
    package var command: String?

    package init(account: String, reason: String, failure: FailureReport? = nil, hint: Hint) {
        self.account = account
        self.reason = reason
        self.failure = failure
        self.hint = hint.text
        self.command = hint.command
    }
}

/// Parameters of `io.authrefresh.TokenSetRefused`.
package struct TokenSetRefusedError: InterfaceError {
    package static let name = "io.authrefresh.TokenSetRefused"

    package var account: String
    package var userRequired: Bool
    package var reason: String
    package var failure: FailureReport
    package var hint: String
    package var command: String?

    package init(account: String, userRequired: Bool, reason: String, failure: FailureReport, hint: Hint) {
        self.account = account
        self.userRequired = userRequired
        self.reason = reason
        self.failure = failure
        self.hint = hint.text
        self.command = hint.command
    }
}

/// Parameters of `io.authrefresh.StoreUnavailable`.
package struct StoreUnavailableError: InterfaceError {
    package static let name = "io.authrefresh.StoreUnavailable"

    package var reason: String
    package var hint: String
    package var command: String?

    package init(reason: String, hint: Hint) {
        self.reason = reason
        self.hint = hint.text
        self.command = hint.command
    }
}

/// Parameters of `io.authrefresh.StoreLocked`.
package struct StoreLockedError: InterfaceError {
    package static let name = "io.authrefresh.StoreLocked"

    package var reason: String
    package var hint: String
    package var command: String?

    package init(reason: String, hint: Hint) {
        self.reason = reason
        self.hint = hint.text
        self.command = hint.command
    }
}

/// Parameters of `io.authrefresh.KeyNotReplaced`.
package struct KeyNotReplacedError: InterfaceError {
    package static let name = "io.authrefresh.KeyNotReplaced"

    package var reason: String
    package var hint: String
    package var command: String?

    package init(reason: String, hint: Hint) {
        self.reason = reason
        self.hint = hint.text
        self.command = hint.command
    }
}

/// Parameters of `io.authrefresh.PermissionDenied`.
package struct PermissionDeniedError: InterfaceError {
    package static let name = "io.authrefresh.PermissionDenied"

    package var reason: String
    package var hint: String?
    package var command: String?

    package init(reason: String, hint: Hint? = nil) {
        self.reason = reason
        self.hint = hint?.text
        self.command = hint?.command
    }
}

/// Parameters of `io.authrefresh.SubscriberFellBehind`.
package struct SubscriberFellBehindError: InterfaceError {
    package static let name = "io.authrefresh.SubscriberFellBehind"

    package var unreadBytesMax: Int64

    package init(unreadBytesMax: Int) {
        self.unreadBytesMax = Int64(unreadBytesMax)
    }
}

/// Parameters of `io.authrefresh.LimitExceeded`.
package struct LimitExceededError: InterfaceError {
    package static let name = "io.authrefresh.LimitExceeded"

    package var limit: String
    package var maximum: Int64
    package var holder: String?

    package init(_ limit: Limit, maximum: Int, holder: String? = nil) {
        self.limit = limit.rawValue
        self.maximum = Int64(maximum)
        self.holder = holder
    }
}

/// Parameters of `io.authrefresh.SignInCancelled`.
package struct SignInCancelledError: InterfaceError {
    package static let name = "io.authrefresh.SignInCancelled"

    package var account: String
    package var by: String

    package init(account: String, by: String) {
        self.account = account
        self.by = by
    }
}

/// Parameters of `io.authrefresh.SignInDenied`.
package struct SignInDeniedError: InterfaceError {
    package static let name = "io.authrefresh.SignInDenied"

    package var account: String
    package var oauthError: String
    package var oauthErrorDescription: String?
    package var hint: String
    package var command: String?

    package init(account: String, oauthError: String, oauthErrorDescription: String? = nil, hint: Hint) {
        self.account = account
        self.oauthError = oauthError
        self.oauthErrorDescription = oauthErrorDescription
        self.hint = hint.text
        self.command = hint.command
    }
}

/// Parameters of `io.authrefresh.SignInTimedOut`.
package struct SignInTimedOutError: InterfaceError {
    package static let name = "io.authrefresh.SignInTimedOut"

    package var account: String

    package init(account: String) {
        self.account = account
    }
}

/// Parameters of `io.authrefresh.SignInFailed`.
package struct SignInFailedError: InterfaceError {
    package static let name = "io.authrefresh.SignInFailed"

    package var account: String
    package var kind: String
    package var reason: String
    package var failure: FailureReport?
    package var hint: String
    package var command: String?
    package var port: Int64?

    package init(account: String, kind: String, reason: String, failure: FailureReport? = nil, hint: Hint) {
        self.account = account
        self.kind = kind
        self.reason = reason
        self.failure = failure
        self.hint = hint.text
        self.command = hint.command
    }
}

/// Parameters of `io.authrefresh.OtherSubject`.
package struct OtherSubjectError: InterfaceError {
    package static let name = "io.authrefresh.OtherSubject"

    package var account: String
    package var signedIn: String?
    package var owner: String?
    package var hint: String
    package var command: String?

    package init(account: String, signedIn: String? = nil, owner: String? = nil, hint: Hint) {
        self.account = account
        self.signedIn = signedIn
        self.owner = owner
        self.hint = hint.text
        self.command = hint.command
    }
}

/// Parameters of `io.authrefresh.WebSessionNotStarted`.
package struct WebSessionNotStartedError: InterfaceError {
    package static let name = "io.authrefresh.WebSessionNotStarted"

    package var callback: String
    package var kind: String
    package var reason: String
    package var hint: String
    package var command: String?

    package init(callback: String, kind: String, reason: String, hint: Hint) {
        self.callback = callback
        self.kind = kind
        self.reason = reason
        self.hint = hint.text
        self.command = hint.command
    }
}

/// Parameters of `io.authrefresh.WebSessionEnded`.
package struct WebSessionEndedError: InterfaceError {
    package static let name = "io.authrefresh.WebSessionEnded"

    package var callback: String
    package var reason: String

    package init(callback: String, reason: String) {
        self.callback = callback
        self.reason = reason
    }
}

/// Parameters of `io.authrefresh.NoSuchSignIn`.
package struct NoSuchSignInError: InterfaceError {
    package static let name = "io.authrefresh.NoSuchSignIn"

    package var attempt: String?

    package init(attempt: String? = nil) {
        self.attempt = attempt
    }
}
