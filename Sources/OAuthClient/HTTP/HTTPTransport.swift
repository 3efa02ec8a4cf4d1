import OAuthMessages
import RefreshCore

/// Sends one request and reads its answer, within a time limit. It repeats no request, and follows no redirect.
struct HTTPTransport: Sendable {
    let exchanges: Exchanges
    let configuration: OAuthClientConfiguration
    /// What the headers of servers' answers said: DPoP nonces and clocks.
    let origins = OriginMemory()

    /// Permission to keep reading after the time limit, for an answer that may hold the only refresh token that the
    /// server still accepts.
    struct Patience: Sendable {
        /// How long to read the answer, from the sending of the request. The time limit holds if it is longer.
        let limit: Duration
        /// Called once, on the thread of the exchanges, if the time limit passes after the request was sent and before
        /// its answer has come.
        let onOverdue: @Sendable () -> Void
    }

    /// A request to be sent.
    struct Request: Sendable {
        let endpoint: Endpoint
        /// The method; nil means POST with a body, GET without one.
        var method: RequestMethod?
        var headers: HeaderFields
        var body: [UInt8]?
        /// Whether the request, even without a body, carries a code or token that may be spent when it arrives.
        var isSpending = false
        /// How long to keep reading after the time limit; nil to stop at the limit.
        var patience: Patience?
        /// The CA file of the profile.
        var caFile: String?
        /// The certificate to present in the handshake (RFC 8705), and its key, in PEM; nil for none.
        var identity: Secret?
    }

    /// Sends `request` and reads the whole answer before `deadline`.
    ///
    /// With patience, the request is sent before `deadline` or not at all, and the answer may come later. The one limit
    /// includes connecting, sending, waiting and reading, so it also ends an answer that comes slowly, byte by byte.
    ///
    /// - Throws: `TransportFailure` if no whole answer arrived.
    func send(_ request: Request, before deadline: ContinuousClock.Instant) async throws(TransportFailure) -> Answer {
        let plan = try await plan(for: request, before: deadline)
        // A machine that slept since the exchange began has used up its time.
        let remaining = configuration.uptime().duration(to: deadline)
        guard remaining > .zero else { throw TransportFailure(cause: .timeLimit, wasSent: false) }
        let sentAt = configuration.now()
        let answer = try await exchanges.run(plan, within: remaining, request.patience).get().answer
        origins.note(answer, from: request.endpoint, sentAt: sentAt, now: configuration.now())
        return answer
    }

    /// The certificate of the server at `endpoint`; nil if it shows none. Sends no request.
    ///
    /// - Parameter verifies: whether to accept only a certificate that is trusted.
    /// - Throws: `TransportFailure` if there is no connection.
    func certificate(
        of endpoint: Endpoint,
        caFile: String?,
        verifies: Bool
    ) async throws(TransportFailure) -> ServerCertificate? {
        let limit = configuration.connectTimeout
        let request = Request(endpoint: endpoint, headers: [:], caFile: caFile)
        var plan = try await plan(for: request, before: configuration.uptime() + limit)
        plan.isProbe = true
        plan.verifies = verifies
        return try await exchanges.run(plan, within: limit, nil).get().certificate
    }

    private func plan(
        for request: Request,
        before deadline: ContinuousClock.Instant
    ) async throws(TransportFailure) -> ExchangePlan {
        let usesProxy = configuration.proxy.covers(request.endpoint)
        if usesProxy, configuration.proxy.isUnusable {
            throw TransportFailure(cause: .proxyConfiguration, wasSent: false)
        }
        var authorities: [UInt8]?
        if let file = request.caFile ?? configuration.caFile {
            authorities = try await configuration.authorities.certificates(in: file)
        }
        let isNamed = !request.endpoint.isLoopback && !usesProxy
        return ExchangePlan(
            request: request,
            authorities: authorities,
            proxy: usesProxy ? configuration.proxy.url : nil,
            connectTimeout: configuration.connectTimeout,
            bodyBytesMax: configuration.bodyLimit,
            // The machine may have slept while the connection was made. A refresh token must not be sent hours later.
            maySend: { [uptime = configuration.uptime] in uptime() < deadline },
            hostToLookUp: isNamed ? request.endpoint.host : usesProxy ? configuration.proxy.address?.host : nil,
            reusesConnections: configuration.reusesConnections
        )
    }
}
