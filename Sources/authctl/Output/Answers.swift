internal import AuthRefreshInterface

/// The result with `--json` of a command for which the interface has no type: an object. The documentation's page
/// "JSON-of-authctl" lists the members.
struct Answer: Encodable, ExpressibleByDictionaryLiteral {
    private let members: [String: any Encodable]

    /// Members without a value are left out.
    init(dictionaryLiteral members: (String, (any Encodable)?)...) {
        self.members = Dictionary(members.compactMap { name, value in value.map { (name, $0) } }) { $1 }
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: MemberName.self)
        for (name, value) in members { try object.encode(value, forKey: MemberName(name)) }
    }
}
