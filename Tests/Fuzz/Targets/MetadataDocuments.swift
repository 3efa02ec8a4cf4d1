internal import Foundation
@testable internal import OAuthMessages
internal import RefreshCore

/// The metadata that a server publishes: two documents, with the line `--` between them.
enum MetadataDocuments {
    static func run(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        let documents = text.split(separator: "\n--\n", maxSplits: 1).compactMap {
            AnswerValue.object(inAnswer: Array($0.utf8))
        }
        guard !documents.isEmpty else { return }
        for url in ["https://op.example.org", "https://op.example.org/tenant/", "http://127.0.0.1:4701"] {
            guard let issuer = try? Issuer(url: url),
                let metadata = try? AuthorizationServerMetadata(
                    issuer: issuer,
                    template: "https://op.example.org/{tenantid}",
                    documents: documents
                )
            else { continue }
            check(metadata, of: issuer)
        }
    }

    private static func check(_ metadata: AuthorizationServerMetadata, of issuer: Issuer) {
        require(metadata.issuer == issuer, "metadata is about the issuer that it was asked of")
        let endpoints =
            [metadata.tokenEndpoint, metadata.revocationEndpoint].compactMap { $0 }
            + ServerEndpoints.names.compactMap { metadata.endpoints[keyPath: $0.path] }
            + metadata.mutualTLSAliases.values
        for endpoint in endpoints {
            require(!endpoint.isLoopback || issuer.isLoopback, "a server out there has no endpoint on this machine")
            require(endpoint.isSecure || endpoint.isLoopback, "what crosses the network is encrypted")
            check(endpoint)
        }
    }

    /// The HTTP client uses Foundation to find where a request goes, so both must see the same host and port.
    static func check(_ endpoint: Endpoint) {
        guard let components = URLComponents(string: endpoint.url), let url = URL(string: endpoint.url) else { return }
        for (host, port) in [(components.host, components.port), (url.host, url.port)] {
            let bare = host.map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "[]")).lowercased() }
            require(bare == endpoint.host, "the host is the one that Foundation sees")
            require(port ?? (endpoint.isSecure ? 443 : 80) == endpoint.port, "the port is the one that Foundation sees")
            require(components.user == nil && components.fragment == nil, "there is neither a user nor a fragment")
        }
    }
}
