import BlockingWork
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import OAuthMessages
package import RefreshCore

/// How long a server's certificate is valid.
package struct ServerCertificate: Hashable, Sendable {
    package let notBefore: Timestamp
    package let notAfter: Timestamp
}

/// Why no TLS connection to a server could be made.
package enum CertificateProbeError: Error, Hashable, Sendable {
    /// Nobody answers at the port, or the name has no address.
    case unreachable
    case timedOut
    /// The handshake failed, but not because of the certificate.
    case handshake
    /// The configured CA file cannot be read, or holds no certificate.
    case authorityFile
    /// The configured CA file could not be read in time.
    case authorityFileHangs
    case expired(at: Timestamp)
    case notYetValid(until: Timestamp)
    /// The certificate is for another host.
    case wrongHost
    /// No trusted authority has signed the certificate.
    case untrusted
}

/// Opens a TLS connection as a refresh does, reads the certificate and closes the connection. Sends no request.
struct CertificateProbe: Sendable {
    let configuration: OAuthClientConfiguration

    /// The certificate of the server at `endpoint`, checked as for a refresh.
    func run(_ endpoint: Endpoint, caFile: String?) async throws(CertificateProbeError) -> ServerCertificate {
        var trusted: [NIOSSLCertificate] = []
        if let file = caFile ?? configuration.caFile {
            do throws(TransportFailure) {
                trusted = try await configuration.authorities.certificates(in: file)
            } catch {
                throw error.cause == .authorityFileHangs ? .authorityFileHangs : .authorityFile
            }
        }
        var tls = HTTPClients.tls(trusting: trusted)
        do {
            return try await certificate(of: endpoint, tls)
        } catch {
            guard TransportCause(error) == .certificate else { throw CertificateProbeError(error) }
            if error as? NIOSSLExtraError == .failedToValidateHostname { throw .wrongHost }
            // NIOSSL does not say what is wrong with a certificate. So the certificate is read over a second
            // connection, which accepts any certificate and transfers no data.
            tls.certificateVerification = .none
            let refused = try? await certificate(of: endpoint, tls)
            throw CertificateProbeError(refused, at: configuration.now())
        }
    }

    private func certificate(of endpoint: Endpoint, _ tls: TLSConfiguration) async throws -> ServerCertificate {
        let context = try NIOSSLContext(configuration: tls)
        let limit = TimeAmount(configuration.connectTimeout)
        let eventLoop = configuration.eventLoopGroup.any()
        // The promise is made beforehand, because the handshake may be over, and the channel closed, before `connect`
        // returns it.
        let handshake = eventLoop.makePromise(of: ServerCertificate.self)
        let connection = ClientBootstrap(group: eventLoop)
            .connectTimeout(limit)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // An IP address is not sent as server name (RFC 6066 §3). The certificate is then compared with the
                    // peer's address.
                    let isAddress = (try? SocketAddress(ipAddress: endpoint.host, port: 0)) != nil
                    let name = isAddress ? nil : endpoint.host
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLClientHandler(context: context, serverHostname: name),
                        HandshakeWatch(handshake)
                    )
                }
            }
            .connect(host: endpoint.host, port: endpoint.port)
        connection.whenFailure { handshake.fail($0) }
        let timer = eventLoop.scheduleTask(in: limit + limit) { handshake.fail(HandshakeTimeout()) }
        handshake.futureResult.whenComplete { _ in
            timer.cancel()
            connection.whenSuccess { $0.close(promise: nil) }
        }
        return try await handshake.futureResult.get()
    }
}

extension CertificateProbeError {
    fileprivate init(_ error: any Error) {
        switch error {
        case is HandshakeTimeout, ChannelError.connectTimeout: self = .timedOut
        default: self = TransportCause(error) == .tls ? .handshake : .unreachable
        }
    }

    /// The reason why a certificate was not accepted.
    fileprivate init(_ certificate: ServerCertificate?, at now: Timestamp) {
        guard let certificate else {
            self = .untrusted
            return
        }
        if certificate.notAfter < now {
            self = .expired(at: certificate.notAfter)
        } else if certificate.notBefore > now {
            self = .notYetValid(until: certificate.notBefore)
        } else {
            self = .untrusted
        }
    }
}

private struct HandshakeTimeout: Error {}

/// Waits for the end of a handshake.
private final class HandshakeWatch: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let promise: EventLoopPromise<ServerCertificate>

    init(_ promise: EventLoopPromise<ServerCertificate>) {
        self.promise = promise
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted = event else { return context.fireUserInboundEventTriggered(event) }
        do {
            let handler = try context.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self)
            guard let certificate = handler.peerCertificate else { throw NIOSSLError.noCertificateToValidate }
            promise.succeed(
                ServerCertificate(
                    notBefore: Timestamp(microseconds: Int64(certificate.notValidBefore) * 1_000_000),
                    notAfter: Timestamp(microseconds: Int64(certificate.notValidAfter) * 1_000_000)
                )
            )
        } catch {
            promise.fail(error)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(ChannelError.eof)
        context.fireChannelInactive()
    }
}

/// Reads the files with certificate authorities that settings name. Each file is read on a separate thread, so that a
/// file that hangs blocks nobody else.
package final class CertificateAuthorities: Sendable {
    /// The longest file that is read, in bytes. The system's own bundle, with all public authorities, has some 220 KiB.
    package static let fileBytesMax = 1 << 20
    /// How long to wait for a file: much longer than a disk needs to spin up, much shorter than a caller waits.
    package static let fileTimeLimit = Duration.seconds(5)
    /// The most files that are read at the same time. Each file that hangs keeps a thread.
    package static let fileReadsMax = 32

    private let files: BlockingWork<String, [NIOSSLCertificate]>
    private let contents: @Sendable (_ path: String) -> [UInt8]?

    /// - Parameter contents: reads a file; nil if it cannot be read, or is not a regular file.
    package init(
        fileTimeLimit: Duration = CertificateAuthorities.fileTimeLimit,
        fileReadsMax: Int = CertificateAuthorities.fileReadsMax,
        contents: @escaping @Sendable (_ path: String) -> [UInt8]? = {
            try? RegularFile.contents(of: $0, limit: CertificateAuthorities.fileBytesMax)
        }
    ) {
        self.contents = contents
        files = BlockingWork("authrefreshd.ca-file", timeLimit: fileTimeLimit, piecesMax: fileReadsMax)
    }

    /// The certificates in the PEM file at `path`.
    ///
    /// - Throws: `authorityFile` if the file holds none or cannot be read; `authorityFileHangs` if it could not be read
    ///   in time.
    func certificates(in path: String) async throws(TransportFailure) -> [NIOSSLCertificate] {
        let certificates = await files.value(path) { [contents] in
            contents(path).flatMap { try? NIOSSLCertificate.fromPEMBytes($0) } ?? []
        }
        guard let certificates else { throw TransportFailure(cause: .authorityFileHangs, wasSent: false) }
        guard !certificates.isEmpty else { throw TransportFailure(cause: .authorityFile, wasSent: false) }
        return certificates
    }
}
