/// How programs get an account's token without naming the account.
package struct Delivery: Hashable, Sendable {
    /// The URLs for which tools use this account, in the form that `Issuer` accepts.
    package var urls: [String] = []
    /// The user name that goes with the token at these URLs; nil uses the provider profile's.
    package var username: String?
    /// The token file; nil if the token is not written to a file.
    package var file: TokenFile?

    /// Programs have to name the account.
    package static let byName = Delivery()
}

/// A file below the daemon's runtime directory that always holds the account's current token.
package struct TokenFile: Hashable, Sendable {
    /// The file's name, without a folder. The rule of account names applies to it.
    package var name: String
    package var kind: Kind

    /// What the file contains. The raw values are used on the wire.
    package enum Kind: String, CaseIterable, Sendable {
        /// Only the access token.
        case access
        /// The ID token alone.
        case id
        /// The access token and its expiry, as a JSON object.
        case json
        /// An `Authorization` header line (RFC 9110 §11.6.2).
        case bearerHeader = "bearer-header"
    }

    package init(name: String, kind: Kind = .access) {
        self.name = name
        self.kind = kind
    }
}
