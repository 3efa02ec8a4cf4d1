package import RefreshCore

extension OAuthClient {
    /// Looks at the server whose issuer is, or stands at, `issuer`, and describes it: a file for `providers.d`, comments and all.
    ///
    /// People give the address that they know, without the slash or the path that the issuer has: a document there that names another
    /// issuer of the same host is believed only if that issuer's own place says the same.
    ///
    /// - Parameter name: of the profile; nil makes one of the issuer's host.
    /// - Throws: `MetadataError` if the server publishes nothing, or speaks for another.
    @concurrent package func discover(
        at issuer: Issuer,
        name: String? = nil
    ) async throws(MetadataError) -> String {
        let (metadata, template) = try await find(at: issuer)
        return ProfileText(metadata: metadata, template: template, name: name).text
    }

    /// The issuer that is, or stands at, `issuer`.
    func located(at issuer: Issuer) async throws(MetadataError) -> Issuer {
        try await find(at: issuer).metadata.issuer
    }

    private func find(
        at issuer: Issuer
    ) async throws(MetadataError) -> (metadata: AuthorizationServerMetadata, template: String?) {
        let published: String?
        do throws(MetadataError) {
            return (try await look(at: issuer, nil), nil)
        } catch .issuerMismatch(let text) {
            published = text
        } catch {
            throw error
        }
        guard let published, Endpoint(published)?.host == Endpoint(issuer.url)?.host else {
            throw .issuerMismatch(published: published)
        }
        // Entra's shared authorities publish a text with the tenant's place in braces.
        if published.contains("{") { return (try await look(at: issuer, published), published) }
        guard let own = try? Issuer(url: published) else { throw .issuerMismatch(published: published) }
        return (try await look(at: own, nil), nil)
    }

    private func look(at issuer: Issuer, _ template: String?) async throws(MetadataError) -> AuthorizationServerMetadata
    {
        var profile = ProviderProfile(name: "discovered")
        profile.issuerTemplate = template
        let fetch = MetadataFetch(transport: transport, configuration: configuration)
        return try await fetch.run(issuer: issuer, profile: template == nil ? nil : profile).metadata
    }
}

/// The text of a profile.
private struct ProfileText {
    let metadata: AuthorizationServerMetadata
    let template: String?
    let name: String?

    private static let columns = 120

    var text: String {
        let lines =
            heading
            + ["name: \(name ?? defaultName)", "issuer: \(Self.scalar(metadata.issuer.url))"]
            + (template.map { ["issuer_template: \(Self.scalar($0))"] } ?? [])
            + (scopes.isEmpty ? [] : ["scopes: [\(scopes.joined(separator: ", "))]"])
            + [
                "# Which redirect URIs the server takes it does not publish; the best first.",
                "redirects: [loopback, paste]",
            ]
        return lines.joined(separator: "\n") + "\n"
    }

    private var heading: [String] {
        let endpoints = ServerEndpoints.names.map { ($0.name, metadata.endpoints[keyPath: $0.path]?.url) }
        let found: [(String, String?)] =
            [("token_endpoint", metadata.tokenEndpoint.url), ("revocation_endpoint", metadata.revocationEndpoint?.url)]
            + endpoints + [
                ("grants", metadata.grantTypes?.joined(separator: " ")),
                ("client authentication", metadata.tokenEndpointAuthenticationMethods?.joined(separator: " ")),
                ("PKCE", metadata.codeChallengeMethods?.joined(separator: " ")),
                ("scopes", metadata.scopes?.joined(separator: " ")),
            ]
        return ["# Found by authctl provider discover. What follows is looked up again whenever it is needed:"]
            + found.flatMap { name, value in value.map { Self.comment("\(name): \($0)") } ?? [] }
            + ["#"]
            + ["# Add what it does not publish: documentation, lifetimes, parameters. See the other profiles."]
    }

    private var scopes: [String] {
        RequestingClient.usualScopes.filter { metadata.scopes?.contains($0) ?? false }
    }

    private var defaultName: String {
        let host = Endpoint(metadata.issuer.url)?.host ?? "provider"
        return String(host.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
    }

    /// A server's text as lines of a comment: it must not become anything else.
    private static func comment(_ text: String) -> [String] {
        var lines: [String] = []
        for word in text.unicodeScalars.map({ (0x21...0x7e).contains($0.value) ? Character($0) : " " }).split(
            separator: " "
        ) {
            if let last = lines.last, last.count + word.count < columns {
                lines[lines.count - 1] = last + " " + String(word)
            } else {
                lines.append((lines.isEmpty ? "#   " : "#     ") + String(word))
            }
            if lines.count > 20 { break }
        }
        return lines
    }

    /// Plain if nothing in it means something to YAML.
    private static func scalar(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/.:_~-{}".utf8.contains(byte)
            }
        }
        guard !isPlain else { return text }
        return "'" + text.replacing("'", with: "''") + "'"
    }
}
