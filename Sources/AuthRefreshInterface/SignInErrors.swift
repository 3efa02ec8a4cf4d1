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

    package init(account: String, oauthError: String, oauthErrorDescription: String? = nil, hint: String) {
        self.account = account
        self.oauthError = oauthError
        self.oauthErrorDescription = oauthErrorDescription
        self.hint = hint
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
    package var failure: Failure?
    package var hint: String

    package init(account: String, kind: String, reason: String, failure: Failure? = nil, hint: String) {
        self.account = account
        self.kind = kind
        self.reason = reason
        self.failure = failure
        self.hint = hint
    }
}

/// Parameters of `io.authrefresh.OtherSubject`.
package struct OtherSubjectError: InterfaceError {
    package static let name = "io.authrefresh.OtherSubject"

    package var account: String
    package var hint: String

    package init(account: String, hint: String) {
        self.account = account
        self.hint = hint
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
