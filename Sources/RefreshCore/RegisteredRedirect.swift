/// Where the server was told that browsers are sent back to, when the client was registered (RFC 6749 §3.1.2.2).
package struct RegisteredRedirect: Hashable, Sendable {
    /// The redirect URI as it is registered: a fixed port and path on loopback, or a page of the owner's own.
    package var uri: String?
    /// The loopback port that is registered, 1...65535; nil if any will do (RFC 8252 §7.3).
    package var port: Int?
    /// The private-use scheme that is registered (RFC 8252 §7.1).
    package var scheme: String?
    /// Where they are sent after a sign-out at the server (OpenID Connect RP-Initiated Logout §3); nil if nothing is registered.
    package var postLogoutURI: String?

    package init(uri: String? = nil, port: Int? = nil, scheme: String? = nil, postLogoutURI: String? = nil) {
        self.postLogoutURI = postLogoutURI
        self.uri = uri
        self.port = port
        self.scheme = scheme
    }

    /// Whether `text` can be a redirect URI: absolute, printable ASCII, without a fragment (RFC 6749 §3.1.2).
    package static func isURI(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7e).contains($0) } && text.contains(":") && !text.contains("#")
            && text.first?.isLetter == true
    }

    /// Whether `text` can be a scheme of one's own: RFC 8252 §7.1 wants a domain name in reverse, so at least one dot; `http` has none.
    package static func isScheme(_ text: String) -> Bool {
        text.first?.isLetter == true && text.contains(".")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                    UInt8(ascii: "-"), UInt8(ascii: "+"):
                    true
                default: false
                }
            }
    }

    package static func isPort(_ number: Int) -> Bool { (1...65_535).contains(number) }
}
