internal import Foundation
internal import Glibc
internal import Synchronization
internal import TestSupport

/// A daemon that is killed while somebody waits for its answer.
extension IntegrationScene {
    /// Binds the daemon's socket as a service manager does.
    static func listener(at stage: DaemonStage) throws -> Int32 {
        try FileManager.default.createDirectory(
            atPath: NSString(string: stage.socket).deletingLastPathComponent,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let descriptor = try UnixSocket.bound(to: stage.socket, SOCK_STREAM)
        guard Glibc.listen(descriptor, 64) == 0 else { throw TestFault.system("listen", errno: errno) }
        return descriptor
    }

    /// Stops the daemon, and kills it as soon as `use` has connected to it or has ended. An activated daemon is started
    /// at once, another one after the use.
    func killDaemon(
        during use: @escaping @Sendable () async throws -> CommandOutcome
    ) async throws -> CommandOutcome {
        let daemon = try daemon
        try await daemon.freeze()
        let (before, ends) = (stage.connections, EventLog<Bool>())
        let using = Task {
            defer { ends.append(true) }
            return try await use()
        }
        do {
            try await wait("a caller") {
                // A loop that never waits would keep the use from beginning.
                try await Task.sleep(for: .milliseconds(5))
                return stage.connections > before || ends.count > 0
            }
        } catch {
            try await daemon.kill()
            throw error
        }
        try await daemon.kill()
        state.withLock { $0.logs += daemon.logText }
        if listener != nil { try await startDaemon() }
        let outcome = try await using.value
        if listener == nil { try await startDaemon() }
        return outcome
    }
}
