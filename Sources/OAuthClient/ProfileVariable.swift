/// Something about a provider that each account has to say: its tenant, its realm, its data centre.
///
/// It stands in braces in the profile's URLs. What an account says is put in whole host labels and path segments only.
package struct ProfileVariable: Hashable, Sendable {
    package let name: String
    /// What it is, for people: one line.
    package let help: String
    /// Nil: an account has to say it.
    package let standard: String?
    /// A regular expression that the whole value has to match; nil: any host name or path segment.
    package let pattern: String?

    /// RFC 1035 §2.3.4; nobody's realm is as long.
    private static let longest = 253

    package init(name: String, help: String, standard: String? = nil, pattern: String? = nil) {
        self.name = name
        self.help = help
        self.standard = standard
        self.pattern = pattern
    }

    /// Whether `value` may stand in a URL for it: letters, digits, `.`, `_` and `-`, which end no host and no segment; and as the pattern
    /// says.
    package func takes(_ value: String) -> Bool {
        let isPlain = value.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isPlain, (1...Self.longest).contains(value.utf8.count), value.first != ".", value.first != "-",
            !value.contains("..")
        else { return false }
        guard let pattern else { return true }
        guard let expression = try? Regex(pattern) else { return false }
        return (try? expression.wholeMatch(in: value)) != nil
    }
}

extension ProfileVariable: Decodable {
    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(decoder, known: ["name", "help", "default", "pattern"])
        name = try fields.required("name")
        guard !name.isEmpty, name.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }) else {
            throw fields.error("name", "must be made of a-z and _")
        }
        help = try fields.required("help")
        standard = try fields.optional("default")
        pattern = try fields.converted("pattern", "is no regular expression") { text in
            (try? Regex(text)).map { _ in text }
        }
        if let standard, !takes(standard) { throw fields.error("default", "is none of the values that it may have") }
    }
}

/// Why a profile cannot be filled in with what an account says.
package enum ProfileVariableFault: Error, Hashable, Sendable {
    /// The profile has no variable of this name.
    case unknown(name: String)
    /// It may not have this value.
    case unfit(ProfileVariable, value: String)
    /// Endpoints of the profile need them; at least one.
    case missing([ProfileVariable])
}
