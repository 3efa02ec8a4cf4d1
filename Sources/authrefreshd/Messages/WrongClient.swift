internal import AuthRefreshInterface
internal import RefreshCore

/// A setting of an account's client that cannot be used.
enum WrongClient: RefusedValue {
    case idComesFromServer
    case newClientHasNoSecret
    case registrationNotHTTPS
    case reservedParameter(field: String, name: String)
    case noAuthorizationDetails

    // How the client proves itself.
    case unknownMethod(name: String, known: [String])
    case methodNeeds(Proof, method: String)
    case teamNeedsKey
    case noPrivateKey
    case lockedPrivateKey
    case noCertificate
    case noDPoPKey
    case bearerWithoutDPoP

    // ID tokens.
    case unknownAlgorithm(name: String, known: [String])
    case algorithmNeedsSecret(name: String)

    // Where the browser goes.
    case noRedirectURI(String)
    case noLogoutRedirectURI(String)
    case noPort
    case noScheme(String)
    case noBrowser

    /// What a way of authentication needs beside the client id.
    enum Proof: Hashable, CaseIterable {
        case secret, key, certificate
    }
}

extension WrongClient {
    var texts: (field: String, reason: String, hint: String?) {
        switch self {
        case .idComesFromServer: ("clientId", "a server that registers a client chooses its id", "leave it out")
        case .newClientHasNoSecret:
            ("register", "a new client has no secret and no grant yet", "leave the secret and the refresh token out")
        case .registrationNotHTTPS: ("registration", "its address is not an https URL", nil)
        case .reservedParameter(let field, let name): (field, "the request itself uses the name '\(name)'", nil)
        case .noAuthorizationDetails:
            (
                "authorizationDetails", "they are not a JSON array of objects with a \"type\"",
                #"[{"type":"payment_initiation"}]"#
            )
        case .unknownMethod(let name, let known):
            ("clientAuthentication", "'\(name)' is not a known method", "known: \(known.joined(separator: ", "))")
        case .methodNeeds(.secret, let method):
            ("clientAuthentication", "'\(method)' needs a client secret", "--client-secret-file FILE")
        case .methodNeeds(.key, let method):
            ("clientAuthentication", "'\(method)' needs the client's key", "--client-key-file FILE")
        case .methodNeeds(.certificate, let method):
            (
                "clientAuthentication", "'\(method)' needs the client's key with its certificate",
                "--client-key-file FILE"
            )
        case .teamNeedsKey:
            ("teamId", "Apple's client secret is made with the client's key", "--client-key-file AuthKey.p8")
        case .noPrivateKey:
            (
                "clientKey", "it is not a private key",
                "PEM, JWK or Google's JSON; RSA, P-256, P-384, P-521 or Ed25519"
            )
        case .lockedPrivateKey:
            ("clientKey", "it is protected by a passphrase", "openssl pkey -in FILE -out FILE.open")
        case .noCertificate:
            ("clientKey", "its certificate is missing", "cat certificate.pem key.pem, both in PEM form")
        case .noDPoPKey: ("dpopKey", "it is not the key of an account with 'dpop'", nil)
        case .bearerWithoutDPoP:
            ("acceptBearer", "the account's tokens are not bound to a key anyway", "it belongs to --dpop")
        case .unknownAlgorithm(let name, let known):
            (
                "idTokenAlgorithm", "ID tokens cannot be checked with '\(name)'",
                "known: \(known.joined(separator: ", "))"
            )
        case .algorithmNeedsSecret(let name):
            ("idTokenAlgorithm", "\(name) needs the client secret", "--client-secret-file FILE")
        case .noRedirectURI(let uri):
            (
                "redirectUri", "'\(uri)' is not a redirect URI",
                "http://127.0.0.1:PORT/PATH, https://…, or org.example.mail:/callback"
            )
        case .noLogoutRedirectURI(let uri): ("postLogoutRedirectUri", "'\(uri)' is not a redirect URI", "https://…")
        case .noPort: ("redirectPort", "it is not a port", "1 to 65535")
        case .noScheme(let scheme):
            (
                "redirectScheme", "'\(scheme)' cannot be a URI scheme of your own",
                "a domain name in reverse: org.example.mail"
            )
        case .noBrowser:
            (
                "loginBrowser", "it is not \(LoginBrowser.nameRule)",
                "firefox, or the name of a desktop entry of your own; a command goes into login_browser of the "
                    + "configuration, or into 'authctl login NAME --browser COMMAND'"
            )
        }
    }
}

/// A setting that does not go with an account that needs no person, or with an account that is derived from another.
enum WrongGrant: RefusedValue {
    case unknownGrant(name: String, known: [String])
    case needsClientProof
    case assertionNeedsKey
    case assertionLifetime
    case assertionWithoutGrant(field: String)
    case exchangeWithoutGrant(field: String)
    case noSource
    case typeWithoutActor(field: String)
    case unknownTokenType(field: String, name: String, known: [String])
    case noSAMLHere(field: String)
    case exchangesAccessTokensOnly
    case sourceUnreadable(name: String)
    case refreshTokenOfOtherIssuer
    case tooManySources(limit: Int)
    case neverSignsOut(account: String)
    case needsNoRefreshToken
}

extension WrongGrant {
    var texts: (field: String, reason: String, hint: String?) {
        switch self {
        case .unknownGrant(let name, let known):
            (
                "grantType", "'\(name)' is not a grant that works without a person",
                "known: \(known.joined(separator: ", "))"
            )
        case .needsClientProof:
            (
                "grantType", "'client_credentials' needs a client that can authenticate",
                "--client-secret-file FILE, or --client-key-file FILE"
            )
        case .assertionNeedsKey:
            ("grantType", "the client's key, which signs the assertion, is missing", "--client-key-file FILE")
        case .assertionLifetime: ("assertionLifetimeSec", "it must be from 10 s to 1 hour", nil)
        case .assertionWithoutGrant(let field):
            (
                field, "only accounts with the grant jwt-bearer have an assertion",
                "authctl account add NAME --grant jwt-bearer"
            )
        case .exchangeWithoutGrant(let field):
            (field, "only accounts with the grant token-exchange are derived from another", "--grant token-exchange")
        case .noSource:
            ("subjectAccount", "a derived account needs an account to derive from", "--subject-account NAME")
        case .typeWithoutActor(let field):
            (field, "no account is named that it could belong to", "--actor-account NAME")
        case .unknownTokenType(let field, let name, let known):
            (field, "'\(name)' is not a known type of token", "known: \(known.joined(separator: ", "))")
        case .noSAMLHere(let field):
            (field, "accounts here have no SAML assertions", "urn:ietf:params:oauth:token-type:access_token")
        case .exchangesAccessTokensOnly: ("requestedTokenType", "a derived account has access tokens only", nil)
        case .sourceUnreadable(let name):
            ("subjectAccount", "there is no account '\(name)', or it cannot be read", "authctl account list")
        case .refreshTokenOfOtherIssuer:
            (
                "subjectAccount", "a refresh token is sent to its own issuer only",
                "--subject-token-type access_token"
            )
        case .tooManySources(let limit):
            ("subjectAccount", "more than \(limit) accounts would be derived one from another", nil)
        case .neverSignsOut(let account):
            (
                "forgetAfterSec", "nobody signs in to a service account, so it cannot sign out",
                "authctl account remove \(account)"
            )
        case .needsNoRefreshToken:
            (
                "refreshToken", "a service account obtains its tokens without one",
                "add a person's account without '--grant'"
            )
        }
    }
}
