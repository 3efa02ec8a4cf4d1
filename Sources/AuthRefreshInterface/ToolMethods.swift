/// What other tools may bring.
package enum ToolLimits {
    /// Bytes that a tool may write to its credential helper. git and docker write a few hundred, and a token or two.
    package static let inputBytesMax = 65_536
}

/// The wire types of `FindAccount`.
package enum FindAccount {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var url: String
        package var username: String?
        package var account: String?

        package init(url: String, username: String? = nil, account: String? = nil) {
            self.url = url
            self.username = username
            self.account = account
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var account: String?
        package var username: String?
        package var bearer: Bool?

        package init(account: String? = nil, username: String? = nil, bearer: Bool? = nil) {
            self.account = account
            self.username = username
            self.bearer = bearer
        }
    }
}

/// The wire types of `ListUrls`.
package enum ListUrls {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var after: String?

        package init(after: String? = nil) {
            self.after = after
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var urls: [ServiceUrl]
        package var next: String?

        package init(urls: [ServiceUrl], next: String? = nil) {
            self.urls = urls
            self.next = next
        }
    }
}

/// `ServiceUrl` of the interface: an address, and the account that tools take for it.
package struct ServiceUrl: Codable, Hashable, Sendable {
    package var url: String
    package var account: String
    package var username: String?

    package init(url: String, account: String, username: String? = nil) {
        self.url = url
        self.account = account
        self.username = username
    }
}
