package import OAuthMessages
package import RefreshCore

/// Why an issuer is not taken at its word.
package enum IssuerFault: Error, Hashable, Sendable {
    /// No server said anything of use; it may be right all the same. One sentence says why.
    case unreachable(String)
    /// What stands at its place is no authorization server, or another issuer's. The server there may say which: `other`.
    case contradicted(String, other: Issuer?)
}

extension ServerInspection {
    /// Has the server of `issuer` say that it is the one; what it says is kept for the first request.
    ///
    /// - Throws: `IssuerFault`.
    @concurrent package func check(_ issuer: Issuer, profile: ProviderProfile?) async throws(IssuerFault) {
        let error: MetadataError
        do throws(MetadataError) {
            // Somebody may have mended what was wrong a moment ago.
            servers.cache.forgetFailures(of: issuer)
            _ = try await servers.cache.metadata(for: MetadataCache.Key(issuer: issuer, profile: profile))
            return
        } catch let failure {
            error = failure
        }
        let detail = error.refreshFailure.detail
        let status = detail.httpStatus.map { " (HTTP \($0))" } ?? ""
        switch error {
        // A certificate that is not trusted, or no name: the network, or a setting elsewhere.
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

    /// The issuer at the root of the same host, where people who copied a longer address find it; nil if there is none.
    private func above(_ issuer: Issuer) async -> Issuer? {
        guard let endpoint = Endpoint(issuer.url), endpoint.path.count > 1,
            let root = try? Issuer(url: String(issuer.url.dropLast(endpoint.path.count)))
        else { return nil }
        return try? await located(at: root)
    }
}
