internal import TextEncodings

/// The hosts in redirect URIs that lead to the redirect listener (RFC 8252 §7.3). It listens on 127.0.0.1 and `[::1]`.
package enum RedirectHost {
    /// Whether `host`, in lower case and without a port, leads to the listener.
    package static func isListener(_ host: some StringProtocol) -> Bool {
        host == "127.0.0.1" || host == "localhost" || IPv6Address(host: host) == .loopback
    }
}
