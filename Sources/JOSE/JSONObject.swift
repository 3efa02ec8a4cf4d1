import RefreshCore
import StrictJSON

/// A JSON object from outside, none of whose members stands twice, however deep.
struct JSONObject: Sendable {
    private let members: [String: JSONValue]

    /// Token claims have three levels at most (`address`, `realm_access.roles`).
    private static let nestingMax = 8
    /// Entra names up to 200 groups; a key set of 100 keys with certificates has 1500 values.
    private static let valuesMax = 4096

    /// - Throws: `malformed` if `bytes` hold anything but one object of UTF-8 text; `duplicateMember`.
    init(_ bytes: [UInt8]) throws(JOSEError) {
        guard String(validating: bytes, as: UTF8.self) != nil,
            let document = try? JSONDocument(bytes, nestingMax: Self.nestingMax, valuesMax: Self.valuesMax),
            let members = try Self.checked(document.root)
        else { throw .malformed }
        self.members = members
    }

    private init(members: [String: JSONValue]) {
        self.members = members
    }

    /// The members of `value` if it is an object; nil otherwise. Looks into everything that it holds.
    private static func checked(_ value: JSONValue) throws(JOSEError) -> [String: JSONValue]? {
        for element in value.elements ?? [] { _ = try checked(element) }
        guard value.isObject else { return nil }
        guard let list = value.members else { throw .malformed }
        var members: [String: JSONValue] = [:]
        for (name, member) in list {
            guard members.updateValue(member, forKey: name) == nil else { throw .duplicateMember(name) }
            _ = try checked(member)
        }
        return members
    }

    var count: Int { members.count }

    /// Whether there is such a member, whatever it holds.
    func has(_ name: String) -> Bool { members[name] != nil }

    /// Whether such a member says anything: some servers write claims that they do not have as `null`.
    func hasValue(_ name: String) -> Bool {
        members[name].map { !$0.isNull } ?? false
    }

    func text(_ name: String) -> String? { members[name]?.string }

    /// The strings of an array; nil if it is none or holds anything else.
    func texts(_ name: String) -> [String]? {
        guard let elements = members[name]?.elements else { return nil }
        let texts = elements.compactMap(\.string)
        return texts.count == elements.count ? texts : nil
    }

    func object(_ name: String) -> JSONObject? { members[name].flatMap(Self.object) }

    /// The objects of an array, whatever else stands between them; nil if it is none.
    func objects(_ name: String) -> [JSONObject]? {
        members[name]?.elements?.compactMap(Self.object)
    }

    /// An object within one that was checked.
    private static func object(_ value: JSONValue) -> JSONObject? {
        value.members.map { JSONObject(members: Dictionary($0.map { ($0.key, $0.value) }) { first, _ in first }) }
    }

    /// A NumericDate (RFC 7519 §2), which may have a fraction; nil for anything but a number from 1970 to the year 33658.
    func date(_ name: String) -> Timestamp? {
        // Some servers write the end of time as 253402300799 (the year 9999).
        guard let seconds = members[name]?.numberText.flatMap(Double.init), (0..<1e12).contains(seconds) else {
            return nil
        }
        return Timestamp(microseconds: Int64(seconds * 1e6))
    }
}

extension String {
    /// Whether both are the same bytes; `==` takes texts for the same that only look the same.
    func isIdentical(to other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}
