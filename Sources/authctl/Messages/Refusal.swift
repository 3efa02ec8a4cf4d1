internal import AuthRefreshInterface
internal import CommandLineProgram
internal import StrictJSON
internal import Terminal
internal import TextEncodings
internal import VarlinkClient

/// An error reply of the daemon.
struct Refusal: Hashable, Sendable {
    /// The error's full name: `io.authrefresh.NoSuchAccount`.
    let name: String
    /// Its parameters as JSON text; `{}` if there are none.
    let parameters: String
}

extension Refusal {
    /// The exit status and the lines for the user. There is one row for each error of the interface and of Varlink.
    var report: Report {
        switch name {
        case NoSuchAccountError.name: row(NoSuchAccountError.self, Self.noSuchAccount)
        case AccountExistsError.name: row(AccountExistsError.self, Self.accountExists)
        case InvalidSettingsError.name: row(InvalidSettingsError.self, Self.invalidSettings)
        case InteractionRequiredError.name: row(InteractionRequiredError.self, Self.interactionRequired)
        case SignedOutError.name: row(SignedOutError.self, Self.signedOut)
        case TemporarilyUnavailableError.name: row(TemporarilyUnavailableError.self, Self.temporarilyUnavailable)
        case MisconfiguredError.name: row(MisconfiguredError.self, Self.misconfigured)
        case TokenSetRefusedError.name: row(TokenSetRefusedError.self, Self.tokenSetRefused)
        case StoreUnavailableError.name: row(StoreUnavailableError.self, Self.storeUnavailable)
        case StoreLockedError.name: row(StoreLockedError.self, Self.storeLocked)
        case KeyNotReplacedError.name: row(KeyNotReplacedError.self, Self.keyNotReplaced)
        case PermissionDeniedError.name: row(PermissionDeniedError.self, Self.permissionDenied)
        case SubscriberFellBehindError.name: row(SubscriberFellBehindError.self, Self.subscriberFellBehind)
        case LimitExceededError.name: row(LimitExceededError.self, Self.limitExceeded)
        case ServerUnavailableError.name: row(ServerUnavailableError.self, Self.serverUnavailable)
        case ClientNotRegisteredError.name: row(ClientNotRegisteredError.self, Self.clientNotRegistered)
        case GrantNotImportedError.name: row(GrantNotImportedError.self, Self.grantNotImported)
        case AccountParkedError.name: row(AccountParkedError.self, Self.accountParked)
        case SignInCancelledError.name: row(SignInCancelledError.self, Self.signInCancelled)
        case SignInDeniedError.name: row(SignInDeniedError.self, Self.signInDenied)
        case SignInTimedOutError.name: row(SignInTimedOutError.self, Self.signInTimedOut)
        case SignInFailedError.name: row(SignInFailedError.self, Self.signInFailed)
        case OtherSubjectError.name: row(OtherSubjectError.self, Self.otherSubject)
        case NoSuchSignInError.name: row(NoSuchSignInError.self, Self.noSuchSignIn)
        case WebSessionNotStartedError.name: row(WebSessionNotStartedError.self, Self.webSessionNotStarted)
        case WebSessionEndedError.name: row(WebSessionEndedError.self, Self.webSessionEnded)
        case "org.varlink.service.PermissionDenied":
            Report(status: .notPermitted, message: "the daemon does not serve this user")
        case "org.varlink.service.InvalidParameter": invalidParameter
        case "org.varlink.service.InterfaceNotFound":
            Report(
                status: .daemonUnreachable,
                message: "another service answers at the socket, not authrefreshd",
                hints: ["check --socket and AUTHREFRESH_SOCKET"]
            )
        case "org.varlink.service.MethodNotFound", "org.varlink.service.MethodNotImplemented",
            "org.varlink.service.ExpectedMore":
            Report(
                status: .daemonUnreachable,
                message: "the running daemon does not know this command",
                hints: ["authctl and authrefreshd may be of different versions: \(Self.restart)"]
            )
        default:
            Report(status: .badData, message: "the daemon answers with '\(name)'", hints: [Self.restart])
        }
    }

    /// The parameters as JSON, if they may be shown; nil if not. A word that cannot be an account's name may be a
    /// secret in the wrong place.
    var shownParameters: String? {
        if name == NoSuchAccountError.name {
            let error = WireText.decode(NoSuchAccountError.self, fromText: parameters)
            guard let error, Self.isPossibleName(error.account) else { return nil }
        }
        return (try? JSONText(parameters))?.text
    }

    private static let restart = "systemctl --user restart authrefreshd"

    private func row<Parameters: InterfaceError>(_ type: Parameters.Type, _ make: (Parameters) -> Report) -> Report {
        guard let parameters = WireText.decode(type, fromText: self.parameters) else {
            return ConnectionError.unreadableReply.report
        }
        return make(parameters)
    }

    private var invalidParameter: Report {
        struct Parameters: Decodable {
            var parameter: String?
        }
        let name = WireText.decode(Parameters.self, fromText: parameters)?.parameter
        return Report(
            status: .badData,
            message: "the daemon does not take the parameter" + (name.map { " '\($0)'" } ?? "s"),
            hints: ["authctl and authrefreshd may be of different versions: \(Self.restart)"]
        )
    }

    private static func noSuchAccount(_ error: NoSuchAccountError) -> Report {
        Report(
            status: .noSuchAccount,
            // A word that cannot be an account's name may be a secret in the wrong place.
            message: isPossibleName(error.account)
                ? "no account is named '\(error.account)'" : "no account has the name that was given",
            hints: (error.nearest.map { ["did you mean '\(PlainText.line($0))'?"] } ?? []) + ["authctl account list"]
        )
    }

    private static func accountExists(_ error: AccountExistsError) -> Report {
        Report(
            status: .usage,
            message: "an account named '\(error.account)' exists already",
            hints: [
                "to change it: authctl account edit \(error.account)",
                "to replace its grant: authctl account import \(error.account) --refresh-token-file FILE",
            ]
        )
    }

    private static func invalidSettings(_ error: InvalidSettingsError) -> Report {
        Report(
            status: .badData,
            message: "\(words(forField: error.field)) cannot be used: \(error.reason)",
            hints: error.hint.map { [$0] } ?? []
        )
    }

    private static func interactionRequired(_ error: InteractionRequiredError) -> Report {
        let words = Wording.serverWords(
            code: error.oauthError,
            description: error.oauthErrorDescription,
            finer: [error.subError, error.providerCode]
        )
        return Report(
            status: .interactionRequired,
            message: "'\(error.account)' needs you: \(Wording.reason(error.reason))"
                + (words.map { " (\($0))" } ?? "") + ", since \(LocalTime.now.clock(error.sinceUSec))",
            hints: [error.hint] + journal(error.correlationId)
        )
    }

    private static func signedOut(_ error: SignedOutError) -> Report {
        Report(status: .signedOut, message: "'\(error.account)' is signed out", hints: [error.hint])
    }

    private static func temporarilyUnavailable(_ error: TemporarilyUnavailableError) -> Report {
        let next = error.retryAtUSec.map { ", the next attempt is \(LocalTime.now.relative($0))" } ?? ""
        return Report(
            status: .tryAgainLater,
            message: "no valid token for '\(error.account)' now: "
                + Wording.joined(error.reason, error.failure) + next,
            hints: ["authctl status \(error.account)"] + journal(error.failure?.correlationId)
        )
    }

    private static func misconfigured(_ error: MisconfiguredError) -> Report {
        Report(
            status: .misconfigured,
            message: "'\(error.account)' cannot be refreshed as it is set up: "
                + Wording.joined(error.reason, error.failure),
            hints: [error.hint] + journal(error.failure?.correlationId)
        )
    }

    private static func serverUnavailable(_ error: ServerUnavailableError) -> Report {
        Report(
            status: .tryAgainLater,
            message: "'\(PlainText.line(error.url))' cannot be looked at now: \(error.reason)",
            hints: [error.hint]
        )
    }

    private static func clientNotRegistered(_ error: ClientNotRegisteredError) -> Report {
        Report(
            status: error.kind == "unavailable" ? .tryAgainLater : .misconfigured,
            message: "'\(error.account)' was not added, as no client was registered: "
                + Wording.joined(error.reason, error.failure),
            hints: [error.hint]
        )
    }

    private static func grantNotImported(_ error: GrantNotImportedError) -> Report {
        let status: ExitStatus =
            switch error.kind {
            case "unavailable": .tryAgainLater
            case "misconfigured": .misconfigured
            default: .badData
            }
        return Report(
            status: status,
            message: "'\(error.account)' keeps the grant that it has, as the new one could not be refreshed: "
                + Wording.joined(error.reason, error.failure),
            hints: [error.hint] + journal(error.failure.correlationId)
        )
    }

    private static func accountParked(_ error: AccountParkedError) -> Report {
        Report(
            status: .signedOut,
            message: "'\(error.account)' is parked: it was exported to be moved, and has no valid token here",
            hints: [error.hint]
        )
    }

    private static func tokenSetRefused(_ error: TokenSetRefusedError) -> Report {
        Report(
            status: error.userRequired ? .interactionRequired : .misconfigured,
            message: "'\(error.account)' gets no token for what was asked: "
                + Wording.joined(error.reason, error.failure) + "; the account stands as it did",
            hints: [error.hint] + journal(error.failure.correlationId)
        )
    }

    private static func storeUnavailable(_ error: StoreUnavailableError) -> Report {
        Report(
            status: .tryAgainLater,
            message: "the daemon's store is not available: \(error.reason)",
            hints: [error.hint]
        )
    }

    private static func storeLocked(_ error: StoreLockedError) -> Report {
        Report(status: .tryAgainLater, message: "the store is locked: \(error.reason)", hints: [error.hint])
    }

    private static func keyNotReplaced(_ error: KeyNotReplacedError) -> Report {
        Report(status: .misconfigured, message: "the key was not changed: \(error.reason)", hints: [error.hint])
    }

    private static func permissionDenied(_ error: PermissionDeniedError) -> Report {
        Report(
            status: .notPermitted,
            message: "not permitted: \(error.reason)",
            hints: error.hint.map { [$0] } ?? []
        )
    }

    private static func subscriberFellBehind(_ error: SubscriberFellBehindError) -> Report {
        Report(
            status: .tryAgainLater,
            message: "changes came faster than they were read, and the daemon keeps no more than"
                + " \(error.unreadBytesMax) bytes of them; nothing before this is missing",
            hints: ["start again: the present state comes first"]
        )
    }

    private static func limitExceeded(_ error: LimitExceededError) -> Report {
        Report(
            status: .tryAgainLater,
            message: "the daemon's limit '\(error.limit)' is reached (\(error.maximum))",
            hints: ["try again when less is going on"]
        )
    }

    /// The field in `InvalidSettings`, as the subject of a sentence.
    private static func words(forField field: String) -> String {
        if let setting = Setting.named(field) { return setting.words }
        return switch field {
        case "clientSecret", "keepSecret": "the client secret"
        case "clientKey": "the client's key"
        case "register": "a new client"
        case "registration": "the client's registration"
        case "resources": "a resource"
        case "claims": "the claims"
        case "idToken": "an ID token"
        case "redirect": "the redirected address"
        case "callback": "the callback"
        case "policy": "the policy"
        case "audience": "the audience"
        case "challenge": "the challenge"
        case "refreshToken": "the refresh token"
        case "url": "the URL"
        case "name", "newName", "newAccount": "the account's name"
        default: "the setting '\(field)'"
        }
    }

    /// Whether it follows the rule of `AccountSettings.name`.
    static func isPossibleName(_ name: String) -> Bool {
        name.wholeMatch(of: /[A-Za-z0-9_@+][A-Za-z0-9._@+-]{0,63}/) != nil
    }

    /// The command that shows the daemon's journal lines about a failure.
    static func journal(_ correlation: String?) -> [String] {
        correlation.map { ["journalctl --user -u authrefreshd AUTHREFRESH_CORRELATION_ID=\($0)"] } ?? []
    }
}

/// The end of a sign-in without tokens.
extension Refusal {
    static func signInCancelled(_ error: SignInCancelledError) -> Report {
        let again = "authctl login \(error.account)"
        return switch error.by {
        case "user":
            Report(status: .cancelled, message: "the sign-in of '\(error.account)' was cancelled by the user")
        case "superseded":
            Report(
                status: .tryAgainLater,
                message: "the sign-in of '\(error.account)' was superseded by another one, which is under way",
                hints: ["to follow that one: \(again)"]
            )
        case "removed":
            Report(status: .noSuchAccount, message: "the account '\(error.account)' was removed during its sign-in")
        // A newer daemon may know more reasons; stopping is one of them.
        default:
            Report(
                status: .tryAgainLater,
                message: "the daemon ended the sign-in of '\(error.account)' (\(PlainText.line(error.by)))",
                hints: [again]
            )
        }
    }

    static func signInDenied(_ error: SignInDeniedError) -> Report {
        let words = Wording.serverWords(code: error.oauthError, description: error.oauthErrorDescription, finer: [])
        return Report(
            status: .interactionRequired,
            message: "'\(error.account)' was not signed in: denied by the authorization server"
                + (words.map { " (\($0))" } ?? ""),
            hints: [error.hint]
        )
    }

    static func signInTimedOut(_ error: SignInTimedOutError) -> Report {
        Report(
            status: .tryAgainLater,
            message: "the sign-in of '\(error.account)' timed out: nobody came back in time",
            hints: ["authctl login \(error.account)"]
        )
    }

    static func signInFailed(_ error: SignInFailedError) -> Report {
        let status: ExitStatus =
            switch error.kind {
            case "unavailable": .tryAgainLater
            case "misconfigured": .misconfigured
            // A newer daemon may know more kinds. An unknown one needs a person.
            default: .interactionRequired
            }
        return Report(
            status: status,
            message: "'\(error.account)' was not signed in: " + Wording.joined(error.reason, error.failure),
            hints: [error.hint] + journal(error.failure?.correlationId)
        )
    }

    static func otherSubject(_ error: OtherSubjectError) -> Report {
        // An older daemon sends neither name.
        let people = error.signedIn.flatMap { signedIn in error.owner.map { (signedIn, $0) } }
        let message =
            people.map { "you signed in as '\($0)', but '\(error.account)' belongs to '\($1)'; nothing was stored" }
            ?? "another person signed in than the one whose account '\(error.account)' is; nothing was stored"
        return Report(status: .badData, message: message, hints: [error.hint])
    }

    static func noSuchSignIn(_: NoSuchSignInError) -> Report {
        Report(
            status: .badData,
            message: "no sign-in is under way that this belongs to",
            hints: ["it may be over, or have been begun anew: authctl login ACCOUNT"]
        )
    }

    static func webSessionNotStarted(_ error: WebSessionNotStartedError) -> Report {
        Report(
            // A newer daemon may know more kinds.
            status: error.kind == "misconfigured" ? .misconfigured : .tryAgainLater,
            message: "nobody can be sent back to '\(PlainText.line(error.callback))' now: \(error.reason)",
            hints: [error.hint]
        )
    }

    static func webSessionEnded(_ error: WebSessionEndedError) -> Report {
        let callback = PlainText.line(error.callback)
        return Report(
            status: .tryAgainLater,
            message: error.reason == "timedOut"
                ? "timed out: no browser came back to '\(callback)'"
                : "the daemon ended the session at '\(callback)' (\(PlainText.line(error.reason)))"
        )
    }
}
