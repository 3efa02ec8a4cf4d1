package import AuthRefreshInterface
import Foundation
import TextEncodings

/// A subscriber of the daemon that reads as fast as it can.
package final class ChangeFeed: Sendable {
    package let changes = EventLog<Subscribe.Reply>()

    /// Subscribes. Returns when the present state has arrived.
    package init(_ stage: DaemonStage, accounts: [String]? = nil) async throws {
        let json = String(decoding: try JSONEncoder().encode(Subscribe.Parameters(accounts: accounts)), as: UTF8.self)
        startThread { [changes, socket = stage.socket] in
            Self.read(from: socket, json, into: changes)
            changes.end()
        }
        try await changes.first("ready") { $0.event == "ready" }
    }

    /// The changes: what came after "ready".
    package var afterReady: [Subscribe.Reply] {
        Array(changes.all.drop { $0.event != "ready" }.dropFirst())
    }

    /// Waits for a change of `account`.
    @discardableResult package func next(
        _ event: String,
        of account: String,
        from index: Int = 0,
        within limit: Duration = .patience
    ) async throws -> Subscribe.Reply {
        try await changes.first("\(event) of \(account)", from: index, within: limit) {
            $0.event == event && $0.account == account
        }
    }

    private static func read(from socket: String, _ parameters: String, into log: EventLog<Subscribe.Reply>) {
        guard var connection = try? VarlinkConnection(path: socket) else { return }
        try? connection.callMore(Method.subscribe.rawValue, parameters: parameters) { reply in
            guard reply.error == nil,
                let change = try? JSONDecoder().decode(Subscribe.Reply.self, from: Data(reply.parameters.text.utf8))
            else { return false }
            log.append(change)
            return true
        }
    }
}
