internal import AccountStorage
internal import AuthRefreshInterface
internal import Logging
internal import RefreshCore
internal import Varlink

/// The table of all lines that the daemon writes to the journal: ID, level, constant text, and the fields, which have
/// all that varies.
///
/// Changes are notices, survived failures are warnings, and what stops the daemon's work is an error. The catalog
/// (`systemd/authrefreshd.catalog`) explains each line; a test compares the two. A released ID never changes its meaning.
struct JournalEvent: Sendable {
    /// The journal's field for the ID.
    static let messageIDKey = "MESSAGE_ID"

    let level: Logger.Level
    /// Lower case, no full stop.
    let message: Logger.Message
    /// The ID, and our own fields.
    private(set) var fields: Logger.Metadata

    /// - Parameter id: 32 lower-case hexadecimal digits, as in the catalog.
    private init(_ level: Logger.Level, _ id: String, _ message: Logger.Message) {
        (self.level, self.message) = (level, message)
        fields = [Self.messageIDKey: .string(id)]
    }

    private static func notice(_ id: String, _ message: Logger.Message) -> Self { Self(.notice, id, message) }

    private static func warning(_ id: String, _ message: Logger.Message) -> Self { Self(.warning, id, message) }

    private static func error(_ id: String, _ message: Logger.Message) -> Self { Self(.error, id, message) }

    /// - Parameter fields: those without a value are left out.
    private func with(_ fields: KeyValuePairs<JournalKey, String?>, _ failure: RefreshFailure? = nil) -> Self {
        var line = self
        for (key, value) in fields { line.set(key, value) }
        if let failure { line.add(failure) }
        return line
    }

    private mutating func set(_ key: JournalKey, _ value: String?) {
        fields[key.rawValue] = value.map(Logger.MetadataValue.string)
    }

    private mutating func add(_ failure: RefreshFailure) {
        let detail = failure.detail
        set(.error, detail.oauthError ?? detail.summary)
        set(.correlationID, detail.correlationID)
        let parts = [
            detail.oauthError == nil ? nil : detail.summary,
            detail.oauthErrorDescription, detail.subError, detail.providerCode, detail.httpStatus.map { "HTTP \($0)" },
        ].compactMap(\.self)
        if !parts.isEmpty { set(.detail, parts.joined(separator: "; ")) }
    }

    /// The line after `leftOut` others that were left out.
    func after(leftOut: Int) -> Self { leftOut > 0 ? with([.leftOut: "\(leftOut)"]) : self }

    /// The line with the fields that all lines about an account have. Its own fields win.
    func about(_ snapshot: AccountSnapshot, _ news: AccountNews?, correlationID: String?) -> Self {
        var line = self
        line.fields = [:]
        line.set(.account, snapshot.account.name.text)
        line.set(.issuer, snapshot.account.issuer.url)
        line.set(.generation, "\(snapshot.state.generation)")
        line.set(.event, news?.rawValue)
        line.set(.correlationID, correlationID)
        line.fields.merge(fields) { $1 }
        return line
    }

    /// The line about an account that cannot be read.
    func about(_ account: DamagedAccount, _ news: AccountNews) -> Self {
        with([.account: account.name, .event: news.rawValue])
    }
}

// MARK: Accounts

extension JournalEvent {
    static let accountAdded = notice("d9d40b86491d4b749bda5e0485142281", "account added")
    static let accountUpdated = notice("8eec1e11959f44939eefac8cc9a953ad", "account updated")
    static let accountRemoved = notice("b5dcddac783b43dbad60b4d6e2028c2e", "account removed")
    static let accountParked = notice(
        "91c42f8e6b0d4d37a57e18c3f2649b0a",
        "account parked: exported to be moved, and no longer refreshed here"
    )
    static let accountUnparked = notice(
        "e07a53c61d9f4b829c3d7f40a8b5e216",
        "account resumed: it is refreshed here again"
    )
    static let grantImported = notice("421b26d826754bc88f28f6dbbc08dcf1", "grant imported")

    static func signInStarted(flow: String) -> Self {
        notice("81941112f8384085b8de241094110933", "sign-in started")
            .with([.detail: flow])
    }

    static func signInFailed(_ reason: String) -> Self {
        warning("4b3f235732c14e82b5a5da8fca8c5707", "sign-in ended without tokens; the account is unchanged")
            .with([.reason: reason])
    }

    static func signedIn(until expiresAt: Timestamp?) -> Self {
        notice("8ad294b41cdd4d0aad676dc4ec90a464", "signed in")
            .with([.expiresAt: expiresAt.map(microseconds)])
    }

    static func signedInWithoutRefreshToken(until expiresAt: Timestamp?) -> Self {
        notice("5d3b9e21c7f44a0e8b6a42d109e7f35c", "signed in without a new refresh token; the previous one is kept")
            .with([.expiresAt: expiresAt.map(microseconds)])
    }

    static func tokenRefreshed(until expiresAt: Timestamp?) -> Self {
        notice("cee02e56448741868e4a14d08b21f5d0", "access token refreshed")
            .with([.expiresAt: expiresAt.map(microseconds)])
    }

    static func targetRefreshed(_ target: TokenTarget) -> Self {
        notice("6b9c7855ebe44f3e9d46ee7bf977a820", "token set obtained")
            .with([.tokenSet: line(target)])
    }

    static func targetFailed(_ target: TokenTarget, _ failure: RefreshFailure) -> Self {
        warning("a72f3648b8d842949d958bd557eb0073", "token set could not be obtained; the account is unchanged")
            .with([.tokenSet: line(target)], failure)
    }

    static func refreshFailed(_ failure: RefreshFailure, retryAt: Timestamp? = nil, reason: InteractionReason? = nil)
        -> Self
    {
        warning("4bba12dc5dc44f5dad5bdd72a1230b31", "refresh failed, retrying")
            .with([.retryAt: retryAt.map(microseconds), .reason: reason?.rawValue], failure)
    }

    static func outcomeUnknown(_ failure: RefreshFailure, retryAt: Timestamp) -> Self {
        warning(
            "0d16282780aa480ba1fc44d3f3d3ff45",
            "the answer to a refresh was lost, and the refresh token may be used up; retrying"
        )
        .with([.retryAt: microseconds(retryAt)], failure)
    }

    static func interactionRequired(
        reason: String,
        error: String? = nil,
        detail: String? = nil,
        _ failure: RefreshFailure? = nil
    ) -> Self {
        warning("1d3ab0a9135947a19bd31705c1a0d0ea", "interaction required")
            .with([.reason: reason, .error: error, .detail: detail], failure)
    }

    static func misconfigured(_ failure: RefreshFailure, retryAt: Timestamp) -> Self {
        warning(
            "3c63074130704a75bb9a2f24301982c0",
            "the server rejects the account's settings; the tokens are kept; retrying"
        )
        .with([.retryAt: microseconds(retryAt)], failure)
    }

    static func refreshTokenExpiring(at expiresAt: Timestamp) -> Self {
        warning("ec02aac2acc045c682c17ad1d0b97881", "the refresh token expires soon")
            .with([.expiresAt: microseconds(expiresAt)])
    }

    static func signOutNear(at time: Timestamp) -> Self {
        warning("7d3194e82c5a4f07b6a258d10e93c74f", "the account signs out by itself soon")
            .with([.expiresAt: microseconds(time)])
    }

    static func signedOut(reason: String? = nil) -> Self {
        notice("a87ce63122584da793ec98f9f296fa64", "signed out")
            .with([.reason: reason])
    }

    static func clientSecretRenewed(until expiresAt: Timestamp?) -> Self {
        notice("6f0b52c49d1e4a73b8a517e360fd924c", "the server has issued a new client secret")
            .with([.expiresAt: expiresAt.map(microseconds)])
    }

    static func clientSecretEnding(at expiresAt: Timestamp?, _ failure: RefreshFailure?) -> Self {
        warning("2e97c8d1045b4f6a91d73bce58a206f4", "the client secret expires soon")
            .with([.expiresAt: expiresAt.map(microseconds)], failure)
    }

    static func staleAnswerDropped(of generation: Generation) -> Self {
        warning("82035930317c405c953d29fca30089f1", "an answer for an earlier grant was dropped")
            .with([.generation: "\(generation)"])
    }

    static func idTokenRefused(_ fault: String, of account: AccountName, correlationID: String) -> Self {
        warning(
            "3f1c9d0e7a524b869e046c1db3f82a57",
            "tokens refreshed, but the ID token that came with them was rejected"
        )
        .with([.account: account.text, .error: fault, .correlationID: correlationID])
    }

    static func accountDamaged(_ account: DamagedAccount) -> Self {
        error(
            "5e0f29d77a0b4b0c9c3b1f6a84d26e17",
            "an account cannot be read from the store, and is set aside; the others work"
        )
        .with([.account: account.name, .error: "\(account.cause)"])
    }

    static func decisionRefused(_ error: StoreError, of account: AccountName) -> Self {
        warning("c1a47b520d8e4f39a6e253f097bc418d", "a change contradicts the store, and was not stored")
            .with([.account: account.text, .error: "\(error)"])
    }

    static func tokenFilesFailed(_ reason: String, of account: AccountName?) -> Self {
        warning("47d0b95e2c184f6a9b3fe65018ad72c4", "a token file could not be written, retrying")
            .with([.account: account?.text, .error: reason])
    }

    static let tokenFilesWritten = notice("93ae06f1d47c4b25a1d85c3bf2076e9d", "all token files are written again")
}

// MARK: The daemon and its machine

extension JournalEvent {
    static let daemonStarted = notice("d83f969f38e3482b8e7b49e91c468b65", "authrefreshd has started")

    static func daemonCrashed(signal: Int32, duringRequests requests: Int) -> Self {
        error("1e84b5d73a604f928bc106f5d92e7a43", "the previous daemon crashed")
            .with([.detail: "signal \(signal), requests under way: \(requests)"])
    }

    static let daemonStopping = notice("bf8e8b2641ce4510bf254aefaad3a992", "authrefreshd is stopping")

    static func storeFromOtherMachine(parked: Int) -> Self {
        warning(
            "3d0e9a75c1f24b688a47e52b06dcf193",
            "the store came from another machine, which may still use its grants"
        )
        .with([.reason: "\(parked) \(parked == 1 ? "account is" : "accounts are") parked"])
    }

    static func clockStepped(by step: Duration) -> Self {
        warning("f244f69c7f164394b919851936b9a401", "the wall clock was stepped")
            .with([.detail: "\(step.words) \(step < .zero ? "back" : "forward")"])
    }

    static let resumed = notice("08c96f4b3559449a9905c7789b174c33", "the machine woke up")
    static let networkUp = notice("9f8909717f144a0ca2b7bb452cf56e8e", "a network route is up")
    static let networkDown = warning("30eeef870b6b44b68ca6b3ce8b8dda62", "no network; refreshes wait")

    static func configurationReloaded(awaitingRestart keys: [String]) -> Self {
        notice("e8ebb52a64584a9ea8fce0b95ade140c", "configuration reloaded")
            .with([.reason: keys.isEmpty ? nil : "\(keys.joined(separator: ", ")): takes effect with a restart"])
    }

    static func configurationRejected(_ error: any Error) -> Self {
        Self.error(
            "b7daf6d5657947feb51fd150babea238",
            "the new configuration is invalid; the previous one stays in force"
        )
        .with([.error: "\(error)"])
    }

    static func storeUnwritable(_ error: StoreError) -> Self {
        Self.error(
            "bfe85d9548974edfa2357f51a232facf",
            "the store cannot be used; retrying; valid tokens are still handed out"
        )
        .with([.error: error.description])
    }

    /// - Parameter leftOut: how many such lines were omitted before.
    static func peerRefused(_ reason: String, account: AccountName? = nil, detail: String? = nil, leftOut: Int) -> Self
    {
        warning("7599a9da26dc444092c607193a1d1946", "a caller was refused")
            .with([
                .account: account?.text, .error: reason, .detail: detail, .leftOut: leftOut > 0 ? "\(leftOut)" : nil,
            ])
    }

    static func storeRekeyed(key: String, in place: StoreKeyPlace) -> Self {
        notice("d949b0ae0eea460cbf82f2d930179d3a", "the store is encrypted with a new key")
            .with([.key: key, .detail: words(place)])
    }

    static func rekeyStopped(_ error: StoreError) -> Self {
        Self.error("62a841f59c0d4e7b9d37c1b5e6082af4", "the change of the store's key stopped; both keys stay in use")
            .with([.error: "\(error)"])
    }

    static func oldKeyKept(_ error: StoreKeyError) -> Self {
        warning("10fd21fb85eb4447ab1ad765f5359352", "the store's old key could not be destroyed")
            .with([.error: error.description])
    }

    static func storeLocked(_ error: StoreError) -> Self {
        warning("b6bfe97b0cce4b17a085e899a85779c8", "the store's key is locked, waiting for it")
            .with([.error: error.description])
    }

    static func storeAwaited(_ error: StoreError) -> Self {
        warning("7e1d43b692fa4c088d5760a3e4b91f2c", "the store cannot be opened yet, waiting")
            .with([.error: error.description])
    }

    static let storeRecovered = notice("8905ab86bf4343b0a3237008036f68d8", "the store can be used again")
    static let storeLogLost = warning(
        "5d270c9eb41f4e688a93f6d127c04b5e",
        "the store's write-ahead log was removed; its contents are safe in the database"
    )

    static func socketLost(_ path: String, _ error: any Error) -> Self {
        Self.error("cc6250b2b8bc4a95bce19320ae5ca778", "the socket was removed, and cannot be made again now")
            .with([.detail: path, .error: "\(error)"])
    }

    static func socketRestored(_ path: String) -> Self {
        notice("dea6ececf0094931ba2873f5aaf180ec", "the socket was removed, and is back")
            .with([.detail: path])
    }

    static func socketReturned(_ path: String) -> Self {
        notice("4c75dde24858437fb53f43f86a094d9c", "the socket was removed; the service manager makes it again")
            .with([.detail: path])
    }

    static func descriptorsLimited(to granted: Int, of wanted: Int) -> Self {
        warning("8d416b0f2ce74a95b3d807f15a69ce24", "the limit of open files is too low for max_connections")
            .with([.detail: "\(granted) of \(wanted)"])
    }

    static func descriptorsExhausted(_ error: VarlinkServerError) -> Self {
        Self.error("ec371a6cdfc547b8a8b2beb9bc154b51", "no file descriptor is left for callers, who wait")
            .with([.error: "\(error)"])
    }

    static let descriptorsReturned = notice(
        "5bcef6859e8545118a2aa6ad5cdcf9b4",
        "there are file descriptors for callers again"
    )

    static func keyGone(_ error: StoreKeyError) -> Self {
        Self.error(
            "dfe5de4ce47e41ec8faaa5c64ee8d469",
            "the store's key is gone; this daemon still works, but a restart would fail"
        )
        .with([.error: error.description])
    }

    static let keyReturned = notice("fa7d9f193615471392cb024ad17080f8", "the store's key is back")

    /// - Parameter consequence: how the daemon works without the watch.
    static func machineUnwatched(_ error: any Error, consequence: String) -> Self {
        warning("d7013c20d253488b91872c9032f36024", "the daemon cannot watch a part of the machine")
            .with([.error: "\(error)", .detail: consequence])
    }

    static func logDropped(_ lines: Int) -> Self {
        warning("7d2e51c806fb4a93b61fc47a0e95d238", "log lines were dropped because the journal did not take them")
            .with([.leftOut: "\(lines)"])
    }

    static func issuerBehind(_ issuer: Issuer) -> Self {
        warning(
            "2b94e06af1d74c5893ae70cb5d18e264",
            "the server's accounts need more refreshes than it answers; they wait for their turn"
        )
        .with([.issuer: issuer.url])
    }

    static func issuerCaughtUp(_ issuer: Issuer) -> Self {
        notice("c5f0183d9e6b47a2a84d2671b3fc095e", "no account of the server waits for its turn any more")
            .with([.issuer: issuer.url])
    }

    static func changeCommandFailed(_ reason: String) -> Self {
        warning("6e21c3d890fa4b578d642be9a715f03c", "the on_change command was not run")
            .with([.error: reason])
    }
}

extension JournalEvent {
    private static func microseconds(_ time: Timestamp) -> String { "\(time.microseconds)" }

    private static func line(_ target: TokenTarget) -> String {
        target.text.split(separator: "\n").joined(separator: "; ")
    }

    private static func words(_ place: StoreKeyPlace) -> String {
        switch place {
        case .credential: "the systemd credential '\(StoreKeySource.name)'"
        case .nextCredential: "the systemd credential '\(StoreKeySource.nextName)'"
        case .secretService: "the Secret Service"
        // A next file becomes the key file as soon as that can be written.
        case .file, .nextFile: "the key file"
        }
    }
}
