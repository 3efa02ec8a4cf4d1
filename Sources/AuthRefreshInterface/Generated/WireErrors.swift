// Generated from io.authrefresh.varlink by Sources/AuthRefreshInterface/generate. Do not edit.
package import Basics

/// No account has this name.
package struct NoSuchAccountError: InterfaceError {
    package static let name = "io.authrefresh.NoSuchAccount"

    /// The name in the call.
    package var account: String
    /// An account with a similar name, which the caller may have meant. Absent: there is none.
    package var nearest: String?

    package init(account: String, nearest: String? = nil) {
        self.account = account
        self.nearest = nearest
    }
}

/// An account with this name already exists.
package struct AccountExistsError: InterfaceError {
    package static let name = "io.authrefresh.AccountExists"

    /// The account's local name.
    package var account: String

    package init(account: String) {
        self.account = account
    }
}

/// A setting is invalid.
package struct InvalidSettingsError: InterfaceError {
    package static let name = "io.authrefresh.InvalidSettings"

    /// The field of AccountSettings.
    package var field: String
    /// What is wrong with it.
    package var reason: String
    /// How to correct it. Absent: there is nothing to add.
    package var hint: String?
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?
    /// The account that the setting is of. Absent: the call is about one account.
    package var account: String?

    package init(field: String, reason: String, hint: Hint? = nil, account: String? = nil) {
        self.field = field
        self.reason = reason
        self.hint = hint?.text
        self.command = hint?.command
        self.account = account
    }

    /// `hint` and the command in it.
    package var help: Hint? {
        Hint(hint, command: command)
    }
}

/// The user must act. Retries do not help, but after rejectedWithoutReason the daemon still tries once an hour.
package struct InteractionRequiredError: InterfaceError {
    package static let name = "io.authrefresh.InteractionRequired"

    /// The account's local name.
    package var account: String
    /// grantEnded, rejectedWithoutReason, outcomeUnknown, userRequired, noRefreshToken, noIDToken (the call asked for
    /// an ID token, and there is no valid one), sourceAccount, otherPerson or stepUp.
    package var reason: String
    /// As in FailureReport: what the server's answer means. Absent: no answer is the reason.
    package var summary: String?
    /// As in FailureReport. Absent: the server gave none.
    package var oauthError: String?
    /// As in FailureReport. Absent: the server gave none.
    package var oauthErrorDescription: String?
    /// As in FailureReport. Absent: the server gave none.
    package var subError: String?
    /// As in FailureReport. Absent: the server gave none.
    package var providerCode: String?
    /// As in FailureReport. Absent: no request was sent.
    package var correlationId: String?
    /// Since when the user must act, µs since 1970.
    package var sinceUSec: Int64
    /// The command that helps.
    package var hint: String
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
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

    /// `hint` and the command in it.
    package var help: Hint {
        Hint(hint, command: command)
    }
}

/// The account has no grant.
package struct SignedOutError: InterfaceError {
    package static let name = "io.authrefresh.SignedOut"

    /// The account's local name.
    package var account: String
    /// The command that helps.
    package var hint: String
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?

    package init(account: String, hint: Hint) {
        self.account = account
        self.hint = hint.text
        self.command = hint.command
    }

    /// `hint` and the command in it.
    package var help: Hint {
        Hint(hint, command: command)
    }
}

/// No valid token now; retrying later will probably help.
package struct TemporarilyUnavailableError: InterfaceError {
    package static let name = "io.authrefresh.TemporarilyUnavailable"

    /// The account's local name.
    package var account: String
    /// When the daemon tries next, µs since 1970. Absent: "reason" says what it waits for.
    package var retryAtUSec: Int64?
    /// One sentence.
    package var reason: String
    /// The last failure. Absent: no attempt was made.
    package var failure: FailureReport?

    package init(account: String, retryAtUSec: Int64? = nil, reason: String, failure: FailureReport? = nil) {
        self.account = account
        self.retryAtUSec = retryAtUSec
        self.reason = reason
        self.failure = failure
    }
}

/// The server refuses the request as it is configured, or cannot be trusted.
package struct MisconfiguredError: InterfaceError {
    package static let name = "io.authrefresh.Misconfigured"

    /// The account's local name.
    package var account: String
    /// One sentence.
    package var reason: String
    /// The last failure. Absent: no request was sent.
    package var failure: FailureReport?
    /// The command that helps.
    package var hint: String
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?

    package init(account: String, reason: String, failure: FailureReport? = nil, hint: Hint) {
        self.account = account
        self.reason = reason
        self.failure = failure
        self.hint = hint.text
        self.command = hint.command
    }

    /// `hint` and the command in it.
    package var help: Hint {
        Hint(hint, command: command)
    }
}

/// The server refuses a token for these scopes, resources, audience or claims. The account and its other tokens are not
/// affected.
package struct TokenSetRefusedError: InterfaceError {
    package static let name = "io.authrefresh.TokenSetRefused"

    /// The account's local name.
    package var account: String
    /// Whether the user could change that, for example by consent or another factor. False: the request is wrong, or
    /// the grant does not allow it.
    package var userRequired: Bool
    /// One sentence.
    package var reason: String
    /// What the server said.
    package var failure: FailureReport
    /// What helps.
    package var hint: String
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?

    package init(account: String, userRequired: Bool, reason: String, failure: FailureReport, hint: Hint) {
        self.account = account
        self.userRequired = userRequired
        self.reason = reason
        self.failure = failure
        self.hint = hint.text
        self.command = hint.command
    }

    /// `hint` and the command in it.
    package var help: Hint {
        Hint(hint, command: command)
    }
}

/// The metadata of a server cannot be read now. It may work later.
package struct ServerUnavailableError: InterfaceError {
    package static let name = "io.authrefresh.ServerUnavailable"

    /// Where the daemon looked for it.
    package var url: String
    /// One sentence.
    package var reason: String
    /// What helps.
    package var hint: String
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?

    package init(url: String, reason: String, hint: Hint) {
        self.url = url
        self.reason = reason
        self.hint = hint.text
        self.command = hint.command
    }

    /// `hint` and the command in it.
    package var help: Hint {
        Hint(hint, command: command)
    }
}

/// The server did not register a client (RFC 7591), so no account was added or changed.
package struct ClientNotRegisteredError: InterfaceError {
    package static let name = "io.authrefresh.ClientNotRegistered"

    /// The account's local name.
    package var account: String
    /// refused (the server rejects this registration) or unavailable (it may work later).
    package var kind: String
    /// One sentence.
    package var reason: String
    /// What the server said.
    package var failure: FailureReport
    /// What helps.
    package var hint: String
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?
    /// Whether the account exists, and keeps the client that it had. Absent: there is no such account.
    package var keepsClient: Bool?

    package init(
        account: String,
        kind: String,
        reason: String,
        failure: FailureReport,
        hint: Hint,
        keepsClient: Bool? = nil
    ) {
        self.account = account
        self.kind = kind
        self.reason = reason
        self.failure = failure
        self.hint = hint.text
        self.command = hint.command
        self.keepsClient = keepsClient
    }

    /// `hint` and the command in it.
    package var help: Hint {
        Hint(hint, command: command)
    }
}

/// The server did not accept the new refresh token. The account keeps its own, which may still work.
package struct GrantNotImportedError: InterfaceError {
    package static let name = "io.authrefresh.GrantNotImported"

    /// The account's local name.
    package var account: String
    /// refused (the server does not accept the token), unavailable (the server could not answer) or misconfigured (the
    /// server refuses the request as it is configured).
    package var kind: String
    /// One sentence.
    package var reason: String
    /// What the server said.
    package var failure: FailureReport
    /// What helps.
    package var hint: String
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?

    package init(account: String, kind: String, reason: String, failure: FailureReport, hint: Hint) {
        self.account = account
        self.kind = kind
        self.reason = reason
        self.failure = failure
        self.hint = hint.text
        self.command = hint.command
    }

    /// `hint` and the command in it.
    package var help: Hint {
        Hint(hint, command: command)
    }
}

/// The account is parked, because another machine may use its grant (see ExportGrant). There is no valid token, or
/// SignOut would revoke the grant.
package struct AccountParkedError: InterfaceError {
    package static let name = "io.authrefresh.AccountParked"

    /// The account's local name.
    package var account: String
    /// What helps.
    package var hint: String
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?

    package init(account: String, hint: Hint) {
        self.account = account
        self.hint = hint.text
        self.command = hint.command
    }

    /// `hint` and the command in it.
    package var help: Hint {
        Hint(hint, command: command)
    }
}

/// The sign-in was cancelled.
package struct SignInCancelledError: InterfaceError {
    package static let name = "io.authrefresh.SignInCancelled"

    /// The account's local name.
    package var account: String
    /// What cancelled it: user (CancelSignIn), superseded (a StartSignIn with "restart"), removed (the account was
    /// removed), changed (a setting that the sign-in depends on was changed) or stopping (the daemon stops).
    package var by: String

    package init(account: String, by: String) {
        self.account = account
        self.by = by
    }
}

/// The person or the server refused the sign-in.
package struct SignInDeniedError: InterfaceError {
    package static let name = "io.authrefresh.SignInDenied"

    /// The account's local name.
    package var account: String
    /// "error" of RFC 6749 section 4.1.2.1, or of RFC 8628 section 3.5: access_denied and similar errors.
    package var oauthError: String
    /// "error_description", cut to 200 characters. Absent: the server gave none.
    package var oauthErrorDescription: String?
    /// What helps.
    package var hint: String
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?

    package init(account: String, oauthError: String, oauthErrorDescription: String? = nil, hint: Hint) {
        self.account = account
        self.oauthError = oauthError
        self.oauthErrorDescription = oauthErrorDescription
        self.hint = hint.text
        self.command = hint.command
    }

    /// `hint` and the command in it.
    package var help: Hint {
        Hint(hint, command: command)
    }
}

/// The person did not come back in time.
package struct SignInTimedOutError: InterfaceError {
    package static let name = "io.authrefresh.SignInTimedOut"

    /// The account's local name.
    package var account: String

    package init(account: String) {
        self.account = account
    }
}

/// The sign-in brought no tokens. The account stays as it was.
package struct SignInFailedError: InterfaceError {
    package static let name = "io.authrefresh.SignInFailed"

    /// The account's local name.
    package var account: String
    /// refused (the server did not accept the code, or its answer cannot be trusted; signing in again may help),
    /// unavailable (it will probably work later) or misconfigured (the server rejects the request as invalid, or the
    /// settings do not allow the request).
    package var kind: String
    /// One sentence.
    package var reason: String
    /// What the server said. Absent: the daemon did not ask it.
    package var failure: FailureReport?
    /// What helps.
    package var hint: String
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?
    /// The TCP port of this machine that another program has, so that the sign-in cannot listen. Absent: it failed for
    /// another reason.
    package var port: Int64?

    package init(
        account: String,
        kind: String,
        reason: String,
        failure: FailureReport? = nil,
        hint: Hint,
        port: Int64? = nil
    ) {
        self.account = account
        self.kind = kind
        self.reason = reason
        self.failure = failure
        self.hint = hint.text
        self.command = hint.command
        self.port = port
    }

    /// `hint` and the command in it.
    package var help: Hint {
        Hint(hint, command: command)
    }
}

/// Another person signed in than the one to whom the account belongs, or than the owner of the mailbox that the account
/// is for. Nothing was stored. "replace" in StartSignIn accepts the new person.
package struct OtherSubjectError: InterfaceError {
    package static let name = "io.authrefresh.OtherSubject"

    /// The account's local name.
    package var account: String
    /// Who signed in: an e-mail address, a name, or else the issuer's identifier. Absent: not known.
    package var signedIn: String?
    /// To whom the account belongs, in the same form. Absent: not known.
    package var owner: String?
    /// What helps.
    package var hint: String
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?

    package init(account: String, signedIn: String? = nil, owner: String? = nil, hint: Hint) {
        self.account = account
        self.signedIn = signedIn
        self.owner = owner
        self.hint = hint.text
        self.command = hint.command
    }

    /// `hint` and the command in it.
    package var help: Hint {
        Hint(hint, command: command)
    }
}

/// The web session was not started.
package struct WebSessionNotStartedError: InterfaceError {
    package static let name = "io.authrefresh.WebSessionNotStarted"

    /// The callback in the call.
    package var callback: String
    /// busy (another session or another program uses the callback), unavailable (it will probably work later) or
    /// misconfigured (no program may listen there).
    package var kind: String
    /// One sentence.
    package var reason: String
    /// What helps.
    package var hint: String
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?

    package init(callback: String, kind: String, reason: String, hint: Hint) {
        self.callback = callback
        self.kind = kind
        self.reason = reason
        self.hint = hint.text
        self.command = hint.command
    }

    /// `hint` and the command in it.
    package var help: Hint {
        Hint(hint, command: command)
    }
}

/// A web session ended without a callback.
package struct WebSessionEndedError: InterfaceError {
    package static let name = "io.authrefresh.WebSessionEnded"

    /// The callback, with its port.
    package var callback: String
    /// timedOut (the browser did not come back in time) or stopping (the daemon stops).
    package var reason: String

    package init(callback: String, reason: String) {
        self.callback = callback
        self.reason = reason
    }
}

/// No such sign-in or web session is under way: it is over, or it began before a restart of the daemon.
package struct NoSuchSignInError: InterfaceError {
    package static let name = "io.authrefresh.NoSuchSignIn"

    /// "attempt" of the call. Absent: the call had none.
    package var attempt: String?

    package init(attempt: String? = nil) {
        self.attempt = attempt
    }
}

/// The daemon cannot read or write the store now.
package struct StoreUnavailableError: InterfaceError {
    package static let name = "io.authrefresh.StoreUnavailable"

    /// One sentence.
    package var reason: String
    /// What helps.
    package var hint: String
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?

    package init(reason: String, hint: Hint) {
        self.reason = reason
        self.hint = hint.text
        self.command = hint.command
    }

    /// `hint` and the command in it.
    package var help: Hint {
        Hint(hint, command: command)
    }
}

/// The store's key is not available now: the keyring is locked or missing, or does not contain the key. The daemon
/// waits for the key, and cannot answer other calls before.
package struct StoreLockedError: InterfaceError {
    package static let name = "io.authrefresh.StoreLocked"

    /// One sentence.
    package var reason: String
    /// What helps.
    package var hint: String
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?

    package init(reason: String, hint: Hint) {
        self.reason = reason
        self.hint = hint.text
        self.command = hint.command
    }

    /// `hint` and the command in it.
    package var help: Hint {
        Hint(hint, command: command)
    }
}

/// The store's key was not changed, because the new key cannot be stored.
package struct KeyNotReplacedError: InterfaceError {
    package static let name = "io.authrefresh.KeyNotReplaced"

    /// One sentence.
    package var reason: String
    /// What helps.
    package var hint: String
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?

    package init(reason: String, hint: Hint) {
        self.reason = reason
        self.hint = hint.text
        self.command = hint.command
    }

    /// `hint` and the command in it.
    package var help: Hint {
        Hint(hint, command: command)
    }
}

/// The caller may not do this. Calls that are for allowed callers only fail with this error if the process is not on
/// the account's list: AcquireToken, Refresh, ProvePossession, ReportRejected, ExportGrant, UpdateAccount, and SignOut
/// with endSession. The reason names the process as the daemon sees it.
package struct PermissionDeniedError: InterfaceError {
    package static let name = "io.authrefresh.PermissionDenied"

    /// One sentence.
    package var reason: String
    /// What to do. Absent: nothing helps.
    package var hint: String?
    /// The command in "hint", as it stands there; several: one per line. Absent: it contains none.
    package var command: String?

    package init(reason: String, hint: Hint? = nil) {
        self.reason = reason
        self.hint = hint?.text
        self.command = hint?.command
    }

    /// `hint` and the command in it.
    package var help: Hint? {
        Hint(hint, command: command)
    }
}

/// The caller of Subscribe did not read its changes, so the daemon closes the connection. The changes that it got are
/// without a gap, but it gets no more. A new subscription begins with the present state.
package struct SubscriberFellBehindError: InterfaceError {
    package static let name = "io.authrefresh.SubscriberFellBehind"

    /// How many bytes of changes may wait to be read.
    package var unreadBytesMax: Int64

    package init(unreadBytesMax: Int64) {
        self.unreadBytesMax = unreadBytesMax
    }
}

/// A limit was reached. The call was not carried out.
package struct LimitExceededError: InterfaceError {
    package static let name = "io.authrefresh.LimitExceeded"

    /// The name of the limit, and what it counts. accounts: in the store. allowedCallers: of one account.
    /// confirmations: questions that the user has not answered. connections: open at once. derivedAccounts: of one
    /// account. diagnoses: under way at once. serverCalls: registrations, sign-outs and proofs of imported grants under
    /// way at once. heldCalls: for several replies, under way at once, such as those of subscribers and agents.
    /// messageBytes: of one call. pacedCalls: of the calling process, that wait because it makes too many. page:
    /// accounts named in one call. secretBytes: of a token or client secret. settingsBytes: of one account's settings.
    /// signIns: under way at once. subscribedAccounts: followed by one subscriber. tokenFiles: accounts that have one.
    /// tokenSetBytes: of the scopes, resources, audience and claims of a token set. tokenSets: of one account, with a
    /// valid token. unreadBytes: of replies that were not read. unfinishedBytes: of calls that were not sent
    /// completely. urls: of one account. webSessions: under way at once. Of what all callers share, a process may have
    /// half of what the others leave.
    package var limit: String
    /// How many are allowed.
    package var maximum: Int64
    /// The program that holds the most, and how much it holds, for people; it may be the caller itself. Absent: callers
    /// do not share this. Example: "'python3' (process 4711) has 256 of 512 connections"
    package var holder: String?

    package init(limit: String, maximum: Int64, holder: String? = nil) {
        self.limit = limit
        self.maximum = maximum
        self.holder = holder
    }
}
