package import RefreshCore
internal import TextEncodings

/// The metadata that a protected resource publishes about itself (RFC 9728 §2), as far as this client needs it.
package struct ProtectedResource: Hashable, Sendable {
    /// The resource's identifier: `resource` of RFC 8707.
    package let identifier: Endpoint
    /// Its authorization servers, in its order; empty if it names none that can be used.
    package let issuers: [Issuer]
    /// The scopes to ask for; empty if it names none.
    package var scopes: [String]
    /// Whether it accepts only tokens that are bound to a key (RFC 9449).
    package let requiresDPoP: Bool

    /// The longest document that is read, in bytes. Real ones have less than 4 KiB.
    package static let resourceBytesMax = 64 << 10
    /// The longest identifier, in bytes. It is part of each request for tokens; longer URLs do not work everywhere.
    package static let identifierMax = 2048
    /// The most authorization servers that a resource may have. A person chooses from the list; real ones have 1 or 2.
    package static let resourceServersMax = 32

    /// Reads a document; nil if it is not one.
    ///
    /// It is read strictly. With a repeated name, another program would see another resource in the same document.
    package init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count <= Self.resourceBytesMax,
            let document = JSONValue(bytes, nestingMax: JSONTree.depthLimit),
            let names = document.members?.map(\.key), Set(names).count == names.count,
            let fields = JSONTree(document)?.fields,
            let identifier = fields["resource"]?.text.flatMap(Endpoint.init),
            identifier.url.utf8.count <= Self.identifierMax
        else { return nil }
        let isHere = identifier.isLoopback
        self.identifier = identifier
        // A remote resource must not make this client ask a service on this machine.
        issuers = (fields["authorization_servers"]?.texts ?? [])
            .compactMap { try? Issuer(url: $0) }.filter { isHere || !$0.isLoopback }
            .reduce(into: []) { all, next in if !all.contains(next) { all.append(next) } }
        scopes = (fields["scopes_supported"]?.texts ?? []).filter(TokenTarget.isScopeToken)
        requiresDPoP = fields["dpop_bound_access_tokens_required"] == .boolean(true)
    }
}

extension ProtectedResource {
    private static let wellKnown = "/.well-known/oauth-protected-resource"

    /// Where the document of `resource` is: RFC 9728 §3.1 inserts the name before path and query, and drops a slash that
    /// is all of the path.
    package static func location(of resource: Endpoint) -> Endpoint? {
        Endpoint(resource.origin + wellKnown + resource.target)
    }

    /// Where the documents of `resource` may be, the best first: at `named`, the address in its challenge; at its own
    /// address; at its host's, where most servers of the Model Context Protocol have it.
    ///
    /// A challenge that names another host is not followed. Behind proxies that is often the server's inner address.
    package static func locations(of resource: Endpoint, named: Endpoint?) -> [Endpoint] {
        let own = [location(of: resource), Endpoint(resource.origin + wellKnown)].compactMap(\.self)
        let first = named.flatMap { $0.isSameOrigin(as: resource) ? $0 : nil }
        return ([first].compactMap(\.self) + own).reduce(into: []) { all, next in
            if !all.contains(next) { all.append(next) }
        }
    }

    /// Whether the document at `location` may speak for `resource`, as RFC 9728 §3.3 demands. Otherwise a server could
    /// have this client request tokens for another one, and would get them.
    ///
    /// The document may also be that of a resource above it. Then it must be where only that resource's owner can put it.
    package func speaks(for resource: Endpoint, at location: Endpoint) -> Bool {
        guard identifier.isSameOrigin(as: resource) else { return false }
        guard identifier.target != resource.target else { return true }
        let path = identifier.target.hasSuffix("/") ? String(identifier.target.dropLast()) : identifier.target
        return !path.contains("?") && resource.target.hasPrefix(path + "/") && isOwn(location)
    }

    /// Whether the document at `location` may be this resource's, if nothing else is known of the resource.
    package func speaks(at location: Endpoint) -> Bool {
        isOwn(location) || !location.path.hasPrefix(Self.wellKnown) && identifier.isSameOrigin(as: location)
    }

    private func isOwn(_ location: Endpoint) -> Bool {
        guard let own = Self.location(of: identifier) else { return false }
        return own.isSameOrigin(as: location) && own.target == location.target
    }
}

extension Endpoint {
    /// Scheme and authority as they were written, without the path.
    package var origin: String { String(url[..<path.startIndex]) }

    /// Path and query, without a slash that is all of the path.
    fileprivate var target: String {
        let rest = url[path.startIndex...]
        return String(path == "/" ? rest.dropFirst() : rest)
    }

    /// Whether both have the same scheme, host and port (RFC 6454 §4).
    package func isSameOrigin(as other: Endpoint) -> Bool {
        isSecure == other.isSecure && host == other.host && port == other.port
    }
}
