/// One client registration and one resource owner at one issuer, under a local name.
package struct Account: Equatable, Sendable {
    /// 0 until the store has given it a number.
    package var id: AccountID
    package var name: AccountName
    package var issuer: Issuer
    /// The provider profile that endpoints and quirks come from; nil if the issuer's metadata says it all.
    package var provider: String?
    /// What the account says for the profile's variables: its tenant, its realm.
    package var providerVariables: [String: String]
    /// What the account says instead of the profile, by the profile's keys and as its file would.
    package var providerSettings: [String: String]
    package var registration: ClientRegistration
    package var policy: RefreshPolicy
    /// How Basic credentials have to be written for this server, once found out.
    package var basicCredentialEncoding: BasicCredentialEncoding?
    /// Nil: every process of this user.
    package var allowedCallers: AllowedCallers?
    package var delivery: Delivery
    /// What is known about the grant that the account holds, or held last.
    package var grantFacts: GrantFacts

    package init(
        id: AccountID = AccountID(0),
        name: AccountName,
        issuer: Issuer,
        provider: String? = nil,
        providerVariables: [String: String] = [:],
        providerSettings: [String: String] = [:],
        registration: ClientRegistration,
        policy: RefreshPolicy = RefreshPolicy(),
        basicCredentialEncoding: BasicCredentialEncoding? = nil,
        allowedCallers: AllowedCallers? = nil,
        delivery: Delivery = Delivery(),
        grantFacts: GrantFacts = GrantFacts()
    ) {
        self.id = id
        self.name = name
        self.issuer = issuer
        self.provider = provider
        self.providerVariables = providerVariables
        self.providerSettings = providerSettings
        self.registration = registration
        self.policy = policy
        self.basicCredentialEncoding = basicCredentialEncoding
        self.allowedCallers = allowedCallers
        self.delivery = delivery
        self.grantFacts = grantFacts
    }
}

/// The local name of an account: 1 to 64 letters, digits and `._@+-`, not starting with `-` or `.`.
///
/// It stands in command lines, journal fields and file names, so it needs no quoting in any of them.
package struct AccountName: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let text: String

    /// Nil if `text` breaks the rule above.
    package init?(_ text: String) {
        let isAllowed = { (byte: UInt8) in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "._@+-".utf8.contains(byte)
            }
        }
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(isAllowed),
            let first = text.first, first != "-", first != "."
        else { return nil }
        self.text = text
    }

    package var description: String { text }

    package static func < (lhs: AccountName, rhs: AccountName) -> Bool {
        lhs.text < rhs.text
    }
}

/// Who may have an account's secrets: the programs on two lists, after the user was asked or without. A caller is on them if it matches
/// either; where both are empty, every process of this user is.
package struct AllowedCallers: Hashable, Sendable {
    /// Names of systemd units: `mbsync.service`.
    package let units: [String]
    /// Absolute paths of executables.
    package let executables: [String]
    /// Whether the user is asked before a program gets a secret.
    package let asksFirst: Bool

    /// Nil if this would be everybody, unasked.
    package init?(units: [String], executables: [String], asksFirst: Bool = false) {
        guard !units.isEmpty || !executables.isEmpty || asksFirst else { return nil }
        self.units = units
        self.executables = executables
        self.asksFirst = asksFirst
    }

    /// Whether no program is left out.
    package var isEverybody: Bool { units.isEmpty && executables.isEmpty }
}

extension AllowedCallers: CustomStringConvertible {
    package var description: String {
        (units.map { "the unit '\($0)'" } + executables.map { "'\($0)'" }).joined(separator: ", ")
    }
}

/// A program as it was seen when it called: what a list of allowed callers is held against after it has ended.
package struct SeenProgram: Hashable, Sendable {
    /// The systemd unit that it ran in; nil if it ran in none.
    package let unit: String?
    /// The path of its executable, free of symbolic links; nil if the daemon could not see it, or found another file there.
    package let executable: String?

    package init(unit: String?, executable: String?) {
        self.unit = unit
        self.executable = executable
    }
}

extension SeenProgram: CustomStringConvertible {
    package var description: String {
        let program = executable.map { "'\($0)'" } ?? "a program that the daemon could not see"
        return unit.map { program + " in the unit '\($0)'" } ?? program
    }
}

/// What is known about the grant beside its tokens. None of it is secret.
package struct GrantFacts: Hashable, Sendable {
    /// Whose grant it is: `sub` of the ID token (OpenID Connect Core §2), at the account's issuer. Nil if that is not known: the server
    /// told nobody's, or the grant was imported.
    package var subject: String?
    /// What people call them. Nil if the server told no name.
    package var person: PersonNames?
    /// Whether a refresh token came only after the server was asked for the person's consent (OpenID Connect Core §11): later sign-ins
    /// ask for it, too.
    package var needsConsent: Bool
    /// What the provider said that programs need beside a token, by the provider's names: `instance_url`, `realmId`.
    package var keptFields: [String: String]
    /// What the grant covers; nil until an answer has told.
    package var scope: GrantedScope?

    package init(
        subject: String? = nil,
        person: PersonNames? = nil,
        needsConsent: Bool = false,
        keptFields: [String: String] = [:],
        scope: GrantedScope? = nil
    ) {
        self.subject = subject
        self.person = person
        self.needsConsent = needsConsent
        self.keptFields = keptFields
        self.scope = scope
    }
}

/// What people call the person who signed in: to be shown, and never to be recognized by. Names change, and are given to others later
/// (OpenID Connect Core §5.7).
package struct PersonNames: Hashable, Sendable {
    /// `preferred_username`, RFC 7662's `username`, or a provider's own.
    package var username: String?
    /// `email`.
    package var email: String?
    /// `name`: in full.
    package var fullName: String?
    /// Where they are at home: Entra's `tid`.
    package var tenant: String?

    package init(username: String? = nil, email: String? = nil, fullName: String? = nil, tenant: String? = nil) {
        self.username = username
        self.email = email
        self.fullName = fullName
        self.tenant = tenant
    }

    /// The name that says best who it is; nil if there is none.
    package var best: String? { email ?? username ?? fullName }
}

/// The number of an account in the store; stays the same when the account is renamed, and is never given twice.
package struct AccountID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: Int64

    package init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    package var description: String { "\(rawValue)" }

    package static func < (lhs: AccountID, rhs: AccountID) -> Bool {
        lhs.rawValue < rhs.rawValue
    }
}

/// The number of an issuer in the store.
package struct IssuerID: Hashable, Sendable {
    package let rawValue: Int64

    package init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }
}

/// How often an account's refresh token has changed.
///
/// An answer belongs to the generation that was spent for it. Telling answers apart by generation, not by phase, is what keeps a
/// rotated refresh token that arrives late (RFC 9700 §4.14.2).
package struct Generation: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: Int64

    package init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    package var next: Generation { Generation(rawValue + 1) }

    package var description: String { "\(rawValue)" }

    package static func < (lhs: Generation, rhs: Generation) -> Bool {
        lhs.rawValue < rhs.rawValue
    }
}
