/// The wire types of `BackupStore`.
package enum BackupStore {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package init() {}
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var path: String

        package init(path: String) {
            self.path = path
        }
    }
}

/// The wire types of `RekeyStore`.
package enum RekeyStore {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package init() {}
    }

    /// What it answers, as it goes on and in the end.
    package struct Reply: Codable, Hashable, Sendable {
        package var accounts: Int64
        package var total: Int64
        package var unreadable: Int64
        package var key: String?
        package var place: String?
        package var leftover: String?

        package init(
            accounts: Int64,
            total: Int64,
            unreadable: Int64,
            key: String? = nil,
            place: String? = nil,
            leftover: String? = nil
        ) {
            self.accounts = accounts
            self.total = total
            self.unreadable = unreadable
            self.key = key
            self.place = place
            self.leftover = leftover
        }
    }
}
