import AuthRefreshInterface
import DemoIssuer
import Foundation
import Glibc
import TestSupport
import Testing

/// A daemon whose file descriptors are used up.
struct DescriptorTests {
    @Test func `without descriptors callers wait, connected ones are served, and no token is lost`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage(hasOwnClock: true)
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url, grant: issuer.issueGrant(clientID: "app"))
            let token = try await stage.acquire("work")
            let standing = try await onOwnThread { [socket = stage.socket] in
                let standing = try RawConnection(socket)
                try standing.send(#"{"method":"io.authrefresh.GetInfo"}"# + "\0")
                _ = try standing.receive()
                return standing
            }
            // Seven numbers above those in use are allowed, and the gaps below. That is fewer than the crowd needs, and
            // without the crowd enough for a caller and an exchange with the issuer: libcurl's pair of wake-up sockets
            // and a connection.
            let highest = try descriptors(of: daemon.pid).max() ?? 0
            try await limitDescriptors(of: daemon.pid, to: highest + 8)

            var crowd: [RawConnection]? = try await onOwnThread { [socket = stage.socket] in
                try RawConnection.open(64, to: socket)
            }
            try await daemon.log.first("the shortage") { $0.contains("no file descriptor is left for callers") }
            let answers = try await onOwnThread {
                try standing.send(#"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"work"}}"# + "\0")
                let served = try standing.receive()
                // This call may need a connection to the issuer, which cannot be opened.
                try standing.send(#"{"method":"io.authrefresh.Refresh","parameters":{"account":"work"}}"# + "\0")
                return [served, try standing.receive()]
            }
            #expect(answers[0].contains(token.accessToken))
            #expect(
                answers[1].contains(#""state":"fresh""#) || answers[1].contains(#""state":"retrying""#),
                "\(answers[1])"
            )
            crowd = nil
            #expect(try await stage.info().accounts == 1)
            _ = crowd
            #expect(daemon.log.all.filter { $0.contains("no file descriptor is left") }.count == 1)
            // A refresh that found no descriptor is followed by a pause (`BackOffRule.callerInterval`).
            try await stage.pass(.seconds(3))
            try await stage.acquire("work", force: true)
            #expect(try await stage.status("work").state == "fresh")
            #expect(await issuer.counters.spentTokenUses == 0)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `no socket of the daemon takes the number of a closed standard descriptor`() async throws {
        let stage = try DaemonStage()
        let command = "exec '\(Program.products)/authrefreshd' <&- >&- 2>&-"
        let daemon = try Program("/bin/sh", ["-c", command], environment: stage.environment)
        defer { if daemon.isRunning { daemon.signal(SIGKILL) } }
        try await stage.notify.messages.first("READY=1") { $0.contains("READY=1") }
        for number in 0...2 {
            let place = "/proc/\(daemon.pid)/fd/\(number)"
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: place) == "/dev/null")
        }
        daemon.signal(SIGTERM)
        #expect(try await daemon.ended() == .exited(0))
    }
}

/// The numbers of a process's open descriptors.
private func descriptors(of pid: pid_t) throws -> [Int] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").compactMap { Int($0) }
}

/// Forbids a process descriptors with the number `limit` or above.
private func limitDescriptors(of pid: pid_t, to limit: Int) async throws {
    let program = try Program("/usr/bin/prlimit", ["--pid", "\(pid)", "--nofile=\(limit)"], environment: [:])
    guard try await program.ended() == .exited(0) else {
        throw TestFault.failed(program: "prlimit", errors: program.errorText)
    }
}
