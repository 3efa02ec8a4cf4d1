internal import Foundation
@testable internal import OAuthMessages
internal import RefreshCore

/// The metadata that a server publishes: two documents, with the line `--` between them. Or that of a protected resource.
enum MetadataDocuments {
    static func run(_ input: [UInt8]) {
        if let resource = ProtectedResource(input[...]) { check(resource) }
        let text = String(decoding: input, as: UTF8.self)
        let documents = text.split(separator: "\n--\n", maxSplits: 1).compactMap {
            JSONTree.object(inAnswer: Array($0.utf8))
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

    private static func check(_ resource: ProtectedResource) {
        let name = resource.identifier
        check(name)
        let isRemote = !name.isLoopback
        require(!isRemote || !resource.issuers.contains(where: \.isLoopback), "a resource out there has no server here")
        let elsewhere = Endpoint("https://elsewhere.example/mcp")
        require(elsewhere.map { !resource.speaks(for: $0, at: $0) } ?? false, "it speaks for its own host only")
        for place in ProtectedResource.locations(of: name, named: elsewhere) {
            require(place.isSameOrigin(as: name), "only the resource's own host is asked")
        }
        guard let own = ProtectedResource.location(of: name) else { return }
        require(resource.speaks(for: name, at: own) && resource.speaks(at: own), "it speaks for itself")
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
