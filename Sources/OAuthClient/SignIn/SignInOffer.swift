/// The ways to sign in that a server offers.
package struct SignInOffer: Hashable, Sendable {
    /// It has an authorization endpoint and takes codes.
    package let hasBrowser: Bool
    /// It has a device authorization endpoint (RFC 8628).
    package let hasDevice: Bool
    /// Nil if it does not say, which means query and fragment (RFC 8414 §2).
    package let responseModes: [String]?
    /// The scopes that it names; nil if it names none.
    package let scopes: [String]?
    /// Whether it registers clients by itself (RFC 7591).
    package let hasRegistration: Bool

    init(_ metadata: AuthorizationServerMetadata) {
        // RFC 8414 §2: absent means codes and implicit.
        let takesCodes = metadata.grantTypes?.contains("authorization_code") ?? true
        hasBrowser = metadata.endpoints.authorization != nil && takesCodes
        hasDevice = metadata.endpoints.deviceAuthorization != nil
        responseModes = metadata.responseModes
        scopes = metadata.scopes
        hasRegistration = metadata.endpoints.registration != nil
    }
}
