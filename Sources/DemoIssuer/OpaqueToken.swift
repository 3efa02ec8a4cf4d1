/// A random token of 128 bits without a meaning for its holder: an access token or a refresh token of this server.
///
/// It is stored as two words and not as text, so that a million grants need only a dictionary of words.
struct OpaqueToken: Hashable, Sendable {
    /// What a token is for. Its prefix shows the kind to people who read a test's capture.
    enum Kind: String, Hashable, Sendable, CaseIterable {
        case access = "demo-at-"
        case refresh = "demo-rt-"
    }

    let kind: Kind
    private let high: UInt64
    private let low: UInt64

    init(_ kind: Kind) {
        self.kind = kind
        high = .random(in: 0...UInt64.max)
        low = .random(in: 0...UInt64.max)
    }

    /// Reads a client's token; nil if this server cannot have issued it.
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
        // A number can be written in several ways (capitals, a plus sign); a token only in one.
        guard self.text == text else { return nil }
    }

    /// The token as a client holds it.
    var text: String {
        kind.rawValue + Self.hexadecimal(high) + Self.hexadecimal(low)
    }

    static func hexadecimal(_ word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
