package import RefreshCore
internal import TextEncodings

/// Assertions: a client's proof of identity for one request (RFC 7523 §2.2 and §3, OpenID Connect Core §9), and the
/// assertion grant, which has the same form (RFC 7523 §2.1).
extension TokenSigner {
    /// The value of `client_assertion_type`.
    package static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// How long an assertion is valid. It is sent at once, so this only has to cover clock differences and slow
    /// connections. Salesforce accepts at most three minutes.
    package static let lifetime = Duration.seconds(120)
    /// The `aud` that Apple requires in its client secret.
    private static let appleAudience = "https://appleid.apple.com"

    /// An assertion of a client about itself (RFC 7523 §3), or an assertion grant: `issuer` vouches for `subject`.
    ///
    /// - Parameters:
    ///   - subject: nil leaves it out, and Google then takes the issuer as the subject.
    ///   - audience: the issuer's URL, or that of the token endpoint for servers that want that.
    ///   - claims: other text claims that the server wants; Google expects `scope` here.
    ///   - lifetime: from now until it expires.
    ///   - now: the time by the server's clock, as far as we know it.
    ///   - random: at least 16 bytes that were never used before, for `jti`.
    package func assertion(
        issuer: String,
        subject: String?,
        audience: String,
        claims: [String: String] = [:],
        lifetime: Duration = TokenSigner.lifetime,
        now: Timestamp,
        random: [UInt8] = newIdentifier()
    ) throws(JOSEError) -> Secret {
        let more = claims.sorted { $0.key < $1.key }.map { (name: $0.key, value: TokenValue.text($0.value)) }
        let subject = subject.map { [(name: "sub", value: TokenValue.text($0))] } ?? []
        return try sign(
            header: [("typ", .text("JWT"))],
            [("iss", .text(issuer))] + subject + [("aud", .text(audience))] + Self.times(now, lifetime)
                + [("jti", .text(Base64URL.encode(random)))] + more
        )
    }

    /// Apple's `client_secret`, created again for each request.
    ///
    /// - Parameter teamID: the ID of the developer team, ten characters.
    package func appleSecret(clientID: String, teamID: String, now: Timestamp) throws(JOSEError) -> Secret {
        try sign(
            [("iss", .text(teamID))] + Self.times(now) + [("aud", .text(Self.appleAudience)), ("sub", .text(clientID))]
        )
    }

    /// `iat` and `exp`, in whole seconds.
    private static func times(
        _ now: Timestamp,
        _ lifetime: Duration = lifetime
    ) -> [(name: String, value: TokenValue)] {
        [
            ("iat", .number(now.microseconds / 1_000_000)),
            ("exp", .number((now + lifetime).microseconds / 1_000_000)),
        ]
    }

    /// 16 random bytes. That is enough to expect that no two calls return the same bytes.
    package static func newIdentifier() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        let halves = [random.next(), random.next()]
        return unsafe halves.withUnsafeBytes { unsafe Array($0) }
    }
}

/// Authorization requests as signed tokens (JAR, RFC 9101 §4), which nobody between the client and the server can change.
extension TokenSigner {
    /// Parameters whose values are JSON, and are embedded as JSON in a request object (OpenID Connect Core §6.1, RFC
    /// 9396 §3).
    private static let jsonParameters: Set<String> = ["claims", "authorization_details"]
    /// Parameters that may occur more than once (RFC 8707 §2).
    private static let repeatedParameters: Set<String> = ["resource", "audience"]

    /// The token for the parameter `request` or for the PAR endpoint.
    ///
    /// - Parameters:
    ///   - parameters: the parameters of the request, in order. `request` and `request_uri` are left out.
    ///   - audience: the issuer's URL.
    ///   - random: at least 16 bytes that were never used before, for `jti`.
    /// - Throws: `malformed` if a parameter that must be JSON is not; the signer's errors.
    package func requestObject(
        _ parameters: [(name: String, value: String)],
        clientID: String,
        audience: String,
        now: Timestamp,
        random: [UInt8] = newIdentifier()
    ) throws(JOSEError) -> Secret {
        var claims: [(name: String, value: TokenValue)] = [
            ("iss", .text(clientID)), ("aud", .text(audience)), ("client_id", .text(clientID)),
        ]
        var isDone: Set<String> = ["request", "request_uri", "iss", "aud", "client_id", "iat", "exp", "nbf", "jti"]
        for (name, _) in parameters where isDone.insert(name).inserted {
            let values = parameters.filter { $0.name == name }.map(\.value)
            claims.append((name, try Self.claim(name, values)))
        }
        // FAPI requires nbf as well.
        let start = (name: "nbf", value: TokenValue.number(now.microseconds / 1_000_000))
        return try sign(
            header: [("typ", .text("oauth-authz-req+jwt"))],
            claims + Self.times(now) + [start, ("jti", .text(Base64URL.encode(random)))]
        )
    }

    private static func claim(_ name: String, _ values: [String]) throws(JOSEError) -> TokenValue {
        let value = values.first ?? ""
        if repeatedParameters.contains(name), values.count > 1 { return .texts(values) }
        // It is a number here, although it is text in the query (OpenID Connect Core §6.1).
        if name == "max_age", let seconds = Int64(value) { return .number(seconds) }
        guard jsonParameters.contains(name) else { return .text(value) }
        // The value is parsed as the only member of an object. So arrays are accepted, and a value cannot add members
        // of its own.
        guard try JSONObject(Array(#"{"value":\#(value)}"#.utf8)).count == 1 else { throw .malformed }
        return .raw(value)
    }
}
