internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore
internal import TextEncodings

/// The calls to the daemon, each on its own connection, because a person may think for a long time between two calls.
struct Daemon {
    /// The time limit in ms. It is above the daemon's own limit of 40 s for a refresh, because the daemon's error says
    /// more than ours.
    private static let patience: Int32 = 60_000

    let socket: String

    /// The issuer as the server publishes it, if it differs from the account's by a final slash; otherwise unchanged.
    ///
    /// oidc-agent ends every issuer with a slash.
    func publishedIssuer(_ settings: AccountSettings) throws(ProgramError) -> String? {
        guard let issuer = settings.issuer, settings.provider == nil else { return settings.issuer }
        guard case .success(let reply) = try ask(CheckServer.Parameters(issuer: issuer)) else { return issuer }
        guard let other = reply.otherIssuer, other + "/" == issuer || other == issuer + "/" else { return issuer }
        return other
    }

    /// - Returns: why the daemon refuses the account; nil if it was added.
    func add(_ account: MovableAccount) throws(ProgramError) -> ErrorReply? {
        let parameters = AddAccount.Parameters(
            settings: account.settings,
            clientSecret: account.clientSecret?.reveal(),
            refreshToken: account.refreshToken?.reveal()
        )
        return try ask(parameters).refusal
    }

    /// Waits for the first refresh.
    ///
    /// - Returns: why there is no token; nil if there is one.
    func prove(_ account: String) throws(ProgramError) -> ErrorReply? {
        try ask(AcquireToken.Parameters(account: account)).refusal
    }

    /// - Returns: whether the account was removed.
    func remove(_ account: String) -> Bool {
        guard let answer = try? ask(RemoveAccount.Parameters(account: account)) else { return false }
        return answer.refusal == nil
    }

    private func ask<Call: CallParameters>(_ call: Call) throws(ProgramError) -> Result<Call.Reply, ErrorReply> {
        do throws(VarlinkClientError) {
            var connection = try VarlinkConnection(path: socket)
            return try connection.ask(call, timeoutMilliseconds: Self.patience)
        } catch {
            switch error {
            case .notRunning, .unusablePath, .pathTooLong, .cannotConnect:
                throw ProgramError(
                    .unavailable,
                    "authrefreshd does not answer at '\(socket)'",
                    hint: Hint(Command("doctor"))
                )
            case .permissionDenied, .otherUser:
                throw ProgramError(
                    .notPermitted,
                    "permission denied for the socket '\(socket)'",
                    hint: Hint(Command("doctor"))
                )
            case .timedOut, .connectionClosed, .malformedReply, .unreadableReply, .replyTooLarge: throw .noAnswer
            }
        }
    }
}

extension ProgramError {
    fileprivate static let noAnswer = ProgramError(
        .tryAgainLater,
        "authrefreshd sent no answer, or one that cannot be read",
        hint: "to see whether the account was added: \(Command("status"))"
    )
}

extension Result where Failure == ErrorReply {
    fileprivate var refusal: ErrorReply? { if case .failure(let refusal) = self { refusal } else { nil } }
}

/// An error of the daemon that an import can meet.
extension ErrorReply {
    /// Whether the server says that the grant has ended. After any other error, the imported account can be repaired.
    var endsGrant: Bool {
        let reason = decode(InteractionRequiredError.self)?.reason
        return [InteractionReason.grantEnded, .outcomeUnknown].contains { $0.rawValue == reason }
    }

    var accountExists: Bool { name == AccountExistsError.name }

    /// The error for a person.
    var error: ProgramError {
        if let error = decode(InvalidSettingsError.self) {
            let field = Setting.phrase(forField: error.field)
            return ProgramError(status, "\(field) cannot be used: \(error.reason)", hint: error.help)
        }
        if let error = decode(InteractionRequiredError.self) {
            let reason = error.oauthError ?? Self.words(error.reason)
            return ProgramError(status, "the server refuses it: \(reason)", hint: error.help)
        }
        if let error = decode(MisconfiguredError.self) {
            return ProgramError(status, error.reason, hint: error.help)
        }
        if let error = decode(TemporarilyUnavailableError.self) { return ProgramError(status, error.reason) }
        return ProgramError(status, "the daemon answered with the error '\(name)'")
    }

    private var status: ExitStatus {
        switch name {
        case InteractionRequiredError.name: .interactionRequired
        case SignedOutError.name: .signedOut
        case InvalidSettingsError.name, AccountExistsError.name: .usage
        case MisconfiguredError.name: .misconfigured
        case PermissionDeniedError.name: .notPermitted
        default: .tryAgainLater
        }
    }

    /// Why the account needs a person, if the server gave no code. An unknown reason is shown unchanged.
    private static func words(_ reason: String) -> String {
        switch InteractionReason(rawValue: reason) {
        case .grantEnded: "the grant has ended"
        case .rejectedWithoutReason: "no reason is given"
        case .outcomeUnknown: "the answer to a refresh was lost, and the old refresh token no longer works"
        case .userRequired: "somebody has to sign in"
        case .noRefreshToken: "there is no refresh token"
        case .sourceAccount: "the account that its token is derived from needs a sign-in"
        case .otherPerson: "the server answered for another person"
        case nil: reason
        }
    }
}
