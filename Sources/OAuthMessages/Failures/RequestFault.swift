package import JOSE
package import RefreshCore

/// Why the daemon sends no request to a server, or cannot use the server's answer. Failures that the server reports are
/// in the failure table.
package enum RequestFault: Hashable, Sendable {
    // The server's metadata.
    case metadataUnavailable
    case metadataNotPublished
    case metadataOfOtherIssuer
    case noTokenEndpoint
    case insecureEndpoint
    case metadataRedirected

    // Endpoints that a request needs.
    case noRegistrationEndpoint
    case noDeviceEndpoint
    case noAuthorizationEndpoint
    case noPushedRequestEndpoint
    case insecureRegistration
    case answerLacks(EndpointRole)

    // What a request needs from the account.
    case reservedParameter
    case noKeyForSignedRequest
    case requestNotSigned(JOSEError)
    case assertionNotSigned(JOSEError)
    case noTokenToExchange
    case noAccessTokenToRevoke

    // ID tokens and the person.
    case noKeySet
    case keySetUnavailable
    case keySetUnreadable
    case noIDToken
    case invalidIDToken(JOSEError)
    case idTokensDiffer
    case personUnknown
    case personDeclined

    // What a server refuses to a client that acts for itself, and to a registration.
    case grantRefused(ServiceGrant.Kind)
    case secretNotRenewed
}

extension RequestFault {
    /// What failed, on what, and why. Lower case, no full stop.
    package var summary: String {
        switch self {
        case .metadataUnavailable: "the server's metadata is unavailable now"
        case .metadataNotPublished:
            "the issuer publishes no metadata: check its URL, or name the endpoints in a provider profile"
        case .metadataOfOtherIssuer: "the server's metadata is for another issuer: the two must be identical"
        case .noTokenEndpoint: "the server's metadata names no token endpoint"
        case .insecureEndpoint: "the server's metadata names an endpoint that is not https, or is on this machine"
        case .metadataRedirected: "the issuer's address redirects elsewhere, which is never followed: check its URL"
        case .noRegistrationEndpoint:
            "the server does not register clients by itself: ask its administrator for a client id"
        case .noDeviceEndpoint: "the server has no device authorization endpoint, or does not publish it"
        case .noAuthorizationEndpoint: "the server has no authorization endpoint, so nobody can sign in by browser"
        case .noPushedRequestEndpoint: "the server requires pushed requests, but publishes no endpoint for them"
        case .insecureRegistration: "the address of the client's registration is not an https URL"
        case .answerLacks(let role): "the answer of the \(role.name) lacks a field, or has one that cannot be used"
        case .reservedParameter: "an extra parameter has a name that the request itself uses"
        case .noKeyForSignedRequest:
            "the server requires signed authorization requests, but the account has no client key"
        case .requestNotSigned(let error): "the authorization request cannot be signed: \(error.summary)"
        case .assertionNotSigned(let error): "the client's assertion cannot be signed: \(error.summary)"
        case .noTokenToExchange: "the account has no token to exchange"
        case .noAccessTokenToRevoke: "the provider revokes a grant by its access token, and the account has none"
        case .noKeySet:
            "the server does not say where its keys are, so its ID token cannot be checked: name jwks_uri in a"
                + " provider profile, or set id_token there to ignored"
        case .keySetUnavailable: "the keys that sign the server's ID token are unavailable now"
        case .keySetUnreadable: "the answer of the server's jwks_uri is not a key set"
        case .noIDToken: "the answer lacks the ID token that was requested"
        case .invalidIDToken(let error): "the server's ID token is invalid: \(error.summary)"
        case .idTokensDiffer: "the ID token with the code and the one from the token endpoint name different people"
        case .personUnknown: "the server did not say who signed in"
        case .personDeclined: "the person declined"
        case .grantRefused(.clientCredentials): "the server gives this client no token"
        case .grantRefused(.jwtBearer): "the server does not accept the client's assertion"
        case .grantRefused(.tokenExchange): "the server does not exchange the token that this one is derived from"
        case .secretNotRenewed: "the server did not renew the client secret, which expires as before"
        }
    }
}

extension JOSEError {
    /// What is wrong with the token or the key: "it is malformed".
    package var summary: String {
        switch self {
        case .tooLarge: "it is too long"
        case .malformed, .duplicateMember: "it is malformed"
        case .encrypted: "it is encrypted"
        case .unsigned: "it is not signed (alg none)"
        case .unknownAlgorithm: "its algorithm is not supported"
        case .algorithmNotAllowed: "its algorithm is not the one that this client is registered for"
        case .criticalExtension: "it uses an extension that is not supported"
        case .wrongType: "it is a token of another kind"
        case .unknownKey: "it is signed with a key that the server does not publish"
        case .signatureMismatch: "its signature is wrong"
        case .claimMissing: "it lacks a claim that it must have"
        case .claimMalformed: "one of its claims is malformed"
        case .wrongIssuer: "it comes from another issuer"
        case .wrongPolicy: "it comes from another policy of the server than the account's"
        case .keyOfAnotherIssuer: "it is signed with another issuer's key"
        case .wrongAudience: "it was made for another client"
        case .wrongAuthorizedParty: "it was made for several clients, and not for this one"
        case .expired: "it has expired: compare this machine's clock with the server's"
        case .notYetValid, .issuedInFuture: "it is from the future: compare this machine's clock with the server's"
        case .issuedLongAgo: "it was made long ago"
        case .nonceMismatch: "it was made for another sign-in"
        case .accessTokenMismatch: "it was made for another access token"
        case .codeMismatch: "it was made for another code"
        case .authenticatedLongAgo: "the person signed in at the server longer ago than was asked for"
        case .wrongAuthenticationContext: "the person did not sign in as strongly as was asked for"
        case .changedOnRefresh: "a claim changed that must stay the same"
        case .keySetMalformed, .keySetTooLarge: "the server's keys cannot be read"
        case .keyMalformed, .keyIsEncrypted, .keyDoesNotFit, .signingFailed: "the client's key cannot be used"
        }
    }
}

/// Why nobody can say whether the server at an address is the issuer that a person named.
package enum IssuerSilence: Hashable, Sendable {
    /// No answer came; the row of the failure table says why.
    case noAnswer(FailureRow)
    /// The server, or a proxy before it, answered that it cannot serve now.
    case unavailable(status: Int)
    /// It answered with a redirect to another host, as the sign-in page of a network does.
    case redirected(to: String)

    /// Lower case, no full stop.
    package var text: String {
        switch self {
        case .noAnswer(let row): row.summary
        case .unavailable(let status): "\(RequestFault.metadataUnavailable.summary) (HTTP \(status))"
        case .redirected(let place): "it redirects to another host, '\(place)', which is not followed"
        }
    }
}

/// Why the server at an address is not the issuer that a person named.
package enum IssuerContradiction: Hashable, Sendable {
    case notPublished(status: Int)
    /// It redirects to another place on the same host.
    case redirected(to: String)
    /// `issuer` is the one that the metadata names; nil if it names none.
    case otherIssuer(String?)
    case noTokenEndpoint
    /// The endpoint's name in the metadata.
    case insecureEndpoint(String)

    /// Follows "'https://as.example' cannot be the issuer: ". Lower case, no full stop.
    package var text: String {
        switch self {
        case .redirected(let place): "it redirects to '\(place)', which is not followed"
        case .notPublished(let status): "it publishes no metadata of an authorization server (HTTP \(status))"
        case .otherIssuer(let issuer?): "the server says that its issuer is '\(issuer)'"
        case .otherIssuer(nil): "its metadata names no issuer"
        case .noTokenEndpoint: "its metadata names no token endpoint"
        case .insecureEndpoint(let name): "its metadata names a \(name) that is not https"
        }
    }
}
