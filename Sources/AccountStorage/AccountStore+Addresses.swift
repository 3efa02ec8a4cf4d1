import GRDB
package import RefreshCore

/// The addresses that accounts have for tools. Triggers maintain the table, and an index finds one account among a
/// million.
extension Schema {
    private static let settings = "CASE WHEN json_valid(new.settings) THEN new.settings END"

    private static let fill = """
        INSERT OR IGNORE INTO account_url
            SELECT rtrim(value, '/'), new.id, value, json_extract(new.settings, '$.username')
            FROM json_each(new.settings, '$.urls')
        """

    /// The table and its triggers. Earlier versions have no addresses.
    static let addresses = """
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

    /// Finds a user name among all the accounts that name one address: one service may have a million users.
    static let addressesByUser = "CREATE INDEX account_url_user ON account_url (url, username, account_id)"

    /// The same for user names in any case: `Jane` and `jane` are one user at GitHub, GitLab and most other hosts.
    static let addressesByUserInAnyCase = """
        DROP INDEX account_url_user;
        CREATE INDEX account_url_user ON account_url (url, username COLLATE NOCASE, account_id)
        """
}

/// An address of an account.
package struct NamedAddress: Hashable, Sendable {
    /// The start of the next page.
    package let key: String
    package let url: String
    package let account: String
    package let username: String?
}

extension AccountStore {
    /// The names of the accounts whose address covers `address` with the longest path; empty if none does.
    ///
    /// The first is the one to use: an account that names `username` comes before those that name no user; then the
    /// account added first. The others have the same address and the same user name; there may be more of them.
    ///
    /// - Parameter username: who signs in there; nil means anybody. An account without a user name is for everybody.
    package func accounts(for address: ServiceAddress, username: String?) throws(StoreError) -> [String] {
        try connection.read { db in
            let byUser = try db.cachedStatement(sql: StoreStatement.accountsByAddressAndUser.sql)
            let byAddress = try db.cachedStatement(sql: StoreStatement.accountByAddress.sql)
            for url in address.coverings {
                if let username {
                    for user in [username, nil] {
                        let rows = try Row.fetchAll(byUser, arguments: [url, user])
                        // Some hosts tell user names apart by case.
                        let exact = rows.firstIndex { $0["username"] == user } ?? rows.startIndex
                        if !rows.isEmpty {
                            return ([rows[exact]] + rows[..<exact] + rows[(exact + 1)...]).map { $0["name"] }
                        }
                    }
                } else if let first = try Row.fetchOne(byAddress, arguments: [url]) {
                    let name: String = first["name"], user: String? = first["username"]
                    let sharing = try String.fetchAll(byUser, arguments: [url, user])
                    return [name] + sharing.filter { $0 != name }
                }
            }
            return []
        }
    }

    /// A page of all addresses, in their order, each with the account that was added first.
    ///
    /// - Parameter key: the key of the last address of the previous page; nil for the first page.
    package func addresses(after key: String?, limit: Int) throws(StoreError) -> [NamedAddress] {
        try connection.read { db in
            // One after the other, so that an address that a million accounts name is one step, too.
            let statement = try db.cachedStatement(sql: StoreStatement.addressAfter.sql)
            var page: [NamedAddress] = []
            while page.count < limit,
                let row = try Row.fetchOne(statement, arguments: [page.last?.key ?? key ?? ""])
            {
                page.append(NamedAddress(key: row[0], url: row[1], account: row[2], username: row[3]))
            }
            return page
        }
    }
}
