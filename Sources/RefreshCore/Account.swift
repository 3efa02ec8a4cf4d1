/// One client registration and one resource owner at one issuer, under a local name.
package struct Account: Equatable, Sendable {
    package let id: AccountID
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
    /// What is known about the grant that the account holds, or held last.
    package var grantFacts: GrantFacts

    package init(
        id: AccountID,
        name: AccountName,
        issuer: Issuer,
        provider: String? = nil,
        providerVariables: [String: String] = [:],
        providerSettings: [String: String] = [:],
        registration: ClientRegistration,
        policy: RefreshPolicy = RefreshPolicy(),
        basicCredentialEncoding: BasicCredentialEncoding? = nil,
        allowedCallers: AllowedCallers? = nil,
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
