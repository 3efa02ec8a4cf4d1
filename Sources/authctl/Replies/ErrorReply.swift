internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

extension ErrorReply {
    /// The exit status and the lines for the user. There is one row for each error of the interface and of Varlink.
    var report: Report {
        var report = words
        report.isWithoutAnswer = isWithoutAnswer
        return report
    }

    private var words: Report {
        switch name {
        case NoSuchAccountError.name: row(noSuchAccount)
        case AccountExistsError.name: row(accountExists)
        case InvalidSettingsError.name: row(invalidSettings)
        case InteractionRequiredError.name: row(interactionRequired)
        case SignedOutError.name: row(signedOut)
        case TemporarilyUnavailableError.name: row(temporarilyUnavailable)
        case MisconfiguredError.name: row(misconfigured)
        case TokenSetRefusedError.name: row(tokenSetRefused)
        case StoreUnavailableError.name: row(storeUnavailable)
        case StoreLockedError.name: row(storeLocked)
        case KeyNotReplacedError.name: row(keyNotReplaced)
        case PermissionDeniedError.name: row(permissionDenied)
        case SubscriberFellBehindError.name: row(subscriberFellBehind)
        case LimitExceededError.name: row(limitExceeded)
        case ServerUnavailableError.name: row(serverUnavailable)
        case ClientNotRegisteredError.name: row(clientNotRegistered)
        case GrantNotImportedError.name: row(grantNotImported)
        case AccountParkedError.name: row(accountParked)
        case SignInCancelledError.name: row(signInCancelled)
        case SignInDeniedError.name: row(signInDenied)
        case SignInTimedOutError.name: row(signInTimedOut)
        case SignInFailedError.name: row(signInFailed)
        case OtherSubjectError.name: row(otherSubject)
        case NoSuchSignInError.name: row(noSuchSignIn)
        case WebSessionNotStartedError.name: row(webSessionNotStarted)
        case WebSessionEndedError.name: row(webSessionEnded)
        case "org.varlink.service.PermissionDenied":
            report(
                .notPermitted,
                "the daemon does not serve this user",
                "the daemon serves the user who runs it; check --socket and AUTHREFRESH_SOCKET"
            )
        case "org.varlink.service.InvalidParameter": invalidParameter
        case "org.varlink.service.InterfaceNotFound":
            report(
                .unavailable,
                "another service answers at the socket, not authrefreshd",
                "check --socket and AUTHREFRESH_SOCKET"
            )
        case "org.varlink.service.MethodNotFound", "org.varlink.service.MethodNotImplemented",
            "org.varlink.service.ExpectedMore":
            report(.unavailable, "the running daemon does not know this command", Self.versionsDiffer)
        default:
            report(
                .badData,
                "the daemon answered with an error that authctl does not know: '\(name)'",
                Self.versionsDiffer
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
        return JSONValue(parameters)?.text
    }

    /// What helps if a peer of another version answers.
    static let versionsDiffer: Hint =
        "the versions of authctl and authrefreshd may differ:"
        + " \(Command(program: "systemctl", "--user", "restart", "authrefreshd"))"

    private func row<Parameters: InterfaceError>(_ make: (Parameters) -> Report) -> Report {
        guard let parameters = WireText.decode(Parameters.self, fromText: self.parameters) else {
            return report(.badData, Report.unreadableReply.message, Self.versionsDiffer)
        }
        return make(parameters)
    }

    /// The parameter that the daemon does not know or accept; nil if it does not say which, and for any other error.
    var refusedParameter: String? {
        guard name == "org.varlink.service.InvalidParameter" else { return nil }
        return JSONValue(parameters)?["parameter"]?.string
    }

    private var invalidParameter: Report {
        report(
            .badData,
            "the daemon does not accept the parameter" + (refusedParameter.map { " '\($0)'" } ?? "s"),
            Self.versionsDiffer
        )
    }

    func noSuchAccount(_ error: NoSuchAccountError) -> Report {
        report(
            .noSuchAccount,
            // A word that cannot be an account's name may be a secret in the wrong place.
            Self.isPossibleName(error.account)
                ? "no account is named '\(error.account)'" : "no account has the name that was given",
            error.nearest.map { "did you mean '\(PlainText.line($0))'?" },
            "\(Command("account", "list"))"
        )
    }

    func accountExists(_ error: AccountExistsError) -> Report {
        report(
            .usage,
            "an account named '\(error.account)' exists already",
            "to change it: \(Command("account", "edit", error.account))",
            "to replace its grant: \(Command("account", "import", error.account, "--refresh-token-file", "FILE"))"
        )
    }

    func invalidSettings(_ error: InvalidSettingsError) -> Report {
        report(
            .badData,
            // An account of a file has the setting under its name there.
            error.account.map { "'\($0)', \(error.field): \(error.reason)" }
                ?? "\(Setting.phrase(forField: error.field)) cannot be used: \(error.reason)",
            error.help
        )
    }

    func interactionRequired(_ error: InteractionRequiredError) -> Report {
        let words = Wording.serverWords(
            code: error.oauthError,
            description: error.oauthErrorDescription,
            finer: [error.subError, error.providerCode]
        )
        return report(
            .interactionRequired,
            "'\(error.account)' needs you: \(Wording.reason(error.reason, summary: error.summary))"
                + (words.map { " (\($0))" } ?? "") + ", since \(LocalTime.now.clock(error.sinceUSec))",
            error.help,
            Self.journal(error.correlationId)
        )
    }

    func signedOut(_ error: SignedOutError) -> Report {
        report(.signedOut, "'\(error.account)' is signed out", error.help)
    }

    func temporarilyUnavailable(_ error: TemporarilyUnavailableError) -> Report {
        let next = error.retryAtUSec.map { ", the next attempt is \(LocalTime.now.relative($0))" } ?? ""
        return report(
            .tryAgainLater,
            "no valid token for '\(error.account)' now: "
                + Wording.joined(error.reason, error.failure) + next,
            "\(Command("status", error.account))",
            Self.journal(error.failure?.correlationId)
        )
    }

    func misconfigured(_ error: MisconfiguredError) -> Report {
        report(
            .misconfigured,
            "'\(error.account)' cannot be refreshed as it is set up: "
                + Wording.joined(error.reason, error.failure),
            error.help,
            Self.journal(error.failure?.correlationId)
        )
    }

    func serverUnavailable(_ error: ServerUnavailableError) -> Report {
        report(.tryAgainLater, "'\(PlainText.line(error.url))' could not be asked: \(error.reason)", error.help)
    }

    func clientNotRegistered(_ error: ClientNotRegisteredError) -> Report {
        let outcome =
            error.keepsClient ?? false
            ? "'\(error.account)' keeps its client, because the server registered no other one: "
            : "'\(error.account)' was not added, because the server registered no client: "
        return report(
            Self.status(ofKind: error.kind, otherwise: .misconfigured),
            outcome + Wording.joined(error.reason, error.failure),
            error.help
        )
    }

    func grantNotImported(_ error: GrantNotImportedError) -> Report {
        report(
            Self.status(ofKind: error.kind, otherwise: .badData),
            "'\(error.account)' keeps its grant, because the new one could not be refreshed: "
                + Wording.joined(error.reason, error.failure),
            error.help,
            Self.journal(error.failure.correlationId)
        )
    }

    func accountParked(_ error: AccountParkedError) -> Report {
        report(.signedOut, "'\(error.account)' is parked, because another machine may use its grant", error.help)
    }

    func tokenSetRefused(_ error: TokenSetRefusedError) -> Report {
        report(
            error.userRequired ? .interactionRequired : .misconfigured,
            "the server refused this token of '\(error.account)': "
                + Wording.joined(error.reason, error.failure) + "; the account has not changed",
            error.help,
            Self.journal(error.failure.correlationId)
        )
    }

    func storeUnavailable(_ error: StoreUnavailableError) -> Report {
        report(.tryAgainLater, "the daemon's store is not available: \(error.reason)", error.help)
    }

    func storeLocked(_ error: StoreLockedError) -> Report {
        report(.tryAgainLater, "the store is locked: \(error.reason)", error.help)
    }

    func keyNotReplaced(_ error: KeyNotReplacedError) -> Report {
        report(.misconfigured, "the key was not changed: \(error.reason)", error.help)
    }

    func permissionDenied(_ error: PermissionDeniedError) -> Report {
        report(.notPermitted, "not permitted: \(error.reason)", error.help)
    }

    func subscriberFellBehind(_ error: SubscriberFellBehindError) -> Report {
        report(
            .tryAgainLater,
            "the changes were read too slowly, and the daemon keeps only \(error.unreadBytesMax) bytes of them;"
                + " nothing before this is missing",
            "run the command again: it begins with the present state"
        )
    }

    func limitExceeded(_ error: LimitExceededError) -> Report {
        if let holder = error.holder {
            return report(
                .tryAgainLater,
                "the daemon refused this call, because \(holder)",
                "end that program, or try again later"
            )
        }
        // A newer daemon may know more limits.
        let limit = Limit(rawValue: error.limit)
        let counted = limit.map { "at most \(error.maximum) \($0.words)" }
        return report(
            .tryAgainLater,
            counted.map { "the daemon allows \($0)" } ?? "a limit of the daemon is reached (\(error.maximum))",
            limit?.passes == false ? "ask for less, or remove what is not needed" : "try again later"
        )
    }

    /// The status for a kind of failure. A newer daemon may know more kinds.
    static func status(ofKind kind: String, otherwise status: ExitStatus) -> ExitStatus {
        switch kind {
        case "unavailable": .tryAgainLater
        case "misconfigured": .misconfigured
        default: status
        }
    }

    /// Whether it follows the rule of `AccountSettings.name`.
    static func isPossibleName(_ name: String) -> Bool {
        name.wholeMatch(of: /[A-Za-z0-9_@+][A-Za-z0-9._@+-]{0,63}/) != nil
    }

    /// The command that shows the daemon's journal lines about a failure.
    static func journal(_ correlation: String?) -> Hint? {
        guard let correlation else { return nil }
        let field = "AUTHREFRESH_CORRELATION_ID=\(correlation)"
        return Hint(Command(program: "journalctl", "--user", "-u", "authrefreshd", field))
    }

    /// This reply as a failure of the command.
    func report(_ status: ExitStatus, _ message: String, _ hints: Hint?...) -> Report {
        Report(
            status: status,
            name: name,
            message: message,
            hints: hints.compactMap(\.self),
            parameters: shownParameters,
            cause: .refused(self)
        )
    }
}
