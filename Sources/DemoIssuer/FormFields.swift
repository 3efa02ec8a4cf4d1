internal import TextEncodings

/// The fields of a form-encoded body (RFC 6749 appendix B).
struct FormFields {
    private let fields: [String: String]
    /// The values of `resource`, the only field that may be repeated (RFC 8707 §2).
    let resources: [String]

    /// Parses a form; nil for an invalid escape or a repeated field, which RFC 6749 §3.2 forbids.
    init?(_ body: some Sequence<UInt8>) {
        var fields: [String: String] = [:]
        var resources: [String] = []
        for field in Array(body).split(separator: UInt8(ascii: "&")) {
            let equals = field.firstIndex(of: UInt8(ascii: "=")) ?? field.endIndex
            guard let name = FormEncoding.decode(field[..<equals]),
                let value = FormEncoding.decode(field[equals...].dropFirst())
            else { return nil }
            if name == "resource" {
                resources.append(value)
            } else if fields.updateValue(value, forKey: name) != nil {
                return nil
            }
        }
        self.fields = fields
        self.resources = resources
    }

    /// What a request to the token endpoint asks of the access token.
    var asked: AskedToken {
        AskedToken(scope: self["scope"], resources: resources, audience: self["audience"])
    }

    /// The value of a field; nil if it is missing or empty, which are the same in RFC 6749 §3.2.
    subscript(_ name: String) -> String? {
        fields[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
