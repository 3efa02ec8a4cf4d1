internal import FoundationEssentials
internal import TextEncodings

/// A client as this server knows it (RFC 6749 §2).
package struct DemoClient: Sendable, Equatable {
    /// How the client authenticates at the token, revocation and introspection endpoints (RFC 6749 §2.3).
    package enum Authentication: Sendable, Equatable {
        /// A public client, which states its ID and proves nothing.
        case none
        /// `client_secret_basic`. Real servers disagree about how the credentials are encoded before Base64.
        case basic(secret: String, form: BasicForm)
        /// `client_secret_post`.
        case post(secret: String)
        /// A token signed by the client instead of a secret, with the client as its subject (Apple). This server does
        /// not have the key.
        case signedPost
        /// `private_key_jwt` (RFC 7523 §2.2): a token signed with the client's key. The public half is in PEM.
        case privateKey(pem: String)
    }

    /// How client ID and secret are encoded in the Basic scheme.
    package enum BasicForm: Sendable {
        /// Form-encoded first, as RFC 6749 §2.3.1 requires. django-oauth-toolkit accepts only this.
        case formEncoded
        /// Unchanged. glewlwyd accepts only this.
        case raw
    }

    package let id: String
    package internal(set) var authentication: Authentication
    /// The scope that it may get in its own name (RFC 6749 §4.4), space-separated; nil if it needs a person.
    package internal(set) var serviceScope: String?
    /// The public key for its assertions (RFC 7523 §2.1), in PEM; nil if it makes none. A client with a key may ask for
    /// tokens for itself and for everybody.
    package let assertionKey: String?
    /// Its registered redirect URIs; nil accepts those that `takes` accepts for every client.
    var redirectURIs: [String]?
    /// The token for managing its registration (RFC 7592 §3); nil if it did not register itself.
    var registrationToken: String?
    /// When its secret expires; nil for never.
    var secretEndsAt: Duration?
    /// The metadata with which it registered itself.
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

    /// Whether a browser may be sent to `uri`: a loopback address (RFC 8252 §7.3) or a private-use scheme (§7.1). This
    /// server runs on loopback itself and needs nothing else.
    ///
    /// - Parameter wholly: whether registered URIs are compared as whole strings.
    func takes(redirectURI uri: String, wholly: Bool) -> Bool {
        if let redirectURIs { return redirectURIs.contains { wholly ? uri == $0 : Self.isMatch(uri, $0) } }
        return Self.isSafe(redirectURI: uri)
    }

    /// RFC 8252 §7.3: the client chooses the port of a loopback address, unless one is registered.
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

    /// Whether these are this client's credentials, sent by its registered method.
    ///
    /// - Parameter audiences: those that an assertion may have.
    func accepts(_ credentials: ClientCredentials, for audiences: Set<String>, at now: Duration) -> Bool {
        switch (authentication, credentials) {
        case (.none, .named(let id)):
            return id == self.id
        case (.post(let secret), .post(let id, let given)):
            return id == self.id && given == secret
        case (.signedPost, .post(let id, let given)):
            return id == self.id && SignedToken(given)?.claims["sub"]?.string == id
        case (.basic(let secret, let form), .basic(let text)):
            guard let pair = ClientCredentials.pair(text, form) else { return false }
            return pair.id == id && pair.secret == secret
        case (.privateKey(let pem), .assertion(let token)):
            guard let claims = SignedToken(token)?.claims(signedBy: pem, for: audiences, at: now) else { return false }
            return claims["iss"]?.string == id && claims["sub"]?.string == id
        case (.none, _), (.post, _), (.signedPost, _), (.basic, _), (.privateKey, _):
            return false
        }
    }
}

/// The client's credentials in a request.
enum ClientCredentials {
    /// A client ID without a secret.
    case named(id: String)
    case post(id: String, secret: String)
    /// The text of a Basic authorization (RFC 7617), before its inner encoding is known.
    case basic(String)
    /// A token that names the client and is signed by it (RFC 7523 §2.2).
    case assertion(String)

    /// Reads the credentials; nil if the request names no client, or names one in two ways (forbidden by RFC 6749
    /// §2.3).
    init?(_ request: Request, _ form: FormFields) {
        let id = form["client_id"]
        if let header = request.authorization(scheme: "basic") {
            guard form["client_secret"] == nil, let bytes = Data(base64Encoded: header),
                let text = String(validating: bytes, as: UTF8.self)
            else { return nil }
            self = .basic(text)
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

    /// The possible client IDs. In the Basic scheme, the two encodings may give different IDs.
    var possibleIDs: [String] {
        switch self {
        case .named(let id), .post(let id, _): [id]
        case .assertion(let token): [SignedToken(token)?.claims["iss"]?.string].compactMap(\.self)
        case .basic(let text): [Self.pair(text, .formEncoded)?.id, Self.pair(text, .raw)?.id].compactMap(\.self)
        }
    }

    /// Splits the text; nil if there is no colon, or if an escape is invalid.
    static func pair(_ text: String, _ form: DemoClient.BasicForm) -> (id: String, secret: String)? {
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
