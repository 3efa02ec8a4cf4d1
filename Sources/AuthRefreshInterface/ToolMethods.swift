/// Limits on the input from other tools.
package enum ToolLimits {
    /// The most bytes that a tool may write to its credential helper. git and docker write a few hundred, plus one or
    /// two tokens.
    package static let inputBytesMax = 65_536
}

/// The wire types of `FindAccount`.
package enum FindAccount {
    /// The parameters.
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

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var account: String?
        package var username: String?
        package var bearer: Bool?
        package var others: [String]?

        package init(
            account: String? = nil,
            username: String? = nil,
            bearer: Bool? = nil,
            others: [String]? = nil
        ) {
            self.account = account
            self.username = username
            self.bearer = bearer
            self.others = others
        }
    }
}

/// The wire types of `ListUrls`.
package enum ListUrls {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var after: String?

        package init(after: String? = nil) {
            self.after = after
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var urls: [ServiceUrl]
        package var next: String?

        package init(urls: [ServiceUrl], next: String? = nil) {
            self.urls = urls
            self.next = next
        }
    }
}

/// `ServiceUrl` of the interface: an address, and the account that tools use for it.
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
