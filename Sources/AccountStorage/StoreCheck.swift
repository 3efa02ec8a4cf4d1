import Foundation
import GRDB
package import RefreshCore

/// The full check of a store, done on a copy of it, in the copy's own time: it blocks for a minute with a million accounts.
///
/// The copy is one moment of the store, so that nothing that happens meanwhile looks like damage.
package struct StoreCheck {
    /// What a part of the check has come to.
    package struct Portion: Sendable {
        /// How many accounts it was about.
        package var accounts: Int
        package var findings: [StoreFinding]

        package init(accounts: Int = 0, findings: [StoreFinding] = []) {
            self.accounts = accounts
            self.findings = findings
        }
    }

    /// Accounts that are read and told of together: some milliseconds' worth.
    private static let portionSize = 500
    /// The sentences that SQLite says about a damaged file: the first ones tell as much as all of them.
    private static let verdictsMax = 20

    private let copy: FinishedCopy
    private let now: Timestamp
    private let tell: (Portion) -> Void

    private var path: String { copy.original }

    /// Checks `copy` and removes it.
    ///
    /// - Parameter now: the wall clock's time, in which deadlines are sane or not.
    /// - Parameter tell: is given what was found, part by part, on the caller's thread.
    package static func run(on copy: FinishedCopy, at now: Timestamp, tell: (Portion) -> Void) {
        withoutActuallyEscaping(tell) { tell in
            StoreCheck(copy: copy, now: now, tell: tell).run()
        }
    }

    private func run() {
        defer { copy.remove() }
        do {
            let store = try copy.open()
            tell(Portion(findings: try fileFindings(in: store)))
            tell(Portion(findings: try store.read(tableFindings)))
            try checkAccounts(of: store)
        } catch {
            tell(Portion(findings: [.unreadable(path: path, error)]))
        }
    }

    /// SQLite's own check, and the schema's.
    ///
    /// `integrity_check` and not `quick_check`, which is faster because it does not compare the indexes with their tables: the schedule
    /// is read from an index alone, and an account that is missing there is never refreshed.
    private func fileFindings(in store: AccountStore) throws(StoreError) -> [StoreFinding] {
        try store.read { db in
            let verdicts = try String.fetchAll(db, sql: "PRAGMA integrity_check(\(Self.verdictsMax))")
            let file = verdicts.filter { $0 != "ok" }.map { StoreFinding.file(path: path, verdict: $0) }
            return try file + schemaFindings(in: db)
        }
    }

    /// What differs from a store that is made now.
    private func schemaFindings(in db: Database) throws -> [StoreFinding] {
        let model = try DatabaseQueue()
        try Schema.migrator.migrate(model)
        let expected = try model.read(Self.definitions)
        let found = try Self.definitions(in: db)
        return Set(expected.keys).union(found.keys).sorted().compactMap { name in
            guard let definition = found[name] else { return .schema(path: path, name: name, .missing) }
            guard let wanted = expected[name] else { return .schema(path: path, name: name, .unknown) }
            return definition == wanted ? nil : .schema(path: path, name: name, .altered)
        }
    }

    /// The text of everything in the schema, by its name; SQLite's own statistics are no part of it.
    private static func definitions(in db: Database) throws -> [String: String] {
        let rows = try Row.fetchAll(
            db,
            sql: "SELECT name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'"
        )
        return Dictionary(rows.map { ($0[0], $0[1]) }) { first, _ in first }
    }

    /// Rows without what they belong to, and counts that are none.
    private func tableFindings(in db: Database) throws -> [StoreFinding] {
        let orphans = try Row.fetchAll(
            db,
            sql: "SELECT \"table\", count(*) FROM pragma_foreign_key_check GROUP BY 1 ORDER BY 1"
        )
        var findings = orphans.map { StoreFinding.orphans(path: path, table: $0[0], count: $0[1]) }
        let counted = """
            SELECT replace(tally, 'refreshing', 'scheduled') AS settled, count(*) FROM account GROUP BY settled
            EXCEPT SELECT tally, accounts FROM phase_count
            """
        let listed = """
            SELECT tally, accounts FROM phase_count WHERE accounts <> 0
            EXCEPT SELECT replace(tally, 'refreshing', 'scheduled') AS settled, count(*) FROM account GROUP BY settled
            """
        if try !Row.fetchAll(db, sql: counted).isEmpty || !Row.fetchAll(db, sql: listed).isEmpty {
            findings.append(.counts(path: path))
        }
        return findings
    }

    private func checkAccounts(of store: AccountStore) throws(StoreError) {
        var last = Int64(0)
        while true {
            // What SQLite and the sealer made for one portion is given back before the next one.
            let portion = try store.read { db in
                let entries = try store.entries(.recordsAfterID, [last, Self.portionSize], in: db)
                guard let end = entries.last?.id.rawValue else { return Portion() }
                defer { last = end }
                let findings = try AccountCheck.findings(of: entries, after: last, now: now, in: store, db)
                return Portion(accounts: entries.count, findings: findings)
            }
            guard portion.accounts > 0 else { return }
            tell(portion)
        }
    }
}
