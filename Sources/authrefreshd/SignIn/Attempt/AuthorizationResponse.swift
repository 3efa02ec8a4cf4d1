internal import RefreshCore
internal import TextEncodings

/// What an authorization server sent back through a browser (RFC 6749 §4.1.2), parsed but not yet trusted.
///
/// Anybody can send one: a web page that the person has open, another program on this machine, a link in a mail.
/// `verdict(against:)` says what it is worth.
struct AuthorizationResponse: Equatable, Sendable {
    /// The most bytes that are read. Real responses have one to four thousand, mostly the code (Entra) or an ID token
    /// (Apple).
    static let bytesMax = 16 << 10
    /// The most parameters that are read. Real responses have up to eight.
    static let parametersMax = 64

    /// The parameters by name. A parameter without a value is present and empty.
    private let parameters: [String: String]
    /// The path of the address that the browser was sent to; nil if a person entered the parameters without it.
    private let path: String?
    /// Whether a person entered a code without its `state`.
    let isBareCode: Bool

    /// Reads a query, or the body of a form (`application/x-www-form-urlencoded`).
    ///
    /// - Parameter path: the path of the requested address; nil if it is unknown.
    /// - Throws: why it is not an authorization response.
    init(form: some Collection<UInt8>, path: String? = nil) throws(SignInFailure) {
        guard form.count <= Self.bytesMax else { throw .tooLong }
        var parameters: [String: String] = [:]
        for part in form.split(separator: UInt8(ascii: "&")) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard let name = FormEncoding.decode(part[..<equals]),
                let value = FormEncoding.decode(part[equals...].dropFirst())
            else { throw SignInFailure(.refused, "it is cut off or was changed") }
            // RFC 6749 §3.1: no parameter more than once. Attacks exploit that readers disagree on which of two values
            // counts.
            guard parameters.updateValue(value, forKey: name) == nil else {
                throw SignInFailure(.refused, "it has a parameter twice")
            }
            guard parameters.count <= Self.parametersMax else { throw .tooLong }
        }
        self.parameters = parameters
        self.path = path
        isBareCode = false
    }

    /// Creates a response from a code that a person entered, with its `state` or, if that is nil, without.
    init(code: String, state: String?) {
        var parameters = [Self.code: code]
        parameters["state"] = state
        self.parameters = parameters
        path = nil
        isBareCode = state == nil
    }

    /// The `state` in the response; nil if there is none.
    var state: Secret? {
        self["state"].map { Secret($0) }
    }

    /// Compares the response with the answer that is `expected`.
    func verdict(against expected: AuthorizationExpectation) -> AuthorizationVerdict {
        if isBareCode {
            // Without a state, only PKCE shows that the code was issued for our own request (RFC 9700 §2.1.1). A server
            // that ignores the challenge would accept an attacker's code.
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
        // Our own request contains the state as well, and somebody may have copied that address by mistake.
        guard error != nil || isAnswer else { return .refused(.noAnswer) }
        if let own = expected.path {
            // RFC 9700 §4.4.2: a response at another issuer's path is not this issuer's answer, even if it has our
            // state.
            guard let path else { return .refused(.needsWholeAddress) }
            guard path == own else { return .refused(.wrongPath) }
        }
        // Before anything else is trusted, errors included.
        if let failure = failureOfIssuer(expected, isAnswer: isAnswer) { return .untrusted(failure) }
        if let error {
            guard !isAnswer else {
                return .untrusted(SignInFailure(.refused, "the answer has both a code and an error"))
            }
            // Errors are accepted without an issuer, as django-oauth-toolkit 3.4 sends them. Whoever sent the error, it
            // can only end the sign-in, and it contains nothing that could be misused.
            return .error(ErrorResponse(error: error, description: self["error_description"]))
        }
        guard idToken != nil || !expected.responseType.hasIDToken else {
            return .untrusted(SignInFailure(.refused, "the answer lacks the ID token that was requested"))
        }
        // A code that was not requested belongs to another request, or to a server that misunderstood this one.
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

    /// Why the response is not from the server that was asked; nil if it may be (RFC 9207 §2.4).
    private func failureOfIssuer(_ expected: AuthorizationExpectation, isAnswer: Bool) -> SignInFailure? {
        if let issuer = parameters["iss"] {
            let known = [expected.issuer] + expected.issuerAliases
            // The section wants the bytes to be compared.
            guard known.contains(where: { issuer.utf8.elementsEqual($0.utf8) }) else {
                // Somebody redirected the person from one server to another (mix-up, RFC 9700 §4.4).
                return SignInFailure(.refused, "the answer names another issuer than the one that you sign in to")
            }
        } else if expected.requiresIssuer, isAnswer {
            return SignInFailure(.refused, "the answer does not name its issuer, although this server's answers should")
        }
        return nil
    }

    /// The value of a parameter; nil if it is missing or empty, which are the same in RFC 6749 §3.1.
    private subscript(_ name: String) -> String? {
        parameters[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static let code = "code"
}

extension AuthorizationResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "<redacted>" }
    var debugDescription: String { "<redacted>" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// The expected authorization response.
struct AuthorizationExpectation: Equatable, Sendable {
    /// The `state` that was sent (RFC 6749 §4.1.1): 32 random bytes in base64url.
    var state: Secret
    /// The issuer that the person was sent to.
    var issuer: String
    /// Other names by which the server calls itself, according to the provider's profile.
    var issuerAliases: [String] = []
    /// Whether the server declares that its responses always name it (RFC 9207 §3).
    var requiresIssuer = false
    /// The path of the redirect URI, if it is used for this issuer only; nil if the path says nothing about the issuer.
    var path: String?
    /// Whether the server is known to check the code challenge (RFC 7636), so that a code for another request is
    /// worthless.
    var isCodeBound = true
    /// The requested response type.
    var responseType = ResponseType.code
    /// The names that the code may have; some providers use their own.
    var codeParameters = ["code"]
    /// Parameters that the account stores, such as `realmId`.
    var keptParameters: [String] = []
    /// The beginnings of error descriptions that send the person to a policy for resetting the password: `AADB2C90118`.
    var passwordResetCodes: [String] = []
    /// The beginnings of error descriptions that say that the person cancelled: `AADB2C90091`.
    var cancellationCodes: [String] = []
}

/// The verdict on an authorization response.
enum AuthorizationVerdict: Equatable, Sendable {
    /// The server issued a code for our request.
    case code(AuthorizationCode)
    /// The server issued an ID token for our request, and nothing else was requested.
    case idToken(Secret)
    /// The server returned an error for our request.
    case error(ErrorResponse)
    /// It is not an answer to our request, and changes nothing. Otherwise anybody could end a sign-in.
    case refused(ResponseFinding)
    /// It has our `state` but is wrong. The sign-in ends, and the code is not used (RFC 9207 §2.4).
    case untrusted(SignInFailure)
}

/// An authorization code (RFC 6749 §1.3.1), and what came with it.
struct AuthorizationCode: Equatable, Sendable {
    /// The most bytes of a code. The longest codes seen, Entra's, have two thousand.
    static let bytesMax = 8 << 10

    let secret: Secret
    /// The ID token that came with it (OpenID Connect Core §3.3.2.5), not validated yet; nil if only a code was
    /// requested.
    let idToken: Secret?
    /// The parameters that the provider's profile wants stored, each cut to `FailureText.limit` characters.
    let keptFields: [String: String]

    init(_ secret: Secret, idToken: Secret? = nil, keptFields: [String: String] = [:]) {
        self.secret = secret
        self.idToken = idToken
        self.keptFields = keptFields.compactMapValues { FailureText.clean($0) }
    }

    /// Whether `text` can be a code: VSCHAR of RFC 6749 appendix A.11, and not too long.
    static func isPossible(_ text: String) -> Bool {
        (1...bytesMax).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }
}

/// Why a response does not count as an answer to the sign-in.
enum ResponseFinding: String, Hashable, Sendable, CaseIterable {
    /// It has no `state` or the wrong one: it is forged, or belongs to another sign-in.
    case wrongState
    /// It came to the redirect URI of another issuer (mix-up, RFC 9700 §4.4).
    case wrongPath
    /// It has neither a code nor an error.
    case noAnswer
    /// A code alone is not enough for this server.
    case needsWholeAddress
    /// The answer has already arrived, and counts only once.
    case alreadyAnswered
    /// This sign-in expects no answer through a browser, or not yet.
    case notAwaited
}

extension SignInFailure {
    fileprivate static let tooLong = SignInFailure(.refused, "it is longer than any answer")
    /// The code is not valid by RFC 6749 appendix A.11, occurs more than once, or was not requested.
    fileprivate static let malformedCode =
        SignInFailure(.refused, "the answer has a malformed code, or one that was not requested")
}

/// An error of the server instead of a code or of a device's tokens (RFC 6749 §4.1.2.1, RFC 8628 §3.5).
struct ErrorResponse: Hashable, Sendable {
    /// `error`, safe for a terminal.
    let error: String
    /// `error_description`, safe for a terminal; nil if there was none.
    let description: String?

    init(error: String, description: String? = nil) {
        self.error = FailureText.clean(error) ?? "unreadable"
        self.description = FailureText.clean(description)
    }

    /// Whether the description begins with one of these codes, such as `AADB2C90118: The user has forgotten their
    /// password.`
    func begins(with codes: [String]) -> Bool {
        guard failureKind == nil, let description else { return false }
        return codes.contains { code in
            description.hasPrefix(code)
                && description.dropFirst(code.count).first.map { !$0.isNumber && !$0.isLetter } ?? true
        }
    }

    /// What may help; nil if the person refused, or the server did so on their behalf.
    var failureKind: SignInFailure.Kind? {
        switch error {
        // LinkedIn has its own codes for a person who cancels.
        case "access_denied", "user_cancelled_login", "user_cancelled_authorize", "authorization_declined": nil
        case "server_error", "temporarily_unavailable": .unavailable
        case "invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope", "invalid_target",
            "invalid_client", "invalid_request_uri", "invalid_request_object", "request_not_supported",
            "request_uri_not_supported", "registration_not_supported":
            .misconfigured
        // login_required, consent_required, account_selection_required and everything else.
        default: .refused
        }
    }
}

/// Reads what a person copies from a browser, or what a desktop passes on for a URI scheme: the address, `code#state`
/// as some pages show it, only the parameters, or only the code.
extension AuthorizationResponse {
    /// Reads `text`. White space is dropped: terminals and mails break long lines, and an address contains none.
    ///
    /// - Throws: why it cannot be one of these.
    init(pasted text: String) throws(SignInFailure) {
        let bytes = Self.unwrapped(text.utf8.filter { !($0 == 0x20 || (0x09...0x0d).contains($0)) })
        guard !bytes.isEmpty else { throw SignInFailure(.refused, "it is empty") }
        guard bytes.count <= Self.bytesMax else { throw .tooLong }
        let parts = bytes.split(separator: UInt8(ascii: "#"), maxSplits: 1, omittingEmptySubsequences: false)
        let (address, fragment) = (parts[0], parts.count > 1 ? parts[1] : [])
        if Self.isAddress(address) {
            let query = address.firstIndex(of: UInt8(ascii: "?")).map { address[$0...].dropFirst() } ?? []
            // Servers put errors, and some of them all parameters, after the "#" (`response_mode=fragment`).
            try self.init(form: query.isEmpty ? fragment : query, path: Self.path(of: address))
        } else if address.contains(UInt8(ascii: "=")), address.contains(UInt8(ascii: "&")) || Self.hasName(address) {
            try self.init(form: address)
        } else {
            let state = parts.count > 1 ? String(decoding: fragment, as: UTF8.self) : nil
            self.init(code: String(decoding: address, as: UTF8.self), state: state)
        }
    }

    /// The part between the authority and the query; nil if there is no scheme.
    private static func path(of address: ArraySlice<UInt8>) -> String? {
        let start = address.prefix { $0 != UInt8(ascii: "?") }
        guard let colon = start.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let rest = start[colon...].dropFirst()
        guard rest.starts(with: "//".utf8) else { return String(decoding: rest, as: UTF8.self) }
        return String(decoding: rest.dropFirst(2).drop { $0 != UInt8(ascii: "/") }, as: UTF8.self)
    }

    /// Whether it begins with a URI scheme or has a query. Codes may contain a colon or a slash (Google's do), but not
    /// `:/`.
    private static func isAddress(_ text: ArraySlice<UInt8>) -> Bool {
        if text.contains(UInt8(ascii: "?")) { return true }
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return false }
        return text[colon...].dropFirst().first == UInt8(ascii: "/")
    }

    /// Whether it begins with the name of a parameter that only an answer has. Codes may end in "=".
    private static func hasName(_ text: ArraySlice<UInt8>) -> Bool {
        ["code=", "error=", "state="].contains { text.starts(with: $0.utf8) }
    }

    /// Our own scheme, before the whole address of the user's own redirect page. The page passes it to the desktop in this
    /// form, and the desktop to `authctl callback`: `io.authrefresh:https://me.example.org/back/?code=…`. Browsers never
    /// pass an https address on by themselves.
    private static let scheme = Array("io.authrefresh:".utf8)

    /// The page's own address. Text without our scheme stays as it is.
    static func unwrapped(_ text: [UInt8]) -> ArraySlice<UInt8> {
        let begins = text.prefix(scheme.count).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } == scheme
        let address = text.dropFirst(scheme.count)
        return begins && address.starts(with: "http".utf8) ? address : text[...]
    }
}
