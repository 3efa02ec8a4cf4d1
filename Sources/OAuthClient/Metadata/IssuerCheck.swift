package import OAuthMessages
package import RefreshCore

/// Why an issuer could not be confirmed.
package enum IssuerFault: Error, Hashable, Sendable {
    /// No usable answer came. The issuer may still be right.
    case unreachable(IssuerSilence)
    /// The server at the issuer's address is not an authorization server, or it names another issuer. `other` is that
    /// issuer, if the server names it.
    case contradicted(IssuerContradiction, other: Issuer?)
}

extension ServerInspection {
    /// Asks the server at `issuer` whether that is its issuer. The metadata that it publishes is kept for the first
    /// request.
    ///
    /// - Throws: `IssuerFault`.
    @concurrent package func check(_ issuer: Issuer, profile: ProviderProfile?) async throws(IssuerFault) {
        let error: MetadataError
        do throws(MetadataError) {
            // Somebody may have corrected the cause a moment ago.
            servers.cache.forgetFailures(of: issuer)
            _ = try await servers.cache.metadata(for: MetadataCache.Key(issuer: issuer, profile: profile))
            return
        } catch let failure {
            error = failure
        }
        switch error {
        // An untrusted certificate or an unknown host name: the cause is in the network or in another setting.
        case .noAnswer(let row): throw .unreachable(.noAnswer(row))
        case .unavailable(let status, retryAfter: _): throw .unreachable(.unavailable(status: status))
        case .redirected(_, let place, isElsewhere: true): throw .unreachable(.redirected(to: place))
        case .redirected(_, let place, isElsewhere: false):
            throw .contradicted(.redirected(to: place), other: await above(issuer))
        case .notPublished(let status): throw .contradicted(.notPublished(status: status), other: await above(issuer))
        case .issuerMismatch(let published):
            throw .contradicted(.otherIssuer(published), other: published.flatMap { try? Issuer(url: $0) })
        case .noTokenEndpoint: throw .contradicted(.noTokenEndpoint, other: nil)
        case .unusableEndpoint(let name): throw .contradicted(.insecureEndpoint(name), other: nil)
        }
    }

    /// The issuer at the root of the same host; nil if there is none. This finds the right issuer if somebody copied a
    /// longer address.
    private func above(_ issuer: Issuer) async -> Issuer? {
        guard let endpoint = Endpoint(issuer.url), endpoint.path.count > 1,
            let root = try? Issuer(url: String(issuer.url.dropLast(endpoint.path.count)))
        else { return nil }
        return try? await located(at: root)
    }
}
