package import OAuthMessages
package import RefreshCore

/// Why an issuer could not be confirmed.
package enum IssuerFault: Error, Hashable, Sendable {
    /// No usable answer came. The issuer may still be right. One sentence says what happened.
    case unreachable(String)
    /// The server at the issuer's address is not an authorization server, or it names another issuer. `other` is that
    /// issuer, if the server names it.
    case contradicted(String, other: Issuer?)
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
        let detail = error.refreshFailure.detail
        let status = detail.httpStatus.map { " (HTTP \($0))" } ?? ""
        switch error {
        // An untrusted certificate or an unknown host name: the cause is in the network or in another setting.
        case .noAnswer, .unavailable: throw .unreachable(detail.summary + status)
        case .notPublished:
            throw .contradicted(
                "it publishes no metadata of an authorization server\(status)",
                other: await above(issuer)
            )
        case .issuerMismatch(let published):
            guard let published, let other = try? Issuer(url: published) else {
                throw .contradicted(Self.speaksForAnother(published), other: nil)
            }
            throw .contradicted(Self.speaksForAnother(published), other: other)
        case .noTokenEndpoint: throw .contradicted("its metadata names no token endpoint", other: nil)
        case .unusableEndpoint(let name):
            throw .contradicted("its metadata names a \(name) that is not https", other: nil)
        }
    }

    private static func speaksForAnother(_ published: String?) -> String {
        guard let published else { return "its metadata names no issuer" }
        return "the server says that its issuer is '\(published)'"
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
