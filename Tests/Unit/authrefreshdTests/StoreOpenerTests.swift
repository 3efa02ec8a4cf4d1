import AccountStorage
import Dispatch
import Foundation
import Glibc
import RefreshCore
import Synchronization
import TestSupport
import Testing

@testable import authrefreshd

/// Opening the store while a keyring appears, disappears and changes its answers.
struct StoreOpenerTests {
    private let folder: TemporaryFolder
    private let service = StubbornKeyring()
    private let answers = EventLog<StoreOpener.Answer>()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func keyring(isUsed: Bool = true) -> StoreKeyring {
        StoreKeyring(
            source: StoreKeySource(credentialsDirectory: nil, stateDirectory: folder.path),
            secretService: SecretServiceKeys(
                load: { [service] () throws(StoreKeyError) in try service.load() },
                add: { [service] contents, _ in service.keep(contents) },
                removeOthers: { _ in }
            ),
            usesSecretService: isUsed
        )
    }

    private func makeWait(_ memory: StoreMemory? = nil, hasPassedSocket: Bool = false) -> StoreOpener {
        StoreOpener(
            executor: DispatchQueueExecutor(label: "test"),
            path: folder.path + "/accounts.sqlite",
            keyring: keyring(),
            memory: memory,
            busAddress: nil,
            hasPassedSocket: hasPassedSocket
        ) { [answers] in answers.append($0) }
    }

    /// A store whose key is in the keyring.
    private func makeStore() throws {
        try keyring().openStore(at: folder.path + "/accounts.sqlite").close()
    }

    private func answer(_ number: Int) async throws -> StoreOpener.Answer {
        try await answers.nth(number)
    }

    @Test func `an opened store is delivered once, and nothing follows`() async throws {
        let wait = makeWait()
        await wait.open(with: keyring())
        let handover = try await answer(1).get()
        #expect(try handover.take()?.counts().total == 0)
        #expect(handover.take() == nil)
        await wait.callerCame()
        #expect(service.questions == 1)
        #expect(answers.count == 1)
    }

    @Test func `the opener waits for the end of each kind of keyring failure`() async throws {
        try makeStore()
        let wait = makeWait()
        let troubles: [StoreKeyError] = [
            .secretServiceUnavailable(reason: "no bus"), .secretServiceLocked,
            .secretServiceRefused(reason: "starting"),
            .secretServiceUnavailable(reason: "gone again"), .secretServiceLocked,
        ]
        for (index, trouble) in troubles.enumerated() {
            service.fail(with: trouble)
            await wait.callerCame()
            #expect(try await answer(index + 1).refusal == .key(trouble))
        }
        service.fail(with: nil)
        let key = service.takeAway()
        await wait.callerCame()
        #expect(try await answer(6).refusal == .key(.secretServiceLacksKey(identifier: nil)))
        service.keep(try #require(key))
        await wait.callerCame()
        #expect(try await answer(7).get().take() != nil)
    }

    @Test func `however much happens during an attempt, one more attempt follows`() async throws {
        try makeStore()
        service.fail(with: .secretServiceLocked)
        service.hold()
        let wait = makeWait()
        await wait.open(with: keyring())
        for _ in 0..<1_000 { await wait.callerCame() }
        service.release()
        _ = try await answer(2)
        // A caller who comes now causes the third question, which waits for no other.
        service.fail(with: nil)
        await wait.callerCame()
        #expect(try await answer(3).get().take() != nil)
        // One question is from `makeStore`.
        #expect(service.questions == 1 + 3)
        #expect(answers.count == 3)
    }

    @Test func `while a program reads the database, the opener says so, and continues when it has ended`() async throws
    {
        try makeStore()
        let reader = try Reader(of: folder.path + "/accounts.sqlite")
        let wait = makeWait()
        await wait.open(with: keyring())
        let refusal = try await answer(1).refusal
        guard case .inUse(_, let holder) = refusal else { throw TestFault.timedOut(waitingFor: "a refusal") }
        #expect(!holder.isDaemon && refusal?.isAwaited(false) == true && refusal?.isLocked == false)
        // Nothing but the end of the reader brings another attempt.
        for _ in 0..<10 { await wait.callerCame() }
        reader.end()
        #expect(try await answer(2).get().take() != nil)
        #expect(answers.count == 2)
    }

    @Test func `another daemon is waited for only if systemd serves the socket`() async throws {
        let other = try keyring().openStore(at: folder.path + "/accounts.sqlite")
        let wait = makeWait()
        await wait.open(with: keyring())
        let refusal = try await answer(1).refusal
        guard case .inUse(_, let holder) = refusal else { throw TestFault.timedOut(waitingFor: "a refusal") }
        #expect(holder.isDaemon && refusal?.isAwaited(false) == false)
        await wait.callerCame()
        #expect(answers.count == 1)
        // Under systemd the callers of this machine are told who has it, until it is free.
        let second = makeWait(hasPassedSocket: true)
        await second.open(with: keyring())
        #expect(try await answer(2).refusal?.isAwaited(true) == true)
        await second.callerCame()
        try other.close()
        #expect(try await answer(3).get().take() != nil)
        #expect(answers.count == 3)
    }

    @Test func `a store that the last daemon had is waited for`() async throws {
        let memory = StoreMemory(folder: folder.path + "/run")
        let path = folder.path + "/accounts.sqlite"
        try keyring().openStore(at: path, rememberedIn: memory).close()
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        let wait = makeWait(memory)
        await wait.open(with: keyring())
        let refusal = try await answer(1).refusal
        guard case .missing(path, _) = refusal else { throw TestFault.timedOut(waitingFor: "a refusal") }
        #expect(refusal?.isAwaited(false) == true)
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        await wait.callerCame()
        // The beginning of the watch on mounts caused an attempt, and that one may have found the store.
        var number = 2
        while try await answer(number).refusal != nil { number += 1 }
        #expect(try await answer(number).get().take() != nil)
    }

    @Test func `an end during an attempt is handled, and the attempt's answer is dropped`() async throws {
        service.hold()
        let wait = makeWait()
        await wait.open(with: keyring())
        await wait.end()
        service.release()
        await wait.callerCame()
        // Waits for the question, which uses the same thread for blocking work.
        _ = await BlockingCall.result {}
        await wait.callerCame()
        #expect(answers.count == 0)
    }

    @Test func `a refusal is not final if a keyring is configured meanwhile`() async throws {
        try makeStore()
        service.fail(with: .secretServiceUnavailable(reason: "no bus"))
        service.hold()
        let wait = makeWait()
        await wait.open(with: keyring(isUsed: false))
        await wait.open(with: keyring())
        service.release()
        #expect(try await answer(1).refusal == .key(.secretServiceUnavailable(reason: "no bus")))
    }

    @Test func `if the keyring is no longer configured, the file decides`() async throws {
        try makeStore()
        service.fail(with: .secretServiceUnavailable(reason: "no bus"))
        let wait = makeWait()
        await wait.open(with: keyring())
        #expect(try await answer(1).refusal == .key(.secretServiceUnavailable(reason: "no bus")))
        await wait.open(with: keyring(isUsed: false))
        let missing = StoreKeyError.keyMissing(path: folder.path + "/store-key")
        #expect(try await answer(2).refusal == .key(missing))
        #expect(!missing.isAwaited)
        // That error was final.
        await wait.callerCame()
        #expect(answers.count == 2)
    }
}

extension StoreOpener.Answer {
    fileprivate var refusal: StoreError? {
        switch self {
        case .success: nil
        case .failure(let error): error
        }
    }
}

extension EventLog {
    /// The element with this number, counted from 1. Waits for it.
    fileprivate func nth(_ number: Int) async throws -> Element {
        for earlier in 1..<number { try await first("answer \(earlier)", from: earlier - 1) { _ in true } }
        return try await first("answer \(number)", from: number - 1) { _ in true }
    }
}

/// A program that reads a database: it has the lock that SQLite has meanwhile.
///
/// The lock belongs to an open file and not to this process (fcntl(2), "Open file description locks"), so it excludes the
/// opener of the same process.
private final class Reader {
    private let descriptor: Int32

    init(of path: String) throws {
        descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        var lock = flock()
        lock.l_type = Int16(F_RDLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0x4000_0002
        lock.l_len = 510
        // The C library declares F_OFD_SETLK for _GNU_SOURCE only.
        guard descriptor >= 0, unsafe fcntl(descriptor, 37, &lock) == 0 else {
            throw TestFault.system("lock \(path)", errno: errno)
        }
    }

    func end() {
        var lock = flock()
        lock.l_type = Int16(F_UNLCK)
        lock.l_whence = Int16(SEEK_SET)
        _ = unsafe fcntl(descriptor, 37, &lock)
    }
    // It stays open: closing it would release the lock of the store that is opened next.
}

/// The items of one store in a Secret Service that fails, or is slow, as a test says.
private final class StubbornKeyring: Sendable {
    private struct State {
        var items: [Secret] = []
        var trouble: StoreKeyError?
        var isHeld = false
        var questions = 0
    }

    private let state = Mutex(State())
    private let released = DispatchSemaphore(value: 0)

    /// How often it was asked for its keys.
    var questions: Int { state.withLock { $0.questions } }

    func fail(with trouble: StoreKeyError?) {
        state.withLock { $0.trouble = trouble }
    }

    func keep(_ key: Secret) {
        state.withLock { $0.items = [key] }
    }

    func takeAway() -> Secret? {
        state.withLock { $0.items.popLast() }
    }

    /// Makes the next question wait for `release`.
    func hold() {
        state.withLock { $0.isHeld = true }
    }

    func release() {
        state.withLock { $0.isHeld = false }
        released.signal()
    }

    func load() throws(StoreKeyError) -> [Secret] {
        let isHeld = state.withLock { state in
            state.questions += 1
            return state.isHeld
        }
        if isHeld { released.wait() }
        let (items, trouble) = state.withLock { ($0.items, $0.trouble) }
        if let trouble { throw trouble }
        return items
    }
}
