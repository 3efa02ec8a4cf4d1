import AccountStorage
import RefreshCore
import Systemd
import Varlink

@testable import authrefreshd

/// One value of each error that keeps the daemon from starting, or its store from being used.
extension MessageSamples {
    static let configurationFaults: [ConfigurationFault] = [
        .notYAML("did not find expected key"), .notYAML(nil), .type("a whole number"), .empty("a whole number"),
        .missing,
        .unusable, .oneOf(["file", "secret-service"]), .timeSpan(from: "1s", to: "40s"), .absolutePath, .proxy,
        .atLeastOne, .aboveZero, .connections, .browser, .event("signed", known: ["signed-in"]), .command,
        .commandMissing,
        .commandTooLong(limit: 16384), .notForAccounts("name"), .notPlain("scopes"), .badBrackets("scopes"),
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: ConfigurationFault) -> String {
        switch text {
        case .notYAML: "notYAML"
        case .type: "type"
        case .empty: "empty"
        case .missing: "missing"
        case .unusable: "unusable"
        case .oneOf: "oneOf"
        case .timeSpan: "timeSpan"
        case .absolutePath: "absolutePath"
        case .proxy: "proxy"
        case .atLeastOne: "atLeastOne"
        case .aboveZero: "aboveZero"
        case .connections: "connections"
        case .browser: "browser"
        case .event: "event"
        case .command: "command"
        case .commandMissing: "commandMissing"
        case .commandTooLong: "commandTooLong"
        case .notForAccounts: "notForAccounts"
        case .notPlain: "notPlain"
        case .badBrackets: "badBrackets"
        }
    }

    static let configurationFaultsCount = 20

    static let configurationErrors: [ConfigurationError] = [
        .unreadable(path: "/c.yaml", reason: "it is too large"), .duplicateProfile(name: "google", path: "/p/b.yaml"),
        .invalid(path: "/c.yaml", line: 1, key: "", reason: "this is not YAML"),
        .invalid(path: "/c.yaml", line: 3, key: "max_accounts", reason: "\"max_accounts\" must be at least 1"),
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: ConfigurationError) -> String {
        switch text {
        case .unreadable: "unreadable"
        case .invalid: "invalid"
        case .duplicateProfile: "duplicateProfile"
        }
    }

    static let configurationErrorsCount = 3

    static let keyErrors: [StoreKeyError] = [
        .keyMissing(path: "/s/store-key"), .unreadable(path: "/s/store-key", code: 13),
        .tooOpen(path: "/s/store-key", mode: 0o644), .notOurs(path: "/s/store-key", owner: 1),
        .foreignSymbolicLink(path: "/s/store-key", owner: 1), .notAFile(path: "/s/store-key"),
        .malformed(path: "/s/store-key", count: 3), .cannotCreate(path: "/s/store-key", code: 17),
        .cannotCreate(path: "/s/store-key", code: 13), .cannotCreate(path: "/s/store-key", code: 27),
        .cannotCreate(path: "/s/store-key", code: 28), .cannotRemove(path: "/s/store-key", code: 13),
        .credentialHasNoSuccessor, .successorNotInPlace, .inUse(path: "/s/store-key", identifier: "0123456789abcdef"),
        .secretServiceRefused(reason: "no"), .secretServiceLocked, .secretServiceUnavailable(reason: "no"),
        .secretServiceLacksKey(identifier: "0123456789abcdef"), .secretServiceLacksKey(identifier: nil),
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: StoreKeyError) -> String {
        switch text {
        case .keyMissing: "keyMissing"
        case .unreadable: "unreadable"
        case .tooOpen: "tooOpen"
        case .notOurs: "notOurs"
        case .foreignSymbolicLink: "foreignSymbolicLink"
        case .notAFile: "notAFile"
        case .malformed: "malformed"
        case .cannotCreate: "cannotCreate"
        case .cannotRemove: "cannotRemove"
        case .credentialHasNoSuccessor: "credentialHasNoSuccessor"
        case .successorNotInPlace: "successorNotInPlace"
        case .inUse: "inUse"
        case .secretServiceRefused: "secretServiceRefused"
        case .secretServiceLocked: "secretServiceLocked"
        case .secretServiceUnavailable: "secretServiceUnavailable"
        case .secretServiceLacksKey: "secretServiceLacksKey"
        }
    }

    static let keyErrorsCount = 16

    static let storeErrors: [StoreError] = [
        .key(.secretServiceLocked),
        .inUse(path: "/s/a", by: StoreHolder(pid: 7, program: "sqlite3", host: nil)),
        .inUse(path: "/s/a", by: StoreHolder(pid: nil, program: nil, host: nil)),
        .inUse(path: "/s/a", by: StoreHolder(pid: 7, program: nil, host: "desk")),
        .inUse(path: "/s/a", by: StoreHolder(pid: nil, program: nil, host: "")),
        .missing(path: "/s/a", record: "/r/had-store-1"), .replaced(path: "/s/a"), .corrupt(path: "/s/a"),
        .notADatabase(path: "/s/a"), .isLink(path: "/s/a"), .fileLimit(path: "/s/a"),
        .notAStore(path: "/s/a"), .newerSchema(path: "/s/a", found: 9, known: 8),
        .olderSchema(path: "/s/a", found: 1, oldest: 2), .wrongKey(path: "/s/a", expected: "a1", given: "b2"),
        .gone(path: "/s/a"), .readOnly(path: "/s/a"), .diskFull(path: "/s/a"), .inputOutput(path: "/s/a", code: 10),
        .cannotOpen(path: "/s/a", code: 13), .notOurs(path: "/s/a", owner: 1), .refused(path: "/s/a", code: 1),
        .sealBroken(AccountID(1), column: .refreshToken), .damagedRow(AccountID(1), column: "phase", .unknownWord),
        .damagedRow(AccountID(1), column: "phase", .missing), .damagedRow(AccountID(1), column: "phase", .notJSON),
        .damagedRow(AccountID(1), column: "phase", .malformed), .damagedRow(AccountID(1), column: "phase", .outOfRange),
        .staleGeneration(AccountID(1), stored: Generation(2), base: Generation(1)),
        .refreshTokenMissing(AccountID(1), Generation(2)), .noSuchAccount(AccountID(1)), .nameTaken(work),
        .noSuchIssuer(IssuerID(1)), .backupExists(path: "/b"), .beingResealed(path: "/s/a"), .backupDamaged(path: "/b"),
        .notRestorable(path: "/b", cause: .corrupt(path: "/b")),
        .notRestorable(path: "/b", cause: .cannotOpen(path: "/b", code: 16)),
        .notRestorable(path: "/b", cause: .newerSchema(path: "/b", found: 9, known: 8)),
        .notRestorable(path: "/b", cause: .olderSchema(path: "/b", found: 1, oldest: 2)),
        .notRestorable(path: "/b", cause: .wrongKey(path: "/b", expected: "a1", given: "b2")),
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: StoreError) -> String {
        switch text {
        case .key: "key"
        case .inUse: "inUse"
        case .missing: "missing"
        case .replaced: "replaced"
        case .corrupt: "corrupt"
        case .notADatabase: "notADatabase"
        case .isLink: "isLink"
        case .notAStore: "notAStore"
        case .newerSchema: "newerSchema"
        case .olderSchema: "olderSchema"
        case .wrongKey: "wrongKey"
        case .gone: "gone"
        case .readOnly: "readOnly"
        case .diskFull: "diskFull"
        case .fileLimit: "fileLimit"
        case .inputOutput: "inputOutput"
        case .cannotOpen: "cannotOpen"
        case .notOurs: "notOurs"
        case .refused: "refused"
        case .sealBroken: "sealBroken"
        case .damagedRow: "damagedRow"
        case .staleGeneration: "staleGeneration"
        case .refreshTokenMissing: "refreshTokenMissing"
        case .noSuchAccount: "noSuchAccount"
        case .nameTaken: "nameTaken"
        case .noSuchIssuer: "noSuchIssuer"
        case .backupExists: "backupExists"
        case .beingResealed: "beingResealed"
        case .backupDamaged: "backupDamaged"
        case .notRestorable: "notRestorable"
        }
    }

    static let storeErrorsCount = 30

    static let socketErrors: [VarlinkServerError] = [
        .alreadyListening(path: "/r/s"), .notASocket(path: "/r/s"), .pathTooLong(path: "/r/s", limit: 107),
        .folderBusy(path: "/r"), .cannotMakeFolder(path: "/r", errno: 13), .folderOpenToOthers(path: "/r", owner: 1),
        .cannotBind(path: "/r/s", errno: 13), .notAListenSocket(descriptor: 3), .cannotListen(errno: 24),
        .cannotAccept(errno: 24),
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: VarlinkServerError) -> String {
        switch text {
        case .alreadyListening: "alreadyListening"
        case .notASocket: "notASocket"
        case .pathTooLong: "pathTooLong"
        case .folderBusy: "folderBusy"
        case .cannotMakeFolder: "cannotMakeFolder"
        case .folderOpenToOthers: "folderOpenToOthers"
        case .cannotBind: "cannotBind"
        case .notAListenSocket: "notAListenSocket"
        case .cannotListen: "cannotListen"
        case .cannotAccept: "cannotAccept"
        }
    }

    static let socketErrorsCount = 10

    static let systemErrors: [SystemdError] = [
        .malformedListenEnvironment(errno: 22), .notListeningUnixSocket(name: "a", descriptor: 3),
        .journalRefused(errno: 2),
        .clockTimerUnavailable(errno: 1), .routesUnavailable(errno: 1),
        .managerRefused(unit: "authrefreshd.socket", errno: 1), .busUnavailable(errno: 2), .bootIDUnreadable(errno: 2),
        .malformedBootID, .hardeningRefused(errno: 1),
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: SystemdError) -> String {
        switch text {
        case .malformedListenEnvironment: "malformedListenEnvironment"
        case .notListeningUnixSocket: "notListeningUnixSocket"
        case .journalRefused: "journalRefused"
        case .clockTimerUnavailable: "clockTimerUnavailable"
        case .routesUnavailable: "routesUnavailable"
        case .managerRefused: "managerRefused"
        case .busUnavailable: "busUnavailable"
        case .bootIDUnreadable: "bootIDUnreadable"
        case .malformedBootID: "malformedBootID"
        case .hardeningRefused: "hardeningRefused"
        }
    }

    static let systemErrorsCount = 10

    static let startErrors: [DaemonError] =
        [.noHome(variable: "XDG_RUNTIME_DIR"), .tooManySockets(2)]
        + configurationErrors.map(DaemonError.configuration) + keyErrors.map(DaemonError.key)
        + storeErrors.map(DaemonError.store) + socketErrors.map(DaemonError.socket)
        + systemErrors.map(DaemonError.system)

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: DaemonError) -> String {
        switch text {
        case .noHome: "noHome"
        case .configuration: "configuration"
        case .key: "key"
        case .store: "store"
        case .socket: "socket"
        case .system: "system"
        case .tooManySockets: "tooManySockets"
        }
    }

    static let startErrorsCount = 7
}
