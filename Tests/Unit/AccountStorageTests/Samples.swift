import Foundation
import GRDB
@testable import RefreshCore

@testable import AccountStorage

/// A folder for one test. It is removed with its contents.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "authrefresh-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    var store: String { file(AccountStore.fileName) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Opens the store in this folder with the key that all tests share.
    func open(key: StoreKey? = nil) throws -> AccountStore {
        try AccountStore(path: store, key: key ?? Sample.key())
    }
}

extension AccountStore {
    /// Runs `body` on the database as another program would, without the store.
    func inDatabase<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try connection.database.writeWithoutTransaction(body)
    }
}

extension AccountStore {
    /// Makes a complete backup.
    func backup(to path: String) throws(StoreError) {
        let copy = try StoreCopy(of: self, at: path)
        while true {
            if let finished = try copy.advance(pages: 16) { return try finished.makeBackup() }
        }
    }
}

/// Values to store.
enum Sample {
    static let start = Timestamp(microseconds: 1_700_000_000_123_456)
    static let issuerURL = "https://login.example.com/realm"
    static let loopbackURL = "http://127.0.0.1:8080/"

    static func key(_ byte: UInt8 = 7) throws -> StoreKey {
        guard let key = StoreKey(Secret(repeatElement(byte, count: 32))) else { throw Missing() }
        return key
    }

    static func name(_ text: String) throws -> AccountName {
        guard let name = AccountName(text) else { throw Missing() }
        return name
    }

    static func moment(_ seconds: Int64) -> Moment {
        Moment(
            wall: start + .seconds(seconds),
            boot: BootTime(bootID: -42, microseconds: 1_000_000 * seconds + 7)
        )
    }

    static func account(
        _ name: String,
        issuer: String = issuerURL,
        state: RefreshState = RefreshState(),
        tokens: StoredTokens? = nil
    ) throws -> NewAccount {
        NewAccount(
            Account(
                name: try Sample.name(name),
                issuer: try Issuer(url: issuer),
                registration: ClientRegistration(clientID: "client")
            ),
            createdAt: start,
            state: state,
            tokens: tokens
        )
    }

    /// A scheduled account with a refresh token of generation 1, due `seconds` after the start.
    static func scheduled(_ name: String, due seconds: Int64, issuer: String = issuerURL) throws -> NewAccount {
        try account(
            name,
            issuer: issuer,
            state: RefreshState(generation: Generation(1), phase: .scheduled, deadline: start + .seconds(seconds)),
            tokens: StoredTokens(refreshToken: refreshToken("\(name)-1"))
        )
    }

    /// The times of a valid access token.
    static let accessTokenTimes = AccessTokenTimes(
        issuedAt: moment(0),
        lifetime: .seconds(3600),
        refreshAfter: .seconds(2400)
    )

    /// An account of generation 1 that has `tokens`, with `accessTokenTimes`.
    static func fresh(_ name: String, _ tokens: StoredTokens) throws -> NewAccount {
        var state = RefreshState(generation: Generation(1), phase: .scheduled, deadline: start + .seconds(10))
        state.accessToken = accessTokenTimes
        var account = try account(name, state: state)
        account.tokens = tokens
        return account
    }

    static func refreshToken(_ text: String) -> RefreshToken { RefreshToken(Secret(text)) }

    static func accessToken(_ text: String) -> AccessToken { AccessToken(Secret(text)) }

    static let failure = RefreshFailure(
        .unavailable,
        detail: FailureDetail(
            summary: "the server is temporarily unavailable",
            httpStatus: 503,
            oauthError: "temporarily_unavailable",
            oauthErrorDescription: "ein \"Fehler\" – später",
            subError: "sub",
            providerCode: "AADSTS1",
            correlationID: "c-1"
        ),
        retryAfter: .seconds(17)
    )

    struct Missing: Error {}
}

/// The bytes of the store's files on disk: the database and its log.
func rawFiles(of path: String) throws -> Data {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    for suffix in ["-wal", "-journal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
        bytes += try Data(contentsOf: URL(fileURLWithPath: path + suffix))
    }
    return bytes
}
