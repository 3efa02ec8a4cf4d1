import GRDB

/// The tables, and the steps by which they came to be.
///
/// A migration that has been released is never edited: a change is a new one at the end, and gets the next number.
enum Schema {
    /// `application_id` of our files ("ARFR"): tells them from another program's.
    static let applicationID = 0x4152_4652
    /// `user_version` after the last migration.
    static var latest: Int { steps.count }

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for (number, step) in steps.enumerated() {
            migrator.registerMigration(step.name) { db in
                try db.execute(sql: step.statements.joined(separator: "\n"))
                try db.execute(sql: "PRAGMA user_version = \(number + 1)")
            }
        }
        return migrator
    }

    private static let steps: [(name: String, statements: [String])] = [
        ("accounts, tokens, schedule", [tables, indexes, tally, "PRAGMA application_id = \(applicationID)"]),
        ("accounts set aside", [setAside]),
        // A JSON object; NULL is every process of this user.
        ("allowed callers", ["ALTER TABLE account ADD COLUMN allowed_callers TEXT"]),
        ("token sets", [tokenSets]),
        ("sign-in", [signIn]),
        ("client keys", [clientKeys]),
        ("client registration", [clientRegistration]),
        ("tokens at hand", [TokenAtHand.first]),
        ("requests under way are not tallied", [settledTally]),
        // A JSON object.
        ("provider variables", ["ALTER TABLE account ADD COLUMN provider_variables TEXT NOT NULL DEFAULT '{}'"]),
        // NULL: a person gives the grant.
        ("service accounts", ["ALTER TABLE account ADD COLUMN service_grant TEXT"]),
        // A JSON object; NULL for a grant without terms.
        ("terms of grants", ["ALTER TABLE account ADD COLUMN grant_terms TEXT"]),
        ("tokens at hand by name", [TokenAtHand.schema]),
        ("derived accounts", [derivedAccounts]),
        ("authorization requests and ends of secrets", [authorizationRequests]),
        // A JSON object.
        ("provider settings", ["ALTER TABLE account ADD COLUMN provider_settings TEXT NOT NULL DEFAULT '{}'"]),
        ("server metadata", [serverMetadata]),
        ("sources by number", [sourcesByNumber]),
        ("refusals without a reason", [bareRefusals]),
        // What the lifetime rests on; NULL of a token that an earlier version stored.
        ("ends that are assumed", ["ALTER TABLE account ADD COLUMN access_lifetime_basis TEXT"]),
        // NULL until the server's answers have shown it.
        ("servers that rotate", ["ALTER TABLE account ADD COLUMN is_rotating INTEGER"]),
    ]

    /// Times are µs since 1970; of a `Moment` there are three: `_wall_usec`, `_boot_id`, `_boot_usec`.
    private static let tables = """
        CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;

        CREATE TABLE issuer (
            id INTEGER PRIMARY KEY,
            url TEXT NOT NULL UNIQUE,
            needs_route INTEGER NOT NULL,          -- 0 for loopback addresses
            clock_skew_usec INTEGER                -- server minus ours; NULL until a Date header was seen
        ) STRICT;

        CREATE TABLE account (
            id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given twice: sealed values are bound to it
            name TEXT NOT NULL UNIQUE,
            issuer_id INTEGER NOT NULL REFERENCES issuer (id),
            needs_route INTEGER NOT NULL,          -- the issuer's, for the partial index
            provider TEXT,
            client_id TEXT NOT NULL,
            authentication TEXT,
            client_secret BLOB,                    -- sealed
            scopes TEXT NOT NULL,                  -- one a line
            refresh_parameters TEXT NOT NULL,      -- a JSON object
            basic_encoding TEXT,
            lead_time_usec INTEGER,
            rotation_grace_usec INTEGER,
            refresh_token_lifetime_usec INTEGER,
            created_usec INTEGER NOT NULL,

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
            access_wall_usec INTEGER,
            access_boot_id INTEGER,
            access_boot_usec INTEGER,
            access_lifetime_usec INTEGER,
            access_refresh_after_usec INTEGER,
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
            tally TEXT NOT NULL AS (
                CASE WHEN phase = 'backingOff' AND (back_off_kind = 'misconfigured' OR failure_class = 'misconfigured')
                THEN 'misconfigured' ELSE phase END
            ) VIRTUAL
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
        """

    /// Accounts that cannot be read, out of the schedule; `deadline_usec` is what they get back when they can be.
    private static let setAside = """
        CREATE TABLE set_aside (
            account_id INTEGER PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
            deadline_usec INTEGER
        ) STRICT;
        """

    /// The sealed token of a set stands in `token`, under its `target`, and goes with it.
    private static let tokenSets = """
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
        """

    /// What a sign-in tells. Grants of earlier versions all have a refresh token.
    private static let signIn = """
        ALTER TABLE account ADD COLUMN subject TEXT;                            -- "sub" of the ID token
        ALTER TABLE account ADD COLUMN kept_fields TEXT NOT NULL DEFAULT '{}';  -- a JSON object
        ALTER TABLE account ADD COLUMN is_refreshable INTEGER NOT NULL DEFAULT 1;
        """

    /// Clients that sign for themselves, and tokens that are bound to a key (RFC 9449).
    private static let clientKeys = """
        ALTER TABLE account ADD COLUMN client_key BLOB;      -- sealed
        ALTER TABLE account ADD COLUMN client_key_id TEXT;
        ALTER TABLE account ADD COLUMN team_id TEXT;
        ALTER TABLE account ADD COLUMN dpop_key BLOB;        -- sealed
        """

    /// Clients that registered themselves (RFC 7591), and what redirect URIs clients are registered with.
    private static let clientRegistration = """
        ALTER TABLE account ADD COLUMN registration_uri TEXT;
        ALTER TABLE account ADD COLUMN registration_token BLOB;  -- sealed
        ALTER TABLE account ADD COLUMN redirect_uri TEXT;
        ALTER TABLE account ADD COLUMN redirect_port INTEGER;
        ALTER TABLE account ADD COLUMN redirect_scheme TEXT;
        """

    /// Accounts whose token is derived from others' (RFC 8693), which are named as in `name`.
    private static let derivedAccounts = """
        ALTER TABLE account ADD COLUMN subject_account TEXT;
        ALTER TABLE account ADD COLUMN actor_account TEXT;
        CREATE INDEX account_subject ON account (subject_account) WHERE subject_account IS NOT NULL;
        CREATE INDEX account_actor ON account (actor_account) WHERE actor_account IS NOT NULL;
        """

    /// A derived account stays with the accounts that it was derived from, whatever is added under their names later. NULL: removed.
    private static let sourcesByNumber = """
        ALTER TABLE account ADD COLUMN subject_id INTEGER;
        ALTER TABLE account ADD COLUMN actor_id INTEGER;
        UPDATE account SET subject_id = (SELECT id FROM account AS source WHERE source.name = account.subject_account),
            actor_id = (SELECT id FROM account AS source WHERE source.name = account.actor_account)
            WHERE subject_account IS NOT NULL;
        DROP INDEX account_subject;
        DROP INDEX account_actor;
        CREATE INDEX account_subject ON account (subject_id) WHERE subject_id IS NOT NULL;
        CREATE INDEX account_actor ON account (actor_id) WHERE actor_id IS NOT NULL;
        """

    /// What authorization requests ask for beyond scopes, and what else registrations say.
    private static let authorizationRequests = """
        ALTER TABLE account ADD COLUMN authorization_parameters TEXT NOT NULL DEFAULT '{}';  -- a JSON object
        ALTER TABLE account ADD COLUMN authorization_details TEXT;                           -- a JSON array (RFC 9396)
        ALTER TABLE account ADD COLUMN client_secret_expires_usec INTEGER;                   -- NULL: never, or unknown
        ALTER TABLE account ADD COLUMN post_logout_uri TEXT;
        """

    /// What authorization servers published last, as they sent it.
    private static let serverMetadata = """
        CREATE TABLE server_metadata (
            issuer_id INTEGER NOT NULL REFERENCES issuer (id) ON DELETE CASCADE,
            ca_file TEXT NOT NULL,                 -- '' for the authorities that all servers are trusted by
            first_document BLOB NOT NULL,          -- JSON
            second_document BLOB,                  -- NULL if the server publishes one only
            fetched_usec INTEGER NOT NULL,
            PRIMARY KEY (issuer_id, ca_file)
        ) STRICT;
        """

    /// Refusals that are not believed at once, and attempts while a person is called. A lease that leaves one called says since when.
    private static let bareRefusals = """
        ALTER TABLE account ADD COLUMN called_wall_usec INTEGER;
        ALTER TABLE account ADD COLUMN attempt_wall_usec INTEGER;
        ALTER TABLE account ADD COLUMN attempt_boot_id INTEGER;
        ALTER TABLE account ADD COLUMN attempt_boot_usec INTEGER;
        ALTER TABLE account ADD COLUMN refusal TEXT;            -- what tells it from another
        ALTER TABLE account ADD COLUMN refusal_wall_usec INTEGER;
        ALTER TABLE account ADD COLUMN refusal_boot_id INTEGER;
        ALTER TABLE account ADD COLUMN refusal_boot_usec INTEGER;
        -- Earlier versions took such a refusal for final.
        UPDATE account SET deadline_usec = phase_wall_usec
            WHERE phase = 'interactionRequired' AND interaction_reason = 'rejectedWithoutReason';
        """

    /// One for each question of the schedule; `StoreStatement` asks them, and a test reads its plans.
    private static let indexes = """
        CREATE INDEX account_deadline ON account (deadline_usec, issuer_id) WHERE deadline_usec IS NOT NULL;
        CREATE INDEX account_local_deadline ON account (deadline_usec, issuer_id)
            WHERE needs_route = 0 AND deadline_usec IS NOT NULL;
        CREATE INDEX account_issuer_deadline ON account (issuer_id, deadline_usec);
        CREATE INDEX account_leased ON account (id) WHERE phase = 'refreshing' AND deadline_usec IS NOT NULL;
        CREATE INDEX account_awaiting_connectivity ON account (id)
            WHERE back_off_kind IN ('transient', 'misconfigured') AND deadline_usec IS NOT NULL;
        """

    /// Counting a million rows takes too long for a status line, so the counts are kept by triggers, which no writer can forget.
    private static let tally = """
        CREATE TABLE phase_count (tally TEXT PRIMARY KEY, accounts INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TRIGGER account_counted AFTER INSERT ON account BEGIN
            INSERT INTO phase_count VALUES (new.tally, 1) ON CONFLICT DO UPDATE SET accounts = accounts + 1;
        END;
        CREATE TRIGGER account_recounted AFTER UPDATE OF phase, back_off_kind, failure_class ON account
        WHEN new.tally <> old.tally BEGIN
            UPDATE phase_count SET accounts = accounts - 1 WHERE tally = old.tally;
            INSERT INTO phase_count VALUES (new.tally, 1) ON CONFLICT DO UPDATE SET accounts = accounts + 1;
        END;
        CREATE TRIGGER account_discounted AFTER DELETE ON account BEGIN
            UPDATE phase_count SET accounts = accounts - 1 WHERE tally = old.tally;
        END;
        """

    /// An account that is being refreshed counts as scheduled: a refresh then changes no count, neither when it begins nor when it
    /// ends. How many are under way, the index of leases tells.
    private static let settledTally = """
        DROP TRIGGER account_counted;
        DROP TRIGGER account_recounted;
        DROP TRIGGER account_discounted;
        INSERT INTO phase_count SELECT 'scheduled', accounts FROM phase_count WHERE tally = 'refreshing'
            ON CONFLICT DO UPDATE SET accounts = accounts + excluded.accounts;
        DELETE FROM phase_count WHERE tally = 'refreshing';
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
