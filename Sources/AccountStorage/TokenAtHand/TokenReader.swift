import GRDB
package import RefreshCore
internal import Synchronization

/// Finds the access token of an account for callers on other threads than the store's owner's.
///
/// It tells what is stored at that very moment: what it found before is used again only as long as nothing was written since. It never
/// waits: while the owner is at work in the database, the owner has to be asked.
package final class TokenReader: Sendable {
    private let database: SharedDatabase
    private let sealer: Mutex<Sealer>
    /// Whether the owner knows what is not in the store yet.
    private let isBehind = Atomic<Bool>(false)

    init(_ database: SharedDatabase, sealer: Sealer) {
        self.database = database
        self.sealer = Mutex(sealer)
    }

    /// The token of the account of this name; nil if the owner has to be asked: there is none, it is not for every caller, its row is
    /// damaged, or the owner is at work.
    package func token(of name: String) -> DatedToken? {
        guard !isBehind.load(ordering: .acquiring) else { return nil }
        return database.tokenIfFree(of: name, sealer.withLock(\.self))
    }

    /// Has everybody ask the owner, while the owner knows what is not in the store yet.
    package func setBehind(_ isBehind: Bool) {
        self.isBehind.store(isBehind, ordering: .releasing)
    }

    func use(_ sealer: Sealer) {
        self.sealer.withLock { $0 = sealer }
    }
}

/// An account's access token, with all that says how long it is good.
package struct DatedToken: Sendable {
    package let token: AccessToken
    package let times: AccessTokenTimes

    package init(token: AccessToken, times: AccessTokenTimes) {
        self.token = token
        self.times = times
    }
}

/// A copy of the access tokens that are for every caller, each with all that an answer needs in one row, which stands where the
/// account's name says: with a million accounts, whoever is asked for one of them at random reads one page from the disk's cache
/// instead of six.
///
/// Only triggers write it, so that no writer can forget to, and it changes in the same transaction as what it is a copy of. A row is
/// made whenever a token is stored, and is gone as soon as anything about it changes: what stands there is always right, and what does
/// not is looked for where it is a copy of. So a store of an earlier version needs no filling: its tokens come one by one, as they
/// are refreshed.
enum TokenAtHand {
    /// Where the token of the account of this name stands, if it is at hand: FNV-1a, folded to 48 bits so that it is short in the inner
    /// pages.
    ///
    /// A million names have the same place in one case of 300, and it is that of two of them. Then the last one stored has it: the row
    /// holds the name, and the other's token is found where it is copied from.
    static func place(of name: some Sequence<UInt8>) -> Int64 {
        let hash = name.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        return Int64((hash ^ hash >> 48) & 0xFFFF_FFFF_FFFF)
    }

    /// `place` for the triggers. A connection that does not know it cannot write tokens.
    static let function = DatabaseFunction("name_place", argumentCount: 1, pure: true) { arguments in
        arguments.first.flatMap(String.fromDatabaseValue).map { place(of: $0.utf8) }
    }

    /// The table, and the triggers of the tables that it is copied from, but for those of `account`.
    static let table = """
        CREATE TABLE token_at_hand (
            place INTEGER PRIMARY KEY,             -- name_place(name)
            name TEXT NOT NULL,
            account_id INTEGER NOT NULL,
            \(copied)
        ) STRICT;
        CREATE TRIGGER token_at_hand_inserted AFTER INSERT ON token \(isDefaultAccessToken("new")) BEGIN
            \(copy)
        END;
        CREATE TRIGGER token_at_hand_updated AFTER UPDATE ON token \(isDefaultAccessToken("new")) BEGIN
            \(copy)
        END;
        CREATE TRIGGER token_at_hand_erased AFTER DELETE ON token \(isDefaultAccessToken("old")) BEGIN
            \(erase(placeOf("old.account_id")))
        END;
        CREATE TRIGGER token_at_hand_aside AFTER INSERT ON set_aside BEGIN
            \(erase(placeOf("new.account_id")))
        END;
        """

    static let accountTriggers = """
        CREATE TRIGGER token_at_hand_outdated AFTER UPDATE OF \(outdating) ON account \(isOutdated) BEGIN
            \(erase("name_place(old.name)"))
        END;
        CREATE TRIGGER token_at_hand_renamed AFTER UPDATE OF name ON account WHEN new.name <> old.name BEGIN
            \(erase("name_place(old.name)"))
        END;
        CREATE TRIGGER token_at_hand_orphaned AFTER DELETE ON account BEGIN
            \(erase("name_place(old.name)"))
        END;
        """

    private static let copy = """
        INSERT OR REPLACE INTO token_at_hand
            SELECT name_place(name), name, id, new.generation, new.type, new.sealed, \(times) FROM account
            \(isForAll)
        """

    private static func erase(_ place: String) -> String {
        "DELETE FROM token_at_hand WHERE place = \(place);"
    }

    private static func placeOf(_ account: String) -> String {
        "(SELECT name_place(name) FROM account WHERE id = \(account))"
    }
}

/// The parts of which the statements are made.
extension TokenAtHand {
    private static let copied = """
        generation INTEGER NOT NULL,
            type TEXT,
            sealed BLOB NOT NULL,
            access_wall_usec INTEGER NOT NULL,
            access_boot_id INTEGER NOT NULL,
            access_boot_usec INTEGER NOT NULL,
            access_lifetime_usec INTEGER NOT NULL,
            access_refresh_after_usec INTEGER NOT NULL
        """

    private static let timeColumns = [
        "access_wall_usec", "access_boot_id", "access_boot_usec", "access_lifetime_usec", "access_refresh_after_usec",
    ]
    private static let times = timeColumns.joined(separator: ", ")
    private static let outdating = "\(times), allowed_callers"
    private static let isOutdated =
        "WHEN " + (timeColumns + ["allowed_callers"]).map { "new.\($0) IS NOT old.\($0)" }.joined(separator: " OR ")

    private static func isDefaultAccessToken(_ row: String) -> String {
        "WHEN \(row).kind = 'access' AND \(row).target = ''"
    }

    private static let isForAll = """
        WHERE id = new.account_id AND allowed_callers IS NULL
            AND \(timeColumns.map { "\($0) IS NOT NULL" }.joined(separator: " AND "))
            AND NOT EXISTS (SELECT 1 FROM set_aside WHERE set_aside.account_id = id);
        """
}
