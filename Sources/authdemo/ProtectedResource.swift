internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Calls the demo issuer's protected resource (RFC 6750) like an application.
enum ProtectedResource {
    private typealias HTTPChannel = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    /// The status of the answer for this access token; nil if there is no answer.
    static func status(port: Int, accessToken: String) async -> Int? {
        try? await ask(port: port, accessToken: accessToken)
    }

    private static func ask(port: Int, accessToken: String) async throws -> Int? {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    return try HTTPChannel(wrappingChannelSynchronously: channel)
                }
            }
        let headers: HTTPHeaders = [
            "Host": "127.0.0.1:\(port)", "Authorization": "Bearer \(accessToken)", "Connection": "close",
        ]
        return try await channel.executeThenClose { inbound, outbound in
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/userinfo", headers: headers)
            try await outbound.write(contentsOf: [.head(head), .end(nil)])
            for try await part in inbound {
                if case .head(let answer) = part { return Int(answer.status.code) }
            }
            return nil
        }
    }
}
