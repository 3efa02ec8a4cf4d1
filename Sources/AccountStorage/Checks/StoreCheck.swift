package import Basics
import Foundation
import GRDB
import Glibc
package import RefreshCore

/// The full check of a store. It works on a copy and blocks: a minute for a million accounts.
///
/// The copy is the store at one moment, so concurrent changes do not look like damage.
package struct StoreCheck {
    /// The result of one part of the check.
    package struct Portion: Sendable {
        /// How many accounts the part covered.
        package var accounts: Int
        package var findings: [StoreFinding]

        package init(accounts: Int = 0, findings: [StoreFinding] = []) {
            self.accounts = accounts
            self.findings = findings
        }
    }

    /// How many accounts are read and reported together. They take some milliseconds.
    private static let portionSize = 500
    /// The most messages of SQLite about a damaged file. More would tell nothing new.
    private static let verdictsMax = 20

    private let copy: FinishedCopy
    private let now: Timestamp
    private let tell: (Portion) -> Void

    private var path: String { copy.original }

    /// Checks `copy` and removes it.
    ///
    /// - Parameters:
    ///   - now: the wall clock's time, against which deadlines are checked.
    ///   - tell: called with the findings of each part, on the caller's thread.
    package static func run(on copy: FinishedCopy, at now: Timestamp, tell: (Portion) -> Void) {
        withoutActuallyEscaping(tell) { tell in
            StoreCheck(copy: copy, now: now, tell: tell).run()
        }
    }

    private func run() {
        defer { copy.removeFiles() }
        do {
            let store = try copy.open()
            tell(Portion(findings: try fileFindings(in: store)))
            tell(Portion(findings: try store.connection.read(tableFindings)))
            try checkAccounts(of: store)
        } catch {
            tell(Portion(findings: [.unreadable(path: path, error)]))
        }
    }

    /// Runs SQLite's own check and compares the schema.
    ///
    /// It uses `integrity_check`. The faster `quick_check` does not compare indexes with their tables. The schedule is
    /// read only from an index, and an account that is missing there would never be refreshed.
    private func fileFindings(in store: AccountStore) throws(StoreError) -> [StoreFinding] {
        try store.connection.read { db in
            let verdicts = try String.fetchAll(db, sql: "PRAGMA integrity_check(\(Self.verdictsMax))")
            let file = verdicts.filter { $0 != "ok" }.map { StoreFinding.file(path: path, verdict: $0) }
            return try file + schemaFindings(in: db)
        }
    }

    /// The differences from the schema of a new store.
    ///
    /// An unknown index is not reported: a later version may add one, and this version can still use the store.
    /// `integrity_check` has compared it with its table. An unknown unique index is reported, because it can refuse
    /// rows.
    private func schemaFindings(in db: Database) throws -> [StoreFinding] {
        let model = try DatabaseQueue()
        try Schema.migrator.migrate(model)
        let expected = try model.read(Self.definitions)
        let found = try Self.definitions(in: db)
        return Set(expected.keys).union(found.keys).sorted().compactMap { name in
            guard let definition = found[name] else { return .schema(path: path, name: name, .missing) }
            guard let wanted = expected[name] else {
                return Self.isPlainIndex(definition) ? nil : .schema(path: path, name: name, .unknown)
            }
            return definition == wanted ? nil : .schema(path: path, name: name, .altered)
        }
    }

    /// Whether `definition` creates an index that is not unique. SQLite stores the beginning of a definition in this form
    /// ("The Schema Table", §2).
    private static func isPlainIndex(_ definition: String) -> Bool { definition.hasPrefix("CREATE INDEX ") }

    /// The SQL text of everything in the schema, by name, without SQLite's own statistics. It is without comments, because
    /// SQLite keeps those of the version that made the store.
    private static func definitions(in db: Database) throws -> [String: String] {
        let rows = try Row.fetchAll(
            db,
            sql: "SELECT name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'"
        )
        return Dictionary(rows.map { ($0[0], withoutComments($0[1])) }) { first, _ in first }
    }

    private static func withoutComments(_ definition: String) -> String {
        definition.split(separator: "\n").map { line in
            let end = line.firstRange(of: "--")?.lowerBound ?? line.endIndex
            return line[..<end].split(separator: " ").joined(separator: " ")
        }.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// Reports rows that belong to no account or issuer, and wrong counts.
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
            // What SQLite and the sealer allocated for one portion is released before the next one.
            let portion = try store.connection.read { db in
                let entries = try store.records.entries(.recordsAfterID, [last, Self.portionSize], in: db)
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

/// A finding of the store's check: what is wrong, and what to do about it. It contains no value of a column.
package enum StoreFinding: Hashable, Sendable {
    /// How a part of the schema differs from the migrations.
    package enum Difference: Hashable, Sendable {
        case missing, altered, unknown
    }

    /// SQLite finds the file inconsistent; `verdict` is its message.
    case file(path: String, verdict: String)
    /// The file cannot be read from here on, so the rest was not checked.
    case unreadable(path: String, StoreError)
    /// A table, an index or a trigger differs from the one this version creates.
    case schema(path: String, name: String, Difference)
    /// Rows of a table that belong to no account or issuer.
    case orphans(path: String, table: String, count: Int)
    /// The number of accounts in each phase, as the status line shows it, is wrong.
    case counts(path: String)
    /// Other users can access the file or the folder at `path`.
    case tooOpen(path: String, mode: UInt32)
    /// The store's key is not safe, or will be missing at the next start.
    case key(StoreKeyError)

    /// The account's row cannot be read.
    case damaged(name: String, StoreError)
    /// A token of the account cannot be opened.
    case sealBroken(name: String, StoreError)
    /// A token target of the account cannot be read, cannot be opened, or is incomplete. One request replaces it.
    case targetDamaged(name: String)
    /// The account has a token of an unknown kind.
    case unknownToken(name: String)
    /// The refresh token for the account's next refresh is missing.
    case refreshTokenMissing(name: String, Generation)
    /// The account waits for a refresh, but has no deadline.
    case deadlineMissing(name: String)
    /// The next refresh is further ahead than it can be.
    case deadlineTooFar(name: String)
    /// The account was removed from the schedule because of damage that is now repaired.
    case stillAside(name: String)
}

extension StoreFinding {
    /// The kind of the finding, for programs.
    package var kind: String {
        switch self {
        case .file, .unreadable: "file"
        case .schema: "schema"
        case .orphans: "orphans"
        case .counts: "counts"
        case .tooOpen: "permissions"
        case .key: "key"
        case .damaged: "account"
        case .sealBroken, .targetDamaged, .unknownToken, .refreshTokenMissing: "token"
        case .deadlineMissing, .deadlineTooFar, .stillAside: "schedule"
        }
    }

    /// The affected account's name as stored; nil if the finding is about the whole store.
    package var account: String? {
        switch self {
        case .file, .unreadable, .schema, .orphans, .counts, .tooOpen, .key: nil
        case .damaged(let name, _), .sealBroken(let name, _), .targetDamaged(let name), .unknownToken(let name),
            .refreshTokenMissing(let name, _), .deadlineMissing(let name), .deadlineTooFar(let name),
            .stillAside(let name):
            name
        }
    }

    /// What is wrong: lower case, no full stop.
    package var summary: String {
        switch self {
        case .file(_, let verdict): "SQLite finds the file damaged: \(verdict)"
        case .unreadable(_, let cause): "the rest cannot be checked: \(cause)"
        case .schema(_, let name, .missing): "'\(name)' is missing from the schema"
        case .schema(_, let name, .altered): "'\(name)' differs from what this version creates"
        case .schema(_, let name, .unknown): "'\(name)' is unknown to this version"
        case .orphans(_, let table, let count): "\(count) rows of the table '\(table)' belong to nothing that exists"
        case .counts: "the numbers of accounts by state are wrong"
        case .tooOpen(let path, let mode): "'\(path)' is open to others (mode \(String(mode, radix: 8)))"
        case .key(let error): error.description
        case .damaged(_, let cause), .sealBroken(_, let cause): cause.description
        case .targetDamaged: "one of its token sets is damaged"
        case .unknownToken: "it has a token of a kind that is unknown to this version"
        case .refreshTokenMissing(_, let generation): "its refresh token of generation \(generation) is missing"
        case .deadlineMissing: "it waits for its next refresh, but has no time for it"
        case .deadlineTooFar: "its next refresh is later than the daemon ever plans one"
        case .stillAside: "it is set aside for damage that no longer exists"
        }
    }

    /// What to do about it.
    package var hint: Hint {
        switch self {
        case .file(let path, _), .unreadable(let path, _), .schema(let path, _, _), .orphans(let path, _, _),
            .counts(let path):
            StoreError.corrupt(path: path).hint ?? ""
        case .tooOpen(let path, let mode):
            "\(Command(program: "chmod", String(mode & 0o700, radix: 8), path: path)); if others may have read it,"
                + " \(Command("store", "rekey"))"
        case .key(let error): error.hintWhileOpen
        case .damaged(let name, _):
            "\(Command("store", "backup", "FILE")), then \(Command("account", "remove", name)), and add it again;"
                + " or stop the daemon and restore an earlier backup: \(Command("store", "restore", "FILE"))"
        case .sealBroken(let name, .sealBroken(_, .accessToken)), .deadlineMissing(let name),
            .deadlineTooFar(let name):
            Hint(Command("refresh", name))
        case .sealBroken(let name, _), .refreshTokenMissing(let name, _):
            Hint(Command("login", name))
        case .targetDamaged(let name):
            "\(Command("token", name, "--force")), with the set's scopes, resources and audience"
        case .unknownToken: "install the version of authrefreshd that wrote it"
        case .stillAside: Hint(Command(program: "systemctl", "--user", "restart", "authrefreshd.service"))
        }
    }
}

/// What the file system says about a store's files, without opening the database. Reading it blocks.
package struct StoreCondition: Sendable {
    package let path: String
    /// The permission bits of the database and of its folder; nil for what is missing.
    package let mode: UInt32?
    package let folderMode: UInt32?
    /// The bytes of the database and of its write-ahead log.
    package let size: Int64
    package let logSize: Int64
    /// The bytes that this user may still write to the file system; nil if it does not say.
    package let freeSpace: Int64?

    package init(path: String) {
        self.path = path
        let folder = PosixFile.parent(of: path)
        let file = (try? PosixFile.status(of: path)) ?? nil
        mode = file?.mode
        size = file?.size ?? 0
        folderMode = ((try? PosixFile.status(of: folder)) ?? nil)?.mode
        logSize = ((try? PosixFile.status(of: path + "-wal")) ?? nil)?.size ?? 0
        var system = statvfs()
        let isKnown = unsafe statvfs(folder, &system) == 0
        freeSpace =
            isKnown
            ? Int64(
                clamping: UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize)).partialValue
            ) : nil
    }
}
