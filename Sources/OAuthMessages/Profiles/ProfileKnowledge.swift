package import RefreshCore

/// What a person should know about a provider before signing in, or when something does not work: one or two sentences.
///
/// In YAML: `{about: device, text: "Device codes need a client of the type …"}`.
package struct ProfileNote: Hashable, Sendable {
    /// What a note is about. This decides where it is shown, beside `provider show` and the questions of `account add`.
    package enum Topic: String, Hashable, Sendable, CaseIterable {
        /// Which kind of client to register, and where.
        case client
        /// Which redirect URI and port to register. Shown if a redirect port is missing.
        case redirects
        /// Which scopes to ask for. Shown if scopes are missing.
        case scopes
        /// Signing in with a code on another device. Shown if that fails.
        case device
        /// When grants end even if they are used.
        case lifetime
    }

    package let topic: Topic
    package let text: String

    package init(_ topic: Topic, _ text: String) {
        self.topic = topic
        self.text = text
    }
}

extension ProfileNote: Decodable {
    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(decoder, known: ["about", "text"])
        guard let topic: Topic = try fields.choice("about") else { throw fields.error("about", "is missing") }
        self.topic = topic
        text = try fields.required("text")
        guard !text.isEmpty, !text.contains(where: \.isNewline) else {
            throw fields.error("text", "must be one line")
        }
    }
}

/// A setting that the provider requires. Without it a sign-in fails in the browser, or after the code is spent.
package enum RequiredSetting: String, Hashable, Sendable, CaseIterable {
    /// A scope of an API in addition to those of OpenID Connect. Without one, Azure AD B2C gives no access token for a
    /// code.
    case scopes
    /// The registered loopback port, because the provider compares it (against RFC 8252 §7.3).
    case redirectPort = "redirect_port"

    /// The scopes about the person and the session, which belong to no API (OpenID Connect Core §5.4 and §11).
    fileprivate static let ofNoAPI: Set = ["openid", "profile", "email", "address", "phone", "offline_access"]

    /// Whether one of `scopes` belongs to an API.
    package static func nameAPI(_ scopes: [String]) -> Bool {
        scopes.contains { !ofNoAPI.contains($0) }
    }
}

extension ProviderProfile {
    /// The first note about `topic`; nil if there is none.
    package func note(about topic: ProfileNote.Topic) -> String? {
        notes.first { $0.topic == topic }?.text
    }

    /// The first required setting that `registration` lacks; nil if it can be used for sign-ins at this provider.
    package func missingSetting(_ registration: ClientRegistration) -> RequiredSetting? {
        requiredSettings.first { setting in
            switch setting {
            case .scopes:
                !RequiredSetting.nameAPI(registration.scopes.isEmpty ? signIn.scopes : registration.scopes)
            case .redirectPort:
                signIn.registered(with: registration.redirect).isWithoutPort
            }
        }
    }
}

/// A SASL mechanism by which a mail server takes an access token. The raw values are used in configuration files and on
/// the wire.
package enum SASLMechanism: String, Hashable, Sendable, CaseIterable {
    /// RFC 7628.
    case oauthbearer
    /// Google's and Microsoft's, older than the standard.
    case xoauth2
}

extension SASLMechanism {
    /// How mail servers take the token of an account; empty if its scopes are not for mail, nil if that is not known.
    package static func ofMail(
        for registration: ClientRegistration,
        _ profile: ProviderProfile?
    ) -> [SASLMechanism]? {
        let scopes = registration.scopes.isEmpty ? profile?.signIn.scopes ?? [] : registration.scopes
        // Microsoft's mail servers are known by the scopes, whatever profile the account has.
        if scopes.contains(where: { $0.hasPrefix("https://outlook.office") }) { return profile?.sasl ?? [.xoauth2] }
        guard let mail = profile?.scopesByPurpose["mail"] else { return profile?.sasl }
        let own = Set(mail).subtracting(RequiredSetting.ofNoAPI)
        return own.isDisjoint(with: scopes) ? [] : profile?.sasl
    }
}

extension SignInProfile {
    /// Whether sign-ins would use a loopback port, and none is registered.
    fileprivate var isWithoutPort: Bool {
        guard redirectPort == nil else { return false }
        guard let redirectURI else { return redirectScheme == nil }
        // Redirect URIs with http are for loopback addresses only.
        let namesPort = redirectURI.contains(/^http:\/\/[^\/]*:[0-9]+(\/|$)/)
        return Endpoint(redirectURI)?.isSecure == false && !namesPort
    }
}

extension ProviderProfile {
    /// Reads the keys whose values are shown to people.
    ///
    /// - Throws: `DecodingError` at the key whose value cannot be used.
    mutating func readKnowledge(_ fields: StrictFields, _ notesKey: String, _ scopesKey: String, _ settingsKey: String)
        throws
    {
        notes = try fields.optional(notesKey) ?? []
        requiredSettings = try fields.choices(settingsKey)
        let scopes: [String: [String]] = try fields.optional(scopesKey) ?? [:]
        for (purpose, words) in scopes {
            let isName = !purpose.isEmpty && purpose.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D }
            guard isName, !words.isEmpty, words.allSatisfy(\.isWord) else {
                throw fields.error(scopesKey, "must be lists of scopes, each under a purpose made of a-z and -")
            }
        }
        scopesByPurpose = scopes
    }
}
