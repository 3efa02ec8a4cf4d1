internal import AuthRefreshInterface
internal import DemoIssuer
internal import Foundation
internal import TestSupport

/// A daemon that gets no more memory while many callers need some. It may end and be restarted, as its unit says, but
/// no token may be lost.
enum MemoryTrial {
    private static let accounts = 8
    /// The number of callers. Each sends a megabyte, the most that is allowed.
    private static let callers = 120
    /// The memory that the daemon may still allocate. It is less than the callers send.
    private static let room = 24 << 20

    /// - Returns: what went wrong, and whether the daemon has ended.
    static func run() async throws -> (surprises: [String], hasEnded: Bool) {
        var outcome = (surprises: [String](), hasEnded: false)
        try await withIssuer(policy: GrantPolicy(gracePeriod: .seconds(3600))) { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start(environment: ["SWIFT_BACKTRACE": "enable=no"])
            for number in 0..<accounts {
                try await stage.add("a\(number)", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            }
            try await starve(daemon.pid)
            let callers = try await crowd(stage.socket)
            for number in 0..<accounts { _ = try? await stage.acquire("a\(number)", force: true) }
            outcome.hasEnded = (try? await daemon.ended(within: .milliseconds(200))) != nil
            if !outcome.hasEnded { try await daemon.kill() }
            callers.forEach { $0.finish() }

            let next = try await stage.start()
            for number in 0..<accounts {
                try await stage.acquire("a\(number)", force: true)
                let state = try await stage.status("a\(number)").state
                if state != "fresh" { outcome.surprises.append("a\(number) is \(state)") }
            }
            let uses = await issuer.counters.spentTokenUses
            if uses > 0 { outcome.surprises.append("\(uses) spent tokens sent") }
            try await next.terminate()
        }
        return outcome
    }

    /// Limits the address space of a process to its present size and `room`.
    private static func starve(_ pid: Int32) async throws {
        let status = try String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8)
        let pages = Int(status.split(separator: " ").first ?? "") ?? 0
        _ = try await SecretsStage.output("prlimit --pid \(pid) --as=\(pages * 4096 + room)")
    }

    private static func crowd(_ socket: String) async throws -> [RawConnection] {
        try await onOwnThread {
            let callers = try RawConnection.open(callers, to: socket)
            let call =
                #"{"method":"io.authrefresh.GetInfo","parameters":{"x":""# + String(repeating: "x", count: 1_000_000)
            // Data that the daemon no longer reads is lost, and the daemon may end.
            for caller in callers { try? caller.send(call) }
            return callers
        }
    }
}
