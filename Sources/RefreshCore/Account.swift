/// One client registration and one resource owner at one issuer, under a local name.
package struct Account: Equatable, Sendable {
    /// The account's number in the store; 0 until the store has assigned one.
    package var id = AccountID(0)
    package var name: AccountName
    package var issuer: Issuer
    /// The provider profile that supplies endpoints and quirks; nil if the issuer's metadata is enough.
    package var provider: String?
    /// The account's values for the profile's variables, such as its tenant or realm.
    package var providerVariables: [String: String] = [:]
    /// Settings that replace the profile's, with the keys and the syntax of a profile file.
    package var providerSettings: [String: String] = [:]
    package var registration: ClientRegistration
    package var policy = RefreshPolicy()
    /// How this server wants Basic credentials encoded; nil until that is known.
    package var basicCredentialEncoding: BasicCredentialEncoding?
    /// Which programs may get secrets; nil allows every process of this user.
    package var allowedCallers: AllowedCallers?
    package var delivery = Delivery()
    /// What is known about the grant that the account holds, or the last one that it held.
    package var grantFacts = GrantFacts()
}

extension Account {
    package init(name: AccountName, issuer: Issuer, registration: ClientRegistration) {
        self.init(id: AccountID(0), name: name, issuer: issuer, registration: registration)
    }
}

/// The local name of an account: 1 to 64 letters, digits and `._@+-`, not starting with `-` or `.`.
///
/// It needs no quoting on a command line, in a journal field or in a file name.
package struct AccountName: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let text: String

    /// Returns nil if `text` breaks the rule above.
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

extension AccountName: Codable {
    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        guard let name = AccountName(try value.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "not the name of an account")
        }
        self = name
    }

    package func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(text)
    }
}

/// The programs that may get an account's secrets: those on two lists, with or without asking the user first.
///
/// A caller is allowed if it matches either list. If both lists are empty, every process of this user is allowed.
package struct AllowedCallers: Hashable, Sendable {
    /// Names of systemd units, such as `mbsync.service`.
    package let units: [String]
    /// Absolute paths of executables.
    package let executables: [String]
    /// Whether the user is asked before a program gets a secret.
    package let asksFirst: Bool

    /// Returns nil if the lists are empty and the user is not asked, because that allows everybody.
    package init?(units: [String], executables: [String], asksFirst: Bool = false) {
        guard !units.isEmpty || !executables.isEmpty || asksFirst else { return nil }
        self.units = units
        self.executables = executables
        self.asksFirst = asksFirst
    }

    /// Whether every program is allowed.
    package var isEverybody: Bool { units.isEmpty && executables.isEmpty }
}

/// As the store has it.
extension AllowedCallers: Codable {
    private enum CodingKeys: CodingKey {
        case units, executables, asksFirst
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let callers = AllowedCallers(
            units: try members.decode([String].self, forKey: .units),
            executables: try members.decode([String].self, forKey: .executables),
            asksFirst: try members.decodeIfPresent(Bool.self, forKey: .asksFirst) ?? false
        )
        guard let callers else {
            // A list that names nobody is never written, and must not be read as "everybody".
            throw DecodingError.dataCorruptedError(forKey: .units, in: members, debugDescription: "nobody is named")
        }
        self = callers
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(units, forKey: .units)
        try members.encode(executables, forKey: .executables)
        try members.encodeIfPresent(asksFirst ? true : nil, forKey: .asksFirst)
    }
}

extension AllowedCallers: CustomStringConvertible {
    package var description: String {
        (units.map { "the unit '\($0)'" } + executables.map { "'\($0)'" }).joined(separator: ", ")
    }
}

/// A program as it was when it called. After it has ended, the daemon checks a list of allowed callers against this.
package struct SeenProgram: Codable, Hashable, Sendable {
    /// The systemd unit that the program ran in; nil if it ran in none.
    package let unit: String?
    /// The path of its executable, without symbolic links; nil if the daemon could not read it, or found another file
    /// there.
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

/// What is known about the grant besides its tokens. None of it is secret.
package struct GrantFacts: Hashable, Sendable {
    /// The person whose grant it is: `sub` of the ID token (OpenID Connect Core §2) at the account's issuer.
    ///
    /// Nil if that is unknown, because the server did not say or the grant was imported.
    package var subject: String?
    /// The person's names; nil if the server sent none.
    package var person: PersonNames?
    /// Whether asking for the person's consent brings a refresh token (OpenID Connect Core §11); nil until a sign-in has
    /// shown that.
    package var consent: ConsentFinding?
    /// What the provider sent that programs need besides a token, by the provider's names: `instance_url`, `realmId`.
    package var keptFields: [String: String]
    /// What the grant covers; nil until an answer has said so.
    package var scope: GrantedScope?

    package init(
        subject: String? = nil,
        person: PersonNames? = nil,
        consent: ConsentFinding? = nil,
        keptFields: [String: String] = [:],
        scope: GrantedScope? = nil
    ) {
        self.subject = subject
        self.person = person
        self.consent = consent
        self.keptFields = keptFields
        self.scope = scope
    }
}

/// As the store has it, apart from `subject` and `keptFields`. Words and members of later versions are ignored, because
/// none of them restricts anything.
extension GrantFacts: Codable {
    private enum CodingKeys: CodingKey {
        case username, email, fullName, tenant
        /// Of versions before `consent`: it was needed.
        case needsConsent
        case consent, scope, scopeMissing, scopeDeclined, scopeRequest, scopeNarrowing
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let text = { (key: CodingKeys) in try members.decodeIfPresent(String.self, forKey: key) }
        let list = { (key: CodingKeys) in try members.decodeIfPresent([String].self, forKey: key) }
        let names = PersonNames(
            username: try text(.username),
            email: try text(.email),
            fullName: try text(.fullName),
            tenant: try text(.tenant)
        )
        let neededConsent = try members.decodeIfPresent(Bool.self, forKey: .needsConsent) == true
        self.init(
            person: names == PersonNames() ? nil : names,
            consent: try text(.consent).flatMap(ConsentFinding.init) ?? (neededConsent ? .needed : nil),
            scope: try list(.scope).map { granted in
                GrantedScope(
                    granted: granted,
                    missing: try list(.scopeMissing) ?? [],
                    declined: try list(.scopeDeclined) ?? [],
                    request: try text(.scopeRequest).flatMap(GrantedScope.Request.init) ?? .omitted,
                    narrowing: try text(.scopeNarrowing).flatMap(GrantedScope.Narrowing.init) ?? .untried
                )
            }
        )
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeIfPresent(person?.username, forKey: .username)
        try members.encodeIfPresent(person?.email, forKey: .email)
        try members.encodeIfPresent(person?.fullName, forKey: .fullName)
        try members.encodeIfPresent(person?.tenant, forKey: .tenant)
        if consent == .needed { try members.encode(true, forKey: .needsConsent) }
        try members.encodeIfPresent(consent?.rawValue, forKey: .consent)
        guard let scope else { return }
        try members.encode(scope.granted, forKey: .scope)
        if !scope.missing.isEmpty { try members.encode(scope.missing, forKey: .scopeMissing) }
        if !scope.declined.isEmpty { try members.encode(scope.declined, forKey: .scopeDeclined) }
        if scope.request != .omitted { try members.encode(scope.request.rawValue, forKey: .scopeRequest) }
        if scope.narrowing != .untried { try members.encode(scope.narrowing.rawValue, forKey: .scopeNarrowing) }
    }
}

/// What a sign-in has shown about asking for the person's consent. The raw values are stored.
package enum ConsentFinding: String, Hashable, Sendable, CaseIterable {
    /// The server sends a refresh token only with it. Later sign-ins ask for it, too.
    case needed
    /// The server sends a refresh token without it. Later sign-ins do not ask for it.
    case unneeded
    /// The server sends no refresh token, with or without it.
    case useless
}

/// The names of the person who signed in. They are for display only.
///
/// Never identify a person by them: names change, and providers give them to other people later (OpenID Connect Core
/// §5.7).
package struct PersonNames: Hashable, Sendable {
    /// `preferred_username`, RFC 7662's `username`, or a provider's own.
    package var username: String?
    /// `email`.
    package var email: String?
    /// `name`: the full name.
    package var fullName: String?
    /// The person's organization, such as Entra's `tid`.
    package var tenant: String?

    package init(username: String? = nil, email: String? = nil, fullName: String? = nil, tenant: String? = nil) {
        self.username = username
        self.email = email
        self.fullName = fullName
        self.tenant = tenant
    }

    /// The name that identifies the person best; nil if there is none.
    package var best: String? { email ?? username ?? fullName }

    /// The person's mail addresses: the email, and the user name if it has the form of one.
    package var addresses: [String] {
        [email, username].compactMap(\.self).filter(Self.isAddress)
    }

    /// Whether `text` has the form of a mail address.
    package static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty && !$0.contains(" ") }
    }
}

/// The number of an account in the store. It stays the same when the account is renamed, and is never reused.
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
/// An answer belongs to the generation whose token was sent. We match answers by generation, not by phase. That way we
/// keep a rotated refresh token that arrives late (RFC 9700 §4.14.2).
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
