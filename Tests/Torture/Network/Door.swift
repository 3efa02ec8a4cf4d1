internal import NIOCore
internal import NIOSSL
internal import Synchronization
internal import TestSupport

/// The way in which a server accepts connections.
enum Reception: Sendable, Equatable {
    /// With TLS, a valid certificate, and HTTP/1.1.
    case open
    case certificate(CertificateFault)
    /// The connection is accepted, and nothing is ever sent on it.
    case silent
    /// The connection is accepted and reset.
    case slammed
}

enum CertificateFault: Sendable, CaseIterable {
    case expired
    case notYetValid
    case wrongName
    case unknownAuthority
}

/// The certificates of all doors, made once.
struct Certificates: Sendable {
    /// The PEM file that clients must trust.
    let caFile: String
    fileprivate let good: NIOSSLContext
    fileprivate let faulty: [CertificateFault: NIOSSLContext]
    private let authorities: [TestAuthority]

    /// - Parameter names: the names of the servers, as in a certificate: `DNS:*.example.test`.
    /// - Throws: `TestAuthority.CommandFailed`.
    init(for names: String) throws {
        let (authority, stranger) = (try TestAuthority(), try TestAuthority())
        caFile = authority.caFile
        good = try authority.server(for: names)
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

/// Stands before a server and accepts connections in the way that a test wants.
final class Door: Sendable {
    private let certificates: Certificates
    private let current = Mutex(Reception.open)

    init(_ certificates: Certificates) {
        self.certificates = certificates
    }

    /// Sets how later connections are accepted.
    func set(_ reception: Reception) {
        current.withLock { $0 = reception }
    }

    /// Prepares a connection, on its event loop.
    ///
    /// - Throws: `Slammed`, so that the server closes it; the errors of NIOSSL.
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
        }
    }

    private struct Slammed: Error {}
}

/// Reads everything and passes nothing on.
private final class Silence: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}
