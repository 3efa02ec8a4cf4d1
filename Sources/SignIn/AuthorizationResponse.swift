package import RefreshCore
internal import TextEncodings

/// What an authorization server sent back by way of a browser (RFC 6749 §4.1.2), read and not yet believed.
///
/// Anybody can send such a thing: a page that the person has open, another program of this machine, a link in a mail. What it is worth
/// says `verdict(against:)`.
package struct AuthorizationResponse: Equatable, Sendable {
    /// Bytes that are read: real ones have one to four thousand, most of it the code (Entra's) or an ID token (Apple's).
    package static let bytesMax = 16 << 10
    /// Parameters that are read: real ones have up to eight.
    static let parametersMax = 64

    /// By name; a parameter without a value is there, and empty.
    private let parameters: [String: String]
    /// Whether a person brought a code without the `state` that it came with.
    let isBareCode: Bool

    /// Reads a query, or the body of a form (`application/x-www-form-urlencoded`).
    package init(form: some Collection<UInt8>) throws(AuthorizationResponseError) {
        guard form.count <= Self.bytesMax else { throw .tooLong }
        var parameters: [String: String] = [:]
        for part in form.split(separator: UInt8(ascii: "&")) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard let name = FormEncoding.decode(part[..<equals]),
                let value = FormEncoding.decode(part[equals...].dropFirst())
            else { throw .badEncoding }
            // RFC 6749 §3.1: no parameter more than once. Which of two values counts is what attacks play with.
            guard parameters.updateValue(value, forKey: name) == nil else { throw .repeatedParameter }
            guard parameters.count <= Self.parametersMax else { throw .tooLong }
        }
        self.parameters = parameters
        isBareCode = false
    }

    /// A code that a person brought, with the `state` beside it or, if that is nil, without.
    init(code: String, state: String?) {
        var parameters = [Self.code: code]
        parameters["state"] = state
        self.parameters = parameters
        isBareCode = state == nil
    }

    /// The `state` that it carries; nil if none.
    package var state: Secret? {
        self["state"].map { Secret($0) }
    }

    /// What it is worth to who expects an answer as `expected` says.
    package func verdict(against expected: AuthorizationExpectation) -> AuthorizationVerdict {
        if isBareCode {
            // Without a state, only PKCE tells whether the code was issued for our own request (RFC 9700 §2.1.1).
            guard expected.isProofKeyUsed, !expected.requiresIssuer else { return .refused(.needsWholeAddress) }
        } else {
            guard let state, state == expected.state else { return .refused(.wrongState) }
        }
        let codes = expected.codeParameters.compactMap { self[isBareCode ? Self.code : $0] }
        let error = self["error"]
        // Our own request has the state, too: somebody may have copied the wrong address.
        guard error != nil || !codes.isEmpty else { return .refused(.noAnswer) }
        // RFC 9207 §2.4: byte for byte, and before anything else is believed, an error included.
        if let issuer = parameters["iss"] {
            guard issuer.utf8.elementsEqual(expected.issuer.utf8) else { return .untrusted(.wrongIssuer) }
        } else if expected.requiresIssuer, !codes.isEmpty {
            return .untrusted(.noIssuer)
        }
        if let error {
            guard codes.isEmpty else { return .untrusted(.codeAndError) }
            // Without an issuer too, as django-oauth-toolkit 3.4 sends errors: whoever it comes from, it ends the sign-in, and has
            // nothing that could be misused.
            return .error(ServerRefusal(error: error, description: self["error_description"]))
        }
        guard codes.count == 1, let code = codes.first, AuthorizationCode.isPossible(code) else {
            return isBareCode ? .refused(.noAnswer) : .untrusted(.malformedCode)
        }
        let fields = expected.keptParameters.compactMap { name in self[name].map { (name, $0) } }
        return .code(AuthorizationCode(Secret(code), keptFields: Dictionary(fields) { first, _ in first }))
    }

    /// The value of a parameter; nil if it is missing, or empty, which RFC 6749 §3.1 has treated alike.
    private subscript(_ name: String) -> String? {
        parameters[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static let code = "code"
}

extension AuthorizationResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a query or a form is no authorization response at all.
package enum AuthorizationResponseError: Error, Hashable, Sendable {
    /// More than `bytesMax` bytes, or too many parameters.
    case tooLong
    /// A broken escape, or bytes that are not UTF-8.
    case badEncoding
    /// A parameter that is there twice.
    case repeatedParameter
}

/// What an authorization response is compared with.
package struct AuthorizationExpectation: Equatable, Sendable {
    /// `state` (RFC 6749 §4.1.1) as it was sent: 32 random bytes in base64url.
    package var state: Secret
    /// The issuer that the person was sent to.
    package var issuer: String
    /// Whether the server says that it always names itself (RFC 9207 §3).
    package var requiresIssuer: Bool
    /// Whether a code challenge was sent (RFC 7636), so that a code of another request is worth nothing.
    package var isProofKeyUsed: Bool
    /// What the code may be called; some providers have names of their own.
    package var codeParameters: [String]
    /// Parameters that are kept with the account: `realmId`.
    package var keptParameters: [String]

    package init(
        state: Secret,
        issuer: String,
        requiresIssuer: Bool = false,
        isProofKeyUsed: Bool = true,
        codeParameters: [String] = ["code"],
        keptParameters: [String] = []
    ) {
        self.state = state
        self.issuer = issuer
        self.requiresIssuer = requiresIssuer
        self.isProofKeyUsed = isProofKeyUsed
        self.codeParameters = codeParameters
        self.keptParameters = keptParameters
    }
}
