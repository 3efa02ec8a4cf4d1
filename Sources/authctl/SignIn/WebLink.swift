/// An address that may be handed to a browser.
struct WebLink: Hashable, Sendable {
    let text: String
    /// The host that the browser will show, with its port if it has one.
    let host: String

    /// Nil for anything but an address of the web: a browser takes much else, and acts on it.
    init?(_ text: String) {
        guard let separator = text.firstRange(of: "://"),
            ["https", "http"].contains(text[..<separator.lowerBound].lowercased()),
            text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) })
        else { return nil }
        // RFC 3986 §3.2. What stands before an '@' is there to look like a host, and browsers end the host at a backslash too.
        let authority = text[separator.upperBound...].prefix { !"/?#\\".contains($0) }
        guard !authority.isEmpty, !authority.contains("@"), !text.contains("\\") else { return nil }
        self.text = text
        host = authority.lowercased()
    }
}
