import GRDB
package import RefreshCore

/// The addresses that accounts name for tools. Triggers keep the table; whoever asks it finds one account among a million by an index.
enum AddressTable {
    private static let settings = "CASE WHEN json_valid(new.settings) THEN new.settings END"

    private static let fill = """
        INSERT OR IGNORE INTO account_url
            SELECT rtrim(value, '/'), new.id, value, json_extract(new.settings, '$.username')
            FROM json_each(new.settings, '$.urls')
        """

    /// The table, and what fills it. No account of an earlier version names an address.
    static let schema = """
        CREATE TABLE account_url (
            url TEXT NOT NULL,                     -- of a ServiceAddress, without a slash at its end
            account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
            spelling TEXT NOT NULL,                -- as its owner wrote it
            username TEXT,                         -- NULL: any
            PRIMARY KEY (url, account_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX account_url_account ON account_url (account_id);
        CREATE TRIGGER account_url_added AFTER INSERT ON account
        WHEN json_type(\(settings), '$.urls') = 'array' BEGIN
            \(fill);
        END;
        CREATE TRIGGER account_url_changed AFTER UPDATE OF settings ON account WHEN new.settings IS NOT old.settings BEGIN
            DELETE FROM account_url WHERE account_id = new.id;
            \(fill) WHERE json_type(\(settings), '$.urls') = 'array';
        END;
        """
}

/// An address that an account names.
package struct NamedAddress: Hashable, Sendable {
    /// Where the next page begins.
    package let key: String
    package let url: String
    package let account: String
    package let username: String?
}

extension AccountStore {
    /// The name of the account whose address covers `address` with the longest path, of several the one that was added first; nil if none
    /// does.
    ///
    /// - Parameter username: who is to be signed in there; nil: anybody. An account that names nobody is for everybody.
    package func account(for address: ServiceAddress, username: String?) throws(StoreError) -> String? {
        try connection.read { db in
            let statement = try db.cachedStatement(sql: StoreStatement.accountByAddress.sql)
            for url in address.coverings {
                if let name = try String.fetchOne(statement, arguments: [url, username]) { return name }
            }
            return nil
        }
    }

    /// A page of all addresses that accounts name, in their order, each with the account that was added first.
    ///
    /// - Parameter key: of the last one of the page before; nil begins.
    package func addresses(after key: String?, limit: Int) throws(StoreError) -> [NamedAddress] {
        try connection.read { db in
            let statement = try db.cachedStatement(sql: StoreStatement.addressesAfter.sql)
            let rows = try Row.fetchAll(statement, arguments: [key ?? "", limit])
            return rows.map { NamedAddress(key: $0[0], url: $0[1], account: $0[2], username: $0[3]) }
        }
    }
}
