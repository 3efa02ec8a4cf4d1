internal import AuthRefreshInterface
internal import Basics
internal import FoundationEssentials
internal import RefreshCore
internal import TextEncodings

/// The calls to the daemon, each on its own connection, because a person may think for a long time between two calls.
struct Daemon {
    /// The time limit in ms. It is above the daemon's own limit of 40 s for a refresh, because the daemon's error says
    /// more than ours.
    private static let patience: Int32 = 60_000

    let socket: String

    /// A reply whose content is not needed.
    private struct Anything: Decodable {}

    private enum Answer<Reply> {
        case reply(Reply)
        case error(ErrorReply)

        var error: ErrorReply? {
            switch self {
            case .reply: nil
            case .error(let error): error
            }
        }
    }

    /// The issuer as the server publishes it, if it differs from the account's by a final slash; otherwise unchanged.
    ///
    /// oidc-agent ends every issuer with a slash.
    func publishedIssuer(_ settings: AccountSettings) throws(ProgramError) -> String? {
        guard let issuer = settings.issuer, settings.provider == nil else { return settings.issuer }
        let parameters = CheckServer.Parameters(issuer: issuer)
        guard case .reply(let reply) = try ask(.checkServer, parameters, for: CheckServer.Reply.self) else {
            return issuer
        }
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
        return try ask(.addAccount, parameters, for: Anything.self).error
    }

    /// Waits for the first refresh.
    ///
    /// - Returns: why there is no token; nil if there is one.
    func prove(_ account: String) throws(ProgramError) -> ErrorReply? {
        try ask(.acquireToken, AcquireToken.Parameters(account: account), for: Anything.self).error
    }

    /// - Returns: whether the account was removed.
    func remove(_ account: String) -> Bool {
        let answer = try? ask(.removeAccount, RemoveAccount.Parameters(account: account), for: Anything.self)
        guard case .reply = answer else { return false }
        return true
    }

    private func ask<Reply: Decodable>(
        _ method: Method,
        _ parameters: some Encodable,
        for type: Reply.Type
    ) throws(ProgramError) -> Answer<Reply> {
        guard let json = try? JSONEncoder().encode(parameters) else { throw .noAnswer }
        let reply = try call(method, String(decoding: json, as: UTF8.self))
        if let name = reply.error { return .error(ErrorReply(name: name, parameters: reply.parameters)) }
        guard let answer = try? JSONDecoder().decode(type, from: Data(reply.parameters.bytes)) else { throw .noAnswer }
        return .reply(answer)
    }

    private func call(_ method: Method, _ json: String) throws(ProgramError) -> VarlinkConnection.Reply {
        do throws(VarlinkClientError) {
            var connection = try VarlinkConnection(path: socket)
            return try connection.call(method.rawValue, parameters: json, timeoutMilliseconds: Self.patience)
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
            case .timedOut, .connectionClosed, .malformedReply, .replyTooLarge: throw .noAnswer
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
