import Dispatch
import Foundation
@testable import RefreshCore
import Testing

@testable import AccountStorage

/// After a process was killed, everything is there that a commit had reported, and nothing is half-written.
struct DurabilityTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func `every commit that returned survives SIGKILL at any moment`() async throws {
        var store = try folder.open()
        let id = try store.add(Sample.scheduled("a", due: 0)).account.id
        try store.close()
        let journal = folder.file("returned")
        try Data().write(to: URL(fileURLWithPath: journal))

        var found: Int64 = 1
        // Each child continues where the previous one was killed, and lives a little longer after it has opened the
        // store.
        for milliseconds in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 200, 1_000, 5_000, 60_000] {
            // The last ones are for slow or busy disks.
            if milliseconds > 100, try lastReturned(journal) > 10 { break }
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [
                    path = folder.store as String, journal = journal as String, id = id.rawValue as Int64,
                    milliseconds = milliseconds as Int
                ] in
                try rotateUntilKilled(path: path, account: AccountID(id), journal: journal, after: milliseconds)
            }
            // A child may be killed before its first note. Then the state is at least the one found before.
            let returned = max(try lastReturned(journal), found)
            store = try folder.open()
            let state = try #require(try store.record(id)).state
            // The last commit may have been durable before it was noted.
            #expect(state.generation.rawValue == returned || state.generation.rawValue == returned + 1)
            found = state.generation.rawValue
            try expectTokens(of: state, account: id, in: store)
            try store.close()
        }
        #expect(try lastReturned(journal) > 10)
    }

    private func expectTokens(of state: RefreshState, account: AccountID, in store: AccountStore) throws {
        let current = state.generation.rawValue
        let token = { (generation: Int64) in
            try store.tokens.refreshToken(of: account, generation: Generation(generation))?.secret.reveal()
        }
        #expect(try token(current) == "a-\(current)")
        #expect(try token(current + 1) == nil)
        guard let previous = state.previous?.generation.rawValue else { return }
        #expect(previous == current - 1)
        #expect(try token(previous) == "a-\(previous)")
        #expect(try token(previous - 1) == nil)
    }

    /// The last generation that was noted as committed; 1 before there is any.
    private func lastReturned(_ journal: String) throws -> Int64 {
        let text = try String(contentsOfFile: journal, encoding: .utf8)
        return text.split(separator: "\n").last.flatMap { Int64($0) } ?? 1
    }
}

/// Rotates an account's refresh token again and again, and notes each generation after its commit, until a timer kills
/// the process.
private func rotateUntilKilled(path: String, account: AccountID, journal: String, after milliseconds: Int) throws {
    let store = try AccountStore(path: path, key: Sample.key())
    var generation = try store.record(account)?.state.generation ?? Generation(1)
    let notes = try FileHandle(forWritingTo: URL(fileURLWithPath: journal))
    try notes.seekToEnd()
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
        kill(getpid(), SIGKILL)
    }
    while true {
        let state = RefreshState(
            generation: generation.next,
            phase: .scheduled,
            deadline: Sample.start,
            previous: PreviousRefreshToken(generation: generation, replacedAt: Sample.moment(0))
        )
        let tokens = StoredTokens(
            accessToken: Sample.accessToken(String(repeating: "x", count: 2_000)),
            refreshToken: Sample.refreshToken("a-\(generation.next)")
        )
        try store.commit([StateWrite(account: account, base: generation, state: state, tokens: .store(tokens))])
        generation = generation.next
        try notes.write(contentsOf: Data("\(generation)\n".utf8))
    }
}
