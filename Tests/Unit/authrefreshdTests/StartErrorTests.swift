@testable import AccountStorage
import Basics
import RefreshCore
import Systemd
import TestSupport
import Testing
import Varlink

@testable import authrefreshd

/// What the daemon prints when a part of it cannot start.
@Suite struct StartErrorTests {
    private static let keyErrors: [StoreKeyError] = [
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

    private static let storeErrors: [StoreError] =
        [
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
            .damagedRow(AccountID(1), column: "phase", .malformed),
            .damagedRow(AccountID(1), column: "phase", .outOfRange),
            .staleGeneration(AccountID(1), stored: Generation(2), base: Generation(1)),
            .refreshTokenMissing(AccountID(1), Generation(2)), .noSuchAccount(AccountID(1)),
            .noSuchIssuer(IssuerID(1)), .backupExists(path: "/b"), .beingResealed(path: "/s/a"),
            .backupDamaged(path: "/b"),
            .notRestorable(path: "/b", cause: .corrupt(path: "/b")),
            .notRestorable(path: "/b", cause: .cannotOpen(path: "/b", code: 16)),
            .notRestorable(path: "/b", cause: .newerSchema(path: "/b", found: 9, known: 8)),
            .notRestorable(path: "/b", cause: .olderSchema(path: "/b", found: 1, oldest: 2)),
            .notRestorable(path: "/b", cause: .wrongKey(path: "/b", expected: "a1", given: "b2")),
        ]

    private static let socketErrors: [VarlinkServerError] = [
        .alreadyListening(path: "/r/s"), .notASocket(path: "/r/s"), .pathTooLong(path: "/r/s", limit: 107),
        .folderBusy(path: "/r"), .cannotMakeFolder(path: "/r", errno: 13), .folderOpenToOthers(path: "/r", owner: 1),
        .cannotBind(path: "/r/s", errno: 13), .notAListenSocket(descriptor: 3), .cannotListen(errno: 24),
        .cannotAccept(errno: 24), .cannotWatch(path: "/r/s", errno: 24),
    ]

    private static let errors: [ProgramError] =
        (keyErrors.map(StoreError.key) + storeErrors).map(ProgramError.init) + socketErrors.map(ProgramError.init)
        + [ProgramError(SystemdError.busUnavailable(errno: 2))]

    @Test(arguments: errors)
    func `an error at the start is one plain line, and says what to do, with a command that there is`(
        _ error: ProgramError
    ) throws {
        #expect(MessageForm.flaws(ofMessage: error.message, names: ["\""]) == [])
        // A case of an enumeration is no sentence.
        #expect(!error.message.contains("errno:") && !error.message.contains("path:"))
        let hint = try #require(error.hint).text
        #expect(MessageForm.flaws(of: hint) == [])
        let commands = try PageSources.commands()
        for command in hint.matches(of: /authctl ((?:(?:account|store) )?[a-z]+)/) {
            let words = command.1.split(separator: " ").map { $0.prefix(1).uppercased() + $0.dropFirst() }
            #expect(commands.contains(words.joined()), "\(command.0)")
        }
    }
}
