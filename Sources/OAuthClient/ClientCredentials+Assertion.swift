import JOSE
import RefreshCore

/// What an assertion names as the server it is for.
package enum AssertionAudience: String, Hashable, Sendable, CaseIterable {
    /// Its issuer, and nothing that another server could be made to name (draft-ietf-oauth-rfc7523bis).
    case issuer
    /// Its token endpoint, as OpenID Connect Core §9 had it: Entra and glewlwyd 2.7 take nothing else.
    case tokenEndpoint = "token_endpoint"
}

extension ClientCredentials {
    /// Where and when an assertion is to be used.
    struct Occasion {
        let metadata: AuthorizationServerMetadata
        /// By the server's clock, as far as it is known.
        let now: Timestamp
        /// Makes 16 bytes that were never used before, for the methods that need them.
        let random: () -> [UInt8]
    }

    /// The token by which the client proves itself, made for one request; nil if the method needs none.
    ///
    /// - Throws: `JOSEError` if the key cannot be read or cannot sign what the server takes.
    func assertion(on occasion: Occasion) throws(JOSEError) -> Secret? {
        switch method {
        case .none, .clientSecretBasic, .tlsClientAuth, .selfSignedTLSClientAuth:
            return nil
        case .clientSecretPost:
            guard let teamID = registration.teamID else { return nil }
            return try ClientAssertion.appleSecret(
                clientID: registration.clientID,
                teamID: teamID,
                // Apple takes ES256, and publishes no list for it.
                signer: try signer(offered: nil),
                now: occasion.now
            )
        case .clientSecretJWT:
            return try assertion(by: TokenSigner(secret: registration.clientSecret ?? Secret("")), on: occasion)
        case .privateKeyJWT:
            return try assertion(by: signer(offered: occasion.metadata.tokenEndpointSigningAlgorithms), on: occasion)
        }
    }

    private func assertion(by signer: TokenSigner, on occasion: Occasion) throws(JOSEError) -> Secret {
        let audience =
            switch audience {
            case .issuer: occasion.metadata.issuer.url
            case .tokenEndpoint: occasion.metadata.tokenEndpoint.url
            }
        return try ClientAssertion.client(
            registration.clientID,
            audience: audience,
            signer: signer,
            now: occasion.now,
            random: occasion.random()
        )
    }

    private func signer(offered: [String]?) throws(JOSEError) -> TokenSigner {
        guard let key = registration.clientKey else { throw .keyMalformed }
        return try TokenSigner(key: PrivateKey(key), keyID: registration.clientKeyID, offered: offered)
    }
}
