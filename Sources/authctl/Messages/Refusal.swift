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
            Report(
                status: .notPermitted,
                message: "the daemon does not serve this user",
                hints: ["the daemon serves the user who runs it; check --socket and AUTHREFRESH_SOCKET"]
            )
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
                hints: ["the versions of authctl and authrefreshd may differ: \(Self.restart)"]
            )
        default:
            Report(
                status: .badData,
                message: "the daemon answered with an error that authctl does not know: '\(name)'",
                hints: ["the versions of authctl and authrefreshd may differ: \(Self.restart)"]
            )
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

    /// The parameter that the daemon does not know or accept; nil if it does not say which, and for any other error.
    var refusedParameter: String? {
        struct Parameters: Decodable {
            var parameter: String?
        }
        guard name == "org.varlink.service.InvalidParameter" else { return nil }
        return WireText.decode(Parameters.self, fromText: parameters)?.parameter
    }

    private var invalidParameter: Report {
        Report(
            status: .badData,
            message: "the daemon does not accept the parameter" + (refusedParameter.map { " '\($0)'" } ?? "s"),
            hints: ["the versions of authctl and authrefreshd may differ: \(Self.restart)"]
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
            message: "\(Setting.words(forField: error.field)) cannot be used: \(error.reason)",
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
            message: "'\(PlainText.line(error.url))' could not be asked: \(error.reason)",
            hints: [error.hint]
        )
    }

    private static func clientNotRegistered(_ error: ClientNotRegisteredError) -> Report {
        Report(
            status: error.kind == "unavailable" ? .tryAgainLater : .misconfigured,
            message: "'\(error.account)' was not added, because the server registered no client: "
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
            message: "'\(error.account)' keeps its grant, because the new one could not be refreshed: "
                + Wording.joined(error.reason, error.failure),
            hints: [error.hint] + journal(error.failure.correlationId)
        )
    }

    private static func accountParked(_ error: AccountParkedError) -> Report {
        Report(
            status: .signedOut,
            message: "'\(error.account)' is parked, because another machine may use its grant",
            hints: [error.hint]
        )
    }

    private static func tokenSetRefused(_ error: TokenSetRefusedError) -> Report {
        Report(
            status: error.userRequired ? .interactionRequired : .misconfigured,
            message: "the server refused this token of '\(error.account)': "
                + Wording.joined(error.reason, error.failure) + "; the account has not changed",
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
            message:
                "the changes were read too slowly, and the daemon keeps only \(error.unreadBytesMax) bytes of them;"
                + " nothing before this is missing",
            hints: ["run the command again: it begins with the present state"]
        )
    }

    private static func limitExceeded(_ error: LimitExceededError) -> Report {
        if let holder = error.holder {
            return Report(
                status: .tryAgainLater,
                message: "the daemon refused this call, because \(holder)",
                hints: ["end that program, or try again later"]
            )
        }
        // A newer daemon may know more limits.
        let counted = Limit(rawValue: error.limit).map { "at most \(error.maximum) \($0.words)" }
        return Report(
            status: .tryAgainLater,
            message: counted.map { "the daemon allows \($0)" } ?? "a limit of the daemon is reached (\(error.maximum))",
            hints: ["try again later"]
        )
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
