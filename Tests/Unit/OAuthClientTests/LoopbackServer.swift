import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A server on 127.0.0.1 that answers each request as a test says, including resets and truncated answers.
final class LoopbackServer: Sendable {
    /// A request as it arrived.
    struct Request: Sendable {
        let head: String
        let body: String

        /// Method and target: `POST /token`.
        var line: String { head.split(separator: " ").prefix(2).joined(separator: " ") }

        func header(_ name: String) -> String? {
            for line in head.split(separator: "\r\n").dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2, parts[0].lowercased() == name {
                    return String(parts[1].drop { $0 == " " })
                }
            }
            return nil
        }
    }

    /// A reaction to a request.
    enum Step: Sendable {
        case send(String)
        /// Sends bytes that are no text.
        case sendBytes([UInt8])
        /// Sends the text when the test says so.
        case sendAfter(EventLoopFuture<Void>, String)
        /// Sends the text again and again, until the client closes or `limit` bytes are written.
        case flood(String, limit: Int)
        /// Sends one byte of the text every few milliseconds.
        case drip(String)
        case close
        /// Closes the connection without the end that TLS prescribes (RFC 8446 §6.1), as Python's servers do.
        case cut
        case reset
        /// The same, once the client has read everything.
        case resetAfterReading
        /// Answers a CONNECT and continues as a TLS server.
        case openTunnel(NIOSSLContext)
    }

    typealias Script = @Sendable (_ request: Request, _ index: Int) -> [Step]

    let port: Int
    private let channel: any Channel
    private let log: RequestLog

    private init(channel: any Channel, port: Int, log: RequestLog) {
        self.channel = channel
        self.port = port
        self.log = log
    }

    /// All complete requests so far, in order.
    var requests: [Request] { log.requests.withLock { $0 } }
    /// The number of bytes that floods have written so far.
    var floodedBytes: Int { log.flooded.load(ordering: .sequentiallyConsistent) }
    /// The number of connections so far.
    var connections: Int { log.connections.load(ordering: .sequentiallyConsistent) }
    var origin: String { "http://127.0.0.1:\(port)" }

    /// Listens on a free port: with `tls` as a TLS server; with `refusesConnections` it closes each connection at once.
    static func start(
        tls: NIOSSLContext? = nil,
        refusesConnections: Bool = false,
        script: @escaping Script
    ) async throws -> LoopbackServer {
        let log = RequestLog()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { child in
                child.eventLoop.makeCompletedFuture {
                    log.connections.add(1, ordering: .sequentiallyConsistent)
                    if refusesConnections { return child.close(promise: nil) }
                    if let tls { try child.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try child.pipeline.syncOperations.addHandler(RequestReader(script: script, log: log))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return LoopbackServer(channel: channel, port: channel.localAddress?.port ?? 0, log: log)
    }

    func stop() async throws {
        try await channel.close()
    }

    /// A complete answer with its length.
    static func answer(_ status: Int, _ headers: [String: String] = [:], _ body: String = "") -> Step {
        var text = "HTTP/1.1 \(status) Status\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if status != 204, status != 304 { text += "content-length: \(body.utf8.count)\r\n" }
        return .send(text + "\r\n" + body)
    }

    static func json(_ status: Int, _ body: String) -> Step {
        answer(status, ["content-type": "application/json"], body)
    }
}

/// The data that all connections of a server share.
private final class RequestLog: Sendable {
    let requests = Mutex<[LoopbackServer.Request]>([])
    let flooded = Atomic(0)
    let connections = Atomic(0)

    func append(_ request: LoopbackServer.Request) -> Int {
        requests.withLock {
            $0.append(request)
            return $0.count - 1
        }
    }
}

private final class RequestReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let script: LoopbackServer.Script
    private let log: RequestLog
    private var received = ""

    init(script: @escaping LoopbackServer.Script, log: RequestLog) {
        self.script = script
        self.log = log
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        while let request = takeRequest() {
            let index = log.append(request)
            for step in script(request, index) { perform(step, context) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func takeRequest() -> LoopbackServer.Request? {
        guard let end = received.range(of: "\r\n\r\n") else { return nil }
        let head = String(received[..<end.lowerBound])
        let length = LoopbackServer.Request(head: head, body: "").header("content-length").flatMap { Int($0) } ?? 0
        let rest = received[end.upperBound...]
        guard rest.utf8.count >= length else { return nil }
        received = String(decoding: rest.utf8.dropFirst(length), as: UTF8.self)
        return LoopbackServer.Request(head: head, body: String(decoding: rest.utf8.prefix(length), as: UTF8.self))
    }

    private func perform(_ step: LoopbackServer.Step, _ context: ChannelHandlerContext) {
        switch step {
        case .send(let text):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        case .sendBytes(let bytes):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        case .sendAfter(let gate, let text):
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            let reader = NIOLoopBound(self, eventLoop: context.eventLoop)
            gate.hop(to: context.eventLoop).whenSuccess { reader.value.perform(.send(text), bound.value) }
        case .flood(let text, let limit):
            flood(ByteBuffer(string: text), limit: limit, context)
        case .drip(let text):
            drip(ByteBuffer(string: text), context)
        case .close:
            context.close(promise: nil)
        case .cut:
            let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
            tls?.close(promise: nil)
        case .reset:
            // With lingering off, closing sends RST.
            let provider = context.channel as? any SocketOptionProvider
            _ = provider?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            context.close(promise: nil)
        case .resetAfterReading:
            // The answer must leave the kernel first: a reset throws away what the client has not read.
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            let reader = NIOLoopBound(self, eventLoop: context.eventLoop)
            context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(300)) {
                reader.value.perform(.reset, bound.value)
            }
        case .openTunnel(let tls):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n")), promise: nil)
            let handler = NIOSSLServerHandler(context: tls)
            try? context.pipeline.syncOperations.addHandler(handler, position: .first)
        }
    }

    private func flood(_ part: ByteBuffer, limit: Int, _ context: ChannelHandlerContext) {
        guard log.flooded.load(ordering: .sequentiallyConsistent) < limit else { return }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        let reader = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(part)).whenSuccess {
            reader.value.log.flooded.add(part.readableBytes, ordering: .sequentiallyConsistent)
            // A write that completes at once would else call itself again and again, until no stack is left.
            bound.value.eventLoop.execute { reader.value.flood(part, limit: limit, bound.value) }
        }
    }

    private func drip(_ rest: ByteBuffer, _ context: ChannelHandlerContext) {
        var rest = rest
        guard context.channel.isActive, let byte = rest.readSlice(length: 1) else { return }
        context.writeAndFlush(wrapOutboundOut(byte), promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        let reader = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(5)) { [rest] in
            reader.value.drip(rest, bound.value)
        }
    }
}
