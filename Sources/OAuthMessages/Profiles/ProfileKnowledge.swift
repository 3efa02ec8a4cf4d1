package import RefreshCore

/// What a person has to know about a provider before, or when something does not work: one sentence or two.
///
/// In YAML: `{about: device, text: "Device codes need a client of the type …"}`.
package struct ProfileNote: Hashable, Sendable {
    /// What it is about, which says where it is shown beside `provider show` and the questions of `account add`.
    package enum Topic: String, Hashable, Sendable, CaseIterable {
        /// Which kind of client to make, and where.
        case client
        /// Which redirect URI and port to register; shown where a redirect port is missing.
        case redirects
        /// Which scopes to ask for; shown where scopes are missing.
        case scopes
        /// Signing in by a code on another device; shown where that fails.
        case device
        /// When grants end, whatever is done.
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

/// A setting that the provider leaves no choice about: without it a sign-in fails in the browser, or after the code is spent.
package enum RequiredSetting: String, Hashable, Sendable, CaseIterable {
    /// A scope of an API, beside those of OpenID Connect: without one Azure AD B2C gives no access token for a code.
    case scopes
    /// The loopback port that is registered: the provider compares it (against RFC 8252 §7.3).
    case redirectPort = "redirect_port"

    /// OpenID Connect Core §5.4 and §11: scopes that are about the person and the session, and no API's.
    private static let ofNoAPI: Set = ["openid", "profile", "email", "address", "phone", "offline_access"]

    /// Whether `scopes` name an API.
    package static func nameAPI(_ scopes: [String]) -> Bool {
        scopes.contains { !ofNoAPI.contains($0) }
    }
}

extension ProviderProfile {
    /// The first note about `topic`; nil if there is none.
    package func note(about topic: ProfileNote.Topic) -> String? {
        notes.first { $0.topic == topic }?.text
    }

    /// What keeps `registration` from signing anybody in at this provider: the first of the required settings that is missing.
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

extension SignInProfile {
    /// Whether a browser would be sent back to a loopback port that nobody has registered.
    fileprivate var isWithoutPort: Bool {
        guard redirectPort == nil else { return false }
        guard let redirectURI else { return redirectScheme == nil }
        // http is for loopback addresses only.
        let namesPort = redirectURI.contains(/^http:\/\/[^\/]*:[0-9]+(\/|$)/)
        return Endpoint(redirectURI)?.isSecure == false && !namesPort
    }
}

extension ProviderProfile {
    /// Reads the keys that people are told of.
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
                throw fields.error(scopesKey, "must be lists of scopes by purposes, which are made of a-z and -")
            }
        }
        scopesByPurpose = scopes
    }
}
