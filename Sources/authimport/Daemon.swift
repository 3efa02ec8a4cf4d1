internal import AuthRefreshInterface
internal import FoundationEssentials
internal import MovingIn
internal import RefreshCore
internal import StrictJSON
internal import VarlinkClient

/// The calls to the daemon, each on its own connection, because a person may think for a long time between two calls.
struct Daemon {
    /// The time limit in ms. It is above the daemon's own limit of 40 s for a refresh, because the daemon's error says
    /// more than ours.
    private static let patience: Int32 = 60_000

    let socket: String

    /// A reply whose content is not needed.
    private struct Anything: Decodable {}

    /// The issuer as the server publishes it, if it differs from the account's by a final slash; otherwise unchanged.
    ///
    /// oidc-agent ends every issuer with a slash.
    func publishedIssuer(_ settings: AccountSettings) throws(ImportError) -> String? {
        guard let issuer = settings.issuer, settings.provider == nil else { return settings.issuer }
        let parameters = CheckServer.Parameters(issuer: issuer)
        let reply: CheckServer.Reply
        do throws(ImportError) {
            reply = try ask(.checkServer, parameters, for: CheckServer.Reply.self)
        } catch .refused {
            return issuer
        }
        guard let other = reply.otherIssuer, other + "/" == issuer || other == issuer + "/" else { return issuer }
        return other
    }

    func add(_ account: MovableAccount) throws(ImportError) {
        let parameters = AddAccount.Parameters(
            settings: account.settings,
            clientSecret: account.clientSecret?.reveal(),
            refreshToken: account.refreshToken?.reveal()
        )
        _ = try ask(.addAccount, parameters, for: Anything.self)
    }

    /// Waits for the first refresh.
    func prove(_ account: String) throws(ImportError) {
        _ = try ask(.acquireToken, AcquireToken.Parameters(account: account), for: Anything.self)
    }

    func remove(_ account: String) throws(ImportError) {
        _ = try ask(.removeAccount, RemoveAccount.Parameters(account: account), for: Anything.self)
    }

    private func ask<Reply: Decodable>(
        _ method: Method,
        _ parameters: some Encodable,
        for type: Reply.Type
    ) throws(ImportError) -> Reply {
        guard let json = try? JSONEncoder().encode(parameters) else { throw .noAnswer }
        let reply = try call(method, String(decoding: json, as: UTF8.self))
        if let name = reply.error { throw .refused(DaemonRefusal(name: name, parameters: reply.parameters)) }
        guard let answer = try? JSONDecoder().decode(type, from: Data(reply.parameters.bytes)) else { throw .noAnswer }
        return answer
    }

    private func call(_ method: Method, _ json: String) throws(ImportError) -> VarlinkConnection.Reply {
        do throws(VarlinkClientError) {
            var connection = try VarlinkConnection(path: socket)
            return try connection.call(method.rawValue, parameters: json, timeoutMilliseconds: Self.patience)
        } catch {
            switch error {
            case .notRunning, .unusablePath, .pathTooLong, .cannotConnect: throw .noDaemon(path: socket)
            case .permissionDenied, .otherUser: throw .notPermitted(path: socket)
            case .timedOut, .connectionClosed, .malformedReply, .replyTooLarge: throw .noAnswer
            }
        }
    }
}
