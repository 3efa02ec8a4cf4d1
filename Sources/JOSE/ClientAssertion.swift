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
        let more = claims.sorted { $0.key < $1.key }.map { (name: $0.key, value: JSONText.text($0.value)) }
        let subject = subject.map { [(name: "sub", value: JSONText.text($0))] } ?? []
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
    static func times(_ now: Timestamp, _ lifetime: Duration = lifetime) -> [(name: String, value: JSONText)] {
        [
            ("iat", .number(now.microseconds / 1_000_000)),
            ("exp", .number((now + lifetime).microseconds / 1_000_000)),
        ]
    }
}
