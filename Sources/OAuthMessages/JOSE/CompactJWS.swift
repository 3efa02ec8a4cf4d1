package import RefreshCore
internal import TextEncodings

/// A signed token in compact form (RFC 7515 §3.1), parsed but not verified.
struct CompactJWS: Sendable {
    /// The longest token that is read, in bytes. An ID token of Entra with 200 groups has 12 KiB.
    static let sizeLimit = 64 << 10

    let header: JSONObject
    let payload: JSONObject
    /// The payload's JSON text.
    let payloadBytes: [UInt8]
    let signature: [UInt8]
    /// The signed bytes: header, dot and payload as received.
    let signingInput: [UInt8]
    let algorithm: SigningAlgorithm

    /// `kid`: the key that the token names. Keys inside the token (`jwk`, `jku`, `x5c`, `x5u`) are ignored.
    var keyID: String? { header.text("kid") }

    /// Parses a token.
    ///
    /// - Throws: an error about the token's form or header.
    init(_ token: Secret) throws(JOSEError) {
        guard token.count <= Self.sizeLimit else { throw .tooLarge }
        let bytes = unsafe token.withBytes { unsafe Array($0) }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count != 5 else { throw .encrypted }
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { throw .malformed }
        self.header = try JSONObject(header)
        algorithm = try Self.algorithm(self.header)
        self.payload = try JSONObject(payload)
        payloadBytes = payload
        self.signature = signature
        signingInput = Array(bytes[..<parts[1].endIndex])
    }

    private static func algorithm(_ header: JSONObject) throws(JOSEError) -> SigningAlgorithm {
        // RFC 7515 §4.1.11: a reader that does not understand an extension must refuse the token. `b64` (RFC 7797) is
        // always listed there, too.
        guard !header.has("crit") else { throw .criticalExtension }
        // RFC 7519 §5.2: `cty` marks a token inside a token. None of our servers sends one.
        guard !header.has("cty"), let name = header.text("alg") else { throw .malformed }
        guard name.lowercased() != "none" else { throw .unsigned }
        guard !header.has("enc") else { throw .encrypted }
        guard let algorithm = SigningAlgorithm(rawValue: name) else { throw .unknownAlgorithm(name) }
        return algorithm
    }
}

extension Secret {
    /// When the signed token in it expires (`exp`); nil if it does not say. Another issuer made it.
    ///
    /// - Throws: an error about the form of what is no signed token.
    package func expiryOfToken() throws(JOSEError) -> Timestamp? {
        try CompactJWS(self).payload.date("exp")
    }
}

/// A JSON object from outside. It has no duplicate members at any depth.
struct JSONObject: Sendable {
    private let members: [String: JSONValue]

    /// Claims have at most three levels (`address`, `realm_access.roles`).
    private static let nestingMax = 8
    /// Entra names up to 200 groups; a key set of 100 keys with certificates has 1500 values.
    private static let valuesMax = 4096

    /// Parses an object.
    ///
    /// - Throws: `malformed` if `bytes` are not exactly one object of UTF-8 text; `duplicateMember`.
    init(_ bytes: [UInt8]) throws(JOSEError) {
        guard String(validating: bytes, as: UTF8.self) != nil,
            let document = JSONValue(
                bytes[...],
                nestingMax: Self.nestingMax,
                valuesMax: Self.valuesMax,
                reading: .strictWhenRead
            ),
            let members = try Self.checked(document)
        else { throw .malformed }
        self.members = members
    }

    private init(members: [String: JSONValue]) {
        self.members = members
    }

    /// The members of `value`; nil if it is not an object. It checks everything inside `value`.
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

    /// Whether the member exists, with any value.
    func has(_ name: String) -> Bool { members[name] != nil }

    /// Whether the member exists and is not null. Some servers write missing claims as `null`.
    func hasValue(_ name: String) -> Bool {
        members[name].map { !$0.isNull } ?? false
    }

    func text(_ name: String) -> String? { members[name]?.string }

    /// The strings of an array; nil if it is not an array of strings.
    func texts(_ name: String) -> [String]? {
        guard let elements = members[name]?.elements else { return nil }
        let texts = elements.compactMap(\.string)
        return texts.count == elements.count ? texts : nil
    }

    func object(_ name: String) -> JSONObject? { members[name].flatMap(Self.object) }

    /// The objects of an array, without its other values; nil if it is not an array.
    func objects(_ name: String) -> [JSONObject]? {
        members[name]?.elements?.compactMap(Self.object)
    }

    /// An object inside one that was checked.
    private static func object(_ value: JSONValue) -> JSONObject? {
        value.members.map { JSONObject(members: Dictionary($0.map { ($0.key, $0.value) }) { first, _ in first }) }
    }

    /// A NumericDate (RFC 7519 §2), which may have a fraction; nil for anything except a number from 1970 to the year
    /// 33658.
    func date(_ name: String) -> Timestamp? {
        // Some servers write 253402300799 (the year 9999) for "never".
        guard let seconds = members[name]?.numberText.flatMap(Double.init), (0..<1e12).contains(seconds) else {
            return nil
        }
        return Timestamp(microseconds: Int64(seconds * 1e6))
    }
}

extension String {
    /// Whether both have the same bytes. `==` also accepts texts that only look the same.
    func isIdentical(to other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}

/// A JSON value in one of our tokens.
indirect enum TokenValue: Sendable {
    case text(String)
    case number(Int64)
    case texts([String])
    case object([(name: String, value: TokenValue)])
    /// JSON text from somewhere else, already checked.
    case raw(String)

    /// The value as JSON without white space, with members in the given order: RFC 7638 hashes these bytes.
    var written: String {
        switch self {
        case .text(let text): JSONText.quote(text)
        case .number(let number): "\(number)"
        case .texts(let texts): JSONText.array(texts)
        case .object(let members): JSONText.object(members.map { ($0.name, $0.value.written) })
        case .raw(let json): json
        }
    }
}
