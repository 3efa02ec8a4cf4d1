internal import AuthRefreshInterface
internal import Synchronization
internal import TestSupport
internal import TextEncodings

/// The last change of each account, according to a subscription.
final class LastChanges: Sendable {
    struct Change: Sendable {
        var event: String
        /// µs since 1970 by the daemon's wall clock; nil if no attempt is planned.
        var nextAttemptAt: Int64?
    }

    private let changes = Mutex<[String: Change]>([:])

    /// Subscribes on a thread of its own, until the daemon ends.
    init(_ stage: DaemonStage) {
        Task { [self, socket = stage.socket] in try? await onOwnThread { try self.follow(socket) } }
    }

    subscript(account: String) -> Change? { changes.withLock { $0[account] } }

    private func follow(_ socket: String) throws {
        var connection = try VarlinkConnection(path: socket)
        try connection.callMore(Method.subscribe.rawValue) { reply in
            guard let event = reply.parameters["event"]?.string else { return false }
            for status in reply.parameters["accounts"]?.elements ?? [] {
                guard let account = status["account"]?.string else { continue }
                let change = Change(event: event, nextAttemptAt: status["nextAttemptAtUSec"]?.integer)
                changes.withLock { $0[account] = change }
            }
            return true
        }
    }
}
