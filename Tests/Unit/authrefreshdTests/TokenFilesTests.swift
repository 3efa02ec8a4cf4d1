import AccountStorage
import AuthRefreshInterface
import Basics
import Foundation
@testable import RefreshCore
import Synchronization
import TestSupport
import Testing
import Varlink

@testable import authrefreshd

/// The token files alone, and with a coordinator whose clock the test moves.
struct TokenFilesTests {
    private let one = AccountID(1)
    private let two = AccountID(2)

    private func at(_ seconds: Int64) -> Moment {
        Moment(
            wall: Timestamp(microseconds: 1_000_000_000_000 + seconds * 1_000_000),
            boot: BootTime(bootID: 1, microseconds: seconds * 1_000_000)
        )
    }

    private func want(_ name: String, at seconds: Int64, of account: AccountID, in files: inout TokenFiles) {
        let file = TokenFile(name: name)
        let content = TokenFiles.Content(file: file, issuedAt: at(seconds), lifetime: .seconds(100))
        files.want(file, content, Secret("\(name)-\(seconds)"), lack: nil, of: account)
    }

    private func jobs(_ batch: (jobs: [String: Secret?], kept: Set<String>?)?) -> [String] {
        (batch?.jobs ?? [:]).map { "\($0)=\($1?.reveal() ?? "-")" }.sorted()
    }

    @Test func `the last change of each file counts, and batches follow one another`() throws {
        var files = TokenFiles(in: "/nowhere")
        want("a", at: 0, of: one, in: &files)
        let batch1 = files.nextBatch()
        let first = try #require(batch1)
        #expect(jobs(first) == ["a=a-0"])
        want("a", at: 10, of: one, in: &files)
        want("a", at: 20, of: one, in: &files)
        want("b", at: 20, of: two, in: &files)
        let early = files.nextBatch()
        #expect(early == nil)
        let news = files.ended([:], at: at(20))
        #expect(news == nil)
        let batch2 = files.nextBatch()
        let second = try #require(batch2)
        #expect(jobs(second) == ["a=a-20", "b=b-20"])
        _ = files.ended([:], at: at(21))
        // The file has this token already, so it is not written again.
        want("a", at: 20, of: one, in: &files)
        let none = files.nextBatch()
        #expect(none == nil && files.isIdle)
        #expect(files.remaining(at: at(21)) == .seconds(99))
        let due = files.due(at: at(120))
        #expect(due == [one, two])
    }

    @Test func `another account's file is left alone, and a released file is removed`()
        throws
    {
        var files = TokenFiles(in: "/nowhere")
        want("a", at: 0, of: one, in: &files)
        want("a", at: 0, of: two, in: &files)
        let only = files.nextBatch()
        #expect(jobs(only) == ["a=a-0"])
        var others = TokenFiles(in: "/nowhere")
        want("a", at: 0, of: one, in: &others)
        _ = others.nextBatch()
        _ = others.ended([:], at: at(0))
        want("b", at: 0, of: one, in: &others)
        let both = others.nextBatch()
        #expect(jobs(both) == ["a=-", "b=b-0"])
    }

    @Test func `a batch on a folder that hangs ends after tokenFileTime, and its waiters continue`() throws {
        #expect(CallerLimits.tokenFileTime < Waiter.timeLimit)
        var files = TokenFiles(in: "/nowhere")
        want("a", at: 0, of: one, in: &files)
        _ = files.nextBatch()
        let count = Counter()
        files.whenSettled([TokenFile(name: "a")]) { count.add() }
        want("a", at: 1, of: one, in: &files)
        // This request came after the batch began.
        files.whenSettled([TokenFile(name: "a")]) { count.add() }
        #expect(count.value == 0)
        let strangers = Counter()
        files.whenSettled([TokenFile(name: "b"), nil]) { strangers.add() }
        #expect(strangers.value == 1, "nobody waits for another's file")
        let news = files.ended(nil, at: at(5))
        #expect(news == .failed(one, "'/nowhere/a': its file system does not answer"))
        #expect(count.value == 1)
        _ = files.nextBatch()
        let end = files.ended([:], at: at(6))
        #expect(end == .well)
        #expect(count.value == 2)
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock(\.self) }
        func add() { count.withLock { $0 += 1 } }
    }

    private func change(_ file: TokenFile?) -> SettingsChange {
        SettingsChange(setting: { $0.delivery.file = file })
    }

    @Test func `a file that cannot be written is reported once, and written after tokenFileRetry`() async throws {
        try await withFreshAccount(isClockStopped: true) { rig, _, account in
            let folder = await rig.inside { coordinator in
                URL(fileURLWithPath: coordinator.store.path).deletingLastPathComponent().path + "/run/tokens"
            }
            let manager = FileManager.default
            try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try manager.removeItem(atPath: folder)
            try Data().write(to: URL(fileURLWithPath: folder))
            _ = try await rig.coordinator.update(account, by: change(TokenFile(name: "w")))
            try await rig.log.first("the failure") { $0.hasPrefix("a token file could not be written") }
            try manager.removeItem(atPath: folder)
            await rig.pass(CallerLimits.tokenFileRetry - .seconds(1))
            #expect(!manager.fileExists(atPath: folder))
            await rig.pass(.seconds(1))
            try await rig.log.first("the success") { $0.hasPrefix("all token files are written again") }
            #expect(manager.fileExists(atPath: folder + "/w"))
        }
    }

    @Test func `a folder with files that no daemon wrote is left alone`() throws {
        let (folder, manager) = (try TemporaryFolder(), FileManager.default)
        // Also under this name: the person's own socket, and files, may be in a folder that is called like ours.
        let path = folder.path + "/authrefreshd/tokens"
        try manager.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        try Data("dear friend".utf8).write(to: URL(fileURLWithPath: path + "/letter"))
        let tokens = TokenFolder(path: path)
        let write = ["work": Secret("token")]
        #expect(tokens.carryOut([:], keeping: []).isEmpty)
        #expect(tokens.carryOut(["letter": nil], keeping: []).isEmpty)
        #expect(tokens.carryOut(write, keeping: []) == ["work": .folderOfOthers])
        #expect(try manager.contentsOfDirectory(atPath: path) == ["letter"])
        #expect(try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o755)

        // An empty folder is taken. After that, files of no account are the daemon's own old ones.
        try manager.removeItem(atPath: path + "/letter")
        #expect(tokens.carryOut(write, keeping: []).isEmpty)
        #expect(try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o700)
        try Data().write(to: URL(fileURLWithPath: path + "/old"))
        #expect(tokens.carryOut([:], keeping: ["work"]).isEmpty)
        #expect(Set(try manager.contentsOfDirectory(atPath: path)) == [TokenFolder.mark, "work"])
    }

    @Test func `a reader finds the old token or the new one, never a part and never no file`() async throws {
        let folder = try TemporaryFolder()
        let tokens = TokenFolder(path: folder.path + "/tokens")
        let contents = ["a", "b"].map { Secret(String(repeating: $0, count: 5_000)) }
        #expect(tokens.carryOut(["work": contents[0]], keeping: nil).isEmpty)
        let whole = Set(contents.map { Data($0.reveal().utf8) })
        async let areWritten = onOwnThread {
            (1...2_000).allSatisfy { number in
                tokens.carryOut(["work": contents[number % 2]], keeping: nil).isEmpty
            }
        }
        async let areWhole = onOwnThread { [path = folder.path + "/tokens/work"] in
            (1...2_000).allSatisfy { _ in FileManager.default.contents(atPath: path).map(whole.contains) ?? false }
        }
        #expect(try await areWritten)
        #expect(try await areWhole)
    }

    @Test func `one token file too many gets the limit tokenFiles`() async throws {
        try await withFreshAccount { rig, _, account in
            try await rig.inside { coordinator in
                for number in 0..<CallerLimits.tokenFilesMax {
                    coordinator.tokenFiles.want(
                        TokenFile(name: "f\(number)"),
                        nil,
                        nil,
                        lack: nil,
                        of: AccountID(Int64(1_000 + number))
                    )
                }
                let error = #expect(throws: VarlinkError.self) {
                    try coordinator.checkTokenFile(TokenFile(name: "more"), of: account)
                }
                #expect(error?.name.hasSuffix("LimitExceeded") == true)
                // An account that has a token file may have another.
                try coordinator.checkTokenFile(TokenFile(name: "other"), of: AccountID(1_000))
            }
        }
    }

    @Test func `metrics name all accounts, or only those with problems if there are too many`() async throws {
        try await withFreshAccount { rig, issuer, _ in
            let few = try await rig.inside { try $0.getMetrics(GetMetrics.Parameters()) }
            #expect(few.accounts.map(\.account) == ["work"])
            #expect(few.requestsSucceeded == 1 && few.buckets.reduce(0, +) == 1)
            #expect(few.states["fresh"] == 1 && few.requestsFailed["unreachable"] == 0)
            try await rig.inside { coordinator in
                let now = coordinator.timebase.now()
                let failure = RefreshFailure(.unavailable, detail: FailureDetail(summary: "no"))
                let accounts = try (0..<CallerLimits.measuredAccountsMax).map { number in
                    var new = NewAccount(
                        Account(
                            name: try #require(AccountName("a\(number)")),
                            issuer: try Issuer(url: "https://login.example.com"),
                            registration: ClientRegistration(clientID: "app")
                        ),
                        createdAt: now.wall
                    )
                    if number == 7 {
                        let kind = BackOff.Kind.transient
                        let back = BackOff(failedAt: now, delay: .seconds(900), kind: kind, failure: failure)
                        new.state = RefreshState(
                            generation: Generation(1),
                            phase: .backingOff(back),
                            deadline: now.wall + .seconds(900)
                        )
                    }
                    return new
                }
                _ = try coordinator.store.add(accounts)
            }
            let many = try await rig.inside { try $0.getMetrics(GetMetrics.Parameters()) }
            #expect(many.accounts.map(\.account) == ["a7"])
            #expect(many.accounts.first?.state == "retrying")
            #expect(many.states.values.reduce(0, +) == Int64(CallerLimits.measuredAccountsMax) + 1)
            _ = issuer
        }
    }

    @Test func `requests are counted by result and duration`() {
        var metrics = RequestMetrics()
        metrics.note(nil, after: .milliseconds(50))
        metrics.note(nil, after: .milliseconds(51))
        metrics.note(.unavailable, after: .seconds(301))
        #expect(metrics.succeeded == 2 && metrics.failed == [.unavailable: 1])
        #expect(metrics.buckets == [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
        #expect(metrics.total == .milliseconds(301_101))
    }
}
