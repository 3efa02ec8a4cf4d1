import AuthRefreshInterface
import Foundation
import Glibc
import TestSupport
import Testing

/// A daemon whose key is in a keyring that is not available.
struct LockedStoreTests {
    private let stage: DaemonStage

    init() throws {
        stage = try DaemonStage()
        try stage.configure("store_key: secret-service\n")
    }

    /// An environment without a session bus.
    private var noBus: [String: String] {
        ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(stage.folder.path)/nobody"]
    }

    private func expectLocked(_ says: String) async throws {
        let answer = try await stage.authctl("status")
        #expect(answer.end == .exited(75))
        #expect(answer.errors.contains(says), "\(answer.errors)")
    }

    @Test(arguments: [15, 2] as [Int32])
    func `a signal to end is handled while the bus is silent`(signal: Int32) async throws {
        let bus = try SilentBus(at: stage.folder.path + "/bus")
        let daemon = try stage.spawn(environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(bus.path)"])
        try bus.waitForCaller()
        daemon.signal(signal)
        #expect(try await daemon.ended() == .exited(0))
        // A daemon that had waited for an answer of the bus would have reported that none came.
        #expect(!daemon.logText.contains("locked"), "\(daemon.logText)")
        try await stage.notify.messages.first("its last word") { $0.contains("STOPPING=1") }
        #expect(!stage.notify.messages.all.contains { $0.contains("READY=1") })
    }

    @Test func `without a bus the daemon serves, reports that, and shuts down cleanly`() async throws {
        let daemon = try await stage.start(environment: noBus)
        try await expectLocked("there is no session bus")
        #expect(stage.notify.status?.hasPrefix("locked: ") == true)
        try await daemon.log.first("the news") { $0.contains("the store's key is locked, waiting for it") }
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `SIGHUP applies another place for the key, and the store opens`() async throws {
        let daemon = try await stage.start(environment: noBus)
        try stage.configure("store_key: file\nlog_level: nonsense\n")
        daemon.signal(SIGHUP)
        try await daemon.log.first("the refusal") { $0.contains("the new configuration is invalid") }
        try await stage.notify.messages.first("the status") { $0.contains("STATUS=the new configuration is invalid") }
        try await expectLocked("there is no session bus")

        try stage.configure("store_key: file\nmax_accounts: 1\n")
        daemon.signal(SIGHUP)
        try await daemon.log.first("the start") { $0.contains("authrefreshd has started") }
        #expect(FileManager.default.fileExists(atPath: stage.key))
        // The rest of that configuration is in force, too.
        try await stage.add("one", issuer: "https://login.example.com")
        await #expect(throws: TestFault.self) { try await stage.add("two", issuer: "https://login.example.com") }
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `the daemon waits for a store's key until the configuration asks for a file`() async throws {
        try stage.configure("store_key: file\n")
        try await stage.start().terminate()
        let away = stage.key + ".away"
        try FileManager.default.moveItem(atPath: stage.key, toPath: away)
        try stage.configure("store_key: secret-service\n")
        let daemon = try await stage.start(environment: noBus)
        try await expectLocked("there is no session bus")
        // Any call makes the daemon look for the key again.
        try FileManager.default.moveItem(atPath: away, toPath: stage.key)
        daemon.signal(SIGHUP)
        try await daemon.log.first("the start") { $0.contains("authrefreshd has started") }
        #expect(try await daemon.terminate() == .exited(0))

        try FileManager.default.moveItem(atPath: stage.key, toPath: away)
        let second = try await stage.start(environment: noBus)
        try stage.configure("store_key: file\n")
        second.signal(SIGHUP)
        #expect(try await second.ended() == .exited(77))
        #expect(second.logText.contains("the store's key '\(stage.key)' is missing"), "\(second.logText)")
    }
}

/// A socket in place of a session bus that never answers.
private final class SilentBus: Sendable {
    let path: String
    private let descriptor: Int32

    init(at path: String) throws {
        self.path = path
        descriptor = try UnixSocket.bound(to: path, SOCK_STREAM)
        guard listen(descriptor, 8) == 0 else { throw TestFault.system("listen at \(path)", errno: errno) }
    }

    deinit { close(descriptor) }

    /// Waits until somebody has connected, and does not answer.
    func waitForCaller() throws {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe Glibc.poll(&poll, 1, 120_000) == 1 else { throw TestFault.timedOut(waitingFor: "the daemon") }
    }
}
