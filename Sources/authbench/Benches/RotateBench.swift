internal import AuthRefreshInterface
internal import Foundation
internal import Glibc
internal import TestSupport
internal import TextEncodings

/// Measures one forced refresh with rotation, from request to answer, alternating with one exchange and two fsyncs.
extension Workshop {
    nonisolated func rotate() async throws -> [Figure] {
        let issuer = try await LocalIssuer(in: self.folder, tokenLifetime: .seconds(3600))
        let stage = try DaemonStage()
        try stage.configure(issuer.configuration(concurrency: 8))
        let daemon = try await stage.start()
        // One account per round, because the daemon refreshes none more often than once a second after its first
        // refresh.
        for round in 0...effort.rotations {
            try await stage.add("work\(round)", issuer: issuer.url, refreshToken: try await issuer.grant())
            try await stage.acquire("work\(round)")
        }
        try await Task.sleep(for: .seconds(1))
        let client = BareClient(for: issuer)
        var floorToken = try await issuer.grant()
        let log = try SyncedFile(at: stage.folder.path + "/floor")

        var (ours, floor): ([Double], [Double]) = ([], [])
        // The first round of each loads what the later ones have.
        for round in 0...effort.rotations {
            let from = ContinuousClock.now
            let answer = try await client.refresh(floorToken)
            try log.append()
            try log.append()
            let between = ContinuousClock.now
            floorToken = try Self.refreshToken(in: Data(answer))
            let took = try await Self.forcedRefresh(of: "work\(round)", stage.socket)
            guard round > 0 else { continue }
            ours.append(took / .milliseconds(1))
            floor.append((between - from) / .milliseconds(1))
        }
        try await daemon.terminate()
        await issuer.shutdown()
        return [
            Figure(
                name: "rotate/latency",
                value: ours.median,
                unit: .milliseconds,
                floor: floor.median,
                limit: .timesFloor(atMost: 2)
            )
        ]
    }

    /// The time from connecting to the answer, for a caller that waits on its own thread, like authctl.
    private static func forcedRefresh(of account: String, _ socket: String) async throws -> Duration {
        try await onOwnThread {
            let start = ContinuousClock.now
            var connection = try VarlinkConnection(path: socket)
            let reply = try connection.call(
                Method.acquireToken.rawValue,
                parameters: #"{"account":"\#(account)","force":true}"#,
                timeoutMilliseconds: 10_000
            )
            let took = ContinuousClock.now - start
            guard reply.error == nil else { throw BenchError.failedToServe(reply.parameters.text) }
            return took
        }
    }

    private static func refreshToken(in answer: Data) throws -> String {
        let fields = try JSONSerialization.jsonObject(with: answer) as? [String: Any]
        guard let token = fields?["refresh_token"] as? String else {
            throw BenchError.failedToServe("the issuer rotates no refresh token")
        }
        return token
    }
}

/// A file that is synced after each write, like a database's log.
private struct SyncedFile: ~Copyable {
    private let descriptor: Int32

    init(at path: String) throws {
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BenchError.failed("open \(path)") }
    }

    deinit { close(descriptor) }

    /// Writes a page and syncs it.
    func append() throws {
        let page = [UInt8](repeating: 0x55, count: 4096)
        guard unsafe write(descriptor, page, page.count) == page.count, fsync(descriptor) == 0 else {
            throw BenchError.failed("fsync")
        }
    }
}
