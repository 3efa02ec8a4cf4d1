package import OAuthMessages
package import RefreshCore

/// Why an issuer could not be confirmed. Each reason is in lower case, without a full stop.
package enum IssuerFinding: Hashable, Sendable {
    /// No usable answer came. The issuer may still be right.
    case unreachable(reason: String)
    /// The server at the issuer's address is not an authorization server, or it names another issuer. `other` is that
    /// issuer, if the server names it. The reason follows "'https://as.example' cannot be the issuer: ".
    case contradicted(reason: String, other: Issuer?)
}

extension ServerInspection {
    /// Asks the server at `issuer` whether that is its issuer. The metadata that it publishes is kept for the first
    /// request.
    ///
    /// - Returns: nil if it says so.
    @concurrent package func finding(about issuer: Issuer, profile: ProviderProfile?) async -> IssuerFinding? {
        let error: MetadataError
        do throws(MetadataError) {
            // Somebody may have corrected the cause a moment ago.
            servers.cache.forgetFailures(of: issuer)
            _ = try await servers.cache.metadata(for: MetadataCache.Key(issuer: issuer, profile: profile))
            return nil
        } catch let failure {
            error = failure
        }
        return switch error {
        // An untrusted certificate or an unknown host name: the cause is in the network or in another setting.
        case .noAnswer(let row): .unreachable(reason: row.summary)
        case .unavailable(let status, retryAfter: _):
            .unreachable(reason: "\(MetadataError.unavailableNow) (HTTP \(status))")
        case .redirected(_, let place, isElsewhere: true):
            // The sign-in page of a network does that.
            .unreachable(reason: "it redirects to another host, '\(place)', which is not followed")
        case .redirected(_, let place, isElsewhere: false):
            .contradicted(reason: "it redirects to '\(place)', which is not followed", other: await above(issuer))
        case .notPublished(let status):
            .contradicted(
                reason: "it publishes no metadata of an authorization server (HTTP \(status))",
                other: await above(issuer)
            )
        case .issuerMismatch(let published?):
            .contradicted(
                reason: "the server says that its issuer is '\(published)'",
                other: try? Issuer(url: published)
            )
        case .issuerMismatch(nil): .contradicted(reason: "its metadata names no issuer", other: nil)
        case .noTokenEndpoint: .contradicted(reason: "its metadata names no token endpoint", other: nil)
        case .unusableEndpoint(let name):
            .contradicted(reason: "its metadata names a \(name) that is not https", other: nil)
        }
    }

    /// The scopes that a server offers which `finding` has just confirmed; empty if it names none.
    @concurrent package func scopes(of issuer: Issuer, profile: ProviderProfile?) async -> [String] {
        let metadata = try? await servers.cache.metadata(for: MetadataCache.Key(issuer: issuer, profile: profile))
        return metadata?.scopes ?? []
    }

    /// The nearest issuer above it on the same host; nil if there is none. This finds the right issuer if somebody copied
    /// a longer address: that of a metadata document, an endpoint or a page.
    private func above(_ issuer: Issuer) async -> Issuer? {
        guard let endpoint = Endpoint(issuer.url), endpoint.path.count > 1 else { return nil }
        let host = issuer.url.dropLast(endpoint.path.count)
        var names = endpoint.path.split(separator: "/")
        if let place = names.firstIndex(of: ".well-known") {
            // RFC 8414 §3.1 has the issuer's path after the document's name, OpenID Connect Discovery §4 before it.
            names = place == 0 ? Array(names.dropFirst(2)) : Array(names[..<place])
        }
        // The paths of Keycloak's endpoints have six names.
        for count in (0...min(names.count, 6)).reversed() {
            let url = ([host] + names.prefix(count)).joined(separator: "/")
            guard url != issuer.url, let above = try? Issuer(url: url) else { continue }
            do throws(MetadataError) {
                return try await located(at: above)
            } catch .noAnswer {
                // It answered before. Each further question would wait as long.
                return nil
            } catch {
                continue
            }
        }
        return nil
    }
}
