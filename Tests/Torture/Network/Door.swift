internal import NIOCore
internal import NIOSSL
internal import Synchronization
internal import TestSupport

/// How a server receives those who connect.
enum Reception: Sendable, Equatable {
    /// With TLS, a good certificate, and HTTP/1.1 behind it.
    case open
    case certificate(CertificateFault)
    /// The connection is taken, and nothing is ever said on it.
    case silent
    /// The connection is taken and reset.
    case slammed
    /// HTTP/2 is agreed on; at the request comes GOAWAY (RFC 9113 §6.8), and the end.
    ///
    /// - Parameter mayBeServed: whether the server says that the request may have been taken up.
    case goAway(mayBeServed: Bool)
}

enum CertificateFault: Sendable, CaseIterable {
    case expired
    case notYetValid
    case wrongName
    case unknownAuthority
}

/// The certificates of all doors, made once.
struct Certificates: Sendable {
    /// The PEM file that clients have to trust.
    let caFile: String
    fileprivate let good: NIOSSLContext
    fileprivate let faulty: [CertificateFault: NIOSSLContext]
    fileprivate let http2: NIOSSLContext
    private let authorities: [TestAuthority]

    /// - Parameter names: the names of the servers, as in a certificate: `DNS:*.example.test`.
    /// - Throws: `TestAuthority.CommandFailed`.
    init(for names: String) throws {
        let (authority, stranger) = (try TestAuthority(), try TestAuthority())
        caFile = authority.caFile
        good = try authority.server(for: names)
        http2 = try authority.server(for: names, protocols: ["h2"])
        faulty = [
            .expired: try authority.server(for: names, to: "20210101000000Z"),
            .notYetValid: try authority.server(for: names, from: "20980101000000Z"),
            .wrongName: try authority.server(for: "DNS:elsewhere.test"),
            .unknownAuthority: try stranger.server(for: names),
        ]
        authorities = [authority, stranger]
    }

    func remove() {
        for authority in authorities { try? authority.remove() }
    }
}

/// Stands before a server and receives those who connect, in the way that a test wants.
final class Door: Sendable {
    private let certificates: Certificates
    private let current = Mutex(Reception.open)

    init(_ certificates: Certificates) {
        self.certificates = certificates
    }

    /// How those are received who connect from now on.
    func set(_ reception: Reception) {
        current.withLock { $0 = reception }
    }

    /// Prepares one connection; on its event loop.
    ///
    /// - Throws: `Slammed`, for the server to close it; what NIOSSL has to say.
    func receive(_ channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        switch current.withLock({ $0 }) {
        case .open:
            try pipeline.addHandler(NIOSSLServerHandler(context: certificates.good))
        case .certificate(let fault):
            try pipeline.addHandler(NIOSSLServerHandler(context: certificates.faulty[fault] ?? certificates.good))
        case .silent:
            try pipeline.addHandler(Silence())
        case .slammed:
            throw Slammed()
        case .goAway(let mayBeServed):
            try pipeline.addHandler(NIOSSLServerHandler(context: certificates.http2))
            try pipeline.addHandler(GoAway(mayBeServed: mayBeServed))
        }
    }

    private struct Slammed: Error {}
}

/// Reads everything and passes nothing on.
private final class Silence: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}

/// The little of HTTP/2 (RFC 9113) that it takes to begin a connection and to end it at the first request.
private final class GoAway: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Frame {
        static let headers: UInt8 = 1
        static let settings: UInt8 = 4
        static let goAway: UInt8 = 7
        /// Length, type, flags, stream (§4.1).
        static let headSize = 9
    }

    /// What a client begins with (§3.4), before its first frame.
    private static let prefaceSize = 24

    private let mayBeServed: Bool
    private var received = ByteBuffer()
    private var isPrefaceRead = false

    init(mayBeServed: Bool) {
        self.mayBeServed = mayBeServed
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.writeImmutableBuffer(unwrapInboundIn(data))
        if !isPrefaceRead {
            guard received.readSlice(length: Self.prefaceSize) != nil else { return }
            isPrefaceRead = true
            // Our settings, which are the usual ones, and the acknowledgement of the client's (§6.5).
            send([0, 0, 0, Frame.settings, 0, 0, 0, 0, 0] + [0, 0, 0, Frame.settings, 1, 0, 0, 0, 0], context)
        }
        while let (type, stream) = readFrame() {
            guard type == Frame.headers else { continue }
            let last = mayBeServed ? stream : [0, 0, 0, 0]
            send([0, 0, 8, Frame.goAway, 0, 0, 0, 0, 0] + last + [0, 0, 0, 0], context)
            context.close(promise: nil)
            return
        }
    }

    private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    /// The next whole frame's type and the four bytes of its stream; nil if it is not there yet.
    private func readFrame() -> (type: UInt8, stream: [UInt8])? {
        guard let head = received.getBytes(at: received.readerIndex, length: Frame.headSize) else { return nil }
        let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
        guard received.readSlice(length: Frame.headSize + length) != nil else { return nil }
        return (head[3], Array(head[5...]))
    }
}
