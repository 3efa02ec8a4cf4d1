package import CommandLineProgram

/// The wire types of `BackupStore`.
package enum BackupStore {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package init() {}
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var path: String
        package var keys: [String]?

        package init(path: String, keys: [String]? = nil) {
            self.path = path
            self.keys = keys
        }
    }
}

/// The wire types of `RekeyStore`.
package enum RekeyStore {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package init() {}
    }

    /// A reply, for progress and at the end.
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

/// The wire types of `CheckStore`.
package enum CheckStore {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package init() {}
    }

    /// A reply, for progress and at the end.
    package struct Reply: Codable, Hashable, Sendable {
        package var accounts: Int64
        package var total: Int64
        package var found: Int64
        package var findings: [StoreFinding]

        package init(accounts: Int64, total: Int64, found: Int64, findings: [StoreFinding]) {
            self.accounts = accounts
            self.total = total
            self.found = found
            self.findings = findings
        }
    }
}

/// `StoreFinding` of the interface.
package struct StoreFinding: Codable, Hashable, Sendable {
    package var kind: String
    package var account: String?
    package var summary: String
    package var hint: String
    package var command: String?

    package init(kind: String, account: String? = nil, summary: String, hint: Hint) {
        self.kind = kind
        self.account = account
        self.summary = summary
        self.hint = hint.text
        self.command = hint.command
    }
}
