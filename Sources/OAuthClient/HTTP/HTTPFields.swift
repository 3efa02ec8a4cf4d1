/// The method of a request (RFC 9110 §9).
enum HTTPMethod: String, Sendable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
}

/// The header fields of a request, in the order in which they are sent.
struct HTTPHeaders: Sendable, ExpressibleByDictionaryLiteral {
    private(set) var fields: [(name: String, value: String)]

    init(dictionaryLiteral fields: (String, String)...) {
        self.fields = fields.map { (name: $0, value: $1) }
    }

    mutating func add(name: String, value: String) {
        fields.append((name, value))
    }

    /// Sets the one value of a field. Names are compared without regard to case.
    mutating func replaceOrAdd(name: String, value: String) {
        fields.removeAll { $0.name.lowercased() == name.lowercased() }
        add(name: name, value: value)
    }
}
