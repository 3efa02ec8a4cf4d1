import AuthRefreshInterface
import GRDB
import RefreshCore

/// The tables, and the migrations from earlier versions.
enum Schema {
    /// `application_id` of our files ("ARFR"). It distinguishes them from other programs' files.
    static let applicationID = 0x4152_4652
    /// `user_version` of a store with these tables.
    static let latest = 28
    /// `user_version` of the earliest store that can be migrated. Earlier ones were development versions.
    static let oldest = 21

    /// Creates the tables in an empty database, and migrates those of an earlier store.
    static var migrator: DatabaseMigrator {
        // A row without its account is damage to that account only, and must not keep the others from being migrated.
        // Migrations keep the row numbers.
        var migrator = DatabaseMigrator().disablingDeferredForeignKeyChecks()
        migrator.registerMigration("settings as one value") { db in
            if try db.tableExists("account") {
                try migrateSettings(in: db)
            } else {
                try db.execute(
                    sql: [tables, account, derived, "PRAGMA application_id = \(applicationID)"].joined(separator: "\n")
                )
            }
            try db.execute(sql: "PRAGMA user_version = 22")
        }
        migrator.registerMigration("facts of the grant") { db in
            try db.execute(
                sql: """
                    ALTER TABLE account ADD COLUMN grant_facts TEXT;  -- a JSON object: GrantFacts
                    PRAGMA user_version = 23;
                    """
            )
        }
        // This migration adds no table or column, so an earlier version can still use the store.
        migrator.registerMigration("accounts by person") { db in
            try db.execute(
                sql: "CREATE INDEX account_person ON account (subject, issuer_id) WHERE subject IS NOT NULL"
            )
        }
        migrator.registerMigration("accounts that sign out by themselves") { db in
            try db.execute(
                sql: """
                    ALTER TABLE account ADD COLUMN sign_out_wall_usec INTEGER;  -- of the sign-in that it counts from
                    ALTER TABLE account ADD COLUMN sign_out_boot_id INTEGER;
                    ALTER TABLE account ADD COLUMN sign_out_boot_usec INTEGER;
                    ALTER TABLE account ADD COLUMN sign_out_after_usec INTEGER;
                    ALTER TABLE account ADD COLUMN sign_out_announced INTEGER;
                    PRAGMA user_version = 24;
                    """
            )
        }
        migrator.registerMigration("accounts by address") { db in
            try db.execute(sql: addresses)
        }
        // This migration also adds no table or column. The indexes find a few accounts among a million: those in
        // trouble, and those with a token file.
        migrator.registerMigration("accounts in trouble, and with token files") { db in
            try db.execute(
                sql: """
                    CREATE INDEX account_troubled ON account (id) WHERE phase IN ('backingOff', 'interactionRequired');
                    CREATE INDEX account_token_file ON account (\(tokenFile)) WHERE \(tokenFile) IS NOT NULL;
                    """
            )
        }
        migrator.registerMigration("accounts by address and user") { db in
            try db.execute(sql: addressesByUser)
        }
        migrator.registerMigration("no copies of tokens") { db in
            // An earlier version read copies of access tokens on the socket's thread. Triggers wrote them.
            if try db.tableExists("token_at_hand") {
                for event in ["inserted", "updated", "erased", "aside", "outdated", "renamed", "orphaned"] {
                    try db.execute(sql: "DROP TRIGGER IF EXISTS token_at_hand_\(event)")
                }
                try db.dropInPieces("token_at_hand")
            }
            try db.execute(sql: "PRAGMA user_version = 25")
        }
        migrator.registerMigration("sign-outs by their own time", migrate: signOutTimes)
        migrator.registerMigration("grants of another machine") { db in
            // NULL in a parked account means that it was exported.
            try db.execute(sql: "ALTER TABLE account ADD COLUMN park_reason TEXT; PRAGMA user_version = 27")
        }
        migrator.registerMigration("tokens of another person") { db in
            try db.execute(
                sql: """
                    ALTER TABLE account ADD COLUMN is_withheld INTEGER NOT NULL DEFAULT 0;
                    UPDATE account SET is_withheld = 1 WHERE interaction_reason = 'otherPerson';
                    DELETE FROM token_set WHERE account_id IN (SELECT id FROM account WHERE is_withheld);
                    PRAGMA user_version = 28;
                    """
            )
        }
        // This migration also adds no table or column. The index of the accounts in trouble finds these, too.
        migrator.registerMigration("accounts that wait for a network") { db in
            try db.execute(sql: "DROP INDEX IF EXISTS account_awaiting_connectivity")
        }
        migrator.registerMigration("accounts by address and user in any case") { db in
            try db.execute(sql: addressesByUserInAnyCase)
        }
        // An earlier version does not know this column, and can still use the store.
        migrator.registerMigration("what issuers do with the scope of a grant") { db in
            // Whether a token with fewer scopes leaves the grant as it is; NULL until answers have shown it.
            try db.execute(sql: "ALTER TABLE issuer ADD COLUMN keeps_scope INTEGER")
        }
        return migrator
    }

    /// Migrates schema 25 to 26: each account has its own time of the announcement and of the sign-out.
    private static func signOutTimes(in db: Database) throws {
        // After the sign-in: of the announcement, then of the end.
        try db.execute(sql: "ALTER TABLE account ADD COLUMN sign_out_next_usec INTEGER")
        try db.inPieces(of: "account") { rows in
            try db.execute(
                sql: """
                    UPDATE account SET sign_out_next_usec = sign_out_after_usec
                        - CASE WHEN sign_out_announced THEN 0 ELSE min(sign_out_after_usec / 4, 604800000000) END
                    WHERE id BETWEEN ? AND ? AND sign_out_after_usec IS NOT NULL
                    """,
                arguments: [rows.lowerBound, rows.upperBound]
            )
            return db.changesCount
        }
        try db.execute(
            sql: """
                CREATE INDEX account_sign_out ON account (sign_out_boot_id, \(signOutBoot))
                    WHERE sign_out_next_usec IS NOT NULL;
                CREATE INDEX account_sign_out_by_wall ON account (\(signOutWall), sign_out_boot_id)
                    WHERE sign_out_next_usec IS NOT NULL;
                PRAGMA user_version = 26;
                """
        )
    }

    /// When the announcement of an account's sign-out is due, and then the sign-out: by the boot-time clock of the boot
    /// in which the person signed in, and by the wall clock.
    static let signOutBoot = "sign_out_boot_usec + sign_out_next_usec"
    static let signOutWall = "sign_out_wall_usec + sign_out_next_usec"

    /// The name of an account's token file, from its settings; NULL if it has none, or if the settings are damaged.
    static let tokenFile = "CASE WHEN json_valid(settings) THEN json_extract(settings, '$.tokenFile') END"

    /// The table of accounts. Times are µs since 1970. A `Moment` has three columns: `_wall_usec`, `_boot_id`,
    /// `_boot_usec`.
    static let account = """
        CREATE TABLE account (
            id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given twice: sealed values are bound to it
            name TEXT NOT NULL UNIQUE,
            issuer_id INTEGER NOT NULL REFERENCES issuer (id),
            needs_route INTEGER NOT NULL,          -- the issuer's, for the partial index
            created_usec INTEGER NOT NULL,

            settings TEXT NOT NULL,                -- a JSON object: StoredSettings
            subject_account TEXT,                  -- whose token a derived account's is exchanged for (RFC 8693), by its name
            subject_id INTEGER,                    -- and by its number; NULL: removed
            actor_account TEXT,
            actor_id INTEGER,
            deriver TEXT,                          -- a JSON object: SeenProgram
            allowed_callers TEXT,                  -- a JSON object: AllowedCallers; NULL is every process of this user
            client_secret BLOB,                    -- sealed
            client_secret_expires_usec INTEGER,    -- NULL: never, or unknown
            client_key BLOB,                       -- sealed
            dpop_key BLOB,                         -- sealed
            registration_uri TEXT,                 -- where a client that registered itself is managed (RFC 7592)
            registration_token BLOB,               -- sealed
            basic_encoding TEXT,                   -- NULL until it was found out
            subject TEXT,                          -- "sub" of the ID token
            kept_fields TEXT NOT NULL,             -- a JSON object

            generation INTEGER NOT NULL,
            phase TEXT NOT NULL,
            deadline_usec INTEGER,                 -- on the schedule's clock: wall clock minus meta 'schedule_offset_usec'
            lease_generation INTEGER,
            phase_wall_usec INTEGER,               -- of the lease's start, of the failure, or since when
            phase_boot_id INTEGER,
            phase_boot_usec INTEGER,
            delay_usec INTEGER,
            back_off_kind TEXT,
            interaction_reason TEXT,
            failure_class TEXT,
            failure_retry_after_usec INTEGER,
            failure_detail TEXT,                   -- a JSON object
            called_wall_usec INTEGER,              -- of a lease that leaves a person called: since when
            attempt_wall_usec INTEGER,             -- of the last attempt while a person is called
            attempt_boot_id INTEGER,
            attempt_boot_usec INTEGER,
            access_wall_usec INTEGER,
            access_boot_id INTEGER,
            access_boot_usec INTEGER,
            access_lifetime_usec INTEGER,
            access_refresh_after_usec INTEGER,
            access_lifetime_basis TEXT,            -- NULL of a token whose version did not tell
            refresh_wall_usec INTEGER,
            refresh_boot_id INTEGER,
            refresh_boot_usec INTEGER,
            refresh_lifetime_usec INTEGER,
            refresh_extended_by_use INTEGER,
            refresh_end_announced INTEGER,
            previous_generation INTEGER,
            previous_wall_usec INTEGER,
            previous_boot_id INTEGER,
            previous_boot_usec INTEGER,
            outcome_unknown INTEGER NOT NULL,
            failures INTEGER NOT NULL,
            refusals INTEGER NOT NULL,
            has_refreshed INTEGER NOT NULL,
            is_refreshable INTEGER NOT NULL,
            refusal TEXT,                          -- what tells a refusal without a reason from another
            refusal_wall_usec INTEGER,
            refusal_boot_id INTEGER,
            refusal_boot_usec INTEGER,
            is_rotating INTEGER,                   -- NULL until the server's answers have shown it
            tally TEXT NOT NULL AS (
                CASE WHEN phase = 'backingOff' AND (back_off_kind = 'misconfigured' OR failure_class = 'misconfigured')
                THEN 'misconfigured' ELSE phase END
            ) VIRTUAL
        ) STRICT;
        """

    /// What belongs to `account` and is lost if the table is recreated: its indexes and triggers.
    static let derived = [indexes, tally].joined(separator: "\n")

    /// The other tables, with their triggers.
    private static let tables = """
        CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;

        CREATE TABLE issuer (
            id INTEGER PRIMARY KEY,
            url TEXT NOT NULL UNIQUE,
            needs_route INTEGER NOT NULL,          -- 0 for loopback addresses
            clock_skew_usec INTEGER                -- server minus ours; NULL until a Date header was seen
        ) STRICT;

        CREATE TABLE token (
            account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
            kind TEXT NOT NULL,                    -- refresh, access, id
            target TEXT NOT NULL DEFAULT '',       -- what an access token is for; '' is the account's default
            generation INTEGER NOT NULL,
            type TEXT,                             -- of an access token: how it is presented
            sealed BLOB NOT NULL,
            PRIMARY KEY (account_id, kind, target, generation)
        ) STRICT;

        -- Accounts that cannot be read, out of the schedule; the deadline is what they get back when they can be.
        CREATE TABLE set_aside (
            account_id INTEGER PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
            deadline_usec INTEGER
        ) STRICT;

        -- The encrypted token of a set is in `token`, under its `target`, and is removed with it.
        CREATE TABLE token_set (
            account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
            target TEXT NOT NULL,                  -- its scopes, resources and audience; as in token
            granted_scopes TEXT,                   -- one a line; NULL: as asked for
            access_wall_usec INTEGER NOT NULL,
            access_boot_id INTEGER NOT NULL,
            access_boot_usec INTEGER NOT NULL,
            access_lifetime_usec INTEGER NOT NULL,
            access_refresh_after_usec INTEGER NOT NULL,
            PRIMARY KEY (account_id, target)
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER token_set_erased AFTER DELETE ON token_set BEGIN
            DELETE FROM token WHERE account_id = old.account_id AND kind = 'access' AND target = old.target;
        END;

        -- What authorization servers published last, as they sent it.
        CREATE TABLE server_metadata (
            issuer_id INTEGER NOT NULL REFERENCES issuer (id) ON DELETE CASCADE,
            ca_file TEXT NOT NULL,                 -- '' for the authorities that all servers are trusted by
            first_document BLOB NOT NULL,          -- JSON
            second_document BLOB,                  -- NULL if the server publishes one only
            fetched_usec INTEGER NOT NULL,
            PRIMARY KEY (issuer_id, ca_file)
        ) STRICT;

        -- Counting a million rows takes too long for a status line, so the counts are kept by triggers, which no writer can forget.
        CREATE TABLE phase_count (tally TEXT PRIMARY KEY, accounts INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        """

    /// One index for each query of the schedule and of derived accounts. `StoreStatement` has the queries, and a test
    /// checks their plans.
    private static let indexes = """
        CREATE INDEX account_deadline ON account (deadline_usec, issuer_id) WHERE deadline_usec IS NOT NULL;
        CREATE INDEX account_local_deadline ON account (deadline_usec, issuer_id)
            WHERE needs_route = 0 AND deadline_usec IS NOT NULL;
        CREATE INDEX account_issuer_deadline ON account (issuer_id, deadline_usec);
        CREATE INDEX account_leased ON account (id) WHERE phase = 'refreshing' AND deadline_usec IS NOT NULL;
        CREATE INDEX account_subject ON account (subject_id) WHERE subject_id IS NOT NULL;
        CREATE INDEX account_actor ON account (actor_id) WHERE actor_id IS NOT NULL;
        """

    /// Counts the accounts by phase. An account that is being refreshed counts as scheduled, so that a refresh changes
    /// no count. The index of leases says how many are being refreshed.
    private static let tally = """
        CREATE TRIGGER account_counted AFTER INSERT ON account BEGIN
            INSERT INTO phase_count VALUES (replace(new.tally, 'refreshing', 'scheduled'), 1)
            ON CONFLICT DO UPDATE SET accounts = accounts + 1;
        END;
        CREATE TRIGGER account_recounted AFTER UPDATE OF phase, back_off_kind, failure_class ON account
        WHEN replace(new.tally, 'refreshing', 'scheduled') <> replace(old.tally, 'refreshing', 'scheduled') BEGIN
            UPDATE phase_count SET accounts = accounts - 1 WHERE tally = replace(old.tally, 'refreshing', 'scheduled');
            INSERT INTO phase_count VALUES (replace(new.tally, 'refreshing', 'scheduled'), 1)
            ON CONFLICT DO UPDATE SET accounts = accounts + 1;
        END;
        CREATE TRIGGER account_discounted AFTER DELETE ON account BEGIN
            UPDATE phase_count SET accounts = accounts - 1 WHERE tally = replace(old.tally, 'refreshing', 'scheduled');
        END;
        """
}

/// Migrates schema 21 to 22: one JSON value replaces a column for each setting.
extension Schema {
    /// Columns that stay as they are.
    private static let kept = [
        "id", "name", "issuer_id", "needs_route", "created_usec",
        "subject_account", "subject_id", "actor_account", "actor_id", "allowed_callers",
        "client_secret", "client_secret_expires_usec", "client_key", "dpop_key",
        "registration_uri", "registration_token", "basic_encoding", "subject", "kept_fields",
    ]

    /// The columns that the settings replace.
    private static let replaced = [
        "client_id", "provider", "provider_variables", "provider_settings", "authentication", "client_key_id",
        "team_id", "service_grant", "grant_terms", "scopes", "refresh_parameters", "authorization_parameters",
        "authorization_details", "redirect_uri", "redirect_port", "redirect_scheme", "post_logout_uri",
        "lead_time_usec", "rotation_grace_usec", "refresh_token_lifetime_usec",
    ]

    private static func migrateSettings(in db: Database) throws {
        let states = StateColumns.names.filter { name in
            !name.hasPrefix("sign_out_") && !["park_reason", "is_withheld"].contains(name)
        }
        let kept = (kept + states).joined(separator: ", ")
        let function = DatabaseFunction("settings_of", argumentCount: replaced.count, pure: true, function: settings)
        db.add(function: function)
        defer { db.remove(function: function) }
        // Other objects refer to the table by name, and must keep doing so, because it is recreated.
        try db.execute(sql: "PRAGMA legacy_alter_table = ON")
        defer { try? db.execute(sql: "PRAGMA legacy_alter_table = OFF") }
        try db.execute(
            sql: """
                ALTER TABLE account RENAME TO account_before;
                \(account)
                INSERT INTO account (\(kept), settings, deriver)
                    SELECT \(kept), settings_of(\(replaced.joined(separator: ", "))),
                        CASE WHEN json_valid(grant_terms) THEN json_extract(grant_terms, '$.deriver') END
                    FROM account_before;
                DELETE FROM sqlite_sequence WHERE name = 'account';
                UPDATE sqlite_sequence SET name = 'account' WHERE name = 'account_before';
                """
        )
        try dropTable(in: db)
        try db.execute(sql: derived)
    }

    /// Drops the old table, and what belongs to it.
    private static func dropTable(in db: Database) throws {
        let belongings = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name FROM sqlite_schema
                WHERE tbl_name = 'account_before' AND type IN ('trigger', 'index') AND sql IS NOT NULL
                """
        )
        // Drop the triggers first, because no account is really removed and the counts must stay.
        for row in belongings.sorted(by: { ($0["type"] as String) > ($1["type"] as String) }) {
            try db.execute(sql: "DROP \(row["type"] as String) \(row["name"] as String)")
        }
        try db.dropInPieces("account_before")
    }

    /// The settings from `replaced`. A damaged setting stays damaged without affecting the others or other accounts.
    private static func settings(_ values: [DatabaseValue]) throws -> String {
        let row = Dictionary(uniqueKeysWithValues: zip(replaced, values))
        let text = { (column: String) in row[column].flatMap(String.fromDatabaseValue) }
        let seconds = { (column: String) in row[column].flatMap(Int64.fromDatabaseValue).map { $0 / 1_000_000 } }
        var settings = AccountSettings(name: "", provider: text("provider"), clientId: text("client_id"))
        var damaged: [String: String] = [:]
        for (column, setting, path) in [
            ("provider_variables", "variables", \AccountSettings.variables),
            ("provider_settings", "providerSettings", \.providerSettings),
            ("refresh_parameters", "refreshParameters", \.refreshParameters),
            ("authorization_parameters", "authorizationParameters", \.authorizationParameters),
        ] {
            let stored = text(column) ?? ""
            if let map = JSONColumn.map(from: stored) {
                settings[keyPath: path] = map.isEmpty ? nil : map
            } else {
                damaged[setting] = stored
            }
        }
        settings.clientAuthentication = text("authentication")
        settings.clientKeyId = text("client_key_id")
        settings.teamId = text("team_id")
        settings.grantType = text("service_grant")
        // A client that asks for itself has no terms. A person's account has none, either.
        if let grant = settings.grantType, grant != ServiceGrant.Kind.clientCredentials.rawValue {
            let stored = text("grant_terms") ?? ""
            let terms = JSONColumn.value(GrantTerms.self, from: stored)
            // Without its terms, the grant would lose a part of its meaning.
            let isWhole = grant != ServiceGrant.Kind.tokenExchange.rawValue || terms?.subjectTokenType != nil
            if terms == nil || !isWhole { damaged["grantTerms"] = stored }
            settings.assertionSubject = terms?.assertionSubject
            settings.assertionAudience = terms?.assertionAudience
            settings.assertionLifetimeSec = terms?.assertionLifetimeUSec.map { $0 / 1_000_000 }
            settings.subjectTokenType = terms?.subjectTokenType
            settings.actorTokenType = terms?.actorTokenType
            settings.requestedTokenType = terms?.requestedTokenType
        }
        settings.scopes = text("scopes")?.split(separator: "\n").map(String.init)
        settings.authorizationDetails = text("authorization_details")
        settings.redirectUri = text("redirect_uri")
        settings.redirectPort = row["redirect_port"].flatMap(Int64.fromDatabaseValue)
        settings.redirectScheme = text("redirect_scheme")
        settings.postLogoutRedirectUri = text("post_logout_uri")
        settings.leadTimeSec = seconds("lead_time_usec")
        settings.rotationGraceSec = seconds("rotation_grace_usec")
        settings.refreshTokenLifetimeSec = seconds("refresh_token_lifetime_usec")
        let stored = StoredSettings(settings)
        return try damaged.isEmpty
            ? JSONColumn.text(of: stored) : JSONColumn.text(of: DamagedSettings(stored: stored, damaged: damaged))
    }

    /// Settings including damaged ones, which are kept as texts and cannot be read as settings.
    private struct DamagedSettings: Encodable {
        let stored: StoredSettings
        let damaged: [String: String]

        func encode(to encoder: any Encoder) throws {
            try stored.encode(to: encoder)
            var members = encoder.container(keyedBy: StoredSettings.Member.self)
            for (name, text) in damaged { try members.encode(text, forKey: StoredSettings.Member(stringValue: name)) }
        }
    }

    /// The content of `grant_terms`, without the program that is now in `deriver`.
    private struct GrantTerms: Decodable {
        var assertionSubject: String?
        var assertionAudience: String?
        var assertionLifetimeUSec: Int64?
        var subjectTokenType: String?
        var actorTokenType: String?
        var requestedTokenType: String?
    }
}
