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
    /// The path of the address that the browser was sent back to; nil if a person brought the parameters without it.
    private let path: String?
    /// Whether a person brought a code without the `state` that it came with.
    let isBareCode: Bool

    /// Reads a query, or the body of a form (`application/x-www-form-urlencoded`).
    ///
    /// - Parameter path: the path of the address that it came to; nil if nobody knows.
    package init(form: some Collection<UInt8>, path: String? = nil) throws(AuthorizationResponseError) {
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
        self.path = path
        isBareCode = false
    }

    /// A code that a person brought, with the `state` beside it or, if that is nil, without.
    init(code: String, state: String?) {
        var parameters = [Self.code: code]
        parameters["state"] = state
        self.parameters = parameters
        path = nil
        isBareCode = state == nil
    }

    /// The `state` that it carries; nil if none.
    package var state: Secret? {
        self["state"].map { Secret($0) }
    }

    /// What it is worth to who expects an answer as `expected` says.
    package func verdict(against expected: AuthorizationExpectation) -> AuthorizationVerdict {
        if isBareCode {
            // Without a state, only PKCE tells whether the code was issued for our own request (RFC 9700 §2.1.1). A server that
            // ignores the challenge would take an attacker's code.
            guard expected.isCodeBound, !expected.requiresIssuer, expected.responseType == .code else {
                return .refused(.needsWholeAddress)
            }
        } else {
            guard let state, state == expected.state else { return .refused(.wrongState) }
        }
        let codes = expected.codeParameters.compactMap { self[isBareCode ? Self.code : $0] }
        let error = self["error"]
        let idToken = expected.responseType.hasIDToken ? self["id_token"].map { Secret($0) } : nil
        let isAnswer = !codes.isEmpty || idToken != nil
        // Our own request has the state, too: somebody may have copied the wrong address.
        guard error != nil || isAnswer else { return .refused(.noAnswer) }
        if let own = expected.path {
            // RFC 9700 §4.4.2: what came back to another issuer's path is not this issuer's answer, although it has our state.
            guard let path else { return .refused(.needsWholeAddress) }
            guard path == own else { return .refused(.wrongPath) }
        }
        // RFC 9207 §2.4: byte for byte, and before anything else is believed, an error included.
        if let issuer = parameters["iss"] {
            guard issuer.utf8.elementsEqual(expected.issuer.utf8) else { return .untrusted(.wrongIssuer) }
        } else if expected.requiresIssuer, isAnswer {
            return .untrusted(.noIssuer)
        }
        if let error {
            guard !isAnswer else { return .untrusted(.codeAndError) }
            // Without an issuer too, as django-oauth-toolkit 3.4 sends errors: whoever it comes from, it ends the sign-in, and has
            // nothing that could be misused.
            return .error(ServerRefusal(error: error, description: self["error_description"]))
        }
        guard idToken != nil || !expected.responseType.hasIDToken else { return .untrusted(.noIDToken) }
        // A code that was not asked for belongs to another request, or to another server's idea of this one.
        if let idToken, !expected.responseType.hasCode {
            return codes.isEmpty ? .idToken(idToken) : .untrusted(.malformedCode)
        }
        guard codes.count == 1, let code = codes.first, AuthorizationCode.isPossible(code) else {
            return isBareCode ? .refused(.noAnswer) : .untrusted(.malformedCode)
        }
        let fields = expected.keptParameters.compactMap { name in self[name].map { (name, $0) } }
        let kept = Dictionary(fields) { first, _ in first }
        return .code(AuthorizationCode(Secret(code), idToken: idToken, keptFields: kept))
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
    /// The path of the redirect URI, if no other issuer has it; nil if it says nothing about the issuer.
    package var path: String?
    /// Whether the server is known to check the code challenge (RFC 7636), so that a code of another request is worthless.
    package var isCodeBound: Bool
    /// What was asked for.
    package var responseType: ResponseType
    /// What the code may be called; some providers have names of their own.
    package var codeParameters: [String]
    /// Parameters that are kept with the account: `realmId`.
    package var keptParameters: [String]
    /// How the description of an error begins that sends the person to a policy in which they reset their password: `AADB2C90118`.
    package var passwordResetCodes: [String] = []
    /// How the description of an error begins that says that the person has turned back: `AADB2C90091`.
    package var cancellationCodes: [String] = []

    package init(
        state: Secret,
        issuer: String,
        requiresIssuer: Bool = false,
        path: String? = nil,
        isCodeBound: Bool = true,
        responseType: ResponseType = .code,
        codeParameters: [String] = ["code"],
        keptParameters: [String] = []
    ) {
        self.state = state
        self.issuer = issuer
        self.requiresIssuer = requiresIssuer
        self.path = path
        self.isCodeBound = isCodeBound
        self.responseType = responseType
        self.codeParameters = codeParameters
        self.keptParameters = keptParameters
    }
}

/// What an authorization response is worth.
package enum AuthorizationVerdict: Equatable, Sendable {
    /// The server gave a code for our request.
    case code(AuthorizationCode)
    /// The server gave an ID token for our request, and nothing else was asked for.
    case idToken(Secret)
    /// The server gave an error for our request.
    case error(ServerRefusal)
    /// It is no answer to our request, and changes nothing: else anybody could end a sign-in.
    case refused(ResponseRefusal)
    /// It has our `state`, and cannot be right: the sign-in ends, and its code is not used (RFC 9207 §2.4).
    case untrusted(Mistrust)
}

/// An authorization code (RFC 6749 §1.3.1), with what came beside it.
package struct AuthorizationCode: Equatable, Sendable {
    /// Bytes of a code. The longest seen, Entra's, have two thousand.
    static let bytesMax = 8 << 10

    package let secret: Secret
    /// The ID token that came with it (OpenID Connect Core §3.3.2.5), not checked yet; nil if only a code was asked for.
    package let idToken: Secret?
    /// Parameters that the provider's profile asks to be kept. Each is cut to `FailureText.limit` characters.
    package let keptFields: [String: String]

    init(_ secret: Secret, idToken: Secret? = nil, keptFields: [String: String] = [:]) {
        self.secret = secret
        self.idToken = idToken
        self.keptFields = keptFields.compactMapValues { FailureText.clean($0) }
    }

    /// Whether `text` may be a code: VSCHAR of RFC 6749 appendix A.11, and no longer than any is.
    static func isPossible(_ text: String) -> Bool {
        (1...bytesMax).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }
}

/// Why what came is not taken for an answer to the sign-in.
package enum ResponseRefusal: String, Hashable, Sendable, CaseIterable {
    /// It carries no `state`, or another one than ours: made up, or from another sign-in.
    case wrongState
    /// Its address is the redirect URI of another issuer (mix-up, RFC 9700 §4.4).
    case wrongPath
    /// There is neither a code nor an error in it.
    case noAnswer
    /// A code alone is not enough for this server.
    case needsWholeAddress
    /// The answer has come already: each counts once.
    case alreadyAnswered
    /// This sign-in waits for no answer by a browser, or not yet.
    case notAwaited
}

/// Why an answer with the right `state` is not believed.
package enum Mistrust: String, Hashable, Sendable, CaseIterable {
    /// It names another issuer: the person was led from one server to another (mix-up, RFC 9700 §4.4).
    case wrongIssuer
    /// The server says that it always names itself, and did not.
    case noIssuer
    case codeAndError
    /// No code of RFC 6749 appendix A.11, several, or one that was not asked for.
    case malformedCode
    /// An ID token was asked for beside the code, and did not come.
    case noIDToken
}

/// An error that the server gave in place of a code, or of a device's tokens (RFC 6749 §4.1.2.1, RFC 8628 §3.5).
package struct ServerRefusal: Hashable, Sendable {
    /// `error`, fit for a terminal.
    package let error: String
    /// `error_description`, fit for a terminal; nil if there was none.
    package let description: String?

    package init(error: String, description: String? = nil) {
        self.error = FailureText.clean(error) ?? "unreadable"
        self.description = FailureText.clean(description)
    }

    /// What it means for the sign-in.
    package enum Meaning: Hashable, Sendable {
        /// The person, or the server on their behalf, said no.
        case denied
        case failed(SignInFailure.Kind)
    }

    /// Whether the description begins with one of these words of the server's: `AADB2C90118: The user has forgotten their password.`
    func begins(with codes: [String]) -> Bool {
        guard case .denied = meaning, let description else { return false }
        return codes.contains { code in
            description.hasPrefix(code)
                && description.dropFirst(code.count).first.map { !$0.isNumber && !$0.isLetter } ?? true
        }
    }

    package var meaning: Meaning {
        switch error {
        // LinkedIn has words of its own for a person who turns back.
        case "access_denied", "user_cancelled_login", "user_cancelled_authorize", "authorization_declined": .denied
        case "server_error", "temporarily_unavailable": .failed(.unavailable)
        case "invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope", "invalid_target",
            "invalid_client", "invalid_request_uri", "invalid_request_object", "request_not_supported",
            "request_uri_not_supported", "registration_not_supported":
            .failed(.misconfigured)
        // login_required, consent_required, account_selection_required and whatever else a server says.
        default: .failed(.refused)
        }
    }
}

/// What a person brings back from a browser by hand, or a desktop by a URI scheme: the address that the browser was sent to,
/// `code#state` as some pages show it, the parameters alone, or the code alone.
package enum PastedRedirect {
    /// Reads `text`. White space in it is dropped: terminals and mails break long lines, and no address has any.
    package static func read(_ text: String) throws(PastedRedirectError) -> AuthorizationResponse {
        let bytes = HandedOnAddress.unwrapped(text.utf8.filter { !($0 == 0x20 || (0x09...0x0d).contains($0)) })
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= AuthorizationResponse.bytesMax else { throw .response(.tooLong) }
        let parts = bytes.split(separator: UInt8(ascii: "#"), maxSplits: 1, omittingEmptySubsequences: false)
        let (address, fragment) = (parts[0], parts.count > 1 ? parts[1] : [])
        if isAddress(address) {
            let query = address.firstIndex(of: UInt8(ascii: "?")).map { address[$0...].dropFirst() } ?? []
            // Servers put errors, and some of them everything, behind the "#" (`response_mode=fragment`).
            return try response(query.isEmpty ? fragment : query, path: path(of: address))
        }
        if address.contains(UInt8(ascii: "=")), address.contains(UInt8(ascii: "&")) || hasName(address) {
            return try response(address)
        }
        return AuthorizationResponse(
            code: String(decoding: address, as: UTF8.self),
            state: parts.count > 1 ? String(decoding: fragment, as: UTF8.self) : nil
        )
    }

    private static func response(
        _ form: ArraySlice<UInt8>,
        path: String? = nil
    ) throws(PastedRedirectError) -> AuthorizationResponse {
        do throws(AuthorizationResponseError) {
            return try AuthorizationResponse(form: form, path: path)
        } catch {
            throw .response(error)
        }
    }

    /// What stands between scheme and authority on the one side and the query on the other; nil if there is no scheme.
    private static func path(of address: ArraySlice<UInt8>) -> String? {
        let start = address.prefix { $0 != UInt8(ascii: "?") }
        guard let colon = start.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let rest = start[colon...].dropFirst()
        guard rest.starts(with: "//".utf8) else { return String(decoding: rest, as: UTF8.self) }
        return String(decoding: rest.dropFirst(2).drop { $0 != UInt8(ascii: "/") }, as: UTF8.self)
    }

    /// Whether it begins with a URI scheme, or has a query. Codes may have a colon or a slash in them (Google's), but no `:/`.
    private static func isAddress(_ text: ArraySlice<UInt8>) -> Bool {
        if text.contains(UInt8(ascii: "?")) { return true }
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return false }
        return text[colon...].dropFirst().first == UInt8(ascii: "/")
    }

    /// Whether it begins with the name of a parameter that only an answer has. Codes may end in "=".
    private static func hasName(_ text: ArraySlice<UInt8>) -> Bool {
        ["code=", "error=", "state="].contains { text.starts(with: $0.utf8) }
    }
}

/// Why what was brought cannot be read.
package enum PastedRedirectError: Error, Hashable, Sendable {
    case empty
    case response(AuthorizationResponseError)
}
