internal import AuthRefreshInterface
internal import TestSupport
internal import TextEncodings

/// The calls to the store's daemon.
extension FilledStore {
    /// `AcquireToken` as authctl sends it, without the seven digits of the account's name.
    static var requestParts: (head: String, tail: String) {
        ("{\"method\":\"\(Method.acquireToken.rawValue)\",\"parameters\":{\"account\":\"account", "\"}}")
    }

    static func request(_ number: Int) -> String {
        let parts = requestParts
        return parts.head + name(number).dropFirst("account".count) + parts.tail
    }

    /// The running daemon's reply for the first account: the whole message without its NUL.
    func reply() async throws -> String {
        let reply = try await onOwnThread { [stage] in
            var connection = try VarlinkConnection(path: stage.socket)
            let parameters = "{\"account\":\"\(Self.name(0))\"}"
            return try connection.call(
                Method.acquireToken.rawValue,
                parameters: parameters,
                timeoutMilliseconds: 10_000
            )
        }
        guard reply.error == nil else { throw BenchError.failedToServe(reply.parameters.text) }
        return "{\"parameters\":\(reply.parameters.text)}"
    }
}
