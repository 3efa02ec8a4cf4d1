internal import AuthRefreshInterface
internal import Dispatch
internal import Foundation
internal import StrictJSON
internal import VarlinkClient

/// Why a subscription ended.
enum FeedEnd: Error, Equatable, Sendable {
    case connection(VarlinkClientError)
    /// The daemon replied with an error.
    case refused(name: String)
    case unreadableReply
    /// The daemon said that there are no more changes.
    case completed
}

/// Follows the daemon's `Subscribe` on a separate thread until the connection ends.
enum ChangeFeed {
    /// Whether somebody listens on the socket.
    static func isListening(_ socket: String) -> Bool {
        (try? VarlinkConnection(path: socket)) != nil
    }

    static func start(
        socket: String,
        onChange: @escaping @Sendable (Subscribe.Reply) -> Void,
        whenEnded: @escaping @Sendable (FeedEnd) -> Void
    ) {
        DispatchQueue(label: "authdemo.changes").async {
            do throws(VarlinkClientError) {
                whenEnded(try follow(socket, onChange))
            } catch {
                whenEnded(.connection(error))
            }
        }
    }

    private static func follow(
        _ socket: String,
        _ onChange: (Subscribe.Reply) -> Void
    ) throws(VarlinkClientError) -> FeedEnd {
        var connection = try VarlinkConnection(path: socket)
        var end = FeedEnd.completed
        try connection.callMore(Method.subscribe.rawValue) { reply in
            if let name = reply.error {
                end = .refused(name: name)
                return false
            }
            guard let change = try? JSONDecoder().decode(Subscribe.Reply.self, from: Data(reply.parameters.bytes))
            else {
                end = .unreadableReply
                return false
            }
            onChange(change)
            return true
        }
        return end
    }
}
