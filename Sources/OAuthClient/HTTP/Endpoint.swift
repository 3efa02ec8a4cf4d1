import RefreshCore
import Synchronization
import TextEncodings

/// A URL to which requests may be sent: absolute, `https` (or `http` on a loopback address), without user info and
/// without fragment.
///
/// A path with empty segments (`//api`) is kept as the server published it: glewlwyd publishes such endpoints and
/// serves them.
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// The URL as it was given.
    package let url: String
    /// The host, lower-cased, without the brackets of an IPv6 literal.
    package let host: String
    package let port: Int
    let isLoopback: Bool
    /// Whether the scheme is `https`.
    let isSecure: Bool
    /// The path, from the first `/` after the authority; empty if there is none.
    let path: Substring

    /// Nil if `url` does not follow the rule above.
    package init?(_ url: String) {
        guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else { return nil }
        let rest = url[url.index(colon, offsetBy: 3)...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        // ASCII only, because the HTTP client and this type must see the same host in the same text.
        let isPlain = url.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") }
        guard isPlain, !authority.isEmpty, authority.utf8.allSatisfy(Self.isAuthorityByte), !rest.contains("#") else {
            return nil
        }
        isLoopback = Issuer.isLoopback(authority: authority)
        switch url[..<colon].lowercased() {
        case "https": isSecure = true
        case "http" where isLoopback: isSecure = false
        default: return nil
        }
        guard let (host, port) = Endpoint.split(authority: authority) else { return nil }
        self.url = url
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
        path = rest[authority.endIndex...].prefix { $0 != "?" }
    }

    package var description: String { url }

    /// This URL with `fields` added to its query.
    func adding(_ fields: [(name: String, value: String)]) -> Endpoint {
        let query = String(decoding: FormEncoding.body(fields), as: UTF8.self)
        // The output of form encoding is valid in any query.
        return Endpoint(url + (url.contains("?") ? "&" : "?") + query) ?? self
    }

    /// Whether the byte may stand in an authority. Host names, addresses and ports need no others. RFC 3986 §3.2.2 also
    /// allows escapes in a host, but the HTTP client decodes them: with `%31` it would see another host than this type.
    private static func isAuthorityByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._:[]".utf8.contains(byte)
        }
    }

    /// Host and port of an authority such as `example.org:8443` or `[::1]:80`; nil if it is malformed.
    static func split(authority: some StringProtocol) -> (host: String, port: Int?)? {
        var host = String(authority)
        var portText = ""
        if host.hasPrefix("[") {
            guard let close = host.firstIndex(of: "]") else { return nil }
            let after = host[host.index(after: close)...]
            guard after.isEmpty || after.hasPrefix(":") else { return nil }
            portText = String(after.dropFirst())
            host = String(host[..<close].dropFirst())
        } else if let colon = host.lastIndex(of: ":") {
            portText = String(host[host.index(after: colon)...])
            host = String(host[..<colon])
            guard !host.contains(":") else { return nil }
        }
        guard !host.isEmpty else { return nil }
        guard !portText.isEmpty else { return (host.lowercased(), nil) }
        guard let port = UInt16(portText), port > 0 else { return nil }
        return (host.lowercased(), Int(port))
    }
}

/// What servers told in their last answers beside the content, by origin, in memory: the nonce for the next proof and
/// the clock.
///
/// It is protected by a lock, because each request asks three times and a call to an actor would wait for its turn on
/// the event loop each time.
final class OriginMemory: Sendable {
    /// Scheme, host and port (RFC 6454 §4), to which a nonce belongs (RFC 9449 §8.2).
    fileprivate struct Origin: Hashable {
        let host: String
        let port: Int
        let isSecure: Bool

        init(_ endpoint: Endpoint) {
            host = endpoint.host
            port = endpoint.port
            isSecure = endpoint.isSecure
        }
    }

    /// Most origins remembered. When one more comes, all are forgotten, which costs each one request more.
    static let limit = 256
    /// Longest nonce kept, in bytes. A server chooses it, and it goes into every request. Real ones have less than 200.
    static let nonceLimit = 1024

    fileprivate struct Memory {
        var nonces: [Origin: String] = [:]
        var skews: [Origin: Duration] = [:]
    }

    private let memory = Mutex(Memory())

    /// The nonce for the next DPoP proof to this origin; nil if the server gave none.
    func nonce(for endpoint: Endpoint) -> String? {
        memory.withLock { $0.nonces[Origin(endpoint)] }
    }

    /// The difference of the server's clock to ours; zero if the server never sent a date.
    func skew(of endpoint: Endpoint) -> Duration {
        memory.withLock { $0.skews[Origin(endpoint)] } ?? .zero
    }

    /// Remembers the `DPoP-Nonce` (RFC 9449 §8, §8.2) and the `Date` of `answer`.
    ///
    /// - Returns: the nonce; nil if the answer has none that can be used.
    @discardableResult func note(_ answer: Answer, from endpoint: Endpoint, now: Timestamp) -> String? {
        memory.withLock { $0.note(answer, from: Origin(endpoint), now: now) }
    }
}

extension OriginMemory.Memory {
    fileprivate mutating func note(_ answer: Answer, from origin: OriginMemory.Origin, now: Timestamp) -> String? {
        if nonces.count >= OriginMemory.limit { nonces = [:] }
        if skews.count >= OriginMemory.limit { skews = [:] }
        if let date = answer.serverDate {
            // `Date` has whole seconds, so a smaller difference means nothing.
            let skew = date - now
            skews[origin] = (Duration.seconds(-2)...Duration.seconds(2)).contains(skew) ? .zero : skew
        }
        let found = answer.headers["dpop-nonce"]
        // RFC 9449 §8: exactly one nonce, of visible characters.
        guard found.count == 1, let nonce = found.first, (1...OriginMemory.nonceLimit).contains(nonce.utf8.count),
            nonce.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        nonces[origin] = nonce
        return nonce
    }
}
