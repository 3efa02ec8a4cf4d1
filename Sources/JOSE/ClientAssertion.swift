package import RefreshCore
internal import TextEncodings

/// A client's proof of who it is, for one request (RFC 7523 §2.2 and §3, OpenID Connect Core §9), and the assertion grant that
/// looks the same (RFC 7523 §2.1).
package enum ClientAssertion {
    /// `client_assertion_type`.
    package static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// `grant_type` of the assertion grant.
    package static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// How long an assertion can be used. It is sent at once: this is for clocks that differ and lines that are slow. Salesforce takes
    /// none that lives longer than three minutes.
    package static let lifetime = Duration.seconds(120)
    /// What Apple wants as `aud` of its client secret.
    private static let appleAudience = "https://appleid.apple.com"

    /// `client_secret_jwt` or `private_key_jwt`, by the signer.
    ///
    /// - Parameters:
    ///   - audience: the issuer's URL, or the token endpoint's for servers that want that.
    ///   - now: by the server's clock, as far as it is known.
    ///   - random: 16 bytes or more that were never used before, for `jti`.
    package static func client(
        _ clientID: String,
        audience: String,
        signer: TokenSigner,
        now: Timestamp,
        random: [UInt8]
    ) throws(JOSEError) -> Secret {
        try assertion(
            issuer: clientID,
            subject: clientID,
            audience: audience,
            signer: signer,
            now: now,
            random: random
        )
    }

    /// An assertion grant: `issuer` vouches for `subject` (RFC 7523 §3).
    ///
    /// - Parameters:
    ///   - subject: nil says nobody, which Google takes for the issuer itself.
    ///   - claims: text claims that the server wants beside: Google takes `scope` here.
    ///   - lifetime: from now to its end.
    package static func assertion(
        issuer: String,
        subject: String?,
        audience: String,
        claims: [String: String] = [:],
        lifetime: Duration = ClientAssertion.lifetime,
        signer: TokenSigner,
        now: Timestamp,
        random: [UInt8]
    ) throws(JOSEError) -> Secret {
        let more = claims.sorted { $0.key < $1.key }.map { (name: $0.key, value: TokenValue.text($0.value)) }
        let subject = subject.map { [(name: "sub", value: TokenValue.text($0))] } ?? []
        return try signer.sign(
            header: [("typ", .text("JWT"))],
            [("iss", .text(issuer))] + subject + [("aud", .text(audience))] + times(now, lifetime)
                + [("jti", .text(Base64URL.encode(random)))] + more
        )
    }

    /// Apple's `client_secret`, made anew for each request.
    ///
    /// - Parameter teamID: the developer team's, ten characters.
    package static func appleSecret(
        clientID: String,
        teamID: String,
        signer: TokenSigner,
        now: Timestamp
    ) throws(JOSEError) -> Secret {
        try signer.sign(
            [("iss", .text(teamID))] + times(now) + [("aud", .text(appleAudience)), ("sub", .text(clientID))]
        )
    }

    /// `iat` and `exp`, in whole seconds.
    static func times(_ now: Timestamp, _ lifetime: Duration = lifetime) -> [(name: String, value: TokenValue)] {
        [
            ("iat", .number(now.microseconds / 1_000_000)),
            ("exp", .number((now + lifetime).microseconds / 1_000_000)),
        ]
    }
}

/// An authorization request as a signed token (JAR, RFC 9101 §4): nobody between the client and the server can change it.
package enum RequestObject {
    /// Parameters that are JSON themselves, and stand in a request object as such (OpenID Connect Core §6.1, RFC 9396 §3).
    private static let jsonParameters: Set<String> = ["claims", "authorization_details"]
    /// Parameters that may come more than once (RFC 8707 §2).
    private static let repeatedParameters: Set<String> = ["resource", "audience"]

    /// The token for the parameter `request`, or for the PAR endpoint.
    ///
    /// - Parameters:
    ///   - parameters: of the request, in order; those that carry a request object (`request`, `request_uri`) are left out.
    ///   - audience: the issuer's URL.
    ///   - random: 16 bytes or more that were never used before, for `jti`.
    /// - Throws: `malformed` if a parameter that has to be JSON is none; what the signer throws.
    package static func make(
        _ parameters: [(name: String, value: String)],
        clientID: String,
        audience: String,
        signer: TokenSigner,
        now: Timestamp,
        random: [UInt8]
    ) throws(JOSEError) -> Secret {
        var claims: [(name: String, value: TokenValue)] = [
            ("iss", .text(clientID)), ("aud", .text(audience)), ("client_id", .text(clientID)),
        ]
        var isDone: Set<String> = ["request", "request_uri", "iss", "aud", "client_id", "iat", "exp", "nbf", "jti"]
        for (name, _) in parameters where isDone.insert(name).inserted {
            let values = parameters.filter { $0.name == name }.map(\.value)
            claims.append((name, try claim(name, values)))
        }
        // FAPI wants nbf as well.
        let start = (name: "nbf", value: TokenValue.number(now.microseconds / 1_000_000))
        return try signer.sign(
            header: [("typ", .text("oauth-authz-req+jwt"))],
            claims + ClientAssertion.times(now) + [start, ("jti", .text(Base64URL.encode(random)))]
        )
    }

    private static func claim(_ name: String, _ values: [String]) throws(JOSEError) -> TokenValue {
        let value = values.first ?? ""
        if repeatedParameters.contains(name), values.count > 1 { return .texts(values) }
        // A number here, though a text in the query (OpenID Connect Core §6.1).
        if name == "max_age", let seconds = Int64(value) { return .number(seconds) }
        guard jsonParameters.contains(name) else { return .text(value) }
        // Read as the only member of an object: an array passes, too, and a value that brings members of its own does not.
        guard try JSONObject(Array(#"{"value":\#(value)}"#.utf8)).count == 1 else { throw .malformed }
        return .raw(value)
    }
}
