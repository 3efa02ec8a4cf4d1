internal import JOSE
import NIOHTTP1
import RefreshCore

/// The key sets of the servers in use, in memory, fetched once for all who ask at the same time.
actor KeySetCache {
    struct Key: Hashable {
        let endpoint: Endpoint
        let caFile: String?
    }

    private struct Entry {
        let keys: JWKSet
        let fetchedAt: ContinuousClock.Instant
    }

    /// How old keys may be before a sign-in. Servers publish a key long before they sign with it, and take one back at once only
    /// after a theft.
    static let usualAge = Duration.seconds(3600)
    /// How old keys may be that did not fit a token: a server cannot make us fetch more often than that.
    static let renewalAge = Duration.seconds(10)

    private let exchange: HTTPExchange
    private let configuration: OAuthClientConfiguration
    private var entries: [Key: Entry] = [:]
    private var inFlight: [Key: Task<Result<JWKSet, RefreshFailure>, Never>] = [:]

    init(exchange: HTTPExchange, configuration: OAuthClientConfiguration) {
        self.exchange = exchange
        self.configuration = configuration
    }

    /// The keys at `key`, fetched unless those in memory are younger than `age`; older ones are better than none.
    ///
    /// - Throws: what went wrong, if there are no keys at all.
    func keys(for key: Key, age: Duration) async throws(RefreshFailure) -> JWKSet {
        let now = configuration.uptime()
        if let entry = entries[key], entry.fetchedAt.duration(to: now) < age { return entry.keys }
        switch await fetched(key) {
        case .success(let keys):
            return keys
        case .failure(let failure):
            guard let entry = entries[key] else { throw failure }
            return entry.keys
        }
    }

    private func fetched(_ key: Key) async -> Result<JWKSet, RefreshFailure> {
        if let task = inFlight[key] { return await task.value }
        let task = Task { [exchange, configuration] in
            await Self.fetch(key, by: exchange, configuration)
        }
        inFlight[key] = task
        let result = await task.value
        inFlight[key] = nil
        if case .success(let keys) = result {
            if entries[key] == nil, entries.count >= configuration.metadataLimit,
                let oldest = entries.min(by: { $0.value.fetchedAt < $1.value.fetchedAt })
            {
                entries[oldest.key] = nil
            }
            entries[key] = Entry(keys: keys, fetchedAt: configuration.uptime())
        }
        return result
    }

    private static func fetch(
        _ key: Key,
        by exchange: HTTPExchange,
        _ configuration: OAuthClientConfiguration
    ) async -> Result<JWKSet, RefreshFailure> {
        // RFC 7517 §8.5.2 names the first type; many servers know JSON only.
        let headers: HTTPHeaders = [
            "accept": "application/jwk-set+json, application/json", "user-agent": configuration.userAgent,
        ]
        let request = HTTPExchange.Request(endpoint: key.endpoint, headers: headers, caFile: key.caFile)
        let deadline = configuration.uptime() + configuration.discoveryTimeout
        do throws(TransportFailure) {
            let answer = try await exchange.send(request, before: deadline)
            guard answer.status == 200, let keys = try? JWKSet(answer.body) else {
                return .failure(unreadable(answer, now: configuration.now()))
            }
            return .success(keys)
        } catch {
            let row = FailureTable.standard.row(for: FailureSignal(error, now: configuration.now()))
            return .failure(RefreshFailure(row.failureClass, detail: FailureDetail(summary: row.summary)))
        }
    }

    private static func unreadable(_ answer: Answer, now: Timestamp) -> RefreshFailure {
        RefreshFailure(
            .unavailable,
            detail: FailureDetail(
                summary: "the server's keys, which its id_token is checked with, cannot be had now",
                httpStatus: answer.status
            ),
            retryAfter: answer.retryAfter(now: now)
        )
    }
}
