internal import Foundation
internal import NIOCore
internal import Synchronization

/// Records the requests to a server, and extracts the secrets from them.
final class Wiretap: Sendable {
    /// Form fields whose values are secrets, either always or until they are used.
    private static let fields = [
        "refresh_token", "code", "code_verifier", "client_secret", "client_assertion", "assertion", "device_code",
        "subject_token", "token", "request_uri",
    ]

    private let heard = Mutex<[UInt8]>([])

    /// Begins to record a connection. Call it on the connection's event loop, before HTTP is set up.
    func attach(to channel: any Channel) throws {
        try channel.pipeline.syncOperations.addHandler(Ear(self))
    }

    /// All recorded secrets, each once.
    var secrets: Set<String> {
        let text = heard.withLock { String(decoding: $0, as: UTF8.self) }
        var secrets: Set<String> = []
        // Fields of forms and queries, and header values. Nothing else in a request has this form.
        for word in text.split(whereSeparator: { "& ?\r\n".contains($0) }) {
            guard let equals = word.firstIndex(of: "="), Self.fields.contains(String(word[..<equals])) else { continue }
            let value = String(word[word.index(after: equals)...])
            secrets.insert(value)
            secrets.insert(value.removingPercentEncoding ?? value)
        }
        for basic in text.split(separator: "\r\n").compactMap(Self.credentials) { secrets.formUnion(basic) }
        return secrets
    }

    /// The secret in an `Authorization: Basic` header (RFC 7617), encoded and decoded.
    private static func credentials(in line: Substring) -> [String]? {
        guard line.lowercased().hasPrefix("authorization: basic "), let sent = line.split(separator: " ").last,
            let pair = Data(base64Encoded: String(sent)).map({ String(decoding: $0, as: UTF8.self) })
        else { return nil }
        return [String(sent), pair.split(separator: ":", maxSplits: 1).last.map(String.init) ?? pair]
    }

    private final class Ear: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer

        private let wiretap: Wiretap

        init(_ wiretap: Wiretap) {
            self.wiretap = wiretap
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data).readableBytesView
            wiretap.heard.withLock { $0 += bytes }
            context.fireChannelRead(data)
        }
    }
}
