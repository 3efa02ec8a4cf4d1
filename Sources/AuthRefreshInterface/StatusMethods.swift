/// The wire types of `GetInfo`.
package enum GetInfo {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package init() {}
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var version: String
        package var startedAtUSec: Int64
        package var accounts: Int64
        package var interactionRequired: Int64
        package var nextDeadlineUSec: Int64?
        package var online: Bool
        package var trouble: String?
        package var damaged: Int64?

        package init(
            version: String,
            startedAtUSec: Int64,
            accounts: Int64,
            interactionRequired: Int64,
            nextDeadlineUSec: Int64? = nil,
            online: Bool,
            trouble: String? = nil,
            damaged: Int64? = nil
        ) {
            self.version = version
            self.startedAtUSec = startedAtUSec
            self.accounts = accounts
            self.interactionRequired = interactionRequired
            self.nextDeadlineUSec = nextDeadlineUSec
            self.online = online
            self.trouble = trouble
            self.damaged = damaged
        }
    }
}

/// The wire types of `GetStatus`.
package enum GetStatus {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var accounts: [String]?
        package var after: String?
        package var limit: Int64?

        package init(accounts: [String]? = nil, after: String? = nil, limit: Int64? = nil) {
            self.accounts = accounts
            self.after = after
            self.limit = limit
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var accounts: [AccountStatus]
        package var next: String?

        package init(accounts: [AccountStatus], next: String? = nil) {
            self.accounts = accounts
            self.next = next
        }
    }
}

/// The wire types of `Subscribe`.
package enum Subscribe {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var accounts: [String]?

        package init(accounts: [String]? = nil) {
            self.accounts = accounts
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var event: String
        package var atUSec: Int64
        package var accounts: [AccountStatus]
        package var account: String?
        package var previousName: String?

        package init(
            event: String,
            atUSec: Int64,
            accounts: [AccountStatus],
            account: String? = nil,
            previousName: String? = nil
        ) {
            self.event = event
            self.atUSec = atUSec
            self.accounts = accounts
            self.account = account
            self.previousName = previousName
        }
    }
}
