/// A random token of 128 bits that means nothing to its holder: an access token or a refresh token of this server.
///
/// It is kept as two words, not as text, so that a million grants cost a dictionary of words.
struct OpaqueToken: Hashable, Sendable {
    /// What a token is for; its prefix shows it to whoever reads a capture of a test.
    enum Kind: String, Hashable, Sendable, CaseIterable {
        case access = "demo-at-"
        case refresh = "demo-rt-"
    }

    let kind: Kind
    private let high: UInt64
    private let low: UInt64

    init(_ kind: Kind, using generator: inout SystemRandomNumberGenerator) {
        self.kind = kind
        high = generator.next()
        low = generator.next()
    }

    /// Reads what a client sent; nil for anything that this server cannot have issued.
    init?(_ text: String) {
        guard let kind = Kind.allCases.first(where: { text.hasPrefix($0.rawValue) }) else { return nil }
        let digits = text.dropFirst(kind.rawValue.count)
        guard digits.utf8.count == 32,
            let high = UInt64(digits.prefix(16), radix: 16),
            let low = UInt64(digits.suffix(16), radix: 16)
        else { return nil }
        self.kind = kind
        self.high = high
        self.low = low
        // A number has many spellings (capitals, a plus sign), a token has one.
        guard self.text == text else { return nil }
    }

    /// The token as a client holds it.
    var text: String {
        kind.rawValue + Self.hexadecimal(high) + Self.hexadecimal(low)
    }

    private static func hexadecimal(_ word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
