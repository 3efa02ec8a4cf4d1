import OAuthMessages
import RefreshCore

extension AuthorizationServerMetadata {
    private static let columns = 120

    /// The text of a profile that describes the server.
    ///
    /// - Parameter name: the profile's name; nil makes one from the issuer's host.
    func profileText(template: String?, name: String?) -> String {
        let lines =
            heading
            + ["name: \(name ?? defaultName)", "issuer: \(Self.scalar(issuer.url))"]
            + (template.map { ["issuer_template: \(Self.scalar($0))"] } ?? [])
            + (usualScopes.isEmpty ? [] : ["scopes: [\(usualScopes.joined(separator: ", "))]"])
            + [
                "# Which redirect URIs the server takes it does not publish; the best first.",
                "redirects: [loopback, paste]",
            ]
        return lines.joined(separator: "\n") + "\n"
    }

    private var heading: [String] {
        let more = ServerEndpoints.names.map { ($0.name, endpoints[keyPath: $0.path]?.url) }
        let found: [(String, String?)] =
            [("token_endpoint", tokenEndpoint.url), ("revocation_endpoint", revocationEndpoint?.url)]
            + more + [
                ("grants", grantTypes?.joined(separator: " ")),
                ("client authentication", tokenEndpointAuthenticationMethods?.joined(separator: " ")),
                ("PKCE", codeChallengeMethods?.joined(separator: " ")),
                ("scopes", scopes?.joined(separator: " ")),
            ]
        return ["# Found by authctl provider discover. What follows is looked up again whenever it is needed:"]
            + found.flatMap { name, value in value.map { Self.comment("\(name): \($0)") } ?? [] }
            + ["#"]
            + ["# Add what it does not publish: documentation, lifetimes, parameters. See the other profiles."]
    }

    private var usualScopes: [String] {
        RequestingClient.usualScopes.filter { scopes?.contains($0) ?? false }
    }

    private var defaultName: String {
        let host = Endpoint(issuer.url)?.host ?? "provider"
        return String(host.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
    }

    /// A server's text as comment lines. Whatever the text contains, all of it stays a comment.
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

    /// The text as a YAML scalar. It has no quotes if none of its characters has a meaning in YAML.
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
