import GRDB
package import RefreshCore

/// The accounts that a commit adds and removes, beside its decisions about others.
package struct RosterChange: Sendable {
    /// The new accounts, with the numbers that follow `AccountStore.lastAccount`, in this order.
    package var added: [NewAccount]
    package var removed: [AccountID]

    package init(added: [NewAccount] = [], removed: [AccountID] = []) {
        self.added = added
        self.removed = removed
    }

    var isEmpty: Bool { added.isEmpty && removed.isEmpty }
}

/// Commits decisions.
extension AccountStore {
    /// Stores a batch of decisions in one transaction, and adds and removes accounts in the same one. When it returns,
    /// all of it is on disk.
    ///
    /// Refresh tokens of all generations except a state's current and previous one are erased.
    ///
    /// - Throws: `staleGeneration`, `noSuchAccount`, `nameTaken` or `refreshTokenMissing` for the first invalid write; the damage of
    ///   an account whose settings change; disk errors. Nothing of the batch is then stored, and the caller may commit
    ///   it again.
    package func commit(_ writes: [StateWrite], with roster: RosterChange = RosterChange()) throws(StoreError) {
        schedule.expect(writes)
        if !roster.isEmpty { connection.memory = RowMemory() }
        try connection.transaction { db in
            let statement = try db.cachedStatement(sql: StoreStatement.commit.sql)
            for write in writes {
                if let change = write.settings { try make(change, to: write.account, in: db) }
                try update(write, by: statement, in: db)
                try apply(write, in: db)
                if let facts = write.grantFacts { try store(facts, of: write.account, in: db) }
            }
            for new in roster.added {
                let id = try insert(new, in: db)
                precondition(id == new.account.id, "nobody else adds accounts between a plan and its commit")
            }
            for account in roster.removed { try remove(account, in: db) }
        }
        for write in writes { connection.memory.note(write) }
        if writes.contains(where: { $0.tokens == .erase }) { connection.forgetLog() }
        if !roster.removed.isEmpty { connection.forgetLog() }
    }

    private func make(_ change: SettingsChange, to account: AccountID, in db: Database) throws {
        guard let entry = try records.entries(.recordByID, [account.rawValue], in: db).first else {
            throw StoreError.noSuchAccount(account)
        }
        try update(change.applied(to: entry.record().account), in: db)
    }

    private func update(_ write: StateWrite, by statement: Statement, in db: Database) throws {
        let values = try StateColumns.values(of: write.state, offset: connection.scheduleOffset)
        let place: ColumnValues = [
            SQLValue(write.learnedEncoding?.rawValue), .integer(write.account.rawValue), .integer(write.base.rawValue),
        ]
        guard try statement.run(values + place) == 0 else { return }
        let stored = try Int64.fetchOne(
            db,
            sql: "SELECT generation FROM account WHERE id = ?",
            arguments: [write.account.rawValue]
        )
        guard let stored else { throw StoreError.noSuchAccount(write.account) }
        throw StoreError.staleGeneration(write.account, stored: Generation(stored), base: write.base)
    }

    private func store(_ facts: GrantFacts, of account: AccountID, in db: Database) throws {
        try db.cachedStatement(sql: StoreStatement.grantFacts.sql).execute(
            arguments: [
                facts.subject, try JSONColumn.text(ofMap: facts.keptFields), try JSONColumn.text(ofFacts: facts),
                account.rawValue,
            ]
        )
        guard let isKept = facts.scope?.isKept else { return }
        try db.cachedStatement(
            sql: "UPDATE issuer SET keeps_scope = ? WHERE id = (SELECT issuer_id FROM account WHERE id = ?)"
        ).execute(arguments: [isKept, account.rawValue])
    }

    private func apply(_ write: StateWrite, in db: Database) throws {
        switch write.tokens {
        case .unchanged:
            // A lease leaves the refresh tokens as they are.
            if case .refreshing = write.state.phase, write.base == write.state.generation { return }
        case .store(let tokens):
            try self.tokens.store(tokens, of: write.account, generation: write.state.generation, in: db)
            if let issuedAt = write.state.accessToken?.issuedAt.wall {
                try targets.eraseOld(of: write.account, at: issuedAt, in: db)
            }
        case .storeGrant(let tokens):
            if write.state.isWithheld { try targets.eraseAll(of: write.account, in: db) }
            try self.tokens.storeRefreshToken(of: tokens, of: write.account, generation: write.state.generation, in: db)
        case .replace(let tokens, let facts):
            try targets.eraseAll(of: write.account, in: db)
            try db.run(.eraseTokens, [.integer(write.account.rawValue)])
            try self.tokens.store(tokens, of: write.account, generation: write.state.generation, in: db)
            try store(facts, of: write.account, in: db)
        case .storeTarget(let target):
            try targets.store(target, of: write.account, generation: write.state.generation, in: db)
        case .eraseTarget(let target):
            try targets.erase(target, of: write.account, in: db)
        case .erase:
            try targets.eraseAll(of: write.account, in: db)
            try db.run(.eraseTokens, [.integer(write.account.rawValue)])
            return
        }
        let previous = write.state.previous?.generation ?? write.state.generation
        try db.run(
            .pruneRefreshTokens,
            [
                .integer(write.account.rawValue), .integer(write.state.generation.rawValue),
                .integer(previous.rawValue),
            ]
        )
        guard write.base != write.state.generation, write.state.isRefreshable, !write.tokens.bringsRefreshToken else {
            return
        }
        let place = SealedPlace(account: write.account, column: .refreshToken, generation: write.state.generation)
        guard try tokens.sealed(place, in: db) != nil else {
            throw StoreError.refreshTokenMissing(write.account, write.state.generation)
        }
    }
}
