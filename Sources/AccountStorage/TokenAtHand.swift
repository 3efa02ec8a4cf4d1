/// A copy of the access tokens that are for every caller, each with all that an answer needs in one row beside its account's name:
/// with a million accounts, whoever is asked for one of them at random reads two pages from the disk's cache instead of six.
///
/// Only triggers write it, so that no writer can forget to, and it changes in the same transaction as what it is a copy of. A row is
/// made whenever a token is stored, and is gone as soon as anything about it changes: what stands there is always right, and what does
/// not is looked for where it is a copy of. So a store of an earlier version needs no filling: its tokens come one by one, as they
/// are refreshed.
enum TokenAtHand {
    static let schema = """
        CREATE TABLE token_at_hand (
            account_id INTEGER PRIMARY KEY,
            generation INTEGER NOT NULL,
            type TEXT,
            sealed BLOB NOT NULL,
            access_wall_usec INTEGER NOT NULL,
            access_boot_id INTEGER NOT NULL,
            access_boot_usec INTEGER NOT NULL,
            access_lifetime_usec INTEGER NOT NULL,
            access_refresh_after_usec INTEGER NOT NULL
        ) STRICT;
        CREATE TRIGGER token_at_hand_inserted AFTER INSERT ON token \(isDefaultAccessToken("new")) BEGIN
            \(copy)
        END;
        CREATE TRIGGER token_at_hand_updated AFTER UPDATE ON token \(isDefaultAccessToken("new")) BEGIN
            \(copy)
        END;
        CREATE TRIGGER token_at_hand_erased AFTER DELETE ON token \(isDefaultAccessToken("old")) BEGIN
            DELETE FROM token_at_hand WHERE account_id = old.account_id;
        END;
        CREATE TRIGGER token_at_hand_outdated AFTER UPDATE OF \(times.joined(separator: ", ")), allowed_callers ON account
        WHEN \((times + ["allowed_callers"]).map { "new.\($0) IS NOT old.\($0)" }.joined(separator: " OR ")) BEGIN
            DELETE FROM token_at_hand WHERE account_id = new.id;
        END;
        CREATE TRIGGER token_at_hand_aside AFTER INSERT ON set_aside BEGIN
            DELETE FROM token_at_hand WHERE account_id = new.account_id;
        END;
        """

    private static let times = [
        "access_wall_usec", "access_boot_id", "access_boot_usec", "access_lifetime_usec", "access_refresh_after_usec",
    ]

    private static func isDefaultAccessToken(_ row: String) -> String {
        "WHEN \(row).kind = 'access' AND \(row).target = ''"
    }

    private static let copy = """
        DELETE FROM token_at_hand WHERE account_id = new.account_id;
            INSERT INTO token_at_hand
            SELECT id, new.generation, new.type, new.sealed, \(times.joined(separator: ", ")) FROM account
            WHERE id = new.account_id AND allowed_callers IS NULL
            AND \(times.map { "\($0) IS NOT NULL" }.joined(separator: " AND "))
            AND NOT EXISTS (SELECT 1 FROM set_aside WHERE set_aside.account_id = id);
        """
}
