internal import AuthRefreshInterface
internal import Dispatch
internal import Foundation
internal import TextEncodings

/// Follows the daemon's `Subscribe` on a separate thread until the connection ends.
enum ChangeFeed {
    /// Whether somebody listens on the socket.
    static func isListening(_ socket: String) -> Bool {
        (try? VarlinkConnection(path: socket)) != nil
    }

    /// - Parameter whenEnded: gets why the subscription ended, in lower case.
    static func start(
        socket: String,
        onChange: @escaping @Sendable (Subscribe.Reply) -> Void,
        whenEnded: @escaping @Sendable (String) -> Void
    ) {
        DispatchQueue(label: "authdemo.changes").async {
            do throws(VarlinkClientError) {
                whenEnded(try follow(socket, onChange))
            } catch {
                whenEnded("the connection was lost")
            }
        }
    }

    private static func follow(
        _ socket: String,
        _ onChange: (Subscribe.Reply) -> Void
    ) throws(VarlinkClientError) -> String {
        var connection = try VarlinkConnection(path: socket)
        var end = "authrefreshd sends no more changes"
        try connection.callMore(Method.subscribe.rawValue) { reply in
            if let name = reply.error {
                end = "authrefreshd answered with the error '\(name)'"
                return false
            }
            guard let change = try? JSONDecoder().decode(Subscribe.Reply.self, from: Data(reply.parameters.bytes))
            else {
                end = "the answer cannot be read"
                return false
            }
            onChange(change)
            return true
        }
        return end
    }
}
