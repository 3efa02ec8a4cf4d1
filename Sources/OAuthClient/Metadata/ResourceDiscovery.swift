package import OAuthMessages
import RefreshCore

/// What was found out about a protected resource. The reasons are in lower case, without a full stop.
package enum ResourceFinding: Hashable, Sendable {
    case published(ProtectedResource)
    /// No usable answer came. The same question may succeed later.
    case unreachable(reason: String)
    /// It publishes nothing, or nothing that may be used. `other` is the resource that its document is for, if that is on
    /// the same host.
    case unusable(reason: String, other: String?)
}

extension ServerInspection {
    /// Asks the resource at `url` without a token, and reads its metadata (RFC 9728 §5).
    ///
    /// The requests go to the host that `url` names, and nowhere else.
    @concurrent package func resource(at url: Endpoint) async -> ResourceFinding {
        let limit = min(servers.configuration.discoveryTimeout, servers.configuration.totalTimeout)
        let begin = servers.configuration.uptime()
        let request = HTTPTransport.Request(
            endpoint: url,
            headers: ["accept": "*/*", "user-agent": servers.configuration.userAgent]
        )
        // Only the challenge is needed. Without an answer, or with one that never ends, the well-known addresses tell more.
        let answer = try? await servers.transport.send(request, before: begin + limit / 3)
        let challenges = answer?.challenges ?? []
        let places = ProtectedResource.locations(of: url, named: challenges.resourceMetadata)
        return await document(at: places, challenges.scopes, before: begin + limit) { $0.speaks(for: url, at: $1) }
    }

    /// Reads the metadata that a resource names in the value of a `WWW-Authenticate` field (RFC 9728 §5.1). Its URL is
    /// not known, so the document must be where that resource's documents are.
    ///
    /// - Parameter isLocal: whether the address may be on this machine.
    @concurrent package func resource(
        challenging field: String,
        isLocal: Bool
    ) async -> ResourceFinding {
        let challenges = AuthenticationChallenge.all(in: field) ?? []
        guard let place = challenges.resourceMetadata, isLocal || !place.isLoopback else {
            return .unusable(reason: "it names no address of a resource's metadata that may be asked", other: nil)
        }
        let limit = min(servers.configuration.discoveryTimeout, servers.configuration.totalTimeout)
        let deadline = servers.configuration.uptime() + limit
        return await document(at: [place], challenges.scopes, before: deadline) { $0.speaks(at: $1) }
    }

    /// The first document that is published at one of `places`.
    ///
    /// - Parameters:
    ///   - scopes: those of the challenge, which replace those of the document; empty if it names none.
    ///   - mayUse: whether the document at a place may be used.
    private func document(
        at places: [Endpoint],
        _ scopes: [String],
        before deadline: ContinuousClock.Instant,
        mayUse: (ProtectedResource, Endpoint) -> Bool
    ) async -> ResourceFinding {
        let fetch = MetadataFetch(transport: servers.transport, configuration: servers.configuration)
        for place in places {
            let body: [UInt8]
            switch await fetch.document(at: place, nil, deadline) {
            case .success(let page): body = page.body
            case .failure(.noAnswer(let row)): return .unreachable(reason: row.summary)
            // Servers of web applications answer each unknown path with their front page.
            case .failure(.unavailable(200..<300, retryAfter: _)), .failure(.notPublished), .failure(.redirected):
                continue
            case .failure(.unavailable(let status, retryAfter: _)):
                return .unreachable(reason: "\(MetadataError.unavailableNow) (HTTP \(status))")
            // Nothing is read from the document yet.
            case .failure(.issuerMismatch), .failure(.noTokenEndpoint), .failure(.unusableEndpoint): continue
            }
            guard var found = ProtectedResource(body[...]) else {
                return .unusable(reason: "its metadata at '\(place.path)' cannot be read (RFC 9728)", other: nil)
            }
            guard mayUse(found, place) else {
                let name = found.identifier
                return .unusable(
                    reason: "its metadata is for another resource, '\(name)'",
                    other: name.isSameOrigin(as: place) ? name.url : nil
                )
            }
            guard (1...ProtectedResource.resourceServersMax).contains(found.issuers.count) else {
                let count = found.issuers.isEmpty ? "no" : "more than \(ProtectedResource.resourceServersMax)"
                return .unusable(
                    reason: "its metadata names \(count) authorization servers that can be used",
                    other: nil
                )
            }
            if !scopes.isEmpty { found.scopes = scopes }
            return .published(found)
        }
        return .unusable(reason: "it publishes no metadata of a protected resource (RFC 9728)", other: nil)
    }
}

/// What a resource's challenges say about its metadata.
extension [AuthenticationChallenge] {
    /// `resource_metadata` (RFC 9728 §5.1); nil if there is none that can be asked.
    fileprivate var resourceMetadata: Endpoint? {
        aboutTokens.compactMap { $0.parameters["resource_metadata"].flatMap(Endpoint.init) }.first
    }

    /// `scope` (RFC 6750 §3): what the request would have needed. Empty if it does not say.
    fileprivate var scopes: [String] {
        let words = aboutTokens.compactMap { $0.parameters["scope"] }.first ?? ""
        return words.split(separator: " ").map(String.init).filter(TokenTarget.isScopeToken)
    }

    private var aboutTokens: [AuthenticationChallenge] { filter { ["bearer", "dpop"].contains($0.scheme) } }
}
