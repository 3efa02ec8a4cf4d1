import OAuthMessages
package import RefreshCore

/// Talks to authorization servers. No other code sends refresh tokens.
///
/// It makes no decisions about accounts: each call is one exchange, and its outcome says what is known. A request that
/// may have reached the server is not repeated.
///
/// Each task has its own type. It holds the `ServerAccess` and the other types that it needs.
///
/// It is a class, because each request holds it, and a copy of all its parts would take longer than they work.
package final class OAuthClient: Sendable {
    private let exchanges: Exchanges
    let servers: ServerAccess

    /// Runs calls of this client where its connections live.
    package let executor: ExchangeThread

    /// Makes the URLs for people's browsers.
    package let browser: BrowserURLs
    /// Sign-ins in a browser.
    package let codes: CodeFlow
    /// Sign-ins in a browser on another device.
    package let devices: DeviceFlow
    /// Grants that need no person.
    package let grants: ClientGrants
    /// Asks servers about tokens.
    package let introspection: TokenIntrospection
    /// Registers clients.
    package let registrar: ClientRegistrar
    /// Reads what servers publish.
    package let inspection: ServerInspection

    package init(configuration: OAuthClientConfiguration = OAuthClientConfiguration()) {
        exchanges = Exchanges(rest: configuration.rest, onRest: configuration.onRest)
        executor = exchanges.thread
        servers = ServerAccess(configuration: configuration, exchanges: exchanges)
        introspection = TokenIntrospection(servers: servers)
        let tokens = TokenEndpoint(servers: servers, introspection: introspection)
        let people = PersonLookup(servers: servers, introspection: introspection)
        browser = BrowserURLs(servers: servers)
        codes = CodeFlow(servers: servers, tokens: tokens, people: people)
        devices = DeviceFlow(servers: servers, tokens: tokens, people: people)
        grants = ClientGrants(servers: servers, tokens: tokens)
        registrar = ClientRegistrar(servers: servers)
        inspection = ServerInspection(servers: servers)
        exchanges.begin()
    }

    /// Keeps the last good metadata of each server across restarts.
    package func keepMetadata(in shelf: MetadataStore) {
        servers.cache.keep(in: shelf)
    }

    /// Makes the next use fetch metadata again that could not be fetched, because a network has come up or the clock
    /// was set.
    package func forgetFailures() {
        servers.cache.forgetFailures()
    }

    /// Makes the next use fetch the metadata of one issuer again, if it could not be fetched, because a person who asks
    /// may have corrected the cause.
    package func forgetFailures(of issuer: Issuer) {
        servers.cache.forgetFailures(of: issuer)
    }

    /// Closes all connections. Later calls fail as unreachable. Call it once.
    package func shutdown() async {
        await exchanges.shutDown()
    }
}
