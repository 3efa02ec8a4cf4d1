/// How programs come by an account's token, beside asking for it by the account's name.
package struct Delivery: Hashable, Sendable {
    /// The addresses for which tools take this account, as `Issuer` takes them.
    package var urls: [String]
    /// The user name that goes with the token there; nil: the provider profile's.
    package var username: String?
    /// Nil: the token is in no file.
    package var file: TokenFile?

    package init(
        urls: [String] = [],
        username: String? = nil,
        file: TokenFile? = nil
    ) {
        self.urls = urls
        self.username = username
        self.file = file
    }
}

/// A file that always holds an account's token, below the daemon's runtime directory.
package struct TokenFile: Hashable, Sendable {
    /// The file's name, without a folder: the rule of account names holds for it.
    package var name: String
    package var kind: Kind

    /// What the file holds. The raw values are those of the wire.
    package enum Kind: String, CaseIterable, Sendable {
        /// The access token alone.
        case access
        /// The ID token alone.
        case id
        /// The access token with its end, as one JSON object.
        case json
        /// An `Authorization` header line (RFC 9110 §11.6.2).
        case bearerHeader = "bearer-header"
    }

    package init(name: String, kind: Kind = .access) {
        self.name = name
        self.kind = kind
    }
}
