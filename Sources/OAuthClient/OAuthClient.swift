import NIOCore
import OAuthMessages
package import RefreshCore

/// Speaks to authorization servers. The only code that sends a refresh token.
///
/// It decides nothing about accounts: each call is one exchange, and its outcome says what is known. Nothing is
/// repeated after a request that may have reached the server.
///
/// Each duty is a type of its own, which holds how servers are reached (`ServerAccess`) and the other duties that it needs.
package struct OAuthClient: Sendable {
    private let clients: HTTPClients
    let servers: ServerAccess

    /// Runs calls of this client where its connections live.
    package let executor: EventLoopExecutor

    /// Where people's browsers are sent.
    package let browser: BrowserURLs
    /// Sign-ins by browser.
    package let codes: CodeFlow
    /// Sign-ins by a browser on another device.
    package let devices: DeviceFlow
    /// Tokens without a person.
    package let grants: ClientGrants
    /// What servers know of a token.
    package let introspection: TokenIntrospection
    /// Registrations of clients.
    package let registrar: ClientRegistrar
    /// Looking at servers.
    package let inspection: ServerInspection

    package init(configuration: OAuthClientConfiguration = OAuthClientConfiguration()) {
        clients = HTTPClients(configuration: configuration)
        executor = EventLoopExecutor(clients.eventLoop)
        servers = ServerAccess(configuration: configuration, clients: clients)
        introspection = TokenIntrospection(servers: servers)
        let tokens = TokenEndpoint(servers: servers, introspection: introspection)
        let people = PersonLookup(servers: servers, introspection: introspection)
        browser = BrowserURLs(servers: servers)
        codes = CodeFlow(servers: servers, tokens: tokens, people: people)
        devices = DeviceFlow(servers: servers, tokens: tokens, people: people)
        grants = ClientGrants(servers: servers, tokens: tokens)
        registrar = ClientRegistrar(servers: servers)
        inspection = ServerInspection(servers: servers)
    }

    /// Spends `request`'s refresh token once and says what came of it.
    ///
    /// It takes `totalTimeout`. If the server may replace the refresh token, the answer is read for as long as `answerTimeout`: it may hold
    /// the only refresh token that the server still takes. Cancelling a refresh that was sent makes it unanswered.
    ///
    /// - Parameter onOverdue: called once if the request was sent and `totalTimeout` passes before its answer.
    @concurrent package func refresh(
        _ request: RefreshRequest,
        onOverdue: @escaping @Sendable () -> Void = {}
    ) async -> RefreshOutcome {
        await TokenRefresh(servers: servers, introspection: introspection).run(request, onOverdue: onOverdue)
    }

    /// Revokes a grant at the server (RFC 7009): the refresh token, then the access token.
    @concurrent package func revoke(_ request: RevocationRequest) async -> Result<Void, RevocationFailure> {
        await Revocation(servers: servers).run(request)
    }

    /// Has the last good metadata of each server kept beyond a restart.
    package func keepMetadata(in shelf: MetadataShelf) {
        servers.cache.keep(in: shelf)
    }

    /// Has metadata that could not be had asked for again at the next use: a network has come up, or the clock was set.
    package func forgetFailures() {
        servers.cache.forgetFailures()
    }

    /// The same for one issuer: a person asks who may have mended what was wrong with it.
    package func forgetFailures(of issuer: Issuer) {
        servers.cache.forgetFailures(of: issuer)
    }

    /// The loops that connections live on: each has `body` called on its thread, behind what it does.
    package var loops: [@Sendable (_ body: @escaping @Sendable () -> Void) -> Void] {
        servers.configuration.eventLoopGroup.makeIterator().map { loop in { loop.execute($0) } }
    }

    /// Ends all connections; later calls fail as unreachable. To be called once, when nothing is in flight.
    ///
    /// Waits for connections that are being made, `connectTimeout` at most.
    ///
    /// - Throws: what the HTTP client has to say about it; nothing can be done about it.
    package func shutdown() async throws {
        try await clients.shutDown()
    }
}
