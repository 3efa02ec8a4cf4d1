package import RefreshCore

/// The claims of an ID token about the user and the sign-in (OpenID Connect Core §2). None of them is secret.
package struct IDToken: Hashable, Sendable {
    /// `iss` exactly as in the token. Together with `subject` it identifies the user permanently.
    package let issuer: String
    /// `sub`: the user at this issuer. Some servers use a different value for each client.
    package let subject: String
    package let audiences: [String]
    package let authorizedParty: String?
    package let expiresAt: Timestamp
    package let issuedAt: Timestamp
    package let notBefore: Timestamp?
    /// When the user last authenticated; nil if the server does not say.
    package let authenticatedAt: Timestamp?
    /// `acr`: how strongly the user authenticated.
    package let authenticationContext: String?
    /// `amr`: how the user authenticated (RFC 8176); empty if the server does not say.
    package let authenticationMethods: [String]
    package let nonce: String?
    /// `sid`: the session at the server, for logout.
    package let session: String?
    /// The email address. For display only: providers give addresses to other people later (OpenID Connect Core §5.7).
    package let email: String?
    package let preferredUsername: String?
    package let name: String?
    /// Entra's `tid`.
    package let tenant: String?
    /// Entra's `oid`.
    package let object: String?
    let accessTokenHash: String?
    let codeHash: String?

    /// The longest `sub`, in bytes (OpenID Connect Core §2).
    static let subjectLimit = 255

    /// Whether `text` can be a `sub`: not empty, not too long, and without control characters.
    package static func isSubject(_ text: String) -> Bool {
        (1...subjectLimit).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
    }

    /// Reads a token that was validated before it was stored, to compare the next token with it.
    ///
    /// - Throws: an error about its form. Signature and times are not checked.
    package init(stored token: Secret) throws(JOSEError) {
        try self.init(CompactJWS(token).payload)
    }

    /// Reads the claims.
    ///
    /// - Throws: `claimMissing` and `claimMalformed`.
    init(_ claims: JSONObject) throws(JOSEError) {
        issuer = try claims.required(.issuer, claims.text)
        subject = try claims.required(.subject, claims.text)
        guard Self.isSubject(subject) else { throw .claimMalformed(.subject) }
        audiences = try claims.required(.audience, claims.texts)
        authorizedParty = try claims.text(.authorizedParty)
        expiresAt = try claims.required(.expiration, claims.date)
        issuedAt = try claims.required(.issuedAt, claims.date)
        notBefore = try claims.date(.notBefore)
        authenticatedAt = try claims.date(.authenticationTime)
        authenticationContext = try claims.text(.authenticationContext)
        nonce = try claims.text(.nonce)
        accessTokenHash = try claims.text(.accessTokenHash)
        codeHash = try claims.text(.codeHash)
        // Nothing depends on the other claims, so a wrong type counts as missing.
        authenticationMethods = claims.texts(Claim.authenticationMethods.rawValue) ?? []
        session = claims.text(Claim.session.rawValue)
        email = claims.text(Claim.email.rawValue)
        preferredUsername = claims.text(Claim.preferredUsername.rawValue)
        name = claims.text(Claim.name.rawValue)
        tenant = claims.text(Claim.tenant.rawValue)
        object = claims.text(Claim.object.rawValue)
    }
}

/// Reading claims by type: a claim that is missing is distinguished from one of the wrong type.
extension JSONObject {
    fileprivate func required<Value>(
        _ claim: Claim,
        _ read: (Claim) throws(JOSEError) -> Value?
    ) throws(JOSEError) -> Value {
        guard let value = try read(claim) else { throw .claimMissing(claim) }
        return value
    }

    fileprivate func text(_ claim: Claim) throws(JOSEError) -> String? {
        try read(claim, text)
    }

    fileprivate func date(_ claim: Claim) throws(JOSEError) -> Timestamp? {
        try read(claim, date)
    }

    /// A string or an array of strings (RFC 7519 §4.1.3).
    fileprivate func texts(_ claim: Claim) throws(JOSEError) -> [String]? {
        try read(claim) { name in text(name).map { [$0] } ?? texts(name) }
    }

    private func read<Value>(_ claim: Claim, _ value: (String) -> Value?) throws(JOSEError) -> Value? {
        guard hasValue(claim.rawValue) else { return nil }
        guard let value = value(claim.rawValue) else { throw .claimMalformed(claim) }
        return value
    }
}

/// A claim that ID tokens carry (OpenID Connect Core §2, RFC 7519 §4.1); the raw value is its name.
package enum Claim: String, Hashable, Sendable {
    case issuer = "iss"
    case subject = "sub"
    case audience = "aud"
    case authorizedParty = "azp"
    case expiration = "exp"
    case issuedAt = "iat"
    case notBefore = "nbf"
    case nonce
    case accessTokenHash = "at_hash"
    case codeHash = "c_hash"
    case authenticationTime = "auth_time"
    case authenticationContext = "acr"
    case authenticationMethods = "amr"
    case session = "sid"
    case email
    case preferredUsername = "preferred_username"
    case name
    /// Entra: the tenant that the user signed in to.
    case tenant = "tid"
    /// Entra: the user within the tenant, the same for all clients.
    case object = "oid"
}
