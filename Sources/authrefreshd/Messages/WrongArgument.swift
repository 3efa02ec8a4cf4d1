internal import AuthRefreshInterface
internal import RefreshCore
internal import SignIn
internal import Varlink

/// An argument of a call that cannot be used; it is not a setting of an account.
enum WrongArgument: RefusedValue {
    // Tokens.
    case noScopes
    case noScope(String)
    case noResource(String)
    case noAudience
    case noClaims
    case idTokenOfSet
    case idTokenOfServiceAccount(String)
    case notBoundToKey(account: String)
    case unusableDPoPKey
    case noRequestURL
    case challengeUnreadable
    /// `error` is the server's code; nil if it sends none.
    case challengeAboutRequest(error: String?)
    case challengeWantsMore(account: String)

    // Grants.
    case noRefreshToken(RefreshTokenText.Flaw)
    case nothingToMove
    case grantOfAnotherClient

    // Sign-ins.
    case noPolicy(name: String, example: String?)
    case providerWithoutPolicies
    case pasted(PastedRedirectError)
    case answer(ResponseRefusal)

    // Web sessions.
    case callback(CallbackFlaw)
    case answerForOtherCallback

    // Providers.
    case noIssuerURL
    case noProfileName
    /// `reason` says what the server did.
    case undiscoverable(reason: String)
}

/// Why a text is not the callback address of a web session.
enum CallbackFlaw: Error, Hashable, CaseIterable {
    case noAddress
    case hasQuery
    case notHTTPS
    case noHost
    /// The desktop's own programs need the scheme.
    case reservedScheme
}

extension WrongArgument {
    private static let wholeAddress = "copy the whole address that the browser was sent to"

    var texts: (field: String, reason: String, hint: String?) {
        switch self {
        case .noScopes: ("scopes", "no scope, resource, audience or claim is named", nil)
        case .noScope(let text):
            (
                "scopes", "'\(text)' is not a scope",
                "visible ASCII without spaces, quotes and backslashes (RFC 6749 section 3.3)"
            )
        case .noResource(let text):
            ("resources", "'\(text)' is not an absolute URI without a fragment", "RFC 8707 section 2")
        case .noAudience: ("audience", "it is empty, or not plain ASCII text", nil)
        case .noClaims:
            (
                "claims", "they are not a JSON object",
                #"{"access_token":{"acr":{"essential":true}}}, for example (OpenID Connect Core section 5.5)"#
            )
        case .idTokenOfSet: ("idToken", "an ID token cannot be combined with scopes, resources or an audience", nil)
        case .idTokenOfServiceAccount(let account):
            ("idToken", "'\(account)' acts for itself, and an ID token is about a person who signed in", nil)
        case .notBoundToKey(let account):
            (
                "dpop", "the tokens of '\(account)' are not bound to a key",
                "to bind tokens to a key, add an account with 'authctl account add --dpop'"
            )
        case .unusableDPoPKey: ("dpop", "the account's key cannot be used", "authctl store check")
        case .noRequestURL: ("url", "it is not an https URL", nil)
        case .challengeUnreadable:
            ("challenge", "it is not a challenge for a token that can be understood (RFC 6750, RFC 9470)", nil)
        case .challengeAboutRequest(let error):
            ("challenge", "it rejects the request, not the token (\(error ?? "no error"))", nil)
        case .challengeWantsMore(let account):
            (
                "challenge", "it wants more than the tokens have, and a service account has no person to ask",
                "authctl account edit \(account) --scope SCOPE"
            )
        case .noRefreshToken(let flaw): ("refreshToken", "it is not a refresh token, but \(flaw.rawValue)", nil)
        case .nothingToMove:
            ("park", "the account has no refresh token that could be moved", "export it without '--move'")
        case .grantOfAnotherClient:
            (
                "refreshToken",
                "the account already has this grant, for another server or client than these settings name",
                "change only the settings, with 'authctl account edit'"
            )
        case .noPolicy(let name, let example):
            ("policy", "'\(name)' cannot be the name of a policy", example.map { "a name such as '\($0)'" })
        case .providerWithoutPolicies: ("policy", "the account's provider has no policies", nil)
        case .pasted(let error): ("redirect", error.reason, Self.wholeAddress)
        case .answer(let refusal): ("redirect", refusal.reason, refusal.hint)
        case .callback(let flaw):
            ("callback", flaw.reason, "http://127.0.0.1/done, com.example.app:/done, https://app.example/done")
        case .answerForOtherCallback:
            ("redirect", "it does not begin with this session's callback address", Self.wholeAddress)
        case .noIssuerURL: ("url", "it is not the https URL of an issuer", "https://issuer.example")
        case .noProfileName: ("profile", "it cannot be the name of a profile", "letters, digits and ._-")
        case .undiscoverable(let reason):
            ("url", reason, "give the issuer's own URL, or name its endpoints in a profile")
        }
    }
}

extension CallbackFlaw {
    fileprivate var reason: String {
        switch self {
        case .noAddress: "it is not an address"
        case .hasQuery: "it has a query or a fragment, where the answer will stand"
        case .notHTTPS: "a page on another machine needs https"
        case .noHost: "it has no host"
        case .reservedScheme: "programs of the desktop need its scheme"
        }
    }
}

extension PastedRedirectError {
    fileprivate var reason: String {
        switch self {
        case .empty: "it is empty"
        case .response(.tooLong): "it is longer than any answer"
        case .response(.badEncoding): "it is cut off or was changed"
        case .response(.repeatedParameter): "it has a parameter twice"
        }
    }
}

extension ResponseRefusal {
    fileprivate var reason: String {
        switch self {
        case .wrongState: "its 'state' is not that of this sign-in: it belongs to another one, or was forged"
        case .wrongPath: "it came back to the redirect URI of another server than the one you sign in to"
        case .noAnswer: "it contains no answer of the server"
        case .needsWholeAddress: "a code alone is not enough for this server"
        case .alreadyAnswered: "this sign-in already has an answer, and takes only one"
        case .notAwaited: "this sign-in does not wait for an answer by a browser"
        }
    }

    fileprivate var hint: String {
        switch self {
        case .wrongState: "copy the address from the window that this sign-in opened"
        case .wrongPath: "sign in again; if it happens again, one of the two servers sends people to the other one"
        case .noAnswer: "sign in in the browser first; then copy the whole address that it was sent to"
        case .needsWholeAddress: "copy the whole address that the browser was sent to"
        case .alreadyAnswered, .notAwaited: "wait for the end of the sign-in"
        }
    }
}
