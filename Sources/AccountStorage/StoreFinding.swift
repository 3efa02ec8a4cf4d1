package import RefreshCore

/// Something that a check of the store has found: what is wrong, and what to do about it. Holds no value of a column.
package enum StoreFinding: Hashable, Sendable {
    /// SQLite finds the file at odds with itself; `verdict` is its own sentence.
    case file(path: String, verdict: String)
    /// The file cannot be read from here on, so that what follows is not checked.
    case unreadable(path: String, StoreError)
    /// A table, an index or a trigger is not as this version makes it.
    case schema(path: String, name: String, SchemaFlaw)
    /// Rows of a table that belong to nothing that there is.
    case orphans(path: String, table: String, count: Int)
    /// The numbers of accounts by their phase, which the status line shows, are not those of the accounts.
    case counts(path: String)
    /// The file or the folder at `path` lets others in.
    case tooOpen(path: String, mode: UInt32)
    /// The store's key is not safe, or not there for the next start.
    case key(StoreKeyError)

    /// The account's row cannot be read.
    case damaged(name: String, StoreError)
    /// A token of the account does not open.
    case sealBroken(name: String, StoreError)
    /// One of the account's token sets cannot be read, does not open, or is there by half; it can be had again for one request.
    case tokenSetDamaged(name: String)
    /// The account has a token of a kind that this version does not know.
    case unknownToken(name: String)
    /// The refresh token that the account's next refresh needs is not there.
    case refreshTokenMissing(name: String, Generation)
    /// The account waits for a refresh, but for no time at which it is made.
    case deadlineMissing(name: String)
    /// The next refresh is further ahead than it can have been put.
    case deadlineTooFar(name: String)
    /// The account was taken out of the schedule because of damage that is mended.
    case stillAside(name: String)
}

/// How a part of the schema differs from what the migrations make.
package enum SchemaFlaw: Hashable, Sendable {
    case missing, altered, unknown
}

extension StoreFinding {
    /// What it is about, for programs.
    package var kind: String {
        switch self {
        case .file, .unreadable: "file"
        case .schema: "schema"
        case .orphans: "orphans"
        case .counts: "counts"
        case .tooOpen: "permissions"
        case .key: "key"
        case .damaged: "account"
        case .sealBroken, .tokenSetDamaged, .unknownToken, .refreshTokenMissing: "token"
        case .deadlineMissing, .deadlineTooFar, .stillAside: "schedule"
        }
    }

    /// The account concerned, as its name is stored; nil if it is about the whole store.
    package var account: String? {
        switch self {
        case .file, .unreadable, .schema, .orphans, .counts, .tooOpen, .key: nil
        case .damaged(let name, _), .sealBroken(let name, _), .tokenSetDamaged(let name), .unknownToken(let name),
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
        case .schema(_, let name, .altered): "'\(name)' is not what this version makes it"
        case .schema(_, let name, .unknown): "'\(name)' is nothing that this version makes"
        case .orphans(_, let table, let count): "\(count) rows of the table '\(table)' belong to nothing that there is"
        case .counts: "the numbers of accounts by state are wrong"
        case .tooOpen(let path, let mode): "'\(path)' is open to others (mode \(String(mode, radix: 8)))"
        case .key(let error): error.description
        case .damaged(_, let cause), .sealBroken(_, let cause): cause.description
        case .tokenSetDamaged: "one of its token sets is damaged"
        case .unknownToken: "it has a token of a kind that this version does not know"
        case .refreshTokenMissing(_, let generation): "its refresh token of generation \(generation) is not there"
        case .deadlineMissing: "it waits for its next refresh without a time for it"
        case .deadlineTooFar: "its next refresh is further ahead than it can have been put"
        case .stillAside: "it is out of the schedule for damage that is mended"
        }
    }

    /// What to do about it.
    package var hint: String {
        switch self {
        case .file(let path, _), .unreadable(let path, _), .schema(let path, _, _), .orphans(let path, _, _),
            .counts(let path):
            StoreError.corrupt(path: path).hint ?? ""
        case .tooOpen(let path, let mode):
            "chmod \(String(mode & 0o700, radix: 8)) '\(path)'; if others may have read it, authctl store rekey"
        case .key(let error): error.hintWhileOpen
        case .damaged(let name, _):
            "authctl store backup FILE, then authctl account remove \(Self.operand(name)), and add it anew;"
                + " or stop the daemon and put an earlier backup back"
        case .sealBroken(let name, .sealBroken(_, .accessToken)), .deadlineMissing(let name),
            .deadlineTooFar(let name):
            "authctl refresh \(Self.operand(name))"
        case .sealBroken(let name, _), .refreshTokenMissing(let name, _):
            "authctl login \(Self.operand(name))"
        case .tokenSetDamaged(let name):
            "authctl token \(Self.operand(name)) --force, with the set's scopes, resources and audience"
        case .unknownToken: "install the version of authrefreshd that wrote it"
        case .stillAside: "systemctl --user restart authrefreshd.service"
        }
    }

    /// The name as a shell takes it, even if it breaks the rule for names.
    private static func operand(_ name: String) -> String {
        AccountName(name) == nil ? "'\(name.replacing("'", with: "'\\''"))'" : name
    }
}
