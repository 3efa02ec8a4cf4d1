internal import AccountStorage
internal import AuthRefreshInterface
internal import Glibc
internal import RefreshCore
internal import Systemd
internal import TestSupport
internal import TextEncodings

/// A daemon's folders with a store of fresh accounts, for a daemon that answers calls and does not refresh.
final class FilledStore: Sendable {
    /// How many accounts are in one transaction. Its log stays below SQLite's checkpoint.
    private static let batch = 10_000

    let stage: DaemonStage
    let accounts: Int

    /// The account's name, seven digits, as the load programs expect it.
    static func name(_ number: Int) -> String {
        let digits = String(number)
        return "account" + String(repeating: "0", count: max(0, 7 - digits.count)) + digits
    }

    /// Creates the store.
    ///
    /// - Throws: `BenchError`.
    init(accounts: Int) throws {
        self.accounts = accounts
        stage = try DaemonStage()
        let state = try Self.freshState()
        let template = NewAccount(
            Account(
                name: try Self.accountName(0),
                // Nobody listens there, and nobody is asked, because the tokens live longer than every bench.
                issuer: try Issuer(url: "http://127.0.0.1:9"),
                registration: ClientRegistration(clientID: "app")
            ),
            createdAt: Timestamp(microseconds: WallClock.now()),
            state: state
        )
        try Self.fill(stage.stateDirectory, count: accounts) { number in
            var account = template
            account.name = try Self.accountName(number)
            account.tokens = StoredTokens(
                accessToken: AccessToken(Secret("made-up-access-token-of-account-\(number)")),
                refreshToken: RefreshToken(Secret("made-up-refresh-token-of-account-\(number)"))
            )
            return account
        }
    }

    /// Reads the store's file into the kernel's cache, because the daemon should be measured and not the disk. A kernel
    /// that is short of memory may drop it again.
    func readIn() throws {
        let path = stage.stateDirectory + "/" + AccountStore.fileName
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw BenchError.cannotFillStore("open \(path) failed") }
        defer { close(file) }
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while unsafe read(file, &chunk, chunk.count) > 0 {}
    }

    static func accountName(_ number: Int) throws -> AccountName {
        guard let name = AccountName(name(number)) else {
            throw BenchError.cannotFillStore("\(name(number)) is not an account name")
        }
        return name
    }

    /// The state of an account that was just refreshed, with a token for a day.
    private static func freshState() throws -> RefreshState {
        let bootID = try BootClock.bootID()
        let now = Moment(
            wall: Timestamp(microseconds: WallClock.now()),
            boot: BootTime(bootID: bootID, microseconds: BootClock.now())
        )
        var machine = RefreshMachine(state: .unused, policy: .open)
        _ = machine.handle(.grant(.imported(refreshTokenLifetime: nil)), at: now, jitter: 0.5)
        _ = machine.handle(.host(.deadlineReached), at: now, jitter: 0.5)
        let issuance = Issuance(lifetime: .seconds(86_400))
        _ = machine.handle(.answer(.tokensIssued(machine.state.generation, issuance)), at: now, jitter: 0.5)
        return machine.state
    }

    /// Fills a store with the daemon's own code, without a daemon.
    ///
    /// - Throws: `cannotFillStore`.
    static func fill(_ stateDirectory: String, count: Int, account: (Int) throws -> NewAccount) throws {
        let path = stateDirectory + "/" + AccountStore.fileName
        do {
            let source = StoreKeySource(credentialsDirectory: nil, stateDirectory: stateDirectory)
            let held = try source.files().first ?? source.createFile()
            let store = try AccountStore(path: path, key: held.key)
            for start in stride(from: 0, to: count, by: batch) {
                _ = try store.add(try (start..<min(start + batch, count)).map(account))
            }
            try store.close()
        } catch let error as StoreError {
            throw BenchError.cannotFillStore("\(error)")
        } catch let error as StoreKeyError {
            throw BenchError.cannotFillStore("\(error)")
        }
    }

    /// `AcquireToken` as authctl sends it, without the seven digits of the account's name.
    static var requestParts: (head: String, tail: String) {
        ("{\"method\":\"\(Method.acquireToken.rawValue)\",\"parameters\":{\"account\":\"account", "\"}}")
    }

    static func request(_ number: Int) -> String {
        let parts = requestParts
        return parts.head + name(number).dropFirst("account".count) + parts.tail
    }

    /// The running daemon's reply for the first account: the whole message without its NUL.
    func reply() async throws -> String {
        let reply = try await onOwnThread { [stage] in
            var connection = try VarlinkConnection(path: stage.socket)
            let parameters = "{\"account\":\"\(Self.name(0))\"}"
            return try connection.call(
                Method.acquireToken.rawValue,
                parameters: parameters,
                timeoutMilliseconds: 10_000
            )
        }
        guard reply.error == nil else { throw BenchError.failedToServe(reply.parameters.text) }
        return "{\"parameters\":\(reply.parameters.text)}"
    }
}
