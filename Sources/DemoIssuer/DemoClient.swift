internal import FoundationEssentials
internal import TextEncodings

/// A client as this server knows it (RFC 6749 §2).
package struct DemoClient: Sendable, Equatable {
    /// How the client proves itself at the token, revocation and introspection endpoints (RFC 6749 §2.3).
    package enum Authentication: Sendable, Equatable {
        /// A public client: it names itself and proves nothing.
        case none
        /// `client_secret_basic`; real servers disagree about what stands between the colon and the Base64.
        case basic(secret: String, form: BasicForm)
        /// `client_secret_post`.
        case post(secret: String)
        /// A token in the secret's place that the client signs, and that names it as its subject (Apple). Nobody here has its key.
        case signedPost
        /// `private_key_jwt` (RFC 7523 §2.2): a token that its key has signed; the public half is in PEM.
        case privateKey(pem: String)
    }

    /// How client id and secret are written in the Basic scheme.
    package enum BasicForm: Sendable {
        /// Form-encoded first, as RFC 6749 §2.3.1 asks; django-oauth-toolkit takes nothing else.
        case formEncoded
        /// As they are; glewlwyd takes nothing else.
        case raw
    }

    package let id: String
    package internal(set) var authentication: Authentication
    /// What it may do for itself (RFC 6749 §4.4), space-separated; nil for a client that may do nothing without a person.
    package internal(set) var serviceScope: String?
    /// The public half of the key that signs its assertions (RFC 7523 §2.1), in PEM; nil for a client that makes none. With one, it may
    /// speak for itself and for everybody.
    package let assertionKey: String?
    /// The redirect URIs that it was registered with; nil takes what `takes` says for everybody.
    var redirectURIs: [String]?
    /// What it shows to delete its registration (RFC 7592 §3); nil if it was not registered by itself.
    var registrationToken: String?
    /// When its secret ends; nil for never.
    var secretEndsAt: Duration?
    /// What it said about itself to be registered.
    var registeredMetadata: ClientMetadata?

    package init(
        id: String,
        authentication: Authentication = .none,
        serviceScope: String? = nil,
        assertionKey: String? = nil,
        redirectURIs: [String]? = nil
    ) {
        self.id = id
        self.serviceScope = serviceScope
        self.assertionKey = assertionKey
        self.redirectURIs = redirectURIs
        self.authentication = authentication
    }

    /// Whether a browser may be sent back there: to a loopback address (RFC 8252 §7.3), or to a private-use scheme (§7.1). Nothing
    /// else is this server's business, which stands on loopback itself.
    func takes(redirectURI uri: String) -> Bool {
        if let redirectURIs { return redirectURIs.contains { Self.isMatch(uri, $0) } }
        return Self.isSafe(redirectURI: uri)
    }

    /// RFC 8252 §7.3: the port of a loopback address is the client's choice, unless one is registered.
    private static func isMatch(_ uri: String, _ registered: String) -> Bool {
        if uri == registered { return true }
        let hosts = ["http://127.0.0.1", "http://[::1]"]
        guard let host = hosts.first(where: { uri.hasPrefix($0 + ":") && registered.hasPrefix($0 + "/") }) else {
            return false
        }
        return uri.dropFirst(host.count + 1).drop(while: \.isNumber) == registered.dropFirst(host.count)
    }

    static func isSafe(redirectURI uri: String) -> Bool {
        guard let colon = uri.firstIndex(of: ":"), !uri.contains("#") else { return false }
        if uri[..<colon].contains(".") { return true }
        let hosts = ["http://127.0.0.1", "http://localhost", "http://[::1]"]
        return hosts.contains { uri.hasPrefix($0 + "/") || uri.hasPrefix($0 + ":") || uri == $0 }
    }

    /// Whether the credentials of a request are this client's, given by the way it is registered for.
    func accepts(_ credentials: ClientCredentials, _ check: AssertionCheck) -> Bool {
        switch (authentication, credentials) {
        case (.none, .named(let id)):
            return id == self.id
        case (.post(let secret), .post(let id, let given)):
            return id == self.id && given == secret
        case (.signedPost, .post(let id, let given)):
            return id == self.id && IDTokenSigner.subject(of: given) == id
        case (.basic(let secret, let form), .basic(let userPass)):
            guard let pair = userPass.pair(form) else { return false }
            return pair.id == id && pair.secret == secret
        case (.privateKey(let pem), .assertion(let token)):
            guard let claims = check.claims(of: token, signedBy: pem) else { return false }
            return claims.iss == id && claims.sub == id
        case (.none, _), (.post, _), (.signedPost, _), (.basic, _), (.privateKey, _):
            return false
        }
    }
}

/// What a request says about who sends it.
enum ClientCredentials {
    /// A client id and no secret.
    case named(id: String)
    case post(id: String, secret: String)
    case basic(BasicUserPass)
    /// A token that names the client, and that it has signed (RFC 7523 §2.2).
    case assertion(String)

    /// nil when the request names no client, or does so in two ways at once (RFC 6749 §2.3 forbids it).
    init?(_ request: Request, _ form: FormFields) {
        let id = form["client_id"]
        if let header = request.authorization(scheme: "basic") {
            guard form["client_secret"] == nil, let userPass = BasicUserPass(base64: header) else { return nil }
            self = .basic(userPass)
        } else if let assertion = form["client_assertion"] {
            guard form["client_secret"] == nil, form["client_assertion_type"] == Self.assertionType else { return nil }
            self = .assertion(assertion)
        } else if let id {
            self = form["client_secret"].map { .post(id: id, secret: $0) } ?? .named(id: id)
        } else {
            return nil
        }
    }

    private static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    /// The ids this may stand for: in the Basic scheme the two forms may differ.
    var possibleIDs: [String] {
        switch self {
        case .named(let id), .post(let id, _): [id]
        case .assertion(let token): [AssertionCheck.issuer(of: token)].compactMap(\.self)
        case .basic(let userPass): [userPass.pair(.formEncoded)?.id, userPass.pair(.raw)?.id].compactMap(\.self)
        }
    }
}

/// The text of a Basic authorization (RFC 7617), before anybody has said how it was encoded.
struct BasicUserPass {
    private let text: String

    /// nil for anything that is not Base64 of UTF-8.
    init?(base64: String) {
        guard let bytes = Data(base64Encoded: base64), let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        self.text = text
    }

    /// nil when there is no colon, or an escape that is none.
    func pair(_ form: DemoClient.BasicForm) -> (id: String, secret: String)? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let id = text[..<colon]
        let secret = text[text.index(after: colon)...]
        switch form {
        case .raw:
            return (String(id), String(secret))
        case .formEncoded:
            guard let id = FormEncoding.decode(id.utf8), let secret = FormEncoding.decode(secret.utf8) else {
                return nil
            }
            return (id, secret)
        }
    }
}
